"""Users who walk back and forth, simulated: the C part and its plain twin, their draws, probabilities by hand."""

from __future__ import annotations

import array
import os
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from drawing import examples
from hypothesis import given
from hypothesis import strategies as st

import amble
from amble.native import plain_walker as plain
from amble.users import joint_distribution
from amble.users.joint_distribution import joint_kept, same_steps

pytestmark = pytest.mark.twin

try:
    from amble.native import _walker as c_walker
except ImportError:
    c_walker = None
if os.environ.get("AMBLE_PURE", "") not in ("", "0"):
    c_walker = None

needs_c = pytest.mark.skipif(c_walker is None, reason="the C walker is not built, or hidden by AMBLE_PURE")
WORD = 2**64 - 1


@pytest.fixture(params=["plain", pytest.param("C", marks=needs_c)])
def walker(request: pytest.FixtureRequest) -> Any:
    return plain if request.param == "plain" else c_walker


class Case(NamedTuple):
    """The arguments of `walk` that are the same for all users."""

    start: Any
    forward: Any
    turn: Any
    endless: Any
    offsets: Any
    which: Any
    kind: Any
    utility: Any
    lists: Any
    limit: Any


def case(
    forward: Any,
    back: Any,
    gains: Any = (),
    utility: Any = ((1.0,),),
    lists: int = 1,
    start: Any = (1.0,),
    endless: int = 0,
    limit: int = 10**6,
) -> Case:
    """Make a case; `gains` holds (rank from 0, list, kind), by rank."""
    forward = np.array(forward, np.float64)
    at = np.array([rank for rank, _, _ in gains], np.int64)
    return Case(
        np.cumsum(np.array(start, np.float64)),
        forward,
        forward + np.array(back, np.float64),
        endless,
        np.searchsorted(at, np.arange(forward.size + 1)).astype(np.int64),
        np.array([which for _, which, _ in gains], np.int32),
        np.array([kind for _, _, kind in gains], np.int32),
        np.array(utility, np.float64),
        lists,
        limit,
    )


def walk(walker: Any, about: Case, users: int, seed: int = 1, first: int = 0) -> tuple[Any, Any, int]:
    """Return totals (users x lists), steps and how many were cut; what was in the arrays before must not matter."""
    total, steps = np.full((users, about.lists), np.nan), np.full(users, -7, np.int64)
    cut = walker.walk(seed, first, users, *about, total, steps)
    return total, steps, cut


def same(a: tuple[Any, Any, int], b: tuple[Any, Any, int]) -> bool:
    """To the last bit."""
    return a[0].tobytes() == b[0].tobytes() and a[1].tobytes() == b[1].tobytes() and a[2] == b[2]


def random_case(rng: np.random.Generator, ranks: int, lists: int, depth: int, endless: int, limit: int) -> Case:
    forward, back = rng.random(ranks) * 0.7, rng.random(ranks) * 0.3
    if not endless and rng.random() < 0.7:  # otherwise she tries to leave the list, and has to be stopped
        forward[-1], back[0] = 0.0, 0.0
    kinds = int(rng.integers(1, 5))
    found = np.argwhere(rng.random((ranks, lists)) < rng.random())
    gains = [(rank, which, rng.integers(kinds)) for rank, which in found for _ in range(1 + (rng.random() < 0.1))]
    starts = rng.random(rng.integers(1, ranks + 1))
    utility = rng.normal(size=(kinds, depth)) * 10.0 ** rng.integers(-5, 5, (kinds, depth))
    return case(forward, back, gains, utility, lists, starts / starts.sum(), endless, limit)


# ---- the twin as it is told: one user at a time, in plain Python ----


def told(about: Case, seed: int, user: int) -> tuple[list[float], int]:
    """What the docstring says, word for word, of one user."""

    def mix(x: int) -> int:
        x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & WORD
        x = (x ^ x >> 27) * 0x94D049BB133111EB & WORD
        return x ^ x >> 31

    def draw(h: int) -> float:
        return (mix(key + (h + 1) * 0x9E3779B97F4A7C15 & WORD) >> 11) / 2**53

    key = mix(mix(seed + 0x9E3779B97F4A7C15 & WORD) + (user + 1) * 0xD1B54A32D192ED03 & WORD)
    n, depth = len(about.forward), about.utility.shape[1]
    rank = next((i for i, probability in enumerate(about.start) if probability > draw(0)), len(about.start) - 1)
    total, seen, visits = [0.0] * about.lists, dict.fromkeys(range(n), 0), 0
    while True:
        visits += 1
        if rank < n:
            seen[rank] += 1
            for g in range(about.offsets[rank], about.offsets[rank + 1]):
                total[about.which[g]] += float(about.utility[about.kind[g], min(seen[rank], depth) - 1])
        here = min(rank, n - 1)
        if visits == about.limit or draw(visits) >= about.turn[here]:
            return total, visits
        rank += 1 if draw(visits) < about.forward[here] else -1
        if rank < 0 or (rank >= n and not about.endless):
            return total, visits


