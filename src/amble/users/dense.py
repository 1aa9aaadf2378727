"""A user of any kind from one method: the transition probabilities between the ranks of a list, by dense algebra.

`DenseUser` answers everything that measures ask from `DenseUser.transitions`. With P the transition probabilities, s
what is left of each row (the user stops there), mu the start and M(z) = (I - z P)^-1, rank j is ever visited with
probability h = (mu M)_j / M_jj and left for ever with 1 / M_jj. The k-th visit to a document is worth g(k, y), so that
(Ferrante and Ferro, 2020, appendices A and B)

    E[T] = sum over j of h_j sum over k of g(k, y_j) (1 - 1 / M_jj)^(k-1),        E[H] = mu M 1,
    E[T; H = h] z^(h-1), summed over h, is the same with M(z) and times e_j = (M(z) s)_j.

It takes N^3 steps a list. The users of the catalogue have quicker ways, and are compared with this one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amble.distributions.distribution import Distribution
from amble.errors import MeasureError
from amble.native.plain_walker import draws, keys
from amble.rankings.lists import Gains
from amble.users.effort import Effort
from amble.users.joint_distribution import NoExactDistributionError
from amble.users.paths import collected
from amble.users.protocol import OnList, Paths, Question
from amble.users.utility import Utility

__all__ = ["ChainOnList", "DenseUser"]

Array = NDArray[np.float64]

_SLACK = 1e-9  # by how much the probabilities of a row may exceed 1
_SHARE = 1e-6  # of users who may seem not to stop, by rounding
_NEGLIGIBLE = 1e-15  # a share of users that is taken for none
_BUDGET = 20_000_000  # cells of an exact distribution
_MOST_VISITS = 1 << 17  # of a reader whose distribution is followed
_BATCH = 1 << 14  # readers who are followed together
_MOST_STEPS = 1e10


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
        return [(user, gains.by_rank(i, user.n)) for i, user in enumerate(users)]

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
            each = np.ones((1, user.n)) if costs is None else costs.stretch(np.array([i]), 0, user.n)
            out.append(float(user.visits @ np.broadcast_to(each, (1, user.n))[0]))
        return np.array(out)

    def unseen(self, question: Question, gains: Gains, gain: float) -> Array:
        """What ranks beyond each list, down to its cut, would add to the answer, if each gained ``gain``."""
        out = np.zeros(gains.lists.n)
        for i, (user, _) in enumerate(self._each(gains)):
            there = np.zeros(user.n)
            there[int(gains.lists.length[i]) : gains.lists.cut] = gain
            out[i] = user.score(question, there) if not question.about_satisfaction else 0.0
        return out

    def distribution(self, question: Question, gains: Gains, i: int) -> Distribution:
        """The exact distribution of the score of list i."""
        user = self.on(gains, i)
        return user.distribution(question, gains.by_rank(i, user.n))

    def worth(self, question: Question, gains: Gains, i: int) -> tuple[Array, bool]:
        """What a gain at each rank of list i adds, per unit; or what stopping there adds (False)."""
        user = self.on(gains, i)
        y = gains.by_rank(i, user.n)
        if question.about_satisfaction:
            return user.satisfactions(question), False
        added = user.contributions(question, np.where(y > 0, y, 1.0))
        return added / np.where(y > 0, y, 1.0), True

    def follower(self, gains: Gains, lists: list[int], seed: int) -> ChainFollower:
        """Simulated readers of a list, or of several where `is_static`."""
        user = self.on(gains, lists[0])
        return ChainFollower(user, [gains.by_rank(i, user.n) for i in lists], seed)


class ChainOnList(OnList):
    """A chain over the ranks of one list: visits, last rank, gain, score, and its distribution."""

    def __init__(self, p: Any, start: Any, leaving: Array | None, utility: Utility, effort: Effort) -> None:
        self.p, self.start = np.array(p, np.float64), np.array(start, np.float64)
        self.n = self.start.size
        self.utility, self.effort = utility, effort
        if self.p.shape != (self.n, self.n):
            raise MeasureError(
                f"transitions of shape {self.p.shape}, expected {(self.n, self.n)}, as the start has ranks"
            )
        over = np.flatnonzero((self.p.sum(axis=1) > 1 + _SLACK) | ~(self.p >= 0).all(axis=1))
        if over.size:
            rank, total = int(over[0]) + 1, float(self.p[over[0]].sum())
            raise MeasureError(
                f"the transitions from rank {rank} add up to {total:.6g}, expected probabilities up to 1"
            )
        if not (self.start >= 0).all() or abs(float(self.start.sum()) - 1) > _SLACK:
            raise MeasureError(f"start: expected probabilities that sum to 1, found {float(self.start.sum()):.9g}")
        self._gone = np.maximum(1.0 - self.p.sum(axis=1), 0.0)
        self._gone[self._gone < _NEGLIGIBLE] = 0.0
        if leaving is not None and not ((np.asarray(leaving) >= 0) & (np.asarray(leaving) <= 1)).all():
            raise MeasureError("leaving: expected shares between 0 and 1, one for each rank")
        self.halting = self._gone if leaving is None else self._gone * (1.0 - leaving)

    def _fundamental(self, z: Any) -> NDArray[Any]:
        return np.linalg.inv(np.eye(self.n) - np.asarray(z)[..., None, None] * self.p)

    @cached_property
    def _m(self) -> Array:
        try:
            found = np.asarray(self._fundamental(1.0), np.float64)
            if abs(float(self.start @ found @ self._gone) - 1.0) < _SHARE:  # nor NaN
                return found
        except np.linalg.LinAlgError:
            pass
        raise MeasureError("some users never stop: hardly a way leads from some ranks to a stop")

    @cached_property
    def visits(self) -> Array:
        """The mean number of visits to each rank."""
        return np.asarray(self.start @ self._m)

    @property
    def last(self) -> Array:
        """The probability of stopping at each rank."""
        return np.asarray(self.visits * self.halting)

    @property
    def beyond(self) -> float:
        """The probability of leaving with nothing."""
        return max(0.0, 1.0 - float(self.last.sum()))

    @property
    def continuation(self) -> Array:
        """The probability of going on after a visit to each rank."""
        return np.asarray(1.0 - self.halting)

    @property
    def expected_depth(self) -> float:
        """E[H]: the mean number of visits."""
        return float(self.visits.sum())

    @property
    def weights(self) -> Array:
        """The share of the visits that each rank gets."""
        return self.visits / self.expected_depth

    def depth_distribution(self) -> Distribution:
        """The distribution of H."""
        return ChainOnList(self.p, self.start, None, Utility(), self.effort).distribution(
            Question.TOTAL, np.ones(self.n)
        )

    def total_distribution(self, gains: Any) -> Distribution:
        """The distribution of T, where nothing is ever lost."""
        return self.distribution(Question.TOTAL, np.pad(gains, (0, self.n - len(gains))))

    @property
    def transition_matrix(self) -> Array:
        """The probabilities of going from rank to rank; what a row lacks to 1 stops there, or leaves."""
        return self.p.copy()

    def residual(self, k: int) -> float:
        """The share of the visits that goes beyond rank k."""
        if k < 0:
            raise MeasureError(f"residual({k}): expected a rank of at least 0")
        return float(self.visits[k:].sum() / self.expected_depth)

    def _longest(self) -> int:
        """A number of visits that hardly anybody exceeds."""
        left, steps = self.start, 1
        while left.sum() > _NEGLIGIBLE and steps < 1 << 22:
            left, steps = left @ self.p, steps + 1
        return steps

    def contributions(self, question: Question, y: Array) -> Array:
        """What the visits to each rank add to the answer."""
        if question is Question.ORDER1:
            x, weight = self.effort.nodes(self.expected_depth, self._longest)
            m = self._fundamental(np.exp(-x))
            away = 1.0 / np.diagonal(m, axis1=1, axis2=2)
            hit = (self.start @ m) * away
            worth = hit * (m @ self.halting) * self.utility.series(y[None, :], away)
            return np.asarray(weight @ worth).real
        if not question.about_visits:
            raise MeasureError(f"the question {question.value} is no sum over ranks of what they gain")
        away = 1.0 / np.diagonal(self._m)
        worth = self.visits * away * self.utility.series(y, away)
        return worth if question is Question.TOTAL else worth / self.mean_effort

    def satisfactions(self, question: Question) -> Array:
        """E[1 / f(H); stopping there] of each rank, or P[stopping there] / E[f(H)]."""
        if question is Question.SATISFIED2:
            return self.last / self.mean_effort
        x, weight = self.effort.nodes(self.expected_depth, self._longest)
        return np.asarray(weight @ ((self.start @ self._fundamental(np.exp(-x))) * self.halting)).real

    def score(self, question: Question, y: Array) -> float:
        """The answer to a question, given the gains by rank."""
        by_rank = self.satisfactions(question) if question.about_satisfaction else self.contributions(question, y)
        return float(by_rank.sum())

    def total(self, y: Array) -> float:
        """E[T]."""
        return self.score(Question.TOTAL, y)

    @cached_property
    def mean_effort(self) -> float:
        """E[f(H)]."""
        f = self.effort
        if f.is_power and f.power in (0.0, 1.0):
            return float((self.expected_depth + f.shift) ** f.power)
        here, out, h = self.start, 0.0, 1
        while here.sum() > _NEGLIGIBLE and h < 1 << 22:
            gone = float(here.sum() - (here @ self.p).sum())
            out += gone * float(f(np.array([float(h)]))[0])
            here, h = here @ self.p, h + 1
        return out

    @property
    def revisits(self) -> bool:
        """Whether some rank can be visited twice."""
        return bool((np.diagonal(self._m) > 1 + 1e-12).any())

    def distribution(self, question: Question, y: Array) -> Distribution:
        """The distribution of the score: over (rank, gain so far), visit by visit, until hardly anybody is left."""
        if self.utility.kind != "kept" and self.revisits:
            raise NoExactDistributionError(
                "with this loss the gain depends on the whole history of visits, so there is no exact distribution"
            )
        _ = self._m  # refuses who never stops
        y = self.utility.values(y, 1)[:, 0]
        totals, here = self._regrouped(np.zeros(1), self.start[None, :], y)
        values, probs, h, cells = [np.zeros(1)], [np.zeros(1)], 1, 0
        while here.sum() > _NEGLIGIBLE:
            cells += here.size
            if cells > _BUDGET or h > _MOST_VISITS:
                raise NoExactDistributionError("there are too many ways through the list to be followed")
            stopping = here @ self.halting
            values.append(question.score(totals, float(self.effort(np.array([float(h)]))[0])) + np.zeros(totals.size))
            probs.append(stopping)
            totals, here = self._regrouped(totals, here @ self.p, y)
            h += 1
        p = np.concatenate(probs)
        p[0] = max(0.0, 1.0 - float(p.sum()))  # who leave with nothing
        return Distribution(np.concatenate(values), p)

    def _regrouped(self, totals: Array, arriving: Array, y: Array) -> tuple[Array, Array]:
        """Gains with those at the ranks arrived at, and who has them at which rank."""
        new, at = np.unique(totals[:, None] + y[None, :], return_inverse=True)
        out = np.zeros((new.size, self.n))
        np.add.at(out, (at.reshape(arriving.shape), np.arange(self.n)[None, :]), arriving)
        some = out.any(axis=1)
        return new[some], out[some]


class ChainFollower:
    """Simulated readers of a chain: every draw is a function of the seed, the reader's number and the step."""

    def __init__(self, user: ChainOnList, gains: list[Array], seed: int) -> None:
        self.user, self.seed = user, seed
        rows = np.vstack((user.p, user.start))
        leaves = 1.0 - rows.sum(axis=1) - np.append(user.halting, 0.0)
        rows = np.column_stack((rows, np.append(user.halting, 0.0), np.where(leaves > 1e-12, leaves, 0.0)))
        self.last = rows.shape[1] - 1 - np.argmax(rows[:, ::-1] > 0, axis=1)  # where rounding must not lead beyond
        self.upto = (np.cumsum(rows, axis=1) + np.arange(rows.shape[0])[:, None]).ravel()
        self.columns = rows.shape[1]
        returns = 1.0 - 1.0 / float(np.diagonal(user._m).max())
        self.worth = np.stack([user.utility.table(y, returns) for y in gains])  # by list, rank and visit

    def batch(self, users: int, threads: int) -> int:
        """How many readers are followed together; an error if all of them would make too many visits."""
        if users * self.user.expected_depth > _MOST_STEPS:
            raise MeasureError(f"{users:,} users would make more than {_MOST_STEPS:.0e} visits")
        return _BATCH

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
        return collected(((who, at + 1) for who, at, _ in self._steps(first, count)), count)

    def __call__(self, first: int, count: int) -> Paths:
        """The readers ``first`` to ``first + count - 1``."""
        total, most = np.zeros((count, len(self.worth))), self.worth.shape[2] - 1
        visits, nothing = np.zeros(count, np.int64), np.zeros(count, bool)
        seen = np.zeros((count, self.user.n), np.int64)
        for who, at, left in self._steps(first, count):
            nothing[left] = True
            total[who] += self.worth[:, at, np.minimum(seen[who, at], most)].T
            seen[who, at] += 1
            visits[who] += 1
        return Paths(total, visits, self.user.effort(visits.astype(np.float64)), nothing)
