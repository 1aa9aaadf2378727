"""Forward users who do not look at the grades: one vector of weights for all lists."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from amble.arrays import NDArray
from amble.errors import MeasureError
from amble.rankings.lists import Gains, Lists
from amble.users.behaviour import Behaviour
from amble.users.effort import Effort
from amble.users.protocol import Question

if TYPE_CHECKING:
    from amble.users.forward import Forward

__all__ = ["FURTHEST", "NEGLIGIBLE", "Static", "followed"]

Array = NDArray[np.float64]

NEGLIGIBLE = 1e-18  # a share of users that is taken for none
FURTHEST = 1 << 20  # the rank beyond which users are not followed


class Static:
    """A user who does not look at the grades: the behaviour on a list of any length."""

    def __init__(self, over: Callable[[int], Behaviour], *, ends: bool) -> None:
        self.over = over
        self._last: tuple[int, Behaviour] | None = None
        self.ends = ends  # with the list, whatever its length

    def _behaviour(self, lists: Lists, effort: Effort) -> Behaviour:
        """The behaviour over as many ranks as any of the lists has."""
        n = max(lists.longest, 1)
        if lists.ties is not None:
            n = max(n, int((lists.ties[0] + lists.ties[1]).max(initial=0)))
        out = self.on_list(n)
        if effort is not out.effort and effort != out.effort:
            out = copy.copy(out)
            out.effort = effort
        return out

    def on_list(self, n: int) -> Behaviour:
        """The behaviour on a list of n documents; the last one is kept."""
        last = self._last
        if last is None or last[0] != n:
            last = self._last = n, self.over(n)
        return last[1]

    def scores(self, question: Question, gains: Gains, effort: Effort) -> Array:
        """E[T]/E[f(H)], E[T], or E[T/f(H)] of a user who does not stop with the list, of every list."""
        behaviour = self._behaviour(gains.lists, effort)
        if question is Question.ORDER1:
            return _total(behaviour.worth, gains)
        total = _total(behaviour.visits, gains)
        return total / self._effort(behaviour, gains.lists) if question is Question.ORDER2 else total

    def totals(self, gains: Gains) -> tuple[Array, Array]:
        """E[T] and E[H] of every list."""
        behaviour = self._behaviour(gains.lists, Effort())
        return _total(behaviour.visits, gains), self._effort(behaviour, gains.lists)

    def _effort(self, behaviour: Behaviour, lists: Lists) -> Array:
        """E[f(H)] of every list."""
        if not self.ends:
            return np.full(lists.n, behaviour.mean_effort)
        steps = behaviour.effort.steps(np.arange(1.0, behaviour.visits.size + 1.0))
        return np.asarray(np.cumsum(behaviour.visits * steps)[np.maximum(lists.length, 1) - 1])


def _total(weights: Array, gains: Gains) -> Array:
    """The gain of every list, by one vector of weights."""
    lists = gains.lists
    if lists.ties is None:  # the gains of lists that are cut are those above it
        return gains.sum(gains.gain * weights.take(gains.position - 1))
    if lists.cut is not None:
        weights = weights.copy()
        weights[lists.cut :] = 0.0
    # the mean weight of the ranks that tied documents share
    seen = weights if lists.depth is None else np.where(np.arange(weights.size) < lists.depth, weights, 0.0)
    area = np.concatenate(([0.0], np.cumsum(seen)))
    first, size = (x[gains.kept] for x in lists.ties)
    return gains.sum(gains.gain * (area[first - 1 + size] - area[first - 1]) / size)


def followed(met: Callable[[int], tuple[Forward, Array]], n: int) -> Behaviour:
    """The behaviour beyond the list, down to the rank where all users have stopped."""
    m = n
    while True:
        user, gain = met(m)
        c = np.array(np.broadcast_to(np.asarray(user.rule, np.float64), gain.shape))
        if user.survival is not None:
            c = c * np.broadcast_to(user.survival, gain.shape)
        visits = np.cumprod(np.concatenate(([1.0], c[:-1])), dtype=np.float64)
        if visits[-1] * c[-1] < NEGLIGIBLE:
            c[-1] = 0.0
            return Behaviour(c, visits)
        if m >= FURTHEST:
            raise MeasureError(f"some users are still reading after rank {FURTHEST:,}, and there is no closed form")
        m = min(2 * m + 64, FURTHEST)
