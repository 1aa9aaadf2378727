"""Stationary distributions of Markov chains on the ranks, the chains induced on some of them, and finite steps.

The stationary distribution pi = pi P exists and is unique if every rank can be reached from every other. It is kept up
to a factor, as logarithms where it spans many digits. Of any chain:

* weights that are the same both ways give it as row sums, weights between neighbours by detailed balance, others by
  taking states out (Grassmann, Taksar and Heyman);
* the chain seen only at some of its ranks is a chain, too (the induced chain); its stationary distribution is that of
  the whole chain there, but for a factor.

Of the family of `markov_models`, many lists at once, write pi(i) = x(i) w(i), where w(i) is the sum of the weights that
leave rank i. Staying at i changes w(i) only, not x:

* Without counts the weights are symmetric, so the chain is reversible and x is 1: pi is a **row sum**. Between all
  ranks it is two prefix sums of the weights; between the relevant ones, a sum over pairs of them.
* With counts, but between neighbours only, it is a birth-death chain: by **detailed balance** x(i + 1) / x(i) is
  f(i) / b(i + 1), whatever the distances. The products span thousands of digits, so they are kept as logarithms.
* With counts, everywhere, but whatever the distance: with m ranks and w(i) = (m - i) f(i) + (i - 1) b(i), subtracting
  the balance at a rank from that at the next one leaves x(i + 1) (w(i + 1) + b(i + 1)) = x(i) (w(i) + f(i)).
* With counts, everywhere, by distance: many lists **at once** if they are alike but for counts, one by one a **solve**
  if the ranks are few, else **power steps** (`toeplitz`).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from amble.arrays import NDArray
from amble.errors import MeasureError
from amble.users.markov_models import Model, distance_weights
from amble.users.toeplitz import are_many, stationary_by_power_steps, stationary_of_many

__all__ = [
    "are_few",
    "check_irreducible",
    "check_matrix",
    "check_size",
    "check_weights",
    "distribution_after",
    "from_logs",
    "induced_chain",
    "induced_chain_of_model",
    "log_stationary",
    "log_stationary_of_model",
    "mean_occupation",
    "pair_sums",
    "row_sums",
    "stationary_by_distance",
    "transition_probabilities",
]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Logs = NDArray[Any]  # longdouble: logarithms in the thousands leave doubles too few digits

_SLACK = 1e-9  # how far from 1 a row of probabilities may sum
_NAMED = 5  # culprits that are named, before they are counted
_KEPT = 4  # fundamental matrices that are kept
_LARGEST = 8192  # ranks whose probabilities, from each to each, are written down
_FEW = 192  # up to so many ranks a solve is the faster way
_CELLS = 1 << 18  # pairs that are summed at once


def check_size(n: int) -> None:
    """Refuse chains of more ranks than a matrix of probabilities may have."""
    if n > _LARGEST:
        raise MeasureError(
            f"probabilities between {n:,} ranks, from each to each, are too many; expected at most {_LARGEST:,} "
            f"(@k cuts lists)"
        )


def check_weights(weights: Any, rank: Ints, what: str = "weight", many: str = "weights") -> Array:
    """Weights between ranks, as a square array of finite numbers of at least 0."""
    try:
        w = np.array(weights, np.float64)
    except (TypeError, ValueError):
        raise MeasureError(f"{many}: expected a square array of numbers, found {type(weights).__name__}") from None
    n = rank.size
    if w.shape != (n, n):
        raise MeasureError(f"{many} of shape {w.shape}, expected {(n, n)}: a row and a column for each rank")
    wrong = np.argwhere(~((w >= 0) & np.isfinite(w)))
    if wrong.size:
        i, j = wrong[0]
        raise MeasureError(
            f"the {what} from rank {rank[i]} to rank {rank[j]} is {w[i, j]:g}, expected a finite number of at least 0"
        )
    return w


def transition_probabilities(weights: Array, rank: Ints) -> Array:
    """The transition probabilities of weights: each row divided by its sum; a single rank stays."""
    if rank.size == 1:
        return np.ones((1, 1))
    largest = float(weights.max(initial=0.0))
    weights = weights / largest if largest > 1e290 else weights  # sums must be numbers
    total = weights.sum(axis=1)
    stuck = np.flatnonzero(total == 0)
    if stuck.size:
        raise MeasureError(f"the user cannot leave {_ranks(rank[stuck])}: all weights from there are 0")
    return np.asarray(weights / total[:, None])


def check_matrix(matrix: Any, rank: Ints) -> Array:
    """Probabilities between ranks, each row summing to 1."""
    p = check_weights(matrix, rank, "probability", "probabilities")
    total = p.sum(axis=1)
    wrong = np.flatnonzero(np.abs(total - 1.0) > _SLACK)
    if wrong.size:
        raise MeasureError(f"the probabilities at rank {rank[wrong[0]]} sum to {total[wrong[0]]:.12g}, expected 1")
    return np.asarray(p / total[:, None])


def _ranks(culprits: Ints) -> str:
    named = ", ".join(map(str, culprits[:_NAMED].tolist()))
    more = f" and {culprits.size - _NAMED} more" if culprits.size > _NAMED else ""
    return f"rank{'s' * (culprits.size > 1)} {named}{more}"


def check_irreducible(weights: Array, rank: Ints) -> None:
    """Refuse a chain in which some rank cannot be reached from another.

    >>> check_irreducible(np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]), np.array([1, 2, 3]))
    Traceback (most recent call last):
    ...
    amble.errors.MeasureError: not irreducible: rank 3 cannot be reached from rank 1
    """
    links = weights > 0
    for way, text in ((links, "{1} cannot be reached from rank {0}"), (links.T, "rank {0} cannot be reached from {1}")):
        seen = np.zeros(rank.size, bool)
        seen[0] = True
        new = seen
        while new.any():
            new = way[new].any(axis=0) & ~seen
            seen = seen | new
        if not seen.all():
            raise MeasureError("not irreducible: " + text.format(rank[0], _ranks(rank[~seen])))


def log_stationary(weights: Array) -> Logs:
    """The logarithm of the stationary distribution, up to a constant; by what the weights allow."""
    n = weights.shape[0]
    if n == 1:
        return np.zeros(1, np.longdouble)
    largest = float(weights.max())
    weights = weights / largest if largest > 1e290 else weights  # sums must be numbers
    leaving = weights.sum(axis=1)
    if np.array_equal(weights, weights.T):
        return np.asarray(np.log(leaving.astype(np.longdouble)))
    if not np.triu(weights, 2).any() and not np.tril(weights, -2).any():
        steps = np.log(np.diagonal(weights, 1)) - np.log(np.diagonal(weights, -1))
        return np.asarray(np.concatenate(([0.0], np.cumsum(steps, dtype=np.longdouble))) + np.log(leaving))
    return _by_elimination(weights / leaving[:, None])


def _by_elimination(p: Array) -> Logs:
    """States are taken out one by one, and what led to them is shared among those that are left.

    Nothing is subtracted (Grassmann, Taksar and Heyman), so that small shares are as exact as large ones, and chains
    that nearly fall apart as exact as others.
    """
    a = _taken_out(p, 1)
    pi = np.ones(a.shape[0], np.longdouble)
    for k in range(1, pi.size):
        pi[k] = pi[:k] @ a[:k, k]
        if pi[k] > 1e300:  # only ratios matter
            pi[: k + 1] /= pi[k]
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(pi))


def _taken_out(p: Array, keep: int) -> Array:
    """The chain without its states from the last one down to number ``keep``.

    Before the diagonal stand the probabilities between what was left when a state went; in its column, what led to it
    for each probability of leaving it.
    """
    a = np.array(p)
    for k in range(a.shape[0] - 1, keep - 1, -1):
        leaves = a[k, :k].sum()
        if not leaves > 0:
            raise MeasureError("the chain is too close to falling apart: a probability of leaving is no number above 0")
        a[:k, k] /= leaves
        a[:k, :k] += np.outer(a[:k, k], a[k, :k])
    return a


# ---- the published family, many lists at once


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


def log_stationary_of_model(model: Model, rank: NDArray[np.int64], relevant: NDArray[np.int64]) -> Logs:
    """The logarithm of the stationary distribution, with counts, up to a constant.

    Parameters
    ----------
    model : Model
    rank : ndarray of shape (lists, m) or (1, m)
        The ranks of the chain.
    relevant : ndarray of shape (lists, m)
        The number of relevant documents down to each of them.
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
    return np.asarray(np.log(stationary_by_distance(model, rank, forward, back).astype(np.longdouble)))


