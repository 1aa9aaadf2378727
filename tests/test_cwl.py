"""The C/W/L measures: published figures, brute force, intervals, populations, costs, the report."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drawing import examples
from hypothesis import given
from hypothesis import strategies as st

import amble
from amble.cli.main import main
from amble.evaluation.cwl_report import COLUMNS, expectations
from amble.evaluation.scores import mean_residuals
from amble.measures import INSQ, RBP, REGISTRY, Beta, Gamma, Lists, residuals
from amble.measures.residuals import bounds, list_residuals
from amble.rankings.costs import Costs, read_costs
from amble.users import Question

nan = math.nan
RANKS = [1, 3, 4, 6, 8, 12, 14, 34, 37, 43, 64, 82, 86, 95]
M12 = [1.0 if i in RANKS else 0.0 for i in range(1, 96)]


# ---- Moffat, Scholer & Thomas (2012), in the text


@pytest.mark.parametrize(
    ("compute", "published", "tolerance"),
    [
        (lambda: amble.parse("INSQ(T=1)").user([0] * 100).weights[0], 0.388, 0.0005),
        (lambda: amble.parse("INSQ(T=1)").user([0] * 100).weights[1], 0.172, 0.0005),
        (lambda: amble.parse("INSQ(T=1)").user([0] * 100).weights[2], 0.097, 0.0005),
        (lambda: amble.parse("INSQ(T=1)").user([0] * 100).weights[99], 0.00015, 0.000005),
        (lambda: amble.parse("INSQ(T=1)").user().expected_depth, 2.58, 0.005),
        (lambda: amble.parse("INSQ(T=5)").user().expected_depth, 10.52, 0.005),
        (lambda: amble.parse("INSQ(T=25)").user().expected_depth, 50.5, 0.005),
        (lambda: amble.parse("INSQ(T=5)").value(M12), 0.350, 0.0005),
        (lambda: amble.parse("INSQ(T=5,adaptive=True)").value(M12), 0.502, 0.0006),
    ],
)
def test_figures_in_the_text(compute: Callable[[], float], published: float, tolerance: float) -> None:
    assert compute() == pytest.approx(published, abs=tolerance)


def test_the_printed_equation_3_gives_another_figure() -> None:
    assert amble.parse("INSQ(T=5,adaptive=True,form='printed')").value(M12) == pytest.approx(0.531, abs=0.0005)


def test_residual_of_insq() -> None:
    # the paper prints R(100) = 0.0151, which is R(101); its product of C holds for RBP only
    user = amble.parse("INSQ(T=1)").user([0] * 10)
    assert user.residual(100) == pytest.approx(0.01528, abs=5e-6)
    assert user.residual(101) == pytest.approx(0.0151, abs=5e-5)


# ---- brute force: follow the user for a long time


def _probability(name: str, p: dict[str, float]) -> Callable[[int, float, float], float]:
    """C(i) from the rank, the gain there and the gain so far (with it), as the papers write it."""
    from math import exp

    rules: dict[str, Callable[[int, float, float], float]] = {
        "GRBP": lambda i, g, s: p["p"],
        "INSQ": lambda i, g, s: ((i + 2 * p["T"] - 1) / (i + 2 * p["T"])) ** 2,
        "INSQa": lambda i, g, s: ((i + 2 * max(0, p["T"] - s)) / (i + 2 * max(0, p["T"] - s) + 1)) ** 2,
        "INST": lambda i, g, s: ((i + 2 * p["T"] - s - 1) / (i + 2 * p["T"] - s)) ** 2,
        "BPM": lambda i, g, s: float(s < p["T"] - 1e-9 and i < p["k"]),
        "IFTRate": lambda i, g, s: 1 / (1 + p["b"] * exp((p["A"] - s / i) * p["R"])),
        "IFT": lambda i, g, s: (
            (1 - 1 / (1 + p["b1"] * exp((p["T"] - s) * p["R1"]))) / (1 + p["b2"] * exp((p["A"] - s / i) * p["R2"]))
        ),
        "TBG": lambda i, g, s: 2 ** (-1 / p["h"]),
        "U": lambda i, g, s: max(0.0, 1 - i / p["L"]) / max(1e-300, 1 - (i - 1) / p["L"]),
        "NERR8": lambda i, g, s: (1 - g) * (i < p["k"]),
        "NERR9": lambda i, g, s: (1 - g) * (i < p["k"]) * i / (i + 1),
        "NERR10": lambda i, g, s: p["p"] * (1 - g),
        "NERR11": lambda i, g, s: ((i + 2 * p["T"] - 1) / (i + 2 * p["T"])) ** 2 * (1 - g),
        "SDCG": lambda i, g, s: math.log(i + 1) / math.log(i + 2) * (i < p["k"]),
    }
    return rules[name]


def brute(name: str, p: dict[str, float], gains: list[float], far: int = 20_000) -> tuple[float, float]:
    """Sum of V y and sum of V, followed down to a rank far away (an inverse square's rest by its integral)."""
    go = _probability(name, p)
    v, total, depth, seen = 1.0, 0.0, 0.0, 0.0
    for i in range(1, far + 1):
        g = gains[i - 1] if i <= len(gains) else 0.0
        seen += g
        total += v * g
        depth += v
        v *= go(i, g, seen)
        if v < 1e-16:
            return total, depth
    shift = 2 * p.get("T", 0) - (
        sum(gains) if name == "INST" else 0
    )  # V falls as 1 / (i + s)^2: the rest is V(i) (i + s)
    if name == "INSQa":
        shift = 2 * max(0, p["T"] - sum(gains)) + 1
    return total, depth + v * (far + 0.5 + shift)


CASES: list[tuple[str, str, dict[str, float]]] = [
    ("GRBP(p=0.7)", "GRBP", {"p": 0.7}),
    ("INSQ(T=1.5)", "INSQ", {"T": 1.5}),
    ("INSQ(T=3,adaptive=True)", "INSQa", {"T": 3}),
    ("INST(T=2)", "INST", {"T": 2}),
    ("INST(T=0.5)", "INST", {"T": 0.5}),
    ("BPM(T=1.5,k=6)", "BPM", {"T": 1.5, "k": 6}),
    ("IFTRate(A=0.3,b=0.8,R=3)", "IFTRate", {"A": 0.3, "b": 0.8, "R": 3}),
    ("IFT(T=1,b1=0.5,R1=1,A=0.1,b2=0.3,R2=2)", "IFT", {"T": 1, "b1": 0.5, "R1": 1, "A": 0.1, "b2": 0.3, "R2": 2}),
    ("TBG(h=5)", "TBG", {"h": 5}),
    ("U(L=12)", "U", {"L": 12}),
    ("U(L=7.5)", "U", {"L": 7.5}),
    ("NERR8@4", "NERR8", {"k": 4}),
    ("NERR9@15", "NERR9", {"k": 15}),
    ("NERR10(p=0.6)", "NERR10", {"p": 0.6}),
    ("NERR11(T=2)", "NERR11", {"T": 2}),
    ("SDCG@7", "SDCG", {"k": 7}),
]


@examples(25)
@given(st.lists(st.sampled_from([0.0, 0.0, 0.25, 0.5, 1.0]), min_size=1, max_size=14), st.sampled_from(CASES))
def test_against_brute_force(gains: list[float], case: tuple[str, str, dict[str, float]]) -> None:
    text, name, p = case
    total, depth = brute(name, p, gains)
    m = amble.parse(text)
    assert m.value(gains) == pytest.approx(total / depth, abs=2e-8 if name.startswith("INS") or p.get("T") else 1e-10)
    user = m.user(gains)
    assert user.expected_depth == pytest.approx(depth, rel=1e-8)
    # EU is order 2, the mean of the distribution order 1: each from L alone
    y = np.zeros(user.visits.size)
    y[: len(gains)] = gains
    assert float(user.weights @ y) == pytest.approx(m.value(gains), abs=1e-12)


def test_iftgoal_stops_at_the_end_of_the_list() -> None:
    # b e^((T - G) R) with T = 1, b = .5, R = 1; G = 0, 1, 1: C = .5e / (1 + .5e), 1/3, and the list is over
    c1 = 0.5 * math.e / (1 + 0.5 * math.e)
    user = amble.parse("IFTGoal(T=1,b=0.5,R=1)").user([0, 1, 0])
    assert user.continuation.tolist() == pytest.approx([c1, 1 / 3, 0])
    depth = 1 + c1 + c1 / 3
    assert amble.parse("IFTGoal(T=1,b=0.5,R=1)").value([0, 1, 0]) == pytest.approx(c1 / depth)


def test_bpm_dynamic_by_hand() -> None:
    # T = 2, k = 10, hb = 1, median 1/2. Gains 1 0 1: before rank 1 T is 2; a gain of 1 raises it to 2.5, the 0 lowers
    # it to 2, so at rank 3 she has 2 >= 2 and stops: 2/3
    assert amble.parse("BPMD(T=2)").value([1, 0, 1]) == pytest.approx(2 / 3)
    # nothing gained: T falls by 1/2 a rank and reaches 0 after four, so at rank 5 she stops; with hc = 0 k stays
    assert amble.parse("BPMD(T=2)").user([0] * 3).expected_depth == 5


def test_cwl_values_of_another_program(data: Path) -> None:
    """Values from a run of cwl-eval, which cuts at rank 1000; ours, with the closed tail taken out, are the same."""
    folder = data / "cwl"
    expected = json.loads((folder / "expected_values.json").read_text())
    rankings = amble.align(folder / "cwl.qrels", folder / "cwl.run")
    lists = Lists.of_rankings(rankings)
    order = [rankings.topics.index(topic) for topic in expected["topics"]]
    compared, outside = 0, 0
    for name, values in expected["values"].items():
        text = (
            name.replace("max_rel=1", "").replace("rel=1", "").replace("(,", "(").replace(",)", ")").replace("()", "")
        )
        m = amble.parse(text)
        ours = expectations(m, lists)[order, 0]
        for t, (mine, theirs) in enumerate(zip(ours.tolist(), values, strict=True)):
            shown = mine
            if abs(mine - theirs) > expected["tolerance"]:  # the tail beyond rank 1000
                outside += 1
                assert m.name in ("INSQ", "INST")
                grades = rankings.grades(rankings.runs[0], rankings.topics[order[t]])
                shown = mine / (1 - m.user(grades).residual(1000))
                assert abs(mine - theirs) < 0.0018
            assert shown == pytest.approx(theirs, abs=expected["tolerance"]), (name, t)
            compared += 1
    assert (compared, outside) == (54, 9)


# ---- what could still be


BINARY = ["P@3", "R@3", "AP", "AP@2", "RR", "RBP(p=0.6)", "nDCG", "nDCG@2", "Rprec", "bpref", "Success@2", "SDCG@4"]
USERS = ["INST(T=1)", "INSQ(T=2)", "NERR8@3", "NERR10", "GRBP", "TBG(h=3)"]


@examples(60)
@given(st.lists(st.sampled_from([0.0, 1.0, nan]), min_size=1, max_size=6), st.sampled_from(BINARY + USERS))
def test_intervals_hold_every_judgment(grades: list[float], name: str) -> None:
    m = amble.parse(name)
    low, high = m.interval(grades)
    unknown = [i for i, g in enumerate(grades) if math.isnan(g)]
    every = []
    for fill in itertools.product([0.0, 1.0], repeat=len(unknown)):
        filled = list(grades)
        for i, g in zip(unknown, fill, strict=True):
            filled[i] = g
        every.append(m.value(filled))
    if name != "bpref":  # passes over the unjudged, so it is no function of their gain alone
        assert low <= min(every) + 1e-12
        assert high >= max(every) - 1e-12
        assert low == pytest.approx(min(every), abs=1e-12)
    if m.declaration.question is not Question.ORDER2:
        assert high == pytest.approx(max(every), abs=1e-12)


def test_interval_by_hand() -> None:
    # RBP(.5) on [1, ?]: 1/2 as it is; with the second 3/4; and all that lies beyond adds the other 1/4
    assert amble.parse("RBP(p=0.5)").interval([1, nan]) == pytest.approx((0.5, 1.0))
    # AP on [1, ?, ?] with one relevant known: the third alone gives (1 + 2/3) / 2, less than the 1 there is
    assert amble.parse("AP").interval([1, nan, nan], relevant=1) == pytest.approx((5 / 6, 1.0))
    low, high = amble.parse("P@2").interval([0, 1])
    assert low == high == 0.5


def test_residuals_of_a_collection_are_the_intervals_of_its_lists() -> None:
    rng = np.random.default_rng(5)
    qrels = {str(t): {f"d{i}": int(rng.integers(0, 2)) for i in range(12)} for t in range(4)}
    for docs in qrels.values():
        docs["d0"] = 1
    runs = {
        "r": {
            str(t): {f"d{i}": float(rng.random()) for i in rng.permutation(24)[: rng.integers(3, 20)]} for t in range(4)
        }
    }
    rankings = amble.align(qrels, runs)
    lists = Lists.of_rankings(rankings)
    for text in (
        "RBP(p=0.7)",
        "INST(T=2)",
        "INSQ(T=1)",
        "P@10",
        "SDCG@5",
        "NERR9@8",
        "TBG(h=4)",
        "U(L=20)",
        "RR",
        "GRBP",
    ):
        m = amble.parse(text)
        assert bounds(m)
        base, more = m.scores(lists), list_residuals(m, lists)
        for i, topic in enumerate(rankings.topics):
            grades = rankings.grades("r", topic)
            low, high = m.interval(grades, max_grade=1)
            assert base[i] == pytest.approx(low, abs=1e-12)
            assert base[i] + more[i] == pytest.approx(high, abs=1e-10), (text, topic)
    assert not bounds(amble.parse("AP"))


@pytest.mark.parametrize("text", ["RBP(p=0.5)", "P@4", "GRBP", "INST", "AP", "nDCG", "bpref", "Q", "F@3", "IPrec@0.5"])
def test_documents_below_grade_0_are_yet_to_be_judged(text: str) -> None:
    # what could still be found is the same whether the pool names them, with -1 or -2, or not
    m, run = amble.parse(text), {"r": {"1": {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}}}
    pooled, left_out = {"a": 1, "b": -2, "c": -1, "d": 0, "e": -2}, {"a": 1, "d": 0}
    found = [list_residuals(m, Lists.of_rankings(amble.align({"1": qrels}, run))) for qrels in (pooled, left_out)]
    np.testing.assert_array_equal(*found)
    assert m.interval([1, -1, -2, 0]) == m.interval([1, nan, nan, 0])
    if text == "RBP(p=0.5)":  # 1/4 + 1/8 of the two, and 1/16 of all that lies beyond
        assert found[0] == pytest.approx(0.4375)


@pytest.mark.parametrize(
    ("text", "least", "most"), [("F@2", 0, 0.8), ("Q@2", 0, 2 / 3), ("RelP@2", 0, 1), ("R@2", 0, 2 / 3)]
)
def test_what_is_below_rank_k_stays_unjudged(text: str, least: float, most: float) -> None:
    # one relevant document, not in the list, of which the first two become relevant: P 2/2, R 2/3, F 2 (2/3) / (5/3),
    # Q ((1 + 1) / (1 + 1) + (2 + 2) / (2 + 2)) / 3
    run = {"r": {"1": {"a": 4.0, "x": 3.0, "u": 2.0, "v": 1.0}}}
    with pytest.warns(amble.UnjudgedWarning):
        lists = Lists.of_rankings(amble.align({"1": {"b": 1}}, run))
    m = amble.parse(text)
    assert (m.scores(lists)[0], list_residuals(m, lists)[0]) == pytest.approx((least, most - least))


def test_mean_residuals_are_of_the_topics_that_count() -> None:
    # topic 3 has nothing to be found. AP of topic 1: 1/2, and 1 if u is relevant, too; of topic 2: (1/3) / 2, and
    # (1 + 1 + 1) / 4 if u and v are, as b is not found
    qrels = {"1": {"a": 1}, "2": {"a": 1, "b": 1}, "3": {"x": 0}}
    run = {"1": {"u": 3.0, "a": 2.0}, "2": {"u": 3.0, "v": 2.0, "a": 1.0}, "3": {"x": 2.0, "u": 1.0}}
    scores = amble.evaluate(qrels, {"r": run}, "AP GMAP NumRelRet", undefined="skip")
    lists = Lists.of_rankings(scores.rankings)
    found = [mean_residuals(scores, j, list_residuals(m, lists)) for j, m in enumerate(scores.parsed)]
    assert found[0][0][0] == pytest.approx([1 / 2, 3 / 4 - 1 / 6, nan], nan_ok=True)
    means = [mean[0] for _, mean in found]
    wanted = [(1 / 2 + 7 / 12) / 2, math.sqrt(1 * 3 / 4) - math.sqrt(1 / 2 * 1 / 6), 1 + 2]  # a mean, geometric, a sum
    assert means == pytest.approx(wanted)
    assert amble.report(scores).leaderboard.residual[0, 0] == pytest.approx(wanted[0])


@pytest.mark.parametrize(("texts", "fills"), [("P@5 DCG@5 ERR@5", 1), ("AP RBP(p=0.8) RR", 4), ("AP bpref", 8)])
def test_residuals_fill_lists_together_and_are_those_of_each_alone(
    texts: str, fills: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(2)
    topics = [str(t) for t in range(100)]
    qrels = {t: {f"d{i}": int(rng.integers(0, 2)) for i in range(20)} for t in topics}
    run = {t: {f"d{i}": float(rng.random()) for i in rng.permutation(40)[: 7 + int(t) % 11]} for t in topics}
    lists = Lists.of_rankings(amble.align(qrels, {"r": run}))
    measures, made = [amble.parse(text) for text in texts.split()], []
    fill = residuals._filled
    monkeypatch.setattr(residuals, "_filled", lambda *of: made.append(of) or fill(*of))
    found = residuals.residuals_of(measures, lists)
    assert len(made) == fills
    assert "list" not in vars(lists)  # a number for every judged document of all runs, which would stay
    for m, each in zip(measures, found, strict=True):
        assert (each == list_residuals(m, lists)).all()


def test_residuals_fill_few_lists_together_where_many_documents_are_relevant(monkeypatch: pytest.MonkeyPatch) -> None:
    qrels = {"1": {f"d{i}": 1 for i in range(1500)}}
    lists = Lists.of_rankings(amble.align(qrels, {f"r{k}": {"1": {"u": 2.0, "d0": 1.0}} for k in range(70)}))
    filled, fill = list[int](), residuals._filled
    monkeypatch.setattr(residuals, "_filled", lambda *of: filled.append(of[-1].size) or fill(*of))
    assert (list_residuals(amble.parse("P@1"), lists) == 1.0).all()
    assert filled == [32, 32, 6]


# ---- populations


def test_population_by_hand() -> None:
    # RBP on [1, 0, 1]: (1 - p)(1 + p^2); under Beta(8, 2) E[1 - p] = 1/5, E[p^2] = 8 9 / (10 11) and
    # E[p^3] = 8 9 10 / (10 11 12)
    expected = 1 / 5 + 72 / 110 - 720 / 1320
    m = amble.parse("RBP(p=Beta(8,2))")
    assert m.value([1, 0, 1]) == pytest.approx(expected, abs=1e-13)
    assert str(m) == "RBP(p=Beta(8,2))"
    assert amble.parse(str(m)) == m


@pytest.mark.parametrize(
    ("text", "one", "density", "low", "high"),
    [
        ("RBP(p=Uniform(0.5,0.9))", "RBP(p={})", lambda x: 2.5, 0.5, 0.9),
        ("INSQ(T=Gamma(3,0.5))", "INSQ(T={})", lambda x: x**2 * math.exp(-2 * x) * 4, 1e-6, 30),
        ("INST(T=Uniform(1,3))", "INST(T={})", lambda x: 0.5, 1, 3),
    ],
)
def test_population_by_quadrature(
    text: str, one: str, density: Callable[[float], float], low: float, high: float
) -> None:
    from scipy.integrate import quad

    grades = [0, 1, 0, 0, 1, 1]
    expected, _ = quad(
        lambda x: density(x) * amble.parse(one.format(repr(x))).value(grades), low, high, epsabs=1e-10, limit=200
    )
    assert amble.parse(text).value(grades) == pytest.approx(expected, abs=1e-7)


def test_the_distribution_of_a_population_is_a_mixture() -> None:
    distribution = amble.parse("RBP(p=Uniform(0.2,0.8))").distribution([1, 0, 1])
    assert distribution.probs.sum() == pytest.approx(1, abs=1e-9)
    one = amble.parse("RBP(p=0.5)").distribution([1, 0, 1])
    assert distribution.values.min() < one.quantile(0.01) + 1e-9
    with pytest.raises(amble.MeasureError, match="is a population, not one user"):
        amble.parse("RBP(p=Beta(8,2))").user([1])
    scores = amble.evaluate({"1": {"a": 1}}, {"r": {"1": {"a": 1.0}}}, "RBP(p=Beta(8,2))")
    assert scores.values.item() == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("RBP(p=Beta(8))", r"expected Beta\(a,b\)"),
        ("RBP(p=Beta(-1,2))", r"expected Beta\(a,b\)"),
        ("RBP(p=Uniform(0.5,1.5))", "is not allowed, expected a number between 0 and 1"),
        ("RBP(p=Uniform(2,1))", "expected Uniform"),
        ("RBP(p=Cauchy(0,1))", "expected a number, a quoted string"),
        ("RBP(p=Beta(8,2)", "found the end"),
        ("P(k=Beta(8,2))", "is not allowed, expected a whole number"),
        ("INST(T=0)", "expected a number of at least 0.5"),
        ("INSQ(T=0)", "expected a number above 0"),
        ("INSQ(T=-1)", "expected a number above 0"),
        ("GRBP(p=1.2)", "between 0 and 1"),
        ("BPM(k=0)", "whole number"),
    ],
)
def test_bad_parameters(text: str, message: str) -> None:
    with pytest.raises(amble.MeasureError, match=message):
        amble.parse(text)


