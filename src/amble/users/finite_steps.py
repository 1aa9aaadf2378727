"""Markov users of n steps: the distribution and the variance of the mean precision over n looks at relevant documents.

The user is a chain over the relevant documents, p from each to each, and a distribution of the first one looked at. The
score depends on how often each was looked at, so the exact distribution follows (document, counts so far): documents
of the same precision and time are counted together. The work has a budget. The variance needs no distribution.

With rates the mean is over time: each look counts as long as it takes in the mean.

A user who remembers what was visited is no chain over the documents, but one over sets of them: such users are
simulated.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from amble.arrays import NDArray
from amble.errors import MeasureError
from amble.native.plain_walker import keys
from amble.users.followers import Rows, visits_of
from amble.users.joint_distribution import OverBudgetError
from amble.users.paths import collected
from amble.users.protocol import Paths
from amble.users.stationary import mean_occupation

__all__ = ["RememberingFollower", "StepsFollower", "exact_distribution", "variance"]

Array = NDArray[np.float64]

BUDGET = 4_000_000  # counts x documents of all steps together, about a second
_CHUNK = 1 << 16  # users who step together
_CELLS = 1 << 22  # users x documents, of users who remember
_MOST_STEPS = 1e10  # of all users together, some minutes


def exact_distribution(p: Array, first: Array, precision: Array, time: Array, steps: int) -> tuple[Array, Array]:
    """The scores after so many looks, and their probabilities.

    >>> p = np.array([[0.0, 1.0], [0.5, 0.5]])
    >>> exact_distribution(p, np.array([1.0, 0.0]), np.array([1.0, 0.5]), np.ones(2), 3)  # 1 2 1 or 1 2 2
    (array([0.83333333, 0.66666667]), array([0.5, 0.5]))
    """
    if steps == 1:
        return precision, first
    kinds, of = np.unique(np.stack((precision, time)), axis=1, return_inverse=True)
    base, count = steps + 1, kinds.shape[1]
    if math.comb(steps + count, count) * first.size > BUDGET or base ** (count - 1) >= 1 << 63:
        raise OverBudgetError(f"{steps:,} looks at {first.size:,} relevant documents are too many ways to be followed")
    place = np.array([base**j for j in range(count - 1)] + [0], np.int64)  # counts as digits; the last one follows
    column, counts, arriving = np.arange(first.size), np.zeros(1, np.int64), first[None, :]
    for _ in range(steps):
        counts, at = np.unique(counts[:, None] + place[of.ravel()], return_inverse=True)
        here = np.zeros((counts.size, first.size))
        here[at.reshape(arriving.shape), column] = arriving
        possible = here.any(axis=1)
        counts, here = counts[possible], here[possible]
        arriving = here @ p
    often = counts[:, None] // np.maximum(place, 1) % base
    often[:, -1] = steps - often[:, :-1].sum(axis=1)
    return often @ (kinds[0] * kinds[1]) / (often @ kinds[1]), here.sum(axis=1)


def variance(p: Array, first: Array, precision: Array, steps: int) -> float:
    """The variance of the score, if all looks count alike, by the moments of what is still to come from each document.

    >>> variance(np.array([[0.0, 1.0], [0.5, 0.5]]), np.array([1.0, 0.0]), np.array([1.0, 0.5]), 3)  # (1/12)^2
    0.006944444444444...
    """
    f = precision - mean_occupation(p, first, steps) @ precision  # so that little is subtracted below
    m = first.size
    if steps <= 4 * m + 64:
        mean = square = np.zeros(m)
        for _ in range(steps):
            square, mean = f * f + 2.0 * f * (p @ mean) + p @ square, f + p @ mean
    else:  # the same, as powers of one matrix
        one = np.zeros((2 * m + 1, 2 * m + 1))
        one[:m, :m], one[:m, m:-1], one[:m, -1] = p, 2.0 * f[:, None] * p, f * f
        one[m:-1, m:-1], one[m:-1, -1], one[-1, -1] = p, f, 1.0
        square, mean = np.split(np.linalg.matrix_power(one, steps)[:-1, -1], 2)
    return max(float(first @ square - (first @ mean) ** 2), 0.0) / steps**2


class StepsFollower:
    """Simulated users of some steps: the precision that each adds up over time, and the time.

    Parameters
    ----------
    p, start : ndarray
        The transition probabilities between the chain's documents, up to a factor of each row, and the start.
    precision, time : ndarray
        Of each of them, precision there (NaN where it is not relevant) and the time of a visit.
    steps : int
        Looks at relevant documents.
    ranks : ndarray
        Of the documents.
    """

    def __init__(
        self, p: Array, start: Array, precision: Array, time: Array, steps: int, seed: int, scale: float, ranks: Any
    ) -> None:
        self.p, self.start, self.steps, self.seed, self.scale, self.ranks = p, start, steps, seed, scale, ranks
        self.relevant = ~np.isnan(precision)
        self.time = np.where(self.relevant, time, 0.0)
        self.worth = np.where(self.relevant, precision, 0.0) * time

    def batch(self, users: int, threads: int) -> int:
        """How many users are followed together; an error if all of them would look too often."""
        if users * self.steps > _MOST_STEPS:
            looks = f"{users * self.steps:.1e}"
            raise MeasureError(f"{users:,} users would look {looks} times, expected at most {_MOST_STEPS:.0e}")
        return _CHUNK

    def __call__(self, first: int, count: int) -> Paths:
        """The users ``first`` to ``first + count - 1``."""
        total, spent = np.zeros(count), np.full(count, 0.0 if self.relevant.any() else float(self.steps))
        for who, at in self.visits(first, count):
            total[who] += self.worth[at]
            spent[who] += self.time[at]
        return Paths((total * self.scale)[:, None], np.full(count, self.steps), spent)

    def paths(self, first: int, count: int) -> list[NDArray[np.int32]]:
        """The relevant ranks that each of these users looks at; none on a list without any."""
        looks = ((who, at, self.relevant[at]) for who, at in self.visits(first, count))
        return collected(((who[here], self.ranks[at[here]]) for who, at, here in looks), count)

    def visits(self, first: int, count: int) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        """Of every step, the users who take it (numbered from 0), and the place of the document among the chain's."""
        if not self.relevant.any():
            return iter(())
        looks, goes = np.zeros(count, np.int64), self._mover(count)

        def move(who: NDArray[Any], at: NDArray[Any] | None, draw: Array) -> NDArray[Any]:
            if at is not None:
                looks[who] += self.relevant[at]
            return np.where(looks[who] < self.steps, goes(who, at, draw), -1)

        return visits_of(keys(self.seed, first, count), move)

    def _mover(self, count: int) -> Callable[..., NDArray[Any]]:
        """Where users go: as `visits_of` asks."""
        rows = Rows.of(np.vstack((self.p, self.start)))
        return lambda _, at, draw: rows.drawn(np.full(count, self.start.size) if at is None else at, draw)


