"""Reading click logs: files become events, events become visits, visits are counted."""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from amble import checks
from amble.errors import AmbleError, ReadError
from amble.logs.counts import GROUPS, Counts, Facts, GapCounts, count, gap_counts, gap_quartiles
from amble.logs.engine import MEMORY, Engine, quoted
from amble.logs.log_layouts import (
    ACTIONS,
    ELSEWHERE,
    GAZE,
    IGNORED,
    QUERY,
    SHOWN,
    UNITS,
    UNKNOWN_ACTION,
    VISIT,
    VISITS,
    WHY,
    Layout,
    action_words,
    pages,
    relpred,
    table,
)
from amble.logs.page_counts import count_onward, gain_sql
from amble.logs.query_rates import read_query_rates
from amble.logs.session_pages import pages_of
from amble.logs.shards import add_gaps, add_shards, quartile_ranges, spell_gaps
from amble.logs.sources import Source, find_files, kept_streams, lines_of, table_of
from amble.logs.study import read_records
from amble.parallel import FilePath, spread, workers_of
from amble.progress import Progress
from amble.table import Table

__all__ = ["LAYOUTS", "LONGEST", "read_actions", "read_log"]

LAYOUTS = ("relpred", "table", "pages")
LONGEST = 1800.0  # seconds after which a visit is taken as not ended: half an hour, where sessions are usually cut
_DEEPEST = 100
_TICKS = 1 << 30  # of a second: sums of times are then the same in whatever order they are added up
_FEW = 5  # broken records that are reported
_MOST_WORDS = 30  # different words for actions; a column with more of them holds something else
_MOST_GROUPS = 50
_WORD = re.compile(r"[\w.:-]{1,24}")


