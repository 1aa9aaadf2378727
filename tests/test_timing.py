"""Time as effort: golden values, dense algebra and quadrature, closed forms, simulation, refusals, costs, fits."""

from __future__ import annotations

import copy
import itertools
import math
import pickle
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import amble
from amble.measures import Lists
from amble.rankings.costs import Costs
from amble.users import Timing, Utility, Walk
from amble.users.fitted import Estimate, Fitted, FittedModel, Origin

R = [1, 0, 0, 1, 0, 0, 1, 0, 0, 1]


def shape_of(law: str) -> float:
    return {"exponential": 1.0, "fixed": math.inf}.get(law) or float(law[6:-1])


def phi(law: str, u: float, mean: np.ndarray) -> np.ndarray:
    """E[e^(-u D)], as the textbooks have it."""
    k = shape_of(law)
    return np.exp(-u * mean) if k == math.inf else (1.0 + u * mean / k) ** -k


def dense(p: np.ndarray, q: np.ndarray, gains: np.ndarray, mean: np.ndarray, law: str, c: float, loss: float) -> Any:
    """E[T / (c + tau)] and E[T] / (c + E[tau]) of a walk whose step back from rank 1 is forward, by matrices."""
    from scipy.integrate import quad

    n = p.size
    p, q = p.copy(), q.copy()
    p[0], q[0] = p[0] + q[0], 0.0
    moves = np.diag(p[:-1], 1) + np.diag(q[1:], -1)
    stop = 1.0 - moves.sum(axis=1)

    def total(u: float) -> float:
        weights = phi(law, u, mean)
        every = np.linalg.inv(np.eye(n) - weights[:, None] * moves)
        ends, own = every @ (weights * stop), np.diag(every)
        return float((gains * every[0] * ends / (loss * own + 1.0 - loss)).sum())

    scale = c + float(np.linalg.inv(np.eye(n) - moves)[0] @ mean)

    def density(y: float) -> float:  # by the logarithm of u, in units of 1 / scale
        x = math.exp(y)
        return x * math.exp(-x * c / scale) * total(x / scale) / scale

    ends = (-40.0, -8.0, 0.0, 4.0, 10.0, 45.0)
    parts = [quad(density, a, b, epsabs=1e-13, epsrel=1e-12, limit=400) for a, b in itertools.pairwise(ends)]
    return sum(value for value, _ in parts), total(0.0) / scale


# ---- published and worked by hand


@pytest.mark.parametrize(
    ("more", "golden"),
    [
        ("timing='exponential',overhead=10", 0.0388855368634),
        ("timing='fixed'", 0.0401433138965),
        ("timing='gamma(2)'", 0.0601207841996),
    ],
)
def test_golden(more: str, golden: float) -> None:
    by_grade = amble.parse(f"PH(loss=0.25,effort='time',seconds='0=4,1=20',{more})")
    by_rank = amble.parse(f"PH(loss=0.25,effort='time',seconds='20,4,4,20,4,4,20,4,4,20',{more})")
    for score in (by_grade.value(R), by_rank.value(R), by_grade.user(R).order1(R), by_rank.user(R).order1(R)):
        assert abs(score - golden) < 0.6e-13


def test_one_visit() -> None:
    from scipy.special import exp1

    # one document, mean m: exponential E[1 / (c + D)] = e^(c / m) E1(c / m) / m; gamma(k) E[1 / D] = k / (m (k - 1))
    one = amble.parse("PH(effort='time',seconds=8,overhead=2)")
    assert one.value([1]) == pytest.approx(math.exp(0.25) * exp1(0.25) / 8, rel=1e-12)
    assert one(timing="gamma(3)", overhead=0).value([1]) == pytest.approx(3 / (8 * 2), rel=1e-12)
    assert one(timing="gamma(1.1)", overhead=0).value([1]) == pytest.approx(1.1 / (8 * 0.1), rel=1e-11)
    assert one(timing="fixed").value([1]) == pytest.approx(1 / 10, rel=1e-13)
    assert one(overhead=1e-9).value([1]) == pytest.approx(exp1(1e-9 / 8) / 8, rel=1e-9)
    assert one(overhead=1e9).value([1]) == pytest.approx(1e-9, rel=1e-7)


