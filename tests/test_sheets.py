"""Judging sheets: out to assessors and back, and everything that may be wrong with them on the way."""

from __future__ import annotations

import csv
import io
import json
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import amble
from amble.judging import read_sheets, sheet, sheets
from amble.judging.sheets import parse_grades, read_texts
from amble.retrieval.topics import read_topic_texts

Write = Callable[[str, str | bytes], str]

POOL = {"401": {"b": -2, "a": -2, "s": -1, "j": 1}, "402": {"k": -2}}


def filled(text: str, *grades: str) -> str:
    """A sheet with grades in its cells, in order."""
    rows = list(csv.reader(io.StringIO(text)))
    for row, grade in zip(rows[1:], grades, strict=True):
        row[2] = grade
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


def test_there_and_back(write: Write) -> None:
    text = sheet(POOL)
    assert text == "topic,doc,grade\n401,b,\n401,a,\n402,k,"  # what waits, in the order of the pool
    back = read_sheets(write("s.csv", filled(text, "1", "0", "1")), POOL)
    assert (back.judged, back.blanks) == (3, 0)
    assert back.text() == "401 0 b 1\n401 0 a 0\n401 0 s -1\n401 0 j 1\n402 0 k 1"
    assert amble.read_qrels(write("q.txt", back.text() + "\n"))["401"] == {"b": 1, "a": 0, "s": -1, "j": 1}


def test_blanks_wait(write: Write) -> None:
    back = read_sheets(write("s.csv", filled(sheet(POOL), "1", "", " ")), POOL)
    assert (back.judged, back.blanks) == (1, 2)
    pool = write("q.txt", back.text() + "\n")
    assert sheet(pool) == "topic,doc,grade\n401,a,\n402,k,"  # and go on from there


def test_several_sheets(write: Write) -> None:
    one = write("1.csv", filled(sheet(POOL, only=["401"]), "1", "0"))
    two = write("2.csv", filled(sheet(POOL, only=["402"]), "0"))
    assert read_sheets([one, two], POOL).judged == 3
    with pytest.raises(amble.ReadError, match="^document 'k' of topic '402' is in no sheet$"):
        read_sheets(one, POOL)
    assert read_sheets(one).text() == "401 0 b 1\n401 0 a 0"  # without the pool nothing is missed


