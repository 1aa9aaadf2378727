"""The explorer in a real browser: its numbers are the library's, and it can be used in any way there is to use it."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, Self

import numpy as np
import pytest
from test_report_browser import SMALL, Opened

import amble
from amble.cli.demo_collection import make_collection
from amble.cli.main import main
from amble.distributions.distribution import Distribution
from amble.evaluation.run_distributions import orders_of
from amble.metaevaluation import correlation
from amble.users.protocol import Question

ODD = ("<script>alert(1)</script>", 'ü "x" & =1+1,')
PAIRS = 2000 if os.environ.get("AMBLE_EXAMPLES") == "all" else 60  # users on lists
USERS: dict[str, dict[str, Any]] = {
    "PH(p=0.6,q=0.2,loss=0.5,first='stop',order=2)": {
        "kind": "walk",
        "p": 0.6,
        "q": 0.2,
        "loss": 0.5,
        "first": "stop",
        "order": 2,
        "depth": 0,
    },
    "PH(p=0.45,q=0.3,loss=0.25)@20": {
        "kind": "walk",
        "p": 0.45,
        "q": 0.3,
        "loss": 0.25,
        "first": "forward",
        "order": 1,
        "depth": 20,
    },
    "RBP(p=0.9)": {"kind": "RBP", "p": 0.9, "depth": 0},
    "INSQ(T=3)": {"kind": "INSQ", "T": 3, "depth": 0},
    "INST(T=2)@30": {"kind": "INST", "T": 2, "depth": 30},
    "P@7": {"kind": "P", "depth": 7},
    "SDCG@12": {"kind": "SDCG", "depth": 12},
    "ERR": {"kind": "ERR", "depth": 0},
    "AP": {"kind": "AP", "depth": 0},
}
REFERENCE = "AP nDCG@10 RR ESL"
USERS_SIMULATED = 3000  # at most: 100 and 200 and 400 … of them are shown on the way


class Explored(Opened):
    """The explorer in a browser, and the address that it had at first."""

    first = ""

    def go(self, path: Path, hash: str = "", **how: Any) -> Self:
        super().go(path, hash, **how)
        self.page.wait_for_selector("html.drawn")
        self.page.evaluate("(n) => { state.users = n; }", USERS_SIMULATED)  # before the worker is asked
        self.page.evaluate("() => { window.chosenFirst = { ...state, lines: [...state.lines] }; }")
        return self

    def be(self, **user: Any) -> None:
        """Set the user, all else as at first, and wait until all is drawn, also what the worker finds."""
        self.page.evaluate(
            """(user) => {
              const { measure, system, baseline, topic, lines } = chosenFirst;
              Object.assign(state, { measure, system, baseline, topic, lines: new Set(lines) });
              Object.assign(state, { fitted: null, along: "p" });
              setUser(user);
              changed();
            }""",
            user,
        )
        self.wait("!unfinished() && !unwritten && found.heard && found.heard.key === questionKey() && found.heard.done")

    def wait(self, expression: str) -> None:
        """Wait until an expression holds; the page's own policy forbids Playwright's way."""
        looks = f"""async () => {{
          const end = performance.now() + 60000;
          while (!({expression}) && performance.now() < end) await new Promise((go) => setTimeout(go, 4));
          return Boolean({expression});
        }}"""
        assert self.page.evaluate(looks), f"never: {expression}"

    def rows(self, chart: str) -> list[list[str]]:
        """The CSV file of a chart."""
        return list(csv.reader(io.StringIO(self.page.evaluate("(id) => csvOf(id)", chart), newline="")))

    def numbers(self, chart: str) -> tuple[list[str], np.ndarray[Any, Any]]:
        head, *rows = self.rows(chart)
        return head, np.array([[float(x) if x else np.nan for x in row] for row in rows])


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, amble.Scores]:
    """The small collection, with two runs of odd names, one of them short and without a topic."""
    from amble.reporting.explorer import explorer

    folder = tmp_path_factory.mktemp("explore")
    made = make_collection(folder, topics=6)
    runs: dict[str, Any] = {}
    for path in made.runs[:4]:
        of = runs.setdefault(path.stem, {})
        for line in path.read_text().splitlines():
            topic, _, doc, _, score, _ = line.split()
            of.setdefault(topic, {})[doc] = float(score)
    first, second = list(runs.values())[:2]
    runs[ODD[0]] = {topic: dict(list(docs.items())[k % 7 : 30 + k]) for k, (topic, docs) in enumerate(first.items())}
    runs[ODD[1]] = dict(list(second.items())[1:])
    scores = amble.evaluate(made.qrels, runs, REFERENCE)
    explorer(scores, title=ODD[0], qrels="it's.txt", files=["a b.run"]).save(folder / "explore.html")
    return folder / "explore.html", scores


@pytest.fixture(scope="module")
def window(browser: Any) -> Explored:
    """The window of the tests, for one page after another: a new window takes longer than most of them."""
    return Explored(browser)


@pytest.fixture(scope="module")
def board(browser: Any, page: tuple[Path, amble.Scores]) -> Iterator[Explored]:
    """The same page, opened once, for tests that choose nothing but the user."""
    one = Explored(browser).go(page[0])
    one.first = one.page.evaluate("location.hash")
    yield one
    assert one.said == []
    assert [url for url in one.asked if not url.startswith("blob:")] == [page[0].as_uri()]


@pytest.fixture
def opened(board: Explored) -> Iterator[Explored]:
    """That page as it was when it was opened: its address, which holds all that can be chosen, is put back."""
    board.wait("!unfinished() && !unwritten")  # else the address of the test before would still be written
    board.page.evaluate("(first) => { document.activeElement.blur(); location.hash = first; }", board.first)
    board.wait("location.hash === " + json.dumps(board.first) + " && !unfinished() && !unwritten")
    yield board
    assert board.said == []


@pytest.fixture(scope="module")
def playground(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("play") / "play.html"
    assert main(["explore", "-o", str(path)]) == 0
    return path


@pytest.fixture(scope="module")
def play(browser: Any, playground: Path) -> Iterator[Explored]:
    one = Explored(browser).go(playground)
    yield one
    assert one.said == []


def pairs(count: int, seed: int) -> list[dict[str, Any]]:
    """Users of all kinds, each with a list, the relevant documents there are, and the largest grade."""
    draw = Random(seed)
    out = []
    for _ in range(count):
        kind = draw.choice(["walk", "walk", "walk", "RBP", "INSQ", "INST", "P", "SDCG", "ERR", "AP"])
        n = draw.choice([1, 2, 5, 10, 30, 100, 1000])
        most, share = draw.randint(1, 4), draw.choice([0.02, 0.2, 0.6])
        grades = [draw.randint(1, most) if draw.random() < share else 0 for _ in range(n)]
        p = round(draw.uniform(0.01, 0.97), 2)
        user = {
            "kind": kind,
            "p": p,
            "q": draw.choice([0, round(draw.uniform(0.01, 0.98 - p), 3)]),
            "loss": draw.choice([0, 0.25, 1, round(draw.random(), 2)]),
            "first": draw.choice(["forward", "stop"]),
            "order": draw.choice([1, 2]),
            "T": draw.choice([0.5, 1, 2.5, 10]),
            "depth": draw.choice([0, 1, 7, 20]) or 10 * (kind == "SDCG"),
        }
        relevant = sum(g > 0 for g in grades) + draw.choice([0, 3])
        out.append({"user": user, "grades": grades, "relevant": relevant, "most": most})
    return out


@pytest.mark.filterwarnings("ignore::amble.errors.SimulationWarning")
def test_orders_visits_and_distributions_are_the_librarys(play: Explored) -> None:
    wanted = pairs(PAIRS, 7)
    # as text: Playwright's own way to hand over numbers, one by one, takes longer than to find them
    ask = """(pairs) => JSON.stringify(JSON.parse(pairs).map(({ user, grades, relevant, most }) => {
      const c = collectionOfGrades([grades], relevant, most);
      const { score, one, two, depth } = evaluate(user, c, { both: true });
      const exact = walksBack(user) ? null : exactDistribution(user, c, [0]);
      return { name: measureName(user), score: score[0], one: one[0], two: two[0], depth: depth[0],
        swept: evaluate(user, c, { close: false }).score[0], grid: exact && [...cdfOnGrid(user, c, 0, 64)],
        exact: exact && [[...exact.values], [...exact.probs]] };
    }))"""
    parts = (json.dumps(wanted[k : k + 50]) for k in range(0, PAIRS, 50))
    answers = (got for part in parts for got in json.loads(play.page.evaluate(ask, part)))
    for asked, got in zip(wanted, answers, strict=True):
        m, about = amble.parse(got["name"]), {"relevant": asked["relevant"], "max_grade": asked["most"]}
        given, close = asked["grades"], {"abs": 1e-9, "rel": 1e-9}
        assert [got["score"], got["swept"]] == pytest.approx([m.value(given, **about)] * 2, **close), got["name"]
        assert got["depth"] == pytest.approx(m.user(given, **about).expected_depth, **close), got["name"]
        lists = m.gains_of_grades(given, **about).lists
        if m.name != "ERR":
            assert got["two"] == pytest.approx(float(m.answers(Question.ORDER2, lists)[0]), **close), got["name"]
        if got["exact"] is not None:
            values, probs = got["exact"]
            law = m.distribution(given, **about)
            if m.name != "ERR" and law.users is None:
                assert got["one"] == pytest.approx(law.mean, **close), got["name"]
            if law.users is None:
                assert Distribution(values, probs).distance(law) < 1e-9, got["name"]
                assert got["grid"] == pytest.approx(law.cdf(np.arange(65) / 64 * (1 + 1e-12)), abs=1e-9), got["name"]
        elif m.name != "ERR":
            assert got["one"] == pytest.approx(float(m.answers(Question.ORDER1, lists)[0]), **close), got["name"]


def test_hopes_fulfilled_by_any_gains(play: Explored) -> None:
    """INST where its sums are looked up (whole grades), and where gains are no whole parts of the largest one."""
    draw = Random(5)
    ask = """([user, grades, most]) => {
      const { score, depth } = evaluate(user, collectionOfGrades([grades], 60, most), { both: true });
      return [measureName(user), score[0], depth[0]];
    }"""
    for most, kinds in ((1, (0, 1)), (12, (0, 5, 12)), (20, (0, 7, 20)), (3.5, (0, 0.5, 1.25, 3.5)), (4, (4,))):
        for T, depth in ((0.5, 0), (2.3, 7)):
            grades = draw.choices(kinds, k=60)
            user = {"kind": "INST", "T": T, "depth": depth}
            name, *found = play.page.evaluate(ask, [user, grades, most])
            m = amble.parse(name)
            length = m.user(grades, max_grade=most).expected_depth
            assert found == pytest.approx([m.value(grades, max_grade=most), length], rel=1e-9), name


def test_depths_beyond_the_end_of_a_list(play: Explored) -> None:
    """P@5 reads five ranks of a list of three, a walk three: neither takes what was kept for the other."""
    walk = {"kind": "walk", "p": 0.5, "q": 0.25, "loss": 0.25, "first": "forward", "order": 1}
    ask = """(users) => {
      const c = collectionOfGrades([[1, 0, 1]], 2, 1);
      return users.map((user) => [measureName(user), evaluate(user, c).score[0]]);
    }"""
    for users in ([{"kind": "P", "depth": 5}, walk | {"depth": 5}], [walk | {"depth": 5}, {"kind": "P", "depth": 5}]):
        for name, score in play.page.evaluate(ask, users):
            assert score == pytest.approx(amble.parse(name).value([1, 0, 1], relevant=2), abs=1e-12), name


SOME = list(USERS) if PAIRS == 2000 else list(USERS)[1::2]  # the others with AMBLE_EXAMPLES=all


@pytest.mark.parametrize("name", SOME)
def test_leaderboard_and_charts_are_the_librarys(board: Explored, page: tuple[Path, amble.Scores], name: str) -> None:
    """The CSV file of every chart, beside what the library says of the same measure."""
    rankings = page[1].aligned
    m = amble.parse(name)
    board.be(**USERS[name])
    assert amble.parse(board.text("#measure-name")) == m
    scores = amble.evaluate(rankings, m)
    means = dict(zip(scores.runs, scores.means()[:, 0], strict=True))

    head, *rows = board.rows("board")
    assert head[2:5] == [board.text("#measure-name"), "order 1", "order 2"]
    assert [row[0] for row in rows] == sorted(means, key=lambda run: (-round(means[run], 12), scores.runs.index(run)))
    assert [float(row[2]) for row in rows] == pytest.approx([means[row[0]] for row in rows], abs=1e-9)
    ap = dict(zip(page[1].runs, page[1].means()[:, 0], strict=True))
    assert [float(row[6]) for row in rows] == [ap[row[0]] for row in rows]
    assert [int(row[7]) for row in rows] == [1 + sum(x > ap[row[0]] for x in ap.values()) for row in rows]
    orders = dict(zip(scores.runs, orders_of(rankings, m), strict=True))
    for row in rows:
        assert [float(x) if x else np.nan for x in row[3:5]] == pytest.approx(orders[row[0]], abs=1e-9, nan_ok=True)
    shown = board.page.locator("#board tbody th .name").all_text_contents()
    assert shown == [row[0] for row in rows]

    head, line = board.numbers("user")
    run, topic = board.page.evaluate("[data.runs[state.system], data.topics[state.topic]]")
    user = scores.user(run, topic, m)
    n = min(len(line), user.visits.size)
    assert n >= 5
    assert line[:n, 1] == pytest.approx(user.visits[:n], abs=1e-9)
    assert line[:n, 2] == pytest.approx(user.last[:n], abs=1e-9)

    head, line = board.numbers("differences")[0], board.rows("differences")[1:]
    a, b = head[1:3]
    for topic, one, other, difference in line:
        t = scores.topics.index(topic)
        expected = [scores[a, m][t], scores[b, m][t], scores[a, m][t] - scores[b, m][t]]
        assert [float(one), float(other), float(difference)] == pytest.approx(expected, abs=1e-9)
    assert len(line) == len(scores.topics)

    head, line = board.numbers("sweep")
    assert head[1:] == list(scores.runs)
    along = head[0]
    for at in (1, len(line) // 2, -1):
        value = int(line[at, 0]) if along == "depth" else line[at, 0]
        other = m @ value if along == "depth" else m(**{along: float(value)})
        assert line[at, 1:] == pytest.approx(amble.evaluate(rankings, other).means()[:, 0], abs=1e-9)
    head, taus = board.numbers("tau")
    assert head[1:] == REFERENCE.split()
    signs = [one.sign for one in page[1].parsed]
    for k in (0, len(line) - 1):
        means_there = np.round(line[k, 1:], 11)
        expected = [s * correlation.kendall(means_there, x) for s, x in zip(signs, page[1].means().T, strict=True)]
        assert taus[k, 1:] == pytest.approx(expected, abs=1e-9, nan_ok=True)
    if along != "depth":
        for at, winner, loser in board.rows("flips")[1:][:3]:
            there = amble.evaluate(rankings, m(**{along: float(at)})).means()[:, 0]
            assert there[scores.runs.index(winner)] == pytest.approx(there[scores.runs.index(loser)], abs=1e-6)

    head, line = board.numbers("distribution")
    users = board.page.evaluate("found.heard.users") or None
    laws = amble.run_distributions(rankings, m, runs=head[1:], users=users, seed=0)
    for k, name_of_run in enumerate(head[1:], 1):
        assert line[:, k] == pytest.approx(laws[name_of_run].cdf(line[:, 0] * (1 + 1e-12)), abs=1e-9)
    for pair in board.page.evaluate("found.heard.pairs"):
        law = laws[scores.runs[pair["a"]]].dominance(laws[scores.runs[pair["b"]]])
        assert pair["verdict"] == law.verdict
        if users is None:
            assert len(pair["crossings"]) == len(law.crossings)


def test_simulated_users_are_the_librarys(play: Explored) -> None:
    """The same draws: as many users of each score, and the same paths, for one seed."""
    lists = [[1, 0, 0, 1, 0, 0, 1, 0, 0, 1], [0, 2, 1, 1, 1, 0, 0]]
    for name, user in [(name, user) for name, user in USERS.items() if user["kind"] == "walk"]:
        ask = """([user, lists]) => { const c = collectionOfGrades(lists, 4, 2); return {
          scores: simulatedScores(user, c, [0, 1], 4294967303, 5, 3000).map((of) => [...of]),
          paths: [...Array(40).keys()].map((k) => pathOf(user, 10, k, 9)) }; }"""
        got = play.page.evaluate(ask, [user, lists])
        for grades, scores in zip(lists, got["scores"], strict=True):
            # the users 5 to 3004: of the first 3005, without the first 5
            count = [
                np.unique(np.round(np.repeat(d.values, np.rint(d.probs * d.users).astype(int)), 11), return_counts=True)
                for d in (amble.simulate(name, grades, users=n, seed=2**32 + 7, max_grade=2) for n in (3005, 5))
            ]
            every = dict(zip(*(part.tolist() for part in count[0]), strict=True))
            for value, n in zip(*(part.tolist() for part in count[1]), strict=True):
                every[value] -= n
            found = np.unique(np.round(scores, 11), return_counts=True)
            assert dict(zip(*(part.tolist() for part in found), strict=True)) == {v: n for v, n in every.items() if n}
        if "@" not in name:
            paths = amble.simulate(name, lists[0], users=40, seed=9, paths=True).paths
            assert paths is not None
            assert got["paths"] == [path.tolist() for path in paths]


def test_draws_are_the_librarys(play: Explored) -> None:
    from amble.native.plain_walker import draws, keys

    ask = "[0, 1, 77].map((user) => { const draw = drawsOf(12345678901, user); return [draw(), draw(), draw()]; })"
    got = play.page.evaluate(ask)
    for user, found in zip((0, 1, 77), got, strict=True):
        assert found == [float(draws(keys(12345678901, user, 1), k)[0]) for k in range(3)]


def test_sliders_by_keyboard(opened: Explored) -> None:
    """Arrow keys move a slider; scores, story, address and what is read aloud follow."""
    before = opened.text("#finding")
    slider = opened.page.get_by_role("slider", name="p, forward")
    slider.focus()
    for key in ("PageUp", "ArrowRight", "ArrowRight"):  # a tenth of the slider, and two steps
        opened.page.keyboard.press(key)
    opened.wait("location.hash.includes('p=0.62')")
    assert slider.get_attribute("aria-valuetext") == "0.62"
    assert opened.text("#told-p") == "0.62"
    assert opened.text("#measure-name") == "PH(p=0.62,q=0.25,loss=0.25)"
    assert "goes on with probability 0.62" in opened.text("#story")
    assert opened.text("#finding") != before
    assert opened.page.evaluate("document.activeElement.id") == "slider-p"
    # p + q stays below 1: q gives way
    for key in ("PageUp", *["ArrowRight"] * 5):
        opened.page.keyboard.press(key)
    assert opened.page.evaluate("user.p + user.q") <= 0.98 + 1e-9
    opened.page.get_by_label("stop", exact=True).check()
    opened.page.get_by_role("radio", name="order 2").check()
    opened.wait("location.hash.includes('order=2')")
    assert "first='stop'" in opened.text("#measure-name")


def test_state_in_the_address(window: Explored, page: tuple[Path, amble.Scores]) -> None:
    one = window.go(page[0])
    one.be(kind="INST", T=3.5, depth=20)
    again = window.go(page[0], one.page.evaluate("location.hash"))
    assert again.text("#measure-name") == "INST(T=3.5)@20"
    assert again.said == []
    odd = "#kind=__proto__&p=nan&q=9&depth=-1&T=x&lines=a.99&system=1e9&topic=-1&first=%3Cimg%3E"
    again = window.go(page[0], odd)
    assert again.text("#measure-name") == "PH(p=0.5,q=0.25,loss=0.25)"
    assert again.said == []


def test_one_run_without_a_relevant_document(window: Explored, tmp_path: Path) -> None:
    from amble.reporting.explorer import explorer

    scores = amble.evaluate({"1": {"a": 0, "b": -1}}, {"x": {"1": {"a": 1.0, "c": 0.5}}}, "AP")
    explorer(scores).save(tmp_path / "one.html")
    one = window.go(tmp_path / "one.html")
    for user in USERS.values():
        one.be(**user)
        assert one.rows("board")[1][:3] == ["x", "1", "0"]
    assert "It takes two runs" in one.text("#tau")
    assert one.said == []


def test_a_fitted_user_is_shaded(window: Explored, tmp_path: Path) -> None:
    """Her confidence interval is on the slider and on the sweep, also after the page was opened again."""
    from amble.reporting.explorer import explorer
    from amble.users.fitted import Estimate, Fitted, FittedModel, Origin

    scores = amble.evaluate({"1": {"a": 1}}, {"x": {"1": {"b": 1.0, "a": 0.5}}, "y": {"1": {"a": 1.0}}}, "AP")
    model = FittedModel("w", "walk", {"p": Estimate(0.613, 0.5, 0.75, 99), "q": Estimate(0.2, 0.1, 0.3, 99)}, "clicks")
    fitted = Fitted(Origin(["log"], "table", 300, 1800, 1500), [model])
    explorer(scores, users=[("<fit>", fitted)]).save(tmp_path / "one.html")
    one = window.go(tmp_path / "one.html")
    one.page.get_by_role("button", name="<fit> w").click()
    one.wait("user.p === 0.613 && !planned && !unwritten")
    for _ in range(2):
        assert one.text("#measure-name") == "PH(p=0.613,q=0.2,loss=0.25,first='stop')"
        band = one.page.locator("#sliders .fitted-band rect").first
        assert [float(str(band.get_attribute(key))) for key in ("x", "width")] == pytest.approx([500, 250])
        assert one.count("#sweep .fitted-range") == 1
        one.page.reload()
        one.page.wait_for_selector("html.drawn")
    one.page.locator("#slider-p").press("ArrowRight")
    one.wait("!planned && user.p > 0.613")
    assert one.count(".fitted-band") + one.count(".fitted-range") == 0
    assert one.said == []


def test_copies_give_the_measure(window: Explored, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is copied, given to a shell's words or to Python, has the leaderboard's numbers."""
    monkeypatch.chdir(tmp_path)
    made = make_collection(tmp_path / "it's here", topics=5)
    runs = [str(path.relative_to(tmp_path)) for path in made.runs[:2]]
    qrels = str(made.qrels.relative_to(tmp_path))
    assert main(["explore", qrels, *runs, "-m", "AP", "--quiet", "--depth", "50"]) == 0
    one = window.go(tmp_path / "explore.html")
    one.be(kind="walk", p=0.61, q=0.2, loss=0.3, first="stop", order=2, depth=12)
    rows = {row[0]: float(row[2]) for row in one.rows("board")[1:]}
    import contextlib
    import shlex

    command, program = one.page.evaluate("[asCommand(), asPython()]")
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert main([*shlex.split(command)[1:], "--format", "tsv", "--digits", "12", "--quiet"]) == 0
    found = {line.split("\t")[0]: float(line.split("\t")[3]) for line in out.getvalue().splitlines()[1:]}
    assert found == pytest.approx(rows, abs=1e-11)
    names: dict[str, Any] = {}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(program, names)  # noqa: S102  what a reader would paste
    scores = names["scores"]
    assert dict(zip(scores.runs, scores.means()[:, 0], strict=True)) == pytest.approx(rows, abs=1e-11)
    one.page.click("#copy-command")
    assert one.text("#copy-command") == "Copied"
    assert one.said == []


