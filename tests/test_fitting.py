"""Measures with fitted users, and what is not known of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drawing import examples
from hypothesis import given
from hypothesis import strategies as st

import amble
from amble.errors import AlignError, MeasureError
from amble.measures import MarkovUser
from amble.measures.fitted_parameters import resampled
from amble.users import Question
from amble.users.fit_file import write_fit
from amble.users.fitted import Estimate, Fitted, FittedModel, Origin

NAN = float("nan")
ORIGIN = Origin(["log.tsv"], "table", 300, 1800, 1500)
GRADES = [1, 0, 2, 0, 0, 1, 0, 1]


def estimate(value: Any, draws: Any = None, **more: Any) -> Estimate:
    """With an interval and observations of some kind; NaN where the value is."""
    numbers = np.array(value, np.float64)
    seen = np.where(np.isnan(numbers), -1, 50)
    return Estimate(numbers, numbers * 0.9, numbers, seen, draws=draws, **more)


BACK = Estimate([[0, 1, 0], [0.5, 0, 0.5], [0, 1, 0]], None, None, [50, 50, 50], concentration=[50, 50, 50])


@pytest.fixture
def fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A file of all kinds of users, in the folder where we are."""
    walk = {"p": estimate(0.5, [0.4, 0.6]), "q": estimate(0.25, [0.2, 0.3])}
    by_rank = {
        "p": estimate([0.6, 0.5, NAN], [[0.7, 0.4, NAN]] * 2),
        "q": estimate([0.0, 0.2, NAN], [[0.0, 0.6, NAN]] * 2),
        "start": estimate([0.75, 0.25, NAN]),
    }
    by_grade = {"p": estimate([0.7, 0.3], grades=(0, 1)), "q": estimate(0.25)}
    models = [
        FittedModel("walk", "walk", walk, "clicks"),
        FittedModel("walk-rank", "walk", by_rank, "clicks", first="forward"),
        FittedModel("walk-grade", "walk", by_grade, "clicks"),
        FittedModel("rbp", "rbp", {"p": estimate(0.7, [0.5, 0.6, 0.7, 0.8, 0.9])}, "last click"),
        FittedModel("insq", "insq", {"T": estimate(2.5)}, "last click"),
        FittedModel("inst", "inst", {"T": estimate(1.5)}, "last click"),
        FittedModel("C", "continuation", {"C": estimate([0.5, 0.25, NAN])}, "cascade"),
        FittedModel("markov", "markov", {"P": BACK}, "clicks"),
        FittedModel("times", "times", {"mu": estimate([1.0, 0.5, 0.25], [[1, 1, 1], [1, 0.5, 0.25]])}, "clicks"),
    ]
    monkeypatch.chdir(tmp_path)
    write_fit("fit.toml", Fitted(ORIGIN, models))
    return "fit.toml"


@pytest.mark.parametrize(
    ("fitted", "plain"),
    [
        ("RBP(user='fit.toml')", "RBP(p=0.7)"),
        ("RBP(finite=True,user='fit.toml')@3", "RBP(p=0.7,finite=True)@3"),
        ("GRBP(user='fit.toml')", "GRBP(p=0.7)"),
        ("INSQ(user='fit.toml')", "INSQ(T=2.5)"),
        ("INSQ(adaptive=False,user='fit.toml')", "INSQ(T=2.5)"),
        ("INST(user='fit.toml')", "INST(T=1.5)"),
        ("CWL(user='fit.toml')", "CWL(C='0.5,0.25')"),
        ("PH(user='fit.toml')", "PH(p=0.5,q=0.25,first='stop')"),
        ("PH(loss=0,order=2,user='fit.toml#walk')", "PH(p=0.5,q=0.25,first='stop',loss=0,order=2)"),
        ("PH(user='fit.toml#walk-rank')", "PH(p='0.6,0.5',q='0,0.2',start='0.75,0.25')"),
        ("PH(user='fit.toml#walk-grade')", "PH(p='0=0.7,1=0.3',q=0.25,first='stop')"),
        ("MP(rates='fit.toml')", "MP(rates='1,0.5,0.25')"),
        ("MP(rates='fit.toml#times',model='LO_AD_NA')@5", "MP(rates='1,0.5,0.25',model='LO_AD_NA')@5"),
    ],
)
def test_the_same_as_with_the_numbers_of_the_file(fit: str, fitted: str, plain: str) -> None:
    m, other = amble.parse(fitted), amble.parse(plain)
    assert m.value(GRADES, max_grade=2) == pytest.approx(other.value(GRADES, max_grade=2), rel=1e-14)
    assert amble.parse(str(m)) == m
    assert "user='fit.toml" in str(m) or "rates='fit.toml" in str(m)
    assert m != other
    if m.declaration.question is not Question.MARKOV:
        np.testing.assert_allclose(
            m.user(GRADES, max_grade=2).visits, other.user(GRADES, max_grade=2).visits, rtol=1e-14
        )


