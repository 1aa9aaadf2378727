"""A user of any kind from one method: the transition probabilities between the ranks of a list, by dense algebra.

`DenseUser` answers everything that measures ask from `DenseUser.transitions`, list by list (`ChainOnList` has the
formulas), in N^3 steps. The users of the catalogue have quicker ways, and are compared with this one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amble.distributions.distribution import Distribution
from amble.errors import MeasureError
from amble.native.plain_walker import draws, keys
from amble.rankings.lists import Gains
from amble.users.chain_on_list import ChainOnList
from amble.users.effort import Effort
from amble.users.paths import collected
from amble.users.protocol import Paths, Question
from amble.users.utility import Utility

__all__ = ["ChainFollower", "DenseUser"]

Array = NDArray[np.float64]

_BATCH = 1 << 14  # readers who are followed together
_CELLS = 1 << 22  # readers x states
_MOST_STEPS = 1e10
_MANY = 1 << 40  # a step that nobody takes


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


class ChainFollower:
    """Simulated readers of a chain: every draw is a function of the seed, the reader's number and the step."""

    def __init__(self, user: ChainOnList, gains: list[Array], seed: int) -> None:
        self.user, self.seed = user, seed
        rows, stops = np.vstack((user.p, user.start)), np.append(user.halts, 0.0)
        leaves = 1.0 - rows.sum(axis=1) - stops
        rows = np.column_stack((rows, stops, np.where(leaves > 1e-12, leaves, 0.0)))
        self.last = rows.shape[1] - 1 - np.argmax(rows[:, ::-1] > 0, axis=1)  # where rounding must not lead beyond
        self.upto = (np.cumsum(rows, axis=1) + np.arange(rows.shape[0])[:, None]).ravel()
        self.columns = rows.shape[1]
        tables = [user.utility.table(user.gains_by_state(y), user.most_returns) for y in gains]
        self.worth = np.stack(tables)  # by list, state and visit
        means = np.zeros(user.n) if user.clock is None else user.clock[1]
        self.seconds, self.takes = np.unique(means, return_inverse=True)
        self.counted = np.unique(user.rank, return_inverse=True)[1] if user.by_document else np.arange(user.n)

    def batch(self, users: int, threads: int) -> int:
        """How many readers are followed together; an error if all of them would make too many visits."""
        if users * self.user.expected_depth > _MOST_STEPS:
            raise MeasureError(f"{users:,} users would make more than {_MOST_STEPS:.0e} visits")
        return min(_BATCH, max(256, _CELLS // self.user.n))

    def _steps(self, first: int, count: int) -> Iterator[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]]:
        """Of every step, the readers who visit a rank, these ranks (from 0), and the readers who leave with nothing."""
        n = self.user.n
        key, who = keys(self.seed, first, count), np.arange(count)
        at, step = np.full(count, n), 0
        while who.size:
            found = np.searchsorted(self.upto, at + draws(key, step), side="right") - at * self.columns
            found = np.clip(found, 0, self.last[at])
            left, going = who[found > n], found < n
            who, key, at, step = who[going], key[going], found[going], step + 1
            yield who, at, left

    def paths(self, first: int, count: int) -> list[NDArray[np.int32]]:
        """The ranks that each of these readers visits."""
        return collected(((who, self.user.rank[at]) for who, at, _ in self._steps(first, count)), count)

    def __call__(self, first: int, count: int) -> Paths:
        """The readers ``first`` to ``first + count - 1``."""
        total, most = np.zeros((count, len(self.worth))), self.worth.shape[2] - 1
        visits, nothing = np.zeros(count, np.int64), np.zeros(count, bool)
        seen, long = np.zeros((count, self.user.n), np.int64), np.zeros((count, self.seconds.size), np.int64)
        for who, at, left in self._steps(first, count):
            nothing[left] = True
            document = self.counted[at]
            total[who] += self.worth[:, at, np.minimum(seen[who, document], most)].T
            seen[who, document] += 1
            visits[who] += 1
            long[who, self.takes[at]] += 1
        if self.user.clock is None:
            return Paths(total, visits, self.user.effort(visits.astype(np.float64)), nothing)
        key = keys(self.seed, first, count)
        chance = np.column_stack([draws(key, _MANY + j) for j in range(self.seconds.size)])
        return Paths(total, visits, self.user.clock[0].spent(long, self.seconds, chance), nothing)
