"""Layouts of session files (table, JSON, XML, Dynamic Domain), recognised by their content.

table
    Lines of ``session query topic run-topic``: the number of the query in its session, the topic that it is judged by,
    and what its lists are called in the runs. The runs are ordinary ones.
json
    Sessions with their grades, or with documents: a list of objects, or one to a line.
xml
    The TREC Session Track's: what was shown for the earlier queries; the runs answer the current one, under the
    session's number.
dd
    The TREC Dynamic Domain Track's: ``topic iteration document ...``; its judgments are ``topic subtopic document
    rating``.
"""

from __future__ import annotations

import io
import math
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from amble import checks
from amble.errors import ReadError
from amble.io.files import LONGEST_DOCUMENT, byte_limit, read_bytes, stem
from amble.io.rows import read_rows
from amble.sessions.building import Query, ShownSession, query_of_docs, query_of_grades

__all__ = [
    "LAYOUTS", "Row", "content", "is_json", "json_objects", "layout_of", "name_of", "read_domain", "read_json",
    "read_ratings", "read_table", "read_track",
]  # fmt: skip

_LARGEST = 1.7e308

LAYOUTS = ("table", "json", "xml", "dd")

Judgments = Mapping[str, Mapping[str, float]]
Row = tuple[str, str, str, str]  # where, session, topic, run-topic

_BLANK = b"\xef\xbb\xbf \t\r\n"
_DIGITS = 18  # of whole numbers


def content(path: str, max_line: int | None = None) -> bytes:
    """All of a file, decompressed; lines of JSON and XML may be as long as documents."""
    return read_bytes(path, max(byte_limit(max_line), LONGEST_DOCUMENT))


def name_of(path: str) -> str:
    """The name of the run in a file of sessions that gives it none."""
    return stem(path).removesuffix(".jsonl").removesuffix(".json").removesuffix(".xml")


def is_json(path: str) -> bool:
    """Whether a file begins as JSON does; False for a pipe, which can be read only once."""
    return os.path.isfile(path) and content(path).lstrip(_BLANK)[:1] in (b"[", b"{")


def layout_of(path: str, data: bytes) -> str:
    """The layout of a file of sessions, one of `LAYOUTS`, by its content."""
    data = data.lstrip(_BLANK)
    if not data:
        raise ReadError(f"{path}: empty, expected sessions")
    if data[:1] == b"<":
        return "xml"
    if data[:1] in (b"[", b"{"):
        return "json"
    for line in data.split(b"\n"):
        cells = line.split()
        if cells and not cells[0].startswith(b"#"):
            return "table" if len(cells) == 4 else "dd"
    raise ReadError(f"{path}: nothing but comments, expected sessions")


# ---- session query topic run-topic


def _whole(text: str) -> int | None:
    """A whole number, or None."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _DIGITS else None


def read_table(path: str, data: bytes) -> dict[str, list[Row]]:
    """The queries of each session, in their order."""
    found: dict[str, dict[int, Row]] = {}
    columns = ("session", "query", "topic", "run-topic")
    for where, (session, text, topic, listed), _ in read_rows(path, columns, (), data=data):
        index = _whole(text)
        if index is None:
            raise ReadError(f"{where}: query {text[:40]!r}, expected its number in the session, 1, 2, ...")
        queries = found.setdefault(session, {})
        if index in queries:
            raise ReadError(f"{where}: query {index} of session {session} is there twice, expected once")
        queries[index] = (where, session, topic, listed)
    return {session: [queries[i] for i in sorted(queries)] for session, queries in found.items()}


# ---- JSON


def read_json(path: str, data: bytes, judgments: Judgments | None, duplicates: str = "error") -> list[ShownSession]:
    """The sessions of a JSON file; one that names no run belongs to a run with the file's name."""
    name = name_of(path)
    return [_session(found, where, name, judgments, duplicates) for where, found in json_objects(path, data)]


def _parsed(text: str, where: str) -> Any:
    """The value of JSON text; a whole number with too many digits is read as a float."""
    import json

    try:
        return json.loads(text, parse_int=lambda digits: int(digits) if len(digits) <= _DIGITS else float(digits))
    except RecursionError:
        raise ReadError(f"{where}: lists within lists within lists, expected sessions") from None


