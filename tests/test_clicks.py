"""Users who click, expected browsing utility: by hand, by enumerating clicks, as a chain of snippets and documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

import amble
from amble.errors import MeasureError
from amble.measures import REGISTRY, measure
from amble.users import Chain
from amble.users.clicks import Clicks

Cli = Callable[..., Any]

CLICK, AFTER, WITHOUT = {0: 0.3, 1: 0.6, 2: 0.9}, {0: 0.7, 1: 0.5, 2: 0.1}, {0: 0.8, 1: 0.9}
EBU = "EBU(click='0=0.3,1=0.6,2=0.9',after='0=0.7,1=0.5,2=0.1',without='0=0.8,1=0.9')"


def lower(table: dict[int, float], grade: float) -> float:
    """The probability of a grade, or of the next lower one in the table."""
    return table[max((key for key in table if key <= grade), default=min(table))]


def ways(grades: Sequence[float], reached: float = 1.0, gained: float = 0.0) -> Iterator[tuple[float, float, int]]:
    """Every way of clicking and stopping: its probability, gain and how many documents were looked at after this."""
    grade, last = grades[0], len(grades) == 1
    for chance, more, on in (
        (lower(CLICK, grade), max(grade, 0.0), lower(AFTER, grade)),
        (1 - lower(CLICK, grade), 0.0, lower(WITHOUT, grade)),
    ):
        here, on = reached * chance, 0.0 if last else on
        yield here * (1 - on), gained + more, 1
        if not last:
            yield from ((p, t, h + 1) for p, t, h in ways(grades[1:], here * on, gained + more))


def test_by_hand() -> None:
    # grade 2, 0, 1: V is 1, C(1) = .8 x .4 + .2 x .8 = .48, and that x (.2 x .8 + .8 x .8) = .384
    user = amble.parse("EBU").user([2, 0, 1])
    assert user.continuation == pytest.approx([0.48, 0.8, 0])
    assert user.visits == pytest.approx([1, 0.48, 0.384])
    assert user.last == pytest.approx([0.52, 0.096, 0.384])
    assert amble.parse("EBU").value([2, 0, 1]) == pytest.approx(0.8 * 2 + 0.384 * 0.8 * 1, rel=1e-15)
    # a click on the first gains 2; after it .4 go on, without it .8; and the last is clicked by .8 x .8 of these
    found = amble.parse("EBU").distribution([2, 0, 1])
    both, second = 0.8 * 0.4 * 0.8 * 0.8, 0.2 * 0.8 * 0.8 * 0.8
    assert found.values.tolist() == [0, 1, 2, 3]
    assert found.probs == pytest.approx([0.2 - second, second, 0.8 - both, both], rel=1e-14)
    assert amble.parse("EBU(gains='exp')@1").value([2, 0, 1]) == pytest.approx(0.8 * 3)
    assert amble.parse("EBU").value([-1, np.nan, 2]) == amble.parse("EBU").value([0, 0, 2])


@pytest.mark.parametrize("grades", [[1], [0, 2], [2, 1, 0, 1, 2], [0, 1, 3, 0, 0, 1], [2, 2, -1, 1, 0, 0.5, 2]])
def test_by_enumeration(grades: list[float]) -> None:
    m, every = amble.parse(EBU), list(ways(grades))
    p, t, h = (np.array(x) for x in zip(*every, strict=True))
    assert p.sum() == pytest.approx(1)
    assert m.value(grades) == pytest.approx(p @ t, rel=1e-13)
    found, user = m.distribution(grades), m.user(grades)
    assert found.mean == pytest.approx(p @ t, rel=1e-13)
    assert found.var == pytest.approx(p @ t**2 - (p @ t) ** 2, rel=1e-11)
    for x in np.unique(t):
        assert found.cdf(x) == pytest.approx(p[t <= x].sum(), abs=1e-13)
    assert user.expected_depth == pytest.approx(p @ h, rel=1e-13)
    assert user.last == pytest.approx([p[h == i + 1].sum() for i in range(len(grades))], abs=1e-14)


def test_as_a_chain_of_snippets_and_documents() -> None:
    def moves(n: int, grades: Any) -> Any:  # snippet 1, document 1, snippet 2, ...
        p = np.zeros((2 * n, 2 * n))
        for i, grade in enumerate(grades):
            p[2 * i, 2 * i + 1] = lower(CLICK, grade)
            if i + 1 < n:
                p[2 * i, 2 * i + 2] = (1 - lower(CLICK, grade)) * lower(WITHOUT, grade)
                p[2 * i + 1, 2 * i + 2] = lower(AFTER, grade)
        return p

    grades = [1, 0, 2, 2, 0, 1]
    chain = Chain(moves(6, grades), rank=np.repeat(np.arange(1, 7), 2), gains=[0, 1] * 6)
    same = amble.parse("PH(gains='linear',loss=0,effort='1',order=2)")(user=chain)
    assert amble.parse(EBU).value(grades) == pytest.approx(same.value(grades), rel=1e-12)
    assert amble.parse(EBU).user(grades).visits == pytest.approx(same.user(grades).state_visits[::2], rel=1e-12)


def test_many_lists_as_one_at_a_time() -> None:
    rng = np.random.default_rng(1)
    grades = {str(t): rng.integers(0, 3, 90).tolist() for t in range(6)}
    qrels = {t: {f"d{i}": g for i, g in enumerate(row)} for t, row in grades.items()}
    runs = {"x": {t: {f"d{i}": float(-i) for i in range(int(t) * 17 + 1)} for t in grades}}
    for text in (EBU, EBU + "@7", "EBU(click=1,after=0.9)"):
        want = [amble.parse(text).value(row[: int(t) * 17 + 1]) for t, row in grades.items()]
        assert amble.evaluate(qrels, runs, text).values.ravel() == pytest.approx(want, rel=1e-13)


def test_who_always_clicks_or_never_stops() -> None:
    row = [2, 0, 1, 1]
    # all are clicked: gains x .9^(i - 1)
    assert amble.parse("EBU(click=1,after=0.9)").value(row) == pytest.approx(2 + 0.9**2 + 0.9**3)
    assert amble.parse("EBU(click=0.5,after=1,without=1)").value(row) == pytest.approx(4 / 2)
    assert amble.parse("EBU(click=0)").value(row) == 0


def test_populations() -> None:
    found = amble.parse("EBU(click=Beta(2,3),after=0.5,without=0.8)").value([1, 2])
    mean = integrate.quad(lambda c: stats.beta(2, 3).pdf(c) * (c + 2 * c * (0.5 * c + 0.8 * (1 - c))), 0, 1)[0]
    assert found == pytest.approx(mean, rel=1e-9)


def test_contributions_and_report() -> None:
    qrels = {"1": {"a": 2, "b": 0, "c": 1}}
    runs = {"x": {"1": {"a": 3.0, "b": 2.0, "c": 1.0}}, "y": {"1": {"b": 3.0, "a": 2.0, "u": 1.0}}}
    why = amble.why(qrels, runs, "1", "EBU")
    assert why.values[why.docs.index("c")] == pytest.approx([0.384 * 0.8, 0])
    found = amble.cwl(qrels, runs, "EBU")
    row = dict(zip(found.columns, found.rows[0], strict=True))
    assert (row["ETU"], row["ED"]) == (pytest.approx(1.9072), pytest.approx(1.864))
    assert row["EU"] == pytest.approx(1.9072 / 1.864)


def test_simulated_users_click_and_go_on() -> None:
    readers = amble.simulate("EBU(click='0=0,1=1',after=0,without=1)", [0, 0, 1, 1], users=20, seed=3, paths=True)
    assert [path.tolist() for path in readers.paths] == [[1, 2, 3]] * 20  # on without a click, and stop after the first
    assert readers.gain.tolist() == [1.0] * 20
    # P[click] .2 and .8, on after one .8 and .4, without one .8: three outcomes at rank 1, so T has these probabilities
    found = amble.simulate("EBU", [0, 1], users=200_000, seed=5)
    on = 0.2 * 0.8 + 0.8 * 0.8
    assert dict(zip(found.values.tolist(), found.probs.tolist(), strict=True)) == pytest.approx(
        {0.0: 1 - on * 0.8, 1.0: on * 0.8}, abs=4 * (0.25 / 200_000) ** 0.5
    )


@pytest.fixture
def restored() -> Iterator[None]:
    before = dict(REGISTRY)
    yield
    REGISTRY.clear()
    REGISTRY.update(before)


@pytest.mark.usefixtures("restored")
def test_what_is_refused() -> None:
    for text in ("EBU(click=1.5)", "EBU(after='0.1,0.2')", "EBU(without='1:0=0.5')", "EBU(click='0=2')"):
        with pytest.raises(MeasureError, match="expected a number between 0 and 1, or a string of them by grade"):
            amble.parse(text)
    with pytest.raises(MeasureError, match="nothing for grade 0"):
        amble.parse("EBU(click='1=0.3')")
    with pytest.raises(MeasureError, match="ranks do not say which documents were clicked"):
        amble.parse("EBU").score_path([1, 2], [1, 0])  # type: ignore[attr-defined]
    tied = {"x": {"1": {"a": 1.0, "b": 1.0}}}
    with pytest.raises(MeasureError, match="no closed form for ties='expected'"):
        amble.evaluate({"1": {"a": 1, "b": 0}}, tied, "EBU", ties="expected")

    @measure("Mine", question="order1")
    def mine(grade: Any) -> Clicks:
        """She clicks."""
        return Clicks(0.5, 0.5, 0.5)

    with pytest.raises(MeasureError, match="'total' or 'order2'"):
        amble.parse("Mine").value([1])


@pytest.mark.usefixtures("restored")
def test_gain_over_effort() -> None:
    @measure("Other", question="order2")
    def other(grade: Any) -> Clicks:
        """She clicks by half."""
        return Clicks(0.5 + 0.0 * grade, 0.4, 0.8)

    # E[T] / E[H], and T/H of each: the gain is that of looking, half of that of a click
    found = amble.parse("Other").distribution([0, 1])
    assert amble.parse("Other").value([0, 1]) == pytest.approx(0.6 / 1.6)
    assert dict(zip(found.values.tolist(), found.probs.tolist(), strict=True)) == pytest.approx({0.0: 0.7, 1.0: 0.3})


def test_too_many_gains_to_be_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("amble.users.clicks._MOST", 3)
    with pytest.raises(MeasureError, match="EBU: more than 3 different gains after rank 2: too many"):
        amble.parse("EBU").distribution([1, 2, 4])


def test_command_line(amble_cli: Cli) -> None:
    shown = amble_cli("user", "EBU", "--gains", "2,0,1").stdout
    assert "EBU: expected depth 1.8640, score 1.9072; over users: mean 1.9072" in shown
    done = amble_cli("distribution", "--gains", "2,0,1", "-m", "EBU", "--users", "9")
    assert done.returncode == 0  # simulated
