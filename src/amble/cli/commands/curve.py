"""Draw precision against recall: interpolated at levels of recall, as means over topics, or rank by rank on a topic.

  amble curve qrels.txt bm25.run dense.run                           # eleven levels, means over topics
  amble curve qrels.txt bm25.run dense.run --plot curve.svg
  amble curve qrels.txt bm25.run --topic 351 --plot topic.svg        # saw-tooth, interpolated, eleven points
  amble curve qrels.txt bm25.run --rule trec10 --format tsv          # iprec_at_recall_0.00 … of trec_eval 10

Interpolated precision at a level of recall is the greatest precision at any rank where recall is at least that.
"""

from __future__ import annotations

import argparse
from typing import Any

from amble.cli.options import (
    FORMATS,
    add_alignment,
    add_digits,
    add_inputs,
    add_output,
    add_threads,
    alignment_of,
    number,
    whole,
)
from amble.cli.output import file_digests, note, write
from amble.errors import AmbleError

_LEVELS = 11  # the classic curve
_MOST = 1001


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    add = parser.add_argument
    add_inputs(add)
    add("--topic", metavar="T", help="the curve of this topic, where it finds relevant documents (default: means)")
    add("--every-rank", action="store_true", default=None, help="with --topic: a row for every rank, the saw-tooth")
    levels = f"levels of recall from 0 to 1 (default: {_LEVELS})"
    add("--levels", type=whole(2, _MOST), metavar="N", help=levels)
    add("--rel", type=number(0), default=1, metavar="GRADE", help="the least grade that is relevant (trec_eval -l)")
    rules = "how a level becomes a number of documents: recall is at least that, or as trec_eval rounds"
    add("--rule", choices=("textbook", "trec10", "trec9"), help=f"{rules} (default: textbook)")
    add("--plot", metavar="FILE", help="a chart of up to twelve runs: .svg, .png, .pdf or .html")
    add("--format", choices=FORMATS, default="table", help="how to write it (default: table)")
    add_alignment(add, ("docno", "rank", "file"), costs=False, subtopics=False)
    add_threads(add)
    add_digits(add)
    add_output(add)


def run(args: argparse.Namespace) -> int:
    """Compute, write and draw."""
    if args.topic is None and args.every_rank:
        raise AmbleError("--every-rank goes with --topic T")
    if args.topic is not None and args.rule is not None:
        raise AmbleError("--rule goes with levels of recall, not with the curve of a --topic")
    if args.topic is not None and args.levels is not None and not args.plot:
        raise AmbleError("--levels with --topic are points of the chart: expected --plot FILE, too")
    args.levels = args.levels or _LEVELS
    if args.plot:
        from amble.reporting.charts.chart import check_file

        check_file(args.plot)
    from amble.evaluation.curves import pr_curve
    from amble.rankings.alignment import align

    options = alignment_of(argparse.Namespace(**vars(args), costs=None, subtopics=None, intents=None))
    rankings = align(args.qrels, list(args.runs), **options)
    how: dict[str, Any] = {"rel": args.rel, "levels": args.levels, "rule": args.rule or "textbook"}
    table = pr_curve(rankings, None, args.topic, **how, every_rank=bool(args.every_rank))
    table.digits = args.digits
    chart = None
    if args.plot:
        from amble.reporting.charts.curve_charts import curve_spec

        chart = curve_spec(table)
    if args.format == "json":
        digests = file_digests([args.qrels, *args.runs])
        table.facts |= digests | {"options": rankings.options | how, "audit": rankings.audit.rows()}
    write(_rendered(table, args), args.output)
    if chart is not None:
        from amble.reporting.charts.chart import save

        save(chart, args.plot)
    note(args, rankings.audit)
    return 0


def _rendered(table: Any, args: argparse.Namespace) -> str:
    """Means as a row for each run, for people; for programs, and of a topic, one row for each point."""
    from amble.table import Table

    if args.topic is not None or args.format in ("tsv", "csv", "json"):
        return str(table.render(args.format))
    by_run: dict[str, list[Any]] = {}
    for name, _, precision in table:
        by_run.setdefault(name, []).append(precision)
    levels = [f"{recall:.4g}" for recall in table["recall"][: args.levels]]
    wide = Table(["run", *levels], ([name, *row] for name, row in by_run.items()), digits=args.digits)
    wide.caption = f"interpolated precision at recall …, mean over {table.facts['topics']} topics"
    return wide.render(args.format)
