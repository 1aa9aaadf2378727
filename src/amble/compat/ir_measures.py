"""amble's measures as ir_measures takes them, and so PyTerrier: `measure` makes one of any expression.

``ir_measures.calc_aggregate([measure("PH(p=0.5,q=0.25)"), nDCG @ 10], qrels, run)`` has both side by side.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from amble.errors import MeasureError
from amble.evaluation.scores import evaluate
from amble.measures import ListMeasure, Measure, parse
from amble.measures.list_measure import of_lists
from amble.rankings.alignment import Rankings, aggregate, align

__all__ = ["measure"]


def measure(of: str | Measure) -> Any:
    """A measure of amble that ``ir_measures.calc_aggregate``, ``iter_calc`` and ``pt.Experiment`` take as their own.

    Its name there begins with ``amble.``, so that it stands beside one of the same name: ``amble.AP`` and ``AP``. A
    judged topic that the run lacks is an empty list, as in `amble.evaluate`. Topics of counts are added up, those of
    GMAP have their geometric mean.

    Parameters
    ----------
    of : str or Measure
        As for `amble.parse`.
    """
    return _kind()(of_lists(parse(of)))


@cache
def _kind() -> Any:
    """The class of these measures, made when ir_measures is first needed."""
    try:
        from ir_measures import Metric
        from ir_measures.measures import Measure as Theirs
    except ImportError:
        raise MeasureError("amble.compat.ir_measures needs ir_measures: pip install ir-measures") from None

    class AmbleMeasure(Theirs):  # type: ignore[misc,unused-ignore]
        """A measure of amble."""

        RUN_INPUTS = ("query_id", "doc_id", "score")
        QREL_INPUTS = ("query_id", "doc_id", "relevance")

        def __init__(self, ours: ListMeasure) -> None:
            super().__init__()
            self.ours = ours
            self.NAME = self.__name__ = self.PRETTY_NAME = f"amble.{ours.label}"
            self.SHORT_DESC = ours.declaration.story

        def __repr__(self) -> str:
            return self.NAME

        def __reduce__(self) -> tuple[Any, ...]:
            return measure, (self.ours,)

        def __call__(self, **parameters: Any) -> AmbleMeasure:
            return AmbleMeasure(self.ours(**parameters))

        def __matmul__(self, at: float) -> AmbleMeasure:
            return AmbleMeasure(self.ours @ at)

        def runtime_impl(self, qrels: Any, run: Any) -> Iterator[Any]:
            scores = evaluate(_aligned(qrels, run), [self.ours])
            for topic, value in zip(scores.topics, scores.values[0, :, 0].tolist(), strict=True):
                yield Metric(topic, self, value)

        def aggregator(self) -> _Aggregator:
            return _Aggregator(self.ours.declaration.aggregate)

    return AmbleMeasure


class _Aggregator:
    """The mean, sum or geometric mean over topics, value by value."""

    def __init__(self, how: str) -> None:
        self.how = how
        self.values: list[float] = []

    def add(self, value: float) -> None:
        """Take the value of a topic."""
        self.values.append(value)

    def result(self) -> float:
        """What comes of all values."""
        return float(aggregate(self.how, np.array(self.values)))


_last: list[tuple[weakref.ref[Any], weakref.ref[Any], Rankings]] = []


def _aligned(qrels: Any, run: Any) -> Rankings:
    """The run, aligned with the judgments; kept for the other measures, which come with the same frames."""
    for judged, ranked, rankings in _last:
        if judged() is qrels and ranked() is run:
            return rankings
    found = align(qrels, {"run": run})
    _last[:] = [(weakref.ref(qrels), weakref.ref(run, lambda _: _last.clear()), found)]
    return found
