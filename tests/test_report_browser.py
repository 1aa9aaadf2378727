"""The report in a real browser: Chromium, driven by Playwright, without its own download of browsers."""

from __future__ import annotations

import itertools
import json
import pickle
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

import numpy as np
import pytest
from scipy.special import betaincinv

import amble
from amble.cli.demo_collection import make_collection
from amble.cli.main import main
from amble.evaluation.run_distributions import orders_of

ODD = ("<script>alert(1)</script>", 'ü "x" & ')
MEASURES = ["AP", "nDCG@10", "RBP(p=0.8)", "INST(T=2)", "bpref"]

# what is pressed, with its label, and less than 24 pixels high, as WCAG 2.2 asks; links within a line are excepted
SMALL = """() => [...document.querySelectorAll("button, select, input, summary, nav a")]
  .filter((e) => e.checkVisibility()).map((e) => e.closest("label") || e)
  .filter((e) => e.getBoundingClientRect().height < 23.99).map((e) => e.outerHTML)"""
LABELS = "[...document.querySelectorAll('#heat text')].map((text) => text.lastChild.data)"  # without their titles


@pytest.fixture(scope="module")
def report(once: Callable[[str, Callable[[Path], object]], Path]) -> tuple[Path, amble.Scores, dict[str, Any]]:
    """A page of the small collection and of two runs with odd names."""

    def fill(folder: Path) -> None:
        made = make_collection(folder, topics=10)
        runs: dict[str, Any] = {}
        for path in made.runs:
            rows = [line.split() for line in path.read_text().splitlines()]
            runs[path.stem] = {topic: {} for topic, *_ in rows}
            for topic, _, doc, _, score, _ in rows:
                runs[path.stem][topic][doc] = float(score)
        runs[ODD[0]], runs[ODD[1]] = runs["bm25"], runs["dense"]
        scores = amble.evaluate(made.qrels, runs, MEASURES)
        page = amble.report(scores, baseline="bm25", title=f"{ODD[0]} & co")
        page.save(folder / "report.html")
        (folder / "scores.pickle").write_bytes(pickle.dumps((scores, page.data)))

    folder = once("report", fill)
    return folder / "report.html", *pickle.loads((folder / "scores.pickle").read_bytes())


class Opened:
    """A window of a browser, the page that is open in it, and what that page said and asked for."""

    def __init__(self, browser: Any, **options: Any) -> None:
        self.page = browser.new_context(**options).new_page()
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.said.append(dialog.message), dialog.dismiss()))
        self.page.on("request", lambda request: self.asked.append(request.url))

    def go(self, path: Path, hash: str = "", *, width: int = 1280, height: int = 900, scheme: str = "light") -> Self:
        """Open a page as if it were the first of the window."""
        if hash:  # or it would be another place of the same page
            self.page.goto("about:blank")
        self.said.clear()
        self.asked.clear()
        self.page.mouse.move(0, 0)
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.emulate_media(media="null", color_scheme=scheme)
        self.page.goto(path.as_uri() + hash)
        return self

    def text(self, selector: str) -> str:
        found: str = self.page.locator(selector).first.inner_text()
        return found

    def column(self, n: int) -> list[str]:
        """The n-th column of the leaderboard, as it is shown."""
        found: list[str] = self.page.locator(f"#board tbody tr > *:nth-child({n})").all_inner_texts()
        return [" ".join(text.split()) for text in found]

    def runs(self) -> list[str]:
        found: list[str] = self.page.locator("#board tbody tr th button").all_text_contents()
        return found

    def count(self, selector: str) -> int:
        found: int = self.page.locator(selector).count()
        return found


def attributes(page: Any, selector: str, *keys: str) -> list[Any]:
    """Attributes of elements: numbers where they are numbers."""
    ask = "([of, keys]) => [...document.querySelectorAll(of)].map((e) => keys.map((key) => e.getAttribute(key)))"
    rows = page.evaluate(ask, [selector, list(keys)])
    return [[float(x) if re.fullmatch(r"-?[\d.]+(e-?\d+)?", x or "") else x for x in row] for row in rows]


@pytest.fixture(scope="module")
def window(browser: Any) -> Opened:
    """The window of the tests, for one page after another: a new window takes longer than most of them."""
    return Opened(browser)


FIRST = "openAll(); window.first = structuredClone(state)"
AGAIN = """() => {
  for (const key of Object.keys(state)) delete state[key];
  Object.assign(state, structuredClone(window.first));
  Object.assign(sorting, { key: "mean", up: false });
  colourOf.clear();
  document.activeElement.blur();
  hideTip();
  aloud("");
  for (const key of ["measure", "baseline", "system", "topic"]) find(key).value = String(state[key]);
  find("matrix-kind").value = state.matrix;
  find("filter").value = "";
  openAll();
  window.scrollTo({ top: 0, behavior: "instant" });
}"""


@pytest.fixture(scope="module")
def chosen(browser: Any, report: tuple[Path, amble.Scores, dict[str, Any]]) -> Opened:
    """A page with all that is folded opened, for those who choose something on it."""
    one = Opened(browser).go(report[0])
    one.page.evaluate(FIRST)
    return one


@pytest.fixture
def opened(chosen: Opened) -> Iterator[Opened]:
    """That page as it was at first: it takes a tenth of the time to open another."""
    chosen.page.mouse.move(0, 0)
    chosen.page.evaluate(AGAIN)
    yield chosen
    assert chosen.said == []


@pytest.fixture(scope="module")
def seen(browser: Any, report: tuple[Path, amble.Scores, dict[str, Any]]) -> Iterator[Opened]:
    """The same page, opened once, for tests that only look at it."""
    one = Opened(browser).go(report[0])
    one.page.evaluate("openAll()")
    yield one
    assert one.said == []


def test_nothing_is_said_and_nothing_asked_for(window: Opened, report: tuple[Path, Any, Any]) -> None:
    opened = window.go(report[0])
    opened.page.evaluate("openAll()")
    opened.page.wait_for_selector("html.drawn")
    opened.page.mouse.wheel(0, 20_000)
    opened.page.wait_for_timeout(200)
    assert opened.asked == [report[0].as_uri()]
    assert opened.page.title() == f"{ODD[0]} & co"
    assert opened.text("h1") == f"{ODD[0]} & co"
    assert opened.said == []


