"""Collections by name, from ir_datasets: ``irds:vaswani``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from amble.errors import AmbleError, ReadError
from amble.retrieval.records import Field, Record

__all__ = ["PREFIX", "named_records"]

PREFIX = "irds:"


def named_records(name: str, part: str) -> Iterator[Record]:
    """Read the documents or the queries of a collection that ir_datasets knows; it fetches them if it must.

    Parameters
    ----------
    name : str
        As ``irds:vaswani``.
    part : {"docs", "queries"}
    """
    try:
        import ir_datasets
    except ImportError:
        raise ReadError(f"{name}: ir_datasets needs the extra: pip install 'amble[data]'") from None
    try:
        dataset = ir_datasets.load(name.removeprefix(PREFIX))
        if not getattr(dataset, f"has_{part}")():
            raise ReadError(f"{name}: has no {part}, expected a collection that has them")
        for place, item in enumerate(getattr(dataset, f"{part}_iter")(), 1):
            yield _record(item, f"{name}:{place}", "doc_id" if part == "docs" else "query_id")
    except AmbleError:
        raise
    except KeyError:
        raise ReadError(f"{name}: ir_datasets knows no such collection") from None
    except Exception as error:  # whatever a download can come to
        told = next(iter(str(error).splitlines()), "")
        raise ReadError(f"{name}: ir_datasets could not read it: {type(error).__name__}: {told:.200}") from None


def _record(item: Any, where: str, key: str) -> Record:
    fields = [Field(name.lower(), text) for name, text in zip(item._fields, item, strict=True) if isinstance(text, str)]
    return Record(where, str(getattr(item, key)), [field for field in fields if field.name != key])
