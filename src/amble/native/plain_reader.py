"""The plain twin of ``reader.c``: the same functions, the same results, the same messages.

It is used where no compiler was at hand, and it is the C reader's specification: tests and the fuzzer hold the two
together. Everything is read whole, line by line; ids are bytes inside and strings outside.

An *origin* is a source (a file descriptor or an object with ``readinto``), a dictionary ``{topic: {doc: number}}`` or
three lists ``(topics, docs, numbers)``; of judgments of subtopics, four: ``(topics, subtopics, docs, grades)``.
"""

from __future__ import annotations

import contextlib
import math
import operator
import os
import re
from array import array
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from amble import checks
from amble.errors import ReadError

TIES_DOCNO, TIES_RANK, TIES_FILE = 0, 1, 2
LONGEST = checks.INT32  # bytes of a line, at most; callers allow less
NO_GROUPS = 4  # added to one of them: hits without their groups of equal scores
SINGLE = 8  # added to one of them: scores are compared as floats
_SHOWN = 60
_BOM = b"\xef\xbb\xbf"
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_BELOW_BLANK = re.compile(rb"[\x00-\x1f]")
_NUMBER = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


class Layout(NamedTuple):
    """The columns of a line, and which of them is the number."""

    columns: str
    least: int
    most: int
    number: int
    number_is: str
    more: bool  # text may follow the last column; then the rank must be a number


QRELS_LINE = Layout("topic iter doc grade", 4, 4, 3, "grade", False)
SUBTOPICS_LINE = QRELS_LINE._replace(columns="topic subtopic doc grade")
RUN_LINE = Layout("topic Q0 doc rank score tag", 5, 6, 4, "score", True)


class Judgments:
    """Documents and grades by topic, in order of first appearance; rows count through the topics.

    Of judgments of subtopics, a row has the largest grade of its document, and the grades by document and subtopic are
    kept beside it.
    """

    def __init__(self) -> None:
        self.rows: dict[bytes, dict[bytes, int]] = {}
        self.grades: dict[bytes, list[float]] = {}
        self.base: dict[bytes, int] = {}
        self.index: dict[bytes, int] = {}
        self.subtopics: dict[bytes, dict[bytes, int]] = {}
        self.aspects: dict[bytes, dict[tuple[int, int], float]] = {}

    def add(self, topic: bytes, doc: bytes, grade: float, subtopic: bytes | None = None) -> bool:
        """Judge a document; false when it was judged before."""
        docs, grades = self.rows.setdefault(topic, {}), self.grades.setdefault(topic, [])
        known = doc in docs
        if known and subtopic is None:
            return False
        row = docs.setdefault(doc, len(docs))
        if not known:
            grades.append(grade)
        if subtopic is None:
            return True
        names, aspects = self.subtopics.setdefault(topic, {}), self.aspects.setdefault(topic, {})
        at = row, names.setdefault(subtopic, len(names))
        if at in aspects:
            return False
        aspects[at] = grade
        grades[row] = max(grades[row], grade)
        return True

    def number_rows(self) -> None:
        """Give each topic the range of rows that is its own."""
        base = 0
        for index, (topic, docs) in enumerate(self.rows.items()):
            self.base[topic], self.index[topic] = base, index
            base += len(docs)


class _Record(NamedTuple):
    doc: bytes
    score: float
    given: float  # the rank column, where ties are broken by it


class _Entry(NamedTuple):
    place: int  # line of a file, or row of a table
    topic: bytes
    record: _Record
    tag: bytes


def decode(name: bytes) -> str:
    """A name as text."""
    return name.decode("utf-8", "surrogateescape")


def quote(name: bytes) -> str:
    """A name in quotes for a message, cut where it is long."""
    shown = _BELOW_BLANK.sub(lambda byte: b"\\x%02x" % byte[0][0], name[:_SHOWN]).decode("utf-8", "backslashreplace")
    return f"'{shown}...'" if len(name) > _SHOWN else f"'{shown}'"


def _pieces(source: Any) -> Iterator[bytes]:
    if isinstance(source, int):
        with open(os.dup(source), "rb", buffering=0) as file:
            while data := file.read(1 << 16):
                yield data
        return
    buffer = bytearray(1 << 16)
    while got := operator.index(source.readinto(memoryview(buffer))):
        if not 0 <= got <= len(buffer):
            raise OSError("readinto() returned a length that is not one")
        yield bytes(memoryview(buffer)[:got])


