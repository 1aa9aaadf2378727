"""Measures by hand, against brute force, and as users: identities that must hold."""

from __future__ import annotations

import contextlib
import itertools
import math
import warnings
from collections.abc import Callable
from fractions import Fraction
from math import log2
from random import Random
from typing import Any

import numpy as np
import pytest
from drawing import examples
from hypothesis import assume, example, given
from hypothesis import strategies as st

import amble
from amble import AmbleError, MeasureError, parse
from amble.errors import SimulationWarning
from amble.expressions.domains import (
    Above,
    AtLeast,
    Between,
    Domain,
    Form,
    GainTable,
    Numbers,
    OneOf,
    Optional,
    Switch,
    Whole,
)
from amble.expressions.formulas import OverRanks
from amble.measures import REGISTRY
from amble.measures.catalogue.clicks import OfGrade
from amble.measures.catalogue.markov_precision import Rates
from amble.measures.fitted_parameters import FittedUser
from amble.users import Question

nan = math.nan
R10 = [1, 0, 0, 1, 0, 0, 1, 0, 0, 1]
S10 = [0, 1, 1, 1, 1, 0, 0, 0, 0, 0]
GRADES = [3, 0, 1, 2, 0, 0, 0, 2, 0, 0]  # of a lecture's worked example, with
IDEAL = [3, 3, 2, 2, 2, 1, 1, 1]  # the relevant documents of its topic


def value(measure: str, grades: Any, **context: Any) -> float:
    return amble.parse(measure).value(grades, **context)


# ---- hand-worked


