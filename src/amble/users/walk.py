"""Users who walk a ranking back and forth, and stop (Ferrante and Ferro, 2020: the random walk browsing model).

At each rank the user goes forward with probability p, back with q, and stops with 1 - p - q. What a document brings
depends on how often it was visited before; the whole gain is divided by a function of the number of visits.

`Walk` is the user; `Walk.over` puts the user on a list, and the `WalkOnList` that it returns knows the visits, the last
rank, the number of visits, the gain, and the whole distribution of the score: exactly, not by simulation.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from amble.arrays import NDArray
from amble.checks import is_whole, one_of
from amble.distributions.distribution import Distribution
from amble.errors import MeasureError
from amble.expressions.values import ByFunction, ByRankAndGrade, needs_zero
from amble.rankings.lists import Gains, Lists
from amble.users.birth_death import BirthDeathChain, chain_on_lists, checked_start, stops
from amble.users.effort import Effort
from amble.users.protocol import Question
from amble.users.timing import COSTS, NO_COSTS, Clock, Timing
from amble.users.utility import Utility
from amble.users.walk_on_list import WalkOnList
from amble.users.walk_scores import mean_efforts, mean_scores, score_walks

if TYPE_CHECKING:
    from amble.users.adaptive_walk import AdaptiveWalkOnList
    from amble.users.protocol import Follower

__all__ = ["Probabilities", "Walk"]

Array = NDArray[Any]
_SLACK = 1e-9  # by how much p + q may exceed 1
_FURTHEST = 1 << 40  # a rank that no list has
_NEVER = 1e-12  # a probability of stopping that is none
_NEVER_STOPS = (
    "p + q = 1 at every rank: the user never stops before the end of the list, and may not come there; "
    "expected p + q < 1 somewhere, or p > 0 everywhere and a list that ends"
)
_POINTS = ("rank", "grade", "gain", "seen")  # what a function may be told
_UNCHECKED: ContextVar[bool] = ContextVar("unchecked", default=False)  # a walk at points of which some are never met
Rule = float | Sequence[Any] | Mapping[float, Any] | Callable[..., Any] | ByRankAndGrade | ByFunction


def _check_steps(forward: Array, back: Array) -> None:
    """Refuse p and q that are no probabilities, or add up to more than 1, with the rank where."""
    for name, probability in (("p", forward), ("q", back)):
        bad = ~((probability >= 0) & (probability <= 1))
        if bad.any():
            at = tuple(np.argwhere(bad)[0])
            raise MeasureError(
                f"{name} = {probability[at]:g} at rank {at[-1] + 1}, expected a probability between 0 and 1"
            )
    over = forward + back > 1 + _SLACK
    if over.any():
        at = tuple(np.argwhere(over)[0])
        p, q = forward[at], back[at]
        raise MeasureError(f"p + q = {p:g} + {q:g} = {p + q:.6g} at rank {at[-1] + 1}, expected at most 1")


class Probabilities:
    """A probability at every rank: one number, or one for each rank, each grade, or each rank and grade.

    By rank, the last holds further down. A grade that is not in the table has the probability of the next lower one
    that is; 0, the grade of unjudged documents, must be there. By both, a row of grades holds from its rank to that of
    the next.

    A function has arguments of the names rank, grade, gain (of this document) and seen (gained so far, this visit
    included), all arrays of one shape; one argument of any other name is the ranks.

    Examples
    --------
    >>> from amble.users.walk import Probabilities
    >>> Probabilities([0.5, 0.4]).at(4)
    array([0.5, 0.4, 0.4, 0.4])
    >>> Probabilities({0: 0.6, 1: 0.3}).at(3, np.array([0.0, 2.0, 1.0]))
    array([0.6, 0.3, 0.3])
    >>> Probabilities({1: {0: 0.6, 1: 0.4}, 3: {0: 0.5, 1: 0.3}}).at(4, np.array([0.0, 1.0, 0.0, 1.0]))
    array([0.6, 0.4, 0.5, 0.3])
    >>> Probabilities(lambda rank, grade: grade / rank).at(2, np.array([0.5, 1.0]))
    array([0.5, 0.5])
    """

    def __init__(self, rule: Rule, name: str = "probability", names: tuple[str, ...] | None = None) -> None:
        self.name = name
        self.function: Callable[..., Any] | None = None
        self.names: tuple[str, ...] = ()  # of the arguments, if they have names
        self.grades: Array | None = None
        self.ranks: Array = np.ones(1)
        self.values: Array = np.zeros((1, 1))  # by rank and grade
        given: Any = rule.function if isinstance(rule, ByFunction) else rule
        if callable(given):
            self.function, self.names = given, _arguments(given, name) if names is None else names
            return
        try:
            if ByRankAndGrade.made_of(given):
                rows = (given if isinstance(given, ByRankAndGrade) else ByRankAndGrade(given)).rows
                self.ranks = np.array([rank for rank, _ in rows], np.float64)
                self.grades = np.unique([grade for _, row in rows for grade in row])
                self.values = np.array([Probabilities(row, name).of(1.0, self.grades) for _, row in rows])
            elif isinstance(given, Mapping):
                self.grades = np.array(sorted(given), np.float64)
                self.values = np.array([[given[key] for key in sorted(given)]], np.float64)
            else:
                self.values = np.array(given, np.float64, ndmin=1)[:, None]
                self.ranks = np.arange(1.0, len(self.values) + 1.0)
        except MeasureError:
            raise
        except (TypeError, ValueError):
            self.values = np.zeros(0)
        if self.values.ndim != 2 or not self.values.size or (self.grades is not None and np.isnan(self.grades).any()):
            raise MeasureError(f"{name}={rule!r:.60}: expected a probability, or probabilities by rank or grade")
        if self.grades is not None:
            needs_zero(self.grades, f"{name}={str(rule)!r:.60}")

    @property
    def looks(self) -> bool:
        """Whether it depends on the documents."""
        return self.grades is not None or bool({"grade", "gain", "seen"} & set(self.names))

    def of(self, rank: Any, grade: Any = 0.0, gain: Any = 0.0, seen: Any = 0.0) -> Array:
        """The probabilities at some points: arrays that go together."""
        if self.function is not None:
            points = {"rank": rank, "grade": grade, "gain": gain, "seen": seen}
            given = np.broadcast_arrays(*(points[name] for name in self.names or ("rank",)))
            used = [np.array(part, np.float64) for part in given]
            try:
                if not self.names:
                    return np.broadcast_to(np.asarray(self.function(*used), np.float64), used[0].shape)
                out = self.function(**dict(zip(self.names, used, strict=True)))
                return np.broadcast_to(np.asarray(out, np.float64), used[0].shape)
            except MeasureError:
                raise
            except Exception as error:
                raise MeasureError(f"{self.name}: its function failed with {type(error).__name__}: {error}") from error
        row = np.searchsorted(self.ranks, rank, side="right") - 1
        if self.grades is None:
            return np.asarray(self.values[row, 0])
        place = np.searchsorted(self.grades, np.nan_to_num(np.asarray(grade, np.float64), nan=0.0), side="right") - 1
        place = np.maximum(place, 0, out=place) if isinstance(place, np.ndarray) else max(place, 0)
        return np.asarray(self.values.take(place + row * self.grades.size if self.ranks.size > 1 else place))

    def at(self, n: int, grades: Any = 0.0, gains: Any = 0.0) -> Array:
        """The probabilities at ranks 1 to n, of documents of these grades and gains."""
        out = self.of(np.arange(1.0, n + 1.0), grades, gains)
        return out if out.shape[-1:] == (n,) else np.full(n, out)

    @property
    def spelled(self) -> int:
        """The number of ranks that are spelled out."""
        return int(self.ranks[-1])

    @property
    def outside(self) -> float:
        """The probability at every rank beyond a list."""
        if self.function is not None:
            raise MeasureError(
                f"{self.name}: an endless list needs a probability for all ranks beyond it, not a function"
            )
        return float(self.of(np.inf))


def _arguments(function: Callable[..., Any], name: str) -> tuple[str, ...]:
    """The names of a function's arguments; none if it has one, whatever its name, which is the rank."""
    import inspect

    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # of a part of NumPy, say
        return ()
    names = tuple(x.name for x in found if x.name in _POINTS and x.kind not in (x.VAR_POSITIONAL, x.VAR_KEYWORD))
    others = [x.name for x in found if x.name not in _POINTS and x.default is x.empty and x.kind != x.VAR_KEYWORD]
    if others and (names or len(others) > 1):
        raise MeasureError(
            f"{name}: a function of {', '.join((*names, *others))}, expected one of {', '.join(_POINTS)}"
        )
    return names


