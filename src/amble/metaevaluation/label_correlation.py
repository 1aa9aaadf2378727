"""Correlation of scores with labels such as satisfaction, and tests of which measure correlates better.

Units are topics (queries) or sessions, each with a score by every measure and a label, such as satisfaction from 0 to
4. Correlations are Pearson's r, Spearman's rho (tied ranks averaged) and Kendall's tau-b; their confidence intervals
are percentiles of the bootstrap, which draws units with replacement, all runs of a unit together, the same ones for all
measures. Where less of a measure is better, its scores times -1 are correlated.

Two measures are correlated with the same labels, and with each other, so that their correlations depend on one another:

* **paired bootstrap**, for all three: the difference on every resample; p is twice the smaller share of resamples in
  which it is at most 0, or at least 0, with 1 added to count and rounds.
* **Williams' t** (1959), the T2 that Steiger (1980) recommends, for r: with r12, r13 the two correlations, r23 that of
  the measures, D = 1 - r12^2 - r13^2 - r23^2 + 2 r12 r13 r23 and m = (r12 + r13) / 2,
  t = (r12 - r13) sqrt((n - 1) (1 + r23) / (2 D (n - 1) / (n - 3) + m^2 (1 - r23)^3)), n - 3 degrees of freedom.
* **Steiger's Z** (1980), for r: the difference of Fisher's transforms times sqrt((n - 3) / (2 - 2 c)),
  where c is the covariance of the transforms, psi / (1 - m^2)^2, psi = r23 (1 - 2 m^2) - m^2 (1 - 2 m^2 - r23^2) / 2.

Both suppose that all three are jointly normal, and that units are independent; labels of few grades are not normal.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from amble import checks
from amble.arrays import Array, Ints
from amble.comparison.corrections import adjust
from amble.comparison.design import CONFIDENCE, CORRECTIONS, TestDesign
from amble.comparison.resampling import topic_counts
from amble.errors import AmbleError, ReadError
from amble.evaluation.scores import Scores
from amble.io.files import path_name, read_bytes
from amble.io.rows import read_number
from amble.metaevaluation.correlation import places
from amble.parallel import map_in_order, usual_threads
from amble.table import Table

__all__ = ["Satisfaction", "read_labels", "read_scores", "satisfaction", "steiger", "williams"]

STATISTICS = ("r", "rho", "tau")
TESTS = ("bootstrap", "williams", "steiger")
_ROUNDS = 1000
_LEAST = 4  # units: Williams' t has n - 3 degrees of freedom
_CELLS = 1 << 20  # rounds x observations held at once, per thread
_ROUNDING = 1e-12  # correlations that differ by less are equal

Unit = str | tuple[str, str]  # a topic or session, or a run and one
ByMeasure = Mapping[str, Mapping[tuple[str, str], float]]  # measure, (run, topic)


def williams(r12: float, r13: float, r23: float, n: int) -> tuple[float, float]:
    """Williams' t of two correlations with the same variable, and its p-value (two-sided).

    Parameters
    ----------
    r12, r13 : float
        The correlations of the second and the third variable with the first.
    r23 : float
        That of the second with the third.
    n : int
        The number of observations, at least 4.

    Examples
    --------
    >>> from amble.metaevaluation import williams
    >>> t, p = williams(0.3, 0.4, 0.5, 100)
    >>> round(t, 4), round(p, 4)
    (-1.0767, 0.2843)
    """
    from scipy.special import stdtr

    _check_correlations(r12, r13, r23, n)
    if abs(r12 - r13) <= _ROUNDING:
        return 0.0, 1.0
    if 1.0 + r23 <= _ROUNDING:  # one measure with both signs: the limit of t, that of r12 = 0
        t = _quotient(r12 * math.sqrt(n - 3), math.sqrt(1.0 - r12**2))
        return t, float(2.0 * stdtr(n - 3, -abs(t)))
    det = 1.0 - r12**2 - r13**2 - r23**2 + 2.0 * r12 * r13 * r23
    mean = (r12 + r13) / 2.0
    below = 2.0 * max(det, 0.0) * (n - 1) / (n - 3) + mean**2 * (1.0 - r23) ** 3
    t = _quotient((r12 - r13) * math.sqrt((n - 1) * (1.0 + r23)), math.sqrt(below))
    return t, float(2.0 * stdtr(n - 3, -abs(t)))


def steiger(r12: float, r13: float, r23: float, n: int) -> tuple[float, float]:
    """Steiger's Z of two correlations with the same variable, and its p-value (two-sided); arguments as `williams`.

    Examples
    --------
    >>> from amble.metaevaluation import steiger
    >>> z, p = steiger(0.3, 0.4, 0.5, 100)
    >>> round(z, 4), round(p, 4)
    (-1.0718, 0.2838)
    """
    from scipy.special import ndtr

    _check_correlations(r12, r13, r23, n)
    if abs(r12 - r13) <= _ROUNDING:
        return 0.0, 1.0
    if abs(r12) == 1 or abs(r13) == 1:
        return math.copysign(math.inf, r12 - r13), 0.0
    square = ((r12 + r13) / 2.0) ** 2
    psi = r23 * (1.0 - 2.0 * square) - square * (1.0 - 2.0 * square - r23**2) / 2.0
    below = 2.0 - 2.0 * psi / (1.0 - square) ** 2
    z = _quotient((math.atanh(r12) - math.atanh(r13)) * math.sqrt(n - 3), math.sqrt(max(below, 0.0)))
    return z, float(2.0 * ndtr(-abs(z)))


def _check_correlations(r12: float, r13: float, r23: float, n: int) -> None:
    for name, r in (("r12", r12), ("r13", r13), ("r23", r23)):
        checks.number(r, name, least=-1, most=1)
    checks.whole(n, "n", _LEAST)


def _quotient(a: float, b: float) -> float:
    """The quotient of numbers, the first not 0; infinite if the second is."""
    return a / b if b > 0 else math.copysign(math.inf, a)


@dataclass(frozen=True)
class Satisfaction:
    """Correlations of measures with labels; made by `satisfaction`.

    Attributes
    ----------
    measures, statistics : tuple of str
    values : ndarray
        Of shape (measures, statistics); NaN for a measure that gives all units the same score.
    low, high : ndarray
        Ends of the confidence intervals.
    resampled : ndarray
        Of shape (rounds, measures, statistics): the correlations on every resample.
    between : ndarray
        Pearson's correlation of every measure with every other.
    observations, units : int
        Scores with a label, of each measure; topics or sessions among them.
    unlabelled, unscored : int
        Scores without a label, and labels without a score by every measure: left out.
    confidence : float
    """

    measures: tuple[str, ...]
    statistics: tuple[str, ...]
    values: Array
    low: Array
    high: Array
    resampled: Array
    between: Array
    observations: int
    units: int
    unlabelled: int
    unscored: int
    confidence: float

    @property
    def caption(self) -> str:
        """What was correlated, in one line."""
        n, units = self.observations, self.units
        text = f"{n:,} labelled scores of each measure" + f", of {units:,} units" * (units < n)
        more = [f"{self.unlabelled:,} scores without a label"] * bool(self.unlabelled)
        more += [f"{self.unscored:,} labels without a score by every measure"] * bool(self.unscored)
        left = f"; left out: {', '.join(more)}" if more else ""
        rounds = len(self.resampled)
        return f"{text}{left}; {100 * self.confidence:g} % confidence intervals by the bootstrap, {rounds:,} rounds"

    def table(self, *, digits: int = 4) -> Table:
        """A table with one row per measure: each correlation with its confidence interval."""
        columns = ["measure"]
        for name in self.statistics:
            columns += [name, f"{name} low", f"{name} high"]
        rows: list[list[Any]] = [
            [one, *np.stack((self.values[i], self.low[i], self.high[i]), axis=1).ravel().tolist()]
            for i, one in enumerate(self.measures)
        ]
        return Table(columns, rows, digits=digits, caption=self.caption, facts=self._facts)

    @property
    def _facts(self) -> dict[str, Any]:
        names = ("observations", "units", "unlabelled", "unscored", "confidence")
        return {name: getattr(self, name) for name in names} | {"rounds": len(self.resampled)}

    def pairs(
        self,
        *,
        test: str = TESTS[0],
        statistic: str | None = None,
        baseline: str | None = None,
        correction: str = TestDesign().correction,
        digits: int = 4,
    ) -> Table:
        """A table of paired tests between measures: does one correlate better with the labels than the other?

        Parameters
        ----------
        test : {"bootstrap", "williams", "steiger"}
            The paired bootstrap; or, of Pearson's r with one observation for each unit, Williams' t or Steiger's Z.
        statistic : {"r", "rho", "tau"}, optional
            By default the last that was computed; r for the tests that are about it.
        baseline : str, optional
            The measure that all others are compared with; by default all pairs.
        correction : str
            Of p-values, for the number of pairs: as for `amble.compare`.
        """
        checks.one_of(test, TESTS, "test")
        checks.one_of(correction, CORRECTIONS, "correction")
        usual = self.statistics[-1] if test == "bootstrap" else "r"
        name = checks.one_of(statistic or usual, self.statistics, "statistic")
        if test != "bootstrap" and (name != "r" or self.units < self.observations):
            what = "Pearson's r" if name != "r" else "one run, so that observations are independent"
            raise AmbleError(f"test={test!r} is of {what}; expected test='bootstrap'")
        if baseline is not None:
            checks.one_of(baseline, self.measures, "baseline")
        k, of = self.statistics.index(name), range(len(self.measures))
        chosen = [
            (i, j)
            for i, j in combinations(of, 2)
            if baseline is None or baseline in (self.measures[i], self.measures[j])
        ]
        chosen = [(j, i) if self.measures[i] == baseline else (i, j) for i, j in chosen]
        rows: list[list[Any]] = []
        tail = (1.0 - self.confidence) / 2.0
        for i, j in chosen:
            difference = float(self.values[i, k] - self.values[j, k])
            drawn = self.resampled[:, i, k] - self.resampled[:, j, k]
            drawn = np.where(np.abs(drawn) > _ROUNDING, drawn, 0.0)[~np.isnan(drawn)]
            low, high = np.quantile(drawn, (tail, 1.0 - tail)).tolist() if drawn.size else (math.nan, math.nan)
            if math.isnan(difference):
                found = math.nan, math.nan
            elif test == "bootstrap":
                fewer = min(np.count_nonzero(drawn <= 0), np.count_nonzero(drawn >= 0))
                found = difference, min(1.0, 2.0 * (fewer + 1) / (drawn.size + 1))
            else:
                r12, r13 = float(self.values[i, k]), float(self.values[j, k])
                found = (williams if test == "williams" else steiger)(r12, r13, float(self.between[i, j]), self.units)
            rows.append([self.measures[i], self.measures[j], difference, low, high, *found])
        p = np.array([row[-1] for row in rows])
        adjusted = np.full(p.size, np.nan)
        adjusted[~np.isnan(p)] = adjust(p[~np.isnan(p)], correction)
        mark = {"bootstrap": "statistic", "williams": "t", "steiger": "Z"}[test]
        shown = {"bootstrap": "paired bootstrap", "williams": "Williams' t", "steiger": "Steiger's Z"}[test]
        shown += f" (p of {2 / (len(self.resampled) + 1):.2g} at least)" if test == "bootstrap" else ""
        many = f"{np.count_nonzero(~np.isnan(p))} p-values"
        caption = f"{name}: {shown}, {CORRECTIONS[correction].format(many)}; {self.caption}"
        head = ["measure", "other", "difference", "low", "high", mark, "p", "adjusted"]
        for row, x in zip(rows, adjusted.tolist(), strict=True):
            row.append(x)
        if test == "bootstrap":
            head, rows = [*head[:5], *head[6:]], [[*row[:5], *row[6:]] for row in rows]
        facts = self._facts | {"test": test, "statistic": name, "correction": correction}
        return Table(head, rows, digits=digits, caption=caption, facts=facts)

    def __repr__(self) -> str:
        return f"Satisfaction({', '.join(self.statistics)} of {len(self.measures)} measures, {self.caption})"


def satisfaction(
    scores: Scores | ByMeasure,
    labels: Mapping[Unit, float],
    *,
    statistics: Sequence[str] = STATISTICS,
    rounds: int = _ROUNDS,
    confidence: float = CONFIDENCE,
    seed: int = 0,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Satisfaction:
    """How the scores of measures correlate with labels of topics or sessions, such as satisfaction.

    Parameters
    ----------
    scores : Scores, or ``{measure: {(run, topic): score}}``
        The second is what `read_scores` makes of a file.
    labels : dict
        ``{topic: label}``, the same for all runs, of which then there may be one only; or ``{(run, topic): label}``.
    statistics : sequence of {"r", "rho", "tau"}
        Pearson's r, Spearman's rho, Kendall's tau-b.
    rounds : int
        Of the bootstrap.
    confidence : float
    seed : int
    threads : int, optional
    progress : callable, optional

    Returns
    -------
    Satisfaction

    Examples
    --------
    >>> import amble
    >>> scores = amble.evaluate(amble.Sessions.of_array([[[1, 0]], [[0, 1]], [[0, 0]], [[1, 1]]]), "sDCG sRBP")
    >>> found = amble.metaevaluation.satisfaction(scores, {"1": 3, "2": 2, "3": 0, "4": 4}, statistics=["tau"])
    >>> found.values[:, 0].round(4)  # sDCG ties 1 and 2: 5 concordant pairs, root of 5 x 6
    array([0.9129, 1.    ])
    """
    named = tuple(checks.one_of(name, STATISTICS, "statistics") for name in statistics)
    if not named or len(set(named)) < len(named):
        raise AmbleError(f"statistics {statistics!r:.60}: expected some of {', '.join(STATISTICS)}, each once")
    rounds, confidence = checks.whole(rounds, "rounds"), checks.share(confidence, "confidence")
    checks.seed(seed)
    by_measure, signs = _by_measure(scores)
    names, runs = tuple(by_measure), {run for of in by_measure.values() for run, _ in of}
    by_run = bool(labels) and all(isinstance(key, tuple) for key in labels)
    if not by_run and len(runs) > 1:
        raise AmbleError(
            f"{len(runs)} runs, and a label for each topic: expected a label for each run and topic, or one run"
        )
    scored = set.intersection(*(set(of) for of in by_measure.values())) if by_measure else set()
    told: dict[tuple[str, str], float] = {}
    for key, label in labels.items():
        run, topic = key if isinstance(key, tuple) else (next(iter(runs), ""), key)
        told[run, topic] = checks.number(label, f"label of {topic}")
    known = sorted(scored & told.keys(), key=lambda key: (key[1].encode("utf-8", "surrogateescape"), key[0]))
    topics = {topic: i for i, topic in enumerate(dict.fromkeys(topic for _, topic in known))}
    if len(topics) < _LEAST:
        raise AmbleError(f"{len(topics)} topics or sessions with scores and a label, expected at least {_LEAST}")
    unit = np.array([topics[topic] for _, topic in known])
    x = np.array([[sign * of[key] for key in known] for of, sign in zip(by_measure.values(), signs, strict=True)])
    y = np.array([told[key] for key in known])
    if not (np.isfinite(x).all() and np.ptp(y) > 0):
        raise AmbleError(
            "labels are all the same, expected different ones"
            if np.isfinite(x).all()
            else "a score is not a finite number"
        )
    ask = _Correlated(x, y, named)
    step = max(1, min(rounds, _CELLS // y.size))

    def resampled(start: int) -> Array:
        return ask(counts[start : start + step][:, unit].astype(np.float64))

    counts = topic_counts(len(topics), rounds, seed)
    blocks = map_in_order(resampled, range(0, rounds, step), usual_threads(threads), progress=progress)
    drawn = np.concatenate(list(blocks))
    values, tail = ask(np.ones((1, y.size)))[0], (1.0 - confidence) / 2.0
    nothing = np.isnan(values) | np.isnan(drawn).all(axis=0)
    low, high = np.nanquantile(np.where(nothing, 0.0, drawn), (tail, 1.0 - tail), axis=0)
    every = set().union(*by_measure.values())
    return Satisfaction(
        names, named, values, np.where(nothing, np.nan, low), np.where(nothing, np.nan, high), drawn,
        _Correlated.matrix(x), y.size, len(topics), len(every - told.keys()), len(told) - y.size, confidence,
    )  # fmt: skip


def _by_measure(scores: Any) -> tuple[dict[str, Mapping[tuple[str, str], float]], list[float]]:
    """Scores by measure, run and topic, and of each measure whether more is better (1) or less (-1)."""
    if isinstance(scores, Scores):
        out: dict[str, Mapping[tuple[str, str], float]] = {
            name: {
                (run, topic): float(scores.values[i, t, j])
                for i, run in enumerate(scores.runs)
                for t, topic in enumerate(scores.topics)
                if not math.isnan(scores.values[i, t, j])
            }
            for j, name in enumerate(scores.measures)
        }
        return out, [m.sign for m in scores.parsed]
    if not isinstance(scores, Mapping) or not all(isinstance(of, Mapping) for of in scores.values()):
        raise AmbleError(f"found {type(scores).__name__}, expected scores, or {{measure: {{(run, topic): score}}}}")
    return dict(scores), [_sign(name) for name in scores]


def _sign(name: str) -> float:
    """-1 for the name of a measure of which less is better."""
    from amble.measures import parse

    try:
        return float(parse(name).sign)
    except AmbleError:  # of another program
        return 1.0


class _Correlated:
    """Correlations of scores with labels, when every observation is there as often as a weight says."""

    def __init__(self, x: Array, y: Array, statistics: Sequence[str]) -> None:
        self.x, self.y, self.statistics = x, y, statistics
        self.ranked = [places(one) for one in (*x, y)]

    def __call__(self, weights: Array) -> Array:
        """Correlations by resample, measure and statistic: (rounds, observations) → (rounds, measures, statistics)."""
        out = np.empty((len(weights), len(self.x), len(self.statistics)))
        ranks = [self._mid_ranks(i, weights) for i in range(len(self.x) + 1)] if "rho" in self.statistics else []
        for i in range(len(self.x)):
            for k, name in enumerate(self.statistics):
                if name == "tau":
                    out[:, i, k] = self._tau(i, weights)
                elif name == "rho":
                    out[:, i, k] = _pearson(ranks[i], ranks[-1], weights)
                else:
                    out[:, i, k] = _pearson(self.x[i], self.y, weights)
        return out

    @staticmethod
    def matrix(x: Array) -> Array:
        """Pearson's correlation of every row with every other."""
        one = np.ones((1, x.shape[1]))
        return np.array([[float(_pearson(a, b, one)[0]) for b in x] for a in x])

    def _mid_ranks(self, i: int, weights: Array) -> Array:
        """The mid-rank of every observation in each resample."""
        ranked = self.ranked[i]
        sizes = _summed(weights, ranked)
        upto = np.cumsum(sizes, axis=1)
        return np.asarray((upto - sizes / 2.0)[:, ranked])

    def _tau(self, i: int, weights: Array) -> Array:
        """Kendall's tau-b of each resample; a pair counts as often as the product of its weights.

        Of each label, from the least: how many observations of lesser labels have a lesser score, and how many a
        greater one.
        """
        mine, theirs = self.ranked[i], self.ranked[-1]
        below = np.zeros((len(weights), int(mine.max()) + 1))  # observations of lesser labels, by score
        balance = np.zeros(len(weights))
        for label in range(int(theirs.max()) + 1):
            at = np.flatnonzero(theirs == label)
            upto = np.cumsum(below, axis=1)
            less = upto - below
            more = upto[:, -1:] - upto
            own = _summed(weights[:, at], mine[at], below.shape[1])
            balance += (own * (less - more)).sum(axis=1)
            below += own
        untied = [self._untied(weights, ranked) for ranked in (mine, theirs)]
        by = np.sqrt(untied[0] * untied[1])
        return np.asarray(np.divide(balance, by, out=np.full(by.size, np.nan), where=by > 0))

    @staticmethod
    def _untied(weights: Array, ranked: Ints) -> Array:
        """How many pairs of each resample differ."""
        n = weights.sum(axis=1)
        return np.asarray((n * n - (_summed(weights, ranked) ** 2).sum(axis=1)) / 2.0)


