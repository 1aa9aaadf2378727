"""Confidence intervals of mean scores under fitted users, by the bootstrap.

A fit has draws: the user's parameters, estimated again on resampled sessions. A round takes one draw and computes the
mean score of every run with it; the middle 95 % of these means, say, are the interval. With topics resampled as well,
once a round, the interval covers both: few sessions in the log, and few topics.

All runs share the users and topics of a round, so differences between runs may be taken round by round.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from amble import checks
from amble.arrays import NDArray
from amble.errors import AlignError, MeasureError
from amble.evaluation.inputs import Measures, parse_measures
from amble.evaluation.scores import Undefined, evaluate, scores_by_topic
from amble.measures import Lists, Measure
from amble.measures.fitted_parameters import resampled
from amble.measures.list_measure import of_lists
from amble.parallel import spread
from amble.progress import Progress
from amble.rankings.alignment import Rankings, SentRankings, aggregate, byte_order
from amble.table import Table, Tabled

__all__ = ["FittedIntervals", "fitted_intervals"]

Array = NDArray[np.float64]


class FittedIntervals(Tabled):
    """Means of runs with their confidence intervals under fitted users; made by `fitted_intervals`.

    Attributes
    ----------
    runs, measures : tuple of str
    means, low, high : ndarray
        Of shape (runs, measures).
    by_round : list of ndarray
        For each measure the means by round, of shape (rounds, runs).
    confidence : float
    topics : bool
        Whether topics were resampled, too.
    rankings : Rankings
    """

    def __init__(
        self,
        rankings: Rankings,
        measures: tuple[str, ...],
        means: Array,
        by_round: list[Array],
        *,
        confidence: float,
        topics: bool,
    ) -> None:
        self.rankings, self.runs, self.measures = rankings, rankings.runs, measures
        self.means, self.by_round, self.confidence, self.topics = means, by_round, confidence, topics
        self.low, self.high = np.moveaxis(np.array([interval_of(x, confidence) for x in by_round]), 0, 2)

    def __repr__(self) -> str:
        return f"FittedIntervals({len(self.runs)} runs, {', '.join(self.measures)}, confidence {self.confidence:g})"

    def table(self, *, digits: int = 4) -> Table:
        """Rows of run, measure, mean, the ends of its confidence interval, and the number of rounds."""
        rows: list[list[Any]] = [
            [run, name, *(float(x[i, j]) for x in (self.means, self.low, self.high)), len(self.by_round[j])]
            for j, name in enumerate(self.measures)
            for i, run in enumerate(self.runs)
        ]
        return Table(["run", "measure", "mean", "low", "high", "rounds"], rows, digits=digits)


def interval_of(draws: Array, confidence: float) -> Array:
    """The two ends of the interval in which another draw lies with this probability, along the first axis.

    Quantiles at p (n + 1), as another draw takes each place among n with the same probability: with 100 draws the usual
    quantiles would hold 93 % instead of 95.
    """
    return np.quantile(draws, [(1 - confidence) / 2, (1 + confidence) / 2], axis=0, method="weibull")


def fitted_intervals(
    rankings: Rankings,
    measures: Measures,
    *,
    topics: bool = False,
    confidence: float = 0.95,
    rounds: int = 1000,
    seed: int = 0,
    undefined: Undefined = "zero",
    progress: Callable[[int, int], None] | None = None,
    executor: Any = None,
) -> FittedIntervals:
    """Means of runs under fitted users, with confidence intervals for what the log leaves unknown of these users.

    Parameters
    ----------
    rankings : Rankings
    measures : str, Measure or a list of them
        Each with a fitted user: ``"PH(user='fit.toml')"``.
    topics : bool
        Whether to resample the topics, too, with replacement.
    confidence : float
        The level of the intervals.
    rounds : int
        How many draws of a fit to use at most. A file has some; transitions from rank to rank can be drawn at will.
    seed : int
        Seed for resampling topics.
    undefined : {"zero", "skip"}
        As for `evaluate`.
    progress : callable, optional
        Called with the rounds done and all of them; without it, a line on the terminal after a second.
    executor : optional
        Who scores, as `Workers` takes it; without one, this process. The answer is the same, bit for bit.

    Returns
    -------
    FittedIntervals

    Examples
    --------
    >>> import tempfile
    >>> import amble
    >>> from amble.users.fitted import Estimate, Fitted, FittedModel, Origin
    >>> p = Estimate(0.8, 0.7, 0.9, 1500, draws=[0.75, 0.8, 0.85])
    >>> fit = Fitted(Origin(["log"], "table", 300, 1800, 1500), [FittedModel("rbp", "rbp", {"p": p}, "last click")])
    >>> rankings = amble.align({"1": {"a": 1}}, {"x": {"1": {"a": 1.0}}})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     amble.write_fit(f"{folder}/fit.toml", fit)
    ...     found = amble.fitted_intervals(rankings, f"RBP(user='{folder}/fit.toml')", confidence=0.5)
    >>> found.means.round(4), found.low.round(4), found.high.round(4)  # 1 - p
    (array([[0.2]]), array([[0.15]]), array([[0.25]]))
    """
    confidence = checks.share(confidence, "confidence", MeasureError)
    rounds = checks.whole(rounds, "rounds", 2, None, MeasureError)
    seed = checks.whole(seed, "seed", 0, None, MeasureError)
    if not rankings.topics:
        raise AlignError("no topics, so there are no means")
    parsed = parse_measures(measures)
    users = [resampled(m, rounds) for m in parsed]
    for measure, many in zip(parsed, users, strict=True):
        if len(many) < 2:
            raise MeasureError(f"{measure}: the file has one draw of its parameters, too few for an interval")
    scores = evaluate(rankings, parsed, undefined=undefined)
    tasks: list[tuple[Measure, NDArray[np.int64] | None]] = []
    for many in users:
        chosen = _resampled(len(rankings.topics), len(many), seed) if topics else [None] * len(many)
        tasks += zip(many, chosen, strict=True)
    with Progress("fitted users") as line:
        means = list(spread(_means, _Shared(rankings, undefined), tasks, executor, progress=progress or line))
    ends = np.cumsum([0, *map(len, users)]).tolist()
    by_round = [np.array(means[a:b]) for a, b in pairwise(ends)]
    return FittedIntervals(rankings, scores.measures, scores.means(), by_round, confidence=confidence, topics=topics)


class _Shared:
    """Rankings whose lists are made once, here or on a worker."""

    def __init__(self, rankings: Rankings, undefined: Undefined) -> None:
        self.sent, self.undefined = SentRankings(rankings), undefined

    @cached_property
    def lists(self) -> Lists:
        return Lists.of_rankings(self.sent.rankings)


def _means(shared: _Shared, task: tuple[Measure, NDArray[np.int64] | None]) -> Array:
    """The mean of each run under one user, over all topics or those chosen."""
    rankings, (user, chosen) = shared.sent.rankings, task
    values = scores_by_topic(rankings, shared.lists, of_lists(user), shared.undefined)[:, byte_order(rankings.topics)]
    return aggregate(user.declaration.aggregate, values if chosen is None else values[:, chosen])


def _resampled(topics: int, rounds: int, seed: int) -> NDArray[np.int64]:
    """Topics drawn with replacement, one row per round."""
    return np.random.default_rng(seed).integers(0, topics, (rounds, topics))
