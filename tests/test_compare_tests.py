"""Every test, interval and correction, compared with another source: scipy, statsmodels, a textbook, or all cases."""

from __future__ import annotations

import itertools
import math
import statistics
import subprocess
import sys
import warnings
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats
from drawing import examples
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import amble
from amble.comparison.corrections import adjust
from amble.comparison.p_values import smallest_attainable
from amble.comparison.resampling import topic_counts
from amble.comparison.tukey import critical_difference, critical_range, dealt_ranges, exceeds, range_p

Array = NDArray[np.float64]
SIDES = {"two": "two-sided", "greater": "greater", "less": "less"}

# Student (1908), "The probable error of a mean": additional hours of sleep gained by ten patients with two drugs; as
# R prints it (t.test(extra ~ group, data = sleep, paired = TRUE)), signs turned: t = 4.0621, df = 9, p = 0.002833,
# 95 % interval 0.7001142 to 2.4598858, mean of the differences 1.58
DRUG1 = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
DRUG2 = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]

# Darwin's maize (Fisher, 1935, "The design of experiments", sections 17 to 21): 15 pairs of plants, crossed less
# self-fertilised, in eighths of an inch; the sum is 314
MAIZE = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]

# Hollander and Wolfe (1973), page 29: a depression scale of nine patients before and after; as R's example prints it
# (wilcox.test(x, y, paired = TRUE, alternative = "greater")): V = 40, p = 0.01953
BEFORE = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30]
AFTER = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29]

# Benjamini and Hochberg (1995), section 3.2: fifteen p-values; at .05 Bonferroni finds three, their procedure four
ENDPOINTS = [
    *(0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459),
    *(0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000),
]


def of(*systems: Any) -> dict[str, dict[str, float]]:
    """Scores of systems a, b, …, by topic."""
    return {
        chr(97 + i): {f"t{t:04d}": float(x) for t, x in enumerate(values) if not math.isnan(x)}
        for i, values in enumerate(systems)
    }


def pair(x: Any, y: Any, **options: Any) -> amble.Comparison:
    return amble.compare(of(x, y), correction="none", **options)


