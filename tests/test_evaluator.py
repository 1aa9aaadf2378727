"""An evaluator gives what `evaluate` gives, again and again, whatever runs it saw before."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import amble
from amble.cli.main import main
from amble.measures import REGISTRY

MEASURES = [
    "AP",
    "nDCG@10",
    "nDCG@3",
    "RR",
    "nDCG(gains='exp')",
    "ERR",
    "RBP(p=0.8)",
    "PH(p=0.5,q=0.25)",
    "bpref",
    "INST",
]
Run = dict[str, dict[str, float]]


def drawn(seed: int) -> tuple[dict[str, dict[str, int]], list[Run]]:
    rng = random.Random(seed)
    docs = [f"d{i}" for i in range(30)]
    qrels = {str(t): {doc: rng.choice((-1, 0, 0, 1, 2)) for doc in rng.sample(docs, 12)} for t in range(6)}
    runs: list[Run] = [
        {
            str(t): {doc: rng.randint(0, 9) / 4 for doc in rng.sample(docs, rng.randint(1, 25))}
            for t in rng.sample(range(7), 5)
        }
        for _ in range(4)
    ]
    return qrels, runs


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"missing": "skip", "undefined": "skip"},
        {"ties": "file", "depth": 5},
        {"unjudged": "condense", "score_dtype": "float32"},
    ],
)
def test_as_evaluate(options: dict[str, Any]) -> None:
    qrels, runs = drawn(1)
    evaluator = amble.Evaluator(qrels, MEASURES, **options)
    before = copy.deepcopy((qrels, runs))
    for run in [*runs, runs[0]]:
        REGISTRY.parsed.clear()  # read and parsed anew: nothing is shared with the evaluator but the dictionaries
        expected = amble.evaluate(qrels, run, MEASURES, **options)
        found = evaluator.evaluate(run)
        np.testing.assert_array_equal(found.values, expected.values)
        assert found.measures == tuple(MEASURES)
        assert str(found.rankings.audit) == str(expected.rankings.audit)
    assert (qrels, runs) == before
    several = evaluator.evaluate({"a": runs[0], "b": runs[1]})
    np.testing.assert_array_equal(several["b", "AP"], evaluator.evaluate(runs[1])["run", "AP"])


def test_by_hand() -> None:
    evaluator = amble.Evaluator({"1": {"a": 1, "b": 2}}, "AP nDCG@1")
    assert evaluator.evaluate({"1": {"a": 2.0, "b": 1.0}}).values.tolist() == [[[1.0, 0.5]]]
    assert evaluator.evaluate({"1": {"x": 3.0, "b": 1.0}}).values.tolist() == [[[0.25, 0.0]]]
    assert evaluator.evaluate({"1": {"b": 1.0}}).values.tolist() == [[[0.5, 1.0]]]
    assert [str(m) for m in evaluator.measures] == ["AP", "nDCG@1"]
    assert evaluator.qrels.topics == ("1",)


def test_files_and_later_changes(tmp_path: Path) -> None:
    qrels, run = tmp_path / "a.qrels", tmp_path / "a.run"
    qrels.write_text("1 0 a 1\n")
    run.write_text("1 Q0 b 1 2 x\n1 Q0 a 2 1 x\n")
    evaluator = amble.Evaluator(qrels, "RR")
    qrels.write_text("1 0 b 1\n")  # read before
    assert evaluator.evaluate(run)["x", "RR"].tolist() == [0.5]
    judged = {"1": {"a": 1}}
    evaluator = amble.Evaluator(judged, "RR")
    judged["1"]["b"] = 1
    assert evaluator.evaluate(run)["x", "RR"].tolist() == [0.5]


def test_mistakes() -> None:
    qrels = {"1": {"a": 1}}
    for wrong in (
        lambda: amble.Evaluator(qrels, "nDGC"),
        lambda: amble.Evaluator(qrels, "AP", undefined="nil"),  # type: ignore[arg-type]
        lambda: amble.Evaluator({}, "AP"),
        lambda: amble.Evaluator(qrels, "MsM"),  # of sessions
        lambda: amble.Evaluator(qrels, "AP").evaluate({"2": {"a": 1.0}}),
    ):
        with pytest.raises(amble.AmbleError) as caught:
            wrong()
        assert "\n" not in str(caught.value)
    with pytest.raises(TypeError, match="unexpected keyword argument 'tie'"):
        amble.Evaluator(qrels, "AP", tie="file")  # type: ignore[call-arg]


def test_an_expression_is_read_once_until_a_name_is_declared() -> None:
    REGISTRY.parsed.clear()  # others may have filled it
    assert amble.parse("RBP(p=0.7)") is amble.parse("RBP(p=0.7)")
    assert amble.parse("RBP(p=0.7)") is not amble.parse("RBP( p=0.7 )")  # another label
    assert amble.parse("RBP( p=0.7 )").label == "RBP( p=0.7 )"
    before = amble.parse("AP")

    REGISTRY["Own"] = REGISTRY["AP"]
    try:
        assert amble.parse("AP") is not before
        assert amble.parse("AP") == before
    finally:
        del REGISTRY["Own"]
    with pytest.raises(amble.MeasureError, match="no measure is called Own"):
        amble.parse("Own")


def test_a_measure_that_is_kept_keeps_its_name(write: Callable[[str, str], str]) -> None:
    qrels, run = write("qrels.txt", "1 0 a 1\n"), write("a.run", "1 Q0 a 1 1 x\n")
    assert amble.parse("P@7").label == "P@7"
    assert main(["eval", qrels, run, "-m", "P@7", "--format", "trec", "--quiet"]) == 0  # where it is called P_7
    assert amble.parse("P@7").label == "P@7"


@pytest.mark.parametrize(
    "wrong",
    [{"score_dtype": "f4"}, {"missing": "error"}, {"ties": "x"}, {"threads": -3}, {"depth": 0}, {"duplicates": "no"}],
)
def test_options_are_those_of_evaluate(wrong: dict[str, Any]) -> None:
    with pytest.raises(amble.AlignError) as ours:
        amble.Evaluator({"1": {"a": 1}}, "AP", **wrong)
    with pytest.raises(amble.AlignError) as theirs:
        amble.evaluate({"1": {"a": 1}}, {"1": {"a": 1.0}}, "AP", **wrong)
    assert str(ours.value) == str(theirs.value)


def test_columns_by_other_names() -> None:
    named = {"topic": "frage", "doc": "dok", "grade": "note", "score": "wert"}
    qrels = {"frage": ["1", "1"], "dok": ["a", "b"], "note": [1, 0]}
    run = {"frage": ["1", "1"], "dok": ["a", "b"], "wert": [1.0, 2.0]}
    frames = [pd.DataFrame(qrels), pd.DataFrame(run)]
    found = amble.Evaluator(frames[0], "RR", columns=named).evaluate(frames[1])  # type: ignore[typeddict-item]
    assert found.values.tolist() == [[[0.5]]]
