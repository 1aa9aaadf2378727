"""amble.plot: what is drawn is what was found."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import amble
from amble.metaevaluation import agreement, correlations
from amble.reporting.charts.chart import save
from amble.reporting.charts.plotting import charts_of, spec_of

QRELS = {t: {"a": 1, "b": 1} for t in "1234"}
GOOD, FAIR, POOR = {"a": 2.0, "b": 1.0}, {"a": 3.0, "z": 2.0, "b": 1.0}, {"z": 3.0, "y": 2.0, "b": 1.0}
RUNS = {
    "good": dict.fromkeys("1234", GOOD),
    "mixed": {"1": GOOD, "2": FAIR, "3": POOR, "4": FAIR},
    "poor": {"1": POOR, "2": POOR, "3": POOR, "4": FAIR},
}
SCORES = amble.evaluate(QRELS, RUNS, "AP P@1 RR")


def rows(chart: dict[str, Any]) -> list[dict[str, str]]:
    """The data of a chart, as text."""
    return list(csv.DictReader(io.StringIO(chart["data"]["values"])))


def test_runs_by_topics() -> None:
    found = {(row["run"], row["topic"]): float(row["score"]) for row in rows(spec_of(SCORES, measure="AP"))}
    # AP of fair is (1 + 2/3) / 2, of poor (1/3) / 2
    assert found["good", "1"] == 1
    assert found["mixed", "2"] == pytest.approx(5 / 6)
    assert found["poor", "1"] == pytest.approx(1 / 6)
    assert len(found) == 12


def test_differences_by_topic() -> None:
    chart = spec_of(SCORES, run="good", baseline="poor")
    drawn = [(row["topic"], float(row["difference"])) for row in rows(chart)]
    assert [topic for topic, _ in drawn] == ["1", "2", "3", "4"]
    assert [d for _, d in drawn] == pytest.approx([5 / 6, 5 / 6, 5 / 6, 1 / 6])
    assert chart["encoding"]["x"]["scale"]["domain"] == ["1", "2", "3", "4"]


def test_means_with_intervals_and_letters() -> None:
    board = amble.report(SCORES).leaderboard
    spec = spec_of(board, measure="AP")
    drawn = {row["run"]: row for row in rows(spec)}
    assert list(drawn) == ["good", "mixed", "poor"]
    # the numbers at the ends of the axis stand below their ticks: moved inward, they meet the next ones
    assert [layer["encoding"]["x"]["axis"]["labelFlush"] for layer in spec["layer"]] == [False] * 3
    letters = amble.compare(SCORES, "AP").letters()
    for i, run in enumerate(("good", "mixed", "poor")):
        x = SCORES[run, "AP"]
        half = 3.182446 * x.std(ddof=1) / 2  # Student's t of 3 degrees of freedom
        assert float(drawn[run]["mean"]) == pytest.approx(x.mean())
        assert float(drawn[run]["high"]) == pytest.approx(x.mean() + half, abs=1e-6)
        assert drawn[run]["letters"] == letters["letters"][i]


def test_pairs() -> None:
    found = amble.compare(SCORES, "AP")
    drawn = {row["run"]: row for row in rows(spec_of(found))}
    assert set(drawn) == {"good − mixed", "good − poor", "mixed − poor"}
    k = found.pairs.index(("good", "poor"))
    assert float(drawn["good − poor"]["low"]) == pytest.approx(found.low[k])
    assert drawn["good − poor"]["significant"] == ("yes" if found.significant[k] else "no")
    assert [row["run"] for row in rows(spec_of(amble.compare(SCORES, "AP", "poor")))] == ["good", "mixed"]


@pytest.mark.parametrize(
    ("thing", "kind"),
    [
        (amble.parse("AP").distribution([1, 0, 1]), "LayerChart"),
        ({"x": amble.parse("AP").distribution([1, 0, 1])}, "LayerChart"),
        (amble.order_systems(amble.run_distributions(SCORES.rankings, "AP")), "LayerChart"),
        (amble.parse("INST"), "HConcatChart"),
        (amble.parse("RBP").user([1, 0, 1]), "HConcatChart"),
        ({"a": amble.parse("RBP").user([1]), "b": amble.parse("P@3").user([1])}, "HConcatChart"),
        (correlations(SCORES, resample=None), "LayerChart"),
        (agreement(SCORES), "LayerChart"),
    ],
)
def test_everything_else(thing: Any, kind: str) -> None:
    chart = amble.plot(thing)
    assert type(chart).__name__ == kind
    assert set(spec_of(thing)) <= set(chart.to_dict())


def test_matrix_is_the_librarys() -> None:
    tau = correlations(SCORES, resample=None)
    named = spec_of(tau)["data"]["values"]
    drawn = {(row["one"], row["other"]): row["value"] for row in named}
    for i, one in enumerate(tau.measures):
        for j, other in enumerate(tau.measures):
            assert np.isclose(drawn[one, other], tau.values[i, j])


def test_users_are_drawn_on_logarithmic_axes() -> None:
    # P@3: W is 1/3 down to rank 3 and 0 below, the residual 2/3, 1/3, 0; she stops at rank 3 only, where a dot must do
    spec = spec_of(amble.parse("P@3").user([1] * 12))
    drawn = spec["data"]["values"]

    def panel(name: str) -> list[tuple[float | None, bool]]:
        return [(row["value"], row["dot"]) for row in drawn if row["panel"] == name][:12]

    none = [(None, True)] * 9
    assert panel("weight W") == [(pytest.approx(1 / 3), True)] * 3 + none
    assert panel("residual") == [(pytest.approx(2 / 3), True), (pytest.approx(1 / 3), True), (None, True), *none]
    assert panel("halting 1 − C") == [(None, True)] * 2 + [(1.0, True)] + none
    for one in spec["hconcat"]:
        assert [one["encoding"][axis]["scale"]["type"] for axis in "xy"] == ["log", "log"]
    # a wanderer: relevant at ranks 1 and 12, where she is half of the time each; rank 12 has no neighbours to draw to
    spec = spec_of(amble.parse("MP").user([1] + [0] * 10 + [1]))
    drawn = spec["data"]["values"]
    assert [panel("weight W")[i] for i in (0, 1, 11)] == [(0.5, True), (None, True), (0.5, True)]
    assert panel("precision")[11] == (pytest.approx(2 / 12), False)


def test_wrong_use() -> None:
    for call, message in (
        (lambda: amble.plot(3), "no chart of a int; there are charts of scores"),
        (lambda: amble.plot({}), "no chart of a dict"),
        (lambda: amble.plot({"a": 1}), "no chart of a dict"),
        (lambda: amble.plot(SCORES, run="good"), "both: run= and baseline="),
        (lambda: amble.plot(SCORES, run="good", baseline="z"), "run 'z' is not among good, mixed, poor"),
        (lambda: amble.plot(SCORES, measure="nDCG"), "nDCG was not evaluated; there are AP, P@1, RR"),
        (lambda: amble.plot(amble.parse("bpref")), "bpref"),
    ):
        with pytest.raises(amble.AmbleError, match=message.replace("(", r"\(")):
            call()


def test_odd_names_are_drawn_as_they_are() -> None:
    name = '<b>ü "x", & \n'
    scores = amble.evaluate(QRELS, {name: RUNS["good"], "poor": RUNS["poor"]}, "AP")
    assert {row["run"] for row in rows(spec_of(scores))} == {name, "poor"}


def test_names_that_xml_cannot_hold(tmp_path: Path) -> None:
    """The library that draws ends the whole process over a NUL."""
    names = {"a\x00": RUNS["good"], "b\x1b[1m\ufffe": RUNS["poor"]}
    scores = amble.evaluate(QRELS, names, "AP")
    page = amble.report(scores)
    assert page.data["runs"] == ["a\\x00", "b\\x1b[1m\\ufffe"]
    for name, chart in charts_of(page).items():
        save(chart, tmp_path / f"{name}.svg")
    assert "a\\x00" in (tmp_path / "means.svg").read_text()


ODD = ["constructor", "__proto__", "a\u2028b", "a\nb", "back\\", 'x\\" + datum.topic + \\"', '"']


def test_names_that_expressions_cannot_hold(tmp_path: Path) -> None:
    """Vega-Lite makes expressions of titles and orders, and looks some names up among those of every object."""
    topics = dict.fromkeys(ODD, QRELS["1"]) | {"2": QRELS["2"]}
    found = (GOOD, FAIR, POOR)
    runs = {run: {t: found[(i + j) % 3] for j, t in enumerate(topics)} for i, run in enumerate([*ODD, "poor"])}
    scores = amble.evaluate(topics, runs, "AP")
    page = amble.report(scores, baseline="poor")
    every = charts_of(page)
    charts = {name: every[name] for name in ("means", "topics", "differences", "distributions", "dominance")}
    for one, chart in (charts | {"pairs": spec_of(amble.compare(scores, "AP"))}).items():
        save(chart, tmp_path / f"{one}.svg")
        texts = " ".join("".join(ElementTree.parse(tmp_path / f"{one}.svg").getroot().itertext()).split())
        assert [name for name in ODD if " ".join(name.split()) not in texts] == []


NASTY = '</script><script>document.title = "broken"</script><img src=x onerror=alert(1)>'


class Tags(HTMLParser):
    """The tags of a page, and their attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]


