"""--gains: lists on the command line, in the place of files."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import numpy as np
import pytest

from amble.cli.main import main
from amble.cli.options import read_gains
from amble.reporting.charts.state_graph import state_graph_spec

Cli = Callable[..., CompletedProcess[str]]

# FF20, Figure 1: two runs of ten documents, four of them relevant
R, S = "r=1,0,0,1,0,0,1,0,0,1", "s=0,1,1,1,1,0,0,0,0,0"
BOTH = ("--gains", R, "--gains", S)


def test_eval_of_lists(amble_cli: Cli) -> None:
    done = amble_cli("eval", *BOTH, "-m", "P@10", "AP", "RBP(p=0.5)", "--digits", "12", "--quiet", "--format", "tsv")
    assert (done.returncode, done.stderr) == (0, "")
    assert [line.split("\t") for line in done.stdout.splitlines()[1:]] == [
        ["r", "all", "P@10", "0.400000000000"],
        ["r", "all", "AP", "0.582142857143"],
        ["r", "all", "RBP(p=0.5)", "0.571289062500"],
        ["s", "all", "P@10", "0.400000000000"],
        ["s", "all", "AP", "0.679166666667"],
        ["s", "all", "RBP(p=0.5)", "0.468750000000"],
    ]


def test_lists_share_their_documents(amble_cli: Cli) -> None:
    # three relevant documents, as the second list has: AP of the first is (1 + 2/4) / 3
    done = amble_cli("eval", "--gains", "1,0,0,1", "--gains", "0,1,1,1", "-m", "AP", "R", "--format", "json", "--quiet")
    told = json.loads(done.stdout)
    found = {(row["run"], row["measure"]): row["value"] for row in told["rows"]}
    assert found == pytest.approx(
        {("1", "AP"): 0.5, ("1", "R"): 2 / 3, ("2", "AP"): (1 / 2 + 2 / 3 + 3 / 4) / 3, ("2", "R"): 1}, abs=1e-12
    )
    assert told["options"]["gains"] == ["1,0,0,1", "0,1,1,1"]
    assert told["files"] == []


def test_unjudged_and_graded_documents(amble_cli: Cli) -> None:
    # -1 is in the pool and gains nothing; without the unjudged documents 2 is at rank 1 and .5 at rank 2
    words = ("eval", "--gains", "a=-,2,nan,.5,-1", "-m", "DCG", "--digits", "6", "--quiet", "--format", "tsv")
    for more, score in (
        ((), 2 / math.log2(3) + 0.5 / math.log2(5)),
        (("--unjudged", "condense"), 2 + 0.5 / math.log2(3)),
    ):
        done = amble_cli(*words, *more)
        assert done.stderr == ""
        assert done.stdout.splitlines()[1] == f"a\tall\tDCG\t{score:.6f}"


def test_distribution_of_lists(amble_cli: Cli) -> None:
    done = amble_cli("distribution", *BOTH, "-m", "PH(model='AP')", "--format", "tsv", "--quiet", "--digits", "6")
    assert (done.returncode, done.stderr) == (0, "")
    rows = [line.split("\t") for line in done.stdout.splitlines()[1:]]
    # order 2 of r: E[T] / E[H] = (1 + 2 + 3 + 4) / (1 + 4 + 7 + 10), of s: 10 / (2 + 3 + 4 + 5)
    assert [row[:3] for row in rows] == [["r", "0.582143", "0.454545"], ["s", "0.679167", "0.714286"]]
    pairs = amble_cli("distribution", *BOTH, "-m", "PH(model='AP')", "--pairs", "--format", "tsv", "--quiet")
    assert pairs.stdout.splitlines()[1].split("\t")[:7] == ["r", "s", "less", "less", "incomparable", "less", "0.7500"]


def test_why_of_lists(amble_cli: Cli) -> None:
    done = amble_cli("compare", "--gains", "r=1,0,0,1", "--gains", "s=0,1,1,0", "-m", "AP", "--why", "1", "--quiet")
    assert (done.returncode, done.stderr) == (0, "")
    rows = [line.split() for line in done.stdout.splitlines()[2:]]
    # the first relevant document is at rank 1 and at rank 2: 1/2 x 1 against 1/2 x 1/2; the second at 4 and at 3
    assert rows == [
        ["1#1", "1", "1", "0.5000", "2", "0.2500", "0.2500"],
        ["1#2", "1", "4", "0.2500", "3", "0.3333", "-0.0833"],
        ["all", "-", "-", "0.7500", "-", "0.5833", "0.1667"],
    ]
    based = amble_cli("compare", *BOTH, "-m", "AP", "--why", "1", "--baseline", "r", "--quiet", "--format", "tsv")
    assert (based.returncode, based.stderr) == (0, "")


FIGURES = {  # FF20, Figure 1: the user, and orders 1 and 2 of r and s
    "a": ("P", 0.4, 0.4, 0.4, 0.4),
    "b": ("PH(model='AP')", 0.582142857, 0.454545455, 0.679166667, 0.714285714),
    "c": ("PH(p=.5,q=0,loss=0)", 0.721870350, 0.571847507, 0.298691716, 0.469208211),
    "d": ("PH(p=.5,q=.25,loss=.25)", 0.555703556, 0.410132998, 0.430952675, 0.541332933),
}


@pytest.mark.parametrize("panel", FIGURES)
def test_figure_1(panel: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    measure, *orders = FIGURES[panel]
    file = tmp_path / f"figure1{panel}.svg"
    words = ["distribution", *BOTH, "-m", str(measure), "--plot", str(file), "--users", "2000", "--format", "tsv"]
    assert main([*words, "--digits", "9", "--quiet"]) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()[1:]]
    assert [float(x) for row in rows for x in row[1:3]] == pytest.approx(orders, abs=1e-9)
    drawn = file.read_text(encoding="utf-8")
    for label in ("r", "s", "order 1", "order 2", "score", "share of users whose score is at most x"):
        assert f">{label}<" in drawn
    assert drawn.count("stroke-dasharray") >= 4  # orders 1 and 2 of both runs


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["eval"], "the following arguments are required: QRELS, RUN"),
        (["eval", "qrels.txt"], "the following arguments are required: RUN"),
        (["eval", "qrels.txt", "a.run", "--gains", "1"], "--gains and qrels.txt: expected lists, or files, not both"),
        (["distribution", "--gains", "1", "qrels.txt"], "--gains and qrels.txt: expected lists, or files, not both"),
        (["eval", "--gains", "1,x"], "--gains: 'x' at place 2, expected a number or - for unjudged"),
        (["eval", "--gains", "1,,0"], "--gains: '' at place 2, expected a number"),
        (["eval", "--gains", "1,inf"], "--gains: 'inf' at place 2, expected a number"),
        (["eval", "--gains", "a=1", "--gains", "a=0"], "--gains 'a=0': expected a name of its own before the ="),
        (["eval", "--gains", "=1"], "--gains '=1': expected a name of its own before the ="),
        (["eval", "--gains", "nan,?"], "--gains: all documents are unjudged, expected a grade"),
        (["compare", "--gains", "1", "--gains", "0"], "expected --why 1 with them"),
        (["distribution", "--gains", "1", "--pairs"], "expected at least two"),
        (["distribution", "--plot", "a.svg", *["--gains=1"] * 13], "13 runs, expected at most 12 on one chart"),
        (["compare", "--gains", "1", "--gains", "0", "--why", "1", "-m", "MsM"], "amble session --why SESSION"),
    ],
)
def test_bad_lists(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1


def test_reading_of_lists() -> None:
    assert read_gains(None) == {}
    assert read_gains(["1 0, 2.5"]) == {"1": [1, 0, 2.5]}  # spaces, too
    assert list(read_gains(["1", "b = 1", "0"])) == ["1", "b", "3"]


# ---- amble user


def test_user_of_two_lists(amble_cli: Cli) -> None:
    words = ("user", "PH(loss=0)", "RBP(p=0.5)", "--gains", "r=1,0,0", "--gains", "s=0,1,0", "--format", "json")
    done = amble_cli(*words)
    assert (done.returncode, done.stderr) == (0, "")
    told = json.loads(done.stdout)
    assert [(row["measure"], row["list"], row["rank"]) for row in told["rows"]] == [
        (m, name, rank) for m in ("PH(loss=0)", "RBP(p=0.5)") for name in "rs" for rank in (1, 2, 3)
    ]
    # .75 from 1 to 2; .25 back and .5 on from 2; .25 back from 3. To 2 one returns by 1 with .25 x .75 and by 3
    # with .5 x .25, together .3125, so V(2) = .75 / .6875 = 12/11, V(1) = 1 + .25 V(2) = 14/11
    first, second, third = told["rows"][:3]
    assert (first["p"], first["q"], first["s"]) == (0.75, 0, 0.25)
    assert (third["p"], third["q"], third["s"]) == (0, 0.25, 0.75)
    assert (second["reach"], second["returns"], second["V"]) == pytest.approx((0.75, 0.3125, 12 / 11), abs=1e-12)
    assert told["rows"][6]["p"] is None  # RBP's user goes nowhere but down
    assert told["transitions"].keys() == {"PH(loss=0) on r", "PH(loss=0) on s"}
    assert told["transitions"]["PH(loss=0) on r"] == [[0, 0.75, 0], [0.25, 0, 0.5], [0, 0.25, 0]]
    spread = {(row["measure"], row["list"], row["of"]): (row["mean"], row["variance"]) for row in told["spread"]}
    # T on r counts visits to rank 1: to it, one comes back by 2 with .75 (.25 + .5 .25 (…)) = 3/14; geometric
    back = 1 - 11 / 14
    assert spread["PH(loss=0)", "r", "T"] == pytest.approx((14 / 11, back / (1 - back) ** 2), abs=1e-12)
    # V(3) = V(2) / 2
    assert spread["PH(loss=0)", "r", "H"][0] == pytest.approx((14 + 12 + 6) / 11, abs=1e-12)
    # H is geometric: mean 2, variance 2; T on s is 1 with probability 1/2
    assert spread["RBP(p=0.5)", "s", "H"] == pytest.approx((2, 2), abs=1e-12)
    assert spread["RBP(p=0.5)", "s", "T"] == pytest.approx((0.5, 0.25), abs=1e-12)


def test_user_shows_the_spread_and_the_matrix(amble_cli: Cli) -> None:
    shown = amble_cli("user", "PH", "--gains", "1,0", "--digits", "3").stdout
    rows = [line.split() for line in shown.splitlines()]
    # from 2 back with .25: V(1) = 1 / (1 - .75 x .25) = 16/13, V(2) = 12/13; an unnamed list has no column
    assert rows[1] == [
        "PH",
        "1",
        "0.750",
        "0.000",
        "0.250",
        "0.750",
        "1.000",
        "1.231",
        "0.188",
        "0.571",
        "0.308",
        "0.429",
    ]
    assert ["from", "1", "2", "stop"] in rows
    assert ["2", "0.250", "-", "0.750"] in rows
    # H: 2 x 14/13; T = (1 - .75^K) / .25 for K visits to rank 1, geometric with r = 3/16: E = 1 / (1 - .75 r) = 64/55
    assert [row[2] for row in rows if row[:2] == ["PH", "H"]] == ["2.154"]
    assert [(row[2], row[-1]) for row in rows if row[:2] == ["PH", "T"]] == [("1.164", "100000")]
    down = amble_cli("user", "INSQ").stdout
    assert "transition matrix" not in down
    # V falls as 1 / i^2, so that H has a mean and no variance
    assert [line.split()[3] for line in down.splitlines() if line.startswith("INSQ") and " H " in line] == ["-"]
    endless = amble_cli("user", "PH(end='endless')", "--depth", "2").stdout
    assert "stop, or further down" in endless
    long = amble_cli("user", "RBP(p=.99999999)", "--depth", "1")
    assert (long.returncode, long.stderr) == (0, "")


@pytest.mark.parametrize(
    ("words", "labels"),
    [
        (["PH", "--gains", "1,0,0,1"], ["moves of PH", ".75", ".5", ".25", "stop"]),
        (["MP(model='GL_OR_ID')", "--gains", "1,0,1,1"], ["moves of MP(model='GL_OR_ID')", ".6", ".4", "4"]),
        (["PH(end='endless')", "--depth", "4"], ["stop, or further down"]),
    ],
)
def test_state_graph(words: list[str], labels: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "graph.svg"
    assert main(["user", *words, "--plot", str(file)]) == 0
    drawn = file.read_text(encoding="utf-8")
    for label in labels:
        assert f">{label.replace(chr(39), '&#39;')}<" in drawn or f">{label}<" in drawn
    assert (">stop<" in drawn) == ("stop" in labels)
    assert f"chart: {file}" in capsys.readouterr().out


def test_state_graph_of_any_chain() -> None:
    matrix = np.array([[0.25, 0.5, 0], [0, 0, 1], [0.5, 0, 0.5]])  # a rank that is stayed at, and a jump back
    spec = state_graph_spec(matrix, [2, 5, 7], title="t")
    texts = [row["text"] for layer in spec["layer"] if "text" in layer["encoding"] for row in layer["data"]["values"]]
    assert texts[:4] == ["2", "5", "7", "stop"]
    assert sorted(texts[4 : 4 + 6]) == [".25", ".25", ".5", ".5", ".5", "1"]  # five moves, and the stop of the first
    assert not any("stop" in str(layer) for layer in state_graph_spec(matrix, [2, 5, 7], end="")["layer"])


def test_a_list_that_is_given_ends_where_it_ends(amble_cli: Cli) -> None:
    whole = amble_cli("user", "PH(q=0,loss=0)", "--gains", "1,0").stdout
    assert amble_cli("user", "PH(q=0,loss=0)", "--gains", "1,0", "--depth", "5").stdout == whole
    assert "expected depth 1.5000" in whole  # 1 + 1/2
    refused = amble_cli("user", "PH(effort='time',seconds=2)", "--gains", "1,0")
    assert (refused.returncode, refused.stdout) == (2, "")
    timed = amble_cli("eval", "--gains", "1,0", "-m", "PH(order=2,effort='time',seconds=2)", "--cwl")
    assert timed.returncode == 2
    assert "divides by time" in timed.stderr


def test_formulas_whose_sum_is_not_known_are_refused(amble_cli: Cli) -> None:
    done = amble_cli("user", "CWL(W='min(1,(100000/i)**2)')")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)


def test_a_list_that_begins_with_an_unjudged_document(amble_cli: Cli) -> None:
    for words in (("--gains", "-,1"), ("--gains=-,1",), ("--gains", "?,1")):
        done = amble_cli("eval", *words, "-m", "RR", "--quiet")
        assert done.stdout.split() == ["run", "RR", "1", "0.5000"]
    done = amble_cli("eval", "--gains", "-1,1", "-m", "RR", "--quiet")  # a grade below 0
    assert done.stdout.split() == ["run", "RR", "1", "0.5000"]
    assert "argument --gains: expected one argument" in amble_cli("eval", "--gains", "-m", "RR").stderr


def test_users_of_a_mixture_are_shown_each(amble_cli: Cli) -> None:
    done = amble_cli("user", "Mixture(PH:0.7,RBP:0.3)", "--gains", "1,0")
    assert done.stdout == amble_cli("user", "PH", "RBP", "--gains", "1,0").stdout


def test_what_is_simulated_only_is_not_called_exact(amble_cli: Cli) -> None:
    done = amble_cli("distribution", "--gains", "1,0,1", "-m", "MP(steps=3,memory=True)", "--users", "100")
    assert done.returncode == 0
    assert "SimulationWarning" not in done.stderr
    assert "exact" not in done.stderr
    done = amble_cli("distribution", "--gains", "1,0,1", "-m", "AP", "RBP")
    assert "-m AP -m RBP: expected one measure" in done.stderr
    done = amble_cli("user", "RBP", "--plot", "chart.txt")
    assert (done.stdout, done.returncode) == ("", 2)  # refused before anything is shown
