"""Charts of distributions as CDFs: the share of users whose score is at most x, with orders 1 and 2 of each run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

import numpy as np

from amble.arrays import NDArray
from amble.distributions.distribution import Distribution
from amble.errors import AmbleError
from amble.reporting.charts.chart import many, shown

__all__ = ["COLOURS", "distribution_spec", "steps"]

COLOURS = (
    "#2f6db5", "#d1373f", "#2c8f4e", "#e58a00", "#7a4fa8", "#00909e",
    "#9a5b2a", "#d957a8", "#7d8a00", "#55606e", "#12304f", "#c2a300",
)  # fmt: skip
ORDERS = {"order 1": [6, 3], "order 2": [1.5, 2.5]}  # and the dashes of their lines

_POINTS = 2000  # of a line

T = TypeVar("T")


def steps(distribution: Distribution, least: float, most: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The corners of a CDF from ``least`` to ``most``: where it steps, and the share from there on.

    Of distributions with many atoms about 2,000 are kept, so that the line is never off by more than 1/2,000 of the
    users.
    """
    share = distribution.cdf(distribution.values)
    keep = np.unique(np.append(np.unique(np.floor(share * _POINTS), return_index=True)[1], share.size - 1))
    x, y = distribution.values[keep], share[keep]
    return np.concatenate(([least], x, [most])), np.concatenate(([0.0], y, [1.0]))


def distribution_spec(
    distributions: Mapping[str, Distribution],
    order1: Mapping[str, float] | None = None,
    order2: Mapping[str, float] | None = None,
    *,
    title: str = "",
) -> dict[str, Any]:
    """A chart of distributions as CDFs: the share of users whose score is at most x.

    Parameters
    ----------
    distributions : mapping of str to Distribution
        Up to twelve, by run.
    order1, order2 : mapping of str to float, optional
        The scores of the runs: vertical lines in the runs' colours, dashed for order 1 and dotted for order 2.
    title : str

    Returns
    -------
    dict
        A Vega-Lite specification: one line per run; of simulated distributions with the CDF's 95 % confidence band.
    """
    if not 1 <= len(distributions) <= len(COLOURS):
        raise AmbleError(f"{len(distributions)} distributions on one chart, expected 1 to {len(COLOURS)}")
    distributions, one, two = _shown(distributions), _shown(order1 or {}), _shown(order2 or {})
    least = min(0.0, *(float(distribution.values[0]) for distribution in distributions.values()))
    most = max(1.0, *(float(distribution.values[-1]) for distribution in distributions.values()))
    margin = 0.02 * (most - least)
    least, most = least - margin, most + margin
    legend = {"title": None, "orient": "bottom", "labelLimit": 0, "columns": 4, "symbolType": "stroke"}
    colour = {
        "field": "run",
        "type": "nominal",
        "scale": {"domain": list(distributions), "range": list(COLOURS[: len(distributions)])},
        "legend": legend | {"symbolSize": 300, "symbolStrokeWidth": 2.5, "symbolOpacity": 1},
    }
    x = {
        "field": "score",
        "type": "quantitative",
        "title": "score",
        "scale": {"domain": [least, most], "nice": False, "zero": False},
        "axis": {"tickCount": 10, "grid": False},
    }
    y = {
        "field": "share",
        "type": "quantitative",
        "title": "share of users whose score is at most x",
        "scale": {"domain": [0, 1]},
        "axis": {"tickCount": 10, "format": ".1f"},
    }
    width = {"field": "width", "type": "quantitative", "scale": None}
    data = many([row for name in distributions for row in _rows(name, distributions, least, most)])
    lines = {
        "data": data,
        "mark": {"type": "line", "interpolate": "step-after", "opacity": 0.9},
        "encoding": {"x": x, "y": y, "color": colour, "strokeWidth": width},
    }
    layers: list[dict[str, Any]] = [lines]
    if any(distribution.band > 0 for distribution in distributions.values()):
        ends = {"y": y | {"field": "low"}, "y2": {"field": "high"}}
        band = {"type": "area", "interpolate": "step-after", "opacity": 0.15}
        layers.insert(0, {"data": data, "mark": band, "encoding": {"x": x, **ends, "color": colour}})
    marks = list(_marks(distributions, one, two))
    if marks:
        drawn = [order for order in ORDERS if any(row["order"] == order for row in marks)]
        dash = {
            "field": "order",
            "type": "nominal",
            "scale": {"domain": drawn, "range": [ORDERS[order] for order in drawn]},
            "legend": legend | {"symbolSize": 400, "symbolStrokeWidth": 1.5, "symbolStrokeColor": "#444"},
        }
        encoding = {"x": x, "color": colour, "strokeDash": dash, "strokeWidth": width}
        layers.append({"data": {"values": marks}, "mark": {"type": "rule", "clip": True}, "encoding": encoding})
    return {
        **({"title": {"text": title, "anchor": "start", "offset": 12}} if title else {}),
        "width": 420,
        "height": 280,
        "layer": layers,
        "resolve": {"legend": {"strokeDash": "independent"}},
    }


def _shown(of: Mapping[str, T]) -> dict[str, T]:
    return {shown(name): value for name, value in of.items()}


def _rows(name: str, distributions: Mapping[str, Distribution], least: float, most: float) -> Iterator[dict[str, Any]]:
    """The corners of one line. One that a later line covers is wider, so that both are seen."""
    distribution = distributions[name]
    later = list(distributions)[list(distributions).index(name) + 1 :]
    width = 4.0 if any(distribution.distance(distributions[other]) < 1 / _POINTS for other in later) else 1.8
    for x, share in zip(*(part.tolist() for part in steps(distribution, least, most)), strict=True):
        yield {
            "run": name,
            "score": round(x, 9),
            "share": round(share, 9),
            "low": round(max(share - distribution.band, 0.0), 9),
            "high": round(min(share + distribution.band, 1.0), 9),
            "width": width,
        }


def _marks(
    distributions: Mapping[str, Distribution], order1: Mapping[str, float], order2: Mapping[str, float]
) -> Iterator[dict[str, Any]]:
    """The orders of each run; one that a later line covers is wider."""
    found = [
        (name, order, float(of[name]))
        for name in distributions
        for order, of in zip(ORDERS, (order1, order2), strict=True)
        if name in of and np.isfinite(of[name])
    ]
    for i, (name, order, x) in enumerate(found):
        covered = any(other != name and abs(x - value) < 1e-9 for other, _, value in found[i + 1 :])
        yield {"run": name, "order": order, "score": round(x, 9), "width": 3.5 if covered else 1.5}
