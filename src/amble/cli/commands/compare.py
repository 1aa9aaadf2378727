"""Compare runs: which is better on a measure, by how much, and is the difference significant?

  amble compare qrels.txt bm25.run dense.run hybrid.run -m AP nDCG@10
  amble compare qrels.txt *.run -m AP --baseline bm25.run --test permutation
  amble compare qrels.txt *.run -m AP --test tukey --letters
  amble compare qrels.txt *.run -m AP --baseline bm25.run --baseline dense.run --marks --format latex
  amble compare qrels.txt *.run -m AP --baseline bm25.run --groups topics.tsv
  amble compare qrels.txt bm25.run dense.run -m AP --why 351
  amble compare --gains r=1,0,0,1 --gains s=0,1,1,0 -m AP --why 1
  amble compare qrels.txt bm25.run dense.run -m MsM --sessions sessions.tsv

Runs are compared topic by topic: all pairs, or each with a baseline, or several. A difference is that of the first run
minus the other. --why shows which documents make the difference on a topic, or a single run's score. With --sessions,
or a measure of sessions, whole sessions are compared; files are those of `amble session`.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from dataclasses import replace
from typing import Any

from amble.cli.options import (
    FORMATS,
    add_alignment,
    add_inputs,
    add_scored,
    add_sessions,
    add_tests,
    add_threads,
    add_topic_groups,
    add_undefined,
    add_workers,
    alignment_of,
    baseline_of,
    design_of,
    include_baselines,
    inputs_of,
    prepare,
    read_session_files,
    refuse,
    workers_from,
)
from amble.cli.output import provenance, tell_audit, write
from amble.cli.plugins import load_plugins
from amble.comparison.design import INTERVALS, SIDES, TestDesign
from amble.errors import AmbleError

__all__ = ["arguments", "prepare", "run"]

_DEFAULT = "AP"
_TESTED_OR_SHOWN = "test sides alpha seed rounds correction interval letters marks median statistic groups chart"
_CHARTS = ("pairs", "box", "histogram", "differences", "normality")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    add = parser.add_argument
    add_inputs(add, gains=True)
    add("-m", "--measure", metavar="MEASURE", action="append", help=f"what to compare on (default: {_DEFAULT})")
    add(
        "--baseline",
        metavar="RUN",
        action="append",
        help="the run that all others are compared with, a file or the name of one of them; may be given again: each "
        "run is compared with each of them (default: all pairs)",
    )
    add_tests(add, "tukey, anova: of all runs at once")
    add("--sides", choices=tuple(SIDES), help=f"greater: is a run better than the other? (default: {TestDesign.sides})")
    usual = f"{TestDesign().interval}; bootstrap test: {TestDesign(test='bootstrap').interval}"
    add("--interval", choices=tuple(INTERVALS), help=f"of differences (default: {usual})")
    letters = "the runs, best first; no significant difference within a letter"
    add("--letters", action="store_true", default=None, help=letters)
    marks = (
        "a table of runs, baselines first; † after a mean: significantly different from the first baseline, ‡: second"
    )
    add("--marks", action="store_true", default=None, help=marks)
    add("--median", action="store_true", default=None, help="medians of scores and of differences, too, in tables")
    statistic = "the test statistic in tables, too: t and its degrees of freedom, or Wilcoxon's W+, W- and n"
    add("--statistic", action="store_true", default=None, help=statistic)
    add_topic_groups(add, "runs are compared within each, too, and between groups (Welch's t-test)")
    add(
        "--why",
        metavar="TOPIC",
        help="no test, but which documents make the difference on this topic, or one run's score",
    )
    add("--plot", metavar="FILE", help="a chart of one measure, or of --why: .svg, .png, .pdf or .html")
    add(
        "--chart",
        choices=_CHARTS,
        help="of --plot: pairs with confidence intervals; scores by topic as boxes or histograms; of two runs, "
        "differences by topic, or a normal Q-Q plot of them with Shapiro-Wilk's test (default: pairs)",
    )
    add("--format", choices=FORMATS, default="table", help="how to write it (default: table)")
    add("--sessions", metavar="FILE", help="compare sessions: session query topic run-topic, or a Session Track's XML")
    add_sessions(add)
    add_alignment(add)
    add_undefined(add)
    add_threads(add)
    add_workers(add)
    add_scored(add)


def run(args: argparse.Namespace) -> int:
    """Compare and write."""
    load_plugins(args)
    with workers_from(args) as executor:
        return _compare(args, executor)


def _compare(args: argparse.Namespace, executor: Any) -> int:
    if args.why is not None:
        refuse(args, _TESTED_OR_SHOWN, "goes without --why, which shows documents, not tests")
    design = design_of(args)  # a wrong option should not cost the time of reading
    if args.letters and (args.baseline is not None or design.sides != "two"):
        raise AmbleError("--letters shows all pairs, two-sided: without --baseline and --sides")
    if args.marks and args.baseline is None:
        raise AmbleError("--marks are of differences from a baseline: expected --baseline RUN")
    if (args.letters or args.marks) and args.groups is not None:
        raise AmbleError("--groups has tables of its own: without --letters and --marks")
    if args.chart is not None and args.plot is None:
        raise AmbleError(f"--chart {args.chart} goes with --plot FILE")
    if args.plot:
        from amble.reporting.charts.chart import check_file

        check_file(args.plot)
    from amble.evaluation.inputs import parse_measures
    from amble.evaluation.scores import evaluate
    from amble.expressions.grammar import split_measures

    words = [word for text in args.measure or [_DEFAULT] for word in split_measures(text)]
    measures = parse_measures(words)
    if args.plot and len(measures) > 1:
        raise AmbleError(f"--plot draws one measure, found {len(measures)}; say -m")
    if args.gains is not None and args.why is None:
        raise AmbleError("--gains are lists of one topic, 1, and tests compare several: expected --why 1 with them")
    if args.sessions or any(m.declaration.of_sessions for m in measures):
        if args.why is not None:
            raise AmbleError("--why shows the documents of a list: for those of a session, amble session --why SESSION")
        if args.undefined != "zero":
            raise AmbleError("--undefined looks at lists, not at sessions")
        if args.costs is not None:
            raise AmbleError("--costs are of documents in lists, not in sessions")
        if args.subtopics or args.intents is not None:
            raise AmbleError("--subtopics and --intents are of topics, not of sessions")
        if args.baseline is not None and args.sessions:
            include_baselines(args)
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            scores = evaluate(read_session_files(_files(args), args), measures)
        if len(scores.runs) < 2:
            raise AmbleError(f"{len(scores.runs)} run, expected at least two to compare")
    else:
        heard = []
        refuse(args, "layout repeats", "is of sessions: expected --sessions FILE, or a measure of sessions")
        if args.baseline is not None and args.gains is None:
            include_baselines(args)
        qrels, runs = inputs_of(args)
        if len(runs) < (2 if args.why is None else 1):
            raise AmbleError(f"{len(runs)} run, expected at least two to compare")
        scores = evaluate(qrels, runs, measures, undefined=args.undefined, executor=executor, **alignment_of(args))
    bases = [baseline_of(scores, args, name) for name in args.baseline or ()]
    design = replace(design, baseline=bases or None)
    why = args.why is not None
    tables, more, found = _contributions(scores, bases, args) if why else _tests(scores, design, args, executor)
    chart = _chart(scores, bases, found, args.chart) if args.plot else None
    write(_rendered(tables, scores, more, args), args.output)
    if chart is not None:
        from amble.reporting.charts.chart import save

        save(chart, args.plot)
    tell_audit(args, scores.rankings.audit, heard)
    return 0


def _files(args: argparse.Namespace) -> list[str]:
    """All that is read, in the order of `amble session`."""
    return [args.qrels, *([args.sessions] if args.sessions else ()), *args.runs]


def _tests(
    scores: Any, design: TestDesign, args: argparse.Namespace, executor: Any
) -> tuple[list[Any], dict[str, Any], Any]:
    from amble.comparison.pairwise import compare_by
    from amble.comparison.variance import anova

    long = args.format in ("tsv", "csv", "json")
    tables, about, variance = [], [], []
    for measure in scores.parsed:
        found = compare_by(scores, measure, design, groups=args.groups, executor=executor)
        about.append(found.facts)
        if design.test == "anova":
            of = anova(scores, measure)
            variance.append(
                {"measure": of.measure, "rows": [dict(zip(of.table().columns, row, strict=True)) for row in of.table()]}
            )
            if not long and not args.letters:
                tables.append(of.table(digits=args.digits))
        if args.letters or args.marks:
            table = found.letters(digits=args.digits) if args.letters else found.marks(digits=args.digits)
            if long:
                table.columns = ("measure", *table.columns)
                table.rows = [(found.measure, *row) for row in table.rows]
                if args.marks:
                    table.columns = (*table.columns, "marks")
                    at = table.columns.index("mean") - 1
                    table.rows = [(*row, table.marks.get((r, at), "")) for r, row in enumerate(table.rows)]
            tables.append(table)
            continue
        shown = {"full": long, "median": bool(args.median), "statistic": bool(args.statistic), "digits": args.digits}
        tables.append(found.table(**shown))
        if args.groups is not None:
            about[-1]["groups"] = {name: one.facts for name, one in found.groups.items()}
            tables.append(found.by_group(**shown))
            if found.between is not None and not long:
                tables.append(found.between.table(digits=args.digits))
    return tables, {"comparisons": about} | ({"anova": variance} if variance else {}), found


def _contributions(scores: Any, bases: list[str], args: argparse.Namespace) -> tuple[list[Any], dict[str, Any], Any]:
    from amble.comparison import why

    long = args.format in ("tsv", "csv", "json")
    runs = list(scores.runs)
    if bases:  # last, so that differences are from them
        runs = [*(run for run in runs if run not in bases), *bases]
    found = [why(scores, args.why, measure, runs=runs) for measure in scores.parsed]
    tables = [one.table(digits=args.digits, long=long) for one in found]
    return tables, {"contributions": [table.facts for table in tables]}, found[0]


def _chart(scores: Any, bases: list[str], found: Any, kind: str | None) -> Any:
    """The chart of a comparison or of contributions, as `amble.plot` draws it; of other kinds, that of the scores."""
    from amble.reporting.charts.plotting import spec_of

    if kind in (None, "pairs"):
        return spec_of(found)
    if kind in ("box", "histogram"):
        return spec_of(scores, kind=kind)
    if len(found) != 1:
        raise AmbleError(f"--chart {kind} draws the differences of two runs, found {len(scores.runs)}: name two")
    ((run, baseline),) = found.pairs
    return spec_of(scores, kind=kind, run=run, baseline=baseline)


def _rendered(tables: list[Any], scores: Any, more: dict[str, Any], args: argparse.Namespace) -> str:
    """All tables: below one another for people, as one for programs."""
    if args.format in ("tsv", "csv", "json"):
        whole = tables[0]
        whole.rows = [row for table in tables for row in table.rows]
        whole.facts = {}
        if args.format == "json":
            options = {"undefined": args.undefined, "gains": args.gains, "groups": args.groups}
            if hasattr(scores.rankings, "repeats"):
                options["repeats"] = scores.rankings.repeats
            about = provenance(scores.rankings, list(scores.parsed), [*_files(args), args.groups], options)
            whole.facts = about | more
        return str(whole.render(args.format))
    shown = sys.stdout is not None and sys.stdout.isatty() and not args.output and "NO_COLOR" not in os.environ
    return "\n\n".join(table.render(args.format, bold=shown and args.format == "table") for table in tables)
