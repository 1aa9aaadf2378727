"""The drop-in for pytrec_eval: its names, its numbers, its silences, and the same kinds of errors in amble's words."""

from __future__ import annotations

import copy
import importlib.util
import math
import warnings
from collections import OrderedDict, defaultdict
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from drawing import SHARE

import amble
from amble.compat import pytrec_eval

pytestmark = pytest.mark.twin

SCRIPT = Path(__file__).parent.parent / "benchmarks" / "agree_pytrec_eval.py"
QRELS = {"q1": {"d1": 0, "d2": 1, "d3": 0}, "q2": {"d2": 1, "d3": 1}}
FIRST = {"q1": {"d1": 1.0, "d2": 2.0, "d3": 1.5}}  # the relevant d2 at rank 1
SECOND = {"q1": {"d1": 4.0, "d2": 2.0, "d3": 1.5}}
THIRD = {"q1": {"d1": 1.0, "d2": 0.0, "d3": 1.5}}


def evaluator(*measures: str, qrels: Any = QRELS, **how: Any) -> pytrec_eval.RelevanceEvaluator:
    return pytrec_eval.RelevanceEvaluator(qrels, set(measures), **how)


# ---- against pytrec_eval itself


def test_equal_in_every_value() -> None:
    pytest.importorskip("pytrec_eval", reason="pytrec_eval is not installed: pip install pytrec-eval-terrier")
    spec = importlib.util.spec_from_file_location("agree_pytrec_eval", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    evaluations = round(400 * SHARE)
    compared, largest = script.drop_in(evaluations, seed=1)
    assert compared > 60 * evaluations
    assert largest <= 1e-12


def test_the_same_names() -> None:
    theirs = pytest.importorskip("pytrec_eval", reason="pip install pytrec-eval-terrier")
    assert pytrec_eval.supported_measures == theirs.supported_measures
    assert {name: theirs.supported_nicknames[name] for name in pytrec_eval.supported_nicknames} == (
        pytrec_eval.supported_nicknames
    )


# ---- what its own tests check


def test_ndcg_again_and_again() -> None:
    of = evaluator("map", "ndcg")
    for more in ({}, {"q2": {}}):
        assert of.evaluate(THIRD | more)["q1"]["ndcg"] == pytest.approx(0.5)  # 1 / log2(4)
        assert of.evaluate(FIRST | more)["q1"]["ndcg"] == 1.0
        assert of.evaluate(SECOND | more)["q1"]["ndcg"] == pytest.approx(1 / math.log2(3))
        assert of.evaluate(FIRST | more)["q1"]["ndcg"] == 1.0


def test_ndcg_at_ranks() -> None:
    assert evaluator("ndcg_cut.3").evaluate(THIRD)["q1"] == {"ndcg_cut_3": pytest.approx(0.5)}
    assert evaluator("ndcg_cut.1").evaluate(FIRST)["q1"] == {"ndcg_cut_1": 1.0}
    found = evaluator("ndcg_cut.1,2,3,1000").evaluate(THIRD | {"q2": {}})["q1"]
    assert found == pytest.approx({"ndcg_cut_1": 0.0, "ndcg_cut_2": 0.0, "ndcg_cut_3": 0.5, "ndcg_cut_1000": 0.5})


RANKS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
CURVE = {f"iprec_at_recall_{i / 10:.2f}" for i in range(11)}
COUNTS = {"runid", "num_q", "num_ret", "num_rel", "num_rel_ret"}
OFFICIAL = COUNTS | CURVE | {"map", "gm_map", "Rprec", "bpref", "recip_rank"} | {f"P_{k}" for k in RANKS}
SETS = COUNTS | {"utility", "set_P", "set_relative_P", "set_recall", "set_map", "set_F"}


def test_nicknames() -> None:
    def names(*asked: str) -> set[str]:
        return set(evaluator(*asked).evaluate({"q1": {}, "q2": {}})["q1"])

    assert names("official") == OFFICIAL
    assert names("set") == SETS
    assert names("official", "set", "ndcg") == OFFICIAL | SETS | {"ndcg"}
    cut = {f"{name}_{k}" for name in ("recall", "ndcg_cut", "map_cut", "relative_P") for k in RANKS}
    more = {"relstring", "infAP", "gm_bpref", "11pt_avg", "binG", "G", "ndcg", "ndcg_rel", "Rndcg"}
    more |= {f"Rprec_mult_{i / 5:.2f}" for i in range(1, 11)} | {"success_1", "success_5", "success_10"}
    assert names("all_trec") == OFFICIAL | SETS | cut | more | {"num_nonrel_judged_ret"}


def test_aggregates_of_files_are_those_of_evaluate(tmp_path: Path) -> None:
    # its integration tests: read files, score, aggregate, compare with trec_eval's row "all"
    qrels, run = tmp_path / "a.qrels", tmp_path / "a.run"
    qrels.write_text("1 0 a 1\n1 0 b 2\n1 0 c 0\n2 0 a 1\n2 0 d 1\n")
    run.write_text("1 Q0 c 1 3 x\n1 Q0 a 2 2 x\n1 Q0 b 3 1 x\n2 Q0 d 1 2 x\n2 Q0 e 2 1 x\n")
    for level in (1, 2):
        with qrels.open() as f_qrel, run.open() as f_run:
            of = evaluator("map", "gm_map", "num_rel_ret", qrels=pytrec_eval.parse_qrel(f_qrel), relevance_level=level)
            found = of.evaluate(pytrec_eval.parse_run(f_run))
        names = {"map": f"AP(rel={level})", "gm_map": f"GMAP(rel={level})", "num_rel_ret": f"NumRelRet(rel={level})"}
        means = amble.evaluate(qrels, run, list(names.values())).means()[0]
        for name, mean in zip(names, means, strict=True):
            values = [of_topic[name] for of_topic in found.values()]
            assert pytrec_eval.compute_aggregated_measure(name, values) == pytest.approx(mean, abs=1e-12)


# ---- by hand


def test_scores_by_hand() -> None:
    # ranks: x, a (1), c (2), b (0) of qrels a 1, b 0, c 2, e 1; a second topic has no list
    qrels = {"1": {"a": 1, "b": 0, "c": 2, "e": 1}, "2": {"z": 1}}
    run = {"1": {"a": 3.0, "x": 4, "c": 2.5, "b": -1.0}}
    found = evaluator("map", "gm_map", "P.2", "recall_3", "recip_rank", "num_q", qrels=qrels).evaluate(run)
    ap = (1 / 2 + 2 / 3) / 3
    assert found == {
        "1": {
            "num_q": 1.0,
            "map": pytest.approx(ap),
            "gm_map": pytest.approx(math.log(ap)),
            "recip_rank": 0.5,
            "P_2": 0.5,
            "recall_3": pytest.approx(2 / 3),
        }
    }
    assert list(found["1"]) == ["num_q", "map", "gm_map", "recip_rank", "P_2", "recall_3"]  # trec_eval's order
    # only c is relevant; b, of grade 0, is judged, x is not: c is second of three
    level = evaluator("map", "num_ret", qrels=qrels, relevance_level=2, judged_docs_only_flag=True).evaluate(run)
    assert level == {"1": {"num_ret": 3.0, "map": 0.5}}


def test_scores_are_compared_as_floats() -> None:
    # equal as floats, so that the greater docno, b, comes first; as doubles a does
    run = {"q": {"a": 1.0 + 1e-9, "b": 1.0}}
    qrels = {"q": {"a": 1, "b": 0}}
    assert evaluator("recip_rank", qrels=qrels).evaluate(run) == {"q": {"recip_rank": 0.5}}
    assert amble.evaluate(qrels, run, "RR").values.item() == 1.0


def test_interpolated_precision_is_that_of_trec_eval_9() -> None:
    # recall 0.25 of 3 relevant: int(0.75 + 0.9) = 1 of them, found at rank 2; 0.5: int(2.4) = 2, at rank 4
    qrels, run = {"q": {"a": 1, "b": 1, "c": 1}}, {"q": {"x": 4.0, "a": 3.0, "y": 2.0, "b": 1.0}}
    found = evaluator("iprec_at_recall.0.25,0.5,1", qrels=qrels).evaluate(run)["q"]
    assert found == {"iprec_at_recall_0.25": 0.5, "iprec_at_recall_0.50": 0.5, "iprec_at_recall_1.00": 0.0}


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        (("P.3", "P"), ["P_3"]),
        (("P_10,9",), ["P_9", "P_10"]),
        (("P_3", "P.1"), ["P_1", "P_3"]),
        (("ndcg_cut_2.5",), ["ndcg_cut_2"]),
        (("success.2",), ["success_2"]),
        (("Rprec_mult.0.5,1.5",), ["Rprec_mult_0.50", "Rprec_mult_1.50"]),
        (("map.10",), ["map"]),
        (("set_F.0.5", "11pt_avg.0.1,0.5"), ["11pt_avg", "set_F"]),
        ((), []),
    ],
)
def test_names_in_and_out(asked: tuple[str, ...], names: list[str]) -> None:
    assert list(evaluator(*asked).evaluate(FIRST)["q1"]) == names


