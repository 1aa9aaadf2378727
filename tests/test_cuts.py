"""``@k``: a list ends there for users who go no further than a list does; the others gain nothing below it.

The reference is the measure itself on another list: cut off by hand, or with zeros below the cut.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from math import nan
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drawing import examples
from hypothesis import given
from hypothesis import strategies as st

import amble
from amble.measures import REGISTRY, Forward, Lists, measure
from amble.measures.residuals import list_residuals
from amble.users import Question
from amble.users.markov import MarkovUserOnList

# who stop at the end of a list, or leave with nothing there
ENDING = [
    "AP", "GMAP", "RR", "ERR", "DCG", "nDCG", "nDCG(base=2)", "NCP(g=0.5)", "RBP(p=0.6,finite=True)", "IFTGoal(T=1)",
    "PH", "PH(order=2)", "PH(loss=0)", "PH(loss=1,order=2)", "PH(p='0=0.6,1=0.3')", "PH(p='0.7,0.4',start='0.5,0,0.5')",
    "PH(first='stop',effort='log',order=2)", "PH(p=1,q=0,loss=0)", "PH(model='RBP',end='stop',order=1)",
    "PH(model='ERR',end='stop')", "PH(model='AP',order=2)", "PH(model='DCG')", "MP(model='GL_AD_ID')",
    "MP(model='LO_OR_ID',rescale='R')", "RBP(p=Beta(4,2),finite=True)", "Leaver", "Leaver2",
]  # fmt: skip
# who read on for ever, or to a depth of their own
ENDLESS = [
    "RBP(p=0.6)", "GRBP(p=0.7)", "INSQ(T=2)", "INSQ(T=2,adaptive=True)", "INST(T=2)", "NERR10(p=0.6)", "NERR11(T=1)",
    "IFTRate(A=0.3)", "IFT(T=1)", "TBG(h=4)", "U(L=20)", "CWL(C='0.9,0.5,0.6')", "PH(end='endless')",
    "PH(end='endless',order=2,p='0=0.5,1=0.2')", "PH(end='endless',loss=0)", "PH(model='RBP',order=1)", "Deep",
    "RBP(p=Beta(4,2))", "PH(end='endless',q=Uniform(0.1,0.3),order=2)",
]  # fmt: skip
ALONE = ("GMAP", "Leaver2")  # no more to be asked than their scores

SHORT_LISTS = st.lists(st.sampled_from([0, 0, 1]), min_size=1, max_size=12)


@pytest.fixture(autouse=True)
def _mine() -> Iterator[None]:
    """Users of one's own: who leaves with nothing, who does so without looking, and who has a depth."""

    @measure("Leaver", question="order2")
    def leaver(gain: Any) -> Forward:
        """Goes on with 0.9, less after a gain; leaves with nothing."""
        return Forward(continuation=0.9 - 0.4 * gain, beyond="nothing")

    @measure("Leaver2", question="order2")
    def leaver2() -> Forward:
        """Goes on with 0.9, and leaves with nothing."""
        return Forward(continuation=0.9, beyond="nothing")

    @measure("Deep", question="order2")
    def deep() -> Forward:
        """Reads six documents."""
        return Forward(continuation=1.0, depth=6)

    yield
    for name in ("Leaver", "Leaver2", "Deep"):
        REGISTRY.pop(name)


def other(text: str, grades: list[int], k: int) -> list[int]:
    """The list that ``@k`` makes of one."""
    return grades[:k] if text in ENDING else [g if i < k else 0 for i, g in enumerate(grades)]


def same(one: Any, two: Any) -> None:
    """Two users of one list do the same."""
    stops = not isinstance(two, MarkovUserOnList)
    for name in ("continuation", "visits", "last", "halting", "weights") if stops else ("everywhere", "weights"):
        np.testing.assert_allclose(getattr(one, name), getattr(two, name), rtol=1e-12, atol=1e-15, err_msg=name)
    assert not stops or one.expected_depth == pytest.approx(two.expected_depth, rel=1e-12)
    assert [one.residual(k) for k in (1, 5, 20)] == pytest.approx([two.residual(k) for k in (1, 5, 20)], abs=1e-12)


def is_drawn(text: str) -> bool:
    return "Beta" in text or "Uniform" in text


@pytest.mark.parametrize("text", [t for t in ENDING + ENDLESS if not is_drawn(t)])
@examples(6)
@given(SHORT_LISTS, st.integers(1, 14))
def test_a_cut_measure_is_the_measure_of_a_cut_list(text: str, grades: list[int], k: int) -> None:
    cut_by_hand(text, grades, k)


@pytest.mark.parametrize("text", [t for t in ENDING + ENDLESS if is_drawn(t)])
def test_a_cut_population_is_the_population_on_a_cut_list(text: str) -> None:
    """Its users are cut one by one, as above: within a list, and below its end."""
    cut_by_hand(text, [0, 1, 1, 0, 1], 3)
    cut_by_hand(text, [1, 0, 1], 6)