@pytest.mark.parametrize(
    ("measure", "grades", "context", "expected"),
    [
        ("P@2", [1, 0, 1], {}, 1 / 2),
        ("P@10", [1, 0, 1], {}, 2 / 10),  # a short list: as if seven more that are not relevant
        ("P", [1, 0, 1], {}, 2 / 3),
        ("R@2", [1, 0, 1], {"relevant": 4}, 1 / 4),
        ("F@2", [1, 0, 1], {"relevant": 4}, 2 * (1 / 2) * (1 / 4) / (1 / 2 + 1 / 4)),
        ("F(beta=2)@2", [1, 0, 1], {"relevant": 4}, 5 * (1 / 2) * (1 / 4) / (4 * (1 / 2) + 1 / 4)),
        ("AP", [1, 0, 1], {"relevant": 2}, (1 / 1 + 2 / 3) / 2),
        ("AP", [1, 0, 1], {"relevant": 5}, (1 / 1 + 2 / 3) / 5),
        ("AP@2", [1, 0, 1], {"relevant": 2}, (1 / 1) / 2),
        ("AP(rel=2)", [1, 0, 2], {"relevant": 1}, 1 / 3),
        ("AP", R10, {}, 0.582142857142857),  # (1/1 + 2/4 + 3/7 + 4/10) / 4
        ("AP", S10, {}, 0.679166666666667),  # (1/2 + 2/3 + 3/4 + 4/5) / 4
        ("RR", [0, 0, 1, 1], {}, 1 / 3),
        ("RR@2", [0, 0, 1], {}, 0.0),
        ("Rprec", [1, 0, 1], {"relevant": 2}, 1 / 2),
        ("Success@1", [0, 1], {}, 0.0),
        ("Success@2", [0, 1], {}, 1.0),
        ("RBP(p=0.5)", R10, {}, 0.5712890625),  # 1/2 + 1/16 + 1/128 + 1/1024
        ("RBP(p=0.5)", S10, {}, 0.46875),  # 1/4 + 1/8 + 1/16 + 1/32
        ("RBP(p=0.5,finite=True)", R10, {}, 0.571847507331378),  # the same, divided by 1 - 2^-10
        ("RBP(p=0.8)@10", GRADES, {}, 0.2 * (1 + 0.8**2 + 0.8**3 + 0.8**7)),  # .4723
        ("DCG(base=2)@10", GRADES, {}, 3 + 1 / math.log2(3) + 2 / 2 + 2 / 3),  # no discount before rank 2
        ("nDCG(base=2)@10", GRADES, {"ideal": IDEAL}, 0.5194),
        ("nDCG", [0, 2], {"ideal": [2, 1, 0]}, (2 / math.log2(3)) / (2 + 1 / math.log2(3))),
        ("nDCG(gains='exp')", [0, 2], {"ideal": [2, 1, 0]}, (3 / math.log2(3)) / (3 + 1 / math.log2(3))),
        ("nDCG(gains='1=5')", [0, 2], {"ideal": [2, 1, 0]}, (2 / math.log2(3)) / (5 + 2 / math.log2(3))),
        ("nDCG@1", [0, 2], {"ideal": [2, 1, 0]}, 0.0),
        # grade 1 of at most 2 satisfies with (2^1 - 1) / 2^2 = 1/4, grade 2 with 3/4:
        # 1/4 x 1/1 + 3/4 x 3/4 x 1/2 = .25 + .28125
        ("ERR", [1, 2], {}, 0.53125),
        ("ERR@1", [1, 2], {}, 0.25),
        ("ERR(max_grade=3)", [1, 2], {}, 1 / 8 + 7 / 8 * 3 / 8 / 2),
        ("IPrec@0.5", [1, 0, 1, 1], {"relevant": 4}, 3 / 4),  # two of four are found by rank 3; 3/4 at rank 4
        ("IPrec@0", [0, 1, 0], {}, 1 / 2),
        # .1 of 13 is 1.3: two must be found, at rank 5; trec_eval 10 rounds to one, at rank 1
        ("IPrec@0.1", [1, 0, 0, 0, 1], {"relevant": 13}, 2 / 5),
        ("IPrec(rule='trec10')@0.1", [1, 0, 0, 0, 1], {"relevant": 13}, 1.0),
        ("IPrec(rule='trec9')@0.1", [1, 0, 0, 0, 1], {"relevant": 13}, 2 / 5),  # 1.3 + .9 = 2.2
        # .3 of 4 is 1.2: two, which are not there; trec_eval 10 takes one
        ("IPrec@0.3", [1, 0, 0, 0], {"relevant": 4}, 0.0),
        ("IPrec(rule='trec10')@0.3", [1, 0, 0, 0], {"relevant": 4}, 1.0),
        ("IPrec@0.21", [1, 0, 1, 0, 0], {"relevant": 5}, 2 / 3),  # 1.05: two
        ("IPrec(rule='trec9')@0.21", [1, 0, 1, 0, 0], {"relevant": 5}, 1.0),  # 1.05 + .9 = 1.95: one
        # in doubles .1 x 30 is above 3 and .7 x 10 below 7; of 30, .1 are three
        ("IPrec@0.1", [0, 1, 1, 1], {"relevant": 30}, 3 / 4),
        # of 2 relevant, 0 and .5 ask for one, .75 and 1 for both
        ("IPrecAvg(points='0,.5,.75,1')", [1, 0, 1], {"relevant": 2}, (1 + 1 + 2 / 3 + 2 / 3) / 4),
        # of 3 relevant, .4 (1.2) asks for two; trec_eval 10 rounds to one. .5 (1.5) is two for both
        ("IPrecAvg(points='.1,.4,.5')", [1, 0, 0, 1], {"relevant": 3}, (1 + 1 / 2 + 1 / 2) / 3),
        ("IPrecAvg(points='.1,.4,.5',rule='trec10')", [1, 0, 0, 1], {"relevant": 3}, (1 + 1 + 1 / 2) / 3),
        ("PRAUC", [1, 0, 1, 1], {"relevant": 4}, (1 + 3 / 4 + 3 / 4 + 0) / 4),
        # ir_measures: of the first k, or of the list where it is shorter; whatever the grade
        ("Judged@4", [1, nan, 0], {}, 2 / 3),
        ("Judged@2", [1, nan, 0], {}, 1 / 2),
        ("Judged@2", [-1, nan, 0], {}, 1 / 2),
        ("Judged", [-2, nan, 0, nan], {}, 2 / 4),
        ("Judged(per='k')@4", [1, nan, 0], {}, 2 / 4),
        ("Judged(per='k')@4", [], {}, 0.0),
        ("Judged@4", [], {}, 0.0),
        ("Judged", [], {}, 0.0),
        ("Unjudged@2", [1, nan, 0], {}, 1 / 2),
        # one judged non-relevant above the second relevant one; R = 2, N = 1: (1 + (1 - 1/1)) / 2
        ("bpref", [1, nan, 0, 1], {}, (1 + 0) / 2),
        # Q with b = 1, ideal 2 1: rank 2 (grade 2): (1 + 2) / (2 + 3); rank 3 (grade 1): (2 + 3) / (3 + 3)
        ("Q", [0, 2, 1], {}, (3 / 5 + 5 / 6) / 2),
        ("Q@2", [0, 2, 1], {}, (3 / 5) / 2),
        ("Q(beta=0)", [0, 2, 1], {}, (1 / 2 + 2 / 3) / 2),  # AP
        # ideal 2 1: at rank 1 nothing of 2, at rank 2 a grade of 2 / log2(3); the end counts of lists longer than R + 1
        ("RnDCG", [0, 2, 1], {}, (0 + 2 / log2(3) / (2 + 1 / log2(3))) / 2),
        ("RnDCG", [0, 2, 1, 0], {}, (2 / log2(3) + (2 / log2(3) + 1 / log2(4))) / (2 + 1 / log2(3)) / 3),
        ("NumRelRet", [1, 0, 1], {"relevant": 5}, 2),
        ("NumRel", [1, 0, 1], {"relevant": 5}, 5),
        ("Utility", [1, 0, 1], {}, 2 - 1),
    ],
)
def test_by_hand(measure: str, grades: list[float], context: dict[str, Any], expected: float) -> None:
    places = 4 if expected == 0.5194 else 12
    assert value(measure, grades, **context) == pytest.approx(expected, abs=0.5 * 10**-places)


