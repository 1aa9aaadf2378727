"""Show what a measure's user does: how likely each rank is looked at, where reading stops, what is gained.

  amble user RBP
  amble user PH --gains 1,0,0,1,0,1 --plot graph.svg
  amble user "INST(T=2)" --gains r=1,0,0,1,0,1 --gains s=0,1,1,1,0,0
  amble user INSQ "RBP(p=0.8)" SDCG@100 --depth 100 --plot users.svg
  amble user "MP(model='GL_AD_ID')" --gains 1,0,1,1
  amble user MsM --gains 1,0,2 --gains 0,3

Beside the ranks: mean, variance and quantiles of H, the visits, and of T, the gain; and the transition matrix of users
who do not only walk down. A Markov user, who never stops (MP), is shown by the stationary distribution, beside
precision at each rank. Without --gains nothing on the list is relevant. Of a measure of sessions, every --gains is the
list of a query; without them the session has three queries of --depth documents.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

from amble.cli.options import FORMATS, add_digits, add_gains, add_plugins, number, read_gains, read_numbers, whole
from amble.cli.plugins import load_plugins
from amble.errors import AmbleError, MeasureError, SimulationWarning

Way = Callable[[], Any]
_QUARTILES = (0.25, 0.5, 0.75)
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_LONG = 1e4  # visits of a user, in the mean, too many to be simulated in passing
_QUERIES, _DEPTH = 3, 10  # of a session that is not given
_OF_ALL_SESSIONS = ("h", "pi", "seen", "visits", "last")
_FEW = 12  # ranks whose transition matrix is shown


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument("measures", nargs="+", metavar="MEASURE", help="measures that are users")
    add_gains(parser.add_argument)
    parser.add_argument("--relevant", type=whole(0), metavar="N", help="how many relevant documents there are")
    parser.add_argument("--max-grade", type=number(0), metavar="G", help="the largest grade there is")
    parser.add_argument("--topic", metavar="T", help="whose list it is, where parameters differ by topic")
    parser.add_argument("--costs-by-rank", metavar="C,C,…", help="what documents cost, for users who look at it")
    parser.add_argument(
        "--depth", type=whole(1, 100_000), metavar="K", help="ranks to show (default: the list, or 10; charts 100)"
    )
    parser.add_argument(
        "--plot",
        metavar="FILE",
        help="chart of W, halting and residual, and the state graph of who does not only walk down: .svg, .png, "
        ".pdf or .html",
    )
    parser.add_argument("--format", choices=FORMATS, default="table", help="how to write it (default: table)")
    add_digits(parser.add_argument)
    add_plugins(parser.add_argument)


class _Shown(NamedTuple):
    """A measure's user on a list."""

    measure: Any
    of: str  # the list's name
    given: Sequence[float] | None
    context: dict[str, Any]
    costs: Sequence[float] = ()

    def about(self, n: int) -> dict[str, Any]:
        """What is known of a list of n documents beside its grades."""
        costs = self.costs[:n] if self.measure.looks_at_costs else ()
        return self.context | ({"costs": costs} if costs else {})

    @property
    def grades(self) -> list[float]:
        return list(self.given or ())

    def on(self, depth: int) -> Any:
        """The user on the list given; on one of at least so many ranks, if the user reads on, or none is given."""
        ends = self.markov or (not self.measure.is_population and self.measure.ends)
        more = 0 if self.given and ends else depth - len(self.grades)
        grades = self.grades + [0.0] * more
        return self.measure.user(grades, **self.about(len(grades)))

    @property
    def markov(self) -> bool:
        from amble.users.protocol import Question

        return self.measure.declaration.question is Question.MARKOV

    @property
    def name(self) -> str:
        return f"{self.measure.label} on {self.of}" if self.of else f"{self.measure.label}"


