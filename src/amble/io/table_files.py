"""Files of runs and judgments in other layouts than TREC's: CSV, TSV, JSON, JSON Lines, Parquet; known by content."""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Any

from amble.errors import ReadError
from amble.io.columns import Columns, Names, as_table, columns_for, header_of, in_a_line, of_columns
from amble.io.files import LONGEST_DOCUMENT, limited_lines, open_source
from amble.io.rows import read_number

__all__ = ["is_table_file", "layout_of", "open_input"]

_HEAD = 1 << 13  # bytes that tell the layout
_BOM = b"\xef\xbb\xbf"
_BLANKS = "a table with blanks between columns"
_SIGNS = {"TSV": "\t", "CSV": ",", "CSV with semicolons": ";", _BLANKS: " "}
_NUMBER = r"(?i)[-+]?[\d.]+(e[-+]?\d+)?"
_JSON = rb'\{\s*["}]|\[\s*[\[{"\]]'
_PARQUET_HEAD = re.compile(rb"PAR1(\Z|.*[\0-\x08\x0e-\x1f])", re.DOTALL)  # a pipe may bring the first four bytes alone
_PARQUET = "pyarrow.parquet:read_table", "polars:read_parquet"
# how a file begins, and what it is then
_FOREIGN = {
    b"<!doctype html": "an HTML page: was it saved from a browser?",
    b"<html": "an HTML page: was it saved from a browser?",
    b"<": "XML: topics, or documents?",
    b"version https://git-lfs": "a pointer of Git LFS, not the file itself: git lfs pull fetches it",
    b"pk\x03\x04": "a ZIP archive (or a spreadsheet): unpack it, or save it as CSV",
    b"\x93numpy": "an array of NumPy: see amble.from_arrays",
    b"\x80\x04": "a pickle: load it in Python, and give its data to amble.evaluate",
    b"\x80\x05": "a pickle: load it in Python, and give its data to amble.evaluate",
    b"arrow1": "an Arrow file: save it as Parquet",
    b"%pdf": "a PDF",
    b"sqlite format 3": "a database: save the table as CSV",
}


def _head(source: Any) -> bytes:
    if not isinstance(source, int):
        return bytes(source.peek(_HEAD)[:_HEAD])
    head = os.read(source, _HEAD)
    os.lseek(source, 0, os.SEEK_SET)
    return head


def _first_line(head: bytes) -> tuple[int, str]:
    """The first line that says something, with its number; 0 if there is none."""
    for number, line in enumerate(head.removeprefix(_BOM).split(b"\n"), 1):
        if line.strip() and not line.lstrip().startswith(b"#"):
            return number, line.decode("utf-8", "surrogateescape").rstrip("\r")
    return 0, ""


def _cells(line: str, sign: str) -> list[str]:
    return [cell.strip().strip('"') for cell in (line.split() if sign == " " else line.split(sign))]


def layout_of(head: bytes, path: str, columns: Names | None = None) -> str:
    """The layout of a file by its first bytes, in a word; empty for a TREC file."""
    given, text = columns or {}, head.removeprefix(_BOM).lstrip()
    lower = path.lower()
    if head.startswith(b"PAR1") and (_PARQUET_HEAD.match(head) or lower.endswith(".parquet")):  # or a topic, PAR10
        return "Parquet"
    named = ".csv" in lower or ".jsonl" in lower or ".ndjson" in lower
    ending = named and re.search(r"\.(csv|jsonl|ndjson)(\.\w+)?$", lower) is not None
    if text[:1] in (b"{", b"[") and re.match(_JSON, text):
        import json  # TREC files do without

        first, _, rest = text.partition(b"\n")
        with contextlib.suppress(ValueError, RecursionError):
            json.loads(first.decode("utf-8", "surrogateescape"))
            if ending or rest.lstrip().startswith(text[:1]):
                return "JSON Lines"
        return "JSON"
    _, line = _first_line(head)
    for layout, sign in _SIGNS.items():
        cells = _cells(line, sign)
        if len(cells) > 2 and header_of(cells, given) and not any(re.fullmatch(_NUMBER, cell) for cell in cells):
            return layout
    numbered = any(isinstance(column, int) for column in given.values())
    if not numbered and len(line.split()) >= 4 and (not ending or line.count(",") < 2):
        return ""
    several = (layout for layout, sign in _SIGNS.items() if sign != " " and line.count(sign) > 1)
    return next(several, _BLANKS if numbered else "")


