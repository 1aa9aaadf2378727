"""Show how often a measure's user visits documents, and how fairly groups of documents share these visits.

  amble exposure qrels.txt bm25.run dense.run --groups docs.tsv -m "RBP(p=0.8)"
  amble exposure qrels.txt bm25.run --groups docs.tsv --target relevance -q
  amble exposure qrels.txt mine-*.run bm25.run --samples "mine=mine-*" -m "PH(p=0.5,q=0.25)"
  amble exposure qrels.txt *.run --groups docs.tsv --compare AWRF --baseline bm25.run

The exposure of a document is the expected number of visits of the measure's user. AWRF is 1 - the Jensen-Shannon
divergence of the groups' shares in it from the target; EED, EER and EEL are expected exposure: disparity, relevance and
loss, by document; Gini's coefficient is 0 if all documents are exposed alike. Groups are lines of doc group, or of doc
group share, with tabs or blanks between.
"""

from __future__ import annotations

import argparse
import math
from typing import Any

from amble.cli.options import (
    FORMATS,
    add_alignment,
    add_inputs,
    add_scored,
    add_tests,
    add_threads,
    alignment_of,
    baseline_of,
    design_of,
    include_baselines,
    inputs_of,
    number,
    refuse,
)
from amble.cli.output import note, provenance, write
from amble.cli.plugins import load_plugins
from amble.errors import AmbleError

__all__ = ["arguments", "run"]

_DEFAULT = "RBP"
_SCORES = ("AWRF", "EED", "EER", "EEL", "Gini")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    add = parser.add_argument
    add_inputs(add)
    add("-m", "--measure", metavar="MEASURE", action="append", help=f"one, whose user it is (default: {_DEFAULT})")
    add("--groups", metavar="FILE", help="groups of documents: lines of doc group, or of doc group share")
    add(
        "--target",
        dest="shares",
        metavar="SHARES",
        default="equal",
        help="the groups' shares: equal, relevance, or a file of group share, or of topic group share (default: equal)",
    )
    add("--unknown", metavar="NAME", help="a group for documents in no group (default: they are left out)")
    add("--base", type=number(2), metavar="B", help="of AWRF's logarithms, such as 2 (default: e)")
    add(
        "--samples",
        metavar="NAME=PATTERN",
        action="append",
        help="runs whose names match are several rankings by one system; may be given several times",
    )
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--by-group", action="store_true", help="the exposure of groups, and nothing else")
    only.add_argument("--by-document", action="store_true", help="the exposure of documents, and nothing else")
    only.add_argument(
        "--compare", metavar="SCORE", action="append", choices=_SCORES, help="test differences of runs, nothing else"
    )
    add("--baseline", metavar="RUN", action="append", help="with --compare: the run that others are compared with")
    add_tests(add, "with --compare")
    add("-q", "--by-topic", action="store_true", help="every topic, too")
    add("--plot", metavar="FILE", help="chart of the exposure of groups: .svg, .png, .pdf or .html")
    add("--format", choices=FORMATS, default="table", help="how to write it (default: table)")
    add_alignment(add, ties=("docno", "rank", "file"), costs=False, condense=False)
    add_threads(add)
    add_scored(add)
    parser.set_defaults(costs=None, gains=None, unjudged="zero")


def run(args: argparse.Namespace) -> int:
    """Find the exposure and write it."""
    load_plugins(args)
    samples, design = _check(args), design_of(args)
    from amble.evaluation.exposure_scores import exposure

    options: dict[str, Any] = {"target": args.shares, "unknown": args.unknown, "base": args.base or math.e}
    (measure,) = args.measure or [_DEFAULT]
    qrels, runs = inputs_of(args)
    found = exposure(qrels, runs, measure, args.groups, samples=samples, **options, **alignment_of(args))
    if args.plot:
        from amble.reporting.charts.chart import save
        from amble.reporting.charts.score_charts import group_spec

        save(group_spec(found), args.plot)
    tables = _tests(found, design, args) if args.compare else _tables(found, args)
    if args.format == "json":
        target = args.shares if args.shares not in ("equal", "relevance") else None
        files = [args.qrels, *args.runs, args.groups, target]
        more = options | {"groups": args.groups, "samples": samples}
        tables[0].facts |= provenance(found.scores.rankings, [found.measure], files, more)
    write("\n\n".join(table.render(args.format) for table in tables), args.output)
    note(args, found.scores.rankings.audit, *found.notes)
    return 0


def _check(args: argparse.Namespace) -> dict[str, list[str]] | None:
    """Refuse what cannot be done, before anything is read; the samples."""
    if len(args.measure or ()) > 1:
        raise AmbleError(f"-m {' -m '.join(args.measure)}: expected one measure, as each has a user of its own")
    if args.groups is None:
        needs = {"target": args.shares != "equal", "unknown": args.unknown, "base": args.base, "plot": args.plot}
        needs |= {"by-group": args.by_group, "compare AWRF": "AWRF" in (args.compare or ())}
        for option in (option for option, given in needs.items() if given):
            raise AmbleError(f"--{option} is of groups of documents: expected --groups FILE")
    if not args.compare:
        tests = "baseline test correction alpha seed rounds"
        refuse(args, tests, f"is of tests: expected --compare {'|'.join(_SCORES)}")
    if args.by_topic and (args.compare or args.by_document):
        raise AmbleError("--by-topic shows scores or groups on every topic: without --compare and --by-document")
    if args.baseline is not None:
        include_baselines(args)
    if args.plot:
        from amble.reporting.charts.chart import check_file

        check_file(args.plot)
    out: dict[str, list[str]] = {}
    for text in args.samples or ():
        name, _, pattern = text.partition("=")
        if not name or not pattern:
            raise AmbleError(f"--samples {text!r:.60}: expected NAME=PATTERN, as in mine=mine-*")
        out.setdefault(name, []).append(pattern)
    return out or None


def _tables(found: Any, args: argparse.Namespace) -> list[Any]:
    if args.by_document:
        return [found.by_document(digits=args.digits)]
    groups = [found.by_group(topics=args.by_topic, digits=args.digits)] if args.groups is not None else []
    if args.by_group:
        return groups
    long = args.format in ("tsv", "csv", "json")
    if args.by_topic or long:
        return [found.scores.table(topics=args.by_topic, wide=not long, digits=args.digits), *(groups * (not long))]
    return [found.table(digits=args.digits), *groups]


def _tests(found: Any, design: Any, args: argparse.Namespace) -> list[Any]:
    from dataclasses import replace

    from amble.comparison.pairwise import compare_by

    scores, long = found.scores, args.format in ("tsv", "csv", "json")
    design = replace(design, baseline=[baseline_of(scores, args, name) for name in args.baseline or ()] or None)
    each = [compare_by(scores, name, design) for name in dict.fromkeys(args.compare)]
    tables = [one.table(full=long, digits=args.digits) for one in each]
    if long:
        tables[0].rows = [row for table in tables for row in table.rows]
        tables[0].facts = {"comparisons": [one.facts for one in each]}
        del tables[1:]
    return tables
