"""The reference for walking users agrees with itself, by several roads, and with published figures."""

from __future__ import annotations

import json
import math
from collections import defaultdict

import numpy as np
import pytest
import walk_reference as ref

R = [1, 0, 0, 1, 0, 0, 1, 0, 0, 1]
S = [0, 1, 1, 1, 1, 0, 0, 0, 0, 0]

needs_mpmath = pytest.mark.skipif(ref.mpmath is None, reason="mpmath is not installed")


def odd_gain(k: int, y: float) -> float:
    """No geometric series, and a gain for nothing at the third visit."""
    return y / (k + 1) + (0.125 if k == 3 else 0.0)


def uneven(n: int, first: str, stop: float = 0.2, seed: int = 7) -> ref.Chain:
    """Probabilities that differ at every rank; she stops with a probability of at least `stop`."""
    rng = np.random.default_rng([seed, n])
    forward = rng.uniform(0.2, 0.8, n) * (1 - stop)
    back = rng.uniform(0.2, 1.0, n) * (1 - stop - forward)
    return ref.chain(forward, back, n, first)


def some_start(n: int) -> np.ndarray:
    distribution = np.arange(1.0, n + 1)
    return distribution / distribution.sum()


# --- the conventions


def test_chain_first_forward() -> None:
    p, q, s = ref.chain(0.5, 0.25, 3)
    assert p.tolist() == [0.75, 0.5, 0.0]
    assert q.tolist() == [0.0, 0.25, 0.25]
    assert s.tolist() == [0.25, 0.25, 0.75]


def test_chain_first_stop() -> None:
    p, q, s = ref.chain([0.5, 0.5, 0.5], [0.25, 0.125, 0.25], 3, "stop")
    assert p.tolist() == [0.5, 0.5, 0.0]
    assert q.tolist() == [0.0, 0.125, 0.25]
    assert s.tolist() == [0.5, 0.375, 0.75]


@pytest.mark.parametrize("first", ["forward", "stop"])
def test_chain_of_one_rank(first: str) -> None:
    moves = ref.chain(0.5, 0.25, 1, first)
    assert [x.tolist() for x in moves] == [[0.0], [0.0], [1.0]]
    assert ref.joint(*moves, [3.0]) == {(3.0, 1): 1.0}
    found = ref.expect(*moves, [3.0])
    assert (found.mean_t, found.rate, found.mean_h, found.var_h) == (3.0, 3.0, 1.0, 0.0)


def test_chain_rounds_once() -> None:
    # the doubles .49995 twice leave 1e-4 less a rounding, which 1 - p - q in doubles gets wrong
    assert ref.chain(0.49995, 0.49995, 3).s[1] == math.fsum([1.0, -0.49995, -0.49995])
    assert ref.chain(0.9, 0.1, 3).s[1] == 0.0


@pytest.mark.parametrize("pair", [(-0.1, 0.5), (0.5, -0.1), (0.6, 0.5)])
def test_chain_refuses(pair: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="no probabilities at rank 1"):
        ref.chain(*pair, 3)


# --- every path against the rest


@pytest.mark.parametrize("first", ["forward", "stop"])
@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("kind", [0.0, 1.0, 0.25, "odd"])
@pytest.mark.parametrize("spread", [False, True])
def test_joint_is_the_sum_over_paths(n: int, first: str, kind: float | str, spread: bool) -> None:
    moves = uneven(n, first)
    gains = [0.5, 0.0, 0.75, 2.0][:n]
    start = some_start(n) if spread else None
    g = odd_gain if kind == "odd" else ref.losing(float(kind))
    want: dict[tuple[float, int], float] = defaultdict(float)
    for path, weight in ref.paths(*moves, 12, start):
        want[ref.path_total(path, gains, g), len(path)] += weight
    if kind == "odd":
        got = ref.joint(*moves, gains, g=odd_gain, start=start, h_max=12)
    else:
        got = ref.joint(*moves, gains, loss=float(kind), start=start, h_max=12)
    assert sum(got.values()) == pytest.approx(sum(want.values()), abs=1e-14)
    # totals that differ by a rounding are the same, so compare the distribution of each H value by value
    for h in range(1, 13):
        ours = ref.distribution_of_rate({key: w for key, w in got.items() if key[1] == h})
        theirs = ref.distribution_of_rate({key: w for key, w in want.items() if key[1] == h})
        np.testing.assert_allclose(ours[0], theirs[0], rtol=0, atol=1e-13)
        np.testing.assert_allclose(ours[1], theirs[1], rtol=0, atol=1e-14)


