"""Data in memory (dictionaries, pandas, polars, pyarrow, iterables, ir_datasets) as columns topic, document, number."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

from amble.errors import ReadError

__all__ = [
    "NamedColumns",
    "as_table",
    "check_columns",
    "columns_for",
    "header_of",
    "in_a_line",
    "is_one_run",
    "of_columns",
]

Columns = tuple[list[Any], ...]  # topics, subtopics if there are any, documents, numbers
Names = Mapping[str, str | int]

_TOPIC = ("topic", "query_id", "qid", "topic_id", "query", "q_id", "query-id", "topicno")
_DOC = ("doc", "doc_id", "docno", "docid", "document", "did", "corpus-id", "document_id", "pid", "passage_id")
_SUBTOPIC = ("subtopic", "subtopic_id", "subtopic-id", "intent", "intent_id", "aspect")
_ITERATION = ("iteration", "iter")  # subtopics only where it is said
_NUMBER = {
    "grade": ("grade", "relevance", "label", "rel", "relevance_grade", "judgment", "score"),
    "score": ("score", "sim", "rsv", "relevance_score", "rank"),
}
_SWAPPED = {"grade": "this is a run", "score": "these are judgments"}


class NamedColumns(dict[str, str | int]):
    """The columns that were named, and those of them that some table had."""

    def __init__(self, given: Names = {}, met: set[str] | None = None) -> None:  # noqa: B006
        super().__init__(given)
        self.met: set[str] = set() if met is None else met

    def refuse_unmet(self) -> None:
        """An error if a name is that of no column of any table."""
        for what, name in self.items():
            if isinstance(name, str) and what not in self.met:
                raise ReadError(f"columns: {what}={name!r:.60}: no file or table has a column of that name")


def check_columns(columns: Names | None) -> NamedColumns:
    """The columns that were named, ``{"topic": name or number, …}``, checked."""
    if columns is None or isinstance(columns, NamedColumns):
        return NamedColumns() if columns is None else columns
    known = ("topic", "doc", "score", "grade", "subtopic")
    if not isinstance(columns, Mapping):
        raise ReadError(f"columns {columns!r:.60}: expected a mapping, such as {{'topic': 'q', 'doc': 'd'}}")
    for key, value in columns.items():
        if key not in known:
            raise ReadError(f"columns: found {key!r:.60}, expected some of {', '.join(known)}")
        if isinstance(value, bool) or not isinstance(value, str | int) or value in ("", 0):
            raise ReadError(f"columns: {key}={value!r:.60}, expected the name of a column, or its number from 1")
    return NamedColumns({key: int(value) if str(value).isdecimal() else value for key, value in columns.items()})


def columns_for(number: str, columns: Names | None) -> NamedColumns:
    """Those of the named columns that are for runs (``number="score"``) or judgments (``"grade"``).

    Numbers of columns are only for those whose score or grade has one, as judgments mostly look otherwise than runs.
    """
    given, others = check_columns(columns), {"score": ("grade", "subtopic"), "grade": ("score",)}[number]
    numbered = isinstance(given.get(number), int)
    own = {key: x for key, x in given.items() if key not in others and (numbered or isinstance(x, str))}
    return NamedColumns(own, given.met)


def header_of(names: Sequence[str], columns: Names) -> bool:
    """Whether the first cells of a table are the names of columns: a topic's and a document's are there."""
    found = {name.strip().lower() for name in names}
    return all(
        columns.get(what) in names or not found.isdisjoint(known) for what, known in (("topic", _TOPIC), ("doc", _DOC))
    )


def in_a_line(names: Sequence[str]) -> str:
    """The names of columns, in one line, whatever is in them."""
    cut = ["".join(c if c.isprintable() else "?" for c in name.strip()[:40]) for name in names[:20]]
    return ", ".join(cut) + ", …" * (len(names) > len(cut))


def _find(names: list[str], number: str, columns: Names, name: str) -> list[int]:
    """Where the columns of topic, document and number are."""
    low, out = [text.strip().lower() for text in names], []
    for what, known in (("topic", _TOPIC), ("doc", _DOC), (number, _NUMBER[number])):
        word, given = "document" if what == "doc" else what, columns.get(what)
        if isinstance(given, int):
            if given > len(names):
                raise ReadError(f"{name}: column {given} for the {word}, found {len(names)} columns")
            out.append(given - 1)
            continue
        own = given is not None and given in names
        if own and isinstance(columns, NamedColumns):
            columns.met.add(what)
        wanted, found = ((given,), names) if own else (known, low)
        candidate = next((each for each in wanted if each in found), None)
        if candidate is None:
            other = {"grade": {"rank"}, "score": set(_NUMBER["grade"])}.get(what, set())
            swapped = f"; {_SWAPPED[what]}: did you swap the files?" if other & set(low) else ""
            expected = ", ".join(known if given is None else (str(given), *known))
            expected = f"expected one of {expected}, or --columns {what}=NAME (columns= in Python)"
            raise ReadError(f"{name}: no column for the {word} among {in_a_line(names)}; {expected}{swapped}")
        if found.count(candidate) > 1:
            raise ReadError(f"{name}: {found.count(candidate)} columns are called {candidate}, expected one")
        out.append(found.index(candidate))
    if number == "grade" and "rank" in low and low[out[2]] == "score" and "grade" not in columns:
        raise ReadError(f"{name}: columns rank and score; {_SWAPPED['grade']}: did you swap the files?")
    return out


def _find_subtopics(names: list[str], columns: Names, name: str, wanted: bool | None) -> int | None:
    """Where the column of subtopics is; None if there is none, or none is wanted."""
    given = columns.get("subtopic")
    if wanted is False or (given is None and wanted is None):
        return next(iter(_at(names, _SUBTOPIC)), None) if wanted is None else None
    known = (*_SUBTOPIC, *_ITERATION) if given is None else (str(given),)
    found = [given - 1] if isinstance(given, int) else _at(names, known)
    if not found or found[0] >= len(names):
        raise ReadError(
            f"{name}: no column for the subtopic among {in_a_line(names)}; expected one of {', '.join(_SUBTOPIC)}, "
            "or --columns subtopic=NAME (columns= in Python)"
        )
    if given is not None and isinstance(columns, NamedColumns):
        columns.met.add("subtopic")
    return found[0]


def _at(names: list[str], known: Sequence[str]) -> list[int]:
    low = [text.strip().lower() for text in names]
    return [low.index(word.lower()) for word in known if word.lower() in low]


def of_columns(
    names: list[str], take: Any, number: str, columns: Names, name: str, subtopics: bool | None = None
) -> Columns:
    """The columns among those of a table, each got by ``take(index)``; of a rank, less is better.

    Of judgments, with the subtopics, if they are wanted, or (None) if there is a column of that name.
    """
    where = _find(names, number, columns, name)
    of_subtopics = _find_subtopics(names, columns, name, subtopics) if number == "grade" else None
    topics, docs, numbers = (list(take(i)) for i in where)
    if of_subtopics is not None:
        return topics, list(take(of_subtopics)), docs, numbers
    if number == "score" and names[where[2]].strip().lower() == "rank":
        try:
            numbers = [-x for x in numbers]
        except TypeError:
            raise ReadError(f"{name}: a rank is not a number, expected 1, 2, 3 ...") from None
    return topics, docs, numbers


def _values(column: Any) -> Any:
    if isinstance(column, Mapping):  # as pandas writes JSON
        return column.values()
    return next((getattr(column, to)() for to in ("to_pylist", "to_list", "tolist") if hasattr(column, to)), column)


def _of_rows(rows: Iterable[Any], number: str, columns: Names, name: str, subtopics: bool | None) -> Columns:
    rows = iter(rows)
    first = next(rows, None)
    rows = () if first is None else itertools.chain((first,), rows)
    if isinstance(first, Mapping):
        names = [str(key) for key in first]
        records = list(rows)

        def take(i: int) -> list[Any]:
            try:
                return [record[names[i]] for record in records]
            except (TypeError, KeyError):
                at = next(n for n, row in enumerate(records) if not isinstance(row, Mapping) or names[i] not in row)
                raise ReadError(f"{name}: row {at}: found {records[at]!r:.100}, expected {names[i]}") from None

        return of_columns(names, take, number, columns, name, subtopics)
    of_four = isinstance(first, tuple | list) and len(first) == 4 and not hasattr(first, "query_id")
    own = next((word for word in ("subtopic_id", "iteration")[: 1 + bool(subtopics)] if hasattr(first, word)), "")
    with_subtopics = number == "grade" and subtopics is not False and bool(own or of_four)
    if subtopics and not with_subtopics:
        raise ReadError(f"{name}: row 0: found {first!r:.100}, expected (topic, subtopic, doc, grade)")
    out: Columns = ([], [], [], []) if with_subtopics else ([], [], [])
    for i, row in enumerate(rows):
        if hasattr(row, "query_id") and hasattr(row, "doc_id"):  # ir_datasets and similar
            value = row.relevance if number == "grade" else row.score
            cells = (row.query_id, *([getattr(row, own)] if with_subtopics else []), row.doc_id, value)
        else:
            try:
                cells = tuple(row)
            except TypeError:
                cells = ()
            if len(cells) != len(out):
                expected = "(topic, subtopic, doc, grade)" if with_subtopics else f"(topic, doc, {number})"
                raise ReadError(f"{name}: row {i}: found {row!r:.100}, expected {expected}") from None
        for column, cell in zip(out, cells, strict=True):
            column.append(cell)
    return out


def _nested(data: Mapping[Any, Any], name: str) -> Columns:
    """Columns of ``{topic: {subtopic: {doc: grade}}}``."""
    out: Columns = ([], [], [], [])
    for topic, own in data.items():
        for subtopic, docs in own.items() if isinstance(own, Mapping) else [(None, None)]:
            if not isinstance(docs, Mapping):
                found = own if subtopic is None else docs
                at = f"topic {topic!r}" + ("" if subtopic is None else f", subtopic {subtopic!r}")
                raise ReadError(f"{name}: {at}: found {found!r:.60}, expected {{topic: {{subtopic: {{doc: grade}}}}}}")
            for doc, grade in docs.items():
                for column, cell in zip(out, (topic, subtopic, doc, grade), strict=True):
                    column.append(cell)
    return out


def _is_nested(data: Mapping[Any, Any]) -> bool:
    """Whether a mapping is of subtopics: the first value of the first value is a mapping, too."""
    first = next((own for own in data.values() if isinstance(own, Mapping) and len(own)), {None: None})
    return isinstance(next(iter(first.values())), Mapping)


def _is_list(docs: Any) -> bool:
    if isinstance(docs, dict | float | int | str):  # quickly
        return False
    return isinstance(docs, list | tuple | Set) or (len(getattr(docs, "shape", ())) == 1)


def is_one_run(data: Mapping[Any, Any]) -> bool:
    """Whether a mapping is one run, ``{topic: {doc: score}}`` or ``{topic: [doc, …]}``, not ``{name: run}``."""
    for docs in data.values():
        if isinstance(docs, Mapping):
            for value in docs.values():
                return not isinstance(value, Mapping) and not _is_list(value)
        elif not _is_list(docs):
            return False
        else:
            for first in docs:  # a document or (document, score); rows of a run have three cells, or names
                pair = isinstance(first, tuple | list) and len(first) == 2
                return pair or isinstance(first, str) or _is_whole(first)
    return True


def _is_whole(value: Any) -> bool:
    try:
        return bool(operator.index(value) == value)
    except TypeError:
        return False


def _of_lists(data: Mapping[Any, Any], number: str, name: str) -> Columns:
    """Columns of lists of documents: best first in a run, the relevant ones in judgments."""
    out: Columns = ([], [], [])
    for topic, docs in data.items():
        if isinstance(docs, Mapping):
            pairs: Any = list(docs.items())
        elif not _is_list(docs):
            found = f"value {docs!r:.100} is of type {type(docs).__name__}"
            raise ReadError(f"{name}: topic {topic!r}: {found}, expected a dictionary, or a list of documents")
        elif number == "score" and isinstance(docs, Set):
            raise ReadError(f"{name}: topic {topic!r}: a set has no order, expected a list of documents, best first")
        else:
            docs = list(_values(docs))
            pairs = [x if isinstance(x, tuple | list) and len(x) == 2 else None for x in docs]
            if None in pairs:
                numbers = itertools.repeat(1) if number == "grade" else range(len(docs), 0, -1)
                pairs = list(zip(docs, numbers, strict=False))
        out[0].extend([topic] * len(pairs))
        out[1].extend(doc for doc, _ in pairs)
        out[2].extend(value for _, value in pairs)
    return out


def as_table(
    data: Any, number: str, name: str, columns: Names | None = None, subtopics: bool | None = None
) -> dict[str, Any] | Columns:
    """The data as the reader takes it: ``{topic: {doc: number}}`` or three columns; of subtopics, four.

    Parameters
    ----------
    data : mapping, frame or iterable
        ``{topic: {doc: number}}``; lists of documents, ``{topic: [doc, …]}``, best first in a run, relevant in
        judgments (there also a set); a pandas, polars or pyarrow table with the usual column names, or a dictionary of
        such columns; an iterable of ``(topic, doc, number)``, of dictionaries, or of objects with ``query_id``,
        ``doc_id`` and ``relevance`` or ``score``; an ir_datasets dataset.
    number : {"grade", "score"}
        What the third column is.
    name : str
        What to call the data in messages.
    columns : mapping, optional
        Names of columns that are called otherwise, tried before the usual ones, or numbers from 1.
    subtopics : bool, optional
        Whether judgments are of subtopics; None: as the data say, by a column of that name, by rows of four, or by
        ``{topic: {subtopic: {doc: grade}}}``.
    """
    given = {} if columns is None else columns_for(number, columns)
    if isinstance(data, Mapping):
        if given or not data.keys().isdisjoint(_TOPIC):
            names, kept = [str(key) for key in data], [x for x in data.values() if hasattr(x, "__len__")]
            if header_of(names, given) and len(kept) == len(names) and len(set(map(len, kept))) == 1:
                return of_columns(names, lambda i: _values(kept[i]), number, given, name, subtopics)
        if subtopics or (number == "grade" and subtopics is None and _is_nested(data)):
            return _nested(data, name)
        if set(map(type, data.values())) <= {dict}:
            return dict(data)
        if any(_is_list(docs) for docs in data.values()):
            return _of_lists(data, number, name)
        return {
            topic: docs if isinstance(docs, dict) or not isinstance(docs, Mapping) else dict(docs)
            for topic, docs in data.items()
        }
    if hasattr(data, "collect") and hasattr(data, "collect_schema"):  # a polars LazyFrame
        data = data.collect()
    if hasattr(data, "read_all") and hasattr(data, "schema"):  # batches of pyarrow, one after another
        data = data.read_all()
    if hasattr(data, "columns") and hasattr(data, "__getitem__"):
        frame, keys = data, list(data.column_names if hasattr(data, "column_names") else data.columns)
        names = [str(key) for key in keys]
        return of_columns(names, lambda i: _values(frame[keys[i]]), number, given, name, subtopics)
    if number == "grade" and hasattr(data, "qrels_iter"):
        data = data.qrels_iter()
    if isinstance(data, Iterable) and not isinstance(data, str | bytes):
        return _of_rows(data, number, given, name, subtopics)
    raise ReadError(
        f"{name}: found {type(data).__name__}, expected a path, a dictionary, a frame or "
        f"an iterable of (topic, doc, {number})"
    )
