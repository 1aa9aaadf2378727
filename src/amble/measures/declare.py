"""A measure is declared once, in one place; everything else about it follows.

A declaration is a function with a docstring (the user's story), parameters with their domains, and a few facts: the
question asked, the map of grades to gains, the reference. The function returns the user (`Forward`). Arguments named
``rank``, ``gain``, ``seen`` and ``relevant`` are what she sees on her way; a function that takes ``gains`` instead is
no user, but computes scores of all lists itself.

From it follow parsing, printing, validation, help, scores of one list or of thousands, the user, the law of her score,
and the page in the documentation.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from typing import Annotated, Any, NamedTuple, get_args, get_origin

import numpy as np
from numpy.typing import ArrayLike, NDArray

from amble.errors import MeasureError
from amble.law import Law
from amble.measures import scoring
from amble.measures.domains import AtLeast, Domain, GainTable, Optional, Whole, checked
from amble.measures.gains import GainMap, Gains, Lists
from amble.measures.grammar import Value, parse_call, show_value
from amble.users.forward import Behaviour, Forward, Geometric

__all__ = ["REGISTRY", "Declaration", "Measure", "Parameter", "measure", "parse"]

Array = NDArray[np.float64]
SEEN = ("rank", "gain", "seen", "relevant")


class Parameter(NamedTuple):
    """One parameter of a measure."""

    name: str
    default: Any
    domain: Domain
    story: str


class GainKind(NamedTuple):
    """A family of maps from grades to gains, with the parameters it brings."""

    parameters: tuple[Parameter, ...]
    make: Callable[[dict[str, Any]], GainMap]


def _binary(values: dict[str, Any]) -> GainMap:
    rel = values["rel"]
    return GainMap(("binary", rel), lambda grades, _: np.where(grades >= rel, 1.0, 0.0))


def _graded(values: dict[str, Any]) -> GainMap:
    kind = values["gains"]
    if kind == "linear":
        return GainMap(("linear",), lambda grades, _: np.maximum(grades, 0.0))
    if kind == "exp":
        return GainMap(("exp",), lambda grades, _: np.where(grades > 0, np.exp2(np.maximum(grades, 0.0)) - 1.0, 0.0))
    table = GainTable.read(kind)

    def gain(grades: Array, _: float) -> Array:
        out = np.maximum(grades, 0.0)
        for grade, its in table.items():
            out[grades == grade] = its
        return out

    return GainMap(("table", kind), gain)


def _satisfying(values: dict[str, Any]) -> GainMap:
    most = values["max_grade"]

    def chance(grades: Array, largest: float) -> Array:
        m = largest if most is None else most
        if most is not None and largest > most:
            raise MeasureError(f"max_grade={most:g}: a grade of {largest:g} exceeds it")
        return np.asarray((np.exp2(np.maximum(grades, 0.0)) - 1.0) / np.exp2(m))

    return GainMap(("satisfying", most), chance)


binary = GainKind((Parameter("rel", 1, AtLeast(0), "the least grade that is relevant"),), _binary)
graded = GainKind((Parameter("gains", "linear", GainTable(), "how a grade becomes a gain"),), _graded)
satisfying = GainKind(
    (Parameter("max_grade", None, Optional(AtLeast(0)), "the largest grade there is; None: of all the judgments"),),
    _satisfying,
)


class Declaration(NamedTuple):
    """What is known of a measure before its parameters are."""

    name: str
    function: Callable[..., Any]
    parameters: dict[str, Parameter]
    seen: tuple[str, ...]
    question: str | None
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

    @property
    def story(self) -> str:
        """The docstring, in one line a paragraph."""
        return " ".join((self.function.__doc__ or "").split())

    @property
    def is_user(self) -> bool:
        """Whether the measure is a user (and not only a number)."""
        return self.question is not None


REGISTRY: dict[str, Declaration] = {}


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
            if argument in (*SEEN, "gains"):
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
    question: str | None = None,
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
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare a measure.

    Parameters
    ----------
    name : str
        What people write.
    question : {"order1", "order2", "total", "satisfied"}, optional
        What is asked of the user; None for a function that computes scores itself.
    gain : GainKind
        ``binary`` (brings the parameter ``rel``), ``graded`` (``gains``) or ``satisfying`` (``max_grade``).
    norm : {"ideal", "relevant"}, optional
        What the score is divided by: the ideal list's, or the number of relevant documents.
    stops : "gain", optional
        The user stops only where she gains something, so nothing need be computed between.
    aggregate : {"mean", "geometric", "sum"}
        How topics become one number.
    at : str
        The parameter that ``@`` sets; without one, ``@k`` means that the user looks no further than rank k.
    cite : str
        Key of the reference.
    formula, family : str
        For people.
    bounded : bool
        Whether scores lie between 0 and 1.

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
    if question is not None and question not in scoring.QUESTIONS:
        raise MeasureError(f"{name}: question {question!r}, expected one of {', '.join(scoring.QUESTIONS)} or None")
    if aggregate not in ("mean", "geometric", "sum"):
        raise MeasureError(f"{name}: aggregate {aggregate!r}, expected mean, geometric or sum")

    def declare(function: Callable[..., Any]) -> Callable[..., Any]:
        if parse_call(name) != (name, {}, None):
            raise MeasureError(f"{name!r}: expected the name of a measure, letters and digits")
        if name in REGISTRY and REGISTRY[name].family != "yours":
            raise MeasureError(f"{name}: the name is taken by one of amble's own measures")
        seen, own = _parameters(function, name)
        if (question is None) != ("gains" in seen):
            raise MeasureError(f"{name}: a function of gains has no question, a user has one")
        parameters = own | {p.name: p for p in gain.parameters if p.name not in own}
        REGISTRY[name] = Declaration(
            name, function, parameters, seen, question, gain, norm, stops, aggregate,
            at or ("k" if "k" in own else ""), tied, cite, formula, family, bounded,
        )  # fmt: skip
        return function

    return declare


class Measure:
    """A measure with its parameters: ``str`` writes it, `value` scores one list, `scores` scores many.

    Examples
    --------
    >>> import amble
    >>> m = amble.parse("AP(rel=1)@100")
    >>> str(m)
    'AP@100'
    >>> m.value([1, 0, 1], relevant=2)  # (1/1 + 2/3) / 2
    0.8333333333333333
    """

    def __init__(self, declaration: Declaration, values: dict[str, Any], cut: int | None) -> None:
        self.declaration = declaration
        self.values = values
        self.cut = cut

    @property
    def name(self) -> str:
        """The name without parameters."""
        return self.declaration.name

    def __str__(self) -> str:
        d = self.declaration
        shown = [
            f"{key}={show_value(value)}"
            for key, value in self.values.items()
            if value != d.parameters[key].default and key != d.at
        ]
        at = self.values.get(d.at) if d.at else self.cut
        if d.at and at == d.parameters[d.at].default:
            at = None
        return d.name + (f"({','.join(shown)})" if shown else "") + ("" if at is None else f"@{show_value(at)}")

    def __repr__(self) -> str:
        return f"parse({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Measure) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    # ---- many lists

    def scores(self, lists: Lists) -> Array:
        """The score of every list."""
        d = self.declaration
        gains = lists.gains(d.gain.make(self.values))
        arguments = {key: self.values[key] for key in self._own()}
        if lists.ties is not None:
            return self._expected(gains, arguments)
        if d.question is None:
            return np.asarray(d.function(gains, **arguments), np.float64)
        if not d.seen:
            user = d.function(**arguments)
            if self._is_static(user):
                return scoring.score_static(user, d.question, gains, self.cut, d.norm)
        function, names = self._function(arguments)
        if d.stops == "gain":
            return scoring.score_sparse(function, names, d.question, gains, self.cut)
        return scoring.score_dense(function, names, d.question, gains, self.cut, d.norm)

    def _own(self) -> Iterable[str]:
        """The parameters that the function itself takes."""
        code = self.declaration.function.__code__
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        return [name for name in names if name in self.values and name not in self.declaration.seen]

    def _is_static(self, user: Forward) -> bool:
        return self.declaration.question in ("order2", "total")

    def _function(self, arguments: dict[str, Any]) -> tuple[Callable[..., Forward], tuple[str, ...]]:
        """The user as a function of what she sees."""
        d = self.declaration
        if d.seen:
            return (lambda **seen: d.function(**seen, **arguments)), d.seen
        user: Forward = d.function(**arguments)

        def fixed(rank: Array) -> Forward:
            wide = max(rank.size, user.depth or 0)
            b = user.over(wide)
            c = b.continuation[: rank.size]
            return Forward(continuation=c, beyond=user.beyond if user.depth is None else "stop")

        return fixed, ("rank",)

    def _expected(self, gains: Gains, arguments: dict[str, Any]) -> Array:
        """The mean over all orders of the tied."""
        d = self.declaration
        if d.question is not None and not d.seen:
            user = d.function(**arguments)
            if self._is_static(user):
                return scoring.score_static(user, d.question, gains, self.cut, d.norm)
        if d.tied is not None:
            return d.tied(gains, self.cut, **arguments)
        raise MeasureError(
            f"{self}: no closed form for ties='expected'; use ties='docno' (P, R, AP, RR, nDCG and every user who "
            f"does not look at the grades have one)"
        )

    # ---- one list

    def _one(self, grades: ArrayLike, context: dict[str, Any]) -> Gains:
        unknown = set(context) - {"relevant", "ideal", "max_grade"}
        if unknown:
            raise MeasureError(
                f"{self}: unknown context {', '.join(sorted(unknown))}; expected relevant, ideal, max_grade"
            )
        rel = float(self.values.get("rel", 1))
        lists = Lists.of_grades(grades, extra_grade=max(rel, 1.0) if rel != 0 else 0.0, **context)
        return lists.gains(self.declaration.gain.make(self.values))

    def value(self, grades: ArrayLike, **context: Any) -> float:
        """Score one list.

        Parameters
        ----------
        grades : array_like
            Grades by rank; NaN where nobody judged.
        relevant : int, optional
            How many relevant documents the topic has; without it, as many as the list.
        ideal : array_like, optional
            The grades of all the topic's judged documents.
        max_grade : float, optional
            The largest grade there is.

        Examples
        --------
        >>> import amble
        >>> amble.parse("P@10").value([1, 0, 1])
        0.2
        >>> round(amble.parse("nDCG").value([0, 2], ideal=[2, 1, 0]), 6)  # (2/log2(3)) / (2 + 1/log2(3))
        0.479625
        """
        return float(self.scores(self._one(grades, context).lists)[0])

    def user(self, grades: ArrayLike = (), **context: Any) -> Behaviour:
        """What the user does on a list: C, V, L, W, expected depth, residual.

        Examples
        --------
        >>> import amble
        >>> amble.parse("RR").user([0, 1, 1]).last
        array([0., 1., 0.])
        >>> round(amble.parse("RBP(p=0.8)").user([1, 0, 1]).expected_depth, 6)
        5.0
        """
        return self._walk(grades, context)[0]

    def _walk(self, grades: ArrayLike, context: dict[str, Any]) -> tuple[Behaviour, Array, Gains]:
        d = self.declaration
        if d.question is None:
            raise MeasureError(f"{self.name} is not a user: it is computed from the whole list at once")
        gains = self._one(grades, context)
        arguments = {key: self.values[key] for key in self._own()}
        if d.seen:
            function, names = self._function(arguments)
            return *scoring.behaviour_on(function, names, gains, 0), gains
        user: Forward = d.function(**arguments)
        behaviour = user.over(int(gains.lists.length[0]))
        gain = np.zeros(behaviour.visits.size)
        gain[gains.position - 1] = gains.gain
        return behaviour, gain, gains

    def walk(self, grades: ArrayLike, **context: Any) -> tuple[Behaviour, Array, float]:
        """What the user does on a list, the gains she meets at each rank, and what her score is divided by."""
        behaviour, gain, gains = self._walk(grades, context)
        norm = self.declaration.norm
        if norm is None:
            return behaviour, gain, 1.0
        return behaviour, gain, float(gains.relevant[0]) if norm == "relevant" else self._ideal(gains)

    def law(self, grades: ArrayLike, **context: Any) -> Law:
        """The law of the score over users: of t / h at the rank h where each stops.

        Its mean is order 1, so for a measure of order 2 (RBP, say) it is not the score. For RR and ERR it is the law
        of 1 / h, with an atom at 0 for those who find nothing.

        Examples
        --------
        >>> import amble
        >>> amble.parse("AP").law([1, 0, 1], relevant=3)
        Law(3 atoms, mean 0.555556, exact)
        """
        behaviour, gain, scale = self.walk(grades, **context)
        question = self.declaration.question
        rank = np.arange(1, gain.size + 1, dtype=np.float64)
        if self.cut is not None:
            gain = np.where(rank <= self.cut, gain, 0.0)
        t = np.cumsum(gain)
        values = {"order1": t / rank, "order2": t / rank, "total": t, "satisfied": 1.0 / rank}[str(question)]
        if self.cut is not None and question in ("order1", "satisfied"):
            values = np.where(rank <= self.cut, values, 0.0)
        probs, left = behaviour.last, behaviour.beyond
        if left > 0 and isinstance(behaviour.after, Geometric):  # she reads on, and gains nothing more
            stops = behaviour.after.stops(left)
            beyond = gain.size + np.arange(1, stops.size + 1)
            values = np.concatenate((values, t[-1] / beyond if question != "total" else np.full(stops.size, t[-1])))
            probs = np.concatenate((probs, stops))
            left = max(0.0, 1.0 - float(probs.sum()))
        if left > 0:  # she leaves with nothing
            values, probs = np.append(values, 0.0), np.append(probs, left)
        return Law(values / scale if scale > 0 else np.zeros(values.size), probs)

    def _ideal(self, gains: Gains) -> float:
        gain, _ = gains.ideal
        arguments = {key: self.values[key] for key in self._own()}
        visits = self.declaration.function(**arguments).over(max(gain.size, 1)).visits[: gain.size]
        if self.cut is not None:
            visits, gain = visits[: self.cut], gain[: self.cut]
        return float(visits @ gain)


# what other programs call it, in lower case and without cut-offs
_ELSEWHERE = {
    "map": "AP", "map_cut": "AP", "average_precision": "AP", "mrr": "RR", "recip_rank": "RR", "reciprocal_rank": "RR",
    "recall": "R", "precision": "P", "prec": "P", "ndcg_cut": "nDCG", "dcg_cut": "DCG", "iprec_at_recall": "IPrec",
    "11pt_avg": "IPrecAvg", "set_f": "F", "f1": "F", "set_p": "P", "set_recall": "R", "set_map": "SetAP",
    "gm_map": "GMAP", "gm_bpref": "GMbpref", "num_ret": "NumRet", "num_rel": "NumRel", "num_rel_ret": "NumRelRet",
    "num_q": "NumQ", "relative_p": "RelP", "rprec_mult": "Rprec", "hit_rate": "Success", "hits": "Success",
    "unj": "Unjudged", "rbp_resid": "RBPresid", "compatibility": "Compat",
}  # fmt: skip


def _suggest(word: str, words: Iterable[str]) -> str:
    names = list(words)
    known = _ELSEWHERE.get(word.lower().rstrip("0123456789").rstrip("_.")) or _ELSEWHERE.get(word.lower())
    if known in names:
        return f"; did you mean {known}?"
    lower = {name.lower(): name for name in names}
    close = [lower[word.lower()]] if word.lower() in lower else difflib.get_close_matches(word, names, 3, 0.6)
    return f"; did you mean {' or '.join(close)}?" if close else ""


def parse(text: str | Measure) -> Measure:
    """Read a measure: ``nDCG@10``, ``RBP(p=0.8)``, ``AP(rel=2)``.

    Parameters
    ----------
    text : str
        A name, parameters in parentheses, and ``@`` with a rank (or whatever the measure has there).

    Raises
    ------
    MeasureError
        With what is allowed, and what may have been meant.

    Examples
    --------
    >>> import amble
    >>> amble.parse("P@10")
    parse('P@10')
    >>> amble.parse("nDGC@10")
    Traceback (most recent call last):
    ...
    amble.errors.MeasureError: 'nDGC@10': no measure is called nDGC; did you mean nDCG or RnDCG?
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
            values[d.at] = checked(d.name, f"@, {d.at}", d.parameters[d.at].domain, call.at)
        elif d.question is None:
            raise MeasureError(f"{text!r}: {d.name} takes no '@', it looks at the whole list")
        else:
            cut = checked(d.name, "@, the rank", Whole(1), call.at)
    return Measure(d, values, cut)
