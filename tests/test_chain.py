"""Chains, who go from any state to any other: against laws followed visit by visit, walks, and exact arithmetic."""

from __future__ import annotations

import pickle
import warnings
from decimal import Decimal, localcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse

import amble
from amble.errors import SimulationWarning
from amble.measures import PH, Lists
from amble.users import Chain, Effort, Utility, Walk
from amble.users.chain_on_list import ChainOnList
from amble.users.gth_elimination import fundamental
from amble.users.joint_distribution import NoExactDistributionError

Array = NDArray[np.float64]

R = [1, 0, 0, 1, 0, 0, 1, 0, 0, 1]
SNIPPETS = np.array([[0, 0.6, 0.3, 0], [0.5, 0, 0.3, 0], [0, 0, 0, 0.6], [0.3, 0, 0.4, 0]])


def drawn(seed: int, n: int, stop: float = 0.1) -> tuple[Array, Array]:
    """A matrix with jumps anywhere, some of them impossible, and a start."""
    rng = np.random.default_rng(seed)
    p = rng.random((n, n)) * (rng.random((n, n)) < 0.5)
    p *= (1 - stop - 0.4 * rng.random(n))[:, None] / np.maximum(p.sum(axis=1), 1e-9)[:, None]
    start = rng.random(n) * (rng.random(n) < 0.5) + np.eye(n)[0]
    return p, start / start.sum()


# ---- the same, visit by visit


def followed(p: Array, start: Array, counted: list[list[int]], worth: Any, f: Any) -> tuple[float, float, float, float]:
    """E[T], E[T / f(H)], E[H] and E[f(H)]: the law of (state, visits so far to one document), until nobody is left.

    ``counted`` are the states of each document; ``worth(k, j)`` is what the k-th visit brings when it is made in state
    j.
    """
    n, stop = start.size, 1 - p.sum(axis=1)
    total = rate = 0.0
    here, law = start, []
    while here.sum() > 1e-17:
        law.append(float(here @ stop))
        here = here @ p
    h = np.arange(1.0, len(law) + 1)
    for states in counted:
        inside = np.isin(np.arange(n), states)
        most = 90  # visits to one document that are told apart; stops are at least .1
        # mass and gain so far, by visits and state; the gain is that of all who are there
        mass, gain = np.zeros((most + 1, n)), np.zeros((most + 1, n))
        arriving, carried = np.zeros((most + 1, n)), np.zeros((most + 1, n))
        arriving[0] = start
        table = np.array([[worth(k, j) if inside[j] else 0.0 for j in range(n)] for k in range(1, most + 2)])
        for step in range(len(law)):
            mass, gain = np.where(inside, 0.0, arriving), np.where(inside, 0.0, carried)
            mass[1:, inside] += arriving[:-1][:, inside]
            gain[1:, inside] += (carried[:-1] + arriving[:-1] * table[:most])[:, inside]
            got = float((gain @ stop).sum())
            total, rate = total + got, rate + got / f(step + 1.0)
            arriving, carried = mass @ p, gain @ p
    return total, rate, float(h @ law), float(f(h) @ law)


UTILITIES: dict[str, tuple[Utility, Any]] = {
    "kept": (Utility(0.0), lambda k, y: y),
    "fading": (Utility(0.25), lambda k, y: y * 0.75 ** (k - 1)),
    "once": (Utility(1.0), lambda k, y: y * (k == 1)),
    "shares": (Utility(visits=[1, 0.6, 0.1]), lambda k, y: y * [1, 0.6, 0.1][min(k, 3) - 1]),
    "function": (Utility(function=lambda k, y: np.sqrt(y) / k), lambda k, y: y**0.5 / k),
}
EFFORTS: dict[str, Any] = {
    "h": lambda h: h,
    "h+2": lambda h: h + 2.0,
    "h^2": lambda h: h**2,
    "log": lambda h: np.log2(h + 1.0),
}


@pytest.mark.parametrize("effort", EFFORTS)
@pytest.mark.parametrize("utility", UTILITIES)
def test_random_chains_visit_by_visit(utility: str, effort: str) -> None:
    seed = list(UTILITIES).index(utility) * 10 + list(EFFORTS).index(effort)
    u, worth = UTILITIES[utility]
    p, start = drawn(seed, 12 - seed % 5, 0.15)
    n = start.size
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n).astype(float)
    on_list = Chain(p, start, utility=u, effort=Effort(effort)).over(n)
    total, rate, depth, mean = followed(p, start, [[j] for j in range(n)], lambda k, j: worth(k, y[j]), EFFORTS[effort])
    assert on_list.total(y) == pytest.approx(total, abs=1e-10)
    assert on_list.order1(y) == pytest.approx(rate, abs=1e-10)
    assert on_list.expected_depth == pytest.approx(depth, abs=1e-10)
    assert on_list.order2(y) == pytest.approx(total / mean, abs=1e-10)


