"""How a measure is declared, once and in one place: its user, its parameters and what is computed.

A declaration is a function with a docstring (the user's story), parameters with their domains, and a few facts: the
question, the map of grades to gains, the reference. The function returns the user. Arguments named ``rank``,
``grade``, ``gain``, ``seen`` (gained so far), ``share`` (of the gain of all documents), ``cost``, ``spent`` (the cost
so far), ``relevant`` and ``available`` (the gain of all documents) are what the user sees at a rank; a function that
takes ``gains`` instead is no user, but computes scores of all lists itself, and one that takes ``sessions`` computes
those of sessions.

From it follow parsing, printing, validation, help, scores of one list or of thousands, the user, the distribution of
the score over users, and the page in the documentation.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterable, Iterator, MutableMapping
from typing import Annotated, Any, NamedTuple, get_args, get_origin

import numpy as np

from amble.arrays import NDArray
from amble.checks import one_of
from amble.errors import MeasureError
from amble.expressions.domains import Domain, Optional, Parameter
from amble.expressions.grammar import Call, parse_call
from amble.measures.gain_maps import GainKind, binary
from amble.users.effort import Effort
from amble.users.protocol import Question

__all__ = ["REGISTRY", "Declaration", "Variant", "measure"]

Array = NDArray[np.float64]
Variant = tuple[Any, dict[str, Any], int | None]  # declaration, values, cut

SEEN = ("rank", "grade", "gain", "seen", "share", "spent", "cost", "relevant", "available")


class Declaration(NamedTuple):
    """A measure as declared, without values of its parameters."""

    name: str
    function: Callable[..., Any]
    parameters: dict[str, Parameter]
    seen: tuple[str, ...]
    question: Question | None
    gain: GainKind
    norm: str | None
    stops: str | None
    aggregate: str
    at: str
    tied: Callable[..., Array] | None
    cite: str
    formula: str
    family: str
    bounded: bool
    variant: Callable[..., Any] | None = None
    walker: Callable[..., Any] | None = None
    rises: bool = False
    cwl_form: str = ""
    less: bool | None = False  # None: neither more nor less is better
    effort: Effort | None = None  # f(H), where a user who walks down divides the gain by it

    @property
    def story(self) -> str:
        """The docstring, in one line a paragraph."""
        return " ".join(docstring(self.function).split())

    @property
    def is_user(self) -> bool:
        """Whether the measure is a user of a list (and not only a number, or a measure of sessions)."""
        return self.question is not None

    @property
    def of_intents(self) -> bool:
        """Whether it is a measure of lists judged by intent."""
        return "intents" in self.seen

    @property
    def of_sessions(self) -> bool:
        """Whether it is a measure of sessions, not of lists."""
        return "sessions" in self.seen


class Registry(MutableMapping[str, Declaration]):
    """Declarations by name, in the order of tables and help; a module is imported when one of its names is used."""

    def __init__(self) -> None:
        self._found: dict[str, Declaration | Callable[[], object]] = {}
        self.parsed: dict[str, Any] = {}  # measures of amble by their expressions, as long as no name is declared

    def expect(self, names: Iterable[str], declare: Callable[[], object]) -> None:
        """Names that a function, called when one of them is used, declares."""
        self._found.update(dict.fromkeys(names, declare))

    def __getitem__(self, name: str) -> Declaration:
        found = self._found[name]
        if not isinstance(found, Declaration):
            found()
            found = self._found[name]
        if not isinstance(found, Declaration):
            raise ImportError(f"{name} is not where the catalogue says")
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._found

    def __setitem__(self, name: str, declaration: Declaration) -> None:
        self._found[name] = declaration
        self.parsed.clear()

    def __delitem__(self, name: str) -> None:
        del self._found[name]
        self.parsed.clear()

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)


REGISTRY = Registry()


def docstring(of: Any) -> str:
    """The docstring of a function or a module, read from the source where ``python -OO`` has dropped it."""
    if of.__doc__ is None and sys.flags.optimize > 1:
        import ast
        import inspect
        import textwrap

        with contextlib.suppress(OSError, TypeError):  # no source
            tree = ast.parse(textwrap.dedent(inspect.getsource(of)))
            return ast.get_docstring(tree if inspect.ismodule(of) else tree.body[0]) or ""  # type: ignore[arg-type]
    return of.__doc__ or ""


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    hints = function.__annotations__
    if any(isinstance(hint, str) for hint in hints.values()):  # `from __future__ import annotations` in a plugin
        import typing

        hints = typing.get_type_hints(function, include_extras=True)
    return hints


def _parameters(function: Callable[..., Any], name: str) -> tuple[tuple[str, ...], dict[str, Parameter]]:
    code, hints = function.__code__, _hints(function)
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    defaults = function.__defaults__ or ()
    first = code.co_argcount - len(defaults)
    seen: list[str] = []
    parameters: dict[str, Parameter] = {}
    for i, argument in enumerate(names):
        hint = hints.get(argument)
        if get_origin(hint) is not Annotated:
            if argument in (*SEEN, "gains", "sessions", "intents"):
                seen.append(argument)
                continue
            raise MeasureError(
                f"{name}: parameter {argument} needs a domain, as in Annotated[float, Between(0, 1), 'what it is']; "
                f"what the user sees is called {', '.join(SEEN)}"
            )
        facts = get_args(hint)[1:]
        domain = next((fact for fact in facts if isinstance(fact, Domain)), None)
        if domain is None:
            raise MeasureError(f"{name}: parameter {argument} has no domain among {facts!r}")
        if i >= code.co_argcount:
            default = (function.__kwdefaults__ or {}).get(argument)
        else:
            default = defaults[i - first] if i >= first else None
        story = next((fact for fact in facts if isinstance(fact, str)), "")
        if default is None and not isinstance(domain, Optional):
            domain = Optional(domain)
        parameters[argument] = Parameter(argument, default, domain, story)
    return tuple(seen), parameters


def measure(
    name: str,
    *,
    question: Question | str | None = None,
    gain: GainKind = binary,
    norm: str | None = None,
    stops: str | None = None,
    aggregate: str = "mean",
    at: str = "",
    tied: Callable[..., Array] | None = None,
    cite: str = "",
    formula: str = "",
    family: str = "yours",
    bounded: bool = True,
    variant: Callable[..., Any] | None = None,
    walker: Callable[..., Any] | None = None,
    rises: bool = False,
    cwl_form: str = "",
    less: bool | None = False,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare a measure.

    Parameters
    ----------
    name : str
        The name of the measure in expressions.
    question : {"order1", "order2", "total", "satisfied", "satisfied2", "markov"}, default None
        What is computed for the user, see `amble.users.Question`; None for a function that computes scores itself.
    gain : GainKind
        ``binary`` (brings the parameter ``rel``), ``graded`` (``gains``), ``scaled`` (grade / ``max_grade``) or
        ``satisfying`` (ERR's probability, with ``max_grade``).
    norm : {"ideal", "relevant"}, default None
        What the score is divided by: the ideal list's, or the number of relevant documents.
    stops : {"gain", "piecewise"}, default None
        The user stops only at documents that gain something, or (``shift``) changes behaviour only there, so that
        nothing need be computed between.
    aggregate : {"mean", "geometric", "sum"}
        How topics become one number.
    at : str
        The parameter that ``@`` sets; without one, ``@k`` ends the list at rank k.
    cite : str
        Key of the reference.
    formula, family : str
        The formula and the family that help and documentation show.
    bounded : bool
        Whether scores lie between 0 and 1.
    variant : callable, optional
        For a measure whose question or user depends on its parameters: takes the declaration, the values, the cut and
        the names of the parameters that were given, refuses those that have no effect, and returns the declaration,
        the values and the cut of the resulting measure.
    walker : callable, optional
        For a measure of sessions that is a user: takes the values and returns the `SessionWalk`.
    rises : bool
        Whether the score never falls if a document gains more, though the user looks at the grades; of users who do not
        look, that is known.
    cwl_form : str
        For the C/W/L report, if the measure is not expected gain over expected effort: ``"found"`` if it is that of
        another user, who stops where this one does, at a relevant document found (AP, RR); or the names of measures
        like it that are.
    less : bool or None
        Whether less is better: only of functions of gains or of sessions, as of what users gain, more is better. None
        if neither is, as of a share of unjudged documents: nothing is called best by it then, and no gate asks whether
        it drops.

    Examples
    --------
    >>> from typing import Annotated
    >>> import amble
    >>> from amble.measures import Between, Forward, measure
    >>> @measure("Hasty", question="order2")
    ... def hasty(rank, p: Annotated[float, Between(0, 1), "patience"] = 0.5):
    ...     '''Goes on with probability p / rank.'''
    ...     return Forward(continuation=p / rank)
    >>> amble.parse("Hasty(p=0.9)").value([1, 0, 1])
    0.6095444685466378
    >>> del amble.measures.REGISTRY["Hasty"]
    """
    try:
        asked = None if question is None else Question(question)
    except ValueError:
        known = ", ".join(one.value for one in Question)
        raise MeasureError(f"{name}: question {question!r}, expected one of {known} or None") from None
    if aggregate not in ("mean", "geometric", "sum"):
        raise MeasureError(f"{name}: aggregate {aggregate!r}, expected mean, geometric or sum")
    one_of(norm, ("ideal", "relevant", None), f"{name}: norm", MeasureError)
    one_of(stops, ("gain", "piecewise", None), f"{name}: stops", MeasureError)

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        if parse_call(name) != Call(name, {}, None):
            raise MeasureError(f"{name!r}: expected the name of a measure, letters and digits")
        ours = function.__module__.startswith(f"{__package__}.catalogue.")
        if not ours and name in REGISTRY and REGISTRY[name].family != "yours":
            raise MeasureError(f"{name}: the name is taken by one of amble's own measures")
        seen, parameters = _parameters(function, name)
        if (asked is None) != ("gains" in seen or "sessions" in seen):
            raise MeasureError(f"{name}: a function of gains or of sessions has no question, a user has one")
        if asked is not None and less is not False:
            raise MeasureError(f"{name}: less={less} is for functions of gains or of sessions, not for a user's gain")
        if asked is None and (len(seen) > 1 or norm is not None):
            raise MeasureError(f"{name}: a function of {seen[0]} sees nothing else, and has no norm")
        at_rank = at or ("k" if "k" in parameters else "")
        parameters |= {p.name: p for p in gain.parameters if p.name not in parameters}
        REGISTRY[name] = Declaration(
            name, function, parameters, seen, asked, gain, norm, stops, aggregate, at_rank,
            tied, cite, formula, family, bounded, variant, walker, rises, cwl_form, less,
        )  # fmt: skip
        return function

    return register
