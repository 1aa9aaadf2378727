"""Checks of arguments: each returns the value, or raises an error that says what was found and what was expected.

A truth value is no number here, though Python has it among its integers; numbers of numpy are.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any, TypeGuard, TypeVar

from amble.errors import AmbleError

__all__ = [
    "INT32",
    "INT64",
    "id_text",
    "is_number",
    "is_whole",
    "number",
    "one_of",
    "or_usual",
    "seed",
    "share",
    "whole",
]

INT32, INT64 = 2**31 - 1, 2**63 - 1  # the largest of these integers

Choice = TypeVar("Choice", bound="str | None")


def is_whole(value: object) -> TypeGuard[int]:
    """Whether the value is a whole number, by its type."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_number(value: object) -> TypeGuard[float]:
    """Whether the value is a real number, by its type; it may be infinite or NaN."""
    return isinstance(value, Real) and not isinstance(value, bool)


def whole(value: Any, name: str, least: int = 1, most: int | None = INT64, kind: type[AmbleError] = AmbleError) -> int:
    """The value as an int, if it is a whole number from ``least`` to ``most``.

    >>> whole(10, "depth")
    10
    """
    if not is_whole(value) or value < least:
        raise kind(f"{name}={value!r:.60}: expected a whole number of at least {least}")
    if most is not None and value > most:
        raise kind(f"{name}={value!r:.60}: expected a whole number of at most {most}")
    return int(value)


def number(
    value: Any,
    name: str,
    *,
    least: float | None = None,
    above: float | None = None,
    most: float | None = None,
    below: float | None = None,
    kind: type[AmbleError] = AmbleError,
) -> float:
    """The value as a float, if it is a finite number within the bounds, of which ``above`` and ``below`` are excluded.

    >>> number(60, "rrf_k", least=0)
    60.0
    """
    x = _float(value)
    if (
        not math.isfinite(x)
        or (least is not None and x < least)
        or (above is not None and x <= above)
        or (most is not None and x > most)
        or (below is not None and x >= below)
    ):
        bounds = (("of at least", least), ("above", above), ("at most", most), ("below", below))
        words = " and ".join(f"{word} {bound:g}" for word, bound in bounds if bound is not None)
        raise kind(f"{name}={value!r:.60}: expected a {f'number {words}' if words else 'finite number'}")
    return x


def _float(value: object) -> float:
    """The value as a float; NaN for what is no number, or too large."""
    try:
        return float(value) if is_number(value) else math.nan
    except OverflowError:
        return math.nan


def share(value: Any, name: str, kind: type[AmbleError] = AmbleError) -> float:
    """The value as a float, if it is between 0 and 1, ends excluded.

    >>> share(0.8, "power")
    0.8
    """
    x = _float(value)
    if not 0.0 < x < 1.0:
        raise kind(f"{name}={value!r:.60}: expected a number between 0 and 1")
    return x


def one_of(value: Any, choices: Iterable[Choice], name: str, kind: type[AmbleError] = AmbleError) -> Choice:
    """The value, if it is one of the choices: words, and None where an option may be left open.

    >>> one_of("skip", ("zero", "skip"), "missing")
    'skip'
    """
    known = tuple(choices)
    if not isinstance(value, str | None) or value not in known:
        raise kind(f"{name}={value!r:.60}: expected one of {', '.join(map(repr, known))}")
    return value


def or_usual(value: Any, usual: str) -> Any:
    """The value, or the usual one where it is None or empty."""
    return usual if isinstance(value, str | None) and not value else value


def id_text(value: Any) -> Any:
    """The value, or its digits if it is a whole number, as ids are read from data in memory.

    >>> id_text(301), id_text("0301")
    ('301', '0301')
    """
    return str(value) if is_whole(value) else value


def seed(value: Any) -> int:
    """The value as an int, if it is a seed: a whole number of at least 0."""
    return whole(value, "seed", 0, None)
