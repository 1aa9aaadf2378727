"""Fit users to logs of what people clicked, and write them to a file that measures can use.

  amble fit clicks.tsv.gz -o fit.toml
  amble fit 'logs/*.parquet' --layout table --columns session=sid,rank=position,time=ts --model walk -o fit.toml
  amble fit clicks.tsv --qrels qrels.txt --model walk-grade,inst -o fit.toml
  amble fit study.tsv --layout table --visits gaze --by task --target T --show continuation
  zcat day1.gz day2.gz | amble fit - --min-sessions 100 --query-rates mu.tsv
  amble fit sessions.json --layout pages --against P@10 SDCG@10 RBP INSQ AP --plot against.svg
  amble eval qrels.txt my.run -m "PH(user='fit.toml')"

--layout relpred: tab-separated lines of session, time, Q, query, region, documents, and of session, time, C, document,
as in Yandex's Relevance Prediction Challenge. --layout table: a row for each thing that happened, with the columns
session, query, rank, time, action and, if there are, doc, grade, duration and person; TSV, CSV, Parquet or JSON.
--layout pages: a row for each page, with the columns session, query, last (the last rank reached) and grades; or JSON
of sessions. Files may be compressed with gzip, xz, bzip2 or zstd; - is standard input. No query and no person is kept
or printed, but by --query-rates. In a log of 1,000 sessions or more, what fewer than 10 are behind is suppressed, and
not taken as zero: it is left out, or estimated together with its neighbours, and the output says so.
"""

from __future__ import annotations

import argparse
import contextlib
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from amble.cli.options import FORMATS, SEED, SHARE, add_digits, add_workers, number, refuse, whole, workers_from
from amble.cli.output import note, write
from amble.comparison.design import CONFIDENCE
from amble.errors import AmbleError

if TYPE_CHECKING:
    from amble.logs import Fit
    from amble.table import Table

