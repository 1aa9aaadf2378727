"""Users who read down and stop, fitted to click logs: continuation probabilities C(i), RBP's p and INSQ's T.

A log of clicks does not say how far somebody read. An observation model does (`amble.logs.counts.OBSERVATIONS`): it
says how many reached each rank, and how many stopped there. At the last rank of a page nobody can continue, so nothing
is learned there.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from amble.arrays import Array, Ints
from amble.errors import AmbleError
from amble.logs.bootstrap import Resampled
from amble.logs.counts import OBSERVATIONS, Counts
from amble.logs.privacy import disclosable, enough_sessions, pool_neighbours
from amble.users.fitted import FittedModel

__all__ = [
    "check_stops", "continuation_probabilities", "fit_continuation", "fit_insq", "fit_rbp", "insq_continuation",
    "most_likely", "stopping_counts", "stopping_log_likelihood",
]  # fmt: skip

_GOLDEN = (5.0**0.5 - 1.0) / 2.0
_BOUNDS = {"inst": (0.5, 1e4)}
_GRID = 97  # goals that are tried first: steps of a fifth, so that one of several maxima is not missed


def stopping_counts(counts: Counts, observation: str) -> Array:
    """How many users reached each rank but the last, and how many stopped there.

    Returns
    -------
    (…, n - 1, 2) array

    Examples
    --------
    One page with clicks at ranks 1 and 3, one without, of four results:

    >>> import numpy as np
    >>> from types import SimpleNamespace
    >>> from amble.logs.forward_fitting import stopping_counts
    >>> extremes = np.zeros((1, 5, 5))
    >>> extremes[0, 1, 3] = extremes[0, 0, 0] = 1
    >>> stopping_counts(SimpleNamespace(extremes=extremes), "last")[0].T        # one reached rank 3, and stopped there
    array([[1., 1., 1.],
           [0., 0., 1.]])
    >>> stopping_counts(SimpleNamespace(extremes=extremes), "cascade")[0].T     # both reached rank 1, one stopped there
    array([[2., 1., 1.],
           [1., 0., 0.]])
    """
    extremes = counts.extremes
    end = extremes.sum(axis=-1) if observation == "cascade" else extremes.sum(axis=-2)  # highest, or deepest
    stopped = end[..., 1:]
    to_the_end = np.zeros_like(end[..., :1]) if observation == "last" else end[..., :1]
    came = np.flip(np.cumsum(np.flip(stopped, axis=-1), axis=-1), axis=-1) + to_the_end
    if observation == "sdbn":
        inside = counts.clicked[..., :-1]
        clicks = inside.sum(axis=-1, keepdims=True)
        total = stopped[..., :-1].sum(axis=-1, keepdims=True)
        satisfied = np.divide(total, clicks, out=np.zeros_like(total), where=clicks > 0)
        return np.stack([came[..., :-1], inside * satisfied], axis=-1)
    return np.stack([came, stopped], axis=-1)[..., :-1, :]


def continuation_probabilities(came: Array) -> Array:
    """C(i), the share of users at a rank who continue."""
    n, stopped = came[..., 0], came[..., 1]
    return np.asarray(np.divide(n - stopped, n, out=np.full_like(n, np.nan), where=n > 0))


def stopping_log_likelihood(came: Array, probability: Array) -> Array:
    """Log-likelihood of continuing and stopping, given C at each cell."""
    on, stopped = came[..., 0] - came[..., 1], came[..., 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        continued = np.where(on > 0, on * np.log(probability), 0.0)
        ended = np.where(stopped > 0, stopped * np.log1p(-probability), 0.0)
    return np.asarray((continued + ended).sum(axis=-1))


def insq_continuation(goal: Array, rank: Array, gain: Array | float = 0.0) -> Array:
    """C of INSQ, ((i + 2T - 1) / (i + 2T))², and of INST, where the gain so far is subtracted."""
    depth = rank + 2.0 * goal - gain
    return np.asarray(((depth - 1.0) / depth) ** 2)


def most_likely(came: Array, probability: Callable[[Array], Array], kind: str) -> Array:
    """The maximum-likelihood T of each row of counts: the best of a grid, then golden sections around it."""

    def at(x: Array) -> Array:
        return stopping_log_likelihood(came, probability(np.exp(x)[:, None]))

    least, most = np.log(_BOUNDS.get(kind, (1e-4, 1e4))).tolist()
    grid = np.linspace(least, most, _GRID)
    with np.errstate(divide="ignore"):
        c = np.concatenate([probability(np.exp(x)[None, None]) for x in grid]).T
        on, off = (np.maximum(log, -1e100) for log in (np.log(c), np.log1p(-c)))
    best = np.argmax((came[..., 0] - came[..., 1]) @ on + came[..., 1] @ off, axis=1)
    low, high = grid[np.maximum(best - 1, 0)], grid[np.minimum(best + 1, _GRID - 1)]
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    of_left, of_right = at(left), at(right)
    while float((high - low).max()) > 1e-9:
        worse = (of_left < of_right) | np.isneginf(of_left)  # below what is possible at all
        low, high = np.where(worse, left, low), np.where(worse, high, right)
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        of_left, of_right = at(left), at(right)
    return np.asarray(np.exp((low + high) / 2.0))


def _model(
    kind: str, parameter: str, data: Resampled, observation: str, *, function: Callable[[Counts], Array], came: Array
) -> FittedModel:
    """A model of one parameter, from how many reached and how many stopped at each of some cells, by group."""
    estimate = data.estimate(function, check_stops(came, data.smallest), probability=kind == "rbp")
    return FittedModel(kind, kind, {parameter: estimate}, OBSERVATIONS[observation], confidence=data.confidence)


def check_stops(came: Array, smallest: int) -> Array:
    """How many could stop, by group; an error if too few did, or went on."""
    sums = came.sum(axis=-2)
    for count, did in ((sums[:, 1], "stopped"), (sums[:, 0] - sums[:, 1], "continued")):
        if not disclosable(count, smallest):
            raise AmbleError(f"fewer than {smallest} sessions {did}: suppressed, and not counted as zero")
    return np.asarray(sums[:, 0])


def fit_rbp(data: Resampled, observation: str) -> FittedModel:
    """A model of RBP's p: of all steps that could have been made, the share that were."""

    def persistence(counts: Counts) -> Array:
        return continuation_probabilities(stopping_counts(counts, observation).sum(axis=-2))

    return _model("rbp", "p", data, observation, function=persistence, came=stopping_counts(data.counts, observation))


