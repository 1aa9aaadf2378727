"""Measures and their readers: what a declaration may return, what is divided by what, and what is refused."""

from __future__ import annotations

import pickle
import types
from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np
import pytest

import amble
from amble.measures import REGISTRY, Between, Forward, Lists, Walk, measure
from amble.measures.residuals import bounds, list_residuals
from amble.users import DenseUser, Question, User, Utility
from amble.users.protocol import ANSWERS


@pytest.fixture(autouse=True)
def registry() -> Iterator[None]:
    """The measures as they were, after each test."""
    before = dict(REGISTRY)
    yield
    REGISTRY.clear()
    REGISTRY.update(before)


def declare(name: str, user: Any, **options: Any) -> amble.measures.ListMeasure:
    @measure(name, **options)
    def declared() -> Any:
        """One of one's own."""
        return user

    found = amble.parse(name)
    assert isinstance(found, amble.measures.ListMeasure)
    return found


def test_every_kind_of_user_has_all_answers() -> None:
    named = {name for name in vars(User) if not name.startswith("_")} | {"scores"}
    assert named == set(ANSWERS)
    for text in ("RBP", "INST", "PH", "MP", "AP"):
        assert all(hasattr(amble.parse(text).one_user, name) for name in named - {"looking"}), text  # type: ignore[attr-defined]


# ---- what is divided by what


def test_any_user_may_be_divided_by_the_ideal_list() -> None:
    # V is 1, .5, .25, ... and sums to 2; 0 1 gives .5 / 2, the ideal list 1 / 2
    m = declare("Half", Forward(continuation=0.5, beyond="endless"), question="order2", norm="ideal")
    assert m.value([0, 1]) == pytest.approx(0.5, abs=1e-15)
    assert m.distribution([1]).values[-1] == pytest.approx(2.0)  # who stops at once has 1 / 1, the ideal list 1/2


def test_residuals_of_what_is_divided_stay_within_its_bounds() -> None:
    for norm in ("ideal", "relevant"):
        m = declare(f"Norm{norm}", Forward(continuation=0.8, beyond="endless"), question="order2", norm=norm)
        low, high = m.interval([1, float("nan")])
        assert 0 <= low <= high <= 1 + 1e-12


def test_simulated_users_are_divided_as_exact_ones() -> None:
    m = declare("Lossy", Walk(0.5, 0.2, utility=Utility(loss=0.5)), question="order1", norm="relevant")
    with pytest.warns(amble.SimulationWarning):
        found = m.distribution([1, 0, 1, 1], users=20_000)
    assert abs(found.mean - m.value([1, 0, 1, 1])) < 5 * found.standard_error


def test_two_users_of_one_name_have_ideal_lists_of_their_own() -> None:
    lists = Lists.of_grades([0, 1, 1])
    scores = []
    for p in (0.5, 0.1):
        m = declare("Twice", Forward(continuation=p), question="total", norm="ideal")
        scores.append(float(m.scores(lists)[0]))
    # (p + p^2) / (1 + p) = p
    assert scores == pytest.approx([0.5, 0.1], abs=1e-15)


def test_which_scores_are_bounded_by_their_residuals() -> None:
    bounded = {"P", "RR", "DCG", "ERR", "RBP", "Success", "SDCG", "GRBP", "INSQ", "INST", "CWL", "TBG", "U"}
    bounded |= {"RBAP", "NERR8", "NERR9", "NERR10", "NERR11", "PH"}
    lists = {name for name, d in REGISTRY.items() if not d.of_sessions}
    assert {name for name in lists if bounds(amble.parse(name))} == bounded  # type: ignore[arg-type]
    # the gain of this user beyond the list is not known, and nobody says that it is
    m = declare("Far", Forward(continuation=0.8, beyond="endless"), question="total")
    assert not bounds(m)
    assert list_residuals(m, Lists.of_grades([1]))[0] == 0
    # the weights that E[T/H] gives to the ranks sum to 1: if all beyond rank 1 gains the most, nothing is lost
    m = declare("Far", Forward(continuation=0.8, beyond="endless"), question="order1")
    assert bounds(m)
    assert list_residuals(m, Lists.of_grades([1]))[0] == pytest.approx(1 - m.value([1]), rel=1e-14)


