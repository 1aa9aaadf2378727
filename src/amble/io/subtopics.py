"""Judgments of subtopics: the grade of each document for each thing that a topic may mean, and how likely each is."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from amble.arrays import NDArray
from amble.checks import is_number
from amble.errors import ReadError
from amble.io.rows import read_rows

__all__ = ["Probabilities", "Subtopics", "no_subtopics"]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Probabilities = Mapping[str, Mapping[str, float]] | str | os.PathLike[str]

_SLACK = 1e-6  # by how much probabilities may miss 1


class Subtopics:
    """Grades by document and subtopic, beside those of the documents; of `Qrels.subtopics`.

    Attributes
    ----------
    names : tuple of str
        The subtopics of all topics, topic by topic.
    offsets : ndarray of int64
        Topic ``t`` has the subtopics ``offsets[t]:offsets[t + 1]``.
    row, subtopic, grade : ndarray
        Of each judgment: the row of its document in the qrels, its subtopic, and its grade.
    weight : ndarray
        Of each subtopic: its probability, or 1 where all of a topic are as likely.
    """

    def __init__(
        self, names: Sequence[str], offsets: Ints, row: Ints, subtopic: Ints, grade: Array, weight: Array | None = None
    ) -> None:
        self.names, self.offsets = tuple(names), offsets
        by_row = np.lexsort((subtopic, row))
        self.row, self.subtopic, self.grade = row[by_row], subtopic[by_row], grade[by_row]
        self.weight: Array = np.ones(len(self.names)) if weight is None else weight

    @classmethod
    def of_bytes(cls, raw: tuple[list[str], bytes, bytes, bytes, bytes]) -> Subtopics:
        """Those that the reader returns."""
        names, *ints, grades = raw
        offsets, row, subtopic = (np.frombuffer(part, np.int64) for part in ints)
        return cls(names, offsets, row, subtopic, np.frombuffer(grades, np.float64))

    def __len__(self) -> int:
        return len(self.names)

    def matrix(self, topic: int, first: int, end: int) -> Array:
        """The grades of the documents of a topic, in the rows from ``first`` to ``end``, by subtopic; NaN: unjudged."""
        a, b = (int(x) for x in self.offsets[topic : topic + 2])
        out = np.full((end - first, b - a), np.nan)
        own = slice(*np.searchsorted(self.row, (first, end)))
        out[self.row[own] - first, self.subtopic[own] - a] = self.grade[own]
        return out

    def with_probabilities(self, given: Probabilities, topics: Sequence[str]) -> Subtopics:
        """The same judgments, with the probability of each subtopic of each topic."""
        table, name = _read(given) if isinstance(given, str | os.PathLike) else (_checked(given), "intents")
        weight = np.empty(len(self))
        for t, topic in enumerate(topics):
            at, own = f"{name}: topic {topic!r}", table.get(topic)
            if own is None:
                raise ReadError(f"{at} has no probabilities of subtopics, expected them for every topic")
            total = math.fsum(own.values())
            if abs(total - 1.0) > _SLACK:
                raise ReadError(f"{at}: the probabilities of its subtopics sum to {total:.6g}, expected 1")
            for s in range(int(self.offsets[t]), int(self.offsets[t + 1])):
                if self.names[s] not in own:
                    raise ReadError(f"{at}: subtopic {self.names[s]!r} is judged, and has no probability")
                weight[s] = own[self.names[s]]
        return Subtopics(self.names, self.offsets, self.row, self.subtopic, self.grade, weight)


def no_subtopics(only: str) -> str:
    """What is wrong with judgments all of which are of one subtopic."""
    return (
        f"every judgment is of subtopic {only!r:.60}, expected several subtopics: these are plain judgments, "
        "topic iter doc grade"
    )


def _checked(given: Any) -> dict[str, dict[str, float]]:
    if not isinstance(given, Mapping) or not all(isinstance(own, Mapping) for own in given.values()):
        raise ReadError(f"intents {given!r:.60}: expected {{topic: {{subtopic: probability}}}}, or the path of a file")
    for topic, own in given.items():
        for subtopic, p in own.items():
            if not is_number(p) or not 0 <= p <= 1:
                raise ReadError(
                    f"intents: topic {topic!r}, subtopic {subtopic!r}: {p!r:.60}, expected a probability from 0 to 1"
                )
    return {str(topic): {str(s): float(p) for s, p in own.items()} for topic, own in given.items()}


def _read(path: str | os.PathLike[str]) -> tuple[dict[str, dict[str, float]], str]:
    """The probabilities in a file of ``topic subtopic probability`` lines."""
    out: dict[str, dict[str, float]] = {}
    for where, (topic, subtopic), (p,) in read_rows(path, ("topic", "subtopic"), ("probability",)):
        if not 0 <= p <= 1:
            raise ReadError(f"{where}: probability {p:g}, expected one from 0 to 1")
        own = out.setdefault(topic, {})
        if subtopic in own:
            raise ReadError(f"{where}: subtopic {subtopic!r} of topic {topic!r} has a probability already")
        own[subtopic] = p
    return out, os.fspath(path)