def test_judged_per_k_wants_a_rank() -> None:
    with pytest.raises(amble.MeasureError, match="per='k' goes with a rank, as in Judged\\(per='k'\\)@10"):
        amble.parse("Judged(per='k')")


def trec_evals_iprec(grades: list[int], relevant: int, recall: float, version: int) -> float:
    """m_iprec_at_recall.c, from the end of the list to its top."""
    wanted = math.floor(recall * relevant + (0.9 if version == 9 else 0.5))
    left = sum(grades)
    if wanted > left:
        return 0.0
    best = 0.0
    for i in range(len(grades), 0, -1):
        if not left:
            break
        best = max(best, left / i)
        if grades[i - 1]:
            if left == wanted:
                return best
            left -= 1
    return best


@examples(300)
@given(
    st.lists(st.integers(0, 1), min_size=1, max_size=25),
    st.integers(0, 60),
    st.one_of(st.integers(0, 100).map(lambda k: Fraction(k, 100)), st.fractions(0, 1, max_denominator=60)),
)
def test_interpolated_precision_by_its_definitions(grades: list[int], more: int, recall: Fraction) -> None:
    relevant, level = sum(grades) + more, float(recall)
    found = list(itertools.accumulate(grades))
    if relevant:
        best = [n / (i + 1) for i, n in enumerate(found) if Fraction(n, relevant) >= recall]
        assert value(f"IPrec(recall={level!r})", grades, relevant=relevant) == max(best, default=0.0)
    for version in (9, 10):
        theirs = trec_evals_iprec(grades, relevant, level, version)
        assert value(f"IPrec(recall={level!r},rule='trec{version}')", grades, relevant=relevant) == theirs


def test_the_lectures_dcg() -> None:
    # gains 3 0 1 2 0 0 0 2 0 0: DCG with base 2 at rank 10 is 5.2976, the ideal's 10.1996
    assert value("DCG(base=2)@10", GRADES) == pytest.approx(5.2976, abs=5e-5)
    assert value("DCG(base=2)@10", sorted(IDEAL, reverse=True)) == pytest.approx(10.1996, abs=5e-5)
    assert value("RBP(p=0.8)", GRADES) == pytest.approx(0.4723, abs=5e-5)


def rank_biased_overlap(run: list[str], ideal: list[str], p: float, depth: int) -> float:
    return sum(p**d / (d + 1) * len(set(run[: d + 1]) & set(ideal[: d + 1])) for d in range(depth))


