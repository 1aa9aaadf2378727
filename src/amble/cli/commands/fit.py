"""Fit users to logs of what people clicked, and write them to a file that measures can use.

  amble fit clicks.tsv.gz -o fit.toml
  amble fit 'logs/*.parquet' --layout table --columns session=sid,rank=position,time=ts --model walk -o fit.toml
  amble fit clicks.tsv --qrels qrels.txt --model walk-grade,inst -o fit.toml
  amble eval qrels.txt my.run -m "PH(user='fit.toml')"

--layout relpred: tab-separated lines of session, time, Q, query, region, documents, and of session, time, C, document,
as in Yandex's Relevance Prediction Challenge. --layout table: a row for each thing that happened, with the columns
session, query, rank, time, action and, if there are, doc and grade; TSV, CSV, Parquet or JSON. Files may be compressed
with gzip, xz, bzip2 or zstd. No query and no person is kept or printed. What few sessions are behind is
suppressed, and not taken as zero: it is left out, or estimated together with its neighbours, and the output says so.
"""

from __future__ import annotations

import argparse
import contextlib
import signal
import threading
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from amble.cli.options import FORMATS, SEED, SHARE, add_digits, add_workers, number, whole, workers_from
from amble.cli.output import note, write
from amble.comparison.design import CONFIDENCE
from amble.errors import AmbleError

if TYPE_CHECKING:
    from amble.logs import Fit
    from amble.table import Table

_SHOWN = ("parameters", "choice", "moves", "implied")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    add = parser.add_argument
    add("logs", nargs="+", metavar="LOG", help="files of logs, or patterns as 'logs/*.tsv.gz'")
    add("--layout", choices=("relpred", "table"), default="relpred", help="of the logs (default: %(default)s)")
    add("-o", "--output", metavar="FILE", help="the file of fitted users, as fit.toml; without it none is written")
    models = "all, walk, walk-rank, walk-grade, rbp, insq, inst, continuation, markov, times, times-censored"
    add("--model", default="all", metavar="M,…", help=f"one or more of {models} (default: all)")
    add("--columns", metavar="WHAT=NAME,…", help="of a table: which column is the session, query, rank, time, …")
    add("--actions", metavar="WHAT=WORD,…", help="of a table: the words for click, query, show and end")
    add("--time-unit", choices=("s", "ms", "us"), default="s", help="of a table (default: %(default)s)")
    add(
        "--qrels",
        metavar="QRELS",
        help="judgments by query and document of the log, for probabilities by grade and for INST",
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
        default=10,
        metavar="N",
        help="suppress what fewer sessions are behind (default: 10)",
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
    add("--show", metavar="WHAT,…", help=f"of {', '.join(_SHOWN)} (default: the first two)")
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
    _check(args)
    from datetime import UTC, datetime

    from amble.logs import MODELS, fit, read_log
    from amble.logs.shards import merge_counts, read_counts, write_counts
    from amble.users.fit_file import write_fit

    notes: list[str] = []
    gaps: list[Any] | None = [] if args.save_counts else None
    with _stoppable(), workers_from(args) as executor:
        counts = (
            merge_counts(map(read_counts, args.logs))
            if args.merge
            else read_log(
                args.logs,
                args.layout,
                gaps=gaps,
                executor=executor,
                columns=_pairs(args.columns, "--columns", single=True),
                actions=_pairs(args.actions, "--actions"),
                unit=args.time_unit,
                qrels=args.qrels,
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
        found = fit(
            counts,
            "all" if args.model == "all" else _words(args.model, "--model", list(MODELS)),
            observation=args.observation,
            steps=args.steps,
            first=args.first,
            smooth=args.smooth,
            confidence=args.confidence,
            rounds=args.rounds,
            draws=args.draws,
            smallest=args.smallest,
            seed=args.seed,
            files=args.logs,
            layout=args.layout,
            date=datetime.now(UTC).date().isoformat(),
        )
        if args.plot:
            from amble.reporting.charts.chart import save
            from amble.reporting.charts.line_charts import fit_chart

            save(fit_chart(found.implied()), args.plot)
        if args.output:
            write_fit(args.output, found.fitted)
    write(_rendered(found, args), None)
    note(args, *_summary(found.facts()), *notes, *found.notes)
    if args.output:
        note(args, f"wrote {args.output}: best is {found.fitted.best}")
    return 0


def _check(args: argparse.Namespace) -> None:
    """Refuse what cannot be done, before anything is read."""
    if args.model != "all":
        from amble.logs import MODELS

        _words(args.model, "--model", list(MODELS))
    shown = _words(args.show, "--show", _SHOWN)
    if args.format != "table" and len(shown) > 1:
        raise AmbleError(f"--format {args.format}: expected one table, --show {args.show} names several")
    if args.save_counts and (args.merge or args.workers or args.cluster or args.checkpoint):
        raise AmbleError(
            "--save-counts is of one shard, read here: without --merge, --workers, --cluster, --checkpoint"
        )
    if args.plot:
        from amble.reporting.charts.chart import check_file

        check_file(args.plot)


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


def _rendered(found: Fit, args: argparse.Namespace) -> str:
    usual = ["parameters", "choice"] if args.format == "table" else ["parameters"]
    shown = _words(args.show, "--show", _SHOWN) or usual
    makers = {"parameters": found.table, "choice": found.choice, "moves": found.moves, "implied": found.implied}
    tables: list[Table] = [makers[name]() for name in shown]
    for table in tables:
        table.digits = args.digits
        if args.format == "json":
            table.facts = _facts(found)
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


def _summary(facts: dict[str, Any]) -> list[str]:
    """What was read, in a few lines."""
    back, few = facts["backward"], any(isinstance(facts[name], str) for name in ("moves", "backward"))
    share = f" ({100 * back / facts['moves']:.1f} %)" if not few and facts["moves"] else ""
    lines = [
        f"{facts['records']:,} records: {facts['sessions']:,} sessions, {facts['pages']:,} query sessions, "
        f"{facts['clicks']:,} clicks",
        f"{_thousands(facts['moves'])} moves from click to click, {_thousands(back)}{share} backward, "
        f"{_thousands(facts['repeated'])} repeated",
    ]
    if facts["quartiles"][0] == facts["quartiles"][0]:
        shown = (f"{x:.1f}" if x < 1e7 else f"{x:.3g}" for x in facts["quartiles"])
        lines.append(f"quartiles of the gaps: {' / '.join(shown)} s")
    if facts["judged"]:
        grades = ", ".join(f"{g:g}" for g in facts["grades"])
        lines.append(f"{facts['judged']:,} documents on pages judged, grades {grades}")
    if facts["elsewhere"]:
        lines.append(f"{_thousands(facts['elsewhere'])} clicks on what was not on the page, left out")
    if facts["beyond"]:
        lines.append(f"{_thousands(facts['beyond'])} clicks deeper than was looked at, left out")
    return lines
