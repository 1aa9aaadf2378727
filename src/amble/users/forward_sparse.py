"""Forward users scored from one gainful document to the next: nothing need be computed between.

Either the user stops only at gains (AP, RR, ERR, BPM, NERR), or the probability of going on changes only there (INST),
and the visits between have a closed form.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from amble.arrays import NDArray
from amble.errors import MeasureError
from amble.rankings.lists import Gains, scan
from amble.users.behaviour import check_probabilities
from amble.users.effort import Effort
from amble.users.protocol import Question
from amble.users.tails import hurwitz

if TYPE_CHECKING:
    from amble.users.forward import Forward

__all__ = ["at_hits", "score_stops", "totals_of_pieces", "totals_of_survivors"]

Array = NDArray[np.float64]
_TINY = float(np.finfo(np.float64).tiny)

_AT_HITS: dict[str, Callable[[Gains], Array]] = {
    "rank": lambda gains: np.asarray(gains.position, np.float64),
    "gain": lambda gains: gains.gain,
    "seen": lambda gains: gains.seen,
    "spent": lambda gains: np.asarray(gains.position, np.float64),
    "relevant": lambda gains: gains.relevant.take(gains.list),
    "available": lambda gains: gains.available.take(gains.list),
    "share": lambda gains: gains.share,
    "grade": lambda gains: gains.lists.grade[gains.kept],
}


def at_hits(gains: Gains, names: tuple[str, ...]) -> dict[str, Any]:
    """What a user may look at, at each gainful document."""
    return {name: _AT_HITS[name](gains) for name in names}


def score_stops(user: Forward, question: Question, gains: Gains, effort: Effort) -> Array:
    """E[T/f(H)], or E[1/f(H); satisfied], of a user who stops only at gains."""
    value = np.asarray(user.rule, np.float64)
    if value.shape != gains.gain.shape:
        value = np.broadcast_to(value, gains.gain.shape)
    if user.kind == "last":
        last = value
    elif user.kind == "continuation":
        check_probabilities(value, gains.position)
        last = _before(value, gains) * (1.0 - value)
    else:
        raise MeasureError(f"a user who stops at gains is declared by last or continuation, found {user.kind}")
    spent = effort(gains.position)
    total = gains.sum(last * gains.seen / spent if question is Question.ORDER1 else last / spent)
    if user.mass is not None:
        mass = np.ones(total.size)
        mass[gains.list] = user.mass
        total = total / mass
    return total


def _before(probabilities: Array, gains: Gains) -> Array:
    """The product of the probabilities at the hits before each one."""
    product = scan(np.multiply.accumulate, probabilities, gains.offsets)
    return np.where(gains.ordinal == 1, 1.0, np.concatenate(([1.0], product[:-1])))


def totals_of_survivors(user: Forward, gains: Gains, *, inside: bool = False) -> tuple[Array, Array]:
    """E[T] and E[H] of a user who does not look at the grades, but may stop at each gain as well."""
    lists = gains.lists
    survival = np.broadcast_to(np.asarray(user.survival, np.float64), gains.gain.shape)
    check_probabilities(survival, gains.position)
    behaviour = user.replaced(survival=None).over(max(lists.longest, 1))
    area = np.concatenate(([0.0], np.cumsum(behaviour.visits)))
    before = _before(survival, gains)
    here = area[gains.position] - area[gains.position - 1]
    total = gains.sum(before * here * gains.gain)
    # ranks after a hit, up to and with the next one; the first of all from rank 1
    if inside or user.ends:
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
    return total, depth + lead


def totals_of_pieces(
    function: Callable[..., Forward], names: tuple[str, ...], gains: Gains
) -> tuple[Array, Array, Array]:
    """E[T], E[H] and the part of E[H] on the list, of a user whose probability of going on changes only at gains.

    Between a gain at rank a and the next one at b there is one probability c of going on, so that V(b) =
    V(a) c^(b - a), or one shift s, so that the products telescope: V(b) = V(a) ((a + s) / (b + s))^2, and the visits
    between are V(a) (a + s)^2 (trigamma(a + s) - trigamma(b + s)); so for other powers, with Hurwitz's zeta function.
    """
    lists = gains.lists
    n = lists.n
    # a piece starts at rank 1 of each list and at each of its gains
    at = gains.offsets[:-1] + np.arange(n)
    size = gains.gain.size + n
    hit = np.arange(gains.gain.size) + gains.list + 1
    owner = np.repeat(np.arange(n), np.diff(gains.offsets) + 1)
    rank = np.ones(size)
    rank[hit] = gains.position

    def placed(values: Array) -> Array:
        out = np.zeros(size)
        out[hit] = values
        return out

    gain = placed(gains.gain)
    points: dict[str, Callable[[], Array]] = {
        "rank": lambda: rank,
        "gain": lambda: gain,
        "seen": lambda: placed(gains.seen),
        "spent": lambda: rank,
        "relevant": lambda: gains.relevant[owner],
        "available": lambda: gains.available[owner],
    }
    user = function(**{name: points[name]() for name in names})
    value = np.broadcast_to(np.asarray(user.rule, np.float64), rank.shape)
    last = np.append(at[1:], size) - 1  # the last piece of each list
    until = np.append(rank[1:], 0.0)
    until[last] = np.maximum(lists.length, 1) + 1.0
    pieces: dict[str, Callable[..., tuple[Array, Array]]] = {
        "shift": partial(_pieces_of_shift, user.power),
        "continuation": _pieces_of_probability,
    }
    if user.kind not in pieces:
        raise MeasureError(f"a user in pieces is declared by shift or continuation, found {user.kind}")
    ratio, visits = pieces[user.kind](rank, until, value, False)
    reach = scan(np.multiply.accumulate, ratio, np.append(at, size))
    before = np.concatenate(([1.0], reach[:-1]))
    before[at] = 1.0
    total = np.asarray(np.bincount(owner, before * gain, n), np.float64)
    end, visits[last] = visits[last], 0.0
    depth = np.asarray(np.bincount(owner, before * visits, n), np.float64)
    inside = depth + before[last] * end
    if user.beyond == "endless":
        end = pieces[user.kind](rank[last], until[last], value[last], True)[1]
    return total, depth + before[last] * end, inside


def _pieces_of_shift(power: float, rank: Array, until: Array, shift: Array, endless: bool) -> tuple[Array, Array]:
    x, y = np.maximum(rank + shift, 0.0), np.maximum(until + shift, _TINY)
    ratio, visits = (x / y) ** power, np.ones(rank.size)  # one visit, if there is one rank or the user stops there
    empty = np.flatnonzero(until <= rank)  # a gain at rank 1: the piece before it has no ranks
    ratio[empty], visits[empty] = 1.0, 0.0
    long = np.flatnonzero((until - rank > 1) | (endless & (until > rank)))
    long = long[x[long] > 0]
    x, y = x[long], y[long]
    visits[long] = x**power * (hurwitz(power, x) - (0.0 if endless else hurwitz(power, y)))
    return ratio, visits


def _pieces_of_probability(rank: Array, until: Array, probability: Array, endless: bool) -> tuple[Array, Array]:
    check_probabilities(probability, rank)
    m = until - rank
    ratio = probability**m
    sure = probability >= 1.0
    rest = np.where(sure, 1.0, 1.0 - probability)
    if endless:
        gone = np.ones(m.size)
    else:
        inner = (probability > 0.5) & ~sure  # 1 - c^m without cancellation
        gone = np.where(inner, -np.expm1(m * np.log(np.where(inner, probability, 0.5))), 1.0 - ratio)
    visits = np.where(sure, m, gone / rest)
    if endless and sure.any():
        raise MeasureError("a user who never stops has no expected depth")
    return ratio, visits
