"""Charts of scores: means with confidence intervals, runs by topics, differences, contributions in a session."""

from __future__ import annotations

from typing import Any

import numpy as np

from amble.comparison.comparison import Comparison
from amble.comparison.session_contributions import SessionContributions
from amble.errors import AmbleError
from amble.evaluation.exposure_scores import Exposure
from amble.evaluation.scores import Scores
from amble.measures import Measure
from amble.reporting.charts.chart import label_limit, many, shown
from amble.reporting.leaderboard import Leaderboard

__all__ = ["difference_spec", "group_spec", "heat_spec", "means_spec", "pairs_spec", "session_spec"]

_PAIRS = 200  # in one chart
_CELLS = 400  # with their numbers written in them


def _place(scores: Scores, measure: str | Measure | None) -> int:
    return 0 if measure is None else scores.place(measure)


def _run(scores: Scores, run: str) -> int:
    try:
        return int(scores.rankings.index(run))
    except KeyError:
        raise AmbleError(f"run {run!r} is not among {', '.join(scores.runs[:5])}") from None


def _row_axis(names: list[str]) -> dict[str, Any]:
    # a domain, since Vega-Lite makes an expression of "sort", in which not every name can stand
    axis = {"labelLimit": label_limit(names, 220)}
    return {"field": "run", "type": "nominal", "scale": {"domain": names}, "title": None, "axis": axis}


def _topic_axis(topics: list[str], unit: str) -> dict[str, Any]:
    axis = {"labels": len(topics) <= 60, "labelLimit": label_limit(topics, 180), "ticks": False, "title": unit}
    return {"field": "topic", "type": "nominal", "scale": {"domain": topics}, "axis": axis}


def _titled(field: str, title: str) -> dict[str, Any]:
    """A field with the title of its axis; the field's own goes into expressions, in which not every name can stand."""
    return {"type": "quantitative", "title": field, "axis": {"title": title}}


def means_spec(board: Leaderboard, measure: str | Measure | None = None) -> dict[str, Any]:
    """The means of runs by one measure, the best on top, with their confidence intervals and letters.

    Parameters
    ----------
    board : Leaderboard
    measure : str or Measure, optional
        By default the first.

    Returns
    -------
    dict
        A Vega-Lite specification.
    """
    scores = board.scores
    j = _place(scores, measure)
    letters = board.letters(j)
    rows: list[dict[str, Any]] = []
    for i in board.order(j):
        at, half = float(board.means[i, j]), float(np.nan_to_num(board.half[i, j]))
        if at == at:
            bar = {"low": at - half, "high": at + half}
            rows.append({"run": shown(scores.runs[i]), "mean": at, **bar, "letters": letters[i]})
    if not rows:
        raise AmbleError(f"no run has a mean of {scores.measures[j]}")
    title = f"{scores.measures[j]}, {100 * (1 - board.design.alpha):g} % confidence intervals"
    x: dict[str, Any] = _titled("mean", title) | {"scale": {"zero": False}}
    ends = {"x": {"field": "low", **x}, "x2": {"field": "high"}}
    text = {"x": {"field": "high", **x}, "text": {"field": "letters", "type": "nominal"}}
    dot = {"type": "point", "filled": True, "size": 40, "color": "#0b6b61"}
    layers = [
        {"mark": {"type": "rule", "strokeWidth": 2, "color": "#7fb8af"}, "encoding": ends},
        {"mark": dot, "encoding": {"x": {"field": "mean", **x}}},
        {"mark": {"type": "text", "align": "left", "dx": 6, "fontSize": 10, "color": "#566461"}, "encoding": text},
    ]
    y = _row_axis([row["run"] for row in rows])
    return {"data": many(rows), "width": 420, "height": {"step": 16}, "encoding": {"y": y}, "layer": layers}


