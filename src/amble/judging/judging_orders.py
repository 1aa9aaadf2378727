"""Orders of judging a pool that find relevant documents early: move-to-front, bandits, fixed orders.

Fixed orders look at the pool alone. The others learn from judgments as they are made: each document is taken from a
run, the run's next that nobody judged, and the run earns or loses credit by it.

* ``mtf``, move to front (Cormack, Palmer and Clarke, 1998): runs start with the same priority. A document comes from a
  run of the highest priority, and so do the next ones, as long as they are relevant; the first that is not costs the
  run one unit of priority, and another run is taken.
* ``mm``, MaxMean (Losada, Parapar and Barreiro, 2016, 2017): the bandit whose arms are the runs. The probability that a
  run's next document is relevant has a Beta distribution with a uniform prior, and the run with the highest mean,
  (relevant + 1) / (judged + 2), is taken.
* ``mm-ns``, not stationary: what a run brought earlier is forgotten, so that its last document alone counts.
* ``ts`` and ``ts-ns``, Thompson sampling: as ``mm`` and ``mm-ns``, but a draw from each run's distribution decides.

A run learns from the documents that were taken from it, not from those it shares with others. Runs that are equal are
drawn from at random; same seed, same order.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from amble import checks
from amble.arrays import NDArray
from amble.errors import AmbleError
from amble.judging.pooling import Pool

__all__ = ["FIXED", "LEARNING", "ORDERS", "TOLD", "Judging", "order_pool"]

Rows = NDArray[np.int64]

FIXED = ("docno", "rank", "random")
LEARNING = ("mtf", "mm", "mm-ns", "ts", "ts-ns")
ORDERS = (*FIXED, *LEARNING)
TOLD = (
    "by id, by best rank, at random; mtf (move to front): from a run as long as what it brings is relevant; mm "
    "(MaxMean): from the run with the largest share so far; ts (Thompson sampling): from one drawn by these shares; "
    "-ns: by each run's last document alone"
)


class _Runs:
    """The runs of a topic: each one's documents of the pool in rank order, and which of them are left."""

    def __init__(self, rows: NDArray[np.int64], run: NDArray[np.int32], size: int, rng: np.random.Generator) -> None:
        starts = np.flatnonzero(np.diff(run, prepend=-1))  # rows come run by run
        ends = np.append(starts, run.size)[1:]
        self.lists: list[list[int]] = [rows[a:b].tolist() for a, b in zip(starts, ends, strict=True)]
        self.at = [0] * len(self.lists)
        self.judged = bytearray(size)
        self.left = np.ones(len(self.lists), bool)
        self.rng = rng

    def document(self, run: int) -> int | None:
        """The run's next document that nobody judged; None, from then on, if there is none."""
        rows, at = self.lists[run], self.at[run]
        while at < len(rows) and self.judged[rows[at]]:
            at += 1
        self.at[run] = at
        if at < len(rows):
            return rows[at]
        self.left[run] = False
        return None

    def best(self, worth: NDArray[np.float64]) -> tuple[int, int | None]:
        """The run of the highest worth that has a document left, and that document; among equals, at random.

        -1 and None at the end.
        """
        while self.left.any():
            shown = np.where(self.left, worth, -np.inf)
            equal = np.flatnonzero(shown == shown.max())
            run = int(equal[self.rng.integers(equal.size)] if equal.size > 1 else equal[0])
            row = self.document(run)
            if row is not None:
                return run, row
        return -1, None


class _MoveToFront:
    def __init__(self, runs: _Runs) -> None:
        self.runs = runs
        self.priority = np.zeros(len(runs.lists))
        self.current = -1  # the run at the front, as long as it brings relevant documents

    def next(self) -> int | None:
        row = self.runs.document(self.current) if self.current >= 0 else None
        if row is None:
            self.current, row = self.runs.best(self.priority)
        return row

    def learn(self, relevant: bool) -> None:
        if not relevant:
            self.priority[self.current] -= 1
            self.current = -1


class _Bandit:
    def __init__(self, runs: _Runs, *, memory: float, draw: bool) -> None:
        self.runs, self.memory, self.draw = runs, memory, draw
        self.relevant, self.judged = np.zeros(len(runs.lists)), np.zeros(len(runs.lists))
        self.current = -1

    def next(self) -> int | None:
        alpha, beta = self.relevant + 1, self.judged - self.relevant + 1
        worth = self.runs.rng.beta(alpha, beta) if self.draw else alpha / (alpha + beta)
        self.current, row = self.runs.best(worth)
        return row

    def learn(self, relevant: bool) -> None:
        run = self.current
        self.relevant[run] = self.memory * self.relevant[run] + relevant
        self.judged[run] = self.memory * self.judged[run] + 1


class _Fixed:
    def __init__(self, rows: Rows) -> None:
        self.rows: Iterator[int] = iter(rows.tolist())

    def next(self) -> int | None:
        return next(self.rows, None)

    def learn(self, relevant: bool) -> None:
        """A fixed order does not learn."""


