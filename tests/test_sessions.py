"""Reading sessions: tables with runs, JSON, the files of two TREC tracks; what is refused."""

from __future__ import annotations

import bz2
import gzip
import json
import math
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import session_reference as ref

import amble
from amble.errors import AmbleError

Write = Callable[[str, str | bytes], str]

QRELS = "1 0 a 2\n1 0 b 0\n1 0 é 1\n2 0 a 1\n2 0 c 3\n"
FIRST = "q1 Q0 a 1 3 x\nq1 Q0 zz 2 2 x\nq1 Q0 b 3 1 x\nq2 Q0 c 1 5 x\nq2 Q0 a 2 4 x\n"
OTHER = "q1 Q0 é 1 3 y\n"  # answers one of the two
TABLE = "# session query topic run-topic\ns1 2 2 q2\ns1 1 1 q1\n\ns2 1 1 q1\n"

TRACK = """<?xml version="1.0" encoding="utf-8"?>
<sessiontrack2014>
 <session num="7" starttime="0">
  <topic num="1"><desc>any</desc></topic>
  <interaction num="1"><query>x</query><results>
   <result rank="2"><url>http://b</url><clueweb12id>b</clueweb12id></result>
   <result rank="1"><clueweb12id> a </clueweb12id></result>
  </results></interaction>
  <interaction num="2"><results><result rank="1"><docno>é</docno></result>
   <result rank="2"><docid>a</docid></result></results></interaction>
  <currentquery><query>y</query></currentquery>
 </session>
 <session num="8"><topic num="2"/><currentquery/></session>
 <session num="9"><topic num="55"/><currentquery/></session>
</sessiontrack2014>
"""


@pytest.fixture
def table(write: Write) -> list[str]:
    """Judgments, a table of sessions, two runs."""
    return [write("qrels", QRELS), write("sessions.tsv", TABLE), write("x.run", FIRST), write("y.run", OTHER)]


def rows(sessions: amble.Sessions) -> dict[tuple[str, str], list[list[float]]]:
    """The grades of every entry, by query and rank; NaN where nobody judged."""
    out = {}
    for e in range(sessions.n):
        queries = []
        for q in range(int(sessions.first[e]), int(sessions.first[e + 1])):
            row = [math.nan] * int(sessions.length_of_query[q])
            for hit in range(int(sessions.offsets[q]), int(sessions.offsets[q + 1])):
                row[int(sessions.position[hit]) - 1] = float(sessions.grade[hit])
            queries.append(row)
        out[sessions.runs[int(sessions.run[e])], sessions.topics[int(sessions.topic[e])]] = queries
    return out


def same(found: Any, wanted: Any) -> bool:
    """Equal, and NaN where the other is NaN."""
    return found.keys() == wanted.keys() and all(
        [len(q) for q in found[key]] == [len(q) for q in wanted[key]]
        and all(np.array_equal(a, b, equal_nan=True) for a, b in zip(found[key], wanted[key], strict=True))
        for key in wanted
    )


# ---- a table and runs


def test_a_table_with_runs(table: list[str]) -> None:
    sessions = amble.read_sessions(*table)
    nan = math.nan
    wanted = {
        ("x", "s1"): [[2, nan, 0], [3, 1]],
        ("x", "s2"): [[2, nan, 0]],
        ("y", "s1"): [[1], []],
        ("y", "s2"): [[1]],
    }
    assert same(rows(sessions), wanted)
    # all judged documents of the topics of a session: 2, 0, 1 and 1, 3
    pools = [sorted(sessions.pool[a:b]) for a, b in zip(sessions.pools[:-1], sessions.pools[1:], strict=True)]
    assert pools == [[0, 1, 1, 2, 3], [0, 1, 2]]
    assert sessions.max_grade == 3
    assert sessions.again.sum() == 1  # a in s1 of x
    assert "judged documents shown again 1: count every time" in str(sessions.audit)
    assert "without documents 1" in str(sessions.audit)


