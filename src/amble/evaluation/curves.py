"""Precision-recall curves of runs, as tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from amble import checks
from amble.errors import AlignError, MeasureError
from amble.evaluation.run_distributions import chosen_lists, chosen_runs
from amble.measures import Lists, parse
from amble.rankings.alignment import Rankings, byte_order, check_rankings, plain_mean
from amble.rankings.lists import Gains
from amble.table import Table

__all__ = ["MEANS", "RANKS", "levels_of_recall", "pr_curve"]

RANKS = ("rank", "recall", "precision", "interpolated")  # of one topic
MEANS = ("recall", "precision")  # over topics


def levels_of_recall(levels: int) -> list[float]:
    """So many levels of recall, from 0 to 1.

    >>> levels_of_recall(5)
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    levels = checks.whole(levels, "levels", 2, kind=AlignError)
    return [k / (levels - 1) for k in range(levels)]


def pr_curve(
    rankings: Rankings,
    run: str | Iterable[str] | None = None,
    topic: str | int | None = None,
    *,
    levels: int = 11,
    rel: float = 1,
    rule: str = "textbook",
    every_rank: bool = False,
) -> Table:
    """The precision-recall curve of a run, or those of several.

    Parameters
    ----------
    rankings : Rankings
    run : str or iterable of str, optional
        By default all runs. Of one that is named there are no others, so the table has no column for it.
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
    every_rank : bool
        With a topic: a row for every rank, which is the saw-tooth that charts of such curves show.

    Returns
    -------
    Table
        With a topic: rank, recall, precision, and interpolated, the greatest precision where recall is at least this.
        Without: recall, precision. Of several runs, the first column is the run. `amble.plot` draws both.

    Examples
    --------
    >>> import amble
    >>> rankings = amble.align({"1": {"a": 1, "b": 1}}, {"x": {"1": {"a": 3.0, "c": 2.0, "b": 1.0}}})
    >>> print(amble.pr_curve(rankings, "x", "1"))
    rank  recall  precision  interpolated
       1  0.5000     1.0000        1.0000
       3  1.0000     0.6667        0.6667
    >>> amble.pr_curve(rankings, "x", "1", every_rank=True)["precision"]
    [1.0, 0.5, 0.6666666666666666]
    >>> amble.pr_curve(rankings, "x", levels=3).rows
    [(0.0, 1.0), (0.5, 1.0), (1.0, 0.6666666666666666)]
    """
    check_rankings(rankings)
    points, topic = levels_of_recall(levels), checks.id_text(topic)
    lists = Lists.of_rankings(rankings)
    names = chosen_runs(rankings, [run] if isinstance(run, str) else run)
    of = dict(zip(names, chosen_lists(rankings, None if topic is None else [topic], names), strict=True))
    facts: dict[str, Any]
    rows: list[tuple[Any, ...]] = []
    if topic is not None:
        if rule != "textbook":
            raise AlignError(f"rule={rule!r:.60}: goes with levels of recall, not with the full curve of a topic")
        if lists.ties is not None:
            raise MeasureError("the curve of a topic with ties='expected': tied documents have no one rank")
        measure = parse(f"PRAUC(rel={rel!r})")
        gains = lists.gains(measure.declaration.gain.make(measure.values))
        rows = [(name, *row) for name, (i,) in of.items() for row in _by_rank(gains, i, every_rank)]
        found = {name: int(lists.length[i]) for name, (i,) in of.items()}
        facts = {"topic": topic, "levels": levels, "relevant": int(gains.relevant[of[names[0]][0]]), "retrieved": found}
    elif every_rank:
        raise AlignError("every_rank: goes with the curve of a topic, not with means over topics")
    else:
        point = parse(f"IPrec(rel={rel!r})").with_value("rule", rule)
        curve = [point.with_value("recall", r).scores(lists) for r in points]
        for name, of_run in of.items():
            mine = np.array(of_run)
            mine = mine[byte_order([rankings.topics[t] for t in rankings.topic[mine].tolist()])]
            rows += [(name, r, float(plain_mean(x[mine]))) for r, x in zip(points, curve, strict=True)]
        facts = {"topics": len(rankings.topics)}
    columns = MEANS if topic is None else RANKS
    if isinstance(run, str):
        return Table(columns, (row[1:] for row in rows), facts=facts)
    return Table(("run", *columns), rows, facts=facts)


def _by_rank(gains: Gains, i: int, every: bool) -> Iterator[tuple[float, ...]]:
    """Rank, recall, precision and interpolated precision of one list, where a relevant document is, or at every rank.

    At a rank without one, recall is that of the one before: so is the greatest precision where recall is no less.
    """
    hits = gains.hits(i)
    at, found = gains.position[hits], gains.ordinal[hits]
    best = np.maximum.accumulate((found / at)[::-1])[::-1]
    if every:
        rank = np.arange(1, int(gains.lists.length[i]) + 1)
        found = np.searchsorted(at, rank, side="right")
        best = np.append(best[:1], best)[found] if best.size else np.zeros(rank.size)
        at = rank
    recall = found / max(float(gains.relevant[i]), 1.0)
    yield from zip(at.tolist(), recall.tolist(), (found / at).tolist(), best.tolist(), strict=True)
