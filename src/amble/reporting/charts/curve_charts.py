"""Charts of precision-recall curves: saw-tooth, interpolated and at levels of recall, of one topic or as means."""

from __future__ import annotations

from typing import Any

from amble.errors import AmbleError
from amble.evaluation.curves import levels_of_recall
from amble.reporting.charts.chart import many, shown
from amble.reporting.charts.distribution_charts import COLOURS
from amble.table import Table

__all__ = ["curve_spec"]

Point = tuple[float, float]


def curve_spec(table: Table, title: str = "") -> dict[str, Any]:
    """Precision against recall, a colour for each of up to twelve runs.

    Parameters
    ----------
    table : Table
        From `amble.pr_curve`. Of one topic: precision at every rank, which is a saw-tooth, dotted; interpolated
        precision as steps; and interpolated precision at the levels of recall, as points. Otherwise: the means over
        topics at the levels of recall.
    title : str

    Returns
    -------
    dict
        A Vega-Lite specification.
    """
    several, facts = table.columns[0] == "run", table.facts
    by_run: dict[str, list[tuple[Any, ...]]] = {name: [] for name in facts.get("retrieved", ())}
    for row in table:
        name = str(row[0]) if several else next(iter(by_run), "run")
        by_run.setdefault(name, []).append(row[several:])
    if not 1 <= len(by_run) <= len(COLOURS):
        raise AmbleError(f"curves of {len(by_run)} runs on one chart, expected 1 to {len(COLOURS)}")
    names = [shown(name) for name in by_run]
    legend = {"title": None, "orient": "bottom", "labelLimit": 0, "columns": 4, "symbolType": "stroke"}
    colour = {
        "field": "run",
        "type": "nominal",
        "scale": {"domain": names, "range": list(COLOURS[: len(names)])},
        "legend": legend | {"symbolSize": 300, "symbolStrokeWidth": 2.5} if several else None,
    }
    encoding: dict[str, Any] = {"color": colour}
    for axis, field in (("x", "recall"), ("y", "precision")):
        encoding[axis] = {
            "field": field,
            "type": "quantitative",
            "scale": {"domain": [0, 1]},
            "axis": {"tickCount": 10, "labelFlush": False},
        }
    point = {"type": "point", "filled": True, "size": 36, "opacity": 1, "clip": False}
    thick = {"type": "line", "strokeWidth": 2}
    layers: list[dict[str, Any]]
    if "rank" in table.columns:
        forms = [
            _forms(rows, facts["relevant"], facts["retrieved"][run], facts["levels"]) for run, rows in by_run.items()
        ]
        each, steps, points = (
            [
                {"run": name, "recall": r, "precision": x, "place": i}
                for name, form in zip(names, forms, strict=True)
                for i, (r, x) in enumerate(form[k])
            ]
            for k in range(3)
        )
        encoding["order"] = {"field": "place", "type": "quantitative"}
        saw = {"type": "line", "strokeWidth": 1, "strokeDash": [2, 2]}
        layers = [
            *([{"data": many(each), "mark": saw}] if each else []),
            {"data": many(steps), "mark": thick | {"interpolate": "step-before"}},
            {"data": many(points), "mark": point},
        ]
        heading = title or f"topic {facts['topic']}, {facts['relevant']} relevant documents"
        below = f"dotted: at every rank; line: interpolated; points: interpolated at {facts['levels']} levels"
    else:
        drawn = [
            {"run": name, "recall": r, "precision": x}
            for name, rows in zip(names, by_run.values(), strict=True)
            for r, x in rows
        ]
        layers = [{"data": many(drawn), "mark": thick}, {"data": many(drawn), "mark": point}]
        heading, below = title, f"interpolated precision, mean over {facts['topics']} topics"
    text = {"text": shown(heading) or below, "anchor": "start", "offset": 12}
    return {
        "title": text | ({"subtitle": below, "subtitleColor": "#566461"} if heading else {}),
        "width": 420,
        "height": 320,
        "encoding": encoding,
        "layer": layers,
    }


def _forms(rows: list[tuple[Any, ...]], relevant: int, retrieved: int, levels: int) -> tuple[list[Point], ...]:
    """Recall and precision of the corners of the saw-tooth, of the steps, and at the levels of recall.

    From one relevant document to the next, precision falls with every rank while recall stays.
    """
    hits = [row for before, row in zip([(0, 0.0), *rows], rows, strict=False) if row[1] > before[1]]
    each = [(0.0, 0.0)] if retrieved and (not hits or hits[0][0] > 1) else []
    for found, (rank, recall, precision, _) in enumerate(hits, 1):
        last = hits[found][0] - 1 if found < len(hits) else retrieved
        each += [(recall, precision), *([(recall, found / last)] if last > rank else [])]
    best = [row[3] for row in hits]
    steps = [(0.0, best[0] if best else 0.0), *((row[1], row[3]) for row in hits)]
    steps += [(1.0, 0.0)] if len(best) < relevant or not best else []
    points = []
    for k, recall in enumerate(levels_of_recall(levels)):
        needed = max(-(-k * relevant // (levels - 1)), 1)  # so many that recall is at least this
        points.append((recall, best[needed - 1] if needed <= len(best) else 0.0))
    return each, steps, points
