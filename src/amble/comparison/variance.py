"""Two-way analysis of variance of scores: systems and topics.

Two ways, without interaction: score = mean + system + topic + error. Topics on which a system has no score are left out
for all (and counted), so that every system has the same topics and the sums of squares add up. Differences of systems
are compared with Tukey's studentised range, with the error of all systems together and (systems - 1) (topics - 1)
degrees of freedom: the probability of any false finding among all pairs is alpha (if errors are normal and of one
size).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from amble.arrays import Array
from amble.comparison.p_values import Probability
from amble.comparison.systems import Systems, systems_of
from amble.errors import AlignError, AmbleError
from amble.evaluation.scores import Scores
from amble.measures import Measure
from amble.table import Table

__all__ = ["Anova", "anova", "complete_scores", "error_variance", "variance_of"]


class Source(NamedTuple):
    """A source of variance: a row of the table of `Anova`."""

    name: str
    squares: float
    freedom: int
    mean_square: float
    ratio: float
    p: float
    omega_squared: float


class Anova(NamedTuple):
    """A two-way analysis of variance, made by `anova`.

    Attributes
    ----------
    measure : str
    systems, topics : int
        How many there are.
    left_out : int
        Topics left out, as not all systems have a score there.
    sources : tuple
        Of system and topic: ``name``, ``squares`` (sum of squares), ``freedom``, ``mean_square``, ``ratio`` (F), ``p``
        and ``omega_squared``, the partial ω²: how much of the variance that is not the other's is its; NaN if there is
        none.
    error : float
        The mean square of the error.
    error_squares, error_freedom
        Its sum of squares and its degrees of freedom.

    Examples
    --------
    >>> import amble
    >>> scores = {"x": {"1": 0.1, "2": 0.5, "3": 0.6}, "y": {"1": 0.3, "2": 0.6, "3": 0.9}}
    >>> print(amble.anova(scores))
    score: two-way analysis of variance, 2 runs, 3 topics
    source  squares  df  mean square        F       p      ω²
    system   0.0600   1       0.0600  12.0000  0.0742  0.6471
    topic    0.3100   2       0.1550  31.0000  0.0313  0.9091
    error    0.0100   2       0.0050        -       -       -
    """

    measure: str
    systems: int
    topics: int
    left_out: int
    sources: tuple[Source, ...]
    error: float
    error_squares: float
    error_freedom: int
    item: str = "topic"

    def table(self, *, digits: int = 4) -> Table:
        """A row a source, and one for the error."""
        rows: list[list[Any]] = [
            [s.name, s.squares, s.freedom, s.mean_square, s.ratio, Probability(s.p), s.omega_squared]
            for s in self.sources
        ]
        rows.append(["error", self.error_squares, self.error_freedom, self.error, None, None, None])
        columns = ["source", "squares", "df", "mean square", "F", "p", "ω²"]
        return Table(columns, rows, digits=digits, caption=self.caption)

    @property
    def caption(self) -> str:
        """The measure and the numbers of runs and topics, in one line."""
        left = f", {self.left_out} left out (a run has no score there)" if self.left_out else ""
        return f"{self.measure}: two-way analysis of variance, {self.systems} runs, {self.topics} {self.item}s{left}"

    def _repr_html_(self) -> str:
        return self.table().html()

    def __str__(self) -> str:
        return str(self.table())


def complete_scores(systems: Systems) -> tuple[Array, int]:
    """The scores on topics where all systems have one, and how many topics were left out."""
    kept = systems.complete
    if not kept.any():
        raise AlignError("no topic on which all runs have a score: nothing to compare them all on")
    return np.asarray(systems.values[:, kept]), int(np.count_nonzero(~kept))


def variance_of(values: Array, unit: float) -> tuple[Array, Array, float]:
    """The effects of systems and of topics, and the sum of squares of the error."""
    grand = values.mean()
    by_system, by_topic = values.mean(axis=1) - grand, values.mean(axis=0) - grand
    by_system = np.where(np.abs(by_system) > unit, by_system, 0.0)
    by_topic = np.where(np.abs(by_topic) > unit, by_topic, 0.0)
    rest = values - grand - by_system[:, None] - by_topic
    rest = np.where(np.abs(rest) > 4 * unit, rest, 0.0)
    return by_system, by_topic, float(np.square(rest).sum())


def error_variance(values: Array, unit: float) -> float:
    """The mean square of the error: what system and topic effects leave over, by its degrees of freedom.

    >>> error_variance(np.array([[1.0, 2.0], [2.0, 5.0]]), 1e-13)  # residuals ±0.5: 4 x 0.25 / (1 x 1)
    1.0
    """
    systems, topics = values.shape
    return float(variance_of(values, unit)[2] / ((systems - 1) * (topics - 1)))


def anova(scores: Scores | Mapping[str, Mapping[str, float]], measure: str | Measure | None = None) -> Anova:
    """Two-way analysis of variance of scores: systems and topics, without interaction.

    Parameters
    ----------
    scores : Scores, or {run: {topic: score}}
    measure : str or Measure, optional
        Which one, if the scores are of several.

    Returns
    -------
    Anova

    Examples
    --------
    >>> import amble
    >>> scores = {"x": {"1": 0.1, "2": 0.5, "3": 0.6}, "y": {"1": 0.3, "2": 0.6, "3": 0.9}}
    >>> system, topic = amble.anova(scores).sources
    >>> round(system.ratio, 6), round(system.p, 6)  # with two systems the square of the paired t, and its p
    (12.0, 0.07418)
    """
    from scipy.special import fdtrc

    systems = systems_of(scores, measure)
    values, left_out = complete_scores(systems)
    k, n = values.shape
    if k < 2 or n < 2:
        raise AmbleError(f"{k} runs and {n} {systems.item}s, expected at least 2 of each for an analysis of variance")
    by_system, by_topic, error_squares = variance_of(values, systems.unit)
    error_freedom = (k - 1) * (n - 1)
    error = error_squares / error_freedom
    sources = []
    for name, squares, freedom in (
        ("system", float(np.square(by_system).sum() * n), k - 1),
        (systems.item, float(np.square(by_topic).sum() * k), n - 1),
    ):
        mean_square = squares / freedom
        ratio = mean_square / error if error > 0 else (np.inf if squares > 0 else 0.0)
        p = float(fdtrc(freedom, error_freedom, ratio)) if np.isfinite(ratio) else 0.0
        own = freedom * (ratio - 1)
        omega = own / (own + k * n) if np.isfinite(ratio) else 1.0
        if error == 0 and squares == 0:  # nothing of nothing
            omega = float("nan")
        sources.append(Source(name, squares, freedom, mean_square, float(ratio), p if squares > 0 else 1.0, omega))
    return Anova(systems.measure, k, n, left_out, tuple(sources), error, error_squares, error_freedom, systems.item)
