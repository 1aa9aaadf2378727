"""Curves, and charts of how scores spread over topics: what is drawn is what was worked out by hand."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

import amble
from amble.cli.main import main
from amble.comparison import normality
from amble.reporting.charts.chart import save
from amble.reporting.charts.plotting import spec_of

# relevant: a, b, c, d; x finds three of them, at ranks 2, 3 and 6 of 8; y the first alone; z nothing
QRELS = {"1": {"a": 1, "b": 1, "c": 1, "d": 1, "n": 0}, "2": {"a": 1}}
RUNS = {
    "x": {"1": {doc: -float(i) for i, doc in enumerate("mabnoc" + "pq")}, "2": {"a": 1.0}},
    "y": {"1": {"a": 1.0}, "2": {"z": 2.0, "a": 1.0}},
    "z": {"1": {"m": 2.0, "n": 1.0}, "2": {"m": 1.0}},
}
RANKINGS = amble.align(QRELS, RUNS)


def rows(data: dict[str, Any]) -> list[dict[str, Any]]:
    """The data of a layer; numbers as numbers."""
    if not isinstance(data["values"], str):
        return list(data["values"])
    parse = data["format"]["parse"]
    read = csv.DictReader(io.StringIO(data["values"]))
    return [{key: float(x) if parse[key] == "number" else x for key, x in row.items()} for row in read]


def points(layer: dict[str, Any], run: str = "x") -> list[tuple[float, float]]:
    found = [row for row in rows(layer["data"]) if row["run"] == run]
    return [(row["recall"], row["precision"]) for row in found]


def near(found: Any, expected: Any) -> bool:
    return bool(np.allclose(found, expected, rtol=0, atol=1e-12))


def test_every_rank_of_a_list() -> None:
    # found after each rank: 0 1 2 2 2 3 3 3, of 4; precision 0, 1/2, 2/3, 2/4, 2/5, 3/6, 3/7, 3/8; the greatest where
    # recall is at least that: 2/3 up to recall 1/2, then 1/2
    table = amble.pr_curve(RANKINGS, "x", "1", every_rank=True)
    assert table["rank"] == [1, 2, 3, 4, 5, 6, 7, 8]
    assert table["recall"] == [0, 0.25, 0.5, 0.5, 0.5, 0.75, 0.75, 0.75]
    assert near(table["precision"], [0, 1 / 2, 2 / 3, 1 / 2, 2 / 5, 1 / 2, 3 / 7, 3 / 8])
    assert near(table["interpolated"], [2 / 3] * 5 + [1 / 2] * 3)
    short = amble.pr_curve(RANKINGS, ["x"], "1")
    assert short.columns[0] == "run"
    assert [row[1:] for row in short] == [row for row in table if row[0] in (2, 3, 6)]
    empty = amble.pr_curve(RANKINGS, "z", "1", every_rank=True)
    assert [row[1:] for row in empty] == [(0.0, 0.0, 0.0)] * 2


@pytest.mark.parametrize("every_rank", [False, True])
def test_saw_tooth_steps_and_points(every_rank: bool) -> None:
    saw, steps, levels = spec_of(amble.pr_curve(RANKINGS, None, "1", every_rank=every_rank))["layer"]
    # down from each relevant document to the rank before the next, and from the last to the end of the list
    corners = [(0, 0), (1 / 4, 1 / 2), (1 / 2, 2 / 3), (1 / 2, 2 / 5), (3 / 4, 1 / 2), (3 / 4, 3 / 8)]
    assert near(points(saw), corners)
    assert near(points(steps), [(0, 2 / 3), (1 / 4, 2 / 3), (1 / 2, 2 / 3), (3 / 4, 1 / 2), (1, 0)])
    # four relevant documents: levels to 0.5 need two at most, to 0.7 three, and the fourth is never found
    assert near(points(levels), [(k / 10, 2 / 3 if k <= 5 else 1 / 2 if k <= 7 else 0) for k in range(11)])
    assert near(points(saw, "y"), [(1 / 4, 1)])
    assert near(points(steps, "y"), [(0, 1), (1 / 4, 1), (1, 0)])
    assert near(points(saw, "z"), [(0, 0)])
    assert near(points(steps, "z"), [(0, 0), (1, 0)])


def test_points_are_those_of_the_measure() -> None:
    measured = amble.evaluate(RANKINGS, [f"IPrec@{k / 10}" for k in range(11)])
    for run in RUNS:
        *_, levels = spec_of(amble.pr_curve(RANKINGS, run, "1"))["layer"]
        assert [x for _, x in points(levels, run)] == measured.values[measured.runs.index(run), 0].tolist()
    drawn = spec_of(amble.pr_curve(RANKINGS))
    for i, run in enumerate(measured.runs):
        assert points(drawn["layer"][0], run) == points(drawn["layer"][1], run)
        assert [x for _, x in points(drawn["layer"][0], run)] == measured.means()[i].tolist()
    assert drawn["title"]["text"] == "interpolated precision, mean over 2 topics"


def test_wrong_curves() -> None:
    tied = {"t": {"1": {"a": 1.0, "n": 1.0}}}
    for call, message in (
        (lambda: amble.pr_curve(RANKINGS, "x", every_rank=True), "every_rank: goes with the curve of a topic"),
        (lambda: amble.pr_curve(RANKINGS, "n"), "run 'n' is not among x, y, z"),
        (lambda: amble.pr_curve(RANKINGS, "x", "9"), "topic '9' is not among the 2 topics"),
        (lambda: amble.pr_curve(amble.align(QRELS, tied, ties="expected"), "t", "1"), "have no one rank"),
        (lambda: spec_of(amble.Table(["recall", "precision"], [])), "no chart of a table of recall, precision"),
        (lambda: spec_of(amble.pr_curve(amble.align(QRELS, {str(i): RUNS["x"] for i in range(13)}))), "of 13 runs on"),
    ):
        with pytest.raises(amble.AmbleError, match=message):
            call()


# ---- spread over topics


def scores_of(**runs: list[float]) -> amble.Scores:
    """Scores of P@n: topic t of a run has as many relevant documents among n as it takes."""
    n = 20
    topics = [str(t) for t in range(len(next(iter(runs.values()))))]
    qrels = {t: {f"g{i}": 1 for i in range(n)} for t in topics}
    made = {
        run: {
            t: {(f"g{i}" if i < round(n * x) else f"n{i}"): float(-i) for i in range(n)}
            for t, x in zip(topics, values, strict=True)
        }
        for run, values in runs.items()
    }
    return amble.evaluate(qrels, made, f"P@{n}")


def test_boxes_by_hand() -> None:
    # 0.1 … 0.5 and 1: n - 1 = 5, so quartiles are at places 1.25, 2.5, 3.75: .225, .35, .475; they are .25 apart, so
    # whiskers end within .375: at .1 and .5, and 1 is beyond .85
    spec = spec_of(scores_of(x=[0.3, 0.1, 1.0, 0.2, 0.5, 0.4], y=[0.1] * 6), kind="box")
    x, y = rows(spec["data"])
    assert [x[key] for key in ("run", "q1", "median", "q3", "low", "high")] == [
        "x",
        *(pytest.approx(v) for v in (0.225, 0.35, 0.475, 0.1, 0.5)),
    ]
    assert x["mean"] == pytest.approx(2.5 / 6)
    assert [y[key] for key in ("q1", "median", "q3", "low", "high", "mean")] == pytest.approx([0.1] * 6)
    assert rows(spec["layer"][-1]["data"]) == [{"run": "x", "topic": "2", "score": 1.0}]
    assert len(spec_of(scores_of(x=[0.1, 0.2]), kind="box")["layer"]) == 4  # nothing is beyond


def test_histograms_by_hand() -> None:
    # an edge belongs to the bin above: .05 is in the second, .95 in the last, with 1
    scores = scores_of(x=[0.0, 0.05, 0.15, 0.15, 0.95, 1.0], y=[0.3] * 6)
    panels = {one["title"]["text"]: rows(one["data"]) for one in spec_of(scores, kind="histogram")["vconcat"]}
    assert [row["topics"] for row in panels["x"]] == [1, 1, 0, 2, *[0] * 15, 2]
    assert [row["topics"] for row in panels["y"]] == [*[0] * 6, 6, *[0] * 13]
    assert near([(row["low"], row["high"]) for row in panels["x"]], [(k / 20, (k + 1) / 20) for k in range(20)])
    assert [one["title"]["text"] for one in spec_of(scores, kind="histogram", run="y")["vconcat"]] == ["y"]
    counts = amble.evaluate(QRELS, RUNS, "NumRet")  # 8 and 1; 1 and 2: from the least to the greatest
    edges = rows(spec_of(counts, kind="histogram", run="x")["vconcat"][0]["data"])
    assert (edges[0]["low"], edges[-1]["high"]) == (1, 8)
    assert sum(row["topics"] for row in edges) == 2


def test_quantiles_of_differences() -> None:
    given = [0.3, 0.1, 0.9, 0.2, 0.5, 0.45]
    scores = scores_of(x=given, y=[0.25] * 6)
    found = normality(scores, "x", "y")
    d = sorted(x - 0.25 for x in given)
    assert near(found.differences, d)
    assert found.topics == ("1", "3", "0", "5", "4", "2")
    # Filliben's medians: 1 - .5^(1/6), (i - .3175) / 6.365, .5^(1/6)
    last = 0.5 ** (1 / 6)
    medians = [1 - last, *((i - 0.3175) / 6.365 for i in range(2, 6)), last]
    expected = [NormalDist().inv_cdf(p) for p in medians]
    assert np.allclose(found.quantiles, expected, rtol=0, atol=1e-9)
    slope, intercept = np.polyfit(expected, d, 1)
    assert (found.slope, found.intercept) == (pytest.approx(slope), pytest.approx(intercept))
    spec = spec_of(scores, kind="normality", run="x", baseline="y")
    line, drawn = (rows(layer["data"]) for layer in spec["layer"])
    assert near([(row["quantile"], row["difference"]) for row in drawn], list(zip(found.quantiles, d, strict=True)))
    assert near([row["difference"] for row in line], [intercept + slope * q for q in (expected[0], expected[-1])])
    assert spec["title"]["text"] == "P@20: x − y, 6 topics"
    assert spec["title"]["subtitle"][0] == f"Shapiro-Wilk W {found.w:.4f}, p {found.p:.4f}"
    assert " ".join(spec["title"]["subtitle"][1:]) == found.meaning
    assert max(map(len, spec["title"]["subtitle"])) <= 70  # as many as are seen over 420 pixels


def test_shapiro_and_wilks_example() -> None:
    # Shapiro and Wilk (1965), weights of 11 men: W = 0.79, p about 0.01
    men = [148, 154, 158, 160, 161, 162, 166, 170, 182, 195, 236]
    scores = {"x": {str(i): float(x) for i, x in enumerate(men)}, "y": {str(i): 0.0 for i in range(11)}}
    found = normality(scores, "x", "y")
    assert round(found.w, 2) == 0.79
    assert 0.005 < found.p < 0.015
    assert found.meaning.startswith("not normal at alpha 0.05")
    assert found.table().facts["w"] == found.w


def test_differences_are_those_that_are_tested() -> None:
    scores = amble.evaluate(QRELS | {"3": {"a": 1}}, {run: of | {"3": {"a": 1.0}} for run, of in RUNS.items()}, "GMAP")
    found = normality(scores, "x", "z")
    assert found.logarithms
    x, z = (np.log(np.maximum(scores[run, "GMAP"], 1e-5)) for run in "xz")
    assert np.allclose(found.differences, np.sort(x - z), atol=1e-9)
    for runs, message in (("xy", "have 2 topics in common, expected at least 3"), ("xx", "the same on all topics")):
        with pytest.raises(amble.AmbleError, match=message):
            normality(amble.evaluate(QRELS, RUNS, "AP") if runs == "xy" else scores, *runs)


def test_kinds_of_charts_of_scores() -> None:
    scores = scores_of(x=[0.3, 0.1, 0.4], y=[0.1] * 3)
    for options, message in (
        ({"kind": "pie"}, "kind='pie': expected one of 'heat', 'box', 'histogram', 'differences', 'normality'"),
        ({"kind": "box", "run": "x"}, "kind='box' draws all runs"),
        ({"kind": "histogram", "baseline": "x"}, "without baseline="),
        ({"kind": "normality", "run": "x"}, "need both: run= and baseline="),
    ):
        with pytest.raises(amble.AmbleError, match=message):
            spec_of(scores, **options)
    with pytest.raises(amble.AmbleError, match="kind= goes with scores, not with a Comparison"):
        spec_of(amble.compare(scores), kind="box")
    same = spec_of(scores, kind="differences", run="x", baseline="y")
    assert same == spec_of(scores, run="x", baseline="y")


# ---- whatever else is found


def test_tables_by_their_columns() -> None:
    # P@2 of x is 1/2 on topic 1 and 1/2 on topic 2: two documents, one of which gains
    cost = spec_of(amble.cwl(RANKINGS, "P@2", topics=True))
    assert [(row["run"], row["cost"], row["gain"]) for row in rows(cost["data"])] == [
        ("x", 2.0, 1.0),
        ("y", 2.0, 1.0),
        ("z", 2.0, 0.0),
    ]
    qrels = {"1": {"cat": {"a": 1, "b": 1}, "car": {"c": 1}}}
    intents = spec_of(amble.by_intent(qrels, {"x": {"1": {"a": 3.0, "b": 2.0, "d": 1.0}}}, "AP"))
    found = {row["of"]: row["value"] for row in rows(intents["hconcat"][0]["data"])}
    assert found == {"the worst served intent": 0, "all": 0.5, "share of people served": 0.5}


def test_contributions() -> None:
    found = amble.why(RANKINGS, "1", "AP", runs=["x", "y"])
    drawn = {(row["run"], row["of"]): row["value"] for row in rows(spec_of(found)["data"])}
    # x has a at rank 2, b at 3, c at 6: 1/2, 2/3 and 1/2, over 4; y has a at rank 1
    expected = {"a": (1 / 8, 1 / 4), "b": (1 / 6, 0), "c": (1 / 8, 0)}
    assert drawn == {(doc, run): pytest.approx(x) for doc, two in expected.items() for run, x in zip("xy", two)}  # noqa: B905


def test_meta_evaluation() -> None:
    meta = amble.metaevaluation
    scores = scores_of(x=[0.3, 0.1, 0.9, 0.5], y=[0.2, 0.1, 0.4, 0.6])
    table = meta.topics_needed(scores, power=0.9, alpha=0.01, confidence=0.5)
    variance = float(str(table["variance"][0]))
    panels = [{row["x"]: row["y"] for row in rows(panel["data"])} for panel in spec_of(table)["hconcat"]]
    assert panels[0][0.1] == meta.topics_for_power(0.1, variance, power=0.9, alpha=0.01)
    assert panels[1][0.2] == meta.topics_for_interval(0.2, variance, confidence=0.5)
    labels = {"0": 1.0, "1": 0.0, "2": 5.0, "3": 2.0}
    found = meta.satisfaction(scores_of(x=[0.3, 0.1, 0.9, 0.5]), labels, statistics=["tau"], rounds=20)
    ((row,),) = (rows(panel["data"]) for panel in spec_of(found)["hconcat"])
    assert (row["run"], row["mean"], row["low"]) == ("P@20", 1.0, found.low[0, 0])
    for one, column in (
        (meta.discriminative_power(scores, rounds=20), "level"),
        (meta.swap_rates(scores), "swap rate"),
    ):
        drawn = [row["y"] for row in rows(spec_of(one)["hconcat"][-1]["data"])]
        assert near(drawn, one.curve()[column][-len(drawn) :])


def test_names_of_all_kinds_are_drawn(tmp_path: Path) -> None:
    name = 'a\x00 "x\\" + datum.run </script> 😀'
    scores = scores_of(**{name: [0.3, 0.1, 0.9, 0.5], "y": [0.2, 0.1, 0.4, 0.6]})
    charts = [
        spec_of(amble.pr_curve(scores.rankings)),
        spec_of(amble.pr_curve(scores.rankings, None, "1")),
        spec_of(scores, kind="box"),
        spec_of(scores, kind="histogram"),
        spec_of(scores, kind="normality", run=name, baseline="y"),
        spec_of(amble.why(scores, "1")),
        spec_of(amble.cwl(scores.rankings, "RBP")),
    ]
    save({"vconcat": charts, "resolve": {"scale": {"color": "independent"}}}, tmp_path / "all.svg")
    assert (tmp_path / "all.svg").read_text().count("datum.run") >= len(charts)


# ---- on the command line


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    (tmp_path / "qrels").write_text("".join(f"{t} 0 {d} {g}\n" for t, of in QRELS.items() for d, g in of.items()))
    for run in "xz":
        lines = [f"{t} Q0 {d} 0 {s} {run}\n" for t, docs in RUNS[run].items() for d, s in docs.items()]
        (tmp_path / run).write_text("".join(lines))
    return [str(tmp_path / name) for name in ("qrels", "x", "z")]


def test_curve_command(files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["curve", *files, "--levels", "3", "--quiet"]) == 0
    # x: (2/3 + 1) / 2 at recall 0 and 1/2, (0 + 1) / 2 at recall 1
    assert capsys.readouterr().out.splitlines()[1:] == [
        "run       0     0.5       1",
        "x    0.8333  0.8333  0.5000",
        "z    0.0000  0.0000  0.0000",
    ]
    chart = str(tmp_path / "c.svg")
    words = ["curve", *files, "--topic", "1", "--format", "json", "--every-rank", "--plot", chart]
    assert main(words) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["relevant"], found["retrieved"], found["topic"]) == (4, {"x": 8, "z": 2}, "1")
    assert [row["rank"] for row in found["rows"]] == [*range(1, 9), 1, 2]
    assert "topic 1, 4 relevant documents" in Path(chart).read_text()
    assert main(["curve", *files, "--topic", "1", "--levels", "3", "--plot", chart, "--quiet"]) == 0
    assert "interpolated at 3 levels" in Path(chart).read_text()
    capsys.readouterr()
    for more, message in (
        (["--every-rank"], "--every-rank goes with --topic T"),
        (["--topic", "1", "--rule", "trec9"], "--rule goes with levels of recall"),
        (["--topic", "7"], "topic '7' is not among the 2 topics scored: 1, 2"),
        (["--plot", "x.gif"], "x.gif: a chart's name ends in .svg"),
        (["--levels", "1"], "expected a whole number from 2 to 1001"),
        (["--topic", "1", "--levels", "3"], "--levels with --topic are points of the chart: expected --plot FILE, too"),
    ):
        assert main(["curve", *files, *more]) == 2
        assert message in capsys.readouterr().err


def test_compare_draws(files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chart = str(tmp_path / "c.svg")
    words = ["compare", *files, "-m", "AP", "--quiet", "--plot", chart]
    for more, text in (([], "significant"), (["--chart", "box"], "AP by topic"), (["--why", "1"], "AP on topic 1")):
        assert main([*words, *more]) == 0
        assert text in Path(chart).read_text()
    capsys.readouterr()
    for more, message in (
        (["--chart", "normality"], "have 2 topics in common, expected at least 3"),
        (["-m", "P@5"], "--plot draws one measure, found 2"),
        (["--why", "1", "--chart", "box"], "--chart goes without --why, which shows documents, not tests"),
    ):
        assert main([*words, *more]) == 2
        assert message in capsys.readouterr().err
    assert main(["compare", *files, "--chart", "box"]) == 2
    assert "--chart box goes with --plot FILE" in capsys.readouterr().err
    third = tmp_path / "t"
    third.write_text("1 Q0 a 0 1 t\n")
    assert main([*words[:4], str(third), *words[4:], "--chart", "differences"]) == 2
    assert "draws the differences of two runs, found 3: name two" in capsys.readouterr().err
