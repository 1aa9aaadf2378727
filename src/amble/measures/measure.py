"""A measure with its parameters: its name, printing, equality, and the users of a population."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from functools import cached_property
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Self

import numpy as np

from amble.arrays import NDArray
from amble.errors import MeasureError
from amble.expressions.by_topic import ByTopic
from amble.expressions.grammar import plain_value, show_call, show_value
from amble.expressions.populations import Population
from amble.measures.arguments import rebuild
from amble.measures.declaration import REGISTRY, Declaration
from amble.users.protocol import NoExactDistributionError, TiedError

if TYPE_CHECKING:
    from amble.distributions.distribution import Distribution

__all__ = ["Measure", "plain_parameters", "restored"]

Array = NDArray[np.float64]


class Measure(ABC):
    """A measure with its parameters: `value` scores one list or session, ``str`` is its canonical name.

    Examples
    --------
    >>> import amble
    >>> m = amble.parse("AP(rel=1)@100")
    >>> str(m), m.label
    ('AP@100', 'AP(rel=1)@100')
    >>> m.value([1, 0, 1], relevant=2)  # (1/1 + 2/3) / 2
    0.8333333333333333
    """

    typed: str = ""  # the expression as typed
    declaration: Declaration
    values: MappingProxyType[str, Any]  # name and equality rest on them
    cut: int | None
    given: frozenset[str]  # the parameters that were written down, whatever their values
    written: Self | None  # the measure as written, where its parameters make another one of it

    def __init__(
        self,
        declaration: Declaration,
        values: Mapping[str, Any],
        cut: int | None,
        written: Self | None = None,
        given: Iterable[str] = (),
    ) -> None:
        own = {"declaration": declaration, "values": MappingProxyType(dict(values)), "cut": cut}
        vars(self).update(own, given=frozenset(given), written=written)

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"{self}: a measure is never changed; with other parameters it is another, as RBP(p=0.9)")

    def labelled(self, typed: str) -> Self:
        """The same measure with another label in tables; an empty one is the canonical name."""
        out = object.__new__(type(self))
        vars(out).update(vars(self), typed=typed)
        return out

    @property
    def name(self) -> str:
        """The name without parameters."""
        return self.declaration.name

    @property
    def label(self) -> str:
        """The name in tables: the expression as typed, or the canonical name where nothing was typed."""
        return self.typed or str(self)

    @property
    def sign(self) -> float:
        """-1 if less is better, else 1: the score times this is the greater the better, where either is."""
        return -1.0 if self.declaration.less else 1.0

    @property
    def of_intents(self) -> bool:
        """Whether it needs judgments of subtopics."""
        return self.declaration.of_intents

    def __str__(self) -> str:
        return self._text

    @cached_property
    def _text(self) -> str:
        if self.written is not None:
            return str(self.written)
        d = self.declaration
        shown = {key: value for key, value in self.values.items() if value != d.parameters[key].default and key != d.at}
        at = self.values.get(d.at) if d.at else self.cut
        if d.at and at == d.parameters[d.at].default:
            at = None
        return show_call(d.name, shown) + ("" if at is None else f"@{show_value(at)}")

    def __repr__(self) -> str:
        return f"parse({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Measure) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __reduce__(self) -> tuple[Any, ...]:
        written = self.written or self  # amble's own declarations are found by their names
        given, own = tuple(sorted(written.given)), written.declaration.family == "yours"
        of = written.declaration if own else written.name
        return restored, (type(self), of, dict(written.values), written.cut, given, self.typed)

    def __call__(self, /, *values: Any, **parameters: Any) -> Self:
        """The measure with other parameters, ``RBP(p=0.9)``; the first may go without its name, ``RBP(0.9)``."""
        return rebuild(self, values, parameters)

    def __matmul__(self, at: float) -> Self:
        """The measure at a rank, ``nDCG @ 10``, or at whatever ``@`` sets."""
        return rebuild(self, (), {}, at)

    # ---- what every measure can tell

    @abstractmethod
    def scores(self, of: Any) -> Array:
        """The score of every list of `Lists`, or of every entry of `Sessions`."""

    @abstractmethod
    def value(self, grades: Any, **context: Any) -> float:
        """The score of one list, or of one session."""

    @abstractmethod
    def user(self, grades: Any = (), **context: Any) -> Any:
        """The behaviour of the user."""

    @abstractmethod
    def distribution(self, grades: Any, *, users: int = 100_000, seed: int = 0, **context: Any) -> Distribution:
        """The distribution of the score over users."""

    def wrap_errors(self) -> AbstractContextManager[None]:
        """Context in which errors become a `MeasureError` of one line that names the measure.

        So do overflow and division by 0. Unexpected errors in amble's own measures pass, as they are bugs.
        """
        return _Wrapped(self)

    @cached_property
    def members(self) -> tuple[tuple[float, Self], ...]:
        """Weights and measures of the users of a population; only this one where no parameter is a population.

        Where a parameter differs by topic, those of the first topic.
        """
        if self.by_topic:
            return self.at_topic(self.first_topic).members  # as on any of the topics
        return tuple(self.members_on())

    def members_on(self, grid: int | None = None) -> list[tuple[float, Self]]:
        """The same, with so many nodes along each side of a joint distribution."""
        mixed = next((key for key, value in self.values.items() if isinstance(value, Population)), None)
        if mixed is None:
            return [(1.0, self)]
        population, names = self.values[mixed], self.declaration.parameters[mixed].domain.names
        points, weights = population.nodes(grid)
        out = []
        for x, w in zip(points.tolist(), weights.tolist(), strict=True):
            own = {mixed: None, **dict(zip(names, x, strict=True))} if population.is_joint else {mixed: x}
            one = type(self)(self.declaration, self.values | own, self.cut)
            out += [(w * v, inner) for v, inner in one.members_on(grid)]
        return out

    @cached_property
    def is_population(self) -> bool:
        """Whether a parameter differs from user to user, or by topic."""
        return any(isinstance(value, Population | ByTopic) for value in self.values.values())

    @cached_property
    def by_topic(self) -> tuple[str, ...]:
        """The parameters that differ by topic."""
        return tuple(name for name, value in self.values.items() if isinstance(value, ByTopic))

    @cached_property
    def _of_values(self) -> dict[tuple[Any, ...], Self]:
        return {}

    @property
    def first_topic(self) -> str:
        """One of the topics that have parameters of their own."""
        return str(next(iter(self.values[self.by_topic[0]])))

    def at_topic(self, topic: str) -> Self:
        """The measure with the parameters of a topic, where some differ by topic; an error if one has none for it."""
        own = {}
        for name in self.by_topic:
            table = self.values[name]
            if topic not in table:
                raise MeasureError(f"{self}: topic {topic} has no value of {name}, expected one for every topic")
            own[name] = table[topic]
        key = tuple(own.values())
        if key not in self._of_values:
            self._of_values[key] = rebuild(self, (), own) if own else self
        return self._of_values[key]

    def resolve_topic(self, context: Mapping[str, Any]) -> tuple[Self, dict[str, Any]]:
        """The measure with the parameters of the ``topic`` that a context names, and the rest of the context."""
        rest = dict(context)
        if not self.by_topic:
            return self, rest
        if rest.get("topic") is None:
            raise MeasureError(f"{self}: {' and '.join(self.by_topic)} differs by topic; say whose, topic= (--topic)")
        return self.at_topic(str(rest.pop("topic"))), rest

    @property
    def arguments(self) -> dict[str, Any]:
        """The values of the parameters that the declared function itself takes."""
        d = self.declaration
        code = d.function.__code__
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        return {name: self.values[name] for name in names if name in self.values and name not in d.seen}

    def with_value(self, name: str, value: Any) -> Self:
        """The same measure with another value of a parameter."""
        return rebuild(self, (), {name: value})

    def resolve_variant(self) -> Self:
        """The measure that the parameters make of this one, as written; itself where they make no other."""
        if self.declaration.variant is None:
            return self
        if self.by_topic:
            one = self.members[0][1]
            return type(self)(one.declaration, one.values | {n: self.values[n] for n in self.by_topic}, one.cut, self)
        given = frozenset(name for name in self.given if self.values[name] is not None)  # None says nothing
        try:
            declaration, values, cut = self.declaration.variant(self.declaration, dict(self.values), self.cut, given)
        except MeasureError:
            raise
        except Exception as error:
            if self.declaration.family != "yours":
                raise
            raise MeasureError(f"its variant failed with {type(error).__name__}: {error}") from error
        return type(self)(declaration, values, cut, self)


class _Wrapped:
    """The context of `Measure.wrap_errors`."""

    def __init__(self, measure: Measure) -> None:
        self.measure, self.ours = measure, measure.declaration.family != "yours"
        how: Literal["raise", "warn"] = "raise" if self.ours else "warn"
        self.state = np.errstate(over=how, divide=how, invalid=how)

    def __enter__(self) -> None:
        self.state.__enter__()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.state.__exit__(kind, error, at)
        if not isinstance(error, Exception) or isinstance(error, NoExactDistributionError):
            return
        m = self.measure
        if isinstance(error, FloatingPointError):
            raise MeasureError(f"{m}: a parameter or a grade is too extreme to compute with: {error}") from None
        if isinstance(error, TiedError) or (isinstance(error, MeasureError) and m.name not in str(error)):
            raise MeasureError(f"{m}: {error}") from None
        if not isinstance(error, MeasureError) and not self.ours:
            raise MeasureError(f"{m}: its function failed with {type(error).__name__}: {error}") from error


def restored(
    kind: type[Measure],
    of: str | Declaration,
    values: dict[str, Any],
    cut: int | None,
    given: Iterable[str],
    typed: str,
) -> Measure:
    """The measure that was pickled: by its name, or with its declaration, if amble has none of that name."""
    declaration = REGISTRY[of] if isinstance(of, str) else of
    return kind(declaration, values, cut, given=given).resolve_variant().labelled(typed)


def plain_parameters(measure: Measure) -> dict[str, str | int | float | None]:
    """The parameters of a measure as JSON has them: strings, numbers and None, other values as text."""
    return {key: plain_value(value) for key, value in measure.values.items()}
