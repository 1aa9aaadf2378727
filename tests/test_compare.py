"""Comparisons: pairs and baselines, missing topics, odd scores, letters, documents that make the difference."""

from __future__ import annotations

import itertools
import json
import math
import subprocess
import sys
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
from amble.comparison.letters import letter_groups, letter_name, letters_of
from amble.comparison.p_values import Probability
from amble.measures import REGISTRY

TESTS = ("t", "wilcoxon", "sign", "permutation", "bootstrap", "tukey", "anova")
ONE_BY_ONE = TESTS[:5]
CLI = Callable[..., subprocess.CompletedProcess[str]]


def of(*systems: Any) -> dict[str, dict[str, float]]:
    """Scores of systems a, b, …, by topic."""
    return {chr(97 + i): {f"t{t:03d}": float(x) for t, x in enumerate(row)} for i, row in enumerate(systems)}


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return make_collection(tmp_path_factory.mktemp("demo"))


@pytest.fixture(scope="module")
def scores(demo: Any) -> amble.Scores:
    return amble.evaluate(str(demo.qrels), [str(run) for run in demo.runs], ["AP", "P@10", "GMAP"])


# ---- what is compared


def test_all_pairs_or_a_baseline(scores: amble.Scores) -> None:
    everything = amble.compare(scores, "AP")
    assert everything.pairs == list(itertools.combinations(scores.runs, 2))
    means = dict(zip(scores.runs, scores.means()[:, 0].tolist(), strict=True))
    for (a, b), d in zip(everything.pairs, everything.difference.tolist(), strict=True):
        assert d == pytest.approx(means[a] - means[b])
    against = amble.compare(scores, "AP", baseline="dense")
    assert against.pairs == [(run, "dense") for run in scores.runs if run != "dense"]
    whole = dict(zip(everything.pairs, everything.p.tolist(), strict=True))
    for (a, b), p in zip(against.pairs, against.p.tolist(), strict=True):
        assert p == whole.get((a, b), whole.get((b, a)))


@pytest.mark.parametrize("test", TESTS)
def test_baseline_or_not_makes_no_difference_to_p(scores: amble.Scores, test: str) -> None:
    everything = amble.compare(scores, "P@10", test=test, rounds=300)
    against = amble.compare(scores, "P@10", baseline="bm25", test=test, rounds=300)
    whole = dict(zip(everything.pairs, everything.p.tolist(), strict=True))
    wanted = [whole.get((a, b), whole.get((b, a))) for a, b in against.pairs]
    assert against.p == pytest.approx(wanted, rel=1e-9 if test == "anova" else 0, abs=0)


def test_the_table_names_what_was_asked(scores: amble.Scores) -> None:
    found = amble.compare(scores, "AP", baseline="bm25", test="wilcoxon", sides="greater", correction="bh", alpha=0.1)
    head = str(found).splitlines()
    assert head[0] == (
        "AP: Wilcoxon's signed-rank test (exact), one-sided (greater), alpha 0.1, "
        "Benjamini and Hochberg's correction of 5 comparisons with bm25"
    )
    assert head[1] == (
        "25 topics, some missing on one side in 1 comparison (scored 0), 90 % confidence intervals by Student's t"
    )
    assert head[2] == "† significant difference from bm25 found"
    assert head[3].split()[:5] == ["run", "mean", "±", "difference", "low"]
    assert len(head) == 4 + 6
    table = found.table()
    assert table.facts["test"] == "wilcoxon"
    assert table.facts["missing_on_one_side"] == 1
    full = found.table(full=True)
    assert full.rows[0][:7] == ("AP", "wilcoxon", "greater", "bh", 0.1, "bm25+rm3", "bm25")
    assert full["statistic"] == found.statistic.tolist()
    assert "90 %" in found.table().latex().splitlines()[1]
    assert table.html().startswith("<table><caption>AP: Wilcoxon")


def test_small_probabilities_are_not_shown_as_0(scores: amble.Scores) -> None:
    found = amble.compare(scores, "AP", baseline="boolean")
    assert "<0.0001" in str(found)
    assert r"\textless{}0.0001" in found.table().latex()
    assert f"{Probability(0.00004):.4f} {Probability(0.00006):.4f} {Probability(0.4):.0f}" == "<0.0001 0.0001 <1"
    assert str(Probability(1e-9)) == "1e-09"
    assert json.loads(found.table(full=True).json())["rows"][0]["p"] == found.p[0]


def test_scores_of_one_measure_need_no_name(demo: Any, scores: amble.Scores) -> None:
    one = amble.evaluate(scores.rankings, "AP")
    assert amble.compare(one).p.tolist() == amble.compare(scores, "AP").p.tolist()
    with pytest.raises(amble.MeasureError, match="scores of AP, P@10, GMAP: say which"):
        amble.compare(scores)
    with pytest.raises(amble.MeasureError, match="RR was not evaluated; there are AP"):
        amble.compare(scores, "RR")


def test_geometric_means_are_compared_by_logarithms(scores: amble.Scores) -> None:
    found = amble.compare(scores, "GMAP", baseline="bm25")
    logs = np.log(np.maximum(scores.values[:, :, 2], 1e-5))
    assert np.exp(found.mean) == pytest.approx(scores.means()[:, 2])
    assert found.difference == pytest.approx(logs[1:].mean(axis=1) - logs[0].mean())
    assert "logarithms" in found.caption


def test_counts_and_standardised_scores(scores: amble.Scores) -> None:
    from amble.evaluation.standardisation import standardised

    table = {topic: {"AP": (0.3, 0.1), "P@10": (0.5, 0.2), "GMAP": (-1.0, 0.5)} for topic in scores.topics}
    z = standardised(scores, table)
    assert amble.compare(z, "AP").p == pytest.approx(amble.compare(scores, "AP").p)
    assert amble.compare(z, "GMAP").p == pytest.approx(amble.compare(scores, "GMAP").p)
    # standardised logarithms are twice those of AP, plus 2: their mean is the logarithm of (e GMAP)^2
    assert z.means()[:, 2] == pytest.approx((np.e * scores.means()[:, 2]) ** 2)
    counts = amble.evaluate(scores.rankings, ["NumQ", "NumRelRet"])
    assert (amble.compare(counts, "NumQ").p == 1).all()
    assert amble.compare(counts, "NumRelRet").difference.any()


