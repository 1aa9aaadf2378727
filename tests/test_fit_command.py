"""`amble fit`: what it prints and writes, what it refuses, and that nothing half-written is left when it is stopped."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from amble.logs.engine import Engine
from amble.users.fit_file import read_fit

pytest.importorskip("duckdb", reason="logs need the extra")

Cli = Callable[..., "subprocess.CompletedProcess[str]"]
Write = Callable[[str, str | bytes], str]


def log(sessions: int = 60, *, person: str = "", query: str = "q", doc: str = "d") -> str:
    """Sessions with one, two or three clicks, one of them back."""
    lines = []
    for i in range(sessions):
        who = f"{person}{i}"
        lines.append(f"{who}\t0\tQ\t{query}{i % 3}\t0\t" + "\t".join(f"{doc}{j}" for j in range(4)))
        lines += [f"{who}\t{5 * k + i % 7}\tC\t{doc}{rank}" for k, rank in enumerate([2, 0, 3][: 1 + i % 3])]
    return "\n".join(lines) + "\n"


def test_a_day_of_sogou_becomes_users(data: Path, amble_cli: Cli, tmp_path: Path) -> None:
    source, fit = str(data / "clicks" / "sogou.relpred.tsv.gz"), str(tmp_path / "fit.toml")
    done = amble_cli("fit", source, "-o", fit)
    assert done.returncode == 0, done.stderr
    assert "8,809 query sessions" in done.stderr
    assert "3,614 moves from click to click, 611 (16.9 %) backward, 0 repeated" in done.stderr
    assert "518 of 8,809 sessions (5.9 %) with a backward move" in done.stderr
    assert "quartiles of the gaps: 15.3 / 35.6 / 90.7 s" in done.stderr
    found = read_fit(fit)
    assert {model.name for model in found.models} == {
        "walk", "walk-rank", "chain", "rbp", "insq", "continuation", "markov", "times", "times-censored",
    }  # fmt: skip
    assert found.origin.files == ("sogou.relpred.tsv.gz",)
    assert (found.origin.sessions, found.origin.moves) == (8809, 3614)
    assert os.path.getsize(fit) < 250_000
    runs = [str(data / "trec8" / "runs" / f"input.{name}.xz") for name in ("acsys8alo", "READWARE2")]
    if not os.path.exists(runs[0]):
        return
    measures = [f"PH(user='{fit}')", f"MP(user='{fit}')", f"MP(user='{fit}',rates='{fit}')"]
    done = amble_cli(
        "eval",
        str(data / "trec8" / "qrels.txt"),
        *runs,
        "-m",
        *measures,
        "--fitted-intervals",
        "user",
        "--format",
        "json",
    )
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["rows"]
    assert len(rows) == 6
    for row in rows:
        assert 0 < row["low"] <= row["mean"] <= row["high"] < 1
        assert row["high"] - row["low"] < 0.05


def test_tables(amble_cli: Cli, write: Write) -> None:
    path = write("log.tsv", log())
    done = amble_cli("fit", path, "--model", "rbp,walk", "--quiet")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    # 20 sessions each stop reading at ranks 3, 3 and 4: 180 came to ranks 1 to 3, 40 stopped there
    assert "rbp    p              0.7778" in done.stdout
    rows = json.loads(amble_cli("fit", path, "--model", "rbp", "--format", "json").stdout)
    assert rows["rows"][0]["value"] == pytest.approx(140 / 180)
    assert rows["log"]["moves"] == 60
    moves = amble_cli("fit", path, "--show", "moves", "--format", "tsv", "--model", "rbp").stdout.splitlines()
    assert "0\t3\tstart\t60\t1.0000\t1.0000\t1.0000" in moves
    assert "3\t1\tback\t40\t0.6667" in "\n".join(moves)
    implied = amble_cli("fit", path, "--show", "implied", "--format", "csv", "--model", "rbp").stdout
    assert implied.startswith("measure,panel,rank,value,low,high\nrbp,W,1,")


def test_a_table_with_other_columns(amble_cli: Cli, write: Write) -> None:
    rows = [f"{i},{r},{t},tap" for i in range(30) for r, t in ((1, 0), (2, 4000))]
    path = write("log.csv", "sid,pos,ms,what\n" + "\n".join(rows))
    words = ["--layout", "table", "--columns", "session=sid,rank=pos,time=ms,action=what", "--actions", "click=tap"]
    done = amble_cli("fit", path, *words, "--time-unit", "ms", "--model", "times", "--format", "json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["rows"][0]["value"] == pytest.approx(29 / 120)


def test_chart(amble_cli: Cli, write: Write, tmp_path: Path) -> None:
    done = amble_cli("fit", write("log.tsv", log()), "--plot", str(tmp_path / "fit.svg"), "--quiet")
    assert done.returncode == 0, done.stderr
    chart = (tmp_path / "fit.svg").read_text()
    for word in ("observed", "walk-rank", "share of visits W", "last rank L", "probability of going on C"):
        assert word in chart


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--model", "pbm"], "--model 'pbm': expected some of walk, walk-rank"),
        (["--model", "inst"], "inst needs grades of documents"),
        (["--show", "all"], "--show 'all': expected some of parameters, choice"),
        (["--show", "moves,choice", "--format", "csv"], "--format csv: expected one table"),
        (["--columns", "rank"], "--columns: 'rank', expected WHAT=NAME"),
        (["--columns", "rank=a"], "columns and actions are those of a table"),
        (["--memory", "1"], "argument --memory: found '1', expected a whole number from 100 to"),
        (["--threads", "0"], "argument --threads: found '0', expected a whole number from 1 to 256"),
        (["--threads", "100000"], "argument --threads: found '100000', expected a whole number from 1 to 256"),
        (["--digits", "99"], "argument --digits: found '99', expected a whole number from 0 to 17"),
        (
            ["--confidence", "0.9999999999999999"],
            "argument --confidence: found '0.9999999999999999', expected a number between 0",
        ),
        (["--confidence", "2"], "argument --confidence: found '2', expected a number between 0 and 1"),
        (["--depth", "0"], "argument --depth: found '0', expected a whole number from 1"),
        (["--longest", "-1"], "argument --longest: found '-1', expected a number above 0"),
        (["--rounds", "9" * 30], f"argument --rounds: found '{'9' * 30}', expected a whole number from 1 to 100000"),
        (["-o", "/nowhere/fit.toml"], "/nowhere/fit.toml: No such file or directory"),
        (["--plot", "fit.txt"], "fit.txt: a chart's name ends in"),
        (["--qrels", "nothing.txt"], "nothing.txt: no such file"),
        (["--time-unit", "ms"], "groups, targets, fixations and units of time are those of a table"),
        (["--save-counts", "c", "-o", "z.toml"], "--output goes without --save-counts, which counts one shard"),
        (["--save-counts", "c", "--plot", "p.svg"], "--plot goes without --save-counts"),
        (["--save-counts", "c", "--min-sessions", "5"], "--min-sessions goes without --save-counts"),
        (["--merge", "--qrels", "nosuch"], "--qrels is of reading logs: without --merge"),
        (["--merge", "--query-rates", "f.tsv"], "--query-rates is of reading logs: without --merge"),
    ],
)
def test_what_is_refused(words: list[str], message: str, amble_cli: Cli, write: Write) -> None:
    done = amble_cli("fit", write("log.tsv", log()), *words)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("amble: ")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_broken_records_on_the_command_line(amble_cli: Cli, write: Write, tmp_path: Path) -> None:
    path, fit = write("log.tsv", log() + "junk\n"), tmp_path / "fit.toml"
    done = amble_cli("fit", path, "-o", str(fit))
    assert (done.returncode, done.stderr) == (2, f"amble: {path}:181: the third column is neither Q nor C\n")
    assert not fit.exists()
    done = amble_cli("fit", path, "-o", str(fit), "--skip-broken")
    assert done.returncode == 0
    assert f"skipped 1 broken record: {path}:181: " in done.stderr
    assert fit.exists()


def test_nobody_is_told_of(amble_cli: Cli, write: Write, tmp_path: Path) -> None:
    """People, queries and documents have names that are found if they are kept or printed anywhere."""
    text = log(person="ada.lovelace", query="embarrassing illness", doc="https://clinic.example/")
    fit, spare, chart = tmp_path / "fit.toml", tmp_path / "spare", str(tmp_path / "fit.svg")
    spare.mkdir()
    path = write("log.tsv", text)
    qrels = write("qrels.tsv", "")
    Path(qrels).write_text("".join(f"embarrassing_illness{i} 0 https://clinic.example/1 1\n" for i in range(3)))
    Path(path).write_text(text.replace("embarrassing illness", "embarrassing_illness"))
    told = []
    few, shown = ["--rounds", "20"], ["--show", "parameters,choice,moves,implied", "--plot", chart]
    for words in (
        ["-o", str(fit), "--qrels", qrels, "--temporary", str(spare), "--smallest", "1", *few, *shown],
        ["--show", "moves", "--format", "json", *few],
    ):
        done = amble_cli("fit", path, *words)
        assert done.returncode == 0, done.stderr
        told += [done.stdout, done.stderr]
    told += [fit.read_text(), Path(chart).read_text()]
    lines = Path(path).read_text().splitlines()
    for wrong in (
        lines[0].replace("\t", " "),
        lines[0].replace("\t0\tQ", "\tsoon\tQ"),
        lines[0].replace("\tQ\t", "\tX\t"),
    ):
        done = amble_cli("fit", write("broken.tsv", "\n".join([wrong, *lines])))
        assert done.returncode == 2
        skipped = amble_cli("fit", str(tmp_path / "broken.tsv"), "--skip-broken", "--model", "rbp")
        told += [done.stderr, skipped.stdout, skipped.stderr]
    table = "session,query,rank,time\n" + "".join(f"ada.lovelace{i},embarrassing illness,1,{i}\n" for i in range(20))
    done = amble_cli("fit", write("log.csv", table + "ada.lovelace,embarrassing,illness\n"), "--layout", "table")
    assert done.returncode == 2
    told.append(done.stderr)
    for word in ("lovelace", "embarrassing", "illness", "clinic"):
        assert not [text for text in told if word in text]
    assert list(spare.iterdir()) == []


def test_no_query_and_no_person_is_needed(amble_cli: Cli, write: Write) -> None:
    rows = [f"{i}\t{r}" for i in range(30) for r in (1, 3)]
    done = amble_cli("fit", write("log.tsv", "session\trank\n" + "\n".join(rows)), "--layout", "table")
    assert done.returncode == 0, done.stderr


def test_one_person_is_not_many(amble_cli: Cli, write: Write, tmp_path: Path) -> None:
    """Fifty sessions with a click each, and one with forty: its 39 moves, 20 of them back, and its times are hers."""
    rows = [(i, 1 + i % 2, i) for i in range(50)] + [("x", rank, 1000 + 7 * i) for i, rank in enumerate([5, 4] * 20)]
    text = "\n".join(["session,rank,time", *(",".join(map(str, row)) for row in rows)])
    path, fit, few = write("log.csv", text), str(tmp_path / "fit.toml"), ["--smallest", "10"]
    done = amble_cli("fit", path, "--layout", "table", "--model", "rbp", "-o", fit, *few)
    assert done.returncode == 0, done.stderr
    assert "<10 moves from click to click, <10 backward, 0 repeated" in done.stderr
    assert "quartiles" not in done.stderr
    assert 'moves = "<10"' in Path(fit).read_text()
    done = amble_cli("fit", path, "--layout", "table", "--model", "walk", *few)
    said = "amble: walk: fewer than 10 sessions went back: suppressed, and not counted as zero\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)
    done = amble_cli("fit", path, "--layout", "table", "--format", "json", *few)
    assert f"walk left out: {said.split('walk: ')[1].strip()}" in json.loads(done.stdout)["notes"]
    log = json.loads(done.stdout)["log"]
    assert (log["moves"], log["backward"], log["quartiles"]) == ("<10", "<10", [None] * 3)
    done = amble_cli("fit", path, "--layout", "table", "--model", "walk,rbp")
    assert "39 moves from click to click, 20 (51.3 %) backward" in done.stderr  # by default nothing is hidden of few
    assert "fewer than 1,000 sessions: no count is suppressed" in done.stderr
    assert "1 of 51 sessions (2.0 %) with a backward move" in done.stderr


def test_few_sessions_are_not_told_of_in_a_log_of_many(amble_cli: Cli, write: Write, tmp_path: Path) -> None:
    alone = "".join(f"x{i}\t0\tQ\tq\t0\ta\tb\tc\td\nx{i}\t1\tC\td\nx{i}\t2\tC\tb\n" for i in range(4))
    path, fit, rbp = write("log.tsv", log(996) + alone), tmp_path / "fit.toml", ("--model", "rbp")
    done = amble_cli("fit", path, *rbp, "-o", str(fit), "--show", "moves", "--format", "tsv")
    assert "4\t2\tback\t<10\t-\t-\t-" in done.stdout.splitlines()
    assert "0\t4\tstart\t<10" in done.stdout
    assert "no count is suppressed" not in done.stderr
    few = amble_cli("fit", write("few.tsv", log(9) + log(991, person="y").replace("C\td0", "C\td3")), *rbp)
    assert "<10 backward" in few.stderr
    assert read_fit(fit).smallest == 10
    done = amble_cli("fit", path, *rbp, "--smallest", "1", "--show", "moves", "--format", "tsv")
    assert "4\t2\tback\t4" in done.stdout
    # one session less, and nothing is hidden
    done = amble_cli("fit", write("less.tsv", log(995) + alone), *rbp, "--show", "moves", "--format", "tsv")
    assert "4\t2\tback\t4\t" in done.stdout
    assert "fewer than 1,000 sessions: no count is suppressed (smallest is 0, not 10)" in done.stderr


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_stopped_half_way(how: signal.Signals, once: Callable[..., Path], tmp_path: Path) -> None:
    """Whatever was there before is there, and nothing else."""
    page = "\t0\tQ\tq\t0\t" + "\t".join(map(str, range(10)))
    rows = (f"{i}{page}\n{i}\t1\tC\t{i % 10}\n{i}\t2\tC\t{i % 7}\n{i}\t3\tC\t{i % 3}\n" for i in range(150_000))
    path = once("long-log", lambda folder: (folder / "log.tsv").write_text("".join(rows))) / "log.tsv"
    out, spare = tmp_path / "out", tmp_path / "spare"
    out.mkdir()
    spare.mkdir()
    fit = out / "fit.toml"
    fit.write_text("what was there\n")
    command = [
        sys.executable,
        "-m",
        "amble",
        "fit",
        str(path),
        "-o",
        str(fit),
        "--temporary",
        str(spare),
        "--threads",
        "1",
    ]
    child = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        limit = time.monotonic() + 120
        while not any(spare.glob("*/log.duckdb")) and time.monotonic() < limit and child.poll() is None:
            time.sleep(0.01)
        time.sleep(0.15)
        child.send_signal(how)
        _, stderr = child.communicate(timeout=120)
    finally:
        child.kill()
        child.wait()
    assert child.returncode != 0, "it was done before it was stopped"
    assert fit.read_text() == "what was there\n"
    assert [x.name for x in out.iterdir()] == ["fit.toml"]
    if how != signal.SIGKILL:
        assert stderr == "amble: stopped\n"
        assert child.returncode == 130
        assert list(spare.iterdir()) == []
        return
    # what it could not take away the next one does, when it is no longer young
    for folder in spare.iterdir():
        os.utime(folder, (0, 0))
    with Engine(folder=str(spare)) as engine:
        assert list(spare.iterdir()) == [engine.folder]
        os.utime(engine.folder, (0, 0))
        with Engine(folder=str(spare)) as other:  # one that is at work is left alone
            assert sorted(spare.iterdir()) == sorted([engine.folder, other.folder])
