"""The scores of systems on one measure, and pairs of systems, paired by topic.

Scores that are equal on paper differ in their last digits: 0.3 - 0.2 is not 0.2 - 0.1. Ranks, signs and counts of what
is "at least as large" would follow that noise, so differences are put on a grid of some ten-trillionths of the largest
score.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from amble.arrays import Array, Bools, Ints
from amble.errors import AlignError, AmbleError, MeasureError
from amble.evaluation.scores import Scores
from amble.measures import Measure
from amble.rankings.alignment import byte_order, plain_mean

__all__ = [
    "Differences", "Systems", "differences", "grid_unit", "mean_differences", "pairs_of", "scores_by_measure",
    "standardised", "systems_of",
]  # fmt: skip

_GRID = 2.0**-43  # of the largest score, rounded up to a power of two: between 1.1e-13 and 2.3e-13 of it
_CELLS = 1 << 20  # pairs x topics held at once


class Systems(NamedTuple):
    """Scores of systems on one measure: ``values`` has one row per system, one column per topic, NaN where none.

    The greater the better: where less is better, ``sign`` is -1 and these are scores times -1. Topics are in the byte
    order of their ids, whatever the order they came in, so that the same topics are drawn.
    """

    names: tuple[str, ...]
    labels: tuple[str, ...]
    topics: tuple[str, ...]
    measure: str
    values: Array
    answered: Bools
    logarithms: bool
    missing: str
    sign: float = 1.0
    item: str = "topic"  # what scores are paired by, topics or sessions
    directed: bool = True  # whether more, or less, is better

    def place(self, name: str) -> int:
        """The place of a system, by its name or, where that is unambiguous, by its file's name."""
        for names in (self.names, self.labels):
            if names.count(name) == 1:
                return names.index(name)
        known = ", ".join(self.names[:5]) + ("…" if len(self.names) > 5 else "")
        raise AlignError(f"run {name!r} is not among the {len(self.names)} compared: {known}")

    def on(self, kept: Bools) -> Systems:
        """The scores on some of the topics."""
        topics = tuple(t for t, keep in zip(self.topics, kept.tolist(), strict=True) if keep)
        return self._replace(values=self.values[:, kept], answered=self.answered[:, kept], topics=topics)

    @property
    def complete(self) -> Bools:
        """The topics on which all systems have a score."""
        return np.asarray(~np.isnan(self.values).any(axis=0))

    @property
    def unit(self) -> float:
        """The mesh of the grid on which differences are taken."""
        return grid_unit(self.values)


def grid_unit(values: Array) -> float:
    """The mesh of the grid on which differences of such scores are taken."""
    largest = float(np.nanmax(np.abs(values), initial=0.0))
    return float(2.0 ** np.ceil(np.log2(largest))) * _GRID if largest > 0 else 1.0


def systems_of(scores: Scores | Mapping[str, Mapping[str, float]], measure: str | Measure | None = None) -> Systems:
    """The scores of one measure."""
    if isinstance(scores, Scores):
        return _of_scores(scores, measure)
    if isinstance(scores, Mapping):
        return _of_mapping(scores, measure)
    raise AmbleError(
        f"found {type(scores).__name__}, expected scores, as evaluate makes them, or {{run: {{topic: score}}}}"
    )


def _of_scores(scores: Scores, measure: str | Measure | None) -> Systems:
    if measure is None:
        if len(scores.measures) > 1:
            raise MeasureError(f"scores of {', '.join(scores.measures)}: say which measure is to be compared")
        j = 0
    else:
        j = scores.place(measure)
    rankings = scores.rankings
    answered = np.zeros((len(scores.runs), len(scores.topics)), bool)
    answered[rankings.run, rankings.topic] = rankings.length > 0
    geometric = scores.parsed[j].declaration.aggregate == "geometric"
    order = byte_order(scores.topics)
    return Systems(
        scores.runs,
        rankings.labels,
        tuple(scores.topics[t] for t in order.tolist()),
        scores.measures[j],
        scores.averaged(j),
        answered[:, order],
        geometric,
        rankings.options["missing"],
        scores.parsed[j].sign,
        scores.item,
        scores.parsed[j].declaration.less is not None,
    )


