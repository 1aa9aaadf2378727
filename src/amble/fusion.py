"""Fusion of runs into one: by scores (CombSUM …), by ranks (RRF, Borda), or by votes (Condorcet).

By scores, which are first made comparable list by list (Fox and Shaw, 1994; Lee, 1997; Montague and Aslam, 2001). What
counts is the runs that have the document; a run that has not says nothing:

* ``combsum`` the sum, ``combmnz`` the sum times the number of runs, ``combanz`` the mean (the sum divided by their
  number), ``combmax``, ``combmin``, ``combmed`` the largest, the least, the median.

By ranks:

* ``rrf``, reciprocal rank fusion (Cormack, Clarke and Buettcher, 2009): the sum of 1 / (k + rank).
* ``borda`` (Aslam and Montague, 2001): of c documents that any run has, a run gives its first c points, its second
  c - 1, and so on; those it has not share what is left of its points evenly. A run without an answer has no vote.
* ``condorcet`` (Montague and Aslam, 2002): the document that most runs rank higher comes first. A run votes for d over
  e if it ranks d higher, or has d and not e; of two that it has not it says nothing. Majorities may go in circles, so
  there is no order that has all of them. Merge sort with the majority as its comparison gives one in which no document
  stands right below one that a majority ranks lower, and in which circles are in the order that majorities between
  them have. Where votes are equal, and to begin with, documents stand by Borda's points.

Sums are formed from the smallest summand up. So the same summands in another order give the same number, and what
should be tied is tied: the order of the runs does not matter.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from amble import checks
from amble.arrays import Array, Bools, Ints, NDArray
from amble.errors import AmbleError
from amble.io.trec import Run
from amble.rankings.run_lists import RunLists, TopicLists, by_bytes, read_run_lists

__all__ = ["METHODS", "NORMS", "fuse"]

Places = Ints
Ballots = NDArray[np.int16] | NDArray[np.int32]

NORMS = ("minmax", "z", "sum", "none")
BY_SCORE = ("combsum", "combmnz", "combanz", "combmax", "combmin", "combmed")
METHODS = (*BY_SCORE, "rrf", "borda", "condorcet")
_AT_ONCE = 1 << 22  # votes compared together


def _minmax(scores: Array) -> Array:
    low, high = scores.min(), scores.max()
    if high == low:
        return np.ones_like(scores)
    if not np.isfinite(float(high) - float(low)):  # the difference of two doubles may be too large for one
        scores, low, high = scores / 2, low / 2, high / 2
    return np.asarray((scores - low) / (high - low))


def _z(scores: Array) -> Array:
    if scores.max() == scores.min():
        return np.zeros_like(scores)
    unit = scores / np.abs(scores).max()  # so that squares neither overflow nor vanish
    return np.asarray((unit - unit.mean()) / unit.std())


def _sum(scores: Array) -> Array:
    above = _minmax(scores)
    return np.asarray(above / above.sum())


_NORM: dict[str, Callable[[Array], Array]] = {"minmax": _minmax, "z": _z, "sum": _sum, "none": lambda scores: scores}


def _normalised(lists: TopicLists, norm: str) -> Array:
    """Scores that can be compared with one another, list by list."""
    out = np.empty_like(lists.score)
    for _, start, end in lists.bounds:
        out[start:end] = _NORM[norm](lists.score[start:end])
    return out


def _added(parts: Array, doc: NDArray[np.int32], size: int) -> Array:
    """The sum of each document's parts, from the smallest up."""
    order = np.argsort(parts, kind="stable")
    return np.asarray(np.bincount(doc[order], weights=parts[order], minlength=size), np.float64)


