"""Scores: labels, means, what is left out, and their ways into other programs."""

from __future__ import annotations

import math
import subprocess
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

import amble
from amble.io.trec import Run
from amble.measures import ListMeasure
from amble.users import Question

Write = Callable[[str, str], str]

pytestmark = pytest.mark.twin

QRELS = {"401": {"a": 1, "b": 0}, "402": {"c": 2, "d": 1}, "403": {"e": 0}}
RUNS = {
    "x": {"401": {"a": 2.0, "b": 1.0}, "402": {"d": 2.0, "z": 1.5, "c": 1.0}},
    "y": {"401": {"b": 2.0, "a": 1.0}, "402": {"z": 3.0}, "403": {"e": 1.0}},
}


def test_scores_by_hand() -> None:
    scores = amble.evaluate(QRELS, RUNS, ["AP", "P@2", "NumRel"])
    assert scores.runs == ("x", "y")
    assert scores.topics == ("401", "402", "403")
    assert scores.measures == ("AP", "P@2", "NumRel")
    # x: 401 1; 402 (1/1 + 2/3) / 2; 403 nothing relevant, not answered
    assert scores["x", "AP"].tolist() == pytest.approx([1, 5 / 6, 0])
    assert scores["y", "AP"].tolist() == pytest.approx([1 / 2, 0, 0])
    assert scores["y", "P@2"].tolist() == [0.5, 0, 0]
    assert scores.means()[:, 0].tolist() == pytest.approx([(1 + 5 / 6) / 3, 1 / 6])
    assert scores.means()[:, 2].tolist() == [3, 3]  # a count is summed


def test_missing_and_undefined_topics() -> None:
    skipped = amble.evaluate(QRELS, RUNS, "AP NumQ", missing="skip")
    assert math.isnan(skipped["x", "AP"][2])
    assert skipped.means()[0, 0] == pytest.approx((1 + 5 / 6) / 2)
    assert skipped.means()[:, 1].tolist() == [2, 3]
    undefined = amble.evaluate(QRELS, RUNS, "AP", undefined="skip")
    assert math.isnan(undefined["y", "AP"][2])
    assert undefined.means()[1, 0] == pytest.approx(1 / 4)
    assert undefined.rankings.audit.no_relevant == ("403",)


def test_geometric_mean() -> None:
    scores = amble.evaluate(QRELS, RUNS, ["GMAP"])
    # y: AP 1/2, 0, 0; zeros count as 0.00001
    assert scores.means()[1, 0] == pytest.approx((0.5 * 1e-5 * 1e-5) ** (1 / 3))


def test_intervals() -> None:
    # x: AP 1, 5/6, 0: sd of the three, times t(2 degrees, .975) = 4.30265, over sqrt(3)
    scores = amble.evaluate(QRELS, RUNS, "AP")
    sd = np.std([1, 5 / 6, 0], ddof=1)
    assert scores.interval()[0, 0] == pytest.approx(4.302653 * sd / math.sqrt(3), rel=1e-6)
    assert "±" in scores.mean(intervals=True).columns


def test_tables() -> None:
    scores = amble.evaluate(QRELS, RUNS, ["AP", "NumRel"])
    assert scores.mean().rows[0] == ("x", pytest.approx(0.611111, abs=1e-6), 3)
    assert (0, 1) in scores.mean().best
    long = scores.table(topics=True)
    assert long.columns == ("run", "topic", "measure", "value")
    assert long.rows[-1] == ("y", "all", "NumRel", 3)
    assert scores.table(topics=True, wide=True).rows[0] == ("x", "401", 1.0, 1)
    assert scores.tsv(topics=True) == long.tsv()


def test_other_programs() -> None:
    scores = amble.evaluate(QRELS, RUNS, ["AP", "P@2"])
    frame = scores.to_pandas()
    assert list(frame.columns) == ["run", "topic", "measure", "value"]
    assert (
        frame[(frame.run == "x") & (frame.topic == "402") & (frame.measure == "AP")].value.item()
        == scores["x", "AP"][1]
    )
    assert scores.to_polars().shape == (12, 4)
    assert scores.to_dict()["y"]["401"] == {"AP": 0.5, "P@2": 0.5}


