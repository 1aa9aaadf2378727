"""Where users look and stop on the lists of one run: means over its topics, by rank."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from amble.errors import AmbleError
from amble.evaluation.scores import Scores
from amble.measures import Measure
from amble.users.markov import MarkovUserOnList

__all__ = ["DEPTH", "attention"]

Array = NDArray[np.float64]

DEPTH = 100  # ranks shown
_SEEN = 0.01  # of the users get to a rank at least, where their probability of stopping is shown


def attention(scores: Scores, measure: Measure, run: str, depth: int = DEPTH) -> dict[str, Any]:
    """The weights W, the probability 1 - C of stopping once there, and the residual of a measure's user, by rank.

    A user comes with one of the run's topics, each as likely as another: W and the residual are means over topics; the
    probability of stopping is that of all who get to a rank, whatever their topic, if 1 % do. Who wanders has none.
    """
    name = measure.label
    if not measure.declaration.is_user:
        return {"measure": name, "why": f"{name} is no user"}
    i = scores.rankings.index(run)
    topics = [scores.topics[t] for t in scores.rankings.topic[scores.rankings.run == i].tolist()]
    weights, visits, stops = np.zeros((3, depth))
    deep: list[float] = []
    wanders, n, ends = False, 0, ""
    try:
        for topic in topics:
            user = scores.user(run, topic, measure)
            if not np.isfinite(user.weights).all():
                continue
            n += 1
            weights += _first(user.weights, depth)
            wanders = isinstance(user, MarkovUserOnList)
            if isinstance(user, MarkovUserOnList):
                ends = user.ends
            else:
                visits += _first(user.visits, depth)
                stops += _first(user.visits * user.halting, depth)
                deep.append(float(user.expected_depth))
    except AmbleError as why:
        return {"measure": name, "why": str(why)}
    if not n:
        return {"measure": name, "why": f"{run} has no list"}
    mean = weights / n
    known = visits >= _SEEN * n
    halting = np.divide(stops, visits, out=np.full(depth, np.nan), where=known)
    return {
        "measure": name,
        "weights": [round(x, 6) for x in mean.tolist()],
        "residual": [round(max(1.0 - x, 0.0), 6) for x in np.cumsum(mean).tolist()],
        "halting": None if wanders else [round(x, 6) if x == x else None for x in halting.tolist()],
        "depth": None if not deep else round(float(np.mean(deep)), 4),
        **({"ends": ends} if wanders else {}),
    }


def _first(values: Array, depth: int) -> Array:
    """The first values, and zeros where there are no more."""
    out = np.zeros(depth)
    kept = np.nan_to_num(np.asarray(values, np.float64)[:depth])
    out[: kept.size] = kept
    return out
