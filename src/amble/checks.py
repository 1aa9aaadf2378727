"""Checks of arguments: each returns the value, or raises an error that says what was found and what was expected."""

from __future__ import annotations

from typing import Any

from amble.errors import AmbleError

__all__ = ["INT32", "INT64", "seed", "share", "whole"]

INT32, INT64 = 2**31 - 1, 2**63 - 1  # the largest of these integers


def whole(value: Any, name: str, least: int = 1, most: int | None = INT64, kind: type[AmbleError] = AmbleError) -> int:
    """The value as an int, if it is a whole number from ``least`` to ``most``.

    >>> whole(10, "depth")
    10
    """
    import numpy as np

    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise kind(f"{name}={value!r}: expected a whole number of at least {least}")
    if most is not None and value > most:
        raise kind(f"{name}={value!r:.60}: expected a whole number of at most {most}")
    return int(value)


def share(value: Any, name: str) -> float:
    """The value as a float, if it is between 0 and 1, ends excluded.

    >>> share(0.05, "alpha")
    0.05
    """
    import numpy as np

    if isinstance(value, bool) or not isinstance(value, int | float | np.floating) or not 0.0 < value < 1.0:
        raise AmbleError(f"{name}={value!r}: expected a number between 0 and 1")
    return float(value)


def seed(value: Any) -> int:
    """The value as an int, if it is a seed: a whole number of at least 0."""
    return whole(value, "seed", 0, None)