def test_a_second_assessor_sees_everything_and_no_grades(write: Write) -> None:
    text = sheet(POOL, everything=True)
    assert text == "topic,doc,grade\n401,b,\n401,a,\n401,s,\n401,j,\n402,k,"
    back = read_sheets(write("s.csv", filled(text, *"01010")), POOL, everything=True)
    assert back.grades == [0, 1, 0, 1, 0]


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbftopic,doc,grade\r\n401,b,1\r\n401,a,0\r\n402,k,1\r\n",
        b"topic;doc;grade\n401;b;1\n401;a;0\n402;k;1\n",
        b"Topic\tDoc\tGrade\tnote\n401\tb\t1\tgood\n401\ta\t0\t\n\n402\tk\t1\t\n",
        b'grade,text,doc,topic\n1,"two\nlines, and a comma",b,401\n0,,a,401\n1,,k,402\n',
        b'topic,doc,grade\n"401","b","1.0"\n401,a,0\n402,k,1',
        b"topic;doc;grade\n401;b;1,0\n401;a;0\n402;k;1\n",  # a decimal comma
    ],
)
def test_what_spreadsheets_write(data: bytes, write: Write) -> None:
    back = read_sheets(write("s.csv", data), POOL)
    assert [g for g in back.grades if g >= 0] == [1, 0, 1, 1]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("401,b,1\n401,b,1\n401,a,0\n402,k,0", "s.csv:3: document 'b' of topic '401' is there twice (first s.csv:2)"),
        ("401,b,7\n401,a,0\n402,k,0", "s.csv:2: grade 7, expected one of 0, 1"),
        ("401,b,-1\n401,a,0\n402,k,0", "s.csv:2: grade -1, expected one of 0, 1"),
        ("401,b,yes\n401,a,0\n402,k,0", "s.csv:2: grade 'yes' is not a decimal number"),
        ("401,b,nan\n401,a,0\n402,k,0", "s.csv:2: grade 'nan' is not a decimal number"),
        ("401,x,1\n401,b,1\n401,a,0\n402,k,0", "s.csv:2: document 'x' of topic '401' was not to be judged"),
        ("401,s,1\n401,b,1\n401,a,0\n402,k,0", "s.csv:2: document 's' of topic '401' was not to be judged"),
        ("401,b,1\n402,k,0", "document 'a' of topic '401' is in no sheet"),
        ("401,b", "s.csv:2: found 2 columns, expected 3: topic,doc,grade"),
        ('401,"b', "s.csv:2: found 2 columns"),
    ],
)
def test_what_may_be_wrong(lines: str, message: str, write: Write, monkeypatch: Any, tmp_path: Any) -> None:
    write("s.csv", "topic,doc,grade\n" + lines)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(amble.ReadError) as error:
        read_sheets("s.csv", POOL)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_all_that_is_wrong_is_counted(write: Write) -> None:
    path = write("s.csv", "topic,doc,grade\n" + "".join(f"401,u{i},9\n" for i in range(7)))
    with pytest.raises(amble.ReadError, match=r"'u4'.*; and 5 more$"):  # 7 unknown, 3 missing
        read_sheets(path, POOL)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "found columns"),
        (b"topic,doc\n1,a\n", "expected topic, doc, grade"),
        (b"topic,doc,grade\n", "empty, expected lines: topic,doc,grade"),
        (b"PK\x03\x04\x00\x00", "NUL byte"),
        (b"\xff\xfet\x00o\x00p\x00", "NUL byte"),
    ],
)
def test_what_is_no_sheet(data: bytes, message: str, write: Write) -> None:
    with pytest.raises(amble.ReadError) as error:
        read_sheets(write("s.csv", data))
    assert message in str(error.value)


def test_texts_are_shown_and_never_computed() -> None:
    text = sheet({"1": {"a": -2, "b": -2}}, texts={"a": "=HYPERLINK(1)", "b": 'say "no", she said'})
    rows = list(csv.reader(io.StringIO(text)))
    assert rows[1:] == [["1", "a", "", "'=HYPERLINK(1)"], ["1", "b", "", 'say "no", she said']]


IDS = st.text(st.sampled_from("'=+-@a;,\"#"), min_size=1, max_size=5)


@given(st.lists(st.tuples(IDS.filter(lambda name: name[0] != "#"), IDS), min_size=1, max_size=6, unique=True))
def test_ids_are_never_computed_and_come_back(pairs: list[tuple[str, str]]) -> None:
    pool: dict[str, dict[str, float]] = {}
    for topic, doc in pairs:
        pool.setdefault(topic, {})[doc] = -2
    text = sheet(pool)
    cells = [cell for row in csv.reader(io.StringIO(text)) for cell in row]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "s.csv")
        path.write_text(text)
        back = read_sheets(path, pool)
    assert set(zip(back.topics, back.docs, strict=True)) == set(pairs)
    # and whoever took the apostrophes away is understood, too
    assert all(name in ("=1", "'x") for name in _cells_of("topic,doc,grade\n=1,'x,\n'=1,'x,\n"))


def _cells_of(text: str) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "s.csv")
        path.write_text(text)
        return [name for _, topic, doc, _ in sheets._cells(str(path)) for name in (topic, doc)]


def test_topics_that_would_be_comments(write: Write) -> None:
    with pytest.raises(amble.ReadError, match=r"s.csv:2: topic '#1' begins with #, which makes a comment of its line"):
        read_sheets(write("s.csv", "topic,doc,grade\n#1,a,1\n"))
    with pytest.raises(amble.ReadError, match=r"s.csv:3: document 'a\\x07b' has control byte 0x07 in it"):
        read_sheets(write("s.csv", "topic,doc,grade\n1,a,1\n1,a\ab,1\n"))


