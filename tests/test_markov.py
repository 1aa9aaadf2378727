"""MP and NCP: against the paper's figures, dense algebra, AP, and everything else that a measure can be asked."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import markov_reference as reference
import numpy as np
import pytest
from drawing import examples
from hypothesis import given
from hypothesis import strategies as st

import amble
from amble.measures import REGISTRY, Forward, Lists, MarkovUser, MarkovUserOnList, measure
from amble.measures.stories import list_variants, story_of

Cli = Callable[..., subprocess.CompletedProcess[str]]
Write = Callable[[str, str], str]

FAMILY = list(list_variants(REGISTRY["MP"]))
GRADES = [1, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0]

# Ferrante, Ferro and Maistro (2014), table 4: relevance, rates, discrete and continuous MP with GL_AD_ID
TABLE_4 = [
    ("1111000100", ".2000,.0357,.2000,.0400,.0056,.0005,.0035,.0017,.0034,.0024", 0.9205, 0.6603),
    ("1110100010", ".0177,.0047,.0037,.0015,.0041,.0031,.0057,.0022,.0061,.0045", 0.8668, 0.8710),
    ("1101100001", ".0056,.0051,.0062,.0031,.0046,.0025,.005,.0022,.007,.005", 0.8120, 0.8001),
]


# ---- values


@pytest.mark.parametrize(("grades", "rates", "discrete", "continuous"), TABLE_4)
def test_table_4(grades: str, rates: str, discrete: float, continuous: float) -> None:
    run = [int(c) for c in grades]
    assert amble.parse("MP(model='GL_AD_ID')").value(run) == pytest.approx(discrete, abs=1e-4)
    assert amble.parse(f"MP(rates='{rates}')").value(run) == pytest.approx(continuous, abs=6e-4)


def test_by_hand() -> None:
    # 1 0 1 0: row sums 13/12 and 4/3 at the relevant ranks; precision 1 and 2/3
    assert amble.parse("MP").value([1, 0, 1, 0]) == pytest.approx((13 + 16 * 2 / 3) / 29, abs=1e-15)
    # of 4 relevant documents; of 3 that the best run found; at rank 2 and above there is one
    assert amble.parse("MP(rescale='R')").value([1, 0, 1, 0], relevant=4) == pytest.approx((13 + 16 * 2 / 3) / 58)
    rr = amble.parse("MP(rescale='RR')")
    assert rr.value([1, 0, 1, 0], most=3) == pytest.approx((13 + 16 * 2 / 3) / 29 * 2 / 3)
    assert rr.value([1, 0, 1, 0]) == rr.value([1, 0, 1, 0], most=1) == amble.parse("MP").value([1, 0, 1, 0])
    assert amble.parse("MP(rescale='R')@2").value([1, 0, 1, 0], relevant=4) == 1 / 4
    # @3: she wanders over three ranks: 5/6 and 5/6
    assert amble.parse("MP@3").value([1, 0, 1, 0]) == pytest.approx((1 + 2 / 3) / 2)
    assert amble.parse("MP@9").value([1, 0, 1, 0]) == amble.parse("MP").value([1, 0, 1, 0])
    # grade 2 is relevant, grade 1 is not
    assert amble.parse("MP(rel=2)").value([2, 1, 2, 0]) == amble.parse("MP").value([1, 0, 1, 0])


@pytest.mark.parametrize("m", FAMILY, ids=str)
def test_against_dense_algebra(m: amble.Measure) -> None:
    """All 360, on lists of up to 60 documents; by state reduction, as a solve fails where the drift is strong."""
    v = m.values
    rng = np.random.default_rng(17)
    for n, share in ((1, 1.0), (2, 0.8), (9, 0.3), (31, 0.6), (60, 0.08), (60, 0.4)):
        grades = (rng.random(n) < share).astype(int).tolist()
        relevant, most = sum(grades) + int(rng.integers(0, 9)), sum(grades) + int(rng.integers(0, 9))
        args = (grades, v["model"], v["loops"], v["counts"], v["rescale"])
        ours = m.value(grades, relevant=relevant, most=most)
        assert ours == pytest.approx(reference.score(*args, relevant=relevant, most=most, eliminate=True), abs=1e-12)
        if not (v["model"].startswith("LO_AD") and v["counts"] != "NA"):
            assert ours == pytest.approx(reference.score(*args, relevant=relevant, most=most), abs=1e-10)


def test_a_plain_solve_loses_itself() -> None:
    # the reason for logarithms: at 60 ranks the probabilities at relevant documents are below what a solve can tell
    # from 0
    grades = [1, 0, 1] + [0] * 57
    exact = reference.score(grades, "LO_AD_NA", "NL", "FNBR", eliminate=True)
    assert amble.parse("MP(model='LO_AD_NA',counts='FNBR')").value(grades) == pytest.approx(exact, abs=1e-14)
    assert abs(reference.score(grades, "LO_AD_NA", "NL", "FNBR") - exact) > 1e-3


@pytest.mark.parametrize("text", ["MP", "MP(model='LO_OR_LID',loops='SL')", "MP(counts='FRBN')", "MP(steps=5)"])
def test_many_lists_are_scored_as_one_is(text: str) -> None:
    m = amble.parse(text)
    rng = np.random.default_rng(3)
    qrels: dict[str, dict[str, int]] = {}
    runs: dict[str, dict[str, dict[str, float]]] = {"a": {}, "b": {}}
    for t in range(12):
        qrels[str(t)] = {f"d{i}": int(rng.random() < 0.3) for i in range(30)} | {"never": 1}
        for name in runs:
            order = rng.permutation(40)[: int(rng.integers(1, 40))].tolist()
            runs[name][str(t)] = {f"d{d}": -float(i) for i, d in enumerate(order)}
    scores = amble.evaluate(qrels, runs, [m])
    for name in runs:
        for t in scores.topics:
            docs = sorted(runs[name][t], key=lambda d: -runs[name][t][d])
            grades = [qrels[t].get(d, np.nan) for d in docs]
            alone = m.value(grades, relevant=sum(qrels[t].values()))
            assert scores[name, text][scores.topics.index(t)] == pytest.approx(alone, abs=1e-13)
            assert scores.user(name, t, text).score == pytest.approx(alone, abs=1e-13)  # type: ignore[attr-defined]


def test_the_best_run_of_a_topic() -> None:
    qrels = {"1": dict.fromkeys("abcd", 1), "2": {"a": 1}}
    runs = {
        "x": {"1": {"a": 9.0, "z": 8.0, "b": 7.0}, "2": {"z": 1.0}},
        "y": {"1": {"z": 9.0, "c": 8.0, "b": 7.0, "a": 6.0}, "2": {"a": 2.0}},
    }
    scores = amble.evaluate(qrels, runs, ["MP", "MP(rescale='R')", "MP(rescale='RR')", "MP(rescale='RR')@3"])
    plain = scores["x", "MP"]
    assert plain[0] == pytest.approx(5 / 6)
    assert scores["x", "MP(rescale='R')"].tolist() == pytest.approx([plain[0] * 2 / 4, 0])
    assert scores["x", "MP(rescale='RR')"].tolist() == pytest.approx([plain[0] * 2 / 3, 0])
    assert scores["y", "MP(rescale='RR')"].tolist() == scores["y", "MP"].tolist()
    assert scores["x", "MP(rescale='RR')@3"][0] == pytest.approx(plain[0])  # down to rank 3 both have found two
    for run, name in (("x", "MP(rescale='RR')"), ("y", "MP(rescale='RR')"), ("x", "MP(rescale='RR')@3")):
        assert scores.distribution(run, "1", name).mean == pytest.approx(scores[run, name][0])
        user = scores.user(run, "1", name)
        assert isinstance(user, MarkovUserOnList)
        assert user.score == pytest.approx(scores[run, name][0])


# ---- AP


@given(st.lists(st.integers(0, 1), min_size=1, max_size=40), st.integers(0, 5))
@examples(100)
def test_the_uniform_model_is_ap(grades: list[int], more: int) -> None:
    uniform = amble.parse("MP(model='GL_OR_NA',loops='SL',rescale='R')")
    context = {"relevant": sum(grades) + more}
    assert uniform.value(grades, **context) == pytest.approx(amble.parse("AP").value(grades, **context), abs=1e-15)
    ours, theirs = uniform.distribution(grades, **context), amble.parse("AP").distribution(grades, **context)
    assert ours.distance(theirs) < 1e-12


def test_uniform_is_ap_on_trec_8(trec8: Lists) -> None:
    ap = amble.parse("AP").scores(trec8)
    uniform = amble.parse("MP(model='GL_OR_NA',loops='SL',rescale='R')").scores(trec8)
    assert trec8.n == 6450
    assert np.abs(uniform - ap).max() < 1e-12


def test_published_models_on_trec_8(trec8: Lists) -> None:
    """Some lists of 1000 documents, by a dense solve; and scores are what they should be for all of them."""
    gains = trec8.gains(amble.parse("MP").declaration.gain.make({"rel": 1}))
    for text in ("GL_AD_ID", "GL_AD_LID", "GL_OR_ID", "GL_OR_LID", "LO_AD_ID", "LO_AD_LID", "LO_OR_ID", "LO_OR_LID"):
        scores = amble.parse(f"MP(model='{text}')").scores(trec8)
        assert ((scores >= 0) & (scores <= 1)).all()
        assert ((scores > 0) == (gains.found > 0)).all()
        for i in (0, 3210):
            grades = np.zeros(int(trec8.length[i]), int)
            grades[gains.position[gains.offsets[i] : gains.offsets[i + 1]] - 1] = 1
            # neighbours of a thousand: a dense solve is off by 2e-9, depending on the machine's BLAS
            theirs = reference.score(grades.tolist(), text, eliminate=text.startswith("LO_AD"))
            assert scores[i] == pytest.approx(theirs, abs=1e-10)


@pytest.fixture(scope="module")
def trec8(runs: Path) -> Lists:
    files = sorted((runs / "trec8" / "runs").iterdir(), key=lambda file: f"{file.name}.xz")
    return Lists.of_rankings(amble.align(runs / "trec8" / "qrels.txt", amble.read_runs(*map(str, files))))


# ---- NCP


def test_ncp() -> None:
    # satisfied by the first relevant document twice as often as by the second: 4/7, 2/7, 1/7 of three
    ncp = amble.parse("NCP(g=0.5)")
    assert ncp.value([1, 0, 1], relevant=3) == pytest.approx(4 / 7 + 2 / 7 * 2 / 3)
    assert ncp.user([1, 0, 1], relevant=3).last == pytest.approx([4 / 7, 0, 2 / 7])
    assert ncp.distribution([1, 0, 1], relevant=3).probs == pytest.approx([1 / 7, 2 / 7, 4 / 7])
    assert amble.parse("NCP(g=0)").value([0, 0, 1, 1], relevant=2) == pytest.approx(1 / 3)  # only the first will do
    # five times of ten by the first, three by the second, two by the third; in proportion where there are fewer
    given_distribution = amble.parse("NCP(distribution='5,3,2')")
    assert given_distribution.value([1, 0, 1, 1], relevant=9) == pytest.approx(0.5 + 0.3 * 2 / 3 + 0.2 * 3 / 4)
    assert given_distribution.value([1, 0, 1], relevant=2) == pytest.approx(5 / 8 + 3 / 8 * 2 / 3)
    assert given_distribution.value([1, 1, 1, 1, 1]) == pytest.approx(1)
    assert given_distribution.user([1, 0, 1], relevant=9).beyond == pytest.approx(0.2)  # she wants the third
    assert given_distribution.value([0, 0]) == amble.parse("NCP(distribution='0')").value([1, 0]) == 0
    for text in ("NCP(g=1.1)", "NCP(distribution='')", "NCP(distribution='-2')", "NCP(distribution='a')"):
        with pytest.raises(amble.MeasureError, match="is not allowed"):
            amble.parse(text)
    simulated = amble.simulate(ncp, [1, 0, 1], users=20_000, seed=2, relevant=3)
    assert simulated.distance(ncp.distribution([1, 0, 1], relevant=3)) < simulated.band_at(1 - 1e-6)
    assert 0 < amble.parse("NCP(g=Beta(2,2))").value([1, 0, 1], relevant=3) < 1  # a population


@given(st.lists(st.integers(0, 1), min_size=1, max_size=30), st.integers(0, 5))
@examples(50)
def test_ncp_with_all_alike_is_ap(grades: list[int], more: int) -> None:
    context = {"relevant": sum(grades) + more}
    assert amble.parse("NCP").value(grades, **context) == amble.parse("AP").value(grades, **context)


# ---- the distribution, the user


def test_distribution() -> None:
    # row sums as above, precision 1 and 2/3
    distribution = amble.parse("MP").distribution([1, 0, 1, 0])
    assert distribution.values == pytest.approx([2 / 3, 1])
    assert distribution.probs == pytest.approx([16 / 29, 13 / 29])
    distribution = amble.parse("MP(rescale='R')").distribution([1, 0, 1, 0], relevant=4)
    assert distribution.values == pytest.approx([0, 2 / 3, 1])
    assert distribution.probs == pytest.approx([1 / 2, 8 / 29, 13 / 58])
    assert amble.parse("MP").distribution([0, 0]).values.tolist() == [0]


@given(st.lists(st.integers(0, 1), min_size=1, max_size=25), st.sampled_from(FAMILY), st.integers(0, 5))
@examples(150)
def test_mean_of_the_distribution_is_the_score(grades: list[int], m: amble.Measure, more: int) -> None:
    context = {"relevant": sum(grades) + more, "most": sum(grades) + more // 2}
    value = m.value(grades, **context)
    assert 0 <= value <= 1 + 1e-15
    assert m.distribution(grades, **context).mean == pytest.approx(value, abs=1e-12)
    user = m.user(grades, **context)
    assert isinstance(user, MarkovUserOnList)
    assert user.score == pytest.approx(value, abs=1e-12)
    assert float(user.weights @ user.precision) * user.scale == pytest.approx(value, abs=1e-12)


def test_distribution_of_a_user_of_some_steps() -> None:
    # as its user has it; the score is the mean
    m = amble.parse("MP(steps=10)")
    distribution = m.distribution([1, 0, 1, 1, 0, 0, 1])
    assert distribution.users is None
    assert (distribution.mean, distribution.sd) == pytest.approx((0.765209496490, 0.040361908627), abs=1e-12)
    assert m.value([1, 0, 1, 1, 0, 0, 1]) == pytest.approx(distribution.mean, abs=1e-14)
    assert m.distribution([0, 0]).values.tolist() == [0]
    rescaled = amble.parse("MP(steps=10,rescale='R')").distribution([1, 0, 1, 1, 0, 0, 1], relevant=8)
    assert rescaled.values == pytest.approx(distribution.values / 2)


def test_user() -> None:
    user = amble.parse("MP").user([1, 0, 1, 0])
    assert user.weights == pytest.approx([13 / 29, 0, 16 / 29, 0])
    for name in ("last", "expected_depth", "halting", "visits", "continuation"):
        with pytest.raises(amble.MeasureError, match="never stops"):
            getattr(user, name)
    assert amble.parse("MP@2").user([1, 0, 1, 0]).weights.tolist() == [1, 0]


def test_what_cannot_be_asked() -> None:
    with pytest.raises(amble.MeasureError, match="^MP: the user never stops, so there are no scores to simulate"):
        amble.simulate("MP", [1, 0, 1])
    rankings = amble.align({"1": {"a": 1}}, {"x": {"1": {"a": 1.0}}})
    with pytest.raises(amble.MeasureError, match="MP has no C/W/L form"):
        amble.cwl(rankings, "MP")
    tied = amble.align({"1": {"a": 1}}, {"x": {"1": {"a": 1.0, "b": 1.0}}}, ties="expected")
    with pytest.raises(amble.MeasureError, match="MP: no closed form for ties='expected'"):
        amble.evaluate(tied, "MP")
    with pytest.raises(
        amble.MeasureError, match="context far; expected relevant, ideal, max_grade, topic, costs, most"
    ):
        amble.parse("MP").value([1], far=2)
    with pytest.raises(amble.MeasureError, match="context most; expected relevant, ideal, max_grade, topic, costs$"):
        amble.parse("AP").value([1], most=2)
    with pytest.raises(amble.MeasureError, match="most=-1: expected how many relevant documents"):
        amble.parse("MP").value([1], most=-1)


def test_interval() -> None:
    # unjudged at rank 2: not relevant, weights 1/2, 0, 1/2; or relevant, 5/16, 6/16, 5/16, and precision 1
    low, high = amble.parse("MP").interval([1, np.nan, 1])
    assert (low, high) == pytest.approx((5 / 6, 1))


# ---- names and parameters


@pytest.mark.parametrize("m", FAMILY, ids=str)
def test_names(m: amble.Measure) -> None:
    assert amble.parse(str(m)) == m
    assert amble.parse(str(m)).values == m.values


def test_family() -> None:
    assert len(FAMILY) == len({str(m) for m in FAMILY}) == 360
    assert len({story_of(m) for m in FAMILY}) == 360
    assert str(amble.parse("MP(model='GL_AD_ID',loops='NL',counts='NA',rescale='NA')")) == "MP"
    assert story_of(amble.parse("AP")) == REGISTRY["AP"].story


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("MP(model='GL_AD')", "MP: model='GL_AD' is not allowed, expected one of 'GL_AD_NA', "),
        ("MP(loops='XL')", "MP: loops='XL' is not allowed, expected one of 'NL', 'SL'"),
        ("MP(counts=3)", "MP: counts=3 is not allowed, expected one of 'NA', 'FRBN'"),
        ("MP(rescale='r')", "MP: rescale='r' is not allowed, expected one of 'NA', 'R', 'RR'"),
        ("MP(steps=0)", "MP: steps=0 is not allowed, expected a whole number of at least 1"),
        ("MP(start='end')", "MP: start='end' is not allowed, expected one of 'first', 'uniform'"),
        ("MP(rates='1,0')", "MP: rates='1,0' is not allowed, expected numbers above 0"),
        ("MP(rates='')", "MP: rates='' is not allowed, expected numbers above 0"),
        ("MP(rates=2)", "MP: rates=2 is not allowed, expected numbers above 0"),
        ("MP(rates='no/such/file')", "no/such/file: no such file"),
        ("MP(rescal='R')", "did you mean rescale"),
        ("MP@0", "MP@0 is not allowed"),
    ],
)
def test_wrong_parameters(text: str, message: str) -> None:
    with pytest.raises(amble.MeasureError, match=message):
        amble.parse(text)


def test_rates_from_a_file(write: Write) -> None:
    path = write("rates.txt", "# by rank\n2\n\n4.0\n")
    m = amble.parse(f"MP(model='GL_OR_NA',rates='{path}')")
    assert str(m) == f"MP(model='GL_OR_NA',rates='{path}')"
    # uniform; times 1/2, 1/4, 1/4; precision 1, 1, 3/4
    assert m.value([1, 1, 0, 1]) == pytest.approx(1 / 2 + 1 / 4 + 1 / 4 * 3 / 4)
    assert m.value([1, 1, 0, 1]) == amble.parse("MP(model='GL_OR_NA',rates='2,4')").value([1, 1, 0, 1])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "empty, expected lines: rate"),
        ("1\n0\n", ":2: rate 0, expected a number above 0"),
        ("1\nfast\n", ":2: rate 'fast' is not a decimal number"),
        ("1 2\n", ":1: found 2 columns, expected 1: rate"),
    ],
)
def test_wrong_files_of_rates(content: str, message: str, write: Write) -> None:
    with pytest.raises(amble.MeasureError, match=message):
        amble.parse(f"MP(rates='{write('rates.txt', content)}')")


# ---- measures of one's own


def test_a_wanderer_of_ones_own() -> None:
    before = dict(REGISTRY)
    try:

        @measure("Loyal", question="markov")
        def loyal(gain: np.ndarray) -> MarkovUser:  # type: ignore[type-arg]
            """Goes to any document, to a relevant one twice as often."""
            return MarkovUser(weights=lambda i, j: 1.0 + gain[j.astype(int) - 1])

        @measure("Steady", question="markov")
        def steady() -> MarkovUser:
            """Is at each relevant document with a probability that falls with the rank."""
            return MarkovUser(distribution=lambda rank: 1.0 / rank, rescale="RR")

        @measure("Mistaken", question="markov")
        def mistaken() -> Forward:
            """Is no wanderer."""
            return Forward(continuation=0.5)

        # 1 0 1: weights 0 1 2 / 2 0 2 / 2 1 0; by rows 1/3 2/3, 1/2 1/2, 2/3 1/3: pi = 3/8, 1/4, 3/8
        m = amble.parse("Loyal")
        assert m.user([1, 0, 1]).weights == pytest.approx([1 / 2, 0, 1 / 2])
        assert m.value([1, 0, 1]) == pytest.approx(5 / 6)
        assert m.distribution([1, 0, 1]).mean == pytest.approx(5 / 6)
        scores = amble.evaluate(
            {"1": {"a": 1, "b": 1}, "2": {"a": 1}},
            {"x": {"1": {"a": 3.0, "z": 2.0, "b": 1.0}, "2": {"z": 1.0}}, "y": {"1": {"a": 1.0}, "2": {"a": 1.0}}},
            ["Loyal", "Steady", "Loyal@2"],
        )
        assert scores["x", "Loyal"].tolist() == pytest.approx([5 / 6, 0])
        assert scores["x", "Steady"].tolist() == pytest.approx([3 / 4 + 1 / 4 * 2 / 3, 0])
        assert scores["y", "Steady"].tolist() == pytest.approx([1 / 2, 1])
        assert scores["x", "Loyal@2"].tolist() == [1, 0]
        with pytest.raises(
            amble.MeasureError, match="Mistaken: the question is 'markov', so the user must be a MarkovUser"
        ):
            amble.parse("Mistaken").value([1])
        with pytest.raises(amble.MeasureError, match="Mistaken"):
            amble.parse("Mistaken").distribution([1])
    finally:
        REGISTRY.clear()
        REGISTRY.update(before)


# ---- purity


def test_order_does_not_matter() -> None:
    qrels = {"1": {"a": 1, "b": 1, "c": 0, "d": 1}}
    runs = {"x": {"1": {"a": 4.0, "c": 3.0, "b": 2.0, "d": 1.0}}}
    rankings = amble.align(qrels, runs)
    texts = [str(m) for m in FAMILY]
    one = amble.evaluate(rankings, texts).values
    other = amble.evaluate(rankings, texts[::-1]).values[..., ::-1]
    np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(one, amble.evaluate(rankings, texts).values)
    for i, text in enumerate(texts[::17]):
        np.testing.assert_array_equal(amble.evaluate(rankings, text).values[..., 0], one[..., 17 * i])


# ---- the command line


def test_amble_user(amble_cli: Cli, tmp_path: Path) -> None:
    done = amble_cli("user", "MP(model='GL_AD_ID')", "--gains", "1,0,1,0", "--format", "tsv")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "measure\trank\trelevant\teverywhere\tW\tprecision\tresidual",
        "MP(model='GL_AD_ID')\t1\tyes\t0.2241\t0.4483\t1.0000\t0.5517",
        "MP(model='GL_AD_ID')\t2\tno\t0.2759\t0.0000\t0.5000\t0.5517",
        "MP(model='GL_AD_ID')\t3\tyes\t0.2759\t0.5517\t0.6667\t0.0000",
        "MP(model='GL_AD_ID')\t4\tno\t0.2241\t0.0000\t0.5000\t0.0000",
    ]
    shown = amble_cli("user", "MP", "MP(model='LO_OR_ID')", "--gains", "1,0,-", "--plot", str(tmp_path / "u.svg"))
    assert shown.returncode == 0
    assert "MP(model='LO_OR_ID'): never stops, score 1.0000 (between " in shown.stdout
    assert (tmp_path / "u.svg").read_text(encoding="utf-8").startswith("<svg")
    for typed in ("MP", "MP(model='GL_AD_ID')", "MP( steps=10 )"):  # shown as typed
        plain = amble_cli("user", typed, "--gains", "1,0,1")
        assert (plain.returncode, plain.stderr) == (0, "")
        assert plain.stdout.splitlines()[-1].startswith(f"{typed}: ")
    mixed = amble_cli("user", "MP", "RBP")
    assert (mixed.returncode, mixed.stderr.count("\n")) == (2, 1)
    assert mixed.stderr.startswith("amble: RBP: users who stop at a rank are shown apart")
    few = amble_cli("user", "MP(steps=10)", "--gains", "1,0,1,1,0,0,1")
    assert few.stdout.splitlines()[-1].startswith(
        "MP(steps=10): stops after 10 looks, at any rank, score 0.7652; over users: mean 0.7652, sd 0.0404, "
    )


def test_charts_are_apart() -> None:
    from amble.reporting.charts.chart import user_spec

    users = {"MP": amble.parse("MP").user([1, 0, 1]), "P": amble.parse("P@2").user([1, 0, 1])}
    with pytest.raises(amble.AmbleError, match="draw them apart"):
        user_spec(users, 3)


def test_amble_list(amble_cli: Cli) -> None:
    full = amble_cli("list", "MP(model='LO_OR_ID')").stdout
    assert "\n  this one     She moves over the relevant documents of the list, from each to one of its" in full
    assert "this one" not in amble_cli("list", "AP").stdout
    lines = amble_cli("list", "MP", "--variants").stdout.splitlines()
    assert len(lines) == 720
    assert lines[:2] == ["MP(model='GL_AD_NA')", f"  {story_of(FAMILY[0])}"]
    told = json.loads(amble_cli("list", "MP", "--variants", "--format", "json").stdout)
    assert [one["measure"] for one in told] == [str(m) for m in FAMILY]
    assert amble_cli("list", "MP", "--variants", "--format", "markdown").stdout.count("\n| `MP") == 360
    none = amble_cli("list", "AP", "--variants")
    assert (none.returncode, none.stderr) == (2, "amble: --variants: none of these has words to choose from; MP has\n")
    assert "{M}arkov Chains" in amble_cli("list", "MP", "--bib").stdout


def test_amble_eval(amble_cli: Cli, write: Write) -> None:
    qrels = write("qrels.txt", "1 0 a 1\n1 0 b 0\n1 0 c 1\n")
    run = write("my.run", "1 Q0 a 1 3 my\n1 Q0 b 2 2 my\n1 Q0 c 3 1 my\n")
    done = amble_cli("eval", qrels, run, "-m", "MP", "MP(steps=1)", "NCP(g=0.5)", "--format", "tsv", "--quiet")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[1:] == [
        "my\tall\tMP\t0.8333",
        "my\tall\tMP(steps=1)\t1.0000",
        "my\tall\tNCP(g=0.5)\t0.8889",  # 2/3 + 1/3 x 2/3
    ]
    wrong = amble_cli("eval", qrels, run, "-m", "MP(rates='none.txt')")
    assert (wrong.returncode, wrong.stderr) == (2, "amble: none.txt: no such file\n")
    residual = amble_cli("eval", qrels, run, "-m", "MP", "--residual", "--format", "tsv", "--quiet")
    assert residual.stdout.splitlines()[1] == "my\tall\tMP\t0.8333\t0.0000\tno"
