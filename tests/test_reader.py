"""The reader, both of it (C and its plain twin): ranking by hand, numbers to the bit, messages, windows, parts."""

from __future__ import annotations

import contextlib
import copy
import io
import os
import random
import signal
import struct
import subprocess
import sys
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from drawing import examples
from hypothesis import given
from hypothesis import strategies as st

import amble
from amble.errors import ReadError
from amble.io import trec as read
from amble.native import is_compiled
from amble.native import plain_reader as plain

pytestmark = pytest.mark.twin

try:
    from amble.native import _reader as c_reader
except ImportError:
    c_reader = None

NO_C = "the C reader is not built"
needs_c = pytest.mark.skipif(c_reader is None, reason=NO_C)
READERS = [plain] + ([] if c_reader is None else [c_reader])
DOCNO, RANK, FILE = 0, 1, 2
WINDOW = 1 << 17  # what the C reader sees at once


@pytest.fixture(params=["plain", pytest.param("C", marks=needs_c)])
def reader(request: pytest.FixtureRequest) -> Any:
    return plain if request.param == "plain" else c_reader


@pytest.fixture(params=["stream", "whole"])
def how(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def text(*lines: str, end: str = "\n") -> bytes:
    return "".join(line + end for line in lines).encode("utf-8", "surrogateescape")


def judge(reader: Any, content: Any, name: str = "q") -> Any:
    return reader.judge(io.BytesIO(content) if isinstance(content, bytes) else content, name)


def judged(reader: Any, content: Any) -> dict[str, dict[str, float]]:
    """{topic: {doc: grade}}, in the reader's order."""
    judgments = judge(reader, content)
    topics, offsets, grades = reader.describe(judgments)
    docs, bounds, values = reader.documents(judgments), np.frombuffer(offsets, np.int64), np.frombuffer(grades)
    assert len(docs) == len(values) == bounds[-1]
    return {
        topic: dict(zip(docs[a:b], values[a:b].tolist(), strict=True))
        for topic, a, b in zip(topics, bounds.tolist(), bounds[1:].tolist(), strict=False)
    }


def raw_rank(
    reader: Any, judgments: Any, run: Any, ties: int = DOCNO, best: int = 0, how: str = "whole", name: str = "r"
) -> Any:
    origin = io.BytesIO(run) if isinstance(run, bytes) else run
    if how == "stream":
        raw = reader.rank_stream(judgments, origin, -1, False, ties, best, name)
        if raw is not None:
            return raw
        origin = io.BytesIO(run)
    return reader.rank(judgments, origin, ties, best, name)


def ranked(reader: Any, qrels: Any, run: Any, **options: Any) -> dict[str, list[tuple[str, int, int, int]]]:
    """{topic: [(judged doc, rank, first rank of its tie group, size of the group)]}."""
    judgments = judge(reader, qrels)
    topics, docs = reader.describe(judgments)[0], reader.documents(judgments)
    lists, hits, _, _ = raw_rank(reader, judgments, run, **options)
    rows = np.frombuffer(hits, np.int32).reshape(-1, 4).tolist()
    out, start = {}, 0
    for topic, _, _, _, end, _ in np.frombuffer(lists, np.int64).reshape(-1, 6).tolist():
        out[topics[topic]] = [(docs[row], rank, first, size) for rank, row, first, size in rows[start:end]]
        start = end
    return out


def order(reader: Any, run: Any, ties: int = DOCNO, best: int = 0) -> dict[str, list[str]]:
    """{topic: documents in rank order}."""
    topics, offsets, docs, scores, _, _ = raw_rank(reader, None, run, ties, best)
    bounds = np.frombuffer(offsets, np.int64).tolist()
    assert len(docs) * 8 == len(scores)
    return {topic: docs[a:b] for topic, a, b in zip(topics, bounds, bounds[1:], strict=False)}


def lists_of(reader: Any, qrels: Any, run: Any, **options: Any) -> list[list[int]]:
    """Of each list: topic, length, tied, dropped, end of its hits."""
    raw = raw_rank(reader, judge(reader, qrels), run, **options)
    return np.frombuffer(raw[0], np.int64).reshape(-1, 6)[:, :5].tolist()


def outcome(function: Callable[..., Any], *arguments: Any) -> tuple[str, Any]:
    try:
        return "is", function(*arguments)
    except Exception as error:
        return type(error).__name__, str(error)


QRELS = text("401 0 a 1", "401 0 b 0", "401 0 c 2", "402 0 a 1")


# ---- ranking by hand ----


def test_ranks_by_score_and_joins(reader: Any, how: str) -> None:
    run = text("401 Q0 b 1 1.5 t", "401 Q0 x 2 3.5 t", "401 Q0 c 3 2.5 t", "402 Q0 y 1 1 t")
    # 401: x 3.5, c 2.5, b 1.5: c is second, b third, x is not judged; 402: only y, not judged
    assert ranked(reader, QRELS, run, how=how) == {"401": [("c", 2, 2, 1), ("b", 3, 3, 1)], "402": []}
    assert lists_of(reader, QRELS, run, how=how) == [[0, 3, 0, 0, 2], [1, 1, 0, 0, 2]]


def test_ties_by_docno_rank_and_file(reader: Any, how: str) -> None:
    # a, b, c and B share the score 5; d has 7
    run = text("401 Q0 b 3 5 t", "401 Q0 a 1 5 t", "401 Q0 B 2 5 t", "401 Q0 c 3 5 t", "401 Q0 d 9 7 t")
    # docno, descending bytewise: c (0x63), b, a, B (0x42)
    assert order(reader, run, DOCNO) == {"401": ["d", "c", "b", "a", "B"]}
    # rank column: a 1, B 2, then b and c, both 3, by docno: c, b
    assert order(reader, run, RANK) == {"401": ["d", "a", "B", "c", "b"]}
    assert order(reader, run, FILE) == {"401": ["d", "b", "a", "B", "c"]}
    # d is alone at rank 1; the group of four has the ranks 2..5
    expected = {
        DOCNO: [("c", 2, 2, 4), ("b", 3, 2, 4), ("a", 4, 2, 4)],
        RANK: [("a", 2, 2, 4), ("c", 4, 2, 4), ("b", 5, 2, 4)],
        FILE: [("b", 2, 2, 4), ("a", 3, 2, 4), ("c", 5, 2, 4)],
    }
    for ties, hits in expected.items():
        assert ranked(reader, QRELS, run, ties=ties, how=how) == {"401": hits}
        assert lists_of(reader, QRELS, run, ties=ties, how=how) == [[0, 5, 4, 0, 3]]


def test_two_tie_groups(reader: Any) -> None:
    run = text(*(f"401 Q0 {doc} 1 {score}" for doc, score in zip("abcxyz", "333221", strict=True)))
    # c b a share ranks 1..3, y x share 4..5, z is alone: 5 documents are tied
    assert order(reader, run) == {"401": ["c", "b", "a", "y", "x", "z"]}
    assert ranked(reader, QRELS, run) == {"401": [("c", 1, 1, 3), ("b", 2, 1, 3), ("a", 3, 1, 3)]}
    assert lists_of(reader, QRELS, run) == [[0, 6, 5, 0, 3]]


def test_minus_zero_ties_with_zero(reader: Any) -> None:
    assert order(reader, text("1 Q0 a 1 0", "1 Q0 b 2 -0.0", "1 Q0 c 3 1e-9999")) == {"1": ["c", "b", "a"]}


def test_scores_are_doubles(reader: Any) -> None:
    # 2^53 and 2^53 + 2 differ as doubles; 2^53 + 1 is rounded to even, 2^53: tied with it
    run = text("1 Q0 a 1 9007199254740992", "1 Q0 b 2 9007199254740994", "1 Q0 c 3 9007199254740993")
    assert order(reader, run) == {"1": ["b", "c", "a"]}
    assert lists_of(reader, text("1 0 a 1"), run) == [[0, 3, 2, 0, 1]]


def test_duplicates_best(reader: Any, how: str) -> None:
    run = text("401 Q0 a 1 1 t", "401 Q0 b 2 5 t", "401 Q0 a 3 9 t", "401 Q0 b 4 3 t", "401 Q0 a 5 2 t")
    # a: 1, 9, 2, the best is 9; b: 5, 3, the best is 5; three lines are dropped
    assert order(reader, run, best=1) == {"401": ["a", "b"]}
    assert ranked(reader, QRELS, run, best=1, how=how) == {"401": [("a", 1, 1, 1), ("b", 2, 2, 1)]}
    assert lists_of(reader, QRELS, run, best=1, how=how) == [[0, 2, 0, 3, 2]]


def test_the_best_of_equal_scores(reader: Any) -> None:
    run = text("1 Q0 a 5 7", "1 Q0 b 3 7", "1 Q0 a 2 7")
    # in the file, a's first occurrence counts and b follows it; by the rank column a's second (2) comes before b (3)
    assert order(reader, run, FILE, best=1) == {"1": ["a", "b"]}
    assert order(reader, run, RANK, best=1) == {"1": ["a", "b"]}
    # with a's ranks 5 and 4 b (3) comes first
    assert order(reader, run.replace(b"a 2", b"a 4"), RANK, best=1) == {"1": ["b", "a"]}


def test_dropped_duplicates_leave_no_scores(reader: Any) -> None:
    raw = raw_rank(reader, None, text("1 Q0 a 1 1", "1 Q0 a 2 3", "1 Q0 b 3 2"), best=1)
    assert raw == (["1"], struct.pack("=2q", 0, 2), ["a", "b"], struct.pack("=2d", 3, 2), "", 1)


def test_topics_that_do_not_stand_together(reader: Any, how: str) -> None:
    run = text("402 Q0 x 1 1 t", "401 Q0 a 1 1 t", "402 Q0 a 1 5 t", "401 Q0 c 1 3 t", "403 Q0 a 1 1 t")
    # in order of first appearance: 402 (a 5, x 1), 401 (c 3, a 1); nobody judged 403
    assert ranked(reader, QRELS, run, how=how) == {"402": [("a", 1, 1, 1)], "401": [("c", 1, 1, 1), ("a", 2, 2, 1)]}
    raw = raw_rank(reader, judge(reader, QRELS), run, how=how)
    assert raw[2:] == (["403"], "t")
    assert list(order(reader, run)) == ["402", "401", "403"]


@needs_c
def test_the_stream_says_when_a_topic_comes_back() -> None:
    judgments = judge(c_reader, QRELS)
    together, apart = text("1 Q0 a 1 1", "1 Q0 b 2 1", "2 Q0 a 1 1"), text("1 Q0 a 1 1", "2 Q0 a 1 1", "1 Q0 b 2 1")
    assert c_reader.rank_stream(judgments, io.BytesIO(together), -1, False, 0, 0, "r") is not None
    assert c_reader.rank_stream(judgments, io.BytesIO(apart), -1, False, 0, 0, "r") is None


def test_a_topic_that_begins_like_another(reader: Any, how: str) -> None:
    run = text("40 Q0 a 1 1", "401 Q0 a 1 1", "4010 Q0 a 1 1")
    assert ranked(reader, text("40 0 a 1", "401 0 a 1", "4010 0 a 1"), run, how=how) == {
        topic: [("a", 1, 1, 1)] for topic in ("40", "401", "4010")
    }


def test_long_lists_against_sort(reader: Any, how: str) -> None:
    rng = random.Random(7)
    docs = [f"doc{i:05d}" for i in rng.sample(range(99999), 3000)]
    lines = [(doc, rng.randrange(900), rng.randrange(50)) for doc in docs]
    run = text(*(f"1 Q0 {doc} {rank} {score / 4} t" for doc, score, rank in lines))
    by_docno = sorted(lines, key=lambda x: x[0], reverse=True)
    expected = {
        DOCNO: sorted(by_docno, key=lambda x: -x[1]),
        RANK: sorted(by_docno, key=lambda x: (-x[1], x[2])),
        FILE: sorted(lines, key=lambda x: -x[1]),
    }
    qrels = text(*(f"1 0 {doc} 1" for doc in docs[::3]))
    for ties, in_order in expected.items():
        names = [doc for doc, _, _ in in_order]
        assert order(reader, run, ties) == {"1": names}
        hits = ranked(reader, qrels, run, ties=ties, how=how)["1"]
        wanted = set(docs[::3])
        assert [(doc, rank) for doc, rank, _, _ in hits] == [(d, i) for i, d in enumerate(names, 1) if d in wanted]


# ---- the layout of files ----


def test_bom_crlf_comments_blank_lines(reader: Any, how: str) -> None:
    plainly = text("401 Q0 a 1 2 t", "401 Q0 c 2 1 t")
    for run in (
        b"\xef\xbb\xbf" + plainly,
        plainly.replace(b"\n", b"\r\n"),
        b"\xef\xbb\xbf# by hand\r\n\r\n" + plainly.replace(b"\n", b"\r\n \t\r\n  #\x00\xff\r\n"),
        plainly.replace(b" ", b" \t\x0b\x0c "),
        b"  " + plainly.replace(b"\n", b"  \n\t"),
        plainly.rstrip(),
    ):
        assert ranked(reader, QRELS, run, how=how) == {"401": [("a", 1, 1, 1), ("c", 2, 2, 1)]}
        assert raw_rank(reader, judge(reader, QRELS), run, how=how)[3] == "t"
    for qrels in (b"\xef\xbb\xbf" + QRELS, QRELS.replace(b"\n", b"\r\n#\r\n"), QRELS.rstrip()):
        assert judged(reader, qrels) == judged(reader, QRELS)


def test_only_the_first_mark_is_a_byte_order_mark(reader: Any) -> None:
    twice = b"\xef\xbb\xbf\xef\xbb\xbf1 0 a 1\n\xef\xbb\xbf2 0 a 1\n"
    assert list(judged(reader, twice)) == ["\ufeff1", "\ufeff2"]


def test_missing_tag(reader: Any, how: str) -> None:
    run = text("401 Q0 a 1 2", "401 Q0 b 1 1", "402 Q0 a 1 3 later", "402 Q0 b 1 2 other")
    assert raw_rank(reader, judge(reader, QRELS), run, how=how)[3] == "later"  # the first there is
    assert raw_rank(reader, judge(reader, QRELS), text("401 Q0 a 1 2"), how=how)[3] == ""


def test_text_after_the_tag(reader: Any, how: str) -> None:
    run = text("401 Q0 a 1 2 t more of it", "401 Q0 c 2 1 t 7")
    assert ranked(reader, QRELS, run, how=how) == {"401": [("a", 1, 1, 1), ("c", 2, 2, 1)]}


@pytest.mark.parametrize("content", [b"", b"\n", b"\xef\xbb\xbf", b"# nothing\n  \r\n", b"\xef\xbb", b" "])
def test_empty_files(reader: Any, how: str, content: bytes) -> None:
    if content == b"\xef\xbb":  # half a mark is text
        with pytest.raises(ReadError, match="found 1 column,"):
            judge(reader, content)
        return
    assert judged(reader, content) == {}
    assert raw_rank(reader, judge(reader, QRELS), content, how=how) == (b"", b"", [], "")
    assert raw_rank(reader, None, content) == ([], bytes(8), [], b"", "", 0)


@pytest.mark.parametrize(
    "name",
    ["007", "NA", "nan", "1e5", "0x1F", "#7", "é", "\udce9", "\udcff\udcfe", "x" * 16, "x" * 17, "y" * 300, "日本"],
)
def test_ids_survive(reader: Any, how: str, name: str) -> None:
    topic = name.lstrip("#")
    assert judged(reader, text(f"{topic} 0 {name} 1")) == {topic: {name: 1.0}}
    run = text(f"{topic} Q0 {name} 1 2 {name}", f"T{topic} Q0 z 1 2")
    assert order(reader, run) == {topic: [name], "T" + topic: ["z"]}
    assert ranked(reader, text(f"{topic} 0 {name} 1"), run, how=how) == {topic: [(name, 1, 1, 1)]}
    assert raw_rank(reader, judge(reader, QRELS), run, how=how)[2:] == ([topic, "T" + topic], name)
    table = {topic: {name: 2.5}}  # and from a file's bytes to a table's strings
    assert ranked(reader, text(f"{topic} 0 {name} 1"), table) == {topic: [(name, 1, 1, 1)]}
    assert ranked(reader, table, run, how=how) == {topic: [(name, 1, 1, 1)]}


def test_names_that_differ_in_length_only(reader: Any) -> None:
    names = ["x" * n for n in range(1, 70)]
    run = text(*(f"1 Q0 {name} 1 {len(name)}" for name in names))
    qrels = text(*(f"1 0 {name} 1" for name in names))
    assert [doc for doc, _, _, _ in ranked(reader, qrels, run)["1"]] == names[::-1]


def test_many_topics_and_judgments(reader: Any, how: str) -> None:
    qrels = text(*(f"{t} 0 d{d} {d % 3}" for t in range(300) for d in range(t % 97 + 1)))
    run = text(*(f"{t} Q0 d{d} 1 {d}" for t in range(299, -1, -1) for d in range(3)))
    got = ranked(reader, qrels, run, how=how)
    assert len(got) == 300
    # topic 96 has d0..d96, so d2 d1 d0 are judged; topic 97 has d0 only
    assert got["96"] == [("d2", 1, 1, 1), ("d1", 2, 2, 1), ("d0", 3, 3, 1)]
    assert got["97"] == [("d0", 3, 3, 1)]


# ---- numbers ----


def grades_of(reader: Any, numbers: list[str]) -> bytes:
    lines = text(*(f"t 0 d{i} {number}" for i, number in enumerate(numbers)))
    return bytes(reader.describe(judge(reader, lines))[2])


def bits(numbers: list[str]) -> bytes:
    return struct.pack(f"={len(numbers)}d", *map(float, numbers))


def halfway(x: float) -> str:
    """The number between a double and the next one, in full."""
    exact = (Fraction(x) + Fraction(float(np.nextafter(x, np.inf)))) / 2
    whole, rest = divmod(exact.numerator, exact.denominator)
    places = exact.denominator.bit_length() - 1
    return f"{whole}.{rest * 5**places:0{places}d}" if places else str(whole)


DIGITS = st.text("0123456789", max_size=24)
DECIMALS = st.tuples(
    st.sampled_from(["", "-", "+"]),
    st.tuples(DIGITS, st.sampled_from(["", "."]), DIGITS).map("".join).filter(lambda s: s.strip(".")),
    st.one_of(
        st.just(""), st.tuples(st.sampled_from(["e", "E", "e-", "e+"]), st.integers(0, 280).map(str)).map("".join)
    ),
).map("".join)
DOUBLES = st.floats(allow_nan=False, allow_infinity=False)
NUMBERS = st.one_of(
    DECIMALS.filter(lambda s: abs(float(s)) < float("inf")),
    DOUBLES.map(repr),
    DOUBLES.map(lambda x: f"{x:.18e}"),
    st.floats(0, 1e17).map(halfway),
    st.tuples(st.integers(10**17, 10**19), st.integers(1, 30)).map(lambda mk: f"{mk[0]}e-{mk[1]}"),
)


@given(st.lists(NUMBERS, min_size=1, max_size=30))
@examples(300)
def test_numbers_are_those_of_float(numbers: list[str]) -> None:
    for reader in READERS:
        assert grades_of(reader, numbers) == bits(numbers)


HARD_NUMBERS = """
9007199254740993 9007199254740992.5 4503599627370497.5 4503599627370496.5 1125899906842624.125 18446744073709551616
5e-324 2.4703282292062327e-324 2.4703282292062328e-324 1e-9999 2.2250738585072011e-308 1e-28 1e-27
1e22 1e23 9007199254740992e22 9007199254740993e-22 9999999999999999999e-27 -0 +0 -0.0e5 0e99999999999999999999 1. .5
+.5e+0 00012.500 1E5 1.7976931348623157e308
"""


def test_hard_numbers(reader: Any) -> None:
    long = ["179769313486231570" + "0" * 291, "0" * 400 + "1", "0." + "0" * 400 + "1e400"]
    numbers = [*HARD_NUMBERS.split(), *long]
    assert grades_of(reader, numbers) == bits(numbers)


def test_random_numbers_beside_halfway(reader: Any) -> None:
    rng = random.Random(11)
    numbers = []
    for _ in range(3000):
        # 19 digits, as near as they come to the middle of two doubles
        half = Fraction(2 * rng.randrange(2**52, 2**53) + 1, 2 ** rng.randrange(1, 90))
        k = 19 - len(str(int(half))) if half >= 1 else 19 + len(str(int(1 / half)))
        numbers.append(f"{int(half * Fraction(10) ** k) + rng.randrange(2)}e{-k}")
    assert grades_of(reader, numbers) == bits(numbers)


NOT_NUMBERS = ". + - e5 1e 1e+ 1e- --1 +-1 1.2.3 0x10 0x1p3 1_000 inf -Infinity nan NaN 1,5 1d5 1f 1e5. 1e5e5 1# True"


@pytest.mark.parametrize("number", [*NOT_NUMBERS.split(), "1e-+5", "١", "1\u00a0"])
def test_what_is_not_a_number(reader: Any, how: str, number: str) -> None:
    with pytest.raises(ReadError) as error:
        judge(reader, text("1 0 a 1", f"1 0 b {number}"))
    assert str(error.value) == f"q:2: grade '{number}' is not a decimal number"
    with pytest.raises(ReadError) as error:
        raw_rank(reader, judge(reader, QRELS), text("1 Q0 a 1 1", f"1 Q0 b x {number}"), how=how)
    assert str(error.value) == f"r:2: score '{number}' is not a decimal number"
    with pytest.raises(ReadError) as error:
        raw_rank(reader, judge(reader, QRELS), text("1 Q0 a 1 1", f"1 Q0 b {number} 1"), RANK, how=how)
    assert str(error.value) == f"r:2: rank '{number}' is not a decimal number"
    assert order(reader, text(f"1 Q0 b {number} 1")) == {"1": ["b"]}  # the rank is not looked at otherwise


@pytest.mark.parametrize("number", ["1e309", "-1e309", "9" * 310, "1.7976931348623159e308", "1e99999999999999999999"])
def test_numbers_too_large(reader: Any, number: str) -> None:
    shown = number if len(number) <= 60 else number[:60] + "..."
    with pytest.raises(ReadError) as error:
        judge(reader, text(f"1 0 a {number}"))
    assert str(error.value) == f"q:1: grade '{shown}' is too large for a double"


# ---- messages ----

TWICE = "document 'd1' is judged twice for topic '401' (first on line 1)"
NUL = "NUL byte in the line, expected text (is it UTF-16, or compressed?)"
QRELS_COLUMNS = "expected 4: topic iter doc grade"
RUN_COLUMNS = "expected 6: topic Q0 doc rank score tag"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"401 0 d1\n", f"1: found 3 columns, {QRELS_COLUMNS}"),
        (b"401 0 d1 1\n\n# c\n401\n", f"4: found 1 column, {QRELS_COLUMNS}"),
        (b"401 0 d1 1\r\n401 0 d2 1 x\r\n", f"2: found 5 columns, {QRELS_COLUMNS}"),
        (b"\xef\xbb\xbf401 0 d1 1\n401 0 d2 x", "2: grade 'x' is not a decimal number"),
        (b"401 0 d1 1\n402 0 d1 1\n401 0 d1 0\n", f"3: {TWICE}"),
        (b"401 0 d1 1\n401 0 d1 0\nwrong\n", f"2: {TWICE}"),
        (b"401 0 d1 1\nwrong\n401 0 d1 0\n", f"2: found 1 column, {QRELS_COLUMNS}"),
        ("401 0 d1 1\n".encode("utf-16-le"), f"1: {NUL}"),
        (b"401 0 d1 1\n401 0 d\x07 x\n", "2: control byte 0x07 in the line, expected text"),
        (b"401 0 d1 1\x1f\n", "1: control byte 0x1f in the line, expected text"),
        (b"\x1b[1m 0 d1 1\n", "1: control byte 0x1b in the line, expected text"),
        (b"401 0 d1 caf\xe9\n", "1: grade 'caf\\xe9' is not a decimal number"),
        ("401 0 d1 é\n".encode(), "1: grade 'é' is not a decimal number"),
        (b"401 0 d1 %b\n" % (b"x" * 60), f"1: grade '{'x' * 60}' is not a decimal number"),
        (b"401 0 d1 %b\n" % (b"x" * 61), f"1: grade '{'x' * 60}...' is not a decimal number"),
        (b"401 0 d1 %b\n" % (b"x" * 59 + "é".encode()), f"1: grade '{'x' * 59}\\xc3...' is not a decimal number"),
    ],
)
def test_what_is_wrong_with_judgments(reader: Any, content: bytes, message: str) -> None:
    with pytest.raises(ReadError) as error:
        judge(reader, content, "a/b.qrels")
    assert str(error.value) == f"a/b.qrels:{message}"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"401 Q0 d1 1\n", f"1: found 4 columns, {RUN_COLUMNS}"),
        (b"401 Q0 d1 1 2 t\n\n#\n401 \n", f"4: found 1 column, {RUN_COLUMNS}"),
        (b"401 Q0 a document 1 2 t\n", f"1: found 7 columns, {RUN_COLUMNS}"),
        (b"401 Q0 d1 1 high t\n", "1: score 'high' is not a decimal number"),
        (b"401 Q0 d1 1 1\x00 t\n", f"1: {NUL}"),
        (b"401\x01 Q0 d1 1 1 t\n", "1: control byte 0x01 in the line, expected text"),
        (
            b"401 Q0 d1 1 2 t\n401 Q0 d2 1 2 t\n\n401 Q0 d1 3 1 t\n",
            "4: document 'd1' appears twice for topic '401' (first on line 1)",
        ),
        (  # the second 'b' is on line 4, the second 'a' on line 5
            b"1 Q0 a 1 1\n2 Q0 c 1 1\n2 Q0 b 1 1\n2 Q0 b 1 1\n1 Q0 a 1 1\n",
            "4: document 'b' appears twice for topic '2' (first on line 3)",
        ),
        (b"1 Q0 a 1 1\n1 Q0 a 1 1\n1 Q0 b 1 x\n", "2: document 'a' appears twice for topic '1' (first on line 1)"),
        (b"1 Q0 a 1 1\n1 Q0 b 1 x\n1 Q0 a 1 1\n", "2: score 'x' is not a decimal number"),
        (b"1 Q0 a 1 1\n2 Q0 a 1 1\n1 Q0 a 1 1\nx\n", "3: document 'a' appears twice for topic '1' (first on line 1)"),
        (b"1 Q0 a 1 1\n2 Q0 a 1 1\n1 Q0 b 1 1\nx\n", f"4: found 1 column, {RUN_COLUMNS}"),
        (
            b"\xff Q0 %b 1 1\n\xff Q0 %b 1 1\n" % (b"d" * 70, b"d" * 70),
            f"2: document '{'d' * 60}...' appears twice for topic '\\xff' (first on line 1)",
        ),
    ],
)
def test_what_is_wrong_with_runs(reader: Any, how: str, content: bytes, message: str) -> None:
    for bom in (b"", b"\xef\xbb\xbf"):
        with pytest.raises(ReadError) as error:
            raw_rank(reader, judge(reader, QRELS), bom + content, how=how, name="a.run")
        assert str(error.value) == f"a.run:{message}"
        with pytest.raises(ReadError) as error:
            raw_rank(reader, None, bom + content, name="a.run")
        assert str(error.value) == f"a.run:{message}"


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({1.0: {"a": 1}}, "t: topic 1.0 is of type float, expected a string or a whole number"),
        ({True: {"a": 1}}, "t: topic True is of type bool, expected a string or a whole number"),
        ({np.True_: {"a": 1}}, "t: topic np.True_ is of type bool, expected a string or a whole number"),
        ({"1": [1]}, "t: topic '1': value [1] is of type list, expected a dictionary"),
        ({"1": {b"a": 1}}, "t: topic '1': document b'a' is of type bytes, expected a string or a whole number"),
        ({"1": {"a": "2"}}, "t: topic '1', document 'a': score '2' is not a finite number"),
        ({"1": {"a": float("nan")}}, "t: topic '1', document 'a': score nan is not a finite number"),
        ({"1": {"a": 10**400}}, f"t: topic '1', document 'a': score 1{'0' * 99} is not a finite number"),
        ({"1": {"a": None}}, "t: topic '1', document 'a': score None is not a finite number"),
        ({"1": {"\ud800": 1}}, "t: topic '1': document '\\ud800' holds half a surrogate pair, expected text"),
        ((["1", 2.5], ["a", "b"], [1, 2]), "t: row 1: topic 2.5 is of type float, expected a string or a whole number"),
        (([1, "1"], [7, "7"], [1, 2]), "t: row 1: document '7' appears twice for topic '1' (first in row 0)"),
        (
            (["1", "1"], ["a", None], [1, 2]),
            "t: row 1: document None is of type NoneType, expected a string or a whole number",
        ),
        ((["1", "1"], ["a", "b"], [1, 1j]), "t: row 1: score 1j is not a finite number"),
        (
            (["1"] * 3, ["a", "b", "a"], [1, 2, 3]),
            "t: row 2: document 'a' appears twice for topic '1' (first in row 0)",
        ),
        (  # one name in two spellings
            (["1"] * 2, ["é", "\udcc3\udca9"], [1, 2]),
            "t: row 1: document 'é' appears twice for topic '1' (first in row 0)",
        ),
        (  # a message is one line, whatever the name
            (["1\0"] * 2, ["a\nb", "a\nb"], [1, 2]),
            "t: row 1: document 'a\\x0ab' appears twice for topic '1\\x00' (first in row 0)",
        ),
    ],
)
def test_what_is_wrong_with_tables(reader: Any, table: Any, message: str) -> None:
    for judgments in (judge(reader, QRELS), None):
        with pytest.raises(ReadError) as error:
            raw_rank(reader, judgments, table, name="t")
        assert str(error.value) == message
    with pytest.raises(ReadError) as error:
        judge(reader, table, "t")
    assert str(error.value) == message.replace("score", "grade").replace("appears", "is judged")


