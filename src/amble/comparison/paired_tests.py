"""Paired tests with a known null distribution: Student's t, Wilcoxon's signed ranks, the sign test; all pairs at once.

The statistic of a pair grows with the first system's lead. ``sides`` is "two", "greater" (the first is better) or
"less" (it is worse). Two systems with the same scores have p = 1.

* **t**: mean / (deviation / sqrt(n)), n - 1 degrees of freedom. Where all differences are the same, and not 0, there is
  no doubt left for it: p = 0.
* **Wilcoxon**: zero differences are dropped, as Wilcoxon did; equal ones share the mean of their ranks; the statistic
  is the sum of the ranks of the positive ones. Up to 50 differences its distribution is counted exactly, ties or not,
  over all assignments of signs to these very ranks; beyond that it is taken as normal, with the correction of the
  variance for ties and none for continuity.
* **sign**: zero differences are dropped; the wins are compared with those of a fair coin.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from amble.arrays import Array, Bools, Ints
from amble.comparison.systems import Differences, standardised

__all__ = ["EXACT", "opened", "sign_test", "t_interval", "t_test", "wilcoxon_test"]

Report = Callable[[int], None]

EXACT = 50  # differences up to which signed ranks are counted: 2^50 assignments are still whole numbers in a double


def t_test(d: Differences, sides: str) -> tuple[Array, Array]:
    """Student's t of every pair, and its p-value."""
    from scipy.special import stdtr

    t = standardised(d.mean, d.deviation / np.sqrt(d.n))
    freedom = np.maximum(d.n - 1, 1)
    if sides == "two":
        p = 2.0 * stdtr(freedom, -np.abs(t))
    else:
        p = stdtr(freedom, -t if sides == "greater" else t)
    return t, np.where(_equal(d), 1.0, np.minimum(p, 1.0))


def t_interval(mean: Array, deviation: Array, n: Ints, sides: str, alpha: float) -> tuple[Array, Array]:
    """The confidence interval (1 - alpha) of means by Student's t, one-sided for such a test; NaN for one topic."""
    from scipy.special import stdtrit

    probability = 1.0 - (alpha / 2 if sides == "two" else alpha)
    width = np.where(n > 1, stdtrit(np.maximum(n - 1, 1), probability) * deviation / np.sqrt(np.maximum(n, 1)), np.nan)
    return opened(mean - width, mean + width, sides)


def opened(low: Array, high: Array, sides: str) -> tuple[Array, Array]:
    """A confidence interval, without its upper or lower end where the test is of the other side only."""
    if sides == "greater":
        return low, np.where(np.isnan(high), np.nan, np.inf)
    if sides == "less":
        return np.where(np.isnan(low), np.nan, -np.inf), high
    return low, high


def _equal(d: Differences) -> Bools:
    """The pairs with the same scores on all topics."""
    return np.logical_not(np.asarray(d.values.any(axis=1)))


def sign_test(d: Differences, sides: str) -> tuple[Array, Array]:
    """How many topics the first of every pair wins, and the p-value of the sign test."""
    from scipy.special import bdtr

    wins, losses = (d.values > 0).sum(axis=1), (d.values < 0).sum(axis=1)
    n = wins + losses
    if sides == "two":
        p = np.minimum(2.0 * bdtr(np.minimum(wins, losses), np.maximum(n, 1), 0.5), 1.0)
    else:
        p = bdtr(losses if sides == "greater" else wins, np.maximum(n, 1), 0.5)
    return wins.astype(np.float64), np.where(n > 0, p, 1.0)


def wilcoxon_test(d: Differences, sides: str, report: Report = lambda done: None) -> tuple[Array, Array, Bools]:
    """The sum of the ranks of positive differences of every pair, its p-value, and whether that was counted."""
    double, n = _double_ranks(d)
    positive = np.where(d.values > 0, double, 0).sum(axis=1)
    p = np.ones(n.size)
    few = (n > 0) & (n <= EXACT)
    plain: dict[int, Array] = {}  # without ties the distribution depends on n alone
    for i in np.flatnonzero(few).tolist():
        ranks = np.sort(double[i][double[i] > 0])
        if np.array_equal(ranks, np.arange(2, 2 * ranks.size + 1, 2)):
            if ranks.size not in plain:
                plain[ranks.size] = _counted(ranks)
            ways = plain[ranks.size]
        else:
            ways = _counted(ranks)
        p[i] = _tail(ways, int(positive[i]), sides)
        report(i + 1)
    many = n > EXACT
    if many.any():
        p[many] = _normal(double[many], positive[many], n[many], sides)
    return positive / 2.0, p, ~many


def _double_ranks(d: Differences) -> tuple[Ints, Ints]:
    """Twice the rank of every difference by its size (so that mean ranks are whole), 0 for a zero; how many are not."""
    size = np.abs(d.values)
    size[size == 0] = np.inf  # last, and not ranked
    order = np.argsort(size, axis=1, kind="stable")
    ordered = np.take_along_axis(size, order, axis=1)
    place = np.arange(1, size.shape[1] + 1)
    rises = ordered[:, 1:] != ordered[:, :-1]
    edge = np.ones((size.shape[0], 1), bool)
    first = np.maximum.accumulate(np.where(np.concatenate((edge, rises), axis=1), place, 0), axis=1)
    after = np.where(np.concatenate((rises, edge), axis=1), place, size.shape[1] + 1)
    last = np.minimum.accumulate(after[:, ::-1], axis=1)[:, ::-1]
    ranks = np.zeros(size.shape, np.int64)
    np.put_along_axis(ranks, order, np.where(np.isinf(ordered), 0, first + last), axis=1)
    return ranks, np.asarray(np.isfinite(size).sum(axis=1), np.int64)


def _counted(double: Ints) -> Array:
    """In how many ways signs give each sum of (double) positive ranks; counts are whole numbers below 2^53."""
    ways = np.zeros(int(double.sum()) + 1)
    ways[0] = 1.0
    upto = 0
    for rank in double.tolist():
        ways[rank : upto + rank + 1] = ways[rank : upto + rank + 1] + ways[: upto + 1]
        upto += rank
    return ways


def _tail(ways: Array, at: int, sides: str) -> float:
    total = float(ways.sum())
    above, below = float(ways[at:].sum()) / total, float(ways[: at + 1].sum()) / total
    if sides == "two":
        return min(1.0, 2.0 * min(above, below))
    return above if sides == "greater" else below


def _normal(double: Ints, positive: Ints, n: Ints, sides: str) -> Array:
    from scipy.special import ndtr

    # a quarter of the sum of squared ranks: n (n + 1) (2 n + 1) / 24, minus (t^3 - t) / 48 for t equal differences
    variance = np.square(double / 2.0).sum(axis=1) / 4.0
    z = (positive / 2.0 - n * (n + 1) / 4.0) / np.sqrt(variance)
    if sides == "two":
        return np.asarray(2.0 * ndtr(-np.abs(z)))
    return np.asarray(ndtr(-z if sides == "greater" else z))
