"""`amble.compat.beir` beside pytrec_eval, of whose scores BEIR takes means, and beside formulas written apart."""

from __future__ import annotations

import copy
import math
import random
from typing import Any

import pytest
import pytrec_eval

import amble
from amble.compat import beir

K = [1, 3, 5, 10]


def drawn(seed: int) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Judgments and results with ties, scores equal as floats, missing and empty topics, documents named as topics."""
    rng = random.Random(seed)
    docs = [f"{rng.choice('abc')}{i}" for i in range(12)] + ["t0", "t1", "t2"]
    scores = [0.5, 0.5 + 1e-10, 1.5, 2.0, -1.0]
    qrels = {f"t{t}": {d: rng.randint(0, 3) for d in rng.sample(docs, rng.randint(1, 9))} for t in range(6)}
    results = {f"t{t}": {d: rng.choice(scores) for d in rng.sample(docs, rng.randint(1, 15))} for t in range(1, 8)}
    results["t3"] = {}
    return qrels, results


def theirs(qrels: Any, results: Any, ignore: bool) -> list[dict[str, float]]:
    """BEIR's evaluation: means of pytrec_eval's scores over the topics that it returns."""
    if ignore:
        results = {t: {d: x for d, x in docs.items() if d != t} for t, docs in results.items()}
    names = {"NDCG": "ndcg_cut", "MAP": "map_cut", "Recall": "recall", "P": "P"}
    wanted = {f"{name}.{','.join(map(str, K))}" for name in names.values()}
    scores = pytrec_eval.RelevanceEvaluator(qrels, wanted).evaluate(results)
    return [
        {f"{ours}@{k}": round(sum(of[f"{name}_{k}"] for of in scores.values()) / len(scores), 5) for k in K}
        for ours, name in names.items()
    ]


@pytest.mark.parametrize("ignore", [True, False])
def test_the_four_dictionaries(ignore: bool) -> None:
    for seed in range(60):
        qrels, results = drawn(seed)
        before = copy.deepcopy((qrels, results))
        found = beir.evaluate(qrels, results, K, ignore_identical_ids=ignore)
        assert list(found) == theirs(qrels, results, ignore), seed
        assert [list(each) for each in found] == [[f"{name}@{k}" for k in K] for name in ("NDCG", "MAP", "Recall", "P")]
        assert (qrels, results) == before


def test_by_hand() -> None:
    qrels = {"q1": {"d1": 2, "d2": 1}, "q2": {"q2": 1}}
    results = {"q1": {"d2": 0.9, "d9": 0.8, "d1": 0.7}, "q2": {"q2": 5.0, "d1": 1.0}, "q3": {"d1": 1.0}}
    ndcg, average, recall, precision = beir.evaluate(qrels, results, [3])
    # q1: (1 + 2 / log2(4)) / (2 + 1 / log2(3)); q2: its only relevant document is ignored
    assert ndcg == {"NDCG@3": round((1 + 2 / 2) / (2 + 1 / math.log2(3)) / 2, 5)}
    assert average == {"MAP@3": round((1 + 2 / 3) / 2 / 2, 5)}
    assert recall == {"Recall@3": 0.5}
    assert precision == {"P@3": round(2 / 3 / 2, 5)}
    assert beir.evaluate(qrels, results, [3], ignore_identical_ids=False)[2] == {"Recall@3": 1.0}


def formulas(qrels: Any, results: Any, k: int) -> dict[str, float]:
    """The other metrics, from ranks, for topics that are in both."""
    order = {
        t: [d for _, d in sorted(enumerate(docs), key=lambda x: (-docs[x[1]], x[0]))] for t, docs in results.items()
    }
    good = {t: [d for d in docs if docs[d] >= 1] for t, docs in qrels.items()}
    places = {t: [order[t].index(d) + 1 for d in good[t] if d in order[t]] for t in qrels}
    inside = {t: [x for x in places[t] if x <= k] for t in qrels}
    known = set().union(*qrels.values())
    n = len(qrels)
    return {
        "mrr": sum(1 / min(x) for x in inside.values() if x) / n,
        "recall_cap": sum(len(inside[t]) / min(len(good[t]), k) for t in qrels if good[t]) / n,
        "hole": sum(len(set(order[t][:k]) - known) for t in qrels) / k / n,
        "top_k_accuracy": sum(map(bool, inside.values())) / n,
    }


def test_the_other_metrics() -> None:
    names = {"mrr": "MRR", "recall_cap": "R_cap", "hole": "Hole", "top_k_accuracy": "Accuracy"}
    for seed in range(60):
        qrels, results = drawn(seed)
        both = sorted(qrels.keys() & results.keys())
        qrels, results = {t: qrels[t] for t in both}, {t: results[t] for t in both}
        before = copy.deepcopy((qrels, results))
        for metric, name in names.items():
            found = beir.evaluate_custom(qrels, results, K, metric)
            assert found == {f"{name}@{k}": round(formulas(qrels, results, k)[metric], 5) for k in K}, (seed, metric)
        assert (qrels, results) == before


def test_topics_that_are_missing_count_nothing() -> None:
    qrels, results = {"1": {"a": 1}, "2": {"a": 0}, "3": {"b": 1}}, {"1": {"a": 1.0}, "2": {"a": 1.0}, "9": {"x": 1.0}}
    assert beir.evaluate_custom(qrels, results, [1], "MRR@k") == {"MRR@1": round(1 / 3, 5)}
    assert beir.evaluate_custom(qrels, results, [1], "acc") == {"Accuracy@1": round(1 / 3, 5)}
    assert beir.evaluate_custom(qrels, results, [1], "r_cap") == {"R_cap@1": round(1 / 3, 5)}
    assert beir.evaluate_custom(qrels, results, [1, 2], "hole") == {
        "Hole@1": round(1 / 3, 5),
        "Hole@2": round(1 / 6, 5),
    }


def test_accuracy_is_by_scores_not_by_letters() -> None:
    assert beir.evaluate_custom({"q": {"da": 1}}, {"q": {"dz": 1.0, "da": 2.0}}, [1], "accuracy") == {"Accuracy@1": 1.0}


def test_a_table_of_data_sets() -> None:
    qrels, results = drawn(3)
    one, two = beir.evaluate(qrels, results, [10]), beir.evaluate(qrels, results, [10], False)
    table = beir.table({"a": one, "b": two})
    assert table.columns == ("data set", "NDCG@10", "MAP@10", "Recall@10", "P@10")
    assert table["NDCG@10"] == [one[0]["NDCG@10"], two[0]["NDCG@10"], (one[0]["NDCG@10"] + two[0]["NDCG@10"]) / 2]
    assert table["data set"] == ["a", "b", "mean"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: beir.evaluate({"1": {"a": 1}}, {"2": {"a": 1.0}}, [1]), "results: no topic in common with the qrels"),
        (lambda: beir.evaluate({"1": {"a": 1}}, {"1": {"1": 1.0}}, [1]), "results: no topic in common with the qrels"),
        (lambda: beir.evaluate({"1": {"a": 1}}, {"1": {"a": 1.0}}, []), "k_values: found none, expected ranks"),
        (lambda: beir.evaluate({"1": {"a": 1}}, {"1": {"a": 1.0}}, [0]), "k_values=0"),
        (
            lambda: beir.evaluate_custom({"1": {"a": 1}}, {"1": {"a": 1.0}}, [1], "ndcg"),
            "metric 'ndcg': expected one of",
        ),
        (lambda: beir.evaluate_custom({}, {}, [1], "mrr"), "no topics, expected"),
        (lambda: beir.table({}), "no data sets with measures"),
        (lambda: beir.table({"a": {"x": 1.0}, "b": {"y": 1.0}}), "b: found y, expected x, as the first has"),
    ],
)
def test_what_is_wrong(call: Any, message: str) -> None:
    with pytest.raises(amble.AmbleError, match=message):
        call()


def test_whole_numbers_are_ids_here_too() -> None:
    # the topic itself at rank 1 is left out: the relevant document is first
    for qrels, results in (({"1": {"2": 1}}, {1: {1: 9.0, 2: 1.0}}), ({1: {2: 1}}, {"1": {"1": 9.0, "2": 1.0}})):
        assert beir.evaluate(qrels, results, [1])[0] == {"NDCG@1": 1.0}  # type: ignore[arg-type]
        assert beir.evaluate_custom(qrels, results, [2], "mrr") == {"MRR@2": 0.5}  # type: ignore[arg-type]


@pytest.mark.parametrize("results", [{"1": {"a": float("nan")}}, {"1": {"a": "9"}}, {"1": ["b", "a"]}, [], {"1": 3}])
def test_results_that_are_none(results: Any) -> None:
    for ask in (
        lambda: beir.evaluate({"1": {"a": 1}}, results, [1]),
        lambda: beir.evaluate_custom({"1": {"a": 1}}, results, [1], "mrr"),
    ):
        with pytest.raises(amble.AmbleError, match="^results: "):
            ask()
    with pytest.raises(amble.AmbleError, match=r"k_values=10: expected ranks, such as"):
        beir.evaluate({"1": {"a": 1}}, {"1": {"a": 1.0}}, 10)  # type: ignore[arg-type]
