"""Charts of users, and what all charts share: Vega-Lite specifications, saved as SVG, PNG, PDF or HTML.

No display and no network is needed: vl-convert draws them. `altair_chart` makes the object that users go on with.
"""

from __future__ import annotations

import csv
import importlib
import io
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from amble.errors import AmbleError
from amble.io.files import check_outputs, whole_file
from amble.io.html import page
from amble.users.protocol import OnList

__all__ = [
    "ENDINGS",
    "Line",
    "altair_chart",
    "check_file",
    "label_limit",
    "many",
    "save",
    "shown",
    "user_lines_spec",
    "user_spec",
]

_LEAST = 0.0001  # shown on a logarithmic axis
_DRAWN = {".svg": "svg", ".png": "png", ".pdf": "pdf", ".html": "svg"}
ENDINGS = tuple(_DRAWN)
_VIEW = {"continuousWidth": 300, "continuousHeight": 300}  # of a chart that names no size, as altair has it
_STYLE = "body { margin: 1rem; } svg { max-width: 100%; height: auto; }"
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")  # vl-convert ends the process over these


def altair_chart(spec: dict[str, Any]) -> Any:
    """A specification as an object of altair, which is an extra and checks every part of it, for a second or two."""
    try:
        return importlib.import_module("altair").Chart.from_dict(spec)
    except ImportError:
        raise AmbleError("charts need the extra: pip install 'amble-ir[report]'") from None


def shown(name: str) -> str:
    r"""A name as charts can show it: bytes that are no UTF-8, and what XML cannot hold, are spelled out.

    >>> print(shown("a\x00b"))
    a\x00b
    """
    text = name.encode("utf-8", "backslashreplace").decode()
    return _NO_XML.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def label_limit(names: Iterable[str], limit: int) -> int:
    """The most pixels a label may take; 0, for no limit, if cutting it could cut a character in two.

    Vega cuts between the halves of characters beyond U+FFFF, such as emoji, and vl-convert then gives up.
    """
    return 0 if any(c > "\uffff" for name in names for c in name) else limit


