"""Files of logs, as something the engine can read: lines, delimited text, Parquet or JSON; plain, gzip or zstd.

Every source tells where its n-th record is, so that a broken one can be found.
"""

from __future__ import annotations

import contextlib
import csv
import glob
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from amble.errors import ReadError
from amble.files import open_source
from amble.logs.engine import Engine, quoted

__all__ = ["Source", "find_files", "lines_of", "table_of"]

_PACKED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
_OTHERS = {b"\xfd7zXZ\x00": "xz", b"BZh": "bzip2"}
_HEAD = 1 << 16  # bytes in which the first line must end
_LONGEST_LINE = 2_000_000  # bytes
_JSON = (".json", ".jsonl", ".ndjson")
_PATTERN = re.compile(r"[*?\[]")


@dataclass(frozen=True)
class Source:
    """Files that the engine reads one after another.

    Parameters
    ----------
    paths : tuple of str
    kind : {"lines", "delimited", "parquet", "json"}
    sql : str
        What stands after ``from``.
    columns : tuple of str
        The names of the columns; of lines, only ``line``.
    delimiter : str
    size : int
        Bytes.
    """

    paths: tuple[str, ...]
    kind: str
    sql: str
    columns: tuple[str, ...]
    delimiter: str
    size: int

    def place(self, engine: Engine, record: int) -> str:
        """Where the record is: ``file:line``, or the file and the number of the record; records count from 0."""
        if self.kind in ("lines", "delimited"):
            walk = _lines if self.kind == "lines" else _rows
            for path in self.paths:
                for line in walk(path, self):
                    if record == 0:
                        return f"{path}:{line}"
                    record -= 1
        else:
            for path in self.paths:
                reader = "read_parquet" if self.kind == "parquet" else "read_json"
                n = engine.run(f"select count(*) from {reader}({quoted(path)})")[0][0]
                if record < n:
                    return f"{path}: record {record + 1}"
                record -= n
        return self.paths[-1]


def find_files(given: Sequence[str | os.PathLike[str]]) -> tuple[str, ...]:
    """The files that names and patterns stand for, in the order given; those of a pattern in the order of their names.

    Raises
    ------
    ReadError
        If one is not there, is no file, or is given twice.
    """
    out: list[str] = []
    for item in given:
        path = os.fspath(item)
        found = [path]
        if _PATTERN.search(path) and not os.path.exists(path):
            found = sorted(glob.glob(path, recursive=True))
            if not found:
                raise ReadError(f"{path}: no file has such a name")
        out += [name for name in found if not (len(found) > 1 and os.path.isdir(name))]
    if not out:
        raise ReadError("no log given, expected at least one file")
    seen: set[str] = set()
    for path in out:
        if path == "-":
            raise ReadError("-: a log is read from files, not from standard input")
        real = os.path.realpath(path)
        if real in seen:
            raise ReadError(f"{path}: given twice")
        seen.add(real)
        with open_source(path):
            pass
        if not os.path.isfile(path):
            raise ReadError(f"{path}: expected a regular file")
    return tuple(out)


def _packing(path: str) -> str:
    """How a file is compressed, as the engine calls it."""
    with open(path, "rb") as file:
        head = file.read(8)
    for magic, name in _OTHERS.items():
        if head.startswith(magic):
            raise ReadError(f"{path}: {name} data, expected a log that is plain, gzip or zstd")
    for magic, name in _PACKED.items():
        if head.startswith(magic):
            return name
    return "none"


def _together(paths: Sequence[str], form: str) -> str:
    """Readers of files, one after another; those that are compressed alike are read by one."""
    groups: list[tuple[str, list[str]]] = []
    for path in paths:
        how = _packing(path)
        if groups and groups[-1][0] == how:
            groups[-1][1].append(path)
        else:
            groups.append((how, [path]))
    parts = [form.format(files=f"[{', '.join(map(quoted, names))}]", packing=how) for how, names in groups]
    if len(parts) == 1:
        return parts[0]
    return "(" + " union all ".join(f"select * from {part}" for part in parts) + ")"


def _size(paths: Sequence[str]) -> int:
    return sum(os.path.getsize(path) for path in paths)


def lines_of(paths: Sequence[str]) -> Source:
    """Files as lines; empty lines are left out."""
    # \x01 stands nowhere, so a line is one column
    reader = (
        "read_csv({files}, compression='{packing}', delim='\x01', header=false, quote='', escape='', "
        "auto_detect=false, columns={{'line': 'VARCHAR'}}, strict_mode=false, store_rejects=true, "
        f"max_line_size={_LONGEST_LINE})"
    )
    sql = f"(select line from {_together(paths, reader)} where line is not null)"
    return Source(tuple(paths), "lines", sql, ("line",), "\t", _size(paths))


