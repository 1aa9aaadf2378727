"""amble pool, judge and fuse: ordinary files out, and one line where something is wrong."""

from __future__ import annotations

import json
import os
import resource
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import amble
from amble.cli.demo_collection import make_collection
from amble.cli.judging_terminal import _Kept
from amble.cli.main import main

Cli = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The runs of a small collection, in the folder where commands run."""
    made = make_collection(tmp_path, topics=4)
    monkeypatch.chdir(tmp_path)
    return [path.name for path in made.runs]


def error_of(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(list(words)) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    return said.err


def test_pool(demo: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pool", *demo, "--depth", "5", "-o", "pool.txt"]) == 0
    pool = amble.pool(demo, 5)
    lines = Path("pool.txt").read_text().splitlines()
    assert [line.split()[2] for line in lines] == pool.docs
    assert {line.split()[3] for line in lines} == {"-2"}
    said = capsys.readouterr().err
    assert said.startswith(f"amble: 6 runs pooled to depth 5: 5 topics, {len(pool):,} documents (")
    assert said.endswith(f"{len(pool)} to judge\n")


def test_pool_with_judgments(demo: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pool", *demo, "--depth", "5", "--qrels", "qrels.txt", "--order", "mtf", "--format", "json"]) == 0
    said = capsys.readouterr()
    rows = json.loads(said.out)["rows"]
    known = amble.read_qrels("qrels.txt").to_dict()
    assert all(row["grade"] == known.get(row["topic"], {}).get(row["doc"], -2) for row in rows)
    pool = amble.pool(demo, 5)
    first = rows[0]
    assert first["contributors"].split() == [
        f"{run}:{rank}" for run, rank in pool.contributors(first["topic"], first["doc"]).items()
    ]
    expected = [pool.docs[row] for row in amble.judging.order_pool(pool, "mtf", "qrels.txt")]
    assert [row["doc"] for row in rows] == expected
    assert "relevant ones of qrels.txt in the pool" in said.err


def test_a_sample_for_inferred_ap(demo: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    words = ["pool", *demo, "--depth", "10", "--qrels", "qrels.txt", "--sample", "0.5", "--seed", "4", "-o", "s.txt"]
    assert main(words) == 0
    sampled = amble.read_qrels("s.txt")
    pool = amble.pool(demo, 10)
    drawn = pool.sample(0.5, seed=4)
    np.testing.assert_array_equal(sampled.grades == -1, ~drawn)
    assert main(["eval", "s.txt", *demo, "-m", "infAP", "--quiet"]) == 0


def test_strata(demo: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    words = ["pool", *demo, "--depth", "10", "--qrels", "qrels.txt", "--strata", "3:1,10:0.2", "--format", "strata"]
    assert main([*words, "--quiet"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    pool = amble.pool(demo, 10)
    assert [row[2] for row in rows] == pool.docs
    assert [int(row[3]) for row in rows] == np.where(pool.first <= 3, 1, 2).tolist()
    assert all(float(row[4]) != -1 for row in rows if row[3] == "1")  # all of the first stratum
    assert any(float(row[4]) == -1 for row in rows if row[3] == "2")


def test_fuse(demo: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    words = ["fuse", demo[0], demo[2], "--method", "combsum", "--norm", "z", "--weights", "1,2.5", "--tag", "both"]
    assert main([*words, "--top", "20", "-o", "both.run"]) == 0
    assert capsys.readouterr().err == "amble: 2 runs fused by combsum (z): 5 topics, 81 documents\n"
    ours = amble.fuse(demo[:1] + demo[2:3], "combsum", norm="z", weights=[1, 2.5], top=20).documents()
    read = amble.read_runs("both.run")[0].documents()
    assert read.tag == "both"
    assert all(read[topic] == ours[topic] for topic in ours)
    assert main(["check", "both.run"]) == 0
    assert main(["eval", "qrels.txt", "both.run", "-m", "AP"]) == 0


def test_weights_by_name(demo: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fuse", *demo[:2], "--weights", "bm25+rm3=2", "--quiet"]) == 0
    by_name = capsys.readouterr().out
    assert main(["fuse", *demo[:2], "--weights", "1,2", "--quiet"]) == 0
    assert capsys.readouterr().out == by_name


def test_sheets_there_and_back(demo: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pool", *demo, "--depth", "3", "-o", "pool.txt", "--quiet"]) == 0
    assert main(["judge", "sheet", "pool.txt", "-o", "sheet.csv"]) == 0
    assert main(["judge", "sheet", "pool.txt", "-o", "sheet.html", "--grades", "0=no,1=yes", "--topic", "301"]) == 0
    assert Path("sheet.html").read_text().startswith("<!DOCTYPE html>")
    lines = Path("sheet.csv").read_text().splitlines()
    Path("done.csv").write_text("\n".join([lines[0], *(line + "1" for line in lines[1:-1]), lines[-1]]) + "\n")
    assert main(["judge", "read", "done.csv", "--pool", "pool.txt", "-o", "judged.txt"]) == 0
    n = len(lines) - 1
    assert capsys.readouterr().err == f"amble: {n - 1} judged, 1 left blank; {n} documents in the judgments\n"
    assert sorted(amble.read_qrels("judged.txt").grades.tolist()) == [-2.0, *[1.0] * (n - 1)]
    Path("bad.csv").write_text("\n".join([*lines[:2], *lines[1:]]))
    said = error_of(capsys, "judge", "read", "bad.csv", "--pool", "pool.txt", "-o", "never.txt")
    assert "bad.csv:3: document" in said
    assert "is there twice" in said
    assert not Path("never.txt").exists()


def test_agreement_uniques_and_cost(demo: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["judge", "agreement", "qrels.txt", "qrels.txt", "-q", "--format", "tsv"]) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert [row[0] for row in rows] == ["topic", "301", "302", "303", "304", "all"]
    assert rows[-1][3:] == ["1.0000"] * 8
    assert main(["judge", "uniques", "qrels.txt", *demo, "--depth", "10", "--groups", "2", "--format", "csv"]) == 0
    rows = [line.split(",") for line in capsys.readouterr().out.splitlines()]
    assert [row[:2] for row in rows[1:]] == [["bm", "2"], ["de", "1"], ["hy", "1"], ["bo", "1"], ["re", "1"]]
    words = ["judge", "cost", "qrels.txt", *demo, "--depth", "10", "--orders", "docno,mm", "--found", "0.5,1"]
    assert main([*words, "--format", "tsv", "--seed", "2"]) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    effort = amble.judging.simulate_judging(amble.pool(demo, 10), "qrels.txt", ["docno", "mm"], seed=2)
    assert [int(row[2]) for row in rows[1:]] == [
        int(effort.needed(share).sum(axis=1)[i]) for i in (0, 1) for share in (0.5, 1.0)
    ]


def test_texts_to_judge_hold_no_escapes_of_a_terminal(demo: list[str], amble_cli: Cli) -> None:
    doc = Path("bm25.run").read_text().split()[2]
    text = "red \x1b[31mred\x1b[0m, \x1b]0;a title\x07 \x1b]8;;http://a\x1b\\link, \x9b2J \x1bc \b\r\x7f\u202e bell \a."
    Path("texts.jsonl").write_text(json.dumps({"id": doc, "text": f"{text}\nnext line\t中"}))
    Path("topics.jsonl").write_text(json.dumps({"id": "301", "title": "what\x1b[2J"}))
    words = ["--depth", "1", "--order", "docno", "--topic", "301", "-o", "mine.txt"]
    done = amble_cli("judge", "ask", "bm25.run", *words, "--texts", "texts.jsonl", "--topics", "topics.jsonl")
    assert done.returncode == 0
    assert [c for c in done.stderr if not c.isprintable() and c not in "\n\t"] == []
    assert "topic 301: what\n" in done.stderr
    assert "red red,  link,    bell .\nnext line\t中\n" in done.stderr


def test_a_judgment_is_kept_whole_or_not_at_all(demo: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    path = Path("mine.txt")
    path.write_text("301 0 a 1\n")
    kept = _Kept("mine.txt")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (15, before[1]))  # as on a disk that is full then
    try:
        with pytest.raises(OSError, match="No space|too large"):
            kept.add("301", "another", 1.0)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert path.read_text() == "301 0 a 1\n"
    kept.add("301", "another", 1.0)
    assert path.read_text() == "301 0 a 1\n301 0 another 1\n"


ALL = "a topic is called all: the mean's topic is - (JSON null, CSV empty); in trec_eval's layout it comes last"


def test_a_topic_called_all(demo: list[str], amble_cli: Cli) -> None:
    Path("one.txt").write_text("all 0 a 1\nall 0 b 0\n2 0 c 1\n")
    done = amble_cli("judge", "agreement", "one.txt", "one.txt", "-q", "--format", "json")
    assert [row["topic"] for row in json.loads(done.stdout)["rows"]] == ["all", "2", None]
    assert done.stderr == f"amble: {ALL}\n"


def test_asking(demo: list[str], amble_cli: Cli) -> None:
    Path("texts.tsv").write_text("D00-0001\tnever shown\n")
    words = ["judge", "ask", *demo[:2], "--depth", "4", "--seed", "1", "-o", "mine.txt", "--budget", "3"]
    first = amble_cli(*words, "--texts", "texts.tsv", stdin=b"1\nperhaps\n0\n")
    assert first.returncode == 0
    assert "found 'perhaps', expected 0, 1, or q to stop" in first.stderr
    assert first.stderr.endswith("amble: 2 judgments made, 1 relevant, in mine.txt\n")
    kept = Path("mine.txt").read_text().splitlines()
    assert [line.split()[3] for line in kept] == ["1", "0"]
    Path("mine.txt").write_text("\n".join(kept))  # its last line has lost its end
    second = amble_cli(*words, stdin=b"1\n0\nq\n")
    lines = Path("mine.txt").read_text().splitlines()
    assert lines[:2] == kept
    assert [line.split()[0] for line in lines] == ["301", "301", "301", "302"]  # three of a topic, then the next
    assert second.returncode == 0
    judging = amble.judging.Judging(amble.pool(demo[:2], 4), "301", "mtf", seed=1)
    for line in lines[:3]:
        assert judging.next() == line.split()[2]
        judging.judge(float(line.split()[3]))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["pool", "bm25.run", "--depth", "0"], "argument --depth: found '0', expected a whole number from 1"),
        (["pool", "none.run"], "none.run: no such file"),
        (["pool", "bm25.run", "--order", "mtf"], "order 'mtf' learns from judgments"),
        (["pool", "bm25.run", "--sample", "2"], "rate=2.0: expected a number above 0"),
        (["pool", "bm25.run", "--sample", "0.1", "--strata", "1:1"], "two ways to draw"),
        (["pool", "bm25.run", "--strata", "ten"], "--strata: found 'ten', expected DEPTH:RATE"),
        (["pool", "bm25.run", "--strata", "10:1"], "strata 10: expected depths that grow, the last of at least 100"),
        (["pool", "bm25.run", "--format", "strata"], "--format strata goes with"),
        (["pool", "bm25.run", "bm25.run"], "given twice"),
        (["pool", "bm25.run", "--threads", "0"], "argument --threads: found '0'"),
        (["pool", "bm25.run", "--seed", "-1", "--order", "random"], "argument --seed: found '-1'"),
        (["fuse", "bm25.run"], "1 run, expected at least two to fuse"),
        (["fuse", "bm25.run", "dense.run", "--tag", "a\x1fb"], "tag 'a\\x1fb' has control byte 0x1f in it"),
        (["fuse", "bm25.run", "dense.run", "--norm", "z"], "--norm goes with combsum"),
        (["fuse", "bm25.run", "dense.run", "--method", "borda", "--rrf-k", "6"], "--rrf-k goes with rrf"),
        (["fuse", "bm25.run", "dense.run", "--weights", "1,x"], "--weights: found 'x'"),
        (["fuse", "bm25.run", "dense.run", "--weights", "1,-1"], "weights 1, -1: expected numbers above 0"),
        (["fuse", "bm25.run", "dense.run", "--weights", "bm26=1"], "weight of 'bm26'"),
        (["fuse", "bm25.run", "dense.run", "--tag", "two words"], "tag 'two words' has a blank"),
        (["fuse", "bm25.run", "dense.run", "--rrf-k", "nan"], "argument --rrf-k: found 'nan', expected a number"),
        (["fuse", "bm25.run", "empty.run"], "empty.run: empty, expected lines of a run"),
        (["judge", "sheet", "qrels.txt"], "no document waits to be judged"),
        (["judge", "sheet", "qrels.txt", "qrels.txt"], "found 2 files, expected one: a pool"),
        (["judge", "sheet", "qrels.txt", "--all", "--grades", "0,0"], "0 comes twice"),
        (["judge", "sheet", "qrels.txt", "--depth", "3"], "--depth goes with amble judge ask or amble judge uniques"),
        (["judge", "sheet", "qrels.txt", "--ties", "rank"], "--ties goes with amble judge ask or amble judge uniques"),
        (
            ["judge", "sheet", "qrels.txt", "--encoding", "latin-1"],
            "--encoding is of texts and topics: expected --texts",
        ),
        (["judge", "read", "qrels.txt"], "qrels.txt:1: found columns"),
        (["judge", "agreement", "qrels.txt"], "expected the judgments of two assessors"),
        (["judge", "uniques", "qrels.txt"], "expected QRELS RUN..."),
        (["judge", "cost", "qrels.txt", "bm25.run", "--orders", "best"], "--orders: found 'best'"),
        (["judge", "cost", "qrels.txt", "bm25.run", "--found", "2"], "target=2.0: expected a number"),
        (
            ["judge", "cost", "qrels.txt", "bm25.run", "--digits", "99"],
            "argument --digits: found '99', expected a whole number from 0 to 17",
        ),
        (["judge", "ask", "bm25.run"], "expected -o FILE"),
        (["judge", "ask", "bm25.run", "-o", "waits.txt"], "waits.txt: a pool, with documents that wait"),
        (["judge", "ask", "bm25.run", "-o", "x.txt", "--topic", "9"], "--topic 9: not in the pool"),
        (["judge", "ask", "bm25.run", "-o", "x.txt", "--budget", "0"], "argument --budget: found '0'"),
    ],
)
def test_one_line_where_something_is_wrong(
    words: list[str], message: str, demo: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("empty.run").write_text("")
    Path("waits.txt").write_text("301 0 a -2\n")
    assert message in error_of(capsys, *words)
    assert not Path("x.txt").exists()


def test_nothing_is_half_written(demo: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    os.mkdir("folder")
    for words in (["pool", *demo], ["fuse", *demo], ["judge", "uniques", "qrels.txt", *demo]):
        assert "folder" in error_of(capsys, *words, "-o", "folder/no/file.txt", "--quiet")
    assert os.listdir("folder") == []


def test_nothing_is_written_over_what_is_read(demo: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pool", *demo, "--depth", "2", "-o", "pool.txt", "--quiet"]) == 0
    assert main(["judge", "sheet", "pool.txt", "-o", "sheet.csv"]) == 0
    Path("texts.tsv").write_text("a\tb\n")
    os.symlink("pool.txt", "link.txt")
    before = {path.name: path.read_bytes() for path in Path().iterdir() if path.is_file()}
    for words in (
        ("pool", *demo, "-o", demo[0]),
        ("pool", *demo, "--qrels", "qrels.txt", "-o", "qrels.txt"),
        ("fuse", *demo, "-o", demo[1]),
        ("judge", "sheet", "pool.txt", "-o", "link.txt"),
        ("judge", "sheet", "pool.txt", "--texts", "texts.tsv", "-o", "texts.tsv"),
        ("judge", "read", "sheet.csv", "--pool", "pool.txt", "-o", "sheet.csv"),
        ("judge", "read", "sheet.csv", "--pool", "pool.txt", "-o", "pool.txt"),
        ("judge", "cost", "qrels.txt", *demo, "-o", demo[0]),
        ("judge", "ask", *demo, "-o", demo[0]),
    ):
        assert error_of(capsys, *words) == f"amble: {words[-1]}: is read, expected another file to write to\n"
    assert {path.name: path.read_bytes() for path in Path().iterdir() if path.is_file()} == before


@pytest.mark.parametrize(("path", "why"), [("no/x", "No such file or directory"), (".", "Is a directory")])
def test_where_nothing_can_be_written_is_known_before_the_work(
    path: str, why: str, demo: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "amble.rankings.run_lists.read_run_lists", lambda *args, **options: pytest.fail("runs were read")
    )
    monkeypatch.setattr("sys.stdin", None)
    for words in (["pool", *demo], ["fuse", *demo], ["judge", "ask", *demo], ["judge", "cost", "qrels.txt", *demo]):
        assert error_of(capsys, *words, "-o", path) == f"amble: {path}: {why}\n"


def test_topics_without_judgments_are_named(
    write: Callable[[str, str], str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = write("x.run", "1 Q0 a 1 2 x\n2 Q0 a 1 2 x\n")
    qrels = write("q", "1 0 a 1\n")
    assert main(["pool", run, "--qrels", qrels, "-o", str(tmp_path / "pool")]) == 0
    assert capsys.readouterr().err.endswith(
        f"1 judged, 1 of the 1 relevant ones of {qrels} in the pool; {qrels} has nothing of 2\n"
    )
