"""Measures of sessions that weigh documents by query and rank: MsM, session DCG, RBP, U and INSQ, and plain means.

MsM and session RBP are users who walk through the session (`users.session_user`); so are those of
`catalogue.sessions_expected`. All three are one user: forward with p, back with q, on to the next query with r, stop
with s. Session RBP's has q = 0 and endless lists, the expected measures' has q = 0 and stops at the end of the last
list.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Annotated, Any

import numpy as np

from amble.arrays import Array, Ints
from amble.errors import MeasureError, NormalisedWarning
from amble.expressions.domains import Above, AtLeast, Between, Form, OneOf, Optional, Switch
from amble.expressions.grammar import show_value
from amble.expressions.populations import Population
from amble.measures.declaration import Variant, measure
from amble.measures.fitted_parameters import FittedParameters, FittedUser, fitted_variant, is_fit, refuse_beside
from amble.measures.gain_maps import graded, scaled
from amble.measures.measure import Measure
from amble.measures.session_measure import SessionGains, SessionSum
from amble.rankings.lists import Lists
from amble.users.session_target import CarriedTarget
from amble.users.session_user import SessionWalk

__all__ = ["AUTHORS", "gains_inside", "lists_of", "parse_list_measure"]

# p, q, r, s of the users that MsM's authors compared: forward only or back, too; impatient, balanced or patient; down
# the list, balanced, or on to the next query
AUTHORS = {
    "fwd_imp_down": (0.6, 0.0, 0.1, 0.3), "fwd_imp_bal": (0.35, 0.0, 0.35, 0.3), "fwd_imp_reform": (0.1, 0.0, 0.6, 0.3),
    "fwd_bal_down": (0.8, 0.0, 0.1, 0.1), "fwd_bal_bal": (0.45, 0.0, 0.45, 0.1), "fwd_bal_reform": (0.1, 0.0, 0.8, 0.1),
    "fwd_pat_down": (0.9, 0.0, 0.09, 0.01), "fwd_pat_bal": (0.5, 0.0, 0.49, 0.01),
    "fwd_pat_reform": (0.1, 0.0, 0.89, 0.01), "bck_imp_down": (0.5, 0.1, 0.1, 0.3), "bck_imp_bal": (0.3, 0.1, 0.3, 0.3),
    "bck_imp_reform": (0.1, 0.1, 0.5, 0.3), "bck_bal_down": (0.7, 0.1, 0.1, 0.1), "bck_bal_bal": (0.4, 0.1, 0.4, 0.1),
    "bck_bal_reform": (0.1, 0.1, 0.7, 0.1), "bck_pat_down": (0.8, 0.1, 0.09, 0.01),
    "bck_pat_bal": (0.45, 0.1, 0.44, 0.01), "bck_pat_reform": (0.1, 0.1, 0.79, 0.01),
    "yandex_log": (0.61, 0.11, 0.27, 0.11),
}  # fmt: skip


class AuthorsOrFitted(FittedUser):
    """One of the authors' users, or fitted ones."""

    accepts = "str"

    def __init__(self) -> None:
        super().__init__("session")
        self.text = f"one of {', '.join(map(repr, AUTHORS))}, or {self.text}"

    def check(self, value: Any) -> Any:
        """The name, or the parameters of the model; a file is read."""
        if is_fit(value):
            return super().check(value)
        if value not in AUTHORS:
            raise ValueError
        return value


def _probabilities(values: dict[str, Any]) -> tuple[float, float, float, float]:
    """p, q, r and s: those given, or those of one of the authors' users as they are."""
    if values["user"] is None:
        return values["p"], values["q"], values["r"], values["s"]
    return AUTHORS[values["user"]]


def _walker(values: dict[str, Any]) -> SessionWalk:
    probabilities = _probabilities(values)
    if values["user"] == "yandex_log":
        total = sum(probabilities)
        if not values["program"]:
            warnings.warn(
                f"MsM(user='yandex_log'): its probabilities sum to {total:.2f} in the authors' file; divided by that",
                NormalisedWarning,
                stacklevel=2,
            )
        probabilities = tuple(x / total for x in probabilities)  # type: ignore[assignment]
    return SessionWalk(*probabilities)


