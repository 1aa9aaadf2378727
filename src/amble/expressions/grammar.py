"""The grammar of measure names: ``nDCG@10``, ``RBP(p=0.8)``, ``AP(rel=2)@100``.

::

    measure = name [ "(" [ argument { "," argument } ] ")" ] [ "@" number ]
    argument = name "=" value | value | name
    value   = number | string | "True" | "False" | "None" | population
    population = name "(" number "," number { "," number } ")"

Only the first argument may go without its name. Nothing is ever executed. A value's type is its domain's business:
strings may hold lists, tables or formulas.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from amble.errors import MeasureError
from amble.expressions.aliases import plain_name
from amble.expressions.populations import DISTRIBUTIONS, Population
from amble.expressions.values import show_number

__all__ = ["Call", "Value", "parse_call", "plain_value", "show_call", "show_value", "split_measures"]

Value = float | int | str | bool | Population | None

_TOKEN = r"""(?ax)\s*(?:
    (?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![A-Za-z_0-9.]))
  | (?P<name>[A-Za-z_][A-Za-z_0-9]*)
  | (?P<string>'[^'\\]*'|"[^"\\]*")
  | (?P<digest><[a-z]+:[0-9a-f]+>)
  | (?P<sign>[()=,@])
  )"""
_WORDS: dict[str, Value] = {"True": True, "False": False, "None": None}
_LONGEST = 1000


class Call(NamedTuple):
    """A measure as written: name, arguments, what follows ``@``, and the first argument if it has no name."""

    name: str
    arguments: dict[str, Value]
    at: float | int | None
    unnamed: tuple[Value, ...] = ()


def _tokens(text: str) -> list[tuple[str, str, int]]:
    out, at, token = [], 0, re.compile(_TOKEN)
    while at < len(text):
        found = token.match(text, at)
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
    if (plain := plain_name(text)) is not None:
        return Call(plain[0], {}, plain[1])
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
            if kind == "digest":
                raise MeasureError(f"{text!r}: {word} is an object that no text can spell; in Python, give it itself")
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
        elif kind in ("number", "string", "digest") or (
            kind == "name" and after != "=" and word in (*_WORDS, *DISTRIBUTIONS)
        ):
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


def show_value(value: Any) -> str:
    """A value as text that `parse_call` reads again; an object as its ``str``, in quotes unless it is ``unquoted``.

    >>> show_value(0.8), show_value("exp"), show_value(2.0), show_value(Population("Beta", (8.0, 2.0)))
    ('0.8', "'exp'", '2', 'Beta(8,2)')
    """
    if isinstance(value, int | None):
        return repr(value)
    if isinstance(value, float):
        return show_number(value)
    text = str(value)
    return text if getattr(value, "unquoted", False) else f'"{text}"' if "'" in text else f"'{text}'"


def show_call(name: str, arguments: Mapping[str, Any]) -> str:
    """An expression of a name and arguments.

    >>> show_call("bm25", {"k1": 0.9, "b": 1.0}), show_call("bm25", {})
    ('bm25(k1=0.9,b=1)', 'bm25')
    """
    shown = ",".join(f"{key}={show_value(value)}" for key, value in arguments.items())
    return f"{name}({shown})" if shown else name


def plain_value(value: Any) -> str | int | float | None:
    """A value as JSON has it: numbers and None as they are, all else as text."""
    return value if isinstance(value, int | float | None) else str(value)


def split_measures(text: str) -> list[str]:
    """The measures of a text, split at commas and blanks outside of parentheses; of trec_eval's, one for each number.

    >>> split_measures("AP, nDCG(gains='exp', base=2)@10 P@5 ndcg_cut.5,10")
    ['AP', "nDCG(gains='exp', base=2)@10", 'P@5', 'ndcg_cut.5', 'ndcg_cut.10']
    """
    out: list[str] = []
    depth, quote, current = 0, "", ""
    for c in text:
        if quote:
            quote = "" if c == quote else quote
        elif c in "'\"":
            quote = c
        else:
            depth += (c == "(") - (c == ")")
            if depth <= 0 and (c == "," or c.isspace()):
                out += [current, c]
                current = ""
                continue
        current += c
    out.append(current)
    for i in range(2, len(out), 2):
        listed = re.fullmatch(r"([A-Za-z_]\w*\.)[\d.]+", out[i - 2])
        if out[i - 1] == "," and listed and re.fullmatch(r"[\d.]+", out[i]):
            out[i] = listed[1] + out[i]
    return [word for word in out[::2] if word]