def test_standardised_scores_where_all_systems_had_the_same() -> None:
    from amble.evaluation.standardisation import standardised

    # a deviation of 0: the mean is 0, and all else as far off as what the table lacks, as in trec_eval
    scores = amble.evaluate({"1": {"a": 1}, "2": {"a": 1}}, {"x": {"1": ["a"], "2": ["b"]}}, "RR")
    moments = {"RR": (1.0, 0.0)}
    assert standardised(scores, {"1": moments, "2": moments}).values[0, :, 0].tolist() == [0, -1e6]


# ---- missing topics


def test_topics_are_paired_by_id_and_missing_ones_counted() -> None:
    x = {"1": 0.5, "2": 0.6, "3": 0.1, "4": 0.9}
    y = {"4": 0.7, "2": 0.5, "1": 0.1, "5": 0.3}
    found = amble.compare({"x": x, "y": y})
    assert (found.n[0], found.missing[0]) == (3, 2)
    assert found.difference[0] == pytest.approx((0.4 + 0.1 + 0.2) / 3)
    assert "3 topics, some missing on one side in 1 comparison (left out)" in found.caption
    assert found.mean.tolist() == pytest.approx([2.1 / 4, 1.6 / 4])


@pytest.mark.parametrize("test", ONE_BY_ONE)
def test_missing_elsewhere_makes_no_difference(test: str) -> None:
    rng = np.random.default_rng(3)
    values = rng.random((4, 30))
    whole = amble.compare(of(*values), test=test, rounds=200)
    holes = of(*values)
    for t in (3, 7, 8):
        del holes["d"][f"t{t:03d}"]
    del holes["c"]["t020"]
    found = amble.compare(holes, test=test, rounds=200)
    assert found.n.tolist() == [30, 29, 27, 29, 27, 26]
    assert found.missing.tolist() == [0, 1, 3, 1, 3, 4]
    assert found.p[0] == whole.p[0]
    alone = amble.compare({key: holes[key] for key in "cd"}, test=test, rounds=200)
    assert found.p[5] == alone.p[0]
    left = {key: {t: x for t, x in holes[key].items() if t in holes["c"] and t in holes["d"]} for key in "cd"}
    if test != "permutation":  # whose flips are dealt to other topics
        assert found.p[5] == pytest.approx(amble.compare(left, test=test, rounds=200).p[0])


@pytest.mark.parametrize("test", ["tukey", "anova"])
def test_families_need_topics_that_all_have(test: str) -> None:
    rng = np.random.default_rng(4)
    values = rng.random((3, 10))
    holes = of(*values)
    del holes["a"]["t001"], holes["b"]["t001"], holes["c"]["t005"]
    found = amble.compare(holes, test=test, rounds=100)
    assert found.left_out == 2
    assert found.n.tolist() == [8, 8, 8]
    assert "8 topics, 2 more left out (a run has no score there)" in found.caption
    kept = np.delete(values, [1, 5], axis=1)
    assert found.difference == pytest.approx(amble.compare(of(*kept), test=test).difference)
    assert amble.anova(holes).left_out == 2
    with pytest.raises(amble.AlignError, match="no topic on which all runs have a score"):
        amble.compare({"a": {"1": 1.0}, "b": {"2": 1.0}}, test=test)


def test_runs_that_skip_topics(demo: Any) -> None:
    runs = [str(run) for run in demo.runs]
    names = [Path(run).stem for run in runs]
    zero = amble.compare(amble.evaluate(str(demo.qrels), runs, "AP"), baseline="bm25")
    skip = amble.compare(amble.evaluate(str(demo.qrels), runs, "AP", missing="skip"), baseline="bm25")
    at = names.index("boolean") - 1
    assert (zero.n[at], zero.missing[at]) == (25, 1)
    assert (skip.n[at], skip.missing[at]) == (24, 1)
    assert zero.p[0] == skip.p[0]


def test_topics_without_a_relevant_document() -> None:
    qrels = {"1": {"a": 1}, "2": {"a": 1}, "3": {"a": 0}, "4": {"b": 1}}
    runs = {
        "x": {t: {"a": 2.0, "b": 1.0} for t in qrels},
        "y": {t: {"c": 2.0, "a": 1.0} for t in qrels},
    }
    found = amble.compare(amble.evaluate(qrels, runs, "RR", undefined="skip"))
    assert (found.n[0], found.missing[0]) == (3, 0)
    assert found.difference[0] == pytest.approx((0.5 + 0.5 + 0.5) / 3)


# ---- odd scores


@pytest.mark.parametrize("sides", ["two", "greater", "less"])
@pytest.mark.parametrize("test", ONE_BY_ONE)
def test_identical_runs(test: str, sides: str) -> None:
    for topics in (2, 30, 60):
        x = np.random.default_rng(topics).random(topics)
        found = amble.compare(of(x, x), test=test, sides=sides, rounds=50)
        assert found.p[0] == found.adjusted[0] == 1
        assert found.difference[0] == 0
        assert found.low[0] == (-math.inf if sides == "less" else 0)
        assert found.high[0] == (math.inf if sides == "greater" else 0)
        assert found.superiority[0] == 0.5
        if topics > 2:
            assert found.g[0] == 0


@pytest.mark.parametrize("test", ["tukey", "anova"])
def test_identical_runs_in_a_family(test: str) -> None:
    x = np.random.default_rng(0).random(20)
    found = amble.compare(of(x, x), test=test, rounds=50)
    assert found.p[0] == 1
    assert found.letters()["letters"] == ["a", "a"]
    three = amble.compare(of(x, x, x + 0.5), test=test)
    assert three.p[0] == 1
    assert (three.p[1:] < 0.01).all()


