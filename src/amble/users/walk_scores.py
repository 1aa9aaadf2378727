"""Scores of walking users on many lists at once.

A user who does not look at the grades has one vector of weights for all lists of a length (for each gain, where the
worth of a visit is no multiple of it), and beyond the rank that is never reached the length makes no difference: a
random walk costs what RBP costs. One who looks is followed on every list, many lists at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from amble.arrays import NDArray
from amble.errors import MeasureError
from amble.rankings.lists import Gains, Lists
from amble.users.birth_death import (
    BirthDeathChain,
    Passages,
    chain_on_lists,
    least_visits,
    most_likely_to_go_on,
    passages,
    reachable,
    shortened,
    solved,
)
from amble.users.joint_distribution import NoExactDistributionError
from amble.users.protocol import Question

if TYPE_CHECKING:
    from amble.users.timing import Clock
    from amble.users.walk import Walk

__all__ = ["WalkScores", "mean_efforts", "mean_scores", "score_walks", "worth_at_ranks"]

Array = NDArray[Any]

_CELLS = 1 << 21  # ranks x lists x nodes solved at once
_BLOCK = 256  # lists of users who look, solved together
_ALIKE = 128  # users of a population, solved together


class WalkScores(NamedTuple):
    """Of every list: E[T], E[T / f(H)] (0 unless asked for), E[H], the visits to its own ranks, and E[tau]."""

    total: Array
    rate: Array
    depth: Array
    inside: Array
    time: Array


def score_walks(walk: Walk, gains: Gains, *, rate: bool = False) -> WalkScores:
    """E[T], E[H] and, if ``rate``, E[T / f(H)] of a walking user on every list."""
    if not walk.looks_at_documents:
        return _shared(walk, gains, rate)
    if gains.lists.ties is not None:
        raise MeasureError("a walk that looks at the documents, with ties='expected': use ties='docno'")
    return _adaptive(walk, gains, rate) if walk.adaptive else _each(walk, gains, rate)


def mean_efforts(walk: Walk, gains: Gains, found: WalkScores) -> Array:
    """E[f(H)] on every list, or the mean time, given E[H] and E[tau]."""
    f, depth = walk.effort, found.depth
    if walk.per == "endless":
        return np.full(depth.size, walk.endless_effort())
    if walk.timing is not None:
        return walk.timing.overhead + found.time
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
    total, rate, depth, inside, time = (np.zeros(lists.n) for _ in range(5))
    nodes = (np.zeros(1), np.ones(1))
    if order1 and distinct.size and walk.timing is None:
        nodes = walk.over(int(distinct[-1])).nodes()  # more visits on a longer list, so its nodes serve all
    cells = int(distinct.max(initial=1)) * max(nodes[0].size, unit.size)
    block = max(1, _CELLS // cells)
    for at in range(0, distinct.size, block):
        chain = walk.chain(distinct[at : at + block])
        if not (chain.stop > 0).all():
            solved(chain)  # refuses a walk without an end
        mine = (of >= at) & (of < at + block)
        hits = np.flatnonzero(mine[gains.list])
        row = of[gains.list[hits]] - at
        clock = walk.clock(chain.forward.shape[1])
        weights, *parts = _weights(walk, chain, nodes, clock, unit)
        for mean, by_length in zip((depth, inside, time), parts, strict=True):
            mean[mine] = by_length[of[mine] - at]
        if order1 and clock is not None:
            few = least_visits(chain)
            if lists.ties is None:
                seen = gains.position[hits] <= len(few)
                few = few[gains.position[hits[seen]] - 1, row[seen]]
            weights = _timed_weights(walk, chain, clock, unit, clock.timing.fewest(few), float(parts[2].mean()))
        worth = worth_at_ranks(gains, hits, weights, kind[hits], row)
        total += np.bincount(gains.list[hits], times[hits] * worth, lists.n)
    return WalkScores(total, total if order1 else rate, depth, inside, time)


def worth_at_ranks(gains: Gains, hits: Array, weights: Array, kind: Array, row: Array) -> Array:
    """What some hits are worth, by weights (gains x lengths x ranks): each has its kind of gain and length.

    Tied documents share the mean weight of their ranks.
    """
    lists, n = gains.lists, weights.shape[2]
    if lists.ties is None:
        rank = gains.position[hits]
        return np.where(rank <= n, weights[kind, row, np.minimum(rank, n) - 1], 0.0)
    if lists.depth is not None:
        weights[:, :, lists.depth :] = 0.0
    first, size = (np.asarray(x[gains.kept[hits]], np.int64) for x in lists.ties)
    area = np.pad(np.cumsum(weights, axis=2), ((0, 0), (0, 0), (1, 0)))
    a, b = np.minimum(first - 1, n), np.minimum(first - 1 + size, n)
    return np.asarray((area[kind, row, b] - area[kind, row, a]) / size)


def _weights(
    walk: Walk, chain: BirthDeathChain, nodes: tuple[Array, Array], clock: Clock | None, unit: Array
) -> tuple[Array, Array, Array, Array]:
    """What each of some gains is worth at each rank (gains x lists x ranks), and what `_visits` has."""
    if nodes[0].size == 1:
        found = passages(chain, nodes[0])
        worth = np.zeros((unit.size, *chain.forward.shape))
        for g, gain in enumerate(unit):
            worth[g] = _worth_of(gain, walk, found, 1.0)[:, :, 0].T.real
        return worth, *_visits(found, clock)
    none = np.zeros(chain.forward.shape[0])
    return _summed(walk, chain, None, unit, *nodes), none, none, none


def _summed(walk: Walk, chain: BirthDeathChain, clock: Clock | None, unit: Array, x: Array, weight: Array) -> Array:
    """The sum over nodes of what each of some gains is worth there (gains x lists x ranks)."""
    block = max(1, _CELLS // max(chain.forward.size, 1))
    out = np.zeros((unit.size, *chain.forward.shape))
    for at in range(0, x.size, block):
        found = _at_nodes(chain, clock, x[at : at + block])
        for g, gain in enumerate(unit):
            out[g] += _worth_of(gain, walk, found, found.end).dot(weight[at : at + block]).real.T
    return out


def _timed_weights(walk: Walk, chain: BirthDeathChain, clock: Clock, unit: Array, fewest: float, mean: float) -> Array:
    """What gains are worth at each rank (gains x lists x ranks), per second; 0 where fewer visits do: there is none."""
    there = fewest <= least_visits(chain).T
    summed = partial(_summed, walk, chain, clock, unit)
    return clock.timing.integral(lambda u, w: np.where(there, summed(u, w), 0.0), mean, fewest, clock.least)


def _worth_of(gain: float, walk: Walk, found: Passages, end: Array | float) -> Array:
    """What a gain is worth at every rank and node, times the weight of the end."""
    met = found.hit != 0
    worth = found.hit * walk.utility.series(np.full((1, 1, 1), gain), np.where(met, found.away, 1.0))
    return np.where(met, worth * end, 0.0)


def _visits(found: Passages, clock: Clock | None) -> tuple[Array, Array, Array]:
    """E[H] of every list, in all and on its own ranks, and E[tau]."""
    hit, away = found.hit[:, :, 0].real, found.away[:, :, 0].real
    visits = np.divide(hit, away, out=np.zeros(hit.shape), where=away > 0)
    inside = visits.sum(axis=0)
    outside = np.zeros(inside.size) if found.tail is None else visits[-1] * found.tail[:, 0].real
    return inside + outside, inside, np.zeros(inside.size) if clock is None else clock.time(visits, outside)


def mean_scores(walks: Sequence[Walk], shares: Array, question: Question, gains: Gains) -> Array | None:
    """The mean over walking users of a population of each list's answer: one vector of weights for all of them.

    None if they differ in more than p and q, look at the grades or go on for ever, or if lists are tied.
    """
    one, lists = walks[0], gains.lists
    f = one.effort
    plain = one.timing is None and f.is_power and (question is not Question.ORDER2 or f.power in (0.0, 1.0))
    ends = "endless" not in (one.beyond, one.per)
    if not (plain and ends and one.is_static and lists.ties is None and len(set(map(_but_for_steps, walks))) == 1):
        return None
    length = np.maximum(np.asarray(lists.length, np.int64), 1)
    out = np.zeros(lists.n)
    order = np.argsort([float(walk.forward.at(1)[0] + walk.back.at(1)[0]) for walk in walks])
    weights = np.zeros((1, int(length.max(initial=1)) + 1))
    for n in np.unique(length).tolist():
        weights[:] = 0.0
        for some in np.array_split(order, -(-order.size // _ALIKE)):
            p, q = (
                np.array([c.at(n) for c in of])
                for of in zip(*((walks[i].forward, walks[i].back) for i in some), strict=True)
            )
            chain = chain_on_lists(p, q, np.full(some.size, n), one.start, one.first, None)
            chain = shortened(chain, reachable(chain))
            depth = _visits(solved(chain), None)[0]
            nodes = (np.zeros(1), np.ones(1))
            if question is Question.ORDER1:
                nodes = f.nodes(float(depth.max()), lambda: 0, most_likely_to_go_on(chain))
            each = _weights(one, chain, nodes, None, np.ones(1))[0][0]
            if question is Question.ORDER2:
                each = each / ((depth + f.shift) ** f.power)[:, None]
            weights[0, 1 : each.shape[1] + 1] += shares[some] @ each
        hits = np.flatnonzero(length[gains.list] == n)
        out += np.bincount(gains.list[hits], gains.gain[hits] * weights[0, gains.position[hits]], lists.n)
    return out


def _but_for_steps(walk: Walk) -> tuple[Any, ...]:
    """What two walks have in common that differ in p and q only."""
    rest = (walk.first, walk.beyond, walk.per, walk.effort, walk.looks, walk.timing)
    return walk.utility, walk.start.tobytes(), *rest


def _each(walk: Walk, gains: Gains, order1: bool) -> WalkScores:
    """The same where the user is followed on every list."""
    lists = gains.lists
    total, rate, depth, inside, time = (np.zeros(lists.n) for _ in range(5))
    power, furthest = walk.effort.is_power, walk.furthest
    order = np.argsort(lists.length, kind="stable")
    for block in np.array_split(order, max(1, -(-order.size // _BLOCK))):
        length = np.minimum(np.asarray(lists.length[block], np.int64), furthest)
        rank, row, y = gains.hits_of(block)
        grades, dense = lists.grades_of(block) if walk.looks_at_documents else None, None
        if grades is not None and "gain" in walk.forward.names + walk.back.names:
            dense = np.zeros(grades.shape)
            dense[row, rank - 1] = y
        chain = walk.chain(length, grades if walk.looks else None, dense)
        clock = walk.clock(chain.forward.shape[1], grades, lists, block)
        if chain.beyond is None:
            n = reachable(chain)
            chain, seen = shortened(chain, n), rank <= n
            clock = clock and clock.upto(n)
            rank, row, y = rank[seen], row[seen], y[seen]
        met = rank - 1, row
        found = solved(chain)
        depth[block], inside[block], time[block] = _visits(found, clock)
        total[block] = np.bincount(row, _worth(walk, found, met, y)[:, 0], block.size)
        of_block = partial(_rates, walk, chain, clock, met, y, block.size)
        if order1 and clock is not None:
            fewest = clock.timing.fewest(least_visits(chain)[met])
            rate[block] = clock.timing.integral(of_block, float(time[block].mean()), fewest, clock.least)
        elif order1 and power:
            rate[block] = of_block(
                *walk.effort.nodes(float(depth[block].max()), lambda: 0, most_likely_to_go_on(chain))
            )
        elif order1:
            for i in block.tolist():
                rate[i] = walk.on(gains, i).order1(gains.by_rank(i))
    return WalkScores(total, rate, depth, inside, time)


def _rates(
    walk: Walk,
    chain: BirthDeathChain,
    clock: Clock | None,
    met: tuple[Array, Array],
    gain: Array,
    lists: int,
    x: Array,
    weight: Array,
) -> Array:
    """The sum over nodes of what is gained there on each list."""
    step = max(1, _CELLS // max(chain.forward.size, 1))
    out = np.zeros(lists)
    for at in range(0, x.size, step):
        found = _at_nodes(chain, clock, x[at : at + step])
        worth = _worth(walk, found, met, gain) * found.end[met]
        out += np.bincount(met[1], worth @ weight[at : at + step], lists)
    return out


def _at_nodes(chain: BirthDeathChain, clock: Clock | None, x: Array) -> Passages:
    return passages(chain, x if clock is None else clock.weights(x))


def _adaptive(walk: Walk, gains: Gains, order1: bool) -> WalkScores:
    """The same where what was gained so far matters: all users are followed, list by list and visit by visit."""
    total, rate, depth, time = (np.zeros(gains.lists.n) for _ in range(4))
    for i in range(gains.lists.n):
        on_list, y = walk.on(gains, i), gains.by_rank(i)
        try:
            total[i], depth[i] = on_list.total(y), on_list.expected_depth
            time[i] = 0.0 if on_list.clock is None else on_list.mean_time
            rate[i] = on_list.order1(y) if order1 else 0.0
        except NoExactDistributionError as error:  # a score has no other, as a distribution has
            raise MeasureError(f"no exact score: {error}; amble.simulate has it with its error") from None
    return WalkScores(total, rate, depth, depth, time)


def _worth(walk: Walk, found: Passages, met: tuple[Array, Array], gain: Array) -> Array:
    """What the visits to some documents, each at a rank of a list, are worth at every node."""
    hit, away = found.hit[met], found.away[met]
    worth = hit * walk.utility.series(gain[:, None], np.where(hit != 0, away, 1.0))
    return np.asarray(np.where(hit != 0, worth, 0.0))
