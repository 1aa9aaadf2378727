"""Users fitted to logs: models, their estimated parameters, and where they come from.

A `Fitted` holds one or more models of the same log, each with its parameters. An `Estimate` is a number, a number for
each rank or grade, or transition probabilities from rank to rank; with it come its confidence interval, its number of
observations, and draws: the same parameter on resampled sessions, so that its uncertainty can be carried into scores.

A file holds aggregates only. A cell with fewer observations than ``smallest`` is suppressed: its numbers are NaN, and
its observations a placeholder. `amble.users.fit_file` reads and writes it.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from amble.arrays import Array
from amble.errors import AmbleError
from amble.expressions.values import ByGrade, ByRank, ByRankAndGrade
from amble.users.estimates import SLACK, Estimate, ParameterRange, check_estimate

__all__ = ["KINDS", "Estimate", "Fitted", "FittedModel", "Likelihood", "Origin", "is_move", "step_rule"]

_LARGEST_GOAL = 1e9
_DRAWN_SLACK = 1e-4  # draws are written with five digits


def _probability(*forms: str, needed: bool = True) -> ParameterRange:
    return ParameterRange(0.0, 1.0, False, forms, needed)


_FORMS = ("one", "rank", "grade", "rank and grade")
_ABOVE_0 = ParameterRange(0.0, _LARGEST_GOAL, True, ("one",))
_FROM_0 = ParameterRange(0.0, _LARGEST_GOAL, False, ("one",))

KINDS: dict[str, dict[str, ParameterRange]] = {
    "walk": {
        "p": _probability(*_FORMS),
        "q": _probability(*_FORMS),
        "s": _probability(*_FORMS, needed=False),
        "start": _probability("rank", needed=False),
    },
    "chain": {"stop": _probability("one"), "start": _probability("rank", needed=False)},  # and moves: see `is_move`
    "rbp": {"p": _probability("one")},
    "insq": {"T": _ABOVE_0},
    "insq-adaptive": {"T": _ABOVE_0},
    "insq-printed": {"T": _ABOVE_0},
    "inst": {"T": ParameterRange(0.5, _LARGEST_GOAL, False, ("one",))},
    "bpm": {
        "T": _ABOVE_0,
        "k": ParameterRange(1.0, _LARGEST_GOAL, False, ("one",)),
        "slip": _probability("one", needed=False),
    },
    "ift-goal": {"T": _ABOVE_0, "R": _ABOVE_0},
    "ift-rate": {"A": _FROM_0, "R": _ABOVE_0},
    "ift": {"T": _ABOVE_0, "R1": _ABOVE_0, "A": _FROM_0, "R2": _ABOVE_0},
    "session": {name: _probability("one") for name in "pqrs"},
    "session-rbp": {name: _probability("one") for name in "pb"},
    "continuation": {"C": _probability("rank")},
    "markov": {"P": _probability("matrix"), "start": _probability("rank", needed=False)},
    "times": {"mu": ParameterRange(0.0, np.inf, True, ("one", "rank"))},
}


def is_move(name: str) -> bool:
    """Whether a parameter of a chain is the probability of a move: ``+2``, ``-1``, ``0``, ``top``.

    >>> [is_move(name) for name in ("+2", "-1", "0", "top", "2", "stop")]
    [True, True, True, True, False, False]
    """
    return name in ("top", "0") or (name[:1] in ("+", "-") and name[1:].isdecimal() and name[1:2] != "0")


def step_rule(numbers: Array, grades: tuple[float, ...] | None) -> ByRank | ByGrade | ByRankAndGrade:
    """Probabilities of steps by rank, by grade or by both, as walks take them; ungraded is as the least grade.

    >>> import numpy as np
    >>> step_rule(np.array([0.6, 0.4]), (1.0, 2.0)), step_rule(np.array([[0.6, 0.4], [0.5, 0.3]]), (0.0, 1.0))
    (ByGrade('0=0.6,1=0.6,2=0.4'), ByRankAndGrade('1:0=0.6,1=0.4;2:0=0.5,1=0.3'))
    """
    if grades is None:
        return ByRank(np.atleast_1d(numbers))
    rows = [ByGrade({0.0: x[0]} | dict(zip(grades, x, strict=True))) for x in np.atleast_2d(numbers).tolist()]
    return rows[0] if numbers.ndim < 2 else ByRankAndGrade(dict(enumerate(rows, 1)))


@dataclass(frozen=True)
class Likelihood:
    """Likelihood of a model on held-out sessions.

    Parameters
    ----------
    sessions : int
        How many sessions were held out.
    events : int
        How many events were predicted: moves and stops, say. Perplexity is per event.
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
    """A fitted user of one kind.

    Parameters
    ----------
    name : str
        Its name in the file: ``walk``, ``walk-rank``.
    kind : str
        One of `KINDS`.
    estimates : mapping of str to Estimate
        By parameter; those of a kind are in `KINDS`.
    observation : str
        The observation model: ``last click``, say.
    confidence : float
        Of the intervals.
    first : {"forward", "stop"}
        Of a walk or a chain (also ``"top"``): what happens instead of a move above rank 1.
    likelihood : Likelihood, optional
    note : str
        Anything else, in a line.
    """

    name: str
    kind: str
    estimates: Mapping[str, Estimate]
    observation: str
    confidence: float = 0.95
    first: str = "stop"
    likelihood: Likelihood | None = None
    note: str = ""

    @property
    def draws(self) -> int | None:
        """Number of draws of its parameters on resampled sessions; None: unlimited."""
        counts = [len(e.draws) for e in self.estimates.values() if e.draws is not None]
        if counts:
            return min(counts)
        return None if any(e.concentration is not None for e in self.estimates.values()) else 0


