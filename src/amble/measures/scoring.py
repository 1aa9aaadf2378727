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
_LISTS = 512  # followed side by side
_NOBODY = 1e-18  # a share of users that is nobody
_FURTHEST = 1 << 20  # the rank beyond which nobody is followed


def _ideal_total(gains: Gains, weights: Array) -> Array:
    """What each topic's ideal list would gain with these weights."""
    gain, starts = gains.ideal
    sizes = np.diff(starts)
    rank = np.arange(gain.size) - np.repeat(starts[:-1], sizes)
    contributions = gain * weights[rank]
    topic = np.repeat(np.arange(sizes.size), sizes)
    return np.asarray(np.bincount(topic, contributions, sizes.size), np.float64)


class Static:
    """A user who does not look at the grades: what she does on a list of any length."""

    def __init__(self, over: Callable[[int], Behaviour], *, ends: bool) -> None:
        self.over = over
        self.ends = ends  # with the list, whatever its length

    @classmethod
    def of(cls, user: Forward) -> Static:
        """A user declared without looking at anything."""
        return cls(user.over, ends=user.depth is None and user.beyond == "stop")


def static_user(
    function: Callable[..., Any], names: tuple[str, ...], arguments: dict[str, Any], costs: Any
) -> Static | None:
    """The user, if she does not look at the grades (nor at costs that differ); else None."""
    if not names:
        return Static.of(function(**arguments))
    if set(names) <= {"rank", "spent", "cost"} and costs is None:

        def met(m: int) -> tuple[Forward, Array]:
            rank = np.arange(1, m + 1, dtype=np.float64)
            points = {"rank": rank, "spent": rank, "cost": np.float64(1.0)}
            return function(**{name: points[name] for name in names}, **arguments), np.zeros(m)

        user, _ = met(1)
        if np.ndim(user.rule) == 0 and not callable(user.rule):
            return Static.of(user)
        if user.beyond == "endless":
            return Static(lambda n: _followed(met, n)[0], ends=False)
        return Static(lambda n: met(n)[0].over(n), ends=user.depth is None)
    if "seen" in names and set(names) <= {"seen", "rank"}:  # she may have been told not to look
        with np.errstate(invalid="ignore"):
            blind = function(**{name: np.float64(np.nan) for name in names}, **arguments)
        if np.ndim(blind.rule) == 0 and not callable(blind.rule) and np.isfinite(blind.rule) and blind.survival is None:
            return Static.of(blind)
    return None


def score_static(user: Static, question: str, gains: Gains, cut: int | None, norm: str | None) -> Array:
    """Score all lists with one vector of weights."""
    lists = gains.lists
    n = max(int(lists.length.max(initial=0)), 1)
    if norm == "ideal":
        n = max(n, int(gains.topic_relevant.max(initial=0)))
    if lists.ties is not None:
        n = max(n, int((lists.ties[0] + lists.ties[1]).max(initial=0)))
    behaviour = user.over(n)
    if question in ("order2", "depth", "inside"):
        if user.ends or question == "inside":  # she stops at the end of each list
            depth = np.asarray(np.cumsum(behaviour.visits)[np.maximum(lists.length, 1) - 1])
        else:
            depth = np.full(lists.n, behaviour.expected_depth)
        if question != "order2":
            return depth
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
        total = total / depth
    return _divided(total, gains, norm, weights)


def _divided(total: Array, gains: Gains, norm: str | None, weights: Array) -> Array:
    if norm is None:
        return total
    by = gains.relevant if norm == "relevant" else _ideal_total(gains, weights)[gains.lists.topic]
    return np.divide(total, by, out=np.zeros(total.size), where=by > 0)


def _at_hits(gains: Gains, names: tuple[str, ...]) -> dict[str, Any]:
    """What she sees at each gainful document."""
    points = {
        "rank": np.asarray(gains.position, np.float64),
        "gain": gains.gain,
        "seen": gains.seen,
        "spent": np.asarray(gains.position, np.float64),
        "relevant": gains.relevant[gains.list],
    }
    return {name: points[name] for name in names}


def score_sparse(
    function: Callable[..., Forward], names: tuple[str, ...], question: str, gains: Gains, cut: int | None
) -> Array:
    """Score a user who stops only where she gains something."""
    user = function(**_at_hits(gains, names))
    if question in ("order2", "total", "depth", "inside"):
        return _score_surviving(user, question, gains, cut)
    value = np.broadcast_to(np.asarray(user.rule, np.float64), gains.gain.shape)
    if user.kind == "last":
        last = value
    elif user.kind == "continuation":
        last = _before(value, gains) * (1.0 - value)
    else:
        raise MeasureError(f"a user who stops at gains is declared by last or continuation, found {user.kind}")
    answer = last * gains.seen / gains.position if question == "order1" else last / gains.position
    if cut is not None:
        answer = np.where(gains.position <= cut, answer, 0.0)
    total = gains.sum(answer)
    if user.mass is not None:
        mass = np.ones(total.size)
        mass[gains.list] = user.mass
        total = total / mass
    return total


