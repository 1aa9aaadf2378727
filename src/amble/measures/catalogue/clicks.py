"""Measures of users who click: expected browsing utility."""
# no `from __future__ import annotations`: declarations read their own annotations

from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np

from amble.arrays import NDArray
from amble.expressions.domains import Probability
from amble.expressions.values import ByGrade
from amble.measures.declaration import measure
from amble.measures.gain_maps import GainKind, graded
from amble.rankings.lists import GainMap
from amble.users.clicks import Clicks
from amble.users.walk import Probabilities

Array = NDArray[np.float64]
_CLICK, _AFTER = ByGrade("0=0.2,1=0.8"), ByGrade("0=0.8,1=0.4")


class OfGrade(Probability):
    """A probability: a number, or one for each grade."""

    accepts = "float | str | Mapping[float, float]"
    by_topic = False
    text = "a number between 0 and 1, or a string of them by grade, as '0=0.2,1=0.8'"

    def check(self, value: Any) -> float | ByGrade:
        """The number, or the numbers by grade."""
        found = super().check(value)
        if not isinstance(found, float | ByGrade):
            raise ValueError
        Probabilities(found)  # a table has grade 0
        return found


def _clicked(values: Mapping[str, Any]) -> GainMap:
    """What a document brings on average to who looks at its rank."""
    gain, click = graded.make(values), Probabilities(values["click"])
    return GainMap(
        (*gain.key, values["click"]), lambda grades, most: gain.function(grades, most) * click.of(1.0, grades)
    )


@measure(
    "EBU",
    question="total",
    gain=GainKind(graded.parameters, _clicked),
    cite="yilmaz2010",
    family="cwl",
    bounded=False,
    formula="sum over ranks i of V(i) x click x gain; C(i) = click x after + (1 - click) x without, all by grade",
)
def expected_browsing_utility(
    grade: Array,
    click: Annotated[
        float | ByGrade,
        OfGrade(),
        "the probability of a click; this default and those below are amble's own, not fitted to a log",
    ] = _CLICK,
    after: Annotated[float | ByGrade, OfGrade(), "the probability of going on after a click"] = _AFTER,
    without: Annotated[float | ByGrade, OfGrade(), "the probability of going on without a click"] = 0.8,
) -> Clicks:
    """She gains by the documents that she clicks on, and goes on after a good one less often than after a bad one.

    At the end of the list she stops. A grade that is not in a table has the probability of the next lower one.
    """
    each = (np.asarray(Probabilities(x).of(1.0, grade) + 0.0 * grade) for x in (click, after, without))
    return Clicks(*each)
