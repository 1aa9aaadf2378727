"""Show how scores are distributed over users, and whether one run is better whatever users want.

  amble distribution qrels.txt bm25.run dense.run -m AP
  amble distribution qrels.txt *.run -m "PH(p=.5,q=.25,loss=.25)" --plot distributions.svg
  amble distribution qrels.txt *.run -m "RBP(p=.8)" --levels --hasse order.dot
  amble distribution --gains r=1,0,0,1 --gains s=0,1,1,0 -m AP --plot figure.svg

A run's distribution is that of a user who comes with one of the topics, each as likely. Runs are compared by order 1,
the expected gain per document, E[T/H]; by order 2, the expected gain over expected effort, E[T]/E[H]; by order 3,
first-order stochastic dominance: whatever score users want, no fewer of them get it; and by second-order dominance.
"""

from __future__ import annotations

import argparse
import warnings
from typing import TYPE_CHECKING, Any

from amble.cli.options import (
    FORMATS,
    SEED,
    USERS,
    add_alignment,
    add_inputs,
    add_scored,
    add_threads,
    add_workers,
    alignment_of,
    inputs_of,
    prepare,
    workers_from,
)
from amble.cli.output import note, provenance, write
from amble.cli.plugins import load_plugins
from amble.errors import AmbleError, MeasureError, SimulationWarning

if TYPE_CHECKING:
    from amble.distributions.distribution import Distribution
    from amble.distributions.partial_order import PartialOrder
    from amble.table import Table

__all__ = ["arguments", "prepare", "run"]

_DEFAULT = "PH"
_FEW = 12  # runs whose pairs are shown without --pairs
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_CLOSE = 1e-11  # by how much orders may differ that are the same
_CROSSINGS = 3  # shown in a table


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    add = parser.add_argument
    add_inputs(add, gains=True)
    add("-m", "--measure", metavar="MEASURE", action="append", help=f"one measure that is a user (default: {_DEFAULT})")
    add("--topic", metavar="T", action="append", help="only this topic; may be given several times (default: all)")
    add(
        "--users",
        type=USERS,
        metavar="N",
        help="simulate as many on every topic, also where the distribution is known exactly",
    )
    add("--seed", type=SEED, default=0, metavar="S", help="same seed, same users (default: %(default)s)")
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--pairs", action="store_true", help="all pairs of runs, and nothing else")
    only.add_argument("--levels", action="store_true", help="the partial order of the runs, and nothing else")
    add("--plot", metavar="FILE", help=f"chart of the distributions of up to {_FEW} runs: .svg, .png, .pdf or .html")
    add("--hasse", metavar="FILE", help="the partial order as a diagram: .dot for Graphviz, or a chart")
    add("--format", choices=FORMATS, default="table", help="how to write it (default: table)")
    add_alignment(add, ties=("docno", "rank", "file"))
    add_threads(add, "read and simulate")
    add_workers(add)
    add_scored(add)


def run(args: argparse.Namespace) -> int:
    """Find the distributions and write what follows from them."""
    measure = _measure(args)
    _check(args)
    from amble.distributions.partial_order import order_systems
    from amble.evaluation.inputs import for_intents, refuse_idle_costs
    from amble.rankings.alignment import align

    if args.costs:
        refuse_idle_costs([measure])
    topics = None if args.topic is None else list(dict.fromkeys(args.topic))
    with workers_from(args) as executor:
        rankings = align(*inputs_of(args), executor=executor, **for_intents([measure], alignment_of(args)))
        found, notes = _distributions(rankings, measure, topics, args, executor)
    orders = _Orders(found, rankings, measure, topics)
    order = order_systems(found) if len(found) > 1 else None
    tables = _tables(found, orders, order, args)
    if args.format == "json":
        more = {"users": args.users, "seed": args.seed, "topic": topics, "gains": args.gains}
        tables[0].facts = provenance(rankings, [measure], [args.qrels, *args.runs], more) | _about(found, order)
    _draw(found, orders, order, measure, args)
    write("\n\n".join(_rendered(tables, order, args)), args.output)
    all_topics = f"{len(rankings.topics)} topic{'s' * (len(rankings.topics) != 1)}"
    over = f"{len(topics)} of {all_topics}" if topics else all_topics
    note(args, rankings.audit, *notes, *_notes(measure, found, over, orders))
    return 0


