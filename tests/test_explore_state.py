"""What is drawn on the pages, read back from the drawings, is the library's; and who cannot see or point is served.

Each page is opened once, for all that is asked of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_explore_browser import Explored
from test_report_browser import Opened, attributes, report, seen  # noqa: F401  the fixtures

import amble
from amble.cli.demo_collection import make_collection
from amble.cli.main import main
from amble.evaluation.run_distributions import orders_of
from amble.metaevaluation import agreement, correlations


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, amble.Rankings]:
    folder = tmp_path_factory.mktemp("state")
    made = make_collection(folder, topics=5)
    assert main(["explore", str(made.qrels), *map(str, made.runs), "-o", str(folder / "e.html"), "--quiet"]) == 0
    return folder / "e.html", amble.align(made.qrels, made.runs)


@pytest.fixture(scope="module")
def demo(browser: Any, collection: tuple[Path, amble.Rankings]) -> Iterator[Explored]:
    one = Explored(browser).go(collection[0], height=500)
    yield one
    assert one.said == []
    assert [url for url in one.asked if not url.startswith("blob:")] == [collection[0].as_uri()]


@pytest.fixture(scope="module")
def lists(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Explored]:
    path = tmp_path_factory.mktemp("state") / "play.html"
    assert main(["explore", "-o", str(path)]) == 0
    one = Explored(browser).go(path, width=390)
    yield one
    assert one.said == []


def test_the_heat_map_and_the_bars_of_the_report(
    seen: Opened,  # noqa: F811
    report: tuple[Path, amble.Scores, Any],  # noqa: F811
) -> None:
    scores = report[1]
    values = np.round(np.nan_to_num(scores.values[:, :, 0]), 6)
    runs = np.argsort(-np.round(scores.means()[:, 0], 6), kind="stable")
    topics = np.argsort(-values.mean(0), kind="stable")
    shown = np.full(values.shape, -1)
    drawn = attributes(seen.page, "#heat path.heat", "class", "d")
    cells = [(int(kind[-1]), *map(float, at.split()[:2])) for kind, d in drawn for at in re.findall(r"M([^h]*)h", d)]
    left, top = sorted({x for _, x, _ in cells}), sorted({y for *_, y in cells})
    for level, x, y in cells:
        shown[runs[top.index(y)], topics[left.index(x)]] = level
    least, most = min(values.min(), 0), values.max()
    assert shown.tolist() == np.minimum((values - least) / (most - least) * 9, 8).astype(int).tolist()

    rows = seen.page.locator("#hardest tbody tr").all_inner_texts()
    for row, t in zip(rows, topics[::-1], strict=True):
        of = values[:, t]
        name, mean, best, run, baseline, _ = row.split("\t")
        assert (name, run) == (scores.topics[t], scores.runs[of.argmax()].strip())
        assert [float(x) for x in (mean, best, baseline)] == pytest.approx(
            [of.mean(), of.max(), of[scores.runs.index("bm25")]], abs=5.1e-5
        )

    a, b = (scores.runs[report[2][key]] for key in ("system", "baseline"))
    differences = np.sort(scores[a, "AP"] - scores[b, "AP"])[::-1]
    bars = attributes(seen.page, "#differences rect", "y", "height", "class")
    least, most = min(differences.min(), 0), max(differences.max(), 1e-6)
    pixels = 206 / (most - least)  # of a drawing 230 high, between 10 and 14 from its ends
    found = [height / pixels * (1 if kind.startswith("up") else -1) for _, height, kind in bars]
    big = np.abs(differences) * pixels > 1  # the least bar has a pixel
    assert np.array(found)[big] == pytest.approx(differences[big], abs=2e-6)
    assert [re.search("up|down|same", kind)[0] for *_, kind in bars] == [  # type: ignore[index]
        "up" if x > 0 else "down" if x < 0 else "same" for x in np.round(differences, 6)
    ]


def test_distributions_users_and_measures_of_the_report(
    seen: Opened,  # noqa: F811
    report: tuple[Path, amble.Scores, Any],  # noqa: F811
) -> None:
    scores = report[1]
    names = seen.page.locator("#distribution-systems tr:has(:checked) label span").all_text_contents()
    swatches = attributes(seen.page, "#distribution-systems tr:has(:checked) .swatch", "class")
    drawn = {run: kind.split()[1] for run, (kind,) in zip(names, swatches, strict=True)}  # as the key says
    assert len(drawn) == 4
    laws = amble.run_distributions(scores.rankings, "AP", runs=list(drawn))
    orders = dict(zip(scores.runs, orders_of(scores.aligned, amble.parse("AP")), strict=True))
    width, height = attributes(seen.page, "#distribution svg", "width", "height")[0]
    left, right, low, high = 54, width - 8, height - 44, 16
    for run, kind in drawn.items():
        d = seen.page.get_attribute(f"#distribution path.cdf.{kind}", "d")
        steps = [(float(x), float(y)) for x, y in re.findall(r"H([\d.]+)V([\d.]+)", d)]
        plateaus = [(x, y, other) for (x, y), (other, _) in pairwise(steps) if other - x > 2]
        assert len(plateaus) > 3
        for x, y, other in plateaus:
            at = ((x + other) / 2 - left) / (right - left)
            assert (low - y) / (low - high) == pytest.approx(float(laws[run].cdf(at)), abs=1 / 160 + 3e-3)
        for order, value in zip(("one", "two"), orders[run], strict=True):
            x = attributes(seen.page, f"#distribution .order.{order}.{kind}", "x1")[0][0]
            assert (x - left) / (right - left) == pytest.approx(value, abs=2e-6)

    agreed = agreement(scores)
    matrices = (
        ("significant", agreed.significant),
        ("not_significant", agreed.not_significant),
        ("tau", correlations(scores, resample=None).values),  # the last: what the page had at first
    )
    for kind, values in matrices:
        seen.page.select_option("#matrix-kind", kind)
        cells = seen.page.locator("#matrix .cell")
        shown = [float(text.split()[0].replace("–", "nan")) for text in cells.all_inner_texts()]
        assert shown == pytest.approx(values.ravel(), abs=5.1e-4, nan_ok=True)
        least, most = np.nanmin(values), np.nanmax(values)
        level = np.minimum(np.floor((values.ravel() - least) / (most - least or 1) * 9), 8)
        classes = [str(kind).split("heat-")[1] for (kind,) in attributes(seen.page, "#matrix .cell", "class")]
        assert classes == ["none" if np.isnan(x) else str(int(x)) for x in level]
    power = np.sort(agreed.power)[::-1]
    told = [
        text
        for j in np.argsort(-agreed.power, kind="stable")
        for text in (scores.measures[j], f"{100 * agreed.power[j]:.1f} %")
    ]
    assert seen.page.locator("#power text").all_text_contents() == told
    bars = attributes(seen.page, "#power rect", "width")
    assert [x / (620 - 60 - 130) for (x,) in bars] == pytest.approx(np.maximum(power, 1 / 430), abs=2e-6)


def test_where_users_look_and_stop_in_the_report(
    seen: Opened,  # noqa: F811
    report: tuple[Path, amble.Scores, Any],  # noqa: F811
) -> None:
    """The three panels, of every measure with a user: attention, the probability of stopping, and what is left."""
    scores = report[1]
    run, depth = scores.runs[report[2]["users"]["run"]], report[2]["users"]["depth"]
    width = attributes(seen.page, "#users-chart svg", "width")[0][0]
    left, right, low, high = 48, width - 8, 180, 10  # from 0.0001 to 1, both ways by logarithms
    names = seen.page.locator("#users-legend .chip").all_text_contents()
    swatches = attributes(seen.page, "#users-legend .swatch", "class")
    assert names == [m.label for m in scores.parsed if m.declaration.is_user]
    assert seen.count("#users-chart path.user") == 3 * len(names)
    for name, (kind,) in zip(names, swatches, strict=True):
        m = amble.parse(name)
        drawn = attributes(seen.page, f"#users-chart path.user.{kind.split()[1]}", "d")
        users = [scores.user(run, topic, m) for topic in scores.topics]
        columns = [np.zeros((len(users), depth)) for _ in range(3)]
        for k, user in enumerate(users):
            for column, of in zip(columns, (user.weights, user.visits, user.last), strict=True):
                column[k, : of.size] = of[:depth]
        weights, visits, stops = (column.mean(0) for column in columns)
        halting = np.where(visits >= 0.01, stops / np.maximum(visits, 1e-9), 0)
        panels = (weights, halting, 1 - np.cumsum(weights))
        for (d,), expected in zip(drawn, panels, strict=True):
            found = np.zeros(depth)
            for x, y in re.findall(r"[ML]([\d.]+) ([\d.]+)", d):
                rank = round(depth ** ((float(x) - left) / (right - left)))
                found[rank - 1] = 10 ** ((high - float(y)) / (low - high) * 4)
            big = expected > 1.01e-4
            assert big.sum() >= 5
            assert found[big] == pytest.approx(expected[big], rel=0.012), m
            assert not found[expected < 0.99e-4].any(), m


def test_drawings_of_the_explorer(demo: Explored) -> None:
    """The CSV files are compared with the library elsewhere; here the drawings are, with these files."""
    demo.be(kind="walk", p=0.6, q=0.2, loss=0.25, first="forward", order=1, depth=0)
    demo.page.evaluate("catchUp()")
    _, user = demo.numbers("user")
    height, bottom, top = 190, 36, 8
    pixels = (height - bottom - top) / user[:, 1].max()
    for kind, column in (("visits", 1), ("stops", 2)):
        d = demo.page.get_attribute(f"#user path.{kind}", "d")
        tops = np.array([float(y) for y in re.findall(r"V([\d.]+)h", d)])
        assert (height - bottom - tops) / pixels == pytest.approx(user[: len(tops), column], abs=0.06 / pixels)
    _, swept = demo.numbers("sweep")
    lines = demo.page.evaluate("[...state.lines]")
    ends = [np.nanmin(swept[:, 1:]), np.nanmax(swept[:, 1:])]
    pad = (ends[1] - ends[0]) * 0.04
    low, high = max(0, ends[0] - pad), ends[1] + pad
    for run, (d,) in zip(lines, attributes(demo.page, "#sweep path.swept.chosen", "d"), strict=True):
        y = np.array([float(y) for y in re.findall(r"[ML][\d.]+ ([\d.]+)", d)])
        assert low + (340 - 56 - y) / (340 - 56 - 12) * (high - low) == pytest.approx(swept[:, run + 1], abs=1e-3)
    _, taus = demo.numbers("tau")
    drawn = attributes(demo.page, "#tau path.swept:not([d^='M0 2'])", "d")
    kinds = list(dict.fromkeys(map(tuple, taus[:, 1:].T.tolist())))  # measures that agree all along share a line
    least = max(-1, np.floor((taus[:, 1:].min() - 0.02) * 10) / 10)
    assert len(drawn) == len(kinds) < taus.shape[1]
    ends = attributes(demo.page, "#tau svg.chart", "width")[0][0] - 12, 46
    for (d,), tau in zip(drawn, kinds, strict=True):
        points = [(float(x), float(y)) for x, y in re.findall(r"[ML]([\d.]+) ([\d.]+)", d)]
        place = ends[1] + (swept[:, 0] - swept[0, 0]) / (swept[-1, 0] - swept[0, 0]) * (ends[0] - ends[1])
        y = [[y for x, y in points if abs(x - at) < 0.06] for at in place]
        assert 1 - (np.array([of[-1] for of in y]) - 10) / (190 - 10) * (1 - least) == pytest.approx(tau, abs=1e-3)
    rows = demo.rows("differences")[1:]
    pixels = attributes(demo.page, "#differences rect", "y", "height")
    values = np.array([float(row[3]) for row in rows])
    assert len(pixels) == len(rows) == 5
    high = np.maximum(np.abs(values) * 218 / (max(values.max(), 1e-6) - min(values.min(), 0)), 0.8)
    assert [height for _, height in pixels] == pytest.approx(high, abs=1e-4)
    board = demo.rows("board")[1:]
    assert demo.page.locator("#board .scored").all_text_contents() == [f"{float(row[2]):.4f}" for row in board]
    shares = demo.page.evaluate(
        "[...document.querySelectorAll('#board .scored')].map((e) => +e.style.getPropertyValue('--share'))"
    )
    assert shares == pytest.approx([float(row[2]) / float(board[0][2]) for row in board], abs=6e-4)


WALK = {"kind": "walk", "p": 0.6, "q": 0.2, "loss": 0.25, "first": "forward", "order": 1, "depth": 0}


@pytest.mark.parametrize(
    ("name", "user"),
    [
        ("RBP(p=0.8)", {"kind": "RBP", "p": 0.8, "depth": 0}),
        ("PH(p=0.6,q=0.2,loss=0.25)", WALK),
        ("ERR", {"kind": "ERR", "depth": 0}),
    ],
)
def test_lines_of_users_of_the_explorer(
    demo: Explored, collection: tuple[Path, amble.Rankings], name: str, user: dict[str, Any]
) -> None:
    """Every step of every line of the distributions, and the lines of orders 1 and 2: read back from the drawing."""
    demo.be(**user)
    demo.wait("!unfinished()")
    lines = demo.page.evaluate("[...state.lines].map((i) => [data.runs[i], colourOf.get(i)])")
    users = demo.page.evaluate("found.heard.users") or None
    rankings, m = collection[1], amble.parse(name)
    laws = amble.run_distributions(rankings, m, runs=[run for run, _ in lines], users=users, seed=0)
    orders = dict(zip(rankings.runs, orders_of(rankings, m), strict=True))
    width = attributes(demo.page, "#distribution svg", "width")[0][0]
    left, right, low, high, bins = 54, width - 10, 260, 18, 512
    assert demo.count("#distribution path.cdf") == len(lines) == 3
    for run, colour in lines:
        d = demo.page.get_attribute(f"#distribution path.cdf.line-{colour}", "d")
        share = np.zeros(bins + 1)
        for x, y in re.findall(r"H([\d.]+)V([\d.]+)", d):
            share[round((float(x) - left) / (right - left) * bins) :] = (low - float(y)) / (low - high)
        at = np.arange(bins + 1) / bins * (1 + 1e-12)
        assert share == pytest.approx(laws[run].cdf(at), abs=0.051 / (low - high))
        for kind, value in zip(("one", "two"), orders[run], strict=True):
            drawn = attributes(demo.page, f"#distribution line.order.{kind}.line-{colour}", "x1", "x2", "y1", "y2")
            place = left + value * (right - left)
            assert drawn == ([] if name == "ERR" else [pytest.approx([place, place, low, high], abs=1e-6)])


def test_flips_of_the_explorer(demo: Explored, collection: tuple[Path, amble.Rankings]) -> None:
    """Where two runs change places, by the library's means along the sweep: strokes, circles, and the list of flips."""
    demo.be(**WALK)
    demo.wait("!unfinished()")
    rankings = collection[1]
    m = amble.parse("PH(p=0.6,q=0.2,loss=0.25)")
    values = demo.numbers("sweep")[1][:, 0]
    assert len(values) == 33
    means = np.array([amble.evaluate(rankings, m(p=float(p))).means()[:, 0] for p in values])
    flips = [
        (k, a, b, values[k - 1] + (values[k] - values[k - 1]) * gap[k - 1] / (gap[k - 1] - gap[k]))
        for a in range(means.shape[1])
        for b in range(a)
        for gap in [means[:, a] - means[:, b]]
        for k in range(1, len(values))
        if gap[k - 1] * gap[k] < 0
    ]
    assert len(flips) >= 2
    width = attributes(demo.page, "#sweep svg", "width")[0][0]
    left, right = 54, width - (12 if width < 560 else 150)

    def across(p: float) -> float:
        return float(left + (p - values[0]) / (values[-1] - values[0]) * (right - left))

    chosen = demo.page.evaluate("[...state.lines]")
    draws = "(runs) => { state.lines.clear(); runs.forEach((i) => state.lines.add(i)); schedule(); }"
    demo.page.evaluate(draws, sorted({run for _, *two, _ in flips for run in two}))
    demo.wait("!unfinished()")
    (d,) = attributes(demo.page, "#sweep path.flip", "d")[0]
    strokes = [float(x) for x in re.findall(r"M([\d.]+) ", d)]
    assert strokes == pytest.approx(sorted(across(at) for *_, at in flips), abs=0.051)
    pad = (means.max() - means.min()) * 0.04
    low, high = max(0, means.min() - pad), means.max() + pad
    heights = [np.interp(at, values, means[:, a]) for _, a, _, at in flips]
    places = [[across(at), 284 - (y - low) / (high - low) * 272] for (*_, at), y in zip(flips, heights, strict=True)]
    circles = attributes(demo.page, "#sweep circle.flip-mark", "cx", "cy")
    assert sorted(circles) == [pytest.approx(place, abs=1e-4) for place in sorted(places)]
    told = demo.page.locator("#flips li").all_inner_texts()
    demo.page.evaluate(draws, chosen)
    assert len(told) == min(len(flips), 8)
    for text in told:  # to four decimals: who is overtaken is ahead before, and behind after
        found = re.fullmatch(r"p = (0\.\d{4})\s*(\S+) overtakes (\S+)", text)
        assert found is not None, text
        at, winner, loser = float(found[1]), *map(rankings.runs.index, found.groups()[1:])
        gaps = [amble.evaluate(rankings, m(p=at + step)).means()[[winner, loser], 0] for step in (-1e-4, 1e-4)]
        assert [np.sign(one - other) for one, other in gaps] == [-1, 1], text


