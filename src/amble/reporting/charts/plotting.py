"""`amble.plot`, a chart of any result, and the charts of a report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from amble.comparison.comparison import Comparison
from amble.comparison.session_contributions import SessionContributions
from amble.distributions.distribution import Distribution
from amble.distributions.partial_order import PartialOrder, order_systems
from amble.errors import AmbleError
from amble.evaluation.scores import Scores
from amble.measures import Measure
from amble.metaevaluation import Agreement, Correlations
from amble.reporting.charts.chart import altair_chart, user_spec
from amble.reporting.charts.distribution_charts import distribution_spec
from amble.reporting.charts.hasse import hasse_spec
from amble.reporting.charts.line_charts import square_spec
from amble.reporting.charts.score_charts import difference_spec, heat_spec, means_spec, pairs_spec, session_spec
from amble.reporting.dominance import distributions_under
from amble.reporting.leaderboard import Leaderboard
from amble.users.protocol import OnList, Question

if TYPE_CHECKING:
    from amble.reporting.page import Page

__all__ = ["charts_of", "plot", "spec_of"]

_DRAWN = (
    "scores, a comparison, a leaderboard, a distribution or several by name, a partial order, a measure, a user or "
    "several by name, correlations, an agreement, contributions in a session"
)
_DEPTH = 100
_LINES = 8  # distributions in one chart


def plot(
    x: Any,
    *,
    measure: str | Measure | None = None,
    run: str | None = None,
    baseline: str | None = None,
    title: str = "",
) -> Any:
    """A chart of scores, comparisons, distributions, orders, users or agreement.

    Parameters
    ----------
    x : object
        * `Scores`: runs by topics; with ``run`` and ``baseline``, the differences of the two by topic
        * `Comparison`: the difference of each pair, with its confidence interval
        * `Leaderboard` (of a `Page`): means with confidence intervals and letters
        * `Distribution`, or ``{name: Distribution}``: the share of users whose score is at most x
        * `PartialOrder`: the Hasse diagram
        * `Measure`, a user (as `Measure.user` makes it), or ``{name: user}``: attention, halting, residual by rank; a
          measure's user is drawn on a list without a relevant document
        * `Correlations`, `Agreement` of `amble.metaevaluation`: a measure by measure matrix
        * `SessionContributions` (of `amble.why`): ranks by queries, reach x discount x gain of each document
    measure : str or Measure, optional
        Of scores and leaderboards: which one; by default the first.
    run, baseline : str, optional
        Of scores.
    title : str, optional
        Of distributions and partial orders.

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
    return altair_chart(spec_of(x, measure, run, baseline, title))


def spec_of(
    x: Any,
    measure: str | Measure | None = None,
    run: str | None = None,
    baseline: str | None = None,
    title: str = "",
) -> dict[str, Any]:
    """The chart of `plot` as a Vega-Lite specification, which needs no extra."""
    if (run is None) != (baseline is None):
        raise AmbleError("differences by topic need both: run= and baseline=")
    if isinstance(x, Scores):
        if run is not None and baseline is not None:
            return difference_spec(x, run, baseline, measure)
        return heat_spec(x, measure)
    if isinstance(x, Leaderboard):
        return means_spec(x, measure)
    if isinstance(x, Comparison):
        return pairs_spec(x)
    if isinstance(x, SessionContributions):
        return session_spec(x)
    if isinstance(x, PartialOrder):
        return hasse_spec(x, title=title)
    if isinstance(x, Correlations):
        return square_spec(x.measures, x.values, f"{x.statistic} of rankings of runs")
    if isinstance(x, Agreement):
        return square_spec(x.measures, x.significant, "agreement on significant differences")
    return _distributions_or_users(x, title)


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
    raise AmbleError(f"no chart of a {type(x).__name__}; there are charts of {_DRAWN}")


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

        tau = correlations(scores, resample=None)
        out["tau"] = square_spec(tau.measures, tau.values, "tau of rankings of runs")
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