def test_what_is_shown_again_counts_once_where_wanted(table: list[str]) -> None:
    every, once = amble.read_sessions(*table), amble.read_sessions(*table, repeats="once")
    score = [amble.evaluate(s, "sDCG").values[0, 0, 0] for s in (every, once)]
    # 2 + (3 + 1) / 1.5, then without the 1
    assert score == pytest.approx([2 + 4 / 1.5, 2 + 3 / 1.5])
    assert "count once, where they are shown first" in str(once.audit)
    # the best session: every time: 3, 2, 1 (rank 3) and 3, 2; once: the five places by weight, 3 2 1 1 0 in them
    log3 = math.log2(3)
    best = (3 + 2 + 1 / log3) + (3 + 2) / 1.5
    assert amble.evaluate(every, "nsDCG").values[0, 0, 0] == pytest.approx(score[0] / best)
    weights = sorted([1, 1, 1 / log3, 1 / 1.5, 1 / 1.5], reverse=True)
    best = sum(w * g for w, g in zip(weights, [3, 2, 1, 1, 0], strict=True))
    assert amble.evaluate(once, "nsDCG").values[0, 0, 0] == pytest.approx(score[1] / best)


def test_options_of_runs(table: list[str], write: Write) -> None:
    shallow = amble.read_sessions(*table, depth=1)
    assert shallow.length_of_query.tolist() == [1, 1, 1, 1, 0, 1]
    condensed = amble.read_sessions(*table, unjudged="condense")
    assert rows(condensed)["x", "s1"] == [[2, 0], [3, 1]]
    with pytest.raises(amble.AlignError, match="ties='expected'"):
        amble.read_sessions(*table, ties="expected")
    tied = write("t.run", "q1 Q0 a 1 1 t\nq1 Q0 b 2 1 t\n")
    assert rows(amble.read_sessions(*table[:2], tied))["t", "s2"] == [[0, 2]]  # by docno, b first
    assert rows(amble.read_sessions(*table[:2], tied, ties="rank"))["t", "s2"] == [[2, 0]]
    twice = write("d.run", "q1 Q0 a 1 2 d\nq1 Q0 a 2 1 d\n")
    with pytest.raises(AmbleError, match="twice"):
        amble.read_sessions(*table[:2], twice)
    assert rows(amble.read_sessions(*table[:2], twice, duplicates="best"))["d", "s2"] == [[2]]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("s1 x 1 q1\n", "sessions.tsv:1: query 'x', expected its number"),
        ("s1 1 1 q1\ns1 1 2 q2\n", "sessions.tsv:2: query 1 of session s1 is there twice"),
        ("s1 1 77 q1\n", "sessions.tsv:1: topic 77 is not in the judgments"),
        ("s1 1 1 q1\ns2 1 2 q1\n", "sessions.tsv:2: q1 is judged by topic 2, and by 1 elsewhere"),
        ("s1 1 1 q1\ns1 2 2\n", "sessions.tsv:2: found 3 columns, expected 4"),
        ("s1 -1 1 q1\n", "sessions.tsv:1: query '-1'"),
        (f"s1 {'9' * 5000} 1 q1\n", "sessions.tsv:1: query '999"),
        ("s1 ² 1 q1\n", "sessions.tsv:1: query '²'"),
        ("", "sessions.tsv: empty"),
        ("# nothing\n", "sessions.tsv: nothing but comments"),
    ],
)
def test_tables_that_are_refused(table: list[str], write: Write, content: str, said: str) -> None:
    write("sessions.tsv", content)
    with pytest.raises(AmbleError) as error:
        amble.read_sessions(*table)
    assert said in str(error.value)


def test_queries_are_in_the_order_of_their_numbers(write: Write) -> None:
    qrels, run = write("q", "7 0 a 1\n7 0 b 0\n"), write("r", "7-a Q0 a 1 1 r\n7-b Q0 b 1 1 r\n")
    sessions = amble.read_sessions(qrels, write("s", "s1\t10\t7\t7-b\ns1\t2\t7\t7-a\n"), run)
    first, last = amble.evaluate(sessions, "PerQuery(of='P@1',over='first') PerQuery(of='P@1',over='last')").means()[0]
    assert (first, last) == (1, 0)  # 2 before 10, in whatever order they are written


