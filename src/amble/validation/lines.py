"""The lines of a file in one pass, block by block; lines that the reader would refuse are reported and left out.

The plain reader defines what a line must look like. A block is taken as it is if it is plainly right (every line has
the same, right number of columns, every number is made of digits and is finite); any other block goes through the plain
reader line by line, so that the two cannot disagree.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from amble.errors import ReadError
from amble.io.files import byte_limit, open_source
from amble.io.table_files import layout_of
from amble.native.plain_reader import Layout, parse_lines, quote
from amble.validation.findings import FileReport, Findings

__all__ = ["Block", "Progress", "all_numbers", "blocks", "quote"]

Progress = Callable[[str, int], None]

_BLOCK = 1 << 17
_BOM = b"\xef\xbb\xbf"
_CONTROL = bytes(byte for byte in range(32) if byte not in b"\t\n\v\f\r")
_IDS = {0: "topic", 2: "document", 5: "tag"}


class Block(NamedTuple):
    """Good lines of a file: their line numbers, their columns and the number (score or grade) of each.

    ``refused`` has the first columns of the lines left out.
    """

    lines: Sequence[int]
    rows: list[list[bytes]]
    numbers: array[float]
    refused: Sequence[bytes] = ()


def all_numbers(column: Sequence[bytes]) -> array[float] | None:
    """A column's numbers, or None if one of them is not plainly a finite decimal.

    Examples
    --------
    >>> all_numbers([b"1", b"-2.5e3"])
    array('d', [1.0, -2500.0])
    >>> all_numbers([b"1", b"nan"]) is None
    True
    """
    if b"".join(column).translate(None, b"0123456789+-.eE"):
        return None
    try:
        values = array("d", map(float, column))
    except ValueError:
        return None
    return values if np.isfinite(np.frombuffer(values)).all() else None


def _chunks(path: str, most: int) -> Iterator[bytes]:
    """Yield the file's bytes in whole lines, up to one that is too long."""
    rest: list[bytes] = []
    try:
        with open_source(path) as (source, _):
            while True:
                # what there is, so that a file that breaks off is looked at up to there
                data = os.read(source, _BLOCK) if isinstance(source, int) else source.read1(_BLOCK)
                if not data:
                    break
                end = data.rfind(b"\n") + 1
                if end:
                    yield b"".join((*rest, data[:end]))
                    rest = [data[end:]] if end < len(data) else []
                else:
                    rest.append(data)
                if sum(map(len, rest)) > most + len(_BOM):
                    break
    except OSError as error:
        raise ReadError(f"{path}: cannot be read: {error.strerror or error}") from None
    if rest:
        yield b"".join(rest)


class _Bytes:
    """Collects how a file is written: ends of lines, blanks between columns, comments."""

    def __init__(self, found: Findings) -> None:
        self.found = found
        self.crlf = self.first_crlf = 0
        self.separators: dict[str, int] = {}

    def see(self, text: bytes, lines: list[bytes], first: int) -> None:
        if b"\r" in text and (crlf := text.count(b"\r\n") + text.endswith(b"\r")):
            self.first_crlf = self.first_crlf or first + next(i for i, x in enumerate(lines) if x.endswith(b"\r"))
            self.crlf += crlf
        for blank, name in ((b" ", "spaces"), (b"\t", "tabs"), (b"\v", "other"), (b"\f", "other"), (b"\r", "other")):
            if name not in self.separators and blank in text:
                for i, line in enumerate(lines):
                    stripped = line.strip()
                    if blank in stripped and not stripped.startswith(b"#"):
                        self.separators[name] = first + i
                        break

    def close(self, lines: int, last: bytes) -> None:
        if self.crlf:
            self.found.add("crlf", self.first_crlf, "{:,} of {:,} lines end in CRLF, expected LF", self.crlf, lines)
        if len(self.separators) > 1 or "other" in self.separators:
            names = {"spaces": "spaces", "tabs": "tabs", "other": "carriage returns, vertical tabs or form feeds"}
            seen = [f"{names[name]} (first on line {line})" for name, line in self.separators.items()]
            text = f"columns are separated by {' and by '.join(seen)}, expected spaces or tabs throughout"
            self.found.add("separators", max(self.separators.values()), text)
        if last and not last.endswith(b"\n"):
            self.found.add("final-newline", lines, "the last line has no end, expected a newline (is the file whole?)")