def heat_spec(scores: Scores, measure: str | Measure | None = None) -> dict[str, Any]:
    """Runs by topics as coloured cells: the best run on top, the easiest topic on the left.

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
    j = _place(scores, measure)
    values = scores.values[:, :, j]
    known = ~np.isnan(values)
    filled = np.where(known, values, 0.0)
    sign = scores.parsed[j].sign
    by_run = np.argsort(-np.nan_to_num(sign * scores.means()[:, j], nan=-np.inf), kind="stable").tolist()
    by_topic = np.argsort(-sign * filled.sum(axis=0) / np.maximum(known.sum(axis=0), 1), kind="stable").tolist()
    rows: list[dict[str, Any]] = [
        {"run": shown(scores.runs[i]), "topic": shown(scores.topics[t]), "score": float(values[i, t])}
        for i in by_run
        for t in by_topic
        if known[i, t]
    ]
    if not rows:
        raise AmbleError(f"no run has a score of {scores.measures[j]}")
    topics = [shown(scores.topics[t]) for t in by_topic]
    x = _topic_axis(topics, scores.item)
    color = {"field": "score", "type": "quantitative", "scale": {"scheme": "teals"}}
    color["legend"] = {"title": scores.measures[j]}
    y = _row_axis([shown(scores.runs[i]) for i in by_run])
    step = 14 if len(by_run) <= 40 else 9
    y["axis"] |= {"labelFontSize": 10 if step > 10 else 8}
    return {
        "data": many(rows),
        "width": 620,
        "height": {"step": step},
        "mark": "rect",
        "encoding": {"x": x, "y": y, "color": color},
    }


def difference_spec(scores: Scores, run: str, baseline: str, measure: str | Measure | None = None) -> dict[str, Any]:
    """The run minus the baseline by topic, a bar each, sorted.

    Parameters
    ----------
    scores : Scores
    run, baseline : str
    measure : str or Measure, optional
        By default the first.

    Returns
    -------
    dict
        A Vega-Lite specification.
    """
    j = _place(scores, measure)
    a, b = _run(scores, run), _run(scores, baseline)
    d, sign = scores.values[a, :, j] - scores.values[b, :, j], scores.parsed[j].sign
    order = [t for t in np.argsort(-sign * d, kind="stable").tolist() if d[t] == d[t]]
    if not order:
        raise AmbleError(f"{run} and {baseline} have no {scores.item} in common")
    rows: list[dict[str, Any]] = [{"topic": shown(scores.topics[t]), "difference": float(d[t])} for t in order]
    title = f"{scores.measures[j]}: {shown(scores.runs[a])} − {shown(scores.runs[b])}"
    x = _topic_axis([str(row["topic"]) for row in rows], scores.item)
    worse = "datum.difference < 0" if sign > 0 else "datum.difference > 0"
    colour = {"condition": {"test": worse, "value": "#c4570a"}, "value": "#1f6fb2"}
    y = {"field": "difference", **_titled("difference", title), "stack": None}  # which fails over some names
    return {
        "data": many(rows),
        "width": 620,
        "height": 220,
        "mark": "bar",
        "encoding": {"x": x, "y": y, "color": colour},
    }


def pairs_spec(found: Comparison) -> dict[str, Any]:
    """The difference of each pair of runs with its confidence interval; significant differences stand out.

    Parameters
    ----------
    found : Comparison
        As `amble.compare` makes it; of up to 200 pairs.

    Returns
    -------
    dict
        A Vega-Lite specification.
    """
    if len(found) > _PAIRS:
        raise AmbleError(f"{len(found):,} pairs on one chart, expected up to {_PAIRS}; compare with a baseline")
    base = found.design.baselines[0] if len(found.design.baselines) == 1 else None
    rows: list[dict[str, Any]] = []
    for k in np.argsort(-found.sign * found.difference, kind="stable").tolist():
        a, b = found.pairs[k]
        rows.append(
            {
                "run": shown(a if base is not None else f"{a} − {b}"),
                "difference": float(found.difference[k]),
                "low": float(found.low[k]),
                "high": float(found.high[k]),
                "significant": "yes" if found.significant[k] else "no",
            }
        )
    minus = f" − {shown(base)}" if base is not None else ""
    x = _titled("difference", f"{found.measure}: difference{minus}")
    colour = {
        "field": "significant",
        "type": "nominal",
        "scale": {"domain": ["yes", "no"], "range": ["#0b6b61", "#9aa7a4"]},
        "legend": {"title": "significant", "orient": "bottom"},
    }
    layers: list[dict[str, Any]] = [
        {"mark": {"type": "rule", "color": "#566461", "strokeDash": [3, 3]}, "encoding": {"x": {"datum": 0}}},
        {"mark": {"type": "rule", "strokeWidth": 2}, "encoding": {"x": {"field": "low", **x}, "x2": {"field": "high"}}},
        {"mark": {"type": "point", "filled": True, "size": 40}, "encoding": {"x": {"field": "difference", **x}}},
    ]
    for layer in layers[1:]:
        layer["encoding"] |= {"y": _row_axis([row["run"] for row in rows]), "color": colour}
    return {"data": many(rows), "width": 420, "height": {"step": 16}, "layer": layers}


def group_spec(found: Exposure) -> dict[str, Any]:
    """The shares of groups of documents in the exposure by each run, means over topics, above the target shares.

    Parameters
    ----------
    found : Exposure
        As `amble.exposure` makes it, with groups.

    Returns
    -------
    dict
        A Vega-Lite specification.
    """
    if not found.groups:
        raise AmbleError("no groups, so no chart of their exposure; expected groups of documents")
    table, groups = found.by_group(), [shown(group) for group in found.groups]
    target = "target" if "target" not in found.runs else "(target)"
    rows: list[dict[str, Any]] = [
        {"run": shown(str(run)), "group": shown(str(group)), "place": groups.index(shown(str(group))), "share": share}
        for run, group, share in zip(table["run"], table["group"], table["share"], strict=True)
    ]
    goal = table["target"][: len(groups)]  # the same for all runs
    rows += [
        {"run": target, "group": g, "place": i, "share": x} for i, (g, x) in enumerate(zip(groups, goal, strict=True))
    ]
    title = f"share of the exposure to {found.measure.label}'s user"
    encoding = {
        "y": _row_axis([*(shown(run) for run in found.runs), target]),
        "x": {"field": "share", **_titled("share", title), "scale": {"domain": [0, 1]}},
        "color": {"field": "group", "type": "nominal", "scale": {"domain": groups}, "legend": {"orient": "bottom"}},
        "order": {"field": "place", "type": "quantitative"},
    }
    kept = [row for row in rows if row["share"] == row["share"]]
    if not kept:
        raise AmbleError("no group has a share in the exposure, so there is no chart of shares")
    return {"data": many(kept), "width": 420, "height": {"step": 18}, "mark": "bar", "encoding": encoding}


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
