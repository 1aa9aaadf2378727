"""Layouts of click logs: from the records of files to events.

An event is a row of numbers: the session and the page (one list of results shown in answer to a query), both as numbers
that mean nothing elsewhere; the rank; the time in seconds; what happened; why the record is broken, if it is. No query,
no address and no name of a person gets this far.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from amble.errors import AmbleError, ReadError
from amble.logs.engine import quoted
from amble.logs.sources import Source

__all__ = [
    "ACTIONS", "COLUMNS", "ELSEWHERE", "END", "GAZE", "IGNORED", "QUERY", "SHOWN", "UNITS", "UNKNOWN_ACTION", "VISIT",
    "VISITS", "WHY", "Layout", "action_words", "pages", "relpred", "table",
]  # fmt: skip

QUERY, VISIT, SHOWN, END, ELSEWHERE, GAZE, IGNORED = 1, 2, 3, 4, 5, 6, 7  # what happened
VISITS = {"click": (VISIT,), "gaze": (GAZE,), "both": (VISIT, GAZE)}  # which of these are visits
UNKNOWN_ACTION = 8

WHY = {  # why a record is broken; what it holds is not shown, since people may have typed it
    1: "the third column is neither Q nor C",
    2: "the time is not a number",
    3: "a query with fewer than 6 columns, expected session, time, Q, query, region and at least one document",
    4: "a click with other than 4 columns, expected session, time, C and a document",
    5: "a click without a query of its session before it (the lines of a session stand together)",
    6: "no session",
    7: "the rank is not a whole number from 1 on",
    UNKNOWN_ACTION: "the action is none that is known",
    9: "the grade is not a number",
    10: "the duration is not a number of at least 0",
    11: "no person",
    20: "the last rank is not a whole number of at least 0",
    21: "the grades are not numbers with blanks or commas between them",
}
_RUNNING = "rows between unbounded preceding and current row"

COLUMNS = ("session", "query", "rank", "time", "action", "doc", "grade", "duration", "person")
UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6}
ACTIONS = {
    "click": ("click", "visit", "view", "read", "c", "v"),
    "query": ("query", "search", "page", "q"),
    "show": ("show", "shown", "impression", "s", "i"),
    "end": ("end", "close", "leave", "e"),
    "gaze": ("gaze", "fixation", "fixate", "look", "g", "f"),
    "ignore": ("ignore",),
}
_KINDS = {"click": VISIT, "query": QUERY, "show": SHOWN, "end": END, "gaze": GAZE, "ignore": IGNORED}


class Layout(NamedTuple):
    """Queries over a source.

    Parameters
    ----------
    events : str
        Columns session, page, rank (of a query: how many results its page has, if that is known), time, kind, why;
        if the records of a session are in order, after: the time of the next of its records; and duration and person,
        if they are known.
    shown : str
        Columns page, rank, and key (of the query and the document) or grade: what is known of what was on the pages;
        empty if nothing is.
    ordered : bool
        Whether there is a column after.
    graded : bool
        Whether what was shown has grades.
    queries : str
        Columns page and query: its text; empty if it is not known.
    traits : str
        Columns page, and label and target, as text: what was asked for of its group and its target.
    words : str
        Columns word and kind: what the actions are called, and what they are taken as.
    dwell, person : bool
        Whether there are columns duration and person.
    """

    events: str
    shown: str
    ordered: bool
    graded: bool
    queries: str = ""
    traits: str = ""
    words: str = ""
    dwell: bool = False
    person: bool = False


def _finite(text: str) -> str:
    """A number; null if it is none, or is not finite."""
    return f"case when isfinite(try_cast({text} as double)) then try_cast({text} as double) end"


# ---- Yandex's Relevance Prediction Challenge


def relpred(source: Source) -> Layout:
    """The layout of Yandex's Relevance Prediction Challenge.

    Tab-separated lines ``session time Q query region document …`` and ``session time C document``. A click belongs to
    the last page of its session before it.
    """
    lines = f"select string_split(line, chr(9)) cells from {source.sql}"
    parsed = f"""
        select hash(cells[1]) session, try_cast(cells[2] as double) as time, cells[3] kind,
          case when kind = 'C' then len(cells) = 4 else len(cells) >= 6 end as whole,
          case when kind = 'C' then cells[4] end doc,
          case when kind = 'Q' then cells[6:] end page,
          case when kind = 'Q' then session end opener
        from ({lines})"""
    carried = f"""
        select session, time, kind, whole, doc, sum((kind = 'Q')::int) over ({_RUNNING}) number,
          last_value(page ignore nulls) over ({_RUNNING}) page,
          last_value(opener ignore nulls) over ({_RUNNING}) owner,
          lead(session) over () follower, lead(time) over () later
        from ({parsed})"""
    events = f"""
        select session, number::ubigint page,
          case when kind = 'C' then coalesce(list_position(page, doc), 0)
            when kind = 'Q' then len(page) else 0 end::integer rank,
          time,
          case when kind = 'Q' then {QUERY} when kind = 'C' and rank > 0 then {VISIT}
            else {ELSEWHERE} end::utinyint kind,
          case when kind not in ('Q', 'C') or kind is null then 1 when not coalesce(isfinite(time), false) then 2
            when not whole and kind = 'Q' then 3 when not whole then 4
            when kind = 'C' and (owner is null or owner <> session) then 5 else 0 end::utinyint why,
          case when follower = session then later end as after
        from ({carried})"""
    # the same numbers of pages as above
    queries = f"select cells, sum((cells[3] = 'Q')::int) over ({_RUNNING}) number from ({lines})"
    documents = f"""
        select number::ubigint page, cells[4] query, unnest(cells[6:]) doc,
          generate_subscripts(cells[6:], 1)::integer rank
        from ({queries}) where cells[3] = 'Q'"""
    shown = f"select page, rank, hash(query, doc) as key from ({documents})"
    asked = f"select number::ubigint page, cells[4] query from ({queries}) where cells[3] = 'Q'"
    return Layout(events, shown, ordered=True, graded=False, queries=asked)


# ---- a table


def table(
    source: Source,
    columns: Mapping[str, str],
    actions: Mapping[str, Sequence[str]],
    unit: str = "s",
    *,
    visits: str = "click",
    by: str | None = None,
    target: str | None = None,
) -> Layout:
    """The layout of a table with a row for each event.

    Parameters
    ----------
    source : Source
    columns : dict
        Which column holds what: of `COLUMNS`; those not named have their own names. Session and rank are needed;
        without a query, a session has one page; without an action, all rows are clicks (with ``visits="gaze"``,
        fixations); without a time, rows are in the order of the file.
    actions : dict
        The words for ``click``, ``query``, ``show``, ``end``, ``gaze`` and ``ignore``, in place of `ACTIONS`.
    unit : {"s", "ms", "us"}
        Of the time and the duration, if they are numbers; dates with times are understood, too.
    visits : {"click", "gaze", "both"}
    by, target : str, optional
        Columns with the group and the target of each page.
    """
    of = _columns(source, columns)
    own, query = (_text(of[name]) if name in of else "''" for name in ("session", "query"))
    person = f"nullif({_text(of['person'])}, '')" if "person" in of else ""
    session = f"nullif({own}, '')"
    whose = ", ".join(filter(None, (person, session)))  # sessions of two persons are two, whatever they are called
    time = "null::double"
    if "time" in of:
        number = f"({_finite(of['time'])}) * {UNITS[unit]!r}"
        time = f"coalesce({number}, epoch(try_cast({of['time']}::varchar as timestamptz)))"
    kind, wrong = f"{GAZE if visits == 'gaze' else VISIT}", "false"
    if "action" in of:
        words = {name: tuple(actions.get(name, ACTIONS[name])) for name in ACTIONS}
        word = f"lower({_text(of['action'])})"
        cases = [
            f"when {word} in ({', '.join(quoted(w.lower()) for w in words[name])}) then {_KINDS[name]}"
            for name in ACTIONS
            if words[name]
        ]
        kind = f"case {' '.join(cases)} else 0 end"
        wrong = f"({kind}) = 0"
    elif actions:
        raise ReadError(
            f"{source.paths[0]}: no column for the action, so no words for it; say which it is, as action=NAME"
        )
    rank = f"try_cast({of['rank']}::varchar as double)"
    (grade, bad_grade), (took, bad_took) = (_optional(of.get(name)) for name in ("grade", "duration"))
    late = f"({time}) is null" if "time" in of else "false"
    key = f"hash({query}, {_text(of['doc'])})" if "doc" in of else "null::ubigint"
    ranked = f"{rank} >= 1 and {rank} < 1e9 and {rank} = floor({rank})"
    more = {f"({took}) * {UNITS[unit]!r} as duration": "duration" in of, f"hash({person}) person": bool(person)}
    rows = f"""
        select hash({whose}) session, hash({whose}, {query}) page, {time} as time, ({kind})::utinyint kind,
          case when {ranked} and ({kind}) <> {QUERY} then {rank} else 0 end::integer rank,
          {grade} grade, {key} as key{"".join(f", {sql}" for sql, there in more.items() if there)},
          case when {session} is null then 6 when {wrong} then {UNKNOWN_ACTION} when {late} then 2
            when ({kind}) in ({VISIT}, {SHOWN}, {GAZE}) and not coalesce({ranked}, false) then 7
            when {bad_grade} then 9 when {bad_took} or ({took}) < 0 then 10
            when {f"{person} is null" if person else "false"} then 11 else 0 end::utinyint why
        from {source.sql}"""
    shown = f"select page, rank, key, grade from ({rows}) where why = 0 and rank > 0 and kind <> {IGNORED}"
    names = ", ".join(name for name, there in (("duration", "duration" in of), ("person", person)) if there)
    traits = ", ".join(
        f"{_text(_column(source, name))} {what}" for what, name in (("label", by), ("target", target)) if name
    )
    page = f"hash({whose}, {query}) page"
    return Layout(
        f"select session, page, rank, time, kind, why{f', {names}' if names else ''} from ({rows})",
        shown if {"doc", "grade"} & set(of) else "",
        ordered=False,
        graded="grade" in of,
        queries=f"select distinct {page}, {query} query from {source.sql}" if "query" in of else "",
        traits=f"select {page}, {traits} from {source.sql} where ({kind}) <> {IGNORED}" if traits else "",
        words=f"select {word} word, {kind} kind from {source.sql}" if "action" in of else "",
        dwell="duration" in of,
        person=bool(person),
    )


def action_words(kind: int) -> str:
    """What a row is taken as, by its number in the table of events; empty if its word is not known."""
    return next((name for name, number in _KINDS.items() if number == kind), "")


def _text(column: str) -> str:
    return f"trim({column}::varchar)"


def _optional(column: str | None) -> tuple[str, str]:
    """A number that need not be there, and whether something else is, as SQL."""
    if column is None:
        return "null::double", "false"
    there = f"nullif({_text(column)}, '')"
    number = _finite(there)
    return number, f"{there} is not null and ({number}) is null"


# ---- a table of pages

PAGE_COLUMNS = ("session", "query", "last", "grades")
_NUMBER = r"(-?\d+(\.\d*)?([eE][+-]?\d+)?|-|null|nan)"


def pages(source: Source, columns: Mapping[str, str]) -> Layout:
    """The layout of a table with a row for each page: the last rank that was reached, and the grades by rank.

    Parameters
    ----------
    source : Source
    columns : dict
        Which column holds what: of `PAGE_COLUMNS`; those not named have their own names. Session and last are needed;
        without a query, every row is a page. A last rank below the last grade counts as that of the last grade, and 0
        is a page of which nothing is known. A grade may be ``-``, ``null`` or ``nan``: unjudged.
    """
    of = _columns(source, columns, PAGE_COLUMNS, ("session", "last"))
    session = f"nullif(trim({of['session']}::varchar), '')"
    query = f"trim({of['query']}::varchar)" if "query" in of else "row_number() over ()"
    grades = f"lower(trim(coalesce({of['grades']}::varchar, ''), ' []'))" if "grades" in of else "''"
    rows = f"""
        select {session} session, {query} query, {grades} as text,
          try_cast(coalesce(nullif(trim({of["last"]}::varchar), ''), '0') as double) as last
        from {source.sql}"""
    parsed = rf"""
        select hash(session) session, hash(session, query) page,
          case when text = '' then [] else regexp_split_to_array(text, '[\s,;]+') end as shown,
          case when session is null then 6
            when not coalesce(last >= 0 and last < 1e9 and last = floor(last), false) then 20
            when text <> '' and not regexp_full_match(text, '{_NUMBER}([\s,;]+{_NUMBER})*') then 21
            else 0 end::utinyint why,
          case when why <> 0 then 0 when len(shown) > 0 then least(last, len(shown)) else last end::integer rank
        from ({rows})"""
    events = f"""
        select session, page, rank, null::double as time,
          case when rank > 0 then {VISIT} else {QUERY} end::utinyint kind, why
        from ({parsed})"""
    each = f"select page, unnest(shown) word, generate_subscripts(shown, 1)::integer rank from ({parsed}) where why = 0"
    known = f"select page, rank, {_finite('word')} as grade from ({each}) where word not in ('-', 'null', 'nan')"
    return Layout(events, known if "grades" in of else "", ordered=False, graded="grades" in of)


def _columns(
    source: Source,
    given: Mapping[str, str],
    names: Sequence[str] = COLUMNS,
    needed: Sequence[str] = ("session", "rank"),
) -> dict[str, str]:
    """Which column holds what, as SQL."""
    unknown = [name for name in given if name not in names]
    if unknown:
        raise AmbleError(f"columns: {unknown[0]!r:.60}, expected some of {', '.join(names)}")
    by_name = {name.lower(): name for name in source.columns}
    out = {}
    for name in names:
        column = given.get(name, by_name.get(name))
        if column is not None:
            out[name] = _column(source, column)
    missing = [name for name in needed if name not in out]
    if missing:
        raise ReadError(
            f"{source.paths[0]}: no column for the {missing[0]}, found {', '.join(source.columns[:20])}; "
            f"say which it is, as {missing[0]}=NAME"
        )
    return out


def _column(source: Source, name: str) -> str:
    """A column by its name, as SQL."""
    if name not in source.columns:
        raise ReadError(f"{source.paths[0]}: no column {name!r:.60}, found {', '.join(source.columns[:20])}")
    return '"' + name.replace('"', '""') + '"'
