"""Small tables in files: lines of words and numbers, as in a table of costs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence

from amble.errors import ReadError
from amble.io.files import path_name, read_bytes

__all__ = ["read_cells", "read_number", "read_rows"]


def read_number(text: str, what: str) -> float:
    """The number of a text, as the reader of runs takes it; ValueError says what is wrong with it.

    >>> read_number("1e3", "cost")
    1000.0
    """
    from amble.native.plain_reader import parse_number  # only where there is such a table

    return parse_number(text.encode("utf-8", "surrogateescape"), what)


def read_rows(
    path: str | os.PathLike[str],
    words: Sequence[str],
    numbers: Sequence[str],
    *,
    data: bytes | None = None,
    why: str = "",
) -> Iterator[tuple[str, list[str], list[float]]]:
    """The lines of words and numbers in a file; blank lines and those that begin with # are left out.

    ``data`` is the content of the file, where it was read already; ``why`` says what is meant, in messages.

    Yields
    ------
    where : str
        ``file:line``, for messages.
    words, numbers : list
    """
    name = path_name(path)
    layout = " ".join((*words, *numbers)) + f", {why}" * bool(why)
    empty = True
    for line, raw in enumerate((read_bytes(name) if data is None else data).split(b"\n"), 1):
        cells = [cell.decode("utf-8", "surrogateescape") for cell in raw.split()]
        if not cells or cells[0].startswith("#"):
            continue
        where, empty = f"{name}:{line}", False
        wanted = len(words) + len(numbers)
        if len(cells) != wanted:
            raise ReadError(f"{where}: found {len(cells)} column{'s' * (len(cells) != 1)}, expected {wanted}: {layout}")
        try:
            values = [read_number(cell, what) for cell, what in zip(cells[len(words) :], numbers, strict=True)]
        except ValueError as error:
            raise ReadError(f"{where}: {error}") from None
        yield where, cells[: len(words)], values
    if empty:
        raise ReadError(f"{name}: empty, expected lines: {layout}")


def read_cells(
    path: str | os.PathLike[str], layouts: Sequence[str], is_header: Callable[[str], bool]
) -> Iterator[tuple[str, list[str]]]:
    """The lines of names in a file, all of one layout; blank lines and those that begin with # are left out.

    A tab, or blanks, stand between; with a tab, names may have blanks. The first line may be a header, by its first
    cell.

    Yields
    ------
    where : str
        ``file:line``, for messages.
    cells : list of str
    """
    name, first, empty = os.fspath(path), True, True
    sizes, meant = [len(layout.split()) for layout in layouts], " or ".join(layouts)
    for line, raw in enumerate(read_bytes(name).removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        text = raw.decode("utf-8", "surrogateescape").strip()
        cells = [cell.strip() for cell in text.split("\t")] if "\t" in text else text.split()
        if not cells or cells[0].startswith("#"):
            continue
        if len(cells) not in sizes or not all(cells):
            found, wanted = f"{len(cells)} column{'s' * (len(cells) != 1)}", " or ".join(map(str, sizes))
            raise ReadError(
                f"{name}:{line}: found {found}, expected {wanted}: {meant} (with a tab, if names have blanks)"
            )
        sizes, header = [len(cells)], first and is_header(cells[0])
        first = False
        if not header:
            empty = False
            yield f"{name}:{line}", cells
    if empty:
        raise ReadError(f"{name}: empty, expected lines: {meant}")
