"""The measures of the C/W/L framework: users who walk down, E[gain] / E[documents].

Gains are grades divided by the largest grade of all the judgments, but RBP's, which are 0 or 1. Users who read on for
ever keep their tail in closed form. `P` is among the classic ones.
"""
# no `from __future__ import annotations`: declarations read their own annotations

from collections.abc import Callable
from typing import Annotated, Any

import numpy as np

from amble.arrays import NDArray
from amble.errors import MeasureError
from amble.expressions.domains import Above, AtLeast, Between, OneOf, Optional, Switch, Whole
from amble.expressions.formulas import Formula, OverRanks
from amble.expressions.values import ByRank
from amble.measures.declaration import Variant, measure
from amble.measures.fitted_parameters import FittedUser, fitted_variant, refuse_beside
from amble.measures.gain_maps import binary, graded_variant, judged, scaled
from amble.users.forward import Forward
from amble.users.protocol import Question
from amble.users.series import Series
from amble.users.tails import Geometric

Array = NDArray[np.float64]

Hoped = Annotated[float, Above(0), "the gain hoped for"]
Needed = Annotated[float, Above(0, smooth=False), "the gain that is enough"]
_C = ByRank("0.8")
_PROBABILITY = Optional(OverRanks(Between(0, 1, closed=True)))
_SHARE = Optional(OverRanks(AtLeast(0)))
_SLACK = 1e-9  # ten gains of 0.1 are a gain of 1


@measure(
    "RBP",
    question="order2",
    gain=binary,
    cite="moffat2008",
    family="cwl",
    variant=fitted_variant("p"),
    formula="(1 - p) x sum over the relevant ranks i of p^(i - 1); finite: divided by 1 - p^N",
)
def rank_biased_precision(
    p: Annotated[float, Between(0, 1), "persistence"] = 0.8,
    finite: Annotated[bool, Switch(), "stop at the end of the list, at the latest"] = False,
    user: Annotated[None, Optional(FittedUser("rbp")), "instead of p: a user fitted to what people did"] = None,
) -> Forward:
    """She goes on with probability p, whatever she has seen."""
    return Forward(continuation=p, beyond="stop" if finite else "endless")


@measure(
    "RBAP",
    question="order1",
    gain=judged,
    cite="carterette2011",
    family="cwl",
    variant=graded_variant,
    formula="sum over all ranks h of (1 - p) p^(h - 1) x precision at h",
)
def rank_biased_average_precision(p: Annotated[float, Between(0, 1), "persistence"] = 0.8) -> Forward:
    """RBP's user, who asks for precision where she stops."""
    return Forward(continuation=p, beyond="endless")


@measure(
    "SDCG",
    question="order2",
    gain=scaled,
    cite="jarvelin2002",
    family="cwl",
    formula="sum over i <= k of gain / log2(i + 1), divided by the sum of 1 / log2(i + 1)",
)
def scaled_dcg(k: Annotated[int, Whole(1), "the last rank that is read"] = 10) -> Forward:
    """DCG's user, who never looks beyond rank k; scaled by her attention, not by an ideal list."""
    return Forward(visits=lambda rank: 1.0 / np.log2(rank + 1.0), depth=k)


@measure(
    "GRBP",
    question="order2",
    gain=scaled,
    cite="moffat2008",
    family="cwl",
    variant=fitted_variant("p"),
    formula="(1 - p) x sum over ranks i of gain x p^(i - 1)",
)
def graded_rbp(
    p: Annotated[float, Between(0, 1), "persistence"] = 0.8,
    user: Annotated[None, Optional(FittedUser("rbp")), "instead of p: a user fitted to what people did"] = None,
) -> Forward:
    """RBP's user, with graded gains."""
    return Forward(continuation=p, beyond="endless")


def _insq_variant(d: Any, values: dict[str, Any], cut: int | None, given: frozenset[str]) -> Variant:
    """INSQ, with T of a fitted user where one is given, who adapts or does not; form goes with adaptive=True."""
    if values["user"] is not None:
        kind = values["user"].model.kind
        own = {"adaptive": kind != "insq", "form": "printed" if kind == "insq-printed" else "figures"}
        if "adaptive" in given and values["adaptive"] != own["adaptive"]:
            does = "adapts" if own["adaptive"] else "does not adapt"
            raise MeasureError(
                f"user and adaptive: the file's T was fitted to a user who {does}; expected one of them, or a model by "
                "its name, as 'fit.toml#insq-adaptive'"
            )
        if "form" in given and own["adaptive"]:
            refuse_beside(given, ["form"])
        values = values | own
    if "form" in given and not values["adaptive"]:
        raise MeasureError("form goes with adaptive=True only")
    return fitted_variant("T")(d, values, cut, given)  # type: ignore[no-any-return]


