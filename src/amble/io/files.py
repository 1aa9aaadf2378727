"""Files: plain, compressed or pipes, read as bytes or as lines of text; and written whole or not at all."""

from __future__ import annotations

import codecs
import contextlib
import errno
import importlib
import io
import os
import re
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any

from amble import checks
from amble.errors import AmbleError, ReadError

__all__ = [
    "LONGEST_DOCUMENT", "LONGEST_LINE", "byte_limit", "check_outputs", "compression_of", "files_below", "limited_lines",
    "numbered_lines", "open_bytes", "open_source", "path_name", "plain_size", "read_bytes", "read_lines", "stem",
    "topic_changes", "whole_file", "write_whole",
]  # fmt: skip

_MAGIC = {
    b"\x1f\x8b": ("gzip", ".gz"),
    b"\xfd7zXZ\x00": ("xz", ".xz"),
    b"BZh": ("bzip2", ".bz2"),
    b"\x28\xb5\x2f\xfd": ("zstd", ".zst"),
}
_MODULES = {"gzip": "zlib", "xz": "lzma", "bzip2": "bz2", "zstd": "zstandard"}
_ENDINGS = "run txt res results trec tsv out qrel qrels csv json jsonl ndjson parquet"
LONGEST_LINE = 1_000_000  # bytes of a line of judgments, runs and small tables, unless max_line says otherwise
LONGEST_DOCUMENT = 64_000_000  # bytes of a document, and of a line of JSON or XML, unless max_document does
_DECLARED = rb"""^\s*<\?xml[^>]*\bencoding\s*=\s*["']([\w.:-]+)["']"""
_ASCII = b'<DOC id="a-1">, + 0.xn--mnchen-3ya'
_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_LONGEST_SEARCH = 1 << 23  # how far past a cut to look for a change of topic


def path_name(path: Any) -> str:
    """A path as text.

    >>> path_name(None)
    Traceback (most recent call last):
    ...
    amble.errors.ReadError: found None, expected the path of a file
    """
    try:
        return os.fspath(path)  # type: ignore[no-any-return]
    except TypeError:
        raise ReadError(f"found {path!r:.60}, expected the path of a file") from None


def stem(path: str) -> str:
    """A file's name without its endings.

    >>> stem("runs/bm25.v2.run.gz")
    'bm25.v2'
    """
    name = os.path.basename(path)
    for _, ending in _MAGIC.values():
        if name.endswith(ending) and name != ending:
            name = name[: -len(ending)]
            break
    root, ending = os.path.splitext(name)
    return root if ending[1:] in _ENDINGS.split() and root else name


def compression_of(head: bytes, path: str = "") -> str:
    """How a file is compressed, by its first bytes; empty if it is not."""
    for magic, (name, _) in _MAGIC.items():
        if head.startswith(magic):
            return name
    if head[1:4] == b"\x2a\x4d\x18" and head[0] >> 4 == 5:  # a frame to skip, with which pzstd begins its files
        return "zstd"
    for name, ending in _MAGIC.values():
        if head and path.endswith(ending):
            raise ReadError(f"{path}: not {name} data, although its name ends in {ending}")
    return ""


class _Members(io.RawIOBase):
    """Compressed members (streams, frames) one after another, read with every check that their format has.

    A member that is damaged or cut off, and bytes after the last that are no member, are errors; zeros after members
    of gzip, and by fours after streams of xz, are padding. At most as much is decompressed at once as is requested
    (zstd, whose library does not allow that, gets a little at a time), so that a small file cannot take all memory.
    """

    def __init__(self, file: IO[bytes], kind: str, new: Callable[[], Any]) -> None:
        self._file, self._kind, self._new = file, kind, new
        self._step = 1 << (11 if kind == "zstd" else 17)
        self._member: Any = None
        self._data, self._ready = b"", memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        most = () if self._kind == "zstd" else (len(buffer),)
        while not self._ready and (self._member or self._begin()):
            hungry = getattr(self._member, "needs_input", True)
            data = self._data or (self._file.read(self._step) if hungry else b"")
            self._ready = memoryview(self._member.decompress(data, *most))
            if self._member.eof:
                self._data, self._member = self._member.unused_data, None
            elif hungry and not (data or self._ready):
                raise EOFError("it ends before the end-of-stream marker was reached")
            else:
                self._data = getattr(self._member, "unconsumed_tail", b"")
        n = min(len(buffer), len(self._ready))
        buffer[:n], self._ready = self._ready[:n], self._ready[n:]
        return n

    def _begin(self) -> bool:
        """Start with the next member; false at the end of the file."""
        zeros, data = 0, self._data or self._file.read(self._step)
        while data:
            self._data = data.lstrip(b"\0") if self._kind in ("gzip", "xz") else data
            zeros += len(data) - len(self._data)
            data = b"" if self._data else self._file.read(self._step)
        if self._kind == "xz" and zeros % 4:
            raise EOFError(f"{zeros} zero bytes after a stream, expected a multiple of 4")
        self._member = self._new() if self._data else None
        return self._member is not None