def test_all_differences_equal() -> None:
    x = np.array([0.1, 0.3, 0.2, 0.7, 0.5, 0.4])
    y = x + 0.1  # in binary the differences are not quite the same
    assert len(set((y - x).tolist())) > 1
    found = {test: amble.compare(of(y, x), test=test, rounds=99) for test in TESTS}
    assert found["t"].p[0] == 0
    assert found["t"].g[0] == math.inf
    assert found["t"].low[0] == found["t"].high[0] == pytest.approx(0.1)
    assert found["wilcoxon"].p[0] == found["sign"].p[0] == found["permutation"].p[0] == 2 / 2**6
    assert found["bootstrap"].p[0] == 1 / 100
    assert found["bootstrap"].low[0] == pytest.approx(0.1)
    assert found["anova"].p[0] == 0
    assert found["tukey"].p[0] == pytest.approx(2 / 2**6, abs=0.05)
    assert amble.compare(of(y, x), sides="less").p[0] == 1
    assert amble.compare(of(x, y), sides="less").p[0] == 0
    assert "inf" in str(found["t"])
    system, topic = amble.anova(of(y, x)).sources
    assert (system.p, system.ratio, topic.p) == (0, math.inf, 0)


def test_noise_of_subtraction_breaks_no_ties() -> None:
    x, y = np.arange(1, 11) / 10, np.arange(0, 10) / 10
    assert len(set((x - y).tolist())) > 1  # .1, but for the last digits
    x[::3], y[::3] = y[::3], x[::3].copy()
    found = amble.compare(of(x, y), test="wilcoxon")
    assert found.statistic[0] == 6 * 5.5
    assert found.p[0] == pytest.approx(amble.compare(of(x * 10, y * 10), test="sign").p[0])  # equal ranks: a sign test


def test_one_topic() -> None:
    one = of([0.5], [0.2])
    names = {
        "t": "the paired t-test",
        "wilcoxon": "Wilcoxon's signed-rank test",
        "sign": "the sign test",
        "permutation": "the permutation test",
        "bootstrap": "the bootstrap test",
    }
    for test, name in names.items():
        with pytest.raises(amble.AlignError, match=f"^a and b have scores on 1 common topic, {name} needs at least 2$"):
            amble.compare(one, test=test)
    for test, name in (("tukey", "Tukey's HSD by randomisation"), ("anova", "Tukey's HSD after two-way ANOVA")):
        with pytest.raises(
            amble.AlignError, match=f"^1 topic on which all runs have a score, {name} needs at least 2$"
        ):
            amble.compare(one, test=test)
    with pytest.raises(amble.AmbleError, match="2 runs and 1 topics, expected at least 2 of each"):
        amble.anova(one)
    with pytest.raises(
        amble.AlignError, match="a and b have scores on 0 common topics, the sign test needs at least 2"
    ):
        amble.compare({"a": {"1": 0.5}, "b": {"2": 0.5}}, test="sign")


def test_two_topics() -> None:
    for test in TESTS:
        found = amble.compare(of([0.5, 0.4], [0.2, 0.3]), test=test, rounds=50)
        assert 0 < found.p[0] <= 1
        assert not math.isnan(found.low[0])
        assert math.isnan(found.g[0])
    assert " - " in str(amble.compare(of([0.5, 0.4], [0.2, 0.3])))


def test_large_and_small_scores() -> None:
    rng = np.random.default_rng(5)
    values = rng.integers(0, 20, (3, 15)) / 7
    for test in TESTS:
        usual = amble.compare(of(*values), test=test, rounds=200)
        for scale in (1e-9, 1e9):
            assert amble.compare(of(*(values * scale)), test=test, rounds=200).p == pytest.approx(usual.p)
            found = amble.compare(of(*(values * scale)), test=test, rounds=200)
            assert found.low == pytest.approx(usual.low * scale)


# ---- what is refused


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"test": ["t"]}, "test=['t']: expected one of 't', 'wilcoxon', 'sign'"),
        ({"sides": {}}, "sides={}: expected one of 'two'"),
        ({"test": "z"}, "test='z': expected one of 't', 'wilcoxon', 'sign'"),
        ({"sides": "both"}, "sides='both': expected one of 'two', 'greater', 'less'"),
        ({"correction": "tukey"}, "correction='tukey': expected one of 'none', 'bonferroni'"),
        ({"interval": "z"}, "interval='z': expected one of 't', 'percentile', 'bca'"),
        ({"alpha": 0}, "alpha=0: expected a number between 0 and 1"),
        ({"alpha": 1.5}, "alpha=1.5"),
        ({"alpha": "5%"}, "alpha='5%'"),
        ({"seed": -1}, "seed=-1: expected a whole number of at least 0"),
        ({"rounds": 0}, "rounds=0: expected a whole number of at least 1"),
        ({"rounds": 1.5}, "rounds=1.5"),
        ({"baseline": "z"}, "run 'z' is not among the 2 compared: a, b"),
        ({"test": "tukey", "sides": "less"}, "test='tukey' has two sides"),
        ({"test": "anova", "correction": "holm"}, "no correction='holm' on top of it"),
        ({"test": "tukey", "interval": "bca"}, "has intervals of its own"),
    ],
)
def test_questions_that_cannot_be_asked(options: dict[str, Any], said: str) -> None:
    with pytest.raises(amble.AmbleError) as error:
        amble.compare(of([0.5, 0.4, 0.1], [0.2, 0.3, 0.4]), **options)
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        (
            [1, 2],
            "found compare(list), expected compare(scores | {run: {topic: score}} | rankings | sessions, measure)",
        ),
        ({"a": [1, 2]}, "run 'a': found list, expected {run: {topic: score}}"),
        ({"a": {"1": 1.0}}, "1 run to compare, expected at least 2"),
        ({}, "0 runs to compare"),
        ({"a": {1: 1.0}, "b": {1: 2.0}}, "topic 1 is of type int, expected a string"),
        ({"a": {"1": "x"}, "b": {"1": 2.0}}, "run a, topic 1: score 'x', expected a number"),
        ({"a": {"1": math.inf}, "b": {"1": 2.0}}, "run a, topic 1: score inf, expected a finite number"),
    ],
)
def test_scores_that_cannot_be_compared(scores: Any, said: str) -> None:
    with pytest.raises(amble.AmbleError) as error:
        amble.compare(scores)
    assert said in str(error.value)