def test_ways_to_call() -> None:
    rankings = amble.align(QRELS, RUNS)
    scores = amble.evaluate(rankings, "AP, nDCG@10 AP")
    assert scores.measures == ("AP", "nDCG@10")  # once each
    assert amble.evaluate(rankings, amble.parse("AP")).measures == ("AP",)
    with pytest.raises(amble.AlignError, match="depth: options of align"):
        amble.evaluate(rankings, "AP", depth=3)
    with pytest.raises(amble.AlignError, match="expected evaluate"):
        amble.evaluate(rankings)
    with pytest.raises(amble.MeasureError, match="no measures given"):
        amble.evaluate(rankings, [])
    with pytest.raises(amble.AlignError, match="undefined='no'"):
        amble.evaluate(rankings, "AP", undefined="no")
    with pytest.raises(KeyError, match="P@5 was not evaluated; there are AP"):
        scores["x", "P@5"]
    with pytest.raises(KeyError):
        scores["nobody", "AP"]
    with pytest.raises(ValueError, match="read-only"):
        scores.values[0, 0, 0] = 1


def test_a_bad_measure_costs_no_reading() -> None:
    with pytest.raises(amble.MeasureError):
        amble.evaluate("no such file", "nor this", ["Nope"])


def test_curves() -> None:
    rankings = amble.align(QRELS, RUNS)
    full = amble.pr_curve(rankings, "x", "402")
    # relevant at ranks 1 and 3 of two: recall 1/2 at precision 1, recall 1 at 2/3
    assert full.rows == [(1, 0.5, 1.0, 1.0), (3, 1.0, pytest.approx(2 / 3), pytest.approx(2 / 3))]
    eleven = amble.pr_curve(rankings, "x")
    assert len(eleven) == 11
    expected = amble.evaluate(rankings, [f"IPrec@{k / 10}" for k in range(11)]).means()[0]
    assert eleven["precision"] == pytest.approx(expected.tolist())
    theirs = amble.evaluate(rankings, [f"iprec_at_recall_{k / 10:.2f}" for k in range(11)]).means()[0]
    assert amble.pr_curve(rankings, "x", rule="trec10")["precision"] == pytest.approx(theirs.tolist())
    with pytest.raises(amble.AlignError, match="levels=1"):
        amble.pr_curve(rankings, "x", levels=1)
    with pytest.raises(amble.MeasureError, match="rule='trec8' is not allowed, expected one of 'textbook', 'trec10'"):
        amble.pr_curve(rankings, "x", rule="trec8")
    with pytest.raises(amble.AlignError, match="rule='trec9': goes with levels of recall"):
        amble.pr_curve(rankings, "x", "402", rule="trec9")


def test_levels_of_a_curve_are_fractions() -> None:
    # seven levels: 5/6 as a double is above 5/6, but of six relevant documents five are enough, at rank 7: 5/7; the
    # sixth is at rank 12. By trec_eval 10's rule the same; trec_eval 9 cuts 5 + .9 to 5
    docs = [f"d{i:02}" for i in range(12)]
    qrels = {"1": {docs[i]: 1 for i in (0, 1, 2, 3, 6, 11)}}
    rankings = amble.align(qrels, {"x": {"1": {doc: -float(i) for i, doc in enumerate(docs)}}})
    assert Fraction(5, 6) < 5 / 6
    for rule in ("textbook", "trec10", "trec9"):
        curve = amble.pr_curve(rankings, "x", levels=7, rule=rule)
        assert curve["precision"] == [1, 1, 1, 1, 1, pytest.approx(5 / 7), 1 / 2]


