"""How soon a wanderer leaves a rank: rates in a string or in a file, by rank."""

from __future__ import annotations

import os
from typing import Any

from amble.errors import MeasureError, ReadError
from amble.files import open_source
from amble.measures.domains import Domain

__all__ = ["Rates", "read_rates"]


class Rates(Domain):
    """A rate for each rank: ``'0.2,0.04,0.01'``, or the name of a file with a number a line."""

    smooth = False
    text = (
        "numbers above 0, by rank, with commas between them (the last holds further down), or the name of a file with "
        "one a line"
    )

    def check(self, value: Any) -> str:
        """Return the string; a file is read, to see whether it can be."""
        if not isinstance(value, str) or not value:
            raise ValueError
        try:
            self.read(value)
        except ReadError as error:
            raise MeasureError(str(error)) from None
        return value

    def read(self, text: str) -> list[float]:
        """Return the rates."""
        from amble import _reader_py  # only where there are rates: the C part does without it

        try:
            rates = [_reader_py._number(word.strip().encode(), "rate") for word in text.split(",")]
        except ValueError as error:
            if ("," in text or text[0] in "+-.0123456789") and not os.path.exists(text):
                raise MeasureError(f"rates={text!r:.60}: {error}, and there is no such file") from None
            return read_rates(text)
        if min(rates) <= 0:
            raise ValueError
        return rates


def read_rates(path: str) -> list[float]:
    """Read a file of rates, a number a line, by rank."""
    from amble import _reader_py

    with open_source(path) as (source, _):
        data = _reader_py._bytes_of(source)
    out: list[float] = []
    for line, text in enumerate(data.split(b"\n"), 1):
        columns = text.split()
        if not columns or columns[0].startswith(b"#"):
            continue
        if len(columns) != 1:
            raise ReadError(f"{path}:{line}: found {len(columns)} columns, expected 1: the rate of a rank")
        try:
            rate = _reader_py._number(columns[0], "rate")
        except ValueError as error:
            raise ReadError(f"{path}:{line}: {error}") from None
        if rate <= 0:
            raise ReadError(f"{path}:{line}: rate {columns[0].decode()!r} is not above 0")
        out.append(rate)
    if not out:
        raise ReadError(f"{path}: empty, expected a rate on each line")
    return out
