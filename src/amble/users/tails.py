"""Tails: the visits and stops beyond a list of users who read on for ever, in closed forms, never cut.

A tail starts after n ranks; a share ``reach`` of users gets to rank n + 1. It gives the expected further visits and
the distribution of stops. All functions work on arrays of lists as well as on one.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Protocol

import numpy as np

from amble.arrays import ArrayLike, NDArray
from amble.errors import MeasureError

__all__ = ["Geometric", "InversePower", "Tail", "hurwitz", "trigamma"]

Array = NDArray[np.float64]

_NEGLIGIBLE = 1e-18
_ATOMS = 1 << 14  # ranks of a heavy tail that are kept one by one
_MOST = 1 << 24  # ranks of any tail that are kept
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6)


def trigamma(x: ArrayLike) -> Array:
    """The sum of 1 / (x + k)² over k = 0, 1, 2, …, for x > 0.

    Ten and more: the asymptotic series; below, the recurrence up to there. (scipy has it too, but takes longer to
    import than a whole evaluation.)

    >>> round(float(trigamma(1.0)) * 6 / 3.141592653589793**2, 14)  # Basel
    1.0
    """
    shape = np.shape(x)
    z = np.array(x, np.float64).ravel()
    total = np.zeros(z.size)
    small = np.flatnonzero(z < 10)
    while small.size:
        total[small] += 1.0 / z[small] ** 2
        z[small] += 1.0
        small = small[z[small] < 10]
    one = 1.0 / z
    square = one * one
    series = np.full(z.size, _BERNOULLI[-1])
    for b in _BERNOULLI[-2::-1]:
        series = series * square + b
    return np.asarray(total + one * (1.0 + one * (0.5 + one * series))).reshape(shape)


def hurwitz(power: float, x: ArrayLike) -> Array:
    """The sum of 1 / (x + k)^power over k = 0, 1, 2, …, for x > 0 and a power above 1."""
    if power == 2:
        return trigamma(x)
    from scipy.special import zeta  # for other powers only

    return np.asarray(zeta(power, x))


class Tail(Protocol):
    """How users go on at ranks beyond n: continuation, visits and stops."""

    def continuation(self, rank: int) -> float:
        """The probability of going on after a rank beyond the list."""

    def visits(self, reach: Any, n: Any, skip: int = 0) -> Any:
        """The expected visits to ranks beyond n + skip, if a share ``reach`` gets to n + 1."""

    def stops(self, reach: float, n: int, least: float = _NEGLIGIBLE) -> tuple[Array, Array]:
        """Ranks and the probabilities of stopping there, down to the least; the last stands for all that follow."""


class Geometric:
    """One probability of going on, for ever.

    >>> Geometric(0.5).visits(1.0, 0)  # 1 + 1/2 + 1/4 + ...
    2.0
    """

    def __init__(self, p: float) -> None:
        self.p = p

    def continuation(self, rank: int) -> float:
        """The probability of going on."""
        return self.p

    def visits(self, reach: Any, n: Any, skip: int = 0) -> Any:
        """The expected visits beyond n + skip: a geometric sum."""
        return reach * self.p**skip / (1 - self.p)

    def stops(self, reach: float, n: int, least: float = _NEGLIGIBLE) -> tuple[Array, Array]:
        """Ranks and probabilities of stopping there, until what is left is negligible."""
        count = int(np.ceil(np.log(least) / np.log(self.p))) if self.p > 0 else 1
        if count > _MOST:
            raise MeasureError(
                f"going on with probability {self.p!r} is to see some {count:.1g} ranks, too many for a distribution"
            )
        k = np.arange(count, dtype=np.float64)
        return n + 1 + k, reach * (1 - self.p) * self.p**k


class InversePower:
    """Going on after rank i with ((i + shift) / (i + shift + 1))^power, so that V(i) falls as 1 / (i + shift)^power."""

    def __init__(self, shift: Any, power: float = 2.0) -> None:
        self.shift, self.power = shift, power

    def continuation(self, rank: int) -> float:
        """The probability of going on."""
        x = max(rank + float(self.shift), 0.0)
        return float((x / (x + 1)) ** self.power)

    def visits(self, reach: Any, n: Any, skip: int = 0) -> Any:
        """The expected visits beyond n + skip: a Hurwitz zeta function, of power 2 a trigamma function."""
        x = np.maximum(np.asarray(n + 1 + self.shift, np.float64), 1e-300)
        return reach * x**self.power * hurwitz(self.power, x + skip)

    def stops(self, reach: float, n: int, least: float = _NEGLIGIBLE) -> tuple[Array, Array]:
        """Ranks and probabilities of stopping there; those far beyond at their harmonic mean.

        With u for a rank, 1 / u is 1 / ((u + s) - s): a series in s / (u + s), taken in the middle of each rank.
        """
        x = n + 1 + float(self.shift)
        k = np.arange(_ATOMS + 1, dtype=np.float64)
        reached = reach * (x / (x + k)) ** self.power
        rank = n + 1 + k
        probs = np.append(reached[:-1] - reached[1:], reached[-1])
        rank[-1] = _far_rank(float(self.shift), self.power, n)
        return rank, probs


@lru_cache(maxsize=1 << 12)
def _far_rank(shift: float, power: float, n: int) -> float:
    """The harmonic mean of the ranks of those who stop beyond all atoms of `InversePower.stops`."""
    j, far = np.arange(4096), n + 1 + shift + _ATOMS
    return far / float(((shift + 0.5) / far) ** j @ (power / (power + 1.0 + j)))
