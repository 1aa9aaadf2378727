"""Logs are read and counted: by hand, against a plain count, from every kind of file; what is broken is found."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import zstandard
from drawing import examples
from hypothesis import given
from hypothesis import strategies as st

from amble.errors import AmbleError, ReadError
from amble.logs import read_log
from amble.logs.counts import GROUPS, Counts
from amble.logs.engine import Engine
from amble.progress import Progress

duckdb = pytest.importorskip("duckdb", reason="logs need the extra")

Write = Callable[[str, str | bytes], str]

# session 1: a page of four, clicks at ranks 3, 1, 1; after 40 s another query of the same session, clicked at rank 2;
# session 2: a page without a click; session 3: a click on what is not on the page, and one at rank 4
RELPRED = """\
1	0	Q	why	0	a	b	c	d
1	10	C	c
1	14	C	a
1	20	C	a
1	40	Q	how	0	e	f	g	h
1	43	C	f
2	0	Q	why	0	a	b	c	d
3	0	Q	why	0	a	b	c	d
3	5	C	z
3	9	C	d
"""

TABLE = [  # the same as rows of a table; what is not on the page has no rank, so that click is left out
    ("1", "why", "", 0, "query", "", ""),
    ("1", "why", 3, 10, "click", "c", 1),
    ("1", "why", 1, 14, "click", "a", 0),
    ("1", "why", 1, 20, "click", "a", 0),
    ("1", "how", "", 40, "query", "", ""),
    ("1", "how", 2, 43, "click", "f", 2),
    ("2", "why", "", 0, "query", "", ""),
    ("2", "why", 4, 0, "show", "d", 1),
    ("3", "why", "", 0, "query", "", ""),
    ("3", "why", 4, 9, "click", "d", 1),
]
HEAD = ("session", "query", "rank", "time", "action", "doc", "grade")


def text(rows: list[tuple[object, ...]], delimiter: str = "\t", head: tuple[str, ...] = HEAD) -> str:
    return "".join(delimiter.join(map(str, row)) + "\n" for row in [head, *rows])


def by_hand(counts: Counts) -> None:
    facts, whole = counts.facts, counts.whole()
    assert (facts.sessions, facts.pages, facts.clicks) == (3, 4, 5)
    assert (facts.moves, facts.backward, facts.repeated) == (2, 1, 1)
    assert counts.depth == 4
    moves = np.zeros((5, 5))
    moves[0, 3] = moves[3, 1] = moves[1, 1] = moves[1, 0] = 1  # session 1, first page
    moves[0, 2] = moves[2, 0] = moves[0, 4] = moves[4, 0] = 1  # its second page, and session 3
    assert whole.moves[0].tolist() == moves.tolist()
    extremes = np.zeros((5, 5))
    extremes[1, 3] = extremes[2, 2] = extremes[0, 0] = extremes[4, 4] = 1
    assert whole.extremes[0].tolist() == extremes.tolist()
    assert whole.clicked[0].tolist() == [1, 1, 1, 1]
    # from rank 3 after 4 s, from rank 1 after 6 s; gaps 4 and 6
    assert whole.dwell[0].tolist() == [[1, 6], [0, 0], [1, 4], [0, 0]]
    # and the last visit of the first page, ended by the next query after 20 s
    assert whole.dwell_censored[0].tolist() == [[2, 26], [0, 0], [1, 4], [0, 0]]
    assert facts.quartiles[1] == 5
    assert whole.pages[0] == 4
    assert len(counts.pages) == GROUPS


def test_relpred_by_hand(write: Write) -> None:
    counts = read_log(write("log.tsv", RELPRED))
    by_hand(counts)
    assert counts.facts.records == 10
    assert counts.facts.elsewhere == 1


def test_sessions_stay_together(write: Write) -> None:
    counts = read_log(write("log.tsv", RELPRED))
    assert sorted(counts.pages[counts.pages > 0].tolist()) == [1, 1, 2]
    assert counts.present.size == 3


@pytest.mark.parametrize("kind", ["tsv", "csv", "semicolon", "gz", "zst", "parquet", "json", "jsonl", "jsonl.gz"])
def test_every_kind_of_table(kind: str, tmp_path: Path, write: Write) -> None:
    objects = [dict(zip(HEAD, row, strict=True)) for row in TABLE]
    lines = "".join(json.dumps(row) + "\n" for row in objects)
    made: dict[str, Callable[[], str]] = {
        "tsv": lambda: write("log.tsv", text(TABLE)),
        "csv": lambda: write("log.csv", text(TABLE, ",").replace("why", '"w,h""y"')),
        "semicolon": lambda: write("log.txt", text(TABLE, ";")),
        "gz": lambda: write("log", gzip.compress(text(TABLE).encode())),  # told by its bytes, not its name
        "zst": lambda: write("log.tsv.zst", zstandard.compress(text(TABLE).encode())),
        "json": lambda: write("log.json", json.dumps(objects)),
        "jsonl": lambda: write("log.jsonl", lines),
        "jsonl.gz": lambda: write("log.jsonl.gz", gzip.compress(lines.encode())),
    }
    if kind == "parquet":
        path = str(tmp_path / "log.parquet")
        source = write("log.tsv", text(TABLE))
        duckdb.sql(f"copy (select * from read_csv('{source}', all_varchar=true)) to '{path}'")
    else:
        path = made[kind]()
    counts = read_log(path, "table")
    by_hand(counts)
    assert counts.facts.grades == (0, 1, 2)
    assert counts.facts.judged == 5  # ranks 3 and 1 of a page, 2 of another, 4 of two
    assert counts.facts.records == 10


def test_many_files_and_patterns(tmp_path: Path) -> None:
    first, second = RELPRED.splitlines(keepends=True)[:6], RELPRED.splitlines(keepends=True)[6:]
    (tmp_path / "log-1.tsv").write_text("".join(first))
    (tmp_path / "log-2.tsv.gz").write_bytes(gzip.compress("".join(second).encode()))
    by_hand(read_log([tmp_path / "log-1.tsv", tmp_path / "log-2.tsv.gz"]))
    by_hand(read_log(str(tmp_path / "log-*")))
    by_hand(read_log([tmp_path / "log-2.tsv.gz", tmp_path / "log-1.tsv"]))  # the order of sessions is no matter
    with pytest.raises(ReadError, match=r"log-3\*: no file has such a name"):
        read_log(str(tmp_path / "log-3*"))
    with pytest.raises(ReadError, match="given twice"):
        read_log([tmp_path / "log-1.tsv"] * 2)
    with pytest.raises(ReadError, match="no such file"):
        read_log(tmp_path / "log.tsv")
    with pytest.raises(ReadError, match="directory"):
        read_log(tmp_path)


def test_a_file_by_another_name_is_the_same(write: Write, tmp_path: Path) -> None:
    path = write("log.tsv", RELPRED)
    with pytest.raises(ReadError, match="given twice"):
        read_log([path, str(tmp_path / ".." / tmp_path.name / "log.tsv")])


def test_sessions_between_each_other(write: Write) -> None:
    path = write("log.tsv", "1\t0\tQ\tq\t0\ta\tb\n2\t1\tQ\tq\t0\ta\tb\n1\t2\tC\tb\n")
    with pytest.raises(ReadError, match=r"log.tsv:3: .*lines of a session stand together"):
        read_log(path)


def test_a_line_earlier_than_the_one_before(write: Write) -> None:
    # the clicks in order of time: rank 1 at 10, rank 2 at 30; after the line of the later one comes an earlier line,
    # so that 20 s at rank 1 are known, and nothing of rank 2; times that differ by more than a number can hold are none
    counts = read_log(write("log.tsv", "1\t0\tQ\tq\t0\ta\tb\n1\t30\tC\tb\n1\t10\tC\ta\n")).whole()
    assert counts.dwell_censored[0].tolist() == [[1, 20], [0, 0]]
    counts = read_log(write("log.tsv", "1\t0\tQ\tq\t0\ta\tb\n1\t-1.7e308\tC\tb\n1\t1.7e308\tC\ta\n")).whole()
    assert not counts.dwell.any()
    assert not counts.dwell_censored.any()


def test_lines_as_other_systems_write_them(write: Write) -> None:
    by_hand(read_log(write("log.tsv", RELPRED.replace("\n", "\r\n"))))
    by_hand(read_log(write("log.tsv", "\n\n" + RELPRED.replace("\n", "\n\n").rstrip())))
    odd = RELPRED.replace("why", "\"'\x00 ü Ü \u4e2d \U0001f600")  # quotes, NUL, letters of all lengths
    by_hand(read_log(write("log.tsv", odd)))


def test_bytes_that_end_no_line(write: Write) -> None:
    # every byte of ASCII but the tab and those that end lines, in a query
    odd = "".join(chr(i) for i in range(128) if chr(i) not in "\t\r\n")
    by_hand(read_log(write("log.tsv", RELPRED.replace("why", odd))))


def test_tables_whose_lines_end_in_a_carriage_return(write: Write) -> None:
    made = text(TABLE, ",").replace("\n", "\r")
    by_hand(read_log(write("log.csv", made), "table"))
    path = write("log.csv", made + "1,why,0,3,click,c,1\r")
    with pytest.raises(ReadError) as error:
        read_log(path, "table")
    assert str(error.value) == f"{path}:12: the rank is not a whole number from 1 on"


# ---- just what was given is read


def test_names_are_taken_as_they_are(tmp_path: Path, write: Write) -> None:
    """A file that is there is no pattern, whatever other files are called: in its own name, and in a folder's."""
    write("log1.tsv", "1\t0\tQ\twhy\t0\ta\n1\t1\tC\ta\n")
    write("logs.tsv", "no log")
    for name in ("log[1].tsv", "log?.tsv", "log*.tsv", "it's.tsv", "log{files}.tsv"):
        by_hand(read_log(write(name, RELPRED)))
    (tmp_path / "d1").mkdir()
    (tmp_path / "d[1]").mkdir()
    write("d1/log.tsv", "no log")
    by_hand(read_log(write("d[1]/log.tsv", RELPRED), folder=str(tmp_path / "d[1]")))
    by_hand(read_log(write("d[1]/log.csv", text(TABLE, ",")), "table"))


