"""Costs of documents: one road to every function and command that takes runs, and what is refused on it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import amble
from amble.errors import AlignError, MeasureError
from amble.measures import Lists
from amble.measures.residuals import list_residuals
from amble.rankings.costs import Costs

QRELS = {"1": {"a": 1, "c": 1}, "2": {"b": 1}}
RUNS = {"x": {t: {"a": 3.0, "b": 2.0, "c": 1.0} for t in "12"}, "y": {t: {"c": 2.0, "a": 1.0} for t in "12"}}
COSTS = {"a": 0.5, "b": 2.0, "c": 4.0}
# reads all of the list, once: gain / cost of the list
ALL = "PH(p=1,q=0,effort='time',timing='fixed',seconds='costs')"
X, Y = [2 / 6.5, 1 / 6.5], [2 / 4.5, 0.0]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("q").write_text("".join(f"{t} 0 {d} {g}\n" for t, of in QRELS.items() for d, g in of.items()))
    for name, topics in RUNS.items():
        lines = [f"{t} Q0 {d} 0 {score} {name}\n" for t, docs in topics.items() for d, score in docs.items()]
        Path(name).write_text("".join(lines))
    Path("c").write_text("".join(f"{doc} {cost}\n" for doc, cost in COSTS.items()))


def test_one_road() -> None:
    rankings = amble.align(QRELS, RUNS, costs=COSTS)
    plain = amble.align(QRELS, RUNS)
    for scores in (
        amble.evaluate(QRELS, RUNS, ALL, costs=COSTS),
        amble.evaluate(rankings, ALL),
        amble.evaluate(plain, ALL, costs=COSTS),
    ):
        np.testing.assert_allclose(scores.values[:, :, 0], [X, Y], rtol=1e-14)
        found = amble.run_distributions(scores.rankings, ALL, users=10)  # all do the same
        assert [found[name].mean for name in "xy"] == pytest.approx([np.mean(X), np.mean(Y)], rel=1e-14)
        with pytest.warns(amble.SimulationWarning, match="visits take different times"):
            assert scores.distribution("x", "1", ALL).mean == pytest.approx(X[0], rel=1e-14)
        why = amble.why(scores, "1", ALL)
        assert why.adds_up
        np.testing.assert_allclose(why.values.sum(axis=0), [X[0], Y[0]], rtol=1e-14)
    assert plain.costs is None
    assert amble.run_distributions(QRELS, RUNS, ALL, users=10, costs=COSTS)["x"].mean == pytest.approx(np.mean(X))
    assert amble.why(QRELS, RUNS, "1", ALL, costs=COSTS).scores == pytest.approx([X[0], Y[0]])
    [row] = amble.compare(QRELS, RUNS, ALL, costs=COSTS).table().rows
    assert any(isinstance(x, float) and x == pytest.approx(3 / 13 - 2 / 9) for x in row)


@pytest.mark.parametrize("text", ["TBG(h=3)", "U(L=5)", "IFTRate", ALL, "Mixture(TBG(h=3):0.5,RBP:0.5)"])
def test_one_list(text: str) -> None:
    m = amble.parse(text)
    scores = amble.evaluate(QRELS, RUNS, m, costs=COSTS).values[0, :, 0]
    for found, grades, ideal in zip(scores, ([1, 0, 1], [0, 1, 0]), ([1, 1], [1]), strict=True):
        assert m.value(grades, costs=[0.5, 2, 4], ideal=ideal) == pytest.approx(found, rel=1e-12)


def test_users_who_look_at_costs() -> None:
    # TBG: V(i) = 2^(-cost before i / h): 1, 2^(-1/6), 2^(-5/6), 2^(-13/6), then 2^(-1/3) of the one before
    user = amble.parse("TBG(h=3)").user([1, 0, 1], costs=[0.5, 2, 4])
    np.testing.assert_allclose(user.visits[:5], 2 ** (-np.array([0, 0.5, 2.5, 6.5, 7.5]) / 3), rtol=1e-14)
    # U(L=5): V = 1, .9, .5, 0
    np.testing.assert_allclose(amble.parse("U(L=5)").user([1, 0, 1], costs=[0.5, 2, 4]).visits[:3], [1, 0.9, 0.5])
    # the two topics' lists are as long, but their costs are not the same: simulated apart
    runs = {"x": {"1": {"a": 2.0, "b": 1.0}, "2": {"c": 2.0, "b": 1.0}}}
    costs = {"a": 1.0, "b": 1.0, "c": 4.0}
    rankings = amble.align({"1": {"b": 1}, "2": {"b": 1}}, runs, costs=costs)
    exact = amble.run_distributions(rankings, "U(L=5)")["x"]
    found = amble.run_distributions(rankings, "U(L=5)", users=20_000, seed=3)["x"]
    assert abs(found.mean - exact.mean) < 4 * found.standard_error
    # V = 1, .8, .6, .4, .2 | 1, .2: E[1/H] of those who see rank 2 is sum of L(h)/h = .2 (1/2 + 1/3 + 1/4 + 1/5) | .2/2
    assert exact.mean == pytest.approx((0.2 * (1 / 2 + 1 / 3 + 1 / 4 + 1 / 5) + 0.2 / 2) / 2)


def test_residuals_of_lists_filled_one_by_one_keep_their_own_costs(monkeypatch: pytest.MonkeyPatch) -> None:
    # x costs 6.5, y 4.5: of x b is unjudged on topic 1, a and c on topic 2; of y nothing, and both
    lists = Lists.of_rankings(amble.align(QRELS, RUNS, costs=COSTS))
    for name in ("_CHUNK", "_CELLS"):
        monkeypatch.setattr(f"amble.measures.residuals.{name}", 1)
    found = list_residuals(amble.parse(ALL), lists)  # type: ignore[arg-type]
    assert found.tolist() == pytest.approx([1 / 6.5, 2 / 6.5, 0, 2 / 4.5])


def test_residuals_and_removed_judgments_keep_costs() -> None:
    lists = Lists.of_rankings(amble.align({"1": {"a": 1, "c": 1}}, {"x": RUNS["x"]}, costs=COSTS))
    # b is unjudged: were it relevant, 3 / 6.5
    assert list_residuals(amble.parse(ALL), lists)[0] == pytest.approx(1 / 6.5, rel=1e-12)  # type: ignore[arg-type]
    costs = Costs(np.arange(1.0, 7.0), np.array([0, 1, 3, 6])).of(np.array([2, 0, 2]))
    assert costs.values.tolist() == [4, 5, 6, 1, 4, 5, 6]
    assert costs.offsets.tolist() == [0, 3, 4, 7]
    rankings = amble.align(QRELS, RUNS, costs=COSTS)
    again = amble.metaevaluation.judge_again(rankings, np.array([True, False, True]))  # c of topic 1 is unjudged
    assert amble.parse(ALL).scores(again)[0] == pytest.approx(1 / 6.5, rel=1e-14)


def test_refused() -> None:
    rankings = amble.align(QRELS, RUNS)
    for ask in (
        lambda: amble.evaluate(rankings, "AP", costs=COSTS),
        lambda: amble.evaluate(QRELS, RUNS, ["AP", "RBP"], costs=COSTS),
        lambda: amble.run_distributions(rankings, "PH", costs=COSTS),
        lambda: amble.compare(rankings, "PH(effort='time',seconds='12')", costs=COSTS),
    ):
        with pytest.raises(AlignError, match="costs: no user here looks at them"):
            ask()
    assert amble.evaluate(rankings, ["AP", ALL], costs=COSTS).values.shape == (2, 2, 2)
    scores = amble.evaluate(rankings, "AP")
    with pytest.raises(AlignError, match="costs: options of align, given with scores"):
        amble.compare(scores, "AP", costs=COSTS)
    with pytest.raises(AlignError, match="costs: none is of a document in a run: found those of d, e"):
        amble.evaluate(QRELS, RUNS, ALL, costs={"d": 1.0, "e": 2.0})
    with pytest.raises(AlignError, match="unjudged='condense'"):
        amble.align(QRELS, RUNS, unjudged="condense", costs=COSTS)
    for costs in ([0.0], [1.0, -1.0], [float("nan")], ["x"], [1.0, 1.0, 1.0]):
        with pytest.raises(MeasureError, match="costs"):
            amble.parse(ALL).value([1, 0], costs=costs)
    with pytest.raises(MeasureError, match="found no costs of documents"):
        amble.parse(ALL).value([1, 0])


def test_commands(files: None, amble_cli: Any) -> None:
    given = ("q", "x", "y", "--costs", "c", "-m", ALL, "--quiet")
    done = amble_cli("eval", *given, "--format", "json", "--digits", "10")
    out = json.loads(done.stdout)
    assert [row["value"] for row in out["rows"]] == pytest.approx([np.mean(X), np.mean(Y)])
    assert "c" in [file["path"] for file in out["files"]]
    assert out["options"]["costs"] == "c"
    done = amble_cli("distribution", *given, "--digits", "6")
    assert f"{np.mean(X):.6f}" in done.stdout
    done = amble_cli("compare", *given, "--why", "1", "--digits", "6")
    assert f"{X[0]:.6f}" in done.stdout
    assert f"{Y[0]:.6f}" in done.stdout
    assert f"{abs(3 / 13 - 2 / 9):.4f}" in amble_cli("compare", *given).stdout
    for command in ("eval", "distribution", "compare"):
        done = amble_cli(command, "q", "x", "y", "--costs", "c", "-m", "RBP")
        assert done.returncode == 2
        assert done.stderr.startswith("amble: costs: no user here looks at them")
    done = amble_cli("compare", "q", "x", "y", "--costs", "c", "--sessions", "q", "-m", "MsM")
    assert "--costs are of documents in lists" in done.stderr


def test_report(files: None, amble_cli: Any) -> None:
    pytest.importorskip("jinja2")
    Path("options.toml").write_text(f'qrels = "q"\nruns = ["x", "y"]\nmeasures = ["{ALL}"]\ncosts = "c"\n')
    done = amble_cli("report", "--config", "options.toml", "-o", "page.html", "--quiet")
    assert (done.returncode, done.stdout) == (0, "report: page.html\n")
    page = Path("page.html").read_text()
    assert "--costs c" in page
    assert "costs = &#34;c&#34;" in page or 'costs = "c"' in page
    assert f"{np.mean(X):.4f}" in page


def test_user(files: None, amble_cli: Any) -> None:
    done = amble_cli("user", ALL, "--gains", "1,0,1", "--costs-by-rank", "0.5,2,4", "--digits", "6")
    assert f"score {X[0]:.6f}" in done.stdout
    done = amble_cli("user", "U(L=5)", "--costs-by-rank", "0.5,2,4", "--format", "tsv", "--depth", "3")
    assert [line.split("\t")[3] for line in done.stdout.splitlines()[1:]] == ["1.0000", "0.9000", "0.5000"]
    for words, message in (
        (("RBP", "--costs-by-rank", "1"), "costs: no user here looks at them"),
        ((ALL, "--costs-by-rank", "1,x"), "--costs-by-rank: found 'x'"),
        ((ALL, "--costs-by-rank", "1,-1", "--gains", "1,0"), "expected numbers above 0, by rank"),
        ((ALL, "--gains", "1,0"), "found no costs of documents, expected costs=, --costs or --costs-by-rank"),
    ):
        done = amble_cli("user", *words)
        assert done.returncode == 2
        assert message in done.stderr
        assert done.stderr.count("\n") == 1


def test_user_of_a_topic(files: None, amble_cli: Any) -> None:
    Path("t.tsv").write_text("401 1\n402 5\n")
    done = amble_cli("user", "INSQ(T='t.tsv')", "--topic", "402", "--gains", "1,0")
    assert done.stdout == amble_cli("user", "INSQ(T=5)", "--gains", "1,0").stdout
    scores = amble.evaluate({"401": {"a": 1}}, {"x": {"401": {"a": 1.0}}}, "INSQ(T='t.tsv')")
    assert scores.user("x", "401", "INSQ(T='t.tsv')").weights == pytest.approx(
        amble.parse("INSQ(T=1)").user([1]).weights
    )
    for words, message in (((), "say whose, topic= (--topic)"), (("--topic", "9"), "topic 9 has no value of T")):
        done = amble_cli("user", "INSQ(T='t.tsv')", *words)
        assert done.returncode == 2
        assert message in done.stderr
