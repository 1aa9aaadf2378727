"""Users who walk down a ranking, rank by rank, and stop (the C/W/L framework).

Write only one of these, and the others follow (ranks from 1):

* C(i), the probability of going on after rank i (``continuation``);
* V(i) = C(1) ... C(i-1), the probability of reaching rank i (``visits``);
* L(i) = V(i) (1 - C(i)), the probability that i is the last rank seen (``last``);
* W(i) = V(i) / sum V, the share of attention that rank i gets (``weights``);
* s(i), where C(i) = ((i + s) / (i + s + 1))^2 (``shift``), or to another ``power``: the family of INSQ and INST.

Expected depth is sum V = 1 / W(1). What happens beyond the list is said by ``beyond``: the user stops at its end,
leaves with nothing, or reads on for ever (then C is one number, or the user is of the ``shift`` family, or the tail is
given: it has a closed form, or is summed, never cut).
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from amble.arrays import NDArray
from amble.checks import one_of, whole
from amble.distributions.distribution import Distribution
from amble.errors import MeasureError
from amble.rankings.lists import Gains
from amble.users.behaviour import TOLERANCE, Behaviour, check_probabilities, distribution_of_stops, inverse_power
from amble.users.effort import Effort
from amble.users.forward_dense import behaviour_on, follow_dense
from amble.users.forward_sparse import at_hits, score_stops, totals_of_pieces, totals_of_survivors
from amble.users.forward_static import Static, followed
from amble.users.protocol import Question, TiedError
from amble.users.tails import Geometric, InversePower, Tail

if TYPE_CHECKING:
    from amble.users.protocol import Follower

__all__ = ["Behaviour", "Forward", "ForwardReader", "LookingForward"]

Array = NDArray[np.float64]
Rule = float | Array | Callable[[Array], Array]

Beyond = Literal["stop", "nothing", "endless"]
_KINDS = ("continuation", "visits", "last", "weights", "shift")  # what a user may be declared by


class ForwardReader(ABC):
    """What every user who walks down answers, from the behaviour on a list or, of many lists, as quickly as can be.

    One who does not look at the grades has one vector of weights for all lists; one who stops, or changes, only at
    gains is followed from gain to gain; any other, rank by rank.
    """

    story = ""
    once = True  # a rank is looked at once at most
    stops: str | None = None  # "gain" or "piecewise": where alone the user stops, or changes behaviour
    effort = Behaviour.effort
    ends: bool
    depth: int | None

    @abstractmethod
    def _static(self, costs: Any) -> Static | None:
        """The user who looks neither at grades nor at these costs; None if this one does."""

    @abstractmethod
    def _looking(self) -> tuple[Callable[..., Forward], tuple[str, ...]]:
        """The user as a function of what is seen at a rank, and the names of its arguments."""

    @abstractmethod
    def _on(self, gains: Gains, i: int) -> Behaviour:
        """The behaviour on list i, but for the effort."""

    @property
    def is_static(self) -> bool:
        """Whether the user ignores the grades."""
        return self._static(None) is not None

    @property
    def has_order1(self) -> bool:
        """Whether E[T/H] is a weight of each rank, the same for all lists: the user looks at neither grades nor end."""
        return self.is_static and not self.ends

    @property
    def sees_beyond(self) -> bool:
        """Whether the user reads on beyond the list, and looks at the grades there."""
        return not self.ends and not self.is_static

    def paying(self, effort: Effort) -> Self:
        """The same user, where the gain is divided by f(H), not by H."""
        other = copy.copy(self)
        other.effort = effort
        return other

    def on(self, gains: Gains, i: int) -> Behaviour:
        """The behaviour on list i."""
        out = self._on(gains, i)
        out.effort = self.effort
        return out

    def check(self, question: Question) -> None:
        """Raise an error if the question is one to a user who never stops."""
        if question is Question.MARKOV:
            raise MeasureError("the question is 'markov', so the user must be a MarkovUser; found Forward")

    def scores(self, question: Question, gains: Gains) -> Array:
        """The answer of every list."""
        static = self._static(gains.lists.costs)
        if static is not None and (question.about_visits or (question is Question.ORDER1 and not static.ends)):
            return static.scores(question, gains, self.effort)
        if gains.lists.ties is not None:
            raise TiedError
        function, names = self._looking()
        if question.about_visits or question is Question.SATISFIED2:
            if question is Question.SATISFIED2 or self.effort != Effort():
                total, spent = follow_dense(function, names, question, gains, self.effort)
            else:
                total, spent = self._followed(gains)
            return total if question is Question.TOTAL else total / np.where(spent > 0, spent, 1.0)
        if self.stops == "gain":
            user = function(**at_hits(gains, names))
            if user.survival is None:
                return score_stops(user, question, gains, self.effort)
        return follow_dense(function, names, question, gains, self.effort)[0]

    def totals(self, gains: Gains) -> tuple[Array, Array]:
        """E[T] and E[H] of every list."""
        static = self._static(gains.lists.costs)
        return self._followed(gains) if static is None else static.totals(gains)

    def _followed(self, gains: Gains, *, inside: bool = False) -> tuple[Array, Array]:
        """E[T] and E[H] of every list, or ``inside`` of its own ranks, of a user who looks at the grades."""
        function, names = self._looking()
        if gains.lists.costs is None:
            if self.stops == "piecewise":
                if ("pieces", function) not in gains.made:
                    gains.made["pieces", function] = totals_of_pieces(function, names, gains)
                total, depth, within = gains.made["pieces", function]
                return total, within if inside else depth
            if self.stops == "gain":
                user = function(**at_hits(gains, names))
                if user.survival is not None:
                    return totals_of_survivors(user, gains, inside=inside)
        return follow_dense(function, names, Question.TOTAL, gains, inside=inside)

    def costs(self, gains: Gains) -> Array:
        """The expected cost of the documents that the user looks at, of every list."""
        return follow_dense(*self._looking(), None, gains)[0]

    def unseen(self, question: Question, gains: Gains, gain: float) -> Array:
        """What documents beyond each list, down to its cut, would add to E[T]/E[f(H)], if each gained ``gain``."""
        lists = gains.lists
        static = self._static(lists.costs)
        if self.ends or (question is not Question.ORDER2 and (question is not Question.ORDER1 or static is None)):
            return np.zeros(lists.n)
        if static is not None and question is Question.ORDER1:
            user = static.over(max(int(lists.length.max(initial=0)), lists.cut or 1))
            user.effort = self.effort
            upto = np.append(0.0, np.cumsum(user.worth))
            end = user.rate if lists.cut is None else upto[lists.cut]
            return np.asarray(gain * np.maximum(end - upto[lists.length], 0.0))
        if static is not None:
            user = static.over(max(int(lists.length.max(initial=0)), 1))
            lengths, at = np.unique(lists.length, return_inverse=True)
            user.effort = self.effort
            per = user.expected_depth / user.mean_effort
            return gain * per * np.array([user.between(n, lists.cut) for n in lengths.tolist()])[at]
        depth, inside = self.totals(gains)[1], self._followed(gains, inside=True)[1]
        rest = np.where((depth > 0) & (lists.length < (lists.cut or np.inf)), depth - inside, 0.0)
        return np.asarray(gain * rest / np.where(depth > 0, depth, 1.0))

    def distribution(self, question: Question, gains: Gains, i: int) -> Distribution:
        """The distribution of the score of list i over users."""
        behaviour = self.on(gains, i)
        return distribution_of_stops(behaviour, gains.by_rank(i, behaviour.visits.size), question)

    def worth(self, question: Question, gains: Gains, i: int) -> tuple[Array, bool]:
        """What a gain of 1 at each rank of list i adds, or what stopping there adds (False)."""
        behaviour = self.on(gains, i)
        if question is Question.ORDER2:
            return behaviour.visits / behaviour.mean_effort, True
        if question is Question.TOTAL:
            return behaviour.visits, True
        if question is Question.SATISFIED2:
            return behaviour.last / behaviour.mean_effort, False
        spent = self.effort(np.arange(1.0, behaviour.visits.size + 1.0))
        if question is Question.SATISFIED:
            return np.asarray(behaviour.last / spent), False
        if self.stops == "gain":
            return np.asarray(behaviour.last * np.cumsum(gains.by_rank(i, spent.size)) / spent), False
        return behaviour.worth, True

    def follower(self, gains: Gains, lists: list[int], seed: int) -> Follower:
        """Simulated readers of some lists."""
        from amble.users.simulation import ForwardFollower  # scores do without its engine

        return ForwardFollower(self.on(gains, lists[0]), [gains.by_rank(i) for i in lists], seed)


class Forward(ForwardReader):
    """A user who walks down, declared by one of C, V, L, W or s.

    Parameters
    ----------
    continuation, visits, last, weights, shift : float, array or function of the ranks
        Exactly one of them.
    survival : array, optional
        The probability of going on in spite of the gain at each rank: C is what was declared, times this.
    mass : float, optional
        With ``last``: what it is to be divided by (AP stops at a relevant document with probability 1 / R: last is 1
        there, the mass R; kept apart, the division comes last and is exact).
    depth : int, optional
        The last rank that is ever looked at.
    beyond : {"stop", "nothing", "endless"}
        At the end of the list the user stops there, leaves with nothing, or reads on for ever.
    power : float
        With ``shift``: the power to which C is taken.
    tail : Tail, optional
        How the user reads on for ever, where C is not one number; from rank ``least`` on.

    Examples
    --------
    >>> from amble.users.forward import Forward
    >>> user = Forward(continuation=0.8, beyond="endless").over(3)
    >>> user.weights.round(3), round(user.expected_depth, 9)
    (array([0.2  , 0.16 , 0.128]), 5.0)
    """

    def __init__(
        self,
        *,
        continuation: Rule | None = None,
        visits: Rule | None = None,
        last: Rule | None = None,
        weights: Rule | None = None,
        shift: Rule | None = None,
        survival: Any = None,
        mass: Any = None,
        depth: int | None = None,
        beyond: Beyond = "stop",
        power: float = 2.0,
        tail: Tail | None = None,
        least: int = 1,
    ) -> None:
        rules = (continuation, visits, last, weights, shift)
        given = [pair for pair in zip(_KINDS, rules, strict=True) if pair[1] is not None]
        if len(given) != 1:
            raise MeasureError(f"a forward user is declared by one of {', '.join(_KINDS)}; found {len(given)} of them")
        self.kind: str = given[0][0]
        self.rule: Any = given[0][1]
        self.survival = survival
        self.mass = mass
        self.depth = depth
        self.beyond = beyond
        self.power, self.tail, self.least = power, tail, least
        one_of(beyond, ("stop", "nothing", "endless"), "beyond", MeasureError)
        if depth is not None:
            whole(depth, "depth", kind=MeasureError)
        if self.kind == "continuation" and isinstance(self.rule, int | float) and not np.isnan(self.rule):
            check_probabilities(np.asarray(self.rule, np.float64), 1)
            if beyond == "endless" and depth is None and self.rule >= 1 and survival is None:
                raise MeasureError("a user who always goes on never stops; say depth=, or beyond='stop'")
        if beyond == "endless" and self.kind not in ("shift", "continuation") and tail is None:
            raise MeasureError(f"a user declared by {self.kind} has no closed form for reading on for ever")

        self.ends = depth is None and beyond != "endless"  # looks no further than the list goes

    @classmethod
    def looking(cls, function: Callable[..., Forward], names: tuple[str, ...], stops: str | None) -> LookingForward:
        """The user who, at every rank, does what a function of what is seen there says."""
        return LookingForward(function, names, stops)

    def replaced(self, **changes: Any) -> Forward:
        """The same user declared by another of C, V, L, W and s, or with another ``survival``."""
        given: dict[str, Any] = {self.kind: self.rule, "survival": self.survival, "mass": self.mass}
        if changes.keys() & {"continuation", "last"}:
            del given[self.kind], given["mass"]
        return Forward(**given | changes, depth=self.depth, beyond=self.beyond, **self._onwards)

    @property
    def _onwards(self) -> dict[str, Any]:
        return {"power": self.power, "tail": self.tail, "least": self.least}

    def _static(self, costs: Any) -> Static:
        return self._own

    @cached_property
    def _own(self) -> Static:
        return Static(self.over, ends=self.ends)

    def _looking(self) -> tuple[Callable[..., Forward], tuple[str, ...]]:
        fixed_rule = np.ndim(self.rule) == 0 and not callable(self.rule)
        if self.kind == "continuation" and fixed_rule and self.depth is None:
            return (lambda: self), ()

        def fixed(rank: Array) -> Forward:
            c = self.over(int(rank[-1]) + 1).continuation  # one more, so that the last of these is not an end
            own = c[rank.astype(np.int64) - 1]
            return Forward(continuation=own, depth=self.depth, beyond=self.beyond, **self._onwards)

        return fixed, ("rank",)

    def _on(self, gains: Gains, i: int) -> Behaviour:
        return copy.copy(self._own.on_list(int(gains.lists.length[i])))

    def values(self, ranks: Array) -> Array:
        """The declared quantity at the given ranks."""
        out = self.rule(ranks) if callable(self.rule) else self.rule
        return np.broadcast_to(np.asarray(out, np.float64), np.shape(ranks) or np.shape(out))

    def over(self, n: int) -> Behaviour:
        """The user's behaviour on a list of n documents."""
        n = max(n, self.least)
        if self.depth is not None:
            n = max(n, self.depth)
        rank = np.arange(1, n + 1, dtype=np.float64)
        x = np.array(self.values(rank))
        tail: Tail | None = None
        if self.kind == "shift":
            tail = InversePower(float(x[-1]), self.power) if self.beyond == "endless" else None
            x = inverse_power(rank, x, self.power)
        elif self.tail is not None:
            tail = self.tail
        elif self.beyond == "endless":
            if np.ndim(self.rule) > 0 or callable(self.rule):
                raise MeasureError("reading on for ever needs one probability of going on, the same at all ranks")
            tail = Geometric(float(x[-1]))
        if self.survival is not None:
            if self.kind in ("visits", "weights"):
                x = np.append(x[1:] / x[:-1], 0.0)
            elif self.kind == "last":
                raise MeasureError("a user declared by last has no survival beside it")
            x = x * np.broadcast_to(np.asarray(self.survival, np.float64), x.shape)
        if self.kind in ("continuation", "shift") or self.survival is not None:
            visits = np.cumprod(np.concatenate(([1.0], x[:-1])), dtype=np.float64)
        elif self.kind == "last":
            left = 1.0 - float(x.sum())  # those who stop at none of these ranks
            visits = np.cumsum(x[::-1])[::-1] + (left if abs(left) > TOLERANCE * 1e-3 else 0.0)
        else:
            visits = x / x[0]
        if not np.isfinite(visits).all() or (visits < -TOLERANCE).any() or not visits.any():
            raise MeasureError(f"{self.kind} does not give a probability of reaching every rank")
        if self.depth is not None:
            visits[self.depth :] = 0.0
        nxt = visits[1:]
        with np.errstate(divide="ignore", invalid="ignore"):
            c = np.where(visits[:-1] > 0, nxt / visits[:-1], 0.0)
        end = 0.0
        if self.kind in ("continuation", "shift") or self.survival is not None:
            end = float(x[-1])
        elif tail is not None:
            end = tail.continuation(n)
        elif self.kind == "last":
            end = 1.0 - x[-1] / visits[-1] if visits[-1] > 0 else 0.0
        if self.depth is not None and n >= self.depth:
            c[self.depth - 1 :] = 0.0
            if n == self.depth:
                end = 0.0
        if self.beyond == "stop":
            end = 0.0
        c = np.concatenate((c, [end]))
        if (c < -TOLERANCE).any() or (c > 1 + TOLERANCE).any():
            first = int(np.flatnonzero((c < -TOLERANCE) | (c > 1 + TOLERANCE))[0])
            raise MeasureError(f"the probability of going on after rank {first + 1} is {c[first]:.6g}, expected 0 to 1")
        return Behaviour(np.clip(c, 0.0, 1.0), visits, tail)


