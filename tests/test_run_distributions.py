"""The distributions of runs: mixtures over topics, exact or simulated."""

from __future__ import annotations

import numpy as np
import pytest

import amble
from amble.evaluation.run_distributions import chosen_lists, orders_of
from amble.measures import ListMeasure
from amble.users import Walk

pytestmark = pytest.mark.twin

QRELS = {"1": {"a": 1, "b": 1}, "2": {"c": 1}, "3": {"z": 1}}
RUNS = {
    "x": {"1": {"a": 2.0, "b": 1.0}, "2": {"d": 2.0, "c": 1.0}, "3": {"z": 1.0}},
    "y": {"1": {"q": 2.0, "b": 1.0}, "2": {"c": 2.0}},
}


def test_a_run_is_the_mixture_of_its_topics() -> None:
    rankings = amble.align(QRELS, RUNS)
    distributions = amble.run_distributions(rankings, "AP")
    # x: topic 1 both relevant at the top: 1; topic 2: 1/2; topic 3: 1. y: topic 1: half find b at rank 2 (1/2), half
    # look for a in vain (0); topic 2: 1; topic 3 is missing: 0
    assert distributions["x"].values.tolist() == [0.5, 1]
    np.testing.assert_allclose(distributions["x"].probs, [1 / 3, 2 / 3])
    assert distributions["y"].values.tolist() == [0, 0.5, 1]
    np.testing.assert_allclose(distributions["y"].probs, [1 / 6 + 1 / 3, 1 / 6, 1 / 3])
    scores = amble.evaluate(rankings, "AP")
    for run in ("x", "y"):
        assert distributions[run].mean == pytest.approx(scores[run, "AP"].mean(), abs=1e-15)
    assert distributions["y"].compare(distributions["x"]) == "less"


def test_some_topics() -> None:
    rankings = amble.align(QRELS, RUNS)
    assert amble.run_distributions(rankings, "AP", topics=["2"])["x"].values.tolist() == [0.5]
    assert amble.run_distributions(rankings, "AP", topics="2")["y"].values.tolist() == [1]
    with pytest.raises(amble.AlignError, match="topic '9' is not among the 3 topics scored: 1, 2, 3"):
        amble.run_distributions(rankings, "AP", topics=["9"])
    assert chosen_lists(rankings, ["1"]) == [[0], [3]]


def test_simulated_where_it_must_be() -> None:
    rankings = amble.align(QRELS, RUNS)
    with pytest.warns(amble.SimulationWarning, match="PH: visits are worth less .* 100,000 users simulated") as heard:
        distributions = amble.run_distributions(rankings, "PH", seed=3)
    assert [warning.filename for warning in heard] == [__file__]  # the line that asked
    exact = orders_of(rankings, "PH")
    for i, run in enumerate(("x", "y")):
        assert distributions[run].users == 100_000
        assert abs(distributions[run].mean - exact[i, 0]) < 6 * distributions[run].standard_error
    some = amble.run_distributions(rankings, "PH(loss=0)", users=5_000, seed=3)
    without = amble.run_distributions(rankings, "PH(loss=0)")
    for run in ("x", "y"):
        assert some[run].users == 5_000
        assert some[run].distance(without[run]) < some[run].band_at(1 - 1e-6)


def test_both_orders() -> None:
    rankings = amble.align(QRELS, RUNS)
    got = orders_of(rankings, "PH")
    scores = amble.evaluate(rankings, ["PH", "PH(order=2)"])
    np.testing.assert_allclose(got, scores.means(), atol=1e-14)
    np.testing.assert_allclose(orders_of(rankings, "RBP")[:, 1], amble.evaluate(rankings, "RBP").means()[:, 0])
    ap = orders_of(rankings, "AP", topics=["2"])
    # x finds c at rank 2: T = 1 after 2 visits, both orders 1/2
    np.testing.assert_allclose(ap, [[0.5, 0.5], [1, 1]], atol=1e-15)
    assert np.isnan(orders_of(rankings, "nDCG")).all()
    # order 1 of users whose own question is another: the mean of their distributions
    for text in ("BPM", "NERR8", "INST", "INSQ", "RBP", "P@2"):
        distributions = amble.run_distributions(rankings, text)
        np.testing.assert_allclose(
            orders_of(rankings, text)[:, 0], [distribution.mean for distribution in distributions.values()], atol=1e-12
        )


