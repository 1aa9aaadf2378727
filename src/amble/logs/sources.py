"""Files of logs as sources for the engine: lines, delimited text, Parquet or JSON; plain or compressed.

The engine is given every file under a name of its own and unpacked, so that it reads just that. Every source knows
where its n-th record is, so that a broken one can be found.
"""

from __future__ import annotations

import contextlib
import csv
import glob
import io
import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from amble.errors import ReadError
from amble.io.files import open_bytes, open_source, plain_size
from amble.logs.engine import Engine, quoted

__all__ = ["Source", "find_files", "kept_streams", "lines_of", "table_of"]

_HEAD = 1 << 16  # bytes in which the first line must end
_LONGEST_LINE = 2_000_000  # bytes
_MOST_COLUMNS = 10_000
_JSON = (".json", ".jsonl", ".ndjson")
_PATTERN = re.compile(r"[*?\[]")


@dataclass(frozen=True)
class Source:
    """Files that the engine reads one after another.

    Parameters
    ----------
    paths : tuple of str
    kind : {"lines", "delimited", "parquet", "json"}
    reader : callable
        From the names of files, as SQL, to what stands after ``from``.
    files : tuple of str
        The names the engine knows them by, as SQL.
    columns : tuple of str
        The names of the columns; of lines, only ``line``.
    delimiter : str
    """

    paths: tuple[str, ...]
    kind: str
    reader: Callable[[str], str]
    files: tuple[str, ...]
    columns: tuple[str, ...]
    delimiter: str = ""

    @property
    def sql(self) -> str:
        """The SQL that stands after ``from``."""
        return self.reader(f"[{', '.join(self.files)}]")

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(map(os.path.getsize, self.paths))

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
            for path, file in zip(self.paths, self.files, strict=True):
                n = engine.run(f"select count(*) from {self.reader(file)}")[0][0]
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
        real = path if path == "-" else os.path.realpath(path)
        if real in seen:
            raise ReadError(f"{path}: given twice")
        seen.add(real)
        if path == "-" or _is_pipe(path):
            continue
        with open_source(path):
            pass
        if not os.path.isfile(path):
            raise ReadError(f"{path}: expected a regular file")
    return tuple(out)


def _is_pipe(path: str) -> bool:
    with contextlib.suppress(OSError, ValueError):
        return stat.S_ISFIFO(os.stat(path).st_mode)
    return False


def kept_streams(engine: Engine, paths: Sequence[str]) -> tuple[str, ...]:
    """The files; standard input and pipes, which can be read once, are put into the engine's folder, unpacked."""
    return tuple(engine.keep_stream(path, _ending) if path == "-" or _is_pipe(path) else path for path in paths)


def _ending(head: bytes) -> str:
    """The ending of a file's name, by its first bytes."""
    return ".parquet" if head.startswith(b"PAR1") else ".json" if head.lstrip()[:1] in (b"{", b"[") else ".tsv"


def _given(engine: Engine, paths: Sequence[str]) -> tuple[str, ...]:
    """The files, as the engine knows them: plain."""
    return tuple(engine.add_file(path, packed=not plain_size(path)) for path in paths)


def lines_of(engine: Engine, paths: Sequence[str]) -> Source:
    """Files as lines; empty lines are left out."""
    # a line is one column, as no line has its own end in it
    options = (
        "compression='none', delim='\n', header=false, quote='', escape='', auto_detect=false, strict_mode=false, "
        f"columns={_texts(['line'])}, store_rejects=true, hive_partitioning=false, max_line_size={_LONGEST_LINE}"
    )

    def reader(files: str) -> str:
        return f"(select line from read_csv({files}, {options}) where line is not null)"

    return Source(tuple(paths), "lines", reader, _given(engine, paths), ("line",))


