"""The cost of judging orders: judgments needed to find relevant documents, simulated with existing judgments."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from amble import checks
from amble.arrays import NDArray
from amble.errors import AmbleError
from amble.judging.judging_orders import ORDERS, order_pool
from amble.judging.pooling import Pool
from amble.table import Table, Tabled

__all__ = ["JudgingCost", "simulate_judging"]

_TARGETS = (0.5, 0.8, 0.95, 1.0)


class JudgingCost(Tabled):
    """The judgments that each order needs to find relevant documents; made by `simulate_judging`.

    Attributes
    ----------
    orders : tuple of str
    topics : tuple of str
        Those that have a relevant document in the pool.
    judged, relevant : ndarray of int
        Of each topic: documents to judge, and relevant ones among them.
    at : list of dict
        Of each order, ``{topic: how many judgments it takes to come to the first, second, ... relevant document}``.
    """

    def __init__(self, orders: Sequence[str], judged: dict[str, int], at: list[dict[str, NDArray[np.int64]]]) -> None:
        self.orders = tuple(orders)
        self.topics = tuple(judged)
        self.judged = np.array(list(judged.values()), np.int64)
        self.at = at
        self.relevant = np.array([len(at[0][topic]) for topic in self.topics], np.int64)

    def needed(self, target: float) -> NDArray[np.int64]:
        """Judgments of each order (row) and topic (column) until that share of the relevant documents is found."""
        checks.number(target, "target", above=0, most=1)
        wanted = [math.ceil(target * n - 1e-9) for n in self.relevant.tolist()]
        return np.array([[of[t][n - 1] for t, n in zip(self.topics, wanted, strict=True)] for of in self.at], np.int64)

    def found(self, judgments: int) -> NDArray[np.float64]:
        """Mean share of a topic's relevant documents that each order finds in so many judgments."""
        shares = [[(of[t] <= judgments).mean() for t in self.topics] for of in self.at]
        return np.asarray(np.array(shares).mean(axis=1))

    def table(self, targets: Sequence[float] = _TARGETS, *, digits: int = 4) -> Table:
        """A table with a row an order and target: judgments over all topics, their share, and the share saved."""
        total = int(self.judged.sum())
        rows: list[list[Any]] = []
        sums = [self.needed(target).sum(axis=1).tolist() for target in targets]
        for i, order in enumerate(self.orders):
            for target, of in zip(targets, sums, strict=True):
                rows.append([order, float(target), of[i], of[i] / total, 1 - of[i] / total])
        topics = f"{len(self.topics)} topic{'s' * (len(self.topics) != 1)}"
        caption = f"{topics}, {total} documents to judge, {int(self.relevant.sum())} relevant"
        return Table(["order", "found", "judgments", "share", "saved"], rows, digits=digits, caption=caption)


def simulate_judging(
    pool: Pool,
    qrels: Any,
    orders: Sequence[str] = ORDERS,
    *,
    rel: float = 1,
    seed: int = 0,
    unjudged: str = "skip",
    progress: Callable[[int, int], None] | None = None,
) -> JudgingCost:
    """The cost of several orders of judging a pool, with grades that assessors gave.

    Parameters
    ----------
    pool : Pool
    qrels : anything `read_qrels` takes
    orders : sequence of str
    rel : float
        The least grade that is relevant.
    seed : int
        Same seed, same answer.
    unjudged : {"skip", "zero"}
        Documents of the pool that nobody judged are left out of it, or are judged as not relevant.
    progress : callable, optional
        Called with the orders done and all there are.

    Returns
    -------
    JudgingCost

    Examples
    --------
    >>> import amble
    >>> runs = {"x": {"1": {"a": 3.0, "b": 2.0, "c": 1.0}}, "y": {"1": {"d": 9.0, "e": 8.0, "f": 7.0}}}
    >>> qrels = {"1": {"a": 0, "b": 0, "c": 0, "d": 1, "e": 1, "f": 0}}
    >>> cost = amble.judging.simulate_judging(amble.pool(runs, depth=3), qrels, ["docno", "mtf"], seed=3)
    >>> print(cost.table([1.0]))
    1 topic, 6 documents to judge, 2 relevant
    order   found  judgments   share   saved
    docno  1.0000          5  0.8333  0.1667
    mtf    1.0000          2  0.3333  0.6667
    """
    checks.one_of(unjudged, ("skip", "zero"), "unjudged")
    if not orders:
        raise AmbleError("no orders given, expected at least one")
    for order in orders:
        checks.one_of(order, ORDERS, "order")
    grades = pool.grades(qrels)
    only = ~np.isnan(grades) if unjudged == "skip" else np.ones(len(pool), bool)
    relevant = grades >= rel
    topic = pool.topic_of()
    have = np.flatnonzero(np.bincount(topic[relevant], minlength=len(pool.topics)))
    if not have.size:
        raise AmbleError(f"the pool has no relevant document (grade of at least {rel:g}) by these judgments")
    sizes = np.bincount(topic[only], minlength=len(pool.topics))
    at: list[dict[str, NDArray[np.int64]]] = []
    for i, order in enumerate(orders):
        rows = order_pool(pool, order, grades, rel=rel, seed=seed, only=only)
        starts = np.cumsum(sizes) - sizes
        at.append({})
        for t in have.tolist():
            mine = rows[starts[t] : starts[t] + sizes[t]]
            at[-1][pool.topics[t]] = np.flatnonzero(relevant[mine]) + 1
        if progress:
            progress(i + 1, len(orders))
    return JudgingCost(orders, {pool.topics[t]: int(sizes[t]) for t in have.tolist()}, at)
