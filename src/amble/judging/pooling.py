"""Pools: the documents that some run ranks within a depth, for assessors to judge; and what each run contributed.

These are pools of runs, judged or not; `amble.metaevaluation` reduces the pools behind existing judgments.

A pool is written as judgments that wait to be made. A grade below zero means "in the pool, and not judged": -2 for what
is to be judged, -1 for what a sample left out. To trec_eval's infAP and to amble's both are in the pool and not judged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from amble import checks
from amble.arrays import NDArray
from amble.errors import AmbleError
from amble.io.trec import qrels_text, read_qrels
from amble.rankings.alignment import Rankings
from amble.rankings.run_lists import RunLists, by_bytes, read_run_lists
from amble.table import Table

__all__ = ["TO_JUDGE", "UNSAMPLED", "Pool", "pool", "unique_relevant"]

UNSAMPLED, TO_JUDGE = -1.0, -2.0

Mask = NDArray[np.bool_]
Grades = NDArray[np.float64]


class Pool:
    """The documents of a pool, row by row, and the runs that contributed them; made by `pool`.

    Topic ``i`` has the rows ``offsets[i]:offsets[i + 1]``, in the order of their documents' ids.

    Attributes
    ----------
    runs, topics : tuple of str
        Runs in the order given; topics in order of first appearance.
    depth : int
    offsets : ndarray of int64
    docs : list of str
        The document of each row.
    first, count : ndarray of int32
        Of each row: the best rank that a run gives it, and how many runs rank it within the depth.

    Examples
    --------
    >>> import amble
    >>> runs = {"x": {"1": {"a": 3.0, "b": 2.0, "c": 1.0}}, "y": {"1": {"d": 9.0, "a": 8.0, "e": 7.0}}}
    >>> pool = amble.pool(runs, depth=2)
    >>> pool["1"]
    ['a', 'b', 'd']
    >>> pool.contributors("1", "a")
    {'x': 1, 'y': 2}
    """

    def __init__(self, lists: RunLists) -> None:
        self.runs, self.topics = lists.runs, lists.topics
        self.depth = int(lists.depth or 0)
        self.dropped = lists.dropped
        docs: list[str] = []
        rows, first, count, run, rank = [], [], [], [], []
        offsets = [0]
        for topic in lists.topics:
            of = lists[topic]
            n = len(of.docs)
            order = sorted(range(n), key=[by_bytes(doc) for doc in of.docs].__getitem__)
            place = np.empty(n, np.int32)
            place[order] = np.arange(n, dtype=np.int32)
            row = place[of.doc]
            best = np.full(n, np.iinfo(np.int32).max, np.int32)
            np.minimum.at(best, row, of.rank)
            by_row = np.argsort(row, kind="stable")  # entries come by run, so a row's are in the order of the runs
            docs += [of.docs[i] for i in order]
            rows.append(row[by_row].astype(np.int64) + offsets[-1])
            run.append(of.run[by_row])
            rank.append(of.rank[by_row])
            first.append(best)
            count.append(np.bincount(row, minlength=n).astype(np.int32))
            offsets.append(offsets[-1] + n)
        self.docs = docs
        self.offsets: NDArray[np.int64] = np.array(offsets, np.int64)
        self.first: NDArray[np.int32] = np.concatenate(first)
        self.count: NDArray[np.int32] = np.concatenate(count)
        # one entry per document of a run within the depth: its row, the run, the rank; by row, then by run
        self.row: NDArray[np.int64] = np.concatenate(rows)
        self.run: NDArray[np.int32] = np.concatenate(run)
        self.rank: NDArray[np.int32] = np.concatenate(rank)
        for array in (self.offsets, self.first, self.count, self.row, self.run, self.rank):
            array.flags.writeable = False
        self._place = {topic: i for i, topic in enumerate(self.topics)}

    def __len__(self) -> int:
        return len(self.docs)

    def __repr__(self) -> str:
        sizes = ((len(self.runs), "run"), (len(self.topics), "topic"))
        runs, topics = (f"{n} {what}{'s' * (n != 1)}" for n, what in sizes)
        return f"Pool({runs}, depth {self.depth}: {topics}, {len(self)} documents)"

    def rows(self, topic: str) -> slice:
        """The rows of a topic."""
        i = self._place[topic]
        return slice(int(self.offsets[i]), int(self.offsets[i + 1]))

    def __getitem__(self, topic: str) -> list[str]:
        return self.docs[self.rows(topic)]

    def topic_of(self) -> NDArray[np.int64]:
        """Of each row, the place of its topic."""
        return np.repeat(np.arange(len(self.topics)), np.diff(self.offsets))

    def contributors(self, topic: str, doc: str) -> dict[str, int]:
        """The runs that contributed a document, and its rank in each."""
        rows = self.rows(topic)
        try:
            row = rows.start + self.docs[rows].index(doc)
        except ValueError:
            raise KeyError((topic, doc)) from None
        here = slice(*np.searchsorted(self.row, [row, row + 1]).tolist())
        pairs = zip(self.run[here].tolist(), self.rank[here].tolist(), strict=True)
        return {self.runs[run]: rank for run, rank in pairs}

    def grades(self, qrels: Any) -> Grades:
        """Grades of the rows from existing judgments; NaN where a row is not judged (or its grade is below zero)."""
        known = read_qrels(qrels)
        out = np.full(len(self), np.nan)
        have = set(known.topics)
        for topic in self.topics:
            if topic in have:
                of, rows = known[topic], self.rows(topic)
                out[rows] = [of.get(doc, np.nan) for doc in self.docs[rows]]
        out[out < 0] = np.nan
        return out

    def sample(self, rate: float | None = None, *, strata: Sequence[tuple[int, float]] = (), seed: int = 0) -> Mask:
        """A random sample of the rows to be judged, topic by topic.

        One random order serves all rates, so that a smaller sample is part of a larger one. Of n documents of a topic
        (and stratum) rate x n are drawn, rounded, but one at least.

        Parameters
        ----------
        rate : float
            The share to draw, above 0 and at most 1: what infAP assumes (Yilmaz and Aslam, 2006).
        strata : sequence of (depth, rate)
            Instead, a rate for each stratum of best ranks: ``[(10, 1), (100, 0.1)]`` draws all documents that some run
            ranks in its first ten, and a tenth of the others. What xinfAP assumes (Yilmaz, Kanoulas and Aslam, 2008).
            The last depth reaches the pool's.
        seed : int
            Same seed, same sample.

        Examples
        --------
        >>> import amble
        >>> pool = amble.pool({"x": {"1": {f"d{i}": 9.0 - i for i in range(8)}}}, depth=8)
        >>> pool.sample(0.5, seed=1).sum()
        np.int64(4)
        >>> pool.sample(strata=[(2, 1), (8, 0.5)], seed=1).sum()
        np.int64(5)
        """
        checks.seed(seed)
        if (rate is None) == (not len(strata)):
            raise AmbleError("sample: expected a rate, or strata")
        bands = [(self.depth, rate)] if rate is not None else list(strata)
        stratum = self.strata([depth for depth, _ in bands])
        for _, share in bands:
            checks.number(share, "rate", above=0, most=1)
        kind = len(bands) * self.topic_of() + stratum - 1
        size = np.bincount(kind, minlength=len(bands) * len(self.topics))
        order = np.lexsort((np.random.default_rng(seed).random(len(self)), kind))
        place = np.empty(len(self), np.int64)
        place[order] = np.arange(len(self)) - np.repeat(np.cumsum(size) - size, size)
        shares = np.array([float(share) for _, share in bands])
        drawn = np.maximum(np.floor(shares[np.arange(size.size) % len(bands)] * size + 0.5), 1)
        return np.asarray(place < drawn[kind])

    def strata(self, depths: Sequence[int]) -> NDArray[np.int64]:
        """Of each row, the stratum (from 1) of its best rank: the first of these depths that reaches it."""
        ends = [checks.whole(depth, "stratum") for depth in depths]
        if sorted(set(ends)) != ends or ends[-1] < int(self.first.max()):
            found = ", ".join(map(str, ends))
            raise AmbleError(f"strata {found}: expected depths that grow, the last of at least {int(self.first.max())}")
        return np.searchsorted(np.array(ends), self.first, side="left") + 1

    def judgments(self, qrels: Any = None, sample: Mask | None = None) -> Grades:
        """A grade for each row: the existing one, -2 where one is to be made, -1 where none will be.

        Parameters
        ----------
        qrels : anything `read_qrels` takes, optional
        sample : ndarray of bool, optional
            The rows to be judged; all of them if not given.
        """
        known = np.full(len(self), np.nan) if qrels is None else self.grades(qrels)
        out = np.where(np.isnan(known), TO_JUDGE, known)
        if sample is not None:
            out = np.where(np.asarray(sample, bool), out, UNSAMPLED)
        return out

    def text(self, grades: Grades | None = None, order: NDArray[np.int64] | None = None) -> str:
        """The pool as lines of a qrels file, ``topic 0 doc grade``; without grades, all are to be judged (-2)."""
        rows = np.arange(len(self)) if order is None else np.asarray(order)
        of = self.judgments() if grades is None else np.asarray(grades, float)
        topics = self.topic_of()[rows].tolist()
        docs = [self.docs[i] for i in rows.tolist()]
        return qrels_text([self.topics[t] for t in topics], docs, of[rows].tolist())

    def table(self, order: NDArray[np.int64] | None = None) -> Table:
        """A table with one row per document: its best rank, and the runs that contributed it, each with its rank.

        Examples
        --------
        >>> import amble
        >>> runs = {"x": {"1": {"a": 3.0, "b": 2.0}}, "y": {"1": {"b": 9.0, "c": 8.0}}}
        >>> print(amble.pool(runs, depth=2).table())
        topic  doc  rank  runs  contributors
        1      a       1     1  x:1
        1      b       1     2  x:2 y:1
        1      c       2     1  y:2
        """
        names = [f"{name}:" for name in self.runs]
        words = [f"{names[r]}{k}" for r, k in zip(self.run.tolist(), self.rank.tolist(), strict=True)]
        ends = np.concatenate(([0], np.cumsum(self.count))).tolist()
        topic, first, count = self.topic_of().tolist(), self.first.tolist(), self.count.tolist()
        rows = range(len(self)) if order is None else np.asarray(order).tolist()
        return Table(
            ["topic", "doc", "rank", "runs", "contributors"],
            (
                (self.topics[topic[i]], self.docs[i], first[i], count[i], " ".join(words[ends[i] : ends[i + 1]]))
                for i in rows
            ),
        )


def pool(
    runs: Any, depth: int = 100, *, ties: str = "docno", duplicates: Any = "error", threads: int | None = None
) -> Pool:
    """The pool of runs: of each topic, the documents that some run ranks within the depth.

    Parameters
    ----------
    runs : Runs, or anything `read_runs` takes (a list is taken as several)
    depth : int
        How many documents of each list go into the pool.
    ties : {"docno", "rank", "file"}
        How equal scores are ordered; by docno as trec_eval has it.
    duplicates : {"error", "best"}
        A document that comes twice in a list.
    threads : int, optional
        How many threads read.

    Returns
    -------
    Pool

    Examples
    --------
    >>> import amble
    >>> amble.pool({"x": {"1": {"a": 3.0, "b": 2.0}}, "y": {"1": {"c": 9.0}}}, depth=1)
    Pool(2 runs, depth 1: 1 topic, 2 documents)
    """
    return Pool(read_run_lists(runs, checks.whole(depth, "depth"), ties=ties, duplicates=duplicates, threads=threads))


def unique_relevant(
    rankings: Rankings,
    depth: int = 100,
    *,
    groups: Mapping[str, Sequence[str]] | Mapping[str, Sequence[int]] | None = None,
    rel: float = 1,
    digits: int = 4,
) -> Table:
    """A table of the relevant documents that only one run, or group of runs, contributed to a pool (Zobel, 1998).

    Parameters
    ----------
    rankings : Rankings
        Runs aligned with judgments, as `align` makes them.
    depth : int
        How deep the runs were pooled.
    groups : mapping, optional
        ``{group: its runs}``, by name or place; a run in no group stands alone. Runs of one group are much alike, so a
        document that only they have is the group's.
    rel : float
        The least grade that is relevant.

    Returns
    -------
    Table
        One row per run or group: its runs, judged documents that it has within the depth, relevant ones among them,
        those that nobody else has, relevant ones among these, and the share of the pool's relevant documents that would
        be lost without it.

    See Also
    --------
    amble.metaevaluation.leave_out : what the loss does to scores.

    Examples
    --------
    >>> import amble
    >>> runs = {"x": {"1": {"a": 3.0, "b": 2.0}}, "y": {"1": {"b": 9.0, "c": 8.0}}}
    >>> rankings = amble.align({"1": {"a": 1, "b": 1, "c": 0}}, runs)
    >>> print(amble.judging.unique_relevant(rankings, depth=2))
    2 relevant documents in a pool of depth 2
    run  runs  judged  relevant  unique  unique relevant    lost
    x       1       2         2       1                1  0.5000
    y       1       2         1       1                0  0.0000
    """
    from amble.metaevaluation.reduced_pools import check_groups  # loads much else

    checks.whole(depth, "depth")
    named = check_groups(rankings, groups) if groups is not None else {}
    member = {run: group for group, places in named.items() for run in places}
    names = list(named) + [name for i, name in enumerate(rankings.runs) if i not in member]
    places = list(named.values()) + [[i] for i in range(len(rankings.runs)) if i not in member]
    group_of = np.empty(len(rankings.runs), np.int64)
    for g, runs in enumerate(places):
        group_of[runs] = g
    judged = rankings.qrels.grades >= 0
    hits = (rankings.rank <= depth) & judged[rankings.row]
    group = group_of[np.repeat(rankings.run, np.diff(rankings.offsets))[hits]]
    pairs = np.unique(rankings.row[hits].astype(np.int64) * len(names) + group)
    row, group = pairs // len(names), pairs % len(names)
    relevant = rankings.qrels.grades[row] >= rel
    alone = np.bincount(row, minlength=len(rankings.qrels))[row] == 1
    total = np.unique(row[relevant]).size
    counts = [
        np.bincount(group[of], minlength=len(names)).tolist()
        for of in (np.ones(row.size, bool), relevant, alone, alone & relevant)
    ]
    rows: list[list[Any]] = [
        [name, len(places[g]), *(of[g] for of in counts), counts[3][g] / total if total else float("nan")]
        for g, name in enumerate(names)
    ]
    columns = ["group" if named else "run", "runs", "judged", "relevant", "unique", "unique relevant", "lost"]
    caption = f"{total} relevant documents in a pool of depth {depth}"
    return Table(columns, rows, digits=digits, caption=caption)
