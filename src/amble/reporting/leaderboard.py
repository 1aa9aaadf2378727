"""The leaderboard: means with confidence intervals, significance letters, differences to a baseline, residuals."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from amble.arrays import Array, Ints
from amble.comparison.comparison import SAME_LETTER, Comparison
from amble.comparison.corrections import adjust
from amble.comparison.design import TestDesign
from amble.comparison.p_values import reaches
from amble.comparison.pairwise import compare_by
from amble.errors import AlignError, AmbleError
from amble.evaluation.exposure_scores import OF_EXPOSURE
from amble.evaluation.scores import Scores, best_of, mean_residuals
from amble.measures import Lists
from amble.measures.list_measure import of_lists
from amble.measures.residuals import bounds, residuals_of
from amble.table import Table, Tabled

__all__ = ["Against", "Leaderboard"]

_ARROWS = "↑ ↓ significantly better, worse"


class Against(NamedTuple):
    """All runs against one of them: one entry per run, NaN and 0 for the run itself."""

    difference: Array
    adjusted: Array
    verdict: Ints  # 1: better, -1: worse, 0: no difference was found


class Leaderboard(Tabled):
    """Means of runs, their confidence intervals, residuals and tests; one column per measure.

    Parameters
    ----------
    scores : Scores
    design : TestDesign
        Two-sided. With fewer than two runs, or topics, nothing is tested; ``untested`` says why.
    progress : function, optional
        Called with the measures done and all there are.

    Attributes
    ----------
    means, half : ndarray
        Runs x measures: the mean, and half the width of its 1 - alpha confidence interval (NaN unless a plain mean).
    residual : ndarray
        Runs x measures: by how much the mean would be better if all unjudged documents gained the most; NaN where
        undefined, and of sessions.
    bound : list of bool
        Of each measure: whether the residual bounds the score.
    compared : list of Comparison
        All pairs of runs, one comparison per measure; empty if nothing was tested.
    untested : str

    Examples
    --------
    >>> import amble
    >>> qrels = {t: {"a": 1} for t in "123"}
    >>> good, bad = {"a": 2.0, "b": 1.0}, {"b": 2.0, "a": 1.0}
    >>> scores = amble.evaluate(qrels, {"x": dict.fromkeys("123", good), "y": dict.fromkeys("123", bad)}, "AP")
    >>> amble.report(scores, baseline="y").leaderboard.table()
    paired t-test, two-sided, alpha 0.05, Holm's correction of 1 comparison with y; ↑ ↓ significantly better, worse
    run       AP
    x    1.0000↑
    y    0.5000
    """

    def __init__(
        self,
        scores: Scores,
        design: TestDesign,
        *,
        progress: Callable[[int, int], None] | None = None,
        executor: Any = None,
    ) -> None:
        self.scores, self.design, self._executor = scores, design, executor
        self.means = scores.means()
        self.half = scores.interval(1 - self.design.alpha)
        of_topics = scores.item == "topic"
        self.bound = [of_topics and bounds(of_lists(m)) for m in scores.parsed]
        self.residual = np.full(self.means.shape, np.nan)
        self.compared: list[Comparison] = []
        self.untested = "one run has no other to be compared with" if len(scores.runs) < 2 else ""
        if progress is not None:
            progress(0, len(scores.parsed))
        if of_topics:
            self._residuals()
        for j, m in enumerate(scores.measures):
            if not self.untested:
                self._test(m)
            if progress is not None:
                progress(j + 1, len(scores.parsed))
        self._executor = None

    def _residuals(self) -> None:
        lists = Lists.of_rankings(self.scores.aligned)
        known = [  # of counts, intents and exposure there is none
            m.declaration.family != "counts" and not m.of_intents and m not in OF_EXPOSURE for m in self.scores.parsed
        ]
        some = np.flatnonzero(known).tolist() if lists.ties is None else []
        if not some:
            return
        measures = [of_lists(self.scores.parsed[j]) for j in some]
        for j, residuals in zip(some, residuals_of(measures, lists), strict=True):
            _, self.residual[:, j] = mean_residuals(self.scores, j, residuals)

    def _test(self, measure: str) -> None:
        try:
            self.compared.append(self._compare(measure, None))
        except AlignError as why:  # too few topics in common
            self.compared, self.untested = [], str(why)

    def _compare(self, measure: str, baseline: str | None) -> Comparison:
        return compare_by(self.scores, measure, replace(self.design, baseline=baseline), executor=self._executor)

    def order(self, j: int) -> list[int]:
        """The indices of the runs by one measure, the best first; runs without a score last."""
        merit = self.scores.parsed[j].sign * self.means[:, j]
        key = np.where(np.isnan(merit), -math.inf, merit)
        places: list[int] = np.argsort(-key, kind="stable").tolist()
        return places

    def letters(self, j: int) -> list[str]:
        """The letters of each run: between those that share one, no significant difference was found."""
        if not self.compared:
            return [""] * len(self.scores.runs)
        table = self.compared[j].letters()
        of = dict(zip(table["run"], table["letters"], strict=True))
        return [str(of[run]) for run in self.scores.runs]

    def against(self, j: int, baseline: int) -> Against:
        """All runs against one of them by one measure, the same as `compare` with that run as its baseline."""
        n = len(self.scores.runs)
        difference, adjusted, verdict = np.full(n, np.nan), np.full(n, np.nan), np.zeros(n, np.int64)
        if self.compared:
            found = self.compared[j]
            here = np.flatnonzero((found.a == baseline) | (found.b == baseline))
            first = found.b[here] == baseline
            other = np.where(first, found.a[here], found.b[here])
            d = np.where(first, found.difference[here], -found.difference[here])
            adjusted[other] = adjust(found.p[here], self.design.correction)
            difference[other] = d
            lead = np.sign(found.sign * d).astype(np.int64)
            if self.scores.parsed[j].declaration.less is not None:  # nothing is better by a measure without direction
                verdict[other] = np.where(reaches(adjusted[other], self.design.alpha), lead, 0)
        return Against(difference, adjusted, verdict)

    def place(self, run: str) -> int:
        """The index of a run, by its name or its file's name."""
        try:
            return int(self.scores.rankings.index(run))
        except KeyError:
            known = ", ".join(self.scores.runs[:5]) + ("…" if len(self.scores.runs) > 5 else "")
            raise AmbleError(f"baseline {run}: expected one of {known}") from None

    def table(self, *, by: str | None = None, digits: int = 4) -> Table:
        """The means, the best run of a measure first, with marks of significance, for text, LaTeX and HTML.

        Without a baseline the marks are letters: no significant difference was found between runs that share one. With
        one they are arrows: ↑ for runs that are significantly better than it, ↓ for those that are worse.
        """
        scores, q = self.scores, self.design
        names = list(scores.measures)
        order = self.order(0 if by is None else scores.place(by))
        base = None if q.one_baseline is None else self.place(q.one_baseline)
        marks: dict[tuple[int, int], str] = {}
        best = set()
        for j in range(len(names)):
            top = best_of(scores.parsed[j], self.means[:, j])
            if base is None:
                signs = self.letters(j)
            else:
                signs = [{1: "↑", -1: "↓", 0: ""}[v] for v in self.against(j, base).verdict.tolist()]
            for r, i in enumerate(order):
                if signs[i]:
                    marks[r, j + 1] = signs[i]
                if len(order) > 1 and i in top:
                    best.add((r, j + 1))
        rows: list[list[Any]] = [[scores.runs[i], *self.means[i].tolist()] for i in order]
        return Table(["run", *names], rows, digits=digits, best=best, marks=marks, caption=self.caption)

    def __repr__(self) -> str:
        return f"Leaderboard({len(self.scores.runs)} runs, {', '.join(self.scores.measures)})"

    @property
    def caption(self) -> str:
        """The test and the meaning of the marks, in a line; or why nothing was tested."""
        q = self.design
        if not self.compared:
            return f"not tested: {self.untested}"
        found = self.compared[0]
        if q.one_baseline is not None:
            found = self._compare(self.scores.measures[0], q.one_baseline)
        shown = found.caption.splitlines()[0].split(": ", 1)[1]
        return shown + f"; {SAME_LETTER if q.baseline is None else _ARROWS}"