# ---- measures are values


def test_parameters_of_a_measure_do_not_change() -> None:
    m = amble.parse("RBP(p=0.9)")
    with pytest.raises(TypeError):
        m.values["p"] = 0.5  # type: ignore[index]
    m.value([1, 0, 1])
    again = pickle.loads(pickle.dumps(m))
    assert (again, again.label, again.value([1, 0, 1])) == (m, m.label, m.value([1, 0, 1]))


def test_functions_that_look_up_other_numbers_are_other_measures() -> None:
    def times(weight: float) -> Any:
        made = types.FunctionType((lambda h: h * w).__code__, {"w": weight})  # type: ignore[name-defined]  # noqa: F821
        return amble.measures.PH(effort=made)

    assert times(1.0) == times(1.0) != times(5.0)
    assert times(1.0).value([1]) == pytest.approx(5 * times(5.0).value([1]))


# ---- what is refused


class Never(DenseUser):
    """Goes round and round."""

    def transitions(self, gains: Any, i: int) -> Any:
        n = gains.by_rank(i).size
        return np.roll(np.eye(n), 1, axis=1), np.eye(n)[0]


class Short(DenseUser):
    """Knows two ranks."""

    def transitions(self, gains: Any, i: int) -> Any:
        return np.zeros((2, 2)), np.eye(2)[0]


class Leaves(DenseUser):
    """Leaves with more than there are."""

    def transitions(self, gains: Any, i: int) -> Any:
        return np.zeros((3, 3)), np.eye(3)[0]

    def leaving(self, gains: Any, i: int) -> Any:
        return np.array([2.0, -1.0, 0.0])


class OnlyScores:
    """Is no user."""

    def scores(self, question: Question, gains: Any) -> Any:
        return np.zeros(gains.lists.n)


@pytest.mark.parametrize(
    ("user", "message"),
    [
        (Never(), "never stop"),
        (Short(), "transitions of 2 ranks, expected the list's 3 or more"),
        (Leaves(), "leaving: expected shares"),
        (OnlyScores(), "expected a user, such as Forward: it has no check"),
        (3, "its function returned 3, expected a user"),
    ],
)
def test_users_that_will_not_do(user: Any, message: str) -> None:
    m = declare("Mine", user, question="order2")
    for ask in (m.value, m.distribution, m.interval):
        with pytest.raises(amble.MeasureError, match=message):
            ask([1, 0, 1])


def test_declarations_that_will_not_do() -> None:
    for options, message in (
        ({"question": "order2", "norm": "foo"}, "norm='foo'"),
        ({"question": "order2", "stops": "foo"}, "stops='foo'"),
        ({"question": "order3"}, "question 'order3', expected one of order1"),
    ):
        with pytest.raises(amble.MeasureError, match=message):
            declare("Wrong", Forward(continuation=0.5), **options)
    with pytest.raises(amble.MeasureError, match="sees nothing else, and has no norm"):

        @measure("Normed", norm="ideal")
        def normed(gains: Any) -> Any:
            """Divided by what?"""
            return gains.found

    with pytest.raises(amble.MeasureError, match="sees nothing else"):

        @measure("Mixed")
        def mixed(gains: Any, rank: Any) -> Any:
            """Sees too much."""
            return gains.found


def test_a_variant_that_fails() -> None:
    @measure("Odd", question="order2", variant=lambda *given: 3)
    def odd(p: Annotated[float, Between(0, 1), "p"] = 0.5) -> Forward:
        """Has an odd variant."""
        return Forward(continuation=p)

    with pytest.raises(amble.MeasureError, match="its variant failed with TypeError"):
        amble.parse("Odd")


def test_numbers_beyond_all_bounds() -> None:
    with pytest.raises(amble.MeasureError, match="nDCG@"):
        amble.measures.nDCG @ 10**400
    with pytest.raises(amble.MeasureError, match="expected Beta"):
        amble.measures.Beta("a", 2)  # type: ignore[arg-type]
    with pytest.raises(amble.MeasureError, match="'P_5@10', read as 'P@5@10'"):
        amble.parse("P_5@10")
