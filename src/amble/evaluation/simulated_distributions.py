"""Distributions of scores by simulating users, each with its confidence band.

Each user is followed from the first document on, and after every visit moves or stops with the probabilities of the
model. Nothing of the exact distributions is used, so the two check each other.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from amble.arrays import ArrayLike, NDArray
from amble.errors import MeasureError
from amble.measures import ListMeasure, Lists, Measure, SessionMeasure, parse
from amble.measures.list_measure import of_lists
from amble.parallel import spread
from amble.progress import Progress
from amble.rankings.lists import Gains
from amble.users.protocol import Follower, Paths, Question
from amble.users.simulation import (
    ScoreCounts,
    Simulation,
    Tally,
    WalkFollower,
    allotted,
    check_users,
    followed,
    follower_of,
    sums_of,
)

__all__ = ["OneList", "Readers", "Simulation", "simulate", "simulate_gain_and_visits", "simulate_lists"]

Array = NDArray[Any]

_TOGETHER = 128  # lists that share a walk
_MANY = 16  # lists for which it pays to find the users who go the same path
_LEAST, _MOST, _CELLS = 1 << 10, 1 << 18, 1 << 20  # readers of a piece, and readers x lists
_FOLLOWERS = 256  # kept for further pieces of the same lists
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
    executor: Any = None,
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
    executor : optional
        Who simulates, as `Workers` takes it; without one, threads of this process. The answer is the same, bit for bit.
        Sessions, and readers whose paths are kept, are simulated here.
    **context
        As for `Measure.value`: relevant, ideal, max_grade.

    Returns
    -------
    Simulation
        A `Distribution` with ``band``, half the width of the 95 % band around its cdf, ``standard_error`` of its mean,
        and ``order2`` with its own error. Beyond about a million distinct scores, some are rounded, and the band is
        wider by ``rounding``: the largest share of users whose score became the same. Of a population each user is one
        of its members (of a parameter's distribution, the nodes of its quadrature), drawn by their shares.

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
        found = simulate_lists(
            m, gains, [[0]], users, seed, threads=threads, progress=progress, kept=kept, executor=executor,
            source=OneList(grades, context),
        )[0]  # fmt: skip
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


class OneList:
    """A list by its grades and the context of `Measure.value`, as it is sent to workers."""

    def __init__(self, grades: Any, context: dict[str, Any]) -> None:
        self.grades, self.context = np.asarray(grades), context

    def gains(self, measure: ListMeasure) -> Gains:
        """The gains of the list."""
        return measure.gains_of_grades(self.grades, **self.context)


class Readers:
    """The simulated readers of a measure on lists; on workers, the lists are those of what was sent.

    Parameters
    ----------
    measure : ListMeasure
    gains : Gains or Lists
    seed : int
    source : OneList or SentRankings, optional
        Where workers take the lists from.
    """

    def __init__(self, measure: ListMeasure, gains: Gains | Lists, seed: int, source: Any = None) -> None:
        self.measure, self.seed, self.source, self.threads = measure, seed, source, 1
        self.tell: Callable[[int], None] = _no_word  # of readers followed, here
        vars(self)["given"] = gains
        self._followers: dict[tuple[int, tuple[int, ...]], tuple[ListMeasure, Follower, Array | None]] = {}
        self._alike: dict[Any, tuple[Array, Array] | None] = {}

    def __getstate__(self) -> dict[str, Any]:
        sent = {name: getattr(self, name) for name in ("measure", "seed", "source")}
        return sent | {"threads": 1, "_followers": {}, "_alike": {}, "tell": _no_word}

    @cached_property
    def given(self) -> Gains | Lists:
        """The gains, or the lists."""
        one = isinstance(self.source, OneList)
        return self.source.gains(self.measure) if one else Lists.of_rankings(self.source.rankings)

    @property
    def lists(self) -> Lists:
        """The lists."""
        return self.given if isinstance(self.given, Lists) else self.given.lists

    @cached_property
    def gains(self) -> Gains:
        """The gains of the lists by the measure."""
        return self.measure.gains_of(self.given) if isinstance(self.given, Lists) else self.given

    def of_kind(self, kind: int, i: int) -> ListMeasure:
        """The measure of the readers of one kind on list i."""
        alike = self.measure.at(self.lists, i).members
        if len(alike) < len(self.measure.members):
            raise MeasureError(f"{self.measure}: some of its users are the same on a topic; mix others")
        return alike[kind][1]

    def follower(self, kind: int, lists: tuple[int, ...]) -> tuple[ListMeasure, Follower, Array | None]:
        """The readers of one kind on some lists that they read alike: their measure, themselves, and its divisors."""
        if (kind, lists) not in self._followers:
            if len(self._followers) >= _FOLLOWERS:
                self._followers.clear()
            one = self.of_kind(kind, lists[0])
            new = one is not self.measure or isinstance(self.given, Lists)
            seen = one.gains_of(self.lists) if new else self.gains
            follower = follower_of(one.one_user, seen, list(lists), self.seed)
            self._followers[kind, lists] = one, follower, one.divisors(seen)
        return self._followers[kind, lists]

    def followed(self, kind: int, lists: tuple[int, ...], first: int, count: int, of: int) -> Iterator[Any]:
        """Some readers, batch by batch: the follower, their paths and, for each list, their tally."""
        one, follower, divisors = self.follower(kind, lists)
        for paths in followed(follower, count, self.threads, first, of):
            tallies = []
            for column, i in enumerate(lists):
                total = one.question.gained(paths, column)
                score = one.question.score(total, paths.effort)
                if divisors is not None:
                    score = score / (divisors[i] or np.inf)
                score[paths.nothing] = 0.0
                tallies.append(Tally.of(score, total, paths.effort, paths.visits))
            self.tell(paths.visits.size * len(lists))
            yield follower, paths, tallies

    def tallied(self, kind: int, lists: tuple[int, ...], first: int, count: int, of: int) -> list[Tally]:
        """The tally of some readers on each list; of those who go the same path only the first is scored."""
        one, follower, divisors = self.follower(kind, lists)
        alike = self.alike(kind, lists, first, count)
        if alike is None:
            parts = [tallies for _, _, tallies in self.followed(kind, lists, first, count, of)]
            return [Tally.together(part) for part in zip(*parts, strict=True)]
        sums, scores, at = list[Array](), list[Array](), 0
        by = None if divisors is None else np.where(divisors[list(lists)] == 0, np.inf, divisors[list(lists)])
        for paths in followed(follower, count, 1, first, of):  # threads cost more than such short walks
            end = at + paths.visits.size
            firsts = alike[0][(alike[0] >= at) & (alike[0] < end)] - at
            score = one.question.score(paths.total[firsts], paths.effort[firsts, None])
            if by is not None:
                score = score / by
            nobody = np.zeros(end - at, bool)
            nobody[paths.nothing] = True
            score[nobody[firsts]] = 0.0
            scores.append(score.T)
            sums.append(sums_of(paths))
            self.tell((end - at) * len(lists))
            at = end
        return Tally.of_lists(np.concatenate(scores, axis=1), alike[1], np.add.accumulate(sums)[-1])

    def alike(self, kind: int, lists: tuple[int, ...], first: int, count: int) -> tuple[Array, Array] | None:
        """The first readers on each path, and how many go it, where that spares work: walks are those of a length."""
        one, follower, _ = self.follower(kind, lists)
        if len(lists) < _MANY or not isinstance(follower, WalkFollower) or one.question.about_satisfaction:
            return None
        key = one, int(self.lists.length[lists[0]]), first, count
        if key not in self._alike:
            if len(self._alike) >= _FOLLOWERS:
                self._alike.clear()
            self._alike[key] = follower.alike(first, count)
        return self._alike[key]


def _no_word(_: int) -> None:
    pass


Piece = tuple[int, tuple[int, ...], int, int, int]


def _follow(readers: Readers, piece: Piece) -> list[Tally]:
    """The tally of each list of a piece."""
    with readers.measure.wrap_errors():
        return readers.tallied(*piece)


def _pieces(readers: Readers, lists: Iterable[int], users: int) -> Iterator[Piece]:
    """The work of a simulation: kind, lists that share a walk, first reader, their number, and all of the kind."""
    for kind, first, number in allotted([share for share, _ in readers.measure.members], users, readers.seed):
        together: dict[Any, list[int]] = {}
        for i in lists:
            one = readers.of_kind(kind, i)
            alone = not one.is_static or (readers.lists.costs is not None and one.looks_at_costs)
            together.setdefault((one, -1 - i if alone else int(readers.lists.length[i])), []).append(i)
        for members in together.values():
            for at in range(0, len(members), _TOGETHER):
                some = tuple(members[at : at + _TOGETHER])
                step = max(_LEAST, min(_MOST, _CELLS // len(some)))
                for start in range(0, number, step):
                    yield kind, some, first + start, min(step, number - start), number


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
    executor: Any = None,
    source: Any = None,
) -> list[Simulation]:
    """The distribution of the scores of the same simulated users in each group of lists.

    If behaviour does not depend on grades, one walk serves all lists of a length. The gains, visits and paths of the
    readers of the only list are ``kept``, if there is a list for them. Workers take the lists from the ``source``.
    """
    count = threads if threads is not None else os.cpu_count() or 1
    check_users(users, seed, count)
    readers = Readers(measure, gains, seed, source)
    readers.threads = count
    if readers.lists.ties is not None:
        raise MeasureError("ties='expected': tied documents have no one rank to walk to; use ties='docno'")
    if measure.declaration.of_intents:
        if kept is not None:
            raise MeasureError(f"{measure}: paths are of users who mean one thing; simulate the measure of one intent")
        people: Any = measure
        return [people.simulated(readers.lists, group, users, seed) for group in groups]
    group_of = {i: g for g, group in enumerate(groups) for i in group}
    tallies = [ScoreCounts() for _ in groups]
    _ = measure.question  # may raise
    all_users, done, made = users * len(group_of), 0, 0
    pieces = list(_pieces(readers, group_of, users))
    with Progress(f"simulating {measure}") as line:

        def tell(more: int) -> None:
            nonlocal done
            done += more
            (progress or line)(done, all_users)

        if executor is None or kept is not None:
            readers.tell = tell
        for piece in pieces if kept is not None else ():
            at, parts = piece[2], list[Tally]()
            assert kept is not None
            for follower, paths, (tally,) in readers.followed(*piece):
                made += int(paths.visits.sum())
                if made > _MOST_KEPT:
                    raise MeasureError(
                        f"paths of {users:,} users: more than {_MOST_KEPT:,} visits; ask for fewer users"
                    )
                question = readers.of_kind(piece[0], 0).question
                kept.append((_gain(question, paths), paths.visits, follower.paths(at, paths.visits.size)))
                at += paths.visits.size
                parts.append(tally)
            tallies[0].merge(Tally.together(parts))
        found = spread(_follow, readers, pieces if kept is None else [], executor)
        for (_, lists, _, number, _), each in zip(pieces, found, strict=kept is None):
            for i, tally in zip(lists, each, strict=True):
                tallies[group_of[i]].merge(tally, i)
            if executor is not None:
                tell(number * len(lists))
    return [counts.distribution(users, seed, mixed=len(measure.members) > 1) for counts in tallies]
