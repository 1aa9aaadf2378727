"""Precision-recall curves of runs, as tables."""

from __future__ import annotations

import numpy as np

from amble import checks
from amble.errors import AlignError
from amble.measures import Lists, parse
from amble.rankings.alignment import Rankings, byte_order, plain_mean
from amble.table import Table

__all__ = ["pr_curve"]


def pr_curve(
    rankings: Rankings,
    run: str,
    topic: str | None = None,
    *,
    levels: int = 11,
    rel: float = 1,
    rule: str = "textbook",
) -> Table:
    """The precision-recall curve of a run.

    Parameters
    ----------
    rankings : Rankings
    run : str
    topic : str, optional
        The full curve of this topic: a row for each relevant document found. Without it, interpolated precision at
        equally spaced levels of recall, averaged over the topics.
    levels : int
        How many levels, from recall 0 to recall 1 (eleven: the classic curve).
    rel : float
        The least grade that is relevant.
    rule : {"textbook", "trec10", "trec9"}
        Without a topic: how a level becomes a number of relevant documents, as for ``IPrec``: so many that recall is at
        least the level, or as trec_eval 10 or 9 rounds.

    Returns
    -------
    Table
        With a topic: rank, recall, precision, interpolated. Without: recall, precision.

    Examples
    --------
    >>> import amble
    >>> rankings = amble.align({"1": {"a": 1, "b": 1}}, {"x": {"1": {"a": 3.0, "c": 2.0, "b": 1.0}}})
    >>> print(amble.pr_curve(rankings, "x", "1"))
    rank  recall  precision  interpolated
       1  0.5000     1.0000        1.0000
       3  1.0000     0.6667        0.6667
    >>> amble.pr_curve(rankings, "x", levels=3).rows
    [(0.0, 1.0), (0.5, 1.0), (1.0, 0.6666666666666666)]
    """
    lists = Lists.of_rankings(rankings)
    if topic is not None:
        if rule != "textbook":
            raise AlignError(f"rule={rule!r:.60}: goes with levels of recall, not with the full curve of a topic")
        measure = parse(f"PRAUC(rel={rel!r})")
        gains = lists.gains(measure.declaration.gain.make(measure.values))
        i = rankings.list_of(run, topic)
        hits = gains.hits(i)
        rank = gains.position[hits]
        recall = gains.ordinal[hits] / max(float(gains.relevant[i]), 1.0)
        precision = gains.ordinal[hits] / rank
        best = np.maximum.accumulate(precision[::-1])[::-1]
        rows = zip(rank.tolist(), recall.tolist(), precision.tolist(), best.tolist(), strict=True)
        return Table(["rank", "recall", "precision", "interpolated"], rows)
    levels = checks.whole(levels, "levels", 2, kind=AlignError)
    mine = np.flatnonzero(rankings.run == rankings.index(run))
    mine = mine[byte_order([rankings.topics[t] for t in rankings.topic[mine].tolist()])]
    points = [k / (levels - 1) for k in range(levels)]
    point = parse(f"IPrec(rel={rel!r})").with_value("rule", rule)
    curve = [float(plain_mean(point.with_value("recall", r).scores(lists)[mine])) for r in points]
    return Table(["recall", "precision"], zip(points, curve, strict=True))
