"""What visits are worth: g(k, y) by shares, by a table of grades, from a file, and what is refused."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from math import nan
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import walk_reference as reference
from drawing import examples
from hypothesis import given
from hypothesis import strategies as st

import amble
from amble.measures import PH, Lists
from amble.users import Utility

TABLE = "1=1,.5;2=3,1"
WORTHS = {1: [1, 0.5], 2: [3, 1]}


def by_table(worths: dict[int, list[float]]) -> Callable[[int, float], float]:
    return lambda k, y: worths[int(y)][min(k, len(worths[int(y)])) - 1] if y else 0.0


def value(text: str, grades: list[float], **context: object) -> float:
    return amble.parse(text).value(grades, **context)


def paths(p: list[float], q: list[float], longest: int) -> Iterator[tuple[list[int], float]]:
    """Every path from the first rank to a stop, and its probability, up to so many visits."""
    growing = [([0], 1.0)]
    while growing:
        path, probability = growing.pop()
        i = path[-1]
        yield path, probability * (1 - p[i] - q[i])
        if len(path) < longest:
            growing += [([*path, j], probability * step) for j, step in ((i + 1, p[i]), (i - 1, q[i])) if step]


# ---- by hand


def test_a_table_by_hand() -> None:
    # rank 1: forward 1/2, stop 1/2; rank 2: back 1/4, stop 3/4. Rank 2 is reached with 1/2, both are returned to with
    # 1/8. A document of grade 2: 3 + 1 (1/8 + 1/64 + ...) = 3 + 1/7; of grade 1: 1 + 1/2 x 1/7.
    # E[T] = 3 + 1/7 + 1/2 (1 + 1/14) = 103/28 and E[H] = (1 + 1/2) 8/7 = 12/7
    found = value(f"PH(first='stop',order=2,utility='{TABLE}')", [2, 1])
    assert found == pytest.approx(103 / 28 / (12 / 7), abs=1e-15)
    # the other way round: 1 + 1/14 + 1/2 (3 + 1/7) = 74/28
    assert value(f"PH(first='stop',order=2,utility='{TABLE}')", [1, 2]) == pytest.approx(74 / 48, abs=1e-15)
    # order 1 where H is 1, 3, 5, ... at rank 1 and 2, 4, ... at rank 2: P(H = 2j + 1) = 1/2 x 8^-j, P(H = 2j + 2) =
    # 3/8 x 8^-j; T is 3 + j, and after one visit more to rank 2 another 1 + j/2
    want = sum(0.5 * 8.0**-j * (3 + j + (0.5 + j / 2 if j else 0)) / (2 * j + 1) for j in range(40))
    want += sum(0.375 * 8.0**-j * (3 + j + 1 + j / 2) / (2 * j + 2) for j in range(40))
    assert value(f"PH(first='stop',utility='{TABLE}')", [2, 1]) == pytest.approx(want, abs=1e-14)


def test_shares_by_hand() -> None:
    # as above: 1 + 1/2 x 1/7 at rank 1, of gain 1, and half of it at rank 2
    assert value("PH(first='stop',order=2,utility='1,0.5')", [1, 0]) == pytest.approx((15 / 14) / (12 / 7), abs=1e-15)
    assert value("PH(first='stop',order=2,utility='1,0.5')", [0, 1]) == pytest.approx((15 / 28) / (12 / 7), abs=1e-15)
    # shares of the gain, whatever it is: 3 x 15/14 + 2 x 15/28
    both = value("PH(first='stop',order=2,utility='1,0.5',gains='linear')", [3, 2])
    assert both == pytest.approx((60 / 14) / (12 / 7), abs=1e-15)
    # the first visit may be worth less than the gain: .5 (1 + 1/7)
    assert value("PH(first='stop',order=2,utility='.5')", [1, 0]) == pytest.approx((4 / 7) / (12 / 7), abs=1e-15)


def test_grades_with_one_worth_at_first() -> None:
    # what is seen again is worth nothing at grade 1, and all of it at grade 2: 1, and 1 + 1/7
    once = value("PH(first='stop',order=2,utility='1=1,0;2=1')", [1, 0])
    every = value("PH(first='stop',order=2,utility='1=1,0;2=1')", [2, 0])
    assert (once, every) == (pytest.approx(7 / 12, abs=1e-15), pytest.approx(8 / 12, abs=1e-15))


def test_grades_that_are_not_in_the_table() -> None:
    # as p and q by grade: those of the next lower one; below the lowest, nothing
    m = amble.parse("PH(utility='1=1,.5;3=4')")
    assert m.value([2, 5, 0.5]) == m.value([1, 3, 0])
    assert m.value([nan, 3, -1]) == m.value([0, 3, 0])
    assert amble.parse("PH(utility='2=3,1')").value([1, 1]) == 0
    assert m.value([2.5]) == pytest.approx(m.value([1]), abs=0)


# ---- against other ways


def test_every_path() -> None:
    p, q, grades = [0.1, 0.05, 0.1, 0.0], [0.0, 0.1, 0.05, 0.15], [2, 0, 1, 2]
    worths = {1: [1, 0.5], 2: [3, 3, 0.25]}
    efforts = {"h": float, "h^2": lambda h: h**2, "log": lambda h: np.log2(h + 1)}
    found = []  # probability, T and H; of 18 visits one in .15^18 paths are made, or fewer
    for path, probability in paths(p, q, 18):
        visits = [path[: n + 1].count(i) for n, i in enumerate(path)]
        t = sum(by_table(worths)(k, grades[i]) for k, i in zip(visits, path, strict=True))
        found.append((probability, t, len(path)))
    for effort, f in efforts.items():
        m = PH(p=[0.1, 0.05, 0.1], q=[0.0, 0.1, 0.05, 0.15], utility=worths, effort=effort)
        assert m.value(grades) == pytest.approx(sum(x * t / f(h) for x, t, h in found), abs=1e-13)
        mean = sum(x * t for x, t, _ in found) / sum(x * f(h) for x, _, h in found)
        assert m(order=2).value(grades) == pytest.approx(mean, abs=1e-12)


@examples(20)
@given(
    st.lists(st.sampled_from([0, 0, 1, 2]), min_size=1, max_size=9),
    st.floats(0.1, 0.6),
    st.floats(0, 0.35),
    st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=4), min_size=2, max_size=2),
    st.sampled_from(["h", "h+2", "sqrt"]),
)
def test_tables_step_by_step(grades: list[int], p: float, q: float, rows: list[list[int]], effort: str) -> None:
    worths = {y: [float(x) for x in sorted(row, reverse=True)] for y, row in enumerate(rows, 1)}
    f: dict[str, Callable[[int], float]] = {"h": float, "h+2": lambda h: h + 2.0, "sqrt": lambda h: h**0.5}
    want = reference.expect(*reference.chain(p, q, len(grades)), grades, by_table(worths), f[effort])
    m = PH(p=p, q=q, utility=worths, effort=effort)
    assert m.value(grades) == pytest.approx(want.order1, abs=1e-11)
    assert m(order=2).value(grades) == pytest.approx(want.order2, abs=1e-11)
    looking = PH(p={0: p}, q={0: q}, utility=worths, effort=effort)  # the same, by the way of those who look
    assert looking.value(grades) == pytest.approx(want.order1, abs=1e-11)


def test_a_table_that_is_a_loss() -> None:
    # g(k, y) = y (1 - loss)^(k - 1), spelled out for 60 visits
    worths = {y: [y * 0.5**k for k in range(60)] for y in (1, 2, 3)}
    for order in (1, 2):
        spelled, loss = PH(utility=worths, order=order), PH(loss=0.5, gains="linear", order=order)
        assert spelled.value([3, 2, 3, 0, 1]) == pytest.approx(loss.value([3, 2, 3, 0, 1]), abs=1e-13)
    as_function = PH(utility=lambda k, y: y * 0.5 ** (k - 1), gains="linear")
    assert as_function.value([3, 2, 3, 0, 1]) == pytest.approx(
        PH(loss=0.5, gains="linear").value([3, 2, 3, 0, 1]), abs=1e-13
    )


@pytest.mark.parametrize("text", [f"PH(utility='{TABLE}')", f"PH(utility='{TABLE}',order=2,effort='log')"])
def test_many_lists_as_each_alone(text: str) -> None:
    rng = np.random.default_rng(3)
    lists = {f"t{i}": rng.integers(-1, 4, rng.integers(1, 30)).tolist() for i in range(40)}
    qrels = {t: {f"d{j}": g for j, g in enumerate(grades) if g >= 0} for t, grades in lists.items()}
    run = {t: {f"d{j}": -float(j) for j in range(len(grades))} for t, grades in lists.items()}
    for m in (amble.parse(text), amble.parse(text)(p="0=0.5,2=0.3"), amble.parse(text)(end="endless")):
        scores = amble.evaluate(qrels, {"x": run}, [m])
        for t, found in zip(scores.topics, scores["x", m.label], strict=True):
            assert found == pytest.approx(m.value([nan if g < 0 else g for g in lists[t]], max_grade=3), abs=1e-13)


def test_tied_documents() -> None:
    # two of grade 1 and 2 tied at ranks 1 and 2: the mean of both orders
    m = amble.parse(f"PH(utility='{TABLE}')")
    rankings = amble.align({"1": {"a": 2, "b": 1}}, {"x": {"1": {"a": 1.0, "b": 1.0, "c": 0.5}}}, ties="expected")
    found = m.scores(Lists.of_rankings(rankings))[0]
    assert found == pytest.approx((m.value([2, 1, 0]) + m.value([1, 2, 0])) / 2, abs=1e-14)


def test_simulated_readers_are_paid_by_the_table() -> None:
    m = PH(utility=WORTHS)
    found = amble.simulate(m, [2, 0, 1, 2], users=40_000, seed=5)
    assert abs(found.mean - m.value([2, 0, 1, 2])) < 4 * found.standard_error
    assert abs(found.order2 - m(order=2).value([2, 0, 1, 2])) < 4 * found.order2_error


def test_a_second_a_visit() -> None:
    for order in (1, 2):
        m = PH(utility=WORTHS, order=order)
        timed = m(effort="time", seconds=1, timing="fixed")
        assert timed.value([2, 0, 1, 2]) == pytest.approx(m.value([2, 0, 1, 2]), abs=1e-11)


def test_what_the_unjudged_could_be_worth() -> None:
    m = amble.parse(f"PH(end='endless',utility='{TABLE}')")
    assert m.interval([2, nan, 0], max_grade=2)[1] == pytest.approx(m.value([2, 2, 0] + [2] * 200), abs=1e-11)


# ---- as a value


@pytest.mark.parametrize(
    ("given_as", "shown"),
    [
        ("1,.50,0.1", "1,0.5,0.1"),
        ([1, 0.5], "1,0.5"),
        (np.array([1, 0.5]), "1,0.5"),
        ("1", "1"),
        (" 2 = 3, 1.0 ; 1 = 1,.5", "1=1,0.5;2=3,1"),
        ("1=1e0,5e-1", "1=1,0.5"),
        (WORTHS, "1=1,0.5;2=3,1"),
        ({0: [0], 1.5: (2, 1)}, "0=0;1.5=2,1"),
        (Utility(table=WORTHS), "1=1,0.5;2=3,1"),
        (Utility(visits=[1, 0.5]), "1,0.5"),
    ],
)
def test_what_it_is_shown_as(given_as: Any, shown: str) -> None:
    m = PH(utility=given_as)
    assert str(m) == f"PH(utility='{shown}')"
    for other in (amble.parse(str(m)), pickle.loads(pickle.dumps(m)), m.with_value("utility", shown)):
        assert (other, other.values["utility"]) == (m, m.values["utility"])
        assert hash(other.values["utility"]) == hash(m.values["utility"])
        assert other.value([1, 0, 2]) == m.value([1, 0, 2])
    with pytest.raises(AttributeError, match="does not change"):
        m.values["utility"].loss = 0.5


def test_what_no_text_can_spell() -> None:
    function, loss = PH(utility=lambda k, y: y / k), PH(utility=Utility(0.5))
    assert str(function).startswith("PH(utility=<utility:")
    assert str(loss) == str(PH(utility=Utility(0.5))) != str(PH(utility=Utility(0.4)))
    assert loss.value([1, 0, 1]) == PH(loss=0.5).value([1, 0, 1])
    with pytest.raises(amble.MeasureError, match="no text can spell"):
        amble.parse(str(function))


def test_a_file(tmp_path: Path) -> None:
    file = tmp_path / "worth.txt"
    file.write_text("# by grade\n2=3,1\n\n1=1,.5\r\n", "utf-8")
    m = amble.parse(f"PH(utility='{file}',order=2)")
    assert m == amble.parse(f"PH(utility='{TABLE}',order=2)") == PH(utility=file, order=2)
    assert m.value([2, 1, 0]) == value(f"PH(utility='{TABLE}',order=2)", [2, 1, 0])


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("1=1\n2=x\n", "worth.txt:2: found '2=x', expected a grade and what its visits are worth, as in 1=1,0.5"),
        ("1=1\n2 3,1\n", "worth.txt:2: found '2 3,1', expected a grade"),
        ("1,0.5\n", "worth.txt:1: found '1,0.5', expected a grade"),
        ("1=1\n1=2\n", "worth.txt:2: found '1=2', expected a grade"),
        ("1=1,\n", "worth.txt:1: found '1=1,', expected a grade"),
        ("1=1\n\n2=1,2\n", r"worth.txt:3: utility g\(2, 2\) = 2 is more than g\(1, 2\) = 1; it must not rise"),
        ("0=1\n", r"worth.txt:1: utility g\(1, 0\) is 1, expected 0"),
        ("# none\n", "worth.txt: no lines, expected a grade"),
        (None, "worth.txt: no such file"),
    ],
)
def test_files_that_are_none(lines: str | None, message: str, tmp_path: Path) -> None:
    if lines is not None:
        (tmp_path / "worth.txt").write_text(lines, "utf-8")
    with pytest.raises(amble.MeasureError, match=message) as error:
        amble.parse(f"PH(utility='{tmp_path / 'worth.txt'}')")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("PH(utility='')", "utility='' is not allowed, expected a string of the shares"),
        ("PH(utility='1=1;')", "is not allowed"),
        ("PH(utility='1=1;1=2')", "is not allowed"),
        ("PH(utility='1=')", "is not allowed"),
        ("PH(utility='1;2')", "is not allowed"),
        ("PH(utility=2)", "utility=2 is not allowed"),
        ("PH(utility='1=1,2')", r"g\(2, 1\) = 2 is more than g\(1, 1\) = 1; it must not rise with the visits"),
        ("PH(utility='1=-1')", r"g\(1, 1\) is -1, expected a finite number, at least 0"),
        ("PH(utility='-1=1')", r"g\(1, 0\) is 1, expected 0: what gains nothing is worth nothing"),
        ("PH(utility='1=1',rel=2)", "rel and utility: expected one of them"),
        ("PH(utility='1=1',gains='linear')", "gains and utility: expected one of them"),
        ("PH(utility='1=1',loss=0.25)", "loss and utility: expected one of them"),
        ("PH(model='AP',utility='1=1')", "has no effect with model='AP'"),
        ("PH(visits='1,0.5')", r"PH has no parameter visits, expected .*; did you mean utility\?"),
        ("PH(utility='high')", "utility='high': high: no such file"),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    with pytest.raises(amble.MeasureError, match=message) as error:
        amble.parse(text)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("table", [{}, {"a": [1]}, {1: []}, {1: ["x"]}, {nan: [1]}, {1: 2}, [1]])
def test_no_tables(table: Any) -> None:
    with pytest.raises(amble.MeasureError, match="utility by table"):
        Utility(table=table)


def test_an_observed_path() -> None:
    # Ferrante and Ferro (2020), Example 4.1, half of the utility lost at any visit: (3 + 2 + 1.5 + 1 + 3) / 5
    m = amble.parse("PH(utility='1=1,.5,.25;2=2,1,.5;3=3,1.5,.75')")
    assert m.score_path([1, 2, 1, 2, 3], [3, 2, 3, 0, 1]) == pytest.approx(2.1, abs=1e-15)


def test_distributions_are_exact_where_nothing_fades_or_nobody_goes_back() -> None:
    # constant rows are gains of 1 and 3 that are kept; rows of one visit are gains that count once
    for table, same in (("1=1;2=3", "loss=0"), ("1=1,0;2=3,0", "loss=1")):
        found = amble.parse(f"PH(utility='{table}')").distribution([1, 0, 2])
        kept = amble.parse(f"PH({same},gains='1=1,2=3')").distribution([1, 0, 2])
        assert found.users is None
        assert found.distance(kept) < 1e-14
        assert found.mean == pytest.approx(amble.parse(f"PH(utility='{table}')").value([1, 0, 2]), rel=1e-13)
    # without steps back nobody comes twice: 1/2 stop with 1/1, 1/4 with 1/2, 1/4 with 2/3
    found = amble.parse("PH(q=0)").distribution([1, 0, 1])
    assert found.users is None
    assert dict(zip(found.values.tolist(), found.probs.tolist(), strict=True)) == {0.5: 0.25, 2 / 3: 0.25, 1.0: 0.5}
