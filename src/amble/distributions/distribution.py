"""The distribution of a score over users: atoms on the line, exact where they can be, with what follows from them.

A user stops at rank h with a gain t; the score is t / f(h). Over many users that is a random
variable. `Distribution` holds its atoms: values and probabilities, in increasing order of value.

Two distributions are compared by their cdfs (first-order stochastic dominance) or by the integrals of their cdfs
(second-order). What rounding does must not decide: cumulated probabilities that differ by up to 1e-12 are the same, and
so are values that differ by up to 1e-12 of their size.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from amble import checks
from amble.arrays import ArrayLike, NDArray
from amble.errors import MeasureError
from amble.table import Table, Tabled

__all__ = ["Distribution", "Dominance", "summary_of"]

Floats = NDArray[np.float64]

_MASS = 1e-9  # how far from 1 the probabilities may sum
_LARGEST = 1e150
_EXACT = 1e-12  # how far rounding may take cumulated probabilities
_NEAR = 1e-12  # how far rounding may take values, as a share of their size


def _cumulated(steps: Floats) -> Floats:
    """Running sums, in rows of about sqrt(n) so that rounding adds up over 2 sqrt(n) steps; they never decrease."""
    side = int(np.sqrt(steps.size)) + 1
    rows = np.zeros((side, side))
    rows.ravel()[: steps.size] = steps
    rows = rows.cumsum(axis=1)
    rows[1:] += np.cumsum(rows[:-1, -1])[:, None]
    return rows.ravel()[: steps.size]


def near(x: Floats) -> Floats:
    """The greatest values that are the same as x but for rounding."""
    return x + _NEAR * np.abs(x)


class Curve:
    """The cdf of a distribution, which ends at 1 exactly, and the integral of the cdf."""

    def __init__(self, distribution: Distribution) -> None:
        self.x, self.band = distribution.values, distribution.band
        share = _cumulated(distribution.probs)
        self.share: Floats = np.concatenate(([0.0], share / share[-1]))  # before the atoms, at each atom

    @cached_property
    def area(self) -> Floats:
        """The integral of the cdf: before the atoms, up to each atom."""
        return np.concatenate(([0.0, 0.0], _cumulated(self.share[1:-1] * np.diff(self.x))))

    def cdf(self, x: Floats) -> Floats:
        """The share of users with at most x."""
        return self.share[np.searchsorted(self.x, x, side="right")]

    def integral(self, x: Floats) -> Floats:
        """The integral of the cdf up to x: by how much users fall short of x, in the mean."""
        at = np.searchsorted(self.x, x, side="right")
        return self.area[at] + self.share[at] * (x - self.x[at - 1])

    def excess(self, other: Curve, order: str, among: Any = slice(None)) -> float:
        """How far this curve rises above the other one at most, at least 0.

        The cdf rises at atoms of its own, so one of them is where it is furthest above another cdf. Its integral is
        furthest above another one where the slope falls behind: at an atom of the other distribution. ``among`` leaves
        some of these atoms out.
        """
        if order == "first":
            height = self.share[1:][among] - other.cdf(near(self.x[among]))
        else:
            height = self.integral(other.x[among]) - other.area[1:][among]
        return float(height.max(initial=0.0))


def check_order(order: str, tolerance: float | None) -> None:
    """Refuse an order or a tolerance that is not allowed."""
    checks.one_of(order, ("first", "second"), "order", MeasureError)
    if tolerance is not None:
        checks.number(tolerance, "tolerance", least=0, kind=MeasureError)


def allowance(order: str, tolerance: float | None, band: Any, low: Any, high: Any) -> Any:
    """How far a curve may rise above another one before it counts (see `Distribution.compare`).

    Numbers, or arrays of them for many pairs: the sum of the two bands, the least and the greatest value of both
    distributions.
    """
    of_cdf = _EXACT + band if tolerance is None else tolerance + 0 * band
    if order == "first":
        return of_cdf
    return of_cdf * (high - low) + 2 * _NEAR * (np.abs(low) + np.abs(high))


class Dominance(NamedTuple):
    """How two distributions stand to each other; see `Distribution.dominance`.

    Attributes
    ----------
    verdict, second : str
        "less", "greater", "equal" or "incomparable", by first-order and by second-order dominance.
    crossings : ndarray
        Where one cdf stops being above the other, and the other one is above next.
    better, worse, same : float
        Shares of users who fare better here, worse, and the same; they sum to 1.
    gap : float
        The largest difference of the two cdfs.
    """

    verdict: str
    second: str
    crossings: Floats
    better: float
    worse: float
    same: float
    gap: float


class Distribution(Tabled):
    """A discrete distribution on the real line.

    Parameters
    ----------
    values, probs : array_like
        Atoms; equal values are merged, atoms of probability 0 left out.
    users : int, optional
        How many users were simulated; None for an exact distribution. Of a mixture, the fewest of any simulated part.
    rounding : float
        Where values were rounded, the largest share of users whose value became another one of these: the cdf is off by
        no more, and it is part of the band.

    Examples
    --------
    >>> from amble.distributions.distribution import Distribution
    >>> distribution = Distribution([1.0, 0.5, 0.5, 0.0], [0.25, 0.25, 0.25, 0.25])
    >>> distribution.values, distribution.probs
    (array([0. , 0.5, 1. ]), array([0.25, 0.5 , 0.25]))
    >>> distribution.mean, distribution.var
    (0.5, 0.125)
    >>> distribution.cdf(0.5), distribution.quantile(0.9)
    (0.75, 1.0)
    """

    def __init__(self, values: ArrayLike, probs: ArrayLike, *, users: int | None = None, rounding: float = 0.0) -> None:
        v = np.asarray(values, np.float64).ravel()
        p = np.asarray(probs, np.float64).ravel()
        if v.size != p.size or not v.size:
            raise MeasureError(f"a distribution needs as many values as probabilities, found {v.size} and {p.size}")
        if not (np.abs(v) < _LARGEST).all():  # their squares must be finite, too
            raise MeasureError(f"a distribution's values must be finite, and below {_LARGEST:g}")
        if not (p >= 0).all() or not abs(p.sum() - 1) <= _MASS:
            raise MeasureError(
                f"a distribution's probabilities must be non-negative and sum to 1, found {p.sum():.12g}"
            )
        if users is not None:
            checks.whole(users, "users", kind=MeasureError)
        del values, probs  # of large mixtures
        order = np.argsort(v, kind="stable")
        v, p = v[order], p[order]
        del order
        new = v[1:] != v[:-1]
        if not new.all():
            start = np.flatnonzero(np.concatenate(([True], new)))
            v, p = v[start], np.add.reduceat(p, start)
        if not p.all():
            v, p = v[p > 0], p[p > 0]
        self.values: Floats = v
        self.probs: Floats = p
        self.users, self.rounding = users, rounding
        for array in (self.values, self.probs):
            array.flags.writeable = False
        self._parts: list[tuple[float, int, float]] = []  # weight, users, standard error of what was simulated
        if users is not None:
            self._parts.append((1.0, users, self.sd / np.sqrt(users - 1) if users > 1 else np.nan))

    @staticmethod
    def mixture(distributions: Iterable[Distribution], weights: ArrayLike | None = None) -> Distribution:
        """The mixture of several distributions: of a system over topics, for one.

        Parameters
        ----------
        distributions : iterable of Distribution
        weights : array_like, optional
            The share of users of each distribution, summing to 1; the same for all if None.

        Returns
        -------
        Distribution
            Exact if all of its distributions of positive weight are.

        Examples
        --------
        >>> from amble.distributions.distribution import Distribution
        >>> topics = [Distribution([0, 1], [0.5, 0.5]), Distribution([0.5, 1], [0.5, 0.5])]
        >>> Distribution.mixture(topics).probs
        array([0.25, 0.25, 0.5 ])
        >>> Distribution.mixture(topics, [0.2, 0.8]).mean        # 0.2 × 0.5 + 0.8 × 0.75
        0.7
        """
        given = list(distributions) if isinstance(distributions, Iterable) else [distributions]
        if not given or not all(isinstance(distribution, Distribution) for distribution in given):
            found = next(
                (type(distribution).__name__ for distribution in given if not isinstance(distribution, Distribution)),
                "none",
            )
            raise MeasureError(f"a mixture needs distributions, found {found}")
        n = len(given)
        w = np.full(n, 1 / n) if weights is None else np.asarray(weights, np.float64).ravel()
        if w.size != n or not (w >= 0).all() or not abs(w.sum() - 1) <= _MASS:
            raise MeasureError(
                f"a mixture of {n} distributions needs {n} weights, non-negative, that sum to 1; "
                f"found {w.size} with the sum {w.sum():.12g}"
            )
        pairs = [
            (float(share), distribution) for share, distribution in zip(w / w.sum(), given, strict=True) if share > 0
        ]
        out = Distribution(
            np.concatenate([distribution.values for _, distribution in pairs]),
            np.concatenate([share * distribution.probs for share, distribution in pairs]),
        )
        out._parts = [
            (share * part, users, error) for share, distribution in pairs for part, users, error in distribution._parts
        ]
        out.users = min((users for _, users, _ in out._parts), default=None)
        out.rounding = float(sum(share * distribution.rounding for share, distribution in pairs))
        return out

    @cached_property
    def _curve(self) -> Curve:
        return Curve(self)

    @property
    def mean(self) -> float:
        """The mean: the expected gain per document, E[T/H] (order 1)."""
        return float(self.values @ self.probs)

    @property
    def var(self) -> float:
        """The variance."""
        return float(((self.values - self.mean) ** 2) @ self.probs)

    @property
    def sd(self) -> float:
        """The standard deviation."""
        return float(np.sqrt(self.var))

    @property
    def standard_error(self) -> float:
        """The standard error of the mean: 0 for an exact distribution, NaN if a single user was simulated.

        Of a mixture it is the weighted sum of its parts' standard errors: the truth if the same users walked all lists
        and fared alike, too much if the simulations were independent.
        """
        return float(sum(weight * error for weight, _, error in self._parts))

    def cdf(self, x: ArrayLike) -> Any:
        """The share of users whose score is at most x."""
        out = np.asarray(self._curve.cdf(np.asarray(x, np.float64)))
        return float(out) if out.ndim == 0 else out

    def quantile(self, u: ArrayLike) -> Any:
        """The least value that a share u of users does not exceed."""
        try:
            share = np.asarray(u, np.float64)
        except (TypeError, ValueError):
            share = np.full(1, np.nan)
        if not ((share >= 0) & (share <= 1)).all():  # nor NaN
            raise MeasureError(f"quantile({u!r:.60}): expected a share between 0 and 1")
        out = np.asarray(self.values[np.searchsorted(self._curve.share[1:], share - _EXACT, side="left")])
        return float(out) if out.ndim == 0 else out

    @property
    def band(self) -> float:
        """Half-width of the 95 % band around a simulated cdf (Dvoretzky, Kiefer, Wolfowitz); 0 for an exact one."""
        return self._band_at(0.05)

    def band_at(self, confidence: float) -> float:
        """Half-width of the band that holds the whole cdf with that probability.

        The cdf of a mixture is off by no more than its parts' cdfs are, weighted. Each of the m simulated parts gets a
        band at 1 − (1 − confidence) / m, so that all hold together, whether the simulations were independent or the
        same users walked all lists.
        """
        checks.number(confidence, "confidence", least=0, below=1, kind=MeasureError)
        return self._band_at(1 - confidence)

    def _band_at(self, alpha: float) -> float:
        wide = np.log(2 * max(len(self._parts), 1) / alpha)
        return self.rounding + float(sum(weight * np.sqrt(wide / (2 * users)) for weight, users, _ in self._parts))

    def distance(self, other: Distribution) -> float:
        """The largest difference of the two cdfs."""
        one, two = self._curve, other._curve
        return max(one.excess(two, "first"), two.excess(one, "first"))

    def compare(self, other: Distribution, tolerance: float | None = None, order: str = "first") -> str:
        """The verdict of stochastic dominance.

        Parameters
        ----------
        other : Distribution
        tolerance : float, optional
            Differences of the cdfs up to this do not count. If None: 1e-12, and the 95 % bands of both distributions
            where they were simulated. A verdict other than "equal" then rests on differences that the bands do not
            explain; what they do explain is not counted against it. For the second order, differences of the integrals
            count above ``tolerance`` times the length of the range of the two distributions' values.
        order : {"first", "second"}
            The first order compares the shares of users with at most x, for all x. The second order compares their
            integrals: what users miss of x in the mean, for all x. It is weaker: whatever the first order decides, the
            second one does not reverse, and it decides more pairs. Everyone who wants more and shuns risk agrees
            with it.

        Returns
        -------
        str
            "less" (users fare worse here, whatever score they want), "greater", "equal" or "incomparable".

        Examples
        --------
        >>> from amble.distributions.distribution import Distribution
        >>> Distribution([0, 1], [0.5, 0.5]).compare(Distribution([0, 1], [0.2, 0.8]))
        'less'
        >>> Distribution([0, 1], [0.5, 0.5]).compare(Distribution([0.5], [1.0]))
        'incomparable'
        >>> Distribution([0, 1], [0.5, 0.5]).compare(Distribution([0.5], [1.0]), order="second")  # same mean, no risk
        'less'
        """
        check_order(order, tolerance)
        if not isinstance(other, Distribution):
            raise MeasureError(f"a distribution is compared with a distribution, found {type(other).__name__}")
        one, two, most = self._curve, other._curve, self._allowance(other, order, tolerance)
        worse, better = one.excess(two, order) > most, two.excess(one, order) > most
        if worse and better:
            return "incomparable"
        return "less" if worse else "greater" if better else "equal"

    def _allowance(self, other: Distribution, order: str, tolerance: float | None) -> float:
        low, high = min(self.values[0], other.values[0]), max(self.values[-1], other.values[-1])
        return float(allowance(order, tolerance, self.band + other.band, low, high))

    def dominance(self, other: Distribution, tolerance: float | None = None) -> Dominance:
        """How two distributions stand to each other, and for which users.

        Parameters
        ----------
        other : Distribution
        tolerance : float, optional
            As for `compare`; for the verdicts and the crossings.

        Returns
        -------
        Dominance
            `crossings` holds the points where the sign of the difference of the cdfs changes, without differences up
            to the tolerance. If there is a stretch between the two signs where the cdfs are equal, it is the beginning
            of that stretch: always the least x from which the earlier sign holds no more. There are crossings if and
            only if the two distributions are incomparable by the first order.

            For `better`, `worse` and `same` users are paired by how well they fare: the quantile of a share u in this
            distribution with that of the same share in the other one. They are shares of the two distributions as they
            are, whatever the tolerance.

        Examples
        --------
        >>> import amble
        >>> ap = amble.parse("AP")
        >>> spread = ap.distribution([1, 0, 0, 1, 0, 0, 1, 0, 0, 1])
        >>> packed = ap.distribution([0, 1, 1, 1, 1, 0, 0, 0, 0, 0])
        >>> found = spread.dominance(packed)
        >>> found.verdict, found.crossings, found.better, found.worse
        ('incomparable', array([0.75]), 0.25, 0.75)
        >>> found.second                # packed is the choice of those who shun risk
        'less'
        """
        verdict, second = self.compare(other, tolerance), self.compare(other, tolerance, "second")
        one, two, most = self._curve, other._curve, self._allowance(other, "first", tolerance)
        at = np.union1d(self.values, other.values)
        ahead = near(at)
        sign = (one.cdf(at) - two.cdf(ahead) > most).astype(np.int8) - (two.cdf(at) - one.cdf(ahead) > most)
        held = np.flatnonzero(sign)
        last = held[:-1][sign[held[:-1]] != sign[held[1:]]]  # the last points of a sign
        return Dominance(verdict, second, at[last + 1], *_shares(one, two), self.distance(other))

    def table(self, *, digits: int = 4) -> Table:
        """Mean, standard deviation and quantiles, in a row."""
        return summary_of({"": self}, digits)

    def __repr__(self) -> str:
        kind = f"{self.users} users" if self.users else "exact"
        return f"Distribution({self.values.size} atoms, mean {self.mean:.6g}, {kind})"


def summary_of(distributions: Mapping[str, Distribution], digits: int = 4) -> Table:
    """Mean, standard deviation and quantiles of distributions, a row for each; a column of names, if they have some."""
    at = (0.05, 0.25, 0.5, 0.75, 0.95)
    named = any(distributions)
    rows: list[list[Any]] = []
    for name, d in distributions.items():
        how = f"{d.users} users" if d.users else "exact"
        rows.append([*[name] * named, d.mean, d.sd, *d.quantile(np.array(at)).tolist(), d.values.size, how])
    columns = [*["run"] * named, "mean", "sd", *(f"{100 * u:g}%" for u in at), "atoms", "how"]
    return Table(columns, rows, digits=digits)


def _shares(one: Curve, two: Curve) -> tuple[float, float, float]:
    """For which shares u of users the quantile of one is above that of two, below, and the same."""
    mine, theirs = one.share[1:], two.share[1:]
    right = np.searchsorted(mine, theirs)  # both end at 1
    left = np.maximum(right - 1, 0)
    close = np.where(theirs - mine[left] < mine[right] - theirs, mine[left], mine[right])
    theirs = np.where(np.abs(theirs - close) <= _EXACT, close, theirs)  # equal but for rounding: equal
    end = np.union1d(mine, theirs)
    width = np.diff(end, prepend=0.0)
    a, b = one.x[np.searchsorted(mine, end)], two.x[np.searchsorted(theirs, end)]
    above, below = a > near(b), b > near(a)
    return float(width[above].sum()), float(width[below].sum()), float(width[~above & ~below].sum())