def test_nothing_could_be_asked_for(opened: Opened) -> None:
    """Even a script on the page may not speak to anybody: the policy says so."""
    refused = "() => fetch('https://example.org/').then(() => 'asked', () => 'refused')"
    assert opened.page.evaluate(refused) == "refused"
    assert any("Content Security Policy" in text for text in opened.said)
    opened.said.clear()


def test_odd_names_are_text(opened: Opened) -> None:
    assert set(ODD) <= set(opened.runs())
    for chooser in ("#baseline", "#system"):
        assert set(ODD) <= set(opened.page.locator(f"{chooser} option").all_text_contents())
    opened.page.select_option("#system", label=ODD[0])
    opened.page.select_option("#baseline", label=ODD[1])
    assert opened.text("#differences-title") == f"{ODD[0]} minus {ODD[1].rstrip()} , AP"
    drawn = opened.page.evaluate(LABELS)
    assert {f"{ODD[0][:21]}…", ODD[1]} <= set(drawn)
    assert opened.count("script") == 2


def test_numbers_are_the_librarys(seen: Opened, report: tuple[Path, amble.Scores, Any]) -> None:
    _, scores, _ = report
    assert seen.page.evaluate("JSON.stringify(data.leaderboard.means)") == json.dumps(
        report[2]["leaderboard"]["means"], separators=(",", ":")
    ).replace(".0,", ",").replace(".0]", "]")
    means = dict(zip(seen.runs(), seen.column(3), strict=True))
    for run in scores.runs:
        assert float(means[run]) == pytest.approx(scores[run, "AP"].mean(), abs=5.1e-5)
    found = amble.compare(scores, "AP", "bm25")
    shown = dict(zip(seen.runs(), zip(seen.column(7), seen.column(8), strict=True), strict=True))
    for k, (run, _) in enumerate(found.pairs):
        difference, p = shown[run]
        sign = -1 if difference.startswith("−") else 1
        assert sign * float(difference[1:7]) == pytest.approx(found.difference[k], abs=5.1e-5)
        assert ("▲" in difference or "▼" in difference) == found.significant[k]
        assert p == "<0.0001" if found.adjusted[k] < 1e-4 else float(p) == pytest.approx(found.adjusted[k], rel=0.01)


def test_sorting(opened: Opened) -> None:
    by_mean = opened.runs()
    values = [float(text) for text in opened.column(3)]
    assert values == sorted(values, reverse=True)
    opened.page.click('#board [data-key="run"]')
    assert opened.runs() == opened.page.evaluate("[...data.runs].sort((a, b) => a.localeCompare(b))")
    assert opened.page.get_attribute('#board th:has([data-key="run"])', "aria-sort") == "ascending"
    opened.page.click('#board [data-key="run"]')
    assert opened.runs() == opened.page.evaluate("[...data.runs].sort((a, b) => b.localeCompare(a))")
    opened.page.click('#board [data-key="mean"]')
    assert opened.runs() == by_mean
    # by keyboard; the focus stays where it was
    opened.page.focus('#board [data-key="mean"]')
    opened.page.keyboard.press("Enter")
    assert [float(text) for text in opened.column(3)] == sorted(values)
    assert opened.page.evaluate("document.activeElement.dataset.key") == "mean"


def test_less_is_better(window: Opened, tmp_path: Path) -> None:
    qrels = {t: {"r": 1, "s": 0} for t in "123"}
    runs = {"bad": {t: {"a": 3.0, "b": 2.0, "r": 1.0} for t in "123"}, "good": {t: {"a": 2.0, "r": 1.0} for t in "123"}}
    amble.report(amble.evaluate(qrels, runs, ["ESL", "RR"]), baseline="bad").save(tmp_path / "report.html")
    opened = window.go(tmp_path / "report.html")
    for measure, way in (("0", "ascending"), ("1", "descending")):
        opened.page.select_option("#measure", measure)
        assert opened.runs() == ["good", "bad"]
        assert opened.page.get_attribute('#board th:has([data-key="mean"])', "aria-sort") == way
        assert "▲" in opened.column(7)[0]
        assert "Better on 3, worse on 0" in opened.text("#differences")
        assert opened.count("#differences .up") == 3
        assert opened.text("#hardest tbody tr td:nth-child(4)") == "good"
    opened.page.select_option("#measure", "0")
    opened.page.click('#board [data-key="mean"]')
    assert opened.runs() == ["bad", "good"]
    opened.page.click('#board [data-key="difference"]')
    assert opened.runs() == ["good", "bad"]
    assert opened.said == []


def test_numbers_stand_below_one_another(seen: Opened) -> None:
    """Whether a mark of significance stands behind them or not."""
    ends = """(n) => [...document.querySelectorAll(`#board tbody td:nth-child(${n})`)].map((cell) => {
        const range = document.createRange();
        range.selectNodeContents(cell.firstChild);
        return [Math.round(range.getBoundingClientRect().right), Boolean(cell.querySelector(".better, .worse"))];
    })"""
    found = seen.page.evaluate(ends, 7) + seen.page.evaluate(ends, 10)
    assert {marked for _, marked in found} == {True, False}
    assert len({right for right, _ in found}) == 2  # one end a column


def test_filter(opened: Opened) -> None:
    opened.page.fill("#filter", "BM25")
    assert sorted(opened.runs()) == ["bm25", "bm25+rm3"]
    assert opened.text("#count") == "2 of 8 runs"
    opened.page.fill("#filter", "<script>")
    assert opened.runs() == [ODD[0]]
    opened.page.fill("#filter", "nobody")
    assert opened.runs() == []
    opened.page.fill("#filter", "")
    assert len(opened.runs()) == 8


def test_baseline(opened: Opened, report: tuple[Path, amble.Scores, Any]) -> None:
    before = opened.column(7)
    opened.page.select_option("#baseline", label="rerank")
    assert opened.column(7) != before
    assert opened.page.locator("#board tr.is-baseline button").first.text_content() == "rerank"
    assert "against rerank" in opened.text("#board-notes")
    assert "minus rerank" in opened.text("#differences-title")
    found = amble.compare(report[1], "AP", "rerank")
    marks = {run: "▲" in text or "▼" in text for run, text in zip(opened.runs(), opened.column(7), strict=True)}
    assert marks == {"rerank": False} | {run: bool(found.significant[k]) for k, (run, _) in enumerate(found.pairs)}


