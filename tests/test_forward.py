"""Forward users: any one of C, V, L, W gives the others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import amble
from amble.errors import MeasureError
from amble.measures import REGISTRY, measure
from amble.users import tails
from amble.users.forward import Forward
from amble.users.tails import Geometric, InversePower, trigamma


def test_by_hand() -> None:
    # C = 1/2, 1/2, 0: V = 1, 1/2, 1/4; L = 1/2, 1/4, 1/4; sum V = 7/4; W = 4/7, 2/7, 1/7
    user = Forward(continuation=0.5).over(3)
    assert user.visits.tolist() == [1, 0.5, 0.25]
    assert user.last.tolist() == [0.5, 0.25, 0.25]
    assert user.weights.tolist() == pytest.approx([4 / 7, 2 / 7, 1 / 7])
    assert user.expected_depth == 1.75
    assert user.residual(1) == pytest.approx(3 / 7)
    assert user.residual(9) == 0


@given(st.lists(st.floats(0.01, 1), min_size=1, max_size=10))
def test_each_gives_the_others(probabilities: list[float]) -> None:
    c = np.array(probabilities)
    c[-1] = 0.0
    one = Forward(continuation=c).over(c.size)
    for kind in ("visits", "last", "weights"):
        other = Forward(**{kind: getattr(one, kind)}).over(c.size)
        np.testing.assert_allclose(other.continuation, one.continuation, atol=1e-9)
        np.testing.assert_allclose(other.visits, one.visits, atol=1e-12)


def test_endless() -> None:
    # 1 + p + p^2 + ... = 1 / (1 - p); beyond rank k she gives p^k of her attention
    user = Forward(continuation=0.9, beyond="endless").over(4)
    assert user.expected_depth == pytest.approx(10, abs=1e-12)
    for k in (0, 1, 4, 7, 100):
        assert user.residual(k) == pytest.approx(0.9**k, abs=1e-12)
    ranks, stops = Geometric(0.9).stops(user.beyond, 4)
    assert ranks[0] == 5
    assert user.last.sum() + stops.sum() == pytest.approx(1, abs=1e-12)


def test_trigamma() -> None:
    from scipy.special import polygamma

    x = np.concatenate((np.linspace(0.01, 12, 500), np.geomspace(12, 1e6, 50)))
    np.testing.assert_allclose(trigamma(x), polygamma(1, x), rtol=2e-15)


@pytest.mark.parametrize("shift", [-0.5, 0.0, 1.0, 7.3])
def test_inverse_square(shift: float) -> None:
    # V(i) = ((1 + s) / (i + s))^2, so sum V = (1 + s)^2 trigamma(1 + s): here as a long sum and an integral
    user = Forward(shift=shift, beyond="endless").over(3)
    i = np.arange(1, 2_000_001)
    brute = ((1 + shift) / (i + shift)) ** 2
    rest = (1 + shift) ** 2 / (i[-1] + shift + 0.5)
    assert user.expected_depth == pytest.approx(brute.sum() + rest, rel=1e-12)
    assert user.residual(50) == pytest.approx((brute[50:].sum() + rest) / (brute.sum() + rest), rel=1e-11)
    ranks, stops = InversePower(shift).stops(user.beyond, 3)
    assert user.last.sum() + stops.sum() == pytest.approx(1, abs=1e-12)
    exact = (brute[3:-1] - brute[4:]) @ (1 / i[3:-1])
    assert stops @ (1 / ranks) == pytest.approx(exact, abs=1e-12)
    known = tails._far_rank.cache_info().hits
    assert (InversePower(shift).stops(0.5, 3)[0] == ranks).all()  # the same for all lists of a length
    assert tails._far_rank.cache_info().hits == known + 1


def test_depth() -> None:
    user = Forward(continuation=1.0, depth=3).over(2)
    assert user.last.tolist() == [0, 0, 1]
    assert Forward(continuation=1.0, depth=2).over(5).visits.tolist() == [1, 1, 0, 0, 0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "found 0 of them"),
        ({"continuation": 0.5, "last": 0.5}, "found 2 of them"),
        ({"continuation": 1.5}, "after rank 1 is 1.5, expected 0 to 1"),
        ({"weights": np.array([0.2, 0.8])}, "after rank 1 is 4, expected 0 to 1"),
        ({"last": np.array([0.8, 0.8, 0.1])}, "does not give a probability"),
    ],
)
def test_no_user(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(amble.MeasureError, match=message):
        Forward(**arguments).over(3 if len(arguments) < 2 and "last" in arguments else 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"continuation": 0.5, "beyond": "x"}, "beyond='x'"),
        ({"continuation": 0.5, "depth": 0}, "depth=0"),
        ({"continuation": 1.0, "beyond": "endless"}, "never stops"),
        ({"continuation": np.array([0.5, np.nan, 0.5])}, "does not give a probability|is nan"),
        ({"weights": np.zeros(3)}, "does not give a probability"),
        ({"visits": np.array([1.0, 0.5]), "beyond": "endless"}, "no closed form"),
    ],
)
def test_impossible_users(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(amble.MeasureError, match=message), np.errstate(invalid="ignore", divide="ignore"):
        Forward(**arguments).over(3)


def test_residual_of_no_rank() -> None:
    with pytest.raises(amble.MeasureError, match="residual"):
        Forward(continuation=0.5).over(3).residual(-1)


def test_visits_must_not_rise_anywhere() -> None:
    """Users who look are followed some ranks at a time; the first stretch ends at rank 64."""

    @measure("Rising", question="order2")
    def rising(gain: Any, rank: Any) -> Forward:
        """Looks twice as often from rank 65 on."""
        return Forward(visits=np.where(rank > 64, 2.0, 1.0) + 0.0 * gain)

    try:
        with pytest.raises(MeasureError, match="visits must be numbers that do not rise with the rank"):
            amble.parse("Rising").value([1, 0, 1] * 30)
        assert amble.parse("Rising").value([1, 0] * 20) == 0.5
    finally:
        del REGISTRY["Rising"]