@pytest.mark.parametrize("by", ["state", "document"])
@pytest.mark.parametrize("utility", UTILITIES)
def test_states_that_show_ranks_visit_by_visit(utility: str, by: str) -> None:
    u, worth = UTILITIES[utility]
    p, start = drawn(7, 9, 0.15)
    rank, gains = [1, 1, 2, 3, 3, 3, 0, 4, 5], [0, 1, 1, 0, 0.5, 1, 1, 0, 1]
    y = np.array([1.0, 0.0, 2.0, 1.0, 1.0])
    of = [0.0 if r == 0 else gains[j] * y[r - 1] for j, r in enumerate(rank)]
    documents = [[j for j, r in enumerate(rank) if r == d] for d in range(1, 6)]
    counted = documents if by == "document" else [[j] for j in range(9)]
    total, rate, _, _ = followed(p, start, counted, lambda k, j: worth(k, of[j]), EFFORTS["h"])
    on_list = Chain(p, start, rank, gains, by=by, utility=u).over(5)
    assert on_list.total(y) == pytest.approx(total, abs=1e-10)
    assert on_list.order1(y) == pytest.approx(rate, abs=1e-10)


@pytest.mark.parametrize("seed", range(6))
def test_moments_from_every_start(seed: int) -> None:
    # T of two gaining states by the law of (visits to one, visits to the other, state)
    p, start = drawn(seed, 5, 0.3)
    y, kept = np.array([0.0, 2.0, 0.0, 1.0, 0.0]), [1.0, 0.75, 0.4][seed % 3]
    on_list = Chain(p, start, utility=Utility(1 - kept)).over(5)
    stop, most = 1 - p.sum(axis=1), 60
    means, variances = [], []
    for start_at in [*np.eye(5), start]:
        arriving, ended, h, law = np.zeros((most + 2, most + 2, 5)), np.zeros((most + 2, most + 2)), 1, []
        arriving[0, 0] = start_at
        while arriving.sum() > 1e-16:
            here = arriving.copy()
            here[:, :, 1], here[:, :, 3] = 0.0, 0.0
            here[1:, :, 1], here[:, 1:, 3] = arriving[:-1, :, 1], arriving[:, :-1, 3]
            ended += here @ stop
            law.append(float((here @ stop).sum()))
            arriving, h = here @ p, h + 1
        worth = np.concatenate(([0.0], np.cumsum(kept ** np.arange(most + 1.0))))
        t = 2.0 * worth[:, None] + worth[None, :]
        hs = np.arange(1.0, len(law) + 1)
        means.append((float((ended * t).sum()), float(hs @ law)))
        variances.append((float((ended * t**2).sum()) - means[-1][0] ** 2, float(hs**2 @ law) - means[-1][1] ** 2))
    np.testing.assert_allclose(on_list.expected_totals(y), [m[0] for m in means[:-1]], atol=1e-10)
    np.testing.assert_allclose(on_list.expected_depths, [m[1] for m in means[:-1]], atol=1e-10)
    np.testing.assert_allclose(on_list.total_vars(y), [v[0] for v in variances[:-1]], atol=1e-9)
    np.testing.assert_allclose(on_list.depth_vars, [v[1] for v in variances[:-1]], atol=1e-9)
    assert (on_list.total_var(y), on_list.depth_var) == pytest.approx(variances[-1], abs=1e-9)
    assert on_list.depth_distribution().mean == pytest.approx(means[-1][1], abs=1e-12)


# ---- golden values


def test_snippets_and_documents_to_all_digits() -> None:
    # states s1, d1, s2, d2; loss .25; k counts visits to the gaining state, or to the document
    for by, expected in (("state", (2.024078283261, 0.382314022656)), ("document", (1.372555349869, 0.270295605052))):
        chain = Chain(SNIPPETS, rank=[1, 1, 2, 2], gains=[0, 1, 0, 1], by=by)
        m = PH(user=chain, loss=0.25, gains="linear")
        assert m.value([1, 2]) == pytest.approx(expected[1], abs=5e-13)
        assert m.user([1, 2]).total([1, 2]) == pytest.approx(expected[0], abs=5e-13)
        weighted = Chain(SNIPPETS, rank=[1, 1, 2, 2], gains=[False, 1, False, 2], by=by)  # d2 gains twice the gain
        assert PH(user=weighted, loss=0.25).value([1, 1]) == pytest.approx(expected[1], abs=5e-13)


def test_snippets_and_documents_by_time_to_all_digits() -> None:
    # exponential means 2, 30, 2, 30: order 1 without overhead and with 10 seconds, order 2 with 10
    for seconds in ([2, 30, 2, 30], {0: 2, 1: 30}):
        chain = Chain(SNIPPETS, rank=[1, 1, 2, 2], gains=[0, 1, 0, 1], seconds=seconds)
        timed = PH(user=chain, loss=0.25, gains="linear", effort="time")
        assert timed.value([1, 2]) == pytest.approx(0.0553744137025, abs=5e-14)
        assert timed(overhead=10).value([1, 2]) == pytest.approx(0.0330216221031, abs=5e-14)
        assert timed(overhead=10, order=2).value([1, 2]) == pytest.approx(0.0308288652933, abs=5e-14)
    assert pickle.loads(pickle.dumps(timed)) == timed


@pytest.mark.parametrize("law", ["exponential", "fixed", "gamma(2)"])
def test_time_of_neighbours_is_a_walks(law: str) -> None:
    times = {"effort": "time", "seconds": "12,8,5", "timing": law, "overhead": 5}
    for order in (1, 2):
        chain = PH(user=Chain.from_moves({1: 0.5, -1: 0.25}), order=order, **times)
        walk = PH(order=order, **times)
        assert chain.value(R) == pytest.approx(walk.value(R), rel=1e-11)
        together = amble.evaluate(
            {"1": {"a": 1}, "2": {"b": 1}}, {"x": {"1": {"a": 1.0}, "2": {"a": 2, "b": 1}}}, chain
        )
        np.testing.assert_allclose(together["x", chain.label], [walk.value([1]), walk.value([0, 1])], rtol=1e-11)