def test_user(opened: Opened) -> None:
    seen = set()
    for measure in ("AP", "RBP(p=0.8)", "INST(T=2)"):
        opened.page.select_option("#measure", label=measure)
        assert opened.text("#distribution-measure") == f"the user of {measure}"
        assert opened.text("#board thead th:nth-child(3)").startswith(measure)
        assert opened.text("#user-story").startswith(f"{measure}: ")
        name = measure if measure.isalnum() else f"'{measure}'"
        assert opened.text("#distribution-command").endswith(f"-m {name} --levels")
        assert opened.text("#user-command") == f"amble user {name} --depth 100"
        seen.add(opened.page.get_attribute("#distribution path.cdf", "d"))
    assert len(seen) == 3
    opened.page.select_option("#measure", label="bpref")
    assert "bpref" in opened.text("#distribution")
    assert opened.count("#distribution path.cdf") == 0


def test_charts_have_marks(seen: Opened, report: tuple[Path, amble.Scores, Any]) -> None:
    assert seen.count("#heat path.heat") >= 5
    cells = seen.page.evaluate(
        "[...document.querySelectorAll('#heat path')].map((p) => p.getAttribute('d').split('M').length - 1)"
    )
    assert sum(cells) == 8 * 10
    assert seen.count("#differences rect") == 10
    assert seen.count("#hardest tbody tr") == 10
    assert seen.count("#documents tbody tr") > 0
    assert seen.count("#distribution path.cdf") == 4
    assert seen.count("#distribution .order.one") == seen.count("#distribution .order.two") == 4
    order = amble.order_systems(amble.run_distributions(report[1].rankings, "AP"))
    assert seen.count("#hasse .node") == len(order.classes)
    assert seen.count("#users-chart path.user") == 3 * 4  # bpref is no user
    assert seen.count("#matrix .cell") == 25
    assert seen.count("#power rect") == 5
    assert seen.count("#audit table tbody tr") > 8


def test_axes_of_users_are_logarithmic(opened: Opened) -> None:
    grid = opened.page.get_attribute("#users-chart figure:first-child path.grid", "d")
    at = [float(line.split()[1].split("H")[0]) for line in grid[1:].split("M")]  # of 0.0001, 0.001, 0.01, 0.1 and 1
    assert np.diff(at) == pytest.approx([(10 - 180) / 4] * 4)
    # W of RBP falls by the same factor, 0.8, from rank to rank: by as many pixels, 4.12. Paths have one digit, so that
    # differences are off by 0.1; W has six, so that those of 0.0001 are off by 1 % and 170 / 4 x log10(1.01) = 0.18
    opened.page.select_option("#measure", label="RBP(p=0.8)")
    path = opened.page.get_attribute("#users-chart path.chosen", "d")
    y = [float(point.split()[1].removesuffix("h0")) for point in path[1:].split("L")]
    assert np.diff(y) == pytest.approx(np.full(len(y) - 1, -np.log10(0.8) * 170 / 4), abs=0.3)
    assert len(y) == 35  # 0.2 x 0.8^34 is 0.0001014, and the next is below 0.0001


def test_intervals_of_tau_are_read(opened: Opened, report: tuple[Path, Any, Any]) -> None:
    """Not only by those who point at a number."""
    meta = report[2]["meta"]
    ends = [
        f"{meta['low'][i][j]:.2f} to {meta['high'][i][j]:.2f}"
        for i, j in itertools.permutations(range(len(MEASURES)), 2)
        if meta["low"][i][j] is not None
    ]
    assert ends
    assert opened.page.locator("#matrix td small").all_text_contents() == ends
    opened.page.select_option("#matrix-kind", "significant")
    assert opened.count("#matrix td small") == 0


def test_documents_are_those_of_the_two(opened: Opened, report: tuple[Path, Any, Any]) -> None:
    of = report[2]["documents"]
    for run in ("boolean", "dense"):
        opened.page.select_option("#system", label=run)
        a, b = (of["systems"].index(report[2]["runs"].index(name)) for name in (run, "bm25"))
        topic = of["topics"][0]
        found = {doc for doc, ranks in zip(topic["docs"], topic["ranks"], strict=True) if ranks[a] or ranks[b]}
        docs = opened.page.locator("#documents tbody th").all_text_contents()
        assert set(docs) == found
        cells = opened.page.locator("#documents tbody td").all_text_contents()
        shown = [float(text.replace("–", "0").strip("+±").replace("−", "-")) for text in cells]
        at = list(map(topic["docs"].index, docs))
        (one, other), (rank, place) = (np.array(topic[key])[at][:, [a, b]].T for key in ("contributions", "ranks"))
        told = [np.array(topic["grades"])[at], rank, one, place, other, one - other]
        assert shown == pytest.approx(np.ravel(told, order="F"), abs=5.1e-5)


def test_lines_are_chosen(opened: Opened) -> None:
    boxes = opened.page.locator("#distribution-systems input")
    first = boxes.first
    assert first.is_checked()
    first.uncheck()
    assert opened.count("#distribution path.cdf") == 3
    for k in range(8):
        boxes.nth(k).check()
    assert opened.count("#distribution path.cdf") == 8


def test_dominance_by_keyboard(opened: Opened, report: tuple[Path, amble.Scores, Any]) -> None:
    order = amble.order_systems(amble.run_distributions(report[1].rankings, "AP"))
    node = opened.page.locator("#hasse .node", has_text="hybrid").first
    node.focus()
    opened.page.keyboard.press("Enter")
    told = opened.text("#pairs")
    for verdict, words in (("greater", "dominates"), ("incomparable", "cannot be compared with")):
        line = next(line for line in told.splitlines() if line.startswith(words))
        names = [run for run in order.names if run != "hybrid" and order.verdict("hybrid", run) == verdict]
        assert all(name.strip() in line for name in names)
    assert opened.page.get_attribute("#hasse .node.focus", "aria-pressed") == "true"


def graph_of_dominance(page: Any) -> tuple[list[frozenset[str]], list[tuple[str, str]], int]:
    """The boxes of the graph, the runs that its lines join, followed from box to box, and the bends on their way."""
    labels, corners = (
        attributes(page, "#hasse .node", "aria-label"),
        attributes(page, "#hasse .node rect", "x", "y", "width", "height"),
    )
    boxes = {frozenset(of.split(", ")): corner for (of,), corner in zip(labels, corners, strict=True)}

    def at(x: float, y: float) -> Any:
        """The runs of the box at a point; or the point itself, a bend."""
        inside = [of for of, (left, top, wide, high) in boxes.items() if 0 <= x - left <= wide and 0 <= y - top <= high]
        assert len(inside) <= 1
        return inside[0] if inside else (x, y)

    below: dict[Any, list[Any]] = {}
    for x1, y1, x2, y2 in attributes(page, "#hasse line.edge", "x1", "y1", "x2", "y2"):
        assert y1 < y2  # the best are on top
        below.setdefault(at(x1, y1), []).append(at(x2, y2))

    def ends(place: Any) -> list[Any]:
        return [end for each in below.get(place, []) for end in ([each] if each in boxes else ends(each))]

    joined = [(a, b) for of in boxes for end in ends(of) for a in of for b in end]
    return list(boxes), joined, len(below.keys() - boxes.keys())


