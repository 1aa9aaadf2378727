"""Measures of sessions: worked examples, the authors' values, dense algebra, all paths, properties."""

from __future__ import annotations

import copy
import json
import math
import random
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import session_reference as ref
from drawing import examples
from hypothesis import given
from hypothesis import strategies as st

import amble
from amble.errors import MeasureError, NormalisedWarning
from amble.measures import REGISTRY
from amble.users.session_user import SessionWalk

NAMES = [name for name, d in REGISTRY.items() if d.of_sessions]
SCORED = [name for name in NAMES if name not in ("PerQuery", "esM")]
EVERY = [*SCORED, "PerQuery(of='nDCG')", "PerQuery(of='P@2',over='max')", "esM(of='AP',users=50)"]

lists = st.lists(st.integers(0, 3), max_size=5)
small = st.lists(lists, min_size=1, max_size=4)


def held(queries: Any, **more: Any) -> amble.Sessions:
    return amble.Sessions.of_queries(queries, **more)


def value(measure: str, queries: Any, **more: Any) -> float:
    return amble.parse(measure).value(held(queries, **more))


def written(probabilities: Any) -> str:
    return ",".join(f"{name}={probability!r}" for name, probability in zip("pqrs", probabilities, strict=True))


def probabilities_of(weights: tuple[float, float, float, float]) -> tuple[float, ...]:
    total = sum(weights)
    return tuple(x / total for x in weights)


weights = st.tuples(*(st.floats(0.05, 1.0) for _ in range(4)))
probabilities = weights.map(probabilities_of)
forwards = weights.map(lambda w: probabilities_of((w[0], 0.0, w[2], w[3])))  # q = 0
either = probabilities | forwards

# ---- MsM


def test_all_values_of_the_authors_program(data: Path) -> None:
    found = json.loads((data / "msm" / "msm_transcribed_values.json").read_text())
    assert len(found["cases"]) == 133
    for case in found["cases"]:
        matrix, user = found["matrices"][case["matrix"]], case["config"].removeprefix("MsM_")
        more = ",program=True" if user == "yandex_log" else ""
        for discount, wanted in (("linear", case["lin"]), ("log", case["log"])):
            got = amble.parse(f"MsM(user='{user}',discount='{discount}'{more})").value(matrix)
            assert got == pytest.approx(wanted, abs=1e-10), case
            other = ref.msm(np.array(matrix).T.tolist(), case["params"], log=discount == "log")
            assert other == pytest.approx(wanted, abs=1e-10), case
        if not more:
            walk = SessionWalk(*case["params"])
            n, k = len(matrix), len(matrix[0])
            assert walk.times(n) == pytest.approx(case["e"], abs=1e-10)
            assert walk.leaving(n)[n] == pytest.approx(case["eQ"], abs=1e-10)
            assert walk.over([n] * k).reach == pytest.approx(case["pj"], abs=1e-10)


def test_msm_by_hand() -> None:
    # p = .6, q = 0, r = .1, s = .3 on lists of 3: e = 0, 1, 2. From document 1, without s, she goes on with
    # .6 / .7 = 6/7; so from 2; at 3 only the next query is left: e_Q = 1 + 6/7 + 36/49 = 127/49. The next query is
    # asked with .1 / .4 = 1/4.
    away = 127 / 49
    first = 1 / 1 + 0 / 2 + 3 / 3
    second = 0 / (1 + away) + 2 / (2 + away) + 1 / (3 + away)
    matrix = [[1, 0], [0, 2], [3, 1]]
    measure = "MsM(p=0.6,q=0,r=0.1,s=0.3)"
    assert amble.parse(measure).value(matrix) == pytest.approx(first + second / 4, abs=1e-14)
    # published: t = e(i) + e_Q in both queries, logarithms to base 10
    by_ten = sum(
        reach * sum(g / (1 + math.log10(1 + i + away)) for i, g in enumerate(column))
        for reach, column in ((1, (1, 0, 3)), (0.25, (0, 2, 1)))
    )
    got = amble.parse("MsM(p=0.6,q=0,r=0.1,s=0.3,discount='log',published=True)").value(matrix)
    assert got == pytest.approx(by_ten, abs=1e-14)


@given(either, st.integers(1, 12), st.integers(1, 4), st.booleans(), st.booleans(), st.randoms())
@examples(60)
def test_msm_against_dense_algebra(p: Any, n: int, k: int, log: bool, published: bool, rng: random.Random) -> None:
    grades = [[rng.randint(0, 4) for _ in range(n)] for _ in range(k)]
    measure = f"MsM({written(p)},discount='{'log' if log else 'linear'}',published={published})"
    wanted = ref.msm(grades, p, log=log, published=published)
    assert amble.parse(measure).value(np.array(grades).T) == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize("n", [1, 2, 3, 50, 200])
