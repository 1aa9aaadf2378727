"""Show what a measure's user does: how likely each rank is looked at, where reading stops, what is gained.

  amble user RBP
  amble user "INST(T=2)" --gains 1,0,0,1,0,1
  amble user INSQ "RBP(p=0.8)" SDCG@100 --depth 100 --plot users.svg
  amble user "MP(model='GL_AD_ID')" --gains 1,0,1,1

A Markov user, who never stops (MP), is shown by the stationary distribution, beside precision at each rank.
Without --gains nothing on the list is relevant. Grades may be given with - or nan for an unjudged document.
"""

from __future__ import annotations

import argparse
import math
import warnings
from typing import Any

from amble.cli.options import FORMATS, add_digits, add_plugins, number, read_number, whole
from amble.cli.plugins import load_plugins
from amble.errors import AmbleError, SimulationWarning

_QUARTILES = (0.25, 0.5, 0.75)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument("measures", nargs="+", metavar="MEASURE", help="measures that are users")
    parser.add_argument("--gains", metavar="G,G,…", help="the grades of a list, by rank")
    parser.add_argument("--relevant", type=whole(0), metavar="N", help="how many relevant documents there are")
    parser.add_argument("--max-grade", type=number(0), metavar="G", help="the largest grade there is")
    parser.add_argument(
        "--depth", type=whole(1, 100_000), metavar="K", help="ranks to show (default: the list, or 10; charts 100)"
    )
    parser.add_argument("--plot", metavar="FILE", help="chart of W, halting and residual: .svg, .png, .pdf or .html")
    parser.add_argument("--format", choices=FORMATS, default="table", help="how to write it (default: table)")
    add_digits(parser.add_argument)
    add_plugins(parser.add_argument)


def _grades(text: str) -> list[float]:
    out = []
    for i, word in enumerate(text.replace(" ", ",").split(","), 1):
        if word in ("-", "nan", "?"):
            out.append(math.nan)
            continue
        try:
            out.append(read_number(word))
        except ValueError:
            raise AmbleError(f"--gains: {word!r} at place {i}, expected a number or - for unjudged") from None
    return out


def run(args: argparse.Namespace) -> int:
    """Show it."""
    from amble.measures import parse
    from amble.table import Table
    from amble.users.protocol import Question

    load_plugins(args)
    given = None if args.gains is None else _grades(args.gains)
    grades = given or []
    depth = args.depth or (len(grades) or 10)
    context = {key: getattr(args, key) for key in ("relevant", "max_grade") if getattr(args, key) is not None}
    measures = [parse(text) for text in args.measures]
    for m in measures:
        if m.declaration.of_sessions:
            raise AmbleError(f"{m} is a measure of sessions, not of lists: `amble session --effort` shows its user")
    if any(m.declaration.question is Question.MARKOV for m in measures):
        return _markov_users(args, measures, given, depth, context)
    rows: list[list[Any]] = []
    notes = []
    for m in measures:
        user = m.user(grades + [0.0] * (depth - len(grades)), **context)
        for i in range(min(depth, user.visits.size)):
            rows.append(
                [m.label, i + 1]
                + [float(x[i]) for x in (user.continuation, user.visits, user.weights, user.last)]
                + [user.residual(i + 1)]
            )
        notes.append(
            f"{m.label}: expected depth {user.expected_depth:.{args.digits}f}{_about(m, given, context, args.digits)}"
        )
    table = Table(["measure", "rank", "C", "V", "W", "L", "residual"], rows, digits=args.digits)
    print(table.render(args.format))
    if args.format == "table":
        print("\n" + "\n".join(notes))
    if args.plot:
        far = args.depth or 100
        _plot(args, {m.label: m.user(grades + [0.0] * (far - len(grades)), **context) for m in measures}, far)
    return 0


def _plot(args: argparse.Namespace, users: dict[str, Any], depth: int) -> None:
    from amble.reporting.charts.chart import save, user_chart

    save(user_chart(users, depth), args.plot)
    print(f"\nchart: {args.plot}") if args.format == "table" else None


def _markov_users(
    args: argparse.Namespace, measures: list[Any], given: list[float] | None, depth: int, context: dict[str, Any]
) -> int:
    """Show Markov users: their stationary distributions, and precision at each rank."""
    from amble.table import Table
    from amble.users.protocol import Question

    others = [m.label for m in measures if m.declaration.question is not Question.MARKOV]
    if others:
        raise AmbleError(
            f"{', '.join(others)}: users who stop at a rank are shown apart from Markov users; expected one kind"
        )
    # the list ends where its grades do: more ranks would be more states of the chain
    grades = [0.0] * depth if given is None else given
    users = {m.label: m.user(grades, **context) for m in measures}
    rows: list[list[Any]] = [
        [name, i + 1, "yes" if i + 1 in user.relevant else "no"]
        + [float(x[i]) for x in (user.everywhere, user.weights, user.precision)]
        + [user.residual(i + 1)]
        for name, user in users.items()
        for i in range(min(depth, user.n))
    ]
    columns = ["measure", "rank", "relevant", "everywhere", "W", "precision", "residual"]
    print(Table(columns, rows, digits=args.digits).render(args.format))
    if args.format == "table":
        notes = [f"{m.label}: {users[m.label].ends}{_about(m, given, context, args.digits)}" for m in measures]
        print("\n" + "\n".join(notes))
    if args.plot:
        _plot(args, users, min(depth, len(grades)))
    return 0


def _about(m: Any, grades: list[float] | None, context: dict[str, Any], digits: int) -> str:
    """The score on the list given, and its distribution over users."""
    if grades is None:
        return ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SimulationWarning)  # noted below
        distribution = m.distribution(grades, **context)
    who = "users" if distribution.users is None else f"{distribution.users:,} simulated users"
    low, high = m.interval(grades, **context)
    quartiles = ", ".join(f"{q:.{digits}f}" for q in distribution.quantile(_QUARTILES).tolist())
    text = f", score {m.value(grades, **context):.{digits}f}"
    if any(math.isnan(g) for g in grades) or high > low:
        text += f" (between {low:.{digits}f} and {high:.{digits}f})"
    return (
        f"{text}; over {who}: mean {distribution.mean:.{digits}f}, sd {math.sqrt(distribution.var):.{digits}f}, "
        f"quartiles {quartiles}"
    )
