"""Users of sessions as tables, against dense algebra; the reader who carries a target over queries."""

from __future__ import annotations

import numpy as np
import pytest
import session_reference as by_matrices
from drawing import examples
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import polygamma

import amble
from amble.cli.main import main
from amble.errors import MeasureError
from amble.users.session_target import CarriedTarget
from amble.users.session_user import SessionWalk

PSI3 = np.pi**2 / 6 - 1 - 1 / 4  # trigamma at 3


def columns(table: amble.Table) -> dict[str, list[float]]:
    return {name: table[name] for name in table.columns}  # type: ignore[misc]


@pytest.mark.parametrize("walk", [(0.6, 0.1, 0.2, 0.1), (0.3, 0.4, 0.2, 0.1), (0.5, 0.0, 0.25, 0.25)])
@pytest.mark.parametrize("lengths", [[4, 4, 4], [1, 5, 3], [6], [2, 0, 3]])
def test_table_of_the_appendix(walk: tuple[float, ...], lengths: list[int]) -> None:
    found = columns(SessionWalk(*walk).over(lengths).table())
    reached, gone, row = 1.0, 0.0, 0
    for j, n in enumerate(lengths):
        away, ends = by_matrices.leaving(n, *walk), by_matrices.ending(n, *walk)  # dense solves
        final = j == len(lengths) - 1
        for i in range(max(n, 1)):
            assert (found["query"][row], found["rank"][row]) == (j + 1, i + 1 if n else None)
            assert found["pi"][row] == pytest.approx(reached)
            assert found["h"][row] == pytest.approx(reached if final else reached * ends)
            if final:  # there is no next query
                assert found["e_Q"][row] is found["h_F"][row] is None
            else:
                assert (found["e_Q"][row], found["h_F"][row]) == pytest.approx((away, ends))
            if n:
                e = by_matrices.times(n, *walk)[i]
                assert (found["e"][row], found["t"][row]) == pytest.approx((e, e + gone))
            else:
                assert found["e"][row] is None
            row += 1
        reached, gone = reached * (1 - ends), gone + away
    assert row == len(found["query"])


def test_h_of_the_last_query_is_that_of_the_appendix() -> None:
    # h_FK: she cannot leave the K-th query but by ending the session, so it is 1 and h(K) = (1 - h_F)^(K-1)
    walk, n = (0.6, 0.1, 0.2, 0.1), 5
    P = by_matrices.transitions(n, *walk)[: n + 1, : n + 1]
    P = P / P.sum(axis=1, keepdims=True)
    ends = np.linalg.solve(np.eye(n) - P[:n, :n], P[:n, n])[0]
    assert ends == pytest.approx(1.0)
    h = SessionWalk(*walk).over([n] * 3).ends
    assert h == pytest.approx([1 / 3, 2 / 9, (2 / 3) ** 2 * ends])
    assert h.sum() == pytest.approx(1.0)


def test_endless_lists_have_a_next_query() -> None:
    user = amble.parse("sRBP(p=0.8,b=0.5)").user([[0, 0]])  # forward .4, next query .4, stop .2
    found = columns(user.table())
    # given no stop she goes on to the next query with 1/2 at each document: 2 steps; she ends with .2 / .6
    assert (found["e_Q"], found["h_F"]) == (pytest.approx([2.0, 2.0]), pytest.approx([1 / 3, 1 / 3]))
    assert found["h"] == pytest.approx([1 / 3, 2 / 9])


# ---- the target that is carried


def test_a_carried_target_by_hand() -> None:
    # query 1, T = 1: nothing at rank 1, so C(1) = (3/4)^2; at rank 2 all is found, C(2) = (2/3)^2
    #   V = 1, 9/16, then 1/4 at rank 3, and beyond 1/4 x 9 psi'(3); 7/16 leave at rank 1 with all of it missing
    # query 2, of which 7/16 come: found at rank 1, C(1) = (1/2)^2, C(2) = (2/3)^2; V = 1, 1/4, beyond 1/9 x 9 psi'(3)
    depth = 1 + 9 / 16 + 9 / 4 * PSI3 + 7 / 16 * (1 + 1 / 4 + PSI3)
    gain = 9 / 16 + 7 / 16
    session = amble.Sessions.of_queries([[0, 1], [1, 0]])
    user = amble.parse("sINSQ").user(session)
    assert user.reach == pytest.approx([1, 7 / 16])
    assert user.ends == pytest.approx([9 / 16, 7 / 16])
    assert [seen.tolist() for seen in user.seen] == [pytest.approx([1, 9 / 16]), pytest.approx([7 / 16, 7 / 64])]
    assert user.expected_depth == pytest.approx(depth)
    assert amble.parse("sINSQ").value(session) == pytest.approx(gain / depth)
    # half of those with all missing ask again
    half = amble.parse("sINSQ(reform=0.5)").user(session)
    assert half.reach == pytest.approx([1, 7 / 32])
    # as printed, i is one less: at rank 1 C = (2/3)^2, at rank 2 (1/2)^2
    printed = amble.parse("sINSQ(form='printed')").user(session)
    assert printed.seen[0] == pytest.approx([1, 4 / 9])