def stationary_by_distance(model: Model, rank: NDArray[np.int64], forward: Array, back: Array) -> Array:
    """The stationary distribution where transitions lead everywhere, by distance, with counts; up to a factor.

    Parameters
    ----------
    model : Model
    rank : ndarray of shape (lists, m)
        The ranks of the chain, two or more.
    forward, back : ndarray of shape (lists, m)
        The weights of going forward and back, at each of them. Lists that are too long and too few for other ways may
        be of several lengths; both are 0 beyond the end of a shorter one, and what is returned there means nothing.
    """
    lists, m = rank.shape
    weights = distance_weights(model.distance, int(rank.max()))
    if weights.size == m and are_many(lists, m) and back[:, -1].all():
        x, leaving = stationary_of_many(weights, forward, back)
    elif m <= _FEW:
        x, leaving = _solved(model._replace(loops="NL").weights(rank, forward, back))
    else:
        x, leaving = stationary_by_power_steps(weights, rank, forward, back)
    return np.asarray(x * (leaving + model.staying(forward, back)))


def are_few(lists: int, n: int) -> bool:
    """Whether so many lists of n ranks, all of them in their chains, are better looked at with others about as long."""
    return n > _FEW and not are_many(lists, n)


def _products(logs: Array) -> Logs:
    """The logarithms of running products, from 1."""
    out = np.zeros((logs.shape[0], logs.shape[1] + 1), np.longdouble)
    np.cumsum(logs, axis=1, dtype=np.longdouble, out=out[:, 1:])
    return out


