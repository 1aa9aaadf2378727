"""The law of a score over users: atoms on the line, exact where they can be, with what follows from them.

A user stops at rank h with a gain t; the score she goes home with is t / f(h). Over many users that is a random
variable. `Law` holds its atoms: values and probabilities, in increasing order of value.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from amble.errors import MeasureError

__all__ = ["Law"]

_MASS = 1e-9  # how far from 1 the probabilities may sum


class Law:
    """A discrete law on the real line.

    Parameters
    ----------
    values, probs : array_like
        Atoms; equal values are merged, atoms of probability 0 left out.
    users : int, optional
        How many users were simulated; None for an exact law.

    Examples
    --------
    >>> from amble.law import Law
    >>> law = Law([1.0, 0.5, 0.5, 0.0], [0.25, 0.25, 0.25, 0.25])
    >>> law.values, law.probs
    (array([0. , 0.5, 1. ]), array([0.25, 0.5 , 0.25]))
    >>> law.mean, law.var
    (0.5, 0.125)
    >>> law.cdf(0.5), law.quantile(0.9)
    (0.75, 1.0)
    """

    def __init__(self, values: ArrayLike, probs: ArrayLike, *, users: int | None = None) -> None:
        v = np.asarray(values, np.float64).ravel()
        p = np.asarray(probs, np.float64).ravel()
        if v.size != p.size or not v.size:
            raise MeasureError(f"a law needs as many values as probabilities, found {v.size} and {p.size}")
        if not np.isfinite(v).all():
            raise MeasureError("a law's values must be finite")
        if not (p >= 0).all() or not abs(p.sum() - 1) <= _MASS:
            raise MeasureError(f"a law's probabilities must be non-negative and sum to 1, found {p.sum():.12g}")
        order = np.argsort(v, kind="stable")
        v, p = v[order], p[order]
        start = np.flatnonzero(np.concatenate(([True], v[1:] != v[:-1])))
        v, p = v[start], np.add.reduceat(p, start)
        self.values: NDArray[np.float64] = v[p > 0]
        self.probs: NDArray[np.float64] = p[p > 0]
        self.users = users
        for array in (self.values, self.probs):
            array.flags.writeable = False

    @property
    def mean(self) -> float:
        """The mean: the expected rate, order 1."""
        return float(self.values @ self.probs)

    @property
    def var(self) -> float:
        """The variance."""
        return float(((self.values - self.mean) ** 2) @ self.probs)

    def cdf(self, x: ArrayLike) -> Any:
        """The share of users whose score is at most x."""
        total = np.concatenate(([0.0], np.cumsum(self.probs)))
        at = np.searchsorted(self.values, np.asarray(x, np.float64), side="right")
        out = np.minimum(total[at], 1.0)
        return float(out) if out.ndim == 0 else out

    def quantile(self, u: ArrayLike) -> Any:
        """The least value that a share u of users does not exceed."""
        share = np.asarray(u, np.float64)
        if ((share < 0) | (share > 1)).any():
            raise MeasureError(f"quantile({u!r}): expected a share between 0 and 1")
        total = np.cumsum(self.probs)
        at = np.minimum(np.searchsorted(total, share - 1e-12, side="left"), total.size - 1)
        out = self.values[at]
        return float(out) if out.ndim == 0 else out

    @property
    def band(self) -> float:
        """Half-width of the 95 % band around a simulated cdf (Dvoretzky, Kiefer, Wolfowitz); 0 for an exact law."""
        return self.band_at(0.05)

    def band_at(self, alpha: float) -> float:
        """Half-width of the band that holds the whole cdf with probability 1 − alpha."""
        if self.users is None:
            return 0.0
        return float(np.sqrt(np.log(2 / alpha) / (2 * self.users)))

    def distance(self, other: Law) -> float:
        """The largest difference of the two cdfs."""
        at = np.union1d(self.values, other.values)
        return float(np.abs(self.cdf(at) - other.cdf(at)).max())

    def compare(self, other: Law, tolerance: float = 1e-12) -> str:
        """Compare by first-order stochastic dominance.

        Returns
        -------
        str
            "less" (users fare worse here, whatever score they want), "greater", "equal" or "incomparable".

        Examples
        --------
        >>> from amble.law import Law
        >>> Law([0, 1], [0.5, 0.5]).compare(Law([0, 1], [0.2, 0.8]))
        'less'
        >>> Law([0, 1], [0.5, 0.5]).compare(Law([0.5], [1.0]))
        'incomparable'
        """
        at = np.union1d(self.values, other.values)
        gap = self.cdf(at) - other.cdf(at)
        worse, better = bool((gap > tolerance).any()), bool((gap < -tolerance).any())
        if worse and better:
            return "incomparable"
        return "less" if worse else "greater" if better else "equal"

    def __repr__(self) -> str:
        kind = f"{self.users} users" if self.users else "exact"
        return f"Law({self.values.size} atoms, mean {self.mean:.6g}, {kind})"
