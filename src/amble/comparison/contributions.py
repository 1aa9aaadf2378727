"""Which documents make the difference between runs on a topic: what each adds to the scores, and at which ranks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amble.comparison.parts import STORIES, kind_of_parts, losses_without, parts_of
from amble.errors import AlignError, MeasureError
from amble.evaluation.scores import Scores
from amble.measures import Lists, Measure, parse
from amble.rankings.alignment import Rankings
from amble.table import Table

__all__ = ["Reasons", "why"]

Array = NDArray[np.float64]


class Reasons:
    """What each document adds to the scores of runs on one topic; made by `why`.

    Attributes
    ----------
    topic, measure : str
    runs, docs : tuple of str
        Documents that add something to one of the scores, those that differ most between runs first.
    grades : ndarray
        Of each document.
    ranks : ndarray of int
        Documents x runs; 0 where a run does not have the document.
    parts : ndarray
        Documents x runs.
    scores : ndarray
        Of each run; NaN for a run without a list.
    adds_up : bool
        Whether the parts of every run add up to its score.
    """

    def __init__(
        self,
        names: tuple[str, str, tuple[str, ...], tuple[str, ...]],
        arrays: tuple[Array, NDArray[np.int64], Array, Array],
        kind: str,
    ) -> None:
        self.topic, self.measure, self.runs, self.docs = names
        self.grades, self.ranks, self.parts, self.scores = arrays
        for array in arrays:
            array.flags.writeable = False
        self.kind = kind
        known = ~np.isnan(self.scores)
        self.adds_up = bool(np.allclose(self.parts.sum(axis=0)[known], self.scores[known], rtol=1e-9, atol=1e-12))

    @property
    def caption(self) -> str:
        """What the parts are, in one line."""
        end = "they add up to the score" if self.adds_up else "they do not add up to the score"
        return f"{self.measure} on topic {self.topic}: parts are {STORIES[self.kind]}; {end}"

    def table(self, *, digits: int = 4, long: bool = False) -> Table:
        """A row a document, the scores last; with two runs also their difference.

        Long: rows of measure, topic, doc, grade, run, rank, part.
        """
        docs, grades = self.docs, [int(g) if g.is_integer() else g for g in self.grades.tolist()]
        ranks = [[rank or None for rank in row] for row in self.ranks.tolist()]
        parts, scores = self.parts.tolist(), self.scores.tolist()
        facts = {"measure": self.measure, "topic": self.topic, "parts": STORIES[self.kind], "adds_up": self.adds_up}
        if long:
            rows = [
                [self.measure, self.topic, doc, grades[d], run, ranks[d][r], parts[d][r]]
                for d, doc in enumerate(docs)
                for r, run in enumerate(self.runs)
            ]
            rows += [
                [self.measure, self.topic, "all", None, run, None, score]
                for run, score in zip(self.runs, scores, strict=True)
            ]
            return Table(["measure", "topic", "doc", "grade", "run", "rank", "part"], rows, digits=digits, facts=facts)
        two = len(self.runs) == 2
        columns = ["doc", "grade", *(name for run in self.runs for name in (f"rank {run}", run))]
        rows = []
        for name, grade, rank, part in (
            *zip(docs, grades, ranks, parts, strict=True),
            ("all", None, [None] * len(self.runs), scores),
        ):
            cells: list[Any] = [name, grade, *(x for both in zip(rank, part, strict=True) for x in both)]
            rows.append([*cells, part[0] - part[1]] if two else cells)
        columns += ["difference"] * two
        return Table(columns, rows, digits=digits, facts=facts, caption=self.caption)

    def __str__(self) -> str:
        return str(self.table())

    def __repr__(self) -> str:
        return f"Reasons({len(self.docs)} documents, {self.caption})"


def why(
    rankings: Rankings | Scores, topic: str, measure: str | Measure | None = None, *, runs: Iterable[str] | None = None
) -> Reasons:
    """Which documents make the difference between runs on a topic.

    Parameters
    ----------
    rankings : Rankings or Scores
    topic : str
    measure : str or Measure, optional
        Needed unless scores of a single measure are given.
    runs : list of str, optional
        Some of the runs; without it, all of them.

    Returns
    -------
    Reasons

    Examples
    --------
    >>> import amble
    >>> qrels = {"1": {"a": 1, "b": 1, "c": 0}}
    >>> runs = {"x": {"1": {"a": 3.0, "c": 2.0, "b": 1.0}}, "y": {"1": {"c": 3.0, "a": 2.0}}}
    >>> print(amble.why(amble.align(qrels, runs), "1", "AP"))  # x: (1/1 + 2/3) / 2, y: (1/2) / 2
    AP on topic 1: parts are the probability that she stops there x the rate that she then has; they add up to the score
    doc  grade  rank x       x  rank y       y  difference
    b        1       3  0.3333       -  0.0000      0.3333
    a        1       1  0.5000       2  0.2500      0.2500
    all      -       -  0.8333       -  0.2500      0.5833
    """
    given: Scores | None = None
    if isinstance(rankings, Scores):
        if measure is None and len(rankings.parsed) == 1:
            measure = rankings.parsed[0]
        given, rankings = rankings, rankings.rankings
    if not isinstance(rankings, Rankings):
        raise AlignError(f"found {type(rankings).__name__}, expected rankings, as align makes them, or scores")
    if measure is None:
        raise MeasureError("say on which measure, such as 'AP'")
    m = parse(measure)
    if topic not in rankings.topics:
        known = ", ".join(rankings.topics[:5]) + ("…" if len(rankings.topics) > 5 else "")
        raise AlignError(f"topic {topic!r} is not among the {len(rankings.topics)} topics scored: {known}")
    lists = Lists.of_rankings(rankings)
    if lists.ties is not None:
        raise MeasureError("ties='expected': tied documents have no one rank to be gained at; use ties='docno'")
    wanted = _chosen(rankings, runs)
    at = [_list_of(rankings, run, topic) for run in wanted]
    found = [None if i is None else parts_of(m, lists, i) for i in at]
    scored = _scores(m, lists, rankings, given)
    scores = np.array([np.nan if i is None else scored[i] for i in at])
    sums = [0.0 if part is None else float(part.sum()) for part in found]
    missed = [i is not None and part is None for i, part in zip(at, found, strict=True)]
    whole = not any(missed) and np.allclose(sums, np.nan_to_num(scores), rtol=1e-9, atol=1e-12)
    rows, ranks = _documents(lists, at)
    if whole:
        parts = np.zeros(ranks.shape)
        for r, (i, part) in enumerate(zip(at, found, strict=True)):
            if i is not None and part is not None:
                own = lists.row[lists.offsets[i] : lists.offsets[i + 1]]
                parts[np.searchsorted(rows, own), r] = part
    else:
        parts = losses_without(m, lists, rows, at, rankings.unjudged == "condense")
    names = [rankings.runs[run] for run in wanted]
    return _sorted(m, rankings, (topic, names), (rows, ranks, parts, scores), kind_of_parts(m) if whole else "removed")


def _scores(m: Measure, lists: Lists, rankings: Rankings, given: Scores | None) -> Array:
    """The score of every list: as it was given, where it was, else scored again."""
    if given is not None and not given.standardised and m in given.parsed:
        known = given.values[rankings.run, rankings.topic, given.parsed.index(m)]
        if not np.isnan(known).any():
            return np.asarray(known)
    return m.scores(lists)


def _chosen(rankings: Rankings, runs: Iterable[str] | None) -> list[int]:
    if runs is None:
        return list(range(len(rankings.runs)))
    names = [runs] if isinstance(runs, str) else list(runs)
    out = []
    for name in names:
        try:
            out.append(rankings.index(name))
        except KeyError:
            raise AlignError(f"run {name!r} is not among {', '.join(rankings.runs[:5])}") from None
    return out


def _list_of(rankings: Rankings, run: int, topic: str) -> int | None:
    here = np.flatnonzero((rankings.run == run) & (rankings.topic == rankings.topics.index(topic)))
    return int(here[0]) if here.size else None


def _documents(lists: Lists, at: list[int | None]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The rows of judged documents that some list has, and their ranks as shown in each."""
    hits = [None if i is None else slice(int(lists.offsets[i]), int(lists.offsets[i + 1])) for i in at]
    rows = np.unique(np.concatenate([np.zeros(0, np.int64), *(lists.row[h] for h in hits if h is not None)]))
    ranks = np.zeros((rows.size, len(at)), np.int64)
    for r, h in enumerate(hits):
        if h is not None:
            ranks[np.searchsorted(rows, lists.row[h]), r] = lists.shown_position[h]
    return np.asarray(rows, np.int64), ranks


def _sorted(
    m: Measure,
    rankings: Rankings,
    names: tuple[str, list[str]],
    arrays: tuple[NDArray[np.int64], NDArray[np.int64], Array, Array],
    kind: str,
) -> Reasons:
    """Documents with a part, those that make most of a difference first, then by rank."""
    rows, ranks, parts, scores = arrays
    kept = np.flatnonzero(np.abs(parts).max(axis=1, initial=0.0) > 1e-15)
    spread = np.ptp(parts[kept], axis=1) if kept.size else np.zeros(0)
    first = np.where(ranks[kept] > 0, ranks[kept], np.iinfo(np.int64).max).min(axis=1, initial=np.iinfo(np.int64).max)
    kept = kept[np.lexsort((first, -np.round(spread, 12)))]
    docs = tuple(rankings.qrels.docs[row] for row in rows[kept].tolist())
    topic, runs = names
    grades = np.array(rankings.qrels.grades[rows[kept]])
    return Reasons((topic, m.label, tuple(runs), docs), (grades, ranks[kept], parts[kept], scores), kind)
