"""Tests and confidence intervals by resampling: the permutation test and the bootstrap.

* **permutation** (Fisher): if it made no difference which system a score came from, every difference might as well have
  the other sign. The statistic is the mean difference. With up to 26 differences that are not 0 (at 10,000 rounds: as
  long as half of them have no more assignments of signs than there are rounds; at most 32) all 2^n assignments are
  counted: the sums of each half are sorted and compared with one another. Otherwise ``rounds`` of them are drawn, and p
  is (b + 1) / (rounds + 1), where b of them are at least as extreme: never 0.
* **bootstrap** (Efron and Tibshirani, 1993, algorithm 16.2, paired; Sakai, 2006): topics are drawn anew, with
  replacement; the statistic is Student's t of the differences minus their mean. p is (b + 1) / (rounds + 1).
* **confidence intervals** of the mean difference: percentiles of the bootstrap, or those corrected for bias and
  acceleration (BCa; Efron, 1987), the acceleration by the jackknife.

The same flips and the same topics drawn serve all pairs. Topics are drawn by id, so their order makes no difference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from amble.arrays import Array, Bools, Ints, NDArray
from amble.comparison.paired_tests import opened
from amble.comparison.systems import Differences, standardised
from amble.parallel import spread

__all__ = [
    "Flips", "all_counted", "bootstrap_interval", "bootstrap_test", "permutation_test", "resampled_means",
    "topic_counts",
]  # fmt: skip

Report = Callable[[int], None]

_PAIRS, _ROUNDS = 256, 512  # a tile of pairs x rounds that stays in the cache
_CELLS = 1 << 22  # pairs x rounds of a piece of work
_MOST_SUMS = 1 << 16  # of half the differences, where all assignments of signs are counted


class Flips:
    """Signs for every topic and round, +1 or -1, some rounds at a time; the same seed gives the same."""

    def __init__(self, topics: int, rounds: int, seed: int) -> None:
        self.topics, self.rounds, self.seed = topics, rounds, seed

    def __iter__(self) -> Iterator[Array]:
        return self.between(0, self.rounds)

    def between(self, first: int, last: int) -> Iterator[Array]:
        """The signs of the rounds from ``first``, a multiple of 512, to before ``last``."""
        bits_of = np.random.PCG64(self.seed)
        bits_of.advance(first // _ROUNDS * (_ROUNDS // 64) * self.topics)  # of 64 bits each
        rng = np.random.Generator(bits_of)
        for start in range(first, last, _ROUNDS):
            n = min(_ROUNDS, last - start)
            bits = np.unpackbits(np.frombuffer(rng.bytes(-(-self.topics * n // 8)), np.uint8), count=self.topics * n)
            yield 2.0 * bits.reshape(self.topics, n).astype(np.float64) - 1.0


def all_counted(n: Ints, rounds: int) -> Bools:
    """Whether all assignments of signs to n differences are counted, rather than some drawn."""
    return np.asarray(np.ldexp(1.0, -(-n // 2)) <= min(rounds, _MOST_SUMS))


def permutation_test(
    d: Differences, sides: str, rounds: int, seed: int, report: Report = lambda done: None, executor: Any = None
) -> tuple[Array, Array, Bools]:
    """The mean difference of every pair, its p-value, and whether all assignments of signs were counted."""
    n = np.count_nonzero(d.values, axis=1)
    exact = all_counted(n, rounds)
    p = np.ones(n.size)
    few, rest = np.flatnonzero(exact), np.flatnonzero(~exact)
    sizes = [d.values[i][d.values[i] != 0] for i in few.tolist()]
    for place, (i, found) in enumerate(
        zip(few.tolist(), spread(_count_all, (sides, d.unit), sizes, executor), strict=True)
    ):
        p[i] = found
        report(place + 1)
    if rest.size:
        tell = lambda done: report(few.size + done)  # noqa: E731
        p[rest] = _draw(d.values[rest], sides, rounds, seed, d.unit, tell, executor)
    return d.mean, p, exact


def _slack(values: Array, unit: float) -> Array:
    """How far apart sums may be that are equal on paper."""
    return np.asarray((np.count_nonzero(values, axis=-1) + 1) * unit)


def _count_all(shared: tuple[str, float], values: Array) -> float:
    """The share of all assignments of signs whose sum is at least as extreme."""
    sides, unit = shared
    if not values.size:
        return 1.0
    total = float(values.sum())
    bound = {"two": abs(total), "greater": total, "less": -total}[sides] - float(_slack(values, unit))
    size = np.sort(np.abs(values))
    left, right = _sums(size[::2]), _sums(size[1::2])
    right.sort()
    # sums of both halves that reach the bound; the distribution is symmetric
    above = int((right.size - np.searchsorted(right, bound - left, side="left")).sum())
    share = above / (left.size * right.size)
    if sides != "two":
        return share
    return 1.0 if bound <= 0 else min(1.0, 2.0 * share)


def _sums(sizes: Array) -> Array:
    """The sum under every assignment of signs."""
    out = np.zeros(1)
    for size in sizes.tolist():
        out = np.concatenate((out - size, out + size))
    return out


def _draw(values: Array, sides: str, rounds: int, seed: int, unit: float, report: Report, executor: Any) -> Array:
    """(b + 1) / (rounds + 1), with the same flips for all pairs."""
    signed = -values if sides == "less" else values
    total = signed.sum(axis=1)
    bound = (np.abs(total) if sides == "two" else total) - _slack(values, unit)
    extreme = np.zeros(total.size, np.int64)
    step = _ROUNDS * max(1, _CELLS // (_ROUNDS * total.size))
    pieces = [(start, min(start + step, rounds)) for start in range(0, rounds, step)]
    shared = signed, bound, sides == "two", Flips(values.shape[1], rounds, seed)
    for (_, last), found in zip(pieces, spread(_extremes, shared, pieces, executor), strict=True):
        extreme += found
        report(last * total.size // rounds)
    return np.asarray((extreme + 1) / (rounds + 1))


def _extremes(shared: tuple[Array, Array, bool, Flips], piece: tuple[int, int]) -> Ints:
    """Of each pair, in how many of some rounds the sum is at least as extreme."""
    signed, bound, two, flips = shared
    extreme = np.zeros(bound.size, np.int64)
    for signs in flips.between(*piece):
        for start in range(0, bound.size, _PAIRS):
            rows = slice(start, start + _PAIRS)
            sums = signed[rows] @ signs
            if two:
                np.abs(sums, out=sums)
            extreme[rows] += np.count_nonzero(sums >= bound[rows, None], axis=1)
    return extreme


def topic_counts(topics: int, rounds: int, seed: int) -> NDArray[np.uint8]:
    """How often each topic is drawn in each round (rounds x topics)."""
    rng = np.random.default_rng(seed)
    out = np.empty((rounds, topics), np.uint8)
    for start in range(0, rounds, _ROUNDS):
        n = min(_ROUNDS, rounds - start)
        drawn = rng.integers(0, topics, (n, topics)) + np.arange(n)[:, None] * topics
        out[start : start + n] = np.bincount(drawn.ravel(), minlength=n * topics).reshape(n, topics)
    return out


def resampled_means(values: Array, counts: Array) -> Array:
    """Means over topics (the last axis) in each round: counts (rounds, topics) → (rounds, …); NaN is left out."""
    known = ~np.isnan(values)
    if known.all():
        drawn = counts.sum(axis=1).reshape(-1, *([1] * (values.ndim - 1)))
        return np.asarray(np.moveaxis(values @ counts.T, -1, 0) / drawn)
    total = np.moveaxis(np.where(known, values, 0.0) @ counts.T, -1, 0)
    n = np.moveaxis(known.astype(np.float64) @ counts.T, -1, 0)
    return np.where(n > 0, total / np.maximum(n, 1.0), np.nan)


class _Draws:
    """How a bootstrap draws: how often each topic in each round, drawn once for all pairs that share their topics."""

    def __init__(
        self, rounds: int, seed: int, unit: float, sides: str, how: str = "", ends: Array | None = None
    ) -> None:
        self.rounds, self.seed, self.unit, self.sides, self.how, self.ends = rounds, seed, unit, sides, how, ends
        self._last: tuple[int, NDArray[np.uint8]] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_last": None}

    def of(self, topics: int) -> NDArray[np.uint8]:
        """How often each of so many topics is drawn (rounds x topics)."""
        last = self._last
        if last is None or last[0] != topics:
            self._last = last = topics, topic_counts(topics, self.rounds, self.seed)
        return last[1]


def _blocks(d: Differences, block: int) -> Iterator[tuple[Ints, Array]]:
    """Some pairs with the same topics: which they are, and their differences on these."""
    patterns, of = np.unique(d.shared, axis=0, return_inverse=True)
    for k, pattern in enumerate(patterns):
        mine = np.flatnonzero(of.ravel() == k)
        for start in range(0, mine.size, block):
            rows = mine[start : start + block]
            yield rows, d.values[rows][:, pattern]


def bootstrap_test(
    d: Differences, sides: str, rounds: int, seed: int, report: Report = lambda done: None, executor: Any = None
) -> tuple[Array, Array]:
    """Student's t of every pair, and the p-value by the bootstrap of the differences minus their mean."""
    mean = d.mean
    t = standardised(mean, d.deviation / np.sqrt(d.n))
    p = np.ones(t.size)
    blocks, done = list(_blocks(d, _PAIRS)), 0
    items = [(values, mean[rows], t[rows]) for rows, values in blocks]
    found = spread(_bootstrap_p, _Draws(rounds, seed, d.unit, sides), items, executor)
    for (rows, _), part in zip(blocks, found, strict=True):
        p[rows] = part
        done += rows.size
        report(done)
    return t, np.where(~d.values.any(axis=1), 1.0, p)


