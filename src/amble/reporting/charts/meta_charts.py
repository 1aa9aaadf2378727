"""Charts of meta-evaluation: correlation, agreement, power, swaps, pools, topic set sizes, degradation, labels."""

from __future__ import annotations

from typing import Any

from amble.comparison.design import CONFIDENCE, TestDesign
from amble.errors import AmbleError
from amble.metaevaluation import (
    Agreement,
    Correlations,
    Degradation,
    PoolEffect,
    Power,
    Satisfaction,
    Swaps,
    topics_for_interval,
    topics_for_power,
)
from amble.reporting.charts.line_charts import Panel, lines_spec, square_spec
from amble.reporting.charts.score_charts import dots_spec
from amble.table import Table

__all__ = [
    "agreement_spec", "correlations_spec", "degradation_spec", "pool_spec", "power_spec", "satisfaction_spec",
    "swaps_spec", "topics_spec",
]  # fmt: skip

_SIZES = [i / 100 for i in range(2, 21)]  # differences, and widths of confidence intervals, to plan for


def correlations_spec(found: Correlations) -> dict[str, Any]:
    """The correlation of the rankings of runs by each measure and each other, as squares."""
    return square_spec(found.measures, found.values, f"{found.statistic} of rankings of runs")


def agreement_spec(found: Agreement) -> dict[str, Any]:
    """How far measures agree on which differences are significant, as squares."""
    title = "class agreement on significance, 2 SSA / (2 SSA + SN + NS)"
    return square_spec(found.measures, found.significant, title)


def power_spec(found: Power) -> dict[str, Any]:
    """The achieved significance levels of all pairs of runs by each measure, sorted: Sakai's ASL curves."""
    panels = [Panel(f"achieved significance level ({found.test})", "level")]
    return lines_spec(found.curve(), "pair", panels, title="pairs of runs, sorted by level")


def swaps_spec(found: Swaps) -> dict[str, Any]:
    """The swap rate by the difference of means, a panel for each of the three largest sets of topics."""
    panels = [Panel(f"swap rate, sets of {n} topics", "swap rate", rows=("topics", n)) for n in found.sizes[-3:]]
    return lines_spec(found.curve(), "difference", panels, title="difference of means")


def pool_spec(found: PoolEffect, confidence: float = CONFIDENCE) -> dict[str, Any]:
    """The mean score, and the correlation with the ranking by the full pool, by how many judgments are kept."""
    panels = [
        Panel("mean over runs and topics", "mean", "mean low", "mean high"),
        Panel("tau-b with the full pool", "tau", "tau low", "tau high"),
    ]
    return lines_spec(found.numbered(confidence=confidence), "kept", panels, title=found.kept, reverse=True)


def degradation_spec(
    found: Degradation, alpha: float = TestDesign.alpha, confidence: float = CONFIDENCE
) -> dict[str, Any]:
    """The mean score, and how often its fall is significant, by how much worse the runs were made."""
    panels = [
        Panel("mean over runs and topics", "mean", "low", "high"),
        Panel("share of rounds and runs with a significant fall", "significant"),
    ]
    table = found.curve(alpha=alpha, confidence=confidence)
    return lines_spec(table, "level", panels, title=f"level ({found.how})")


def topics_spec(table: Table) -> dict[str, Any]:
    """How many topics are needed, by the difference to find, and by the width of its confidence interval.

    Parameters
    ----------
    table : Table
        From `amble.metaevaluation.topics_needed`; lines are drawn with its variances for sizes from 0.02 to 0.2.
    """
    plan = table.facts
    rows: list[tuple[Any, ...]] = []
    for measure, variance in dict(zip(table["measure"], table["variance"], strict=True)).items():
        for size in _SIZES:
            power = topics_for_power(size, float(variance or 0), power=plan["power"], alpha=plan["alpha"])
            width = topics_for_interval(size, float(variance or 0), confidence=plan["confidence"])
            rows += [(measure, "difference", size, power), (measure, "interval", size, width)]
    panels = [
        Panel("topics to find a difference", "topics", rows=("goal", "difference")),
        Panel("topics for a confidence interval of that width", "topics", rows=("goal", "interval")),
    ]
    return lines_spec(Table(["measure", "goal", "size", "topics"], rows), "size", panels)


def satisfaction_spec(found: Satisfaction) -> dict[str, Any]:
    """The correlation of measures with what people said, with confidence intervals; a panel for each statistic."""
    panels = []
    for k, name in enumerate(found.statistics):
        rows = [
            {"run": measure, "mean": float(x), "low": float(low), "high": float(high)}
            for measure, x, low, high in zip(
                found.measures, found.values[:, k], found.low[:, k], found.high[:, k], strict=True
            )
            if x == x
        ]
        if rows:
            title = f"{name} with the labels, {100 * found.confidence:g} % confidence intervals"
            panels.append(dots_spec(rows, title) | {"width": 280})
    if not panels:
        raise AmbleError("no measure has a correlation with the labels")
    return {"hconcat": panels}