def test_times_that_are_refused_and_simulated() -> None:
    chain = Chain(SNIPPETS, rank=[1, 1, 2, 2], seconds=[2, 30, 2, 30])
    with pytest.raises(
        amble.MeasureError, match="the gain per second is infinite: something is gained on a path of 1 "
    ):
        PH(user=chain, effort="time").value([1, 0])
    assert PH(user=chain, effort="time").value([0, 1]) > 0  # two visits at least
    with pytest.raises(amble.MeasureError, match="user and seconds: expected one of them, the chain has seconds"):
        PH(user=chain, effort="time", seconds=3)
    with pytest.raises(amble.MeasureError, match="seconds by grade or cost: a chain takes them by rank"):
        PH(user=Chain(SNIPPETS), effort="time", seconds="0=4,1=20")
    with pytest.raises(amble.MeasureError, match="seconds=.*: expected numbers above 0"):
        Chain(SNIPPETS, seconds=-1)
    for law in ("exponential", "fixed", "gamma(2)"):
        m = PH(user=chain, effort="time", overhead=10, timing=law)
        with pytest.warns(SimulationWarning):
            found = m.distribution([1, 1], users=20_000, seed=1)
        assert abs(found.mean - m.value([1, 1])) < 4 * found.standard_error
    with pytest.raises(amble.MeasureError, match="a path of ranks says neither the states"):
        m.score_path([1, 2], [1, 1])


def test_distribution_of_gain_per_second() -> None:
    # 1 → 2 with .5, and the end; 4 seconds, then 16: 1 / 4, or 2 / 20
    m = PH(user=Chain([[0, 0.5], [0, 0]], seconds=[4, 16]), effort="time", timing="fixed")
    found = m.distribution([1, 1])
    assert (found.values.tolist(), found.probs.tolist()) == ([0.1, 0.25], [0.5, 0.5])
    kept = PH(user=Chain(SNIPPETS, seconds=[2, 30, 2, 30]), loss=0, effort="time", timing="fixed")
    assert kept.distribution([0, 1, 0, 1]).mean == pytest.approx(kept.value([0, 1, 0, 1]), rel=1e-10)


# ---- walks


@pytest.mark.parametrize("first", ["forward", "stop"])
@pytest.mark.parametrize("loss", [0.0, 0.25, 1.0])
def test_neighbours_are_a_walk(first: str, loss: float) -> None:
    moves = {+1: 0.45, -1: 0.35}
    chain = Chain.from_moves(moves, first=first, start=[0.5, 0, 0, 0.5], utility=Utility(loss))
    walk = Walk(0.45, 0.35, first=first, start=[0.5, 0, 0, 0.5], utility=Utility(loss))
    for n in (1, 2, 3, 10, 40):
        y = np.resize(R, n)
        one, other = chain.over(n), walk.over(n)
        for name in ("visits", "last", "reach", "weights"):
            np.testing.assert_allclose(getattr(one, name), getattr(other, name), atol=1e-12)
        np.testing.assert_allclose(one.returns, np.where(other.reach > 0, other.returns, 0.0), atol=1e-12)
        for name in ("expected_depth", "depth_var"):
            assert getattr(one, name) == pytest.approx(getattr(other, name), rel=1e-12)
        for name in ("total", "order1", "order2", "total_var"):
            assert getattr(one, name)(y) == pytest.approx(getattr(other, name)(y), rel=1e-12, abs=1e-12)
        assert one.residual(1) == pytest.approx(other.residual(1), abs=1e-12)


def test_neighbours_by_rank_are_a_walk() -> None:
    rng = np.random.default_rng(5)
    p, q = rng.random(60) * 0.5, rng.random(60) * 0.5
    p[0], q[0] = p[0] + q[0], 0.0
    chain = Chain({+1: p, -1: q}, utility=Utility(0.5), effort=Effort("log"))
    walk = Walk(p.tolist(), q.tolist(), utility=Utility(0.5), effort=Effort("log"))
    for n in (1, 5, 60):
        y = np.resize(R, n)
        assert chain.over(n).order1(y) == pytest.approx(walk.over(n).order1(y), rel=1e-12)
        assert chain.over(n).order2(y) == pytest.approx(walk.over(n).order2(y), rel=1e-12)


# ---- many states, hardly any stops


