"""Domains of parameters: each turns what is given into a value, or says in words what it allows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any

from amble.errors import AmbleError, MeasureError
from amble.expressions.by_topic import ByTopic
from amble.expressions.populations import Population
from amble.expressions.values import ByFunction, ByGrade, ByRank, ByRankAndGrade, real

__all__ = [
    "Above",
    "AtLeast",
    "Between",
    "Domain",
    "Form",
    "GainTable",
    "Joint",
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
    accepts = "float"  # the types of Python that stand for a value, for the type stub
    smooth = True  # whether scores change smoothly with it, so that a population may have it
    names: tuple[str, ...] = ()  # of a joint distribution: the parameters that it is of
    by_topic = False  # whether each topic may have a value of its own

    def check(self, value: Any) -> Any:
        """The value in the form that measures use; ValueError if it is not in the domain."""
        raise ValueError

    number = staticmethod(real)  # the value as a finite float; ValueError if it is none


class Between(Domain):
    """Numbers between two numbers, strictly or not.

    >>> Between(0, 1).text
    'a number between 0 and 1, both excluded'
    """

    by_topic = True

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

    by_topic = True

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

    by_topic = True

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

    accepts = "int"
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
        self.accepts = f"Literal[{', '.join(map(repr, words))}]"

    def check(self, value: Any) -> str | int:
        """The word or number."""
        if isinstance(value, bool) or value not in self.words:
            raise ValueError
        return self.words[self.words.index(value)]


class Switch(Domain):
    """True or False."""

    accepts = "bool"
    text = "True or False"

    def check(self, value: Any) -> bool:
        """The truth value."""
        if not isinstance(value, bool):
            raise ValueError
        return value


class Numbers(Domain):
    """Several numbers: a string of them, ``'1,-1,0,0'``, or in Python a list or an array."""

    accepts = "str | Sequence[float]"

    def __init__(self, count: int | None = None, domain: Domain | None = None) -> None:
        self.count, self.domain = count, domain
        each = f", each {domain.text}" if domain else ""
        self.text = f"a string of {count or 'one or more'} numbers with commas between them{each}"

    def check(self, value: Any) -> ByRank:
        """The numbers."""
        numbers = ByRank(value)
        if self.count is not None and len(numbers) != self.count:
            raise ValueError
        if self.domain is not None:
            for x in numbers:
                self.domain.check(x)
        return numbers


class Probability(Domain):
    """A probability at every rank: a number, or by rank, by grade, by both, or in Python by a function.

    >>> domain = Probability()
    >>> domain.check({0: 0.6, 1: 0.3}), domain.check("0.5,0.4"), domain.check(0.5)
    (ByGrade('0=0.6,1=0.3'), ByRank('0.5,0.4'), 0.5)
    >>> domain.check("1:0=0.6,1=0.4;2:0=0.5,1=0.3") == domain.check([[0.6, 0.4], [0.5, 0.3]])
    True
    """

    accepts = "float | str | Sequence[Any] | Mapping[float, Any] | Callable[..., Any]"
    by_topic = True
    text = (
        "a number between 0 and 1, or a string of them: by rank, as '0.5,0.4' (the last holds further down), by "
        "grade, as '0=0.6,1=0.3', or by both, as '1:0=0.6,1=0.4;2:0=0.5,1=0.3'"
    )

    def check(self, value: Any) -> float | ByRank | ByGrade | ByRankAndGrade | ByFunction:
        """The number, or the numbers by rank, by grade, by both, or by a function."""
        if isinstance(value, Real):
            return Between(0, 1, closed=True).check(value)
        if isinstance(value, ByFunction) or callable(value):
            return value if isinstance(value, ByFunction) else ByFunction(value)
        if ByRankAndGrade.made_of(value):
            table = value if isinstance(value, ByRankAndGrade) else ByRankAndGrade(value)
            for _, row in table.rows:
                self.check(row)
            return table
        by_grade = isinstance(value, Mapping) or (isinstance(value, str) and "=" in value)
        found = ByGrade(value) if by_grade else ByRank(value)
        if not all(0 <= x <= 1 for x in (found.values() if isinstance(found, ByGrade) else found)):
            raise ValueError
        return found


class Form(Domain):
    """What a class or a function makes of a formula, or of objects of some types that are given in Python."""

    accepts = "Any"
    smooth = False

    def __init__(self, reader: Callable[[Any], Any], text: str, *types: Any) -> None:
        self.reader, self.text, self.types = reader, text, (str, *types)

    def check(self, value: Any) -> Any:
        """The object."""
        if isinstance(self.reader, type) and isinstance(value, self.reader):
            return value
        if not isinstance(value, self.types):
            raise ValueError
        return self.reader(value)


class GainTable(Domain):
    """Maps of grades to gains: ``'linear'``, ``'exp'``, or a table: ``'1=3,2=9'``, in Python ``{1: 3, 2: 9}``."""

    accepts = "str | Mapping[float, float]"
    text = "'linear' (the grade), 'exp' (2^grade - 1), or a table such as '1=3,2=9' (other grades as they are)"

    def check(self, value: Any) -> str | ByGrade:
        """The word or the table."""
        if isinstance(value, str) and value in ("linear", "exp"):
            return value
        table = ByGrade(value)
        if min(table.values()) < 0:
            raise ValueError
        return table


class Joint(Domain):
    """Joint distributions over users of several parameters of the measure, and of what they leave of 1."""

    accepts = "Population"

    def __init__(self, *names: str) -> None:
        self.names = names
        self.text = f"Dirichlet(a,b,c), which {', '.join(names)} and 1 - {' - '.join(names)} have over users"

    def check(self, value: Any) -> Population:
        """The distribution."""
        if not isinstance(value, Population):
            raise ValueError
        return value


class Optional(Domain):
    """The values of a domain, and None."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        self.smooth, self.names, self.by_topic = domain.smooth, domain.names, domain.by_topic
        self.accepts = f"{domain.accepts} | None"
        self.text = f"{domain.text}, or None"

    def check(self, value: Any) -> Any:
        """The value in the domain, or None."""
        return None if value is None else self.domain.check(value)


