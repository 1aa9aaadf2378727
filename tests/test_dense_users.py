"""Every kind of user once more, by hand and by dense algebra: the fast users must answer the same.

The lists are drawn at random, with unjudged documents, negative grades and relevant documents that were not found, and
are scored together: 60 for each user, 2,000 with ``AMBLE_EXAMPLES=all``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.special import beta, digamma, polygamma
from users_by_hand import (
    CASES,
    ENDLESS,
    HALF,
    LISTS,
    MOST,
    WALKS,
    Case,
    Chain,
    Down,
    Forward,
    Ranked,
    Seen,
    Walk,
    Walking,
    always,
    ap,
    binary,
    by_rank,
    by_visits,
    chain_of,
    drawn,
    grades,
    insq,
    inst,
    nan,
    parsed,
    part,
    ranked,
    ranks,
    rbp,
    rr,
    together,
)  # fmt: skip

import amble
from amble.distributions.distribution import Distribution
from amble.evaluation.cwl_report import expectations
from amble.evaluation.simulated_distributions import simulate_lists
from amble.measures import Lists
from amble.measures.list_measure import of_lists
from amble.measures.residuals import list_residuals
from amble.rankings.costs import Costs
from amble.rankings.lists import Gains
from amble.users import DenseUser, Effort, Question, Utility
from amble.users.chain_on_list import ChainOnList
from amble.users.fitted import Estimate, Fitted, FittedModel, Origin
from amble.users.simulation import simulated_distribution

Array = NDArray[np.float64]

ORDER1, ORDER2, TOTAL, SATISFIED = Question.ORDER1, Question.ORDER2, Question.TOTAL, Question.SATISFIED


def close(found: Any, expected: Any, within: float = 1e-12) -> None:
    """The same numbers; those above 1 as a share of their size."""
    one, other = np.broadcast_arrays(np.asarray(found, np.float64), np.asarray(expected, np.float64))
    apart = np.abs(one - other) / np.maximum(np.abs(other), 1.0)
    assert (apart <= within).all(), f"{apart.max()} apart: {one.flat[apart.argmax()]} and {other.flat[apart.argmax()]}"


# ---- users who walk down

every_case = pytest.mark.parametrize("case", CASES, ids=[case.expression for case in CASES])


@every_case
def test_gains_by_hand(case: Case) -> None:
    topics = drawn()[: part(4)]
    gains = case.gains(topics)
    for i, one in enumerate(topics):
        n = int(gains.lists.length[i])
        y = case.gain(np.nan_to_num(one.grades[: case.cut]))
        close(gains.by_rank(i)[:n], np.pad(y, (0, n - y.size)), 1e-15)
        assert gains.relevant[i] == case.relevant(one)


@every_case
def test_scores(case: Case) -> None:
    m, lists, gains, user = case.measure, together(case.topics), case.gains(case.topics), case.user()
    total, depth = user.totals(gains)
    close(m.one_user.totals(gains), (total, depth))
    close(m.answers(TOTAL, lists), total)
    close(m.answers(ORDER2, lists), total / depth if case.effort == "h" else user.scores(ORDER2, gains))
    if m.question is not ORDER2 or m.declaration.norm:
        close(m.scores(lists), case.scores(case.topics))


@every_case
def test_questions_about_the_last_rank(case: Case) -> None:
    few = case.topics[: part(10)]
    for question in () if case.heavy else (ORDER1, SATISFIED):
        close(case.measure.answers(question, together(few)), case.user().scores(question, case.gains(few)))


@every_case
def test_empty_list(case: Case) -> None:
    assert case.measure.scores(together([ranked([]), ranked([], [1, 2])])).tolist() == [0, 0]


@every_case
def test_behaviour(case: Case) -> None:
    gains, fast, slow = case.gains(case.topics), case.measure.one_user, case.user(more=5)
    for i in range(min(len(case.topics), LISTS // 6)):
        n = gains.by_rank(i).size
        found, expected = fast.on(gains, i), slow.on(gains, i)
        for name in ("visits", "last", "weights"):
            close(getattr(found, name)[:n], getattr(expected, name)[:n])
        close((found.visits * found.continuation)[:n], (expected.visits * expected.continuation)[:n])
        close(found.expected_depth, expected.expected_depth)
        close(expected.last.sum() + expected.beyond, 1.0)
        for k in range(n + (1 if case.measure.ends else 5)):
            close(found.residual(k), expected.residual(k))


@every_case
def test_worth(case: Case) -> None:
    # what the ranks are worth adds up to the answer
    gains, fast, slow = case.gains(case.topics), case.measure.one_user, case.user()
    for question in {case.measure.question, ORDER2, TOTAL}:
        for i in range(min(len(case.topics), LISTS // 20)):
            expected = slow.on(gains, i).score(question, gains.by_rank(i))
            both = [user.worth(question, gains, i) for user in (fast, slow)]
            for worth, per_gain in both:
                close(worth @ gains.by_rank(i, worth.size) if per_gain else worth.sum(), expected)
            if both[0][1] == both[1][1]:
                n = gains.by_rank(i).size
                close(both[0][0][:n], both[1][0][:n])


@every_case
def test_distribution(case: Case) -> None:
    m, gains = case.measure, case.gains(case.topics)
    for i in range(min(len(case.topics), LISTS // 20)):
        found = m.one_user.distribution(m.question, gains, i)
        if not case.heavy:
            expected = case.user().distribution(m.question, gains, i)
            close(found.distance(expected), 0.0)
            close(found.mean, expected.mean)
            continue
        # T / H of those who stop at one of 20 ranks below the list; and all of the mean
        total, n = gains.by_rank(i).sum(), gains.by_rank(i).size + 20
        expected = Above(case.rule, 20).distribution(ORDER1, gains, i)
        some = np.linspace(total / (n + 0.5), 1.0, 40)
        close(found.cdf(some), expected.cdf(some))
        close(found.mean, order1_of_heavy(case, gains, i))


class Above(Forward):
    """The same user, but those who go below the ranks spelled out leave with nothing."""

    def _down(self, gains: Gains, i: int) -> Down:
        return Down(super()._down(gains, i).c, "nothing")


def order1_of_heavy(case: Case, gains: Gains, i: int) -> float:
    """E[T/H] where V(j) = A / (j + s)^2 below the last rank: those who stop there are V(j) - V(j + 1)."""
    user = Above(case.rule).on(gains, i)
    below = case.user(more=1).on(gains, i)
    m = float(user.n + 1)
    root = math.sqrt(float(below.p[-2, -1])) if below.visits[-2] > 0 else 0.5  # (m + s) / (m + s + 1)
    x = root / (1.0 - root)
    a = float(below.visits[-2]) * x * x
    y = gains.by_rank(i)
    return user.score(ORDER1, y) + float(y.sum()) * a * (cubes(m, x - m) - cubes(m, x - m + 1.0))


def cubes(m: float, s: float) -> float:
    """The sum over j >= m of 1 / (j (j + s)^2), by partial fractions."""
    if abs(s) < 1e-9:
        return float(-polygamma(2, m)) / 2.0
    return float((digamma(m + s) - digamma(m)) / s**2 - polygamma(1, m + s) / s)


@every_case
def test_simulation(case: Case) -> None:
    m, one = case.measure, ranked([1, nan, 3, 0, 2, 1], [1])
    gains, user = case.gains([one]), Above(case.rule, 5) if case.heavy else case.user()
    exact = user.distribution(m.question, gains, 0)
    simulated = simulated_distribution(user.follower(gains, [0], 5), m.question, 1500, 5)
    assert simulated.distance(exact) < simulated.band_at(1 - 1e-6)
    if not case.heavy:
        fast, by = simulate_lists(m, gains, [[0]], 1500, 5, threads=1)[0], m.divisors(gains)
        scored = Distribution(exact.values / (1.0 if by is None else by[0]), exact.probs)
        assert fast.distance(scored) < fast.band_at(1 - 1e-6)


@every_case
def test_unseen(case: Case) -> None:
    m, gains = case.measure, case.gains(case.topics)
    if m.question is not ORDER2 or (case.cut and m.one_user.sees_beyond):
        return
    expected = case.user(more=case.cut or 0).unseen(ORDER2, gains, 0.7)
    close(m.one_user.unseen(ORDER2, gains, 0.7), expected)
    assert (expected.max() == 0) == m.ends


def filled(case: Case, one: Ranked, chosen: Sequence[int]) -> Ranked:
    """A list with some of its unjudged documents judged the best, and the others not relevant."""
    grades = np.where(np.isnan(one.grades), 0.0, one.grades)
    grades[list(chosen)] = MOST
    return Ranked(grades, one.rest)


def best(case: Case, one: Ranked) -> float:
    """The score if all that is unjudged were the best, down to rank k; below the list, too, if the user looks there."""
    m, k = case.measure, case.measure.deepest
    full = filled(case, one, [j for j in np.flatnonzero(np.isnan(one.grades)) if k is None or j < k])
    if m.question is not ORDER2:
        return float(case.scores([full])[0])
    if m.one_user.sees_beyond:
        far = 100 if case.expression.startswith("INST") else 40  # where hardly anybody reads on, if all of it gains
        more = far if k is None else min(far, max(k - one.grades.size, 0))
        full = Ranked(np.append(full.grades, np.full(more, MOST)), full.rest)
    user, gain = case.user(more=case.cut or 0), float(case.gain(np.array([MOST]))[0])
    return float(case.scores([full])[0] + user.unseen(ORDER2, case.gains([full]), gain)[0])


@every_case
def test_residuals(case: Case) -> None:
    m = case.measure
    if case.expression.startswith("IFTRate") or (m.question is not ORDER2 and not m.ends):
        return  # where all documents are the best, few ever leave; and ranks below the list count in order 2
    topics = [ranked([0, nan, 1, nan, nan]), *drawn(LISTS // 12, 5, seed=2)]  # below rank 3, nothing is to be judged
    expected = [best(case, one) - score for one, score in zip(topics, case.scores(topics), strict=True)]
    close(list_residuals(m, together(topics)), np.maximum(expected, 0.0))


@pytest.mark.parametrize("case", [case for case in CASES if case.expression in (
    "P@5", "R@4", "AP", "AP@3", "RR", "DCG", "nDCG", "nDCG@5", "ERR", "RBP(p=0.5)", "RBP@3", "RBP(p=0.6,finite=True)",
    "SDCG@6", "INSQ(T=1)", "INST(T=1)", "CWL(C='0.9,0.7')@4", "NERR8@6", "NERR9@6", "NERR10(p=0.7)", "NERR11(T=1.5)",
)], ids=lambda case: case.expression)  # fmt: skip
def test_intervals(case: Case) -> None:
    for one in drawn(LISTS // 10, 5, seed=1):
        unknown = np.flatnonzero(np.isnan(one.grades))
        some = [c for k in range(unknown.size + 1) for c in itertools.combinations(unknown.tolist(), k)]
        scores = case.scores([filled(case, one, chosen) for chosen in some]).tolist()
        judged = [*one.grades[~np.isnan(one.grades)], *one.rest]
        low, high = case.measure.interval(one.grades, ideal=judged, max_grade=MOST)
        close(low, min(scores))
        close(high, max(*scores, scores[-1], best(case, one)))


# ---- users who walk back and forth

every_walk = pytest.mark.parametrize("walking", WALKS, ids=[walking.expression for walking in WALKS])


def few(walking: Walking, share: int) -> tuple[Ranked, ...]:
    """Some of the lists, fewer where many ranks are spelled out."""
    return drawn()[: max(LISTS // (share * (8 if walking.walk.more else 1)), 2)]


@every_walk
def test_scores_of_walks(walking: Walking) -> None:
    m, topics = walking.measure, drawn()[: part(30 if walking.walk.more else 8)]
    lists, gains = together(topics), walking.measure.gains_of(together(topics))
    for question in (ORDER1, ORDER2, TOTAL):
        close(m.answers(question, lists), walking.walk.scores(question, gains), 1e-11)
    close(m.scores(lists), m.answers(m.question, lists), 0.0)
    close(m.one_user.totals(gains), walking.walk.totals(gains))


@every_walk
def test_behaviour_of_walks(walking: Walking) -> None:
    m, topics = walking.measure, few(walking, 6)
    gains = m.gains_of(together(topics))
    for i in range(len(topics)):
        found, expected, n = m.one_user.on(gains, i), walking.walk.on(gains, i), gains.by_rank(i).size
        for name in ("visits", "last", "weights", "continuation"):
            close(getattr(found, name)[:n], getattr(expected, name)[:n])
        close((found.expected_depth, found.mean_effort), (expected.expected_depth, expected.mean_effort), 1e-11)
        for k in range(n + (6 if walking.walk.more else 1)):
            close(found.residual(k), expected.residual(k))


@every_walk
def test_worth_of_walks(walking: Walking) -> None:
    m, topics = walking.measure, few(walking, 30)
    gains = m.gains_of(together(topics))
    for question in (ORDER1, ORDER2, TOTAL):
        score = walking.walk.scores(question, gains)
        for i in range(len(topics)):
            y = gains.by_rank(i)
            for user in (m.one_user, walking.walk):
                close(user.worth(question, gains, i)[0][: y.size] @ y, score[i], 1e-11)


@every_walk
def test_distribution_of_walks(walking: Walking) -> None:
    m, topics = walking.measure, few(walking, 30)
    gains = m.gains_of(together(topics))
    for i in range(len(topics)):
        on_list, y = walking.walk.on(gains, i), gains.by_rank(i)
        if walking.walk.utility.kind == "fading":  # no exact one, but the mean is known
            found = simulate_lists(m, gains, [[i]], 4000, 3, threads=1)[0]
            close(found.mean, on_list.score(ORDER1, gains.by_rank(i, on_list.n)), 5 * found.standard_error + 1e-12)
            continue
        if walking.walk.utility.kind == "once":
            on_list, y = furthest(on_list, y)
        expected = on_list.distribution(ORDER1, np.pad(y, (0, on_list.n - y.size)))
        found = m.one_user.distribution(ORDER1, gains, i)
        close(found.distance(expected), 0.0)
        close(found.mean, expected.mean, 1e-11)
        close(m.answers(ORDER1, gains.lists)[i], expected.mean, 1e-11)


def furthest(walk: ChainOnList, y: Array) -> tuple[ChainOnList, Array]:
    """The walk over pairs of a rank and whether it is new, for each furthest rank so far: gains are those of new ones.

    State f * n + i: at rank i for the second time or later, f being the furthest; n * n + f: at f for the first time.
    A start below rank 1 leaves unseen ranks above, so that this is for walks that start at rank 1.
    """
    n = walk.n
    assert walk.start[0] == 1
    p, gain = np.zeros((n * n + n, n * n + n)), np.zeros(n * n + n)
    for f in range(n):
        gain[n * n + f] = y[f] if f < y.size else 0.0
        for i in range(f + 1):
            for j in np.flatnonzero(walk.p[i]):
                to = n * n + j if j > f else f * n + j
                p[f * n + i, to] = walk.p[i, j]
                if i == f:
                    p[n * n + f, to] = walk.p[i, j]
    start = np.zeros(n * n + n)
    start[n * n] = 1.0
    return ChainOnList(p, start, None, Utility(), walk.effort), gain


@pytest.mark.parametrize(
    ("worth", "of_visit"),
    [
        ("loss=0.25", lambda k: 0.75 ** (k - 1)),
        ("loss=1", lambda k: 1.0 if k == 1 else 0.0),
        ("utility='1,0.5,0.1'", lambda k: [1.0, 0.5, 0.1][min(k, 3) - 1]),
    ],
)
def test_visits_one_by_one(worth: str, of_visit: Callable[[int], float]) -> None:
    # with M = (I - P)^-1, rank j is ever visited with (mu M)_j / M_jj, and visited again each time with 1 - 1 / M_jj
    m = parsed(f"PH({worth},order=2)")
    topics = drawn()[: LISTS // 6]
    gains = m.gains_of(together(topics))
    found, _ = m.one_user.totals(gains)
    for i in range(len(topics)):
        p, start = Walk(*HALF).transitions(gains, i)
        fundamental = np.linalg.inv(np.eye(start.size) - p)
        once = np.diag(fundamental)
        each = [of_visit(k) * (1.0 - 1.0 / once) ** (k - 1) for k in range(1, 200)]
        close(found[i], start @ fundamental / once * np.sum(each, axis=0) @ gains.by_rank(i))


@every_walk
def test_simulation_of_walks(walking: Walking) -> None:
    m = walking.measure
    gains = m.gains_of(together([ranked([1, nan, 2, 0, 3, 1])]))
    dense = simulated_distribution(walking.walk.follower(gains, [0], 7), ORDER1, 4000, 7)
    fast = simulate_lists(m, gains, [[0]], 4000, 7, threads=1)[0]
    assert dense.distance(fast) < 2 * fast.band_at(1 - 1e-6)
    close(dense.mean, walking.walk.scores(ORDER1, gains)[0], 5 * dense.standard_error + 1e-12)
    if walking.walk.utility.kind == "kept":
        assert dense.distance(walking.walk.distribution(ORDER1, gains, 0)) < dense.band_at(1 - 1e-6)


@pytest.mark.parametrize("walking", [one for one in WALKS if one.walk.more], ids=lambda one: one.expression)
def test_unseen_of_walks(walking: Walking) -> None:
    m, topics = walking.measure, few(walking, 6)
    gains = m.gains_of(together(topics))
    for question in (ORDER1, ORDER2):
        close(m.one_user.unseen(question, gains, 0.7), walking.walk.unseen(question, gains, 0.7), 1e-11)


@pytest.mark.parametrize("effort", ["h", "h^2", "log"])
def test_walks_per_endless_list(effort: str) -> None:
    # E[T] of the list at hand, E[f(H)] of an endless one
    m = parsed(f"PH(per='endless',order=2,effort='{effort}')")
    gains = m.gains_of(together(drawn()))
    every = Walk(*HALF, more=ENDLESS, effort=effort).on(gains, 0).mean_effort
    close(m.scores(gains.lists), Walk(*HALF, utility=Utility(0.25)).scores(TOTAL, gains) / every)


# ---- users who never stop

MODELS = [
    *[(f"{a}_{b}_{c}", "NL", "NA") for a in ("GL", "LO") for b in ("AD", "OR") for c in ("ID", "LID")],
    ("GL_AD_NA", "SL", "NA"),
    ("LO_OR_ID", "SL", "NA"),
    ("GL_AD_ID", "NL", "FRBN"),
    ("LO_AD_LID", "SL", "FNBR"),
    ("GL_OR_LID", "NL", "FIRBIN"),
    ("LO_OR_NA", "SL", "FINBIR"),
]
RELEVANT = drawn(LISTS, 8, seed=3)[: part(2)]
every_model = pytest.mark.parametrize(("model", "loops", "counts"), MODELS)


def expression(model: str, loops: str, counts: str, more: str = "") -> str:
    return f"MP(model='{model}',loops='{loops}',counts='{counts}'{more})"


def has_relevant(one: Ranked) -> bool:
    return bool((one.grades >= 1).any())


def test_chain_by_hand() -> None:
    # weights 1 / (distance + 1): 1/2 and 1/3 from rank 1, 1/2 and 1/2 from rank 2; out of 5/6, 1, 5/6
    chain = chain_of(ranked([1, 0, 1]), "GL_AD_ID")
    close(chain.p, [[0, 3 / 5, 2 / 5], [1 / 2, 0, 1 / 2], [2 / 5, 3 / 5, 0]], 1e-15)
    close(chain.visits / chain.visits[0], [1, 6 / 5, 1])
    assert parsed("MP").value([1, 0, 1]) == pytest.approx((1 + 2 / 3) / 2, abs=1e-15)


@every_model
def test_long_run(model: str, loops: str, counts: str) -> None:
    m = parsed(expression(model, loops, counts))
    rates = [0.5, 0.2, 2.0, 1.0]
    timed = parsed(expression(model, loops, counts, f",rates='{','.join(map(str, rates))}',rescale='R'"))
    scores, by_time = (one.scores(together(RELEVANT)) for one in (m, timed))
    for i, one in enumerate(RELEVANT):
        if not has_relevant(one):
            assert scores[i] == by_time[i] == 0
            continue
        chain = chain_of(one, model, loops, counts)
        relevant = np.where(chain.precision > 0, chain.visits, 0.0)
        close(scores[i], relevant @ chain.precision / relevant.sum())
        spent = relevant / np.array([rates[min(rank, 4) - 1] for rank in chain.ranks])
        found = (one.grades >= 1).sum()
        recall = found / (found + (one.rest >= 1).sum())
        close(by_time[i], spent @ chain.precision / spent.sum() * recall)
        if i < 5:
            gains = m.gains_of(together([one]))
            close(m.one_user.on(gains, 0).weights[np.array(chain.ranks) - 1], relevant / relevant.sum())
            expected = Distribution(chain.precision[relevant > 0], relevant[relevant > 0] / relevant.sum())
            close(m.one_user.distribution(m.question, gains, 0).distance(expected), 0.0)


def test_most_found_by_any_run() -> None:
    # 2 found here, 5 by the best run
    chain = chain_of(ranked([0, 1, 0, 1]), "LO_OR_LID")
    found = parsed("MP(model='LO_OR_LID',rescale='RR')").value([0, 1, 0, 1], most=5, relevant=7)
    close(found, chain.visits @ chain.precision / chain.visits.sum() * 2 / 5)


def steps_of(chain: Chain, steps: int, uniform: bool) -> tuple[ChainOnList, Array]:
    """The chain over (relevant documents looked at before, rank), which stops after so many, and the ranks."""
    n = len(chain.ranks)
    p = np.zeros((steps * n, steps * n))
    for k, i in itertools.product(range(steps), range(n)):
        after = k + (chain.precision[i] > 0)
        if after < steps:
            p[k * n + i, after * n : (after + 1) * n] = chain.p[i]
    start = np.zeros(steps * n)
    start[: n if uniform else 1] = 1.0 / n if uniform else 1.0
    return ChainOnList(p, start, None, Utility(), Effort()), np.tile(np.arange(n), steps)


@every_model
@pytest.mark.parametrize("start", ["first", "uniform"])
def test_some_steps(model: str, loops: str, counts: str, start: str) -> None:
    m = parsed(expression(model, loops, counts, f",steps=3,start='{start}'"))
    timed = parsed(expression(model, loops, counts, f",steps=3,start='{start}',rates='1,3,0.5'"))
    topics = [one for one in RELEVANT if has_relevant(one)][: LISTS // 20]
    scores, by_time = (one.scores(together(topics)) for one in (m, timed))
    for i, one in enumerate(topics):
        chain = chain_of(one, model, loops, counts)
        walk, at = steps_of(chain, 3, start == "uniform")
        precision = chain.precision[at]
        close(scores[i], walk.total(precision) / 3)
        time = np.where(precision > 0, 1.0 / np.array([[1.0, 3.0, 0.5][min(r, 3) - 1] for r in chain.ranks])[at], 0.0)
        close(by_time[i], walk.total(precision * time) / walk.total(time))
        exact = walk.distribution(TOTAL, precision)
        found = m.one_user.distribution(m.question, m.gains_of(together([one])), 0)
        close(found.distance(Distribution(exact.values / 3, exact.probs)), 0.0)
        close(m.one_user.on(m.gains_of(together([one])), 0).variance, exact.var / 9)


# ---- populations, fitted users, costs, ties


def density_of_beta(a: float, b: float) -> Callable[[float], float]:
    return lambda x: float(x ** (a - 1) * (1 - x) ** (b - 1) / beta(a, b))


@pytest.mark.parametrize(
    ("expression", "of", "weight", "low", "high"),
    [
        ("RBP(p=Beta(8,2))", lambda p: Forward(rbp(p)), density_of_beta(8, 2), 0.0, 1.0),
        ("RBP(p=Beta(2.5,3),finite=True)@4", lambda p: Forward(rbp(p, True)), density_of_beta(2.5, 3), 0.0, 1.0),
        ("INSQ(T=Uniform(1,3))", lambda t: Forward(insq(t)), lambda t: 0.5, 1.0, 3.0),
        ("PH(p=Uniform(0.3,0.6),loss=0,order=2)", lambda p: Walk(always(p), always(0.25)), lambda p: 1 / 0.3, 0.3, 0.6),
    ],
)
def test_populations(expression: str, of: Any, weight: Any, low: float, high: float) -> None:
    m = parsed(expression)
    topics = drawn()[:3]
    found = m.scores(together(topics))
    for i, one in enumerate(topics):
        gains = m.gains_of(together([one]))

        def density(x: float, gains: Gains = gains) -> float:
            return float(of(x).scores(ORDER2, gains)[0] * weight(x))

        close(found[i], quad(density, low, high, epsabs=1e-12, limit=200)[0], 1e-10)


def test_residual_of_a_population() -> None:
    # the mean over users of what each would have more, if the second document and all below the list were relevant
    def density(p: float) -> float:
        y = np.array([0.0, 1.0, 0.0, 1.0])
        p_and_start = Forward(rbp(p)).transitions(parsed("RBP").gains_of_grades([1, 0, 0]), 0)
        return ChainOnList(*p_and_start, None, Utility(), Effort()).score(ORDER2, y) * density_of_beta(8, 2)(p)

    found = list_residuals(parsed("RBP(p=Beta(8,2))"), together([ranked([1, nan, 0])]))
    close(found, quad(density, 0.0, 1.0, epsabs=1e-12)[0], 1e-10)


def test_fitted_users(tmp_path: Path) -> None:
    def several(*x: float) -> Estimate:
        return Estimate(list(x), [0.9 * v for v in x], [min(1.0, 1.1 * v) for v in x], [100] * len(x))

    p, q, matrix = (0.8, 0.5, 0.4), (0.1, 0.2, 0.3), [[0.1, 0.6, 0.3], [0.5, 0.2, 0.3], [0.7, 0.3, 0.0]]
    by_grade = Estimate([0.7, 0.3], [0.6, 0.2], [0.8, 0.4], [90, 40], grades=(0, 2))
    models = [
        FittedModel("rbp", "rbp", {"p": Estimate(0.65, 0.6, 0.7, 500)}, "last click"),
        FittedModel("insq", "insq", {"T": Estimate(1.7, 1.5, 2.0, 500)}, "last click"),
        FittedModel("inst", "inst", {"T": Estimate(1.7, 1.5, 2.0, 500)}, "last click"),
        FittedModel("C", "continuation", {"C": several(0.9, 0.4, 0.5)}, "cascade"),
        FittedModel("walk", "walk", {"p": several(*p), "q": several(*q)}, "clicks", first="stop"),
        FittedModel("grade", "walk", {"p": by_grade, "q": Estimate(0.2, 0.1, 0.3, 100)}, "clicks", first="forward"),
        FittedModel(
            "markov", "markov", {"P": Estimate(matrix, None, None, [100] * 3, concentration=[100.0] * 3)}, "all"
        ),
    ]
    path = tmp_path / "fit.toml"
    amble.write_fit(path, Fitted(Origin(["log"], "table", 300, 1800, 1500), models, best="walk"))
    users: list[tuple[str, DenseUser]] = [
        (f"RBP(user='{path}')", Forward(rbp(0.65))),
        (f"GRBP(user='{path}')@3", Forward(rbp(0.65))),
        (f"INSQ(user='{path}')", Forward(insq(1.7))),
        (f"INST(user='{path}')", Forward(inst(1.7))),
        (f"CWL(user='{path}')", Forward(by_rank(0.9, 0.4, 0.5))),
        (f"PH(user='{path}#walk',loss=0)", Walk(ranks(*p), ranks(*q), "stop")),
        (f"PH(user='{path}#walk',order=2)", Walk(ranks(*p), ranks(*q), "stop", utility=Utility(0.25))),
        (f"PH(user='{path}#grade',loss=0)@5", Walk(grades(g0=0.7, g2=0.3), always(0.2))),
    ]
    for text, user in users:
        m = of_lists(amble.parse(text))
        close(m.scores(together(drawn())), user.scores(m.question, m.gains_of(together(drawn()))), 1e-11)
    # no transition leads below the third rank
    y = binary(np.array([1.0, 0.0, 2.0]))
    chain = Chain([1, 2, 3], np.array(matrix), np.cumsum(y) / np.arange(1.0, 4.0) * y)
    there = chain.visits * y
    close(amble.parse(f"MP(user='{path}')").value([1, 0, 2, 1]), there @ chain.precision / there.sum())


COSTS = {0.0: 0.5, 1.0: 2.0, 3.0: 4.5}  # of grades; all else costs 1


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if case.measure.question.about_visits and not case.measure.declaration.norm
     and not case.expression.startswith("PH(model='AP'") and not case.expression.startswith("IFTRate(A=0.5)")],
    ids=lambda case: case.expression,
)  # fmt: skip
def test_costs(case: Case) -> None:
    topics, m = case.topics, case.measure
    lists = together(topics)
    lists.costs = Costs.by_grade(lists, COSTS)
    gains = m.gains_of(lists)
    columns = expectations(m, lists)
    for i, one in enumerate(topics[: LISTS // 6]):
        judged = one.grades if m.ends or case.cut is None else one.grades[: case.cut]
        user = case.user().on(gains, i)
        cost = np.ones(user.n)
        cost[: judged.size][: user.n] = [COSTS.get(grade, 1.0) for grade in judged[: user.n]]
        depth, total, spent = user.visits.sum(), user.visits @ gains.by_rank(i, user.n), user.visits @ cost
        close(columns[i], [total / depth, total, spent / depth, spent, depth])
        close(case.user().costs(case.gains_at_cost(topics[i], COSTS))[0], spent)


@pytest.mark.parametrize(("expression", "rule"), [("AP", ap), ("RR", rr), ("AP@3", ap)])
def test_report_of_found(expression: str, rule: Callable[[Seen], Down]) -> None:
    # the user of another kind, W(i) = sum over h >= i of L(h) / h, among those who find what they look for
    m, topics = parsed(expression), drawn()
    columns = expectations(m, together(topics))
    for i, one in enumerate(topics):
        gains = m.gains_of(together([one]))
        y, last = gains.by_rank(0), Forward(rule).on(gains, 0).last
        if not y.any():
            continue
        w = np.cumsum((last / np.arange(1.0, y.size + 1))[::-1])[::-1]
        user = Forward(lambda look, w=w: by_visits(np.append(w, 0.0))).on(gains, 0)
        total, depth = user.total(y), user.expected_depth
        close(columns[i], [total / depth, total, 1.0, depth, depth])


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if case.expression in (
        "P@5", "P", "R@4", "AP", "AP@3", "RR", "RR@3", "DCG", "nDCG", "nDCG@5", "RBP(p=0.5)", "RBP@3", "GRBP(p=0.7)",
        "RBP(p=0.6,finite=True)@4", "SDCG@6", "INSQ(T=1)", "INSQ(T=2.3)@4", "CWL(C='0.9,0.3,1,0.6')", "TBG(h=4)",
        "U(L=6.5)", "PH(model='DCG')",
    )] + [walking for walking in WALKS if walking.expression in ("PH", "PH(order=2)", "PH(loss=0,order=2)@4")],
    ids=lambda case: case.expression,
)  # fmt: skip
def test_tied_documents(case: Case | Walking) -> None:
    # a, then b c d, then e f with the same scores: the mean over the 3! x 2! orders
    rng = np.random.default_rng(4)
    for _ in range(max(LISTS // 30, 1)):
        judged = dict(zip("abcdefgh", rng.choice([0, 0, 1, 2, 3], 8).tolist(), strict=True)) | {"h": 3}
        run = dict(zip("abcdef", [3.0, 2.0, 2.0, 2.0, 1.0, 1.0], strict=True))
        lists = Lists.of_rankings(amble.align({"1": judged}, {"x": {"1": run}}, ties="expected"))
        orders = [
            ranked([judged[d] for d in ("a", *one, *other)], [judged["g"], judged["h"]])
            for one in itertools.permutations("bcd")
            for other in itertools.permutations("ef")
        ]
        if isinstance(case, Case):
            each = case.scores(orders)
        else:
            each = case.walk.scores(case.measure.question, case.measure.gains_of(together(orders)))
        close(case.measure.scores(lists), each.mean(), 1e-11)
