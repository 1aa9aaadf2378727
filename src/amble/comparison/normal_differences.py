"""Normality of the differences of two systems: Shapiro-Wilk's W and p, and the points of a normal Q-Q plot."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from amble.arrays import Array
from amble.comparison.design import TestDesign
from amble.comparison.p_values import Probability, reaches
from amble.comparison.systems import differences, systems_of
from amble.errors import AmbleError
from amble.evaluation.scores import Scores
from amble.measures import Measure
from amble.table import Table, Tabled

__all__ = ["Normality", "normality"]

_FEWEST = 3  # differences that can be tested
_MOST = 5000  # beyond, p is an extrapolation


@dataclass(frozen=True, eq=False, repr=False)
class Normality(Tabled):
    """Whether the differences of two systems by topic look as if drawn from a normal distribution; made by `normality`.

    A small p says that they are not normal. A large p does not say that they are: few topics show little. Nor does a
    small p forbid the t-test, whose mean over many topics is near to normal all the same; what harms it are a few
    differences far from all others, and the chart shows them.

    Attributes
    ----------
    measure, run, baseline : str
    item : str
        What scores are paired by: "topic" or "session".
    topics : tuple of str
        In the order of the differences.
    differences : ndarray
        Of the run minus the baseline, from the least to the greatest; of logarithms where the mean is geometric.
    quantiles : ndarray
        Where as many differences from a normal distribution of mean 0 and deviation 1 have their medians (Filliben).
    slope, intercept : float
        Of the line through the points by least squares: about the deviation and the mean of the differences.
    w, p : float
        Shapiro-Wilk's statistic, 1 for the straightest line, and its p-value.
    logarithms : bool
    """

    measure: str
    run: str
    baseline: str
    item: str
    topics: tuple[str, ...]
    differences: Array
    quantiles: Array
    slope: float
    intercept: float
    w: float
    p: float
    logarithms: bool = False

    @property
    def caption(self) -> str:
        """The test, in a line."""
        n = len(self.topics)
        of = " (logarithms)" * self.logarithms
        rough = f", rough beyond {_MOST:,} {self.item}s" * (n > _MOST)
        return (
            f"{self.measure}{of}: {self.run} − {self.baseline}, {n} {self.item}s; "
            f"Shapiro-Wilk W {self.w:.4f}, p {Probability(self.p):.4f}{rough}"
        )

    @property
    def meaning(self) -> str:
        """What the test says, and what it does not."""
        alpha = TestDesign.alpha
        if reaches(np.array(self.p), alpha):
            few = f"a t-test of few {self.item}s, or with differences far from all others, may mislead"
            return f"not normal at alpha {alpha:g}: {few}"
        return f"no departure from normal found at alpha {alpha:g}, which does not show that there is none"

    def table(self, *, digits: int = 4) -> Table:
        """The points: a row for each topic, from the least difference to the greatest."""
        rows = zip(self.topics, self.quantiles.tolist(), self.differences.tolist(), strict=True)
        facts: dict[str, Any] = {"measure": self.measure, "run": self.run, "baseline": self.baseline}
        facts |= {"w": self.w, "p": self.p, "slope": self.slope, "intercept": self.intercept}
        return Table([self.item, "quantile", "difference"], rows, digits=digits, facts=facts, caption=self.caption)

    def __repr__(self) -> str:
        return f"Normality({self.caption})"


def normality(
    scores: Scores | Mapping[str, Mapping[str, float]],
    run: str,
    baseline: str,
    measure: str | Measure | None = None,
) -> Normality:
    """Whether the differences of two systems by topic look normal, as the paired t-test takes them to be.

    Parameters
    ----------
    scores : Scores or mapping
        From `evaluate`, or ``{run: {topic: score}}``.
    run, baseline : str
    measure : str or Measure, optional
        Which one, if the scores are of several.

    Returns
    -------
    Normality
        `amble.plot` draws it.

    Examples
    --------
    >>> import amble
    >>> scores = {"x": dict(zip("12345", (0.2, 0.5, 0.4, 0.9, 0.6))), "y": dict.fromkeys("12345", 0.3)}
    >>> print(amble.comparison.normality(scores, "x", "y"))
    score: x − y, 5 topics; Shapiro-Wilk W 0.9840, p 0.9546
    topic  quantile  difference
    1       -1.1290     -0.1000
    3       -0.4857      0.1000
    2        0.0000      0.2000
    5        0.4857      0.3000
    4        1.1290      0.6000
    """
    from scipy import stats

    systems = systems_of(scores, measure)
    a, b = systems.place(run), systems.place(baseline)
    ((_, found),) = differences(systems, np.array([a]), np.array([b]))
    known = np.flatnonzero(found.shared[0])
    d = found.values[0, known] * systems.sign + 0.0
    if known.size < _FEWEST:
        raise AmbleError(
            f"{run} and {baseline} have {known.size} {systems.item}s in common, expected at least {_FEWEST} to test"
        )
    if not found.deviation[0]:
        raise AmbleError(f"{run} and {baseline}: the difference is the same on all {systems.item}s, nothing to test")
    order = np.argsort(d, kind="stable")
    (quantiles, ordered), (slope, intercept, _) = stats.probplot(d)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of many topics, which the caption says
        w, p = stats.shapiro(d)
    return Normality(
        systems.measure,
        systems.names[a],
        systems.names[b],
        systems.item,
        tuple(systems.topics[t] for t in known[order].tolist()),
        np.asarray(ordered),
        np.asarray(quantiles),
        float(slope),
        float(intercept),
        float(w),
        float(p),
        systems.logarithms,
    )