def _bootstrap_p(draws: _Draws, item: tuple[Array, Array, Array]) -> Array:
    """The p-values of some pairs, by their differences, mean differences and t."""
    (values, mean, t), sides = item, draws.sides
    n = values.shape[1]
    drawn, centred = draws.of(n), values - mean[:, None]
    squares = np.square(centred)
    extreme = np.zeros(t.size, np.int64)
    wanted = t if sides != "less" else -t
    bound = np.abs(wanted) if sides == "two" else wanted
    bound = bound - 1e-12 * np.where(np.isfinite(bound), np.abs(bound), 0.0)
    for start in range(0, draws.rounds, _ROUNDS):
        weights = drawn[start : start + _ROUNDS].T.astype(np.float64)
        m = centred @ weights / n
        deviation = np.sqrt(np.maximum(squares @ weights - n * np.square(m), 0.0) / max(n - 1, 1))
        m[np.abs(m) <= draws.unit] = 0.0
        # one topic drawn over and over has no deviation: as far out as can be
        star = standardised(m, np.where(deviation > draws.unit, deviation, 0.0) / np.sqrt(n))
        star = np.abs(star) if sides == "two" else -star if sides == "less" else star
        extreme += np.count_nonzero(star >= bound[:, None], axis=1)
    return np.asarray((extreme + 1) / (draws.rounds + 1))


