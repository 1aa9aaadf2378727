"""The report: what the page shows is what the library found, and nothing on it can do harm."""

from __future__ import annotations

import base64
import hashlib
import html
import itertools
import json
import re
import shlex
from datetime import datetime
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import amble
from amble.cli.demo_collection import make_collection
from amble.cli.main import main
from amble.distributions.distribution import Curve
from amble.measures import Lists, parse
from amble.measures.residuals import list_residuals
from amble.metaevaluation import agreement, correlations
from amble.reporting.dominance import corners, dominance_data
from amble.reporting.page import shell_paths

MEASURES = ["AP", "nDCG@10", "P@10", "RR", "RBP(p=0.8)", "INST(T=2)", "bpref"]
ODD = ("<script>alert(1)</script>", 'ü "x" & ', "</script><!--", "{{ 7*7 }}")


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory) -> amble.Scores:
    made = make_collection(tmp_path_factory.mktemp("demo"), topics=12)
    return amble.evaluate(made.qrels, list(made.runs), MEASURES)


@pytest.fixture(scope="module")
def page(scores: amble.Scores) -> str:
    return amble.report(scores, baseline="bm25", title="Twelve topics").html()


@pytest.fixture(scope="module")
def shown(page: str) -> dict[str, Any]:
    return embedded(page)


def embedded(page: str) -> dict[str, Any]:
    """The data as a browser would read it."""
    found = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert len(found) == 1
    read: dict[str, Any] = json.loads(found[0])
    return read


