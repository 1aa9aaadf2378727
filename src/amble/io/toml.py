"""TOML files: read after a check that a small one cannot take minutes or all the stack, and values written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from amble.errors import ReadError
from amble.io.files import open_bytes

__all__ = ["read_toml", "toml_lines", "toml_numbers", "toml_string"]

# the parser takes time that grows with the square of a key's parts, and stack with brackets in brackets
_LARGEST, _LARGEST_BARE, _DEEPEST, _LONGEST_WORD = 1 << 26, 1 << 21, 10, 1000
_TEXT = re.compile(  # strings and comments, in which anything may stand
    r'"""(?:[^"\\]++|\\.|"{1,2}(?!"))*+"{3,5}|"(?:[^"\\\n]++|\\.)*+"'
    r"|'''(?:[^']++|'{1,2}(?!'))*+'{3,5}|'[^'\n]*+'|#[^\n]*+",
    re.DOTALL,
)
_WORD = re.compile(
    r"(?P<open>[\[{])|(?P<close>[\]}])"
    rf"|(?P<key>(?<![\w-])(?:[\w-]++[ \t]*+\.[ \t]*+){{{_DEEPEST},}})"
    rf"|(?P<word>(?<![\w-])[\w-]{{{_LONGEST_WORD},}})"
)


def read_toml(path: str) -> dict[str, Any]:
    """The tables of a TOML file; one that would take the parser minutes, or all its stack, is refused before."""
    import tomllib

    with open_bytes(path) as file:
        data = file.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        raise ReadError(f"{path}: larger than {_LARGEST:,} bytes, expected a smaller file")
    try:
        text = data.decode("utf-8")
        _check(path, text)
        return tomllib.loads(text)
    except UnicodeDecodeError as error:
        raise ReadError(f"{path}: byte {error.start + 1} is not UTF-8, expected TOML") from None
    except tomllib.TOMLDecodeError as error:
        found = re.search(r" \(at line (\d+), column \d+\)$", str(error))
        why, line = (str(error)[: found.start()], f":{found[1]}") if found else (str(error), "")
        raise ReadError(f"{path}{line}: {why}, expected TOML") from None


def _check(path: str, text: str) -> None:
    bare = _TEXT.sub(lambda found: "s" + "\n" * found[0].count("\n"), text)
    if len(bare) > _LARGEST_BARE:
        raise ReadError(f"{path}: {len(bare):,} characters outside of strings, expected at most {_LARGEST_BARE:,}")
    depth = 0
    for found in _WORD.finditer(bare):
        depth += (found.lastgroup == "open") - (found.lastgroup == "close")
        if len(found[0]) == 1 and depth <= _DEEPEST:
            continue
        what = {
            "key": f"a key of {found[0].count('.') + 1:,} parts, expected at most {_DEEPEST}",
            "word": f"a number or a name of {len(found[0]):,} characters, expected fewer than {_LONGEST_WORD:,}",
        }.get(str(found.lastgroup), f"brackets in brackets, {depth} deep, expected at most {_DEEPEST}")
        raise ReadError(f"{path}:{bare.count(chr(10), 0, found.start()) + 1}: found {what}")


# ---- writing


def toml_string(text: str, *, printable: bool = False) -> str:
    r"""A basic string of TOML.

    Control characters are escaped as in JSON, and half a surrogate pair becomes a question mark. With ``printable``
    every character that does not print is escaped by its number, and half a surrogate pair is spelled out.

    >>> print(toml_string('a "b"\n'), toml_string('a "b"\n', printable=True))
    "a \"b\"\n" "a \"b\"\U0000000A"
    """
    if printable:
        out = text.encode("utf-8", "backslashreplace").decode().replace("\\", "\\\\").replace('"', '\\"')
        return '"' + "".join(c if c.isprintable() else f"\\U{ord(c):08X}" for c in out) + '"'
    return json.dumps(str(text).encode("utf-8", "replace").decode(), ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_numbers(value: Any, digits: int = 17) -> str:
    """A number, or nested lists of them as arrays, a line for each row of rows; all digits, or so many.

    >>> toml_numbers(2.0), toml_numbers([0.5, 1 / 3], 4)
    ('2', '[0.5, 0.3333]')
    """
    if isinstance(value, list):
        if value and isinstance(value[0], list):
            return toml_lines(toml_numbers(row, digits) for row in value)
        return f"[{', '.join(toml_numbers(x, digits) for x in value)}]"
    short = repr(float(value)) if digits >= 17 else f"{value:.{digits}g}"
    return short[:-2] if short.endswith(".0") else short


def toml_lines(items: Iterable[str]) -> str:
    """An array with one item per line; items are TOML already."""
    return "[\n" + "".join(f"  {item},\n" for item in items) + "]"
