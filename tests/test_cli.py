"""The command line as people meet it: what it prints, how it fails, what it leaves behind."""

from __future__ import annotations

import argparse
import ast
import gzip
import importlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import amble
from amble.cli import options
from amble.cli.main import COMMANDS, _parser, main
from amble.cli.output import READ, WRITTEN
from amble.table import FORMATS

pytestmark = pytest.mark.twin

Cli = Callable[..., subprocess.CompletedProcess[str]]

QRELS = "401 0 a 1\n401 0 b 0\n402 0 c 1\n"
RUN = "401 Q0 a 1 3.5 tag\n401 Q0 x 2 2.5 tag\n402 Q0 d 1 1 tag\n402 Q0 c 2 .5 tag\n"


@pytest.fixture
def files(write) -> tuple[str, str]:
    return write("qrels.txt", QRELS), write("my.run", RUN)


def test_choices_are_those_of_the_library() -> None:
    # commands start sooner without an import of what they do, so options have copies
    assert tuple(FORMATS) == options.FORMATS


def test_table(amble_cli: Cli, files: tuple[str, str]) -> None:
    done = amble_cli("eval", *files, "-m", "AP", "P@1")
    assert done.returncode == 0
    assert done.stdout == "run      AP     P@1\ntag  0.7500  0.5000\n"
    assert done.stderr == (
        "amble: 1 run x 2 topics, scored 2, missing 0, extra 0, unjudged in top 10: 2 (50.0%), "
        "tied documents 0 (by docno)\n"
    )


def test_formats(amble_cli: Cli, files: tuple[str, str]) -> None:
    tsv = amble_cli("eval", *files, "-m", "AP", "-q", "--format", "tsv", "--quiet")
    assert tsv.stderr == ""
    assert tsv.stdout.splitlines() == [
        "run\ttopic\tmeasure\tvalue",
        "tag\t401\tAP\t1.0000",
        "tag\t402\tAP\t0.5000",
        "tag\tall\tAP\t0.7500",
    ]
    csv = amble_cli("eval", *files, "-m", "AP", "--format", "csv")
    assert csv.stdout == "run,topic,measure,value\ntag,all,AP,0.75\n"
    latex = amble_cli("eval", *files, "-m", "AP", "--format", "latex", "--digits", "2")
    assert "tag & 0.75" in latex.stdout
    read = json.loads(amble_cli("eval", *files, "-m", "RBP(p=0.5)", "--format", "json").stdout)
    assert read["rows"] == [{"run": "tag", "topic": "all", "measure": "RBP(p=0.5)", "value": 0.375}]
    assert read["files"][0]["path"] == files[0]
    assert len(read["files"][1]["sha256"]) == 64
    assert read["measures"]["RBP(p=0.5)"]["p"] == 0.5
    assert read["options"]["ties"] == "docno"
    assert read["audit"][0]["scored"] == 2


def test_measures_anywhere(amble_cli: Cli, files: tuple[str, str]) -> None:
    expected = amble_cli("eval", *files, "-m", "AP", "-m", "nDCG@10").stdout
    for words in (
        ["-m", "AP", "nDCG@10", *files],
        [files[0], "-m", "AP", "nDCG@10", "--quiet", files[1]],
        [*files, "-m", "AP,nDCG@10"],
        [*files, "-m", "AP nDCG@10"],
    ):
        assert amble_cli("eval", *words).stdout == expected


def test_trec_names_and_level(amble_cli: Cli, files: tuple[str, str]) -> None:
    done = amble_cli("eval", *files, "-m", "AP", "nDCG@10", "--names", "trec", "--format", "tsv")
    assert [line.split("\t")[2] for line in done.stdout.splitlines()[1:]] == ["map", "ndcg_cut_10"]
    # trec_eval's interpolated precision is by its own rule, under its names and with --trec
    asked = ["11pt_avg", "iprec_at_recall_0.10", "IPrec@0.1", "IPrecAvg"]
    done = amble_cli("eval", "-m", *asked, "--names", "trec", "--format", "tsv", *files)
    named = ["11pt_avg", "iprec_at_recall_0.10", "IPrec@0.1", "IPrecAvg"]
    assert [line.split("\t")[2] for line in done.stdout.splitlines()[1:]] == named
    done = amble_cli("eval", "-m", "IPrec@0.1", "IPrecAvg", "IPrec(rule='trec9')@0.2", "--trec", *files)
    named = ["runid", "iprec_at_recall_0.10", "11pt_avg", "IPrec(rule='trec9')@0.2"]
    assert [line.split("\t")[0].strip() for line in done.stdout.splitlines()] == named
    done = amble_cli("eval", *files, "-m", "NumRel", "--rel", "2", "--format", "tsv")
    assert done.stdout.splitlines()[1].endswith("\t0")


def test_bib(amble_cli: Cli, files: tuple[str, str]) -> None:
    done = amble_cli("eval", *files, "-m", "RBP", "nDCG", "--bib")
    assert done.stdout.count("@article{") == 2
    assert "moffat2008" in done.stdout


def test_list(amble_cli: Cli) -> None:
    done = amble_cli("list")
    assert done.returncode == 0
    for name in ("AP", "nDCG", "bpref", "Compat"):
        assert f"\n  {name} " in done.stdout
    done = amble_cli("list", "RBP")
    for word in ("persistence", "between 0 and 1", "moffat2008", "E[T]/E[H]"):
        assert word in done.stdout
    assert {d["name"] for d in json.loads(amble_cli("list", "--format", "json").stdout)} > {"AP", "RR"}
    assert amble_cli("list", "RWBM").stdout == amble_cli("list", "PH").stdout
    found = json.loads(amble_cli("list", "Stationary", "distribution", "--format", "json").stdout)
    assert [d["name"] for d in found] == ["MP"]
    done = amble_cli("list", "no such words")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("amble: 'no such words': ")