def test_msm_against_dense_algebra_on_long_lists(n: int) -> None:
    rng = np.random.default_rng(n)
    for back in (
        (0.0, 0.3, 0.9) if n < 200 else (0.0, 0.9)
    ):  # q as a share of p: with q > p dense algebra loses its digits, see below
        w = rng.dirichlet([1.0, 1.0, 1.0]).tolist()
        p = probabilities_of((w[0], back * w[0], w[1], w[2]))
        grades = rng.integers(0, 5, (n, 3))
        for discount in ("linear", "log"):
            got = amble.parse(f"MsM({written(p)},discount='{discount}')").value(grades)
            assert got == pytest.approx(ref.msm(grades.T.tolist(), p, log=discount == "log"), rel=1e-9)
        walk = SessionWalk(*p)
        assert walk.times(n) == pytest.approx(ref.times(n, *p), rel=1e-9)
        assert walk.leaving(n)[n] == pytest.approx(ref.leaving(n, *p), rel=1e-9)
        assert 1 - walk.onward == pytest.approx(ref.ending(n, *p), rel=1e-9)


@given(small, either)
@examples(40)
def test_msm_of_lists_of_different_lengths(queries: list[list[int]], p: Any) -> None:
    assert value(f"MsM({written(p)})", queries) == pytest.approx(ref.msm(queries, p), rel=1e-9, abs=1e-15)
    longest = max(map(len, queries))
    padded = [query + [0] * (longest - len(query)) for query in queries]
    assert value(f"MsM({written(p)},lengths='longest')", queries) == pytest.approx(ref.msm(padded, p), rel=1e-9)


def test_times_of_those_who_mostly_go_back() -> None:
    # exact fractions: p = 1/20, q = 17/20, so p' = 1/18, q' = 17/18; m_k = 18 + 17 m_(k-1)
    e, m, wanted = Fraction(0), Fraction(1), []
    for _ in range(600):
        wanted.append(e)
        e, m = e + m, 18 + 17 * m
    walk = SessionWalk(0.05, 0.85, 0.05, 0.05)
    assert walk.times(200) == pytest.approx([float(x) for x in wanted[:200]], rel=1e-12)
    assert np.isinf(walk.times(600)[-1])  # 17^598
    logs = [math.log(x.numerator) for x in wanted[1:]]
    assert walk.magnitudes(600)[1:] == pytest.approx(logs, rel=1e-13)
    column = np.zeros((600, 1))
    column[-1] = 1
    measure = f"MsM({written((0.05, 0.85, 0.05, 0.05))},discount='log'"
    assert amble.parse(measure + ")").value(column) == pytest.approx(1 / (1 + logs[-1]), rel=1e-13)
    by_ten = 1 / (1 + logs[-1] / math.log(10))
    assert amble.parse(measure + ",published=True)").value(column) == pytest.approx(by_ten, rel=1e-13)
    assert amble.parse(measure.replace("log", "linear") + ")").value(column) == 0.0


def test_sessions_do_not_lose_digits_to_those_before() -> None:
    # e_Q is near 1e8 here: a running sum over all sessions would leave six digits of the first queries' times
    one = np.array([[0.0, 1.0, 2.0], [3.0, 0.0, 1.0], [1.0, 1.0, 1.0]])
    measure = amble.parse("MsM(p=0.6,q=0.3,r=1e-8,s=0.09999999)")
    many = amble.Sessions.of_array(np.stack([one] * 3000))
    assert set(measure.scores(many).tolist()) == {measure.value(one.T)}


def test_a_user_whose_probabilities_do_not_add_up_is_scaled_with_a_warning() -> None:
    matrix = [[1, 0], [0, 2], [3, 1]]
    with pytest.warns(NormalisedWarning, match=r"yandex_log.*1\.10"):
        got = amble.parse("MsM(user='yandex_log')").value(matrix)
    scaled = probabilities_of((0.61, 0.11, 0.27, 0.11))
    assert got == pytest.approx(ref.msm([[1, 0, 3], [0, 2, 1]], scaled), abs=1e-12)
    as_is = amble.parse("MsM(user='yandex_log',program=True)").value(matrix)  # pytest would hear a warning
    assert as_is == pytest.approx(ref.msm([[1, 0, 3], [0, 2, 1]], (0.61, 0.11, 0.27, 0.11)), abs=1e-12)
    assert as_is != pytest.approx(got, abs=1e-3)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("MsM(p=0.5)", "p + q + r + s = 0.5 + 0.1 + 0.2 + 0.1 = 0.9, expected 1"),
        ("MsM(p=0.7,q=0.1,r=0,s=0.2)", "r = 0"),
        ("MsM(p=0.7,q=0.1,r=0.2,s=0)", "s = 0"),
        ("MsM(p=0,q=0.1,r=0.7,s=0.2)", "p = 0"),
        ("MsM(p=1.2)", "p=1.2"),
        ("MsM(user='fwd_pat_down',p=0.3)", "has probabilities of its own"),
        ("MsM(user='nobody')", "expected one of 'fwd_imp_down'"),
        ("MsM(discount='cubic')", "discount"),
        ("MsM@0", "MsM@0"),
        ("PerQuery(of='MsM')", "a measure of sessions"),
        ("esM(of='zz')", "no measure is called zz"),
        ("PerQuery(of='nDCG',gains='exp')", "expected in the measure of lists"),
        ("esM(of='nDCG',gains='exp')", "expected in the measure of lists"),
        ("sRBP(p=1)", "p=1"),
        ("esP(down=1)", "down=1"),
    ],
)
def test_measures_that_are_refused(text: str, said: str) -> None:
    with pytest.raises(MeasureError) as error:
        amble.parse(text)
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("matrix", "said"),
    [
        ([[]], "a session with no query"),
        (None, "expected a matrix"),
        ("abc", "expected a matrix"),
        ([[1], [1, 2]], "expected a matrix"),
        ([[math.inf]], "finite"),
        (np.zeros((2, 2, 2)), "expected two: documents and queries"),
    ],
)
def test_matrices_that_are_refused(matrix: Any, said: str) -> None:
    with pytest.raises(MeasureError) as error:
        amble.parse("MsM").value(matrix)
    assert said in str(error.value)