def _solved(weights: Array) -> tuple[Array, Array]:
    """Solve pi = pi P, and divide by the weights that leave each rank."""
    leaving = weights.sum(axis=-1)
    p = weights / leaving[..., None]
    m = leaving.shape[-1]
    system = np.swapaxes(np.eye(m) - p + 1.0, -1, -2)
    pi = np.linalg.solve(system, np.ones((*leaving.shape, 1)))
    pi = np.swapaxes(pi, -1, -2) @ p  # one step, which only adds: small entries become as exact as large ones
    return pi[..., 0, :] / leaving, leaving


def from_logs(logs: Logs) -> Array:
    """The distribution of logarithms known up to a constant: shares that sum to 1 along the last axis."""
    out = np.exp((logs - logs.max(axis=-1, keepdims=True)).astype(np.float64))
    return np.asarray(out / out.sum(axis=-1, keepdims=True))


# ---- induced chains


def induced_chain(p: Array, keep: Ints, start: Array) -> tuple[Array, Array]:
    """The chain induced on some of its states (by their places): its transition probabilities and its start.

    The start is the distribution of the first of these states that is visited, given one over all states: as if the
    chain came from a state of its own, to which it never returns.
    """
    n, m = p.shape[0], keep.size
    rest = np.setdiff1d(np.arange(n), keep)
    if not rest.size:
        return p, start[keep]
    whole = np.zeros((n + 1, n + 1))
    whole[:n, :n], whole[n, :n] = p, start
    order = np.concatenate((keep, [n], rest))
    found = _taken_out(whole[np.ix_(order, order)], m + 1)[: m + 1, :m]
    found /= found.sum(axis=1, keepdims=True)
    return found[:m], found[m]


def induced_chain_of_model(model: Model, rank: Ints, n: int, start: Array) -> tuple[Array, Array]:
    """The chain induced on the relevant ranks of a list of n documents: its transition probabilities and its start.

    Over all ranks, without counts, probabilities are as in a network of conductances, and unseen ranks are taken out of
    it: what is left has the pseudo-inverse of the whole network's Laplacian, on the ranks kept and centred there. It is
    the same for all lists of a length. Between neighbours, conductances in a row add by their inverses.

    ``start`` is a distribution over the ranks of the whole chain.
    """
    m = rank.size
    if m == 1:
        return np.ones((1, 1)), np.ones(1)
    found = np.arange(1, m + 1)
    if model.states == "OR":
        check_size(m)
        return transition_probabilities(model.weights(rank, *model.ways(rank, found)), rank), start
    every = np.arange(1, n + 1)
    if model.connected == "LO":
        return _induced_chain_of_neighbours(model, rank, n, start)
    check_size(n)
    if model.counts != "NA":
        seen = np.searchsorted(rank, every, side="right")
        return induced_chain(
            transition_probabilities(model.weights(every, *model.ways(every, seen)), every), rank - 1, start
        )
    inverse, leaving = _network(model.distance, n)
    some = inverse[np.ix_(rank - 1, rank - 1)]
    border = np.ones((m + 1, m + 1))
    border[:m, :m], border[m, m] = some, 0.0
    solved = np.linalg.solve(border, np.eye(m + 1, m))  # currents, and a constant: potentials of 1 at one rank kept
    unseen = start.copy()
    unseen[rank - 1] = 0.0  # a start at a rank kept is the first visit, without rounding
    met = start[rank - 1] + np.maximum(np.append(unseen @ inverse[:, rank - 1], unseen.sum()) @ solved, 0.0)
    return _of_laplacian(np.asarray(solved[:m], np.float64), leaving[rank - 1] + model.loop), met / met.sum()


