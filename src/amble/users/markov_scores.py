"""Scores of Markov users: of thousands of lists at once where the model is known, one by one otherwise.

What costs time is the stationary distribution. It depends on the model, not on rescaling, so it is kept for measures
that differ in nothing else. Lists whose chains have as many ranks are taken together.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from amble.arrays import NDArray
from amble.errors import MeasureError
from amble.rankings.lists import Gains
from amble.users.markov_models import Model
from amble.users.stationary import are_few, log_stationary_of_model, pair_sums, row_sums, stationary_by_distance

if TYPE_CHECKING:
    from amble.users.markov import MarkovUser

__all__ = ["best_found", "most_found", "score_markov"]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

_CELLS = 1 << 17  # numbers that are worked on at once
_FEW = 32  # lists of several lengths that are worked on at once
_LIKE = 2000  # lists of one length that are looked at together where each says something of the others


class Found(NamedTuple):
    """The relevant documents of lists: their ranks, their lists, and where each list's start."""

    position: Ints
    list: Ints
    offsets: Ints
    ordinal: Ints
    length: Ints

    @property
    def size(self) -> Ints:
        """How many there are in each list."""
        return np.diff(self.offsets)


def _found(gains: Gains) -> Found:
    length = np.asarray(gains.lists.length, np.int64)
    return Found(gains.position, gains.list, gains.offsets, gains.ordinal, length)


def score_markov(user: MarkovUser, gains: Gains) -> Array | None:
    """The score of a Markov user on every list, all at once; None if lists have to be looked at one by one."""
    if user.steps is not None:
        return None
    found = _found(gains)
    if user.model is not None:
        rates = None if user.rates is None else user.times(np.arange(1, int(found.length.max(initial=0)) + 1))
        model = user.model.plain
        key = ("markov", model, None if rates is None else rates.tobytes())
        if key not in gains.made:
            gains.made[key] = _mean_precision(model, found, rates)
        return np.asarray(gains.made[key] * _scale(user.rescale, gains, found))
    if user.kind == "distribution" or user.states == "AD":
        times = user.times(np.arange(1, int(found.length.max(initial=0)) + 1))
        mean = _averaged(_own_weights(user, found) * times[found.position - 1], found)
        return np.asarray(mean * _scale(user.rescale, gains, found))
    return None


# ---- many lists


def best_found(gains: Gains) -> Array:
    """For each list, how many relevant documents the best list of its topic holds."""
    if "most" not in gains.made:
        lists = gains.lists
        best = np.zeros(lists.rows.size - 1)
        np.maximum.at(best, lists.topic, gains.found)
        gains.made["most"] = np.asarray(np.maximum(best, lists.most or 0.0)[lists.topic])
    return np.asarray(gains.made["most"])


def most_found(gains: Gains, topic: int) -> float:
    """The number of relevant documents in the best list of a topic."""
    return float(gains.found[gains.lists.topic == topic].max(initial=0))


def _scale(rescale: str, gains: Gains, found: Found) -> Any:
    if rescale == "NA":
        return 1.0
    base = gains.relevant if rescale == "R" else best_found(gains)
    return found.size / np.maximum(base, 1.0)


def _mean_precision(model: Model, found: Found, times: Array | None) -> Array:
    """Precision at the relevant ranks of each list, averaged by the stationary distribution there."""
    weight = _weights(model, found)
    if times is not None:
        weight = weight * times[found.position - 1]
    return _averaged(weight, found)


def _averaged(weight: Array, found: Found) -> Array:
    n = found.length.size
    total = np.bincount(found.list, weight, n)
    mean = np.bincount(found.list, weight * (found.ordinal / found.position), n)
    return np.divide(mean, total, out=np.zeros(n), where=total > 0)