def json_objects(path: str, data: bytes) -> Iterator[tuple[str, Any]]:
    """The objects of a JSON file, a list of them or one to a line, each with where it is."""
    from json import JSONDecodeError

    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ReadError(f"{path}: not UTF-8 at byte {error.start}, expected JSON") from None
    try:
        whole = _parsed(text, path)
    except JSONDecodeError as error:
        if not text.lstrip().startswith("{") or error.msg != "Extra data":
            raise ReadError(f"{path}:{error.lineno}: {error.msg}, expected JSON") from None
        for number, line in enumerate(text.split("\n"), 1):
            if line.strip():
                try:
                    yield f"{path}:{number}", _parsed(line, f"{path}:{number}")
                except JSONDecodeError as broken:
                    raise ReadError(f"{path}:{number}: {broken.msg}, expected a JSON object on each line") from None
        return
    if isinstance(whole, dict) and isinstance(whole.get("sessions"), list):
        whole = whole["sessions"]
    if isinstance(whole, dict):
        whole = [whole]
    if not isinstance(whole, list) or not whole:
        raise ReadError(f"{path}: found {str(whole)[:40]}, expected a list of sessions")
    for number, found in enumerate(whole, 1):
        yield f"{path}: session {number}", found


def _session(found: Any, where: str, run: str, judgments: Judgments | None, duplicates: str) -> ShownSession:
    if not isinstance(found, dict):
        raise ReadError(f"{where}: found {str(found)[:40]}, expected an object with session and queries")
    name = _name(found.get("session", found.get("session_id")), "session", where)
    queries = found.get("queries")
    if not isinstance(queries, list):
        raise ReadError(f"{where}: queries is {str(queries)[:40]}, expected a list")
    topic, mine = _name(found.get("topic", name), "topic", where), _name(found.get("run", run), "run", where)
    lists = [_query(q, f"{where}: query {j}", topic, judgments, duplicates) for j, q in enumerate(queries, 1)]
    return ShownSession(mine, name, lists)


def _name(found: Any, what: str, where: str) -> str:
    """A name that can stand in a table: a string on one line, or a whole number."""
    if isinstance(found, str) or checks.is_whole(found):
        name = str(found)
        if name.strip() and not re.search("[\0-\x1f\x7f\ud800-\udfff]", name):
            return name
    raise ReadError(f"{where}: {what} is {str(found)[:40]!a}, expected its name")


def _query(found: Any, where: str, topic: str, judgments: Judgments | None, duplicates: str) -> Query:
    if not isinstance(found, dict):
        found = {"docs" if isinstance(found, list) and found and isinstance(found[0], str) else "grades": found}
    topic = _name(found.get("topic", topic), "topic", where)
    if judgments is not None and topic not in judgments:
        raise ReadError(f"{where}: topic {topic} is not in the judgments")
    docs, grades = found.get("docs"), found.get("grades", found.get("rel_list"))
    if docs is None and grades is None:
        raise ReadError(f"{where}: found {', '.join(map(str, found))[:60] or 'nothing'}, expected grades or docs")
    if docs is not None and (not isinstance(docs, list) or not all(isinstance(x, str) for x in docs)):
        raise ReadError(f"{where}: docs are {str(docs)[:40]}, expected a list of names")
    if docs is not None and grades is None:
        if judgments is None:
            raise ReadError(f"{where}: documents without grades, expected judgments for them")
        return query_of_docs(docs, judgments[topic], topic, where, duplicates)
    if not isinstance(grades, list):
        raise ReadError(f"{where}: found {str(grades)[:40]}, expected a list of grades or documents")
    values = [_grade(x, where) for x in grades]
    if docs is None:
        return query_of_grades(np.array(values, np.float64), topic)
    if len(docs) != len(values):
        raise ReadError(f"{where}: {len(docs)} documents and {len(values)} grades, expected as many")
    first = dict(zip(reversed(docs), reversed(values), strict=True))
    judged = {doc: grade for doc, grade in first.items() if not math.isnan(grade)}
    return query_of_docs(docs, judged, topic, where, duplicates)


def _grade(x: Any, where: str) -> float:
    if x is None:
        return math.nan
    if not checks.is_number(x) or not abs(x) <= _LARGEST:
        raise ReadError(f"{where}: a grade is {str(x)[:40]}, expected a number, or null where unjudged")
    return float(x)