@lru_cache(maxsize=_KEPT)
def _network(distance: str, n: int) -> tuple[Array, Array]:
    """The inverse of a Laplacian, made regular by the constant, and the weights that leave each rank."""
    k = np.arange(n)
    weights = distance_weights(distance, n)
    weights[0] = 0.0
    w = weights[np.abs(k[:, None] - k)]
    leaving = w.sum(axis=1)
    inverse = np.linalg.inv(np.diag(leaving) - w + 1.0)
    inverse.flags.writeable = leaving.flags.writeable = False
    return inverse, leaving


def _of_laplacian(laplacian: Array, leaving: Array) -> Array:
    p = -laplacian / leaving[:, None]
    np.fill_diagonal(p, 0.0)
    p = np.maximum(p, 0.0)
    np.fill_diagonal(p, np.maximum(1.0 - p.sum(axis=1), 0.0))
    return np.asarray(p / p.sum(axis=1, keepdims=True))


def _induced_chain_of_neighbours(model: Model, rank: Ints, n: int, start: Array) -> tuple[Array, Array]:
    every = np.arange(1, n + 1)
    forward, back = model.ways(every, np.searchsorted(rank, every, side="right"))
    near = distance_weights(model.distance, 2)[1]
    x = np.concatenate(([0.0], np.cumsum(np.log(forward[:-1]) - np.log(back[1:]), dtype=np.longdouble)))
    inverse = -(x[:-1] + np.log(forward[:-1] * near))  # the logarithms of the resistances between neighbours
    leaving = np.where(every < n, forward, 0.0) * near + np.where(every > 1, back, 0.0) * near
    own = (x + np.log(leaving + model.staying(forward, back)))[rank - 1]
    p, met = np.zeros((rank.size, rank.size)), start[rank - 1]
    met[0] += start[: rank[0] - 1].sum()
    met[-1] += start[rank[-1] :].sum()
    for i in range(rank.size - 1):
        between = inverse[rank[i] - 1 : rank[i + 1] - 1]
        top = between.max()
        parts = np.exp(between - top)
        resistance = top + np.log(parts.sum())
        inside = start[rank[i] : rank[i + 1] - 1] / parts.sum()
        met[i] += inside @ np.cumsum(parts[::-1])[-2::-1]
        met[i + 1] += inside @ np.cumsum(parts)[:-1]
        p[i, i + 1] = np.exp(-resistance - own[i])
        p[i + 1, i] = np.exp(-resistance - own[i + 1])
    np.fill_diagonal(p, np.maximum(1.0 - p.sum(axis=1), 0.0))
    return p, met


# ---- finite steps


def squared(p: Array) -> Array:
    """Two steps at once; rows are kept at a sum of 1, from which rounding would lead away."""
    twice = p @ p
    return np.asarray(twice / twice.sum(axis=1, keepdims=True))


def distribution_after(p: Array, start: Array, steps: int) -> Array:
    """The distribution after so many steps."""
    power, here = p, start
    while steps > 0:
        if steps & 1:
            here = here @ power
        steps >>= 1
        if steps:
            power = squared(power)
    return np.asarray(here)


def mean_occupation(p: Array, start: Array, steps: int) -> Array:
    """The mean distribution over so many visits, the first included: (1 / n) sum over k < n of start P^k.

    >>> mean_occupation(np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([1.0, 0.0]), 3)
    array([0.66666667, 0.33333333])
    """
    if steps <= 4 * start.size + 64:
        here, total = start, np.zeros(start.size)
        for _ in range(steps):
            total = total + here
            here = here @ p
        return total / steps
    power, sums = p, np.eye(start.size)  # P^k and the sum of P^0, …, P^(k - 1), for k = 1, 2, 4, …
    here, total, left = start, np.zeros(start.size), steps
    while left > 0:
        if left & 1:
            total, here = total + here @ sums, here @ power
        left >>= 1
        if left:
            sums, power = sums + sums @ power, squared(power)
    return np.asarray(total / steps)