def table_of(engine: Engine, paths: Sequence[str]) -> Source:
    """Files as tables: delimited text with a head, Parquet or JSON, recognised by their names."""
    kinds = {_kind(path) for path in paths}
    if len(kinds) > 1:
        raise ReadError(f"{paths[0]} and others: {' and '.join(sorted(kinds))} files, expected all of one kind")
    kind = kinds.pop()
    delimiter = ""
    if kind == "delimited":
        heads = [_head(path) for path in paths]
        delimiter = next((c for c in "\t,;|" if c in heads[0]), "\t")
        columns = _cells(heads[0], delimiter)
        for path, head in zip(paths, heads, strict=True):
            if _cells(head, delimiter) != columns:
                raise ReadError(f"{path}:1: other columns than {paths[0]} has: {', '.join(columns)}")
    files = _given(engine, paths)
    if kind == "parquet":
        described = f"describe select * from read_parquet({files[0]}, hive_partitioning=false)"
        columns = [str(row[0]) for row in engine.run(described)]
        own = {row[0] for row in engine.run(f"select name from parquet_schema({files[0]})")}
        columns = [name if name in own else re.sub(r"_\d+$", "", name) for name in columns]  # as they are in the file
    elif kind == "json":  # all keys there are
        objects = f"read_json_objects([{', '.join(files)}], compression='none', hive_partitioning=false)"
        keys = f"select unnest(json_keys(json)) key from {objects} group by key order by key"
        columns = [row[0] for row in engine.run(keys)]
    _check_names(f"{paths[0]}:1" if delimiter else paths[0], columns)

    def reader(files: str) -> str:
        if kind == "parquet":
            return f"read_parquet({files}, hive_partitioning=false)"
        # as text, so that a value of another type than the others is seen for what it is
        options = f"compression='none', hive_partitioning=false, columns={_texts(columns)}"
        if kind == "json":
            return f"read_json({files}, {options})"
        quotes = "quote='\"', escape='\"', header=true, auto_detect=false, store_rejects=true"
        return f"read_csv({files}, {options}, delim={quoted(delimiter)}, {quotes})"

    return Source(tuple(paths), kind, reader, files, tuple(columns), delimiter)


def _check_names(place: str, columns: Sequence[str]) -> None:
    """Refuse columns of the same name; the engine does not distinguish capitals from small letters."""
    if len(columns) > _MOST_COLUMNS:
        raise ReadError(f"{place}: found {len(columns):,} columns, expected at most {_MOST_COLUMNS:,}")
    seen: dict[str, str] = {}
    for name in columns:
        if not name or name.lower() in seen:
            other = seen.get(name.lower(), name)
            what = f"the column {name!r:.60} twice" if name else "a column without a name"
            what = what if other == name else f"the columns {other!r:.60} and {name!r:.60}"
            raise ReadError(f"{place}: found {what}, expected different names, also in small letters")
        seen[name.lower()] = name


def _texts(columns: Sequence[str]) -> str:
    """Columns of text, as an argument."""
    names = ", ".join(f"{quoted(name)}: 'VARCHAR'" for name in columns)
    return f"{{{names}}}"


def _kind(path: str) -> str:
    name = re.sub(r"\.(gz|zst|xz|bz2)$", "", path.lower())
    if name.endswith((".parquet", ".pq")):
        return "parquet"
    return "json" if name.endswith(_JSON) else "delimited"


def _head(path: str) -> str:
    with open_bytes(path) as file:
        data = file.read(_HEAD)
    line, *more = re.split(rb"[\r\n]", data, maxsplit=1)
    if not line.strip() or (not more and len(data) == _HEAD):
        what = "empty" if not line.strip() else f"longer than {_HEAD:,} bytes"
        raise ReadError(f"{path}:1: {what}, expected a head: the names of the columns")
    try:
        return line.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ReadError(f"{path}:1: not UTF-8, expected a head: the names of the columns") from None


def _cells(line: str, delimiter: str) -> list[str]:
    return [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter))]


# ---- where a record is


def _lines(path: str, _: Source) -> Iterator[int]:
    """The numbers of the lines that are not empty, and that the engine did not refuse."""
    with open_bytes(path) as file:
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
    with open_bytes(path) as file:
        text = io.TextIOWrapper(file, "utf-8", "replace")  # a carriage return ends a line here, too
        csv.field_size_limit(max(csv.field_size_limit(), _LONGEST_LINE))
        reader = csv.reader(text, delimiter=source.delimiter)
        next(reader, None)
        for row in reader:
            if len(row) == len(source.columns):
                yield reader.line_num
