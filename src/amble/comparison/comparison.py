"""The result of a comparison: differences, p-values, effect sizes and significance letters of pairs of systems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amble.arrays import Array, Ints
from amble.comparison.design import CORRECTIONS, FAMILIES, INTERVALS, SIDES, TESTS, TestDesign
from amble.comparison.letters import letters_of
from amble.comparison.p_values import Probability, reaches
from amble.comparison.paired_tests import t_interval
from amble.comparison.systems import Systems
from amble.errors import AmbleError
from amble.rankings.alignment import plain_mean
from amble.table import Table

__all__ = ["Comparison", "PairResults"]

ALL_COUNTED = "all assignments of signs counted"

SAME_LETTER = "no significant difference found between runs that share a letter"


@dataclass(eq=False)
class PairResults:
    """The results of each pair; arrays of one length."""

    n: Ints
    missing: Ints
    difference: Array
    low: Array
    high: Array
    statistic: Array
    p: Array
    adjusted: Array
    g: Array
    superiority: Array
    wins: Ints
    ties: Ints
    losses: Ints


class Comparison(PairResults):
    """The comparison of pairs of systems; made by `compare`.

    Arrays have one entry per pair; the difference is that of the first system minus the second.

    Attributes
    ----------
    measure : str
    runs : tuple of str
    mean, mean_low, mean_high : ndarray
        Of each run: the mean over its topics, and its confidence interval (1 - alpha, Student's t).
    a, b : ndarray of int
        The places of the two runs of each pair; with a baseline, ``b`` is the baseline.
    n, missing : ndarray of int
        Topics on which both have a score; topics that only one of them answered (scored 0, or left out).
    difference, low, high : ndarray
        The mean difference of the scores, and its confidence interval (1 - alpha).
    statistic, p, adjusted : ndarray
        The test's statistic, its p-value, and that corrected for the number of comparisons.
    g, superiority : ndarray
        Hedges' g (in standard deviations of the differences); the probability that the first is better on a topic.
    wins, ties, losses : ndarray of int
        On how many topics the first is better, the same, worse.
    sign : float
        1, or -1 if less is better: then a negative difference is one for the better.
    design : TestDesign
        baseline, test, sides, correction, alpha, seed, rounds, interval.
    left_out : int
        Topics left out for all runs, as one of them has no score there (only with Tukey's tests).
    limit : str
        "topics" or "rounds" if they are too few to find any difference, however large; otherwise "".
    rounds_needed : int
        Where rounds are the limit, how many are needed to find any difference; otherwise 0.
    """

    def __init__(
        self,
        systems: Systems,
        pairs: tuple[Ints, Ints],
        design: TestDesign,
        found: PairResults,
        *,
        how: str = "",
        left_out: int = 0,
        limit: tuple[str, int] = ("", 0),
    ) -> None:
        self.measure, self.runs = systems.measure, systems.names
        self.design, self.how, self.left_out = design, how, left_out
        self.limit, self.rounds_needed = limit
        self.sign = systems.sign
        self.logarithms, self._treated = systems.logarithms, systems.missing
        self.a, self.b = pairs
        super().__init__(**vars(found))
        if self.sign < 0:  # what was tested grows with the lead; what is shown is of scores
            self.difference, self.g = 0.0 - found.difference, 0.0 - found.g
            self.low, self.high = 0.0 - found.high, 0.0 - found.low
        for array in (*vars(found).values(), self.difference, self.low, self.high, self.g):
            array.flags.writeable = False
        known = ~np.isnan(systems.values)
        n = np.asarray(known.sum(axis=1), np.int64)
        merit = plain_mean(systems.values)
        self.mean: Array = merit if self.sign > 0 else 0.0 - merit
        squares = np.where(known, np.square(systems.values - merit[:, None]), 0.0).sum(axis=1)
        deviation = np.sqrt(squares / np.maximum(n - 1, 1))
        self.mean_low, self.mean_high = t_interval(self.mean, deviation, n, "two", design.alpha)

    def __len__(self) -> int:
        return len(self.a)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The names of the runs of each pair."""
        return [(self.runs[i], self.runs[j]) for i, j in zip(self.a.tolist(), self.b.tolist(), strict=True)]

    @property
    def significant(self) -> NDArray[np.bool_]:
        """Where a significant difference was found: the adjusted p-value is at most alpha."""
        return reaches(self.adjusted, self.design.alpha)

    @property
    def facts(self) -> dict[str, Any]:
        """The design and the size of the comparison, as a dict for JSON."""
        topics = [int(self.n.min()), int(self.n.max())]
        return {
            "measure": self.measure,
            **vars(self.design),
            "comparisons": len(self),
            "topics": topics[0] if topics[0] == topics[1] else topics,
            "left_out": self.left_out,
            "missing_on_one_side": int(self.missing.sum()),
            "how": self.how,
            "limit": self.limit,
            "logarithms": self.logarithms,
            "less_is_better": self.sign < 0,
        }

    @property
    def caption(self) -> str:
        """The design and the number of topics, in two lines."""
        return self._caption(self.design.interval)

    def _caption(self, interval: str) -> str:
        q, pairs = self.design, len(self)
        of = f"{pairs:,} comparison{'s' * (pairs != 1)}" + (f" with {q.baseline}" if q.baseline is not None else "")
        least, most = int(self.n.min()), int(self.n.max())
        topics = f"{most} topic{'s' * (most != 1)}" if least == most else f"{least} to {most} topics"
        first = [
            f"{self.measure}: {TESTS[q.test]}" + (f" ({self.how})" if self.how else ""),
            SIDES[q.sides],
            f"alpha {q.alpha:g}",
            f"all runs in one family, {of}" if q.test in FAMILIES else CORRECTIONS[q.correction].format(of),
        ]
        if self.limit:
            needed = f" (at least {self.rounds_needed:,} are needed)" if self.rounds_needed else ""
            first.append(f"too few {self.limit} to find any difference{needed}")
        second = [topics]
        if self.left_out:
            second.append(f"{self.left_out} more left out (a run has no score there)")
        if unpaired := int(np.count_nonzero(self.missing)):
            done = ("scored 0" if self.sign > 0 else "scored as empty lists") if self._treated == "zero" else "left out"
            second.append(f"some missing on one side in {unpaired:,} comparison{'s' * (unpaired != 1)} ({done})")
        if self.sign < 0:
            second.append("less is better")
        if self.logarithms:
            second.append("logarithms of the scores, as their mean is geometric")
        second.append(f"{100 * (1 - q.alpha):g} % confidence intervals {(INTERVALS | FAMILIES)[interval]}")
        return ", ".join(first) + "\n" + ", ".join(second)

    def table(self, *, digits: int = 4, full: bool = False) -> Table:
        """A table with one row per pair; the p-values of significant differences in bold.

        With ``full``, columns for programs, too: measure, test, sides, correction, alpha, statistic, topics, missing.
        """
        q = self.design
        against = q.baseline is not None and not full
        names = ["run", "mean"] if against else ["run", "other"]
        names += ["difference", "low", "high", "p", "adjusted", "g", "superiority", "wins", "ties", "losses"]
        uneven = bool((self.n != self.n[0]).any() or self.missing.any())
        names += ["topics", "missing"] if uneven or full else []
        columns = ["measure", "test", "sides", "correction", "alpha", *names, "statistic"] if full else names
        fixed = [self.measure, q.test, q.sides, q.correction, q.alpha] if full else []
        rows = []
        fields = (self.difference, self.low, self.high, self.p, self.adjusted, self.g, self.superiority)
        numbers = np.stack(fields).T.tolist()
        counts = np.stack((self.wins, self.ties, self.losses, self.n, self.missing)).T.tolist()
        for k, (i, j) in enumerate(zip(self.a.tolist(), self.b.tolist(), strict=True)):
            row: list[Any] = [*fixed, self.runs[i], float(self.mean[i]) if against else self.runs[j], *numbers[k][:3]]
            row += [Probability(numbers[k][3]), Probability(numbers[k][4]), *numbers[k][5:]]
            row += counts[k] if uneven or full else counts[k][:3]
            rows.append([*row, float(self.statistic[k])] if full else row)
        best = {(k, columns.index("adjusted")) for k in np.flatnonzero(self.significant).tolist()}
        return Table(columns, rows, digits=digits, facts=self.facts, best=best, caption="" if full else self.caption)

    def letters(self, *, digits: int = 4) -> Table:
        """The runs, best first, with letters: between those that share one, no significant difference was found.

        Examples
        --------
        >>> import amble
        >>> scores = {
        ...     "x": {"1": 0.1, "2": 0.5, "3": 0.6},
        ...     "y": {"1": 0.2, "2": 0.6, "3": 0.6},
        ...     "z": {"1": 0.7, "2": 0.9, "3": 1.0},
        ... }
        >>> amble.compare(scores, correction="none").letters()["letters"]
        ['a', 'b', 'b']
        """
        if self.design.baseline is not None or self.design.sides != "two":
            raise AmbleError("letters need all pairs, and two sides: compare without a baseline and with sides='two'")
        order = np.argsort(-self.sign * self.mean, kind="stable")
        place = np.empty(order.size, np.int64)
        place[order] = np.arange(order.size)
        different = np.flatnonzero(self.significant)
        ends = zip(place[self.a[different]].tolist(), place[self.b[different]].tolist(), strict=True)
        letters = letters_of(len(self.runs), sorted(tuple(sorted(pair)) for pair in ends))
        rows = [
            [self.runs[i], float(self.mean[i]), float(self.mean_low[i]), float(self.mean_high[i]), letters[k]]
            for k, i in enumerate(order.tolist())
        ]
        caption = f"{self._caption('t')}, {SAME_LETTER}"  # the confidence intervals are those of means
        return Table(["run", "mean", "low", "high", "letters"], rows, digits=digits, facts=self.facts, caption=caption)

    def __str__(self) -> str:
        return str(self.table())

    def _repr_html_(self) -> str:
        return self.table().html()

    def __repr__(self) -> str:
        return f"Comparison({' | '.join(self.caption.splitlines())})"
