"""What all meta-evaluation starts from: the scores of systems by topic, measure by measure, and their means."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from amble.errors import AmbleError
from amble.evaluation.scores import LEAST, Scores
from amble.rankings.alignment import byte_order, plain_mean, whole

__all__ = [
    "by_topic",
    "check_seed",
    "in_logarithms",
    "mean_differences",
    "means_over",
    "share",
    "side_by_side",
    "whole",
]

Array = NDArray[np.float64]
T = TypeVar("T")


def by_topic(scores: Scores, *, systems: int = 2) -> Array:
    """Scores as (measures, systems, topics): what is averaged, so of a geometric mean the logarithms.

    Topics are in the byte order of their ids.
    """
    if not isinstance(scores, Scores):
        raise AmbleError(f"found {type(scores).__name__}, expected scores, as evaluate makes them")
    if len(scores.runs) < systems:
        raise AmbleError(f"found {len(scores.runs)} run, expected at least {systems} to compare")
    out = np.moveaxis(scores.values[:, byte_order(scores.topics)], 2, 0).copy()
    for j, name in enumerate(scores.measures):
        if name in in_logarithms(scores):
            out[j] = np.log(np.maximum(out[j], LEAST))
    return out


def in_logarithms(scores: Scores) -> tuple[str, ...]:
    """The measures whose mean is geometric, so that logarithms are compared."""
    if scores.standardised:
        return ()
    return tuple(measure.label for measure in scores.parsed if measure.declaration.aggregate == "geometric")


def means_over(values: Array, counts: Array | None = None) -> Array:
    """Means over topics, the last axis; with counts (draws, topics), a mean a draw: (draws, …)."""
    if counts is None:
        return plain_mean(values)
    known = ~np.isnan(values)
    if known.all():
        of_draws = counts.sum(axis=1).reshape(-1, *([1] * (values.ndim - 1)))
        return np.asarray(np.moveaxis(values @ counts.T, -1, 0) / of_draws)
    total = np.moveaxis(np.where(known, values, 0.0) @ counts.T, -1, 0)
    n = np.moveaxis(known.astype(np.float64) @ counts.T, -1, 0)
    return np.where(n > 0, total / np.maximum(n, 1.0), np.nan)


def mean_differences(values: Array) -> Array:
    """By how much each system is better than each other, in the mean over the topics that both have: (…, n, n)."""
    known = ~np.isnan(values)
    if known.all():
        means = plain_mean(values)
        return np.asarray(means[..., :, None] - means[..., None, :])
    x, k = np.where(known, values, 0.0), known.astype(np.float64)
    both = k @ np.swapaxes(k, -1, -2)
    total = x @ np.swapaxes(k, -1, -2)
    return np.asarray((total - np.swapaxes(total, -1, -2)) / np.maximum(both, 1.0))


def check_seed(seed: Any) -> int:
    """A seed: the same one, the same answer."""
    return whole(seed, "seed", 0, None)


def share(value: Any, name: str) -> float:
    """A number between 0 and 1, ends excluded."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.floating) or not 0.0 < value < 1.0:
        raise AmbleError(f"{name}={value!r}: expected a number between 0 and 1")
    return float(value)


def side_by_side(
    function: Callable[[Any], T],
    items: Sequence[Any] | Iterable[Any],
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[T]:
    """Call a function on every item, on several threads; the answers are in the items' order."""
    todo = list(items)
    workers = min(threads or os.cpu_count() or 1, 8, max(len(todo), 1))
    out: list[T] = []
    if workers < 2:
        for item in todo:
            out.append(function(item))
            if progress:
                progress(len(out), len(todo))
        return out
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(workers) as pool:
        for answer in pool.map(function, todo):
            out.append(answer)
            if progress:
                progress(len(out), len(todo))
    return out
