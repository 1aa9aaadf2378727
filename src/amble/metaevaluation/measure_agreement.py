"""Agreement of measures on significant differences between systems (Moffat, Scholer and Thomas, 2012, section 4).

Every pair of systems is tested with every measure. Two measures then agree or disagree on a pair in one of five ways:

* **SSA**: both find the same system significantly better;
* **SSD**: both find a significant difference, but not the same better system;
* **SN**, **NS**: only the first, only the second finds one;
* **NN**: neither does.

The *discriminative power* of a measure is the share of pairs with a significant difference: SSA with itself. The *class
agreement* on significance is 2 SSA / (2 SSA + SN + NS), that on non-significance 2 NN / (2 NN + SN + NS).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from amble import checks
from amble.arrays import Array, NDArray
from amble.comparison.design import AGREEMENT
from amble.comparison.p_values import reaches
from amble.comparison.systems import mean_differences, scores_by_measure
from amble.errors import AlignError
from amble.evaluation.scores import Scores
from amble.metaevaluation.significance import all_pairs
from amble.parallel import spread, usual_threads
from amble.table import Table, Tabled

__all__ = ["Agreement", "agreement", "p_values"]

KINDS = ("SSA", "SSD", "SN", "NS", "NN")


@dataclass(frozen=True)
class Agreement(Tabled):
    """How often measures agree on significant differences; made by `agreement`.

    Attributes
    ----------
    measures : tuple of str
    pairs : int
        Pairs of systems.
    test : str
    alpha : float
        A difference is significant if p is at most alpha.
    counts : dict
        ``{"SSA": array, …}``: for each of the five ways, (measures, measures) counts of pairs of systems; the first
        measure is the row.
    """

    measures: tuple[str, ...]
    pairs: int
    test: str
    alpha: float
    counts: dict[str, NDArray[np.int64]]

    @property
    def power(self) -> Array:
        """Discriminative power of each measure: the share of pairs with a significant difference."""
        return np.asarray(np.diagonal(self.counts["SSA"]) / self.pairs)

    @property
    def significant(self) -> Array:
        """Class agreement on significance, 2 SSA / (2 SSA + SN + NS); NaN where all of these are 0."""
        return self._class("SSA")

    @property
    def not_significant(self) -> Array:
        """Class agreement on non-significance, 2 NN / (2 NN + SN + NS)."""
        return self._class("NN")

    def _class(self, kind: str) -> Array:
        both = 2.0 * self.counts[kind]
        all_of = both + self.counts["SN"] + self.counts["NS"]
        return np.asarray(np.divide(both, all_of, out=np.full(both.shape, np.nan), where=all_of > 0))

    def table(self, *, digits: int = 4) -> Table:
        """A table with one row per pair of measures: the five shares and the two class agreements."""
        columns = ["measure", "other", *KINDS, "2SSA", "2NN"]
        rows: list[list[Any]] = []
        for i, j in combinations(range(len(self.measures)), 2):
            shares = [float(self.counts[kind][i, j] / self.pairs) for kind in KINDS]
            agreed = [float(self.significant[i, j]), float(self.not_significant[i, j])]
            rows.append([self.measures[i], self.measures[j], *shares, *agreed])
        return Table(columns, rows, digits=digits)

    def __repr__(self) -> str:
        return f"Agreement({len(self.measures)} measures, {self.pairs} pairs of systems, test {self.test})"


def p_values(
    scores: Scores,
    *,
    test: str = AGREEMENT.test,
    rounds: int = AGREEMENT.rounds,
    seed: int = AGREEMENT.seed,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    executor: Any = None,
) -> Array:
    """P-values of all pairs of systems: (measures, systems, systems)."""
    checks.seed(seed)
    values = scores_by_measure(scores)
    _enough(values, scores.runs)
    workers = 1 if test == "t" else usual_threads(threads)
    return np.stack(
        list(spread(_tested, (test, rounds, seed), list(values), executor, threads=workers, progress=progress))
    )


def _tested(shared: tuple[str, int, int], scores: Array) -> Array:
    return all_pairs(scores, *shared)


def _enough(values: Array, runs: tuple[str, ...]) -> None:
    """Refuse pairs of systems with fewer than two common topics, as `compare` does."""
    known = (~np.isnan(values)).astype(np.float64)
    common = (known @ np.swapaxes(known, -1, -2)).min(axis=0)
    few = np.argwhere(np.triu(common < 2, 1))
    if few.size:
        i, j = few[0].tolist()
        n = int(common[i, j])
        raise AlignError(
            f"{runs[i]} and {runs[j]} have scores on {n} common topic{'s' * (n != 1)}, expected at least 2"
        )


def agreement(
    scores: Scores,
    *,
    alpha: float = AGREEMENT.alpha,
    test: str = AGREEMENT.test,
    rounds: int = AGREEMENT.rounds,
    seed: int = AGREEMENT.seed,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    executor: Any = None,
) -> Agreement:
    """On how many pairs of systems measures agree.

    Parameters
    ----------
    scores : Scores
        Of at least two runs.
    alpha : float
        Of the tests.
    test : {"t", "bootstrap", "tukey"}
        The paired t-test, the paired bootstrap test, or the randomised Tukey HSD; all two-sided.
    rounds, seed : int
        Of the random tests.
    threads : int, optional
    progress : callable, optional
        Called with the measures done and all there are.
    executor : optional
        Who tests, as `Workers` takes it; without one, threads of this process. The answer is the same, bit for bit.

    Returns
    -------
    Agreement

    Examples
    --------
    >>> import amble
    >>> qrels = {str(t): {"a": 1, "b": 0} for t in range(4)}
    >>> good, bad = {"a": 2.0, "b": 1.0}, {"a": 1.0, "b": 2.0}
    >>> runs = {"x": dict.fromkeys(qrels, good), "y": dict.fromkeys(qrels, bad)}
    >>> found = amble.metaevaluation.agreement(amble.evaluate(qrels, runs, "AP RR P@2"))
    >>> print(found.table(digits=2))
    measure  other   SSA   SSD    SN    NS    NN  2SSA   2NN
    AP       RR     1.00  0.00  0.00  0.00  0.00  1.00     -
    AP       P@2    0.00  0.00  1.00  0.00  0.00  0.00  0.00
    RR       P@2    0.00  0.00  1.00  0.00  0.00  0.00  0.00
    """
    alpha = checks.share(alpha, "alpha")
    p = p_values(scores, test=test, rounds=rounds, seed=seed, threads=threads, progress=progress, executor=executor)
    a, b = np.triu_indices(len(scores.runs), 1)
    found = np.where(reaches(p[:, a, b], alpha), np.sign(mean_differences(scores_by_measure(scores))[:, a, b]), 0.0)
    up, down = (found > 0).astype(np.float64), (found < 0).astype(np.float64)
    some = up + down
    none = 1.0 - some
    counts = {
        "SSA": up @ up.T + down @ down.T,
        "SSD": up @ down.T + down @ up.T,
        "SN": some @ none.T,
        "NS": none @ some.T,
        "NN": none @ none.T,
    }
    whole_counts = {kind: np.rint(x).astype(np.int64) for kind, x in counts.items()}
    return Agreement(scores.measures, a.size, test, alpha, whole_counts)
