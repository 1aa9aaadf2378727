"""Birth-death chains on the ranks: first passages, visits and ends of users who go forward, go back, or stop.

At rank i the user goes forward with probability p, back with q, and stops with s = 1 - p - q. Weight each step by
z = e^-x (or each visit by a weight of its rank). With F(i, j) the weight of ever getting from i to j,

    u_i = 1 - F(i, i+1),    v_i = 1 - F(i, i-1),

    a_i = (1 - z (p_i + q_i)) + z q_i u_(i-1),    F(i, i+1) = z p_i / (a_i + z p_i),    u_i = a_i / (a_i + z p_i),

and likewise from the right; 1 - (return to i) = (1 - z (p_i + q_i)) + z q_i u_(i-1) + z p_i v_(i+1). Only positive
numbers are added, so all of it is exact to a few units in the last place, whatever the list's length and however small
s is (the idea of Grassmann, Taksar and Heyman). These are the pivots of the Thomas algorithm in another dress.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from amble.arrays import NDArray
from amble.errors import MeasureError

__all__ = [
    "BirthDeathChain",
    "Passages",
    "VisitWeights",
    "chain_on_lists",
    "further",
    "induced_birth_death_chain",
    "least_visits",
    "most_likely_to_go_on",
    "passages",
    "reachable",
    "shortened",
    "solved",
    "stops",
]  # fmt: skip

Array = NDArray[Any]

_SLACK = 1e-9  # by how much probabilities may miss 1
_NONE = 1e-12  # a probability of starting or stopping that is none


class BirthDeathChain(NamedTuple):
    """The chains of walks over some lists: probabilities at each rank, which is the last axis.

    Attributes
    ----------
    forward, back, stop : ndarray of shape (lists, n)
    start : ndarray of shape (lists, n)
        The distribution of the first rank visited.
    beyond : tuple of ndarray, or None
        The three probabilities at every rank beyond the list, each of shape (lists,), where it goes on for ever.
    """

    forward: Array
    back: Array
    stop: Array
    start: Array
    beyond: tuple[Array, Array, Array] | None


class Passages(NamedTuple):
    """First-passage weights of the chain, for every node; arrays of shape (n, lists, nodes).

    Attributes
    ----------
    hit : ndarray
        The weight of ever coming to each rank.
    away : ndarray
        1 - the weight of coming back to it.
    end : ndarray
        The weight of the walk's end, from there.
    on, off : ndarray
        The weights of ever getting one rank further, and one rank back.
    tail : ndarray of shape (lists, nodes), or None
        Visits beyond an endless list, for each visit to its last rank.
    """

    hit: Array
    away: Array
    end: Array
    on: Array
    off: Array
    tail: Array | None


class VisitWeights(NamedTuple):
    """What a visit to each rank multiplies the weight of a path by, the last visit included.

    Attributes
    ----------
    z, lost : ndarray of shape (n, lists or 1, nodes)
        The weights, and 1 - the weights.
    beyond : tuple of two ndarray of shape (lists or 1, nodes)
        The same at every rank beyond an endless list.
    """

    z: Array
    lost: Array
    beyond: tuple[Array, Array]


def stops(forward: Array, back: Array) -> Array:
    """The probabilities of stopping, 1 - p - q, corrected for the rounding error of p + q."""
    p, q = np.broadcast_arrays(np.asarray(forward, np.float64), np.asarray(back, np.float64))
    both = p + q
    part = both - p
    lost = (p - (both - part)) + (q - part)
    return np.asarray(np.maximum((1.0 - both) - lost, 0.0))


def checked_start(start: Any, of: str = "ranks") -> Array:
    """The distribution of where users start, ranks or states 1, 2, …; without one, at the first."""
    try:
        given = np.ones(1) if start is None else np.array(start, np.float64, ndmin=1)
    except (TypeError, ValueError):
        raise MeasureError(f"start={start!r:.60}: expected probabilities of {of} 1, 2, …") from None
    total = sum(given.ravel().tolist())
    if given.ndim != 1 or not (given >= 0).all() or not abs(total - 1) <= _SLACK:
        raise MeasureError(f"start: expected probabilities that sum to 1, found {total:.9g}")
    return given


def chain_on_lists(
    forward: Array, back: Array, length: Array, start: Array, first: str, beyond: tuple[float, float] | None
) -> BirthDeathChain:
    """The chains of lists of these lengths, each closed at its own end (or endless), with rank 1 as ``first`` says."""
    p, q = np.array(forward, np.float64, ndmin=2), np.array(back, np.float64, ndmin=2)
    lists, n = p.shape
    s = stops(p, q)
    if first == "forward":
        p[:, 0] += q[:, 0]
    else:
        s[:, 0] += q[:, 0]
    q[:, 0] = 0.0
    mu = np.zeros((lists, n))
    m = min(n, start.size)
    mu[:, :m] = start[:m]
    tail = None
    if beyond is None:
        rank = np.arange(n)
        last = np.maximum(np.asarray(length), 1)[:, None] - 1
        after = rank > last
        s = np.where(rank == last, s + p, np.where(after, 1.0, s))
        p = np.where(rank >= last, 0.0, p)
        q = np.where(after, 0.0, q)
        late = np.concatenate((mu, np.full((lists, 1), start[m:].sum())), axis=1)
        at_end = np.where(np.arange(n + 1) > last, late, 0.0).sum(axis=1)  # no walk starts beyond the list
        mu = np.where(after, 0.0, mu)
        mu[np.arange(lists), last[:, 0]] += at_end
    else:
        one = np.ones(lists)
        tail = (beyond[0] * one, beyond[1] * one, stops(beyond[0] * one, beyond[1] * one))
    return BirthDeathChain(p, q, s, mu, tail)


def reachable(chain: BirthDeathChain, least: float = 1e-18) -> int:
    """The number of ranks that matter: the others are reached with less than this probability, on all lists."""
    p, q, s, mu = (np.ascontiguousarray(part.T) for part in chain[:4])
    never = reach = np.zeros(p.shape[1])
    late = np.append(np.cumsum(mu[::-1], axis=0)[::-1][1:].max(axis=1), 0.0)  # who start further down
    for i in range(len(p)):
        left = q[i] * never
        pivot = s[i] + p[i] + left
        if not pivot.all():
            return len(p)
        never = (s[i] + left) / pivot
        reach = (reach + mu[i]) * (p[i] / pivot)
        if late[i] < least and reach.max() < least:
            return i + 1
    return len(p)


def most_likely_to_go_on(chain: BirthDeathChain) -> float:
    """The largest probability of going on after a visit, on any list and at any rank."""
    on = float((chain.forward + chain.back).max(initial=0.0))
    return on if chain.beyond is None else max(on, float((chain.beyond[0] + chain.beyond[1]).max()))


def least_visits(chain: BirthDeathChain) -> Array:
    """The least number of visits of a walk that comes to each rank and stops (ranks x lists); inf if there is none."""
    p, q, s, mu = (part.T for part in chain[:4])
    to, off = (np.where(at > _NONE, 0.0, np.inf) for at in (mu, s))
    if chain.beyond is not None:
        off[-1] = np.where((off[-1] > 0) & (p[-1] > 0) & (chain.beyond[2] > _NONE), 1.0, off[-1])
    for i in range(1, len(p)):
        to[i] = np.minimum(to[i], np.where(p[i - 1] > 0, to[i - 1] + 1.0, np.inf))
        off[i] = np.minimum(off[i], np.where(q[i] > 0, off[i - 1] + 1.0, np.inf))
    for i in range(len(p) - 2, -1, -1):
        to[i] = np.minimum(to[i], np.where(q[i + 1] > 0, to[i + 1] + 1.0, np.inf))
        off[i] = np.minimum(off[i], np.where(p[i] > 0, off[i + 1] + 1.0, np.inf))
    return np.asarray(to + off + 1.0)


def passages(chain: BirthDeathChain, x: Array | VisitWeights) -> Passages:
    """The passages of the chain at the nodes z = e^-x; x = 0 is the walk itself. Or with weights of visits."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return _passages(chain, x)