def test_lines_of_dominance_lead_to_the_next_that_are_dominated(opened: Opened, report: tuple[Path, Any, Any]) -> None:
    """And a box that is chosen shows how it stands to the others."""
    bends = 0
    for m in ("AP", "RBP(p=0.8)"):
        opened.page.select_option("#measure", label=m)
        opened.page.select_option("#dominance-kind", "graph")
        order = amble.order_systems(amble.run_distributions(report[1].rankings, m))
        better = {(a, b) for a, b in itertools.permutations(order.names, 2) if order.verdict(a, b) == "greater"}
        between = {(a, b) for a, b in better for x in order.names if (a, x) in better and (x, b) in better}
        boxes, joined, more = graph_of_dominance(opened.page)
        equal = {frozenset(x for x in order.names if order.verdict(run, x) == "equal") for run in order.names}
        assert sorted(map(sorted, boxes)) == sorted(map(sorted, equal)), m
        assert sorted(joined) == sorted(better - between), m
        bends += more

        press = "(k) => document.querySelectorAll('#hasse .node')[k].dispatchEvent(new MouseEvent('click'))"
        kinds = {"greater": "below", "less": "above", "equal": "focus", "incomparable": "apart"}
        for k, of in enumerate(boxes):
            opened.page.evaluate(press, k)
            shown = [kind.split()[-1] for (kind,) in attributes(opened.page, "#hasse .node", "class")]
            assert shown == [kinds[order.verdict(min(of), min(other))] for other in boxes], (m, of)
        opened.page.evaluate(press, k)  # and nothing is chosen
    assert bends >= 3


def test_heat_map_by_keyboard(opened: Opened) -> None:
    opened.page.focus("#heat svg")
    opened.page.keyboard.press("ArrowDown")
    first = opened.text("#aloud")
    opened.page.keyboard.press("ArrowRight")
    assert opened.text("#aloud") != first
    assert "topic" in first
    assert opened.page.locator("#tip").is_visible()
    opened.page.keyboard.press("Enter")
    chosen = opened.page.evaluate("data.runs[state.system] + ', topic ' + data.topics[state.topic]")
    assert opened.page.evaluate("document.getElementById('aloud').textContent").startswith(chosen)
    assert opened.page.evaluate("document.getElementById('topic').value") == opened.page.evaluate("String(state.topic)")


def focused(opened: Opened) -> str:
    found: str = opened.page.evaluate("document.activeElement.textContent")
    return found


def test_focus_stays_where_it_was(opened: Opened) -> None:
    """What is chosen by keyboard is drawn again; who chose it goes on from there."""
    for selector in (
        "#board tbody tr:nth-child(3) th button",
        "#hardest tbody tr:nth-child(2) button",
        ".chip >> nth=1",
    ):
        opened.page.locator(selector).focus()
        before = focused(opened)
        opened.page.keyboard.press("Enter")
        assert before
        assert focused(opened) == before
    opened.page.locator("#hasse .node").nth(2).focus()
    before = focused(opened)
    opened.page.keyboard.press("Enter")
    assert focused(opened) == before
    box = opened.page.locator("#distribution-systems input").nth(4)
    box.focus()
    opened.page.keyboard.press("Space")
    assert opened.page.evaluate("document.activeElement.checked") is box.is_checked()
    opened.page.locator("[data-copy=bibtex]").focus()
    opened.page.keyboard.press("Enter")
    assert opened.page.evaluate("document.activeElement.dataset.copy") == "bibtex"


def test_bars_by_keyboard(opened: Opened, report: tuple[Path, amble.Scores, Any]) -> None:
    scores = report[1]
    run = opened.page.evaluate("data.runs[state.system]")
    values = scores[run, "AP"] - scores["bm25", "AP"]
    best = int(np.argsort(-values, kind="stable")[1])
    opened.page.focus("#differences svg")
    opened.page.keyboard.press("ArrowRight")
    opened.page.keyboard.press("ArrowRight")
    assert opened.text("#tip").splitlines()[:2] == [f"topic {scores.topics[best]}", f"{values[best]:+.4f}"]
    assert opened.page.evaluate("document.getElementById('aloud').textContent").startswith(
        f"topic {scores.topics[best]}; "
    )
    opened.page.keyboard.press("Enter")
    assert opened.page.evaluate("data.topics[state.topic]") == scores.topics[best]
    assert opened.page.evaluate("document.activeElement.parentElement.id") == "differences"


def test_pointing_tells(opened: Opened) -> None:
    opened.page.locator("#differences rect").first.hover()
    assert opened.page.locator("#tip").is_visible()
    assert "topic" in opened.text("#tip")
    opened.page.keyboard.press("Escape")
    assert not opened.page.locator("#tip").is_visible()


def test_colours(window: Opened, report: tuple[Path, Any, Any]) -> None:
    background = "getComputedStyle(document.body).backgroundColor"
    dark = window.go(report[0], scheme="dark")
    assert dark.page.evaluate(background) == "rgb(16, 23, 22)"
    dark.page.click('[data-choose-theme="light"]')
    assert dark.page.evaluate(background) == "rgb(255, 255, 255)"
    assert dark.page.get_attribute('[data-choose-theme="light"]', "aria-pressed") == "true"
    assert dark.said == []
    light = window.go(report[0], scheme="light")
    assert light.page.evaluate(background) == "rgb(255, 255, 255)"
    light.page.click('[data-choose-theme="dark"]')
    assert light.page.evaluate(background) == "rgb(16, 23, 22)"
    # paper is white, and has no controls
    light.page.emulate_media(media="print")
    assert light.page.evaluate(background) == "rgb(255, 255, 255)"
    assert not light.page.locator("#filter").is_visible()
    assert light.said == []