def test_whole_numbers_are_names(reader: Any) -> None:
    table = {1: {7: 3.0, np.int64(-8): 2.0}, "2": {10**30: 1.0}}
    topics, _, docs, *_ = raw_rank(reader, None, table)
    assert (topics, docs) == (["1", "2"], ["7", "-8", "1" + "0" * 30])
    assert raw_rank(reader, judge(reader, {"1": {"7": 1}}), table) == raw_rank(
        reader, judge(reader, {1: {7: 1}}), {"1": {"7": 3.0, "-8": 2.0}, "2": {"1" + "0" * 30: 1.0}}
    )


def test_judged_twice_in_a_dictionary(reader: Any) -> None:
    with pytest.raises(ReadError) as error:
        judge(reader, {"1": {"é": 1, "\udcc3\udca9": 2}})
    assert str(error.value) == "q: topic '1', document '\\udcc3\\udca9': judged twice"
    with pytest.raises(ReadError, match="q: topic 1, document 'a': judged twice"):
        judge(reader, {"1": {"a": 1}, 1: {"a": 1}})


# ---- tables ----


class Floats:
    def __init__(self, x: Any) -> None:
        self.x = x

    def __float__(self) -> float:
        if isinstance(self.x, Exception):
            raise self.x
        return float(self.x)


