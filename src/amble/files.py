"""Files as bytes: plain, compressed, or a pipe, told apart by what they hold; texts written whole."""

from __future__ import annotations

import contextlib
import io
import os
import stat
import sys
from collections.abc import Iterator
from typing import IO, Any

from amble.errors import AmbleError, ReadError

__all__ = ["open_bytes", "open_source", "plain_size", "stem", "topic_changes", "whole_file", "write_whole"]

_MAGIC = {
    b"\x1f\x8b": ("gzip", ".gz"),
    b"\xfd7zXZ\x00": ("xz", ".xz"),
    b"BZh": ("bzip2", ".bz2"),
    b"\x28\xb5\x2f\xfd": ("zstd", ".zst"),
}
_ENDINGS = frozenset((".run", ".txt", ".res", ".results", ".trec", ".tsv", ".out", ".qrels", ".qrel"))
_LONGEST_SEARCH = 1 << 23  # how far past a cut to look for a change of topic


def stem(path: str) -> str:
    """Return a file's name without its endings.

    >>> stem("runs/bm25.v2.run.gz")
    'bm25.v2'
    """
    name = os.path.basename(path)
    for _, ending in _MAGIC.values():
        if name.endswith(ending) and name != ending:
            name = name[: -len(ending)]
            break
    root, ending = os.path.splitext(name)
    return root if ending in _ENDINGS and root else name


def _format_of(head: bytes, path: str) -> str:
    for magic, (name, _) in _MAGIC.items():
        if head.startswith(magic):
            return name
    for name, ending in _MAGIC.values():
        if head and path.endswith(ending):
            raise ReadError(f"{path}: not {name} data, although its name ends in {ending}")
    return ""


class _Zstd(io.RawIOBase):
    """Zstandard frames one after another; unlike the library's own reader it tells when the last one is cut off."""

    def __init__(self, file: IO[bytes], decompressor: Any) -> None:
        self._file, self._new = file, decompressor
        self._frame: Any = None
        self._rest, self._ready = b"", b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            data = self._rest or self._file.read(1 << 17)
            self._rest = b""
            if not data:
                if self._frame is not None:
                    raise EOFError("it ends before the end-of-stream marker was reached")
                return 0
            if self._frame is None:
                self._frame = self._new().decompressobj()
            self._ready = self._frame.decompress(data)
            if self._frame.eof:
                self._rest, self._frame = self._frame.unused_data, None
        n = min(len(buffer), len(self._ready))
        buffer[:n], self._ready = self._ready[:n], self._ready[n:]
        return n


def _decompressor(kind: str, file: IO[bytes], path: str) -> Any:
    if kind == "gzip":
        import gzip

        return gzip.GzipFile(fileobj=file)
    if kind == "xz":
        import lzma

        return lzma.LZMAFile(file)
    if kind == "bzip2":
        import bz2

        return bz2.BZ2File(file)
    try:
        import zstandard
    except ImportError:
        raise ReadError(f"{path}: zstd data needs the extra: pip install 'amble[zst]'") from None
    return io.BufferedReader(_Zstd(file, zstandard.ZstdDecompressor))


def _open(path: str) -> io.FileIO:
    if path == "-":
        if sys.stdin is None:
            raise ReadError("-: there is no standard input")
        return io.FileIO(sys.stdin.fileno(), closefd=False)
    try:
        return open(path, "rb", buffering=0)
    except FileNotFoundError:
        raise ReadError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise ReadError(f"{path}: a directory, expected a file") from None
    except ValueError as error:  # a NUL in the name
        raise ReadError(f"{path!r}: {error}") from None
    except OSError as error:
        raise ReadError(f"{path}: {error.strerror or error}") from None


def _is_regular(file: io.FileIO) -> bool:
    return stat.S_ISREG(os.fstat(file.fileno()).st_mode)


def _peek(file: io.FileIO) -> tuple[bytes, IO[bytes]]:
    """The first bytes of a file, and the file with them still to be read."""
    if _is_regular(file):
        head = file.read(8) or b""
        file.seek(0)
        return head, io.BufferedReader(file)
    buffered = io.BufferedReader(file)
    return buffered.peek(8)[:8], buffered