def test_negative_grades_as_trec_eval_has_them() -> None:
    # -1: in the pool, no gain, not judged non-relevant: bpref passes it over
    qrels = {"1": {"a": -1, "b": 1, "c": 0}}
    run = {"r": {"1": {"a": 3.0, "b": 2.0, "c": 1.0}}}
    scores = amble.evaluate(qrels, run, ["bpref", "AP", "nDCG", "NumNonrelRet", "Unjudged@5", "Judged@5"])
    # Unjudged is trec_eval's: negative grades count as unjudged, divided by k; Judged is ir_measures': 3 of 3
    assert scores.values[0, 0].tolist() == pytest.approx([1.0, 0.5, 1 / math.log2(3), 1, 1 / 5, 1.0])


def test_what_rbp_could_gain_as_trec_eval_has_it() -> None:
    residual = amble.parse("RBPresid(p=0.5)")
    assert residual.value([1, 0]) == 0  # all are judged, also those that are not relevant
    assert residual.value([1, None]) == 0.5  # below the list 1/4, at the second rank (1 - 1/2) / 2


def test_r_precision_at_a_share_of_the_relevant() -> None:
    # .35 of three are 1.05: with .9 more, cut to a whole number, the first rank, and not the second
    measure = amble.parse("Rprec(mult=0.35)")
    assert [measure.value(grades, relevant=3) for grades in ([1, 0, 1], [0, 1, 1])] == [1, 0]


def test_real_grades_are_honoured() -> None:
    scores = amble.evaluate(
        {"1": {"a": 0.5, "b": 1.5}}, {"r": {"1": {"a": 2.0, "b": 1.0}}}, ["nDCG", "AP", "AP(rel=0.5)"]
    )
    dcg, ideal = 0.5 + 1.5 / math.log2(3), 1.5 + 0.5 / math.log2(3)
    assert scores.values[0, 0].tolist() == pytest.approx([dcg / ideal, 1 / 2, 1.0])


def test_condensed_lists() -> None:
    qrels = {"1": {"a": 0, "b": 1}}
    run = {"r": {"1": {"x": 4.0, "a": 3.0, "y": 2.0, "b": 1.0}}}
    scores = amble.evaluate(qrels, run, ["AP", "Judged@4", "NumRet"], unjudged="condense")
    # without x and y, b stands at rank 2; but Judged always knows
    assert scores.values[0, 0].tolist() == [1 / 2, 2 / 4, 2]
    # a, b and d of b, a, x, d are in the judgments, whatever their grades; condensed, b is taken out as x is
    qrels, run = {"1": {"a": 1, "b": -1, "c": 0, "d": 1}}, {"r": {"1": {"b": 4.0, "a": 3.0, "x": 2.0, "d": 1.0}}}
    for unjudged, share in (("zero", [3 / 4, 1]), ("condense", [2 / 4, 0])):
        found = amble.evaluate(qrels, run, ["Judged@9", "Judged@1"], unjudged=unjudged).values
        assert found.ravel().tolist() == share


def test_condensed_lists_leave_negative_grades_out() -> None:
    """A negative grade was in the pool and is not judged: trec_eval -J takes it out."""
    qrels = {"1": {"a": 1, "b": -1, "c": 0, "d": 1}, "2": {"a": 1}}
    run = {"r": {"1": {"b": 4.0, "a": 3.0, "x": 2.0, "d": 1.0}, "2": {"a": 1.0}}}
    scores = amble.evaluate(qrels, run, "AP NumRet infAP nDCG", unjudged="condense")
    # what is left of b, a, x, d is a, d: (1/1 + 2/2) / 2
    assert scores.values[0].tolist() == [[1.0, 2.0, pytest.approx(1.0, abs=1e-5), 1.0], [1.0, 1.0, 1.0, 1.0]]
    assert scores.rankings.grades("r", "1").tolist() == [1.0, 1.0]
    assert scores.rankings.rank.tolist() == [2, 4, 1]
    # in their places: a at 2, d at 4
    zero = amble.evaluate(qrels, run, "AP NumRet")
    assert zero.values[0, 0].tolist() == [(1 / 2 + 2 / 4) / 2, 4.0]