def expected(lists: list[list[float]], hope: float, T: float, reform: float, lag: float) -> tuple[float, float]:
    """Mean gain and mean ranks read from here on, by following every rank where a list may be left, one by one."""
    y, n = lists[0], len(lists[0])
    gain = depth = 0.0
    reach, left, shift = 1.0, hope, 2 * hope - lag

    def leave(share: float) -> None:
        nonlocal gain, depth
        if len(lists) > 1 and left > 1e-12:
            more = expected(lists[1:], left, T, reform, lag)
            gain += share * reform * left / T * more[0]
            depth += share * reform * left / T * more[1]

    for i in range(1, n + 1):
        gain += reach * y[i - 1]
        depth += reach
        left = max(0.0, left - y[i - 1])
        left = 0.0 if left < 1e-12 else left
        shift = 2 * left - lag
        on = ((i + shift) / (i + shift + 1)) ** 2
        leave(reach * (1 - on))
        reach *= on
    depth += reach * (n + 1 + shift) ** 2 * float(polygamma(1, n + 1 + shift))
    leave(reach)
    return gain, depth


@examples(120)
@given(
    st.lists(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), max_size=5), min_size=1, max_size=4),
    st.floats(0.3, 6.0),
    st.floats(0.0, 1.0),
    st.sampled_from(["figures", "printed"]),
)
def test_a_carried_target_by_all_ways(lists: list[list[float]], T: float, reform: float, form: str) -> None:
    lag = 1.0 if form == "printed" else 0.0
    if form == "printed" and T < 0.6:
        T += 0.6  # C(1) needs i + 2 T - 1 above 0 on a list that is empty
    gain, depth = expected(lists, T, T, reform, lag)
    user = CarriedTarget(T, reform, form).over([len(y) for y in lists], lists)
    assert user.expected_gain(lists) == pytest.approx(gain, rel=1e-9, abs=1e-12)
    assert user.expected_depth == pytest.approx(depth, rel=1e-9)
    assert user.ends.sum() == pytest.approx(1.0)
    m = amble.parse(f"sINSQ(T={T!r},reform={reform!r},form='{form}',max_grade=1)")
    assert m.value(amble.Sessions.of_queries(lists)) == pytest.approx(gain / depth, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("form", ["figures", "printed"])
def test_one_query_is_adaptive_insq(form: str) -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        y, T = rng.integers(0, 3, 12), float(rng.uniform(0.7, 8))
        alone = amble.parse(f"INSQ(T={T!r},adaptive=True,form='{form}')").value(y, max_grade=2)
        found = amble.parse(f"sINSQ(T={T!r},form='{form}')").value(y[:, None], max_grade=2)
        assert found == pytest.approx(alone, rel=1e-12)


def test_simulated_readers_of_a_target() -> None:
    session = amble.Sessions.of_queries([[0, 1, 0, 1], [], [1, 0, 1]])
    m = amble.parse("sINSQ(T=3)")
    user, simulated = m.user(session), m.distribution(session, users=60_000, seed=4)
    exact = user.expected_gain([[0, 1, 0, 1], [], [1, 0, 1]])
    assert abs(simulated.mean - exact) < 4 * simulated.standard_error
    queries = np.concatenate([q for _, _, q in user.follow([[0, 1, 0, 1], [], [1, 0, 1]], 60_000, 5)])
    assert abs(queries.mean() - user.expected_queries) < 4 * queries.std() / np.sqrt(queries.size)
    assert m.distribution(session, users=100, seed=4).mean == m.distribution(session, users=100, seed=4).mean


def test_table_3_of_moffat_thomas_and_scholer() -> None:
    # few answers wanted or many (T = 1, 8); none, some or many are there; then a second query with none
    lists = {"none": [0] * 10, "some": [0, 0, 1] + [0] * 7, "many": [1] * 10}
    depth: dict[tuple[float, str], float] = {}
    again: dict[tuple[float, str], float] = {}
    carried: dict[tuple[float, str], float | None] = {}
    for T in (1.0, 8.0):
        for name, y in lists.items():
            on = CarriedTarget(T).over([10, 10], [y, [0] * 10])
            depth[T, name] = CarriedTarget(T).over([10], [y]).expected_depth
            again[T, name] = float(on.reach[1])
            carried[T, name] = on.columns(1)["T"]  # type: ignore[assignment]
    # no answers: dissatisfied, so they ask again; few wanted: early, many wanted: after looking down the ranking
    assert [again[1, "none"], again[8, "none"]] == pytest.approx([1, 1])
    assert depth[1, "none"] == pytest.approx(9 * PSI3)  # 3.6 documents
    assert depth[8, "none"] == pytest.approx(17**2 * float(polygamma(1, 17)))  # 17.5
    # few wanted: some answers possibly satisfy, many satisfy quickly, and nobody asks again
    assert again[1, "some"] == pytest.approx(1 - (3 / 4 * 4 / 5) ** 2)  # those who leave before rank 3
    assert again[1, "many"] == 0
    assert depth[1, "many"] < depth[1, "some"]
    # many wanted: some answers satisfy in part, and most ask again; many may satisfy, if not, people ask again
    assert again[1, "some"] < 0.8 < again[8, "some"] < 1
    assert 0 < again[8, "many"] < again[8, "some"]
    assert depth[1, "some"] < depth[8, "some"]
    # the expectation in the next query is what is missing
    assert carried[8, "none"] == pytest.approx(8)
    assert 7 < carried[8, "some"] < 8  # type: ignore[operator]
    assert carried[8, "many"] < 7  # type: ignore[operator]
    assert carried[1, "many"] is None  # nobody is left


def test_gains_may_be_an_array() -> None:
    reader = CarriedTarget(1.0, form="printed")
    rows = [[0.0, 1.0], [1.0, 0.0]]
    assert reader.over([2, 2], np.array(rows)).reach.tolist() == reader.over([2, 2], rows).reach.tolist()
    assert repr(reader) == "CarriedTarget(T=1, reform=1, form='printed')"


def test_targets_that_are_refused() -> None:
    for text, said in (
        ("sINSQ(T=0)", "expected a number above 0"),
        ("sINSQ(reform=1.5)", "between 0 and 1"),
        ("sINSQ(form='x')", "figures"),
    ):
        with pytest.raises(MeasureError, match=said):
            amble.parse(text)
    with pytest.raises(MeasureError, match="at least one"):
        CarriedTarget(1.0).over([])
    many = [(0.1 + 0.1 * np.random.default_rng(i).random(12)).tolist() for i in range(5)]  # every sum is another
    with pytest.raises(MeasureError, match="different gains after query"):
        CarriedTarget(40.0).over([12] * 5, many)
    assert len(CarriedTarget(40.0).over([12] * 3, many[:3]).hopes[2][0]) == 144


def test_repeats_and_cuts() -> None:
    m, whole = amble.parse("sINSQ(T=2)@2"), amble.parse("sINSQ(T=2)")
    cut = m.value([[0, 1], [1, 0], [1, 1]])
    assert cut == pytest.approx(whole.value([[0, 1], [1, 0]]))  # below rank 2 nothing is gained, and readers read on
    assert cut < whole.value([[0, 1], [1, 0], [1, 1]])


# ---- amble user


def test_users_of_sessions_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["user", "MsM", "sINSQ", "--gains", "1,0", "--gains", "0", "--format", "tsv"]) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert rows[0] == ["measure", "query", "rank", "e", "e_Q", "t", "h_F", "T", "h", "pi", "seen", "visits", "last"]
    assert [row[:3] for row in rows[1:]] == [
        [m, *at] for m in ("MsM", "sINSQ") for at in (["1", "1"], ["1", "2"], ["2", "1"])
    ]
    assert rows[2][3] == "1.0000"  # e(2)
    assert rows[4][7] == "1.0000"  # T
    assert main(["user", "esP", "--depth", "2"]) == 0
    said = capsys.readouterr().out
    assert len(said.splitlines()) == 1 + 3 * 2 + 2
    assert "expected queries 2.19" in said  # 1 + .7 + .49
    for words, text in (
        (["MsM", "RBP"], "RBP: users of lists and of sessions are shown apart"),
        (["MsM", "--relevant", "3"], "--relevant is for users of lists"),
        (["MsM", "--plot", "x.svg"], "--plot is for users of lists"),
        (["sDCG"], "sDCG is not a user"),
    ):
        assert main(["user", *words]) == 2
        assert text in capsys.readouterr().err
