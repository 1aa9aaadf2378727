"""Scores by intent: what people who mean different things get from the runs, and who is left behind."""

from __future__ import annotations

from typing import Any, Unpack, overload

import numpy as np

from amble.evaluation.inputs import Measures, aligning, parse_measures
from amble.measures import Lists, Measure, parse
from amble.measures.intent_measure import IntentMeasure
from amble.rankings.alignment import AlignOptions, Rankings, byte_order, plain_mean
from amble.rankings.costs import Prices
from amble.table import Table

__all__ = ["SUMMARY", "by_intent", "intent_aware"]

SUMMARY = ("run", "measure", "score", "worst", "served", "unserved")  # the columns


def intent_aware(measure: Measure) -> IntentMeasure:
    """A measure of intents as it is; the intent-aware form of any other."""
    if isinstance(measure, IntentMeasure):
        return measure
    out = parse("IA(of='P')")(of=measure).labelled(measure.label)
    assert isinstance(out, IntentMeasure)
    return out


@overload
def by_intent(
    rankings: Rankings, measures: Measures, *, topics: bool = ..., digits: int = ..., costs: Prices | None = ...
) -> Table: ...
@overload
def by_intent(
    qrels: Any, runs: Any, measures: Measures, *, topics: bool = ..., digits: int = ..., **options: Unpack[AlignOptions]
) -> Table: ...
@aligning(Rankings, intents=True)
def by_intent(rankings: Rankings, measures: Measures, *, topics: bool = False, digits: int = 4) -> Table:
    """What those get who mean each of the intents of a topic, and who is left behind.

    Parameters
    ----------
    rankings : Rankings
        Of judgments of subtopics; or such qrels and runs, with the options of `align`, as for `evaluate`.
    measures : str, Measure or a list of them
        Measures of intents; of any other its intent-aware form, as ``IA(of='AP')``.
    topics : bool
        A row for every intent of every topic, with its share of people and their mean score.
    digits : int
        Decimals.

    Returns
    -------
    Table
        A row for each run and measure: the score; ``worst``, the mean over topics of the intent that is served worst;
        ``served``, the mean over topics of the share of people whose intent scores more than nothing; and
        ``unserved``, the number of intents that do not. Intents without a relevant document do not count, nor topics
        that have no others.

    Examples
    --------
    >>> import amble
    >>> qrels = {"jaguar": {"cat": {"a": 1, "b": 1}, "car": {"c": 1}}}
    >>> runs = {"x": {"jaguar": {"a": 3.0, "b": 2.0, "d": 1.0}}, "y": {"jaguar": {"a": 3.0, "c": 2.0, "b": 1.0}}}
    >>> amble.by_intent(qrels, runs, "AP")
    run  measure   score   worst  served  unserved
    x    AP       0.5000  0.0000  0.5000         1
    y    AP       0.6667  0.5000  1.0000         0
    >>> amble.by_intent(qrels, runs["y"], "AP", topics=True)
    run  topic   intent   share  measure   value
    run  jaguar  cat     0.5000  AP       0.8333
    run  jaguar  car     0.5000  AP       0.5000
    """
    lists = Lists.of_rankings(rankings)
    parsed = [intent_aware(m) for m in parse_measures(measures)]
    rows: list[list[Any]] = []
    of_runs: dict[int, list[list[Any]]] = {r: [] for r in range(len(rankings.runs))}
    for m in parsed:
        with m.wrap_errors():
            owner, subtopic, share, value = m.by_intent(lists)
        run, topic = rankings.run[owner], rankings.topic[owner]
        names = () if lists.subtopics is None else lists.subtopics.names
        if topics:
            for r, t, s, w, x in zip(*(a.tolist() for a in (run, topic, subtopic, share, value)), strict=True):
                of_runs[r].append([rankings.runs[r], rankings.topics[t], names[s], w, m.label, x])
            continue
        shape = len(rankings.runs), len(rankings.topics)
        worst, served, score = np.full((3, *shape), np.nan)
        at = run * shape[1] + topic
        known = np.unique(at)
        merit = m.sign * value
        least = np.full(shape[0] * shape[1], np.inf)
        np.minimum.at(least, at, merit)
        flat = np.bincount(at, share * (value > 0), least.size), np.bincount(at, share * value, least.size)
        worst.flat[known], served.flat[known], score.flat[known] = m.sign * least[known], flat[0][known], flat[1][known]
        order = byte_order(rankings.topics)
        means = [plain_mean(x[:, order]) for x in (score, worst, served)]
        missed = np.bincount(run[value <= 0], minlength=shape[0])
        for r in range(shape[0]):
            of_runs[r].append([rankings.runs[r], m.label, *(float(x[r]) for x in means), int(missed[r])])
    for own in of_runs.values():
        rows += own
    columns = ("run", "topic", "intent", "share", "measure", "value")
    return Table(columns if topics else SUMMARY, rows, digits=digits)