class RememberingFollower(StepsFollower):
    """Simulated users of some steps who remember what they visited: they go on to what is new, as long as they can.

    Among the documents that a move may lead to, those not visited yet are chosen from, in proportion to the chain's
    probabilities; where there is none, the move is the chain's own. Once all were visited, all but the last are
    forgotten.
    """

    def batch(self, users: int, threads: int) -> int:
        """How many users are followed together."""
        return max(1, min(_CHUNK, _CELLS // max(self.start.size, 1)))

    def _mover(self, count: int) -> Callable[..., NDArray[Any]]:
        """Where users go: as `visits_of` asks."""
        new = np.ones((count, self.start.size), bool)

        def move(who: NDArray[Any], at: NDArray[Any] | None, draw: Array) -> NDArray[Any]:
            if at is None:
                return _chosen(np.broadcast_to(self.start, new.shape), draw)
            new[who, at] = False
            new[who[~new[who].any(axis=1)]] = True
            new[who, at] = False
            moves = self.p[at] * new[who]
            stuck = np.flatnonzero(~moves.any(axis=1))
            moves[stuck] = self.p[at[stuck]]
            return _chosen(moves, draw)

        return move


def _chosen(weights: Array, draw: Array) -> NDArray[np.int64]:
    """The column that each draw chooses in proportion to the weights of its row."""
    upto = np.cumsum(weights, axis=1)
    return np.asarray(np.argmax(upto > (draw * upto[:, -1])[:, None], axis=1))  # a draw is below 1