def test_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "statsmodels.stats.multitest", None)
    with pytest.raises(amble.AmbleError, match=r"correction='hommel' needs the extra: pip install 'amble-ir\[stats\]'"):
        amble.compare(of([0.5, 0.4], [0.2, 0.3]), correction="hommel")


def test_too_few_rounds_are_told() -> None:
    values = np.random.default_rng(1).random((6, 40))
    found = amble.compare(of(*values), test="permutation", rounds=200)
    # 15 pairs: 15 / (rounds + 1) is at most .05 from 299 rounds on
    assert "too few rounds to find any difference (at least 299 are needed)" in found.caption
    assert "too few" not in amble.compare(of(*values), test="permutation", rounds=299).caption
    assert "too few" not in amble.compare(of(*values), test="permutation", rounds=200, correction="bh").caption
    assert "at least 19" in amble.compare(of(*values), test="tukey", rounds=18).caption
    assert amble.compare(of(*values), test="tukey", rounds=18).high[0] == math.inf
    assert "too few" not in amble.compare(of(*values[:, :20]), test="permutation", rounds=2**10).caption
    identical = amble.compare(of([0.1, 0.2], [0.1, 0.2]), test="sign")
    assert identical.limit == ""  # more topics would not help


@pytest.mark.parametrize("test", ["sign", "wilcoxon", "permutation"])
def test_too_few_topics_are_told(test: str) -> None:
    def limit(topics: int, systems: int = 2, **options: Any) -> str:
        # each run is better than the next on every topic, as clearly as can be
        values = np.arange(systems)[::-1, None] + np.arange(topics) / 10 * np.arange(systems)[::-1, None]
        found = amble.compare(of(*values), test=test, **options)
        assert (found.limit == "") == found.significant.any()  # told if, and only if, nothing could be found
        assert ("too few topics to find any difference" in found.caption) == (found.limit == "topics")
        assert "rounds" not in found.caption
        return found.limit

    assert limit(5) == "topics"  # 2 / 2^5 is .0625
    assert limit(6) == ""
    assert limit(5, sides="greater") == ""  # 1 / 2^5
    assert limit(4, sides="greater") == "topics"
    assert limit(7, systems=6) == "topics"  # 15 x 2 / 2^7
    assert limit(7, systems=6, correction="bh") == ""
    assert limit(10, systems=6) == ""


def test_the_limit_is_that_of_the_best_pair() -> None:
    a, b = [0.5] * 8, [0.5] * 7 + [0.6]
    c = [0.1 * i for i in range(8)]
    found = amble.compare(of(a, b, c), test="sign")  # a and b differ on one topic only
    assert found.limit == ""  # the other pairs could: 3 x 2 / 2^8
    assert amble.compare(of(a, b), test="sign").limit == "topics"
    # a pair of few differences is counted, one of many drawn; the most different one decides
    rng = np.random.default_rng(3)
    many = rng.random((2, 60))
    few = many[0].copy()
    few[0] += 1
    found = amble.compare(of(*many, few), test="permutation", rounds=30)
    assert (found.limit, found.rounds_needed) == ("rounds", 59)  # 3 / (59 + 1) is .05
    assert amble.compare(of(*many, few), test="permutation", rounds=59).limit == ""
    for rounds in (29, 30):
        found = amble.compare(of(*many), test="bootstrap", rounds=rounds, alpha=1 / 31)
        assert found.limit == ("rounds" if rounds == 29 else "")


def test_topics_limit_tukey_too() -> None:
    values = [[1.0, 1.0], [0.0, 0.0]]  # 2 of the 4 deals have this range
    found = amble.compare(of(*values), test="tukey", rounds=999)
    assert found.limit == "topics"
    assert not found.significant.any()
    assert amble.compare(of([1.0] * 12, [0.0] * 12), test="tukey", rounds=999).limit == ""


def test_corrected_to_the_level_is_at_the_level() -> None:
    # 15 x (1 / 300) is .05, if not to the last digit
    base = np.arange(6)[:, None] * (1 + np.random.default_rng(2).random((1, 60)))
    found = amble.compare(of(*base), test="permutation", rounds=299, correction="bonferroni")
    assert found.limit == ""
    assert found.significant.all()


def test_wording_of_captions() -> None:
    values = np.random.default_rng(1).random((4, 12))
    found = amble.compare(of(*values), correction="none")
    assert "alpha 0.05, 6 comparisons without correction\n" in found.caption
    found = amble.compare(of(*values), test="tukey", rounds=99)
    assert "95 % confidence intervals simultaneous, by randomisation" in found.caption
    letters = found.letters()
    assert "95 % confidence intervals by Student's t, no significant difference found between runs" in letters.caption
    assert "simultaneous" not in letters.caption
    for row in letters:
        i = found.runs.index(str(row[0]))
        assert row[1:4] == pytest.approx((found.mean[i], found.mean_low[i], found.mean_high[i]))


def test_variance_of_nothing() -> None:
    system, topic = amble.anova(of([0.5] * 3, [0.5] * 3)).sources
    assert math.isnan(system.omega_squared)
    assert math.isnan(topic.omega_squared)
    system, topic = amble.anova(of([0.1, 0.2, 0.4], [0.1, 0.2, 0.4])).sources
    assert math.isnan(system.omega_squared)
    assert topic.omega_squared == 1


# ---- what must always be so

VALUES = st.integers(0, 2**32).map(lambda seed: np.random.default_rng(seed))


