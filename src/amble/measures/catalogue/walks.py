"""P@H: users who walk back and forth, and the classic measures as users of the same kind (Ferrante and Ferro, 2020)."""
# no `from __future__ import annotations`: declarations read their own annotations

from collections.abc import Callable, Mapping
from numbers import Real
from typing import Annotated, Any

import numpy as np

from amble.arrays import NDArray
from amble.errors import MeasureError
from amble.expressions.domains import (
    Above,
    AtLeast,
    Between,
    Domain,
    Form,
    GainTable,
    Joint,
    Numbers,
    OneOf,
    Optional,
    Parameter,
    Probability,
)
from amble.expressions.grammar import show_value
from amble.expressions.populations import Population
from amble.expressions.values import ByGrade, ByRank
from amble.measures.declaration import REGISTRY, Declaration, Variant, measure
from amble.measures.fitted_parameters import FittedOrChain, FittedParameters, FittedUser, is_fit, refuse_beside
from amble.measures.gain_maps import GainKind, binary, graded
from amble.rankings.lists import GainMap
from amble.users.effort import Effort
from amble.users.forward import Forward
from amble.users.protocol import Question
from amble.users.timing import Timing
from amble.users.utility import Utility
from amble.users.walk import Walk

Array = NDArray[np.float64]
_EFFORT = Effort("h")
_UTILITY = (
    "a string of the shares of the gain that visits bring, as '1,0.5,0.1', or of what they bring by grade, as "
    "'1=1,0.5;2=3,1' (the last hold further on), or the name of a file with such lines"
)
_TIME = "time"  # the effort that a Timing says


def _effort(form: Any) -> Effort | str:
    return form if form == _TIME or isinstance(form, Effort) else Effort(form)


class Seconds(Domain):
    """Mean seconds of a visit: a number, ``'12,8,5'`` by rank, ``'0=4,1=20'`` by grade, ``'costs'``, or a fit file."""

    accepts = "float | str | Sequence[float] | Mapping[float, float]"
    text = (
        "seconds above 0: one number, by rank, as '12,8,5' (the last holds further down), by grade, as '0=4,1=20', "
        "'costs', or the name of a file of `amble fit` with a times model, as 'fit.toml#times'"
    )

    def check(self, value: Any) -> float | ByRank | ByGrade | str | FittedParameters:
        """The number, the numbers by rank or grade, the word, or what was fitted."""
        if isinstance(value, Real):
            return Above(0).check(value)
        if is_fit(value):
            return FittedUser("times").check(value)
        return Timing(value).seconds


def _gain(values: Mapping[str, Any]) -> GainMap:
    utility = values["utility"]
    if utility is not None and utility.rows:  # g(k, y) of the grade y itself
        return GainMap(
            ("utility", utility), lambda y, _: np.where(utility.values(y, 1)[:, 0] > 0, np.maximum(y, 0.0), 0.0)
        )
    return binary.make(values) if values["gains"] is None else graded.make(values)


walked = GainKind(
    (
        Parameter("rel", 1, AtLeast(0, smooth=False), "the least grade that is relevant, where gains is None"),
        Parameter("gains", None, Optional(GainTable()), "how a grade becomes a gain; None: 1 if relevant, else 0"),
    ),
    _gain,
)


