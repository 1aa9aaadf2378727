"""Runs fused: arithmetic by hand, another tool's figures, brute force, and what must not matter."""

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drawing import examples
from hypothesis import given
from hypothesis import strategies as st

import amble
from amble.fusion import METHODS
from amble.io.trec import run_text

Runs = dict[str, dict[str, dict[str, float]]]

# x ranks a, b, c; y ranks b, d. Topic 2 is answered by y alone.
TWO: Runs = {
    "x": {"1": {"a": 3.0, "b": 2.0, "c": 1.0}},
    "y": {"1": {"b": 9.0, "d": 8.0}, "2": {"e": 5.0}},
}
GOLDEN = json.loads((Path(__file__).parent / "golden" / "fusion_ranx.json").read_text())


def fused(runs: Any, method: str, topic: str = "1", **options: Any) -> dict[str, float]:
    return dict(amble.fuse(runs, method, **options).documents()[topic])


# min-max: x gives a 1, b 1/2, c 0; y gives b 1, d 0
BY_HAND = {
    "combsum": {"a": 1, "b": 1.5, "c": 0, "d": 0},
    "combmnz": {"a": 1, "b": 3, "c": 0, "d": 0},
    "combanz": {"a": 1, "b": 0.75, "c": 0, "d": 0},
    "combmax": {"a": 1, "b": 1, "c": 0, "d": 0},
    "combmin": {"a": 1, "b": 0.5, "c": 0, "d": 0},
    "combmed": {"a": 1, "b": 0.75, "c": 0, "d": 0},
    "rrf": {"a": 1 / 61, "b": 1 / 61 + 1 / 62, "c": 1 / 63, "d": 1 / 62},
    # four documents: x gives 4, 3, 2 and the one left to d; y gives b 4, d 3, and (2 + 1) / 2 each to a and c
    "borda": {"a": 5.5, "b": 7, "c": 3.5, "d": 4},
    # a over b: one vote each; b over c, d: 2; a over c: x; a over d: x for a, y for d; d over c: one each.
    # Borda's order b, a, d, c stands: no majority is against it
    "condorcet": {"b": 3, "a": 2, "d": 1, "c": 0},
}


@pytest.mark.parametrize("method", METHODS)
def test_by_hand(method: str) -> None:
    assert fused(TWO, method) == pytest.approx(BY_HAND[method], abs=1e-15)


@pytest.mark.parametrize(
    ("norm", "x", "y"),
    [
        ("minmax", [1, 0.5, 0], [1, 0]),
        # mean 2, deviation sqrt(2/3); mean 8.5, deviation 1/2
        ("z", [1.5**0.5, 0, -(1.5**0.5)], [1, -1]),
        # less the least: 2, 1, 0 of 3; 1, 0 of 1
        ("sum", [2 / 3, 1 / 3, 0], [1, 0]),
        ("none", [3, 2, 1], [9, 8]),
    ],
)
def test_norms(norm: str, x: list[float], y: list[float]) -> None:
    expected = {"a": x[0], "b": x[1] + y[0], "c": x[2], "d": y[1]}
    assert fused(TWO, "combsum", norm=norm) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize(("norm", "value"), [("minmax", 1.0), ("z", 0.0), ("sum", 0.5)])
def test_lists_of_equal_scores(norm: str, value: float) -> None:
    assert fused({"x": {"1": {"a": 7.0, "b": 7.0}}}, "combsum", norm=norm) == {"a": value, "b": value}


@pytest.mark.parametrize("norm", ["minmax", "z", "sum"])
def test_huge_scores(norm: str) -> None:
    huge = {"x": {"1": {"a": 1.7e308, "b": 0.0, "c": -1.7e308}}}
    small = {"x": {"1": {"a": 1.0, "b": 0.0, "c": -1.0}}}
    assert fused(huge, "combsum", norm=norm) == pytest.approx(fused(small, "combsum", norm=norm))


def test_a_sum_that_is_too_large() -> None:
    runs = {name: {"1": {"a": 1.7e308}} for name in "xy"}
    with pytest.raises(amble.AmbleError, match="topic 1: a fused score is too large for a double"):
        amble.fuse(runs, "combsum", norm="none")


@pytest.mark.parametrize("case", GOLDEN["fused"])
def test_the_figures_of_ranx(case: str) -> None:
    method, norm = case.split()
    ours = amble.fuse(GOLDEN["runs"], method, norm=norm).documents()
    for topic, scores in GOLDEN["fused"][case].items():
        assert dict(ours[topic]) == pytest.approx(scores, abs=1e-12)


