"""`amble session`, and `amble compare` on sessions: formats, options, what is said, what is refused."""

from __future__ import annotations

import csv
import io
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import amble
from amble.cli.main import main

CLI = Callable[..., subprocess.CompletedProcess[str]]
Write = Callable[[str, str | bytes], str]

QRELS = "1 0 a 2\n1 0 b 0\n1 0 é 1\n2 0 a 1\n2 0 c 3\n"
FIRST = "1 Q0 a 1 3 x\n1 Q0 b 2 1 x\n2 Q0 c 1 5 x\n2 Q0 a 2 4 x\n"
OTHER = "1 Q0 é 1 3 y\n2 Q0 zz 1 2 y\n2 Q0 c 2 1 y\n"
TABLE = "s1 1 1 1\ns1 2 2 2\ns2 1 1 1\n"
LOG = '[{"session": "a", "queries": [[1, 0], [0, 1]]}, {"session": "b", "queries": [[%s]]}]'


@pytest.fixture
def files(write: Write) -> list[str]:
    """Judgments, a table of sessions, two runs."""
    return [write("qrels", QRELS), write("table", TABLE), write("x.run", FIRST), write("y.run", OTHER)]


@pytest.fixture
def here(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> CLI:
    """Run the command line in this process, which is quicker than in one of its own."""
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")  # as `main` does, and for no other test

    def call(*args: str) -> subprocess.CompletedProcess[str]:
        code = main(list(args))
        said = capsys.readouterr()
        return subprocess.CompletedProcess(args, code, said.out, said.err)

    return call


@pytest.fixture
def log(write: Write) -> str:
    return write("log.json", LOG % "0, 1")


def test_a_table_of_means(files: list[str], amble_cli: CLI) -> None:
    done = amble_cli("session", *files, "-m", "sDCG P@2")
    assert done.returncode == 0
    # x: 2 + (3 + 1) / 1.5 = 4.6667 and 2, mean 3.3333; y: 1 + (3 / log2 2) / 1.5 = 3 and 1, mean 2
    # P@2: x: (1/2 + 1) / 2 and 1/2; y: 1/2 and 1/2
    lines = [line.split() for line in done.stdout.splitlines()]
    assert lines[0] == ["run", "sDCG", "PerQuery(of='P@2')"]
    assert lines[1:] == [["x", "3.3333", "0.6250"], ["y", "2.0000", "0.5000"]]
    assert "2 runs x 2 sessions, 6 queries" in done.stderr
    assert "judged documents shown again 1: count every time" in done.stderr


def test_every_session(files: list[str], here: CLI) -> None:
    done = here("session", *files, "-m", "sDCG", "-q", "--format", "tsv", "--digits", "6", "--quiet")
    assert done.stderr == ""
    assert done.stdout.splitlines()[:4] == [
        "run\tsession\tmeasure\tvalue",
        "x\ts1\tsDCG\t4.666667",
        "x\ts2\tsDCG\t2.000000",
        "x\tall\tsDCG\t3.333333",
    ]
    once = here("session", *files, "-m", "sDCG", "-q", "--format", "tsv", "--repeats", "once")
    assert "x\ts1\tsDCG\t4.0000" in once.stdout  # 2 + 3 / 1.5
    assert "count once" in once.stderr


@pytest.mark.parametrize("kind", ["table", "tsv", "csv", "json", "latex", "html"])
@pytest.mark.parametrize("more", [(), ("-q",), ("--effort",)])
def test_formats(log: str, here: CLI, kind: str, more: tuple[str, ...]) -> None:
    done = here("session", log, "--format", kind, *more)
    assert done.returncode == 0, done.stderr
    if kind == "json":
        found = json.loads(done.stdout)
        assert found["options"]["repeats"] == "every"
        assert [file["path"] for file in found["files"]] == [log]
        assert {"run", "session", "measure"} <= found["rows"][0].keys() or not more
    elif kind == "csv":
        assert len({len(row) for row in csv.reader(io.StringIO(done.stdout))}) == 1
    assert ("session" in done.stdout) or not more


def test_json_on_standard_input(amble_cli: CLI, files: list[str]) -> None:
    done = amble_cli("session", "-", "-m", "sDCG", "--quiet", stdin=(LOG % "1").encode())
    # 1 + 1 / 1.5, and 1
    assert done.stdout.splitlines()[1].split() == ["-", f"{(1 + 1 / 1.5 + 1) / 2:.4f}"]
    for at, content in ((0, QRELS), (1, TABLE), (2, FIRST)):
        arguments = [*files]
        arguments[at] = "-"
        got = amble_cli("session", *arguments, "-m", "sDCG", "--quiet", stdin=content.encode())
        assert got.returncode == 0, got.stderr
        assert [line.split()[1] for line in got.stdout.splitlines()] == ["sDCG", "3.3333", "2.0000"]


def test_effort(log: str, here: CLI) -> None:
    done = here("session", log, "--effort", "-q", "--format", "json", "-m", "MsM", "esAP")
    rows = {(row["session"], row["measure"]): row for row in json.loads(done.stdout)["rows"]}
    on_list = amble.parse("MsM").user([[1, 0], [0, 1]])
    row = rows["a", "MsM"]
    assert row["queries"] == pytest.approx(1 + 2 / 3)  # r / (r + s) = 2/3
    assert row["documents"] == pytest.approx(on_list.expected_depth)
    assert row["gain"] == pytest.approx(on_list.expected_gain([[1, 0], [0, 1]]))
    assert rows["b", "MsM"]["queries"] == 1
    # she goes down with .8 and, of those who do not, .7 ask again: everybody leaves, so .7
    assert rows["a", "esAP"]["queries"] == pytest.approx(1.7)
    assert rows["all", "esAP"]["queries"] == pytest.approx((1.7 + 1) / 2)
    done = here("session", log, "--effort")  # of what are users
    assert done.returncode == 0
    assert "sRBP" in done.stdout
    done = here("session", log, "--effort", "-m", "sDCG")
    assert (done.returncode, done.stdout) == (2, "")
    assert "sDCG is not a user" in done.stderr


def test_references_and_files(log: str, here: CLI, tmp_path: Path) -> None:
    done = here("session", log, "--bib", "-m", "MsM sRBP")
    assert "vandijk2019" in done.stdout
    assert "lipani2019" in done.stdout
    out = tmp_path / "scores.tsv"
    done = here("session", log, "-o", str(out), "--format", "tsv", "-m", "sDCG")
    assert (done.returncode, done.stdout) == (0, "")
    assert out.read_text().splitlines()[1].startswith("log\tall\tsDCG\t")
    assert [path.name for path in tmp_path.iterdir() if "partial" in path.name] == []
    bad = here("session", str(tmp_path / "none.json"), "-o", str(out))
    assert bad.returncode == 2
    assert out.read_text().startswith("run")  # what was there stays


def test_a_warning_is_a_line(files: list[str], amble_cli: CLI) -> None:
    for arguments in (("session",), ("compare",)):
        done = amble_cli(*arguments, *files, "-m", "MsM(user='yandex_log')")
        assert done.returncode == 0
        assert done.stderr.splitlines()[1].startswith("amble: MsM(user='yandex_log'): its probabilities sum to 1.10")
        assert "NormalisedWarning" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-m", "MsM(p=0.5)"], "p + q + r + s = 0.5 + 0.1 + 0.2 + 0.1 = 0.9, expected 1"),
        (["-m", "MsM(p=0.7,q=0.1,r=0,s=0.2)"], "r = 0"),
        (["-m", "nothing"], "no measure is called nothing"),
        (["--depth", "3"], "options for runs"),
        (["--repeats", "once"], "none can be known again"),
        (["--intervals", "-q"], "--intervals goes with"),
        (["--layout", "xml"], "expected judgments"),
    ],
)
def test_what_is_refused(log: str, here: CLI, arguments: list[str], said: str) -> None:
    done = here("session", log, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_files_that_are_refused(files: list[str], write: Write, amble_cli: CLI, tmp_path: Path) -> None:
    for arguments, said in (
        (files[:1], "expected judgments"),
        (files[:2], "expected runs with it"),
        ([files[0], str(tmp_path)], "a directory"),
        ([files[0], "absent", files[2]], "absent: no such file"),
        ([files[0], write("binary", b"\x00\xff\xfe\x80" * 50)], "binary:1: found 1 columns"),
        ([write("empty.json", "[" + " " * 9)], "empty.json:1: "),
        ([write("none.json", '[{"session": "a", "queries": []}]')], "session a of none has no query"),
        ([files[0], write("bad", "s1 one 1 1\n"), files[2]], "bad:1: query 'one'"),
    ):
        done = amble_cli("session", *arguments)
        assert (done.returncode, done.stdout) == (2, ""), arguments
        assert said in done.stderr
        assert len(done.stderr.splitlines()) == 1


def test_unicode(write: Write, here: CLI) -> None:
    done = here("session", write("é.json", LOG.replace('"a"', '"Sitzung ü 会"') % "1"), "-q", "--format", "csv")
    assert "é,Sitzung ü 会,MsM," in done.stdout


# ---- comparing


def test_comparing_sessions(files: list[str], here: CLI) -> None:
    first = here("compare", *files, "-m", "sDCG", "--format", "json")
    found = json.loads(first.stdout)
    # differences 4.6667 - 3 and 2 - 1: mean 1.3333
    assert found["rows"][0]["difference"] == pytest.approx((5 / 3 + 1) / 2)
    assert (found["rows"][0]["run"], found["rows"][0]["other"]) == ("x", "y")
    assert found["options"]["repeats"] == "every"
    assert [Path(file["path"]).name for file in found["files"]] == ["qrels", "table", "x.run", "y.run"]
    named = here("compare", files[0], *files[2:], "--sessions", files[1], "-m", "sDCG", "--format", "json")
    assert json.loads(named.stdout) == found
    lists = here("compare", files[0], *files[2:], "--sessions", files[1], "-m", "P@2", "--format", "json")
    assert json.loads(lists.stdout)["rows"][0]["difference"] == pytest.approx(0.125)


@pytest.mark.parametrize("given", ["x.run", "x"])
@pytest.mark.parametrize("apart", [True, False])
def test_the_baseline_is_the_run_that_was_named(files: list[str], here: CLI, given: str, apart: bool) -> None:
    qrels, table, *runs = files
    inputs = [qrels, *runs, "--sessions", table] if apart else [qrels, table, *runs]
    name = runs[0] if given == "x.run" else given
    done = here("compare", *inputs, "-m", "sDCG", "--baseline", name, "--format", "json")
    assert done.returncode == 0, done.stderr
    row = json.loads(done.stdout)["rows"][0]
    assert (row["run"], row["other"]) == ("y", "x")


def test_a_baseline_among_files_of_sessions(write: Write, here: CLI) -> None:
    paths = [write(f"{name}.json", LOG % grade) for name, grade in (("A", "1"), ("B", "2"), ("C", "3"))]
    for path, name in ((paths[0], "A"), (paths[1], "B"), ("C", "C")):
        done = here("compare", *paths, "-m", "MsM", "--baseline", path, "--format", "tsv", "--quiet")
        rows = [line.split("\t") for line in done.stdout.splitlines()]
        assert {row[rows[0].index("other")] for row in rows[1:]} == {name}
    done = here("compare", *paths, "-m", "MsM", "--baseline", "D")
    assert (done.returncode, done.stderr) == (2, "amble: --baseline D: expected a file, or one of A, B, C\n")


def test_comparisons_that_are_refused(files: list[str], log: str, here: CLI) -> None:
    for arguments, said in (
        ([files[0], files[1], files[2], "-m", "MsM"], "1 run, expected at least two"),
        ([*files, "-m", "MsM", "--why", "s1"], "amble session --why SESSION"),
        ([*files, "-m", "MsM", "--undefined", "skip"], "looks at lists, not at sessions"),
    ):
        done = here("compare", *arguments)
        assert (done.returncode, done.stdout) == (2, "")
        assert said in done.stderr


def test_commands_of_lists_refuse_sessions(files: list[str], here: CLI) -> None:
    for arguments in (
        ("eval", files[0], files[2], "-m", "MsM"),
        ("distribution", files[0], files[2], "-m", "MsM"),
    ):
        done = here(*arguments)
        assert (done.returncode, done.stdout) == (2, "")
        assert "MsM is a measure of sessions, not of lists" in done.stderr


def test_the_list_of_measures(here: CLI) -> None:
    done = here("list", "--family", "sessions")
    for name in ("MsM", "sDCG", "sRBP", "esAP", "CubeTest", "ACT", "ExpectedUtility", "sU"):
        assert f"  {name} " in done.stdout
    assert "@k: the list ends at rank k of each list" in here("list", "MsM").stdout
    assert "@ sets k" in here("list", "esP").stdout


ALL = "a session is called all: the mean's session is - (JSON null, CSV empty); in trec_eval's layout it comes last"


def test_a_session_called_all(here: CLI, write: Write) -> None:
    # P@1 of the two is 1 and 0, their mean 1/2
    log = write("log.json", json.dumps([{"session": "all", "queries": [[1]]}, {"session": "b", "queries": [[0]]}]))
    done = here("session", log, "-m", "P@1", "-q", "--format", "json")
    rows = json.loads(done.stdout)["rows"]
    assert [(row["session"], row["value"]) for row in rows] == [("all", 1.0), ("b", 0.0), (None, 0.5)]
    assert done.stderr.splitlines()[-1] == f"amble: {ALL}"
    rows = json.loads(here("session", log, "-m", "sRBP", "-q", "--effort", "--format", "json").stdout)["rows"]
    assert [row["session"] for row in rows] == ["all", "b", None]
