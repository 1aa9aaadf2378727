"""Charts of users, distributions and scores, and the HTML report (extra ``report``)."""

from __future__ import annotations

from amble.reporting.charts.plotting import plot
from amble.reporting.page import Page, report

__all__ = ["Page", "plot", "report"]