def test_order_2_by_hand() -> None:
    # 8/7 visits to rank 1 and 4/7 to rank 2; 10 and 4 seconds, 2 before: E[T] = 8/7, time 2 + 80/7 + 16/7 = 110/7
    m = amble.parse("PH(first='stop',loss=0,order=2,effort='time',seconds='10,4',overhead=2)")
    assert m.value([1, 0]) == pytest.approx(8 / 110, rel=1e-14)
    assert m.user([1, 0]).mean_time == pytest.approx(96 / 7, rel=1e-14)
    assert m(timing="gamma(7)").value([1, 0]) == m.value([1, 0])
    # endless: each rank below is reached from the one above, 1 - sqrt(1/2) ... so compare with a list of 300 documents
    long = [0, 1, 0, 1] + [0] * 300
    for order in (1, 2):
        timed = m(first="forward", loss=0.3, order=order, seconds="10,4,7,2,1")
        assert timed(end="endless").value([0, 1, 0, 1]) == pytest.approx(timed.value(long), rel=1e-12)
    assert m(per="endless", seconds="10,4,7").value([0, 1]) == pytest.approx(
        m(order=2).user([0, 1]).total([0, 1]) / m(seconds="10,4,7", end="endless").user([0, 1]).mean_effort, rel=1e-12
    )


@pytest.mark.parametrize("overhead", [0.0, 6.0, 7.5])
@pytest.mark.parametrize("p", [0.5, 0.749999])
def test_fixed_equal_times_are_visits(overhead: float, p: float) -> None:
    # 3 seconds each: T / (c + 3 h) = T / (h + c / 3) / 3
    timed = amble.parse(f"PH(p={p},loss=1,effort='time',seconds=3,timing='fixed',overhead={overhead})")
    counted = amble.parse(f"PH(p={p},loss=1,effort='h+{overhead / 3}')")
    for m, n in (
        (timed, counted),
        (timed(loss=0.3, order=2), counted(loss=0.3, order=2)),
        (timed(loss=0), counted(loss=0)),
    ):
        for grades in (R, R * 30, [0]):
            assert m.value(grades) == pytest.approx(n.value(grades) / 3, rel=1e-11, abs=1e-300)
    exact, known = timed.distribution(R), counted.distribution(R)
    np.testing.assert_allclose(exact.values, known.values / 3, rtol=1e-12)
    np.testing.assert_allclose(exact.probs, known.probs, rtol=1e-12)
    assert exact.mean == pytest.approx(timed.value(R), rel=1e-10)


# ---- against matrices and simulation


@pytest.mark.parametrize("law", ["exponential", "fixed", "gamma(2)", "gamma(0.7)"])
def test_random_walks_against_matrices(law: str) -> None:
    rng = np.random.default_rng(1)
    for case in range(8):
        n = int(rng.integers(1, 9))
        share = rng.dirichlet([2, 1, 1], n)
        p, q, gains, mean = share[:, 0], share[:, 1], rng.integers(0, 3, n) + 0.0, rng.uniform(1, 30, n)
        loss, c = rng.choice([0.0, 0.25, 1.0]), rng.choice([0.5, 10.0, 100.0])
        if case < 2 and law in ("fixed", "gamma(2)"):
            c = 0.0
        first, second = dense(p, q, gains, mean, law, c, loss)
        walk = Walk(p.tolist(), q.tolist(), utility=Utility(loss), timing=Timing(mean, law, c)).over(n)
        assert walk.order1(gains) == pytest.approx(first, rel=1e-10, abs=1e-12)
        assert walk.order2(gains) == pytest.approx(second, rel=1e-12)
        if loss != 0.25 or case % 2:
            continue
        table = gains * 0.0 + np.array([{0.0: 3.0, 1.0: 9.0, 2.0: 14.5}[y] for y in gains])  # seconds by grade
        looks = Walk(p.tolist(), q.tolist(), utility=Utility(loss), timing=Timing({0: 3, 1: 9, 2: 14.5}, law, c))
        first, second = dense(p, q, gains, table, law, c, loss)
        assert looks.over(n, gains).order1(gains) == pytest.approx(first, rel=1e-10, abs=1e-12)
        assert looks.over(n, gains).order2(gains) == pytest.approx(second, rel=1e-12)


def test_readers_followed_apart() -> None:
    script = Path(__file__).parent.parent / "benchmarks" / "gain_per_second.py"
    done = subprocess.run(
        [sys.executable, str(script), "--cases", "3", "--readers", "4000"], capture_output=True, text=True, check=True
    )
    told = [line for line in done.stdout.splitlines() if "largest" in line]
    assert [line.split(":")[0] for line in told] == ["chains", "walks"]
    assert all("above 4: 0 of 6 " in line for line in told)