def checked(
    owner: str, name: str, domain: Domain, value: Any, *, mixed: bool = True, kind: type[AmbleError] = MeasureError
) -> Any:
    """The value in its domain, or if ``mixed`` a population of such values, or one for each topic; or an error."""
    try:
        found = ByTopic.of(value, domain.check, domain.text) if mixed and domain.by_topic else None
        if found is not None:
            return found
        if mixed and isinstance(value, Population) and not value.is_joint:  # all of its values must be allowed
            if not domain.smooth:
                raise MeasureError(
                    f"{owner}: {name}={value} is not allowed, expected {domain.text}: scores jump there, so that the "
                    f"mean over users would not be exact"
                )
            for x in value.nodes()[0].tolist():
                domain.check(x)
            return value
        return domain.check(value)
    except MeasureError:
        raise
    except (ValueError, TypeError, OverflowError):
        shown = " ".join(map(str.strip, repr(value).splitlines()))  # of an array, in one line
        topics = isinstance(value, Mapping) and mixed and domain.by_topic
        hint = "; by topic, the topics are text, as in {'401': 1}" if topics else ""
        raise kind(f"{owner}: {name}={shown:.60} is not allowed, expected {domain.text}{hint}") from None


class Parameter:
    """A parameter of a measure: name, default, domain and description.

    A default that is no number is a value of the domain, however it was declared.
    """

    __slots__ = ("default", "domain", "name", "story")

    def __init__(self, name: str, default: Any, domain: Domain, story: str = "") -> None:
        value = checked("the default", name, domain, default)
        self.name, self.domain, self.story = name, domain, story
        self.default = default if isinstance(default, int | float) else value