def test_on_a_phone(window: Opened, report: tuple[Path, Any, Any]) -> None:
    one = window.go(report[0], width=380, height=800)
    one.page.wait_for_selector("html.drawn")
    assert one.page.evaluate("document.documentElement.scrollWidth") <= 380
    right = "[...document.querySelectorAll('.canvas:not(.wide) > svg')].map((e) => e.getBoundingClientRect().right)"
    assert max(one.page.evaluate(right)) <= 380
    assert one.count("#heat path.heat") >= 5
    assert one.page.evaluate(SMALL) == []
    one.page.set_viewport_size({"width": 900, "height": 800})  # turned round: drawn again
    for _ in range(100):
        if one.page.evaluate("document.querySelector('#heat svg').getBoundingClientRect().width") > 500:
            break
        one.page.wait_for_timeout(50)
    assert one.page.evaluate("document.querySelector('#heat svg').getBoundingClientRect().width") > 500
    assert one.said == []


def test_without_scripts(browser: Any, report: tuple[Path, amble.Scores, Any]) -> None:
    one = Opened(browser, java_script_enabled=False).go(report[0])
    assert one.count("#board tbody tr") == 8
    assert "need JavaScript" in one.text("noscript")
    assert one.page.locator("#board tbody th").first.inner_text() == "hybrid"


def test_names_for_those_who_do_not_see(seen: Opened) -> None:
    lacking = """() => [
      ...[...document.querySelectorAll('select, input')].filter((e) => !e.labels.length),
      ...[...document.querySelectorAll('svg.chart')].filter((e) => !e.getAttribute('aria-label')),
      ...[...document.querySelectorAll('button')].filter((e) => !e.textContent.trim()),
      ...[...document.querySelectorAll('section')].filter((e) => !find(e.getAttribute('aria-labelledby'))),
      ...[...document.querySelectorAll('.wide')].filter((e) => e.tabIndex !== 0 || !e.getAttribute('aria-label')),
    ].map((e) => e.outerHTML.slice(0, 80))"""
    assert seen.page.evaluate(lacking) == []
    assert seen.page.get_attribute("html", "lang") == "en"
    levels = seen.page.evaluate("[...document.querySelectorAll('h1, h2, h3')].map((e) => Number(e.tagName[1]))")
    assert levels[0] == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))


def test_one_run(window: Opened, tmp_path: Path) -> None:
    scores = amble.evaluate({"1": {"a": 1}}, {"x": {"1": {"a": 1.0}}}, "AP NumRet")
    amble.report(scores).save(tmp_path / "one.html")
    one = window.go(tmp_path / "one.html")
    one.page.wait_for_selector("html.drawn")
    one.page.select_option("#measure", label="NumRet")
    assert one.said == []
    assert "one run has no other" in one.text("#board-notes")
    assert one.text("#count") == "1 run"


def test_long_names(window: Opened, tmp_path: Path) -> None:
    """Names are cut between characters, and boxes are as wide as what stands in them."""
    list_, other = {"a": 2.0, "b": 1.0}, {"b": 2.0, "a": 1.0}
    runs = {"😀" * 40: list_, "y" * 200: list_, "z" * 200: list_, "short": other}
    scores = amble.evaluate({"1": {"a": 1}, "2": {"a": 1}}, {run: {"1": of, "2": of} for run, of in runs.items()}, "AP")
    amble.report(scores).save(tmp_path / "long.html")
    one = window.go(tmp_path / "long.html")
    labels = one.page.evaluate(LABELS)
    assert "😀" * 21 + "…" in labels
    assert one.page.locator("#hasse .node text").all_text_contents() == ["😀" * 23 + "…, " + "y" * 23 + "… +1", "short"]
    spills = """() => [...document.querySelectorAll('#hasse .node')].map(
        (node) => node.querySelector('text').getBBox().width - node.querySelector('rect').getBBox().width)"""
    for spill in one.page.evaluate(spills):
        assert -170 < spill <= 0
    assert one.said == []


def test_names_that_every_object_has(window: Opened, tmp_path: Path) -> None:
    runs = {
        name: {"1": {"a": 1.0}, "__proto__": {"b": 1.0, "a": 0.5}} for name in ("constructor", "__proto__", "a\u2028")
    }
    scores = amble.evaluate({"1": {"a": 1}, "__proto__": {"a": 1}}, runs, "AP")
    amble.report(scores).save(tmp_path / "page.html")
    one = window.go(tmp_path / "page.html")
    one.page.wait_for_selector("html.drawn")
    assert set(one.runs()) == set(runs)
    assert one.said == []


NASTY = '</script><script>alert("ran")</script><img src=x onerror=alert("ran")>'


