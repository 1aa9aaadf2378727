"""amble's measures inside ir_measures: the values of `amble.evaluate`, beside measures of its own."""

from __future__ import annotations

import pickle

import pytest

import amble
import amble.compat.ir_measures as compat

QRELS = {"1": {"a": 1, "b": 2, "c": 0}, "2": {"a": 1, "d": 1}, "3": {"e": 1}}  # the run has no topic 3
RUN = {"1": {"c": 3.0, "b": 2.0, "x": 2.0, "a": 1.0}, "2": {"d": 2.0, "x": 1.0}}
NAMES = ["PH(p=0.5,q=0.25)", "INST", "MP", "AP", "nDCG@2", "NumRel", "GMAP"]


def test_without_it_there_is_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "ir_measures", None)
    compat._kind.cache_clear()
    with pytest.raises(amble.MeasureError, match="pip install ir-measures"):
        compat.measure("AP")
    compat._kind.cache_clear()


def test_values_are_those_of_evaluate(monkeypatch: pytest.MonkeyPatch) -> None:
    ir_measures = pytest.importorskip("ir_measures", reason="pip install ir-measures")
    aligned = []
    monkeypatch.setattr(compat, "align", lambda *given: aligned.append(1) or amble.align(*given))
    ours = [compat.measure(name) for name in NAMES]
    expected = amble.evaluate(QRELS, RUN, NAMES)
    found = ir_measures.calc_aggregate([*ours, ir_measures.AP, ir_measures.nDCG @ 2], QRELS, RUN)
    assert [found[m] for m in ours] == pytest.approx(expected.means()[0].tolist(), abs=1e-14)
    assert found[ours[3]] == pytest.approx(found[ir_measures.AP])  # two columns, each with its name
    assert len(found) == len(NAMES) + 2
    assert len(aligned) == 1
    each = {(str(m.measure), m.query_id): m.value for m in ir_measures.iter_calc(ours, QRELS, RUN)}
    assert each == {
        (f"amble.{name}", topic): value
        for j, name in enumerate(NAMES)
        for topic, value in zip(expected.topics, expected.values[0, :, j].tolist(), strict=True)
    }


def test_measures_of_measures() -> None:
    pytest.importorskip("ir_measures", reason="pip install ir-measures")
    ndcg = compat.measure("nDCG")
    assert repr(ndcg @ 10) == "amble.nDCG@10"
    assert repr(compat.measure(amble.parse("RBP"))(p=0.5)) == "amble.RBP(p=0.5)"
    assert pickle.loads(pickle.dumps(ndcg @ 10)) == ndcg @ 10
    # c, x, b, a (x before b, of the same score): (1/3 + 2/4) / 2; d, x: 1/2; and topic 3 is missing
    assert compat.measure("AP").calc_aggregate(QRELS, RUN) == pytest.approx((5 / 12 + 1 / 2) / 3)


def test_experiment_of_pyterrier() -> None:
    pt = pytest.importorskip("pyterrier", reason="pip install python-terrier")
    pd = pytest.importorskip("pandas")
    qrels = pd.DataFrame(
        [(q, d, g) for q, of in QRELS.items() for d, g in of.items()], columns=["qid", "docno", "label"]
    )
    run = pd.DataFrame([(q, d, s) for q, of in RUN.items() for d, s in of.items()], columns=["qid", "docno", "score"])
    run["rank"] = run.groupby("qid")["score"].rank(ascending=False, method="first").astype(int) - 1
    topics = pd.DataFrame([(topic, "words") for topic in QRELS], columns=["qid", "query"])
    names = ["PH(p=0.5,q=0.25)", "INST", "MP", "AP"]
    table = pt.Experiment([run], topics, qrels, eval_metrics=[compat.measure(name) for name in names], names=["mine"])
    found = [table[f"amble.{name}"].item() for name in names]
    assert found == pytest.approx(amble.evaluate(QRELS, RUN, names).means()[0].tolist(), abs=1e-14)