@examples(60)
@given(st.lists(st.sampled_from([nan, 0, 1, 2]), min_size=1, max_size=6), st.lists(st.integers(1, 2), max_size=2))
def test_compatibility_is_the_best_of_all_ideal_lists(grades: list[float], others: list[int]) -> None:
    run = [f"d{i}" for i in range(len(grades))]
    known = {doc: g for doc, g in zip(run, grades, strict=True) if g > 0}
    known |= {f"o{i}": g for i, g in enumerate(others)}
    judged = [g for g in grades if g == g] + others
    got = value("Compat(p=0.9,depth=8)", grades, ideal=judged) if judged else 0.0
    if not known:
        assert got == 0
        return
    groups = [[d for d, g in known.items() if g == level] for level in (2, 1)]
    best = max(
        rank_biased_overlap(run, [*a, *b], 0.9, 8)
        for a in itertools.permutations(groups[0])
        for b in itertools.permutations(groups[1])
    )
    own = [*groups[0], *groups[1]]
    assert got == pytest.approx(best / rank_biased_overlap(own, own, 0.9, 8), abs=1e-12)


# ---- ties: the mean over all orders


TIED = ["P@2", "P@4", "R@3", "AP", "AP@3", "RR", "RR@2", "nDCG", "nDCG@3", "RBP(p=0.7)", "DCG(base=2)", "P"]
TIED += ["PH", "PH(order=2,loss=0)", "PH(p='0.6,0.4',end='endless')@3"]


@st.composite
def _tied(draw: st.DrawFn) -> tuple[dict[str, int], dict[str, float]]:
    n = draw(st.integers(1, 6))
    docs = [f"d{i}" for i in range(n)]
    scores = dict(zip(docs, draw(st.lists(st.sampled_from([1.0, 2.0, 3.0]), min_size=n, max_size=n)), strict=True))
    grades = draw(st.dictionaries(st.sampled_from([*docs, "x", "y"]), st.integers(0, 2), min_size=1))
    return grades, scores


def _orders(scores: dict[str, float]) -> list[list[str]]:
    levels = sorted(set(scores.values()), reverse=True)
    groups = [[d for d, s in scores.items() if s == level] for level in levels]
    return [
        [d for group in combined for d in group]
        for combined in itertools.product(*(list(itertools.permutations(group)) for group in groups))
    ]


@pytest.mark.filterwarnings("ignore::amble.UnjudgedWarning")
@examples(80)
@given(_tied(), st.sampled_from([None, 1, 2, 3]))
def test_expected_ties_are_the_mean_over_all_orders(
    both: tuple[dict[str, int], dict[str, float]], depth: int | None
) -> None:
    grades, scores = both
    got = amble.evaluate({"1": grades}, {"r": {"1": scores}}, TIED, ties="expected", depth=depth).values[0, 0]
    every = []
    for order in _orders(scores):
        untied = {doc: float(-i) for i, doc in enumerate(order)}
        every.append(amble.evaluate({"1": grades}, {"r": {"1": untied}}, TIED, depth=depth).values[0, 0])
    np.testing.assert_allclose(got, np.mean(every, axis=0), atol=1e-12)


def test_measures_without_a_closed_form_refuse_ties() -> None:
    qrels, run = {"1": {"a": 1, "b": 0}}, {"r": {"1": {"a": 1.0, "b": 1.0}}}
    with pytest.raises(amble.MeasureError, match="ERR: no closed form for ties='expected'"):
        amble.evaluate(qrels, run, "ERR", ties="expected")
    untied = {"r": {"1": {"a": 1.0, "b": 2.0}}}
    assert amble.evaluate(qrels, untied, "ERR", ties="expected").values.item() == 0.25  # nothing is tied: 1/2 / 2


# ---- users


# those who walk down; those who walk back and forth (test_stochastic.py) or wander (test_markov.py) have tests of their
# own; so have measures of sessions (test_session_measures.py) and of intents (test_intents.py)
LISTS = [name for name, d in REGISTRY.items() if not d.of_sessions and not d.of_intents]
USERS = [
    name
    for name in LISTS
    if (d := REGISTRY[name]).is_user and d.family != "walks" and d.question is not Question.MARKOV
]


