"""Topics read from files, and judgments in the layout of SMART's collections."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from amble.errors import AmbleError, ReadError
from amble.io.files import numbered_lines, path_name
from amble.io.trec import column_fault
from amble.retrieval.documents import IRDS, irds_records
from amble.retrieval.records import Field, Kind, Record, read_records

__all__ = ["FIELDS", "read_rel", "read_topic_texts", "read_topics"]

_KIND = Kind(
    "topic",
    ("top", "topic"),
    ("num", "number", "identifier", "qid", "query_id", "topic_id", "_id", "id", "docno"),
    labelled=True,
)
# the names by which each is known, the first that a topic has is taken
FIELDS = {
    "title": ("title", "query", "text", "topic", "keywords"),
    "description": ("description", "desc", "question"),
    "narrative": ("narrative", "narr", "background"),
}
_SHOWN = 5


def read_topics(
    source: Any,
    *,
    fields: Sequence[str] = ("title",),
    language: str | None = None,
    encoding: str | None = None,
    renumber: bool = False,
) -> dict[str, str]:
    """The topics of a file or a mapping.

    Parameters
    ----------
    source : path or mapping
        A file of TREC topics (``<top>``), XML (``<topic>``), JSON lines, ``.I 1`` with ``.W``, or lines of an id, a tab
        and text; ``irds:NAME`` for a collection of ir_datasets; ``{topic: text}``.
    fields : sequence of str
        ``"title"``, ``"description"``, ``"narrative"``, under whichever of their usual names, or any other tag or key;
        several are put together.
    language : str, optional
        Which language, where topics are in several: that of a ``lang`` attribute, or of tags such as ``<EN-title>``.
    encoding : str, optional
        UTF-8, or what an XML declaration says.
    renumber : bool
        Number topics 1, 2, 3… by their place. Cranfield's judgments count topics so, whatever their own numbers are.

    Returns
    -------
    dict
        ``{topic: text}``, in the order of the file.

    Examples
    --------
    >>> import amble
    >>> amble.read_topics({"1": "ides of march"})
    {'1': 'ides of march'}
    """
    if isinstance(source, Mapping):
        return _in_memory(source)
    if not isinstance(source, str | os.PathLike):
        raise ReadError(f"topics: found {type(source).__name__}, expected a path or {{topic: text}}")
    if isinstance(fields, str) or not fields:
        raise ReadError(f"fields {fields!r}: expected a list of names, such as ['title', 'description']")
    path = path_name(source)
    found = _in_one_language(list(_found(path, encoding)), language, path)
    out: dict[str, str] = {}
    first: dict[str, str] = {}
    for place, record in enumerate(found, 1):
        name = str(place) if renumber else record.id
        if name in out:
            raise ReadError(f"{record.where}: topic {name} is there twice (first at {first[name]})")
        _first_column(name, record.where)
        out[name], first[name] = " ".join(_text(record, field) for field in fields), record.where
    return out


def read_topic_texts(path: str, encoding: str | None = None) -> dict[str, str]:
    """All fields of topics, a line each, for assessors: ``{topic: text}``."""
    return {
        record.id: "\n".join(" ".join(field.text.split()) for field in record.fields)
        for record in _found(path, encoding)
    }


def _found(path: str, encoding: str | None) -> Iterable[Record]:
    return irds_records(path, "queries") if path.startswith(IRDS) else read_records(path, _KIND, encoding)


def _in_memory(source: Mapping[Any, Any]) -> dict[str, str]:
    for topic, text in source.items():
        if not isinstance(topic, str) or not isinstance(text, str):
            raise ReadError(f"topics: found {topic!r:.60}: {text!r:.60}, expected strings")
        _first_column(topic, "topics")
    return dict(source)


def _first_column(topic: str, where: str) -> None:
    """Refuse an id that would not be the first column of lines in a run."""
    if wrong := column_fault(topic, first=True):
        raise ReadError(f"{where}: id {topic!r:.60} of a topic {wrong}, which runs cannot hold")


def _in_one_language(found: list[Record], language: str | None, path: str) -> list[Record]:
    """The topics in a language; those without a language are kept, too."""
    languages = sorted({field.lang for record in found for field in record.fields if field.lang})
    if language is None:
        if len(languages) > 1:
            raise ReadError(f"{path}: topics in several languages ({', '.join(languages)}), expected one to be chosen")
        return found
    language = language.lower()
    if language not in languages:
        there = f"there are {', '.join(languages)}" if languages else "no language is said in it"
        raise ReadError(f"{path}: no topic in language {language!r}; {there}")
    kept = [record._replace(fields=[f for f in record.fields if f.lang in ("", language)]) for record in found]
    return [record for record, before in zip(kept, found, strict=True) if record.fields or not before.fields]


def _text(record: Record, field: str) -> str:
    names = FIELDS.get(field.lower(), (field.lower(),))
    there: dict[str, Field] = {}
    for each in record.fields:
        there.setdefault(each.name, each)
    for name in names:
        if name in there:
            return " ".join(there[name].text.split())
    listed = ", ".join(list(there)[:_SHOWN]) or "nothing"
    raise ReadError(f"{record.where}: topic {record.id} has no {field}; it has {listed}")


def read_rel(source: str | os.PathLike[str]) -> dict[str, dict[str, float]]:
    r"""The judgments of a file in SMART's layout: ``topic document``, and further columns of zeros.

    CISI.REL and CACM's ``qrels.text`` are such files. Every pair is relevant; ids lose their leading zeros. They look
    like judgments of TREC and are not: there, the document is the third column.

    Parameters
    ----------
    source : path

    Returns
    -------
    dict
        ``{topic: {doc: 1.0}}``, which `amble.read_qrels` and all that take judgments accept.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import amble
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "CACM.REL")
    ...     _ = path.write_text("01 1410  0 0\n01 1572  0 0\n")
    ...     amble.read_rel(path)
    {'1': {'1410': 1.0, '1572': 1.0}}
    """
    path = path_name(source)
    out: dict[str, dict[str, float]] = {}
    for number, line in numbered_lines(path):
        cells = line.split()
        if not cells:
            continue
        if len(cells) < 2 or not all(cell.isascii() and cell.isdecimal() for cell in cells[:2]):
            raise ReadError(f"{path}:{number}: found {line[:40]!r}, expected two whole numbers: topic document")
        if any(cell.strip("0.") for cell in cells[2:]):
            raise ReadError(f"{path}:{number}: found {line[:40]!r}, expected zeros after topic and document")
        topic, doc = (cell.lstrip("0") or "0" for cell in cells[:2])
        out.setdefault(topic, {})[doc] = 1.0
    if not out:
        raise AmbleError(f"{path}: empty, expected lines: topic document")
    return out