def _weights(model: Model, found: Found) -> Array:
    """The stationary distribution at the relevant ranks, up to a factor of each list."""
    if model.counts == "NA" and model.states == "AD":
        return row_sums(model, found.position, found.length[found.list])
    out = np.ones(found.position.size)
    if model.states == "OR":
        for lists, m in _alike(found.size, np.flatnonzero(found.size > 1), model.connected == "GL"):
            at = found.offsets[lists][:, None] + np.arange(m)
            rank = found.position[at]
            if model.counts == "NA":
                out[at] = pair_sums(model, rank)
            else:
                logs = log_stationary_of_model(model, rank, np.broadcast_to(np.arange(1, m + 1), rank.shape))
                out[at] = np.exp((logs - logs.max(axis=1, keepdims=True)).astype(np.float64))
        return out
    by_distance = model.connected == "GL" and model.distance != "NA"
    # lists with relevant documents at like ranks together: what they have in common says more of each
    like = np.bincount(found.list, 1.0 / (found.position + 4.0), found.size.size).astype(float) if by_distance else None
    groups = _alike(found.length, np.flatnonzero(found.size > 1), False, like)
    for lists, n in _merged(groups, found.length) if by_distance else groups:
        first, size = found.offsets[lists], found.size[lists]
        row = np.repeat(np.arange(lists.size), size)
        start = np.cumsum(size) - size
        at = np.arange(row.size) - np.repeat(start - first, size)
        rank = found.position[at]
        seen = np.zeros((lists.size, n), np.int64)
        seen[row, rank - 1] = 1
        seen, every = np.cumsum(seen, axis=1), np.arange(1, n + 1)
        if by_distance:
            ways = [np.where(every > found.length[lists][:, None], 0.0, way) for way in model.ways(every, seen)]
            out[at] = stationary_by_distance(model, np.broadcast_to(every, seen.shape), *ways)[row, rank - 1]
            continue
        logs = log_stationary_of_model(model, every[None, :], seen)[row, rank - 1]
        out[at] = np.exp((logs - np.maximum.reduceat(logs, start)[row]).astype(np.float64))
    return out


def _own_weights(user: MarkovUser, found: Found) -> Array:
    """The same of a chain of one's own that does not look at the list, only at its length."""
    logs = np.zeros(found.position.size, np.longdouble)
    some = found.size > 0
    for n in np.unique(found.length[some]).tolist():
        hits = found.length[found.list] == n
        logs[hits] = user.logs(np.zeros(0, np.int64), n)[found.position[hits] - 1]
    if not logs.size:
        return np.zeros(0)
    most = np.maximum.reduceat(logs, found.offsets[:-1][some])
    if not np.isfinite(most).all():
        raise MeasureError("the distribution is 0 at every relevant rank")
    return np.asarray(np.exp((logs - np.repeat(most, found.size[some])).astype(np.float64)))


def _alike(size: Ints, lists: Ints, square: bool, like: Array | None = None) -> Iterator[tuple[Ints, int]]:
    """Some lists in groups of one size, each small enough to be worked on at once; or those next to each other."""
    order = lists[np.lexsort((size[lists],) if like is None else (like[lists], size[lists]))]
    sizes, counts = np.unique(size[order], return_counts=True)
    stop = 0
    for m, count in zip(sizes.tolist(), counts.tolist(), strict=True):
        start, stop = stop, stop + count
        width = max(1, _CELLS // (m * m if square else m)) if like is None else max(_LIKE, _CELLS // m)
        width = -(-count // -(-count // width))  # as many in each
        for first in range(start, stop, width):
            yield order[first : min(first + width, stop)], m


def _merged(groups: Iterator[tuple[Ints, int]], length: Ints) -> Iterator[tuple[Ints, int]]:
    """Groups, those of few lists put together with others about as long; and the most ranks of a list in each."""
    few = []
    for lists, n in groups:
        if are_few(lists.size, n):
            few.extend(lists.tolist())
        else:
            yield lists, n
    for first in range(0, len(few), _FEW):
        lists = np.array(few[first : first + _FEW])
        yield lists, int(length[lists].max())
