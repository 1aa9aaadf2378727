"""Mixtures: populations of measures, each with its share of the users, ``Mixture(PH(p=0.9,q=0):0.3,PH:0.7)``.

The value of a mixture is the mean over its users of each user's value, its residual the mean of theirs, and its
distribution the mixture of theirs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from amble.arrays import NDArray
from amble.checks import is_number
from amble.errors import MeasureError
from amble.expressions.values import show_number
from amble.measures.declaration import Declaration
from amble.measures.list_measure import ListMeasure
from amble.measures.measure import Measure
from amble.rankings.lists import Lists
from amble.users.protocol import Question

__all__ = ["Mixture"]

_SLACK = 1e-9  # by how much shares may miss 1


def _users() -> None:
    """Each user is of one of several kinds; the score is the mean over all of them."""


class Mixture(ListMeasure):
    """A population of measures of lists: of each, the share of the users who are like that.

    Parameters
    ----------
    shares : mapping of Measure to float
        Above 0, summing to 1. A measure may be a population itself.
    name : str, optional
        The label in tables; without it, the canonical name.

    Examples
    --------
    >>> import amble
    >>> from amble.measures import RBP
    >>> m = amble.Mixture({RBP(p=0.5): 0.5, RBP(p=0.95): 0.5}, name="readers")
    >>> print(m, m.label)
    Mixture(RBP(p=0.5):0.5,RBP(p=0.95):0.5) readers
    >>> round(m.value([1, 0, 1]), 6)  # half of 1/2 + 1/8, and of .05 (1 + .95^2)
    0.360063
    >>> amble.parse("Mixture(RBP(p=0.95):0.5, RBP(p=0.5):0.5)") == m
    True
    """

    parts: MappingProxyType[ListMeasure, float]

    def __init__(self, shares: Mapping[Measure, float], name: str = "") -> None:
        if not isinstance(shares, Mapping):
            raise MeasureError(f"{shares!r:.60}: expected a mapping of measures to their shares of the users")
        if not isinstance(name, str) or not name.isprintable():
            raise MeasureError(f"name={name!r:.60} of a mixture, expected text of one line")
        found: dict[ListMeasure, float] = {}
        for measure, share in shares.items():
            if not isinstance(measure, ListMeasure) or measure.declaration.aggregate != "mean":
                raise MeasureError(
                    f"{measure!r:.60} in a mixture, expected measures of lists (amble.parse('AP')) whose mean is taken"
                )
            if not is_number(share) or not 0 < share < math.inf:
                raise MeasureError(f"{measure} has the share {share!r:.60}, expected a number above 0")
            inner = measure.parts if isinstance(measure, Mixture) else {measure: 1.0}
            for one, part in inner.items():
                found[one] = found.get(one, 0.0) + float(share) * part
        total = math.fsum(found.values())
        if not abs(total - 1.0) <= _SLACK:
            raise MeasureError(f"the shares of a mixture sum to {total:.6g}, expected 1")
        parts = MappingProxyType(dict(sorted(found.items(), key=lambda pair: str(pair[0]))))
        first, *others = (m.declaration for m in parts)
        question: Question | None = first.question
        if any(d.question is not question for d in others):
            question = Question.ORDER1 if all(d.is_user for d in (first, *others)) else None
        if len({d.less for d in (first, *others)}) > 1:
            odd = next(m for m in parts if m.declaration.less is not False)
            what = "less" if odd.declaration.less else "neither more nor less"
            raise MeasureError(f"of {odd} {what} is better, of others in the mixture not; expected the same of all")
        declaration = Declaration(
            "Mixture", _users, {}, (), question, first.gain, None, None, "mean", "", None, "",
            "sum over the measures of share x score", "populations", all(d.bounded for d in (first, *others)),
            less=first.less,
        )  # fmt: skip
        super().__init__(declaration, {str(m): share for m, share in parts.items()}, None)
        vars(self).update(parts=parts, typed=name)

    def __str__(self) -> str:
        return f"Mixture({','.join(f'{m}:{show_number(share)}' for m, share in self.parts.items())})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Mixture, (dict(self.parts), self.typed)

    def __call__(self, /, *values: Any, **parameters: Any) -> Self:
        """An error, unless nothing is given: the measures have parameters, the mixture has none."""
        if values or parameters:
            raise MeasureError(f"{self} has no parameters; give them to its measures")
        return self

    def __matmul__(self, at: float) -> Self:
        """The mixture of its measures at a rank."""
        return type(self)({m @ at: share for m, share in self.parts.items()}, self.typed and f"{self.typed}@{at}")

    @property
    def is_population(self) -> bool:
        """True."""
        return True

    @property
    def of_intents(self) -> bool:
        """Whether one of its measures needs judgments of subtopics."""
        return any(m.of_intents for m in self.parts)

    @cached_property
    def by_topic(self) -> tuple[str, ...]:
        """The parameters of its measures that differ by topic."""
        return tuple(dict.fromkeys(name for m in self.parts for name in m.by_topic))

    @property
    def first_topic(self) -> str:
        """One of the topics for which a measure has parameters of its own."""
        return next(m for m in self.parts if m.by_topic).first_topic

    def at_topic(self, topic: str) -> Self:
        """The mixture of its measures with the parameters of a topic."""
        if (topic,) not in self._of_values:
            parts: dict[Measure, float] = {m.at_topic(topic): share for m, share in self.parts.items()}
            self._of_values[topic,] = type(self)(parts, self.typed)
        return self._of_values[topic,]

    def members_on(self, grid: int | None = None) -> list[tuple[float, Any]]:
        """Weights and measures of the users, those of populations among the measures included."""
        return [(share * w, one) for m, share in self.parts.items() for w, one in m.members_on(grid)]

    def _mean_scores(self, lists: Lists) -> NDArray[np.float64]:
        return np.asarray(sum(share * m._scores(lists) for m, share in self.parts.items()))

    def answers(self, question: Question, lists: Lists) -> NDArray[np.float64]:
        """The mean over users of every list's answer to another question."""
        return np.asarray(sum(share * m.answers(question, lists) for m, share in self.parts.items()))
