"""The joint distribution of what she gains and how often she looks, followed visit by visit.

Where nothing is ever lost, the state is (rank, gain so far); where only first visits count, it is (rank, lowest and
highest rank so far), because she has seen all ranks between them. Both are finite at every visit, but may be many: the
work has a budget.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from amble.errors import MeasureError

__all__ = ["BUDGET", "NoExactLawError", "OverBudgetError", "joint_kept", "joint_once"]

Array = NDArray[Any]

BUDGET = 200_000_000  # cells, some seconds
_LARGEST = 1 << 25  # cells at one time, a quarter of a gigabyte
_NOBODY = 1e-15
_CRUMB = 1e-19  # mass that is not worth a row


class NoExactLawError(MeasureError):
    """There is no exact distribution that a computer could hold."""


class OverBudgetError(NoExactLawError):
    """The exact distribution would take more work than was allowed."""


def _spend(budget: int, cells: int) -> int:
    if cells > min(budget, _LARGEST):
        raise OverBudgetError("the exact distribution would take more work than its budget allows")
    return budget - cells


def joint_kept(
    p: Array, q: Array, s: Array, start: Array, units: NDArray[np.int64], budget: int = BUDGET
) -> tuple[Array, Array, Array]:
    """Nothing is ever lost: t (in units), h and probabilities."""
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
        if left < _NOBODY:
            stopped = stopped + _upto(by_gain, stopped.size)
        t = np.flatnonzero(stopped > 0)
        found.append((t, h, stopped[t]))
        if left < _NOBODY:
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
    """Only first visits count: t, h and probabilities."""
    n = p.size
    lowest = int(np.flatnonzero(start > 0)[-1]) + 1 if (start > 0).any() else 1
    if (start[1:] == 0).all():
        lowest = 1  # she starts at rank 1, so rank 1 is always the lowest
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
        if left < _NOBODY:
            stopped = stopped + moved.sum(axis=2)
        t = stopped > 0
        found.append((seen[t], h, stopped[t]))
        if left < _NOBODY:
            break
        mass = moved
    return (
        np.concatenate([t for t, _, _ in found]),
        np.concatenate([np.full(t.size, float(h)) for t, h, _ in found]),
        np.concatenate([prob for _, _, prob in found]),
    )
