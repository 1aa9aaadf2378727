"""The page's data on dominance: CDFs of chosen systems under each user, orders 1 and 2, stochastic dominance."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from amble.distributions.distribution import Curve, Distribution
from amble.distributions.partial_order import PartialOrder, order_curves
from amble.errors import AmbleError, ClusterLostError, SimulationWarning
from amble.evaluation.run_distributions import orders_of, run_distributions
from amble.evaluation.scores import Scores
from amble.measures import Measure
from amble.reporting.charts.hasse import hasse_layout

__all__ = ["SIMULATED", "chosen_systems", "corners", "distributions_under", "dominance_data"]

SIMULATED = 10_000  # users on every topic, where there is no exact distribution
_CORNERS = 160  # of a line on the page


def chosen_systems(order: Sequence[int], baseline: int, most: int) -> list[int]:
    """The baseline and the best others, in the order of the leaderboard.

    >>> chosen_systems([3, 1, 0, 2], baseline=2, most=3)
    [3, 1, 2]
    """
    kept = {baseline, *[i for i in order if i != baseline][: most - 1]}
    return [i for i in order if i in kept]


def distributions_under(
    scores: Scores, measure: Measure, systems: Sequence[int], seed: int = 0, executor: Any = None
) -> dict[str, Distribution]:
    """The distributions of some systems over users and topics: exact, or of 10,000 simulated users per topic."""
    runs = [scores.runs[i] for i in systems]
    with warnings.catch_warnings():
        warnings.simplefilter("error", SimulationWarning)
        try:
            return run_distributions(scores.aligned, measure, runs=runs, executor=executor)
        except SimulationWarning:
            how: dict[str, Any] = {"runs": runs, "users": SIMULATED, "seed": seed, "executor": executor}
            return run_distributions(scores.aligned, measure, **how)


def corners(curve: Curve) -> tuple[list[float], list[float]]:
    """Scores and shares at the corners of a CDF: all atoms if they are few, else steps of 1/160 of the users."""
    share = curve.share[1:]
    keep = np.arange(share.size)
    if share.size > _CORNERS:
        step = np.floor(share * _CORNERS)
        step[-1] = np.inf  # the last is kept
        keep = np.flatnonzero(np.diff(step, prepend=-1.0))
    return [round(x, 6) for x in curve.x[keep].tolist()], [round(y, 6) for y in share[keep].tolist()]


def dominance_data(
    scores: Scores, measure: Measure, systems: Sequence[int], seed: int = 0, executor: Any = None
) -> dict[str, Any]:
    """CDFs, orders and dominance under one user, as the page needs them; or why there are none."""
    name = measure.label
    try:
        found = distributions_under(scores, measure, systems, seed, executor)
    except ClusterLostError:
        raise
    except AmbleError as why:  # no user, or ties without one rank
        return {"measure": name, "why": str(why)}
    users = max(distribution.users or 0 for distribution in found.values())
    runs = list(found)
    orders = orders_of(scores.aligned, measure, runs=runs, known=None if users else found)
    one = [
        float(x) if users and x == x else distribution.mean
        for distribution, x in zip(found.values(), orders[:, 0], strict=True)
    ]
    curves = {run: Curve(found.pop(run)) for run in runs}  # each in place of its distribution, as both may be large
    order = order_curves(curves)
    return {
        "measure": name,
        "systems": list(systems),
        "users": users,
        "band": round(max(curve.band for curve in curves.values()), 6),
        "lines": [corners(curve) for curve in curves.values()],
        "order1": [_number(x) for x in one],
        "order2": [_number(x) for x in orders[:, 1].tolist()],
        "verdicts": ["".join(_SIGNS[int(code)] for code in row) for row in order.matrix],
        "comparable": round(order.comparable, 6),
        "hasse": _diagram(order, dict(zip(runs, systems, strict=True))),
    }


_SIGNS = {1: ">", -1: "<", 0: "=", 2: "?"}


def _number(x: float) -> float | None:
    return round(x, 6) if x == x else None


def _diagram(order: PartialOrder, place: dict[str, int]) -> dict[str, Any]:
    """Nodes with their positions, and edges from node to node; nodes without systems are bends of edges."""
    every = [spot for row in hasse_layout(order, beside=True) for spot in row]
    number = {id(spot): k for k, spot in enumerate(every)}
    return {
        "nodes": [
            {
                "x": round(spot.x, 1),
                "half": round(spot.half, 1),
                "level": spot.level,
                "runs": [place[n] for n in spot.names],
                "label": "".join(spot.label),
            }
            for spot in every
        ],
        "edges": [[number[id(spot)], number[id(below)]] for spot in every for below in spot.down],
    }