# ---- TREC Session Track


def read_track(path: str, data: bytes) -> dict[str, tuple[str, list[list[str]]]]:
    """The topic of each session, and the documents shown for each earlier query."""
    from xml.etree import ElementTree

    found: dict[str, tuple[str, list[list[str]]]] = {}
    try:
        for _, element in ElementTree.iterparse(io.BytesIO(data)):
            if element.tag != "session":
                continue
            number = element.get("num")
            if number is None:
                raise ReadError(f"{path}: session {len(found) + 1} has no num")
            number = _name(number, f"num of session {len(found) + 1}", path)
            if number in found:
                raise ReadError(f"{path}: session {number} is there twice, expected once")
            topic = element.find("topic")
            name = number if topic is None else _name(topic.get("num", number), f"topic of session {number}", path)
            found[number] = name, [_results(x, path, number) for x in element.findall("interaction")]
            element.clear()
    except ElementTree.ParseError as error:
        raise ReadError(f"{path}:{error.position[0]}: broken XML: {error.msg.split(':')[0]}") from None
    except (LookupError, ValueError) as error:  # an encoding that the parser does not know
        if isinstance(error, ReadError):
            raise
        raise ReadError(f"{path}: {error}, expected XML in UTF-8") from None
    if not found:
        raise ReadError(f"{path}: no <session>, expected those of a TREC Session Track")
    return found


def _results(interaction: Any, path: str, session: str) -> list[str]:
    docs: list[tuple[int, str]] = []
    for place, result in enumerate(interaction.iter("result"), 1):
        rank = _whole(result.get("rank", str(place)))
        if rank is None:
            raise ReadError(
                f"{path}: session {session}: a result of rank {result.get('rank')[:40]!r}, expected a whole number"
            )
        named = [x.text for x in result if x.tag in ("docno", "docid") or x.tag.startswith("clueweb")]
        named += [x.text for x in result if x.tag == "url"]
        names = [text.strip() for text in named if text and text.strip()]
        if not names:
            raise ReadError(f"{path}: session {session}: a result without a document's name (clueweb...id, docno, url)")
        docs.append((rank, _name(names[0], f"a document of session {session}", path)))
    return [doc for _, doc in sorted(docs, key=lambda pair: pair[0])]


# ---- TREC Dynamic Domain Track


def read_ratings(path: str) -> dict[str, dict[str, dict[str, float]]]:
    """Ratings by topic, document and subtopic; of several passages of a document the best counts."""
    out: dict[str, dict[str, dict[str, float]]] = {}
    for _, (topic, facet, doc), (rating,) in read_rows(path, ("topic", "subtopic", "document"), ("rating",)):
        of = out.setdefault(topic, {}).setdefault(doc, {})
        of[facet] = max(of.get(facet, -math.inf), rating)
    return out


def read_domain(path: str, data: bytes, judgments: Judgments, duplicates: str = "error") -> dict[str, list[Query]]:
    """The lists of a run's topics, in the order of the iterations and of the file."""
    lists: dict[str, dict[int, list[str]]] = {}
    for number, raw in enumerate(data.split(b"\n"), 1):
        cells = [cell.decode("utf-8", "surrogateescape") for cell in raw.split()]
        if not cells or cells[0].startswith("#"):
            continue
        where = f"{path}:{number}"
        if len(cells) < 3:
            raise ReadError(f"{where}: found {len(cells)} columns, expected topic iteration document ...")
        iteration = _whole(cells[1])
        if iteration is None:
            raise ReadError(
                f"{where}: iteration {cells[1][:40]!r}, expected a whole number, as in a Dynamic Domain run; ordinary "
                f"runs follow a table of sessions"
            )
        lists.setdefault(cells[0], {}).setdefault(iteration, []).append(cells[2])
    if not lists:
        raise ReadError(f"{path}: empty, expected lines: topic iteration document ...")
    return {
        topic: [
            query_of_docs(of[i], judgments.get(topic, {}), topic, f"{path}: topic {topic}, iteration {i}", duplicates)
            for i in sorted(of)
        ]
        for topic, of in lists.items()
    }