def _summed(weights: Array, ranked: Ints, size: int | None = None) -> Array:
    """Sums of weights by place: (rounds, observations) → (rounds, places)."""
    size = int(ranked.max()) + 1 if size is None else size
    order = np.argsort(ranked, kind="stable")
    upto = np.concatenate((np.zeros((len(weights), 1)), np.cumsum(weights[:, order], axis=1)), axis=1)
    return np.asarray(np.diff(upto[:, np.searchsorted(ranked[order], np.arange(size + 1))], axis=1))


def _pearson(x: Array, y: Array, weights: Array) -> Array:
    """Pearson's correlation of each resample; NaN where one of the two does not vary."""
    n = weights.sum(axis=1, keepdims=True)
    least = [1e-12 * max(1.0, float(np.abs(a).max())) for a in (x, y)]  # what rounding may leave of a constant
    x = x - (weights * x).sum(axis=1, keepdims=True) / n
    y = y - (weights * y).sum(axis=1, keepdims=True) / n
    squares = [(weights * a * a).sum(axis=1) for a in (x, y)]
    by = np.sqrt(squares[0] * squares[1])
    size = [(weights * np.abs(a)).max(axis=1) for a in (x, y)]
    varies = (size[0] > least[0]) & (size[1] > least[1])
    r = np.divide((weights * x * y).sum(axis=1), by, out=np.full(by.size, np.nan), where=varies)
    return np.asarray(np.clip(r, -1.0, 1.0))


