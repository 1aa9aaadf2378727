"""Arguments of measures: by name, or the first without it; each checked, with a suggestion where one is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from amble.errors import MeasureError
from amble.expressions.by_topic import ByTopic
from amble.expressions.domains import Domain, Optional, Whole, checked
from amble.expressions.grammar import show_value
from amble.measures.declaration import Declaration

__all__ = ["NOTHING", "build", "first_parameter", "rebuild", "suggestion"]

M = TypeVar("M")  # a measure of lists or of sessions
NOTHING: Any = object()
_RENAMED = {"visits": "utility"}  # parameters that were called otherwise


def build(
    kind: Callable[..., Any],
    d: Declaration,
    unnamed: Sequence[Any],
    named: Mapping[str, Any],
    at: Any = NOTHING,
    *,
    start: Any = None,
    said: str = "",
) -> Any:
    """The measure of a declaration with these arguments; the others have their defaults, or the values of `start`.

    `said` is what messages begin with.
    """
    values = {name: p.default for name, p in d.parameters.items()} if start is None else dict(start.values)
    cut = None if start is None else start.cut
    named = {**_first(d, unnamed, named, said), **named}
    for key, value in named.items():
        if key not in d.parameters:
            known = ", ".join(d.parameters) or "none"
            raise MeasureError(
                f"{said}{d.name} has no parameter {key}, expected {known}{suggestion(_close(key, d.parameters))}"
            )
        values[key] = checked(d.name, key, d.parameters[key].domain, _plain(value))
        if isinstance(values[key], ByTopic) and (d.of_sessions or any(key == p.name for p in d.gain.parameters)):
            raise MeasureError(f"{said}{key} cannot differ by topic: only what users of lists do may")
    if at is not NOTHING:
        if d.at in named:
            raise MeasureError(f"{said}{d.at} is given twice, in parentheses and after '@'")
        value = _after_at(d, _plain(at), said)
        if d.at:
            values[d.at] = value
        else:
            cut = value
    given = {*named, *(() if start is None else start.given)}
    try:
        return kind(d, values, cut, given=given).resolve_variant()
    except MeasureError as error:
        raise MeasureError(f"{said or f'{d.name}: '}{error}") from None


def rebuild(measure: M, unnamed: Sequence[Any], named: Mapping[str, Any], at: Any = NOTHING) -> M:
    """The measure with some of its parameters, or its rank, changed."""
    written: Any = getattr(measure, "written", None) or measure  # before its parameters made another one of it
    out: M = build(type(measure), written.declaration, unnamed, named, at, start=written)
    return out


def first_parameter(d: Declaration) -> str | None:
    """The parameter whose value may be given without its name, ``RBP(0.9)``; None if there is none.

    It is the first that the measure itself declares (not ``rel``, ``gains`` or ``max_grade``, which many have), if it
    is what ``@`` sets, or always has a value: 10 in ``nDCG(10)`` could be the base or the rank.
    """
    of_gains = {p.name for p in d.gain.parameters}
    first = next((p for p in d.parameters.values() if p.name not in of_gains), None)
    return first.name if first and (first.name == d.at or first.default is not None) else None


def _first(d: Declaration, unnamed: Sequence[Any], named: Mapping[str, Any], said: str) -> dict[str, Any]:
    """The value that was given without a name, by its name."""
    if not unnamed:
        return {}
    key, value = first_parameter(d), _plain(unnamed[0])
    if isinstance(value, str) and value in d.parameters:
        raise MeasureError(f"{said}{value} has no value, expected one, as in {value}={show_value(_example(d, value))}")
    if key is None:
        raise MeasureError(f"{said}{d.name} takes no value without a name{suggestion(_readings(d, value))}")
    if len(unnamed) > 1:
        raise MeasureError(f"{said}{d.name} takes one value without a name, {key}, found {len(unnamed)}")
    if key in named:
        raise MeasureError(f"{said}{key} is given twice, with its name and without")
    return {key: value}


def _readings(d: Declaration, value: Any) -> Iterator[str]:
    """Expressions that a value without a name may have meant."""
    if d.at or d.question is not None or d.of_sessions:
        domain = d.parameters[d.at].domain if d.at else Whole(1)
        if _allows(domain, value):
            yield f"{d.name}@{show_value(value)}"
    for key, p in d.parameters.items():
        if key != d.at and _allows(p.domain, value):
            yield f"{d.name}({key}={show_value(value)})"


def _allows(domain: Domain, value: Any) -> bool:
    try:
        domain.check(value)
    except (ValueError, TypeError, OverflowError):
        return False
    return True


def _after_at(d: Declaration, value: Any, said: str) -> Any:
    """The value after ``@``."""
    if not d.at and d.question is None and not d.of_sessions:
        raise MeasureError(f"{said}{d.name} takes no '@', it looks at the whole list")
    domain = d.parameters[d.at].domain if d.at else Whole(1)
    try:
        return domain.check(value)
    except MeasureError:
        raise
    except (ValueError, TypeError, OverflowError):
        text = domain.domain.text if isinstance(domain, Optional) else domain.text
        first = first_parameter(d)
        meant = first not in (None, d.at) and _allows(d.parameters[str(first)].domain, value)
        asked = suggestion([f"{d.name}({first}={show_value(value)})"] if meant else [])
        raise MeasureError(f"{d.name}@{value!r:.60} is not allowed, expected {text} after '@'{asked}") from None


def _example(d: Declaration, key: str) -> Any:
    default = d.parameters[key].default
    return 10 if default is None else default


def _plain(value: Any) -> Any:
    """A number of numpy as Python's."""
    return value.item() if isinstance(value, np.generic) else value


def _close(word: str, words: Iterable[str]) -> list[str]:
    import difflib  # for errors only

    lower = {name.lower(): name for name in words}
    word = _RENAMED.get(word, word)
    return [lower[word.lower()]] if word.lower() in lower else difflib.get_close_matches(word, lower.values(), 3, 0.6)


def suggestion(words: Iterable[str]) -> str:
    """What ends a message: ``; did you mean nDCG@10 or nsDCG@10?``, nothing without words."""
    close = list(words)[:3]
    return f"; did you mean {' or '.join(close)}?" if close else ""
