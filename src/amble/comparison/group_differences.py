"""Differences between groups of topics: does one run lead another by more in one group than in another? Welch's test.

The differences of two runs by topic are two independent samples, those of one group and those of another. Welch's
t-test compares their means without taking their variances to be equal: t = (m1 - m2) / sqrt(s1^2 / n1 + s2^2 / n2),
with Satterthwaite's degrees of freedom. It is two-sided.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from amble.arrays import Array, Bools, Ints
from amble.comparison.corrections import adjust
from amble.comparison.design import CORRECTIONS, TestDesign
from amble.comparison.p_values import Probability, reaches
from amble.comparison.systems import Differences, Systems, differences, standardised
from amble.table import Table, Tabled

__all__ = ["GroupDifferences", "differences_between", "welch_test"]


def welch_test(mean: Array, variance: Array, n: Array) -> tuple[Array, Array, Array]:
    """Welch's t, its degrees of freedom and its two-sided p-value; each argument has a row for each of two samples.

    Where neither sample varies, p is 0, or 1 if the means are the same.

    >>> t, df, p = welch_test(np.array([[2.5], [5.0]]), np.array([[5 / 3], [10.0]]), np.array([[4], [4]]))
    >>> t.round(4), df.round(4)  # -2.5 / sqrt(5/12 + 10/4); (35/12)^2 / ((5/12)^2 / 3 + (5/2)^2 / 3)
    (array([-1.4639]), array([3.973]))
    """
    from scipy.special import stdtr

    error = variance / n
    total = error.sum(axis=0)
    t = standardised(mean[0] - mean[1], np.sqrt(total))
    shares = np.divide(error, total, out=np.full(error.shape, np.nan), where=total > 0)
    df = 1.0 / (np.square(shares) / (n - 1)).sum(axis=0)
    p = np.where(total > 0, 2.0 * stdtr(df, -np.abs(t)), np.where(t == 0, 1.0, 0.0))
    return t, df, np.asarray(p)


@dataclass(eq=False, repr=False)
class GroupDifferences(Tabled):
    """Pairs of runs in pairs of groups: does the difference of two runs depend on the group?

    Attributes
    ----------
    pairs, groups : list of (str, str)
        The runs and the groups of each row: the difference of the runs in the first group minus that in the second.
    difference, low, high : ndarray
        By how much the mean differences differ, and its confidence interval (1 - alpha).
    statistic, df, p, adjusted : ndarray
        Welch's t, which grows with the first run's lead, also where less is better; its degrees of freedom, its
        p-value, and that corrected for the number of rows.
    n : ndarray of int
        Topics of the first group and of the second.
    """

    measure: str
    item: str
    design: TestDesign
    pairs: list[tuple[str, str]]
    groups: list[tuple[str, str]]
    difference: Array
    low: Array
    high: Array
    statistic: Array
    df: Array
    p: Array
    adjusted: Array
    n: Ints

    @property
    def significant(self) -> Bools:
        """Where a significant difference between groups was found."""
        return reaches(self.adjusted, self.design.alpha)

    @property
    def caption(self) -> str:
        """The test, in a line."""
        rows = len(self.pairs)
        correction = CORRECTIONS[self.design.correction].format(f"{rows:,} comparison{'s' * (rows != 1)} of groups")
        found = "" if self.significant.any() else "; no significant difference found"
        return (
            f"{self.measure}: does the difference of two runs depend on the group? Welch's t-test, "
            f"two-sided, alpha {self.design.alpha:g}, {correction}{found}"
        )

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The rows as dicts."""
        names = ("difference", "low", "high", "statistic", "df", "p", "adjusted")
        columns = [getattr(self, name).tolist() for name in names]
        arrays = zip(*columns[:5], *(map(Probability, column) for column in columns[5:]), strict=True)
        found = zip(self.pairs, self.groups, self.n.tolist(), arrays, strict=True)
        return [
            {"run": run, "other": other, "group": group, "other_group": second, f"{self.item}s": n[0]}
            | {f"other_{self.item}s": n[1], **dict(zip(names, numbers, strict=True))}
            for (run, other), (group, second), n, numbers in found
        ]

    def table(self, *, digits: int = 4) -> Table:
        """A row for each pair of runs and pair of groups; the p-values of significant differences in bold."""
        columns = ["run", "other", "group", "other group", f"{self.item}s", f"other {self.item}s", "difference"]
        columns += ["low", "high", "t", "df", "p", "adjusted"]
        rows = [list(row.values()) for row in self.rows]
        best = {(k, len(columns) - 1) for k in np.flatnonzero(self.significant).tolist()}
        return Table(columns, rows, digits=digits, best=best, caption=self.caption)

    def __repr__(self) -> str:
        return f"GroupDifferences({self.caption})"


def differences_between(
    systems: Systems, members: dict[str, Bools], a: Ints, b: Ints, design: TestDesign
) -> GroupDifferences | None:
    """Welch's tests of all pairs of systems in all pairs of groups, each of at least two topics; None for one group."""
    if len(members) < 2:
        return None
    from scipy.special import stdtrit

    found = {name: [d for _, d in differences(systems.on(kept), a, b)] for name, kept in members.items()}
    both = list(combinations(members, 2))

    def stacked(of: Callable[[Differences], Array]) -> Array:
        return np.stack([np.concatenate([of(d) for two in both for d in found[two[i]]]) for i in (0, 1)])

    n = stacked(lambda d: d.n.astype(np.float64))
    mean, variance = stacked(lambda d: d.mean), stacked(lambda d: np.square(d.deviation))
    lead, error = mean[0] - mean[1], np.sqrt((variance / n).sum(axis=0))
    lead = np.where(np.abs(lead) > 2 * systems.unit, lead, 0.0)  # the same, but for the grids of the two groups
    t, df, p = welch_test(np.stack((lead, np.zeros(lead.size))), variance, n)
    width = np.where(error > 0, stdtrit(df, 1.0 - design.alpha / 2) * error, 0.0)
    low, high = (lead - width, lead + width) if systems.sign > 0 else (-lead - width, -lead + width)
    pairs = [(systems.names[i], systems.names[j]) for i, j in zip(a.tolist(), b.tolist(), strict=True)]
    return GroupDifferences(
        systems.measure, systems.item, design, pairs * len(both), [pair for pair in both for _ in pairs],
        systems.sign * lead + 0.0, low, high, t, df, p, adjust(p, design.correction), n.T.astype(np.int64),
    )  # fmt: skip
