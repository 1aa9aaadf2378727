"""Contributions of documents to the scores of sessions: which documents of which queries make a score, or a difference.

Most measures of sessions are sums over the documents shown (MsM, session RBP, session DCG, U, session INSQ), and what a
document adds is reach x discount x gain: the factor of its query (the probability that it is issued, where the measure
is a user), the factor of its rank, and the gain. Of the others (the expected measures, the Cube Test, means over
queries …), a document's contribution is what the score loses if an unjudged document stood in its place; whether these
add up is found out, and the table says it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from amble.arrays import Array, Ints
from amble.checks import INT64
from amble.evaluation.run_distributions import chosen_topics
from amble.measures.session_measure import SessionMeasure
from amble.sessions.sessions import Sessions
from amble.table import Table, Tabled

__all__ = ["SessionContributions", "contributions_of_session"]

_CHUNK = 64  # documents tried at once
_PRODUCT = "reach of the query x discount of the rank x gain"
_LOSS = "what the score loses with an unjudged document in its place"
_FACTORS = ("reach", "discount", "gain")


class SessionContributions(Tabled):
    """What each document that a session shows adds to the scores of runs; made by `why`.

    A row is a document of a query that adds something: where ids are known, it is the same row for all runs that show
    it there, else for all that show a document at that rank.

    Attributes
    ----------
    session, measure : str
    runs : tuple of str
    queries : ndarray of int
        Of each row: the number of the query, from 1.
    docs : tuple of str or None
        Of each row: the id of the document, where it is known.
    grades : ndarray
        Of each row; NaN where, without ids, runs show documents of different grades there.
    ranks : ndarray of int
        Rows x runs; 0 where a run does not show the document in answer to that query.
    values : ndarray
        The contributions: rows x runs.
    reach, discount, gain : ndarray
        Their factors, rows x runs; NaN where the score is no sum of such products, or nothing is shown.
    scores : ndarray
        Of each run; NaN for a run without the session.
    lengths : ndarray of int
        Runs x queries: how many documents are shown; 0 where there is no such query.
    adds_up : bool
        Whether the contributions of every run add up to its score.
    """

    def __init__(
        self,
        names: tuple[str, str, tuple[str, ...]],
        rows: tuple[Ints, tuple[str | None, ...], Array, Ints],
        values: Array,
        factors: Array | None,
        scores: Array,
        lengths: Ints,
    ) -> None:
        self.session, self.measure, self.runs = names
        self.queries, self.docs, self.grades, self.ranks = rows
        self.values, self.scores, self.lengths = values, scores, lengths
        self.kind = _LOSS if factors is None else _PRODUCT
        given = np.full((3, *values.shape), np.nan) if factors is None else factors
        self.reach, self.discount, self.gain = (np.asarray(x) for x in given)
        known = ~np.isnan(scores)
        self.adds_up = bool(np.allclose(values.sum(axis=0)[known], scores[known], rtol=1e-9, atol=1e-12))

    @property
    def caption(self) -> str:
        """What the contributions are, in one line."""
        end = "they add up to the score" if self.adds_up else "they do not add up to the score"
        return f"{self.measure} on session {self.session}: contributions are {self.kind}; {end}"

    def table(self, *, digits: int = 4, long: bool = False) -> Table:
        """A table with a row per document of a query, the scores last.

        Of one run it has the factors, of two runs the difference. Long: rows of measure, session, query, doc, grade,
        run, rank, reach, discount, gain, contribution.
        """
        facts = {"measure": self.measure, "session": self.session, "contributions": self.kind, "adds_up": self.adds_up}
        heads = [
            [query, doc, int(grade) if grade.is_integer() else grade]
            for query, doc, grade in zip(self.queries.tolist(), self.docs, self.grades.tolist(), strict=True)
        ]
        ranks = [[rank or None for rank in row] for row in self.ranks.tolist()]
        factors = np.stack((self.reach, self.discount, self.gain), axis=2).tolist()
        values, scores = self.values.tolist(), self.scores.tolist()
        if long:
            rows: list[list[Any]] = [
                [self.measure, self.session, *head, run, ranks[d][r], *factors[d][r], values[d][r]]
                for d, head in enumerate(heads)
                for r, run in enumerate(self.runs)
            ]
            end = [None] * len(_FACTORS)
            rows += [
                [self.measure, self.session, None, "all", None, run, None, *end, score]
                for run, score in zip(self.runs, scores, strict=True)
            ]
            columns = ["measure", "session", "query", "doc", "grade", "run", "rank", *_FACTORS, "contribution"]
            return Table(columns, rows, digits=digits, facts=facts)
        one, two = len(self.runs) == 1, len(self.runs) == 2
        shown = _FACTORS if one and self.kind is _PRODUCT else ()
        columns = ["query", "doc", "grade"]
        for run in self.runs:
            columns += ["rank" if one else f"rank {run}", *shown, run]
        rows = []
        for head, rank, factor, value in (
            *zip(heads, ranks, factors, values, strict=True),
            (["all", None, None], [None] * len(self.runs), [[None] * len(_FACTORS)] * len(self.runs), scores),
        ):
            cells = [x for r in range(len(self.runs)) for x in (rank[r], *factor[r][: len(shown)], value[r])]
            rows.append([*head, *cells, *([value[0] - value[1]] if two else [])])
        return Table([*columns, *["difference"] * two], rows, digits=digits, facts=facts, caption=self.caption)

    def cells(self) -> tuple[tuple[str, ...], list[Array]]:
        """Names and matrices (ranks x queries, NaN where nothing is shown) of runs and, of two, of the difference."""
        deepest, queries = int(self.lengths.max(initial=0)), self.lengths.shape[1]
        out = []
        for r in range(len(self.runs)):
            cells = np.where(np.arange(deepest)[:, None] < self.lengths[r], 0.0, np.nan).reshape(deepest, queries)
            there = self.ranks[:, r] > 0
            np.add.at(cells, (self.ranks[there, r] - 1, self.queries[there] - 1), self.values[there, r])
            out.append(cells)
        if len(out) != 2:
            return self.runs, out
        shown = ~np.isnan(out[0]) | ~np.isnan(out[1])
        difference = np.where(shown, np.nan_to_num(out[0]) - np.nan_to_num(out[1]), np.nan)
        return (*self.runs, f"{self.runs[0]} − {self.runs[1]}"), [*out, difference]

    def __repr__(self) -> str:
        return f"SessionContributions({len(self.docs)} documents, {self.caption})"


def contributions_of_session(
    sessions: Sessions, session: str | int, measure: SessionMeasure, runs: Iterable[str]
) -> SessionContributions:
    """What each document shown in a session contributes to the scores of some runs."""
    [s] = chosen_topics(sessions, [session], "session")
    session, names = sessions.topics[s], tuple(runs)
    mine = sessions.topic == s
    entry_of = [np.flatnonzero(mine & (sessions.run == sessions.index(name))) for name in names]
    there = [r for r, found in enumerate(entry_of) if found.size]
    part = sessions.only(np.concatenate(entry_of))  # entry e is of run there[e]
    scores = np.full(len(names), np.nan)
    scores[there] = measure.scores(part)
    factors = measure.factors(part)
    value = _losses(measure, part) if factors is None else factors.contribution
    run = np.asarray(there, np.int64)[part.entry_of_query[part.query]]
    ids = part.position if part.doc is None else part.doc
    keys, row = np.unique(np.stack((part.turn[part.query], ids)).T, axis=0, return_inverse=True)
    at = (row.ravel(), run)

    def spread(of_hits: Any, empty: float) -> Any:
        out = np.full((len(keys), len(names)), empty)
        out[at] = of_hits
        return out

    ranks = spread(part.position, 0).astype(np.int64)
    values, grades = spread(value, 0.0), spread(part.grade, np.nan)
    grade = np.nanmax(grades, axis=1) if grades.size else np.zeros(0)
    grade[(grades < grade[:, None]).any(axis=1)] = np.nan  # without ids, runs may show different documents at a rank
    order = _order(keys[:, 0], ranks, values)
    order = order[np.abs(values[order]).max(axis=1, initial=0.0) > 1e-15]
    docs = tuple(None if part.doc is None else part.docs[keys[i, 1]] for i in order.tolist())
    lengths = np.zeros((len(names), int(np.diff(part.first).max(initial=0))), np.int64)
    lengths[np.asarray(there, np.int64)[part.entry_of_query], part.turn] = measure.gains_of(part).lengths
    return SessionContributions(
        (session, measure.label, names),
        (keys[order, 0] + 1, docs, grade[order], ranks[order]),
        values[order],
        None if factors is None else np.stack([spread(x, np.nan)[order] for x in factors[1:]]),
        scores,
        lengths,
    )


def _order(turn: Ints, ranks: Ints, values: Array) -> Ints:
    """Rows that make most of a difference between runs first, then by query and rank."""
    first = np.where(ranks > 0, ranks, INT64).min(axis=1, initial=INT64)
    difference = np.ptp(values, axis=1) if values.size else np.zeros(0)
    return np.lexsort((first, turn, -np.round(difference, 12)))


def _losses(measure: SessionMeasure, sessions: Sessions) -> Array:
    """What the score of its entry loses if an unjudged document stood in the place of each hit."""
    scored, out = measure.scores(sessions), np.zeros(sessions.grade.size)
    entry = sessions.entry_of_query[sessions.query]
    first = sessions.offsets[sessions.first[:-1]]  # the first hit of each entry
    for start in range(0, out.size, _CHUNK):
        hits = np.arange(start, min(start + _CHUNK, out.size))
        copies = sessions.only(entry[hits])
        at = copies.offsets[copies.first[:-1]] + hits - first[entry[hits]]
        copies.position[at] = INT64  # below every list
        copies.grade[at] = 0.0
        if copies.doc is not None:
            copies.doc[at] = -1
        out[hits] = scored[entry[hits]] - measure.scores(copies)
    return np.where(np.abs(out) > 1e-12, out, 0.0)