def test_charts_draw_and_run_nothing(window: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a run is called is text in every page with a chart, and would not run if it were not."""
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")  # as `main` does, and for no other test
    (tmp_path / "qrels.txt").write_text("1 0 a 1\n2 0 a 1\n")
    names = [NASTY, "</title></style></svg><svg onload=alert(1)>", "]]><!-- &lt;", "other"]
    # each is better than the one after it: the relevant document is a rank higher
    runs: dict[str, dict[str, dict[str, float]]] = {
        name.replace(" ", ""): {t: {f"u{j}" if j != rank else "a": -float(j) for j in range(5)} for t in "12"}
        for rank, name in enumerate(names)
    }
    for i, (tag, of) in enumerate(runs.items()):
        lines = [f"{topic} Q0 {doc} 1 {score} {tag}\n" for topic, docs in of.items() for doc, score in docs.items()]
        (tmp_path / f"{i}.run").write_text("".join(lines))
    files = [str(tmp_path / each) for each in ("qrels.txt", *(f"{i}.run" for i in range(len(runs))))]
    plot, hasse = str(tmp_path / "plot.html"), str(tmp_path / "hasse.html")
    assert (
        main(["distribution", *files, "-m", "AP", "--plot", plot, "--hasse", hasse, "--quiet", "-o", "/dev/null"]) == 0
    )
    for path in (plot, hasse):
        one = window.go(Path(path))
        for name in runs:
            assert one.page.locator("svg text", has_text=name).count() >= 1, name
        assert one.page.locator("svg").bounding_box()["width"] > 200
        assert (one.said, one.asked) == ([], [Path(path).as_uri()])
        for code in ("var s = document.createElement('script'); s.textContent = 'window.ran = 1'",
                     "var s = document.createElement('style'); s.textContent = 'svg { display: none }'"):  # fmt: skip
            one.page.evaluate(f"() => {{ {code}; document.head.appendChild(s); }}")
        assert one.page.evaluate("window.ran") is None
        assert one.page.locator("svg").is_visible()
        assert sum("Content Security Policy" in text for text in one.said) == 2


def test_a_judging_sheet(window: Opened, tmp_path: Path) -> None:
    nasty = NASTY.replace(" ", "/")
    pool = {"=1+1": {nasty: -2, "constructor": -2, "'-x": -2}}
    path = tmp_path / "sheet.html"
    path.write_text(amble.judging.sheet(pool, "html", texts={"'-x": NASTY}, topics={"=1+1": NASTY}))
    one = window.go(path)
    assert one.page.locator("article strong").all_text_contents() == [nasty, "constructor", "'-x"]
    assert one.page.locator(".text").all_text_contents() == [NASTY, NASTY]
    for key in "101":
        one.page.keyboard.press(key)
    assert one.text("#done") == "3 of 3 judged"
    with one.page.expect_download() as caught:
        one.page.click("#save")
    caught.value.save_as(tmp_path / "judgments.csv")
    assert (tmp_path / "judgments.csv").read_text().splitlines()[2:] == ["'=1+1,constructor,0", "'=1+1,''-x,1"]
    back = amble.judging.read_sheets(tmp_path / "judgments.csv", pool)
    assert dict(zip(back.docs, back.grades, strict=True)) == {nasty: 1, "constructor": 0, "'-x": 1}
    assert (one.said, [url for url in one.asked if not url.startswith("blob:")]) == ([], [path.as_uri()])
    refused = "() => fetch('https://example.org/').then(() => 'asked', () => 'refused')"
    assert one.page.evaluate(refused) == "refused"
    assert any("Content Security Policy" in text for text in one.said)


def test_the_finding_comes_first(window: Opened, report: tuple[Path, amble.Scores, dict[str, Any]]) -> None:
    """In words, on the first screen; of the measure that is chosen."""
    one = window.go(report[0])
    plain = "[...document.querySelectorAll('#finding p')].map((p) => p.textContent.replaceAll('\\u00a0', ' '))"
    for measure in ("nDCG@10", "AP"):
        one.page.select_option("#measure", label=measure)
        said = one.page.evaluate(plain)
        assert said == report[2]["findings"][MEASURES.index(measure)]
        assert said[0].startswith(f"hybrid is best by {measure}, {report[1]['hybrid', measure].mean():.4f} ± ")
    assert one.page.evaluate("find('finding').getBoundingClientRect().bottom") < 900


def test_what_is_folded_opens(window: Opened, report: tuple[Path, Any, Any]) -> None:
    is_open = (
        "Object.fromEntries([...document.querySelectorAll('details.part')].map((d) => [d.parentElement.id, d.open]))"
    )
    one = window.go(report[0])
    assert one.page.evaluate(is_open) == dict.fromkeys(("users", "measures", "audit", "references"), False)
    one.page.click("nav a[href='#users']")
    one.page.wait_for_selector("#users-chart path.user")
    one = window.go(report[0], "#measures")
    assert one.page.evaluate(is_open)["measures"]
    assert one.count("#matrix .cell") == 25
    one.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert all(one.page.evaluate(is_open).values())
    assert one.count("#users-chart path.user") == 3 * 4
    one.page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert [key for key, value in one.page.evaluate(is_open).items() if value] == ["measures"]
    assert one.said == []


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of thirty runs, some with long names, and twelve measures, one of them without bounds."""
    path = tmp_path_factory.mktemp("many") / "many.html"
    docs = [f"d{k}" for k in range(12)]
    qrels = {t: {doc: (k + j) % 3 for j, doc in enumerate(docs)} for k, t in enumerate("1234")}

    def ranked(r: int, k: int) -> dict[str, float]:
        return {doc: float((7 * r + 5 * j + 3 * k * r) % 13) for j, doc in enumerate(docs)}

    runs = {
        f"{'a-very-long-name-of-a-system-' * (r % 3)}{r}": {t: ranked(r, k) for k, t in enumerate("1234")}
        for r in range(30)
    }
    measures = ["AP", *(f"{of}@{k}" for of in ("nDCG", "P", "R") for k in (1, 2, 3)), "DCG@5", "RR"]
    files = [{"path": f"/a/folder/of/runs/of/a/long/name/{r}.run", "bytes": 1, "sha256": "0"} for r in runs]
    amble.report(amble.evaluate(qrels, runs, measures), systems=5, files=files).save(path)
    return path


def test_no_column_and_no_row_is_cut(window: Opened, many: Path) -> None:
    one = window.go(many, width=1100)
    edges = """() => {
        const [box, table] = [find("board").parentElement, find("board")];
        const rows = [...table.tBodies[0].rows].map((row) => Math.round(row.getBoundingClientRect().bottom));
        const bottom = Math.round(box.getBoundingClientRect().top + box.clientHeight);
        const nearest = Math.min(...rows.map((y) => Math.abs(y - bottom)));
        return [box.scrollWidth - box.clientWidth, nearest, rows.at(-1) - bottom];
    }"""
    hidden, gap, rest = one.page.evaluate(edges)
    assert hidden == 0
    beside = one.page.locator("#distribution-systems")
    assert beside.evaluate("(box) => box.scrollWidth - box.clientWidth") == 0
    assert gap <= 1  # the box ends where a row does
    assert rest > 100  # and there are more
    assert one.page.locator("#every-measure").is_visible()
    shown = one.count("#board thead th")
    one.page.click("#every-measure")
    assert one.count("#board thead th") > shown
    assert one.count("#board thead th.other") == 11
    one.go(many, width=1920)
    assert one.page.evaluate("find('main').getBoundingClientRect().width") == 1600
    assert one.page.evaluate(edges)[0] == 0
    assert one.said == []


def test_cards_on_a_phone(window: Opened, many: Path) -> None:
    """Letters and p-values are read without scrolling aside; names are cut, and whole in a title."""
    one = window.go(many, width=390, height=800)
    assert one.page.evaluate("document.documentElement.scrollWidth") == 390
    cells = """(label) => [...document.querySelectorAll(`#board td[data-label="${label}"]`)].map((cell) => {
        const { left, right, height } = cell.getBoundingClientRect();
        return left >= 0 && right <= 390 && height > 20 && cell.textContent !== "";
    })"""
    for label in ("AP", "±", "letters", "p"):
        assert one.page.evaluate(cells, label) == [True] * 10
    names = """[...document.querySelectorAll("#board tbody th button")].map((name) => [
        name.title === `${name.textContent}: look at this run`,
        name.scrollWidth > name.clientWidth,
        name.getBoundingClientRect().right <= 390,
    ])"""
    found = one.page.evaluate(names)
    assert all(whole and inside for whole, _, inside in found)
    assert {cut for _, cut, _ in found} == {True, False}
    edges = "(texts) => texts.map((e) => e.getBoundingClientRect().left)"
    assert min(one.page.locator("#heat .run").evaluate_all(edges)) >= 14
    one.page.locator("details:has(.files)").evaluate_all("(all) => all.forEach((e) => (e.open = true))")
    shown = "(e) => e.getBoundingClientRect().right <= e.parentElement.getBoundingClientRect().right"
    assert one.page.locator(".files bdi").first.evaluate(shown)  # the end of the path
    one.page.select_option("#sort", "run")
    assert one.runs() == one.page.evaluate("data.runs.toSorted((a, b) => a.localeCompare(b)).slice(0, 10)")
    one.page.click("#every-run")
    assert one.count("#board tbody tr") == 30
    assert not one.page.locator("#every-run").is_visible()
    assert one.said == []


def test_intervals_have_an_axis_on_the_range_of_the_data(seen: Opened, report: tuple[Path, Any, Any]) -> None:
    board = report[2]["leaderboard"]
    means, half = np.array(board["means"][0]), np.array(board["half"][0])
    least, most = (means - half).min(), (means + half).max()
    drawn = seen.page.evaluate("[...document.querySelectorAll('#board .dot')].map((dot) => +dot.getAttribute('cx'))")
    where = [report[2]["runs"].index(run) for run in seen.runs()]
    assert drawn == pytest.approx(6 + (means[where] - least) / (most - least) * 156)  # of 168 pixels
    ticks = seen.page.evaluate(
        "[...document.querySelectorAll('#board .axis line')].map((line) => +line.getAttribute('x1'))"
    )
    labels = [float(text) for text in seen.page.locator("#board .axis text").all_text_contents()]
    assert len(labels) >= 3
    assert ticks == pytest.approx(6 + (np.array(labels) - least) / (most - least) * 156)


def test_intervals_are_as_wide_as_those_of_the_means(
    opened: Opened, report: tuple[Path, amble.Scores, dict[str, Any]]
) -> None:
    """What is drawn is read on its axis: from the mean to either end, t times the standard error; and the baseline."""
    scores = report[1]
    freedom = len(scores.topics) - 1
    t = np.sqrt(freedom * (1 / betaincinv(freedom / 2, 0.5, 0.05) - 1))  # P(|T| > t) = 0.05
    for j, m in enumerate(scores.measures):
        opened.page.select_option("#measure", str(j))
        place = [scores.runs.index(run) for run in opened.runs()]
        values = scores.values[place, :, j]
        half = t * values.std(axis=1, ddof=1) / np.sqrt(values.shape[1])
        labels = [float(text) for text in opened.page.locator("#board .axis text").all_text_contents()]
        ticks = [x for (x,) in attributes(opened.page, "#board .axis line", "x1")]
        score = np.polynomial.Polynomial.fit(ticks, labels, 1)  # of a pixel
        assert score(np.array(ticks)) == pytest.approx(labels, abs=1e-9)
        low, high, y, other = np.array(attributes(opened.page, "#board .interval", "x1", "x2", "y1", "y2")).T
        assert (score(high) - score(low)) / 2 == pytest.approx(half, abs=2e-6), m
        assert score((low + high) / 2) == pytest.approx(values.mean(1), abs=2e-6), m
        assert y.tolist() == other.tolist()
        base = attributes(opened.page, "#board line.base", "x1", "x2")
        assert score(np.array(base)) == pytest.approx(scores["bm25", m].mean(), abs=2e-6)
        assert [float(text) for text in opened.column(4)] == pytest.approx(half, abs=5.1e-5)
    svgs = "[...document.querySelectorAll('#board td svg')].map((svg) => svg.getScreenCTM().a)"
    assert set(opened.page.evaluate(svgs)) == {1}  # a pixel is one


def test_heat_map_names_its_topics(opened: Opened, report: tuple[Path, amble.Scores, Any]) -> None:
    scores = report[1]
    means = {topic: scores.values[:, t, 0].mean() for t, topic in enumerate(scores.topics)}
    labels = opened.page.evaluate("[...document.querySelectorAll('#heat .topic')].map((text) => text.lastChild.data)")
    assert labels == sorted(scores.topics, key=lambda topic: -means[topic])
    # what is told stands at the cell, not where the pointer is in it
    opened.page.locator("#heat svg").scroll_into_view_if_needed()
    box = opened.page.locator("#heat svg").bounding_box()
    opened.page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 40)
    apart = """() => {
        const [cell, told] = [document.querySelector("#heat .cursor"), tip].map((e) => e.getBoundingClientRect());
        return [told.left - cell.right, told.top - cell.bottom];
    }"""
    assert opened.page.evaluate(apart) == pytest.approx([6, 6], abs=0.6)