@pytest.mark.parametrize("test", TESTS)
@given(rng=VALUES, graded=st.booleans())
@examples(15)
def test_turning_a_pair_round(test: str, rng: np.random.Generator, graded: bool) -> None:
    values = rng.integers(0, 6, (3, 30)) / 5 if graded else rng.random((3, 30))
    a, b, c = values
    here, there = (amble.compare(of(*rows), test=test, rounds=64) for rows in ((a, b, c), (b, a, c)))
    assert here.difference[0] == -there.difference[0]
    assert here.p[0] == pytest.approx(there.p[0], rel=1e-9 if test == "anova" else 0, abs=0)
    assert here.g[0] == pytest.approx(-there.g[0])
    assert here.superiority[0] == pytest.approx(1 - there.superiority[0])
    assert (here.wins[0], here.ties[0]) == (there.losses[0], there.ties[0])
    if test != "bootstrap":
        assert (here.low[0], here.high[0]) == pytest.approx((-there.high[0], -there.low[0]))
    if test in ONE_BY_ONE:
        greater = amble.compare(of(a, b), test=test, rounds=64, sides="greater")
        less = amble.compare(of(b, a), test=test, rounds=64, sides="less")
        assert greater.p[0] == less.p[0]


@pytest.mark.parametrize("test", TESTS)
@given(rng=VALUES)
@examples(10)
def test_order_of_topics_and_runs_makes_no_difference(test: str, rng: np.random.Generator) -> None:
    given_scores = of(*rng.integers(0, 50, (4, 28)) / 49)
    topics = list(given_scores["a"])
    rng.shuffle(topics)
    runs = list(given_scores)
    rng.shuffle(runs)
    shuffled = {run: {topic: given_scores[run][topic] for topic in topics} for run in runs}
    one = amble.compare(given_scores, test=test, rounds=50)
    two = amble.compare(shuffled, test=test, rounds=50)
    at = {frozenset(pair): p for pair, p in zip(two.pairs, two.p.tolist(), strict=True)}
    assert one.p == pytest.approx([at[frozenset(pair)] for pair in one.pairs], rel=1e-12)


@given(rng=VALUES, test=st.sampled_from(TESTS), topics=st.integers(2, 60))
@examples(60)
def test_probabilities_are_probabilities(rng: np.random.Generator, test: str, topics: int) -> None:
    values = rng.choice([0.0, 0.1, 0.2, 1.0], (3, topics))
    found = amble.compare(of(*values), test=test, rounds=40)
    assert ((found.p >= 0) & (found.p <= 1)).all()
    assert (found.adjusted >= found.p).all()
    assert (found.wins + found.ties + found.losses == found.n).all()
    assert not np.isnan(found.p).any()
    if test in ("permutation", "bootstrap", "tukey", "sign", "wilcoxon"):
        assert (found.p > 0).all()


def test_nothing_is_changed(scores: amble.Scores) -> None:
    before = scores.values.copy()
    mapping = of([0.5, 0.4, 0.1], [0.2, 0.3, 0.4])
    kept = json.dumps(mapping)
    state = np.random.get_state()[1].tolist()
    for test in TESTS:
        one, two = (amble.compare(scores, "P@10", test=test, rounds=100) for _ in range(2))
        assert one.p.tolist() == two.p.tolist()
        assert one.low.tolist() == two.low.tolist()
        amble.compare(mapping, test=test, rounds=100)
        with pytest.raises(ValueError, match="read-only"):
            one.p[0] = 0
    assert (scores.values == before).all()
    assert json.dumps(mapping) == kept
    assert np.random.get_state()[1].tolist() == state


def test_progress_is_told() -> None:
    values = np.random.default_rng(2).integers(0, 9, (5, 40)) / 8
    for test in ("wilcoxon", "permutation", "bootstrap", "tukey"):
        told: list[tuple[int, int]] = []
        amble.compare(of(*values), test=test, rounds=600, progress=lambda done, total: told.append((done, total)))  # noqa: B023
        assert told
        assert all(0 < done <= total for done, total in told)
        assert told[-1][0] == told[-1][1]


# ---- letters


def is_display(n: int, different: set[tuple[int, int]], letters: list[list[int]]) -> bool:
    """Two share a letter if, and only if, no significant difference was found; everybody has one."""
    for i, j in itertools.combinations(range(n), 2):
        share = any(i in group and j in group for group in letters)
        if share == ((i, j) in different):
            return False
    return all(any(i in group for group in letters) for i in range(n))


def insert_and_absorb(n: int, different: set[tuple[int, int]]) -> set[frozenset[int]]:
    """Piepho's algorithm, in so many words."""
    columns = {frozenset(range(n))}
    for i, j in sorted(different):
        for column in [c for c in columns if i in c and j in c]:
            columns.remove(column)
            columns |= {column - {i}, column - {j}}
        columns = {c for c in columns if not any(c < other for other in columns)}
    return columns


def test_letters_of_all_small_cases() -> None:
    for n in range(1, 6):
        pairs = list(itertools.combinations(range(n), 2))
        for chosen in itertools.product((False, True), repeat=len(pairs)):
            different = {pair for pair, found in zip(pairs, chosen, strict=True) if found}
            groups = letter_groups(n, different)
            assert is_display(n, different, groups)
            assert {frozenset(group) for group in groups} <= insert_and_absorb(n, different)
            for group in groups:  # each is needed
                assert not is_display(n, different, [other for other in groups if other != group])


@given(n=st.integers(2, 14), rng=VALUES, share=st.floats(0, 1))
@examples(100)
def test_letters_of_many(n: int, rng: np.random.Generator, share: float) -> None:
    different = {pair for pair in itertools.combinations(range(n), 2) if rng.random() < share}
    groups = letter_groups(n, different)
    assert is_display(n, different, groups)
    assert {frozenset(group) for group in groups} <= insert_and_absorb(n, different)


def test_names_of_letters() -> None:
    assert [letter_name(i) for i in (0, 25, 26, 51, 52, 104)] == ["a", "z", "A", "Z", "a1", "a2"]
    assert letters_of(3, [(0, 1), (0, 2), (1, 2)]) == ["a", "b", "c"]
    assert letters_of(3, []) == ["a", "a", "a"]
    assert letters_of(0, []) == []


