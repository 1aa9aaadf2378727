"""P@H as a measure: its names, its variants, scores of many lists, and what it refuses."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from math import nan
from pathlib import Path

import numpy as np
import pytest
import walk_reference as reference
from drawing import examples
from hypothesis import given
from hypothesis import strategies as st

import amble
from amble.measures import Effort, Lists, Measure, Walk, measure
from amble.measures.declaration import REGISTRY
from amble.users import Utility

R10 = [1, 0, 0, 1, 0, 0, 1, 0, 0, 1]
S10 = [0, 1, 1, 1, 1, 0, 0, 0, 0, 0]


def value(text: str, grades: list[float], **context: object) -> float:
    return amble.parse(text).value(grades, **context)


@pytest.mark.parametrize(
    ("text", "r", "s"),
    [
        # reproduced by two independent programs
        ("PH(model='AP')", 0.582142857143, 0.679166666667),
        ("PH(model='RBP',p=.5)", 0.5712890625, 0.46875),
        ("PH(model='RBP',p=.5,end='stop')", 0.571847507331, 0.469208211144),
        ("PH(p=.5,q=0,loss=0,order=1)", 0.721870349702, 0.298691716270),
        ("PH(p=.5,q=.25,loss=.25,order=1,first='forward')", 0.555703555598, 0.430952675282),
        ("PH(p=.5,q=.25,loss=.25,order=2)", 0.410132998100, 0.541332932842),
        ("P@H(p=.5,q=.25,loss=0)", 0.574163939456, 0.460286928437),
        ("PH(loss=0,order=2)", 0.442470675978, 0.603498542274),
        # FF20 Figure 1a: P@10
        ("PH(model='P')@10", 0.4, 0.4),
    ],
)
def test_anchors(text: str, r: float, s: float) -> None:
    assert value(text, R10) == pytest.approx(r, abs=1e-11)
    assert value(text, S10) == pytest.approx(s, abs=1e-11)
    assert amble.parse(text).user(R10).visits[0] > 0


@pytest.mark.parametrize(
    ("text", "classic"),
    [
        ("PH(model='AP')", "AP"),
        ("PH(model='AP',rel=2)@5", "AP(rel=2)@5"),
        ("PH(model='P')", "P"),
        ("PH(model='P')@4", "P@4"),
        ("PH(model='RBP',p=0.8)", "RBP"),
        ("PH(model='RBP',p=0.7,end='stop')", "RBP(p=0.7,finite=True)"),
        ("PH(model='DCG')", "DCG(base=2)"),
        ("PH(model='DCG',base=10,gains='exp')", "DCG(base=10,gains='exp')"),
        ("PH(model='ERR')@6", "ERR@6"),
    ],
)
def test_the_classic_measures_as_users(text: str, classic: str) -> None:
    a, b = amble.parse(text), amble.parse(classic)
    for grades in ([1, 0, 2, 0, 0, 1, 1], [0, 0, 0], [2], [nan, 1, 0]):
        context = {"relevant": 4} if "AP" in classic and "rel" not in classic else {}
        assert a.value(grades, max_grade=2, **context) == b.value(grades, max_grade=2, **context)
        one, other = a.distribution(grades, max_grade=2, **context), b.distribution(grades, max_grade=2, **context)
        np.testing.assert_array_equal(one.values, other.values)
        np.testing.assert_array_equal(one.probs, other.probs)
    assert str(a).startswith("PH(")
    assert amble.parse(str(a)) == a


def test_the_classic_users_asked_for_the_other_order() -> None:
    # AP's user on r: she stops at ranks 1, 4, 7, 10 with 1/4 each, having gained 1, 2, 3, 4: E[T] = 10/4, E[H] = 22/4
    assert value("PH(model='AP',order=2)", R10) == pytest.approx(10 / 22, abs=1e-15)
    # order 1 of RBP(.8), the tail beyond the list kept
    assert value("PH(model='RBP',p=0.8,order=1)", R10) == pytest.approx(0.5192, abs=5e-5)
    # ERR as FF20 has it: R_10 = 1. Probabilities of 1/2 at ranks 1, 4, 7: 1/2 + 1/16 ... by hand
    # 1/2 x 1 + 1/4 x 1/4 + 1/8 x 1/7 + 1/8 x 1/10 (half of it satisfied there, half at the end of the list)
    assert value("PH(model='ERR',end='stop')", R10) == pytest.approx(1 / 2 + 1 / 16 + 1 / 56 + 1 / 80, abs=1e-15)
    assert value("ERR", R10) == pytest.approx(1 / 2 + 1 / 16 + 1 / 56 + 1 / 160, abs=1e-15)


def test_probabilities_by_grade() -> None:
    grades = [0, 2, 1, nan, 1]
    got = value("PH(p='0=0.6,1=0.3,2=0.1',q='0=0.1,1=0.2',gains='linear')", grades, max_grade=2)
    chain = reference.chain([0.6, 0.1, 0.3, 0.6, 0.3], [0.1, 0.2, 0.2, 0.1, 0.2], 5, "forward")
    want = reference.expect(*chain, [0, 2, 1, 0, 1], reference.losing(0.25))
    assert got == pytest.approx(want.order1, abs=1e-12)
    second = value("PH(p='0=0.6,1=0.3,2=0.1',q='0=0.1,1=0.2',gains='linear',order=2)", grades, max_grade=2)
    assert second == pytest.approx(want.order2, abs=1e-12)


def test_what_else_can_be_said() -> None:
    chain = reference.chain(0.5, 0.25, 10, "stop")
    cases = {
        "PH(first='stop',utility='1,0.5,0.1')": (lambda k, y: y * (1, 0.5, 0.1)[min(k, 3) - 1], lambda h: h, None),
        "PH(first='stop',effort='log')": (reference.losing(0.25), lambda h: np.log2(h + 1), None),
        "PH(first='stop',effort='h+3',loss=1)": (reference.losing(1), lambda h: h + 3, None),
        "PH(first='stop',start='0.5,0,0.5')": (reference.losing(0.25), lambda h: h, [0.5, 0, 0.5] + [0] * 7),
    }
    for text, (g, f, start) in cases.items():
        want = reference.expect(*chain, R10, g, f, start)
        assert value(text, R10) == pytest.approx(want.order1, abs=1e-12), text


def test_divided_by_the_visits_on_an_endless_list() -> None:
    # FF20, Appendix C: K(p, q, infinity) instead of K(p, q, N), here 1 / (1 - .5 - .25) = 4
    gained = value("PH(order=2)", R10) * amble.parse("PH").user(R10).expected_depth
    assert value("PH(order=2,per='endless')", R10) == pytest.approx(gained / 4, abs=1e-14)
    # by rank, the last probabilities hold for ever: as on a very long list
    gained = value("PH(order=2,p='0.7,0.5')", R10) * amble.parse("PH(p='0.7,0.5')").user(R10).expected_depth
    endless = amble.parse("PH(p='0.7,0.5')").user([0] * 400).expected_depth
    assert value("PH(order=2,p='0.7,0.5',per='endless')", R10) == pytest.approx(gained / endless, abs=1e-13)


def test_a_walk_ends_at_the_cut() -> None:
    """Design of `@k`: for who stops at the end of a list, the list ends at min(k, N)."""
    five = [1, 0, 1, 0, 0, 1, 1, 1]
    # she reads five documents and stops: precision at 5, two of five
    assert value("P@5", five) == 0.4
    assert value("PH(p=1,q=0,loss=0)@5", five) == pytest.approx(0.4, abs=1e-13)
    assert value("PH@4", R10) == pytest.approx(value("PH", R10[:4]), abs=1e-15)
    assert value("PH(order=2)@4", R10) == pytest.approx(value("PH(order=2)", R10[:4]), abs=1e-15)
    assert value("PH(p='0=0.6,1=0.3')@10", R10) == value("PH(p='0=0.6,1=0.3')", R10)
    # (1 + .5 ** 2) / (1 + .5 + .25 + .125 + .0625): RBP's user, who stops at rank 5
    assert value("RBP(p=0.5,finite=True)@5", five) == pytest.approx(1.25 / 1.9375, abs=1e-15)
    # satisfied with (2^1 - 1) / 2^1 = 1/2 by each relevant document: 1/2 at rank 1, 1/4 at rank 3, else at rank 5
    assert value("PH(model='ERR',end='stop')@5", five) == pytest.approx(1 / 2 + 1 / 12 + 1 / 20, abs=1e-15)
    # an endless divisor stays what it is, 1 / (1 - .5 - .25) = 4 visits; what she gains is that of the short list
    short = amble.parse("PH(order=2)").user(R10[:4])
    gained = value("PH(order=2)", R10[:4]) * short.expected_depth
    assert value("PH(order=2,per='endless')@4", R10) == pytest.approx(gained / 4, abs=1e-15)
    # one who goes on for ever walks below the cut, and gains nothing there
    assert value("PH(end='endless')@4", R10) == pytest.approx(value("PH(end='endless')", R10[:4] + [0] * 6), abs=1e-15)


def test_a_population_of_walkers() -> None:
    # the mean over users of each user's value: a two-point check by the trapezoid is not needed where q does nothing
    m = amble.parse("PH(q=Uniform(0,0.4),loss=0)")
    points, weights = m.values["q"].nodes()
    want = sum(w * value(f"PH(q={x!r},loss=0)", R10) for x, w in zip(points.tolist(), weights.tolist(), strict=True))
    assert m.value(R10) == pytest.approx(want, abs=1e-13)
    assert m.distribution(R10).mean == pytest.approx(want, abs=1e-12)


@examples(60)
@given(
    st.floats(0.05, 0.9),
    st.floats(0, 1),
    st.sampled_from([0.0, 0.25, 1.0]),
    st.sampled_from([1, 2]),
    st.lists(st.sampled_from([0, 0, 1]), min_size=1, max_size=12),
)
def test_more_is_never_worse(p: float, share: float, loss: float, order: int, grades: list[int]) -> None:
    q = (1 - p) * 0.9 * share
    m = amble.parse(f"PH(p={p!r},q={q!r},loss={loss},order={order})")
    score = m.value(grades)
    assert 0 <= score <= 1 + 1e-12
    if 0 in grades:
        richer = list(grades)
        richer[richer.index(0)] = 1
        assert m.value(richer) >= score - 1e-13
    low, high = m.interval([nan if g == 0 else g for g in grades])
    assert low == pytest.approx(score, abs=1e-13)
    assert high == pytest.approx(m.value([1] * len(grades)), abs=1e-13)
    assert amble.parse(str(m)) == m


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("PH(p=0.8,q=0.3)", r"p \+ q = 0.8 \+ 0.3 = 1.1 at rank 1, expected at most 1"),
        ("PH(p='0.5,0.9',q=0.3)", r"= 1.2 at rank 2"),
        ("PH(p=0.5,q=0.5,end='endless')", "the user never stops"),
        ("PH(p=0.5,q=0.5,order=2,per='endless')", "the user never stops"),
        ("PH(p='0.5,0',q='0.5,1')", "the user never stops"),
        ("PH(p=1,q=0,end='endless')", "never stops"),
        ("PH(utility='0.5,1')", r"g\(2, 1\) = 1 is more than g\(1, 1\) = 0.5"),
        ("PH(utility='1,1.0000000000001')", r"it must not rise with the visits"),
        ("PH(p=Beta(2,6),utility='0.5,1')", r"g\(2, 1\) = 1 is more than g\(1, 1\) = 0.5"),
        ("PH(utility='1,0.5',loss=0.5)", "loss and utility: expected one of them"),
        ("PH(utility='1,0.5',loss=0.25)", "loss and utility: expected one of them"),
        ("PH(utility='1,0.5',loss=0)", "loss and utility: expected one of them"),
        ("PH(gains='linear',rel=1)", "rel and gains: expected one of them"),
        ("PH(base=2)", "base goes with model='DCG' only"),
        ("PH(per='list')", "per='list' is about order 2, expected order=2"),
        ("PH(model='RBP',p=.5,q=.25)", "q=0.25 has no effect with model='RBP'"),
        ("PH(model='ERR',rel=1)", "rel=1 has no effect with model='ERR'"),
        ("PH(effort='h-1')", "effort 'h-1'"),
        ("PH(effort=2)", "effort=2 is not allowed"),
        ("PH(order=3)", "order=3 is not allowed, expected one of 1, 2, or None"),
        ("PH(order=True)", "order=True is not allowed"),
        ("PH(p='0=0.5,0=0.3')", "is not allowed"),
        ("PH(p='0=1.5')", "is not allowed"),
        ("PH(p='a')", "is not allowed"),
        ("PH(start='0.5,0.2')", "sum to 1, found 0.7"),
        ("PH(model='AP',q=0.1)", "q=0.1 has no effect with model='AP'"),
        ("PH(model='RBP',p='0.5,0.4')", "one number p"),
        ("PH(model='ERR',end='endless')", "expected end='nothing'"),
        ("PH(end='nothing')", "a walk ends with 'stop' or 'endless'"),
        ("PH(model='XX')", "one of 'P', 'AP', 'RBP', 'DCG', 'ERR', or None"),
        ("PH(lost=1)", "no parameter lost"),
    ],
)
def test_what_is_refused_when_it_is_parsed(text: str, message: str) -> None:
    with pytest.raises(amble.MeasureError, match=message):
        amble.parse(text)


def test_a_walk_of_ones_own() -> None:
    @measure("Stroller", question="order1", formula="mine")
    def stroller() -> Walk:
        """She turns back less and less."""
        return Walk(0.5, lambda rank: 0.4 / rank, utility=Utility(function=lambda k, y: y / k), effort=Effort(np.sqrt))

    try:
        m = amble.parse("Stroller")
        chain = reference.chain(0.5, [0.4 / i for i in range(1, 11)], 10, "forward")
        want = reference.expect(*chain, R10, lambda k, y: y / k, lambda h: h**0.5)
        assert m.value(R10) == pytest.approx(want.order1, abs=1e-12)
        assert m.user(R10).expected_depth == pytest.approx(want.mean_h, abs=1e-12)
        scores = amble.evaluate({"1": {"a": 1}}, {"x": {"1": {"b": 2.0, "a": 1.0}}}, ["Stroller", "AP"])
        assert scores["x", "Stroller"][0] == pytest.approx(m.value([0, 1]), abs=1e-13)
    finally:
        del REGISTRY["Stroller"]


def test_walks_can_be_asked_for_their_cwl() -> None:
    rankings = amble.align({"1": {"a": 1, "c": 1}}, {"x": {"1": {"a": 3.0, "b": 2.0, "c": 1.0}}})
    row = amble.cwl(rankings, "PH(order=2,loss=0)").rows[0]
    user = amble.parse("PH(loss=0)").user([1, 0, 1])
    assert row[3] == pytest.approx(value("PH(order=2,loss=0)", [1, 0, 1]), abs=1e-14)
    assert row[7] == pytest.approx(user.expected_depth, abs=1e-14)


def test_on_real_runs_every_list_is_scored_as_if_alone(data: Path) -> None:
    folder = data / "trec8"
    runs = sorted((folder / "runs").iterdir())[:3]
    measures = ["PH", "PH(order=2)", "PH(p=0.5,q=0.499)", "PH(p='0=0.6,1=0.3')", "PH(p=0.9,q=0.05,end='endless')"]
    rankings = amble.align(folder / "qrels.txt", [str(run) for run in runs], depth=200)
    scores = amble.evaluate(rankings, measures)
    parsed: tuple[Measure, ...] = scores.parsed
    for run in scores.runs[:3]:
        for t in range(0, 50, 12):
            grades = rankings.grades(run, scores.topics[t])
            for j, m in enumerate(parsed):
                got = scores.values[scores.runs.index(run), t, j]
                assert got == pytest.approx(m.value(grades), abs=1e-12)


@pytest.mark.filterwarnings("ignore::amble.UnjudgedWarning")
def test_how_far_an_endless_walk_could_rise() -> None:
    # all that is beyond the list could be relevant, too: without loss every visit then gains 1, so both orders are 1
    for order in (1, 2):
        m = amble.parse(f"PH(loss=0,end='endless',order={order})")
        low, high = m.interval([1, nan, 0])
        assert low == m.value([1, 0, 0])
        # rank 3 is known to be irrelevant; a very long list tells what it takes away
        assert high == pytest.approx(m.value([1, 1, 0] + [1] * 200), abs=1e-12)
        assert m.interval([1, 1, 1])[1] == pytest.approx(1, abs=1e-12)
    rankings = amble.align({"1": {"a": 1}}, {"x": {"1": {"a": 3.0, "b": 2.0}}, "y": {"1": {"c": 1.0, "d": 0.5}}})
    from amble.measures.residuals import list_residuals

    m = amble.parse("PH(end='endless')")
    got = list_residuals(m, Lists.of_rankings(rankings))
    best = m.value([1] * 300)
    np.testing.assert_allclose(got, [best - m.value([1, 0]), best], atol=1e-12)


def test_amble_user_says_who_was_simulated(amble_cli: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    done = amble_cli("user", "PH", "--gains", "1,0,1")
    assert done.returncode == 0
    assert done.stderr == ""
    assert "over 100,000 simulated users: mean 0.67" in done.stdout
    exact = amble_cli("user", "PH(loss=0)", "--gains", "1,0,1")
    assert "over users: mean" in exact.stdout


def test_an_endless_walk_could_gain_the_largest_gain() -> None:
    m = amble.parse("PH(end='endless',gains='linear')")
    assert m.interval([3, nan, 0], max_grade=3)[1] == pytest.approx(m.value([3, 3, 0] + [3] * 200), abs=1e-11)


@pytest.mark.parametrize(
    "text",
    ["PH(base=3)", "PH(rel=2,gains='linear')", "PH(model='DCG',rel=2)", "PH(per='endless')", "PH(utility='1_0')"],
)
def test_nothing_is_ignored_in_silence(text: str) -> None:
    with pytest.raises(amble.MeasureError):
        amble.parse(text)


def test_a_walk_may_be_divided_by_the_recall_base() -> None:
    @measure("Normed", question="order1", norm="relevant")
    def normed() -> Walk:
        """Divided by the recall base."""
        return Walk(0.5, 0.25)

    try:
        m, plain = amble.parse("Normed"), amble.parse("PH(p=0.5,q=0.25,loss=0)")
        assert m.value([1, 0, 1], relevant=4) == pytest.approx(plain.value([1, 0, 1]) / 4, abs=1e-15)
        assert m.distribution([1, 0, 1], relevant=4).mean == pytest.approx(plain.value([1, 0, 1]) / 4, abs=1e-12)
    finally:
        del REGISTRY["Normed"]


def test_a_walk_has_no_rank_that_satisfies() -> None:
    @measure("Pleased", question="satisfied")
    def pleased() -> Walk:
        """Satisfied nowhere."""
        return Walk()

    try:
        with pytest.raises(amble.MeasureError, match="Pleased: a walk has the question order1, order2 or total"):
            amble.parse("Pleased").value([1, 0])
    finally:
        del REGISTRY["Pleased"]
