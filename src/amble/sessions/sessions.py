"""Search sessions: several queries in a row, each with a list of documents.

A session is not a list: it has a query axis of its own. `Sessions` has those of several runs, made by
`read_sessions`, or from grades. As in rankings only the judged documents are kept, each with its rank.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from amble import checks
from amble.arrays import Array, ArrayLike, Ints, NDArray
from amble.errors import AlignError

__all__ = ["Facets", "SessionAudit", "Sessions"]

REPEATS = ("every", "once")


class Facets(NamedTuple):
    """The facets (subtopics) of the information need that each judged document serves.

    Attributes
    ----------
    offsets : ndarray
        The facets of hit ``h`` are ``offsets[h]:offsets[h + 1]``.
    facet : ndarray
        Which facet of its session, from 0.
    rating : ndarray
        How well it serves it.
    worth, worths : ndarray
        What the facets of session ``t`` (by its place among the names) are worth, ``worth[worths[t]:worths[t + 1]]``:
        the best rating that any judged document has for each.
    """

    offsets: Ints
    facet: Ints
    rating: Array
    worth: Array
    worths: Ints


class SessionAudit:
    """Counts of all that was decided when sessions were read; ``str`` is a line of text."""

    def __init__(self, sessions: Sessions, *, more: str = "", runs: Any = None) -> None:
        self._sessions = sessions
        self.more = more  # the audit of the runs, as text
        self.of_runs = runs
        self.unjudged = 0  # sessions left out

    def rows(self) -> list[dict[str, Any]]:
        """Counts of each run, as rows of a table."""
        s = self._sessions
        queries = np.bincount(s.run, np.diff(s.first), len(s.runs))
        empty = np.bincount(s.run[s.entry_of_query[s.length_of_query == 0]], minlength=len(s.runs))
        again = np.bincount(s.run[s.entry_of_query[s.query[s.again]]], minlength=len(s.runs))
        answered = np.bincount(s.run, minlength=len(s.runs))
        return [
            {
                "run": run,
                "sessions": int(answered[i]),
                "queries": int(queries[i]),
                "empty": int(empty[i]),
                "repeated": int(again[i]),
            }
            for i, run in enumerate(s.runs)
        ]

    def __str__(self) -> str:
        rows, s = self.rows(), self._sessions
        parts = [
            f"{len(s.runs)} run{'s' * (len(s.runs) != 1)} x {len(s.topics)} session{'s' * (len(s.topics) != 1)}",
            f"{s.length_of_query.size} {'query' if s.length_of_query.size == 1 else 'queries'}",
            f"without documents {sum(row['empty'] for row in rows)}",
        ]
        absent = len(s.runs) * len(s.topics) - s.n
        if absent:
            parts.append(f"sessions that a run lacks, left out of its mean, {absent}")
        if self.unjudged:
            parts.append(f"sessions without judgments, left out, {self.unjudged}")
        if s.doc is None:
            parts.append("documents have no names, so what is shown again counts again")
        else:
            how = "count every time" if s.repeats == "every" else "count once, where they are shown first"
            parts.append(f"judged documents shown again {sum(row['repeated'] for row in rows)}: {how}")
        return "; ".join(filter(None, (", ".join(parts), self.more)))

    def __repr__(self) -> str:
        return f"SessionAudit({self})"


class Sessions:
    """The sessions of one or several runs.

    Entry ``e`` is the session ``topic[e]`` of run ``run[e]``; its queries are ``first[e]:first[e + 1]``; query ``q``
    showed ``length_of_query[q]`` documents, of which those judged are the hits ``offsets[q]:offsets[q + 1]``.

    Attributes
    ----------
    runs, topics : tuple of str
        Names of the runs, and of the sessions: a session is what a topic is elsewhere.
    run, topic, length : ndarray
        Of each entry: run, session, and how many documents its queries showed together.
    position, grade : ndarray
        Of each hit: its rank and its grade.
    doc : ndarray or None
        Of each hit: a number that stands for the document, the place of its id in ``docs``.
    docs : tuple of str
        Ids of documents; none where they are not known.
    pool, pools : ndarray
        The grades of all judged documents of session ``t`` are ``pool[pools[t]:pools[t + 1]]``.
    max_grade : float
        The largest grade of all the judgments.
    repeats : {"every", "once"}
        Whether a document that is shown again in its session counts again.
    facets : Facets or None
        Where judgments distinguish facets of an information need.
    labels : tuple of str
        Of each run: the name of its file.
    options : dict
        How they were read: of runs, the options of `align`; a session that a run lacks is left out of its mean.

    Examples
    --------
    >>> from amble import Sessions
    >>> sessions = Sessions.of_queries([[1, 0, 2], [0, 1]])
    >>> sessions
    Sessions(1 run x 1 session, 2 queries)
    """

    def __init__(
        self,
        *,
        runs: Sequence[str],
        names: Sequence[str],
        run: NDArray[Any],
        session: NDArray[Any],
        first: NDArray[Any],
        length: NDArray[Any],
        offsets: NDArray[Any],
        position: NDArray[Any],
        grade: NDArray[Any],
        doc: NDArray[Any] | None,
        pool: NDArray[Any],
        pools: NDArray[Any],
        max_grade: float,
        repeats: str = "every",
        facets: Facets | None = None,
        docs: Iterable[str] = (),
    ) -> None:
        checks.one_of(repeats, REPEATS, "repeats", AlignError)
        self.runs, self.topics = tuple(runs), tuple(names)
        self.run, self.topic = np.asarray(run, np.int64), np.asarray(session, np.int64)
        self.first, self.length_of_query = np.asarray(first, np.int64), np.asarray(length, np.int64)
        self.offsets, self.position = np.asarray(offsets, np.int64), np.asarray(position, np.int64)
        self.grade = np.asarray(grade, np.float64)
        self.doc = None if doc is None else np.asarray(doc, np.int64)
        self.pool, self.pools = np.asarray(pool, np.float64), np.asarray(pools, np.int64)
        self.max_grade, self.repeats, self.facets = float(max_grade), repeats, facets
        self.docs = tuple(docs)
        if (np.diff(self.first) < 1).any():
            e = int(np.flatnonzero(np.diff(self.first) < 1)[0])
            raise AlignError(f"session {self.topics[int(self.topic[e])]} has no query, expected at least one")
        if repeats == "once" and self.doc is None:
            raise AlignError("repeats='once': these sessions have grades without documents, so none can be known again")
        self.labels = self.runs
        self.options: dict[str, Any] = {"missing": "skip"}
        self.audit = SessionAudit(self)

    # ---- from grades

    @classmethod
    def of_queries(cls, queries: Iterable[ArrayLike], name: str = "1", ideal: ArrayLike | None = None) -> Sessions:
        """One session: for each query the grades by rank, NaN where unjudged.

        ``ideal`` holds the grades of all judged documents; without it they are those shown.
        """
        if isinstance(queries, str | bytes) or not isinstance(queries, Iterable):
            raise AlignError(f"queries {queries!r:.60}: expected a list of grades for each query")
        lists = [_grades(q, f"query {j}") for j, q in enumerate(queries, 1)]
        if not lists:
            raise AlignError("a session with no query, expected at least one")
        every = np.concatenate(lists)
        judged = ~np.isnan(every)
        position = np.concatenate([np.arange(1, q.size + 1) for q in lists])[judged]
        offsets = np.concatenate(([0], np.cumsum([np.count_nonzero(~np.isnan(q)) for q in lists])))
        pool = every[judged]
        if ideal is not None:
            pool = _grades(ideal, "ideal")
            pool = pool[~np.isnan(pool)]
        first, length = np.array([0, len(lists)]), np.array([q.size for q in lists])
        return cls._of_one_run([name], first, length, (offsets, position, every[judged]), (pool, [0, pool.size]))

    @classmethod
    def of_matrix(cls, matrix: ArrayLike, name: str = "1", ideal: ArrayLike | None = None) -> Sessions:
        """One session: rows are documents, columns are queries, NaN where unjudged."""
        try:
            if matrix is None or isinstance(matrix, str | bytes):
                raise TypeError
            cells = np.array(matrix, np.float64)
        except (TypeError, ValueError):
            raise AlignError(
                f"{matrix!r:.80}: expected a matrix of grades, one row per document, one column per query; for queries "
                f"of different lengths Sessions.of_queries"
            ) from None
        if cells.ndim == 1:
            cells = cells[:, None]
        if cells.ndim != 2:
            raise AlignError(f"an array of {cells.ndim} axes, expected two: documents and queries")
        return cls.of_queries(cells.T, name, ideal)

    @classmethod
    def of_array(cls, grades: ArrayLike, names: Sequence[str] | None = None) -> Sessions:
        """Sessions of equal size, from an array of shape (sessions, queries, documents)."""
        try:
            cells = np.asarray(grades, np.float64)
        except (TypeError, ValueError):
            raise AlignError(f"{grades!r:.80}: expected an array of grades (sessions, queries, documents)") from None
        if cells.ndim != 3 or not all(cells.shape[:2]):
            raise AlignError(f"an array of shape {cells.shape}, expected (sessions, queries, documents)")
        many, queries, n = cells.shape
        if names is not None and (len(names) != many or len(set(names)) != many):
            raise AlignError(f"{len(names)} names, expected one of its own for each of {many} sessions")
        flat, position = cells.reshape(-1), np.tile(np.arange(1, n + 1), many * queries)
        offsets = np.arange(many * queries + 1) * n
        finite = np.isfinite(flat)
        if not finite.all():
            if np.isinf(flat).any():
                raise AlignError("a grade is infinite, expected finite numbers (NaN where unjudged)")
            offsets = np.concatenate(([0], np.cumsum(finite.reshape(-1, n).sum(axis=1))))
            flat, position = flat[finite], position[finite]
        names = [str(i + 1) for i in range(many)] if names is None else names
        first, length = np.arange(many + 1) * queries, np.full(many * queries, n)
        return cls._of_one_run(names, first, length, (offsets, position, flat), (flat, offsets[::queries]))

    @classmethod
    def _of_one_run(
        cls, names: Sequence[str], first: Ints, length: Ints, hits: tuple[Ints, Ints, Array], pool: tuple[Array, Any]
    ) -> Sessions:
        """Sessions without names of documents: offsets, positions and grades of hits, grades and bounds of pools."""
        (offsets, position, grade), (grades, pools) = hits, pool
        return cls(
            runs=["sessions"],
            names=names,
            run=np.zeros(len(names), np.int64),
            session=np.arange(len(names)),
            first=first,
            length=length,
            offsets=offsets,
            position=position,
            grade=grade,
            doc=None,
            pool=grades,
            pools=pools,
            max_grade=float(max(grades.max(initial=0.0), grade.max(initial=0.0))),
        )

    # ---- derived

    @property
    def n(self) -> int:
        """The number of entries."""
        return int(self.run.size)

    def __len__(self) -> int:
        return self.n

    def __repr__(self) -> str:
        n, k, q = len(self.runs), len(self.topics), self.length_of_query.size
        return (
            f"Sessions({n} run{'s' * (n != 1)} x {k} session{'s' * (k != 1)}, {q} {'query' if q == 1 else 'queries'})"
        )

    def index(self, run: str) -> int:
        """Index of a run."""
        if self.runs.count(run) != 1:
            raise KeyError(run)
        return self.runs.index(run)

    def only(self, entries: ArrayLike) -> Sessions:
        """Some of the entries, of the same runs and names, with the same judgments; an entry may be there again."""
        wanted = np.asarray(entries, np.int64)
        queries, first = _spans(self.first, wanted)
        hits, offsets = _spans(self.offsets, queries)
        facets = self.facets
        if facets is not None:
            at, bounds = _spans(facets.offsets, hits)
            facets = facets._replace(offsets=bounds, facet=facets.facet[at], rating=facets.rating[at])
        return Sessions(
            runs=self.runs,
            names=self.topics,
            run=self.run[wanted],
            session=self.topic[wanted],
            first=first,
            length=self.length_of_query[queries],
            offsets=offsets,
            position=self.position[hits],
            grade=self.grade[hits],
            doc=None if self.doc is None else self.doc[hits],
            pool=self.pool,
            pools=self.pools,
            max_grade=self.max_grade,
            repeats=self.repeats,
            facets=facets,
            docs=self.docs,
        )

    @cached_property
    def length(self) -> Ints:
        """The number of documents shown by all queries of each entry."""
        return np.asarray(np.add.reduceat(self.length_of_query, self.first[:-1]), np.int64)

    @cached_property
    def entry_of_query(self) -> Ints:
        """The entry of each query."""
        return np.repeat(np.arange(self.n), np.diff(self.first))

    @cached_property
    def turn(self) -> Ints:
        """The index of each query in its session, from 0."""
        return np.asarray(np.arange(self.length_of_query.size) - self.first[self.entry_of_query])

    @cached_property
    def query(self) -> Ints:
        """The query of each hit."""
        return np.repeat(np.arange(self.length_of_query.size), np.diff(self.offsets))

    @cached_property
    def again(self) -> NDArray[np.bool_]:
        """Whether the document of each hit was shown before in its session; False if documents have no names."""
        if self.doc is None:
            return np.zeros(self.grade.size, bool)
        known = self.doc >= 0
        keys = np.stack((self.entry_of_query[self.query], self.doc))
        order = np.lexsort((np.arange(self.doc.size), keys[1], keys[0]))  # hits stand in the order they are met
        same = np.zeros(self.doc.size, bool)
        same[1:] = (keys[:, order][:, 1:] == keys[:, order][:, :-1]).all(axis=0)
        out = np.zeros(self.doc.size, bool)
        out[order] = same
        return out & known

    def gains(self, function: Any, cut: int | None = None) -> Array:
        """The gain of each hit, given a map (grades, largest grade) → gains; 0 beyond a cut and where shown again."""
        out = np.asarray(function(self.grade, self.max_grade), np.float64)
        if cut is not None:
            out = np.where(self.position <= cut, out, 0.0)
        if self.repeats == "once":
            out = np.where(self.again, 0.0, out)
        return out

    def lengths(self, cut: int | None = None) -> Ints:
        """The length of each query's list, up to a cut."""
        return self.length_of_query if cut is None else np.minimum(self.length_of_query, cut)


def _spans(bounds: Ints, which: Ints) -> tuple[Ints, Ints]:
    """The items of some spans ``bounds[i]:bounds[i + 1]``, one span after another, and the bounds of these."""
    size = np.diff(bounds)[which]
    ends = np.concatenate(([0], np.cumsum(size)))
    return np.arange(ends[-1]) + np.repeat(bounds[which] - ends[:-1], size), ends


def _grades(values: ArrayLike, what: str) -> Array:
    try:
        if isinstance(values, str | bytes):
            raise TypeError
        out = np.array(values, np.float64)
    except (TypeError, ValueError):
        raise AlignError(f"{what}: {values!r:.60}, expected a list of grades (NaN where unjudged)") from None
    if out.ndim != 1 or np.isinf(out).any():
        raise AlignError(f"{what}: {values!r:.60}, expected one list of finite grades (NaN where unjudged)")
    return out