def test_letters_follow_the_means(scores: amble.Scores) -> None:
    found = amble.compare(scores, "AP", test="tukey")
    table = found.letters()
    assert table["mean"] == sorted(found.mean.tolist(), reverse=True)
    letters = dict(zip(table["run"], table["letters"], strict=True))
    for (a, b), differ in zip(found.pairs, found.significant.tolist(), strict=True):
        assert bool(set(str(letters[a])) & set(str(letters[b]))) != differ
    assert "no significant difference found between runs that share a letter" in str(table)
    with pytest.raises(amble.AmbleError, match="letters need all pairs, and two sides"):
        amble.compare(scores, "AP", baseline="bm25").letters()
    with pytest.raises(amble.AmbleError, match="letters need all pairs, and two sides"):
        amble.compare(scores, "AP", sides="less").letters()


# ---- which documents make the difference


USERS = [name for name, d in REGISTRY.items() if d.is_user and not d.of_intents]  # intents: test_intents.py


@pytest.mark.parametrize("name", [*USERS, "RBP(p=Beta(8,2))", "AP@5", "MP(rescale='NA')@20", "PH(order=2)"])
def test_parts_of_users_add_up(scores: amble.Scores, name: str) -> None:
    wanted = amble.evaluate(scores.rankings, name)
    for topic in scores.topics[:2]:
        found = amble.why(scores.rankings, topic, name)
        assert found.adds_up
        assert found.kind != "removed"
        assert found.values.sum(axis=0) == pytest.approx(wanted.values[:, scores.topics.index(topic), 0])


def test_parts_of_ap_by_hand() -> None:
    qrels = {"1": {"a": 1, "b": 1, "c": 0, "d": 1, "e": 1}}
    runs = {
        "x": {"1": {"a": 9.0, "c": 8.0, "b": 7.0, "u": 6.0, "d": 5.0}},
        "y": {"1": {"u": 9.0, "d": 8.0, "a": 7.0}},
    }
    found = amble.why(amble.align(qrels, runs), "1", "AP")
    parts = dict(zip(found.docs, found.values.tolist(), strict=True))
    # precision at the rank over four relevant documents: x finds a at 1, b at 3, d at 5; y finds d at 2, a at 3
    assert parts["a"] == pytest.approx([1 / 4, 2 / 3 / 4])
    assert parts["b"] == pytest.approx([2 / 3 / 4, 0])
    assert parts["d"] == pytest.approx([3 / 5 / 4, 1 / 2 / 4])
    assert set(parts) == {"a", "b", "d"}
    assert found.docs[0] == "b"  # makes most of the difference
    assert dict(zip(found.docs, found.ranks.tolist(), strict=True)) == {"a": [1, 3], "b": [3, 0], "d": [5, 2]}
    shown = str(found).splitlines()
    assert shown[1].split() == ["doc", "grade", "rank", "x", "x", "rank", "y", "y", "difference"]
    assert shown[2].split() == ["b", "1", "3", "0.1667", "-", "0.0000", "0.1667"]
    assert shown[-1].split()[0] == "all"
    assert shown[-1].split()[-1] == f"{1 / 4 + 2 / 12 + 3 / 20 - 1 / 8 - 1 / 6:.4f}"


def test_parts_of_static_users_by_hand() -> None:
    qrels = {"1": {"a": 2, "b": 1, "c": 3}}
    runs = {"x": {"1": {"a": 3.0, "u": 2.0, "b": 1.0}}, "y": {"1": {"b": 2.0, "a": 1.0}}}
    rankings = amble.align(qrels, runs)
    parts = {
        name: dict(zip(found.docs, found.values.tolist(), strict=True))
        for name in ("RBP(p=0.5)", "P@5", "DCG", "nDCG", "R", "ERR")
        for found in [amble.why(rankings, "1", name)]
    }
    ideal = 3 + 2 / math.log2(3) + 1 / 2
    assert parts["RBP(p=0.5)"] == {"a": pytest.approx([0.5, 0.25]), "b": pytest.approx([0.125, 0.5])}
    assert parts["P@5"] == {"a": pytest.approx([0.2, 0.2]), "b": pytest.approx([0.2, 0.2])}
    assert parts["DCG"]["a"] == pytest.approx([2, 2 / math.log2(3)])
    assert parts["nDCG"]["a"] == pytest.approx([2 / ideal, 2 / math.log2(3) / ideal])
    assert parts["R"]["b"] == pytest.approx([1 / 3, 1 / 3])
    # satisfied by a with 3/8, by b with 1/8
    assert parts["ERR"]["a"] == pytest.approx([3 / 8, 7 / 8 * 3 / 8 / 2])
    assert parts["ERR"]["b"] == pytest.approx([5 / 8 * 1 / 8 / 3, 1 / 8])


def test_parts_of_what_is_no_user() -> None:
    qrels = {"1": {"a": 1, "b": 1, "c": 0}, "2": {"a": 1}}
    runs = {
        "x": {"1": {"a": 3.0, "c": 2.0, "b": 1.0}, "2": {"a": 1.0}},
        "y": {"1": {"c": 2.0, "a": 1.0}, "2": {"a": 1.0}},
    }
    scores = amble.evaluate(qrels, runs, "bpref")
    found = amble.why(scores, "1")
    assert not found.adds_up
    assert found.kind == "removed"
    assert "they do not add up to the score" in found.caption
    for doc, parts in zip(found.docs, found.values.tolist(), strict=True):
        left = {"1": {d: g for d, g in qrels["1"].items() if d != doc}, "2": qrels["2"]}
        without = amble.evaluate(left, runs, "bpref")
        assert parts == pytest.approx((scores.values - without.values)[:, 0, 0].tolist())