class _Orders:
    """Order 1 and order 2 of each run: means over topics; `known` is whether each is exact."""

    def __init__(self, found: dict[str, Distribution], rankings: Any, measure: Any, topics: list[str] | None) -> None:
        from amble.evaluation.run_distributions import orders_of, run_distributions

        simulated = any(distribution.users is not None for distribution in found.values())
        orders = orders_of(rankings, measure, topics, known=None if simulated else found)
        self.one, self.two = orders.T.tolist()
        self._errors = [0.0] * len(found)
        if orders[0, 0] != orders[0, 0]:  # order 1 is the mean of the distribution all the same
            means = found
            try:
                if simulated and measure.is_population:
                    raise SimulationWarning
                if simulated and not measure.one_user.has_order1:
                    with warnings.catch_warnings():
                        warnings.simplefilter("error", SimulationWarning)
                        means = run_distributions(rankings, measure, topics=topics)
            except SimulationWarning:  # there is no exact one
                self._errors = [distribution.standard_error for distribution in found.values()]
            self.one = [distribution.mean for distribution in means.values()]
        self.known = [not any(self._errors), self.two[0] == self.two[0]]

    def verdicts(self, i: int, j: int) -> list[str | None]:
        """Whether run i is less than, equal to or greater than run j, by order 1 and by order 2."""
        within = 1.96 * (self._errors[i] + self._errors[j])
        return [_verdict(self.one[i], self.one[j], _CLOSE + within), _verdict(self.two[i], self.two[j], _CLOSE)]


def _measure(args: argparse.Namespace) -> Any:
    from amble.measures import parse

    load_plugins(args)
    given = args.measure or [_DEFAULT]
    if len(given) > 1:
        raise AmbleError(f"-m {' -m '.join(given)}: expected one measure, as each has a distribution of its own")
    measure = parse(given[0])
    if measure.declaration.of_sessions:
        raise MeasureError(
            f"{measure} is a measure of sessions, not of lists: parse({str(measure)!r}).distribution(matrix)"
        )
    if not measure.declaration.is_user:
        raise MeasureError(f"{measure} is not a user: it has a score, and no distribution over users")
    return measure


def _check(args: argparse.Namespace) -> None:
    """Refuse what cannot be done, before anything is read."""
    runs = len(args.gains or args.runs)
    if runs < 2 and (args.pairs or args.levels or args.hasse):
        raise AmbleError("--pairs, --levels and --hasse compare runs: expected at least two")
    if args.plot and runs > _FEW:
        raise AmbleError(f"--plot: {runs} runs, expected at most {_FEW} on one chart")
    if args.plot or args.hasse:
        from amble.reporting.charts.chart import ENDINGS, check_file

        for path, endings in ((args.plot, ENDINGS), (args.hasse, (*ENDINGS, ".dot"))):
            if path:
                check_file(path, endings)


def _distributions(
    rankings: Any, measure: Any, topics: list[str] | None, args: argparse.Namespace, executor: Any
) -> Any:
    """The distributions, and the warnings of simulation."""
    from amble.evaluation.run_distributions import run_distributions

    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always", SimulationWarning)
        how = {"users": args.users, "seed": args.seed, "threads": args.threads, "executor": executor}
        found = run_distributions(rankings, measure, topics=topics, **how)
    notes = []
    for warning in heard:
        if issubclass(warning.category, SimulationWarning):
            notes.append(" ".join(str(warning.message).split()))
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    return found, notes


def _tables(found: dict[str, Distribution], orders: _Orders, order: PartialOrder | None, args: Any) -> list[Table]:
    """The tables to write: the runs, their pairs, their levels; as text, the runs and one of the others."""
    from amble.table import Table

    shares = [f"{100 * u:g}%" for u in _QUANTILES]
    rows = [
        [run, one, two, distribution.sd, *distribution.quantile(_QUANTILES).tolist()]
        for (run, distribution), one, two in zip(found.items(), orders.one, orders.two, strict=True)
    ]
    tables = [Table(["run", "order1", "order2", "sd", *shares], rows, digits=args.digits)]
    if order is None:
        return tables
    if args.pairs or (args.format == "table" and not args.levels and len(found) <= _FEW):
        tables.append(_pairs(found, orders, args))
    elif args.levels or args.format == "table":
        levels = order.table()
        levels.digits = args.digits
        tables.append(levels)
    return tables[1:] if args.pairs or args.levels else tables


