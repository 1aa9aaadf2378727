"""Collections: documents read from files, memory or ir_datasets."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from amble.errors import AmbleError, ReadError
from amble.io.files import files_below
from amble.io.trec import column_fault
from amble.retrieval.records import Field, Kind, Record, is_text, read_records

__all__ = ["IRDS", "Document", "irds_records", "read_documents"]

IRDS = "irds:"  # before the name of a collection of ir_datasets

_KIND = Kind("document", ("doc", "document"), ("docno", "docid", "doc_id", "_id", "id"), labelled=False)


class Document(NamedTuple):
    """A document: its id, its text, and where it was found."""

    id: str
    text: str
    where: str = ""


def read_documents(
    *sources: Any, fields: Sequence[str] | None = None, encoding: str | None = None, max_document: int | None = None
) -> Iterator[Document]:
    """The documents of a collection, one by one.

    Parameters
    ----------
    *sources : path, mapping or iterable
        Files (plain, gzip, xz, bzip2 or zstd; ``-`` for standard input) or folders of them, in any of these layouts:
        ``<DOC>`` with a ``<DOCNO>``; JSON lines with an ``id``; ``.I 1`` with fields such as ``.W``; an id, a tab and
        text. ``irds:NAME`` is a collection of ir_datasets. In memory: ``{id: text}``, or pairs ``(id, text)``.
    fields : sequence of str, optional
        The tags, keys or dotted fields to take (``.T`` is ``title``, ``.W`` is ``text``); all of them by default.
    encoding : str, optional
        UTF-8, or what an XML declaration says.
    max_document : int, optional
        The longest document of a file, in bytes; 64,000,000 if not given. A longer one is an error, and not read to its
        end.

    Yields
    ------
    Document

    Examples
    --------
    >>> from amble.retrieval.documents import read_documents
    >>> [(doc.id, doc.text) for doc in read_documents({"d1": "caesar died in march", "d2": "the long march"})]
    [('d1', 'caesar died in march'), ('d2', 'the long march')]
    """
    if not sources:
        raise ReadError("no collection given, expected at least one")
    chosen = None if fields is None else _names(fields)
    for source in sources:
        if isinstance(source, str | os.PathLike):
            yield from _of_path(os.fspath(source), chosen, encoding, max_document)
        else:
            yield from _in_memory(source)


def _names(fields: Sequence[str]) -> frozenset[str]:
    if isinstance(fields, str) or not fields:
        raise ReadError(f"fields {fields!r}: expected a list of names, such as ['title', 'text']")
    return frozenset(name.lower() for name in fields)


def _of_path(
    path: str, chosen: frozenset[str] | None, encoding: str | None, max_document: int | None
) -> Iterator[Document]:
    if path.startswith(IRDS):
        found: Iterable[Record] = irds_records(path, "docs")
    else:
        found = (record for file in files_below(path) for record in read_records(file, _KIND, encoding, max_document))
    seen: dict[str, None] = {}
    met = False
    for where, name, fields in found:
        if chosen is None:
            texts = [field.text for field in fields]
        else:
            texts = [field.text for field in fields if field.name in chosen]
            met = met or bool(texts)
            seen.update(dict.fromkeys(field.name for field in fields))
        yield Document(name, "\n".join(texts), where)
    if chosen is not None and not met:
        raise ReadError(
            f"{path}: no document has a field {', '.join(sorted(chosen))}; there are {', '.join(seen) or 'none'}"
        )


def _in_memory(source: Any) -> Iterator[Document]:
    pairs = source.items() if isinstance(source, Mapping) else source
    if not isinstance(pairs, Iterable):
        raise ReadError(f"collection: found {type(source).__name__}, expected a path, {{id: text}} or pairs (id, text)")
    for place, pair in enumerate(pairs):
        if isinstance(pair, Document):
            yield pair
            continue
        try:
            name, text = pair
        except (TypeError, ValueError):
            raise ReadError(f"collection: entry {place}: found {pair!r:.60}, expected (id, text)") from None
        where = f"collection: entry {place}"
        if not isinstance(name, str) or not isinstance(text, str):
            raise ReadError(f"{where}: found {pair!r:.60}, expected two strings")
        if wrong := column_fault(name):
            raise ReadError(f"{where}: id {name!r:.60} {wrong}, which runs cannot hold")
        if not is_text(name + text):
            raise ReadError(f"{where}: half of a character (a lone surrogate) in {name!r:.60}, expected text")
        yield Document(name, text, where)


# ---- ir_datasets


def irds_records(name: str, part: str) -> Iterator[Record]:
    """The documents or queries of a collection of ir_datasets, which downloads them if it must.

    Parameters
    ----------
    name : str
        As ``irds:vaswani``.
    part : {"docs", "queries"}
    """
    try:
        import ir_datasets
    except ImportError:
        raise ReadError(f"{name}: ir_datasets needs the extra: pip install 'amble-ir[data]'") from None
    try:
        dataset = ir_datasets.load(name.removeprefix(IRDS))
        if not getattr(dataset, f"has_{part}")():
            raise ReadError(f"{name}: has no {part}, expected a collection that has them")
        for place, item in enumerate(getattr(dataset, f"{part}_iter")(), 1):
            yield _record(item, f"{name}:{place}", "doc_id" if part == "docs" else "query_id")
    except AmbleError:
        raise
    except KeyError:
        raise ReadError(f"{name}: ir_datasets knows no such collection") from None
    except Exception as error:  # any failure of a download
        why = next(iter(str(error).splitlines()), "")
        raise ReadError(f"{name}: ir_datasets could not read it: {type(error).__name__}: {why:.200}") from None


def _record(item: Any, where: str, key: str) -> Record:
    fields = [Field(name.lower(), text) for name, text in zip(item._fields, item, strict=True) if isinstance(text, str)]
    return Record(where, str(getattr(item, key)), [field for field in fields if field.name != key])
