"""Text files, line by line, however they are compressed; bytes that are no text are told by their line."""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Iterator

from amble.errors import AmbleError, ReadError
from amble.io.files import LONGEST_DOCUMENT, read_lines

__all__ = ["files_below", "numbered_lines"]

_DECLARED = re.compile(rb"""^\s*<\?xml[^>]*\bencoding\s*=\s*["']([\w.:-]+)["']""")
_ASCII = b'<DOC id="a-1">, + 0.xn--mnchen-3ya'
_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def files_below(path: str) -> list[str]:
    """Return a file, or all files below a folder but hidden ones, in the order of their names."""
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
    """Yield the lines of a file with their numbers.

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
            declared = None if known else _DECLARED.match(raw)
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
