"""Scores of walking users on many lists at once.

A user who does not look at the grades has one vector of weights for all lists of a length (for each gain, where the
worth of a visit is no multiple of it), and beyond the rank that is never reached the length makes no difference: a
random walk costs what RBP costs. One who looks is followed on every list, many lists at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from amble.errors import MeasureError
from amble.rankings.lists import Gains, Lists
from amble.users.birth_death import (
    BirthDeathChain,
    Passages,
    most_likely_to_go_on,
    passages,
    reachable,
    shortened,
    solved,
)

if TYPE_CHECKING:
    from amble.users.walk import Walk

__all__ = ["WalkScores", "mean_efforts", "score_walks"]

Array = NDArray[Any]

_CELLS = 1 << 21  # ranks x lists x nodes solved at once
_BLOCK = 256  # lists of users who look, solved together


class WalkScores(NamedTuple):
    """Of every list: E[T], E[T / f(H)] (0 unless asked for), E[H], and the visits to its own ranks."""

    total: Array
    rate: Array
    depth: Array
    inside: Array


def score_walks(walk: Walk, gains: Gains, *, rate: bool = False) -> WalkScores:
    """E[T], E[H] and, if ``rate``, E[T / f(H)] of a walking user on every list."""
    if not walk.looks:
        return _shared(walk, gains, rate)
    if gains.lists.ties is not None:
        raise MeasureError("a walk that looks at the grades, with ties='expected': use ties='docno'")
    return _each(walk, gains, rate)


def mean_efforts(walk: Walk, gains: Gains, depth: Array) -> Array:
    """E[f(H)] on every list, given E[H]."""
    f = walk.effort
    if walk.per == "endless":
        return np.full(depth.size, walk.endless_effort())
    if f.is_power and f.power in (0.0, 1.0):
        return np.asarray((depth + f.shift) ** f.power)
    lists = gains.lists
    out = np.empty(depth.size)
    if walk.looks:
        for i in range(lists.n):
            out[i] = walk.on(gains, i).mean_effort
        return out
    for n, of_that_length in _by_depth(walk, lists):
        out[of_that_length] = walk.over(n).mean_effort
    return out


def _by_depth(walk: Walk, lists: Lists) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """The lists of each length that makes a difference."""
    length = _lengths(walk, lists)
    for n in np.unique(length).tolist():
        yield n, np.flatnonzero(length == n)


def _lengths(walk: Walk, lists: Lists) -> NDArray[np.int64]:
    """The length of each list, as far as it is ever reached."""
    length = np.maximum(np.asarray(lists.length, np.int64), 1)
    if walk.beyond == "endless":
        return np.full(lists.n, int(length.max(initial=1)))
    return np.minimum(length, reachable(walk.chain(np.array([length.max(initial=1)]))))


def _shared(walk: Walk, gains: Gains, order1: bool) -> WalkScores:
    """One vector of weights for all lists of a length, or one for each gain."""
    lists = gains.lists
    length = _lengths(walk, lists)
    distinct, of = np.unique(length, return_inverse=True)
    unit, kind = np.ones(1), np.zeros(gains.gain.size, np.int64)
    if not walk.utility.separable:
        unit, kind = np.unique(gains.gain, return_inverse=True)
    times = gains.gain / unit[kind]
    total, rate, depth, inside = (np.zeros(lists.n) for _ in range(4))
    nodes = (np.zeros(1), np.ones(1))
    if order1 and distinct.size:
        nodes = walk.over(int(distinct[-1])).nodes()  # more visits on a longer list, so its nodes serve all
    first, size = (None, None) if lists.ties is None else (np.asarray(x[gains.kept], np.int64) for x in lists.ties)
    cells = int(distinct.max(initial=1)) * max(nodes[0].size, unit.size)
    block = max(1, _CELLS // cells)
    for at in range(0, distinct.size, block):
        chain = walk.chain(distinct[at : at + block])
        if not (chain.stop > 0).all():
            solved(chain)  # refuses a walk without an end
        weights, depths, insides = _weights(walk, chain, nodes, unit)
        mine = (of >= at) & (of < at + block)
        depth[mine], inside[mine] = depths[of[mine] - at], insides[of[mine] - at]
        hits = np.flatnonzero(mine[gains.list])
        which = kind[hits], of[gains.list[hits]] - at
        n = weights.shape[2]
        if first is None or size is None:
            rank = gains.position[hits]
            worth = np.where(rank <= n, weights[*which, np.minimum(rank, n) - 1], 0.0)
        else:  # the mean weight of the ranks that tied documents share
            if lists.depth is not None:
                weights[:, :, lists.depth :] = 0.0
            area = np.pad(np.cumsum(weights, axis=2), ((0, 0), (0, 0), (1, 0)))
            a = np.minimum(first[hits] - 1, n)
            b = np.minimum(first[hits] - 1 + size[hits], n)
            worth = (area[*which, b] - area[*which, a]) / size[hits]
        total += np.bincount(gains.list[hits], times[hits] * worth, lists.n)
    return WalkScores(total, total if order1 else rate, depth, inside)


def _weights(walk: Walk, chain: BirthDeathChain, nodes: tuple[Array, Array], unit: Array) -> tuple[Array, Array, Array]:
    """What gains are worth at each rank (gains x lists x ranks), and E[H] of each list, in all and on its own ranks."""
    x, weight = nodes
    block = max(1, _CELLS // max(chain.forward.size, 1))
    out = np.zeros((unit.size, *chain.forward.shape))
    depth = inside = np.zeros(chain.forward.shape[0])
    for at in range(0, x.size, block):
        found = passages(chain, x[at : at + block])
        met = found.hit != 0
        away = np.where(met, found.away, 1.0)
        for g, gain in enumerate(unit):
            worth = found.hit * walk.utility.series(np.full((1, 1, 1), gain), away)
            if x.size > 1:
                out[g] += np.where(met, worth * found.end, 0.0).dot(weight[at : at + block]).real.T
            else:
                out[g] = np.where(met, worth, 0.0)[:, :, 0].T.real
        if x.size == 1:
            depth, inside = _visits(found)
    return out, depth, inside


def _visits(found: Passages) -> tuple[Array, Array]:
    """E[H] of every list: in all, and on its own ranks."""
    hit, away = found.hit[:, :, 0].real, found.away[:, :, 0].real
    visits = np.divide(hit, away, out=np.zeros(hit.shape), where=away > 0)
    inside = visits.sum(axis=0)
    if found.tail is None:
        return inside, inside
    return inside + visits[-1] * found.tail[:, 0].real, inside


def _each(walk: Walk, gains: Gains, order1: bool) -> WalkScores:
    """The same where the user is followed on every list."""
    lists = gains.lists
    total, rate, depth, inside = (np.zeros(lists.n) for _ in range(4))
    power, furthest = walk.effort.is_power, walk.furthest
    order = np.argsort(lists.length, kind="stable")
    for block in np.array_split(order, max(1, -(-order.size // _BLOCK))):
        length = np.minimum(np.asarray(lists.length[block], np.int64), furthest)
        chain = walk.chain(length, lists.grades_of(block)[:, : max(length.max(), 1)] if walk.looks else None)
        rank, row, y = gains.hits_of(block)
        if chain.beyond is None:
            n = reachable(chain)
            chain, seen = shortened(chain, n), rank <= n
            rank, row, y = rank[seen], row[seen], y[seen]
        met = rank - 1, row
        found = solved(chain)
        depth[block], inside[block] = _visits(found)
        total[block] = np.bincount(row, _worth(walk, found, met, y)[:, 0], block.size)
        if order1 and power:
            x, weight = walk.effort.nodes(float(depth[block].max()), lambda: 0, most_likely_to_go_on(chain))
            step = max(1, _CELLS // max(chain.forward.size, 1))
            for at in range(0, x.size, step):
                weighted = passages(chain, x[at : at + step])
                worth = _worth(walk, weighted, met, y) * weighted.end[met]
                rate[block] += np.bincount(row, worth @ weight[at : at + step], block.size)
        elif order1:
            for i in block.tolist():
                rate[i] = walk.on(gains, i).order1(gains.by_rank(i))
    return WalkScores(total, rate, depth, inside)


def _worth(walk: Walk, found: Passages, met: tuple[Array, Array], gain: Array) -> Array:
    """What the visits to some documents, each at a rank of a list, are worth at every node."""
    hit, away = found.hit[met], found.away[met]
    worth = hit * walk.utility.series(gain[:, None], np.where(hit != 0, away, 1.0))
    return np.asarray(np.where(hit != 0, worth, 0.0))