def _ph_variant(d: Declaration, values: dict[str, Any], cut: int | None, given: frozenset[str]) -> Variant:
    """PH as its parameters have it: the walk, of order 1 or 2, or a classic measure."""
    if isinstance(values["user"], FittedParameters):
        refuse_beside(given, ["p", "q", "first", "start", "model"])
        if values["user"].model.kind == "chain":
            refuse_beside(given, ["end", "per"], "a chain needs no")
        values = values | _fitted(values["user"])
    elif values["user"] is not None:
        refuse_beside(given, ["p", "q", "first", "start", "end", "per", "model"], "a chain needs no")
    model, order = values["model"], values["order"]
    if values["effort"] is None:
        values = values | {"effort": Effort("1") if model == "DCG" else _EFFORT}
    has_seconds = getattr(values["user"], "seconds", None) is not None  # a chain
    if has_seconds and "seconds" in given:
        raise MeasureError("user and seconds: expected one of them, the chain has seconds by state")
    if values["effort"] == _TIME and values["seconds"] is None and not has_seconds:
        raise MeasureError("effort='time' needs seconds, the mean time of a visit, as seconds='12,8,5'")
    for name in {"seconds", "timing", "overhead"} & given if values["effort"] != _TIME else ():
        raise MeasureError(f"{name}={show_value(values[name])} has no effect without effort='time'")
    if isinstance(values["seconds"], FittedParameters):
        values = values | {"seconds": ByRank(1.0 / np.atleast_1d(values["seconds"]["mu"]))}
    if model is None:
        if "base" in given:
            raise MeasureError("base goes with model='DCG' only")
        by_grade = values["utility"] is not None and values["utility"].rows
        beside = ("loss", "rel", "gains") if by_grade else ("loss",)  # what a utility says
        apart = [("rel", "gains"), ("pqs", "p"), ("pqs", "q"), ("pqs", "user")]
        for one, other in (*apart, *((name, "utility") for name in beside)):
            if {one, other} <= given:
                raise MeasureError(f"{one} and {other}: expected one of them")
        if "per" in given and order != 2:
            raise MeasureError(f"per={values['per']!r} is about order 2, expected order=2")
        if values["end"] == "nothing":
            raise MeasureError("end='nothing' is for model='AP' and 'ERR'; a walk ends with 'stop' or 'endless'")
        return d._replace(question=Question(f"order{order or 1}")), values, cut
    if values["effort"] == _TIME:
        raise MeasureError(
            f"effort='time' is of walks, not of model={model!r}; expected an effort such as 'h' or 'h^2'"
        )
    used = {
        "P": ("rel", "order", "effort"),
        "AP": ("rel", "order", "effort"),
        "RBP": ("rel", "order", "effort", "p", "end"),
        "DCG": ("gains", "base", "order", "effort"),
        "ERR": ("order", "effort", "end"),
    }[model]
    for name, value in values.items():
        if name in given and name not in (*used, "model"):
            raise MeasureError(
                f"{name}={show_value(value)} has no effect with model={model!r}, expected only {', '.join(used)}"
            )
    classic, effort = REGISTRY[model], values["effort"]
    own = {name: p.default for name, p in classic.parameters.items()}
    own |= {name: values[name] for name in ("rel", "p", "base") if name in own and name in used}
    order = order or (2 if model in ("P", "RBP") else 1)
    if model == "DCG" and effort.power == 0:
        order = 2  # f is 1, and both orders are E[T]
    question = ("satisfied", "satisfied2")[order - 1] if model == "ERR" else f"order{order}"
    d = classic._replace(question=Question(question), effort=effort)
    if order == 2 or effort != _EFFORT:  # not what AP and ERR have quicker ways for
        d = d._replace(stops=d.stops if order == 1 else None, tied=None, cwl_form="")
    if model == "P":
        return d, own | {"k": cut}, None
    if model == "RBP":
        if values["end"] == "nothing" or not isinstance(values["p"], float | Population):
            raise MeasureError("model='RBP': expected one number p, and end='stop' or 'endless'")
        own["finite"] = values["end"] == "stop"
    if model == "DCG":
        own["gains"] = values["gains"] or "linear"
    if model == "ERR" and values["end"] == "endless":
        raise MeasureError("model='ERR': expected end='nothing', as everywhere, or 'stop', as FF20 has it")
    if model == "ERR" and values["end"] == "stop":
        d = d._replace(function=_err_to_the_end, stops=None)
    return d, own, cut


def _fitted(user: FittedParameters) -> dict[str, Any]:
    """The parameters of a fitted walk, as those of PH; or the chain that was fitted."""
    from amble.users.fitted import is_move, step_rule  # for fitted users only

    estimates = user.model.estimates
    if user.model.kind == "chain":
        from amble.users.chain import Chain

        moves = {("top" if name == "top" else int(name)): float(user[name]) for name in estimates if is_move(name)}
        total = max(sum(moves.values()), 1.0)  # probabilities written with few digits
        start = user["start"].tolist() if "start" in estimates else None
        shares = {move: share / total for move, share in moves.items()}
        return {"user": Chain.from_moves(shares, first=user.model.first, start=start)}
    p, q = user["p"], user["q"]
    over = np.maximum(p + q, 1.0)  # probabilities written with few digits
    grades = estimates["p"].grades or estimates["q"].grades
    out: dict[str, Any] = {"user": None, "first": user.model.first}
    out |= {"p": step_rule(p / over, grades), "q": step_rule(q / over, grades)}
    if "start" in estimates:
        out["start"] = user.by_rank("start")
    return out


