"""Rank correlation of systems: Kendall's tau-b, tau_AP with ties, Spearman's rho, rank-biased overlap.

Systems are ranked by a number each, the greater the better. Numbers that differ by no more than rounding does (1e-12 of
the larger) are tied: the means of P@10 over topics are tenths, but their sums in floating point are not, and τ would
move by thousandths with the order of the topics.

With s_ij the sign of x_i - x_j, and p_i the first rank of the group that i is tied with:

* **tau-b**: sum of s_ij s'_ij over pairs, divided by the root of the product of the numbers of untied pairs (Kendall,
  1945).
* **tau_AP,b** (Urbano and Marrero, 2017): of each system i below the first group, the share of the p_i - 1 systems
  above it that also the other ranking has above it, averaged over these systems; twice that minus 1; this from either
  side, averaged. Without ties it is the symmetric form of the tau_AP of Yilmaz, Aslam and Robertson (2008).
* **tau_AP,a**: x is the truth, without ties; the mean of tau_AP over all orders of the systems that y ties. It has a
  closed form, since within a group of y half of the pairs are concordant in the mean.
* **rho**: the correlation of ranks, tied ones averaged.
* **RBO** (Webber, Moffat and Zobel, 2010), extrapolated; systems that are tied for ranks d to d + t - 1 all stand at
  rank d, and the agreement at depth d is twice the overlap divided by the sizes of both sets, as their paper has it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from amble import checks
from amble.arrays import Array, ArrayLike, Ints
from amble.errors import AmbleError

__all__ = ["STATISTICS", "kendall", "places", "rbo", "spearman", "tau_ap"]

_ROUNDING = 1e-12
_PERSISTENCE = 0.9


def places(values: ArrayLike) -> Ints:
    """Dense places, 0 for the least, along the last axis; numbers that are equal but for rounding share a place.

    Examples
    --------
    >>> from amble.metaevaluation.correlation import places
    >>> places([0.3, 0.5, 0.1 + 0.2])
    array([0, 1, 0])
    """
    x = np.asarray(values, np.float64)
    order = np.argsort(x, axis=-1, kind="stable")
    ordered = np.take_along_axis(x, order, -1)
    size = np.maximum(np.abs(ordered[..., 1:]), np.abs(ordered[..., :-1]))
    step = np.zeros(x.shape, np.int64)
    step[..., 1:] = np.diff(ordered, axis=-1) > _ROUNDING * size
    out = np.empty(x.shape, np.int64)
    np.put_along_axis(out, order, np.cumsum(step, axis=-1), -1)
    return out


def _given(x: ArrayLike, y: ArrayLike) -> Ints:
    try:
        a, b = np.asarray(x, np.float64), np.asarray(y, np.float64)
    except (TypeError, ValueError):
        raise AmbleError("expected two lists of numbers, one number per system") from None
    if a.ndim != 1 or a.shape != b.shape or a.size < 2:
        raise AmbleError(f"found {a.shape} and {b.shape} numbers, expected two lists of as many systems, at least two")
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise AmbleError("a system without a finite mean cannot be ranked")
    return places(np.stack((a, b)))


def signs(ranked: Ints) -> Array:
    """The sign of the place of i minus that of j: (…, n) → (…, n, n)."""
    return np.asarray(np.sign(ranked[..., :, None] - ranked[..., None, :]), np.float64)


def kendall_matrix(ranked: Ints) -> Array:
    """Tau-b of every row of places with every other: (…, m, n) → (…, m, m)."""
    n = ranked.shape[-1]
    pairs, at = n * (n - 1) // 2, 0  # each pair of systems once
    exact: Any = np.float32 if pairs < 1 << 24 else np.float64  # counts up to there are exact in half the size
    x = np.asarray(ranked, exact)
    s = np.empty((*ranked.shape[:-1], pairs), exact)
    for i in range(n - 1):
        np.sign(x[..., i, None] - x[..., i + 1 :], out=s[..., at : at + n - 1 - i])
        at += n - 1 - i
    both = (s @ np.swapaxes(s, -1, -2)).astype(np.float64)
    untied = np.diagonal(both, axis1=-2, axis2=-1)
    return _divided(both, np.sqrt(untied[..., :, None] * untied[..., None, :]))


def _divided(a: Array, b: Array) -> Array:
    """Divide; NaN where a ranking ties all systems, so that it is undefined."""
    return np.asarray(np.divide(a, b, out=np.full(a.shape, np.nan), where=b > 0))


def tau_ap_matrix(ranked: Ints) -> Array:
    """Tau_AP,b of every row of places with every other."""
    s = signs(ranked)
    above = s < 0  # j stands above i
    count = above.sum(axis=-1)
    below_first = np.maximum((count > 0).sum(axis=-1), 1)
    weight = above / np.maximum(count, 1)[..., None] / below_first[..., None, None]
    flat = weight.reshape(*ranked.shape[:-1], -1)
    agreed = flat @ np.swapaxes(above.reshape(flat.shape).astype(np.float64), -1, -2)
    one = 2.0 * agreed - 1.0
    tied = np.asarray(ranked.max(axis=-1) == 0)
    one = np.where(tied[..., :, None] | tied[..., None, :], np.nan, one)
    return np.asarray((one + np.swapaxes(one, -1, -2)) / 2.0)


def average_ranks(ranked: Ints) -> Array:
    """Ranks from 1, the best first; tied systems share the average of theirs."""
    return np.asarray((ranked.shape[-1] + 1 - signs(ranked).sum(axis=-1)) / 2.0)


def spearman_matrix(ranked: Ints) -> Array:
    """Rho of every row of places with every other."""
    r = average_ranks(ranked)
    r = r - r.mean(axis=-1, keepdims=True)
    both = r @ np.swapaxes(r, -1, -2)
    spread = np.diagonal(both, axis1=-2, axis2=-1)
    return np.clip(_divided(both, np.sqrt(spread[..., :, None] * spread[..., None, :])), -1.0, 1.0)


def rbo_matrix(ranked: Ints, p: float = _PERSISTENCE) -> Array:
    """Extrapolated RBO of every row of places with every other."""
    n = ranked.shape[-1]
    first = (signs(ranked) < 0).sum(axis=-1)  # how many stand above: the rank, from 0
    depth = np.arange(n)
    inside = (first[..., None, :] <= depth[:, None]).astype(np.float64)  # (…, m, depth, n)
    size = inside.sum(axis=-1)
    by_depth = np.moveaxis(inside, -2, 0)  # (depth, …, m, n)
    overlap = np.moveaxis(by_depth @ np.swapaxes(by_depth, -1, -2), 0, -1)
    agreement = 2.0 * overlap / (size[..., :, None, :] + size[..., None, :, :])
    weight = (1.0 - p) * p ** np.asarray(depth, np.float64)
    return np.asarray(agreement @ weight + agreement[..., -1] * p**n)


STATISTICS: dict[str, Callable[[Ints], Array]] = {
    "tau": kendall_matrix,
    "tau_ap": tau_ap_matrix,
    "rho": spearman_matrix,
    "rbo": rbo_matrix,
}


def kendall(x: ArrayLike, y: ArrayLike) -> float:
    """Kendall's tau-b of two rankings of systems.

    Parameters
    ----------
    x, y : array_like
        One number per system, the greater the better.

    Returns
    -------
    float
        From -1 (one is the other upside down) to 1; NaN where one of them ties all systems.

    Examples
    --------
    >>> from amble.metaevaluation import kendall
    >>> round(kendall([1, 2, 3, 4], [1, 3, 2, 4]), 4)  # 5 pairs concordant, 1 discordant
    0.6667
    """
    return float(kendall_matrix(_given(x, y))[0, 1])


def tau_ap(x: ArrayLike, y: ArrayLike, *, ties: str = "b") -> float:
    """Tau_AP: a tau for which swaps among the best systems weigh most.

    Parameters
    ----------
    x, y : array_like
        One number per system, the greater the better.
    ties : {"b", "a"}
        Both rankings are estimates and may have ties, and neither is the truth ("b", symmetric); or x is the truth and
        has no ties ("a": the mean over all orders of what y ties).

    Examples
    --------
    >>> from amble.metaevaluation import tau_ap
    >>> round(tau_ap([4, 3, 2, 1], [3, 4, 2, 1]), 4)  # the first two swapped: (-1 + 1 + 1) / 3
    0.3333
    """
    ranked = _given(x, y)
    if checks.one_of(ties, ("a", "b"), "ties") == "b":
        return float(tau_ap_matrix(ranked)[0, 1])
    truth, seen = ranked
    n = truth.size
    if truth.max() < n - 1:
        raise AmbleError("ties='a': x is the truth and may not tie systems; ties='b' takes ties on both sides")
    s, t = signs(truth), signs(seen)
    above = t < 0
    concordant = (above & (s < 0)).sum(axis=-1)
    total = 0.0
    for group in range(int(seen.max()) + 1):
        its = np.flatnonzero(seen == group)
        up = int(above[its[0]].sum())
        mean = float(concordant[its].mean())
        total += sum((mean + u / 2.0) / (up + u) for u in range(its.size) if up + u)
    return float(2.0 * total / (n - 1) - 1.0)


def spearman(x: ArrayLike, y: ArrayLike) -> float:
    """Spearman's rho: the correlation of ranks, tied ones averaged.

    Examples
    --------
    >>> from amble.metaevaluation import spearman
    >>> spearman([1, 2, 3, 4], [1, 3, 2, 4])  # 1 - 6 (1 + 1) / (4 x 15)
    0.8
    """
    return float(spearman_matrix(_given(x, y))[0, 1])


def rbo(x: ArrayLike, y: ArrayLike, p: float = _PERSISTENCE) -> float:
    """Rank-biased overlap, extrapolated: 1 for the same ranking, smaller for others; the top counts most.

    Parameters
    ----------
    x, y : array_like
        One number per system, the greater the better.
    p : float
        How far down one looks: from 0 to 1.

    Examples
    --------
    >>> from amble.metaevaluation import rbo
    >>> round(rbo([2, 1], [1, 2], p=0.5), 4)  # 0.5 x 0 + 0.25 x 1 + 0.25 x 1
    0.5
    """
    return float(rbo_matrix(_given(x, y), checks.share(p, "p"))[0, 1])