def exactly(p: Array, start: Array) -> tuple[list[Decimal], list[Decimal]]:
    """Visits and the last entry of M's diagonal, by plain elimination with 60 digits; p has a band of width 2."""
    n = start.size
    with localcontext() as context:
        context.prec = 60
        a = [
            {j: (Decimal(1) if i == j else Decimal(0)) - Decimal(p[j, i]) for j in range(max(0, i - 2), min(n, i + 3))}
            for i in range(n)
        ]  # the transpose of I - P
        right = [Decimal(x) for x in start.tolist()]
        last = [Decimal(int(i == n - 1)) for i in range(n)]
        for k in range(n):
            for i in range(k + 1, min(n, k + 3)):
                share = a[i].get(k, Decimal(0)) / a[k][k]
                for j in range(k, min(n, k + 3)):
                    a[i][j] = a[i].get(j, Decimal(0)) - share * a[k].get(j, Decimal(0))
                right[i] -= share * right[k]
                last[i] -= share * last[k]
        visits, of_last = [Decimal(0)] * n, [Decimal(0)] * n
        for k in range(n - 1, -1, -1):
            for x, b in ((visits, right), (of_last, last)):
                rest = sum((a[k][j] * x[j] for j in range(k + 1, min(n, k + 3))), Decimal(0))
                x[k] = (b[k] - rest) / a[k][k]
        return visits, of_last


@pytest.mark.parametrize("stop", [0.05, 1e-9])
def test_thousand_states_keep_their_digits(stop: float) -> None:
    n = 1000
    rng = np.random.default_rng(3)
    p = sum(np.diag(rng.random(n - abs(k)) + 0.2, k) for k in (-2, -1, 1, 2))
    p *= ((1.0 - stop) / p.sum(axis=1))[:, None]
    start = np.eye(n)[0]
    on_list = Chain(sparse.csr_array(p), start, utility=Utility(0.25)).over(n)
    visits, of_last = exactly(p, start)
    np.testing.assert_allclose(on_list.visits, [float(x) for x in visits], rtol=1e-13)
    assert on_list._solved.own[-1, 0, 0] == pytest.approx(float(of_last[-1]), rel=1e-13)
    assert on_list.last.sum() == pytest.approx(1.0, abs=1e-12)
    assert on_list.expected_depth == pytest.approx(float(sum(visits)), rel=1e-13)
    # E[T / H] of a gain of 1 everywhere and no loss is 1, at any depth
    kept = Chain(sparse.csr_array(p), start).over(n)
    assert kept.order1(np.ones(n)) == pytest.approx(1.0, abs=1e-12)
    short = Chain(sparse.csr_array(p), start).over(200)  # by halves, densely
    m = fundamental(p[:200, :200], short.transitions.stop)
    np.testing.assert_allclose(short.visits, m[0], rtol=1e-13)
    np.testing.assert_allclose(short._solved.own[:, 0, 0], np.diagonal(m), rtol=1e-13)


def test_a_matrix_that_hardly_stops_dense() -> None:
    # two states that go to each other and stop with 2^-40 each: 2^40 visits, half to each, but for the first
    s = 2.0**-40
    on_list = Chain([[0, 1 - s], [1 - s, 0]]).over(2)
    assert on_list.visits.sum() == pytest.approx(2.0**40, rel=1e-15)
    assert on_list.visits[0] == pytest.approx(1 / (s * (2 - s)), rel=1e-15)


# ---- lists that are shorter or longer than the matrix


def test_lists_shorter_and_longer_than_the_matrix() -> None:
    p = np.array([[0, 0.5, 0.2], [0.4, 0, 0.4], [0.5, 0.1, 0]])
    chain = Chain(p, [0.5, 0, 0.5], utility=Utility(0.25))
    short = chain.over(2)  # rank 3 is not there: its moves stop, its start is rank 2's
    np.testing.assert_array_equal(short.transition_matrix, p[:2, :2])
    # visits v1 = .5 + .4 v2, v2 = .5 + .5 v1: v1 = .7 / .8, v2 = .75 / .8
    np.testing.assert_allclose(short.visits, [0.875, 0.9375])
    np.testing.assert_allclose(short.last, [0.875 * 0.5, 0.9375 * 0.6])
    m = PH(user=chain, loss=0.25)
    assert m.value([1, 0, 1, 1, 1]) == m.value([1, 0, 1])
    assert m.user([1, 0, 1, 1, 1]).visits.tolist() == [*m.user([1, 0, 1]).visits, 0, 0]
    assert m.deepest == 3
    assert m.value([]) == 0.0
    together = amble.evaluate(
        {"1": {"a": 1, "c": 1}, "2": {"b": 1}, "3": {"a": 1}},
        {"x": {"1": dict.fromkeys("a", 1), "2": {"a": 3, "b": 2}, "3": {"z": 5, "a": 4, "y": 3, "x": 2}}},
        m,
    )["x", m.label]
    np.testing.assert_allclose(together, [m.value([1]), m.value([0, 1]), m.value([0, 1, 0, 0])], rtol=1e-13)