def test_probabilities_by_rank() -> None:
    # V = 1, 1/2, 1/8, 1/32, ...: the sum is 1 + (1/2) / (1 - 1/4) = 5/3; gains at ranks 1 and 3: (1 + 1/8) / (5/3)
    m = amble.parse("CWL(C='0.5,0.25')")
    assert m.value([1, 0, 1]) == pytest.approx(0.675, rel=1e-14)
    assert m.user([1, 0, 1]).expected_depth == pytest.approx(5 / 3, rel=1e-14)
    assert amble.parse("CWL(C='0.9')").value([1, 0, 1]) == pytest.approx(amble.parse("GRBP(p=0.9)").value([1, 0, 1]))
    distribution = amble.simulate(m, [1, 0, 1], users=20_000, seed=3)
    assert distribution.distance(m.distribution([1, 0, 1])) < distribution.band_at(1 - 1e-6)
    with pytest.raises(MeasureError, match="the last probability of C is 1"):
        amble.parse("CWL(C='0.5,1')")
    with pytest.raises(MeasureError, match="CWL: C='0.5,1.1' is not allowed"):
        amble.parse("CWL(C='0.5,1.1')")


def test_fitted_moves_by_hand(fit: str) -> None:
    m = amble.parse("MP(user='fit.toml')")
    # ranks 1-2-3 with a step back or on from 2: pi = 1/4, 1/2, 1/4; relevant at 1 and 3: (1 + 2/3) / 2
    assert m.value([1, 0, 1]) == pytest.approx(5 / 6, rel=1e-14)
    assert m.value([0, 1, 1]) == pytest.approx((2 / 3) * (1 / 2) + (1 / 3) * (2 / 3), rel=1e-14)
    # deeper than the file: she never goes there
    assert m.value([1, 0, 1, 1, 1]) == pytest.approx(5 / 6, rel=1e-14)
    assert m.value([0, 0, 0, 1, 1]) == 0
    # a shorter list: only the moves within it, 1 -> 2 and 2 -> 1
    assert m.value([0, 1]) == pytest.approx(1 / 2, rel=1e-14)
    np.testing.assert_allclose(m.user([1, 1]).weights, [0.5, 0.5])
    assert m.value([1]) == 1
    assert m.value([]) == 0
    # time: 1, 2 and 4 at the three ranks, so that ranks 1 and 3 have 1/5 and 4/5
    timed = amble.parse("MP(user='fit.toml',rates='fit.toml')")
    assert timed.value([1, 0, 1]) == pytest.approx(1 / 5 + (4 / 5) * (2 / 3), rel=1e-14)
    # two visits to relevant documents, from rank 1: 1 and 3, in the mean
    assert amble.parse("MP(user='fit.toml',steps=1)").value([1, 0, 1]) == 1
    assert m.distribution([1, 0, 1]).mean == pytest.approx(5 / 6, rel=1e-14)
    assert amble.parse("MP(user='fit.toml',rescale='R')").value([1, 0, 1], relevant=4) == pytest.approx(5 / 12)
    assert amble.parse("MP(user='fit.toml')@2").value([0, 1, 1]) == pytest.approx(1 / 2, rel=1e-14)


