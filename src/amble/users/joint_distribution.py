"""The joint distribution of what walking users gain and how many visits they make, and the distribution of the gain.

Visits are followed one by one. Where nothing is ever lost, the state is (rank, gain so far); where only first visits
count, it is (rank, lowest and highest rank so far), because all ranks between them were seen. Both are finite at every
visit, but may be many: the work has a budget. The distribution of the gain alone needs no visits: sums on a lattice.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np

from amble.arrays import NDArray
from amble.native import load
from amble.users.protocol import NoExactDistributionError

__all__ = [
    "BUDGET",
    "Joint",
    "NoExactDistributionError",
    "OverBudgetError",
    "Steps",
    "between",
    "check_mass",
    "distribution_of_gain",
    "joint_kept",
    "joint_of_walk",
    "joint_once",
    "lattice",
    "product_of_two",
    "same_steps",
]

Array = NDArray[Any]

BUDGET = 200_000_000  # cells, some seconds
_LARGEST = 1 << 25  # cells at one time, a quarter of a gigabyte
_NEGLIGIBLE = 1e-15  # a share of users that is taken to stop
_LEAST_WORK = 100  # cells that a visit costs, however few states there are
_CRUMB = 1e-19  # mass that is not worth a row
_MOST_UNITS = 1 << 22  # of gain that are followed one by one
_TOO_MUCH = "to follow all users, visit by visit and gain by gain, would take more work than its budget allows"

walker = load("walker")


class OverBudgetError(NoExactDistributionError):
    """Raised where the exact distribution would take more work than was allowed."""


class Joint(NamedTuple):
    """The joint distribution of gain and visits, and what is known of each rank.

    Attributes
    ----------
    t, h, prob : ndarray
        Gains, numbers of visits, and the probabilities of both together.
    visits, last : ndarray
        Of each rank: its mean number of visits, and the probability of stopping there.
    met : ndarray
        Of each rank: the mean number of its visits that gain something.
    """

    t: Array
    h: Array
    prob: Array
    visits: Array
    last: Array
    met: Array


class Steps(Protocol):
    """The probabilities of going forward, back and stopping, at some states."""

    def __call__(self, mass: Array, seen: Callable[[int], Array]) -> tuple[Array, Array, Array]:
        """Those of states with this mass, by rank in the last axis; ``seen`` are gains so far, to a number of rows."""


def same_steps(p: Array, q: Array, s: Array) -> Steps:
    """The steps of users who do the same at a rank whatever they gained so far."""
    return lambda mass, seen: (p[: mass.shape[-1]], q[: mass.shape[-1]], s[: mass.shape[-1]])


def _spend(budget: int, cells: int) -> int:
    if cells > min(budget, _LARGEST):
        raise OverBudgetError(_TOO_MUCH)
    return budget - cells


def check_mass(left: float) -> None:
    """Refuse a mass still walking that is no share of users: with it a loop over visits would not end."""
    if not 0.0 <= left <= 1.0 + 1e-6:
        raise RuntimeError(f"internal error: a share {left!r} of the users still walks, expected 0 to 1")


def joint_kept(steps: Steps, start: Array, units: NDArray[np.int64], unit: float = 1.0, budget: int = BUDGET) -> Joint:
    """The joint distribution where nothing is ever lost; each rank gains some units."""
    n = start.size
    raised = [(u, np.flatnonzero(units == u)) for u in np.unique(units).tolist() if u]

    def arrived(ahead: Array, behind: Array) -> Array:
        rows, m = ahead.shape
        wide = min(m + 1, n)
        more = rows + int(units[:wide].max(initial=0))
        _spend(_LARGEST, more * wide)
        moved = np.zeros((more, wide))
        moved[:rows, 1:] = ahead[:, : wide - 1]
        moved[:rows, : m - 1] += behind[:, 1:]
        for u, ranks in raised:
            here = ranks[: np.searchsorted(ranks, wide)]
            if here.size:
                moved[u:, here] = moved[:-u, here]
                moved[:u, here] = 0.0
        return moved

    m = int(np.flatnonzero(start)[-1]) + 1
    _spend(budget, (int(units[:m].max()) + 1) * m)
    mass = np.zeros((int(units[:m].max()) + 1, m))
    mass[units[:m], np.arange(m)] = start[:m]
    found = _followed(mass, steps, lambda rows: unit * np.arange(rows), arrived, n, budget)
    return found._replace(met=found.visits)


def joint_of_walk(
    start: Array, p: Array, q: Array, s: Array, units: NDArray[np.int64], unit: float = 1.0, budget: int = BUDGET
) -> tuple[Array, Array, Array]:
    """The t, h and prob of `joint_kept`, where users do the same at a rank whatever they gained so far."""
    arrays = (np.ascontiguousarray(part) for part in (start, p, q, s, units))
    found = walker.joint(*arrays, budget, _LARGEST, _LEAST_WORK, _NEGLIGIBLE, _CRUMB)
    if found is None:
        raise OverBudgetError(_TOO_MUCH)
    gain, visits, prob = found
    return unit * np.frombuffer(gain, np.int64), np.frombuffer(visits), np.frombuffer(prob)


def joint_once(steps: Steps, start: Array, gains: Array, budget: int = BUDGET) -> Joint:
    """The joint distribution where only first visits count."""
    n = start.size
    m = int(np.flatnonzero(start)[-1]) + 1
    total = np.concatenate(([0.0], np.cumsum(gains)))
    low = np.arange(1, m)  # where all start at rank 1, it is always the lowest
    ended = np.zeros((m, n))  # by lowest and highest rank, from there on

    def seen(rows: int) -> Array:
        return total[None, 1 : rows + 1] - total[:m, None]

    def arrived(ahead: Array, behind: Array) -> Array:
        m = ahead.shape[-1]
        wide = min(m + 1, n)
        moved = np.zeros((ahead.shape[0], wide, wide))  # lowest, highest, rank
        moved[:, :m, 1:] = ahead[..., : wide - 1]
        high = np.arange(wide - 1)
        beyond = moved[:, high, high + 1]  # one further than ever: the highest is one more
        moved[:, high, high + 1] = 0.0
        moved[:, :m, : m - 1] += behind[..., 1:]
        if low.size:
            below = moved[low, :, low - 1]
            moved[low, :, low - 1] = 0.0
            moved[low - 1, :, low - 1] += below
        moved[:, high + 1, high + 1] += beyond
        return moved

    _spend(budget, m * m * m)
    mass = np.zeros((m, m, m))
    at = np.arange(m)
    mass[at, at, at] = start[:m]
    found = _followed(mass, steps, seen, arrived, n, budget, ended)
    saw = np.cumsum(ended.sum(axis=0)[::-1])[::-1]  # whose highest rank is this one or further down
    unseen = np.append(0.0, np.cumsum(ended.sum(axis=1)[::-1])[::-1][1:])  # whose lowest rank is further down
    saw[:m] -= np.append(unseen[1:], 0.0)
    return found._replace(met=saw)


def _followed(
    mass: Array,
    steps: Steps,
    seen: Callable[[int], Array],
    arrived: Callable[[Array, Array], Array],
    n: int,
    budget: int,
    ended: Array | None = None,
) -> Joint:
    """Users followed visit by visit, over states whose last axis is the rank."""
    visits, last = np.zeros(n), np.zeros(n)
    found: list[tuple[Array, Array]] = []
    over = tuple(range(mass.ndim - 1))
    while True:
        rows, m = mass.shape[-2:]
        budget = _spend(budget, 2 * mass.size + _LEAST_WORK)
        p, q, s = steps(mass, seen)
        stopping = mass * s
        moved = arrived(mass * p, mass * q)
        left = float(moved.sum())
        check_mass(left)
        if left < _NEGLIGIBLE:
            stopping *= 1.0 + left / (float(stopping.sum()) or 1.0)
        visits[:m] += mass.sum(axis=over)
        last[:m] += stopping.sum(axis=over)
        stopped = stopping.sum(axis=-1)
        if ended is not None:
            ended[:, :rows] += stopped
        some = stopped > 0
        found.append((seen(rows)[some], stopped[some]))
        if left < _NEGLIGIBLE:
            break
        rows = _extent(moved.sum(axis=(*over[:-1], moved.ndim - 1)))
        mass = moved[..., :rows, : _extent(moved.sum(axis=over)) if ended is None else rows]
    counts = [np.full(t.size, h) for h, (t, _) in enumerate(found, 1)]
    gain, prob = (np.concatenate(part) for part in zip(*found, strict=True))
    return Joint(gain, np.concatenate(counts).astype(np.float64), prob, visits, last, visits)


def _extent(mass: Array) -> int:
    """The number of rows up to the last that matters."""
    some = np.flatnonzero(np.cumsum(mass[::-1])[::-1] > _CRUMB)
    return int(some[-1]) + 1 if some.size else 1


# ---- gains alone


def between(on: Array, off: Array, at: Array) -> Array:
    """The probability of ever reaching one of some ranks from another, given those of one rank further and one back."""
    ahead = np.array([np.prod(on[a:b]) for a, b in pairwise(at)])
    behind = np.array([np.prod(off[a + 1 : b + 1]) for a, b in pairwise(at)])
    out = np.eye(at.size)
    for i in range(at.size - 1):
        out[i, i + 1 :] = np.cumprod(ahead[i:])
        out[i + 1 :, i] = np.cumprod(behind[i:])
    return out


def lattice(gains: Array) -> tuple[float, NDArray[np.int64]]:
    """A unit of which all gains are whole multiples, and the multiples."""
    from fractions import Fraction  # with decimal and its friends 5 ms that most never need

    values = np.unique(gains[gains > 0])
    if not values.size:
        return 1.0, np.zeros(gains.size, np.int64)
    parts = [Fraction(float(v)).limit_denominator(10_000) for v in values]
    if any(abs(float(part) - v) > 1e-12 * v for part, v in zip(parts, values.tolist(), strict=True)):
        raise NoExactDistributionError(
            "the gains are no multiples of one number, so their sums are too many for an exact distribution"
        )
    denominator = math.lcm(*(part.denominator for part in parts))
    numerator = math.gcd(*(int(part * denominator) for part in parts))
    unit = numerator / denominator
    if float(gains.max()) / unit > _MOST_UNITS:
        raise NoExactDistributionError(f"the largest gain is more than {_MOST_UNITS:,} times the unit of all gains")
    return unit, np.rint(gains / unit).astype(np.int64)


def product_of_two(
    kept: float,
    there: Array,
    again: Array,
    away: float,
    aways: Array,
    visit: float | Array,
    visits: Array,
    first: Array,
    i: int,
) -> Array:
    """E[S_i S_j] for rank i and every later rank j, from the chain induced on the two of them.

    G is the matrix of mean visits between the two; the induced chain is Q = I - G^-1, its start e = V G^-1.
    X_k, the product from state k on, solves X = Q Y + kept Q X, where Y is what the other rank will still bring.
    """
    g = (1.0 / away, there / aways, again / away, 1.0 / aways)  # from i to i and j, from j to i and j
    det = g[0] * g[3] - g[1] * g[2]
    inverse = (g[3] / det, -g[1] / det, -g[2] / det, g[0] / det)
    q = (1.0 - inverse[0], -inverse[1], -inverse[2], 1.0 - inverse[3])
    enter_i = visit * inverse[0] + visits * inverse[2]
    enter_j = visit * inverse[1] + visits * inverse[3]
    one, other = first[i], first[i + 1 :]
    right_i = q[0] * there * other + q[1] * other  # at i: what j will bring, from the next state
    right_j = q[2] * one + q[3] * again * one
    a, b, c, d = 1.0 - kept * q[0], -kept * q[1], -kept * q[2], 1.0 - kept * q[3]
    det = a * d - b * c
    return np.asarray(enter_i * (right_i * d - b * right_j) / det + enter_j * (a * right_j - c * right_i) / det)


def distribution_of_gain(back: Array, loop: Array, forward: Array, stop: Array, start: Array, units: Array) -> Array:
    """P(T = t), t in units, of a walk all of whose ranks gain something."""
    out = [0.0]
    m = units.size
    top = int(units.max())
    arrived = np.zeros((top + 1, m))  # at gain t (modulo top + 1): the mean number of visits that bring the gain to t
    age, t = np.arange(top + 1)[:, None], 0
    while True:
        t += 1
        here = np.where(units == t, start, 0.0) if t <= top else np.zeros(m)
        before = arrived[(t - units) % (top + 1), np.arange(m)]
        here = here + np.where(t > units, before, 0.0)
        out.append(float(here @ stop))
        moved = here * loop
        moved[1:] += here[:-1] * forward[:-1]
        moved[:-1] += here[1:] * back[1:]
        arrived[t % (top + 1)] = moved  # will gain its own units on arrival
        if t % (top + 1) == top:  # now and then: how much mass still walks?
            left = float(np.where((t - age) % (top + 1) < units, arrived, 0.0).sum())
            check_mass(left)
            if left < 1e-16:
                out[-1] += left
                return np.array(out)
        if t >= _MOST_UNITS:
            raise NoExactDistributionError(f"some users gain more than {_MOST_UNITS:,} units, too many to be followed")
