"""amble meta: every analysis, every format, charts, and one line where something is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from amble.cli.demo_collection import make_collection
from amble.cli.main import main
from amble.table import Table

ANALYSES = ("tau", "agreement", "power", "swaps", "pool", "topics")
FEW = {"tau": "--rounds", "power": "--rounds", "swaps": "--rounds", "pool": "--rounds"}


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("demo")
    made = make_collection(folder, topics=8)
    return [str(made.qrels), *map(str, made.runs)]


def words(analysis: str, demo: list[str], *more: str) -> list[str]:
    drawn = not {"--groups", "--pool-depths", "none", "--matrix", "t"} & set(more)
    few = [FEW[analysis], "5"] if analysis in FEW and drawn else []
    return ["meta", analysis, *demo, "-m", "AP", "P@10", *few, *more]


@pytest.mark.parametrize("analysis", ANALYSES)
def test_analyses(analysis: str, demo: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    seed = [] if analysis in ("agreement", "topics") else ["--seed", "3"]  # where nothing is random, there is none
    assert main(words(analysis, demo, "--format", "json", *seed)) == 0
    said = capsys.readouterr()
    answer = json.loads(said.out)
    assert answer["analysis"] == analysis
    assert answer["options"]["seed"] == (3 if seed else 0)
    assert answer["rows"]
    assert said.err.startswith("amble: 6 runs x 8 topics")
    assert main(words(analysis, demo, "--format", "json", *seed, "--threads", "1", "--quiet")) == 0
    again = capsys.readouterr()
    assert json.loads(again.out)["rows"] == answer["rows"]
    assert again.err == ""
    for how in ("table", "tsv", "csv", "latex", "html"):
        assert main(words(analysis, demo, "--format", how, "-o", str(tmp_path / how), "--quiet")) == 0
        assert (tmp_path / how).read_text().count("\n") > 1 or how == "html"


@pytest.mark.parametrize("analysis", ANALYSES)
def test_charts(analysis: str, demo: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chart = tmp_path / "chart.svg"
    assert main(words(analysis, demo, "--plot", str(chart), "--quiet")) == 0
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
    wide = rows("topics", "--differences", "0.1", "--widths", "0.3", "--confidence", "0.99")
    assert wide[0]["topics"] < found[0]["topics"]  # --alpha
    assert wide[1]["topics"] > found[2]["topics"]  # --confidence
    lax, strict = (rows("swaps", "--max-rate", rate)[0]["share above"] for rate in ("0.9", "0.001"))
    assert lax > strict
    assert rows("agreement", "--alpha", "0.5")[0]["SSA"] > rows("agreement", "--alpha", "0.0001")[0]["SSA"]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (["tau", "--rates", "0.5"], "--rates goes with amble meta pool"),
        (["pool", "--test", "t"], "--test goes with amble meta agreement or amble meta power"),
        (["pool", "--rates", "0.5", "--groups", "2"], "three ways to cut a pool"),
        (["pool", "--rates", "half"], "--rates: found 'half', expected numbers with commas between"),
        (["pool", "--rates", "2"], "rate=2.0: expected a number above 0 and at most 1"),
        (["pool", "--groups", "nothing.txt"], "--groups nothing.txt: no such file"),
        (["pool", "--group-depth", "5"], "--group-depth goes with --groups"),
        (["swaps", "--sizes", "5"], "at most 4 of 8 topics"),
        (["tau", "--seed", "-1"], "argument --seed: found '-1', expected a whole number from 0"),
        (["tau", "--digits", "99"], "argument --digits: found '99'"),
        (["power", "--rounds", "0"], "argument --rounds: found '0'"),
        (["power", "--missing", "skip"], "lack topics"),
        (
            ["pool", "--groups", "²"],
            "--groups ²: no such file, expected one of lines run group, or",
        ),
        (["pool", "--groups", "9" * 5000], "no such file, expected one of lines"),
        (["pool", "--groups", "2", "--rounds", "5"], "--rounds goes without --groups: nothing is random"),
        (["pool", "--groups", "2", "--confidence", "0.9"], "--confidence goes without --groups"),
        (["pool", "--pool-depths", "5", "--rounds", "5"], "--rounds goes without --pool-depths"),
        (["pool", "--groups", "2", "--seed", "5"], "--seed goes without --groups: nothing is random"),
        (["topics", "--seed", "5"], "--seed goes without topics: nothing is random"),
        (["agreement", "--rounds", "5"], "--rounds has no part in the test 't': nothing is random"),
        (["power", "--test", "t", "--seed", "5"], "--seed has no part in the test 't': nothing is random"),
        (["tau", "--resample", "none", "--seed", "5"], "--seed goes without --resample none: nothing is random"),
        (["tau", "--matrix", "--resample", "both"], "--resample goes without --matrix"),
        (["degrade", "--save-runs", ""], "argument --save-runs: found an empty text, expected a value"),
        (["degrade", "--workers", "2"], "--workers goes without degrade"),
        (["topics", "--differences", "1e308"], "difference=1e+308: expected a number above 0 and below 1e+100"),
        (["swaps", "--bin-width", "1e-300"], "width=1e-300: expected a number of at least 1e-09"),
        (["topics", "-m", "GMAP"], "GMAP: its mean is geometric"),
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
    for analysis in ANALYSES:
        assert main(["meta", analysis, *demo[:2], "-m", "AP"]) == 2
        assert "expected at least 2" in capsys.readouterr().err


def test_groups_that_cannot_be_read(demo: list[str], write: Callable[[str, str], str], capsys: Any) -> None:
    path = write("groups.txt", "bm25 old\nbm25+rm3\n")
    assert main(["meta", "pool", *demo, "-m", "AP", "--groups", path]) == 2
    assert f"{path}:2: found 1 column, expected 2: run group" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("bm25 old\ndense new\nbm25 new\n", "group new: run 'bm25' is there in group old, too; expected it once"),
        ("bm25 old\nbm25 old\ndense new\n", "group old: run 'bm25' is there twice; expected it once"),
        ("", "empty, expected lines: run group"),
        ("bm25 old\n", "found 1 group, expected at least 2"),
        ("bm25 old\nnobody new\n", "group new: run 'nobody' is not among the 6 runs"),
    ],
)
def test_groups_that_make_no_sense(
    lines: str, said: str, demo: list[str], write: Callable[[str, str], str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["meta", "pool", *demo, "-m", "AP", "--groups", write("groups.txt", lines)]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1


def test_a_run_that_may_be_any_of_several(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = make_collection(tmp_path / "demo", topics=4)
    runs = []
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        path = tmp_path / folder / "same.run"
        path.write_bytes(Path(made.runs[0 if folder == "a" else 1]).read_bytes())
        runs.append(str(path))
    groups = tmp_path / "groups.txt"
    groups.write_text("same one\ndense two\n")
    dense = next(str(run) for run in made.runs if "dense" in str(run))
    assert main(["meta", "pool", str(made.qrels), *runs, dense, "-m", "AP", "--groups", str(groups)]) == 2
    assert "group one: run 'same' may be any of 2 runs" in capsys.readouterr().err


def test_runs_in_no_group_are_told(demo: list[str], write: Callable[[str, str], str], capsys: Any) -> None:
    path = write("groups.txt", "bm25 old\nbm25+rm3 old\ndense new\n")
    assert main(["meta", "pool", *demo, "-m", "AP", "--groups", path, "--quiet"]) == 0
    assert capsys.readouterr().out.startswith("3 runs are in no group: what they brought to the pool stays\n")
    assert main(["meta", "pool", *demo, "-m", "AP", "--groups", "2", "--quiet"]) == 0
    assert capsys.readouterr().out.startswith("group")


def test_undefined_topics_of_pools(write: Callable[[str, str], str], capsys: pytest.CaptureFixture[str]) -> None:
    qrels = write("qrels.txt", "1 0 a 1\n1 0 b 0\n2 0 c 0\n2 0 d 0\n")  # nothing relevant on topic 2
    lists = {"x": "1 Q0 a 1 2 x\n1 Q0 b 2 1 x\n2 Q0 c 1 1 x\n", "y": "1 Q0 b 1 2 y\n1 Q0 a 2 1 y\n2 Q0 d 1 1 y\n"}
    runs = [write(f"{name}.run", text) for name, text in lists.items()]
    for cut, column in ((["--pool-depths", "1"], "mean"), (["--groups", "1"], "full")):
        means = {}
        for undefined in ("zero", "skip"):
            command = ["meta", "pool", qrels, *runs, "-m", "AP", *cut, "--undefined", undefined, "--quiet"]
            assert main([*command, "--format", "json"]) == 0
            means[undefined] = [row[column] for row in json.loads(capsys.readouterr().out)["rows"]]
        assert means["skip"] == [2 * x for x in means["zero"]]
    nothing = write("nothing.txt", "1 0 a 0\n2 0 c 0\n")
    assert main(["meta", "pool", nothing, *runs, "-m", "AP", "--undefined", "skip"]) == 2
    assert "run x has no topic with a score in AP: it cannot be ranked" in capsys.readouterr().err


def test_one_topic_is_too_few(write: Callable[[str, str], str], capsys: pytest.CaptureFixture[str]) -> None:
    qrels = write("qrels.txt", "1 0 a 1\n")
    runs = [write(f"{name}.run", f"1 Q0 {name} 1 2 {name}\n1 Q0 a 2 1 {name}\n") for name in ("b", "c")]
    for analysis in ("agreement", "power"):
        for test in ("t", "bootstrap", "tukey"):
            assert main(["meta", analysis, qrels, *runs, "-m", "AP", "--test", test]) == 2
            assert "have scores on 1 common topic, expected at least 2" in capsys.readouterr().err


def test_logarithms_are_told(demo: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    said = "GMAP: differences of logarithms, as the mean is geometric\n"
    for words in (["power", "--test", "t"], ["swaps"], ["swaps", "--curve"]):
        assert main(["meta", words[0], *demo, "-m", "AP", "GMAP", *words[1:], "--quiet"]) == 0
        assert capsys.readouterr().out.startswith(said)
        assert main(["meta", words[0], *demo, "-m", "AP", *words[1:], "--quiet"]) == 0
        assert "logarithms" not in capsys.readouterr().out


def test_in_a_process_of_its_own(demo: list[str], amble_cli: Callable[..., Any]) -> None:
    done = amble_cli("meta", "tau", *demo, "-m", "AP", "RR", "--resample", "none", "--quiet")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[:3] == ["measure", "other", "tau"]


def test_specs_are_of_what_the_tables_say() -> None:
    from amble.reporting.charts.line_charts import Panel, lines_spec

    table = Table(["measure", "x", "y", "low", "high"], [["AP", 1, 0.5, 0.4, 0.6], ["RR", 2, 0.7, 0.6, 0.8]])
    spec = lines_spec(table, "x", [Panel("one", "y", "low", "high"), Panel("two", "y", rows=("x", 2))])
    first, second = spec["hconcat"]
    assert first["data"]["values"].splitlines()[:2] == ["measure,x,y,low,high", "AP,1,0.5,0.4,0.6"]
    assert [len(first["layer"]), len(second["layer"])] == [2, 1]
    assert second["data"]["values"].splitlines() == ["measure,x,y", "RR,2,0.7"]
    assert lines_spec(table, "x", [Panel("none", "y", rows=("x", 3))]) == {"hconcat": []}
