"""Ferrante, Ferro and Maistro (2014), Figures 3 and 4, for TREC-8: what cutting the pool does to measures.

At each rate relevant and non-relevant judgments are drawn apart, topic by topic, keeping at least 1 and 10; drawn 30
times. The chart has the mean over runs and topics (Figure 3) and Kendall's tau-b with the full pool (Figure 4). The
paper prints no numbers for these figures, so none are compared; what it says of them is checked below the table. The
models of Markov Precision are drawn once this amble has them. Run with ``AMBLE_DATA=FOLDER python
reproductions/ferrante2014_pools.py [CHART]``.
"""

from __future__ import annotations

from pathlib import Path

import published
from figures import run, say

import amble
from amble.metaevaluation import PoolEffect, pool_effect
from amble.reporting.charts.chart import check_file, save
from amble.reporting.charts.line_charts import Panel, lines_spec

MEASURES = ("AP", "P@10", "Rprec", "bpref", "RBP(p=0.8)")
MODELS = ("GL_AD_ID", "LO_AD_ID")  # those of the TREC 8 panels, as such and rescaled by recall
PANELS = (
    Panel("Figure 3: mean over runs and topics", "mean", "mean low", "mean high"),
    Panel("Figure 4: tau-b with the full pool", "tau", "tau low", "tau high"),
)


def measures() -> list[str]:
    """All that are drawn."""
    return [*MEASURES, *(f"MP(model='{m}',rescale='{r}')" for m in MODELS for r in ("NA", "R"))]


def claims(effect: PoolEffect) -> list[tuple[str, bool]]:
    """What the paper says of its figures (sections 5.3 and 5.4), of the measures that MP is compared with."""
    at = {name: j for j, name in enumerate(effect.measures)}
    n = len(MEASURES)
    left = (effect.means.mean(axis=1) / effect.full)[:, :n]  # (rates, measures): the share of the score that is left
    tau = effect.taus.mean(axis=1)[:, :n]
    bpref, p10, rbp = at["bpref"], at["P@10"], at[str(amble.parse("RBP(p=0.8)"))]
    steady = [at["AP"], at["Rprec"]]
    return [
        ("bpref tends to stay constant: at 50 % more of it is left than of any other", left[2].argmax() == bpref),
        (
            "P@10 and RBP fall more than AP and Rprec at every rate",
            (left[:, [p10, rbp]].max(1) < left[:, steady].min(1)).all(),
        ),
        ("bpref's ranking of runs is the most robust at 30 %", tau[3].argmax() == bpref),
        ("bpref's ranking of runs is the most robust at 10 %", tau[4].argmax() == bpref),
    ]


def main(argv: list[str]) -> int:
    """Draw and print."""
    path = Path(argv[0] if argv else "reproduced/ferrante2014_pools.svg")
    path.parent.mkdir(parents=True, exist_ok=True)
    check_file(path)
    effect = pool_effect(published.trec8(), measures(), rounds=30, seed=2014)
    say(effect.table().text())
    say()
    for claim, holds in claims(effect):
        say(f"{'holds' if holds else 'does not hold':14s} {claim}")
    save(lines_spec(effect.numbered(), "kept", PANELS, title="judgments kept, percent", reverse=True), path)
    say(f"\npicture: {path}")
    return 0


if __name__ == "__main__":
    run(main)