def _strategy(domain: Domain) -> st.SearchStrategy[Any]:
    """Draw from a parameter's domain."""
    if isinstance(domain, Optional):
        return st.one_of(st.none(), _strategy(domain.domain))
    if isinstance(domain, Between):
        return st.floats(domain.low, domain.high, exclude_min=not domain.closed, exclude_max=not domain.closed).filter(
            lambda x: domain.closed or 1e-3 < x < 1 - 1e-3
        )
    if isinstance(domain, Above | AtLeast):
        return st.floats(domain.low + 0.01, domain.low + 9)
    if isinstance(domain, Whole):
        return st.integers(max(domain.low, 1), 30)
    if isinstance(domain, Switch):
        return st.booleans()
    if isinstance(domain, OneOf):
        return st.sampled_from(domain.words)
    if isinstance(domain, GainTable):
        return st.sampled_from(["linear", "exp", "1=3,2=9", "1=0.5"])
    if isinstance(domain, OverRanks):  # for each of C, V, W, L and H
        return st.sampled_from(["0.5", "1,0.5,0.25"])
    if isinstance(domain, Rates):
        return st.sampled_from(["0.5", "2,1,0.25"])
    if isinstance(domain, OfGrade):
        return st.sampled_from([0.5, "0=0.25,1=0.75", "0=1,1=0"])
    if isinstance(domain, FittedUser | Form):  # test_fitting.py and test_wanted_documents.py have them
        return st.none()
    if isinstance(domain, Numbers) and isinstance(domain.domain, Between):
        return st.sampled_from(["0.5", "1,0.25,0,0.75"])
    if isinstance(domain, Numbers):
        return st.just("1,-1,0,0") if domain.count == 4 else st.sampled_from(["0.5", "0,0.5,1"])
    raise AssertionError(domain)


@st.composite
def measures(draw: st.DrawFn, names: list[str]) -> amble.Measure:
    d = REGISTRY[draw(st.sampled_from(names))]
    given: dict[str, Any] = {}
    for p in d.parameters.values():
        if p.name == "max_grade":  # must not be less than the grades that are drawn
            continue
        if draw(st.booleans()) and p.name != d.at:
            given[p.name] = draw(_strategy(p.domain))
    # what would have no part, and be refused
    idle = {"g": given.get("distribution"), "form": not given.get("adaptive"), "start": given.get("steps") is None}
    idle["rel"] = given.get("gains") == "scaled"
    idle |= dict.fromkeys(("memory", "users", "seed"), d.name == "MP")  # a simulated score, of chains of some steps
    idle |= dict.fromkeys([name for name in "CVWLH" if d.name == "CWL" and given.get(name)][1:], True)
    arguments = [f"{name}={x!r}" for name, x in given.items() if not idle.get(name)]
    at = ""
    if draw(st.booleans()):
        if d.at == "recall":
            at = "@0.25"
        elif d.at or d.is_user:
            at = f"@{draw(st.integers(1, 12))}"
    if not at and given.get("per") == "k":  # goes with a rank
        at = "@7"
    return amble.parse(f"{d.name}({','.join(arguments)}){at}")


GRADE_LISTS = st.lists(st.sampled_from([0.0, 0.0, 1.0, 2.0, -1.0, nan]), min_size=1, max_size=12)


@examples(300)
@given(measures(USERS), GRADE_LISTS, st.integers(0, 3))
def test_what_holds_for_every_user(m: amble.Measure, grades: list[float], missing: int) -> None:
    rel = float(m.values.get("rel", 1))
    relevant = sum(g >= max(rel, 1.0) for g in grades) + missing if rel <= 1 else None
    context = {} if relevant is None or m.values.get("rel") not in (1, None) else {"relevant": relevant}
    context["max_grade"] = 2
    user = m.user(grades, **context)
    total = user.last.sum() + user.beyond
    assert total == pytest.approx(1, abs=1e-12)  # everybody stops somewhere, or beyond the list
    assert user.weights.sum() + user.tail_visits / user.expected_depth == pytest.approx(1, abs=1e-12)
    assert user.weights[0] * user.expected_depth == pytest.approx(1, abs=1e-12)  # W(1) = 1 / E[H]
    np.testing.assert_allclose(user.halting + user.continuation, 1, atol=1e-15)
    np.testing.assert_allclose(user.visits[1:], user.visits[:-1] * user.continuation[:-1], atol=1e-12)
    assert user.residual(0) == pytest.approx(1, abs=1e-12)
    for k in range(1, len(grades)):
        assert user.residual(k) <= user.residual(k - 1) + 1e-12
    distribution = m.distribution(grades, **context)
    assert distribution.probs.sum() == pytest.approx(1, abs=1e-9)
    score = m.value(grades, **context)
    if m.declaration.question in (Question.ORDER1, Question.SATISFIED, Question.TOTAL):
        # the score is the mean of the distribution; for totals each stop's gain, so E[T] = sum V y
        assert distribution.mean == pytest.approx(score, abs=1e-10)


