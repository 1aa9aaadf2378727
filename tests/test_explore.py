"""amble explore: the data of the page, the command, and what it refuses."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import amble
from amble.cli.main import main
from amble.io.html import policy
from amble.reporting.explorer import _packed, explorer, playground
from amble.users.fitted import Estimate, Fitted, FittedModel, Origin

QRELS = "1 0 a 1\n1 0 b 2\n2 0 c 1\n2 0 d 0\n"
RUN = "1 Q0 a 1 3 x\n1 Q0 z 2 2 x\n1 Q0 b 3 1 x\n2 Q0 d 1 2 x\n2 Q0 c 2 1 x\n"


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("qrels.txt").write_text(QRELS)
    Path("x.run").write_text(RUN)
    Path("it's.run").write_text(RUN.replace(" x\n", " y\n").replace("1 Q0 a 1 3", "1 Q0 a 1 0"))


def data_of(path: str) -> dict[str, Any]:
    text = Path(path).read_text(encoding="utf-8").split('id="data">')[1].split("</script>")[0]
    read: dict[str, Any] = json.loads(text)
    return read


def unpacked(text: str) -> list[int]:
    """The numbers again, digit by digit to the base 128."""
    out, x, shift = [], 0, 0
    for byte in base64.b64decode(text):
        x += (byte & 127) << shift
        shift += 7
        if byte < 128:
            out.append(x)
            x = shift = 0
    return out


@given(st.lists(st.integers(0, 2**35 - 1), max_size=30))
def test_numbers_are_packed(numbers: list[int]) -> None:
    assert unpacked(_packed(numbers)) == numbers


def test_what_the_page_holds(files: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explore", "qrels.txt", "x.run", "it's.run", "-m", "AP", "P@2", "-o", "page.html"]) == 0
    assert capsys.readouterr().out == "page: page.html\n"
    data = data_of("page.html")
    assert (data["runs"], data["topics"], data["grades"], data["max_grade"]) == (["x", "y"], ["1", "2"], [1, 2], 2)
    assert data["relevant"] == [2, 1]
    lists = {key: unpacked(text) for key, text in data["lists"].items()}
    # of x, topic 1: a (grade 1) at rank 1, b (2) at rank 3; of y: b, at rank 2 after z, then a, a rank on; topic 2: c
    assert (lists["length"], lists["hits"]) == ([3, 2, 3, 2], [2, 1, 2, 1])
    assert (lists["steps"], lists["kinds"]) == ([1, 2, 2, 2, 1, 2], [0, 1, 0, 1, 0, 0])
    assert data["measures"] == [{"name": "AP", "sign": 1}, {"name": "P@2", "sign": 1}]
    # AP: x (1/1 + 2/3) / 2 and 1/2; y (1/2 + 2/3) / 2 and 1/2
    assert data["means"][0] == pytest.approx([(5 / 6 + 1 / 2) / 2, (7 / 12 + 1 / 2) / 2])
    assert (data["qrels"], data["files"]) == ("qrels.txt", ["x.run", "it's.run"])


def test_topics_are_in_the_order_of_sums_and_absent_lists_known(files: None) -> None:
    Path("qrels.txt").write_text(QRELS + "10 0 e 1\n")
    assert main(["explore", "qrels.txt", "x.run", "-m", "AP", "--missing", "skip", "--quiet"]) == 0
    data = data_of("explore.html")
    assert data["topics"] == ["1", "10", "2"]  # by bytes, as trec_eval adds them up
    assert (data["absent"], unpacked(data["lists"]["length"])) == ([1], [3, 0, 2])
    assert (data["options"], data["aligned"]) == (["--missing", "skip"], {"missing": "skip"})
    assert main(["explore", "qrels.txt", "x.run", "-m", "AP", "--quiet"]) == 0
    assert data_of("explore.html")["absent"] == []  # counted, as lists without a document


def test_same_files_same_page(files: None) -> None:
    for path in ("one.html", "two.html"):
        assert main(["explore", "qrels.txt", "x.run", "-o", path, "--quiet"]) == 0
    assert Path("one.html").read_bytes() == Path("two.html").read_bytes()


def test_a_policy_without_network(files: None) -> None:
    main(["explore", "-o", "play.html"])
    page = Path("play.html").read_text(encoding="utf-8")
    found = page.split('Content-Security-Policy" content="')[1].split('"')[0]
    assert found.startswith("default-src 'none'; script-src 'sha256-")
    assert "worker-src blob:;" in found
    assert found.count("'sha256-") == 3  # two scripts, and the style sheet
    assert "worker-src" not in policy("", "")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["qrels.txt"], "no runs: expected QRELS RUN…, or no files for the playground"),
        (["--user", "fit.toml"], "--user goes with files: expected QRELS RUN…, or only -o for the playground"),
        (["-m", "AP"], "--measure goes with files: expected QRELS RUN…, or only -o for the playground"),
        (["--ties", "rank"], "--ties goes with files: expected QRELS RUN…, or only -o for the playground"),
        (["qrels.txt", "x.run", "-o", "-"], "-: standard output, expected a file"),
        (["qrels.txt", "x.run", "-o", "x.run"], "x.run: is read, expected another file to write to"),
        (["qrels.txt", "x.run", "--user", "x.run"], "x.run:1: Expected '=' after a key"),
        (["qrels.txt", "x.run", "--user", "no.toml"], "no.toml: no such file"),
        (["qrels.txt", "none.run"], "none.run: no such file"),
    ],
)
def test_refused(files: None, capsys: pytest.CaptureFixture[str], words: list[str], says: str) -> None:
    assert main(["explore", *words]) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"amble: {says}"), err
    assert err.count("\n") == 1
    assert not Path("explore.html").exists()


def test_fitted_users_are_presets(files: None, capsys: pytest.CaptureFixture[str]) -> None:
    def one(value: float, low: float, high: float) -> Estimate:
        return Estimate(value, low, high, 1500)

    by_rank = Estimate([0.6, 0.5], [0.5, 0.4], [0.7, 0.6], [90, 80])
    back = Estimate([0.2, 0.2], [0.1, 0.1], [0.3, 0.3], [90, 80])
    models = [
        FittedModel("walk", "walk", {"p": one(0.6, 0.5, 0.7), "q": one(0.2, 0.1, 0.3)}, "clicks"),
        FittedModel("rbp", "rbp", {"p": one(0.81, 0.78, 0.84)}, "last click", confidence=0.9),
        FittedModel("by-rank", "walk", {"p": by_rank, "q": back}, "clicks"),
        FittedModel("hope", "inst", {"T": one(12.5, 11, 14)}, "last click"),
        FittedModel("restless", "walk", {"p": one(0.6, 0.5, 0.7), "q": one(0.39, 0.3, 0.4)}, "clicks"),
    ]
    amble.write_fit("fit.toml", Fitted(Origin(["log"], "table", 300, 1800, 1500), models, smallest=0))
    assert main(["explore", "qrels.txt", "x.run", "--user", "fit.toml"]) == 0
    assert "fit: no preset of by-rank, restless: expected one number for each parameter" in capsys.readouterr().err
    walk, rbp, hope = data_of("explore.html")["fitted"]
    assert walk["user"] == {"kind": "walk", "p": 0.6, "q": 0.2, "first": "stop", "loss": 0.25}
    assert walk["ranges"] == {"p": [0.5, 0.7], "q": [0.1, 0.3]}
    assert (rbp["name"], rbp["user"], rbp["confidence"]) == ("fit rbp", {"kind": "RBP", "p": 0.81}, 90)
    assert hope["user"] == {"kind": "INST", "T": 12.5}


def test_names_are_text(tmp_path: Path) -> None:
    name = "</script><script>alert(1)</script>@DATA@ @TITLE@"
    scores = amble.evaluate({name: {"a": 1}}, {name: {name: {"a": 1.0}}}, "AP")
    made = explorer(scores, title=name)
    page = made.html()
    assert "alert(1)</script>" not in page
    assert json.loads(page.split('id="data">')[1].split("</script>")[0])["runs"] == [name]


def test_tied_documents_have_no_rank() -> None:
    rankings = amble.align({"1": {"a": 1}}, {"x": {"1": {"a": 1.0, "b": 1.0}}}, ties="expected")
    with pytest.raises(amble.AmbleError, match="tied documents have no one rank to walk to"):
        explorer(amble.evaluate(rankings, "AP"))


def test_examples_of_the_playground() -> None:
    """The lists of the papers, and what is said of them."""
    first, graded, binary, _ = playground().data["play"]["examples"]
    assert [row["grades"] for row in first["lists"]] == [[1, 0, 0, 1, 0, 0, 1, 0, 0, 1], [0, 1, 1, 1, 1, 0, 0, 0, 0, 0]]
    r, s = (row["grades"] for row in first["lists"])
    walk = "PH(p=0.5,q=0.25,loss=0.25)"
    assert amble.parse(walk).value(r) > amble.parse(walk).value(s)
    assert amble.parse(walk)(order=2).value(r) < amble.parse(walk)(order=2).value(s)
    assert graded["lists"][0]["grades"] == [3, 0, 1, 2, 0, 0, 0, 2, 0, 0]
    assert (graded["relevant"], graded["largest"]) == (8, 3)
    assert round(amble.parse("RBP(p=0.8)").value(binary["lists"][0]["grades"]), 4) == 0.4723
    assert np.array_equal(np.array(graded["lists"][1]["grades"]) > 0, np.array(binary["lists"][1]["grades"]) > 0)