def _passages(chain: BirthDeathChain, x: Array | VisitWeights) -> Passages:
    lists, n = chain.forward.shape
    timed = isinstance(x, VisitWeights)
    if isinstance(x, VisitWeights):
        lost, outer = x.lost, x.beyond
        zs, losts = list(x.z), list(lost)
    else:
        z, lost = outer = np.exp(-x), -np.expm1(-x)
        zs, losts = [z] * n, [lost] * n
    nodes = lost.shape[-1]
    shape = (n, lists, nodes)
    kind = lost.dtype
    left, on, stopped, hit = (np.empty(shape, kind) for _ in range(4))
    p, q, s, mu = (np.ascontiguousarray(part.T[:, :, None]) for part in chain[:4])
    both = p + q
    dead = s + lost * both if n * lists * nodes <= 1 << 16 else None  # 1 - z (p + q)
    never = b = carried = np.zeros((1, 1))
    for i in range(n):
        z = zs[i]
        die = s[i] + losts[i] * both[i] if dead is None else dead[i]
        zq = z * q[i]
        zp = z * p[i]
        a = die + np.multiply(zq, never, out=left[i])
        pivot = a + zp
        never = np.divide(a, pivot, out=a)
        np.divide(zp, pivot, out=on[i])
        zq *= b
        zq += z * s[i] if timed else s[i]
        b = np.divide(zq, pivot, out=stopped[i])
        np.add(carried, mu[i], out=hit[i])
        carried = np.multiply(hit[i], on[i], out=zq)
    away, end, off = (np.empty(shape, kind) for _ in range(3))
    tail: Array | None = None
    if chain.beyond is None:
        v, after = np.zeros((1, 1)), np.zeros((1, 1))
    else:
        v, ended, outside = _beyond(chain.beyond, *outer)
        if timed:
            ended = ended * outer[0]
        a = left[-1] + s[-1] + losts[-1] * both[-1]
        zp = zs[-1] * p[-1]
        # from the last rank: stop before leaving it, or out there, or come back to it
        last = (stopped[-1] + on[-1] * ended) * (a + zp) / (a + zp * v)
        after = ended + (1.0 - v) * last
        tail = zp * outside
    back_to = np.zeros((1, 1))
    for i in range(n - 1, -1, -1):
        z = zs[i]
        die = s[i] + losts[i] * both[i] if dead is None else dead[i]
        a = z * p[i]
        a *= v
        a += die
        zq = z * q[i]
        pivot = a + zq
        v = a / pivot
        np.divide(zq, pivot, out=off[i])
        after = np.multiply(on[i], after, out=end[i])
        after += stopped[i]
        np.add(a, left[i], out=away[i])
        hit[i] += back_to
        back_to = (back_to + mu[i]) * off[i]
    return Passages(hit, away, end, on, off, tail)