@examples(40)
@given(measures(USERS), GRADE_LISTS, st.integers(0, 2**31))
def test_exact_distribution_is_the_simulated_one_within_its_band(
    m: amble.Measure, grades: list[float], seed: int
) -> None:
    simulated = amble.simulate(m, grades, users=20_000, seed=seed, max_grade=2)
    # the band holds the whole cdf with probability 1 - 1e-6; equal scores may differ in their last bits
    exact = m.distribution(grades, max_grade=2)
    rounded = amble.Distribution(np.round(exact.values, 9), exact.probs)
    assert rounded.distance(amble.Distribution(np.round(simulated.values, 9), simulated.probs)) < simulated.band_at(
        1 - 1e-6
    )


def test_rbp_order_1_keeps_its_tail() -> None:
    # those who read on beyond the ten documents: without them .4886
    assert amble.parse("RBP(p=0.8)").distribution(R10).mean == pytest.approx(0.5192, abs=5e-5)


def test_measures_that_are_no_users_say_so() -> None:
    for name in (name for name in LISTS if not REGISTRY[name].is_user):
        for ask in ("user", "distribution"):
            with pytest.raises(amble.MeasureError, match=f"{name} is not a user"):
                getattr(amble.parse(name), ask)([1, 0])


@examples(300)
@given(measures([name for name, d in REGISTRY.items() if not d.of_sessions and name != "PH"]))
def test_printing_and_parsing_again(m: amble.Measure) -> None:
    assume(m.values.get("per") != "k" or m.values["k"] is not None)  # which is refused
    again = amble.parse(str(m))
    assert again == m
    assert again.values == m.values
    assert again.cut == m.cut
    assert hash(again) == hash(m)


BOUNDED = [name for name in LISTS if REGISTRY[name].bounded]


@examples(200)
@given(measures(BOUNDED), GRADE_LISTS)
def test_scores_are_bounded(m: amble.Measure, grades: list[float]) -> None:
    if m.name == "Unjudged" or m.values.get("rel") == 0:
        return
    assert -1e-12 <= m.value(grades, max_grade=2) <= 1 + 1e-9


# ---- collections


@st.composite
def _collections(draw: st.DrawFn) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    docs = [f"d{i}" for i in range(10)]
    qrels = {t: draw(st.dictionaries(st.sampled_from(docs), st.integers(-1, 3), min_size=1)) for t in ("1", "2", "3")}
    run = {}
    for t in draw(st.lists(st.sampled_from(["1", "2", "3"]), min_size=1, unique=True)):
        order = draw(st.permutations(docs))[: draw(st.integers(1, 10))]
        run[t] = {doc: float(-i) for i, doc in enumerate(order)}
    return qrels, run


ALL = [*LISTS, "P@3", "nDCG@3", "AP@4", "ERR@2", "RBP(p=0.4,finite=True)", "Q@3", "F@2", "IPrec@0.3", "R@2"]
ALL += ["PH(order=2)", "PH(p='0=0.6,1=0.3')", "PH(p='0.5,0.3')", "PH(effort='log')", "PH(effort='h^2',order=2)"]
ALL += [
    "PH(end='endless')",
    "PH(utility='1,0.5')",
    "PH(model='AP')",
    "PH(model='AP',order=2)",
    "PH@3",
    "PH(gains='exp')",
]
ALL += ["PH(p='0=0.6,1=0.3',effort='log')", "PH(p='0=0.6,1=0.3',end='endless',order=2)", "PH(per='endless',order=2)"]


