"""Meta-evaluation: every statistic against another source: scipy, a definition spelled out, or arithmetic by hand."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import amble
from amble.comparison.resampling import resampled_means, topic_counts
from amble.comparison.systems import grid_unit, mean_differences, scores_by_measure
from amble.comparison.variance import error_variance
from amble.errors import AmbleError
from amble.metaevaluation import (
    agreement,
    correlations,
    discriminative_power,
    kendall,
    rbo,
    spearman,
    swap_rates,
    tau_ap,
)
from amble.metaevaluation.correlation import places
from amble.metaevaluation.significance import bootstrap_levels, paired_t, tukey_hsd
from amble.metaevaluation.swaps import Swaps
from amble.metaevaluation.topic_set_sizes import (
    power_of_t,
    topics_for_interval,
    topics_for_power,
    topics_needed,
    width_of_interval,
)
from amble.rankings.alignment import plain_mean

SOME = st.integers(3, 9).flatmap(lambda n: st.tuples(*[st.lists(st.integers(0, 5), min_size=n, max_size=n)] * 2))
TELLING = SOME.filter(lambda xy: len(set(xy[0])) > 1 and len(set(xy[1])) > 1)
ORDERS = st.integers(3, 7).flatmap(lambda n: st.tuples(*[st.permutations(range(n))] * 2))

# the worked example in the README of ircor, the R package of the authors of tau_AP,a and tau_AP,b
X = np.array([0.06, 0.2, 0.27, 0.37, 0.57, 0.63, 0.66, 0.9, 0.91, 0.94])
Y = np.array([0.37, 0.06, 0.2, 0.27, 0.57, 0.66, 0.63, 0.91, 0.9, 0.94])


def made(values: np.ndarray, names: str = "AP RR") -> amble.Scores:
    """Scores of given values, (runs, topics, measures), under the names of real measures."""
    runs, topics, _ = values.shape
    qrels = {str(t): {"a": 1} for t in range(topics)}
    rankings = amble.align(qrels, {f"r{i}": {t: {"a": 1.0} for t in qrels} for i in range(runs)})
    return amble.Scores(rankings, [amble.parse(m) for m in names.split()], values.astype(np.float64))


def random_scores(runs: int = 6, topics: int = 12, measures: int = 2, seed: int = 1) -> amble.Scores:
    rng = np.random.default_rng(seed)
    quality = np.linspace(0, 0.3, runs)[:, None, None]
    hard = rng.normal(0, 0.2, (1, topics, 1))
    values = 0.4 + quality + hard + rng.normal(0, 0.15, (runs, topics, measures))
    return made(values, " ".join(("AP", "RR", "P@10")[:measures]))


# ---- correlation


def test_means_that_rounding_tells_apart_are_tied() -> None:
    a, b = 0.1 + 0.2 + 0.3, 0.3 + 0.2 + 0.1  # six tenths, summed in two orders
    assert a != b
    assert places([a, b, 1.0]).tolist() == [0, 0, 1]
    assert places([1.0, 1.0 + 1e-9]).tolist() == [0, 1]
    assert places(np.zeros((2, 3))).tolist() == [[0, 0, 0]] * 2


@given(TELLING)
def test_kendall_and_spearman_are_scipys(xy: tuple[list[int], list[int]]) -> None:
    x, y = xy
    assert kendall(x, y) == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-12)
    assert spearman(x, y) == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12)


def one_tau_ap(truth: list[float], seen: list[float]) -> float:
    """The definition of Yilmaz, Aslam and Robertson (2008), without ties."""
    order = sorted(range(len(seen)), key=lambda i: -seen[i])
    total = 0.0
    for place in range(1, len(order)):
        total += sum(truth[j] > truth[order[place]] for j in order[:place]) / place
    return 2 * total / (len(order) - 1) - 1


@given(ORDERS)
def test_tau_ap_without_ties(xy: tuple[list[int], list[int]]) -> None:
    x, y = map(list, xy)
    assert tau_ap(x, y, ties="a") == pytest.approx(one_tau_ap(x, y), abs=1e-12)
    both = (one_tau_ap(x, y) + one_tau_ap(y, x)) / 2
    assert tau_ap(x, y) == pytest.approx(both, abs=1e-12)
    assert tau_ap(x, x) == pytest.approx(1)
    assert tau_ap(x, [-v for v in x]) == pytest.approx(-1)


@given(st.permutations(range(5)), st.lists(st.integers(0, 2), min_size=5, max_size=5))
def test_tau_ap_a_is_the_mean_over_orders_of_ties(x: list[int], y: list[int]) -> None:
    every = []
    for order in itertools.permutations(range(5)):  # breaks ties in each way equally often
        every.append(one_tau_ap(x, [v + order[i] / 100 for i, v in enumerate(y)]))
    assert tau_ap(x, y, ties="a") == pytest.approx(np.mean(every), abs=1e-12)


@given(TELLING)
def test_tau_ap_b_by_its_definition(xy: tuple[list[int], list[int]]) -> None:
    def half(x: list[int], y: list[int]) -> float:
        shares = []
        for i in range(len(y)):
            above = [j for j in range(len(y)) if y[j] > y[i]]
            if above:
                shares.append(sum(x[j] > x[i] for j in above) / len(above))
        return 2 * float(np.mean(shares)) - 1

    x, y = xy
    assert tau_ap(x, y) == pytest.approx((half(x, y) + half(y, x)) / 2, abs=1e-12)
    assert tau_ap(x, y) == pytest.approx(tau_ap(y, x), abs=1e-12)


def test_tau_ap_of_ircors_readme() -> None:
    assert kendall(X, Y) == pytest.approx(0.7777778, abs=5e-8)
    assert tau_ap(X, Y, ties="a") == pytest.approx(0.7491182, abs=5e-8)
    y = np.round(Y * 5) / 5
    assert tau_ap(X, y, ties="a") == pytest.approx(0.6074515, abs=5e-8)
    x = np.round(X * 5) / 5
    assert kendall(x, y) == pytest.approx(0.75, abs=5e-8)
    assert tau_ap(x, y) == pytest.approx(0.6269841, abs=5e-8)


@given(TELLING, st.floats(0.1, 0.95))
def test_rbo_by_its_definition(xy: tuple[list[int], list[int]], p: float) -> None:
    x, y = xy
    n = len(x)
    ranks = [[1 + sum(v > w for v in z) for w in z] for z in (x, y)]
    total = 0.0
    for d in range(1, 2000):  # beyond the end both sets hold all systems, and agree
        one, other = ({i for i in range(n) if r[i] <= d} for r in ranks)
        total += (1 - p) * p ** (d - 1) * 2 * len(one & other) / (len(one) + len(other))
    assert rbo(x, y, p) == pytest.approx(total, abs=1e-9)
    assert rbo(x, x, p) == pytest.approx(1, abs=1e-12)


def test_rankings_that_say_nothing() -> None:
    assert math.isnan(kendall([1, 1, 1], [1, 2, 3]))
    assert math.isnan(spearman([1, 1, 1], [1, 2, 3]))
    assert math.isnan(tau_ap([1, 1, 1], [1, 2, 3]))
    for function in (kendall, spearman, tau_ap, rbo):
        with pytest.raises(AmbleError, match="expected two lists"):
            function([1, 2], [1, 2, 3])
        with pytest.raises(AmbleError, match="finite"):
            function([1, math.nan], [1, 2])
    with pytest.raises(AmbleError, match="may not tie"):
        tau_ap([1, 1, 2], [1, 2, 3], ties="a")
    with pytest.raises(AmbleError, match="expected one of 'a', 'b'"):
        tau_ap([1, 2], [1, 2], ties="c")
    with pytest.raises(AmbleError, match="between 0 and 1"):
        rbo([1, 2], [1, 2], 1.0)


@pytest.mark.parametrize("statistic", ["tau", "tau_ap", "rho", "rbo"])
def test_matrix(statistic: str) -> None:
    scores = random_scores(measures=3)
    alone = {"tau": kendall, "tau_ap": tau_ap, "rho": spearman, "rbo": rbo}[statistic]
    found = correlations(scores, statistic=statistic, rounds=200, seed=3)
    means = scores.means()
    for i, j in itertools.combinations(range(3), 2):
        assert found.values[i, j] == pytest.approx(alone(means[:, i], means[:, j]), abs=1e-12)
        assert found.low is not None
        assert found.high is not None
        assert -1 <= found.low[i, j] <= found.high[i, j] <= 1
    again = correlations(scores, statistic=statistic, rounds=200, seed=3, threads=1)
    assert np.array_equal(found.low, again.low)
    assert np.array_equal(found.high, again.high)
    assert not np.array_equal(found.low, correlations(scores, statistic=statistic, rounds=200, seed=4).low)
    assert correlations(scores, statistic=statistic, resample=None).low is None


def test_a_measure_that_ties_all_runs() -> None:
    values = random_scores().values.copy()
    values[:, :, 1] = 0.5
    found = correlations(made(values), rounds=20)
    assert found.low is not None
    assert math.isnan(found.values[0, 1])
    assert math.isnan(found.low[0, 1])
    assert found.values[0, 0] == 1.0


def test_intervals_are_percentiles_of_means_over_drawn_topics() -> None:
    scores = random_scores(runs=5, topics=8)
    found = correlations(scores, rounds=300, seed=11)
    rng = np.random.default_rng((11, 0))
    drawn = []
    for counts in rng.multinomial(8, np.full(8, 1 / 8), size=300):
        topics = np.repeat(np.arange(8), counts)
        means = scores.values[:, topics].mean(axis=1)
        drawn.append(stats.kendalltau(means[:, 0], means[:, 1]).statistic)
    assert found.low is not None
    assert found.high is not None
    assert [found.low[0, 1], found.high[0, 1]] == pytest.approx(np.quantile(drawn, (0.025, 0.975)).tolist())


def test_systems_can_be_drawn_too() -> None:
    scores = random_scores(runs=8)
    for resample in ("systems", "both"):
        found = correlations(scores, resample=resample, rounds=100)
        assert found.low is not None
        assert found.low[0, 1] < found.values[0, 1]
        with pytest.raises(AmbleError, match="drawn twice"):
            correlations(scores, resample=resample, statistic="rbo")
    with pytest.raises(AmbleError, match="expected one of 'topics'"):
        correlations(scores, resample="runs")
    with pytest.raises(AmbleError, match="expected one of 'tau'"):
        correlations(scores, statistic="pearson")


# ---- tests


@given(st.integers(2, 6), st.integers(2, 12), st.integers(0, 1000))
def test_paired_t_is_scipys(systems: int, topics: int, seed: int) -> None:
    x = np.random.default_rng(seed).normal(size=(systems, topics))
    p = paired_t(x)
    for i, j in itertools.combinations(range(systems), 2):
        assert p[i, j] == p[j, i]
        # sums of squares by matrix products: two topics with nearly the same difference cost some digits
        close = np.ptp(x[i] - x[j]) < 1e-2 * np.abs(x[i] - x[j]).max()
        assert p[i, j] == pytest.approx(stats.ttest_rel(x[i], x[j]).pvalue, abs=1e-9 if close else 1e-11)
    assert np.diag(p).tolist() == [1.0] * systems


def test_paired_t_at_its_ends() -> None:
    x = np.array([[0.1, 0.2, 0.3], [0.1, 0.2, 0.3], [0.6, 0.7, 0.8]])
    p = paired_t(x)
    assert p[0, 1] == 1.0  # the same run twice
    assert p[0, 2] == 0.0  # better by .5 on every topic
    x = np.array([[0.1 + 0.2, 0.2, 0.3], [0.3, 0.2, 0.1 + 0.2]])
    assert paired_t(x)[0, 1] == 1.0  # nothing but rounding
    x = np.array([[0.1, np.nan, 0.5, 0.4], [0.2, 0.9, 0.1, 0.1], [np.nan, 0.2, np.nan, np.nan]])
    assert paired_t(x)[0, 1] == pytest.approx(stats.ttest_rel([0.1, 0.5, 0.4], [0.2, 0.1, 0.1]).pvalue)
    assert paired_t(x)[0, 2] == 1.0  # no topic in common


def test_bootstrap_levels_by_their_definition() -> None:
    x = np.random.default_rng(5).normal(size=(4, 9)) + np.arange(4)[:, None] * 0.3
    levels = bootstrap_levels(x, rounds=200, seed=8)
    draws = topic_counts(9, 200, 8)  # how often each topic is drawn, round by round
    for i, j in itertools.combinations(range(4), 2):
        d = x[i] - x[j]
        t = abs(d.mean()) / (d.std(ddof=1) / 3)
        w = d - d.mean()
        extreme = 0
        for counts in draws:
            v = np.repeat(w, counts)
            s = v.std(ddof=1)
            extreme += bool(s > 0 and abs(v.mean()) / (s / 3) >= t)
        assert levels[i, j] == levels[j, i] == pytest.approx((1 + extreme) / 201)


def test_bootstrap_levels_are_near_those_of_t() -> None:
    x = random_scores(runs=5, topics=40).values[:, :, 0]
    assert np.abs(bootstrap_levels(x, rounds=4000) - paired_t(x)).max() < 0.05


def test_tukey_against_all_shuffles() -> None:
    x = np.array([[0.9, 0.5, 0.8], [0.4, 0.3, 0.6], [0.1, 0.4, 0.2]])
    greatest = []
    for orders in itertools.product(itertools.permutations(range(3)), repeat=3):  # 6^3 equally likely
        means = [np.mean([x[orders[t][i], t] for t in range(3)]) for i in range(3)]
        greatest.append(max(means) - min(means))
    p = tukey_hsd(x, rounds=20_000, seed=2)
    for i, j in itertools.combinations(range(3), 2):
        exact = np.mean([g >= abs(x[i].mean() - x[j].mean()) - 1e-12 for g in greatest])
        assert p[i, j] == pytest.approx(exact, abs=0.012)  # some three standard errors


def test_random_tests_take_a_seed_and_leave_scores_alone() -> None:
    x = random_scores().values[:, :, 0]
    before = x.copy()
    for test in (bootstrap_levels, tukey_hsd):
        assert np.array_equal(test(x, 100, 1), test(x, 100, 1))
        assert not np.array_equal(test(x, 100, 1), test(x, 100, 2))
        assert test(x, 100, 1).min() > 0
        with pytest.raises(AmbleError, match="lack topics"):
            test(np.array([[np.nan, 1.0], [0.0, 1.0]]), 10, 0)
    assert np.array_equal(x, before)


# ---- agreement and power


def test_agreement_counts_pairs() -> None:
    scores = random_scores(runs=9, topics=10, measures=3, seed=4)
    found = agreement(scores, alpha=0.1)
    assert found.pairs == 36
    for a, b in itertools.product(range(3), repeat=2):
        count = dict.fromkeys(("SSA", "SSD", "SN", "NS", "NN"), 0)
        for i, j in itertools.combinations(range(9), 2):
            says = []
            for m in (a, b):
                test = stats.ttest_rel(scores.values[i, :, m], scores.values[j, :, m])
                says.append(int(np.sign(test.statistic)) if test.pvalue < 0.1 else 0)
            one, other = says
            kind = ("SSA" if one == other else "SSD") if one and other else "SN" if one else "NS" if other else "NN"
            count[kind] += 1
        assert {kind: int(found.counts[kind][a, b]) for kind in count} == count
        both = 2 * count["SSA"] + count["SN"] + count["NS"]
        assert found.significant[a, b] == pytest.approx(2 * count["SSA"] / both)
    assert found.power.tolist() == pytest.approx([found.counts["SSA"][m, m] / 36 for m in range(3)])
    assert (sum(found.counts.values()) == 36).all()
    assert np.array_equal(found.counts["SN"], found.counts["NS"].T)
    assert len(found.table()) == 3


def test_active_disagreement() -> None:
    rng = np.random.default_rng(0)
    first = np.stack((rng.normal(1, 0.1, 20), rng.normal(0, 0.1, 20)))
    found = agreement(made(np.stack((first, first[::-1]), axis=2)))
    assert found.counts["SSD"][0, 1] == 1
    assert math.isnan(found.significant[0, 1])
    assert math.isnan(found.not_significant[0, 1])


@pytest.mark.parametrize("test", ["t", "bootstrap", "tukey"])
def test_power(test: str) -> None:
    scores = random_scores(runs=7)
    found = discriminative_power(scores, test=test, rounds=200, threads=2)
    assert found.levels.shape == (2, 21)
    assert (np.diff(found.levels, axis=1) <= 0).all()
    assert found.power.tolist() == pytest.approx((found.levels < 0.05).mean(axis=1).tolist())
    again = discriminative_power(scores, test=test, rounds=200, threads=1)
    assert np.array_equal(found.levels, again.levels)
    means = scores.means()[:, 0]
    p = {
        "t": lambda x: paired_t(x),
        "bootstrap": lambda x: bootstrap_levels(x, 200),
        "tukey": lambda x: tukey_hsd(x, 200),
    }
    by_id = np.argsort(scores.topics)  # draws fall on topics in the order of their ids
    levels = p[test](scores.values[:, by_id, 0])
    missed = [abs(means[i] - means[j]) for i, j in itertools.combinations(range(7), 2) if levels[i, j] >= 0.05]
    assert found.needed[0] == pytest.approx(max(missed))
    assert [row[0] for row in found.table()] == sorted(scores.measures, key=lambda m: -dict(found_power(found))[m])
    assert len(found.curve()) == 42


def found_power(found: object) -> list[tuple[str, float]]:
    return list(zip(found.measures, found.power.tolist(), strict=True))  # type: ignore[attr-defined]


def test_tukey_finds_fewer_pairs_than_t() -> None:
    scores = random_scores(runs=12, topics=15)
    one, other = (discriminative_power(scores, test=test).power for test in ("t", "tukey"))
    assert (other <= one).all()


def test_wrong_words() -> None:
    scores = random_scores()
    with pytest.raises(AmbleError, match="expected one of 't'"):
        agreement(scores, test="z")
    with pytest.raises(AmbleError, match="alpha=1.5: expected a number between 0 and 1"):
        agreement(scores, alpha=1.5)
    with pytest.raises(AmbleError, match="rounds=0"):
        discriminative_power(scores, rounds=0)
    with pytest.raises(AmbleError, match="seed=-1"):
        discriminative_power(scores, seed=-1)
    with pytest.raises(AmbleError, match="expected scores"):
        agreement([1, 2])  # type: ignore[arg-type]
    with pytest.raises(AmbleError, match="at least 2 to compare"):
        agreement(random_scores(runs=1))


def test_at_most_alpha_as_compare_has_it() -> None:
    values = np.random.default_rng(5).random((5, 9, 1))
    scores = made(values, "AP")
    found = amble.compare(scores, test="tukey", rounds=99)
    for alpha in sorted(set(found.p.tolist()) - {1.0}):  # levels that are p-values themselves
        there = amble.compare(scores, test="tukey", rounds=99, alpha=alpha).significant.mean()
        assert there > 0
        assert discriminative_power(scores, test="tukey", rounds=99, alpha=alpha).power[0] == pytest.approx(there)
        assert agreement(scores, test="tukey", rounds=99, alpha=alpha).power[0] == pytest.approx(there)


def test_pairs_without_two_common_topics() -> None:
    values = np.random.default_rng(5).random((3, 4, 1))
    values[0, :2], values[1, 3:] = np.nan, np.nan
    with pytest.raises(amble.AlignError, match="^r0 and r1 have scores on 1 common topic, expected at least 2$"):
        agreement(made(values, "AP"))


def test_draws_without_a_topic_of_a_run() -> None:
    values = np.random.default_rng(5).random((4, 6, 2))
    values[0, 1:] = np.nan  # one topic only: a third of the draws, (5/6)^6, do without it
    found = correlations(made(values), rounds=300)
    assert 60 < found.left_out < 150
    assert found.low is not None
    assert np.isfinite(found.low).all()
    assert str(found.table()).startswith(f"{found.left_out} rounds without any topic of some run left out")
    assert correlations(made(values), rounds=300, threads=1).left_out == found.left_out
    assert correlations(random_scores(), rounds=20).left_out == 0
    values[0] = np.nan
    with pytest.raises(AmbleError, match="a run without a topic has no place"):
        correlations(made(values))


# ---- swaps


def test_no_conclusion_no_swap_rate() -> None:
    found = swap_rates(made(np.full((3, 8, 1), 0.5), "AP"), sizes=[4], rounds=5)
    assert math.isnan(found.table()["swap rate"][0])
    narrow = swap_rates(made(1e12 * np.random.default_rng(1).random((3, 8, 1)), "AP"), sizes=[4], rounds=5, width=1e-9)
    assert narrow.counts[0, 0, -1] == 15  # all in the last, open bin


def test_swaps_by_hand() -> None:
    # two topics: each is one of the sets. x beats y by .3 on the first and loses by .25 on the second: always a swap
    values = np.array([[0.5, 0.1], [0.2, 0.35]])
    found = swap_rates(made(values[:, :, None], "AP"), sizes=[1], rounds=50, width=0.1, bins=4)
    assert found.counts.sum() == 50
    assert found.counts[0, 0, 3] + found.counts[0, 0, 2] == 50  # .3 and .25
    assert found.counts[0, 0, 2:].all()  # .3 / .1 is less than 3, by rounding
    assert np.array_equal(found.counts, found.swaps)
    assert math.isnan(found.needed()[0][0, 0])
    # x better on both: never
    found = swap_rates(made(np.array([[0.5, 0.4], [0.2, 0.35]])[:, :, None], "AP"), sizes=[1], rounds=50, width=0.1)
    assert not found.swaps.any()
    assert found.needed()[0][0, 0] == 0.0
    assert found.needed()[1][0, 0] == 1.0
    # the same run twice draws no conclusion
    found = swap_rates(made(np.full((2, 4, 1), 0.5), "AP"), rounds=10)
    assert not found.counts.any()


def test_swaps_by_their_definition() -> None:
    scores = random_scores(runs=4, topics=10, measures=1)
    found = swap_rates(scores, sizes=[3], rounds=40, width=0.05, bins=6, seed=9)
    order = np.random.default_rng((9, 3, 0)).permuted(np.tile(np.arange(10), (40, 1)), axis=1)
    counts, swaps = np.zeros(6, int), np.zeros(6, int)
    for topics in order:
        first, second = (scores.values[:, part, 0].mean(axis=1) for part in (topics[:3], topics[3:6]))
        for i, j in itertools.combinations(range(4), 2):
            at = min(int(abs(first[i] - first[j]) / 0.05), 5)
            counts[at] += 1
            swaps[at] += (first[i] - first[j]) * (second[i] - second[j]) < 0
    assert found.counts[0, 0].tolist() == counts.tolist()
    assert found.swaps[0, 0].tolist() == swaps.tolist()


def test_swaps_fall_with_topics_and_differences() -> None:
    scores = random_scores(runs=8, topics=60, measures=1)
    found = swap_rates(scores, sizes=[5, 15, 30], rounds=60, seed=1)
    overall = found.swaps.sum(axis=2) / found.counts.sum(axis=2)
    assert overall[0, 0] > overall[0, 1] > overall[0, 2]
    assert np.array_equal(found.counts, swap_rates(scores, sizes=[5, 15, 30], rounds=60, seed=1, threads=1).counts)
    assert len(found.table()) == 3
    assert {row[1] for row in found.curve()} == {5, 15, 30}
    with pytest.raises(AmbleError, match="at most 30 of 60"):
        swap_rates(scores, sizes=[31])
    with pytest.raises(AmbleError, match="width"):
        swap_rates(scores, width=0)


def test_extrapolated_rates_of_an_exponential() -> None:
    sizes = (5, 10, 20)
    rate = [0.4 * math.exp(-0.05 * n) for n in sizes]
    counts = np.full((1, 3, 2), 10**9)
    swaps = np.array([[[round(r * 10**9), 0] for r in rate]])
    found = Swaps(("AP",), sizes, np.array([0.0, 0.1]), counts, swaps)
    assert found.extrapolated(50)[0, 0] == pytest.approx(0.4 * math.exp(-2.5), rel=1e-6)
    assert math.isnan(found.extrapolated(50)[0, 1])


def test_extrapolated_rates_are_weighed_by_swaps() -> None:
    counts, swaps, sizes = np.full((1, 4, 1), 1000), np.array([400, 300, 20, 8]), (5, 10, 20, 40)
    found = Swaps(("AP",), sizes, np.array([0.0]), counts, swaps.reshape(counts.shape))
    slope, start = np.polyfit(sizes, np.log(swaps / 1000), 1, w=np.sqrt(swaps))  # it squares its weights
    assert found.extrapolated(50)[0, 0] == pytest.approx(math.exp(start + 50 * slope))


# ---- how many topics


def test_error_variance_is_that_of_a_regression() -> None:
    x = np.random.default_rng(3).normal(size=(4, 7))
    systems, topics = np.repeat(np.eye(4), 7, axis=0), np.tile(np.eye(7), (4, 1))
    design = np.hstack((systems, topics))
    fitted = design @ np.linalg.lstsq(design, x.ravel(), rcond=None)[0]
    assert error_variance(x, grid_unit(x)) == pytest.approx(((x.ravel() - fitted) ** 2).sum() / (28 - 4 - 7 + 1))


@pytest.mark.parametrize(("n", "d", "variance"), [(5, 0.1, 0.01), (30, 0.05, 0.02), (200, 0.02, 0.02)])
def test_power_of_t_is_that_of_the_noncentral_t(n: int, d: float, variance: float) -> None:
    critical, shift = stats.t.ppf(0.975, n - 1), math.sqrt(n) * d / math.sqrt(2 * variance)
    expected = stats.nct.sf(critical, n - 1, shift) + stats.nct.cdf(-critical, n - 1, shift)
    assert power_of_t(n, d, variance) == pytest.approx(expected, abs=1e-9)


def test_width_of_intervals_is_their_mean() -> None:
    rng = np.random.default_rng(1)
    n, variance = 8, 0.02
    d = rng.normal(0, math.sqrt(2 * variance), (40_000, n))
    widths = 2 * stats.t.ppf(0.975, n - 1) * d.std(axis=1, ddof=1) / math.sqrt(n)
    assert width_of_interval(n, variance) == pytest.approx(widths.mean(), abs=4 * widths.std() / 200)


def test_topics_are_the_least_that_do() -> None:
    n = topics_for_power(0.05, 0.03)
    assert power_of_t(n, 0.05, 0.03) >= 0.8 > power_of_t(n - 1, 0.05, 0.03)
    n = topics_for_interval(0.05, 0.03)
    assert width_of_interval(n, 0.03) <= 0.05 < width_of_interval(n - 1, 0.03)
    assert topics_for_power(100.0, 0.03) == 2
    with pytest.raises(AmbleError, match="more than"):
        topics_for_power(1e-6, 1.0)
    with pytest.raises(AmbleError, match="difference=0"):
        topics_for_power(0, 1.0)
    # an effect of .5, .8, 1 deviations at 5 % with power 80 %: 34, 15, 10 (Cohen, 1988, as G*Power 3.1 has it)
    assert [topics_for_power(effect, 0.5) for effect in (0.5, 0.8, 1.0)] == [34, 15, 10]


def test_topics_needed() -> None:
    scores = random_scores()
    table = topics_needed(scores, differences=[0.1], widths=[0.2])
    assert [row[0] for row in table] == ["AP", "AP", "RR", "RR"]
    variance = error_variance(scores.values[:, :, 0], grid_unit(scores.values[:, :, 0]))
    assert table.rows[0][3:] == (0.1, topics_for_power(0.1, variance))
    with pytest.raises(AmbleError, match="no variance"):
        topics_needed(made(np.full((2, 3, 1), 0.5), "AP"))


# ---- what all share


def test_geometric_means_are_compared_by_logarithms() -> None:
    values = np.array([[[0.1], [0.4]], [[0.2], [0.0]]])
    scores = made(values, "GMAP")
    assert scores_by_measure(scores)[0].tolist() == np.log([[0.1, 0.4], [0.2, 1e-5]]).tolist()
    assert np.exp(plain_mean(scores_by_measure(scores)))[0].tolist() == pytest.approx(scores.means()[:, 0].tolist())


def test_resampled_means_leave_out_what_is_missing() -> None:
    values = np.array([[1.0, np.nan, 4.0]])
    assert resampled_means(values, np.array([[2.0, 1.0, 0.0], [0.0, 0.0, 3.0]])).tolist() == [[1.0], [4.0]]


def test_differences_over_the_topics_that_both_have() -> None:
    values = np.array([[[1.0, np.nan, 4.0], [3.0, 9.0, 5.0]]])
    assert mean_differences(values)[0].tolist() == [[0.0, -1.5], [1.5, 0.0]]
    values = np.array([[[1.0, 2.0], [3.0, 6.0]]])
    assert mean_differences(values)[0].tolist() == [[0.0, -3.0], [3.0, 0.0]]


def test_the_better_system_is_that_of_the_common_topics() -> None:
    # y is better on every topic that both have; x's mean is greater, as it has an easy topic more
    x = np.array([0.1, 0.2, 0.1, 0.2, 0.9, 0.9, 0.9, 0.9])
    y = np.array([0.3, 0.41, 0.3, 0.4, np.nan, np.nan, np.nan, np.nan])
    other = np.array([0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1])
    found = agreement(made(np.stack((np.stack((x, y)), np.stack((other, other + y))), axis=2)))
    assert np.nanmean(x) > np.nanmean(y)
    assert found.counts["SSA"][0, 1] == 1