def test_demo(amble_cli: Cli, tmp_path: Path) -> None:
    today = {"SOURCE_DATE_EPOCH": "0"}  # the report tells the day, which may be over the second time
    done = amble_cli("demo", str(tmp_path / "d"), "--size", "3", **today)
    assert done.returncode == 0
    assert "hybrid" in done.stdout
    first = {p.name: p.read_bytes() for p in (tmp_path / "d").iterdir()}
    amble_cli("demo", str(tmp_path / "d"), "--size", "3", **today)
    assert {p.name: p.read_bytes() for p in (tmp_path / "d").iterdir()} == first
    amble_cli("demo", str(tmp_path / "e"), "--size", "3")
    del first["report.html"]  # which names the files that it is about
    assert {p.name: p.read_bytes() for p in (tmp_path / "e").iterdir() if p.suffix != ".html"} == first
    assert amble_cli("demo", str(tmp_path / "f"), "--size", "0").returncode == 2


def test_help_and_version(amble_cli: Cli) -> None:
    assert amble_cli("--version").stdout.startswith("amble 0.")
    assert "eval" in amble_cli("--help").stdout
    assert amble_cli().returncode == 0
    for command in ("eval", "list", "demo", "check"):
        done = amble_cli(command, "--help")
        assert done.returncode == 0
        assert done.stdout.startswith(f"usage: amble {command}")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["eval", "{q}", "{r}", "-m", "nDGC"], "'nDGC': no measure is called nDGC; did you mean nDCG"),
        (["eval", "{q}", "{r}", "-m", "RBP(p=2)"], "RBP: p=2 is not allowed"),
        (["eval", "{q}", "{r}", "-m", "AP(rel=__import__('os'))"], "expected a number, a quoted string"),
        (["eval", "{q}", "nothing.run"], "nothing.run: no such file"),
        (["eval", "nothing", "{r}"], "nothing: no such file"),
        (["eval", "{q}", "{dir}"], "a directory, expected a file"),
        (["eval", "{q}", "{r}", "{r}"], "run(s) given twice"),
        (
            ["eval", "{q}", "{r}", "--depth", "0"],
            "argument --depth: found '0', expected a whole number from 1 to 1000000000",
        ),
        (["eval", "{q}", "{r}", "--depth", "x"], "argument --depth: found 'x', expected a whole number"),
        (
            ["eval", "{q}", "{r}", "--digits", "99"],
            "argument --digits: found '99', expected a whole number from 0 to 17",
        ),
        (["eval", "{q}", "{r}", "--format", "xml"], "argument --format: invalid choice"),
        (["eval", "{q}", "{r}", "--plugin", "nothing.py"], "nothing.py: No such file"),
        (["eval", "{q}", "{r}", "-o", "{dir}/no/where"], "No such file or directory"),
        (["eval", "{q}", "{r}", "--zscores", "{r}"], "found 6 columns, expected 4"),
        (["eval", "{q}"], "the following arguments are required: RUN"),
        (["eval", "{q}", ""], "argument RUN: found an empty text, expected a value"),
        (["eval", "{q}", "{r}", "--zscores", ""], "argument --zscores: found an empty text, expected a value"),
        (["eval", "{q}", "{r}", "--output="], "argument -o/--output: found an empty text, expected a value"),
        (["compare", "{q}", "{r}", "--sessions", ""], "argument --sessions: found an empty text"),
        (["fit", "log.tsv", "--against", "AP", ""], "argument --against: found an empty text"),
        (["judge", "sheet", "{q}", "--grades", ""], "argument --grades: found an empty text"),
        (["list", "--plugin", ""], "argument --plugin: found an empty text"),
        (["check", "--qrels", ""], "argument --qrels: found an empty text"),
        (["check", "{r}", "--subtopics"], "--subtopics is of judgments: expected --qrels QRELS"),
        (["list", "RBP", "--bib", "--format", "json"], "--format goes without --bib"),
        *(
            (["eval", "{q}", "{r}", "-m", "RBP", *words], f"{words[1]} goes without {words[0]}, a report of its own")
            for words in (
                ["--cwl", "--intervals"],
                ["--cwl", "--names", "trec"],
                ["--cwl", "--undefined", "skip"],
                ["--residual", "--intervals"],
                ["--residual", "--groups", "g.tsv"],
                ["--by-intent", "--undefined", "skip"],
                ["--by-intent", "--names", "trec"],
            )
        ),
        (["eval", "{q}", "{r}", "--residual", "--trec"], "trec_eval's layout goes without --residual"),
        (["evaluate"], "invalid choice: 'evaluate'"),
        (["eval", "{q}", "{r}", "-m", "ERR", "--ties", "expected"], ""),
    ],
)
def test_one_clear_line(amble_cli: Cli, files: tuple[str, str], tmp_path: Path, words: list[str], message: str) -> None:
    filled = [w.format(q=files[0], r=files[1], dir=tmp_path) for w in words]
    done = amble_cli(*filled)
    if not message:  # nothing is tied here, so nothing is wrong
        assert done.returncode == 0
        return
    assert done.returncode == 2, done.stdout
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "dup.run",
            RUN + "402 Q0 c 3 .1 tag\n",
            "dup.run:5: document 'c' appears twice for topic '402' (first on line 4)",
        ),
        ("text.run", "401 Q0 a 1 high tag\n", "text.run:1: score 'high' is not a decimal number"),
        ("nan.run", RUN + "401 Q0 n 1 nan tag\n", "nan.run:5: score 'nan' is not a decimal number"),
        ("inf.run", "401 Q0 a 1 inf tag\n", "inf.run:1: score 'inf' is not a decimal number"),
        ("big.run", "401 Q0 a 1 1e999 tag\n", "big.run:1: score '1e999' is too large for a double"),
        ("short.run", "\n401 Q0 a 1\n", "short.run:2: found 4 columns, expected 6: topic Q0 doc rank score tag"),
        ("empty.run", "", "empty.run: empty, expected lines of a run"),
        ("other.run", "999 Q0 a 1 1 t\n", "other.run: no topic in common with"),
        ("nul.run", b"401 Q0 a\0b 1 1 t\n", "nul.run:1: NUL byte in the line"),
        ("utf16.run", RUN.encode("utf-16"), "utf16.run:1: NUL byte in the line"),
        ("cut.run.gz", gzip.compress(RUN.encode(), mtime=0)[:-9], "cut.run.gz:5: broken gzip data"),
    ],
)
def test_bad_runs(amble_cli: Cli, write, files: tuple[str, str], name: str, content: str | bytes, message: str) -> None:
    done = amble_cli("eval", files[0], write(name, content))
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (QRELS + "401 0 a 1\n", "q:4: document 'a' is judged twice for topic '401' (first on line 1)"),
        ("401 0 a x\n", "q:1: grade 'x' is not a decimal number"),
        ("401 a 1\n", "q:1: found 3 columns, expected 4: topic iter doc grade"),
        ("# nothing\n", "q: empty, expected judgments"),
    ],
)
def test_bad_qrels(amble_cli: Cli, write, files: tuple[str, str], content: str, message: str) -> None:
    done = amble_cli("eval", write("q", content), files[1])
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_output_appears_whole_or_not_at_all(amble_cli: Cli, files: tuple[str, str], tmp_path: Path) -> None:
    out = tmp_path / "scores.tsv"
    out.write_text("old")
    assert amble_cli("eval", *files, "-m", "Nope", "-o", str(out)).returncode == 2
    assert out.read_text() == "old"
    done = amble_cli("eval", *files, "-m", "AP", "-o", str(out), "--format", "tsv")
    assert done.stdout == ""
    assert out.read_text().startswith("run\ttopic")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["my.run", "qrels.txt", "scores.tsv"]