class LookingForward(ForwardReader):
    """A user who walks down and looks: what a function of what is seen at a rank says is done there.

    Parameters
    ----------
    function : callable
        Returns a `Forward`; its arguments hold what is seen, rank by rank.
    names : tuple of str
        Of the arguments: rank, grade, gain, seen, share, cost, spent, relevant, available.
    stops : {"gain", "piecewise"}, optional
        The user stops, or changes behaviour, at gains only.
    """

    def __init__(self, function: Callable[..., Forward], names: tuple[str, ...], stops: str | None = None) -> None:
        self.function, self.names, self.stops = function, names, stops
        first = function(**first_look(names))
        self.ends, self.depth = first.ends, first.depth

    def _looking(self) -> tuple[Callable[..., Forward], tuple[str, ...]]:
        return self.function, self.names

    def _on(self, gains: Gains, i: int) -> Behaviour:
        return behaviour_on(self.function, self.names, gains, i)

    def _static(self, costs: Any) -> Static | None:
        if self._sees_grades:
            return self._blind
        return self._without_costs if costs is None else None

    @cached_property
    def _sees_grades(self) -> bool:
        return not set(self.names) <= {"rank", "spent", "cost"}

    @cached_property
    def _without_costs(self) -> Static:
        """The user of documents that all cost 1, who looks at no grades."""

        def met(m: int) -> tuple[Forward, Array]:
            rank = np.arange(1, m + 1, dtype=np.float64)
            points = {"rank": rank, "spent": rank, "cost": np.float64(1.0)}
            return self.function(**{name: points[name] for name in self.names}), np.zeros(m)

        user, _ = met(1)
        if np.ndim(user.rule) == 0 and not callable(user.rule):
            return Static(user.over, ends=user.ends)
        if user.beyond == "endless":
            return Static(lambda n: followed(met, n), ends=False)
        return Static(lambda n: met(n)[0].over(n), ends=user.ends)

    @cached_property
    def _blind(self) -> Static | None:
        """The user whose parameters switch the looking off; None if they do not."""
        if "seen" not in self.names or not set(self.names) <= {"seen", "rank"}:
            return None
        with np.errstate(invalid="ignore"):
            user = self.function(**{name: np.float64(np.nan) for name in self.names})
        fixed = np.ndim(user.rule) == 0 and not callable(user.rule) and np.isfinite(user.rule)
        return Static(user.over, ends=user.ends) if fixed and user.survival is None else None


def first_look(names: tuple[str, ...]) -> dict[str, Any]:
    """What is seen at rank 1, where nothing is gained."""
    one, none, topic = np.ones(1), np.zeros(1), np.float64(1.0)
    points = {"rank": one, "gain": none, "seen": none, "cost": 1.0, "spent": one, "relevant": topic, "available": topic}
    points |= {"share": none, "grade": none}
    return {name: points[name] for name in names}
