"""Tables that others made."""

from __future__ import annotations

from collections import OrderedDict
from decimal import Decimal
from types import MappingProxyType, SimpleNamespace
from typing import NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pytest

import amble

pytestmark = pytest.mark.twin

QRELS = {"401": {"a": 1, "b": 0}, "402": {"a": 2}}
ROWS = [("401", "a", 1), ("401", "b", 0), ("402", "a", 2)]
RUN = [("401", "a", 2.5), ("402", "x", 1.0)]


class Qrel(NamedTuple):
    """As ir_datasets has it: more than three fields, in another order."""

    query_id: str
    doc_id: str
    relevance: int
    iteration: str


@pytest.mark.parametrize(
    "names", [("topic", "doc", "grade"), ("query_id", "doc_id", "relevance"), ("qid", "docno", "label")]
)
def test_frames(names: tuple[str, str, str]) -> None:
    columns = dict(zip(names, map(list, zip(*ROWS, strict=True)), strict=True))
    for frame in (pd.DataFrame(columns), pl.DataFrame(columns), pl.DataFrame(columns).lazy()):
        assert amble.read_qrels(frame).to_dict() == {"401": {"a": 1.0, "b": 0.0}, "402": {"a": 2.0}}


def test_frames_with_a_categorical_topic() -> None:
    frame = pd.DataFrame(ROWS, columns=["topic", "doc", "grade"]).astype({"topic": "category"})
    assert amble.read_qrels(frame).topics == ("401", "402")


def test_iterables_and_ir_datasets() -> None:
    qrels = [Qrel("401", "a", 1, "0"), Qrel("401", "b", 0, "0"), Qrel("402", "a", 2, "0")]
    dataset = SimpleNamespace(qrels_iter=lambda: iter(qrels))
    for source in (ROWS, iter(ROWS), qrels, dataset, MappingProxyType(QRELS), OrderedDict(QRELS)):
        assert amble.read_qrels(source).to_dict() == QRELS


def test_runs_in_memory() -> None:
    frame = pd.DataFrame(RUN, columns=["qid", "docno", "score"])
    polar = pl.DataFrame(RUN, schema=list(frame), orient="row")
    for run in ({"401": {"a": 2.5}, "402": {"x": 1.0}}, frame, polar, RUN):
        rankings = amble.align(QRELS, {"mine": run})
        assert rankings.runs == ("mine",)
        assert rankings.grades("mine", "401").tolist() == [1.0]
        assert np.isnan(rankings.grades("mine", "402")).all()
    assert amble.align(QRELS, {"401": {"a": 2.5}}).runs == ("run",)


def test_scores_may_be_any_number() -> None:
    run = {"401": {"a": np.float32(1.5), "b": Decimal("1.25"), "x": True, "y": np.int64(3)}}
    assert amble.align(QRELS, {"r": run}).rank.tolist() == [2, 3]


def test_ids_are_strings() -> None:
    ids = {"007": {"NA": 1, "001": 0, "1e3": 2}}
    assert amble.read_qrels(ids).to_dict() == ids
    frame = pd.DataFrame({"topic": [401.0], "doc": ["a"], "grade": [1]})
    with pytest.raises(
        amble.ReadError, match="row 0: topic 401.0 is of type float, expected a string or a whole number"
    ):
        amble.read_qrels(frame)


def test_whole_numbers_are_ids() -> None:
    wanted = {"401": {"7": 1.0}}
    for ids in ({401: {7: 1}}, {"401": {7: 1}}, {np.int64(401): {"7": 1}}, [(401, 7, 1)]):
        assert amble.read_qrels(ids).to_dict() == wanted
    for library in (pd, pl):
        frame = library.DataFrame({"topic": [401], "doc": [7], "grade": [1]})
        assert amble.read_qrels(frame).to_dict() == wanted
    assert amble.evaluate({1: {2: 1}}, {"1": {"2": 0.5, 3: 0.7}}, "RR").values.item() == 0.5


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({"401": {"a": float("nan")}}, "topic '401', document 'a': grade nan is not a finite number"),
        ({"401": {"a": "1"}}, "grade '1' is not a finite number"),
        ({"401": {"a": None}}, "grade None is not a finite number"),
        ({"401": "a"}, "topic '401': value 'a' is of type str, expected a dictionary"),
        (
            {"401": ["a"], "402": "a"},
            "topic '402': value 'a' is of type str, expected a dictionary, or a list of docum",
        ),
        ({"401": [("a", 1), "b"]}, r"document \('a', 1\) is of type tuple"),
        ([("401", "a")], r"row 0: found \('401', 'a'\), expected \(topic, doc, grade\)"),
        ([("401", "a", 1), ("401", "a", 0)], r"row 1: document 'a' is judged twice for topic '401' \(first in row 0\)"),
        (pd.DataFrame({"topic": ["1"], "grade": [1]}), "no column for the document among topic, grade"),
        (7, "found int, expected a path"),
        ({}, "empty, expected judgments"),
        ({"401": {}}, "empty, expected judgments"),
    ],
)
def test_what_cannot_be_read(source: object, message: str) -> None:
    with pytest.raises(amble.ReadError, match=message):
        amble.read_qrels(source)


def test_duplicates_in_a_frame() -> None:
    rows = [("401", "a", 2.0), ("402", "a", 1.0), ("401", "a", 3.0)]
    twice = r"r: row 2: document 'a' appears twice for topic '401' \(first in row 0\)"
    with pytest.raises(amble.ReadError, match=twice):
        amble.align(QRELS, {"r": rows})
    assert amble.align(QRELS, {"r": rows}, duplicates="best").audit.duplicates.tolist() == [1]


def test_inputs_are_left_alone() -> None:
    frame = pd.DataFrame(ROWS, columns=["topic", "doc", "grade"])
    before = frame.copy(deep=True)
    amble.align(frame, {"r": {"401": {"a": 1.0}}})
    pd.testing.assert_frame_equal(frame, before)


def test_documents_in_rank_order() -> None:
    documents = amble.read_runs({"r": {"2": {"b": 1, "a": 1}, "1": {"x": -1, "y": 3}}})[0].documents()
    assert documents.topics == ("2", "1")
    assert documents["2"] == [("b", 1.0), ("a", 1.0)]
    assert documents["1"] == [("y", 3.0), ("x", -1.0)]
    with pytest.raises(KeyError):
        documents["3"]


def test_no_runs() -> None:
    with pytest.raises(amble.ReadError, match="no runs given"):
        amble.read_runs()
    with pytest.raises(amble.ReadError, match="run name 3 is of type int"):
        amble.read_runs({3: {"1": {"2": {"a": 1}}}})


def test_a_column_twice() -> None:
    frame = pd.DataFrame([("401", "a", 1, 0)], columns=["topic", "doc", "grade", "grade"])
    with pytest.raises(amble.ReadError, match="2 columns are called grade, expected one"):
        amble.read_qrels(frame)
