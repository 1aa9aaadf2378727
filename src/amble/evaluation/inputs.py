"""The inputs of evaluations: measures, and rankings or sessions, or judgments and runs, which are aligned first."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol, TypeVar

from amble.arrays import NDArray
from amble.errors import AlignError, MeasureError
from amble.expressions.grammar import split_measures
from amble.measures import Measure, parse
from amble.parallel import workers_of
from amble.rankings.alignment import Rankings, align

__all__ = [
    "DEFAULTS", "Measures", "Scored", "aligning", "each_label", "for_intents", "parse_measures", "refuse_idle_costs",
]  # fmt: skip

Measures = str | Measure | Iterable[str | Measure]
M = TypeVar("M", bound=Measure)
R = TypeVar("R")

_QRELS, _RUNS, *_OPTIONS = inspect.signature(align).parameters.values()
DEFAULTS: Mapping[str, Any] = {option.name: option.default for option in _OPTIONS}  # of align


class Scored(Protocol):
    """What has scores: `Rankings` or `Sessions`, at most one list or session for each run and topic."""

    runs: tuple[str, ...]
    topics: tuple[str, ...]
    labels: tuple[str, ...]
    run: NDArray[Any]
    topic: NDArray[Any]
    options: dict[str, Any]
    audit: Any

    @property
    def length(self) -> NDArray[Any]:
        """How many documents each list or session shows."""

    def index(self, run: str) -> int:
        """Index of a run; KeyError if there is none of this name."""


def each_label(measures: Iterable[M]) -> list[M]:
    """The measures, each label once; two labels of one measure stay two."""
    unique: dict[str, M] = {}
    for m in measures:
        unique.setdefault(m.label, m)
    return list(unique.values())


def parse_measures(measures: Measures) -> list[Measure]:
    """The measures that are named, each label once."""
    if isinstance(measures, str):
        measures = split_measures(measures)
    if isinstance(measures, Measure):
        measures = [measures]
    if not isinstance(measures, Iterable):
        raise MeasureError(f"measures {measures!r:.60}: expected names of measures, such as 'AP nDCG@10'")
    parsed = [parse(m) for m in measures]
    if not parsed:
        raise MeasureError("no measures given, expected at least one, such as AP or nDCG@10")
    return each_label(parsed)


def for_intents(measures: Iterable[Measure], options: Mapping[str, Any]) -> dict[str, Any]:
    """Options of `align`; judgments are of subtopics where a measure of intents needs them, unless it is said."""
    needed = options.get("subtopics") is None and any(m.of_intents for m in measures)
    return dict(options) | ({"subtopics": True} if needed else {})


def refuse_idle_costs(measures: Iterable[Measure]) -> None:
    """An error if no measure has a user who looks at what documents cost."""
    if not any(getattr(m, "looks_at_costs", False) for m in measures):
        raise AlignError(
            "costs: no user here looks at them, expected PH(effort='time',seconds='costs'), TBG, U or the C/W/L report"
        )


def aligning(
    *ready: type,
    costs: bool = False,
    intents: bool = False,
    quickly: Callable[[Any, Any, Any], Any] | None = None,
) -> Callable[[Callable[..., R]], Callable[..., R]]:
    """A decorator: in place of its first argument, of one of the types ``ready``, a function also takes qrels and runs.

    These are aligned, with the options of `align`, when the measures are parsed. The first argument may have the name
    of its type. A mapping, if one is ready, is taken for qrels where runs follow. Rankings take costs all the same,
    which are refused where no measure looks at them, unless ``costs`` says that they always matter. Judgments are of
    subtopics where a measure needs them, or always (``intents``). Of qrels, runs and measures alone ``quickly`` is
    tried first: it returns None where it is not for such as these.

    Examples
    --------
    >>> from amble.rankings.alignment import Rankings
    >>> @aligning(Rankings)
    ... def lengths(rankings, measures, *, more=0):
    ...     return rankings.length + more
    >>> print(*list(inspect.signature(lengths).parameters)[:7], "…")
    qrels runs measures more depth missing ties …
    >>> lengths({"1": {"a": 1}}, runs={"x": {"1": {"a": 2.0, "b": 1.0}}}, measures="AP", depth=1)
    array([1], dtype=int32)
    """

    def decorated(function: Callable[..., R]) -> Callable[..., R]:
        forms = _Forms(function, ready, costs, intents)

        @functools.wraps(function)
        def called(*given: Any, **named: Any) -> R:
            out: R | None = quickly(*given) if quickly is not None and len(given) == 3 and not named else None
            if out is not None:
                return out
            with contextlib.ExitStack() as opened:
                if named.get("executor") is not None:  # the same workers align and compute
                    named["executor"] = opened.enter_context(workers_of(named["executor"]))
                bound = forms.bind(given, named)
                return function(*bound.args, **bound.kwargs)

        called.__signature__ = forms.with_runs  # type: ignore[attr-defined]
        return called

    return decorated


class _Forms:
    """The two forms of a function's arguments: with what is ready, or with qrels and runs."""

    def __init__(self, function: Callable[..., Any], ready: tuple[type, ...], costs: bool, intents: bool) -> None:
        self.name, self.ready, self.own = function.__name__, ready, inspect.signature(function)
        self.costs, self.intents = costs, intents
        self.named_first = ["{run: {topic: score}}" if kind is Mapping else kind.__name__.lower() for kind in ready]
        first, *others = self.own.parameters.values()
        self.first = first.name
        at = next(i for i, p in enumerate(others) if p.name in ("measure", "measures"))
        self.before, self.measures = [p.name for p in others[:at]], others[at].name
        others[at] = others[at].replace(default=inspect.Parameter.empty)
        options = [p.replace(kind=p.KEYWORD_ONLY) for p in _OPTIONS if p.name not in self.own.parameters]
        self.with_runs = self.own.replace(
            parameters=[_QRELS, _RUNS, *(p for p in others if p.name != "runs"), *options]
        )

    def bind(self, given: tuple[Any, ...], named: Mapping[str, Any]) -> inspect.BoundArguments:
        """The arguments as the function takes them: what is ready first, aligned if need be."""
        found, rest, own = given, dict(named), self.own.parameters
        if not given:
            given = tuple(rest.pop(name) for name in self.named_first if name in rest)
        options = {name: rest[name] if name in own else rest.pop(name) for name in DEFAULTS if name in rest}
        for_align = [name for name in options if name not in own]
        is_ready = bool(given) and isinstance(given[0], self.ready)
        if is_ready and isinstance(given[0], Mapping):
            is_ready = not for_align and "runs" not in rest
            is_ready = is_ready and all(isinstance(x, str | Measure | None) for x in given[1:2])
        costs = options.get("costs")
        if is_ready and isinstance(given[0], Rankings):
            for_align = [name for name in for_align if name != "costs"]
            given = given if costs is None else (given[0].with_costs(costs), *given[1:])
        if is_ready and for_align:
            what = type(given[0]).__name__.lower()
            raise AlignError(f"{', '.join(for_align)}: options of align, given with {what} that are aligned already")
        data = []
        for name in () if is_ready else ("qrels", "runs"):
            if bool(given) is (name in rest):  # it is not there, or twice
                raise self.refused(found, named)
            data.append(given[0] if given else rest.pop(name))
            given = given[1:]
        try:
            bound = self.own.bind(*given, **rest) if is_ready else self.own.bind(None, *given, **rest)
        except TypeError as error:
            if "unexpected" in str(error):
                raise TypeError(f"{self.name}() {error}") from None
            raise self.refused(found, named) from None
        wanted: Any = bound.arguments.get(self.measures)
        if wanted is None and not is_ready:
            raise self.refused(found, named)
        if costs is not None and not self.costs and wanted is not None:
            refuse_idle_costs(parse_measures(wanted))
        if not is_ready:
            # a misspelled measure is found before files are read
            parsed = parse_measures(wanted)
            bound.arguments[self.measures] = parse(wanted) if self.measures == "measure" else parsed
            given_options = {"subtopics": True} | options if self.intents else for_intents(parsed, options)
            bound.arguments[self.first] = align(*data, **given_options)
        return bound

    def refused(self, given: tuple[Any, ...], named: Mapping[str, Any]) -> AlignError:
        """What is wrong with arguments of no form, in one line."""
        found = [type(x).__name__ for x in given] + [f"{name}={type(x).__name__}" for name, x in named.items()]
        rest = ", ".join([*self.before, self.measures])
        ready, data = (f"{self.name}({first}, {rest})" for first in (" | ".join(self.named_first), "qrels, runs"))
        return AlignError(f"found {self.name}({', '.join(found)}), expected {ready} or {data}")