def test_what_is_out_of_sight_follows(demo: Explored) -> None:
    """In the same frame if there is time, else in the frame after; or at once, if its numbers are asked for."""
    demo.be(kind="RBP", p=0.8)
    assert demo.page.evaluate("[...inSight]").count("topics-title") == 0
    in_time, now, later = demo.page.evaluate("""() => {
      setUser({ p: 0.4 });
      update();
      proceed(performance.now());
      const first = behind.size;
      const clock = performance.now.bind(performance);
      let late = 0;
      performance.now = () => clock() + (late += FRAME);
      setUser({ p: 0.3 });
      update();
      performance.now = clock;
      return [first, behind.has("topics-title"), csvOf("differences")];
    }""")
    assert (in_time, now) == (0, True)
    demo.wait("location.hash.includes('p=0.3') && !behind.size")
    assert demo.page.evaluate("csvOf('differences')") == later
    demo.be(kind="RBP", p=0.8)
    assert demo.page.evaluate("csvOf('differences')") != later


def test_a_row_is_its_run(demo: Explored) -> None:
    """Rows stay where they are, and show other runs after each move: what is checked is the run."""
    demo.be(kind="P", depth=1)
    before = demo.page.locator("#board .name").all_text_contents()
    demo.be(kind="AP", depth=0)
    names = demo.page.locator("#board .name").all_text_contents()
    assert names != before
    drawn = set(demo.page.evaluate("[...state.lines].map((i) => data.runs[i])"))
    checked = demo.page.locator("#board tr:has(:checked) .name").all_text_contents()
    assert set(checked) == drawn
    demo.page.locator("#board tr", has_text=names[0]).get_by_role("checkbox").uncheck()
    demo.wait("!planned")
    assert set(demo.page.evaluate("[...state.lines].map((i) => data.runs[i])")) == drawn - {names[0]}
    assert demo.page.locator("#board .name").first.get_attribute("title") == names[0]


