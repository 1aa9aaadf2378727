"""What people take away, typed as a newcomer would: comparisons for papers, groups, medians, tables, gates."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import amble
from amble.comparison.design import TestDesign
from amble.comparison.group_differences import welch_test
from amble.evaluation.topic_groups import read_topic_groups
from amble.reporting.gates import parse_gate, pass_through

Cli = Callable[..., Any]
Write = Callable[[str, str], str]

RNG = np.random.default_rng(3)
TOPICS = [str(t) for t in range(20)]
SCORES = {
    name: dict(zip(TOPICS, (RNG.random(20) * 0.5 + lift).round(3).tolist(), strict=True))
    for name, lift in (("c", 0.3), ("a", 0.0), ("d", 0.1), ("b", 0.05))
}
HALVES = {t: "short" if int(t) < 12 else "long" for t in TOPICS}


def by_topic(run: str, group: str = "") -> np.ndarray[Any, Any]:
    return np.array([SCORES[run][t] for t in TOPICS if not group or HALVES[t] == group])


@pytest.fixture
def files(write: Write) -> list[str]:
    """Judgments of six topics, and three runs with the one relevant document at ranks 1, 2 and 3 or 4."""
    qrels = "".join(f"{t} 0 r 1\n" for t in range(6))
    ranks = {"good": [1] * 6, "fair": [2] * 5 + [1], "poor": [3, 4, 3, 4, 3, 4]}
    runs = {
        name: "".join(
            f"{t} Q0 {'r' if i == rank else f'x{i}'} {i} {9 - i} {name}\n"
            for t, rank in enumerate(of)
            for i in range(1, 6)
        )
        for name, of in ranks.items()
    }
    return [write("qrels.txt", qrels), *(write(f"{name}.run", text) for name, text in runs.items())]


# ---- compare


def test_the_baseline_first_then_the_best() -> None:
    table = amble.compare(SCORES, baseline="a").table()
    assert table["run"] == ["a", "c", "d", "b"]  # means about .25; .55, .35, .3
    assert table["difference"][0] is None
    assert table["mean"] == pytest.approx([by_topic(run).mean() for run in "acdb"])
    half = stats.t.ppf(0.975, 19) * by_topic("a").std(ddof=1) / np.sqrt(20)
    assert table["±"][0] == pytest.approx(half)
    # all pairs: those of the best run (c) first, then those of d, then of b
    pairs = amble.compare(SCORES).table()
    assert [set(pair) for pair in zip(pairs["run"], pairs["other"], strict=True)] == [
        {"c", "d"}, {"c", "b"}, {"c", "a"}, {"d", "b"}, {"d", "a"}, {"b", "a"}
    ]  # fmt: skip


def test_less_is_better_is_best_first(files: list[str]) -> None:
    qrels, *runs = files
    assert amble.compare(qrels, runs, "ESL", baseline="fair").table()["run"] == ["fair", "good", "poor"]


def test_several_baselines_are_one_family() -> None:
    found = amble.compare(SCORES, baseline=["a", "b"])
    assert found.pairs == [("c", "a"), ("d", "a"), ("b", "a"), ("c", "b"), ("d", "b")]
    p = [stats.ttest_rel(by_topic(x), by_topic(y)).pvalue for x, y in found.pairs]
    assert found.p == pytest.approx(p)
    order = np.argsort(p)  # Holm's by hand: 5 x the least, 4 x the next, ..., never falling
    steps = np.minimum(np.maximum.accumulate(np.sort(p) * [5, 4, 3, 2, 1]), 1)
    assert found.adjusted[order] == pytest.approx(steps)
    assert "5 comparisons with a and b in one family" in found.caption
    assert found.significant[[0, 3]].all()
    table = found.table()
    row = table["run"].index("c")
    assert table.marks[row, 1] == "†‡"
    assert "† significant difference from a found, ‡ significant difference from b found" in table.caption
    assert found.facts["baseline"] == ("a", "b")
    marks = found.marks()
    assert marks["run"] == ["a", "b", "c", "d"]
    assert r"$^{\dagger\ddagger}$" in marks.latex().splitlines()[9]
    assert "<sup>†‡</sup>" in marks.html()
    assert (
        "no significant difference from a found"
        in amble.compare({"a": SCORES["a"], "b": SCORES["b"]}, baseline="a").table().caption
    )
    with pytest.raises(amble.AmbleError, match="2 baselines, expected one"):
        assert TestDesign(baseline=["a", "b"]).one_baseline
    for wrong in ([], [1], 1):
        with pytest.raises(amble.AmbleError, match="expected the name of a run, or a list of names"):
            amble.compare(SCORES, baseline=wrong)


def test_marks_on_the_command_line(amble_cli: Cli, files: list[str]) -> None:
    qrels, good, fair, poor = files
    # neither baseline is named among the runs; RR 1; 1/2 and once 1; 1/3 and 1/4
    words = ("compare", qrels, good, "--baseline", fair, "--baseline", poor, "-m", "RR", "--quiet")
    done = amble_cli(*words, "--marks")
    assert done.returncode == 0
    assert [line.split()[:2] for line in done.stdout.splitlines()[-3:]] == [
        ["fair", "0.5833"], ["poor", "0.2917†"], ["good", "1.0000†‡"]
    ]  # fmt: skip
    assert amble_cli(*words, "--marks", "--format", "latex").stdout.count(r"\dagger") == 2
    rows = amble_cli(*words, "--marks", "--format", "csv").stdout.splitlines()
    assert rows[0] == "measure,run,mean,low,high,marks"
    assert rows[3].endswith("†‡")
    table = amble_cli(*words).stdout.splitlines()
    assert [line.split()[0] for line in table[4:]] == ["fair", "poor", "good", "good"]
    wrong = amble_cli("compare", qrels, good, fair, "--marks")
    assert (wrong.returncode, wrong.stderr) == (
        2, "amble: --marks are of differences from a baseline: expected --baseline RUN\n"
    )  # fmt: skip


def test_statistics_against_scipy() -> None:
    t = amble.compare(SCORES, baseline="a")
    theirs = [stats.ttest_rel(by_topic(x), by_topic("a")) for x, _ in t.pairs]
    assert t.statistic == pytest.approx([one.statistic for one in theirs])
    assert t.df.tolist() == [one.df for one in theirs] == [19] * 3
    assert np.isnan(t.w_plus).all()
    # sizes .1 .1 .2 .3 and a 0: ranks 1.5 1.5 3 4; negative is one .1 and the .2
    x, y = (
        dict(zip("12345", (0.6, 0.5, 0.5, 0.8, 0.4), strict=True)),
        dict(zip("12345", (0.5, 0.6, 0.7, 0.5, 0.4), strict=True)),
    )
    w = amble.compare({"x": x, "y": y}, test="wilcoxon")
    assert (w.w_plus[0], w.w_minus[0], w.nonzero[0]) == (5.5, 4.5, 4)
    table = w.table(statistic=True)
    assert (table["W+"], table["W-"], table["non-zero"]) == ([5.5], [4.5], [4])
    full = w.table(full=True)
    assert (full["w_plus"], full["w_minus"], full["nonzero"]) == ([5.5], [4.5], [4])
    random = amble.compare(SCORES, baseline="a", test="wilcoxon")
    for k, (run, _) in enumerate(random.pairs):
        theirs_w = stats.wilcoxon(by_topic(run), by_topic("a"))
        assert min(random.w_plus[k], random.w_minus[k]) == theirs_w.statistic
    assert amble.compare(SCORES, test="anova").df.tolist() == [3 * 19] * 6


def test_medians_beside_means() -> None:
    found = amble.compare(SCORES, baseline="a")
    assert found.median == pytest.approx([np.median(by_topic(run)) for run in SCORES])
    assert found.median_difference == pytest.approx([np.median(by_topic(x) - by_topic("a")) for x, _ in found.pairs])
    table = found.table(median=True)
    assert table["median"][0] == pytest.approx(np.median(by_topic("a")))
    # .1, .5 and .9, then .1 and .9; the last lacks one topic
    scores = amble.evaluate({t: {"r": 1} for t in "123"}, {"x": {t: {"r": 1.0} for t in "12"}}, "RR", missing="skip")
    assert scores.medians().tolist() == [[1.0]]
    assert scores.median()["RR"] == [1.0]


def test_the_median_of_odd_and_even_numbers(files: list[str], amble_cli: Cli) -> None:
    qrels, _, fair, poor = files
    scores = amble.evaluate(qrels, [fair, poor], "RR")
    # 1/2 five times and 1: 1/2; three times 1/3 and 1/4: 7/24
    assert scores.median()["RR"] == pytest.approx([1 / 2, 7 / 24])
    assert scores.mean(median=True).columns == ("run", "RR", "median")
    done = amble_cli("eval", qrels, fair, poor, "-m", "RR", "--median", "--quiet")
    assert done.stdout.splitlines()[2].split() == ["poor", "0.2917", "0.2917"]
    tsv = amble_cli("eval", qrels, fair, "-m", "RR", "--median", "--format", "tsv", "--quiet").stdout
    assert tsv == "run\ttopic\tmeasure\tvalue\tmedian\nfair\tall\tRR\t0.5833\t0.5000\n"
    wrong = amble_cli("eval", qrels, fair, "--median", "-q")
    assert wrong.returncode == 2
    assert "--median and --groups go with means" in wrong.stderr


def test_columns_for_programs_are_always_the_same(amble_cli: Cli, files: list[str], write: Write) -> None:
    columns = [
        "measure",
        "test",
        "sides",
        "correction",
        "alpha",
        "run",
        "other",
        "difference",
        "low",
        "high",
        "p",
        "adjusted",
        "g",
        "superiority",
        "wins",
        "ties",
        "losses",
        "topics",
        "missing",
        "statistic",
        "df",
        "w_plus",
        "w_minus",
        "nonzero",
        "median_difference",
        "mean",
        "other_mean",
        "median",
        "other_median",
        "group",
        "other_group",
        "other_topics",
    ]
    groups = write("topics.tsv", "".join(f"{t} {'ab'[t > 3]}\n" for t in range(6)))
    for words in ((), ("--baseline", files[2]), ("--test", "tukey"), ("--groups", groups, "--test", "sign")):
        done = amble_cli("compare", *files, "-m", "RR", "--format", "tsv", "--quiet", *words)
        lines = [line.split("\t") for line in done.stdout.splitlines()]
        assert lines[0] == columns
        assert {len(line) for line in lines} == {len(columns)}
    welch = [dict(zip(columns, line, strict=True)) for line in lines if line[1] == "welch"]
    assert [(row["run"], row["other"], row["group"], row["other_group"]) for row in welch] == [
        ("good", "fair", "a", "b"), ("good", "poor", "a", "b"), ("fair", "poor", "a", "b")
    ]  # fmt: skip
    assert {(row["topics"], row["other_topics"]) for row in welch} == {("4", "2")}


# ---- groups of topics


def test_groups_are_tested_in_one_family_and_against_each_other() -> None:
    found = amble.compare(SCORES, baseline="a", groups=HALVES)
    assert list(found.groups) == ["short", "long"]
    p = [
        stats.ttest_rel(by_topic(run, group), by_topic("a", group)).pvalue
        for group in ("short", "long")
        for run, _ in found.pairs
    ]
    ours = np.concatenate([one.p for one in found.groups.values()])
    assert ours == pytest.approx(p)
    adjusted = np.concatenate([one.adjusted for one in found.groups.values()])
    assert np.sort(adjusted) == pytest.approx(np.minimum(np.maximum.accumulate(np.sort(p) * [6, 5, 4, 3, 2, 1]), 1))
    assert "6 comparisons with a in 2 groups in one family" in found.by_group().caption
    assert found.p == pytest.approx(amble.compare(SCORES, baseline="a").p)  # as without groups
    assert found.by_group()["group"] == ["short"] * 4 + ["long"] * 4
    assert found.by_group()["topics"] == [12] * 4 + [8] * 4
    assert found.between is not None
    for k, (run, base) in enumerate(found.between.pairs):
        one, two = (by_topic(run, group) - by_topic(base, group) for group in ("short", "long"))
        theirs = stats.ttest_ind(one, two, equal_var=False)
        assert found.between.statistic[k] == pytest.approx(theirs.statistic)
        assert found.between.df[k] == pytest.approx(theirs.df)
        assert found.between.p[k] == pytest.approx(theirs.pvalue)
        interval = theirs.confidence_interval(0.95)
        assert (found.between.low[k], found.between.high[k]) == pytest.approx((interval.low, interval.high))
        assert found.between.difference[k] == pytest.approx(one.mean() - two.mean())


def test_small_p_values_between_groups_are_written_in_full() -> None:
    scores = {
        "x": {t: 0.9 - int(t) / 1000 if HALVES[t] == "short" else 0.1 for t in TOPICS},
        "y": dict.fromkeys(TOPICS, 0.1),
    }
    found = amble.compare(scores, groups=HALVES)
    assert found.between is not None
    assert 0 < found.between.p[0] < 1e-9
    written = [line.split("\t") for line in found.by_group(full=True).tsv().splitlines()]
    assert float(written[-1][written[0].index("p")]) == found.between.p[0]


def test_differences_that_do_not_vary() -> None:
    t, _, p = welch_test(np.array([[0.5, 0.5], [0.5, 0.1]]), np.zeros((2, 2)), np.full((2, 2), 3.0))
    assert (t.tolist(), p.tolist()) == ([0.0, np.inf], [1.0, 0.0])
    small = dict.fromkeys(TOPICS[:12], 0.01)  # one group has scores of another magnitude
    for base in (SCORES["a"], SCORES["c"] | small):
        # a lead of 0.1 in both groups, but for the rounding of sums
        found = amble.compare({"a": {t: x + 0.1 for t, x in base.items()}, "b": base}, groups=HALVES)
        assert found.between is not None
        assert (found.between.difference.tolist(), found.between.p.tolist()) == ([0.0], [1.0])


def test_topics_without_a_group_groups_of_one_and_unknown_topics() -> None:
    groups = dict.fromkeys(TOPICS[:17], "most") | {"17": "alone", "99": "most", "98": "nobody"}
    found = amble.compare(SCORES, groups=groups)
    assert list(found.groups) == ["most"]
    assert found.between is None
    caption = found.by_group().caption
    assert "2 topics in no group; 2 topics of the groups not scored" in caption
    assert "not tested, as runs have fewer than two topics in common: alone" in caption
    with pytest.raises(amble.AlignError, match=r"groups=3, expected \{topic: group\}, or a file"):
        amble.compare(SCORES, groups=3)  # type: ignore[arg-type]
    with pytest.raises(amble.AlignError, match="none of their 1 topics"):
        amble.compare(SCORES, groups={"99": "x"})
    with pytest.raises(amble.AlignError, match="no group has two topics that both runs of every pair have"):
        amble.compare(SCORES, groups={"1": "x", "2": "y"})
    with pytest.raises(amble.AmbleError, match="groups need another"):
        amble.compare(SCORES, groups=HALVES, test="tukey")
    with pytest.raises(amble.AmbleError, match="no groups: compare with groups="):
        amble.compare(SCORES).by_group()
    few = {"x": {"1": 0.1, "2": 0.3, "3": 0.2}, "y": {"2": 0.2, "3": 0.4, "4": 0.3}}
    few = {"x": few["x"] | {"5": 0.3, "6": 0.1}, "y": few["y"] | {"5": 0.2, "6": 0.2}}
    found = amble.compare(few, groups={"1": "g", "2": "g", "3": "h", "4": "h", "5": "i", "6": "i"})
    assert list(found.groups) == ["i"]  # in g the runs share topic 2, in h topic 3
    assert found.groups["i"].difference.tolist() == pytest.approx([0.0])  # .1 and -.1
    assert "fewer than two topics in common: g, h" in found.by_group().caption


def test_a_topic_that_a_run_lacks_in_one_group() -> None:
    lacking = {**SCORES, "b": {t: x for t, x in SCORES["b"].items() if t != "15"}}  # one of the eight long ones
    found = amble.compare(lacking, baseline="a", groups=HALVES)
    table = found.by_group()
    assert {len(row) for row in table.rows} == {len(table.columns)}
    told = {(group, run): (n, m) for group, run, n, m in zip(
        *(table[name] for name in ("group", "run", "paired topics", "missing")), strict=True)}  # fmt: skip
    assert told["short", "b"] == (12, 0)
    assert told["long", "b"] == (7, 1)
    assert "paired topics" in str(table)
    without = {run: {t: x for t, x in of.items() if t != "15"} for run, of in SCORES.items()}
    assert "paired topics" not in amble.compare(without, groups=HALVES).by_group().columns


def test_a_file_of_groups(write: Write) -> None:
    text = "\ufeffTopic\tGroup\r\n# a comment\n301\tlong queries\r\n\n302\tshort\n"
    assert read_topic_groups(write("g.tsv", text)) == {"301": "long queries", "302": "short"}
    assert read_topic_groups(write("g.txt", "301 a\n302  b\n")) == {"301": "a", "302": "b"}
    for text, said in (
        ("301 a\n302 b c\n", r"g.tsv:2: found 3 columns, expected 2: topic group"),
        ("301 a\n301 b\n", r"g.tsv:2: topic 301 again, expected every topic in one group"),
        ("topic group\n", r"g.tsv: empty, expected lines: topic group"),
    ):
        with pytest.raises(amble.ReadError, match=said):
            read_topic_groups(write("g.tsv", text))


def test_groups_on_the_command_line(amble_cli: Cli, files: list[str], write: Write) -> None:
    groups = write("topics.tsv", "topic\tgroup\n" + "".join(f"{t}\t{'first' if t < 4 else 'last'}\n" for t in range(6)))
    done = amble_cli("eval", *files, "-m", "RR", "--groups", groups, "--sort", "RR", "--quiet")
    # fair: 1/2 on the first four; 1/2 and 1 on the last two. poor: (1/3 + 1/4) / 2 on each
    assert [line.split() for line in done.stdout.splitlines()] == [
        ["group", "topics", "run", "RR"],
        *(["first", "4", name, value] for name, value in (("good", "1.0000"), ("fair", "0.5000"), ("poor", "0.2917"))),
        *(["last", "2", name, value] for name, value in (("good", "1.0000"), ("fair", "0.7500"), ("poor", "0.2917"))),
        *(["all", "6", name, value] for name, value in (("good", "1.0000"), ("fair", "0.5833"), ("poor", "0.2917"))),
    ]
    rows = amble_cli("eval", *files[:2], "-m", "RR", "--groups", groups, "--format", "csv", "--quiet").stdout
    assert rows.splitlines() == [
        "run,group,topics,measure,value",
        *(f"good,{g},{n},RR,1.0" for g, n in (("first", 4), ("last", 2), ("all", 6))),
    ]
    done = amble_cli("compare", *files, "-m", "RR", "--baseline", "poor", "--groups", groups, "--quiet")
    assert "does the difference of two runs depend on the group? Welch's t-test" in done.stdout
    data = json.loads(
        amble_cli("compare", *files, "-m", "RR", "--groups", groups, "--format", "json", "--quiet").stdout
    )
    assert (data["options"]["groups"], data["files"][-1]["path"]) == (groups, groups)
    assert data["comparisons"][0]["groups"]["first"]["topics"] == 4
    assert data["comparisons"][0]["groups"]["first"]["family"] == 6
    wrong = amble_cli("eval", *files, "--groups", write("bad.tsv", "1 2 3\n"))
    assert (wrong.returncode, len(wrong.stderr.splitlines())) == (2, 1)


# ---- one run, sessions


def test_why_one_run(amble_cli: Cli, files: list[str]) -> None:
    done = amble_cli("compare", files[0], files[2], "-m", "RR", "--why", "0", "--quiet")
    assert done.returncode == 0
    assert [line.split() for line in done.stdout.splitlines()[1:]] == [
        ["doc", "grade", "rank", "fair", "fair"], ["r", "1", "2", "0.5000"], ["all", "-", "-", "0.5000"]
    ]  # fmt: skip
    # AP of relevant documents at ranks 1, 3 and 4, of three: 1/3, (2/3)/3, (3/4)/3, the largest first
    found = amble.why({"1": dict.fromkeys("abc", 1)}, {"x": {"1": ["a", "n", "b", "c"]}}, "1", "AP")
    assert found.docs == ("a", "c", "b")
    assert found.values[:, 0] == pytest.approx([1 / 3, 1 / 4, 2 / 9])
    assert "difference" not in found.table().columns
    assert amble_cli("compare", *files[:2], "-m", "RR").returncode == 2


def test_sessions_are_called_sessions(amble_cli: Cli, write: Write) -> None:
    def log(name: str, grades: list[list[int]]) -> str:
        return write(
            f"{name}.jsonl",
            "".join(json.dumps({"session": f"s{i}", "queries": [g]}) + "\n" for i, g in enumerate(grades)),
        )

    one, two = log("one", [[1, 0], [1, 1], [0, 1]]), log("two", [[0, 0], [1, 0], [0, 0]])
    done = amble_cli("compare", one, two, "-m", "MsM", "--test", "anova")
    assert "topic" not in done.stdout + done.stderr
    assert "3 sessions" in done.stdout
    data = json.loads(amble_cli("compare", one, two, "-m", "MsM", "--format", "json", "--quiet").stdout)
    assert (data["sessions"], data["comparisons"][0]["sessions"], data["rows"][0]["sessions"]) == (3, 3, 3)
    assert "topics" not in data
    few = amble_cli("compare", one, two, "-m", "MsM", "--test", "sign", "--quiet")
    assert "too few sessions to find any difference" in few.stdout


# ---- shown


HOSTILE = '<script>alert(1)</script>&"'


def shown() -> dict[str, Any]:
    qrels = {t: {"a": 1, HOSTILE: 1} for t in "123"}
    runs = {HOSTILE: {t: {"a": 2.0, HOSTILE: 1.0} for t in "123"}, "y": {t: {"b": 2.0, "a": 1.0} for t in "123"}}
    scores = amble.evaluate(qrels, runs, "AP")
    distributions = amble.run_distributions(qrels, runs, "AP")
    users = {e: amble.parse(e).user([1, 0, 1]) for e in ("RBP", "AP", "PH", "EBU", "MP", "PH(model='ERR')")}
    users["chain"] = amble.parse("PH")(user=amble.users.Chain.from_moves({+1: 0.5, -1: 0.2})).user([1, 0, 1])
    return users | {
        "scores": scores,
        "comparison": amble.compare(scores, baseline="y"),
        "groups": amble.compare(SCORES, groups={t: HOSTILE if int(t) < 9 else "g" for t in TOPICS}).between,
        "contributions": amble.why(scores, "1"),
        "session user": amble.parse("MsM").user([[1, 0], [0, 1]]),
        "distribution": amble.parse("AP").distribution([1, 0, 1]),
        "simulated": amble.simulate("PH", [1, 0, 1], users=50, seed=1),
        "distributions": distributions,
        "order": amble.order_systems(distributions),
        "gates": pass_through(scores, [parse_gate("AP drops"), parse_gate("AP < 0.1")], TestDesign(baseline="y")),
        "table": scores.mean(),
        "page": amble.report(scores),
        "leaderboard": amble.report(scores).leaderboard,
    }


def test_everything_is_shown_in_notebooks_and_names_are_escaped() -> None:
    for name, value in shown().items():
        html = value._repr_html_()
        assert html.startswith("<table>"), name
        assert "<script" not in html, name
        assert " at 0x" not in repr(value), name
        assert len(repr(value).splitlines()) <= 3 or name == "table", name


def test_users_are_readable() -> None:
    user = amble.parse("RBP(p=0.5)").user([1, 0])
    assert repr(user) == "Behaviour(2 ranks, expected depth 2)"
    assert user.table()["V"] == [1.0, 0.5]
    assert user.table()["residual"] == [0.5, 0.25]
    assert repr(amble.parse("MP").user([1, 0, 1])) == "MarkovUserOnList(3 ranks, never stops)"
    long = amble.parse("RBP").user([0] * 30).table()
    assert len(long) == 20
    assert long.caption.endswith("the first 20")
    assert amble.parse("AP").distribution([1, 0, 1], relevant=2).table()["mean"] == pytest.approx([5 / 6])


# ---- directions, gates


def test_measures_without_a_direction(amble_cli: Cli, files: list[str]) -> None:
    for name in ("NumNonrelRet", "Unjudged@5", "RBPresid"):
        m = amble.parse(name)
        assert m.declaration.less is None
        with pytest.raises(amble.AmbleError, match="neither more nor less is better, expected a bound"):
            parse_gate(f"{name} drops")
    scores = amble.evaluate(files[0], files[1:], "Unjudged@5 RR")
    assert "neither more nor less is better" in amble.compare(scores, "Unjudged@5").caption
    assert scores.mean().best == {(0, 2)}  # of RR only
    # four of five documents are unjudged
    found = pass_through(scores, [parse_gate("Unjudged@5 > 0.7"), parse_gate("Unjudged@5 < 0.7")], TestDesign())
    assert [check.failed for check in found.checks] == [True] * 3 + [False] * 3
    assert "neither more nor less is better" in amble_cli("list", "Unjudged").stdout
    assert amble_cli("eval", *files, "-m", "all_trec", "--quiet").returncode == 0


@pytest.mark.parametrize(
    ("gate", "code", "named"),
    [
        ("RR", 3, "RR drops significantly"),
        ("RR drops", 3, "RR drops"),
        ("RR drops by 0.4", 3, "RR drops by 0.4"),  # from 1 to 7/12: by .4167
        ("RR drops by 0.42", 0, ""),
        ("RR drops by 41%", 3, "RR drops by 41%"),
        ("RR drops by 0.4 significantly", 3, "RR drops by 0.4 significantly"),
        ("RR < 0.6", 3, "RR < 0.6"),
        ("RR < 0.58", 0, ""),
    ],
)
def test_gates_as_typed(amble_cli: Cli, files: list[str], gate: str, code: int, named: str) -> None:
    qrels, good, fair, _ = files
    done = amble_cli("gate", qrels, fair, "--baseline", good, "--fail-if", gate, "--quiet")
    assert done.returncode == code
    assert len(done.stdout.splitlines()) == (code == 3)
    if named:
        assert done.stdout.rstrip("\n").endswith(f"(gate: {named})")
    data = json.loads(amble_cli("gate", qrels, fair, "--baseline", good, "--fail-if", gate, "--format", "json").stdout)
    assert data["passed"] is (code == 0)
    if named:
        assert data["checks"][0]["gate"] == named


def test_a_report_reads_its_baseline(files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from amble.cli.main import main

    out = str(tmp_path / "r.html")
    words = ["report", files[0], files[2], "--baseline", files[1], "-m", "RR", "--fail-if", "RR drops", "-o", out]
    assert main([*words, "--quiet"]) == 3
    assert "regression: fair: RR 0.5833, good 1.0000" in capsys.readouterr().out
    assert Path(out).exists()


# ---- what was passed over in silence


def test_columns_that_no_file_has(amble_cli: Cli, write: Write) -> None:
    qrels = write("q.csv", "topic,doc,grade\n1,a,1\n")
    run = write("r.csv", "topic,doc,score,other\n1,a,0.5,0.1\n")
    done = amble_cli("eval", qrels, run, "--columns", "topic=qqq", "-m", "RR")
    assert (done.returncode, done.stderr) == (
        2, "amble: columns: topic='qqq': no file or table has a column of that name\n"
    )  # fmt: skip
    assert amble_cli("eval", qrels, run, "--columns", "score=other", "-m", "RR").returncode == 0  # of one of them
    frame = {"q": ["1"], "doc": ["a"], "grade": [1]}
    assert amble.evaluate(frame, {"x": {"1": ["a"]}}, "RR", columns={"topic": "q"}).values.tolist() == [[[1.0]]]
    with pytest.raises(amble.ReadError, match="score='s': no file or table has a column"):
        amble.evaluate(frame, {"x": {"1": ["a"]}}, "RR", columns={"topic": "q", "score": "s"})


COLUMNS = [
    (("fuse", "r.csv", "s.csv"), "score"),
    (("pool", "r.csv", "s.csv"), "score"),
    (("pool", "r.csv", "--qrels", "q.csv"), "grade"),
    (("judge", "cost", "q.csv", "r.csv"), "score"),
    (("judge", "agreement", "q.csv", "q.csv"), "grade"),
    (("judge", "sheet", "q.csv", "--all"), "grade"),
    (("meta", "degrade", "q.csv", "r.csv", "s.csv", "-m", "AP"), "score"),
]


@pytest.mark.parametrize(("words", "what"), COLUMNS)
def test_no_command_takes_another_column(
    words: tuple[str, ...], what: str, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, amble_cli: Cli
) -> None:
    monkeypatch.chdir(tmp_path)
    write("q.csv", "topic,doc,grade,other\n1,a,1,1\n1,b,0,0\n")
    for name in ("r.csv", "s.csv"):
        write(name, "topic,doc,score,other\n1,a,0.5,0.1\n1,b,0.2,0.3\n")
    done = amble_cli(*words, "--columns", f"{what}=othr")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"amble: columns: {what}='othr': no file or table has a column of that name\n"
    assert amble_cli(*words, "--columns", f"{what}=other").returncode == 0


def test_no_function_takes_another_column(write: Write) -> None:
    qrels, run = write("q.csv", "topic,doc,grade\n1,a,1\n"), write("r.csv", "t,doc,score\n1,a,0.5\n")
    named = {"topic": "t", "doc": "doc", "score": "score", "grade": "grade"}
    with pytest.raises(amble.ReadError, match="topic='t': no file or table has a column"):
        amble.read_qrels(qrels, columns=named)
    assert len(amble.read_qrels(qrels, columns={"doc": "doc", "score": "s"})) == 1  # of a run, which this is not
    runs = amble.read_runs(run, columns={"topic": "t", "score": "sc"})
    for use in (lambda: amble.pool(runs), lambda: amble.evaluate(qrels, runs, "AP")):
        with pytest.raises(amble.ReadError, match="score='sc': no file or table has a column"):
            use()
    assert amble.evaluate(qrels, run, "AP", columns=named).values.item() == 1.0
    evaluator = amble.Evaluator(qrels, "AP", columns=named)  # type: ignore[typeddict-item]
    assert evaluator.evaluate(run).values.item() == 1.0
    evaluator = amble.Evaluator(qrels, "AP", columns={"topic": "tt"})  # type: ignore[typeddict-item]
    with pytest.raises(amble.ReadError, match="topic='tt': no file or table has a column"):
        evaluator.evaluate(write("s.csv", "topic,doc,score\n1,a,0.5\n"))
    both = amble.read_runs(write("x.run", "1 Q0 a 1 1 x\n"), run, columns={"topic": "t"})
    for some in (both[:1], both[1:], both):  # t is a column of one of them
        assert amble.evaluate(qrels, some, "AP").values.tolist() == [[[1.0]]] * len(some)
    subtopics = {"topic": ["1"], "what": ["x"], "doc": ["a"], "grade": [1]}
    assert (
        amble.evaluate(subtopics, {"r": {"1": ["a"]}}, "alpha_nDCG@1", columns={"subtopic": "what"}).values.item() == 1
    )


def test_topics_are_numbers_or_text() -> None:
    runs = {"x": {"301": {"a": 2.0, "b": 1.0}}}
    scores = amble.evaluate({"301": {"a": 1, "b": 0}}, runs, "AP")
    rankings = scores.aligned
    for one in (301, np.int64(301), "301"):
        assert amble.why(rankings, one, "AP").caption == amble.why(rankings, "301", "AP").caption  # type: ignore[arg-type]
        assert amble.pr_curve(rankings, "x", one).facts["topic"] == "301"  # type: ignore[arg-type]
        for several in (one, [one]):
            assert amble.run_distributions(rankings, "AP", topics=several)["x"].mean == 1.0  # type: ignore[arg-type]
        assert scores.distribution("x", one, "AP").mean == 1.0  # type: ignore[arg-type]
    sessions = amble.Sessions.of_queries([[1, 0], [0, 3]])
    assert amble.why(sessions, 1, "sDCG").caption == amble.why(sessions, "1", "sDCG").caption
    for wrong in (302, 1.5, None, np.zeros((2, 2))):
        with pytest.raises(amble.AlignError, match="is not among the 1 topics scored: 301"):
            amble.why(rankings, wrong, "AP")  # type: ignore[call-overload]


def test_check_of_one_path(write: Write) -> None:
    run = write("a.run", "1 Q0 a 1 2.5 x\n")
    assert [report.path for report in amble.check(run)] == [run]
    assert [report.path for report in amble.check(Path(run))] == [run]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("eval", "q.txt", "a.run", "-m", "AP", "--quiet", "-o", "-"), 0, "run      AP\nx    1.0000\n"),
        (("fuse", "a.run", "b.run", "-k", "1", "--quiet", "-o", "-"), 0, "1 Q0 a 1 0.03278688524590164 rrf\n"),
        (("distribution", "q.txt", "a.run", "-m", "AP", "--plot", "-"), 2, "-: standard output, expected a file\n"),
        (("fit", "log.tsv", "-o", "-"), 2, "-: standard output, expected a file\n"),
        (("eval", "q.txt", "a.run", "-m", "AP", "nDCG@ten"), 2, "'nDCG@ten': found 'ten' at character 6"),
        (("eval", "q.txt", "a.run", "-m", "AP", "RBP(p=0.8"), 2, "'RBP(p=0.8': found the end, expected"),
        (("eval", "q.txt", "-m", "AP", "RR,P@1", "a.run", "--quiet"), 0, "RR     P@1\nx    1.0000  1.0000  1.0000\n"),
        (("eval", "q.txt", "a.run", "-m", "AP", "P.1,2", "--trec"), 0, "P_1                   \tall\t1.0000\nP_2"),
        (("eval", "q.txt", "a.run", "./a.run"), 2, "1 run(s) given twice: ./a.run; expected each once"),
        (("eval", "q.txt", "-m", "AP", "res(2)/x.run"), 2, "res(2)/x.run: no such file"),
        (("eval", "q.txt", "-m", "AP", "my@run.txt"), 2, "my@run.txt: no such file"),
        (("eval", "q.txt", "a.run", "-m", "P.1 2"), 2, "'2': found '2' at character 1"),
        (("fuse", "a.run", "a.run"), 2, "1 run(s) given twice: a.run; expected each once"),
        (("judge", "ask", "a.run", "-o", "new.txt"), 0, "0 judgments made, new.txt is as it was\n"),
    ],
)
def test_words_of_the_command_line(
    words: tuple[str, ...], code: int, said: str, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    amble_cli: Cli,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    write("q.txt", "1 0 a 1\n")
    for name in ("a.run", "b.run"):
        write(name, "1 Q0 a 1 2.5 x\n1 Q0 b 2 1 x\n")
    done = amble_cli(*words)
    assert said in done.stdout + done.stderr
    assert done.returncode == code
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.run", "b.run", "q.txt"]


def test_names_that_command_a_terminal(write: Write, amble_cli: Cli) -> None:
    """U+009B begins a command as ESC [ does, U+0085 ends a line: tables and notes spell them out."""
    qrels, run = write("q.txt", "1 0 a 1\n\x9b2J 0 a 1\n"), write("a.run", "1 Q0 a 1 2.5 x\x85y\n")
    for form in ("table", "latex", "html"):
        done = amble_cli("eval", qrels, run, "-q", "-m", "AP", "--format", form)
        assert r"x9b2J" in done.stdout
        assert not {"\x9b", "\x85"} & {*done.stdout, *done.stderr}
    table = amble.Table(["name"], [["x\x1b[31my\x7f"]])  # as of data in memory
    for text in (table.text(), table.html(), table.latex()):
        assert "x1b[31my" in text
        assert "\x1b" not in text
    assert "\t\x9b2J\t" in amble_cli("eval", qrels, run, "-q", "-m", "AP", "--format", "tsv").stdout  # as it was read


def test_topics_may_begin_with_a_number_sign(write: Write) -> None:
    qrels = write("q.csv", "# judged in May, 2020\ntopic,doc,grade\n#1,a,1\n# and later\n2,b,1\n")
    assert amble.read_qrels(qrels).topics == ("#1", "2")
    bare = write("b.csv", "#1,a,1\n2,b,1\n")
    assert amble.read_qrels(bare, columns={"topic": 1, "doc": 2, "grade": 3}).topics == ("#1", "2")


def test_costs_of_a_user_who_does_not_look() -> None:
    with pytest.raises(amble.MeasureError, match="AP: costs are given, and its user does not look at them"):
        amble.parse("AP").value([1, 0, 1], costs=[1, 2, 3])
    timed = amble.parse("PH(effort='time',seconds='costs',timing='fixed')")
    assert timed.value([1, 0], costs=[1, 2]) != timed.value([1, 0], costs=[2, 2])
    qrels, runs = {"1": {"a": 1}}, {"x": {"1": ["a", "b"]}}
    scores = amble.evaluate(qrels, runs, [timed, "AP"], costs={"a": 3.0})  # AP does not look, and the other does
    assert scores.user("x", "1", "AP").last.size


def test_shells_complete_the_words_before_files(amble_cli: Cli) -> None:
    for shell in ("bash", "zsh", "fish"):
        script = amble_cli("--completion", shell).stdout
        line = [x for x in script.splitlines() if "agreement" in x and "meta" in x]
        assert line, shell
        assert [x for x in script.splitlines() if ("list)" in x or "from list'" in x) and "nDCG" in x], shell