def test_a_name_that_is_not_utf8(tmp_path: Path) -> None:
    path = os.fsdecode(os.fsencode(tmp_path) + b"/log-\xff.tsv")
    Path(path).write_text(RELPRED)
    by_hand(read_log(path))
    Path(path).write_text(RELPRED + "x\n")
    with pytest.raises(ReadError) as error:
        read_log(path)
    assert str(error.value) == f"{path}:11: the third column is neither Q nor C"
    folder = os.fsdecode(os.fsencode(tmp_path) + b"/\xff")
    os.mkdir(folder)
    with pytest.raises(AmbleError, match="not UTF-8, expected another temporary folder"):
        read_log(path, folder=folder)
    assert os.listdir(folder) == []


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_the_name_of_a_folder_is_no_column(kind: str, tmp_path: Path) -> None:
    folder = tmp_path / "rank=7" / "time=0"
    folder.mkdir(parents=True)
    path = str(folder / f"log.{kind}")
    if kind == "csv":
        Path(path).write_text(text(TABLE, ","))
    elif kind == "jsonl":
        Path(path).write_text("".join(json.dumps(dict(zip(HEAD, row, strict=True))) + "\n" for row in TABLE))
    else:
        rows = folder / "log.csv"
        rows.write_text(text(TABLE, ","))
        duckdb.sql(f"copy (select * from read_csv('{rows}', all_varchar=true, hive_partitioning=false)) to '{path}'")
    by_hand(read_log(path, "table"))
    by_hand(read_log(path, "table", folder=str(folder)))  # nor is that of the folder for temporary files