def test_weights() -> None:
    # 2 x 1/61; 2/62 + 3/61; 2/63; 3/62
    expected = {"a": 2 / 61, "b": 2 / 62 + 3 / 61, "c": 2 / 63, "d": 3 / 62}
    assert fused(TWO, "rrf", weights=[2, 3]) == pytest.approx(expected)
    assert fused(TWO, "rrf", weights={"x": 2, "y": 3}) == pytest.approx(expected)
    assert fused(TWO, "rrf", weights={"y": 1.5})["a"] == pytest.approx(1 / 61)
    assert fused(TWO, "rrf", rrf_k=0)["b"] == pytest.approx(1 + 1 / 2)


def test_depth_and_most() -> None:
    assert set(fused(TWO, "rrf", depth=1)) == {"a", "b"}
    assert list(fused(TWO, "rrf", top=2)) == ["b", "a"]
    # c and d tie for the third place: the later id stays, as it would be ranked first
    assert list(fused(TWO, "combsum", top=3)) == ["b", "a", "d"]


def test_a_topic_of_one_run() -> None:
    for method in METHODS:
        assert list(fused(TWO, method, topic="2")) == ["e"]


LISTS = st.lists(
    st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=8, unique=True), min_size=1, max_size=5
).map(lambda lists: {f"r{i}": {"1": {d: float(9 - j) for j, d in enumerate(of)}} for i, of in enumerate(lists)})


@given(LISTS, st.sampled_from(METHODS), st.randoms(use_true_random=False))
@examples(150)
def test_the_order_of_runs_does_not_matter(runs: Runs, method: str, random: Any) -> None:
    names = list(runs)
    random.shuffle(names)
    again = amble.fuse({name: runs[name] for name in names}, method).documents()["1"]
    assert again == amble.fuse(runs, method).documents()["1"]  # to the last bit


@given(LISTS, st.sampled_from(["combsum", "combmnz", "rrf", "borda", "condorcet"]))
@examples(80)
def test_a_weight_of_two_is_a_run_given_twice(runs: Runs, method: str) -> None:
    twice = runs | {f"{name} again": of for name, of in runs.items()}
    scale = 4 if method == "combmnz" else 2 if method != "condorcet" else 1  # twice as many runs have a document
    one, both = fused(runs, method), fused(twice, method)
    assert {doc: scale * score for doc, score in one.items()} == pytest.approx(both)
    weighted = fused(runs, method, weights=[2] * len(runs))
    assert weighted == pytest.approx({doc: s * (2 if method != "condorcet" else 1) for doc, s in one.items()})


def majority(runs: Runs, weights: list[float]) -> Callable[[str, str], bool]:
    """Whether more votes are for the first than for the second, by the definition."""

    def beats(d: str, e: str) -> bool:
        margin = 0.0
        for weight, run in zip(weights, runs.values(), strict=True):
            order = sorted(run["1"], key=lambda doc: -run["1"][doc])
            place = {doc: i for i, doc in enumerate(order)}
            a, b = place.get(d, 99), place.get(e, 99)
            margin += weight * ((a < b) - (b < a))
        return margin > 1e-9

    return beats


@given(LISTS, st.lists(st.sampled_from([1.0, 1.0, 2.0, 0.5]), min_size=5, max_size=5))
@examples(200)
def test_condorcet_by_brute_force(runs: Runs, weights: list[float]) -> None:
    weights = weights[: len(runs)]
    beats = majority(runs, weights)
    order = list(fused(runs, "condorcet", weights=weights))
    assert not [pair for pair in itertools.pairwise(order) if beats(pair[1], pair[0])]
    for doc in order:
        if all(beats(doc, other) for other in order if other != doc):
            assert order[0] == doc  # Condorcet's winner
        if all(beats(other, doc) for other in order if other != doc):
            assert order[-1] == doc
    # without ties and circles there is one order, and it is this
    if all(beats(d, e) or beats(e, d) for d, e in itertools.combinations(order, 2)):
        reach = {d: {e for e in order if beats(d, e)} for d in order}
        for k, d, e in itertools.product(order, repeat=3):
            if k in reach[d] and e in reach[k]:
                reach[d].add(e)
        for d, e in itertools.combinations(order, 2):  # d stands above e
            assert e in reach[d] or d not in reach[e]


def test_votes_that_are_equal_but_for_rounding_are_equal() -> None:
    # .1 + .2 is above .3 in doubles; x over y has .1 + .2, y over x .3, so that Borda's points decide:
    # x 3 (.1 + .2) + .3 = 1.2, y 2 (.1 + .2) + 3 (.3) = 1.5, z .1 + .2 + 2 (.3) = .9
    assert 0.1 + 0.2 > 0.3
    runs = {"a": "xyz", "b": "xyz", "c": "yzx"}
    data = {name: {"1": {d: 3.0 - i for i, d in enumerate(of)}} for name, of in runs.items()}
    assert "".join(fused(data, "condorcet", weights=[0.1, 0.2, 0.3])) == "yxz"


