"""The result of a comparison: differences, p-values, effect sizes and significance letters of pairs of systems."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from amble.arrays import Array, Ints, NDArray
from amble.comparison.design import CORRECTIONS, FAMILIES, INTERVALS, SIDES, TESTS, TestDesign
from amble.comparison.group_differences import GroupDifferences
from amble.comparison.letters import letters_of
from amble.comparison.p_values import Probability, reaches
from amble.comparison.paired_tests import t_interval
from amble.comparison.systems import Systems
from amble.errors import AmbleError
from amble.evaluation.topic_groups import TopicGroups
from amble.rankings.alignment import plain_mean, plain_median
from amble.table import MARKS, Table, Tabled

__all__ = ["Comparison", "PairResults"]

ALL_COUNTED = "all assignments of signs counted"

SAME_LETTER = "no significant difference found between runs that share a letter"

_NEITHER = "neither more nor less is better"
_PAIRED = ("difference", "low", "high", "p", "adjusted", "g", "superiority")
_COUNTED = ("wins", "ties", "losses")
# of each test: what is shown of its statistic, by column
_STATISTICS = {
    "t": {"t": "statistic", "df": "df"},
    "wilcoxon": {"W+": "w_plus", "W-": "w_minus", "non-zero": "nonzero"},
    "sign": {"W": "statistic", "non-zero": "nonzero"},
    "permutation": {"non-zero": "nonzero"},
    "bootstrap": {"t": "statistic"},
    "tukey": {},
    "anova": {"q": "statistic", "df": "df"},
}


def _same(x: Any) -> Any:
    return x


def _whole(x: float) -> float:
    return int(x) if x.is_integer() else x


@dataclass(eq=False)
class PairResults:
    """The results of each pair; arrays of one length."""

    n: Ints
    missing: Ints
    difference: Array
    median_difference: Array
    low: Array
    high: Array
    statistic: Array
    df: Array
    w_plus: Array
    w_minus: Array
    p: Array
    adjusted: Array
    g: Array
    superiority: Array
    wins: Ints
    ties: Ints
    losses: Ints


class Comparison(PairResults, Tabled):
    """The comparison of pairs of systems; made by `compare`.

    Arrays have one entry per pair; the difference is that of the first system minus the second.

    Attributes
    ----------
    measure : str
    runs : tuple of str
    item : str
        What scores are paired by: "topic" or "session".
    mean, mean_low, mean_high, median : ndarray
        Of each run: the mean over its topics, its confidence interval (1 - alpha, Student's t), and the median.
    a, b : ndarray of int
        The places of the two runs of each pair; with baselines, ``b`` is one of them.
    n, missing : ndarray of int
        Topics on which both have a score; topics that only one of them answered (scored 0, or left out).
    difference, low, high : ndarray
        The mean difference of the scores, and its confidence interval (1 - alpha).
    median_difference : ndarray
        The median of the differences by topic, which no test here is about.
    statistic, p, adjusted : ndarray
        The test's statistic, its p-value, and that corrected for the number of comparisons. The statistic grows with
        the first run's lead: Student's t ("t", "bootstrap"), W+ ("wilcoxon"), wins ("sign"), the mean difference
        ("permutation", "tukey"), the mean difference over its standard error ("anova").
    df, w_plus, w_minus : ndarray
        Degrees of freedom of "t" and "anova"; of "wilcoxon", the sums of the ranks of the topics on which the first run
        is better, and worse. NaN where the test has none.
    nonzero : ndarray of int
        On how many topics the two have different scores.
    g, superiority : ndarray
        Hedges' g (in standard deviations of the differences); the probability that the first is better on a topic.
    wins, ties, losses : ndarray of int
        On how many topics the first is better, the same, worse.
    sign : float
        1, or -1 if less is better: then a negative difference is one for the better.
    groups : dict of str to Comparison
        With groups of topics: the comparison within each, all in one family; otherwise empty.
    between : GroupDifferences or None
        Whether the differences of two runs are others in one group than in another.
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
        family: tuple[int, int] = (0, 0),
        uneven: bool = False,
    ) -> None:
        self.measure, self.runs = systems.measure, systems.names
        self.design, self.how, self.left_out = design, how, left_out
        self.limit, self.rounds_needed = limit
        self.item, self._family, self._directed = systems.item, family, systems.directed
        # whether tables say on how many topics: those of groups all do, or none
        self._uneven = uneven or bool((found.n != found.n[:1]).any() or found.missing.any())
        self.groups: dict[str, Comparison] = {}
        self.between: GroupDifferences | None = None
        self.grouping: TopicGroups | None = None
        self.sign = systems.sign
        self.logarithms, self._treated = systems.logarithms, systems.missing
        self.a, self.b = pairs
        super().__init__(**vars(found))
        if self.sign < 0:  # what was tested grows with the lead; what is shown is of scores
            self.difference, self.g = 0.0 - found.difference, 0.0 - found.g
            self.median_difference = 0.0 - found.median_difference
            self.low, self.high = 0.0 - found.high, 0.0 - found.low
        for array in (*vars(found).values(), *(getattr(self, name) for name in vars(found))):
            array.flags.writeable = False
        known = ~np.isnan(systems.values)
        n = np.asarray(known.sum(axis=1), np.int64)
        merit = plain_mean(systems.values)
        self.mean: Array = merit if self.sign > 0 else 0.0 - merit
        self.median: Array = self.sign * plain_median(systems.values) + 0.0
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
    def nonzero(self) -> Ints:
        """On how many topics the two runs of each pair have different scores."""
        return self.wins + self.losses

    @property
    def facts(self) -> dict[str, Any]:
        """The design and the size of the comparison, as a dict for JSON."""
        topics = [int(self.n.min()), int(self.n.max())]
        return {
            "measure": self.measure,
            **vars(self.design),
            "comparisons": len(self),
            f"{self.item}s": topics[0] if topics[0] == topics[1] else topics,
            "left_out": self.left_out,
            "missing_on_one_side": int(self.missing.sum()),
            "how": self.how,
            "limit": self.limit,
            "logarithms": self.logarithms,
            "less_is_better": self.sign < 0,
            "family": self._family[0] or len(self),
        }

    @property
    def caption(self) -> str:
        """The design and the number of topics, in two lines."""
        return self._caption(self.design.interval)

    def _caption(self, interval: str) -> str:
        q, pairs, (family, groups) = self.design, len(self), self._family
        of = f"{family or pairs:,} comparison{'s' * ((family or pairs) != 1)}"
        of += f" with {' and '.join(q.baselines)}" if q.baselines else ""
        of += f" in {groups} group{'s' * (groups != 1)}" if groups else ""
        of += " in one family" if family or len(q.baselines) > 1 else ""
        least, most = int(self.n.min()), int(self.n.max())
        topics = f"{most} {self.item}{'s' * (most != 1)}" if least == most else f"{least} to {most} {self.item}s"
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
        if self.sign < 0 or not self._directed:
            second.append("less is better" if self._directed else _NEITHER)
        if self.logarithms:
            second.append("logarithms of the scores, as their mean is geometric")
        second.append(f"{100 * (1 - q.alpha):g} % confidence intervals {(INTERVALS | FAMILIES)[interval]}")
        return ", ".join(first) + "\n" + ", ".join(second)

    @property
    def order(self) -> list[int]:
        """The places of the runs in tables: baselines as they were named, then the best by the mean first."""
        bases = {self.runs.index(name): k for k, name in enumerate(self.design.baselines)}
        merit = np.where(np.isnan(self.mean), -np.inf, self.sign * self.mean)
        return sorted(range(len(self.runs)), key=lambda i: (bases.get(i, len(bases)), -merit[i]))

    def _marks(self) -> tuple[dict[int, str], str]:
        """The marks of each run, a sign for every baseline with a significant difference from it, and the legend."""
        marks: dict[int, str] = {}
        legend = []
        for k, name in enumerate(self.design.baselines):
            sign = MARKS[k % len(MARKS)] * (1 + k // len(MARKS))
            here = self.significant & (self.b == self.runs.index(name))
            for i in self.a[here].tolist():
                marks[i] = marks.get(i, "") + sign
            some = f"{sign} significant difference from {name} found"
            legend.append(some if here.any() else f"no significant difference from {name} found")
        return marks, ", ".join(legend)

    def table(self, *, digits: int = 4, full: bool = False, median: bool = False, statistic: bool = False) -> Table:
        """A table with one row per pair; the p-values of significant differences in bold.

        With baselines, the first of them has a row before the others, and the best run is next; behind a run's mean
        (± half of its confidence interval) is a mark for each baseline with a significant difference from it. All pairs
        with the best run come first, then the others with the next best, and so on. With
        ``median``, the medians are there, too, with ``statistic`` that of the test.

        With ``full``, columns for programs: all of these, and measure, test, sides, correction, alpha, group; pairs in
        the order of the arrays.
        """
        if full:
            return self._full(digits)
        places = np.argsort(self.order)
        better, worse = np.sort((places[self.a], places[self.b]), axis=0)
        keys = (places[self.b], places[self.a]) if self.design.baselines else (worse, better)
        order = np.lexsort(keys).tolist()
        against = self.design.baselines
        shown = _STATISTICS[self.design.test] if statistic else {}
        fields = {name: name for name in _PAIRED[:3]} | ({"median difference": "median_difference"} if median else {})
        fields |= {name: name for name in (*_PAIRED[3:], *_COUNTED)} | shown
        if self._uneven:
            fields |= {f"{'paired ' * bool(self._family[1])}{self.item}s": "n", "missing": "missing"}
        runs = ["mean", "±", *["median"] * median] if against else []
        columns = ["run", *runs, *["other"] * (len(against) != 1), *fields]
        arrays = self._columns(fields.values())
        rows: list[list[Any]] = []
        of_row: list[int] = []
        if against:
            of_row.append(self.order[0])
            rows.append([against[0], *self._of_run(self.order[0], median), *[None] * (len(columns) - 1 - len(runs))])
        for k in order:
            i, j = int(self.a[k]), int(self.b[k])
            cells = [x[k] for x in arrays]
            of_row.append(i)
            own = self._of_run(i, median) if against else []
            rows.append([self.runs[i], *own, *[self.runs[j]] * (len(against) != 1), *cells])
        at, first = columns.index("adjusted"), bool(against)
        best = {(r + first, at) for r, k in enumerate(order) if self.significant[k]}
        caption, marks = self.caption, {}
        if against:
            signs, legend = self._marks()
            marks = {(r, 1): signs[i] for r, i in enumerate(of_row) if i in signs}
            caption += f"\n{legend}"
        elif not self.significant.any():
            caption += "\nno significant difference found"
        return Table(columns, rows, digits=digits, facts=self.facts, best=best, caption=caption, marks=marks)

    def _columns(self, names: Iterable[str]) -> list[list[Any]]:
        kind: dict[str, Any] = {"p": Probability, "adjusted": Probability, "df": _whole}
        return [list(map(kind.get(name, _same), getattr(self, name).tolist())) for name in names]

    def _of_run(self, i: int, median: bool) -> list[float]:
        half = (self.mean_high[i] - self.mean_low[i]) / 2
        return [float(self.mean[i]), float(half), *[float(self.median[i])] * median]

    def _full(self, digits: int) -> Table:
        """All columns, for programs: the same whatever was compared, and pairs in their own order."""
        q = self.design
        rows: list[list[Any]] = []
        paired = (*_PAIRED, *_COUNTED, "n", "missing", "statistic", "df", "w_plus", "w_minus", "nonzero")
        names = [*paired, "median_difference"]
        arrays = self._columns(names)
        for k in range(len(self)):
            i, j = int(self.a[k]), int(self.b[k])
            cells = [x[k] for x in arrays]
            means = [float(x[of]) for x in (self.mean, self.median) for of in (i, j)]
            rows.append([self.measure, q.test, q.sides, q.correction, q.alpha, self.runs[i], self.runs[j]])
            rows[-1] += [*cells, *means, None, None, None]
        names[names.index("n")] = f"{self.item}s"
        columns = ["measure", "test", "sides", "correction", "alpha", "run", "other", *names]
        columns += ["mean", "other_mean", "median", "other_median", "group", "other_group", f"other_{self.item}s"]
        best = {(k, columns.index("adjusted")) for k in np.flatnonzero(self.significant).tolist()}
        return Table(columns, rows, digits=digits, facts=self.facts, best=best)

    def by_group(self, *, digits: int = 4, full: bool = False, median: bool = False, statistic: bool = False) -> Table:
        """The comparisons within groups of topics, one below another; with ``full``, those between groups, too."""
        if not self.groups or self.grouping is None:
            raise AmbleError("no groups: compare with groups={topic: group}, or a file of lines topic group")
        rows: list[list[Any]] = []
        best: set[tuple[int, int]] = set()
        marks: dict[tuple[int, int], str] = {}
        for name, found in self.groups.items():
            table = found.table(digits=digits, full=full, median=median, statistic=statistic)
            columns = table.columns
            best |= {(len(rows) + r, i + 2 * (not full)) for r, i in table.best}
            marks |= {(len(rows) + r, i + 2): mark for (r, i), mark in table.marks.items()}
            size = int(self.grouping.members[name].sum())
            rows += [[*row[:-3], name, None, None] if full else [name, size, *row] for row in table]
        if full:
            for row in self.between.rows if self.between else ():
                fixed = {"measure": self.measure, "test": "welch", "sides": "two", "alpha": self.design.alpha}
                known = fixed | {"correction": self.design.correction} | row
                rows.append([known.get(name) for name in columns])
            return Table(columns, rows, digits=digits, best=best)
        one = next(iter(self.groups.values()))
        alone = [name for name in self.grouping.members if name not in self.groups]
        notes = list(self.grouping.notes)
        if alone:
            notes.append(f"not tested, as runs have fewer than two {self.item}s in common: {', '.join(alone)}")
        caption = "\n".join([one.caption.splitlines()[0], "; ".join(notes)] if notes else one.caption.splitlines()[:1])
        if self.design.baselines:
            base = self.design.baselines
            legend = (f"{MARKS[k % len(MARKS)] * (1 + k // len(MARKS))} from {name}" for k, name in enumerate(base))
            caption += f"\nsignificant difference found: {', '.join(legend)}" if marks else ""
        if not any(found.significant.any() for found in self.groups.values()):
            caption += "\nno significant difference found"
        columns = ("group", f"{self.item}s", *columns)
        return Table(columns, rows, digits=digits, best=best, marks=marks, caption=caption)

    def _of_runs(self, digits: int, caption: str, **more: Any) -> Table:
        means = (self.mean, self.mean_low, self.mean_high)
        rows: list[list[Any]] = [[self.runs[i], *(float(x[i]) for x in means)] for i in self.order]
        return Table(["run", "mean", "low", "high"], rows, digits=digits, facts=self.facts, caption=caption, **more)

    def marks(self, *, digits: int = 4) -> Table:
        """The runs, baselines first, then the best first, with marks of significance.

        As papers print it: † for a significant difference from the first baseline, ‡ from the second, and so on.

        Examples
        --------
        >>> import amble
        >>> scores = {"x": dict(zip("123", (0.1, 0.5, 0.6))), "z": dict(zip("123", (0.7, 0.9, 1.2)))}
        >>> print(amble.compare(scores, baseline="x").marks())
        score: paired t-test, two-sided, alpha 0.05, Holm's correction of 1 comparison with x
        3 topics, 95 % confidence intervals by Student's t
        † significant difference from x found
        run     mean      low    high
        x    0.4000   -0.2572  1.0572
        z    0.9333†   0.3082  1.5585
        """
        if not self.design.baselines:
            raise AmbleError("marks need a baseline: compare with baseline=RUN")
        signs, legend = self._marks()
        marks = {(r, 1): signs[i] for r, i in enumerate(self.order) if i in signs}
        return self._of_runs(digits, f"{self._caption('t')}\n{legend}", marks=marks)

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
        if self.design.baselines or self.design.sides != "two":
            raise AmbleError("letters need all pairs, and two sides: compare without a baseline and with sides='two'")
        place = np.argsort(self.order)
        different = np.flatnonzero(self.significant)
        ends = zip(place[self.a[different]].tolist(), place[self.b[different]].tolist(), strict=True)
        letters = letters_of(len(self.runs), sorted(tuple(sorted(pair)) for pair in ends))
        # the confidence intervals are those of means
        table = self._of_runs(digits, f"{self._caption('t')}, {SAME_LETTER}")
        table.columns = (*table.columns, "letters")
        table.rows = [(*row, mine) for row, mine in zip(table.rows, letters, strict=True)]
        return table

    def __repr__(self) -> str:
        return f"Comparison({' | '.join(self.caption.splitlines())})"