class Elements(HTMLParser):
    """Elements with their attributes, and all text outside of scripts and styles."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._inside = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        self._inside = tag

    def handle_data(self, data: str) -> None:
        if self._inside not in ("script", "style"):
            self.text += data


def close(found: Any, expected: Any) -> bool:
    """Equal to the six decimals that the page has; None where there is no number."""
    return bool(np.allclose(np.array(found, np.float64), np.array(expected, np.float64), atol=5.1e-7, equal_nan=True))


def test_scores_means_and_intervals(scores: amble.Scores, shown: dict[str, Any]) -> None:
    assert shown["runs"] == list(scores.runs)
    assert shown["topics"] == list(scores.topics)
    assert [m["name"] for m in shown["measures"]] == list(scores.measures)
    assert close(shown["scores"], scores.values.transpose(2, 0, 1))
    board = shown["leaderboard"]
    assert close(board["means"], scores.means().T)
    assert close(board["half"], scores.interval(0.95).T)
    # Student's t of 11 degrees of freedom: 2.200985 times the standard error
    x = scores["hybrid", "AP"]
    assert board["half"][0][scores.runs.index("hybrid")] == pytest.approx(2.200985 * x.std(ddof=1) / 12**0.5, abs=1e-6)


def test_letters_and_differences(scores: amble.Scores, shown: dict[str, Any]) -> None:
    board = shown["leaderboard"]
    for j, measure in enumerate(scores.measures):
        table = amble.compare(scores, measure).letters()
        assert dict(zip(table["run"], table["letters"], strict=True)) == dict(
            zip(shown["runs"], board["letters"][j], strict=True)
        )
        for b, baseline in enumerate(scores.runs):
            found = amble.compare(scores, measure, baseline)
            for k, i in enumerate(found.a.tolist()):
                assert board["adjusted"][j][b][i] == pytest.approx(found.adjusted[k], rel=6e-3)
                sign = "0" if not found.significant[k] else "+" if found.difference[k] > 0 else "-"
                assert board["verdicts"][j][b][i] == sign
                assert board["means"][j][i] - board["means"][j][b] == pytest.approx(found.difference[k], abs=2e-6)
    assert board["differences"] == []  # those of the means
    assert "paired t-test" in board["captions"][0]
    assert board["correction"] == "Holm's correction"


@pytest.mark.parametrize(
    ("test", "correction"), [("permutation", "bh"), ("wilcoxon", "none"), ("tukey", None), ("bootstrap", None)]
)
def test_other_tests(scores: amble.Scores, test: str, correction: str | None) -> None:
    few = amble.evaluate(scores.rankings, ["AP"])
    board = amble.report(few, test=test, correction=correction, rounds=200, seed=3).data["leaderboard"]
    for b, baseline in enumerate(scores.runs):
        found = amble.compare(few, None, baseline, test, "two", correction, rounds=200, seed=3)
        p = [board["adjusted"][0][b][i] for i in found.a.tolist()]
        assert p == pytest.approx(found.adjusted.tolist(), rel=6e-3)


def test_captions_say_what_was_asked(scores: amble.Scores) -> None:
    few = amble.evaluate(scores.rankings, ["AP"])
    for options, words in (
        ({"correction": "none"}, "15 comparisons without correction; no significant difference found between runs"),
        ({"correction": "none", "baseline": "bm25"}, "5 comparisons with bm25 without correction; ↑ ↓ significantly"),
        ({"test": "anova", "baseline": "bm25"}, "all runs in one family, 5 comparisons with bm25; ↑ ↓ significantly"),
    ):
        assert words in amble.report(few, **options).leaderboard.caption


def test_residuals(scores: amble.Scores, shown: dict[str, Any]) -> None:
    lists = Lists.of_rankings(scores.rankings)
    for j, measure in enumerate(scores.parsed):
        of_lists = list_residuals(measure, lists)
        by_run = [of_lists[scores.rankings.run == i].mean() for i in range(len(scores.runs))]
        assert close(shown["leaderboard"]["residual"][j], by_run)


def test_distributions_and_dominance(scores: amble.Scores, shown: dict[str, Any]) -> None:
    for j, measure in enumerate(MEASURES):
        distribution = shown["distributions"][j]
        if measure == "bpref":
            assert "bpref" in distribution["why"]
            continue
        found = amble.run_distributions(scores.rankings, measure)
        order = amble.order_systems(found)
        runs = [shown["runs"][i] for i in distribution["systems"]]
        assert sorted(runs) == sorted(scores.runs)
        for k, run in enumerate(runs):
            x, share = distribution["lines"][k]
            value, p = found[run].values, found[run].probs
            low, high = (np.array([p[value <= v + e].sum() for v in x]) for e in (-1e-6, 1e-6))
            assert (low - 1e-6 <= share).all()
            assert (share <= high + 1e-6).all()
            # and no more than 1/160 of the users lie between a corner and the next
            before = np.array([p[value < v - 1e-6].sum() for v in x])
            assert (before[1:] - np.array(share[:-1])).max(initial=0.0) <= 1 / 160 + 1e-6
            assert share[-1] == 1
            assert distribution["order1"][k] == pytest.approx(found[run].mean, abs=1e-6)
            for n, other in enumerate(runs):
                sign = {"greater": ">", "less": "<", "equal": "=", "incomparable": "?"}[order.verdict(run, other)]
                assert distribution["verdicts"][k][n] == sign
        nodes = distribution["hasse"]["nodes"]
        assert sorted(i for node in nodes for i in node["runs"]) == sorted(distribution["systems"])
        assert {
            (shown["runs"][i], node["level"]) for node in nodes for i in node["runs"]
        } == {(run, level) for level, names in enumerate(order.levels) for run in names}  # fmt: skip


def test_the_last_corner_is_the_largest_score() -> None:
    # 200 scores, more than the corners of a line; at 198 all users are counted, but for one in 10^18
    curve = Curve(amble.Distribution(np.arange(200.0), [1 / 199] * 199 + [1e-18]))
    x, share = corners(curve)
    assert len(x) < 200
    assert (x[-1], share[-1]) == (199, 1)


def test_the_band_is_that_of_the_fewest_users(monkeypatch: pytest.MonkeyPatch) -> None:
    # of 100 users sqrt(ln(2 / .05) / 200) = .135810, of 400 half of that
    found = {run: amble.Distribution([0, 1], [0.5, 0.5], users=users) for run, users in (("x", 100), ("y", 400))}
    monkeypatch.setattr("amble.reporting.dominance.distributions_under", lambda *_: found)
    scores = amble.evaluate({"1": {"a": 1}}, {run: {"1": ["a"]} for run in "xy"}, "AP")
    assert dominance_data(scores, scores.parsed[0], [0, 1])["band"] == 0.13581


def test_order_2_is_the_score_of_an_order_2_measure(scores: amble.Scores, shown: dict[str, Any]) -> None:
    # RBP is E[t] / E[h]; bm25 and others answer all topics, so the mean over lists is the mean over topics
    distribution = shown["distributions"][MEASURES.index("RBP(p=0.8)")]
    for k, i in enumerate(distribution["systems"]):
        if shown["runs"][i] != "boolean":  # which skips a topic
            assert distribution["order2"][k] == pytest.approx(scores[shown["runs"][i], "RBP(p=0.8)"].mean(), abs=1e-6)


def test_documents(scores: amble.Scores, shown: dict[str, Any]) -> None:
    of = shown["documents"]
    assert of["measure"] == "AP"
    assert of["places"] == list(range(12))
    for t, topic in enumerate(scores.topics):
        found = amble.why(scores, topic, "AP", runs=[shown["runs"][i] for i in of["systems"]])
        doc = of["topics"][t]
        assert doc["docs"] == list(found.docs[:12])
        assert doc["ranks"] == found.ranks[:12].tolist()
        assert close(doc["contributions"], found.values[:12])
        assert doc["all"] == len(found.docs)
    assert "they add up to the score" in of["story"]


def test_users(scores: amble.Scores, shown: dict[str, Any]) -> None:
    run = shown["runs"][shown["users"]["run"]]
    for j, name in enumerate(MEASURES):
        doc = shown["users"]["of"][j]
        if name == "bpref":
            assert "no user" in doc["why"]
            continue
        users = [scores.user(run, topic, name) for topic in scores.topics]
        for rank in (1, 2, 10, 100):
            weight = np.mean([u.weights[rank - 1] if rank <= u.weights.size else 0.0 for u in users])
            beyond = np.mean([u.residual(rank) for u in users])
            assert doc["weights"][rank - 1] == pytest.approx(weight, abs=1e-6)
            assert doc["residual"][rank - 1] == pytest.approx(beyond, abs=1e-6)
        assert doc["depth"] == pytest.approx(np.mean([u.expected_depth for u in users]), abs=1e-4)
    rbp = shown["users"]["of"][MEASURES.index("RBP(p=0.8)")]
    assert rbp["halting"][:5] == [0.2] * 5


def test_users_who_wander_say_when_they_stop() -> None:
    from amble.reporting.page_data import attention

    scores = amble.evaluate(
        {"1": {"a": 1, "b": 1}}, {"x": {"1": {"a": 3.0, "c": 2.0, "b": 1.0}}}, ["MP", "MP(steps=3)"]
    )
    told = [attention(scores, m, "x") for m in scores.parsed]
    assert [one["ends"] for one in told] == ["never stops", "stops after 3 looks, at any rank"]
    assert [(one["depth"], one["halting"]) for one in told] == [(None, None)] * 2


def test_measures_against_each_other(scores: amble.Scores, shown: dict[str, Any]) -> None:
    tau, agreed = correlations(scores), agreement(scores)
    assert close(shown["meta"]["tau"], tau.values)
    assert tau.low is not None
    assert close(shown["meta"]["low"], tau.low)
    assert close(shown["meta"]["significant"], agreed.significant)
    assert close(shown["meta"]["power"], agreed.power)


def test_audit(scores: amble.Scores, shown: dict[str, Any]) -> None:
    audit = shown["audit"]
    assert audit["line"] == str(scores.rankings.audit)
    assert [row["unjudged@10"] for row in audit["runs"]] == scores.rankings.audit.unjudged_top10.tolist()
    assert audit["missing"] == {"boolean": ["312"]}
    assert audit["versions"]["amble"] == amble.__version__
    assert audit["design"]["seed"] == 0
    assert {"moffat2008", "holm1979", "gramm2007"} <= set(audit["cited"])


def test_the_date(scores: amble.Scores, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1767225599")  # a second before 2026
    few = amble.evaluate(scores.rankings, ["P@10"])
    assert '<time datetime="2025-12-31">2025-12-31</time>' in amble.report(few, systems=1).html()
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "today")
    with pytest.raises(amble.AmbleError, match="SOURCE_DATE_EPOCH='today': expected a whole number"):
        amble.report(few, systems=1)


def test_many_files_are_a_pattern(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a command: only where it stands for these files and no others."""
    (tmp_path / "my runs").mkdir()
    monkeypatch.chdir(tmp_path)
    paths = [f"my runs/r{k}.v1.run" for k in range(7)]
    for path in paths:
        Path(path).touch()
    assert shell_paths(paths) == "'my runs/'*.v1.run"
    assert shell_paths(paths[:6]) == shlex.join(paths[:6])
    Path("my runs/other.run").touch()
    assert shell_paths(paths) == "'my runs/'*.v1.run"
    Path("my runs/other.v1.run").touch()
    assert shell_paths(paths) == shlex.join(paths)


