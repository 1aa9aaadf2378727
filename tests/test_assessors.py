"""Agreement of assessors: published figures, arithmetic by hand, and the definitions written out."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import amble
from amble.judging import agreement, cohen_kappa, krippendorff_alpha, overlap

NAN = math.nan
# Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, example C: four observers, twelve units
PUBLISHED = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
    [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
]


@pytest.mark.parametrize(("level", "value"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_krippendorffs_example(level: str, value: float) -> None:
    assert krippendorff_alpha(PUBLISHED, level) == pytest.approx(value, abs=5e-4)


def test_kappa_by_hand() -> None:
    # 20 both yes, 5 and 10 apart, 15 both no: they agree on 35 of 50; by chance on .5 x .6 + .5 x .4 = 1/2
    a = [1] * 25 + [0] * 25
    b = [1] * 20 + [0] * 5 + [1] * 10 + [0] * 15
    assert cohen_kappa(a, b) == pytest.approx((0.7 - 0.5) / (1 - 0.5))
    assert cohen_kappa(a, b, "linear") == cohen_kappa(a, b, "quadratic") == pytest.approx(0.4)  # two grades: the same


def test_weighted_kappa_by_hand() -> None:
    # grades 0 1 2 | 0 2 2: the table has 0-0, 1-2, 2-2. Observed: |1 - 2| = 1.
    # Expected, of 9 pairs / 3: 0 with 0 2 2 -> 0 + 2 + 2; 1 -> 1 + 1 + 1; 2 -> 2 + 0 + 0, together 9 / 3 = 3
    assert cohen_kappa([0, 1, 2], [0, 2, 2], "linear") == pytest.approx(1 - 1 / 3)
    # squares: 0 + 4 + 4; 1 + 1 + 1; 4, together 15 / 3 = 5
    assert cohen_kappa([0, 1, 2], [0, 2, 2], "quadratic") == pytest.approx(1 - 1 / 5)
    # a grade that nobody gave changes nothing: distances are those of the grades
    assert cohen_kappa([0, 3], [3, 3], "linear") == pytest.approx(cohen_kappa([0, 1], [1, 1], "linear"))


def distance(level: str, values: list[float], a: float, b: float) -> float:
    if level == "nominal":
        return float(a != b)
    if level == "interval":
        return (a - b) ** 2
    low, high = min(a, b), max(a, b)
    between = sum(low <= v <= high for v in values) - (values.count(low) + values.count(high)) / 2
    return between**2 if low != high else 0.0


def alpha_by_definition(rows: list[list[float]], level: str) -> float:
    """Mean disagreement of pairs within a unit, over that of all pairs of values."""
    units = [[row[u] for row in rows if not math.isnan(row[u])] for u in range(len(rows[0]))]
    units = [unit for unit in units if len(unit) > 1]
    values = [v for unit in units for v in unit]
    n = len(values)
    observed = sum(
        distance(level, values, a, b) / (len(unit) - 1) for unit in units for a, b in itertools.permutations(unit, 2)
    )
    expected = sum(distance(level, values, a, b) for a, b in itertools.permutations(values, 2))
    return 1 - (observed / n) / (expected / (n * (n - 1))) if expected else NAN


GRADES = st.sampled_from([0.0, 1.0, 2.0, 4.0, NAN])
TABLES = st.integers(1, 7).flatmap(lambda n: st.lists(st.lists(GRADES, min_size=n, max_size=n), min_size=2, max_size=4))


@given(TABLES, st.sampled_from(["nominal", "ordinal", "interval"]))
def test_alpha_by_its_definition(rows: list[list[float]], level: str) -> None:
    assert krippendorff_alpha(rows, level) == pytest.approx(alpha_by_definition(rows, level), nan_ok=True)


@given(st.lists(st.tuples(GRADES, GRADES), min_size=1, max_size=12), st.sampled_from(["none", "linear", "quadratic"]))
def test_kappa_by_its_definition(pairs: list[tuple[float, float]], weights: str) -> None:
    both = [(a, b) for a, b in pairs if not (math.isnan(a) or math.isnan(b))]
    power = {"none": 0, "linear": 1, "quadratic": 2}[weights]
    apart = lambda a, b: abs(a - b) ** power if a != b else 0.0  # noqa: E731
    observed = sum(apart(a, b) for a, b in both) / max(len(both), 1)
    expected = sum(apart(a, b) for (a, _), (_, b) in itertools.product(both, both)) / max(len(both), 1) ** 2
    value = 1 - observed / expected if expected else NAN
    a, b = zip(*pairs, strict=True)
    assert cohen_kappa(a, b, weights) == pytest.approx(value, nan_ok=True)
    assert cohen_kappa(b, a, weights) == pytest.approx(value, nan_ok=True)


def test_perfect_and_undefined() -> None:
    assert cohen_kappa([0, 1, 2], [0, 1, 2], "linear") == 1.0
    assert krippendorff_alpha([[0, 1, 2], [0, 1, 2]], "ordinal") == 1.0
    assert math.isnan(cohen_kappa([1, 1], [1, 1]))  # no disagreement is expected
    assert math.isnan(krippendorff_alpha([[1, NAN], [NAN, 1]]))
    assert math.isnan(overlap([[0], [0]]))
    assert overlap([[2, 1, NAN], [1, 2, 1]], rel=2) == 0.0


def test_agreement_of_judgments() -> None:
    one = {"1": {"a": 1, "b": 0, "c": 1, "d": 0}, "2": {"k": 1}}
    two = {"1": {"a": 1, "b": 0, "c": 0, "e": 1, "d": -1}, "3": {"m": 0}}
    table = agreement([one, two], topics=True)
    # both judged a b c, and gave a and b the same grade; relevant to both: a, to either: a c
    row = dict(zip(table.columns, table.rows[-1], strict=True))
    assert (row["topic"], row["judged"], row["common"]) == ("all", 7, 3)
    assert (row["same"], row["overlap"]) == (pytest.approx(2 / 3), 0.5)
    # probability: 2/3 x 1/3 + 1/3 x 2/3 = 4/9; (2/3 - 4/9) / (5/9)
    assert row["kappa"] == pytest.approx(0.4)
    assert [row[0] for row in table] == ["1", "2", "3", "all"]
    three = agreement([one, two, one])
    assert math.isnan(three["kappa"][0])  # type: ignore[arg-type]
    rows = [[1, 0, 1, 0, NAN, 1, NAN], [1, 0, 0, NAN, 1, NAN, 0], [1, 0, 1, 0, NAN, 1, NAN]]
    assert three["alpha"][0] == pytest.approx(alpha_by_definition(rows, "nominal"))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cohen_kappa([1], [1, 2]), "1 grades and 2 grades"),
        (lambda: cohen_kappa([1], [1], "cubic"), "weights='cubic'"),
        (lambda: cohen_kappa(["x"], [1]), "expected numbers"),
        (lambda: cohen_kappa([np.inf], [1]), "infinite"),
        (lambda: krippendorff_alpha([1, 2]), "1 dimensions"),
        (lambda: krippendorff_alpha([[1]], "ratio"), "level='ratio'"),
        (lambda: overlap([1, 2]), "1 dimensions"),
        (lambda: agreement([{"1": {"a": 1}}]), "two assessors or more"),
        (lambda: agreement({"1": {"a": 1}}), "two assessors or more"),
        (lambda: agreement([{"1": {"a": 1}}, {"1": {"b": 1}}]), "no document in common"),
    ],
)
def test_what_is_refused(call: Any, message: str) -> None:
    with pytest.raises(amble.AmbleError) as error:
        call()
    assert message in str(error.value)