@pytest.mark.parametrize("first", ["forward", "stop"])
@pytest.mark.parametrize("g", [ref.losing(0), ref.losing(0.25), ref.losing(1), odd_gain])
def test_expect_is_the_sum_over_paths(first: str, g: ref.Gain) -> None:
    # she stops so soon that 16 visits hold all but 1e-16 of the mass
    moves = uneven(4, first, stop=0.9)
    gains = [1.0, 0.25, 0.0, 2.0]
    start = some_start(4)

    def f(h: int) -> float:
        return math.sqrt(h) + 0.5

    seen = [(ref.path_total(path, gains, g), len(path), w) for path, w in ref.paths(*moves, 16, start)]
    assert math.fsum(w for _, _, w in seen) == pytest.approx(1.0, abs=1e-14)
    mean_h = math.fsum(h * w for _, h, w in seen)
    found = ref.expect(*moves, gains, g, f, start, mass=1e-17)
    assert found.mean_t == pytest.approx(math.fsum(t * w for t, _, w in seen), abs=1e-14)
    assert found.rate == pytest.approx(math.fsum(t / f(h) * w for t, h, w in seen), abs=1e-14)
    assert found.effort == pytest.approx(math.fsum(f(h) * w for _, h, w in seen), abs=1e-14)
    assert found.mean_h == pytest.approx(mean_h, abs=1e-14)
    assert found.var_h == pytest.approx(math.fsum((h - mean_h) ** 2 * w for _, h, w in seen), abs=1e-14)


# --- stepping against the joint distribution


@pytest.mark.parametrize("first", ["forward", "stop"])
@pytest.mark.parametrize("loss", [0.0, 1.0])
def test_expect_against_joint(first: str, loss: float) -> None:
    moves = uneven(9, first)
    gains = [1, 0, 2, 1, 0, 0, 3, 0, 1]
    pairs = ref.joint(*moves, gains, loss=loss, start=some_start(9), mass=1e-15)
    found = ref.expect(*moves, gains, ref.losing(loss), start=some_start(9))
    assert found.mean_t == pytest.approx(ref.mean_over(pairs, lambda t, h: t), abs=1e-12)
    assert found.rate == pytest.approx(ref.mean_over(pairs, lambda t, h: t / h), abs=1e-13)
    assert found.mean_h == pytest.approx(ref.mean_over(pairs, lambda t, h: h), abs=1e-12)


@pytest.mark.parametrize("g", [None, odd_gain])
def test_expect_against_joint_with_memory(g: ref.Gain | None) -> None:
    moves = uneven(4, "forward", stop=0.4)
    gains = [1.0, 0.0, 0.5, 2.0]
    pairs = ref.joint(*moves, gains, loss=0.25, g=g, mass=1e-11)
    found = ref.expect(*moves, gains, g or ref.losing(0.25), lambda h: h + 2.0)
    assert 1 - sum(pairs.values()) < 1e-11
    assert found.mean_t == pytest.approx(ref.mean_over(pairs, lambda t, h: t), abs=1e-9)
    assert found.rate == pytest.approx(ref.mean_over(pairs, lambda t, h: t / (h + 2)), abs=1e-10)


def test_joint_ways_to_remember_agree() -> None:
    moves = uneven(4, "stop", stop=0.4)
    gains = [1.0, 0.0, 0.5, 2.0]
    for loss in (0.0, 1.0):
        short = ref.joint(*moves, gains, loss=loss, h_max=20)
        long = ref.joint(*moves, gains, g=ref.losing(loss), h_max=20)
        assert short.keys() == long.keys()
        assert all(short[key] == pytest.approx(long[key], abs=1e-15) for key in short)