@pytest.mark.parametrize("number", range(40))
def test_every_user_does_as_she_is_told(walker: Any, number: int) -> None:
    rng = np.random.default_rng(number)
    ranks, lists, depth = int(rng.integers(1, 12)), int(rng.integers(1, 5)), int(rng.integers(1, 4))
    about = random_case(rng, ranks, lists, depth, endless=number % 2, limit=5 if number % 5 == 0 else 1000)
    seed, first, users = int(rng.integers(2**64, dtype=np.uint64)), int(rng.integers(2**40)), 60
    by_hand = [told(about, seed, first + i) for i in range(users)]
    total, steps, cut = walk(walker, about, users, seed, first)
    assert total.tolist() == [gained for gained, _ in by_hand]
    assert steps.tolist() == [visits for _, visits in by_hand]
    assert cut == sum(visits == about.limit for _, visits in by_hand)


# ---- C and twin ----


@needs_c
@examples(150)
@given(
    ranks=st.integers(1, 40),
    lists=st.integers(0, 6),
    depth=st.sampled_from([1, 1, 2, 3, 60, 256, 257]),
    endless=st.integers(0, 1),
    limit=st.sampled_from([1, 2, 7, 10**6]),
    users=st.integers(0, 300),
    seed=st.integers(0, WORD),
    first=st.integers(0, 2**63 - 301),
    number=st.integers(0, 2**32),
)
def test_c_and_twin_agree(
    ranks: int, lists: int, depth: int, endless: int, limit: int, users: int, seed: int, first: int, number: int
) -> None:
    about = random_case(np.random.default_rng(number), ranks, lists, depth, endless, limit)
    assert same(walk(c_walker, about, users, seed, first), walk(plain, about, users, seed, first))


@needs_c
@pytest.mark.parametrize("lists", [1, 50])
@pytest.mark.parametrize("depth", [1, 60])
@pytest.mark.parametrize("endless", [0, 1])
def test_c_and_twin_agree_on_many_users(lists: int, depth: int, endless: int) -> None:
    rng = np.random.default_rng(lists + depth)
    gains = [(rank, which, rng.integers(3)) for rank, which in np.argwhere(rng.random((300, lists)) < 0.3)]
    forward, back = np.full(300, 0.5), np.full(300, 0.45)
    back[0] = 0.0
    about = case(forward, back, gains, np.outer([1, 2, 3], 0.7 ** np.arange(depth)), lists, endless=endless)
    users = 2 * plain._CHUNK + 1 if lists == 1 else 3000
    ours, theirs = walk(c_walker, about, users), walk(plain, about, users)
    assert same(ours, theirs)
    assert ours[1].max() > 60  # some walk far, and come to where gains no longer fall


def test_a_draw_that_is_the_probability_itself_is_not_below_it(walker: Any) -> None:
    key = plain.keys(3, 0, 200)
    start, move = plain.draws(key, 0), plain.draws(key, 1)
    for u in range(200):
        for towards in (0.0, start[u], 1.0):
            first = np.nextafter(start[u], towards)
            total, _, _ = walk(walker, case([0, 0], [0, 0], [(0, 0, 0)], start=[first, 0.0]), 1, 3, u)
            assert total[0, 0] == (start[u] < first)
        for towards in (0.0, move[u], 1.0):
            probability = np.nextafter(move[u], towards)
            visits = 2 if move[u] < probability else 1
            assert walk(walker, case([probability, 0], [0, 0]), 1, 3, u)[1] == visits
            assert walk(walker, case([0, 0], [0, probability], start=[0, 1]), 1, 3, u)[1] == visits
            either_way = case([0, probability, 0], [0, 1, 0], [(2, 0, 0)], start=[0, 1])
            assert walk(walker, either_way, 1, 3, u)[0][0, 0] == (move[u] < probability)


@needs_c
def test_c_and_twin_agree_on_odd_probabilities() -> None:
    for odd in (0.0, 5e-324, 2.0**-53, np.nextafter(1, 0), 1.0, 1.0 + 2**-52, 2.0, np.inf):
        for about in (
            case([odd, 0.3, 0], [0, 0.5, 0.5], [(1, 0, 0)]),
            case([0.3, 0.3, 0], [0, odd, 0.5], [(1, 0, 0)], limit=100),
            case([0.3, 0.3, 0], [0, 0.3, 0.5], [(1, 0, 0)], start=[odd, 0.1]),
        ):
            assert same(walk(c_walker, about, 500), walk(plain, about, 500))