def drawn(kind: str, topics: int, seed: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    if kind == "graded":  # many ties and zeros, as P@10 has them
        return rng.integers(0, 11, topics) / 10, rng.integers(0, 11, topics) / 10
    if kind == "skewed":
        return rng.beta(0.5, 2, topics), rng.beta(0.6, 2, topics)
    return rng.normal(0.5, 0.2, topics), rng.normal(0.55, 0.25, topics)


KINDS = pytest.mark.parametrize("kind", ["normal", "skewed", "graded"])


# ---- Student's t


@KINDS
@pytest.mark.parametrize("sides", SIDES)
def test_t_is_scipys(kind: str, sides: str) -> None:
    for seed, topics in enumerate((2, 3, 10, 50, 300)):
        x, y = drawn(kind, topics, seed)
        found = pair(x, y, sides=sides, alpha=0.1)
        theirs = scipy.stats.ttest_rel(x, y, alternative=SIDES[sides])
        assert found.statistic[0] == pytest.approx(theirs.statistic, rel=1e-9)
        assert found.p[0] == pytest.approx(theirs.pvalue, rel=1e-9)
        interval = theirs.confidence_interval(0.9)
        assert (found.low[0], found.high[0]) == pytest.approx((interval.low, interval.high), rel=1e-9)


def test_t_of_student() -> None:
    found = pair(DRUG2, DRUG1)
    assert found.difference[0] == pytest.approx(1.58)
    assert found.statistic[0] == pytest.approx(4.0621, abs=5e-5)
    assert found.p[0] == pytest.approx(0.002833, abs=5e-7)
    assert (found.low[0], found.high[0]) == pytest.approx((0.7001142, 2.4598858), abs=5e-8)


def test_intervals_of_means_are_scipys() -> None:
    x, y = drawn("skewed", 20, 3)
    found = pair(x, y, alpha=0.01)
    for i, values in enumerate((x, y)):
        low, high = scipy.stats.t.interval(0.99, 19, values.mean(), scipy.stats.sem(values))
        assert (found.mean[i], found.mean_low[i], found.mean_high[i]) == pytest.approx((values.mean(), low, high))


# ---- Wilcoxon's signed ranks


@pytest.mark.parametrize("sides", SIDES)
def test_wilcoxon_without_ties_is_scipys(sides: str) -> None:
    for seed, topics in enumerate((2, 3, 6, 25, 50)):
        x, y = drawn("normal", topics, seed)
        found = pair(x, y, test="wilcoxon", sides=sides)
        theirs = scipy.stats.wilcoxon(x, y, alternative=SIDES[sides], method="exact")
        assert found.p[0] == pytest.approx(theirs.pvalue, rel=1e-12)
        greater = scipy.stats.wilcoxon(x, y, alternative="greater", method="exact").statistic
        assert found.statistic[0] == pytest.approx(greater)
        assert found.how == "exact"


@pytest.mark.parametrize("sides", SIDES)
def test_wilcoxon_of_many_is_scipys_approximation(sides: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for kind in ("normal", "graded"):
            x, y = drawn(kind, 200, 5)
            x, y = np.round(x, 2), np.round(y, 2)
            # scipy ranks what it is given: differences without the noise of subtraction
            theirs = scipy.stats.wilcoxon(
                np.round(x - y, 6), alternative=SIDES[sides], zero_method="wilcox", correction=False, method="approx"
            )
            found = pair(x, y, test="wilcoxon", sides=sides)
            assert found.p[0] == pytest.approx(theirs.pvalue, rel=1e-9)
            assert found.how == "normal approximation"


@pytest.mark.parametrize("sides", SIDES)
def test_wilcoxon_with_ties_counts_all_signs(sides: str) -> None:
    for seed in range(20):
        x, y = drawn("graded", 9, seed)
        d = [Fraction(round(10 * a)) - Fraction(round(10 * b)) for a, b in zip(x, y, strict=True)]
        d = [value for value in d if value]
        sizes = sorted(abs(value) for value in d)
        # the mean of the ranks of equal ones
        rank = {s: Fraction(sum(k for k, z in enumerate(sizes, 1) if z == s), sizes.count(s)) for s in sizes}
        seen = sum((rank[abs(value)] for value in d if value > 0), Fraction(0))
        sums = [
            sum((rank[abs(v)] for v, sign in zip(d, signs, strict=True) if sign), Fraction(0))
            for signs in itertools.product((False, True), repeat=len(d))
        ]
        above = Fraction(sum(s >= seen for s in sums), len(sums))
        below = Fraction(sum(s <= seen for s in sums), len(sums))
        wanted = {"two": min(Fraction(1), 2 * min(above, below)), "greater": above, "less": below}[sides]
        found = pair(x, y, test="wilcoxon", sides=sides)
        assert found.statistic[0] == float(seen)
        assert found.p[0] == pytest.approx(float(wanted), rel=1e-14)


def test_wilcoxon_of_hollander_and_wolfe() -> None:
    found = pair(BEFORE, AFTER, test="wilcoxon", sides="greater")
    assert found.statistic[0] == 40
    # the others' ranks sum to 5; of the 512 sets of ranks ten sum to no more: none, 1, 2, 3, 1+2, 4, 1+3, 5, 1+4, 2+3
    assert found.p[0] == 10 / 512


# ---- the sign test


@KINDS
@pytest.mark.parametrize("sides", SIDES)
def test_sign_is_the_binomial_test(kind: str, sides: str) -> None:
    for seed, topics in enumerate((2, 5, 12, 50, 1001)):
        x, y = drawn(kind, topics, seed)
        d = np.round(x - y, 9)
        wins, losses = int((d > 0).sum()), int((d < 0).sum())
        found = pair(x, y, test="sign", sides=sides)
        wanted = 1.0
        if wins + losses:
            wanted = scipy.stats.binomtest(wins, wins + losses, alternative=SIDES[sides]).pvalue
        assert found.p[0] == pytest.approx(wanted, rel=1e-10)


def test_sign_of_darwins_maize() -> None:
    found = pair(MAIZE, [0] * 15, test="sign")
    assert (found.wins[0], found.ties[0], found.losses[0]) == (13, 0, 2)
    assert found.p[0] == pytest.approx(2 * (1 + 15 + 105) / 2**15)  # none, one or two of fifteen, on either side


# ---- sign flips


@KINDS
@pytest.mark.parametrize("sides", SIDES)
def test_permutation_counts_all_signs(kind: str, sides: str) -> None:
    for seed in range(8):
        x, y = drawn(kind, 3 + seed, seed)
        d = [Fraction(round((a - b) * 10**9), 10**9) for a, b in zip(x.tolist(), y.tolist(), strict=True)]
        x = np.array([float(v) for v in d])
        signs = itertools.product((-1, 1), repeat=len(d))
        sums = [sum(s * abs(v) for s, v in zip(sign, d, strict=True)) for sign in signs]
        seen = sum(d)
        extreme = {"two": [abs(s) >= abs(seen) for s in sums], "greater": [s >= seen for s in sums]}
        extreme["less"] = [s <= seen for s in sums]
        found = pair(x, np.zeros(x.size), test="permutation", sides=sides)
        assert found.p[0] == pytest.approx(sum(extreme[sides]) / len(sums), rel=1e-14)
        assert found.how == "all assignments of signs counted"


def test_permutation_of_darwins_maize() -> None:
    # Fisher, section 21: of 32,768 assignments 835 have a sum above 314, and 28 have that very sum
    assert pair(MAIZE, [0] * 15, test="permutation", sides="greater").p[0] == 863 / 2**15
    assert pair(MAIZE, [0] * 15, test="permutation").p[0] == 1726 / 2**15
    eighths = [x / 8 for x in MAIZE]
    tenths = [x / 10 for x in MAIZE]  # which are not whole in binary
    assert pair(eighths, [0] * 15, test="permutation").p[0] == 1726 / 2**15
    assert pair(tenths, [0] * 15, test="permutation").p[0] == 1726 / 2**15


@pytest.mark.parametrize("sides", SIDES)
def test_permutation_by_draws_is_near_what_is_exact(sides: str) -> None:
    x, y = drawn("skewed", 16, 7)
    exact = pair(x, y, test="permutation", sides=sides).p[0]
    for rounds in (100, 199):  # 2^8 = 256 sums of a half are more than these
        found = pair(x, y, test="permutation", sides=sides, rounds=rounds)
        assert found.how == f"{rounds} rounds, seed 0"
        assert 1 / (rounds + 1) <= found.p[0] <= 1
        assert float(found.p[0] * (rounds + 1)).is_integer() or round(found.p[0] * (rounds + 1), 9).is_integer()
        assert abs(found.p[0] - exact) < 4 * math.sqrt(exact * (1 - exact) / rounds) + 2 / rounds


def test_permutation_by_draws_is_scipys() -> None:
    x, y = drawn("normal", 40, 2)
    found = pair(x, y, test="permutation", rounds=20_000)
    theirs = scipy.stats.permutation_test(
        (x, y), lambda a, b, axis: (a - b).mean(axis), permutation_type="samples", vectorized=True, n_resamples=20_000
    )
    assert found.p[0] == pytest.approx(theirs.pvalue, abs=5 * math.sqrt(theirs.pvalue / 10_000))


def test_permutation_of_many_is_drawn() -> None:
    x, y = drawn("normal", 33, 1)
    assert pair(x[:32], y[:32], test="permutation", rounds=70_000).how == "all assignments of signs counted"
    assert pair(x, y, test="permutation", rounds=70_000).how == "70,000 rounds, seed 0"
    mixed = amble.compare(of(x, y, np.where(np.arange(33) < 10, x, y)), test="permutation", rounds=100)
    assert mixed.how == "100 rounds, seed 0; 1 of the pairs exactly"


def test_permutation_is_never_0() -> None:
    x = np.linspace(0.5, 1, 50)
    assert pair(x, np.zeros(50), test="permutation").p[0] == 1 / 10_001
    assert pair(x[:20], np.zeros(20), test="permutation").p[0] == 2 / 2**20


# ---- the bootstrap


def plain_bootstrap(d: list[float], draws: Any, sides: str) -> float:
    """Efron and Tibshirani's algorithm 16.2, in so many words."""

    def t(sample: list[float], less: float) -> float:
        deviation = statistics.stdev(sample)
        top = statistics.fmean(sample) - less
        if deviation < 1e-12:
            return 0.0 if abs(top) < 1e-12 else math.copysign(math.inf, top)
        return top / (deviation / math.sqrt(len(sample)))

    seen, b = t(d, 0.0), 0
    for counts in draws.tolist():
        star = t([x for x, k in zip(d, counts, strict=True) for _ in range(k)], statistics.fmean(d))
        b += {"two": abs(star) >= abs(seen), "greater": star >= seen, "less": star <= seen}[sides]
    return (b + 1) / (len(draws) + 1)


@KINDS
@pytest.mark.parametrize("sides", SIDES)
def test_bootstrap_in_so_many_words(kind: str, sides: str) -> None:
    for seed, topics in enumerate((4, 9, 30)):
        x, y = drawn(kind, topics, seed)
        found = pair(x, y, test="bootstrap", sides=sides, rounds=400, seed=seed)
        wanted = plain_bootstrap((x - y).tolist(), topic_counts(topics, 400, seed), sides)
        assert found.p[0] == pytest.approx(wanted, rel=1e-12)


def test_draws_are_with_replacement() -> None:
    draws = topic_counts(7, 1000, 3)
    assert (draws.sum(axis=1) == 7).all()
    # binomial(7, 1/7): mean 1, variance 6/7
    assert draws.mean() == 1
    assert draws.var() == pytest.approx(6 / 7, abs=0.05)


def plain_bca(d: list[float], draws: Any, probabilities: tuple[float, float]) -> list[float]:
    """Efron (1987), in so many words: bias by the draws below the mean, acceleration by the jackknife."""
    normal = statistics.NormalDist()
    n, mean = len(d), statistics.fmean(d)
    means = sorted(sum(x * k for x, k in zip(d, counts, strict=True)) / n for counts in draws.tolist())
    share = sum((m < mean - 1e-12) + (m <= mean + 1e-12) for m in means) / (2 * len(means))
    z0 = normal.inv_cdf(share)
    left = [statistics.fmean(d[:i] + d[i + 1 :]) for i in range(n)]
    middle = statistics.fmean(left)
    a = sum((middle - x) ** 3 for x in left) / (6 * sum((middle - x) ** 2 for x in left) ** 1.5)
    out = []
    for probability in probabilities:
        z = z0 + normal.inv_cdf(probability)
        out.append(float(np.quantile(means, normal.cdf(z0 + z / (1 - a * z)))))
    return out


@KINDS
def test_intervals_by_the_bootstrap(kind: str) -> None:
    x, y = drawn(kind, 25, 11)
    draws = topic_counts(25, 1000, 4)
    means = draws @ (x - y) / 25
    percentile = pair(x, y, interval="percentile", rounds=1000, seed=4, alpha=0.1)
    assert (percentile.low[0], percentile.high[0]) == pytest.approx(np.quantile(means, [0.05, 0.95]), rel=1e-9)
    bca = pair(x, y, test="bootstrap", rounds=1000, seed=4, alpha=0.1)
    assert bca.design.interval == "bca"
    assert [bca.low[0], bca.high[0]] == pytest.approx(plain_bca((x - y).tolist(), draws, (0.05, 0.95)), rel=1e-9)
    less = pair(x, y, test="bootstrap", rounds=1000, seed=4, alpha=0.1, sides="less")
    assert less.low[0] == -math.inf
    assert less.high[0] == pytest.approx(plain_bca((x - y).tolist(), draws, (0.1, 0.9))[1], rel=1e-9)


def test_an_acceleration_that_leaves_nothing() -> None:
    # one topic of 200 differs, by 1: the acceleration is .99 / (6 sqrt(.995)) = 1 / 6.05, and the end of 1 - 1e-10, at
    # z = 6.36, would be beyond all that is left of 1 - z / 6.05: it is the largest of the draws
    one = np.eye(200)[0]
    found = pair(one, 0 * one, test="bootstrap", rounds=1000, seed=4, alpha=2e-10)
    assert found.high[0] == pytest.approx(topic_counts(200, 1000, 4)[:, 0].max() / 200)


def test_intervals_by_the_bootstrap_are_near_scipys() -> None:
    x, y = drawn("skewed", 40, 12)
    d = x - y
    error = d.std(ddof=1) / math.sqrt(40)
    for how, theirs in (("percentile", "percentile"), ("bca", "BCa")):
        wanted = scipy.stats.bootstrap(
            (d,), np.mean, n_resamples=20_000, method=theirs, rng=np.random.default_rng(5)
        ).confidence_interval
        found = pair(x, y, interval=how, rounds=20_000)
        assert found.low[0] == pytest.approx(wanted.low, abs=0.06 * error)
        assert found.high[0] == pytest.approx(wanted.high, abs=0.06 * error)


# ---- effects


def test_effects_by_hand() -> None:
    # differences .1 .3 .2 .2 .0: mean .16, squares .0036 .0196 .0016 .0016 .0256 = .052, variance .013
    found = pair([0.5, 0.6, 0.7, 0.3, 0.2], [0.4, 0.3, 0.5, 0.1, 0.2])
    j = math.gamma(2) / (math.sqrt(2) * math.gamma(1.5))
    assert found.g[0] == pytest.approx(0.16 / math.sqrt(0.013) * j)
    assert (found.wins[0], found.ties[0], found.losses[0]) == (4, 1, 0)
    assert found.superiority[0] == pytest.approx((4 + 0.5) / 5)


def test_hedges_correction_is_near_the_usual_approximation() -> None:
    for topics in (10, 25, 50):
        x, y = drawn("normal", topics, topics)
        raw = (x - y).mean() / (x - y).std(ddof=1)
        assert pair(x, y).g[0] / raw == pytest.approx(1 - 3 / (4 * (topics - 1) - 1), abs=2e-3)


# ---- corrections

CHANCES = st.lists(st.floats(0, 1), min_size=1, max_size=30)
THEIRS = {
    "bonferroni": "bonferroni",
    "holm": "holm",
    "bh": "fdr_bh",
    "hochberg": "simes-hochberg",
    "hommel": "hommel",
    "by": "fdr_by",
}


@pytest.mark.parametrize("correction", THEIRS)
def test_corrections_are_those_of_statsmodels(correction: str) -> None:
    from statsmodels.stats.multitest import multipletests

    for seed, m in enumerate((1, 2, 3, 8, 15, 40)):
        p = np.random.default_rng(seed).random(m) ** 3
        p[: m // 3] = np.round(p[: m // 3], 1)  # some are equal, some 0
        theirs = multipletests(p, method=THEIRS[correction])[1]
        assert adjust(p, correction) == pytest.approx(theirs, rel=1e-12, abs=1e-300)


@given(p=CHANCES)
@examples(30)
def test_false_discoveries_are_scipys(p: list[float]) -> None:
    assert adjust(p, "bh") == pytest.approx(scipy.stats.false_discovery_control(p), rel=1e-12, abs=1e-300)


def test_corrections_of_benjamini_and_hochberg() -> None:
    found = {how: int((adjust(ENDPOINTS, how) <= 0.05).sum()) for how in ("bonferroni", "holm", "bh", "none")}
    assert found == {"bonferroni": 3, "holm": 3, "bh": 4, "none": 9}
    # 15 / 4 x .0095
    assert adjust(ENDPOINTS, "bh")[3] == pytest.approx(0.035625)


# ---- the studentised range, and the analysis of variance


@pytest.mark.parametrize(("k", "m"), [(2, 1), (3, 2), (3, 10), (5, 60), (20, 19), (50, 400), (129, 6272)])
def test_studentised_range_is_scipys(k: int, m: int) -> None:
    q = np.array([0.0, 0.2, 1.0, 2.5, 3.5, 5.0, 7.0])
    assert exceeds(q, k, m) == pytest.approx(scipy.stats.studentized_range.sf(q, k, m), rel=1e-7, abs=1e-9)
    # its own ppf looks for this, one sf after another
    assert scipy.stats.studentized_range.sf(critical_range(0.05, k, m), k, m) == pytest.approx(0.05, rel=1e-7)


def test_studentised_range_of_two_is_t() -> None:
    q = np.linspace(0.1, 60, 300)  # enough of them to be interpolated
    for m in (3, 30, 1000):
        wanted = 2 * scipy.stats.t.sf(np.minimum(q, 38.0) / math.sqrt(2), m)
        assert exceeds(q, 2, m) == pytest.approx(wanted, rel=1e-8)
        assert exceeds(q[:100], 2, m) == pytest.approx(2 * scipy.stats.t.sf(q[:100] / math.sqrt(2), m), rel=1e-9)


@pytest.mark.parametrize(("k", "m", "q"), [(3, 10, 3.877), (4, 20, 3.958), (10, 30, 4.824), (6, 120, 4.10)])
def test_studentised_range_of_the_tables(k: int, m: int, q: float) -> None:
    # upper 5 % points, Pearson and Hartley, "Biometrika tables for statisticians", volume 1, table 29
    assert critical_range(0.05, k, m) == pytest.approx(q, abs=0.006)


def test_anova_by_hand() -> None:
    # three systems on four topics; system means 3, 4, 8, topic means 3, 5, 5, 7, grand mean 5
    scores = of([1, 3, 3, 5], [2, 4, 3, 7], [6, 8, 9, 9])
    found = amble.anova(scores)
    system, topic = found.sources
    assert system.squares == pytest.approx(4 * (4 + 1 + 9))
    assert topic.squares == pytest.approx(3 * (4 + 0 + 0 + 4))
    total = sum((x - 5) ** 2 for values in scores.values() for x in values.values())  # 16+4+4+0 9+1+4+4 1+9+16+16 = 84
    assert found.error_squares == pytest.approx(total - 56 - 24)
    assert (system.freedom, topic.freedom, found.error_freedom) == (2, 3, 6)
    assert system.ratio == pytest.approx(28 / (4 / 6))
    assert topic.ratio == pytest.approx(8 / (4 / 6))
    # omega squared: (df (F - 1)) / (df (F - 1) + 12)
    assert system.omega_squared == pytest.approx(2 * 41 / (2 * 41 + 12))


def test_anova_is_that_of_statsmodels() -> None:
    import pandas as pd
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    rng = np.random.default_rng(8)
    values = rng.beta(2, 3, (5, 12)) + np.linspace(0, 0.2, 5)[:, None]
    scores = of(*values)
    frame = pd.DataFrame([(run, t, x) for run, row in scores.items() for t, x in row.items()], columns=["s", "t", "x"])
    theirs = anova_lm(ols("x ~ C(s) + C(t)", frame).fit())
    found = amble.anova(scores)
    for source, row in zip(found.sources, ("C(s)", "C(t)"), strict=True):
        wanted = theirs.loc[row]
        assert source.squares == pytest.approx(wanted["sum_sq"])
        assert source.freedom == wanted["df"]
        assert source.ratio == pytest.approx(wanted["F"])
        assert source.p == pytest.approx(wanted["PR(>F)"])
    assert found.error == pytest.approx(theirs.loc["Residual", "mean_sq"])
    # Tukey: |difference| / sqrt(error / topics), compared with the studentised range of 5 and 44
    compared = amble.compare(scores, test="anova", alpha=0.1)
    scale = math.sqrt(found.error / 12)
    q = np.abs(compared.difference) / scale
    assert compared.p == pytest.approx(scipy.stats.studentized_range.sf(q, 5, 44), rel=1e-6)
    assert compared.adjusted is not None
    width = scipy.stats.studentized_range.ppf(0.9, 5, 44) * scale
    assert compared.high - compared.difference == pytest.approx(np.full(10, width), rel=1e-6)


def test_anova_of_two_is_the_t_test() -> None:
    x, y = drawn("skewed", 30, 1)
    t, tukey = pair(x, y), amble.compare(of(x, y), test="anova")
    system = amble.anova(of(x, y)).sources[0]
    assert system.ratio == pytest.approx(t.statistic[0] ** 2)
    assert system.p == pytest.approx(t.p[0])
    assert tukey.p[0] == pytest.approx(t.p[0])
    assert (tukey.low[0], tukey.high[0]) == pytest.approx((t.low[0], t.high[0]))


# ---- Tukey's HSD by randomisation


def all_deals(values: Array) -> Array:
    """The range of the means under every deal of every topic."""
    topics = [list(itertools.permutations(column)) for column in values.T.tolist()]
    return np.array([np.ptp(np.sum(deal, axis=0)) / values.shape[1] for deal in itertools.product(*topics)])


def test_tukey_by_randomisation_counts_as_all_deals_do() -> None:
    for seed in range(4):
        values = np.random.default_rng(seed).integers(0, 9, (3, 4)) / 8
        exact = all_deals(values)
        assert exact.size == 6**4
        rounds = 20_000
        found = amble.compare(of(*values), test="tukey", rounds=rounds, seed=seed)
        for d, p in zip(found.difference.tolist(), found.p.tolist(), strict=True):
            share = 1.0 if d == 0 else float((exact >= abs(d) - 1e-12).mean())
            assert p == pytest.approx(share, abs=4 * math.sqrt(share * (1 - share) / rounds) + 1 / rounds)


def test_tukey_of_two_is_the_permutation_test() -> None:
    x, y = drawn("normal", 12, 4)
    exact = pair(x, y, test="permutation").p[0]
    found = amble.compare(of(x, y), test="tukey", rounds=40_000).p[0]
    assert found == pytest.approx(exact, abs=4 * math.sqrt(exact / 40_000))


@given(st.integers(0, 2**32), st.integers(1, 200), st.sampled_from([0.01, 0.05, 0.1, 0.5]))
@examples(60)
def test_intervals_of_tukey_leave_out_0_where_pairs_differ(seed: int, rounds: int, alpha: float) -> None:
    values = np.random.default_rng(seed).integers(0, 4, (4, 5)) / 3
    ranges = dealt_ranges(values, rounds, seed, lambda done, total: None)
    width = critical_difference(ranges, alpha)
    d = np.abs(values.mean(axis=1)[:, None] - values.mean(axis=1)).ravel()
    p = range_p(ranges, d, 1e-12)
    assert ((p <= alpha) == (d > width + 1e-12)).all()


RESAMPLED: list[Callable[..., amble.Comparison]] = [
    lambda x, y, seed: pair(x, y, test="permutation", seed=seed, rounds=500),
    lambda x, y, seed: pair(x, y, test="bootstrap", seed=seed, rounds=500),
    lambda x, y, seed: amble.compare(of(x, y), test="tukey", seed=seed, rounds=500),
]


@pytest.mark.parametrize("ask", RESAMPLED)
def test_same_seed_same_answer(ask: Callable[..., amble.Comparison]) -> None:
    x, y = drawn("normal", 40, 9)
    assert ask(x, y, 3).p[0] == ask(x, y, 3).p[0]
    assert len({float(ask(x, y, seed).p[0]) for seed in range(6)}) > 1


def test_script_of_errors_of_the_first_kind() -> None:
    script = Path(__file__).parent.parent / "benchmarks" / "type_one_error.py"
    done = subprocess.run(
        [sys.executable, str(script), "--collections", "200", "--families", "1", "--rounds", "200"],
        capture_output=True,
        text=True,
        check=True,
    )
    rows = [line.split() for line in done.stdout.splitlines() if line.startswith(("normal", "graded", "lopsided"))]
    assert [len(row) for row in rows] == [7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 8, 8, 8]
    for row in rows[:6]:  # exchangeable systems: .05, within 200 draws
        assert all(float(rate.strip("+-")) < 0.12 for rate in row[2:])


def test_the_smallest_p_of_signed_ranks() -> None:
    # counted up to 50 differences: one of 2^50 assignments of signs, or two; of more, a normal approximation
    found = smallest_attainable("wilcoxon", "two", 1, np.array([1, 5, 50, 51]))
    assert found.tolist() == [1.0, 2 / 2**5, 2 / 2**50, 0.0]
    assert smallest_attainable("wilcoxon", "greater", 1, np.array([50])).tolist() == [1 / 2**50]
