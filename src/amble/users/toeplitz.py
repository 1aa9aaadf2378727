"""Stationary distributions of chains whose weights depend on the distance and on the rank left: of one list, or many.

By **power steps**, y -> y P. The weights forward make a Toeplitz matrix, those back its transpose, so a step is two
convolutions, made by fast Fourier transforms: N log N. With weights that fall as slowly as 1 / distance, somewhere
between 30 and 200 steps suffice, and every few steps an extrapolation (Anderson's, from the last changes) saves half of
them. Transforms err by the same amount everywhere, so that small entries have fewer digits; a last step without them
gives these back.

Many lists of one length, with all ranks in their chains, differ in nothing but the probability t(i) of going forward
from rank i: P = t U + (1 - t) D, where row i of U and D is the distribution of the next rank after a step forward and
back, the same for all lists. With m(i) the mean of t(i) over lists, M the chain of a list that has it, and z the
stationary distribution of M, the stationary distribution of a list is y z, up to a factor, where

    y = 1 + y (t - m) H,    H = z (U - D) (I - M + 1 z)^-1 / z.

Only H costs N^3, and all lists have it in common; its blocks off the diagonal are of low rank (`block_low_rank`). y is
the sum of a series in (t - m) H: the smaller the differences, the fewer terms, half a dozen where lists are alike. They
are summed in single precision; what is left over is found in double precision, and its series added, twice or three
times. Entries of y are near 1, so that all are as exact.
"""

from __future__ import annotations

from copy import copy

import numpy as np

from amble.arrays import NDArray
from amble.errors import MeasureError
from amble.users.block_low_rank import BlockLowRank

__all__ = ["are_many", "stationary_by_power_steps", "stationary_of_many"]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Blocks = NDArray[np.float32]

_CELLS = 1 << 15  # lists x ranks that fit into a processor's cache
_CYCLE, _MEMORY = 10, 6  # steps between extrapolations, and how many changes these look at
_CONVERGED = 2e-14  # a change of the distribution, in all, that is nothing but rounding
_NEARLY = 1e-11  # below this a change that does not shrink any more is rounding, too; in long lists a little more
_MOST = 5000  # steps
_DENSE = 2048  # up to so many ranks the last step is made by matrices
_SHARE, _LEAST = 32, 8  # a shared inverse pays for a list in so many ranks, and for at least so many lists
_TOGETHER = 256  # lists of a product of matrices
_BLOCK, _FINE, _ROUGH = 100, 1e-15, 1e-6  # ranks of a block, and how exact products in double and single precision are
_STEPS, _SMALL = 60, 1e-6  # terms of a series, at most, and the size of one that ends it
_REFINEMENTS, _CONTRACTION = 6, 1e-4  # solutions after the first, at most, and how little each is trusted to leave over


