"""Pools: which documents, brought by whom; samples and strata; the pool of TREC-8."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drawing import examples
from hypothesis import given
from hypothesis import strategies as st

import amble
from amble.cli.demo_collection import make_collection
from amble.judging import unique_relevant
from amble.rankings.run_lists import read_run_lists

RUNS = {
    "x": {"1": {"a": 3.0, "b": 2.0, "c": 1.0}, "2": {"k": 1.0}},
    "y": {"1": {"d": 9.0, "a": 8.0, "e": 7.0}},
    "z": {"1": {"b": 5.0, "d": 4.0}},
}
QRELS = {"1": {"a": 1, "b": 0, "c": 1, "d": 2, "q": 1}, "3": {"r": 1}}


def test_by_hand() -> None:
    pool = amble.pool(RUNS, depth=2)
    assert repr(pool) == "Pool(3 runs, depth 2: 2 topics, 4 documents)"
    assert pool["1"] == ["a", "b", "d"]
    assert pool.first.tolist() == [1, 1, 1, 1]
    assert pool.count.tolist() == [2, 2, 2, 1]
    assert pool.contributors("1", "b") == {"x": 2, "z": 1}
    assert pool.contributors("2", "k") == {"x": 1}
    with pytest.raises(KeyError):
        pool.contributors("1", "c")
    with pytest.raises(KeyError):
        pool["3"]


def test_ties_decide_who_is_in(write: Callable[[str, str], str]) -> None:
    path = write("t.run", "1 Q0 a 1 5 t\n1 Q0 b 2 5 t\n")
    assert amble.pool(path, depth=1)["1"] == ["b"]
    assert amble.pool(path, depth=1, ties="rank")["1"] == ["a"]
    assert amble.pool(path, depth=1, ties="file")["1"] == ["a"]


def test_a_document_twice(write: Callable[[str, str], str]) -> None:
    path = write("t.run", "1 Q0 a 1 5 t\n1 Q0 a 2 4 t\n1 Q0 b 3 3 t\n")
    with pytest.raises(amble.ReadError, match="t.run:2: document 'a' appears twice"):
        amble.pool(path)
    pool = amble.pool(path, depth=2, duplicates="best")
    assert (pool["1"], pool.dropped) == (["a", "b"], 1)


RANDOM = st.dictionaries(
    st.sampled_from(["r1", "r2", "r3", "r4"]),
    st.dictionaries(
        st.sampled_from(["1", "2"]),
        st.dictionaries(st.sampled_from([*"abcdef", "é", "中", "\U0001f600"]), st.floats(-5, 5), min_size=1),
        min_size=1,
    ),
    min_size=1,
)


@given(RANDOM, st.integers(1, 5))
@examples(100)
def test_a_union_by_its_definition(runs: Any, depth: int) -> None:
    pool = amble.pool(runs, depth)
    for topic in {t for run in runs.values() for t in run}:
        ranks: dict[str, dict[str, int]] = {}
        for name, run in runs.items():
            docs = sorted(run.get(topic, {}), key=lambda d: (run[topic][d], d.encode()), reverse=True)
            for rank, doc in enumerate(docs[:depth], 1):
                ranks.setdefault(doc, {})[name] = rank
        assert pool[topic] == sorted(ranks, key=str.encode)
        rows = pool.rows(topic)
        assert pool.first[rows].tolist() == [min(ranks[doc].values()) for doc in pool[topic]]
        assert pool.count[rows].tolist() == [len(ranks[doc]) for doc in pool[topic]]
        for doc, of in ranks.items():
            assert pool.contributors(topic, doc) == of


def test_many_runs_are_read_in_parts() -> None:
    runs = {f"r{i:02d}": {"1": {f"d{i}": 2.0, "both": 1.0}} for i in range(40)}
    lists = read_run_lists(runs)
    assert len(lists["1"].docs) == 41
    assert lists["1"].run.tolist() == [i for i in range(40) for _ in range(2)]
    assert amble.pool(runs, 2).count[amble.pool(runs, 2)["1"].index("both")] == 40


def test_grades_and_judgments() -> None:
    pool = amble.pool(RUNS, depth=3)
    assert pool["1"] == ["a", "b", "c", "d", "e"]
    np.testing.assert_array_equal(pool.grades(QRELS), [1, 0, 1, 2, np.nan, np.nan])
    assert pool.judgments(QRELS).tolist() == [1, 0, 1, 2, -2, -2]
    keep = np.array([True, False, True, False, False, True])
    assert pool.judgments(QRELS, keep).tolist() == [1, -1, 1, -1, -1, -2]
    assert pool.judgments({"1": {"a": -1, "b": 0.5}}).tolist() == [-2, 0.5, -2, -2, -2, -2]


def test_text_is_a_qrels_file(write: Callable[[str, str], str]) -> None:
    pool = amble.pool(RUNS, depth=3)
    path = write("pool.txt", pool.text(pool.judgments(QRELS)) + "\n")
    assert Path(path).read_text().splitlines()[3:] == ["1 0 d 2", "1 0 e -2", "2 0 k -2"]
    read = amble.read_qrels(path)
    assert read["1"] == {"a": 1, "b": 0, "c": 1, "d": 2, "e": -2}
    scores = amble.evaluate(read, RUNS, "AP NumRel")
    assert scores["x", "NumRel"].tolist() == [3, 0]


def test_ids_that_are_no_word() -> None:
    with pytest.raises(amble.AmbleError, match="document 'two words' has a blank"):
        amble.pool({"x": {"1": {"two words": 1.0}}}).text()
    with pytest.raises(amble.AmbleError, match="topic '' is empty"):
        amble.pool({"x": {"": {"a": 1.0}}}).text()


MANY = {"x": {t: {f"d{i:03d}": -float(i) for i in range(n)} for t, n in (("1", 100), ("2", 7), ("3", 1))}}


@pytest.mark.parametrize(
    ("rate", "sizes"), [(0.1, [10, 1, 1]), (0.3, [30, 2, 1]), (0.5, [50, 4, 1]), (0.01, [1, 1, 1]), (1, [100, 7, 1])]
)
def test_samples(rate: float, sizes: list[int]) -> None:
    pool = amble.pool(MANY, depth=100)
    drawn = pool.sample(rate, seed=3)
    assert np.bincount(pool.topic_of()[drawn], minlength=3).tolist() == sizes
    assert (drawn <= pool.sample(1.0, seed=3)).all()
    np.testing.assert_array_equal(drawn, pool.sample(rate, seed=3))
    assert (drawn <= pool.sample(min(1.0, rate * 1.5), seed=3)).all()  # a smaller sample is part of a larger one
    if rate == 0.1:
        assert (drawn != pool.sample(rate, seed=4)).any()


def test_samples_are_fair() -> None:
    pool = amble.pool(MANY, depth=100)
    times = sum(pool.sample(0.2, seed=seed)[:100].astype(int) for seed in range(400))
    # 400 draws of 20 in 100: each document 80 times, deviation 8; 6 deviations for the largest of 100
    assert abs(times - 80).max() < 48


def test_strata() -> None:
    pool = amble.pool(MANY, depth=100)
    bands = [(10, 1.0), (50, 0.5), (100, 0.1)]
    drawn, stratum = pool.sample(strata=bands, seed=1), pool.strata([10, 50, 100])
    first = slice(0, 100)
    assert np.bincount(stratum[first])[1:].tolist() == [10, 40, 50]
    assert np.bincount(stratum[first][drawn[first]])[1:].tolist() == [10, 20, 5]
    assert stratum[pool.rows("3")].tolist() == [1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rate": 0}, "rate=0: expected a number above 0 and at most 1"),
        ({"rate": 1.5}, "rate=1.5"),
        ({"rate": float("nan")}, "rate=nan"),
        ({"rate": True}, "rate=True"),
        ({}, "expected a rate, or strata"),
        ({"rate": 0.5, "strata": [(100, 1)]}, "expected a rate, or strata"),
        ({"rate": 0.5, "seed": -1}, "seed=-1"),
        ({"strata": [(10, 1), (50, 0.5)]}, "strata 10, 50: expected depths that grow, the last of at least 100"),
        ({"strata": [(50, 1), (50, 0.5), (100, 1)]}, "expected depths that grow"),
        ({"strata": [(100, 2)]}, "rate=2: expected a number"),
    ],
)
def test_samples_that_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(amble.AmbleError) as error:
        amble.pool(MANY, depth=100).sample(**options)
    assert message in str(error.value)


def test_inferred_ap_of_a_sample_is_near_ap(tmp_path: Path) -> None:
    made = make_collection(tmp_path, topics=25)
    runs = [str(path) for path in made.runs]
    pool = amble.pool(runs, depth=10)
    full = amble.pool(runs, depth=10).judgments(made.qrels)
    full[full == -2] = 0  # all of it judged, what nobody judged as not relevant
    truth = amble.evaluate(_qrels(pool, full), runs, "AP").means()[:, 0]
    estimates = []
    for seed in range(20):
        sampled = np.where(pool.sample(0.5, seed=seed), full, -1)
        estimates.append(amble.evaluate(_qrels(pool, sampled), runs, "infAP").means()[:, 0])
    error = np.abs(np.mean(estimates, axis=0) - truth).max()
    assert error < 0.03  # AP of half the judgments alone is off by far more:
    half = np.where(pool.sample(0.5, seed=0), full, 0)
    assert np.abs(amble.evaluate(_qrels(pool, half), runs, "AP").means()[:, 0] - truth).max() > 0.03


def _qrels(pool: amble.Pool, grades: Any) -> list[tuple[str, str, float]]:
    topics = pool.topic_of().tolist()
    return [(pool.topics[t], doc, float(g)) for t, doc, g in zip(topics, pool.docs, grades, strict=True)]


@pytest.mark.parametrize("depth", [0, -1, True, 1.5, None, "10"])
def test_depths_that_are_refused(depth: Any) -> None:
    with pytest.raises(amble.AmbleError, match="expected a whole number of at least 1"):
        amble.pool(RUNS, depth=depth)


def test_nothing_given_is_changed() -> None:
    runs, qrels = copy.deepcopy(RUNS), copy.deepcopy(QRELS)
    pool = amble.pool(runs, 2)
    pool.grades(qrels)
    assert (runs, qrels) == (RUNS, QRELS)
    assert pool.text() == amble.pool(runs, 2).text()
    with pytest.raises(ValueError, match="read-only"):
        pool.first[0] = 7


def test_uniques_by_hand() -> None:
    # depth 2: x has a b (and k, unjudged), y has d a, z has b d: nothing is anyone's own
    rankings = amble.align(QRELS, RUNS)
    assert unique_relevant(rankings, 2)["unique"] == [0, 0, 0]
    # depth 3: x has c alone, which is relevant; y has e alone, which nobody judged
    table = unique_relevant(rankings, 3)
    assert [row[1:] for row in table] == [(1, 3, 2, 1, 1, 1 / 3), (1, 2, 2, 0, 0, 0.0), (1, 2, 1, 0, 0, 0.0)]
    # y and z together have d alone
    table = unique_relevant(rankings, 2, groups={"yz": ["y", "z"]})
    assert [row[0] for row in table] == ["yz", "x"]
    assert table["unique relevant"] == [1, 0]
    assert table["runs"] == [2, 1]
    # a grade below 0 is no judgment: of a and b, both brought by x alone, a is judged, and relevant
    rankings = amble.align({"1": {"a": 1, "b": -1}}, {"x": {"1": ["a", "b"]}})
    assert [row[2:5] for row in unique_relevant(rankings, 2)] == [(1, 1, 1)]


def test_uniques_are_what_a_pool_without_the_run_lacks(tmp_path: Path) -> None:
    made = make_collection(tmp_path, topics=6)
    runs = [str(path) for path in made.runs]
    rankings = amble.align(made.qrels, runs)
    whole = (amble.pool(runs, 10).grades(made.qrels) >= 1).sum()
    lost = [whole - (amble.pool(runs[:i] + runs[i + 1 :], 10).grades(made.qrels) >= 1).sum() for i in range(len(runs))]
    assert unique_relevant(rankings, 10)["unique relevant"] == lost
    assert (
        amble.metaevaluation.depth_pool(rankings, 10).sum()
        == np.isfinite(amble.pool(runs, 10).grades(made.qrels)).sum()
    )


def test_the_pool_of_trec8(runs: Path) -> None:
    """NIST pooled some of these runs to depth 100: all that was judged is in the pool of all of them."""
    pool = amble.pool(sorted(str(path) for path in (runs / "trec8" / "runs").iterdir()), depth=100)
    grades = pool.grades(str(runs / "trec8" / "qrels.txt"))
    assert (len(pool.runs), len(pool.topics)) == (129, 50)
    assert np.isfinite(grades).sum() == 86_830
    assert (grades >= 1).sum() == 4_728