def test_a_report_of_sessions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    monkeypatch.chdir(tmp_path)
    Path("qrels.txt").write_text("7 0 a 1\n7 0 b 2\n8 0 a 1\n")
    Path("sessions.tsv").write_text("s1 1 7 7-1\ns1 2 7 7-2\ns2 1 8 8-1\n")
    Path("old.run").write_text("7-1 Q0 x 1 3 old\n7-1 Q0 a 2 2 old\n7-2 Q0 b 1 3 old\n8-1 Q0 x 1 1 old\n")
    Path("new.run").write_text("7-1 Q0 a 1 3 new\n7-1 Q0 b 2 2 new\n7-2 Q0 y 1 3 new\n8-1 Q0 a 1 1 new\n")
    files = ["qrels.txt", "old.run", "new.run", "--sessions", "sessions.tsv", "-m", "MsM", "sDCG"]
    assert main(["report", *files, "--charts", "figures"]) == 0
    page = Path("report.html").read_text()
    data = embedded(page)
    found = amble.evaluate(amble.read_sessions("qrels.txt", "sessions.tsv", "old.run", "new.run"), "MsM sDCG")
    assert close(data["leaderboard"]["means"], found.means().T)
    assert close(data["scores"], found.values.transpose(2, 0, 1))
    assert data["findings"][0][0].startswith(f"new is best by MsM, {found['new', 'MsM'].mean():.4f} ± ")
    # x and x of old, y of new; 4 documents of each run
    assert data["findings"][0][-1] == "37.5 % of the documents in the top 10 are unjudged; of new's, 25.0 %."
    assert [row["queries"] for row in data["audit"]["runs"]] == [3, 3]
    assert data["leaderboard"]["residual"] == [[None, None]] * 2
    shown = [html.unescape(text) for text in re.findall(r'<p class="command">.*?<code[^>]*>(.*?)</code>', page)]
    assert len(shown) == 5
    for command in shown:
        assert main(shlex.split(command)[1:]) == 0, f"{command}\n{capfd.readouterr().err}"
    again = html.unescape(page.split('<pre id="config" tabindex="0">')[1].split("</pre>")[0])
    Path("again.toml").write_text(again)
    assert main(["report", "--config", "again.toml"]) == 0
    assert embedded(Path("report.html").read_text()) == data
    # ways to read change what the commands compute, too: of old, 7-1, a is second, and cut
    assert main(["report", *files, "--depth", "1", "--repeats", "once", "--float32"]) == 0
    page = Path("report.html").read_text()
    shown = [html.unescape(text) for text in re.findall(r'<p class="command">.*?<code[^>]*>(.*?)</code>', page)]
    asked = next(command for command in shown if " -q " in command)
    assert " --depth 1 --repeats once --float32 -m" in asked
    capfd.readouterr()
    assert main([*shlex.split(asked)[1:], "--quiet", "--digits", "6"]) == 0
    rows = [line.split("\t") for line in capfd.readouterr().out.splitlines()[1:]]
    means = {(run, m): float(x) for run, s, m, x in rows if s == "all"}
    assert close(
        embedded(page)["leaderboard"]["means"], [[means[run, m] for run in ("old", "new")] for m in ("MsM", "sDCG")]
    )
    assert means["old", "MsM"] != pytest.approx(found["old", "MsM"].mean())
    assert main(["report", *files, "--undefined", "skip"]) == 2
    assert capfd.readouterr().err.endswith("amble: --undefined looks at topics, not at sessions\n")


