"""Parsing of measures, such as ``nDCG@10``, with suggestions where a name is unknown."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from amble.errors import MeasureError
from amble.expressions.aliases import known_elsewhere
from amble.expressions.domains import Domain, Optional, Whole, checked
from amble.expressions.grammar import Value, parse_call
from amble.measures.declaration import REGISTRY
from amble.measures.list_measure import ListMeasure
from amble.measures.measure import Measure
from amble.measures.session_measure import SessionMeasure

__all__ = ["parse"]


def _suggest(word: str, words: Iterable[str]) -> str:
    import difflib  # for errors only

    names = list(words)
    known = known_elsewhere(word)
    if known in names:
        return f"; did you mean {known}?"
    lower = {name.lower(): name for name in names}
    close = [lower[word.lower()]] if word.lower() in lower else difflib.get_close_matches(word, names, 3, 0.6)
    return f"; did you mean {' or '.join(close)}?" if close else ""


def _after_at(name: str, domain: Domain, value: Value) -> Any:
    try:
        return domain.check(value)
    except MeasureError:
        raise
    except ValueError:
        text = domain.domain.text if isinstance(domain, Optional) else domain.text
        raise MeasureError(f"{name}@{value} is not allowed, expected {text} after '@'") from None


def parse(text: str | Measure) -> Measure:
    """The measure that an expression names: ``nDCG@10``, ``RBP(p=0.8)``, ``AP(rel=2)``.

    Parameters
    ----------
    text : str
        A name, parameters in parentheses, and ``@`` with a rank (or whatever the measure has there).

    Raises
    ------
    MeasureError
        With the allowed values, and names that are close.

    Examples
    --------
    >>> import amble
    >>> amble.parse("P@10")
    parse('P@10')
    >>> amble.parse("nDGC@10")
    Traceback (most recent call last):
    ...
    amble.errors.MeasureError: 'nDGC@10': no measure is called nDGC; did you mean nDCG or nsDCG or RnDCG?
    """
    if isinstance(text, Measure):
        return text
    if not isinstance(text, str):
        raise MeasureError(f"{text!r:.60} is of type {type(text).__name__}, expected the name of a measure")
    call = parse_call(text)
    if call.name not in REGISTRY:
        raise MeasureError(
            f"{text!r}: no measure is called {call.name}"
            + (_suggest(call.name, REGISTRY) or "; `amble list` shows all of them")
        )
    d = REGISTRY[call.name]
    values: dict[str, Value] = {name: p.default for name, p in d.parameters.items()}
    for key, value in call.arguments.items():
        if key not in d.parameters:
            known = ", ".join(d.parameters) or "none"
            raise MeasureError(
                f"{text!r}: {d.name} has no parameter {key}, expected {known}{_suggest(key, d.parameters)}"
            )
        values[key] = checked(d.name, key, d.parameters[key].domain, value)
    cut: int | None = None
    if call.at is not None:
        if d.at:
            if d.at in call.arguments:
                raise MeasureError(f"{text!r}: {d.at} is given twice, in parentheses and after '@'")
            values[d.at] = _after_at(d.name, d.parameters[d.at].domain, call.at)
        elif d.question is None and not d.of_sessions:
            raise MeasureError(f"{text!r}: {d.name} takes no '@', it looks at the whole list")
        else:
            cut = _after_at(d.name, Whole(1), call.at)
    kind = SessionMeasure if d.of_sessions else ListMeasure
    try:
        found = kind(d, values, cut, given=call.arguments).resolve_variant()
    except MeasureError as error:
        raise MeasureError(f"{text!r}: {error}") from None
    found.typed = " ".join(text.split())
    return found
