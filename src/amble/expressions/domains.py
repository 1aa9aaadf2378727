"""Domains of parameters: each checks a value and describes in words what it allows."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from amble.errors import MeasureError
from amble.expressions.populations import Population

__all__ = [
    "Above",
    "AtLeast",
    "Between",
    "Domain",
    "Form",
    "GainTable",
    "Numbers",
    "OneOf",
    "Optional",
    "Parameter",
    "Probability",
    "Switch",
    "Whole",
]


class Domain:
    """A set of values, described by ``text``."""

    text = ""
    smooth = True  # whether scores change smoothly with it, so that a population may have it

    def check(self, value: Any) -> Any:
        """The value in the form that measures use; ValueError if it is not in the domain."""
        raise ValueError

    @staticmethod
    def number(value: Any) -> float:
        """The value as a finite float; ValueError if it is none."""
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise ValueError
        return float(value)


class Between(Domain):
    """Numbers between two numbers, strictly or not.

    >>> Between(0, 1).text
    'a number between 0 and 1, both excluded'
    """

    def __init__(self, low: float, high: float, *, closed: bool = False) -> None:
        self.low, self.high, self.closed = low, high, closed
        self.text = f"a number between {low:g} and {high:g}, both {'included' if closed else 'excluded'}"

    def check(self, value: Any) -> float:
        """The number."""
        x = self.number(value)
        if not (self.low < x < self.high or (self.closed and x in (self.low, self.high))):
            raise ValueError
        return x


class Above(Domain):
    """Numbers greater than a number."""

    def __init__(self, low: float, *, smooth: bool = True) -> None:
        self.low = low
        self.smooth = smooth
        self.text = f"a number above {low:g}"

    def check(self, value: Any) -> float:
        """The number."""
        x = self.number(value)
        if x <= self.low:
            raise ValueError
        return x


class AtLeast(Domain):
    """Numbers of at least a number."""

    def __init__(self, low: float, *, smooth: bool = True) -> None:
        self.low = low
        self.smooth = smooth
        self.text = f"a number of at least {low:g}"

    def check(self, value: Any) -> float:
        """The number."""
        x = self.number(value)
        if x < self.low:
            raise ValueError
        return x


class Whole(Domain):
    """Whole numbers from a least to a greatest one."""

    smooth = False

    def __init__(self, low: int = 1, high: int = 10_000_000) -> None:
        self.low, self.high = low, high
        self.text = f"a whole number of at least {low}"

    def check(self, value: Any) -> int:
        """The number."""
        x = self.number(value)
        if x != int(x) or not self.low <= x:
            raise ValueError
        if x > self.high:
            raise MeasureError(f"{x:g} is more than {self.high:,}, the most that is allowed")
        return int(x)


class OneOf(Domain):
    """One of a few words or whole numbers."""

    smooth = False

    def __init__(self, *words: str | int) -> None:
        self.words = words
        self.text = "one of " + ", ".join(map(repr, words))

    def check(self, value: Any) -> str | int:
        """The word or number."""
        if isinstance(value, bool) or value not in self.words:
            raise ValueError
        return self.words[self.words.index(value)]


class Switch(Domain):
    """True or False."""

    text = "True or False"

    def check(self, value: Any) -> bool:
        """The truth value."""
        if not isinstance(value, bool):
            raise ValueError
        return value


class Numbers(Domain):
    """Several numbers in a string, ``'1,-1,0,0'``."""

    def __init__(self, count: int | None = None, domain: Domain | None = None) -> None:
        self.count, self.domain = count, domain
        each = f", each {domain.text}" if domain else ""
        self.text = f"a string of {count or 'one or more'} numbers with commas between them{each}"

    def check(self, value: Any) -> str:
        """The string."""
        if not isinstance(value, str):
            raise ValueError
        numbers = self.read(value)
        if not numbers or (self.count is not None and len(numbers) != self.count):
            raise ValueError
        for x in numbers:
            (self.domain or Domain).number(x)
            if self.domain:
                self.domain.check(x)
        return value

    @staticmethod
    def read(text: str) -> list[float]:
        """The numbers."""
        if "_" in text:
            raise ValueError
        return [float(x) for x in text.split(",")]


class Probability(Domain):
    """A probability at every rank: a number, ``'0.5,0.4'`` by rank, or ``'0=0.6,1=0.3'`` by grade.

    >>> Probability.read("0=0.6,1=0.3"), Probability.read("0.5,0.4"), Probability.read(0.5)
    ({0.0: 0.6, 1.0: 0.3}, [0.5, 0.4], 0.5)
    """

    text = (
        "a number between 0 and 1, or a string of them: by rank, as '0.5,0.4' (the last holds further down), or by "
        "grade, as '0=0.6,1=0.3'"
    )

    def check(self, value: Any) -> float | str:
        """The number or the string."""
        found = self.read(value)
        probabilities = found.values() if isinstance(found, dict) else found if isinstance(found, list) else [found]
        if not all(0 <= x <= 1 for x in probabilities):
            raise ValueError
        return found if isinstance(found, float) else str(value)

    @staticmethod
    def read(value: Any) -> float | list[float] | dict[float, float]:
        """The number, the numbers by rank, or those by grade."""
        if not isinstance(value, str):
            return Domain.number(value)
        if "_" in value:
            raise ValueError
        if "=" not in value:
            return [Domain.number(float(word)) for word in value.split(",")]
        table: dict[float, float] = {}
        for pair in value.split(","):
            grade, _, probability = pair.partition("=")
            if float(grade) in table:
                raise ValueError
            table[Domain.number(float(grade))] = Domain.number(float(probability))
        return table


class Form(Domain):
    """Formulas that a given function reads without error."""

    smooth = False

    def __init__(self, reader: Callable[[str], Any], text: str) -> None:
        self.reader = reader
        self.text = text

    def check(self, value: Any) -> str:
        """The formula."""
        if not isinstance(value, str):
            raise ValueError
        self.reader(value)
        return value


class GainTable(Domain):
    """Maps of grades to gains: ``'linear'``, ``'exp'``, or a table such as ``'1=3,2=9'``."""

    text = "'linear' (the grade), 'exp' (2^grade - 1), or a table such as '1=3,2=9' (other grades as they are)"

    def check(self, value: Any) -> str:
        """The word or the table."""
        if value in ("linear", "exp"):
            return str(value)
        if not isinstance(value, str):
            raise ValueError
        self.read(value)
        return value

    @staticmethod
    def read(text: str) -> dict[float, float]:
        """Gains by grade."""
        table: dict[float, float] = {}
        for pair in text.split(","):
            grade, sign, gain = pair.partition("=")
            if not sign or "_" in pair or Domain.number(float(gain)) < 0 or float(grade) in table:
                raise ValueError
            table[Domain.number(float(grade))] = float(gain)
        return table


class Optional(Domain):
    """The values of a domain, and None."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        self.smooth = domain.smooth
        self.text = f"{domain.text}, or None"

    def check(self, value: Any) -> Any:
        """The value in the domain, or None."""
        return None if value is None else self.domain.check(value)


def checked(measure: str, name: str, domain: Domain, value: Any) -> Any:
    """The value in its domain; a `MeasureError` with what is allowed if it is not."""
    try:
        if isinstance(value, Population):  # all of its values must be allowed
            if not domain.smooth:
                raise MeasureError(
                    f"{measure}: {name}={value} is not allowed, expected {domain.text}: scores jump there, so that the "
                    f"mean over users would not be exact"
                )
            for x in value.nodes()[0].tolist():
                domain.check(x)
            return value
        return domain.check(value)
    except MeasureError:
        raise
    except (ValueError, TypeError, OverflowError):
        raise MeasureError(f"{measure}: {name}={value!r:.60} is not allowed, expected {domain.text}") from None


class Parameter(NamedTuple):
    """A parameter of a measure: name, default, domain and description."""

    name: str
    default: Any
    domain: Domain
    story: str