def test_page_is_the_same_every_time(scores: amble.Scores, page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    day = re.findall(r'<time datetime="(.*?)">', page)[0]  # which may be over by now
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(int(datetime.fromisoformat(f"{day}T00:00Z").timestamp())))
    before = scores.values.copy()
    assert amble.report(scores, baseline="bm25", title="Twelve topics").html() == page
    assert (scores.values == before).all()


def test_nothing_is_fetched(page: str) -> None:
    elements = Elements(page).found
    assert not [
        (tag, key) for tag, attributes in elements for key in attributes if key in ("src", "srcset", "data", "action")
    ]
    assert all(
        (value or "").startswith("#")
        for _, attributes in elements
        for key, value in attributes.items()
        if key == "href"
    )
    assert not {"link", "img", "iframe", "object", "base"} & {tag for tag, _ in elements}
    style = page.split("<style>")[1].split("</style>")[0]
    assert "url(" not in style
    assert "@import" not in style


# What is left of colours (linear RGB) for those who lack a kind of cone: Machado, Oliveira and Fernandes, 2009.
SIGHT = {
    "all": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritan": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


def linear(colour: str) -> Any:
    """Linear RGB of #rrggbb, as WCAG 2 and sRGB have it."""
    c = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) / 255
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    """The ratio of WCAG 2.2: (brighter + 0.05) / (darker + 0.05)."""
    darker, brighter = sorted(float(linear(c) @ [0.2126, 0.7152, 0.0722]) for c in (one, other))
    return (brighter + 0.05) / (darker + 0.05)


