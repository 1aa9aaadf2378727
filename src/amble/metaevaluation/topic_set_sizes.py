"""Topic set size design: how many topics an experiment needs (Sakai, 2016).

A score is taken as system effect + topic effect + error (two-way analysis of variance without replication). The
variance of the error, estimated by its mean square, determines how much the difference of two systems varies from topic
to topic: twice as much. From it follow

* the least n for which a paired t-test at level alpha finds a difference of d with probability 1 - beta (its statistic
  is then non-central, with √n d / √(2 σ²)), and
* the least n for which the confidence interval of a difference is expected to be no wider than δ: its mean width is
  2 t(n - 1) √(2 σ²) c / √n, c = √(2 / (n - 1)) Γ(n / 2) / Γ((n - 1) / 2) being the mean of the estimated deviation as a
  share of the true one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from amble import checks
from amble.comparison.design import CONFIDENCE, TestDesign
from amble.comparison.systems import grid_unit, scores_by_measure
from amble.comparison.variance import error_variance
from amble.errors import AmbleError
from amble.evaluation.scores import Scores
from amble.table import Table

__all__ = [
    "PLAN", "power_of_t", "topics_for_interval", "topics_for_power", "topics_needed", "width_of_interval",
]  # fmt: skip

PLAN = ("measure", "variance", "goal", "size", "topics")  # the columns
_MOST = 10_000_000
_POWER = 0.8  # by convention
_LARGEST = 1e100  # differences and variances


def power_of_t(topics: int, difference: float, variance: float, alpha: float = TestDesign.alpha) -> float:
    """The probability that a paired t-test, two-sided, finds a difference; variance is that of the error of one system.

    Examples
    --------
    >>> from amble.metaevaluation.topic_set_sizes import power_of_t
    >>> round(power_of_t(34, 0.1, 0.02), 2)  # half a deviation of the differences, √(2 x .02) = .2
    0.81
    """
    from scipy.special import fdtri, ncfdtr

    if topics < 2:
        return 0.0
    # the square of t has an F distribution with 1 and n - 1 degrees of freedom
    critical = fdtri(1.0, topics - 1.0, 1.0 - alpha)
    return float(1.0 - ncfdtr(1.0, topics - 1.0, topics * difference**2 / (2.0 * variance), critical))


def width_of_interval(topics: int, variance: float, confidence: float = CONFIDENCE) -> float:
    """The expected width of the confidence interval of a difference; variance is that of the error of one system."""
    from scipy.special import gammaln, stdtrit

    if topics < 2:
        return math.inf
    mean = math.sqrt(2.0 / (topics - 1.0)) * math.exp(float(gammaln(topics / 2.0) - gammaln((topics - 1.0) / 2.0)))
    return float(2.0 * stdtrit(topics - 1.0, 0.5 + confidence / 2.0) * math.sqrt(2.0 * variance / topics) * mean)


def _least(enough: Callable[[int], bool]) -> int:
    """The least n of at least 2 that is enough, where more is never worse."""
    high = 2
    while not enough(high):
        high *= 2
        if high > _MOST:
            raise AmbleError(f"more than {_MOST:,} topics are needed")
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def topics_for_power(
    difference: float, variance: float, *, power: float = _POWER, alpha: float = TestDesign.alpha
) -> int:
    """The least number of topics with which a paired t-test finds a difference.

    Examples
    --------
    >>> from amble.metaevaluation import topics_for_power
    >>> topics_for_power(0.1, 0.02)  # an effect of 0.5 at 5 % with power 80 %: 34 in any table of sample sizes
    34
    """
    for value, name in ((difference, "difference"), (variance, "variance")):
        checks.number(value, name, above=0, below=_LARGEST)
    power, alpha = checks.share(power, "power"), checks.share(alpha, "alpha")
    return _least(lambda n: power_of_t(n, difference, variance, alpha) >= power)


def topics_for_interval(width: float, variance: float, *, confidence: float = CONFIDENCE) -> int:
    """The least number of topics for a confidence interval of a difference of no more than an expected width.

    Examples
    --------
    >>> from amble.metaevaluation import topics_for_interval
    >>> topics_for_interval(0.1, 0.02)
    64
    """
    for value, name in ((width, "width"), (variance, "variance")):
        checks.number(value, name, above=0, below=_LARGEST)
    confidence = checks.share(confidence, "confidence")
    return _least(lambda n: width_of_interval(n, variance, confidence) <= width)


def topics_needed(
    scores: Scores,
    *,
    differences: Sequence[float] = (0.02, 0.05, 0.1),
    widths: Sequence[float] = (0.05, 0.1),
    power: float = _POWER,
    alpha: float = TestDesign.alpha,
    confidence: float = CONFIDENCE,
    digits: int = 4,
) -> Table:
    """How many topics are needed, measure by measure, if scores vary as they do here.

    Parameters
    ----------
    scores : Scores
        A pilot: at least two runs on at least two topics, from which the variance is estimated.
    differences : sequence of float
        Differences of means that a paired t-test is to find.
    widths : sequence of float
        Widths of confidence intervals of differences.
    power, alpha : float
        The probability to find a difference that is there, and the level of the test.
    confidence : float
        Of the confidence intervals.
    digits : int

    Returns
    -------
    Table
        Columns measure, variance (of the error), goal, size, topics.

    Examples
    --------
    >>> import amble
    >>> qrels = {"1": {"a": 1}, "2": {"b": 1}}
    >>> runs = {"x": {"1": {"a": 1.0}, "2": {"z": 2.0, "b": 1.0}}, "y": {"1": {"z": 2.0, "a": 1.0}, "2": {"b": 1.0}}}
    >>> print(amble.metaevaluation.topics_needed(amble.evaluate(qrels, runs, "RR"), differences=[0.2], widths=[0.2]))
    measure  variance  goal          size  topics
    RR         0.2500  difference  0.2000     101
    RR         0.2500  interval    0.2000     195
    """
    alpha, confidence = checks.share(alpha, "alpha"), checks.share(confidence, "confidence")
    values = scores_by_measure(scores)
    if geometric := scores.logarithms:
        raise AmbleError(f"{geometric[0]}: its mean is geometric, so its differences are those of logarithms; no plan")
    if np.isnan(values).any():
        raise AmbleError("some runs lack topics; use missing='zero' and undefined='zero'")
    if values.shape[2] < 2:
        raise AmbleError("expected scores of at least two systems on at least two topics, none left out")
    rows: list[list[Any]] = []
    for measure, x in zip(scores.measures, values, strict=True):
        variance = error_variance(x, grid_unit(x))
        if variance <= 0.0:
            raise AmbleError(f"{measure}: differences are the same on all topics; there is no variance to plan with")
        rows += [
            [measure, variance, "difference", float(d), topics_for_power(d, variance, power=power, alpha=alpha)]
            for d in differences
        ]
        rows += [
            [measure, variance, "interval", float(w), topics_for_interval(w, variance, confidence=confidence)]
            for w in widths
        ]
    plan = {"power": power, "alpha": alpha, "confidence": confidence}
    return Table(PLAN, rows, digits=digits, facts=plan)
