"""amble report: options, files of options, gates, tables and charts for papers, and what happens when it is stopped."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import amble
from amble.cli.demo_collection import make_collection
from amble.cli.main import main
from amble.reporting.charts.chart import save
from amble.reporting.options import KEYS, read_config, write_config

Cli = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of one's own, with a small collection in it."""
    make_collection(tmp_path / "demo", topics=10)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def cli(capfd: pytest.CaptureFixture[str]) -> Cli:
    """The command line in this process, which is quicker."""

    def call(*words: str) -> subprocess.CompletedProcess[str]:
        capfd.readouterr()
        code = main(list(words))
        out, err = capfd.readouterr()
        return subprocess.CompletedProcess(words, code, out, err)

    return call


def data_of(path: Path) -> dict[str, object]:
    text = path.read_text(encoding="utf-8").split('id="data">')[1].split("</script>")[0]
    read: dict[str, object] = json.loads(text)
    return read


def test_page_is_written(cli: Cli, here: Path) -> None:
    runs = [f"demo/{name}.run" for name in ("bm25", "dense")]
    done = cli("report", "demo/qrels.txt", *runs, "-m", "AP", "P@10", "-o", "my page.html", "--title", "Mine")
    assert (done.returncode, done.stdout) == (0, "report: my page.html\n")
    assert done.stderr.startswith("amble: 2 runs x 10 topics, scored 20")
    page = (here / "my page.html").read_text()
    assert "<title>Mine</title>" in page
    assert [m["name"] for m in data_of(here / "my page.html")["measures"]] == ["AP", "P@10"]  # type: ignore[attr-defined,index]
    for path in ("demo/qrels.txt", *runs):
        assert path in page
    assert not list(here.glob("*.partial"))


