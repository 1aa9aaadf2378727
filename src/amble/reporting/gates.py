"""Gates for continuous integration: fail if a measure drops significantly below a baseline."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from amble.comparison.design import TESTS, TestDesign
from amble.comparison.p_values import Probability
from amble.comparison.pairwise import compare_by
from amble.errors import AmbleError
from amble.evaluation.scores import Scores
from amble.measures import parse

__all__ = ["Gate", "Outcome", "parse_gate", "pass_through"]

_FORM = "MEASURE, or 'MEASURE drops by 0.01'"


class Gate(NamedTuple):
    """A measure that may not drop: significantly, and by at least so much."""

    measure: str
    least: float = 0.0


class Outcome(NamedTuple):
    """Regressions, a line each, and gates that cannot fail because there are too few topics or rounds."""

    regressions: list[str]
    doubts: list[str]


def parse_gate(text: str) -> Gate:
    """The gate that a text describes.

    >>> parse_gate("nDCG@10")
    Gate(measure='nDCG@10', least=0.0)
    >>> parse_gate("RBP(p=0.8) drops by 0.01")
    Gate(measure='RBP(p=0.8)', least=0.01)
    """
    found = re.fullmatch(r"\s*(.*?)(?:\s+drops(?:\s+by\s+(\S+))?)?\s*", text, re.DOTALL)
    words = found[1] if found else ""
    try:
        least = float(found[2]) if found and found[2] else 0.0
    except ValueError:
        least = float("nan")
    if not words or not 0 <= least < float("inf"):
        raise AmbleError(f"--fail-if {text!r}: expected {_FORM}")
    try:
        return Gate(parse(words).label, least)
    except AmbleError as why:
        raise AmbleError(f"--fail-if {why} (a gate is {_FORM})") from None


def pass_through(scores: Scores, gates: list[Gate], design: TestDesign) -> Outcome:
    """Regressions of runs against the baseline by the measure of each gate.

    A run regresses if it is significantly worse than the baseline (two-sided, corrected for the number of runs), by at
    least what the gate says.
    """
    regressions: list[str] = []
    doubts: list[str] = []
    for gate in dict.fromkeys(gates):
        found = compare_by(scores, gate.measure, design)
        worse = found.significant & (found.difference < 0) & (found.difference <= -gate.least * (1 - 1e-12))
        base = found.design.baseline or ""
        for k in np.flatnonzero(worse).tolist():
            i, j = int(found.a[k]), int(found.b[k])
            regressions.append(
                f"regression: {found.runs[i]}: {gate.measure} {found.mean[i]:.4f}, {base} {found.mean[j]:.4f}, "
                f"difference {found.difference[k]:.4f} (p {Probability(found.adjusted[k]):.4f}, {_how(found.design)})"
            )
        if found.limit:
            doubts.append(f"--fail-if {gate.measure}: too few {found.limit} to find any difference, so it cannot fail")
    return Outcome(regressions, doubts)


def _how(q: TestDesign) -> str:
    return TESTS[q.test] + ("" if q.correction == "none" else f", {q.correction}")