@measure(
    "INSQ",
    question="order2",
    gain=scaled,
    stops="piecewise",
    cite="moffat2012",
    family="cwl",
    variant=_insq_variant,
    formula="C(i) = ((i + 2T - 1) / (i + 2T))^power; adaptive: T is the gain still hoped for, and i is one more",
)
def inverse_squares(
    seen: Array,
    T: Hoped = 1.0,
    adaptive: Annotated[bool, Switch(), "the gain hoped for sinks with the gain so far"] = False,
    form: Annotated[
        str, OneOf("figures", "printed"), "of the adaptive one: that of the paper's figures, or equation 3 as printed"
    ] = "figures",
    power: Annotated[float, Between(1.01, 100, closed=True), "how fast attention falls with the rank"] = 2.0,
    user: Annotated[
        None,
        Optional(FittedUser("insq", "insq-adaptive", "insq-printed")),
        "instead of T, adaptive and form: a user fitted to what people did",
    ] = None,
) -> Forward:
    """The deeper she is, the likelier she goes on; she expects to read about 2T documents."""
    if not adaptive:
        return Forward(shift=2.0 * T - 1.0, power=power, beyond="endless")
    left = np.maximum(0.0, T - seen)
    return Forward(shift=2.0 * left - (0.0 if form == "figures" else 1.0), power=power, beyond="endless")


@measure(
    "INST",
    question="order2",
    gain=scaled,
    stops="piecewise",
    cite="bailey2015",
    rises=True,
    family="cwl",
    variant=fitted_variant("T"),
    formula="C(i) = ((i + T + T_i - 1) / (i + T + T_i))^2, T_i = T - gain so far",
)
def inst(
    seen: Array,
    T: Annotated[float, AtLeast(0.5), "the gain hoped for"] = 1.0,
    user: Annotated[None, Optional(FittedUser("inst")), "instead of T: a user fitted to what people did"] = None,
) -> Forward:
    """She came with a hope of T, and the more of it is fulfilled, the likelier she stops."""
    return Forward(shift=2.0 * T - seen - 1.0, beyond="endless")


_DECLARED = ("C", "V", "W", "L", "H")


def _cwl_variant(d: Any, values: dict[str, Any], cut: int | None, given: frozenset[str]) -> Variant:
    """CWL by one of its functions, or with the probabilities of a fitted user; an error if the user never stops."""
    declared = [name for name in _DECLARED if name in given]
    if len(declared) > 1:
        raise MeasureError(f"{' and '.join(declared)}: expected one of them, the others follow from it")
    if values["user"] is not None:
        refuse_beside(given, _DECLARED)
        fitted = values["user"]["C"]
        further = fitted[fitted < 1][-1:]  # below, as at the last rank where users stopped
        values = values | {"user": None, "C": ByRank(np.append(fitted, further))}
    elif declared and declared[0] != "C":
        values = values | {"C": None}
    return d._replace(question=Question(f"order{values['order']}")), values, cut


def _by_rank(numbers: Array, further: float) -> Callable[[Array], Array]:
    """The numbers as a function of ranks, with the one that holds further down."""
    table = np.append(numbers, further)
    return lambda rank: table[np.minimum(np.asarray(rank, np.int64), table.size) - 1]


@measure(
    "CWL",
    question="order2",
    gain=scaled,
    cite="moffat2012",
    family="cwl",
    variant=_cwl_variant,
    formula="sum over ranks i of gain x V(i), divided by the sum of V(i); V(i) = C(1) x ... x C(i - 1)",
)
def probabilities_by_rank(
    C: Annotated[Any, _PROBABILITY, "probability of going on after rank i; the last holds"] = _C,
    V: Annotated[Any, _SHARE, "instead: the probability of reaching rank i, or in proportion"] = None,
    W: Annotated[Any, _SHARE, "instead: the share of attention of rank i, or in proportion"] = None,
    L: Annotated[Any, _SHARE, "instead: the probability that rank i is the last, or in proportion"] = None,
    H: Annotated[Any, _PROBABILITY, "instead: the probability of stopping at rank i, 1 - C"] = None,
    order: Annotated[int, OneOf(1, 2), "E[T/H] or E[T]/E[H]"] = 2,
    finite: Annotated[bool, Switch(), "stop at the end of the list, at the latest"] = False,
    user: Annotated[
        None, Optional(FittedUser("continuation")), "instead of C: a user fitted to what people did"
    ] = None,
) -> Forward:
    """After each rank she goes on with a probability of its own, as people were seen to do, perhaps for ever."""
    declared = (("V", V), ("W", W), ("L", L), ("H", H), ("C", C), ("C", _C))
    name, x = next((name, x) for name, x in declared if x is not None)
    if isinstance(x, Formula):
        kind = {"C": "continuation", "H": "continuation", "L": "last"}.get(name, "visits")
        series = Series(kind, (lambda i: 1.0 - x(i)) if name == "H" else x, "C" if name == "H" else name)
        if finite:
            return Forward(visits=series.reach)
        _ = series.total  # may raise
        return Forward(visits=series.reach, beyond="endless", tail=series)
    numbers = np.array(x, np.float64)
    if name in ("C", "H"):
        goes_on = numbers if name == "C" else 1.0 - numbers
        rule, last = _by_rank(goes_on, goes_on[-1]), float(goes_on[-1])
        if finite:
            return Forward(continuation=rule)
        if last >= 1:
            raise MeasureError(
                f"the last probability of {name} is {numbers[-1]:g} and holds further down: the user never stops; "
                f"expected a number {'below 1' if name == 'C' else 'above 0'}"
            )
        return Forward(continuation=rule, beyond="endless", tail=Geometric(last), least=numbers.size)
    visits = np.cumsum(numbers[::-1])[::-1] if name == "L" else numbers
    if visits[0] <= 0:
        raise MeasureError(f"{name} is 0 at rank 1, expected a number above 0")
    out = Forward(visits=_by_rank(visits, 0.0), depth=None if finite else numbers.size)
    _ = out.over(numbers.size)  # may raise
    return out