class Judging:
    """The pool of a topic, to be judged one document after another.

    Parameters
    ----------
    pool : Pool
    topic : str
    order : str
        One of ``ORDERS``: docno, rank, random, mtf, mm, mm-ns, ts, ts-ns.
    rel : float
        The least grade that is relevant.
    seed : int
        Same seed and same judgments, same order.
    only : ndarray of bool, optional
        The rows of the pool that are to be judged; all of them if not given.

    Examples
    --------
    >>> import amble
    >>> runs = {"x": {"1": {"a": 3.0, "b": 2.0, "c": 1.0}}, "y": {"1": {"d": 9.0, "e": 8.0, "f": 7.0}}}
    >>> judging = amble.judging.Judging(amble.pool(runs, depth=3), "1", order="mtf", seed=3)
    >>> judging.next()
    'd'
    >>> judging.judge(1)         # relevant: y stays in front
    >>> judging.next()
    'e'
    >>> judging.judge(0)         # not relevant: x comes next
    >>> judging.next()
    'a'
    >>> judging.made
    2
    """

    def __init__(
        self,
        pool: Pool,
        topic: str,
        order: str = "mtf",
        *,
        rel: float = 1,
        seed: int = 0,
        only: NDArray[np.bool_] | None = None,
    ) -> None:
        checks.one_of(order, ORDERS, "order")
        if topic not in pool.topics:
            raise AmbleError(f"topic {topic!r} is not in the pool, which has such as {', '.join(pool.topics[:3])}")
        self.pool, self.topic, self.order, self.rel = pool, topic, order, rel
        self.made = self.found = 0
        rows = pool.rows(topic)
        self._start = rows.start
        size = rows.stop - rows.start
        wanted = np.ones(size, bool) if only is None else np.asarray(only, bool)[rows]
        # the same topic has the same random numbers whatever other topics there are
        rng = np.random.default_rng([checks.seed(seed), *topic.encode("utf-8", "surrogateescape")])
        self._steps: _Fixed | _MoveToFront | _Bandit
        if order in FIXED:
            self._steps = _Fixed(_fixed(order, pool.first[rows], wanted, rng))
        else:
            a, b = np.searchsorted(pool.row, [rows.start, rows.stop]).tolist()
            keep = wanted[pool.row[a:b] - rows.start]
            row, run, rank = (of[a:b][keep] for of in (pool.row, pool.run, pool.rank))
            by_run = np.lexsort((rank, run))
            self._runs = _Runs(row[by_run] - rows.start, run[by_run], size, rng)
            if order == "mtf":
                self._steps = _MoveToFront(self._runs)
            else:
                self._steps = _Bandit(self._runs, memory=0.0 if order.endswith("-ns") else 1.0, draw=order[0] == "t")
        self._now: int | None = None

    def next_row(self) -> int | None:
        """The row of the document to judge next; the same one until it is judged; None at the end."""
        if self._now is None:
            self._now = self._steps.next()
        return None if self._now is None else self._start + self._now

    def next(self) -> str | None:
        """The document to judge next; the same one until it is judged; None at the end."""
        row = self.next_row()
        return None if row is None else self.pool.docs[row]

    def judge(self, grade: float) -> None:
        """Give the document that `next` named a grade."""
        if self.next_row() is None or self._now is None:
            raise AmbleError(f"topic {self.topic!r}: all {self.made} documents are judged")
        relevant = bool(grade >= self.rel)
        if self.order not in FIXED:
            self._runs.judged[self._now] = 1
        self._steps.learn(relevant)
        self._now = None
        self.made += 1
        self.found += relevant


def _fixed(order: str, first: NDArray[np.int32], wanted: NDArray[np.bool_], rng: np.random.Generator) -> Rows:
    rows = np.flatnonzero(wanted)
    if order == "rank":
        return rows[np.argsort(first[rows], kind="stable")]
    return rng.permutation(rows) if order == "random" else rows


def order_pool(
    pool: Pool,
    order: str = "mtf",
    qrels: Any = None,
    *,
    rel: float = 1,
    seed: int = 0,
    only: NDArray[np.bool_] | None = None,
) -> Rows:
    """The rows of a pool in the order in which they would be judged, topic after topic.

    Parameters
    ----------
    pool : Pool
    order : str
        One of ``ORDERS``.
    qrels : anything `read_qrels` takes, or an array of a grade a row
        Grades for orders that learn; a document that is not judged is taken as not relevant.
    rel, seed, only
        As for `Judging`.

    Examples
    --------
    >>> import amble
    >>> runs = {"x": {"1": {"a": 3.0, "b": 2.0}}, "y": {"1": {"d": 9.0, "e": 8.0}}}
    >>> pool = amble.pool(runs, depth=2)
    >>> [pool.docs[row] for row in amble.judging.order_pool(pool, "rank")]
    ['a', 'd', 'b', 'e']
    >>> [pool.docs[row] for row in amble.judging.order_pool(pool, "mm", {"1": {"d": 1, "e": 1}}, seed=3)]
    ['d', 'e', 'a', 'b']
    """
    checks.one_of(order, ORDERS, "order")
    if qrels is None:
        if order in LEARNING:
            raise AmbleError(f"order {order!r} learns from judgments: expected qrels (or one of {', '.join(FIXED)})")
        grades = np.zeros(len(pool))
    else:
        grades = qrels if isinstance(qrels, np.ndarray) else pool.grades(qrels)
    out: list[int] = []
    for topic in pool.topics:
        judging = Judging(pool, topic, order, rel=rel, seed=seed, only=only)
        while (row := judging.next_row()) is not None:
            out.append(row)
            judging.judge(grades[row])  # NaN is not relevant
    return np.array(out, np.int64)
