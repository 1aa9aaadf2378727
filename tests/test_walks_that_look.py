"""Walks whose p and q depend on rank, grade and what was gained so far, against all their paths, followed here."""

from __future__ import annotations

import importlib.util
import math
import subprocess
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import amble
from amble.expressions.domains import Probability
from amble.measures import PH, REGISTRY, Lists
from amble.users import Effort, Question, Utility, Walk, adaptive_walk
from amble.users.joint_distribution import NoExactDistributionError

Cli = Callable[..., subprocess.CompletedProcess[str]]
Rule = Callable[[float, float, float], float]  # of rank, grade and what was gained so far

GOLDEN = [1, 0, 1, 0, 1]


class Paths(NamedTuple):
    """All paths of a walk: gain, visits and probability of each end, and the visits and ends at each rank."""

    ends: dict[tuple[float, int], float]
    visits: np.ndarray[Any, Any]
    last: np.ndarray[Any, Any]

    def mean(self, of: Callable[[float, int], float]) -> float:
        return math.fsum(p * of(t, h) for (t, h), p in self.ends.items())


def all_paths(
    p: Rule, q: Rule, grades: list[float], loss: float = 0.0, first: str = "forward", start: tuple[float, ...] = (1.0,)
) -> Paths:
    """All paths, one visit more at a time, until fewer than 1e-14 of the users walk: those of equal counts together.

    What was visited how often is the whole state, so that any loss will do.
    """
    n = len(grades)
    out = Paths({}, np.zeros(n), np.zeros(n))
    walking: dict[tuple[int, tuple[int, ...], float], float] = {}

    def enter(rank: int, counts: tuple[int, ...], total: float, share: float) -> None:
        total = round(total + grades[rank] * (1 - loss) ** counts[rank], 12)
        key = rank, (*counts[:rank], counts[rank] + 1, *counts[rank + 1 :]), total
        walking[key] = walking.get(key, 0.0) + share

    for rank, share in enumerate(start):
        if share:
            enter(min(rank, n - 1), (0,) * n, 0.0, share)
    while sum(walking.values()) > 1e-14:
        before, walking = walking, {}
        for (i, counts, total), share in before.items():
            h = sum(counts)
            a, b = p(i + 1, grades[i], total), q(i + 1, grades[i], total)
            if i == 0:
                a, b = (a + b, 0.0) if first == "forward" else (a, 0.0)
            if i == n - 1:
                a = 0.0
            out.visits[i] += share
            out.last[i] += share * (1 - a - b)
            out.ends[total, h] = out.ends.get((total, h), 0.0) + share * (1 - a - b)
            if a:
                enter(i + 1, counts, total, share * a)
            if b:
                enter(i - 1, counts, total, share * b)
    return out


