"""Markov Precision in memory: amble beside the dense solve that the definition asks for, and the whole family.

Two parts, both on rankings that are there already, those of M (129 runs x 50 topics x 1000 documents):

* ``published``: the eight models of the paper, with and without recall, sixteen measures in one ``evaluate``. Beside it
  the stationary distribution of every list as its authors' program finds it: the transition matrix, and a dense solve
  of pi = 1 (I - P + 1)^-1. That gets a few lists, and its time is multiplied; one solve serves both rescalings. The
  scores are compared.
* ``family``: all 360, on a few runs; then the slowest of them on all lists.

Processor time, of one process with one thread of its linear algebra.

Run ``python benchmarks/bench_markov.py [DIR] [--only published family] [--rounds N] [--lists N] [--quick]``.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is there

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import race
import workload

import amble
from amble.measures import Gains, Lists
from amble.measures.stories import list_variants
from amble.users.markov_models import PUBLISHED

SECTIONS = ("published", "family")
ROUNDS = 5
RUNS = 8  # on which all of the family are timed
SIXTEEN = [f"MP(model='{model}',rescale='{how}')" for model in PUBLISHED for how in ("NA", "R")]


def probabilities(model: str, rank: np.ndarray) -> np.ndarray:
    """The transition matrix between some ranks, as the paper defines it."""
    connected, _, distance = model.split("_")
    far = np.abs(rank[:, None] - rank) + 1.0
    weights = 1.0 / (far if distance == "ID" else np.log10(far + 1.0))
    np.fill_diagonal(weights, 0.0)
    if connected == "LO":
        weights = np.triu(np.tril(weights, 1), -1)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def by_solve(p: np.ndarray) -> np.ndarray:
    """The stationary distribution by a dense solve; of slow chains on 1000 ranks it keeps nine digits."""
    m = p.shape[0]
    return np.linalg.solve((np.eye(m) - p + 1.0).T, np.ones(m))


def by_elimination(p: np.ndarray) -> np.ndarray:
    """The stationary distribution by elimination that never subtracts (Grassmann, Taksar and Heyman, 1985)."""
    left = p.astype(np.longdouble)
    x = np.ones(p.shape[0], np.longdouble)
    for k in range(p.shape[0] - 1, 0, -1):
        left[:k, k] /= left[k, :k].sum()
        left[:k, :k] += np.outer(left[:k, k], left[k, :k])
    for k in range(1, x.size):
        x[k] = x[:k] @ left[:k, k]
    return np.asarray(x / x.sum(), np.float64)


def score(model: str, relevant: np.ndarray, n: int, stationary: Callable[[np.ndarray], np.ndarray]) -> float:
    """Markov Precision of a list of n documents, with relevant ones at these ranks."""
    if relevant.size == 0:
        return 0.0
    precision = np.arange(1, relevant.size + 1) / relevant
    rank = relevant if "OR" in model else np.arange(1, n + 1)
    if rank.size == 1:
        return float(precision[0])
    pi = stationary(probabilities(model, rank))
    pi = pi if "OR" in model else pi[relevant - 1]
    return float(pi @ precision / pi.sum())


def published(rankings: amble.Rankings, rounds: int, sample: int) -> bool:
    """Time the sixteen, and the dense solve of some lists; tell whether they agree."""
    watch = race.Watch()
    taken = []
    for turn in range(rounds + 1):
        start = time.process_time()
        scores = amble.evaluate(rankings, SIXTEEN)
        if turn:
            taken.append(time.process_time() - start)
    lists = Lists.of_rankings(rankings)
    gains: Gains = lists.gains(amble.parse("MP").declaration.gain.make({"rel": 1}))
    chosen = np.random.default_rng(0).choice(lists.n, min(sample, lists.n), replace=False).tolist()
    values = scores.values[rankings.run, rankings.topic]
    lists_chosen = [(gains.position[gains.offsets[i] : gains.offsets[i + 1]], int(lists.length[i])) for i in chosen]
    rows, total, furthest, solved = [], 0.0, 0.0, 0.0
    for j, model in enumerate(PUBLISHED):
        alone = []
        for _ in range(rounds):
            start = time.process_time()
            amble.parse(SIXTEEN[2 * j]).scores(Lists.of_rankings(rankings))
            alone.append(time.process_time() - start)
        start = time.process_time()
        dense = [score(model, *of, by_solve) for of in lists_chosen]
        scaled = (time.process_time() - start) * lists.n / len(chosen)
        total += scaled
        exact = np.array([score(model, *of, by_elimination) for of in lists_chosen])
        furthest = max(furthest, float(np.abs(exact - values[chosen, 2 * j]).max()))
        solved = max(solved, float(np.abs(exact - dense).max()))
        rows.append(f"| {model} | {min(alone):.4f} | {scaled:.1f} | {scaled / min(alone):,.0f}× |")
    print(f"{lists.n:,} lists, {int(gains.found.sum()):,} relevant documents in them; {rounds} rounds; {watch}\n")
    print(f"Sixteen measures in one `evaluate`: {min(taken):.4f} s of CPU, median {median(taken):.4f}.")
    print(
        f"The eight by a dense solve a list: {total:,.0f} s of CPU, scaled from {len(chosen)} lists; "
        f"{total / min(taken):,.0f} times as much. From elimination in extended precision amble's scores differ by "
        f"{furthest:.0e} at most, those of the solve by {solved:.0e}.\n"
    )
    print(f"| model alone | amble (s) | dense solve (s), scaled from {len(chosen)} lists | ratio |\n|---|---|---|---|")
    print("\n".join(rows), flush=True)
    return furthest < 1e-12


def family(rankings: amble.Rankings, some: amble.Rankings) -> None:
    """Time all 360, each from scratch."""
    watch = race.Watch()
    seconds: dict[str, float] = {}
    for m in list_variants(amble.parse("MP").declaration):
        lists = Lists.of_rankings(some)
        start = time.process_time()
        m.scores(lists)
        seconds[str(m)] = time.process_time() - start
    slowest = max(seconds, key=lambda name: seconds[name])
    lists = Lists.of_rankings(rankings)
    start = time.process_time()
    amble.parse(slowest).scores(lists)
    taken = time.process_time() - start
    each = np.array(sorted(seconds.values()))
    n = len(some)
    print(f"{each.size} measures on {n:,} lists, each from scratch; {watch}\n")
    print("| CPU of one measure, per list | µs |\n|---|---|")
    for name, x in (("fastest", each[0]), ("median", np.median(each)), ("slowest", each[-1])):
        print(f"| {name} | {1e6 * x / n:,.0f} |")
    print(f"\nThe slowest, {slowest}, on all {lists.n:,} lists: {taken:.1f} s of CPU.", flush=True)


def main(argv: Sequence[str] | None = None) -> int:
    """Do the parts asked for and print what they found."""
    parser = argparse.ArgumentParser(prog="bench_markov.py", description="Markov Precision in memory.")
    where = "folder of the workload; made when missing (default: %(default)s)"
    parser.add_argument("data", nargs="?", type=Path, default=Path(".bench"), metavar="DIR", help=where)
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=SECTIONS)
    parser.add_argument("--rounds", type=int, default=ROUNDS, metavar="N", help="rounds (default: %(default)s)")
    parser.add_argument(
        "--lists", type=int, default=12, metavar="N", help="lists that are solved (default: %(default)s)"
    )
    parser.add_argument("--quick", action="store_true", help="a smoke test: little data, one round")
    args = parser.parse_args(argv)
    if args.rounds < 1 or args.lists < 1:
        parser.error("--rounds and --lists take 1 or more")
    data, scale = (args.data / "quick", 0.02) if args.quick else (args.data, 1.0)
    work = workload.load(data, "M", scale)
    runs: Any = [str(run) for run in work.runs]
    rankings = amble.align(work.qrels, runs)
    print("# Markov Precision\n")
    print(f"{race.machine('amble', 'numpy')}. M: {len(runs)} runs, {work.docs:,} documents.")
    well = True
    if "published" in args.only:
        print("\n## The eight published models, with and without recall\n")
        well = published(rankings, 1 if args.quick else args.rounds, 2 if args.quick else args.lists)
    if "family" in args.only:
        print("\n## All 360\n")
        family(rankings, amble.align(work.qrels, runs[:RUNS]))
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
