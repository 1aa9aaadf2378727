"""What is not known of a fitted user, carried into the scores.

A fit has draws: the user's parameters, estimated again on resampled sessions. Every draw is a user, and every user has
her own mean score of a run. Where these means lie, in the middle 95 % say, is the interval. With topics drawn anew as
well, with replacement, once for each user, it tells of both: few sessions in the log, and few topics.

The same users and the same topics serve all runs, so differences between runs may be taken draw by draw.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amble.errors import AlignError, MeasureError
from amble.evaluation.scores import aggregate, evaluate, parse_measures, scores_by_topic
from amble.measures import Lists, Measure
from amble.measures.fitted_parameters import resampled
from amble.progress import Progress
from amble.rankings.alignment import Rankings, byte_order
from amble.table import Table

__all__ = ["FittedIntervals", "fitted_intervals"]

Array = NDArray[np.float64]


class FittedIntervals:
    """Means of runs with intervals that come from the log behind a fitted user; made by `fitted_intervals`.

    Attributes
    ----------
    runs, measures : tuple of str
    means, low, high : ndarray
        Of shape (runs, measures).
    draws : list of ndarray
        For each measure the means by draw, of shape (draws, runs).
    level : float
    topics : bool
        Whether topics were drawn anew, too.
    rankings : Rankings
    """

    def __init__(
        self,
        rankings: Rankings,
        measures: tuple[str, ...],
        means: Array,
        draws: list[Array],
        *,
        level: float,
        topics: bool,
    ) -> None:
        self.rankings, self.runs, self.measures = rankings, rankings.runs, measures
        self.means, self.draws, self.level, self.topics = means, draws, level, topics
        self.low, self.high = np.moveaxis(np.array([ends_of(x, level) for x in draws]), 0, 2)

    def __repr__(self) -> str:
        return f"FittedIntervals({len(self.runs)} runs, {', '.join(self.measures)}, level {self.level:g})"

    def table(self, *, digits: int = 4) -> Table:
        """Rows of run, measure, mean, and the ends of its interval."""
        rows: list[list[Any]] = [
            [run, name, *(float(x[i, j]) for x in (self.means, self.low, self.high)), len(self.draws[j])]
            for j, name in enumerate(self.measures)
            for i, run in enumerate(self.runs)
        ]
        return Table(["run", "measure", "mean", "low", "high", "draws"], rows, digits=digits)


def ends_of(draws: Array, level: float) -> Array:
    """Between which two numbers another draw lies, with the probability that the level is; along the first axis.

    Quantiles at p (n + 1), as of n draws and one more each place is as likely as another: with 100 draws the usual ones
    would hold 93 % instead of 95.
    """
    return np.quantile(draws, [(1 - level) / 2, (1 + level) / 2], axis=0, method="weibull")


def fitted_intervals(
    rankings: Rankings,
    measures: str | Measure | Iterable[str | Measure],
    *,
    topics: bool = False,
    level: float = 0.95,
    draws: int = 1000,
    seed: int = 0,
    undefined: str = "zero",
    progress: Callable[[int, int], None] | None = None,
) -> FittedIntervals:
    """Score runs with fitted users, and tell how far what is not known of these users could move the means.

    Parameters
    ----------
    rankings : Rankings
    measures : str, Measure or a list of them
        Each with a fitted user: ``"PH(user='fit.toml')"``.
    topics : bool
        Draw the topics anew, too, with replacement.
    level : float
        How much of the draws the interval holds.
    draws : int
        How many draws to take at most; a file has some, but moves from rank to rank can be drawn as often as one likes.
    seed : int
        Of the draws of topics.
    undefined : {"zero", "skip"}
        As for `evaluate`.
    progress : callable, optional
        Called with the draws done and all of them; without it, a line on the terminal after a second.

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
    ...     found = amble.fitted_intervals(rankings, f"RBP(user='{folder}/fit.toml')", level=0.5)
    >>> found.means.round(4), found.low.round(4), found.high.round(4)  # 1 - p
    (array([[0.2]]), array([[0.15]]), array([[0.25]]))
    """
    if isinstance(level, bool) or not isinstance(level, int | float) or not 0 < level < 1:
        raise MeasureError(f"level={level!r:.60}: expected a number between 0 and 1")
    for name, number, least in (("draws", draws, 2), ("seed", seed, 0)):
        if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < least:
            raise MeasureError(f"{name}={number!r:.60}: expected a whole number of at least {least}")
    if not rankings.topics:
        raise AlignError("no topics, so there are no means")
    parsed = parse_measures(measures)
    users = [resampled(m, draws) for m in parsed]
    for measure, many in zip(parsed, users, strict=True):
        if len(many) < 2:
            raise MeasureError(f"{measure}: the file has one draw of its parameters, too few for an interval")
    scores = evaluate(rankings, parsed, undefined=undefined)
    lists = Lists.of_rankings(rankings)
    total, done = sum(map(len, users)), 0
    line = Progress("fitted users, drawn anew")
    tell = line if progress is None else progress
    by_draw: list[Array] = []
    order = byte_order(rankings.topics)
    try:
        for many in users:
            chosen = _resampled(len(rankings.topics), len(many), seed) if topics else None
            means = np.empty((len(many), len(rankings.runs)))
            for b, user in enumerate(many):
                values = scores_by_topic(rankings, lists, user, undefined)[:, order]
                means[b] = aggregate(user.declaration.aggregate, values if chosen is None else values[:, chosen[b]])
                done += 1
                tell(done, total)
            by_draw.append(means)
    finally:
        line.close()
    return FittedIntervals(rankings, scores.measures, scores.means(), by_draw, level=float(level), topics=topics)


def _resampled(topics: int, draws: int, seed: int) -> NDArray[np.int64]:
    """Topics drawn with replacement, a row a draw."""
    return np.random.default_rng(seed).integers(0, topics, (draws, topics))
