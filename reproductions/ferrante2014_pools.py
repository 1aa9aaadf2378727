"""Ferrante, Ferro and Maistro (2014), Figures 3 and 4, for TREC-8: what cutting the pool does to measures.

At each rate relevant and non-relevant judgments are drawn apart, topic by topic, keeping at least 1 and 10; drawn 30
times. The chart has the mean over runs and topics (Figure 3) and Kendall's tau-b with the full pool (Figure 4). The
paper prints no numbers for these figures, so none are compared; what it says of them (sections 5.3 and 5.4) is checked
below the table, and of what is known not to hold it is said by how much. The exit code is 1 if it turns out otherwise.

  AMBLE_DATA=FOLDER python reproductions/ferrante2014_pools.py [CHART]
  python reproductions/ferrante2014_pools.py --data FOLDER --rounds 5     # of another year; claims may not hold there
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NamedTuple

import numpy as np
import published
from figures import run, say

from amble.metaevaluation import PoolEffect, pool_effect
from amble.reporting.charts.chart import check_file, save
from amble.reporting.charts.line_charts import Panel, lines_spec

MEASURES = ("AP", "P@10", "Rprec", "bpref", "RBP(p=0.8)")
MODELS = ("GL_AD_ID", "LO_AD_ID")  # those of the TREC 8 panels, as such and rescaled by recall
KEPT = (90, 70, 50, 30, 10)  # percent
PANELS = (
    Panel("Figure 3: mean over runs and topics", "mean", "mean low", "mean high"),
    Panel("Figure 4: tau-b with the full pool", "tau", "tau low", "tau high"),
)


def measures() -> list[str]:
    """All that are drawn."""
    return [*MEASURES, *(_mp(model, rescale) for model in MODELS for rescale in ("NA", "R"))]


def _mp(model: str, rescale: str) -> str:
    return f"MP(model='{model}',rescale='{rescale}')"


class Claim(NamedTuple):
    """A sentence of the paper, whether it holds, and whether we know that it does not on TREC-8."""

    text: str
    holds: bool
    fails: bool = False


def claims(effect: PoolEffect) -> list[Claim]:
    """What the paper says of its figures: of the measures that MP is compared with, and of MP."""
    at = {name: j for j, name in enumerate(measures())}
    left = effect.means.mean(axis=1) / effect.full  # (rates, measures): the share of the score that is left
    tau = effect.taus.mean(axis=1)
    mp, with_recall = ([at[_mp(model, r)] for model in MODELS] for r in ("NA", "R"))
    shallow, steady, bpref = [at["P@10"], at["RBP(p=0.8)"]], [at["AP"], at["Rprec"]], at["bpref"]
    others = [at[name] for name in MEASURES if name != "bpref"]
    away = np.abs(left - left[:, [at["AP"]]])
    out = [
        Claim("bpref tends to stay constant: at 50 % more of it is left than of any other", left[2].argmax() == bpref),
        Claim(
            "P@10 and RBP fall more than AP and Rprec, and than MP, at every rate",
            bool((left[:, shallow].max(1) < left[:, [*steady, *mp, *with_recall]].min(1)).all()),
        ),
        Claim(
            "MP falls in a manner similar to AP and Rprec: at no rate is its share farther from AP's than P@10's is",
            bool((away[:, mp].max(1) < away[:, at["P@10"]]).all()),
        ),
        *(
            Claim(
                f"bpref's ranking of runs is more robust than AP's, P@10's, Rprec's and RBP's at {kept} %", bool(holds)
            )
            for kept, holds in zip(KEPT, tau[:, bpref] > tau[:, others].max(1), strict=True)
        ),
        Claim(
            "recall makes MP's ranking of runs more robust, at every rate",
            bool((tau[:, with_recall] > tau[:, mp]).all()),
        ),
    ]
    for model, j in zip(MODELS, with_recall, strict=True):
        for i, kept in enumerate(KEPT):
            more = effect.taus[i, :, j] - effect.taus[i, :, at["AP"]]
            half = 2 * float(more.std(ddof=1)) / len(more) ** 0.5
            text = f"MP {model} with recall outperforms AP at {kept} % (tau {more.mean():+.4f} +- {half:.4f})"
            out.append(Claim(text, bool(more.mean() > 0), fails=(model, kept) == ("GL_AD_ID", 10)))
    return out


def main(argv: list[str]) -> int:
    """Draw and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("chart", nargs="?", type=Path, default=Path("reproduced/ferrante2014_pools.svg"))
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="qrels.txt and runs/ (default: $AMBLE_DATA/trec8)")
    parser.add_argument("--rounds", type=int, default=30, help="how often pools are drawn (default: %(default)s)")
    args = parser.parse_args(argv)
    data = published.Collection.of(args.data)
    args.chart.parent.mkdir(parents=True, exist_ok=True)
    check_file(args.chart)
    effect = pool_effect(data.align(), measures(), rounds=args.rounds, seed=2014)
    say(effect.table().text())
    say()
    found = claims(effect)
    for claim in found:
        say(f"{'holds' if claim.holds else 'does not hold':14s} {claim.text}")
    save(lines_spec(effect.numbered(), "kept", PANELS, title="judgments kept, percent", reverse=True), args.chart)
    say(f"\npicture: {args.chart}")
    other = sum(claim.holds == claim.fails for claim in found) if data.is_trec8 else 0
    fail = sum(not claim.holds for claim in found)
    say(f"{len(found) - fail} claims hold, {fail} {'does' if fail == 1 else 'do'} not, {other} otherwise than known")
    return int(other > 0)


if __name__ == "__main__":
    run(main)