def _decompressor(kind: str, file: IO[bytes], path: str) -> io.BufferedReader:
    try:
        module: Any = importlib.import_module(_MODULES[kind])
    except ImportError:
        extra = "the extra: pip install 'amble-ir[zst]'" if kind == "zstd" else "a Python that was built with it"
        raise ReadError(f"{path}: {kind} data needs {extra}") from None
    new: dict[str, Callable[[], Any]] = {
        "gzip": lambda: module.decompressobj(31),
        "xz": lambda: module.LZMADecompressor(module.FORMAT_XZ),
        "bzip2": lambda: module.BZ2Decompressor(),
        "zstd": lambda: module.ZstdDecompressor().decompressobj(),
    }
    return io.BufferedReader(_Members(file, kind, new[kind]), 1 << 16)


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
    """Whether an error comes from the data (and not from our own code)."""
    if isinstance(error, OSError | EOFError):
        return True
    return type(error).__name__ in {"error", "LZMAError", "ZstdError"}


def _lines_before(path: str) -> int:
    lines = 0
    with contextlib.suppress(Exception), _open(path) as file:
        head, buffered = _peek(file)
        data = _decompressor(compression_of(head, path), buffered, path)
        while chunk := data.read1(1 << 16):
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
            kind = compression_of(head, path)
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


def byte_limit(most: int | None, name: str = "max_line", usual: int = LONGEST_LINE) -> int:
    """The most bytes that a line or a document may have: as given, or the default."""
    return usual if most is None else checks.whole(most, name, most=checks.INT32)


def read_lines(path: str, most: int = LONGEST_LINE, name: str = "max_line") -> Iterator[bytes]:
    """The lines of a file, decompressed, with their ends; one that is too long is an error, and not read on."""
    with open_bytes(path) as file:
        yield from limited_lines(file, path, most, name)


def limited_lines(file: IO[bytes], path: str, most: int = LONGEST_LINE, name: str = "max_line") -> Iterator[bytes]:
    """The lines of an open file, as `read_lines` has them."""
    number = 0
    while line := file.readline(most + 1):
        number += 1
        if len(line) > most and not line.endswith(b"\n"):
            raise ReadError(f"{path}:{number}: the line is longer than {most} bytes, the most that {name} allows")
        yield line


def read_bytes(path: str, most: int = LONGEST_LINE, name: str = "max_line") -> bytes:
    """All bytes of a file, decompressed; a line that is too long is an error."""
    return b"".join(read_lines(path, most, name))


def files_below(path: str) -> list[str]:
    """The file, or all files below a folder but hidden ones, in the order of their names."""
    if not os.path.isdir(path):
        return [path]
    found = []
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        found += [os.path.join(folder, name) for name in names if not name.startswith(".")]
    if not found:
        raise ReadError(f"{path}: a folder without files, expected a collection")
    return sorted(found)