def test_grades_above_one_need_a_maximum() -> None:
    with pytest.raises(amble.MeasureError, match="INST: a grade of 3; say max_grade=, the grade whose gain is 1"):
        amble.parse("INST").value([0, 3])
    assert amble.parse("GRBP(p=0.5)").value([0, 3], max_grade=3) == 0.25
    assert amble.parse("GRBP(p=0.5,max_grade=4)").value([0, 3]) == pytest.approx(0.25 * 3 / 4)
    with pytest.raises(amble.MeasureError, match="exceeds it"):
        amble.parse("GRBP(max_grade=2)").value([3])


# ---- the report


def _lists(grades: list[float], costs: list[float] | None = None) -> Lists:
    lists = Lists.of_grades(grades)
    if costs:
        lists.costs = Costs(np.array(costs), np.array([0, len(costs)]))
    return lists


def test_report_by_hand() -> None:
    # P@2 on costs 2, 4, 8: EU 1/2, ETU 1, EC (2 + 4) / 2, ETC 6, ED 2
    got = dict(zip(COLUMNS, expectations(amble.parse("P@2"), _lists([1, 0, 1], [2, 4, 8]))[0], strict=True))
    assert got == pytest.approx({"EU": 0.5, "ETU": 1, "EC": 3, "ETC": 6, "ED": 2})
    # RBP(.5): V = 1, 1/2, 1/4, then 1/4 in all beyond, at cost 1: ETC = 2 + 2 + 2 + 1/4
    got = dict(zip(COLUMNS, expectations(amble.parse("RBP(p=0.5)"), _lists([1, 0, 1], [2, 4, 8]))[0], strict=True))
    assert got == pytest.approx({"EU": 1.25 / 2, "ETU": 1.25, "EC": 6.25 / 2, "ETC": 6.25, "ED": 2})
    # AP, relevant at 1 and 3: W(1) = (1 + 1/3) / 2, so ED = 3/2; EU = (1 + 2/3) / 2; EC = (2 + 14/3) / 2
    got = dict(zip(COLUMNS, expectations(amble.parse("AP"), _lists([1, 0, 1], [2, 4, 8]))[0], strict=True))
    assert got == pytest.approx({"EU": 5 / 6, "ETU": 5 / 4, "EC": 10 / 3, "ETC": 5, "ED": 1.5})
    # RR stops at the second: EU 1/2, ED 2, EC (2 + 4) / 2
    got = dict(zip(COLUMNS, expectations(amble.parse("RR"), _lists([0, 1, 1], [2, 4, 8]))[0], strict=True))
    assert got == pytest.approx({"EU": 0.5, "ETU": 1, "EC": 3, "ETC": 6, "ED": 2})