def _rows(path: str | os.PathLike[str], layout: str) -> list[tuple[str, list[str]]]:
    """The lines of a file as cells, at tabs if it has any, each with its place."""
    name = path_name(path)
    data = read_bytes(name).decode("utf-8", "surrogateescape")
    tabs = "\t" in data
    found = [
        (f"{name}:{i}", [cell.strip() for cell in line.split("\t")] if tabs else line.split())
        for i, line in enumerate(data.split("\n"), 1)
        if line.strip() and not line.startswith("#")
    ]
    if not found:
        raise ReadError(f"{name}: empty, expected lines: {layout}")
    return found


def read_scores(path: str | os.PathLike[str]) -> dict[str, dict[tuple[str, str], float]]:
    """The scores in a file that ``amble eval -q --format tsv`` or ``amble session -q --format tsv`` wrote.

    Lines are run, topic or session, measure and value; those of means (``all``, or ``-`` where a topic has that name)
    are left out.

    Returns
    -------
    dict
        ``{measure: {(run, topic): score}}``
    """
    layout = "run topic measure value, as amble eval -q --format tsv writes them"
    rows = _rows(path, layout)
    where, head = rows[0]
    if [cell.lower() for cell in head[:4:2]] != ["run", "measure"] or len(head) != 4:
        raise ReadError(f"{where}: found {' '.join(head)[:60]!r}, expected the header {layout}")
    mean = "-" if any(cells[1:2] == ["-"] for _, cells in rows) else "all"
    out: dict[str, dict[tuple[str, str], float]] = {}
    for where, cells in rows[1:]:
        if len(cells) != 4:
            raise ReadError(f"{where}: found {len(cells)} columns, expected 4: {layout}")
        run, topic, measure, value = cells
        if topic == mean:
            continue
        of = out.setdefault(measure, {})
        if (run, topic) in of:
            raise ReadError(f"{where}: {measure} of run {run}, topic {topic} is there twice, expected once")
        of[run, topic] = _number(value, "value", where)
    if not out:
        raise ReadError(f"{os.fspath(path)}: no scores by topic, only means; expected those of -q")
    return out