def _parsed(lines: list[bytes], first: int, layout: Layout, found: Findings) -> Block:
    """Take a block line by line, each through the reader."""
    at: list[int] = []
    rows: list[list[bytes]] = []
    numbers = array("d")
    refused: list[bytes] = []
    for line, text in enumerate(lines, first):
        try:  # the line stands second, where a byte order mark is no byte order mark
            parsed = next(parse_lines((b"", text), layout, ""), None)
        except ReadError as error:
            message = str(error).removeprefix(":2: ")
            kind = "columns" if message.startswith("found ") else "control" if " in the line" in message else "number"
            found.add(kind, line, message)
            refused.append(text.split(None, 1)[0])
            continue
        if parsed is None:
            if text.strip():
                found.add("comment", line, "the line is a comment, expected none in a file to hand in")
            else:
                found.add("blank", line, "the line is blank")
            continue
        _, columns, _, number = parsed
        at.append(line)
        rows.append(columns)
        numbers.append(number)
    return Block(at, rows, numbers, refused)


def _block(text: bytes, lines: list[bytes], first: int, layout: Layout, found: Findings) -> Block:
    """Take a block as it is, where it is plainly right."""
    rows = list(map(bytes.split, lines))
    widths = set(map(len, rows))
    if len(widths) == 1 and layout.least <= widths.pop() <= layout.most:
        clean = len(text.translate(None, _CONTROL)) == len(text)
        if clean and not (b"#" in text and any(row[0].startswith(b"#") for row in rows)):
            numbers = all_numbers([row[layout.number] for row in rows])
            if numbers is not None:
                return Block(range(first, first + len(rows)), rows, numbers)
    return _parsed(lines, first, layout, found)


def _look_at_ids(block: Block, found: Findings) -> None:
    """Report ids that are not ASCII, or not even text."""
    for line, row in zip(block.lines, block.rows, strict=True):
        for i, what in _IDS.items():
            if i < len(row) and not row[i].isascii():
                try:
                    row[i].decode()
                except UnicodeDecodeError:
                    found.add("not-utf8", line, "{} {} is not UTF-8, expected text", what, quote(row[i]))
                else:
                    found.add("not-ascii", line, "{} {} is not ASCII, expected plain letters", what, quote(row[i]))


def blocks(
    report: FileReport, layout: Layout, progress: Progress | None = None, max_line: int | None = None
) -> Iterator[Block]:
    """Yield a file's good lines; report the others, the way the file is written, and that it cannot be read.

    Parameters
    ----------
    report : FileReport
        Of the file.
    layout : Layout
        The reader's: what columns a line has.
    progress : callable, optional
        Called with the path and the lines read so far, block by block.
    max_line : int, optional
        The longest line, in bytes.
    """
    try:
        yield from _blocks(report.path, layout, report.findings, progress, byte_limit(max_line))
    except ReadError as error:
        report.unreadable = error
        text = str(error).removeprefix(report.path)
        line, _, rest = text.removeprefix(":").partition(": ")
        if text.startswith(":") and line.isdecimal():  # where it broke off
            report.findings.add("unreadable", int(line), rest)
        else:
            report.findings.add("unreadable", None, text.removeprefix(": "))


def _blocks(path: str, layout: Layout, found: Findings, progress: Progress | None, most: int) -> Iterator[Block]:
    seen, n, text = _Bytes(found), 0, b""
    for text in _chunks(path, most):
        body = text
        if not n and (kind := layout_of(text, path)):
            raise ReadError(f"{path}: {kind}, which amble reads; but a file to hand in has lines: {layout.columns}")
        if not n and body.startswith(_BOM):
            found.add("bom", 1, "the file starts with a byte order mark, expected none")
            body = body[len(_BOM) :]
        body = body.removesuffix(b"\n")
        lines = body.split(b"\n")
        if len(body) > most and (long := [i for i, line in enumerate(lines, n + 1) if len(line) > most]):
            raise ReadError(f"{path}:{long[0]}: the line is longer than {most} bytes, the most that max_line allows")
        seen.see(body, lines, n + 1)
        block = _block(body, lines, n + 1, layout, found)
        if not body.isascii():
            _look_at_ids(block, found)
        n += len(lines)
        yield block
        if progress is not None:
            progress(path, n)
    seen.close(n, text)
