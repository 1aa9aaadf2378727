"""Effect sizes of paired differences: Hedges' g, probability of superiority, wins, ties and losses.

* **g**: Hedges' g for paired data, the mean difference in standard deviations *of the differences* (n - 1), times
  Hedges' correction for small samples, exactly: J = Γ(m/2) / (√(m/2) Γ((m - 1)/2)) with m = n - 1.
* **superiority**: the probability that the first system is better on a topic, half of the ties counted.
* **wins, ties, losses**: on how many topics the first is better, the same, worse.
"""

from __future__ import annotations

import math

import numpy as np

from amble.arrays import Array, Ints
from amble.comparison.systems import Differences, standardised

__all__ = ["counts", "hedges_g", "superiority"]


def _unbiased(n: int) -> float:
    """Hedges' J for n differences; NaN below 3."""
    m = n - 1
    if m < 2:
        return math.nan
    return math.exp(math.lgamma(m / 2) - math.lgamma((m - 1) / 2)) / math.sqrt(m / 2)


def hedges_g(d: Differences) -> Array:
    """Hedges' g of every pair; NaN below three topics, infinite where all differences are the same, 0 where none is."""
    kinds, of = np.unique(d.n, return_inverse=True)
    factor = np.array([_unbiased(n) for n in kinds.tolist()])[of]
    return np.asarray(standardised(d.mean, d.deviation) * factor)


def counts(d: Differences) -> tuple[Ints, Ints, Ints]:
    """Wins, ties and losses of the first system of every pair."""
    wins, losses = (d.values > 0).sum(axis=1), (d.values < 0).sum(axis=1)
    return np.asarray(wins, np.int64), np.asarray(d.n - wins - losses, np.int64), np.asarray(losses, np.int64)


def superiority(wins: Ints, ties: Ints, losses: Ints) -> Array:
    """The share of topics on which the first system is better, half of the ties counted."""
    n = wins + ties + losses
    return np.asarray(np.divide(wins + ties / 2, n, out=np.full(n.shape, np.nan), where=n > 0))