def test_a_closed_pipe_is_no_error(files: tuple[str, str]) -> None:
    code = (
        f"{sys.executable} -m amble eval {files[0]} {files[1]} -q --format tsv --quiet | true; exit ${{PIPESTATUS[0]}}"
    )
    done = subprocess.run(["bash", "-c", code], capture_output=True, env=os.environ)
    assert done.stderr == b""


def test_standard_input(amble_cli: Cli, files: tuple[str, str]) -> None:
    done = amble_cli("eval", files[0], "-", "-m", "AP", stdin=gzip.compress(RUN.encode()))
    assert done.stdout.splitlines()[1] == "tag  0.7500"


def test_ids_that_are_not_utf8(amble_cli: Cli, write) -> None:
    qrels, run = write("q", b"t\xff 0 a 1\n"), write("r.run", b"t\xff Q0 a 1 1 \xfetag\n")
    done = amble_cli("eval", qrels, run, "-m", "AP", "-q", "--format", "tsv")
    assert done.returncode == 0, done.stderr
    assert "\udcfetag\tt\udcff\tAP\t1.0000" in done.stdout  # the same bytes out


def test_a_plugin(amble_cli: Cli, write, files: tuple[str, str]) -> None:
    plugin = write(
        "mine.py",
        "from amble.measures import Forward, measure\n"
        "@measure('First', question='order2')\n"
        "def first():\n    'Looks at one document.'\n    return Forward(continuation=0.0)\n",
    )
    done = amble_cli("eval", *files, "--plugin", plugin, "-m", "First", "AP")
    assert done.stdout.splitlines()[1] == "tag  0.5000  0.7500"
    assert "Looks at one document." in amble_cli("list", "First", "--plugin", plugin).stdout
    broken = write("broken.py", "1/0\n")
    done = amble_cli("eval", *files, "--plugin", broken)
    assert done.returncode == 2
    assert "broken.py: ZeroDivisionError" in done.stderr
    taken = write("taken.py", "from amble.measures import *\n@measure('AP', question='order2')\ndef f():\n  ''\n")
    assert "AP: the name is taken" in amble_cli("eval", *files, "--plugin", taken).stderr


def test_import_is_light() -> None:
    """`import amble` loads no heavy library before it is used; `eval` never loads scipy."""
    code = (
        "import sys, amble; early = set(sys.modules); "
        "amble.evaluate({'1': {'a': 1}}, {'r': {'1': {'a': 1.0}}}, 'AP nDCG@10 bpref'); "
        "heavy = ('scipy', 'pandas', 'polars', 'altair', 'duckdb', 'zstandard'); "
        "print([h for h in heavy if h in sys.modules], 'numpy' in early)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[] False"


def test_output_to_a_pipe_or_through_a_link(amble_cli: Cli, files: tuple[str, str], tmp_path: Path) -> None:
    import threading

    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()), daemon=True)  # nobody may write
    reader.start()
    assert amble_cli("eval", *files, "-m", "AP", "-o", str(pipe)).returncode == 0
    reader.join(timeout=20)
    assert read[0].startswith("run ")
    assert pipe.is_fifo()
    real, link = tmp_path / "real.txt", tmp_path / "link.txt"
    real.write_text("old")
    link.symlink_to(real)
    amble_cli("eval", *files, "-m", "AP", "-o", str(link))
    assert link.is_symlink()
    assert real.read_text().startswith("run ")