def test_keys_that_come_late(tmp_path: Path, write: Write) -> None:
    """A key that is first seen in record 30,001, or in the fortieth file, is a column."""
    first = '{"session": "x", "rank": 1}\n'
    last = '{"session": "y", "rank": 1, "time": 0}\n{"session": "y", "rank": 2, "time": 30}\n'
    with pytest.raises(ReadError, match="30,000 broken records: .*log.jsonl: record 1: the time is not a number"):
        read_log(write("log.jsonl", first * 30_000 + last), "table")
    for i in range(40):
        write(f"log-{i:02}.jsonl", first if i < 39 else last)
    with pytest.raises(ReadError, match="39 broken records: .*log-00.jsonl: record 1: the time is not a number"):
        read_log(str(tmp_path / "log-*"), "table")
    wide = "".join(json.dumps({"session": "x", "rank": 1, f"key {i}": i}) + "\n" for i in range(300))
    assert read_log(write("wide.jsonl", wide), "table").facts.clicks == 300


def test_nothing_is_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "http:" / "example.org").mkdir(parents=True)
    (tmp_path / "http:" / "example.org" / "log.tsv").write_text(RELPRED)
    monkeypatch.chdir(tmp_path)
    by_hand(read_log("http:/example.org/log.tsv"))
    with Engine() as engine:
        for setting in ("autoinstall_known_extensions", "autoload_known_extensions"):
            assert engine.run(f"select current_setting('{setting}')") == [(False,)]


