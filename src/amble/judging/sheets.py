"""Judging sheets for assessors, as CSV or HTML, and the judgments read back from them.

A sheet lists the documents of a pool that wait for a judgment (grade -2), in the order of the pool's file. It is a CSV
file with the columns topic, doc and grade, for any spreadsheet, or an HTML page that needs nothing but a browser and
gives the same CSV back. What a spreadsheet would take for a formula has an apostrophe before it there (the id =1 is
'=1), which is removed when the sheet is read. Then everything is checked: each document once, grades that are allowed,
nothing unknown, nothing missing; cells left blank are counted, and stay to be judged.
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from amble import checks
from amble.errors import AmbleError, ReadError
from amble.io.files import LONGEST_DOCUMENT, path_name, read_bytes
from amble.io.rows import read_number
from amble.io.trec import Qrels, column_fault, grade_text, qrels_text, read_qrels
from amble.judging.pooling import TO_JUDGE
from amble.judging.sheet_page import render_sheet
from amble.retrieval.documents import read_documents

__all__ = ["SheetJudgments", "parse_grades", "read_sheets", "read_texts", "sheet"]

_HEAD = ("topic", "doc", "grade")
_SHOWN = 5
_FORMULA = re.compile("'*[=+@\t\r\n-]")  # what a spreadsheet would compute instead of showing, perhaps defused already

Grades = dict[float, str]


def parse_grades(text: str) -> Grades:
    """Grades and their labels, from ``0,1,2`` or ``0=not relevant,1=relevant``.

    >>> parse_grades("0=no,1=yes")
    {0.0: 'no', 1.0: 'yes'}
    """
    out: Grades = {}
    for part in text.split(","):
        number, _, label = part.strip().partition("=")
        try:
            grade = read_number(number.strip(), "grade")
        except ValueError as error:
            raise AmbleError(f"grades {text!r}: {error}; expected such as 0,1,2 or 0=not relevant,1=relevant") from None
        if grade < 0 or grade in out:
            why = "comes twice" if grade in out else "is below zero, which means not judged"
            raise AmbleError(f"grades {text!r}: {grade:g} {why}")
        out[grade] = label.strip()
    return out


def _checked(grades: str | Mapping[float, str] | Iterable[float]) -> Grades:
    if isinstance(grades, str):
        return parse_grades(grades)
    if isinstance(grades, Mapping):
        return {float(grade): str(label) for grade, label in grades.items()}
    return {float(grade): "" for grade in grades}


def read_texts(path: str, encoding: str | None = None) -> dict[str, str]:
    """``{doc: text}`` of a collection, in any layout that `amble.index` takes."""
    return {document.id: document.text.strip() for document in read_documents(path, encoding=encoding)}


def _defused(cell: str) -> str:
    """A cell that no spreadsheet computes: an apostrophe before what it would take for a formula."""
    return f"'{cell}" if _FORMULA.match(cell) else cell


def _restored(cell: str) -> str:
    """What was defused, as it was."""
    return cell[1:] if cell[:1] == "'" and _FORMULA.match(cell) else cell


def _waiting(pool: Qrels, only: Sequence[str] | None, everything: bool) -> list[tuple[str, str]]:
    """The documents for a sheet, in the order of the pool."""
    unknown = [topic for topic in only or () if topic not in pool.topics]
    if unknown:
        raise AmbleError(f"{pool.name}: no topic {unknown[0]!r}, expected such as {', '.join(pool.topics[:3])}")
    out = []
    bounds = pool.offsets.tolist()
    for i, topic in enumerate(pool.topics):
        if only is None or topic in only:
            rows = range(bounds[i], bounds[i + 1])
            out += [(topic, pool.docs[row]) for row in rows if everything or pool.grades[row] == TO_JUDGE]
    if not out:
        raise AmbleError(
            f"{pool.name}: no document waits to be judged (grade {TO_JUDGE:g}); expected a pool, or all documents"
        )
    return out


def sheet(
    pool: Any,
    form: str = "csv",
    *,
    grades: str | Mapping[float, str] | Iterable[float] = "0,1",
    texts: Mapping[str, str] | None = None,
    topics: Mapping[str, str] | None = None,
    only: Sequence[str] | None = None,
    everything: bool = False,
) -> str:
    """The text of a judging sheet, for a file.

    Parameters
    ----------
    pool : anything `read_qrels` takes
        A pool, as `Pool.text` writes it.
    form : {"csv", "html"}
    grades : str, mapping or iterable
        The grades to choose from, as ``"0=no,1=yes"``; the buttons of an HTML page.
    texts : mapping, optional
        ``{doc: text}``: what to show of a document.
    topics : mapping, optional
        ``{topic: text}``: the information need to show.
    only : sequence of str, optional
        Only the topics with these ids.
    everything : bool
        All documents, judged or not: for a second assessor. Grades that exist are not shown.

    Returns
    -------
    str
        The text of a file.

    Examples
    --------
    >>> import amble
    >>> pool = {"401": {"a": -2, "b": -2, "c": -1}}
    >>> print(amble.judging.sheet(pool, texts={"a": "On ants"}))
    topic,doc,grade,text
    401,a,,On ants
    401,b,,
    """
    checks.one_of(form, ("csv", "html"), "form")
    allowed = _checked(grades)
    rows = _waiting(read_qrels(pool, name="pool" if isinstance(pool, Mapping) else ""), only, everything)
    shown = texts or {}
    if form == "html":
        return render_sheet(rows, allowed, shown, topics or {})
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow((*_HEAD, "text") if texts else _HEAD)
    for topic, doc in rows:
        cells = (topic, doc, "", shown.get(doc, "")) if texts else (topic, doc, "")
        writer.writerow(map(_defused, cells))
    return out.getvalue().rstrip("\n")


class SheetJudgments(NamedTuple):
    """Judgments from filled-in sheets; made by `read_sheets`."""

    topics: list[str]
    docs: list[str]
    grades: list[float]
    judged: int  # how many grades the sheets hold
    blanks: int  # and how many cells were left blank

    def text(self) -> str:
        """The lines of a qrels file."""
        return qrels_text(self.topics, self.docs, self.grades)


def _cells(path: str) -> Iterator[tuple[str, str, str, str]]:
    """Yield place, topic, document and grade (as text) of each line of a sheet."""
    text = read_bytes(path, LONGEST_DOCUMENT).decode("utf-8", "surrogateescape").removeprefix("\ufeff")
    if "\0" in text:
        raise ReadError(f"{path}: NUL byte in the text, expected CSV (is it UTF-16, or a spreadsheet's own format?)")
    head = text.split("\n", 1)[0]
    comma = max(",;\t", key=head.count)  # some spreadsheets write semicolons
    rows = iter(_csv_rows(path, text, comma))
    names = [name.strip().lower() for name in next(rows, (1, []))[1]]
    if not set(_HEAD) <= set(names):
        raise ReadError(f"{path}:1: found columns {', '.join(names)!r:.80}, expected topic, doc, grade")
    places = [names.index(name) for name in _HEAD]
    for number, row in rows:
        where = f"{path}:{number}"
        if not any(cell.strip() for cell in row):
            continue
        if len(row) <= max(places):
            raise ReadError(f"{where}: found {len(row)} columns, expected {len(names)}: {comma.join(names)}")
        topic, doc, grade = (row[place].strip() for place in places)
        yield where, _restored(topic), _restored(doc), grade


def _csv_rows(path: str, text: str, comma: str) -> list[tuple[int, list[str]]]:
    """The rows of a sheet and their lines, however long the texts in it are."""
    usual = csv.field_size_limit(max(len(text), 1))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=comma)
    try:
        return [(reader.line_num, row) for row in reader]
    except csv.Error as error:
        raise ReadError(f"{path}:{reader.line_num}: not CSV: {error}") from None
    finally:
        csv.field_size_limit(usual)


def read_sheets(
    sheets: Any,
    pool: Any = None,
    *,
    grades: str | Mapping[float, str] | Iterable[float] = "0,1",
    everything: bool = False,
) -> SheetJudgments:
    """The judgments of sheets that assessors filled in, checked.

    Parameters
    ----------
    sheets : path, or a list of them
        CSV with the columns topic, doc and grade (others are not looked at); commas, semicolons or tabs.
    pool : anything `read_qrels` takes, optional
        The pool they were made of: with it, documents that are unknown or missing are found, and what it holds besides
        (judged before, not sampled) goes into the judgments, too.
    grades : str, mapping or iterable
        The grades that are allowed.
    everything : bool
        The sheets are of all documents of the pool, not only of those to be judged.

    Returns
    -------
    SheetJudgments
        Cells left blank have the grade -2, to be judged.

    Raises
    ------
    ReadError
        With the first five things that are wrong, and how many there are.
    """
    paths = [sheets] if isinstance(sheets, str | os.PathLike) else list(sheets)
    allowed = _checked(grades)
    wrong: list[str] = []
    known = None if pool is None else read_qrels(pool, name="pool" if isinstance(pool, Mapping) else "")
    wanted = None if known is None else set(_waiting(known, None, everything))
    given: dict[tuple[str, str], float] = {}
    first: dict[tuple[str, str], str] = {}
    blanks = 0
    for path in [path_name(one) for one in paths]:
        for where, topic, doc, cell in _cells(path):
            key = topic, doc
            if key in first:
                wrong.append(f"{where}: document {doc!r} of topic {topic!r} is there twice (first {first[key]})")
                continue
            first[key] = where
            if wanted is not None and key not in wanted:
                found = f"{where}: document {doc!r} of topic {topic!r}"
                wrong.append(f"{found} was not to be judged, expected one of the pool")
                continue
            for name, what in ((topic, "topic"), (doc, "document")):
                if fault := column_fault(name, first=what == "topic"):
                    wrong.append(f"{where}: {what} {name!r:.60} {fault}, expected a name that judgments can hold")
            given[key] = TO_JUDGE
            if not cell:
                blanks += 1
                continue
            try:
                grade = read_number(cell.replace(",", "."), "grade")
            except ValueError as error:
                wrong.append(f"{where}: {error}")
                continue
            if grade not in allowed:
                wrong.append(f"{where}: grade {cell}, expected one of {', '.join(map(grade_text, allowed))}")
            given[key] = grade
    missing = [] if wanted is None or known is None else sorted(wanted - set(given) - set(first))
    wrong += [f"document {doc!r} of topic {topic!r} is in no sheet" for topic, doc in missing]
    if wrong:
        more = len(wrong) - _SHOWN
        raise ReadError("; ".join(wrong[:_SHOWN]) + (f"; and {more} more" if more > 0 else ""))
    if not given:
        raise ReadError(f"{paths[0] if paths else 'sheets'}: empty, expected lines: topic,doc,grade")
    judged = len(given) - blanks
    if known is None:
        return SheetJudgments([t for t, _ in given], [d for _, d in given], list(given.values()), judged, blanks)
    topic_of = np.repeat(np.arange(len(known.topics)), np.diff(known.offsets)).tolist()
    topics = [known.topics[t] for t in topic_of]
    old = known.grades.tolist()
    all_grades = [given.get(key, old[i]) for i, key in enumerate(zip(topics, known.docs, strict=True))]
    return SheetJudgments(topics, list(known.docs), all_grades, judged, blanks)