@pytest.mark.parametrize("by", ["state", "document"])
@pytest.mark.parametrize(
    "make",
    [
        lambda **k: Chain.from_moves({+1: 0.5, -1: 0.2, +2: 0.1, "top": 0.05}, start=[0.6, 0, 0.4], **k),
        lambda **k: Chain.pages(0.5, 0.2, 0.1, size=3, **k),
        lambda **k: Chain.snippets(up=0.1, start=[0.5, 0.5], **k),
        lambda **k: Chain(lambda n: np.diag(np.full(n - 1, 0.5), 1) + np.eye(n)[::-1] * 0.3 / n, **k),
        lambda **k: Chain(lambda n, grades: 0.8 * np.outer(grades + 1, np.ones(n)) / 3 / n, **k),
    ],
)
@pytest.mark.parametrize("utility", [Utility(0.25), Utility(function=lambda k, y: y**2 / k)])
def test_many_lists_are_as_each(make: Any, by: str, utility: Utility) -> None:
    rng = np.random.default_rng(1)
    chain = make(by=by, utility=utility, effort=Effort("h"))
    nested = chain.is_nested and utility.separable
    m = PH(gains="linear")
    for effort in (Effort("h"), Effort("h^2")):
        lists = [rng.integers(0, 3, n) for n in (1, 2, 5, 90 if nested else 12, 11, 8, 8)]
        qrels = {str(t): {f"d{i}": int(g) for i, g in enumerate(y)} for t, y in enumerate(lists)}
        run = {str(t): {f"d{i}": -float(i) for i in range(y.size)} for t, y in enumerate(lists)}
        asked = chain.asked(utility, effort)
        gains = m.gains_of(Lists.of_rankings(amble.align(qrels, {"x": run})))
        for name in ("order1", "order2", "total"):
            found = asked.scores(amble.users.Question(name), gains)
            alone = [getattr(asked.over(y.size, y), name)(y) for y in lists]
            np.testing.assert_allclose(found, alone, rtol=1e-12)
        assert asked.totals(gains)[1] == pytest.approx([asked.over(y.size, y).expected_depth for y in lists])


@pytest.mark.parametrize("seed", range(8))
def test_states_in_any_order_on_lists_of_many_lengths(seed: int) -> None:
    # ranks that do not rise with the states, starts anywhere: each list by the states that it has, followed alone
    p, start = drawn(seed, 9, 0.15)
    rng = np.random.default_rng(seed)
    rank, gains = np.append(rng.integers(0, 9, 8), 1), rng.choice([0.0, 0.5, 1.0], 9)
    lists = [rng.integers(0, 3, n) for n in (1, 3, 4, 8, 10)]
    m = PH(user=Chain(p, start, rank, gains, by=["state", "document"][seed % 2]), loss=0.25, gains="linear")
    qrels = {str(t): {f"d{i}": int(g) for i, g in enumerate(y)} for t, y in enumerate(lists)}
    run = {str(t): {f"d{i}": -float(i) for i in range(y.size)} for t, y in enumerate(lists)}
    found = amble.evaluate(qrels, {"x": run}, [m, m(order=2)])
    for t, y in enumerate(lists):
        keep = np.flatnonzero(rank <= y.size)
        first = start[keep]
        first[np.argmax(rank[keep])] += 1 - first.sum()
        worth = [float(gains[j] * y[rank[j] - 1]) if rank[j] else 0.0 for j in keep]
        counted = [[j] for j in range(keep.size)]
        if seed % 2:
            counted = [np.flatnonzero(rank[keep] == r).tolist() for r in range(1, y.size + 1)]
        total, rate, depth, _ = followed(
            p[np.ix_(keep, keep)], first, counted, lambda k, j, worth=worth: worth[j] * 0.75 ** (k - 1), EFFORTS["h"]
        )
        assert found["x", m.label][t] == pytest.approx(rate, abs=1e-10)
        assert found["x", m(order=2).label][t] == pytest.approx(total / depth, abs=1e-10)


def test_who_starts_elsewhere_on_a_short_list() -> None:
    # on 12 ranks one visit, to rank 12; on 6 the last rank of a long walk
    p = np.zeros((12, 12))
    p[:8, :8] = np.diag([0.49] * 7, 1) + np.diag([0.49] * 7, -1)
    m = PH(user=Chain(p, np.eye(12)[11]), loss=0, effort="log")
    stop, here, expected = 1 - p[:6, :6].sum(axis=1), np.eye(6)[5], 0.0
    for h in range(1, 400):  # T is H
        expected += float(here @ stop) * h / np.log2(h + 1)
        here = here @ p[:6, :6]
    qrels = {t: {f"d{i}": 1 for i in range(n)} for t, n in (("1", 12), ("2", 6))}
    run = {t: {d: -float(d[1:]) for d in docs} for t, docs in qrels.items()}
    assert amble.evaluate(qrels, {"x": run}, m)["x", m.label] == pytest.approx([1.0, expected], abs=1e-10)


def test_jumps_that_are_long() -> None:
    # rank 1, and with .5 rank 1001: 1/2 of a gain there, with that probability
    assert PH(user=Chain.from_moves({1000: 0.5}), loss=0).value([0] * 1000 + [1] * 500) == pytest.approx(0.25)


def test_nothing_gained_by_a_table() -> None:
    m = PH(user=Chain([[0, 0.5], [0.2, 0]]), utility="1=1,0.5")
    assert m.value([0, 0]) == 0.0
    assert m.value([0, 1]) > 0


def test_ties_are_as_a_walks() -> None:
    qrels = {"1": {"a": 1, "b": 0, "c": 1}, "2": {"a": 1}}
    run = {"x": {"1": {"a": 3.0, "b": 3.0, "c": 2.0, "d": 2.0}, "2": {"z": 1.0, "a": 1.0, "y": 1.0}}}
    for order in (1, 2):
        chain, walk = PH(user=Chain.from_moves({1: 0.5, -1: 0.25}), order=order), PH(order=order)
        found = amble.evaluate(qrels, run, [chain, walk], ties="expected")
        np.testing.assert_allclose(found["x", chain.label], found["x", walk.label], rtol=1e-13)