def run(args: argparse.Namespace) -> int:
    """Show it."""
    from amble.evaluation.inputs import refuse_idle_costs
    from amble.measures import parse
    from amble.table import Table
    from amble.users.protocol import BY_RANK

    load_plugins(args)
    lists: dict[str, Any] = dict(read_gains(args.gains)) or {"": None}
    if len(lists) == 1 and "=" not in (args.gains or [""])[0]:
        lists = {"": next(iter(lists.values()))}
    context = {key: getattr(args, key) for key in ("relevant", "max_grade") if getattr(args, key) is not None}
    measures = [parse(text) for text in args.measures]
    costs = tuple(read_numbers(args.costs_by_rank, "--costs-by-rank", float)) if args.costs_by_rank is not None else ()
    if costs:
        refuse_idle_costs(measures)
    if any(m.declaration.of_sessions for m in measures):
        return _sessions(measures, args, context)
    if args.plot:
        from amble.reporting.charts.chart import check_file

        check_file(args.plot)
    measures = [m.resolve_topic({"topic": args.topic})[0] for m in measures]
    measures = [one for m in measures for one in getattr(m, "parts", (m,))]  # of mixtures, each
    shown = [_Shown(m, name, grades, context, costs) for m in measures for name, grades in lists.items()]
    others = [one.name for one in shown if not one.markov]
    if 0 < len(others) < len(shown):
        raise AmbleError(
            f"{', '.join(others)}: users who stop at a rank are shown apart from Markov users; expected one kind"
        )
    depths = [args.depth or len(one.grades) or _DEPTH for one in shown]
    users = [one.on(depth) for one, depth in zip(shown, depths, strict=True)]
    heads = [[one.measure.label, one.of][: 1 + bool(one.of)] for one in shown]
    names = ["measure", "list"][: len(heads[0])]
    columns = [name for name in BY_RANK if any(name in user.by_rank for user in users)]
    rows: list[list[Any]] = []
    for head, user, depth in zip(heads, users, depths, strict=True):
        cells = [user.by_rank.get(column) for column in columns]
        for i in range(min(depth, user.weights.size)):
            rows.append([*head, i + 1, *(None if x is None else _cell(x[i]) for x in cells), user.residual(i + 1)])
    table = Table([*names, "rank", *columns, "residual"], rows, digits=args.digits)
    graphs = {one.name: user for one, user in zip(shown, users, strict=True) if _walks(user)}
    each = zip(shown, heads, depths, strict=True)
    spread = [[*head, *row] for one, head, depth in each for row in _spread(one, depth)]
    shares = [f"{100 * u:g}%" for u in _QUANTILES]
    spreads = Table([*names, "of", "mean", "variance", *shares, "simulated"], spread, digits=args.digits)
    if args.format == "json":
        table.facts = {
            "spread": [dict(zip(spreads.columns, row, strict=True)) for row in spread],
            "transitions": {name: user.transition_matrix.tolist() for name, user in graphs.items()},
        }
    notes = [_note(one, user, args.digits) for one, user in zip(shown, users, strict=True)]  # may refuse
    print(table.render(args.format))
    if args.format == "table":
        if spread:
            print("\n" + spreads.render("table"))
        for name, user in graphs.items():
            print(f"\ntransition matrix of {name}\n{_matrix(user, args.digits)}")
        print("\n" + "\n".join(notes))
    if args.plot:
        _plot(args, shown, graphs)
    return 0


def _sessions(measures: list[Any], args: argparse.Namespace, context: dict[str, Any]) -> int:
    """What the users of measures of sessions do, query by query and rank by rank."""
    from amble.sessions.sessions import Sessions
    from amble.table import Table

    lists = [m.label for m in measures if not m.declaration.of_sessions]
    if lists:
        raise AmbleError(f"{', '.join(lists)}: users of lists and of sessions are shown apart; expected one kind")
    for name in ("relevant", "topic", "costs_by_rank", "plot"):
        if getattr(args, name) is not None:
            raise AmbleError(f"--{name.replace('_', '-')} is for users of lists, not of sessions")
    if args.gains is None:
        queries = [[0.0] * (args.depth or _DEPTH)] * _QUERIES
    else:
        queries = [list(grades)[: args.depth] for grades in read_gains(args.gains).values()]
    session = Sessions.of_queries(queries)
    shown = [m.user(session, **context) for m in measures]
    tables = [user.table(digits=args.digits) for user in shown]
    columns = list(dict.fromkeys(name for table in tables for name in table.columns))
    columns.sort(key=lambda name: name in _OF_ALL_SESSIONS)  # stays as it is otherwise
    rows = [
        [m.label, *(dict(zip(table.columns, row, strict=True)).get(name) for name in columns)]
        for m, table in zip(measures, tables, strict=True)
        for row in table
    ]
    print(Table(["measure", *columns], rows, digits=args.digits).render(args.format))
    if args.format == "table":
        print()
        for m, user in zip(measures, shown, strict=True):
            print(
                f"{m.label}: expected queries {user.expected_queries:.{args.digits}f}, documents "
                f"{user.expected_depth:.{args.digits}f}"
            )
    return 0


def _cell(x: Any) -> Any:
    return x if isinstance(x, str) else float(x)


