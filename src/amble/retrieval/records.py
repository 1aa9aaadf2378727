"""Records of collections and topics, in the usual file layouts, recognised by their content.

* tagged: ``<DOC>``, ``<top>``, ``<topic>`` with tags inside;
* JSON lines: one object per line;
* dotted: ``.I 1``, then fields such as ``.T`` and ``.W``, as SMART's collections (Cranfield, CISI, CACM, Medline) have;
* TSV: an id, a tab, text.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from amble import checks
from amble.errors import ReadError
from amble.io.files import LONGEST_DOCUMENT, byte_limit, numbered_lines
from amble.io.trec import column_fault
from amble.retrieval.markup import entries, parts, plain, too_long

__all__ = ["Field", "Kind", "Record", "is_text", "read_records"]

_DOTTED = re.compile(r"\.([A-Za-z])(?:\s+(.*))?$")
_DOTS = {"t": "title", "a": "author", "b": "bibliography", "w": "text", "k": "keywords", "n": "note", "c": "category"}
_NO_TEXT = frozenset("x")  # cross-references, as numbers
_LABEL = re.compile(r"\s*(?:Number|Topic|Description|Narrative|Query)\s*:", re.IGNORECASE)
_SHOWN = 40


class Field(NamedTuple):
    """A named text, and its language where that is said."""

    name: str
    text: str
    lang: str = ""


class Record(NamedTuple):
    """A document or a topic: where it stands, its id, its texts in the order of the file."""

    where: str
    id: str
    fields: list[Field]


class Kind(NamedTuple):
    """A kind of record: its name, the tags of its entries, and the names of ids, of which the first found is taken.

    Ids are no text. ``labelled`` ones may begin their fields with a label (``Number:``), and name languages in tags.
    """

    word: str
    entries: tuple[str, ...]
    ids: tuple[str, ...]
    labelled: bool


def read_records(
    path: str, kind: Kind, encoding: str | None = None, max_document: int | None = None
) -> Iterator[Record]:
    """The records of a file, whatever its layout; a record, and a line, has at most ``max_document`` bytes."""
    most = byte_limit(max_document, "max_document", LONGEST_DOCUMENT)
    lines = numbered_lines(path, encoding, most)
    number, line = next(((number, line) for number, line in lines if line.strip()), (0, ""))
    if not number:
        raise ReadError(f"{path}: empty, expected {kind.word}s")
    lines = itertools.chain([(number, line)], lines)
    first = line.lstrip()
    if first.startswith("<"):
        return _tagged(lines, path, kind, most)
    if first.startswith("{"):
        return _objects(lines, path, kind)
    if _DOTTED.match(line):
        return _dotted(lines, path, kind, most)
    if "\t" in line:
        return _columns(lines, path, kind)
    raise ReadError(
        f"{path}:{number}: found {first[:_SHOWN]!r}, expected <{kind.entries[0]}>, a JSON object, .I 1, "
        f"or an id, a tab and text"
    )


def _id(text: str, where: str, kind: Kind) -> str:
    name = text.strip()
    if not name:
        raise ReadError(f"{where}: the id of a {kind.word} is empty")
    if wrong := column_fault(name):
        raise ReadError(f"{where}: id {name[:_SHOWN]!r} of a {kind.word} {wrong}, which runs cannot hold")
    return name


def _tagged(lines: Iterable[tuple[int, str]], path: str, kind: Kind, most: int) -> Iterator[Record]:
    none = True
    for entry in entries(lines, kind.entries, path, most):
        none, where = False, f"{path}:{entry.line}"
        ids: dict[str, str] = {}
        fields: list[Field] = []
        whole = entry.attributes.get("lang") or entry.attributes.get("xml:lang") or ""
        for tag, attributes, body in parts(entry.body):
            text = plain(body)
            if kind.labelled:
                text = _LABEL.sub("", text, count=1) if _LABEL.match(text) else text
            if tag in kind.ids:
                ids.setdefault(tag, text)
                continue
            lang = attributes.get("lang") or attributes.get("xml:lang") or whole
            if kind.labelled and re.match(r"[a-z]{2}-\w", tag):  # <EN-title>, as at CLEF
                lang, tag = tag[:2], tag[3:]
            fields.append(Field(tag or "text", text, _word(lang)))
        name = next((some[key] for some in (ids, entry.attributes) for key in kind.ids if key in some), None)
        if name is None:
            raise ReadError(f"{where}: a {kind.word} without <{kind.ids[0]}>")
        yield Record(where, _id(name, where, kind), fields)
    if none:
        raise ReadError(f"{path}: no <{kind.entries[0]}> in it, expected {kind.word}s")


def _objects(lines: Iterable[tuple[int, str]], path: str, kind: Kind) -> Iterator[Record]:
    for number, line in lines:
        if not line.strip():
            continue
        where = f"{path}:{number}"
        try:
            found = json.loads(line)
        except (ValueError, RecursionError) as error:
            reason = "too deep" if isinstance(error, RecursionError) else getattr(error, "msg", "a number too long")
            raise ReadError(
                f"{where}: found {line.strip()[:_SHOWN]!r}, expected a JSON object a line: {reason}"
            ) from None
        if not isinstance(found, dict):
            raise ReadError(f"{where}: found {line.strip()[:_SHOWN]!r}, expected a JSON object")
        key = next((key for key in kind.ids if key in found), None)
        if key is None:
            raise ReadError(f"{where}: a {kind.word} without an id, expected {', '.join(map(repr, kind.ids))}")
        value = found[key]
        if not isinstance(value, str) and not checks.is_whole(value):
            raise ReadError(f"{where}: id {value!r} of a {kind.word}, expected a string")
        lang = found.get("lang")
        texts = [
            Field(_word(name), text, _word(lang) if isinstance(lang, str) else "")
            for name, held in found.items()
            if name not in (*kind.ids, "lang") and (text := _json_text(held)) is not None
        ]
        if not all(map(is_text, (str(value), *(field.text for field in texts)))):
            raise ReadError(f"{where}: found half of a character (a lone surrogate), expected text")
        yield Record(where, _id(str(value), where, kind), texts)


def _json_text(value: object) -> str | None:
    """A string, or strings in a list, one below the other; None for what is no text."""
    if isinstance(value, list):
        return "\n".join(value) if value and all(isinstance(each, str) for each in value) else None
    return value if isinstance(value, str) else None


def _word(text: str) -> str:
    """A name in small letters, on one line."""
    return " ".join(text.lower().split())


def is_text(text: str) -> bool:
    """Whether a file of ours can hold a text: it has no half of a character, as JSON may have."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _columns(lines: Iterable[tuple[int, str]], path: str, kind: Kind) -> Iterator[Record]:
    for number, line in lines:
        if not line.strip():
            continue
        where = f"{path}:{number}"
        name, tab, text = line.partition("\t")
        if not tab:
            raise ReadError(f"{where}: found {line[:_SHOWN]!r}, expected an id, a tab and text")
        yield Record(where, _id(name, where, kind), [Field("text", text.replace("\t", "\n"))])


def _dotted(lines: Iterable[tuple[int, str]], path: str, kind: Kind, most: int) -> Iterator[Record]:
    name, where = "", ""
    texts: dict[str, list[str]] = {}
    current: list[str] = []

    def record() -> Record:
        return Record(where, name, [Field(key, "\n".join(text)) for key, text in texts.items()])

    size = 0
    for number, line in lines:
        found = _DOTTED.match(line.rstrip())
        size += len(line) + 1
        if size > most and name:
            raise too_long(where, kind.word, most)
        if not found or (found[2] and found[1] != "I"):  # text may begin with a dot
            current.append(line)
            continue
        letter = found[1].lower()
        if letter == "i":
            if name:
                yield record()
            where = f"{path}:{number}"
            name, texts, current, size = _id(found[2] or "", where, kind), {}, [], 0
        elif letter in _NO_TEXT:
            current = []
        else:
            current = texts.setdefault(_DOTS.get(letter, letter), [])
    if not name:
        raise ReadError(f"{path}: no line such as .I 1 in it, expected {kind.word}s")
    yield record()
