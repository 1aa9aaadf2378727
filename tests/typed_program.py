"""A small program of a user of amble: mypy --strict knows the type of every name in it."""

from __future__ import annotations

from typing import assert_type

import amble


def mean_of_ndcg() -> float:
    """The mean of a run."""
    scores = assert_type(amble.evaluate({"1": {"a": 1}}, {"x": {"1": {"a": 1.0}}}, "nDCG@10"), amble.Scores)
    assert_type(scores.mean(), amble.Table)
    return float(scores.means()[0, 0])


def median_of_rbp() -> float:
    """A quantile of the distribution of a score over users."""
    measure = amble.measures.parse("RBP(p=0.5)")
    distribution = assert_type(measure.distribution([1, 0, 1]), amble.Distribution)
    return float(distribution.quantile(0.5))
