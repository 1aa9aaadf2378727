"""All systems at once: Tukey's honestly significant differences, by randomisation.

If all systems were the same, the scores of a topic might as well be dealt to them in any order. Each round deals anew
on every topic and notes how far the best mean then lies above the worst (Carterette, 2012; Sakai, 2014). A difference
is held against these ranges, so that the probability of any false finding among all pairs is below the level, and
nothing more need be corrected. p is (b + 1) / (rounds + 1), where b rounds have a range at least as large.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = ["critical_difference", "dealt_ranges", "range_p"]

Array = NDArray[np.float64]

_CELLS = 1 << 18  # scores dealt at once


def dealt_ranges(values: Array, rounds: int, seed: int, progress: Callable[[int, int], None]) -> Array:
    """The range of the means in every round, ascending; ``values`` has a row a system and a column a topic."""
    systems, topics = values.shape
    rng = np.random.default_rng(seed)
    hand = np.sort(values.T, axis=1)  # what is dealt, whatever the order of the systems
    step = max(1, _CELLS // max(values.size, 1))
    out = np.empty(rounds)
    for start in range(0, rounds, step):
        n = min(step, rounds - start)
        dealt = np.broadcast_to(hand, (n, topics, systems)).copy()
        rng.permuted(dealt, axis=2, out=dealt)
        totals = dealt.sum(axis=1)
        out[start : start + n] = (totals.max(axis=1) - totals.min(axis=1)) / topics
        progress(start + n, rounds)
    out.sort()
    return out


def range_p(ranges: Array, difference: Array, unit: float) -> Array:
    """(b + 1) / (rounds + 1) for every difference; those within the unit count as equal."""
    reached = ranges.size - np.searchsorted(ranges, np.abs(difference) - unit, side="left")
    return np.asarray((reached + 1) / (ranges.size + 1))


def critical_difference(ranges: Array, alpha: float) -> float:
    """The largest difference whose p is above alpha; infinite if there are too few rounds for any p below it."""
    allowed = math.floor(alpha * (ranges.size + 1) * (1 + 1e-12)) - 1
    return float(ranges[ranges.size - 1 - allowed]) if allowed >= 0 else math.inf
