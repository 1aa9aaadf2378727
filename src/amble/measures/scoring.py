"""From a user and a question to scores, at three speeds.

* A user who does not look at the grades has one vector of weights for all lists: a sum over the gainful documents.
* A user who stops only where she gains something (AP, RR, ERR) is followed from one gainful document to the next.
* Any other user is followed rank by rank, in blocks of lists.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amble.errors import MeasureError
from amble.measures.gains import Gains, scan
from amble.users.forward import Behaviour, Forward, inverse_square
from amble.users.tails import Geometric, InverseSquare, Tail, trigamma

__all__ = ["QUESTIONS", "behaviour_on", "score_dense", "score_sparse", "score_static"]

Array = NDArray[np.float64]

# what is asked of a user who stopped after h documents with a gain of t
QUESTIONS = {
    "order1": "the expected rate, E[t / h]",
    "order2": "the rate of expectations, E[t] / E[h]",
    "total": "the expected gain, E[t]",
    "satisfied": "how soon she was satisfied, E[1 / h; satisfied]",
}
_CELLS = 1 << 20  # of a dense block


def _ideal_total(gains: Gains, weights: Array) -> Array:
    """What each topic's ideal list would gain with these weights."""
    gain, starts = gains.ideal
    sizes = np.diff(starts)
    rank = np.arange(gain.size) - np.repeat(starts[:-1], sizes)
    contributions = gain * weights[rank]
    topic = np.repeat(np.arange(sizes.size), sizes)
    return np.asarray(np.bincount(topic, contributions, sizes.size), np.float64)


def score_static(user: Forward, question: str, gains: Gains, cut: int | None, norm: str | None) -> Array:
    """Score all lists with one vector of weights."""
    lists = gains.lists
    n = max(int(lists.length.max(initial=0)), 1)
    if norm == "ideal":
        n = max(n, int(gains.topic_relevant.max(initial=0)))
    if lists.ties is not None:
        n = max(n, int((lists.ties[0] + lists.ties[1]).max(initial=0)))
    behaviour = user.over(n)
    weights = behaviour.visits.copy()
    if cut is not None:
        weights[cut:] = 0.0
    if lists.ties is None:
        total = gains.sum(gains.gain * weights[gains.position - 1])
    else:  # the mean weight of the ranks that tied documents share
        seen = weights if lists.depth is None else np.where(np.arange(weights.size) < lists.depth, weights, 0.0)
        area = np.concatenate(([0.0], np.cumsum(seen)))
        first, size = (x[gains.kept] for x in lists.ties)
        total = gains.sum(gains.gain * (area[first - 1 + size] - area[first - 1]) / size)
    if question == "order2":
        if user.depth is None and user.beyond == "stop":  # she stops at the end of each list
            depth = np.cumsum(behaviour.visits)[np.maximum(lists.length, 1) - 1]
        else:
            depth = np.float64(behaviour.expected_depth)
        total = total / depth
    return _divided(total, gains, norm, weights)


def _divided(total: Array, gains: Gains, norm: str | None, weights: Array) -> Array:
    if norm is None:
        return total
    by = gains.relevant if norm == "relevant" else _ideal_total(gains, weights)[gains.lists.topic]
    return np.divide(total, by, out=np.zeros(total.size), where=by > 0)


def _context(gains: Gains, names: tuple[str, ...], points: dict[str, Any]) -> dict[str, Any]:
    return {name: points[name] for name in names}


