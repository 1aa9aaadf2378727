"""Compare runs: which is better on a measure, by how much, and is the difference significant?

  amble compare qrels.txt bm25.run dense.run hybrid.run -m AP nDCG@10
  amble compare qrels.txt *.run -m AP --baseline bm25.run --test permutation
  amble compare qrels.txt *.run -m AP --test tukey --letters
  amble compare qrels.txt bm25.run dense.run -m AP --why 351
  amble compare qrels.txt bm25.run dense.run -m MsM --sessions sessions.tsv

Runs are compared topic by topic: all pairs, or each with a baseline. A difference is that of the first run minus
the other. --why shows which documents make the difference on a topic. With --sessions, or a measure of sessions, whole
sessions are compared; files are those of `amble session`.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from typing import Any

from amble.cli.options import (
    FORMATS,
    TESTS,
    add_alignment,
    add_inputs,
    add_scored,
    add_sessions,
    add_tests,
    add_threads,
    add_undefined,
    alignment_of,
    baseline_of,
    prepare,
    read_session_files,
)
from amble.cli.output import provenance, tell_audit, write
from amble.cli.plugins import load_plugins
from amble.errors import AmbleError

__all__ = ["arguments", "prepare", "run"]

_DEFAULT = "AP"
_USUAL: dict[str, Any] = {"test": "t", "sides": "two", "alpha": 0.05, "seed": 0, "rounds": 10_000}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    add = parser.add_argument
    add_inputs(add)
    add("-m", "--measure", metavar="MEASURE", action="append", help=f"what to compare on (default: {_DEFAULT})")
    add("--baseline", metavar="RUN", help="the run that all others are compared with (default: all pairs)")
    add("--test", choices=TESTS, help="tukey, anova: of all runs at once (default: t)")
    add("--sides", choices=("two", "less", "greater"), help="greater: is a run better than the other?")
    add_tests(add)
    add("--interval", choices=("t", "percentile", "bca"), help="of differences (default: t; bootstrap test: bca)")
    add("--letters", action="store_true", help="the runs, best first; no significant difference within a letter")
    add("--why", metavar="TOPIC", help="no test, but which documents make the difference on this topic")
    add("--format", choices=FORMATS, default="table", help="how to write it (default: table)")
    add("--sessions", metavar="FILE", help="compare sessions: session query topic run-topic, or a Session Track's XML")
    add_sessions(add)
    add_alignment(add)
    add_undefined(add)
    add_threads(add)
    add_scored(add)


def run(args: argparse.Namespace) -> int:
    """Compare and write."""
    load_plugins(args)
    if args.why is not None:
        given = [name for name in (*_USUAL, "correction", "interval") if getattr(args, name) is not None]
        if given or args.letters:
            raise AmbleError(f"--why shows documents, not tests: without --{given[0] if given else 'letters'}")
    for name, usual in _USUAL.items():
        if getattr(args, name) is None:
            setattr(args, name, usual)
    if args.letters and (args.baseline is not None or args.sides != "two"):
        raise AmbleError("--letters shows all pairs, two-sided: without --baseline and --sides")
    from amble.comparison.comparison import Design
    from amble.comparison.pairwise import check_design
    from amble.evaluation.scores import evaluate, parse_measures
    from amble.expressions.grammar import split_measures

    # a wrong option should not cost the time of reading
    options = (args.test, args.sides, args.correction or "", args.alpha, args.seed, args.rounds, args.interval or "")
    check_design(Design(None, *options))
    words = [word for text in args.measure or [_DEFAULT] for word in split_measures(text)]
    measures = parse_measures(words)
    if args.sessions or any(m.declaration.of_sessions for m in measures):
        if args.why is not None or args.undefined != "zero":
            raise AmbleError("--why and --undefined look at lists, not at sessions")
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            scores = evaluate(read_session_files(_files(args), args), measures)
        if len(scores.runs) < 2:
            raise AmbleError(f"{len(scores.runs)} run, expected at least two to compare")
    else:
        heard = []
        if len(args.runs) < 2:
            raise AmbleError(f"{len(args.runs)} run, expected at least two to compare")
        scores = evaluate(args.qrels, list(args.runs), measures, undefined=args.undefined, **alignment_of(args))
    base = None if args.baseline is None else baseline_of(scores, args)
    tables, more = _contributions(scores, base, args) if args.why is not None else _tests(scores, base, args)
    write(_rendered(tables, scores, more, args), args.output)
    if not args.quiet and sys.stderr is not None:
        tell_audit(scores.rankings.audit, heard)
    return 0


def _files(args: argparse.Namespace) -> list[str]:
    """All that is read, in the order of `amble session`."""
    return [args.qrels, *([args.sessions] if args.sessions else ()), *args.runs]


def _tests(scores: Any, base: str | None, args: argparse.Namespace) -> tuple[list[Any], dict[str, Any]]:
    from amble.comparison import anova, compare

    long = args.format in ("tsv", "csv", "json")
    tables, about, variance = [], [], []
    for measure in scores.parsed:
        found = compare(
            scores,
            measure,
            base,
            args.test,
            args.sides,
            args.correction,
            args.alpha,
            args.seed,
            args.rounds,
            interval=args.interval,
        )
        about.append(found.facts)
        if args.test == "anova":
            of = anova(scores, measure)
            variance.append(
                {"measure": of.measure, "rows": [dict(zip(of.table().columns, row, strict=True)) for row in of.table()]}
            )
            if not long and not args.letters:
                tables.append(of.table(digits=args.digits))
        if args.letters:
            table = found.letters(digits=args.digits)
            if long:
                table.columns = ("measure", *table.columns)
                table.rows = [(found.measure, *row) for row in table.rows]
        else:
            table = found.table(digits=args.digits, full=long)
        tables.append(table)
    return tables, {"comparisons": about} | ({"anova": variance} if variance else {})


def _contributions(scores: Any, base: str | None, args: argparse.Namespace) -> tuple[list[Any], dict[str, Any]]:
    from amble.comparison import why

    long = args.format in ("tsv", "csv", "json")
    runs = list(scores.runs)
    if base is not None:  # last, so that differences are from it
        runs = [*(run for run in runs if run != base), base]
    found = [why(scores, args.why, measure, runs=runs) for measure in scores.parsed]
    tables = [one.table(digits=args.digits, long=long) for one in found]
    return tables, {"contributions": [table.facts for table in tables]}


def _rendered(tables: list[Any], scores: Any, more: dict[str, Any], args: argparse.Namespace) -> str:
    """All tables: below one another for people, as one for programs."""
    if args.format in ("tsv", "csv", "json"):
        whole = tables[0]
        whole.rows = [row for table in tables for row in table.rows]
        whole.facts = {}
        if args.format == "json":
            options = {"undefined": args.undefined}
            if hasattr(scores.rankings, "repeats"):
                options["repeats"] = scores.rankings.repeats
            about = provenance(scores.rankings, list(scores.parsed), list(_files(args)), options)
            whole.facts = about | more
        return str(whole.render(args.format))
    shown = sys.stdout is not None and sys.stdout.isatty() and not args.output and "NO_COLOR" not in os.environ
    return "\n\n".join(table.render(args.format, bold=shown and args.format == "table") for table in tables)