def test_distribution_of_rate() -> None:
    pairs = {(1.0, 1): 0.5, (2.0, 2): 0.25, (1.0, 3): 0.125, (0.0, 4): 0.125}
    values, probabilities = ref.distribution_of_rate(pairs)
    assert values.tolist() == [0.0, 1 / 3, 1.0]
    assert probabilities.tolist() == [0.125, 0.125, 0.75]
    assert ref.probability_at_most(pairs, 1 / 3) == 0.25


# --- dense matrices


@pytest.mark.parametrize("first", ["forward", "stop"])
@pytest.mark.parametrize("spread", [False, True])
@pytest.mark.parametrize("gains", [[1, 0, 0, 1, 0, 1], [0.5, 0, 3, 1, 0, 2.25]])
def test_dense_against_joint(first: str, spread: bool, gains: list[float]) -> None:
    moves = uneven(6, first, stop=0.3)
    start = some_start(6) if spread else None
    dense = ref.moments_dense(*moves, gains, start)
    mean, var = ref.variance_with_loss(*moves, gains, 0.0, start, mass=1e-14)
    stepped = ref.expect(*moves, gains, start=start)
    assert dense.mean_t == pytest.approx(mean, abs=1e-11)
    assert dense.var_t == pytest.approx(var, abs=1e-10)
    assert dense.mean_h == pytest.approx(stepped.mean_h, abs=1e-12)
    assert dense.var_h == pytest.approx(stepped.var_h, abs=1e-11)
    assert dense.visits.sum() == pytest.approx(dense.mean_h, abs=1e-13)
    assert dense.last.sum() == pytest.approx(1.0, abs=1e-14)
    if dense.distribution_t is None:
        return
    assert dense.distribution_t.sum() == pytest.approx(1.0, abs=1e-14)
    pairs = ref.joint(*moves, gains, start=start, mass=1e-14)
    for t, probability in enumerate(dense.distribution_t[:30]):
        assert probability == pytest.approx(math.fsum(w for (x, _), w in pairs.items() if x == t), abs=1e-13)


def test_last_rank_against_paths() -> None:
    moves = uneven(4, "stop", stop=0.9)
    last = np.zeros(4)
    for path, weight in ref.paths(*moves, 16):
        last[path[-1] - 1] += weight
    np.testing.assert_allclose(ref.moments_dense(*moves, [0] * 4).last, last, atol=1e-14)


# --- anchors


@pytest.mark.parametrize(
    ("gains", "loss", "order1", "order2"),
    [
        (R, 0.25, 0.555703555598, 0.410132998100),
        (S, 0.25, 0.430952675282, 0.541332932842),
        (R, 0.0, 0.574163939456, 0.442470675978),
        (S, 0.0, 0.460286928437, 0.603498542274),
    ],
)
def test_anchor_walk(gains: list[int], loss: float, order1: float, order2: float) -> None:
    found = ref.expect(*ref.chain(0.5, 0.25, 10), gains, ref.losing(loss))
    assert found.order1 == pytest.approx(order1, abs=1e-11)
    assert found.order2 == pytest.approx(order2, abs=1e-11)
    assert found.mean_h == pytest.approx(3.974132704614, abs=1e-11)


@pytest.mark.parametrize(
    ("gains", "ap", "endless", "finite", "order1"),
    [
        (R, 0.582142857143, 0.5712890625, 0.571847507331, 0.721870349702),
        (S, 0.679166666667, 0.46875, 0.469208211144, 0.298691716270),
    ],
)
def test_anchor_forward(gains: list[int], ap: float, endless: float, finite: float, order1: float) -> None:
    found = ref.expect(*ref.chain(0.5, 0.0, 10), gains)
    assert found.order1 == pytest.approx(order1, abs=1e-11)
    assert found.order2 == pytest.approx(finite, abs=1e-11)
    moves, longer = ref.lengthened(0.5, 0.0, gains, 60)
    assert ref.expect(*moves, longer).order2 == pytest.approx(endless, abs=1e-11)
    # she stops at each of the relevant ranks with the same probability
    left = np.cumsum(gains[::-1])[::-1].astype(float)
    going = np.array([1 - gain / todo if todo else 0.0 for gain, todo in zip(gains, left, strict=True)])
    assert ref.expect(*ref.chain(going, 0.0, 10), gains).order1 == pytest.approx(ap, abs=1e-11)