@pytest.mark.filterwarnings("ignore::amble.UnjudgedWarning")
@examples(40)
@given(_collections())
def test_many_lists_at_once_are_each_list_alone(
    both: tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]],
) -> None:
    qrels, run = both
    scores = amble.evaluate(qrels, {"r": run}, ALL)
    largest = max(max(grades.values()) for grades in qrels.values())
    for t, topic in enumerate(scores.topics):
        judged = list(qrels[topic].values())
        order = sorted(run.get(topic, {}), key=lambda d: -run[topic][d])
        grades = [float(qrels[topic].get(d, nan)) for d in order]
        for j, m in enumerate(scores.parsed):
            alone = m.value(grades, ideal=judged, max_grade=max(largest, 1))
            assert scores.values[0, t, j] == pytest.approx(alone, abs=1e-12), (str(m), topic)


@pytest.mark.filterwarnings("ignore::amble.UnjudgedWarning")
@examples(30)
@example(both=({"1": {"d1": 0}}, {"1": {"d0": 0.0}}), random=Random(1))  # none of the run is judged
@given(_collections(), st.randoms())
def test_blind_to_names_and_rows(
    both: tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]], random: Any
) -> None:
    qrels, run = both
    scores = amble.evaluate(qrels, {"r": run}, ALL)
    again = amble.evaluate(qrels, {"r": run}, ALL)
    np.testing.assert_array_equal(scores.values, again.values)

    def shuffled(table: dict[str, Any], rename: Callable[[str], str]) -> dict[str, Any]:
        rows = [(rename(k), v) for k, v in table.items()]
        random.shuffle(rows)
        return dict(rows)

    other = amble.evaluate(
        {t: shuffled(d, lambda doc: f"x{doc}y") for t, d in qrels.items()},
        {"s": shuffled({t: shuffled(d, lambda doc: f"x{doc}y") for t, d in run.items()}, str)},
        ALL,
    )
    np.testing.assert_allclose(other.values, scores.values, atol=1e-13)


SPEEDS = [
    "AP", "AP@7", "RR", "ERR", "ERR@3", "RBP(p=0.6)", "RBP(p=0.6,finite=True)@9", "P@100", "P", "DCG", "R@5",
    "INST(T=2)", "INSQ(T=3,adaptive=True)", "INSQ(T=3)", "NERR8@70", "NERR9@90", "NERR10", "NERR11(T=2)",
    "BPM(T=3,k=80)", "IFTGoal(T=3,b=0.5,R=0.5)", "TBG(h=20)", "U(L=100)", "SDCG@120", "GRBP@70", "INST(T=2)@70",
    "INSQ(T=3,adaptive=True)@20", "NERR10@80", "NERR11@9", "IFTGoal(T=3,b=0.5,R=0.5)@66", "TBG(h=20)@30",
]  # fmt: skip


@pytest.mark.parametrize("text", SPEEDS)
def test_dense_sparse_and_static_agree(text: str) -> None:
    """The three speeds give one answer; lists are long enough for several stretches of ranks."""
    from amble.rankings.lists import Lists
    from amble.users.forward_dense import follow_dense

    rng = np.random.default_rng(3)
    qrels = {str(t): {f"d{i}": int(rng.integers(0, 4)) for i in range(80)} for t in range(4)}
    runs = {
        f"r{r}": {
            str(t): {f"d{i}": float(rng.random()) for i in rng.permutation(300)[: rng.integers(1, 300)]}
            for t in range(4)
        }
        for r in range(5)
    }
    lists = Lists.of_rankings(amble.align(qrels, runs))
    m = amble.parse(text)
    gains, user = m.gains_of(lists), m.one_user
    function, names = user._looking()
    answer, depth = follow_dense(function, names, m.question, gains)
    by = 1.0 if m.divisors(gains) is None else m.divisors(gains)
    dense = answer / np.where(depth > 0, depth, 1.0) if m.question is Question.ORDER2 else answer / by
    np.testing.assert_allclose(dense, m.scores(lists), atol=1e-11)
    if m.question is Question.ORDER2:
        np.testing.assert_allclose((answer, depth), user.totals(gains), rtol=1e-10)
        inside = follow_dense(function, names, Question.TOTAL, gains, inside=True)[1]
        rest = np.where(gains.lists.length < (m.cut or np.inf), 1.0 - inside / depth, 0.0)
        if m.cut is None:  # what documents of gain 1 beyond each list would add
            np.testing.assert_allclose(user.unseen(Question.ORDER2, gains, 1.0), 0.0 if m.ends else rest, atol=1e-11)