def test_axes_say_where_scores_are(seen: Opened, report: tuple[Path, amble.Scores, Any]) -> None:
    """What the labels of an axis say of pixels is what is drawn there."""
    scores = report[1]

    def axis(selector: str, key: str) -> Any:
        texts = seen.page.locator(selector).all_text_contents()
        labels = [float(text.replace("−", "-")) for text in texts]
        at = [x for (x,) in attributes(seen.page, selector, key)]
        value = np.polynomial.Polynomial.fit(at, labels, 1)
        assert len(labels) >= 4
        assert value(np.array(at)) == pytest.approx(labels, abs=1e-9)
        return value

    score = axis("#distribution .axis:has(.title) text:not(.title)", "x")
    share = axis("#distribution .axis:has(.up-title) text:not(.up-title)", "y")
    ends = [re.findall(r"[\d.]+", d) for (d,) in attributes(seen.page, "#distribution path.cdf", "d")]
    assert [score(float(end[0])) for end in ends] == pytest.approx([0] * 4, abs=2e-4)
    assert [score(float(end[-1])) for end in ends] == pytest.approx([1] * 4, abs=2e-4)
    assert [share(float(end[1]) + 4) for end in ends] == pytest.approx([0] * 4, abs=2e-4)  # 4 below what it says
    assert [share(float(end[-2]) + 4) for end in ends] == pytest.approx([1] * 4, abs=2e-4)
    drawn = seen.page.evaluate("[...state.lines].map((i) => data.runs[i])")
    orders = [orders_of(scores.aligned, amble.parse("AP"))[scores.runs.index(run)] for run in drawn]
    marks = [float(d[1:].split()[0]) for (d,) in attributes(seen.page, "#distribution path.tick", "d")]
    assert sorted(map(score, marks)) == pytest.approx(np.sort(np.ravel(orders)), abs=2e-6)

    a, b = (scores.runs[report[2][key]] for key in ("system", "baseline"))
    difference = axis("#differences .axis text", "y")
    bars = attributes(seen.page, "#differences rect", "y", "height", "class")
    found = [difference(y + 4 + ("down" in kind) * height) for y, height, kind in bars]
    assert found == pytest.approx(np.sort(scores[a, "AP"] - scores[b, "AP"])[::-1], abs=2e-6)
    (zero,) = attributes(seen.page, "#differences .zero", "y1", "y2")
    assert difference(np.array(zero) + 4) == pytest.approx([0, 0], abs=1e-9)
    labels = "#users-chart figure:first-child .axis:not(:has(.title)) text"
    powers = [np.log10(float(text)) for text in seen.page.locator(labels).all_text_contents()]
    assert powers == [-4, -3, -2, -1, 0]
    assert [y for (y,) in attributes(seen.page, labels, "y")] == pytest.approx(np.linspace(184, 14, 5))
    labels = "#users-chart figure:first-child .axis:has(.title) text:not(.title)"
    ranks = [np.log(float(text)) for text in seen.page.locator(labels).all_text_contents()]
    at = [x for (x,) in attributes(seen.page, labels, "x")]
    width = attributes(seen.page, "#users-chart svg", "width")[0][0]
    assert at == pytest.approx(48 + np.array(ranks) / np.log(report[2]["users"]["depth"]) * (width - 8 - 48))


