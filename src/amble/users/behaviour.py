"""The behaviour of a user who walks down one list: C, V, L, W and what follows from them."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from amble.arrays import NDArray
from amble.distributions.distribution import Distribution
from amble.errors import MeasureError
from amble.users.protocol import OnList, Question
from amble.users.tails import Tail

__all__ = ["TOLERANCE", "Behaviour", "check_probabilities", "distribution_of_stops", "inverse_power"]

Array = NDArray[np.float64]

TOLERANCE = 1e-9  # by how much a probability may miss 0 or 1
_LEAST = 1e-40  # share of users whose effort counts: the tenth power of it may be large


def check_probabilities(probabilities: Array, rank: Any) -> None:
    """Refuse numbers that are no probabilities of going on, with the first rank where."""
    with np.errstate(invalid="ignore"):
        wrong = ~((probabilities >= -TOLERANCE) & (probabilities <= 1 + TOLERANCE))
    if wrong.any():
        ranks = np.broadcast_to(np.asarray(rank), probabilities.shape)
        first = int(ranks[wrong].flat[0])
        raise MeasureError(
            f"the probability of going on after rank {first} is {probabilities[wrong].flat[0]:.6g}, expected 0 to 1"
        )


def inverse_power(rank: Array, shift: Array, power: float) -> Array:
    """The probability of going on, ((i + s) / (i + s + 1))^power; 0 where i + s is not positive."""
    x = np.maximum(rank + shift, 0.0)
    return np.asarray((x / (x + 1.0)) ** power)


class Behaviour(OnList):
    """What a forward user does over the first n ranks and beyond them: C, V, L, W and what follows.

    Attributes
    ----------
    continuation, visits, last, weights, halting : ndarray
        C, V, L, W and 1 - C of each rank.
    expected_depth : float
        The expected number of documents looked at: sum V = 1 / W(1).
    beyond : float
        The probability that none of these ranks is the last one looked at.
    """

    def __init__(self, continuation: Array, visits: Array, tail: Tail | None = None) -> None:
        self.continuation = continuation
        self.visits = visits
        self.tail = tail
        self.beyond = float(visits[-1] * continuation[-1])
        self.tail_visits = 0.0 if tail is None else float(tail.visits(self.beyond, visits.size))

    @property
    def halting(self) -> Array:
        """The probability of stopping at a rank, once there."""
        return 1.0 - self.continuation

    @property
    def last(self) -> Array:
        """The probability that a rank is the last one looked at."""
        return self.visits * (1.0 - self.continuation)

    @property
    def expected_depth(self) -> float:
        """The expected number of documents looked at."""
        return float(self.visits.sum() + self.tail_visits)

    @property
    def weights(self) -> Array:
        """The share of attention that each rank gets."""
        return self.visits / self.expected_depth

    @property
    def transition_matrix(self) -> Array:
        """From each rank to the next with probability C; what a row lacks to 1 stops there, or leaves the list."""
        from amble.users.stationary import check_size  # scores do without

        check_size(self.visits.size)
        return np.diag(self.continuation[:-1], 1)

    def depth_distribution(self) -> Distribution:
        """The distribution of H, the documents looked at; of a heavy tail, all far beyond stop at one rank."""
        rank, probs, left = np.arange(1.0, self.visits.size + 1), self.last, self.beyond
        if self.tail is not None:
            ranks, stops = self.tail.stops(left, rank.size)
            return Distribution(np.append(rank, ranks), np.append(probs, stops))
        return Distribution(np.append(rank, rank[-1]), np.append(probs, left))

    @property
    def depth_var(self) -> float:
        """Var[H]; infinite where stops fall too slowly, as INSQ's do."""
        spelled = self.depth_distribution()
        return spelled.var if abs(spelled.mean - self.expected_depth) < 1e-9 * self.expected_depth else np.inf

    def total_distribution(self, gains: Any) -> Distribution:
        """The distribution of T, the gain of those who do not leave with nothing."""
        return distribution_of_stops(self, np.pad(gains, (0, self.visits.size - len(gains))), Question.TOTAL)

    @property
    def furthest(self) -> int | None:
        """The last rank that can be visited; None if there is none."""
        return None if self.tail is not None else int(np.flatnonzero(self.visits > 0)[-1]) + 1

    def check_path(self, path: Any) -> NDArray[np.int64]:
        """The ranks of an observed path, which must be 1, 2, 3, …"""
        ranks = super().check_path(path)
        wrong = np.flatnonzero(ranks != np.arange(1, ranks.size + 1))
        if wrong.size:
            i = int(wrong[0])
            raise MeasureError(f"path: visit {i + 1} is to rank {ranks[i]}, expected {i + 1}: this user walks down")
        return ranks

    @cached_property
    def worth(self) -> Array:
        """E[1/f(H); H >= rank]: what a gain of 1 at each rank adds to E[T/f(H)]."""
        rank = np.arange(1, self.visits.size + 1, dtype=np.float64)
        after = np.cumsum((self.last / self.effort(rank))[::-1])[::-1]
        if self.tail is not None and self.beyond > 0:
            beyond, stops = self.tail.stops(self.beyond, rank.size)
            after = after + float((stops / self.effort(beyond)).sum())
        return np.asarray(after)

    @property
    def rate(self) -> float:
        """E[H/f(H)]: the sum of `worth` over all ranks, also those beyond these."""
        if self.effort.power == 1 and not self.effort.shift:
            return 1.0
        out = float(self.worth.sum())
        if self.tail is not None and self.beyond > 0:
            rank, stops = self.tail.stops(self.beyond, self.visits.size)
            out += float(stops @ ((rank - self.visits.size) / self.effort(rank)))
        return out

    @property
    def mean_effort(self) -> float:
        """E[f(H)]; who leaves with nothing has looked at all of these ranks."""
        f, n = self.effort, self.visits.size
        if f.power == 1:
            return self.expected_depth + f.shift
        out = float(self.visits @ f.steps(np.arange(1.0, n + 1.0)))
        if self.tail is not None and self.beyond > 0:
            rank, stops = self.tail.stops(self.beyond, n, _LEAST)
            more = stops * (f(rank) - f(np.array([float(n)])))
            if more[-1] > 1e-15 * (out + more.sum()):
                raise MeasureError("E[f(H)] of users who read on for ever: this effort grows too fast for a finite sum")
            out += float(more.sum())
        return out

    def residual(self, k: int) -> float:
        """The share of attention that goes beyond rank k.

        >>> from amble.users.forward import Forward
        >>> round(Forward(continuation=0.8, beyond="endless").over(3).residual(10), 12)  # .8 ** 10
        0.1073741824
        """
        if k < 0:
            raise MeasureError(f"residual({k}): expected a rank of at least 0")
        n = self.visits.size
        if k <= n:
            return float((self.visits[k:].sum() + self.tail_visits) / self.expected_depth)
        if self.tail is None:
            return 0.0
        return float(self.tail.visits(self.beyond, n, k - n)) / self.expected_depth

    def between(self, n: int, k: int | None) -> float:
        """The share of attention that goes to ranks n + 1 to k, or beyond n where k is None."""
        return self.residual(n) - (0.0 if k is None else self.residual(max(n, k)))


def distribution_of_stops(behaviour: Behaviour, gain: Array, question: Question) -> Distribution:
    """The distribution of the score over users: from where they stop, the gains before, and the question."""
    rank = np.arange(1, gain.size + 1, dtype=np.float64)
    t = np.cumsum(gain)
    values = question.score(t, behaviour.effort(rank))
    probs, left = behaviour.last, behaviour.beyond
    if left > 0 and behaviour.tail is not None:  # reads on, and gains nothing more
        beyond, stops = behaviour.tail.stops(left, gain.size)
        values = np.concatenate((values, question.score(np.full(stops.size, t[-1]), behaviour.effort(beyond))))
        probs = np.concatenate((probs, stops))
        left = max(0.0, 1.0 - float(probs.sum()))
    if left > 0:  # leaves with nothing
        values, probs = np.append(values, 0.0), np.append(probs, left)
    return Distribution(values, probs)
