"""Robustness of measures to missing judgments: scores and rankings of runs with reduced pools.

As Buckley and Voorhees (2004) did and Ferrante, Ferro and Maistro (2014, Figures 3 and 4) after them: judgments are
taken away at random; of each measure, the mean over all runs and topics is computed, and Kendall's tau-b between
its ranking of the runs and the one with the full pool.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from amble import checks
from amble.arrays import Array, NDArray
from amble.comparison.design import CONFIDENCE
from amble.errors import AmbleError
from amble.evaluation.inputs import parse_measures
from amble.measures import Lists, Measure
from amble.measures.list_measure import of_lists
from amble.metaevaluation.correlation import kendall_matrix, places
from amble.metaevaluation.reduced_pools import Kept, check_groups, depth_pool, judge_again, sampled_pools, without_group
from amble.parallel import spread, usual_threads
from amble.rankings.alignment import Rankings, SentRankings, aggregate, byte_order, check_rankings
from amble.table import Table, Tabled

__all__ = ["LeftOut", "PoolEffect", "leave_out", "pool_effect"]

RATES = (0.9, 0.7, 0.5, 0.3, 0.1)


class _Scored:
    """Means of runs, whatever is left of the judgments; with all of them in ``full``."""

    def __init__(self, rankings: Rankings, measures: Sequence[Measure], undefined: str) -> None:
        checks.one_of(undefined, ("zero", "skip"), "undefined")
        self.sent, self.measures = SentRankings(rankings), measures
        self.sign = np.array([[measure.sign] for measure in measures])
        lists = Lists.of_rankings(rankings)
        # which topics have a relevant document is a matter of the full pool: reduced ones have the same topics
        self.defined: list[NDArray[np.bool_]] | None = None
        if undefined == "skip":
            self.defined = [np.asarray(of_lists(measure).gains_of(lists).relevant > 0) for measure in measures]
        self.full = self.means(lists)
        if np.isnan(self.full).any():
            j, i = (int(x[0]) for x in np.nonzero(np.isnan(self.full)))
            raise AmbleError(f"run {rankings.runs[i]} has no topic with a score in {measures[j]}: it cannot be ranked")

    @property
    def rankings(self) -> Rankings:
        """The rankings; on a worker, aligned there."""
        return self.sent.rankings

    def means(self, lists: Lists) -> Array:
        """The mean of each measure and run over topics: (measures, runs)."""
        rankings = self.rankings
        out, order = np.empty((len(self.measures), len(rankings.runs))), byte_order(rankings.topics)
        for j, measure in enumerate(self.measures):
            values = np.full((len(rankings.runs), len(rankings.topics)), np.nan)
            scores = measure.scores(lists)
            known = scores if self.defined is None else np.where(self.defined[j], scores, np.nan)
            values[rankings.run, rankings.topic] = known
            how = "geometric" if measure.declaration.aggregate == "geometric" else "mean"
            out[j] = aggregate(how, values[:, order])
        lists.forget()
        return out


def _cut(scored: _Scored, kept: Kept) -> tuple[int, Array, Array]:
    """What is kept of the judgments, means over runs, and tau-b with the full pool, by measure."""
    means = scored.means(judge_again(scored.rankings, kept))
    return int(kept.sum()), np.asarray(means.mean(axis=1)), _taus(scored.full, means)


def _at_depth(scored: _Scored, depth: int) -> tuple[int, Array, Array]:
    return _cut(scored, depth_pool(scored.rankings, depth))


def _at_rates(scored: _Scored, task: tuple[list[float], tuple[int, int], float]) -> list[tuple[int, Array, Array]]:
    rates, seed, rel = task
    return [_cut(scored, kept) for kept in sampled_pools(scored.rankings, rates, seed=seed, rel=rel)]


def _without(scored: _Scored, task: tuple[list[int], int, float]) -> tuple[Any, ...]:
    """A group's own judgments and relevant ones, its means with and without them, tau-b, and its greatest move."""
    (mine, depth, rel), full, rankings = task, scored.full, scored.rankings
    kept = without_group(rankings, mine, depth)
    cut = scored.means(judge_again(rankings, kept))
    moved = np.abs(_rank(scored.sign * full) - _rank(scored.sign * cut))[:, mine].max(axis=1)
    own = int((~kept).sum()), int((~kept & (rankings.qrels.grades >= rel)).sum())
    return *own, full[:, mine].mean(axis=1), cut[:, mine].mean(axis=1), _taus(full, cut), moved


def _taus(full: Array, cut: Array) -> Array:
    """Tau-b of each measure's two rankings."""
    return np.asarray(kendall_matrix(places(np.stack((full, cut), axis=1)))[:, 0, 1])


