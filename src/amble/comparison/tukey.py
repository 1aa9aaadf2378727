"""Tukey's honestly significant differences of all systems at once: by randomisation, and by the studentised range.

**By randomisation.** If all systems were the same, the scores of a topic might as well be dealt to them in any order.
Each round deals anew on every topic and notes how far the best mean then lies above the worst (Carterette, 2012; Sakai,
2014). A difference is compared with these ranges, so that the probability of any false finding among all pairs is below
alpha, and nothing more need be corrected. p is (b + 1) / (rounds + 1), where b rounds have a range at least as large.

**By the studentised range.** Of k normal variables the range exceeds w with probability

    k ∫ φ(z) [Φ(z)^(k-1) - (Φ(z) - Φ(z - w))^(k-1)] dz

and the studentised range, divided by an estimate with m degrees of freedom, exceeds q with the mean of that at w = q s,
where s² has the distribution of chi² / m. Both integrands are smooth and die away on both sides (the second one with s
= e^y), so that the trapezoidal rule gives all digits; nothing is subtracted, so that small probabilities are right,
too. ``scipy.stats.studentized_range`` is the same, one value at a time, in some 15 ms each.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from amble.arrays import Array
from amble.parallel import spread

__all__ = ["critical_difference", "critical_range", "dealt_ranges", "exceeds", "range_p"]

_CELLS = 1 << 18  # scores dealt at once
_STEP = 0.125  # of z
_FARTHEST = 60.0  # a range of normal variables beyond this has no probability
_NODES = 160  # of the interpolation where there are many ranges
_LOST = 40.0  # exp(-40) is nothing


def dealt_ranges(
    values: Array, rounds: int, seed: int, progress: Callable[[int, int], None], executor: Any = None
) -> Array:
    """The range of the means in every round, ascending; ``values`` has one row per system and one column per topic."""
    hand = np.sort(values.T, axis=1)  # what is dealt, whatever the order of the systems
    step = max(1, _CELLS // max(values.size, 1))
    pieces = [(start, min(step, rounds - start)) for start in range(0, rounds, step)]
    out = np.empty(rounds)
    for (start, n), found in zip(pieces, spread(_dealt, (hand, seed), pieces, executor), strict=True):
        out[start : start + n] = found
        progress(start + n, rounds)
    out.sort()
    return out


def _dealt(shared: tuple[Array, int], piece: tuple[int, int]) -> Array:
    """The range of the means in some rounds, which have random numbers of their own."""
    (hand, seed), (start, rounds) = shared, piece
    dealt = np.broadcast_to(hand, (rounds, *hand.shape)).copy()
    np.random.default_rng((seed, start) if start else seed).permuted(dealt, axis=2, out=dealt)
    totals = dealt.sum(axis=1)
    return np.asarray((totals.max(axis=1) - totals.min(axis=1)) / len(hand))


def range_p(ranges: Array, difference: Array, unit: float) -> Array:
    """The p-value of every difference, (b + 1) / (rounds + 1); ranges within the unit count as equal."""
    reached = ranges.size - np.searchsorted(ranges, np.abs(difference) - unit, side="left")
    return np.asarray((reached + 1) / (ranges.size + 1))


def critical_difference(ranges: Array, alpha: float) -> float:
    """The largest difference whose p-value is above alpha; infinite if rounds are too few for any below it."""
    allowed = math.floor(alpha * (ranges.size + 1) * (1 + 1e-12)) - 1
    return float(ranges[ranges.size - 1 - allowed]) if allowed >= 0 else math.inf


def _range_exceeds(w: Array, k: int) -> Array:
    """The probability that the range of k normal variables exceeds each w."""
    from scipy.special import ndtr

    out = np.empty(w.size)
    for start in range(0, w.size, 2048):
        part = np.minimum(w[start : start + 2048, None], _FARTHEST)
        z = np.arange(-9.0, 9.0 + float(part.max(initial=0.0)) / 2, _STEP)
        phi = np.exp(-0.5 * z * z) / math.sqrt(2 * math.pi)
        upto = ndtr(z)
        missed = -np.expm1((k - 1) * np.log1p(-np.minimum(ndtr(z - part) / upto, 1.0 - 1e-16)))
        out[start : start + 2048] = k * _STEP * (missed * (phi * upto ** (k - 1))).sum(axis=1)
    return np.minimum(out, 1.0)


def _estimates(m: int, most: float) -> tuple[Array, Array]:
    """Values of s, and their probabilities; as far down as a range of ``most`` makes small ones matter."""

    def log_density(y: float) -> float:
        return m * (y - math.exp(2 * y) / 2 + 0.5)  # of y = log s, 0 at its peak

    spread = 1.0 / math.sqrt(2 * m)
    low = high = 0.0
    while log_density(low) > -_LOST:
        low -= spread
    while log_density(high) > -_LOST:
        high += spread / 4
    low += 0.5 * math.log(m / (m + most * most / 2))
    y = np.arange(low, high, min(spread / 4, 0.1))
    density = np.exp(m * (y - np.exp(2 * y) / 2 + 0.5))
    return np.exp(y), density / density.sum()


def _exceeds(q: Array, k: int, m: int) -> Array:
    s, probability = _estimates(m, float(q.max(initial=0.0)))
    found = _range_exceeds((q[:, None] * s).ravel(), k).reshape(q.size, s.size) @ probability
    return np.asarray(np.minimum(found, 1.0))


def exceeds(q: Array, k: int, m: int) -> Array:
    """The probability that the studentised range of k means, with m degrees of freedom, exceeds each q.

    >>> import numpy as np
    >>> exceeds(np.array([3.877]), 3, 10).round(4)  # the tables' 5 % point
    array([0.05])
    """
    if q.size <= _NODES:
        return _exceeds(np.minimum(q, 1e6 if m < 50 else 100.0), k, m)  # the probability beyond is nothing
    q = np.minimum(q, 38.0)  # many means have many degrees of freedom
    line = np.polynomial.Chebyshev.interpolate(
        lambda x: np.log(_exceeds(np.asarray(x), k, m)), _NODES - 1, domain=[0.0, float(q.max()) + 1e-9]
    )
    return np.asarray(np.minimum(np.exp(line(q)), 1.0))


@lru_cache(maxsize=64)
def critical_range(alpha: float, k: int, m: int) -> float:
    """The studentised range that is exceeded with probability alpha.

    >>> round(critical_range(0.05, 3, 10), 3)
    3.877
    """
    low, high = 0.0, 4.0
    while high < 1e6 and float(_exceeds(np.array([high]), k, m)[0]) > alpha:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        if float(_exceeds(np.array([middle]), k, m)[0]) > alpha:
            low = middle
        else:
            high = middle
    return (low + high) / 2