@measure(
    "BPM",
    question="order2",
    gain=scaled,
    stops="gain",
    cite="zhang2017",
    family="cwl",
    variant=fitted_variant("T", "k"),
    formula="stop at the first rank where the gain so far reaches T, or at rank k",
)
def bejeweled_player(
    seen: Array,
    T: Needed = 1.0,
    k: Annotated[int, Whole(1), "documents read at most"] = 10,
    user: Annotated[None, Optional(FittedUser("bpm")), "instead of T and k: a user fitted to what people did"] = None,
) -> Forward:
    """A player who stops when she has won T, or when her k moves are used up."""
    return Forward(continuation=1.0, depth=k, survival=np.where(seen >= T - _SLACK, 0.0, 1.0))


@measure(
    "BPMD",
    question="order2",
    gain=scaled,
    cite="zhang2017",
    family="cwl",
    formula="as BPM; T and k move by hb and hc times (gain - median) with every document read",
)
def dynamic_player(
    gain: Array,
    seen: Array,
    rank: Array,
    T: Needed = 1.0,
    k: Annotated[int, Whole(1), "documents read at most"] = 10,
    hb: Annotated[float, AtLeast(0, smooth=False), "how much T moves with the gain above or below the median"] = 1.0,
    hc: Annotated[float, AtLeast(0, smooth=False), "how much k moves with it"] = 0.0,
    median: Annotated[float, Between(0, 1, closed=True), "the gain at which T and k do not move"] = 0.5,
) -> Forward:
    """A player whose hope and patience grow with good documents and sink with bad ones."""
    surprise = seen - gain - median * (rank - 1.0)  # before this document
    done = (seen >= T + hb * surprise - _SLACK) | (rank >= k + hc * surprise - _SLACK)
    return Forward(continuation=np.where(done, 0.0, 1.0), beyond="endless")


def _logistic(x: Any) -> Any:
    """1 / (1 + e^x), without overflow."""
    return np.exp(-np.logaddexp(0.0, x))


@measure(
    "IFTGoal",
    question="order2",
    gain=scaled,
    stops="piecewise",
    cite="azzopardi2018",
    family="cwl",
    variant=fitted_variant("T", "R"),
    formula="C(i) = 1 - 1 / (1 + b e^((T - gain so far) R))",
)
def goal_sensitive(
    seen: Array,
    T: Hoped = 2.0,
    b: Annotated[float, Above(0), "rationality"] = 0.9,
    R: Annotated[float, Above(0), "how sharp the reaction is"] = 10.0,
    user: Annotated[
        None, Optional(FittedUser("ift-goal")), "instead of T and R: a user fitted to what people did"
    ] = None,
) -> Forward:
    """A forager who stops when she has found what she wanted; she stops at the end of the list at the latest."""
    return Forward(continuation=_logistic(-(np.log(b) + (T - seen) * R)))


@measure(
    "IFTRate",
    question="order2",
    gain=scaled,
    cite="azzopardi2018",
    family="cwl",
    variant=fitted_variant("A", "R"),
    formula="C(i) = 1 / (1 + b e^((A - gain so far / cost so far) R))",
)
def rate_sensitive(
    seen: Array,
    spent: Array,
    A: Annotated[float, AtLeast(0), "the rate of gain to be had elsewhere"] = 0.2,
    b: Annotated[float, Above(0), "rationality"] = 0.9,
    R: Annotated[float, Above(0), "how sharp the reaction is"] = 10.0,
    user: Annotated[
        None, Optional(FittedUser("ift-rate")), "instead of A and R: a user fitted to what people did"
    ] = None,
) -> Forward:
    """A forager who leaves when the rate of gain falls below what she could have elsewhere."""
    return Forward(continuation=_logistic(np.log(b) + (A - seen / spent) * R), beyond="endless")