def test_keys_have_the_colours_of_what_they_name(seen: Opened, report: tuple[Path, amble.Scores, Any]) -> None:
    colours = "([of, key]) => [...document.querySelectorAll(of)].map((e) => getComputedStyle(e)[key])"
    levels = seen.page.evaluate(colours, ["#heat-key .swatch", "backgroundColor"])
    light = [0.2126 * r + 0.7152 * g + 0.0722 * b for r, g, b in (map(int, re.findall(r"\d+", c)) for c in levels)]
    assert len(light) == 9
    assert (np.diff(light) < -5).all()  # the stronger, the better
    for (kind,), colour in zip(
        attributes(seen.page, "#heat .heat", "class"), seen.page.evaluate(colours, ["#heat .heat", "fill"]), strict=True
    ):
        assert colour == levels[int(kind[-1])]
    ends = [float(text) for text in seen.page.locator("#heat-key span").all_text_contents()]
    assert ends == [0, pytest.approx(report[1].values[:, :, 0].max(), abs=5.1e-3)]
    for lines, key in (("path.cdf", "#distribution-systems"), ("figure:first-child path.user", "#users-legend")):
        drawn = seen.page.evaluate(colours, [lines, "stroke"])
        assert len(set(drawn)) == 4
        named = seen.page.evaluate(colours, [f"{key} .swatch:not(.none)", "backgroundColor"])
        assert sorted(named) == sorted(drawn)


def test_scores_without_bounds_have_a_scale_of_their_own(window: Opened, many: Path) -> None:
    one = window.go(many)
    one.page.select_option("#measure", label="DCG@5")
    ends = one.page.evaluate("data.distributions[state.measure].lines.flatMap(([at]) => [at[0], at.at(-1)])")
    assert max(ends) > 1
    ticks = [
        float(text) for text in one.page.locator("#distribution .axis text:not(.title, .up-title)").all_text_contents()
    ]
    scores = ticks[5:]  # after those of the shares
    assert len(scores) >= 4
    assert min(ends) - 1e-9 <= min(scores)
    assert max(scores) <= max(ends) + 1e-9
    assert max(scores) > 0.7 * max(ends)
    one.page.select_option("#measure", label="AP")
    assert one.page.locator("#distribution .axis text").all_text_contents()[-2] == "1.0"


def test_dominance_of_incomparable_runs_is_a_matrix(window: Opened, tmp_path: Path) -> None:
    # the relevant document is first on one topic and far away on the other, or in between on both
    ranks = {"a": (1, 6), "b": (2, 4), "c": (3, 3), "d": (6, 6)}
    runs = {
        run: {t: {("r" if k == r else f"u{k}"): -float(k) for k in range(1, 8)} for t, r in zip("12", of, strict=True)}
        for run, of in ranks.items()
    }
    rankings = amble.align({"1": {"r": 1}, "2": {"r": 1}}, runs)
    order = amble.order_systems(amble.run_distributions(rankings, "RR"))
    assert order.comparable == 0.5  # all are better than d, and otherwise neither is
    page = amble.report(amble.evaluate(rankings, "RR"))
    page.data["distributions"][0]["comparable"] = 0.49  # fewer than a half
    page.save(tmp_path / "page.html")
    one = window.go(tmp_path / "page.html")
    signs = {"greater": ">", "less": "<", "equal": "=", "incomparable": "·"}
    rows = one.page.evaluate(
        "[...document.querySelectorAll('.standings tbody tr')]"
        ".map((row) => [...row.cells].map((cell) => (cell.firstElementChild || cell).textContent))"
    )
    names = [row[0].split()[1] for row in rows]
    assert names == ["a", "b", "c", "d"]  # by the mean: 7/12, 3/8, 1/3, 1/6
    for name, row in zip(names, rows, strict=True):
        assert row[1:] == ["" if x == name else signs[order.verdict(name, x)] for x in names]
    one.page.locator(".standings button").first.focus()
    one.page.keyboard.press("Enter")
    assert "cannot be compared with: b, c" in one.text("#pairs")
    one.page.select_option("#dominance-kind", "graph")
    assert one.count("#hasse .node") == 4
    assert one.said == []


def test_a_report_of_sessions(window: Opened, tmp_path: Path) -> None:
    sessions = amble.Sessions.of_queries([[1, 0, 3], [0, 2]])
    amble.report(sessions, "MsM sDCG").save(tmp_path / "page.html")
    one = window.go(tmp_path / "page.html")
    one.page.evaluate("openAll()")
    assert one.text("#topics-title") == "Sessions"
    assert not one.page.locator("#distributions").is_visible()
    assert one.count("#heat path.heat") == 1
    assert one.said == []
