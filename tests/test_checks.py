"""Checks of arguments: what passes, as what, and what the messages say."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import amble
from amble import checks
from amble.errors import AlignError, AmbleError, MeasureError, ReadError

KINDS = st.sampled_from([AmbleError, AlignError, MeasureError, ReadError])
INTS = st.integers() | st.integers(-128, 127).map(np.int8) | st.integers(0, 9).map(np.uint64)
REALS = st.floats() | st.floats(width=32).map(np.float32) | st.floats().map(np.float64) | st.fractions()
OTHERS = (
    st.booleans() | st.none() | st.text(max_size=3) | st.complex_numbers() | st.sampled_from([np.True_, [1], "0.5"])
)
ANYTHING = INTS | REALS | OTHERS
BOUND = st.none() | st.integers(-3, 3)


def refused(check: Callable[[], Any]) -> AmbleError | None:
    """The error of a check, which has one line; None if there is none."""
    found = None
    try:
        check()
    except AmbleError as error:
        found = error
    assert len(str(found).splitlines()) == 1
    return found


def as_float(value: Any) -> float:
    """The number as a float, infinite if it is too large; NaN for what is none."""
    try:
        return float(value) if checks.is_number(value) else math.nan
    except OverflowError:
        return math.inf


def _scores() -> amble.Scores:
    return amble.evaluate(
        {"1": {"a": 1, "b": 0}}, {r: {"1": {"a": 2.0, "b": x}} for r, x in (("x", 1.0), ("y", 3.0))}, "AP"
    )


TWO, FEW = np.zeros((2, 2)), np.array([1, 2])
WRONG: list[tuple[Callable[[], Any], str]] = [
    (lambda: amble.pr_curve("q.txt", ["a.run"]), "found str, expected rankings, as align makes them"),  # type: ignore[arg-type]
    (lambda: amble.report(_scores(), title=3), "title=3: expected text"),  # type: ignore[call-overload]
    (lambda: amble.write_fit("fit.toml", None), "found NoneType, expected fitted users"),  # type: ignore[arg-type]
    (lambda: amble.compare(_scores(), rounds=10**400), "expected a whole number of at most"),
    (lambda: amble.fuse({"x": {"1": ["a"]}, "y": {"1": ["a"]}}, weights=[10**400, 1]), "expected one number per run"),
    (lambda: amble.read_fit(None), "found None, expected the path of a file"),  # type: ignore[arg-type]
    (lambda: amble.open_index(None), "found None, expected the path of a file"),  # type: ignore[arg-type]
    (lambda: amble.read_rel(None), "found None, expected the path of a file"),  # type: ignore[arg-type]
    (lambda: amble.check([None]), "found None, expected the path of a file"),  # type: ignore[list-item]
    (lambda: _scores().mean(digits=-1), "digits=-1: expected a whole number of at least 0"),
    (lambda: amble.compare(_scores(), correction=FEW), "correction=array([1, 2]): expected one of"),  # type: ignore[call-overload]
    (lambda: amble.plot(_scores(), kind=FEW), "kind=array([1, 2]): expected one of"),  # type: ignore[arg-type]
    (lambda: amble.align({}, {}, depth=TWO), "depth=array([[0., 0.], [0., 0.]]): expected"),  # type: ignore[arg-type]
    (lambda: amble.align({}, {}, ties=TWO), "ties=array([[0., 0.], [0., 0.]]): expected"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("call", "message"), WRONG)
def test_wrong_arguments_are_said_in_one_line(call: Callable[[], Any], message: str) -> None:
    assert message in str(refused(call))


@given(ANYTHING)
def test_truth_values_are_no_numbers(value: object) -> None:
    plain = not isinstance(value, bool | np.bool_)
    assert checks.is_whole(value) == (plain and isinstance(value, int | np.integer))
    assert checks.is_number(value) == (plain and isinstance(value, int | float | np.integer | np.floating | Fraction))


@given(ANYTHING, st.integers(-5, 5), st.none() | st.integers(5, 9), KINDS)
def test_whole(value: Any, least: int, most: int | None, kind: type[AmbleError]) -> None:
    error = refused(lambda: checks.whole(value, "depth", least, most, kind))
    if checks.is_whole(value) and value >= least and (most is None or value <= most):
        assert error is None
        found = checks.whole(value, "depth", least, most, kind)
        assert type(found) is int
        assert found == value
        return
    assert type(error) is kind
    many = checks.is_whole(value) and value > least
    wanted = f"at most {most}" if many else f"at least {least}"
    assert str(error) == f"depth={value!r:.60}: expected a whole number of {wanted}"


@given(ANYTHING, BOUND, BOUND, BOUND, BOUND, KINDS)
def test_number(
    value: Any, least: int | None, above: int | None, most: int | None, below: int | None, kind: type[AmbleError]
) -> None:
    def check() -> float:
        return checks.number(value, "x", least=least, above=above, most=most, below=below, kind=kind)

    error = refused(check)
    x = as_float(value)
    within = math.isfinite(x) and (least is None or x >= least) and (above is None or x > above)
    if within and (most is None or x <= most) and (below is None or x < below):
        assert error is None
        assert type(check()) is float
        assert check() == x
        return
    assert type(error) is kind
    bounds = {"of at least": least, "above": above, "at most": most, "below": below}
    words = [f"{word} {bound}" for word, bound in bounds.items() if bound is not None]
    expected = "a number " + " and ".join(words) if words else "a finite number"
    assert str(error) == f"x={value!r:.60}: expected {expected}"


@given(ANYTHING, KINDS)
def test_share(value: Any, kind: type[AmbleError]) -> None:
    error = refused(lambda: checks.share(value, "alpha", kind))
    if 0 < as_float(value) < 1:
        assert error is None
        assert checks.share(value, "alpha", kind) == as_float(value)
        return
    assert type(error) is kind
    assert str(error) == f"alpha={value!r:.60}: expected a number between 0 and 1"


@given(ANYTHING | st.sampled_from(["zero", "skip", np.str_("skip")]), st.booleans(), KINDS)
def test_one_of(value: Any, open_too: bool, kind: type[AmbleError]) -> None:
    choices = ("zero", "skip", None) if open_too else ("zero", "skip")
    error = refused(lambda: checks.one_of(value, choices, "missing", kind))
    if (isinstance(value, str) and value in ("zero", "skip")) or (value is None and open_too):
        assert error is None
        assert checks.one_of(value, choices, "missing", kind) is value
        return
    assert type(error) is kind
    assert str(error) == f"missing={value!r:.60}: expected one of 'zero', 'skip'{', None' * open_too}"


def test_what_is_long_is_cut() -> None:
    for check in (checks.whole, checks.share, checks.number):
        with pytest.raises(AmbleError, match=rf"^x={re.escape(repr('a' * 99)[:60])}: expected a "):
            check("a" * 99, "x")
    assert checks.whole(10**30, "rounds", most=None) == 10**30
    with pytest.raises(AmbleError, match="of at most 9223372036854775807"):
        checks.whole(10**30, "rounds")
    with pytest.raises(AmbleError, match="expected a finite number"):
        checks.number(10**400, "x")


def test_seed() -> None:
    assert checks.seed(2**64) == 2**64
    with pytest.raises(AmbleError, match="seed=-1: expected a whole number of at least 0"):
        checks.seed(-1)
