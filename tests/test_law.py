"""Laws: moments, quantiles, dominance."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import amble
from amble import Law


def test_by_hand() -> None:
    # values 0, 1/2, 1 with 1/4, 1/4, 1/2: mean 5/8, E[x^2] = 1/16 + 1/2 = 9/16, var 9/16 - 25/64 = 11/64
    law = Law([1, 0.5, 0, 1], [0.25, 0.25, 0.25, 0.25])
    assert law.values.tolist() == [0, 0.5, 1]
    assert law.probs.tolist() == [0.25, 0.25, 0.5]
    assert law.mean == 5 / 8
    assert law.var == pytest.approx(11 / 64)
    assert law.cdf([-1, 0, 0.4, 0.5, 2]).tolist() == [0, 0.25, 0.25, 0.5, 1]
    assert law.quantile([0, 0.25, 0.26, 0.5, 0.51, 1]).tolist() == [0, 0, 0.5, 0.5, 1, 1]
    assert law.band == 0


def test_dominance() -> None:
    low, high = Law([0, 1], [0.5, 0.5]), Law([0, 1], [0.4, 0.6])
    middle = Law([0.5], [1.0])
    assert low.compare(high) == "less"
    assert high.compare(low) == "greater"
    assert low.compare(Law([1, 0], [0.5, 0.5])) == "equal"
    assert low.compare(middle) == middle.compare(low) == "incomparable"
    assert low.distance(high) == pytest.approx(0.1)


def test_band() -> None:
    # Dvoretzky-Kiefer-Wolfowitz: sqrt(ln(2 / .05) / (2 n)) with n = 1000
    assert Law([1], [1], users=1000).band == pytest.approx(np.sqrt(np.log(40) / 2000))


@pytest.mark.parametrize(
    ("values", "probs", "message"),
    [
        ([], [], "as many values as probabilities"),
        ([1], [0.5, 0.5], "as many values as probabilities"),
        ([1, 2], [0.5, 0.6], "sum to 1, found 1.1"),
        ([1, 2], [1.5, -0.5], "non-negative"),
        ([np.nan], [1], "must be finite"),
    ],
)
def test_no_law(values: list[float], probs: list[float], message: str) -> None:
    with pytest.raises(amble.MeasureError, match=message):
        Law(values, probs)


def test_quantile_outside() -> None:
    with pytest.raises(amble.MeasureError, match="between 0 and 1"):
        Law([1], [1]).quantile(1.5)


@given(st.lists(st.tuples(st.integers(-5, 5), st.integers(1, 9)), min_size=1, max_size=8))
def test_against_a_sample(atoms: list[tuple[int, int]]) -> None:
    sample = np.repeat([v for v, _ in atoms], [n for _, n in atoms])
    law = Law([v for v, _ in atoms], [n / sample.size for _, n in atoms])
    assert law.mean == pytest.approx(sample.mean(), abs=1e-12)
    assert law.var == pytest.approx(sample.var(), abs=1e-10)
    for x in range(-6, 7):
        assert law.cdf(x) == pytest.approx((sample <= x).mean(), abs=1e-12)
    for u in (0.1, 0.5, 0.9, 1.0):
        assert law.quantile(u) == np.quantile(sample, u, method="inverted_cdf")


def test_simulation_is_seeded_and_pure() -> None:
    grades = [1, 0, 2, np.nan]
    before = list(grades)
    one, two = (amble.simulate("ERR", grades, users=5000, seed=3) for _ in range(2))
    assert one.values.tolist() == two.values.tolist()
    assert one.probs.tolist() == two.probs.tolist()
    assert grades[:3] == before[:3]
    assert amble.simulate("ERR", grades, users=5000, seed=4).probs.tolist() != one.probs.tolist()
    with pytest.raises(amble.MeasureError, match="users=0"):
        amble.simulate("AP", [1], users=0)
    with pytest.raises(amble.MeasureError, match="bpref is not a user"):
        amble.simulate("bpref", [1])
