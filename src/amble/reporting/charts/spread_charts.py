"""Charts of how scores spread over topics: box plots, histograms, and normal Q-Q plots of differences."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np

from amble.arrays import Array
from amble.comparison.normal_differences import Normality
from amble.errors import AmbleError
from amble.evaluation.scores import Scores
from amble.measures import Measure
from amble.reporting.charts.chart import many, shown
from amble.reporting.charts.score_charts import best_first, place_of, row_axis, run_of, titled

__all__ = ["box_spec", "histogram_spec", "normality_spec"]

_REACH = 1.5  # times the distance of the quartiles: how far whiskers go (Tukey)
_BINS = 20
_PANELS = 12  # of histograms
_INK, _LIGHT, _ODD = "#0b6b61", "#7fb8af", "#c4570a"


def box_spec(scores: Scores, measure: str | Measure | None = None) -> dict[str, Any]:
    """The scores of each run over topics as a box, the best run on top.

    A box goes from the first quartile to the third (interpolated linearly between scores), with a line at the median
    and a diamond at the mean; whiskers go to the farthest scores within 1.5 times its length; scores beyond are points.

    Parameters
    ----------
    scores : Scores
    measure : str or Measure, optional
        By default the first.

    Returns
    -------
    dict
        A Vega-Lite specification.
    """
    j = place_of(scores, measure)
    boxes: list[dict[str, Any]] = []
    beyond: list[dict[str, Any]] = []
    for i in best_first(scores, j):
        known = np.flatnonzero(~np.isnan(scores.values[i, :, j]))
        x, name = scores.values[i, known, j], shown(scores.runs[i])
        if not x.size:
            continue
        q1, median, q3 = np.quantile(x, (0.25, 0.5, 0.75)).tolist()
        inside = (x >= q1 - _REACH * (q3 - q1)) & (x <= q3 + _REACH * (q3 - q1))
        box = {"q1": q1, "median": median, "q3": q3, "low": float(x[inside].min()), "high": float(x[inside].max())}
        boxes.append({"run": name, **box, "mean": float(x.mean())})
        beyond += [
            {"run": name, "topic": shown(scores.topics[t]), "score": float(scores.values[i, t, j])}
            for t in known[~inside].tolist()
        ]
    if not boxes:
        raise AmbleError(f"no run has a score of {scores.measures[j]}")
    x_axis = titled("score", f"{scores.measures[j]} by {scores.item}") | {"scale": {"zero": False}}

    def at(*fields: str) -> dict[str, Any]:
        return {
            axis: {"field": field, **(x_axis if axis == "x" else {})}
            for axis, field in zip(("x", "x2"), fields, strict=False)
        }

    layers: list[dict[str, Any]] = [
        {"mark": {"type": "rule", "color": _INK}, "encoding": at("low", "high")},
        {"mark": {"type": "bar", "color": _LIGHT, "size": 11}, "encoding": at("q1", "q3")},
        {"mark": {"type": "tick", "color": _INK, "thickness": 2, "size": 11}, "encoding": at("median")},
        {
            "mark": {"type": "point", "shape": "diamond", "size": 30, "filled": True, "color": "white", "stroke": _INK},
            "encoding": at("mean"),
        },
    ]
    if beyond:
        dot = {"type": "point", "size": 18, "color": _ODD, "opacity": 0.9}
        tooltip = [{"field": field} for field in ("run", "topic", "score")]
        layers.append({"data": many(beyond), "mark": dot, "encoding": at("score") | {"tooltip": tooltip}})
    y = row_axis([row["run"] for row in boxes])
    return {"data": many(boxes), "width": 420, "height": {"step": 18}, "encoding": {"y": y}, "layer": layers}


def _edges(x: Array) -> Array:
    """The edges of twenty bins: from 0 to 1 where all scores are there, else from the least to the greatest."""
    least, most = float(x.min()), float(x.max())
    if least >= 0 and most <= 1:
        return np.arange(_BINS + 1) / _BINS
    return np.linspace(least, most if most > least else least + 1.0, _BINS + 1)


def histogram_spec(scores: Scores, measure: str | Measure | None = None, run: str | None = None) -> dict[str, Any]:
    """How many topics have scores within each of twenty bins, a panel for each run, the best on top.

    A score on an edge is in the bin above it, and the greatest in the last.

    Parameters
    ----------
    scores : Scores
        Of up to twelve runs.
    measure : str or Measure, optional
        By default the first.
    run : str, optional
        Only this run.

    Returns
    -------
    dict
        A Vega-Lite specification.
    """
    j = place_of(scores, measure)
    chosen = best_first(scores, j) if run is None else [run_of(scores, run)]
    of = {i: x[~np.isnan(x)] for i in chosen for x in [scores.values[i, :, j]]}
    of = {i: x for i, x in of.items() if x.size}
    if not of:
        raise AmbleError(f"no run has a score of {scores.measures[j]}")
    if len(of) > _PANELS:
        raise AmbleError(f"histograms of {len(of)} runs on one chart, expected up to {_PANELS}; name one: run=")
    edges = _edges(np.concatenate(list(of.values())))
    counts = {i: np.histogram(x, edges)[0].tolist() for i, x in of.items()}
    most = max(max(count) for count in counts.values())
    panels = []
    for i, count in counts.items():
        rows = [
            {"low": low, "high": high, "topics": n}
            for low, high, n in zip(edges[:-1].tolist(), edges[1:].tolist(), count, strict=True)
        ]
        last = i == list(counts)[-1]
        scale = {"domain": [float(edges[0]), float(edges[-1])], "nice": False}
        axis = {"title": f"{scores.measures[j]} by {scores.item}" if last else None, "labels": last}
        x = {"field": "low", "bin": "binned", "type": "quantitative", "title": "score", "scale": scale, "axis": axis}
        y = titled("topics", f"{scores.item}s") | {"field": "topics", "scale": {"domain": [0, most]}, "stack": None}
        y["axis"] |= {"tickMinStep": 1, "tickCount": 3}
        panels.append(
            {
                "title": {"text": shown(scores.runs[i]), "anchor": "start", "fontSize": 11},
                "data": many(rows),
                "width": 420,
                "height": 60 if len(counts) > 1 else 200,
                "mark": {"type": "bar", "color": _LIGHT, "binSpacing": 1},
                "encoding": {"x": x, "x2": {"field": "high"}, "y": y},
            }
        )
    return {"vconcat": panels, "spacing": 8}


def normality_spec(found: Normality) -> dict[str, Any]:
    """A normal Q-Q plot of the differences of two runs: points near the line where the differences are normal.

    Parameters
    ----------
    found : Normality
        As `amble.comparison.normality` makes it.

    Returns
    -------
    dict
        A Vega-Lite specification; the caption has Shapiro-Wilk's W and p.
    """
    rows = [
        {"topic": shown(topic), "quantile": q, "difference": d}
        for topic, q, d in zip(found.topics, found.quantiles.tolist(), found.differences.tolist(), strict=True)
    ]
    ends = [float(found.quantiles[0]), float(found.quantiles[-1])]
    line = [{"quantile": q, "difference": found.intercept + found.slope * q} for q in ends]
    x = {"field": "quantile", "type": "quantitative", "title": "quantiles of the normal distribution"}
    y = {"field": "difference", "type": "quantitative", "title": "difference", "scale": {"zero": False}}
    first, test = found.caption.rsplit("; ", 1)
    tooltip = [{"field": field} for field in ("topic", "difference")]
    return {
        "title": {
            "text": shown(first),
            "subtitle": [test, *textwrap.wrap(found.meaning, 70)],  # lines are cut where the chart ends
            "subtitleColor": "#566461",
            "anchor": "start",
            "offset": 12,
        },
        "width": 420,
        "height": 320,
        "encoding": {"x": x, "y": y},
        "layer": [
            {"data": {"values": line}, "mark": {"type": "line", "color": "#9aa7a4", "strokeDash": [4, 3]}},
            {
                "data": many(rows),
                "mark": {"type": "point", "filled": True, "size": 36, "color": "#1f6fb2", "opacity": 0.8},
                "encoding": {"tooltip": tooltip},
            },
        ],
    }