def test_order_2_where_order_1_is_infinite() -> None:
    # exponential visits of 5 seconds, one of them: E[T] / E[tau] is 1 / 5, and T / tau has no mean
    m = amble.parse("PH(effort='time',seconds=5,order=2)")
    assert m.value([1]) == pytest.approx(0.2)
    for call in (m.distribution, lambda grades: amble.simulate(m, grades, users=10)):
        with pytest.raises(amble.MeasureError, match="the gain per second is infinite: something is gained on a path"):
            call([1])


def test_a_path_of_two_visits() -> None:
    # rank 1 always goes on to rank 2, which stops: exponential times of means 2 and 5 without overhead, a gain of 1.
    # E[1 / (A + B)] = (ln 5 - ln 2) / (5 - 2), from the integral of 1 / ((1 + 2u)(1 + 5u))
    walk = Walk([1.0, 0.0], [0.0, 0.0], timing=Timing("2,5")).over(2)
    for gains in ([1, 0], [0, 1]):
        assert walk.order1(gains) == pytest.approx(math.log(2.5) / 3, rel=1e-12)


def test_simulated_readers() -> None:
    rng = np.random.default_rng(5)
    for law in ("exponential", "fixed", "gamma(2)"):
        for seconds in ("12,8,5", {0: 3, 1: 20}):
            p = rng.uniform(0.2, 0.6, 4).round(2).tolist()
            m = amble.parse("PH")(p=p, q=0.3, effort="time", seconds=seconds, timing=law, overhead=4, loss=0.25)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = m.distribution(R, users=30_000, seed=3)
            assert abs(found.mean - m.value(R)) < 4 * found.standard_error
            assert abs(found.order2 - m(order=2).value(R)) < 4 * found.order2_error


def test_simulated_times() -> None:
    # one visit on a list of one document: its time has the law's mean and variance, d^2 / k
    from amble.users.simulation import WalkFollower

    for law, k in (("exponential", 1), ("gamma(4)", 4)):
        user = Walk(0.5, 0.25, timing=Timing(6, law, 2))
        readers = WalkFollower(user.over(1), [np.ones(1)], seed=1)
        spent = readers(0, 40_000).effort - 2
        assert abs(spent.mean() - 6) < 4 * 6 / math.sqrt(k * 40_000)
        assert abs(spent.var() - 36 / k) < 0.06 * 36 / k
        split = np.concatenate([readers(0, 13).effort, readers(13, 7).effort])
        assert (split == readers(0, 20).effort).all()
    # an endless list: visits beyond it take the time of the last rank
    user = Walk(0.6, 0.2, beyond="endless", timing=Timing("9,3", "fixed"))
    paths = WalkFollower(user.over(2), [np.zeros(2)], seed=1)(0, 50_000)
    mean, error = user.over(2).mean_time, paths.effort.std() / math.sqrt(50_000)
    assert abs(paths.effort.mean() - mean) < 4 * error
    assert ((paths.effort - 3 * paths.visits) % 6 == 0).all()


def test_weights_of_ranks() -> None:
    # rank 1 gains nothing here, where a gain would be worth without limit
    from amble.users import Question

    m = amble.parse("PH(effort='time',seconds='12,8,5')")
    grades = [0, 1, 0, 1]
    worth, per_gain = m.one_user.worth(Question.ORDER1, m.gains_of_grades(grades), 0)
    assert per_gain
    assert worth == pytest.approx([0, m.value([0, 1, 0, 0]), 0, m.value([0, 0, 0, 1])], rel=1e-12)
    with pytest.raises(amble.MeasureError, match="infinite"):
        m.user(grades).order1_weights()


# ---- many lists


def test_many_lists_are_scored_as_each() -> None:
    rng = np.random.default_rng(2)
    rows = [rng.integers(0, 2, rng.integers(1, 25)).tolist() for _ in range(8)]
    qrels = {str(i): {f"d{k}": g for k, g in enumerate(row)} | {"other": 1} for i, row in enumerate(rows)}
    run = {str(i): {f"d{k}": -float(k) for k in range(len(row))} for i, row in enumerate(rows)}
    texts = [
        "PH(effort='time',seconds='12,8,5',overhead=5)",
        "PH(effort='time',seconds='0=4,1=20',timing='gamma(3)')",
        "PH(p='0=0.6,1=0.3',effort='time',seconds='12,8,5',timing='fixed')",
        "PH(effort='time',seconds='12,8,5',overhead=5,end='endless')",
        "PH(effort='time',seconds='0=4,1=20',overhead=1,end='endless',order=2)",
        "PH(effort='time',seconds='0=4,1=20',overhead=1)@7",
    ]
    scores = amble.evaluate(qrels, {"x": run}, texts)
    for j, text in enumerate(texts):
        each = [amble.parse(text).value(row) for row in rows]
        np.testing.assert_allclose(scores.values[0, :, j], each, rtol=1e-11, atol=1e-14, err_msg=text)