@examples(60)
@given(
    st.lists(st.tuples(st.sampled_from([0.0, 0.5, 1.0]), st.sampled_from([0.5, 1.0, 3.0])), min_size=1, max_size=10),
    st.sampled_from([text for text, _, _ in CASES] + ["P@4", "RBP(p=0.3)", "DCG", "IFTGoal(T=1,b=0.5,R=1)"]),
)
def test_report_with_costs_against_the_user(pairs: list[tuple[float, float]], text: str) -> None:
    grades, costs = [g for g, _ in pairs], [c for _, c in pairs]
    m = amble.parse(text)
    eu, etu, ec, etc, ed = expectations(m, _lists(grades))[0]
    assert (ec, etc) == pytest.approx((1, ed), rel=1e-9)
    assert eu * ed == pytest.approx(etu, abs=1e-9)
    if m.name in ("TBG", "U", "IFTRate", "IFT"):  # who look at the costs
        return
    user = m.user(grades)
    _, _, ec, etc, ed = expectations(m, _lists(grades, costs))[0]
    n = len(grades)
    inside = float(user.visits[:n] @ np.array(costs))
    beyond = user.expected_depth - float(user.visits[:n].sum())
    assert etc == pytest.approx(inside + beyond, rel=1e-7)
    assert ec == pytest.approx((inside + beyond) / ed, rel=1e-7)


