"""What measures ask of users: the questions, what every user answers, and what is known of a user on one list.

A measure puts its question to a reader. A `Scorer` gives a number for every list, and no more (bpref, counts). A `User`
answers everything else, too: gain and effort, behaviour on a list, the distribution of the score, simulated readers.
Nobody asks a reader for its type.
"""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from amble.arrays import NDArray
from amble.errors import MeasureError
from amble.rankings.lists import Gains
from amble.table import Table, Tabled
from amble.users.effort import Effort
from amble.users.paths import check_path, times_before
from amble.users.utility import Utility

if TYPE_CHECKING:
    from amble.distributions.distribution import Distribution

__all__ = [
    "ANSWERS", "BY_RANK", "Follower", "NoExactDistributionError", "OnList", "Paths", "Question", "Scorer", "TiedError",
    "User",
]  # fmt: skip

# what every user has; a function that returns something else is told what is missing
ANSWERS = (
    *("scores", "check", "totals", "costs", "unseen", "on", "distribution", "worth", "follower", "looking"),
    *("ends", "depth", "is_static", "has_order1", "sees_beyond", "story"),
)

Array = NDArray[np.float64]


class Question(Enum):
    """What is computed for a user who stops after H documents with a gain of T.

    >>> Question("order2").about_visits, Question.ORDER1.score(3.0, 4.0)
    (True, 0.75)
    """

    ORDER1 = "order1"
    ORDER2 = "order2"
    TOTAL = "total"
    SATISFIED = "satisfied"
    SATISFIED2 = "satisfied2"
    MARKOV = "markov"

    @property
    def text(self) -> str:
        """The question in words."""
        return _TEXTS[self]

    @property
    def about_visits(self) -> bool:
        """Whether only the visits matter, not where the last one is."""
        return self in (Question.ORDER2, Question.TOTAL)

    @property
    def order(self) -> int:
        """1 for a mean of ratios, 2 for a ratio of means (or the gain alone)."""
        return 1 if self is Question.ORDER1 else 2

    def score(self, total: Any, effort: Any) -> Any:
        """The score of a user who gained ``total`` by an ``effort``: per document, in all, or 1 / effort."""
        if self is Question.TOTAL:
            return total + 0.0
        return 1.0 / effort if self.about_satisfaction else total / effort

    @property
    def about_satisfaction(self) -> bool:
        """Whether T is 1 for a user who stops at a document of the list, whatever it gains."""
        return self in (Question.SATISFIED, Question.SATISFIED2)

    def gained(self, paths: Paths, column: int) -> Array:
        """T of simulated readers on a list: what was gained, or 1 for those who were satisfied."""
        if not self.about_satisfaction:
            return np.asarray(paths.total[:, column])
        out = np.ones(paths.visits.size)
        out[paths.nothing] = 0.0
        return out


_TEXTS = {
    Question.ORDER1: "expected gain per document, E[T/H] (order 1)",
    Question.ORDER2: "expected gain over expected effort, E[T]/E[H] (order 2)",
    Question.TOTAL: "expected gain, E[T]",
    Question.SATISFIED: "expected reciprocal rank of the document that satisfies the user, E[1/H; satisfied]",
    Question.SATISFIED2: "probability of being satisfied over expected effort, P[satisfied]/E[H] (order 2)",
    Question.MARKOV: "mean precision over the visits to relevant documents",
}


# the columns of `OnList.by_rank`, of all kinds of users, in their order
BY_RANK = ("relevant", "p", "q", "s", "C", "reach", "V", "returns", "everywhere", "W", "L", "precision")


class NoExactDistributionError(MeasureError):
    """Raised where there is no exact distribution that a computer could hold."""


class TiedError(MeasureError):
    """A score has no closed form of its mean over all orders of tied documents."""

    def __init__(self) -> None:
        super().__init__(
            "no closed form for ties='expected'; use ties='docno' (P, R, AP, RR, nDCG have one, and E[T] and E[T]/E[H] "
            "of users who do not look at the grades)"
        )