def test_values_of_tables(reader: Any) -> None:
    values = [
        1,
        True,
        2**60,
        0.5,
        Decimal("0.1"),
        Fraction(1, 3),
        np.float32(0.1),
        np.int8(-3),
        np.array(2.5),
        Floats(7),
    ]
    table = {"t": {f"d{i}": value for i, value in enumerate(values)}}
    expected = {f"d{i}": float(value) for i, value in enumerate(values)}
    assert judged(reader, table) == {"t": expected}
    columns = (["t"] * len(values), list(table["t"]), values)
    assert judged(reader, columns) == {"t": expected}
    assert order(reader, table) == order(reader, columns)


@pytest.mark.parametrize(
    "value", ["1.5", b"1.5", bytearray(b"1"), memoryview(b"1.5"), [], 1j, object(), Floats(ValueError())]
)
def test_what_is_not_a_value(reader: Any, value: Any) -> None:
    with pytest.raises(ReadError, match="is not a finite number"):
        judge(reader, {"t": {"d": value}})


def test_other_exceptions_come_through(reader: Any) -> None:
    with pytest.raises(ZeroDivisionError, match="own"):
        raw_rank(reader, None, {"t": {"d": Floats(ZeroDivisionError("own"))}})


def test_empty_names_and_topics(reader: Any) -> None:
    assert judged(reader, {"": {"": 1}, "x": {}, "y": {"a b\n": 2}}) == {"": {"": 1.0}, "y": {"a b\n": 2.0}}
    assert order(reader, {"": {"": 1, "a": 1}}) == {"": ["a", ""]}
    assert judged(reader, {}) == judged(reader, ([], [], [])) == {}