# ---- users may be split as one likes ----


@pytest.mark.parametrize("sizes", [[1] * 50, [17, 0, 33], [49, 1]])
def test_parts_give_the_same(walker: Any, sizes: list[int]) -> None:
    about = random_case(np.random.default_rng(5), 20, 3, 4, endless=1, limit=30)
    total, steps, cut = walk(walker, about, 50, seed=9, first=100)
    at, cuts = 0, 0
    for size in sizes:
        part = walk(walker, about, size, seed=9, first=100 + at)
        assert part[0].tobytes() == total[at : at + size].tobytes()
        assert part[1].tolist() == steps[at : at + size].tolist()
        at, cuts = at + size, cuts + part[2]
    assert (at, cuts) == (50, cut)


def test_chunks_of_the_twin_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    about = random_case(np.random.default_rng(6), 30, 4, 5, endless=0, limit=100)
    whole = walk(plain, about, 1000)
    for name, size in (("_CHUNK", 1), ("_CHUNK", 7), ("_CHUNK_BYTES", 1), ("_CHUNK_BYTES", 10_000)):
        with monkeypatch.context() as patched:
            patched.setattr(plain, name, size)
            assert same(walk(plain, about, 1000), whole)


def test_threads_give_the_same(walker: Any) -> None:
    about = random_case(np.random.default_rng(7), 50, 2, 3, endless=1, limit=1000)
    total, steps, _ = walk(walker, about, 4000)
    parts: dict[int, Any] = {}
    threads = [
        threading.Thread(target=lambda at=at: parts.update({at: walk(walker, about, 1000, first=at)}))
        for at in range(0, 4000, 1000)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert np.concatenate([parts[at][0] for at in sorted(parts)]).tobytes() == total.tobytes()
    assert np.concatenate([parts[at][1] for at in sorted(parts)]).tobytes() == steps.tobytes()


def test_lists_share_the_walk(walker: Any) -> None:
    """A list gains the same, alone or among others."""
    gains = [(0, 0, 0), (0, 1, 1), (1, 1, 0), (3, 0, 1), (3, 2, 1)]
    utility = [[1.0, 0.5, 0.25], [3.0, 1.0, 0.1]]
    walked = [0.6, 0.5, 0.5, 0.0], [0.0, 0.3, 0.3, 0.3]
    total, steps, _ = walk(walker, case(*walked, gains, utility, lists=3), 2000)
    for which in range(3):
        alone = [(rank, 0, kind) for rank, other, kind in gains if other == which]
        one, same_steps, _ = walk(walker, case(*walked, alone, utility), 2000)
        assert one[:, 0].tobytes() == total[:, which].tobytes()
        assert same_steps.tolist() == steps.tolist()


# ---- probabilities worked by hand ----


def near(count: int, users: int, probability: float) -> bool:
    """Within five standard deviations."""
    return abs(count - users * probability) <= 5 * (users * probability * (1 - probability)) ** 0.5


USERS = 200_000


def test_one_rank(walker: Any) -> None:
    total, steps, cut = walk(walker, case([0.0], [0.0], [(0, 0, 0)], [[0.25, 9.0]]), 100)
    assert set(steps) == {1}
    assert set(total.ravel()) == {0.25}
    assert cut == 0


def test_one_rank_has_nothing_on_either_side(walker: Any) -> None:
    for about in (case([1.0], [0.0]), case([0.0], [1.0]), case([0.4], [0.4])):
        assert set(walk(walker, about, 100)[1]) == {1}


def test_two_ranks(walker: Any) -> None:
    """P(H=1) = 1-p = .3; then from rank 2 back with q = .4: P(H=2) = p(1-q) = .42; P(H=3) = pq(1-p) = .084."""
    about = case([0.7, 0.0], [0.0, 0.4], [(0, 0, 0), (1, 0, 1)], [[1.0, 0.5, 0.0], [4.0, 4.0, 4.0]])
    total, steps, cut = walk(walker, about, USERS, seed=2)
    for visits, probability, gained in (
        (1, 0.3, 1.0),
        (2, 0.42, 5.0),
        (3, 0.084, 5.5),
        (4, 0.1176, 9.5),
        (5, 0.02352, 9.5),
    ):
        assert near(np.count_nonzero(steps == visits), USERS, probability)
        assert set(total[steps == visits, 0]) == {gained}
    assert cut == 0


def test_the_end_of_the_list_and_the_endless_list(walker: Any) -> None:
    """She goes on with .6 each time: P(H>=k) = .6^(k-1); where the list ends after two ranks, H <= 2."""
    gains = [(0, 0, 0), (1, 0, 0)]
    total, steps, _ = walk(walker, case([0.6, 0.6], [0.0, 0.0], gains, endless=1), USERS)
    for visits in range(1, 12):
        assert near(np.count_nonzero(steps >= visits), USERS, 0.6 ** (visits - 1))
    assert (total[:, 0] == np.minimum(steps, 2)).all()  # nothing is gained beyond the list
    _, short, _ = walk(walker, case([0.6, 0.6], [0.0, 0.0], gains), USERS)
    assert (short == np.minimum(steps, 2)).all()


def test_she_comes_back_from_beyond_the_end(walker: Any) -> None:
    """From rank 2 on p = q = .4. The third visit is to rank 1 or 3, so half of those who make it gain twice."""
    total, steps, _ = walk(walker, case([1.0, 0.4], [0.0, 0.4], [(0, 0, 0)], endless=1, limit=3), USERS)
    three = np.count_nonzero(steps == 3)
    assert near(three, USERS, 0.8)
    assert near(np.count_nonzero(total == 2.0), three, 0.5)


def test_starts(walker: Any) -> None:
    about = case([0.0] * 4, [0.0] * 4, [(i, i, 0) for i in range(4)], lists=4, start=[0.1, 0.0, 0.6, 0.3])
    total, _, _ = walk(walker, about, USERS)
    assert total[:, 1].sum() == 0
    for rank, probability in ((0, 0.1), (2, 0.6), (3, 0.3)):
        assert near(int(total[:, rank].sum()), USERS, probability)


def test_whoever_is_left_starts_at_the_last_start(walker: Any) -> None:
    about = case([0.0] * 3, [0.0] * 3, [(i, i, 0) for i in range(3)], lists=3, start=[0.2, 0.2])
    total, _, _ = walk(walker, about, USERS)
    assert near(int(total[:, 0].sum()), USERS, 0.2)
    assert near(int(total[:, 1].sum()), USERS, 0.8)


def test_the_limit(walker: Any) -> None:
    """On an endless list with p = .5: H >= 4 with .125, and these are counted."""
    about = case([0.5], [0.0], [(0, 0, 0)], endless=1, limit=4)
    _, steps, cut = walk(walker, about, USERS)
    assert steps.max() == 4
    assert cut == np.count_nonzero(steps == 4)
    assert near(cut, USERS, 0.125)
    _, steps, cut = walk(walker, about._replace(limit=1), 10)
    assert (steps.tolist(), cut) == ([1] * 10, 10)
    _, steps, cut = walk(walker, case([1.0, 1.0], [0.0, 0.0], endless=1, limit=5000), 3)
    assert (steps.tolist(), cut) == ([5000] * 3, 3)


def test_visits_are_counted_to_the_last_column(walker: Any) -> None:
    """Back and forth without end: rank 1 on visits 1, 3, 5, …; after 256 of them the last of 256 columns is kept."""
    utility = np.arange(256.0)[None, :]
    total, _, _ = walk(walker, case([1.0, 0.0], [0.0, 1.0], [(0, 0, 0)], utility, limit=799), 2)
    assert total.ravel().tolist() == [sum(range(256)) + (400 - 256) * 255] * 2


def test_nothing_to_do(walker: Any) -> None:
    assert walk(walker, case([0.5, 0.0], [0.0, 0.5], [(0, 0, 0)]), 0)[2] == 0
    about = case([0.5, 0.0], [0.0, 0.5], utility=np.empty((0, 3)), lists=0)
    _, steps, _ = walk(walker, about, 1000)
    assert near(np.count_nonzero(steps == 1), 1000, 0.5)
    nowhere = array.array("i")  # a buffer that may have no address
    about = about._replace(which=nowhere, kind=nowhere)
    assert walker.walk(1, 0, 1000, *about, array.array("d"), steps) == 0


# ---- draws ----


def test_mix64_is_splitmix64s() -> None:
    """The first outputs of SplitMix64 for the seed 1234567, as published with the reference implementation."""
    state = np.array([1234567 + (h + 1) * plain.GOLDEN & WORD for h in range(3)], np.uint64)
    assert plain.mix64(state).tolist() == [6457827717110365317, 3203168211198807973, 9817491932198370423]


@pytest.fixture(scope="module")
def table() -> Any:
    """Draws 0 to 63 of 20,000 users."""
    key = plain.keys(12345, 0, 20_000)
    return np.stack([plain.draws(key, h) for h in range(64)])


def uncorrelated(a: Any, b: Any) -> bool:
    return abs(np.corrcoef(a.ravel(), b.ravel())[0, 1]) < 5 / a.size**0.5


def test_draws_are_uniform(table: Any) -> None:
    n = table.size
    assert table.min() >= 0.0
    assert table.max() < 1.0
    assert abs(table.mean() - 1 / 2) < 5 / (12 * n) ** 0.5
    assert abs(table.var() - 1 / 12) < 5 / (180 * n) ** 0.5
    for part in (table, table[0], table[1], table[:, :300]):
        counts = np.histogram(part, 64, (0, 1))[0]
        chi_square = ((counts - part.size / 64) ** 2).sum() / (part.size / 64)
        assert abs(chi_square - 63) < 5 * 126**0.5


def test_draws_of_a_user_and_of_neighbours_are_unrelated(table: Any) -> None:
    for lag in (1, 2, 3):
        assert uncorrelated(table[:-lag], table[lag:])
        assert uncorrelated(table[:, :-lag], table[:, lag:])
        assert uncorrelated(table[:-lag, lag:], table[lag:, :-lag])
    pairs = np.histogram2d(table[:-1].ravel(), table[1:].ravel(), 16, [(0, 1), (0, 1)])[0]
    expected = pairs.sum() / 256
    assert abs(((pairs - expected) ** 2).sum() / expected - 255) < 5 * 510**0.5


def test_near_seeds_are_unrelated() -> None:
    for seed, other in ((0, 1), (1, 2), (2**64 - 1, 0), (7, 7 + plain.ODD & WORD), (7, 7 + plain.GOLDEN & WORD)):
        key, unlike = plain.keys(seed, 0, 50_000), plain.keys(other, 0, 50_000)
        assert not np.isin(key, unlike).any()
        assert uncorrelated(plain.draws(key, 0), plain.draws(unlike, 0))


def test_keys_count_on_where_the_last_left_off() -> None:
    assert plain.keys(5, 0, 10)[4:].tolist() == plain.keys(5, 4, 6).tolist()
    assert plain.keys(5, 2**63 - 3, 2).size == 2


# ---- arguments ----

GOOD = case(
    [0.5, 0.5, 0.0], [0.0, 0.2, 0.2], [(0, 0, 0), (2, 1, 1)], [[1.0, 0.5], [2.0, 1.0]], lists=2, start=[0.5, 0.5]
)


def outcome(walker: Any, *args: Any) -> str:
    with pytest.raises(ValueError) as caught:
        walker.walk(*args)
    assert type(caught.value) is ValueError
    return str(caught.value)


def read_only(x: Any) -> Any:
    x.flags.writeable = False
    return x


def misaligned(size: int, count: int) -> memoryview:
    return memoryview(bytearray(size * (count + 1)))[1 : 1 + size * count].cast("d" if size == 8 else "i")


def all_arguments(users: int = 4) -> dict[str, Any]:
    total, steps = np.zeros(users * GOOD.lists), np.zeros(users, np.int64)
    return {"seed": 1, "first": 0, "users": users, **GOOD._asdict(), "total": total, "steps": steps}


F, Q, I = np.float64, np.int64, np.int32  # noqa: E741
BAD: list[tuple[str, Callable[[], Any], str]] = [
    ("seed", lambda: -1, "seed: expected a whole number from 0 to 18446744073709551615"),
    ("seed", lambda: 2**64, "seed: expected a whole number from 0 to 18446744073709551615"),
    ("first", lambda: -1, "first: expected a whole number from 0 to 9223372036854775807"),
    ("first", lambda: 2**63 - 2, "users: expected a whole number from 0 to 1"),
    ("users", lambda: -1, "users: expected a whole number from 0 to 9223372036854775807"),
    ("users", lambda: 10**30, "users: expected a whole number from 0 to 9223372036854775807"),
    ("users", lambda: 3, "total: expected users * lists entries"),
    ("users", lambda: 2**63 - 1, "total: expected users * lists entries"),
    ("endless", lambda: 2, "endless: expected a whole number from 0 to 1"),
    ("endless", lambda: -1, "endless: expected a whole number from 0 to 1"),
    ("lists", lambda: -1, "lists: expected a whole number from 0 to 2147483647"),
    ("lists", lambda: 2**31, "lists: expected a whole number from 0 to 2147483647"),
    ("lists", lambda: 3, "total: expected users * lists entries"),
    ("lists", lambda: 0, "total: expected users * lists entries"),
    ("limit", lambda: 0, "limit: expected a whole number from 1 to 9223372036854775807"),
    ("limit", lambda: -5, "limit: expected a whole number from 1 to 9223372036854775807"),
    ("limit", lambda: 2**63, "limit: expected a whole number from 1 to 9223372036854775807"),
    ("start", lambda: np.ones(0), "start: expected at least one rank, and no more than forward has"),
    ("start", lambda: np.ones(4), "start: expected at least one rank, and no more than forward has"),
    ("start", lambda: np.array([0.5, 0.4]), "start: expected probabilities that never fall"),
    ("start", lambda: np.array([-0.1, 1.0]), "start: expected probabilities that never fall"),
    ("start", lambda: np.array([0.5, np.nan]), "start: expected probabilities that never fall"),
    ("start", lambda: np.array([np.nan, 1.0]), "start: expected probabilities that never fall"),
    ("start", lambda: [0.5, 1.0], "start: expected a contiguous 1-D array of float64"),
    ("start", lambda: None, "start: expected a contiguous 1-D array of float64"),
    ("start", lambda: b"12345678", "start: expected a contiguous 1-D array of float64"),
    ("start", lambda: np.zeros(2, F).astype(">f8"), "start: expected a contiguous 1-D array of float64"),
    ("start", lambda: np.zeros(2, "M8[s]"), "start: expected a contiguous 1-D array of float64"),
    ("start", lambda: misaligned(8, 2), "start: expected a contiguous 1-D array of float64"),
    ("forward", lambda: np.zeros(0), "forward: expected at least one rank"),
    ("forward", lambda: np.zeros(2), "turn: expected 2 entries, found 3"),
    ("forward", lambda: np.zeros(3, np.float32), "forward: expected a contiguous 1-D array of float64"),
    ("forward", lambda: np.zeros((3, 1)), "forward: expected a contiguous 1-D array of float64"),
    ("forward", lambda: np.zeros(6)[::2], "forward: expected a contiguous 1-D array of float64"),
    ("forward", lambda: np.zeros(3, Q), "forward: expected a contiguous 1-D array of float64"),
    ("forward", lambda: np.array([0.5, -0.1, 0.0]), "turn: expected 0 <= forward <= turn at each rank"),
    ("forward", lambda: np.array([0.5, 0.8, 0.0]), "turn: expected 0 <= forward <= turn at each rank"),
    ("forward", lambda: np.array([0.5, np.nan, 0.0]), "turn: expected 0 <= forward <= turn at each rank"),
    ("turn", lambda: np.array([0.5, np.nan, 0.0]), "turn: expected 0 <= forward <= turn at each rank"),
    ("turn", lambda: np.ones(4), "turn: expected 3 entries, found 4"),
    ("offsets", lambda: np.array([0, 1, 2], Q), "offsets: expected 4 entries, found 3"),
    ("offsets", lambda: np.array([0, 1, 1, 2], I), "offsets: expected a contiguous 1-D array of int64"),
    ("offsets", lambda: np.array([0, 1, 1, 2], np.uint64), "offsets: expected a contiguous 1-D array of int64"),
    *(
        ("offsets", lambda wrong=wrong: np.array(wrong, Q), "offsets: expected to rise from 0 to the number of gains")
        for wrong in (
            [1, 1, 1, 2],
            [-1, 1, 1, 2],
            [0, 1, 1, 1],
            [0, 1, 1, 3],
            [0, 2, 1, 2],
            [0, 3, 3, 2],
            [0, -1, 1, 2],
        )
    ),
    ("which", lambda: np.array([0, 2], I), "which: expected numbers from 0 to lists - 1"),
    ("which", lambda: np.array([-1, 0], I), "which: expected numbers from 0 to lists - 1"),
    ("which", lambda: np.array([0, 1, 1], I), "kind: expected 3 entries, found 2"),
    ("which", lambda: np.array([0, 1], Q), "which: expected a contiguous 1-D array of int32"),
    ("which", lambda: np.array([0, 1], np.uint32), "which: expected a contiguous 1-D array of int32"),
    ("which", lambda: misaligned(4, 2), "which: expected a contiguous 1-D array of int32"),
    ("kind", lambda: np.array([0, 2], I), "kind: expected rows of utility"),
    ("kind", lambda: np.array([-1, 0], I), "kind: expected rows of utility"),
    ("kind", lambda: np.array([0], I), "kind: expected 2 entries, found 1"),
    ("utility", lambda: np.zeros(4), "utility: expected a contiguous 2-D array of float64"),
    ("utility", lambda: np.zeros((2, 4))[:, ::2], "utility: expected a contiguous 2-D array of float64"),
    ("utility", lambda: np.asfortranarray(np.zeros((2, 2))), "utility: expected a contiguous 2-D array of float64"),
    ("utility", lambda: np.zeros((2, 0)), "utility: expected at least one column"),
    ("utility", lambda: np.zeros((0, 2)), "kind: expected rows of utility"),
    ("total", lambda: np.zeros(7), "total: expected users * lists entries"),
    ("total", lambda: np.zeros(9), "total: expected users * lists entries"),
    ("total", lambda: np.zeros(8, Q), "total: expected a writable contiguous array of float64"),
    ("total", lambda: read_only(np.zeros(8)), "total: expected a writable contiguous array of float64"),
    ("total", lambda: np.zeros(16)[::2], "total: expected a writable contiguous array of float64"),
    ("steps", lambda: np.zeros(5, Q), "steps: expected 4 entries, found 5"),
    ("steps", lambda: np.zeros(4, I), "steps: expected a writable contiguous 1-D array of int64"),
    ("steps", lambda: np.zeros(4, F), "steps: expected a writable contiguous 1-D array of int64"),
    ("steps", lambda: np.zeros((4, 1), Q), "steps: expected a writable contiguous 1-D array of int64"),
    ("steps", lambda: bytes(32), "steps: expected a writable contiguous 1-D array of int64"),
]


@pytest.mark.parametrize(("name", "value", "message"), BAD, ids=[f"{i}-{name}" for i, (name, _, _) in enumerate(BAD)])
def test_bad_arguments(walker: Any, name: str, value: Callable[[], Any], message: str) -> None:
    arguments = all_arguments()
    assert walker.walk(*arguments.values()) == 0
    arguments[name] = value()
    assert outcome(walker, *arguments.values()) == message


def test_arguments_that_are_no_numbers(walker: Any) -> None:
    for name in ("seed", "first", "users", "endless", "lists", "limit"):
        for value in (1.0, "1", None):
            with pytest.raises(TypeError, match="integer"):
                walker.walk(*{**all_arguments(), name: value}.values())
    with pytest.raises(TypeError):
        walker.walk(1, 2, 3)
    with pytest.raises(TypeError):
        walker.walk(**all_arguments())


def test_anything_with_a_buffer_will_do(walker: Any) -> None:
    arguments = all_arguments()
    walker.walk(*arguments.values())
    total, steps = array.array("d", [5.0] * 8), array.array("q", [5] * 4)
    other = {
        "seed": np.uint64(1),
        "endless": False,
        "start": array.array("d", GOOD.start),
        "forward": memoryview(GOOD.forward.tobytes()).cast("d"),
        "offsets": array.array("q", GOOD.offsets),
        "which": array.array("i", GOOD.which),
        "utility": read_only(GOOD.utility.copy()),
        "total": total,
        "steps": steps,
    }
    assert walker.walk(*{**arguments, **other}.values()) == 0
    assert (list(total), list(steps)) == (arguments["total"].tolist(), arguments["steps"].tolist())


def test_nothing_given_is_changed(walker: Any) -> None:
    arguments = all_arguments(1000)
    before = [np.array(x).tobytes() for x in GOOD]
    walker.walk(*arguments.values())
    assert [np.array(x).tobytes() for x in GOOD] == before


def test_arrays_that_share_memory_do_no_harm(walker: Any) -> None:
    """What is written over the arguments cannot lead a walk astray."""
    memory = np.zeros(8, np.int64)
    memory[:4] = GOOD.offsets
    assert walker.walk(*{**all_arguments(), "offsets": memory[:4], "steps": memory[:4]}.values()) == 0
    assert memory.min() >= 0
    assert memory[:4].min() >= 1


# ---- all users at once ----

LIMITS = {"budget": 10**8, "largest": 10**7, "work": 100, "negligible": 1e-15, "crumb": 1e-19}


def all_users(units: Any = (1, 0, 2)) -> dict[str, Any]:
    """Users of three ranks, who start at the first."""
    names = ("start", "forward", "back", "stop")
    rows = [1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.0, 0.25, 0.5], [0.5, 0.25, 0.5]
    return dict(zip(names, map(np.array, rows), strict=True)) | {"units": np.array(units)} | LIMITS


def test_gains_and_visits_by_hand(walker: Any) -> None:
    # stops at rank 1 with 1/2, at rank 2 with 1/2 x 1/4; then 1/4 are at rank 3 with a gain of 3, 1/8 at rank 1 with 2
    found = walker.joint(*all_users().values())
    gain, visits, share = np.frombuffer(found[0], np.int64), np.frombuffer(found[1]), np.frombuffer(found[2])
    assert gain[:4].tolist() == [1, 1, 2, 3]
    assert visits[:4].tolist() == [1, 2, 3, 3]
    assert share[:4].tolist() == [0.5, 0.125, 0.0625, 0.125]
    assert share.sum() == pytest.approx(1, abs=1e-14)
    assert walker.joint(*(all_users() | {"budget": 500}).values()) is None
    assert walker.joint(*(all_users() | {"largest": 7}).values()) is None


@pytest.mark.parametrize("number", range(60))
def test_all_users_at_once_are_the_same_to_the_last_bit(walker: Any, number: int) -> None:
    rng = np.random.default_rng(number)
    n = int(rng.integers(1, (2, 12, 40, 300)[number % 4]))
    p, q, s = (rng.random(n), rng.random(n), 0.1 + rng.random(n) ** 2)
    p, q, s = (part / (p + q + s) for part in (p, q, s))
    start = rng.random(n) * (np.arange(n) < rng.integers(1, n + 1))
    start /= start.sum()
    units = rng.integers(0, 4, n) * (rng.random(n) < rng.random())
    found = walker.joint(start, p, q, s, units, *LIMITS.values())
    told = joint_kept(same_steps(p, q, s), start, units, budget=LIMITS["budget"])
    assert [len(part) for part in found] == [8 * told.t.size] * 3
    assert (np.frombuffer(found[0], np.int64) == told.t).all()
    assert found[1:] == (told.h.tobytes(), told.prob.tobytes())


def test_the_joint_distribution_of_a_walk_is_that_of_its_steps() -> None:
    walk, gains = amble.users.Walk(0.5, 0.3).over(60), 0.25 * (np.arange(60) % 3)
    p, q, s, start = (part[0] for part in walk.cut().chain[:4])
    told = joint_kept(same_steps(p, q, s), start, np.arange(p.size) % 3, 0.25)
    for ours, theirs in zip(walk.joint(gains), told, strict=False):
        assert ours.tobytes() == theirs.tobytes()


def test_gains_that_differ_by_millions_are_not_laid_out(walker: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    # at the third rank, whose users are a crumb, there would be 401 gains x 3 ranks
    given = all_users((0, 0, 400)) | {"crumb": 0.3}
    assert walker.joint(*(given | {"largest": 1203}).values())
    assert walker.joint(*(given | {"largest": 1202}).values()) is None
    start, *steps, units = (given[name] for name in ("start", "forward", "back", "stop", "units"))
    monkeypatch.setattr(joint_distribution, "_CRUMB", 0.3)
    monkeypatch.setattr(joint_distribution, "_LARGEST", 1203)
    assert joint_kept(same_steps(*steps), start, units).prob.sum() > 0.5
    monkeypatch.setattr(joint_distribution, "_LARGEST", 1202)
    with pytest.raises(joint_distribution.OverBudgetError, match="more work than its budget"):
        joint_kept(same_steps(*steps), start, units)


BAD_JOINT: list[tuple[str, Any, str]] = [
    ("start", np.zeros(0), "start: expected at least one rank"),
    ("start", np.zeros(3), "start: expected a rank to start at"),
    ("start", np.ones(3, np.float32), "start: expected a contiguous 1-D array of float64"),
    ("forward", np.zeros(2), "forward: expected 3 entries, found 2"),
    ("back", np.zeros(4), "back: expected 3 entries, found 4"),
    ("stop", np.zeros(6)[::2], "stop: expected a contiguous 1-D array of float64"),
    ("units", np.zeros(3), "units: expected a contiguous 1-D array of int64"),
    ("units", np.array([0, -1, 0]), "units: expected whole numbers from 0 to what is largest"),
    ("units", np.array([0, 0, 10**7 + 1]), "units: expected whole numbers from 0 to what is largest"),
    ("budget", -1, "budget: expected a whole number from 0 to 9223372036854775807"),
    ("largest", 2**31, "largest: expected a whole number from 0 to 2147483647"),
    ("work", 0, "work: expected a whole number from 1 to 2147483647"),
]


@pytest.mark.parametrize(("name", "value", "message"), BAD_JOINT)
def test_bad_arguments_of_all_users(walker: Any, name: str, value: Any, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        walker.joint(*(all_users() | {name: value}).values())
    assert str(caught.value) == message


@pytest.mark.parametrize("wrong", [np.nan, 4.0])
def test_users_who_are_lost_count_of_are_an_error(walker: Any, wrong: float) -> None:
    with pytest.raises(RuntimeError, match="internal error: a share (nan|2.0) of the users still walks, expected 0 to"):
        walker.joint(*(all_users() | {"forward": np.array([wrong / 2, 0.0, 0.0])}).values())
