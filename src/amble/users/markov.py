"""Markov users: a Markov chain on the ranks of a list, and precision averaged over its stationary distribution.

Ferrante, Ferro and Maistro (2014) let a Markov chain choose the next rank. Only visits to relevant documents count, and
precision there is averaged over all of them. In the long run that is sum over the relevant ranks i of pi(i) Prec(i), pi
being the stationary distribution of the chain induced on them: Markov Precision. There is no last rank and no depth:
the user never stops.

If a visit to rank i takes 1 / mu(i) in the mean, what counts is time: pi(i) / mu(i), made to sum to 1. If the user
looks at n relevant documents only, pi is the mean distribution over these visits, given the start; the score is the
mean of n precisions.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import deepcopy
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from amble.arrays import ArrayLike, NDArray
from amble.checks import one_of, whole
from amble.distributions.distribution import Distribution
from amble.errors import MeasureError
from amble.rankings.lists import Gains
from amble.users.joint_distribution import NoExactDistributionError
from amble.users.markov_models import RESCALING, Model
from amble.users.markov_scores import best_found, score_markov
from amble.users.protocol import Follower, OnList, Question, TiedError
from amble.users.stationary import (
    check_irreducible,
    check_matrix,
    check_size,
    check_weights,
    distribution_after,
    from_logs,
    induced_chain,
    induced_chain_of_model,
    log_stationary,
    log_stationary_of_model,
    mean_occupation,
    pair_sums,
    row_sums,
    transition_probabilities,
)

if TYPE_CHECKING:
    from amble.users.finite_steps import RememberingFollower

__all__ = ["LookingMarkov", "MarkovReader", "MarkovUser", "MarkovUserOnList", "RememberingUserOnList"]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Logs = NDArray[Any]
ByRank = ArrayLike | Callable[[Array], ArrayLike]

STARTS = ("first", "uniform")


class MarkovReader(ABC):
    """What every Markov user answers; ``user_on`` is the user on a list, who may have looked at it."""

    ends = True  # no further than the list
    depth: int | None = None
    is_static = sees_beyond = has_order1 = False

    @abstractmethod
    def user_on(self, gains: Gains, i: int) -> MarkovUser:
        """The user of list i."""

    def all_scores(self, gains: Gains) -> Array | None:
        """The scores of all lists at once; None if they are taken one by one."""
        return None

    def check(self, question: Question) -> None:
        """Raise an error unless the question is about visits for ever."""
        if question is not Question.MARKOV:
            raise MeasureError(f"a Markov user has the question markov, not {question.value}: there is no last rank")

    def scores(self, question: Question, gains: Gains) -> Array:
        """The score of every list."""
        if gains.lists.ties is not None:
            raise TiedError
        found = self.all_scores(gains)
        if found is not None:
            return found
        out = np.zeros(gains.lists.n)
        for i in np.flatnonzero(gains.found > 0).tolist():
            out[i] = self.on(gains, i).score
        return out

    def totals(self, gains: Gains) -> tuple[Array, Array]:
        """Raise an error: a user who never stops has no gain in all, and no depth."""
        raise MeasureError("a Markov user never stops, so there is no expected gain and no expected depth")

    def costs(self, gains: Gains) -> Array:
        """Raise an error: a user who never stops has no cost."""
        raise MeasureError("a Markov user never stops, so there is no expected cost")

    def unseen(self, question: Question, gains: Gains, gain: float) -> Array:
        """Zeros: the chain has the list's ranks only."""
        return np.zeros(gains.lists.n)

    def on(self, gains: Gains, i: int) -> MarkovUserOnList:
        """The user on list i."""
        gain = gains.by_rank(i, int(gains.lists.length[i]))
        return self.user_on(gains, i).over(gain, relevant=float(gains.relevant[i]), most=float(best_found(gains)[i]))

    def distribution(self, question: Question, gains: Gains, i: int) -> Distribution:
        """The distribution of precision over visits or, with steps, of the mean precision over users."""
        return self.on(gains, i).distribution

    def worth(self, question: Question, gains: Gains, i: int) -> tuple[Array, bool]:
        """What the visits to each rank of list i add to the score."""
        user = self.on(gains, i)
        return np.asarray(user.weights * user.precision * user.scale), False

    def follower(self, gains: Gains, lists: list[int], seed: int) -> Follower:
        """Simulated users of some steps on a list."""
        (i,) = lists
        return self.on(gains, i).follower(seed)