def test_join_of_a_dictionary(reader: Any) -> None:
    run = {"402": {"x": 3, "a": 1}, "401": {"c": 1.0, "b": 1.0, "x": 1.0, "a": 0.5}, "9": {"a": 1}}
    # 402: x 3, a 1; 401: x c b share ranks 1..3 (docno descending), a is fourth
    assert ranked(reader, QRELS, run) == {
        "402": [("a", 2, 2, 1)],
        "401": [("c", 2, 1, 3), ("b", 3, 1, 3), ("a", 4, 4, 1)],
    }
    assert raw_rank(reader, judge(reader, QRELS), run)[2:] == (["9"], "")
    rows = [(topic, doc, score) for topic, docs in run.items() for doc, score in docs.items()]
    columns = tuple(map(list, zip(*rows, strict=True)))
    assert ranked(reader, QRELS, columns) == ranked(reader, QRELS, run)


def test_an_ordered_dictionary_has_its_own_order(reader: Any) -> None:
    docs = OrderedDict.fromkeys("abc", 1)
    docs.move_to_end("a")
    topics = OrderedDict({"1": docs, "2": {"x": 1}})
    topics.move_to_end("1")
    assert order(reader, topics, FILE) == {"2": ["x"], "1": ["b", "c", "a"]}
    assert list(order(reader, topics, FILE)) == list(judged(reader, topics)) == ["2", "1"]


def test_duplicates_best_in_columns(reader: Any) -> None:
    columns = (["401"] * 4, ["a", "b", "a", "b"], [1, 2, 3, 1])
    assert order(reader, columns, best=1) == {"401": ["a", "b"]}
    assert lists_of(reader, QRELS, columns, best=1) == [[0, 2, 0, 2, 2]]


@needs_c
@pytest.mark.parametrize("columns", [False, True])
def test_a_table_that_changes_while_it_is_read(columns: bool) -> None:
    names = [f"document-{i:03d}" for i in range(100)]
    table: Any = {"t": dict.fromkeys(names, 1.5)}
    if columns:
        table = (["t"] * 100, list(names), [1.5] * 100)

    class Empties:
        def __float__(self) -> float:
            for part in table if columns else [*table.values(), table]:
                part.clear()
            return 0.5

    (table[2] if columns else table["t"])[50 if columns else names[50]] = Empties()
    # what counts is the table as it was when the reader got it: all 100, the changed one last
    assert order(c_reader, table) == {"t": [*(name for name in names[::-1] if name != names[50]), names[50]]}
    assert not table or not table[0]


# ---- sources ----


class Pieces:
    """An object with readinto that gives a few bytes at a time."""

    def __init__(self, data: bytes, most: int) -> None:
        self.file, self.most = io.BytesIO(data), most

    def readinto(self, buffer: Any) -> int:
        return self.file.readinto(buffer[: self.most])


def test_sources_give_the_same(reader: Any, how: str, tmp_path: Any) -> None:
    run = b"\xef\xbb\xbf" + text(*(f"{t} Q0 d{i} {i} {i % 5}" for t in (401, 402) for i in range(50)))
    qrels = text(*(f"{t} 0 d{i} 1" for t in (401, 402) for i in range(0, 50, 7)))
    judgments = judge(reader, qrels)
    expected = raw_rank(reader, judgments, run, how=how)
    for most in (1, 2, 3, 100):
        assert raw_rank(reader, judgments, run, how=how) == expected
        call = reader.rank_stream if how == "stream" else reader.rank
        arguments = (-1, False, 0, 0, "r") if how == "stream" else (0, 0, "r")
        assert call(judgments, Pieces(run, most), *arguments) == expected
        assert reader.describe(reader.judge(Pieces(qrels, most), "q")) == reader.describe(judgments)
    path = tmp_path / "run"
    path.write_bytes(run)
    with open(path, "rb") as file:
        assert call(judgments, file.fileno(), *arguments) == expected


