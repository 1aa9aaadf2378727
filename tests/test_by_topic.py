"""Parameters that differ by topic: each list is scored as by the measure with its topic's values, everywhere."""

from __future__ import annotations

import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import amble
from amble.errors import MeasureError, SimulationWarning
from amble.measures import INSQ, PH, IFTGoal
from amble.measures.list_measure import of_lists
from amble.measures.residuals import residuals_of
from amble.rankings.lists import Lists

QRELS = {"401": {"a": 1, "b": 0, "c": 1}, "402": {"a": 1, "b": 2, "d": 0}, "403": {"a": 2}}
RUNS = {
    "x": {"401": {"a": 3.0, "b": 2.0, "c": 1.0}, "402": {"u": 4.0, "b": 2.0, "a": 1.0}, "403": {"b": 2.0, "a": 1.0}},
    "y": {"401": {"c": 3.0, "u": 2.0, "a": 1.0}, "402": {"a": 3.0, "d": 2.0, "b": 1.0}, "403": {"a": 1.0}},
}
HOPES = {"401": 1.0, "402": 5.0, "403": 1.0}


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.tsv").write_text("# the gain hoped for\n401\t1\n402\t5\n\n403\t1\n")
    Path("mu.tsv").write_text("401 0.2 0.04\n402 0.1 0.3 0.5\n403 1\n")
    Path("p.tsv").write_text("401 0.5\n402 0.9\n403 0.75\n")


def by_hand(of_topic: Any) -> np.ndarray[Any, Any]:
    """What a function of one-topic judgments, runs and the topic gives, of shape (runs, topics)."""
    return np.array([[of_topic({t: QRELS[t]}, {r: {t: RUNS[r][t]}}, t) for t in QRELS] for r in RUNS])


CASES = [
    ("INSQ(T='t.tsv',max_grade=2)", "INSQ(T={},max_grade=2)", HOPES),
    ("INSQ(T='t.tsv',adaptive=True,max_grade=2)@2", "INSQ(T={},adaptive=True,max_grade=2)@2", HOPES),
    ("INST(T='t.tsv',max_grade=2)", "INST(T={},max_grade=2)", HOPES),
    ("MP(rates='mu.tsv')", "MP(rates={})", {"401": "'0.2,0.04'", "402": "'0.1,0.3,0.5'", "403": "'1'"}),
    ("RBP(p='p.tsv',finite=True)", "RBP(p={},finite=True)", {"401": 0.5, "402": 0.9, "403": 0.75}),
    ("PH(p='p.tsv',q=0.1,loss=0)", "PH(p={},q=0.1,loss=0)", {"401": 0.5, "402": 0.9, "403": 0.75}),
]


@pytest.mark.parametrize(("name", "one", "values"), CASES)
def test_each_topic_has_its_own_user(name: str, one: str, values: dict[str, Any]) -> None:
    m = of_lists(amble.parse(name))
    assert (str(m), amble.parse(str(m)), pickle.loads(pickle.dumps(m))) == (name, m, m)
    at = {topic: of_lists(amble.parse(one.format(value))) for topic, value in values.items()}
    assert {topic: m.at_topic(topic) for topic in at} == at
    expected = by_hand(lambda q, r, t: amble.evaluate(q, r, at[t]).values.item())
    np.testing.assert_allclose(amble.evaluate(QRELS, RUNS, m).values[:, :, 0], expected, rtol=1e-14)
    for topic, own in at.items():
        grades = [0, 1, float("nan"), 2]
        assert m.value(grades, topic=topic, max_grade=2) == own.value(grades, max_grade=2)
        assert m.interval(grades, topic=topic, max_grade=2) == own.interval(grades, max_grade=2)
        distribution = m.distribution(grades, topic=topic, max_grade=2)
        assert distribution.distance(own.distribution(grades, max_grade=2)) == 0
        found, same = m.user(grades, topic=topic, max_grade=2), own.user(grades, max_grade=2)
        np.testing.assert_array_equal(found.weights, same.weights)
    # residuals, and distributions over users and topics
    rankings = amble.align(QRELS, RUNS)
    lists = Lists.of_rankings(rankings)
    residuals = residuals_of([m], lists)[0]
    for i, topic in enumerate(rankings.topics[t] for t in rankings.topic.tolist()):
        assert residuals[i] == pytest.approx(residuals_of([at[topic]], lists)[0][i], rel=1e-13, abs=1e-16)
    whole = amble.run_distributions(rankings, m)["x"]
    parts = [amble.run_distributions({t: QRELS[t]}, {"x": {t: RUNS["x"][t]}}, at[t])["x"] for t in QRELS]
    assert whole.mean == pytest.approx(np.mean([part.mean for part in parts]), rel=1e-13)