class MarkovUser(MarkovReader):
    """A user who moves by a Markov chain, for ever or for some steps: a model, weights, a matrix or a distribution.

    Parameters
    ----------
    model : str
        One of the published family: ``"GL_AD_ID"`` and so on, with ``loops`` and ``counts``; see `users.markov_models`.
    loops : {"NL", "SL"}
        With ``model`` or ``weights``: the chain never stays at a rank, or it may.
    counts : {"NA", "FRBN", "FNBR", "FIRBIN", "FINBIR"}
        With ``model``: how the documents passed weigh on going forward or back.
    weights : function of two ranks, or square array
        The probability of going from rank i to rank j is in proportion to ``weights(i, j)``; the function gets arrays.
    matrix : function of the ranks, or square array
        The transition probabilities from rank to rank; each row sums to 1.
    distribution : function of the ranks, or array
        No chain, but its stationary distribution, by rank; on the relevant ranks it is made to sum to 1.
    states : {"AD", "OR"}
        With ``weights`` or ``matrix``: the states are all documents, or the relevant ones only.
    rates : function of the ranks, or array, optional
        mu by rank: a visit there takes 1 / mu in the mean. Of an array the last holds further down.
    steps : int, optional
        The number of looks at relevant documents, counting repeats; None: the user never stops.
    start : {"first", "uniform"}, function of the ranks, or array
        With ``steps``: the distribution of the start over the states (``"OR"``: the relevant ranks): at the first, at
        any with the same probability, or by rank. The first look is at the first relevant document visited.
    memory : bool
        With ``steps``: whether the user goes to documents not visited yet, as long as a move leads to one, and starts
        anew once all were visited. ``users`` such users are simulated for a score, those of ``seed``.
    rescale : {"NA", "R", "RR"}
        What the score is multiplied by: nothing, the share found of the topic's relevant documents, or of as many as
        the best run found.

    Examples
    --------
    >>> from amble.users.markov import MarkovUser
    >>> user = MarkovUser("GL_AD_ID").over([1, 0, 1])        # row sums 1/2 + 1/3, 1/2 + 1/2, 1/3 + 1/2
    >>> user.weights, user.precision.round(4)
    (array([0.5, 0. , 0.5]), array([1.    , 0.5   , 0.6667]))
    >>> round(user.score, 4)
    0.8333
    >>> near = MarkovUser(weights=lambda i, j: 1.0 / (i - j) ** 2).over([1, 0, 1, 1])  # 49/36, 9/4, 9/4, 49/36
    >>> near.weights.round(4)
    array([0.2737, 0.    , 0.4525, 0.2737])
    """

    def __init__(
        self,
        model: str | None = None,
        *,
        loops: str = "NL",
        counts: str = "NA",
        weights: Callable[[Array, Array], ArrayLike] | ArrayLike | None = None,
        matrix: Callable[[Array], ArrayLike] | ArrayLike | None = None,
        distribution: ByRank | None = None,
        states: str = "AD",
        rates: ByRank | None = None,
        steps: int | None = None,
        start: Any = "first",
        memory: bool = False,
        users: int = 10_000,
        seed: int = 0,
        rescale: str = "NA",
    ) -> None:
        kinds = {"model": model, "weights": weights, "matrix": matrix, "distribution": distribution}
        given = [(kind, rule) for kind, rule in kinds.items() if rule is not None]
        if len(given) != 1:
            raise MeasureError(f"a Markov user is declared by one of {', '.join(kinds)}; found {len(given)} of them")
        self.kind: str = given[0][0]
        self.rule: Any = _own(given[0][1])
        self.model = None if model is None else Model.read(model, loops, counts)
        if model is None and counts != "NA":
            raise MeasureError(f"counts={counts!r} goes with a model")
        for what, word, words in (("loops", loops, ("NL", "SL")), ("states", states, ("AD", "OR"))):
            one_of(word, words, what, MeasureError)
        one_of(rescale, RESCALING, "rescale", MeasureError)
        if steps is not None:
            whole(steps, "steps", kind=MeasureError)
            if distribution is not None:
                raise MeasureError("steps: a Markov user declared by a distribution takes none")
        if memory and steps is None:
            raise MeasureError("memory goes with steps only: in the long run all documents are visited alike")
        self.memory, self.users, self.seed = memory, whole(users, "users", kind=MeasureError), seed
        if isinstance(start, str) and start not in STARTS:
            raise MeasureError(f"start={start!r:.60}: expected 'first', 'uniform' or numbers by rank")
        self.loops, self.states = loops, states if self.model is None else self.model.states
        self.rates, self.start = _own(rates), start if isinstance(start, str) else _own(start)
        self.steps, self.rescale = steps, rescale
        # over all ranks, by the list's length, where that is all that matters
        self._distributions: dict[int, Logs] = {}

    @classmethod
    def looking(cls, function: Callable[..., MarkovUser], names: tuple[str, ...], stops: str | None) -> LookingMarkov:
        """The user whose chain is what a function of what is on the list says."""
        return LookingMarkov(function, names)

    def user_on(self, gains: Gains, i: int) -> MarkovUser:
        """The user itself, whatever the list."""
        return self

    def all_scores(self, gains: Gains) -> Array | None:
        """The scores of all lists at once; None if they are taken one by one."""
        return score_markov(self, gains)

    @property
    def looks_at_others(self) -> bool:
        """Whether other lists have a part in a score, be it in its last bits, as where chains are solved together."""
        model = self.model
        together = model is not None and model.connected == "GL" and "NA" not in (model.distance, model.counts)
        return together or self.rescale == "RR"

    @property
    def story(self) -> str:
        """The user's behaviour in a few sentences, for `amble list`."""
        if self.model is not None:
            story = [self.model.story]
        elif self.kind == "distribution":
            story = ["She is at each relevant document of the list with a probability that was given."]
        else:
            over = "all documents" if self.states == "AD" else "the relevant documents"
            story = [f"She moves over {over} of the list, with a {self.kind.rstrip('s')} of her own for every move."]
        if self.rates is not None:
            story.append("What counts is the time that she spends at each rank.")
        if self.steps is not None:
            story.append(f"She looks at relevant documents {self.steps} times, counting repeats.")
        if self.memory:
            story.append("She remembers what she visited, and goes on to what is new as long as she can.")
        return " ".join([*story, RESCALING[self.rescale]]).rstrip()

    def over(self, gain: ArrayLike, *, relevant: float | None = None, most: float | None = None) -> MarkovUserOnList:
        """The user on a list.

        Parameters
        ----------
        gain : array_like
            By rank; documents with a gain are relevant.
        relevant : int, optional
            The number of relevant documents of the topic; without it, that of the list.
        most : int, optional
            The number of them that the best run found; without it, that of this list.
        """
        try:
            gains = np.array(gain, np.float64, ndmin=1)
        except (TypeError, ValueError):
            raise MeasureError(f"gains {gain!r:.60}: expected one list of numbers, by rank") from None
        if gains.ndim != 1 or np.isnan(gains).any():
            raise MeasureError("expected one list of gains, by rank")
        rank = np.flatnonzero(gains > 0) + 1
        scale = 1.0
        if self.rescale != "NA" and rank.size:
            base = relevant if self.rescale == "R" else most
            scale = rank.size / max(float(base or 0), rank.size)
        kind = RememberingUserOnList if self.memory else MarkovUserOnList
        return kind(self, rank, gains.size, scale)

    # ---- the chain

    def logs(self, rank: Ints, n: int) -> Logs:
        """Logarithm of the stationary distribution: over all ranks (AD), or over the relevant ones given (OR)."""
        every = np.arange(1, n + 1)
        over = every if self.states == "AD" or self.kind == "distribution" else rank
        if not over.size:
            return np.zeros(0, np.longdouble)
        if self.model is not None:
            seen = np.searchsorted(rank, over, side="right")
            if self.model.counts != "NA":
                return np.asarray(log_stationary_of_model(self.model, over[None, :], seen[None, :])[0])
            sums = row_sums(self.model, over, n) if self.states == "AD" else pair_sums(self.model, over[None, :])[0]
            return np.asarray(np.log(sums.astype(np.longdouble)))
        if over is rank:
            return log_stationary(self._weights(over))
        if n not in self._distributions:
            self._distributions[n] = (
                self._given(every) if self.kind == "distribution" else log_stationary(self._weights(every))
            )
        return self._distributions[n]

    def _given(self, rank: Ints) -> Logs:
        distribution = by_rank(self.rule, rank, "distribution", last=False)
        if not ((distribution >= 0) & np.isfinite(distribution)).all():
            first = int(np.flatnonzero(~((distribution >= 0) & np.isfinite(distribution)))[0])
            raise MeasureError(
                f"the probability of rank {rank[first]} is {distribution[first]:g}, expected a finite number, 0 or more"
            )
        with np.errstate(divide="ignore"):
            return np.log(distribution.astype(np.longdouble))

    def _weights(self, rank: Ints) -> Array:
        """The given weights or probabilities between ranks, checked."""
        check_size(rank.size)
        if self.kind == "matrix":
            ranks = rank.astype(np.float64)
            w = check_matrix(self.rule(ranks) if callable(self.rule) else self.rule, rank)
        else:
            here = rank.astype(np.float64)
            given = self.rule
            if callable(given):
                with np.errstate(divide="ignore", invalid="ignore"):  # at distance 0, where it need not exist
                    given = given(here[:, None], here[None, :])
            try:
                w = np.array(given, np.float64)
                if callable(self.rule):
                    w = np.array(np.broadcast_to(w, (rank.size, rank.size)))
            except (TypeError, ValueError):
                raise MeasureError(
                    f"weights of shape {np.shape(given)}, expected {(rank.size, rank.size)}: numbers, a row and a "
                    f"column for each rank"
                ) from None
            if self.loops == "NL" and w.ndim == 2 and w.shape[0] == w.shape[1]:
                np.fill_diagonal(w, 0.0)
            w = check_weights(w, rank)
            transition_probabilities(w, rank)  # refuses ranks that cannot be left
        if rank.size > 1:
            check_irreducible(w, rank)
        return w

    def transitions(self, rank: Ints, n: int) -> tuple[Array, Array]:
        """The chain induced on the relevant ranks: its transition probabilities and its start.

        With P the whole chain, R the relevant ranks, N the others and the start l over both, these are
        P_RR + P_RN (I - P_NN)^-1 P_NR and l_R + l_N (I - P_NN)^-1 P_NR.
        """
        if self.kind == "distribution":
            raise MeasureError("the user is declared by a distribution, not by a chain: there are no transitions")
        every = np.arange(1, n + 1)
        start = self.starting(every if self.states == "AD" else rank)
        if self.model is not None:
            return induced_chain_of_model(self.model, rank, n, start)
        p = self.matrix_on(rank, n)
        return (p, start) if self.states == "OR" else induced_chain(p, rank - 1, start)

    def matrix_on(self, rank: Ints, n: int) -> Array:
        """The transition probabilities of the whole chain on a list of n: between all ranks, or the relevant ones."""
        if self.kind == "distribution":
            raise MeasureError("the user is declared by a distribution, not by a chain: there are no transitions")
        over = np.arange(1, n + 1) if self.states == "AD" else rank
        check_size(over.size)
        if not over.size:
            return np.zeros((0, 0))
        if self.model is None:
            return transition_probabilities(self._weights(over), over)
        ways = self.model.ways(over, np.searchsorted(rank, over, side="right"))
        return transition_probabilities(self.model.weights(over, *ways), over)

    def moves(self, rank: Ints, n: int) -> tuple[Ints, Array, Array]:
        """The whole chain: its ranks, its transition probabilities (of one rank: it stays), and its start."""
        over = np.arange(1, n + 1) if self.states == "AD" else rank
        return over, self.matrix_on(rank, n) if over.size > 1 else np.ones((over.size,) * 2), self.starting(over)

    def starting(self, over: Ints) -> Array:
        """The distribution of the start over the ranks of the chain."""
        if isinstance(self.start, str):
            first = np.arange(over.size) == 0
            return np.full(over.size, 1.0 / over.size) if self.start == "uniform" else first.astype(np.float64)
        distribution = by_rank(self.start, over, "start", last=False)
        if not ((distribution >= 0) & np.isfinite(distribution)).all() or not distribution.sum() > 0:
            raise MeasureError(
                "start: expected a probability, 0 or more, for each rank, and more than 0 at some of the chain's"
            )
        return np.asarray(distribution / distribution.sum())

    def times(self, rank: Ints) -> Array:
        """The mean time of a visit to each of some ranks, up to a factor."""
        if self.rates is None:
            return np.ones(rank.size)
        mu = by_rank(self.rates, rank, "rates", last=True)
        wrong = np.flatnonzero(~((mu > 0) & np.isfinite(mu)))
        if wrong.size:
            raise MeasureError(
                f"the rate at rank {rank[wrong[0]]} is {mu[wrong[0]]:g}, expected a finite number above 0"
            )
        return np.asarray(mu.min(initial=np.inf) / mu)  # only ratios matter


