"""Distributions of scores by simulating users, each with its confidence band.

Each user is followed from the first document on, and after every visit moves or stops with the probabilities of the
model. Nothing of the exact distributions is used, so the two check each other.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from amble.errors import MeasureError
from amble.measures import ListMeasure, Lists, Measure, SessionMeasure, parse
from amble.measures.list_measure import of_lists
from amble.progress import Progress
from amble.rankings.lists import Gains
from amble.users.protocol import Paths, Question
from amble.users.simulation import ScoreCounts, Simulation, allotted, check_users, followed, follower_of

__all__ = ["Simulation", "simulate", "simulate_gain_and_visits", "simulate_lists"]

Array = NDArray[Any]

_TOGETHER = 128  # lists that share a walk
_MOST_KEPT = 1 << 24  # visits whose ranks are kept


def simulate(
    measure: str | Measure,
    grades: ArrayLike,
    users: int = 100_000,
    seed: int = 0,
    *,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    paths: bool = False,
    **context: Any,
) -> Simulation:
    """The distribution of the scores of simulated users on a list.

    Parameters
    ----------
    measure : str or Measure
        A measure that is a user, or a population of them: one who walks down, or back and forth, or takes some steps of
        a Markov chain over the relevant documents (MP with ``steps``), or goes through a session (the distribution is
        of the total gain).
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
    paths : bool
        Keep what each reader did: ``paths`` (the ranks visited), ``gain`` (T) and ``visits`` (H); of a population, the
        readers of each member together. Up to 16,777,216 visits in all.
    **context
        As for `Measure.value`: relevant, ideal, max_grade.

    Returns
    -------
    Simulation
        A `Distribution` with ``band``, half the width of the 95 % band around its cdf, ``standard_error`` of its mean,
        and ``order2`` with its own error. Of a population each user is one of its members (of a parameter's
        distribution, the nodes of its quadrature), drawn by their shares.

    Examples
    --------
    >>> import amble
    >>> distribution = amble.simulate("AP", [1, 0, 1], users=10_000, seed=7, relevant=2)
    >>> distribution.distance(amble.parse("AP").distribution([1, 0, 1], relevant=2)) < distribution.band_at(1 - 1e-6)
    True
    >>> distribution = amble.simulate("PH(p=.5,q=.25,loss=.25)", [1, 0, 0, 1, 0, 0, 1, 0, 0, 1], seed=7)
    >>> abs(distribution.mean - 0.5557) < 4 * distribution.standard_error
    True
    >>> readers = amble.simulate("PH(loss=.5)", [1, 0, 1], users=3, seed=8, paths=True)
    >>> [path.tolist() for path in readers.paths], readers.gain, readers.visits
    ([[1, 2], [1], [1, 2, 1, 2, 3]], array([1. , 1. , 2.5]), array([2, 1, 5]))
    """
    m = parse(measure)
    if isinstance(m, SessionMeasure):
        if paths:
            raise MeasureError(f"{m}: paths are of users who read one list, not a session")
        return m.distribution(grades, users=users, seed=seed, **context)
    m, context = of_lists(m).resolve_topic(context)
    gains = m.gains_of_grades(grades, **context)
    kept: list[tuple[Array, Array, list[Array]]] | None = [] if paths else None
    with m.wrap_errors():
        found = simulate_lists(m, gains, [[0]], users, seed, threads=threads, progress=progress, kept=kept)[0]
    if kept:
        gain, visits, each = zip(*kept, strict=True)
        found.gain, found.visits, found.paths = np.concatenate(gain), np.concatenate(visits), list(chain(*each))
    return found


def simulate_gain_and_visits(
    measure: ListMeasure, gains: Gains, users: int = 100_000, seed: int = 0
) -> tuple[Simulation, Simulation]:
    """The distributions of T and of H of simulated users on the first list."""
    tallies = ScoreCounts(), ScoreCounts()
    for some in followed(follower_of(measure.one_user, gains, [0], seed), users):
        total = _gain(measure.question, some)
        for tally, values in zip(tallies, (total, some.visits.astype(np.float64)), strict=True):
            tally.add(values, total, some.effort, some.visits)
    return tallies[0].distribution(users, seed), tallies[1].distribution(users, seed)


def _gain(question: Question, paths: Paths) -> Array:
    """T of each reader; of order 1 nothing for who leaves with nothing."""
    total = question.gained(paths, 0).copy()
    if question is Question.ORDER1:
        total[paths.nothing] = 0.0
    return total


def simulate_lists(
    measure: ListMeasure,
    gains: Gains | Lists,
    groups: Sequence[Sequence[int]],
    users: int = 100_000,
    seed: int = 0,
    *,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    kept: list[tuple[Array, Array, list[Array]]] | None = None,
) -> list[Simulation]:
    """The distribution of the scores of the same simulated users in each group of lists.

    If behaviour does not depend on grades, one walk serves all lists of a length. The gains, visits and paths of the
    readers of the only list are ``kept``, if there is a list for them.
    """
    count = threads if threads is not None else os.cpu_count() or 1
    check_users(users, seed, count)
    lists = gains if isinstance(gains, Lists) else gains.lists
    if lists.ties is not None:
        raise MeasureError("ties='expected': tied documents have no one rank to walk to; use ties='docno'")
    if measure.declaration.of_intents:
        if kept is not None:
            raise MeasureError(f"{measure}: paths are of users who mean one thing; simulate the measure of one intent")
        people: Any = measure
        return [people.simulated(lists, group, users, seed) for group in groups]
    group_of = {i: g for g, group in enumerate(groups) for i in group}
    tallies = [ScoreCounts() for _ in groups]
    kinds = measure.members
    _ = measure.question  # may raise
    all_users, done, made = users * len(group_of), 0, 0
    with Progress(f"simulating {measure}") as line:
        tell = line if progress is None else progress
        for kind, first, number in allotted([share for share, _ in kinds], users, seed):
            together: dict[Any, list[int]] = {}
            for i in group_of:
                alike = measure.at(lists, i).members
                if len(alike) < len(kinds):
                    raise MeasureError(f"{measure}: some of its users are the same on a topic; mix others")
                one = alike[kind][1]
                alone = not one.is_static or (lists.costs is not None and one.looks_at_costs)
                together.setdefault((one, -1 - i if alone else int(lists.length[i])), []).append(i)
            for (one, _), members in together.items():
                seen = one.gains_of(lists) if one is not measure or isinstance(gains, Lists) else gains
                user, question, divisors = one.one_user, one.question, one.divisors(seen)
                for at in range(0, len(members), _TOGETHER):
                    some = members[at : at + _TOGETHER]
                    follower, at_user = follower_of(user, seen, some, seed), first
                    for paths in followed(follower, number, count, first):
                        for column, i in enumerate(some):
                            total = question.gained(paths, column)
                            score = question.score(total, paths.effort)
                            if divisors is not None:
                                score = score / (divisors[i] or np.inf)
                            score[paths.nothing] = 0.0
                            tallies[group_of[i]].add(score, total, paths.effort, paths.visits, i)
                        if kept is not None:
                            made += int(paths.visits.sum())
                            if made > _MOST_KEPT:
                                raise MeasureError(
                                    f"paths of {users:,} users: more than {_MOST_KEPT:,} visits; ask for fewer users"
                                )
                            ranks = follower.paths(at_user, paths.visits.size)
                            kept.append((_gain(question, paths), paths.visits, ranks))
                            at_user += paths.visits.size
                        done += paths.visits.size * len(some)
                        tell(done, all_users)
    return [counts.distribution(users, seed, mixed=len(kinds) > 1) for counts in tallies]
