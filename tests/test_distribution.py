"""Distributions: moments, quantiles, mixtures, dominance."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import amble
from amble import Distribution

Atoms = list[tuple[int, int]]
ATOMS = st.lists(st.tuples(st.integers(-3, 4), st.integers(1, 6)), min_size=1, max_size=5)  # value × 2, weight


def distribution_of(atoms: Atoms) -> Distribution:
    total = sum(n for _, n in atoms)
    return Distribution([v / 2 for v, _ in atoms], [n / total for _, n in atoms])


def exact_cdf(atoms: Atoms, x: Fraction) -> Fraction:
    return Fraction(sum(n for v, n in atoms if Fraction(v, 2) <= x), sum(n for _, n in atoms))


def exact_integral(atoms: Atoms, x: Fraction) -> Fraction:
    return sum(n * max(x - Fraction(v, 2), Fraction(0)) for v, n in atoms) / Fraction(sum(n for _, n in atoms))


DENSE = [Fraction(k, 8) for k in range(-16, 25)]  # from -2 to 3 in eighths; atoms are halves from -1.5 to 2


def brute(a: Atoms, b: Atoms, order: str) -> str:
    curve = exact_cdf if order == "first" else exact_integral
    gaps = [curve(a, x) - curve(b, x) for x in DENSE]
    worse, better = any(gap > 0 for gap in gaps), any(gap < 0 for gap in gaps)
    return "incomparable" if worse and better else "less" if worse else "greater" if better else "equal"


def test_by_hand() -> None:
    # values 0, 1/2, 1 with 1/4, 1/4, 1/2: mean 5/8, E[x^2] = 1/16 + 1/2 = 9/16, var 9/16 - 25/64 = 11/64
    distribution = Distribution([1, 0.5, 0, 1], [0.25, 0.25, 0.25, 0.25])
    assert distribution.values.tolist() == [0, 0.5, 1]
    assert distribution.probs.tolist() == [0.25, 0.25, 0.5]
    assert distribution.mean == 5 / 8
    assert distribution.var == pytest.approx(11 / 64)
    assert distribution.cdf([-1, 0, 0.4, 0.5, 2]).tolist() == [0, 0.25, 0.25, 0.5, 1]
    assert distribution.quantile([0, 0.25, 0.26, 0.5, 0.51, 1]).tolist() == [0, 0, 0.5, 0.5, 1, 1]
    assert distribution.band == 0
    # 1 - 1/3 is more than 2/3 by rounding: two thirds have at most 1
    assert 1 - 1 / 3 > 2 / 3
    assert Distribution([0, 1, 2], [1 / 3] * 3).quantile(1 - 1 / 3) == 1


def test_dominance() -> None:
    low, high = Distribution([0, 1], [0.5, 0.5]), Distribution([0, 1], [0.4, 0.6])
    middle = Distribution([0.5], [1.0])
    assert low.compare(high) == "less"
    assert high.compare(low) == "greater"
    assert low.compare(Distribution([1, 0], [0.5, 0.5])) == "equal"
    assert low.compare(middle) == middle.compare(low) == "incomparable"
    assert low.distance(high) == pytest.approx(0.1)


def test_band() -> None:
    # Dvoretzky-Kiefer-Wolfowitz: sqrt(ln(2 / .05) / (2 n)) with n = 1000
    assert Distribution([1], [1], users=1000).band == pytest.approx(np.sqrt(np.log(40) / 2000))


@pytest.mark.parametrize(
    ("values", "probs", "message"),
    [
        ([], [], "as many values as probabilities"),
        ([1], [0.5, 0.5], "as many values as probabilities"),
        ([1, 2], [0.5, 0.6], "sum to 1, found 1.1"),
        ([1, 2], [1.5, -0.5], "non-negative"),
        ([np.nan], [1], "must be finite"),
        ([1e200], [1], "below 1e.150"),  # its square is not
    ],
)
def test_no_distribution(values: list[float], probs: list[float], message: str) -> None:
    with pytest.raises(amble.MeasureError, match=message):
        Distribution(values, probs)


@pytest.mark.parametrize("share", [1.5, -0.1, np.nan, [0.5, np.nan], "a", [0.5, None, "b"], {}])
def test_quantile_outside(share: object) -> None:
    with pytest.raises(amble.MeasureError, match="between 0 and 1"):
        Distribution([1], [1]).quantile(share)


@given(st.lists(st.tuples(st.integers(-5, 5), st.integers(1, 9)), min_size=1, max_size=8))
def test_against_a_sample(atoms: list[tuple[int, int]]) -> None:
    sample = np.repeat([v for v, _ in atoms], [n for _, n in atoms])
    distribution = Distribution([v for v, _ in atoms], [n / sample.size for _, n in atoms])
    assert distribution.mean == pytest.approx(sample.mean(), abs=1e-12)
    assert distribution.var == pytest.approx(sample.var(), abs=1e-10)
    for x in range(-6, 7):
        assert distribution.cdf(x) == pytest.approx((sample <= x).mean(), abs=1e-12)
    for u in (0.1, 0.5, 0.9, 1.0):
        assert distribution.quantile(u) == np.quantile(sample, u, method="inverted_cdf")


def test_simulation_is_seeded_and_pure() -> None:
    grades = [1, 0, 2, np.nan]
    before = list(grades)
    one, two = (amble.simulate("ERR", grades, users=5000, seed=3) for _ in range(2))
    assert one.values.tolist() == two.values.tolist()
    assert one.probs.tolist() == two.probs.tolist()
    assert grades[:3] == before[:3]
    assert amble.simulate("ERR", grades, users=5000, seed=4).probs.tolist() != one.probs.tolist()
    with pytest.raises(amble.MeasureError, match="users=0"):
        amble.simulate("AP", [1], users=0)
    with pytest.raises(amble.MeasureError, match="bpref is not a user"):
        amble.simulate("bpref", [1])


MIRROR = {"less": "greater", "greater": "less", "equal": "equal", "incomparable": "incomparable"}


def test_mixture_by_hand() -> None:
    one, two = Distribution([0, 1], [0.5, 0.5]), Distribution([0.5, 1], [0.5, 0.5])
    distribution = Distribution.mixture([one, two])
    assert distribution.values.tolist() == [0, 0.5, 1]
    assert distribution.probs.tolist() == [0.25, 0.25, 0.5]
    assert distribution.users is None
    assert distribution.band == distribution.standard_error == 0
    # 0.2 of the users from one, 0.8 from two: 0 with 0.1, 0.5 with 0.4, 1 with 0.1 + 0.4
    assert Distribution.mixture(iter([one, two]), [0.2, 0.8]).probs == pytest.approx([0.1, 0.4, 0.5])
    assert Distribution.mixture([one, two], [0, 1]).compare(two) == "equal"
    assert one.sd == 0.5


def test_mixture_of_simulations() -> None:
    exact, one, two = (
        Distribution([1], [1]),
        Distribution([0, 1], [0.5, 0.5], users=100),
        Distribution([0, 1], [0.5, 0.5], users=401),
    )
    # two simulated parts, each with a band at .05 / 2, that is ln(2 × 2 / .05) = ln 80
    wide = 0.25 * np.sqrt(np.log(80) / 200) + 0.25 * np.sqrt(np.log(80) / 802)
    distribution = Distribution.mixture([exact, one, two], [0.5, 0.25, 0.25])
    assert distribution.band == pytest.approx(wide)
    assert distribution.users == 100
    assert "100 users" in repr(distribution)
    # sd 0.5; 0.5 / sqrt(99) and 0.5 / sqrt(400)
    assert distribution.standard_error == pytest.approx(0.25 * 0.5 / np.sqrt(99) + 0.25 * 0.5 / 20)
    # a mixture of mixtures is the mixture of all parts
    nested = Distribution.mixture([exact, Distribution.mixture([one, two])])
    assert nested.band == pytest.approx(wide)
    assert nested.standard_error == pytest.approx(distribution.standard_error)
    # what has no weight does not widen the band
    assert Distribution.mixture([one, two], [1, 0]).band == one.band
    assert np.isnan(Distribution([1], [1], users=1).standard_error)


@pytest.mark.parametrize("common", [True, False])
def test_band_of_a_mixture_holds(common: bool) -> None:
    """In 19 of 20 repetitions at least, whether the same users walk all lists or others do."""
    rng = np.random.default_rng(5)
    exact = [Distribution(np.arange(k), np.full(k, 1 / k)) for k in (2, 3, 7)]
    truth, users, held = Distribution.mixture(exact), 200, 0
    for _ in range(400):
        draws = [rng.random(users)] * 3 if common else [rng.random(users) for _ in exact]
        found = [
            Distribution(distribution.quantile(u), np.full(users, 1 / users), users=users)
            for distribution, u in zip(exact, draws, strict=True)
        ]
        mixed = Distribution.mixture(found)
        held += mixed.distance(truth) <= mixed.band
    assert held >= 380


@pytest.mark.parametrize(
    ("distributions", "weights", "message"),
    [
        ([], None, "needs distributions, found none"),
        ([Distribution([1], [1]), 3], None, "needs distributions, found int"),
        (7, None, "needs distributions, found int"),
        ([Distribution([1], [1])], [0.5, 0.5], "1 distributions needs 1 weights.* found 2 with the sum 1"),
        ([Distribution([1], [1])] * 2, [0.5, 0.6], "sum to 1; found 2 with the sum 1.1"),
        ([Distribution([1], [1])] * 2, [1.5, -0.5], "non-negative"),
        ([Distribution([1], [1])] * 2, [np.nan, 1], "sum to 1"),
    ],
)
def test_no_mixture(distributions: object, weights: list[float] | None, message: str) -> None:
    with pytest.raises(amble.MeasureError, match=message):
        Distribution.mixture(distributions, weights)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda distribution: distribution.compare(distribution, order="third"),
            "order='third': expected one of 'first', 'second'",
        ),
        (lambda distribution: distribution.compare(distribution, -1), "tolerance=-1: expected a number of at least 0"),
        (lambda distribution: distribution.compare(distribution, np.nan), "tolerance=nan"),
        (lambda distribution: distribution.compare(3), "compared with a distribution, found int"),
        (lambda distribution: distribution.dominance("x"), "compared with a distribution, found str"),
        (lambda distribution: distribution.band_at(1), "confidence=1: expected a number of at least 0 and below 1"),
        (lambda distribution: Distribution([1], [1], users=0), "users=0: expected a whole number of at least 1"),
    ],
)
def test_bad_questions(call, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(amble.MeasureError, match=message):
        call(Distribution([1], [1]))


def test_second_order_by_hand() -> None:
    # risky: integral of the cdf up to x is x / 2 on [0, 1]; sure: 0 up to 1/2, then x - 1/2. x / 2 >= x - 1/2 up to 1
    risky, sure = Distribution([0, 1], [0.5, 0.5]), Distribution([0.5], [1])
    assert risky.compare(sure, order="second") == "less"
    assert sure.compare(risky, order="second") == "greater"
    # mean 1/2 against 3/8, but sure of 3/8: x / 2 at 3/8 is 3/16 > 0, and at 1 it is 1/2 < 5/8
    assert risky.compare(Distribution([0.375], [1]), order="second") == "incomparable"
    # below 0 and above 1: -1 or 3 (mean 1) against 0 or 2 (mean 1). At 0 1/2 > 0; at 2 3/2 > 1; at 3 2 = 2
    assert Distribution([-1, 3], [0.5, 0.5]).compare(Distribution([0, 2], [0.5, 0.5]), order="second") == "less"
    assert Distribution([-1, 3], [0.5, 0.5]).compare(Distribution([5], [1]), order="second") == "less"


def test_two_runs_of_the_stopping_time_paper() -> None:
    # Ferrante and Ferro (2020), Figure 1b: AP stops at a relevant document, each with 1/4, and takes its precision.
    # r: 1/1, 2/4, 3/7, 4/10, mean 0.5821 (printed 0.58); s: 1/2, 2/3, 3/4, 4/5, mean 0.6792 (printed 0.68).
    #
    #   x     0.4   3/7   0.5   2/3   0.75  0.8   1
    #   F_r   1/4   1/2   3/4   3/4   3/4   3/4   1
    #   F_s   0     0     1/4   1/2   3/4   1     1      r above s up to 0.75, equal up to 0.8, then s above r
    #
    # They cross at 0.75, as the paper has it. Quarters of users, worst first: 0.4 < 1/2, 3/7 < 2/3, 1/2 < 3/4, 1 > 4/5.
    # So r is better for one user in four; the paper reads roughly 20 % from its figure of 100,000 simulated users.
    # Integrals: r is 1/4 (3/7 - 0.4) + 1/2 (1/2 - 3/7) + ... ahead up to 0.75, by more than the 1/4 (1 - 0.8) = 0.05 it
    # loses after: at the end it is 0.6792 - 0.5821 = 0.0970 ahead. So s is better by the second order.
    ap = amble.parse("AP")
    r, s = ap.distribution([1, 0, 0, 1, 0, 0, 1, 0, 0, 1]), ap.distribution([0, 1, 1, 1, 1, 0, 0, 0, 0, 0])
    found = r.dominance(s)
    assert (found.verdict, found.second) == ("incomparable", "less")
    assert found.crossings.tolist() == [0.75]
    assert (found.better, found.worse, found.same, found.gap) == (0.25, 0.75, 0, 0.5)
    back = s.dominance(r)
    assert (back.verdict, back.second, back.better, back.worse) == ("incomparable", "greater", 0.75, 0.25)
    assert back.crossings.tolist() == [0.75]
    # Figure 1a, precision at 10: both 0.4 for everyone
    p = amble.parse("P@10")
    same = p.distribution([1, 0, 0, 1, 0, 0, 1, 0, 0, 1]).dominance(p.distribution([0, 1, 1, 1, 1, 0, 0, 0, 0, 0]))
    assert (same.verdict, same.second, same.same, same.gap, same.crossings.size) == ("equal", "equal", 1, 0, 0)


def test_crossings_by_hand() -> None:
    # F_a: 0.5 from 0, 1 from 2. F_b: 1 from 1. a above on [0, 1), b above on [1, 2): they cross at 1
    a, b = Distribution([0, 2], [0.5, 0.5]), Distribution([1], [1])
    assert a.dominance(b).crossings.tolist() == [1]
    # with the tolerance 0.5 nothing is left
    assert a.dominance(b, 0.5) == ("equal", "equal", pytest.approx(np.array([])), 0.5, 0.5, 0, 0.5)
    # two crossings: a above on [0, 1), b on [1, 3), a on [3, 4): a has 0, 3, 3 and b has 1, 1, 4
    a, b = Distribution([0, 3], [1 / 3, 2 / 3]), Distribution([1, 4], [2 / 3, 1 / 3])
    assert a.dominance(b).crossings.tolist() == [1, 3]
    # above by 0.3 on [0, 1), by 0.01 on [2, 2.5), below by 0.69 on [2.8, 3): the second stretch of equality counts, and
    # with a tolerance of 0.05 all from 1 to 2.8 is equality
    a, b = Distribution([0, 2, 3], [0.3, 0.01, 0.69]), Distribution([1, 2.5, 2.8], [0.3, 0.01, 0.69])
    assert a.dominance(b).crossings.tolist() == [2.5]
    assert a.dominance(b, 0.05).crossings.tolist() == [1]


def test_what_simulation_explains_is_not_held_against_a_verdict() -> None:
    # the cdfs differ by 0.02 at 0 one way, by 0.2 at 1 the other way; two bands of 10,000 users: 2 × 0.01358
    a, b = ([0, 1, 2], [0.12, 0.2, 0.68]), ([0, 1, 2], [0.1, 0.42, 0.48])
    assert Distribution(*a).compare(Distribution(*b)) == "incomparable"
    assert Distribution(*a, users=10_000).compare(Distribution(*b, users=10_000)) == "greater"
    assert Distribution(*a, users=10_000).compare(Distribution(*b)) == "incomparable"  # one band only: 0.01358 < 0.02
    assert Distribution(*a, users=10_000).compare(Distribution(*b, users=10_000), 1e-12) == "incomparable"
    assert Distribution(*a, users=100).compare(Distribution(*b, users=100)) == "equal"  # 2 × 0.1358 > 0.2


def test_rounding_does_not_decide() -> None:
    # 0.1 + 0.2 is not 0.3: neither as a sum of probabilities nor as a value
    a, b = Distribution([0, 1, 2], [0.1, 0.2, 0.7]), Distribution([0, 0.5, 1, 2], [0.1, 1e-17, 0.2, 0.7])
    found = a.dominance(b)
    assert (found.verdict, found.second, found.same, found.better) == ("equal", "equal", pytest.approx(1), 0)
    c, d = Distribution([0.1 + 0.2, 1], [0.5, 0.5]), Distribution([0.3, 1], [0.5, 0.5])
    for one, two in ((c, d), (d, c)):
        found = one.dominance(two)
        assert (found.verdict, found.second, found.same, found.gap) == ("equal", "equal", 1, 0)
        assert one.distance(two) == 0
    # a million equal atoms, added one by one or by tens
    n = 10**6
    many, few = (
        Distribution(np.arange(n), np.full(n, 1 / n)),
        Distribution(np.arange(0, n, 10), np.full(n // 10, 10 / n)),
    )
    coarse = Distribution(np.arange(n) // 10 * 10, np.full(n, 1 / n))
    assert few.compare(coarse) == coarse.compare(few) == few.compare(coarse, order="second") == "equal"
    found = few.dominance(coarse)
    assert (found.better, found.worse) == (0, 0)
    assert few.compare(many) == few.compare(many, order="second") == "less"
    assert many.cdf(n) == 1


@given(ATOMS, ATOMS)
def test_against_fractions(a: Atoms, b: Atoms) -> None:
    one, two = distribution_of(a), distribution_of(b)
    found, back = one.dominance(two), two.dominance(one)
    assert found.verdict == one.compare(two) == brute(a, b, "first")
    assert found.second == one.compare(two, order="second") == brute(a, b, "second")
    assert (back.verdict, back.second) == (MIRROR[found.verdict], MIRROR[found.second])
    if found.verdict in ("less", "greater"):  # the first order implies the second, and that of means
        assert found.second == found.verdict
    if found.second == "less":
        assert one.mean <= two.mean + 1e-12
    # users, paired from the worst to the best: as many of each distribution as the product of the totals
    m, n = sum(k for _, k in a), sum(k for _, k in b)
    mine = sorted(v for v, k in a for _ in range(k * n))
    theirs = sorted(v for v, k in b for _ in range(k * m))
    better, worse = (
        sum(f(x, y) for x, y in zip(mine, theirs, strict=True)) / (m * n) for f in (int.__gt__, int.__lt__)
    )
    assert (found.better, found.worse) == (pytest.approx(better), pytest.approx(worse))
    assert found.better + found.worse + found.same == pytest.approx(1, abs=1e-12)
    assert (back.better, back.worse, back.same) == pytest.approx((found.worse, found.better, found.same), abs=1e-11)
    # the difference of the cdfs, everywhere
    gaps = [exact_cdf(a, x) - exact_cdf(b, x) for x in DENSE]
    assert found.gap == pytest.approx(float(max(map(abs, gaps))), abs=1e-12)
    signed = [(k, gap > 0) for k, gap in enumerate(gaps) if gap]
    crossings = [float(DENSE[k + 1]) for (k, now), (_, then) in pairwise(signed) if now != then]
    assert found.crossings.tolist() == crossings == back.crossings.tolist()
    assert bool(crossings) == (found.verdict == "incomparable")


@given(ATOMS, ATOMS, st.floats(0, 0.5))
def test_a_tolerance_mirrors(a: Atoms, b: Atoms, tolerance: float) -> None:
    one, two = distribution_of(a), distribution_of(b)
    for order in ("first", "second"):
        assert one.compare(two, tolerance, order) == MIRROR[two.compare(one, tolerance, order)]
    if one.compare(two, tolerance) in ("less", "equal"):  # then the second order finds nothing to the contrary
        assert one.compare(two, tolerance, "second") in ("less", "equal")
    assert (one.compare(two, tolerance) == "incomparable") == bool(one.dominance(two, tolerance).crossings.size)


@given(st.lists(ATOMS, min_size=1, max_size=4))
def test_mixture_is_linear(many: list[Atoms]) -> None:
    distributions = [distribution_of(atoms) for atoms in many]
    before = [
        (distribution.values.tolist(), distribution.probs.tolist(), distribution.users)
        for distribution in distributions
    ]
    mixed = Distribution.mixture(distributions)
    x = np.linspace(-3, 3, 25)
    assert mixed.cdf(x) == pytest.approx(
        np.mean([distribution.cdf(x) for distribution in distributions], axis=0), abs=1e-12
    )
    assert mixed.mean == pytest.approx(np.mean([distribution.mean for distribution in distributions]), abs=1e-12)
    distributions[0].dominance(distributions[-1])
    assert before == [
        (distribution.values.tolist(), distribution.probs.tolist(), distribution.users)
        for distribution in distributions
    ]
    assert Distribution.mixture([distributions[0]] * 3).compare(distributions[0]) == "equal"
