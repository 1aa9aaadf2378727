"""Users fitted to what people did: estimates with their intervals, in a small file that every measure can use.

A `Fitted` holds one or more models of the same log, each with its parameters. An `Estimate` is a number, a number for
each rank or grade, or chances from rank to rank; with it come its interval, how many observations are behind it, and
draws: the same parameter on resampled sessions, so that what is not known of it can be carried into scores.

A file holds aggregates only. A cell with fewer observations than ``smallest`` is suppressed: its numbers are NaN, and
of its observations only that they are fewer is told. `amble.users.fit_file` reads and writes it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from amble.errors import AmbleError

__all__ = ["KINDS", "Estimate", "Fitted", "FittedModel", "Likelihood", "Origin", "Part"]

Array = NDArray[np.float64]
SUPPRESSED = -1  # instead of how many observations a cell has

_SLACK = 1e-6  # chances may be written with few digits


class Part(NamedTuple):
    """What one parameter of a kind of model may be."""

    least: float
    most: float
    open_below: bool
    forms: tuple[str, ...]
    needed: bool = True

    @property
    def text(self) -> str:
        """What is expected, in words."""
        if np.isinf(self.most):
            return f"a number {'above' if self.open_below else 'of at least'} {self.least:g}"
        return f"a number between {self.least:g} and {self.most:g}"


def _chance(*forms: str, needed: bool = True) -> Part:
    return Part(0.0, 1.0, False, forms, needed)


KINDS: dict[str, dict[str, Part]] = {
    "walk": {
        "p": _chance("one", "rank", "grade"),
        "q": _chance("one", "rank", "grade"),
        "s": _chance("one", "rank", "grade", needed=False),
        "start": _chance("rank", needed=False),
    },
    "rbp": {"p": _chance("one")},
    "insq": {"T": Part(0.0, np.inf, True, ("one",))},
    "inst": {"T": Part(0.5, np.inf, False, ("one",))},
    "continuation": {"C": _chance("rank")},
    "markov": {"P": _chance("matrix"), "start": _chance("rank", needed=False)},
    "times": {"mu": Part(0.0, np.inf, True, ("one", "rank"))},
}


@dataclass(frozen=True, eq=False)
class Estimate:
    """A parameter, with what is known of it.

    Parameters
    ----------
    value : array_like
        A number; a number for each rank, from rank 1 on; for each of some grades; or a square array, a row for each
        rank she goes from. NaN: suppressed.
    low, high : array_like, optional
        The interval, of the same shape. Only a square array may do without.
    observations : array_like of int
        How many are behind each number, or behind each row of a square array; -1: suppressed.
    draws : array_like, optional
        The value on resampled sessions: an axis more, in front.
    grades : sequence of float, optional
        If the numbers are by grade: the grades, in rising order.
    concentration : array_like, optional
        Of a square array, instead of draws: rows are drawn from Dirichlet laws with the row, times this, as their
        parameters. The moves behind a row plus the weight of its smoothing, or fewer where sessions differ.

    Examples
    --------
    >>> from amble.users.fitted import Estimate
    >>> p = Estimate([0.8, 0.7, float("nan")], [0.7, 0.6, float("nan")], [0.9, 0.8, float("nan")], [120, 80, -1])
    >>> p.form, p.known
    ('rank', array([0.8, 0.7, 0.7]))
    """

    value: Array
    low: Array | None
    high: Array | None
    observations: NDArray[np.int64]
    draws: Array | None = None
    grades: tuple[float, ...] | None = None
    concentration: Array | None = None

    def __post_init__(self) -> None:
        for name in ("value", "low", "high", "draws", "concentration"):
            given = getattr(self, name)
            if given is not None:
                object.__setattr__(self, name, np.array(given, np.float64))
        object.__setattr__(self, "observations", np.array(self.observations, np.int64))
        if self.grades is not None:
            object.__setattr__(self, "grades", tuple(float(g) for g in self.grades))

    @property
    def form(self) -> str:
        """Whether it is one number, by rank, by grade, or a matrix from rank to rank."""
        if self.value.ndim == 0:
            return "one"
        return "matrix" if self.value.ndim == 2 else "rank" if self.grades is None else "grade"

    @property
    def known(self) -> Array:
        """The value; where it is suppressed, that of the nearest rank or grade before it (or the first there is)."""
        return _filled(self.value)

    def suppress(self, smallest: int) -> Estimate:
        """Return it without the cells that have fewer observations than that; rows of a square array keep theirs."""
        few = self.observations < smallest
        parts: dict[str, Any] = {"observations": np.where(few, SUPPRESSED, self.observations)}
        if self.form != "matrix":
            for name in ("value", "low", "high", "draws"):
                given = getattr(self, name)
                parts[name] = None if given is None else np.where(few, np.nan, given)
        else:
            parts |= {name: getattr(self, name) for name in ("value", "low", "high", "draws")}
        return Estimate(**parts, grades=self.grades, concentration=self.concentration)

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


def _filled(value: Array) -> Array:
    if value.ndim != 1 or not np.isnan(value).any():
        return value
    there = np.flatnonzero(~np.isnan(value))
    return np.asarray(value[there[np.maximum(np.searchsorted(there, np.arange(value.size), side="right") - 1, 0)]])


@dataclass(frozen=True)
class Likelihood:
    """How well a model tells sessions that it has not seen.

    Parameters
    ----------
    sessions : int
        How many sessions were held out.
    events : int
        How many things were told, one by one: moves and stops, say. Perplexity is per event.
    log_likelihood : float
        Its natural logarithm, over these sessions.
    parameters : int
        How many numbers were fitted.
    perplexity, aic, bic : float
    """

    sessions: int
    events: int
    log_likelihood: float
    parameters: int
    perplexity: float
    aic: float
    bic: float


@dataclass(frozen=True, eq=False)
class FittedModel:
    """A user of one kind, fitted.

    Parameters
    ----------
    name : str
        Its name in the file: ``walk``, ``walk-rank``.
    kind : str
        One of `KINDS`.
    estimates : mapping of str to Estimate
        By parameter; those of a kind are in `KINDS`.
    observation : str
        What was taken for what: ``last click``, say.
    level : float
        Of the intervals.
    first : {"forward", "stop"}
        Of a walk: what she does at rank 1 instead of going back.
    likelihood : Likelihood, optional
    note : str
        Anything else, in a line.
    """

    name: str
    kind: str
    estimates: Mapping[str, Estimate]
    observation: str
    level: float = 0.95
    first: str = "stop"
    likelihood: Likelihood | None = None
    note: str = ""

    @property
    def draws(self) -> int | None:
        """How many times its parameters were estimated on resampled sessions; None: as often as one likes."""
        counts = [len(e.draws) for e in self.estimates.values() if e.draws is not None]
        if counts:
            return min(counts)
        return None if any(e.concentration is not None for e in self.estimates.values()) else 0


@dataclass(frozen=True)
class Origin:
    """Where a fit comes from: file names without folders, and how much was read. Never a query, never a person.

    Parameters
    ----------
    files : sequence of str
    layout : str
        ``relpred``, ``table``.
    sessions, records, moves : int
        Query sessions, records, and moves from one click to the next.
    date : str
        When, as 2026-11-16; empty if not told.
    amble : str
        The version that fitted it; by default this one.
    """

    files: Sequence[str]
    layout: str
    sessions: int
    records: int
    moves: int
    date: str = ""
    amble: str = ""

    def __post_init__(self) -> None:
        from amble import __version__

        object.__setattr__(self, "files", tuple(os.path.basename(str(name)) for name in self.files))
        object.__setattr__(self, "amble", self.amble or __version__)


@dataclass(frozen=True, eq=False)
class Fitted:
    """One or more users, fitted to the same log.

    Parameters
    ----------
    origin : Origin
    models : sequence of FittedModel
        From the best to the worst.
    best : str
        The name of the best one; without it, the first.
    smallest : int
        The least number of observations of a cell that is not suppressed.

    Raises
    ------
    AmbleError
        If something is not what it should be: which model, which parameter, what was found and what was expected.
    """

    origin: Origin
    models: Sequence[FittedModel]
    best: str = ""
    smallest: int = 10
    path: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "models", tuple(self.models))
        if not self.models:
            raise AmbleError("model: found none, expected at least one")
        names = [model.name for model in self.models]
        if len(set(names)) < len(names):
            raise AmbleError(f"model: the names {', '.join(names)}, expected each once")
        if not self.best:
            object.__setattr__(self, "best", names[0])
        if self.best not in names:
            raise AmbleError(f"best: found {self.best!r:.60}, expected one of {', '.join(names)}")
        for model in self.models:
            _check_model(model, self.smallest)

    def pick(self, kinds: Sequence[str], name: str = "") -> FittedModel:
        """The model of that name; or the best one, if it is of one of these kinds, else the first that is."""
        where = f"{self.path}: " if self.path else ""
        there = ", ".join(f"{model.name} ({model.kind})" for model in self.models)
        if name:
            found = next((model for model in self.models if model.name == name), None)
            if found is None:
                raise AmbleError(f"{where}no model is called {name!r:.60}, expected one of {there}")
            if found.kind not in kinds:
                raise AmbleError(f"{where}{name} is of kind {found.kind}, expected one of kind {' or '.join(kinds)}")
            return found
        fitting = sorted((m for m in self.models if m.kind in kinds), key=lambda m: m.name != self.best)
        if not fitting:
            raise AmbleError(f"{where}found the models {there}, expected one of kind {' or '.join(kinds)}")
        return fitting[0]


# ---- checks


def _check_model(model: FittedModel, smallest: int) -> None:
    where = f"model {model.name!r:.60}"
    if not model.name or not all(c.isalnum() or c in "-_." for c in model.name):
        raise AmbleError(f"{where}: expected a name of letters, digits, '-', '_' and '.'")
    if model.kind not in KINDS:
        raise AmbleError(f"{where}, kind: found {model.kind!r:.60}, expected one of {', '.join(KINDS)}")
    if not 0 < model.level < 1:
        raise AmbleError(f"{where}, level: found {model.level:g}, expected a number between 0 and 1")
    if model.first not in ("forward", "stop"):
        raise AmbleError(f"{where}, first: found {model.first!r:.60}, expected 'forward' or 'stop'")
    parts = KINDS[model.kind]
    for name, part in parts.items():
        if part.needed and name not in model.estimates:
            raise AmbleError(
                f"{where}: {name} is missing, expected {', '.join(n for n, p in parts.items() if p.needed)}"
            )
    for name, estimate in model.estimates.items():
        if name not in parts:
            raise AmbleError(f"{where}: found {name}, expected {', '.join(parts)}")
        check_estimate(estimate, parts[name], f"{where}, {name}", smallest)
    if model.kind == "walk":
        _check_together(model, where)
    start = model.estimates.get("start")
    if start is not None and not abs(np.nansum(start.value) - 1) <= 0.01 + np.isnan(start.value).any():
        raise AmbleError(f"{where}, start.value: the sum is {np.nansum(start.value):.6g}, expected 1")


def _check_together(model: FittedModel, where: str) -> None:
    """A walker's chances of going forward and back."""
    p, q = model.estimates["p"], model.estimates["q"]
    if p.form != q.form and "grade" in (p.form, q.form) and "rank" in (p.form, q.form):
        raise AmbleError(f"{where}: p by {p.form} and q by {q.form}, expected both by rank or both by grade")
    if p.form == q.form and p.form != "one" and (p.value.shape != q.value.shape or p.grades != q.grades):
        raise AmbleError(f"{where}: p and q are of different {p.form}s, expected the same")
    total = p.known + q.known
    if not (total <= 1 + _SLACK).all():
        raise AmbleError(f"{where}: p + q is {total.max():.6g}, expected at most 1")


