"""Estimates of user parameters, each with its confidence interval and number of observations."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np

from amble.arrays import Array, Ints
from amble.errors import AmbleError

__all__ = ["SLACK", "SUPPRESSED", "Estimate", "ParameterRange", "check_estimate"]

SUPPRESSED = -1  # instead of how many observations a cell has

SLACK = 1e-6  # probabilities may be written with few digits


class ParameterRange(NamedTuple):
    """The range and the forms that a parameter of a model may have."""

    least: float
    most: float
    open_below: bool
    forms: tuple[str, ...]
    needed: bool = True

    @property
    def text(self) -> str:
        """The expected range, in words."""
        if np.isinf(self.most):
            return f"a number {'above' if self.open_below else 'of at least'} {self.least:g}"
        return f"a number between {self.least:g} and {self.most:g}"


@dataclass(frozen=True, eq=False)
class Estimate:
    """An estimated parameter, with its confidence interval, observations and draws.

    Parameters
    ----------
    value : array_like
        A number; a number for each rank, from rank 1 on; for each of some grades; for each of these at each rank (a
        row for each rank); or a square array, a row for each rank that a transition starts from. NaN: suppressed.
    low, high : array_like, optional
        The confidence interval, of the same shape. Only a square array may do without.
    observations : array_like of int
        How many are behind each number, or behind each row of a square array; -1: suppressed.
    draws : array_like, optional
        The value on resampled sessions: an axis more, in front.
    grades : sequence of float, optional
        If the numbers are by grade: the grades, in rising order.
    concentration : array_like, optional
        Of a square array, instead of draws: rows are drawn from Dirichlet distributions with the row, times this, as
        their parameters. The moves behind a row plus the weight of its smoothing, or fewer where sessions differ.
    pooled : array_like of int, optional
        Where few sessions are behind some numbers, and neighbours were estimated together: for each number the place,
        from 1, of the first that it shares its value with.

    Examples
    --------
    >>> from amble.users.estimates import Estimate
    >>> p = Estimate([0.8, 0.7, float("nan")], [0.7, 0.6, float("nan")], [0.9, 0.8, float("nan")], [120, 80, -1])
    >>> p.form, p.known
    ('rank', array([0.8, 0.7, 0.7]))
    """

    value: Array
    low: Array | None
    high: Array | None
    observations: Ints
    draws: Array | None = None
    grades: tuple[float, ...] | None = None
    concentration: Array | None = None
    pooled: Ints | None = None

    def __post_init__(self) -> None:
        for name in ("value", "low", "high", "observations", "draws", "concentration", "pooled"):
            given = getattr(self, name)
            if given is not None:
                own = np.array(given, np.int64 if name in ("observations", "pooled") else np.float64)
                own.flags.writeable = False  # files are read once, for all measures that use them
                object.__setattr__(self, name, own)
        if self.grades is not None:
            object.__setattr__(self, "grades", tuple(float(g) for g in self.grades))

    def __reduce__(self) -> tuple[Any, ...]:
        return Estimate, tuple(getattr(self, f.name) for f in fields(self))  # so that its arrays stay as they are

    @property
    def form(self) -> str:
        """The form: ``"one"`` number, by ``"rank"``, by ``"grade"``, by both, or a ``"matrix"`` of transitions."""
        if self.value.ndim == 0:
            return "one"
        if self.value.ndim == 2:
            return "matrix" if self.grades is None else "rank and grade"
        return "rank" if self.grades is None else "grade"

    @property
    def known(self) -> Array:
        """The value; where it is suppressed, that of the nearest rank or grade before it (or the first there is)."""
        return _filled(self.value)

    @property
    def distribution(self) -> Array:
        """The value as a distribution over ranks: those suppressed share what the others lack to 1."""
        return _distribution(self.value)

    def places(self) -> list[tuple[int, int]]:
        """First and last place, from 1, of each group of numbers that were estimated together, in order."""
        if self.pooled is None:
            return [(i, i) for i in range(1, self.value.size + 1)]
        starts, sizes = np.unique(self.pooled, return_counts=True)
        return [(int(a), int(a + n - 1)) for a, n in zip(starts, sizes, strict=True)]

    def drawn_distribution(self, b: int) -> Array:
        """The distribution over ranks on resampled sessions, the b-th time."""
        return self.distribution if self.draws is None else _distribution(self.draws[b % len(self.draws)])

    def suppress(self, smallest: int) -> Estimate:
        """The estimate without cells that have fewer observations; rows of a square array keep their numbers."""
        few = self.observations < smallest
        parts: dict[str, Any] = {"observations": np.where(few, SUPPRESSED, self.observations)}
        for name in ("value", "low", "high", "draws") if self.form != "matrix" else ():
            given = getattr(self, name)
            parts[name] = None if given is None else np.where(few, np.nan, given)
        return replace(self, **parts)

    def draw(self, b: int) -> Array:
        """The parameter on resampled sessions, the b-th time."""
        if self.draws is not None:
            return _filled(self.draws[b % len(self.draws)])
        if self.concentration is None:
            return self.known
        rng = np.random.default_rng((b, self.value.size))
        gamma = rng.standard_gamma(self.value * self.concentration[:, None])
        total = gamma.sum(axis=1, keepdims=True)
        return np.where(total > 0, gamma / np.where(total > 0, total, 1.0), self.value)


def _distribution(value: Array) -> Array:
    gone = np.isnan(value)
    left = max(1.0 - float(np.nansum(value)), 0.0) / max(int(gone.sum()), 1)
    known = np.maximum(np.where(gone, left, value), 0.0)
    return np.asarray(known / known.sum())


def _filled(value: Array) -> Array:
    if value.ndim != 1 or not np.isnan(value).any():
        return value
    there = np.flatnonzero(~np.isnan(value))
    return np.asarray(value[there[np.maximum(np.searchsorted(there, np.arange(value.size), side="right") - 1, 0)]])


def check_estimate(estimate: Estimate, part: ParameterRange, where: str, smallest: int) -> None:
    """Raise an error unless the estimate has the form and the range of its parameter."""
    value, form, seen = estimate.value, estimate.form, estimate.observations
    if value.ndim > 2 or not value.size or form not in part.forms:
        raise AmbleError(f"{where}.value: found numbers of shape {value.shape}, expected {' or '.join(part.forms)}")
    if form == "matrix" and (value.shape[0] != value.shape[1] or np.isnan(value).any()):
        raise AmbleError(f"{where}.value: found an array of shape {value.shape}, expected square, without nan")
    if estimate.grades is not None and (
        len(estimate.grades) != (value.shape or (0,))[-1] or not (np.diff(estimate.grades) > 0).all()
    ):
        raise AmbleError(f"{where}.grades: expected {(value.shape or (0,))[-1]} grades, in rising order")
    if form == "rank and grade" and np.isnan(value).any():
        raise AmbleError(f"{where}.value: found nan, expected a number for each rank and grade")
    rows = value.shape[:1] if form == "matrix" else value.shape
    if seen.shape != rows or (seen < SUPPRESSED).any():
        raise AmbleError(
            f"{where}.observations: found {seen.size} counts, expected one for each of {value.size} numbers"
        )
    few = seen < smallest
    if (few & (seen != SUPPRESSED)).any():
        raise AmbleError(f"{where}.observations: found {seen[few].max()}, expected those below {smallest} suppressed")
    if form == "one" and few.any():
        raise AmbleError(f"{where}: fewer than {smallest} observations, too few for an estimate")
    gone = few if form != "matrix" else np.zeros(rows, bool)
    if not (np.isnan(value) == (gone if form != "matrix" else gone[:, None])).all() or gone.all():
        raise AmbleError(f"{where}.value: expected nan where observations are suppressed, and a number elsewhere")
    for name in ("value", "low", "high", "draws"):
        _check_numbers(estimate, name, part, where)
    if estimate.low is not None and estimate.high is not None and (estimate.low > estimate.high + SLACK).any():
        raise AmbleError(f"{where}: low is above high somewhere")
    least, most = (value if end is None else end for end in (estimate.low, estimate.high))
    outside = np.maximum(least - value, value - most) > SLACK
    if outside.any():
        raise AmbleError(f"{where}.value: found {value[outside].flat[0]:g}, expected a number from low to high")
    if form == "matrix":
        sums = value.sum(axis=1)
        if not (abs(sums - 1) <= 1e-4).all():
            row = int(np.argmax(abs(sums - 1)))
            raise AmbleError(f"{where}.value: row {row + 1} sums to {sums[row]:.6g}, expected 1")
        if estimate.draws is not None and not (abs(estimate.draws.sum(axis=-1) - 1) <= 1e-2).all():
            raise AmbleError(f"{where}.draws: found a row that does not sum to 1")
    first, here = estimate.pooled, np.arange(1, value.size + 1)
    if first is not None:
        if form in ("one", "matrix") or first.shape != rows or (first < 1).any() or (first.reshape(-1) > here).any():
            raise AmbleError(
                f"{where}.pooled: found {first.size} places, expected the first of its own for each number"
            )
        if first.ndim == 1 and ((np.diff(first) != 0) & (first[1:] != here[1:])).any():
            raise AmbleError(f"{where}.pooled: expected neighbours")
    many = estimate.concentration
    if many is not None and (form != "matrix" or many.shape != rows or not ((many > 0) & np.isfinite(many)).all()):
        raise AmbleError(f"{where}.concentration: expected a number above 0 for each row of a square array")


def _check_numbers(estimate: Estimate, name: str, part: ParameterRange, where: str) -> None:
    given, value = getattr(estimate, name), estimate.value
    if given is None:
        if name in ("low", "high") and estimate.form != "matrix":
            raise AmbleError(f"{where}.{name} is missing, expected the end of a confidence interval")
        return
    shape = given.shape[1:] if name == "draws" else given.shape
    if shape != value.shape or not given.size:
        raise AmbleError(f"{where}.{name}: found numbers of shape {shape}, expected {value.shape}")
    below = given <= part.least if part.open_below else given < part.least - SLACK
    wrong = below & (name not in ("low",)) | (given > part.most + SLACK) | np.isinf(given)
    if wrong.any():
        raise AmbleError(f"{where}.{name}: found {given[wrong].flat[0]:g}, expected {part.text}")
    missing = np.isnan(given)
    if name == "draws" and given.ndim == 2:  # a draw may have missed a rank, but not all of them
        wrong = missing.all(axis=1).any() or not missing[:, np.isnan(value)].all()
    else:
        wrong = name != "value" and (missing != np.isnan(value)).any()
    if wrong:
        raise AmbleError(f"{where}.{name}: expected nan where the value is suppressed, and a number elsewhere")