def _lines_of(source: Any, longest: int) -> Iterator[bytes]:
    """Yield lines; the last is one that is longer than is allowed, as far as it was read, if there is such a one."""
    rest: list[bytes] = []
    size = 0
    for data in _pieces(source):
        first, *lines = data.split(b"\n")
        rest.append(first)
        size += len(first)
        if lines:
            yield b"".join(rest)
            yield from lines[:-1]
            rest, size = lines[-1:], len(lines[-1])
        if size > longest + len(_BOM):
            break
    yield b"".join(rest)


def parse_number(column: bytes, what: str) -> float:
    """The number in a column; ValueError says what is wrong with it."""
    if not _NUMBER.fullmatch(column):
        raise ValueError(f"{what} {quote(column)} is not a decimal number")
    value = float(column)
    if math.isinf(value):
        raise ValueError(f"{what} {quote(column)} is too large for a double")
    return value


def _is_number(column: bytes) -> bool:
    return bool(_NUMBER.fullmatch(column)) and not math.isinf(float(column))


def parse_lines(
    lines: Iterable[bytes], layout: Layout, name: str, *, rank_matters: bool = False, longest: int = LONGEST
) -> Iterator[tuple[int, list[bytes], float, float]]:
    """Yield the line number, columns, rank (where it matters) and number of each line that says something."""
    for line, text in enumerate(lines, 1):
        text = text.removeprefix(_BOM) if line == 1 else text
        if len(text) > longest:
            raise ReadError(f"{name}:{line}: the line is longer than {longest} bytes, the most that max_line allows")
        columns = text.split()
        if not columns or columns[0].startswith(b"#"):
            continue
        if control := _CONTROL.search(text):
            byte = control.group()[0]
            found = f"control byte 0x{byte:02x} in the line, expected text"
            if not byte:
                found = "NUL byte in the line, expected text (is it UTF-16, or compressed?)"
            raise ReadError(f"{name}:{line}: {found}")
        n = len(columns)
        if n < layout.least or (n > layout.most and not (layout.more and _is_number(columns[3]))):
            found = f"{n} column{'' if n == 1 else 's'}, expected {layout.most}: {layout.columns}"
            raise ReadError(f"{name}:{line}: found {found}")
        if n > layout.most and b"\r" in text.strip():
            found = "carriage return inside the line, expected lines that end in LF or CRLF"
            raise ReadError(f"{name}:{line}: {found}")
        try:
            rank = parse_number(columns[3], "rank") if rank_matters else 0.0
            number = parse_number(columns[layout.number], layout.number_is)
        except ValueError as error:
            raise ReadError(f"{name}:{line}: {error}") from None
        yield line, columns, rank, number


def _name_of(value: object, what: str, where: str) -> bytes:
    if not isinstance(value, str | bool):
        with contextlib.suppress(TypeError):
            value = str(operator.index(value))  # type: ignore[arg-type]
    if not isinstance(value, str):
        found = f"{value!r:.100} is of type {type(value).__name__}"
        raise ReadError(f"{where}{what} {found}, expected a string or a whole number")
    try:
        return value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise ReadError(f"{where}{what} {value!r:.100} holds half a surrogate pair, expected text") from None


def _number_of(value: Any, what: str, where: str) -> float:
    number = math.nan
    with contextlib.suppress(TypeError, ValueError, OverflowError):
        number = math.ldexp(value, 0)  # takes what has a __float__, but unlike float() no text
    if not math.isfinite(number):
        raise ReadError(f"{where}{what} {value!r:.100} is not a finite number")
    return number


def _table(origin: Any, what: str, name: str) -> Iterator[tuple[int, str, bytes, bytes | None, bytes, float]]:
    """Yield entry, place in words, topic, subtopic (of four columns), document and number of each entry of a table."""
    if isinstance(origin, dict):
        entry = 0
        for topic, docs in origin.items():
            t = _name_of(topic, "topic", f"{name}: ")
            at = f"{name}: topic {topic!r}: "
            if not isinstance(docs, dict):
                raise ReadError(f"{at}value {docs!r:.100} is of type {type(docs).__name__}, expected a dictionary")
            for doc, value in docs.items():
                d = _name_of(doc, "document", at)
                here = f"{name}: topic {topic!r}, document {doc!r}: "
                yield entry, here, t, None, d, _number_of(value, what, here)
                entry += 1
        return
    for row, (topic, *subtopic, doc, value) in enumerate(zip(*origin, strict=False)):
        at = f"{name}: row {row}: "
        t = _name_of(topic, "topic", at)
        s = _name_of(subtopic[0], "subtopic", at) if subtopic else None
        yield row, at, t, s, _name_of(doc, "document", at), _number_of(value, what, at)


