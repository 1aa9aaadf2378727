"""Reading click logs: files become events, events become visits, visits are counted."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from amble import checks
from amble.errors import AmbleError, ReadError
from amble.logs.counts import GROUPS, Counts, Facts, GapCounts, count, gap_counts, gap_quartiles
from amble.logs.engine import MEMORY, Engine
from amble.logs.log_layouts import ACTIONS, ELSEWHERE, QUERY, SHOWN, UNITS, VISIT, WHY, Layout, relpred, table
from amble.logs.shards import add_gaps, add_shards, quartile_ranges, spell_gaps
from amble.logs.sources import Source, find_files, lines_of, table_of
from amble.parallel import FilePath, spread, workers_of
from amble.progress import Progress

__all__ = ["LAYOUTS", "LONGEST", "read_log"]

LAYOUTS = ("relpred", "table")
LONGEST = 1800.0  # seconds after which a visit is taken as not ended: half an hour, where sessions are usually cut
_DEEPEST = 100
_TICKS = 1 << 30  # of a second: sums of times are then the same in whatever order they are added up
_FEW = 5  # broken records that are reported


def read_log(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    layout: str = "relpred",
    *,
    columns: Mapping[str, str] | None = None,
    actions: Mapping[str, Sequence[str]] | None = None,
    unit: str = "s",
    qrels: Any = None,
    depth: int | None = None,
    longest: float = LONGEST,
    skip_broken: bool = False,
    notes: list[str] | None = None,
    memory: int = MEMORY,
    threads: int | None = None,
    folder: str | None = None,
    executor: Any = None,
    gaps: list[GapCounts] | None = None,
    gap_ranges: Sequence[int] = (),
) -> Counts:
    r"""The counts of logs of clicks.

    Parameters
    ----------
    paths : path or sequence of paths
        Files, or patterns as ``logs/*.tsv.gz``.
    layout : {"relpred", "table"}
        The layout of Yandex's Relevance Prediction Challenge, or a table with a row for each thing that happened.
    columns, actions, unit
        Of a table: see `amble.logs.log_layouts.table`.
    qrels : path, dict, frame, optional
        Judgments, by query and document as they are in the log; for what is estimated by grade. A table may have a
        column of grades instead.
    depth : int, optional
        The deepest rank to look at; by default the deepest clicked or shown, at most 100.
    longest : float
        Seconds after which a visit counts as not ended.
    skip_broken : bool
        Leave broken records out, instead of refusing the log.
    notes : list, optional
        Remarks on what was read, such as skipped records, are added to it.
    memory : int
        Megabytes that the engine may take.
    threads : int, optional
    folder : str, optional
        Where temporary files go.
    executor : optional
        Who reads, as `Workers` takes it: each file is a shard, which has all of its sessions, and counts add up.
    gaps, gap_ranges
        For shards: a list to which the seconds between moves, or those in some ranges, are added, counted.

    Returns
    -------
    Counts

    Raises
    ------
    ReadError
        If a file or a record cannot be read: which, where, and why.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from amble.logs import read_log
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     log = pathlib.Path(folder) / "log.tsv"
    ...     _ = log.write_text("7\t0\tQ\t1\t0\ta\tb\tc\n7\t2\tC\tc\n7\t9\tC\ta\n")
    ...     facts = read_log(log).facts
    >>> facts.pages, facts.clicks, facts.moves, facts.backward
    (1, 2, 1, 1)
    """
    _check(layout, depth, longest, unit, columns, actions)
    files = find_files([paths] if isinstance(paths, str | os.PathLike) else paths)
    if executor is not None:
        how = {"columns": columns, "actions": actions, "unit": unit, "depth": depth, "longest": longest}
        how |= {"skip_broken": skip_broken, "memory": memory, "folder": folder, "threads": threads, "qrels": qrels}
        return _read_shards(files, layout, how, executor, notes if notes is not None else [])
    with Engine(memory, threads, folder) as engine:
        source = lines_of(engine, files) if layout == "relpred" else table_of(engine, files)
        read = relpred(source) if layout == "relpred" else table(source, columns or {}, actions or {}, unit)
        try:
            engine.run_with_progress(f"create table events as {read.events}", "reading the log, bytes", source.size)
        except ReadError as error:
            if any(path in str(error) for path in files):
                raise
            raise ReadError(f"{files[0]}{' and others' if len(files) > 1 else ''}: {error}") from None
        broken = _broken(engine, source, skip_broken, notes if notes is not None else [])
        max_grade = _grades(engine, read, qrels)
        engine.remove_files()
        n = _depth(engine, source, depth)
        _visits(engine, n, ordered=read.ordered)
        counts = _counted(engine, source, n, longest, broken, max_grade)
        if gaps is not None:
            gaps.append(gap_counts(engine, gap_ranges))
        return counts


def _read_shards(files: Sequence[str], layout: str, how: dict[str, Any], executor: Any, notes: list[str]) -> Counts:
    """The counts of a log in several files, each read by a worker; quartiles of gaps, if need be, by a second pass."""
    if how["qrels"] is not None and how["depth"] is None:
        raise AmbleError("shards with judgments need one depth for all of them: depth=10, say (--depth)")
    if isinstance(how["qrels"], str | os.PathLike):
        how["qrels"] = FilePath(how["qrels"])
    with workers_of(executor) as workers, Progress("reading shards of the log") as line:

        def read(ranges: tuple[int, ...]) -> list[tuple[Counts, list[str], GapCounts]]:
            items = [(FilePath(path), path, ranges) for path in files]
            return list(spread(_read_shard, (layout, how), items, workers, progress=line))

        found = read(())
        gaps = add_gaps(gap for _, _, gap in found)
        if gaps.ranges:
            gaps = spell_gaps(gaps, add_gaps(gap for _, _, gap in read(quartile_ranges(gaps))))
    for _, told, _ in found:
        notes.extend(told)
    return add_shards([counts for counts, _, _ in found], gaps)


def _read_shard(
    shared: tuple[str, dict[str, Any]], item: tuple[FilePath, str, tuple[int, ...]]
) -> tuple[Counts, list[str], GapCounts]:
    """The counts of one file, notes on it, and its gaps; messages name the file as it was given."""
    (layout, how), (path, given, ranges) = shared, item
    notes: list[str] = []
    gaps: list[GapCounts] = []
    try:
        counts = read_log(str(path), layout, **how, notes=notes, gaps=gaps, gap_ranges=ranges)
    except AmbleError as error:
        raise type(error)(str(error).replace(path, given)) from None
    return counts, [note.replace(path, given) for note in notes], gaps[0]


def _check(
    layout: str,
    depth: int | None,
    longest: float,
    unit: str,
    columns: Mapping[str, str] | None,
    actions: Mapping[str, Sequence[str]] | None,
) -> None:
    checks.one_of(layout, LAYOUTS, "layout")
    if depth is not None:
        checks.whole(depth, "depth", 2, _DEEPEST)
    if not 0 < longest <= 1e12:
        raise AmbleError(f"longest {longest:g}: expected a number of seconds above 0")
    checks.one_of(unit, UNITS, "unit")
    if layout == "relpred" and (columns or actions):
        raise AmbleError("columns and actions are those of a table: with layout='table'")
    wrong = [name for name in actions or {} if name not in ACTIONS]
    if wrong:
        raise AmbleError(f"actions: {wrong[0]!r:.60}, expected some of {', '.join(ACTIONS)}")


def _broken(engine: Engine, source: Source, skip: bool, notes: list[str]) -> int:
    """How many records are broken; refuse the log unless they are to be skipped."""
    found: list[str] = []
    number = int(engine.run("select count(*) from events where why > 0")[0][0])
    for row, why in engine.run(f"select rowid, why from events where why > 0 order by rowid limit {_FEW}"):
        found.append(f"{source.place(engine, row)}: {WHY[why]}")
    if source.kind in ("lines", "delimited"):
        rejected = engine.run("select count(*) from (select distinct file_id, line from reject_errors)")[0][0]
        number += int(rejected)
        for path, line, what in engine.run(
            "select any_value(file_path), line, any_value(error_type) from reject_errors join reject_scans "
            f"using (scan_id, file_id) group by file_id, line order by file_id, line limit {_FEW - len(found)}"
        ):
            found.append(f"{engine.original_names(path)}:{line}: {_rejected(str(what), len(source.columns))}")
    if not number:
        return 0
    report = f"{number:,} broken record{'s' * (number > 1)}: " + "; ".join(found)
    report += "; …" if number > len(found) else ""
    if not skip:
        raise ReadError(found[0] if number == 1 else f"{report} (they can be skipped)")
    notes.append(f"skipped {report}")
    return number


def _rejected(what: str, columns: int) -> str:
    """Why the engine refused a record."""
    if what == "INVALID ENCODING":
        return "not UTF-8"
    return f"{what.lower()}, expected {columns}" if "COLUMNS" in what else what.lower()


def _grades(engine: Engine, layout: Layout, qrels: Any) -> float | None:
    """Make the table ``shown`` of documents with grades; the largest grade there is, None without any."""
    grades = f"select page, rank, max(grade) grade from ({layout.shown}) where grade is not null group by page, rank"
    if qrels is None:
        if not layout.graded:
            return None
        engine.run(f"create table shown as {grades}")
        return float(engine.run("select coalesce(max(grade), 0) from shown")[0][0])
    from amble.io.trec import read_qrels

    if not layout.shown:
        raise ReadError("judgments are joined by document: the log needs a column for the doc")
    with tempfile.TemporaryDirectory(dir=engine.folder) as folder:
        path = Path(folder) / "judged.tsv"
        with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
            for topic, docs in read_qrels(qrels).to_dict().items():
                file.writelines(f"{topic}\t{doc}\t{grade!r}\n" for doc, grade in docs.items())
        engine.run(
            "create table judged as select hash(query, doc) as key, max(grade) as of from "
            f"read_csv({engine.path(path)}, delim='\t', header=false, quote='', escape='', auto_detect=false, "
            "columns={'query': 'VARCHAR', 'doc': 'VARCHAR', 'grade': 'DOUBLE'}, strict_mode=false, "
            "hive_partitioning=false) group by 1"
        )
    engine.run(
        f"create table shown as select page, rank, max(j.of) grade from ({layout.shown}) s "
        "join judged j on j.key = s.key group by page, rank"
    )
    if not engine.run("select count(*) from shown")[0][0]:
        raise ReadError(
            "no document of the log is judged: queries and docs of the judgments are to be those of the log"
        )
    return float(engine.run("select max(of) from judged")[0][0])


def _depth(engine: Engine, source: Source, given: int | None) -> int:
    """The deepest rank that is looked at."""
    records, deepest = engine.run(
        f"select count(*), max(rank) filter (kind in ({VISIT}, {SHOWN}, {QUERY})) from events where why = 0"
    )[0]
    if not records:
        raise ReadError(f"{source.paths[0]}: empty, expected records")
    return given or min(max(int(deepest or 0), 2), _DEEPEST)


def _visits(engine: Engine, n: int, *, ordered: bool) -> None:
    """Make the tables ``pages`` and ``visits``."""
    engine.run(
        f"create table pages as select (any_value(session) % {GROUPS})::usmallint g, page from events "
        f"where kind <> {ELSEWHERE} and why = 0 group by page"
    )
    # how long a visit took is known if something comes after it in the session: another click, another query, the end;
    # not if what comes after it in the file was earlier
    later = "after" if ordered else "lead(time) over (partition by session order by time, rowid)"
    engine.run(
        f"""
        create table visits as
        with times as (
          select session, page, rank, time, kind, rowid as place, {later} as after
          from events where kind <> {SHOWN} and why = 0),
        clicks as (
          select * from times where kind = {VISIT} and rank <= {n}),
        followed as (
          select (session % {GROUPS})::usmallint g, page, rank::utinyint rank,
            coalesce(lead(rank) over own, 0)::utinyint as next, lag(rank) over own is null as first,
            coalesce(lead(time) over own, after) - time as took
          from clicks window own as (partition by page order by time, place))
        select g, page, rank, next, first,
          case when took >= 0 and isfinite(took) then round(took * {_TICKS}) / {_TICKS} end as held
        from followed"""
    )


def _counted(engine: Engine, source: Source, n: int, longest: float, broken: int, max_grade: float | None) -> Counts:
    records, sessions = engine.run("select count(*), count(distinct session) from events where why = 0")[0]
    elsewhere, beyond = engine.run(
        f"select count(*) filter (kind = {ELSEWHERE}), count(*) filter (kind = {VISIT} and rank > {n}) "
        "from events where why = 0"
    )[0]
    clicks, moves, backward, repeated = engine.run(
        "select count(*), count(*) filter (next > 0), count(*) filter (next > 0 and next < rank), "
        "count(*) filter (next = rank) from visits"
    )[0]
    if not clicks:
        raise ReadError(f"{source.paths[0]}: no click on a result, nothing to fit a user to")
    pages = engine.run("select count(*) from pages")[0][0]
    grades: tuple[float, ...] = ()
    judged = 0
    if max_grade is not None:
        grades = tuple(float(row[0]) for row in engine.run("select distinct grade from shown order by grade"))
        judged = int(engine.run("select count(*) from shown")[0][0])
    gaps = gap_quartiles(engine, moves)
    read = (records + broken, sessions, pages, clicks, moves, backward, repeated)
    facts = Facts(*read, gaps, broken, elsewhere, beyond, grades, judged)
    return count(engine, n, longest, facts, max_grade)