def score_sparse(
    function: Callable[..., Forward], names: tuple[str, ...], question: str, gains: Gains, cut: int | None
) -> Array:
    """Score a user who stops only where she gains something."""
    points = {
        "rank": np.asarray(gains.position, np.float64),
        "gain": gains.gain,
        "seen": gains.seen,
        "relevant": gains.relevant[gains.list],
    }
    user = function(**_context(gains, names, points))
    value = np.broadcast_to(np.asarray(user.rule, np.float64), gains.gain.shape)
    if user.kind == "last":
        last = value
    elif user.kind == "continuation":
        reach = scan(np.multiply.accumulate, value, gains.offsets)
        first = gains.ordinal == 1
        last = np.where(first, 1.0, np.concatenate(([1.0], reach[:-1]))) * (1.0 - value)
    else:
        raise MeasureError(f"a user who stops at gains is declared by last or continuation, found {user.kind}")
    rank = points["rank"]
    answer = last * gains.seen / rank if question == "order1" else last / rank
    if cut is not None:
        answer = np.where(gains.position <= cut, answer, 0.0)
    total = gains.sum(answer)
    if user.mass is not None:
        mass = np.ones(total.size)
        mass[gains.list] = user.mass
        total = total / mass
    return total


def score_piecewise(
    function: Callable[..., Forward], names: tuple[str, ...], question: str, gains: Gains, cut: int | None
) -> Array:
    """Score a user of the ``shift`` family whose shift changes only where she gains something.

    From a gain at rank a to the next one at b the products telescope: V(b) = V(a) ((a + s) / (b + s))^2, and the visits
    between are V(a) (a + s)^2 (trigamma(a + s) - trigamma(b + s)).
    """
    lists = gains.lists
    n = lists.n
    # a piece starts at rank 1 of each list and at each of its gains
    at = gains.offsets[:-1] + np.arange(n)
    size = gains.gain.size + n
    hit = np.ones(size, bool)
    hit[at] = False
    rank, gain, seen = np.ones(size), np.zeros(size), np.zeros(size)
    rank[hit], gain[hit], seen[hit] = gains.position, gains.gain, gains.seen
    owner = np.repeat(np.arange(n), np.diff(gains.offsets) + 1)
    points = {"rank": rank, "gain": gain, "seen": seen, "relevant": gains.relevant[owner]}
    user = function(**_context(gains, names, points))
    if user.kind != "shift":
        raise MeasureError(f"a user in pieces is declared by her shift, found {user.kind}")
    shift = np.broadcast_to(np.asarray(user.rule, np.float64), rank.shape)
    last = np.append(at[1:], size) - 1  # the last piece of each list
    until = np.append(rank[1:], 0.0)
    until[last] = np.maximum(lists.length, 1) + 1.0
    x, y = np.maximum(rank + shift, 0.0), until + shift
    empty = until <= rank  # a gain at rank 1: the piece before it has no ranks
    positive = (x > 0) & ~empty
    ratio = np.where(positive, (x / np.where(positive, y, 1.0)) ** 2, np.where(empty, 1.0, 0.0))
    reach = scan(np.multiply.accumulate, ratio, np.append(at, size))
    before = np.concatenate(([1.0], reach[:-1]))
    before[at] = 1.0
    counted = hit if cut is None else hit & (rank <= cut)
    total = np.asarray(np.bincount(owner, np.where(counted, before * gain, 0.0), n), np.float64)
    if question == "total":
        return total
    safe = np.where(positive, x, 1.0)
    far = trigamma(np.where(positive, y, 1.0))
    if user.beyond == "endless":
        far[last] = 0.0
    visits = np.where(positive, safe**2 * (trigamma(safe) - far), np.where(empty, 0.0, 1.0))
    return np.asarray(total / np.bincount(owner, before * visits, n), np.float64)


def behaviour_on(
    function: Callable[..., Forward], names: tuple[str, ...], gains: Gains, i: int
) -> tuple[Behaviour, Array]:
    """Follow the user down list i: what she does at each rank, and the gains she meets."""
    n = max(int(gains.lists.length[i]), 1)
    gain = np.zeros(n)
    hits = slice(int(gains.offsets[i]), int(gains.offsets[i + 1]))
    gain[gains.position[hits] - 1] = gains.gain[hits]
    points = {
        "rank": np.arange(1, n + 1, dtype=np.float64),
        "gain": gain,
        "seen": np.cumsum(gain),
        "relevant": np.float64(gains.relevant[i]),
    }
    user = function(**_context(gains, names, points))
    if user.mass is not None:
        mass = float(np.max(user.mass))
        user = Forward(last=np.asarray(user.rule) / mass if mass > 0 else np.zeros(n), beyond=user.beyond)
    behaviour = user.over(n)
    padded = np.zeros(behaviour.visits.size)
    padded[:n] = gain
    return behaviour, padded