def _before(chances: Array, gains: Gains) -> Array:
    """The product of the chances at the hits before each one."""
    product = scan(np.multiply.accumulate, chances, gains.offsets)
    return np.where(gains.ordinal == 1, 1.0, np.concatenate(([1.0], product[:-1])))


def _score_surviving(user: Forward, question: str, gains: Gains, cut: int | None) -> Array:
    """Score a user who walks as one who does not look at the grades, but may stop at each gain as well."""
    lists = gains.lists
    if user.survival is None:
        raise MeasureError("a user who stops at gains says with what chance she survives them")
    survival = np.broadcast_to(np.asarray(user.survival, np.float64), gains.gain.shape)
    behaviour = Forward(**{user.kind: user.rule}, depth=user.depth, beyond=user.beyond).over(
        max(int(lists.length.max(initial=0)), 1)
    )
    area = np.concatenate(([0.0], np.cumsum(behaviour.visits)))
    before = _before(survival, gains)
    here = area[gains.position] - area[gains.position - 1]
    total = gains.sum(
        np.where(gains.position <= cut, before * here * gains.gain, 0.0) if cut else before * here * gains.gain
    )
    if question == "total":
        return total
    # ranks after a hit, up to and with the next one; the first of all from rank 1
    if question == "inside" or (user.depth is None and user.beyond == "stop"):
        end = area[lists.length]
    else:
        end = np.full(lists.n, behaviour.expected_depth)
    following = end[gains.list]
    inner = np.flatnonzero(gains.list[1:] == gains.list[:-1])
    following[inner] = area[gains.position[inner + 1]]
    depth = gains.sum(before * survival * (following - area[gains.position]))
    first = gains.ordinal == 1
    lead = end.copy()
    lead[gains.list[first]] = area[gains.position[first]]
    depth = depth + lead
    return depth if question in ("depth", "inside") else total / np.where(depth > 0, depth, 1.0)


