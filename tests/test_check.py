"""Everything that is wrong or odd with files: each kind by hand, and agreement with the reader on mutated files."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from drawing import examples
from hypothesis import given
from hypothesis import strategies as st

import amble
from amble import progress
from amble.cli import main as cli
from amble.io.subtopics import no_subtopics
from amble.io.table_files import layout_of
from amble.native import plain_reader as _reader_py
from amble.validation import SEVERITY, FileReport, Findings, check, check_qrels, check_run, lines
from amble.validation import run_check as runs

pytestmark = pytest.mark.twin

Write = Callable[[str, str | bytes], str]
Cli = Callable[..., subprocess.CompletedProcess[str]]

GOOD = "401 Q0 d1 1 9.5 mine\n401 Q0 d2 2 9.25 mine\n402 Q0 d1 1 3 mine\n402 Q0 d3 2 2.5 mine\n"
NOT_NUMBERS = ("nan", "inf", "-Infinity", "1_0", "0x1", "1e999", "１", "1,5", "1e", "+", ".", "--1")
COMPRESSED = (b"\x1f\x8b", b"\xfd7zXZ", b"BZh", b"\x28\xb5\x2f\xfd")
QRELS = "401 0 d1 1\n401 0 d2 0\n402 0 d1 2\n"


def found(report: FileReport) -> dict[str, list[tuple[int | None, str]]]:
    """The findings of a report by kind."""
    out: dict[str, list[tuple[int | None, str]]] = {}
    for finding in report.findings:
        assert finding.severity == SEVERITY[finding.kind]
        out.setdefault(finding.kind, []).append((finding.line, finding.text))
    return out


def lines_of(report: FileReport, kind: str) -> list[int | None]:
    return [line for line, _ in found(report).get(kind, [])]


def test_nothing_to_say_of_a_good_file(write: Write) -> None:
    qrels, run = check([write("a.run", GOOD)], write("q", QRELS))
    assert found(qrels) == {}
    assert (qrels.topics, qrels.documents, qrels.depth) == (2, 3, (1, 1.5, 2))
    assert found(run) == {"unjudged": [(None, "1 of 4 documents (25.0%) in the top 10 of judged topics are unjudged")]}
    assert (run.topics, run.documents, run.depth, run.tag) == (2, 4, (2, 2.0, 2), "mine")
    assert run.first_error == ""


@pytest.mark.parametrize(
    ("kind", "content", "lines"),
    [
        ("columns", "401 Q0 d1 1 9.5 mine\n401 Q0 d2 2\n401 Q0 a blank 3 4 t\n", [2, 3]),
        ("more-columns", "401 Q0 d1 1 9.5 mine\n401 Q0 d2 2 9 mine and more\n", [2]),
        ("control", "401 Q0 d1 1 9.5 mine\n401 Q0 d\x002 2 9 mine\n401 Q0 d\x1b3 3 9 mine\n", [2, 3]),
        ("number", "".join(f"1 Q0 d{i} {i} {x} t\n" for i, x in enumerate(NOT_NUMBERS)),
         list(range(1, len(NOT_NUMBERS) + 1))),
        ("duplicate", "1 Q0 a 1 3 t\n1 Q0 b 2 2 t\n1 Q0 a 3 1 t\n1 Q0 a 4 0 t\n", [3, 4]),
        ("duplicate", "1 Q0 a 1 3 t\n2 Q0 a 1 3 t\n1 Q0 a 2 1 t\n", [3]),
        ("empty", "", [None]),
        ("empty", "# nothing\n\n", [None]),
        ("rank-number", "1 Q0 a x 3 t\n1 Q0 b 2.5 2 t\n1 Q0 c 1e999 1 t\n1 Q0 d 4.0 0 t\n", [1, 2, 3]),
        ("rank-order", "1 Q0 a 1 3 t\n1 Q0 b 2 4 t\n1 Q0 c 3 1 t\n", [2]),
        ("rank-order", "1 Q0 a 2 3 t\n1 Q0 b 1 2 t\n1 Q0 c 3 1 t\n", [1]),
        ("rank-repeats", "1 Q0 a 1 3 t\n1 Q0 b 1 2 t\n1 Q0 c 1 1 t\n2 Q0 a 1 1 t\n2 Q0 b 2 1 t\n", [2]),
        ("rank-start", "1 Q0 a 7 3 t\n1 Q0 b 8 2 t\n2 Q0 b -1 2 t\n", [1, 3]),
        ("rank-skips", "1 Q0 a 1 3 t\n1 Q0 b 3 2 t\n1 Q0 c 5 1 t\n", [2]),
        ("rank-base", "1 Q0 a 1 3 t\n2 Q0 b 0 2 t\n", [None]),
        ("score-order", "1 Q0 a 2 2 t\n1 Q0 b 1 3 t\n1 Q0 c 3 1 t\n", [2]),
        ("one-score", "1 Q0 a 1 3 t\n1 Q0 b 2 3 t\n2 Q0 a 1 3 t\n", [1]),
        ("ties", "1 Q0 a 1 4 t\n1 Q0 b 2 3 t\n1 Q0 c 3 3 t\n", [2]),
        ("single-precision", "1 Q0 a 1 4 t\n1 Q0 b 2 1.00000001 t\n1 Q0 c 3 1 t\n", [2]),
        ("split-topic", "1 Q0 a 1 4 t\n2 Q0 b 1 3 t\n1 Q0 c 2 3 t\n", [3]),
        ("usual-depth", "1 Q0 a 1 4 t\n1 Q0 b 2 3 t\n2 Q0 a 1 4 t\n3 Q0 a 1 4 t\n3 Q0 b 2 3 t\n", [3]),
        ("tags", "1 Q0 a 1 4 t\n1 Q0 b 2 3 u\n1 Q0 c 3 2 t\n", [2]),
        ("no-tag", "1 Q0 a 1 4\n1 Q0 b 2 3 t\n1 Q0 c 3 2\n", [1, 3]),
        ("tag", "1 Q0 a 1 4 a_tag_that_is_much_too_long\n", [1]),
        ("tag", "1 Q0 a 1 4 odd/tag\n", [1]),
        ("q0", "1 Q0 a 1 4 t\n1 0 b 2 3 t\n", [2]),
        ("not-ascii", "1 Q0 ä 1 4 t\n1 Q0 b 2 3 t\n", [1]),
        ("not-utf8", b"1 Q0 a 1 4 t\n1 Q0 \xff 2 3 t\n", [2]),
        ("bom", "\ufeff1 Q0 a 1 4 t\n", [1]),
        ("crlf", "1 Q0 a 1 4 t\n1 Q0 b 2 3 t\r\n1 Q0 c 3 2 t\r\n", [2]),
        ("blank", "1 Q0 a 1 4 t\n \n\n1 Q0 b 2 3 t\n", [2, 3]),
        ("comment", "1 Q0 a 1 4 t\n  # no\n1 Q0 b 2 3 t\n", [2]),
        ("comment", "1 Q0 a 1 4 t\n# Q0 b 2 3 t\n#1 Q0 c 3 2 t\n", [2, 3]),
        ("final-newline", "1 Q0 a 1 4 t\n1 Q0 b 2 3 t", [2]),
        ("separators", "1 Q0 a 1 4 t\n1\tQ0\tb\t2\t3\tt\n", [2]),
        ("separators", "1 Q0 a 1 4 t\n1 Q0 b\v2 3 t\n", [2]),
    ],
)  # fmt: skip
def test_each_kind_of_a_run(write: Write, kind: str, content: str | bytes, lines: list[int | None]) -> None:
    path = write("a.run", content)
    assert lines_of(check_run(path), kind) == lines
    assert kind not in found(check_run(write("good.run", GOOD)))


@pytest.mark.parametrize(
    ("kind", "content", "lines"),
    [
        ("columns", "401 0 d1 1\n401 0 d1\n401 0 d2 1 1\n", [2, 3]),
        ("duplicate", "401 0 d1 1\n402 0 d1 1\n401 0 d1 1\n", [3]),
        ("number", "401 0 d1 1\n402 0 d1 yes\n", [2]),
        ("negative-grade", "401 0 d1 1\n401 0 d2 -2\n", [2]),
        ("real-grade", "401 0 d1 1\n401 0 d2 0.5\n401 0 d3 2.0\n", [2]),
        ("large-grade", "401 0 d1 1\n401 0 d2 401\n401 0 d3 10\n", [2]),
        ("no-relevant", "401 0 d1 1\n402 0 d2 0\n402 0 d3 0.9\n", [2]),
        ("split-judgments", "401 0 d1 1\n402 0 d2 1\n401 0 d3 1\n", [3]),
        ("empty", "\n", [None]),
        ("crlf", "401 0 d1 1\r\n", [1]),
    ],
)
def test_each_kind_of_qrels(write: Write, kind: str, content: str, lines: list[int | None]) -> None:
    report, _ = check_qrels(write("q", content))
    assert lines_of(report, kind) == lines


def test_judgments_of_subtopics(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    path = write("q", "401 a d1 1\n401 b d1 0\n401 b d2 1\n401 a d1 1\n")
    report, judged = check_qrels(path, subtopics=True)
    assert found(report)["duplicate"] == [
        (4, "document 'd1' is judged twice for topic '401' (first on line 1), subtopic 'a'")
    ]
    assert report.documents == 3
    assert judged == {b"401": {b"d1": 1, b"d2": 3}}
    hint = ", here under 'b': judgments of subtopics? read them with subtopics=True (--subtopics)"
    assert found(check_qrels(path)[0])["duplicate"] == [
        (2, f"document 'd1' is judged twice for topic '401' (first on line 1){hint}"),
        (4, "document 'd1' is judged twice for topic '401' (first on line 1)"),
    ]
    good = write("good", "401 a d1 1\n401 b d1 0\n401 b d2 1\n")
    assert cli.main(["check", "--qrels", good]) == 1
    assert cli.main(["check", "--qrels", good, "--subtopics"]) == 0
    assert "1 topic, 3 judgments" in capsys.readouterr().out
    plain, _ = check_qrels(write("plain", "401 0 d1 1\n402 0 d1 0\n"), subtopics=True)
    assert found(plain)["one-subtopic"] == [
        (
            None,
            "every judgment is of subtopic '0', expected several subtopics: these are plain judgments, "
            "topic iter doc grade",
        )
    ]


def test_every_kind_has_a_case(write: Write) -> None:
    tested = {
        parameters[0]
        for test in (test_each_kind_of_a_run, test_each_kind_of_qrels)
        for parameters in test.pytestmark[0].args[1]  # type: ignore[attr-defined]
    }
    elsewhere = {
        "one-subtopic",
        "unreadable",
        "no-common-topic",
        "missing-topic",
        "extra-topic",
        "unjudged",
        "too-deep",
        "same-tag",
    }
    assert tested | elsewhere == set(SEVERITY)


def test_topics_against_the_judged_ones(write: Write) -> None:
    run = write("a.run", "402 Q0 d1 1 1 t\n999 Q0 d1 1 1 t\n")
    q = write("q", QRELS)
    _, report = check([run], q)
    assert found(report)["missing-topic"] == [(None, f"topic '401' of {q} is missing: it will score 0")]
    assert found(report)["extra-topic"] == [(2, f"topic '999' is not in {q}: it will not be scored")]


def test_no_common_topic_is_an_error_in_the_words_of_align(write: Write) -> None:
    run, q = write("a.run", "7 Q0 d1 1 1 t\n8 Q0 d1 1 1 t\n"), write("q", QRELS)
    _, report = check([run], q)
    with pytest.raises(amble.AlignError) as error:
        amble.align(q, run)
    assert report.first_error == str(error.value)
    assert not {"missing-topic", "extra-topic"} & found(report).keys()


def test_depth_is_a_limit(write: Write) -> None:
    path = write("a.run", GOOD + "402 Q0 d4 3 2 mine\n")
    assert found(check_run(path, depth=2))["too-deep"] == [(3, "topic '402' has 3 documents, expected at most 2")]
    assert "too-deep" not in found(check_run(path, depth=3))


def test_a_refused_line_does_not_make_a_gap(write: Write) -> None:
    path = write("a.run", "1 Q0 a 1 4 t\n1 Q0 b 2 x t\n1 Q0 c 3 2 t\n2 Q0 a 1 x t\n2 Q0 b 2 3 t\n3 Q0 b 1 x t\n")
    _, report = check([path], write("q", "1 0 a 1\n2 0 a 1\n3 0 a 1\n"))
    assert found(report).keys() == {"number", "unjudged"}


def test_a_refused_line_does_not_make_a_topic_short(write: Write) -> None:
    whole = "".join(f"{t} Q0 d{i} {i} {9 - i} t\n" for t in range(3) for i in range(4))
    path = write("a.run", whole + "9 Q0 a 0 4 t\n9 Q0 b 1 x t\n")
    assert found(check_run(path)).keys() == {"number"}
    assert lines_of(check_run(write("b.run", whole + "9 Q0 a 0 4 t\n")), "usual-depth") == [13]


def test_lists_of_all_lengths_have_no_usual_depth(write: Write) -> None:
    path = write("a.run", "".join(f"{t} Q0 d{i} {i} {9 - i} t\n" for t in range(4) for i in range(1 + t // 2 + t % 3)))
    assert found(check_run(path)) == {}


def test_the_top_ten_is_cut_by_docno_where_scores_are_equal(write: Write) -> None:
    path = write("a.run", "".join(f"1 Q0 {d} {i} 7 t\n" for i, d in enumerate("cjabgkdlefih")))
    for judged, unjudged in (("cdefghijkl", None), ("abcdefghij", "2 of 10 d")):
        _, report = check([path], write("q", "".join(f"1 0 {d} 1\n" for d in judged)))
        text = found(report).get("unjudged", [(None, None)])[0][1]
        assert text is None if unjudged is None else str(text).startswith(unjudged)


def test_a_byte_order_mark_is_one_only_at_the_start(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "_BLOCK", 8)
    report = check_run(write("a.run", "\ufeff1 Q0 a 1 4 t\n\ufeff1 Q0 b 2 3 t\n"))
    assert (report.topics, lines_of(report, "bom"), lines_of(report, "not-ascii")) == (2, [1], [2])


def test_blanks_at_the_ends_of_a_line_and_in_comments_separate_nothing(write: Write) -> None:
    path = write("a.run", "# spaces here\n \t# and here\n1\tQ0\ta\t1\t4\tt \n 1\tQ0\tb\t2\t3\tt\n")
    assert "separators" not in found(check_run(path))


def test_what_is_said_of_ties_and_of_topics_that_come_back(write: Write) -> None:
    rows = ["1 Q0 a 1 2", "1 Q0 b 2 2", "1 Q0 c 3 1.00000001", "2 Q0 a 1 9", "1 Q0 d 4 1", "2 Q0 b 2 8", "1 Q0 e 5 0"]
    kinds = found(check_run(write("a.run", "".join(f"{row} t\n" for row in rows))))
    assert kinds["ties"] == [
        (1, "2 documents in 1 of 2 topics share their score with another; ties are broken by docno")
    ]
    [(line, text)] = kinds["single-precision"]
    assert (line, text[:20]) == (3, "2 further documents ")
    ended = [(line, text.split("ended on line ")[1].split(")")[0]) for line, text in kinds["split-topic"]]
    assert ended == [(5, "3"), (6, "4"), (7, "5")]


def test_runs_with_one_tag(write: Write) -> None:
    a, b = write("a.run", GOOD), write("b.run", GOOD)
    assert lines_of(check([a, b])[1], "same-tag") == [None]


def test_the_first_of_a_kind_are_kept_and_all_are_counted(write: Write) -> None:
    path = write("a.run", "".join(f"1 0 d{i} {i} {100 - i} t\n" for i in range(50)))
    report = check_run(path, keep=3)
    assert lines_of(report, "q0") == [1, 2, 3]
    assert report.findings.counts["q0"] == report.notes == 50
    assert len(lines_of(check_run(path), "q0")) == 50
    falling = Findings(keep=2)
    for line in (9, 8, 7, 6, 8):
        falling.add("blank", line, "blank")
    assert ([finding.line for finding in falling], falling.counts["blank"]) == ([6, 7], 5)


@pytest.mark.parametrize("kind", ["plain", "gz", "xz", "bz2", "zst"])
def test_compressed_files(write: Write, kind: str) -> None:
    data = (GOOD + "402 Q0 d9 3 x mine\n").encode()
    if kind == "zst":
        zstandard = pytest.importorskip("zstandard")
        data = zstandard.ZstdCompressor().compress(data)
    else:
        data = {"plain": bytes, "gz": gzip.compress, "xz": lzma.compress, "bz2": bz2.compress}[kind](data)
    assert lines_of(check_run(write(f"a.run.{kind}", data)), "number") == [5]


def test_a_file_that_breaks_off_is_checked_up_to_there(write: Write) -> None:
    lines = "".join(f"1 0 d{random.Random(i).random()} {i} {10000 - i} t\n" for i in range(9000))
    path = write("a.run.gz", gzip.compress(lines.encode())[:-2000])
    report = check_run(path)
    assert isinstance(report.unreadable, amble.ReadError)
    [(line, text)] = found(report)["unreadable"]
    assert text.startswith("broken gzip data")
    assert report.findings.counts["q0"] > 1000
    assert str(report.unreadable) == f"{path}:{line}: {text}"


# agreement with the reader ------------------------------------------------------------------------------------------


def refusal(data: bytes, path: str, kind: str, subtopics: bool = False) -> str:
    """What the plain reader says of a file, empty when it takes it."""
    try:
        if kind == "run":
            topics, *_ = _reader_py.rank(None, io.BytesIO(data), 0, 0, path)
            if not topics:
                return f"{path}: empty, expected lines of a run: topic Q0 doc rank score tag"
        else:
            judged = _reader_py.judge(io.BytesIO(data), path, subtopics=subtopics)
            if not _reader_py.describe(judged)[0]:
                return f"{path}: empty, expected judgments: topic {'subtopic' if subtopics else 'iter'} doc grade"
            if subtopics and len(only := set(_reader_py.subtopics(judged)[0])) == 1:
                return f"{path}: {no_subtopics(only.pop())}"
    except amble.ReadError as error:
        return str(error)
    return ""


def in_use(path: str, kind: str, subtopics: bool = False) -> str:
    """What the reader in use, in C where there is one, says of a file."""
    try:
        if kind == "run":
            amble.read_runs(path)[0].documents()
        else:
            amble.read_qrels(path, subtopics=subtopics)
    except amble.ReadError as error:
        return re.sub(r"; (this is|these are) .*$", "", str(error))  # what the file looks like, which check leaves out
    return ""


def agree(data: bytes) -> None:
    """Hold the first error, in its words, against the plain reader's and that of the reader in use."""
    if data.startswith(COMPRESSED):  # would be unpacked, and the plain reader below takes the bytes as they are
        data = b" " + data
    if layout_of(data, "f"):  # a table, which check does not look into
        return
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "f"))
        Path(path).write_bytes(data)
        for keep in (None, 1):
            assert check_run(path, keep=keep).first_error == refusal(data, path, "run") == in_use(path, "run")
            for of in (False, True):
                report, _ = check_qrels(path, keep=keep, subtopics=of)
                assert report.first_error == refusal(data, path, "qrels", of) == in_use(path, "qrels", of)


