"""A small program of a user of amble: mypy --strict knows the type of every name in it."""

from __future__ import annotations

from typing import assert_type

import amble
from amble.evaluation.run_distributions import RunDistributions
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


def ways_to_call() -> bool:
    """Judgments and runs, by place or by name, or rankings: all give the same."""
    qrels, runs = {"1": {"a": 1}, "2": {"b": 1}}, {name: {"1": {"a": 1.0}, "2": {"b": 1.0}} for name in "xy"}
    rankings = assert_type(amble.align(qrels, runs, depth=10), amble.Rankings)
    scores = assert_type(amble.evaluate(rankings, [nDCG @ 10, "AP"], undefined="skip"), amble.Scores)
    assert_type(scores.aligned, amble.Rankings)
    assert_type(amble.evaluate(rankings=rankings, measures="AP"), amble.Scores)
    assert_type(amble.evaluate(qrels=qrels, runs=runs, measures="AP", depth=10, ties="expected"), amble.Scores)
    assert_type(amble.evaluate(amble.Sessions.of_queries([[1, 0]]), MsM), amble.Scores)
    assert_type(amble.cwl(rankings, "RBP", topics=True), amble.Table)
    assert_type(amble.run_distributions(qrels, runs, "AP", threads=1), RunDistributions)
    assert_type(amble.why(qrels, runs, "1", "AP", unjudged="condense"), amble.Contributions)
    found = assert_type(amble.compare(qrels, runs, "AP", "x", test="sign", missing="skip"), amble.Comparison)
    for other in (amble.compare(rankings, "AP", baseline="x", test="sign"), amble.compare(scores, "AP", "x", "sign")):
        if other.p.tolist() != found.p.tolist():
            return False
    return amble.cwl(qrels, runs, "RBP", topics=True, depth=10).rows == amble.cwl(rankings, "RBP", topics=True).rows


def refused(rankings: amble.Rankings, scores: amble.Scores, sessions: amble.Sessions) -> None:
    """What the types of measures and functions find wrong, before it is run."""
    amble.evaluate(rankings)  # type: ignore[call-overload]
    amble.evaluate(rankings, "AP", depth=10)  # type: ignore[call-overload]
    amble.evaluate(sessions, "MsM", undefined="skip")  # type: ignore[call-overload]
    amble.evaluate("qrels.txt", "AP")  # type: ignore[call-overload]
    amble.evaluate("qrels.txt", "my.run", "AP", dept=10)  # type: ignore[call-overload]
    amble.evaluate("qrels.txt", "my.run", "AP", depth="10")  # type: ignore[call-overload]
    amble.evaluate("qrels.txt", "my.run", "AP", ties="docid")  # type: ignore[call-overload]
    amble.evaluate(qrels="qrels.txt", measures="AP")  # type: ignore[call-overload]
    amble.cwl(scores, "AP")  # type: ignore[call-overload]
    amble.run_distributions(rankings, "AP", ties="file")  # type: ignore[call-overload]
    amble.why(rankings)  # type: ignore[call-overload]
    amble.compare("qrels.txt", "my.run")  # type: ignore[call-overload]
    amble.report(rankings, "AP", depth=10)  # type: ignore[call-overload]
    nDCG(gain="exp")  # type: ignore[call-arg]
    nDCG(10)  # type: ignore[call-arg]
    RBP(p="0.5")  # type: ignore[arg-type]
    nDCG @ "10"  # type: ignore[operator]