@pytest.mark.parametrize("name", ["ERR", "GRBP", "INST", "SDCG@3", "NERR8@3", "AP", "nDCG", "RR", "P@2"])
def test_distributions_and_users_are_those_of_the_scores(name: str) -> None:
    """Also where the largest grade is below 1: one rule for what a gain of 1 is."""
    from amble.measures import Lists
    from amble.measures.residuals import list_residuals

    for qrels in ({"1": {"a": 0.5, "b": 0.25, "c": 0}}, {"1": {"a": 3, "b": 1, "c": 0}}):
        scores = amble.evaluate(qrels, {"x": {"1": {"a": 1.0, "c": 2.0, "b": 0.5, "z": 0.1}}}, name)
        m, score = scores.parsed[0], scores.values.item()
        if m.declaration.question is Question.ORDER2:
            top = max(qrels["1"].values())
            binary = "rel" in m.values
            y = [float(g >= 1) if binary else g / top for g in (0, qrels["1"]["a"], qrels["1"]["b"])]
            user = scores.user("x", "1", name)
            assert float(user.weights[:3] @ y[: user.weights.size]) == pytest.approx(score, abs=1e-12)
        else:
            assert scores.distribution("x", "1", name).mean == pytest.approx(score, abs=1e-12)
        if name not in ("AP", "nDCG"):
            assert list_residuals(m, Lists.of_rankings(scores.rankings))[0] >= -1e-12


def test_large_grades() -> None:
    # (2^1100 - 1) / 2^1100 is 1 to the last digit, and must not overflow
    qrels, run = {"1": {"a": 1100, "b": 1099}}, {"r": {"1": {"b": 2.0, "a": 1.0}}}
    assert amble.evaluate(qrels, run, "ERR").values.item() == pytest.approx(0.5 + 0.5 * 0.5)
    with pytest.raises(amble.MeasureError, match="a grade of 1100 is too large to be an exponent"):
        amble.evaluate(qrels, run, "nDCG(gains='exp')")


def test_misuse_is_told_clearly() -> None:
    rankings = amble.align(QRELS, RUNS)
    with pytest.raises(amble.MeasureError, match="measures None"):
        amble.evaluate(rankings, None)
    with pytest.raises(KeyError, match="expected a run and a measure"):
        amble.evaluate(rankings, "AP")["x"]
    with pytest.raises(KeyError):
        rankings.grades("x", "999")
    for wrong in (None, "101", [[1, 0]], [math.inf], ["a"]):
        with pytest.raises(amble.MeasureError, match="expected"):
            amble.parse("AP").value(wrong)
    for context in (
        {"relevant": math.nan},
        {"relevant": 10**12},
        {"max_grade": math.nan},
        {"max_grade": "a"},
        {"top": 1},
    ):
        with pytest.raises(amble.MeasureError, match="expected"):
            amble.parse("ERR").value([1, 0], **context)
    with pytest.raises(amble.MeasureError, match="tied documents have no one rank"):
        amble.evaluate(QRELS, {"x": {"401": {"a": 1.0, "b": 1.0}}}, "AP", ties="expected").distribution(
            "x", "401", "AP"
        )
    with pytest.raises(amble.MeasureError, match="is more than 10,000,000"):
        amble.parse("P@100000000")
    with pytest.raises(amble.MeasureError, match="still reading after rank"):
        amble.parse("U(L=10000000)").user([1])


def test_a_topic_left_out_is_left_out_everywhere() -> None:
    scores = amble.evaluate(QRELS, RUNS, ["AP", "NumQ"], undefined="skip")
    assert scores.means()[:, 1].tolist() == [2, 2]


def _many_topics(order: list[str]) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, dict[str, float]]]]:
    """Judgments of 60 topics, given in some order, and two runs."""
    qrels, runs = {}, {"x": {}, "y": {}}
    for topic in order:
        rng = np.random.default_rng(int(topic))
        docs = [f"d{i}" for i in range(40)]
        qrels[topic] = {doc: int(g) for doc, g in zip(docs, rng.integers(-1, 3, 40), strict=True)}
        for run in runs.values():
            run[topic] = {doc: float(s) for doc, s in zip(docs, rng.permutation(40), strict=True)}
    return qrels, runs


