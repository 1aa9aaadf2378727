"""Discriminative power: between how many pairs of systems a measure finds a difference (Sakai, 2006).

Every pair of systems is tested. The p-values, sorted from the largest, are the measure's ASL curve (achieved
significance levels); where it crosses alpha, a significant difference is found for the pairs to its right. The lower
the curve, the more a measure discriminates; that it does so says nothing about whether it measures what matters.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from amble import checks
from amble.arrays import Array
from amble.comparison.design import POWER
from amble.comparison.p_values import reaches
from amble.comparison.systems import mean_differences, scores_by_measure
from amble.evaluation.scores import Scores
from amble.metaevaluation.measure_agreement import p_values
from amble.table import Table, Tabled

__all__ = ["Power", "discriminative_power"]


@dataclass(frozen=True)
class Power(Tabled):
    """The discriminative power of measures; made by `discriminative_power`.

    Attributes
    ----------
    measures : tuple of str
    test : str
    alpha : float
    levels : ndarray
        Of shape (measures, pairs): p-values, sorted from the largest.
    needed : ndarray
        Of each measure, the largest difference of means that was not found significant: what a difference has to exceed
        so that every one as large was.
    logarithms : tuple of str
        Measures whose mean is geometric: their differences are those of logarithms.
    """

    measures: tuple[str, ...]
    test: str
    alpha: float
    levels: Array
    needed: Array
    logarithms: tuple[str, ...] = ()

    @property
    def power(self) -> Array:
        """The share of pairs with a significant difference."""
        return np.asarray(reaches(self.levels, self.alpha).mean(axis=1))

    def table(self, *, digits: int = 4) -> Table:
        """A table with one row per measure, the most discriminative first."""
        order = np.argsort(-self.power, kind="stable").tolist()
        rows = [[self.measures[j], self.test, float(self.power[j]), float(self.needed[j])] for j in order]
        columns, names = ["measure", "test", "power", "needed"], ", ".join(self.logarithms)
        caption = f"{names}: differences of logarithms, as the mean is geometric" if names else ""
        return Table(columns, rows, digits=digits, caption=caption)

    def curve(self, *, digits: int = 4) -> Table:
        """The ASL curves: one row per measure and pair of systems, pairs sorted by p-value."""
        rows = (
            (measure, i, level)
            for measure, levels in zip(self.measures, self.levels.tolist(), strict=True)
            for i, level in enumerate(levels, 1)
        )
        return Table(["measure", "pair", "level"], rows, digits=digits)

    def __repr__(self) -> str:
        return f"Power({len(self.measures)} measures, {self.levels.shape[1]} pairs of systems, test {self.test})"


def discriminative_power(
    scores: Scores,
    *,
    alpha: float = POWER.alpha,
    test: str = POWER.test,
    rounds: int = POWER.rounds,
    seed: int = POWER.seed,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    executor: Any = None,
) -> Power:
    """The discriminative power of measures: the share of pairs of systems with a significant difference.

    Parameters
    ----------
    scores : Scores
        Of at least two runs.
    alpha : float
        Of the tests.
    test : {"bootstrap", "t", "tukey"}
        The paired bootstrap test of Sakai (2006), the paired t-test, or the randomised Tukey HSD, whose alpha is that
        of all pairs together.
    rounds, seed : int
        Of the random tests.
    threads : int, optional
    progress : callable, optional
    executor : optional
        Who computes, as `Workers` takes it; without one, threads of this process. The answer is the same, bit for bit.

    Returns
    -------
    Power

    Examples
    --------
    >>> import amble
    >>> qrels = {str(t): {"a": 1, "b": 0} for t in range(10)}
    >>> good, bad = {"a": 2.0, "b": 1.0}, {"a": 1.0, "b": 2.0}
    >>> runs = {"x": dict.fromkeys(qrels, good), "y": dict.fromkeys(qrels, bad)}
    >>> print(amble.metaevaluation.discriminative_power(amble.evaluate(qrels, runs, "P@2 AP"), test="t").table())
    measure  test   power  needed
    AP       t     1.0000  0.0000
    P@2      t     0.0000  0.0000
    """
    alpha = checks.share(alpha, "alpha")
    p = p_values(scores, test=test, rounds=rounds, seed=seed, threads=threads, progress=progress, executor=executor)
    a, b = np.triu_indices(len(scores.runs), 1)
    levels = p[:, a, b]
    apart = np.abs(mean_differences(scores_by_measure(scores))[:, a, b])
    needed = np.where(reaches(levels, alpha), 0.0, apart).max(axis=1)
    return Power(scores.measures, test, alpha, -np.sort(-levels, axis=1), needed, scores.logarithms)
