"""Checks of run and qrels files: everything wrong or odd, with line numbers, as a track's checker prints it."""

from __future__ import annotations

from amble.validation.checking import check
from amble.validation.findings import SEVERITIES, SEVERITY, Finding, Findings, Report
from amble.validation.qrels_check import check_qrels
from amble.validation.run_check import check_run

__all__ = ["SEVERITIES", "SEVERITY", "Finding", "Findings", "Report", "check", "check_qrels", "check_run"]