def test_one_mean_everywhere() -> None:
    """A plain sum over topics in the byte order of their ids ("10" before "9"), divided by their number."""
    from amble.comparison.systems import scores_by_measure
    from amble.evaluation.run_distributions import means_of
    from amble.rankings.alignment import plain_mean

    topics = [str(t) for t in range(1, 61)]
    rng = np.random.default_rng(8)
    given = [topics, topics[::-1], [str(t) for t in rng.permutation(topics)]]
    names = ["AP", "nDCG@10", "ERR", "RBP(p=0.5)"]
    found = []
    for order in given:
        qrels, runs = _many_topics(order)
        scores = amble.evaluate(qrels, runs, [*names, "GMAP"])
        plain = np.zeros((2, 4))
        for topic in sorted(topics):  # digits: their order is that of their bytes
            plain += scores.values[:, scores.topics.index(topic), :4]
        assert scores.means()[:, :4].tolist() == (plain / 60).tolist()
        for j, name in enumerate(names):
            assert amble.compare(scores, name).mean.tolist() == scores.means()[:, j].tolist()
            mapping = {run: dict(zip(scores.topics, scores[run, name].tolist(), strict=True)) for run in scores.runs}
            assert amble.compare(mapping).mean.tolist() == scores.means()[:, j].tolist()
        assert plain_mean(scores_by_measure(scores))[:4].T.tolist() == (plain / 60).tolist()
        assert amble.metaevaluation.robustness._Scored(scores.rankings, scores.parsed, "zero").full.T.tolist() == (
            scores.means().tolist()
        )
        eu = amble.cwl(scores.rankings, "RBP(p=0.5)")["EU"]
        eu += means_of(Question.ORDER2, scores.rankings, amble.parse("RBP(p=0.5)")).tolist()
        assert eu == [*scores.means()[:, 3].tolist()] * 2
        curve = amble.pr_curve(scores.rankings, "x")["precision"]
        found.append((scores.means().tolist(), curve, amble.cwl(scores.rankings, "AP").rows))
    assert found[0] == found[1] == found[2]


# ---- what was typed


def test_measures_are_called_what_was_typed() -> None:
    qrels, run = {"1": {"a": 1, "b": 0}}, {"x": {"1": {"b": 2.0, "a": 1.0}}}
    typed = ["RBP(p=0.8)", "RBP", "AP", "AP(rel=1)", "nDCG( gains='linear' )@10", "Judged@10", "AP", "RBP(p=.8)"]
    scores = amble.evaluate(qrels, run, typed)
    # AP twice is one; the others are two names of a measure each
    labels = tuple(typed[:6] + typed[7:])
    assert scores.measures == labels
    assert [str(m) for m in scores.parsed][:4] == ["RBP", "RBP", "AP", "AP"]
    assert [m.label for m in scores.parsed] == list(labels)
    for table in (scores.mean(), scores.table(wide=True)):
        assert table.columns[-7:] == labels
    assert [row[2] for row in scores.table()] == list(labels)
    assert list(scores.to_dict()["x"]["1"]) == list(labels)
    assert [line.split("\t")[2] for line in scores.tsv().splitlines()[1:]] == list(labels)
    assert scores.to_pandas()["measure"].tolist() == list(labels)
    for name in (*labels, " RBP(p=0.8) ", amble.parse("RBP"), amble.parse("RBP(p=0.80)"), "AP(rel=1.0)"):
        j = scores.place(name)
        assert scores.parsed[j] == amble.parse(name)
        assert scores["x", name].tolist() == scores.values[0, :, j].tolist()
    assert scores.place("AP(rel=1)") == 3
    assert scores.place(amble.parse("AP(rel=1)")) == 3
    assert scores.place("AP(rel=1.0)") == 2  # nobody typed that: by its canonical name
    two = {name: {"1": run["x"]["1"], "2": {"a": x}} for name, x in (("x", 1.0), ("y", 2.0))}
    both = amble.evaluate(qrels | {"2": {"a": 1, "b": 0}}, two, typed)
    assert amble.compare(both, "RBP(p=.8)").measure == "RBP(p=.8)"
    assert amble.report(both).data["measures"][3]["name"] == "AP(rel=1)"
    with pytest.raises(KeyError, match=r"P@5 was not evaluated; there are RBP\(p=0.8\), RBP, AP"):
        scores["x", "P@5"]
    with pytest.raises(amble.MeasureError, match="P@5 was not evaluated"):
        scores.place("P@5")