def test_files_that_do_not_go_together(table: list[str], tmp_path: Path) -> None:
    for arguments, said in (
        (table[:2], "expected runs with it"),
        (table[:1], "no file of sessions"),
        ((None, *table[1:]), "only JSON has grades"),
        ((table[0], str(tmp_path)), "a directory"),
        ((table[0], "missing.tsv", table[2]), "missing.tsv: no such file"),
        ((table[0], {"a": 1}), "sessions of type dict"),
    ):
        with pytest.raises(AmbleError) as error:
            amble.read_sessions(*arguments)
        assert said in str(error.value)
    for options in ({"layout": "csv"}, {"repeats": "twice"}, {"duplicates": "worst"}):
        with pytest.raises(amble.AlignError, match="expected one of"):
            amble.read_sessions(*table, **options)


def test_compressed_files(table: list[str], tmp_path: Path) -> None:
    plain = rows(amble.read_sessions(*table))
    packed = [path + ".gz" for path in table[:3]] + [table[3] + ".bz2"]
    for path, to in zip(table, packed, strict=True):
        pack = gzip.compress if to.endswith(".gz") else bz2.compress
        Path(to).write_bytes(pack(Path(path).read_bytes()))
    assert same(rows(amble.read_sessions(*packed)), plain)
    Path(packed[1]).write_bytes(gzip.compress(TABLE.encode())[:-9])
    with pytest.raises(AmbleError, match=r"sessions\.tsv\.gz:\d+: broken gzip data"):
        amble.read_sessions(*packed)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
def test_pipes_are_read_once(table: list[str], tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_text(TABLE))
    writer.start()
    found = rows(amble.read_sessions(table[0], str(pipe), *table[2:]))
    writer.join()
    assert same(found, rows(amble.read_sessions(*table)))


# ---- JSON


@pytest.mark.parametrize(
    "content",
    [
        '[{"session": "a", "queries": [[3, 0, null], [], [1]]}]',
        '{"sessions": [{"session": "a", "queries": [[3, 0, null], [], [1]]}]}',
        '{"session": "a", "queries": [[3, 0, null], [], [1]]}',
        '{"session_id": "a", "queries": [{"grades": [3, 0, null]}, {"rel_list": []}, {"grades": [1.0]}]}',
        '\ufeff  \n{"session": "a", "queries": [[3, 0, null], [], [1]]}',
    ],
)
def test_json_with_grades(write: Write, content: str) -> None:
    sessions = amble.read_sessions(None, write("log.json", content))
    assert same(rows(sessions), {("log", "a"): [[3, 0, math.nan], [], [1]]})
    assert "documents have no names" in str(sessions.audit)
    assert sorted(sessions.pool) == [0, 1, 3]
    with pytest.raises(amble.AlignError, match="none can be known again"):
        amble.read_sessions(None, write("log.json", content), repeats="once")


def test_json_lines(write: Write) -> None:
    lines = [
        {"session": 1, "queries": [[1]]},
        {"session": "zwei\u2028é", "queries": [[0], [2]], "run": "other"},
        {"session": 1, "queries": [[1, 1]], "run": 5},
    ]
    text = "\n" + "\n\n".join(json.dumps(line, ensure_ascii=False) for line in lines) + "\r\n"
    wanted = {("log", "1"): [[1]], ("other", "zwei\u2028é"): [[0], [2]], ("5", "1"): [[1, 1]]}
    assert same(rows(amble.read_sessions(None, write("log.jsonl", text))), wanted)
    packed = write("log.jsonl.gz", gzip.compress(text.encode()))
    sessions = amble.read_sessions(None, packed)
    assert same(rows(sessions), wanted)
    assert "sessions that a run lacks, left out of its mean, 3" in str(sessions.audit)


