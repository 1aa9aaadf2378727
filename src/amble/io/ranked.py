"""What the reader makes of a run: ranks and rows of its judged documents, or all its documents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Documents", "Ranked"]


class Ranked(NamedTuple):
    """What the reader makes of one run and the judgments.

    ``lists`` has a row per judged topic of the run: index of the topic, documents, documents that share their score
    with another, duplicates dropped, end of its hits, and whether its order changes if scores are compared as floats
    (in single precision, as in trec_eval 9). ``hits`` has a row per judged document in rank order: rank, row of the
    judgment and, where they are wanted, first rank and size of its group of equal scores.
    """

    lists: NDArray[np.int64]
    hits: NDArray[np.int32]
    extra: list[str]
    tag: str

    @classmethod
    def of(cls, raw: tuple[bytes, bytes, list[str], str], groups: bool = True) -> Ranked:
        """Wrap the reader's answer."""
        lists, hits, extra, tag = raw
        return cls(
            np.frombuffer(lists, np.int64).reshape(-1, 6),
            np.frombuffer(hits, np.int32).reshape(-1, 4 if groups else 2),
            extra,
            tag,
        )


class Documents:
    """A run's documents in rank order, topic by topic; made by `Run.documents`.

    Examples
    --------
    >>> import amble
    >>> runs = amble.read_runs({"mine": {"401": {"a": 1.5, "b": 2.5}}})
    >>> documents = runs[0].documents()
    >>> documents["401"]
    [('b', 2.5), ('a', 1.5)]
    """

    def __init__(self, raw: tuple[list[str], bytes, list[str], bytes, str, int]) -> None:
        topics, offsets, docs, scores, self.tag, self.dropped = raw
        self.topics: tuple[str, ...] = tuple(topics)
        self.offsets: NDArray[np.int64] = np.frombuffer(offsets, np.int64)
        self.docs: list[str] = docs
        self.scores: NDArray[np.float64] = np.frombuffer(scores, np.float64)[: len(docs)]
        self._index = {topic: i for i, topic in enumerate(self.topics)}

    def __getitem__(self, topic: str) -> list[tuple[str, float]]:
        i = self._index[topic]
        rows = slice(int(self.offsets[i]), int(self.offsets[i + 1]))
        return list(zip(self.docs[rows], self.scores[rows].tolist(), strict=True))

    def __iter__(self) -> Iterator[str]:
        return iter(self.topics)

    def __len__(self) -> int:
        return len(self.topics)