column = st.one_of(
    st.sampled_from([b"401", b"402", b"Q0", b"d1", b"d2", b"1", b"2.5", b"-1e3", b"t", b"#x", b"\xef\xbb\xbf1"]),
    st.sampled_from(
        [b"nan", b"1e999", b"1_0", b"0x1", b".", b"1.", b".5", b"+", b"1e", b"\xff", "ä".encode(), b"\x7f"]
    ),
    st.text(min_size=1, max_size=70).map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.binary(min_size=1, max_size=3),
)
blank = st.sampled_from([b" ", b"\t", b"  ", b"\r", b"\v", b" \f"])
record = st.tuples(
    st.sampled_from([b"1", b"2", b"3"]), st.just(b"Q0"), st.sampled_from([b"a", b"b", b"c", b"d", b"e"]),
    st.sampled_from([b"1", b"2", b"x"]), st.sampled_from([b"1", b"2", b"0.5"]), st.just(b"t"),
).map(b" ".join)  # fmt: skip
judgment = st.tuples(
    st.sampled_from([b"1", b"2"]),
    st.sampled_from([b"0", b"0", b"1"]),
    st.sampled_from([b"a", b"b", b"c"]),
    st.sampled_from([b"0", b"1"]),
).map(b" ".join)
free = st.lists(st.tuples(column, blank).map(b"".join), max_size=8).map(b"".join)
content = st.lists(st.one_of(record, record, judgment, free), max_size=8).map(b"\n".join)