def lab(rgb: Any) -> Any:
    """CIELAB of linear RGB, with the white of D65."""
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    x = to_xyz @ np.clip(rgb, 0, 1) / [0.9505, 1, 1.089]
    f = np.where(x > 216 / 24389, np.cbrt(x), (24389 / 27 * x + 16) / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def test_colours_can_be_told_apart(page: str) -> None:
    """Lines differ for the colour-blind, too; text has the contrast of WCAG AA, lines and edges that of graphics."""
    blocks = re.findall(r":root[^{}]*\{([^{}]*)\}", page)
    assert len(blocks) == 4  # light, dark, dark if the reader's system is, paper
    for block in blocks:
        whole = re.sub(r"#(\w)(\w)(\w)\b", r"#\1\1\2\2\3\3", block)
        of = dict(re.findall(r"--([\w-]+): (#\w{6})\b", whole))
        lines = [of[f"line-{k}"] for k in range(8)]
        for sight in SIGHT.values():
            seen = [lab(np.array(sight) @ linear(c)) for c in lines]
            assert min(np.linalg.norm(a - b) for a, b in itertools.combinations(seen, 2)) > 18
        assert min(contrast(c, of["paper"]) for c in lines) > 3
        for name in ("ink", "quiet", "strong", "up", "down"):
            assert contrast(of[name], of["paper"]) > 4.5
        for k in range(9):  # numbers on cells of a matrix
            text = of["ink"] if k < 5 else "#06100f" if k == 5 else of["paper"]
            assert contrast(text, of[f"heat-{k}"]) > 4.5
        assert contrast(of["same"], of["paper"]) > 3


def test_policy_names_script_and_style_by_their_hashes(page: str) -> None:
    policy = html.unescape(re.findall(r'Content-Security-Policy" content="(.*?)"', page)[0])
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for kind in ("script", "style"):
        text = re.findall(rf"<{kind}>(.*?)</{kind}>", page, re.DOTALL)
        assert len(text) == 1
        digest = base64.b64encode(hashlib.sha256(text[0].encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy


@pytest.mark.parametrize("name", ODD)
def test_odd_names_stay_text(name: str) -> None:
    qrels = {name: {"a": 1, "b": 0}, "2": {"c": 1}}
    run = {name: {"a": 2.0, "b": 1.0}, "2": {"d": 2.0, "c": 1.0}}
    scores = amble.evaluate(qrels, {name: run, "other": run}, ["AP", "RBP"])
    made = amble.report(scores, title=name, command=name, config=name).html()
    elements = Elements(made)
    assert sum(tag == "script" for tag, _ in elements.found) == 2
    assert elements.text.count(name) >= 4
    assert embedded(made)["runs"] == [name, "other"]
    assert embedded(made)["topics"] == [name, "2"]


def test_bytes_that_are_no_utf_8(write: Any) -> None:
    qrels, run = write("q", b"1 0 a\xff 1\n2 0 b 1\n"), write("r", b"1 Q0 a\xff 1 2 t\xff\n2 Q0 b 1 2 t\xff\n")
    made = amble.report(amble.evaluate(qrels, [run], "AP")).html()
    assert made.encode()
    assert embedded(made)["runs"] == ["t\\udcff"]


def test_one_run_one_topic_one_measure() -> None:
    scores = amble.evaluate({"1": {"a": 1}}, {"x": {"1": {"a": 1.0}}}, "AP")
    made = amble.report(scores)
    assert made.data["leaderboard"]["untested"] == "one run has no other to be compared with"
    assert made.data["meta"]["why"] == "it takes two measures and two runs"
    assert made.html()
    assert "not tested" in made.leaderboard.caption
    two = amble.evaluate({"1": {"a": 1}}, {"x": {"1": {"a": 1.0}}, "y": {"1": {"b": 2.0, "a": 1.0}}}, "AP P@1")
    untested = amble.report(two).data["leaderboard"]["untested"]
    assert "1 common topic" in untested


def test_expected_ties_say_what_they_cannot() -> None:
    qrels = {"1": {"a": 1, "b": 0}, "2": {"c": 1}}
    runs = {"x": {"1": {"a": 1.0, "b": 1.0}, "2": {"c": 1.0}}, "y": {"1": {"b": 2.0, "a": 1.0}, "2": {"c": 1.0}}}
    made = amble.report(amble.evaluate(qrels, runs, "AP P@1", ties="expected"))
    assert "ties='expected'" in made.data["distributions"][0]["why"]
    assert "ties='expected'" in made.data["documents"]["why"]
    assert made.data["leaderboard"]["residual"] == [[None, None]] * 2
    assert "mcsherry2008" in made.data["audit"]["cited"]
    assert made.html()


def test_topics_left_out_are_compared_where_both_have_a_score() -> None:
    qrels = {t: {"a": 1, "b": 1} for t in "1234"}
    good, bad = {"a": 2.0, "b": 1.0}, {"z": 2.0, "a": 1.0}
    runs = {"x": dict.fromkeys("1234", good) | {"4": bad}, "y": {"1": good, "2": bad, "3": bad}}
    scores = amble.evaluate(qrels, runs, "AP", missing="skip")
    board = amble.report(scores, baseline="y").data["leaderboard"]
    # AP of good is 1, of bad 1/4: x is better by 0, 3/4, 3/4 on the three common topics
    assert board["differences"][0][1][0] == pytest.approx(0.5)
    assert board["means"][0][0] - board["means"][0][1] == pytest.approx((3 + 0.25) / 4 - 1.5 / 3)


def test_many_topics_are_chosen() -> None:
    qrels = {str(t): {"a": 1} for t in range(450)}
    first = {"a": 2.0, "b": 1.0}
    runs = {"x": dict.fromkeys(qrels, first), "y": {t: first if int(t) % 2 else {"b": 2.0, "a": 1.0} for t in qrels}}
    data = amble.report(amble.evaluate(qrels, runs, "AP")).data
    assert len(data["topics"]) == 400
    assert len(data["documents"]["places"]) == 100
    # those on which x and y differ, the even ones, are all there, and the first to be looked into
    assert {t for t in qrels if int(t) % 2 == 0} <= set(data["topics"])
    assert all(int(data["topics"][t]) % 2 == 0 for t in data["documents"]["places"])


def test_systems_in_detail(scores: amble.Scores) -> None:
    data = amble.report(scores, baseline="boolean", systems=3).data
    names = [data["runs"][i] for i in data["chosen"]]
    by_ap = sorted(scores.runs, key=lambda run: -scores[run, "AP"].mean())
    assert names == [*by_ap[:2], "boolean"]
    assert data["distributions"][0]["systems"] == data["chosen"]


def test_distributions_that_cannot_be_exact_are_simulated(scores: amble.Scores) -> None:
    few = amble.evaluate(scores.rankings, ["PH(p=.5,q=.25,loss=.25)"])
    distribution = amble.report(few, systems=2, seed=5).data["distributions"][0]
    assert distribution["users"] == 10_000
    assert 0 < distribution["band"] < 0.02
    assert distribution == amble.report(few, systems=2, seed=5).data["distributions"][0]
    exact = few.values[distribution["systems"][0], :, 0].mean()
    assert distribution["order1"][0] == pytest.approx(exact, abs=1e-6)


def test_commands_on_the_page_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    make_collection("demo", topics=4)
    runs = ["demo/bm25.run", "demo/dense.run", "demo/hybrid.run"]
    assert main(["report", "demo/qrels.txt", *runs, "-m", "AP", "RBP(p=0.9)", "--title", "it's mine"]) == 0
    assert capfd.readouterr().out == "report: report.html\n"
    page = (tmp_path / "report.html").read_text()
    shown = [html.unescape(text) for text in re.findall(r'<p class="command">.*?<code[^>]*>(.*?)</code>', page)]
    assert len(shown) == 9
    for command in shown:
        words = shlex.split(command)
        code = main(words[1:])
        assert code in (0, 1) if words[1] == "check" else code == 0, f"{command}\n{capfd.readouterr().err}"
    # and so does the file of options that it shows
    again = html.unescape(page.split('<pre id="config" tabindex="0">')[1].split("</pre>")[0])
    (tmp_path / "report.toml").write_text(again)
    first = (tmp_path / "report.html").read_text()
    assert main(["report", "--config", "report.toml"]) == 0
    assert embedded((tmp_path / "report.html").read_text()) == embedded(first)


def test_commands_say_what_was_chosen(tmp_path: Path) -> None:
    """A command that leaves an option out prints other numbers than the page."""

    def shown(made: Any) -> list[str]:
        return [
            html.unescape(text) for text in re.findall(r'<p class="command">.*?<code[^>]*>(.*?)</code>', made.html())
        ]

    made = make_collection(tmp_path, topics=4)
    few = amble.evaluate(
        amble.align(made.qrels, list(made.runs), depth=2, ties="rank", missing="skip"), "AP RBP(p=0.8)"
    )
    board, topics, _, distribution, user, meta, *_ = shown(
        amble.report(few, test="permutation", alpha=0.1, seed=3, rounds=99)
    )
    read = "--depth 2 --missing skip --ties rank"
    asked = "--test permutation --alpha 0.1 --seed 3 --rounds 99"
    assert board == f"amble compare QRELS RUN… {read} {asked} -m AP 'RBP(p=0.8)' --letters"
    assert topics == f"amble eval QRELS RUN… {read} -m AP 'RBP(p=0.8)' -q --format tsv"
    assert distribution == f"amble distribution QRELS RUN… {read} --seed 3 -m AP --levels"
    assert user == "amble user AP --depth 100"
    assert meta == f"amble meta tau QRELS RUN… {read} --seed 3 -m AP 'RBP(p=0.8)'"
    tukey = shown(amble.report(few, test="tukey"))[0]
    assert tukey == f"amble compare QRELS RUN… {read} --test tukey -m AP 'RBP(p=0.8)' --letters"
    assert "--correction bh" in shown(amble.report(few, correction="bh"))[0]
    board = shown(amble.report(few, seed=3))[0]  # the t-test draws nothing, and takes no seed
    assert board == f"amble compare QRELS RUN… {read} -m AP 'RBP(p=0.8)' --letters"


def test_wrong_use() -> None:
    scores = amble.evaluate({"1": {"a": 1}}, {"x": {"1": {"a": 1.0}}}, "AP")
    for call, message in (
        (lambda: amble.report(scores, baseline="z"), "baseline z: expected one of x"),
        (lambda: amble.report({"x": 1}), "found report(dict), expected report(scores | rankings | sessions, measures)"),
        (lambda: amble.report(scores, systems=0), "systems=0: expected a whole number of at least 1"),
        (lambda: amble.report(scores, alpha=2), "alpha=2: expected a number between 0 and 1"),
        (lambda: amble.report(scores, test="z"), "test='z': expected one of"),
    ):
        with pytest.raises(amble.AmbleError, match=re.escape(message)):
            call()


def test_runs_of_trec_8(runs: Path) -> None:
    files = sorted((runs / "trec8" / "runs").iterdir())[:24]
    scores = amble.evaluate(runs / "trec8" / "qrels.txt", files, ["AP", "P@10", "RBP(p=0.8)"])
    made = amble.report(scores)
    page = made.html()
    assert len(page) < 1_000_000
    data = embedded(page)
    assert close(data["scores"], scores.values.transpose(2, 0, 1))
    assert data["baseline"] == int(np.argmax(scores.means()[:, 0]))
    assert len(data["chosen"]) == 16
    assert parse("AP").declaration.cite in data["audit"]["cited"]


def test_reports_of_the_same_scores_at_the_same_time(demo_folder: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    runs = [demo_folder / f"{name}.run" for name in ("bm25", "dense")]
    scores = amble.evaluate(demo_folder / "qrels.txt", runs, "AP")
    before = set(vars(scores.rankings))
    alone = amble.report(scores).data
    with ThreadPoolExecutor(3) as executor:
        pages = list(executor.map(lambda _: amble.report(scores).data, range(3)))
    assert pages == [alone] * 3
    assert set(vars(scores.rankings)) == before
    with Lists.shared(scores.rankings):
        outer = Lists.of_rankings(scores.rankings)
        with Lists.shared(scores.rankings):
            assert Lists.of_rankings(scores.rankings) is outer
        assert Lists.of_rankings(scores.rankings) is outer
    assert Lists.of_rankings(scores.rankings) is not outer
