"""Users fitted to logs: by hand, against general optimisers, against figures of papers, and on simulated people."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from drawing import examples
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

import amble
from amble.errors import AmbleError
from amble.logs import Counts, Facts, Fit, fit, holding_rates, read_log
from amble.logs.bootstrap import Resampled
from amble.logs.chain_fitting import count_steps, smooth_transitions, walk_probabilities
from amble.logs.counts import GROUPS
from amble.logs.forward_fitting import continuation_probabilities, fit_continuation, fit_rbp, stopping_counts
from amble.logs.implied import behaviour
from amble.logs.privacy import disclosed, enough_sessions, pool_neighbours, pooling_weights
from amble.logs.selection import folds
from amble.users.fit_file import read_fit, write_fit
from amble.users.fitted import Fitted

pytest.importorskip("duckdb", reason="logs need the extra")

Write = Callable[[str, str | bytes], str]
Clicks = Sequence[tuple[int, float]]  # rank and time


def table(pages: Sequence[Clicks], ends: Sequence[float] | None = None, grades: Sequence[Sequence[float]] = ()) -> str:
    """A log in which every session has a page of clicks."""
    lines = ["session\trank\ttime\taction\tgrade"]
    for i, clicks in enumerate(pages):
        lines.append(f"{i}\t\t0\tquery\t")
        if len(grades):
            lines += [f"{i}\t{r}\t0\tshow\t{g:g}" for r, g in enumerate(grades[i], 1)]
        lines += [f"{i}\t{rank}\t{time!r}\tclick\t" for rank, time in clicks]
        if ends is not None:
            lines.append(f"{i}\t\t{ends[i]!r}\tend\t")
    return "\n".join(lines) + "\n"


def counted(write: Write, pages: Sequence[Clicks], depth: int, **more: object) -> Counts:
    return read_log(write("log.tsv", table(pages, **more)), "table", depth=depth)  # type: ignore[arg-type]


def made(pages: Sequence[Sequence[int]], n: int) -> Counts:
    """The counts of pages of clicks ten seconds apart, each a session, without a file and an engine."""
    pages_in, clicked = np.zeros(GROUPS), np.zeros((GROUPS, n))
    moves, extremes = np.zeros((GROUPS, n + 1, n + 1)), np.zeros((GROUPS, n + 1, n + 1))
    held = np.zeros((GROUPS, n, 2))
    for i, page in enumerate(pages):
        g = i % GROUPS
        pages_in[g] += 1
        extremes[g, min(page, default=0), max(page, default=0)] += 1
        clicked[g, [rank - 1 for rank in set(page)]] += 1
        for a, b in zip([0, *page], [*page, 0], strict=True) if page else []:
            moves[g, a, b] += 1
            if a and b:
                held[g, a - 1] += (1, 10)
    inner = moves[:, 1:, 1:].sum(axis=0)
    facts = Facts(0, len(pages), len(pages), sum(map(len, pages)), int(inner.sum()), 0, 0, (10.0, 10.0, 10.0))
    return Counts(facts, n, pages_in, moves, extremes, clicked, held, held.copy(), 1800.0)


def test_counts_made_are_counts_read(write: Write) -> None:
    pages = [[1, 3, 3, 2], [], [2], [3, 1], [3]] * 3
    one, other = made(pages, 3).whole(), counted(write, ranks(*pages), 3).whole()
    for name in ("pages", "moves", "extremes", "clicked", "dwell", "dwell_censored"):
        assert getattr(one, name).tolist() == getattr(other, name).tolist(), name


def estimate(found: Fit | Fitted, name: str, parameter: str) -> object:
    fitted = found.fitted if isinstance(found, Fit) else found
    return next(model for model in fitted.models if model.name == name).estimates[parameter]


def ranks(*pages: Sequence[int]) -> list[Clicks]:
    return [[(rank, float(10 * i)) for i, rank in enumerate(page)] for page in pages]


# ---- steps


def walked(pages: Sequence[Sequence[int]], n: int, how: str) -> np.ndarray:
    """Steps, one after another."""
    out = np.zeros((n, 3))
    for page in pages:
        if not page:
            continue
        at = 1 if how == "path" else page[0]
        for rank in page:
            if how == "clicks":
                out[at - 1, 0 if rank > at else 1] += rank != at
                at = rank
            while at != rank:
                way = 0 if rank > at else 1
                out[at - 1, way] += 1
                at += 1 if way == 0 else -1
        out[at - 1, 2] += 1
    return out


@given(st.lists(st.lists(st.integers(1, 6), max_size=6), max_size=8), st.sampled_from(["path", "clicks"]))
def test_steps_are_those_of_a_walk(pages: list[list[int]], how: str) -> None:
    moves = np.zeros((7, 7))
    for page in pages:
        for i, j in zip([0, *page], [*page, 0], strict=True):
            if page:
                moves[i, j] += 1
    assert count_steps(moves, how).tolist() == walked(pages, 6, how).tolist()


@pytest.mark.parametrize("first", ["forward", "stop"])
def test_walk_has_the_largest_likelihood(first: str) -> None:
    steps = np.array([[55.0, 0, 30], [70, 31, 28], [0, 9, 17]])

    def minus(x: np.ndarray) -> float:
        e = np.exp(np.append(x, 0.0))
        p, q, s = e / e.sum()
        begin = (p + q, s) if first == "forward" else (p, q + s)
        return -float(
            steps[0, 0] * np.log(begin[0])
            + steps[0, 2] * np.log(begin[1])
            + steps[1] @ np.log([p, q, s])
            + steps[2, 1] * np.log(q)
            + steps[2, 2] * np.log(p + s)
        )

    best = optimize.minimize(minus, [0.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-12}).x
    e = np.exp(np.append(best, 0.0))
    assert walk_probabilities(steps, first) == pytest.approx(e / e.sum(), abs=1e-6)


def test_walk_by_rank_by_hand() -> None:
    # 40 pages: click at 3, then at 1; 20 pages: click at 2. At rank 1: 60 steps forward, 40 stops; at rank 2: 40
    # forward, 40 back, 20 stops; at rank 3, the last of the page: 40 back
    found = fit(made([*[[3, 1]] * 40, *[[2]] * 20], 3), "walk-rank")
    p, q, s = (estimate(found, "walk-rank", key) for key in "pqs")
    assert p.value == pytest.approx([0.6, 0.4])
    assert q.value == pytest.approx([0.0, 0.4])
    assert s.value == pytest.approx([0.4, 0.2])
    assert p.observations.tolist() == [100, 100]
    assert (q.low[0], q.high[0]) == (0, 0)


def test_walk_by_clicks_by_hand() -> None:
    # the same, a click a visit: at rank 1 40 stops; at rank 2 20 stops; from rank 3 40 times back
    found = fit(made([*[[3, 1]] * 40, *[[2]] * 20], 3), "walk-rank", steps="clicks")
    assert estimate(found, "walk-rank", "s").value == pytest.approx([1, 1])
    assert estimate(found, "walk-rank", "start").value == pytest.approx([0, 1 / 3, 2 / 3])


def test_walk_by_grade(write: Write) -> None:
    # pages of three; the second document has grade 1 on half of them: there she stops, else she goes on to the third
    pages = ranks(*[[1, 2]] * 30, *[[1, 2, 3]] * 30)
    grades = [[0, 1, 0]] * 30 + [[0, 0, 0]] * 30
    counts = counted(write, pages, 3, grades=grades)
    found = fit(counts, "walk-grade", first="stop")
    p, s = (estimate(found, "walk-grade", key) for key in "ps")
    # grade 0: forward at rank 1 60 times, at rank 2 30 times; the 30 stops at the last rank may be steps forward, too
    assert p.grades == (0, 1)
    assert p.value == pytest.approx([1, 0], abs=1e-6)
    assert s.value == pytest.approx([0, 1], abs=1e-6)
    assert p.observations.tolist() == [120, 30]


def test_matrix_by_hand() -> None:
    moves = np.array([[0.0, 8, 2], [5, 0, 5], [0, 0, 0]])
    # one more move from each rank, half of it to each of the two others
    assert smooth_transitions(moves, 1.0) == pytest.approx(
        np.array([[0, 8.5 / 11, 2.5 / 11], [5.5 / 11, 0, 5.5 / 11], [0.5, 0.5, 0]])
    )
    assert smooth_transitions(moves, 0.0)[2].tolist() == [0.5, 0.5, 0]


def test_matrix_of_a_log(write: Write) -> None:
    pages = ranks(*[[1, 2]] * 40, *[[1, 3]] * 20, *[[2, 1]] * 15, *[[3, 2, 2]] * 12)
    found = fit(counted(write, pages, 3), "markov", smooth=0)
    matrix = estimate(found, "markov", "P")
    assert matrix.value == pytest.approx(np.array([[0, 40 / 60, 20 / 60], [15 / 27, 12 / 27, 0], [0, 1, 0]]))
    assert matrix.observations.tolist() == [60, 27, 12]
    assert (matrix.low <= matrix.value).all()
    assert (matrix.value <= matrix.high).all()
    assert matrix.draws.shape == (100, 3, 3)
    assert matrix.draws.sum(axis=2) == pytest.approx(np.ones((100, 3)))


# ---- readers


def test_observations_by_hand(write: Write) -> None:
    # of four results: clicks at 1 and 3; at 2; none; at 4
    counts = counted(write, ranks([1, 3], [2], [], [4]), 4).whole()
    assert stopping_counts(counts, "last")[0].T.tolist() == [[3, 3, 2], [0, 1, 1]]
    assert stopping_counts(counts, "cascade")[0].T.tolist() == [[4, 3, 2], [1, 1, 0]]
    assert stopping_counts(counts, "dependent")[0].T.tolist() == [[4, 4, 3], [0, 1, 1]]
    # clicks at ranks 1, 2 and 3, two of them the last ones: two thirds of clicks satisfy
    assert pytest.approx(np.array([[4, 4, 3], [2 / 3, 2 / 3, 2 / 3]])) == stopping_counts(counts, "sdbn")[0].T
    assert continuation_probabilities(stopping_counts(counts, "last"))[0] == pytest.approx([1, 2 / 3, 1 / 2])


def test_rbp_and_insq(write: Write) -> None:
    # stops at ranks 1 to 4 of four: 30, 15, 10, 25
    pages = ranks(*[[1]] * 30, *[[2]] * 15, *[[3]] * 10, *[[4]] * 25)
    found = fit(counted(write, pages, 4), ["rbp", "insq", "continuation"])
    came, stopped = np.array([80.0, 50, 35]), np.array([30.0, 15, 10])
    p = estimate(found, "rbp", "p")
    assert p.value == pytest.approx(110 / 165)
    assert p.observations == 165
    assert p.low < p.value < p.high
    rank = np.arange(1, 4)

    def minus(T: float) -> float:
        c = ((rank + 2 * T - 1) / (rank + 2 * T)) ** 2
        return -float((came - stopped) @ np.log(c) + stopped @ np.log(1 - c))

    best = optimize.minimize_scalar(minus, bounds=(0.01, 50), method="bounded", options={"xatol": 1e-10}).x
    assert estimate(found, "insq", "T").value == pytest.approx(best, abs=1e-5)
    c = estimate(found, "continuation", "C")
    assert c.value == pytest.approx(1 - stopped / came)
    assert c.observations.tolist() == [80, 50, 35]


def test_inst(write: Write) -> None:
    # a gain of 1 at rank 1 on half of the pages; stops there and below
    pages = ranks(*[[1]] * 30, *[[2]] * 6, *[[3]] * 4, *[[1]] * 12, *[[2]] * 8, *[[3]] * 20)
    grades = [[2, 0, 0]] * 40 + [[0, 0, 0]] * 40
    found = fit(counted(write, pages, 3, grades=grades), "inst")
    cells = [(1, 1.0, 40, 30), (2, 1.0, 10, 6), (1, 0.0, 40, 12), (2, 0.0, 28, 8)]  # rank, gain, came, stopped

    def minus(T: float) -> float:
        out = 0.0
        for i, gain, came, stopped in cells:
            c = ((i + T + (T - gain) - 1) / (i + T + (T - gain))) ** 2
            out -= (came - stopped) * np.log(c) + stopped * np.log(1 - c)
        return out

    best = optimize.minimize_scalar(minus, bounds=(0.51, 50), method="bounded", options={"xatol": 1e-10}).x
    assert estimate(found, "inst", "T").value == pytest.approx(best, abs=1e-5)


# ---- times


def test_holding_rates_by_hand() -> None:
    # 4, 6 and 10 s: the inverse of the mean is 3 / 20, times 2 / 3
    assert holding_rates(np.array([3.0]), np.array([20.0])) == pytest.approx([0.1])
    assert np.isnan(holding_rates(np.array([1.0, 0.0]), np.array([20.0, 0.0]))).all()


@pytest.mark.parametrize(
    ("grades", "rates", "continuous"),
    [  # Ferrante, Ferro and Maistro (2014), Table 4: rates as printed, with four decimals
        ("1111000100", [0.2, 0.0357, 0.2, 0.04, 0.0056, 0.0005, 0.0035, 0.0017, 0.0034, 0.0024], 0.6603),
        ("1110100010", [0.0177, 0.0047, 0.0037, 0.0015, 0.0041, 0.0031, 0.0057, 0.0022, 0.0061, 0.0045], 0.8710),
        ("1101100001", [0.0056, 0.0051, 0.0062, 0.0031, 0.0046, 0.0025, 0.005, 0.0022, 0.007, 0.005], 0.8001),
    ],
)
def test_table_4(grades: str, rates: list[float], continuous: float, write: Write, tmp_path: Path) -> None:
    """A log of whose times the estimator makes these rates: n visits of (n - 1) / (n rate) seconds on average."""
    pages: list[Clicks] = []
    for rank, rate in enumerate(rates, 1):
        n = 20 + rank
        spread = stats.expon.ppf((np.arange(n) + 0.5) / n)
        for t in spread / spread.sum() * (n - 1) / rate:
            pages.append([(rank, 0.0), (rank % 10 + 1, float(t))])
    found = fit(counted(write, pages, 10), ["times", "markov"])
    mu = estimate(found, "times", "mu")
    assert mu.value == pytest.approx(rates, rel=1e-9)
    assert mu.observations.tolist() == list(range(21, 31))
    path = tmp_path / "fit.toml"
    write_fit(path, found.fitted)
    score = amble.parse(f"MP(rates='{path}')").value([int(c) for c in grades])
    assert score == pytest.approx(continuous, abs=0.0006)


def test_censored_times(write: Write) -> None:
    # 20 sessions: at rank 1 for 10 s, then at rank 2, left after 30 s; 10 sessions: at rank 1, for ever
    pages = [[(1, 0.0), (2, 10.0)]] * 20 + [[(1, 0.0)]] * 10
    ends = [40.0] * 20 + [1e6] * 10
    found = fit(counted(write, pages, 2, ends=ends), ["times", "times-censored"])
    assert estimate(found, "times", "mu").value == pytest.approx([19 / 200, np.nan], nan_ok=True)
    # at rank 1 20 visits ended, and the others took 1800 s at least
    mu = estimate(found, "times-censored", "mu")
    assert mu.value == pytest.approx([19 / (200 + 10 * 1800), 19 / 600])
    assert mu.observations.tolist() == [20, 20]
    # a visit of 1800 s to rank 1 has ended; that to rank 2, of 1800.5 s, is one that took 1800 s at least
    counts = counted(write, [[(1, 0.0), (2, 1800.0)]], 2, ends=[3600.5])
    assert counts.whole().dwell_censored[0].tolist() == [[1, 1800], [0, 1800]]


# ---- resampling


def test_intervals_are_as_wide_as_they_should_be() -> None:
    # one observation a session: of 400, 100 stop at rank 1, and the share has a standard error of sqrt(.75 x .25 / 400)
    pages = [*[[1]] * 100, *[[2]] * 300]
    p = estimate(fit(made(pages, 2), "rbp", rounds=4000, draws=2000), "rbp", "p")
    error = (0.75 * 0.25 / 400) ** 0.5
    assert p.draws.std() == pytest.approx(error, rel=0.1)
    assert (p.high - p.low) / 2 == pytest.approx(1.96 * error, rel=0.12)
    # the same in every session ten times over: ten times the observations, and intervals as wide
    alike = [*[[1, 2] * 10] * 100, *[[1, 3] * 10] * 300]
    row = estimate(fit(made(alike, 3), "markov", smooth=0, rounds=4000), "markov", "P")
    assert row.observations[0] == 4000
    assert (row.high - row.low)[0, 1] / 2 == pytest.approx(1.96 * error, rel=0.12)


def test_a_share_of_one_has_an_interval() -> None:
    p = fit_rbp(Resampled(made([[3]] * 50, 3)), "last").estimates["p"]
    # all 100 went on: Wilson's interval ends at 100 / (100 + z²)
    assert (p.value, p.high) == (1, 1)
    assert p.low == pytest.approx(100 / (100 + 1.959964**2), abs=1e-6)


def test_same_seed_same_answer() -> None:
    counts = made([*[[1, 3, 2]] * 30, *[[2]] * 30, *[[3, 1]] * 30], 3)
    before = counts.moves.copy()
    one, two, other = (fit(counts, seed=seed) for seed in (1, 1, 2))
    for model, same in zip(one.fitted.models, two.fitted.models, strict=True):
        assert model.name == same.name
        for name, e in model.estimates.items():
            assert np.array_equal(e.value, same.estimates[name].value, equal_nan=True)
            assert np.array_equal(e.low, same.estimates[name].low, equal_nan=True)
    assert estimate(one, "rbp", "p").draws.tolist() != estimate(other, "rbp", "p").draws.tolist()
    assert (counts.moves == before).all()


def simulated(
    rng: np.random.Generator, sessions: int, p: float, q: float, n: int, first: str = "forward"
) -> list[list[int]]:
    """People who walk, one step after another."""
    out = []
    for _ in range(sessions):
        at, page = 1, [1]
        while True:
            u = rng.random()
            if u < (p + q if at == 1 and first == "forward" else p):
                at += 1
            elif at > 1 and u < p + q:
                at -= 1
            else:
                break
            if at > n:
                break
            page.append(at)
        out.append(page)
    return out


@pytest.mark.parametrize("first", ["forward", "stop"])
def test_a_walk_is_found_again(first: str) -> None:
    inside = 0
    for seed in range(20):
        pages = simulated(np.random.default_rng(seed), 400, 0.55, 0.2, 6, first)
        found = fit(made(pages, 6), "walk", rounds=200)
        assert found.fitted.models[0].first == first  # found out
        p, q = (estimate(found, "walk", key) for key in "pq")
        assert p.value == pytest.approx(0.55, abs=0.06)
        assert q.value == pytest.approx(0.2, abs=0.06)
        inside += int(p.low <= 0.55 <= p.high) + int(q.low <= 0.2 <= q.high)
    assert inside >= 33  # of 40; with a coverage of 95 % fewer come about once in 10,000 times


# ---- choosing


def test_behaviour_of_readers() -> None:
    found = fit(made([*[[1]] * 20, *[[2]] * 30, *[[3]] * 50], 3), ["rbp", "continuation", "walk"])
    for model in found.fitted.models:
        visits, last = behaviour(model, 3)  # type: ignore[misc]
        assert last.sum() == pytest.approx(1)
        if model.kind != "walk":
            assert visits[0] == 1
    # C(i) as observed gives the stops as observed
    _, last = behaviour(next(m for m in found.fitted.models if m.kind == "continuation"), 3)  # type: ignore[misc]
    assert last == pytest.approx([0.2, 0.3, 0.5])


def test_likelihood_by_hand() -> None:
    counts = made([*[[1]] * 40, *[[2]] * 60], 2)
    found = fit(counts, ["rbp"])
    log = last = total = 0.0
    for train, test in folds(counts):
        (on, off), (here, there) = ((c.moves[0, 2, 0], c.moves[0, 1, 0]) for c in (train, test))
        p = on / (on + off)
        log += here * np.log(p) + there * np.log(1 - p)
        # on a list of two the last rank is the same event; half a count is added to each rank
        last += here * np.log((on + 0.5) / (on + off + 1)) + there * np.log((off + 0.5) / (on + off + 1))
        total += here + there
    told = found.held_out["rbp"]
    assert total == told.own.events == 100
    assert told.own.log_likelihood == pytest.approx(log)
    assert told.own.perplexity == pytest.approx(np.exp(-log / 100))
    assert told.own.aic == pytest.approx(2 - 2 * log)
    assert told.own.bic == pytest.approx(np.log(100) - 2 * log)
    assert told.last.log_likelihood == pytest.approx(last)
    # of three results: at rank 1 40 stop and 60 go on, at rank 2 these stop: 160 events of 100 sessions
    own = fit(made([*[[1]] * 40, *[[2]] * 60], 3), ["rbp"]).held_out["rbp"].own
    assert (own.events, own.sessions) == (160, 100)
    assert own.bic == pytest.approx(np.log(160) - 2 * own.log_likelihood)


def test_groups_without_sessions_are_in_no_fold() -> None:
    # ten sessions in every fifth group: two are held out at a time, as if they were in the first ten
    counts = made([[1]] * 10, 2)
    spread = np.zeros((50, GROUPS))
    spread[np.arange(0, 50, 5), np.arange(10)] = 1
    assert [test.pages.sum() for _, test in folds(counts.weighted(spread))] == [2] * 5


def test_the_right_user_is_chosen() -> None:
    rng = np.random.default_rng(5)
    walkers = fit(made(simulated(rng, 3000, 0.45, 0.35, 6), 6))
    assert walkers.fitted.best in ("walk", "walk-rank", "chain")  # a chain may make a walk's moves, too
    assert walkers.held_out["walk"].last.bic < min(
        walkers.held_out[name].last.bic for name in ("rbp", "insq", "continuation", "walk-rank")
    )
    depth = np.minimum(rng.geometric(0.3, 3000), 6)
    readers = fit(made([[int(d)] for d in depth], 6))
    assert readers.held_out["rbp"].last.bic == min(told.last.bic for told in readers.held_out.values() if told.last)
    table = readers.choice()
    assert list(table["model"])[-1] == "markov" or "markov" not in table["model"]
    perplexity = [x for x in table["perplexity"] if x is not None]
    assert perplexity == sorted(perplexity)


def test_observed_and_implied() -> None:
    found = fit(made([*[[1]] * 20, *[[2, 1]] * 30, *[[3]] * 50], 3))
    rows = [row for row in found.implied() if row[0] == "observed"]
    # by path: at rank 1 100 and 30 more visits, at rank 2 80, at rank 3 50
    assert [row[3] for row in rows if row[1] == "W"] == pytest.approx([130 / 260, 80 / 260, 50 / 260])
    assert [row[3] for row in rows if row[1] == "L"] == pytest.approx([0.5, 0, 0.5])
    assert [row[3] for row in rows if row[1] == "C"] == pytest.approx([80 / 130, 1])
    assert all(low <= value + 1e-9 and value <= high + 1e-9 for _, _, _, value, low, high in rows)
    models = {row[0] for row in found.implied()}
    assert models == {"observed", "walk", "walk-rank", "chain", "rbp", "insq", "continuation"}


# ---- privacy


def test_ranks_that_few_came_to_are_not_shown() -> None:
    found = fit(made([[1]] * 40 + [[1, 2]] * 20 + [[1, 2, 4]] * 3, 5), ["walk"], smallest=10)
    rows = found.implied().rows
    seen = {(row[1], row[2]) for row in rows if row[0] == "observed"}
    # three came to ranks 3 and 4; nobody came to rank 5, which may be told
    assert {rank for panel, rank in seen if panel == "W"} == {1, 2, 5}
    assert not {rank for _, rank in seen} & {3, 4}


def test_few_sessions_are_not_told() -> None:
    # 12 moves of one session, and one move each of 12 sessions
    counts = np.zeros((20, 2))
    counts[0, 0] = 12
    counts[:12, 1] = 1
    assert enough_sessions(counts, 10).tolist() == [False, True]
    assert disclosed(counts, 10).tolist() == [0, 12]


def test_few_moves_share_their_sum() -> None:
    counts = np.zeros((40, 4, 4))
    counts[:20, 0, 1] = 1  # enough
    counts[:6, 0, 2] = 1  # 6 and 8: together enough
    counts[6:14, 0, 3] = 1
    counts[:3, 1, 0] = 1  # 3 back and 8 forward: enough only together
    counts[10:18, 1, 2] = 1
    counts[:5, 2, 0] = 1  # not even all of them
    counts[:20, 3, 2] = 1  # 20 and 4: the few share with these, and not with where nobody went
    counts[20:24, 3, 0] = 1
    alike = np.einsum("ijk,ik->ij", pooling_weights(counts, 10), counts.sum(axis=0))
    assert alike[0].tolist() == [0, 20, 7, 7]
    assert alike[1] == pytest.approx([11 / 3, 0, 11 / 3, 11 / 3])
    assert alike[2].tolist() == [0, 0, 0, 0]
    assert alike[3].tolist() == [12, 0, 12, 0]
    counts[24:29, 3, 3] = 1  # 5 stay, 4 go to rank 1, nobody to rank 2: 9, which go with the 20 to rank 3
    assert np.einsum("jk,k->j", pooling_weights(counts, 10)[3], counts.sum(axis=0)[3]) == pytest.approx(
        [29 / 3, 0, 29 / 3, 29 / 3]
    )
    assert (pooling_weights(counts, 0) == [np.eye(4)] * 4).all()
    # 3 stay at rank 2, and nobody moves: not told; with 20 who go to rank 3, each is half of 23
    counts = np.zeros((40, 4, 4))
    counts[:3, 1, 1] = 1
    assert not pooling_weights(counts, 5)[1].any()
    counts[:20, 1, 2] = 1
    assert (pooling_weights(counts, 5)[1] @ counts.sum(axis=0)[1]).tolist() == [0, 11.5, 11.5, 0]
    # of two that are told, 20 and 30, the 3 go with the smaller one
    counts[:20, 0, 1] = counts[:30, 0, 2] = counts[:3, 0, 3] = 1
    assert (pooling_weights(counts, 5)[0] @ counts.sum(axis=0)[0]).tolist() == [0, 11.5, 30, 11.5]


def test_few_sessions_that_go_back_are_not_told(write: Write) -> None:
    counts = counted(write, ranks(*[[1, 2]] * 60, *[[2, 1]] * 3), 3)
    assert (counts.facts.backward, counts.facts.backward_sessions) == (3, 3)
    facts = fit(counts, "rbp", smallest=10).facts()
    assert (facts["backward"], facts["backward_sessions"]) == ("<10", "<10")


def test_rows_of_which_nothing_is_told_say_so() -> None:
    found = fit(made([[1, 2]] * 40 + [[3, 1]] * 4, 3), "markov", smallest=10)
    matrix = estimate(found, "markov", "P")
    assert matrix.observations.tolist() == [40, -1, -1]
    assert matrix.value[2] == pytest.approx([0.5, 0.5, 0])
    # 40 begin at rank 1, 4 at rank 3: with a start of 40 / 44 the 4 were told, with 1 they were none
    assert "start" not in found.fitted.models[0].estimates
    assert found.notes == (
        "markov: fewer than 10 sessions moved on from rank 2, 3: all others are alike",
        "markov: start not estimated: fewer than 10 sessions begin at some ranks, also together",
    )
    # 40, 6, 5 and 0 begin at the ranks: the 11 are shared by ranks 2 and 3
    found = fit(made([[1, 2]] * 40 + [[2, 1]] * 6 + [[3, 1]] * 5, 4), "markov", smallest=10)
    assert estimate(found, "markov", "start").value == pytest.approx(np.array([40, 5.5, 5.5, 0]) / 51)
    assert found.notes[-1] == "markov: start of ranks 2, 3 estimated together: fewer than 10 sessions begin at each"


def test_what_is_not_told_cannot_be_found_by_subtraction() -> None:
    # from rank 2: 60 stop, 7 go on to rank 3. 60 / 67 would tell the 7
    found = {row[:2]: row for row in fit(made([[1, 2]] * 60 + [[2, 3]] * 7, 4), smallest=10).moves()}
    assert found[2, 0][3:] == ("60", None, None, None)
    assert found[2, 3][3:] == ("<10", None, None, None)
    # 7 to rank 3 and 8 to rank 4 are enough together, and neither follows
    found = {row[:2]: row for row in fit(made([[1, 2]] * 60 + [[2, 3]] * 7 + [[2, 4]] * 8, 4), smallest=10).moves()}
    assert found[2, 0][4] == pytest.approx(60 / 75)


def test_small_cells_are_suppressed(write: Write, tmp_path: Path) -> None:
    counts = counted(write, ranks(*[[1, 2]] * 60, *[[2, 3]] * 7, *[[4]] * 3), 5)
    found = fit(counts, smallest=10)
    rows = {(row[0], row[1]): row for row in found.moves()}
    assert rows[1, 2][3] == "60"
    assert rows[2, 3][3:] == ("<10", None, None, None)
    write_fit(tmp_path / "fit.toml", found.fitted)
    back = read_fit(tmp_path / "fit.toml")  # the reader refuses a file that tells of small cells
    seen = next(m for m in back.models if m.name == "times").estimates["mu"]
    assert seen.observations.tolist() == [60, -1, -1, -1, -1]
    assert np.isnan(seen.value).tolist() == [False, True, True, True, True]
    # by hand: nobody stopped at rank 1, 60 at rank 2; ten came to rank 3, of whom three went on: too few to tell
    c = estimate(found, "continuation", "C")
    assert c.observations.tolist() == [70, 70, -1, -1]
    assert c.value == pytest.approx([1, 10 / 70, np.nan, np.nan], nan_ok=True)
    said = "not estimated, filled in from the estimate before (or the first): C of rank 3, C of rank 4"
    assert f"continuation: fewer than 10 sessions are behind some counts, {said}" in found.notes
    told = [row[2] for row in found.implied() if row[:2] == ("continuation", "C")]
    assert told == [1, 2]  # what is not estimated is not shown as if it were
    all_told = fit(counts, "continuation", smallest=1)
    assert estimate(all_told, "continuation", "C").value[:3] == pytest.approx([1, 10 / 70, 3 / 10])


STUDY = (60, 40, 20, 14, 9, 6, 5, 5, 4, 4, 4, 3, 3, 3, 3, 3, 3, 2, 2, 11)  # how many stopped at each rank: 204 in all


@pytest.mark.parametrize("observation", ["last", "cascade", "dependent"])
def test_a_study_of_204_pages(observation: str, tmp_path: Path) -> None:
    """Of 70 who came to rank 5, 9 stopped there, and fewer at each rank below: hidden, and not zero."""
    found = fit(made([[r] for r, n in enumerate(STUDY, 1) for _ in range(n)], 20), observation=observation, smallest=10)
    c = estimate(found, "continuation", "C")
    # came to ranks 1 to 4: 204, 144, 104, 84. Below, ranks are pooled until ten stopped: at 5 and 6, 15 of 70; at 7 and
    # 8, 10 of 55; at 9 to 11, 12 of 45; at 12 to 15, 12 of 33; at 16 to 19, 10 of 21
    pools = [(70, 55, 2), (55, 45, 2), (45, 33, 3), (33, 21, 4), (21, 11, 4)]
    by_hand = [144 / 204, 104 / 144, 84 / 104, 70 / 84]
    by_hand += [(on / came) ** (1 / n) for came, on, n in pools for _ in range(n)]
    assert c.value == pytest.approx(by_hand)
    assert c.observations.tolist() == [204, 144, 104, 84, *(came for came, _, n in pools for _ in range(n))]
    assert c.pooled.tolist() == [1, 2, 3, 4, 5, 5, 7, 7, 9, 9, 9, 12, 12, 12, 12, 16, 16, 16, 16]
    assert (c.high < 1).all()
    # how many come to rank 20 is told right: 11 of 204
    assert c.value.prod() == pytest.approx(11 / 204)
    said = "C of ranks 5-6, C of ranks 7-8, C of ranks 9-11, C of ranks 12-15, C of ranks 16-19"
    model = next(m for m in found.fitted.models if m.name == "continuation")
    assert model.note == f"fewer than 10 sessions are behind some counts, estimated together: {said}"
    assert f"continuation: {model.note}" in found.notes
    rows = {row[2]: row for row in found.table() if row[0] == "continuation"}
    assert list(rows)[3:6] == ["rank 4", "ranks 5-6", "ranks 7-8"]
    assert rows["ranks 5-6"][3] == pytest.approx((55 / 70) ** 0.5)
    write_fit(tmp_path / "fit.toml", found.fitted)
    back = next(m for m in read_fit(tmp_path / "fit.toml").models if m.name == "continuation")
    assert back.note == model.note
    assert back.estimates["C"].pooled.tolist() == c.pooled.tolist()
    # a walk by rank: all go on or stop, nobody goes back; s over pooled ranks is the share of their visits
    s = estimate(found, "walk-rank", "s")
    assert s.value[4:6] == pytest.approx([15 / (70 + 61)] * 2)


def test_few_steps_are_not_taken_as_none() -> None:
    counts = made([*[[1, 2]] * 60, *[[2, 1]] * 4], 3)
    few = "fewer than 10 sessions went back: suppressed, and not counted as zero"
    for name in ("walk", "walk-rank"):
        with pytest.raises(AmbleError, match=f"{name}: {few}"):
            fit(counts, name, smallest=10)
        assert f"{name} left out: {few}" in fit(counts, smallest=10).notes
    assert estimate(fit(counts, "walk", smallest=1), "walk", "q").value > 0
    # 60 stop at rank 4, 4 at rank 3 of 4: these few are not told
    readers = made([*[[4]] * 60, *[[3]] * 4], 4)
    for name in ("rbp", "insq"):
        with pytest.raises(AmbleError, match=f"{name}: fewer than 10 sessions stopped: suppressed"):
            fit(readers, name, smallest=10)
    # nobody stopped at ranks 1 and 2, which is told, and a few at rank 3: somebody with C = 1 everywhere never stops
    with pytest.raises(
        AmbleError, match="continuation: C is 1 at all ranks that are not suppressed: the user would never stop"
    ):
        fit(readers, "continuation", smallest=10)
    assert estimate(fit(readers, "rbp", smallest=1), "rbp", "p").value == pytest.approx(188 / 192)
    with pytest.raises(AmbleError, match="rbp: p is 1, expected a number between 0 and 1"):
        fit(made([[4]] * 60, 4), "rbp", smallest=10)
    with pytest.raises(AmbleError, match="rbp: p is 0, expected a number between 0 and 1"):
        fit(made([[1]] * 60, 4), "rbp", smallest=10)
    # 60 stop at rank 1, and 4 go on
    with pytest.raises(AmbleError, match="rbp: fewer than 10 sessions continued: suppressed"):
        fit(made([*[[1]] * 60, *[[2]] * 4], 2), "rbp", smallest=10)
    told = {tuple(row[1:3]) for row in fit(readers, "walk", smallest=10).implied() if row[0] == "observed"}
    assert ("L", 3) not in told
    assert ("C", 3) not in told
    assert ("W", 3) in told


def test_few_who_stop_between_many_are_pooled_with_those_before() -> None:
    # 155 came to rank 1, where 100 stopped; of 55 at rank 2, 5 stopped; 50 came to ranks 3 to 8. The 5 are hidden, also
    # with ranks 3 to 7, where nobody stopped. With rank 1 they are 105 of 155: C(1) C(2) = 50 / 155
    pages = [*[[1]] * 100, *[[1, 2]] * 5, *[[1, 2, 3, 4, 5, 6, 7, 8]] * 50]
    found = fit(made(pages, 8), smallest=10)
    c = estimate(found, "continuation", "C")
    assert c.value == pytest.approx([(50 / 155) ** 0.5] * 2 + [1] * 5)
    assert c.observations.tolist() == [155, 155, 50, 50, 50, 50, 50]
    assert c.pooled.tolist() == [1, 1, 3, 4, 5, 6, 7]
    few = "fewer than 10 sessions are behind some counts, estimated together"
    assert f"continuation: {few}: C of ranks 1-2" in found.notes
    # a walk: of 155 + 55 visits to ranks 1 and 2, 55 + 50 went on, 100 + 5 stopped
    p = estimate(found, "walk-rank", "p")
    assert p.value == pytest.approx([0.5, 0.5, 1, 1, 1, 1, 1])
    high = estimate(found, "walk-rank", "q").high
    assert high[0] == high[1] > 0  # nobody was seen to go back, of 210; from rank 2 somebody might
    # each is judged by what is written of it: she ends at rank 1, 2 and 8 with 1/2, 1/4 and 1/4, for the last clicks of
    # 100, 5 and 50: 100 ln 1/2 + 55 ln 1/4 = -145.6, if all were known; a reader with C(1) = C(2) = c = .568 ends there
    # with 1 - c, c (1 - c) and c^2: 100 ln .432 + 5 ln .245 + 50 ln .323 = -147.5. What is hidden would tell more: -122
    by_hand = {"walk-rank": 100 * np.log(0.5) + 55 * np.log(0.25)}
    r = (50 / 155) ** 0.5
    by_hand["continuation"] = 100 * np.log(1 - r) + 5 * np.log(r - r * r) + 50 * np.log(r * r)
    for name, log in by_hand.items():
        last = found.held_out[name].last
        assert last is not None
        assert log - 4 < last.log_likelihood < log  # fitted to four fifths, with half an observation more at each rank
    assert found.held_out["walk-rank"].own.parameters == 2 * 6
    assert found.held_out["continuation"].own.parameters == 6
    # the likelihood of what each tells: steps at ranks 1 and 2 with .5 each, 210 of them
    assert -160 < found.held_out["walk-rank"].own.log_likelihood < 210 * np.log(0.5)


def test_nobody_is_written_whom_measures_refuse(tmp_path: Path) -> None:
    # 8 of 54 stop at rank 2, which is hidden, and nobody at rank 1
    pages = [*[[1, 2, 3]] * 30, *[[1, 2, 3, 2]] * 9, *[[1, 2, 1]] * 8, *[[1, 3]] * 7]
    found = fit(made(pages, 3), smallest=10)
    assert "continuation" not in {m.name for m in found.fitted.models}
    said = "continuation left out: C is 1 at all ranks that are not suppressed: the user would never stop"
    assert said in found.notes
    assert not [row for row in found.implied() if row[0] == "continuation"]
    measures = {"walk": "PH", "rbp": "RBP", "insq": "INSQ", "continuation": "CWL"}
    # one who stops early, one who never does but at the end, few, and many
    logs = (pages, [[3]] * 60, [[1]] * 60, [*[[1]] * 100, *[[2]] * 5, *[[3]] * 50], [*[[2]] * 5, *[[3]] * 50])
    for i, log in enumerate(logs):
        write_fit(tmp_path / f"{i}.toml", (found := fit(made(log, 4), smallest=10)).fitted)
        for model in found.fitted.models:
            if model.kind in measures:
                scored = amble.parse(f"{measures[model.kind]}(user='{tmp_path}/{i}.toml#{model.name}')")
                assert 0 <= scored.value([1, 0, 1, 0]) <= 1


def test_few_steps_make_grades_be_pooled(write: Write) -> None:
    # of 60 with grade 0 at rank 2, 4 stop there; of 60 with grade 1, 30: by grade the 4 would be hidden
    pages = ranks(*[[2]] * 4, *[[3]] * 56, *[[2]] * 30, *[[3]] * 30)
    grades = [[1, 0, 1]] * 60 + [[1, 1, 1]] * 60
    found = fit(counted(write, pages, 3, grades=grades), "walk-grade", first="stop", smallest=10)
    s = estimate(found, "walk-grade", "s")
    assert s.pooled.tolist() == [1, 1]
    assert s.value[0] == s.value[1] > 0
    said = "estimated together: p of grades 0-1, q of grades 0-1"
    assert found.notes == (f"walk-grade: fewer than 10 sessions are behind some counts, {said}",)


@examples(60)
@given(
    st.lists(st.lists(st.integers(1, 6), min_size=1, max_size=4), min_size=12, max_size=60),
    st.sampled_from(["last", "cascade", "dependent"]),
    st.integers(1, 12),
)
def test_no_number_is_made_of_a_hidden_count(pages: list[list[int]], observation: str, smallest: int) -> None:
    counts = made(pages, 6)
    data = Resampled(counts, rounds=2, kept=0, smallest=smallest)
    stopped = [sum((min if observation == "cascade" else max)(page) == r for page in pages) for r in range(1, 7)]
    try:
        c = fit_continuation(data, observation).estimates["C"]
    except AmbleError:
        return
    for a, b in c.places():
        ended, went = sum(stopped[a - 1 : b]), sum(stopped[b:])
        if np.isnan(c.value[a - 1]):
            assert a == b
        else:  # each page is a session: both counts may be told, and C is made of them
            assert not 0 < ended < smallest
            assert not 0 < went < smallest
            assert c.value[a - 1 : b] == pytest.approx((went / (went + ended)) ** (1 / (b - a + 1)))
    steps = count_steps(counts.moves, "path")[:, :-1]
    first = pool_neighbours(steps, smallest)
    for start in set(first.tolist()) - {-1}:
        sums = steps[:, first == start].sum(axis=1)
        assert not ((sums.sum(axis=0) > 0) & ((sums > 0).sum(axis=0) < smallest)).any()


def test_too_few_sessions() -> None:
    counts = made([[1, 2]] * 9, 3)
    with pytest.raises(AmbleError, match="fewer than 10 sessions: too few to fit a user to"):
        fit(counts, smallest=10)
    assert fit(counts, "rbp", smallest=1).fitted.models[0].name == "rbp"
    with pytest.raises(AmbleError, match="all is of one session or person, expected at least two"):
        fit(made([[1, 2]], 3))
    with pytest.raises(AmbleError, match="markov: no session moved from click to click"):
        fit(made([[1], [2]], 3), "markov")


def test_resamples_without_an_observation_keep_the_estimate() -> None:
    # a page without a click says nothing of going on, and 1 of 27 resamples of three has nothing else
    data = Resampled(made([[1], [], [2]], 10), rounds=200, kept=200, smallest=0)
    assert np.isnan(continuation_probabilities(stopping_counts(data.draws, "last").sum(axis=-2))).any()
    found = fit_rbp(data, "last").estimates["p"]  # of three who could go on one did; of resamples 0 to 1 of 2
    assert found.draws is not None
    assert not np.isnan(found.draws).any()
    assert found.value == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"models": "inst"}, "inst needs grades of documents"),
        ({"models": ["rbp", "pbm"]}, "model 'pbm': expected all, or some of walk"),
        ({"models": []}, "expected all, or some of"),
        ({"observation": "first"}, "observation='first': expected one of 'last', 'cascade'"),
        ({"steps": "jumps"}, "steps='jumps': expected one of 'path', 'clicks'"),
        ({"first": "back"}, "first='back': expected one of 'forward', 'stop', None"),
        ({"smooth": -1}, "smooth=-1: expected a number of at least 0"),
        ({"smooth": float("nan")}, "smooth=nan: expected"),
        ({"confidence": 1}, "confidence=1: expected a number between 0 and 1"),
        ({"smallest": 501}, "smallest=501: expected a whole number of at most 500"),
        ({"rounds": 0}, "rounds=0: expected a whole number of at least 1"),
    ],
)
def test_wrong_options(options: dict[str, object], message: str) -> None:
    counts = made([[1, 2]] * 20, 3)
    with pytest.raises(AmbleError, match=message):
        fit(counts, **options)  # type: ignore[arg-type]


@examples(15)
@given(
    st.lists(st.lists(st.integers(1, 5), max_size=4), min_size=12, max_size=40).filter(
        lambda x: sum(map(bool, x)) > 11
    ),
    st.sampled_from(["last", "cascade", "dependent", "sdbn"]),
    st.sampled_from(["path", "clicks"]),
)
def test_any_log_makes_a_file_that_can_be_read(pages: list[list[int]], observation: str, how: str) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        found = fit(made(pages, 5), observation=observation, steps=how, smallest=3, rounds=50, draws=20)
        write_fit(Path(folder) / "fit.toml", found.fitted)
        back = read_fit(Path(folder) / "fit.toml")
    for model, same in itertools.zip_longest(found.fitted.models, back.models):
        assert model.name == same.name
        for name, e in model.estimates.items():
            if e.form != "matrix" and e.low is not None:
                known = ~np.isnan(e.value)
                assert (e.low[known] <= e.value[known]).all()
                assert (e.value[known] <= e.high[known]).all()
            assert e.value == pytest.approx(same.estimates[name].value, nan_ok=True, rel=1e-6)
    assert len(found.table()) > 0
    assert found.implied().text()


def test_resampled_groups_keep_their_number() -> None:
    counts = made([[1]] * 50, 2)
    weights = Resampled(counts, rounds=7).weights
    assert (weights.sum(axis=1) == counts.present.size).all()
    assert not weights[:, counts.pages == 0].any()
