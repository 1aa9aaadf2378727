"""Swap rates: how often another set of topics reverses a comparison of systems (Voorhees and Buckley, 2002).

Two sets of topics without a common one are drawn. Of each pair of systems the difference of means on the first set
falls into a bin; if the second set has the other system ahead, that is a swap. The swap rate of a bin is the
probability that a difference of that size, found with so many topics, is wrong. Pairs that tie on the first set draw no
conclusion and are not counted. Drawn sets can have at most half of the topics; for more, the rate of each bin is taken
to fall exponentially with the number of topics, as in the paper, and extrapolated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from amble import checks
from amble.arrays import Array, NDArray
from amble.comparison.systems import scores_by_measure
from amble.errors import AmbleError
from amble.evaluation.scores import Scores
from amble.parallel import spread, usual_threads
from amble.table import Table, Tabled

__all__ = ["Swaps", "swap_rates"]

_CELLS = 1 << 21
MAX_RATE = 0.05  # swaps that are put up with
_ROUNDING = 1e-12
_NARROWEST = 1e-9  # a bin: below that, differences are rounding


@dataclass(frozen=True)
class Swaps(Tabled):
    """Swap rates of measures, by the number of topics and the difference; made by `swap_rates`.

    Attributes
    ----------
    measures : tuple of str
    sizes : tuple of int
        Topics in a set.
    edges : ndarray
        Lower ends of the bins of differences; the last bin is open.
    counts, swaps : ndarray of int
        Of shape (measures, sizes, bins): comparisons, and those reversed.
    logarithms : tuple of str
        Measures whose mean is geometric: their differences are those of logarithms.
    """

    measures: tuple[str, ...]
    sizes: tuple[int, ...]
    edges: Array
    counts: NDArray[np.int64]
    swaps: NDArray[np.int64]
    logarithms: tuple[str, ...] = ()

    @property
    def _caption(self) -> str:
        names = ", ".join(self.logarithms)
        return f"{names}: differences of logarithms, as the mean is geometric" if names else ""

    @property
    def rates(self) -> Array:
        """Swap rates; NaN where a bin is empty."""
        some = self.counts > 0
        return np.asarray(np.divide(self.swaps, self.counts, out=np.full(some.shape, np.nan), where=some))

    def needed(self, max_rate: float = MAX_RATE) -> tuple[Array, Array]:
        """The least difference from which on all bins have swap rates of at most max_rate, and the share of such pairs.

        Two arrays of shape (measures, sizes); NaN and 0 where no difference is large enough.
        """
        checks.share(max_rate, "max_rate")
        fine = np.where(np.isnan(self.rates), True, self.rates <= max_rate)
        onward = np.logical_and.accumulate(fine[..., ::-1], axis=-1)[..., ::-1]
        onward &= np.cumsum(self.counts[..., ::-1], axis=-1)[..., ::-1] > 0
        first = np.argmax(onward, axis=-1)
        found = onward.any(axis=-1)
        from_there = np.where(np.arange(self.edges.size) >= first[..., None], self.counts, 0).sum(axis=-1)
        resolved = np.where(found, from_there / np.maximum(self.counts.sum(axis=-1), 1), 0.0)
        return np.where(found, self.edges[first], np.nan), np.asarray(resolved)

    def extrapolated(self, topics: int) -> Array:
        """Swap rates of each measure and bin for so many topics: rate = a exp(-b topics), fitted by least squares.

        The logarithms of the rates that are not 0 are fitted, each weighed by its swaps; NaN where there are fewer than
        two sizes to fit.
        """
        checks.whole(topics, "topics")
        x = np.asarray(self.sizes, np.float64)[None, :, None]
        weight = np.asarray(self.swaps, np.float64)
        y = np.log(np.where(self.swaps > 0, self.rates, 1.0))
        total = weight.sum(axis=1)
        enough = (self.swaps > 0).sum(axis=1) > 1
        safe = np.where(total > 0, total, 1.0)
        mx, my = (weight * x).sum(axis=1) / safe, (weight * y).sum(axis=1) / safe
        spread = (weight * (x - mx[:, None]) ** 2).sum(axis=1)
        slope = (weight * (x - mx[:, None]) * (y - my[:, None])).sum(axis=1) / np.where(spread > 0, spread, 1.0)
        return np.where(enough, np.minimum(np.exp(my + slope * (topics - mx)), 1.0), np.nan)

    def table(self, *, max_rate: float = MAX_RATE, digits: int = 4) -> Table:
        """A table with one row per measure and size: swap rate, difference needed, share of pairs above it.

        The rate is NaN where all pairs tie on all sets, so that there is no conclusion to turn round.
        """
        needed, resolved = self.needed(max_rate)
        rows: list[list[Any]] = []
        for j, measure in enumerate(self.measures):
            for k, size in enumerate(self.sizes):
                drawn = int(self.counts[j, k].sum())
                overall = int(self.swaps[j, k].sum()) / drawn if drawn else float("nan")
                rows.append([measure, size, overall, float(needed[j, k]), float(resolved[j, k])])
        columns = ["measure", "topics", "swap rate", "needed", "share above"]
        return Table(columns, rows, digits=digits, caption=self._caption)

    def curve(self, *, digits: int = 4) -> Table:
        """A table with one row per measure, size and bin of differences."""
        rows: list[list[Any]] = []
        for j, measure in enumerate(self.measures):
            for k, size in enumerate(self.sizes):
                for i, edge in enumerate(self.edges.tolist()):
                    count = int(self.counts[j, k, i])
                    if count:
                        rows.append([measure, size, edge, count, float(self.rates[j, k, i])])
        columns = ["measure", "topics", "difference", "comparisons", "swap rate"]
        return Table(columns, rows, digits=digits, caption=self._caption)

    def __repr__(self) -> str:
        return f"Swaps({len(self.measures)} measures, sets of {', '.join(map(str, self.sizes))} topics)"


def swap_rates(
    scores: Scores,
    *,
    sizes: Sequence[int] | None = None,
    rounds: int = 100,
    width: float = 0.01,
    bins: int = 21,
    seed: int = 0,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    executor: Any = None,
) -> Swaps:
    """How often another set of topics reverses a comparison of systems.

    Parameters
    ----------
    scores : Scores
        Of at least two runs, on at least two topics.
    sizes : sequence of int, optional
        Topics in a set, at most half of all; without it, five steps up to half of them.
    rounds : int
        How many pairs of sets are drawn, for each size.
    width : float
        Of the bins of differences.
    bins : int
        How many there are; the last one is open.
    seed : int
    threads : int, optional
    progress : callable, optional
    executor : optional
        Who computes, as `Workers` takes it; without one, threads of this process. The answer is the same, bit for bit.

    Returns
    -------
    Swaps
    """
    values = scores_by_measure(scores)
    if np.isnan(values).any():
        raise AmbleError("some runs lack topics; use missing='zero' and undefined='zero'")
    m, n, t = values.shape
    if t < 2:
        raise AmbleError(f"found {t} topic, expected at least 2: two sets are drawn")
    half = t // 2
    chosen = sorted({max(1, half * i // 5) for i in range(1, 6)}) if sizes is None else list(sizes)
    for size in chosen:
        if checks.whole(size, "size") > half:
            raise AmbleError(f"size {size}: two sets without a common topic have at most {half} of {t} topics each")
    rounds, bins = checks.whole(rounds, "rounds"), checks.whole(bins, "bins", 2)
    checks.seed(seed)
    width = checks.number(width, "width", least=_NARROWEST)
    step = max(1, _CELLS // (m * (n * (n - 1) // 2)))
    counts = np.zeros((m, len(chosen), bins), np.int64)
    swaps = np.zeros_like(counts)
    places = [(k, start) for k in range(len(chosen)) for start in range(0, rounds, step)]
    tasks = [(chosen[k], start, min(step, rounds - start)) for k, start in places]
    counted = spread(
        _count, (values, width, bins, seed), tasks, executor, threads=usual_threads(threads), progress=progress
    )
    for (k, _), (c, s) in zip(places, counted, strict=True):
        counts[:, k] += c
        swaps[:, k] += s
    edges = np.arange(bins, dtype=np.float64) * width
    return Swaps(scores.measures, tuple(chosen), edges, counts, swaps, scores.logarithms)


def _count(
    shared: tuple[Array, float, int, int], task: tuple[int, int, int]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Differences and swaps by measure and bin, of some rounds that draw sets of one size."""
    (values, width, bins, seed), (size, start, rounds) = shared, task
    m, n, t = values.shape
    a, b = np.triu_indices(n, 1)
    rng = np.random.default_rng((seed, size, start))
    order = rng.permuted(np.broadcast_to(np.arange(t), (rounds, t)), axis=1)
    sets = np.zeros((2, rounds, t))
    for which in range(2):
        np.put_along_axis(sets[which], order[:, which * size : (which + 1) * size], 1.0, axis=1)
    first, second = (np.moveaxis(values @ s.T, -1, 0) / size for s in sets)  # (rounds, measures, systems)
    d = first[..., a] - first[..., b]
    other = second[..., a] - second[..., b]
    scale = _ROUNDING * np.maximum(np.abs(first).max(initial=0.0), 1e-300)
    apart = np.abs(d)
    at = np.minimum(apart / width + 1e-9, bins - 1).astype(np.int64)
    at += np.arange(m)[:, None] * bins
    drawn = apart > scale
    swapped = drawn & (np.sign(d) * other < -scale)
    counts, swaps = (np.bincount(at[flags], minlength=m * bins).reshape(m, bins) for flags in (drawn, swapped))
    return counts, swaps
