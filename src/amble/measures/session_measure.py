"""A measure of sessions with its parameters: its scores, its user, and the distribution of the gain over users."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

import numpy as np

from amble.arrays import NDArray
from amble.checks import is_number
from amble.errors import AlignError, MeasureError
from amble.measures.gain_maps import scaled
from amble.measures.measure import Measure
from amble.sessions.sessions import Sessions
from amble.users.session_user import SessionOnLists

if TYPE_CHECKING:
    from amble.users.simulation import Simulation

__all__ = ["SessionGains", "SessionMeasure", "SessionSum"]

Array = NDArray[np.float64]


class SessionGains:
    """The gain of each hit of sessions, by a measure's map of grades to gains.

    Attributes
    ----------
    sessions : Sessions
    gain : ndarray
        Of each hit; 0 beyond the cut, and where a document is shown again and counts once.
    lengths : ndarray
        How many documents each query shows, up to the cut.
    cut : int or None
    """

    def __init__(self, sessions: Sessions, function: Any, cut: int | None) -> None:
        self.sessions, self.cut = sessions, cut
        self._function = function
        self.gain = sessions.gains(function, cut)
        self.lengths = sessions.lengths(cut)

    def once(self) -> SessionGains:
        """The same with gain 0 where a document is shown again in its session."""
        out = copy.copy(self)
        out.gain = np.where(self.sessions.again, 0.0, self.gain)
        return out

    @property
    def hits(self) -> NDArray[np.int64]:
        """Indices of the hits with a gain."""
        return np.flatnonzero(self.gain != 0)

    def of_grades(self, grades: Array) -> Array:
        """The gains of grades."""
        return np.asarray(self._function(grades, self.sessions.max_grade), np.float64)

    def ideal(self, session: int) -> Array:
        """The gains of all judged documents of a session, greatest first."""
        s = self.sessions
        return np.asarray(np.sort(self.of_grades(s.pool[s.pools[session] : s.pools[session + 1]]))[::-1])

    def sum(self, of_hits: Array, hits: NDArray[np.int64]) -> Array:
        """Sums over the hits of each entry."""
        s = self.sessions
        return np.asarray(np.bincount(s.entry_of_query[s.query[hits]], of_hits, s.n))

    def by_query(self, entry: int) -> list[Array]:
        """The gains of an entry by query and rank."""
        s = self.sessions
        out = []
        for q in range(int(s.first[entry]), int(s.first[entry + 1])):
            row = np.zeros(int(self.lengths[q]))
            hits = np.arange(s.offsets[q], s.offsets[q + 1])
            hits = hits[s.position[hits] <= row.size]
            row[s.position[hits] - 1] = self.gain[hits]
            out.append(row)
        return out


class SessionSum(NamedTuple):
    """Scores that are sums over documents: what a function that declares such a measure of sessions may return.

    Attributes
    ----------
    worth : ndarray
        What each of ``SessionGains.hits`` adds: gain x reach x discount.
    reach : ndarray
        Of each of them, the factor of its query: the probability that it is issued, or what stands for it.
    finish : callable, optional
        What is done with the sum of each entry: it is divided or multiplied by a number.
    """

    worth: Array
    reach: Array
    finish: Callable[[Array], Array] | None = None

    def scores(self, seen: SessionGains) -> Array:
        """The score of every entry."""
        total = seen.sum(self.worth, seen.hits)
        return total if self.finish is None else self.finish(total)


class Factors(NamedTuple):
    """What each hit of sessions adds to the score of its entry, and of what it is the product."""

    contribution: Array
    reach: Array
    discount: Array
    gain: Array


class SessionUser(Protocol):
    """A user of sessions: what a measure asks of one."""

    looks: bool

    def over(self, lengths: Any, gains: Any = None) -> SessionOnLists:
        """The user in a session whose lists have these lengths: visits, effort, expected gain, simulated readers.

        ``gains`` are those by query and rank, which matter to a user who looks at them.
        """


class SessionMeasure(Measure):
    """A measure of sessions: `value` scores a matrix of grades, rows documents and columns queries.

    ``@k`` means that lists end after rank k.

    Examples
    --------
    >>> import amble
    >>> m = amble.parse("MsM(p=0.6,q=0,r=0.1,s=0.3)")
    >>> round(m.value([[1, 0], [0, 2], [3, 1]]), 6)
    2.153597
    >>> m.user([[1, 0], [0, 2], [3, 1]]).reach
    array([1.  , 0.25])
    """

    def one_session(self, session: Any, **context: Any) -> Sessions:
        """`Sessions` of one entry, from a matrix (rows documents, columns queries) or as they are."""
        unknown = set(context) - {"ideal", "max_grade"}
        if unknown:
            raise MeasureError(f"{self}: unknown context {', '.join(sorted(unknown))}; expected ideal, max_grade")
        try:
            out = session if isinstance(session, Sessions) else Sessions.of_matrix(session, ideal=context.get("ideal"))
        except AlignError as error:
            raise MeasureError(f"{self}: {error}") from None
        if out.n != 1:
            raise MeasureError(f"{self}: {out!r}, expected one session")
        out = copy.copy(out)  # the input is not changed
        most = context.get("max_grade")
        if most is not None:
            if not is_number(most) or not out.max_grade <= most < float("inf"):
                raise MeasureError(f"{self}: max_grade={most!r:.60}, expected a number of at least {out.max_grade:g}")
            out.max_grade = float(most)
        elif self.declaration.gain is scaled and self.values["max_grade"] is None and not isinstance(session, Sessions):
            if out.max_grade > 1:
                raise MeasureError(f"{self}: a grade of {out.max_grade:g}; say max_grade=, the grade whose gain is 1")
            out.max_grade = 1.0
        return out

    def value(self, grades: Any, **context: Any) -> float:
        """The score of one session.

        Parameters
        ----------
        grades : array_like or Sessions
            A matrix of grades: rows are documents, columns are queries; NaN where unjudged. For queries of
            different lengths, `Sessions.of_queries`.
        ideal : array_like, optional
            The grades of all the session's judged documents.
        max_grade : float, optional
            The largest grade there is.
        """
        score = float(self.scores(self.one_session(grades, **context))[0])
        if not np.isfinite(score):
            raise MeasureError(f"{self}: the score is {score}, not a finite number")
        return score

    def scores(self, of: Sessions) -> Array:
        """The score of every entry."""
        if not isinstance(of, Sessions):
            raise MeasureError(f"{self.name} is a measure of sessions, not of {type(of).__name__}; see read_sessions")
        with self.wrap_errors():
            if self.is_population:
                return np.asarray(sum(w * one.scores(of) for w, one in self.members))
            gains = self.gains_of(of)
            found = self.declaration.function(gains, **self.arguments)
            out = np.asarray(found.scores(gains) if isinstance(found, SessionSum) else found, np.float64)
        if out.shape != (of.n,):
            raise MeasureError(f"{self}: gave scores of shape {out.shape}, expected one for each of {of.n}")
        return out

    def factors(self, of: Sessions) -> Factors | None:
        """What every hit adds to the score of its entry, as reach x discount x gain; None if scores are no such sums.

        Of a population, the mean over its users; its discount is what makes the product so.
        """
        with self.wrap_errors():
            if self.is_population:
                each = [(w, one.factors(of)) for w, one in self.members]
                if any(found is None for _, found in each):
                    return None
                total, reach = (sum(w * found[k] for w, found in each if found is not None) for k in (0, 1))
                gain = each[0][1].gain  # type: ignore[union-attr]
                return _factors(np.asarray(total), np.asarray(reach), gain)
            seen = self.gains_of(of)
            found = self.declaration.function(seen, **self.arguments)
        if not isinstance(found, SessionSum):
            return None
        worth, reach, hits = np.zeros(seen.gain.size), np.zeros(seen.gain.size), seen.hits
        scale = np.ones(of.n) if found.finish is None else found.finish(np.ones(of.n))
        worth[hits], reach[hits] = found.worth * scale[of.entry_of_query[of.query[hits]]], found.reach
        return _factors(worth, reach, seen.gain)

    # ---- the user

    @cached_property
    def one_user(self) -> SessionUser:
        """The user of a session; an error if the measure has none."""
        if self.declaration.walker is None:
            raise MeasureError(f"{self.name} is not a user: it weighs documents by query and rank")
        if self.is_population:
            raise MeasureError(f"{self} is a population, not one user")
        with self.wrap_errors():
            return cast(SessionUser, self.declaration.walker(self.values))

    def gains_of(self, sessions: Sessions) -> SessionGains:
        """The gains of the hits of sessions, down to the measure's rank k of each list."""
        return SessionGains(sessions, self.declaration.gain.make(self.values).function, self.cut)

    def user(self, grades: Any = ((0,),), **context: Any) -> SessionOnLists:
        """The behaviour of the user in a session: probability of reaching each query, visits, effort, expected gain."""
        seen = self.gains_of(self.one_session(grades, **context))
        return self.one_user.over(seen.lengths, seen.by_query(0))

    def effort(self, sessions: Sessions) -> Array:
        """Expected numbers of queries and of documents looked at, and expected gain, of every entry: three columns.

        A document gains at the first visit.
        """
        seen, walk, out = self.gains_of(sessions), self.one_user, np.empty((sessions.n, 3))
        known: dict[tuple[int, ...], SessionOnLists] = {}
        for e in range(sessions.n):
            lengths = tuple(seen.lengths[sessions.first[e] : sessions.first[e + 1]].tolist())
            gains = seen.by_query(e)
            on_list = walk.over(lengths, gains) if walk.looks or lengths not in known else known[lengths]
            known[lengths] = on_list
            out[e] = on_list.expected_queries, on_list.expected_depth, on_list.expected_gain(gains)
        return out

    def distribution(
        self, grades: Any, *, users: int = 100_000, seed: int = 0, visits: str = "first", **context: Any
    ) -> Simulation:
        """The simulated distribution over users of the total gain in a session.

        Parameters
        ----------
        grades : array_like or Sessions
        users, seed : int
        visits : {"first", "every"}
            A document gains at the first visit, or at every one.

        Examples
        --------
        >>> import amble
        >>> m = amble.parse("MsM(p=0.6,q=0,r=0.1,s=0.3)")
        >>> distribution = m.distribution([[1], [0], [3]], users=20_000, seed=7)
        >>> distribution.values  # all gain 1, some 3 more
        array([1., 4.])
        """
        from amble.users.simulation import ScoreCounts, allotted, check_users

        check_users(users, seed, 1)
        session = self.one_session(grades, **context)
        tally, kinds = ScoreCounts(), self.members
        for kind, _, number in allotted([share for share, _ in kinds], users, seed):
            one = kinds[kind][1]
            seen = one.gains_of(session)
            rows = seen.by_query(0)
            on_list = one.one_user.over(seen.lengths, rows)
            own = seed if one is self else int(np.random.SeedSequence([seed, kind]).generate_state(1, np.uint64)[0])
            for total, steps, _ in on_list.follow(rows, number, own, visits=visits):
                tally.add(total, total, steps, steps)
        return tally.distribution(users, seed, mixed=len(kinds) > 1)


def _factors(worth: Array, reach: Array, gain: Array) -> Factors:
    by = reach * gain
    return Factors(worth, reach, np.divide(worth, by, out=np.zeros(worth.size), where=by != 0), gain)