# ---- pieces


def test_moves_that_lead_above_rank_1() -> None:
    def rows(first: str) -> Any:
        return Chain.from_moves({-2: 0.3, +1: 0.5}, first=first).over(3).transition_matrix.tolist()

    assert rows("stop") == [[0, 0.5, 0], [0, 0, 0.5], [0.3, 0, 0]]
    assert rows("top") == [[0.3, 0.5, 0], [0.3, 0, 0.5], [0.3, 0, 0]]
    assert rows("forward") == [[0, 0.8, 0], [0, 0, 0.8], [0.3, 0, 0]]


def test_pages() -> None:
    # ranks 1, 2 | turn | rank 3, 4 | turn | rank 5: at the last of a page, forward turns it
    on_list = Chain.pages(0.5, 0.2, 0.1, size=2, first="stop").over(5)
    assert on_list.rank.tolist() == [1, 2, 3, 3, 4, 5, 5]
    assert on_list.gain.tolist() == [1, 1, 0, 1, 1, 0, 1]
    np.testing.assert_allclose(
        on_list.transition_matrix,
        [
            [0, 0.5, 0.1, 0, 0, 0, 0],
            [0.2, 0, 0.6, 0, 0, 0, 0],
            [0, 0, 0, 1, 0, 0, 0],
            [0, 0, 0, 0, 0.5, 0.1, 0],
            [0, 0, 0, 0.2, 0, 0.6, 0],
            [0, 0, 0, 0, 0, 0, 1],
            [0, 0, 0, 0, 0, 0, 0],
        ],
    )
    assert on_list.expected_depth == pytest.approx(on_list.state_visits.sum())
    assert Chain.pages(size=2).over(4).n == 5  # a list that ends with a page has no turn after it


def test_kinds_of_matrices_are_the_same() -> None:
    p = np.array([[0, 0.5, 0], [0.4, 0, 0.3], [0, 0.6, 0.1]])
    kinds: list[Any] = [p, p.tolist(), sparse.csr_matrix(p), {1: [0.5, 0.3], -1: [0, 0.4, 0.6], 0: [0, 0, 0.1]}]
    chains = [Chain(kind) for kind in kinds]
    assert len(set(chains)) == 1
    assert chains[0] != Chain(p, [0, 1])
    rank = np.array([1, 2, 3])
    same = Chain(p, (1, 0, 0), rank, [True] * 3)
    rank[:] = 1
    assert same == chains[0]
    assert same.over(3).visits.size == 3
    assert pickle.loads(pickle.dumps(chains[0])) == chains[0]
    with pytest.raises(AttributeError, match="does not change"):
        chains[0].by = "document"


# ---- distributions and simulation


def test_distribution_where_nothing_is_lost() -> None:
    chain, walk = PH(user=Chain.from_moves({1: 0.5, -1: 0.25}), loss=0), PH(loss=0)
    found = chain.distribution(R)
    assert found.distance(walk.distribution(R)) < 1e-12
    assert found.mean == pytest.approx(chain.value(R), abs=1e-12)
    assert chain.user(R).total_distribution(R).distance(walk.user(R).total_distribution(R)) < 1e-12


def test_distribution_where_nobody_comes_back() -> None:
    # 1 → 2 (.5) or 3 (.3); 2 → 3 (.5); a loss makes no difference
    p = [[0, 0.5, 0.3], [0, 0, 0.5], [0, 0, 0]]
    found = PH(user=Chain(p), loss=0.25).distribution([1, 0, 1])
    # {1}: 1, {1, 2}: 1/2, {1, 3}: 1, {1, 2, 3}: 2/3
    assert found.values.tolist() == pytest.approx([1 / 2, 2 / 3, 1])
    assert found.probs.tolist() == pytest.approx([0.25, 0.25, 0.5])


@pytest.mark.parametrize("by", ["state", "document"])
def test_simulated_readers(by: str) -> None:
    p, start = drawn(11, 8, 0.1)
    chain = Chain(p, start, [1, 1, 2, 2, 3, 4, 5, 5], [0, 1, 0, 1, 1, 1, 0.5, 1], by=by)
    m = PH(user=chain, loss=0.25)
    with pytest.raises(NoExactDistributionError):
        m.distribution_on(m.gains_of_grades([1, 0, 1, 1, 1]), 0)
    with pytest.warns(SimulationWarning):
        found = m.distribution([1, 0, 1, 1, 1], users=40_000, seed=2)
    assert abs(found.mean - m.value([1, 0, 1, 1, 1])) < 4 * found.standard_error
    other = PH(user=Chain(p, start, chain._given[0], chain._given[1], by="state" if by == "document" else "document"))
    assert abs(found.mean - other.value([1, 0, 1, 1, 1])) > 4 * found.standard_error


def test_readers_of_many_states() -> None:
    # 6,000 states: on by one with .9 from any of them
    chain = Chain({1: [0.9] * 6000}, [0] * 1000 + [1])
    readers = amble.simulate(PH(user=chain, loss=0), [1] * 6000, users=2000, seed=1, paths=True)
    assert {path[0] for path in readers.paths} == {1001}
    assert abs(readers.mean_visits - 10) < 4 * np.sqrt(90 / 2000)  # geometric: variance .9 / .1^2


