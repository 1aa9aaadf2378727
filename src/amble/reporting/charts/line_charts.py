"""Charts of measures or fitted users as lines with confidence bands, and of matrices as squares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from amble.arrays import NDArray
from amble.reporting.charts.chart import many
from amble.table import Table

__all__ = ["Panel", "fit_spec", "lines_spec", "square_spec"]


class Panel(NamedTuple):
    """One plot of a row of plots: its title, the column drawn and, where there is a band, the columns of its ends."""

    title: str
    y: str
    low: str = ""
    high: str = ""
    rows: tuple[str, Any] | None = None  # only rows where this column has this value


_FIT_PANELS = (
    Panel("share of visits W", "value", "low", "high", ("panel", "W")),
    Panel("last rank L", "value", "low", "high", ("panel", "L")),
    Panel("probability of going on C", "value", "low", "high", ("panel", "C")),
)


def lines_spec(
    table: Table, x: str, panels: Sequence[Panel], *, title: str = "", reverse: bool = False
) -> dict[str, Any]:
    """One line per measure against a column of numbers, with its band, as a Vega-Lite specification."""
    names = list(dict.fromkeys(table["measure"]))
    rows = [dict(zip(table.columns, row, strict=True)) for row in table]
    legend = {
        "title": None,
        "orient": "bottom",
        "labelLimit": 0,
        "symbolType": "stroke",
        "symbolOpacity": 1,
        "symbolSize": 300,
        "columns": 5,
    }
    out = []
    for panel in panels:
        drawn: list[dict[str, Any]] = []
        for row in rows:
            if panel.rows is not None and row[panel.rows[0]] != panel.rows[1]:
                continue
            point: dict[str, Any] = {"measure": row["measure"], "x": row[x], "y": row[panel.y]}
            if panel.low:
                point |= {"low": row[panel.low], "high": row[panel.high]}
            drawn.append(point)
        if not drawn:
            continue
        across: dict[str, Any] = {"field": "x", "type": "quantitative", "title": title or x}
        across |= {"scale": {"zero": False, "reverse": reverse}, "axis": {"labelFlush": False}}
        color = {"field": "measure", "type": "nominal", "scale": {"domain": names}, "legend": legend}
        up: dict[str, Any] = {"type": "quantitative", "title": None, "scale": {"zero": False}}
        layers: list[dict[str, Any]] = []
        if panel.low:
            ends = {"y": {"field": "low", **up}, "y2": {"field": "high"}}
            layers.append({"mark": {"type": "area", "opacity": 0.15}, "encoding": ends})
        line = {"type": "line", "strokeWidth": 1.5, "point": {"size": 16} if len(drawn) < 50 * len(names) else False}
        layers.append({"mark": line, "encoding": {"y": {"field": "y", **up}}})
        out.append(
            {
                "title": panel.title,
                "width": 300,
                "height": 220,
                "data": many(drawn),
                "encoding": {"x": across, "color": color},
                "layer": layers,
            }
        )
    return {"hconcat": out}


def square_spec(names: Sequence[str], values: NDArray[np.float64], title: str) -> dict[str, Any]:
    """A measure by measure matrix as coloured squares with their numbers, as a Vega-Lite specification."""
    points = [
        {"one": one, "other": other, "value": float(values[i, j])}
        for i, one in enumerate(names)
        for j, other in enumerate(names)
        if values[i, j] == values[i, j]
    ]
    axis = {"type": "nominal", "scale": {"domain": list(names)}, "title": None, "axis": {"labelLimit": 0}}
    axes: dict[str, Any] = {"x": {"field": "other", **axis}, "y": {"field": "one", **axis}}
    known = values[~np.isnan(values)]
    middle = float(known.min() + known.max()) / 2.0 if known.size else 0.0
    dark = {"condition": {"test": f"datum.value > {middle!r}", "value": "white"}, "value": "black"}
    color = {"field": "value", "type": "quantitative", "scale": {"scheme": "teals"}, "legend": None}
    text = {"field": "value", "type": "quantitative", "format": ".3f"}
    return {
        "title": title,
        "width": {"step": 44},
        "height": {"step": 26},
        "data": {"values": points},
        "encoding": axes,
        "layer": [
            {"mark": "rect", "encoding": {"color": color}},
            {"mark": {"type": "text", "fontSize": 10}, "encoding": {"text": text, "color": dark}},
        ],
    }


def fit_spec(table: Table) -> dict[str, Any]:
    """W, L and C by rank, observed with confidence intervals and implied by each model, as a Vega-Lite specification.

    Parameters
    ----------
    table : Table
        From `amble.logs.Fit.implied`.
    """
    return lines_spec(table, "rank", _FIT_PANELS)