def _medians(parts: Array, doc: NDArray[np.int32], count: Ints) -> Array:
    order = np.lexsort((parts, doc))
    start = np.cumsum(count) - count
    low, high = parts[order][start + (count - 1) // 2], parts[order][start + count // 2]
    return np.asarray(np.where(low == high, low, low / 2 + high / 2))


def _combined(lists: TopicLists, method: str, norm: str, weight: Array) -> Array:
    parts = weight[lists.run] * _normalised(lists, norm)
    size = len(lists.docs)
    if method in ("combmax", "combmin"):
        most = method == "combmax"
        out = np.full(size, -np.inf if most else np.inf)
        (np.maximum if most else np.minimum).at(out, lists.doc, parts)
        return out
    count = np.bincount(lists.doc, minlength=size)
    if method == "combmed":
        return _medians(parts, lists.doc, count)
    total = _added(parts, lists.doc, size)
    return total * count if method == "combmnz" else total / count if method == "combanz" else total


def _borda(lists: TopicLists, weight: Array) -> Array:
    """Points minus those of a document that no run has: whole and half numbers, so that equal sums are equal."""
    c = len(lists.docs)
    n = np.zeros(len(weight))
    for run, start, end in lists.bounds:
        n[run] = end - start
    points = c - lists.rank + 1.0
    rest = (c - n + 1) / 2  # each of the c - n that a run has not
    voters = np.array([run for run, _, _ in lists.bounds])
    parts = weight[lists.run] * (points - rest[lists.run])
    return _added(parts, lists.doc, c) + float(np.sum(np.sort(weight[voters] * rest[voters])))


# ---- Condorcet's order


def _ballots(lists: Sequence[TopicLists], runs: int) -> Ballots:
    """One row per document of all topics, one column per run: the rank, or a number beyond all ranks."""
    sizes = [len(of.docs) for of in lists]
    deepest = max(int(of.rank.max()) for of in lists)
    kind = np.int16 if deepest < np.iinfo(np.int16).max else np.int32
    out = np.full((sum(sizes), runs), np.iinfo(kind).max, kind)
    base = 0
    for of, n in zip(lists, sizes, strict=True):
        out[of.doc + base, of.run] = of.rank
        base += n
    return out


def _prefers_second(ballots: Ballots, weight: Array, first: Places, second: Places) -> Bools:
    """Of each pair, whether more votes are for the second than for the first."""
    out = np.empty(first.size, bool)
    step = max(1, _AT_ONCE // ballots.shape[1])
    equal = bool((weight == weight[0]).all())
    for start in range(0, first.size, step):
        here = slice(start, start + step)
        a, b = ballots[first[here]], ballots[second[here]]
        if equal:
            out[here] = np.count_nonzero(b < a, axis=1) > np.count_nonzero(a < b, axis=1)
        else:
            margin = (b < a) @ weight - (a < b) @ weight
            out[here] = margin > 1e-12 * weight.sum()  # less is rounding
    return out


class _Merge:
    """Pairs of neighbouring blocks, merged side by side."""

    def __init__(self, order: Places, left: Places, middle: Places, end: Places) -> None:
        self.source, self.order = order.copy(), order
        self.at, self.middle = left.copy(), middle
        self.other, self.end = middle.copy(), end
        self.to = left.copy()

    def run(self, ballots: Ballots, weight: Array) -> None:
        pairs = np.arange(self.at.size)
        while pairs.size:
            at, other = self.at[pairs], self.other[pairs]
            first, second = self.source[at], self.source[other]
            later = _prefers_second(ballots, weight, first, second)
            self.order[self.to[pairs]] = np.where(later, second, first)
            self.to[pairs] += 1
            self.at[pairs] = at + ~later
            self.other[pairs] = other + later
            both = (self.at[pairs] < self.middle[pairs]) & (self.other[pairs] < self.end[pairs])
            if not both.all():
                self._finish(pairs[~both])
            pairs = pairs[both]

    def _finish(self, pairs: Places) -> None:
        """What is left of a pair's longer block follows as it is."""
        start = np.where(self.at[pairs] < self.middle[pairs], self.at[pairs], self.other[pairs])
        rest = (self.middle - self.at + self.end - self.other)[pairs]  # one of the two is empty
        within = np.arange(int(rest.sum())) - np.repeat(np.cumsum(rest) - rest, rest)
        self.order[np.repeat(self.to[pairs], rest) + within] = self.source[np.repeat(start, rest) + within]


def _merged(ballots: Ballots, weight: Array, order: Places, offsets: Places) -> None:
    """Sort each topic's documents, by merging ever larger blocks."""
    width, longest = 1, int(np.diff(offsets).max())
    while width < longest:
        left = np.concatenate([np.arange(a, b, 2 * width) for a, b in itertools.pairwise(offsets)])
        stop = np.repeat(offsets[1:], [-(-int(n) // (2 * width)) for n in np.diff(offsets)])
        keep = left + width < stop
        left, stop = left[keep], stop[keep]
        _Merge(order, left, left + width, np.minimum(left + 2 * width, stop)).run(ballots, weight)
        width *= 2


def majority_order(lists: Sequence[TopicLists], weight: Array, points: Sequence[Array]) -> list[Array]:
    """Scores of each topic's documents: how many documents stand below, in Condorcet's order.

    All topics are sorted side by side: a step compares the heads of all pairs of blocks at once.

    Parameters
    ----------
    lists : sequence of TopicLists
    weight : ndarray
        Of each run.
    points : sequence of ndarray
        Of each topic, by what documents stand to begin with, and where votes are equal.
    """
    ballots = _ballots(lists, len(weight))
    offsets = np.concatenate(([0], np.cumsum([len(of.docs) for of in lists])))
    order = np.empty(int(offsets[-1]), np.int64)
    for t, of in enumerate(lists):
        names = sorted(range(len(of.docs)), key=lambda i: by_bytes(of.docs[i]), reverse=True)
        start = np.array(names, np.int64)
        order[offsets[t] : offsets[t + 1]] = offsets[t] + start[np.argsort(-points[t][start], kind="stable")]
    _merged(ballots, weight, order, offsets)
    out = []
    for t in range(len(lists)):
        scores = np.empty(int(offsets[t + 1] - offsets[t]))
        scores[order[offsets[t] : offsets[t + 1]] - offsets[t]] = np.arange(scores.size)[::-1]
        out.append(scores)
    return out


# ---- all methods


def _weights(weights: Any, runs: Sequence[str]) -> Array:
    if weights is None:
        return np.ones(len(runs))
    if isinstance(weights, Mapping):
        unknown = [name for name in weights if name not in runs]
        if unknown:
            raise AmbleError(f"weight of {unknown[0]!r}, which is not among the runs: {', '.join(runs[:5])}")
        weights = [weights.get(name, 1.0) for name in runs]
    try:
        out = np.asarray(weights, float)
    except (TypeError, ValueError, OverflowError):
        raise AmbleError(f"weights {weights!r:.60}: expected one number per run") from None
    if out.shape != (len(runs),):
        raise AmbleError(f"{out.size} weights for {len(runs)} runs, expected one per run")
    if not (np.isfinite(out).all() and (out > 0).all()):
        raise AmbleError(f"weights {', '.join(f'{w:g}' for w in out[:8])}: expected numbers above 0")
    return out


def _scores(lists: RunLists, method: str, norm: str, weight: Array, k: float) -> list[Array]:
    """The fused score of every document of every topic."""
    if method == "condorcet":
        by_borda = [_borda(lists[topic], weight) for topic in lists.topics]
        return majority_order([lists[topic] for topic in lists.topics], weight, by_borda)
    out = []
    for topic in lists.topics:
        of = lists[topic]
        if method == "rrf":
            out.append(_added(weight[of.run] / (k + of.rank), of.doc, len(of.docs)))
        elif method == "borda":
            out.append(_borda(of, weight))
        else:
            out.append(_combined(of, method, norm, weight))
    return out


def _best_first(docs: Sequence[str], scores: Array, most: int | None) -> Ints:
    """Places of documents by score; equal ones by id, descending, as they will be ranked when they are read."""
    order = np.argsort(-scores, kind="stable")
    if most is not None and most < len(order):
        order = np.flatnonzero(scores >= scores[order[most - 1]])  # all that tie with the last
        order = order[np.argsort(-scores[order], kind="stable")]
    value = scores[order]
    tied = np.flatnonzero(value[1:] == value[:-1])
    if tied.size:
        starts = np.flatnonzero(np.concatenate(([True], value[1:] != value[:-1])))
        ends = np.append(starts[1:], order.size)
        for a, b in zip(starts.tolist(), ends.tolist(), strict=True):
            if b - a > 1:
                order[a:b] = sorted(order[a:b].tolist(), key=lambda i: by_bytes(docs[i]), reverse=True)
    return order[:most]


def fuse(
    runs: Any,
    method: str = "rrf",
    *,
    norm: str = "minmax",
    weights: Any = None,
    rrf_k: float = 60,
    depth: int | None = None,
    top: int | None = 1000,
    tag: str | None = None,
    ties: str = "docno",
    duplicates: Any = "error",
    threads: int | None = None,
) -> Run:
    """One run, fused from several.

    Parameters
    ----------
    runs : Runs, or anything `read_runs` takes (a list is taken as several)
    method : str
        combsum, combmnz, combanz, combmax, combmin, combmed, rrf, borda or condorcet.
    norm : {"minmax", "z", "sum", "none"}
        For the comb methods, of each list: (s - min) / (max - min); (s - mean) / standard deviation; (s - min) divided
        by their sum; or the scores as they are. Where all scores of a list are equal: 1, 0 and 1 / documents.
    weights : sequence or mapping, optional
        One number per run, or ``{run: number}``; 1 where nothing is said. It multiplies scores, votes and points.
    rrf_k : float
        The constant k of rrf.
    depth : int, optional
        How far down each list is looked at; the whole of it if not given.
    top : int or None
        How many documents a topic keeps.
    tag : str, optional
        The fused run's name; the method if not given.
    ties, duplicates, threads
        As for `pool`.

    Returns
    -------
    Run
        In memory; `evaluate` and all others take it, `Run.documents` shows it.

    Examples
    --------
    >>> import amble
    >>> runs = {"x": {"1": {"a": 3.0, "b": 2.0, "c": 1.0}}, "y": {"1": {"b": 9.0, "d": 8.0}}}
    >>> amble.fuse(runs, "combsum").documents()["1"]  # b: 1/2 + 1, a: 1, c and d: 0
    [('b', 1.5), ('a', 1.0), ('d', 0.0), ('c', 0.0)]
    >>> [doc for doc, score in amble.fuse(runs).documents()["1"]]  # 1/61 + 1/62, 1/61, 1/62, 1/63
    ['b', 'a', 'd', 'c']
    """
    checks.one_of(method, METHODS, "method")
    checks.one_of(norm, NORMS, "norm")
    rrf_k = checks.number(rrf_k, "rrf_k", least=0)
    if top is not None:
        top = checks.whole(top, "top")
    lists = read_run_lists(runs, depth, ties=ties, duplicates=duplicates, threads=threads)
    weight = _weights(weights, lists.runs)
    fused = _scores(lists, method, norm, weight, rrf_k)
    columns: tuple[list[str], list[str], list[float]] = ([], [], [])
    for topic, scores in zip(lists.topics, fused, strict=True):
        docs = lists[topic].docs
        if not np.isfinite(scores).all():
            raise AmbleError(
                f"topic {topic}: a fused score is too large for a double; expected smaller scores or a norm"
            )
        best = _best_first(docs, scores, top)
        columns[0].extend([topic] * best.size)
        columns[1].extend(docs[i] for i in best.tolist())
        columns[2].extend(scores[best].tolist())
    return Run(columns, tag or method, named=True)
