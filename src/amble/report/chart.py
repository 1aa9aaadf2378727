"""Charts: altair objects, and files of them as SVG, PNG, PDF or a self-contained HTML page.

No display and no network is needed: vl-convert draws them.
"""

from __future__ import annotations

import importlib
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from amble.errors import AmbleError
from amble.users.forward import Behaviour

__all__ = ["ENDINGS", "save", "user_chart"]

ENDINGS = (".svg", ".png", ".pdf", ".html")
_WIDTH, _HEIGHT = 260, 200


def _altair() -> Any:
    try:
        return importlib.import_module("altair")
    except ImportError:
        raise AmbleError("charts need the extra: pip install 'amble[report]'") from None


def user_chart(users: dict[str, Behaviour], depth: int = 100) -> Any:
    """Weight, halting and residual of users against the rank, both axes logarithmic.

    Parameters
    ----------
    users : dict
        ``{name: behaviour}``; see `Measure.user`.
    depth : int
        The last rank shown.

    Returns
    -------
    altair.Chart
        Three panels: the share of attention W, the chance 1 - C of stopping once there, and the share of attention that
        goes beyond the rank.
    """
    alt = _altair()
    rows: list[dict[str, Any]] = []
    for name, user in users.items():
        n = min(depth, user.visits.size)
        weights, halting = user.weights, user.halting
        for i in np.unique(np.round(np.geomspace(1, n, 120)).astype(int)).tolist():
            for panel, y in (
                ("weight W", weights[i - 1]),
                ("halting 1 − C", halting[i - 1]),
                ("residual", user.residual(i)),
            ):
                if y > 1e-12 and user.visits[i - 1] > 0:
                    rows.append({"measure": name, "rank": i, "panel": panel, "value": float(y)})
    data = alt.Data(values=rows)
    panels = [
        alt.Chart(data, title=panel, width=_WIDTH, height=_HEIGHT)
        .transform_filter(alt.datum.panel == panel)
        .mark_line(point={"size": 12}, clip=True)
        .encode(
            x=alt.X("rank:Q", scale=alt.Scale(type="log"), title="rank"),
            y=alt.Y("value:Q", scale=alt.Scale(type="log"), title=None, axis=alt.Axis(format="~g")),
            color=alt.Color("measure:N", title=None, sort=list(users)),
        )
        for panel in ("weight W", "halting 1 − C", "residual")
    ]
    return alt.hconcat(*panels)


def save(chart: Any, path: str | os.PathLike[str]) -> None:
    """Write a chart to a file that appears whole or not at all; its ending tells the format."""
    target = Path(path)
    ending = target.suffix.lower()
    if ending not in ENDINGS:
        raise AmbleError(f"{target}: a chart's name ends in {', '.join(ENDINGS)}")
    try:
        importlib.import_module("vl_convert")
    except ImportError:
        raise AmbleError("charts as files need the extra: pip install 'amble[report]'") from None
    options: dict[str, Any] = {"inline": True} if ending == ".html" else {}
    if ending == ".png":
        options["ppi"] = 150
    try:
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".amble-") as folder:
            made = Path(folder) / f"chart{ending}"
            chart.save(str(made), **options)
            made.replace(target)
    except OSError as error:
        raise AmbleError(f"{target}: {error.strerror}") from None
