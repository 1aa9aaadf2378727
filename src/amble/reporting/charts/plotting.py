"""`amble.plot`, a chart of any result, and the charts of a report."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from amble import checks
from amble.comparison.comparison import Comparison
from amble.comparison.contributions import Contributions
from amble.comparison.group_differences import GroupDifferences
from amble.comparison.normal_differences import Normality, normality
from amble.comparison.session_contributions import SessionContributions
from amble.distributions.distribution import Distribution
from amble.distributions.partial_order import PartialOrder, order_systems
from amble.errors import AmbleError
from amble.evaluation.curves import MEANS, RANKS
from amble.evaluation.cwl_report import REPORT
from amble.evaluation.exposure_scores import Exposure
from amble.evaluation.fitted_intervals import FittedIntervals
from amble.evaluation.intent_scores import SUMMARY
from amble.evaluation.scores import Scores
from amble.measures import Measure
from amble.metaevaluation import Agreement, Correlations, Degradation, PoolEffect, Power, Satisfaction, Swaps
from amble.metaevaluation.topic_set_sizes import PLAN
from amble.reporting.charts.chart import altair_chart, user_spec
from amble.reporting.charts.contribution_charts import contributions_spec, session_spec, terms_spec
from amble.reporting.charts.curve_charts import curve_spec
from amble.reporting.charts.distribution_charts import distribution_spec
from amble.reporting.charts.hasse import hasse_spec
from amble.reporting.charts.line_charts import fit_spec
from amble.reporting.charts.meta_charts import (
    agreement_spec,
    correlations_spec,
    degradation_spec,
    pool_spec,
    power_spec,
    satisfaction_spec,
    swaps_spec,
    topics_spec,
)
from amble.reporting.charts.score_charts import (
    cwl_spec,
    difference_spec,
    fitted_spec,
    group_spec,
    heat_spec,
    intents_spec,
    means_spec,
    pairs_spec,
)
from amble.reporting.charts.spread_charts import box_spec, histogram_spec, normality_spec
from amble.reporting.dominance import distributions_under
from amble.reporting.leaderboard import Leaderboard
from amble.table import Table
from amble.users.protocol import OnList, Question

if TYPE_CHECKING:
    from amble.reporting.page import Page

__all__ = ["KINDS", "charts_of", "plot", "spec_of"]

KINDS = ("heat", "box", "histogram", "differences", "normality")  # of charts of scores
# what has one chart, and what it is called
_RESULTS: dict[type, tuple[str, Callable[[Any], dict[str, Any]]]] = {
    Comparison: ("a comparison", pairs_spec),
    GroupDifferences: ("differences between groups", pairs_spec),
    Normality: ("normality", normality_spec),
    Contributions: ("contributions", contributions_spec),
    SessionContributions: ("contributions in a session", session_spec),
    Exposure: ("exposure", group_spec),
    Correlations: ("correlations", correlations_spec),
    Agreement: ("an agreement", agreement_spec),
    Power: ("power", power_spec),
    Swaps: ("swap rates", swaps_spec),
    PoolEffect: ("the effect of pools", pool_spec),
    Degradation: ("degradation", degradation_spec),
    Satisfaction: ("satisfaction", satisfaction_spec),
}
_DRAWN = (
    f"scores, {', '.join(name for name, _ in _RESULTS.values())}, a leaderboard or page, fitted intervals, "
    "a distribution or several by name, a partial order, a measure, a user or several by name, a fit, and tables of "
    "pr_curve, cwl, by_intent, explain, topics_needed and of what a fit implies"
)
_DEPTH = 100
_LINES = 8  # distributions in one chart


def plot(
    x: Any,
    *,
    kind: str | None = None,
    measure: str | Measure | None = None,
    run: str | None = None,
    baseline: str | None = None,
    title: str = "",
) -> Any:
    """A chart of whatever amble finds: scores, comparisons, curves, distributions, orders, users, meta-evaluation.

    Parameters
    ----------
    x : object
        * `Scores`: see ``kind``
        * `Comparison`: the difference of each pair, with its confidence interval; `GroupDifferences` (its ``between``)
        * `Normality` (of `amble.comparison.normality`): a normal Q-Q plot of differences
        * `Leaderboard`, or its `Page`: means with confidence intervals and letters; `FittedIntervals`
        * a table of `amble.pr_curve`: precision against recall
        * `Distribution`, or ``{name: Distribution}``: the share of users whose score is at most x
        * `PartialOrder`: the Hasse diagram
        * `Measure`, a user (as `Measure.user` makes it), or ``{name: user}``: attention, halting, residual by rank; a
          measure's user is drawn on a list without a relevant document
        * `Contributions`, `SessionContributions` (of `amble.why`): what each document adds to the score
        * `Correlations`, `Agreement`, `Power`, `Swaps`, `PoolEffect`, `Degradation`, `Satisfaction` of
          `amble.metaevaluation`, and the table of its ``topics_needed``
        * tables of `amble.cwl` (gain against cost), `amble.by_intent` (who is left behind), `amble.explain` (terms)
        * `Exposure`, with groups: the share of each group of documents in the exposure by each run, and the target
        * `amble.logs.Fit`, or the table of its ``implied``: W, L and C by rank, observed and implied
    kind : {"heat", "box", "histogram", "differences", "normality"}, optional
        Of scores: runs by topics as coloured cells; the spread of each run's scores over topics as a box, or as a
        histogram (of one ``run``, or of all); the run minus the baseline by topic; a normal Q-Q plot of these
        differences. By default "differences" with ``run`` and ``baseline``, otherwise "heat".
    measure : str or Measure, optional
        Of scores, leaderboards and fitted intervals: which one; by default the first.
    run, baseline : str, optional
        Of scores.
    title : str, optional
        Of curves, distributions and partial orders.

    Returns
    -------
    altair chart
        `amble.reporting.charts.chart.save` writes it as SVG, PNG, PDF or HTML.

    Examples
    --------
    >>> import amble
    >>> distributions = {"x": amble.parse("AP").distribution([1, 0, 1]), "y": amble.parse("AP").distribution([0, 1, 1])}
    >>> type(amble.plot(distributions)).__name__
    'LayerChart'
    >>> amble.plot("AP")
    Traceback (most recent call last):
    ...
    amble.errors.AmbleError: no chart of a str; there are charts of scores, a comparison, ...
    """
    return altair_chart(spec_of(x, kind=kind, measure=measure, run=run, baseline=baseline, title=title))


def spec_of(
    x: Any,
    *,
    kind: str | None = None,
    measure: str | Measure | None = None,
    run: str | None = None,
    baseline: str | None = None,
    title: str = "",
) -> dict[str, Any]:
    """The chart of `plot` as a Vega-Lite specification, which needs no extra."""
    if isinstance(x, Scores):
        return _scores_spec(x, kind, measure, run, baseline)
    for name, value in (("kind", kind), ("run", run), ("baseline", baseline)):
        if value is not None:
            raise AmbleError(f"{name}= goes with scores, not with a {type(x).__name__}")
    x = getattr(x, "leaderboard", x)  # of a page
    if isinstance(x, Leaderboard):
        return means_spec(x, measure)
    if isinstance(x, FittedIntervals):
        return fitted_spec(x, measure)
    if isinstance(x, PartialOrder):
        return hasse_spec(x, title=title)
    for result, (_, spec) in _RESULTS.items():
        if isinstance(x, result):
            return spec(x)
    return _table_spec(x, title) or _distributions_or_users(x, title)


def _scores_spec(
    x: Scores, kind: str | None, measure: str | Measure | None, run: str | None, baseline: str | None
) -> dict[str, Any]:
    kind = checks.one_of(
        checks.or_usual(kind, "heat" if run is None and baseline is None else "differences"), KINDS, "kind"
    )
    if kind in ("heat", "box") and (run is not None or baseline is not None):
        raise AmbleError(f"kind={kind!r} draws all runs: without run= and baseline=")
    if kind == "histogram":
        if baseline is not None:
            raise AmbleError("kind='histogram' draws scores, not differences: without baseline=")
        return histogram_spec(x, measure, run)
    if kind in ("heat", "box"):
        return heat_spec(x, measure) if kind == "heat" else box_spec(x, measure)
    if run is None or baseline is None:
        raise AmbleError("differences by topic need both: run= and baseline=")
    if kind == "differences":
        return difference_spec(x, run, baseline, measure)
    return normality_spec(normality(x, run, baseline, x.measures[0] if measure is None else measure))


def _table_spec(x: Any, title: str) -> dict[str, Any] | None:
    """The chart of a table that is known by its columns, or of a fit; None for anything else."""
    from amble.logs.fitting import IMPLIED, Fit
    from amble.retrieval.explanation import TERMS

    if isinstance(x, Fit):
        return fit_spec(x.implied())
    if not isinstance(x, Table):
        return None
    known = {REPORT: cwl_spec, SUMMARY: intents_spec, PLAN: topics_spec, IMPLIED: fit_spec, TERMS: terms_spec}
    known |= {(*run, *of): partial(curve_spec, title=title) for of in (MEANS, RANKS) for run in ((), ("run",))}
    needed = {PLAN: "power", TERMS: "scorer", MEANS: "topics", RANKS: "retrieved"}
    fact = needed.get(x.columns[x.columns[:1] == ("run",) :])
    return known[x.columns](x) if x.columns in known and (fact is None or fact in x.facts) else None


def _distributions_or_users(x: Any, title: str) -> dict[str, Any]:
    if isinstance(x, Distribution):
        return distribution_spec({title or "distribution": x}, title=title)
    if isinstance(x, Measure):
        return user_spec({x.label: x.user([0.0] * _DEPTH)}, _DEPTH)
    if isinstance(x, OnList):
        return user_spec({title or "user": x}, _DEPTH)
    if isinstance(x, Mapping) and x:
        kinds = list(x.values())
        if all(isinstance(one, Distribution) for one in kinds):
            return distribution_spec(x, title=title)
        if all(isinstance(one, OnList) for one in kinds):
            return user_spec(x, _DEPTH)
    what = f"a table of {', '.join(x.columns[:3])}, …" if isinstance(x, Table) else f"a {type(x).__name__}"
    raise AmbleError(f"no chart of {what}; there are charts of {_DRAWN}")


def charts_of(report: Page) -> dict[str, dict[str, Any]]:
    """The specifications of the charts of a report by name; of its first measure where one has to be chosen."""
    scores, board, data = report.scores, report.leaderboard, report.data
    runs = scores.runs
    base, best = runs[data["baseline"]], runs[data["system"]]
    out = {"means": means_spec(board), "topics": heat_spec(scores)}
    if base != best:
        out["differences"] = difference_spec(scores, best, base)
    of_measures = zip(scores.parsed, data["distributions"], strict=True)
    user = next((m for m, distribution in of_measures if "lines" in distribution), None)
    if user is not None:
        found = distributions_under(scores, user, data["chosen"], board.design.seed)
        drawn = list(dict.fromkeys([best, *([base] if base in found else []), *found]))[:_LINES]
        out["distributions"] = distribution_spec({name: found[name] for name in drawn}, title=user.label)
        if len(found) > 1:
            out["dominance"] = hasse_spec(order_systems(found), title=f"{user.label}: stochastic dominance")
    of_topics = scores.item == "topic"
    users = {m.label: scores.user(best, topic, m) for m, topic in (_stopping_users(report) if of_topics else ())}
    if users:
        out["users"] = user_spec(users, _DEPTH)
    if "tau" in data["meta"]:
        from amble.metaevaluation import correlations

        out["tau"] = correlations_spec(correlations(scores, resample=None))
    return out


def _stopping_users(report: Page) -> list[tuple[Measure, str]]:
    """The measures that are one user who stops, each with a topic that the chosen run has a list for."""
    scores, best = report.scores, report.data["system"]
    topics = scores.rankings.topic[scores.rankings.run == best]
    if not topics.size or scores.aligned.ties == "expected":
        return []
    users = [m for m in scores.parsed if m.declaration.is_user and not m.is_population]
    walkers = [m for m in users if m.declaration.question is not Question.MARKOV]
    return [(m, scores.topics[int(topics[0])]) for m in walkers]