def test_silent_where_it_is_silent() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert evaluator("map").evaluate({}) == {}
        assert evaluator("map").evaluate({"q9": {"d1": 1.0}}) == {}  # no topic in common
        assert evaluator("map").evaluate({"q1": {"x": 1.0}}) == {"q1": {"map": 0.0}}  # no judged document
        assert evaluator("map", qrels={}).evaluate(FIRST) == {}
        assert evaluator("map", qrels={"q1": {}, "q2": {"d2": 1}}).evaluate(FIRST | {"q2": {"d2": 1}}) == {
            "q2": {"map": 1.0}
        }
        assert evaluator("map", "gm_map", "num_ret").evaluate({"q1": {}}) == {
            "q1": {"num_ret": 0.0, "map": 0.0, "gm_map": math.log(1e-5)}
        }
        # which judgments and which scores cannot be told from the numbers: nothing is guessed
        assert evaluator("map", qrels={"q": {"a": 5, "b": 7}}).evaluate({"q": {"a": 1, "b": 1}}) == {"q": {"map": 1.0}}


def test_inputs_stay_as_they_are_and_later_changes_do_not_count() -> None:
    qrels, run = copy.deepcopy(QRELS), copy.deepcopy(SECOND)
    of = evaluator("map", qrels=qrels)
    assert of.evaluate(run) == {"q1": {"map": 0.5}}
    assert (qrels, run) == (QRELS, SECOND)
    qrels["q1"]["d1"] = 1
    assert of.evaluate(run) == {"q1": {"map": 0.5}}


