"""Simulation of walking users: reproducible by seed, on any number of threads, with common random numbers.

Every draw is a function of the seed, the user's number and the number of the step. So the answer does not depend on how
the users are shared among threads, the same users walk all lists (common random numbers), and where users do not look
at the grades one walk serves many lists at once. Walks are not kept: memory does not grow with the number of users, but
for the distinct scores, and those beyond about a million are rounded.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amble.distributions.distribution import Distribution
from amble.errors import MeasureError
from amble.native import load
from amble.parallel import MOST_THREADS, map_in_order
from amble.users.effort import Effort
from amble.users.markov import MarkovUserOnList
from amble.users.walk_on_list import WalkOnList

__all__ = [
    "ScoreCounts",
    "Simulation",
    "check_users",
    "efforts",
    "simulated_distribution",
    "simulated_steps",
    "simulated_walks",
]

Array = NDArray[Any]
Progress = Callable[[int, int], None]

_CELLS = 1 << 20  # users x lists of one call
_STEPS = 1 << 22  # visits of one call, in the mean: some hundredths of a second
_MOST_STEPS = 1e13  # visits in all
_MOST_ATOMS = 1 << 20
_BATCH = 1 << 17  # scores that wait to be counted
_LIMIT = 1 << 40  # visits of one user


walker = load("walker")


def check_users(users: Any, seed: Any, threads: Any) -> None:
    """Refuse numbers of users, seeds and threads that are not allowed."""
    for name, value, least, most in (
        ("users", users, 1, 1 << 40),
        ("seed", seed, 0, (1 << 64) - 1),
        ("threads", threads, 1, MOST_THREADS),
    ):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or not least <= value <= most:
            raise MeasureError(f"{name}={value!r:.60}: expected a whole number of at least {least}, at most {most}")


class Simulation(Distribution):
    """A simulated distribution, with order 2 and the mean number of visits of its users.

    Attributes
    ----------
    seed : int
    order2, order2_error : float
        E[T] / E[f(H)] of these users, and its standard error (delta method). Of several lists, the means of both: the
        same users walk them all, so that their errors do not cancel.
    visits : float
        The mean number of visits.
    """

    def __init__(self, values: Array, counts: Array, *, users: int, seed: int, sums: Sequence[Array]) -> None:
        super().__init__(values, np.asarray(counts, np.float64) / counts.sum(), users=users)
        self.seed = seed
        orders, errors, visits = zip(*map(_ratio, sums), strict=True)
        self.order2 = float(np.mean(orders))
        self.order2_error = float(np.mean(errors))
        self.visits = float(np.mean(visits))


def _ratio(sums: Array) -> tuple[float, float, float]:
    """E[T] / E[f(H)], its standard error, and E[H], from the sums over users of 1, t, f, t^2, f^2, t f and h."""
    n, t, f, tt, ff, tf, h = sums.tolist()
    t, f, tt, ff, tf = t / n, f / n, tt / n, ff / n, tf / n
    ratio = t / f if f > 0 else 0.0
    spread = (tt - t * t) - 2.0 * ratio * (tf - t * f) + ratio**2 * (ff - f * f)
    return ratio, math.sqrt(max(spread, 0.0) / n) / f if f > 0 else 0.0, h / n


class ScoreCounts:
    """Counts of simulated scores as they come in: at most about a million different ones."""

    def __init__(self) -> None:
        self.values: Array = np.zeros(0)
        self.counts: Array = np.zeros(0)
        self.sums: dict[int, Array] = {}  # by list
        self._new: list[Array] = []
        self._waiting = 0
        self._grid: float | None = None

    def add(self, score: Array, total: Array, effort: Array, visits: Array, of: int = 0) -> None:
        """Count some users' scores, gains, efforts and visits on a list."""
        self._new.append(score)
        self._waiting += score.size
        sums = (score.size, total.sum(), effort.sum(), total @ total, effort @ effort, total @ effort, visits.sum())
        self.sums[of] = self.sums.get(of, np.zeros(7)) + np.array(sums, np.float64)
        if self._waiting >= max(_BATCH, self.values.size):  # so that counting costs no more than what was counted
            self._count()

    def _count(self) -> None:
        if not self._new:
            return
        new = np.concatenate(self._new)
        self._new, self._waiting = [], 0
        if self._grid:
            new = np.round(new / self._grid) * self._grid
        values, counts = np.unique(new, return_counts=True)
        self._merge(values, counts)
        if self.values.size > _MOST_ATOMS:
            self._grid = float(self.values[-1]) / _MOST_ATOMS
            self._merge(np.zeros(0), np.zeros(0))

    def _merge(self, values: Array, counts: Array) -> None:
        old = np.round(self.values / self._grid) * self._grid if self._grid else self.values
        both = np.concatenate((old, values))
        self.values, place = np.unique(both, return_inverse=True)
        self.counts = np.asarray(np.bincount(place.ravel(), np.concatenate((self.counts, counts))), np.float64)

    def distribution(self, users: int, seed: int) -> Simulation:
        """The distribution so far; each of ``users`` users may have walked several lists."""
        self._count()
        return Simulation(self.values, self.counts, users=users, seed=seed, sums=list(self.sums.values()))


