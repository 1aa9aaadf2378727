"""Distributions of scores by simulating users, each with its confidence band.

Each user is followed from the first document on, and after every visit moves or stops with the probabilities of the
model. Nothing of the exact distributions is used, so the two check each other.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from amble.errors import MeasureError
from amble.measures import Behaviour, Lists, Measure, SessionMeasure, parse
from amble.native.plain_walker import draws, keys
from amble.progress import Progress
from amble.rankings.lists import Gains
from amble.users.birth_death import BirthDeathChain, stops
from amble.users.markov_scores import markov_user_on
from amble.users.simulation import ScoreCounts, Simulation, check_users, efforts, simulated_steps, simulated_walks
from amble.users.tails import Geometric, Tail
from amble.users.walk_on_list import WalkOnList
from amble.users.walk_scores import gains_on, walk_on

__all__ = ["Simulation", "simulate", "simulate_lists"]

Array = NDArray[Any]

_SPELLED = 4096  # ranks beyond a list, before their probabilities are computed one rank at a time
_TOGETHER = 128  # lists that share a walk


def simulate(
    measure: str | Measure,
    grades: ArrayLike,
    users: int = 100_000,
    seed: int = 0,
    *,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    **context: Any,
) -> Simulation:
    """The distribution of the scores of simulated users on a list.

    Parameters
    ----------
    measure : str or Measure
        A measure that is a user: one who walks down, or back and forth, or takes some steps of a Markov chain over the
        relevant documents (MP with ``steps``), or goes through a session (the distribution is of the total gain).
    grades : array_like
        Grades by rank; NaN where unjudged. Of a session, a matrix: rows are documents, columns are queries.
    users : int
    seed : int
        Same seed, same answer, on any number of threads. The same random numbers serve every list, so that two lists
        differ by what is on them only.
    threads : int, optional
        As many as there are processors.
    progress : callable, optional
        Called with the users done and all of them; without it, a line on the terminal after a second.
    **context
        As for `Measure.value`: relevant, ideal, max_grade.

    Returns
    -------
    Simulation
        A `Distribution` with ``band``, half the width of the 95 % band around its cdf, ``standard_error`` of its mean,
        and ``order2`` with its own error.

    Examples
    --------
    >>> import amble
    >>> distribution = amble.simulate("AP", [1, 0, 1], users=10_000, seed=7, relevant=2)
    >>> distribution.distance(amble.parse("AP").distribution([1, 0, 1], relevant=2)) < distribution.band_at(1 - 1e-6)
    True
    >>> distribution = amble.simulate("PH(p=.5,q=.25,loss=.25)", [1, 0, 0, 1, 0, 0, 1, 0, 0, 1], seed=7)
    >>> abs(distribution.mean - 0.5557) < 4 * distribution.standard_error
    True
    """
    m = parse(measure)
    if isinstance(m, SessionMeasure):
        return m.distribution(grades, users=users, seed=seed, **context)
    gains = m.gains_of_grades(grades, **context)
    with m.wrap_errors():
        return simulate_lists(m, gains, [[0]], users, seed, threads=threads, progress=progress)[0]


def simulate_lists(
    measure: Measure,
    gains: Gains | Lists,
    groups: Sequence[Sequence[int]],
    users: int = 100_000,
    seed: int = 0,
    *,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[Simulation]:
    """The distribution of the scores of the same simulated users in each group of lists.

    If behaviour does not depend on grades, one walk serves all lists of a length.
    """
    count = threads if threads is not None else os.cpu_count() or 1
    check_users(users, seed, count)
    if isinstance(gains, Lists):
        gains = measure.gains_of(gains)
    if gains.lists.ties is not None:
        raise MeasureError("ties='expected': tied documents have no one rank to walk to; use ties='docno'")
    if measure.is_population:
        raise MeasureError(f"{measure} is a population, not one user; simulate a user of it")
    line = Progress(f"simulating {measure}")
    tell = line if progress is None else progress
    group_of = {i: g for g, group in enumerate(groups) for i in group}
    together: dict[Any, list[int]] = {}
    static = measure.is_static
    for i in group_of:
        together.setdefault(int(gains.lists.length[i]) if static else -1 - i, []).append(i)
    tallies = [ScoreCounts() for _ in groups]
    all_users, done = users * len(group_of), 0
    try:
        for members in together.values():
            for at in range(0, len(members), _TOGETHER):
                some = members[at : at + _TOGETHER]
                if measure.declaration.question == "markov":
                    for i in some:
                        user = markov_user_on(measure, gains, i)
                        simulated_steps(user, tallies[group_of[i]], users=users, seed=seed, of=i)
                        done += users
                        tell(done, all_users)
                    continue
                on_list, judge = _stage(measure, gains, some[0], seed)
                ys = [gains_on(gains, i) for i in some]
                scales = [measure.scale(gains, i) or np.inf for i in some]
                first = 0
                for total, steps in simulated_walks(on_list, ys, users=users, seed=seed, threads=count):
                    visits, effort, nothing = judge(steps, first)
                    for column, i in enumerate(some):
                        score = _score(measure, total[:, column], effort) / scales[column]
                        score[nothing] = 0.0
                        tallies[group_of[i]].add(score, total[:, column], effort, visits, i)
                    first += steps.size
                    done += steps.size * len(some)
                    tell(done, all_users)
    finally:
        line.close()
    return [counts.distribution(users, seed) for counts in tallies]


def _stage(measure: Measure, gains: Gains, i: int, seed: int) -> tuple[WalkOnList, Callable[[Array, int], Any]]:
    """The walk over list i, and a function: visits and efforts of users, and which of them leave with nothing."""
    walk = measure.walk_user()
    if walk is not None:
        on_list = walk_on(walk, gains.lists, i)
        nobody = slice(0)
        return on_list, lambda steps, _: (steps, efforts(on_list.effort, steps), nobody)
    behaviour, _ = measure.behaviour(gains, i)
    chain, tail = _as_chain(behaviour)
    n = chain.forward.shape[1]
    unhappy = tail is None and chain.beyond is None and behaviour.continuation[-1] > 0

    def judge(steps: Array, first: int) -> tuple[Array, Array, Array]:
        visits = steps if tail is None else _further(steps, n, tail, seed, first)
        nothing = visits == n if unhappy else np.zeros(visits.size, bool)
        visits = np.where(nothing, n - 1, visits)  # the rank after the last is none
        return visits, np.asarray(visits, np.float64), nothing

    return WalkOnList(chain), judge


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


def _score(measure: Measure, total: Array, effort: Array) -> Array:
    """The score of each user."""
    question = measure.declaration.question
    if question == "satisfied":
        return np.asarray(1.0 / effort)
    return np.asarray(total + 0.0 if question == "total" else total / effort)
