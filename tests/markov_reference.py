"""Markov Precision as its authors define it, rank by rank and by dense algebra: slow, and independent of amble."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def transitions(
    grades: Sequence[int], connected: str, states: str, loops: str, counts: str, distance: str
) -> tuple[list[int], Array]:
    """The ranks that are states, and the probabilities between them."""
    relevant = [i + 1 for i, grade in enumerate(grades) if grade > 0]
    ranks = relevant if states == "OR" else list(range(1, len(grades) + 1))
    m = len(ranks)
    if m == 1:
        return ranks, np.ones((1, 1))
    near = np.array(
        [{"NA": 1.0, "ID": 1 / far, "LID": 1 / math.log10(far + 1)}[distance] for far in range(1, len(grades) + 1)]
    )  # far is the distance + 1
    weights = np.zeros((m, m))
    for a, i in enumerate(ranks):
        seen = sum(1 for rank in relevant if rank <= i) + 1
        other = i - (seen - 1) + 1
        forward, back = {
            "NA": (1.0, 1.0),
            "FRBN": (seen, other),
            "FNBR": (other, seen),
            "FIRBIN": (1 / seen, 1 / other),
            "FINBIR": (1 / other, 1 / seen),
        }[counts]
        both = 1.0 if counts == "NA" else forward + back
        weights[a, :a], weights[a, a], weights[a, a + 1 :] = back, both if loops == "SL" else 0.0, forward
        weights[a] *= near[np.abs(np.array(ranks) - i)]
        if connected == "LO":
            weights[a, : max(a - 1, 0)] = weights[a, a + 2 :] = 0.0
    return ranks, weights / weights.sum(axis=1, keepdims=True)


def invariant(p: Array) -> Array:
    """The stationary distribution, by a dense solve."""
    n = len(p)
    return np.asarray(np.linalg.solve((np.eye(n) - p + np.ones((n, n))).T, np.ones(n)))


def eliminated(p: Array) -> Array:
    """The stationary distribution by state reduction, nothing subtracted (Grassmann, Taksar, Heyman), in logs."""
    a = p.copy()
    n = len(a)
    for k in range(n - 1, 0, -1):
        a[:k, k] /= a[k, :k].sum()
        a[:k, :k] += np.outer(a[:k, k], a[k, :k])
    x = np.zeros(n, np.longdouble)
    with np.errstate(divide="ignore"):
        logs = np.log(a.astype(np.longdouble))
    for k in range(1, n):
        terms = x[:k] + logs[:k, k]
        top = terms.max()
        x[k] = top + np.log(np.exp(terms - top).sum())
    out = np.exp(x - x.max())
    return np.asarray(out / out.sum(), np.float64)


@lru_cache(maxsize=64)
def stationary(grades: tuple[int, ...], *chain: str, eliminate: bool) -> dict[int, float]:
    """The stationary probability of each rank that is a state."""
    ranks, p = transitions(grades, *chain)
    return dict(zip(ranks, (eliminated if eliminate else invariant)(p).tolist(), strict=True))


def watched(p: Array, keep: Sequence[int]) -> Array:
    """The probabilities between the states kept: first passages, by the linear systems of the paper (equation 8)."""
    n = len(p)
    bar = p.copy()
    bar[:, list(keep)] = 0.0
    hits = np.linalg.solve(np.eye(n) - bar, p[:, list(keep)])
    return np.asarray(hits[list(keep)])


def reduced(p: Array, keep: Sequence[int]) -> Array:
    """The same, taking out one state after another, which subtracts nothing."""
    a, left = p.copy(), list(range(len(p)))
    for k in reversed(range(len(p))):
        if k not in keep:
            left.remove(k)
            away = a[k, left].sum()
            a[np.ix_(left, left)] += np.outer(a[left, k] / away, a[k, left])
    return np.asarray(a[np.ix_(left, left)])


def score(
    grades: Sequence[int],
    model: str,
    loops: str = "NL",
    counts: str = "NA",
    rescale: str = "NA",
    *,
    relevant: int | None = None,
    most: int | None = None,
    rates: Sequence[float] | None = None,
    eliminate: bool = False,
) -> float:
    """Markov Precision of one list."""
    connected, states, distance = model.split("_")
    found = [i + 1 for i, grade in enumerate(grades) if grade > 0]
    if not found:
        return 0.0
    pi = stationary(tuple(grades), connected, states, loops, counts, distance, eliminate=eliminate)
    share = [pi[i] / (rates[i - 1] if rates else 1.0) for i in found]
    precision = [(k + 1) / i for k, i in enumerate(found)]
    value = sum(s * x for s, x in zip(share, precision, strict=True)) / sum(share)
    base = {"NA": len(found), "R": relevant or len(found), "RR": most or len(found)}[rescale]
    return float(value * len(found) / base)