# ---- compressed logs

PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "zst": zstandard.ZstdCompressor(write_checksum=True).compress,
    "xz": lzma.compress,
    "bz2": bz2.compress,
}


@pytest.mark.parametrize("kind", PACKERS)
def test_members_one_after_another(kind: str, write: Write) -> None:
    first, second = RELPRED[:60].encode(), RELPRED[60:].encode()
    pack = PACKERS[kind]
    by_hand(read_log(write(f"log.tsv.{kind}", pack(first) + pack(second))))
    table = text(TABLE, ",").encode()
    by_hand(read_log(write(f"log.csv.{kind}", pack(table[:60]) + pack(table[60:])), "table"))


@pytest.mark.parametrize("kind", PACKERS)
def test_damaged_logs_are_refused(kind: str, write: Write, tmp_path: Path) -> None:
    """Cut off, followed by what is no member, a damaged second member, one bit in the checksum: never fewer records."""
    whole = PACKERS[kind](RELPRED.encode())
    second = PACKERS[kind](RELPRED.replace("why", "who").encode())
    flipped = bytearray(whole)
    flipped[-6 if kind in ("gz", "bz2") else -3 if kind == "zst" else -20] ^= 1
    damaged = {
        "cut": whole[:-1],
        "in half": whole[: len(whole) // 2],
        "garbage": whole + b"garbage",
        "second in half": whole + second[: len(second) // 2],
        "checksum": bytes(flipped),
    }
    spare = tmp_path / "spare"
    spare.mkdir()
    for data in damaged.values():
        path = write(f"log.tsv.{kind}", data)
        with pytest.raises(ReadError, match=f"broken {'bzip2' if kind == 'bz2' else kind[:2]}"):
            read_log(path, folder=str(spare))
        assert Path(path).read_bytes() == data
        assert list(spare.iterdir()) == []


def test_columns_have_other_names(write: Write) -> None:
    head = ("sid", "q", "pos", "ts", "what", "url", "label")
    path = write("log.csv", text(TABLE, ",", head))
    columns = {"session": "sid", "query": "q", "rank": "pos", "time": "ts", "action": "what", "grade": "label"}
    by_hand(read_log(path, "table", columns=columns))
    with pytest.raises(ReadError, match="no column 'when', found sid, q, pos"):
        read_log(path, "table", columns={"time": "when"})
    with pytest.raises(
        ReadError, match="no column for the session, found sid, q, pos.*say which it is, as session=NAME"
    ):
        read_log(path, "table")
    with pytest.raises(AmbleError, match="columns: 'click', expected some of session, query, rank"):
        read_log(path, "table", columns={"click": "what"})


def test_actions_times_and_units(write: Write) -> None:
    rows = [
        (s, q, r, 1000 * t, {"click": "TAP", "query": "serp", "show": "s"}[a], d, g) for s, q, r, t, a, d, g in TABLE
    ]
    path = write("log.tsv", text(rows))
    by_hand(read_log(path, "table", actions={"click": ["tap"], "query": ["SERP"]}, unit="ms"))
    stamps = [(*row[:3], f"2026-11-16 10:00:{row[3]:02d}", *row[4:]) for row in TABLE]
    by_hand(read_log(write("stamps.tsv", text(stamps)), "table"))
    with pytest.raises(AmbleError, match="actions: 'tap', expected some of click, query, show, end"):
        read_log(path, "table", actions={"tap": ["click"]})
    bare = write("bare.csv", "session,rank\n1,2\n1,1\n")
    with pytest.raises(ReadError, match=r"bare\.csv: no column for the action, so no words for it; say which it is"):
        read_log(bare, "table", actions={"click": ["zzz"]})


def test_end_of_a_session_ends_its_last_visit(write: Write) -> None:
    rows = [("1", 2, 0, "click"), ("1", "", 7.5, "end"), ("2", 2, 0, "click")]
    counts = read_log(write("log.tsv", text(rows, head=("session", "rank", "time", "action"))), "table").whole()
    assert counts.dwell_censored[0].tolist() == [[0, 0], [1, 7.5]]
    assert not counts.dwell.any()
    # longer than the longest: not ended, with that many seconds
    counts = read_log(
        write("log.tsv", text(rows, head=("session", "rank", "time", "action"))), "table", longest=5
    ).whole()
    assert counts.dwell_censored[0].tolist() == [[0, 0], [0, 5]]


def test_without_times_the_order_of_rows_counts(write: Write) -> None:
    counts = read_log(write("log.tsv", text([("1", 3), ("1", 1), ("2", 2)], head=("session", "rank"))), "table")
    assert (counts.facts.moves, counts.facts.backward) == (1, 1)
    assert np.isnan(counts.facts.quartiles).all()


def test_depth(write: Write) -> None:
    assert read_log(write("log.tsv", "1\t0\tQ\tq\t0" + 7 * "\ta" + "\n1\t1\tC\ta\n")).depth == 7  # that of the page
    counts = read_log(write("log.tsv", RELPRED), depth=2)
    assert counts.depth == 2
    assert counts.facts.beyond == 2  # at ranks 3 and 4
    assert counts.facts.moves == 1
    rows = [("1", 1, 0), ("1", 2000, 1), ("1", 100, 2)]
    counts = read_log(write("deep.tsv", text(rows, head=("session", "rank", "time"))), "table")
    assert (counts.depth, counts.facts.beyond, counts.facts.moves) == (100, 1, 1)
    assert counts.whole().clicked[0, 99] == 1


def test_judgments_are_joined(write: Write) -> None:
    qrels = write("qrels.txt", "why 0 a 1\nwhy 0 c 2\nhow 0 f 1\nother 0 a 3\n")
    counts = read_log(write("log.tsv", RELPRED), qrels=qrels)
    assert counts.facts.grades == (1, 2)
    assert counts.facts.judged == 7  # a and c on three pages, f on one
    # session 1, by path: forward from rank 1 (a, grade 1) to its click at 3 (c, grade 2), back from 3, stop at 1;
    # on the second page stop at rank 2 (f, grade 1); session 3: forward from ranks 1 (a) and 3 (c), stop at 4, unjudged
    steps = counts.whole().steps[0]
    assert steps[0].tolist() == [[2, 0, 1], [0, 0, 1], [0, 0, 0], [0, 0, 0]]  # grade 1, at ranks 1 to 4
    assert steps[1].tolist() == [[0, 0, 0], [0, 0, 0], [1, 1, 0], [0, 0, 0]]
    # pages with a click: to rank 3 with gains 1/3, 1/3, 1; to rank 2 with gains 0, 1/3; to rank 4 as the first
    cells, came = counts.goal_cells["last"], counts.whole().goal_counts["last"][0]
    found = {tuple(np.round(cell, 6)): tuple(n) for cell, n in zip(cells, came, strict=True)}
    third = round(1 / 3, 6)
    assert found == {(1, third): (2, 0), (1, 0): (1, 0), (2, third): (3, 1), (3, 1): (2, 1)}
    odd = {"wü": {"ä": 1, "c": 2}, "how": {"f": 1}}  # the same with names that are not ASCII
    path = write("log.tsv", RELPRED.replace("why", "wü").replace("\ta\tb", "\tä\tb").replace("C\ta", "C\tä"))
    assert read_log(path, qrels=odd).whole().steps.tolist() == counts.whole().steps.tolist()
    rows = [(s, q.replace("why", "wü"), r, t, a, d.replace("a", "ä")) for s, q, r, t, a, d, _ in TABLE]
    path = write("log.csv", text(rows, ",", HEAD[:-1]))
    assert read_log(path, "table", qrels=odd).facts.judged == 3  # c, ä and f where they were clicked
    with pytest.raises(ReadError, match="no document of the log is judged"):
        read_log(write("log.tsv", RELPRED), qrels={"what": {"a": 1}})


# ---- what is broken

BROKEN = [
    ("1\t0\tX\ta\n", "the third column is neither Q nor C"),
    ("1\tsoon\tQ\twhy\t0\ta\tb\n", "the time is not a number"),
    ("1\tnan\tQ\twhy\t0\ta\tb\n", "the time is not a number"),
    ("1\t0\tQ\twhy\t0\n", "a query with fewer than 6 columns"),
    ("1\t0\tC\n", "a click with other than 4 columns"),
    ("9\t0\tC\ta\n", "a click without a query of its session before it"),
    ("nothing\n", "the third column is neither Q nor C"),
    ("1\t0\tQ\tw\udcff\t0\ta\tb\n", "not UTF-8"),
]


@pytest.mark.parametrize(("line", "why"), BROKEN)
def test_a_broken_line_is_named(line: str, why: str, write: Write) -> None:
    lines = RELPRED.splitlines(keepends=True)
    made = "".join([*lines[:6], "\n", line, *lines[6:]])  # after an empty line
    path = write("log.tsv", made.encode("utf-8", "surrogateescape"))
    with pytest.raises(ReadError) as error:
        read_log(path)
    assert str(error.value).startswith(f"{path}:8: {why}")
    notes: list[str] = []
    counts = read_log(path, skip_broken=True, notes=notes)
    assert counts.facts.broken == 1
    assert counts.facts.records == 11
    assert notes == [f"skipped 1 broken record: {error.value}"]


def test_the_first_five_of_many(write: Write) -> None:
    one = write("log-1.tsv", RELPRED + "x\n" * 3)
    two = write("log-2.tsv.gz", gzip.compress((RELPRED + "x\n" * 4).encode()))
    with pytest.raises(ReadError) as error:
        read_log([one, two])
    said = str(error.value)
    assert said.startswith("7 broken records: ")
    for place in (f"{one}:11: ", f"{one}:13: ", f"{two}:11: ", f"{two}:12: "):
        assert place in said
    assert f"{two}:13" not in said
    assert said.endswith("; … (they can be skipped)")


TABLE_BROKEN = [
    (("1", "why", "first", 3, "click", "c", 1), "the rank is not a whole number from 1 on"),
    (("1", "why", 0, 3, "click", "c", 1), "the rank is not a whole number from 1 on"),
    (("1", "why", 1.5, 3, "click", "c", 1), "the rank is not a whole number from 1 on"),
    (("1", "why", 1, "inf", "click", "c", 1), "the time is not a number"),
    (("1", "why", 1, 3, "swipe", "c", 1), "the action is none that is known"),
    (("1", "why", 1, 3, "click", "c", "good"), "the grade is not a number"),
    (("", "why", 1, 3, "click", "c", 1), "no session"),
    (("1", "why"), "missing columns, expected 7"),
    (("1", "why", 1, 3, "click", "c", 1, 2), "too many columns, expected 7"),
]


@pytest.mark.parametrize(("row", "why"), TABLE_BROKEN)
def test_a_broken_row_is_named(row: tuple[object, ...], why: str, write: Write) -> None:
    path = write("log.csv", text([*TABLE[:4], row, *TABLE[4:]], ","))
    with pytest.raises(ReadError) as error:
        read_log(path, "table")
    assert str(error.value).split("; actions: ")[0] == f"{path}:6: {why}"
    by_hand(read_log(path, "table", skip_broken=True))


def test_broken_records_of_other_files(tmp_path: Path, write: Write) -> None:
    rows = [{"session": "a", "rank": 1}, {"session": "a", "rank": 0}]
    path = write("log.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(ReadError, match="log.jsonl: record 2: the rank is not"):
        read_log(path, "table")
    packed = str(tmp_path / "log.parquet")
    duckdb.sql(f"copy (select 'a' as session, unnest([1, 2, -1]) as rank) to '{packed}'")
    with pytest.raises(ReadError, match="log.parquet: record 3: the rank is not"):
        read_log([packed], "table")


def test_what_is_no_log(write: Write) -> None:
    with pytest.raises(ReadError, match="empty"):
        read_log(write("log.tsv", ""))
    with pytest.raises(ReadError, match="log.csv:1: empty, expected a head"):
        read_log(write("log.csv", ""), "table")
    with pytest.raises(ReadError, match="no click on a result"):
        read_log(write("log.tsv", "1\t0\tQ\twhy\t0\ta\tb\n"))
    with pytest.raises(ReadError, match="the column 'rank' twice"):
        read_log(write("log.csv", "session,rank,rank\n1,2,3\n"), "table")
    for one, other in (("session", "SESSION"), ("Rank", "rank"), ("url", "URL")):
        head = [one, other, *({"session", "rank"} - {one, other})]
        said = f": found the columns '{one}' and '{other}', expected different names, also in small letters"
        path = write("log.csv", ",".join(head) + "\n" + ",".join("1" for _ in head) + "\n")
        with pytest.raises(ReadError, match=f"log.csv:1{said}"):
            read_log(path, "table")
        with pytest.raises(ReadError, match="log.jsonl: found the columns"):
            read_log(write("log.jsonl", json.dumps(dict.fromkeys(head, 1))), "table")
        path = write("log.parquet", "")
        cells = ", ".join(f'1 as "{name}"' for name in [one, "_" * len(other), *head[2:]])
        duckdb.sql(f"copy (select {cells}) to '{path}'")
        made = Path(path).read_bytes().replace(b"_" * len(other), other.encode())
        with pytest.raises(ReadError, match=f"log.parquet{said}"):
            read_log(write("log.parquet", made), "table")
    with pytest.raises(ReadError, match="log.csv:1: longer than 65,536 bytes, expected a head"):
        read_log(write("log.csv", "session,rank," + "x" * 70_000), "table")
    with pytest.raises(ReadError, match="log.jsonl and others|files, expected all of one kind"):
        read_log([write("log.jsonl", "{}"), write("log.csv", "session,rank\n")], "table")
    with pytest.raises(ReadError):
        read_log(write("log.parquet", "no such thing"), "table")
    with pytest.raises(ReadError):
        read_log(write("log.json", "{no"), "table")
    with pytest.raises(AmbleError, match="layout='excel': expected one of 'relpred', 'table'"):
        read_log(write("log.tsv", RELPRED), "excel")
    for wrong in ({"depth": 1}, {"depth": 101}, {"longest": 0}, {"unit": "h"}, {"columns": {"rank": "r"}}):
        with pytest.raises(AmbleError):
            read_log(write("log.tsv", RELPRED), **wrong)


def test_nothing_is_left_behind(tmp_path: Path, write: Write) -> None:
    spare = tmp_path / "spare"
    spare.mkdir()
    read_log(write("log.tsv", RELPRED), folder=str(spare))
    with pytest.raises(ReadError):
        read_log(write("log.tsv", "x\n"), folder=str(spare))
    assert list(spare.iterdir()) == []
    with pytest.raises(AmbleError, match="nowhere"):
        read_log(write("log.tsv", RELPRED), folder=str(tmp_path / "nowhere"))


def test_it_tells_how_far_it_has_come(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[int, int]] = []

    class Line(Progress):
        def __init__(self, what: str) -> None:
            super().__init__(what)
            self.seen = True

        def __call__(self, done: int, total: int) -> None:
            told.append((done, total))

    monkeypatch.setattr("amble.logs.engine.Progress", Line)
    monkeypatch.setattr("amble.logs.engine._EVERY", 0.01)
    path = write("log.tsv", "".join(f"{i}\t0\tQ\tq\t0\ta\tb\n{i}\t1\tC\tb\n" for i in range(150_000)))
    read_log(path, threads=1)
    size = Path(path).stat().st_size
    assert told
    assert all(0 < done <= total == size for done, total in told)
    assert [done for done, _ in told] == sorted(done for done, _ in told)


def test_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr("amble.logs.engine.importlib.import_module", absent)
    with pytest.raises(AmbleError, match=r"logs need the extra: pip install 'amble-ir\[logs\]'"):
        Engine()


# ---- against a plain count


def plain_count(lines: list[str]) -> tuple[Counter[tuple[int, int]], Counter[tuple[int, int]], dict[int, list[float]]]:
    """Moves, extremes and gaps by rank, one line after another."""
    moves: Counter[tuple[int, int]] = Counter()
    extremes: Counter[tuple[int, int]] = Counter()
    gaps: dict[int, list[float]] = defaultdict(list)
    pages: list[tuple[list[str], list[tuple[float, int]]]] = []
    for line in lines:
        cells = line.rstrip("\n").split("\t")
        if cells[2] == "Q":
            pages.append((cells[5:], []))
        else:
            pages[-1][1].append((float(cells[1]), pages[-1][0].index(cells[3]) + 1))
    for _, clicks in pages:
        ranks = [rank for _, rank in sorted(clicks, key=lambda click: click[0])]
        moves.update(zip([0, *ranks], [*ranks, 0], strict=True) if ranks else [])
        extremes[min(ranks, default=0), max(ranks, default=0)] += 1
        times = sorted(t for t, _ in clicks)
        for rank, t, after in zip(ranks, times, times[1:], strict=False):
            gaps[rank].append(after - t)
    return moves, extremes, gaps


def check_against_plain(path: str, lines: list[str]) -> Counts:
    counts = read_log(path)
    whole = counts.whole()
    moves, extremes, gaps = plain_count(lines)
    assert {k: v for k, v in np.ndenumerate(whole.moves[0]) if v} == dict(moves)
    assert {k: v for k, v in np.ndenumerate(whole.extremes[0]) if v} == dict(extremes)
    for rank in range(1, counts.depth + 1):
        assert whole.dwell[0, rank - 1] == pytest.approx([len(gaps[rank]), sum(gaps[rank])])
    return counts


@examples(20)
@given(
    st.lists(st.lists(st.tuples(st.integers(1, 5), st.integers(0, 9)), max_size=5), min_size=1, max_size=12).filter(any)
)
def test_counts_are_those_of_a_plain_count(pages: list[list[tuple[int, int]]]) -> None:
    lines = []
    for i, clicks in enumerate(pages):
        lines.append(f"{i // 2}\t{100 * i}\tQ\tq\t0\ta\tb\tc\td\te\n")
        now = 100 * i
        for rank, gap in clicks:
            now += gap
            lines.append(f"{i // 2}\t{now}\tC\t{'abcde'[rank - 1]}\n")
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.tsv"
        path.write_text("".join(lines))
        check_against_plain(str(path), lines)


def test_a_day_of_sogou(data: Path) -> None:
    path = data / "clicks" / "sogou.relpred.tsv.gz"
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    facts = check_against_plain(str(path), lines).facts
    assert (facts.pages, facts.moves, facts.backward) == (8809, 3614, 611)
    assert round(100 * facts.backward / facts.moves, 1) == 16.9
    assert [round(x, 1) for x in facts.quartiles] == [15.3, 35.6, 90.7]
    _, _, gaps = plain_count(lines)
    from statistics import quantiles

    assert facts.quartiles == pytest.approx(quantiles([gap for some in gaps.values() for gap in some]))
