"""Populations of several parameters, and mixtures of measures: golden values, by hand, by other sums, bad input."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drawing import examples
from hypothesis import given
from hypothesis import strategies as st

import amble
from amble.evaluation.run_distributions import orders_of
from amble.measures import AP, GMAP, MP, PH, RBP, Beta, Dirichlet, Lists, MsM, P, bpref, nDCG
from amble.measures.residuals import bounds, list_residuals

R10 = [1, 0, 0, 1, 0, 0, 1, 0, 0, 1]
QRELS = {"1": {"a": 1, "b": 0, "c": 1}, "2": {"d": 1}}
RUNS = {
    "x": {"1": {"a": 3.0, "b": 2.0, "c": 1.0}, "2": {"e": 2.0, "d": 1.0}},
    "y": {"1": {"b": 3.0, "u": 2.0, "a": 1.0}, "2": {"d": 2.0, "e": 1.0}},
}


# ---- Dirichlet distributions of p, q and s


def test_a_dirichlet_population() -> None:
    for order, want in ((2, 0.411891052665), (1, 0.553634950941)):
        m = amble.parse(f"PH(pqs=Dirichlet(20,10,10),order={order})")
        assert m.value(R10) == pytest.approx(want, abs=5e-13)
        assert PH(pqs=Dirichlet(20, 10, 10), order=order) == m == amble.parse(str(m))


def test_moments_of_a_dirichlet_distribution() -> None:
    # E[x^i y^j] of Dirichlet(3, 2, 4): rising factorials, (3)_i (2)_j / (9)_(i + j)
    points, weights = Dirichlet(3, 2, 4).nodes()
    p, q = points.T
    assert weights @ p == pytest.approx(3 / 9, abs=1e-14)
    assert weights @ (p**2 * q) == pytest.approx(3 * 4 * 2 / (9 * 10 * 11), abs=1e-14)
    assert weights @ (p * q**3) == pytest.approx(3 * 2 * 3 * 4 / (9 * 10 * 11 * 12), abs=1e-14)


@pytest.mark.parametrize(
    "more",
    [
        {"order": 2},
        {"loss": 0.0},
        {"first": "stop", "utility": "1,0.5"},
        {"effort": "h+1"},
        {"effort": "time", "seconds": "4,2"},
    ],
)
def test_the_mean_over_drawn_users(more: dict[str, Any]) -> None:
    # users drawn from the distribution itself, each scored alone: within 5 standard errors
    drawn = np.random.default_rng(5).dirichlet([6, 3, 5], 100)
    grades = [0, 2, 1, 0, 1]
    each = np.array([PH(p=p, q=q, **more).value(grades) for p, q, _ in drawn.tolist()])
    found = PH(pqs=Dirichlet(6, 3, 5), **more).value(grades)
    assert abs(found - each.mean()) < 5 * each.std() / np.sqrt(each.size)


def test_users_together_and_one_by_one() -> None:
    # lists of several lengths, several users: one vector of weights for all of them, against each user alone
    rankings = amble.align(QRELS, RUNS | {"z": {"1": {"a": 1.0}}})
    lists = Lists.of_rankings(rankings)
    for text in ("PH(q=Uniform(0,0.4))", "PH(p=Uniform(0.1,0.6),order=2)@2", "PH(loss=Beta(2,3),order=2)"):
        m = amble.parse(text)
        want = sum(w * one.scores(lists) for w, one in m.members)
        np.testing.assert_allclose(m.scores(lists), want, atol=1e-13)


def test_a_dirichlet_distribution_of_users_who_hardly_differ() -> None:
    # E[f] = f(mean) + the sum over p, q of cov f'' / 2: a distribution twice as narrow in variance has half the rest
    mean = PH(p=0.5, q=0.25).value(R10)
    rest = [PH(pqs=Dirichlet(2 * a, a, a)).value(R10) - mean for a in (1e4, 2e4, 1e9)]
    assert rest[0] == pytest.approx(2 * rest[1], rel=1e-3)
    assert abs(rest[0]) > 1e-7
    assert abs(rest[2]) < 1e-9


def test_the_accuracy_reached_is_said() -> None:
    with pytest.warns(amble.AmbleWarning, match=r"Dirichlet\(1,1,1\)\): the mean over users is known to \de-0[67]"):
        found = PH(pqs=Dirichlet(1, 1, 1)).value([1, 0, 1])
    # p, q and s uniform on the triangle: s has the density 2 (1 - s), p is any share of what is left; midpoints
    at = ((np.arange(24) + 0.5) / 24).tolist()
    want = sum(2 * (1 - s) * _three((1 - s) * w, (1 - s) * (1 - w)) for s in at for w in at) / 24**2
    assert found == pytest.approx(want, abs=3e-4)


def _three(p: float, q: float) -> float:
    """Order 1 of the walk on three documents, 1, 0, 1, by following the paths, loss .25."""
    states = {(1, 1, 0): (1.0, 1.0)}  # rank, visits to 1 and to 3: probability, and gain so far
    out, h = 0.0, 1
    while states and h < 60:
        after: dict[tuple[int, int, int], tuple[float, float]] = {}
        for (rank, one, three), (mass, gain) in states.items():
            moves = {1: {2: p + q}, 2: {3: p, 1: q}, 3: {2: q}}[rank]
            out += mass * (1 - sum(moves.values())) * gain / h
            for to, chance in moves.items():
                a, c = one + (to == 1), three + (to == 3)
                more = 0.75 ** (a - 1) if to == 1 else 0.75 ** (c - 1) if to == 3 else 0.0
                if mass * chance > 1e-7:
                    before = after.get((to, a, c), (0.0, 0.0))[0]
                    after[to, a, c] = (before + mass * chance, gain + more)
        states, h = after, h + 1
    return out


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("PH(pqs=Dirichlet(20,10,10),p=0.5)", "pqs and p: expected one of them"),
        ("PH(pqs=Dirichlet(20,10,10),q=0.5)", "pqs and q: expected one of them"),
        ("PH(pqs=Beta(8,2))", r"pqs=Beta\(8,2\) is not allowed, expected Dirichlet\(a,b,c\)"),
        ("PH(pqs=0.5)", r"expected Dirichlet\(a,b,c\), which p, q and 1 - p - q have"),
        ("PH(p=Dirichlet(1,2,3))", r"p=Dirichlet\(1,2,3\) is not allowed, expected a number between"),
        ("RBP(p=Dirichlet(1,2,3))", "is not allowed"),
        ("PH(pqs=Dirichlet(1,2))", r"expected Dirichlet\(a,b,c\), a, b, c > 0"),
        ("PH(pqs=Dirichlet(1,2,0))", "a, b, c > 0"),
        ("PH(pqs=Dirichlet(1,2,3),model='AP')", "has no effect with model='AP'"),
        ("RBP(p=Beta(1,2,3))", "expected Beta"),
    ],
)
def test_joint_distributions_that_are_refused(text: str, message: str) -> None:
    with pytest.raises(amble.MeasureError, match=message):
        amble.parse(text)


# ---- mixtures


def test_a_mixture_by_hand() -> None:
    # RBP on 1, 0, 1: (1 - p)(1 + p^2): .5 x 1.25 = .625 and .05 x 1.9025 = .095125; P@2: 1/2
    m = amble.Mixture({RBP(p=0.5): 0.25, RBP(p=0.95): 0.25, P @ 2: 0.5})
    assert m.value([1, 0, 1]) == pytest.approx(0.25 * 0.625 + 0.25 * 0.095125 + 0.5 * 0.5, abs=1e-15)
    assert str(m) == m.label == "Mixture(P@2:0.5,RBP(p=0.5):0.25,RBP(p=0.95):0.25)"
    # AP with four relevant documents: 1, 0, 2/3 found; the users who want another one gain nothing
    two = amble.Mixture({AP: 0.5, P @ 2: 0.5})
    assert two.value([1, 0, 1], relevant=4) == pytest.approx(0.5 * (1 + 2 / 3) / 4 + 0.5 * 0.5, abs=1e-15)
    distribution = two.distribution([1, 0, 1], relevant=4)
    assert distribution.values == pytest.approx([0, 0.5, 2 / 3, 1])
    assert distribution.probs == pytest.approx([0.25, 0.5, 0.125, 0.125])
    # gains differ: the grade, or relevant or not; 2 / log2(2) over itself
    graded = amble.Mixture({nDCG @ 1: 0.5, AP(rel=2): 0.5})
    assert graded.value([1, 2]) == pytest.approx(0.5 * 1 / 2 + 0.5 * 1 / 2, abs=1e-15)


def test_the_residual_of_a_mixture() -> None:
    """Half RBP(.5), half RBP(.95), ten judged documents: (.5^10 + .95^10) / 2, not .5444 of the mixed user."""
    m = amble.Mixture({RBP(p=0.5): 0.5, RBP(p=0.95): 0.5})
    assert list_residuals(m, Lists.of_grades([0] * 10))[0] == pytest.approx(0.299856750869, abs=5e-13)
    low, high = m.interval([0] * 10)
    assert (low, high) == pytest.approx((0, 0.299856750869), abs=5e-13)
    assert bounds(m)
    assert not bounds(amble.Mixture({RBP: 0.5, AP: 0.5}))


def test_a_mixture_is_a_measure_like_any_other(tmp_path: Path) -> None:
    m = amble.Mixture({PH(p=0.9, q=0): 0.3, PH(): 0.7}, name="readers")
    same = amble.Mixture({amble.parse("PH"): 0.7, amble.parse("PH(q=0,p=.9)"): 0.3})
    assert m == same == amble.parse(str(m)) == pickle.loads(pickle.dumps(m))
    assert hash(m) == hash(same)
    assert pickle.loads(pickle.dumps(m)).label == m.label == "readers"
    assert amble.parse(" Mixture( PH(p=.9,q=0) : .3, P@H: 0.7 ) ") == m
    assert m != amble.Mixture({PH(p=0.9, q=0): 0.4, PH(): 0.6})
    assert m @ 2 == amble.Mixture({PH(p=0.9, q=0) @ 2: 0.3, PH @ 2: 0.7}) == amble.parse(f"{m}@2")
    assert m() is m
    scores = amble.evaluate(QRELS, RUNS, [m, "AP", PH, PH(p=0.9, q=0)])
    assert scores.measures[:2] == ("readers", "AP")
    np.testing.assert_allclose(scores["x", m], 0.7 * scores["x", "PH"] + 0.3 * scores["x", PH(p=0.9, q=0)])
    assert scores["y", "readers"].tolist() == scores["y", str(m)].tolist()
    assert "readers" in str(amble.compare(scores, m).table())
    assert amble.why(scores, "1", m).values.sum() == pytest.approx(scores["x", m][0] + scores["y", m][0])
    # both orders are means over users
    rankings = amble.align(QRELS, RUNS)
    want = 0.3 * orders_of(rankings, PH(p=0.9, q=0)) + 0.7 * orders_of(rankings, PH)
    np.testing.assert_allclose(orders_of(rankings, m), want, atol=1e-14)
    # each figure of the C/W/L report is a mean over users: depths 2 and 20
    cwl = amble.cwl(rankings, amble.Mixture({RBP(p=0.5): 0.5, RBP(p=0.95): 0.5}))
    assert cwl.rows[0][-1] == pytest.approx(11)
    with pytest.raises(amble.MeasureError, match="is a population, not one user"):
        m.user([1, 0])
    with pytest.raises(amble.MeasureError, match="has no parameters; give them to its measures"):
        m(p=0.5)


def test_mixtures_of_populations_and_of_mixtures() -> None:
    inner = amble.Mixture({AP: 0.5, RBP: 0.5})
    assert amble.Mixture({inner: 0.5, AP: 0.5}) == amble.Mixture({AP: 0.75, RBP: 0.25})
    many = amble.Mixture({RBP(p=Beta(8, 2)): 0.5, AP: 0.5})
    # the mean of (1 - p)(1 + p^2) under Beta(8, 2): 1/5 + 72/110 - 720/1320
    assert many.value([1, 0, 1]) == pytest.approx(0.5 * (1 / 5 + 72 / 110 - 720 / 1320) + 0.5 * 5 / 6, abs=1e-13)
    assert amble.parse(str(many)) == many
    assert amble.Mixture({bpref: 1}).value([1, 0, 1], ideal=[1, 0, 1]) == bpref.value([1, 0, 1], ideal=[1, 0, 1])
    with pytest.raises(amble.MeasureError, match="not a user"):
        amble.simulate(amble.Mixture({bpref: 0.5, AP: 0.5}), [1, 0])
    # what the best run found is a context of Markov users
    markov = amble.Mixture({MP(rescale="RR"): 0.5, AP: 0.5})
    assert markov.value([1, 0], most=2, relevant=2) == pytest.approx(0.5 * 0.5 + 0.5 * 0.5)
    assert amble.evaluate(QRELS, RUNS, markov).distribution("x", "1", markov).mean > 0


@pytest.mark.parametrize(
    ("shares", "message"),
    [
        ({}, "sum to 0, expected 1"),
        ({AP: 0.5}, "sum to 0.5, expected 1"),
        ({AP: 0.5, RBP: 0.6}, "sum to 1.1, expected 1"),
        ({AP: 1.5, RBP: -0.5}, "RBP has the share -0.5, expected a number above 0"),
        ({AP: 0, RBP: 1}, "AP has the share 0"),
        ({AP: float("nan")}, "AP has the share nan"),
        ({AP: "1"}, "AP has the share '1'"),
        ({"AP": 1}, "'AP' in a mixture, expected measures of lists"),
        ({GMAP: 1}, "GMAP"),
        ({MsM: 1}, "MsM"),
        ([AP], "expected a mapping of measures to their shares"),
    ],
)
def test_mixtures_that_are_refused(shares: Any, message: str) -> None:
    with pytest.raises(amble.MeasureError, match=message):
        amble.Mixture(shares)


@pytest.mark.parametrize("name", ["two\nlines", "a\ttab", 3, None])
def test_names_of_mixtures_that_are_refused(name: Any) -> None:
    with pytest.raises(amble.MeasureError, match="of a mixture, expected text of one line$"):
        amble.Mixture({AP: 1}, name=name)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Mixture()", r"expected measures with their shares, as in Mixture\(AP:0.3,RBP:0.7\)"),
        ("Mixture(AP)", "expected measures with their shares"),
        ("Mixture(AP:1,)x", "cannot read"),
        ("Mixture(AP:0.5,AP(rel=1):0.5)", "AP is given twice"),
        ("Mixture(AP:0.5,RBP:0.4)", "sum to 0.9"),
        ("Mixture(APX:1)", "no measure is called APX; did you mean AP"),
        ("Mixture(AP:1e)", "could not convert"),
        ("Mixture(AP:1" + " " * 3000, "characters, expected at most 1000"),
        ("Mixture(AP:1)@0", "after '@'"),
    ],
)
def test_expressions_of_mixtures_that_are_refused(text: str, message: str) -> None:
    with pytest.raises(amble.MeasureError, match=message) as error:
        amble.parse(text)
    assert "\n" not in str(error.value)


@examples(25)
@given(
    st.lists(
        st.tuples(st.sampled_from(["AP", "RBP(p=0.6)", "P@3", "INST", "RR", "PH"]), st.floats(0.01, 1)), min_size=1
    ),
    st.lists(st.sampled_from([0, 0, 1]), min_size=1, max_size=8),
)
def test_a_mixture_is_the_mean(parts: list[tuple[str, float]], grades: list[int]) -> None:
    shares = {amble.parse(text): share for text, share in parts}
    total = sum(shares.values())
    m = amble.Mixture({one: share / total for one, share in shares.items()})
    want = sum(share / total * one.value(grades) for one, share in shares.items())
    assert m.value(grades) == pytest.approx(want, abs=1e-12)


# ---- simulated populations


@pytest.mark.parametrize(
    "text", ["RBP(p=Beta(8,2))", "PH(pqs=Dirichlet(6,3,5))", "Mixture(AP:0.25,PH(p=0.9,q=0):0.75)", "ERR(max_grade=2)"]
)
def test_simulated_populations(text: str) -> None:
    m = amble.parse(text)
    found = amble.simulate(m, R10, users=20_000, seed=7)
    assert found.users == 20_000
    want = m.value(R10) if "PH" in text else m.distribution(R10).mean  # E[T / H]
    assert abs(found.mean - want) < 4 * found.standard_error
    again = amble.simulate(m, R10, users=20_000, seed=7, threads=3)
    assert again.values.tolist() == found.values.tolist()
    assert again.probs.tolist() == found.probs.tolist()


def test_simulated_shares() -> None:
    # a quarter stops at rank 1 and gains 1, the others read on: 0, 1 with P@2 and P@1 apart
    found = amble.simulate(amble.Mixture({P @ 1: 0.25, P @ 2: 0.75}), [1, 0], users=40_000, seed=3)
    assert found.values.tolist() == [0.5, 1.0]
    assert abs(found.probs[1] - 0.25) < 4 * np.sqrt(0.25 * 0.75 / 40_000)
    assert found.probs[1] != 0.25  # drawn, one by one
    assert np.isnan(found.order2)
    runs = amble.run_distributions(QRELS, RUNS, amble.Mixture({P @ 1: 0.25, P @ 2: 0.75}), users=1000)
    assert runs["x"].users == 1000


def test_a_distribution_that_is_exact_in_part() -> None:
    m = amble.Mixture({AP: 0.5, PH(): 0.5})
    with pytest.warns(amble.SimulationWarning, match="1,000 users simulated instead"):
        found = m.distribution(R10, users=1000, seed=2)
    # half of AP's own distribution is in it, to the last digit
    ap = AP.distribution(R10)
    assert found.cdf(ap.values[0]) >= 0.5 * ap.probs[0]
    assert found.users is not None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        alone = PH.distribution(R10, users=1000, seed=2)
    assert found.mean == pytest.approx(0.5 * ap.mean + 0.5 * alone.mean)
    exact = amble.Mixture({AP: 0.5, PH(loss=0): 0.5}).distribution(R10)
    assert exact.users is None


def test_a_mixture_of_users_by_topic() -> None:
    m = amble.Mixture({amble.parse("INSQ")(T={"1": 1, "2": 5}): 0.5, amble.parse("RBP"): 0.5}, name="both")
    for topic, T in (("1", 1), ("2", 5)):
        alone = (amble.parse(f"INSQ(T={T})").value([1, 0, 1]) + amble.parse("RBP").value([1, 0, 1])) / 2
        assert m.value([1, 0, 1], topic=topic) == pytest.approx(alone, rel=1e-14)
    assert (m @ 2).label == "both@2"
    rankings = amble.align({"1": {"a": 1}, "2": {"a": 1}}, {"x": {"1": {"a": 1.0}, "2": {"a": 1.0}}})
    one = [(amble.parse(f"INSQ(T={T})").value([1]) + amble.parse("RBP").value([1])) / 2 for T in (1, 5)]
    assert amble.evaluate(rankings, m).values.ravel() == pytest.approx(one, rel=1e-14)
    left = list_residuals(m, Lists.of_rankings(rankings))  # all that is beyond the one document
    assert left == pytest.approx([1 - x for x in one], rel=1e-12)
    with pytest.raises(amble.MeasureError, match="differs by topic"):
        m.value([1])
