"""Dwell times fitted: exponential holding times at each rank (Ferrante, Ferro and Maistro, 2014).

The paper estimates the parameter by (n - 1) / n, divided by the mean time: (n - 1) / sum of t, which has no bias. It
takes the time from a click to the next. How long the last visit took is not in a log of clicks; in a chain in
continuous time, the holding time does not depend on the next rank, so leaving the last visits out makes no bias.

Where a log has durations, of fixations for example, they are the times, and those of last visits are known, too.

`censored` uses more: last visits that another query of the session ended, or its end, are counted; and a visit that
took longer than `longest` counts as one of which only that is known.
"""

from __future__ import annotations

import numpy as np

from amble.arrays import Array
from amble.logs.bootstrap import Resampled
from amble.logs.counts import Counts
from amble.users.fitted import FittedModel

__all__ = ["fit_times", "holding_rates"]


def holding_rates(visits: Array, seconds: Array) -> Array:
    """Rates of exponential holding times: (n - 1) / sum of t; NaN with fewer than two visits.

    With censored visits ``visits`` are those that ended, and ``seconds`` are those of all.

    Examples
    --------
    >>> import numpy as np
    >>> from amble.logs.dwell_times import holding_rates
    >>> holding_rates(np.array([3.0, 1.0]), np.array([10.0, 4.0]))
    array([0.2, nan])
    """
    visits, seconds = np.asarray(visits, np.float64), np.asarray(seconds, np.float64)
    good = (visits > 1) & (seconds > 0)
    return np.asarray(np.divide(visits - 1.0, seconds, out=np.full(good.shape, np.nan), where=good))


def fit_times(data: Resampled, *, censored: bool) -> FittedModel:
    """A model of the holding times by rank."""

    def rates(counts: Counts) -> Array:
        of = counts.dwell_censored if censored else counts.dwell
        return holding_rates(of[..., 0], of[..., 1])

    visits = (data.counts.dwell_censored if censored else data.counts.dwell)[..., 0]
    found = data.estimate(rates, visits, probability=False)
    if censored:
        name, seen = "times-censored", "all visits whose end is known from the session"
        note = f"(n - 1) / sum of t; beyond {data.counts.longest:g} s a visit is taken as not ended"
    else:
        name, seen, note = "times", "from a click to the next; the last visit is left out", "(n - 1) / sum of t"
    if data.counts.facts.dwell:
        seen = "durations of visits"
    return FittedModel(name, "times", {"mu": found}, seen, confidence=data.confidence, note=note)
