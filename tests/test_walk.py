"""Users who walk back and forth: against figures, dense algebra, step-by-step brute force and many digits."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import walk_reference as reference
from drawing import examples
from hypothesis import assume, given
from hypothesis import strategies as st

import amble
from amble.users.birth_death import BirthDeathChain, induced_birth_death_chain, passages, reachable, stops
from amble.users.effort import Effort
from amble.users.joint_distribution import (
    NoExactDistributionError,
    OverBudgetError,
    distribution_of_gain,
    joint_kept,
    joint_once,
    same_steps,
)
from amble.users.utility import Utility
from amble.users.walk import Probabilities, Walk
from amble.users.walk_on_list import WalkOnList

R10 = [1, 0, 0, 1, 0, 0, 1, 0, 0, 1]
S10 = [0, 1, 1, 1, 1, 0, 0, 0, 0, 0]


# ---- figures


@pytest.mark.parametrize(
    ("p", "q", "loss", "order", "r", "s"),
    [
        # reproduced by two independent programs; the first and third pair are FF20's Figure 1d, simulated there
        (0.5, 0.0, 0.0, 1, 0.721870349702, 0.298691716270),
        (0.5, 0.0, 0.0, 2, 0.571847507331, 0.469208211144),
        (0.5, 0.25, 0.25, 1, 0.555703555598, 0.430952675282),
        (0.5, 0.25, 0.25, 2, 0.410132998100, 0.541332932842),
        (0.5, 0.25, 0.0, 1, 0.574163939456, 0.460286928437),
        (0.5, 0.25, 0.0, 2, 0.442470675978, 0.603498542274),
    ],
)
def test_anchors(p: float, q: float, loss: float, order: int, r: float, s: float) -> None:
    on_list = Walk(p, q, utility=Utility(loss)).over(10)
    ask = on_list.order1 if order == 1 else on_list.order2
    assert ask(R10) == pytest.approx(r, abs=1e-12)
    assert ask(S10) == pytest.approx(s, abs=1e-12)


def test_two_ranks_by_hand() -> None:
    # p = .5, q = .25, first="stop", N = 2: from rank 1 on with .5, or stop; from rank 2 back with .25, or stop (.75).
    # hit_2 = .5, ret = .125 at both; V = 1/.875 = 8/7 and .5/.875 = 4/7; L = 8/7 x .5 = 4/7 and 4/7 x .75 = 3/7.
    # P(H = 1) = .5, P(H = 2) = .5 x .75, and every further pair of visits has .125 of the one before.
    on_list = Walk(0.5, 0.25, first="stop").over(2)
    np.testing.assert_allclose(on_list.visits, [8 / 7, 4 / 7], rtol=1e-15)
    np.testing.assert_allclose(on_list.last, [4 / 7, 3 / 7], rtol=1e-15)
    np.testing.assert_allclose(on_list.returns, [0.125, 0.125], rtol=1e-15)
    np.testing.assert_allclose(on_list.reach, [1, 0.5], rtol=1e-15)
    assert on_list.expected_depth == pytest.approx(12 / 7, rel=1e-15)
    distribution = on_list.depth_distribution()
    np.testing.assert_allclose(distribution.probs[:4], [0.5, 0.375, 0.0625, 0.046875], rtol=1e-15)
    # E[T] with half lost at each visit, gain 1 at rank 1: 1 + .125 / 2 + ... = 1 / (1 - .0625)
    fading = Walk(0.5, 0.25, first="stop", utility=Utility(0.5)).over(2)
    assert fading.total([1, 0]) == pytest.approx(16 / 15, rel=1e-15)


def test_ferrante_ferro_section_4() -> None:
    # FF20 section 4: loss .5, run [3, 2, 3, 0, 1], visits 1 2 1 2 3: 3, 2, 1.5, 1, 3
    utility = Utility(0.5).values(np.array([3.0, 2.0]), 2)
    np.testing.assert_array_equal(utility, [[3, 1.5], [2, 1]])


def test_appendix_c() -> None:
    for p in (0.1, 0.3, 0.5, 0.6):
        for q in (0.05, 0.25, 0.39):
            on_list = Walk(p, q, first="stop").over(6)
            want = reference.ff20_appendix_c_total(p, q)
            assert on_list.total([1, 0, 0, 1, 0, 1]) == pytest.approx(want, rel=1e-13)


@pytest.mark.parametrize("n", [1, 2, 3, 10, 100, 500])
def test_expected_visits_are_k(n: int) -> None:
    for p, q in [(0.1, 0.2), (0.5, 0.25), (0.45, 0.5), (0.7, 0.29), (0.3, 0.69)]:
        on_list = Walk(p, q, first="stop").over(n)
        assert on_list.expected_depth == pytest.approx(float(reference.ff20_k(p, q, n)), rel=1e-12)


def test_expected_visits_on_an_endless_list() -> None:
    for p, q in [(0.1, 0.2), (0.5, 0.25), (0.45, 0.5), (0.7, 0.299), (0.3, 0.69), (0.9, 0.0), (0.0, 0.5)]:
        for first in ("stop", "forward"):
            if p == 0:
                continue
            on_list = Walk(p, q, first=first, beyond="endless").over(3)
            want = float(reference.ff20_k_infinite(p, q, first)) if q else 1 / (1 - p)
            assert on_list.expected_depth == pytest.approx(want, rel=1e-12)
            assert on_list.last.sum() + on_list.beyond == pytest.approx(1, abs=1e-14)
            assert on_list.residual(0) == pytest.approx(1, abs=1e-14)


def test_erratum_variance() -> None:
    # FF20 Appendix B prints a formula that gives a negative variance on Appendix C's own run
    chain = reference.chain(0.5, 0.25, 6, "stop")
    gains = [1, 0, 0, 1, 0, 1]
    assert reference.ff20_variance_printed(chain.p, chain.q, gains)[0] == pytest.approx(-0.064, abs=5e-4)
    on_list = Walk(0.5, 0.25, first="stop").over(6)
    assert on_list.total_var(gains) == pytest.approx(0.840, abs=5e-4)
    assert on_list.total_var(gains) == pytest.approx(
        reference.variance_with_loss(*chain, gains, 0.0, mass=1e-17)[1], abs=1e-10
    )
    assert on_list.total_var(gains) == pytest.approx(
        reference.ff20_variance_right(chain.p, chain.q, gains)[0], rel=1e-12
    )


def test_erratum_last_term() -> None:
    # FF20 Appendix A prints p^N as the probability of stopping at the last rank; the distribution sums to 1 with
    # p^(N-1) only
    last = Walk(0.5, 0.0).over(4).last
    np.testing.assert_allclose(last, [0.5, 0.25, 0.125, 0.125], rtol=1e-15)


# ---- brute force


@st.composite
def walks(draw: st.DrawFn, most: int = 12) -> dict[str, Any]:
    n = draw(st.integers(1, most))
    grades = draw(st.lists(st.sampled_from([0.0, 0.0, 1.0, 2.0, 3.0]), min_size=n, max_size=n))
    probability = st.floats(0, 1)
    by = draw(st.sampled_from(["number", "rank", "grade"]))
    count = {"number": 1, "rank": n, "grade": 4}[by]
    stop = draw(st.lists(st.floats(0.12, 0.9), min_size=count, max_size=count))
    share = draw(st.lists(probability, min_size=count, max_size=count))
    forward = [(1 - s) * a for s, a in zip(stop, share, strict=True)]
    back = [(1 - s) * (1 - a) for s, a in zip(stop, share, strict=True)]
    place = {"number": [0] * n, "rank": range(n), "grade": [int(g) for g in grades]}[by]
    rule = {
        "number": lambda x: x[0],
        "rank": lambda x: x,
        "grade": lambda x: dict(enumerate(x)),
    }[by]
    first = draw(st.sampled_from(["forward", "stop"]))
    start = None
    if draw(st.booleans()):
        start = np.array(draw(st.lists(st.floats(0.01, 1), min_size=n, max_size=n)))
        start = start / start.sum()
    return {
        "n": n,
        "grades": grades,
        "first": first,
        "start": start,
        "rules": (rule(forward), rule(back)),
        "chain": reference.chain([forward[i] for i in place], [back[i] for i in place], n, first),
    }


def table(shares: list[float]) -> Any:
    return lambda k, y: y * shares[min(k, len(shares)) - 1]


UTILITIES: list[tuple[Utility, Any]] = [
    (Utility(0.0), reference.losing(0.0)),
    (Utility(0.25), reference.losing(0.25)),
    (Utility(1.0), reference.losing(1.0)),
    (Utility(visits=[1, 0.6, 0.6, 0.1]), table([1, 0.6, 0.6, 0.1])),
    (Utility(visits=[1, 0]), table([1, 0])),
    (Utility(visits=[0.5]), table([0.5])),
    (Utility(function=lambda k, y: y ** (1 / k) / k**2), lambda k, y: y ** (1 / k) / k**2),
]
EFFORTS: list[tuple[Effort, Any]] = [
    (Effort(), lambda h: h),
    (Effort("h+2.5"), lambda h: h + 2.5),
    (Effort("h^2"), lambda h: h**2),
    (Effort("h^0.3"), lambda h: h**0.3),
    (Effort("sqrt"), lambda h: h**0.5),
    (Effort("log"), lambda h: np.log2(h + 1)),
    (Effort("1"), lambda h: 1.0),
    (Effort(lambda h: np.floor(h / 3) + 1), lambda h: h // 3 + 1),
]


@examples(60)
@given(walks(), st.integers(0, len(UTILITIES) - 1), st.integers(0, len(EFFORTS) - 1))
def test_orders_are_those_of_brute_force(walk: dict[str, Any], of: int, by: int) -> None:
    (utility, g), (effort, f) = UTILITIES[of], EFFORTS[by]
    user = Walk(*walk["rules"], first=walk["first"], start=walk["start"], utility=utility, effort=effort)
    on_list = user.over(walk["n"], walk["grades"])
    want = reference.expect(*walk["chain"], walk["grades"], g, f, walk["start"])
    assert on_list.total(walk["grades"]) == pytest.approx(want.mean_t, abs=1e-10)
    assert on_list.order1(walk["grades"]) == pytest.approx(want.order1, abs=1e-10)
    assert on_list.order2(walk["grades"]) == pytest.approx(want.order2, abs=1e-10)
    assert on_list.expected_depth == pytest.approx(want.mean_h, abs=1e-10)
    assert on_list.depth_var == pytest.approx(want.var_h, abs=1e-9)
    assert on_list.mean_effort == pytest.approx(want.effort, rel=1e-10)


@examples(60)
@given(walks())
def test_moments_are_those_of_dense_algebra(walk: dict[str, Any]) -> None:
    on_list = Walk(*walk["rules"], first=walk["first"], start=walk["start"]).over(walk["n"], walk["grades"])
    gains = [min(g, 1.0) for g in walk["grades"]]
    want = reference.moments_dense(*walk["chain"], gains, walk["start"])
    np.testing.assert_allclose(on_list.visits, want.visits, atol=1e-12)
    np.testing.assert_allclose(on_list.last, want.last, atol=1e-12)
    assert on_list.last.sum() == pytest.approx(1, abs=1e-13)
    assert on_list.weights.sum() == pytest.approx(1, abs=1e-13)
    assert on_list.total_var(gains) == pytest.approx(want.var_t, abs=1e-10)
    assert on_list.depth_var == pytest.approx(want.var_h, abs=1e-10)
    distribution = on_list.total_distribution(gains)
    assert want.distribution_t is not None
    at = np.arange(want.distribution_t.size)
    np.testing.assert_allclose(distribution.cdf(at), np.cumsum(want.distribution_t), atol=1e-12)
    if walk["start"] is None and walk["n"] > 1 and walk["first"] == "stop":
        assert on_list.reach[0] == 1


@examples(30)
@given(walks(most=5), st.sampled_from([0.0, 1.0]), st.integers(0, len(EFFORTS) - 1))
def test_the_joint_distribution_is_that_of_all_paths(walk: dict[str, Any], loss: float, by: int) -> None:
    effort, f = EFFORTS[by]
    user = Walk(*walk["rules"], first=walk["first"], start=walk["start"], utility=Utility(loss), effort=effort)
    on_list = user.over(walk["n"], walk["grades"])
    pairs = reference.joint(*walk["chain"], walk["grades"], loss=loss, start=walk["start"], mass=1e-13)
    t, h, p = on_list.joint(walk["grades"])
    assert p.sum() == pytest.approx(1, abs=1e-13)
    found: dict[tuple[float, int], float] = {}
    for x, y, z in zip(t.tolist(), h.tolist(), p.tolist(), strict=True):
        found[x, int(y)] = found.get((x, int(y)), 0.0) + z
    for key in set(found) | set(pairs):
        assert found.get(key, 0.0) == pytest.approx(pairs.get(key, 0.0), abs=1e-12)
    distribution = on_list.distribution(walk["grades"])
    for x in (0.0, 0.3, 0.5, 1.0, 1.7):
        assert distribution.cdf(x + 1e-12) == pytest.approx(reference.probability_at_most(pairs, x, f), abs=1e-11)
    assert distribution.mean == pytest.approx(on_list.order1(walk["grades"]), abs=1e-11)


@examples(25)
@given(walks(most=4), st.floats(0, 1))
def test_the_variance_with_a_loss(walk: dict[str, Any], loss: float) -> None:
    assume(float(walk["chain"].s.min()) > 0.2 or walk["n"] < 4)
    user = Walk(*walk["rules"], first=walk["first"], start=walk["start"], utility=Utility(loss))
    on_list = user.over(walk["n"], walk["grades"])
    mean, var = reference.variance_with_loss(*walk["chain"], walk["grades"], loss, walk["start"], mass=1e-9)
    assert on_list.total(walk["grades"]) == pytest.approx(mean, rel=1e-6, abs=1e-6)
    assert on_list.total_var(walk["grades"]) == pytest.approx(var, rel=1e-5, abs=1e-5)


def test_graded_gains_on_a_lattice() -> None:
    # thirds: the distribution of T has its atoms at multiples of 1/3, and agrees with the joint distribution's
    on_list = Walk(0.5, 0.25).over(5)
    gains = [1 / 3, 0, 2 / 3, 1, 0]
    distribution = on_list.total_distribution(gains)
    t, _, p = on_list.joint(gains)
    joint = amble.Distribution(t, p)
    np.testing.assert_allclose(np.rint(distribution.values * 3), distribution.values * 3, atol=1e-12)
    assert distribution.distance(joint) < 1e-12
    assert distribution.mean == pytest.approx(on_list.total(gains), abs=1e-12)


def test_an_endless_list_is_a_very_long_one() -> None:
    gains = R10
    for first in ("forward", "stop"):
        for loss in (0.0, 0.3, 1.0):
            for effort in ("h", "log"):
                endless = Walk(0.6, 0.3, first=first, beyond="endless", utility=Utility(loss), effort=Effort(effort))
                long, padded = reference.lengthened(0.6, 0.3, gains, 150, first)
                f = (lambda h: h) if effort == "h" else (lambda h: np.log2(h + 1))
                want = reference.expect(*long, padded, reference.losing(loss), f)
                on_list = endless.over(10)
                assert on_list.order1(gains) == pytest.approx(want.order1, abs=1e-11)
                assert on_list.order2(gains) == pytest.approx(want.order2, abs=1e-11)
                assert on_list.depth_var == pytest.approx(want.var_h, rel=1e-10)
                assert on_list.residual(40) == pytest.approx(
                    reference.moments_dense(*long, padded, distribution=False).visits[40:].sum() / want.mean_h, rel=1e-9
                )


# ---- long lists, and users who hardly ever stop

GOLDEN = json.loads((Path(__file__).parent / "golden" / "walk_mpmath.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: case["name"])
def test_long_walks_to_twelve_digits(case: dict[str, Any]) -> None:
    forward, back, gains, start = reference.rebuild(case)
    results = case["results"]
    for loss, want in results["loss"].items():
        user = Walk(list(forward), list(back), first=case["first"], start=start, utility=Utility(float(loss)))
        on_list = user.over(case["n"])
        assert on_list.expected_depth == pytest.approx(results["E[H]"], rel=1e-12)
        for rank, visits in results["visits"].items():
            assert on_list.visits[int(rank) - 1] == pytest.approx(visits, rel=1e-11, abs=1e-300)
        assert on_list.total(gains) == pytest.approx(want["E[T]"], rel=1e-12)
        assert on_list.order2(gains) == pytest.approx(want["order2"], rel=1e-12)
        assert on_list.order1(gains) == pytest.approx(want["order1"], abs=1e-12)


def test_weights_without_loss_sum_to_one() -> None:
    for p, q in [(0.5, 0.25), (0.49995, 0.49995), (0.9999, 0.00005), (0.1, 0.8999)]:
        weights = Walk(p, q).over(2000).order1_weights()
        assert weights.sum() == pytest.approx(1, abs=1e-12)
        assert (weights >= 0).all()


def test_the_probability_of_stopping_keeps_its_digits() -> None:
    # 1 - .3 - .6999 is .00010000000000010001 in doubles, .0001 + 1.1e-17 in truth
    from fractions import Fraction

    for p, q in [(0.3, 0.6999), (0.49995, 0.49995), (0.1, 0.8999), (0.7, 0.2999999)]:
        exact = float(1 - Fraction(p) - Fraction(q))
        assert stops(np.array([p]), np.array([q]))[0] == pytest.approx(exact, rel=1e-15)


def test_the_induced_chain_is_what_dense_algebra_says() -> None:
    rng = np.random.default_rng(3)
    for _ in range(30):
        n = int(rng.integers(2, 9))
        keep = rng.random(n) < 0.5
        keep[rng.integers(n)] = True
        p, q = rng.dirichlet([1, 1, 1], n).T[:2]
        user = Walk(list(p), list(q), start=rng.dirichlet(np.ones(n)))
        chain = user.chain(np.array([n]))
        moves = reference.transition(chain.forward[0], chain.back[0])
        a, b = np.flatnonzero(keep), np.flatnonzero(~keep)
        through = moves[np.ix_(a, b)] @ np.linalg.inv(np.eye(b.size) - moves[np.ix_(b, b)])
        want = moves[np.ix_(a, a)] + through @ moves[np.ix_(b, a)]
        back, loop, forward, stop, start, unseen = induced_birth_death_chain(chain, keep)
        got = np.diag(loop) + np.diag(forward[:-1], 1) + np.diag(back[1:], -1)
        np.testing.assert_allclose(got, want, atol=1e-14)
        np.testing.assert_allclose(got.sum(axis=1) + stop, 1, atol=1e-13)
        assert start.sum() + unseen == pytest.approx(1, abs=1e-13)


def test_ranks_nobody_comes_to() -> None:
    # with p = .5 and q = 0 rank i is reached with .5^(i-1): below 1e-18 from rank 61 on
    chain = Walk(0.5, 0.0).chain(np.array([1000]))
    assert reachable(chain) == 60
    on_list = Walk(0.5, 0.25).over(1000)
    assert on_list.cut().n < 100
    assert on_list.order1([0] * 500 + [1] * 500) == pytest.approx(0, abs=1e-16)


def test_many_lists_at_once_are_each_alone() -> None:
    user = Walk([0.5, 0.4, 0.3], 0.2)
    together = passages(user.chain(np.array([1, 4, 7])), np.array([0.0, 0.5]))
    for i, n in enumerate((1, 4, 7)):
        alone = passages(user.chain(np.array([n])), np.array([0.0, 0.5]))
        for name in ("hit", "away", "end"):
            np.testing.assert_allclose(getattr(together, name)[:n, i], getattr(alone, name)[:, 0], rtol=1e-15)


# ---- what is refused


def refuses(text: str, make: Any) -> None:
    with pytest.raises(amble.MeasureError, match=text):
        make()


def test_no_probabilities() -> None:
    refuses(r"p \+ q = 0.8 \+ 0.3 = 1.1 at rank 1", lambda: Walk(0.8, 0.3))
    refuses(r"= 1.1 at rank 2", lambda: Walk([0.5, 0.8], 0.3))
    refuses(r"p = -0.1 at rank 1", lambda: Walk(-0.1, 0.3))
    refuses(r"p = nan at rank 1", lambda: Walk(float("nan"), 0.3))
    refuses(r"q = 1.2 at rank 3", lambda: Walk(0.1, lambda rank: np.where(rank == 3, 1.2, 0.1)).over(5))
    refuses("expected a probability, or probabilities by rank or grade", lambda: Walk("often", 0.3))  # type: ignore[arg-type]
    refuses("the user never stops", lambda: Walk(0.5, 0.5, beyond="endless"))
    refuses("the user never stops", lambda: Walk(0.5, 0.5, per="endless"))
    refuses("the user never stops", lambda: Walk(0.0, 1.0))
    refuses("the user never stops", lambda: Walk({0: 0.0, 1: 0.4}, {0: 1.0, 1: 0.6}))
    refuses("beyond the list: the user never stops", lambda: Walk(1.0, 0.0, beyond="endless"))
    refuses("never stops: from rank 1 there is no way", lambda: Walk([1.0, 0.0, 0.1], [0.0, 1.0, 0.1]).over(3).visits)
    refuses("start: expected probabilities that sum to 1", lambda: Walk(0.5, 0.2, start=[0.5, 0.2]))
    refuses("first='back'", lambda: Walk(0.5, 0.2, first="back"))
    refuses("beyond='nothing'", lambda: Walk(0.5, 0.2, beyond="nothing"))
    refuses("per='topic'", lambda: Walk(0.5, 0.2, per="topic"))
    refuses("per='endless'", lambda: Walk({0: 0.5}, 0.2, per="endless"))
    refuses("not a function", lambda: Walk(lambda rank: 0.5 / rank, 0.2, beyond="endless").over(3))


def test_no_utility() -> None:
    refuses(r"g\(2, 1\) = 0.7 is more than g\(1, 1\) = 0.5", lambda: Utility(visits=[0.5, 0.7]))
    refuses(r"g\(1, 1\) is -1", lambda: Utility(visits=[-1.0]))
    refuses("loss=1.5", lambda: Utility(1.5))
    refuses("one of loss, visits, function and table", lambda: Utility(0.5, visits=[1]))
    rising = Utility(function=lambda k, y: y * k)
    refuses(r"g\(2, 1\) = 2 is more than g\(1, 1\) = 1", lambda: Walk(0.5, 0.25, utility=rising).over(3).order1([1]))


def test_no_effort() -> None:
    refuses("effort 'h-1'", lambda: Effort("h-1"))
    refuses(r"effort f\(1\) is 0", lambda: Walk(0.5, 0.25, effort=Effort(lambda h: h - 1)).over(3).order1([1]))
    refuses(r"effort f\(2\) = 0.5 is less than f\(1\) = 1", lambda: Effort(lambda h: 1 / h)(np.array([1.0, 2.0, 3.0])))


def test_no_exact_distribution() -> None:
    on_list = Walk(0.5, 0.25, utility=Utility(0.25)).over(10)
    with pytest.raises(NoExactDistributionError, match="history"):
        on_list.distribution(R10)
    with pytest.raises(NoExactDistributionError, match="history"):
        on_list.total_distribution(R10)
    with pytest.raises(OverBudgetError, match="budget"):
        Walk(0.5, 0.49).over(100).distribution([1] * 100, budget=10_000)
    with pytest.raises(NoExactDistributionError, match="no multiples of one number"):
        Walk(0.5, 0.25).over(3).distribution([1, 2**0.5])
    with pytest.raises(amble.MeasureError, match="for a loss, not for any utility"):
        Walk(0.5, 0.25, utility=Utility(visits=[1, 0.5])).over(3).total_var([1])


def test_gains_that_do_not_fit() -> None:
    on_list = Walk(0.5, 0.25).over(3)
    for gains in ([1, 1, 1, 1], [-1], [float("nan")]):
        refuses("expected at most 3 numbers", lambda gains=gains: on_list.total(gains))


def test_probabilities() -> None:
    assert Probabilities({0: 0.6, 2: 0.3}).at(4, np.array([np.nan, 1.0, 5.0, -2.0])).tolist() == [0.6, 0.6, 0.3, 0.6]
    assert Probabilities([0.5, 0.4]).outside == 0.4
    assert Probabilities({0: 0.6, 1: 0.2}).outside == 0.6


def test_nothing_given_is_changed() -> None:
    p, q, gains = [0.5, 0.4, 0.3], [0.1, 0.2, 0.3], np.array([1.0, 0.0, 2.0])
    start, grades = [0.5, 0.5], np.array([0.0, 1.0, 2.0])
    user = Walk(p, q, start=start)
    for _ in range(2):
        on_list = user.over(3, grades)
        answers = (
            on_list.order1(gains),
            on_list.order2(gains),
            on_list.total_var(gains),
            on_list.distribution(gains).mean,
        )
        assert answers == (
            user.over(3).order1(gains),
            user.over(3).order2(gains),
            user.over(3).total_var(gains),
            user.over(3).distribution(gains).mean,
        )
    assert (p, q, start) == ([0.5, 0.4, 0.3], [0.1, 0.2, 0.3], [0.5, 0.5])
    assert gains.tolist() == [1, 0, 2]


# ---- what once went wrong


def test_an_endless_list_does_not_depend_on_how_much_of_it_is_given() -> None:
    # the probabilities by rank hold at their ranks, also beyond a short list
    m = amble.parse("PH(p='0.5,0.5,0.5,0.9',q=0.05,end='endless')")
    assert m.value([1, 1]) == pytest.approx(m.value([1, 1, 0, 0, 0, 0]), abs=1e-13)
    second = amble.parse("PH(p='0.5,0.5,0.5,0.9',q=0.05,end='endless',order=2)")
    assert second.value([1]) == pytest.approx(second.value([1, 0, 0, 0, 0, 0]), abs=1e-13)
    scores = amble.evaluate({"1": {"a": 1}}, {"x": {"1": {"a": 1.0}}, "y": {"1": {"b": 2.0, "c": 1.0, "a": 0.5}}}, [m])
    assert scores["x", m][0] == pytest.approx(m.value([1]), abs=1e-13)


@pytest.mark.parametrize("order", [1, 2])
def test_a_trap_is_refused_for_many_lists_too(order: int) -> None:
    for text in ("p='0=1,1=0,2=0',q='0=0,1=1,2=0.5'", "p='1,0,0.5',q='0,1,0.2'"):
        refuses(
            "never stops: from rank", lambda text=text: amble.parse(f"PH({text},order={order})").value([0, 1, 1, 0])
        )


def test_never_is_never_whatever_the_rounding() -> None:
    for p, q in [(0.7, 0.3), (0.3, 0.7), (0.1, 0.9), (0.6, 0.4)]:
        refuses("never stops", lambda p=p, q=q: Walk(p, q, beyond="endless"))
        refuses("never stops", lambda p=p, q=q: Walk(p, q, per="endless"))
    refuses("never stops", lambda: Walk(lambda rank: 0.5 * (rank < 4), lambda rank: 1 - 0.5 * (rank < 4)).over(10))
    refuses("or none in 1e300 visits", lambda: Walk(0.1, 0.9).over(1000).visits)


@pytest.mark.parametrize(("p", "q"), [(0.7, 0.3), (0.5, 0.5), (0.3, 0.7)])
def test_the_end_of_the_list_stops_who_never_would(p: float, q: float) -> None:
    # m(k), the visits from the first to rank k to the first to k + 1 (or, at N, to the end): m(1) = 1, for she goes
    # forward there, and m(k) = 1 + q (m(k - 1) + m(k)), that is (1 + q m(k - 1)) / p
    times = [1.0]
    for _ in range(9):
        times.append((1 + q * times[-1]) / p)
    by_hand = sum(times)
    for walk in (Walk(p, q), Walk(lambda rank: p + 0 * rank, q), Walk({0: p, 1: p}, q)):
        on_list = walk.over(10, np.zeros(10) if walk.looks else None)
        assert on_list.expected_depth == pytest.approx(by_hand, rel=1e-12)
        np.testing.assert_allclose(on_list.last, [0.0] * 9 + [1.0], atol=1e-11)
    if p == 0.7:
        assert by_hand == pytest.approx(22.38, abs=0.005)
    # nothing is lost: where all documents are relevant, every visit gains 1
    m = amble.parse(f"PH(p={p},q={q},loss=0)")
    assert m.value([1] * 10) == pytest.approx(1.0, rel=1e-9)
    distribution = amble.simulate(m, R10, users=20_000, seed=3)
    assert abs(distribution.mean - m.value(R10)) < 5 * distribution.standard_error
    assert distribution.mean_visits == pytest.approx(by_hand, rel=0.05)


@pytest.mark.parametrize("form", ["h+1000", "h+1000000", "h^10", "h^0.05"])
def test_large_shifts_and_odd_powers_keep_their_digits(form: str) -> None:
    on_list = Walk(0.5, 0.25, effort=Effort(form)).over(10)
    distribution = on_list.distribution(R10)  # the same by the joint distribution
    assert on_list.order1(R10) == pytest.approx(distribution.mean, rel=1e-11)


def test_the_distribution_of_gain_ends() -> None:
    # what was left was once found by subtraction, and never came to nothing
    on_list = Walk(0.2247091874128017, 0.7734837208663741).over(11)
    gains = [1, 1, 1, 2, 2, 0, 2, 1, 2, 2, 0]
    distribution = on_list.total_distribution(gains)
    assert distribution.mean == pytest.approx(on_list.total(gains), rel=1e-12)
    assert distribution.var == pytest.approx(on_list.total_var(gains), rel=1e-9)


def test_a_distribution_too_large_to_hold_is_refused_before_it_is_made() -> None:
    for gains, loss, n in (([1, 2.0**40], 0.0, 2), ([1, 2.0**70], 0.0, 2), ([1, 2.0**25, 0, 1], 0.0, 4)):
        with pytest.raises(NoExactDistributionError):
            Walk(0.5, 0.25, utility=Utility(loss)).over(n).distribution(gains)
    with pytest.raises(NoExactDistributionError):
        Walk(1.0, 0.0, utility=Utility(1.0)).over(5000).distribution([1], budget=10_000_000)


def test_the_share_of_visits_far_out() -> None:
    # each rank beyond has the same share of the one before, so far out it is a power
    on_list = Walk(0.6, 0.3, beyond="endless").over(5)
    near = Walk(0.6, 0.3, beyond="endless").over(60)
    for k in (5, 6, 17, 60):
        assert on_list.residual(k) == pytest.approx(near.residual(k), rel=1e-11)
    assert on_list.residual(10**7) == 0


def test_wrong_types() -> None:
    for make in (
        lambda: Effort(5),  # type: ignore[arg-type]
        lambda: Effort("h+" + "9" * 320),
        lambda: Effort("h^" + "9" * 320),
        lambda: Effort("h^0.0000001"),
        lambda: Effort("h+٣"),
        lambda: Utility("a"),  # type: ignore[arg-type]
        lambda: Utility(visits="ab"),  # type: ignore[arg-type]
        lambda: Utility(function=lambda k, y: (y + 1) / k),
        lambda: Utility(function=lambda k, y: 1 / 0),
        lambda: Walk(0.5, 0.2, start="ab"),  # type: ignore[arg-type]
        lambda: Walk({float("nan"): 0.5}, 0.2),
        lambda: Walk().over(2.7),  # type: ignore[arg-type]
        lambda: Walk().over("a"),  # type: ignore[arg-type]
        lambda: Walk().over(-5),
        lambda: Walk({0: 0.5, 1: 0.1}).over(3, [0] * 5),
        lambda: Walk().over(3).residual(2.5),  # type: ignore[arg-type]
        lambda: Walk(0.5, 0.2, effort=Effort(lambda h: h[:2])).over(3).order1([1]),
        lambda: amble.parse("PH").distribution(R10, users="a"),  # type: ignore[arg-type]
    ):
        refuses(".", make)


def test_who_stops_instead_of_going_back_from_rank_1_does_stop() -> None:
    # p = 0, q = 1: at rank 1 the step back is a stop, so H = 1 and she gains what is there
    for order in (1, 2):
        m = amble.parse(f"PH(p=0,q=1,first='stop',order={order})")
        assert (m.value([1, 0, 1]), m.value([0, 1, 1])) == pytest.approx((1, 0), abs=1e-12)
    # from rank 3 she goes back to rank 1: three visits
    assert Walk(0.0, 1.0, first="stop", start=[0, 0, 1]).over(3).expected_depth == pytest.approx(3, abs=1e-12)
    # p = q = 1/2, stopping at 0 and 4: from rank 1 of 3 there are 1 x 3 visits (gambler's ruin)
    assert Walk(0.5, 0.5, first="stop").over(3).expected_depth == pytest.approx(3, abs=1e-12)
    half = Walk(lambda rank: 0.5 * (rank < 4), lambda rank: 1 - 0.5 * (rank < 4), first="stop").over(10)
    # rank 4 sends her back: reflected there, from rank 1 of 4, x (2 x 4 - x) = 7 visits
    assert half.expected_depth == pytest.approx(7, abs=1e-12)


@pytest.mark.parametrize("wrong", [np.nan, 2.0])
def test_a_walk_that_loses_count_of_its_users_ends(wrong: float) -> None:
    """A bug elsewhere (probabilities that are none) is an error at once, not a loop without an end."""
    p, q, s, start = np.array([wrong, 0.0]), np.array([0.0, 0.5]), np.array([0.5, 0.5]), np.array([1.0, 0.0])
    chain = BirthDeathChain(p[None], q[None], s[None], start[None], None)
    units = np.array([1, 1])
    for follow in (
        lambda: WalkOnList(chain)._stopping(),
        lambda: joint_kept(same_steps(p, q, s), start, units),
        lambda: joint_once(same_steps(p, q, s), start, np.ones(2)),
        lambda: distribution_of_gain(q, np.zeros(2), p, s, start, units),
    ):
        with pytest.raises(RuntimeError, match="internal error: a share .* of the users still walks"):
            follow()


def test_who_would_start_beyond_the_list_starts_at_its_end() -> None:
    # starts at rank 1, 2, 3 with .2, .3, .5; two documents: .2 and .8. From rank 1 half go on: .8 + .5 x .2 = .9 visits
    walk = Walk(0.5, 0.0, start=[0.2, 0.3, 0.5]).over(2)
    assert walk.visits == pytest.approx([0.2, 0.9], abs=1e-15)
    assert walk.last == pytest.approx([0.1, 0.9], abs=1e-15)


@pytest.mark.parametrize("going", [0.0, 0.3, 0.85, 0.97, 0.999])
@pytest.mark.parametrize("shift", [0, 1, 3])
def test_few_nodes_are_exact_where_users_stop_soon(going: float, shift: int) -> None:
    # users who stop with 1 - r after every visit: A(z) = (1 - r) / (1 - r z), E[1 / (H + c)] by its sum
    effort = Effort("h" if shift == 0 else f"h+{shift}")
    x, weight = effort.nodes(1 / (1 - going), lambda: 0, going)
    many = effort.nodes(1 / (1 - going), lambda: 0)[0].size
    assert x.size < many or going > 0.99
    assert going > 0 or x.size < 20
    found = float(weight @ ((1 - going) / (1 - going * np.exp(-x))))
    if going == 0:
        exact = 1 / (1 + shift)
    else:
        visits = range(1, 40_000)  # 0.999^40000 is 4e-18
        exact = math.fsum((1 - going) * going ** (h - 1) / (h + shift) for h in visits)
    assert found == pytest.approx(exact, abs=3e-15, rel=3e-14)