def simulated_walks(
    walk: WalkOnList,
    gains: Sequence[Array],
    *,
    users: int,
    seed: int,
    threads: int = 1,
    progress: Progress | None = None,
) -> Iterator[tuple[Array, Array]]:
    """Simulate walks over lists that differ in their gains only.

    Yields, in the order of the users, what a batch of them gained on each list (users x lists), and their visits.
    """
    chain = walk.chain
    forward, back, stop = walk.forward, walk.back, walk.stop
    start = chain.start[0]
    n = walk.n
    if chain.beyond is not None:  # one rank more, from where all is as beyond
        forward, back, stop = (np.append(x, c[0]) for x, c in zip((forward, back, stop), chain.beyond, strict=True))
        start = np.append(start, 0.0)
    turn = np.where(stop == 0, 1.0, np.minimum(forward + back, 1.0))
    lists = len(gains)
    rank, which, gain = _by_rank(gains, n)
    distinct, kind = np.unique(gain, return_inverse=True)
    table = np.zeros((0, 1))
    walked = walk.cut(1e-9) if chain.beyond is None else walk  # the rest hardly matters for what follows
    if not users * walked.expected_depth <= _MOST_STEPS:  # nor NaN, with which no walk would end
        raise MeasureError(
            f"{users:,} users would make {users * walked.expected_depth:.1e} visits, expected at most {_MOST_STEPS:.0e}"
        )
    if distinct.size:
        table = walk.utility.table(distinct, float(walked.returns[walked.reach > 0].max(initial=0.0)))
    offsets = np.searchsorted(rank, np.arange(forward.size + 1)).astype(np.int64)
    last = int(np.flatnonzero(start > 0)[-1])
    cumulative = np.cumsum(start[: last + 1])
    fixed = (
        cumulative, np.ascontiguousarray(forward), np.ascontiguousarray(turn), int(chain.beyond is not None), offsets,
        which.astype(np.int32), kind.ravel().astype(np.int32), np.ascontiguousarray(table), lists, _LIMIT,
    )  # fmt: skip
    fair = -(-users // (4 * threads))  # work for every thread, and progress to report
    batch = max(256, min(_CELLS // max(lists, 1), int(_STEPS / walked.expected_depth), fair))

    def one(first: int) -> tuple[Array, Array]:
        count = min(batch, users - first)
        total, steps = np.empty((count, lists)), np.empty(count, np.int64)
        if walker.walk(seed, first, count, *fixed, total, steps):
            raise MeasureError(f"some users were still walking after {_LIMIT:,} visits")
        return total, steps

    done = 0
    for found in map_in_order(one, range(0, users, batch), threads, ahead=2 * threads):
        done += found[1].size
        yield found
        if progress is not None:
            progress(done, users)


def _by_rank(gains: Sequence[Array], n: int) -> tuple[Array, Array, Array]:
    """Ranks (from 0, in order), lists and gains of all that gains something."""
    found = [np.flatnonzero(y[:n] > 0) for y in gains]
    rank = np.concatenate(found) if found else np.zeros(0, np.int64)
    which = np.repeat(np.arange(len(found)), [x.size for x in found])
    gain = np.concatenate([y[x] for y, x in zip(gains, found, strict=True)]) if found else np.zeros(0)
    order = np.argsort(rank, kind="stable")
    return rank[order], which[order], gain[order]


def simulated_distribution(
    walk: WalkOnList, gains: Array, *, users: int, seed: int, threads: int = 1, progress: Progress | None = None
) -> Simulation:
    """The distribution of T / f(H) among users who walk one list."""
    check_users(users, seed, threads)
    counts = ScoreCounts()
    for total, steps in simulated_walks(walk, [gains], users=users, seed=seed, threads=threads, progress=progress):
        effort = efforts(walk.effort, steps)
        counts.add(total[:, 0] / effort, total[:, 0], effort, steps)
    return counts.distribution(users, seed)


def simulated_steps(
    on_list: MarkovUserOnList, counts: ScoreCounts, *, users: int, seed: int, of: int = 0
) -> ScoreCounts:
    """Count the scores of Markov users of some steps on a list; returns the counts."""
    for total, time in on_list.followed(users, seed):
        counts.add(total / time, total, time, np.full(total.size, on_list.user.steps), of)
    return counts


def efforts(effort: Effort, steps: Array) -> Array:
    """f(h) of each user."""
    longest = int(steps.max(initial=1))
    if effort.is_power or longest > 4 * steps.size:
        return effort(steps)
    return np.asarray(effort(np.arange(1.0, longest + 1.0))[steps - 1])
