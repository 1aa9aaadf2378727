"""Scores of chains on many lists at once.

A chain that does not look at the grades has one vector of weights for all lists of a length (for each gain, where the
worth of a visit is no multiple of it). Lists of several lengths are solved together, and below the rank that hardly
anybody ever passes the length makes no difference.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from amble.arrays import NDArray
from amble.rankings.lists import Gains
from amble.users.chain_on_list import ChainOnList, worth_of_visits
from amble.users.gth_elimination import solve
from amble.users.protocol import Question
from amble.users.walk_scores import worth_at_ranks

if TYPE_CHECKING:
    from amble.users.chain import Chain

__all__ = ["lengths_that_matter", "score_chains"]

Array = NDArray[Any]
Ints = NDArray[np.int64]

_CELLS = 1 << 22  # states x width x lengths x nodes solved at once
_LEAST = 1e-18  # a share of users who pass a rank that is taken for none


def lengths_that_matter(chain: Chain, gains: Gains) -> Ints:
    """The length of each list, as far as it is ever reached."""
    length = np.maximum(np.asarray(gains.lists.length, np.int64), 1)
    return np.minimum(length, _furthest(chain, int(length.max(initial=1)))) if chain.is_nested else length


def _furthest(chain: Chain, longest: int) -> int:
    """A rank that is passed with a probability below 1e-18, or the longest list's last one."""
    m, (t, rank, _) = 64, chain.states(longest)
    while m < longest:
        keep = rank <= m
        past = np.bincount(t.source, t.p * ~keep[t.target], t.n)[keep]
        on_list = chain.over(m)
        if on_list.state_visits @ past + chain.starts(rank, np.array([longest]))[~keep].sum() < _LEAST:
            seen = on_list.visits
            return m if seen[-1] >= _LEAST else int(np.flatnonzero(np.cumsum(seen[::-1])[::-1] >= _LEAST)[-1]) + 1
        m *= 2
    return longest


def score_chains(chain: Chain, gains: Gains, question: Question) -> tuple[Array, Array]:
    """E[T] (E[T / f(H)] if the question is order 1) and E[H] of every list, for chains that ignore the grades."""
    lists = gains.lists
    distinct, of = np.unique(lengths_that_matter(chain, gains), return_inverse=True)
    unit, kind = np.ones(1), np.zeros(gains.gain.size, np.int64)
    if not chain.utility.separable:
        unit, kind = np.unique(gains.gain, return_inverse=True)
    times = gains.gain / unit[kind]
    total, depth = np.zeros(lists.n), np.zeros(lists.n)
    at = 0
    for weights, depths in _weights(chain, distinct, unit, question):
        mine = (of >= at) & (of < at + depths.size)
        depth[mine] = depths[of[mine] - at]
        hits = np.flatnonzero(mine[gains.list])
        worth = worth_at_ranks(gains, hits, weights, kind[hits], of[gains.list[hits]] - at)
        total += np.bincount(gains.list[hits], times[hits] * worth, lists.n)
        at += depths.size
    return total, depth


def _weights(chain: Chain, lengths: Ints, unit: Array, question: Question) -> Iterator[tuple[Array, Array]]:
    """What gains are worth at each rank (gains x lengths x ranks), and E[H], of some lengths at a time, in order."""
    if not lengths.size:
        return
    asked = Question.ORDER1 if question is Question.ORDER1 else Question.TOTAL
    order1 = asked is Question.ORDER1
    apart = not chain.is_nested or lengths.size == 1 or (order1 and chain.timing is not None)
    if not apart and order1:  # who starts elsewhere on a shorter list may make more visits there
        start = chain.starts(chain.states(int(lengths[-1])).rank, lengths)
        apart = bool((start != start[:, -1:]).any())
    if apart:
        for n in lengths.tolist():
            user = chain.over(n)
            worth = [user.contributions(asked, np.full(user.length, gain)) for gain in unit]
            yield np.reshape(worth, (unit.size, 1, user.length)), np.array([user.expected_depth])
        return
    longest = chain.over(int(lengths[-1]))
    x, weight = longest.nodes() if order1 else (np.zeros(1), np.ones(1))
    block = max(1, _CELLS // (longest.n * longest.width * x.size))
    for at in range(0, lengths.size, block):
        yield _together(chain, lengths[at : at + block], unit, x, weight)


def _together(chain: Chain, lengths: Ints, unit: Array, x: Array, weight: Array) -> tuple[Array, Array]:
    """What gains are worth at each rank (gains x lengths x ranks), and E[H], on lists of some lengths."""
    longest = int(lengths[-1])
    user: ChainOnList = chain.over(longest)
    t, rank, groups = user.transitions, user.rank, user.documents if user.by_document else []
    alive = (rank[:, None] <= lengths).astype(np.float64)
    every = chain.states(longest).rank
    start = chain.starts(every, lengths)[every <= longest]
    out = np.zeros((unit.size, user.n, lengths.size))
    depth = np.zeros(lengths.size)
    step = max(1, _CELLS // (user.n * user.width * lengths.size))
    for at in range(0, x.size, step):
        part = x[None, at : at + step]
        found = solve(t, user.plan, groups, alive, start, np.ones((user.n, 1)), np.exp(-part), -np.expm1(-part))
        if x.size == 1:
            depth = found.visits[:, :, 0].sum(axis=0)
        for g, gain in enumerate(unit.tolist()):
            worth = worth_of_visits(found, user.utility, gain * user.gain, groups)
            out[g] += (worth * found.end @ weight[at : at + step]).real if x.size > 1 else worth[:, :, 0].real
    by_rank = np.zeros((longest + 1, unit.size, lengths.size))
    np.add.at(by_rank, rank, np.moveaxis(out, 1, 0))
    return np.moveaxis(by_rank[1:], 0, -1), depth