def test_rates_by_query_as_published() -> None:
    # Ferrante, Ferro and Maistro (2014), Table 4: three queries, each with rates of its own, printed with four decimals
    table = {
        "1111000100": ([0.2, 0.0357, 0.2, 0.04, 0.0056, 0.0005, 0.0035, 0.0017, 0.0034, 0.0024], 0.6603),
        "1110100010": ([0.0177, 0.0047, 0.0037, 0.0015, 0.0041, 0.0031, 0.0057, 0.0022, 0.0061, 0.0045], 0.8710),
        "1101100001": ([0.0056, 0.0051, 0.0062, 0.0031, 0.0046, 0.0025, 0.005, 0.0022, 0.007, 0.005], 0.8001),
    }
    Path("rates.tsv").write_text("".join(f"{q}\t{' '.join(map(str, rates))}\n" for q, (rates, _) in table.items()))
    qrels = {query: {f"d{i}": int(grade) for i, grade in enumerate(query)} for query in table}
    run = {query: {f"d{i}": 10.0 - i for i in range(10)} for query in table}
    found = amble.evaluate(qrels, {"x": run}, "MP(rates='rates.tsv')").values[0, :, 0]
    assert found == pytest.approx([value for _, value in table.values()], abs=6e-4)


def test_the_report() -> None:
    found = amble.cwl(QRELS, RUNS, "INSQ(T='t.tsv',max_grade=2)", topics=True)
    # (2T)^2 psi'(2T): T = 1 and T = 5
    depth = {"401": 4 * (math.pi**2 / 6 - 1), "402": 100 * (math.pi**2 / 6 - sum(1 / k**2 for k in range(1, 10)))}
    rows = {(row[0], row[1]): row for row in found.rows}
    for topic, expected in depth.items():
        assert rows["x", topic][-1] == pytest.approx(expected, rel=1e-12)
    assert rows["x", "403"][-1] == rows["x", "401"][-1]
    # the gain of topic 401's two documents of grade 1 of 2: V = 1 and 1/4
    assert rows["x", "401"][4] == pytest.approx(0.5 * (1 + 1 / 4), rel=1e-14)


def test_values_from_python() -> None:
    m = INSQ(T=HOPES, max_grade=2)
    assert str(m).startswith("INSQ(T=<topics:")
    assert m == INSQ(T={"402": 5, "403": 1, "401": 1}, max_grade=2) != INSQ(T=HOPES | {"402": 4.0}, max_grade=2)
    named = amble.evaluate(QRELS, RUNS, "INSQ(T='t.tsv',max_grade=2)").values
    np.testing.assert_array_equal(amble.evaluate(QRELS, RUNS, m).values, named)
    with pytest.raises(MeasureError, match="topic 402 has the value -1"):
        INSQ(T={"401": 1, "402": -1})
    with pytest.raises(MeasureError, match=r"above 0; by topic, the topics are text, as in {'401': 1}$"):
        INSQ(T={401: 1, 402: 5})


def test_of_populations() -> None:
    some = amble.measures.Uniform(0.5, 1.0)
    m, own = IFTGoal(T="t.tsv", b=some, R=0.3), IFTGoal(T=5, b=some, R=0.3)
    found = amble.evaluate(QRELS, RUNS, m).values[0, 1, 0]
    assert found == pytest.approx(amble.evaluate(QRELS, RUNS, own).values[0, 1, 0], rel=1e-14)


def test_simulated_readers() -> None:
    m = PH(p="p.tsv", q=0.1, loss=0.5)
    found = amble.run_distributions(QRELS, RUNS, m, users=4000, seed=3)["y"]
    assert abs(found.mean - amble.evaluate(QRELS, RUNS, m).values[1].mean()) < 5 * found.standard_error
    one = amble.simulate(m, [1, 0, 1], users=1000, seed=3, topic="402")
    same = amble.simulate(PH(p=0.9, q=0.1, loss=0.5), [1, 0, 1], users=1000, seed=3)
    assert one.distance(same) == 0
    with pytest.warns(SimulationWarning):
        m.distribution([1, 0, 1], users=100, topic="402")


