"""Reading of sessions from files: judgments, sessions, and the runs that answer their queries."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from amble import checks
from amble.errors import AlignError, ReadError
from amble.io.columns import check_columns
from amble.io.files import stem
from amble.io.trec import Qrels, read_qrels
from amble.rankings.alignment import Rankings, align
from amble.sessions.building import Query, ShownSession, build_sessions, query_of_docs
from amble.sessions.session_layouts import (
    LAYOUTS,
    Row,
    content,
    layout_of,
    name_of,
    read_domain,
    read_json,
    read_ratings,
    read_table,
    read_track,
)
from amble.sessions.sessions import REPEATS, Sessions

__all__ = ["read_sessions"]


def read_sessions(
    qrels: Any,
    *files: Any,
    layout: str | None = None,
    repeats: str = "every",
    max_line: int | None = None,
    **options: Any,
) -> Sessions:
    """Read sessions and the judgments of their documents.

    Parameters
    ----------
    qrels : str, Qrels, dict or None
        Judgments, as `read_qrels` takes them. None where the sessions have their grades with them.
    *files
        The layout is recognised by how the first begins.

        A table, lines of ``session query topic run-topic``, followed by runs that answer the queries.

        The XML of a TREC Session Track; if runs follow, they answer the current query under the session's number.

        JSON, one or several files, each a run: a list of ``{"session": ..., "queries": [[3, 0, null], ...]}``, or one
        object a line. A query may be an object with ``grades`` (or ``rel_list``), ``docs``, or both.

        Runs of a TREC Dynamic Domain Track, ``topic iteration document ...``; the judgments are a file of
        ``topic subtopic document rating``.
    layout : {"table", "json", "xml", "dd"}, optional
    repeats : {"every", "once"}
        Whether a document that is shown again in its session counts again.
    max_line : int, optional
        The longest line of files, in bytes (see `read_runs`); of a file of sessions 64,000,000, if that is more.
    **options
        ``duplicates="best"`` keeps the first of a document's places in a list, where it is an error otherwise. Those
        of `align` for runs: depth, ties, unjudged, score_dtype, threads, columns (of judgments, too).

    Returns
    -------
    Sessions

    Examples
    --------
    >>> import amble
    >>> import json, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "log.json"
    >>> _ = path.write_text(json.dumps([{"session": "a", "queries": [[1, 0], [0, 2]]}]))
    >>> amble.read_sessions(None, path)
    Sessions(1 run x 1 session, 2 queries)
    """
    checks.one_of(repeats, REPEATS, "repeats", AlignError)
    if not files:
        raise AlignError("no file of sessions, expected at least one")
    paths = [os.fspath(file) if isinstance(file, str | os.PathLike) else file for file in files]
    if not isinstance(paths[0], str):
        raise AlignError(f"sessions of type {type(files[0]).__name__}, expected a file; or Sessions.of_queries")
    checks.one_of(layout, (*LAYOUTS, None), "layout", AlignError)
    data = content(paths[0], max_line)  # read once: it may be a pipe
    kind = layout or layout_of(paths[0], data)
    if kind != "json" and qrels is None:
        raise AlignError(f"{paths[0]}: expected judgments; only JSON has grades with it")
    duplicates = checks.one_of(options.get("duplicates", "error"), ("error", "best"), "duplicates", AlignError)
    if kind in ("json", "dd") and not all(isinstance(path, str) for path in paths):
        raise AlignError(f"{kind}: expected files of sessions, and nothing else")
    columns = check_columns(options.get("columns"))
    if kind in ("json", "dd") or (kind == "xml" and len(paths) == 1):
        for name in ("duplicates", "columns"):
            options.pop(name, None)
        if options:
            raise AlignError(f"{', '.join(options)}: options for runs, and there are none")
    if options.get("missing") == "skip":
        raise AlignError("missing='skip' with sessions: a query that a run does not answer stays a query, with no list")
    if options.get("ties") == "expected":
        raise AlignError("ties='expected' with sessions: tied documents have no one place in them; use ties='docno'")
    if kind == "dd":
        out = _domain(qrels, paths, data, repeats, duplicates, max_line)
    elif kind == "json":
        judged = None if qrels is None else read_qrels(qrels, max_line=max_line, columns=columns).to_dict()
        shown = read_json(paths[0], data, judged, duplicates)
        for path in paths[1:]:
            shown += read_json(path, content(path, max_line), judged, duplicates)
        out = build_sessions(shown, judged, repeats=repeats)
    else:
        judgments = read_qrels(qrels, max_line=max_line, columns=columns)
        options["max_line"] = max_line
        if kind == "table":
            out = _with_runs(judgments, read_table(paths[0], data), paths, repeats, options)
        else:
            out = _track(judgments, read_track(paths[0], data), paths, repeats, duplicates, options)
    out.options.setdefault("duplicates", duplicates)
    return out


def _domain(qrels: Any, paths: list[Any], data: bytes, repeats: str, duplicates: str, max_line: int | None) -> Sessions:
    if not isinstance(qrels, str | os.PathLike):
        raise AlignError("judgments of a Dynamic Domain track: expected a file of topic subtopic document rating")
    ratings = read_ratings(os.fspath(qrels))
    judged = {topic: {doc: max(of.values()) for doc, of in docs.items()} for topic, docs in ratings.items()}
    topics: dict[str, None] = {}
    shown = []
    for path in paths:
        found = read_domain(path, data if path is paths[0] else content(path, max_line), judged, duplicates)
        topics |= dict.fromkeys(found)
        shown += [ShownSession(stem(path), topic, queries) for topic, queries in found.items() if topic in judged]
    if not shown:
        raise AlignError(f"{paths[0]}: none of its topics is judged in {qrels}")
    out = build_sessions(shown, judged, repeats=repeats, ratings=ratings)
    out.audit.unjudged = len(set(topics) - judged.keys())
    return out


def _with_runs(
    qrels: Qrels, sessions: dict[str, list[Row]], paths: list[Any], repeats: str, options: dict[str, Any]
) -> Sessions:
    table, *runs = paths
    if not runs:
        raise AlignError(f"{table}: a table of sessions, expected runs with it")
    judged = qrels.to_dict()
    topic_of: dict[str, str] = {}
    for queries in sessions.values():
        for where, _, topic, listed in queries:
            if topic not in judged:
                raise ReadError(f"{where}: topic {topic} is not in the judgments, {qrels.name}")
            if topic_of.setdefault(listed, topic) != topic:
                raise ReadError(f"{where}: {listed} is judged by topic {topic}, and by {topic_of[listed]} elsewhere")
    rankings = align({listed: judged[topic] for listed, topic in topic_of.items()}, runs, **options)
    look = _Lists(rankings)
    shown = [
        ShownSession(run, session, [look.query(r, listed, topic) for _, _, topic, listed in queries])
        for r, run in enumerate(rankings.runs)
        for session, queries in sessions.items()
    ]
    return _with_audit_of(build_sessions(shown, judged, repeats=repeats), rankings)


def _track(
    qrels: Qrels,
    found: dict[str, tuple[str, list[list[str]]]],
    paths: list[Any],
    repeats: str,
    duplicates: str,
    options: dict[str, Any],
) -> Sessions:
    path, *runs = paths
    judged = qrels.to_dict()
    sessions = {number: of for number, of in found.items() if of[0] in judged}
    if not sessions:
        raise AlignError(f"{path}: none of its topics is judged in {qrels.name}")
    earlier = {
        number: [query_of_docs(docs, judged[topic], topic, f"{path}: session {number}", duplicates) for docs in shown]
        for number, (topic, shown) in sessions.items()
    }
    if not runs:
        shown = [ShownSession(name_of(path), number, of) for number, of in earlier.items() if of]
        out = build_sessions(shown, judged, repeats=repeats)
        out.audit.unjudged = len(found) - len(sessions)
        return out
    rankings = align({number: judged[topic] for number, (topic, _) in sessions.items()}, runs, **options)
    look = _Lists(rankings)
    shown = [
        ShownSession(run, number, [*earlier[number], look.query(r, number, topic)])
        for r, run in enumerate(rankings.runs)
        for number, (topic, _) in sessions.items()
    ]
    out = _with_audit_of(build_sessions(shown, judged, repeats=repeats), rankings)
    out.audit.unjudged = len(found) - len(sessions)
    return out


class _Lists:
    """Look-up of the lists of aligned runs, by run and topic."""

    def __init__(self, rankings: Rankings) -> None:
        self._rankings = rankings
        of = zip(rankings.run.tolist(), rankings.topic.tolist(), strict=True)
        self._place = {(run, rankings.topics[topic]): i for i, (run, topic) in enumerate(of)}
        self._docs = np.array(rankings.qrels.docs, object)
        self._position, self._length = rankings.positions, rankings.lengths

    def query(self, run: int, listed: str, topic: str) -> Query:
        """The list of a run for a query; empty if the run lacks it."""
        i = self._place.get((run, listed))
        if i is None:
            return Query(0, (), (), (), topic)
        rankings = self._rankings
        hits = slice(int(rankings.offsets[i]), int(rankings.offsets[i + 1]))
        position = self._position[hits]
        order = np.argsort(position, kind="stable")
        rows = rankings.row[hits][order]
        docs, grades = self._docs[rows].tolist(), rankings.qrels.grades[rows]
        return Query(int(self._length[i]), position[order], docs, grades, topic)


def _with_audit_of(sessions: Sessions, rankings: Rankings) -> Sessions:
    """The sessions, with the audit and the options of their runs."""
    sessions.audit.more = f"lists: {rankings.audit}"
    sessions.audit.of_runs = rankings.audit
    sessions.labels, sessions.options = rankings.labels, rankings.options
    return sessions
