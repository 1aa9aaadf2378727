"""A walk over one list: visits, last rank, gain and score, and their distributions. All of it exact.

H is the number of visits, T what they are worth together. `order1` is E[T / f(H)], `order2` is E[T] / E[f(H)];
`distribution` is the whole distribution of T / f(H).
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from amble.arrays import NDArray
from amble.distributions.distribution import Distribution
from amble.errors import MeasureError
from amble.users.birth_death import (
    BirthDeathChain,
    Passages,
    VisitWeights,
    further,
    induced_birth_death_chain,
    least_visits,
    most_likely_to_go_on,
    passages,
    reachable,
    shortened,
    solved,
)
from amble.users.effort import Effort
from amble.users.joint_distribution import (
    BUDGET,
    NoExactDistributionError,
    between,
    check_mass,
    distribution_of_gain,
    joint_of_walk,
    joint_once,
    lattice,
    product_of_two,
    same_steps,
)
from amble.users.protocol import OnList
from amble.users.stationary import check_size
from amble.users.timing import Clock
from amble.users.utility import Utility

if TYPE_CHECKING:
    from amble.users.chain_on_list import ChainOnList

__all__ = ["WalkOnList"]

Array = NDArray[Any]

_NEGLIGIBLE = 1e-16  # a share of users that is taken for none
_FURTHEST = 1 << 22  # visits that are followed one by one


class WalkOnList(OnList):
    """The walk of a user over a list; made by `Walk.over`.

    Attributes
    ----------
    forward, back, stop : ndarray
        The probabilities at each rank.

    Examples
    --------
    >>> from amble.users.walk import Walk
    >>> on_list = Walk(0.5, 0.25, first="stop").over(2)
    >>> on_list.visits, on_list.last  # 1 / (1 - .5 x .25) visits to rank 1, half as many to rank 2
    (array([1.14285714, 0.57142857]), array([0.57142857, 0.42857143]))
    >>> on_list.order2([1, 0])
    0.6666666666666666
    """

    def __init__(
        self,
        chain: BirthDeathChain,
        utility: Utility | None = None,
        effort: Effort | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.chain = chain
        self.utility = utility or Utility()
        self.effort = effort or Effort()
        self.clock = clock  # the seconds of visits, where time is the effort
        self.forward, self.back, self.stop = (np.asarray(part[0]) for part in chain[:3])

    @property
    def n(self) -> int:
        """The number of ranks."""
        return int(self.forward.size)

    # ---- visits

    @cached_property
    def _walk(self) -> Passages:
        return solved(self.chain)

    @property
    def reach(self) -> Array:
        """The probability that each rank is ever visited."""
        return np.asarray(self._walk.hit[:, 0, 0])

    @property
    def returns(self) -> Array:
        """The probability of coming back to a rank, once there."""
        return 1.0 - self._walk.away[:, 0, 0]

    @cached_property
    def visits(self) -> Array:
        """The mean number of visits to each rank."""
        away = self._walk.away[:, 0, 0]
        return np.divide(self.reach, away, out=np.zeros(self.n), where=away > 0)

    @property
    def last(self) -> Array:
        """The probability of stopping at each rank."""
        return np.asarray(self.visits * self.stop)

    @property
    def tail_visits(self) -> float:
        """The mean number of visits beyond an endless list."""
        tail = self._walk.tail
        return 0.0 if tail is None else float(self.visits[-1] * tail[0, 0])

    @property
    def beyond(self) -> float:
        """The probability of stopping beyond the list."""
        if self.chain.beyond is None:
            return 0.0
        return float(self.tail_visits * self.chain.beyond[2][0])

    @property
    def expected_depth(self) -> float:
        """E[H]: the mean number of visits."""
        return float(self.visits.sum() + self.tail_visits)

    @property
    def weights(self) -> Array:
        """The share of the visits that each rank gets."""
        return np.asarray(self.visits / self.expected_depth)

    @property
    def halting(self) -> Array:
        """The probability of stopping at a visit to each rank."""
        return self.stop

    @property
    def continuation(self) -> Array:
        """The probability of going on, forward or back, after a visit to each rank."""
        return np.asarray(self.forward + self.back)

    @property
    def by_rank(self) -> dict[str, Any]:
        """What is shown of each rank, by the name of its column."""
        steps = {"p": self.forward, "q": self.back, "s": self.stop, "reach": self.reach, "returns": self.returns}
        return steps | super().by_rank

    def gained(self, path: NDArray[np.int64], gains: Array) -> tuple[float, float]:
        """T and f(H) of a reader who visited the ranks of a path; or its mean time, where time is the effort."""
        total, effort = super().gained(path, gains)
        if self.clock is not None:
            seconds = self.clock.means[0]
            each = np.append(seconds, self.clock.beyond[0])[np.minimum(path - 1, seconds.size)]
            effort = self.clock.timing.overhead + float(each.sum())
        return total, effort

    @property
    def transition_matrix(self) -> Array:
        """The probabilities of going from rank to rank, to neighbours only; what a row lacks to 1 stops there."""
        check_size(self.n)
        return np.diag(self.forward[:-1], 1) + np.diag(self.back[1:], -1)

    def as_chain(self) -> ChainOnList:
        """The same user as a chain of states, as far as the walk ever comes."""
        from amble.users.chain_on_list import ChainOnList  # most walks do without

        if self.chain.beyond is not None:
            raise MeasureError("a walk on an endless list has no end of its states; expected end='stop'")
        n = min(self.n, int(np.max(reachable(self.chain))))
        walk = self if n == self.n else self._over(shortened(self.chain, n))
        clock = None if self.clock is None else (self.clock.timing, self.clock.means[0, :n])
        out = ChainOnList(
            walk.transition_matrix, walk.chain.start[0], None, self.utility, self.effort, length=self.n, clock=clock
        )
        if "mean_effort" in vars(self):  # of an endless list
            out.mean_effort = self.mean_effort
        return out

    @property
    def furthest(self) -> int | None:
        """The last rank that can be visited; None if there is none."""
        return self.n if self.chain.beyond is None else None

    def residual(self, k: int) -> float:
        """The share of the visits that goes beyond rank k."""
        if not isinstance(k, int | np.integer) or k < 0:
            raise MeasureError(f"residual({k}): expected a rank of at least 0")
        if k > self.n and self.chain.beyond is not None:  # out there every rank has the same share of the one before
            return float(self.tail_visits * further(self.chain.beyond) ** (k - self.n) / self.expected_depth)
        return float((self.visits[k:].sum() + self.tail_visits) / self.expected_depth)

    def _extended(self, more: int) -> WalkOnList:
        """The same walk on an endless list, with more of its ranks spelled out."""
        beyond = self.chain.beyond
        if beyond is None or more <= 0:
            return self
        parts = [
            np.concatenate((part, np.repeat(c[:, None], more, axis=1)), axis=1)
            for part, c in zip(self.chain[:3], beyond, strict=True)
        ]
        start = np.pad(self.chain.start, ((0, 0), (0, more)))
        return self._over(BirthDeathChain(parts[0], parts[1], parts[2], start, beyond))

    def _over(self, chain: BirthDeathChain) -> WalkOnList:
        """The same user on more or fewer ranks."""
        clock = self.clock and self.clock.upto(chain.forward.shape[1])
        return WalkOnList(chain, self.utility, self.effort, clock)

    def cut(self, least: float = _NEGLIGIBLE) -> WalkOnList:
        """The same walk without the ranks to which less than this share of users comes; never endless."""
        whole = self
        if self.chain.beyond is not None and self.forward[-1] > 0:
            on = further(self.chain.beyond)
            more = 1 if on <= 0 else 2 + math.ceil(math.log(least) / math.log(min(on, 1 - 1e-12)))
            if more > _FURTHEST:
                raise NoExactDistributionError(f"walks go {more:,} ranks beyond the list, too far to be followed")
            whole = self._extended(more)
        n = reachable(whole.chain, least)
        if n == whole.n and self.chain.beyond is None:
            return self
        return self._over(shortened(whole.chain, n))

    @cached_property
    def _followed(self) -> WalkOnList:
        return self.cut()

    # ---- how many visits

    @property
    def depth_var(self) -> float:
        """Var[H]."""
        walk = self.cut()
        solve = walk._solver()
        mean = solve(np.ones(walk.n))
        second = solve(2.0 * mean - 1.0)  # E[H^2] = 1 + 2 P E[H] + P E[H^2], and P E[H] = E[H] - 1
        mu = walk.chain.start[0]
        return float(mu @ second - (mu @ mean) ** 2)

    def _solver(self) -> Any:
        """Solve (I - P) out = right, for right >= 0, without a subtraction."""
        on = self._walk.on[:, 0, 0].tolist()
        p, q = self.forward.tolist(), self.back.tolist()
        never = 0.0
        pivots = []
        for a, b, s, f in zip(p, q, self.stop.tolist(), on, strict=True):
            pivots.append(s + b * never + a)
            never = 1.0 - f if f < 0.5 else (s + b * never) / pivots[-1]

        def solve(right: Array) -> Array:
            partial, inner = 0.0, []
            for r, b, pivot in zip(right.tolist(), q, pivots, strict=True):
                partial = (r + b * partial) / pivot
                inner.append(partial)
            out, value = np.empty(right.size), 0.0
            for i in range(right.size - 1, -1, -1):
                value = inner[i] + on[i] * value
                out[i] = value
            return out

        return solve

    def depth_distribution(self) -> Distribution:
        """The distribution of H, up to a share of 1e-16 of the users, who are taken to stop there."""
        probs = self.cut()._stopping()
        return Distribution(np.arange(1.0, probs.size + 1.0), probs)

    def _stopping(self) -> Array:
        """P(H = h) for h = 1, 2, …"""
        p, q, s = self.forward[:-1], self.back[1:], self.stop
        here = self.chain.start[0].copy()
        out: list[float] = []
        while True:
            out.append(float(here @ s))
            moved = np.zeros(here.size)
            moved[1:] = here[:-1] * p
            moved[:-1] += here[1:] * q
            here = moved
            left = float(here.sum())
            check_mass(left)
            if left < _NEGLIGIBLE:
                out[-1] += left
                return np.array(out)
            if len(out) >= _FURTHEST:
                raise NoExactDistributionError(
                    f"some users still walk after {_FURTHEST:,} visits, too many to be followed"
                )

    def _longest(self) -> int:
        """A number of visits that no user exceeds, by the spectral radius of the chain."""
        from scipy.linalg import eigvalsh_tridiagonal

        n = self.n
        off = np.sqrt(self.forward[:-1] * self.back[1:])
        radius = 0.0
        if off.any():
            radius = float(eigvalsh_tridiagonal(np.zeros(n), off, select="i", select_range=(n - 1, n - 1))[0])
        if radius <= 0:
            return n + 1
        visits = n + 40.0 / max(-math.log(min(radius, 1.0 - 1e-16)), 1e-16)
        if visits > _FURTHEST:
            raise MeasureError(
                f"some users may make {visits:,.0f} visits, too many for this effort; use a power of h, or simulate"
            )
        return int(visits)

    @cached_property
    def mean_effort(self) -> float:
        """E[f(H)], or the mean time."""
        if self.clock is not None:
            return self.clock.timing.overhead + self.mean_time
        f = self.effort
        if f.is_power and f.power in (0.0, 1.0):
            return float((self.expected_depth + f.shift) ** f.power)
        if f.is_power and f.power == 2.0:
            return self.depth_var + self.expected_depth**2
        probs = self.cut()._stopping()
        return float(probs @ f(np.arange(1.0, probs.size + 1.0)))

    @property
    def mean_time(self) -> float:
        """E[tau]: the mean seconds of all visits, where time is the effort."""
        if self.clock is None:
            raise MeasureError("a user without seconds, expected one whose effort is time")
        return float(self.clock.time(self.visits[:, None], np.array([self.tail_visits]))[0])

    # ---- gains

    def _gains(self, gains: Any) -> Array:
        given = np.array(gains, np.float64, ndmin=1)
        if given.ndim != 1 or given.size > self.n or not np.isfinite(given).all() or (given < 0).any():
            raise MeasureError(f"gains: expected at most {self.n} numbers of at least 0, one for each rank")
        return np.pad(given, (0, self.n - given.size))

    def total(self, gains: Any) -> float:
        """E[T], the mean gain."""
        y = self._gains(gains)
        found = self._walk
        met = found.hit[:, 0, 0] > 0
        worth = self.utility.series(y[met], found.away[met, 0, 0])
        return float(found.hit[met, 0, 0] @ worth)

    def nodes(self) -> tuple[Array, Array]:
        """The nodes where the walk is solved for order 1, and their weights."""
        return self.effort.nodes(self.expected_depth, self.cut()._longest, most_likely_to_go_on(self.chain))

    def order1(self, gains: Any) -> float:
        """E[T / f(H)], the expected gain per unit of effort (order 1): per second, where time is the effort."""
        y = self._gains(gains)
        return float(np.asarray(self._rate(y)).sum())

    def order1_weights(self, gains: Any = None) -> Array:
        """What a gain of 1 at each rank adds to `order1`; with gains, at each that has one, and 0 elsewhere."""
        if not self.utility.separable:
            raise MeasureError("a utility that is not a multiple of the gain has no weights")
        return np.asarray(self._rate(np.ones(self.n) if gains is None else (self._gains(gains) > 0) + 0.0))

    def _rate(self, y: Array) -> Array:
        walk = self if self.chain.beyond is not None else self.cut()
        out = np.zeros(self.n)
        n, clock = walk.n, walk.clock

        def summed(x: Array | VisitWeights, weight: Array) -> Array:
            found = passages(walk.chain, x)
            hit, away, end = found.hit[:, 0], found.away[:, 0], found.end[:, 0]
            met = hit != 0
            worth = self.utility.series(y[:n, None], np.where(met, away, 1.0))
            return np.asarray(np.where(met, hit * end * worth, 0.0).dot(weight).real)

        if clock is not None:
            fewest = clock.timing.fewest(least_visits(walk.chain)[:, 0][y[:n] > 0])
            return np.pad(
                clock.timing.integral(lambda u, w: summed(clock.weights(u), w), walk.mean_time, fewest, clock.least),
                (0, self.n - n),
            )
        x, weight = self.nodes()
        block = max(1, (1 << 22) // max(n, 1))
        for at in range(0, x.size, block):
            out[:n] += summed(x[at : at + block], weight[at : at + block])
        return out

    def worth_beyond(self, k: int, order: int, gain: float = 1.0, upto: int | None = None) -> float:
        """What a gain at every rank beyond k (up to another one) would add to order 1 or 2."""
        if self.chain.beyond is None:
            return 0.0
        walk = self.cut()
        gains = np.zeros(walk.n)
        gains[k:upto] = gain
        return walk.order1(gains) if order == 1 else walk.total(gains) / self.mean_effort

    def order2(self, gains: Any) -> float:
        """E[T] / E[f(H)], the expected gain over expected effort (order 2)."""
        return self.total(gains) / self.mean_effort

    def total_var(self, gains: Any) -> float:
        """Var[T], where each visit keeps the same share of what the one before was worth."""
        kept = self.utility.geometric
        if kept is None:
            raise MeasureError("the variance of the gain has a closed form for a loss, not for any utility; simulate")
        y = self._gains(gains)
        found = self._walk
        hit, away = found.hit[:, 0, 0], found.away[:, 0, 0]
        at = np.flatnonzero((y > 0) & (hit > 1e-200))
        if not at.size:
            return 0.0
        y, hit, away = y[at], hit[at], away[at]
        first = 1.0 / (away + (1.0 - kept) * (1.0 - away))  # E[S_j], from j on
        back = 1.0 - away
        square = (1.0 + 2.0 * kept * back * first) / (away + (1.0 - kept**2) * back)
        total = float((y**2 * hit) @ square)
        passage = between(found.on[:, 0, 0], found.off[:, 0, 0], at)
        visits = hit / away
        for i in range(at.size - 1):
            j = slice(i + 1, None)
            pairs = product_of_two(kept, passage[i, j], passage[j, i], away[i], away[j], visits[i], visits[j], first, i)
            total += 2.0 * float((y[i] * y[j]) @ pairs)
        return total - float((y * hit) @ first) ** 2

    def total_distribution(self, gains: Any) -> Distribution:
        """The distribution of T, where nothing is ever lost, nobody goes back, or only the first visit counts."""
        y = self.utility.values(self._gains(gains), 1)[:, 0]
        if self.utility.kind == "fading" and self.back.any():
            raise NoExactDistributionError(
                "visits are worth less and less, so that the gain depends on the whole history of visits"
            )
        if self.utility.kind == "once":
            t, _, p = self.joint(gains)
            return Distribution(t, p)
        unit, units = lattice(y)
        walk = self.cut()
        units = np.pad(units, (0, max(0, walk.n - units.size)))[: walk.n]
        keep = units > 0
        if not keep.any():
            return Distribution([0.0], [1.0])
        back, loop, forward, stop, start, unseen = induced_birth_death_chain(walk.chain, keep)
        probs = distribution_of_gain(back, loop, forward, stop, start, units[keep])
        probs[0] += unseen
        return Distribution(unit * np.arange(probs.size), probs)

    # ---- the whole distribution

    def joint(self, gains: Any, budget: int = BUDGET) -> tuple[Array, Array, Array]:
        """The joint distribution of T and H: arrays of t, h and their probabilities.

        Followed visit by visit until less than 1e-15 of the users are left, who are taken to stop there.
        Raises `NoExactDistributionError` where that takes more than ``budget`` cells, or where a loss makes T depend on
        the whole history of visits.
        """
        if self.utility.kind == "fading" and self.back.any():
            raise NoExactDistributionError(
                "visits are worth less and less, so that the gain depends on the whole history of visits"
            )
        y = self.utility.values(self._gains(gains), 1)[:, 0]
        walk = self._followed
        p, q, s, mu = (part[0] for part in walk.chain[:4])
        y = np.pad(y, (0, max(0, walk.n - y.size)))[: walk.n]
        if self.utility.kind == "once":
            return joint_once(same_steps(p, q, s), mu, y, budget)[:3]
        unit, units = lattice(y)
        return joint_of_walk(mu, p, q, s, units, unit, budget)

    def distribution(self, gains: Any, budget: int = BUDGET) -> Distribution:
        """The distribution of T / f(H), from the joint distribution of both."""
        clock = self.clock
        if clock is None:
            t, h, p = self.joint(gains, budget)
            return Distribution(t / self.effort(h), p)
        clock.timing.fewest(least_visits(self.chain)[:, 0][self._gains(gains) > 0])  # refuses what has no mean
        seconds = np.append(clock.means[0], clock.beyond[:1] if self.chain.beyond is not None else [])
        if not math.isinf(clock.timing.shape) or (seconds != seconds[0]).any():
            raise NoExactDistributionError("visits take different times, so there is no exact distribution")
        t, h, p = self.joint(gains, budget)
        return Distribution(t / (clock.timing.overhead + seconds[0] * h), p)
