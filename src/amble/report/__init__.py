"""Pictures of users, laws and scores, and the page that shows it all (extra ``report``)."""

from __future__ import annotations

from amble.report.page import Page, report
from amble.report.plotting import plot

__all__ = ["Page", "plot", "report"]