def test_charts_are_saved(opened: Explored, tmp_path: Path) -> None:
    """A file for every button; drawings hold their own colours, and no markup of a run's name."""
    import xml.etree.ElementTree as ET

    ask = "[...document.querySelectorAll('[data-svg], [data-csv]')].map((e) => e.getAttribute('aria-label'))"
    buttons = opened.page.evaluate(ask)
    assert len(buttons) == len(set(buttons)) == 12
    began = 0.0
    for k, label in enumerate(buttons):
        if k == 10:  # Chromium drops, without a word, an eleventh download within a second of the first
            opened.wait(f"performance.now() > {began + 1100}")
        with opened.page.expect_download() as caught:
            opened.page.get_by_role("button", name=label, exact=True).click()
        path = tmp_path / caught.value.suggested_filename
        caught.value.save_as(path)
        if k == 0:
            began = opened.page.evaluate("performance.now()")
        if path.suffix == ".svg":
            root = ET.fromstring(path.read_text())
            assert root.tag == "{http://www.w3.org/2000/svg}svg"
            assert not root.findall(".//{*}script")
            assert "var(" not in path.read_text()
            assert any("rgb(" in element.get("stroke", "") + element.get("fill", "") for element in root.iter())
    drawn = ("user", "distribution", "sweep", "tau", "differences")
    assert {path.name for path in tmp_path.iterdir()} == {
        *(f"{name}.{kind}" for name in drawn for kind in ("svg", "csv")),
        *("board.csv", "flips.csv"),
    }


