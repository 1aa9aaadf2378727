"""Tests of all pairs of systems at once: a score a system and topic in, a p-value a pair of systems out.

Three tests, all paired by topic and two-sided. ``t``: Student's. ``bootstrap``: Sakai's (2006), the achieved
significance level of the studentised mean difference when topics are drawn with replacement from the differences less
their mean. ``tukey``: the randomised Tukey HSD (Carterette, 2012): scores are shuffled among the systems of each topic,
and a difference is held against the greatest between any two systems, so that the level is that of all pairs together.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from amble.errors import AmbleError

__all__ = ["TESTS", "all_pairs", "bootstrap_levels", "paired_t", "tukey_hsd"]

Array = NDArray[np.float64]

_CELLS = 1 << 21  # numbers held at once
_ROUNDING = 1e-12


def paired_t(scores: Array) -> Array:
    """P-values of Student's paired t-test, two-sided, between all systems.

    Parameters
    ----------
    scores : ndarray
        Of shape (systems, topics); NaN where a topic was left out, and then it is left out of its system's pairs.

    Returns
    -------
    ndarray
        Of shape (systems, systems), symmetric, 1 on the diagonal.

    Examples
    --------
    >>> import numpy as np
    >>> from amble.meta.significance import paired_t
    >>> p = paired_t(np.array([[0.5, 0.4, 0.6], [0.3, 0.3, 0.3]]))  # differences .2 .1 .3: t = .2 / (.1 / √3) = 3.4641
    >>> round(float(p[0, 1]), 4)
    0.0742
    """
    from scipy.special import stdtr

    t, n = _t_values(scores)
    with np.errstate(invalid="ignore"):
        p = 2.0 * stdtr(np.maximum(n - 1.0, 1.0), -np.abs(t))
    p = np.where(np.isnan(t) | (n < 2), 1.0, p)
    np.fill_diagonal(p, 1.0)
    return np.asarray(p)


def differences(one: Array, others: Array) -> Array:
    """Of the scores of systems, topic by topic; what only rounding tells apart does not differ."""
    d = one - others
    d[np.abs(d) <= _ROUNDING * np.maximum(np.abs(one), np.abs(others))] = 0.0
    return d


def _t_values(scores: Array) -> tuple[Array, Array]:
    """The t of every system against every other, and how many topics they share; 0 where all differences are 0."""
    systems, topics = scores.shape
    t = np.zeros((systems, systems))
    n = np.full((systems, systems), float(topics))
    gaps = bool(np.isnan(scores).any())
    for i in range(systems - 1):
        d = differences(scores[i], scores[i + 1 :])
        if gaps:
            known = ~np.isnan(d)
            count = np.maximum(known.sum(axis=1), 1).astype(np.float64)
            mean = np.where(known, d, 0.0).sum(axis=1) / count
            square = np.where(known, (d - mean[:, None]) ** 2, 0.0).sum(axis=1)
            n[i, i + 1 :] = n[i + 1 :, i] = known.sum(axis=1)
        else:
            count = np.full(len(d), float(topics))
            mean = d.mean(axis=1)
            square = np.square(d - mean[:, None]).sum(axis=1)
        t[i, i + 1 :] = _studentised(mean, square, count)
        t[i + 1 :, i] = -t[i, i + 1 :]
    return t, n


def _studentised(mean: Array, square: Array, count: Array) -> Array:
    """Mean over its standard error; infinite where all differences are alike (but for rounding), 0 where all are 0."""
    error = np.sqrt(square / np.maximum(count - 1.0, 1.0) / count)
    flat = error <= _ROUNDING * np.abs(mean)
    same = np.where(mean == 0.0, 0.0, np.copysign(np.inf, mean))
    return np.asarray(np.where(flat, same, mean / np.where(flat, 1.0, error)))


def bootstrap_levels(scores: Array, rounds: int = 1000, seed: int = 0) -> Array:
    """Achieved significance levels of the paired bootstrap test between all systems.

    The same draws of topics serve all pairs. A level is (1 + draws at least as extreme) / (1 + draws), never 0.
    """
    _complete(scores, "bootstrap")
    systems, topics = scores.shape
    rng = np.random.default_rng(seed)
    draws = rng.multinomial(topics, np.full(topics, 1.0 / topics), size=rounds).astype(np.float64)  # how often each
    a, b = np.triu_indices(systems, 1)
    observed = np.abs(_t_values(scores)[0][a, b])
    level = np.empty(a.size)
    step = max(1, _CELLS // max(rounds, topics))
    for start in range(0, a.size, step):
        some = slice(start, start + step)
        d = differences(scores[a[some]], scores[b[some]])
        w = d - d.mean(axis=1, keepdims=True)
        mean = w @ draws.T / topics
        square = np.maximum(np.square(w) @ draws.T - topics * np.square(mean), 0.0)
        t = np.abs(mean) / np.sqrt(np.maximum(square, 1e-300) / (topics - 1.0) / topics)
        extreme = (t >= observed[some, None] * (1.0 - _ROUNDING)) & (np.abs(mean) > _ROUNDING)
        level[some] = (1.0 + np.where(observed[some] == 0.0, rounds, extreme.sum(axis=1))) / (1.0 + rounds)
    return _square(level, systems)


def tukey_hsd(scores: Array, rounds: int = 1000, seed: int = 0) -> Array:
    """P-values of the randomised Tukey HSD between all systems; (1 + shuffles as extreme) / (1 + shuffles)."""
    _complete(scores, "tukey")
    systems, topics = scores.shape
    rng = np.random.default_rng(seed)
    greatest = np.empty(rounds)
    step = max(1, _CELLS // max(scores.size, 1))
    for start in range(0, rounds, step):
        here = min(step, rounds - start)
        shuffled = rng.permuted(np.broadcast_to(scores.T, (here, topics, systems)), axis=2)
        greatest[start : start + here] = np.ptp(shuffled.sum(axis=1), axis=1) / topics
    greatest.sort()
    means = scores.mean(axis=1)
    apart = np.abs(means[:, None] - means[None, :]) * (1.0 - _ROUNDING)
    at_least = rounds - np.searchsorted(greatest, apart, side="left")
    p = (1.0 + at_least) / (1.0 + rounds)
    np.fill_diagonal(p, 1.0)
    return np.asarray(p)


def _square(pairs: Array, systems: int) -> Array:
    out = np.ones((systems, systems))
    a, b = np.triu_indices(systems, 1)
    out[a, b] = out[b, a] = pairs
    return out


def _complete(scores: Array, test: str) -> None:
    if np.isnan(scores).any():
        raise AmbleError(
            f"test {test!r}: some systems lack topics; use missing='zero' and undefined='zero', or test 't'"
        )
    if scores.shape[1] < 2:
        raise AmbleError(f"found {scores.shape[1]} topic, expected at least 2 for a test")


TESTS: dict[str, Callable[[Array, int, int], Array]] = {
    "t": lambda scores, rounds, seed: paired_t(scores),
    "bootstrap": bootstrap_levels,
    "tukey": tukey_hsd,
}


def all_pairs(scores: Array, test: str = "t", rounds: int = 1000, seed: int = 0) -> Array:
    """P-values between all systems by one of `TESTS`."""
    if test not in TESTS:
        raise AmbleError(f"test={test!r}: expected one of {', '.join(map(repr, TESTS))}")
    if isinstance(rounds, bool) or not isinstance(rounds, int | np.integer) or rounds < 1:
        raise AmbleError(f"rounds={rounds!r}: expected a whole number of at least 1")
    return TESTS[test](np.asarray(scores, np.float64), int(rounds), seed)
