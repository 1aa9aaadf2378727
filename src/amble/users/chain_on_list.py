"""A chain of states on one list: visits, last rank, gain, score, and their means and variances from every start.

With P the transition probabilities between states, s the probabilities of stopping there, mu the start and
M(z) = (I - z P)^-1, state j is ever visited with probability h = (mu M)_j / M_jj and left for ever with 1 / M_jj. The
k-th visit to a document is worth g(k, y), so that (Ferrante and Ferro, 2020, appendices A and B)

    E[T] = sum over j of h_j sum over k of g(k, y_j) (1 - 1 / M_jj)^(k-1),        E[H] = mu M 1,
    E[T; H = h] z^(h-1), summed over h, is the same with M(z) and times e_j = (M(z) s)_j.

Where k counts the visits to all states that show a document, M_jj is M among these states, a small matrix.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property, partial
from typing import Any

import numpy as np

from amble.arrays import NDArray
from amble.distributions.distribution import Distribution
from amble.errors import MeasureError
from amble.users.effort import Effort
from amble.users.gth_elimination import Plan, Solution, Transitions, fundamental, plan_of, solve, transitions_of
from amble.users.joint_distribution import NoExactDistributionError, product_of_two
from amble.users.protocol import OnList, Question
from amble.users.timing import Timing
from amble.users.utility import Utility

__all__ = ["ChainOnList", "worth_of_visits"]

Array = NDArray[Any]

_SLACK = 1e-9
_NEGLIGIBLE = 1e-15  # a share of users that is taken for none
_BUDGET = 20_000_000  # cells of an exact distribution
_MOST_VISITS = 1 << 17  # of a reader whose distribution is followed
_LONGEST = 1 << 22  # visits that are followed one by one
_CELLS = 1 << 22  # states x width x nodes solved at once


def worth_of_visits(found: Solution, utility: Utility, y: Array, groups: list[NDArray[np.int64]]) -> Array:
    """What the visits to each state are worth, given gains by state: like a solution (states x lengths x nodes).

    ``groups`` are the documents with several states, whose visits are counted together.
    """
    met = found.visits != 0
    away = 1.0 / found.own
    worth = found.visits * away * utility.series(y[:, None, None], np.where(met, away, 1.0))
    out = np.where(met, worth, 0.0)
    kept = utility.geometric
    for group, m in zip(groups, found.blocks, strict=True):
        visits = np.moveaxis(found.visits[group], 0, -1)[..., None, :]
        one = np.eye(group.size)
        if kept == 1.0:
            each = visits * y[group]
        elif kept is not None:
            by = (1.0 - kept) * m + kept * one
            each = np.swapaxes(np.linalg.solve(np.swapaxes(by, -1, -2), np.swapaxes(visits, -1, -2)), -1, -2) * y[group]
        else:
            table = utility.table(y[group], _returns(m))
            once = np.linalg.inv(m)
            here, back, each = visits @ once, one - once, np.zeros(visits.shape, m.dtype)
            for k in range(table.shape[1] - 1):
                each, here = each + here * table[:, k], here @ back
            each = each + here @ m * table[:, -1]
        out[group] = np.moveaxis(each[..., 0, :], -1, 0)
    return out


def _returns(m: Array) -> float:
    """A bound of the probability of coming back to a document, given M among its states."""
    return 1.0 - 1.0 / max(float(np.abs(m).sum(axis=-1).max()), 1.0)


class ChainOnList(OnList):
    """A chain over the ranks of one list, or over states that show them.

    Parameters
    ----------
    p : array_like or Transitions
        The transition probabilities between states.
    start : array_like
        The distribution of the first state.
    leaving : ndarray, optional
        Of those who go no further from each state, the share who leave with nothing.
    utility, effort : Utility, Effort
    rank : ndarray, optional
        The rank that each state shows, 0 if none; without it, 1, 2, …
    gains : ndarray, optional
        How much of a document's gain each state gains; without it, 1.
    length : int
        The number of ranks, where the states do not say it.
    by_document : bool
        Whether k counts the visits to all states that show a document, not those to the state.
    clock : tuple of Timing and ndarray, optional
        The effort is a time: its law, and the mean seconds of a visit to each state.
    """

    def __init__(
        self,
        p: Any,
        start: Any,
        leaving: Array | None,
        utility: Utility,
        effort: Effort,
        *,
        rank: Any = None,
        gains: Any = None,
        length: int = 0,
        by_document: bool = False,
        clock: tuple[Timing, Array] | None = None,
    ) -> None:
        self.start = np.array(start, np.float64)
        self.n = n = self.start.size
        self.utility, self.effort = utility, effort
        if not isinstance(p, Transitions):
            p = np.array(p, np.float64)
            if p.shape != (n, n):
                raise MeasureError(f"transitions of shape {p.shape}, expected {(n, n)}, as the start has ranks")
            i, j = np.nonzero(p)
            p = transitions_of(i, j, p[i, j], n)
        self.transitions = p
        if not (self.start >= 0).all() or abs(float(self.start.sum()) - 1) > _SLACK:
            raise MeasureError(f"start: expected probabilities that sum to 1, found {float(self.start.sum()):.9g}")
        if leaving is not None and not ((np.asarray(leaving) >= 0) & (np.asarray(leaving) <= 1)).all():
            raise MeasureError("leaving: expected shares between 0 and 1, one for each rank")
        self._stopping_share = np.ones(n) if leaving is None else 1.0 - leaving
        self.rank = np.arange(1, n + 1) if rank is None else np.asarray(rank, np.int64)
        self.gain = np.where(self.rank > 0, 1.0 if gains is None else np.asarray(gains, np.float64), 0.0)
        self.length = max(length, int(self.rank.max(initial=0)))
        self.by_document, self.clock, self.leaving = by_document, clock, leaving

    def as_chain(self) -> ChainOnList:
        """The user itself."""
        return self

    @property
    def counted(self) -> NDArray[np.int64]:
        """What the visits of each state count with, if they do not count alone: the document."""
        return self.rank

    # ---- the algebra

    @cached_property
    def documents(self) -> list[NDArray[np.int64]]:
        """The states of each document that has several."""
        order = np.argsort(self.rank, kind="stable")
        parts = np.split(order, np.flatnonzero(np.diff(self.rank[order])) + 1)
        return [part for part in parts if part.size > 1 and self.rank[part[0]] > 0]

    def _solution(self, z: Array, lost: Array, right: Array | None = None) -> Solution:
        one = np.ones((self.n, 1))
        share = self._stopping_share[:, None]
        return solve(
            self.transitions, self.plan, self.documents, one, self.start[:, None], share, z, lost, right
        )  # fmt: skip

    @cached_property
    def plan(self) -> Plan | None:
        """The order in which the states are taken out."""
        return plan_of(self.transitions, self.documents)

    @property
    def width(self) -> int:
        """How many numbers a state takes, once the chain is solved."""
        return self.n if self.plan is None else self.plan.width

    @cached_property
    def _solved(self) -> Solution:
        return self._solution(np.ones((1, 1)), np.zeros((1, 1)))

    def _sum(self, right: Array) -> Array:
        """M times a vector of at least 0: what is summed over the visits, from every start."""
        return np.asarray(self._solution(np.ones((1, 1)), np.zeros((1, 1)), right[:, None, None]).end[:, 0, 0])

    @cached_property
    def p(self) -> Array:
        """The transition probabilities, as a matrix."""
        return np.asarray(self.transitions.dense)

    def check_path(self, path: Any) -> NDArray[np.int64]:
        """The ranks of an observed path; an error where ranks do not say in which states they were seen."""
        if self.documents or not self.rank.all() or (self.gain != 1).any() or self.clock is not None:
            raise MeasureError("a path of ranks says neither the states of a chain that has others, nor the times")
        return super().check_path(path)

    @property
    def furthest(self) -> int:
        """The last rank that can be visited."""
        return int(self.rank.max())

    @property
    def transition_matrix(self) -> Array:
        """The transition probabilities between the states; what is missing to 1 in a row stops there."""
        return self.p.copy()

    @property
    def states(self) -> list[Any]:
        """The states as they are shown: the rank of each, in parentheses where it gains nothing."""
        return [rank if gains else f"({rank})" for rank, gains in zip(self.rank.tolist(), self.gain > 0, strict=True)]

    def _by_rank(self, x: Array) -> Array:
        """Sums over the states that show each rank."""
        return np.bincount(self.rank, x, self.length + 1)[1:]

    # ---- visits

    @cached_property
    def state_visits(self) -> Array:
        """The mean number of visits to each state."""
        return np.asarray(self._solved.visits[:, 0, 0])

    @cached_property
    def visits(self) -> Array:
        """The mean number of visits to each rank."""
        out = self._by_rank(self.state_visits)
        out.flags.writeable = False  # kept for other lists of this length
        return out

    @property
    def halts(self) -> Array:
        """The probability of stopping at a visit to each state."""
        return np.asarray(self.transitions.stop * self._stopping_share)

    @property
    def last(self) -> Array:
        """The probability of stopping at each rank."""
        return self._by_rank(self.state_visits * self.halts)

    @property
    def beyond(self) -> float:
        """The probability of leaving with nothing."""
        return max(0.0, 1.0 - float((self.state_visits * self.halts).sum()))

    @cached_property
    def reach(self) -> Array:
        """The probability that each rank is ever visited."""
        found = self._solved
        out = self._by_rank((found.visits / found.own)[:, 0, 0])
        for group, m in zip(self.documents, found.blocks, strict=True):
            out[self.rank[group[0]] - 1] = np.linalg.solve(m[0, 0].T, found.visits[group, 0, 0]).sum()
        return out

    @property
    def returns(self) -> Array:
        """The probability of coming back to a rank after a visit; 0 where it is never visited."""
        away = np.divide(self.reach, self.visits, out=np.ones(self.length), where=self.visits > 0)
        return 1.0 - away

    @property
    def halting(self) -> Array:
        """The probability of stopping at a visit to each rank."""
        if self.length == self.n and not self.documents:
            return self._by_rank(self.halts)
        return np.divide(self.last, self.visits, out=np.zeros(self.length), where=self.visits > 0)

    @property
    def continuation(self) -> Array:
        """The probability of going on after a visit to each rank."""
        return 1.0 - self.halting

    @property
    def expected_depth(self) -> float:
        """E[H]: the mean number of visits to states."""
        return float(self.state_visits.sum())

    @cached_property
    def expected_depths(self) -> Array:
        """E[H] from every state on."""
        return self._sum(np.ones(self.n))

    @cached_property
    def _depth_squares(self) -> Array:
        return self._sum(2.0 * self.expected_depths - 1.0)  # E[H^2] = 1 + 2 P E[H] + P E[H^2], and P E[H] = E[H] - 1

    @property
    def depth_vars(self) -> Array:
        """Var[H] from every state on."""
        return np.asarray(self._depth_squares - self.expected_depths**2)

    @property
    def depth_var(self) -> float:
        """Var[H]."""
        return float(self.start @ self._depth_squares) - self.expected_depth**2

    @property
    def weights(self) -> Array:
        """The share of the visits that each rank gets."""
        return self.visits / self.expected_depth

    def residual(self, k: int) -> float:
        """The share of the visits that goes beyond rank k."""
        if k < 0:
            raise MeasureError(f"residual({k}): expected a rank of at least 0")
        return float(self.visits[k:].sum() / self.expected_depth)

    @cached_property
    def _stopping(self) -> Array:
        """P(H = h) for h = 1, 2, …, until hardly anybody is left, who are taken to stop there."""
        here: Array = self.start
        out: list[float] = []
        while (left := float(here.sum())) > _NEGLIGIBLE or not out:
            out.append(float(here @ self.transitions.stop))
            here = self.transitions.ahead(here)
            if len(out) > _LONGEST:
                raise NoExactDistributionError(f"some users make more than {_LONGEST:,} visits, too many to follow")
        out[-1] += left
        return np.array(out)

    def depth_distribution(self) -> Distribution:
        """The distribution of H, up to a share of 1e-15 of the users, who are taken to stop there."""
        return Distribution(np.arange(1.0, self._stopping.size + 1.0), self._stopping)

    @cached_property
    def mean_effort(self) -> float:
        """E[f(H)]; the mean time, where the effort is one."""
        if self.clock is not None:
            return self.clock[0].overhead + float(self.state_visits @ self.clock[1])
        f = self.effort
        if f.is_power and f.power in (0.0, 1.0):
            return float((self.expected_depth + f.shift) ** f.power)
        if f.is_power and f.power == 2.0:
            return float(self.start @ self._depth_squares)
        return float(self._stopping @ f(np.arange(1.0, self._stopping.size + 1.0)))

    # ---- gains

    def gains_by_state(self, y: Any) -> Array:
        """What each state gains at its first visit, given the gains by rank."""
        given = np.asarray(y, np.float64)
        return self.gain * np.concatenate(([0.0], given, np.zeros(max(0, self.length - given.size))))[self.rank]

    def nodes(self) -> tuple[Array, Array]:
        """The nodes where the chain is solved for order 1, and their weights."""
        return self.effort.nodes(self.expected_depth, lambda: self._stopping.size, self.transitions.going())

    def _summed(self, x: Array, weight: Array, of: Callable[[Solution], Array], timed: bool = False) -> Array:
        """The sum over nodes of what a function makes of the solutions there, for visits or for time."""
        step = max(1, _CELLS // (self.n * self.width))
        out = np.zeros(self.n)
        for at in range(0, x.size, step):
            part = x[at : at + step]
            if timed and self.clock is not None:
                z, lost = self.clock[0].transform(part, self.clock[1])
                found = self._solution(z, lost, (self.halts[:, None] * z)[:, None, :])
            else:
                found = self._solution(np.exp(-part)[None], -np.expm1(-part)[None])
            out += (of(found)[:, 0] @ weight[at : at + step]).real
        return out

    def contributions(self, question: Question, y: Any) -> Array:
        """What the visits to each rank add to the answer."""
        gain = self.gains_by_state(y)
        groups = self.documents if self.by_document else []

        def worth(found: Solution) -> Array:
            return worth_of_visits(found._replace(blocks=found.blocks[: len(groups)]), self.utility, gain, groups)

        if question is Question.ORDER1 and self.clock is not None:
            timing, means = self.clock
            summed = partial(self._summed, of=lambda found: worth(found) * found.end, timed=True)
            fewest = self.check_times(gain > 0)
            return self._by_rank(timing.integral(summed, float(self.state_visits @ means), fewest, float(means.min())))
        if question is Question.ORDER1:
            return self._by_rank(self._summed(*self.nodes(), lambda found: worth(found) * found.end))
        if not question.about_visits:
            raise MeasureError(f"the question {question.value} is no sum over ranks of what they gain")
        total = self._by_rank(worth(self._solved)[:, 0, 0])
        return total if question is Question.TOTAL else total / self.mean_effort

    def check_times(self, gaining: NDArray[np.bool_]) -> float:
        """The least number of visits of a path that gains something; refused if the gain per second is infinite."""
        return math.inf if self.clock is None else self.clock[0].fewest(self._least_visits()[gaining])

    def _least_visits(self) -> Array:
        """The least number of visits of a path through each state to a stop; infinite if there is none."""
        t = self.transitions
        to, off = np.where(self.start > 0, 0.0, np.inf), np.where(self.halts > 0, 0.0, np.inf)
        while True:
            before = to.copy(), off.copy()
            np.minimum.at(to, t.target, to[t.source] + 1.0)
            np.minimum.at(off, t.source, off[t.target] + 1.0)
            if all(map(np.array_equal, before, (to, off))):
                return np.asarray(to + off + 1.0)

    def satisfactions(self, question: Question) -> Array:
        """E[1 / f(H); stopping there] of each rank, or P[stopping there] / E[f(H)]."""
        if question is Question.SATISFIED2:
            return np.asarray(self.last / self.mean_effort)
        return self._by_rank(self._summed(*self.nodes(), lambda found: found.visits) * self.halts)

    def score(self, question: Question, y: Any) -> float:
        """The answer to a question, given the gains by rank."""
        by_rank = self.satisfactions(question) if question.about_satisfaction else self.contributions(question, y)
        return float(by_rank.sum())

    def total(self, y: Any) -> float:
        """E[T]."""
        return self.score(Question.TOTAL, y)

    def order1(self, y: Any) -> float:
        """E[T / f(H)]."""
        return self.score(Question.ORDER1, y)

    def order2(self, y: Any) -> float:
        """E[T] / E[f(H)]."""
        return self.score(Question.ORDER2, y)

    def _total_moments(self, y: Any, every: bool) -> tuple[Array, Array]:
        """E[T] and E[T^2] from every state on, or else from the start."""
        gain, kept = self.gains_by_state(y), self.utility.geometric
        if kept == 1.0:
            mean = self._sum(gain)
            square = self._sum(gain * (2.0 * mean - gain))
            return (mean, square) if every else (np.array([self.start @ mean]), np.array([self.start @ square]))
        if kept is None or (self.by_document and self.documents):
            raise MeasureError(
                "the variance of the gain has a closed form for a loss at each state, not for any utility; simulate"
            )
        m = fundamental(self.p, self.transitions.stop)
        visits = m if every else self.state_visits[None, :]
        at = np.flatnonzero((gain > 0) & (visits.max(axis=0) > 1e-200))
        visits, gain, m = visits[:, at], gain[at], m[at[:, None], at]
        away = 1.0 / np.diagonal(m)
        back, hit, passage = 1.0 - away, visits * away, m * away
        first = 1.0 / (away + (1.0 - kept) * back)  # E[S_j], from j on
        square = (hit * (1.0 + 2.0 * kept * back * first) / (away + (1.0 - kept**2) * back)) @ gain**2
        for i in range(at.size - 1):
            j = slice(i + 1, None)
            pairs = product_of_two(
                kept, passage[i, j], passage[j, i], away[i], away[j], visits[:, i : i + 1], visits[:, j], first, i
            )
            square += 2.0 * pairs @ (gain[i] * gain[j])
        return hit @ (first * gain), square

    def expected_totals(self, y: Any) -> Array:
        """E[T] from every state on."""
        return self._total_moments(y, True)[0]

    def total_vars(self, y: Any) -> Array:
        """Var[T] from every state on, where each visit keeps the same share of what the one before was worth."""
        mean, square = self._total_moments(y, True)
        return np.asarray(square - mean**2)

    def total_var(self, y: Any) -> float:
        """Var[T], where each visit keeps the same share of what the one before was worth."""
        mean, square = self._total_moments(y, False)
        return float(square[0] - mean[0] ** 2)

    # ---- the whole distribution

    @property
    def most_returns(self) -> float:
        """A bound of the probability of coming back to a state, or to a document where its visits count together."""
        blocks = self._solved.blocks if self.by_document else []
        return max([1.0 - 1.0 / float(self._solved.own.max()), *map(_returns, blocks)])

    def total_distribution(self, y: Any) -> Distribution:
        """The distribution of T."""
        return self.distribution(Question.TOTAL, y)

    def distribution(self, question: Question, y: Any) -> Distribution:
        """The distribution of the score: over (state, gain so far), visit by visit, until hardly anybody is left."""
        clock = None if question is Question.TOTAL else self.clock
        if clock is not None:
            self.check_times(self.gains_by_state(y) > 0)
        if clock is not None and clock[0].law != "fixed":
            raise NoExactDistributionError("times that are not fixed have no exact distribution here")
        if self.utility.kind != "kept" and self.most_returns > 1e-12:
            raise NoExactDistributionError(
                "visits are worth less and less, so that the gain depends on the whole history of visits"
            )
        gain: Array = self.utility.values(self.gains_by_state(y), 1)[:, 0]
        if clock is not None:
            gain = gain + 1j * clock[1]  # the time so far is the imaginary part
        totals, here = self._regrouped(np.zeros(1), self.start[None, :], gain)
        values, probs, h, cells = [np.zeros(1)], [np.zeros(1)], 1, 0
        while here.sum() > _NEGLIGIBLE:
            cells += here.size
            if cells > _BUDGET or h > _MOST_VISITS:
                raise NoExactDistributionError("there are too many ways through the list to be followed")
            if clock is None:
                effort: Any = float(self.effort(np.array([float(h)]))[0])
            else:
                effort = clock[0].overhead + totals.imag
            values.append(question.score(totals.real, effort) + np.zeros(totals.size))
            probs.append(here @ self.halts)
            totals, here = self._regrouped(totals, here @ self.p, gain)
            h += 1
        p = np.concatenate(probs)
        p[0] = max(0.0, 1.0 - float(p.sum()))  # who leave with nothing
        return Distribution(np.concatenate(values), p)

    def _regrouped(self, totals: Array, arriving: Array, y: Array) -> tuple[Array, Array]:
        """Gains with those in the states arrived at, and who has them in which state."""
        new, at = np.unique(totals[:, None] + y[None, :], return_inverse=True)
        out = np.zeros((new.size, self.n))
        np.add.at(out, (at.reshape(arriving.shape), np.arange(self.n)[None, :]), arriving)
        some = out.any(axis=1)
        return new[some], out[some]