@pytest.mark.parametrize("queries", [[], [1, 0, 2], [None], "ab", [["x"]], [[[1]]], 7, [[math.inf]]])
def test_queries_that_are_refused(queries: Any) -> None:
    with pytest.raises(amble.AlignError, match="expected"):
        held(queries)


@pytest.mark.parametrize(
    ("grades", "names"),
    [([[1]], None), ([["x"]], None), (np.zeros((0, 2, 2)), None), (np.zeros((2, 1, 1)), ["a", "a"])],
)
def test_arrays_that_are_refused(grades: Any, names: Any) -> None:
    with pytest.raises(amble.AlignError, match="expected"):
        amble.Sessions.of_array(grades, names)


# ---- session RBP, session DCG, U


def test_session_rbp_by_hand() -> None:
    # p = .8, b = .5: down with .4; the next query with (.8 - .4) / (1 - .4) = 2/3. Gains are grade / 2.
    # .2 x [(1 + .4^2 / 2) + 2/3 x .4 x 1] = .2 x [1.08 + .26666...]
    wanted = 0.2 * (1 + 0.16 / 2 + 2 / 3 * 0.4)
    assert amble.parse("sRBP(p=0.8,b=0.5)").value([[2, 0], [0, 2], [1, 0]], max_grade=2) == pytest.approx(wanted)
    assert amble.parse("sRBP(p=0.8,b=0.5,max_grade=2)").value([[2, 0], [0, 2], [1, 0]]) == pytest.approx(wanted)


def test_session_dcg_by_hand() -> None:
    # Järvelin et al. 2008, b = 2, bq = 4. First query 3, 2, 0, 1: 3 + 2 / log2 2 + 1 / log2 4 = 5.5.
    # Second query 0, 3, 1, 0: (3 / log2 2 + 1 / log2 3) / (1 + log4 2) = (3 + .63093) / 1.5 = 2.42062
    matrix = [[3, 0], [2, 3], [0, 1], [1, 0]]
    wanted = 5.5 + (3 + 1 / math.log2(3)) / 1.5
    assert amble.parse("sDCG").value(matrix) == pytest.approx(wanted, abs=1e-14)
    assert wanted == pytest.approx(7.92062, abs=5e-6)
    # b = 10: nothing is discounted before rank 10; bq = 2: the second query counts half: 6 + 4 / 2
    assert amble.parse("sDCG(b=10,bq=2)").value(matrix) == pytest.approx(8.0)
    # the Dynamic Domain track's: 1 + log2 of the rank; bq = 4: 3 + 2 / 2 + 1 / 3 + (3 / 2 + 1 / (1 + log2 3)) / 1.5
    plus = 3 + 1 + 1 / 3 + (1.5 + 1 / (1 + math.log2(3))) / 1.5
    assert amble.parse("sDCG(ranks='plus')").value(matrix) == pytest.approx(plus)
    # the best session shows 3, 3, 2, 1 twice: 3 + 3 + 2 / log2 3 + 1 / 2, and 2/3 of that: documents may be shown again
    best = (6 + 2 / math.log2(3) + 0.5) * (1 + 1 / 1.5)
    assert amble.parse("nsDCG").value(matrix, ideal=[3, 3, 2, 1]) == pytest.approx(wanted / best)


def test_u_over_a_session_by_hand() -> None:
    # L = 10, a query costs 2 documents: documents end at 3, 4 | 7, 8; gains 1, 0 | 1, 1
    # .7 + .3 + .2
    assert amble.parse("sU(L=10,query=2)").value([[1, 1], [0, 1]]) == pytest.approx(1.2)


# ---- Cube Test, Expected Utility


def test_cube_test_by_hand() -> None:
    # one facet, height 5, gamma .5: ratings 3, 0 | 4, 2. Heights 3, 3 | 3 + .5 x 4 = 5, full.
    matrix = [[3, 4], [0, 2]]
    assert amble.parse("CubeTest").value(matrix) == pytest.approx(1 / 2)  # by queries
    assert amble.parse("CubeTest(time='documents')").value(matrix) == pytest.approx(1 / 4)
    # after each document: .6, .6 in the first query; 1, 1 in the second
    assert amble.parse("ACT").value(matrix) == pytest.approx((0.6 + 0.6 + 1 / 2 + 1 / 2) / 4)
    assert amble.parse("ACT(time='documents')").value(matrix) == pytest.approx((0.6 + 0.3 + 1 / 3 + 1 / 4) / 4)
    # gamma = 1, height 20: (3 + 4 + 2) / 20 / 2
    assert amble.parse("CubeTest(gamma=1,height=20)").value(matrix) == pytest.approx(9 / 40)