def _msm_variant(declaration: Any, values: dict[str, Any], cut: int | None, given: frozenset[str]) -> Variant:
    """MsM as it is; an error for parameters without effect and for probabilities that do not go together."""
    if isinstance(values["user"], FittedParameters):
        refuse_beside(given, "pqrs")
        found = np.array([float(values["user"][name]) for name in "pqrs"])
        own = dict(zip("pqrs", (found / found.sum()).tolist(), strict=True))  # written with few digits
        values = values | own | {"user": None}
    elif values["user"] is not None and given & {"p", "q", "r", "s"}:
        other = ", ".join(name for name in "pqrs" if name in given)
        raise MeasureError(f"user={values['user']!r} has probabilities of its own: without {other}")
    if "program" in given and values["user"] != "yandex_log":
        raise MeasureError("program goes with user='yandex_log' only")
    if not any(isinstance(x, Population) for x in values.values()):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NormalisedWarning)  # given when scores are computed
            _walker(values)
    return declaration, values, cut


def _reach_of_program(probabilities: tuple[float, float, float, float], n: int) -> Array:
    """1 - h_F for lists of 0 to n documents as the authors' program has it, with probabilities that may not sum to 1.

    It scales the first and the last row only. phi_k is the probability to stop before getting from k to k + 1.
    """
    p, q, r, s = probabilities
    out = np.full(n + 1, r / (r + s))
    f, phi = p / (p + r + s), s / (p + r + s)
    reach, stopped = f, phi
    end = q + r + s
    for k in range(2, n + 1):
        out[k] = 1.0 - (stopped + reach * (s / end + q / end * phi) / (1.0 - q / end * f))
        pivot = 1.0 - q * f
        f, phi = p / pivot, (s + q * phi) / pivot
        stopped += reach * phi
        reach *= f
    return out


def _before(seen: SessionGains, of_query: Array) -> Array:
    """The sum over the queries of a session before each."""
    # turn by turn: the difference of running sums over all sessions would lose digits to the sessions before
    s = seen.sessions
    out = np.zeros(of_query.size)
    queries = np.diff(s.first)
    for turn in range(1, int(queries.max(initial=0))):
        here = s.first[:-1][queries > turn] + turn
        out[here] = out[here - 1] + of_query[here - 1]
    return out


@measure(
    "MsM", gain=graded, cite="vandijk2019", family="sessions", bounded=False, walker=_walker,
    variant=_msm_variant,
    formula="sum over queries j of (r/(r+s))^(j-1) sum over ranks i of gain / (1 + t), t = e(i) + (j-1) e_Q; "
    "discount='log': 1 + ln(1 + t)",
)  # fmt: skip
def msm(
    sessions: SessionGains,
    p: Annotated[float, Between(0, 1, closed=True), "probability to go forward"] = 0.6,
    q: Annotated[float, Between(0, 1, closed=True), "probability to go back"] = 0.1,
    r: Annotated[float, Between(0, 1, closed=True), "probability to ask the next query"] = 0.2,
    s: Annotated[float, Between(0, 1, closed=True), "probability to stop"] = 0.1,
    discount: Annotated[
        str, OneOf("linear", "log"), "by how many steps a document is away, or their logarithm"
    ] = "linear",
    user: Annotated[
        str | None,
        Optional(AuthorsOrFitted()),
        "instead of p, q, r, s: one of the authors' users, or one fitted to what people did",
    ] = None,
    lengths: Annotated[str, OneOf("own", "longest"), "lists as long as they are, or as the session's longest"] = "own",
    published: Annotated[
        bool, Switch(), "the appendix to the letter: t = e(i) + e_Q in every query, log to base 10"
    ] = False,
    program: Annotated[
        bool, Switch(), "probabilities of 'yandex_log' as the authors' program uses them, not scaled"
    ] = False,
) -> SessionSum:
    """She goes down a list or back, on to the next query, or stops; what takes her longer to reach counts less.

    The grade is the gain, and nothing is divided by an ideal. Each list has its own e_Q where lists differ in length;
    an empty list takes a step, as one with a single document does.
    """
    values = {"p": p, "q": q, "r": r, "s": s, "user": user, "program": program}
    walk = _walker(values)
    data, n = sessions.sessions, sessions.lengths
    if lengths == "longest":
        n = np.maximum.reduceat(n, data.first[:-1])[data.entry_of_query]
    most = int(n.max(initial=0))
    times, leaving = walk.times(most), walk.leaving(most)[n]
    if program:
        share = np.log(_reach_of_program(_probabilities(values), most))[n]
        reach = np.exp(_before(sessions, share))
    else:
        reach = walk.onward**data.turn
    away = leaving if published else _before(sessions, leaving)
    hits = sessions.hits
    query = data.query[hits]
    rank = data.position[hits] - 1
    t = times[rank] + away[query]
    if discount == "log":
        t = np.where(np.isfinite(t), np.log1p(t), walk.magnitudes(most)[rank])
        if published:
            t = t / np.log(10.0)
    return SessionSum(sessions.gain[hits] * reach[query] / (1.0 + t), reach[query])