def bootstrap_interval(
    d: Differences,
    how: str,
    sides: str,
    alpha: float,
    rounds: int,
    seed: int,
    report: Report = lambda done: None,
    executor: Any = None,
) -> tuple[Array, Array]:
    """The confidence interval (1 - alpha) of every mean difference: "percentile" or "bca"; NaN for a single topic."""
    low, high = np.full(d.n.size, np.nan), np.full(d.n.size, np.nan)
    ends = np.array([alpha / 2, 1.0 - alpha / 2] if sides == "two" else [alpha, 1.0 - alpha])
    mean, centred = d.mean, d.centred
    blocks, done = list(_blocks(d, max(1, (1 << 21) // rounds))), 0
    items = [(values, mean[rows], centred[rows]) for rows, values in blocks]
    found = spread(_bootstrap_ends, _Draws(rounds, seed, d.unit, sides, how, ends), items, executor)
    for (rows, _), part in zip(blocks, found, strict=True):
        low[rows], high[rows] = part
        done += rows.size
        report(done)
    return opened(low, high, sides)


def _bootstrap_ends(draws: _Draws, item: tuple[Array, Array, Array]) -> Array:
    """The two ends of the intervals of some pairs, by their differences, means, and differences minus their mean."""
    values, mean, centred = item
    n = values.shape[1]
    if n < 2:
        return np.full((2, mean.size), np.nan)
    drawn, ends = draws.of(n), np.asarray(draws.ends)
    starts = range(0, draws.rounds, _ROUNDS)
    means = np.concatenate(
        [values @ drawn[start : start + _ROUNDS].T.astype(np.float64) / n for start in starts], axis=1
    )
    means.sort(axis=1)
    wanted = np.broadcast_to(ends, (mean.size, 2))
    if draws.how == "bca":
        wanted = _corrected(means, mean, centred, ends, draws.unit)
    return _quantiles(means, wanted).T


def _quantiles(ordered: Array, at: Array) -> Array:
    """Quantiles of every row, each at its own probabilities, between neighbours along a line."""
    place = at * (ordered.shape[1] - 1)
    under = np.floor(place).astype(np.int64)
    over = np.minimum(under + 1, ordered.shape[1] - 1)
    a, b = np.take_along_axis(ordered, under, axis=1), np.take_along_axis(ordered, over, axis=1)
    return np.asarray(a + (place - under) * (b - a))


def _corrected(ordered: Array, mean: Array, centred: Array, ends: Array, unit: float) -> Array:
    """The probabilities whose quantiles are the ends of the BCa interval."""
    from scipy.special import ndtr, ndtri

    rounds = ordered.shape[1]
    below = np.count_nonzero(ordered < mean[:, None] - unit, axis=1)
    upto = np.count_nonzero(ordered <= mean[:, None] + unit, axis=1)
    # the mean is inside its own draws: a bias beyond what this many of them can show is not looked for
    share = np.clip((below + upto) / (2 * rounds), 0.5 / rounds, 1.0 - 0.5 / rounds)
    bias = ndtri(share)[:, None]
    squares = np.square(centred).sum(axis=1)
    cubes = (centred**3).sum(axis=1)
    pull = np.divide(cubes, 6.0 * squares**1.5, out=np.zeros(cubes.size), where=squares > unit**2)[:, None]
    z = bias + ndtri(ends)
    left = 1.0 - pull * z
    # where the acceleration leaves nothing, the end is that of the draws
    moved = np.divide(z, left, out=np.copysign(np.inf, z), where=left > 0)
    return np.asarray(ndtr(bias + moved))
