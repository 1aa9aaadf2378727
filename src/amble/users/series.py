"""Users who read on for ever by any formula: the sum of V(i) over all ranks, from its values at a few thousand.

The d(1) transformation of Levin and Sidi: what a sum lacks after rank R is R times its last term times a series in 1/R,
or in the root of 1/R, whose first coefficients the partial sums at 14 ranks tell (by Sidi's W-algorithm), each rank 1.6
times the one before. Where one more rank changes the result by more than a billionth, it is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np

from amble.arrays import NDArray
from amble.errors import MeasureError

__all__ = ["Series"]

Array = NDArray[np.float64]

_ENOUGH = 1e-9  # what the sum may change by with one more rank
_FAR = 2.0**32  # a rank that shows how fast a formula falls
_ATOMS = 1 << 14  # ranks that are kept one by one


_RANKS = np.array([*accumulate(range(13), lambda rank, _: -(-rank * 8 // 5), initial=8)])
_ALL = np.arange(1.0, _RANKS[-1] + 1.0)


def _sum(terms: Array) -> tuple[float, float]:
    """The sum of infinitely many terms, of which those down to the last of `_RANKS` are given; and its error."""
    partial = np.cumsum(terms)
    last = terms[_RANKS - 1]
    if last[-1] * _RANKS[-1] <= 1e-17 * partial[-1]:
        return float(partial[-1]), 0.0
    found = []
    for power in (1.0, 0.5):
        x = _RANKS**-power
        by = 1.0 / (_RANKS * last)
        over, limits = partial[_RANKS - 1] * by, [0.0]
        for k in range(1, x.size):
            step = x[k:] - x[:-k]
            over, by = np.diff(over) / step, np.diff(by) / step
            limits.append(float(over[0] / by[0]) if by[0] else np.inf)
        known = np.isfinite(limits[-2:]).all() and limits[-1] != 0
        found.append((abs(limits[-1] - limits[-2]) / abs(limits[-1]) if known else np.inf, limits[-1]))
    error, limit = min(found)
    return limit, error


class Series:
    """Going on for ever as V(i), C(i) or L(i) of any rank says: a `Tail` whose sum is transformed, or refused.

    Parameters
    ----------
    kind : {"visits", "continuation", "last"}
        Whether the function gives V, C or L; V and L up to a constant.
    rule : callable
        A function of an array of ranks.

    Examples
    --------
    >>> basel = Series("visits", lambda i: 1 / i**2)
    >>> round(basel.total, 12), round(float(basel.visits(1 / 16, 3)), 12)  # pi^2 / 6, and without 1 + 1/4 + 1/9
    (1.644934066848, 0.283822955737)
    """

    def __init__(self, kind: str, rule: Callable[[Array], Any], name: str = "") -> None:
        self.kind, self.rule, self.name = kind, rule, name or {"visits": "V", "continuation": "C", "last": "L"}[kind]
        self._visits: Array = np.zeros(0)
        self._reached: Array = self._visits

    @cached_property
    def _stops(self) -> Array:
        """L at the ranks where it is summed."""
        return self._values(_ALL)

    @cached_property
    def _mass(self) -> float:
        """What L is divided by."""
        return self._summed(self._stops, 1.0)

    @cached_property
    def total(self) -> float:
        """E[H], the sum of V."""
        if self.kind == "last":
            return self._summed(_ALL * self._stops, 2.0) / self._mass
        visits = self._upto(_ALL.size)
        return self._summed(visits, 1.0)

    @cached_property
    def _per_rank(self) -> float:
        """E[1 / H]."""
        if self.kind == "last":
            return self._summed(self._stops / _ALL, 0.0) / self._mass
        visits = self._upto(_ALL.size + 1)[1:]
        return 1.0 - self._summed(visits / (_ALL * (_ALL + 1.0)), -1.0)

    def _given(self, rank: Array) -> Array:
        try:
            return np.array(np.broadcast_to(np.asarray(self.rule(rank), np.float64), rank.shape))
        except Exception as error:
            raise MeasureError(f"its function failed with {type(error).__name__}: {error}") from error

    def _values(self, rank: Array) -> Array:
        """The function at the ranks; an error where it gives no probability."""
        out = self._given(rank)
        most = {"continuation": 1.0 + 1e-9, "last": np.inf}.get(self.kind, np.append(np.inf, out[:-1] * (1 + 1e-9)))
        bad = np.flatnonzero(~(np.isfinite(out) & (out >= 0) & (out <= most)))
        if bad.size or not out.any():
            i = int(bad[0]) if bad.size else 0
            expected = {"continuation": "0 to 1", "last": "at least 0, and not 0 everywhere"}
            text = expected.get(self.kind, "a number of at least 0 that does not rise with the rank")
            raise MeasureError(f"{self.name}({rank[i]:g}) is {out[i]:.6g}, expected {text}")
        return out

    @cached_property
    def _falls(self) -> float:
        """The power of 1 / i with which V or L falls far down: of C, i (1 - C(i))."""
        if self.kind == "continuation":
            return float(_FAR * (1.0 - self._given(np.array([_FAR]))[0]))
        far = self._given(_FAR * np.array([1.0, 2.0]))
        return float(np.log2(far[0] / far[1])) if far[1] > 0 else np.inf

    def _summed(self, terms: Array, power: float) -> float:
        """The sum of terms; an error if it has none, as V or L does not fall faster than 1 / i to a ``power``."""
        if not self._falls > power + 1e-4:
            why = f"{self.name} falls as 1 / i^{self._falls:.3g}, expected faster than 1 / i^{power:g}"
            if self.kind == "continuation":
                why = f"i (1 - C(i)) goes to {self._falls:.3g}, expected more than 1"
            raise MeasureError(f"the user reads on for ever: {why}; or say finite=True, to stop with the list")
        limit, error = _sum(terms)
        if not error <= _ENOUGH:
            raise MeasureError(
                f"the sum over all ranks is known to {error:.1g} of it only; say finite=True, to stop with the list"
            )
        return limit

    def _upto(self, n: int) -> Array:
        """V at ranks 1 to n."""
        if n > self._visits.size:
            m = max(n, 2 * self._visits.size)
            given = self._values(np.arange(1.0, m + 1.0))
            if self.kind == "visits":
                self._visits = np.asarray(given / given[0])
            elif self.kind == "last":
                self._visits = np.maximum(1.0 - np.concatenate(([0.0], np.cumsum(given[:-1]))) / self._mass, 0.0)
            else:
                self._visits = np.cumprod(np.append(1.0, np.minimum(given[:-1], 1.0)), dtype=np.float64)
            self._reached = np.cumsum(self._visits, dtype=np.float64)
        return self._visits[:n]

    def reach(self, rank: Array) -> Array:
        """V at the ranks."""
        at = np.asarray(rank, np.int64)
        return self._upto(int(at.max(initial=1)))[at - 1]

    def continuation(self, rank: int) -> float:
        """The probability of going on."""
        here, there = self._upto(rank + 1)[rank - 1 :]
        return float(there / here) if here > 0 else 0.0

    def visits(self, reach: Any, n: int, skip: int = 0) -> Any:
        """The expected visits beyond n + skip: the sum of V without those before."""
        first = self._upto(n + skip + 1)[n]
        left = self.total - (self._reached[n + skip - 1] if n + skip else 0.0)
        return reach * (max(left, 0.0) / first if first > 0 else 0.0)

    def stops(self, reach: float, n: int, least: float = 0.0) -> tuple[Array, Array]:
        """Ranks and probabilities of stopping there; those far beyond at their harmonic mean."""
        visits = self._upto(n + 1 + _ATOMS)
        rank = np.arange(1.0, visits.size + 1.0)
        last = np.append(visits[:-1] - visits[1:], visits[-1])
        far = self._per_rank - float((last[:-1] / rank[:-1]).sum())  # E[1 / H] of those beyond
        if last[-1] > 0 and far > 0:
            rank[-1] = max(last[-1] / far, rank[-1])
        return rank[n:], (reach / visits[n] if visits[n] > 0 else 0.0) * last[n:]
