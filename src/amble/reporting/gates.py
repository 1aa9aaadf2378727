"""Gates for continuous integration: fail if a measure drops below a baseline, or is below a number."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np

from amble.comparison.design import TESTS, TestDesign
from amble.comparison.p_values import Probability, reaches
from amble.comparison.pairwise import compare_by
from amble.comparison.systems import grid_unit
from amble.errors import AmbleError
from amble.evaluation.scores import Scores
from amble.measures import parse
from amble.rankings.alignment import aggregate, byte_order
from amble.table import Table

__all__ = ["FORMS", "Check", "Gate", "Outcome", "parse_gate", "pass_through"]

FORMS = (
    "MEASURE, 'MEASURE drops', 'MEASURE drops by 0.01' or 'by 5%', with drops also 'significantly', or 'MEASURE < 0.5' "
    "(> if less is better)"
)
_GATE = (
    r"(?s)\s*(?P<measure>.*?)"
    r"(?:\s*(?P<side>[<>])\s*(?P<below>\S+)"
    r"|(?P<drops>\s+drops)(?:\s+by\s+(?P<least>[^\s%]+)\s*(?P<percent>%)?)?(?P<significantly>\s+significantly)?)?\s*"
)


class Gate(NamedTuple):
    """What a run may not do: drop on a measure, against the baseline, or be below a number.

    Where less of a measure is better, a drop is a higher mean, and ``below`` is the most that the mean may be.

    Attributes
    ----------
    measure : str
    least : float
        The drop that fails, of the mean, or of the baseline's mean if ``relative``; 0 for any.
    relative, significant : bool
        Whether ``least`` is a share, and whether the difference must be significant.
    below : float, optional
        The mean may not be less; no baseline is asked then.
    side : str
        "<", or ">" if the mean may not be more: where less is better, or neither is.
    """

    measure: str
    least: float = 0.0
    relative: bool = False
    significant: bool = True
    below: float | None = None
    side: str = "<"

    @property
    def sign(self) -> float:
        """1, or -1 if the mean may not rise."""
        return parse(self.measure).sign if self.below is None else -1.0 if self.side == ">" else 1.0

    def __str__(self) -> str:
        if self.below is not None:
            return f"{self.measure} {self.side} {self.below:g}"
        by = f" by {100 * self.least:g}%" if self.relative else f" by {self.least:g}" if self.least else ""
        return f"{self.measure} drops{by}{' significantly' * self.significant}"


class Check(NamedTuple):
    """A gate and a run: means over topics on which both have a score, and whether it fails."""

    gate: Gate
    run: str
    mean: float
    failed: bool
    baseline: str | None = None
    baseline_mean: float | None = None
    p: float | None = None
    how: str = ""

    def __str__(self) -> str:
        head = f"{'regression' if self.failed else 'passed'}: {self.run}: {self.gate.measure} {self.mean:.4f}"
        if self.baseline_mean is None:
            expected = f"expected at {'least' if self.gate.sign > 0 else 'most'} {self.gate.below:g}"
            return f"{head}, {expected} (gate: {self.gate})"
        tested = "" if self.p is None else f" (p {Probability(self.p):.4f}, {self.how})"
        difference = self.mean - self.baseline_mean
        found = f"{self.baseline} {self.baseline_mean:.4f}, difference {difference:.4f}{tested}"
        return f"{head}, {found} (gate: {self.gate})"

    @property
    def facts(self) -> dict[str, Any]:
        """The check as a dict for JSON."""
        return {**self.gate._asdict(), **self._asdict(), "gate": str(self.gate)}


class Outcome(NamedTuple):
    """Checks of all gates and runs, and gates that cannot fail because there are too few topics or rounds."""

    checks: list[Check]
    doubts: list[str]

    @property
    def regressions(self) -> list[Check]:
        """Those that failed."""
        return [check for check in self.checks if check.failed]

    def table(self, *, digits: int = 4) -> Table:
        """A row for each gate and run."""
        columns = ["gate", "run", "mean", "baseline", "baseline mean", "p", "outcome"]
        rows: list[list[Any]] = [
            [str(c.gate), c.run, c.mean, c.baseline, c.baseline_mean, None if c.p is None else Probability(c.p)]
            for c in self.checks
        ]
        outcomes = ["regression" if c.failed else "passed" for c in self.checks]
        rows = [[*row, outcome] for row, outcome in zip(rows, outcomes, strict=True)]
        best = {(r, len(columns) - 1) for r, check in enumerate(self.checks) if check.failed}
        return Table(columns, rows, digits=digits, best=best, caption="\n".join(self.doubts))

    def _repr_html_(self) -> str:
        return self.table().html()

    def __repr__(self) -> str:
        return f"Outcome({len(self.regressions)} of {len(self.checks)} checks failed)"

    def __str__(self) -> str:
        return str(self.table())


def parse_gate(text: str, against: str | None = "") -> Gate:
    """The gate that a text describes; one that compares is refused where there is no baseline.

    >>> parse_gate("nDCG@10")
    Gate(measure='nDCG@10', least=0.0, relative=False, significant=True, below=None, side='<')
    >>> gate = parse_gate("RBP(p=0.8) drops by 5%")
    >>> gate.least, gate.relative, gate.significant, str(gate)
    (0.05, True, False, 'RBP(p=0.8) drops by 5%')
    """
    found = re.fullmatch(_GATE, text)
    numbers = [1.0 if found is None or found[key] is None else _number(found[key]) for key in ("least", "below")]
    if found is None or not found["measure"] or numbers[0] < 0 or not np.isfinite(numbers).all():
        raise AmbleError(f"--fail-if {text!r}: expected {FORMS}")
    try:
        parsed = parse(found["measure"])
    except AmbleError as why:
        raise AmbleError(f"--fail-if {why} (a gate is {FORMS})") from None
    measure, less = parsed.label, parsed.declaration.less
    if found["below"]:
        gate = Gate(measure, significant=False, below=numbers[1], side=found["side"])
        better, side = ("less", ">") if less else ("more", "<")
        if less is not None and found["side"] != side:
            raise AmbleError(f"--fail-if {text!r}: of {measure} {better} is better, expected {side} and a number")
        return gate
    if less is None:
        raise AmbleError(
            f"--fail-if {text!r}: of {measure} neither more nor less is better, expected a bound, as in "
            f"'{measure} > 0.5' or '{measure} < 0.5'"
        )
    if against is None:
        raise AmbleError(f"--fail-if {text}: compares with a baseline: say which, with --baseline RUN")
    least = 0.0 if found["least"] is None else numbers[0] / (100 if found["percent"] else 1)
    return Gate(measure, least, bool(found["percent"]), not found["drops"] or bool(found["significantly"]))


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")


def pass_through(scores: Scores, gates: list[Gate], design: TestDesign) -> Outcome:
    """Every run but the baseline through every gate.

    A difference is significant by the test of the design, two-sided, corrected for the number of runs. Without a
    baseline there are only gates with a number.
    """
    checks: list[Check] = []
    doubts: list[str] = []
    for gate in dict.fromkeys(gates):
        adjusted: dict[str, float] = {}
        how = ""
        if gate.significant:
            found = compare_by(scores, gate.measure, design)
            adjusted = {run: p for (run, _), p in zip(found.pairs, found.adjusted.tolist(), strict=True)}
            q = found.design
            how = TESTS[q.test] + ("" if q.correction == "none" else f", {q.correction}")
            if found.limit:
                doubts.append(
                    f"--fail-if {gate.measure}: too few {found.limit} to find any difference, so it cannot fail"
                )
        base = None if gate.below is not None else design.one_baseline
        for run in scores.runs:
            if run != design.baseline:
                check = _check(scores, gate, run, base)
                p = adjusted.get(run)
                failed = check.failed and (p is None or bool(reaches(np.array(p), design.alpha)))
                checks.append(check._replace(failed=failed, p=p, how=how))
    return Outcome(checks, doubts)


def _check(scores: Scores, gate: Gate, run: str, base: str | None) -> Check:
    """The means of a run and the baseline, and whether they fail a gate, significant or not."""
    j = scores.place(gate.measure)
    chosen = [scores.rankings.index(name) for name in (run, base) if name is not None]
    values = scores.values[chosen][:, byte_order(scores.topics), j]
    values = values[:, ~np.isnan(values).any(axis=0)]
    if not values.size:
        raise AmbleError(
            f"--fail-if {gate.measure}: {' and '.join(filter(None, (run, base)))} have no topic to compare on"
        )
    means = aggregate(scores.parsed[j].declaration.aggregate, values).tolist()
    nothing = grid_unit(values)  # a difference by rounding
    sign = gate.sign
    if base is None:
        return Check(gate, run, means[0], gate.below is not None and sign * (means[0] - gate.below) < -nothing)
    drop = sign * (means[1] - means[0])
    least = gate.least * (abs(means[1]) if gate.relative else 1)
    return Check(gate, run, means[0], drop > nothing and drop >= least - nothing, base, means[1])