def _is_table(origin: object) -> bool:
    return isinstance(origin, dict | tuple)


def judged_twice(topic: bytes, doc: bytes, before: bytes | None, now: bytes | None, first: str) -> str:
    """What is wrong with a document judged twice, and whether these may be judgments of subtopics."""
    text = f"document {quote(doc)} is judged twice for topic {quote(topic)} (first {first})"
    if now is None or before == now:
        return text
    if before is None:
        return f"{text}, subtopic {quote(now)}"
    return f"{text}, here under {quote(now)}: judgments of subtopics? read them with subtopics=True (--subtopics)"


def judge(origin: Any, name: str, longest: int = LONGEST, subtopics: bool = False) -> Judgments:
    """Read judgments from an origin; of subtopics, if the second column is one of them."""
    judgments = Judgments()
    first: dict[tuple[bytes | None, ...], tuple[int, bytes]] = {}
    if _is_table(origin):
        for entry, where, topic, subtopic, doc, grade in _table(origin, "grade", name):
            if not judgments.add(topic, doc, grade, subtopic):
                if isinstance(origin, dict):
                    raise ReadError(f"{where}judged twice")
                at, _ = first[topic, doc, subtopic]
                raise ReadError(f"{where}{judged_twice(topic, doc, None, subtopic, f'in row {at}')}")
            first[topic, doc, subtopic] = entry, b""
    else:
        layout = SUBTOPICS_LINE if subtopics else QRELS_LINE
        for line, columns, _, grade in parse_lines(_lines_of(origin, longest), layout, name, longest=longest):
            topic, second, doc, *_ = columns
            key = topic, doc, second if subtopics else None
            if not judgments.add(*key[:2], grade, key[2]):
                at, before = first[key]
                why = judged_twice(topic, doc, None if subtopics else before, second, f"on line {at}")
                raise ReadError(f"{name}:{line}: {why}")
            first[key] = line, second
    judgments.number_rows()
    return judgments


def describe(judgments: Judgments) -> tuple[list[str], bytes, bytes]:
    """Topics, offsets of their rows (int64) and grades by row (float64)."""
    offsets, grades = array("q", [0]), array("d")
    for topic in judgments.rows:
        grades.extend(judgments.grades.get(topic, ()))
        offsets.append(len(grades))
    return [decode(topic) for topic in judgments.rows], offsets.tobytes(), grades.tobytes()


def documents(judgments: Judgments) -> list[str]:
    """Documents by row."""
    return [decode(doc) for docs in judgments.rows.values() for doc in docs]


def subtopics(judgments: Judgments) -> tuple[list[str], bytes, bytes, bytes, bytes]:
    """Subtopics, offsets of those of each topic, and rows, subtopics and grades of all judgments, topic by topic."""
    names: list[str] = []
    offsets, rows, own, grades = array("q", [0]), array("q"), array("q"), array("d")
    for topic in judgments.rows:
        for (row, subtopic), grade in judgments.aspects.get(topic, {}).items():
            rows.append(judgments.base[topic] + row)
            own.append(len(names) + subtopic)
            grades.append(grade)
        names += map(decode, judgments.subtopics.get(topic, ()))
        offsets.append(len(names))
    return names, offsets.tobytes(), rows.tobytes(), own.tobytes(), grades.tobytes()


def _best(records: list[_Record], ties: int) -> list[_Record]:
    best: dict[bytes, int] = {}
    for i, record in enumerate(records):
        f = best.setdefault(record.doc, i)
        other = records[f]
        if record.score > other.score or (
            ties == TIES_RANK and record.score == other.score and record.given < other.given
        ):
            best[record.doc] = i
    return [records[i] for i in sorted(best.values())]


def _order(records: list[_Record], ties: int) -> list[_Record]:
    if ties != TIES_FILE:
        records = sorted(records, key=lambda r: r.doc, reverse=True)
    if ties == TIES_RANK:
        records = sorted(records, key=lambda r: r.given)
    return sorted(records, key=lambda r: -r.score)


def _as_floats(records: list[_Record]) -> list[_Record]:
    """The records with their scores in single precision: infinite where a float has no such number."""
    return [record._replace(score=x) for record, x in zip(records, array("f", (r.score for r in records)), strict=True)]