# options of what is done with one whole log, of reading besides, and of fitting
_WHOLE = "by target min_sessions query_rates workers cluster checkpoint"
_READING = (
    f"{_WHOLE} layout columns actions visits time_unit qrels rel depth longest skip_broken memory threads temporary"
)
_FITTING = (
    "output plot model show against observation steps first moves smooth smallest confidence rounds draws seed format "
    "digits"
)
_SHOWN = ("parameters", "choice", "moves", "implied", "against", "continuation", "hazard", "groups", "equality")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    add = parser.add_argument
    add("logs", nargs="+", metavar="LOG", help="files of logs, or patterns as 'logs/*.tsv.gz'; - for standard input")
    add("--layout", choices=("relpred", "table", "pages"), default="relpred", help="of the logs (default: %(default)s)")
    add("-o", "--output", metavar="FILE", help="the file of fitted users, as fit.toml; without it none is written")
    models = (
        "all, walk, walk-rank, walk-grade, walk-rank-grade, chain, rbp, insq, insq-adaptive, insq-printed, inst, bpm, "
        "ift-goal, ift-rate, ift, continuation, msm, srbp, markov, times, times-censored"
    )
    add("--model", default="all", metavar="M,…", help=f"one or more of {models} (default: all)")
    add("--columns", metavar="WHAT=NAME,…", help="of a table: which column is the session, query, rank, time, …")
    add(
        "--actions",
        metavar="WHAT=WORD,…",
        help="of a table: the words for click, query, show, end, gaze and ignore; help: list the words that are there",
    )
    add(
        "--visits",
        choices=("click", "gaze", "both"),
        default="click",
        help="of a table: what is a visit (default: %(default)s)",
    )
    add("--by", metavar="COLUMN", help="of a table: fit each of its groups of pages apart, too, and compare them")
    add("--target", metavar="COLUMN", help="of a table: the target T of each page, for --show continuation")
    add(
        "--min-sessions",
        type=whole(1),
        default=1,
        metavar="N",
        help="times are those of queries asked in at least so many sessions (default: 1)",
    )
    add("--query-rates", metavar="FILE", help="write times by query, with its text: mu.tsv, for MP(rates='mu.tsv')")
    add("--time-unit", choices=("s", "ms", "us"), default="s", help="of a table (default: %(default)s)")
    add(
        "--qrels",
        metavar="QRELS",
        help="judgments by query and document of the log, for probabilities by grade and for INST",
    )
    add(
        "--rel",
        type=number(),
        metavar="GRADE",
        help="documents of at least this grade gain 1, any other 0 (default: their shares)",
    )
    add(
        "--against",
        nargs="+",
        action="extend",
        metavar="MEASURE",
        help="measures that are users: how well each predicts the last click, beside the fitted ones",
    )
    add(
        "--depth",
        type=whole(),
        metavar="K",
        help="the deepest rank to look at (default: the deepest there is, up to 100)",
    )
    ways = ("last", "cascade", "dependent", "sdbn")
    add("--observation", choices=ways, default="last", help="how far people read (default: %(default)s)")
    add(
        "--steps",
        choices=("path", "clicks"),
        default="path",
        help="what the steps of a walk are (default: %(default)s)",
    )
    add("--first", choices=("forward", "stop"), help="instead of going back at rank 1 (default: what is likelier)")
    add("--moves", default="+1,-1,+2,-2,top", metavar="M,…", help="of a chain (default: %(default)s)")
    add("--smooth", type=number(0), default=1.0, metavar="W", help="moves added to those from each rank (default: 1)")
    add(
        "--longest",
        type=number(0, above=True),
        default=1800.0,
        metavar="S",
        help="seconds after which a visit has no end (default: 1800)",
    )
    add("--skip-broken", action="store_true", help="leave broken records out, and report the first five")
    add(
        "--smallest",
        type=whole(0),
        metavar="N",
        help="suppress what fewer sessions are behind (default: 10 in a log of 1,000 sessions or more, else 0)",
    )
    intervals = "of the confidence intervals (default: %(default)s)"
    add("--confidence", type=SHARE, default=CONFIDENCE, metavar="C", help=intervals)
    add(
        "--rounds",
        type=whole(1, 100_000),
        default=1000,
        metavar="N",
        help="how often sessions are resampled (default: 1000)",
    )
    add(
        "--draws",
        type=whole(0),
        default=100,
        metavar="N",
        help="how many of these the file keeps, for scores (default: 100)",
    )
    add("--seed", type=SEED, default=0, metavar="S", help="same seed, same draws (default: 0)")
    usual = "default: the first two; against with --against, the last two with --by"
    add("--show", metavar="WHAT,…", help=f"of {', '.join(_SHOWN)} ({usual})")
    add("--format", choices=FORMATS, default="table", help="how to write it (default: table)")
    add_digits(add)
    add("--plot", metavar="FILE", help="chart of W, L and C, observed and implied: .svg, .png, .pdf or .html")
    add("--memory", type=whole(100), default=1000, metavar="MB", help="that the engine may take (default: 1000)")
    add("--threads", type=whole(1, 256), metavar="N", help="how many threads read (default: all there are)")
    add("--temporary", metavar="FOLDER", help="where temporary files go, about half as large as the log, unpacked")
    add("--save-counts", metavar="FILE", help="write the counts of this shard of a log, and fit nothing")
    add("--merge", action="store_true", help="LOG are files of --save-counts: their counts add up")
    add_workers(add)
    add("--quiet", action="store_true", help="no summary on standard error")


