"""Expected search length, and every place where less of a measure is better than more."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import amble
from amble.comparison.design import TestDesign
from amble.errors import MeasureError
from amble.evaluation.scores import best_of
from amble.measures import REGISTRY, Gains, Lists, measure
from amble.measures.residuals import list_residuals
from amble.metaevaluation import agreement, correlations, leave_out, swap_rates
from amble.reporting.charts.score_charts import difference_spec, heat_spec, pairs_spec
from amble.reporting.gates import parse_gate, pass_through

Cli = Callable[..., Any]

QRELS = {t: {"r": 1, "s": 0} for t in "12345"}
# ranks of the one relevant document: good 1 1 1 2 1, bad 4 3 4 3 5
RANKS = {"bad": (4, 3, 4, 3, 5), "good": (1, 1, 1, 2, 1)}
RUNS = {
    run: {
        t: {doc: float(-i) for i, doc in enumerate([*"abcdefgh"[: rank - 1], "r", "z"])}
        for t, rank in zip("12345", ranks, strict=True)
    }
    for run, ranks in RANKS.items()
}


@pytest.fixture
def scores() -> amble.Scores:
    return amble.evaluate(QRELS, RUNS, ["ESL", "RR"])


@pytest.fixture
def restored() -> Iterator[None]:
    before = dict(REGISTRY)
    yield
    REGISTRY.clear()
    REGISTRY.update(before)


# ---- expected search length


def test_others_before_the_nth_relevant_document() -> None:
    assert amble.parse("ESL").value([0, 0, 1]) == 2
    assert amble.parse("ESL").value([1, 0, 1]) == 0
    assert amble.parse("ESL(n=2)").value([0, 1, 0, 0, 1]) == 3
    assert amble.parse("ESL(2)") == amble.parse("ESL(n=2)")
    assert amble.parse("ESL(rel=2)").value([1, 0, 2]) == 2


def test_documents_that_are_not_in_the_list_follow_it_in_any_order() -> None:
    # of 1,000 documents 3 are relevant: on average 1 of 4 of the 997 others is before the first, half before the second
    assert amble.parse("ESL").value([], relevant=3) == 997 / 4
    assert amble.parse("ESL(n=2)").value([], relevant=3) == 997 / 2
    # two of 999 others are looked at, then 997 are left, half of them before the only relevant one
    assert amble.parse("ESL").value([0, 0], relevant=1) == 2 + 997 / 2
    # one of three is found after one other, of the rest (96 others, 2 relevant) the second is wanted: 2/3 of them
    assert amble.parse("ESL(n=3,docs=100)").value([0, 1], relevant=3) == pytest.approx(1 + 96 * 2 / 3)
    # fewer relevant documents than are wanted: all others
    assert amble.parse("ESL(n=3,docs=100)").value([0, 1], relevant=2) == 98
    assert amble.parse("ESL(docs=100)").value([0, 0]) == 100
    # what is judged or in the list is in the collection, whatever docs says: 4 others, of which 3 are not in the list
    assert amble.parse("ESL(docs=1)").value([0], ideal=[0, 0, 0, 0, 1]) == 1 + 3 / 2


def test_the_rest_of_the_collection_by_brute_force() -> None:
    # 2 others and 1 relevant document in the list; 3 others and 2 relevant ones follow in any order
    for n in (1, 2, 3):
        rests = itertools.permutations([1, 1, 0, 0, 0])
        means = np.mean([amble.parse(f"ESL(n={n},docs=8)").value([0, 0, 1, *rest]) for rest in rests])
        assert amble.parse(f"ESL(n={n},docs=8)").value([0, 0, 1], relevant=3) == pytest.approx(means, rel=1e-14)


def test_ties() -> None:
    # van Rijsbergen's example: six wanted, five of them and three others above a level of five, of which two are
    # relevant: 4/10 x 3 + 3/10 x 4 + 2/10 x 5 + 1/10 x 6 = 4
    docs = [("r", 3.0)] * 2 + [("n", 3.0)] + [("r", 2.0)] * 3 + [("n", 2.0)] * 2 + [("r", 1.0)] * 2 + [("n", 1.0)] * 3
    qrels = {"1": {f"{kind}{j}": int(kind == "r") for j, (kind, _) in enumerate(docs)}}
    runs = {"x": {"1": {f"{kind}{j}": score for j, (kind, score) in enumerate(docs)}}}
    assert amble.evaluate(qrels, runs, "ESL(n=6)", ties="expected").values.item() == 4
    for relevant, other, n in ((2, 3, 1), (2, 3, 2), (3, 1, 2), (2, 2, 3)):  # all orders of a tied list
        orders = [amble.parse(f"ESL(n={n})").value(x) for x in itertools.permutations([1] * relevant + [0] * other)]
        qrels = {"1": {f"d{j}": int(j < relevant) for j in range(relevant + other)}}
        runs = {"x": {"1": {f"d{j}": 1.0 for j in range(relevant + other)}}}
        tied = amble.evaluate(qrels, runs, f"ESL(n={n})", ties="expected").values.item()
        assert tied == pytest.approx(np.mean(orders), rel=1e-14)
    with pytest.raises(MeasureError, match="ties"):
        amble.evaluate(qrels, runs, "ESL", ties="expected", depth=2)


def test_what_it_refuses() -> None:
    for text in ("ESL@3", "ESL(n=0)", "ESL(docs=0)"):
        with pytest.raises(MeasureError):
            amble.parse(text)


def test_residuals_are_for_the_better() -> None:
    lists = Lists.of_grades([0, float("nan"), 1])
    assert list_residuals(amble.parse("ESL"), lists).tolist() == [1.0]  # 2 others, or 1
    assert amble.parse("ESL").interval([0, float("nan"), 1]) == (1.0, 2.0)
    assert list_residuals(amble.parse("ESL"), Lists.of_grades([0, 1])).tolist() == [0.0]


# ---- topics that a run lacks


def test_a_missing_topic_is_an_empty_list_not_the_best() -> None:
    runs = {"bad": {t: RUNS["bad"][t] for t in "1234"}, "good": RUNS["good"]}
    scores = amble.evaluate(QRELS, runs, "ESL")
    assert scores["bad", "ESL"].tolist() == [3, 2, 3, 2, 999 / 2]  # 999 others, 1 relevant document
    found = amble.compare(scores)
    assert (found.wins.tolist(), found.losses.tolist()) == ([0], [5])
    assert "1 comparison (scored as empty lists), less is better" in found.caption
    assert np.isnan(amble.evaluate(QRELS, runs, "ESL", missing="skip")["bad", "ESL"][4])


@pytest.mark.usefixtures("restored")
def test_an_empty_list_that_would_be_the_best_is_refused() -> None:
    @measure("Read", less=True)
    def read(gains: Gains) -> Any:
        """She counts what there is to read."""
        return np.asarray(gains.lists.length, np.float64)

    runs = {"x": {"1": RUNS["good"]["1"]}}
    with pytest.raises(MeasureError, match=r"^Read: run x, topic 2 has no documents and would score 0, though less"):
        amble.evaluate(QRELS, runs, "Read")
    assert np.nanmean(amble.evaluate(QRELS, runs, "Read", missing="skip").values) == 2


# ---- which run is better


def test_the_best_mean() -> None:
    scores = amble.evaluate(QRELS, RUNS, ["ESL", "RR"])
    assert scores.means()[:, 0].tolist() == [14 / 5, 1 / 5]
    assert scores.mean().best == {(1, 1), (1, 2)}  # good, by both
    assert best_of(amble.parse("ESL"), np.array([np.nan, 3.0, 1.0, 1.0])) == [2, 3]
    assert best_of(amble.parse("ESL"), np.array([np.nan])) == []


@pytest.mark.parametrize("test", ["t", "wilcoxon", "sign", "permutation", "bootstrap", "tukey", "anova"])
def test_comparison(scores: amble.Scores, test: str) -> None:
    # bad minus good: 3 2 3 1 4, so bad is worse on all five
    less, plain = (
        amble.compare(scores, "ESL", test=test),
        amble.compare({run: dict(zip("12345", scores[run, "ESL"].tolist(), strict=True)) for run in RUNS}, test=test),
    )
    assert (less.wins.tolist(), less.losses.tolist(), less.superiority.tolist()) == ([0], [5], [0.0])
    assert (plain.wins.tolist(), plain.losses.tolist()) == ([5], [0])
    assert less.difference == pytest.approx([13 / 5])
    assert less.p == pytest.approx(plain.p, rel=1e-12)
    for name in ("difference", "g", "mean", "mean_low", "mean_high"):
        assert getattr(less, name) == pytest.approx(getattr(plain, name), rel=1e-12), name
    if test != "bootstrap":  # whose intervals are of draws
        assert (less.low, less.high) == (pytest.approx(plain.low), pytest.approx(plain.high))
    assert less.sign == -1
    assert less.facts["less_is_better"]
    assert "less is better" in less.caption
    if test not in ("tukey", "anova"):
        assert less.letters()["run"] == ["good", "bad"]
        better = amble.compare(scores, "ESL", baseline="bad", test=test, sides="greater")
        worse = amble.compare(scores, "ESL", baseline="bad", test=test, sides="less")
        assert better.p[0] < 0.1 < 0.9 < worse.p[0]
        assert better.low[0] == -np.inf  # good minus bad is negative, at most so much


def test_leaderboard_and_gates(scores: amble.Scores) -> None:
    report = amble.report(scores, baseline="bad")
    table = report.leaderboard.table()
    assert table["run"] == ["good", "bad"]
    assert table.marks == {(0, 1): "↑", (0, 2): "↑"}
    assert table.best == {(0, 1), (0, 2)}
    assert report.data["system"] == 1
    assert [m["sign"] for m in report.data["measures"]] == [-1, 1]
    assert report.data["leaderboard"]["verdicts"] == [["0+", "-0"], ["0+", "-0"]]
    for gate, base, fails in (("ESL", "good", 1), ("ESL drops by 2.6", "good", 1), ("ESL drops by 2.7", "good", 0),
                              ("ESL drops by 1300%", "good", 1), ("ESL drops by 1310%", "good", 0),
                              ("ESL", "bad", 0), ("ESL drops", "bad", 0), ("RR", "bad", 0)):  # fmt: skip
        assert len(pass_through(scores, [parse_gate(gate)], TestDesign(baseline=base)).regressions) == fails, gate
    told = pass_through(scores, [parse_gate("ESL")], TestDesign(baseline="good")).regressions
    assert str(told[0]).startswith("regression: bad: ESL 2.8000, good 0.2000, difference 2.6000 (p 0.00")


def test_gates_with_a_number(scores: amble.Scores) -> None:
    for gate, failed in (("ESL > 2.8", []), ("ESL > 2.7", ["bad"]), ("ESL > 0.1", ["bad", "good"])):
        assert [check.run for check in pass_through(scores, [parse_gate(gate)], TestDesign()).regressions] == failed
    told = pass_through(scores, [parse_gate("ESL > 2.7")], TestDesign()).regressions
    assert str(told[0]) == "regression: bad: ESL 2.8000, expected at most 2.7 (gate: ESL > 2.7)"
    with pytest.raises(amble.AmbleError, match="of ESL less is better, expected > and a number"):
        parse_gate("ESL < 3")
    with pytest.raises(amble.AmbleError, match="of AP more is better, expected < and a number"):
        parse_gate("AP > 0.5")


def test_charts(scores: amble.Scores) -> None:
    pytest.importorskip("altair")
    heat = heat_spec(scores, "ESL")
    assert heat["encoding"]["y"]["scale"]["domain"] == ["good", "bad"]
    assert heat["encoding"]["x"]["scale"]["domain"] == ["2", "1", "3", "4", "5"]  # 2 3 3 3 4 others in all
    drawn = difference_spec(scores, "good", "bad", "ESL")
    assert drawn["encoding"]["color"]["condition"]["test"] == "datum.difference > 0"
    assert drawn["encoding"]["x"]["scale"]["domain"] == ["5", "1", "3", "2", "4"]  # -4 -3 -3 -2 -1, the best first
    runs = RUNS | {"worst": {t: {"q": 9.0, **RUNS["bad"][t]} for t in "12345"}}
    pairs = pairs_spec(amble.compare(amble.evaluate(QRELS, runs, "ESL"), baseline="bad"))
    assert pairs["layer"][1]["encoding"]["y"]["scale"]["domain"] == ["good", "worst"]


def test_command_line(amble_cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "q").write_text("".join(f"{t} 0 {d} {g}\n" for t in QRELS for d, g in QRELS[t].items()))
    for run, topics in RUNS.items():
        lines = [f"{t} Q0 {d} 0 {s} {run}\n" for t, docs in topics.items() for d, s in docs.items()]
        (tmp_path / run).write_text("".join(lines))
    files = [str(tmp_path / name) for name in ("q", "bad", "good")]
    done = amble_cli("compare", *files, "-m", "ESL", "--letters", "--format", "tsv", "--quiet")
    assert [line.split("\t")[:3] for line in done.stdout.splitlines()[1:]] == [
        ["ESL", "good", "0.2000"],
        ["ESL", "bad", "2.8000"],
    ]
    page = ["-o", str(tmp_path / "r.html"), "--quiet"]
    done = amble_cli("report", *files, "--baseline", "good", "--fail-if", "ESL", "-m", "ESL", *page)
    assert done.returncode == 3
    assert "regression: bad: ESL 2.8000" in done.stdout + done.stderr
    assert "less is better" in amble_cli("list", "ESL").stdout


# ---- of several measures


def test_measures_agree_though_they_run_in_opposite_directions(scores: amble.Scores) -> None:
    found = agreement(scores)
    assert (found.counts["SSA"][0, 1], found.counts["SSD"][0, 1]) == (1, 0)
    assert correlations(scores).values[0, 1] == 1
    assert correlations(scores, statistic="tau_ap").values[0, 1] == 1
    assert swap_rates(scores, sizes=[2], rounds=5).swaps.sum() == 0


def test_runs_left_out_are_ranked_from_the_best() -> None:
    # c finds u first, which only c has: 0 others, as a; without u it has read 3 of 9 others, and half of the rest
    qrels = {"1": {"r": 1, "u": 1}}
    runs = {"a": {"1": {"r": 1.0}}, "b": {"1": {"x": 2.0, "r": 1.0}}, "c": {"1": {"u": 3.0, "y": 2.0, "z": 1.0}}}
    found = leave_out(amble.align(qrels, runs), "ESL(docs=10)", {"ab": ["a", "b"], "c": ["c"]}, depth=1)
    assert found.moved[found.groups.index("c"), 0] == 2  # none was better, now two are


def test_mixtures_are_of_one_direction() -> None:
    both = amble.Mixture({amble.parse("ESL"): 0.5, amble.parse("ESL(n=2)"): 0.5})
    assert both.value([0, 1, 0, 1]) == 1.5
    assert both.sign == -1
    with pytest.raises(MeasureError, match="of ESL less is better, of others in the mixture not"):
        amble.Mixture({amble.parse("ESL"): 0.5, amble.parse("AP"): 0.5})


@pytest.mark.usefixtures("restored")
def test_users_gain_the_more_the_better() -> None:
    with pytest.raises(MeasureError, match="not for a user's gain"):

        @measure("Odd", question="order2", less=True)
        def odd() -> Any:
            """Nobody."""


def test_sessions_have_the_direction_of_the_measure_of_lists() -> None:
    assert amble.parse("PerQuery(of='ESL')").sign == -1
    assert amble.parse("PerQuery(of='RR')").sign == amble.parse("PerQuery").sign == 1
    assert amble.parse("PerQuery(of='ESL')").value([[0, 1], [1, 0]]) == 0.5