def test_costs_by_document_and_grade(write) -> None:
    qrels = {"1": {"a": 1, "b": 0}}
    run = write("r.run", "1 Q0 a 1 3 t\n1 Q0 x 2 2 t\n1 Q0 b 3 1 t\n")
    rankings = amble.align(qrels, run)
    # a 5, x 2, b 1: P@3 costs 8/3 a document
    by_doc = amble.cwl(rankings, "P@3", costs={"a": 5.0, "x": 2.0})
    assert by_doc["EC"] == pytest.approx([8 / 3])
    from_file = amble.cwl(rankings, "P@3", costs=write("costs", "a 5\nx 2\n"))
    assert from_file.rows == by_doc.rows
    by_grade = amble.cwl(rankings, "P@3", costs={1: 5.0, 0: 3.0})  # x is unjudged: 1
    assert by_grade["ETC"] == pytest.approx([9])
    for bad, message in (
        ("a b\n", "cost 'b' is not a decimal"),
        ("a 0\n", "not above 0"),
        ("a 1\na 2\n", "already"),
        ("a\n", "2: doc"),
    ):
        with pytest.raises(amble.ReadError, match=message):
            read_costs(write("bad", bad))
    with pytest.raises(amble.AlignError, match="costs: 'a' costs -1"):
        amble.cwl(rankings, "P@3", costs={"a": -1})


