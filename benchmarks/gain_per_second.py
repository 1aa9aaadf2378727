"""Whether gains per second are what readers get: random chains and walks by time, against readers followed one by one.

Each chain goes from any state to any other, each walk forward and back by rank; states show ranks of a random list, the
visits take exponential, fixed or gamma times of random means, and seen again a document is worth less. The readers are
followed here, with random numbers of NumPy and nothing of the package: after every visit each draws how long it took
and where to go. Told are the scores of order 1, E[T / (c + tau)], and of order 2, E[T] / (c + E[tau]), with how many
standard errors z the readers' are away. Of 100 right scores the largest |z| is above 4 once in 160 times; a case that
is, is followed once more with other numbers, and told.

Run ``python benchmarks/gain_per_second.py [--cases N] [--readers N] [--seed S] [--only chains|walks]``.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from amble.measures import PH
from amble.users import Chain

Array = NDArray[Any]

LAWS = {"exponential": 1.0, "fixed": math.inf, "gamma(2)": 2.0}
TOGETHER = 100_000  # readers
ENOUGH = 4.0  # standard errors


class Case(NamedTuple):
    """A reader on a list: what the package scores, and what it is told to be."""

    name: str
    measure: Any
    grades: Array
    p: Array
    start: Array
    gain: Array  # of a first visit to each state
    counted: Array  # the document that a state's visits count to
    seconds: Array
    law: str
    overhead: float
    loss: float


def chain(rng: np.random.Generator, law: str, n: int) -> Case:
    """States that show ranks in any order, some of which gain half or nothing, with moves from any to any."""
    p = rng.random((n, n)) * (rng.random((n, n)) < rng.choice([0.3, 0.6, 1.0]))
    p *= ((1 - rng.uniform(0.05, 0.5, n)) / np.maximum(p.sum(axis=1), 1e-9))[:, None]
    start = rng.dirichlet(np.full(n, 0.3))
    rank, gains = rng.integers(1, n + 1, n), rng.choice([0.0, 0.5, 1.0], n, p=[0.25, 0.15, 0.6])
    by, grades = str(rng.choice(["state", "document"])), rng.integers(0, 3, rank.max())
    seconds, overhead, loss = rng.uniform(1, 30, n), overhead_of(rng, law), float(rng.choice([0, 0.25, 1]))
    user = Chain(p, start.tolist(), rank.tolist(), gains.tolist(), seconds.tolist(), by=by)
    m = PH(user=user, loss=loss, gains="linear", effort="time", timing=law, overhead=overhead)
    counted = rank - 1 if by == "document" else np.arange(n)
    gain = gains * grades[rank - 1]
    return Case(f"{n} states by {by}", m, grades, p, start, gain, counted, seconds, law, overhead, loss)


def walk(rng: np.random.Generator, law: str, n: int) -> Case:
    """A walk whose p, q and seconds differ by rank; above rank 1 the step is forward, or a stop."""
    forward, back, _ = rng.dirichlet([2, 1, 0.7], n).T.round(6)
    first, grades = str(rng.choice(["forward", "stop"])), rng.integers(0, 3, n)
    start = rng.dirichlet(np.full(n, 0.3))
    seconds, overhead, loss = rng.uniform(1, 30, n), overhead_of(rng, law), float(rng.choice([0, 0.25, 1]))
    said = {"p": forward.tolist(), "q": back.tolist(), "first": first, "start": start.tolist(), "loss": loss}
    times = {"effort": "time", "timing": law, "overhead": overhead, "seconds": seconds.tolist()}
    m = PH(gains="linear", **said, **times)
    p = np.diag(forward[:-1], 1) + np.diag(back[1:], -1)
    if first == "forward" and n > 1:
        p[0, 1] += back[0]
    return Case(f"{n} ranks", m, grades, p, start, grades + 0.0, np.arange(n), seconds, law, overhead, loss)


def overhead_of(rng: np.random.Generator, law: str) -> float:
    """Seconds spent anyway: some, where the square of the gain per second would have no mean without."""
    return float(rng.choice([0.0, 5.0] if law == "fixed" else [2.0, 10.0]))


def followed(case: Case, readers: int, seed: list[int]) -> Iterator[tuple[Array, Array]]:
    """What readers gain, and how long they take, some at a time."""
    rng, n, shape = np.random.default_rng(seed), case.start.size, LAWS[case.law]
    rows = np.cumsum(np.column_stack((case.p, 1 - case.p.sum(axis=1))), axis=1)
    for first in range(0, readers, TOGETHER):
        count = min(TOGETHER, readers - first)
        total, spent = np.zeros(count), np.full(count, case.overhead)
        seen = np.zeros((count, case.counted.max() + 1), np.int64)
        who, at = np.arange(count), rng.choice(n, count, p=case.start)
        while who.size:
            document = case.counted[at]
            total[who] += case.gain[at] * (1 - case.loss) ** seen[who, document]
            seen[who, document] += 1
            mean = case.seconds[at]
            spent[who] += mean if shape == math.inf else rng.gamma(shape, mean / shape)
            to = (rng.random((who.size, 1)) >= rows[at]).sum(axis=1)
            who, at = who[to < n], to[to < n]
        yield total, spent


def distances(case: Case, readers: int, seed: list[int]) -> list[float]:
    """How many standard errors the readers' scores of order 1 and 2 are away from the package's."""
    sums = np.zeros(7)
    for t, s in followed(case, readers, seed):
        r = t / s
        sums += [r.sum(), r @ r, t.sum(), s.sum(), t @ t, s @ s, t @ s]
    rate, rate2, t, s, tt, ss, ts = sums / readers
    one, two = case.measure.value(case.grades), case.measure(order=2).value(case.grades)
    ratio = t / s
    spread = (tt - t * t) - 2 * ratio * (ts - t * s) + ratio**2 * (ss - s * s)
    errors = math.sqrt(max(rate2 - rate**2, 0) / readers), math.sqrt(max(spread, 0) / readers) / s
    away = rate - one, ratio - two
    return [x / e if e > 1e-15 else 0.0 if abs(x) < 1e-12 else math.inf for x, e in zip(away, errors, strict=True)]


def main() -> None:
    """Follow the readers of every case, and print how far away they are."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=50)
    parser.add_argument("--readers", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=["chains", "walks"])
    args = parser.parse_args()
    for k, (kind, make) in enumerate({"chains": chain, "walks": walk}.items()):
        if args.only not in (None, kind):
            continue
        began = time.perf_counter()
        all_z: list[float] = []
        for i in range(args.cases):
            rng, law = np.random.default_rng([args.seed, k, i]), list(LAWS)[i % 3]
            case = make(rng, law, int(rng.integers(1, 13)))
            z = distances(case, args.readers, [args.seed, k, i, 1])
            print(f"{kind} {i + 1:3} {case.name:24} {law:12} order 1 {z[0]:+.2f} order 2 {z[1]:+.2f}", flush=True)
            if max(map(abs, z)) > ENOUGH:
                again = distances(case, args.readers, [args.seed, k, i, 2])
                print(f"{kind} {i + 1:3} with other numbers: order 1 {again[0]:+.2f} order 2 {again[1]:+.2f}")
            all_z += z
        size = np.abs(all_z)
        print(
            f"{kind}: {args.cases} x {args.readers:,} readers, largest |z| {size.max():.2f}, root mean square "
            f"{math.sqrt(np.mean(size**2)):.2f}, above {ENOUGH:g}: {int((size > ENOUGH).sum())} of {size.size} "
            f"({time.perf_counter() - began:.0f} s)"
        )


if __name__ == "__main__":
    main()
