"""The bootstrap over sessions: confidence intervals of estimates, and the draws behind them.

Groups of sessions are drawn with replacement, as often as there are. Sessions are in groups at random, so the spread of
an estimate over such draws is that over draws of sessions; the clicks of a session stay together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import Any

import numpy as np

from amble import checks
from amble.arrays import Array, Ints
from amble.comparison.design import CONFIDENCE
from amble.errors import AmbleError
from amble.logs.counts import GROUPS, Counts
from amble.logs.privacy import disclosed
from amble.users.fitted import Estimate

__all__ = ["MOST_ROUNDS", "Resampled", "wilson"]

_MOST = GROUPS // 2
MOST_ROUNDS = 100_000  # a number for each group of sessions is kept of every round: 0.8 GB


@dataclass(frozen=True, eq=False)
class Resampled:
    """Counts, and the same on resampled sessions.

    Parameters
    ----------
    counts : Counts
    rounds : int
        How often sessions are resampled.
    kept : int
        How many draws an estimate keeps.
    confidence : float
        Of the intervals.
    smallest : int
        A number that fewer sessions are behind is suppressed.
    seed : int
    by : Resampled, optional
        Other counts that decide what is pooled: those of all sessions, where these are some of them.
    like : Resampled, optional
        Other counts whose resampled sessions these are, round by round: those of all groups, where these are of one.
    """

    counts: Counts
    rounds: int = 1000
    kept: int = 100
    confidence: float = CONFIDENCE
    smallest: int = 10
    seed: int = 0
    by: Resampled | None = None
    like: Resampled | None = None

    def __post_init__(self) -> None:
        checks.whole(self.rounds, "rounds", most=MOST_ROUNDS)
        checks.whole(self.kept, "kept", 0)
        # groups bound how many sessions are known to be behind a count
        checks.whole(self.smallest, "smallest", 0, _MOST)
        checks.seed(self.seed)
        checks.share(self.confidence, "confidence")

    @cached_property
    def whole(self) -> Counts:
        """Sums over all sessions."""
        return self.counts.whole()

    @cached_property
    def weights(self) -> Array:
        """How often each group was drawn, by round."""
        if self.like is not None:
            return self.like.weights
        there = self.counts.present
        rng = np.random.default_rng(self.seed)
        weights = np.zeros((self.rounds, len(self.counts.pages)))
        weights[:, there] = rng.multinomial(there.size, np.full(there.size, 1.0 / there.size), size=self.rounds)
        return weights

    @cached_property
    def draws(self) -> Counts:
        """Sums over resampled sessions; the sums themselves where others decide what is pooled: only values count."""
        return self.whole if self.by is not None else self.counts.weighted(self.weights)

    def _both(self, function: Callable[[Counts], Array]) -> tuple[Array, Array]:
        """What a function makes of all sessions, and of resampled ones."""
        value = function(self.whole)
        return value, value if self.draws is self.whole else function(self.draws)

    def estimate(
        self,
        function: Callable[[Counts], Array],
        behind: Array,
        *,
        grades: tuple[float, ...] | None = None,
        first: Ints | None = None,
        probability: bool = True,
        drawn: bool = True,
    ) -> Estimate:
        """An estimate with its confidence interval and draws.

        Parameters
        ----------
        function : callable
            From counts, with an axis in front, to numbers, with the same axis in front.
        behind : (groups, …) array
            The observations behind each number, by group.
        grades : tuple of float, optional
            If the numbers are by grade.
        first : array of int, optional
            For each number, the first of those it is pooled with.
        probability : bool
            Whether it is a probability, for the interval where all draws are the same.
        drawn : bool
            Whether it keeps its draws.
        """
        (value,), draws = self._both(function)
        seen = disclosed(behind, self.smallest)
        gone = (seen < max(self.smallest, 1)) | np.isnan(value)
        if gone.all():
            raise AmbleError(f"fewer than {max(self.smallest, 1)} sessions are behind it")
        value, draws = np.where(gone, np.nan, value), np.where(gone, np.nan, draws)
        tail = (1.0 - self.confidence) / 2.0
        with np.errstate(all="ignore"):
            filled = np.where(np.isnan(draws), value, draws)
            low, high = np.quantile(filled, [tail, 1.0 - tail], axis=0)
        if probability:
            flat = (high - low <= 1e-12) & ~gone
            wide = wilson(value, np.maximum(seen, 1), self.confidence)
            low, high = np.where(flat, wide[0], low), np.where(flat, wide[1], high)
        # what was estimated lies in its interval, also where draws lean to one side
        low, high = np.minimum(low, value), np.maximum(high, value)
        some = draws[: self.kept] if self.kept and drawn else None
        if some is not None:  # a resample may have nothing to estimate it from
            some = np.where(np.isnan(some), value, some)
        places = np.arange(gone.size).reshape(gone.shape)
        shared = None if first is None or (first == places)[~gone].all() else np.where(gone, places, first) + 1
        return Estimate(value, low, high, np.where(gone, -1, seen), draws=some, grades=grades, pooled=shared)

    def joint(
        self, names: Sequence[str], function: Callable[[Counts], Array], behind: Array, **more: Any
    ) -> dict[str, Estimate]:
        """Estimates of several parameters, which are the last axis of what a function returns: it is called once.

        Parameters
        ----------
        names : sequence of str
            Of the parameters; s of a walk, which follows from p and q, keeps no draws.
        function, behind, **more
            As for `estimate`.
        """
        found = dict(zip((id(self.whole), id(self.draws)), self._both(function), strict=True))

        def part(i: int) -> Callable[[Counts], Array]:
            return lambda counts: np.asarray(found[id(counts)][..., i])

        walk = tuple(names) == ("p", "q", "s")
        return {
            name: self.estimate(part(i), behind, drawn=not (walk and name == "s"), **more)
            for i, name in enumerate(names)
        }


def wilson(share: Array, n: Array, confidence: float) -> tuple[Array, Array]:
    """Wilson's score interval of a share, which has a width also where it is 0 or 1."""
    z = NormalDist().inv_cdf(0.5 + confidence / 2.0)
    middle = (share + z * z / (2.0 * n)) / (1.0 + z * z / n)
    half = z / (1.0 + z * z / n) * np.sqrt(share * (1.0 - share) / n + z * z / (4.0 * n * n))
    return np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0)


def design_effect(shares: Array, draws: Array, n: Array) -> Array:
    """Design effect of rows of shares: their variance over draws, divided by that of independent observations."""
    plain = (shares * (1.0 - shares)).sum(axis=-1) / np.maximum(n, 1.0)
    seen = np.nanvar(draws, axis=0).sum(axis=-1)
    ratio = np.divide(seen, plain, out=np.ones_like(seen), where=plain > 0)
    return np.asarray(np.clip(np.where(np.isfinite(ratio), ratio, 1.0), 1.0, math.inf))