@pytest.mark.parametrize(
    ("answer", "error"),
    [(-1, OSError), (1 << 40, OSError), (None, TypeError), ("1", TypeError), (EOFError("cut"), EOFError)],
)
def test_sources_that_break(reader: Any, answer: Any, error: type[Exception]) -> None:
    class Breaks:
        def readinto(self, buffer: Any) -> Any:
            if isinstance(answer, Exception):
                raise answer
            return answer

    judgments = judge(reader, QRELS)
    for call in (
        lambda: reader.judge(Breaks(), "q"),
        lambda: reader.rank(judgments, Breaks(), 0, 0, "r"),
        lambda: reader.rank_stream(judgments, Breaks(), -1, False, 0, 0, "r"),
    ):
        with pytest.raises(error):
            call()


def test_a_closed_descriptor(reader: Any, tmp_path: Any) -> None:
    fd = os.open(tmp_path / "x", os.O_CREAT | os.O_RDWR)
    os.close(fd)
    with pytest.raises(OSError):
        reader.judge(fd, "q")
    with pytest.raises(OSError):
        reader.rank(judge(reader, QRELS), fd, 0, 0, "r")


# ---- lines as nearly all are, and others among them ----


def spelled(rng: random.Random, before: list[str]) -> str:
    """A decimal of up to 9 digits and 17 after the point, or one near one before, or the same in more digits."""
    if before and rng.random() < 0.4:
        other = rng.choice(before)
        return f"{float(other):.17g}" if rng.random() < 0.5 else other + "0000001" * ("." in other)
    whole = rng.choice(["9", "98", str(rng.randrange(10 ** rng.choice([1, 1, 2, 3, 7, 8, 9])))])
    digits = f"{rng.random():.17f}"[2 : rng.choice([2, 3, 4, 8, 18 - len(whole), 18 - len(whole), 19])]
    before.append(rng.choice(["", "", "-"]) + whole + (f".{digits}" if digits else ""))
    return before[-1]


