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

Only H costs N^3, and all lists have it in common; a step is a product of matrices. The smaller the differences t - m,
the fewer steps there are: half a dozen where lists are alike. Entries of y are near 1, so that all are as exact.
"""

from __future__ import annotations

from copy import copy

import numpy as np

from amble.arrays import NDArray
from amble.errors import MeasureError

__all__ = ["are_many", "stationary_by_power_steps", "stationary_of_many"]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

_CELLS = 1 << 15  # lists x ranks that fit into a processor's cache
_CYCLE, _MEMORY = 10, 6  # steps between extrapolations, and how many changes these look at
_CONVERGED = 2e-14  # a change of the distribution, in all, that is nothing but rounding
_NEARLY = 1e-11  # below this a change that does not shrink any more is rounding, too; in long lists a little more
_MOST = 5000  # steps
_DENSE = 2048  # up to so many ranks the last step is made by matrices
_SHARE, _LEAST = 32, 8  # a shared inverse pays for a list in so many ranks, and for at least so many lists
_TOGETHER = 256  # lists of a product of matrices
_ROUGH, _STEPS = 6, 60  # steps in single precision, and then in double precision, at most


def stationary_by_power_steps(weights: Array, rank: Ints, forward: Array, back: Array) -> tuple[Array, Array]:
    """The stationary distribution of several lists, divided by the weights that leave each rank, and those weights.

    Parameters
    ----------
    weights : ndarray
        By distance, from 0; the first is not used: staying does not change the quotient.
    rank : ndarray of shape (lists, m)
        The ranks of the chain, in increasing order.
    forward, back : ndarray of shape (lists, m)
        What the weights are multiplied by, at the rank left.
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
    single = shared.astype(np.float32)
    out, left = np.empty((lists, n)), []
    for start in range(0, lists, _TOGETHER):
        apart = onward[start : start + _TOGETHER] - mean
        rough = apart.astype(np.float32)
        y = np.ones_like(rough)
        for _ in range(_ROUGH):
            y = (rough * y) @ single
            y += np.float32(1.0)
        out[start : start + _TOGETHER], stuck = _settled(y.astype(np.float64), apart, shared)
        left.append(stuck + start)
    x = out * typical / leaving
    again = np.concatenate((*left, np.flatnonzero(~(out > 0.0).all(axis=1))))
    if again.size:  # lists so unlike the others that steps lead nowhere
        again = np.unique(again)
        x[again], _ = stationary_by_power_steps(weights, rank[again], forward[again], back[again])
    return x, leaving


def _settled(y: Array, apart: Array, shared: Array) -> tuple[Array, Ints]:
    """Steps of `stationary_of_many` until what is still to come is but rounding; and the lists that need more."""
    lists = y.shape[0]
    active, before, last = np.arange(lists), np.full(lists, np.inf), np.full(lists, 1.0)
    out = np.empty(y.shape)
    for _ in range(_STEPS):
        z = (apart * y) @ shared
        z += 1.0
        y -= z
        change = np.abs(y, out=y).max(axis=1)
        pace = np.maximum(change / before, 0.1)
        most = np.maximum(pace, last)  # steps turn round, so that now and then one is short
        y, before, last = z, change, pace
        going = ~(change * most < _CONVERGED * (1.0 - most))
        if going.all():
            continue
        out[active[~going]] = y[~going]
        if not going.any():
            return out, active[:0]
        active, before, last, y, apart = active[going], before[going], last[going], y[going], apart[going]
    out[active] = y
    return out, active


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
            upto = np.cumsum(self.weights)
            self.leaving = forward * upto[::-1] + back * upto
        else:
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
        return out if self.every else out[self.at]

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
        some.forward, some.back = self.forward[keep], self.back[keep]
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
        good = (ahead > 0).all(axis=1) & (change > self.nearly)
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
