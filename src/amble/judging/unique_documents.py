"""What each run alone brought to a pool: the documents that would not have been judged without it (Zobel, 1998)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from amble import checks
from amble.rankings.alignment import Rankings
from amble.table import Table

__all__ = ["unique_relevant"]


def unique_relevant(
    rankings: Rankings,
    depth: int = 100,
    *,
    groups: Mapping[str, Sequence[str]] | Mapping[str, Sequence[int]] | None = None,
    rel: float = 1,
    digits: int = 4,
) -> Table:
    """Relevant documents that only one run, or one group of runs, brought to a pool of some depth.

    Parameters
    ----------
    rankings : Rankings
        Runs that have met judgments, as `align` makes them.
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
        A row a run or group: its runs, judged documents that it has within the depth, relevant ones among them, those
        that nobody else has, relevant ones among these, and the share of the pool's relevant documents that would be
        lost without it.

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
    from amble.metaevaluation.reduced_pools import check_groups  # a room of much else

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
