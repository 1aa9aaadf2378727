"""A user of any kind from one method: the transition probabilities between the ranks of a list, by dense algebra.

`DenseUser` answers everything that measures ask from `DenseUser.transitions`, list by list (`ChainOnList` has the
formulas), in N^3 steps. The users of the catalogue have quicker ways, and are compared with this one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from amble.arrays import NDArray
from amble.distributions.distribution import Distribution
from amble.errors import MeasureError
from amble.rankings.lists import Gains
from amble.users.chain_on_list import ChainOnList
from amble.users.effort import Effort
from amble.users.followers import Rows, StateFollower
from amble.users.protocol import Question
from amble.users.utility import Utility

__all__ = ["ChainFollower", "DenseUser"]

Array = NDArray[np.float64]

_MOST_STEPS = 1e10  # of all readers together


class DenseUser(ABC):
    """A user declared by the transition probabilities between ranks; everything else follows.

    A subclass has `transitions` and, where not all who leave have stopped, `leaving`.

    Attributes
    ----------
    utility : Utility
        What the k-th visit to a document is worth; by default, its gain every time.
    effort : Effort
        What the gain is divided by; by default, the number of visits.
    ends : bool
        Whether the user looks no further than the end of the list; False where there are more ranks than it has.
    is_static : bool
        Whether the user ignores the grades; by default not.

    Examples
    --------
    >>> from amble.users.dense import DenseUser
    >>> class EverySecond(DenseUser):
    ...     def transitions(self, gains, i):
    ...         n = gains.by_rank(i).size
    ...         return 0.8 * np.eye(n, k=2), np.eye(n)[0]
    >>> from amble.rankings.lists import GainMap, Lists
    >>> gains = Lists.of_grades([1, 0, 1]).gains(GainMap(("own",), lambda grades, most: grades))
    >>> EverySecond().on(gains, 0).last  # stops at rank 1 with .2, else at rank 3
    array([0.2, 0. , 0.8])
    """

    utility = Utility()
    effort = Effort()
    ends = True
    depth: int | None = None
    is_static = sees_beyond = False
    has_order1 = True
    story = ""

    @abstractmethod
    def transitions(self, gains: Gains, i: int) -> tuple[Array, Array]:
        """The transition probabilities between ranks on list i (a square array), and the distribution of the start.

        What is missing to 1 in a row is the probability of stopping there. There may be more ranks than the list has,
        which gain nothing.
        """

    def leaving(self, gains: Gains, i: int) -> Array | None:
        """Of those who go no further from each rank of list i, the share who leave with nothing; None: all stop."""
        return None

    @classmethod
    def looking(cls, function: Any, names: tuple[str, ...], stops: str | None) -> DenseUser:
        """Raise an error: such a user looks at lists in `transitions`."""
        raise MeasureError(f"a user declared by transitions sees the list there, not by {', '.join(names)}")

    def check(self, question: Question) -> None:
        """Raise an error if the question is one to a user who never stops."""
        if question is Question.MARKOV:
            raise MeasureError("the question is 'markov', so the user must be a MarkovUser; found a user who stops")

    def on(self, gains: Gains, i: int) -> ChainOnList:
        """The user on list i."""
        p, start = self.transitions(gains, i)
        user = ChainOnList(p, start, self.leaving(gains, i), self.utility, self.effort)
        if user.n < int(gains.lists.length[i]):
            raise MeasureError(
                f"transitions of {user.n} ranks, expected the list's {int(gains.lists.length[i])} or more"
            )
        return user

    def _each(self, gains: Gains) -> list[tuple[ChainOnList, Array]]:
        if gains.lists.ties is not None:
            raise MeasureError(
                "a user declared by transitions has no closed form for ties='expected'; use ties='docno'"
            )
        users = [self.on(gains, i) for i in range(gains.lists.n)]
        return [(user, gains.by_rank(i)) for i, user in enumerate(users)]

    def scores(self, question: Question, gains: Gains) -> Array:
        """The answer of every list."""
        return np.array([user.score(question, y) for user, y in self._each(gains)])

    def totals(self, gains: Gains) -> tuple[Array, Array]:
        """E[T] and E[H] of every list."""
        found = self._each(gains)
        return np.array([user.total(y) for user, y in found]), np.array([user.expected_depth for user, _ in found])

    def costs(self, gains: Gains) -> Array:
        """The expected cost of the documents that the user looks at, of every list."""
        costs = gains.lists.costs
        out = []
        for i, (user, _) in enumerate(self._each(gains)):
            n = user.length
            each = np.ones((1, n)) if costs is None else costs.stretch(np.array([i]), 0, n)
            out.append(float(user.visits @ np.broadcast_to(each, (1, n))[0]))
        return np.array(out)

    def unseen(self, question: Question, gains: Gains, gain: float) -> Array:
        """What ranks beyond each list, down to its cut, would add to the answer, if each gained ``gain``."""
        out = np.zeros(gains.lists.n)
        for i, (user, _) in enumerate(self._each(gains)):
            there = np.zeros(user.length)
            there[int(gains.lists.length[i]) : gains.lists.cut] = gain
            out[i] = user.score(question, there) if not question.about_satisfaction else 0.0
        return out

    def distribution(self, question: Question, gains: Gains, i: int) -> Distribution:
        """The exact distribution of the score of list i."""
        user = self.on(gains, i)
        return user.distribution(question, gains.by_rank(i))

    def worth(self, question: Question, gains: Gains, i: int) -> tuple[Array, bool]:
        """What a gain at each rank of list i adds, per unit; or what stopping there adds (False)."""
        user = self.on(gains, i)
        y = np.pad(gains.by_rank(i), (0, max(0, user.length - gains.by_rank(i).size)))
        if question.about_satisfaction:
            return user.satisfactions(question), False
        added = user.contributions(question, np.where(y > 0, y, 1.0))
        return added / np.where(y > 0, y, 1.0), True

    def follower(self, gains: Gains, lists: list[int], seed: int) -> ChainFollower:
        """Simulated readers of a list, or of several where `is_static`."""
        user = self.on(gains, lists[0])
        return ChainFollower(user, [gains.by_rank(i) for i in lists], seed)


class ChainFollower(StateFollower):
    """Simulated readers of a chain."""

    def __init__(self, user: ChainOnList, gains: list[Array], seed: int) -> None:
        by_state = np.array([user.gains_by_state(y) for y in gains])
        documents = user.counted if user.by_document else None
        super().__init__(seed, by_state, user.utility, user.effort, user.most_returns, user.clock, documents)
        user.check_times(by_state.max(axis=0) > 0)
        self.n, self.rank, self.depth, t = user.n, user.rank, user.expected_depth, user.transitions
        every, n = np.arange(user.n), np.full(user.n, user.n)
        entries = (  # moves, stops, leaving with nothing, and the start
            *((t.source, t.target, t.p), (every, n, user.halts), (every, n + 1, t.stop - user.halts)),
            (n, every, user.start),
        )
        self.rows = Rows(*(np.concatenate(part) for part in zip(*entries, strict=True)))

    def batch(self, users: int, threads: int) -> int:
        """How many readers are followed together; an error if all of them would make too many visits."""
        if users * self.depth > _MOST_STEPS:
            raise MeasureError(f"{users:,} users would make more than {_MOST_STEPS:.0e} visits")
        return super().batch(users, threads)

    def move(self, at: NDArray[Any] | None, total: Array, draw: Array) -> NDArray[Any]:
        """Where readers go from their states."""
        found = self.rows.drawn(np.full(draw.size, self.n) if at is None else at, draw)
        return np.where(found < self.n, found, self.n - 1 - found)