def test_readers_whose_gain_per_second_has_no_mean() -> None:
    m = PH(user=Chain([[0, 0.5], [0.5, 0]], seconds=3), effort="time")
    for call in (m.value, m.distribution, lambda y: amble.simulate(m, y)):
        with pytest.raises(amble.MeasureError, match="the gain per second is infinite: something is gained on a path"):
            call([1, 0])
    # the gain itself has one: 1 + the visits back to rank 1, each after two moves
    assert m(loss=0).user([1, 0]).total_distribution([1, 0]).mean == pytest.approx(1 / (1 - 0.25), abs=1e-12)


# ---- measures, files and errors


def test_a_measure_of_a_chain() -> None:
    chain = Chain.from_moves({1: 0.5, -1: 0.25})
    m = PH(user=chain, loss=0.25, order=1)
    assert m.value(R) == pytest.approx(amble.parse("PH").value(R), rel=1e-12)
    assert PH(user=chain, order=2).value(R) == pytest.approx(amble.parse("PH(order=2)").value(R), rel=1e-12)
    assert m == PH(user=Chain.from_moves({1: 0.5, -1: 0.25}), order=1) != PH(user=Chain.from_moves({1: 0.5, -1: 0.24}))
    assert pickle.loads(pickle.dumps(m)) == m
    assert (m @ 4).value(R) == pytest.approx(amble.parse("PH@4").value(R), rel=1e-12)
    with pytest.raises(amble.MeasureError, match=r"<chain:\w+> is an object that no text can spell"):
        amble.parse(str(m))
    with pytest.raises(amble.MeasureError, match="user and p: expected one of them, a chain needs no p"):
        PH(user=chain, p=0.5)
    table = m.user(R)
    assert table.visits.size == 10


FILE = """# from  to  probability
1:snippet 1 0.6
1:snippet 2:snippet 0.3
1 1:snippet 0.5
1 2:snippet 0.3
2:snippet 2 0.6
2 1:snippet 0.3
2 2:snippet 0.4
"""


def test_a_chain_in_a_file(tmp_path: Path, amble_cli: Any) -> None:
    path = tmp_path / "matrix.tsv"
    path.write_text(FILE)
    text = f"PH(user='{path}',gains='linear')"
    m = amble.parse(text)
    assert m.value([1, 2]) == pytest.approx(0.382314022656, abs=5e-13)
    assert str(m) == f"PH(user='{path}',gains='linear')"
    assert amble.parse(str(m)) == m == pickle.loads(pickle.dumps(m))
    (tmp_path / "qrels").write_text("1 0 a 1\n1 0 b 2\n")
    (tmp_path / "run").write_text("1 Q0 a 1 2 r\n1 Q0 b 2 1 r\n")
    done = amble_cli("eval", str(tmp_path / "qrels"), str(tmp_path / "run"), "-m", text, "--format", "tsv")
    assert "0.3823" in done.stdout
    shown = amble_cli("user", text, "--gains", "1,2", "--plot", str(tmp_path / "graph.svg")).stdout
    assert "from     (1)       1     (2)       2    stop\n(1)        -  0.6000  0.3000       -  0.1000" in shown
    path.write_text(FILE + "start 2:snippet 1\n")
    assert amble.parse(text).user([1, 2]).start.tolist() == [0, 0, 1, 0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "1 2 0.5\n2 1 0.6\n2 3 0.5\n",
            "m.tsv:2: the transitions from 2 add up to 1.1, expected probabilities up to 1",
        ),
        ("1 2 1\n2 1 1\n", "m.tsv:1: some users never stop: no way leads from 1 to a stop"),
        ("1 2 0.5\n1 2 0.2\n", "m.tsv:2: from 1 to 2 for the second time, expected once"),
        ("1 2 1.5\n", "m.tsv:1: probability 1.5, expected a number between 0 and 1"),
        ("1 2\n", "m.tsv:1: found 2 columns, expected 3: from to probability"),
        ("1 x 0.5\n", "m.tsv:1: state 'x', expected a rank, such as 3, or a rank and a name, 3:snippet"),
        ("start 1 0.5\n1 2 0.5\n", "m.tsv: start: expected probabilities that sum to 1, found 0.5"),
        ("", "m.tsv: empty, expected lines: from to probability"),
    ],
)
def test_files_that_are_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "m.tsv"
    path.write_text(text)
    with pytest.raises(amble.MeasureError) as error:
        amble.parse(f"PH(user='{path}')")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Chain([[0, 0.5], [0.6, 0.5]]), "the transitions from state 2 add up to 1.1"),
        (lambda: Chain([[0, 0.5], [-0.1, 0.5]]), "the transitions from state 2 add up to 0.4, expected probabilities"),
        (lambda: Chain([[0, np.nan], [0.1, 0.5]]), "the transitions from state 1 add up to nan"),
        (lambda: Chain([[0, 0.5, 0], [0, 0, 1], [0, 1, 0]]), "no way leads from state 2 to a stop"),
        (lambda: Chain([[0.7, 0.3], [0.3, 0.7]]), "no way leads from state 1 to a stop"),
        (lambda: Chain([[0, 0.5]]), r"a matrix of shape \(1, 2\), expected a square one"),
        (lambda: Chain("x"), "chain 'x': expected a matrix of probabilities"),
        (lambda: Chain([[0.5]], [0.5]), "start: expected probabilities that sum to 1, found 0.5"),
        (lambda: Chain([[0.5]], [0, 1]), "start: 2 probabilities, expected at most 1"),
        (lambda: Chain([[0.5]], rank=[1, 2]), "rank: expected 1 numbers of at least 0"),
        (lambda: Chain([[0.5]], rank=[1.5]), "rank: expected whole numbers"),
        (lambda: Chain([[0.5]], gains=[-1]), "gains: expected 1 numbers of at least 0"),
        (lambda: Chain([[0.5]], by="rank"), "by"),
        (lambda: Chain.from_moves({1: 0.7, -1: 0.4}), "the moves from rank 1 add up to more than 1"),
        (lambda: Chain.from_moves({"down": 0.7}), "move 'down': expected a number of ranks"),
        (lambda: Chain.from_moves({1: 1.7}), "move 1=1.7: expected a number of at least 0 and at most 1"),
        (lambda: Chain.from_moves({0: 1.0}), "no way leads from rank 1 to a stop"),
        (lambda: Chain.pages(0.5, 0.5, 0.5), "the moves from rank 1 add up to more than 1"),
        (lambda: Chain.snippets(click=2), "click=2: expected a number of at least 0 and at most 1"),
        (lambda: Chain(lambda n: 1 / 0).over(3), "chain: its function failed with ZeroDivisionError"),
        (lambda: Chain([[0.5]], rank=[3]).over(2), "no state of the chain shows one of the first 2 ranks"),
        (lambda: Chain([[0.5]]).over(-1), "expected how many documents the list has"),
        (lambda: PH(user=Chain([[0.5]], by="document", rank=[1])).user([1]).total_var([1, 2, 3]), None),
    ],
)
def test_chains_that_are_refused(make: Any, message: str | None) -> None:
    if message is None:
        make()
        return
    with pytest.raises(amble.MeasureError, match=message):
        make()