def test_anchor_order1_of_endless_rbp() -> None:
    # the tail beyond the list is read and gains nothing
    moves, longer = ref.lengthened(0.8, 0.0, R, 200)
    p, total = 0.8, sum(R)
    tail = total * (1 - p) / p * (-math.log(1 - p) - math.fsum(p**i / i for i in range(1, 11)))
    within = math.fsum(p ** (i - 1) * (1 - p) * sum(R[:i]) / i for i in range(1, 11))
    assert ref.expect(*moves, longer).rate == pytest.approx(within + tail, abs=1e-13)
    assert round(within + tail, 4) == 0.5192


# --- Ferrante & Ferro (2020)

RUN = [1, 0, 0, 1, 0, 1]


@pytest.mark.parametrize(("p", "q"), [(0.5, 0.25), (0.3, 0.6), (0.8, 0.1)])
def test_ff20_appendix_c_is_the_total(p: float, q: float) -> None:
    moves = ref.chain(p, q, 6, "stop")
    assert ref.moments_dense(*moves, RUN).mean_t == pytest.approx(ref.ff20_appendix_c_total(p, q), abs=1e-13)


def test_ff20_variance() -> None:
    moves = ref.chain(0.5, 0.25, 6, "stop")
    assert ref.ff20_variance_printed(*moves[:2], RUN)[0] == pytest.approx(-0.064, abs=5e-4)
    right = ref.ff20_variance_right(*moves[:2], RUN)
    assert right[0] == pytest.approx(0.840, abs=5e-4)
    for i in range(6):
        start = np.eye(6)[i]
        assert right[i] == pytest.approx(ref.moments_dense(*moves, RUN, start).var_t, abs=1e-12)
        assert right[i] == pytest.approx(ref.variance_with_loss(*moves, RUN, 0.0, start)[1], abs=1e-9)


@needs_mpmath
@pytest.mark.parametrize(("p", "q"), [(0.5, 0.25), (0.3, 0.6), (0.8, 0.1), (0.49, 0.49), (0.5, 0.0)])
@pytest.mark.parametrize("n", [1, 2, 6, 40])
def test_ff20_k(p: float, q: float, n: int) -> None:
    want = ref.mp_walk(p, q, n, "stop").mean_h
    assert float(ref.ff20_k(p, q, n) / want - 1) == pytest.approx(0, abs=1e-30)
    assert ref.moments_dense(*ref.chain(p, q, n, "stop"), [0] * n).mean_h == pytest.approx(float(want), rel=1e-12)


@needs_mpmath
@pytest.mark.parametrize("first", ["forward", "stop"])
@pytest.mark.parametrize(("p", "q"), [(0.5, 0.25), (0.3, 0.6), (0.8, 0.1)])
def test_ff20_k_infinite(p: float, q: float, first: str) -> None:
    moves, gains = ref.lengthened(p, q, [0.0], 300, first)
    assert ref.moments_dense(*moves, gains).mean_h == pytest.approx(float(ref.ff20_k_infinite(p, q, first)), rel=1e-12)


# --- many digits


@needs_mpmath
@pytest.mark.parametrize("first", ["forward", "stop"])
@pytest.mark.parametrize("n", [1, 2, 5])
def test_mp_solve_is_the_inverse(n: int, first: str) -> None:
    mp = ref.mpmath
    rng = np.random.default_rng(n)
    forward, back = rng.uniform(0, 0.5, n), rng.uniform(0, 0.5, n)
    with mp.workdps(50):
        p, q, s = (ref.mp_numbers(part) for part in ref.exact_chain(forward, back, n, first))
        start = [mp.mpf(1) / n] * n
        z = mp.mpf("0.875")
        matrix = mp.eye(n)
        for i in range(n - 1):
            matrix[i, i + 1] -= z * p[i]
            matrix[i + 1, i] -= z * q[i + 1]
        green = matrix**-1
        solved = ref.mp_solve(p, q, s, start, z)
        for i in range(n):
            assert abs(solved.diagonal[i] - green[i, i]) < 1e-45
            assert abs(solved.visits[i] - mp.fsum(start[j] * green[j, i] for j in range(n))) < 1e-45
            assert abs(solved.end[i] - mp.fsum(green[i, j] * s[j] for j in range(n))) < 1e-45


