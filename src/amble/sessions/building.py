"""`Sessions` built from queries, each with its list of documents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from amble.arrays import Array, Ints, NDArray
from amble.errors import AlignError
from amble.sessions.sessions import Facets, Sessions

__all__ = ["Query", "ShownSession", "build_sessions", "query_of_docs", "query_of_grades"]

Ratings = Mapping[str, Mapping[str, Mapping[str, float]]]  # topic, document, facet


class Query(NamedTuple):
    """The list of a query: its length, and ranks, ids (if known) and grades of its judged documents."""

    length: int
    position: Sequence[int] | NDArray[Any]
    docs: Sequence[str] | None
    grade: Sequence[float] | NDArray[Any]
    topic: str


class ShownSession(NamedTuple):
    """A session of a run, as a list of queries."""

    run: str
    session: str
    queries: list[Query]


def query_of_docs(
    docs: Sequence[str], judged: Mapping[str, float], topic: str, where: str, duplicates: str = "error"
) -> Query:
    """The query of a list of documents; a document listed twice is an error, or only the first counts."""
    if len(set(docs)) < len(docs):
        if duplicates == "error":
            twice = next(doc for doc in docs if docs.count(doc) > 1)
            raise AlignError(f"{where}: document {twice} is there twice in a list; duplicates='best' keeps the first")
        docs = list(dict.fromkeys(docs))
    hits = [(i, doc, judged[doc]) for i, doc in enumerate(docs, 1) if doc in judged]
    position, names, grade = zip(*hits, strict=True) if hits else ((), (), ())
    return Query(len(docs), position, names, grade, topic)


def query_of_grades(grades: Array, topic: str) -> Query:
    """The query of a list of grades, NaN where unjudged."""
    at = np.flatnonzero(~np.isnan(grades))
    return Query(grades.size, at + 1, None if grades.size else (), grades[at], topic)


def build_sessions(
    shown: Iterable[ShownSession],
    judgments: Mapping[str, Mapping[str, float]] | None,
    *,
    repeats: str,
    ratings: Ratings | None = None,
) -> Sessions:
    """`Sessions` of all entries; without judgments, the judged documents of a session are those it shows."""
    entries = list(shown)
    runs = list(dict.fromkeys(entry.run for entry in entries))
    names = list(dict.fromkeys(entry.session for entry in entries))
    if not entries:
        raise AlignError("no sessions, expected at least one")
    _check(entries)
    queries = [query for entry in entries for query in entry.queries]
    named = all(query.docs is not None for query in queries)
    numbers: dict[str, int] = {}
    doc = [numbers.setdefault(name, len(numbers)) for query in queries for name in query.docs or ()] if named else None
    pool, pools = _pools(entries, names, judgments)
    grade = np.concatenate([np.asarray(query.grade, np.float64) for query in queries])
    largest = float(grade.max(initial=0.0))
    if judgments is not None:
        largest = max((g for of in judgments.values() for g in of.values()), default=0.0)
    return Sessions(
        runs=runs,
        names=names,
        run=np.array([runs.index(entry.run) for entry in entries]),
        session=np.array(_places(names, [entry.session for entry in entries])),
        first=np.concatenate(([0], np.cumsum([len(entry.queries) for entry in entries]))),
        length=np.array([query.length for query in queries], np.int64),
        offsets=np.concatenate(([0], np.cumsum([len(query.position) for query in queries]))),
        position=np.concatenate([np.asarray(query.position, np.int64) for query in queries]),
        grade=grade,
        doc=None if doc is None else np.array(doc, np.int64),
        pool=pool,
        pools=pools,
        max_grade=max(largest, 0.0),
        repeats=repeats,
        facets=None if ratings is None else _facets(entries, names, ratings),
        docs=numbers,
    )


def _places(names: Sequence[str], wanted: Iterable[str]) -> list[int]:
    at = {name: i for i, name in enumerate(names)}
    return [at[name] for name in wanted]


def _check(entries: list[ShownSession]) -> None:
    met: set[tuple[str, str]] = set()
    for entry in entries:
        if not entry.queries:
            raise AlignError(f"session {entry.session} of {entry.run} has no query, expected at least one")
        if (entry.run, entry.session) in met:
            raise AlignError(f"session {entry.session} of {entry.run} is there twice, expected once")
        met.add((entry.run, entry.session))


def _pools(entries: list[ShownSession], names: list[str], judgments: Any) -> tuple[Array, Ints]:
    """The grades of all judged documents of each session."""
    found: dict[str, Any] = {}
    for entry in entries:
        if judgments is not None:
            topics = dict.fromkeys(query.topic for query in entry.queries)
            if entry.session not in found:
                found[entry.session] = [g for topic in topics for g in judgments[topic].values()]
        else:  # those of the run that shows most for it, each document once
            shown = [
                (query.docs[i] if query.docs is not None else (j, i), grade)
                for j, query in enumerate(entry.queries)
                for i, grade in enumerate(query.grade)
            ]
            grades = list(dict(reversed(shown)).values())
            if entry.session not in found or len(grades) > len(found[entry.session]):
                found[entry.session] = grades
    pools = [np.asarray(found[name], np.float64) for name in names]
    return np.concatenate(pools), np.concatenate(([0], np.cumsum([pool.size for pool in pools]))).astype(np.int64)


def _facets(entries: list[ShownSession], names: list[str], ratings: Ratings) -> Facets:
    topic_of = {entry.session: entry.queries[0].topic for entry in entries}
    places: dict[str, dict[str, int]] = {}
    worth: list[list[float]] = []
    for name in names:
        best: dict[str, float] = {}
        for of in ratings[topic_of[name]].values():
            for facet, rating in of.items():
                best[facet] = max(best.get(facet, 0.0), rating)
        places[name] = {facet: i for i, facet in enumerate(best)}
        worth.append(list(best.values()))
    counts: list[int] = []
    numbers: list[int] = []
    rating_of: list[float] = []
    for entry in entries:
        of_topic, place = ratings[topic_of[entry.session]], places[entry.session]
        for query in entry.queries:
            for doc in query.docs or ():
                its = of_topic[doc]
                counts.append(len(its))
                numbers += [place[name] for name in its]
                rating_of += list(its.values())
    return Facets(
        np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
        np.array(numbers, np.int64),
        np.array(rating_of, np.float64),
        np.array([x for of in worth for x in of], np.float64),
        np.concatenate(([0], np.cumsum([len(of) for of in worth]))).astype(np.int64),
    )