@dataclass(frozen=True)
class PoolEffect(Tabled):
    """The effect of reduced pools on measures; made by `pool_effect`.

    Attributes
    ----------
    measures : tuple of str
    pools : tuple of str
        What was kept, such as ``"70%"`` or ``"depth 10"``.
    sizes : ndarray
        Judgments kept: (pools, rounds).
    full : ndarray
        With all judgments, the mean over runs and topics of each measure.
    means, taus : ndarray
        Of shape (pools, rounds, measures): the mean over runs and topics, and tau-b of the ranking of runs with
        that of the full pool.
    judgments : int
        How many there are in all.
    """

    measures: tuple[str, ...]
    pools: tuple[str, ...]
    sizes: NDArray[np.int64]
    full: Array
    means: Array
    taus: Array
    judgments: int

    def table(self, *, digits: int = 4, confidence: float = CONFIDENCE) -> Table:
        """A table with one row per pool and measure: means over rounds, and the ends of the middle ``confidence``."""
        tail = (1.0 - checks.share(confidence, "confidence")) / 2.0
        columns = ["pool", "judgments", "measure", "mean", "mean low", "mean high", "tau", "tau low", "tau high"]
        rows: list[list[Any]] = []
        for j, measure in enumerate(self.measures):
            full = float(self.full[j])
            rows.append(["full", self.judgments, measure, full, full, full, 1.0, 1.0, 1.0])
        for i, pool in enumerate(self.pools):
            for j, measure in enumerate(self.measures):
                row: list[Any] = [pool, round(float(self.sizes[i].mean())), measure]
                for values in (self.means[i, :, j], self.taus[i, :, j]):
                    row += [float(values.mean()), *np.quantile(values, (tail, 1.0 - tail)).tolist()]
                rows.append(row)
        return Table(columns, rows, digits=digits)

    @property
    def kept(self) -> str:
        """What the numbers of `numbered` are: depths, or percents of judgments."""
        return "depth of the pool" if self.pools[0].startswith("depth") else "judgments kept, percent"

    def numbered(self, *, confidence: float = CONFIDENCE) -> Table:
        """As `table`, with a column of numbers, kept, in place of the pools' names; for charts."""
        table = self.table(confidence=confidence)
        rows = []
        for pool, *rest in table:
            if pool == "full" and self.pools[0].startswith("depth"):
                continue
            rows.append([100.0 if pool == "full" else float(str(pool).removeprefix("depth ").removesuffix("%")), *rest])
        return Table(["kept", *table.columns[1:]], rows)

    def __repr__(self) -> str:
        return f"PoolEffect({len(self.measures)} measures, {', '.join(self.pools)}; {self.means.shape[1]} rounds)"


def pool_effect(
    rankings: Rankings,
    measures: str | Measure | Iterable[str | Measure],
    *,
    rates: Sequence[float] = RATES,
    depths: Sequence[int] = (),
    rounds: int = 30,
    seed: int = 0,
    rel: float = 1,
    undefined: str = "zero",
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    executor: Any = None,
) -> PoolEffect:
    """Scores and rankings of runs with reduced pools, beside those with the full pool.

    Parameters
    ----------
    rankings : Rankings
        Of at least two runs.
    measures : str, Measure or a list of them
    rates : sequence of float
        Shares of the judgments to keep at random; see `sampled_pools`.
    depths : sequence of int
        Instead: pools of the judged documents that some run ranks so high or higher. They are not random, so there is
        one round.
    rounds : int
        How many times judgments are drawn.
    seed : int
    rel : float
        The least grade that is relevant, when relevant and non-relevant documents are drawn apart.
    undefined : {"zero", "skip"}
        A topic without a relevant document in the full pool scores 0, or is left out of all means.
    threads : int, optional
    progress : callable, optional
    executor : optional
        Who computes, as `Workers` takes it; without one, threads of this process. The answer is the same, bit for bit.

    Returns
    -------
    PoolEffect

    Examples
    --------
    >>> import amble
    >>> qrels = {"1": {d: int(d < "c") for d in "abcdef"}}
    >>> runs = {"x": {"1": {"a": 2.0, "c": 1.0}}, "y": {"1": {"c": 2.0, "b": 1.0}}}
    >>> effect = amble.metaevaluation.pool_effect(amble.align(qrels, runs), "AP P@1", depths=[1])
    >>> for pool, judgments, measure, mean, _, _, tau, _, _ in effect.table():
    ...     print(pool, judgments, measure, mean, tau)
    full 6 AP 0.375 1.0
    full 6 P@1 0.5 1.0
    depth 1 2 AP 0.5 1.0
    depth 1 2 P@1 0.5 1.0
    """
    parsed = parse_measures(measures)
    _enough(rankings)
    checks.seed(seed)
    rounds = checks.whole(rounds, "rounds")
    if not len(rates) and not len(depths):
        raise AmbleError("no pools: expected rates or depths")
    scored = _Scored(rankings, parsed, undefined)
    full, how = scored.full, dict[str, Any](threads=usual_threads(threads), progress=progress)
    if len(depths):
        names = [f"depth {k}" for k in depths]
        found = [[x] for x in spread(_at_depth, scored, list(depths), executor, **how)]
    else:
        names = [f"{100 * rate:g}%" for rate in rates]
        sampled_pools(rankings, rates, seed=seed, rel=rel)  # a wrong rate is found here, not on a thread
        tasks = [(list(rates), (seed, i), rel) for i in range(rounds)]
        found = [list(x) for x in zip(*spread(_at_rates, scored, tasks, executor, **how), strict=True)]
    return PoolEffect(
        tuple(m.label for m in parsed),
        tuple(names),
        np.array([[size for size, _, _ in row] for row in found]),
        np.asarray(full.mean(axis=1)),
        np.array([[means for _, means, _ in row] for row in found]),
        np.array([[taus for _, _, taus in row] for row in found]),
        len(rankings.qrels),
    )