def test_expected_utility_by_hand() -> None:
    # p = .5: rank i is read with .5^(i-1). Documents 2, 0 | 0, 1, all different: the first is met 1 time, worth
    # 2 (1 - .5^1) / .5 = 2; the last .5 times, worth (1 - .5^.5) / .5. She reads 1.5 documents of each list.
    wanted = 2 + (1 - math.sqrt(0.5)) / 0.5 - 0.01 * 3
    assert amble.parse("ExpectedUtility").value([[2, 0], [0, 1]]) == pytest.approx(wanted)
    assert amble.parse("ExpectedUtility(a=1)").value([[0]]) == -1.0


@given(small, st.floats(0, 1), st.floats(0.5, 8), st.sampled_from(["queries", "documents"]))
@examples(40)
def test_the_cube_against_plain_loops(queries: list[list[int]], gamma: float, height: float, time: str) -> None:
    docs = [[{"all": g} for g in query] for query in queries]
    options = f"(gamma={gamma!r},height={height!r},time='{time}')"
    wanted = ref.cube_test(docs, ["all"], gamma, height, time)
    assert value("CubeTest" + options, queries) == pytest.approx(wanted, abs=1e-12)
    wanted = ref.average_cube_test(docs, ["all"], gamma, height, time)
    assert value("ACT" + options, queries) == pytest.approx(wanted, abs=1e-12)


@given(small, st.floats(0.05, 0.95), st.floats(0.05, 0.95), st.floats(1.1, 12), st.floats(0, 3))
@examples(40)
def test_weights_against_their_formulas(queries: list[list[int]], x: float, y: float, base: float, cost: float) -> None:
    gains = [[g / 3 for g in query] for query in queries]
    close = {"rel": 1e-11, "abs": 1e-13}
    assert value(f"sRBP(p={x!r},b={y!r},max_grade=3)", queries) == pytest.approx(ref.srbp(gains, x, y), **close)
    assert value(f"sDCG(b={base!r},bq={1 + cost + x!r})", queries) == pytest.approx(
        ref.sdcg(queries, base, 1 + cost + x), **close
    )
    assert value(f"sU(L={base!r},query={cost!r},max_grade=3)", queries) == pytest.approx(
        ref.u_measure(gains, base, cost), **close
    )
    pieces = [[{f"{j} {i}": g} for i, g in enumerate(query)] for j, query in enumerate(queries)]
    worth = {name: g for query in pieces for doc in query for name, g in doc.items()}
    assert value(f"ExpectedUtility(p={x!r},gamma={y!r},a={cost!r})", queries) == pytest.approx(
        ref.expected_utility(pieces, worth, x, y, cost), **close
    )


# ---- expected session measures


def test_expected_measures_by_hand() -> None:
    # down .5, reform .4, lists (1, 0) and (1): she sees 1 | 1 0 | 1 1 | 1 0 1 with probabilities
    # .5 x .6, .5 x .6, .5 x .4, .5 x .4 = .3, .3, .2, .2
    queries = [[1, 0], [1]]
    of = "(down=0.5,reform=0.4)"
    assert value("esP" + of, queries) == pytest.approx(0.3 * 1 + 0.3 / 2 + 0.2 * 1 + 0.2 * 2 / 3)
    assert value("esP" + of + "@2", queries) == pytest.approx(0.3 / 2 + 0.3 / 2 + 0.2 * 1 + 0.2 / 2)
    assert value("esR" + of, queries) == pytest.approx((0.3 + 0.3 + 0.4 + 0.4) / 2)
    assert value("esRR" + of, queries) == 1.0
    assert value("esAP" + of, queries) == pytest.approx((0.3 + 0.3 + 0.2 * 2 + 0.2 * (1 + 2 / 3)) / 2)
    dcg = 0.3 + 0.3 + 0.2 * (1 + 1 / math.log2(3)) + 0.2 * (1 + 1 / 2)
    assert value("esDCG" + of, queries) == pytest.approx(dcg)
    assert value("esnDCG" + of, queries) == pytest.approx(dcg / (1 + 1 / math.log2(3)))


@given(small, st.floats(0.05, 0.95), st.floats(0.05, 0.95), st.integers(1, 6))
@examples(40)
def test_expected_measures_against_all_paths(queries: list[list[int]], down: float, reform: float, k: int) -> None:
    found = [[float(g > 0) for g in query] for query in queries]
    relevant = int(sum(map(sum, found)))
    ideal = sorted((g for query in queries for g in query), reverse=True)

    def check(name: str, cut: int | None, session: Any, of: Any) -> None:
        text = f"{name}(down={down!r},reform={reform!r})" + (f"@{cut}" if cut else "")
        wanted = ref.expected(session, down, reform, of) if relevant else 0.0
        assert value(text, queries) == pytest.approx(wanted, abs=1e-12), text

    for cut in (None, k):
        check("esP", cut, found, ref.precision(cut))
        check("esR", cut, found, lambda seen, cut=cut: sum(seen[:cut]) / relevant)
        check("esDCG", cut, queries, ref.dcg(cut))
        check("esnDCG", cut, queries, lambda seen, cut=cut: ref.dcg(cut)(seen) / ref.dcg(cut)(ideal))
    check("esRR", None, found, ref.reciprocal)
    check("esAP", None, found, ref.average_precision(relevant))