def score_dense(
    function: Callable[..., Forward],
    names: tuple[str, ...],
    question: str,
    gains: Gains,
    cut: int | None,
    norm: str | None,
) -> Array:
    """Score any forward user, rank by rank, in blocks of lists."""
    lists = gains.lists
    out = np.zeros(lists.n)
    order = np.argsort(lists.length, kind="stable")
    at = 0
    while at < lists.n:
        stop = at + 1
        while stop < lists.n and int(lists.length[order[stop]]) * (stop + 1 - at) <= _CELLS:
            stop += 1
        block = order[at:stop]
        out[block] = _dense_block(function, names, question, gains, cut, block)
        at = stop
    if norm == "ideal":
        raise MeasureError("a user who looks at the grades has no ideal list to be compared with")
    return _divided(out, gains, norm, out)


def _dense_block(
    function: Callable[..., Forward],
    names: tuple[str, ...],
    question: str,
    gains: Gains,
    cut: int | None,
    block: NDArray[Any],
) -> Array:
    length = gains.lists.length[block]
    n = max(int(length.max(initial=0)), 1)
    gain = np.zeros((block.size, n))
    place = np.full(gains.lists.n, -1)
    place[block] = np.arange(block.size)
    mine = place[gains.list] >= 0
    gain[place[gains.list[mine]], gains.position[mine] - 1] = gains.gain[mine]
    rank = np.arange(1, n + 1, dtype=np.float64)
    seen = np.cumsum(gain, axis=1)
    user = function(
        **_context(gains, names, {"rank": rank, "gain": gain, "seen": seen, "relevant": gains.relevant[block][:, None]})
    )
    value = np.broadcast_to(np.asarray(user.rule, np.float64), gain.shape)
    if user.kind == "last":
        last = value if user.mass is None else value / np.maximum(user.mass, 1e-300)
        visits = 1.0 - np.cumsum(last, axis=1) + last
        c = np.divide(visits - last, visits, out=np.zeros(gain.shape), where=visits > 0)
    elif user.kind in ("continuation", "shift"):
        c = value if user.kind == "continuation" else inverse_square(rank, value)
        visits = np.cumprod(np.concatenate((np.ones((block.size, 1)), c[:, :-1]), axis=1), axis=1)
    else:
        visits = value / value[:, :1]
        after = np.concatenate((visits[:, 1:], np.zeros((block.size, 1))), axis=1)
        c = np.divide(after, visits, out=np.zeros(gain.shape), where=visits > 0)
    more = np.zeros(block.size)
    if user.beyond == "endless":
        geometric = user.kind == "continuation"
        tail: Tail = Geometric(float(value.flat[-1])) if geometric else InverseSquare(value[:, -1])
        more = np.asarray(tail.visits(visits[:, -1] * c[:, -1], n))
    else:
        inside = rank <= length[:, None]
        visits = np.where(inside, visits, 0.0)
        if user.beyond == "stop":
            c = np.where(rank < length[:, None], c, 0.0)
    counted = gain if cut is None else np.where(rank <= cut, gain, 0.0)
    if question == "total":
        return np.asarray((visits * counted).sum(axis=1))
    if question == "order2":
        depth = visits.sum(axis=1) + more
        return np.asarray((visits * counted).sum(axis=1) / np.where(depth > 0, depth, 1.0))
    if user.beyond == "endless":
        raise MeasureError(
            "order 1 of a user who reads on for ever after looking at the grades has no closed form here"
        )
    last = visits * (1.0 - c)
    if cut is not None:
        last = np.where(rank <= cut, last, 0.0)
    answer = last * seen / rank if question == "order1" else last / rank
    return np.asarray(answer.sum(axis=1))
