"""What walks gain: sums on a lattice, and products for a variance."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amble.users.joint import NoExactLawError

__all__ = ["between", "distribution_of_gain", "lattice", "product_of_two"]

Array = NDArray[Any]

_MOST_UNITS = 1 << 22


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
        raise NoExactLawError(
            "the gains are no multiples of one number, so their sums are too many for an exact distribution"
        )
    denominator = math.lcm(*(part.denominator for part in parts))
    numerator = math.gcd(*(int(part * denominator) for part in parts))
    unit = numerator / denominator
    if float(gains.max()) / unit > _MOST_UNITS:
        raise NoExactLawError(f"the largest gain is more than {_MOST_UNITS:,} times the unit of all gains")
    return unit, np.rint(gains / unit).astype(np.int64)


def product_of_two(
    kept: float,
    there: Array,
    again: Array,
    away: float,
    aways: Array,
    visit: float,
    visits: Array,
    first: Array,
    i: int,
) -> Array:
    """E[S_i S_j] for rank i and every later rank j, from the walk watched on the two of them.

    G is the matrix of mean visits between the two; the watched chain is Q = I - G^-1; she enters it with e = V G^-1.
    X_k, the product from state k on, solves X = Q Y + kept Q X, where Y is what the other rank will still bring.
    """
    g = (1.0 / away, there / aways, again / away, 1.0 / aways)  # from i to i and j, from j to i and j
    det = g[0] * g[3] - g[1] * g[2]
    inverse = (g[3] / det, -g[1] / det, -g[2] / det, g[0] / det)
    q = (1.0 - inverse[0], -inverse[1], -inverse[2], 1.0 - inverse[3])
    enter_i = visit * inverse[0] + visits * inverse[2]
    enter_j = visit * inverse[1] + visits * inverse[3]
    one, other = first[i], first[i + 1 :]
    right_i = q[0] * there * other + q[1] * other  # at i: what j will bring, from wherever she is next
    right_j = q[2] * one + q[3] * again * one
    a, b, c, d = 1.0 - kept * q[0], -kept * q[1], -kept * q[2], 1.0 - kept * q[3]
    det = a * d - b * c
    return np.asarray(enter_i * (right_i * d - b * right_j) / det + enter_j * (a * right_j - c * right_i) / det)


def distribution_of_gain(back: Array, loop: Array, forward: Array, stop: Array, start: Array, units: Array) -> Array:
    """P(T = t), t in units, of a walk all of whose ranks gain something."""
    out = [0.0]
    m = units.size
    top = int(units.max())
    arrived = np.zeros((top + 1, m))  # at gain t (modulo top + 1): the mean number of visits that bring her to t
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
        if t % (top + 1) == top:  # now and then: who is still on her way?
            left = float(np.where((t - age) % (top + 1) < units, arrived, 0.0).sum())
            if left < 1e-16:
                out[-1] += left
                return np.array(out)
        if t >= _MOST_UNITS:
            raise NoExactLawError(f"some users gain more than {_MOST_UNITS:,} units, too many to be followed")