def _srbp_walker(values: dict[str, Any]) -> SessionWalk:
    p, b = values["p"], values["b"]
    return SessionWalk(b * p, 0.0, p - b * p, 1.0 - p, endless=True)


@measure(
    "sRBP", gain=scaled, cite="lipani2019", family="sessions", walker=_srbp_walker, variant=fitted_variant("p", "b"),
    formula="(1-p) sum over queries j of ((p - b p)/(1 - b p))^(j-1) sum over ranks i of (b p)^(i-1) gain",
)  # fmt: skip
def srbp(
    sessions: SessionGains,
    p: Annotated[float, Between(0, 1), "persistence: the probability to go on, down or to the next query"] = 0.8,
    b: Annotated[float, Between(0, 1), "balance: the share of those who go on that go down the list"] = 0.7,
    user: Annotated[
        None, Optional(FittedUser("session-rbp")), "instead of p and b: a user fitted to what people did"
    ] = None,
) -> SessionSum:
    """She goes on with probability p: down the list with share b, else to the next query; her rate of gain."""
    walk = _srbp_walker({"p": p, "b": b})
    data, hits = sessions.sessions, sessions.hits
    reach = np.asarray(walk.onward ** data.turn[data.query[hits]], np.float64)
    weight = reach * walk.p ** (data.position[hits] - 1.0)
    return SessionSum(sessions.gain[hits] * weight, reach, lambda total: walk.s * total)


def _dcg_discount(rank: Array, turn: Array, b: float, bq: float, ranks: str) -> Array:
    """The divisor of a gain at a rank (from 1) of a query (from 0)."""
    logs = np.log(rank) / np.log(b)
    within = np.maximum(logs, 1.0) if ranks == "max" else 1.0 + logs
    return np.asarray(within * (1.0 + np.log(turn + 1.0) / np.log(bq)))


_B = Annotated[float, Above(1), "base of the logarithm over ranks"]
_BQ = Annotated[float, Above(1), "base of the logarithm over queries"]
_RANKS = Annotated[
    str,
    OneOf("max", "plus"),
    "'max': divided by log_b(i) from rank b on (Järvelin et al.); 'plus': by 1 + log_b(i) (TREC Dynamic Domain)",
]


