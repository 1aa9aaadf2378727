"""Values of parameters: typed, immutable, and each printed as the text that its domain reads again.

A value is a number, a word, or an object whose ``str`` expressions put in quotes. An ``unquoted`` one stands there as
it is: a population, ``Beta(8,2)``, or what no text can spell (a function, say), which prints a `digest` of its content.
"""

from __future__ import annotations

import io
import math
import pickle
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import CodeType, FunctionType, ModuleType
from typing import Any, Self

import numpy as np

from amble.checks import is_number
from amble.errors import MeasureError

__all__ = [
    "ByFunction",
    "ByGrade",
    "ByRank",
    "ByRankAndGrade",
    "FormulaOrFunction",
    "Value",
    "digest",
    "needs_zero",
    "real",
    "show_number",
]

MOST_RANKS = 1_000_000  # that a table may spell out


def real(value: Any) -> float:
    """The value as a float; ValueError unless it is a finite number."""
    if not is_number(value) or not math.isfinite(value):
        raise ValueError(f"{value!r:.60} is not a finite number")
    return float(value)


def _read(word: str) -> float:
    """The number of a word, in plain digits."""
    if "_" in word or not word.isascii():
        raise ValueError(f"{word!r:.60} is not a number")
    return real(float(word))


def _plain(table: Any) -> Any:
    """The numbers of an array, of whatever library; anything else as it is."""
    return np.asarray(table).tolist() if hasattr(table, "__array__") else table


def show_number(x: float) -> str:
    """A number as expressions have it: whole ones without a point, others with as many digits as they need.

    >>> show_number(2.0), show_number(0.1)
    ('2', '0.1')
    """
    return str(int(x)) if float(x).is_integer() and abs(x) < 1e15 else repr(float(x))


class Value(ABC):
    """A value that does not change: values of one class are the same if their `content` is; it makes them anew."""

    @abstractmethod
    def content(self) -> tuple[Any, ...]:
        """What the value was made of."""

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__} does not change, so {name} cannot be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} does not change, so {name} cannot be deleted")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Value) and type(other) is type(self) and other.content() == self.content()

    def __hash__(self) -> int:
        return hash(self.content())

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.content()


class ByRank(tuple[float, ...]):
    """Numbers by rank, or by whatever a parameter counts: from a text, a list or an array.

    >>> ByRank("0.6, 0.5"), str(ByRank(np.array([1, 0.25])))
    (ByRank('0.6,0.5'), '1,0.25')
    """

    __slots__ = ()

    def __new__(cls, numbers: str | Iterable[float]) -> Self:
        """The numbers of a text, with commas between them, or those of a sequence; ValueError if there are none."""
        if isinstance(numbers, str):
            return super().__new__(cls, map(_read, numbers.split(",")))
        plain = _plain(numbers)
        if not isinstance(plain, Sequence) or isinstance(plain, bytes | bytearray) or not plain:
            raise ValueError(f"{numbers!r:.60}: expected one number or more, in order")
        return super().__new__(cls, map(real, plain))

    def __str__(self) -> str:
        return ",".join(map(show_number, self))

    def __repr__(self) -> str:
        return f"ByRank({str(self)!r})"


class ByGrade(Value, Mapping[float, float]):
    """A number for each of some grades, in rising order: from a text or a mapping.

    >>> ByGrade("0=0.6, 1=0.3"), ByGrade({1: 3, 2: 9})[2]
    (ByGrade('0=0.6,1=0.3'), 9.0)
    """

    pairs: tuple[tuple[float, float], ...]

    def __init__(self, table: str | Mapping[float, float]) -> None:
        found: list[tuple[float, float]] = []
        if isinstance(table, str):
            for pair in table.split(","):
                grade, _, number = pair.partition("=")
                found.append((_read(grade), _read(number)))
        elif isinstance(table, Mapping):
            found += ((real(grade), real(number)) for grade, number in table.items())
        if not found or len(dict(found)) < len(found):
            raise ValueError(f"{table!r:.60}: expected a number for each of some grades")
        object.__setattr__(self, "pairs", tuple(sorted(found)))

    def content(self) -> tuple[Any, ...]:
        """The numbers by grade."""
        return (dict(self.pairs),)

    def __hash__(self) -> int:
        return hash(self.pairs)

    def __getitem__(self, grade: float) -> float:
        return dict(self.pairs)[grade]

    def __iter__(self) -> Iterator[float]:
        return (grade for grade, _ in self.pairs)

    def __len__(self) -> int:
        return len(self.pairs)

    def __str__(self) -> str:
        return ",".join(f"{show_number(grade)}={show_number(number)}" for grade, number in self.pairs)

    def __repr__(self) -> str:
        return f"ByGrade({str(self)!r})"


def needs_zero(grades: Iterable[float], given: str) -> None:
    """An error if a table by grade has nothing for 0, the grade of unjudged documents."""
    if min(grades) > 0:
        raise MeasureError(f"{given}: nothing for grade 0, which unjudged documents have; expected it, too")