def _moves(records: list[_Record], ordered: list[_Record], ties: int) -> bool:
    """Whether the order is another one if scores are compared as floats."""
    as_floats = array("f", (record.score for record in records))
    if len(set(as_floats)) == len({record.score for record in records}):
        return False  # no two scores are equal as floats only
    return [record.doc for record in _order(_as_floats(records), ties)] != [record.doc for record in ordered]


def _groups(records: list[_Record]) -> Iterator[tuple[int, int]]:
    start = 0
    for end in range(1, len(records) + 1):
        if end == len(records) or records[end].score != records[start].score:
            yield start, end
            start = end


def _file_entries(origin: Any, ties: int, name: str, longest: int) -> Iterator[_Entry]:
    raw = _lines_of(origin, longest)
    lines = parse_lines(raw, RUN_LINE, name, rank_matters=ties == TIES_RANK, longest=longest)
    for line, columns, given, score in lines:
        tag = columns[5] if len(columns) > 5 else b""
        yield _Entry(line, columns[0], _Record(columns[2], score, given), tag)


def _records(origin: Any, ties: int, keep_best: int, name: str, longest: int) -> tuple[dict[bytes, list[_Record]], str]:
    """Group the run's records by topic; a document that comes twice is an error, unless the best is to be kept."""
    entries: Iterable[_Entry]
    if _is_table(origin):
        at, word = f"{name}: row ", "in row"
        entries = [
            _Entry(entry, topic, _Record(doc, score, 0.0), b"")
            for entry, _, topic, _, doc, score in _table(origin, "score", name)
        ]
    else:
        at, word = f"{name}:", "on line"
        entries = _file_entries(origin, ties, name, longest)
    topics: dict[bytes, list[_Record]] = {}
    seen: dict[tuple[bytes, bytes], int] = {}
    tag = b""
    for place, topic, record, its_tag in entries:
        tag = tag or its_tag
        first = seen.setdefault((topic, record.doc), place)
        if first != place and not keep_best:
            raise ReadError(
                f"{at}{place}: document {quote(record.doc)} appears twice "
                f"for topic {quote(topic)} (first {word} {first})"
            )
        topics.setdefault(topic, []).append(record)
    return topics, decode(tag)


def rank_stream(
    judgments: Judgments, source: Any, stop: int, middle: bool, *how: Any
) -> tuple[bytes, bytes, list[str], str] | None:
    """Rank a run from where the source stands, as `rank` does; this twin always reads the whole of it."""
    if stop >= 0 or middle:
        raise ValueError("the plain reader does not read parts of a file")
    return rank(judgments, source, *how)  # type: ignore[return-value]


def rank(
    judgments: Judgments | None, origin: Any, ties: int, keep_best: int, name: str, longest: int = LONGEST
) -> tuple[bytes, bytes, list[str], str] | tuple[list[str], bytes, list[str], bytes, str, int]:
    """Rank a run: its lists and hits where there are judgments, its documents where there are none."""
    no_groups, single, ties = bool(ties & NO_GROUPS), bool(ties & SINGLE), ties & ~(NO_GROUPS | SINGLE)
    topics, tag = _records(origin, ties, keep_best, name, longest)
    if single:
        topics = {topic: _as_floats(records) for topic, records in topics.items()}
    best = {topic: _best(records, ties) for topic, records in topics.items()}
    ordered = {topic: _order(records, ties) for topic, records in best.items()}
    if judgments is None:
        offsets, scores = array("q", [0]), array("d")
        docs: list[str] = []
        for records in ordered.values():
            docs.extend(decode(record.doc) for record in records)
            scores.extend(record.score for record in records)
            offsets.append(len(docs))
        dropped = sum(map(len, topics.values())) - len(docs)
        names = [decode(topic) for topic in topics]
        return names, offsets.tobytes(), docs, scores.tobytes(), tag, dropped
    lists, hits, extra = array("q"), array("i"), []
    for topic, records in ordered.items():
        rows = judgments.rows.get(topic)
        if rows is None:
            extra.append(decode(topic))
            continue
        base, tied = judgments.base[topic], 0
        for start, end in _groups(records):
            tied += end - start if end - start > 1 else 0
            for i in range(start, end):
                row = rows.get(records[i].doc)
                if row is not None:
                    hits.extend((i + 1, base + row) if no_groups else (i + 1, base + row, start + 1, end - start))
        dropped = len(topics[topic]) - len(records)
        end = len(hits) // (2 if no_groups else 4)
        moved = _moves(best[topic], records, ties)
        lists.extend((judgments.index[topic], len(records), tied, dropped, end, moved))
    return lists.tobytes(), hits.tobytes(), extra, tag
