"""Maps of grades to gains (binary, graded, scaled, satisfying) and the parameters they bring to a measure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from amble.arrays import NDArray
from amble.errors import MeasureError
from amble.expressions.domains import Above, AtLeast, GainTable, OneOf, Optional, Parameter
from amble.rankings.lists import GainMap

__all__ = ["GainKind", "binary", "graded", "graded_variant", "judged", "satisfying", "scaled", "ungraded"]

Array = NDArray[np.float64]


class GainKind(NamedTuple):
    """A family of maps from grades to gains, with the parameters it brings."""

    parameters: tuple[Parameter, ...]
    make: Callable[[Mapping[str, Any]], GainMap]


def _binary(values: Mapping[str, Any]) -> GainMap:
    rel = values["rel"]
    return GainMap(("binary", rel), lambda grades, _: (grades >= rel).astype(np.float64))


def _ungraded(_: Mapping[str, Any]) -> GainMap:
    return _binary({"rel": 1})


def _exponential(grades: Array, largest: float) -> Array:
    if largest > 500:
        raise MeasureError(f"gains='exp': a grade of {largest:g} is too large to be an exponent, expected at most 500")
    return np.where(grades > 0, np.exp2(np.maximum(grades, 0.0)) - 1.0, 0.0)


def _graded(values: Mapping[str, Any]) -> GainMap:
    kind = values["gains"]
    if kind == "linear":
        return GainMap(("linear",), lambda grades, _: np.maximum(grades, 0.0))
    if kind == "exp":
        return GainMap(("exp",), _exponential)

    def gain(grades: Array, _: float) -> Array:
        out = np.maximum(grades, 0.0)
        for grade, its in kind.items():
            out[grades == grade] = its
        return out

    return GainMap(("table", kind), gain)


def _satisfying(values: Mapping[str, Any]) -> GainMap:
    most = values["max_grade"]

    def probability(grades: Array, largest: float) -> Array:
        m = largest if most is None else most
        if most is not None and largest > most:
            raise MeasureError(f"max_grade={most:g}: a grade of {largest:g} exceeds it")
        return np.asarray(np.exp2(np.maximum(grades, 0.0) - m) - np.exp2(-m))  # (2^g - 1) / 2^m, without overflow

    return GainMap(("satisfying", most), probability)


def _scaled(values: Mapping[str, Any]) -> GainMap:
    most = values["max_grade"]

    def share(grades: Array, largest: float) -> Array:
        m = largest if most is None else most
        if grades.size and float(grades.max()) > m:
            raise MeasureError(f"max_grade={m:g}: a grade of {float(grades.max()):g} exceeds it")
        return np.asarray(np.maximum(grades, 0.0) / m) if m > 0 else np.zeros(grades.shape)

    return GainMap(("scaled", most), share)


binary = GainKind((Parameter("rel", 1, AtLeast(0, smooth=False), "the least grade that is relevant"),), _binary)
ungraded = GainKind((), _ungraded)  # where grades do not matter
graded = GainKind((Parameter("gains", "linear", GainTable(), "how a grade becomes a gain"),), _graded)
scaled = GainKind(
    (
        Parameter(
            "max_grade", None, Optional(Above(0)), "the grade whose gain is 1; None: the largest of the judgments"
        ),
    ),
    _scaled,
)
judged = GainKind(  # what `graded_variant` makes of a measure is binary or scaled
    (
        *binary.parameters,
        Parameter(
            "gains", None, Optional(OneOf("scaled")), "instead of rel: 'scaled', grade / max_grade; None: 1 if relevant"
        ),
        *scaled.parameters,
    ),
    _binary,
)
satisfying = GainKind(
    (Parameter("max_grade", None, Optional(AtLeast(0)), "the largest grade there is; None: of all the judgments"),),
    _satisfying,
)


def graded_variant(d: Any, values: dict[str, Any], cut: int | None, given: frozenset[str]) -> tuple[Any, ...]:
    """The measure with gains of 0 and 1, or graded ones where gains='scaled'."""
    if values["gains"] is None:
        if "max_grade" in given:
            raise MeasureError("max_grade goes with gains='scaled' only")
        return d, values, cut
    if "rel" in given:
        raise MeasureError("rel and gains: expected one of them")
    own = {name: value for name, value in values.items() if name not in ("rel", "gains")}
    return d._replace(gain=scaled, tied=None), own, cut