class ByRankAndGrade(Value):
    """Numbers by grade at each of some ranks, where they hold until the next: from a text, a mapping or rows.

    A row is a mapping of grades, or holds the numbers of grades 0, 1, 2, …

    >>> ByRankAndGrade("1:0=0.6,1=0.4;3:0=0.5"), ByRankAndGrade([[0.6, 0.4], {0: 0.5}])
    (ByRankAndGrade('1:0=0.6,1=0.4;3:0=0.5'), ByRankAndGrade('1:0=0.6,1=0.4;2:0=0.5'))
    """

    rows: tuple[tuple[int, ByGrade], ...]

    def __init__(self, table: Any) -> None:
        rows: list[tuple[Any, Any]]
        if isinstance(table, str):
            rows = [(_read(rank), row) for rank, _, row in (part.partition(":") for part in table.split(";"))]
        else:
            rows = list(table.items() if isinstance(table, Mapping) else enumerate(_plain(table), 1))
        found = {
            real(rank): ByGrade(row if isinstance(row, str | Mapping) else dict(enumerate(ByRank(row))))
            for rank, row in rows
        }
        if len(found) < len(rows) or min(found) != 1 or any(x % 1 or x > MOST_RANKS for x in found):
            raise ValueError(
                f"{table!r:.60}: expected a row for rank 1, and for other whole ranks up to {MOST_RANKS:,}"
            )
        object.__setattr__(self, "rows", tuple((int(rank), found[rank]) for rank in sorted(found)))

    @staticmethod
    def made_of(table: Any) -> bool:
        """Whether such a table can be made of it: a text with ranks, or rows."""
        if isinstance(table, str | ByRankAndGrade):
            return ":" in str(table)
        rows = _plain(table.values() if isinstance(table, Mapping) else table)
        return isinstance(rows, Iterable) and any(isinstance(_plain(row), Mapping | list | tuple) for row in rows)

    def content(self) -> tuple[Any, ...]:
        """The numbers by grade, by rank."""
        return ({rank: dict(row.pairs) for rank, row in self.rows},)

    def __hash__(self) -> int:
        return hash(self.rows)

    def __str__(self) -> str:
        return ";".join(f"{rank}:{row}" for rank, row in self.rows)

    def __repr__(self) -> str:
        return f"ByRankAndGrade({str(self)!r})"


class ByFunction(Value):
    """Numbers that a function gives, which no text can spell."""

    function: Callable[..., Any]
    unquoted = True

    def __init__(self, function: Callable[..., Any]) -> None:
        object.__setattr__(self, "function", function)

    def content(self) -> tuple[Any, ...]:
        """The function."""
        return (self.function,)

    def __str__(self) -> str:
        return digest("function", self.function)

    def __repr__(self) -> str:
        return f"ByFunction({self.function!r})"


def _names(code: CodeType) -> list[str]:
    """The names that a function and those within it may look up."""
    inner = [name for part in code.co_consts if isinstance(part, CodeType) for name in _names(part)]
    return sorted({*code.co_names, *inner})


class _Content(pickle.Pickler):
    """The content of objects as bytes: arrays by their numbers, functions by their code and what it holds."""

    def reducer_override(self, x: Any) -> Any:
        if isinstance(x, np.ndarray) and not x.dtype.hasobject:
            return tuple, ((x.dtype.str, x.shape, x.tobytes()),)
        if isinstance(x, FunctionType):
            held = [cell.cell_contents for cell in x.__closure__ or ()]
            names = [name for name in _names(x.__code__) if name in x.__globals__]
            known = [(name, x.__globals__[name]) for name in names if not isinstance(x.__globals__[name], ModuleType)]
            return tuple, ((x.__module__, x.__code__, x.__defaults__, x.__kwdefaults__, held, known),)
        return (tuple, ((x.co_code, x.co_consts, x.co_names),)) if isinstance(x, CodeType) else NotImplemented


def digest(what: str, *contents: Any) -> str:
    """What expressions show of objects that no text can spell: what they are, and a digest of their content.

    >>> digest("matrix", np.eye(2)) == digest("matrix", np.diag([1.0, 1.0])) != digest("matrix", np.eye(3))
    True
    """
    import hashlib  # for such objects only

    pickler = _Content(data := io.BytesIO(), 4)
    pickler.fast = True  # equal bytes of equal content, whichever of its objects are one and the same
    try:
        pickler.dump(contents)
        found = data.getvalue()
    except Exception:  # what cannot be pickled, whatever it raises, is like nothing else
        found = repr([id(x) for x in contents]).encode()
    return f"<{what}:{hashlib.blake2b(found, digest_size=6).hexdigest()}>"


class FormulaOrFunction(Value):
    """A value that is a formula, as text, or a Python function, which prints a digest.

    Attributes
    ----------
    form : str or callable

    Examples
    --------
    >>> from amble.users.effort import Effort
    >>> str(Effort("h+1")), Effort("h+1").unquoted, Effort(np.sqrt).unquoted
    ('h+1', False, True)
    """

    form: str | Callable[..., Any]

    def content(self) -> tuple[Any, ...]:
        """The formula or the function."""
        return (self.form,)

    @property
    def unquoted(self) -> bool:
        """Whether no expression can spell it: a function."""
        return not isinstance(self.form, str)

    def __str__(self) -> str:
        return self.form if isinstance(self.form, str) else digest("function", self.form)
