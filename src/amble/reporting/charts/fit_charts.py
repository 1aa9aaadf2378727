"""Charts of fitted users: what was observed beside what they imply."""

from __future__ import annotations

from typing import Any

from amble.reporting.charts.line_charts import Panel, lines_chart
from amble.table import Table

__all__ = ["fit_chart"]

_PANELS = (
    Panel("share of visits W", "value", "low", "high", ("panel", "W")),
    Panel("last rank L", "value", "low", "high", ("panel", "L")),
    Panel("probability of going on C", "value", "low", "high", ("panel", "C")),
)


def fit_chart(table: Table) -> Any:
    """W, L and C by rank, observed with its band and implied by each model, as an altair chart.

    Parameters
    ----------
    table : Table
        From `amble.logs.Fit.implied`.
    """
    return lines_chart(table, "rank", _PANELS)