@pytest.mark.parametrize(
    ("exact", "of"),
    [("esP@4", "P@4"), ("esR@5", "R@5"), ("esnDCG", "nDCG"), ("esDCG@3", "DCG@3"), ("esRR", "RR"), ("esAP", "AP")],
)
def test_expected_measures_are_the_mean_over_simulated_users(exact: str, of: str) -> None:
    queries = [[0, 1, 0, 1], [2, 0, 0], [], [1, 1, 0]]
    truth, users = value(exact, queries), 40_000
    spread = 0.5 if of != "DCG@3" else 1.5  # scores lie within [0, 2 x spread], so no deviation is larger
    got = value(f"esM(of='{of}',users={users},seed=3)", queries)
    assert abs(got - truth) < 4.5 * spread / math.sqrt(users)
    assert got != value(f"esM(of='{of}',users={users},seed=4)", queries)


@pytest.mark.parametrize(("exact", "of"), [("esR", "R"), ("esAP", "AP"), ("esnDCG", "nDCG"), ("esP@2", "P@2")])
def test_what_is_shown_again_is_found_once(exact: str, of: str, write: Callable[[str, str], str]) -> None:
    qrels, session = write("q", "7 0 b 1\n7 0 a 0\n"), write("s", "s1\t1\t7\t7-1\ns1\t2\t7\t7-2\n")
    run = write("r", "7-1 Q0 a 1 3 r\n7-1 Q0 z 2 2 r\n7-1 Q0 b 3 1 r\n7-2 Q0 b 1 1 r\n")
    sessions = amble.read_sessions(qrels, session, run)
    found = amble.evaluate(sessions, [exact, f"esM(of='{of}',users=40000,seed=2)"]).means()[0]
    if exact == "esR":  # she gets to rank 3 of the first list with probability .8 x .8; with b twice it would be 1.34
        assert found[0] == pytest.approx(0.64)
    assert abs(found[1] - found[0]) < 4.5 * 0.5 / math.sqrt(40000)


@pytest.mark.parametrize(
    ("of", "wanted"),
    [
        *[
            ("Judged@5", 1.0),
            ("Unjudged@5", 0.0),
            ("RBPresid", 0.0),
        ],  # all that is seen is judged, also the second time
        ("P@4", (0.8 + 0.7) / 4),  # .8 see b in the first list, .7 ask again and see it at the top of the second
        ("Success@5", 0.8 + 0.2 * 0.7),
        ("RR", (0.8 + 0.2 * 0.7) / 2),  # at place 2 in either case
    ],
)
def test_what_is_not_divided_by_the_topic_counts_each_time(
    of: str, wanted: float, write: Callable[[str, str], str]
) -> None:
    qrels, session = write("q", "7 0 b 1\n7 0 a 0\n"), write("s", "s1\t1\t7\t7-1\ns1\t2\t7\t7-2\n")
    run = write("r", "7-1 Q0 a 1 2 r\n7-1 Q0 b 2 1 r\n7-2 Q0 b 1 2 r\n7-2 Q0 a 2 1 r\n")
    found = amble.evaluate(amble.read_sessions(qrels, session, run), f"esM(of='{of}',users=20000)").means()[0, 0]
    assert found == pytest.approx(wanted, abs=4.5 * 0.5 / math.sqrt(20000))


def test_lists_that_nobody_finishes() -> None:
    # what is cut off has a probability below 1e-18
    rng = np.random.default_rng(2)
    grades = rng.integers(0, 2, (400, 2))
    assert amble.parse("esAP(down=0.3)").value(grades) > 0
    for name in ("esP", "esP@5", "esDCG", "esRR", "esAP"):
        long = amble.parse(name.replace("@", "(down=0.3)@") if "@" in name else name + "(down=0.3)")
        ideal = grades.T.ravel().tolist()
        assert long.value(grades, ideal=ideal) == pytest.approx(long.value(grades[:60], ideal=ideal), rel=1e-12)


# ---- one query, one list


@given(st.lists(st.integers(0, 3), min_size=1, max_size=8))
@examples(30)
def test_a_session_of_one_query_is_a_list(grades: list[int]) -> None:
    for over in ("mean", "sum", "max", "min", "first", "last"):
        for of in ("AP", "nDCG@3", "RBP(p=0.7,rel=2)", "ERR(max_grade=3)"):
            wanted = amble.parse(of).value(grades)
            assert value(f'PerQuery(of="{of}",over="{over}")', [grades]) == pytest.approx(wanted, abs=1e-14)
    # the user of the expected measures goes down with d, and to the end of the list: RBP's, without a tail
    binary = [float(g > 0) for g in grades]
    wanted = sum(0.7**i * g for i, g in enumerate(binary)) / max(sum(binary), 1)
    assert value("esR(down=0.7)", [grades]) == pytest.approx(wanted)
    assert value("sRBP(p=0.8,b=0.5)", [binary]) == pytest.approx(0.2 * sum(0.4**i * g for i, g in enumerate(binary)))
    if any(grades):  # hardly anybody leaves
        for of, name in (("P", "esP"), ("AP", "esAP"), ("nDCG", "esnDCG"), ("RR", "esRR")):
            near = value(f"{name}(down=0.9999999999)", [grades])
            assert near == pytest.approx(amble.parse(of).value(grades), abs=1e-7)
            assert value(f"esM(of='{of}',down=0.9999999999,users=100)", [grades]) == pytest.approx(near, abs=1e-7)