@pytest.mark.parametrize(
    "name", [name for name, d in REGISTRY.items() if d.question is None and not d.of_sessions and name != "NumQ"]
)
@pytest.mark.parametrize("unjudged", ["zero", "condense"])
def test_parts_are_what_is_lost(demo: Any, name: str, unjudged: Any) -> None:
    runs = [str(run) for run in demo.runs[3:5]]
    qrels = amble.read_qrels(str(demo.qrels)).to_dict()
    topic = next(iter(qrels))
    scores = amble.evaluate(qrels, runs, name, unjudged=unjudged)
    found = amble.why(scores, topic)
    assert found.kind == "removed"
    for doc, parts in list(zip(found.docs, found.values.tolist(), strict=True))[:3]:
        left = {t: {d: g for d, g in grades.items() if (t, d) != (topic, doc)} for t, grades in qrels.items()}
        without = amble.evaluate(left, runs, name, unjudged=unjudged)
        assert parts == pytest.approx((scores.values - without.values)[:, 0, 0].tolist(), abs=1e-9)


def test_parts_of_the_only_judgment() -> None:
    qrels = {"1": {"a": 1}, "2": {"b": 1, "c": 0}}
    runs = {"x": {"1": {"a": 2.0, "u": 1.0}, "2": {"b": 1.0}}, "y": {"1": {"u": 2.0}, "2": {"b": 1.0}}}
    for unjudged in ("zero", "condense"):
        found = amble.why(amble.align(qrels, runs, unjudged=unjudged), "1", "bpref")
        assert (found.docs, found.values.tolist()) == (("a",), [[1.0, 0.0]])


def test_parts_where_runs_have_no_list() -> None:
    qrels = {"1": {"a": 1}, "2": {"b": 1}}
    runs = {"x": {"1": {"a": 1.0}, "2": {"b": 1.0}}, "y": {"2": {"b": 1.0}}}
    for missing in ("zero", "skip"):
        found = amble.why(amble.align(qrels, runs, missing=missing), "1", "AP")
        assert found.values.tolist() == [[1.0, 0.0]]
        assert found.scores[0] == 1
        assert found.scores[1] == 0 or missing == "skip"
        assert found.adds_up
    nothing = amble.why(amble.align({"1": {"a": 0}, "2": {"b": 1}}, runs), "1", "AP")
    assert nothing.docs == ()
    assert nothing.adds_up
    assert len(nothing.table()) == 1


def test_parts_where_lists_are_cut_or_condensed(demo: Any) -> None:
    runs = [str(run) for run in demo.runs]
    for options in ({"depth": 7}, {"unjudged": "condense"}, {"depth": 7, "unjudged": "condense"}, {"ties": "file"}):
        scores = amble.evaluate(str(demo.qrels), runs, ["AP", "nDCG@5", "INST(T=2)"], **options)
        for measure in scores.measures:
            found = amble.why(scores, scores.topics[1], measure, runs=["rerank", "hybrid"])
            wanted = [scores[run, measure][1] for run in ("rerank", "hybrid")]
            assert found.values.sum(axis=0) == pytest.approx(wanted)
            # ranks are those that were shown
            documents = amble.read_runs(str(demo.runs[5]))[0].documents(ties=options.get("ties", "docno"))
            shown = [doc for doc, _ in documents[scores.topics[1]]]
            for doc, rank in zip(found.docs, found.ranks[:, 0].tolist(), strict=True):
                assert rank == 0 or shown[rank - 1] == doc


def test_questions_of_why(scores: amble.Scores) -> None:
    assert amble.why(scores, "301", "AP", runs="hybrid").runs == ("hybrid",)
    three = amble.why(scores, "301", "AP", runs=["hybrid", "bm25", "dense"])
    assert "difference" not in three.table().columns
    assert repr(three).startswith("Contributions(")
    long = three.table(long=True)
    assert long.columns == ("measure", "topic", "doc", "grade", "run", "rank", "contribution")
    assert len(long) == 3 * (len(three.docs) + 1)
    with pytest.raises(amble.AlignError, match="topic '1' is not among the 25 topics scored: 301"):
        amble.why(scores, "1", "AP")
    with pytest.raises(amble.AlignError, match="run 'z' is not among bm25"):
        amble.why(scores, "301", "AP", runs=["z"])
    with pytest.raises(amble.MeasureError, match="no measure given"):
        amble.why(scores, "301")
    with pytest.raises(
        amble.AlignError, match=r"found why\(dict, str, str\), expected why\(rankings \| scores \| sessions"
    ):
        amble.why({}, "301", "AP")
    tied = amble.align(scores.rankings.qrels, scores.rankings.sources, ties="expected")
    with pytest.raises(amble.MeasureError, match="ties='expected': tied documents have no one rank"):
        amble.why(tied, "301", "AP")


# ---- the command


@pytest.fixture
def files(demo: Any) -> list[str]:
    return [str(demo.qrels), *(str(run) for run in demo.runs)]


def test_command(amble_cli: CLI, files: list[str], scores: amble.Scores) -> None:
    done = amble_cli("compare", *files, "-m", "AP", "P@10", "--baseline", files[1], "--test", "permutation")
    assert done.returncode == 0, done.stderr
    parts = done.stdout.split("\n\n")
    assert parts[0] == str(amble.compare(scores, "AP", "bm25", "permutation"))
    assert parts[1].rstrip("\n") == str(amble.compare(scores, "P@10", "bm25", "permutation"))
    assert done.stderr.startswith("amble: 6 runs x 25 topics")
    assert amble_cli("compare", *files, "--baseline", "bm25", "--quiet").stdout.startswith("AP: paired t-test")


def test_command_for_programs(amble_cli: CLI, files: list[str], scores: amble.Scores) -> None:
    done = amble_cli("compare", *files, "-m", "AP", "P@10", "--format", "tsv", "--quiet", "--alpha", "0.01")
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    assert lines[0][:7] == ["measure", "test", "sides", "correction", "alpha", "run", "other"]
    assert len(lines) == 1 + 2 * 15
    assert float(lines[1][lines[0].index("p")]) == amble.compare(scores, "AP").p[0]
    data = json.loads(amble_cli("compare", *files, "--test", "anova", "--format", "json", "--quiet").stdout)
    assert data["comparisons"][0]["test"] == "anova"
    assert data["comparisons"][0]["topics"] == 25
    assert [row["source"] for row in data["anova"][0]["rows"]] == ["system", "topic", "error"]
    assert len(data["rows"]) == 15
    assert len(data["files"]) == 7
    letters = amble_cli("compare", *files, "-m", "AP", "RR", "--letters", "--format", "csv", "--quiet").stdout
    assert letters.splitlines()[0] == "measure,run,mean,low,high,letters"
    assert len(letters.splitlines()) == 13
    why = amble_cli("compare", *files[:3], "--why", "301", "--format", "csv", "--quiet").stdout
    assert why.splitlines()[0] == "measure,topic,doc,grade,run,rank,contribution"