def test_a_dictionary_without_a_topic_is_ranked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    rank = Run.rank
    monkeypatch.setattr(Run, "rank", lambda run, *given, **how: asked.append(run.label) or rank(run, *given, **how))
    scores = amble.evaluate({"1": {"a": 1}, "2": {"b": 1}}, {"2": {"c": 2.0, "b": 1.0}}, "RR")
    assert (scores.values.tolist(), asked) == ([[[0.0], [0.5]]], ["run"])


def test_an_error_of_a_measure_is_told_alike_of_one_dictionary_and_of_two() -> None:
    run = {"1": {"b": 2.0, "a": 1.0}}
    for runs in ({"x": run}, {"x": run, "y": run}):
        with pytest.raises(amble.MeasureError, match=r"^nDCG\(gains='exp'\): gains='exp': a grade of 600 is too large"):
            amble.evaluate({"1": {"a": 600, "b": 0}}, runs, ["AP", "nDCG(gains='exp')"])


def test_two_names_of_a_measure_are_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    qrels, run = {"1": {"a": 1, "b": 0}}, {"1": {"b": 2.0, "a": 1.0}}
    asked: list[str] = []
    once = ListMeasure._scores
    monkeypatch.setattr(ListMeasure, "_scores", lambda m, lists: asked.append(m.label) or once(m, lists))
    for runs in ({"x": run}, {"x": run, "y": run}):  # one dictionary has a way of its own
        found = amble.evaluate(qrels, runs, "RBP(p=0.8) AP RBP")
        assert found.values[-1, 0].tolist() == pytest.approx([0.16, 0.5, 0.16])  # .2 x .8
    assert asked == ["RBP(p=0.8)", "AP"] * 2


def test_labels() -> None:
    m = amble.parse(" RBP( p=0.8 )@10 ")
    assert (str(m), m.label) == ("RBP@10", "RBP( p=0.8 )@10")
    assert m == amble.parse("RBP@10")
    assert m.with_value("p", 0.5).label == "RBP(p=0.5)@10"  # another measure than the one typed
    assert amble.parse(m).label == m.label
    assert amble.parse("RBP(p=\n0.8,\trel=1)").label == "RBP(p= 0.8, rel=1)"  # one line, one cell


# ---- silent mistakes


REAL = {"1": {"a": 0.25, "b": 0.5, "c": 0.75}, "2": {"a": 0.1, "b": 1.0}}
WHOLE = {"1": {"a": 1, "b": 0, "c": 0}, "2": {"a": 0, "b": 2}}


def test_swapped_judgments_and_run_are_refused() -> None:
    """Most grades broken numbers; all scores whole, few different ones, with ties (b and c)."""
    pd = pytest.importorskip("pandas")

    def frame(data: dict[str, dict[str, float]], column: str) -> object:
        rows = [(topic, doc, x) for topic, docs in data.items() for doc, x in docs.items()]
        return pd.DataFrame(rows, columns=["qid", "docno", column])

    wrong = "expected the judgments first, then the runs"
    for qrels, run in ((REAL, WHOLE), (REAL, {"r": WHOLE}), (frame(REAL, "score"), frame(WHOLE, "score"))):
        with pytest.raises(amble.AlignError, match=wrong):
            amble.evaluate(qrels, run, "AP")
    with pytest.raises(amble.AlignError, match=wrong):
        amble.align(amble.read_qrels(REAL), [{"good": REAL}, {"bad": WHOLE}])