def solved(chain: BirthDeathChain) -> Passages:
    """The passages of the walk itself; refused if it never ends."""
    found = passages(chain, np.zeros(1))
    stuck = np.argwhere(~(found.away[:, :, 0] > 0) & (found.hit[:, :, 0] > 0))
    if stuck.size:
        raise MeasureError(
            f"the user never stops: from rank {int(stuck[0][0]) + 1} there is no way to an end, or none in 1e300 visits"
        )
    return found


def _beyond(probabilities: tuple[Array, Array, Array], z: Array, lost: Array) -> tuple[Array, Array, Array]:
    """At a rank beyond the list: the probabilities never to come back (v) and to end there, and the visits there."""
    p, q, s = (c[:, None] for c in probabilities)
    dead = s + lost * (p + q)
    zp, zq = z * p, z * q
    b = dead + zq - zp
    root = np.sqrt(b * b + 4.0 * zp * dead)
    with np.errstate(divide="ignore", invalid="ignore"):
        v = np.where(b.real >= 0, 2.0 * dead / (b + root), (root - b) / (2.0 * np.where(zp == 0, 1.0, zp)))
    share = v / dead
    return v, s * share, share


def further(probabilities: tuple[Array, Array, Array]) -> float:
    """The probability to get one rank further from a rank beyond the first list, where it is endless."""
    p, q, s = (float(c[0]) for c in probabilities)
    never_back = float(_beyond(probabilities, np.ones(1), np.zeros(1))[0][0, 0])
    return p / (s + q + p * never_back)


def shortened(chain: BirthDeathChain, n: int) -> BirthDeathChain:
    """The chains closed after n ranks: walks that would go on stop there, later starts are moved there."""
    forward, back, stop, start = (part[:, :n].copy() for part in chain[:4])
    stop[:, -1] += forward[:, -1]
    forward[:, -1] = 0.0
    start[:, -1] += chain.start[:, n:].sum(axis=1)
    return BirthDeathChain(forward, back, stop, start, None)


def induced_birth_death_chain(
    chain: BirthDeathChain, keep: NDArray[np.bool_]
) -> tuple[Array, Array, Array, Array, Array, float]:
    """The chain induced on some ranks: back, stay, forward, stop and start there, and the share that never comes there.

    The other ranks are taken out one by one; what led to them is shared among their neighbours and the end.
    """
    p, q, s, mu = (part[0].tolist() for part in chain[:4])
    n = len(p)
    stay = [0.0] * n
    unseen = 0.0
    left = -1  # the last rank kept, or not yet taken out
    before: list[int] = []
    for i in range(n):
        if keep[i]:
            before.append(i)
            left = i
            continue
        leaves = p[i] + q[i] + s[i]
        if leaves <= 0:
            continue
        to_right, to_left, to_end = p[i] / leaves, q[i] / leaves, s[i] / leaves
        right = i + 1
        unseen += mu[i] * to_end
        if right < n:
            mu[right] += mu[i] * to_right
            s[right] += q[right] * to_end
            stay[right] += q[right] * to_right
            q[right] *= to_left
        else:
            unseen += mu[i] * to_right
        if left >= 0:
            mu[left] += mu[i] * to_left
            s[left] += p[left] * to_end
            stay[left] += p[left] * to_left
            p[left] *= to_right
        else:
            unseen += mu[i] * to_left
    at = np.array(before, np.int64)
    back, forward, stop, start, loop = (np.array(part)[at] for part in (q, p, s, mu, stay))
    return back, loop, forward, stop, start, unseen
