"""The joint distribution of what walking users gain and how many visits they make, and the distribution of the gain.

Visits are followed one by one. Where nothing is ever lost, the state is (rank, gain so far); where only first visits
count, it is (rank, lowest and highest rank so far), because all ranks between them were seen. Both are finite at every
visit, but may be many: the work has a budget. The distribution of the gain alone needs no visits: sums on a lattice.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amble.errors import MeasureError

__all__ = [
    "BUDGET",
    "NoExactDistributionError",
    "OverBudgetError",
    "between",
    "check_mass",
    "distribution_of_gain",
    "joint_kept",
    "joint_once",
    "lattice",
    "product_of_two",
]

Array = NDArray[Any]

BUDGET = 200_000_000  # cells, some seconds
_LARGEST = 1 << 25  # cells at one time, a quarter of a gigabyte
_NEGLIGIBLE = 1e-15  # a share of users that is taken to stop
_CRUMB = 1e-19  # mass that is not worth a row
_MOST_UNITS = 1 << 22  # of gain that are followed one by one


class NoExactDistributionError(MeasureError):
    """Raised where there is no exact distribution that a computer could hold."""


class OverBudgetError(NoExactDistributionError):
    """Raised where the exact distribution would take more work than was allowed."""


def _spend(budget: int, cells: int) -> int:
    if cells > min(budget, _LARGEST):
        raise OverBudgetError("the exact distribution would take more work than its budget allows")
    return budget - cells


def check_mass(left: float) -> None:
    """Refuse a mass still walking that is no share of users: with it a loop over visits would not end."""
    if not 0.0 <= left <= 1.0 + 1e-6:
        raise RuntimeError(f"internal error: a share {left!r} of the users still walks, expected 0 to 1")


def joint_kept(
    p: Array, q: Array, s: Array, start: Array, units: NDArray[np.int64], budget: int = BUDGET
) -> tuple[Array, Array, Array]:
    """The joint distribution where nothing is ever lost: t (in units), h and probabilities."""
    n = p.size
    steps = [(u, np.flatnonzero(units == u)) for u in np.unique(units).tolist() if u]
    top = int(units.max(initial=0))
    _spend(budget, (top + 1) * n)
    mass = np.zeros((top + 1, n))
    mass[units, np.arange(n)] = start
    found: list[tuple[Array, int, Array]] = []
    h = 0
    while True:
        h += 1
        budget = _spend(budget, (mass.shape[0] + top) * n)
        stopped = mass @ s
        moved = np.zeros((mass.shape[0] + top, n))
        moved[: mass.shape[0], 1:] = mass[:, :-1] * p[:-1]
        moved[: mass.shape[0], :-1] += mass[:, 1:] * q[1:]
        for u, ranks in steps:
            moved[u:, ranks] = moved[: moved.shape[0] - u, ranks]
            moved[:u, ranks] = 0.0
        by_gain = moved.sum(axis=1)
        left = float(by_gain.sum())
        check_mass(left)
        if left < _NEGLIGIBLE:
            stopped = stopped + _upto(by_gain, stopped.size)
        t = np.flatnonzero(stopped > 0)
        found.append((t, h, stopped[t]))
        if left < _NEGLIGIBLE:
            break
        rows = np.flatnonzero(np.cumsum(by_gain[::-1])[::-1] > _CRUMB)
        mass = moved[: int(rows[-1]) + 1]
    return (
        np.concatenate([t for t, _, _ in found]).astype(np.float64),
        np.concatenate([np.full(t.size, float(h)) for t, h, _ in found]),
        np.concatenate([prob for _, _, prob in found]),
    )


def _upto(values: Array, size: int) -> Array:
    """The first values, the rest added to the last."""
    out = np.array(values[:size])
    out[-1] += values[size:].sum()
    return out


def joint_once(
    p: Array, q: Array, s: Array, start: Array, gains: Array, budget: int = BUDGET
) -> tuple[Array, Array, Array]:
    """The joint distribution where only first visits count: t, h and probabilities."""
    n = p.size
    lowest = int(np.flatnonzero(start > 0)[-1]) + 1 if (start > 0).any() else 1
    if (start[1:] == 0).all():
        lowest = 1  # all start at rank 1, so rank 1 is always the lowest
    total = np.concatenate(([0.0], np.cumsum(gains)))
    seen = total[None, 1:] - total[:lowest, None]  # gain of the ranks from the lowest to the highest
    _spend(budget, lowest * n * n)
    mass = np.zeros((lowest, n, n))  # lowest, highest, rank
    at = np.arange(lowest)
    mass[at, at, at] = start[:lowest]
    found: list[tuple[Array, int, Array]] = []
    high = np.arange(n - 1)
    low = np.arange(1, lowest)
    h = 0
    while True:
        h += 1
        budget = _spend(budget, 2 * mass.size)
        stopped = mass @ s
        moved = np.zeros(mass.shape)
        moved[:, :, 1:] = mass[:, :, :-1] * p[:-1]
        beyond = moved[:, high, high + 1].copy()  # one further than ever: the highest is one more
        moved[:, high, high + 1] = 0.0
        back = np.zeros(mass.shape)
        back[:, :, :-1] = mass[:, :, 1:] * q[1:]
        if lowest > 1:
            below = back[low, :, low - 1].copy()
            back[low, :, low - 1] = 0.0
            back[low - 1, :, low - 1] += below
        moved += back
        moved[:, high + 1, high + 1] += beyond
        left = float(moved.sum())
        check_mass(left)
        if left < _NEGLIGIBLE:
            stopped = stopped + moved.sum(axis=2)
        t = stopped > 0
        found.append((seen[t], h, stopped[t]))
        if left < _NEGLIGIBLE:
            break
        mass = moved
    return (
        np.concatenate([t for t, _, _ in found]),
        np.concatenate([np.full(t.size, float(h)) for t, h, _ in found]),
        np.concatenate([prob for _, _, prob in found]),
    )


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
