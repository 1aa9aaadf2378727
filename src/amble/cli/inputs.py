"""What goes for all commands: nothing is written over what is read."""

from __future__ import annotations

import argparse
import re

from amble.io.files import check_outputs

__all__ = ["READ", "WRITTEN", "keep_inputs"]

# the arguments of all commands that name files, or patterns or folders of them
READ = (
    *("qrels", "runs", "sessions", "logs", "collection", "index", "topics", "files", "pool", "texts", "questions"),
    *("groups", "stopwords", "zscores", "costs", "config", "plugin"),
)
WRITTEN = ("output", "plot", "hasse", "latex")
_FITTED = re.compile(r"""\b(?:user|rates)\s*=\s*(?:'([^']+)'|"([^"]+)")""")  # of a measure: a file of `amble fit`


def _named(args: argparse.Namespace, names: tuple[str, ...]) -> list[str]:
    given = [getattr(args, name, None) for name in names]
    return [path for one in given for path in (one if isinstance(one, list) else [one]) if isinstance(path, str)]


def keep_inputs(args: argparse.Namespace, *outputs: str) -> None:
    """Refuse to write over what a command reads; ``outputs`` are files that no argument names."""
    measures = _named(args, ("measure", "measures"))
    fits = ["".join(found) for text in measures for found in _FITTED.findall(text)]
    models = [name.rpartition("#")[0] for name in fits if "#" in name]  # fit.toml#walk
    check_outputs([*_named(args, READ), *fits, *models], *(outputs or _named(args, WRITTEN)))
