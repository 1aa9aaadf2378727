"""Data of other libraries (pandas, polars, iterables, ir_datasets) as columns topic, document, number."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from amble.errors import ReadError

__all__ = ["as_table"]

Columns = tuple[list[Any], list[Any], list[Any]]

_TOPIC = ("topic", "query_id", "qid", "topic_id", "query", "q_id", "query-id", "topicno")
_DOC = ("doc", "doc_id", "docno", "docid", "document", "did", "corpus-id", "document_id")
_NUMBER = {
    "grade": ("grade", "relevance", "label", "rel", "relevance_grade", "judgment", "score"),
    "score": ("score", "sim", "rsv", "relevance_score"),
}


def _find(names: list[str], wanted: tuple[str, ...], what: str, name: str) -> str:
    for candidate in wanted:
        if names.count(candidate) > 1:
            raise ReadError(f"{name}: {names.count(candidate)} columns are called {candidate}, expected one")
        if candidate in names:
            return candidate
    raise ReadError(f"{name}: no column for the {what} among {', '.join(names)}; expected one of {', '.join(wanted)}")


def _column(frame: Any, column: str) -> list[Any]:
    values = frame[column]
    return list(values.to_list() if hasattr(values, "to_list") else values.tolist())


def _of_frame(frame: Any, number: str, name: str) -> Columns:
    names = [str(column) for column in frame.columns]
    wanted = ((_TOPIC, "topic"), (_DOC, "document"), (_NUMBER[number], number))
    topic, doc, value = (_find(names, known, what, name) for known, what in wanted)
    return _column(frame, topic), _column(frame, doc), _column(frame, value)


def _of_rows(rows: Iterable[Any], number: str, name: str) -> Columns:
    out: Columns = ([], [], [])
    for i, row in enumerate(rows):
        if hasattr(row, "query_id") and hasattr(row, "doc_id"):  # ir_datasets and similar
            value = row.relevance if number == "grade" else row.score
            topic, doc = row.query_id, row.doc_id
        else:
            try:
                topic, doc, value = row
            except (TypeError, ValueError):
                raise ReadError(f"{name}: row {i}: found {row!r:.100}, expected (topic, doc, {number})") from None
        for column, cell in zip(out, (topic, doc, value), strict=True):
            column.append(cell)
    return out


def as_table(data: Any, number: str, name: str) -> dict[str, Any] | Columns:
    """The data as the reader takes it: ``{topic: {doc: number}}`` or three columns.

    Parameters
    ----------
    data : mapping, frame or iterable
        ``{topic: {doc: number}}``; a pandas or polars frame with the usual column names; an iterable of
        ``(topic, doc, number)`` or of objects with ``query_id``, ``doc_id`` and ``relevance`` or ``score``; an
        ir_datasets dataset.
    number : {"grade", "score"}
        What the third column is.
    name : str
        What to call the data in messages.
    """
    if isinstance(data, Mapping):
        return {
            topic: docs if isinstance(docs, dict) or not isinstance(docs, Mapping) else dict(docs)
            for topic, docs in data.items()
        }
    if hasattr(data, "collect") and hasattr(data, "collect_schema"):  # a polars LazyFrame
        data = data.collect()
    if hasattr(data, "columns") and hasattr(data, "__getitem__"):
        return _of_frame(data, number, name)
    if number == "grade" and hasattr(data, "qrels_iter"):
        data = data.qrels_iter()
    if isinstance(data, Iterable) and not isinstance(data, str | bytes):
        return _of_rows(data, number, name)
    raise ReadError(
        f"{name}: found {type(data).__name__}, expected a path, a dictionary, a frame or "
        f"an iterable of (topic, doc, {number})"
    )