def test_variances_without_a_closed_form() -> None:
    chain = Chain(SNIPPETS, rank=[1, 1, 2, 2], utility=Utility(0.25), by="document").over(2)
    with pytest.raises(amble.MeasureError, match="the variance of the gain has a closed form for a loss at each state"):
        chain.total_var([1, 1])


def test_functions_that_look_at_the_grades() -> None:
    # at a relevant document stop with .5, else go on
    chain = Chain(lambda n, grades: np.diag(np.where(grades > 0, 0.5, 1.0)[:-1], 1))
    m = PH(user=chain, loss=0)
    assert not m.is_static
    assert m.user([0, 1, 0]).last.tolist() == [0, 0.5, 0.5]
    assert m.value([0, 1, 0]) == pytest.approx(0.5 * (1 / 2) + 0.5 * (1 / 3))
    other = Chain(lambda n, grades: Chain.pages(size=2))
    assert other.over(4).n == 5


def test_functions_and_their_arguments() -> None:
    # rank 1, and with .5 (.1) rank 2: .5 x 1/2 (.1 x 1/2)
    assert PH(user=Chain(lambda n, p=0.5: p * np.eye(n, k=1)), loss=0).value([0, 1]) == pytest.approx(0.25)
    looks = Chain(lambda n, grades=None: grades[-1] / 4 * np.eye(n, k=1))
    assert PH(user=looks, loss=0).value([0, 2]) == pytest.approx(0.25)
    held = [0.1]
    m = PH(user=Chain(lambda n: held[0] * np.eye(n, k=1)), loss=0)
    assert m.value([0, 1]) == pytest.approx(0.05)
    held[0] = 0.5
    assert m.value([0, 1]) == pytest.approx(0.25)
    for inner in (Chain([[0.5]], seconds=3), Chain([[0, 0.5], [0, 0]], [0, 1])):
        with pytest.raises(amble.MeasureError, match="its function returned one with start or seconds; say"):
            Chain(lambda n, inner=inner: inner).over(2)


def test_observed_paths() -> None:
    m = PH(user=Chain([[0, 0.5], [0.5, 0]]), loss=0.5)
    assert m.score_path([1, 2, 1], [1, 1, 1]) == pytest.approx((1 + 1 + 0.5) / 3)
    with pytest.raises(amble.MeasureError, match="visit 2 is to rank 3, expected a rank from 1 to 2, beyond which"):
        m.score_path([1, 3], [1, 1, 1])
    p = 0.5 * np.eye(2, k=1)
    for others in ({"rank": [1, 1]}, {"rank": [0, 2]}, {"gains": [1, 0.5]}):
        with pytest.raises(amble.MeasureError, match="a path of ranks says neither the states of a chain that has oth"):
            PH(user=Chain(p, **others)).score_path([1, 2], [1, 1])


def test_a_state_without_a_rank_takes_no_seconds_of_one() -> None:
    chain = Chain([[0, 0.5], [0.5, 0]], rank=[1, 0])
    times = {"effort": "time", "overhead": 1, "timing": "fixed"}
    assert PH(user=chain, seconds=3, **times).value([1]) > 0
    with pytest.raises(amble.MeasureError, match="seconds by rank, and a state that shows none; say them by state"):
        PH(user=chain, seconds="3,4", **times).value([1])


def test_scores_warn_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert isinstance(Chain.pages().over(25), ChainOnList)
        assert PH(user=Chain.pages()).value([1] * 25) > 0
