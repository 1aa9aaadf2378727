"""Time as effort: the seconds spent at each visit, their law, and means of a gain divided by the whole time.

A visit to rank i takes a time D_i of mean d_i: exponential, fixed, or gamma with a shape k. With c seconds of overhead
and tau spent on visits,

    E[T / (c + tau)] = integral over u > 0 of e^(-u c) E[T e^(-u tau)],    where each visit multiplies by
    phi_i(u) = E[e^(-u D_i)] = (1 + u d_i / k)^-k    (k = 1: exponential, k -> infinity: fixed, e^(-u d_i)).

The integral is taken by the trapezoidal rule in t, u = exp(pi / 2 sinh t) / (c + E[tau]), with steps halved until
what is left is below 1e-13 of the answer: a halving takes the error at least to its power 3/2, so that is so when the
change, to this power, is. With c = 0 it is finite if and only if the gamma shapes of every path on which something is
gained add up to more than 1.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from amble.arrays import NDArray
from amble.errors import MeasureError
from amble.expressions.values import ByGrade, ByRank, Value, needs_zero, real, show_number
from amble.users.birth_death import VisitWeights

__all__ = ["COSTS", "Clock", "Timing"]

Array = NDArray[Any]

COSTS = "costs"  # the seconds of a visit are the document's cost
NO_COSTS = "seconds='costs': found no costs of documents, expected costs=, --costs or --costs-by-rank"
_LAW = re.compile(r"\s*gamma\s*\(\s*(\d+\.?\d*|\.\d+)\s*\)\s*", re.ASCII)
_SHAPES = (0.01, 1e4)
_LOWEST, _STEP, _HALVINGS = -3.9, 0.2, 8  # of t
_CHANGE = 1e-13 ** (2 / 3)
_FURTHEST = 650.0  # the logarithm of the largest u that is computed with


class Timing(Value):
    """How long visits take.

    Parameters
    ----------
    seconds : float, sequence, mapping or str
        The mean seconds of a visit: one number, numbers by rank (the last one holds further down), ``{grade: seconds}``
        (a grade that is not in it takes as long as the next lower one that is; 0, the grade of unjudged documents, must
        be there), or ``"costs"``, the documents' costs.
    law : str
        ``"exponential"``, ``"fixed"``, or ``"gamma(2)"``, with its shape.
    overhead : float
        Seconds that are spent anyway.

    Examples
    --------
    >>> from amble.users.timing import Timing
    >>> Timing("12,8,5").means(4)
    array([12.,  8.,  5.,  5.])
    >>> Timing({0: 4, 1: 20}, "gamma(2.0)", 5).means(3, np.array([2.0, 0.0, np.nan]))
    array([20.,  4.,  4.])
    """

    seconds: ByRank | ByGrade | str
    law: str
    overhead: float
    shape: float

    def __init__(self, seconds: Any = 1.0, law: str = "exponential", overhead: float = 0.0) -> None:
        given = seconds
        try:
            if not isinstance(seconds, str) or seconds != COSTS:
                by_grade = isinstance(seconds, Mapping) or (isinstance(seconds, str) and "=" in seconds)
                seconds = (
                    ByGrade(seconds)
                    if by_grade
                    else ByRank(seconds if np.ndim(seconds) or isinstance(seconds, str) else [seconds])
                )
                if min(seconds.values() if by_grade else seconds) <= 0:
                    raise ValueError
        except (TypeError, ValueError):
            raise MeasureError(
                f"seconds={given!r:.60}: expected numbers above 0, by rank, as '12,8,5', or by grade, as '0=4,1=20', "
                "or 'costs'"
            ) from None
        if isinstance(seconds, ByGrade):
            needs_zero(seconds, f"seconds={str(seconds)!r:.60}")
        law, shape = self.read_law(law)
        try:
            overhead = real(overhead)
        except ValueError:
            overhead = -1.0
        if overhead < 0:
            raise MeasureError("overhead: expected a number of seconds, at least 0")
        vars(self).update(seconds=seconds, law=law, overhead=overhead, shape=shape)

    @staticmethod
    def read_law(law: str) -> tuple[str, float]:
        """A law in canonical form, and its gamma shape: 1 of exponential times, infinite of fixed ones.

        >>> Timing.read_law("gamma( 2.0 )")
        ('gamma(2)', 2.0)
        """
        shape = {"exponential": 1.0, "fixed": math.inf}.get(law)
        if shape is None:
            found = _LAW.fullmatch(law) if isinstance(law, str) else None
            shape = float(found[1]) if found else 0.0
            if not _SHAPES[0] <= shape <= _SHAPES[1]:
                raise MeasureError(
                    f"timing={law!r:.60}: expected 'exponential', 'fixed', or 'gamma(k)', its shape k from "
                    f"{_SHAPES[0]:g} to {_SHAPES[1]:g}"
                )
            law = "exponential" if shape == 1 else f"gamma({show_number(shape)})"
        return law, shape

    def content(self) -> tuple[Any, ...]:
        """The seconds, their law, and the overhead."""
        return self.seconds, self.law, self.overhead

    def __repr__(self) -> str:
        return f"Timing({str(self.seconds)!r}, {self.law!r}, {show_number(self.overhead)})"

    @property
    def looks(self) -> bool:
        """Whether the seconds depend on the documents: on their grades, or on their costs."""
        return not isinstance(self.seconds, ByRank)

    @property
    def spelled(self) -> int:
        """The number of ranks after which all take the same time, where they are said by rank."""
        return len(self.seconds) if isinstance(self.seconds, ByRank) else 1

    def means(self, n: int, grades: Array | None = None) -> Array:
        """The mean seconds of a visit at ranks 1 to n; with grades, of their shape."""
        if isinstance(self.seconds, ByRank):
            return np.array(self.seconds)[np.minimum(np.arange(n), len(self.seconds) - 1)]
        if not isinstance(self.seconds, ByGrade):
            raise MeasureError(NO_COSTS)
        seen = np.zeros(n) if grades is None else np.nan_to_num(np.asarray(grades, np.float64), nan=0.0)
        place = np.searchsorted(np.array(list(self.seconds)), seen, side="right") - 1
        return np.array(list(self.seconds.values()))[np.maximum(place, 0)]

    # ---- means over the law

    def transform(self, u: Array, means: Array) -> tuple[Array, Array]:
        """phi(u) = E[e^(-u D)] and 1 - phi(u) of visits with these means, both without cancellation (means x u).

        >>> Timing(law="gamma(2)").transform(np.array([0.5, 1e-20]), np.array([4.0]))
        (array([[0.25, 1.  ]]), array([[7.5e-01, 4.0e-20]]))
        """
        x = np.asarray(means)[..., None] * u
        log = -x if math.isinf(self.shape) else -self.shape * np.log1p(x / self.shape)
        return np.exp(log), -np.expm1(log)

    def infinite(self, visits: Array | float) -> Any:
        """Whether the gain per second is infinite where something is gained on a path of so few visits."""
        return (self.overhead == 0) & (np.asarray(visits) <= 1.0 / self.shape)

    def fewest(self, visits: Array) -> float:
        """The least of the numbers of visits of paths that gain something; refused if the gain per second is infinite.

        >>> Timing(20, "exponential").fewest(np.array([2, 3]))
        2.0
        """
        least = float(np.min(np.asarray(visits, np.float64), initial=np.inf))
        if self.infinite(least):
            raise MeasureError(
                f"the gain per second is infinite: something is gained on a path of {least:g} visit"
                f"{'s' * (least != 1)}, where {self._shapes(least)}; expected overhead above 0, timing='fixed', or a "
                "larger shape"
            )
        return least

    def integral(self, summed: Callable[[Array, Array], Any], mean: float, visits: float, least: float) -> Array:
        """E[T / (c + tau)], or several of them.

        Parameters
        ----------
        summed : callable
            Of points u and weights w, the sum over them of w E[T e^(-u tau)]: one number, or an array.
        mean : float
            E[tau], about.
        visits : float
            The least number of visits of any path on which something is gained.
        least : float
            The least mean seconds of a visit.

        Raises
        ------
        MeasureError
            If it is infinite, or too near to that to be computed.

        Examples
        --------
        One visit of fixed 2 seconds that gains 1, after 3 seconds of overhead: 1 / 5.

        >>> float(Timing(2, "fixed", 3).integral(lambda u, w: np.exp(-2 * u) @ w, 2, 1, 2).round(12))
        0.2
        """
        visits = min(self.fewest(np.array(visits)), 1e9)  # where nothing is gained, any will do
        c, k, scale = self.overhead, self.shape * visits, self.overhead + mean
        ends = [math.log(40.0 * scale / c)] if c > 0 else []  # beyond it e^(-u c) makes all that follows negligible
        if math.isinf(k):
            ends.append(math.log(40.0 * scale / (least * visits)))
        elif k > 1:
            ends.append(32.0 / (k - 1.0) + math.log(max(scale * self.shape / least, 1.0)))
        if min(ends) > _FURTHEST:
            raise MeasureError(
                f"the gain per second is too near to infinite: something is gained on a path where "
                f"{self._shapes(visits)}; expected overhead above 0, or a larger shape"
            )
        highest = math.asinh(max(min(ends), 1.0) * 2.0 / math.pi)

        def part(first: float, step: float) -> Array:
            t = np.arange(first, highest + step, step)
            u = np.exp(np.minimum(np.pi / 2.0 * np.sinh(t), _FURTHEST + 50.0)) / scale
            return np.asarray(summed(u, step * np.pi / 2.0 * np.cosh(t) * u * np.exp(-c * u)))

        step, found = _STEP, part(_LOWEST, _STEP)
        for _ in range(_HALVINGS):
            step /= 2.0
            better = 0.5 * found + part(_LOWEST + step, 2.0 * step) / 2.0
            change, size = abs(better - found), abs(better)
            if (change <= _CHANGE * (size + 0.1 * size.max(initial=0.0))).all():
                return better
            found = better
        raise MeasureError("the gain per second did not settle; a parameter is too extreme to compute with")

    def _shapes(self, visits: float) -> str:
        k = self.shape * visits
        return f"the gamma shapes of the times (exponential: 1) add up to {k:g}, and 1 / time has a mean above 1 only"

    # ---- simulated readers

    def spent(self, visits: Array, means: Array, draws: Array) -> Array:
        """The time c + tau of readers, given their visits of each mean (readers x means), by draws in [0, 1).

        The times of v visits of one mean add up to a gamma variable of v times the shape.

        >>> Timing(law="fixed", overhead=5).spent(np.array([[2, 1]]), np.array([4.0, 20.0]), np.zeros((1, 2)))
        array([33.])
        """
        if math.isinf(self.shape):
            return np.asarray(self.overhead + visits @ means)
        from scipy.special import gammaincinv

        made = visits > 0
        shapes = self.shape * np.where(made, visits, 1)
        times = np.where(made, gammaincinv(shapes, draws + 2.0**-54) * (means / self.shape), 0.0)
        return np.asarray(self.overhead + np.maximum(times.sum(axis=1), 1e-290))


class Clock(NamedTuple):
    """The seconds of visits to the ranks of some lists.

    Attributes
    ----------
    timing : Timing
    means : ndarray of shape (lists or 1, n)
        Of a visit to each rank.
    beyond : ndarray of shape (lists or 1,)
        Of a visit to a rank beyond the list.
    """

    timing: Timing
    means: Array
    beyond: Array

    @property
    def least(self) -> float:
        """The least mean seconds of a visit."""
        return float(min(self.means.min(), self.beyond.min()))

    def upto(self, n: int) -> Clock:
        """The same for the first n ranks, of which some may be beyond the list."""
        means = self.means[:, :n]
        more = np.broadcast_to(self.beyond[:, None], (len(means), n - means.shape[1]))
        return self._replace(means=np.hstack((means, more)))

    def weights(self, u: Array) -> VisitWeights:
        """E[e^(-u D)] of the visits to each rank."""
        distinct, which = np.unique(self.means.T, return_inverse=True)
        z, lost = (x[which.reshape(self.means.T.shape)] for x in self.timing.transform(u, distinct))
        return VisitWeights(z, lost, self.timing.transform(u, self.beyond))

    def time(self, visits: Array, outside: Array) -> Array:
        """E[tau] of each list, given the mean visits to its ranks (ranks x lists), and beyond."""
        return np.asarray((visits * self.means.T).sum(axis=0) + outside * self.beyond)