@needs_mpmath
@pytest.mark.parametrize("first", ["forward", "stop"])
@pytest.mark.parametrize("spread", [False, True])
def test_mp_against_stepping(first: str, spread: bool) -> None:
    n = 9
    rng = np.random.default_rng(3)
    forward, back = rng.uniform(0.1, 0.5, n), rng.uniform(0.1, 0.35, n)
    gains = rng.integers(0, 4, n).astype(float)
    start = some_start(n) if spread else None
    moves = ref.chain(forward, back, n, first)
    losses = (0.0, 0.25, 1.0)
    walk = ref.mp_walk(forward, back, n, first, losses, start)
    weights = ref.mp_order1(forward, back, n, first, losses, start, nodes=14)
    np.testing.assert_allclose(
        np.array(walk.visits, dtype=float), ref.moments_dense(*moves, gains, start).visits, rtol=1e-13
    )
    for loss in losses:
        found = ref.expect(*moves, gains, ref.losing(loss), start=start)
        long = ref.order1_by_stepping(*moves, gains, loss, start)
        assert found.mean_h == pytest.approx(float(walk.mean_h), abs=1e-12)
        assert found.mean_t == pytest.approx(float(walk.mean_t(gains, loss)), abs=1e-12)
        assert found.rate == pytest.approx(float(np.dot(weights[loss], gains)), abs=1e-13)
        np.testing.assert_allclose(long, (found.mean_h, found.mean_t, found.rate), rtol=1e-12)


@needs_mpmath
def test_mp_gauss_legendre_is_exact_for_powers() -> None:
    mp = ref.mpmath
    with mp.workdps(40):
        nodes, weights = ref.mp_gauss_legendre(7)
        for power in range(14):
            assert abs(mp.fsum(w * x**power for x, w in zip(nodes, weights, strict=True)) - mp.mpf(1) / (power + 1)) < (
                mp.mpf(10) ** -37
            )


# --- golden numbers


def golden() -> list[dict[str, object]]:
    return json.loads(ref.GOLDEN.read_text(encoding="utf-8"))["cases"]


@pytest.mark.parametrize("case", [case for case in golden() if case["n"] <= 500], ids=lambda case: case["name"])
def test_golden_against_doubles(case: dict[str, object]) -> None:
    forward, back, gains, start = ref.rebuild(case)
    dense = ref.moments_dense(*ref.chain(forward, back, case["n"], case["first"]), gains, start, distribution=False)
    want = case["results"]
    # 1e-4 is all that keeps I - P from being singular, and it is known to twelve digits at best
    assert dense.mean_h == pytest.approx(want["E[H]"], rel=1e-10)
    assert dense.mean_t == pytest.approx(want["loss"]["0.0"]["E[T]"], rel=1e-10)
    for rank, visits in want["visits"].items():
        assert dense.visits[int(rank) - 1] == pytest.approx(visits, rel=1e-9, abs=1e-30)


@needs_mpmath
@pytest.mark.parametrize("case", golden(), ids=lambda case: case["name"])
def test_golden_against_mpmath(case: dict[str, object]) -> None:
    # 17 digits of a number and the number itself may round to neighbouring doubles
    def near(x: float) -> float:
        return pytest.approx(x, rel=0, abs=math.ulp(x))

    forward, back, gains, start = ref.rebuild(case)
    walk = ref.mp_walk(forward, back, case["n"], case["first"], ref.LOSSES, start, dps=40)
    want = case["results"]
    assert float(walk.mean_h) == near(want["E[H]"])
    for loss in ref.LOSSES:
        part = want["loss"][str(loss)]
        assert float(walk.mean_t(gains, loss)) == near(part["E[T]"])
        assert part["E[T]"] / want["E[H]"] == pytest.approx(part["order2"], rel=4e-16)
    for rank, visits in want["visits"].items():
        assert float(walk.visits[int(rank) - 1]) == near(visits)


@pytest.mark.parametrize("first", ["forward", "stop"])
def test_golden_cases_are_the_ones_the_program_makes(first: str) -> None:
    made = [{key: case[key] for key in case if key not in ("results", "agreement")} for case in golden()]
    assert made == ref.CASES
    assert any(case["first"] == first for case in made)