@examples(50)
@given(st.lists(st.lists(st.booleans(), min_size=1, max_size=9), min_size=1, max_size=5), st.integers(0, 10**6))
def test_many_lists_as_one_by_one(lists: list[list[bool]], seed: int) -> None:
    rng = np.random.default_rng(seed)
    weights, times = rng.random((9, 9)), rng.random(9) + 0.1
    user = MarkovUser(weights=lambda i, j: weights[: len(i), : len(i)], rates=times)

    @amble.measure("Own", question="markov")
    def own() -> MarkovUser:
        return user

    try:
        qrels = {str(t): {f"d{i}": int(r) for i, r in enumerate(x)} for t, x in enumerate(lists)}
        run = {str(t): {f"d{i}": 100.0 - i for i in range(len(x))} for t, x in enumerate(lists)}
        found = amble.evaluate(qrels, {"a": run}, "Own").values[0, :, 0]
        np.testing.assert_allclose(found, [user.over(x).score for x in lists], rtol=1e-12)
    finally:
        del amble.measures.REGISTRY["Own"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("RBP(user='none.toml')", "none.toml: no such file"),
        ("RBP(user='')", "RBP: user='' is not allowed, expected the name of a file of `amble fit` with a rbp model"),
        ("RBP(user=3)", "RBP: user=3 is not allowed"),
        ("RBP(user='fit.toml#walk')", "fit.toml: walk is of kind walk, expected one of kind rbp"),
        ("RBP(user='fit.toml#wlak')", "fit.toml: no model is called 'wlak', expected one of walk (walk), walk-rank"),
        ("RBP(p=0.5,user='fit.toml')", "user and p: expected one of them"),
        ("PH(p=0.6,user='fit.toml')", "user and p: expected one of them"),
        ("PH(model='AP',user='fit.toml')", "user and model: expected one of them"),
        ("PH(end='nothing',user='fit.toml')", "end='nothing' is for model='AP'"),
        ("MP(loops='SL',user='fit.toml')", "user and loops: expected one of them"),
        ("CWL(C='0.5',user='fit.toml')", "user and C: expected one of them"),
        ("MP(rates='none.toml')", "none.toml: no such file"),
        ("MP(rates='fit.toml#walk')", "walk is of kind walk, expected one of kind times"),
        ("MP(user=Beta(1,2))", "user=Beta(1,2) is not allowed"),
    ],
)
def test_what_is_wrong(fit: str, text: str, message: str) -> None:
    with pytest.raises(MeasureError) as error:
        amble.parse(text)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_file_with_a_sharp_in_its_name(fit: str) -> None:
    Path("a#b.toml").write_text(Path(fit).read_text())
    assert amble.parse("RBP(user='a#b.toml')").values["p"] == 0.7
    assert amble.parse("RBP(user='a#b.toml#rbp')").values["p"] == 0.7


def test_a_file_that_changes_is_read_anew(fit: str) -> None:
    assert amble.parse("RBP(user='fit.toml')").values["p"] == 0.7
    model = FittedModel("rbp", "rbp", {"p": estimate(0.25)}, "last click")
    write_fit("fit.toml", Fitted(ORIGIN, [model]))
    assert amble.parse("RBP(user='fit.toml')").values["p"] == 0.25
    with pytest.raises(MeasureError, match="the file has no draws of its parameters"):
        resampled(amble.parse("RBP(user='fit.toml')"), 5)


