"""Condorcet's order: whom a majority ranks higher comes first (Montague and Aslam, 2002).

A run votes for d over e if it ranks d higher, or has d and not e; of two that it has not it says nothing. Majorities
may go in circles, so there is no order that has all of them. Merge sort with the majority as its comparison gives one
in which no document stands right below one that a majority ranks lower, and in which circles are in the order
that majorities between them have. Where votes are equal, and to begin with, documents stand by Borda's points.

All topics are sorted side by side: a step compares the heads of all pairs of blocks at once.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from amble.rankings.run_lists import TopicLists, by_bytes

__all__ = ["majority_order"]

Array = NDArray[np.float64]
Places = NDArray[np.int64]
Ballots = NDArray[np.int16] | NDArray[np.int32]

_AT_ONCE = 1 << 22  # votes looked at together


def _ballots(lists: Sequence[TopicLists], runs: int) -> Ballots:
    """A row a document of all topics, a column a run: the rank, or a number beyond all ranks."""
    sizes = [len(of.docs) for of in lists]
    deepest = max(int(of.rank.max()) for of in lists)
    kind = np.int16 if deepest < np.iinfo(np.int16).max else np.int32
    out = np.full((sum(sizes), runs), np.iinfo(kind).max, kind)
    base = 0
    for of, n in zip(lists, sizes, strict=True):
        out[of.doc + base, of.run] = of.rank
        base += n
    return out


def _prefers_second(ballots: Ballots, weight: Array, first: Places, second: Places) -> NDArray[np.bool_]:
    """Of each pair, whether more votes are for the second than for the first."""
    out = np.empty(first.size, bool)
    step = max(1, _AT_ONCE // ballots.shape[1])
    equal = bool((weight == weight[0]).all())
    for start in range(0, first.size, step):
        here = slice(start, start + step)
        a, b = ballots[first[here]], ballots[second[here]]
        if equal:
            out[here] = np.count_nonzero(b < a, axis=1) > np.count_nonzero(a < b, axis=1)
        else:
            margin = (b < a) @ weight - (a < b) @ weight
            out[here] = margin > 1e-12 * weight.sum()  # less is rounding
    return out


class _Merge:
    """Pairs of neighbouring blocks, merged side by side."""

    def __init__(self, order: Places, left: Places, middle: Places, end: Places) -> None:
        self.source, self.order = order.copy(), order
        self.at, self.middle = left.copy(), middle
        self.other, self.end = middle.copy(), end
        self.to = left.copy()

    def run(self, ballots: Ballots, weight: Array) -> None:
        pairs = np.arange(self.at.size)
        while pairs.size:
            at, other = self.at[pairs], self.other[pairs]
            first, second = self.source[at], self.source[other]
            later = _prefers_second(ballots, weight, first, second)
            self.order[self.to[pairs]] = np.where(later, second, first)
            self.to[pairs] += 1
            self.at[pairs] = at + ~later
            self.other[pairs] = other + later
            both = (self.at[pairs] < self.middle[pairs]) & (self.other[pairs] < self.end[pairs])
            if not both.all():
                self._finish(pairs[~both])
            pairs = pairs[both]

    def _finish(self, pairs: Places) -> None:
        """What is left of a pair's longer block follows as it is."""
        start = np.where(self.at[pairs] < self.middle[pairs], self.at[pairs], self.other[pairs])
        rest = (self.middle - self.at + self.end - self.other)[pairs]  # one of the two is empty
        within = np.arange(int(rest.sum())) - np.repeat(np.cumsum(rest) - rest, rest)
        self.order[np.repeat(self.to[pairs], rest) + within] = self.source[np.repeat(start, rest) + within]


def _merged(ballots: Ballots, weight: Array, order: Places, offsets: Places) -> None:
    """Sort each topic's documents, by merging ever larger blocks."""
    width, longest = 1, int(np.diff(offsets).max())
    while width < longest:
        left = np.concatenate([np.arange(a, b, 2 * width) for a, b in itertools.pairwise(offsets)])
        stop = np.repeat(offsets[1:], [-(-int(n) // (2 * width)) for n in np.diff(offsets)])
        keep = left + width < stop
        left, stop = left[keep], stop[keep]
        _Merge(order, left, left + width, np.minimum(left + 2 * width, stop)).run(ballots, weight)
        width *= 2


def majority_order(lists: Sequence[TopicLists], weight: Array, points: Sequence[Array]) -> list[Array]:
    """Scores of each topic's documents: how many documents stand below it, in Condorcet's order.

    Parameters
    ----------
    lists : sequence of TopicLists
    weight : ndarray
        Of each run.
    points : sequence of ndarray
        Of each topic, by what documents stand to begin with, and where votes are equal.
    """
    ballots = _ballots(lists, len(weight))
    offsets = np.concatenate(([0], np.cumsum([len(of.docs) for of in lists])))
    order = np.empty(int(offsets[-1]), np.int64)
    for t, of in enumerate(lists):
        names = sorted(range(len(of.docs)), key=lambda i: by_bytes(of.docs[i]), reverse=True)
        start = np.array(names, np.int64)
        order[offsets[t] : offsets[t + 1]] = offsets[t] + start[np.argsort(-points[t][start], kind="stable")]
    _merged(ballots, weight, order, offsets)
    out = []
    for t in range(len(lists)):
        scores = np.empty(int(offsets[t + 1] - offsets[t]))
        scores[order[offsets[t] : offsets[t + 1]] - offsets[t]] = np.arange(scores.size)[::-1]
        out.append(scores)
    return out