def numbered_lines(path: str, encoding: str | None = None, most: int = LONGEST_DOCUMENT) -> Iterator[tuple[int, str]]:
    """The lines of a text file with their numbers.

    Parameters
    ----------
    path : str
        Plain, gzip, xz, bzip2 or zstd; ``-`` for standard input.
    encoding : str, optional
        UTF-8, or what the file's XML declaration says.
    most : int
        The longest line, in bytes.

    Raises
    ------
    ReadError
        At the first line that is not text in this encoding.
    """
    known = _known(encoding) if encoding else ""
    for number, raw in enumerate(read_lines(path, most, "max_document"), 1):
        raw = raw.rstrip(b"\r\n")
        if number == 1:
            if raw.startswith(_WIDE):
                raise ReadError(f"{path}:1: UTF-16, expected UTF-8 or a code of single bytes")
            raw = raw.removeprefix(codecs.BOM_UTF8)
            declared = None if known else re.match(_DECLARED, raw)
            if declared:
                known = _known(declared[1].decode(), f"{path}:1: ")
        try:
            yield number, raw.decode(known or "utf-8")
        except UnicodeDecodeError as error:
            raise ReadError(
                f"{path}:{number}: byte 0x{raw[error.start]:02x} (character {error.start + 1}) is not "
                f"{known or 'UTF-8'}, expected text; another encoding, such as latin-1, can be named"
            ) from None


def _known(encoding: str, where: str = "") -> str:
    try:
        info = codecs.lookup(encoding)
    except (LookupError, ValueError):  # unknown, or no name at all
        raise AmbleError(f"{where}encoding {encoding!r} is unknown, expected one such as utf-8, latin-1") from None
    if not getattr(info, "_is_text_encoding", True) or not _is_plain(info.name):
        raise AmbleError(f"{where}encoding {encoding!r}: expected utf-8 or a code of single bytes, such as latin-1")
    return info.name


def _is_plain(name: str) -> bool:
    """Whether a code has ASCII as it is: neither two bytes a character, nor escapes for (halves of) characters."""
    try:
        return _ASCII.decode(name) == _ASCII.decode() and "A" not in rb"\u0041".decode(name)
    except UnicodeError:
        return False


def plain_size(path: str) -> int:
    """Size of a plain regular file in bytes, 0 for any other."""
    if path == "-":
        return 0
    with _open(path) as file:
        if not _is_regular(file) or compression_of(file.read(8) or b"", path):
            return 0
        return os.fstat(file.fileno()).st_size


def topic_changes(path: str, parts: int, most: int = LONGEST_LINE) -> list[int]:
    """Where to cut a plain run file into at most ``parts`` pieces at changes of topic, in bytes.

    No cut is searched behind a line of more than ``most`` bytes, which the reader refuses.
    """
    cuts = [0]
    with io.BufferedReader(_open(path)) as file:
        size = os.fstat(file.fileno()).st_size
        for part in range(1, parts):
            at = size * part // parts
            if at <= cuts[-1]:
                continue
            file.seek(at - 1)
            if not file.readline(most + 1).endswith(b"\n"):
                continue  # the last line, or one that is too long
            topic = b""
            while (start := file.tell()) < min(size, at + _LONGEST_SEARCH):
                line = file.readline(most + 1)
                if not line.endswith(b"\n"):
                    break
                column = line.split(None, 1)[:1]
                if not column or column[0].startswith(b"#"):
                    continue
                if topic and column[0] != topic:
                    cuts.append(start)
                    break
                topic = column[0]
    return cuts


def check_outputs(inputs: Iterable[str], *outputs: str) -> None:
    """Raise an error if an output is also an input, is written to twice, or cannot be written.

    Links of either kind are seen through. An input may be a folder, which is read with all that is below it, a pattern
    as ``logs/*.tsv``, or ``-`` for standard input; one that is missing is left to its reader.
    """
    taken: set[str] = set()
    read = list(inputs)
    for output in outputs:
        if "\0" in output:
            raise AmbleError(f"{output!r}: a NUL in the name, expected the name of a file")
        if output == "-":
            raise AmbleError("-: standard output, expected a file")
        target = os.path.realpath(output)
        folder = os.path.dirname(target)
        beside = os.path.isfile(target) or not os.path.exists(target)  # no device, no pipe
        for wrong, number in (
            (os.path.isdir(target), errno.EISDIR),
            (not os.path.exists(folder), errno.ENOENT),
            (not os.path.isdir(folder), errno.ENOTDIR),
            (beside and not os.access(folder, os.W_OK), errno.EACCES),
        ):
            if wrong:
                raise AmbleError(f"{output}: {os.strerror(number)}")
        if beside and target in taken:
            raise AmbleError(f"{output}: is written to twice, expected another file")
        taken.add(target)
        if os.path.isfile(target):
            there = os.stat(target)
            if any(os.path.samestat(there, other) for path in read for other in _stats(path)):
                raise AmbleError(f"{output}: is read, expected another file to write to")
            _replaceable(output, target)