def _wide(part: Array, n: int) -> Array:
    """What is known of the documents of some lists, for n ranks; 0 beyond."""
    return part[:, :n] if part.shape[1] >= n else np.pad(part, ((0, 0), (0, n - part.shape[1])))


class Walk:
    """A user who walks back and forth, and stops.

    Parameters
    ----------
    forward, back : float, sequence, mapping or callable
        p and q: one number, numbers by rank (the last one holds further down), ``{grade: probability}``,
        ``{rank: {grade: probability}}`` (a row holds to the next), or a function of the ranks, or of arguments named
        ``rank``, ``grade``, ``gain`` and ``seen`` (gained so far, repeats and this visit included).
    first : {"forward", "stop"}
        What happens at rank 1 instead of going back: FF20's Figure 1d has the former, its Appendix C the latter.
    start : sequence of float, optional
        The probabilities of starting at ranks 1, 2, …; without it, at rank 1. On a shorter list users who would start
        beyond its end start at its last rank.
    beyond : {"stop", "endless"}
        At the last rank the forward step is a stop; or the list goes on for ever, with nothing to gain.
    utility : Utility
        What the k-th visit to a document is worth.
    effort : Effort
        What the whole gain is divided by after h visits.
    per : {"list", "endless"}
        Order 2 divides by E[f(H)] on the list at hand, or on an endless one, in the spirit of RBP (FF20, Appendix C):
        then what stands at the end of a list does not depend on how long it is.
    timing : Timing, optional
        The whole gain is divided by the time that the visits take, and not by ``effort``.

    Examples
    --------
    >>> from amble.users.walk import Walk
    >>> on_list = Walk(0.5, 0.25).over(10)
    >>> round(on_list.expected_depth, 12)
    3.974132704614
    """

    depth: int | None = None  # no rank is the last that is ever looked at
    has_order1 = True
    sees_beyond = False  # there every document is as one without a grade
    story = ""

    def __init__(
        self,
        forward: Rule = 0.5,
        back: Rule = 0.25,
        *,
        first: Literal["forward", "stop"] | str = "forward",
        start: Sequence[float] | None = None,
        beyond: Literal["stop", "endless"] | str = "stop",
        utility: Utility | None = None,
        effort: Effort | None = None,
        per: Literal["list", "endless"] | str = "list",
        timing: Timing | None = None,
    ) -> None:
        self.forward, self.back = Probabilities(forward, "p"), Probabilities(back, "q")
        one_of(first, ("forward", "stop"), "first", MeasureError)
        one_of(beyond, ("stop", "endless"), "beyond", MeasureError)
        one_of(per, ("list", "endless"), "per", MeasureError)
        self.first, self.beyond, self.per = first, beyond, per
        self.utility = utility or Utility()
        self.effort = effort or Effort()
        self.timing = timing
        self.start = checked_start(start)
        if per == "endless" and self.looks_at_documents:
            raise MeasureError("per='endless': a user who looks at the grades or the costs needs a list to look at")
        self._check()
        if per == "endless":
            self.endless()  # may refuse

    def _check(self) -> None:
        """What can be said before a list is seen."""
        p, q = self.forward, self.back
        if p.function is None and q.function is None and not _UNCHECKED.get():
            grades = {grade for c in (p, q) if c.grades is not None for grade in c.grades.tolist()} or {0.0}
            n = max(p.spelled, q.spelled)
            stopping = 0.0  # the largest probability of stopping
            for grade in grades:
                a, b = p.at(n, grade), q.at(n, grade)
                _check_steps(a, b)
                stopping = max(stopping, float(stops(a, b).max()), float(b[0]) if self.first == "stop" else 0.0)
            outside = 0.0 if self.beyond == "stop" else float(stops(np.array([p.outside]), np.array([q.outside]))[0])
            forth = bool((p.values > 0).any())
            comes = self.beyond == "stop" and bool((p.values > 0).all())  # to the end of the list, which ends the walk
            if stopping < _NEVER and not comes and (bool((q.values > 0).any()) or not forth):
                raise MeasureError(_NEVER_STOPS)
            if self.beyond == "endless" and outside < _NEVER and forth:
                raise MeasureError("p + q = 1 at every rank beyond the list: the user never stops there")

    @property
    def ends(self) -> bool:
        """Whether the walk goes no further than the list."""
        return self.beyond != "endless"

    @property
    def looks_at_others(self) -> bool:
        """Whether other lists have a part in a score, in its last bits: means are summed, integrals cut for all."""
        return not self.looks_at_documents and (self.timing is not None or self.effort.power != 0)

    @property
    def is_static(self) -> bool:
        """Whether the user ignores the grades, and a gain is worth the same whatever its size."""
        return not self.looks_at_documents and self.utility.separable

    @classmethod
    def looking(cls, function: Callable[..., Walk], names: tuple[str, ...], stops: str | None) -> Walk:
        """The walk that does, at every visit, what a function of what is seen there says."""
        others = [name for name in names if name not in _POINTS]
        if others:
            raise MeasureError(f"a walk that depends on {', '.join(others)}: expected rank, grade, gain or seen")

        def walk(seen: dict[str, Array]) -> Walk:
            token = _UNCHECKED.set(True)
            try:
                return function(**{name: np.ravel(part) for name, part in seen.items()})
            finally:
                _UNCHECKED.reset(token)

        def part(which: str, **seen: Array) -> Array:
            rule: Probabilities = getattr(walk(seen), which)
            shape = next(iter(seen.values())).shape
            if rule.function is not None or rule.grades is not None or rule.values.size not in (1, math.prod(shape)):
                raise MeasureError(f"{rule.name}: expected a number for each of the {math.prod(shape)} that is seen")
            return rule.values[0, 0] if rule.values.size == 1 else rule.values.reshape(shape)

        out = copy.copy(walk({name: np.array([float(name == "rank")]) for name in names}))
        out.forward, out.back = (
            Probabilities(partial(part, which), name, names) for which, name in (("forward", "p"), ("back", "q"))
        )
        return out

    # ---- what measures ask

    def check(self, question: Question) -> None:
        """Raise an error if the question is none to a walk."""
        if question is not Question.ORDER1 and not question.about_visits:
            raise MeasureError(f"a walk has the question order1, order2 or total, not {question.value}")

    def scores(self, question: Question, gains: Gains) -> Array:
        """The answer of every list."""
        if question is Question.ORDER1:
            return score_walks(self, gains, rate=True).rate
        found = score_walks(self, gains)
        return found.total if question is Question.TOTAL else found.total / mean_efforts(self, gains, found)

    mean_scores = staticmethod(mean_scores)  # of a population

    def totals(self, gains: Gains) -> tuple[Array, Array]:
        """E[T] and E[H] of every list."""
        found = score_walks(self, gains)
        return found.total, found.depth

    def costs(self, gains: Gains) -> Array:
        """The expected cost of the visits, of every list."""
        if gains.lists.costs is None:
            return self.totals(gains)[1]
        other = copy.copy(self)
        other.timing = Timing(COSTS)
        return score_walks(other, gains).time

    def unseen(self, question: Question, gains: Gains, gain: float) -> Array:
        """What documents beyond each list, down to its cut, would add to the score, if each gained ``gain``."""
        lists = gains.lists
        if self.beyond != "endless":
            return np.zeros(lists.n)
        order, k, lengths = question.order, lists.cut, lists.length.tolist()
        return np.array([self.on(gains, i).worth_beyond(n, order, gain, k) for i, n in enumerate(lengths)])

    def on(self, gains: Gains, i: int) -> WalkOnList:
        """The walk over list i; lists of one length share it, where it does not depend on their documents."""
        lists, n = gains.lists, int(gains.lists.length[i])
        if not self.looks_at_documents:
            key = "walk", self, n
            if key not in gains.made:
                gains.made[key] = self._over(n)
            return cast(WalkOnList, gains.made[key])
        return self._over(n, lists.grades_by_rank(i)[None, :], gains.by_rank(i)[None, :], lists, np.array([i]))

    def distribution(self, question: Question, gains: Gains, i: int) -> Distribution:
        """The exact distribution of T / f(H) on list i."""
        return self.on(gains, i).distribution(gains.by_rank(i))

    def worth(self, question: Question, gains: Gains, i: int) -> tuple[Array, bool]:
        """What a gain of 1 at each rank of list i adds; of gains whose worth depends on their size, theirs."""
        on_list, y = self.on(gains, i), gains.by_rank(i)
        if self.adaptive:
            return cast("AdaptiveWalkOnList", on_list).worth(question), True
        if question is Question.ORDER1 and self.utility.separable:  # per second some may be infinite where none gains
            return on_list.order1_weights(None if self.timing is None else y), True
        score = on_list.order1 if question is Question.ORDER1 else on_list.total
        out = np.zeros(y.size)
        for k in np.flatnonzero(y).tolist():
            alone = np.zeros(y.size)
            alone[k] = y[k]
            out[k] = score(alone) / y[k]
        if question is Question.ORDER2 and y.any():
            out = out * (on_list.order2(y) / on_list.total(y))
        return out, True

    def follower(self, gains: Gains, lists: list[int], seed: int) -> Follower:
        """Simulated readers of some lists."""
        if self.adaptive:
            return cast("AdaptiveWalkOnList", self.on(gains, lists[0])).follower(seed)
        from amble.users.simulation import WalkFollower  # scores do without its engine

        return WalkFollower(self.on(gains, lists[0]), [gains.by_rank(i) for i in lists], seed)

    # ---- on lists

    def endless(self) -> Walk:
        """The same user where the list goes on for ever."""
        other = copy.copy(self)
        other.beyond = "endless"
        other._check()
        return other

    def endless_effort(self) -> float:
        """E[f(H)] where the list goes on for ever."""
        return self.endless().over(max(self.forward.spelled, self.back.spelled)).mean_effort

    @property
    def looks(self) -> bool:
        """Whether p or q depends on the documents."""
        return self.forward.looks or self.back.looks

    @property
    def adaptive(self) -> bool:
        """Whether p or q depends on what was gained so far."""
        return "seen" in self.forward.names + self.back.names

    @property
    def looks_at_documents(self) -> bool:
        """Whether p, q or the seconds depend on the documents: on their grades, or on their costs."""
        return self.looks or (self.timing is not None and self.timing.looks)

    @property
    def furthest(self) -> int:
        """A rank that is reached with a probability below 1e-18, whatever the grades; a large number if not known."""
        if self.beyond == "endless" or self.forward.function is not None or self.back.function is not None:
            return _FURTHEST
        on = float(self.forward.values.max() + self.back.values.max())  # after every visit, at most
        return min(_FURTHEST, self.start.size + math.ceil(math.log(1e-18) / math.log(on))) if 0 < on < 1 else _FURTHEST

    def chain(self, length: Array, grades: Array | None = None, gains: Array | None = None) -> BirthDeathChain:
        """The chains of lists of some lengths; with grades and gains (lists x ranks) where p or q depends on them."""
        n = max(int(np.max(length, initial=0)), 1)
        if self.beyond == "endless":  # all that is said by rank is spelled out, however short the list is
            n = max(n, self.start.size, self.forward.spelled, self.back.spelled)
            n = n if self.timing is None else max(n, self.timing.spelled)
        seen = [0.0 if part is None else _wide(part, n) for part in (grades, gains)]
        lists = np.size(length)
        p, q = (np.broadcast_to(c.at(n, *seen), (lists, n)) for c in (self.forward, self.back))
        if self.looks or self.forward.function is not None or self.back.function is not None:
            _check_steps(p, q)
            stopping = max(float(stops(p[0], q[0]).max()), float(q[0, 0]) if self.first == "stop" else 0.0)
            if not self.looks and stopping < _NEVER and q.any() and not p.all():
                raise MeasureError(_NEVER_STOPS)
        beyond = (self.forward.outside, self.back.outside) if self.beyond == "endless" else None
        return chain_on_lists(p, q, length, self.start, self.first, beyond)

    def clock(
        self, n: int, grades: Array | None = None, lists: Lists | None = None, some: Array | None = None
    ) -> Clock | None:
        """The seconds of visits to n ranks of some lists, given their grades, or the lists if they have costs."""
        timing = self.timing
        if timing is None:
            return None
        if timing.seconds == COSTS:
            if lists is None or lists.costs is None or some is None:
                raise MeasureError(NO_COSTS)
            return Clock(timing, lists.costs.stretch(some, 0, n), np.full(some.size, lists.costs.beyond))
        means = np.atleast_2d(timing.means(n, None if grades is None else _wide(grades, n)))
        beyond = means[:1, -1] if not timing.looks else timing.means(1)
        return Clock(timing, means, beyond)

    def over(self, n: int, grades: Any = None, gains: Any = None) -> WalkOnList:
        """The walk over one list of n documents (with these grades, where p, q or the seconds depend on them).

        With ``gains``, where p or q depends on them, or on what was gained so far; without, they are the grades.
        """
        if not is_whole(n) or n < 0:
            raise MeasureError(f"over({n!r:.60}): expected how many documents the list has")
        seen, worth = (None if x is None else np.array(x, np.float64, ndmin=2) for x in (grades, gains))
        for x in (seen, worth):
            if x is not None and x.shape[1] > max(n, 1):
                raise MeasureError(f"over({n}): {x.shape[1]} grades, expected at most as many as documents")
        if worth is None and seen is not None:
            worth = np.nan_to_num(np.maximum(seen, 0.0))
        return self._over(n, seen, worth)

    def _over(
        self,
        n: int,
        grades: Array | None = None,
        gains: Array | None = None,
        lists: Lists | None = None,
        some: Array | None = None,
    ) -> WalkOnList:
        if self.adaptive:
            from amble.users.adaptive_walk import AdaptiveWalkOnList  # most walks do without

            n = max(n, 1)
            seen, worth = (np.zeros(n) if x is None else _wide(x, n)[0] for x in (grades, gains))
            return AdaptiveWalkOnList(self, seen, worth, self.clock(n, grades, lists, some))
        chain = self.chain(np.array([n]), *((grades, gains) if self.looks else ()))
        clock = self.clock(chain.forward.shape[1], grades, lists, some)
        on_list = WalkOnList(chain, self.utility, self.effort, clock)
        if self.per == "endless" and self.beyond != "endless":
            on_list.mean_effort = self.endless_effort()
        return on_list
