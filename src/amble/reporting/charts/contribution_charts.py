"""Charts of contributions: of documents to scores of lists and of sessions, of terms to the score of a document."""

from __future__ import annotations

from typing import Any

import numpy as np

from amble.comparison.contributions import Contributions
from amble.comparison.session_contributions import SessionContributions
from amble.errors import AmbleError
from amble.reporting.charts.chart import many, shown
from amble.reporting.charts.distribution_charts import COLOURS
from amble.reporting.charts.score_charts import row_axis, titled
from amble.table import Table

__all__ = ["contributions_spec", "session_spec", "terms_spec"]

_CELLS = 400  # with their numbers written in them
_DOCS = 40  # that are drawn


def contributions_spec(found: Contributions) -> dict[str, Any]:
    """What each document adds to the scores of runs on a topic, as dots; a line from the least to the greatest.

    Parameters
    ----------
    found : Contributions
        As `amble.why` makes it, of up to twelve runs; the first 40 documents are drawn.

    Returns
    -------
    dict
        A Vega-Lite specification.
    """
    if not 1 <= len(found.runs) <= len(COLOURS):
        raise AmbleError(f"contributions to {len(found.runs)} runs on one chart, expected 1 to {len(COLOURS)}")
    if not found.docs:
        raise AmbleError(f"no document adds to {found.measure} on topic {found.topic}")
    rows = [
        {"run": shown(doc), "of": shown(name), "value": value}
        for doc, values in zip(found.docs[:_DOCS], found.values.tolist(), strict=False)
        for name, value in zip(found.runs, values, strict=True)
    ]
    names = [shown(name) for name in found.runs]
    legend = {"title": None, "orient": "bottom", "labelLimit": 0, "columns": 4}
    colour = {"field": "of", "type": "nominal", "scale": {"domain": names, "range": list(COLOURS[: len(names)])}}
    x = titled("value", shown(f"{found.measure} on topic {found.topic}: what each document adds"))
    ends = {"x": {"field": "value", **x, "aggregate": "min"}, "x2": {"field": "value", "aggregate": "max"}}
    dot = {"type": "point", "filled": True, "size": 45, "opacity": 0.9}
    return {
        "data": many(rows),
        "width": 420,
        "height": {"step": 16},
        "encoding": {"y": row_axis([shown(doc) for doc in found.docs[:_DOCS]])},
        "layer": [
            {"mark": {"type": "rule", "color": "#c9d3d1", "strokeWidth": 2}, "encoding": ends},
            {"mark": dot, "encoding": {"x": {"field": "value", **x}, "color": colour | {"legend": legend}}},
        ],
    }


def terms_spec(table: Table) -> dict[str, Any]:
    """What each term brings to the score of a document, a bar each, the longest on top.

    Parameters
    ----------
    table : Table
        From `amble.explain`.

    Returns
    -------
    dict
        A Vega-Lite specification.
    """
    known = [(str(t), float(x)) for t, x in zip(table["term"], table["product"], strict=True) if x is not None]
    if not known:
        raise AmbleError("no term brings anything")
    rows = [{"run": shown(term), "product": x} for term, x in sorted(known, key=lambda one: -one[1])]
    title = shown(f"{table.facts['scorer']} of document {table.facts['doc']}: what each term brings")
    x = {"field": "product", **titled("product", title), "stack": None}
    encoding = {"x": x, "y": row_axis([str(row["run"]) for row in rows])}
    return {
        "data": many(rows),
        "width": 420,
        "height": {"step": 16},
        "mark": {"type": "bar", "color": "#0b6b61"},
        "encoding": encoding,
    }


def session_spec(found: SessionContributions) -> dict[str, Any]:
    """Ranks by queries as coloured cells: what the document there adds to the score of its session.

    Parameters
    ----------
    found : SessionContributions
        As `amble.why` makes it of sessions: a panel per run and, of two runs, one of their difference.

    Returns
    -------
    dict
        A Vega-Lite specification.
    """
    names, cells = found.cells()
    panels: list[dict[str, Any]] = []
    most = max((float(np.nanmax(np.abs(x), initial=0.0)) for x in cells), default=0.0)
    for name, matrix in zip(names, cells, strict=True):
        rows = [
            {"query": j + 1, "rank": i + 1, "value": float(matrix[i, j])} for i, j in np.argwhere(~np.isnan(matrix))
        ]
        if not rows:
            continue
        minus = name not in found.runs or bool((matrix < 0).any())
        scale = {"scheme": "blueorange" if minus else "teals", "domain": [-most if minus else 0.0, most]}
        axes: dict[str, Any] = {
            axis: {
                "field": field,
                "type": "ordinal",
                "scale": {"domain": list(range(1, matrix.shape[1 - k] + 1))},
                "axis": {"labelAngle": 0, "title": field},
            }
            for k, (axis, field) in enumerate((("x", "query"), ("y", "rank")))
        }
        colour = {"field": "value", "type": "quantitative", "scale": scale, "legend": {"title": None}}
        layers: list[dict[str, Any]] = [{"mark": "rect", "encoding": {"color": colour}}]
        if len(rows) <= _CELLS:
            dark = {"condition": {"test": f"abs(datum.value) > {0.6 * most!r}", "value": "white"}, "value": "black"}
            text = {"field": "value", "type": "quantitative", "format": ".3f"}
            text_layer = {"mark": {"type": "text", "fontSize": 9}, "encoding": {"text": text, "color": dark}}
            layers.append(text_layer | {"transform": [{"filter": "datum.value != 0"}]})
        size = {"width": {"step": 44}, "height": {"step": 16}}
        panels.append({"title": shown(name), "data": many(rows), **size, "encoding": axes, "layer": layers})
    if not panels:
        raise AmbleError(f"session {found.session} shows no document")
    title = f"{found.measure} on session {found.session}: what each document adds"
    return {"title": shown(title), "hconcat": panels, "resolve": {"scale": {"color": "independent"}}}