def test_what_a_screen_reader_hears(demo: Explored) -> None:
    """The accessibility tree: landmarks, headings, named sliders with values, a table, images with words."""
    demo.be(kind="walk", p=0.6, q=0.2)
    tree = demo.page.locator("body").aria_snapshot()
    for part in (
        r'- complementary "The user"',
        r'- slider "p, forward": "0.6"',
        r'- group "Kinds of users"',
        r'- button "walk" \[pressed\]',
        r'- heading "Leaderboard" \[level=2\]',
        r'- region "Leaderboard table"',
        r'- table "Leaderboard by PH\(p=0.6,q=0.2,loss=0.25\)"',
        r'- columnheader "score"',
        r'- checkbox "[^"]+" \[checked\]',
        r'img "Expected visits and stops by rank: rank 1, visits \d',
        r'- img "Share of users of PH\(.*Triangles mark order 1 and order 2',
        r'- img "Score of every run along p, forward; \d+ flips',
        r'application "Differences by topic, sorted: ',
        r'- button "Save sweep as CSV"',
        r"- status",
        r"- contentinfo",
    ):
        assert re.search(part, tree), part
    assert demo.page.get_attribute("#slider-p", "aria-valuetext") == "0.6"


FOCUS = """() => { const all = [...document.querySelectorAll('*')]; return [all.indexOf(document.activeElement),
  document.activeElement.id || document.activeElement.textContent.slice(0, 20),
  Math.round(document.activeElement.getBoundingClientRect().top + window.scrollY)]; }"""