@pytest.mark.parametrize("block", [1, 40, 1 << 17])
def test_errors_are_the_readers(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "_BLOCK", block)
    monkeypatch.setattr(runs, "_BATCH", 1 + block // 20)

    @examples(250)
    @given(content, st.sampled_from([b"", b"\n", b"\r\n"]), st.sampled_from([b"", b"\xef\xbb\xbf"]))
    def holds(data: bytes, end: bytes, start: bytes) -> None:
        agree(start + data + end)

    holds()


def test_mutated_files_are_refused_alike() -> None:
    rng = random.Random(7)
    run = "".join(f"{t} Q0 d{rng.randrange(40)}x{r} {r} {30 - r / 7} t\n" for t in range(4) for r in range(12)).encode()
    qrels = "".join(f"{t} 0 d{d} {d % 3}\n" for t in range(4) for d in range(12)).encode()
    interesting = b"\x00\x01\n\r\t #.eE+-0123456789naif_\xef\xbb\xbf\xff\x7f"
    for _ in range(200):
        data = bytearray(rng.choice((run, qrels)))
        for _ in range(rng.choice((1, 1, 2, 5))):
            at = rng.randrange(len(data))
            what = rng.randrange(4)
            if what == 0:
                data[at] = rng.choice(interesting)
            elif what == 1:
                del data[at : at + rng.randrange(1, 9)]
            elif what == 2:
                data[at:at] = bytes(rng.choices(interesting, k=rng.randrange(1, 4)))
            else:
                lines = bytes(data).split(b"\n")
                lines.insert(rng.randrange(len(lines)), rng.choice(lines))
                data = bytearray(b"\n".join(lines))
        agree(bytes(data))


def test_bytes_that_begin_like_a_compressed_file(write: Write) -> None:
    for start in COMPRESSED:
        agree(start + b" \n")
        assert check_run(write("f", start + b"\x00 \n" + bytes(9))).errors


def test_any_bytes_at_all() -> None:
    rng = random.Random(11)
    for size in (1, 2, 3, 10, 1000, 70000):
        for _ in range(5):
            agree(rng.randbytes(size))


def test_a_very_long_line(write: Write) -> None:
    path = write("a.run", GOOD.encode() + b"x" * 3_000_000 + b" 1\n" + GOOD.encode())
    long = GOOD.count("\n") + 1
    report = check_run(path)
    assert lines_of(report, "unreadable") == [long]
    assert (
        str(report.unreadable) == f"{path}:{long}: the line is longer than 1000000 bytes, the most that max_line allows"
    )
    assert lines_of(check_run(path, max_line=3_000_002), "columns") == [long]
    bom = write("b.run", b"\xef\xbb\xbf#" + b"c" * 999_999 + b"\n" + GOOD.encode() + b"x\n")  # not too long
    assert lines_of(check_run(bom), "columns") == [GOOD.count("\n") + 2]
    report = check_run(path, max_line=12)  # within a block
    assert lines_of(report, "unreadable") == [1]


# agreement with alignment --------------------------------------------------------------------------------------------

rankings = st.lists(
    st.tuples(st.sampled_from("123"), st.integers(0, 15).map("d{}".format), st.integers(0, 9), st.integers(0, 5)),
    min_size=1, max_size=60, unique_by=lambda row: row[:2],
)  # fmt: skip


@pytest.mark.filterwarnings("ignore::amble.UnjudgedWarning")
@examples(150)
@given(rankings, st.integers(1, 70))
def test_counts_are_those_of_the_audit(rows: list[tuple[str, str, int, int]], batch: int) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs, "_BATCH", batch)
        run, qrels = Path(folder, "a.run"), Path(folder, "q")
        run.write_text("".join(f"{t} Q0 {d} {r} {s} t\n" for t, d, r, s in rows))
        qrels.write_text("".join(f"{t} 0 d{i} {i % 2}\n" for t in "1234" for i in range(8)))
        _, report = check([run], qrels)
        audit = amble.align(str(qrels), str(run)).audit
    kinds = found(report)
    assert report.errors == 0
    assert len(kinds["missing-topic"]) == sum(map(len, audit.missing.values()))
    tied, unjudged = int(audit.tied[0]), int(audit.unjudged_top10[0])
    assert kinds.get("ties", [(0, "0 d")])[0][1].startswith(f"{tied} d")
    assert kinds.get("unjudged", [(0, f"0 of {audit.shown_top10[0]} d")])[0][1].startswith(
        f"{unjudged} of {audit.shown_top10[0]} d"
    )
    against, rising, last = set(), [], {}
    for line, (t, _, _, s) in enumerate(rows, 1):
        if t in last and last[t] < s:
            rising.append(line)
        last[t] = s
    for t, _, r, s in rows:
        against |= {t for u, _, q, z in rows if u == t and q < r and z < s}
    topics = {line: t for line, (t, *_) in enumerate(rows, 1)}
    wrong = lines_of(report, "rank-order")
    assert {topics[line] for line in wrong if line} == against
    assert lines_of(report, "score-order") == [line for line in rising if line not in wrong]
    ranks = {t: [r for u, _, r, _ in rows if u == t] for t in topics.values()}
    assert len(lines_of(report, "rank-repeats")) == sum(len(set(r)) < len(r) for r in ranks.values())
    assert len(lines_of(report, "rank-start")) == sum(min(r) > 1 for r in ranks.values())
    assert len(lines_of(report, "rank-skips")) == sum(max(r) - min(r) >= len(set(r)) for r in ranks.values())