def test_dictionaries_of_other_kinds() -> None:
    run = defaultdict(dict, SECOND)
    for qrels in (OrderedDict(QRELS), MappingProxyType(QRELS)):
        assert evaluator("map", qrels=qrels).evaluate(run) == {"q1": {"map": 0.5}}


# ---- mistakes


@pytest.mark.parametrize(
    ("qrels", "run"),
    [
        ({"1": {"a": None}}, {}),
        ([("1", {"a": 1})], {}),
        ({"1": {"a": 1}}, {"1": {"a": "x"}}),
        ({"1": {"a": 1}}, {"1": {"a": None}}),
        ({"1": {"a": 1}}, {"1": []}),
        ({"1": {"a": 1}}, [("1", {})]),
    ],
)
def test_wrong_types(qrels: Any, run: Any) -> None:
    with pytest.raises(TypeError, match="expected|finite") as caught:
        evaluator("map", qrels=qrels).evaluate(run)
    assert isinstance(caught.value, amble.AmbleError)
    assert "\n" not in str(caught.value)


def test_whole_numbers_are_ids() -> None:  # there they are errors
    found = evaluator("map", qrels={1: {2: 1}}).evaluate({1: {2: 1.0, 3: 2.0}})  # topics as they were given
    assert found == {1: {"map": 0.5}}
    found = evaluator("map", qrels={1: {2: 1}}).evaluate({1: {2: 1.0, 3: 2.0}, 9: {2: 1.0}})
    assert found == {1: {"map": 0.5}}  # also where there are others


@pytest.mark.parametrize(
    ("asked", "kind", "message"),
    [
        ({"foo"}, ValueError, "unsupported measure foo, expected one of runid, num_q"),
        ({"P_10x"}, ValueError, "unsupported measure P_10x"),
        ({"prefs"}, ValueError, "unsupported measure prefs"),
        ({"P.0"}, ValueError, "P@0 is not allowed"),
        ({"ndcg.5"}, ValueError, "ndcg takes no numbers, found 5"),
        ("map", ValueError, "expected a set of names, {'map'}"),
        ([1], TypeError, "measure 1 is of type int, expected a name"),
    ],
)
def test_wrong_measures(asked: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind) as caught:
        pytrec_eval.RelevanceEvaluator(QRELS, asked)
    assert message in str(caught.value)


@pytest.mark.parametrize("level", [0, -1, 1.5, "1"])
def test_wrong_levels(level: Any) -> None:
    with pytest.raises(TypeError, match="expected a whole number from 1 on"):
        evaluator("map", relevance_level=level)


def test_lines_of_files() -> None:
    assert pytrec_eval.parse_run(["1 Q0 a 1 2.5 x", "1 Q0 b 2 1 x"]) == {"1": {"a": 2.5, "b": 1.0}}
    assert pytrec_eval.parse_qrel(["1 0 a 1", "2 0 a -1"]) == {"1": {"a": 1}, "2": {"a": -1}}
    for wrong, kind, message in (
        (["1 Q0 a 1 2.5"], ValueError, "line 1: found 5 columns, expected 6: topic Q0 doc rank score tag"),
        (["1 Q0 a 1 2.5 x", "1 Q0 a 1 zz x"], AssertionError, "line 2: document a comes twice for topic 1"),
        (["1 Q0 a 1 zz x"], ValueError, "line 1: found 'zz', expected a number"),
    ):
        with pytest.raises(kind, match=message):
            pytrec_eval.parse_run(wrong)
    with pytest.raises(ValueError, match="found '1.5', expected a whole number"):
        pytrec_eval.parse_qrel(["1 0 a 1.5"])


def test_aggregates() -> None:
    assert pytrec_eval.compute_aggregated_measure("num_ret", [1, 2]) == 3.0
    assert pytrec_eval.compute_aggregated_measure("gm_map", [-1.0, -2.0]) == pytest.approx(math.exp(-1.5))
    assert pytrec_eval.compute_aggregated_measure("map", [0.5, 1]) == 0.75
    assert math.isnan(pytrec_eval.compute_aggregated_measure("map", []))
    assert pytrec_eval.compute_aggregated_measure("num_q", []) == 0.0