class LookingMarkov(MarkovReader):
    """A Markov user whose chain is what a function of a list's ranks, gains … returns."""

    story = ""

    def __init__(self, function: Callable[..., MarkovUser], names: tuple[str, ...]) -> None:
        self.function, self.names = function, names

    def user_on(self, gains: Gains, i: int) -> MarkovUser:
        """The user that the function returns for list i."""
        gain = gains.by_rank(i, int(gains.lists.length[i]))
        rank = np.arange(1, gain.size + 1, dtype=np.float64)
        points = {"rank": rank, "gain": gain, "seen": np.cumsum(gain), "cost": np.float64(1.0), "spent": rank}
        points |= {"relevant": np.float64(gains.relevant[i]), "available": np.float64(gains.available[i])}
        return self.function(**{name: points[name] for name in self.names})


def _own(rule: Any) -> Any:
    """A copy of what is not a function, so that later changes elsewhere do not change the user."""
    return rule if rule is None or callable(rule) or isinstance(rule, str) else deepcopy(rule)


def by_rank(rule: Any, rank: Ints, what: str, *, last: bool) -> Array:
    """Numbers at some ranks, of a function of the ranks or of an array by rank, whose last may hold further down."""
    try:
        if callable(rule):
            return np.array(np.broadcast_to(np.asarray(rule(rank.astype(np.float64)), np.float64), rank.shape))
        values = np.array(rule, np.float64, ndmin=1)
    except (TypeError, ValueError):
        raise MeasureError(f"{what}: expected a number for each rank, or a function of the ranks") from None
    if values.ndim != 1 or not values.size:
        raise MeasureError(f"{what}: expected a number for each rank, found an array of shape {values.shape}")
    if not last and rank.size and values.size < rank[-1]:
        raise MeasureError(f"{what}: found {values.size} numbers, expected one for each rank, down to {rank[-1]}")
    return np.asarray(values[np.minimum(rank, values.size) - 1])


