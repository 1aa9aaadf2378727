"""The distribution of a score over users who walk down and stop."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from amble.distributions.distribution import Distribution
from amble.users.forward import Behaviour

__all__ = ["distribution_of_stops"]

Array = NDArray[np.float64]


def distribution_of_stops(behaviour: Behaviour, gain: Array, question: str, scale: float) -> Distribution:
    """Distribution of the score over users, from the rank where each stops, the gains met before, and the question."""
    rank = np.arange(1, gain.size + 1, dtype=np.float64)
    t = np.cumsum(gain)
    values = {"order1": t / rank, "order2": t / rank, "total": t, "satisfied": 1.0 / rank}[question]
    probs, left = behaviour.last, behaviour.beyond
    if left > 0 and behaviour.tail is not None:  # she reads on, and gains nothing more
        beyond, stops = behaviour.tail.stops(left, gain.size)
        values = np.concatenate((values, t[-1] / beyond if question != "total" else np.full(stops.size, t[-1])))
        probs = np.concatenate((probs, stops))
        left = max(0.0, 1.0 - float(probs.sum()))
    if left > 0:  # she leaves with nothing
        values, probs = np.append(values, 0.0), np.append(probs, left)
    return Distribution(values / scale if scale > 0 else np.zeros(values.size), probs)