def data_of(page: str) -> Any:
    found = re.search(r'<script id="data" type="application/json">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def test_the_page_holds_the_data_and_nothing_from_elsewhere() -> None:
    nasty = "</script><img src=x onerror=alert(1)>"
    pool = {"401": {"é<b>": -2, "中": -2, "\udcff": -2}, "402": {"k": 1}}
    page = sheet(pool, "html", grades="0=no,1=yes", texts={"中": nasty, "k": "not here"}, topics={"401": nasty})
    data = data_of(page)
    assert data["rows"] == [["401", "é<b>"], ["401", "中"], ["401", "\udcff"]]
    assert data["grades"] == [["0", "no"], ["1", "yes"]]
    assert data["texts"] == {"中": nasty}
    assert data["topics"] == {"401": nasty}
    assert "<img" not in page
    assert not re.search(r"https?://|src=|@import|@DATA@", sheet(pool, "html"))
    assert page.isascii()
    assert data["id"] != data_of(sheet(pool, "html"))["id"]


def test_grades() -> None:
    assert parse_grades(" 0 = not relevant , 0.5,2=much=very") == {0.0: "not relevant", 0.5: "", 2.0: "much=very"}
    for text, message in (("", "grade ''"), ("0,x", "grade 'x'"), ("0,0", "comes twice"), ("-1", "below zero")):
        with pytest.raises(amble.AmbleError) as error:
            parse_grades(text)
        assert message in str(error.value)


def test_texts_and_topics_from_files_in_any_layout(write: Write) -> None:
    assert read_texts(write("t.tsv", b"a\tOne\r\n\nb\t\n")) == {"a": "One", "b": ""}
    assert read_texts(write("d", "<DOC><DOCNO>a</DOCNO>\n<TEXT>One &amp; two</TEXT>\n</DOC>\n")) == {"a": "One & two"}
    assert read_texts(write("l", b"a\tcaf\xe9\n"), "latin-1") == {"a": "caf\xe9"}
    topic = "<top>\n<num> Number: 401\n<title> ants\n<desc> Description:\nHow do\nants live?\n</top>\n"
    assert read_topic_texts(write("q", topic)) == {"401": "ants\nHow do ants live?"}
    assert read_topic_texts(write("q.tsv", "401\tants\n")) == {"401": "ants"}
    with pytest.raises(amble.ReadError, match=r"t.tsv:2: found 'b', expected an id, a tab and text"):
        read_texts(write("t.tsv", "a\tx\nb\n"))
    with pytest.raises(amble.ReadError, match="empty"):
        read_texts(write("t.tsv", "\n"))


def test_sheets_of_nothing() -> None:
    with pytest.raises(amble.AmbleError, match=r"no document waits to be judged \(grade -2\)"):
        sheet({"1": {"a": 1}})
    with pytest.raises(amble.AmbleError, match="no topic '9', expected such as 401"):
        sheet(POOL, only=["9"])
    with pytest.raises(amble.AmbleError, match="form='pdf'"):
        sheet(POOL, "pdf")


def test_long_texts_come_back(write: Write) -> None:
    pool = {"1": {"a": -2}}
    text = sheet(pool, texts={"a": "long " * 40_000})  # Python's csv takes 131,072 characters, unless told
    path = write("filled.csv", text.replace("1,a,,", "1,a,1,"))
    limit = csv.field_size_limit()
    assert read_sheets(path, pool).grades == [1.0]
    assert csv.field_size_limit() == limit


def test_grades_of_many_digits(write: Write) -> None:
    page = sheet({"1": {"a": -2}}, "html", grades=[0, 0.123456789])
    assert data_of(page)["grades"] == [["0", ""], ["0.123456789", ""]]
    path = write("s.csv", "topic,doc,grade\n1,a,0.12345678\n")
    with pytest.raises(amble.ReadError, match=r"grade 0\.12345678, expected one of 0, 0\.123456789"):
        read_sheets(path, grades=[0, 0.123456789])
