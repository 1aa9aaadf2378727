"""Rankings from arrays of labels and scores, a row for each topic and a column for each document."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Literal

import numpy as np

from amble import checks
from amble.arrays import NDArray
from amble.errors import AlignError
from amble.io.trec import Qrels, Ranked, Run, Runs
from amble.rankings.alignment import Rankings, gather

__all__ = ["Labels", "from_arrays"]

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
    return Labels(labels, mask).rankings(scores, ties)


class Labels:
    """Judgments in an array, ready for arrays of scores: what does not depend on the scores is done once.

    Parameters
    ----------
    labels, mask : array
        As for `from_arrays`.

    Attributes
    ----------
    qrels : Qrels
        The judgments, of topics with a judged document.
    """

    def __init__(self, labels: Any, mask: Any = None) -> None:
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
        counts = judged.sum(axis=1)
        self.qrels = Qrels.of_rows(
            list(map(str, topics.tolist())),
            np.concatenate(([0], np.cumsum(counts))),
            grades[rows][judged],
            lambda: list(map(str, judged.nonzero()[1].tolist())),
            "labels",
        )
        self._topics, self._rows, self._kept, self._own = topics, rows, kept, own
        n, width = own.shape
        self._full = bool(own.all())
        self._first = np.arange(0, n * width, width)[:, None]  # the first cell of each topic
        self._rank = np.tile(np.arange(1, width + 1, dtype=np.int32), n)
        # the row of each cell; of one that is not judged -1; nothing where all are, as they are their own rows
        judgment = np.where(judged.ravel(), np.cumsum(judged, dtype=np.int32) - np.int32(1), np.int32(-1))
        self._row = None if judged.all() else judgment
        self._lists = np.zeros((n, 6), np.int64)
        self._lists[:, 0], self._lists[:, 1], self._lists[:, 4] = np.arange(n), own.sum(axis=1), np.cumsum(counts)

    def rankings(self, scores: Any, ties: str) -> Rankings:
        """The rankings by an array of scores, or by those of several runs."""
        of_runs = scores if isinstance(scores, Mapping) else {"run": scores}
        if not of_runs:
            raise AlignError("scores: found no runs, expected an array, or {name: array}")
        found = [self.rank(one, ties, str(name) if of_runs is scores else None) for name, one in of_runs.items()]
        return gather(self.qrels, Runs([run for run, _ in found]), [ranked for _, ranked in found], align_options(ties))

    def rank(self, scores: Any, ties: str, name: str | None = None) -> tuple[Run, Ranked]:
        """The run of an array of scores, and its lists, joined with the judgments."""
        array = _numbers(scores, "scores" if name is None else f"scores of {name}", self._kept.shape)
        if not np.isfinite(array).all() and (wrong := self._kept & ~np.isfinite(array)).any():
            i, j = np.argwhere(wrong)[0].tolist()
            found = f"row {i}, column {j}: score {array[i, j]}"
            raise AlignError(f"scores: {found} is not a finite number; where there is no document, say so by mask=")
        run = Run(partial(_columns, array, self._own, self._topics), name or "run", named=True)
        return run, self._ranked(array[self._rows], ties == "expected")

    def _ranked(self, scores: Array, groups: bool) -> Ranked:
        """The lists of a run, sorted by score, ties by column; where there is no document, last."""
        n, width = scores.shape
        worse = -scores if self._full else np.where(self._own, -scores, np.inf)
        order = np.argsort(worse, axis=1, kind="stable" if groups else None)
        cell = (order + self._first).ravel()
        ordered = worse.ravel()[cell].reshape(n, width)
        tied = ordered[:, 1:] == ordered[:, :-1]
        if not self._full:
            tied &= np.arange(1, width) < self._lists[:, 1:2]
        lists = self._lists.copy()
        if has_ties := bool(tied.any()):
            if not groups:  # sorted quickly; where that matters, once more
                unstable = np.flatnonzero(tied.any(axis=1))
                order[unstable] = np.argsort(worse[unstable], axis=1, kind="stable")
                cell = (order + self._first).ravel()
            edge = np.zeros((n, 1), bool)
            shared = np.concatenate((edge, tied), axis=1) | np.concatenate((tied, edge), axis=1)
            lists[:, 2] = shared.sum(axis=1)
        row = cell if self._row is None else self._row[cell]
        here = slice(None) if self._row is None else np.flatnonzero(row >= 0)
        hits = np.empty((len(self.qrels.grades), 4 if groups else 2), np.int32)
        hits[:, 0], hits[:, 1] = self._rank[here], row[here]
        if groups and not has_ties:
            hits[:, 2], hits[:, 3] = hits[:, 0], 1
        elif groups:  # one starts wherever the score is another one
            first = np.flatnonzero(np.concatenate((np.ones((n, 1), bool), ~tied), axis=1))
            size = np.diff(first, append=n * width)
            hits[:, 2] = np.repeat(first % width + 1, size)[here]
            hits[:, 3] = np.repeat(size, size)[here]
        return Ranked(lists, hits, [], "")


def align_options(ties: str) -> dict[str, Any]:
    """The options of `align` that rankings of arrays have."""
    usual = {"missing": "zero", "unjudged": "zero", "duplicates": "error", "depth": None, "score_dtype": "float64"}
    return {"ties": ties, **usual}


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


def _columns(scores: Array, own: Mask, topics: NDArray[np.int64]) -> tuple[list[str], list[str], list[float]]:
    """The run as the reader takes it, for who asks for its documents."""
    i, j = np.nonzero(own)
    names = list(map(str, topics.tolist()))
    return [names[t] for t in i.tolist()], list(map(str, j.tolist())), scores[topics][own].tolist()
