"""Rankings from arrays of labels and scores, a row for each topic and a column for each document."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from amble import checks
from amble.errors import AlignError
from amble.io.trec import Qrels, Ranked, Run, Runs
from amble.rankings.alignment import Rankings, gather

__all__ = ["from_arrays"]

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


def from_arrays(labels: Any, scores: Any, mask: Any = None, *, ties: Literal["file", "expected"] = "file") -> Rankings:
    """Rankings of arrays: of topic i, document j has grade ``labels[i, j]`` and score ``scores[i, j]``.

    Topics and documents go by their numbers, from 0, as text. All measures, tests and reports take what is returned.

    Parameters
    ----------
    labels : array
        Grades, of shape (topics, documents), NaN where unjudged; of one topic, also of shape (documents,). Arrays of
        NumPy, nested lists, and whatever has ``__array__`` or ``__dlpack__``, as tensors of PyTorch and JAX on the CPU.
    scores : array or mapping
        Of the same shape, finite, the higher the better. Of several runs: ``{name: array}``.
    mask : array, optional
        Of the same shape: true where there is a document. Where it is false, label and score may be anything. A topic
        without a judged document is left out.
    ties : {"file", "expected"}
        Of documents with the same score the one in the earlier column comes first; or the mean over all their orders.

    Returns
    -------
    Rankings

    Examples
    --------
    >>> import amble
    >>> labels = [[0, 1, 2], [1, 0, 0]]
    >>> scores = [[0.3, 0.9, 0.7], [0.5, 0.6, 0.0]]
    >>> mask = [[1, 1, 1], [1, 1, 0]]  # the second topic has two documents
    >>> amble.evaluate(amble.from_arrays(labels, scores, mask), "nDCG RR").mean()
    run    nDCG      RR
    run  0.7453  0.7500
    """
    checks.one_of(ties, ("file", "expected"), "ties", AlignError)
    of_runs = scores if isinstance(scores, Mapping) else {"run": scores}
    if not of_runs:
        raise AlignError("scores: found no runs, expected an array, or {name: array}")
    grades = _numbers(labels, "labels")
    kept = np.ones(grades.shape, bool) if mask is None else _numbers(mask, "mask", grades.shape) != 0
    if (np.isinf(grades) & kept).any():
        raise AlignError("labels: found an infinite one, expected finite numbers, NaN where unjudged")
    judged = kept & ~np.isnan(grades)
    topics = np.flatnonzero(judged.any(axis=1))
    if not topics.size:
        raise AlignError("labels: found none, expected at least one judged document")
    rows: Any = slice(None) if topics.size == len(grades) else topics  # no copy where it can be done without
    judged, own = judged[rows], kept[rows]
    qrels = Qrels.of_rows(
        list(map(str, topics.tolist())),
        np.concatenate(([0], np.cumsum(judged.sum(axis=1)))),
        grades[rows][judged],
        lambda: list(map(str, judged.nonzero()[1].tolist())),
        "labels",
    )
    full = bool(own.all())
    runs, ranked = [], []
    for name, given in of_runs.items():
        array = _numbers(given, f"scores of {name}" if of_runs is scores else "scores", grades.shape)
        wrong = kept & ~np.isfinite(array)
        if wrong.any():
            i, j = np.argwhere(wrong)[0].tolist()
            found = f"row {i}, column {j}: score {array[i, j]}"
            raise AlignError(f"scores: {found} is not a finite number; where there is no document, say so by mask=")
        scored = array[rows] if full else np.where(own, array[rows], -np.inf)
        ranked.append(_ranked(scored, own, judged, ties == "expected"))
        runs.append(Run(partial(_columns, array, own, topics), str(name), named=True))
    options = {"missing": "zero", "ties": ties, "unjudged": "zero", "duplicates": "error"}
    return gather(qrels, Runs(runs), ranked, options | {"depth": None, "score_dtype": "float64"})


def _numbers(given: Any, what: str, shape: tuple[int, ...] | None = None) -> Array:
    """An array of anything, of two dimensions."""
    try:
        dlpack = not hasattr(given, "__array__") and hasattr(given, "__dlpack__")
        array = np.from_dlpack(given) if dlpack else np.asarray(given)
    except Exception as error:  # of whatever kind a library has: on another device, with gradients, ragged
        why = (str(error).splitlines() or [""])[0]
        pad = "; rows of different lengths are padded, and mask= says where" if isinstance(given, list | tuple) else ""
        raise AlignError(f"{what}: {type(given).__name__} is no array of numbers here: {why}{pad}") from None
    if array.dtype.kind not in "biuf" or array.ndim not in (1, 2):
        found = f"shape {array.shape} of {array.dtype}"
        raise AlignError(f"{what}: found {found}, expected numbers of shape (topics, documents)")
    array = np.atleast_2d(array)
    if shape is not None and array.shape != shape:
        raise AlignError(f"{what}: found shape {array.shape}, expected that of the labels, {shape}")
    return np.asarray(array, np.float64)


def _ranked(scores: Array, own: Mask, judged: Mask, groups: bool) -> Ranked:
    """The lists of a run, sorted by score, ties by column; what is not its own stands last."""
    n, width = scores.shape
    order = np.argsort(-scores, axis=1, kind="stable" if groups else None)
    ordered = np.take_along_axis(scores, order, axis=1)
    length = own.sum(axis=1)
    tied = (ordered[:, 1:] == ordered[:, :-1]) & (np.arange(1, width) < length[:, None])
    if not groups:  # sorted quickly; where that matters, once more
        unstable = np.flatnonzero(tied.any(axis=1))
        order[unstable] = np.argsort(-scores[unstable], axis=1, kind="stable")
    cell = (order + np.arange(0, n * width, width)[:, None]).ravel()
    all_judged = bool(judged.all())
    here = slice(None) if all_judged else np.flatnonzero(judged.ravel()[cell])
    hits = np.empty((np.count_nonzero(judged), 4 if groups else 2), np.int32)
    hits[:, 0] = np.tile(np.arange(1, width + 1, dtype=np.int32), n)[here]
    hits[:, 1] = cell if all_judged else (np.cumsum(judged, dtype=np.int32) - 1)[cell[here]]
    edge = np.zeros((n, 1), bool)
    if groups:  # one starts wherever the score is another one
        first = np.flatnonzero(np.concatenate((~edge, ~tied), axis=1))
        size = np.diff(first, append=n * width)
        hits[:, 2] = np.repeat(first % width + 1, size)[here]
        hits[:, 3] = np.repeat(size, size)[here]
    shared = np.concatenate((edge, tied), axis=1) | np.concatenate((tied, edge), axis=1)
    none, ends = np.zeros(n, np.int64), np.cumsum(judged.sum(axis=1))
    lists = np.column_stack((np.arange(n), length, shared.sum(axis=1), none, ends, none))
    return Ranked(lists.astype(np.int64), hits, [], "")


def _columns(scores: Array, own: Mask, topics: NDArray[np.int64]) -> tuple[list[str], list[str], list[float]]:
    """The run as the reader takes it, for who asks for its documents."""
    i, j = np.nonzero(own)
    names = list(map(str, topics.tolist()))
    return [names[t] for t in i.tolist()], list(map(str, j.tolist())), scores[topics][own].tolist()