def test_a_page_holds_a_chart_and_nothing_that_runs(tmp_path: Path) -> None:
    scores = amble.evaluate(QRELS, {NASTY: RUNS["good"], "poor": RUNS["poor"]}, "AP")
    page = amble.report(scores, baseline="poor")
    for name, chart in charts_of(page).items():
        save(chart, tmp_path / f"{name}.html")
        text = (tmp_path / f"{name}.html").read_text()
        found = Tags()
        found.feed(text)
        assert not {"script", "img", "a", "link", "iframe", "object", "use", "image"} & set(found.tags)
        assert [name for name in found.attributes if name.startswith("on") or "href" in name or name == "style"] == []
        style = re.findall("<style>(.*?)</style>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(style[0].encode()).digest()).decode()
        policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
        assert re.findall('http-equiv="Content-Security-Policy" content="(.*?)"', text) == [policy]
        assert text.count("<svg") == text.count("</svg>") == 1
        assert f"<title>{name}</title>" in text


def test_without_altair(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(amble.AmbleError, match=r"charts need the extra: pip install 'amble-ir\[report\]'"):
        amble.plot(SCORES)


def test_altairs_objects_and_specifications_are_drawn_alike(tmp_path: Path) -> None:
    page = amble.report(SCORES)
    specifications = charts_of(page)
    for name, chart in page.charts().items():
        save(chart, tmp_path / "altair.svg")
        save(specifications[name], tmp_path / "spec.svg")
        drawn = [(tmp_path / file).read_text(encoding="utf-8") for file in ("altair.svg", "spec.svg")]
        ours, theirs = (re.sub(r"\b(clip|gradient_)\d+", r"\1", text) for text in drawn)  # counted on and on
        assert ours == theirs, name