def test_tied_runs_share_their_rank(opened: Explored) -> None:
    # 1/2 twice, then 3/10 twice, but for rounding: 1, 1, 3, 3, 5; the fewer the better: 1, 2, 2, 4, 4
    means = "[0.3, 0.5, 0.5, 0.1, 0.1 + 0.2]"
    assert opened.page.evaluate(f"() => rankedBy({means}).rank") == [3, 1, 1, 5, 3]
    assert opened.page.evaluate(f"() => rankedBy({means}, -1).rank") == [2, 4, 4, 1, 2]


def test_odd_names_are_text(opened: Explored) -> None:
    assert opened.text("h1") == ODD[0]
    shown = opened.page.locator("#board tbody th .name").all_text_contents()
    assert set(ODD) <= set(shown)
    opened.page.select_option("#system", label=ODD[0])
    opened.page.select_option("#baseline", label=ODD[1])
    opened.wait("!planned && found.heard && found.heard.key === questionKey()")
    assert ODD[0][:20] in opened.text("#verdict")
    assert opened.rows("differences")[0][1:3] == list(ODD)


def test_nothing_could_be_asked_for(opened: Explored) -> None:
    refused = "() => fetch('https://example.org/').then(() => 'asked', () => 'refused')"
    assert opened.page.evaluate(refused) == "refused"
    assert any("Content Security Policy" in text for text in opened.said)
    opened.said.clear()