def test_nothing_else_is_taken_for_swapped(write) -> None:
    def fine(qrels: object, run: object) -> None:
        amble.evaluate(qrels, run, "AP")

    fine(WHOLE, REAL)
    by_rank = {t: {d: 1000.0 - i for i, d in enumerate(docs)} for t, docs in REAL.items()}
    fine(REAL, by_rank)  # real grades, and scores 1000 - rank: no ties
    fine(REAL, {"1": {"a": 1.5, "b": 0, "c": 0}})  # not all whole
    many = {"1": {f"d{i}": float(i % 11) for i in range(30)} | {"a": 1.0}}
    fine(REAL, many)  # eleven different scores
    fine({"1": {"a": 0.5, "b": 1, "c": 0, "d": 0.5}}, {"1": {"a": 1, "b": 0, "c": 0}})  # half of the grades are whole
    fine(WHOLE, WHOLE)
    text = "".join(f"{t} 0 {d} {g}\n" for t, docs in REAL.items() for d, g in docs.items())
    fine(write("q.txt", text), WHOLE)  # a file has the columns of judgments
    run = "".join(f"{t} Q0 {d} 1 {s} x\n" for t, docs in WHOLE.items() for d, s in docs.items())
    fine(REAL, write("x.run", run))


def test_a_run_of_another_collection(write) -> None:
    qrels = {"1": {"a": 1, "b": 0}, "2": {"c": 1}}
    strange = {"1": {"x1": 2.0, "x2": 1.0}, "2": {"x3": 1.0}}
    lines = "".join(f"{t} Q0 {d} 1 {s} strange\n" for t, docs in strange.items() for d, s in docs.items())
    why = "run strange: none of its documents is judged for any topic: found x1, x2, x3, expected such as a, b, c of"
    for run in ({"strange": strange}, write("strange.run", lines), {"good": {"1": {"a": 1.0}}, "strange": strange}):
        with pytest.warns(amble.UnjudgedWarning, match=why):
            scores = amble.evaluate(qrels, run, "AP")
        assert scores["strange", "AP"].tolist() == [0.0, 0.0]
    # found nothing, but of this collection: c is judged for the other topic; and one judged document is enough
    assert amble.evaluate(qrels, {"1": {"x1": 2.0, "c": 1.0}}, "AP").values.tolist() == [[[0.0], [0.0]]]
    amble.evaluate(qrels, {"1": {"x1": 2.0, "b": 1.0}}, "AP", depth=1)


def test_best_runs_first(amble_cli: Callable[..., subprocess.CompletedProcess[str]], write: Write) -> None:
    qrels = {"1": {"a": 1, "b": 0}}
    runs = {
        "low": {"1": {"x": 3.0, "b": 2.0, "a": 1.0}},
        "high": {"1": {"a": 2.0}},
        "mid": {"1": {"b": 2.0, "a": 1.0}},
        "same": {"1": {"b": 2.0, "a": 1.0}},
    }
    scores = amble.evaluate(qrels, runs, ["RR", "ESL"])  # 1/3, 1, 1/2, 1/2; and 2, 0, 1, 1 others before
    first = ["high", "mid", "same", "low"]
    assert scores.mean(sort="RR")["run"] == first
    assert scores.mean(sort="ESL")["run"] == first  # less is better
    assert scores.mean(sort="RR")["RR"] == [1.0, 0.5, 0.5, pytest.approx(1 / 3)]
    assert scores.mean(sort="RR").best == {(0, 1), (0, 2)}
    assert scores.mean()["run"] == list(runs)
    files = [
        write("q.txt", "1 0 a 1\n"),
        write("x.run", "1 Q0 b 1 2 x\n1 Q0 a 2 1 x\n"),
        write("y.run", "1 Q0 a 1 1 y\n"),
    ]
    shown = amble_cli("eval", *files, "-m", "RR", "--sort", "RR", "--quiet")
    assert shown.stdout.split() == ["run", "RR", "y", "1.0000", "x", "0.5000"]
    for words in (("--sort", "AP"), ("--sort", "RR", "-q"), ("--sort", "RR", "--format", "tsv")):
        done = amble_cli("eval", *files, "-m", "RR", *words)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