def _of_mapping(scores: Mapping[str, Mapping[str, float]], measure: str | Measure | None) -> Systems:
    topics: dict[str, None] = {}
    for run, by_topic in scores.items():
        if not isinstance(run, str) or not isinstance(by_topic, Mapping):
            raise AmbleError(f"run {run!r}: found {type(by_topic).__name__}, expected {{run: {{topic: score}}}}")
        topics |= dict.fromkeys(by_topic)
    if not all(isinstance(topic, str) for topic in topics):
        wrong = next(topic for topic in topics if not isinstance(topic, str))
        raise AmbleError(f"topic {wrong!r} is of type {type(wrong).__name__}, expected a string")
    given = tuple(topics)
    names = tuple(given[t] for t in byte_order(given).tolist())
    place = {topic: t for t, topic in enumerate(names)}
    values = np.full((len(scores), len(names)), np.nan)
    for i, (run, by_topic) in enumerate(scores.items()):
        for topic, score in by_topic.items():
            try:
                values[i, place[topic]] = score
            except (TypeError, ValueError):
                raise AmbleError(f"run {run}, topic {topic}: score {score!r:.60}, expected a number") from None
    if np.isinf(values).any():
        i, t = (int(x[0]) for x in np.nonzero(np.isinf(values)))
        raise AmbleError(f"run {tuple(scores)[i]}, topic {names[t]}: score {values[i, t]}, expected a finite number")
    runs = tuple(scores)
    return Systems(runs, runs, names, str(measure or "score"), values, ~np.isnan(values), False, "skip")


def scores_by_measure(scores: Scores) -> Array:
    """Scores of at least two systems, of shape (measures, systems, topics), the greater the better.

    They are logarithms where means are geometric, and times -1 where less is better. Topics are in the byte order
    of their ids.
    """
    if not isinstance(scores, Scores):
        raise AmbleError(f"found {type(scores).__name__}, expected scores, as evaluate makes them")
    if len(scores.runs) < 2:
        raise AmbleError(f"found {len(scores.runs)} run, expected at least 2 to compare")
    return np.stack([scores.averaged(j) for j in range(len(scores.measures))])


def pairs_of(systems: Systems, baselines: Sequence[str] = ()) -> tuple[Ints, Ints]:
    """The places of the systems of each pair: each and all that come after it, or all others and each baseline.

    A baseline is compared with those before it, so that each pair is there once.
    """
    n = len(systems.names)
    if n < 2:
        raise AmbleError(f"{n} run{'s' * (n != 1)} to compare, expected at least 2")
    if not baselines:
        a, b = np.triu_indices(n, 1)
        return np.asarray(a, np.int64), np.asarray(b, np.int64)
    bases = list(dict.fromkeys(systems.place(name) for name in baselines))
    found = [(run, base) for k, base in enumerate(bases) for run in range(n) if run not in bases[: k + 1]]
    return tuple(np.array(found, np.int64).reshape(-1, 2).T)  # type: ignore[return-value]


class Differences(NamedTuple):
    """Differences of some pairs: one row per pair, one column per topic, 0 on topics that the two do not share."""

    values: Array
    shared: Bools
    n: Ints
    unit: float

    @property
    def mean(self) -> Array:
        """The mean difference."""
        return np.asarray(self.values.sum(axis=1) / np.maximum(self.n, 1))

    @property
    def centred(self) -> Array:
        """The differences minus their mean; 0 on topics that are not shared."""
        return np.where(self.shared, self.values - self.mean[:, None], 0.0)

    @property
    def deviation(self) -> Array:
        """The standard deviation of the differences (n - 1); 0 for a single topic."""
        squares = np.square(self.centred).sum(axis=1)
        deviation = np.sqrt(squares / np.maximum(self.n - 1, 1))
        return np.where(deviation > self.unit, deviation, 0.0)  # all equal, but for the grid


def standardised(mean: Array, error: Array) -> Array:
    """The mean divided by its error; where there is none, infinite, and 0 if there is no difference either."""
    certain = np.where(mean == 0, 0.0, np.copysign(np.inf, mean))
    return np.asarray(np.divide(mean, error, out=certain, where=error > 0))


def differences(systems: Systems, a: Ints, b: Ints) -> Iterator[tuple[slice, Differences]]:
    """Yield the differences of all pairs, some pairs at a time."""
    unit = systems.unit
    step = max(1, _CELLS // max(len(systems.topics), 1))
    for start in range(0, a.size, step):
        rows = slice(start, min(start + step, a.size))
        values = systems.values[a[rows]] - systems.values[b[rows]]
        shared = ~np.isnan(values)
        on_grid = np.where(shared, np.rint(values / unit) * unit, 0.0)
        yield rows, Differences(on_grid, shared, np.asarray(shared.sum(axis=1), np.int64), unit)


def mean_differences(values: Array) -> Array:
    """The mean difference of each system and each other, on the topics that both have: (…, n, topics) → (…, n, n)."""
    known = ~np.isnan(values)
    if known.all():
        means = plain_mean(values)
        return np.asarray(means[..., :, None] - means[..., None, :])
    x, k = np.where(known, values, 0.0), known.astype(np.float64)
    both = k @ np.swapaxes(k, -1, -2)
    total = x @ np.swapaxes(k, -1, -2)
    return np.asarray((total - np.swapaxes(total, -1, -2)) / np.maximum(both, 1.0))