def _is_broken(error: Exception) -> bool:
    """Tell whether an error speaks of the data (and not of our own code)."""
    if isinstance(error, OSError | EOFError):
        return True
    return type(error).__name__ in {"error", "LZMAError", "ZstdError"}


def _lines_before(path: str) -> int:
    lines = 0
    with contextlib.suppress(Exception), _open(path) as file:
        head, buffered = _peek(file)
        data = _decompressor(_format_of(head, path), buffered, path)
        while chunk := data.read1(1 << 16) if hasattr(data, "read1") else data.read(1 << 16):
            lines += chunk.count(b"\n")
    return lines


@contextlib.contextmanager
def open_source(path: str) -> Iterator[tuple[Any, bool]]:
    """Open a file for the reader: ``(source, can be read again)``.

    The source is a file descriptor for a plain regular file, otherwise an object with ``readinto``. What goes wrong
    while it is read (broken compression, an unreadable disk) becomes a ReadError that names the file and the line.
    """
    kind, again = "", False
    with _open(path) as file:
        try:
            head, buffered = _peek(file)
            kind = _format_of(head, path)
            again = path != "-" and _is_regular(file)
            if again and not kind:
                yield file.fileno(), True
            else:
                yield _decompressor(kind, buffered, path) if kind else buffered, again
        except Exception as error:
            if isinstance(error, ReadError) or not _is_broken(error):
                raise
            what = f"broken {kind} data" if kind else "cannot be read"
            line = f":{_lines_before(path) + 1}" if kind and again else ""
            raise ReadError(f"{path}{line}: {what}: {error}") from None


@contextlib.contextmanager
def open_bytes(path: str) -> Iterator[IO[bytes]]:
    """Open a file for reading, decompressed and buffered: what `open_source` opens, as a file with lines."""
    with open_source(path) as (source, _):
        if isinstance(source, int):
            with open(source, "rb", closefd=False) as file:
                yield file
        else:
            yield source


def plain_size(path: str) -> int:
    """Return the size of a plain regular file, 0 for any other."""
    if path == "-":
        return 0
    with _open(path) as file:
        if not _is_regular(file) or _format_of(file.read(8) or b"", path):
            return 0
        return os.fstat(file.fileno()).st_size


def topic_changes(path: str, parts: int) -> list[int]:
    """Cut a plain run file into at most ``parts`` pieces at changes of topic: the bytes where the pieces start."""
    cuts = [0]
    with io.BufferedReader(_open(path)) as file:
        size = os.fstat(file.fileno()).st_size
        for part in range(1, parts):
            at = size * part // parts
            if at <= cuts[-1]:
                continue
            file.seek(at - 1)
            file.readline()
            topic = b""
            while (start := file.tell()) < min(size, at + _LONGEST_SEARCH):
                column = file.readline().split(None, 1)[:1]
                if not column or column[0].startswith(b"#"):
                    continue
                if topic and column[0] != topic:
                    cuts.append(start)
                    break
                topic = column[0]
    return cuts


@contextlib.contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file to be written that appears whole or not at all; a device or a pipe is written to as it is.

    What was there before stays until then.
    """
    name = os.fspath(path)
    direct = os.path.exists(name) and not os.path.isfile(name)
    target = name if direct else os.path.realpath(name)
    partial = target if direct else f"{target}.{os.getpid()}.partial"
    try:
        with open(partial, "wb") as file:
            yield file
        if not direct:
            os.replace(partial, target)
    except OSError as error:
        raise AmbleError(f"{name}: {error.strerror or error}") from None
    finally:
        if not direct and os.path.exists(partial):
            os.unlink(partial)


def write_whole(path: str | os.PathLike[str], text: str) -> None:
    """Write a text to a file that appears whole or not at all."""
    with whole_file(path) as file:
        file.write(text.encode("utf-8", "surrogateescape"))
