"""amble meta: every question, every format, charts, and one line where something is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from amble.cli import main
from amble.collection import make_collection
from amble.table import Table

QUESTIONS = ("tau", "agreement", "power", "swaps", "pool", "topics")
FEW = {"tau": "--repeats", "agreement": "--repeats", "power": "--repeats", "swaps": "--repeats", "pool": "--repeats"}


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("demo")
    made = make_collection(folder, topics=8)
    return [str(made.qrels), *map(str, made.runs)]


def words(question: str, demo: list[str], *more: str) -> list[str]:
    few = [FEW[question], "5"] if question in FEW else []
    return ["meta", question, *demo, "-m", "AP", "P@10", *few, *more]


@pytest.mark.parametrize("question", QUESTIONS)
def test_questions(question: str, demo: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(words(question, demo, "--format", "json", "--seed", "3")) == 0
    said = capsys.readouterr()
    answer = json.loads(said.out)
    assert answer["question"] == question
    assert answer["options"]["seed"] == 3
    assert answer["rows"]
    assert said.err.startswith("amble: 6 runs x 8 topics")
    assert main(words(question, demo, "--format", "json", "--seed", "3", "--threads", "1", "--quiet")) == 0
    again = capsys.readouterr()
    assert json.loads(again.out)["rows"] == answer["rows"]
    assert again.err == ""
    for how in ("table", "tsv", "csv", "latex", "html"):
        assert main(words(question, demo, "--format", how, "-o", str(tmp_path / how), "--quiet")) == 0
        assert (tmp_path / how).read_text().count("\n") > 1 or how == "html"


@pytest.mark.parametrize("question", QUESTIONS)
def test_charts(question: str, demo: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chart = tmp_path / "chart.svg"
    assert main(words(question, demo, "--plot", str(chart), "--quiet")) == 0
    svg = chart.read_text()
    assert svg.startswith("<svg")
    assert "P@10" in svg
    capsys.readouterr()


def test_options_reach_their_functions(demo: list[str], capsys: pytest.CaptureFixture[str], write: Any) -> None:
    def rows(*more: str) -> list[dict[str, Any]]:
        assert main([*words(more[0], demo, *more[1:]), "--format", "json", "--quiet"]) == 0
        found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["rows"]
        return found

    assert list(rows("tau", "--statistic", "rbo", "--resample", "none")[0]) == ["measure", "other", "rbo"]
    assert list(rows("tau", "--matrix")[0]) == ["measure", "AP", "P@10"]
    assert len(rows("power", "--curve", "--test", "t")) == 2 * 15
    assert {row["topics"] for row in rows("swaps", "--sizes", "2,4")} == {2, 4}
    assert {row["difference"] for row in rows("swaps", "--curve", "--bin-width", "2")} == {0.0}
    assert {row["pool"] for row in rows("pool", "--rates", "0.5")} == {"full", "50%"}
    assert {row["pool"] for row in rows("pool", "--pool-depths", "3,9")} == {"full", "depth 3", "depth 9"}
    assert {row["group"] for row in rows("pool", "--groups", "2")} == {"bm", "de", "hy", "bo", "re"}
    groups = write("groups.txt", "bm25 old\nbm25+rm3 old\ndense new\nhybrid new\n")
    found = rows("pool", "--groups", groups, "--group-depth", "5")
    assert {(row["group"], row["runs"]) for row in found} == {("old", 2), ("new", 2)}
    found = rows("topics", "--differences", "0.1,0.2", "--widths", "0.3", "--power", "0.9", "--alpha", "0.01")
    assert [row["size"] for row in found] == [0.1, 0.2, 0.3] * 2
    assert rows("agreement", "--alpha", "0.5")[0]["SSA"] > rows("agreement", "--alpha", "0.0001")[0]["SSA"]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (["tau", "--rates", "0.5"], "--rates goes with amble meta pool"),
        (["pool", "--test", "t"], "--test goes with amble meta agreement or amble meta power"),
        (["pool", "--rates", "0.5", "--groups", "2"], "three ways to cut a pool"),
        (["pool", "--rates", "half"], "--rates: found 'half', expected numbers with commas between"),
        (["pool", "--rates", "2"], "rate 2.0: expected a share above 0 and at most 1"),
        (["pool", "--groups", "nothing.txt"], "nothing.txt: No such file or directory"),
        (["pool", "--group-depth", "5"], "--group-depth goes with --groups"),
        (["swaps", "--sizes", "5"], "at most 4 of 8 topics"),
        (["tau", "--seed", "-1"], "seed=-1: expected a whole number of at least 0"),
        (["tau", "--digits", "99"], "--digits 99"),
        (["power", "--repeats", "0"], "rounds=0"),
        (["power", "--missing", "skip"], "lack topics"),
    ],
)
def test_one_line_where_something_is_wrong(
    wrong: list[str], said: str, demo: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["meta", wrong[0], *demo, "-m", "AP", *wrong[1:]]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.startswith("amble: ")
    assert err.count("\n") == 1


def test_a_single_run_cannot_be_compared(demo: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    for question in QUESTIONS:
        assert main(["meta", question, *demo[:2], "-m", "AP"]) == 2
        assert "expected at least 2" in capsys.readouterr().err


def test_groups_that_cannot_be_read(demo: list[str], write: Callable[[str, str], str], capsys: Any) -> None:
    path = write("groups.txt", "bm25 old\nbm25+rm3\n")
    assert main(["meta", "pool", *demo, "-m", "AP", "--groups", path]) == 2
    assert f"{path}:2: found 1 columns, expected 2: run group" in capsys.readouterr().err


def test_in_a_process_of_its_own(demo: list[str], amble_cli: Callable[..., Any]) -> None:
    done = amble_cli("meta", "tau", *demo, "-m", "AP", "RR", "--resample", "none", "--quiet")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[:3] == ["measure", "other", "tau"]


def test_specs_are_of_what_the_tables_say() -> None:
    from amble.report.lines import Panel, lines_spec

    table = Table(["measure", "x", "y", "low", "high"], [["AP", 1, 0.5, 0.4, 0.6], ["RR", 2, 0.7, 0.6, 0.8]])
    spec = lines_spec(table, "x", [Panel("one", "y", "low", "high"), Panel("two", "y", rows=("x", 2))])
    first, second = spec["hconcat"]
    assert first["data"]["values"].splitlines()[:2] == ["measure,x,y,low,high", "AP,1,0.5,0.4,0.6"]
    assert [len(first["layer"]), len(second["layer"])] == [2, 1]
    assert second["data"]["values"].splitlines() == ["measure,x,y", "RR,2,0.7"]
    assert lines_spec(table, "x", [Panel("none", "y", rows=("x", 3))]) == {"hconcat": []}