def table_of(engine: Engine, paths: Sequence[str]) -> Source:
    """Files as tables: delimited text with a head, Parquet or JSON, told by their names."""
    kinds = {_kind(path) for path in paths}
    if len(kinds) > 1:
        raise ReadError(f"{paths[0]} and others: {' and '.join(sorted(kinds))} files, expected all of one kind")
    kind = kinds.pop()
    if kind == "delimited":
        return _delimited(paths)
    reader = "read_json({files}, compression='{packing}'{more})"
    sql = f"read_parquet([{', '.join(map(quoted, paths))}])"
    if kind == "json":
        sql = _together(paths, reader.replace("{more}", ""))
    columns = tuple(str(row[0]) for row in engine.run(f"describe select * from {sql}"))
    if kind == "json":  # as text, so that a value of another type than the others is seen for what it is
        sql = _together(paths, reader.replace("{more}", f", columns={_texts(columns)}"))
    return Source(tuple(paths), kind, sql, columns, "", _size(paths))


def _texts(columns: Sequence[str]) -> str:
    """Columns of text, as an argument; braces are doubled, since it becomes part of a form."""
    names = ", ".join(f"{quoted(name)}: 'VARCHAR'" for name in columns).replace("{", "{{").replace("}", "}}")
    return f"{{{{{names}}}}}"


def _kind(path: str) -> str:
    name = re.sub(r"\.(gz|zst)$", "", path.lower())
    if name.endswith((".parquet", ".pq")):
        return "parquet"
    return "json" if name.endswith(_JSON) else "delimited"


def _delimited(paths: Sequence[str]) -> Source:
    heads = [_head(path) for path in paths]
    delimiter = next((c for c in "\t,;|" if c in heads[0]), "\t")
    columns = _cells(heads[0], delimiter)
    for path, head in zip(paths, heads, strict=True):
        if _cells(head, delimiter) != columns:
            raise ReadError(f"{path}:1: other columns than {paths[0]} has: {', '.join(columns)}")
    twice = [name for i, name in enumerate(columns) if name in columns[:i]]
    if twice or "" in columns:
        what = f"the column {twice[0]!r} twice" if twice else "a column without a name"
        raise ReadError(f"{paths[0]}:1: found {what}, expected a head of different names")
    reader = (
        f"read_csv({{files}}, compression='{{packing}}', delim={quoted(delimiter)}, header=true, quote='\"', "
        f"escape='\"', auto_detect=false, columns={_texts(columns)}, store_rejects=true)"
    )
    return Source(tuple(paths), "delimited", _together(paths, reader), tuple(columns), delimiter, _size(paths))


def _head(path: str) -> str:
    with _opened(path) as file:
        data = file.read(_HEAD)
    line = data.split(b"\n", 1)[0].rstrip(b"\r")
    if not line.strip():
        raise ReadError(f"{path}:1: empty, expected a head: the names of the columns")
    try:
        return str(line.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise ReadError(f"{path}:1: not UTF-8, expected a head: the names of the columns") from None


def _cells(line: str, delimiter: str) -> list[str]:
    return [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter))]


# ---- where a record is


@contextlib.contextmanager
def _opened(path: str) -> Iterator[Any]:
    """A file as bytes, decompressed, that can be read line by line."""
    with open_source(path) as (source, _):
        if isinstance(source, int):
            with open(path, "rb") as file:
                yield file
        else:
            yield source


def _lines(path: str, _: Source) -> Iterator[int]:
    """The numbers of the lines that are not empty, and that the engine did not refuse."""
    with _opened(path) as file:
        for number, line in enumerate(file, 1):
            for piece in line.rstrip(b"\n").split(b"\r"):
                if piece and len(piece) <= _LONGEST_LINE and _is_utf8(piece):
                    yield number


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _rows(path: str, source: Source) -> Iterator[int]:
    """The numbers of the lines on which the engine's records end: those with as many cells as the head."""
    with _opened(path) as file:
        text = (line.decode("utf-8", "replace") for line in file)
        reader = csv.reader(text, delimiter=source.delimiter)
        next(reader, None)
        for row in reader:
            if len(row) == len(source.columns):
                yield reader.line_num
