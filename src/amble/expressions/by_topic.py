"""Parameters that differ by topic, ``INSQ(T='t.tsv')``: a value for each topic, from a file or a mapping.

The file, whose name ends in ``.tsv``, has lines of a topic and its number, or its numbers by rank. A measure with such
a parameter has another user for each topic.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from amble.errors import MeasureError, ReadError
from amble.expressions.values import Value, digest
from amble.io.files import read_bytes
from amble.io.rows import read_number

__all__ = ["ByTopic"]


class ByTopic(Value, Mapping[str, Any]):
    """A value of a parameter for each topic; expressions show the name of the file.

    >>> ByTopic({"401": 1.0, "402": 5.0})["402"]
    5.0
    """

    table: dict[str, Any]
    source: str

    def __init__(self, table: Mapping[str, Any], source: str = "") -> None:
        vars(self).update(table=dict(table), source=source)

    @classmethod
    def of(cls, given: Any, check: Callable[[Any], Any], text: str) -> ByTopic | None:
        """The values of a file or a mapping, each checked; None if it is neither. ``text`` says what is expected."""
        if isinstance(given, ByTopic):
            return given
        if isinstance(given, Mapping) and given and all(isinstance(topic, str) for topic in given):
            return cls({topic: _checked(x, check, text, f"topic {topic}") for topic, x in given.items()})
        if not isinstance(given, str | os.PathLike) or not os.fspath(given).endswith(".tsv"):
            return None
        path, table = os.fspath(given), dict[str, Any]()
        try:
            lines = [line.split() for line in read_bytes(path).decode("utf-8", "surrogateescape").split("\n")]
        except ReadError as error:
            raise MeasureError(str(error)) from None
        for number, (topic, *words) in ((n, cells) for n, cells in enumerate(lines, 1) if cells and cells[0][0] != "#"):
            where = f"{path}:{number}"
            if not words:
                if not table and _reads(check, path):  # numbers by rank
                    return None
                raise MeasureError(f"{where}: found 1 column, expected a topic and its value")
            if topic in table:
                raise MeasureError(f"{where}: topic {topic} has a value already, expected one line for each topic")
            try:
                numbers = [read_number(word, "value") for word in words]
            except ValueError as error:
                raise MeasureError(f"{where}: {error}") from None
            table[topic] = _checked(numbers if len(numbers) > 1 else numbers[0], check, text, f"{where}: topic {topic}")
        if not table:
            raise MeasureError(f"{path}: empty, expected lines of a topic and its value")
        return cls(table, path)

    def content(self) -> tuple[Any, ...]:
        """The values by topic, and the name of the file."""
        return self.table, self.source

    def __hash__(self) -> int:
        return hash((tuple(self.table), self.source))

    def __getitem__(self, topic: str) -> Any:
        return self.table[topic]

    def __iter__(self) -> Iterator[str]:
        return iter(self.table)

    def __len__(self) -> int:
        return len(self.table)

    @property
    def unquoted(self) -> bool:
        """Whether no expression can spell it: it is no file's."""
        return not self.source

    def __str__(self) -> str:
        return self.source or digest("topics", sorted(self.table.items()))


def _reads(check: Callable[[Any], Any], path: str) -> bool:
    """Whether a file is read where there are no topics."""
    try:
        check(path)
    except ValueError:
        return False
    return True


def _checked(value: Any, check: Callable[[Any], Any], text: str, where: str) -> Any:
    """The value of one topic: as it is, or as the only one of several by rank."""
    for x in (value, [value]):
        try:
            return check(x)
        except (ValueError, TypeError, OverflowError):
            continue
    raise MeasureError(f"{where} has the value {value!r:.60}, expected {text}")