def stationary_by_power_steps(weights: Array, rank: Ints, forward: Array, back: Array) -> tuple[Array, Array]:
    """The stationary distribution of several lists, divided by the weights that leave each rank, and those weights.

    Parameters
    ----------
    weights : ndarray
        By distance, from 0; the first is not used: staying does not change the quotient.
    rank : ndarray of shape (lists, m)
        The ranks of the chain, in increasing order.
    forward, back : ndarray of shape (lists, m)
        What the weights are multiplied by, at the rank left. In chains on all ranks both are 0 beyond the end of a
        shorter list, and what is returned there means nothing.
    """
    lists, m = rank.shape
    out, leaving = np.empty((lists, m)), np.empty((lists, m))
    n = int(rank.max())
    width = max(1, _CELLS // n)
    for start in range(0, lists, width):
        some = slice(start, start + width)
        out[some], leaving[some] = _Steps(weights[:n], rank[some], forward[some], back[some]).run()
    return out, leaving


def are_many(lists: int, n: int) -> bool:
    """Whether so many lists of n ranks, all of them in their chains, are better looked at together."""
    return 2 < n <= _DENSE and lists >= max(_LEAST, n // _SHARE)


def stationary_of_many(weights: Array, forward: Array, back: Array) -> tuple[Array, Array]:
    """The same of many lists with chains on all of their ranks."""
    lists, n = forward.shape
    weights = weights[:n].copy()
    weights[0] = 0.0
    behind = np.cumsum(weights)
    ahead = behind[::-1]
    leaving = forward * ahead + back * behind
    onward = forward * ahead / leaving
    mean = onward.mean(axis=0)
    k = np.arange(n)
    rank = np.broadcast_to(k + 1, forward.shape)
    later, some = k[:, None] < k, np.append(1.0, behind[1:])
    typical = stationary_by_power_steps(weights, rank[:1], (mean / some[::-1])[None], ((1.0 - mean) / some)[None])[0][0]
    typical /= typical.sum()
    to = weights[np.abs(k[:, None] - k)]  # U above the diagonal, D below it
    to *= typical[:, None] / (np.where(later, ahead[:, None], some[:, None]) * typical)
    chain = to * np.where(later, mean[:, None], 1.0 - mean[:, None])
    system = np.eye(n) - chain + typical[:, None]
    shared = np.ascontiguousarray(np.linalg.solve(system.T, np.where(later, to, -to).T).T)
    fine, rough = BlockLowRank(shared, _BLOCK, _FINE, np.float64), BlockLowRank(shared, _BLOCK // 2, _ROUGH, np.float32)
    out = np.empty((lists, n))
    with np.errstate(over="ignore", invalid="ignore"):  # where a series has no sum
        for start in range(0, lists, _TOGETHER):
            apart = onward[start : start + _TOGETHER] - mean
            out[start : start + _TOGETHER] = _solved_together(apart, fine, rough)
    x = out * typical / leaving
    again = np.flatnonzero(~(out > 0.0).all(axis=1))
    if again.size:  # lists so unlike the others that steps lead nowhere
        x[again], _ = stationary_by_power_steps(weights, rank[again], forward[again], back[again])
    return x, leaving


def _solved_together(apart: Array, fine: BlockLowRank, rough: BlockLowRank) -> Array:
    """Solve y = 1 + (apart y) H for some lists; NaN where the series has no sum.

    What a solution in single precision leaves over is found in double precision, and solved for in turn.
    """
    y, before = np.ones(apart.shape), 1.0
    coarse, exact = rough.split(apart), fine.split(apart)
    y += _neumann(coarse, rough.product(coarse), rough)
    for _ in range(_REFINEMENTS):
        left = fine.joined(fine.product(exact * fine.split(y)))
        left += 1.0
        left -= y
        more = _neumann(coarse, rough.split(left), rough)
        y += more
        change = np.abs(more).max(axis=1)
        good = change * np.maximum(change / before, _CONTRACTION) < _CONVERGED
        before = change
        if (good | ~np.isfinite(change)).all():
            break
    y[~good] = np.nan
    return y


def _neumann(apart: Blocks, first: Blocks, rough: BlockLowRank) -> Array:
    """The sum of the series in which a term is (apart term before) H, in single precision; NaN where it has none."""
    out = np.full((first.shape[1], rough.n), np.nan)
    active, total, term = np.arange(out.shape[0]), first, first
    enough = _SMALL * np.abs(first).max(axis=(0, 2))
    for _ in range(_STEPS):
        going = np.abs(term).max(axis=(0, 2)) > enough[active]
        if 2 * np.count_nonzero(going) <= going.size:
            out[active[~going]] = rough.joined(total[:, ~going])
            active, total, term, apart = active[going], total[:, going], term[:, going], apart[:, going]
            if not active.size:
                break
        term = rough.product(apart * term)
        total = total + term
    return out


class _Steps:
    """Some lists, side by side."""

    def __init__(self, weights: Array, rank: Ints, forward: Array, back: Array) -> None:
        self.lists, self.m = rank.shape
        self.n = n = weights.size
        self.weights = weights.copy()
        self.weights[0] = 0.0
        self.size = _size(2 * n - 1)
        self.nearly = max(_NEARLY, n * 1e-15)
        self.kernel = np.fft.rfft(self.weights, self.size)
        self.every = self.m == n  # the chain is on all ranks
        self.at = (np.arange(self.lists)[:, None], rank - 1)
        if self.every:
            upto, length = np.cumsum(self.weights), np.count_nonzero(forward + back, axis=1)
            left = length[:, None] - np.arange(1, n + 1)
            self.within = left >= 0
            self.leaving = np.where(self.within, forward * upto[left] + back * upto, 1.0)
        else:
            self.within = np.ones(rank.shape, bool)
            ones = self._spread(np.ones(rank.shape))
            ahead = self._convolved(None, ones)[self.at]
            behind = self._convolved(ones, None)[self.at]
            self.leaving = forward * ahead + back * behind
        self.forward, self.back = forward / self.leaving, back / self.leaving

    def _spread(self, y: Array) -> Array:
        """From the ranks of the chain to all of them."""
        if self.every:
            return y
        out = np.zeros((y.shape[0], self.n))
        out[self.at] = y
        return out

    def _convolved(self, ahead: Array | None, behind: Array | None) -> Array:
        total = np.zeros(1, np.complex128)
        if ahead is not None:
            total = np.fft.rfft(ahead, self.size) * self.kernel
        if behind is not None:
            total = total + np.fft.rfft(behind, self.size) * self.kernel.conj()
        return np.fft.irfft(total, self.size)[:, : self.n]

    def _step(self, y: Array) -> Array:
        out = self._convolved(self._spread(y * self.forward), self._spread(y * self.back))
        return out * self.within if self.every else out[self.at]

    def run(self) -> tuple[Array, Array]:
        """Step until nothing changes any more."""
        y = np.full((self.lists, self.m), 1.0 / self.m)
        out = np.empty(y.shape)
        steps, active, before = self, np.arange(self.lists), np.full(self.lists, np.inf)
        for _ in range(_MOST // _CYCLE):
            y, change = steps._cycle(y)
            done = (change < _CONVERGED) | ((change < self.nearly) & (change > 0.5 * before))
            out[active[done]] = y[done]
            if done.all():
                return self._polished(out)
            if done.any():
                steps, active, y, change = steps._only(~done), active[~done], y[~done], change[~done]
            before = change
        raise MeasureError(f"the stationary distribution was not found in {_MOST} steps")

    def _only(self, keep: NDArray[np.bool_]) -> _Steps:
        """Some of the lists."""
        some = copy(self)
        some.forward, some.back, some.within = self.forward[keep], self.back[keep], self.within[keep]
        some.at = (np.arange(int(keep.sum()))[:, None], self.at[1][keep])
        return some

    def _cycle(self, y: Array) -> tuple[Array, Array]:
        """Some steps, and an extrapolation unless it leads out of the simplex; how much the last step changed."""
        images, changes = [], []
        for _ in range(_CYCLE):
            z = self._step(y)
            z /= z.sum(axis=1, keepdims=True)
            images.append(z)
            changes.append(z - y)
            del images[: -_MEMORY - 1], changes[: -_MEMORY - 1]
            y = z
        last = changes[-1]
        change = np.abs(last).sum(axis=1)
        if change.max() < _CONVERGED:
            return y, change
        less = np.stack([last - other for other in changes[:-1]], axis=1)
        gram = less @ less.transpose(0, 2, 1)
        ridge = 1e-13 * np.trace(gram, axis1=1, axis2=2) + 1e-300
        gram += ridge[:, None, None] * np.eye(_MEMORY)
        share = np.linalg.solve(gram, less @ last[:, :, None])
        ahead = y - np.sum(share * np.stack([y - other for other in images[:-1]], axis=1), axis=1)
        good = (ahead >= 0).all(axis=1) & (change > self.nearly)
        return np.where(good[:, None], ahead / ahead.sum(axis=1, keepdims=True), y), change

    def _polished(self, y: Array) -> tuple[Array, Array]:
        """A step of plain sums of positive numbers, where that is not too much work."""
        if self.n <= _DENSE:
            k = np.arange(self.n)
            ahead = np.triu(self.weights[np.abs(k[:, None] - k)])
            z = self._spread(y * self.forward) @ ahead + self._spread(y * self.back) @ ahead.T
            y = z if self.every else z[self.at]
            y = y / y.sum(axis=1, keepdims=True)
        return y / self.leaving, self.leaving


def _size(least: int) -> int:
    """The least number of at least so much that has no prime factors but 2, 3 and 5."""
    best = 1 << (least - 1).bit_length()
    for five in range(4):
        for three in range(4):
            odd = 5**five * 3**three
            best = min(best, odd << max(0, (-(-least // odd) - 1).bit_length()))
    return best
