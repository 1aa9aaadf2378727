"""Options that several commands have, and how their values are read.

Numbers on the command line are read here, as people write them (``1_0`` and digits of other scripts are not), finite,
and within bounds that say what is meant and that memory can hold.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from typing import Any

from amble.parallel import MOST_THREADS

__all__ = ["DIGITS", "SEED", "SHARE", "THREADS", "USERS", "number", "read_number", "read_whole", "whole"]

MOST = 10**9  # of things to count or to do


def read_whole(text: str) -> int:
    """Read a whole number of a decent length; ValueError where it is none."""
    if not text.isascii() or "_" in text or len(text) > 40:
        raise ValueError
    return int(text)


def read_number(text: str) -> float:
    """Read a finite number; ValueError where it is none."""
    if not text.isascii() or "_" in text or not math.isfinite(value := float(text)):
        raise ValueError
    return value


def whole(least: int = 1, most: int = MOST) -> Callable[[str], int]:
    """The type of an option: a whole number within bounds.

    >>> whole(0, 17)("4")
    4
    """
    return _within(read_whole, lambda x: least <= x <= most, f"a whole number from {least} to {most}")


def number(least: float = -math.inf, *, above: bool = False) -> Callable[[str], float]:
    """The type of an option: a finite number of at least some size, or above it.

    >>> number(0)("0.5")
    0.5
    """
    size = "" if least == -math.inf else f" above {least:g}" if above else f" of at least {least:g}"
    return _within(read_number, lambda x: x > least or (x == least and not above), f"a number{size}")


def _within(read: Callable[[str], Any], allowed: Callable[[Any], bool], what: str) -> Callable[[str], Any]:
    def read_option(text: str) -> Any:
        try:
            value = read(text)
        except ValueError:
            value = None
        if value is None or not allowed(value):
            raise argparse.ArgumentTypeError(f"found {text!r:.60}, expected {what}")
        return value

    return read_option


DIGITS = whole(0, 17)  # decimals
SEED = whole(0, 2**64 - 1)
THREADS = whole(1, MOST_THREADS)
USERS = whole(1, 2**40)  # to be simulated
# levels nearer to 0 or 1 than that are lost in rounding
SHARE = _within(read_number, lambda x: 1e-12 <= x <= 1 - 1e-12, "a number between 0 and 1, by 1e-12 at least")