def score_piecewise(
    function: Callable[..., Forward], names: tuple[str, ...], question: str, gains: Gains, cut: int | None
) -> Array:
    """Score a user who changes her mind only where she gains something.

    Between a gain at rank a and the next one at b she goes on with one chance c, so that V(b) = V(a) c^(b - a), or with
    one shift s, so that the products telescope: V(b) = V(a) ((a + s) / (b + s))^2, and the visits between are
    V(a) (a + s)^2 (trigamma(a + s) - trigamma(b + s)).
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
    points = {"rank": rank, "gain": gain, "seen": seen, "spent": rank, "relevant": gains.relevant[owner]}
    user = function(**{name: points[name] for name in names})
    value = np.broadcast_to(np.asarray(user.rule, np.float64), rank.shape)
    last = np.append(at[1:], size) - 1  # the last piece of each list
    until = np.append(rank[1:], 0.0)
    until[last] = np.maximum(lists.length, 1) + 1.0
    pieces = {"shift": _pieces_of_shift, "continuation": _pieces_of_chance}
    if user.kind not in pieces:
        raise MeasureError(f"a user in pieces is declared by her shift or her continuation, found {user.kind}")
    endless = np.zeros(size, bool)
    endless[last] = user.beyond == "endless" and question != "inside"
    ratio, visits = pieces[user.kind](rank, until, value, endless)
    reach = scan(np.multiply.accumulate, ratio, np.append(at, size))
    before = np.concatenate(([1.0], reach[:-1]))
    before[at] = 1.0
    counted = hit if cut is None else hit & (rank <= cut)
    total = np.asarray(np.bincount(owner, np.where(counted, before * gain, 0.0), n), np.float64)
    if question == "total":
        return total
    depth = np.asarray(np.bincount(owner, before * visits, n), np.float64)
    return depth if question in ("depth", "inside") else total / depth


def _pieces_of_shift(rank: Array, until: Array, shift: Array, endless: NDArray[np.bool_]) -> tuple[Array, Array]:
    x, y = np.maximum(rank + shift, 0.0), until + shift
    empty = until <= rank  # a gain at rank 1: the piece before it has no ranks
    positive = (x > 0) & ~empty
    ratio = np.where(positive, (x / np.where(positive, y, 1.0)) ** 2, np.where(empty, 1.0, 0.0))
    safe = np.where(positive, x, 1.0)
    far = np.where(endless, 0.0, trigamma(np.where(positive, y, 1.0)))
    visits = np.where(positive, safe**2 * (trigamma(safe) - far), np.where(empty, 0.0, 1.0))
    return ratio, visits


def _pieces_of_chance(rank: Array, until: Array, chance: Array, endless: NDArray[np.bool_]) -> tuple[Array, Array]:
    m = until - rank
    ratio = chance**m
    sure = chance >= 1.0
    rest = np.where(sure, 1.0, 1.0 - chance)
    visits = np.where(sure, m, (1.0 - np.where(endless, 0.0, ratio)) / rest)
    if (sure & endless).any():
        raise MeasureError("a user who never stops has no expected depth")
    return ratio, visits


def behaviour_on(
    function: Callable[..., Forward], names: tuple[str, ...], gains: Gains, i: int
) -> tuple[Behaviour, Array]:
    """Follow the user down list i: what she does at each rank, and the gains she meets."""
    n = max(int(gains.lists.length[i]), 1)
    hits = slice(int(gains.offsets[i]), int(gains.offsets[i + 1]))

    def met(m: int) -> tuple[Forward, Array]:
        gain = np.zeros(m)
        gain[gains.position[hits] - 1] = gains.gain[hits]
        rank = np.arange(1, m + 1, dtype=np.float64)
        relevant = np.float64(gains.relevant[i])
        seen, cost = np.cumsum(gain), np.float64(1.0)
        points = {"rank": rank, "gain": gain, "seen": seen, "cost": cost, "spent": rank, "relevant": relevant}
        return function(**{name: points[name] for name in names}), gain

    user, gain = met(n)
    if user.depth is not None and user.depth > n:
        user, gain = met(user.depth)
    if user.mass is not None:
        mass = float(np.max(user.mass))
        user = Forward(last=np.asarray(user.rule) / mass if mass > 0 else np.zeros(n), beyond=user.beyond)
    if user.beyond == "endless" and user.kind == "continuation" and np.ndim(user.rule) > 0:
        return _followed(met, gain.size)
    behaviour = user.over(gain.size)
    padded = np.zeros(behaviour.visits.size)
    padded[: gain.size] = gain
    return behaviour, padded


def _followed(met: Callable[[int], tuple[Forward, Array]], n: int) -> tuple[Behaviour, Array]:
    """Follow a user beyond the list until nobody is left."""
    m = n
    while True:
        user, gain = met(m)
        c = np.array(np.broadcast_to(np.asarray(user.rule, np.float64), gain.shape))
        if user.survival is not None:
            c = c * np.broadcast_to(user.survival, gain.shape)
        visits = np.cumprod(np.concatenate(([1.0], c[:-1])), dtype=np.float64)
        if visits[-1] * c[-1] < _NOBODY or m >= _FURTHEST:
            c[-1] = 0.0
            return Behaviour(c, visits), gain
        m = min(2 * m + 64, _FURTHEST)


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
    for at in range(0, lists.n, _LISTS):
        block = order[at : at + _LISTS]
        out[block] = _Block(gains, block, cut).walk(function, names, question)
    if norm == "ideal":
        raise MeasureError("a user who looks at the grades has no ideal list to be compared with")
    return _divided(out, gains, norm, out)


class _Block:
    """Some lists, followed side by side, a stretch of ranks at a time, until nobody is left."""

    def __init__(self, gains: Gains, block: NDArray[Any], cut: int | None) -> None:
        self.gains, self.block, self.cut = gains, block, cut
        self.length = np.asarray(gains.lists.length[block], np.int64)
        place = np.full(gains.lists.n, -1)
        place[block] = np.arange(block.size)
        mine = np.flatnonzero(place[gains.list] >= 0)
        by_rank = mine[np.argsort(gains.position[mine], kind="stable")]
        self.where = place[gains.list[by_rank]]
        self.position = gains.position[by_rank]
        self.gain = gains.gain[by_rank]
        self.relevant = gains.relevant[block][:, None]

    def stretch(self, start: int, stop: int) -> Array:
        """The gains at ranks start + 1 to stop."""
        out = np.zeros((self.block.size, stop - start))
        a, b = np.searchsorted(self.position, (start, stop), side="right")
        out[self.where[a:b], self.position[a:b] - start - 1] = self.gain[a:b]
        return out

    def walk(self, function: Callable[..., Forward], names: tuple[str, ...], question: str) -> Array:
        """Follow everybody and answer the question."""
        size = self.block.size
        costs = self.gains.lists.costs
        seen, spent, reach = np.zeros(size), np.zeros(size), np.ones(size)
        answer, depth = np.zeros(size), np.zeros(size)
        longest = max(int(self.length.max(initial=0)), 1)
        start, width, first = 0, 64, None
        while True:
            rank = np.arange(start + 1, start + width + 1, dtype=np.float64)
            gain = self.stretch(start, start + width)
            cost = np.ones((1, width)) if costs is None else costs.stretch(self.block, start, start + width)
            total_seen = seen[:, None] + np.cumsum(gain, axis=1)
            total_spent = spent[:, None] + np.cumsum(np.broadcast_to(cost, gain.shape), axis=1)
            points = {
                "rank": rank,
                "gain": gain,
                "seen": total_seen,
                "spent": total_spent,
                "cost": cost,
                "relevant": self.relevant,
            }
            user = function(**{name: points[name] for name in names})
            if user.kind in ("visits", "weights") and callable(user.rule):  # as chances of going on
                chances = np.asarray(user.rule(rank + 1.0) / user.rule(rank))
                user = Forward(continuation=chances, survival=user.survival, depth=user.depth, beyond=user.beyond)
            value = np.broadcast_to(np.asarray(user.rule, np.float64), gain.shape)
            if user.kind in ("visits", "weights"):
                first = value[:, :1] if first is None else first
                visits = value / first
                c = np.ones(gain.shape)  # only V is asked of her
            else:
                c, visits = self._chances(user, value, rank, reach)
            inside = rank <= user.depth if user.depth is not None else np.ones(width, bool)
            last_rank = np.full(size, user.depth) if user.depth is not None else self.length
            if user.beyond != "endless" and user.depth is None:
                inside = rank <= self.length[:, None]
            visits = np.where(inside, visits, 0.0)
            if user.beyond == "stop":
                c = np.where(rank < np.asarray(last_rank)[:, None], c, 0.0)
            counted = gain if self.cut is None else np.where(rank <= self.cut, gain, 0.0)
            if question == "inside":
                visits_inside = np.where(rank <= self.length[:, None], visits, 0.0)
                depth += visits_inside.sum(axis=1)
            else:
                depth += visits.sum(axis=1)
            if question in ("order2", "total"):
                answer += (visits * counted).sum(axis=1)
            elif question == "cost":
                answer += (visits * cost).sum(axis=1)
            elif question not in ("depth", "inside"):
                if user.kind in ("visits", "weights"):
                    raise MeasureError("a user who looks at the grades is asked for her rate by C or L, not by V or W")
                stops = visits * (1.0 - c)
                if self.cut is not None:
                    stops = np.where(rank <= self.cut, stops, 0.0)
                answer += ((stops * total_seen if question == "order1" else stops) / rank).sum(axis=1)
            seen, spent = total_seen[:, -1], total_spent[:, -1]
            reach = visits[:, -1] * c[:, -1]
            start += width
            width = min(2 * width, 512)
            end = user.depth if user.depth is not None else None if user.beyond == "endless" else longest
            if question == "inside":
                end = longest
            if (end is not None and start >= end) or reach.max(initial=0) < _NOBODY or start > _FURTHEST:
                break
            tail = self._tail(user, value) if start >= longest and user.depth is None else None
            if tail is not None and question in ("order2", "total", "depth", "cost"):
                more = np.asarray(tail.visits(reach, start))
                depth += more
                if question == "cost":
                    answer += more * (1.0 if costs is None else costs.beyond)
                break
        if question in ("depth", "inside"):
            return depth
        return answer / np.where(depth > 0, depth, 1.0) if question == "order2" else answer

    @staticmethod
    def _chances(user: Forward, value: Array, rank: Array, reach: Array) -> tuple[Array, Array]:
        """C and V over a stretch that ``reach`` get to."""
        if user.kind == "last":
            last = value if user.mass is None else value / np.maximum(user.mass, 1e-300)
            visits = reach[:, None] - np.cumsum(last, axis=1) + last
            visits = np.where(visits > 1e-15, visits, 0.0)
            return np.divide(visits - last, visits, out=np.zeros(last.shape), where=visits > 0), visits
        c = inverse_square(rank, value) if user.kind == "shift" else value
        if user.survival is not None:
            c = c * user.survival
        first = np.ones((c.shape[0], 1))
        return c, reach[:, None] * np.cumprod(np.concatenate((first, c[:, :-1]), axis=1), axis=1)

    @staticmethod
    def _tail(user: Forward, value: Array) -> Tail | None:
        """The closed form of reading on for ever, where there is one."""
        if user.beyond != "endless":
            return None
        if user.kind == "shift":
            return InverseSquare(value[:, -1])
        return Geometric(float(user.rule)) if np.ndim(user.rule) == 0 else None
