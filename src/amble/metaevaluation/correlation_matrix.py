"""Rank correlation of all pairs of measures, by their means of systems, with bootstrap confidence intervals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from amble import checks
from amble.arrays import Array
from amble.comparison.design import CONFIDENCE
from amble.comparison.resampling import resampled_means
from amble.comparison.systems import scores_by_measure
from amble.errors import AmbleError
from amble.evaluation.scores import Scores
from amble.metaevaluation.correlation import STATISTICS, places
from amble.parallel import spread, usual_threads
from amble.rankings.alignment import plain_mean
from amble.table import Table, Tabled

__all__ = ["Correlations", "correlations"]

RESAMPLE = ("topics", "systems", "both")
_CELLS = 1 << 22  # numbers held at once, per thread


@dataclass(frozen=True)
class Correlations(Tabled):
    """Correlations of the rankings of systems by measures; made by `correlations`.

    Attributes
    ----------
    measures : tuple of str
    statistic : str
    values : ndarray
        Of shape (measures, measures).
    low, high : ndarray or None
        Ends of the confidence intervals.
    resample : str or None
        What was resampled for the confidence intervals.
    confidence : float
    left_out : int
        Rounds without any topic of some run, whose ranking by some measure was left out of the intervals.
    """

    measures: tuple[str, ...]
    statistic: str
    values: Array
    low: Array | None
    high: Array | None
    resample: str | None
    confidence: float
    left_out: int = 0

    def table(self, *, digits: int = 4) -> Table:
        """A table with one row per pair of measures, with the confidence interval."""
        columns = ["measure", "other", self.statistic] + ([] if self.low is None else ["low", "high"])
        rows: list[list[Any]] = []
        for i, j in combinations(range(len(self.measures)), 2):
            ends = [] if self.low is None or self.high is None else [float(self.low[i, j]), float(self.high[i, j])]
            rows.append([self.measures[i], self.measures[j], float(self.values[i, j]), *ends])
        n = self.left_out
        caption = f"{n:,} round{'s' * (n != 1)} without any topic of some run left out of the intervals" if n else ""
        return Table(columns, rows, digits=digits, caption=caption)

    def matrix(self, *, digits: int = 4) -> Table:
        """A table with one row and one column per measure."""
        rows: list[list[Any]] = [[one, *self.values[i].tolist()] for i, one in enumerate(self.measures)]
        return Table(["measure", *self.measures], rows, digits=digits)

    def __repr__(self) -> str:
        return f"Correlations({self.statistic} of {len(self.measures)} measures)"


def correlations(
    scores: Scores,
    *,
    statistic: str = "tau",
    resample: str | None = "topics",
    rounds: int = 1000,
    confidence: float = CONFIDENCE,
    seed: int = 0,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    executor: Any = None,
) -> Correlations:
    """The correlations of the rankings of systems by all pairs of measures.

    Parameters
    ----------
    scores : Scores
        Of at least two runs.
    statistic : {"tau", "tau_ap", "rho", "rbo"}
        Kendall's tau-b, tau_AP,b, Spearman's rho, or extrapolated rank-biased overlap (p = 0.9);
        `amble.metaevaluation.correlation` defines them.
    resample : {"topics", "systems", "both"} or None
        For the confidence intervals (percentiles of the bootstrap): draw topics with replacement, the same ones for all
        measures and systems; draw systems; draw both; or have no intervals. A system drawn twice is tied with itself,
        which tau-b passes over; the other statistics are not made for that, and take topics only.
    rounds : int
        Of the bootstrap.
    confidence : float
    seed : int
    threads : int, optional
    progress : callable, optional
    executor : optional
        Who computes, as `Workers` takes it; without one, threads of this process. The answer is the same, bit for bit.

    Returns
    -------
    Correlations

    Examples
    --------
    >>> import amble
    >>> qrels = {"1": {"a": 1, "b": 1}, "2": {"c": 1}}
    >>> runs = {
    ...     "x": {"1": {"a": 3.0, "b": 2.0, "z": 1.0}, "2": {"z": 2.0, "c": 1.0}},
    ...     "y": {"1": {"z": 3.0, "a": 2.0, "b": 1.0}, "2": {"c": 2.0, "z": 1.0}},
    ...     "w": {"1": {"z": 3.0, "a": 2.0, "b": 1.0}, "2": {"z": 2.0, "c": 1.0}},
    ... }
    >>> scores = amble.evaluate(qrels, runs, "AP RR P@1")
    >>> print(amble.metaevaluation.correlations(scores, resample=None).table())
    measure  other     tau
    AP       RR     0.8165
    AP       P@1    0.8165
    RR       P@1    1.0000
    """
    checks.one_of(statistic, STATISTICS, "statistic")
    checks.one_of(resample, (*RESAMPLE, None), "resample")
    if resample in ("systems", "both") and statistic != "tau":
        raise AmbleError(f"resample={resample!r}: a system drawn twice has no place in {statistic}; expected 'topics'")
    confidence, rounds = checks.share(confidence, "confidence"), checks.whole(rounds, "rounds")
    checks.seed(seed)
    of = STATISTICS[statistic]
    values = scores_by_measure(scores)
    means = plain_mean(values)
    if np.isnan(means).any():
        raise AmbleError("a run without a topic has no place in a ranking; use missing='zero' and undefined='zero'")
    ranked = places(means)
    found = of(ranked)
    np.fill_diagonal(found, np.where(ranked.max(axis=1) > 0, 1.0, np.nan))
    if resample is None:
        return Correlations(scores.measures, statistic, found, None, None, None, confidence)
    m, n, _ = values.shape
    step = max(1, _CELLS // max(m * n * n * (n if statistic == "rbo" else 1), 1))
    starts = [(start, min(step, rounds - start)) for start in range(0, rounds, step)]
    shared = values, means, statistic, resample, seed
    blocks = list(spread(_resampled, shared, starts, executor, threads=usual_threads(threads), progress=progress))
    drawn, left_out = np.concatenate([block for block, _ in blocks]), sum(n for _, n in blocks)
    tail = (1.0 - confidence) / 2.0
    nothing = np.isnan(drawn).all(axis=0)  # a measure that ties all systems
    drawn[:, nothing] = 0.0
    low, high = np.where(nothing, np.nan, np.nanquantile(drawn, (tail, 1.0 - tail), axis=0))
    return Correlations(scores.measures, statistic, found, low, high, resample, confidence, left_out)


def _resampled(shared: tuple[Array, Array, str, str, int], task: tuple[int, int]) -> tuple[Array, int]:
    """Correlations in some rounds (rounds, measures, measures), and how many rounds lack all topics of some run."""
    (values, means, statistic, resample, seed), (start, rounds) = shared, task
    m, n, t = values.shape
    rng = np.random.default_rng((seed, start))
    if resample == "systems":
        drawn = np.broadcast_to(means, (rounds, m, n))
    else:
        drawn = resampled_means(values, rng.multinomial(t, np.full(t, 1.0 / t), size=rounds).astype(np.float64))
    if resample != "topics":
        drawn = np.take_along_axis(drawn, rng.integers(0, n, size=(rounds, 1, n)), axis=2)
    gap = np.asarray(np.isnan(drawn).any(axis=-1))  # a round without any topic of some run ranks nothing
    ranks = STATISTICS[statistic](places(np.where(gap[:, :, None], 0.0, drawn)))
    return np.where(gap[:, :, None] | gap[:, None, :], np.nan, ranks), int(gap.any(axis=1).sum())