@pytest.mark.parametrize("length", [1, 7, 8, 9, 60, 61])
def test_lines_of_one_kind_beside_sorting(reader: Any, length: int) -> None:
    rng = random.Random(length)
    topic, blank = "t" * (length - 1) + "1", " \t"[length % 2]
    docs = list({"".join(rng.choices("ab", k=rng.choice([1, 4, *range(7, 18), 23, 24, 25, 33]))) for _ in range(300)})
    numbers: list[str] = []
    scores = {doc: spelled(rng, numbers) for doc in docs}
    tag = "g" * rng.choice([1, 20, 70])
    run = text(*(blank.join([topic, "Q0", doc, str(i), score, tag]) for i, (doc, score) in enumerate(scores.items())))
    judged = sorted(rng.sample(docs, len(docs) // 2))
    qrels = text(*(f"{topic} 0 {doc} 1" for doc in judged), f"{topic} 0 {'c' * 9} 1")
    for single, flag in ((float, 0), (np.float32, 8)):
        value = {doc: float(single(score)) for doc, score in scores.items()}
        in_order = sorted(docs, key=lambda doc: (value[doc], doc), reverse=True)
        size = Counter(value.values())
        first = {value[doc]: rank for rank, doc in reversed(list(enumerate(in_order, 1)))}
        expected = [
            (doc, rank, first[value[doc]], size[value[doc]]) for rank, doc in enumerate(in_order, 1) if doc in judged
        ]
        assert ranked(reader, qrels, run, how="stream", ties=flag) == {topic: expected}
        hits = raw_rank(reader, judge(reader, qrels), run, flag + 4, how="stream")[1]  # without groups
        got = [(judged[row], rank) for rank, row in np.frombuffer(hits, np.int32).reshape(-1, 2).tolist()]
        assert got == [(doc, rank) for doc, rank, _, _ in expected]


@pytest.mark.parametrize(
    "odd",
    [
        *("401 Q0 x 4 7.5 t\r", " 401 Q0 x 4 7.5 t", "401  Q0 x 4 7.5 t", "401 Q0 x  4 7.5", "401\tQ0 x 4 7.5 t"),
        *(
            "401 Q0 x 4 7.5",
            "401 Q0 x 4 7.5 t ",
            "401 Q0 x 4 7.5 t and more",
            "401 Q0 x 4 75e-1 t",
            "401 Q0 x 4 +7.5 t",
        ),
        *(f"401 Q0 x 4 7.5 {'t' * 99}", f"401 {'Q' * 99} x 4 7.5 t", f"401 Q0 x 4 7.{'5'.ljust(40, '0')} t"),
        *("401 Q0 x 4 0007.5000 t", "# 401 Q0\n401 Q0 x 4 7.5 t", "\n401 Q0 x 4 7.5 t"),
    ],
)
def test_other_lines_among_them(reader: Any, how: str, odd: str) -> None:
    before = [f"401 Q0 a{i} {i} {9 - i}.0 tag" for i in range(3)]  # 9, 8, 7
    run = text(*before, odd, "401 Q0 b 5 7.25 tag", "4011 Q0 x 1 1.5 tag", "4011 Q0 b 2 2.5 tag")
    qrels = text("401 0 x 1", "401 0 a2 1", "4011 0 x 1")
    assert ranked(reader, qrels, run, how=how) == {"401": [("x", 3, 3, 1), ("a2", 5, 5, 1)], "4011": [("x", 2, 2, 1)]}
    line = 7 + odd.count("\n")
    for wrong, message in {
        "4011 Q0 b 2 2.5x tag": "score '2.5x' is not a decimal number",
        "4011 Q0 b 2 2..5 tag": "score '2..5' is not a decimal number",
        "4011 Q0 b 2 2.5\0 tag": "NUL byte in the line, expected text (is it UTF-16, or compressed?)",
        "4011 Q0 b\x01 2 2.5 tag": "control byte 0x01 in the line, expected text",
        "4011 Q0 2 2.5": "found 4 columns, expected 6: topic Q0 doc rank score tag",
        "4011 Q0 x 2 2.5 tag": f"document 'x' appears twice for topic '4011' (first on line {line - 1})",
    }.items():
        with pytest.raises(ReadError) as error:
            raw_rank(reader, judge(reader, qrels), run.replace(b"4011 Q0 b 2 2.5 tag", wrong.encode()), how=how)
        assert str(error.value) == f"r:{line}: {message}"


# ---- windows ----


def test_a_topic_larger_than_the_window(reader: Any, how: str) -> None:
    rng = random.Random(3)
    scores = list(range(18000))
    rng.shuffle(scores)
    lines = [f"401 Q0 document-number-{i:06d} {i} {score} tag-of-the-run" for i, score in enumerate(scores)]
    run = text("400 Q0 x 1 1 t", *lines, "402 Q0 y 1 1 t", "402 Q0 a 2 2 t")
    assert len(run) > 1.5 * WINDOW
    judged = [0, 1, 9000, 17998, 17999]
    qrels = text(*(f"401 0 document-number-{i:06d} 1" for i in judged), "402 0 a 1")
    # the document with score s has rank 18000 - s
    expected = sorted((18000 - scores[i], f"document-number-{i:06d}") for i in judged)
    got = ranked(reader, qrels, run, how=how)
    assert [(rank, doc) for doc, rank, _, _ in got["401"]] == expected
    assert got["402"] == [("a", 1, 1, 1)]
    wrong = run.replace(b"-017000 17000", b"-000007 17000")  # on line 17002, and first on line 9
    with pytest.raises(ReadError) as error:
        raw_rank(reader, judge(reader, qrels), wrong, how=how)
    assert str(error.value) == (
        "r:17002: document 'document-number-000007' appears twice for topic '401' (first on line 9)"
    )


@pytest.mark.parametrize("size", [WINDOW - 12, WINDOW - 1, WINDOW, WINDOW + 1, 3 * WINDOW])
def test_lines_around_the_size_of_the_window(reader: Any, how: str, size: int) -> None:
    name = "n" * size
    run = text("401 Q0 a 1 1 t", f"401 Q0 {name} 2 2 t", f"# {name}", "402 Q0 a 1 1 t", f"402 Q0 {name} 1 5 {name}")
    qrels = text(f"401 0 {name} 1", "401 0 a 1", "402 0 a 1")
    got = ranked(reader, qrels, run, how=how)
    assert got == {"401": [(name, 1, 1, 1), ("a", 2, 2, 1)], "402": [("a", 2, 2, 1)]}


@pytest.mark.parametrize("shift", range(8))
def test_a_line_across_the_border(reader: Any, how: str, shift: int) -> None:
    before = b"#" + b"c" * (WINDOW - 20 + shift) + b"\n"
    run = before + text("401 Q0 a 1 1 t", "401 Q0 c 1 2 t", "402 Q0 a 1 x t")
    with pytest.raises(ReadError, match=r"^r:4: score 'x'"):
        raw_rank(reader, judge(reader, QRELS), run, how=how)
    good = run.replace(b"x", b"1")
    assert ranked(reader, QRELS, good, how=how) == {"401": [("c", 1, 1, 1), ("a", 2, 2, 1)], "402": [("a", 1, 1, 1)]}


# ---- long lines ----


@pytest.mark.parametrize("longest", [16, WINDOW - 1, WINDOW, 2 * WINDOW + 5])
@pytest.mark.parametrize("line", [b"401 Q0 a 1 1 %b", b"#%b", b"%b", b"401 Q0 %b 2 1 t"])
def test_lines_up_to_the_longest(reader: Any, how: str, longest: int, line: bytes) -> None:
    # 'a line is longer' counts all its bytes but the LF; comments and blanks are lines as well
    call = reader.rank_stream if how == "stream" else reader.rank
    arguments = (-1, False, 0, 0, "r") if how == "stream" else (0, 0, "r")
    judgments = judge(reader, QRELS)
    fill = (b" " if line == b"%b" else b"n") * (longest - len(line) + 2)
    good = b"401 Q0 c 1 9\n" + line.replace(b"%b", fill) + b"\n402 Q0 a 1 1\n"
    for data in (good, b"\xef\xbb\xbf" + good):
        raw = call(judgments, io.BytesIO(data), *arguments, longest)
        assert np.frombuffer(raw[0], np.int64).reshape(-1, 6)[:, 0].tolist() == [0, 1]
    bad = good.replace(fill, fill + fill[:1])
    message = f"r:2: the line is longer than {longest} bytes, the most that max_line allows"
    for end in (b"", b"401 Q0 c 1 9\n"):  # what comes later is not looked at
        with pytest.raises(ReadError) as error:
            call(judgments, io.BytesIO(bad + end), *arguments, longest)
        assert str(error.value) == message
    with pytest.raises(ReadError) as error:
        reader.judge(io.BytesIO(b"401 0 a 1\n#" + b"c" * longest), "r", longest)
    assert str(error.value) == message
    comment = b"#" + b"c" * (longest - 1)
    for data in (
        b"401 0 a 1\n" + comment,
        b"\xef\xbb\xbf" + comment + b"\n401 0 a 1",
    ):  # no part of the line
        assert len(reader.documents(reader.judge(io.BytesIO(data), "r", longest))) == 1


def test_what_is_wrong_before_a_long_line_comes_first(reader: Any, how: str) -> None:
    long = b"402 Q0 " + b"x" * 3000 + b" 1 1\n"
    call = reader.rank_stream if how == "stream" else reader.rank
    arguments = (-1, False, 0, 0, "r", 1000) if how == "stream" else (0, 0, "r", 1000)
    for first, message in (
        (b"401 Q0 a 1 1 t\n401 Q0 a 2 2 t\n", "r:2: document 'a' appears twice for topic '401' (first on line 1)"),
        (b"401 Q0 a 1 x t\n", "r:1: score 'x' is not a decimal number"),
    ):
        with pytest.raises(ReadError) as error:
            call(judge(reader, QRELS), io.BytesIO(first + long), *arguments)
        assert str(error.value) == message


class Endless:
    """One line without an end; tells how much of it was asked for."""

    def __init__(self, first: bytes) -> None:
        self.first, self.given = first, 0

    def readinto(self, buffer: Any) -> int:
        data = self.first + b"x" * (len(buffer) - len(self.first))
        buffer[:], self.first = data, b""
        self.given += len(data)
        assert self.given < 1 << 26, "64 MB of one line were read"
        return len(data)


def test_a_line_without_end_is_not_read_to_its_end(reader: Any) -> None:
    judgments = judge(reader, QRELS)
    for first in (b"401 Q0 a 1 1 t\n401 Q0 ", b"401 Q0 a 1 1 t\n#"):
        for call, arguments in ((reader.rank, ()), (reader.rank_stream, (-1, False))):
            source = Endless(first)
            with pytest.raises(ReadError, match="^r:2: the line is longer than 1000000 bytes"):
                call(judgments, source, *arguments, 0, 0, "r", 1_000_000)
            assert source.given < 4_000_000
    source = Endless(b"401 0 ")
    with pytest.raises(ReadError, match="^r:1: the line is longer than 1000000 bytes"):
        reader.judge(source, "r", 1_000_000)
    assert source.given < 4_000_000


# ---- ids made to collide, and signals ----


def _fold(a: int, b: int) -> int:
    product = a * b
    return (product ^ product >> 64) & 0xFFFFFFFFFFFFFFFF


def colliding(count: int) -> list[bytes]:
    """Ids of 16 bytes with one hash, if its key were the one that was the same for all: seed and step as below.

    A word w is folded in by h = fold(h ^ w, step), so whatever the first word, the second can make h what is wanted.
    """
    seed, step, rng, out = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, random.Random(5), []
    while len(out) < count:
        first = bytes(rng.randrange(33, 127) for _ in range(8))
        second = _fold(seed ^ int.from_bytes(first, "little"), step) ^ 0x0123456789ABCDEF
        word = second.to_bytes(8, "little")
        if min(word) > 32:
            out.append(first + word)
    return out


@needs_c
def test_ids_made_to_collide_cost_no_more() -> None:
    # 8,000 ids of one hash are 32 million comparisons, twice (join and duplicates); others take a few milliseconds of
    # the processor's time, however busy it is with other things
    def seconds(ids: list[bytes]) -> float:
        qrels = b"".join(b"401 0 %b 1\n" % name for name in ids)
        run = b"".join(b"401 Q0 %b 1 1 t\n" % name for name in ids)
        times = []
        for _ in range(3):
            began = time.thread_time()
            judgments = c_reader.judge(io.BytesIO(qrels), "q")
            raw = c_reader.rank_stream(judgments, io.BytesIO(run), -1, False, 0, 0, "r")
            times.append(time.thread_time() - began)
            assert len(np.frombuffer(raw[1], np.int32)) == 4 * len(ids)
        return min(times)

    rng = random.Random(6)
    others = [bytes(rng.randrange(33, 127) for _ in range(16)) for _ in range(8000)]
    assert seconds(colliding(8000)) < 10 * seconds(others)


@needs_c
def test_documents_are_known_by_their_ids_not_by_their_hashes() -> None:
    # beside a document's place stand the bits of its hash that are left, 13 if there are 260,000: of 500,000 others a
    # quarter finds a slot that is taken, and 1 in 2^13 of these, some 15, the same bits in it
    qrels = b"".join(b"401 0 j%d 1\n" % i for i in range(260_000))
    run = b"".join(b"401 Q0 u%d 1 1 t\n" % i for i in range(500_000))
    judgments = c_reader.judge(io.BytesIO(qrels), "q")
    raw = c_reader.rank_stream(judgments, io.BytesIO(run), -1, False, 0, 0, "r")
    assert not len(raw[1])  # hits


@needs_c
def test_answers_do_not_depend_on_the_key(tmp_path: Any) -> None:
    # every process draws its own: four of them give the same bytes
    rng = random.Random(7)
    qrels = "".join(f"{t} 0 d{i} {rng.randrange(3)}\n" for t in range(20) for i in range(0, 300, 2))
    run = [f"{t} Q0 d{i} 1 {rng.randrange(40)} t\n" for t in range(21) for i in range(300)]
    rng.shuffle(run)
    (tmp_path / "q").write_text(qrels)
    (tmp_path / "r").write_text("".join(run))
    code = (
        "import hashlib, sys; from amble.native import _reader as r; f = lambda p: open(p, 'rb')\n"
        "j = r.judge(f('q'), 'q')\n"
        "found = r.describe(j), r.documents(j), r.rank(j, f('r'), 0, 0, ''), r.rank(None, f('r'), 0, 0, '')\n"
        "print(hashlib.sha256(repr(found).encode()).hexdigest())"
    )
    answers = {subprocess.check_output([sys.executable, "-c", code], cwd=tmp_path) for _ in range(4)}
    assert len(answers) == 1


class Stopped(Exception):  # noqa: N818
    pass


@needs_c
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers on this system")
@pytest.mark.parametrize("kind", ["stream", "whole", "qrels", "dict"])
def test_a_signal_stops_a_long_read(kind: str, tmp_path: Any) -> None:
    topics, docs = 60, 10_000
    path = tmp_path / "file"
    if kind == "qrels":
        path.write_text("".join(f"{t} 0 document-{i} 1\n" for t in range(topics) for i in range(docs)))
    elif kind != "dict":
        path.write_text("".join(f"{t} Q0 document-{i} 1 {-i} t\n" for t in range(topics) for i in range(docs)))
    table = {f"{t}": {f"document-{t}-{i}": 1.0 for i in range(docs)} for t in range(topics)} if kind == "dict" else {}
    judgments = judge(c_reader, QRELS)

    def read(file: Any) -> Any:
        if kind == "dict":
            return c_reader.judge(table, "q")
        file.seek(0)
        if kind == "qrels":
            return c_reader.judge(file.fileno(), "q")
        if kind == "stream":
            return c_reader.rank_stream(judgments, file.fileno(), -1, False, 0, 0, "r")
        return c_reader.rank(judgments, file.fileno(), 0, 0, "r")

    def stop(*_: Any) -> None:
        raise Stopped

    def seconds(function: Callable[[Any], Any]) -> float:
        with open(path if path.exists() else os.devnull, "rb") as file:  # before the timer starts
            began = time.thread_time()
            function(file)
            return time.thread_time() - began

    def stopped(file: Any) -> None:
        with pytest.raises(Stopped):
            _ = signal.setitimer(signal.ITIMER_REAL, whole / 10), read(file), signal.pause()

    whole = min(seconds(read) for _ in range(3))
    before = signal.signal(signal.SIGALRM, stop)
    try:
        best = min(seconds(stopped) for _ in range(10))  # of the processor: the machine may be busy
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert best < 0.7 * whole


@needs_c
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers on this system")
def test_a_signal_stops_a_read_that_waits() -> None:
    def stop(*_: Any) -> None:
        raise Stopped

    into, out = os.pipe()
    before = signal.signal(signal.SIGALRM, stop)
    closing = threading.Timer(20, os.close, (out,))  # so that a reader that does not stop ends
    closing.start()
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(Stopped):
            c_reader.judge(into, "q")
        assert closing.is_alive()
    finally:
        closing.cancel()
        signal.signal(signal.SIGALRM, before)
        os.close(into)
        with contextlib.suppress(OSError):
            os.close(out)


# ---- parts of a file ----


def big_run(topics: int = 12, depth: int = 40) -> list[str]:
    rng = random.Random(5)
    return [f"{401 + t} Q0 d{rng.randrange(10**6)}-{i} {i} {depth - i} t" for t in range(topics) for i in range(depth)]


def in_parts(
    monkeypatch: pytest.MonkeyPatch, path: str, qrels: Any, ties: str = "docno", duplicates: str = "error", n: int = 4
) -> tuple[Any, int]:
    """The run ranked in parts, and how many there were."""
    monkeypatch.setattr(read, "_BIG_FILE", 1)
    run = amble.read_runs(path)[0]
    parts = run.parts(n)
    if not is_compiled("reader"):
        assert parts == []
        return run.rank(qrels, ties, duplicates), 0
    assert parts[0][0] == 0
    assert sum(length for _, length in parts) == os.path.getsize(path)
    each = lambda function, items: [function(item) for item in items]  # noqa: E731
    return run.rank_parts(qrels, parts, ties, duplicates, each), len(parts)


def same_ranked(a: Any, b: Any) -> bool:
    return (a.lists == b.lists).all() and (a.hits == b.hits).all() and (a.extra, a.tag) == (b.extra, b.tag)


@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
def test_parts_give_what_the_whole_gives(monkeypatch: pytest.MonkeyPatch, write: Any, bom: bytes) -> None:
    lines = big_run()
    path = write("big.run", bom + text(*lines, end="\r\n# comment\r\n"))
    qrels = amble.read_qrels({line.split()[0]: {line.split()[2]: 1} for line in lines[::3] if line < "411"})
    for ties in ("docno", "rank", "file"):
        got, n = in_parts(monkeypatch, path, qrels, ties)
        assert n == 4 or not is_compiled("reader")
        whole = amble.read_runs(path)[0].rank(qrels, ties)
        assert same_ranked(got, whole)
        assert whole.lists[:, 1].tolist() == [40] * 10
        assert whole.extra == ["411", "412"]


def test_parts_of_a_file_with_a_split_topic(monkeypatch: pytest.MonkeyPatch, write: Any) -> None:
    lines = big_run()
    path = write("big.run", text(*lines, "401 Q0 last 1 99 t", "450 Q0 x 1 1 t"))
    qrels = amble.read_qrels({"401": {"last": 1, lines[0].split()[2]: 1}, "402": {"none": 1}})
    got, _ = in_parts(monkeypatch, path, qrels)
    # the late line has the best score: rank 1; the first line (score 40) is pushed to rank 2 of 41
    assert got.lists[:, :2].tolist() == [[0, 41], [1, 40]]
    assert got.hits.tolist() == [[1, 0, 1, 1], [2, 1, 2, 1]]
    assert same_ranked(got, amble.read_runs(path)[0].rank(qrels))
    # a topic that nobody judged may be split as well
    got, _ = in_parts(monkeypatch, path, amble.read_qrels({"402": {"none": 1}}))
    assert got.extra == [str(t) for t in (401, *range(403, 413), 450)]


def test_an_error_in_a_later_part_has_its_line(monkeypatch: pytest.MonkeyPatch, write: Any) -> None:
    lines = big_run()
    qrels = amble.read_qrels({"401": {"x": 1}})
    wrong = write("wrong.run", text(*lines[:300], "412 Q0 x 1 high t", *lines[300:]))
    with pytest.raises(ReadError) as error:
        in_parts(monkeypatch, wrong, qrels)
    assert str(error.value) == f"{wrong}:301: score 'high' is not a decimal number"
    twice = write("twice.run", text(*lines[:360], lines[355], *lines[360:]))
    with pytest.raises(ReadError) as error:
        in_parts(monkeypatch, twice, qrels)
    doc = lines[355].split()[2]
    assert str(error.value) == f"{twice}:361: document '{doc}' appears twice for topic '409' (first on line 356)"
    got, _ = in_parts(monkeypatch, twice, amble.read_qrels({"409": {doc: 1}}), duplicates="best")
    assert got.lists.tolist() == [[0, 40, 0, 1, 1, 0]]
    split = write("split.run", text(*lines, lines[3]))  # in the first part and in the last
    with pytest.raises(ReadError, match=r":481: document .* appears twice for topic '401' \(first on line 4\)"):
        in_parts(monkeypatch, split, qrels)


def test_threads_read_parts(monkeypatch: pytest.MonkeyPatch, write: Any) -> None:
    monkeypatch.setattr(read, "_BIG_FILE", 1)
    lines = big_run()
    path = write("big.run", text(*lines))
    qrels = amble.read_qrels({line.split()[0]: {line.split()[2]: 1} for line in lines[::7]})
    one, three = (amble.align(qrels, path, threads=n) for n in (1, 3))
    assert (one.rank == three.rank).all()
    assert (one.row == three.row).all()
    assert str(one.audit) == str(three.audit)


@needs_c
def test_pieces_stop_where_they_are_told() -> None:
    run = text("401 Q0 a 1 1 t", "402 Q0 a 1 2 u", "403 Q0 a 1 3 v")
    judgments = judge(c_reader, text("401 0 a 1", "402 0 a 1", "403 0 a 1"))
    length = len(run) // 3
    for piece in range(3):
        source = io.BytesIO(run[piece * length :])
        lists, _, extra, tag = c_reader.rank_stream(judgments, source, length, piece > 0, 0, 0, "r")
        assert np.frombuffer(lists, np.int64).tolist() == [piece, 1, 0, 0, 1, 0]
        assert (extra, tag) == ([], "tuv"[piece])
    with pytest.raises(ValueError, match="parts"):
        plain.rank_stream(judge(plain, QRELS), io.BytesIO(run), length, False, 0, 0, "r")


# ---- purity, and the two readers beside each other ----


def test_the_same_call_twice(reader: Any) -> None:
    table = {"401": {"a": 1, "b": 2.5, "é": 0}, "402": {"a": 3}}
    columns = (["401", "401", "402"], ["a", "b", "a"], [1, 2.5, 3])
    before = copy.deepcopy((table, columns))
    judgments = judge(reader, QRELS)
    described = reader.describe(judgments), reader.documents(judgments)
    for origin in (table, columns):
        assert judged(reader, origin) == judged(reader, origin)
        for ties in (DOCNO, FILE):
            for best in (0, 1):
                for with_judgments in (judgments, None):
                    calls = [raw_rank(reader, with_judgments, origin, ties, best) for _ in range(2)]
                    assert calls[0] == calls[1]
    assert (table, columns) == before
    assert (reader.describe(judgments), reader.documents(judgments)) == described


def test_no_reference_is_kept(reader: Any) -> None:
    name, topic, value = f"a name {id(reader)}", f"a topic {id(reader)}", 1234.5678
    table, columns = {topic: {name: value}}, ([topic] * 2, [name, "b"], [value] * 2)
    things = (name, topic, value, table, table[topic], *columns)
    judgments = judge(reader, QRELS)
    before = [sys.getrefcount(thing) for thing in things]
    for origin in (table, columns):
        for _ in range(10):
            judge(reader, origin)
            raw_rank(reader, judgments, origin)
            raw_rank(reader, None, origin)
            outcome(judge, reader, {topic: {name: "x"}})
            outcome(raw_rank, reader, None, ([topic] * 2, [name] * 2, [value] * 2))
    assert [sys.getrefcount(thing) for thing in things] == before


def test_threads_share_judgments(reader: Any) -> None:
    run = text(*(f"{t} Q0 d{i} {i} {i % 7}" for t in range(20) for i in range(30)))
    judgments = judge(reader, text(*(f"{t} 0 d{i} 1" for t in range(0, 20, 2) for i in range(0, 30, 3))))
    expected = raw_rank(reader, judgments, run)
    got: list[Any] = []

    def work() -> None:
        for how in ("stream", "whole") * 3:
            got.append(raw_rank(reader, judgments, Pieces(run, 97) if how == "whole" else run, how=how) == expected)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == [True] * 24


def mutated(rng: random.Random, lines: list[bytes]) -> bytes:
    """A file after a few small accidents; `fuzz/` has larger ones."""
    for _ in range(rng.randrange(4)):
        at = rng.randrange(len(lines))
        accident = rng.randrange(5)
        if accident == 0:
            lines.insert(rng.randrange(len(lines)), lines[at])
        elif accident == 1:
            rng.shuffle(lines)
        elif accident == 2:
            lines[at] = lines[at][: rng.randrange(len(lines[at]) + 1)]
        elif accident == 3:
            lines[at] += rng.choice([b" x", b"\r", b"\x00", b"#", b"9", b"e9", b"\xff"])
        else:
            lines.insert(at, rng.choice([b"", b"# c", b"\t", b"1 2 3 4 5 6", b"x" * 100]))
    data = rng.choice([b"", b"\xef\xbb\xbf"]) + b"\n".join(lines) + rng.choice([b"", b"\n"])
    if rng.random() < 0.3 and data:
        at = rng.randrange(len(data))
        data = data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
    return data


@needs_c
def test_the_two_readers_agree() -> None:
    rng = random.Random(2024)
    for _ in range(400):
        topics = rng.sample([b"401", b"40", b"x\xe9", b"T" * 70], rng.randrange(1, 4))
        docs = [b"d%d" % i for i in range(9)] + [b"y" * 16, b"y" * 17, b"z" * 65, b"\xff", "é".encode()]
        qrels = mutated(rng, [b"%b 0 %b %d" % (t, d, rng.randrange(3)) for t in topics for d in rng.sample(docs, 5)])
        run = mutated(
            rng,
            [
                b"%b Q0 %b %d %d.5 t" % (t, d, rng.randrange(9), rng.randrange(4))
                for t in topics
                for d in rng.sample(docs, 8)
            ],
        )

        def both(reader: Any, qrels: bytes = qrels) -> Any:
            judgments = judge(reader, qrels)
            return reader.describe(judgments), reader.documents(judgments)

        assert outcome(both, c_reader) == outcome(both, plain)
        ours, theirs = judge(c_reader, QRELS), judge(plain, QRELS)
        ties, best = rng.randrange(3), rng.randrange(2)
        for how in ("stream", "whole"):
            assert outcome(raw_rank, c_reader, ours, run, ties, best, how) == outcome(
                raw_rank, plain, theirs, run, ties, best, how
            )
        assert outcome(raw_rank, c_reader, None, run, ties, best) == outcome(raw_rank, plain, None, run, ties, best)


NAMES = st.one_of(st.sampled_from(["a", "b", "é", "\udcc3\udca9", "", "a\0"]), st.text(max_size=20))
VALUES = st.one_of(st.integers(-3, 3), st.floats(width=32), st.sampled_from([None, "1", 10**400, True, Decimal(1)]))


@needs_c
@given(
    st.one_of(
        st.dictionaries(NAMES, st.dictionaries(NAMES, VALUES, max_size=6), max_size=4),
        st.lists(st.tuples(NAMES, NAMES, VALUES), max_size=12).map(
            lambda rows: tuple(map(list, zip(*rows, strict=True)))
        ),
    ),
    st.sampled_from([DOCNO, FILE]),
    st.sampled_from([0, 1]),
)
@examples(200)
def test_the_two_readers_agree_on_tables(table: Any, ties: int, best: int) -> None:
    table = table or {}
    for judgments in (lambda _: None, lambda reader: judge(reader, {"a": {"a": 1, "é": 2}, "": {"b": 0}})):
        results = [outcome(raw_rank, reader, judgments(reader), table, ties, best) for reader in READERS]
        assert results[0] == results[1]
    results = [outcome(lambda reader: reader.describe(judge(reader, table)), reader) for reader in READERS]
    assert results[0] == results[1]


def test_the_reader_in_use() -> None:
    pure = os.environ.get("AMBLE_PURE", "") not in ("", "0")
    assert is_compiled("reader") == (c_reader is not None and not pure)


@pytest.mark.parametrize("ties", [0, 1, 2])
def test_hits_without_their_groups(ties: int) -> None:
    """A flag on the rule for ties leaves the groups of equal scores out, and changes nothing else."""
    text = b"1 Q0 a 3 5 t\n1 Q0 b 2 5 t\n1 Q0 c 1 7 t\n2 Q0 a 1 1 t\n"
    for module in [plain, *([c_reader] if c_reader else [])]:
        judgments = module.judge({"1": {"a": 1, "b": 0, "c": 2}, "2": {"a": 1}}, "q")
        lists, hits, extra, tag = module.rank(judgments, io.BytesIO(text), ties, 0, "r")
        short = module.rank(judgments, io.BytesIO(text), ties + plain.NO_GROUPS, 0, "r")
        assert short[0] == lists
        assert short[2:] == (extra, tag)
        wide = np.frombuffer(hits, np.int32).reshape(-1, 4)
        assert np.array_equal(np.frombuffer(short[1], np.int32).reshape(-1, 2), wide[:, :2])


# as floats the scores of a, b and c are one number, 16777216; d's is the next float
CLOSE = {"a": 16777216.5, "b": 16777216.25, "c": 16777216.0, "d": 16777214.0}


def test_scores_as_floats(reader: Any, how: str) -> None:
    """As trec_eval 9 compares them: equal scores by docno, descending, so c, b, a."""
    run = text(*(f"1 Q0 {doc} {9 - i} {score!r} t" for i, (doc, score) in enumerate(CLOSE.items())))
    qrels = {"1": dict.fromkeys(CLOSE, 1)}
    doubles = [(doc, i, i, 1) for i, doc in enumerate("abcd", 1)]
    assert ranked(reader, qrels, run, how=how)["1"] == doubles
    floats = {
        DOCNO: [("c", 1, 1, 3), ("b", 2, 1, 3), ("a", 3, 1, 3), ("d", 4, 4, 1)],
        RANK: [("c", 1, 1, 3), ("b", 2, 1, 3), ("a", 3, 1, 3), ("d", 4, 4, 1)],  # ranks 9, 8, 7, 6
        FILE: [("a", 1, 1, 3), ("b", 2, 1, 3), ("c", 3, 1, 3), ("d", 4, 4, 1)],
    }
    for ties, expected in floats.items():
        assert ranked(reader, qrels, run, how=how, ties=ties + plain.SINGLE)["1"] == expected
        if ties != RANK:
            assert ranked(reader, qrels, {"1": CLOSE}, ties=ties + plain.SINGLE)["1"] == expected
        moved = [raw_rank(reader, judge(reader, qrels), run, how=how, ties=ties + flag) for flag in (0, plain.SINGLE)]
        assert [np.frombuffer(raw[0], np.int64).tolist()[5] for raw in moved] == [int(ties != FILE), 0]
    table = {"1": {"a": 1e300, "b": 2e300, "c": -1e-50, "d": -0.0, "e": 1.0}}  # beyond floats, and below them
    got = ranked(reader, {"1": dict.fromkeys("abcde", 1)}, table, ties=plain.SINGLE)["1"]
    assert [doc for doc, *_ in got] == ["b", "a", "e", "d", "c"]


@given(
    st.lists(st.tuples(st.sampled_from("abcdefgh"), st.integers(0, 4), st.integers(0, 3)), unique_by=lambda x: x[0]),
    st.sampled_from([0, 1, 2]),
)
def test_whether_floats_change_the_order(rows: list[tuple[str, int, int]], ties: int) -> None:
    """The order as floats is that of a run whose scores numpy rounded; the flag says whether it is another one."""
    run = [f"1 Q0 {doc} {rank} {1 + score * 4e-8!r} t" for doc, score, rank in rows]
    rounded = [f"1 Q0 {doc} {rank} {float(np.float32(1 + score * 4e-8))!r} t" for doc, score, rank in rows]
    qrels = {"1": dict.fromkeys("abcdefgh", 1)}
    for reader in READERS:
        as_doubles = ranked(reader, qrels, text(*run), ties=ties)
        as_floats = ranked(reader, qrels, text(*run), ties=ties + plain.SINGLE)
        assert as_floats == ranked(reader, qrels, text(*rounded), ties=ties)
        raw = raw_rank(reader, judge(reader, qrels), text(*run), ties)[0]
        changed = [[doc for doc, *_ in of["1"]] for of in (as_doubles, as_floats)] if rows else [0, 0]
        assert np.frombuffer(raw, np.int64).tolist()[5:] == ([int(changed[0] != changed[1])] if rows else [])


class OtherDict(dict[str, Any]):
    """A dictionary that is not plain, so that it is copied, and duplicates are looked for."""


@needs_c
def test_plain_dictionaries_are_read_as_others_are() -> None:
    rng = random.Random(5)
    names = [*(f"d{i}" for i in range(20)), "a document with a long name", "é", "日本", ""]
    for _ in range(200):
        qrels = {
            f"t{t}": {d: rng.randint(-1, 3) for d in rng.sample(names, rng.randint(0, 20))}
            for t in range(rng.randint(0, 5))
        }
        run = {
            f"t{t}": {
                d: rng.choice([1, 2.5, 2.5 + 1e-9, np.float64(3), -0.0]) for d in rng.sample(names, rng.randint(0, 24))
            }
            for t in rng.sample(range(8), rng.randint(0, 8))
        }
        quick, other = c_reader.judge(qrels, "q"), c_reader.judge(OtherDict(qrels), "q")
        assert c_reader.describe(quick) == c_reader.describe(other)
        assert c_reader.documents(quick) == c_reader.documents(other)
        ties = rng.choice([0, 2]) + rng.choice([0, 4]) + rng.choice([0, 8])
        expected = plain.rank(plain.judge(qrels, "q"), run, ties, 0, "r")
        for judgments in (quick, other):
            for table in (run, OtherDict(run), {topic: OtherDict(docs) for topic, docs in run.items()}):
                assert c_reader.rank(judgments, table, ties, 0, "r") == expected