def test_a_population() -> None:
    # overhead uniform on 2 to 6 s, one visit of 3 s: the mean of 1 / (c + 3) is ln(9 / 5) / 4
    m = amble.parse("PH(effort='time',seconds=3,timing='fixed',overhead=Uniform(2,6))")
    assert m.value([1]) == pytest.approx(math.log(9 / 5) / 4, rel=1e-12)


def test_tied_documents() -> None:
    # a (relevant) and b are tied: half of the time at rank 1, half at rank 2
    m = amble.parse("PH(effort='time',seconds='12,8,5',overhead=5)")
    found = amble.evaluate({"1": {"a": 1}}, {"x": {"1": {"a": 2.0, "b": 2.0, "c": 1.0}}}, m, ties="expected").values
    assert found[0, 0, 0] == pytest.approx((m.value([1, 0, 0]) + m.value([0, 1, 0])) / 2, rel=1e-12)
    looks = m(seconds={0: 4, 1: 20})
    with pytest.raises(amble.MeasureError, match="ties='expected'"):
        amble.evaluate({"1": {"a": 1}}, {"x": {"1": {"a": 2.0, "b": 2.0}}}, looks, ties="expected")


def test_costs(write: Any, amble_cli: Any) -> None:
    walk = Walk(0.5, 0.25)
    lists = Lists.of_grades([1, 0, 2])
    lists.costs = Costs(np.array([3.0, 5.0, 11.0]), np.array([0, 3]))
    gains = amble.parse("PH(gains='linear')").gains_of(lists)
    assert walk.costs(gains)[0] == pytest.approx(walk.over(3).visits @ [3, 5, 11], rel=1e-14)
    endless = Walk(0.5, 0.25, beyond="endless")
    on = endless.over(3)
    assert endless.costs(gains)[0] == pytest.approx(on.visits @ [3, 5, 11] + on.tail_visits, rel=1e-14)  # 1 beyond
    qrels, run = {"1": {"a": 1, "c": 2}}, {"x": {"1": {"a": 3.0, "b": 2.0, "c": 1.0}}}
    timed = "PH(effort='time',seconds='{}',overhead=2,gains='linear')"
    same = amble.evaluate(qrels, run, timed.format("3,5,11")).values
    assert amble.evaluate(qrels, run, timed.format("costs"), costs={"a": 3, "b": 5, "c": 11}).values == pytest.approx(
        same
    )
    by_grade = amble.evaluate(qrels, run, timed.format("costs"), costs={1: 4.0, 2: 9.0}).values  # b is unjudged: 1
    assert by_grade == pytest.approx(amble.evaluate(qrels, run, timed.format("0=1,1=4,2=9")).values)
    table = amble.cwl(qrels, run, "PH(order=2)", costs={"a": 3, "b": 5, "c": 11})
    assert table.rows[0][6] == pytest.approx(walk.costs(gains)[0])
    q, r = write("q", "1 0 a 1\n1 0 c 2\n"), write("r", "1 Q0 a 1 3 x\n1 Q0 b 2 2 x\n1 Q0 c 3 1 x\n")
    costs = write("c", "a 3\nb 5\nc 11\n")
    done = amble_cli("eval", q, r, "-m", timed.format("costs"), "--costs", costs, "--quiet", "--digits", "10")
    assert f"{same[0, 0, 0]:.10f}" in done.stdout


def test_fitted_seconds(tmp_path: Path) -> None:
    times = Estimate([0.1, 0.25], [0.09, 0.2], [0.11, 0.3], [50, 40], draws=[[0.2, 0.25], [0.1, 0.5]])
    p, q = (Estimate(x, x, x, 100, draws=[x, x]) for x in (0.5, 0.25))
    models = [
        FittedModel("walk", "walk", {"p": p, "q": q}, "clicks", first="forward"),
        FittedModel("times", "times", {"mu": times}, "clicks"),
    ]
    file = tmp_path / "fit.toml"
    amble.write_fit(file, Fitted(Origin(["log"], "table", 300, 900, 600), models))
    m = amble.parse(f"PH(user='{file}',effort='time',seconds='{file}',overhead=5)")
    plain = amble.parse("PH(effort='time',seconds='10,4',overhead=5)")
    assert m.value(R) == pytest.approx(plain.value(R), rel=1e-12)
    assert amble.parse(str(m)) == m
    from amble.measures.fitted_parameters import resampled

    assert [x.value(R) for x in resampled(m, 9)] == pytest.approx(
        [plain(seconds=s).value(R) for s in ("5,4", "10,2")], rel=1e-12
    )


