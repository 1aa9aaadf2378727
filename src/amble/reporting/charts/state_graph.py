"""State graphs of users: ranks in a row, an arc for each move with its probability, and the stop below."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from amble.arrays import NDArray
from amble.reporting.charts.chart import many, shown, user_spec
from amble.reporting.charts.distribution_charts import COLOURS
from amble.users.protocol import OnList

__all__ = ["state_graph_spec", "user_and_graph_spec"]

_FORWARD, _BACK, _STOP = *COLOURS[:2], "#6b7684"
_WIDTH = 900  # of the graph, in pixels
_NODE = 0.22  # the radius of a rank, of which 1 is the way to the next
_POINTS = 25  # of an arc; odd, so that one is the middle
_NEGLIGIBLE = 5e-4  # a probability that would be shown as 0
_MOST_LABELS = 40


def _arc(i: int, j: int) -> NDArray[np.float64]:
    """The points of an arc from rank i to rank j: above if it leads forward, below if back, a loop if nowhere."""
    if i == j:
        turn = np.linspace(-0.25, 1.25, _POINTS) * math.pi
        return np.column_stack((i - 0.14 * np.cos(turn), _NODE + 0.1 + 0.14 * np.sin(turn)))
    t = np.linspace(0.0, 1.0, _POINTS)[:, None]
    up = 0.5 * (j - i)  # so that no arc runs through the label of a shorter one
    lean = math.copysign(0.6 * _NODE, j - i)
    rim = math.copysign(0.8 * _NODE, up)
    ends = np.array([[i + lean, rim], [j - 1.2 * lean, 1.2 * rim]])
    bend = np.array([(i + j) / 2, 1.5 * up])
    return np.asarray((1 - t) ** 2 * ends[0] + 2 * t * (1 - t) * bend + t**2 * ends[1])


def state_graph_spec(
    matrix: NDArray[np.float64], states: Sequence[int], *, title: str = "", end: str = "stop"
) -> dict[str, Any]:
    """The state graph of a transition matrix as a Vega-Lite specification; what a row lacks to 1 comes to an end.

    Without an ``end``, there is none.
    """
    n = matrix.shape[0]
    arcs = [(i + 1, j + 1, float(matrix[i, j])) for i, j in np.argwhere(matrix > _NEGLIGIBLE).tolist()]
    drawn = [(_arc(i, j), p, _FORWARD if j >= i else _BACK) for i, j, p in arcs]
    low = min([-_NODE, *(float(points[:, 1].min()) for points, _, _ in drawn)])
    bottom = low - (0.45 if end else 0.0)
    for i in range(n) if end else ():
        p = 1.0 - float(matrix[i].sum())
        if p > _NEGLIGIBLE:
            down = np.array([[i + 1, -_NODE], [i + 1, bottom + 0.14]])
            drawn.append((down, p, _STOP))
    top = max([_NODE, *(float(points[:, 1].max()) for points, _, _ in drawn)]) + 0.2
    unit = min(_WIDTH / (n + 0.2), 130.0)
    lines, heads, labels = [], [], []
    for k, (points, p, ink) in enumerate(drawn):
        style = {"arc": k, "colour": ink, "width": 0.8 + 2.2 * p}
        lines += [{"x": round(x, 4), "y": round(y, 4), "at": t} | style for t, (x, y) in enumerate(points.tolist())]
        (x0, y0), (x, y) = points[-2].tolist(), points[-1].tolist()
        heads.append({"x": x, "y": y, "angle": round(math.degrees(math.atan2(x - x0, y - y0)), 1), "colour": ink})
        middle = points[_POINTS // 2] if len(points) > 2 else points[1] + (0.0, 0.16)  # below the arcs
        labels.append(
            {"x": float(middle[0]), "y": float(middle[1]), "text": f"{p:.3g}".replace("0.", "."), "colour": ink}
        )
    x = {"field": "x", "type": "quantitative", "axis": None, "scale": {"domain": [0.4, n + 0.6], "nice": False}}
    y = {"field": "y", "type": "quantitative", "axis": None, "scale": {"domain": [bottom - 0.2, top], "nice": False}}
    colour = {"field": "colour", "type": "nominal", "scale": None}
    width = {"field": "width", "type": "quantitative", "scale": None}
    angle = {"field": "angle", "type": "quantitative", "scale": None}
    at = {"x": x, "y": y}
    text = {"type": "text", "fontSize": 11, "baseline": "middle"}
    halo = {"stroke": "white", "strokeWidth": 4, "strokeJoin": "round"}
    ranks = {"values": [{"x": i, "y": 0, "text": str(rank)} for i, rank in enumerate(states, 1)]}
    few = len(labels) <= _MOST_LABELS
    of_labels = {**at, "text": {"field": "text"}}
    layers: list[dict[str, Any]] = [
        {
            "data": many(lines) if lines else {"values": []},
            "mark": {"type": "line", "opacity": 0.85},
            "encoding": {
                **at,
                "color": colour,
                "detail": {"field": "arc"},
                "order": {"field": "at"},
                "strokeWidth": width,
            },
        },
        {
            "data": {"values": heads},
            "mark": {"type": "point", "shape": "triangle", "size": 40, "filled": True, "opacity": 1},
            "encoding": {**at, "color": colour, "angle": angle},
        },
        {
            "data": ranks,
            "mark": {
                "type": "point",
                "size": math.pi * (_NODE * unit) ** 2,
                "fill": "white",
                "stroke": "#123",
                "opacity": 1,
            },
            "encoding": at,
        },
        {"data": ranks, "mark": text | {"color": "#123", "fontWeight": "bold"}, "encoding": of_labels},
    ]
    if end:
        bar = {"values": [{"x": 0.5, "x2": n + 0.5, "y": bottom}]}
        layers.insert(
            0,
            {
                "data": bar,
                "mark": {"type": "rule", "strokeWidth": 16, "color": "#e4e8ed", "strokeCap": "round"},
                "encoding": {**at, "x2": {"field": "x2"}},
            },
        )
        word = {"values": [{"x": (n + 1) / 2, "y": bottom, "text": end}]}
        layers.append({"data": word, "mark": text | {"color": _STOP}, "encoding": of_labels})
    if few and labels:
        said = {"values": labels}
        layers += [
            {"data": said, "mark": text | halo, "encoding": of_labels},
            {"data": said, "mark": text, "encoding": {**of_labels, "color": colour}},
        ]
    return {
        **({"title": {"text": shown(title), "anchor": "start", "offset": 4}} if title else {}),
        "width": round(unit * (n + 0.2)),
        "height": round(unit * (top - bottom + 0.2)),
        "view": {"stroke": None},
        "layer": layers,
    }


def user_and_graph_spec(users: Mapping[str, OnList], depth: int, graphs: Mapping[str, OnList]) -> dict[str, Any]:
    """Weight, halting and residual of users by rank, as `user_spec` has them, and below the state graphs of some.

    Parameters
    ----------
    users : dict
        ``{name: behaviour}``; see `Measure.user`.
    depth : int
        The last rank shown in the panels.
    graphs : dict
        Users whose states are drawn: an arc for each move, above if it leads forward, below if back.

    Returns
    -------
    dict
        A Vega-Lite specification.
    """
    panels = user_spec(users, depth)
    drawn = [
        state_graph_spec(
            user.transition_matrix, user.states, title=f"moves of {name}", end=user.end if user.stops else ""
        )
        for name, user in graphs.items()
    ]
    apart = {"legend": {"color": "independent"}, "scale": {"color": "independent"}}
    return {"vconcat": [panels, *drawn], "resolve": apart} if drawn else panels
