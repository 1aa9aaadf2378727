"""Correlation of measures with labels: scipy's statistics on every resample, published tests, the command."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

import amble
from amble.cli.main import main
from amble.comparison.resampling import topic_counts
from amble.errors import AmbleError, ReadError
from amble.metaevaluation import read_labels, read_scores, satisfaction, steiger, williams

Write = Callable[[str, str | bytes], str]
STATISTICS = {"r": stats.pearsonr, "rho": stats.spearmanr, "tau": stats.kendalltau}


def data(n: int, seed: int = 0) -> tuple[dict[str, dict[tuple[str, str], float]], dict[str, float]]:
    """Scores by two measures, with ties, and labels from 0 to 4."""
    rng = np.random.default_rng(seed)
    topics = [f"t{i:03d}" for i in range(n)]
    felt = rng.integers(0, 5, n)
    good, noisy = np.round(felt / 4 + rng.normal(0, 0.4, n), 1), np.round(felt / 4 + rng.normal(0, 1.5, n), 1)
    scores = {
        name: {("run", topic): float(x) for topic, x in zip(topics, of, strict=True)}
        for name, of in (("good", good), ("noisy", noisy))
    }
    return scores, {topic: float(x) for topic, x in zip(topics, felt, strict=True)}


def test_every_statistic_on_every_resample() -> None:
    scores, labels = data(40)
    found = satisfaction(scores, labels, rounds=60, seed=3)
    x = np.array([list(of.values()) for of in scores.values()])
    y = np.array(list(labels.values()))
    for k, statistic in enumerate(found.statistics):
        for i in range(2):
            assert found.values[i, k] == pytest.approx(STATISTICS[statistic](x[i], y)[0])
    drawn = topic_counts(40, 60, 3)
    for round_, counts in enumerate(drawn):
        again = np.repeat(np.arange(40), counts)  # the observations, as often as they were drawn
        for k, statistic in enumerate(found.statistics):
            for i in range(2):
                wanted = STATISTICS[statistic](x[i][again], y[again])[0]
                assert found.resampled[round_, i, k] == pytest.approx(wanted, abs=1e-12)
    ends = np.quantile(found.resampled, [0.025, 0.975], axis=0)
    assert (found.low, found.high) == (pytest.approx(ends[0]), pytest.approx(ends[1]))
    assert found.between[0, 1] == pytest.approx(np.corrcoef(x)[0, 1])
    assert satisfaction(scores, labels, rounds=60, seed=3, threads=2).low.tolist() == found.low.tolist()
    assert satisfaction(scores, labels, rounds=60, seed=4).low.tolist() != found.low.tolist()


def test_published_tests_of_dependent_correlations() -> None:
    # Silver, Hittner and May (2006), the program depcor: r12 = .3, r13 = .4, r23 = .5, n = 100
    t, p = williams(0.3, 0.4, 0.5, 100)
    assert (round(t, 4), round(p, 4)) == (-1.0767, 0.2843)
    z, p = steiger(0.3, 0.4, 0.5, 100)
    assert (round(z, 4), round(p, 4)) == (-1.0718, 0.2838)
    # Steiger (1980), page 249, case A: -.8913, with the covariance rounded to .0042; unrounded it is -.8887
    assert steiger(0.4, 0.5, 0.1, 103)[0] == pytest.approx(-0.8913, abs=0.003)
    # by hand: r12 = .5, r13 = .2, r23 = 0, n = 50: D = 1 - .25 - .04 = .71, m = .35,
    # t = .3 sqrt(49 / (1.42 x 49/47 + .1225)) = .3 sqrt(49 / 1.60293)
    assert williams(0.5, 0.2, 0.0, 50)[0] == pytest.approx(0.3 * (49 / (1.42 * 49 / 47 + 0.1225)) ** 0.5)
    for test in (williams, steiger):
        assert test(0.4, 0.3, 0.5, 100)[0] == pytest.approx(-test(0.3, 0.4, 0.5, 100)[0])
        assert test(0.3, 0.3, 1.0, 100) == (0.0, 1.0)  # one measure twice
        # and one that is the other times a number: only rounding makes their correlations differ
        assert test(0.1 + 0.2, 0.3, 1.0, 1000) == test(1.0, 1.0 - 2**-53, 1.0, 1000) == (0.0, 1.0)
        with pytest.raises(AmbleError, match="n=3: expected a whole number of at least 4"):
            test(0.3, 0.4, 0.5, 3)
        with pytest.raises(AmbleError, match="r12=1.5"):
            test(1.5, 0.4, 0.5, 30)
    assert steiger(1.0, 0.4, 0.4, 30) == (np.inf, 0.0)
    for r in (0.1, 0.2, 0.3, 0.5):  # one measure with both signs: the t of r itself, with n - 3 degrees of freedom
        assert williams(r, -r, -1.0, 100)[0] == pytest.approx(r * (97 / (1 - r * r)) ** 0.5)


def test_a_measure_and_a_multiple_of_it_correlate_alike() -> None:
    rng = np.random.default_rng(3)
    found, labels = rng.integers(0, 11, 400), rng.integers(0, 5, 400)
    scores = {
        name: {("run", f"t{i}"): x for i, x in enumerate(of.tolist())}
        for name, of in (("count", found), ("precision", found / 10 + 100))  # r is the same but for rounding
    }
    of_topics = {f"t{i}": x for i, x in enumerate(labels.tolist())}
    pairs = satisfaction(scores, of_topics, rounds=400, statistics=["r"]).pairs(correction="none")
    assert pairs.rows[0][3:6] == (0.0, 0.0, 1.0)  # low, high, p: no resample has a difference


def test_tests_have_their_level() -> None:
    rng = np.random.default_rng(8)
    rejected = dict.fromkeys(("williams", "steiger", "bootstrap"), 0)
    cases, n = 300, 60
    topics = [str(i) for i in range(n)]
    for case in range(cases):
        y = rng.normal(size=n)
        both = rng.normal(size=n)  # two measures as good as one another, correlated beyond what they are about
        x = [0.5 * y + 0.7 * both + rng.normal(0, 0.7, n) for _ in range(2)]
        r = np.corrcoef([*x, y])
        for name, test in (("williams", williams), ("steiger", steiger)):
            rejected[name] += test(r[0, 2], r[1, 2], r[0, 1], n)[1] <= 0.05
        if case < 100:
            scores = {f"m{i}": {("", t): float(v) for t, v in zip(topics, one, strict=True)} for i, one in enumerate(x)}
            found = satisfaction(scores, dict(zip(topics, y.tolist(), strict=True)), statistics=["r"], rounds=200)
            rejected["bootstrap"] += found.pairs().rows[0][5] <= 0.05  # type: ignore[operator]
    # 4 standard deviations of a binomial of .05: 15 +- 15.1 of 300, 5 +- 8.7 of 100
    assert 2 <= rejected["williams"] <= 30
    assert 2 <= rejected["steiger"] <= 30
    assert rejected["bootstrap"] <= 14


def test_pairs() -> None:
    scores, labels = data(80, 1)
    found = satisfaction(scores, labels, rounds=199)
    (row,) = found.pairs()
    drawn = found.resampled[:, 0, 2] - found.resampled[:, 1, 2]
    assert row[2] == pytest.approx(found.values[0, 2] - found.values[1, 2])
    assert row[3:5] == pytest.approx(np.quantile(drawn, [0.025, 0.975]))
    assert row[5] == pytest.approx(min(1.0, 2 * (min((drawn <= 0).sum(), (drawn >= 0).sum()) + 1) / 200))
    assert row[6] == row[5]  # one test, no correction
    (row,) = found.pairs(test="williams")
    r = found.values[:, 0]
    assert row[5:7] == pytest.approx(williams(float(r[0]), float(r[1]), float(found.between[0, 1]), 80))
    table = found.pairs(baseline="good", statistic="rho")
    assert table.rows[0][:2] == ("noisy", "good")
    assert table.caption.startswith("rho: paired bootstrap (p of 0.01 at least), Holm's correction of 1 p-values; 80")
    three = satisfaction(scores | {"bad": {k: -v for k, v in scores["noisy"].items()}}, labels, rounds=99)
    assert [row[:2] for row in three.pairs()] == [("good", "noisy"), ("good", "bad"), ("noisy", "bad")]
    p = [row[6] for row in three.pairs(test="steiger")]
    assert [row[7] for row in three.pairs(test="steiger", correction="bonferroni")] == [min(1, 3 * x) for x in p]  # type: ignore[operator]
    for wrong, said in (
        ({"test": "williams", "statistic": "tau"}, "Pearson's r"),
        ({"test": "none"}, "test='none'"),
        ({"baseline": "none"}, "baseline='none'"),
        ({"statistic": "x"}, "statistic='x'"),
    ):
        with pytest.raises(AmbleError, match=said):
            found.pairs(**wrong)  # type: ignore[arg-type]


def test_runs_of_a_topic_are_drawn_together() -> None:
    scores, labels = data(20)
    alone = satisfaction(scores, labels, rounds=50, seed=1)
    # a second run with the same scores and labels adds nothing: the same correlations on the same resamples
    twice = {name: of | {("other", topic): x for (_, topic), x in of.items()} for name, of in scores.items()}
    both = {(run, topic): label for topic, label in labels.items() for run in ("run", "other")}
    found = satisfaction(twice, both, rounds=50, seed=1)
    assert (found.observations, found.units) == (40, 20)
    assert found.resampled == pytest.approx(alone.resampled)
    with pytest.raises(AmbleError, match="one run, so that observations are independent"):
        found.pairs(test="williams")
    with pytest.raises(AmbleError, match="2 runs, and a label for each topic"):
        satisfaction(twice, labels)


def test_scores_of_sessions_and_of_lists() -> None:
    sessions = amble.Sessions.of_array(np.random.default_rng(1).integers(0, 3, (30, 3, 4)))
    scores = amble.evaluate(sessions, "MsM sDCG")
    labels = {topic: float(i % 4) for i, topic in enumerate(sessions.topics)}
    found = satisfaction(scores, labels | {"none": 3.0}, rounds=10)
    assert (found.units, found.unscored, found.unlabelled) == (30, 1, 0)
    assert found.values[1, 2] == pytest.approx(stats.kendalltau(scores["sessions", "sDCG"], list(labels.values()))[0])
    assert "1 labels without a score" in found.caption
    assert len(found.table()) == 2
    # less of ESL is better
    qrels = {str(t): {f"d{t}": 1} for t in range(6)}
    run = {str(t): [*(f"x{i}" for i in range(t)), f"d{t}"] for t in range(6)}
    less = satisfaction(amble.evaluate(qrels, {"r": run}, "ESL RR"), {str(t): 5 - t for t in range(6)}, rounds=20)
    assert less.values[:, 2] == pytest.approx([1, 1])


def test_what_is_left_out() -> None:
    scores, labels = data(10)
    del scores["noisy"]["run", "t000"], scores["noisy"]["run", "t001"], labels["t002"]
    found = satisfaction(scores, labels, rounds=5)  # noisy lacks two, and one has no label
    assert (found.observations, found.unlabelled, found.unscored) == (7, 1, 2)
    assert "1 scores without a label, 2 labels without a score by every measure" in found.caption


def test_a_measure_that_never_varies() -> None:
    scores, labels = data(10)
    scores["same"] = dict.fromkeys(scores["good"], 0.5)
    found = satisfaction(scores, labels, rounds=20)
    assert np.isnan(found.values[2]).all()
    assert np.isnan(found.low[2]).all()
    assert np.isnan(found.pairs().rows[1][5])  # type: ignore[arg-type]
    assert "Holm's correction of 1 p-values" in found.pairs().caption
    # 1000000.1 is no binary fraction: what rounding leaves of its mean is no variance
    scores["same"] = dict.fromkeys(scores["good"], 1000000.1)
    assert np.isnan(satisfaction(scores, labels, rounds=20).resampled[:, 2]).all()
    assert "-" in str(found.table())


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ({"t000": 1.0}, "1 topics or sessions with scores and a label, expected at least 4"),
        ({f"t{i:03d}": 1.0 for i in range(9)}, "labels are all the same"),
        ({f"t{i:03d}": "x" for i in range(9)}, "label of t000='x'"),
        ({}, "0 topics"),
    ],
)
def test_labels_that_are_refused(labels: dict[str, float], said: str) -> None:
    with pytest.raises(AmbleError, match=said):
        satisfaction(data(10)[0], labels)


def test_arguments_that_are_refused() -> None:
    scores, labels = data(10)
    for wrong, said in (
        ({"statistics": ["x"]}, "statistics='x'"),
        ({"statistics": []}, "expected some of r, rho, tau"),
        ({"statistics": ["r", "r"]}, "each once"),
        ({"rounds": 0}, "rounds=0"),
        ({"confidence": 2}, "confidence=2"),
        ({"seed": -1}, "seed=-1"),
    ):
        with pytest.raises(AmbleError, match=said):
            satisfaction(scores, labels, **wrong)  # type: ignore[arg-type]
    with pytest.raises(AmbleError, match="found list, expected scores"):
        satisfaction([], labels)  # type: ignore[arg-type]


# ---- files


SCORES = "run\ttopic\tmeasure\tvalue\n" + "".join(
    f"x\t{t}\t{m}\t{v}\n"
    for t, of in enumerate([(1, 2), (2, 2), (3, 4), (4, 1), (5, 3)])
    for m, v in zip("AB", of, strict=True)
)


def test_files(write: Write) -> None:
    scores = read_scores(write("s.tsv", SCORES + "x\tall\tA\t9\n"))
    assert scores["A"] == {("x", str(t)): float(t + 1) for t in range(5)}
    named = read_scores(write("all.tsv", SCORES + "x\tall\tA\t9\nx\t-\tA\t5\n"))  # a topic is called all
    assert named["A"]["x", "all"] == 9
    assert read_labels(write("l", "# labels\n0 1\n1 2.5\n")) == {"0": 1.0, "1": 2.5}
    assert read_labels(write("l", "session\tlabel\na b\t3\n")) == {"a b": 3.0}
    assert read_labels(write("l", "x 0 1\ny 0 2\n")) == {("x", "0"): 1.0, ("y", "0"): 2.0}


@pytest.mark.parametrize(
    ("read", "text", "said"),
    [
        (read_scores, "", ":? ?empty"),
        (read_scores, "0 1\n", "found '0 1', expected the header run topic measure value"),
        (read_scores, SCORES + "x\t0\tA\n", ":12: found 3 columns, expected 4"),
        (read_scores, SCORES + "x\t0\tA\t1\n", ":12: A of run x, topic 0 is there twice"),
        (read_scores, SCORES + "x\t9\tA\tone\n", ":12: value"),
        (read_scores, "run\ttopic\tmeasure\tvalue\nx\tall\tA\t1\n", "only means; expected those of -q"),
        (read_labels, "", "empty, expected lines: topic label"),
        (read_labels, "a 1\nb c 2\n", ":2: found 3 columns, expected 2 as above"),
        (read_labels, "a b c d 1\n", ":1: found 5 columns, expected 2 or 3"),
        (read_labels, "a 1\na 2\n", ":2: a has a label already"),
        (read_labels, "a 1\nb x\n", ":2: label"),
        (read_labels, "topic label\n", "no labels"),
    ],
)
def test_files_that_are_refused(write: Write, read: Callable[[str], object], text: str, said: str) -> None:
    with pytest.raises(ReadError, match=said):
        read(write("file", text))


def test_the_command(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    scores, labels = write("s.tsv", SCORES), write("l", "".join(f"{t} {t}\n" for t in range(5)))
    words = ["meta", "satisfaction", scores, labels, "--rounds", "50"]
    assert main([*words, "--format", "json", "--seed", "2"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [row["tau"] for row in found["rows"]] == pytest.approx([1.0, stats.kendalltau([2, 2, 4, 1, 3], range(5))[0]])
    assert found["analysis"] == "satisfaction"
    assert [file["path"] for file in found["files"]] == [scores, labels]
    assert main([*words, "-m", "A", "--statistic", "rho"]) == 0
    said = capsys.readouterr()
    assert said.out.splitlines()[1].split() == ["measure", "rho", "rho", "low", "rho", "high"]
    assert len(said.out.splitlines()) == 3
    assert main([*words, "--pairs", "--test", "steiger", "--baseline", "A", "--correction", "none"]) == 0
    assert "Steiger's Z" in capsys.readouterr().out
    for more, text in (
        (["--test", "t", "--pairs"], "--test t goes without satisfaction"),
        (["--test", "williams"], "--test goes with --pairs"),
        (["--statistic", "rbo"], "--statistic rbo goes without satisfaction"),
        (["--depth", "3"], "--depth goes without satisfaction"),
        (["--ties", "rank"], "--ties goes without satisfaction"),
        (["--intents", "no such file"], "--intents goes without satisfaction"),
        (["--subtopics"], "--subtopics goes without satisfaction"),
        (["-m", "P@7"], "no scores of P@7, expected one of A, B"),
        (["--plot", "x.gif"], "x.gif: a chart's name ends in .svg"),
        (["--levels", "0.5"], "--levels goes with amble meta degrade"),
    ):
        assert main([*words, *more]) == 2, more
        said = capsys.readouterr()
        assert (said.out, text in said.err) == ("", True), said.err
    assert main(["meta", "satisfaction", scores, labels, labels]) == 2
    assert "3 files, expected two" in capsys.readouterr().err
    assert main(["meta", "tau", scores, labels, "--pairs"]) == 2
    assert "--pairs goes with amble meta satisfaction" in capsys.readouterr().err
    assert main(["meta", "power", scores, labels, "--test", "williams"]) == 2
    assert "--test williams goes without power" in capsys.readouterr().err