def test_json_with_documents(write: Write) -> None:
    qrels = write("qrels", QRELS)
    content = [
        {"session": "s", "topic": 1, "queries": [["a", "zz"], [], {"docs": ["é", "a"]}, {"docs": ["c"], "topic": 2}]}
    ]
    path = write("log.json", json.dumps(content))
    sessions = amble.read_sessions(qrels, path, repeats="once")
    assert same(rows(sessions), {("log", "s"): [[2, math.nan], [], [1, 2], [3]]})
    assert sessions.again.tolist() == [False, False, True, False]
    assert sorted(sessions.pool) == [0, 1, 1, 2, 3]
    assert amble.evaluate(sessions, "sDCG(bq=2)").values[0, 0, 0] == pytest.approx(
        2 + 1 / (1 + math.log2(3)) + 3 / (1 + 2)
    )
    both = [{"session": "s", "queries": [{"docs": ["a", "b"], "grades": [1, None]}, {"docs": ["a"], "grades": [1]}]}]
    sessions = amble.read_sessions(None, write("log.json", json.dumps(both)), repeats="once")
    assert sessions.again.tolist() == [False, True]
    assert sessions.pool.tolist() == [1]  # one document, shown twice


def test_a_document_with_two_grades_has_its_first(write: Write) -> None:
    two = [{"session": "s", "queries": [{"docs": ["a", "b"], "grades": [1, 0]}, {"docs": ["a"], "grades": [2]}]}]
    sessions = amble.read_sessions(None, write("log.json", json.dumps(two)))
    assert sorted(sessions.pool) == [0, 1]
    one = [{"session": "s", "queries": [{"docs": ["a", "b", "a"], "grades": [1, 0, 2]}]}]
    sessions = amble.read_sessions(None, write("log.json", json.dumps(one)), duplicates="best")
    assert sessions.grade.tolist() == [1, 0]


def test_judgments_of_sessions_with_grades(write: Write) -> None:
    path = write("log.json", '[{"session": "s", "topic": "1", "queries": [[2, 1]]}]')
    sessions = amble.read_sessions(write("qrels", QRELS), path)
    assert sorted(sessions.pool) == [0, 1, 2]  # of the judgments, not of the list
    with pytest.raises(AmbleError, match="topic s is not in the judgments"):
        amble.read_sessions(write("qrels", QRELS), write("log.json", '[{"session": "s", "queries": [[2, 1]]}]'))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[]", "log.json: found [], expected a list of sessions"),
        ("{}", "session 1: session is 'None', expected its name"),
        ("[1]", "session 1: found 1, expected an object"),
        ('[{"session": "a", "queries": []}]', "session a of log has no query, expected at least one"),
        ('[{"session": "a"}]', "queries is None, expected a list"),
        ('[{"session": "a", "queries": "x"}]', "queries is x, expected a list"),
        ('[{"session": "a", "queries": [7]}]', "query 1: found 7, expected a list"),
        ('[{"session": "a", "queries": [{"x": 1}]}]', "query 1: found x, expected grades or docs"),
        ('[{"session": "a", "queries": [["d"]]}]', "documents without grades"),
        ('[{"session": "a", "queries": [[1, "d"]]}]', "a grade is d, expected a number"),
        ('[{"session": "a", "queries": [[1], [true]]}]', "query 2: a grade is True"),
        ('[{"session": "a", "queries": [[NaN]]}]', "a grade is nan"),
        ('[{"session": "a", "queries": [[1e400]]}]', "a grade is inf"),
        ('[{"session": "a", "queries": [[%s]]}]' % ("9" * 400), "a grade is inf"),
        ('[{"session": "a", "queries": [[%s]]}]' % ("9" * 5000), "a grade is inf"),
        ('[{"session": 1.5, "queries": [[1]]}]', "session is '1.5', expected its name"),
        ('[{"session": true, "queries": [[1]]}]', "session is 'True'"),
        ('[{"session": " ", "queries": [[1]]}]', "session is ' '"),
        ('[{"session": "a\\tb", "queries": [[1]]}]', r"session is 'a\tb', expected its name"),
        ('[{"session": "\\ud800", "queries": [[1]]}]', r"session is '\ud800', expected its name"),
        ('[{"session": "a", "run": null, "queries": [[1]]}]', "run is 'None', expected its name"),
        ('[{"session": "a", "topic": [1], "queries": [[1]]}]', "topic is '[1]', expected its name"),
        ('[{"session": "a", "queries": [[1]]}, {"session": "a", "queries": [[1]]}]', "session a of log is there twice"),
        ('[{"session": "a",\n "queries": [[1]}]', "log.json:2: "),
        ('{"session": "a", "queries": [[1]]}\n{bad\n', "log.json:2: "),
        ('{"session": "a", "queries": [[1]]}\n[]\n', "log.json:2: found [], expected an object"),
        ("[" * 100_000, "lists within lists"),
        ('{"session": "a", "queries": [[1]]}\n' + "[" * 100_000, "log.json:2: lists within lists"),
        (b'[{"session": "\xff"}]', "not UTF-8 at byte 14"),
    ],
)  # fmt: skip
def test_json_that_is_refused(write: Write, content: str | bytes, said: str) -> None:
    with pytest.raises(AmbleError) as error:
        amble.read_sessions(None, write("log.json", content))
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_the_same_session_in_several_files(write: Write) -> None:
    text = '[{"session": "a", "queries": [%s]}]'
    paths = [write(f"{name}.json", text % lists) for name, lists in (("x", "[1]"), ("y", "[0, 2]"), ("z", "[]"))]
    sessions = amble.read_sessions(None, *paths)
    assert same(rows(sessions), {("x", "a"): [[1]], ("y", "a"): [[0, 2]], ("z", "a"): [[]]})
    assert sorted(sessions.pool) == [0, 2]  # of the run that shows most
    with pytest.raises(AmbleError, match="session a of x is there twice"):
        amble.read_sessions(None, paths[0], paths[0])
    with pytest.raises(AmbleError, match="options for runs"):
        amble.read_sessions(None, paths[0], depth=3)