def test_the_focus_goes_down_a_phone(lists: Explored) -> None:
    """Tab reaches everything in the order of the page, which is that of the eye: no section is jumped over."""
    # from the page's start, wherever the focus was
    lists.page.evaluate("document.body.tabIndex = -1; document.body.focus(); document.body.removeAttribute('tabindex')")
    places, tops = [], []
    for _ in range(60):
        lists.page.keyboard.press("Tab")
        place, name, top = lists.page.evaluate(FOCUS)
        if places and place <= places[-1]:
            break
        places.append(place)
        tops.append((name, top))
    assert len(places) > 25
    named = [name for name, _ in tops]
    order = ["slider-p", "examples", "largest", "along", "play", "copy-command"]
    assert [name for name in named if name in order] == order
    main_tops = [top for _, top in tops[named.index("examples") :]]
    assert all(b > a - 80 for a, b in pairwise(main_tops))  # a row of tools at most


def test_the_playground_fits_a_phone(lists: Explored) -> None:
    assert lists.page.evaluate("document.documentElement.scrollWidth") == 390
    # what its example speaks of is in sight: there is no other measure that would need the room
    assert lists.page.locator("#board thead").inner_text().strip().endswith("\torder 2")
    assert lists.page.evaluate("find('board').scrollWidth <= find('board').parentElement.clientWidth")


