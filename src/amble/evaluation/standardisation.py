"""Scores standardised by topic: (score - mean) / standard deviation, as ``trec_eval -Z`` does.

A table of means and deviations over a reference set of runs makes scores of easy and hard topics comparable.
"""

from __future__ import annotations

import math
import os

import numpy as np

from amble.errors import ReadError
from amble.evaluation.scores import Scores
from amble.io.rows import read_rows
from amble.measures.trec_names import trec_name
from amble.rankings.alignment import LEAST

__all__ = ["read_zscores", "standardised"]

Moments = dict[str, dict[str, tuple[float, float]]]

_FAR = -1000000.0  # trec_eval's value for "no such topic or measure in the table"


def read_zscores(path: str | os.PathLike[str]) -> Moments:
    """A table of means and deviations, read from ``topic measure mean deviation`` lines.

    Returns
    -------
    dict
        ``{topic: {measure: (mean, deviation)}}``; measures under trec_eval's names or amble's.
    """
    table: Moments = {}
    for where, (topic, measure), (mean, deviation) in read_rows(path, ("topic", "measure"), ("mean", "deviation")):
        if deviation < 0:
            raise ReadError(f"{where}: deviation {deviation:g} is negative")
        table.setdefault(topic, {})[measure] = (mean, deviation)
    return table


def standardised(scores: Scores, table: Moments) -> Scores:
    """Scores standardised by topic and measure; what the table lacks becomes -1000000, as in trec_eval."""
    values = scores.values.copy()
    for t, topic in enumerate(scores.topics):
        known = table.get(topic, {})
        for j, measure in enumerate(scores.parsed):
            if measure.name == "NumQ":  # a count of topics stays one
                continue
            names = (scores.measures[j], str(measure), trec_name(measure))
            moments = next((known[name] for name in names if name in known), None)
            column = values[:, t, j]
            if measure.declaration.aggregate == "geometric":
                column = np.log(np.maximum(column, LEAST))
            if moments is None:
                new = np.full(column.shape, _FAR)
            elif moments[1] == 0:
                new = np.where(column == moments[0], 0.0, _FAR)
            else:
                new = (column - moments[0]) / moments[1]
            values[:, t, j] = np.where(np.isnan(column), math.nan, new)
    return Scores(scores.rankings, scores.parsed, values, standardised=True)