def test_runs_are_chosen_and_compared(opened: Explored) -> None:
    opened.be(kind="RBP", p=0.8)
    boxes = opened.page.locator("#board input")
    for k in range(boxes.count()):
        boxes.nth(k).uncheck()
    assert opened.text("#verdict") == "Check two in the leaderboard to compare their users."
    names = opened.page.locator("#board tbody th .name").all_text_contents()
    boxes.nth(0).focus()
    opened.page.keyboard.press("Space")
    opened.page.locator("#board input").nth(4).check()
    opened.wait("found.heard && found.heard.key === questionKey()")
    assert opened.count("#distribution path.cdf") == 2
    told = opened.text("#verdict")
    assert names[0][:30] in told
    assert re.search("dominates|incomparable|the same", told)
    assert opened.page.get_attribute("#verdict", "aria-live") == "polite"
    opened.page.select_option("#against", label="RR")
    opened.wait("document.querySelector('#board thead').textContent.endsWith('RR')")


def test_a_walk_step_by_step(opened: Explored) -> None:
    """Its visits are those of the simulated user; it can be paused."""
    opened.be(kind="walk", p=0.6, q=0.3, loss=0.25, first="forward", order=1, depth=0)
    path = opened.page.evaluate("walk.path")
    for k, rank in enumerate(path, 1):
        opened.page.click("#step")
        assert opened.text("#walker-text").startswith(f"Visit {k}: rank {rank}")
    assert opened.page.locator("#step").is_disabled()
    opened.page.click("#again")
    assert "user 1 of seed 0" in opened.text("#walker-user")
    opened.page.click("#play")
    assert opened.page.get_attribute("#play", "aria-pressed") == "true"
    opened.wait("walk.at >= 1")
    opened.page.click("#play")
    assert opened.text("#play") == "Play"


