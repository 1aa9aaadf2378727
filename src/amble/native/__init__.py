"""The parts written in C, their plain twins in Python, and the choice between them."""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
from types import ModuleType

__all__ = ["is_compiled", "load"]


@functools.cache  # which part is in use does not change
def load(name: str) -> ModuleType:
    """Import the C part of a name, ``reader`` or ``walker``: its plain twin if none was built, or AMBLE_PURE is set.

    >>> load("walker").__name__ in ("amble.native._walker", "amble.native.plain_walker")
    True
    """
    if os.environ.get("AMBLE_PURE", "") in ("", "0"):
        with contextlib.suppress(ImportError):
            return importlib.import_module(f"amble.native._{name}")
    return importlib.import_module(f"amble.native.plain_{name}")


def is_compiled(name: str) -> bool:
    """Whether the C part of a name, ``reader`` or ``walker``, is in use.

    >>> from amble.native import is_compiled
    >>> is_compiled("reader") in (True, False)
    True
    """
    return load(name).__name__ == f"amble.native._{name}"
