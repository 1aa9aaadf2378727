"""The grammar of measure names: ``nDCG@10``, ``RBP(p=0.8)``, ``AP(rel=2)@100``.

::

    measure = name [ "(" [ argument { "," argument } ] ")" ] [ "@" number ]
    argument = name "=" value | value | name
    value   = number | string | "True" | "False" | "None" | population
    population = name "(" number "," number ")"

Only the first argument may go without its name. Nothing is ever executed.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from amble.errors import MeasureError
from amble.expressions.populations import DISTRIBUTIONS, Population

__all__ = ["Call", "Value", "parse_call", "show_value", "split_measures"]

Value = float | int | str | bool | Population | None

_TOKEN = re.compile(
    r"""\s*(?:
    (?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![A-Za-z_0-9.]))
  | (?P<name>[A-Za-z_][A-Za-z_0-9]*)
  | (?P<string>'[^'\\]*'|"[^"\\]*")
  | (?P<sign>[()=,@])
  )""",
    re.VERBOSE | re.ASCII,
)
_WORDS: dict[str, Value] = {"True": True, "False": False, "None": None}
_LONGEST = 1000


class Call(NamedTuple):
    """A measure as written: name, arguments, what follows ``@``, and the first argument if it has no name."""

    name: str
    arguments: dict[str, Value]
    at: float | int | None
    unnamed: tuple[Value, ...] = ()


def _tokens(text: str) -> list[tuple[str, str, int]]:
    out, at = [], 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if not found:
            if not text[at:].strip():
                break
            raise MeasureError(f"{text!r}: cannot read {text[at:].strip()[:20]!r} at character {at + 1}")
        out.append((str(found.lastgroup), found[str(found.lastgroup)], found.start(str(found.lastgroup))))
        at = found.end()
    return out


def _number(text: str) -> float | int:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise MeasureError(f"{text} is too large for a double")
    return int(text) if re.fullmatch(r"[+-]?\d{1,15}", text) else value


def parse_call(text: str) -> Call:
    """Name, arguments and ``@`` of an expression.

    >>> parse_call("RBP(p=0.8)@10")
    Call(name='RBP', arguments={'p': 0.8}, at=10, unnamed=())
    >>> parse_call("MP(GL_AD_ID, steps=10)")
    Call(name='MP', arguments={'steps': 10}, at=None, unnamed=('GL_AD_ID',))
    """
    if len(text) > _LONGEST:
        raise MeasureError(f"{text[:40]!r}...: a measure of {len(text)} characters, expected at most {_LONGEST}")
    tokens = _tokens(text)
    i = 0

    def take(kind: str, sign: str | None = None, what: str = "") -> str:
        nonlocal i
        if i < len(tokens) and tokens[i][0] == kind and (sign is None or tokens[i][1] == sign):
            i += 1
            return tokens[i - 1][1]
        found = f"{tokens[i][1]!r} at character {tokens[i][2] + 1}" if i < len(tokens) else "the end"
        raise MeasureError(f"{text!r}: found {found}, expected {what or repr(sign)}")

    def peek(sign: str) -> bool:
        return i < len(tokens) and tokens[i][:2] == ("sign", sign)

    def value() -> Value:
        nonlocal i
        if i < len(tokens):
            kind, word, _ = tokens[i]
            if kind == "number":
                i += 1
                return _number(word)
            if kind == "string":
                i += 1
                return word[1:-1]
            if kind == "name" and word in _WORDS:
                i += 1
                return _WORDS[word]
            if kind == "name" and word in DISTRIBUTIONS:
                return population()
        return take("number", what="a number, a quoted string, True, False, None or a distribution")

    def population() -> Population:
        nonlocal i
        kind = take("name")
        take("sign", "(", "'(' and the parameters of the distribution")
        numbers = []
        while not peek(")"):
            numbers.append(float(_number(take("number", what="a number"))))
            if not peek(")"):
                take("sign", ",", "',' or ')'")
        i += 1
        return Population(kind, tuple(numbers))

    name = take("name", what="the name of a measure")
    if name == "P" and [t[1] for t in tokens[1:3]] == ["@", "H"]:  # P@H(...), as its authors write it
        i, name = 3, "PH"
    arguments: dict[str, Value] = {}
    unnamed: tuple[Value, ...] = ()
    if peek("("):
        i += 1
        kind, word = tokens[i][:2] if i < len(tokens) else ("", "")
        after = tokens[i + 1][1] if i + 1 < len(tokens) else ""
        if kind == "name" and after in (",", ")") and word not in _WORDS:
            unnamed = (take("name"),)
        elif kind in ("number", "string") or (kind == "name" and after != "=" and word in (*_WORDS, *DISTRIBUTIONS)):
            unnamed = (value(),)
        if unnamed and not peek(")"):
            take("sign", ",", "',' or ')'")
        while not peek(")"):
            key = take("name", what="a parameter, as in p=0.8")
            take("sign", "=", "'=' and the parameter's value")
            if key in arguments:
                raise MeasureError(f"{text!r}: {key} is given twice")
            arguments[key] = value()
            if not peek(")"):
                take("sign", ",", "',' or ')'")
        i += 1
    at: float | int | None = None
    if peek("@"):
        i += 1
        at = _number(take("number", what="a number after '@'"))
    if i < len(tokens):
        take("end", what="nothing more")
    return Call(name, arguments, at, unnamed)


def show_value(value: Value) -> str:
    """A value as text that `parse_call` reads again.

    >>> show_value(0.8), show_value("exp"), show_value(2.0)
    ('0.8', "'exp'", '2')
    """
    if isinstance(value, str):
        return f'"{value}"' if "'" in value else f"'{value}'"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return repr(value)


def split_measures(text: str) -> list[str]:
    """The measures of a text, split at commas and blanks outside of parentheses.

    >>> split_measures("AP, nDCG(gains='exp', base=2)@10 P@5")
    ['AP', "nDCG(gains='exp', base=2)@10", 'P@5']
    """
    out, depth, quote, current = [], 0, "", ""
    for c in text:
        if quote:
            quote = "" if c == quote else quote
        elif c in "'\"":
            quote = c
        else:
            depth += (c == "(") - (c == ")")
            if depth <= 0 and (c == "," or c.isspace()):
                out.append(current)
                current = ""
                continue
        current += c
    return [word for word in [*out, current] if word]