def test_the_leaderboard_is_cut_between_rows(demo: Explored) -> None:
    """Its box has the height of the head and ten rows, and names give way before a column does."""
    high = demo.page.evaluate("[...find('board').rows].map((row) => row.getBoundingClientRect().height)")
    most = demo.page.evaluate("parseFloat(getComputedStyle(find('board').parentElement).maxHeight)")
    assert high[0] * 11 + 1 == most
    assert set(high) == {high[0]}
    name = demo.page.evaluate("data.runs[0]")
    demo.page.evaluate("data.runs[0] = 'a-very-long-name-'.repeat(9); schedule()")
    demo.wait("!planned && find('board').textContent.includes('a-very-long-name-a')")
    assert demo.page.evaluate("find('board').offsetWidth <= find('board').parentElement.clientWidth")
    cut = "[...find('board').querySelectorAll('.name')].filter((e) => e.scrollWidth > e.clientWidth)"
    assert [name[:11] for name in demo.page.evaluate(f"{cut}.map((e) => e.textContent)")] == ["a-very-long"]
    demo.page.evaluate("(name) => { data.runs[0] = name; schedule(); }", name)


def test_the_playground_names_its_example(lists: Explored) -> None:
    assert lists.page.locator("#examples option:checked").inner_text().startswith("Two lists with four relevant")
    assert lists.text("#example-note").startswith("Order 1 prefers r, order 2 prefers s")
    # where the two lists have one score: by bisection with the library
    low, high = 0.5, 0.7
    r, s = [1, 0, 0, 1, 0, 0, 1, 0, 0, 1], [0, 1, 1, 1, 1, 0, 0, 0, 0, 0]
    for _ in range(40):
        p = (low + high) / 2
        m = amble.parse(f"PH(p={p!r},q=0.25,loss=0.25)")
        low, high = (p, high) if m.value(r) > m.value(s) else (low, p)
    assert [(float(p), a, b) for p, a, b in lists.rows("flips")[1:]] == [(pytest.approx(low, abs=1e-6), "s", "r")]
    assert lists.text("#sweep-finding") == f"Best along p: r up to {low:.2f}, then s."
    lists.page.get_by_label("List r, rank 2: grade 0").click()
    lists.wait("!planned")
    assert lists.page.input_value("#examples") == ""
    assert lists.text("#example-note") == ""