def fit_insq(data: Resampled, observation: str) -> FittedModel:
    """A model of INSQ's T."""
    rank = np.arange(1.0, data.counts.depth)

    def goal(counts: Counts) -> Array:
        return most_likely(stopping_counts(counts, observation), lambda T: insq_continuation(T, rank), "insq")

    return _model("insq", "T", data, observation, function=goal, came=stopping_counts(data.counts, observation))


def pooled_ranks(came: Array, smallest: int) -> Ints:
    """For each rank the first of those that share one C, so that no suppressed count is behind it; -1: suppressed.

    Parameters
    ----------
    came : (groups, n - 1, 2) array
        From `stopping_counts`.
    """
    stopped, on = came[..., 1], came[..., 0] - came[..., 1]
    out = np.full(stopped.shape[1], -1)
    enough = enough_sessions(on, smallest)
    cut = out.size if enough.all() else int(np.argmin(enough))  # from there on few continued, or nobody
    out[:cut] = pool_neighbours(stopped[:, :cut, None], smallest)
    if (
        cut < out.size
        and (out[:cut] >= 0).all()
        and not on[:, cut].any()
        and enough_sessions(stopped[:, cut], smallest)
    ):
        out[cut] = cut  # nobody continued
    return out


def fit_continuation(data: Resampled, observation: str) -> FittedModel:
    """A model of C(i), rank by rank; below the last but one rank, that of this rank holds.

    Where few stopped, ranks are pooled: of those who reached the first of them, the share that continued beyond the
    last is the product of their C, which are taken as equal.
    """
    came = stopping_counts(data.counts, observation)
    by = data.by or data
    first = pooled_ranks(stopping_counts(by.counts, observation), by.smallest)

    def probabilities(counts: Counts) -> Array:
        each = continuation_probabilities(stopping_counts(counts, observation))
        out = np.full_like(each, np.nan)
        for start in np.unique(first[first >= 0]):
            ranks = np.flatnonzero(first == start)
            went = np.where(np.isnan(each[:, ranks]), 1.0, each[:, ranks]).prod(axis=-1)  # nobody left
            out[:, ranks] = np.where(np.isnan(each[:, start]), np.nan, went ** (1.0 / ranks.size))[:, None]
        return out

    estimate = data.estimate(probabilities, came[:, np.maximum(first, 0), 0], first=first)
    kind, seen = "continuation", OBSERVATIONS[observation]
    return FittedModel(kind, kind, {"C": estimate}, seen, confidence=data.confidence)