def cut_by_hand(text: str, grades: list[int], k: int) -> None:
    # the judgments stay: as many relevant documents; the ideal list is cut, too
    relevant = sum(grades) + 2
    context: dict[str, Any] = {"relevant": relevant, "max_grade": 1}
    cut, plain, short = amble.parse(f"{text}@{k}"), amble.parse(text), other(text, grades, k)
    beside = context | {"relevant": min(relevant, k) if text.startswith("nDCG") else relevant}
    assert cut.value(grades, **context) == pytest.approx(plain.value(short, **beside), rel=1e-12, abs=1e-15)
    # what is below k makes no difference, whatever it is
    flipped = grades[:k] + [1 - g for g in grades[k:]]
    everything = {"relevant": sum(grades[:k]) + len(grades), "max_grade": 1}
    assert cut.value(grades, **everything) == pytest.approx(cut.value(flipped, **everything), rel=1e-12, abs=1e-15)
    if text in ALONE:
        return
    if not plain.is_population:
        same(cut.user(grades, **context), plain.user(short, **beside))
    if "loss" in text or not text.startswith("PH"):  # others' distributions are simulated
        assert cut.distribution(grades, **context).distance(plain.distribution(short, **beside)) < 1e-9


@pytest.mark.parametrize("text", [t for t in ENDING + ENDLESS if not is_drawn(t)])
def test_simulated_users_end_where_the_cut_list_does(text: str) -> None:
    """The same users (same seed) walk both lists, so they go home with the same scores."""
    if text in ALONE or text.startswith("MP"):
        return
    grades, k = [0, 1, 0, 1, 1, 0, 1, 1], 4
    ideal = sum(grades)
    if text.startswith("nDCG"):
        ideal = 4
    one = amble.simulate(f"{text}@{k}", grades, users=2000, seed=5, max_grade=1, relevant=sum(grades))
    two = amble.simulate(text, other(text, grades, k), users=2000, seed=5, max_grade=1, relevant=ideal)
    assert one.distance(two) < 1e-12
    assert (one.mean_visits, one.order2) == pytest.approx((two.mean_visits, two.order2), rel=1e-12)