def drawn(seed: int) -> tuple[dict[str, Any], Rule, Rule]:
    """A random walk that looks at everything, and stops with .3 at least."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 6))
    a, b = rng.uniform(0, 0.35, (2, n, 3))
    c, d = rng.uniform(0, 1, 2)
    case = {
        "grades": rng.choice([0.0, 0.0, 1.0, 2.0], n).tolist(),
        "first": ("forward", "stop")[int(rng.integers(2))],
        "start": ((1.0,), (0.25, 0.0, 0.75), (0.0, 1.0))[int(rng.integers(3))],
    }

    def p(rank: Any, grade: Any, seen: Any) -> Any:
        return a[np.asarray(rank, int) - 1, np.asarray(grade, int)] / (1 + c * seen)

    def q(rank: Any, grade: Any, seen: Any) -> Any:
        return b[np.asarray(rank, int) - 1, np.asarray(grade, int)] * (1 - d * (seen > 1.5))

    return case, p, q


@pytest.mark.parametrize("loss", [0.0, 1.0])
@pytest.mark.parametrize("seed", range(12))
def test_against_all_paths(seed: int, loss: float) -> None:
    case, p, q = drawn(seed)
    y, sides = case["grades"], {"first": case["first"], "start": case["start"]}
    paths = all_paths(p, q, y, loss, **sides)
    walk = Walk(p, q, **sides, utility=Utility(loss)).over(len(y), y)
    assert walk.total(y) == pytest.approx(paths.mean(lambda t, h: t), abs=1e-12)
    assert walk.expected_depth == pytest.approx(paths.mean(lambda t, h: h), abs=1e-12)
    assert walk.depth_var == pytest.approx(paths.mean(lambda t, h: h * h) - walk.expected_depth**2, abs=1e-11)
    assert walk.total_var(y) == pytest.approx(paths.mean(lambda t, h: t * t) - walk.total(y) ** 2, abs=1e-11)
    assert walk.order1(y) == pytest.approx(paths.mean(lambda t, h: t / h), abs=1e-12)
    assert walk.order2(y) == pytest.approx(walk.total(y) / walk.expected_depth, abs=1e-12)
    assert walk.visits == pytest.approx(paths.visits, abs=1e-12)
    assert walk.last == pytest.approx(paths.last, abs=1e-12)
    assert walk.halting * walk.visits == pytest.approx(paths.last, abs=1e-12)
    found: dict[tuple[float, int], float] = {}
    for t, h, share in zip(*walk.joint(y), strict=True):
        key = round(float(t), 12), int(h)
        found[key] = found.get(key, 0.0) + share
    for key in found.keys() | paths.ends.keys():
        assert found.get(key, 0.0) == pytest.approx(paths.ends.get(key, 0.0), abs=1e-13), key
    # what the ranks add up to is the score, and a rank without a gain could not change it
    assert walk.worth(Question.TOTAL) @ y == pytest.approx(walk.total(y), abs=1e-12)  # type: ignore[attr-defined]
    for form in ("log", "h^2", "h+3"):
        other = Walk(p, q, **sides, utility=Utility(loss), effort=Effort(form)).over(len(y), y)
        f = {"log": lambda h: math.log2(h + 1), "h^2": lambda h: h * h, "h+3": lambda h: h + 3}[form]
        assert other.order1(y) == pytest.approx(paths.mean(lambda t, h: t / f(h)), abs=1e-12)  # noqa: B023
        assert other.mean_effort == pytest.approx(paths.mean(lambda t, h: f(h)), abs=1e-11)  # noqa: B023


def test_golden_value_4() -> None:
    def stop(seen: Any) -> Any:
        return np.minimum(0.9, 0.1 + 0.2 * seen)

    def p(seen: Any) -> Any:
        return 0.75 * (1 - stop(seen))

    def q(seen: Any) -> Any:
        return 0.25 * (1 - stop(seen))

    for loss, order1, order2 in ((0, 0.701078334777, 0.625351063978), (1, 0.657536949767, 0.546329305662)):
        assert round(PH(p=p, q=q, loss=loss).value(GOLDEN), 12) == order1
        assert round(PH(p=p, q=q, loss=loss, order=2).value(GOLDEN), 12) == order2
        on_list = Walk(p, q, utility=Utility(loss)).over(5, GOLDEN)
        assert round(on_list.order1(GOLDEN), 12) == order1
        assert round(on_list.order2(GOLDEN), 12) == order2
        assert round(on_list.distribution(GOLDEN).mean, 12) == order1


def test_gains_may_be_others_than_the_grades() -> None:
    # grades 1, 2; gains 0, 5: goes on (p = 1 at rank 1) where the grade is 1, back with 1/2 until 5 are gained:
    # rank 1, rank 2 (5 gained) and a stop: T = 5, H = 2
    walk = Walk(lambda grade, seen: (grade == 1) * 1.0, lambda grade, seen: 0.5 * (grade == 2) * (seen < 5))
    assert walk.over(2, [1, 2], [0, 5]).order1([0, 5]) == pytest.approx(2.5, abs=1e-15)
    # with a gain of 1 instead, half go back, again and again: H = 2, 4, 6 ..., T = H / 2 until T = 5
    assert walk.over(2, [1, 2], [0, 5]).total([0, 1]) == pytest.approx(1 + 1 / 2 + 1 / 4 + 1 / 8 + 1 / 16, abs=1e-12)


def test_who_looks_at_nothing_walks_as_others_do() -> None:
    rng = np.random.default_rng(3)
    y = (rng.random(60) < 0.3) * 1.0
    for loss, effort in ((0.0, "h"), (1.0, "h^2"), (0.0, "log")):
        sides: dict[str, Any] = {"utility": Utility(loss), "effort": Effort(effort), "start": [0.5, 0.5]}
        plain = Walk(lambda rank: 0.4 + 0.3 / rank, 0.25, **sides).over(60)
        looking = Walk(lambda rank, seen: 0.4 + 0.3 / rank + 0 * seen, 0.25, **sides).over(60, y)
        assert looking.order1(y) == pytest.approx(plain.order1(y), abs=1e-12)
        assert looking.order2(y) == pytest.approx(plain.order2(y), abs=1e-12)
        assert looking.visits == pytest.approx(plain.visits, abs=1e-12)
        assert looking.depth_var == pytest.approx(plain.depth_var, rel=1e-11)
        assert looking.distribution(y).distance(plain.distribution(y)) < 1e-13
        assert looking.residual(3) == pytest.approx(plain.residual(3), abs=1e-13)


# ---- by rank and grade

TABLE = "1:0=0.35,1=0.2;3:0=0.25,1=0.15,2=0.05"


def by_table(rank: float, grade: float, seen: float) -> float:
    return {0.0: 0.35, 1.0: 0.2, 2.0: 0.2}[grade] if rank < 3 else {0.0: 0.25, 1.0: 0.15, 2.0: 0.05}[grade]


@pytest.mark.parametrize("loss", [0.0, 0.25, 1.0])
def test_by_rank_and_grade(loss: float) -> None:
    lists = [[1.0], [0.0, 2.0], [1.0, 0.0, 2.0], [0.0, 1.0, 1.0, 0.0]]
    qrels = {str(i): {f"d{k}": int(g) for k, g in enumerate(y)} for i, y in enumerate(lists)}
    run = {str(i): {f"d{k}": -float(k) for k in range(len(y))} for i, y in enumerate(lists)}
    every = [all_paths(by_table, lambda rank, grade, seen: 0.15, y, loss) for y in lists]
    order1 = [paths.mean(lambda t, h: t / h) for paths in every]
    order2 = [paths.mean(lambda t, h: t) / paths.mean(lambda t, h: h) for paths in every]
    rows: dict[int, Any] = {1: [0.35, 0.2], 3: {0: 0.25, 1: 0.15, 2: 0.05}}

    def function(rank: Any, grade: Any) -> Any:
        return np.vectorize(by_table)(rank, grade, 0)

    for p in (TABLE, rows, [rows[1], rows[1], rows[3]], function):
        both = [PH(p=p, q=0.15, loss=loss, order=k, gains="linear") for k in (1, 2)]
        scores = amble.evaluate(qrels, {"x": run}, both)
        np.testing.assert_allclose(scores["x", both[0]], order1, rtol=0, atol=1e-12)
        np.testing.assert_allclose(scores["x", both[1]], order2, rtol=0, atol=1e-12)
        np.testing.assert_allclose([both[0].value(y) for y in lists], order1, rtol=0, atol=1e-12)


def test_a_table_by_rank_and_grade_is_a_value() -> None:
    m = amble.parse(f"PH(p='{TABLE}',q=0.2)")
    assert str(m) == f"PH(p='{TABLE}',q=0.2)"
    assert amble.parse(str(m)) == m == PH(p={1: [0.35, 0.2], 3: {0: 0.25, 1: 0.15, 2: 0.05}}, q=0.2)
    assert hash(Probability().check(TABLE)) == hash(Probability().check(f" {TABLE} ".replace(",", ", ")))
    assert PH(p=np.array([[0.5, 0.4], [0.3, 0.2]])) == amble.parse("PH(p='1:0=0.5,1=0.4;2:0=0.3,1=0.2')")
    # an endless list goes on as at the last rank of the table, with grade 0: ranks 1, 2, … with p = .5, then .25
    endless = Walk({1: {0: 0.5, 1: 0.1}, 2: {0: 0.25, 1: 0.1}}, 0, beyond="endless").over(1, [0])
    assert endless.expected_depth == pytest.approx(1 + 0.5 / 0.75, abs=1e-13)
    f = amble.parse("PH(p='0=0.5,1=0.25',q=0.2)")
    assert f.value([0, 1, 1]) == pytest.approx(
        PH(p=lambda grade: 0.5 - 0.25 * grade, q=0.2).value([0, 1, 1]), abs=1e-13
    )
    assert PH(p=math.sin) != PH(p=math.cos)


# ---- plugins

PLUGIN = '''
from typing import Annotated

from amble.measures import Between, measure
from amble.users import Walk


@measure("Sated", question="{question}")
def sated(rank, gain, seen, a: Annotated[float, Between(0, 1), "eagerness"] = 0.5):
    """She goes on with probability a / rank, and back with 0.2, until she has 2 relevant documents."""
    return Walk(a / rank * (seen < 2), 0.2 * (seen < 2))
'''
# on 1, 0: at rank 1 forward with .5 + .2; at rank 2 back with .2, else a stop; at rank 1 again with 2, a stop.
# T = 1, H = 1: .3; T = 1, H = 2: .7 x .8 = .56; T = 2, H = 3: .14
SATED1 = 0.3 + 0.56 / 2 + 0.14 * 2 / 3
SATED2 = (0.3 + 0.56 + 0.28) / (0.3 + 1.12 + 0.42)


@pytest.fixture
def plugin(write: Callable[[str, str], str]) -> Iterator[Callable[[str], str]]:
    before = dict(REGISTRY)

    def load(question: str = "order1", text: str = PLUGIN) -> str:
        path = write(f"{question}.py", text.replace("{question}", question))
        spec = importlib.util.spec_from_file_location(Path(path).stem, path)
        assert spec is not None
        assert spec.loader is not None
        spec.loader.exec_module(importlib.util.module_from_spec(spec))
        return path

    yield load
    REGISTRY.clear()
    REGISTRY.update(before)


@pytest.mark.parametrize(("question", "score"), [("order1", SATED1), ("order2", SATED2), ("total", 1.14)])
def test_a_walk_of_a_plugin(question: str, score: float, plugin: Callable[..., str]) -> None:
    plugin(question)
    m = amble.parse("Sated")
    assert m.value([1, 0]) == pytest.approx(score, abs=1e-15)
    assert m.value([]) == 0
    user = m.user([1, 0])
    assert user.visits == pytest.approx([1.14, 0.7], abs=1e-15)
    assert user.last == pytest.approx([0.44, 0.56], abs=1e-15)
    assert m.distribution([1, 0]).mean == pytest.approx(SATED1, abs=1e-15)
    paths = all_paths(
        lambda rank, grade, seen: 0.8 / rank * (seen < 2), lambda rank, grade, seen: 0.2 * (seen < 2), [0, 1, 0, 1, 1]
    )
    of = {"order1": lambda t, h: t / h, "total": lambda t, h: t}.get(question, lambda t, h: t / user_depth)
    user_depth = paths.mean(lambda t, h: h)
    assert amble.parse("Sated(a=0.8)").value([0, 1, 0, 1, 1]) == pytest.approx(paths.mean(of), abs=1e-12)
    simulated = amble.simulate(m, [1, 0], users=20_000, seed=1)
    mean = 1.14 if question == "total" else SATED1
    assert abs(simulated.mean - mean) < 4 * simulated.standard_error
    assert abs(simulated.order2 - SATED2) < 4 * simulated.order2_error


def test_a_walk_of_a_plugin_on_the_command_line(
    plugin: Callable[..., str], amble_cli: Cli, write: Callable[[str, str], str]
) -> None:
    path = plugin()
    qrels, run = write("qrels.txt", "1 0 a 1\n"), write("my.run", "1 Q0 a 1 3 my\n1 Q0 b 2 2 my\n")
    done = amble_cli("eval", qrels, run, "-m", "Sated", "--plugin", path, "--format", "tsv", "--quiet")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"run\ttopic\tmeasure\tvalue\nmy\tall\tSated\t{SATED1:.4f}\n"
    done = amble_cli("eval", qrels, run, "-m", "Sated(a=0.9)", "--plugin", path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "amble: Sated(a=0.9): p + q = 0.9 + 0.2 = 1.1 at rank 1, expected at most 1\n"
    shown = amble_cli("user", "Sated", "--gains", "1,0", "--plugin", path)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "expected depth 1.8400" in shown.stdout


def test_a_plugin_that_sees_the_gain_alone(plugin: Callable[..., str]) -> None:
    plugin(text=PLUGIN.replace("gain, seen,", "gain,").replace("(seen < 2)", "(1 - gain)"))
    sure = Walk(lambda rank, gain: 0.5 / rank * (1 - gain), lambda gain: 0.2 * (1 - gain))
    y = [0.0, 0.0, 1.0, 0.0]
    paths = all_paths(lambda r, g, t: 0.5 / r * (1 - g), lambda r, g, t: 0.2 * (1 - g), y)
    score = paths.mean(lambda t, h: t / h)
    assert amble.parse("Sated").value(y) == pytest.approx(score, abs=1e-13)
    assert sure.over(4, y).order1(y) == pytest.approx(score, abs=1e-13)
    plugin(text=PLUGIN.replace("gain, seen,", "").replace("* (seen < 2)", ""))
    assert amble.parse("Sated").user().n == 1
    assert amble.parse("Sated").is_static  # type: ignore[attr-defined]
    static = Walk(lambda rank: 0.5 / rank, 0.2).over(4).order1(y)
    assert amble.parse("Sated").value(y) == pytest.approx(static, abs=1e-14)


# ---- simulated readers


@pytest.mark.parametrize("loss", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("seed", [1, 4])
def test_simulated_readers(seed: int, loss: float) -> None:
    case, p, q = drawn(seed)
    y, sides = case["grades"], {"first": case["first"], "start": case["start"]}
    paths = all_paths(p, q, y, loss, **sides)
    m = PH(p=p, q=q, loss=loss, first=case["first"], start=case["start"], gains="linear")
    simulated = amble.simulate(m, y, users=40_000, seed=seed)
    order1, depth = paths.mean(lambda t, h: t / h), paths.mean(lambda t, h: h)
    assert abs(simulated.mean - order1) < 4 * simulated.standard_error
    assert abs(simulated.order2 - paths.mean(lambda t, h: t) / depth) < 4 * simulated.order2_error
    spread = math.sqrt(paths.mean(lambda t, h: (h - depth) ** 2) / 40_000)
    assert abs(simulated.mean_visits - depth) < 4 * spread
    assert amble.simulate(m, y, users=40_000, seed=seed, threads=2).mean == simulated.mean
    if loss == 0.5:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", amble.SimulationWarning)
            found = m.distribution(y, users=20_000, seed=2)
        assert abs(found.mean - order1) < 4 * found.standard_error


def test_readers_walk_as_others_do_by_the_same_draws() -> None:
    y = [0, 1, 0, 0, 1, 1]
    plain = amble.simulate(PH(p=0.5, q=0.3, loss=0.25, start="0.5,0.5"), y, users=3000, seed=3)
    looking = amble.simulate(
        PH(p=lambda seen: 0.5 + 0 * seen, q=0.3, loss=0.25, start="0.5,0.5"), y, users=3000, seed=3
    )
    assert looking.distance(plain) == 0
    assert looking.mean_visits == plain.mean_visits
    y = [0, 1, 1]
    m = PH(p=lambda seen: 0.7 * (seen < 1), q=lambda seen: 0.2 * (seen < 1), loss=0)
    readers = amble.simulate(m, y, users=500, seed=5, paths=True)
    assert all(path.size == h for path, h in zip(readers.paths, readers.visits, strict=True))
    for path, t in zip(readers.paths, readers.gain, strict=True):  # forward or back until something is gained
        assert t == sum(y[k - 1] for k in path)
        assert path[0] == 1
        assert (abs(np.diff(path)) == 1).all()
        assert not any(y[k - 1] for k in path[:-1])


def test_time_as_effort() -> None:
    def p(seen: Any) -> Any:
        return 0.5 * (seen < 2)

    # on 1, 0: T = 1, H = 1, at rank 1: .5; else rank 2, where she stops: .5. Seconds 10 and 4, 6 more: 1 / (16 + 2)
    m = PH(p=p, q=0, loss=0, order=2, effort="time", seconds="10,4", timing="fixed", overhead=6)
    assert m.value([1, 0]) == pytest.approx(1 / 18, abs=1e-15)
    one = m(order=1)
    with pytest.raises(amble.MeasureError, match=r"no exact score: visits take different times.*amble\.simulate"):
        one.value([1, 0])
    with pytest.warns(amble.SimulationWarning, match="visits take different times"):
        found = one.distribution([1, 0], users=4000, seed=1)
    assert found.values.tolist() == [1 / 20, 1 / 16]  # rank 1 and 2, or rank 1 alone
    assert abs(found.mean - (0.5 / 20 + 0.5 / 16)) < 4 * found.standard_error
    same = one(seconds=10)  # 1 / 26 or 1 / 16
    assert same.value([1, 0]) == pytest.approx(0.5 / 26 + 0.5 / 16, abs=1e-15)
    assert same.distribution([1, 0]).values.tolist() == [1 / 26, 1 / 16]
    # exponential: E[1 / (6 + D)] is the integral of e^(-6u) / (1 + 10u), of one visit; of two that of its square
    u = np.linspace(0, 8, 800_001)
    parts = [np.trapezoid(np.exp(-6 * u) / (1 + 10 * u) ** k, u) for k in (1, 2)]
    timed = amble.simulate(same(timing="exponential"), [1, 0], users=20_000, seed=3)
    assert abs(timed.mean - 0.5 * sum(parts)) < 4 * timed.standard_error
    with pytest.raises(amble.MeasureError, match="the gain per second may be infinite; expected overhead above 0, or"):
        amble.simulate(same(timing="exponential", overhead=0), [1, 0], users=10)


# ---- what is refused


def test_a_loss_where_nobody_goes_back() -> None:
    # 1, then with 1/2 rank 2 (T = 1): stops with 3/4, or rank 3 (T = 2); a loss takes nothing away
    for q in (0, lambda seen: 0 * seen):
        m = PH(p=lambda rank, seen: np.where(rank == 1, 0.5, 0.25 * seen), q=q, loss=0.5)
        assert m.value([1, 0, 1]) == pytest.approx(0.5 * 1 + 0.5 * (0.75 / 2 + 0.25 * 2 / 3), abs=1e-15)
        assert m.distribution([1, 0, 1]).mean == pytest.approx(m.value([1, 0, 1]), abs=1e-15)


def test_what_is_not_exact() -> None:
    m = PH(p=lambda seen: 0.5 / (1 + seen), q=0.1, loss=0.5)
    with pytest.raises(
        amble.MeasureError, match=r"no exact score: with this loss .* history .*; amble\.simulate has it"
    ):
        m.value([1, 0, 1])
    with pytest.raises(NoExactDistributionError):
        m.user([1, 0, 1]).distribution([1, 0, 1])
    with pytest.warns(amble.SimulationWarning, match="users simulated instead"):
        assert m.distribution([1, 0, 1], users=1000).users == 1000
    with pytest.raises(amble.MeasureError, match="are no multiples of one number"):
        Walk(lambda seen: 0.5 + 0 * seen, 0.1).over(2, [1, 2**0.5]).total([1, 2**0.5])


def test_probabilities_count_where_somebody_comes() -> None:
    # stops at the latest with 10 gained, where p would be 0 and below 0 from there on: nobody gets so far
    walk = Walk(lambda seen: 1 - 0.1 * seen, 0.0)
    assert walk.over(30, [1] * 30).visits[9:11] == pytest.approx([math.factorial(9) / 10**9, 0], abs=1e-18)
    with pytest.raises(
        amble.MeasureError, match=r"^p = 0.9 and q = 0.2 at rank 3, with 2 gained so far: expected prob.* at most 1$"
    ):
        Walk(lambda rank, seen: 0.5 + 0.4 * (rank == 3) * (seen > 1), 0.2).over(4, [1, 0, 1, 1]).order1([1, 0, 1, 1])
    with pytest.raises(amble.MeasureError, match="p = nan and q = 0 at rank 1, with 0 gained so far"):
        amble.simulate(PH(p=lambda seen: seen * np.nan, q=0), [0, 1], users=10)


@pytest.mark.parametrize(
    ("p", "found"),
    [
        (lambda rank, x: 0.5, "p: a function of rank, x, expected one of rank, grade, gain, seen"),
        (lambda x, y: 0.5, "p: a function of x, y, expected"),
        (lambda seen: [0.5] * 7, "p: its function failed with ValueError"),
        (lambda seen: 1 / 0, "p: its function failed with ZeroDivisionError: division by zero"),
        (lambda grade: 1 / 0, "p: its function failed with ZeroDivisionError: division by zero"),
        (lambda grade: 1.5, "p = 1.5 at rank 1, expected a probability"),
        ([[0.5, 1.5]], r"p=\[\[0.5, 1.5\]\] is not allowed, expected a number between 0 and 1, or"),
        ("2:0=0.5", r"p='2:0=0.5' is not allowed, .* or by both, as '1:0=0.6,1=0.4;2:0=0.5,1=0.3'"),
        ("1:0=0.5;1:0=0.4", "is not allowed"),
        ("1:0.5", "is not allowed"),
        ("1:0=0.5;2.5:0=0.4", "is not allowed"),
        ("1:0=0.5;9999999999:0=0.4", "is not allowed"),
        ("1:0=0.5;2:0=0.9", r"p \+ q = 0.9 \+ 0.25 = 1.15 at rank 2"),
    ],
)
def test_rules_that_are_none(p: Any, found: str) -> None:
    with pytest.raises(amble.MeasureError, match=found) as error:
        PH(p=p, loss=0).value([1, 0, 1])
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "text",
    ["p='1=0.3'", "q='0.5=0.3,1=0.2'", "p='1:0=0.5,1=0.3;2:1=0.4'", "effort='time',seconds='1=20'"],
)
def test_tables_by_grade_need_grade_0(text: str) -> None:
    with pytest.raises(amble.MeasureError, match="nothing for grade 0, which unjudged documents have") as error:
        amble.parse(f"PH({text})")
    assert "\n" not in str(error.value)


def test_grades_that_a_table_does_not_name() -> None:
    # 2 as the next lower one, 1; -1 as 0, the lowest that is said
    walk = Walk({0: 0.6, 1: 0.3, 3: 0.1}, 0.2)
    assert walk.forward.at(5, np.array([-1.0, np.nan, 2.0, 3.0, 4.0])).tolist() == [0.6, 0.6, 0.3, 0.1, 0.1]
    with pytest.raises(amble.MeasureError, match="p='{1: 0.3}': nothing for grade 0"):
        Walk({1: 0.3}, 0.2)


def test_more_that_is_refused(plugin: Callable[..., str]) -> None:
    def adaptive(**sides: Any) -> Walk:
        return Walk(lambda seen: 0.5 / (1 + seen), 0.2, **sides)

    for message, call in (
        ("per='endless': a user who looks", lambda: adaptive(per="endless")),
        ("an endless list: expected one that ends", lambda: adaptive(beyond="endless").over(3, [1])),
        ("is no one chain of ranks", lambda: adaptive().over(3, [1]).reach),
        ("what each rank adds to order 1", lambda: adaptive().over(3, [1]).worth(Question.ORDER1)),  # type: ignore[attr-defined]
        ("over\\(2\\): 3 grades", lambda: adaptive().over(2, [1, 0, 1])),
        ("more work than its budget", lambda: adaptive().over(50, [1] * 50).distribution([1] * 50, budget=2000)),
    ):
        with pytest.raises(amble.MeasureError, match=message):
            call()
    plugin(text=PLUGIN.replace("gain, seen,", "cost, seen,"))
    with pytest.raises(amble.MeasureError, match="Sated: a walk that depends on cost: expected rank, grade, gain"):
        amble.parse("Sated").value([1])
    plugin(text=PLUGIN.replace("0.2 * (seen < 2)", "{0: 0.2, 1: 0.05}"))
    with pytest.raises(amble.MeasureError, match="q: expected a number for each of the 4 that is seen"):
        amble.parse("Sated").value([1])


def test_who_never_stops_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adaptive_walk, "_MOST_VISITS", 1000)
    with pytest.raises(amble.MeasureError, match="no exact score: some users still walk after 1,000 visits"):
        PH(p=lambda seen: 0 * seen, q=1, loss=0).value([0, 0])


def test_ties_and_lists_of_many() -> None:
    m = PH(p=lambda seen: 0.5 / (1 + seen), q=0.2, loss=1)
    run = {"1": {"a": 1.0, "b": 1.0}}
    with pytest.raises(amble.MeasureError, match="use ties='docno'"):
        amble.evaluate({"1": {"a": 1}}, {"x": run}, m, ties="expected")
    lists = [Lists.of_grades(y) for y in ([1, 0, 1], [0, 0, 1, 1], [])]
    scores = amble.evaluate(
        {"1": {"a": 1, "c": 1}, "2": {"c": 1, "d": 1}},
        {"x": {t: {d: -float(k) for k, d in enumerate(ds)} for t, ds in (("1", "abc"), ("2", "abcd"))}},
        m,
    )
    np.testing.assert_allclose(scores["x", m], [float(m.scores(one)[0]) for one in lists[:2]], atol=1e-15)  # type: ignore[attr-defined]
    assert m.value([]) == 0