def test_closed_streams(files: tuple[str, str]) -> None:
    call = f"{sys.executable} -m amble eval {files[0]} {files[1]} -m AP"
    done = subprocess.run(["bash", "-c", f"{call} >&-"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    done = subprocess.run(["bash", "-c", f"{call} 2>&-"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "run      AP\ntag  0.7500\n")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("    raise RuntimeError('mine')\n", "Mine: its function failed with RuntimeError: mine"),
        ("    return 3\n", "Mine: its function returned 3, expected a user"),
        ("    return Forward(continuation=1 + gain)\n", "Mine: the probability of going on after rank 1 is 2"),
        ("    return Forward(weights=rank)\n", "Mine: weights must be numbers that do not rise"),
        ("    return Forward(last=gain * 0 + 0.9)\n", "must be at least 0 and sum to at most 1"),
    ],
)
def test_plugins_that_are_wrong(amble_cli: Cli, write, files: tuple[str, str], body: str, message: str) -> None:
    plugin = write(
        "mine.py",
        "from amble.measures import Forward, measure\n"
        "@measure('Mine', question='order2')\ndef mine(gain, rank):\n    'Mine.'\n" + body,
    )
    done = amble_cli("eval", *files, "--plugin", plugin, "-m", "Mine")
    assert done.returncode == 2, done.stdout
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_plugin_that_leaves(amble_cli: Cli, write, files: tuple[str, str]) -> None:
    done = amble_cli("eval", *files, "--plugin", write("out.py", "import sys\nsys.exit(3)\n"))
    assert done.returncode == 2
    assert "out.py: SystemExit: 3" in done.stderr


def test_relevance_from_outside(amble_cli: Cli, files: tuple[str, str]) -> None:
    for bad in ("nan", "inf", "-1"):
        done = amble_cli("eval", *files, "--rel", bad)
        assert done.returncode == 2
        assert "expected a number of at least 0" in done.stderr
    done = amble_cli("eval", *files, "--rel", "2", "-m", "AP(rel=1)", "AP", "--format", "tsv", "--quiet")
    assert [line.split("\t")[2:] for line in done.stdout.splitlines()[1:]] == [
        ["AP(rel=1)", "0.7500"],
        ["AP(rel=2)", "0.0000"],
    ]


def test_lines_of_an_old_mac(amble_cli: Cli, write, files: tuple[str, str]) -> None:
    done = amble_cli("eval", files[0], write("mac.run", RUN.replace("\n", "\r")))
    assert done.returncode == 2
    assert "mac.run:1: carriage return inside the line, expected lines that end in LF or CRLF" in done.stderr
    assert amble_cli("eval", files[0], write("dos.run", RUN.replace("\n", " more\r\n"))).returncode == 0


def test_cwl_has_measures_of_its_own(amble_cli: Cli, files: tuple[str, str]) -> None:
    done = amble_cli("eval", *files, "--cwl")
    assert done.returncode == 0, done.stderr
    assert "INST" in done.stdout


def test_json_of_odd_ids(amble_cli: Cli, write) -> None:
    qrels, run = write("q", b"t\xff 0 a 1\n"), write("r.run", b"t\xff Q0 a 1 1 \xfetag\n")
    done = amble_cli("eval", qrels, run, "-m", "AP", "--format", "json")
    assert json.loads(done.stdout)["rows"][0]["run"] == "\udcfetag"


# ---- interrupted, and numbers too large ----


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize("module", ["types", "amble.cli.main", "argparse", "amble.cli.commands.list", "amble.measures"])
@pytest.mark.parametrize("script", [False, True])
def test_an_early_interrupt_leaves_no_traceback(tmp_path: Path, module: str, script: bool) -> None:
    # SIGINT at the very moment at which a module is looked for, after amble itself was
    (tmp_path / "sitecustomize.py").write_text(
        "import os, signal, sys\n"
        "class Interrupt:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == {module!r} and 'amble' in sys.modules:\n"
        "            sys.meta_path.remove(self); os.kill(os.getpid(), signal.SIGINT)\n"
        "        elif name == 'amble':\n"
        "            for name in ('types', 'argparse'): sys.modules.pop(name, None)\n"
        "sys.meta_path.insert(0, Interrupt())\n"
    )
    start = ["-m", "amble"]
    if script:  # as pip writes it
        (tmp_path / "bin").mkdir()
        (tmp_path / "bin" / "amble").write_text("import sys\nfrom amble.cli.main import entry\nsys.exit(entry())\n")
        start = ["-P", str(tmp_path / "bin" / "amble")]
    paths = [str(tmp_path), os.path.dirname(os.path.dirname(amble.__file__))]
    done = subprocess.run(
        [sys.executable, *start, "list"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "amble: stopped\n")


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_importing_amble_leaves_signals_alone() -> None:
    code = "import signal, amble, amble.cli.main; print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)"
    command = [sys.executable, "-c", code, "-m", "amble"]
    assert subprocess.check_output(command) == b"True\n"


@pytest.mark.parametrize("number", ["9223372036854775808", "1" + 30 * "0", "-9223372036854775809", "0"])
@pytest.mark.parametrize("command", ["eval", "pool", "fuse", "judge uniques", "distribution", "compare"])
def test_a_depth_that_no_list_has(
    files: tuple[str, str], command: str, number: str, capfd: pytest.CaptureFixture[str]
) -> None:
    words = command.split()
    paths = [*files, files[1]] if command == "compare" else [files[1]] * 2 if words[0] in ("pool", "fuse") else files
    more = ["-m", "AP"] if words[0] in ("eval", "distribution") else []
    assert main([*words, *paths, *more, "--depth", number]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith(f"amble: argument --depth: found '{number}', expected a whole number from 1 to ")
    assert err.count("\n") == 1


def test_any_number_of_threads(files: tuple[str, str]) -> None:
    # as many as there is work for; a large file is not cut into more pieces than that, either
    qrels, run = files
    assert main(["eval", qrels, run, "--threads", "1024", "--quiet"]) == 0
    assert amble.align(qrels, [run], threads=2**62, depth=2**63 - 1).lengths.tolist() == [2, 2]


def arguments_of(command: str) -> list[argparse.Action]:
    parser = argparse.ArgumentParser()
    importlib.import_module(f"amble.cli.commands.{command}").arguments(parser)
    return parser._actions


# words that the help has for files: read, written
FILES = {
    *("QRELS", "RUN", "FILE", "COLLECTION", "INDEX", "TOPICS", "LOG", "SESSIONS", "POOL", "N|FILE", "DOC"),
    *("FOLDER", "FIT", "SHARES"),
}
# of these, no files: a run by its name, a document by its id; folders, of which the first is looked at file by file;
# and the folder of finished pieces, whose files have names of their own
NO_FILES = {
    ("compare", "baseline"),
    ("exposure", "baseline"),
    ("gate", "baseline"),  # or it does; the command looks itself
    ("report", "baseline"),
    ("explain", "doc"),
    ("report", "charts"),
    ("fit", "temporary"),
    ("meta", "save_runs"),
    ("meta", "baseline"),
}


def test_every_argument_that_names_a_file_is_known() -> None:
    named = {
        (command, action.dest)
        for command in COMMANDS
        for action in arguments_of(command)
        if action.metavar in FILES and (command, action.dest) not in NO_FILES and action.dest != "checkpoint"
    }
    assert {dest for _, dest in named} - {*READ, *WRITTEN} == set()
    assert {*READ, *WRITTEN} - {dest for _, dest in named} == set()  # and no other is


@pytest.fixture
def here(write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """A folder with something to read for every command, which runs in this process."""
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")  # as `main` does, and for no other test
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "qrels.txt": QRELS,
        "a.run": RUN,
        "b.run": RUN.replace("tag", "other"),
        "z.txt": "401 AP 0.5 0.1\n",
        "costs.txt": "a 1\n",
        "plugin.py": "",
        "sessions.tsv": "s 1 401 401\n",
        "report.toml": 'qrels = "qrels.txt"\nruns = ["a.run", "b.run"]\n',
        "fit.toml": "",
        "means.svg": "401 Q0 a 1 1 drawn\n",
        "log[1].tsv": "1\t0\tQ\t1\t0\ta\tb\n",
        "logs.tsv": "1\t0\tQ\t1\t0\ta\tb\n",
        "docs.tsv": "a\tone\n",
        "chart.html": RUN,
    }.items():
        write(name, text)
    (tmp_path / "soft").symlink_to("qrels.txt")
    (tmp_path / "hard").hardlink_to("a.run")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "one.tsv").write_text("a\tone\n")
    return {str(path): path.read_bytes() for path in sorted(tmp_path.rglob("*")) if path.is_file()}


@pytest.mark.parametrize(
    "words",
    [
        "eval qrels.txt a.run -o qrels.txt",
        "eval qrels.txt a.run -o ./soft",
        "eval qrels.txt a.run -o hard",
        "eval qrels.txt a.run --zscores z.txt -o z.txt",
        "eval qrels.txt a.run --cwl --costs costs.txt -o costs.txt",
        "eval qrels.txt a.run --plugin plugin.py -o plugin.py",
        "eval qrels.txt a.run -m PH(user='fit.toml') -o fit.toml",
        'eval qrels.txt a.run -m AP,RBP(user="fit.toml#rbp") -o fit.toml',
        "compare qrels.txt a.run b.run -o b.run",
        "compare qrels.txt a.run b.run --sessions sessions.tsv -o sessions.tsv",
        "meta tau qrels.txt a.run b.run -o hard",
        "meta pool qrels.txt a.run chart.html --plot chart.html",
        "distribution qrels.txt a.run -o qrels.txt",
        "distribution qrels.txt chart.html --plot chart.html",
        "distribution qrels.txt a.run chart.html --hasse chart.html",
        "session qrels.txt sessions.tsv a.run -o sessions.tsv",
        "user PH(user='fit.toml') --plot fit.toml",
        "report qrels.txt a.run b.run -o qrels.txt",
        "report qrels.txt a.run b.run --latex soft",
        "report --config report.toml -o report.toml",
        "report --config report.toml -o b.run",
        "report --config report.toml --latex report.toml",
        "report qrels.txt a.run means.svg -m AP --charts . -o means.svg",
        "fit logs.tsv -o logs.tsv",
        "fit log[1].tsv -o log[1].tsv",
        "fit *.tsv -o logs.tsv",
        "fit logs.tsv --qrels qrels.txt -o soft",
        "fit logs.tsv --qrels chart.html --plot chart.html",
        "index docs -o docs/one.tsv",
        "index docs.tsv --stopwords z.txt -o z.txt",
        "pool a.run --qrels qrels.txt -o soft",
        "explain docs.tsv a --topic one -o docs.tsv",
        "judge sheet a.run --topics z.txt -o z.txt",
    ],
)
def test_nothing_is_written_over_what_is_read(
    here: dict[str, bytes], tmp_path: Path, capsys: pytest.CaptureFixture[str], words: str
) -> None:
    argv = words.split()
    assert main(argv) == 2
    assert capsys.readouterr() == ("", f"amble: {argv[-1]}: is read, expected another file to write to\n")
    assert {str(path): path.read_bytes() for path in sorted(tmp_path.rglob("*")) if path.is_file()} == here


def test_charts_of_a_report_are_not_drawn_over_runs(here: dict[str, bytes], capsys: pytest.CaptureFixture[str]) -> None:
    words = "report qrels.txt a.run means.svg -m AP --charts . -o page.html --quiet"
    assert main(words.split()) == 2
    assert capsys.readouterr().err == "amble: ./means.svg: is read, expected another file to write to\n"
    assert Path("means.svg").read_bytes() == here[str(Path("means.svg").absolute())]


def test_two_outputs_are_two_files(here: dict[str, bytes], capsys: pytest.CaptureFixture[str]) -> None:
    words = "distribution qrels.txt a.run b.run -m AP --plot x.html --hasse ./x.html"
    assert main(words.split()) == 2
    assert capsys.readouterr().err == "amble: ./x.html: is written to twice, expected another file\n"


def test_standard_input_is_read_too(amble_cli: Cli, files: tuple[str, str]) -> None:
    code = f"{sys.executable} -m amble eval - {files[1]} -o {files[0]} < {files[0]}"
    done = subprocess.run(["bash", "-c", code], capture_output=True, text=True, env=os.environ)
    assert (done.returncode, done.stderr) == (
        2,
        f"amble: {files[0]}: is read, expected another file to write to\n",
    )
    assert Path(files[0]).read_text() == QRELS


def test_standard_output_by_its_name_is_not_replaced(files: tuple[str, str], tmp_path: Path) -> None:
    # what is appended to keeps what it holds, and what comes after amble's output is there, too
    for name in ("/dev/stdout", "/dev/fd/1"):
        kept = tmp_path / "kept.txt"
        kept.write_text("before\n")
        with kept.open("ab") as out:
            command = [sys.executable, "-m", "amble", "eval", *files, "-m", "AP", "--quiet", "-o", name]
            assert subprocess.run(command, stdout=out).returncode == 0
            out.write(b"after\n")
        assert kept.read_text() == "before\nrun      AP\ntag  0.7500\nafter\n"


def test_rel_is_for_measures_that_look_at_grades(amble_cli: Cli, files: tuple[str, str]) -> None:
    done = amble_cli("eval", *files, "--rel", "2", "-m", "Judged@10", "NumRet", "NumQ", "AP", "--quiet")
    assert done.stdout.splitlines()[0].split() == ["run", "Judged@10", "NumRet", "NumQ", "AP(rel=2)"]
    refused = amble_cli("eval", *files, "-m", "Judged(rel=2)@10")
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)


def test_demo_leaves_alone_what_it_did_not_make(amble_cli: Cli, tmp_path: Path) -> None:
    for name in ("qrels.txt", "dense.run", "report.html"):
        folder = tmp_path / name.replace(".", "-")
        folder.mkdir()
        (folder / name).write_text("mine")
        done = amble_cli("demo", str(folder), "--size", "2")
        assert (done.returncode, done.stdout) == (2, "")
        told = f"amble: {folder / name}: is there already and holds something else, expected a new folder\n"
        assert done.stderr == told
        assert {path.name: path.read_text() for path in folder.iterdir()} == {name: "mine"}
    assert amble_cli("demo", str(tmp_path / "d"), "--size", "2").returncode == 0
    assert amble_cli("demo", str(tmp_path / "d"), "--size", "2").returncode == 0  # the same once more
    before = (tmp_path / "d" / "qrels.txt").read_bytes()
    assert amble_cli("demo", str(tmp_path / "d"), "--size", "3").returncode == 2
    assert (tmp_path / "d" / "qrels.txt").read_bytes() == before


LOCALES = [
    {"PYTHONIOENCODING": "latin-1"},
    {"PYTHONIOENCODING": "ascii:replace"},
    {"PYTHONIOENCODING": "utf-16"},
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
]


@pytest.mark.parametrize("env", LOCALES)
def test_ids_come_out_as_they_went_in(amble_cli: Cli, write, tmp_path: Path, env: dict[str, str]) -> None:
    ids = "é", "中", "ÿ"
    qrels = write("q", "".join(f"t{x} 0 d{x} 1\n" for x in ids).encode() + b"t\xff 0 d\xff 1\n")
    lines = b"".join(f"t{x} Q0 d{x} 1 1 é\n".encode() for x in ids) + b"t\xff Q0 d\xff 1 1 \xc3\xa9\n"
    one, two = write("1.run", lines), write("2.run", lines)
    fused = amble_cli("fuse", one, two, "--quiet", **env)
    assert fused.returncode == 0, fused.stderr
    assert [line.split()[0] for line in fused.stdout.splitlines()] == ["té", "t中", "tÿ", "t\udcff"]
    run = write("fused.run", fused.stdout.encode("utf-8", "surrogateescape"))
    done = amble_cli("eval", qrels, run, "-m", "AP", "--trec", "-q", "--quiet", **env)
    assert done.returncode == 0, done.stderr
    # in the order of their bytes: é is c3 a9, ÿ c3 bf, 中 e4 …
    assert [line.split("\t")[1:] for line in done.stdout.splitlines()[:4]] == [
        [topic, "1.0000"] for topic in ("té", "tÿ", "t中", "t\udcff")
    ]


@pytest.mark.parametrize("env", LOCALES)
def test_json_of_the_measures_whatever_the_locale(amble_cli: Cli, env: dict[str, str]) -> None:
    found = json.loads(amble_cli("list", "--format", "json", **env).stdout)
    assert found == json.loads(amble_cli("list", "--format", "json").stdout)
    assert not json.dumps(found, ensure_ascii=False).isascii()  # there is something to get wrong


def test_errors_hold_no_escapes_of_a_terminal(amble_cli: Cli) -> None:
    done = amble_cli("eval", "q\x1b[31m.txt", "r")
    assert (done.returncode, done.stderr) == (2, "amble: q\\x1b[31m.txt: no such file\n")


ALL = "a topic is called all: the mean's topic is - (JSON null, CSV empty); in trec_eval's layout it comes last"


def test_a_topic_called_all(amble_cli: Cli, write) -> None:
    # AP of all is 1, of 402 1/2: the mean is 3/4
    qrels = write("q", QRELS.replace("401", "all"))
    words = ["eval", qrels, write("r", RUN.replace("401", "all")), "-m", "AP", "-q"]
    rows = json.loads(amble_cli(*words, "--format", "json").stdout)["rows"]
    assert [(row["topic"], row["value"]) for row in rows] == [("all", 1.0), ("402", 0.5), (None, 0.75)]
    done = amble_cli(*words, "--format", "csv")
    assert done.stdout == "run,topic,measure,value\ntag,all,AP,1.0\ntag,402,AP,0.5\ntag,,AP,0.75\n"
    told = f"amble: {ALL}"
    assert done.stderr.splitlines()[1:] == [told]
    for more in ([], ["--residual"], ["--cwl"], ["--format", "tsv"]):
        lines = amble_cli(*words, *more).stdout.splitlines()
        assert [line.split()[1] for line in lines[1:]] == ["all", "402", "-"]
    done = amble_cli(*words, "--trec")
    assert [line.split("\t")[1:] for line in done.stdout.splitlines()] == [
        ["402", "0.5000"], ["all", "1.0000"], ["all", "tag"], ["all", "0.7500"],
    ]  # fmt: skip
    assert ALL in done.stderr
    alone = amble_cli(*words[:-1], "--format", "csv")  # without the topics there is nothing to mistake
    assert alone.stdout == "run,topic,measure,value\ntag,all,AP,0.75\n"
    assert "called all" not in alone.stderr


def test_a_run_of_another_collection_is_an_error(amble_cli: Cli, files: tuple[str, str], write) -> None:
    strange = write("strange.run", "401 Q0 x1 1 3 strange\n402 Q0 x2 1 3 strange\n")
    line = f"found x1, x2, expected such as a, b, c of {files[0]}; --allow-unjudged scores it all the same\n"
    for words in (
        ("eval",),
        ("compare", "-m", "AP"),
        ("meta", "tau"),
        ("distribution",),
        ("report", "-o", f"{strange}.html"),
    ):
        done = (
            amble_cli(words[0], *words[1:2], files[0], files[1], strange, *words[2:])
            if words[0] == "meta"
            else (amble_cli(words[0], files[0], files[1], strange, *words[1:]))
        )
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == f"amble: run strange: none of its documents is judged for any topic: {line}"
    done = amble_cli("eval", files[0], strange, "-m", "AP", "--allow-unjudged", "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (0, "run          AP\nstrange  0.0000\n", "")
    # of this collection, but nothing found: no error
    other = write("other.run", "401 Q0 c 1 3 other\n")
    assert amble_cli("eval", files[0], other, "-m", "AP").returncode == 0


def test_float32(amble_cli: Cli, write) -> None:
    """b's and a's scores are one float: then b comes first, as its docno is the larger."""
    qrels = write("q.txt", "1 0 a 1\n1 0 b 0\n")
    run = write("close.run", "1 Q0 a 1 1.00000001 close\n1 Q0 b 2 1 close\n")
    double = amble_cli("eval", qrels, run, "-m", "RR")
    assert double.stdout == "run        RR\nclose  1.0000\n"
    assert double.stderr.endswith(", as float32 another order in 1 list (close)\n")
    single = amble_cli("eval", qrels, run, "-m", "RR", "--float32")
    assert single.stdout == "run        RR\nclose  0.5000\n"
    assert single.stderr.endswith("tied documents 2 (by docno), scores compared as float32\n")
    found = json.loads(amble_cli("eval", qrels, run, "-m", "RR", "--float32", "--format", "json").stdout)
    assert found["options"]["score_dtype"] == "float32"
    checked = amble_cli("check", run)
    assert "2 further documents share their score as float32" in checked.stdout
    assert "another order in 1 of 1 topics (--float32)" in checked.stdout


def test_measures_as_typed(amble_cli: Cli, files: tuple[str, str]) -> None:
    def names(*words: str) -> list[str]:
        lines = amble_cli("eval", *files, "--quiet", *words, "--format", "tsv").stdout.splitlines()[1:]
        return [line.split("\t")[2] for line in lines]

    typed = ["RBP(p=0.8)", "AP", "AP(rel=1)", "P@5", "AP"]
    assert names("-m", *typed) == typed[:4]
    assert names("-m", *typed, "--names", "trec") == ["RBP(p=0.8)", "map", "P_5"]
    # altered by --rel: the canonical name; nDCG has no part in it
    assert names("-m", "RBP(p=0.8)", "nDCG(base=2)@5", "--rel", "2") == ["RBP(rel=2)", "nDCG(base=2)@5"]
    trec = amble_cli("eval", *files, "--trec", "-m", *typed).stdout.splitlines()
    assert [line.split("\t")[0].strip() for line in trec] == ["runid", "RBP(p=0.8)", "map", "P_5"]
    everything = amble_cli("eval", *files, "--trec", "-m", "all_trec").stdout
    assert "Rprec_mult_1.00" in everything
    assert "\nRprec  " in everything


@pytest.mark.parametrize(
    ("command", "option"), [("eval", "--depth"), ("meta", "--rounds"), ("fit", "--rounds"), ("fit", "--memory")]
)
@pytest.mark.parametrize("number", ["9223372036854775808", "1" + "0" * 30, "9" * 5000, "1_0", "٣", "-1", "nan", ""])
def test_whole_numbers_are_bounded(
    command: str, option: str, number: str, capsys: pytest.CaptureFixture[str], files: tuple[str, str]
) -> None:
    words = {"eval": [*files], "meta": ["tau", *files, files[1]], "fit": [files[1]]}[command]
    assert main([command, *words, f"{option}={number}"]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"amble: argument {option}: found ")
    assert "expected a whole number from " in said
    assert said.count("\n") == 1
    assert len(said) < 250


def test_every_number_on_the_command_line_is_bounded() -> None:
    """No option is read by int or float themselves, which take 1_0, digits of any script, and any size."""
    for command in COMMANDS:
        parser = _parser(command, importlib.import_module(f"amble.cli.commands.{command}"))
        for action in parser._actions:
            assert action.type not in (int, float), f"amble {command} {action.option_strings}"
            if action.type is not None and action.dest != "output":
                for bad in ("1" + "0" * 400, "1_0", "٣", "nan", "inf", "x", ""):
                    with pytest.raises(argparse.ArgumentTypeError, match="found .*, expected a"):
                        action.type(bad)


def test_a_message_is_one_line_that_a_terminal_can_show(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "a\x1b[31m\u2028b", "c"]) == 2
    assert capsys.readouterr().err == "amble: a\\x1b[31m b: no such file\n"
    assert main(["eval", "q", "r", "--x\ny\udcff"]) == 2
    assert capsys.readouterr().err == "amble: unrecognized arguments: --x y\\udcff (see amble eval --help)\n"
    assert main(["eval", "q", "r", "--output=--"]) == 2  # argparse of Python 3.11 hands over an empty list
    assert "argument -o/--output: found --, expected a value" in capsys.readouterr().err


def test_stories_without_docstrings(amble_cli: Cli) -> None:
    """python -OO drops docstrings; what measures and commands say of themselves stays."""
    for words in (["list", "RBP", "MP", "sDCG"], ["eval", "--help"]):
        done = subprocess.run([sys.executable, "-OO", "-m", "amble", *words], capture_output=True, timeout=300)
        assert done.returncode == 0
        assert done.stdout.decode() == amble_cli(*words).stdout


def test_law_is_called_distribution_and_dist_for_short(
    capsys: pytest.CaptureFixture[str], files: tuple[str, str]
) -> None:
    assert main(["law", *files]) == 2
    said = "amble: law is called distribution: amble distribution --help shows more\n"
    assert capsys.readouterr() == ("", said)
    assert main(["distribution", *files, "-m", "AP"]) == 0
    long = capsys.readouterr()
    assert main(["dist", *files, "-m", "AP"]) == 0
    assert capsys.readouterr() == long


def test_no_command_imports_another() -> None:
    folder = Path(importlib.import_module("amble.cli.commands").__path__[0])
    for path in folder.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = [getattr(node, "module", None) or "", *(alias.name for alias in node.names)]
                assert not any(name.startswith("amble.cli.commands") for name in names), path


def test_an_option_is_one_thing_in_all_commands() -> None:
    """Options of a name have one metavar, and a short letter belongs to one long name."""
    metavars: dict[str, set[str]] = {}
    longs: dict[str, set[str]] = {}
    for command in COMMANDS:
        for action in _parser(command, importlib.import_module(f"amble.cli.commands.{command}"))._actions:
            *short, long = action.option_strings or [""]
            for letter in short:
                longs.setdefault(letter, set()).add(long)
            if long and action.metavar is not None:
                metavars.setdefault(long, set()).add(str(action.metavar))
    assert {letter: names for letter, names in longs.items() if len(names) > 1} == {
        "-q": {"--by-topic", "--by-session"}
    }
    assert {long: names for long, names in metavars.items() if len(names) > 1} == {
        "--output": {"FILE", "INDEX", "RUN"},
        "--baseline": {"RUN", "MEASURE"},  # of meta satisfaction, which compares measures
        "--groups": {"FILE", "N|FILE"},  # of topics or documents, and of runs
        "--levels": {"N", "L,L,…"},  # of recall, and of degradation
        "--target": {"COLUMN", "SHARES"},  # T of a fit, and that of groups in exposure
        "--why": {"TOPIC", "SESSION"},
    }


def test_what_is_said_of_missing_topics_goes_before_trecs_habit(
    amble_cli: Cli, write: Callable[[str, str], str]
) -> None:
    qrels, run = write("q.txt", "1 0 a 1\n2 0 b 1\n"), write("r.run", "1 Q0 a 1 1 x\n")
    means = {
        given: amble_cli("eval", qrels, run, "-m", "AP", "--trec", *given, "--quiet").stdout.split()[-1]
        for given in ((), ("--missing", "zero"))
    }
    assert means == {(): "1.0000", ("--missing", "zero"): "0.5000"}  # topic 2 left out, or 0