def many(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Rows as the data of a specification: one CSV text, since altair would check anything else value by value."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    parse = {key: "string" if isinstance(value, str) else "number" for key, value in rows[0].items()}
    return {"values": text.getvalue(), "format": {"type": "csv", "parse": parse}}


class Line(NamedTuple):
    """A line of a chart: a measure's user on a list."""

    measure: str
    list: str
    user: Any  # OnList, with more that depends on whether it stops


def user_lines_spec(lines: Iterable[Line], depth: int) -> dict[str, Any]:
    """Weight, halting and residual of users against the rank, as a Vega-Lite specification.

    Both axes are logarithmic, so that powers of the rank are straight lines. A value of 0 is not drawn, and lines leave
    the panel at 0.0001.
    """
    drawn = list(lines)
    names, lists = (list(dict.fromkeys(one[i] for one in drawn)) for i in (0, 1))
    legend = {"title": None, "orient": "bottom", "labelLimit": 0, "symbolType": "stroke", "symbolSize": 300}
    encoding = {
        "x": {
            "field": "rank",
            "type": "quantitative",
            "scale": {"type": "log", "domain": [1, max(depth, 2)]},
            "axis": {"values": [k for e in range(6) for k in (10**e, 2 * 10**e, 5 * 10**e) if k <= depth]},
        },
        "y": {
            "field": "value",
            "type": "quantitative",
            "title": None,
            "scale": {"type": "log", "domain": [_LEAST, 1], "nice": False},
            "axis": {"values": [_LEAST, 0.001, 0.01, 0.1, 1], "format": "~g"},
        },
        "color": {"field": "measure", "type": "nominal", "scale": {"domain": names}, "legend": legend},
    }
    dash = {
        "field": "list",
        "type": "nominal",
        "scale": {
            "domain": lists,
            "range": [[2, 2] if i == 0 and len(lists) > 1 else [1, 0] for i in range(len(lists))],
        },
        "legend": {**legend, "values": lists, "symbolStrokeColor": "#555"} if len(lists) > 1 else None,
    }
    line = {"mark": {"type": "line", "strokeWidth": 1.5, "clip": True}, "encoding": {"strokeDash": dash}}
    dots = {
        "transform": [{"filter": f"datum.dot && datum.value >= {_LEAST}"}],
        "mark": {"type": "point", "size": 14, "filled": True, "opacity": 1},
    }
    between = ("everywhere", "precision") if _are_markov(drawn) else ("halting 1 − C",)
    shown = ("weight W", *between, "residual")
    panels = [
        {
            "title": panel,
            "width": 750 // len(shown),
            "height": 180,
            "transform": [{"filter": f"datum.panel == '{panel}'"}],
            "encoding": encoding,
            "layer": [line, dots],
        }
        for panel in shown
    ]
    return {"data": {"values": [row for one in drawn for row in _rows(one, depth)]}, "hconcat": panels}


def _are_markov(lines: list[Line]) -> bool:
    """Whether these are Markov users, who have other panels than users who stop at a rank."""
    kinds = {not line.user.stops for line in lines}
    if len(kinds) > 1:
        raise AmbleError("users who stop at a rank and Markov users have different charts; draw them apart")
    return kinds == {True}


def _rows(line: Line, depth: int) -> Iterator[dict[str, Any]]:
    """A row for every rank and panel: null where there is nothing or 0, which breaks the line.

    There are dots at the first ten ranks, and where a line has no neighbours to go to.
    """
    user = line.user
    panels: dict[str, Any] = {"residual": [user.residual(i) for i in range(1, depth + 1)]}
    if not user.stops:
        panels |= {"weight W": user.weights, "everywhere": user.everywhere, "precision": user.precision}
    else:  # a rank that no user reaches has no halting
        halting = [h if v > 1e-12 else 0.0 for h, v in zip(user.halting, user.visits, strict=True)]
        panels |= {"weight W": user.weights, "halting 1 − C": halting}
    for panel, given in panels.items():
        y = [round(float(value), 9) or None for value in given[:depth]]
        around = [None, *y, *[None] * (depth + 1 - len(y))]
        for i in range(1, depth + 1):
            alone = around[i - 1] is None and around[i + 1] is None
            row = {"measure": line.measure, "list": line.list, "rank": i, "panel": panel}
            yield row | {"value": around[i], "dot": i <= 10 or alone}


def user_spec(users: Mapping[str, OnList], depth: int = 100) -> dict[str, Any]:
    """Weight, halting and residual of users by rank; of Markov users, visits and precision in place of halting.

    Parameters
    ----------
    users : dict
        ``{name: behaviour}``; see `Measure.user`.
    depth : int
        The last rank shown.

    Returns
    -------
    dict
        A Vega-Lite specification of three panels: the share of attention W, the probability 1 - C of stopping once
        there, and the share of attention that goes beyond the rank. Of four for Markov users: the share of attention
        among relevant documents, that among all visits, precision, and the share of attention beyond the rank.
    """
    return user_lines_spec((Line(name, "", user) for name, user in users.items()), depth)


def check_file(path: str | os.PathLike[str], endings: tuple[str, ...] = ENDINGS) -> None:
    """Raise an error if no chart can be written to a file, before long work."""
    target = Path(path)
    ending = target.suffix.lower()
    if ending not in endings:
        raise AmbleError(f"{target}: a chart's name ends in {', '.join(endings)}")
    try:
        if ending in ENDINGS:
            importlib.import_module("vl_convert")
    except ImportError:
        raise AmbleError("charts as files need the extra: pip install 'amble-ir[report]'") from None
    check_outputs([], str(target))


def save(chart: Any, path: str | os.PathLike[str]) -> None:
    """Write a chart to a file, whole or not at all, in the format of its ending.

    Parameters
    ----------
    chart : dict or altair chart
        A Vega-Lite specification, or what `amble.plot` makes.
    path : path
        A page of HTML holds the chart as SVG and runs no script.
    """
    check_file(path)
    target = Path(path)
    ending = target.suffix.lower()
    spec = dict(chart if isinstance(chart, Mapping) else chart.to_dict())
    given = spec.get("config", {})
    spec["config"] = given | {"view": _VIEW | given.get("view", {})}
    draw = getattr(importlib.import_module("vl_convert"), f"vegalite_to_{_DRAWN[ending]}")
    try:
        drawn = draw(spec, **({"ppi": 150} if ending == ".png" else {}))
    except ValueError as error:  # a chart that it cannot draw
        lines = [line for line in str(error).splitlines() if line.strip()] or ["no reason given"]
        raise AmbleError(f"{target}: the chart cannot be drawn: {' '.join(lines[:2])}") from None
    if ending == ".html":
        drawn = page(shown(target.stem), _STYLE, drawn)
    with whole_file(target) as file:
        file.write(drawn if isinstance(drawn, bytes) else drawn.encode())
