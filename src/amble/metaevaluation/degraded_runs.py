"""Degraded runs: worse versions of runs, by a known amount, and which measures notice.

Moffat, Scholer and Thomas (2012, section 7) plan a study in which half of the result pages are *diluted* by the
insertion of attractive documents that are not relevant; they cite studies of perturbed and degraded rankings (Thomas,
Jones and Hawking 2011; Turpin and Scholer 2006). They say neither how many documents are inserted nor where. Here the
amount is a level from 0 to 1, and ``pages`` is the share of topics whose list is touched, 0.5 in their plan:

* **dilute**, theirs: of the first places of a list (``places``), a share ``level``, chosen at random, is taken by
  documents that are judged not relevant to the topic (what somebody pooled is attractive enough to be looked at); what
  stood there moves down, in its order. A document that the run has below is moved up; where no judged one is left, ids
  are made up, ``dilution-1`` and so on, which nobody judged.
* **lose**, ours: a share ``level`` of the relevant documents among the first places is replaced, in place, by such
  documents that the list does not have.
* **shuffle**, ours: a share ``level`` of the first places is chosen, and the documents there are put in random order.

Numbers of places are rounded to the nearest whole number, halves up. The same seed touches the same topics, and the
places of a smaller level are among those of a larger one, so that levels differ by what was done more, not by luck.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from amble import checks
from amble.arrays import Array
from amble.comparison.design import CONFIDENCE, TestDesign
from amble.comparison.paired_tests import t_test
from amble.comparison.systems import Differences, grid_unit
from amble.errors import AmbleError
from amble.evaluation.inputs import Measures, parse_measures
from amble.evaluation.scores import Scores, evaluate
from amble.io.trec import Qrels, read_qrels
from amble.parallel import map_in_order, usual_threads
from amble.rankings.run_lists import RunLists, read_run_lists
from amble.table import Table

__all__ = ["Degradation", "degradation", "degrade"]

HOWS = {
    "dilute": "non-relevant documents inserted",
    "lose": "relevant documents replaced",
    "shuffle": "places shuffled",
}
LEVELS = (0.1, 0.2, 0.3, 0.5)
_PLACES, _ROUNDS, _POWER = 10, 10, 0.8
_TEST = "two-sided paired t-test"

RunsOfLists = dict[str, dict[str, list[str]]]


def degrade(
    qrels: Any,
    runs: Any,
    *,
    how: str = "dilute",
    level: float = 0.5,
    pages: float = 1.0,
    places: int = _PLACES,
    rel: float = 1,
    seed: int | Sequence[int] = 0,
    ties: str = "docno",
) -> RunsOfLists:
    """Worse versions of runs, by a known amount.

    Parameters
    ----------
    qrels, runs
        Anything `read_qrels` and `read_runs` take, or the lists of `read_run_lists`.
    how : {"dilute", "lose", "shuffle"}
        Non-relevant documents are inserted; relevant ones are replaced by them; or the order is lost. See
        `amble.metaevaluation.degraded_runs`.
    level : float
        The share of places, or of the relevant documents there, that is touched: from 0 to 1.
    pages : float
        The share of topics whose lists are touched, the same of all runs.
    places : int
        How many places, from the first, may be touched.
    rel : float
        The least grade that is relevant.
    seed : int
        Same seed, same answer.
    ties : {"docno", "rank", "file"}
        How documents of equal score are ranked, as for `align`.

    Returns
    -------
    dict
        ``{run: {topic: documents, best first}}``, which `read_runs` and all that aligns take.

    Examples
    --------
    >>> import amble
    >>> qrels = {"1": {"a": 1, "b": 1, "x": 0, "y": 0}}
    >>> worse = amble.metaevaluation.degrade(qrels, {"r": {"1": ["a", "b"]}}, level=0.5, seed=1)
    >>> worse["r"]["1"]
    ['x', 'a', 'b']
    """
    checks.one_of(how, HOWS, "how")
    level = checks.number(level, "level", least=0, most=1)
    pages = checks.number(pages, "pages", least=0, most=1)
    places, seeds = checks.whole(places, "places"), [seed] if isinstance(seed, int) else list(seed)
    for one in seeds:
        checks.seed(one)
    judged = qrels if isinstance(qrels, Qrels) else read_qrels(qrels)
    lists = runs if isinstance(runs, RunLists) else read_run_lists(runs, ties=ties)
    topics = sorted(lists.topics, key=_bytes)
    order = np.random.default_rng(seeds).permutation(len(topics))
    touched = {topics[i] for i in order[: _rounded(pages * len(topics))].tolist()}
    out: RunsOfLists = {name: {} for name in lists.runs}
    for topic in lists.topics:
        of = lists[topic]
        grades = judged[topic] if topic in judged.topics else {}
        bad = sorted((doc for doc, grade in grades.items() if grade < rel), key=_bytes)
        good = {doc for doc, grade in grades.items() if grade >= rel}
        for run, start, end in of.bounds:
            docs = [of.docs[d] for d in of.doc[start:end].tolist()]
            if topic in touched:
                rng = np.random.default_rng([*seeds, *_bytes(f"{lists.runs[run]}\0{topic}")])
                docs = _HOWS[how](docs, min(places, len(docs)), level, good, bad, rng)
            out[lists.runs[run]][topic] = docs
    return out


def _bytes(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")


def _rounded(x: float) -> int:
    return math.floor(x + 0.5 + 1e-9)


def _fillers(bad: list[str], taken: set[str], rng: np.random.Generator) -> Iterator[str]:
    """Documents that are not relevant and not taken: judged ones in random order, then made-up ids."""
    for i in rng.permutation(len(bad)).tolist():
        if bad[i] not in taken:
            yield bad[i]
    n = 0
    while True:
        n += 1
        if f"dilution-{n}" not in taken:
            yield f"dilution-{n}"


def _dilute(
    docs: list[str], k: int, level: float, good: set[str], bad: list[str], rng: np.random.Generator
) -> list[str]:
    places = rng.permutation(k)[: _rounded(level * k)].tolist()
    inserted = dict(zip(places, _fillers(bad, set(docs[:k]), rng), strict=False))
    moved = set(inserted.values())
    left = iter([doc for doc in docs if doc not in moved])
    top = [inserted[p] if p in inserted else next(left) for p in range(k)]
    return [*top, *left]


def _lose(docs: list[str], k: int, level: float, good: set[str], bad: list[str], rng: np.random.Generator) -> list[str]:
    found = [p for p in range(k) if docs[p] in good]
    chosen = rng.permutation(len(found))[: _rounded(level * len(found))].tolist()
    out = list(docs)
    for i, filler in zip(chosen, _fillers(bad, set(docs), rng), strict=False):
        out[found[i]] = filler
    return out


def _shuffle(
    docs: list[str], k: int, level: float, good: set[str], bad: list[str], rng: np.random.Generator
) -> list[str]:
    places = rng.permutation(k)[: _rounded(level * k)]
    out = list(docs)
    for p, q in zip(places.tolist(), rng.permutation(places).tolist(), strict=True):
        out[p] = docs[q]
    return out


_HOWS: dict[str, Callable[..., list[str]]] = {"dilute": _dilute, "lose": _lose, "shuffle": _shuffle}


@dataclass(frozen=True)
class Degradation:
    """Scores of runs and of their worse versions; made by `degradation`.

    Attributes
    ----------
    scores : Scores
        Of the runs as they are.
    measures : tuple of str
    how : str
    levels : tuple of float
    pages : float
    means : ndarray
        Of shape (levels, rounds, measures, runs): means over topics.
    p : ndarray
        The same shape: p-values of the paired t-test (two-sided) of the run with its worse version.
    sign : ndarray
        Of each measure: 1, or -1 where less is better.
    """

    scores: Scores
    measures: tuple[str, ...]
    how: str
    levels: tuple[float, ...]
    pages: float
    means: Array
    p: Array
    sign: Array

    @property
    def full(self) -> Array:
        """The means of runs as they are: (measures, runs)."""
        return np.asarray(self.scores.means().T)

    @property
    def fell(self) -> Array:
        """The share of rounds and runs in which the mean got worse: (levels, measures)."""
        worse = self.sign[:, None] * (self.full - self.means) > 1e-12
        return np.asarray(worse.mean(axis=(1, 3)))

    def noticed(self, alpha: float = TestDesign.alpha) -> Array:
        """The share of rounds and runs in which it got significantly worse: (levels, measures)."""
        worse = (self.sign[:, None] * (self.full - self.means) > 0) & (self.p <= checks.share(alpha, "alpha"))
        return np.asarray(worse.mean(axis=(1, 3)))

    @property
    def caption(self) -> str:
        """What was done, in one line."""
        runs, rounds = self.means.shape[3], self.means.shape[1]
        part = f" on {100 * self.pages:g} % of topics" if self.pages < 1 else ""
        return f"{self.how}: {HOWS[self.how]}{part}; {runs} run{'s' * (runs != 1)}, {rounds} round{'s' * (rounds != 1)}"

    def curve(self, *, alpha: float = TestDesign.alpha, confidence: float = CONFIDENCE, digits: int = 4) -> Table:
        """A table with one row per level and measure.

        The mean over runs and rounds, with the ends of the middle ``confidence`` of rounds; its change, relative to
        level 0; and in what share of rounds and runs a mean got worse, and significantly so.
        """
        tail = (1.0 - checks.share(confidence, "confidence")) / 2.0
        rows: list[list[Any]] = []
        for j, name in enumerate(self.measures):
            full = float(self.full[j].mean())
            rows.append([0.0, name, full, full, full, 0.0, 0.0, 0.0])
        fell, noticed = self.fell, self.noticed(alpha)
        for i, level in enumerate(self.levels):
            for j, name in enumerate(self.measures):
                of = self.means[i, :, j].mean(axis=1)
                low, high = np.quantile(of, (tail, 1.0 - tail)).tolist()
                full = float(self.full[j].mean())
                change = float(of.mean()) / full - 1.0 if full else math.nan
                rows.append([level, name, float(of.mean()), low, high, change, float(fell[i, j]), float(noticed[i, j])])
        columns = ["level", "measure", "mean", "low", "high", "change", "fell", "significant"]
        return Table(columns, rows, digits=digits, caption=f"{self.caption}; {_TEST}, alpha {alpha:g}")

    def table(self, *, alpha: float = TestDesign.alpha, power: float = _POWER, digits: int = 4) -> Table:
        """A table with one row per measure: how much it falls, and how soon it notices.

        ``change`` is that of the mean from level 0 to the largest level; ``falls from`` and ``significant from`` are
        the least levels at which, and at all larger ones, a share ``power`` of rounds and runs got worse, and got
        significantly worse; none if that is nowhere so.
        """
        power = checks.share(power, "power")
        last = int(np.argmax(self.levels))
        rows: list[list[Any]] = []
        shares = [self.fell, self.noticed(alpha)]
        order = np.argsort(self.levels)
        for j, name in enumerate(self.measures):
            full, worst = float(self.full[j].mean()), float(self.means[last, :, j].mean())
            firsts: list[float | None] = []
            for share in shares:
                enough = np.logical_and.accumulate((share[order, j] >= power)[::-1])[::-1]
                firsts.append(float(self.levels[order[int(np.argmax(enough))]]) if enough.any() else None)
            rows.append([name, full, worst, worst / full - 1.0 if full else math.nan, *firsts])
        at = f"at {self.levels[last]:g}"
        columns = ["measure", "mean", at, "change", "falls from", "significant from"]
        caption = f"{self.caption}; from: in {100 * power:g} % of rounds and runs; {_TEST}, alpha {alpha:g}"
        return Table(columns, rows, digits=digits, caption=caption)

    def __repr__(self) -> str:
        return f"Degradation({len(self.measures)} measures, {self.caption})"


def degradation(
    qrels: Any,
    runs: Any,
    measures: Measures,
    *,
    how: str = "dilute",
    levels: Sequence[float] = LEVELS,
    pages: float = 1.0,
    places: int = _PLACES,
    rel: float = 1,
    rounds: int = _ROUNDS,
    seed: int = 0,
    ties: str = "docno",
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    **options: Any,
) -> Degradation:
    """Which measures notice that runs get worse, how often, and how soon.

    Parameters
    ----------
    qrels, runs, how, pages, places, rel, seed, ties
        As for `degrade`.
    measures : str, Measure or a list of them
    levels : sequence of float
        How much worse, each above 0 and at most 1.
    rounds : int
        How many worse versions of each run are made at each level.
    threads : int, optional
    progress : callable, optional
    **options
        Of `evaluate`: depth, missing, unjudged, undefined …

    Returns
    -------
    Degradation

    Examples
    --------
    >>> import amble
    >>> qrels = {str(t): {"a": 1, "b": 1, "x": 0, "y": 0} for t in range(5)}
    >>> runs = {"r": {str(t): ["a", "b"] for t in range(5)}}
    >>> found = amble.metaevaluation.degradation(qrels, runs, "P@2 R", levels=[1.0], how="dilute", rounds=3)
    >>> for level, measure, mean, *_ in found.curve():  # both are pushed down, to ranks 3 and 4
    ...     print(level, measure, mean)
    0.0 P@2 1.0
    0.0 R 1.0
    1.0 P@2 0.0
    1.0 R 1.0
    """
    parsed, levels = parse_measures(measures), tuple(checks.number(x, "level", above=0, most=1) for x in levels)
    if not levels or len(set(levels)) < len(levels):
        raise AmbleError(f"levels {levels}: expected some, each once")
    rounds = checks.whole(rounds, "rounds")
    checks.seed(seed)
    judged = qrels if isinstance(qrels, Qrels) else read_qrels(qrels)
    lists = runs if isinstance(runs, RunLists) else read_run_lists(runs, ties=ties)
    chosen: dict[str, Any] = {"how": how, "pages": pages, "places": places, "rel": rel}

    def scored(level: float, seeds: Sequence[int]) -> Scores:
        return evaluate(judged, degrade(judged, lists, level=level, seed=seeds, **chosen), parsed, **options)

    full = scored(0.0, [seed])

    def one(at: tuple[int, int]) -> tuple[Array, Array]:
        worse = scored(levels[at[0]], [seed, at[1]])
        return worse.means().T, np.array([_p_values(full.averaged(j), worse.averaged(j)) for j in range(len(parsed))])

    cases = [(i, r) for i in range(len(levels)) for r in range(rounds)]
    found = list(map_in_order(one, cases, usual_threads(threads), progress=progress))
    shape = (len(levels), rounds, len(parsed), len(full.runs))
    means, p = (np.array([x[k] for x in found]).reshape(shape) for k in (0, 1))
    sign = np.array([m.sign for m in parsed])
    return Degradation(full, full.measures, how, levels, float(pages), means, p, sign)


def _p_values(a: Array, b: Array) -> Array:
    """P-values of the paired t-tests of each row of a with that of b."""
    values = a - b
    shared = ~np.isnan(values)
    unit = grid_unit(np.stack((a, b)))
    on_grid = np.where(shared, np.rint(values / unit) * unit, 0.0)
    return t_test(Differences(on_grid, shared, np.asarray(shared.sum(axis=1), np.int64), unit), "two")[1]
