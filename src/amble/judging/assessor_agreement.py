"""Agreement of assessors: Cohen's kappa, Krippendorff's alpha, and the overlap of relevant documents.

Cohen's kappa of two assessors (1960; weighted, 1968) is 1 - observed / expected disagreement, where a pair of grades a
and b disagrees by 0 or 1, by |a - b| (linear), or by (a - b)^2 (quadratic), and what is expected comes from how often
each assessor gives each grade. Documents that only one of them judged do not count.

Krippendorff's alpha (2011) is the same for any number of assessors, some of which judged only some documents: the
expected disagreement is that of grades drawn from all there are. ``nominal`` grades are equal or not, ``interval`` ones
differ by (a - b)^2, and ``ordinal`` ones by the square of how many grades lie between them, counting half of the two.

Overlap (Lesk and Salton, 1968) is the number of documents that all found relevant, divided by those that anyone did.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from amble import checks
from amble.arrays import Array
from amble.errors import AmbleError
from amble.io.trec import Qrels, read_qrels
from amble.table import Table, mean_topic

__all__ = ["Agreement", "agreement", "cohen_kappa", "krippendorff_alpha", "overlap"]

_WEIGHTS = ("none", "linear", "quadratic")
_LEVELS = ("nominal", "ordinal", "interval")


def _grades(values: Any) -> Array:
    try:
        out = np.asarray(values, float)
    except (TypeError, ValueError):
        raise AmbleError(f"grades {values!r:.60}: expected numbers (NaN where there is none)") from None
    if np.isinf(out).any():
        raise AmbleError("grades: found an infinite one, expected finite numbers (NaN where there is none)")
    return out


def _disagreement(observed: Array, expected: Array, distance: Array) -> float:
    """1 - observed / expected disagreement; NaN where none is expected, as all grades are the same."""
    missed = float((expected * distance).sum())
    return 1.0 - float((observed * distance).sum()) / missed if missed > 0 else float("nan")


def cohen_kappa(a: Any, b: Any, weights: str = "none") -> float:
    """Cohen's kappa of two assessors.

    Parameters
    ----------
    a, b : array_like
        Their grades of the same documents; NaN where one was not given.
    weights : {"none", "linear", "quadratic"}
        By what two grades disagree: not at all or wholly, by their difference, or by its square.

    Returns
    -------
    float
        1 if they agree always, 0 if as often as expected at random; NaN if both gave one grade only.

    Examples
    --------
    >>> from amble.judging import cohen_kappa
    >>> cohen_kappa([1, 1, 0, 0], [1, 0, 0, 0])  # 1 - (1/4) / (1/2)
    0.5
    """
    checks.one_of(weights, _WEIGHTS, "weights")
    x, y = _grades(a), _grades(b)
    if x.shape != y.shape or x.ndim != 1:
        raise AmbleError(f"{x.size} grades and {y.size} grades: expected two lists of the same documents")
    both = ~(np.isnan(x) | np.isnan(y))
    if not both.any():
        return float("nan")
    kinds, place = np.unique(np.concatenate((x[both], y[both])), return_inverse=True)
    i, j = place[: both.sum()], place[both.sum() :]
    table = np.zeros((kinds.size, kinds.size))
    np.add.at(table, (i, j), 1.0)
    gap = np.abs(kinds[:, None] - kinds[None, :])
    distance = {"none": (gap > 0).astype(float), "linear": gap, "quadratic": gap**2}[weights]
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    return _disagreement(table, expected, distance)


def krippendorff_alpha(grades: Any, level: str = "nominal") -> float:
    """Krippendorff's alpha of any number of assessors.

    Parameters
    ----------
    grades : array_like
        One row per assessor, one column per document; NaN where a grade was not given.
    level : {"nominal", "ordinal", "interval"}
        What grades are.

    Returns
    -------
    float
        1 if they agree always, 0 if as often as expected at random; NaN if there is one grade only, or if no document
        has two.

    Examples
    --------
    >>> from amble.judging import krippendorff_alpha
    >>> round(krippendorff_alpha([[1, 1, 0, 0], [1, 0, 0, 0]]), 4)  # 1 - (2/8) / (30/56)
    0.5333
    """
    checks.one_of(level, _LEVELS, "level")
    x = _grades(grades)
    if x.ndim != 2:
        raise AmbleError(f"grades of {x.ndim} dimensions: expected one row per assessor, one column per document")
    given = ~np.isnan(x)
    x, given = x[:, given.sum(axis=0) > 1], given[:, given.sum(axis=0) > 1]  # one grade alone can be compared with none
    if not x.size:
        return float("nan")
    kinds, place = np.unique(x[given], return_inverse=True)
    counts = np.zeros((x.shape[1], kinds.size))  # how often each document was given each grade
    np.add.at(counts, (np.nonzero(given)[1], place), 1.0)
    m = counts.sum(axis=1, keepdims=True)
    coincidences = (counts / (m - 1)).T @ counts - np.diag((counts / (m - 1)).sum(axis=0))
    n = coincidences.sum(axis=0)
    if level == "ordinal":
        middle = np.cumsum(n) - n / 2  # grades between two, and half of the two
        distance = (middle[:, None] - middle[None, :]) ** 2
    elif level == "interval":
        distance = (kinds[:, None] - kinds[None, :]) ** 2
    else:
        distance = 1.0 - np.eye(kinds.size)
    return _disagreement(coincidences, np.outer(n, n) / (n.sum() - 1), distance)


def overlap(grades: Any, rel: float = 1) -> float:
    """Share of documents relevant to all assessors among those relevant to any, of those that all judged.

    Examples
    --------
    >>> from amble.judging import overlap
    >>> overlap([[1, 1, 0, 0], [1, 0, 1, 0]])
    0.3333333333333333
    """
    x = _grades(grades)
    if x.ndim != 2:
        raise AmbleError(f"grades of {x.ndim} dimensions: expected one row per assessor, one column per document")
    relevant = x[:, ~np.isnan(x).any(axis=0)] >= rel
    anyone = int(relevant.any(axis=0).sum())
    return int(relevant.all(axis=0).sum()) / anyone if anyone else float("nan")


class Agreement(NamedTuple):
    """Agreement of assessors on some documents; a number that is not defined is NaN."""

    judged: int  # documents that at least one of them judged
    common: int  # and that all of them judged
    same: float  # share of these with the same grade
    overlap: float
    kappa: float  # of two assessors only
    kappa_linear: float
    kappa_quadratic: float
    alpha: float
    alpha_ordinal: float
    alpha_interval: float


def _agreed(grades: Array, rel: float) -> Agreement:
    x = grades[:, ~np.isnan(grades).all(axis=0)]
    common = x[:, ~np.isnan(x).any(axis=0)]
    same = float((common == common[0]).all(axis=0).mean()) if common.shape[1] else float("nan")
    kappas = [cohen_kappa(x[0], x[1], w) if len(x) == 2 else float("nan") for w in _WEIGHTS]
    alphas = [krippendorff_alpha(x, level) for level in _LEVELS]
    return Agreement(x.shape[1], common.shape[1], same, overlap(x, rel), *kappas, *alphas)


def _joined(all_qrels: Sequence[Qrels]) -> tuple[list[str], list[Array]]:
    """Topics that any of them has, and of each the grades: one row per assessor, one column per document."""
    topics = list(dict.fromkeys(topic for qrels in all_qrels for topic in qrels.topics))
    tables = [qrels.to_dict() for qrels in all_qrels]
    out = []
    for topic in topics:
        docs = dict.fromkeys(doc for table in tables for doc in table.get(topic, ()))
        x = np.array([[table.get(topic, {}).get(doc, np.nan) for doc in docs] for table in tables])
        out.append(np.where(x < 0, np.nan, x))  # not judged
    return topics, out


def agreement(
    judgments: Sequence[Any] | Mapping[str, Any], *, rel: float = 1, topics: bool = False, digits: int = 4
) -> Table:
    """A table of the agreement of assessors that judged the same documents, or some of them.

    Parameters
    ----------
    judgments : sequence of two or more
        Each anything that `read_qrels` takes. Grades below zero mean that a document was not judged.
    rel : float
        The least grade that is relevant, for the overlap.
    topics : bool
        One row per topic, too.
    digits : int

    Returns
    -------
    Table
        Documents that anyone judged and that all judged, the share of these with the same grade, the overlap of the
        relevant ones, Cohen's kappa (of two), plain, linear and quadratic, and Krippendorff's alpha: nominal, ordinal,
        interval. The topic of all documents together is ``all``.

    Examples
    --------
    >>> import amble
    >>> one, two = {"1": {"a": 1, "b": 1, "c": 0, "d": 0}}, {"1": {"a": 1, "b": 0, "c": 0, "d": 0}}
    >>> table = amble.judging.agreement([one, two])
    >>> table["kappa"], table["overlap"]
    ([0.5], [0.5])
    """
    if isinstance(judgments, Mapping | str) or not isinstance(judgments, Sequence) or len(judgments) < 2:
        raise AmbleError("agreement: expected the judgments of two assessors or more, as a list")
    names, grades = _joined([read_qrels(source) for source in judgments])
    rows: list[list[Any]] = []
    if topics:
        rows += [[topic, *_agreed(x, rel)] for topic, x in zip(names, grades, strict=True) if not np.isnan(x).all()]
    together = _agreed(np.concatenate(grades, axis=1), rel)
    if not together.common and np.isnan(together.alpha):
        raise AmbleError("agreement: the assessors judged no document in common")
    rows.append([mean_topic(names if topics else ()), *together])
    return Table(["topic", *(name.replace("_", " ") for name in Agreement._fields)], rows, digits=digits)
