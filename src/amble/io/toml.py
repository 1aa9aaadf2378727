"""TOML, looked over before it is parsed: a small file must not take minutes, or all the stack."""

from __future__ import annotations

import re
from typing import Any

from amble.errors import ReadError
from amble.io.files import open_bytes

__all__ = ["read_toml"]

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
    """Read a file of TOML; one that would take the parser minutes, or all its stack, is refused before."""
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