# ---- Session Track


def test_a_session_track_without_runs(write: Write) -> None:
    sessions = amble.read_sessions(write("qrels", QRELS), write("track.xml", TRACK))
    assert same(rows(sessions), {("track", "7"): [[2, 0], [1, 2]]})
    assert "sessions without judgments, left out, 1" in str(sessions.audit)
    assert sessions.again.tolist() == [False, False, False, True]


def test_a_session_track_with_runs(write: Write) -> None:
    qrels, track = write("qrels", QRELS), write("track.xml", TRACK)
    runs = [write("x.run", "7 Q0 a 1 2 x\n7 Q0 zz 2 1 x\n8 Q0 c 1 1 x\n"), write("y.run", "8 Q0 b 1 1 y\n")]
    nan = math.nan
    earlier: list[list[float]] = [[2, 0], [1, 2]]
    wanted = {
        ("x", "7"): [*earlier, [2, nan]],
        ("x", "8"): [[3]],
        ("y", "7"): [*earlier, []],
        ("y", "8"): [[nan]],
    }
    assert same(rows(amble.read_sessions(qrels, track, *runs)), wanted)
    once = amble.read_sessions(qrels, track, *runs, repeats="once")
    assert amble.evaluate(once, "MsM@1").values[0, 0, 0] == pytest.approx(amble.parse("MsM").value([[2, 1, 0]]))


RESULT = '<t><session num="7"><topic num="1"/><interaction>%s</interaction></session></t>'


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("<t>\n<session>", "track.xml:2: broken XML"),
        ("<t/>", "no <session>"),
        ('<t><session num="8"><topic num="55"/></session></t>', "none of its topics is judged"),
        ("<t><session/></t>", "session 1 has no num"),
        ('<t><session num="7"/><session num="7"/></t>', "session 7 is there twice"),
        ('<t><session num="1&#10;2"/></t>', r"num of session 1 is '1\n2', expected its name"),
        ('<t><session num=""/></t>', "num of session 1 is '', expected its name"),
        ('<t><session num="7"><topic num="1&#9;2"/></session></t>', r"topic of session 7 is '1\t2', expected its name"),
        (RESULT % "<result><docno>a&#10;b</docno></result>", r"a document of session 7 is 'a\nb', expected its name"),
        (RESULT % '<result rank="x"><docno>a</docno></result>', "rank 'x', expected a whole number"),
        (RESULT % f'<result rank="{"9" * 5000}"><docno>a</docno></result>', "expected a whole number"),
        (RESULT % "<result><title>a</title></result>", "without a document's name"),
        (RESULT % ("<result><docno>a</docno></result>" * 2), "document a is there twice"),
        (RESULT % "<result><docno>&unknown;</docno></result>", "broken XML"),
        ('<!DOCTYPE t [<!ENTITY x SYSTEM "file:///etc/hostname">]>' + RESULT % "<result><docno>&x;</docno></result>",
         "broken XML"),
        ('<?xml version="1.0" encoding="klingon"?><t/>', "unknown encoding: klingon"),
        ('<?xml version="1.0" encoding="shift_jis"?><t/>', "expected XML in UTF-8"),
        (b"<t>\xff</t>", "track.xml:1: broken XML"),
    ],
)  # fmt: skip
def test_xml_that_is_refused(write: Write, content: str | bytes, said: str) -> None:
    with pytest.raises(AmbleError) as error:
        amble.read_sessions(write("qrels", QRELS), write("track.xml", content))
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_xml_entities_that_would_fill_the_memory(write: Write) -> None:
    entities = "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 12))
    bomb = f'<!DOCTYPE t [<!ENTITY a0 "lol">{entities}]>' + RESULT % "<result><docno>&a11;</docno></result>"
    with pytest.raises(AmbleError, match="broken XML: limit on input amplification"):
        amble.read_sessions(write("qrels", QRELS), write("track.xml", bomb))


