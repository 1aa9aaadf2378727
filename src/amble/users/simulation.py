"""Simulation of walking users: reproducible by seed, on any number of threads, with common random numbers.

Every draw is a function of the seed, the user's number and the number of the step. So the answer does not depend on how
the users are shared among threads, the same users walk all lists (common random numbers), and where users do not look
at the grades one walk serves many lists at once. Walks are not kept: memory does not grow with the number of users, but
for the distinct scores, and those beyond about a million are rounded.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from amble.arrays import NDArray
from amble.checks import whole
from amble.distributions.distribution import Distribution
from amble.errors import MeasureError
from amble.native import load
from amble.native.plain_walker import draws, keys
from amble.parallel import MOST_THREADS, map_in_order
from amble.rankings.lists import Gains
from amble.users.behaviour import Behaviour
from amble.users.birth_death import BirthDeathChain, least_visits, stops
from amble.users.effort import Effort
from amble.users.followers import visits_of
from amble.users.paths import collected
from amble.users.protocol import Follower, Paths, Question, User
from amble.users.tails import Geometric, Tail
from amble.users.walk_on_list import WalkOnList

__all__ = [
    "ForwardFollower",
    "ScoreCounts",
    "Simulation",
    "Tally",
    "WalkFollower",
    "allotted",
    "check_users",
    "followed",
    "follower_of",
    "simulated_distribution",
    "simulated_mixture",
    "sums_of",
]

Array = NDArray[Any]

_CELLS = 1 << 20  # users x lists of one call
_STEPS = 1 << 22  # visits of one call, in the mean: some hundredths of a second
_MOST_STEPS = 1e13  # visits in all
_MOST_ATOMS = 1 << 20
_FREQUENT = 4096  # scores of at least one user in so many are never rounded
_SHARED = 8  # threads that a batch of users is cut for, however many there are: sums are those of the batches
_TURNED = 48  # users whose gains are turned together, from a row of each to a row of each list: they fit into a cache
_BATCH = 1 << 17  # scores that wait to be counted
_LONG = 32  # visits in the mean, beyond which few users go the same path
_LIMIT = 1 << 40  # visits of one user
_SPELLED = 4096  # ranks beyond a list, before their probabilities are computed one rank at a time


walker = load("walker")


def check_users(users: Any, seed: Any, threads: Any) -> None:
    """Refuse numbers of users, seeds and threads that are not allowed."""
    for name, value, least, most in (
        ("users", users, 1, 1 << 40),
        ("seed", seed, 0, (1 << 64) - 1),
        ("threads", threads, 1, MOST_THREADS),
    ):
        whole(value, name, least, most, MeasureError)


class Simulation(Distribution):
    """A simulated distribution, with order 2 and the mean number of visits of its users.

    Attributes
    ----------
    seed : int
    order2, order2_error : float
        E[T] / E[f(H)] of these users, and its standard error (delta method). Of several lists, the means of both: the
        same users walk them all, so that their errors do not cancel. Of a population NaN: it has one for each of its
        users.
    mean_visits : float
        The mean number of visits.
    paths, gain, visits : list of ndarray, ndarray and ndarray, or None
        Of each user, where they were asked for: the ranks visited, one after another; T, which is 0 for who leaves with
        nothing; and H.
    """

    def __init__(
        self, values: Array, counts: Array, *, users: int, seed: int, sums: Sequence[Array], rounding: float = 0.0
    ) -> None:
        super().__init__(values, np.asarray(counts, np.float64) / counts.sum(), users=users, rounding=rounding)
        self.seed = seed
        orders, errors, visits = zip(*map(_ratio, sums), strict=True)
        self.order2 = float(np.mean(orders))
        self.order2_error = float(np.mean(errors))
        self.mean_visits = float(np.mean(visits))
        self.paths: list[Array] | None = None
        self.gain: Array | None = None
        self.visits: Array | None = None


def _ratio(sums: Array) -> tuple[float, float, float]:
    """E[T] / E[f(H)], its standard error, and E[H], from the sums over users of 1, t, f, t^2, f^2, t f and h."""
    n, t, f, tt, ff, tf, h = sums.tolist()
    t, f, tt, ff, tf = t / n, f / n, tt / n, ff / n, tf / n
    ratio = t / f if f > 0 else 0.0
    spread = (tt - t * t) - 2.0 * ratio * (tf - t * f) + ratio**2 * (ff - f * f)
    return ratio, math.sqrt(max(spread, 0.0) / n) / f if f > 0 else 0.0, h / n


class Tally(NamedTuple):
    """Some users' scores on a list: the distinct ones, how many have each, and sums that orders 1 and 2 follow from."""

    values: Array
    counts: Array
    sums: Array

    @classmethod
    def of(cls, score: Array, total: Array, effort: Array, visits: Array) -> Tally:
        """The tally of scores, gains, efforts and visits."""
        pairs = (total, total), (effort, effort), (total, effort)
        products = [np.einsum("i,i->", x, y) for x, y in pairs]  # x @ y would be summed by as many threads as there are
        sums = np.array((score.size, total.sum(), effort.sum(), *products, visits.sum()), np.float64)
        return cls(*np.unique(score, return_counts=True), sums)

    @classmethod
    def of_lists(cls, scores: Array, counts: Array, sums: Array) -> list[Tally]:
        """The tally of each list, of the scores on it (a row for each) of so many users each, and sums."""
        order = scores.argsort(axis=1)
        scores, counts = np.take_along_axis(scores, order, axis=1), counts[order]
        new = np.ones(scores.shape, bool)
        np.not_equal(scores[:, 1:], scores[:, :-1], out=new[:, 1:])
        first = np.flatnonzero(new)
        end = np.cumsum(new.sum(axis=1))[:-1]
        each = np.split(scores.ravel()[first], end), np.split(np.add.reduceat(counts.ravel(), first), end), sums
        return [cls(values.copy(), number.copy(), own) for values, number, own in zip(*each, strict=True)]

    @classmethod
    def together(cls, some: Sequence[Tally]) -> Tally:
        """The tally of all users of several."""
        values, counts, sums = zip(*some, strict=True)
        distinct, place = np.unique(np.concatenate(values), return_inverse=True)
        counted = np.bincount(place.ravel(), np.concatenate(counts)).astype(np.int64)
        return cls(distinct, counted, np.add.accumulate(sums)[-1])


