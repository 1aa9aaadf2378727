"""Progress of long jobs: one line on a terminal, after a second, removed when the job is done."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TextIO

__all__ = ["Progress"]

_SILENT = 1.0  # seconds before the line is shown
_EVERY = 0.2


class Progress:
    """A line of progress; called with what is done and what there is to do. Silent unless on a terminal.

    Parameters
    ----------
    what : str
        What is being done, as ``"simulating"``.
    stream : text file, optional
        Where to write; standard error. Nothing is written unless it is a terminal.

    Examples
    --------
    >>> with Progress("counting") as progress:
    ...     for i in range(3):
    ...         progress(i + 1, 3)
    """

    def __init__(self, what: str, stream: TextIO | None = None) -> None:
        self.what = what
        self.stream = sys.stderr if stream is None else stream
        try:
            self.seen = bool(self.stream.isatty())
        except (AttributeError, ValueError):  # no stream, or a closed one
            self.seen = False
        self._next = time.monotonic() + _SILENT
        self._written = 0

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __call__(self, done: int, total: int) -> None:
        """Show what is done, in percent."""
        self._show(lambda: f"{self.what}: {100 * done // max(total, 1)} % of {total:,}")

    def count(self, done: int) -> None:
        """Show what is done, where it is not known how much there is to do."""
        self._show(lambda: f"{self.what}: {done:,}")

    def _show(self, written: Callable[[], str]) -> None:
        now = time.monotonic()
        if not self.seen or now < self._next:
            return
        self._next = now + _EVERY
        text = written()
        self.stream.write("\r" + text.ljust(self._written))
        self.stream.flush()
        self._written = len(text)

    def close(self) -> None:
        """Remove the line."""
        if self._written:
            self.stream.write("\r" + " " * self._written + "\r")
            self.stream.flush()
            self._written = 0