def test_tests_are_imported_while_files_are_read(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[object] = []
    evaluate = amble.evaluation.scores.evaluate

    def evaluated(*of: Any, **options: Any) -> amble.Scores:
        begun.append("read")
        return evaluate(*of, **options)

    monkeypatch.setattr("threading.Thread.start", lambda thread: begun.append(thread._args))
    monkeypatch.setattr("amble.evaluation.scores.evaluate", evaluated)
    assert cli("report", "demo/qrels.txt", "demo/bm25.run", "-m", "AP", "--threads", "1").returncode == 0
    assert begun == [("scipy.special",), "read"]


def test_gates(cli: Cli, here: Path) -> None:
    qrels, runs = "demo/qrels.txt", ["demo/hybrid.run", "demo/boolean.run", "demo/rerank.run"]
    ask = ("report", qrels, *runs, "-m", "AP", "--baseline", "demo/hybrid.run", "--quiet")
    done = cli(*ask, "--fail-if", "nDCG@10", "--fail-if", "AP drops by 0.05 significantly")
    scores = amble.evaluate(qrels, runs, "AP nDCG@10")
    lines = []
    for measure in ("nDCG@10", "AP"):
        found = amble.compare(scores, measure, "hybrid")
        for k, (run, _) in enumerate(found.pairs):
            if found.adjusted[k] <= 0.05 and found.difference[k] < (-0.05 if measure == "AP" else 0):
                lines.append(f"regression: {run}: {measure} {scores[run, measure].mean():.4f}, hybrid ")
    assert len(lines) >= 2  # boolean is far worse, by both
    assert done.returncode == 3
    out = done.stdout.splitlines()
    assert out[0] == "report: report.html"
    assert [line[: len(lines[i])] for i, line in enumerate(out[1:])] == lines
    assert "paired t-test, holm)" in out[1]
    assert data_of(here / "report.html")  # the page is there, too, with the gate's measure
    # nothing drops by more than a half
    assert cli(*ask, "--fail-if", "AP drops by 0.5").returncode == 0
    # the other way round there is nothing worse than the worst
    done = cli("report", qrels, *runs, "--baseline", "boolean", "--fail-if", "AP", "--quiet", "-m", "AP")
    assert (done.returncode, done.stdout) == (0, "report: report.html\n")


def test_a_gate_that_cannot_fail_says_so(cli: Cli) -> None:
    # of 3 topics a sign test has 8 outcomes: p is at least 2 x 1/8
    make_collection("few", topics=3)
    done = cli(
        "report", "few/qrels.txt", "few/hybrid.run", "few/boolean.run", "-m", "AP", "--baseline", "hybrid",
        "--test", "sign", "--fail-if", "AP", "--quiet",
    )  # fmt: skip
    assert done.returncode == 0
    assert done.stderr == "amble: --fail-if AP: too few topics to find any difference, so it cannot fail\n"


def test_config(cli: Cli, here: Path) -> None:
    (here / "sub").mkdir()
    (here / "sub" / "report.toml").write_text(
        'title = "From a file"\nqrels = "../demo/qrels.txt"\nruns = ["../demo/b*.run", "../demo/dense.run"]\n'
        'measures = ["AP", "RBP(p=0.5)"]\nbaseline = "bm25"\nalpha = 0.1\nties = "rank"\noutput = "out.html"\n'
        'fail-if = "AP"\n'
    )
    done = cli("report", "--config", "sub/report.toml", "--quiet")
    assert done.returncode == 3
    assert done.stdout.startswith("report: sub/out.html\nregression: boolean: AP ")
    data = data_of(here / "sub" / "out.html")
    assert data["title"] == "From a file"
    assert data["runs"] == ["bm25+rm3", "bm25", "boolean", "dense"]
    assert data["audit"]["options"]["ties"] == "rank"  # type: ignore[index]
    assert data["leaderboard"]["alpha"] == 0.1  # type: ignore[index]
    # the command line goes before the file
    done = cli("report", "--config", "sub/report.toml", "--alpha", "0.01", "--title", "x", "-o", "o.html")
    data = data_of(here / "o.html")
    assert (data["title"], data["leaderboard"]["alpha"]) == ("x", 0.01)  # type: ignore[index]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("title = ", "c.toml: Invalid value (at end of document), expected TOML"),
        (f"a = 1\nseed = {'1' * 5000}", "c.toml:2: found a number or a name of 5,000 characters"),
        (".".join("a" * 5000) + " = 1", "c.toml:1: found a key of 5,000 parts"),
        ("a = " + "[" * 5000, "c.toml:1: found brackets in brackets, 11 deep"),
        ("titel = 'x'", "c.toml: no option is called 'titel'; did you mean title?"),
        ("alpha = 'x'", "c.toml: alpha = 'x', expected a number"),
        ("seed = true", "c.toml: seed = True, expected a whole number"),
        ("runs = [1]", "c.toml: runs = [1], expected a text or a list of texts"),
        ("runs = []", "c.toml: runs = [], expected a text or a list of texts"),
        ("runs = 'none*.run'", "c.toml: runs: no file matches none*.run"),
        ("test = 'z'", "c.toml: test='z': expected one of 't', 'wilcoxon'"),
        ("chart-format = 'gif'", "c.toml: chart-format='gif': expected one of 'svg', 'png', 'pdf'"),
        ("mixtures = 3", "c.toml: mixtures = 3, expected tables of measures and their shares of the users"),
        ("[mixtures.readers]\nAP = '1'", "c.toml: mixtures = {'readers': {'AP': '1'}}, expected tables of measures"),
        (
            "qrels = 'demo/qrels.txt'\nruns = 'demo/bm25.run'\n[mixtures.readers]\nAP = 0.5",
            "c.toml: mixtures.readers: the shares of a mixture sum to 0.5, expected 1",
        ),
        ("title = 'x'", "no judgments: expected QRELS RUN…, or --config with qrels and runs"),
        ("qrels = 'demo/qrels.txt'", "no runs: expected QRELS RUN…, or --config with qrels and runs"),
    ],
)
def test_wrong_config(cli: Cli, here: Path, text: str, message: str) -> None:
    (here / "c.toml").write_text(text)
    done = cli("report", "--config", "c.toml")
    assert done.returncode == 2
    assert done.stderr.startswith(f"amble: {message}")
    assert done.stderr.count("\n") == 1
    assert not (here / "report.html").exists()


