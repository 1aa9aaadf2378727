"""Invariant distributions of the family of `models`, of many lists at once, each by what its structure allows.

An stationary distribution is kept up to a factor, and written as pi(i) = x(i) w(i), where w(i) is the sum of the
weights that leave rank i. What she does at i is in w; x is where she is drawn to, and does not depend on whether she
may stay.

* Without counts the weights are symmetric, so the chain is reversible and x is 1: pi is a **row sum**. If she goes
  everywhere, over all ranks, it is two prefix sums of the weights; over the relevant ones, a sum over pairs of them.
* With counts, but between neighbours only, it is a birth-death chain: by **detailed balance** x(i + 1) / x(i) is
  f(i) / b(i + 1), whatever the distances. The products span thousands of digits, so they are kept as logarithms.
* With counts, everywhere, but whatever the distance: with m ranks and w(i) = (m - i) f(i) + (i - 1) b(i), subtracting
  the balance at a rank from that at the next one leaves x(i + 1) (w(i + 1) + b(i + 1)) = x(i) (w(i) + f(i)).
* With counts, everywhere, by distance: a **solve** if the ranks are few, else **power steps** (`toeplitz`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from amble.users.markov_models import Model, distance_weights
from amble.users.toeplitz import settle

__all__ = ["drawn", "pair_sums", "row_sums", "share"]

Array = NDArray[np.float64]
Logs = NDArray[Any]  # longdouble: logarithms in the thousands leave doubles too few digits

_FEW = 192  # up to so many ranks a solve is the faster way
_CELLS = 1 << 18  # pairs that are summed at once


def row_sums(model: Model, rank: Any, length: Any) -> Array:
    """The stationary distribution over all ranks, without counts: at the ranks given, in lists of the lengths given."""
    i, n = np.broadcast_arrays(np.asarray(rank, np.int64), np.asarray(length, np.int64))
    longest = int(n.max(initial=1))
    if model.connected == "LO":
        near = distance_weights(model.distance, 2)[1]
        out = near * ((i > 1) + 0.0 + (i < n)) + model.loop
    else:
        weights = distance_weights(model.distance, longest)
        weights[0] = 0.0
        upto = np.cumsum(weights)
        out = upto[i - 1] + upto[n - i] + model.loop
    return np.where(n > 1, out, 1.0)


def pair_sums(model: Model, rank: NDArray[np.int64]) -> Array:
    """The stationary distribution over some ranks of each list, without counts; as many ranks in each."""
    lists, m = rank.shape
    if m == 1:
        return np.ones((lists, 1))
    weights = distance_weights(model.distance, int(rank.max()))
    if model.connected == "LO":
        near = weights[np.diff(rank)]
        out = np.full(rank.shape, model.loop)
        out[:, :-1] += near
        out[:, 1:] += near
        return out
    if model.distance == "NA":
        return np.ones(rank.shape)
    weights[0] = model.loop
    out = np.empty(rank.shape)
    width = max(1, _CELLS // (lists * m))
    for start in range(0, m, width):
        far = rank[:, start : start + width, None] - rank[:, None, :]
        np.abs(far, out=far)
        out[:, start : start + width] = np.take(weights, far, mode="clip").sum(axis=2)
    return out


def drawn(model: Model, rank: NDArray[np.int64], relevant: NDArray[np.int64]) -> Logs:
    """The logarithm of the stationary distribution, with counts, up to a constant.

    Parameters
    ----------
    model : Model
    rank : ndarray of shape (lists, m) or (1, m)
        The ranks that she wanders over.
    relevant : ndarray of shape (lists, m)
        How many relevant documents there are down to each of them.
    """
    lists, m = relevant.shape
    rank = np.broadcast_to(rank, relevant.shape)
    if m == 1:
        return np.zeros((lists, 1), np.longdouble)
    forward, back = model.ways(rank, relevant)
    staying = model.staying(forward, back)
    if model.connected == "LO":
        near = distance_weights(model.distance, int(rank.max()))[np.diff(rank)]
        leaving = np.zeros(rank.shape)
        leaving[:, :-1] += forward[:, :-1] * near
        leaving[:, 1:] += back[:, 1:] * near
        return _products(np.log(forward[:, :-1]) - np.log(back[:, 1:])) + np.log(leaving + staying)
    if model.distance == "NA":
        i = np.arange(1, m + 1)
        leaving = (m - i) * forward + (i - 1) * back
        up, down = leaving[:, :-1] + forward[:, :-1], leaving[:, 1:] + back[:, 1:]
        return np.asarray(_products(np.log(up) - np.log(down)) + np.log(leaving + staying))
    if m <= _FEW:
        x, leaving = _solved(model._replace(loops="NL").weights(rank, forward, back))
    else:
        x, leaving = settle(distance_weights(model.distance, int(rank.max())), rank, forward, back)
    return np.asarray(np.log((x * (leaving + staying)).astype(np.longdouble)))


def _products(logs: Array) -> Logs:
    """The logarithms of running products, from 1."""
    out = np.zeros((logs.shape[0], logs.shape[1] + 1), np.longdouble)
    np.cumsum(logs, axis=1, dtype=np.longdouble, out=out[:, 1:])
    return out


def _solved(weights: Array) -> tuple[Array, Array]:
    """Solve pi = pi P, and divide by the weights that leave each rank."""
    leaving = weights.sum(axis=-1)
    probabilities = weights / leaving[..., None]
    m = leaving.shape[-1]
    system = np.swapaxes(np.eye(m) - probabilities + 1.0, -1, -2)
    pi = np.linalg.solve(system, np.ones((*leaving.shape, 1)))
    pi = (
        np.swapaxes(pi, -1, -2) @ probabilities
    )  # one step, which only adds: small entries become as exact as large ones
    return pi[..., 0, :] / leaving, leaving


def share(logs: Logs) -> Array:
    """From logarithms to shares that sum to 1, along the last axis."""
    out = np.exp((logs - logs.max(axis=-1, keepdims=True)).astype(np.float64))
    return np.asarray(out / out.sum(axis=-1, keepdims=True))