def test_where_nobody_was_seen_to_stop(fit: str) -> None:
    model = FittedModel("C", "continuation", {"C": estimate([0.5, 1.0], [[0.25, 1.0], [1.0, 1.0]])}, "cascade")
    write_fit("fit.toml", Fitted(ORIGIN, [model]))
    m = amble.parse("CWL(user='fit.toml')")
    assert m.value([1, 0, 1]) == amble.parse("CWL(C='0.5,1,0.5')").value([1, 0, 1])
    assert resampled(m, 1)[0].value([1, 0, 1]) == amble.parse("CWL(C='0.25,1,0.25')").value([1, 0, 1])
    with pytest.raises(MeasureError, match="the last probability of C is 1"):
        resampled(m, 2)


def test_distribution_and_simulation(fit: str) -> None:
    m = amble.parse("PH(user='fit.toml#walk-rank',loss=0)")
    distribution = m.distribution(GRADES)
    assert distribution.mean == pytest.approx(m.value(GRADES), abs=1e-9)
    simulated = amble.simulate(m, GRADES, users=20_000, seed=5)
    assert simulated.distance(distribution) < simulated.band_at(1 - 1e-6)


def test_another_least_grade(fit: str) -> None:
    m = amble.parse("PH(user='fit.toml')").with_value("rel", 2)
    assert str(m) == "PH(user='fit.toml',rel=2)"
    assert m.value(GRADES) == amble.parse("PH(p=0.5,q=0.25,first='stop',rel=2)").value(GRADES)


def test_who_she_is(fit: str, amble_cli: Callable[..., Any]) -> None:
    done = amble_cli("list", "PH(user='fit.toml#walk')", "MP(user='fit.toml',rates='fit.toml')", "RBP")
    assert "fit.toml: walk, fitted to 300 sessions of log.tsv: p 0.5 (0.45 to 0.5), q 0.25 (0.225 to 0.25).\n" in (
        done.stdout
    )
    assert "times, fitted to 300 sessions of log.tsv: mu by rank, 1 0.5 0.25. " in done.stdout
    assert "markov, fitted to 300 sessions of log.tsv: P from rank to rank, 3 ranks.\n" in done.stdout
    assert done.stdout.count("this one") == 2


# ---- draws


def test_every_draw_is_a_user(fit: str) -> None:
    many = resampled(amble.parse("PH(user='fit.toml')"), 100)
    assert [m.value(GRADES) for m in many] == [
        amble.parse(f"PH(p={p},q={q},first='stop')").value(GRADES) for p, q in ((0.4, 0.2), (0.6, 0.3))
    ]
    (one,) = resampled(amble.parse("PH(user='fit.toml#walk-rank')"), 1)
    assert one.value(GRADES) == amble.parse("PH(p='0.7,0.4',q='0,0.6',start='0.75,0.25')").value(GRADES)
    # p and q that exceed 1 together, in the digits of a file, are scaled
    first, second = resampled(amble.parse("MP(user='fit.toml',rates='fit.toml')"), 1000)  # as many as the times have
    same = resampled(amble.parse("MP(user='fit.toml')"), 2)
    assert len(resampled(amble.parse("MP(user='fit.toml')"), 77)) == 77  # moves are drawn as often as one likes
    assert first.value([1, 0, 1, 0]) == same[0].value([1, 0, 1, 0])  # the first draw of the times has all alike
    assert second.value([1, 0, 1, 0]) != same[1].value([1, 0, 1, 0])
    with pytest.raises(MeasureError, match="RBP: expected a fitted user"):
        resampled(amble.parse("RBP"), 5)


def test_one_draw_is_no_interval(fit: str) -> None:
    p = Estimate(0.8, 0.7, 0.9, 1500, draws=[0.75])
    one = Fitted(Origin(["log"], "table", 300, 900, 600), [FittedModel("rbp", "rbp", {"p": p}, "last click")])
    amble.write_fit("one.toml", one)
    with pytest.raises(MeasureError, match="one draw of its parameters, too few for an interval"):
        amble.fitted_intervals(runs_and_judgments(), "RBP(user='one.toml')")