def test_mixtures_in_a_file_of_options(cli: Cli, here: Path) -> None:
    (here / "c.toml").write_text(
        "qrels = 'demo/qrels.txt'\nruns = ['demo/bm25.run', 'demo/dense.run']\nmeasures = ['AP']\nbaseline = 'bm25'\n"
        "fail-if = 'readers drops by 0.9'\nsystems = 2\n"
        "[mixtures.readers]\n'RBP(p=0.5)' = 0.5\n'RBP(p=0.95)' = 0.5\n"
    )
    done = cli("report", "--config", "c.toml", "--latex", "t.tex", "--quiet")
    assert (done.returncode, done.stderr) == (0, "")
    scores = amble.evaluate("demo/qrels.txt", "demo/bm25.run", ["RBP(p=0.5)", "RBP(p=0.95)"])
    mean = scores.means()[0].mean()
    table = (here / "t.tex").read_text()
    assert "readers" in table
    assert f"{mean:.4f}"[1:] in table
    page = (here / "report.html").read_text()
    assert "[mixtures." in page  # in the file that makes the report again


def test_config_that_cannot_be_read(cli: Cli, here: Path) -> None:
    (here / "c.toml").write_bytes(b"title = '\xff'")
    assert cli("report", "--config", "c.toml").stderr == "amble: c.toml: byte 10 is not UTF-8, expected TOML\n"
    assert cli("report", "--config", "none.toml").stderr == "amble: none.toml: no such file\n"
    assert cli("report", "--config", "demo").returncode == 2


def test_config_is_written_as_it_is_read(here: Path) -> None:
    of_kind = {"text": 'a "b" \\ é\t', "texts": ["x\n\U000e0001", "ü"], "number": 0.25, "whole": 3, "switch": True}
    of_kind["shares"] = {'a "b"': {"RBP(p=0.5)": 0.3, "MP(model='GL_OR_ID')": 0.7}, "c": {"AP": 1}}
    options = {key: of_kind[kind] for key, kind in KEYS.items()}
    (here / "c.toml").write_text(write_config(options), encoding="utf-8")
    assert read_config("c.toml") == options


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--fail-if", "AP"], "--fail-if AP: compares with a baseline: say which, with --baseline RUN"),
        (["--baseline", "z"], "--baseline z: expected a file, or one of bm25, dense"),
        (
            ["--baseline", "bm25", "--fail-if", "AP drops by x"],
            "--fail-if 'AP drops by x': expected MEASURE, 'MEASURE drops', ",
        ),
        (["--baseline", "bm25", "--fail-if", "nDGC"], "--fail-if 'nDGC': no measure is called nDGC"),
        (["--baseline", "bm25", "--fail-if", "AP falls"], "--fail-if 'AP falls': found 'falls' at character 4"),
        (["--alpha", "2"], "argument --alpha: found '2', expected a number between 0 and 1"),
        (["--systems", "0"], "argument --systems: found '0', expected a whole number from 1"),
        (["--seed", "-1"], "argument --seed: found '-1', expected a whole number from 0"),
        (["--test", "tukey", "--correction", "holm"], "test='tukey' is about all runs at once"),
        (["--rounds", "9"], "--rounds has no part in the test 't', in which nothing is random; expected permutation"),
        (["--chart-format", "pdf"], "--chart-format is of charts in files: expected --charts FOLDER"),
        (["--layout", "xml"], "--layout is of sessions: expected --sessions FILE"),
        (["-o", "none/report.html"], "none/report.html: No such file or directory"),
        (["-o", "demo"], "demo: Is a directory"),
        (["--charts", "x/" * 2000], "x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/…: too many folders"),
        (["--charts", "demo/qrels.txt"], "demo/qrels.txt: a file, expected a folder"),
        (["-o", "-"], "-: standard output, expected a file"),
        (["--latex", "-"], "-: standard output, expected a file"),
    ],
)
def test_wrong_options(cli: Cli, here: Path, words: list[str], message: str) -> None:
    done = cli("report", "demo/qrels.txt", "demo/bm25.run", "demo/dense.run", "-m", "AP", *words)
    assert done.returncode == 2
    assert done.stderr.startswith(f"amble: {message}")
    assert not (here / "report.html").exists()


