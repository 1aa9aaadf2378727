"""The options of a report in a TOML file: the command's, with `measures` for --measure and `plugins` for --plugin."""

from __future__ import annotations

import difflib
import glob
import os
from collections.abc import Mapping
from typing import Any

from amble import checks
from amble.errors import ReadError
from amble.io.toml import read_toml, toml_lines, toml_string

__all__ = ["KEYS", "read_config", "write_config"]

# key: what it holds
KEYS: dict[str, str] = {
    "title": "text",
    "qrels": "text",
    "runs": "texts",
    "measures": "texts",
    "baseline": "text",
    "test": "text",
    "correction": "text",
    "alpha": "number",
    "seed": "whole",
    "rounds": "whole",
    "systems": "whole",
    "depth": "whole",
    "missing": "text",
    "ties": "text",
    "unjudged": "text",
    "duplicates": "text",
    "float32": "switch",
    "allow-unjudged": "switch",
    "undefined": "text",
    "threads": "whole",
    "max-line": "whole",
    "costs": "text",
    "subtopics": "switch",
    "intents": "text",
    "sessions": "text",
    "layout": "text",
    "repeats": "text",
    "columns": "text",
    "plugins": "texts",
    "fail-if": "texts",
    "output": "text",
    "charts": "text",
    "chart-format": "texts",
    "latex": "text",
    "mixtures": "shares",  # tables, so at the end
}
_EXPECTED = {
    "text": "a text",
    "texts": "a text or a list of texts",
    "number": "a number",
    "whole": "a whole number",
    "switch": "true or false",
    "shares": "tables of measures and their shares of the users, as [mixtures.readers] with 'RBP' = 0.5",
}
_PATHS = ("qrels", "runs", "costs", "intents", "sessions", "plugins", "output", "charts", "latex")


def read_config(path: str) -> dict[str, Any]:
    """The options in a file; paths are relative to its folder, and runs may be patterns (``runs/*.run``)."""
    found = read_toml(path)
    folder = os.path.dirname(path)
    return {key: _value(path, folder, key, value) for key, value in found.items()}


def _value(path: str, folder: str, key: str, value: Any) -> Any:
    if key not in KEYS:
        near = difflib.get_close_matches(key, KEYS, 1)
        hint = f"did you mean {near[0]}?" if near else f"expected some of {', '.join(KEYS)}"
        raise ReadError(f"{path}: no option is called {key!r}; {hint}")
    kind = KEYS[key]
    if kind == "texts" and isinstance(value, str):
        value = [value]
    right = {
        "text": isinstance(value, str),
        "texts": isinstance(value, list) and bool(value) and all(isinstance(x, str) for x in value),
        "number": checks.is_number(value),
        "whole": checks.is_whole(value),
        "switch": isinstance(value, bool),
        "shares": isinstance(value, dict)
        and all(isinstance(of, dict) and all(map(checks.is_number, of.values())) for of in value.values()),
    }[kind]
    if not right:
        raise ReadError(f"{path}: {key} = {value!r:.60}, expected {_EXPECTED[kind]}")
    if key not in _PATHS:
        return value
    if isinstance(value, str):
        return os.path.join(folder, value)
    return [found for one in value for found in _files(path, key, os.path.join(folder, one))]


def _files(path: str, key: str, pattern: str) -> list[str]:
    """The files of a pattern, in the order of their names; a file's own name need not be there yet."""
    if os.path.exists(pattern) or not glob.has_magic(pattern):
        return [pattern]
    found = sorted(glob.glob(pattern))
    if not found:
        raise ReadError(f"{path}: {key}: no file matches {pattern}")
    return found


def write_config(options: Mapping[str, Any]) -> str:
    """Options as TOML, in the order of `KEYS`; what is None, empty or off is left out.

    >>> print(write_config({"qrels": "q.txt", "runs": ["a.run", "b.run"], "alpha": 0.01, "seed": None}))
    qrels = "q.txt"
    runs = [
      "a.run",
      "b.run",
    ]
    alpha = 0.01
    """
    lines = []
    for key in KEYS:
        value = options.get(key)
        if value is None or value is False or value in ([], {}):
            continue
        if isinstance(value, dict):
            for name, shares in value.items():
                lines.append(f"\n[{key}.{toml_string(name, printable=True)}]")
                lines += [f"{toml_string(of, printable=True)} = {share!r}" for of, share in shares.items()]
            continue
        if isinstance(value, list):
            lines.append(f"{key} = {toml_lines(toml_string(x, printable=True) for x in value)}")
        else:
            shown = toml_string(value, printable=True) if isinstance(value, str) else repr(value).lower()
            lines.append(f"{key} = {shown}")
    return "\n".join(lines)