@pytest.mark.parametrize("width", [390, 1100, 1920])
def test_fits_any_width(window: Explored, page: tuple[Path, amble.Scores], width: int) -> None:
    one = window.go(page[0], width=width, height=850, scheme="dark")
    assert one.page.evaluate("document.documentElement.scrollWidth") <= width
    right = "[...document.querySelectorAll('svg.chart')].map((e) => e.getBoundingClientRect().right)"
    assert max(one.page.evaluate(right)) <= width
    used = one.page.evaluate("document.querySelector('.stage').getBoundingClientRect().width")
    assert used == pytest.approx(min(width, 1600), abs=1)
    assert one.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(16, 23, 22)"
    one.page.click('[data-choose-theme="light"]')
    assert one.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    if width == 390:  # the sliders stay in sight
        one.page.locator("#sweep").scroll_into_view_if_needed()
        box = one.page.locator("#slider-p").bounding_box()
        assert box is not None
        assert 0 <= box["y"] < 850
    assert one.said == []


LACKING = """() => [
  ...[...document.querySelectorAll('select, input')].filter((e) => !e.labels.length),
  ...[...document.querySelectorAll('svg.chart')].filter((e) => !e.getAttribute('aria-label')),
  ...[...document.querySelectorAll('button')].filter((e) => !e.textContent.trim() && !e.getAttribute('aria-label')),
  ...[...document.querySelectorAll('section:not([hidden])')].filter((e) => !find(e.getAttribute('aria-labelledby'))),
  ...[...document.querySelectorAll('.wide')].filter((e) => e.tabIndex !== 0 || !e.getAttribute('aria-label')),
].map((e) => e.outerHTML.slice(0, 80))"""