def _pairs(found: dict[str, Distribution], orders: _Orders, args: argparse.Namespace) -> Table:
    """Each run beside each that was named after it."""
    from amble.progress import Progress
    from amble.table import Table

    names, distributions = list(found), list(found.values())
    rows: list[list[Any]] = []
    with Progress("comparing runs") as line:
        for i, mine in enumerate(distributions):
            for j in range(i + 1, len(distributions)):
                how = mine.dominance(distributions[j])
                second = how.second if how.verdict in ("equal", "incomparable") else how.verdict  # the first implies it
                row = [names[i], names[j], *orders.verdicts(i, j), how.verdict, second]
                rows.append([*row, _crossings(how.crossings.tolist(), args), how.better, how.worse, how.same])
                line(len(rows), len(distributions) * (len(distributions) - 1) // 2)
    columns = ["run", "other", "order1", "order2", "order3", "second", "crossings", "better", "worse", "same"]
    return Table(columns, rows, digits=args.digits)


def _verdict(mine: float, theirs: float, close: float) -> str | None:
    """Whether a number is less than, equal to or greater than another; None if one is NaN."""
    if mine != mine or theirs != theirs:
        return None
    return "equal" if not abs(mine - theirs) > close else "less" if mine < theirs else "greater"


def _crossings(at: list[float], args: argparse.Namespace) -> Any:
    """Where two cdfs cross: for people the first and the last if they are many, for programs all of them."""
    if args.format == "json":
        return at
    texts = [f"{x:.{args.digits}f}" for x in at]
    if args.format in ("tsv", "csv") or len(texts) <= _CROSSINGS:
        return " ".join(texts) if texts or args.format in ("tsv", "csv") else None
    return f"{texts[0]} to {texts[-1]} ({len(texts)})"


def _rendered(tables: list[Table], order: PartialOrder | None, args: argparse.Namespace) -> list[str]:
    texts = [table.render(args.format) for table in tables]
    if order is not None and args.format == "table" and "level" in tables[-1].columns:
        counts = order.counts
        decided = counts["less"] + counts["greater"]
        texts.append(
            f"{len(order.levels)} level{'s' * (len(order.levels) != 1)}; {100 * order.comparable:.1f} % of "
            f"{sum(counts.values()):,} pairs comparable: {decided:,} dominate, {counts['equal']:,} equal, "
            f"{counts['incomparable']:,} incomparable"
        )
    return texts


def _about(found: dict[str, Distribution], order: PartialOrder | None) -> dict[str, Any]:
    """Sizes and bands of the distributions, and the partial order, for JSON."""
    about: dict[str, Any] = {
        "distributions": {
            run: {"atoms": distribution.values.size, "users": distribution.users, "band": distribution.band}
            for run, distribution in found.items()
        }
    }
    if order is not None:
        about["order"] = {"levels": order.levels, "comparable": order.comparable, "pairs": order.counts}
    return about


def _draw(found: dict[str, Distribution], orders: _Orders, order: PartialOrder | None, measure: Any, args: Any) -> None:
    if args.plot:
        from amble.reporting.charts.chart import save
        from amble.reporting.charts.distribution_charts import distribution_spec

        one, two = (dict(zip(found, of, strict=True)) for of in (orders.one, orders.two))
        save(distribution_spec(found, one, two, title=measure.label), args.plot)
    if args.hasse and order is not None:
        if args.hasse.lower().endswith(".dot"):
            write(order.dot(), args.hasse)
        else:
            from amble.reporting.charts.chart import save
            from amble.reporting.charts.hasse import hasse_spec

            save(hasse_spec(order, title=f"{measure}: stochastic dominance"), args.hasse)


def _notes(measure: Any, found: dict[str, Distribution], over: str, orders: _Orders) -> list[str]:
    """What the distributions are: exact, or simulated and how far off they may be."""
    band, users = max((distribution.band, distribution.users or 0) for distribution in found.values())
    known = " and ".join(name for name, known in zip(("order1", "order2"), orders.known, strict=True) if known)
    if not band:
        return [f"distributions of {measure.label} over {over}: exact"]
    notes = [
        f"distributions of {measure.label} over {over}: {users:,} users per topic, "
        f"their cdfs within {band:.4f} of the true ones (95 %)" + (f"; {known} exact" if known else "")
    ]
    if len(found) > 1:
        notes.append("differences within the bands of both runs do not count in order3, second and crossings")
    return notes