def _enough(rankings: Rankings) -> None:
    check_rankings(rankings)
    if len(rankings.runs) < 2:
        raise AmbleError("found 1 run, expected at least 2 to rank")


@dataclass(frozen=True)
class LeftOut(Tabled):
    """Scores of runs without the judgments that only their group brought to the pool; made by `leave_out`.

    Attributes
    ----------
    groups : tuple of str
    runs : tuple of int
        How many runs each group has.
    unique, unique_relevant : ndarray of int
        Judged documents, and relevant ones, that only this group brought to the pool.
    measures : tuple of str
    full, without : ndarray
        Of shape (groups, measures): the mean over the group's runs and topics, with all judgments and without its own.
    taus : ndarray
        Tau-b of the rankings of all runs with and without the group's own judgments.
    moved : ndarray of int
        By how many places the ranking moves a run of the group most.
    ungrouped : int
        Runs that are in no group; what they brought to the pool is never taken away.
    """

    groups: tuple[str, ...]
    runs: tuple[int, ...]
    unique: NDArray[np.int64]
    unique_relevant: NDArray[np.int64]
    measures: tuple[str, ...]
    full: Array
    without: Array
    taus: Array
    moved: NDArray[np.int64]
    ungrouped: int = 0

    def table(self, *, digits: int = 4) -> Table:
        """A table with one row per group and measure."""
        columns = ["group", "runs", "unique", "relevant", "measure", "full", "without", "change", "tau", "moved"]
        rows: list[list[Any]] = []
        for i, group in enumerate(self.groups):
            for j, measure in enumerate(self.measures):
                a, b = float(self.full[i, j]), float(self.without[i, j])
                change = (b - a) / a if a else float("nan")
                head: list[Any] = [group, self.runs[i], int(self.unique[i]), int(self.unique_relevant[i]), measure]
                rows.append([*head, a, b, change, float(self.taus[i, j]), int(self.moved[i, j])])
        n = self.ungrouped
        caption = f"{n} {'run is' if n == 1 else 'runs are'} in no group: what they brought to the pool stays"
        return Table(columns, rows, digits=digits, caption=caption if n else "")


def leave_out(
    rankings: Rankings,
    measures: str | Measure | Iterable[str | Measure],
    groups: Mapping[str, Sequence[str]] | Mapping[str, Sequence[int]],
    *,
    depth: int = 100,
    rel: float = 1,
    undefined: str = "zero",
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    executor: Any = None,
) -> LeftOut:
    """Scores of the runs of each group without the judgments that only this group brought to the pool.

    Parameters
    ----------
    rankings : Rankings
    measures : str, Measure or a list of them
    groups : dict
        ``{group: names of its runs}``, or their places, as `groups_by_prefix` gives them. A run is in one group at
        most.
    depth : int
        How deep the runs were pooled. A document is a group's own if it stands so high in one of its runs and in no run
        of another group.
    rel : float
        The least grade that is relevant, for counting.
    undefined : {"zero", "skip"}
        A topic without a relevant document in the full pool scores 0, or is left out of all means.
    threads : int, optional
    progress : callable, optional
    executor : optional
        Who computes, as `Workers` takes it; without one, threads of this process. The answer is the same, bit for bit.

    Returns
    -------
    LeftOut
    """
    parsed = parse_measures(measures)
    _enough(rankings)
    by_place = check_groups(rankings, groups)
    if (count := len(by_place)) < 2:
        found_groups = f"found {count} group{'s' * (count != 1)}"
        raise AmbleError(f"{found_groups}, expected at least 2: one is left out, the others make the pool")
    scored = _Scored(rankings, parsed, undefined)
    tasks = [(mine, depth, rel) for mine in by_place.values()]
    found = spread(_without, scored, tasks, executor, threads=usual_threads(threads), progress=progress)
    unique, unique_relevant, a, b, taus, moved = (np.array(column) for column in zip(*found, strict=True))
    names = tuple(m.label for m in parsed)
    sizes = tuple(map(len, by_place.values()))
    ungrouped = len(rankings.runs) - sum(sizes)
    return LeftOut(tuple(by_place), sizes, unique, unique_relevant, names, a, b, taus, moved, ungrouped)


def _rank(means: Array) -> NDArray[np.int64]:
    """How many runs are better than each, by each measure."""
    ranked = places(means)
    return np.asarray((ranked[:, None, :] > ranked[:, :, None]).sum(axis=2))