def _numbers(cells: list[str], lines: Sequence[int], what: str, path: str) -> list[float]:
    if not re.search(r"[^0-9+\-.eE\0]", "\0".join(cells)):  # neither nan nor 1_0
        with contextlib.suppress(ValueError):
            return list(map(float, cells))
    out = []
    for cell, line in zip(cells, lines, strict=True):
        try:
            out.append(read_number(cell.strip(), what))
        except ValueError as error:
            raise ReadError(f"{path}:{line}: {error}") from None
    return out


def _is_comment(cells: list[str], rows: list[list[str]], columns: Names) -> bool:
    """Whether a row that begins with # is a comment: before the header, or with other than the header's cells."""
    numbered = any(isinstance(column, int) for column in columns.values())
    width = len(rows[0]) if rows else len(cells) if numbered and len(cells) > 2 else 0
    return cells[0].startswith("#") and len(cells) != width


def _delimited(
    text: Iterator[str], layout: str, path: str, number: str, columns: Names, subtopics: bool | None
) -> tuple[Columns, list[int]]:
    """The columns of lines with a sign between cells, and the line of each row."""
    import csv

    sign = _SIGNS[layout]
    rows: list[list[str]] = []
    lines: list[int] = []
    line = 0
    try:
        if sign == " ":
            each: Iterator[tuple[int, list[str]]] = ((i, one.split()) for i, one in enumerate(text, 1))
        else:
            read = csv.reader(text, delimiter=sign, skipinitialspace=True, strict=True)
            each = ((read.line_num, cells) for cells in read)
        for line, cells in each:
            if cells and (len(cells) > 1 or cells[0].strip()) and not _is_comment(cells, rows, columns):
                lines.append(line)
                rows.append(cells)
    except csv.Error as error:
        raise ReadError(f"{path}:{line + 1}: {error}") from None
    names, first = rows[0], 1
    if not header_of(names, columns) and any(isinstance(column, int) for column in columns.values()):
        first = 0  # no header: columns by number
    elif not header_of(names, columns) and any(re.fullmatch(_NUMBER, name.strip()) for name in names):
        raise ReadError(
            f"{path}:{lines[0]}: {len(names)} columns of {layout} without a header, expected a line of names, such as "
            f"topic,doc,{number}, or their numbers: --columns topic=1,doc=2,{number}=3"
        )

    if sign != " ":
        for cells, line in zip(rows[first:], lines[first:], strict=True):
            if len(cells) > len(names) and any(cells[len(names) :]):
                found = f"found {len(cells)} columns, expected {len(names)}: {in_a_line(names)}"
                raise ReadError(f"{path}:{line}: {found}; has a number a comma for its point?")

    def take(i: int) -> list[Any]:
        try:
            cells = [row[i].strip() for row in rows[first:]]
            at = cells.index("") if "" in cells else None
        except IndexError:
            at = next(n for n, row in enumerate(rows[first:]) if len(row) <= i)
        if at is not None:
            found = f"{len(rows[first + at])} columns, the one called {names[i]!r:.60} empty or missing"
            raise ReadError(f"{path}:{lines[first + at]}: found {found}, expected {len(names)}: {in_a_line(names)}")
        seen.append(i)
        return _numbers(cells, lines[first:], number, path) if len(seen) == 3 else cells

    seen: list[int] = []
    return of_columns(names, take, number, columns, f"{path}:{lines[0]}", subtopics), lines[first:]


