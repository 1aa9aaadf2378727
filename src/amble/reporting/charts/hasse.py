"""Hasse diagrams of systems under stochastic dominance: the best on top, lines to the next that each dominates.

Systems stand on their levels. Edges that pass levels go through a place on each of them, so that they do not run
through other systems; those of one system share their places. Places are put in order by the mean place of their
neighbours, up and down a few times, and then moved towards them as far as the others allow.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from amble.distributions.partial_order import PartialOrder
from amble.reporting.charts.chart import many, shown

__all__ = ["Place", "hasse_layout", "hasse_spec"]

_SWEEPS = 12
_LETTER, _CAPITAL = 6.0, 8.0  # pixels, about
_GAP = 12
_SHOWN = 3  # names of a class of equal systems, one below the other
_BESIDE, _LONGEST = 2, 24  # names on one line, and their letters


def _width(text: str) -> float:
    return sum(_CAPITAL if c.isupper() or not c.isascii() else _LETTER for c in text)


def _below(names: tuple[str, ...]) -> list[str]:
    """The names of a class, one below the other."""
    more = len(names) - _SHOWN
    return [*map(shown, names[:_SHOWN]), *([f"and {more} more"] if more > 0 else [])]


def _beside(names: tuple[str, ...]) -> list[str]:
    """The names of a class on one line, long ones cut short.

    >>> _beside(("one", "the second of three systems", "three"))
    ['one, the second of three sys… +1']
    """
    cut = [name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…" for name in map(shown, names[:_BESIDE])]
    more = len(names) - _BESIDE
    return [", ".join(cut) + (f" +{more}" if more > 0 else "")] if names else []


class Place:
    """The position of a class of equal systems, or of a bend of an edge."""

    def __init__(self, level: int, names: tuple[str, ...] = (), *, beside: bool = False) -> None:
        self.level = level
        self.names = names
        self.label = _beside(names) if beside else _below(names)
        self.half = max(map(_width, self.label), default=0) / 2 + _GAP / 2
        self.x = 0.0
        self.up: list[Place] = []
        self.down: list[Place] = []

    def pull(self, sides: Iterable[list[Place]]) -> float:
        """The mean position of its neighbours."""
        near = [other.x for side in sides for other in side]
        return sum(near) / len(near) if near else self.x


def _places(order: PartialOrder, beside: bool) -> list[list[Place]]:
    """The places of each level, each with those that it leads to."""
    level = {name: i for i, names in enumerate(order.levels) for name in names}
    of = {names: Place(level[names[0]], names, beside=beside) for names in order.classes}
    rows: list[list[Place]] = [[] for _ in order.levels]
    for place in of.values():
        rows[place.level].append(place)
    ways: dict[tuple[Place, int], Place] = {}  # of each system, on the levels that its edges pass
    for better, worse in order.edges:
        above = of[better]
        for i in range(above.level + 1, of[worse].level):
            below = ways.get((of[better], i))
            if below is None:
                below = ways[of[better], i] = Place(i)
                rows[i].append(below)
                above.down.append(below)
                below.up.append(above)
            above = below
        above.down.append(of[worse])
        of[worse].up.append(above)
    return rows


def _pack(row: list[Place]) -> None:
    """Put places side by side, around 0."""
    at = -sum(place.half for place in row)
    for place in row:
        place.x = at + place.half
        at += 2 * place.half


def _move(row: list[Place], wanted: list[float]) -> None:
    """Move places to where they are wanted as nearly as their order and widths allow (pooled neighbours)."""
    blocks: list[tuple[float, int]] = []  # the mean of what is wanted of the first place, and how many
    offset, offsets = 0.0, []
    for i, place in enumerate(row):
        offset += (row[i - 1].half + place.half) if i else 0.0
        offsets.append(offset)
        mean, count = wanted[i] - offset, 1
        while blocks and blocks[-1][0] > mean:
            other, more = blocks.pop()
            mean, count = (mean * count + other * more) / (count + more), count + more
        blocks.append((mean, count))
    starts = [mean for mean, count in blocks for _ in range(count)]
    for place, start, at in zip(row, starts, offsets, strict=True):
        place.x = start + at


def hasse_layout(order: PartialOrder, *, beside: bool = False) -> list[list[Place]]:
    """The places of each level, from the best on, laid out; names of a class one below the other, or on one line."""
    rows = _places(order, beside)
    for row in rows:
        _pack(row)
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        for row in rows if down else reversed(rows):
            row.sort(key=lambda place: place.pull([place.up if down else place.down]))
            _pack(row)
    for sweep in range(_SWEEPS):
        for row in rows if sweep % 2 == 0 else reversed(rows):
            _move(row, [place.pull([place.up, place.down]) for place in row])
    return rows


def hasse_spec(order: PartialOrder, *, title: str = "") -> dict[str, Any]:
    """A Hasse diagram: systems on their levels, the best on top, lines to the next ones that each dominates.

    Parameters
    ----------
    order : PartialOrder
        As `amble.order_systems` makes it.
    title : str

    Returns
    -------
    dict
        A Vega-Lite specification. Equal systems stand together; of more than three, three are named.
    """
    rows = hasse_layout(order)
    every = [place for row in rows for place in row]
    left, right = min(p.x - p.half for p in every), max(p.x + p.half for p in every)
    systems = [
        {"names": ", ".join(map(shown, p.names)), "label": p.label, "x": round(p.x, 2), "level": p.level}
        for p in every
        if p.names
    ]
    edges = [
        {"x": round(p.x, 2), "level": p.level, "x2": round(q.x, 2), "level2": q.level} for p in every for q in p.down
    ]
    x = {"field": "x", "type": "quantitative", "axis": None, "scale": {"domain": [left, right], "nice": False}}
    y = {
        "field": "level",
        "type": "quantitative",
        "title": "level",
        "scale": {"domain": [len(rows) - 0.6, -0.4], "nice": False, "zero": False},
        "axis": {"values": list(range(len(rows))), "format": "d", "grid": False, "domain": False, "ticks": False},
    }
    text = {"type": "text", "fontSize": 11, "lineHeight": 12, "baseline": "middle"}
    encoding = {"x": x, "y": y, "text": {"field": "label"}, "tooltip": {"field": "names", "type": "nominal"}}
    layers = [
        {
            "data": many(edges) if edges else {"values": []},
            "mark": {"type": "rule", "strokeWidth": 1, "color": "#9aa7b5", "strokeCap": "round"},
            "encoding": {"x": x, "y": y, "x2": {"field": "x2"}, "y2": {"field": "level2"}},
        },
        {
            "data": {"values": systems},
            "mark": text | {"stroke": "white", "strokeWidth": 5, "strokeJoin": "round"},
            "encoding": encoding,
        },
        {"data": {"values": systems}, "mark": text | {"color": "#123"}, "encoding": encoding},
    ]
    width = max(round(right - left), 200)
    return {
        **({"title": {"text": title, "anchor": "start", "offset": 12}} if title else {}),
        "width": width,
        "height": len(rows) * min(max(width // 12, 64), 180),
        "layer": layers if edges else layers[1:],
        "config": {"view": {"stroke": None}},
    }
