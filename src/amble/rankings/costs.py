"""Costs of looking at documents: one unit each, or by grade, or by document."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from amble.arrays import NDArray
from amble.checks import is_number
from amble.errors import AlignError, ReadError
from amble.io.rows import read_rows

if TYPE_CHECKING:
    from amble.rankings.alignment import Rankings
    from amble.rankings.lists import Lists

__all__ = ["Costs", "PriceList", "Prices", "read_costs"]

Array = NDArray[np.float64]
Prices = Mapping[Any, float] | str | os.PathLike[str]


class Costs:
    """The cost of each document of each list; beyond the lists, a constant.

    Parameters
    ----------
    values : ndarray
        List after list, rank after rank.
    offsets : ndarray
        Where the values of each list start.
    beyond : float
        The cost of a document beyond the list.
    graded : bool
        Whether the costs are those of grades.
    """

    def __init__(self, values: Array, offsets: NDArray[np.int64], beyond: float = 1.0, *, graded: bool = False) -> None:
        if values.size and (not np.isfinite(values).all() or (values <= 0).any()):
            raise ReadError("costs: expected finite numbers above 0")
        self.values, self.offsets, self.beyond, self.graded = values, offsets, beyond, graded

    def stretch(self, block: NDArray[Any], start: int, stop: int) -> Array:
        """The costs of ranks start + 1 to stop of some lists."""
        rank = np.arange(start, stop)
        length = self.offsets[block + 1] - self.offsets[block]
        at = self.offsets[block][:, None] + np.minimum(rank, np.maximum(length[:, None] - 1, 0))
        known = self.values[np.minimum(at, max(self.values.size - 1, 0))] if self.values.size else np.zeros(at.shape)
        return np.where(rank < length[:, None], known, self.beyond)

    def silent_below(self, k: int) -> Costs:
        """The same costs, those of documents below rank k without regard to their grades."""
        if not self.graded:
            return self
        rank = np.arange(1, self.values.size + 1) - np.repeat(self.offsets[:-1], np.diff(self.offsets))
        return Costs(np.where(rank <= k, self.values, self.beyond), self.offsets, self.beyond)

    def of(self, some: NDArray[Any]) -> Costs:
        """The costs of some of the lists, each as often as it is named."""
        size = self.offsets[some + 1] - self.offsets[some]
        offsets = np.concatenate(([0], np.cumsum(size)))
        at = np.arange(offsets[-1]) + np.repeat(self.offsets[some] - offsets[:-1], size)
        return Costs(self.values[at], offsets, self.beyond, graded=self.graded)

    def upto(self, lists: NDArray[Any], rank: NDArray[Any]) -> Array:
        """The cost of reading down to a rank."""
        total = np.concatenate(([0.0], np.cumsum(self.values)))
        return np.asarray(total[self.offsets[lists] + rank] - total[self.offsets[lists]])

    @classmethod
    def of_lists(cls, rankings: Rankings, lists: Lists) -> Costs | None:
        """The costs of the documents of lists, as the rankings have them; None if they have none."""
        if rankings.costs is None:
            return None
        return cls.by_grade(lists, rankings.costs) if rankings.costs.by_grade else rankings.document_costs

    @classmethod
    def by_grade(cls, lists: Lists, table: Mapping[float, float], default: float = 1.0) -> Costs:
        """Costs by grade; other grades and unjudged documents cost the default."""
        offsets = np.concatenate(([0], np.cumsum(lists.length)))
        values = np.full(int(offsets[-1]), float(default))
        at = offsets[lists.list] + lists.position - 1
        for grade, cost in table.items():
            values[at[lists.grade == grade]] = cost
        return cls(values, offsets, default, graded=True)

    @classmethod
    def by_document(cls, rankings: Rankings, costs: Mapping[str, float], default: float = 1.0) -> Costs:
        """Costs by document, the default for those that the table lacks. Reads the runs again, with their ids."""
        offsets = np.concatenate(([0], np.cumsum(rankings.length)))
        values = np.full(int(offsets[-1]), np.nan)
        for i, listed in rankings.documents("costs by document"):
            values[offsets[i] : offsets[i] + len(listed)] = [costs.get(doc, np.nan) for doc in listed]
        if np.isnan(values).all():
            found = ", ".join(map(str, list(costs)[:3]))
            raise AlignError(f"costs: none is of a document in a run: found those of {found}")
        return cls(np.where(np.isnan(values), default, values), offsets, default)


def read_costs(path: str | os.PathLike[str]) -> dict[str, float]:
    """The costs in a file of ``document cost`` lines, by document."""
    out: dict[str, float] = {}
    for where, (doc,), (cost,) in read_rows(path, ("document",), ("cost",)):
        if cost <= 0:
            raise ReadError(f"{where}: cost {cost:g} is not above 0")
        if doc in out:
            raise ReadError(f"{where}: document {doc!r} has a cost already")
        out[doc] = cost
    return out


class PriceList(dict[Any, float]):
    """The costs of documents by their ids, or by their grades; ``path`` is the file that they are from, if any."""

    def __init__(self, given: Prices) -> None:
        self.path = os.fspath(given) if isinstance(given, str | os.PathLike) else getattr(given, "path", None)
        prices = read_costs(given) if isinstance(given, str | os.PathLike) else given
        if not isinstance(prices, Mapping) or not prices:
            raise AlignError("costs: expected {document: cost}, {grade: cost} or the path of a file")
        for key, value in prices.items():
            if not is_number(value) or not 0 < value < math.inf:
                raise AlignError(f"costs: {key!r} costs {value!r}, expected a finite number above 0")
        if len({is_number(key) for key in prices}) > 1:
            raise AlignError("costs: grades and documents, expected either numbers or text before the costs")
        super().__init__(prices)

    @property
    def by_grade(self) -> bool:
        """Whether the costs are those of grades."""
        return all(map(is_number, self))