def _walks(user: Any) -> bool:
    """Whether a user's few transitions are more than those of walking down."""
    import numpy as np

    if user.weights.size > _FEW:
        return False
    try:
        matrix = user.transition_matrix
    except MeasureError:
        return False
    return bool((matrix - np.diag(np.diagonal(matrix, 1), 1)).any())


def _matrix(user: Any, digits: int) -> str:
    """The transition matrix, with the probability of stopping where there is one."""
    from amble.table import Table

    rows = [
        [rank, *(x or None for x in row.tolist()), *[max(0.0, 1.0 - row.sum())] * user.stops]
        for rank, row in zip(user.states, user.transition_matrix, strict=True)
    ]
    return Table(["from", *map(str, user.states), *[user.end] * user.stops], rows, digits=digits).render("table")


def _spread(one: _Shown, depth: int) -> list[list[Any]]:
    """Mean, variance and quantiles of H and, on a list that is given, of T; of how many users, if simulated."""
    from amble.distributions.distribution import Distribution
    from amble.evaluation.simulated_distributions import simulate_gain_and_visits
    from amble.users.protocol import Question

    if one.markov:
        return []
    grades = one.given or [0.0] * depth
    gains = one.measure.gains_of_grades(grades, **one.about(len(grades)))
    user, y = one.measure.one_user.on(gains, 0), gains.by_rank(0)

    @cache
    def simulated() -> Any:
        if user.expected_depth > _LONG:
            raise MeasureError("too many visits to be simulated in passing")
        return simulate_gain_and_visits(one.measure, gains)

    def row(name: str, mean: Way, var: Way, exact: Way) -> list[Any]:
        found = _first(exact, lambda: simulated()[0 if name == "T" else 1])
        quantiles = found.quantile(_QUANTILES).tolist() if found else [None] * len(_QUANTILES)
        spread = _first(var, lambda: found.var if found else None)
        mid = _first(mean, lambda: found.mean if found else None)
        return [name, mid, None if spread == math.inf else spread, *quantiles, found.users if found else None]

    visits = row("H", lambda: user.expected_depth, lambda: user.depth_var, user.depth_distribution)
    if one.given is None:
        return [visits]
    question = one.measure.question
    leaves = question is not Question.ORDER1 and one.measure.ends and user.beyond > 0
    if question.about_satisfaction or leaves:  # T is 1 for who is satisfied; who leaves with nothing keeps the gain
        known = Distribution([0.0, 1.0], [user.beyond, 1.0 - user.beyond])
        gain = known if question.about_satisfaction else simulated()[0]
        return [visits, row("T", lambda: gain.mean, lambda: gain.var, lambda: gain)]
    return [visits, row("T", lambda: user.total(y), lambda: user.total_var(y), lambda: user.total_distribution(y))]


def _first(*ways: Way) -> Any:
    """What the first way gives that leads anywhere; None if none does."""
    for way in ways:
        with contextlib.suppress(MeasureError):
            return way()
    return None


def _plot(args: argparse.Namespace, shown: list[_Shown], graphs: dict[str, Any]) -> None:
    from amble.reporting.charts.chart import save
    from amble.reporting.charts.state_graph import user_and_graph_spec

    far = args.depth or (max(len(one.grades) or _DEPTH for one in shown) if shown[0].markov else 100)
    users = {one.name: one.on(far) for one in shown}
    if args.depth is None:  # no ranks that nobody has
        far = max(2, min(far, max(user.weights.size for user in users.values())))
    save(user_and_graph_spec(users, far, graphs), args.plot)
    print(f"\nchart: {args.plot}") if args.format == "table" else None


def _note(one: _Shown, user: Any, digits: int) -> str:
    """When the user stops, the score on the list given, and its distribution over users."""
    ends = user.ends if one.markov else f"expected depth {user.expected_depth:.{digits}f}"
    if one.given is None:
        return f"{one.name}: {ends}"
    m, grades, context = one.measure, one.given, one.about(len(one.given))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SimulationWarning)  # noted below
        distribution = m.distribution(grades, **context)
    who = "users" if distribution.users is None else f"{distribution.users:,} simulated users"
    low, high = m.interval(grades, **context)
    quartiles = ", ".join(f"{q:.{digits}f}" for q in distribution.quantile(_QUARTILES).tolist())
    text = f"{one.name}: {ends}, score {m.value(grades, **context):.{digits}f}"
    if any(math.isnan(g) for g in grades) or high > low:
        text += f" (between {low:.{digits}f} and {high:.{digits}f})"
    return (
        f"{text}; over {who}: mean {distribution.mean:.{digits}f}, sd {math.sqrt(distribution.var):.{digits}f}, "
        f"quartiles {quartiles}"
    )
