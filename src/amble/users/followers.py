"""Simulated readers who go from state to state, each of which shows a rank: of chains, and of walks that look.

Every draw is a function of the seed, the reader's number and the visit, so that readers of given numbers are always the
same, however many are followed together.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from amble.arrays import NDArray
from amble.errors import MeasureError
from amble.native.plain_walker import draws, keys
from amble.users.effort import Effort
from amble.users.paths import collected
from amble.users.protocol import Paths
from amble.users.timing import Timing
from amble.users.utility import Utility

__all__ = ["Rows", "StateFollower", "visits_of"]

Array = NDArray[Any]

_BATCH = 1 << 14  # readers who are followed together
_CELLS = 1 << 22  # readers x documents, or times, of which visits are counted
_NEVER = 1 << 40  # a visit that nobody makes


class Rows:
    """Rows of probabilities, of which readers draw their next state: of each entry the row, the column and the share.

    >>> rows = Rows(np.array([0, 1, 1]), np.array([1, 0, 2]), np.array([1.0, 0.5, 0.5]))
    >>> rows.drawn(np.array([0, 1, 1]), np.array([0.9, 0.4, 0.6]))
    array([1, 0, 2])
    """

    def __init__(self, row: Array, column: Array, share: Array) -> None:
        some = np.flatnonzero(share > 0)
        some = some[np.lexsort((column[some], row[some]))]
        row, self.column, upto = row[some], column[some], np.append(0.0, np.cumsum(share[some]))
        self.first = np.searchsorted(row, np.arange(int(row[-1]) + 2))
        size = np.diff(upto[self.first])
        self.upto = (upto[1:] - upto[self.first][row]) / size[row] + row

    @classmethod
    def of(cls, matrix: Array) -> Rows:
        """The rows of a matrix."""
        row, column = np.nonzero(matrix)
        return cls(row, column, matrix[row, column])

    def drawn(self, row: Array, draw: Array) -> Array:
        """The column that each draw from [0, 1) gives in its row."""
        found = np.searchsorted(self.upto, row + draw, side="right")
        return np.asarray(self.column[np.clip(found, self.first[row], self.first[row + 1] - 1)])  # however rounded


def visits_of(
    key: Array, move: Callable[[Array, Array | None, Array], Array], limit: int = _NEVER
) -> Iterator[tuple[Array, Array]]:
    """Of every visit, the readers who make it (numbered from 0) and their states.

    ``move`` tells of some readers, their states (None before the first visit) and draws where each goes; below 0: none.
    """
    who, at, visit = np.arange(key.size), move(np.arange(key.size), None, draws(key, 0)), 0
    while (goes := at >= 0).any():
        who, key, at, visit = who[goes], key[goes], at[goes], visit + 1
        if visit > limit:
            raise MeasureError(f"some users were still walking after {limit:,} visits")
        yield who, at
        at = move(who, at, draws(key, visit))


class StateFollower(ABC):
    """Simulated readers: what each gains, visit by visit, and the effort. A subclass says where they go.

    Parameters
    ----------
    seed : int
    gains : ndarray of shape (lists, states)
    utility, effort : Utility, Effort
    returns : float
        A bound of the probability of coming back to a document.
    clock : tuple of Timing and ndarray, optional
        The effort is a time: its law, and the mean seconds of a visit to each state.
    documents : ndarray, optional
        The document whose visits a state's count with; without it, each state's count alone.
    """

    limit = _NEVER  # visits of one reader
    rank: Array | None = None  # of each state; None: 1, 2, …

    def __init__(
        self,
        seed: int,
        gains: Array,
        utility: Utility,
        effort: Effort,
        returns: float = 1.0,
        clock: tuple[Timing, Array] | None = None,
        documents: Array | None = None,
    ) -> None:
        self.seed, self.effort, self.clock = seed, effort, clock
        distinct, kind = np.unique(gains, return_inverse=True)
        self.kind, self.worth = kind.reshape(gains.shape), utility.table(distinct, returns)
        document = np.arange(gains.shape[1]) if documents is None else documents
        some = np.isin(document, document[gains.any(axis=0)])  # visits to others need no count
        self.counted = np.unique(np.where(some, document, -1), return_inverse=True)[1]
        means = np.zeros(document.size) if clock is None else clock[1]
        self.seconds, self.takes = np.unique(means, return_inverse=True)

    @abstractmethod
    def move(self, at: Array | None, total: Array, draw: Array) -> Array:
        """Where readers go from their states, with what they gained: -1 to stop, -2 to leave with nothing."""

    def batch(self, users: int, threads: int) -> int:
        """How many readers are followed together."""
        return max(256, min(_BATCH, _CELLS // max(int(self.counted.max()) + 1, self.seconds.size)))

    def _visits(self, key: Array, total: Array, nothing: Array) -> Iterator[tuple[Array, Array]]:
        """Of every visit, the readers and their states; what they gain, and who gets nothing, is noted."""
        seen = np.zeros((key.size, int(self.counted.max()) + 1), np.int32)

        def move(who: Array, at: Array | None, draw: Array) -> Array:
            to = self.move(at, total[who], draw)
            nothing[who[to < -1]] = True
            return to

        for who, at in visits_of(key, move, self.limit):
            before = seen[who, self.counted[at]]
            total[who] += self.worth[self.kind[:, at], np.minimum(before, self.worth.shape[1] - 1)].T
            seen[who, self.counted[at]] = before + 1
            yield who, at

    def __call__(self, first: int, count: int) -> Paths:
        """The readers ``first`` to ``first + count - 1``."""
        key, total, nothing = keys(self.seed, first, count), np.zeros((count, len(self.kind))), np.zeros(count, bool)
        long = np.zeros((count, self.seconds.size), np.int64)
        for who, at in self._visits(key, total, nothing):
            long[who, self.takes[at]] += 1
        visits = long.sum(axis=1)
        if self.clock is None:
            return Paths(total, visits, self.effort(visits.astype(np.float64)), nothing)
        chance = np.column_stack([draws(key, _NEVER + j) for j in range(self.seconds.size)])
        return Paths(total, visits, self.clock[0].spent(long, self.seconds, chance), nothing)

    def paths(self, first: int, count: int) -> list[NDArray[np.int32]]:
        """The ranks that each of these readers visits."""
        found = self._visits(keys(self.seed, first, count), np.zeros((count, len(self.kind))), np.zeros(count, bool))
        return collected(((who, at + 1 if self.rank is None else self.rank[at]) for who, at in found), count)