def test_per_query_is_what_evaluate_says_of_every_query() -> None:
    rng = np.random.default_rng(4)
    docs = [f"d{i}" for i in range(30)]
    qrels = {t: {d: int(rng.integers(0, 3)) for d in docs[:20]} for t in ("a", "b", "c")}
    run = {t: {d: float(rng.random()) for d in rng.permutation(docs)[:12]} for t in qrels}
    queries = [[qrels[t].get(d, math.nan) for d in sorted(run[t], key=lambda d, t=t: -run[t][d])] for t in qrels]
    for of in ("AP", "nDCG@5", "P@5", "bpref"):
        scores = amble.evaluate(qrels, {"r": run}, of).values[0, :, 0]
        each = [
            value(f"PerQuery(of='{of}')", [q], ideal=list(qrels[t].values()))
            for t, q in zip("abc", queries, strict=True)
        ]
        assert each == pytest.approx(scores.tolist(), abs=1e-14)


# ---- properties of all


@pytest.mark.parametrize("name", EVERY)
def test_writing_and_reading(name: str) -> None:
    measure = amble.parse(name)
    assert amble.parse(str(measure)) == measure
    assert hash(amble.parse(str(measure))) == hash(measure)


@given(probabilities, st.sampled_from(["linear", "log"]), st.booleans())
@examples(20)
def test_writing_and_reading_probabilities(p: Any, discount: str, published: bool) -> None:
    measure = amble.parse(f"MsM({written(p)},discount='{discount}',published={published})@7")
    assert amble.parse(str(measure)) == measure


@pytest.mark.parametrize("name", EVERY)
@given(small)
@examples(12)
def test_scores_are_pure_and_within_bounds(name: str, queries: list[list[int]]) -> None:
    measure, before = amble.parse(name), copy.deepcopy(queries)
    sessions = held(queries)
    arrays = {key: x.copy() for key, x in vars(sessions).items() if isinstance(x, np.ndarray)}
    got = measure.value(sessions)
    assert measure.value(sessions) == got == amble.parse(name).value(held(queries))
    assert queries == before
    for key, x in arrays.items():
        assert np.array_equal(getattr(sessions, key), x), key
    assert math.isfinite(got)
    if measure.declaration.bounded:
        assert -1e-12 <= got <= 1 + 1e-12
    elif name != "ExpectedUtility":
        assert got >= 0
    if not any(map(any, queries)) and name != "ExpectedUtility":
        assert got == 0


GROWING = (
    "MsM MsM(discount='log') sRBP(max_grade=4) sDCG sU(max_grade=4) CubeTest ACT ExpectedUtility esP esDCG esRR esP@3"
)


@pytest.mark.parametrize("name", GROWING.split())
@given(small.filter(any), st.randoms())
@examples(15)
def test_a_better_document_does_no_harm(name: str, queries: list[list[int]], rng: random.Random) -> None:
    better = copy.deepcopy(queries)
    query = rng.choice([query for query in better if query])
    query[rng.randrange(len(query))] += 1
    if name in ("CubeTest", "ACT"):  # gamma < 1: an early document takes the full worth from a later, better one
        name += "(gamma=1)"
    assert value(name, better) >= value(name, queries) - 1e-12


@pytest.mark.parametrize("name", EVERY)
def test_the_order_of_sessions_does_not_matter(name: str) -> None:
    grades = np.random.default_rng(1).integers(0, 4, (12, 3, 5))
    order = np.random.default_rng(2).permutation(12)
    measure = amble.parse(name)
    forward = measure.scores(amble.Sessions.of_array(grades))
    assert measure.scores(amble.Sessions.of_array(grades[order])).tolist() == forward[order].tolist()
    alone = [
        float(measure.scores(held(one, name=str(i)))[0])
        for i, one in enumerate(grades)
        if one.max() == 3  # the largest grade of all
    ]
    assert alone == [x for one, x in zip(grades, forward.tolist(), strict=True) if one.max() == 3]


@pytest.mark.parametrize("name", SCORED)
def test_a_cut_ends_every_list(name: str) -> None:
    grades = np.random.default_rng(5).integers(0, 3, (6, 3))
    d = amble.parse(name).declaration
    if d.at:  # @ sets k of the list she saw
        assert amble.parse(f"{name}@4") == amble.parse(f"{name}(k=4)")
        return
    context: dict[str, Any] = {"ideal": grades.ravel()}
    if "max_grade" in d.parameters:
        context["max_grade"] = 2
    assert amble.parse(f"{name}@4").value(grades, **context) == amble.parse(name).value(grades[:4], **context)
    assert amble.parse(f"{name}@9").value(grades, **context) == amble.parse(name).value(grades, **context)


def test_unjudged_and_negative_grades_gain_nothing() -> None:
    matrix = [[math.nan, -2], [1, math.nan], [-1, 2]]
    plain = [[0, 0], [1, 0], [0, 2]]
    for name in SCORED:
        context: dict[str, Any] = {"ideal": [1, 2, 0, -1]}
        if "max_grade" in amble.parse(name).declaration.parameters:
            context["max_grade"] = 2
        assert amble.parse(name).value(matrix, **context) == amble.parse(name).value(plain, **context), name


