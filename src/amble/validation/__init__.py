"""Checks of run and qrels files: everything wrong or odd, with line numbers, as a track's checker prints it."""

from __future__ import annotations

from amble.validation.checking import check
from amble.validation.findings import SEVERITIES, SEVERITY, FileReport, Finding, Findings
from amble.validation.qrels_check import check_qrels
from amble.validation.run_check import check_run

__all__ = ["SEVERITIES", "SEVERITY", "FileReport", "Finding", "Findings", "check", "check_qrels", "check_run"]