@measure(
    "IFT",
    question="order2",
    gain=scaled,
    cite="azzopardi2018",
    family="cwl",
    variant=fitted_variant("T", "R1", "A", "R2"),
    formula="C(i) = that of IFTGoal x that of IFTRate",
)
def goal_and_rate_sensitive(
    seen: Array,
    spent: Array,
    T: Hoped = 2.0,
    b1: Annotated[float, Above(0), "rationality about the goal"] = 0.9,
    R1: Annotated[float, Above(0), "how sharp the reaction to the goal is"] = 10.0,
    A: Annotated[float, AtLeast(0), "the rate of gain to be had elsewhere"] = 0.2,
    b2: Annotated[float, Above(0), "rationality about the rate"] = 0.9,
    R2: Annotated[float, Above(0), "how sharp the reaction to the rate is"] = 10.0,
    user: Annotated[
        None, Optional(FittedUser("ift")), "instead of T, R1, A and R2: a user fitted to what people did"
    ] = None,
) -> Forward:
    """A forager with a goal and a rate: she goes on as long as both say so."""
    goal = _logistic(-(np.log(b1) + (T - seen) * R1))
    return Forward(continuation=goal * _logistic(np.log(b2) + (A - seen / spent) * R2), beyond="endless")


@measure(
    "TBG",
    question="order2",
    gain=scaled,
    cite="smucker2012",
    family="cwl",
    formula="V(i) = 2^(-cost before i / h)",
)
def time_biased(
    cost: Array, spent: Array, h: Annotated[float, Above(0), "half-life, in units of cost"] = 224.0
) -> Forward:
    """Of all users, half are gone after a time of h. (The paper's value is the total: see the C/W/L report.)"""
    return Forward(continuation=np.exp2(-cost / h), beyond="endless")


@measure(
    "U",
    question="order2",
    gain=scaled,
    cite="sakai2013",
    family="cwl",
    formula="V(i) = max(0, 1 - cost before i / L)",
)
def u_measure(
    cost: Array, spent: Array, L: Annotated[float, Above(0), "the greatest length that is read"] = 1000.0
) -> Forward:
    """She reads a text of length L at most, and the weight of what she reads falls evenly to 0."""
    now, after = np.maximum(0.0, 1.0 - (spent - cost) / L), np.maximum(0.0, 1.0 - spent / L)
    return Forward(continuation=np.divide(after, now, out=np.zeros(np.shape(now)), where=now > 0), beyond="endless")


@measure(
    "NERR8",
    question="order2",
    gain=scaled,
    stops="gain",
    cite="azzopardi2021",
    rises=True,
    family="cwl",
    formula="C(i) = 1 - gain for i < k, then 0",
)
def nerr8(gain: Array, k: Annotated[int, Whole(1), "the last rank that is read"] = 10) -> Forward:
    """ERR's user, asked for her rate of gain; she stops at rank k at the latest."""
    return Forward(continuation=1.0, depth=k, survival=1.0 - gain)


@measure(
    "NERR9",
    question="order2",
    gain=scaled,
    stops="gain",
    cite="azzopardi2021",
    rises=True,
    family="cwl",
    formula="C(i) = (i / (i + 1)) (1 - gain) for i < k, then 0",
)
def nerr9(gain: Array, k: Annotated[int, Whole(1), "the last rank that is read"] = 10) -> Forward:
    """ERR's user with the patience of a reciprocal rank."""
    return Forward(visits=lambda rank: 1.0 / rank, depth=k, survival=1.0 - gain)


@measure(
    "NERR10",
    question="order2",
    gain=scaled,
    stops="gain",
    cite="azzopardi2021",
    rises=True,
    family="cwl",
    formula="C(i) = p (1 - gain)",
)
def nerr10(gain: Array, p: Annotated[float, Between(0, 1), "persistence"] = 0.9) -> Forward:
    """ERR's user with RBP's patience."""
    return Forward(continuation=p, beyond="endless", survival=1.0 - gain)


@measure(
    "NERR11",
    question="order2",
    gain=scaled,
    stops="gain",
    cite="azzopardi2021",
    rises=True,
    family="cwl",
    formula="C(i) = ((i + 2T - 1) / (i + 2T))^2 (1 - gain)",
)
def nerr11(gain: Array, T: Hoped = 1.0) -> Forward:
    """ERR's user with INSQ's patience."""
    return Forward(shift=2.0 * T - 1.0, beyond="endless", survival=1.0 - gain)