def _unique(path: str) -> Any:
    def made(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        out = dict(pairs)
        if len(out) < len(pairs):
            twice = next(key for i, (key, _) in enumerate(pairs) if key in dict(pairs[:i]))
            raise ReadError(f"{path}: {twice!r:.60} comes twice in one object, expected every topic and document once")
        return out

    return made


def _loaded(text: str, path: str, line: int, made: Any) -> Any:
    import json

    try:
        return json.loads(text, object_pairs_hook=made)
    except json.JSONDecodeError as error:
        raise ReadError(f"{path}:{line + error.lineno - 1}: not JSON: {error.msg}, column {error.colno}") from None
    except (ValueError, RecursionError) as error:
        raise ReadError(f"{path}:{line}: not JSON that can be read: {error}") from None


def _parquet(data: bytes, path: str) -> Any:
    for reader in _PARQUET:
        module, _, function = reader.partition(":")
        try:
            read = getattr(importlib.import_module(module), function)
        except ImportError:
            continue
        try:
            return read(io.BytesIO(data))
        except Exception as error:  # of whatever kind the library has
            raise ReadError(f"{path}: broken Parquet: {str(error).splitlines()[0]}") from None
    raise ReadError(f"{path}: Parquet needs the extra: pip install 'amble-ir[parquet]'")


def _table(
    file: IO[bytes], layout: str, path: str, number: str, columns: Names, most: int, subtopics: bool | None
) -> tuple[dict[str, Any] | Columns, Sequence[int] | None]:
    """The table of a file, as the reader takes it, and the lines of its rows, where it has lines."""
    if layout == "Parquet":
        return as_table(_parquet(file.read(), path), number, path, columns, subtopics), None
    longest = max(most, LONGEST_DOCUMENT) if layout == "JSON" else most
    text = (
        raw.removeprefix(_BOM if i == 0 else b"").decode("utf-8", "surrogateescape")
        for i, raw in enumerate(limited_lines(file, path, longest))
    )
    if layout in _SIGNS:
        return _delimited(text, layout, path, number, columns, subtopics)
    made = _unique(path)
    if layout == "JSON":
        return as_table(_loaded("".join(text), path, 1, made), number, path, columns, subtopics), None
    records = {i: _loaded(one.rstrip(), path, i, made) for i, one in enumerate(text, 1) if one.strip()}
    try:
        return as_table(list(records.values()), number, path, columns, subtopics), list(records)
    except ReadError as error:
        found = re.search(r"no column for the (\w+) among", str(error))
        what = f"{path}: JSON Lines without a {found[1].replace('document', 'doc')} column" if found else path
        raise ReadError(_at_lines(str(error), path, list(records)).replace(path, what, 1)) from None


def _at_lines(message: str, path: str, lines: Sequence[int]) -> str:
    """A message about rows of a table, with the lines they stand on."""
    message = re.sub(rf"^{re.escape(path)}: row (\d+):", lambda at: f"{path}:{lines[int(at[1])]}:", message)
    return re.sub(r"first in row (\d+)\)$", lambda at: f"first on line {lines[int(at[1])]})", message)


def _looks_like(head: bytes, number: str) -> str:
    """What a file that is no TREC file looks like; empty if like nothing known."""
    text = head.removeprefix(_BOM).lstrip()[:64].lower()
    for begin, what in _FOREIGN.items():
        if text.startswith(begin):
            return f"this is {what}"
    cells = _first_line(head)[1].split()
    numbers = [re.fullmatch(_NUMBER, cell) is not None for cell in cells]
    if number == "grade" and len(cells) in (5, 6) and numbers[3] and numbers[4]:
        return "this is a run: did you swap the files?"
    if number == "score" and len(cells) == 4 and numbers[3]:
        return "these are judgments: did you swap the files?"
    return ""


@contextlib.contextmanager
def open_input(
    path: str,
    number: str,
    columns: Mapping[str, str | int] | None,
    most: int,
    subtopics: bool | None = None,
) -> Iterator[tuple[Any, bool]]:
    """Open a file of a run (``number="score"``) or of judgments (``"grade"``): ``(origin, can be read again)``.

    The origin of a TREC file is what `open_source` opens, that of any other layout its table, which is not read again.
    What goes wrong while it is used is said with the file's lines, and with what the file looks like instead.
    """
    given = columns_for(number, columns)
    with open_source(path) as (source, again):
        head = _head(source)
        layout = layout_of(head, path, given)
        lines: Sequence[int] | None = None
        try:
            if not layout:
                yield source, again
                return
            is_plain = isinstance(source, int)
            with open(source, "rb", closefd=False) if is_plain else contextlib.nullcontext(source) as file:
                origin, lines = _table(file, layout, path, number, given, most, subtopics)
            yield origin, False
        except ReadError as error:
            message = str(error) if lines is None else _at_lines(str(error), path, lines)
            at_first = not layout and message.startswith(f"{path}:{_first_line(head)[0]}:")
            looks = _looks_like(head, number) if at_first else ""
            raise ReadError(f"{message}; {looks}" if looks else message) from None


def is_table_file(path: str, columns: Mapping[str, str | int] | None) -> bool:
    """Whether a file has another layout than TREC's."""
    with open_source(path) as (source, _):
        return bool(layout_of(_head(source), path, columns_for("score", columns)))