def run(args: argparse.Namespace) -> int:
    """Fit and write."""
    measures = _check(args)
    from datetime import UTC, datetime

    from amble.logs import MODELS, fit, fit_groups, read_log, study_continuation, write_query_rates
    from amble.logs.shards import merge_counts, read_counts, write_counts
    from amble.logs.sources import find_files
    from amble.users.fit_file import write_fit

    if args.actions == "help":
        return _list_actions(args)
    notes: list[str] = []
    shown = _words(args.show, "--show", _SHOWN)
    gaps: list[Any] | None = [] if args.save_counts else None
    with _stoppable(), workers_from(args) as executor:
        counts = (
            merge_counts(map(read_counts, find_files(args.logs)))
            if args.merge
            else read_log(
                args.logs,
                args.layout,
                gaps=gaps,
                executor=executor,
                columns=_pairs(args.columns, "--columns", single=True),
                actions=_pairs(args.actions, "--actions"),
                unit=args.time_unit,
                visits=args.visits,
                by=args.by,
                target=args.target,
                study="continuation" in shown or "hazard" in shown,
                min_sessions=args.min_sessions,
                query_rates=args.query_rates is not None,
                qrels=args.qrels,
                rel=args.rel,
                depth=args.depth,
                longest=args.longest,
                skip_broken=args.skip_broken,
                notes=notes,
                memory=args.memory,
                threads=args.threads,
                folder=args.temporary,
            )
        )
        if gaps is not None:
            write_counts(args.save_counts, counts, gaps[0])
            note(args, *notes, f"counts of {counts.facts.sessions:,} sessions: {args.save_counts}")
            return 0
        options: dict[str, Any] = {
            "observation": args.observation,
            "steps": args.steps,
            "first": args.first,
            "moves": args.moves,
            "smooth": args.smooth,
            "confidence": args.confidence,
            "rounds": args.rounds,
            "draws": args.draws,
            "smallest": args.smallest,
            "seed": args.seed,
            "files": args.logs,
            "layout": "counts" if args.merge else args.layout,
            "date": datetime.now(UTC).date().isoformat(),
        }
        models = "all" if args.model == "all" else _words(args.model, "--model", list(MODELS))
        groups = fit_groups(counts, models, **options) if args.by else None
        found = groups.whole if groups else fit(counts, models, **options)
        tables: dict[str, Callable[[], Table]] = {
            "parameters": found.table,
            "choice": found.choice,
            "moves": found.moves,
            "implied": partial(found.implied, measures),
            "against": partial(found.against, measures),
        }
        if groups:
            tables |= {"groups": groups.table, "equality": groups.equality}
        if {"continuation", "hazard"} & set(shown):
            smallest = found.data.smallest
            study = study_continuation(
                counts, observation=args.observation, confidence=args.confidence, smallest=smallest
            )
            tables |= {"continuation": study.cells, "hazard": study.hazard}
        text = _rendered(found, tables, args, measures)
        fitted, more = (groups.fitted, groups.notes) if groups else (found.fitted, found.notes)
        if args.plot:
            from amble.reporting.charts.chart import save
            from amble.reporting.charts.line_charts import fit_spec

            save(fit_spec(found.implied(measures)), args.plot)
        if counts.query_rates:
            notes += write_query_rates(args.query_rates, counts.query_rates, found.data.smallest)
        if args.output:
            write_fit(args.output, fitted)
    write(text, None)
    note(args, *_summary(found.facts(), args), *notes, *more)
    if args.output:
        note(args, f"wrote {args.output}: best is {fitted.best}")
    return 0


def _list_actions(args: argparse.Namespace) -> int:
    from amble.logs import read_actions

    if args.layout == "relpred":
        raise AmbleError("--actions help: expected a table, with --layout table")
    with _stoppable():
        options = {"memory": args.memory, "threads": args.threads, "folder": args.temporary}
        columns = _pairs(args.columns, "--columns", single=True)
        write(read_actions(args.logs, columns=columns, **options).render(args.format), None)
    return 0


def _check(args: argparse.Namespace) -> list[Any]:
    """Refuse what cannot be done, before anything is read; the measures of --against."""
    if args.model != "all":
        from amble.logs import MODELS

        _words(args.model, "--model", list(MODELS))
    shown = _words(args.show, "--show", _SHOWN)
    if {"groups", "equality"} & set(shown) and not args.by:
        raise AmbleError(f"--show {args.show}: groups are those of a column, as --by task")
    if {"continuation", "hazard"} & set(shown) and args.observation == "sdbn":
        raise AmbleError("--observation sdbn: a study needs where each page was left: last, cascade or dependent")
    if args.query_rates and not args.query_rates.endswith(".tsv"):
        raise AmbleError(f"--query-rates {args.query_rates}: expected a name that ends in .tsv, as measures need it")
    if args.format != "table" and len(shown) > 1:
        raise AmbleError(f"--format {args.format}: expected one table, --show {args.show} names several")
    if args.save_counts:
        refuse(
            args, f"merge {_WHOLE} {_FITTING}", "goes without --save-counts, which counts one shard and fits nothing"
        )
    if args.merge:
        refuse(args, _READING, "is of reading logs: without --merge, which adds up the counts of logs that were read")
    if args.plot:
        from amble.reporting.charts.chart import check_file

        check_file(args.plot)
    if not args.against:
        return []
    from amble.expressions.grammar import split_measures
    from amble.measures import parse

    return [parse(word) for text in args.against for word in split_measures(text)]