def test_names_of_lines_are_read_and_controls_are_hit(window: Explored, page: tuple[Path, amble.Scores]) -> None:
    """Contrast of 4.5 at least, in both colour schemes; what is pressed is 24 pixels high."""
    contrasts = """() => Array.from({ length: 8 }, (_, k) => {
      const name = s("text", { class: `run-label line-${k}` });
      document.querySelector("#sweep svg").append(name);
      const linear = (x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
      const light = (colour) => colour.match(/\\d+/g).slice(0, 3)
        .reduce((sum, x, j) => sum + linear(x / 255) * [0.2126, 0.7152, 0.0722][j], 0);
      const [a, b] = [getComputedStyle(name).fill, getComputedStyle(document.body).backgroundColor].map(light);
      return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    })"""
    for scheme in ("light", "dark"):
        one = window.go(page[0], scheme=scheme)
        assert min(one.page.evaluate(contrasts)) >= 4.5
        assert one.page.evaluate(SMALL) == []


def test_labels_do_not_meet(window: Explored, page: tuple[Path, amble.Scores]) -> None:
    """Names at the ends of lines that end in one place, at the bottom, and depths below a narrow chart."""
    one = window.go(page[0], width=1000)
    one.be(kind="P", depth=10)
    meet = """() => ["#sweep .run-label", "#tau .axis text"].flatMap((of) => {
      const texts = [...document.querySelectorAll(of)].map((e) => e.getBoundingClientRect());
      const shared = (a, b, from, to) => Math.min(a[to], b[to]) - Math.max(a[from], b[from]);
      const meet = (a, b) => shared(a, b, "left", "right") > 1 && shared(a, b, "top", "bottom") > 3;
      return texts.flatMap((a, k) => texts.slice(k + 1).filter((b) => meet(a, b)).map(() => of));
    })"""
    assert one.page.evaluate(meet) == []
    axis = "(labels) => labels.map((e) => Number(e.getAttribute('y')) <= 340 - 56 + 4)"
    assert set(one.page.locator("#sweep .run-label").evaluate_all(axis)) == {True}
    assert one.said == []


