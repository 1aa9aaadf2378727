"""Charts of scores: means with confidence intervals, runs by topics, differences, gain and cost, intents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from amble.comparison.comparison import Comparison
from amble.comparison.group_differences import GroupDifferences
from amble.errors import AmbleError
from amble.evaluation.exposure_scores import Exposure
from amble.evaluation.fitted_intervals import FittedIntervals
from amble.evaluation.scores import Scores
from amble.measures import Measure
from amble.reporting.charts.chart import label_limit, many, shown
from amble.reporting.charts.distribution_charts import COLOURS
from amble.reporting.leaderboard import Leaderboard
from amble.table import Table

__all__ = [
    "best_first", "cwl_spec", "difference_spec", "dots_spec", "fitted_spec", "group_spec", "heat_spec", "intents_spec",
    "means_spec", "pairs_spec", "place_of", "row_axis", "run_of", "titled",
]  # fmt: skip

_PAIRS = 200  # in one chart


def place_of(scores: Scores, measure: str | Measure | None) -> int:
    """The place of a measure among those evaluated; without one, the first."""
    return 0 if measure is None else scores.place(measure)


def run_of(scores: Scores, run: str) -> int:
    """The place of a run."""
    try:
        return int(scores.rankings.index(run))
    except KeyError:
        raise AmbleError(f"run {run!r} is not among {', '.join(scores.runs[:5])}") from None


def best_first(scores: Scores, j: int) -> list[int]:
    """The places of the runs, the best by the mean of the j-th measure first."""
    merit = np.nan_to_num(scores.parsed[j].sign * scores.means()[:, j], nan=-np.inf)
    return list(map(int, np.argsort(-merit, kind="stable")))


def row_axis(names: list[str]) -> dict[str, Any]:
    """A row for each of these names, from the top."""
    # a domain, since Vega-Lite makes an expression of "sort", in which not every name can stand
    axis = {"labelLimit": label_limit(names, 220)}
    return {"field": "run", "type": "nominal", "scale": {"domain": names}, "title": None, "axis": axis}


def _topic_axis(topics: list[str], unit: str) -> dict[str, Any]:
    axis = {"labels": len(topics) <= 60, "labelLimit": label_limit(topics, 180), "ticks": False, "title": unit}
    return {"field": "topic", "type": "nominal", "scale": {"domain": topics}, "axis": axis}


def titled(field: str, title: str) -> dict[str, Any]:
    """A field with the title of its axis; the field's own goes into expressions, in which not every name can stand."""
    return {"type": "quantitative", "title": field, "axis": {"title": title, "labelFlush": False}}


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
    j = place_of(scores, measure)
    letters = board.letters(j)
    rows: list[dict[str, Any]] = []
    for i in board.order(j):
        at, half = float(board.means[i, j]), float(np.nan_to_num(board.half[i, j]))
        if at == at:
            bar = {"low": at - half, "high": at + half}
            rows.append({"run": shown(scores.runs[i]), "mean": at, **bar, "letters": letters[i]})
    if not rows:
        raise AmbleError(f"no run has a mean of {scores.measures[j]}")
    return dots_spec(rows, f"{scores.measures[j]}, {100 * (1 - board.design.alpha):g} % confidence intervals")


def dots_spec(rows: Sequence[Mapping[str, Any]], title: str) -> dict[str, Any]:
    """A dot with its interval for each row of run (or another name), mean, low, high, and letters behind some."""
    x: dict[str, Any] = titled("mean", title) | {"scale": {"zero": False}}
    ends = {"x": {"field": "low", **x}, "x2": {"field": "high"}}
    text = {"x": {"field": "high", **x}, "text": {"field": "letters", "type": "nominal"}}
    dot = {"type": "point", "filled": True, "size": 40, "color": "#0b6b61"}
    layers = [
        {"mark": {"type": "rule", "strokeWidth": 2, "color": "#7fb8af"}, "encoding": ends},
        {"mark": dot, "encoding": {"x": {"field": "mean", **x}}},
    ]
    if any(row.get("letters") for row in rows):
        beside = {"type": "text", "align": "left", "dx": 6, "fontSize": 10, "color": "#566461"}
        layers.append({"mark": beside, "encoding": text})
    y = row_axis([str(row["run"]) for row in rows])
    return {"data": many(rows), "width": 420, "height": {"step": 16}, "encoding": {"y": y}, "layer": layers}


