"""The ranked documents of many runs, topic by topic, for pools and fusion.

A document's id is kept once a topic; every list is an array of numbers in rank order. So 129 runs of 1,000 documents a
topic take the memory of 129,000 numbers per topic, and not that of their names.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from amble import checks
from amble.arrays import NDArray
from amble.errors import AlignError
from amble.io.trec import Documents, Runs, read_runs
from amble.parallel import map_in_order
from amble.rankings.alignment import Duplicates, run_names, threads_for

__all__ = ["RunLists", "TopicLists", "by_bytes", "read_run_lists"]

_RULES = ("docno", "rank", "file")
_AT_ONCE = 16  # runs in memory with the ids of their documents


def by_bytes(doc: str) -> bytes:
    """Sort key of an id: its bytes in a file."""
    return doc.encode("utf-8", "surrogateescape")


class TopicLists(NamedTuple):
    """The lists of one topic: ``docs`` names the documents; the others have one entry per document of a list.

    Entries are ordered by run, then by rank. ``doc`` and ``run`` are places in ``docs`` and among the runs; ``bounds``
    has the runs that answered, in order, and where the entries of each start and end.
    """

    docs: list[str]
    run: NDArray[np.int32]
    doc: NDArray[np.int32]
    rank: NDArray[np.int32]
    score: NDArray[np.float64]
    bounds: list[tuple[int, int, int]]


class RunLists:
    """The lists of all runs, topic by topic; made by `read_run_lists`.

    Attributes
    ----------
    runs, topics : tuple of str
        Runs in the order given; topics in order of first appearance.
    depth : int or None
        The depth to which lists were read.
    dropped : int
        The number of duplicates left out.
    """

    def __init__(self, runs: tuple[str, ...], depth: int | None, lists: dict[str, TopicLists], dropped: int) -> None:
        self.runs = runs
        self.topics = tuple(lists)
        self.depth = depth
        self.dropped = dropped
        self._lists = lists

    def __getitem__(self, topic: str) -> TopicLists:
        return self._lists[topic]

    def __len__(self) -> int:
        return sum(len(lists.doc) for lists in self._lists.values())

    def __repr__(self) -> str:
        return f"RunLists({len(self.runs)} runs, {len(self.topics)} topics, {len(self)} entries)"


class _Topic:
    """The lists of a topic while runs are read."""

    def __init__(self) -> None:
        self.number: defaultdict[str, int] = defaultdict(count().__next__)
        self.parts: list[tuple[int, NDArray[np.int32], NDArray[np.float64]]] = []

    def add(self, run: int, docs: list[str], scores: NDArray[np.float64]) -> None:
        numbers = np.fromiter(map(self.number.__getitem__, docs), np.int32, len(docs))
        self.parts.append((run, numbers, scores.copy()))

    def lists(self) -> TopicLists:
        sizes = [len(doc) for _, doc, _ in self.parts]
        ends = np.cumsum(sizes).tolist()
        return TopicLists(
            list(self.number),
            np.repeat(np.array([run for run, _, _ in self.parts], np.int32), sizes),
            np.concatenate([doc for _, doc, _ in self.parts]),
            np.concatenate([np.arange(1, n + 1, dtype=np.int32) for n in sizes]),
            np.concatenate([score for _, _, score in self.parts]),
            [(run, end - n, end) for (run, _, _), n, end in zip(self.parts, sizes, ends, strict=True)],
        )


def read_run_lists(
    runs: Any,
    depth: int | None = None,
    *,
    ties: str = "docno",
    duplicates: Duplicates = "error",
    threads: int | None = None,
) -> RunLists:
    """The documents of all runs, down to a depth.

    Parameters
    ----------
    runs : Runs, or anything `read_runs` takes (a list is taken as several)
    depth : int, optional
        Look no further than this rank.
    ties, duplicates, threads
        As for `align`; ties cannot be ``"expected"``, as a document has one rank here.

    Examples
    --------
    >>> from amble.rankings.run_lists import read_run_lists
    >>> lists = read_run_lists({"x": {"1": {"a": 2.0, "b": 1.0}}, "y": {"1": {"c": 9.0, "a": 8.0}}})
    >>> lists["1"].docs, lists["1"].doc.tolist(), lists["1"].rank.tolist()
    (['a', 'b', 'c'], [0, 1, 2, 0], [1, 2, 1, 2])
    """
    if depth is not None:
        depth = checks.whole(depth, "depth")
    checks.one_of(ties, _RULES, "ties", AlignError)
    checks.one_of(duplicates, ("error", "best"), "duplicates", AlignError)
    if not isinstance(runs, Runs):
        runs = read_runs(*runs) if isinstance(runs, list | tuple) else read_runs(runs)
    workers = threads_for(threads, runs)
    topics: dict[str, _Topic] = {}
    tags, dropped = [], 0
    for start in range(0, len(runs), _AT_ONCE):
        some = list(runs[start : start + _AT_ONCE])
        read = list(map_in_order(lambda run: run.documents(ties, duplicates), some, workers))
        tags += [documents.tag for documents in read]
        dropped += sum(documents.dropped for documents in read)
        _number(read, start, depth, topics)
    runs.refuse_unmet_columns()
    names = run_names(runs, tags)
    lists: dict[str, TopicLists] = {}
    for topic in list(topics):
        lists[topic] = topics.pop(topic).lists()
    return RunLists(names, depth, lists, dropped)


def _number(read: list[Documents], first: int, depth: int | None, topics: dict[str, _Topic]) -> None:
    """Turn the documents of some runs into numbers, a topic at a time."""
    bounds = [documents.offsets.tolist() for documents in read]
    where: dict[str, list[tuple[int, int]]] = {}
    for i, documents in enumerate(read):
        for t, topic in enumerate(documents.topics):
            where.setdefault(topic, []).append((i, t))
    for topic, lists in where.items():
        for i, t in lists:
            start, end = bounds[i][t], bounds[i][t + 1]
            if depth is not None:
                end = min(end, start + depth)
            if topic not in topics:
                topics[topic] = _Topic()
            topics[topic].add(first + i, read[i].docs[start:end], read[i].scores[start:end])
