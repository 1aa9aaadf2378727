"""amble's measures inside ir_measures: the values of `amble.evaluate`, beside measures of its own."""

from __future__ import annotations

import pickle
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import amble
import amble.compat.ir_measures as compat

QRELS = {"1": {"a": 1, "b": 2, "c": 0}, "2": {"a": 1, "d": 1}, "3": {"e": 1}}  # the run has no topic 3
RUN = {"1": {"c": 3.0, "b": 2.0, "x": 2.0, "a": 1.0}, "2": {"d": 2.0, "x": 1.0}}
NAMES = ["PH(p=0.5,q=0.25)", "INST", "MP", "AP", "nDCG@2", "NumRel", "GMAP"]


def test_without_it_there_is_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "ir_measures", None)
    compat._kind.cache_clear()
    for call in (lambda: compat.measure("AP"), compat.register, compat.unregister):
        with pytest.raises(amble.MeasureError, match="pip install ir-measures"):
            call()
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


def test_frames_that_were_changed_are_aligned_anew() -> None:
    pytest.importorskip("ir_measures", reason="pip install ir-measures")
    pd = pytest.importorskip("pandas")
    qrels = pd.DataFrame({"query_id": ["1", "1"], "doc_id": ["a", "b"], "relevance": [1, 0]})
    run = pd.DataFrame({"query_id": ["1", "1"], "doc_id": ["a", "b"], "score": [2.0, 1.0]})
    rr = compat.measure("RR")

    def found() -> list[float]:
        return [metric.value for metric in rr.runtime_impl(qrels, run)]

    assert found() == [1.0]
    run.loc[0, "score"] = 0.0  # b, then a
    assert found() == [0.5]
    qrels.loc[1, "relevance"] = 1
    assert found() == [1.0]


# ---- the provider


@pytest.fixture
def theirs() -> Iterator[Any]:
    """ir_measures, with amble registered."""
    ir_measures = pytest.importorskip("ir_measures", reason="pip install ir-measures")
    compat.register()
    compat.register()  # changes nothing
    yield ir_measures
    compat.unregister()
    assert "amble" not in ir_measures.providers.registry
    assert len({id(provider) for provider in ir_measures.DefaultPipeline.providers}) == 10


def test_every_measure_is_claimed_or_not(theirs: Any) -> None:
    names = {m.NAME for m in theirs.measures.registry.values()}
    assert names == set(compat.CLAIMED) | set(compat.NOT_CLAIMED)
    assert not set(compat.CLAIMED) & set(compat.NOT_CLAIMED)
    provider = theirs.providers.registry["amble"]
    assert theirs.DefaultPipeline.providers.count(provider) == 1
    assert {m.NAME for m in provider.SUPPORTED_MEASURES} == set(compat.CLAIMED)
    page = Path(__file__).parent.parent.joinpath("docs", "neighbours.md").read_text(encoding="utf-8")
    assert [name for name in names if f"`{name}`" not in page] == []
    others = "RBP RBP(rel=1,p=0.99) RBP(rel=1)@5 ERR@5 NumRel(rel=2) RR(judged_only=True)@5 nDCG(dcg='exp-log2')@5"
    others += " IPrec(judged_only=True)@0.5 INST(max_rel=2)"
    assert [text for text in others.split() if provider.supports(theirs.parse_measure(text))] == []


# by provider: what it computes that is claimed, and whether it orders documents of equal scores as amble does
OWN = {
    "pytrec_eval": (
        "AP AP@5 AP(rel=2)@3 AP(judged_only=True) Bpref Bpref(rel=2) IPrec@0.0 IPrec(rel=2)@0.35 IPrec@1.0 NumQ NumRel "
        "NumRet NumRet(rel=1) NumRet(rel=2) P@5 P(rel=2)@10 P(judged_only=True)@3 R@5 R(rel=2)@3 R(judged_only=True)@4 "
        "RR RR(rel=2) RR(judged_only=True) Rprec Rprec(rel=2) Rprec(judged_only=True) SetAP SetAP(rel=2) "
        "SetF SetF(beta=2.0) SetF(beta=0.3,rel=2) SetF(judged_only=True) SetP SetP(rel=2) SetP(relative=True) "
        "SetP(judged_only=True) SetR SetR(rel=2) Success@1 Success(rel=2)@5 Success(judged_only=True)@2 infAP "
        "infAP(rel=2) nDCG nDCG@5 nDCG(judged_only=True)@5 nDCG(gains={1:3,2:1})@4 nDCG(gains={0:1,1:2,2:7})",
        True,
    ),
    "judged": ("Judged Judged@5", False),
    "msmarco": ("RR@5 RR(rel=2)@3", False),
    "cwl_eval": ("RBP(rel=1) RBP(rel=2,p=0.5) RBP(rel=1,p=0.95)", False),
}


def drawn(rng: random.Random, ties: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """Judgments and a run, each with topics that the other lacks; scores tied, some as floats only, or not."""
    docs = [f"d{i}" for i in range(30)]
    qrels = {
        f"t{t}": {doc: rng.choice([-1, 0, 0, 1, 1, 2, 3]) for doc in rng.sample(docs, rng.randint(1, 20))}
        for t in range(rng.randint(1, 5))
    }
    run = {
        f"t{t}": {
            doc: rng.choice([1.0, 2.0, 2.0 + 1e-9, 3.0]) if ties else rng.random()
            for doc in rng.sample(docs, rng.randint(1, 30))
        }
        for t in range(rng.randint(1, 6))
    }
    return qrels, run


@pytest.mark.parametrize("name", OWN)
def test_claimed_measures_have_the_values_of_its_own_providers(theirs: Any, name: str) -> None:
    own, ours = theirs.providers.registry[name], theirs.providers.registry["amble"]
    if not own.is_available():
        pytest.skip(f"{name} is not installed")
    texts, ordered = OWN[name]
    measures = [theirs.parse_measure(text) for text in texts.split()]
    rng = random.Random(7)
    for i in range(8):
        qrels, run = drawn(rng, ties=ordered and bool(i % 2))
        found, expected = (
            {(str(m.measure), m.query_id): m.value for m in provider.iter_calc(measures, qrels, run)}
            for provider in (ours, own)
        )
        assert len(found) == len(qrels) * len(measures)
        assert found == pytest.approx(expected, abs=1e-12)
        aggregates = ours.calc_aggregate(measures, qrels, run)
        assert aggregates == pytest.approx(own.calc_aggregate(measures, qrels, run), abs=1e-12)


def test_the_pipeline_asks_amble(theirs: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    once = amble.measures.ListMeasure.scores
    monkeypatch.setattr(amble.measures.ListMeasure, "scores", lambda m, lists: asked.append(m.label) or once(m, lists))
    # c, x, b, a: (1/3 + 2/4) / 2; d, x: 1/2; topic 3 is missing
    found = theirs.calc_aggregate([theirs.AP, theirs.RR @ 1], QRELS, RUN)
    assert found == {theirs.AP: pytest.approx((5 / 12 + 1 / 2) / 3), theirs.RR @ 1: pytest.approx(1 / 3)}
    assert sorted(asked) == ["AP(rel=1)", "RR(rel=1)@1"]
    assert theirs.calc_aggregate([theirs.AP], QRELS, {"1": {}}) == {theirs.AP: 0.0}
    assert theirs.calc_aggregate([theirs.AP], QRELS, {"9": {"a": 1.0}}) == {theirs.AP: 0.0}  # without a word


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