def test_paths() -> None:
    m = PH(p="p.tsv", q=0.1, loss=0.5)
    assert m.score_path([1, 2, 1], [1, 0], topic="402") == pytest.approx(1.5 / 3)
    with pytest.raises(MeasureError, match="p differs by topic"):
        m.score_path([1], [1])


def test_contributions() -> None:
    found = amble.why(QRELS, RUNS, "402", "INSQ(T='t.tsv',max_grade=2)")
    same = amble.why(QRELS, RUNS, "402", "INSQ(T=5,max_grade=2)")
    np.testing.assert_allclose(found.values, same.values, rtol=1e-13)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("INSQ(T='bad.tsv')", "401 1\n401 2\n", "bad.tsv:2: topic 401 has a value already"),
        ("INSQ(T='bad.tsv')", "401 1\n402 0\n", "bad.tsv:2: topic 402 has the value 0.0, expected a number above 0"),
        ("INSQ(T='bad.tsv')", "401 1 2\n", "bad.tsv:1: topic 401 has the value \\[1.0, 2.0\\]"),
        ("INSQ(T='bad.tsv')", "401 x\n", "bad.tsv:1: "),
        ("INSQ(T='bad.tsv')", "401 1\n402\n", "bad.tsv:2: found 1 column, expected a topic and its value"),
        ("INSQ(T='bad.tsv')", "1\n2\n", "bad.tsv:1: found 1 column, expected a topic and its value"),
        ("INSQ(T='bad.tsv')", "", "bad.tsv: empty, expected lines of a topic and its value"),
        ("PH(p='bad.tsv')", "0.5\n0.4\n", "bad.tsv:1: found 1 column, expected a topic and its value"),
        ("MP(rates='bad.tsv')", "", "bad.tsv: empty, expected lines"),
        ("CWL(L='bad.tsv')", "1 0.5\n2 0.5\n", "bad.tsv:1: found 2 columns, expected 1: number, one for each rank"),
        ("CWL(C='bad.tsv')", "401 0.5\n", "bad.tsv:1: found 2 columns, expected 1: number, one for each rank"),
        ("CWL(C='bad.tsv')", "1 2 0.5\n", "bad.tsv:1: found 3 columns, expected 1"),
        ("PH(user='bad.tsv')", "401 0.5\n", "bad.tsv:1: found 2 columns, expected 3: from to probability"),
        ("PH(user='bad.tsv')", "0.5\n", "bad.tsv:1: found 1 column, expected 3: from to probability"),
        ("INSQ(T='none.tsv')", "", "none.tsv: no such file"),
        ("AP(rel='bad.tsv')", "401 1\n", "rel cannot differ by topic"),
        ("INSQ(max_grade='bad.tsv')", "401 1\n", "max_grade cannot differ by topic"),
        ("MsM(p='bad.tsv')", "401 0.5\n", "p cannot differ by topic"),
        ("MP(rates='bad.tsv')", "401 0.5 -1\n", "bad.tsv:1: topic 401 has the value"),
    ],
)
def test_bad_files(name: str, text: str, message: str) -> None:
    Path("bad.tsv").write_text(text)
    with pytest.raises(MeasureError, match=message) as error:
        amble.parse(name)
    assert "\n" not in str(error.value)


def test_rates_by_rank_may_be_in_such_a_file() -> None:
    Path("one.tsv").write_text("0.2\n0.04\n")
    assert amble.parse("MP(rates='one.tsv')").value([1, 1]) == amble.parse("MP(rates='0.2,0.04')").value([1, 1])


def test_a_topic_without_a_value() -> None:
    Path("few.tsv").write_text("401 1\n403 1\n")
    m = amble.parse("INSQ(T='few.tsv')")
    with pytest.raises(MeasureError, match="INSQ\\(T='few.tsv'\\): topic 402 has no value of T"):
        amble.evaluate(QRELS, RUNS, m)
    for ask in (m.value, m.user, m.distribution, m.interval, lambda grades: amble.simulate(m, grades)):
        with pytest.raises(MeasureError, match="T differs by topic; say whose, topic="):
            ask([1, 0])
    with pytest.raises(MeasureError, match="T differs by topic, and these lists have no topics"):
        m.scores(Lists.of_grades([1, 0]))
    insq = amble.parse("INSQ")  # nothing of it differs by topic
    assert insq.value([1, 0], topic="401") == insq.value([1, 0])