def read_log(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    layout: str = "relpred",
    *,
    columns: Mapping[str, str] | None = None,
    actions: Mapping[str, Sequence[str]] | None = None,
    unit: str = "s",
    visits: str = "click",
    by: str | None = None,
    target: str | None = None,
    study: bool = False,
    min_sessions: int = 1,
    query_rates: bool = False,
    qrels: Any = None,
    rel: float | None = None,
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
        Files, or patterns as ``logs/*.tsv.gz``; ``-`` for standard input.
    layout : {"relpred", "table", "pages"}
        The layout of Yandex's Relevance Prediction Challenge, a table with a row for each thing that happened, or one
        with a row for each page: the last rank that was reached, and the grades by rank (also as JSON of sessions).
    columns, actions, unit
        Of a table: see `amble.logs.log_layouts.table`; of pages, `amble.logs.log_layouts.pages`.
    visits : {"click", "gaze", "both"}
        What counts as a visit. Fixations on one rank in a row, and clicks among them, are one visit.
    by, target : str, optional
        Of a table: columns with the group of each page (each is counted apart, too), and with its target.
    study : bool
        Keep what `amble.logs.study_continuation` needs; with a target it is kept anyway.
    min_sessions : int
        Times are those of queries that were asked in at least so many sessions.
    query_rates : bool
        Keep the times of every such query, with its text, for `amble.logs.write_query_rates`.
    qrels : path, dict, frame, optional
        Judgments, by query and document as they are in the log; for what is estimated by grade. A table may have a
        column of grades instead.
    rel : float, optional
        A document of at least this grade gains 1, any other 0; without it a grade gains its share of the largest one.
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
    checks.one_of(visits, VISITS, "visits")
    checks.whole(min_sessions, "min_sessions", most=checks.INT32)
    if layout != "table" and (by or target or visits != "click" or unit != "s"):
        raise AmbleError("groups, targets, fixations and units of time are those of a table: with layout='table'")
    if executor is not None:
        for name, wanted in (("by", by), ("target", target), ("study", study), ("query_rates", query_rates)):
            if wanted:
                raise AmbleError(
                    f"{name}: not of shards, which are read apart; expected no executor (--workers, --cluster)"
                )
        if min_sessions > 1:
            raise AmbleError(
                "min_sessions: not of shards, as sessions of a query may be in several; expected no executor"
            )
        how = {"columns": columns, "actions": actions, "unit": unit, "depth": depth, "longest": longest, "qrels": qrels}
        how |= {"skip_broken": skip_broken, "memory": memory, "folder": folder, "threads": threads}
        how |= {"visits": visits, "rel": rel}
        files = find_files([paths] if isinstance(paths, str | os.PathLike) else paths)
        return _read_shards(files, layout, how, executor, notes if notes is not None else [])
    with _opened(paths, layout, memory, threads, folder) as (engine, source):
        if layout != "table":
            read = relpred(source) if layout == "relpred" else pages(source, columns or {})
        else:
            read = table(source, columns or {}, actions or {}, unit, visits=visits, by=by, target=target)
        try:
            engine.run_with_progress(f"create table events as {read.events}", "reading the log, bytes", source.size)
        except ReadError as error:
            if any(path in str(error) for path in source.paths):
                raise
            others = " and others" if len(source.paths) > 1 else ""
            raise ReadError(f"{source.paths[0]}{others}: {error}") from None
        broken = _broken(engine, source, read, skip_broken, notes if notes is not None else [])
        max_grade = _grades(engine, read, qrels)
        _traits(engine, source, read, by, target)
        asked = min_sessions > 1 or query_rates
        if asked:
            _queries(engine, read, min_sessions, keep=query_rates)
        engine.remove_files()
        n = _depth(engine, source, depth)
        _visits(engine, n, read, VISITS[visits])
        rates = None
        counts = _onward(
            engine, n, read, _counted(engine, source, n, longest, broken, max_grade, rel, read, by_query=asked)
        )
        if query_rates:
            rates = read_query_rates(engine, n, min_sessions, timed=_timed(read))
        records = {}
        if study or target:
            who = "person" if read.person else "session"
            gain = gain_sql("grade", max_grade, rel) if max_grade and counts.facts.judged else None
            records = read_records(engine, n, gain, who, by=by or "", target=target or "")
        counts = replace(counts, records=records, query_rates=rates)
        if by:
            engine.run("alter table events rename to all_events")
            groups = {}
            for (label,) in engine.run("select distinct label from traits order by label"):
                engine.run(
                    "create or replace table events as select e.* from all_events e where e.page in (select page from "
                    f"traits where label = {quoted(label)}) order by e.rowid"
                )
                _visits(engine, n, read, VISITS[visits])
                try:
                    own = _counted(engine, source, n, longest, 0, max_grade, rel, read, by_query=asked)
                    groups[label] = _onward(engine, n, read, own)
                except ReadError as error:
                    raise ReadError(f"{error}: {by} {label!r:.60}") from None
            counts = replace(counts, by=by, groups=groups)
        if gaps is not None:
            gaps.append(gap_counts(engine, gap_ranges, _timed(read)))
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


def read_actions(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    columns: Mapping[str, str] | None = None,
    actions: Mapping[str, Sequence[str]] | None = None,
    memory: int = MEMORY,
    threads: int | None = None,
    folder: str | None = None,
) -> Table:
    r"""A table of the words for actions in a log, and what each is taken as.

    Parameters
    ----------
    paths, columns, actions, memory, threads, folder
        As those of `read_log`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from amble.logs import read_actions
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     log = pathlib.Path(folder) / "log.csv"
    ...     _ = log.write_text("session,rank,action\n1,,serp\n1,2,fixation\n1,2,click\n1,3,fixation\n")
    ...     print(read_actions(log, actions={"query": ["serp"]}))
    word      rows  taken as
    fixation     2  gaze
    click        1  click
    serp         1  query
    """
    _check("table", None, LONGEST, "s", columns, actions)
    with _opened(paths, "table", memory, threads, folder) as (engine, source):
        read = table(source, columns or {}, actions or {})
        if not read.words:
            raise ReadError(f"{source.paths[0]}: no column for the action: all rows are clicks, or fixations")
        found = _words(engine, read)
        if found is None:
            raise ReadError(f"{source.paths[0]}: {_SECRET}")
        return Table(["word", "rows", "taken as"], [[word, n, what or "unknown"] for word, n, what in found])


@contextlib.contextmanager
def _opened(
    paths: Any, layout: str, memory: int, threads: int | None, folder: str | None
) -> Iterator[tuple[Engine, Source]]:
    """The engine and the source of a log; messages name files as they were given."""
    files = find_files([paths] if isinstance(paths, str | os.PathLike) else paths)
    with Engine(memory, threads, folder) as engine:
        try:
            kept = kept_streams(engine, files)
            yield engine, {"relpred": lines_of, "table": table_of, "pages": pages_of}[layout](engine, kept)
        except ReadError as error:
            raise ReadError(engine.original_names(str(error))) from None


def _onward(engine: Engine, n: int, read: Layout, counts: Counts) -> Counts:
    """Counts, with those of pages that another query of their session came after, where sessions have several."""
    if counts.facts.pages == counts.facts.sessions:
        return counts
    who = "person" if read.person else "session"
    return replace(counts, onward=count_onward(engine, n, counts.pages, ordered=read.ordered, who=who))


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
    if (layout == "relpred" and columns) or (layout != "table" and actions):
        raise AmbleError("columns and actions are those of a table: with layout='table'")
    wrong = [name for name in actions or {} if name not in ACTIONS]
    if wrong:
        raise AmbleError(f"actions: {wrong[0]!r:.60}, expected some of {', '.join(ACTIONS)}")


_SECRET = "too many different words for actions to show, some with blanks: is it the column of actions?"


def _words(engine: Engine, read: Layout) -> list[tuple[str, int, str]] | None:
    """The words for actions, most frequent first: word, rows, what it is taken as; None if they may be queries."""
    sql = f"select word, any_value(kind), count(*) n from ({read.words}) group by word order by n desc, word"
    found = engine.run(f"{sql} limit {_MOST_WORDS + 1}")
    if len(found) > _MOST_WORDS or any(not kind and not _WORD.fullmatch(word or "-") for word, kind, _ in found):
        return None
    return [(word or "(none)", int(n), action_words(kind)) for word, kind, n in found]


def _explained(engine: Engine, read: Layout) -> str:
    """Which words for actions there are, and what can be done about those that are not known."""
    found = _words(engine, read)
    if found is None:
        return _SECRET
    words = ", ".join(f"{word} ({n:,}: {what or 'unknown'})" for word, n, what in found)
    unknown = next((word for word, _, what in found if not what), "")
    return f"found {words}; say what they are, as click={unknown} or ignore={unknown}"


def _broken(engine: Engine, source: Source, read: Layout, skip: bool, notes: list[str]) -> int:
    """How many records are broken; refuse the log unless they are to be skipped."""
    found: list[str] = []
    number, words = engine.run(f"select count(*), count(*) filter (why = {UNKNOWN_ACTION}) from events where why > 0")[
        0
    ]
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
    explained = f"; actions: {_explained(engine, read)}" if words else ""
    if not skip:
        raise ReadError((found[0] if number == 1 else f"{report} (they can be skipped)") + explained)
    notes.append(engine.original_names(f"skipped {report}{explained}"))
    return int(number)


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


def _traits(engine: Engine, source: Source, read: Layout, by: str | None, target: str | None) -> None:
    """Make the table ``traits``: the group and the target of each page, which has one of them."""
    if not read.traits:
        return
    names = {"label": by, "target": target}
    parts = [
        f"min(nullif({what}, '')) {what}, max(nullif({what}, '')) {what}_2" for what, name in names.items() if name
    ]
    engine.run(
        f"create table traits as select page, {', '.join(parts)} from ({read.traits}) "
        "where page in (select page from events where why = 0) group by page"
    )
    for what, name in names.items():
        if name is None:
            continue
        for wrong, why in (
            (f"{what} is null", f"no value of {name}"),
            (f"{what} <> {what}_2", f"several values of {name}"),
            (f"not coalesce(isfinite(try_cast({what} as double)), false)", f"a value of {name} that is not a number"),
        ):
            if what == "label" and "number" in why:
                continue
            if pages := engine.run(f"select count(*) from traits where {wrong}")[0][0]:
                raise ReadError(f"{source.paths[0]}: {pages:,} pages with {why}, expected one for each page")
    if by:
        labels = engine.run("select count(distinct label) from traits")[0][0]
        if labels > _MOST_GROUPS:
            raise ReadError(
                f"{source.paths[0]}: {labels:,} values of {by}, expected at most {_MOST_GROUPS} groups, such as tasks"
            )


def _queries(engine: Engine, read: Layout, least: int, *, keep: bool) -> None:
    """Make the table ``asked``: pages of queries that were asked in enough sessions, and, to keep, which they are."""
    if not read.queries:
        raise ReadError("times by query: the log needs a column for the query")
    engine.run(
        f"create table asked as with pages as (select distinct page, session from events where why = 0), "
        f"askers as (select q.page, session, {'query' if keep else 'hash(query)'} query from ({read.queries}) q "
        "join pages p on p.page = q.page) "
        f"select page, query from askers where query in (select query from askers group by query "
        f"having count(distinct session) >= {least})"
    )


def _timed(read: Layout) -> str:
    """Which visits have a time of their own, as SQL: all, where it was measured; else those another visit follows."""
    return "true" if read.dwell else "next > 0"


def _depth(engine: Engine, source: Source, given: int | None) -> int:
    """The deepest rank that is looked at."""
    records, deepest = engine.run(
        f"select count(*), max(rank) filter (kind in ({VISIT}, {SHOWN}, {QUERY}, {GAZE})) from events where why = 0"
    )[0]
    if not records:
        raise ReadError(f"{source.paths[0]}: empty, expected records")
    return given or min(max(int(deepest or 0), 2), _DEEPEST)


def _visits(engine: Engine, n: int, read: Layout, kinds: Sequence[int]) -> None:
    """Make the tables ``pages`` and ``visits``; in these, what few have of a person stays together."""
    who = "person" if read.person else "session"
    engine.run(
        f"create or replace table pages as select (any_value({who}) % {GROUPS})::usmallint g, page from events "
        f"where kind not in ({ELSEWHERE}, {IGNORED}) and why = 0 group by page"
    )
    # how long a visit took is known if something comes after it in the session: another click, another query, the end;
    # not if what comes after it in the file was earlier
    later = "after" if read.ordered else "lead(time) over (partition by session order by time, rowid)"
    others = {VISIT, GAZE} - set(kinds)
    took = "duration" if read.dwell else "coalesce(lead(time) over own, after) - time"
    clicks = f"select * from times where kind in ({', '.join(map(str, kinds))}) and rank <= {n}"
    if GAZE in kinds:  # fixations on one rank in a row are one visit, with a click among them
        clicks = f"""
          select any_value({who}) {who}, page, any_value(rank) rank, min(time) as time, min(place) place,
            arg_max(after, place) as after{", sum(duration) duration" if read.dwell else ""}
          from (select *, sum(new) over (partition by page order by time, place rows unbounded preceding) run from (
            select *, case when rank = lag(rank) over w and {GAZE} in (kind, lag(kind) over w) then 0 else 1 end as new
            from ({clicks}) window w as (partition by page order by time, place)))
          group by page, run"""
    engine.run(
        f"""
        create or replace table visits as
        with times as (
          select {"*" if read.person or read.dwell else "session, page, rank, time, kind"}, rowid as place,
            {later} as after from events
          where kind not in ({", ".join(map(str, sorted({SHOWN, IGNORED} | others)))}) and why = 0),
        clicks as ({clicks}),
        followed as (
          select ({who} % {GROUPS})::usmallint g, page, rank::utinyint rank,
            coalesce(lead(rank) over own, 0)::utinyint as next, lag(rank) over own is null as first,
            {took} as took
          from clicks window own as (partition by page order by time, place))
        select g, page, rank, next, first,
          case when took >= 0 and isfinite(took) then round(took * {_TICKS}) / {_TICKS} end as held
        from followed"""
    )


def _counted(
    engine: Engine,
    source: Source,
    n: int,
    longest: float,
    broken: int,
    max_grade: float | None,
    rel: float | None,
    read: Layout,
    *,
    by_query: bool,
) -> Counts:
    who = ", count(distinct person)" if read.person else ", 0"
    records, sessions, persons = engine.run(f"select count(*), count(distinct session){who} from events where why = 0")[
        0
    ]
    elsewhere, beyond, fixations = engine.run(
        f"select count(*) filter (kind = {ELSEWHERE}), count(*) filter (kind in ({VISIT}, {GAZE}) and rank > {n}), "
        f"count(*) filter (kind = {GAZE}) from events where why = 0"
    )[0]
    clicks, moves, backward, repeated = engine.run(
        "select count(*), count(*) filter (next > 0), count(*) filter (next > 0 and next < rank), "
        "count(*) filter (next = rank) from visits"
    )[0]
    if not clicks:
        gazes = f", but {fixations:,} fixations, which may count as visits" if fixations else ""
        raise ReadError(f"{source.paths[0]}: no click on a result{gazes or ', nothing to fit a user to'}")
    back = engine.run(
        "select count(distinct session) from events where why = 0 and page in "
        "(select page from visits where next > 0 and next < rank)"
    )[0][0]
    pages = engine.run("select count(*) from pages")[0][0]
    grades: tuple[float, ...] = ()
    judged = queries = 0
    if max_grade is not None:
        grades = tuple(float(row[0]) for row in engine.run("select distinct grade from shown order by grade"))
        judged = int(engine.run("select count(*) from shown where page in (select page from pages)")[0][0])
    if by_query:
        queries = int(
            engine.run("select count(distinct query) from asked where page in (select page from pages)")[0][0]
        )
    gaps = gap_quartiles(engine, _timed(read))
    seen = (records + broken, sessions, pages, clicks, moves, backward, repeated)
    more = (int(back), int(fixations), int(persons), read.dwell, queries)
    facts = Facts(*seen, gaps, broken, elsewhere, beyond, grades, judged, *more)
    return count(engine, n, longest, facts, max_grade, rel, timed=_timed(read), by_query=by_query)