# the command ---------------------------------------------------------------------------------------------------------


def test_text(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    path = write("a.run", GOOD + "402 Q0 d1 3 2 mine\n402 Q0 d4\n")
    assert cli.main(["check", path]) == 1
    assert capsys.readouterr().out.splitlines() == [
        f"{path}:5: error: document 'd1' appears twice for topic '402' (first on line 3)",
        f"{path}:6: error: found 3 columns, expected 6: topic Q0 doc rank score tag",
        f"{path}: 2 topics, 5 documents, depth 2/2.5/3 (min/median/max), tag mine: 2 errors, 0 warnings, 0 notes",
    ]


def test_repeated_kinds_are_capped(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    path = write("a.run", "".join(f"1 0 d{i} {i} {2000 - i} t\n" for i in range(1240)))
    assert cli.main(["check", "--depth", "5000", path]) == 0
    out = capsys.readouterr().out.splitlines()
    assert len(out) == 7
    assert out[5] == f"{path}: note: … and 1,235 more"
    assert cli.main(["check", "--all", "--depth", "5000", path]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1241


def test_exit_codes(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    good, odd = write("a.run", GOOD), write("b.run", GOOD.replace("9.25", "9.75").replace("mine", "odd"))
    wrong = write("c.run", "1 2\n")
    assert cli.main(["check", good]) == 0
    assert cli.main(["check", good, odd]) == 0
    assert cli.main(["check", good, "--strict"]) == 0
    assert cli.main(["check", good, odd, "--strict"]) == 1
    assert cli.main(["check", good, wrong]) == 1
    assert cli.main(["check", good, "--qrels", wrong]) == 1
    assert cli.main(["check", good, "no such file", wrong]) == 2
    out = capsys.readouterr().out
    assert "no such file: error: no such file\n" in out
    assert f"{wrong}:1: error: found 2 columns" in out


def test_one_file_that_cannot_be_read_is_one_line(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    broken = write("a.run.gz", gzip.compress(GOOD.encode())[:-9])
    for path, what in (("no such file", "no such file"), (broken, "broken gzip data"), ("/", "a directory")):
        assert cli.main(["check", path]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert len(err.splitlines()) == 1
        assert what in err
    assert cli.main(["check", broken, write("b.run", GOOD.replace("mine", "b"))]) == 2
    out = capsys.readouterr().out
    assert ": error: broken gzip data" in out
    assert out.endswith("tag b: 0 errors, 0 warnings, 0 notes\n")


@pytest.mark.parametrize(
    "args", [[], ["a", "--depth", "0"], ["-", "-"], ["-", "--qrels", "-"], ["a", "--format", "xml"]]
)
def test_what_cannot_be_asked(args: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    try:
        code = cli.main(["check", *args])
    except SystemExit as stop:
        code = int(stop.code or 0)
    assert code == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_json(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    path = write("a.run", b"1 Q0 \xff 1 4 t\n" * 8)
    assert cli.main(["check", path, "--format", "json", "--qrels", write("q", "1 0 a 1\n")]) == 1
    out = json.loads(capsys.readouterr().out)
    assert (out["errors"], out["warnings"]) == (7, 8 + 1 + 1)
    qrels, run = out["files"]
    assert (qrels["role"], run["role"], run["file"]) == ("qrels", "run", path)
    assert run["counts"]["duplicate"] == 7
    assert run["depth"] == {"min": 8, "median": 8, "max": 8}
    assert [f["line"] for f in run["findings"] if f["kind"] == "duplicate"] == [2, 3, 4, 5, 6]


def test_tsv(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    path = write("a\tb.run", "1 Q0 a 1 4 t\n1 2\n")
    assert cli.main(["check", path, "--format", "tsv"]) == 1
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert rows[0] == ["file", "line", "severity", "kind", "text"]
    assert rows[1][1:4] == ["2", "error", "columns"]
    assert {len(row) for row in rows} == {5}


def test_standard_input(amble_cli: Cli) -> None:
    done = amble_cli("check", "-", stdin=GOOD.encode() + b"\n1 2\n")
    assert done.returncode == 1
    assert done.stdout.startswith("-:6: error: found 2 columns")
    assert done.stderr == ""


def test_what_does_not_print_is_escaped(amble_cli: Cli, write: Write) -> None:
    path = write("a.run", "1 Q0 ä 1 4 t\n1 Q0 b\x9b\x7f 2 3 t\n")
    ascii_only = amble_cli("check", path, PYTHONUTF8="0", PYTHONIOENCODING="ascii")
    assert ascii_only.returncode == 0
    assert "'ä'" in ascii_only.stdout  # standard output is UTF-8, whatever the locale
    assert "b\\x9b\\x7f" in amble_cli("check", path).stdout


def test_progress_on_a_terminal(
    write: Write, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write("a.run", GOOD)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    assert cli.main(["check", path]) == 0
    assert capsys.readouterr().err == ""  # too quick to say anything
    clock = iter(range(0, 100, 2))
    monkeypatch.setattr(progress.time, "monotonic", lambda: float(next(clock)))
    assert cli.main(["check", path]) == 0
    assert capsys.readouterr().err.startswith(f"\r{path}, lines: 4")


def test_real_runs(data: Path) -> None:
    runs = sorted((data / "trec8" / "runs").iterdir())[:3] if (data / "trec8").is_dir() else []
    if not runs:
        pytest.skip("no TREC-8 runs at hand")
    reports = check(runs, data / "trec8" / "qrels.txt", keep=5)
    assert all(report.errors == 0 for report in reports)
    assert {report.topics for report in reports} == {50}


def test_every_kind_is_in_the_docs() -> None:
    page = Path(__file__).parent.parent / "docs" / "check.md"
    rows = [line.split("|") for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    told = {(kind, row[2].strip()) for row in rows for kind in re.findall(r"`([a-z0-9-]+)`", row[1])}
    assert told == set(SEVERITY.items())


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="no file that opens and cannot be read")
def test_a_file_that_opens_and_cannot_be_read(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["check", "/proc/self/mem", write("a.run", GOOD)]) == 2
    out = capsys.readouterr().out
    assert "/proc/self/mem: error: cannot be read: " in out
    assert "tag mine: 0 errors" in out


@pytest.mark.filterwarnings("ignore::amble.UnjudgedWarning")
@examples(100)
@given(rankings, st.integers(1, 70))
def test_orders_as_floats_are_those_of_the_audit(rows: list[tuple[str, str, int, int]], batch: int) -> None:
    """Scores 1, 1 + 4e-8 … 1 + 2e-7: floats near 1 are 1.2e-7 apart."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs, "_BATCH", batch)
        run, qrels = Path(folder, "a.run"), Path(folder, "q")
        run.write_text("".join(f"{t} Q0 {d} {r} {1 + s * 4e-8!r} t\n" for t, d, r, s in rows))
        qrels.write_text("".join(f"{t} 0 d1 1\n" for t in "123"))
        _, report = check([run], qrels)
        moved = int(amble.align(str(qrels), str(run)).audit.moved[0])
    said = [text for _, text in found(report).get("single-precision", [])]
    assert moved == 0 if not said else f"another order in {moved} of" in said[0]
