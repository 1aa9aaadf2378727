"""Reduced pools: judging again is what reading a cut qrels file gives; and what is kept is what is said."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import amble
from amble.cli.demo_collection import make_collection
from amble.errors import AmbleError, MeasureError
from amble.measures import REGISTRY
from amble.metaevaluation import (
    depth_pool,
    groups_by_prefix,
    judge_again,
    leave_out,
    pool_effect,
    sampled_pools,
    without_group,
)
from amble.metaevaluation.reduced_pools import first_ranks

OWN = [name for name, d in REGISTRY.items() if d.family != "yours"]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo")
    make_collection(folder, topics=8)
    return folder


def runs_of(folder: Path) -> list[str]:
    return [str(path) for path in sorted(folder.glob("*.run"))]


def cut_file(folder: Path, kept: np.ndarray) -> str:
    """A qrels file of the kept lines (rows are in the order of the file, topic by topic)."""
    lines = (folder / "qrels.txt").read_text().splitlines(keepends=True)
    assert len(lines) == kept.size
    path = folder / "cut.txt"
    path.write_text("".join(line for line, keep in zip(lines, kept.tolist(), strict=True) if keep))
    return str(path)


@pytest.mark.parametrize(
    "options",
    [{}, {"unjudged": "condense"}, {"depth": 20}, {"missing": "skip"}, {"ties": "expected"}, {"ties": "file"}],
    ids=str,
)
@pytest.mark.parametrize("rate", [0.7, 0.1])
def test_judging_again_is_reading_again(demo: Path, options: dict[str, object], rate: float) -> None:
    rankings = amble.align(demo / "qrels.txt", runs_of(demo), **options)
    before = rankings.qrels.grades.copy(), rankings.row.copy()
    kept = sampled_pools(rankings, [rate], seed=3)[0]
    again = judge_again(rankings, kept)
    fresh = amble.align(cut_file(demo, kept), runs_of(demo), **options)
    assert fresh.topics == rankings.topics
    compared = 0
    for name in OWN:
        measure = amble.parse(name)
        try:
            expected = measure.scores(amble.measures.Lists.of_rankings(fresh))
        except MeasureError:  # no closed form for ties='expected'
            continue
        assert np.array_equal(measure.scores(again), expected), name
        compared += 1
    assert compared > (5 if options.get("ties") == "expected" else 40)
    assert np.array_equal(rankings.qrels.grades, before[0])
    assert np.array_equal(rankings.row, before[1])


def test_a_topic_may_lose_all_its_judgments() -> None:
    rankings = amble.align({"1": {"a": 1}, "2": {"b": 1}}, {"x": {"1": {"a": 1.0}, "2": {"b": 1.0}}})
    assert amble.parse("AP").scores(judge_again(rankings, np.array([True, False]))).tolist() == [1.0, 0.0]
    with pytest.raises(AmbleError, match="no judgment is left"):
        judge_again(rankings, np.array([False, False]))
    with pytest.raises(AmbleError, match="for each of the 2 judgments"):
        judge_again(rankings, np.array([True]))


def test_sampled_pools_keep_what_they_should(demo: Path) -> None:
    rankings = amble.align(demo / "qrels.txt", runs_of(demo))
    qrels = rankings.qrels
    rates = (1.0, 0.9, 0.5, 0.1)
    pools = sampled_pools(rankings, rates, seed=1)
    for larger, smaller in itertools.pairwise(pools):
        assert not (smaller & ~larger).any()
    for rate, kept in zip(rates, pools, strict=True):
        for t in range(len(qrels.topics)):
            rows = slice(int(qrels.offsets[t]), int(qrels.offsets[t + 1]))
            relevant = qrels.grades[rows] >= 1
            for which, least in ((relevant, 1), (~relevant, 10)):
                n = int(which.sum())
                assert int(kept[rows][which].sum()) == min(n, max(int(rate * n + 1e-9), least))
    assert all(map(np.array_equal, pools, sampled_pools(rankings, rates, seed=1)))
    assert not np.array_equal(pools[2], sampled_pools(rankings, rates, seed=2)[2])
    few = sampled_pools(rankings, [0.1], relevant=3, nonrelevant=0)[0]
    for t in range(len(qrels.topics)):
        rows = slice(int(qrels.offsets[t]), int(qrels.offsets[t + 1]))
        relevant = qrels.grades[rows] >= 1
        assert few[rows][relevant].sum() == max(3, int(0.1 * relevant.sum()))
        assert few[rows][~relevant].sum() == int(0.1 * (~relevant).sum())
    for rate in (0.0, 1.1, True):
        with pytest.raises(AmbleError, match="expected a number above 0 and at most 1"):
            sampled_pools(rankings, [rate])


def test_each_judgment_is_as_likely(demo: Path) -> None:
    rankings = amble.align(demo / "qrels.txt", runs_of(demo))
    times = sum(sampled_pools(rankings, [0.5], seed=s, nonrelevant=0)[0].astype(int) for s in range(400))
    topic = np.repeat(np.arange(8), np.diff(rankings.qrels.offsets))
    for t in range(8):
        for relevant in (True, False):
            of_kind = times[(topic == t) & ((rankings.qrels.grades >= 1) == relevant)]
            expected = 400 * int(0.5 * of_kind.size) / of_kind.size
            assert np.abs(of_kind - expected).max() < 5 * np.sqrt(400 * 0.25)


def test_depths_and_groups_by_the_documents(demo: Path) -> None:
    rankings = amble.align(demo / "qrels.txt", runs_of(demo))
    first: dict[tuple[str, str], dict[int, int]] = {}
    for r, run in enumerate(rankings.sources):
        documents = run.documents()
        for topic in rankings.topics:
            if topic in documents.topics:
                for rank, (doc, _) in enumerate(documents[topic], 1):
                    first.setdefault((topic, doc), {})[r] = rank
    qrels = rankings.qrels
    topics = np.repeat(np.array(qrels.topics), np.diff(qrels.offsets)).tolist()
    keys = list(zip(topics, qrels.docs, strict=True))
    best = [min(first.get(key, {0: 2**31 - 1}).values()) for key in keys]
    assert first_ranks(rankings).tolist() == best
    assert depth_pool(rankings, 7).tolist() == [b <= 7 for b in best]
    only = [min((v for r, v in first.get(key, {}).items() if r in (1, 2)), default=2**31 - 1) for key in keys]
    assert first_ranks(rankings, [1, 2]).tolist() == only
    expected = []
    for key in keys:
        ranks = first.get(key, {})
        mine = any(v <= 10 for r, v in ranks.items() if r in (1, 2))
        theirs = any(v <= 10 for r, v in ranks.items() if r not in (1, 2))
        expected.append(theirs or not mine)
    assert without_group(rankings, [1, 2], 10).tolist() == expected


def test_effect_is_that_of_evaluating_again(demo: Path) -> None:
    rankings = amble.align(demo / "qrels.txt", runs_of(demo))
    effect = pool_effect(rankings, "AP GMAP bpref", rates=[0.5, 0.2], rounds=3, seed=5, threads=2)
    full = amble.evaluate(rankings, "AP GMAP bpref").means()
    for i in range(3):
        for k, kept in enumerate(sampled_pools(rankings, [0.5, 0.2], seed=(5, i))):
            means = amble.evaluate(cut_file(demo, kept), runs_of(demo), "AP GMAP bpref").means()
            assert effect.sizes[k, i] == kept.sum()
            assert effect.means[k, i] == pytest.approx(means.mean(axis=0))
            for j in range(3):
                tau = stats.kendalltau(full[:, j], means[:, j]).statistic
                assert effect.taus[k, i, j] == pytest.approx(tau)
    assert effect.full == pytest.approx(full.mean(axis=0))
    again = pool_effect(rankings, "AP GMAP bpref", rates=[0.5, 0.2], rounds=3, seed=5, threads=1)
    assert np.array_equal(effect.taus, again.taus)
    assert len(effect.table()) == 9
    row = effect.table(confidence=0.5).rows[3]  # AP of the half, after three rows of the full pool
    assert row[4:6] == pytest.approx(np.quantile(effect.means[0, :, 0], [0.25, 0.75]))
    assert set(effect.numbered()["kept"]) == {100.0, 50.0, 20.0}
    by_depth = pool_effect(rankings, "AP", depths=[1, 5])
    assert by_depth.pools == ("depth 1", "depth 5")
    assert by_depth.means.shape == (2, 1, 1)
    assert by_depth.numbered()["kept"] == [1.0, 5.0]
    with pytest.raises(AmbleError, match="expected rates or depths"):
        pool_effect(rankings, "AP", rates=())
    with pytest.raises(AmbleError, match="at least 2 to rank"):
        pool_effect(amble.align(demo / "qrels.txt", runs_of(demo)[:1]), "AP")


def test_bpref_stands_a_smaller_pool_better_than_ap(demo: Path) -> None:
    effect = pool_effect(amble.align(demo / "qrels.txt", runs_of(demo)), "AP bpref", rates=[0.4], rounds=5)
    left = effect.means.mean(axis=1)[0] / effect.full
    assert left[1] > left[0]


def test_leaving_groups_out(demo: Path) -> None:
    rankings = amble.align(demo / "qrels.txt", runs_of(demo))
    groups = groups_by_prefix(rankings.runs, 2)
    assert groups["bm"] == [i for i, name in enumerate(rankings.runs) if name.startswith("bm")]
    found = leave_out(rankings, "AP P@10", groups, depth=10)
    full = amble.evaluate(rankings, "AP P@10").means()
    named = leave_out(rankings, "AP P@10", {g: [rankings.runs[i] for i in of] for g, of in groups.items()}, depth=10)
    assert found.table().rows == named.table().rows
    for k, (group, mine) in enumerate(groups.items()):
        kept = without_group(rankings, mine, 10)
        means = amble.evaluate(cut_file(demo, kept), runs_of(demo), "AP P@10").means()
        assert found.groups[k] == group
        assert found.unique[k] == (~kept).sum()
        assert found.unique_relevant[k] == (~kept & (rankings.qrels.grades >= 1)).sum()
        assert found.without[k] == pytest.approx(means[mine].mean(axis=0))
        assert (found.without[k] <= found.full[k]).all()
        for j in range(2):
            assert found.taus[k, j] == pytest.approx(stats.kendalltau(full[:, j], means[:, j]).statistic)
            before, after = ((of[:, j] > of[:, j, None]).sum(axis=1) for of in (full, means))  # how many are better
            assert found.moved[k, j] == abs(before - after)[mine].max()
    with pytest.raises(AmbleError, match="is not among the 6 runs"):
        leave_out(rankings, "AP", {"a": ["nobody"], "b": ["dense"]})
    with pytest.raises(AmbleError, match="expected at least 2"):
        leave_out(rankings, "AP", {"a": ["dense"]})
    with pytest.raises(AmbleError, match="has no run"):
        leave_out(rankings, "AP", {"a": [], "b": ["dense"]})
