"""NCP with weights of documents: by hand, against AP, on every road that a measure takes, and bad input."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import amble
from amble.errors import MeasureError
from amble.evaluation.run_distributions import run_distributions
from amble.measures import Lists
from amble.measures.residuals import list_residuals
from amble.metaevaluation import judge_again

Cli = Callable[..., Any]

QRELS = {"1": {"a": 1, "b": 1, "c": 1, "d": 0}, "2": {"e": 2, "f": 1}}
RUNS = {
    "x": {"1": {"a": 4.0, "u": 3.0, "b": 2.0}, "2": {"v": 3.0, "f": 2.0, "e": 1.0}},
    "y": {"1": {"d": 4.0, "c": 3.0, "a": 2.0}, "2": {"e": 1.0}},
}
WEIGHTS = {"1": {"a": 1, "b": 2, "c": 5}, "2": {"e": 3, "f": 1}}
# x on 1: a at 1 (precision 1), b at 3 (2/3), c not found:  1/8 + 2/8 x 2/3; on 2: f at 2 (1/2), e at 3 (2/3)
X = [1 / 8 + 2 / 8 * 2 / 3, 1 / 4 * 1 / 2 + 3 / 4 * 2 / 3]
# y on 1: c at 2 (1/2), a at 3 (2/3): 5/8 x 1/2 + 1/8 x 2/3; on 2: e at 1, f not found
Y = [5 / 8 * 1 / 2 + 1 / 8 * 2 / 3, 3 / 4]


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "wanted.tsv"
    lines = [f"{topic}\t{doc}\t{weight}\n" for topic, of in WEIGHTS.items() for doc, weight in of.items()]
    path.write_text("# topic document weight\n" + "".join(lines))
    return str(path)


def ncp(weights: Any = WEIGHTS, text: str = "NCP") -> Any:
    return amble.parse(text)(documents=weights)


def test_by_hand(file: str) -> None:
    for m in (ncp(), amble.parse(f"NCP(documents='{file}')"), ncp(Path(file))):
        found = amble.evaluate(QRELS, RUNS, m)
        assert found["x", m] == pytest.approx(X, rel=1e-15)
        assert found["y", m] == pytest.approx(Y, rel=1e-15)


def test_equal_weights_are_ap() -> None:
    equal = {topic: {doc: 7 for doc, grade in of.items() if grade} for topic, of in QRELS.items()}
    for cut in (None, 1, 2, 3):
        one, ap = (m if cut is None else m @ cut for m in (ncp(equal), amble.parse("AP")))
        found = amble.evaluate(QRELS, RUNS, [one, ap]).values
        assert found[..., 0] == pytest.approx(found[..., 1], rel=1e-15)


def test_documents_that_cannot_satisfy_keep_their_share() -> None:
    # d is not relevant, and z is not judged: half of all users want one of these
    m = ncp({"1": {"a": 1, "d": 0.5, "z": 0.5}, "2": {"e": 1}})
    found = amble.evaluate(QRELS, RUNS, m)
    assert found["x", m] == pytest.approx([1 / 2, 2 / 3])
    assert found["y", m] == pytest.approx([1 / 2 * 2 / 3, 1])
    # with rel=2 only e is relevant: f keeps a quarter
    strict = ncp(text="NCP(rel=2)")
    assert amble.evaluate(QRELS, RUNS, strict)["x", strict][1] == pytest.approx(3 / 4 * 1 / 3)


def test_its_user_and_distribution() -> None:
    m = ncp()
    rankings = amble.align(QRELS, RUNS)
    gains = m.gains_of(Lists.of_rankings(rankings))
    i = int(np.flatnonzero((rankings.run == 0) & (rankings.topic == 0))[0])
    assert m.one_user.on(gains, i).last.tolist() == [1 / 8, 0, 1 / 4]
    found = m.distribution_on(gains, i)
    assert dict(zip(found.values.tolist(), found.probs.tolist(), strict=True)) == {0: 5 / 8, 2 / 3: 1 / 4, 1: 1 / 8}
    total, depth = m.one_user.totals(gains)  # V is 1, 7/8, 7/8
    assert (total[i], depth[i]) == (1 + 7 / 8, 1 + 7 / 8 * 2)
    both = run_distributions(rankings, m)
    assert both["x"].mean == pytest.approx(np.mean(X))
    assert both["y"].mean == pytest.approx(np.mean(Y))


def test_where_lists_are_made_anew() -> None:
    m = ncp()
    rankings = amble.align(QRELS, RUNS)
    why = amble.why(rankings, "1", m)
    assert why.values[why.docs.index("a")] == pytest.approx([1 / 8, 1 / 8 * 2 / 3])
    assert why.values.sum(axis=0) == pytest.approx([X[0], Y[0]])
    # u is unjudged: if it were relevant, b would be found with precision 1 (a quarter of a third more)
    assert list_residuals(m, Lists.of_rankings(rankings))[0] == pytest.approx(2 / 8 * (1 - 2 / 3))
    # without the judgment of a: b at 3 with precision 1/3, c at 2 with 1/2; a keeps its eighth
    kept = np.array([doc != "a" for doc in rankings.qrels.docs])
    again = m.scores(judge_again(rankings, kept))
    one = np.flatnonzero(rankings.topic == 0)
    assert again[one] == pytest.approx([2 / 8 * 1 / 3, 5 / 8 * 1 / 2])
    page = amble.report(amble.evaluate(rankings, [m, "AP"]))
    assert page.data["distributions"][0]["order1"] == pytest.approx([np.mean(Y), np.mean(X)], abs=1e-6)
    assert "only grades" in page.data["users"]["of"][0]["why"]


def test_names_equality_and_pickling(file: str) -> None:
    m = amble.parse(f"NCP(documents='{file}')")
    assert str(m) == f"NCP(documents='{file}')"
    assert m == amble.parse(str(m)) == m(documents=Path(file))
    assert str(ncp()).startswith("NCP(documents=<documents:")
    assert ncp() == ncp() != ncp({"1": {"a": 1}, "2": {"e": 1}})
    for one in (m, ncp()):
        again = pickle.loads(pickle.dumps(one))
        assert again == one
        assert amble.evaluate(QRELS, RUNS, again)["x", again] == pytest.approx(X)


def test_bad_input(tmp_path: Path) -> None:
    for line, said in (
        ("1 a 2\n1 a 3", ":2: a of topic 1 has a weight already, expected one weight"),
        ("1 a -2", ":1: weight -2 is below 0"),
        ("1 a", ":1: found 2 columns, expected 3: topic document weight"),
        ("1 a 0", "topic 1: expected weights of at least 0, and one above it"),
        ("1 a x", ":1: "),
        ("", "empty"),
    ):
        (tmp_path / "w").write_text(line)
        with pytest.raises(MeasureError, match=said) as refused:
            ncp(tmp_path / "w")
        assert "\n" not in str(refused.value)
    for given in ({}, {"1": 3}, 4, {"1": {"a": float("nan")}}, {"1": {"a": "b"}}, "no-such-file"):
        with pytest.raises(MeasureError):
            ncp(given)
    with pytest.raises(MeasureError, match="g and documents: expected one of them"):
        amble.parse("NCP(g=0.5)")(documents=WEIGHTS)
    with pytest.raises(MeasureError, match="topic 2 has no weights of documents"):
        amble.evaluate(QRELS, RUNS, ncp({"1": {"a": 1}}))
    with pytest.raises(MeasureError, match="has no documents but only grades"):
        ncp().value([1, 0, 1])


def test_command_line(amble_cli: Cli, file: str, tmp_path: Path) -> None:
    (tmp_path / "q").write_text("".join(f"{t} 0 {d} {g}\n" for t in QRELS for d, g in QRELS[t].items()))
    (tmp_path / "x").write_text("".join(f"{t} Q0 {d} 0 {s} x\n" for t in RUNS["x"] for d, s in RUNS["x"][t].items()))
    done = amble_cli("eval", str(tmp_path / "q"), str(tmp_path / "x"), "-m", f"NCP(documents='{file}')", "--by-topic",
                     "--format", "tsv", "--quiet")  # fmt: skip
    assert [line.split("\t")[-1] for line in done.stdout.splitlines()[1:]] == ["0.2917", "0.6250", "0.4583"]
    done = amble_cli("user", f"NCP(documents='{file}')", "--gains", "1,0")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)


def test_whole_numbers_are_ids_here_too() -> None:
    runs = {1: [11, 10]}
    # both are found; that at rank 1 is wanted 3 of 4 times: 3/4 x 1 + 1/4 x 2/2
    for weights in ({1: {10: 1, 11: 3}}, {"1": {"10": 1.0, "11": 3.0}}):
        found = amble.evaluate({1: {10: 1, 11: 1}}, runs, [amble.measures.NCP(documents=weights)])
        assert found.values.tolist() == [[[1.0]]]
    assert amble.measures.NCP(documents={1: {10: 1}}) == amble.measures.NCP(documents={"1": {"10": 1.0}})


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ({10: 300}, "costs: no document has grade 10; ids of documents are text here"),
        ({np.int64(7): 3}, "costs: no document has grade 7"),
        ({1: 2, "a": 3}, "costs: grades and documents, expected either"),
    ],
)
def test_costs_of_nothing(costs: Any, message: str) -> None:
    with pytest.raises(amble.AmbleError, match=message):
        amble.evaluate({1: {10: 1}}, {1: [10]}, "TBG", costs=costs)
    with pytest.raises(amble.AmbleError, match="costs: no user here looks at them"):
        amble.Evaluator({1: {10: 1}}, "AP", costs={"10": 2})
