"""Users who read down and look at what they gain, fitted to click logs: INST, adaptive INSQ, BPM, IFT.

Their probability of going on depends on the rank and on the gain so far, so that it is enough to know how many pages
came to each rank with each gain, and how many were left there. BPM's user never errs: most logs would be impossible
under any T and k. So the user is taken to do otherwise with a small probability, the slip; the T and k that are
likeliest are those with the fewest slips.

b, the rationality of IFT's users, cannot be told from the goal and the rate (log b + T R is one number): it is what
the measures have by default.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from amble.arrays import Array
from amble.errors import AmbleError
from amble.logs.bootstrap import Resampled
from amble.logs.counts import OBSERVATIONS
from amble.logs.forward_fitting import check_stops, insq_continuation, most_likely, stopping_log_likelihood
from amble.users.fitted import FittedModel

__all__ = ["ADAPTIVE", "continuation", "fit_adaptive"]

_LOG_B = float(np.log(0.9))
_SLACK = 1e-9
_BLOCK = 2_000_000  # numbers that are computed together
_STEPS = 200  # of the iteration for several parameters; it stops when nothing changes
_SMALL = 1e-5  # difference for derivatives, on a logarithmic scale
_LEAST, _MOST = 1e-4, 1e4
_BETTER = 0.01  # of log-likelihood, than one probability of going on whatever was gained

Values = Mapping[str, Any]  # of the parameters: numbers, or arrays that go with those of rank and gain


def _logistic(x: Array) -> Array:
    return np.asarray(np.exp(-np.logaddexp(0.0, -x)))


def _adaptive_insq(v: Values, rank: Array, gain: Array) -> Array:
    return insq_continuation(np.maximum(0.0, v["T"] - gain), rank + 1.0)


def _printed_insq(v: Values, rank: Array, gain: Array) -> Array:
    return insq_continuation(np.maximum(0.0, v["T"] - gain), rank)


def _bpm(v: Values, rank: Array, gain: Array) -> Array:
    done = (gain >= v["T"] - _SLACK) | (rank >= v["k"])
    return np.where(done, v["slip"], 1.0 - np.asarray(v["slip"]))


def _goal(T: Any, R: Any, gain: Array) -> Array:
    return _logistic(_LOG_B + (T - gain) * R)


def _rate(A: Any, R: Any, rank: Array, gain: Array) -> Array:
    return _logistic(-_LOG_B - (A - gain / rank) * R)


class Adaptive(NamedTuple):
    """A kind of user: C of its parameters, the rank and the gain so far; and where the search for them starts."""

    continuation: Callable[[Values, Array, Array], Array]
    starts: Mapping[str, tuple[float, ...]] = {}


ADAPTIVE: dict[str, Adaptive] = {
    "inst": Adaptive(lambda v, rank, gain: insq_continuation(v["T"], rank, gain)),
    "insq-adaptive": Adaptive(_adaptive_insq),
    "insq-printed": Adaptive(_printed_insq),
    "bpm": Adaptive(_bpm),
    "ift-goal": Adaptive(lambda v, rank, gain: _goal(v["T"], v["R"], gain), {"T": (0.5, 2.0, 8.0), "R": (0.3, 3.0)}),
    "ift-rate": Adaptive(
        lambda v, rank, gain: _rate(v["A"], v["R"], rank, gain), {"A": (0.02, 0.2, 0.6), "R": (0.3, 3.0)}
    ),
    "ift": Adaptive(
        lambda v, rank, gain: _goal(v["T"], v["R1"], gain) * _rate(v["A"], v["R2"], rank, gain),
        {"T": (0.5, 2.0, 8.0), "R1": (0.3, 3.0), "A": (0.02, 0.2, 0.6), "R2": (0.3, 3.0)},
    ),
}


def continuation(kind: str, values: Values, rank: Array, gain: Array) -> Array:
    """The probability of going on of a user who looks, at some ranks, with some gains so far.

    Examples
    --------
    >>> import numpy as np
    >>> from amble.logs.adaptive_fitting import continuation
    >>> continuation("insq-adaptive", {"T": 1.0}, np.array([1.0, 2.0]), np.array([0.5, 1.0]))  # (2/3)^2, (2/3)^2
    array([0.44444444, 0.44444444])
    """
    return ADAPTIVE[kind].continuation(values, rank, gain)


def fit_adaptive(data: Resampled, kind: str, observation: str) -> FittedModel:
    """A model of a user who looks: of kind inst, insq-adaptive, insq-printed, bpm, ift-goal, ift-rate or ift."""
    if observation not in data.counts.goal_counts:
        raise AmbleError(f"{kind} needs grades of documents: judgments, or a column of grades")
    rank, gain = data.counts.goal_cells[observation].T
    came = data.counts.goal_counts[observation]
    sums = check_stops(came, data.smallest)
    starts = ADAPTIVE[kind].starts
    names: tuple[str, ...] = tuple(starts) or ("T",)
    found: Callable[[Array], Array]
    if kind == "bpm":
        names, found = ("T", "k", "slip"), partial(_fewest_slips, rank=rank, gain=gain, n=data.counts.depth)
    elif starts:
        search = _Search(kind, rank, gain)
        search.begin(data.whole.goal_counts[observation], strict=data.by is None)
        found = search.most_likely
    else:

        def found(cells: Array) -> Array:
            return most_likely(cells, lambda T: continuation(kind, {"T": T}, rank, gain), kind)[:, None]

    estimates = data.joint(names, lambda c: found(c.goal_counts[observation]), sums, probability=False)
    note = ""
    if kind == "bpm":
        note = "with probability slip the user does otherwise than BPM's would; T and k are those with the fewest slips"
    if starts:
        note = "b is 0.9, as in the measure: it cannot be told from the other parameters"
    pages = data.counts.graded
    if pages is not None and pages.rel is not None:
        note = "; ".join(filter(None, (note, f"gains: 1 from grade {pages.rel:g} on, 0 below")))
    return FittedModel(kind, kind, estimates, OBSERVATIONS[observation], confidence=data.confidence, note=note)


def _on_edge(name: str, x: float) -> bool:
    """Whether a parameter is at the end of the search, which no rate to be had elsewhere (A = 0) may well be."""
    return not x < _MOST / 2 or (x < 2 * _LEAST and name != "A")


def _fewest_slips(came: Array, rank: Array, gain: Array, n: int) -> Array:
    """T, k and the share of slips, of each row of counts."""
    goals, depths = np.unique(gain[gain > 0]), np.arange(1.0, n + 1.0)
    if not goals.size:
        raise AmbleError("nobody gained anything")
    T, k = (x.reshape(-1) for x in np.meshgrid(goals, depths, indexing="ij"))
    done = (gain[:, None] >= T - _SLACK) | (rank[:, None] >= k)
    on, stopped = came[..., 0] - came[..., 1], came[..., 1]
    slips = on @ done + stopped @ ~done
    best = np.argmin(slips, axis=1)
    total = np.maximum(came[..., 0].sum(axis=1), 1.0)
    return np.stack([T[best], k[best], slips[np.arange(len(best)), best] / total], axis=1)


class _Search:
    """Maximum likelihood of several parameters above 0, on a logarithmic scale, by Fisher's scoring."""

    def __init__(self, kind: str, rank: Array, gain: Array) -> None:
        self.kind, self.rank, self.gain = kind, rank, gain
        self.names = tuple(ADAPTIVE[kind].starts)
        self.start = np.zeros(len(self.names))

    def at(self, x: Array) -> Array:
        """C at all cells, of each row of logarithms of parameters."""
        values = {name: np.exp(x[:, i, None]) for i, name in enumerate(self.names)}
        return np.minimum(np.maximum(continuation(self.kind, values, self.rank, self.gain), 1e-12), 1.0 - 1e-12)

    def begin(self, came: Array, *, strict: bool) -> None:
        """Take the best of several starts for all others; refuse counts that have no best parameters."""
        grid = np.meshgrid(*ADAPTIVE[self.kind].starts.values(), indexing="ij")
        starts = np.log(np.stack([x.reshape(-1) for x in grid], axis=1))
        found = self._climb(np.repeat(came, len(starts), axis=0), starts)
        self.start = found[np.argmax(stopping_log_likelihood(came, self.at(found)))]
        if not strict:
            return
        n, stopped = (float(came[0, :, i].sum()) for i in range(2))
        alike = stopping_log_likelihood(came[0], np.full(came.shape[1], 1.0 - stopped / n))
        if self.kind == "ift-goal" and stopping_log_likelihood(came[0], self.at(self.start[None])[0]) < alike + _BETTER:
            raise AmbleError("the gain so far says nothing about going on: R would be 0, and T endless")
        edge = [name for name, x in zip(self.names, np.exp(self.start), strict=True) if _on_edge(name, x)]
        if edge:
            what = "0" if self.start[self.names.index(edge[0])] < 0 else "endless"
            raise AmbleError(
                f"the likeliest {edge[0]} is {what}: people do not react to what they gain as this user does"
            )

    def most_likely(self, came: Array) -> Array:
        """The parameters of each row of counts."""
        block = max(_BLOCK // (came.shape[1] * (2 * len(self.names) + 1)), 1)
        parts = [came[i : i + block] for i in range(0, len(came), block)]
        found = np.exp(np.concatenate([self._climb(c, np.tile(self.start, (len(c), 1))) for c in parts]))
        return np.where((found < 2 * _LEAST) & (np.array(self.names) == "A"), 0.0, found)

    def _climb(self, came: Array, x: Array) -> Array:
        n, stopped = came[..., 0], came[..., 1]
        x, likely = x.copy(), stopping_log_likelihood(came, self.at(x))
        damping, open_ = np.full(len(x), 1e-3), np.ones(len(x), bool)
        m, eye = len(self.names), np.eye(len(self.names))
        around = _SMALL * np.concatenate([np.zeros((1, m)), eye, -eye])
        for _ in range(_STEPS):
            w = np.flatnonzero(open_)
            near = self.at((x[w, None] + around).reshape(-1, m)).reshape(len(w), 2 * m + 1, -1)
            c, slopes = near[:, 0], (near[:, 1 : m + 1] - near[:, m + 1 :]) / (2 * _SMALL)
            score = ((n[w] * (1.0 - c) - stopped[w]) / (c * (1.0 - c)))[:, None] * slopes
            information = np.einsum("bic,bjc->bij", slopes * (n[w] / (c * (1.0 - c)))[:, None], slopes)
            ridge = np.einsum("bii->bi", information) * damping[w, None] + 1e-9
            step = np.linalg.solve(information + ridge[:, :, None] * eye, score.sum(axis=-1)[..., None])[..., 0]
            new = np.clip(x[w] + np.clip(step, -1.0, 1.0), np.log(_LEAST), np.log(_MOST))
            found = stopping_log_likelihood(came[w], self.at(new))
            better = found > likely[w]
            gained = np.where(better, found - likely[w], 0.0)
            x[w[better]], likely[w[better]] = new[better], found[better]
            damping[w] = np.where(better, damping[w] / 10.0, damping[w] * 10.0)
            open_[w] = (gained > 1e-9) | (~better & (damping[w] < 1e9))
            if not open_.any():
                break
        return x