def test_gains_by_name() -> None:
    assert value("sDCG(gains='exp')", [[2, 1]]) == pytest.approx(3 + 1)
    assert value("CubeTest(gains='exp',height=10)", [[3]]) == pytest.approx(0.7)
    with pytest.raises(MeasureError, match="too large"):
        value("sDCG(gains='exp')", [[1000]])


def test_largest_grade() -> None:
    with pytest.raises(MeasureError, match="say max_grade="):
        amble.parse("sRBP").value([[3]])
    with pytest.raises(MeasureError, match="at least 3"):
        amble.parse("sRBP").value([[3]], max_grade=2)
    assert amble.parse("sRBP").value([[3]], max_grade=6) == pytest.approx(0.1)


def test_populations() -> None:
    grades = [[1, 0], [0, 1], [1, 1]]
    whole = amble.parse("sRBP(p=Beta(8,2))").value(grades)
    # E over p ~ Beta(8, 2) by a plain sum over its density p^7 (1 - p), normalised
    p = (np.arange(200_000) + 0.5) / 200_000
    density = p**7 * (1 - p)
    x, onward = 0.7 * p, (p - 0.7 * p) / (1 - 0.7 * p)
    wanted = (1 - p) * (1 + x**2 + onward * (x + x**2))
    assert whole == pytest.approx(float((wanted * density).sum() / density.sum()), rel=1e-6)
    with pytest.raises(MeasureError, match="population"):
        _ = amble.parse("sRBP(p=Beta(8,2))").one_user
    # simulated: the mean over users of the expected gain, each document at the first visit
    m = amble.parse("esP(down=Uniform(0.3,0.7))")
    found = m.distribution(grades, users=4000, seed=3)
    want = sum(w * one.user(grades).expected_gain([[1, 0, 1], [0, 1, 1]]) for w, one in m.members)
    assert abs(found.mean - want) < 4 * found.standard_error
    assert found.values.tolist() == m.distribution(grades, users=4000, seed=3).values.tolist()


@pytest.mark.parametrize("name", [*SCORED, "PerQuery(of='AP')", "esM(of='AP',users=200)"])
def test_odd_shapes(name: str) -> None:
    d = amble.parse(name).declaration
    context: dict[str, Any] = {"max_grade": 1} if "max_grade" in d.parameters else {}
    measure = amble.parse(name)
    for matrix in (np.zeros((0, 3)), [[1]], [1, 0, 1], np.ones((1, 300)), np.ones((3000, 1)), [[math.nan]]):
        assert math.isfinite(measure.value(matrix, **context))


# ---- the walk


@given(st.lists(st.integers(0, 5), min_size=1, max_size=4), either, st.sampled_from(["stay", "stop"]))
@examples(60)
def test_the_walk_against_one_chain_over_all_documents(lengths: list[int], p: Any, last: str) -> None:
    on_list, chain = SessionWalk(*p, last=last).over(lengths), ref.Chain(lengths, p, last)
    for mine, theirs in ((on_list.visits, chain.visits()), (on_list.seen, chain.seen()), (on_list.last, chain.last())):
        assert np.concatenate(mine) == pytest.approx(theirs[chain.shows], rel=1e-9, abs=1e-14)
    assert [len(x) for x in on_list.visits] == lengths
    onward = p[2] / (p[2] + p[3])
    assert on_list.reach == pytest.approx([onward**j for j in range(len(lengths))], rel=1e-12)
    assert on_list.expected_queries == pytest.approx(sum(onward**j for j in range(len(lengths))))
    assert on_list.expected_depth == pytest.approx(chain.visits()[chain.shows].sum())
    if all(lengths):
        assert sum(map(sum, on_list.last)) == pytest.approx(1)
    gains = [list(range(n)) for n in lengths]
    flat = np.array([i for j, i in chain.states if lengths[j]], float)
    assert on_list.expected_gain(gains) == pytest.approx(chain.seen()[chain.shows] @ flat)
    assert on_list.expected_gain(gains, visits="every") == pytest.approx(chain.visits()[chain.shows] @ flat)


def test_the_user_of_the_expected_measures_takes_every_path() -> None:
    queries, down, reform = [[1, 0, 2], [], [3, 1]], 0.6, 0.3
    on_list = amble.parse(f"esDCG(down={down},reform={reform})").user(held(queries))
    seen = {(j, i): 0.0 for j, query in enumerate(queries) for i in range(len(query))}
    for probability, _, places in ref.paths(queries, down, reform):
        for place in places:
            seen[place] += probability
    assert np.concatenate(on_list.seen) == pytest.approx(list(seen.values()))


def test_session_rbp_is_the_rate_of_its_user() -> None:
    # endless lists: she looks at 1 / (1 - p) documents in the mean, so sRBP is gain / effort
    measure = amble.parse("sRBP(p=0.75,b=0.6)")
    grades = np.random.default_rng(0).integers(0, 2, (6, 3)).astype(float)
    on_list = measure.user(grades)
    assert on_list.expected_depth == pytest.approx(4)
    assert on_list.expected_queries == pytest.approx(1 / (1 - on_list.walk.onward))
    assert on_list.expected_gain(grades.T) / on_list.expected_depth == pytest.approx(measure.value(grades))