@dataclass(frozen=True)
class Origin:
    """The origin of a fit: file names without folders, and how much was read; no queries, no persons.

    Parameters
    ----------
    files : sequence of str
    layout : str
        ``relpred``, ``table``.
    sessions, records, moves : int
        Query sessions, records, and moves from one click to the next; of these, -1: suppressed.
    date : str
        When, as 2026-11-16; empty if unknown.
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
    """One or more users fitted to the same log.

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
        If a model is not valid: which model, which parameter, what was found and what was expected.

    Examples
    --------
    >>> from amble import Fitted
    >>> from amble.users.fitted import Estimate, FittedModel, Origin
    >>> p = Estimate(0.8, 0.78, 0.82, 1500)
    >>> origin = Origin(["log.tsv"], "table", sessions=300, records=1800, moves=1500)
    >>> fitted = Fitted(origin, [FittedModel("rbp", "rbp", {"p": p}, "last click")])
    >>> fitted.best
    'rbp'
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
        _check_word(self.best, names, "best")
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


def _check_word(word: str, words: Collection[str], where: str) -> None:
    if word not in words:
        raise AmbleError(f"{where}: found {word!r:.60}, expected one of {', '.join(words)}")


def _check_model(model: FittedModel, smallest: int) -> None:
    where = f"model {model.name!r:.60}"
    if not model.name or not all(c.isalnum() or c in "-_." for c in model.name):
        raise AmbleError(f"{where}: expected a name of letters, digits, '-', '_' and '.'")
    _check_word(model.kind, KINDS, f"{where}, kind")
    if not 0 < model.confidence < 1:
        raise AmbleError(f"{where}, level: found {model.confidence:g}, expected a number between 0 and 1")
    _check_word(model.first, ("forward", "stop", "top")[: 3 if model.kind == "chain" else 2], f"{where}, first")
    parts = KINDS[model.kind]
    if model.kind == "chain":
        parts = {name: parts["stop"] for name in model.estimates if is_move(name)} | parts
        if len(parts) == len(KINDS["chain"]):
            raise AmbleError(f"{where}: no moves, expected some, as +1, -1, top")
    needed = [name for name, part in parts.items() if part.needed]
    for name in needed:
        if name not in model.estimates:
            raise AmbleError(f"{where}: {name} is missing, expected {', '.join(needed)}")
    for name, estimate in model.estimates.items():
        if name not in parts:
            raise AmbleError(f"{where}: found {name}, expected {', '.join(parts)}")
        check_estimate(estimate, parts[name], f"{where}, {name}", smallest)
    if model.kind == "walk":
        _check_together(model, where)
    sums = {"chain": [name for name in parts if name != "start"], "session": list(KINDS["session"])}.get(model.kind, [])
    total = sum(float(model.estimates[name].value) for name in sums)
    if sums and not abs(total - 1.0) <= SLACK * len(sums):
        raise AmbleError(f"{where}: {' + '.join(sums)} is {total:.6g}, expected 1")
    start = model.estimates.get("start")
    if start is not None:
        total = float(np.nansum(start.value))
        least = SLACK if np.isnan(start.value).any() else 0.99  # a suppressed probability is missing in the sum
        if not least <= total <= 1.01:
            raise AmbleError(f"{where}, start.value: the sum is {total:.6g}, expected 1")
        if start.draws is not None and not (np.nansum(start.draws, axis=-1) > 0).all():
            raise AmbleError(f"{where}, start.draws: a draw sums to 0, expected 1")


def _check_together(model: FittedModel, where: str) -> None:
    """Check the probabilities of a walk: p + q + s = 1."""
    p, q = model.estimates["p"], model.estimates["q"]
    if p.form != q.form and "one" not in (p.form, q.form):
        raise AmbleError(f"{where}: p by {p.form} and q by {q.form}, expected both by one of them")
    if p.form == q.form and p.form != "one" and (p.value.shape != q.value.shape or p.grades != q.grades):
        raise AmbleError(f"{where}: p and q are of different {p.form}s, expected the same")
    total = p.known + q.known
    if not (total <= 1 + SLACK).all():
        raise AmbleError(f"{where}: p + q is {total.max():.6g}, expected at most 1")
    for b in range(min(len(e.draws) if e.draws is not None else 0 for e in (p, q))):
        most = float((p.draw(b) + q.draw(b)).max())
        if not most <= 1 + _DRAWN_SLACK:
            raise AmbleError(f"{where}: p + q is {most:.6g} in draw {b + 1}, expected at most 1")
    s = model.estimates.get("s")
    if s is not None:
        if s.value.shape != total.shape:
            raise AmbleError(f"{where}: s of shape {s.value.shape}, expected p, q and s of one shape")
        whole = (total + s.known).reshape(-1)
        worst = float(whole[np.argmax(abs(whole - 1.0))])
        if not abs(worst - 1.0) <= SLACK:
            raise AmbleError(f"{where}: p + q + s is {worst:.6g}, expected 1")
