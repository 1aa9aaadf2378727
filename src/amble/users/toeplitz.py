"""Stationary distributions by power steps, of chains whose weights depend on the distance and on the rank left.

A step is y -> y P. The weights forward make a Toeplitz matrix, those back its transpose, so a step is two convolutions,
made by fast Fourier transforms: N log N. With weights that fall as slowly as 1 / distance, somewhere between 30 and 200
steps suffice, and every few steps an extrapolation (Anderson's, from the last changes) saves half of them. Transforms
err by the same amount everywhere, so that small entries have fewer digits; a last step without them gives these back.
"""

from __future__ import annotations

from copy import copy

import numpy as np
from numpy.typing import NDArray

from amble.errors import MeasureError

__all__ = ["stationary_by_power_steps"]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

_CELLS = 1 << 15  # lists x ranks that fit into a processor's cache
_CYCLE, _MEMORY = 10, 6  # steps between extrapolations, and how many changes these look at
_CONVERGED = 2e-14  # a change of the distribution, in all, that is nothing but rounding
_NEARLY = 1e-11  # below this a change that does not shrink any more is rounding, too; in long lists a little more
_MOST = 5000  # steps
_DENSE = 2048  # up to so many ranks the last step is made by matrices


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