@measure(
    "sDCG", gain=graded, cite="jarvelin2008", family="sessions", bounded=False,
    formula="sum over queries j of (1 / (1 + log_bq j)) sum over ranks i of gain / max(1, log_b i)",
)  # fmt: skip
def sdcg(sessions: SessionGains, b: _B = 2.0, bq: _BQ = 4.0, ranks: _RANKS = "max") -> SessionSum:
    """DCG of every query, the later ones discounted again: it took the user work to ask them."""
    data, hits = sessions.sessions, sessions.hits
    turn = data.turn[data.query[hits]].astype(np.float64)
    by = _dcg_discount(data.position[hits].astype(np.float64), turn, b, bq, ranks)
    reach = np.asarray(1.0 / (1.0 + np.log(turn + 1.0) / np.log(bq)), np.float64)
    return SessionSum(sessions.gain[hits] / by, reach)


@measure(
    "nsDCG", gain=graded, cite="kanoulas2011", family="sessions",
    formula="sDCG / sDCG of the best session with lists as long as these",
)  # fmt: skip
def nsdcg(sessions: SessionGains, b: _B = 2.0, bq: _BQ = 4.0, ranks: _RANKS = "max") -> SessionSum:
    """Session DCG, divided by that of the best session.

    In the best session the judged documents stand in their best places: the ideal list in every query where documents
    that are shown again count again, each document once otherwise.
    """
    data = sessions.sessions
    best = np.zeros(data.n)
    for e in range(data.n):
        ideal = sessions.ideal(int(data.topic[e]))
        lengths = sessions.lengths[data.first[e] : data.first[e + 1]]
        by = [
            1.0 / _dcg_discount(np.arange(1.0, min(int(n), ideal.size) + 1), np.float64(j), b, bq, ranks)  # type: ignore[arg-type]
            for j, n in enumerate(lengths)
        ]
        if data.repeats == "every":
            best[e] = sum(float(w @ ideal[: w.size]) for w in by)
        else:
            places = np.sort(np.concatenate(by))[::-1][: ideal.size]
            best[e] = float(places @ ideal[: places.size])
    score: SessionSum = sdcg(sessions, b, bq, ranks)
    return score._replace(finish=lambda total: np.divide(total, best, out=np.zeros(data.n), where=best > 0))


@measure(
    "sU", gain=scaled, cite="sakai2013", family="sessions", bounded=False,
    formula="sum of gain max(0, 1 - read / L), read: what was read up to the document, in all queries",
)  # fmt: skip
def session_u(
    sessions: SessionGains,
    L: Annotated[float, Above(0), "the greatest length that is read, in documents"] = 30.0,
    query: Annotated[float, AtLeast(0), "what a query costs, in documents"] = 0.0,
) -> SessionSum:
    """She reads all that is shown, query after query; the weight of what she reads falls evenly to 0."""
    data, hits = sessions.sessions, sessions.hits
    before = _before(sessions, np.asarray(sessions.lengths + query, np.float64)) + query
    read = before[data.query[hits]] + data.position[hits]
    return SessionSum(sessions.gain[hits] * np.maximum(0.0, 1.0 - read / L), np.ones(hits.size))


def _target_reader(values: dict[str, Any]) -> CarriedTarget:
    return CarriedTarget(values["T"], values["reform"], values["form"])


@measure(
    "sINSQ", gain=scaled, cite="moffat2012", family="sessions", walker=_target_reader,
    formula="E[gain] / E[documents]; C(i) = ((i + 2 T_i) / (i + 2 T_i + 1))^2, T_i = max(0, T - gain in the session so "
    "far); the next query follows with probability reform T_i / T",
)  # fmt: skip
def session_insq(
    sessions: SessionGains,
    T: Annotated[float, Above(0), "the gain hoped for in the whole session"] = 1.0,
    reform: Annotated[
        float, Between(0, 1, closed=True), "probability to ask the next query, having left a list with nothing found"
    ] = 1.0,
    form: Annotated[
        str, OneOf("figures", "printed"), "C as behind the paper's figures, or its equation 3 as printed"
    ] = "figures",
) -> SessionSum:
    """She came with a hope of T; what a query leaves of it she takes to the next, and with nothing left she stops.

    With a single query it is INSQ(adaptive=True), whose user reads on below the list. The paper's Table 3 says in words
    what she does after that; the probability of asking again, in proportion to what is missing, is amble's.
    """
    data, hits = sessions.sessions, sessions.hits
    reach, weight, depth = np.zeros(data.length_of_query.size), np.zeros(hits.size), np.zeros(data.n)
    reader = CarriedTarget(T, reform, form)
    entry = data.entry_of_query[data.query[hits]]
    starts = np.searchsorted(entry, np.arange(data.n + 1))
    for e in range(data.n):
        queries = slice(int(data.first[e]), int(data.first[e + 1]))
        on_list = reader.over(sessions.lengths[queries], sessions.by_query(e))
        reach[queries], depth[e] = on_list.reach, on_list.expected_depth
        for h in range(int(starts[e]), int(starts[e + 1])):
            weight[h] = on_list.seen[int(data.turn[data.query[hits[h]]])][data.position[hits[h]] - 1]
    return SessionSum(sessions.gain[hits] * weight, reach[data.query[hits]], lambda total: total / depth)