def test_names_for_those_who_do_not_see(opened: Explored, play: Explored) -> None:
    for one in (opened, play):
        assert one.page.evaluate(LACKING) == []
        ids = one.page.evaluate("[...document.querySelectorAll('[id]')].map((e) => e.id)")
        assert len(ids) == len(set(ids))


def test_what_is_drawn_in_how_long_is_told(board: Explored) -> None:
    """Every update is timed in the page; how long one may take is measured by benchmarks/bench_explore.py."""
    before = board.page.evaluate("timing.all.length")
    board.be(kind="RBP", p=0.7)
    assert board.page.evaluate("timing.all.length") > before
    assert re.fullmatch(r"Last drawn in \d+ ms\.", board.text("#timing"))


def test_the_playground(window: Explored, playground: Path) -> None:
    """Figure 1 of Ferrante and Ferro (2020), a click, a key, and the lecture notes' lists."""
    one = window.go(playground)
    board = {row[0]: row for row in one.rows("board")[1:]}
    assert [float(board[run][3]) for run in "rs"] == pytest.approx([0.555703555598, 0.430952675282], abs=1e-11)
    assert [float(board[run][4]) for run in "rs"] == pytest.approx([0.410132998100, 0.541332932842], abs=1e-11)
    one.wait("find('verdict').textContent.includes('incomparable')")
    document = one.page.get_by_label("List s, rank 1: grade 0")
    document.click()
    one.wait("!planned")
    assert one.page.evaluate("data.play.lists[1].grades.join('')") == "1111100000"
    assert one.page.evaluate("document.activeElement.getAttribute('aria-label')") == "List s, rank 1: grade 1"
    assert one.page.input_value("#relevant") == "5"
    one.page.keyboard.press("ArrowRight")
    one.page.keyboard.press("0")
    one.wait("data.play.lists[1].grades.join('') === '1011100000'")
    one.wait("location.hash.split('1011100000').length === 2")
    one.page.select_option("#examples", label="Graded documents, and their best order")
    one.wait("user.kind === 'INST' && !planned")
    grades = [3, 0, 1, 2, 0, 0, 0, 2, 0, 0]
    for kind, name in (("INST", "INST(T=2)"), ("AP", "AP"), ("ERR", "ERR"), ("SDCG", "SDCG@10")):
        one.be(kind=kind)
        rows = {row[0]: float(row[2]) for row in one.rows("board")[1:]}
        assert rows["found"] == pytest.approx(amble.parse(name).value(grades, relevant=8, max_grade=3), abs=1e-12)
    one.page.click("#add-list")
    one.page.click("#longer")
    one.wait("lists.length.length === 3 && lists.length[0] === 11")
    one.page.get_by_label("Remove list r").click()
    one.wait("lists.length.length === 2 && !planned && !unwritten")
    one.page.reload()
    one.page.wait_for_selector("html.drawn")
    assert one.page.evaluate("data.play.lists[0].grades.join('')") == "30120002000"
    assert one.said == []


def test_playground_by_command(play: Explored, capsys: pytest.CaptureFixture[str]) -> None:
    """The command and the program have the page's numbers."""
    import shlex

    play.be(kind="INST", T=2, depth=0)
    command, program = play.page.evaluate("[asCommand(), asPython()]")
    scores = {row[0]: float(row[2]) for row in play.rows("board")[1:]}
    assert main([*shlex.split(command)[1:], "--digits", "9"]) == 0
    out = capsys.readouterr().out
    for name, score in scores.items():
        assert re.search(rf"on {name}: .*score {score:.9f}", out)
    exec(program, {})  # noqa: S102
    assert [float(line) for line in capsys.readouterr().out.split()] == pytest.approx(
        [scores[name] for name in play.page.evaluate("data.runs")], abs=1e-12
    )
