"""One result object in all its clothes."""

from __future__ import annotations

import csv
import io
import json
import math
import sys

import pytest

import amble
from amble import Table

TABLE = Table(["run", "n_1", "AP"], [["a_b", 3, 0.12345], ["<c>&d", 10, math.nan]], best={(0, 2)}, facts={"amble": "x"})


def test_text() -> None:
    assert str(TABLE) == "run    n_1      AP\na_b      3  0.1235\n<c>&d   10       -" or str(TABLE).splitlines()[1] == (
        "a_b      3  0.1234"
    )
    assert TABLE.text(bold=True).splitlines()[1].endswith("\033[0m")
    assert "\033" not in TABLE.text()


def test_machine_formats() -> None:
    assert TABLE.tsv().splitlines()[0] == "run\tn_1\tAP"
    rows = list(csv.reader(io.StringIO(TABLE.csv())))
    assert rows[1] == ["a_b", "3", "0.12345"]
    read = json.loads(TABLE.json())
    assert read["amble"] == "x"
    assert read["rows"][0] == {"run": "a_b", "n_1": 3, "AP": 0.12345}
    assert read["rows"][1]["AP"] is None


def test_latex_and_html_are_escaped() -> None:
    latex = TABLE.latex()
    assert r"a\_b & 3 & \textbf{0.123" in latex
    assert r"\textless{}c\textgreater{}\&d" in latex  # in LaTeX's old fonts a plain < is another sign
    assert latex.splitlines()[0] == r"\begin{tabular}{lrr}"
    html = TABLE.html()
    assert "&lt;c&gt;&amp;d" in html
    assert "<b>0.123" in html


def test_columns_and_formats() -> None:
    assert TABLE["n_1"] == [3, 10]
    assert len(TABLE) == 2
    with pytest.raises(KeyError, match="expected one of run, n_1, AP"):
        TABLE["nothing"]
    with pytest.raises(amble.AmbleError, match="format='xml': expected one of 'table', 'tsv'"):
        TABLE.render("xml")
    for how in ("table", "tsv", "csv", "json", "latex", "html"):
        assert TABLE.render(how)


def test_an_empty_table() -> None:
    assert str(Table(["a", "b"], [])) == "a  b"


def test_a_cell_without_a_value_is_a_dash_in_every_row() -> None:
    table = Table(["a", "b"], [["x", None], ["y", None], ["z", 1.0]], digits=2)
    assert table.tsv() == "a\tb\nx\t-\ny\t-\nz\t1.00"


def test_caption() -> None:
    table = Table(["run"], [["a"]], caption="what it is\nand <of> whom")
    assert str(table) == "what it is\nand <of> whom\nrun\na"
    assert table.latex().startswith("% what it is\n% and <of> whom\n\\begin{tabular}")
    assert table.html().startswith("<table><caption>what it is\nand &lt;of&gt; whom</caption><thead>")
    assert table.tsv() == "run\na"  # for programs
    assert table.csv() == "run\na"


def test_marks_stand_behind_numbers() -> None:
    table = Table(
        ["run", "AP"], [["a", 0.5], ["b", 0.25], ["c", 0.125]], best={(0, 1)}, marks={(0, 1): "↑", (2, 1): "ab"}
    )
    # numbers stay below one another
    assert table.text().splitlines() == ["run        AP", "a    0.5000↑", "b    0.2500", "c    0.1250ab"]
    latex = table.latex()
    assert r"a & \textbf{0.5000}$^{\uparrow}$ \\" in latex
    assert r"c & 0.1250$^{\mathrm{ab}}$ \\" in latex
    assert "<b>0.5000</b><sup>↑</sup>" in table.html()
    # programs get the numbers alone
    assert table.csv().splitlines()[1] == "a,0.5"
    assert json.loads(table.json())["rows"][2] == {"run": "c", "AP": 0.125}


def test_a_table_in_other_hands(monkeypatch: pytest.MonkeyPatch) -> None:
    table = Table(["run", "AP", "±"], [["a", 1 / 3, 0.1], ["b", None, 0.2]], caption="means", best={(0, 1)})
    assert table.to_dict() == {"run": ["a", "b"], "AP": [1 / 3, None], "±": [0.1, 0.2]}
    assert table.to_pandas()["AP"].tolist()[0] == 1 / 3  # in full
    assert table.to_polars().to_dict(as_series=False) == table.to_dict()
    assert r"\textbf{0.3333}" in table.to_latex()
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(amble.AmbleError, match=r"^to_pandas needs pandas: pip install pandas$"):
        table.to_pandas()


def test_what_a_notebook_shows() -> None:
    qrels = {"1": {"a": 1}, "2": {"b": 1}, "3": {"c": 1}}
    good = {"1": {"a": 1.0}, "2": {"b": 1.0}, "3": {"x": 2.0, "c": 1.0}}
    bad = {"1": {"x": 2.0, "a": 1.0}, "2": {"b": 1.0}, "3": {"x": 1.0}}
    scores = amble.evaluate(qrels, {"good": good, "bad<": bad}, "RR")
    # (1 + 1 + 1/2) / 3 and (1/2 + 1 + 0) / 3
    assert "<td>good</td><td><b>0.8333</b></td>" in scores._repr_html_()
    assert "<td>bad&lt;</td><td>0.5000</td>" in scores._repr_html_()
    found = amble.compare(scores)
    assert "<td>0.3333</td>" in found._repr_html_()  # the difference
    assert "<table>" in amble.why(scores, "1", "RR")._repr_html_()
    assert "<table>" in amble.anova(scores)._repr_html_()


def test_names_that_occur_again() -> None:
    table = Table(["run", "AP", "±", "AP", "±"], [["a", 1, 2.5, 3, 4.5]])
    assert list(table.to_dict().values()) == [["a"], [1], [2.5], [3], [4.5]]  # none is lost
    assert list(json.loads(table.json())["rows"][0].values()) == ["a", 1, 2.5, 3, 4.5]
    assert Table(["a", "±", "b", "±"], [[1, 2, 3, 4]])["b ±"] == [4]
    with pytest.raises(KeyError, match="'nope': expected one of run, "):
        table["nope"]


def test_columns_of_whole_numbers_and_others() -> None:
    scores = amble.evaluate({"1": {"a": 1}}, {"x": {"1": {"b": 2.0, "a": 1.0}}}, ["NumRel", "AP"])
    assert scores.table().to_polars()["value"].to_list() == [1.0, 0.5]
    mixed = Table(["x"], [["a"], [1], [None]]).to_polars()
    assert mixed["x"].to_list() == ["a", "1", None]