def runs_and_judgments() -> amble.Rankings:
    rng = np.random.default_rng(3)
    qrels = {str(t): {f"d{i}": int(rng.random() < 0.3) for i in range(20)} for t in range(40)}
    runs = {
        name: {str(t): dict(zip((f"d{i}" for i in range(20)), rng.random(20).tolist(), strict=True)) for t in range(40)}
        for name in ("a", "b")
    }
    return amble.align(qrels, runs)


def test_intervals_of_means(fit: str) -> None:
    rankings = runs_and_judgments()
    found = amble.fitted_intervals(rankings, ["RBP(user='fit.toml')"], confidence=1 / 3)
    plain = [amble.evaluate(rankings, f"RBP(p={p})").means()[:, 0] for p in (0.5, 0.6, 0.7, 0.8, 0.9)]
    np.testing.assert_allclose(found.by_round[0], plain, rtol=1e-14)
    np.testing.assert_allclose(found.means[:, 0], plain[2], rtol=1e-14)
    # a sixth number lies between the second and the fourth of five with a probability of 2/6
    np.testing.assert_allclose(found.low[:, 0], np.sort(plain, axis=0)[1], rtol=1e-14)
    np.testing.assert_allclose(found.high[:, 0], np.sort(plain, axis=0)[3], rtol=1e-14)
    table = found.table()
    assert list(table.columns) == ["run", "measure", "mean", "low", "high", "rounds"]
    assert [row[0] for row in table.rows] == ["a", "b"]
    again = amble.fitted_intervals(rankings, "RBP(user='fit.toml')", confidence=1 / 3)
    np.testing.assert_array_equal(again.by_round[0], found.by_round[0])


def test_topics_drawn_anew_too(fit: str) -> None:
    rankings = runs_and_judgments()
    same = {"p": estimate(0.7, [0.7] * 2000)}
    write_fit("same.toml", Fitted(ORIGIN, [FittedModel("rbp", "rbp", same, "last click")]))
    found = amble.fitted_intervals(rankings, "RBP(user='same.toml')", topics=True, rounds=2000, seed=4)
    # with one and the same user, only the topics are left: Student's interval is about as wide
    width = amble.evaluate(rankings, "RBP(p=0.7)").interval()[:, 0]
    np.testing.assert_allclose((found.high - found.low)[:, 0] / 2, width, rtol=0.15)
    both = amble.fitted_intervals(rankings, "RBP(user='fit.toml')", topics=True)
    alone = amble.fitted_intervals(rankings, "RBP(user='fit.toml')")
    assert both.topics
    assert not alone.topics
    assert not np.allclose(both.low, alone.low)


def test_intervals_refuse(fit: str) -> None:
    rankings = runs_and_judgments()
    for options in ({"confidence": 0}, {"confidence": "x"}, {"rounds": 1}, {"rounds": 2.5}, {"seed": -1}):
        with pytest.raises(MeasureError, match=next(iter(options))):
            amble.fitted_intervals(rankings, "RBP(user='fit.toml')", **options)
    with pytest.raises(MeasureError, match="AP: expected a fitted user"):
        amble.fitted_intervals(rankings, ["AP"])
    with pytest.raises(AlignError, match="undefined"):
        amble.fitted_intervals(rankings, "RBP(user='fit.toml')", undefined="x")


