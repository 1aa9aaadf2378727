"""Score whole sessions: several queries in a row, each with its list.

  amble session qrels.txt sessions.tsv bm25.run dense.run -m MsM sDCG sRBP
  amble session qrels.txt sessiontrack2014.xml bm25.run dense.run -m "MsM(user='fwd_pat_down')"
  amble session log.json -m MsM esAP nDCG@10 -q
  amble session dd-qrels.txt a.dd b.dd -m CubeTest ACT ExpectedUtility
  amble session qrels.txt sessions.tsv bm25.run dense.run -m MsM --why s1 --plot heat.svg

The second file may be a table (session query topic run-topic) or the XML of a TREC Session Track, with runs after it;
or JSON, or runs of a TREC Dynamic Domain Track, each file a run. JSON with grades in it needs no judgments. A measure
of lists is averaged over the queries of a session. `amble list --family sessions` shows the measures. --why shows which
documents of which queries make the score of a session, or the difference of two runs.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

from amble.cli.options import (
    FORMATS,
    add_alignment,
    add_scored,
    add_sessions,
    add_threads,
    prepare,
    read_session_files,
    refuse,
)
from amble.cli.output import provenance, tell_audit, warn_topic_named_all, write
from amble.cli.plugins import load_plugins
from amble.errors import AmbleError

__all__ = ["arguments", "prepare", "run"]

_DEFAULT = "MsM sDCG sRBP"
_DEFAULT_USERS = "MsM sRBP"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    add = parser.add_argument
    add("qrels", metavar="QRELS", help="judgments: topic iter doc grade; left out where the sessions have their grades")
    add("sessions", metavar="SESSIONS", nargs="*", help="a file of sessions, and the runs that answer its queries")
    add(
        "-m",
        "--measure",
        metavar="MEASURE",
        action="append",
        help=f"what to measure (default: {_DEFAULT}; with --effort {_DEFAULT_USERS})",
    )
    add("-q", "--by-session", action="store_true", help="a score for each session, too")
    add("--format", choices=FORMATS, default="table", help="how to write it (default: table)")
    add("--intervals", action="store_true", help="95%% confidence intervals of the means (Student's t over sessions)")
    add(
        "--effort",
        action="store_true",
        help="what each measure's user does instead of scores: queries, documents, gain",
    )
    add("--why", metavar="SESSION", help="instead, which documents of which queries make the score of this session")
    add("--plot", metavar="FILE", help="with --why: ranks by queries, as a chart; .svg, .png, .pdf or .html")
    add_sessions(add)
    add_alignment(add, ties=("docno", "rank", "file"), costs=False, subtopics=False)
    add("--bib", action="store_true", help="print the BibTeX of what was used, and nothing else")
    add_threads(add)
    add_scored(add)


def run(args: argparse.Namespace) -> int:
    """Score and write."""
    load_plugins(args)
    if args.intervals and (args.by_session or args.format not in ("table", "latex", "html")):
        raise AmbleError("--intervals goes with a table of means: --format table, latex or html, without -q")
    if args.why is not None:
        refuse(args, "by_session effort intervals", "goes without --why, which shows documents of one session")
    if args.effort:
        refuse(args, "intervals", "goes without --effort: they are of scores")
    if args.plot:
        if args.why is None:
            raise AmbleError("--plot goes with --why SESSION: it draws what the documents of a session add")
        from amble.reporting.charts.chart import check_file

        check_file(args.plot)
    from amble.evaluation.inputs import parse_measures
    from amble.evaluation.scores import evaluate, of_sessions
    from amble.expressions.grammar import split_measures

    usual = _DEFAULT_USERS if args.effort else _DEFAULT
    words = [word for text in args.measure or [usual] for word in split_measures(text)]
    measures = [of_sessions(m) for m in parse_measures(words)]
    if args.plot and len(measures) > 1:
        raise AmbleError(f"--plot draws one measure, found {len(measures)}; say -m")
    if args.bib:
        from amble.references import bibliography

        write(bibliography(m.declaration.cite for m in measures), args.output)
        return 0
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        if args.effort:
            for m in measures:
                _ = m.one_user  # refuses what is no user
        sessions = read_session_files([args.qrels, *args.sessions], args)
        if args.why is not None:
            text = _why(sessions, measures, args)
        else:
            text = _effort(sessions, measures, args) if args.effort else _rendered(evaluate(sessions, measures), args)
    write(text, args.output)
    tell_audit(args, sessions.audit, heard)
    warn_topic_named_all(args, sessions.topics if args.by_session else (), "session")
    return 0


def _why(sessions: Any, measures: list[Any], args: argparse.Namespace) -> str:
    """What documents add to the scores of one session, measure by measure."""
    from amble.comparison import why

    found = [why(sessions, args.why, m) for m in measures]
    if args.plot:
        from amble.reporting.charts.chart import save
        from amble.reporting.charts.contribution_charts import session_spec

        save(session_spec(found[0]), args.plot)
    long = args.format in ("tsv", "csv", "json")
    tables = [one.table(digits=args.digits, long=long) for one in found]
    if not long:
        return "\n\n".join(table.render(args.format) for table in tables)
    whole = tables[0]
    contributions = [table.facts for table in tables]
    whole.rows = [row for table in tables for row in table.rows]
    if args.format == "json":
        whole.facts = provenance(sessions, measures, [args.qrels, *args.sessions], {"repeats": sessions.repeats})
        whole.facts |= {"contributions": contributions}
    return str(whole.render(args.format))


def _effort(sessions: Any, measures: list[Any], args: argparse.Namespace) -> str:
    """What users do: session by session where wanted, and means over sessions."""
    from amble.rankings.alignment import byte_order, plain_mean
    from amble.table import Table, mean_topic

    over = mean_topic(sessions.topics if args.by_session else ())
    rows: list[list[Any]] = []
    for m in measures:
        found = m.effort(sessions)
        for r, name in enumerate(sessions.runs):
            mine = sessions.run == r
            names = [sessions.topics[t] for t in sessions.topic[mine].tolist()]
            if args.by_session:
                rows += [[name, of, m.label, *row] for of, row in zip(names, found[mine].tolist(), strict=True)]
            rows.append([name, over, m.label, *plain_mean(found[mine][byte_order(names)].T).tolist()])
    table = Table(["run", "session", "measure", "queries", "documents", "gain"], rows, digits=args.digits)
    if args.format == "json":
        table.facts = provenance(sessions, measures, [args.qrels, *args.sessions], {"repeats": sessions.repeats})
    return table.render(args.format)


def _rendered(scores: Any, args: argparse.Namespace) -> str:
    if args.format == "tsv":
        return str(scores.tsv(topics=args.by_session, digits=args.digits)).replace("\ttopic\t", "\tsession\t", 1)
    if args.format in ("csv", "json") or args.by_session:
        table = scores.table(topics=args.by_session, digits=args.digits, wide=args.format not in ("csv", "json"))
        table.columns = tuple("session" if name == "topic" else name for name in table.columns)
    else:
        table = scores.mean(digits=args.digits, intervals=args.intervals)
    if args.format == "json":
        more = {"repeats": scores.rankings.repeats}
        table.facts = provenance(scores.rankings, list(scores.parsed), [args.qrels, *args.sessions], more)
    return str(table.render(args.format))