def _stats(path: str) -> Iterator[os.stat_result]:
    """The status of all files that are read under a name."""
    names = [path]
    if any(sign in path for sign in "*?[") and not os.path.exists(path):
        import glob  # plain names do without

        names = glob.glob(path, recursive=True)
    for name in names:
        below = [os.path.join(folder, file) for folder, _, files in os.walk(name) for file in files]
        for each in [0 if name == "-" else name, *below]:
            with contextlib.suppress(OSError, ValueError):
                yield os.stat(each)


def _replaceable(name: str, target: str) -> os.stat_result | None:
    """The status of a file that is to be replaced, None where there is none; a read-only one is refused."""
    if not os.path.exists(target):
        return None
    there = os.stat(target)
    if not there.st_mode & 0o222 or not os.access(target, os.W_OK):  # refused to root, too
        raise AmbleError(f"{name}: is read-only, expected a file that may be written")
    return there


_unfinished: set[str] = set()  # files that are being written


def _tidy(number: int, _: object) -> None:
    """Remove unfinished files, then be killed as usual."""
    import signal  # what writes no file does without

    for partial in list(_unfinished):
        with contextlib.suppress(OSError):
            os.unlink(partial)
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


@contextlib.contextmanager
def _tidied(partial: str) -> Iterator[None]:
    """Remove an unfinished file, also on SIGTERM and SIGHUP (which only the main thread can handle)."""
    import signal

    _unfinished.add(partial)
    caught = []
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:
            with contextlib.suppress(ValueError):
                signal.signal(number, _tidy)
                caught.append(number)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            os.unlink(partial)
        _unfinished.discard(partial)
        for number in caught:
            signal.signal(number, signal.SIG_DFL)


@contextlib.contextmanager
def _replaced(name: str) -> Iterator[IO[bytes]]:
    """Write beside a file, under a name of its own however many write at once, and put it in its place at the end."""
    target = os.path.realpath(name)
    there = _replaceable(name, target)
    partial = os.path.join(os.path.dirname(target), f".amble-{os.urandom(8).hex()}.partial")
    allowed = 0o666 if there is None else 0o600  # what was private stays private
    with _tidied(partial):
        with open(partial, "xb", opener=lambda path, flags: os.open(path, flags, allowed)) as file:
            yield file
        if there is not None:
            with contextlib.suppress(OSError, AttributeError):
                os.chown(partial, there.st_uid, there.st_gid)
            os.chmod(partial, stat.S_IMODE(there.st_mode))
        os.replace(partial, target)


@contextlib.contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file to be written that appears whole or not at all; a device or a pipe is written to as it is.

    What was there before stays until then; its mode stays for good. A read-only file is refused.
    """
    name = path_name(path)
    stream = re.fullmatch(r"/dev/(?P<std>stdout|stderr)|/(?:dev|proc/self)/fd/(?P<fd>[0-9]{1,9})", name)
    direct = os.path.exists(name) and not os.path.isfile(name)
    try:
        if stream:  # open already: what stands there is not to be replaced, nor cut off
            fd = int(stream["fd"] or ("stdout", "stderr").index(stream["std"]) + 1)
            file: IO[bytes] = os.fdopen(os.dup(fd), "wb")
        else:
            file = open(name, "wb") if direct else _replaced(name)  # type: ignore[assignment]  # noqa: SIM115
        with file as to:
            yield to
    except OSError as error:
        raise AmbleError(f"{name}: {error.strerror or error}") from None


def write_whole(path: str | os.PathLike[str], text: str) -> None:
    """Write a text to a file that appears whole or not at all."""
    with whole_file(path) as file:
        file.write(text.encode("utf-8", "surrogateescape"))