# ---- Dynamic Domain

RATINGS = "T f1 a 2\nT f1 b 0\nT f2 a 1\nT f2 c 4\nT f2 c 3\nU f a 1\n"
SHOWN = "T 2 c .7 1 f2\nT 0 a .9 1 f1\nT 0 b .8 0 f1\nT 0 zz .8 0 f1\nT 2 a .1 1 f1\nX 0 a\n"


def test_the_dynamic_domain_layout(write: Write) -> None:
    sessions = amble.read_sessions(write("ratings", RATINGS), write("r.dd", SHOWN), layout="dd")
    assert same(rows(sessions), {("r.dd", "T"): [[2, 0, math.nan], [4, 2]]})
    assert "sessions without judgments, left out, 1" in str(sessions.audit)
    docs: Any = [[{"f1": 2, "f2": 1}, {"f1": 0}, {}], [{"f2": 4}, {"f1": 2, "f2": 1}]]
    for time in ("queries", "documents"):
        for name, by in (("CubeTest", ref.cube_test), ("ACT", ref.average_cube_test)):
            got = amble.parse(f"{name}(gamma=0.6,height=4,time='{time}')").value(sessions)
            assert got == pytest.approx(by(docs, ["f1", "f2"], 0.6, 4, time))
    # f1 is worth 2, f2 4; f1 is met by a, a (not by b, whose rating is 0), f2 by a, c, a
    wanted = ref.expected_utility(docs, {"f1": 2, "f2": 4}, 0.5, 0.5, 0.01)
    assert wanted == pytest.approx(2 * (1 - 0.5**1.5) / 0.5 + 4 * (1 - 0.5**2.5) / 0.5 - 0.01 * (1.75 + 1.5))
    assert amble.parse("ExpectedUtility").value(sessions) == pytest.approx(wanted)
    # gains: 2^rating - 1; f1 3, f2 15
    docs = [[{f: 2**x - 1 for f, x in doc.items()} for doc in query] for query in docs]
    got = amble.parse("CubeTest(gamma=0.6,height=40,gains='exp')").value(sessions)
    assert got == pytest.approx(ref.cube_test(docs, ["f1", "f2"], 0.6, 40, "queries"))
    got = amble.parse("ExpectedUtility(gains='exp')").value(sessions)
    assert got == pytest.approx(ref.expected_utility(docs, {"f1": 3, "f2": 15}, 0.5, 0.5, 0.01))


def test_facets_with_documents_that_count_once(write: Write) -> None:
    sessions = amble.read_sessions(write("ratings", RATINGS), write("r.dd", SHOWN), layout="dd", repeats="once")
    docs: Any = [[{"f1": 2, "f2": 1}, {}, {}], [{"f2": 4}, {}]]
    assert amble.parse("CubeTest(height=9)").value(sessions) == pytest.approx(
        ref.cube_test(docs, ["f1", "f2"], 0.5, 9, "queries")
    )
    assert amble.parse("ExpectedUtility").value(sessions) == pytest.approx(
        ref.expected_utility(docs, {"f1": 2, "f2": 4}, 0.5, 0.5, 0.01)
    )
    # a cut takes c away, too
    assert amble.parse("CubeTest(height=9)@1").value(sessions) == pytest.approx(
        ref.cube_test([[docs[0][0]], [docs[1][0]]], ["f1", "f2"], 0.5, 9, "queries")
    )