def test_command_letters_anova_and_why(amble_cli: CLI, files: list[str], tmp_path: Path) -> None:
    done = amble_cli("compare", *files, "--letters", "--test", "tukey", "--rounds", "200", "--seed", "3", "--quiet")
    assert "(200 rounds, seed 3)" in done.stdout
    assert done.stdout.splitlines()[2].split() == ["run", "mean", "low", "high", "letters"]
    done = amble_cli("compare", *files, "--test", "anova", "--quiet", "--digits", "2")
    assert done.stdout.startswith("AP: two-way analysis of variance, 6 runs, 25 topics\nsource")
    done = amble_cli("compare", *files[:3], "--why", "301", "--baseline", files[1], "-o", str(tmp_path / "why.txt"))
    assert done.stdout == ""
    text = (tmp_path / "why.txt").read_text()
    assert text.splitlines()[1].split()[:6] == ["doc", "grade", "rank", "bm25+rm3", "bm25+rm3", "rank"]
    assert "two-sided" not in text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--alpha", "2"], "argument --alpha: found '2', expected a number between 0 and 1"),
        (["--rounds", "0"], "argument --rounds: found '0', expected a whole number from 1"),
        (["--seed", "-1"], "argument --seed: found '-1', expected a whole number from 0"),
        (["--digits", "99"], "argument --digits: found '99', expected a whole number from 0 to 17"),
        (["--baseline", "nobody"], "--baseline nobody: expected a file, or one of bm25, bm25+rm3"),
        (["--letters", "--sides", "less"], "--letters shows all pairs, two-sided"),
        (["--letters", "--why", "301"], "--letters goes without --why, which shows documents"),
        (["--why", "301", "--sides", "two"], "--sides goes without --why, which shows documents"),
        (["--why", "301", "--test", "t"], "--test goes without --why"),
        (["--why", "301", "--alpha", "0.05"], "--alpha goes without --why"),
        (["--why", "301", "--rounds", "99"], "--rounds goes without --why"),
        (["--why", "301", "--correction", "holm"], "--correction goes without --why"),
        (["--rounds", "99"], "--rounds has no part in the test 't', in which nothing is random; expected permutation"),
        (["--test", "anova", "--seed", "0"], "--seed has no part in the test 'anova'"),
        (["--layout", "xml"], "--layout is of sessions: expected --sessions FILE"),
        (["--repeats", "once"], "--repeats is of sessions: expected --sessions FILE"),
        (["--why", "1"], "topic '1' is not among the 25 topics scored"),
        (["-m", "APP"], "'APP': no measure is called APP"),
        (["--test", "tukey", "--correction", "holm"], "no correction='holm' on top of it"),
        (["--test", "z"], "argument --test: invalid choice: 'z'"),
    ],
)
def test_command_says_what_is_wrong(amble_cli: CLI, files: list[str], words: list[str], said: str) -> None:
    done = amble_cli("compare", *files, *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""


def test_little_is_imported() -> None:
    code = (
        "import sys, amble; amble.compare; print('scipy' in sys.modules)\n"
        f"scores = {of(*np.random.default_rng(0).random((3, 8)))}\n"
        f"[amble.compare(scores, test=test, rounds=50) for test in {TESTS}]\n"
        "print('scipy.stats' in sys.modules, 'statsmodels' in sys.modules, 'scipy.special' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\nFalse False True\n"


def test_command_needs_two_runs(amble_cli: CLI, files: list[str]) -> None:
    done = amble_cli("compare", *files[:2])
    assert (done.returncode, done.stderr) == (2, "amble: 1 run, expected at least two to compare\n")


# ---- real data


def test_trec8(runs: Path) -> None:
    import scipy.stats

    files = sorted((runs / "trec8" / "runs").iterdir())[:25]
    scores = amble.evaluate(str(runs / "trec8" / "qrels.txt"), [str(file) for file in files], ["AP", "P@10"])
    found = amble.compare(scores, "AP")
    for k in range(0, len(found), 17):
        a, b = found.pairs[k]
        theirs = scipy.stats.ttest_rel(scores[a, "AP"], scores[b, "AP"])
        assert found.p[k] == pytest.approx(theirs.pvalue, rel=1e-7)
    for test in ("wilcoxon", "permutation", "tukey", "anova"):
        other = amble.compare(scores, "AP", test=test, rounds=2000)
        agree = ((other.p < 0.05) == (found.p < 0.05)).mean()
        assert agree > (0.85 if test in ("wilcoxon", "permutation") else 0.6)
    topic = scores.topics[0]
    for measure in ("AP", "nDCG@10", "INST(T=2)"):
        assert amble.why(scores.rankings, topic, measure).adds_up
    assert not amble.why(scores.rankings, topic, "bpref", runs=scores.runs[:2]).adds_up


def test_trec8_as_published(runs: Path) -> None:
    # Moffat, Scholer and Thomas (2012), Tables 1a and 4a, the diagonals: pairs of TREC-8 runs that differ, in per cent
    published = {"RR": 55.6, "INSQ(T=5,adaptive=True)": 67.5, "INSQ(T=10,adaptive=True)": 69.0}
    files = [str(file) for file in (runs / "trec8" / "runs").iterdir()]
    scores = amble.evaluate(str(runs / "trec8" / "qrels.txt"), files, list(published))
    for measure, share in published.items():
        found = amble.compare(scores, measure, correction="none")
        assert len(found) == 8256
        assert 100 * found.significant.mean() == pytest.approx(share, abs=0.3)