# ---- what is refused, and how it is written


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("PH(seconds=3)", "seconds=3 has no effect without effort='time'"),
        ("PH(timing='fixed')", "timing='fixed' has no effect"),
        ("PH(overhead=5)", "overhead=5 has no effect"),
        ("PH(effort='time')", "needs seconds"),
        ("PH(effort='time',seconds='3,0')", "s above 0"),
        ("PH(effort='time',seconds=-1)", "s above 0"),
        ("PH(effort='time',seconds='0=4,1=x')", "s above 0"),
        ("PH(effort='time',seconds=3,overhead=-1)", "at least 0"),
        ("PH(effort='time',seconds=3,timing='gamma(0)')", "shape k from 0.01"),
        ("PH(effort='time',seconds=3,timing='gauss')", "'exponential', 'fixed'"),
        ("PH(effort='time',seconds='0=4,1=20',per='endless',order=2)", "needs a list to look at"),
        ("PH(model='RBP',effort='time',seconds=3)", "effort='time' is of walks, not of model='RBP'"),
        ("PH(effort='time',seconds='absent.toml')", "absent.toml"),
    ],
)
def test_refused(text: str, words: str) -> None:
    with pytest.raises(amble.MeasureError) as error:
        amble.parse(text)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_infinite_means_are_refused() -> None:
    m = amble.parse("PH(effort='time',seconds='12,8,5')")
    for fails in (m, m(timing="gamma(0.5)"), m(seconds={0: 4, 1: 20}), m(loss=1)):
        for ask in (fails.value, fails.distribution, fails.user([1, 0]).order1):
            with pytest.raises(amble.MeasureError, match="gain per second is infinite: .* path of 1 visit"):
                ask([1, 0])
    assert m.value([0, 1, 0]) > 0  # two visits at least: the sum of two exponential times has a mean inverse
    with pytest.raises(amble.MeasureError, match="path of 2 visits, .* add up to 1,"):
        m(timing="gamma(0.5)").value([0, 1])
    assert m(timing="gamma(0.51)", seconds=4).value([0, 0, 1]) > 0
    with pytest.raises(amble.MeasureError, match="too near to infinite"):
        m(timing="gamma(1.01)").value([1, 0])
    assert m(p=1, q=0, first="stop").value([1, 0]) > 0  # nobody stops at rank 1
    for finite in (m(overhead=0.001), m(timing="fixed"), m(timing="gamma(1.1)"), m(order=2)):
        assert finite.value([1, 0]) > 0
    assert m.value([0, 0]) == 0
    assert m.value([]) == 0
    with pytest.raises(amble.MeasureError, match="found no costs"):
        m(seconds="costs").value([1])


def test_written_and_read_again() -> None:
    for text, shown in (
        ("seconds='12, 8,5.0',timing='gamma(2.0)',overhead=5", "seconds='12,8,5',timing='gamma(2)',overhead=5"),
        ("seconds='1=20,0=4',timing='fixed'", "seconds='0=4,1=20',timing='fixed'"),
        ("seconds=12,timing='gamma(1)',overhead=5", "seconds=12,overhead=5"),
        ("seconds='costs',overhead=5", "seconds='costs',overhead=5"),
    ):
        m = amble.parse(f"PH(effort='time',{text})")
        assert str(m) == f"PH(effort='time',{shown})"
        assert amble.parse(str(m)) == m == pickle.loads(pickle.dumps(m))
    timing = Timing([12, 8], "gamma(2)", 5)
    assert timing == copy.deepcopy(timing) == pickle.loads(pickle.dumps(timing)) != Timing([12, 8], "gamma(2)", 6)
    with pytest.raises(AttributeError):
        timing.overhead = 3.0
    for bad in ((0,), ("x",), (None,), (1, "fixed", math.nan), ([],), (1, 2)):
        with pytest.raises(amble.MeasureError):
            Timing(*bad)