def _err_to_the_end(gain: Array) -> Forward:
    """ERR's user, satisfied at the end of the list at the latest."""
    return Forward(continuation=1.0 - gain, beyond="stop")


@measure(
    "PH",
    question="order1",
    gain=walked,
    cite="ferrante2020",
    family="walks",
    variant=_ph_variant,
    bounded=False,
    formula="E[T / f(H)] or E[T] / E[f(H)] for H visits; the k-th to a document is worth gain x (1 - loss)^(k - 1)",
)
def walk(
    p: Annotated[float | ByRank | ByGrade, Probability(), "the probability of going forward"] = 0.5,
    q: Annotated[float | ByRank | ByGrade, Probability(), "the probability of going back"] = 0.25,
    loss: Annotated[float, Between(0, 1, closed=True), "what is lost of a document's gain with every visit"] = 0.25,
    utility: Annotated[
        Utility | None,
        Optional(Form(Utility.read, _UTILITY, object)),
        "instead of loss: what each visit is worth, as a share of the gain or by grade",
    ] = None,
    effort: Annotated[
        Effort | str | None,
        Optional(Form(_effort, "'h', 'h+1', 'h^2', 'sqrt', 'log' (log2(h + 1)), '1' or 'time'", Callable)),
        "f(h), what the gain is divided by; or the time of the visits; None: h (1 for DCG)",
    ] = None,
    order: Annotated[int | None, Optional(OneOf(1, 2)), "E[T / f(H)] or E[T] / E[f(H)]; None: 1 (2 for RBP)"] = None,
    first: Annotated[
        str, OneOf("forward", "stop"), "at rank 1, instead of going back: go forward, or stop"
    ] = "forward",
    start: Annotated[
        ByRank | None,
        Optional(Numbers(domain=AtLeast(0))),
        "probabilities of starting at rank 1, 2, …; None: at rank 1",
    ] = None,
    end: Annotated[
        str | None,
        Optional(OneOf("stop", "nothing", "endless")),
        "at the end of the list: stop, leave with nothing, or go on for ever; None: as the model has it",
    ] = None,
    per: Annotated[
        str, OneOf("list", "endless"), "order 2 divides by the visits on this list, or on an endless one"
    ] = "list",
    model: Annotated[
        str | None, Optional(OneOf("P", "AP", "RBP", "DCG", "ERR")), "a classic measure as a user; None: the walk"
    ] = None,
    base: Annotated[float, Above(1), "of the logarithm in model='DCG'"] = 2,
    pqs: Annotated[
        Population | None,
        Optional(Joint("p", "q")),
        "instead of p and q: the distribution over users of p, q and the probability of stopping, "
        "as Dirichlet(20,10,10)",
    ] = None,
    user: Annotated[
        None,
        Optional(FittedOrChain("walk", "chain")),
        "instead of p, q, first and start: a user fitted to what people did, or a chain",
    ] = None,
    seconds: Annotated[
        Any, Optional(Seconds()), "with effort='time': the mean seconds of a visit, by rank, grade or cost, or fitted"
    ] = None,
    timing: Annotated[
        str,
        Form(lambda law: Timing.read_law(law)[0], "'exponential', 'fixed' or 'gamma(2)', with its shape"),
        "with effort='time': the law of the time of a visit",
    ] = "exponential",
    overhead: Annotated[float, AtLeast(0), "with effort='time': seconds that are spent anyway"] = 0,
) -> Any:
    """She goes forward, back, or stops; what is seen again is worth less, and her gain is divided by her effort."""
    if user is not None:
        timed = Timing(1.0 if seconds is None else seconds, timing, overhead) if effort == _TIME else None
        return user.asked(utility or Utility(loss), effort if isinstance(effort, Effort) else _EFFORT, timed)
    return Walk(
        p,
        q,
        first=first,
        start=start,
        beyond="endless" if end == "endless" else "stop",
        utility=utility or Utility(loss),
        effort=effort if isinstance(effort, Effort) else None,
        per=per,
        timing=Timing(seconds, timing, overhead) if effort == _TIME else None,
    )