def _words(text: str | None, option: str, known: Sequence[str]) -> list[str]:
    """Words with commas between them, each of those known."""
    words = [] if text is None else [word.strip() for word in text.split(",")]
    for word in words:
        if word not in known:
            raise AmbleError(f"{option} {word!r:.60}: expected some of {', '.join(known)}, with commas between them")
    return words


def _pairs(text: str | None, option: str, *, single: bool = False) -> Any:
    """``a=b,c=d`` as a dict; of words, several may be given for one."""
    if text is None:
        return None
    out: dict[str, Any] = {}
    for part in text.split(","):
        name, equals, value = part.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise AmbleError(f"{option}: {part!r:.60}, expected WHAT=NAME, with commas between them")
        if single:
            if name.strip() in out:
                raise AmbleError(f"{option}: {name.strip()} twice")
            out[name.strip()] = value.strip()
        else:
            out.setdefault(name.strip(), []).append(value.strip())
    return out


@contextlib.contextmanager
def _stoppable() -> Iterator[None]:
    """Termination (SIGTERM) is as an interrupt from the keyboard: temporary files are removed."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _rendered(
    found: Fit, makers: Mapping[str, Callable[[], Table]], args: argparse.Namespace, measures: list[Any]
) -> str:
    usual = ["groups", "equality"] if args.by else ["parameters", "choice"]
    shown = _words(args.show, "--show", _SHOWN) or (
        ["against"] if measures else usual if args.format == "table" else usual[:1]
    )
    if args.format == "table" and "continuation" in shown and "hazard" not in shown:
        shown.insert(shown.index("continuation") + 1, "hazard")  # the test belongs to what it tests
    tables: list[Table] = [makers[name]() for name in shown]
    for table in tables:
        table.digits = args.digits
        if args.format == "json":
            table.facts = _facts(found) | table.facts
    return "\n\n".join(table.render(args.format) for table in tables)


def _facts(found: Fit) -> dict[str, Any]:
    from amble import __version__

    facts = found.facts()
    quartiles = [None if x != x else x for x in facts["quartiles"]]
    return {
        "amble": __version__,
        "log": facts | {"quartiles": quartiles},
        "best": found.fitted.best,
        "notes": found.notes,
    }


def _thousands(count: int | str) -> str:
    return count if isinstance(count, str) else f"{count:,}"


def _summary(facts: dict[str, Any], args: argparse.Namespace) -> list[str]:
    """What was read, in a few lines."""
    back, few = facts["backward"], any(isinstance(facts[name], str) for name in ("moves", "backward"))
    share = f" ({100 * back / facts['moves']:.1f} %)" if not few and facts["moves"] else ""
    people = f"{facts['persons']:,} persons, " if facts["persons"] else ""
    gaze, visit = args.visits != "click", "click" if args.visits == "click" and not args.merge else "visit"
    looks = f"{facts['clicks']:,} {visit}s" + f" of {facts['fixations']:,} fixations" * gaze
    lines = [
        f"{facts['records']:,} records: {people}{facts['sessions']:,} sessions, {facts['pages']:,} query sessions, "
        f"{looks}{' and clicks' * (args.visits == 'both')}",
        f"{_thousands(facts['moves'])} moves from {visit} to {visit}, "
        f"{_thousands(back)}{share} backward, {_thousands(facts['repeated'])} repeated",
    ]
    if back and not few:
        some, all_of = facts["backward_sessions"], facts["sessions"]
        lines.append(f"{some:,} of {all_of:,} sessions ({100 * some / all_of:.1f} %) with a backward move")
    if facts["quartiles"][0] == facts["quartiles"][0]:
        shown = (f"{x:.1f}" if x < 1e7 else f"{x:.3g}" for x in facts["quartiles"])
        lines.append(f"quartiles of the {'durations' if facts['dwell'] else 'gaps'}: {' / '.join(shown)} s")
    if facts["queries"]:
        least = f" asked in at least {args.min_sessions:,} sessions" * (args.min_sessions > 1)
        lines.append(f"times are those of {facts['queries']:,} queries{least}")
    if facts["judged"]:
        grades = ", ".join(f"{g:g}" for g in facts["grades"])
        lines.append(f"{facts['judged']:,} documents on pages judged, grades {grades}")
    if facts["elsewhere"]:
        lines.append(f"{_thousands(facts['elsewhere'])} clicks on what was not on the page, left out")
    if facts["beyond"]:
        lines.append(f"{_thousands(facts['beyond'])} clicks deeper than was looked at, left out")
    return lines