def test_a_population_of_walkers() -> None:
    rankings = amble.align(QRELS, RUNS)
    assert amble.run_distributions(rankings, "PH(p=Uniform(0.1,0.4))", runs=["x"], users=100)["x"].users == 100
    assert amble.run_distributions(rankings, "PH(p=Uniform(0.1,0.4),loss=0)", runs=["x"])["x"].users is None


def test_nothing_to_walk_on() -> None:
    rankings = amble.align(QRELS, RUNS, missing="skip")
    with pytest.raises(amble.AlignError, match="run y has no list"):
        amble.run_distributions(rankings, "AP", topics=["3"])
    with pytest.raises(amble.MeasureError, match="ties='expected'"):
        amble.run_distributions(amble.align({"1": {"a": 1}}, {"x": {"1": {"a": 1.0, "b": 1.0}}}, ties="expected"), "AP")
    with pytest.raises(amble.AlignError, match=r"expected run_distributions\(rankings, measure\)"):
        amble.run_distributions(QRELS, "AP")  # type: ignore[arg-type]
    with pytest.raises(amble.MeasureError, match="not a user"):
        amble.run_distributions(rankings, "NumRel")


def test_some_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    qrels = {"1": {"a": 1}, "2": {"b": 1}}
    first, second = {"1": {"a": 2.0, "b": 1.0}, "2": {"b": 2.0}}, {"1": {"b": 2.0, "a": 1.0}, "2": {"b": 2.0}}
    rankings = amble.align(qrels, {"x": first, "y": second, "z": first})
    every = amble.run_distributions(rankings, "AP")
    some = amble.run_distributions(rankings, "AP", runs=["z", "y", "z"])
    assert list(some) == ["z", "y"]
    assert all((some[run].values == every[run].values).all() for run in some)
    assert some["y"].mean == 0.75  # 1/2 and 1
    assert orders_of(rankings, "AP", runs=["y"], known={"y": some["y"]})[0, 0] == 0.75
    for measure in ("AP", "RBP", "P@1"):
        assert orders_of(rankings, measure, runs=["z", "y"]).tolist() == orders_of(rankings, measure)[[2, 1]].tolist()
    asked: list[int] = []
    answers = ListMeasure.answers
    monkeypatch.setattr(ListMeasure, "answers", lambda m, of, lists: asked.append(lists.n) or answers(m, of, lists))
    assert orders_of(rankings, "AP", runs=["y"], known={"y": some["y"]})[0, 1] == orders_of(rankings, "AP")[1, 1]
    assert asked[0] == 2  # the lists of y, not those of others
    with pytest.raises(amble.AlignError, match="run 'w' is not among x, y, z"):
        amble.run_distributions(rankings, "AP", runs=["w"])
    with pytest.raises(amble.AlignError, match="no runs chosen"):
        amble.run_distributions(rankings, "AP", runs=[])


def test_a_measure_builds_its_walk_once(monkeypatch: pytest.MonkeyPatch) -> None:
    # fifty lists of two runs, their orders and a simulation: one user reads them all
    built = []
    init = Walk.__init__
    monkeypatch.setattr(Walk, "__init__", lambda self, *a, **k: (built.append(1), init(self, *a, **k))[1])
    documents = [f"d{i}" for i in range(6)]
    qrels = {str(t): {d: (i * t) % 3 == 0 for i, d in enumerate(documents)} for t in range(25)}
    runs = {r: {t: {d: float((i + s) % 6) for i, d in enumerate(documents)} for t in qrels} for s, r in enumerate("xy")}
    rankings = amble.align({t: {d: int(g) for d, g in judged.items()} for t, judged in qrels.items()}, runs)
    m = amble.parse("PH(p=0.4375,loss=0)")  # which no other test asks for: what was parsed is kept
    exact = amble.run_distributions(rankings, m)
    orders_of(rankings, m, known=exact)
    amble.run_distributions(rankings, m, users=100)
    assert len(built) == 1