@pytest.mark.parametrize(
    ("measure", "message"),
    [("ERR", "NERR8 to NERR11 are"), ("nDCG", "SDCG and DCG are"), ("bpref", "has no C/W/L form"), ("R@5", "P is")],
)
def test_no_cwl_form(measure: str, message: str) -> None:
    rankings = amble.align({"1": {"a": 1}}, {"r": {"1": {"a": 1.0}}})
    with pytest.raises(amble.MeasureError, match=message):
        amble.cwl(rankings, measure)


@pytest.mark.parametrize("name", [name for name, d in REGISTRY.items() if d.family == "cwl"])
def test_every_one_has_a_reference(name: str) -> None:
    from amble.references import read_references

    assert REGISTRY[name].cite in read_references()


# ---- the command line


def test_amble_user(amble_cli: Any, tmp_path: Path) -> None:
    done = amble_cli("user", "RBP(p=0.5)", "--gains", "1,0,-", "--digits", "3")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[1].split() == ["RBP(p=0.5)", "1", "0.500", "1.000", "0.500", "0.500", "0.500"]
    assert "expected depth 2.000, score 0.500 (between 0.500 and 0.750)" in done.stdout
    for ending in ("svg", "png", "pdf", "html"):
        file = tmp_path / f"chart.{ending}"
        assert main(["user", "INSQ", "RBP", "--plot", str(file), "--depth", "20"]) == 0
        assert file.stat().st_size > 2000
    assert "http://" not in (tmp_path / "chart.svg").read_text().replace("http://www.w3.org", "")
    assert sorted(p.name for p in tmp_path.iterdir()) == [f"chart.{e}" for e in ("html", "pdf", "png", "svg")]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["user", "bpref"], "bpref is not a user"),
        (["user", "RBP", "--gains", "1,x"], "'x' at place 2, expected a number"),
        (["user", "INST", "--gains", "3"], "say max_grade="),
        (["user", "RBP", "--depth", "0"], "argument --depth: found '0', expected a whole number from 1 to 100000"),
        (["user", "RBP", "--plot", "a.gif"], "a chart's name ends in .svg"),
        (["user", "RBP", "--plot", "/no/where/a.svg"], "No such file"),
        (["eval", "{q}", "{r}", "--costs", "{q}"], "costs: no user here looks at them"),
        (["eval", "{q}", "{r}", "--cwl", "-m", "ERR"], "NERR8 to NERR11"),
        (["eval", "{q}", "{r}", "--cwl", "--residual"], "a report of its own"),
    ],
)
def test_one_clear_line(amble_cli: Any, write: Any, words: list[str], message: str) -> None:
    q, r = write("q", "1 0 a 1\n"), write("r", "1 Q0 a 1 1 t\n")
    done = amble_cli(*(w.format(q=q, r=r) for w in words))
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_cwl_and_residual_on_the_command_line(amble_cli: Any, write: Any) -> None:
    q, r = write("q", "1 0 a 1\n"), write("r", "1 Q0 x 1 2 t\n1 Q0 a 2 1 t\n")
    done = amble_cli("eval", q, r, "--cwl", "-m", "P@2", "--format", "tsv", "--quiet", "--costs", write("c", "x 3\n"))
    assert (
        done.stdout
        == "run\ttopic\tmeasure\tEU\tETU\tEC\tETC\tED\nt\tall\tP@2\t0.5000\t1.0000\t2.0000\t4.0000\t2.0000\n"
    )
    done = amble_cli("eval", q, r, "--residual", "-m", "P@2", "AP", "--format", "tsv", "--quiet")
    assert done.stdout.splitlines()[1:] == ["t\tall\tP@2\t0.5000\t0.5000\tyes", "t\tall\tAP\t0.5000\t0.5000\tno"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("BPM(T=Uniform(0.3,2))", "scores jump there"),
        ("AP(rel=Uniform(0,2))", "scores jump there"),
        ("RBP(p=Beta(1e101,1))", "in size below 1e"),
        ("INSQ(T=Gamma(1e-101,1))", "in size below 1e"),
    ],
)
def test_populations_that_cannot_be_integrated(text: str, message: str) -> None:
    with pytest.raises(amble.MeasureError, match=message):
        amble.parse(text).value([1, 0])