def read_labels(path: str | os.PathLike[str]) -> dict[Unit, float]:
    """The labels in a file of lines ``topic label``, or ``run topic label``; a header is passed over.

    Returns
    -------
    dict
        ``{topic: label}`` or ``{(run, topic): label}``
    """
    layout = "topic label, or run topic label"
    out: dict[Unit, float] = {}
    width = 0
    for i, (where, cells) in enumerate(_rows(path, layout)):
        if len(cells) not in (2, 3) or (width and len(cells) != width):
            wanted = f"{width} as above" if width else "2 or 3"
            raise ReadError(f"{where}: found {len(cells)} columns, expected {wanted}: {layout}")
        width = len(cells)
        if i == 0 and not any(c.isdigit() for c in cells[-1]):
            continue
        key: Unit = cells[0] if width == 2 else (cells[0], cells[1])
        if key in out:
            raise ReadError(f"{where}: {' '.join(cells[:-1])} has a label already, expected one")
        out[key] = _number(cells[-1], "label", where)
    if not out:
        raise ReadError(f"{os.fspath(path)}: no labels, expected lines: {layout}")
    return out


def _number(text: str, what: str, where: str) -> float:
    try:
        return read_number(text, what)
    except ValueError as error:
        raise ReadError(f"{where}: {error}") from None