def sums_of(paths: Paths) -> Array:
    """The sums of a tally of some users, a row for each of several lists."""
    total, effort = paths.total, paths.effort
    out = np.empty((total.shape[1], 7))
    out[:, 0], out[:, 2], out[:, 6] = effort.size, effort.sum(), paths.visits.sum()
    by_list = np.empty(total.shape[::-1])
    for at in range(0, effort.size, _TURNED):
        by_list[:, at : at + _TURNED] = total[at : at + _TURNED].T
    out[:, 1] = by_list.sum(axis=1)
    out[:, 3] = np.einsum("ij,ij->j", total, total)
    out[:, 4] = np.einsum("i,i->", effort, effort)
    out[:, 5] = np.einsum("ij,i->j", total, effort)
    return out


class ScoreCounts:
    """Counts of simulated scores as they come in: at most about a million different ones.

    Beyond, scores are rounded to half a million; but those of many users are kept as they are, as all of these users
    would seem to have another score. ``moved`` counts, for each score, the users whose score was rounded to it.
    """

    def __init__(self) -> None:
        self.values: Array = np.zeros(0)
        self.counts: Array = np.zeros(0)
        self.moved: Array = np.zeros(0)
        self.sums: dict[int, Array] = {}  # by list
        self._new: list[Tally] = []
        self._waiting = 0
        self._grid, self._frequent = 0.0, np.zeros(0)

    def add(self, score: Array, total: Array, effort: Array, visits: Array, of: int = 0) -> None:
        """Count some users' scores, gains, efforts and visits on a list."""
        self.merge(Tally.of(score, total, effort, visits), of)

    def merge(self, some: Tally, of: int = 0) -> None:
        """Count the users of a tally on a list; the same tallies in the same order give the same counts."""
        self._new.append(some)
        self._waiting += some.values.size
        self.sums[of] = self.sums.get(of, np.zeros(7)) + some.sums
        if self._waiting >= max(_BATCH, self.values.size):  # so that counting costs no more than what was counted
            self._count()

    def _count(self) -> None:
        new, self._new, self._waiting = self._new, [], 0
        values = np.concatenate([self.values, *(some.values for some in new)])
        counts = np.concatenate([self.counts, *(some.counts for some in new)])
        self._merge(values, counts, np.concatenate((self.moved, np.zeros(values.size - self.moved.size))))
        if self.values.size > _MOST_ATOMS:
            if not self._grid:
                self._frequent = self.values[self.counts * _FREQUENT >= self.counts.sum()]
            self._grid = 2.0 * float(np.abs(self.values).max()) / _MOST_ATOMS
            self._merge(self.values, self.counts, self.moved)

    def _merge(self, values: Array, counts: Array, moved: Array) -> None:
        if self._grid:
            to = np.where(np.isin(values, self._frequent), values, np.round(values / self._grid) * self._grid)
            values, moved = to, np.where(to != values, counts, moved)
        self.values, place = np.unique(values, return_inverse=True)
        self.counts, self.moved = (np.bincount(place.ravel(), x, self.values.size) for x in (counts, moved))

    def distribution(self, users: int, seed: int, *, mixed: bool = False) -> Simulation:
        """The distribution so far; each of ``users`` users may have walked several lists, or be of another kind."""
        self._count()
        rounding = float(self.moved.max(initial=0.0) / self.counts.sum())
        sums = list(self.sums.values())
        out = Simulation(self.values, self.counts, users=users, seed=seed, sums=sums, rounding=rounding)
        if mixed:
            out.order2 = out.order2_error = math.nan
        return out