def check_estimate(estimate: Estimate, part: Part, where: str, smallest: int) -> None:
    """Refuse what is no such estimate."""
    value, form, seen = estimate.value, estimate.form, estimate.observations
    if value.ndim > 2 or not value.size or form not in part.forms:
        raise AmbleError(f"{where}.value: found numbers of shape {value.shape}, expected {' or '.join(part.forms)}")
    if form == "matrix" and (value.shape[0] != value.shape[1] or np.isnan(value).any()):
        raise AmbleError(f"{where}.value: found an array of shape {value.shape}, expected square, without nan")
    if form == "grade" and (len(estimate.grades or ()) != value.size or not (np.diff(estimate.grades or ()) > 0).all()):
        raise AmbleError(f"{where}.grades: expected {value.size} grades, in rising order")
    rows = value.shape[:1]
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
    if estimate.low is not None and estimate.high is not None and (estimate.low > estimate.high + _SLACK).any():
        raise AmbleError(f"{where}: low is above high somewhere")
    if form == "matrix":
        sums = value.sum(axis=1)
        if not (abs(sums - 1) <= 1e-4).all():
            row = int(np.argmax(abs(sums - 1)))
            raise AmbleError(f"{where}.value: row {row + 1} sums to {sums[row]:.6g}, expected 1")
    many = estimate.concentration
    if many is not None and (form != "matrix" or many.shape != rows or not ((many > 0) & np.isfinite(many)).all()):
        raise AmbleError(f"{where}.concentration: expected a number above 0 for each row of a square array")


def _check_numbers(estimate: Estimate, name: str, part: Part, where: str) -> None:
    given, value = getattr(estimate, name), estimate.value
    if given is None:
        if name in ("low", "high") and estimate.form != "matrix":
            raise AmbleError(f"{where}.{name} is missing, expected the end of an interval")
        return
    shape = given.shape[1:] if name == "draws" else given.shape
    if shape != value.shape or not given.size:
        raise AmbleError(f"{where}.{name}: found numbers of shape {shape}, expected {value.shape}")
    below = given <= part.least if part.open_below else given < part.least - _SLACK
    wrong = below & (name not in ("low",)) | (given > part.most + _SLACK) | np.isinf(given)
    if wrong.any():
        raise AmbleError(f"{where}.{name}: found {given[wrong].flat[0]:g}, expected {part.text}")
    missing = np.isnan(given)
    if name == "draws" and given.ndim == 2:  # a draw may have missed a rank, but not all of them
        wrong = missing.all(axis=1).any() or not missing[:, np.isnan(value)].all()
    else:
        wrong = name != "value" and (missing != np.isnan(value)).any()
    if wrong:
        raise AmbleError(f"{where}.{name}: expected nan where the value is suppressed, and a number elsewhere")