def test_command_line(fit: str, amble_cli: Callable[..., Any]) -> None:
    Path("q.txt").write_text("1 0 a 1\n1 0 b 0\n2 0 c 1\n")
    Path("x.run").write_text("1 Q0 a 1 2 x\n1 Q0 b 2 1 x\n2 Q0 d 1 2 x\n2 Q0 c 2 1 x\n")
    done = amble_cli("eval", "q.txt", "x.run", "-m", "RBP(user='fit.toml')", "--fitted-intervals", "user", "--quiet")
    # 1 - p and p (1 - p), in the mean (1 - p^2) / 2: .375 .32 .255 .18 .095 for the draws; five are too few
    # for 95 %, so all of them are in
    assert done.stdout.split("\n")[1].split() == ["x", "RBP(user='fit.toml')", "0.2550", "0.0950", "0.3750", "5"]
    done = amble_cli(
        "eval", "q.txt", "x.run", "-m", "MP(user='fit.toml',rates='fit.toml')", "--fitted-intervals", "both",
        "--format", "json", "--quiet",
    )  # fmt: skip
    told = json.loads(done.stdout)
    assert [file["path"] for file in told["files"]] == ["q.txt", "x.run", "fit.toml"]
    assert told["measures"]["MP(user='fit.toml',rates='fit.toml')"]["user"] == "fit.toml"
    assert told["rows"][0]["mean"] == 0.75  # 1 and 1/2
    for wrong in (["-q"], ["--trec"], ["--residual"], ["--intervals"], ["--format", "trec"]):
        done = amble_cli("eval", "q.txt", "x.run", "-m", "RBP(user='fit.toml')", "--fitted-intervals", "user", *wrong)
        assert done.returncode == 2
        assert "goes without --fitted-intervals, a report of its own" in done.stderr
    done = amble_cli("eval", "q.txt", "x.run", "-m", "AP", "--fitted-intervals", "user")
    assert (done.returncode, done.stderr) == (2, "amble: AP: expected a fitted user, as in RBP(user='fit.toml')\n")
    mixed = ["PH(gains='exp')", "PH(gains=None)", "PH(model='DCG')", "PH(model='ERR')", "PH(model='AP')", "DCG"]
    done = amble_cli("eval", "q.txt", "x.run", "-m", *mixed, "--rel", "2", "--quiet", "--format", "tsv")
    assert (done.returncode, done.stderr) == (0, "")
    assert [line.split("\t")[2] for line in done.stdout.splitlines()[1:]] == [
        "PH(gains='exp')", "PH(rel=2)", "PH(model='DCG')", "PH(model='ERR')", "PH(model='AP',rel=2)", "DCG"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("RBP(p=0.8,user='fit.toml')", "user and p: expected one of them"),
        ("INSQ(T=1,user='fit.toml')", "user and T: expected one of them"),
        (
            "INSQ(user='fit.toml',adaptive=True)",
            "user and adaptive: the file's T was fitted to a user who does not adapt",
        ),
        ("INSQ(form='figures')", "form goes with adaptive=True only"),
        ("INSQ(user='fit.toml',form='printed')", "form goes with adaptive=True only"),
        ("INST(T=1,user='fit.toml')", "user and T: expected one of them"),
        ("CWL(C='0.8',user='fit.toml')", "user and C: expected one of them"),
        ("PH(p=0.5,user='fit.toml')", "user and p: expected one of them"),
        ("PH(first='forward',user='fit.toml')", "user and first: expected one of them"),
        ("MP(model='GL_AD_ID',user='fit.toml')", "user and model: expected one of them"),
        ("MP(start='first')", "start goes with steps only"),
        ("NCP(g=1,distribution='3,2,1')", "g and distribution: expected one of them"),
        ("MsM(user='fwd_pat_down',p=0.6)", "has probabilities of its own: without p"),
        ("MsM(program=False)", "program goes with user='yandex_log' only"),
        ("PerQuery(of='AP',gains='linear')", "expected in the measure of lists"),
    ],
)
def test_what_has_no_part_is_refused_whatever_its_value(fit: str, text: str, message: str) -> None:
    """All but a few of these values are the defaults."""
    with pytest.raises(MeasureError, match=message):
        amble.parse(text)


def test_what_says_nothing_is_not_refused(fit: str) -> None:
    for text in ("RBP(p=0.7,user=None)", "PH(model='AP',gains=None)", "MP(start=None)", "NCP(g=0.5,distribution=None)"):
        assert amble.parse(str(amble.parse(text))) == amble.parse(text)
    m = amble.parse("PH(p=0.5)").with_value("q", 0.25)
    assert str(m) == "PH"
    with pytest.raises(MeasureError, match="loss and utility"):
        amble.parse("PH(utility='1,0.5')").with_value("loss", 0.25)