def test_populations_that_hardly_differ() -> None:
    # p has mean m and variance v: the mean of (1 - p)(1 + p^2) = 1 - m + E[p^2] - E[p^3] on 1, 0, 1
    for a, b in ((20000.0, 10000.0), (1e9, 1e9), (1e-9, 3e-9), (1e90, 1e90)):
        moments = [math.prod((a + i) / (a + b + i) for i in range(k)) for k in range(4)]
        assert RBP(p=Beta(a, b)).value([1, 0, 1]) == pytest.approx(1 - moments[1] + moments[2] - moments[3], rel=1e-13)
    # 1,000 users' worth of patience: as the user whose T is the mean, 1000, and a second derivative more
    insq = [INSQ(T=T).value([1, 0]) for T in (990.0, 1000.0, 1010.0)]
    curved = insq[1] + 0.5 * 1000 * (insq[0] - 2 * insq[1] + insq[2]) / 100  # Gamma(1000, 1) has variance 1000
    assert INSQ(T=Gamma(1000, 1)).value([1, 0]) == pytest.approx(curved, rel=1e-5)


def test_costs_of_a_pipe(tmp_path: Path) -> None:
    import os
    import threading

    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    threading.Thread(target=lambda: pipe.write_text("1 Q0 a 1 1 t\n")).start()
    rankings = amble.align({"1": {"a": 1}}, str(pipe))
    with pytest.raises(amble.ReadError, match="can be read again, not a pipe"):
        amble.cwl(rankings, "RBP", costs={"a": 2.0})
