"""What the reproductions share: figures beside those that were published, and how a script ends."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from amble import AmbleError, Table


def say(text: str = "") -> None:
    """Print a line, at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def note(text: str) -> None:
    """Say something that is no result."""
    sys.stderr.write(text + "\n")


def head(text: str) -> None:
    """Begin a part."""
    say(f"\n{text}\n{'-' * len(text)}")


def show(columns: Sequence[str], rows: Sequence[Sequence[Any]], digits: int = 4) -> None:
    """Print a table."""
    say(Table(columns, rows, digits=digits).text())


def trec8_folder(folder: Path | None = None) -> Path:
    """The folder of TREC-8's runs, given or beside others in the one that AMBLE_DATA names; or a clear word."""
    if folder is None:
        named = os.environ.get("AMBLE_DATA")
        if not named:
            raise AmbleError("no data: name the folder of TREC-8, or set AMBLE_DATA to the folder that holds trec8/")
        folder = Path(named) / "trec8"
    for needed in (folder / "qrels.txt", folder / "runs"):
        if not needed.exists():
            raise AmbleError(f"no data: {needed} is not there; expected qrels.txt and runs/ in {folder}")
    return folder


class Figures:
    """Figures beside ours: printed a part at a time, counted, and the verdict at the end."""

    def __init__(self) -> None:
        self.right = self.wrong = 0
        self._rows: list[list[Any]] = []

    def add(self, what: str, theirs: float, ours: float, tolerance: float, digits: int = 4) -> None:
        """Compare a figure with ours; NaN is never right."""
        fits = abs(ours - theirs) <= tolerance * (1 + 1e-9)
        self._rows.append(
            [
                what,
                f"{theirs:.{digits}f}",
                f"{ours:.{digits}f}",
                f"{ours - theirs:+.1e}",
                f"{tolerance:.0e}",
                _word(fits),
            ]
        )
        self.count(fits)

    def claim(self, what: str, holds: bool) -> None:
        """Check a sentence."""
        self._rows.append([what, "-", "-", "-", "-", _word(holds)])
        self.count(holds)

    def count(self, fits: bool) -> None:
        """Count a figure that is printed elsewhere."""
        self.right += fits
        self.wrong += not fits

    def table(self, theirs: str = "published") -> None:
        """Print what was compared since the last table."""
        show(["figure", theirs, "ours", "difference", "allowed", ""], self._rows)
        self._rows = []

    def end(self) -> int:
        """Say how many figures are right; the exit code is 1 if some are not."""
        say(f"\n{self.right} of {self.right + self.wrong} figures reproduced")
        return 1 if self.wrong else 0


def _word(fits: bool) -> str:
    return "yes" if fits else "NO"


def run(main: Callable[[list[str]], int]) -> None:
    """Run a script: what a user can cause ends in one line and exit code 2."""
    try:
        code = main(sys.argv[1:])
    except AmbleError as error:
        note(f"{sys.argv[0]}: {error}")
        code = 2
    except OSError as error:
        note(f"{sys.argv[0]}: {error.filename or 'output'}: {error.strerror or error}")
        code = 2
    except KeyboardInterrupt:
        note(f"{sys.argv[0]}: stopped")
        code = 130
    sys.exit(code)