def fitted_spec(found: FittedIntervals, measure: str | Measure | None = None) -> dict[str, Any]:
    """The means of runs under one fitted user, the best on top, with their confidence intervals.

    Parameters
    ----------
    found : FittedIntervals
    measure : str or Measure, optional
        By default the first.

    Returns
    -------
    dict
        A Vega-Lite specification.
    """
    label = found.measures[0] if measure is None else getattr(measure, "label", measure)
    if label not in found.measures:
        raise AmbleError(f"{label} is not among {', '.join(found.measures[:5])}")
    j = found.measures.index(label)
    rows = [
        {"run": shown(found.runs[i]), "mean": mean, "low": low, "high": high}
        for i in np.argsort(-found.means[:, j], kind="stable").tolist()
        for mean, low, high in [(float(x[i, j]) for x in (found.means, found.low, found.high))]
    ]
    return dots_spec(rows, f"{label}, {100 * found.confidence:g} % confidence intervals of the fitted user")


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
    j = place_of(scores, measure)
    values = scores.values[:, :, j]
    known = ~np.isnan(values)
    filled = np.where(known, values, 0.0)
    sign, by_run = scores.parsed[j].sign, best_first(scores, j)
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
    y = row_axis([shown(scores.runs[i]) for i in by_run])
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
    j = place_of(scores, measure)
    a, b = run_of(scores, run), run_of(scores, baseline)
    d, sign = scores.values[a, :, j] - scores.values[b, :, j], scores.parsed[j].sign
    order = [t for t in np.argsort(-sign * d, kind="stable").tolist() if d[t] == d[t]]
    if not order:
        raise AmbleError(f"{run} and {baseline} have no {scores.item} in common")
    rows: list[dict[str, Any]] = [{"topic": shown(scores.topics[t]), "difference": float(d[t])} for t in order]
    title = f"{scores.measures[j]}: {shown(scores.runs[a])} − {shown(scores.runs[b])}"
    x = _topic_axis([str(row["topic"]) for row in rows], scores.item)
    worse = "datum.difference < 0" if sign > 0 else "datum.difference > 0"
    colour = {"condition": {"test": worse, "value": "#c4570a"}, "value": "#1f6fb2"}
    y = {"field": "difference", **titled("difference", title), "stack": None}  # which fails over some names
    return {
        "data": many(rows),
        "width": 620,
        "height": 220,
        "mark": "bar",
        "encoding": {"x": x, "y": y, "color": colour},
    }


def pairs_spec(found: Comparison | GroupDifferences) -> dict[str, Any]:
    """The difference of each pair of runs with its confidence interval; significant differences stand out.

    Parameters
    ----------
    found : Comparison or GroupDifferences
        As `amble.compare` makes it; of up to 200 pairs. Of groups of topics, by how much the differences of two runs
        differ between two groups.

    Returns
    -------
    dict
        A Vega-Lite specification.
    """
    if isinstance(found, Comparison):
        base = found.design.baselines[0] if len(found.design.baselines) == 1 else None
        names = [a if base is not None else f"{a} − {b}" for a, b in found.pairs]
        title = f"{found.measure}: difference" + (f" − {shown(base)}" if base is not None else "")
        merit = found.sign * found.difference
    else:
        each = zip(found.pairs, found.groups, strict=True)
        names = [f"{a} − {b}: {one} − {other}" for (a, b), (one, other) in each]
        title, merit = f"{found.measure}: difference between groups", found.difference
    if len(names) > _PAIRS:
        raise AmbleError(f"{len(names):,} pairs on one chart, expected up to {_PAIRS}; compare with a baseline")
    rows: list[dict[str, Any]] = [
        {
            "run": shown(names[k]),
            "difference": float(found.difference[k]),
            "low": float(found.low[k]),
            "high": float(found.high[k]),
            "significant": "yes" if found.significant[k] else "no",
        }
        for k in np.argsort(-merit, kind="stable").tolist()
    ]
    x = titled("difference", title)
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
        layer["encoding"] |= {"y": row_axis([row["run"] for row in rows]), "color": colour}
    return {"data": many(rows), "width": 420, "height": {"step": 16}, "layer": layers}


