"""The C/W/L report: expected gain and cost of a measure's user, per document and in total.

========  ===================================================================
EU        expected utility: gain per document looked at, sum W y
ETU       expected total utility, EU x ED
EC        expected cost per document, sum W c
ETC       expected total cost, EC x ED
ED        expected depth, 1 / W(1)
========  ===================================================================

AP and RR are not E[T]/E[H] of their own user, but each is the EU of another user (W(i) = sum over h >= i of L(h)/h for
AP, which therefore divides by the relevant documents *found*); the report shows that one.
"""

from __future__ import annotations

import math
from typing import Any, Unpack, overload

import numpy as np

from amble.arrays import NDArray
from amble.errors import MeasureError
from amble.evaluation.inputs import Measures, aligning, parse_measures
from amble.measures import ListMeasure, Lists
from amble.measures.list_measure import of_lists
from amble.rankings.alignment import AlignOptions, Rankings, byte_order, plain_mean
from amble.rankings.costs import Prices
from amble.table import Table, mean_topic
from amble.users.forward_sparse import at_hits

__all__ = ["COLUMNS", "REPORT", "cwl", "expectations"]

Array = NDArray[np.float64]
COLUMNS = ("EU", "ETU", "EC", "ETC", "ED")
REPORT = ("run", "topic", "measure", *COLUMNS)


def expectations(measure: ListMeasure, lists: Lists) -> Array:
    """EU, ETU, EC, ETC and ED of every list: an array of shape (lists, 5)."""
    d = measure.declaration
    if measure.is_population:
        each = ((np.broadcast_to(w, lists.n)[:, None], one) for w, one in measure.members_of(lists))
        return np.asarray(sum(w * expectations(one, lists) for w, one in each))
    if d.cwl_form == "found":
        return _by_found(measure, lists)
    if d.question is None or not d.question.about_visits or d.norm is not None:
        why = "divides by more than attention" if d.norm else "has no C/W/L form"
        hint = f"; {d.cwl_form}" if d.cwl_form else ""
        raise MeasureError(f"{measure} {why}, so it is not expected gain over expected effort{hint}")
    with measure.wrap_errors():
        user, gains = measure.one_user, measure.gains_of(lists)
        if getattr(user, "timing", None) is not None:
            raise MeasureError(f"{measure} divides by time, not by documents looked at, so it has no C/W/L report")
        total, depth = user.totals(gains)
        cost = depth if lists.costs is None else user.costs(gains)
    safe = np.where(depth > 0, depth, 1.0)
    return np.column_stack((total / safe, total, cost / safe, cost, depth))


def _by_found(measure: ListMeasure, lists: Lists) -> Array:
    """The five columns for AP and RR, by the relevant documents found."""
    gains = measure.gains_of(lists)
    lists = gains.lists
    d = measure.declaration
    # the probability of stopping there, not yet divided by their number
    last = np.asarray(d.function(**at_hits(gains, d.seen), **measure.arguments).rule, np.float64)
    found = gains.sum(last)
    rate = gains.sum(last / gains.position)
    worth = gains.sum(last * measure.question.score(gains.seen, gains.position))
    spent = np.asarray(gains.position, np.float64)
    if lists.costs is not None:
        spent = lists.costs.upto(gains.list, gains.position)
    cost = gains.sum(last * spent / gains.position)
    some = found > 0
    depth = np.where(some, found / np.where(some, rate, 1.0), np.maximum(lists.length, 1.0))
    eu = np.where(some, worth / np.where(some, found, 1.0), 0.0)
    each = np.where(some, cost / np.where(some, found, 1.0), 1.0)
    if lists.costs is not None:
        whole = lists.costs.upto(np.arange(lists.n), np.asarray(lists.length, np.int64))
        each = np.where(some, each, whole / np.maximum(lists.length, 1))
    return np.column_stack((eu, eu * depth, each, each * depth, depth))


@overload
def cwl(
    rankings: Rankings, measures: Measures, *, costs: Prices | None = ..., topics: bool = ..., digits: int = ...
) -> Table: ...
@overload
def cwl(
    qrels: Any,
    runs: Any,
    measures: Measures,
    *,
    topics: bool = ...,
    digits: int = ...,
    **options: Unpack[AlignOptions],
) -> Table: ...
@aligning(Rankings, costs=True)
def cwl(rankings: Rankings, measures: Measures, *, topics: bool = False, digits: int = 4) -> Table:
    """A table of expected utility, cost and depth of runs: the C/W/L report.

    Parameters
    ----------
    rankings : Rankings
        Or qrels and runs, with the options of `align`, as for `evaluate`.
    measures : str, Measure or a list of them
        Measures that are expected gain over expected effort (the C/W/L ones, P, RBP, DCG), AP or RR.
    topics : bool
        Whether to add a row for each topic.
    digits : int
    costs : mapping or path, optional
        As for `align`: what each document costs.

    Returns
    -------
    Table
        run, topic, measure, EU, ETU, EC, ETC, ED.

    Examples
    --------
    >>> import amble
    >>> rankings = amble.align({"1": {"a": 1, "c": 1}}, {"x": {"1": {"a": 3.0, "b": 2.0, "c": 1.0}}})
    >>> print(amble.cwl(rankings, ["P@3", "RBP(p=0.5)"]))
    run  topic  measure         EU     ETU      EC     ETC      ED
    x    all    P@3         0.6667  2.0000  1.0000  3.0000  3.0000
    x    all    RBP(p=0.5)  0.6250  1.2500  1.0000  2.0000  2.0000
    """
    parsed = [of_lists(m) for m in parse_measures(measures)]
    lists = Lists.of_rankings(rankings)
    if lists.ties is not None:
        raise MeasureError("the C/W/L report with ties='expected': tied documents have no one rank; use ties='docno'")
    values = np.full((len(rankings.runs), len(rankings.topics), len(parsed), 5), math.nan)
    for j, measure in enumerate(parsed):
        values[rankings.run, rankings.topic, j] = expectations(measure, lists)
    rows: list[list[Any]] = []
    names = [m.label for m in parsed]
    means = plain_mean(np.moveaxis(values[:, byte_order(rankings.topics)], 1, -1))
    over = mean_topic(rankings.topics if topics else ())
    for i, run in enumerate(rankings.runs):
        if topics:
            for topic, here in zip(rankings.topics, values[i].tolist(), strict=True):
                rows += [[run, topic, name, *x] for name, x in zip(names, here, strict=True) if x[0] == x[0]]
        rows += [[run, over, name, *x] for name, x in zip(names, means[i].tolist(), strict=True)]
    return Table(REPORT, rows, digits=digits)
