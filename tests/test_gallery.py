"""The charts of the gallery are drawn by the code that it shows, and the map of measures says what its list says."""

from __future__ import annotations

import importlib
import re
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import amble
from amble.reporting.charts import chart

DOCS = Path(__file__).parent.parent / "docs"
GALLERY = (DOCS / "gallery.md").read_text(encoding="utf-8")
MAP = (DOCS / "which.md").read_text(encoding="utf-8")


@pytest.fixture
def drawn(tmp_path: Path, demo_folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The specifications of what the code of the gallery draws, by the file that it would be saved as."""
    shutil.copytree(demo_folder, tmp_path / "demo")
    monkeypatch.chdir(tmp_path)
    found: dict[str, Any] = {}
    monkeypatch.setattr(chart, "save", lambda spec, path: found.update({str(path): spec}))
    importlib.import_module("make_pages").run_page("gallery.md")
    return found


def test_the_code_shown_draws_the_charts(drawn: dict[str, Any]) -> None:
    assert sorted(drawn) == sorted(importlib.import_module("make_pages").on_page("gallery.md"))
    assert len(drawn) == 12
    runs = {"hybrid", "rerank", "bm25"}
    lines, orders = drawn["cdf.svg"]["layer"]
    assert set(lines["encoding"]["color"]["scale"]["domain"]) == runs
    assert {(row["run"], row["order"]) for row in orders["data"]["values"]} == {
        (run, order) for run in runs for order in ("order 1", "order 2")
    }
    assert len(drawn["tau.svg"]["data"]["values"]) == 6 * 6
    assert len(drawn["users.svg"]["hconcat"]) == 3


def test_every_chart_has_its_few_lines() -> None:
    sections = GALLERY.split("\n## ")[1:]
    assert len(sections) == 12
    for section in sections:
        (code,) = re.findall(r"^```(?:python|console)\n(.*?)^```\n\n!\[", section, re.MULTILINE | re.DOTALL)
        (image,) = re.findall(r"\(measures/charts/(\w+\.svg)\)", section)
        assert image in code
        assert code.count("\n") <= 10


def test_the_map_is_the_list() -> None:
    hooks = importlib.import_module("site_hooks")
    picture = ElementTree.fromstring(hooks.drawn(MAP))
    shown = [(link.text, link.attrib["href"]) for link in picture.iter("a")]
    below = re.findall(r"^ +- \[`(.*?)`\]\((.*?)\.md(.*?)\)", MAP.split(hooks.MAP)[1], re.MULTILINE)
    assert shown == [(measure, f"../{page}/{anchor}") for measure, page, anchor in below]
    assert len(shown) > 15
    for measure, _ in shown:
        if "fit.toml" not in str(measure):  # a file of one's own
            amble.parse(str(measure))
    boxes = [text.text for text in picture.iter("text") if text.get("class") == "name"]
    assert boxes == re.findall(r"^ *- \*\*(.*?)\*\*", MAP, re.MULTILINE)
    right = max(float(rect.attrib["x"]) + float(rect.attrib["width"]) for rect in picture.iter("rect"))
    assert right < min(float(text.attrib["x"]) for text in picture.iter("text") if not text.get("class"))