class WalkFollower:
    """Simulated walks over lists that differ in their gains only.

    Parameters
    ----------
    walk : WalkOnList
    gains : sequence of arrays
        Of each list, by rank.
    seed : int
    """

    def __init__(self, walk: WalkOnList, gains: Sequence[Array], seed: int) -> None:
        chain = walk.chain
        forward, back, stop = walk.forward, walk.back, walk.stop
        start = chain.start[0]
        n = walk.n
        if chain.beyond is not None:  # one rank more, from where all is as beyond
            forward, back, stop = (np.append(x, c[0]) for x, c in zip((forward, back, stop), chain.beyond, strict=True))
            start = np.append(start, 0.0)
        turn = np.where(stop == 0, 1.0, np.minimum(forward + back, 1.0))
        rank, which, gain = _by_rank(gains, n)
        distinct, kind = np.unique(gain, return_inverse=True)
        table = np.zeros((0, 1))
        walked = walk.cut(1e-9) if chain.beyond is None else walk  # the rest hardly matters for what follows
        if distinct.size and walked.expected_depth < np.inf:  # nor NaN, with which no walk would end
            table = walk.utility.table(distinct, float(walked.returns[walked.reach > 0].max(initial=0.0)))
        self.visits, self.lists, self.seed, self.effort = walked.expected_depth, len(gains), seed, walk.effort
        self.clock, self.scored = walk.clock, len(gains)
        if walk.clock is not None:  # ranks where a visit takes another time than beyond, or at the end, are counted
            for y in gains:
                walk.clock.timing.fewest(least_visits(chain)[:, 0][: y.size][y[:n] > 0])  # refuses what has no mean
            seconds = walk.clock.means[0]
            usual = seconds[-1] if chain.beyond is None else walk.clock.beyond[0]
            self.seconds = np.append(usual, np.setdiff1d(seconds, usual))
            at = np.flatnonzero(seconds != usual)
            rank, order = np.concatenate((rank, at)), np.argsort(np.concatenate((rank, at)), kind="stable")
            rank, which = (
                rank[order],
                np.append(which, self.lists + np.searchsorted(self.seconds[1:], seconds[at]))[order],
            )
            kind = np.append(kind, np.full(at.size, len(table)))[order]
            table = np.vstack((table, np.ones((1, table.shape[1]))))
            self.lists += self.seconds.size - 1
        offsets = np.searchsorted(rank, np.arange(forward.size + 1)).astype(np.int64)
        last = int(np.flatnonzero(start > 0)[-1])
        cumulative = np.cumsum(start[: last + 1])
        self._fixed = (
            cumulative, np.ascontiguousarray(forward), np.ascontiguousarray(turn), int(chain.beyond is not None),
            offsets, which.astype(np.int32), kind.ravel().astype(np.int32), np.ascontiguousarray(table), self.lists,
            _LIMIT,
        )  # fmt: skip

    def batch(self, users: int, threads: int) -> int:
        """How many users walk together; an error if all of them would make too many visits."""
        if not users * self.visits <= _MOST_STEPS:  # nor NaN
            made = f"{users * self.visits:.1e}"
            raise MeasureError(f"{users:,} users would make {made} visits, expected at most {_MOST_STEPS:.0e}")
        fair = -(-users // (4 * threads))  # work for every thread, and progress to report
        return max(256, min(_CELLS // max(self.lists, 1), int(_STEPS / self.visits), fair))

    def walks(self, first: int, count: int) -> tuple[Array, Array]:
        """What the users ``first`` to ``first + count - 1`` gain on each list (users x lists), and their visits."""
        total, steps = np.empty((count, self.lists)), np.empty(count, np.int64)
        if walker.walk(self.seed, first, count, *self._fixed, total, steps):
            raise MeasureError(f"some users were still walking after {_LIMIT:,} visits")
        return total, steps

    def __call__(self, first: int, count: int) -> Paths:
        """The users ``first`` to ``first + count - 1``."""
        total, steps = self.walks(first, count)
        if self.clock is None:
            return Paths(total, steps, efforts(self.effort, steps))
        total, counted = np.hsplit(total, [self.scored])
        visits = np.column_stack((steps - counted.sum(axis=1), counted))
        key = keys(self.seed, first, count)
        chance = np.column_stack([draws(key, _LIMIT + 1 + j) for j in range(self.seconds.size)])
        return Paths(total, steps, self.clock.timing.spent(visits, self.seconds, chance))

    def paths(self, first: int, count: int) -> list[Array]:
        """The ranks that each of these users visits."""
        return collected(((who, at + 1) for who, at in self._visits(first, count)), count)

    def alike(self, first: int, count: int) -> tuple[Array, Array] | None:
        """The first of these users on each path, numbered from 0, and how many go it; None if that says not enough."""
        if self.clock is not None or self.visits > _LONG:
            return None
        path, made = np.zeros(count, np.int64), 0
        for who, at in self._visits(first, count):
            distinct, place = np.unique(path[who] * (int(at.max()) + 1) + at, return_inverse=True)
            path[who] = made + 1 + place
            made += distinct.size
        return _firsts(path)

    def _visits(self, first: int, count: int) -> Iterator[tuple[Array, Array]]:
        """Who makes each visit, and where: the same draws once more, as the walker does not keep them."""
        start, forward, turn, endless = self._fixed[:4]
        end = forward.size

        def move(_: Array, at: Array | None, draw: Array) -> Array:
            if at is None:
                return np.searchsorted(start[:-1], draw, side="right")
            here = np.minimum(at, end - 1)
            to = at + np.where(draw < forward[here], 1, -1)
            return np.where((draw < turn[here]) & (to < (np.inf if endless else end)), to, -1)

        return visits_of(keys(self.seed, first, count), move)


class ForwardFollower(WalkFollower):
    """Simulated users who walk down: walks with no step back, and beyond the list as far as users read on."""

    def __init__(self, behaviour: Behaviour, gains: Sequence[Array], seed: int) -> None:
        chain, self.tail = _as_chain(behaviour)
        self.n = chain.forward.shape[1]
        self.unhappy = self.tail is None and chain.beyond is None and behaviour.continuation[-1] > 0
        super().__init__(WalkOnList(chain, effort=behaviour.effort), gains, seed)

    def __call__(self, first: int, count: int) -> Paths:
        """The users ``first`` to ``first + count - 1``; those who leave with nothing have looked at the whole list."""
        total, steps = self.walks(first, count)
        visits = self._visited(steps, first)
        nothing = visits == self.n if self.unhappy else np.zeros(visits.size, bool)
        visits = np.where(nothing, self.n - 1, visits)  # the rank after the last is none
        return Paths(total, visits, efforts(self.effort, visits), nothing)

    def alike(self, first: int, count: int) -> tuple[Array, Array] | None:
        """The first of these users to make each number of visits, and how many do."""
        return _firsts(self._visited(self.walks(first, count)[1], first))

    def _visited(self, steps: Array, first: int) -> Array:
        return steps if self.tail is None else _further(steps, self.n, self.tail, self.seed, first)

    def paths(self, first: int, count: int) -> list[Array]:
        """The ranks 1, 2, … that each of these users visits."""
        return [np.arange(1, h + 1, dtype=np.int32) for h in self(first, count).visits.tolist()]


class _Nobody(NamedTuple):
    """Readers of lists without documents, who visit nothing."""

    lists: int

    def batch(self, users: int, threads: int) -> int:
        """How many there are at a time."""
        return _CELLS // self.lists

    def __call__(self, first: int, count: int) -> Paths:
        """So many of them."""
        return Paths(np.zeros((count, self.lists)), np.zeros(count, np.int64), np.ones(count), np.ones(count, bool))

    def paths(self, first: int, count: int) -> list[Array]:
        """Their paths, all empty."""
        return [np.zeros(0, np.int32)] * count


def follower_of(user: User, gains: Gains, lists: list[int], seed: int) -> Follower:
    """Simulated readers of some lists of one length, who visit nothing where there is nothing to visit."""
    if user.ends and not gains.lists.length[lists[0]]:
        return _Nobody(len(lists))
    return user.follower(gains, lists, seed)


def followed(
    follower: Follower, users: int, threads: int = 1, first: int = 0, of: int | None = None
) -> Iterator[Paths]:
    """All users, or those from a number on, some ``of`` more, batch by batch and in their order, on several threads."""
    batch, end = follower.batch(of or users, _SHARED), first + users
    return map_in_order(
        lambda at: follower(at, min(batch, end - at)), range(first, end, batch), threads, ahead=2 * threads
    )


def allotted(shares: Sequence[float], users: int, seed: int) -> list[tuple[int, int, int]]:
    """How many of the simulated users are of each kind, at random by their shares: kind, first user and number.

    >>> allotted([1.0], 1000, seed=7)
    [(0, 0, 1000)]
    """
    p = np.array(shares, np.float64)
    counts = np.random.default_rng(seed).multinomial(users, p / p.sum()) if p.size > 1 else np.array([users])
    before = np.cumsum(counts) - counts
    return [(k, int(before[k]), int(counts[k])) for k in np.flatnonzero(counts).tolist()]


def simulated_distribution(
    follower: Follower, question: Question, users: int, seed: int, *, by: float = 1.0
) -> Simulation:
    """The distribution of the scores of simulated users on one list, divided ``by`` a number."""
    return simulated_mixture([(1.0, follower, question, by)], users, seed)


def simulated_mixture(kinds: Sequence[tuple[float, Follower, Question, float]], users: int, seed: int) -> Simulation:
    """The distribution of the scores of simulated users of several kinds on one list.

    Of each kind: its share, the follower, the question, and what the answer is divided by.
    """
    counts = ScoreCounts()
    for k, first, count in allotted([kind[0] for kind in kinds], users, seed):
        _, follower, question, by = kinds[k]
        for paths in followed(follower, count, first=first):
            total = question.gained(paths, 0)
            score = question.score(total, paths.effort) / (by or np.inf)
            score[paths.nothing] = 0.0
            counts.add(score, total, paths.effort, paths.visits)
    return counts.distribution(users, seed, mixed=len(kinds) > 1)


def _as_chain(behaviour: Behaviour) -> tuple[BirthDeathChain, Tail | None]:
    """A forward user as a walk with no step back; and the tail to be followed rank by rank, if any."""
    forward, tail, beyond = behaviour.continuation, behaviour.tail, None
    if isinstance(tail, Geometric):
        p = np.array([tail.continuation(forward.size + 1)])
        beyond, tail = (p, np.zeros(1), 1.0 - p), None
    elif tail is not None:
        ranks = range(forward.size + 1, forward.size + 1 + _SPELLED)
        forward = np.concatenate((forward, [tail.continuation(rank) for rank in ranks], [0.0]))
    elif forward[-1] > 0:  # the rank after the last: the user leaves with nothing
        forward = np.append(forward, 0.0)
    row = forward[None, :]
    start = np.zeros(row.shape)
    start[0, 0] = 1.0
    return BirthDeathChain(row, np.zeros(row.shape), stops(row, np.zeros(row.shape)), start, beyond), tail


def _further(steps: Array, n: int, tail: Tail, seed: int, first: int) -> Array:
    """Visits, with users who reached rank n, where the spelled-out ranks end, followed until all have stopped."""
    visits = steps.copy()
    going = np.flatnonzero(steps == n)
    key = keys(seed, first, steps.size)[going]
    rank = n
    while going.size:
        on = draws(key, rank) < tail.continuation(rank)
        going, key = going[on], key[on]
        rank += 1
        visits[going] = rank
    return visits


def _firsts(kinds: Array) -> tuple[Array, Array]:
    """The first of each kind, and how many there are of it, in the order of the first ones."""
    _, first, counts = np.unique(kinds, return_index=True, return_counts=True)
    order = np.argsort(first)
    return first[order], counts[order]


def _by_rank(gains: Sequence[Array], n: int) -> tuple[Array, Array, Array]:
    """Ranks (from 0, in order), lists and gains of all that gains something."""
    found = [np.flatnonzero(y[:n] > 0) for y in gains]
    rank = np.concatenate(found) if found else np.zeros(0, np.int64)
    which = np.repeat(np.arange(len(found)), [x.size for x in found])
    gain = np.concatenate([y[x] for y, x in zip(gains, found, strict=True)]) if found else np.zeros(0)
    order = np.argsort(rank, kind="stable")
    return rank[order], which[order], gain[order]


def efforts(effort: Effort, steps: Array) -> Array:
    """f(h) of each user."""
    longest = int(steps.max(initial=1))
    if effort.is_power or longest > 4 * steps.size:
        return effort(steps)
    return np.asarray(effort(np.arange(1.0, longest + 1.0))[steps - 1])
