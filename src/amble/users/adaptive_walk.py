"""Walks that depend on what was gained so far: all users followed over ranks and gains, and simulated ones.

Where nothing is ever lost, or nobody goes back, a user's state is the rank and the gain so far, T; where only first
visits count, it is the rank and the lowest and highest rank so far. With any other loss it would be how often each
document was visited: in h visits to m documents there are (h + m over m) ways, so that such users are simulated. p and
q are told T with the gain of this visit.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from amble.arrays import NDArray
from amble.distributions.distribution import Distribution
from amble.errors import MeasureError
from amble.users.birth_death import stops
from amble.users.followers import Rows, StateFollower
from amble.users.joint_distribution import (
    BUDGET,
    Joint,
    NoExactDistributionError,
    OverBudgetError,
    joint_kept,
    joint_once,
    lattice,
)
from amble.users.protocol import OnList, Question
from amble.users.timing import Clock
from amble.users.walk_on_list import WalkOnList

if TYPE_CHECKING:
    from amble.users.walk import Walk

__all__ = ["AdaptiveWalkOnList"]

Array = NDArray[Any]

_MOST_VISITS = 1 << 16  # that are followed one by one


class AdaptiveWalkOnList(WalkOnList):
    """The walk over a list of a user who looks at what was gained so far; made by `Walk.over`.

    Examples
    --------
    >>> from amble.users.walk import Walk
    >>> walk = Walk(lambda seen: 1 - seen, 0.0)  # goes on until something is gained
    >>> on_list = walk.over(3, [0, 1, 1])
    >>> on_list.visits, on_list.order1([0, 1, 1]), on_list.order1([1, 0, 1])
    (array([1., 1., 0.]), 0.5, 1.0)
    """

    def __init__(self, walk: Walk, grades: Array, gains: Array, clock: Clock | None = None) -> None:
        if walk.beyond == "endless":
            raise MeasureError(
                "an endless list: expected one that ends, as this walk depends on what was gained so far"
            )
        self.walk, self.utility, self.effort, self.clock = walk, walk.utility, walk.effort, clock
        self.grades, self.gains = grades, gains
        n = grades.size
        self.start = np.zeros(n)
        self.start[: walk.start.size] = walk.start[:n]
        self.start[-1] += walk.start[n:].sum()

    def __getattr__(self, name: str) -> Any:
        if name in ("chain", "forward", "back", "stop"):
            raise MeasureError(
                "a walk that depends on what was gained so far is no one chain of ranks; this is not known"
            )
        raise AttributeError(name)

    @property
    def n(self) -> int:
        """The number of ranks."""
        return int(self.start.size)

    by_rank, depth_var, total_var = OnList.by_rank, OnList.depth_var, OnList.total_var

    @property
    def furthest(self) -> int:
        """The last rank that can be visited."""
        return self.n

    def _efforts(self, h: Array) -> Array:
        """f(h), or the time of h visits, where these say it."""
        if self.clock is None:
            return self.effort(h)
        if self.clock.timing.law != "fixed" or np.ptp(self.clock.means):
            raise NoExactDistributionError("visits take different times, so that more than their number matters")
        return np.asarray(self.clock.timing.overhead + self.clock.means[0, 0] * h)

    def steps(self, rank: Array, seen: Array) -> tuple[Array, Array, Array, Array]:
        """p, q and the probability of stopping at some ranks (from 0) and gains so far; and which are none."""
        p, q = (
            np.array(np.broadcast_to(c.of(rank + 1.0, self.grades[rank], self.gains[rank], seen), np.shape(seen)))
            for c in (self.walk.forward, self.walk.back)
        )
        wrong = ~((p >= 0) & (q >= 0) & (p + q <= 1 + 1e-9))
        first, last = rank == 0, rank == self.n - 1
        s = stops(p, q)
        if self.walk.first == "forward":
            p[first] += q[first]
        else:
            s[first] += q[first]
        q[first] = 0.0
        s[last] += p[last]
        p[last] = 0.0
        return p, q, s, wrong

    def refuse(self, rank: Array, seen: Array, wrong: Array) -> None:
        """Raise an error if some probabilities are none."""
        if wrong.any():
            at, t = rank[wrong][0], seen[wrong][0]
            p, q = (
                float(c.of(at + 1.0, self.grades[at], self.gains[at], t)) for c in (self.walk.forward, self.walk.back)
            )
            raise MeasureError(
                f"p = {p:g} and q = {q:g} at rank {at + 1}, with {t:g} gained so far: expected probabilities that add "
                "up to at most 1"
            )

    # ---- all users

    def _of(self, gains: Any) -> AdaptiveWalkOnList:
        """The walk of users who gain this."""
        y = self._gains(gains)
        return self if np.array_equal(y, self.gains) else AdaptiveWalkOnList(self.walk, self.grades, y, self.clock)

    def _joint(self, budget: int = BUDGET) -> Joint:
        known: list[Array] = [np.zeros((0, 0))] * 4
        visits = 0

        def steps(mass: Array, seen: Callable[[int], Array]) -> tuple[Array, Array, Array]:
            nonlocal visits
            visits += 1
            if visits > _MOST_VISITS:
                raise OverBudgetError(f"some users still walk after {_MOST_VISITS:,} visits, too many to be followed")
            rows, m = mass.shape[-2:]
            if rows > known[0].shape[-2] or m > known[0].shape[-1]:
                to = min(2 * m, self.n)
                levels = seen(min(2 * rows, self.n) if self.utility.kind == "once" else 2 * rows)[..., None]
                rank, t = np.broadcast_arrays(np.arange(to), levels)
                with np.errstate(all="ignore"):  # at states that are never met
                    known[:] = self.steps(rank, t)
            p, q, s, wrong = (part[..., :rows, :m] for part in known)
            if self.utility.kind == "fading" and (q * mass).any():
                raise NoExactDistributionError(
                    "with this loss what is gained next depends on the whole history of visits (not with 0 or 1)"
                )
            if wrong.any():
                rank, t = np.broadcast_arrays(np.arange(m), seen(rows)[..., None])
                self.refuse(rank, t, wrong & (mass > 0))
                p, q, s = (np.where(wrong, 0.0, part) for part in (p, q, s))
            return p, q, s

        worths = self.utility.values(self.gains, 1)[:, 0]
        if self.utility.kind == "once":
            return joint_once(steps, self.start, worths, budget)
        unit, units = lattice(worths)
        return joint_kept(steps, self.start, units, unit, budget)

    @cached_property
    def _all(self) -> Joint:
        return self._joint()

    @property
    def visits(self) -> Array:
        """The mean number of visits to each rank."""
        return self._all.visits

    @property
    def last(self) -> Array:
        """The probability of stopping at each rank."""
        return self._all.last

    @property
    def halting(self) -> Array:
        """The probability of stopping at a visit to each rank."""
        return np.divide(self.last, self.visits, out=np.ones(self.n), where=self.visits > 0)

    @property
    def continuation(self) -> Array:
        """The probability of going on, forward or back, after a visit to each rank."""
        return 1.0 - self.halting

    tail_visits = beyond = 0.0

    def depth_distribution(self) -> Distribution:
        """The distribution of H."""
        return Distribution(self._all.h, self._all.prob)

    @property
    def mean_effort(self) -> float:
        """E[f(H)], or the mean time."""
        if self.clock is not None:
            return self.clock.timing.overhead + self.mean_time
        return float(self._all.prob @ self.effort(self._all.h))

    def total(self, gains: Any) -> float:
        """E[T], the mean gain."""
        found = self._of(gains)._all
        return float(found.prob @ found.t)

    def order1(self, gains: Any) -> float:
        """E[T / f(H)], the expected gain per unit of effort (order 1)."""
        found = self._of(gains)._all
        return float(found.prob @ (found.t / self._efforts(found.h)))

    def order2(self, gains: Any) -> float:
        """E[T] / E[f(H)], the expected gain over expected effort (order 2)."""
        return self.total(gains) / self._of(gains).mean_effort

    def total_distribution(self, gains: Any) -> Distribution:
        """The distribution of T."""
        found = self._of(gains)._all
        return Distribution(found.t, found.prob)

    def joint(self, gains: Any, budget: int = BUDGET) -> tuple[Array, Array, Array]:
        """The joint distribution of T and H: arrays of t, h and their probabilities."""
        return self._of(gains)._joint(budget)[:3]

    def distribution(self, gains: Any, budget: int = BUDGET) -> Distribution:
        """The distribution of T / f(H), from the joint distribution of both."""
        t, h, p = self.joint(gains, budget)
        return Distribution(t / self._efforts(h), p)

    def worth(self, question: Question) -> Array:
        """What a gain of 1 at each rank, as it stands, adds to E[T], or to E[T] / E[f(H)]."""
        if question is Question.ORDER1:
            raise MeasureError("what each rank adds to order 1 of a walk that depends on what was gained is not known")
        return self._all.met / (self.mean_effort if question is Question.ORDER2 else 1.0)

    # ---- simulated users

    def follower(self, seed: int) -> AdaptiveFollower:
        """Simulated readers of the list."""
        return AdaptiveFollower(self, seed)


class AdaptiveFollower(StateFollower):
    """Simulated readers of one list."""

    limit = 1 << 20

    def __init__(self, walk: AdaptiveWalkOnList, seed: int) -> None:
        clock = walk.clock and (walk.clock.timing, walk.clock.means[0])
        if clock is not None and clock[0].infinite(1):
            raise MeasureError("the gain per second may be infinite; expected overhead above 0, or timing='fixed'")
        super().__init__(seed, walk.gains[None, :], walk.utility, walk.effort, clock=clock)
        self.walk, self.start = walk, Rows.of(walk.start[None, :])

    def move(self, at: Array | None, total: Array, draw: Array) -> Array:
        """Where readers go from their ranks, with what they gained."""
        if at is None:
            return self.start.drawn(np.zeros(draw.size, np.int64), draw)
        p, q, s, wrong = self.walk.steps(at, total[:, 0])
        self.walk.refuse(at, total[:, 0], wrong)
        goes, ahead = (draw < p + q) | (s == 0), (draw < p) | (q == 0)
        return np.where(goes, np.where(ahead, at + 1, at - 1), -1)
