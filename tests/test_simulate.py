"""Users, simulated: their band holds the exact distribution, and the seed alone decides."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import amble
from amble.evaluation import simulated_distributions
from amble.evaluation.simulated_distributions import Simulation, simulate_lists
from amble.measures import Lists
from amble.native import is_compiled
from amble.users import Question
from amble.users.effort import Effort
from amble.users.simulation import ScoreCounts, WalkFollower, followed, simulated_distribution
from amble.users.utility import Utility
from amble.users.walk import Walk

pytestmark = pytest.mark.twin

R10 = [1, 0, 0, 1, 0, 0, 1, 0, 0, 1]


def within(simulated: amble.Distribution, exact: amble.Distribution, alpha: float = 1e-6) -> bool:
    """Whether the band holds the whole cdf; equal scores may differ in their last bits."""
    rounded = (
        amble.Distribution(np.round(distribution.values, 9), distribution.probs) for distribution in (simulated, exact)
    )
    a, b = rounded
    return a.distance(b) < simulated.band_at(1 - alpha)


def some_walk(rng: np.random.Generator) -> tuple[Walk, np.ndarray]:
    """A random walk without loss, or with all of it, whose exact distribution is known."""
    n = int(rng.integers(1, 15))
    by = rng.integers(3)
    count = (1, n, 3)[by]
    stop = rng.uniform(0.15, 0.8, count)
    share = rng.random(count)
    p, q = ((1 - stop) * share).tolist(), ((1 - stop) * (1 - share)).tolist()
    rules: Any = [(p[0], q[0]), (p, q), (dict(enumerate(p)), dict(enumerate(q)))][by]
    start = None if rng.random() < 0.5 else rng.dirichlet(np.ones(n))
    user = Walk(
        *rules,
        first=str(rng.choice(["forward", "stop"])),
        start=start,
        beyond="stop" if by == 1 else str(rng.choice(["stop", "endless"])),
        utility=Utility(float(rng.integers(2))),
        effort=Effort(str(rng.choice(["h", "h+1", "sqrt", "log", "1", "h^2"]))),
    )
    return user, rng.choice([0.0, 0.0, 1.0, 2.0], n)


def test_many_users_for_forty_walks() -> None:
    rng = np.random.default_rng(2020)
    for i in range(15 if slow() else 40):
        user, grades = some_walk(rng)
        on_list = user.over(grades.size, grades)
        users = 20_000 if slow() else 400_000 if i == 0 else 20_000
        simulated = simulated_distribution(WalkFollower(on_list, [grades], i), Question.ORDER1, users, i)
        assert within(simulated, on_list.distribution(grades)), i
        rare = 40 / users  # what nobody of these users may have met
        assert abs(simulated.mean - on_list.order1(grades)) <= 6 * simulated.standard_error + rare
        assert abs(simulated.order2 - on_list.order2(grades)) <= 6 * simulated.order2_error + rare
        assert simulated.mean_visits == pytest.approx(on_list.expected_depth, rel=0.05)


def slow() -> bool:
    """Whether the plain twin is at work."""
    return not is_compiled("walker")


def test_a_loss_and_its_orders() -> None:
    # orders 1 and 2 have closed forms with any loss; the distribution has not
    users = 20_000 if slow() else 1_000_000
    for text in ("PH", "PH(loss=0.9,q=0.4)", "PH(utility='1,0.5,0.5,0.1')", "PH(p='0=0.7,1=0.2',effort='log')"):
        m = amble.parse(text)
        distribution = amble.simulate(m, R10, users=users, seed=11)
        assert abs(distribution.mean - m.value(R10)) < 5 * distribution.standard_error
        second = amble.parse(text[:-1] + ",order=2)" if text.endswith(")") else text + "(order=2)")
        assert abs(distribution.order2 - second.value(R10)) < 5 * distribution.order2_error


@pytest.mark.parametrize(
    "measure",
    ["AP", "RBP", "RBP(p=0.5,finite=True)", "INSQ", "INST(T=2)", "ERR", "RR", "DCG", "nDCG", "P@5", "AP@4", "BPM(T=2)"],
)
def test_users_who_walk_down(measure: str) -> None:
    simulated = amble.simulate(measure, R10, users=20_000, seed=3, relevant=6)
    assert within(simulated, amble.parse(measure).distribution(R10, relevant=6))


def test_the_seed_alone_decides() -> None:
    one = amble.simulate("PH", R10, users=30_000, seed=5, threads=1)
    two = amble.simulate("PH", R10, users=30_000, seed=5, threads=2)
    other = amble.simulate("PH", R10, users=30_000, seed=6)
    np.testing.assert_array_equal(one.values, two.values)
    np.testing.assert_array_equal(one.probs, two.probs)
    assert one.probs.tolist() != other.probs.tolist()
    assert one.seed == 5
    assert one.users == 30_000


def test_the_first_users_are_the_same_whoever_follows() -> None:
    on_list, gains = Walk(0.5, 0.25, utility=Utility(0.3)).over(10), [np.array(R10, float)]
    few = list(followed(WalkFollower(on_list, gains, 5), 500))
    many = list(followed(WalkFollower(on_list, gains, 5), 20_000 if slow() else 3_000_000))
    for one, other in ((few[0].total, many[0].total), (few[0].visits, many[0].visits)):
        np.testing.assert_array_equal(one, other[: len(one)])
    assert sum(len(paths.visits) for paths in few) == 500


def test_the_same_users_walk_every_list() -> None:
    # common random numbers: a list that is better at every rank is better for every user
    worse, better = [0, 1, 0, 0, 1], [1, 1, 0, 1, 1]
    a, b = (amble.simulate("PH(loss=0.3)", y, users=2_000, seed=1) for y in (worse, better))
    at = np.union1d(a.values, b.values)
    assert (a.cdf(at) >= b.cdf(at) - 1e-12).all()
    assert a.mean_visits == b.mean_visits


def test_many_lists_share_walks_and_give_each_its_own_distribution() -> None:
    qrels = {"1": {"a": 1, "c": 1}, "2": {"b": 1}, "3": {"x": 1}}
    runs = {
        "r": {t: {"a": 3.0, "b": 2.0, "c": 1.0} for t in ("1", "2", "3")},
        "s": {"1": {"c": 3.0, "b": 2.0}, "2": {"b": 3.0}, "3": {"x": 1.0, "y": 0.5, "z": 0.2}},
    }
    rankings = amble.align(qrels, runs)
    lists = Lists.of_rankings(rankings)
    for text in ("PH(loss=0.4)", "RBP", "AP"):
        m = amble.parse(text)
        each = simulate_lists(m, lists, [[i] for i in range(lists.n)], 3_000, 4)
        for i, distribution in enumerate(each):
            run, topic = rankings.runs[rankings.run[i]], rankings.topics[rankings.topic[i]]
            judged = list(qrels[topic].values())
            alone = amble.simulate(m, rankings.grades(run, topic), 3_000, 4, ideal=judged)
            np.testing.assert_allclose(distribution.values, alone.values, rtol=1e-15)
            np.testing.assert_allclose(distribution.probs, alone.probs, rtol=1e-15)
        whole = simulate_lists(m, lists, [[0, 1, 2]], 3_000, 4)[0]
        assert whole.mean == pytest.approx(np.mean([distribution.mean for distribution in each[:3]]), abs=1e-12)


def test_progress_is_told() -> None:
    told: list[tuple[int, int]] = []
    amble.simulate("PH", R10, users=10_000, seed=1, progress=lambda done, all_: told.append((done, all_)))
    assert told[-1] == (10_000, 10_000)


def test_a_distribution_that_has_no_closed_form_is_simulated_with_a_warning() -> None:
    m = amble.parse("PH")
    with pytest.warns(amble.SimulationWarning, match="PH: visits are worth less .* 5,000 users simulated"):
        distribution = m.distribution(R10, users=5_000, seed=2)
    assert distribution.users == 5_000
    np.testing.assert_array_equal(distribution.values, amble.simulate(m, R10, users=5_000, seed=2).values)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert amble.parse("PH(loss=0)").distribution(R10).users is None


@pytest.mark.parametrize("text", ["MP(steps=7)", "MP(steps=4,start='uniform',rates='1,3,2',rescale='R')"])
def test_users_of_some_steps(text: str) -> None:
    m, grades, context = amble.parse(text), [0, 1, 0, 1, 1, 0, 1], {"relevant": 5}
    exact = m.distribution(grades, **context)
    distribution = amble.simulate(m, grades, users=30_000, seed=3, **context)
    rounded = [amble.Distribution(np.round(x.values, 9), x.probs) for x in (exact, distribution)]
    assert rounded[0].distance(rounded[1]) < distribution.band_at(1 - 1e-6)
    assert abs(distribution.order2 - m.value(grades, **context)) < 5 * distribution.order2_error
    assert distribution.mean_visits == m.values["steps"]
    # the seed alone decides, whatever the threads, and one user more does not change the others
    again = amble.simulate(m, grades, users=30_000, seed=3, threads=3, **context)
    np.testing.assert_array_equal(again.values, distribution.values)
    np.testing.assert_array_equal(again.probs, distribution.probs)
    assert amble.simulate(m, grades, users=30_000, seed=4, **context).mean != distribution.mean
    user = m.user(grades, **context)
    few, many = (np.concatenate([x.total[:, 0] for x in followed(user.follower(5), n)]) for n in (500, 70_000))
    np.testing.assert_array_equal(few, many[:500])
    assert amble.simulate(m, [0, 0, 0], users=10).values.tolist() == [0]


def test_steps_too_many_for_an_exact_distribution() -> None:
    m = amble.parse("MP(steps=40)")
    grades = [1, 0] * 10
    with pytest.warns(amble.SimulationWarning, match=r"MP\(steps=40\): 40 looks at 10 .* 5,000 users simulated"):
        distribution = m.distribution(grades, users=5_000, seed=2)
    assert distribution.users == 5_000
    np.testing.assert_array_equal(distribution.values, amble.simulate(m, grades, users=5_000, seed=2).values)
    assert abs(distribution.mean - m.value(grades)) < 5 * distribution.standard_error
    # the variance is exact all the same; that of a sample of 5,000 is within a tenth of it
    assert distribution.var == pytest.approx(m.user(grades).variance, rel=0.1)  # type: ignore[union-attr]
    with pytest.raises(amble.MeasureError, match="users would look 1.0e[+]12 times, expected at most 1e[+]10"):
        amble.simulate("MP(steps=10000000)", grades)
    rankings = amble.align({"1": {"a": 1, "b": 1}}, {"x": {"1": {"a": 3.0, "c": 2.0, "b": 1.0}}})
    assert amble.run_distributions(rankings, "MP(steps=3)")["x"].users is None
    assert amble.run_distributions(rankings, "MP(steps=3)", users=100)["x"].users == 100


def test_scores_are_counted_and_rounded() -> None:
    counts = ScoreCounts()
    ones = np.ones(4)
    for score in (np.array([0.5, 0.5, 1.0, 0.0]), np.array([0.5, 0.25, 1.0, 1.0])):
        counts.add(score, score, ones, ones)
    distribution = counts.distribution(8, 0)
    assert distribution.values.tolist() == [0, 0.25, 0.5, 1]
    assert distribution.probs.tolist() == [1 / 8, 1 / 8, 3 / 8, 3 / 8]
    many_counts = ScoreCounts()
    rng = np.random.default_rng(1)
    scores = rng.random(3 << 20)
    for part in np.array_split(scores, 4):
        many_counts.add(part, part, np.ones(part.size), np.ones(part.size))
    many = many_counts.distribution(scores.size, 0)
    assert many.values.size <= (1 << 20) + 1
    x = np.linspace(0, 1, 101)
    np.testing.assert_allclose(many.cdf(x), np.searchsorted(np.sort(scores), x, side="right") / scores.size, atol=1e-5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"users": 0}, "users=0: expected a whole number of at least 1"),
        ({"users": 1.5}, "users=1.5"),
        ({"users": True}, "users=True"),
        ({"seed": -1}, "seed=-1"),
        ({"seed": 1 << 64}, "seed=18446744073709551616"),
        ({"threads": 0}, "threads=0"),
    ],
)
def test_numbers_that_make_no_sense(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(amble.MeasureError, match=message):
        amble.simulate("PH", R10, **arguments)


def test_counts_are_no_user() -> None:
    with pytest.raises(amble.MeasureError, match="not a user"):
        amble.simulate("NumRel", R10)


def test_an_empty_list_and_one_document() -> None:
    for grades in ([], [0], [1]):
        distribution = amble.simulate("PH", grades, users=100, seed=1)
        assert isinstance(distribution, Simulation)
        assert distribution.values.tolist() == [float(sum(grades))]


def test_users_who_leave_with_nothing_have_seen_no_more_than_the_list() -> None:
    assert amble.simulate("ERR", [0, 0, 0], users=100).mean_visits == 3
    distribution = amble.simulate("PH(model='AP',order=2)", [1, 0, 1], users=50_000, seed=4, relevant=4)
    assert (
        abs(distribution.order2 - amble.parse("PH(model='AP',order=2)").value([1, 0, 1], relevant=4))
        < 5 * distribution.order2_error
    )


def test_the_error_of_order_2_is_what_it_says() -> None:
    # the spread over seeds of the estimate, against the error it states: within 25 % with 200 seeds
    m = amble.parse("PH(loss=0.5)")
    found = [amble.simulate(m, R10, users=500, seed=seed, threads=1) for seed in range(200)]
    spread = np.std([distribution.order2 for distribution in found], ddof=1)
    assert spread == pytest.approx(np.mean([distribution.order2_error for distribution in found]), rel=0.25)
    spread = np.std([distribution.mean for distribution in found], ddof=1)
    assert spread == pytest.approx(np.mean([distribution.standard_error for distribution in found]), rel=0.25)


def test_order_2_of_a_run_is_the_mean_over_topics() -> None:
    qrels = {"1": {"a": 1}, "2": {f"d{i}": 1 for i in range(30)}}
    run = {"1": {"x": 2.0, "a": 1.0}, "2": {f"d{i}": -float(i) for i in range(60)}}
    rankings = amble.align(qrels, {"r": run})
    distribution = amble.run_distributions(rankings, "PH(loss=0.3)", users=40_000, seed=2)["r"]
    assert isinstance(distribution, Simulation)
    want = amble.evaluate(rankings, "PH(loss=0.3,order=2)").means()[0, 0]
    assert abs(distribution.order2 - want) < 5 * distribution.order2_error


def test_many_batches_on_many_threads_lose_nobody() -> None:
    told: list[int] = []
    distribution = amble.simulate("PH", R10, users=9_999, seed=1, threads=3, progress=lambda done, _: told.append(done))
    alone = amble.simulate("PH", R10, users=9_999, seed=1, threads=1)
    np.testing.assert_array_equal(distribution.probs, alone.probs)
    assert told[-1] == 9_999
    assert len(told) > 3


def test_a_line_on_the_terminal_where_nothing_else_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib

    told: list[tuple[int, int]] = []

    class Line:
        def __init__(self, what: str) -> None:
            assert what == "simulating PH"

        def __call__(self, done: int, total: int) -> None:
            told.append((done, total))

        def __enter__(self) -> Line:
            return self

        def __exit__(self, *_: object) -> None:
            told.append((-1, -1))

    monkeypatch.setattr(importlib.import_module("amble.evaluation.simulated_distributions"), "Progress", Line)
    amble.simulate("PH", R10, users=1_000)
    assert told[-2:] == [(1_000, 1_000), (-1, -1)]


def test_more_visits_than_anybody_could_wait_for() -> None:
    with pytest.raises(amble.MeasureError, match="visits, expected at most"):
        amble.simulate("PH(p=.5,q=.499999999,loss=0.5,end='endless')", [1, 1])


@pytest.mark.parametrize(
    "measure", ["PH", "PH(end='endless',start='.5,.3,.2',gains='linear')", "AP", "DCG@10", "RBP(p=0.8)", "ERR", "nDCG"]
)
def test_users_who_go_the_same_path_are_scored_once(measure: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(7)
    grades = rng.choice([0, 0, 1, 2], (40, 30))
    qrels = {str(t): {f"{d:02}": int(g) for d, g in enumerate(row)} for t, row in enumerate(grades)}
    run = {t: {d: -float(d) for d in docs} for t, docs in qrels.items()}
    rankings = amble.align(qrels, {"x": run})
    users = 3000 if is_compiled("walker") else 400
    found = amble.run_distributions(rankings, measure, users=users, seed=3)["x"]
    monkeypatch.setattr(simulated_distributions, "_MANY", 1 << 30)
    told = amble.run_distributions(rankings, measure, users=users, seed=3)["x"]
    assert isinstance(found, Simulation)
    assert isinstance(told, Simulation)
    assert (found.values.tobytes(), found.probs.tobytes()) == (told.values.tobytes(), told.probs.tobytes())
    assert (found.order2, found.order2_error) == pytest.approx((told.order2, told.order2_error), rel=1e-13)
    assert found.mean_visits == told.mean_visits


@pytest.mark.parametrize("beyond", ["stop", "endless"])
def test_the_first_users_of_each_path(beyond: str) -> None:
    follower = WalkFollower(Walk(0.5, 0.25, start=[0.5, 0.5], beyond=beyond).over(3), [np.ones(3)], 5)
    paths = [tuple(path.tolist()) for path in follower.paths(100, 2000)]
    found = follower.alike(100, 2000)
    assert found is not None
    firsts: dict[tuple[int, ...], int] = {}
    for user, path in enumerate(paths):
        firsts.setdefault(path, user)
    assert found[0].tolist() == list(firsts.values())
    assert found[1].tolist() == [paths.count(path) for path in firsts]