def test_a_folder_that_cannot_be_written_to(cli: Cli, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Said before the work, not after it."""
    monkeypatch.setattr(os, "access", lambda path, mode: str(path) != str(here.resolve()))
    done = cli("report", "no such qrels", "demo/bm25.run")
    assert done.returncode == 2
    assert done.stderr == "amble: report.html: Permission denied\n"


def test_latex_with_marks(cli: Cli, here: Path) -> None:
    runs = ["demo/hybrid.run", "demo/boolean.run", "demo/bm25+rm3.run"]
    ask = ("report", "demo/qrels.txt", *runs, "-m", "AP", "P@10", "--quiet", "--latex", "table.tex")
    assert cli(*ask, "--baseline", "bm25+rm3").returncode == 0
    scores = amble.evaluate("demo/qrels.txt", runs, "AP P@10")
    arrows = {}
    for measure in ("AP", "P@10"):
        found = amble.compare(scores, measure, "bm25+rm3")
        for k, (run, _) in enumerate(found.pairs):
            up = r"$^{\uparrow}$" if found.difference[k] > 0 else r"$^{\downarrow}$"
            arrows[run, measure] = up if found.significant[k] else ""
    lines = (here / "table.tex").read_text().splitlines()
    assert lines[0] == (
        "% paired t-test, two-sided, alpha 0.05, Holm's correction of 2 comparisons with bm25+rm3; "
        "↑ ↓ significantly better, worse"
    )
    assert lines[1:5] == [r"\begin{tabular}{lrr}", r"\toprule", r"run & AP & P@10 \\", r"\midrule"]
    assert lines[-2:] == [r"\bottomrule", r"\end{tabular}"]
    assert arrows["boolean", "AP"] == r"$^{\downarrow}$"
    cells = [f"{scores['boolean', m].mean():.4f}{arrows['boolean', m]}" for m in ("AP", "P@10")]
    assert rf"boolean & {cells[0]} & {cells[1]} \\" in lines
    assert any(line.startswith(r"hybrid & \textbf{") for line in lines)
    # without a baseline: letters
    assert cli(*ask).returncode == 0
    letters = amble.compare(scores, "AP").letters()
    of = dict(zip(letters["run"], letters["letters"], strict=True))
    text = (here / "table.tex").read_text()
    assert "no significant difference found between runs that share a letter" in text
    assert f"boolean & {scores['boolean', 'AP'].mean():.4f}$^{{\\mathrm{{{of['boolean']}}}}}$" in text


def test_charts(cli: Cli, here: Path) -> None:
    ask = ("report", "demo/qrels.txt", "demo/hybrid.run", "demo/bm25.run", "-m", "AP", "RR", "--charts", "figures")
    done = cli(*ask, "--chart-format", "svg", "--chart-format", "pdf", "--quiet")
    assert done.returncode == 0, done.stderr
    names = {"means", "topics", "differences", "distributions", "dominance", "users", "tau"}
    assert {path.name for path in (here / "figures").iterdir()} == {
        f"{name}.{ending}" for name in names for ending in ("svg", "pdf")
    }
    heads = {"svg": b"<svg", "pdf": b"%PDF"}
    assert all(path.read_bytes().startswith(heads[path.suffix[1:]]) for path in (here / "figures").iterdir())


@pytest.mark.parametrize("name", ["😀" * 40, "x" * 300, "a & b_1% #{~^}"])
def test_charts_of_long_and_odd_names(cli: Cli, here: Path, name: str) -> None:
    """Vega cuts long labels in the middle of an emoji, and could not draw what is left."""
    (here / f"{name[:50]}.run").write_text(
        (here / "demo/bm25.run").read_text().replace(" bm25", f" {'-'.join(name.split())}")
    )
    done = cli(
        "report", "demo/qrels.txt", f"{name[:50]}.run", "demo/dense.run", "-m", "AP", "--charts", "figures", "--quiet"
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert {path.stem for path in (here / "figures").iterdir()} >= {"means", "topics", "differences", "distributions"}


def test_a_chart_that_cannot_be_drawn(here: Path) -> None:
    with pytest.raises(amble.AmbleError, match="chart.svg: the chart cannot be drawn: .*"):
        save({"mark": "nothing"}, here / "chart.svg")
    assert not (here / "chart.svg").exists()


def test_the_command_on_the_page_is_the_one_given(cli: Cli, here: Path) -> None:
    """A file of options does not hide what the command line said before it."""
    (here / "r.toml").write_text(
        'qrels = "demo/qrels.txt"\nruns = ["demo/*.run"]\nbaseline = "bm25"\nmeasures = "RR"\n'
    )
    for words in (
        "amble report --config r.toml",
        "amble report --config r.toml --measure AP --baseline dense --seed 0 -o other.html",
        "amble report demo/qrels.txt demo/bm25.run demo/dense.run --config r.toml --alpha 0.1",
    ):
        assert cli(*words.split()[1:]).returncode == 0
        page = (here / ("other.html" if "other" in words else "report.html")).read_text()
        assert f'<code id="report-command">{words}</code>' in page


def test_without_the_extra(amble_cli: Cli, here: Path) -> None:
    # a module of that name that cannot be imported stands before the real one
    (here / "hide").mkdir()
    (here / "hide" / "jinja2.py").write_text("raise ImportError")
    hidden = {"PYTHONPATH": str(here / "hide")}
    done = amble_cli("report", "demo/qrels.txt", "demo/bm25.run", **hidden)
    assert (done.returncode, done.stderr) == (2, "amble: the report needs the extra: pip install 'amble-ir[report]'\n")
    done = amble_cli("demo", "d", "--size", "3", **hidden)
    assert done.returncode == 0
    assert done.stdout.endswith("No report was written: the report needs the extra: pip install 'amble-ir[report]'\n")


@pytest.mark.parametrize("topics", ["1", "4"])
def test_demo_ends_with_it(cli: Cli, here: Path, topics: str) -> None:
    done = cli("demo", "d", "--size", topics)
    assert done.returncode == 0
    path = Path(done.stdout.splitlines()[-1].rsplit(": ", 1)[1])
    assert path == Path("d/report.html")
    assert len(data_of(here / path)["topics"]) == int(topics)  # type: ignore[arg-type]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_stopped_half_way(here: Path, how: signal.Signals) -> None:
    """The old report stays as it is, and nothing is left beside it."""
    (here / "report.html").write_text("the old one")
    # a measure of one's own, that tells when it is asked and then takes its time
    (here / "slow.py").write_text(
        "import pathlib, time\nfrom amble import measure\n\n"
        '@measure("Slow", formula="0")\ndef slow(gains):\n    """She waits."""\n'
        '    pathlib.Path("begun").touch()\n    time.sleep(60)\n'
    )
    words = ["report", "demo/qrels.txt", "demo/bm25.run", "demo/dense.run", "-m", "AP", "Slow", "--plugin", "slow.py"]
    process = subprocess.Popen(
        [sys.executable, "-m", "amble", *words],
        stderr=subprocess.PIPE,
    )
    try:
        for _ in range(600):
            if (here / "begun").exists() or process.poll() is not None:
                break
            time.sleep(0.05)
        assert (here / "begun").exists()
        process.send_signal(how)
        assert process.wait(20) != 0
    finally:
        process.kill()
        process.communicate()
    assert (here / "report.html").read_text() == "the old one"
    assert {path.name for path in here.iterdir()} - {"__pycache__"} == {"demo", "report.html", "slow.py", "begun"}


def test_stopped_while_writing(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that fills up, or Ctrl-C, while the page is written."""
    scores = amble.evaluate("demo/qrels.txt", ["demo/bm25.run", "demo/dense.run"], "AP")
    made = amble.report(scores)
    (here / "report.html").write_text("the old one")

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", stop)
    with pytest.raises(KeyboardInterrupt):
        made.save("report.html")
    assert (here / "report.html").read_text() == "the old one"
    assert {path.name for path in here.iterdir()} == {"demo", "report.html"}