def lists_of(seen: SessionGains) -> Lists:
    """The queries of all sessions as lists, each with its session's judgments."""
    data = seen.sessions
    use = data.position <= seen.lengths[data.query]
    if data.repeats == "once":
        use &= ~data.again
    kept = np.flatnonzero(use)
    per_query = np.bincount(data.query[kept], minlength=data.length_of_query.size)
    return Lists(
        grades=np.concatenate((data.pool, data.grade[kept])),  # a hit has a row of its own, in a topic that has no list
        rows=np.append(data.pools, data.pool.size + kept.size),
        topic=data.topic[data.entry_of_query],
        length=seen.lengths,
        offsets=np.concatenate(([0], np.cumsum(per_query))),
        position=data.position[kept],
        row=data.pool.size + np.arange(kept.size),
        max_grade=data.max_grade,
    )


def parse_list_measure(text: str | Measure | None) -> Measure:
    """The measure of lists in the parameter ``of`` of a measure of sessions."""
    from amble.measures.parsing import parse

    if text is None:
        raise MeasureError("expected a measure of lists, as in of='nDCG@10'")
    found = parse(text)
    if found.declaration.of_sessions:
        raise MeasureError(f"of={str(text)!r} is a measure of sessions, expected one of lists")
    return found


def gains_inside(declaration: Any, values: dict[str, Any], cut: int | None, given: frozenset[str]) -> Variant:
    """The measure, less or more of it better as of that of lists; an error where gains are given, which has its own."""
    if "gains" in given:
        raise MeasureError(
            f"gains={show_value(values['gains'])}: expected in the measure of lists, as in of=\"nDCG(gains='exp')\""
        )
    inner = values["of"]
    return declaration._replace(less=inner is not None and inner.declaration.less), values, cut


_OVER: dict[str, Callable[[Array, Ints], Any]] = {
    "mean": lambda x, first: np.add.reduceat(x, first) / np.diff(np.append(first, x.size)),
    "sum": np.add.reduceat,
    "max": np.maximum.reduceat,
    "min": np.minimum.reduceat,
    "first": lambda x, first: x[first],
    "last": lambda x, first: x[np.append(first[1:], x.size) - 1],
}


@measure(
    "PerQuery", gain=graded, cite="", family="sessions", bounded=False, variant=gains_inside,
    formula="the mean (or sum, max, min, first, last) over queries of a measure of lists",
)  # fmt: skip
def per_query(
    sessions: SessionGains,
    of: Annotated[
        Measure | None,
        Form(parse_list_measure, "a measure of lists, such as 'nDCG@10'", Measure),
        "measure of every query",
    ] = None,
    over: Annotated[str, OneOf(*_OVER), "how queries become one number"] = "mean",
) -> Array:
    """Every query on its own, by a measure of lists, and the mean over queries: what sessions are without a session."""
    found = parse_list_measure(of).scores(lists_of(sessions))
    return np.asarray(_OVER[over](found, sessions.sessions.first[:-1]))
