"""Paths: the ranks that a reader visits, one after another; simulated ones collected, observed ones checked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from amble.arrays import NDArray
from amble.errors import MeasureError

__all__ = ["check_path", "collected", "times_before"]

Ranks = NDArray[np.int64]


def collected(visits: Iterable[tuple[NDArray[Any], NDArray[Any]]], readers: int) -> list[NDArray[np.int32]]:
    """The paths of some readers: of every step, the readers who take it (numbered from 0) and their ranks.

    >>> collected([(np.array([0, 1]), np.array([1, 1])), (np.array([1]), np.array([2]))], 2)
    [array([1], dtype=int32), array([1, 2], dtype=int32)]
    """
    steps = [(who.astype(np.int32), rank.astype(np.int32)) for who, rank in visits]
    who, rank = (np.concatenate([step[i] for step in steps] or [np.zeros(0, np.int32)]) for i in (0, 1))
    by_reader = np.argsort(who, kind="stable")
    return np.split(rank[by_reader], np.cumsum(np.bincount(who, minlength=readers))[:-1])


def check_path(path: Any, furthest: int | None) -> Ranks:
    """The ranks of an observed path, as whole numbers from 1 to ``furthest``, if there is such a rank."""
    try:
        ranks = np.array(path, np.float64, ndmin=1)
    except (TypeError, ValueError):
        raise MeasureError(f"path {path!r:.60}: expected ranks, such as [1, 2, 1]") from None
    if ranks.ndim != 1 or not ranks.size:
        raise MeasureError(f"path {path!r:.60}: expected one rank or more, such as [1, 2, 1]")
    wrong = np.flatnonzero(~((ranks >= 1) & (ranks <= (furthest or 2**53)) & (ranks == np.floor(ranks))))
    if wrong.size:
        upto = "of at least 1" if furthest is None else f"from 1 to {furthest}, beyond which this user never goes"
        raise MeasureError(f"path: visit {wrong[0] + 1} is to rank {ranks[wrong[0]]:g}, expected a rank {upto}")
    return ranks.astype(np.int64)


def times_before(path: Ranks) -> Ranks:
    """How often the rank of each visit was visited before.

    >>> times_before(np.array([1, 2, 1, 2, 3, 1]))
    array([0, 0, 1, 1, 0, 2])
    """
    order = np.argsort(path, kind="stable")
    first = np.searchsorted(path[order], path[order])
    out = np.empty(path.size, np.int64)
    out[order] = np.arange(path.size) - first
    return out