@pytest.mark.parametrize(
    ("ratings", "shown", "said"),
    [
        (RATINGS, "T x a\n", "r.dd:1: iteration 'x'"),
        (RATINGS, "T 1 a\nT 1\n", "r.dd:2: found 2 columns"),
        (RATINGS, f"T {'9' * 5000} a\n", "r.dd:1: iteration"),
        (RATINGS, "T 1 a\nT 1 a\n", "iteration 1: document a is there twice"),
        (RATINGS, "X 1 a\n", "none of its topics is judged"),
        (RATINGS, "# none\n", "r.dd: empty"),
        ("T f a x\n", "T 1 a\n", "ratings:1: rating"),
        ("T f a\n", "T 1 a\n", "ratings:1: found 3 columns"),
    ],
)
def test_dynamic_domain_files_that_are_refused(write: Write, ratings: str, shown: str, said: str) -> None:
    with pytest.raises(AmbleError) as error:
        amble.read_sessions(write("ratings", ratings), write("r.dd", shown), layout="dd")
    assert said in str(error.value)


def test_judgments_in_memory_have_no_facets(write: Write) -> None:
    with pytest.raises(amble.AlignError, match="expected a file of topic subtopic document rating"):
        amble.read_sessions({"T": {"a": 1}}, write("r.dd", SHOWN), layout="dd")


def test_judgments_in_memory(table: list[str]) -> None:
    judged = {"1": {"a": 2, "b": 0, "é": 1}, "2": {"a": 1, "c": 3}}
    assert same(rows(amble.read_sessions(judged, *table[1:])), rows(amble.read_sessions(*table)))


# ---- many


def test_many_queries_and_long_lists(write: Write) -> None:
    many = {"session": "many", "queries": [[1, 0]] * 1000}
    long = {"session": "long", "queries": [[0] * 9999 + [1]]}
    sessions = amble.read_sessions(None, write("log.json", json.dumps([many, long])))
    scores = amble.evaluate(sessions, "sDCG sRBP nDCG MsM esRR").values[0]
    assert scores[0, 0] == pytest.approx(sum(1 / (1 + math.log(j, 4)) for j in range(1, 1001)))
    assert scores[1, 0] == pytest.approx(1 / math.log2(10_000))
    assert scores[1, 2] == pytest.approx(1 / math.log2(10_001))


def test_real_sessions(data: Path) -> None:
    path = data / "sessions" / "tiangong-qref.json.gz"
    if not path.exists():
        pytest.skip("real data: no sessions/tiangong-qref.json.gz")
    sessions = amble.read_sessions(None, path)
    assert (sessions.n, sessions.length_of_query.size) == (500, 1571)
    user = "(p=0.6,q=0.1,r=0.2,s=0.1)"
    got = amble.parse("MsM" + user).scores(sessions)
    found = list(rows(sessions).values())
    wanted = [
        ref.msm([[0 if math.isnan(g) else g for g in q] for q in one], (0.6, 0.1, 0.2, 0.1)) for one in found[:60]
    ]
    assert got[:60] == pytest.approx(wanted, rel=1e-9)


def test_a_query_without_an_answer_stays_a_query(write: Callable[..., str]) -> None:
    files = (write("q", "7 0 a 1\n"), write("t", "s 1 7 x\ns 2 7 y\n"), write("r", "x Q0 a 1 1 r\n"))
    sessions = amble.read_sessions(*files)
    assert sessions.length_of_query.tolist() == [1, 0]
    with pytest.raises(amble.AlignError, match="missing='skip' with sessions"):
        amble.read_sessions(*files, missing="skip")


def test_what_is_no_file_is_refused(write: Callable[..., str]) -> None:
    log = write("log.json", '[{"session": "a", "queries": [[1]]}]')
    with pytest.raises(amble.AlignError, match="expected files of sessions"):
        amble.read_sessions(None, log, {"a": 1})