class MarkovUserOnList(OnList):
    """A Markov user on a list: the share of visits to each rank, and precision there. Without steps, never stopping.

    Attributes
    ----------
    weights : ndarray
        By rank: the share of the visits to relevant documents, or with rates the share of time there.
    precision : ndarray
        By rank: the share of relevant documents among those down to it.
    relevant : ndarray of int
        The ranks of the relevant documents.
    scale : float
        What rescaling multiplies the score by.
    """

    stops = False

    def __init__(self, user: MarkovUser, rank: Ints, n: int, scale: float) -> None:
        self.user, self.relevant, self.n, self.scale = user, rank, n, scale
        self.precision: Array = np.searchsorted(rank, np.arange(1, n + 1), side="right") / np.arange(1.0, n + 1.0)
        self._weights = np.zeros(n)
        if rank.size:
            self._weights[rank - 1] = self._attention()

    def _attention(self) -> Array:
        rank = self.relevant
        if self.user.steps is not None and rank.size > 1:
            distribution = mean_occupation(self.transitions, self.first, self.user.steps)
        else:
            logs = self._logs[rank - 1] if self._logs.size == self.n else self._logs
            if not np.isfinite(logs).any():
                raise MeasureError("the distribution is 0 at every relevant rank")
            distribution = from_logs(logs)
        time = distribution * self.user.times(rank)
        return np.asarray(time / time.sum())

    @cached_property
    def _logs(self) -> Logs:
        return self.user.logs(self.relevant, self.n)

    @property
    def weights(self) -> Array:
        """By rank: the share of the visits, or of time."""
        return self._weights

    @cached_property
    def everywhere(self) -> Array:
        """By rank: the stationary distribution of the whole chain, documents that are not relevant included."""
        out = np.zeros(self.n)
        if self._logs.size:
            out[slice(None) if self._logs.size == self.n else self.relevant - 1] = from_logs(self._logs)
        return out

    @property
    def exposure(self) -> Array:
        """By rank: the share of all visits, to documents that are not relevant included."""
        if self.user.steps is not None and not self.user.memory:
            raise MeasureError(
                f"the user {self.ends}, and only looks at relevant documents are counted; expected a user without steps"
            )
        return self.everywhere

    @cached_property
    def _induced(self) -> tuple[Array, Array]:
        if not self.relevant.size:
            return np.zeros((0, 0)), np.zeros(0)
        return self.user.transitions(self.relevant, self.n)

    @property
    def transitions(self) -> Array:
        """The transition probabilities between relevant documents (the induced chain): a row and a column for each."""
        return self._induced[0]

    @property
    def first(self) -> Array:
        """The distribution of the relevant document looked at first."""
        return self._induced[1]

    @property
    def transition_matrix(self) -> Array:
        """The transition probabilities of the chain: between all ranks, or (OR) between the relevant ones."""
        return self.user.matrix_on(self.relevant, self.n)

    @property
    def states(self) -> list[int]:
        """The ranks of the rows and columns of `transition_matrix`."""
        return super().states if self.user.states == "AD" else self.relevant.tolist()

    @property
    def by_rank(self) -> dict[str, Any]:
        """What is shown of each rank, by the name of its column."""
        relevant = ["yes" if i in self.relevant else "no" for i in range(1, self.n + 1)]
        return {
            "relevant": relevant,
            "everywhere": self.everywhere,
            "W": self.weights,
            "precision": self.precision,
        }

    def gained(self, path: Ints, gains: Array) -> tuple[float, float]:
        """The sum of precision over the visits to relevant documents, each for its mean time, rescaled; and the time.

        On the way from one relevant document to the next other ranks do not count.
        """
        path = path[np.isin(path, self.relevant)]
        time = self.user.times(path)
        return float(self.precision[path - 1] @ time) * self.scale, float(time.sum()) or 1.0

    def after(self, moves: int) -> Array:
        """By rank: the distribution after so many moves between relevant documents.

        >>> from amble.users.markov import MarkovUser
        >>> MarkovUser("LO_OR_ID").over([1, 1, 0, 1]).after(1)
        array([0., 1., 0., 0.])
        """
        whole(moves, "moves", 0, None, MeasureError)
        out = np.zeros(self.n)
        if self.relevant.size:
            out[self.relevant - 1] = distribution_after(self.transitions, self.first, moves)
        return out

    # ---- the score

    @property
    def ends(self) -> str:
        """When the user stops, in words."""
        steps = self.user.steps
        return "never stops" if steps is None else f"stops after {steps:,} look{'s' * (steps > 1)}, at any rank"

    @property
    def _looks(self) -> tuple[Array, Array, Array, Array, int]:
        """Of a user of some steps: the chain, precision and times at the relevant documents, and the steps."""
        at = self.relevant
        assert self.user.steps is not None
        return self.transitions, self.first, self.precision[at - 1], self.user.times(at), self.user.steps

    @cached_property
    def distribution(self) -> Distribution:
        """The distribution of precision over visits; with steps, of the mean precision over users; rescaled.

        Without steps, what rescaling takes away is at 0, as it is for AP. Raises `NoExactDistributionError` if steps
        are too many.
        """
        if not self.relevant.size:
            return Distribution([0.0], [1.0])
        if self.user.steps is not None:
            from amble.users.finite_steps import exact_distribution  # scores do without it

            values, probs = exact_distribution(*self._looks)
            return Distribution(values * self.scale, probs)
        values, probs = self.precision[self.relevant - 1], self._weights[self.relevant - 1] * self.scale
        return Distribution(np.append(values, 0.0), np.append(probs, max(0.0, 1.0 - self.scale)))

    @property
    def variance(self) -> float:
        """The variance of the score over users: exact, for any number of steps if all visits count alike."""
        if not self.relevant.size or self.user.steps is None or self.user.rates is not None:
            return self.distribution.var
        p, first, precision, _, steps = self._looks
        from amble.users.finite_steps import variance

        return variance(p, first, precision, steps) * self.scale**2

    def follower(self, seed: int) -> Follower:
        """Simulated users of some steps: the gain of each, rescaled, and the time that it takes.

        The score is the one divided by the other; without rates, the time is the number of steps.
        """
        if self.user.steps is None:
            raise MeasureError("the user never stops, so there are no scores to simulate; use the distribution")
        from amble.users.finite_steps import StepsFollower

        return StepsFollower(*self._looks, seed, self.scale, self.relevant)

    @property
    def score(self) -> float:
        """The score: the mean precision over visits, rescaled."""
        return float(self._weights @ self.precision) * self.scale

    def residual(self, k: int) -> float:
        """The share of attention that goes beyond rank k."""
        if not isinstance(k, int | np.integer) or k < 0:
            raise MeasureError(f"residual({k}): expected a rank of at least 0")
        return float(self._weights[k:].sum())

    def __getattr__(self, name: str) -> Any:
        # what a user who walks down and stops has, and all that follows from it
        if name in ("continuation", "halting", "visits", "last", "tail", "beyond", "tail_visits", "expected_depth"):
            raise MeasureError(
                f"the user {self.ends}: there is no last rank, no depth and no probability of going on; "
                "weights is the share of visits to each rank"
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


class RememberingUserOnList(MarkovUserOnList):
    """A user of some steps who remembers what was visited, on a list: simulated.

    Attributes
    ----------
    standard_error : float
        Of the score.
    """

    def _attention(self) -> Array:
        return np.zeros(self.relevant.size)  # not before it is asked for

    @cached_property
    def _simulated(self) -> Any:
        from amble.users.simulation import simulated_distribution

        user = self.user
        return simulated_distribution(self.follower(user.seed), Question.MARKOV, user.users, user.seed)

    @property
    def score(self) -> float:
        """The score: the mean precision over the visits of the simulated users, rescaled."""
        return float(self._simulated.order2)

    @property
    def standard_error(self) -> float:
        """The standard error of the score."""
        return float(self._simulated.order2_error)

    @property
    def variance(self) -> float:
        """The variance of the score over the simulated users."""
        return float(self._simulated.var)

    @cached_property
    def everywhere(self) -> Array:
        """By rank: the share of all visits of the simulated users, to documents that are not relevant included."""
        follower, out = self.follower(self.user.seed), np.zeros(self.n)
        users = self.user.users
        batch = follower.batch(users, 1)
        for first in range(0, users, batch):
            for _, at in follower.visits(first, min(batch, users - first)):
                np.add.at(out, self._chain[0][at] - 1, 1.0)
        return np.asarray(out / max(out.sum(), 1.0))

    @property
    def weights(self) -> Array:
        """By rank: the share of the visits to relevant documents, or of time there."""
        out = np.zeros(self.n)
        at = self.relevant - 1
        out[at] = self.everywhere[at] * self.user.times(self.relevant)
        return np.asarray(out / (out.sum() or 1.0))

    def residual(self, k: int) -> float:
        """The share of attention that goes beyond rank k."""
        return float(self.weights[k:].sum())

    @property
    def _induced(self) -> tuple[Array, Array]:
        raise MeasureError("the user remembers what was visited: there are no transitions from document to document")

    transition_matrix = _induced  # type: ignore[assignment]

    @property
    def distribution(self) -> Distribution:
        """An error: it is simulated."""
        raise NoExactDistributionError("what a user who remembers does next depends on all that was visited")

    @cached_property
    def _chain(self) -> tuple[Ints, Array, Array]:
        return self.user.moves(self.relevant, self.n)

    def follower(self, seed: int) -> RememberingFollower:
        """Simulated users."""
        from amble.users.finite_steps import RememberingFollower

        over, p, start = self._chain
        precision = np.where(np.isin(over, self.relevant), self.precision[over - 1], np.nan)
        steps, times = self.user.steps or 0, self.user.times(over)
        return RememberingFollower(p, start, precision, times, steps, seed, self.scale, over)
