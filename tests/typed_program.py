"""A small program of a user of amble: mypy --strict knows the type of every name in it."""

from __future__ import annotations

from typing import assert_type

import amble
from amble.measures import RBP, MsM, SessionMeasure, nDCG


def mean_of_ndcg() -> float:
    """The mean of a run."""
    scores = assert_type(amble.evaluate({"1": {"a": 1}}, {"x": {"1": {"a": 1.0}}}, "nDCG@10"), amble.Scores)
    assert_type(scores.mean(), amble.Table)
    return float(scores.means()[0, 0])


def median_of_rbp() -> float:
    """A quantile of the distribution of a score over users."""
    distribution = assert_type(RBP(p=0.5).distribution([1, 0, 1]), amble.Distribution)
    return float(distribution.quantile(0.5))


def written_as_objects() -> list[str]:
    """The names of measures with parameters, each known by its name, and ranks."""
    exponential: amble.Measure = nDCG(gains="exp") @ 10
    impatient: amble.Measure = (RBP @ 20)(0.73)
    of_sessions: SessionMeasure = MsM(p=0.6, q=0, r=0.1, s=0.3)
    return [str(measure) for measure in (exponential, impatient, of_sessions)]


def refused() -> None:
    """What the types of measures find wrong, before it is run."""
    nDCG(gain="exp")  # type: ignore[call-arg]
    nDCG(10)  # type: ignore[call-arg]
    RBP(p="0.5")  # type: ignore[arg-type]
    nDCG @ "10"  # type: ignore[operator]