def test_a_circle_of_majorities() -> None:
    runs = {"x": "abc", "y": "bca", "z": "cab"}  # a over b, b over c, c over a: two to one each
    data = {name: {"1": {d: 3.0 - i for i, d in enumerate(of)}} for name, of in runs.items()}
    order = "".join(fused(data, "condorcet"))
    assert order in "abcab"


def test_many_documents_and_topics_are_sorted_side_by_side() -> None:
    rng = np.random.default_rng(4)
    sizes = [1, 2, 3, 17, 40]
    runs: Runs = {f"r{i}": {} for i in range(3)}
    for t, n in enumerate(sizes):
        for run in runs.values():
            docs = rng.choice(n, size=max(1, n - int(rng.integers(3))), replace=False)
            run[str(t)] = {f"d{d}": float(-i) for i, d in enumerate(docs)}
    documents = amble.fuse(runs, "condorcet").documents()
    for t in range(len(sizes)):
        one = {name: {"1": run[str(t)]} for name, run in runs.items()}
        order = [doc for doc, _ in documents[str(t)]]
        beats = majority(one, [1.0] * 3)
        assert not [pair for pair in itertools.pairwise(order) if beats(pair[1], pair[0])]
        assert order == list(fused(one, "condorcet"))


@pytest.mark.parametrize("method", METHODS)
def test_what_is_written_is_read_in_the_same_order(method: str, write: Callable[[str, str], str]) -> None:
    runs = {"x": {"1": {"é": 1.0, "b": 1.0, "中": 1.0}}, "y": {"1": {"\udcff": 1.0, "z": 0.5, "b": 0.5}}}
    documents = amble.fuse(runs, method).documents()
    path = write("fused.run", run_text(documents, method).encode("utf-8", "surrogateescape") + b"\n")  # type: ignore[arg-type]
    again = amble.read_runs(path)[0].documents()
    assert again["1"] == documents["1"]
    assert again.tag == method
    ranks = [line.split()[3] for line in Path(path).read_bytes().decode("utf-8", "surrogateescape").splitlines()]
    assert ranks == [str(i + 1) for i in range(len(documents.docs))]


def test_nothing_given_is_changed() -> None:
    runs = copy.deepcopy(TWO)
    first = [amble.fuse(runs, method).documents()["1"] for method in METHODS]
    assert runs == TWO
    assert first == [amble.fuse(runs, method).documents()["1"] for method in METHODS]


def test_a_fused_run_is_a_run() -> None:
    scores = amble.evaluate({"1": {"b": 1}}, [amble.fuse(TWO, tag="both"), {"x": TWO["x"]}], "RR")
    assert scores.runs == ("both", "x")
    assert scores["both", "RR"].tolist() == [1.0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "best"}, "method='best': expected one of 'combsum'"),
        ({"norm": "max"}, "norm='max': expected one of 'minmax'"),
        ({"rrf_k": -1}, "rrf_k=-1: expected a number of at least 0"),
        ({"rrf_k": float("nan")}, "rrf_k=nan"),
        ({"top": 0}, "top=0: expected a whole number of at least 1"),
        ({"depth": 0}, "depth=0"),
        ({"ties": "expected"}, "ties='expected': expected one of 'docno', 'rank', 'file'"),
        ({"weights": [1]}, "1 weights for 2 runs"),
        ({"weights": [1, 0]}, "weights 1, 0: expected numbers above 0"),
        ({"weights": [1, float("nan")]}, "expected numbers above 0"),
        ({"weights": {"z": 1}}, "weight of 'z', which is not among the runs: x, y"),
        ({"weights": "ab"}, "expected one number per run"),
    ],
)
def test_what_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(amble.AmbleError) as error:
        amble.fuse(TWO, **options)
    assert message in str(error.value)


def test_the_least_numbers_there_are() -> None:
    lists = {"x": {"1": {"a": 1e-323, "b": 5e-324, "c": 0.0}}}  # twice and once the least above 0
    assert fused(lists, "combsum", norm="minmax") == {"a": 1.0, "b": 0.5, "c": 0.0}


def test_the_median_of_two_of_the_largest_numbers() -> None:
    lists = {"x": {"1": {"a": 1e308}}, "y": {"1": {"a": 1.5e308}}}  # their sum is no double
    assert fused(lists, "combmed", norm="none") == {"a": 1.25e308}


@pytest.mark.parametrize("method", ["combsum", "rrf", "borda", "condorcet"])
def test_a_weight_of_two_is_the_run_twice(method: str) -> None:
    lists = {"x": {"1": {"a": 3.0, "b": 2.0, "c": 1.0}}, "y": {"1": {"c": 9.0, "d": 8.0, "b": 1.0}}}
    assert fused(lists, method, weights=[1, 2]) == pytest.approx(fused({**lists, "z": lists["y"]}, method))
