"""Ferrante, Ferro and Maistro (2014), "Injecting User Models and Time into Precision via Markov Chains", beside ours.

* tables: table 4 (three lists, discrete and continuous time), and of tables 2 and 3 the correlations for TREC 8:
  Kendall's tau-b between the mean scores of 129 systems. As printed, ours, difference. They come out to the last digit
  with three choices that the paper does not tell: scores of documents in single precision, as trec_eval 9 has them, so
  that more of them are tied; means rounded to four digits, so that some systems are tied; and tau cut off after four.
* ap: the uniform model over the relevant documents, with self-loops, times recall, is average precision. On all lists.
* steps: remark 1 says that after n = 10 steps the distribution is already a reasonable approximation of the invariant
  one. How far is it, on these lists? (Some minutes.)
* solve: where a dense solve, as the authors' program makes it, can and cannot be trusted.

  python reproductions/ferrante2014.py data/trec8
  AMBLE_DATA=data python reproductions/ferrante2014.py --only tables ap

The folder holds qrels.txt and runs/, with one file per run.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
import published
from figures import Figures, head, run, say, show
from numpy.typing import NDArray

import amble
from amble import metaevaluation as meta
from amble.measures import Lists, MarkovUser
from amble.users.markov_models import PUBLISHED, Model
from amble.users.stationary import from_logs, mean_occupation

Array = NDArray[np.float64]

SOURCES = ("F14 Table 2", "F14 Table 3", "F14 Table 4")
STEPS = (1, 10, 100, 1000)
# table 4: parameters of the holding times at ranks 1 to 10, as printed
RATES = {
    "1111000100": ".2000,.0357,.2000,.0400,.0056,.0005,.0035,.0017,.0034,.0024",
    "1110100010": ".0177,.0047,.0037,.0015,.0041,.0031,.0057,.0022,.0061,.0045",
    "1101100001": ".0056,.0051,.0062,.0031,.0046,.0025,.005,.0022,.007,.005",
}


def measure(name: str) -> str:
    """The paper's name of a model as amble's; @Rec: times recall."""
    return str(amble.parse(f"MP_{name}"))


def in_time() -> published.Found:
    """Table 4: three lists of ten documents, in discrete and in continuous time.

    The score in continuous time is a mean of precisions, weighted by pi / mu: with each rate anywhere within half a
    unit of its last digit, the least and the greatest are where all of them are at their ends.
    """
    ours: published.Found = {}
    for grades, rates in RATES.items():
        listed = [int(c) for c in grades]
        user = amble.parse("MP").user(listed)
        ours["F14 Table 4", f"MP GL_AD_ID discrete/{grades}"] = amble.parse("MP").value(listed)
        relevant = np.flatnonzero(listed)
        pi = np.asarray(user.weights, float)[relevant]
        precision = (np.cumsum(listed) / np.arange(1, len(listed) + 1))[relevant]
        mu = np.array([float(rate) for rate in rates.split(",")])[relevant]
        scores = []
        for ends in product((-0.00005, 0.00005), repeat=relevant.size):
            time = pi / (mu + ends)
            scores.append(float(time @ precision / time.sum()))
        ours["F14 Table 4", f"MP GL_AD_ID continuous/{grades}"] = (min(scores), max(scores))
        middle = amble.parse(f"MP(rates='{rates}')").value(listed)
        if not min(scores) < middle < max(scores):
            raise amble.AmbleError(f"MP with rates {rates}: {middle} is not between {min(scores)} and {max(scores)}")
    return ours


def correlations(rankings: amble.Rankings) -> published.Found:
    """Tables 2 and 3, for TREC 8: tau-b between means that are rounded to four digits."""
    models = [row[0] for row in published.rows_of(published.F14_TABLE_3)]
    names = [*published.OTHERS, *models]
    scores = amble.evaluate(rankings, [*published.OTHERS, *map(measure, models)])
    means = dict(zip(names, np.moveaxis(scores.values, 2, 0).mean(axis=2).round(12).round(4), strict=True))
    ours: published.Found = {}
    for short, other in zip(published.F14_TABLE_2, published.OTHERS[1:], strict=True):
        ours["F14 Table 2", f"TREC-8/tau(AP,{short})"] = meta.kendall(means["AP"], means[other])
    for model in models:
        for other in published.OTHERS:
            ours["F14 Table 3", f"TREC-8/tau({model},{other})"] = meta.kendall(means[model], means[other])
    return ours


def compute(data: published.Collection | None) -> published.Found:
    """The figures of the paper that are compared; without runs, those that need none."""
    return in_time() | (correlations(data.align(score_dtype="float32")) if data is not None else {})


def tables(data: published.Collection, found: Figures) -> None:
    """Tables 2, 3 and 4: as printed, ours, difference."""
    ours = compute(data)
    found.wrong += published.report(SOURCES, ours, data.is_trec8, whole=data.is_trec8)
    say(f"\nThe figure lost in the last row, RBP's: {ours['F14 Table 3', 'TREC-8/tau(LO_OR_ID@Rec,RBP(p=0.8))']:.4f}")


def average_precision(data: published.Collection, found: Figures) -> None:
    """The uniform model is AP."""
    lists = Lists.of_rankings(data.align())
    uniform = "MP(model='GL_OR_NA',loops='SL',rescale='R')"
    off = np.abs(amble.parse(uniform).scores(lists) - amble.parse("AP").scores(lists))
    say(f"{uniform} and AP on {lists.n} lists: the largest difference is {off.max():.1e}")
    found.count(bool(off.max() < 1e-12))


def relevant_ranks(lists: Lists) -> list[tuple[int, NDArray[np.int64], int]]:
    """The lists with at least two relevant documents: which, their ranks, and the length; by length."""
    gains = lists.gains(amble.parse("MP").declaration.gain.make({"rel": 1}))
    out = []
    for i in np.argsort(lists.length, kind="stable").tolist():
        rank = gains.position[gains.offsets[i] : gains.offsets[i + 1]]
        if rank.size > 1:
            out.append((i, rank, int(lists.length[i])))
    return out


def steps(data: published.Collection, _: Figures) -> None:
    """How far n steps are from the long run."""
    rankings = data.align()
    lists = Lists.of_rankings(rankings)
    some = relevant_ranks(lists)
    rows: list[list[str | float | int]] = []
    systems = np.asarray(rankings.run)
    for name in PUBLISHED:
        if name == "LO_AD_LID":  # the same chain as LO_AD_ID
            continue
        user, users = MarkovUser(name), {start: MarkovUser(name, start=start) for start in ("first", "uniform")}
        long = amble.parse(measure(name)).scores(lists)
        scores = {(n, start): long.copy() for n in STEPS for start in ("first", "uniform")}
        away: dict[int, list[float]] = {n: [] for n in STEPS}
        for i, rank, length in some:
            pi = user.logs(rank, length)
            pi = from_logs(pi[rank - 1] if user.states == "AD" else pi)
            precision = np.arange(1, rank.size + 1) / rank
            for start, one in users.items():
                moves, first = one.transitions(rank, length)
                for n in STEPS:
                    scores[n, start][i] = mean_occupation(moves, first, n) @ precision
                    if start == "first":
                        away[n].append(0.5 * float(np.abs(first @ np.linalg.matrix_power(moves, n) - pi).sum()))
        kept = [i for i, _, _ in some]
        for n in STEPS:
            row: list[str | float | int] = [name, n, float(np.mean(away[n])), float(np.max(away[n]))]
            for start in ("first", "uniform"):
                here = scores[n, start]
                off = np.abs(here - long)[kept]
                means = [np.bincount(systems, x) for x in (here, long)]
                row += [float(off.mean()), float(np.quantile(off, 0.95)), float(off.max()), meta.kendall(*means)]
            rows.append(row)
    say(
        f"{len(some)} lists with two relevant documents or more. She starts at the first of the ranks that she\n"
        "wanders over, or at any, and visits the first relevant document that she meets. After n moves, from the\n"
        "first rank: the distance (total variation) of where she is from the stationary distribution, mean, largest.\n"
        "The mean of precision over n visits, from the first rank and from any: the difference from MP, its mean, its\n"
        "95th percentile and its largest, and tau-b between the means of the systems.\n"
    )
    columns = ["model", "n", "apart", "most", *(c + s for s in ("", " (any)") for c in ("off", "p95", "max", "tau"))]
    show(columns, rows)
    _, _, apart, _, off, _, most, tau_first, *_ = zip(*(row for row in rows if row[1] == 10), strict=True)
    say(
        f"\nn = 10, from the first rank: scores are off by {min(off):.4f} to {max(off):.4f} in the mean, "
        f"by up to {max(most):.4f};\nsystems are ordered as by MP with tau {min(tau_first):.4f} to "
        f"{max(tau_first):.4f}; the distribution is {min(apart):.2f} to {max(apart):.2f} away in the mean."
    )


def solve(data: published.Collection, _: Figures) -> None:
    """Dense solves of chains with counts: how much of the stationary distribution is left where it matters."""
    lists = Lists.of_rankings(data.align())
    some = relevant_ranks(lists)
    chosen = [some[i] for i in np.random.default_rng(0).choice(len(some), 6, replace=False)]
    rows = []
    for name in ("GL_AD_ID", "GL_AD_LID", "GL_AD_NA", "LO_AD_ID"):
        for counts in ("FRBN", "FNBR"):
            model, m = Model.read(name, "NL", counts), amble.parse(f"MP(model='{name}',counts='{counts}')")
            worst, least = 0.0, 1.0
            for _, rank, n in chosen:
                every = np.arange(1, n + 1)
                w = model.weights(every, *model.ways(every, np.searchsorted(rank, every, side="right")))
                p = w / w.sum(axis=1, keepdims=True)
                pi = np.linalg.solve((np.eye(n) - p + 1.0).T, np.ones(n))[rank - 1]
                grades = np.zeros(n)
                grades[rank - 1] = 1.0
                precision = np.arange(1, rank.size + 1) / rank
                worst = max(worst, abs(float(pi @ precision / pi.sum()) - m.value(grades)))
                least = min(least, float(abs(pi.sum())))
            rows.append([name, counts, f"{least:.0e}", f"{worst:.0e}"])
    say(
        "pi = 1 (I - P + 1)^-1 by a dense solve, on six lists: the least share of it that falls on relevant\n"
        "documents, and how far the score is then from ours. Where next to nothing is left there, nothing is right.\n"
    )
    show(["model", "counts", "least share", "largest difference"], rows)


PARTS: dict[str, Callable[[published.Collection, Figures], None]] = {
    "tables": tables,
    "ap": average_precision,
    "steps": steps,
    "solve": solve,
}


def main(argv: list[str]) -> int:
    """Reproduce what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "folder", nargs="?", type=Path, help="where qrels.txt and runs/ are (default: $AMBLE_DATA/trec8)"
    )
    parser.add_argument("--only", nargs="+", choices=tuple(PARTS), default=list(PARTS), help="some parts")
    args = parser.parse_args(argv)
    data = published.Collection.of(args.folder)
    found = Figures()
    for name in args.only:
        head(f"{name}: {(PARTS[name].__doc__ or '').strip()}")
        PARTS[name](data, found)
    return found.end() if found.right + found.wrong else 0


if __name__ == "__main__":
    run(main)
