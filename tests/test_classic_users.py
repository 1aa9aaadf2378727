"""The classic measures as users of P@H: every model with any effort, of both orders, as sums over stopping ranks."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate, pairwise
from math import log, nan

import numpy as np
import pytest

import amble
from amble.measures import PH, Lists, Measure
from amble.users import Question

R10 = [1, 0, 0, 1, 0, 0, 1, 0, 0, 1]
GRADED = [0, 2, 0, 1, 0, 0, 2]
LAST = 6000  # of the ranks that endless users are followed to: .99^6000 < 1e-26

Atom = tuple[float, float, float, float]  # probability, H, T in order 1, T in order 2
EFFORTS: dict[str, Callable[[float], float]] = {
    "h": lambda h: h,
    "h+2.5": lambda h: h + 2.5,
    "h^2": lambda h: h**2,
    "h^3.5": lambda h: h**3.5,
    "sqrt": lambda h: h**0.5,
    "log": lambda h: log(h + 1, 2),
    "1": lambda h: 1.0,
}


def down(stops: list[float], gained: list[float], rest: list[Atom] | None = None) -> list[Atom]:
    """The atoms of users who stop at ranks 1, 2, … with these probabilities, having gained so much."""
    return [(x, h, t, t) for h, (x, t) in enumerate(zip(stops, gained, strict=True), 1)] + (rest or [])


def precision(k: int | None, y: list[float], n: int) -> list[Atom]:
    k = k or n
    total = sum(y[:k])
    return [(1.0, k, total, total)]


def average(relevant: int, y: list[float], n: int) -> list[Atom]:
    # who wants a document that is not found reads the whole list, and is content with nothing of it
    found = list(accumulate(y))
    return down([x / relevant for x in y], found, [(1 - found[-1] / relevant, n, 0.0, found[-1])])


def biased(p: float, end: str, y: list[float], n: int) -> list[Atom]:
    found = list(accumulate(y))
    if end == "stop":
        return down([p**i * (1 - p) for i in range(n - 1)] + [p ** (n - 1)], found)
    return down([p**i * (1 - p) for i in range(LAST)], found + found[-1:] * (LAST - n))


def discounted(base: float, y: list[float], n: int) -> list[Atom]:
    reach = [1 / max(1.0, log(i, base)) for i in range(1, n + 1)] + [0.0]
    return down([a - b for a, b in pairwise(reach)], list(accumulate(y)))


def satisfied(end: str, y: list[float], n: int) -> list[Atom]:
    # T is 1 for who is satisfied; as Ferrante and Ferro have it, the last document satisfies
    reach = [1.0, *accumulate((1 - x for x in y), lambda a, b: a * b)]
    stops = [v * x for v, x in zip(reach, y, strict=False)]
    if end == "stop":
        return down([*stops[:-1], reach[n - 1]], [1.0] * n)
    return down(stops, [1.0] * n, [(reach[n], n, 0.0, 0.0)])


def binary(grades: list[int]) -> list[float]:
    return [1.0 if g >= 1 else 0.0 for g in grades]


def linear(grades: list[int]) -> list[float]:
    return [float(g) for g in grades]


def chapelle(grades: list[int]) -> list[float]:
    return [(2**g - 1) / 4 for g in grades]  # the largest grade is 2


MODELS: dict[str, tuple[Callable[[list[int]], list[float]], Callable[[list[float], int], list[Atom]]]] = {
    "model='P'": (binary, lambda y, n: precision(None, y, n)),
    "model='P'@4": (binary, lambda y, n: precision(4, y, n)),
    "model='P'@30": (binary, lambda y, n: precision(30, y, n)),
    "model='AP'": (binary, lambda y, n: average(5, y, n)),
    "model='RBP',p=0.7": (binary, lambda y, n: biased(0.7, "endless", y, n)),
    "model='RBP',p=0.99": (binary, lambda y, n: biased(0.99, "endless", y, n)),
    "model='RBP',p=0.7,end='stop'": (binary, lambda y, n: biased(0.7, "stop", y, n)),
    "model='DCG'": (linear, lambda y, n: discounted(2, y, n)),
    "model='DCG',base=3": (linear, lambda y, n: discounted(3, y, n)),
    "model='ERR'": (chapelle, lambda y, n: satisfied("nothing", y, n)),
    "model='ERR',end='stop'": (chapelle, lambda y, n: satisfied("stop", y, n)),
}


def expression(model: str, more: str) -> str:
    inside, at, rank = model.partition("@")
    return f"PH({inside},{more}){at}{rank}"


def context(model: str) -> dict[str, int]:
    return {"max_grade": 2} | ({"relevant": 5} if "AP" in model else {})


def by_hand(model: str, grades: list[int], order: int, f: Callable[[float], float]) -> float:
    gains, stops = MODELS[model]
    atoms = stops(gains(grades), len(grades))
    assert sum(x for x, *_ in atoms) == pytest.approx(1, abs=1e-12)
    if order == 1:
        return sum(x * t / f(h) for x, h, t, _ in atoms)
    return sum(x * t for x, _, _, t in atoms) / sum(x * f(h) for x, h, *_ in atoms)


@pytest.mark.parametrize("effort", EFFORTS)
@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("model", MODELS)
def test_every_model_order_and_effort(model: str, order: int, effort: str) -> None:
    m = amble.parse(expression(model, f"order={order},effort='{effort}'"))
    assert amble.parse(str(m)) == m
    for grades in (R10, GRADED, [2]):
        found = m.value(grades, **context(model))
        assert found == pytest.approx(by_hand(model, grades, order, EFFORTS[effort]), rel=1e-12, abs=1e-14)
        if order == 1:
            mean = m.distribution(grades, **context(model)).mean
            assert mean == pytest.approx(found, rel=1e-12, abs=1e-14)


def test_by_hand_with_a_square() -> None:
    # AP's user stops at ranks 1, 4, 7 and 10 with 1/4 each, having gained 1, 2, 3 and 4
    square = (1 / 1 + 2 / 16 + 3 / 49 + 4 / 100) / 4
    assert amble.parse("PH(model='AP',effort='h^2')").value(R10) == pytest.approx(square, abs=1e-15)
    mean = (1 + 2 + 3 + 4) / (1 + 16 + 49 + 100)
    assert amble.parse("PH(model='AP',effort='h^2',order=2)").value(R10) == pytest.approx(mean, abs=1e-15)
    # ERR's is satisfied by a relevant document with 1/2: with 1/2, 1/4, 1/8 and 1/16, else reads all 10
    satisfied = 1 / 2 + 1 / 4 + 1 / 8 + 1 / 16
    effort = 1 / 2 + 4 / 4 + 7 / 8 + 10 / 16 + 10 / 16
    assert amble.parse("PH(model='ERR',order=2)").value(R10) == pytest.approx(satisfied / effort, abs=1e-15)
    assert amble.parse("PH(model='ERR',order=2,end='stop')").value(R10) == pytest.approx(1 / effort, abs=1e-15)
    # RBP(1/2) on 1, 0: E[T] = 1, E[H^2] = 1 x 1/2 + 4 x 1/4 + 9 x 1/8 + ... = 6
    assert amble.parse("PH(model='RBP',p=.5,effort='h^2')").value([1, 0]) == pytest.approx(1 / 6, abs=1e-15)
    # DCG's with base 2 stops at rank 2 with 1 - 1/log2(3), else at rank 3 of three; gains 3, 0, 1
    on = 1 / log(3, 2)
    first = (1 - on) * 3 / 2 + on * 4 / 3
    assert amble.parse("PH(model='DCG',effort='h')").value([3, 0, 1]) == pytest.approx(first, abs=1e-15)
    second = (3 + on) / (2 * (1 - on) + 3 * on)
    assert amble.parse("PH(model='DCG',effort='h',order=2)").value([3, 0, 1]) == pytest.approx(second, abs=1e-15)


def test_orders_that_are_one() -> None:
    # H is always k for P, and f is always 1 for DCG (Ferrante and Ferro, 2020, sections 6.1 and 6.4)
    for effort in EFFORTS:
        one, two = (PH(model="P", effort=effort, order=order) @ 4 for order in (1, 2))
        assert one.value(R10) == pytest.approx(two.value(R10), abs=1e-15)
    dcg = amble.parse("DCG(base=2)")
    for text in ("", ",order=1", ",order=2", ",effort='1'", ",effort='1',order=1"):
        assert amble.parse(f"PH(model='DCG'{text})").value(GRADED) == dcg.value(GRADED)
    assert str(PH(model="DCG", effort="h")) == "PH(effort='h',model='DCG')" != str(PH(model="DCG"))


@pytest.mark.parametrize("effort", ["h", "h^2", "log", "h+1"])
@pytest.mark.parametrize("end", ["stop", "endless"])
def test_rbp_is_a_walk_that_never_turns_back(effort: str, end: str) -> None:
    for order in (1, 2):
        model = PH(model="RBP", p=0.8, effort=effort, end=end, order=order)
        walk = PH(p=0.8, q=0, loss=0, effort=effort, end=end, order=order)
        assert model.value(R10) == pytest.approx(walk.value(R10), abs=1e-12)


def test_an_effort_that_is_a_function() -> None:
    m = PH(model="AP", effort=lambda h: 3.0 * h - 1.0)
    assert m.value(R10) == pytest.approx((1 / 2 + 2 / 11 + 3 / 20 + 4 / 29) / 4, abs=1e-15)
    with pytest.raises(amble.MeasureError, match="grows too fast for a finite sum"):
        PH(model="RBP", p=0.8, effort=lambda h: 1.3**h).value(R10)


@pytest.mark.parametrize("model", MODELS)
def test_many_lists_as_each_alone(model: str) -> None:
    rng = np.random.default_rng(1)
    lists = {f"t{i}": [2, *rng.integers(0, 3, rng.integers(0, 80)).tolist()] for i in range(12)}
    qrels = {t: {f"d{j}": g for j, g in enumerate(grades)} for t, grades in lists.items()}
    run = {t: {f"d{j}": -float(j) for j in range(len(grades))} for t, grades in lists.items()}
    measures = [amble.parse(expression(model, f"order={order},effort='h^2'")) for order in (1, 2)]
    scores = amble.evaluate(qrels, {"x": run}, measures)
    for m in measures:
        each = [m.value(lists[t], max_grade=2) for t in scores.topics]
        np.testing.assert_allclose(scores["x", m.label], each, rtol=1e-12)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("model", [model for model in MODELS if "0.99" not in model])
def test_simulated_readers(model: str, order: int) -> None:
    m = amble.parse(expression(model, f"order={order},effort='h+2.5'"))
    found = amble.simulate(m, GRADED, users=4000, seed=3, **context(model))
    assert found.mean == pytest.approx(
        by_hand(model, GRADED, 1, EFFORTS["h+2.5"]), abs=5 * found.standard_error + 1e-12
    )
    second = by_hand(model, GRADED, 2, EFFORTS["h+2.5"])
    assert found.order2 == pytest.approx(second, abs=5 * found.order2_error + 1e-12)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("model", MODELS)
def test_what_each_rank_adds(model: str, order: int) -> None:
    m = amble.parse(expression(model, f"order={order},effort='h^2'"))
    gains = m.gains_of_grades(GRADED, **context(model))
    worth, per_gain = m.one_user.worth(m.question, gains, 0)
    added = worth[: len(GRADED)] * gains.by_rank(0) if per_gain else worth
    assert added.sum() == pytest.approx(m.value(GRADED, **context(model)), rel=1e-12)


def test_what_the_unjudged_could_add() -> None:
    # all that is beyond the list could be relevant: E[T] = E[H], here 1 / .3, and E[H^2] = (1 + p) / (1 - p)^2
    m = amble.parse("PH(model='RBP',p=0.7,effort='h^2')")
    low, high = m.interval([1, nan])
    assert (low, high) == (m.value([1, 0]), pytest.approx((1 / 0.3) / (1.7 / 0.09), rel=1e-12))
    # order 1: E[H / H^2] = E[1 / H] = sum of .3 x .7^(i - 1) / i
    high = m(order=1).interval([1, nan])[1]
    assert high == pytest.approx(-0.3 / 0.7 * log(0.3), rel=1e-12)
    cut = m(order=1) @ 4
    assert cut.interval([1, nan])[1] == pytest.approx(m(order=1).value([1, 1, 1, 1]), rel=1e-12)


def test_tied_documents() -> None:
    rankings = amble.align({"1": {"a": 1}}, {"x": {"1": {"a": 1.0, "b": 1.0, "c": 0.5}}}, ties="expected")

    def score(m: Measure) -> float:
        return float(m.scores(Lists.of_rankings(rankings))[0])

    for model in ("P", "RBP", "DCG"):
        m = PH(model=model, effort="h^2", order=2)
        assert score(m) == pytest.approx((m.value([1, 0, 0]) + m.value([0, 1, 0])) / 2, rel=1e-13)
    assert score(PH(model="AP")) == pytest.approx(0.75, abs=1e-15)
    for m in (PH(model="AP", order=2), PH(model="AP", effort="h^2")):
        with pytest.raises(amble.MeasureError, match="no closed form for ties='expected'"):
            score(m)


def test_what_has_no_part_in_them() -> None:
    for model in ("P", "AP", "RBP", "DCG", "ERR"):
        for more in ("loss=0.5", "utility='1,0.5'", "q=0.1", "start='1'", "per='list'", "first='stop'"):
            with pytest.raises(amble.MeasureError, match=f"has no effect with model='{model}'"):
                amble.parse(f"PH(model='{model}',{more})")
    assert amble.parse("PH(model='ERR',order=2)").question is Question.SATISFIED2
    with pytest.raises(amble.MeasureError, match=r"PH\(effort='h\^2',model='AP'\) has no C/W/L form"):
        amble.cwl(amble.align({"1": {"a": 1}}, {"x": {"1": {"a": 1.0}}}), "PH(model='AP',effort='h^2')")


def test_observed_paths() -> None:
    assert amble.parse("PH(model='AP',effort='h^2')").score_path([1, 2, 3, 4], R10) == 2 / 16
    assert amble.parse("PH(model='DCG')").score_path([1, 2], [3, 2]) == 5
    assert amble.parse("PH(model='ERR',effort='h+1',order=2)").score_path([1, 2], [0, 1], max_grade=1) == 1 / 3
    for end, score in (("nothing", 0), ("stop", 1 / 2)):  # an irrelevant document satisfies only where the list ends
        m = amble.parse(f"PH(model='ERR',end='{end}')")
        assert (m.score_path([1], [0, 0]), m.score_path([1, 2], [0, 0])) == (0, score)