def test_a_population_of_gain_maps() -> None:
    # ERR of 1, 0, 2 where the largest grade is m: 2^-m + (1 - 2^-m) 3 2^-m / 3 = 2 2^-m - 4^-m; its mean over m from 3
    # to 5: (2^-3 - 2^-5) / ln 2 - (4^-3 - 4^-5) / (2 ln 4) = 0.1352533 - 0.0052833 = 0.12997
    m = parse("ERR(max_grade=Uniform(3,5))")
    exact = (2**-3 - 2**-5) / math.log(2) - (4**-3 - 4**-5) / (2 * math.log(4))
    assert m.value([1, 0, 2]) == pytest.approx(exact, abs=1e-12)
    assert m.distribution([1, 0, 2]).mean == pytest.approx(exact, abs=1e-12)  # every user has gains of her own
    assert m.interval([1, 0, 2]) == pytest.approx((exact, exact), abs=1e-12)
    found = amble.evaluate({"1": {"a": 1, "b": 0, "c": 2}}, {"x": {"1": {"a": 3.0, "b": 2.0, "c": 1.0}}}, [m])
    assert found.distribution("x", "1", str(m)).mean == pytest.approx(exact, abs=1e-12)
    with pytest.raises(MeasureError, match="is a population, not one user"):
        m.user([1, 0, 2])


EXTREME = (5e-324, 1e-308, 0.9999999999999999, 1.0000000000000002, 1e15, 1e200, 1e308, "'1e308,1e308'", "'1=1e308'")
EXTREME_LISTS = ([1, 0, 2], [1e308, 0, 1e308], [5e-324, 1e-308, 0], [500, 0, 3], [-1e308, 1, 0], [])


@pytest.mark.parametrize("name", list(REGISTRY))
def test_extreme_numbers_are_right_or_refused(name: str) -> None:
    """Never a warning (they are errors here), never a number that is not finite, nor beyond its bounds."""
    declaration = REGISTRY[name]
    texts = [name, *(f"{name}({key}={value})" for key in declaration.parameters for value in EXTREME)]
    for text in texts:
        try:
            m = parse(text)
        except AmbleError:
            continue
        for grades in EXTREME_LISTS:
            given: Any = [[x] for x in grades] if declaration.of_sessions else grades
            if declaration.of_intents:
                given = list(zip(grades, reversed(grades), strict=True))
            with contextlib.suppress(AmbleError):
                value = m.value(given)
                assert math.isfinite(value), text
                assert not m.declaration.bounded or -1e-9 <= value <= 1 + 1e-9, (text, grades)
        if declaration.is_user:
            with contextlib.suppress(AmbleError), warnings.catch_warnings():
                warnings.simplefilter("ignore", SimulationWarning)
                distribution = m.distribution([1, 0, 2], users=100)
                assert math.isfinite(distribution.mean), text
                assert math.isfinite(distribution.sd), text


@pytest.mark.parametrize(
    ("text", "grades"),
    [
        ("Q(beta=1e308)", [1e308, 1, 1]),
        ("nDCG", [1e308, 1e308, 1e308]),
        ("DCG(base=1e15)", [1e308, 0, 1e308]),  # its sum has no warning of its own
        ("INST(T=1e308)", [1, 0, 1]),
        ("F(beta=1e200)", [1, 0, 2]),
        ("nDCG", [0, 5e-324]),  # 5e-324 / log2(3) is 5e-324: it would be 1.0, and is 0.63
        ("G(gains='exp')", [500, 0, 3]),  # 2^500 + 7 - 2^500 is 0
    ],
)
def test_what_is_too_extreme_is_said_in_one_line(text: str, grades: list[float]) -> None:
    with pytest.raises(MeasureError, match=f"^{text.partition('(')[0]}.*(extreme|finite|too small|too large)") as told:
        parse(text).value(grades)
    assert "\n" not in str(told.value)


def test_the_distribution_of_a_user_of_endless_patience_is_refused() -> None:
    # ln 1e-18 / ln p: some 4e17 ranks
    with pytest.raises(MeasureError, match="too many for a distribution"):
        parse("RBP(p=0.9999999999999999)").distribution([1, 0, 2])
    assert parse("RBP(p=0.9999999999999999)").value([1, 0, 2]) == pytest.approx(2.2e-16, abs=1e-17)