class OnList(Tabled, ABC):
    """A user on one list: what every kind of user can tell of it.

    Attributes
    ----------
    stops : bool
        Whether there is a last rank; a Markov user has none.
    utility, effort : Utility, Effort
        What the k-th visit to a document is worth, and what the gain is divided by.
    """

    stops = True
    utility, effort = Utility(), Effort()

    @property
    @abstractmethod
    def weights(self) -> Array:
        """The share of attention that each rank gets."""

    @abstractmethod
    def residual(self, k: int) -> float:
        """The share of attention that goes beyond rank k."""

    @property
    def exposure(self) -> Array:
        """The expected visits to each rank; of a user who never stops, the share of all visits."""
        return np.asarray(getattr(self, "visits"))  # noqa: B009

    @property
    def transition_matrix(self) -> Array:
        """The probabilities of going from rank to rank; what a row lacks to 1 stops there, or leaves the list."""
        raise MeasureError("this user has no transition matrix")

    @property
    def states(self) -> list[Any]:
        """The ranks of the rows and columns of `transition_matrix`."""
        return list(range(1, self.weights.size + 1))

    @property
    def by_rank(self) -> dict[str, Any]:
        """What is shown of each rank, by the name of its column."""
        names = {"C": "continuation", "V": "visits", "W": "weights", "L": "last"}
        return {column: getattr(self, name) for column, name in names.items()}

    def table(self, *, digits: int = 4, depth: int = 20) -> Table:
        """What is known of the first ranks: a row for each, with the share of attention that goes beyond it."""
        n, known = min(depth, self.weights.size), self.by_rank
        columns = [name for name in BY_RANK if name in known]
        rows: list[list[Any]] = [
            [
                i + 1,
                *(x if isinstance(x := known[name][i], str) else float(x) for name in columns),
                self.residual(i + 1),
            ]
            for i in range(n)
        ]
        caption = repr(self) + f", the first {n}" * (n < self.weights.size)
        return Table(["rank", *columns, "residual"], rows, digits=digits, caption=caption)

    def __repr__(self) -> str:
        n = self.weights.size
        shown = f"{n} rank{'s' * (n != 1)}"
        if self.stops:
            with contextlib.suppress(MeasureError):
                return f"{type(self).__name__}({shown}, expected depth {getattr(self, 'expected_depth'):.6g})"  # noqa: B009
        return f"{type(self).__name__}({shown}{'' if self.stops else ', never stops'})"

    def depth_distribution(self) -> Distribution:
        """The distribution of H, where it is known exactly."""
        raise NoExactDistributionError("the distribution of the number of visits of this user is not known exactly")

    def total_distribution(self, gains: Any) -> Distribution:
        """The distribution of T, where it is known exactly."""
        raise NoExactDistributionError("the distribution of the gain of this user is not known exactly")

    @property
    def depth_var(self) -> float:
        """Var[H]."""
        return self.depth_distribution().var

    def total(self, gains: Any) -> float:
        """E[T]."""
        return self.total_distribution(gains).mean

    def total_var(self, gains: Any) -> float:
        """Var[T]."""
        return self.total_distribution(gains).var

    @property
    def furthest(self) -> int | None:
        """The last rank that can be visited; None if there is none."""
        return self.weights.size

    @property
    def end(self) -> str:
        """What becomes of who does not go on to another rank of the list, in words."""
        return "stop" if self.furthest is not None else "stop, or further down"

    def check_path(self, path: Any) -> NDArray[np.int64]:
        """The ranks of an observed path; an error if such a user cannot take it."""
        return check_path(path, self.furthest)

    def gained(self, path: NDArray[np.int64], gains: Array) -> tuple[float, float]:
        """T and f(H) of a reader who visited the ranks of a path, given the gains by rank."""
        met = path <= gains.size
        before = times_before(path)[met]
        distinct, kind = np.unique(gains[path[met] - 1], return_inverse=True)
        worth = self.utility.values(distinct, int(before.max(initial=0)) + 1)
        return float(worth[kind, before].sum()), float(self.effort(np.array([float(path.size)]))[0])


class Paths(NamedTuple):
    """Some simulated readers: what each gained on each list (readers x lists), visits, effort, and who got nothing."""

    total: Array
    visits: NDArray[Any]
    effort: Array
    nothing: NDArray[np.bool_] | slice = slice(0)


class Follower(Protocol):
    """Simulated readers of some lists: those of given numbers, always the same."""

    def batch(self, users: int, threads: int) -> int:
        """How many readers are followed together; an error if ``users`` would take too many steps."""

    def __call__(self, first: int, count: int) -> Paths:
        """The readers ``first`` to ``first + count - 1``."""

    def paths(self, first: int, count: int) -> list[NDArray[np.int32]]:
        """The ranks that each of these readers visits, one after another."""


class Scorer(Protocol):
    """A reader with a number for every list, and no more."""

    def scores(self, question: Question, gains: Gains) -> Array:
        """The answer of every list."""


class User(Scorer, Protocol):
    """A reader who is a user."""

    @property
    def ends(self) -> bool:
        """Whether the user looks no further than the end of the list."""

    @property
    def depth(self) -> int | None:
        """The last rank that is ever looked at, if there is one."""

    @property
    def is_static(self) -> bool:
        """Whether the user ignores the grades, so that all lists of a length are read alike."""

    @property
    def has_order1(self) -> bool:
        """Whether E[T/H] of any list is computed without its distribution, however far the user reads."""

    @property
    def sees_beyond(self) -> bool:
        """Whether what the user does beyond a list depends on what could be there."""

    @property
    def story(self) -> str:
        """The behaviour in words; empty if the declaration's story says it all."""

    def check(self, question: Question) -> None:
        """Raise an error if the question is none to such a user."""

    def looking(self, function: Callable[..., Any], names: tuple[str, ...], stops: str | None) -> User:
        """The user who does on each list, or at each rank, what a function of what is seen there returns."""

    def totals(self, gains: Gains) -> tuple[Array, Array]:
        """E[T] and E[H] of every list."""

    def costs(self, gains: Gains) -> Array:
        """The expected cost of the documents that the user looks at, of every list."""

    def unseen(self, question: Question, gains: Gains, gain: float) -> Array:
        """What documents beyond each list (down to its cut) would add to the answer, if each gained ``gain``."""

    def on(self, gains: Gains, i: int) -> OnList:
        """The behaviour on list i."""

    def distribution(self, question: Question, gains: Gains, i: int) -> Distribution:
        """The exact distribution of the score of list i; NoExactDistributionError where there is none."""

    def worth(self, question: Question, gains: Gains, i: int) -> tuple[Array, bool]:
        """What each rank of list i adds to the answer, and whether that is per unit of gain or for stopping there."""

    def follower(self, gains: Gains, lists: list[int], seed: int) -> Follower:
        """Simulated readers of some lists, which have one length, and are one list unless `is_static`."""