def aligned(rows: list[list[int]], **options: Any) -> amble.Rankings:
    """Runs of one topic, given by their grades; two more relevant documents that nobody found."""
    qrels = {"1": {f"r{i}d{j}": g for i, row in enumerate(rows) for j, g in enumerate(row)} | {"x": 1, "y": 1}}
    runs = {
        f"run{i}": {"1": {f"r{i}d{j}": float(100 - j // options.get("tied", 1)) for j in range(len(row))}}
        for i, row in enumerate(rows)
    }
    options.pop("tied", None)
    return amble.align(qrels, runs, **options)


@pytest.mark.parametrize("text", [t for t in ENDING + ENDLESS if not t.startswith(("MP", "GMAP"))])
def test_many_lists_and_one_are_the_same(text: str) -> None:
    """Scores of lists of several lengths, the C/W/L report, and parts, are those of lists cut by hand."""
    rng = np.random.default_rng(1)
    rows = [rng.integers(0, 2, n).tolist() for n in (1, 3, 7, 70, 9)]
    rankings = aligned(rows)
    m = amble.parse(f"{text}@5")
    lists = Lists.of_rankings(rankings)
    ideal = [g for row in rows for g in row] + [1, 1]
    want = [m.value(row, ideal=ideal, max_grade=1) for row in rows]
    np.testing.assert_allclose(m.scores(lists), want, rtol=1e-12)
    if m.declaration.question is Question.ORDER2 and m.name != "AP" and not m.is_population:
        report = amble.cwl(rankings, [m], topics=True)
        depth = [row[-1] for row in report.rows if row[1] == "1"]
        np.testing.assert_allclose(depth, [m.user(row, ideal=ideal, max_grade=1).expected_depth for row in rows])
    why = amble.why(rankings, "1", m)
    if text == "PH(model='ERR',end='stop')":  # no such sum, with or without a cut
        assert why.kind == amble.why(rankings, "1", text).kind == "removed"
        return
    np.testing.assert_allclose(why.values.sum(axis=0), want, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "text",
    ["AP", "RR", "DCG", "nDCG", "RBP(finite=True)", "PH", "PH(order=2)", "RBP", "INSQ", "PH(end='endless')", "Deep"],
)
@pytest.mark.parametrize("k", [1, 2, 3, 4, 5, 9])
def test_ties_in_the_mean_over_their_orders(text: str, k: int) -> None:
    """With ties, `@k` is the mean over all orders of the tied of the measure of each order."""
    from itertools import permutations, product

    row = [1, 0, 0, 1, 1, 0, 1]  # groups of three scores
    groups = [row[0:3], row[3:6], row[6:7]]
    scores = amble.evaluate(aligned([row], tied=3, ties="expected"), f"{text}@{k}").values[0, 0, 0]
    m = amble.parse(f"{text}@{k}")
    each = [sorted(set(permutations(group))) for group in groups]  # those that differ, which are equally many
    orders = [[g for group in order for g in group] for order in product(*each)]
    want = np.mean([m.value(order, ideal=[*row, 1, 1], max_grade=1) for order in orders])
    assert scores == pytest.approx(want, rel=1e-12)


def test_costs_below_the_cut() -> None:
    """What documents cost that she pays for below the cut is not told by their grades."""
    text = "TBG(h=4)@2"
    by_grade = [amble.cwl(aligned([row]), text, costs={1: 3.0}).rows[0][3:] for row in ([1, 0, 1, 1], [1, 0, 0, 0])]
    assert by_grade[0] == pytest.approx(by_grade[1], rel=1e-12)
    # V = 1, 2^-(3/4), then 2^-(1/4) of the one before for ever: rank 1 costs 3, all others 1
    assert by_grade[0][4] == pytest.approx(1 + 2**-0.75 / (1 - 2**-0.25), rel=1e-12)
    # by document they are what they are
    by_doc = amble.cwl(aligned([[1, 0, 1, 1]]), text, costs={"r0d0": 3.0, "r0d2": 2.0}).rows[0][3:]
    assert by_doc[4] == pytest.approx(1 + 2**-0.75 + 2**-1 * (1 + 2**-0.5 / (1 - 2**-0.25)), rel=1e-12)


def test_the_reports_user_never_looks_below_the_cut(amble_cli: Any, tmp_path: Path) -> None:
    from amble.reporting.page_data import attention

    scores = amble.evaluate(aligned([[1, 0] * 20]), "nDCG@3 AP@3 RBP@3")
    found = {str(m): attention(scores, m, "run0") for m in scores.parsed}
    assert found["nDCG@3"]["depth"] == pytest.approx(1 + 1 / np.log2(3) + 1 / 2, abs=5e-5)
    assert found["nDCG@3"]["residual"][2:] == [0.0] * 98
    assert found["AP@3"]["weights"][3:] == [0.0] * 97
    assert found["RBP@3"]["depth"] == 5.0  # she reads on
    shown = amble_cli("user", "nDCG@3", "--gains", "1,0,1,1,0", "--format", "tsv").stdout.splitlines()
    assert [line.split("\t")[1] for line in shown[1:]] == ["1", "2", "3"]


# ---- residuals


def test_the_residual_of_a_population_is_the_mean_of_its_users() -> None:
    rankings = amble.align({"1": {"a": 1}}, {"x": {"1": {"a": 2.0, "b": 1.0}}})
    lists = Lists.of_rankings(rankings)
    m = amble.parse("RBP(p=Beta(8,2))")
    # a is judged, b is not: what a user with p has open is all but a's share, 1 - (1 - p) = p; its mean is 8 / 10
    assert list_residuals(m, lists)[0] == pytest.approx(0.8, abs=1e-12)
    assert m.scores(lists)[0] + list_residuals(m, lists)[0] == pytest.approx(1.0, abs=1e-12)
    walks = amble.parse("PH(end='endless',order=2,loss=0,q=Uniform(0.1,0.3))")
    want = sum(w * list_residuals(one, lists)[0] for w, one in walks.members)
    assert list_residuals(walks, lists)[0] == pytest.approx(want, abs=1e-12)


def test_a_residual_is_never_negative() -> None:
    # one relevant document, at rank 1: nDCG is 1. With the unjudged below it relevant, grade 3, it is
    # (1 + 3 / log2(3)) / (3 + 1 / log2(3)) < 1, and what is below rank 2 has no part in it
    qrels = {"1": {"a": 1}, "2": {"z": 3}}
    run = {"1": {f"{c}": float(100 - i) for i, c in enumerate("abcdefgh")}, "2": {"z": 1.0}}
    rankings = amble.align(qrels, {"x": run})
    lists = Lists.of_rankings(rankings)
    for text in ("nDCG@2", "nDCG", "AP", "AP@3", "R@1", "R@2", "RBP", "Rprec", "bpref", "nDCG@20"):
        found = list_residuals(amble.parse(text), lists)
        assert (found >= 0).all(), text
        assert amble.parse(text).scores(lists)[0] + found[0] <= 1 + 1e-12, text
    # of R@2 one of one is found; with b, two of two: nothing to add. Of R@2 where a stands at rank 3, b and c could be
    # two more: (0 + 2) / (1 + 2); judging d and further down would not help
    low = {"1": {c: float(100 - i) for i, c in enumerate("bcadefgh")}}
    lists = Lists.of_rankings(amble.align({"1": {"a": 1}}, {"x": low}))
    assert list_residuals(amble.parse("R@2"), lists)[0] == pytest.approx(2 / 3, abs=1e-15)


# RBP(.8): .2, .16, .128 at ranks 1 to 3, .488 together; P@10: a tenth at each of ten ranks. INST(T=1) with @3 on 1, 1,
# 1 goes on with (1/2)^2 each time, V = 1, 1/4, 1/16; below rank 3 she gains nothing, so that from there on she goes on
# with (i - 2)^2 / (i - 1)^2, i = 4, 5, …: V = 1/64 x (1 + 4/9 + 4/16 + …) = 1/16 x (pi^2 / 6 - 1)
@pytest.mark.parametrize(
    ("text", "grades", "want"),
    [
        ("RBP(p=0.8)", [], (0.0, 1.0)),
        ("RBP(p=0.8)@3", [1], (0.2, 0.488)),
        ("RBP(p=0.8)@3", [], (0.0, 0.488)),
        ("RBP(p=0.8)@3", [1, 0, 0, 1], (0.2, 0.2)),
        ("RBP(p=0.8)@3", [nan], (0.0, 0.488)),
        ("P@10", [], (0.0, 1.0)),
        ("P@10", [1], (0.1, 1.0)),
        ("INST", [], (0.0, 1.0)),
        ("INST@3", [], (0.0, 21 / (21 + math.pi**2 / 6 - 1))),
        ("INST", [1], (amble.parse("INST").value([1]), 1.0)),
        ("AP", [], (0.0, 0.0)),  # AP's user has nowhere to look
    ],
)
def test_what_is_beyond_a_short_list_down_to_rank_k(text: str, grades: list[float], want: tuple[float, float]) -> None:
    assert amble.parse(text).interval(grades) == pytest.approx(want, abs=1e-12)


READ_ON = [
    "RBP(p=0.8)",
    "RBP(p=Beta(8,2))",
    "INSQ(T=2)",
    "INST",
    "INST(T=3)",
    "GRBP",
    "CWL(C='0.9,0.5,0.7')",
    "NERR10",
    "NERR11",
    "PH(end='endless',loss=0)",
    "PH(end='endless',order=2)",
]


@pytest.mark.parametrize("grades", [[], [1], [0], [0, 0, nan, 1], [nan, 0, 0]])
@pytest.mark.parametrize("text", [*READ_ON, *[f"{text}@{k}" for text in READ_ON for k in (1, 3, 6)], "P@6", "NERR9@6"])
def test_residuals_are_those_of_a_longer_list(text: str, grades: list[float]) -> None:
    m = amble.parse(text)
    k = m.deepest
    far = k or 400
    full = [1.0 if math.isnan(g) else g for g in grades]
    brute = m.value(full + [1.0] * max(far - len(full), 0), max_grade=1)
    if text in ("INSQ(T=2)", "RBP(p=Beta(8,2))"):  # some are still reading there
        brute += sum(w * one.user([0] * far).residual(far) for w, one in m.members)
    low, high = m.interval(grades, max_grade=1)
    assert high == pytest.approx(brute, abs=1e-10)
    assert high <= 1 + 1e-12
    lists = Lists.of_grades(grades, max_grade=1)
    assert list_residuals(m, lists)[0] == pytest.approx(high - low, abs=1e-10)
    assert low == pytest.approx(m.scores(lists)[0], abs=1e-12)


def test_a_rank_k_far_beyond_the_list_takes_no_memory() -> None:
    for text in ("RBP@10000000", "INST@10000000", "PH(end='endless',loss=0)@10000000"):
        m = amble.parse(text)
        assert m.interval([1])[1] == pytest.approx(1, abs=1e-10)
        assert list_residuals(m, Lists.of_grades([]))[0] == pytest.approx(1, abs=1e-10)


def test_residuals_of_a_topic_that_a_run_has_not(amble_cli: Any, write: Any) -> None:
    q, r = write("q", "1 0 a 1\n2 0 b 1\n"), write("r", "1 Q0 a 1 1 t\n")
    asked = ["RBP(p=0.8)@10", "RBP(p=0.8)", "P@10", "AP"]
    done = amble_cli("eval", q, r, "--residual", "-q", "-m", *asked, "--format", "tsv", "--quiet")
    two = [line.split("\t") for line in done.stdout.splitlines() if line.split("\t")[1] == "2"]
    # 1 - .8^10, all of it, and all ten
    assert [row[3:] for row in two] == [
        ["0.0000", "0.8926", "yes"],
        ["0.0000", "1.0000", "yes"],
        ["0.0000", "1.0000", "yes"],
        ["0.0000", "0.0000", "no"],
    ]