def cwl_spec(table: Table) -> dict[str, Any]:
    """The expected total gain of runs against the expected total cost.

    Parameters
    ----------
    table : Table
        From `amble.cwl`; the means over topics are drawn. A colour for each of up to twelve runs, and a shape for each
        measure; of more runs, a colour for each measure.

    Returns
    -------
    dict
        A Vega-Lite specification.
    """
    over = None if None in table["topic"] else "all"
    at = [table.columns.index(name) for name in ("run", "measure", "ETC", "ETU")]
    of_means = (row for row in table if row[1] == over)
    rows = [dict(zip(("run", "measure", "cost", "gain"), (row[i] for i in at), strict=True)) for row in of_means]
    rows = [row | {"run": shown(str(row["run"]))} for row in rows]
    legend = {"title": None, "orient": "bottom", "labelLimit": 0, "columns": 4}
    names = {key: list(dict.fromkeys(str(row[key]) for row in rows)) for key in ("run", "measure")}
    few = len(names["run"]) <= len(COLOURS)
    encoding: dict[str, Any] = {"tooltip": [{"field": field} for field in ("run", "measure")]}
    for channel, field in {"color": "run", "shape": "measure"}.items() if few else [("color", "measure")]:
        scale = {"domain": names[field]} | ({"range": list(COLOURS[: len(names["run"])])} if field == "run" else {})
        encoding[channel] = {"field": field, "type": "nominal", "scale": scale, "legend": legend}
    for axis, field, title in (("x", "cost", "expected total cost, ETC"), ("y", "gain", "expected total gain, ETU")):
        encoding[axis] = titled(field, title) | {"field": field, "scale": {"zero": False}}
    mark = {"type": "point", "filled": True, "size": 60, "opacity": 0.9}
    return {"data": many(rows), "width": 420, "height": 320, "mark": mark, "encoding": encoding}


def intents_spec(table: Table) -> dict[str, Any]:
    """What people who mean different things get: the score, the worst intent and the share served, by run.

    Parameters
    ----------
    table : Table
        From `amble.by_intent`, without ``topics``; a panel for each measure.

    Returns
    -------
    dict
        A Vega-Lite specification.
    """
    kinds = {"worst": "the worst served intent", "score": "all", "served": "share of people served"}
    colours = {"domain": list(kinds.values()), "range": ["#c4570a", "#0b6b61", "#9aa7a4"]}
    legend = {"title": None, "orient": "bottom", "labelLimit": 0}
    panels = []
    for measure in dict.fromkeys(table["measure"]):
        mine = [dict(zip(table.columns, row, strict=True)) for row in table if row[1] == measure]
        mine.sort(key=lambda row: -float(row["score"] or 0.0))
        rows = [
            {"run": shown(str(row["run"])), "value": row[key], "of": said, "worst": row["worst"], "score": row["score"]}
            for row in mine
            for key, said in kinds.items()
            if row[key] == row[key]
        ]
        if not rows:
            continue
        x = titled("value", str(measure)) | {"scale": {"zero": True}}
        colour = {"field": "of", "type": "nominal", "scale": colours, "legend": legend}
        panels.append(
            {
                "data": many(rows),
                "width": 260,
                "height": {"step": 16},
                "encoding": {"y": row_axis(list(dict.fromkeys(str(row["run"]) for row in rows)))},
                "layer": [
                    {
                        "mark": {"type": "rule", "color": "#c9d3d1", "strokeWidth": 2},
                        "encoding": {"x": {"field": "worst", **x}, "x2": {"field": "score"}},
                    },
                    {
                        "mark": {"type": "point", "filled": True, "size": 45, "opacity": 1},
                        "encoding": {"x": {"field": "value", **x}, "color": colour},
                    },
                ],
            }
        )
    if not panels:
        raise AmbleError("no run has a score by intent")
    return {"hconcat": panels}


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
        "y": row_axis([*(shown(run) for run in found.runs), target]),
        "x": {"field": "share", **titled("share", title), "scale": {"domain": [0, 1]}},
        "color": {"field": "group", "type": "nominal", "scale": {"domain": groups}, "legend": {"orient": "bottom"}},
        "order": {"field": "place", "type": "quantitative"},
    }
    kept = [row for row in rows if row["share"] == row["share"]]
    if not kept:
        raise AmbleError("no group has a share in the exposure, so there is no chart of shares")
    return {"data": many(kept), "width": 420, "height": {"step": 18}, "mark": "bar", "encoding": encoding}