@pytest.mark.parametrize("visits", ["first", "every"])
@pytest.mark.parametrize(
    ("name", "last"), [("MsM(p=0.4,q=0.3,r=0.2,s=0.1)", "stay"), ("esDCG(down=0.7,reform=0.6)", "stop")]
)
def test_the_distribution_of_gain(name: str, last: str, visits: str) -> None:
    queries = [[1, 0, 2], [], [3, 0, 1]]
    measure, users = amble.parse(name), 60_000
    on_list = measure.user(held(queries))
    distribution = measure.distribution(held(queries), users=users, seed=5, visits=visits)
    assert np.array_equal(
        distribution.values, measure.distribution(held(queries), users=users, seed=5, visits=visits).values
    )
    wanted = on_list.expected_gain(queries, visits=visits)
    spread = math.sqrt(distribution.var)
    assert abs(distribution.mean - wanted) < 4.5 * spread / math.sqrt(users)
    assert distribution.mean_visits == pytest.approx(on_list.expected_depth, rel=0.05)
    # the distribution itself, by users who go step by step in plain Python
    walk = on_list.walk
    chain, rng, totals = ref.Chain([3, 0, 3], (walk.p, walk.q, walk.r, walk.s), last), random.Random(9), []
    for _ in range(4000):
        places = chain.walk(rng)
        kept = set(places) if visits == "first" else places
        totals.append(sum(queries[j][i] for j, i in kept if queries[j]))
    for x in (0.5, 1.5, 3.5, 5.5):
        mine = float(distribution.probs[distribution.values <= x].sum())
        assert abs(mine - np.mean(np.array(totals) <= x)) < 4.5 * 0.5 / math.sqrt(4000)


def test_long_sessions_are_followed_in_little_memory() -> None:
    grades = np.zeros((4000, 5))  # more documents than 32,768 users can be followed on at once
    grades[0] = 1
    distribution = amble.parse("MsM(p=0.5,q=0.3,r=0.1,s=0.1)").distribution(grades, users=8000)
    assert distribution.mean == pytest.approx(sum(0.5**j for j in range(5)), rel=0.05)


@pytest.mark.parametrize("lengths", [[], [-1], "ab", [1.5], [[1]], 3])
def test_lengths_that_are_refused(lengths: Any) -> None:
    with pytest.raises(MeasureError, match="expected"):
        SessionWalk(0.6, 0.1, 0.2, 0.1).over(lengths)


def test_what_a_walk_refuses() -> None:
    walk = SessionWalk(0.6, 0.1, 0.2, 0.1)
    for gains in ([[1, 1]], [[1, 1], [1]], [1, 1]):
        with pytest.raises(MeasureError, match="expected lists of"):
            walk.over([2, 2]).expected_gain(gains)
    with pytest.raises(MeasureError, match="expected one of 'first', 'every'"):
        walk.over([1]).expected_gain([[1]], visits="some")
    with pytest.raises(MeasureError, match="q = 0.1 on endless lists"):
        SessionWalk(0.6, 0.1, 0.2, 0.1, endless=True)
    with pytest.raises(MeasureError, match="p=nan"):
        SessionWalk(math.nan, 0.1, 0.2, 0.1)
    with pytest.raises(MeasureError, match="last="):
        SessionWalk(0.6, 0.1, 0.2, 0.1, last="go")
    for name in ("sDCG", "nsDCG", "sU", "CubeTest", "ACT", "ExpectedUtility", "PerQuery(of='AP')"):
        with pytest.raises(MeasureError, match="not a user"):
            amble.parse(name).distribution([[1]], **({"max_grade": 1} if name == "sU" else {}))
    with pytest.raises(MeasureError, match="endless"):
        amble.parse("sRBP").distribution([[1]])
    with pytest.raises(MeasureError, match="users=0"):
        amble.parse("MsM").distribution([[1]], users=0)


def test_lists_and_sessions_are_told_apart() -> None:
    with pytest.raises(MeasureError, match="a measure of sessions, not of lists"):
        amble.evaluate({"1": {"a": 1}}, {"x": {"1": {"a": 1.0}}}, "MsM")
    assert not hasattr(amble.parse("MsM"), "interval")  # sessions have no residuals
    with pytest.raises(MeasureError, match="expected one session"):
        amble.parse("MsM").value(amble.Sessions.of_array(np.zeros((2, 2, 2))))
    scores = amble.evaluate(amble.Sessions.of_array(np.ones((2, 3, 4)), ["a", "b"]), "MsM P@2")
    assert scores.values[0, :, 1].tolist() == [1.0, 1.0]
    assert [str(m) for m in scores.parsed] == ["MsM", "PerQuery(of='P@2')"]


def test_another_value_of_a_parameter() -> None:
    found = amble.parse("esP@1").with_value("rel", 2)
    assert str(found) == "esP(rel=2)@1"
    assert found.value([[1], [2]]) == 0
    assert str(amble.parse("MsM").with_value("discount", "log")) == "MsM(discount='log')"
