"""Exposure: golden values, arithmetic by hand, brute force over all ideal orders, identities, groups, the command."""

from __future__ import annotations

import csv
import io
import json
import math
import pickle
from collections.abc import Sequence
from itertools import pairwise, permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drawing import examples
from hypothesis import given
from hypothesis import strategies as st

import amble
from amble.cli.main import main
from amble.errors import AlignError, AmbleError, MeasureError, ReadError
from amble.evaluation.document_groups import read_document_groups, read_targets
from amble.reporting.charts.plotting import spec_of

WALK = "PH(p=0.5,q=0.25)"
# ranks 1 to 5 of one list, of which 1 and 3 are relevant; groups A, B, A, B, B
QRELS = {"1": {"a": 1, "b": 0, "c": 1, "d": 0, "e": 0}}
RUN = {"1": dict(zip("abcde", (5.0, 4.0, 3.0, 2.0, 1.0), strict=True))}
GROUPS = {"a": "A", "b": "B", "c": "A", "d": "B", "e": "B"}


def _score(found: amble.Exposure, name: str, run: str | None = None) -> float:
    return float(found.scores[run or found.runs[0], name][0])


# ---- by hand


def test_walk_by_hand() -> None:
    found = amble.exposure(QRELS, {"x": RUN}, WALK, GROUPS)
    # p .5, q .25, first forward: V = 41/32, 9/8, 21/32, 3/8, 3/16
    assert found["x", "1"] == pytest.approx({"a": 41 / 32, "b": 9 / 8, "c": 21 / 32, "d": 3 / 8, "e": 3 / 16})
    # A has 62/32, B 54/32 of 116/32; AWRF = 1 - JSD((62, 54)/116, (1, 1)/2)
    assert found.exposures[0, 0] == pytest.approx([62 / 32, 54 / 32], abs=1e-12)
    assert found.shares[0, 0] == pytest.approx([62 / 116, 54 / 116], abs=1e-12)
    assert _score(found, "AWRF") == pytest.approx(0.999404643182, abs=1e-12)
    assert _score(amble.exposure(QRELS, {"x": RUN}, WALK, GROUPS, base=2), "AWRF") == pytest.approx(
        0.999141081672, abs=1e-12
    )
    # in 1/32: 41² + 36² + 21² + 12² + 6² = 3598; a and c should have (41 + 36)/2, the others (21 + 12 + 6)/3 = 13:
    # 77/2 (41 + 21) + 13 (36 + 12 + 6) = 3089; (5/2)² + 23² + (35/2)² + 1² + 7² = 891.5; each over 1024
    assert _score(found, "EED") == pytest.approx(3.513671875, abs=1e-12)
    assert _score(found, "EER") == pytest.approx(3.0166015625, abs=1e-12)
    assert _score(found, "EEL") == pytest.approx(0.87060546875, abs=1e-12)
    # sorted 6, 12, 21, 36, 41: (-4 x 6 - 2 x 12 + 2 x 36 + 4 x 41) / (5 x 116)
    assert _score(found, "Gini") == pytest.approx(188 / 580, abs=1e-12)


def test_target_by_relevance_and_given() -> None:
    # both relevant documents are in A: x = (62, 54)/116, t = (1, 0): the middle is (178, 54)/232
    found = amble.exposure(QRELS, {"x": RUN}, WALK, GROUPS, target="relevance")
    x, m = (62 / 116, 54 / 116), (178 / 232, 54 / 232)
    jsd = (x[0] * math.log(x[0] / m[0]) + x[1] * math.log(x[1] / m[1]) + math.log(1 / m[0])) / 2
    assert found.targets[0, 0].tolist() == [1.0, 0.0]
    assert _score(found, "AWRF") == pytest.approx(1 - jsd, abs=1e-12)
    # as it is: no divergence, whatever the scale; on each topic, too
    for target in ({"A": 31, "B": 27}, {"1": {"B": 54, "A": 62}}):
        found = amble.exposure(QRELS, {"x": RUN}, WALK, GROUPS, target=target)
        assert found.targets[0, 0] == pytest.approx(x, abs=1e-15)
        assert _score(found, "AWRF") == pytest.approx(1.0, abs=1e-15)
    # a group that has no document may have a share: x = (1, 0), t = (0, 1) have nothing in common
    found = amble.exposure(QRELS, {"x": RUN}, "P@1", {"a": "A"}, target={"A": 0, "none": 2}, base=2)
    assert found.groups == ("A", "none")
    assert _score(found, "AWRF") == pytest.approx(0.0, abs=1e-15)
    assert _score(amble.exposure(QRELS, {"x": RUN}, "RBP", dict.fromkeys("abcde", "A")), "AWRF") == 1.0


def test_relevance_is_graded() -> None:
    qrels, run = {"1": {"a": 3, "b": 1, "c": 0, "d": -1}}, {"1": {"c": 2.0, "a": 1.0}}
    found = amble.exposure(qrels, {"x": run}, "RBP", {"a": "A", "b": "B", "d": "A"}, target="relevance")
    assert found.targets[0, 0].tolist() == [0.75, 0.25]
    # the ideal list of two has a, then b. RBP: c has 1 and should have 0, a 1/2 and 1, b 0 and 1/2. P@2: c 1 and 0,
    # a 1 and 1, b 0 and 1. Two a of grade 3 share both ranks
    for measure, loss in (("RBP(p=0.5)", 1.5), ("P@2", 2.0)):
        assert _score(amble.exposure(qrels, {"x": run}, measure), "EEL") == pytest.approx(loss, abs=1e-12)
    # with d as good as a, both should have (1 + 1/2)/2, and b nothing: 1² + (1/2 - 3/4)² + (3/4)²
    found = amble.exposure({"1": {"a": 3, "b": 1, "c": 0, "d": 3}}, {"x": run}, "RBP(p=0.5)")
    assert _score(found, "EEL") == pytest.approx(1 + 1 / 16 + 9 / 16, abs=1e-12)


def test_documents_beyond_the_ideal_list() -> None:
    # four relevant documents, a list of one: each should have 1/4; EEL (3/4)² + 3 (1/4)² = 12/16
    found = amble.exposure({"1": dict.fromkeys("abcd", 1)}, {"x": {"1": {"a": 1.0}}}, "RBP(p=0.5)")
    assert _score(found, "EEL") == pytest.approx(0.75, abs=1e-15)
    assert _score(found, "Gini") == 0.75  # one of four has it all
    # nothing relevant: all that are known, also unjudged ones, should have the same, (1 + 1/2)/3
    found = amble.exposure({"1": {"a": 0, "b": 0}}, {"x": {"1": {"a": 2.0, "z": 1.0}}}, "RBP(p=0.5)")
    assert _score(found, "EEL") == pytest.approx(0.5**2 + 0 + 0.5**2, abs=1e-15)


# ---- against lines written apart


def _visits(measure: str, gains: list[float]) -> list[float]:
    """The expected visits of some users on a list, rank by rank, or from a chain."""
    n = len(gains)
    if measure == "RBP(p=0.5)":
        return [0.5**i for i in range(n)]
    if measure == "P@2":
        return [float(i < 2) for i in range(n)]
    if measure == WALK:
        step = np.zeros((n, n))
        for i in range(n):
            if i + 1 < n:
                step[i, i + 1] = 0.5 if i else 0.75
            if i:
                step[i, i - 1] = 0.25
        return [float(x) for x in np.linalg.inv(np.eye(n) - step)[0]]
    out, reach, seen = [], 1.0, 0.0  # INST(T=2)
    for i, gain in enumerate(gains, 1):
        out.append(reach)
        seen += gain
        reach *= ((i + 2 + (2 - seen) - 1) / (i + 2 + (2 - seen))) ** 2
    return out


def _apart(
    measure: str, judged: dict[str, float], lists: list[list[str]], groups: dict[str, dict[str, float]]
) -> dict[str, float]:
    """All scores of a system by explicit loops, the ideal system over all orders of all documents."""
    known = sorted({*judged, *(doc for own in lists for doc in own)})

    def grade(doc: str) -> float:
        return max(0.0, judged.get(doc, 0.0))

    def visits(docs: Sequence[str]) -> list[float]:
        return _visits(measure, [grade(doc) / max(1.0, *judged.values()) for doc in docs])

    own, ideal = dict.fromkeys(known, 0.0), dict.fromkeys(known, 0.0)
    best = [o for o in permutations(known) if all(grade(a) >= grade(b) for a, b in pairwise(o))]
    for docs in lists:
        for doc, v in zip(docs, visits(docs), strict=True):
            own[doc] += v / len(lists)
        for order in best:
            cut = order[: len(docs)]
            for doc, v in zip(cut, visits(cut), strict=True):
                ideal[doc] += v / len(best) / len(lists)
    pairs = sum(abs(own[a] - own[b]) for a in known for b in known)
    out = {
        "EED": sum(own[d] ** 2 for d in known),
        "EER": sum(own[d] * ideal[d] for d in known),
        "EEL": sum((own[d] - ideal[d]) ** 2 for d in known),
        "Gini": pairs / (2 * len(known) * sum(own.values())),
    }
    x = {g: sum(own[d] * groups.get(d, {}).get(g, 0.0) for d in known) for g in "AB"}
    t = {g: sum(grade(d) * groups.get(d, {}).get(g, 0.0) for d in known) for g in "AB"}
    out["AWRF"] = math.nan
    if sum(x.values()) > 0 and sum(t.values()) > 0:
        p, q = ([of[g] / sum(of.values()) for g in "AB"] for of in (x, t))
        m = [(a + b) / 2 for a, b in zip(p, q, strict=True)]
        jsd = sum(a * math.log(a / c) for of in (p, q) for a, c in zip(of, m, strict=True) if a > 0) / 2
        out["AWRF"] = 1 - jsd
    return out


_SHARE = st.sampled_from([{"A": 1.0}, {"B": 1.0}, {"A": 0.25, "B": 0.75}, {"A": 0.5}])
_LISTS = st.lists(st.lists(st.sampled_from("abcde"), min_size=1, max_size=4, unique=True), min_size=1, max_size=3)
_MEASURES = st.sampled_from(["RBP(p=0.5)", "P@2", WALK, "INST(T=2)"])


@given(
    st.dictionaries(st.sampled_from("abcd"), st.sampled_from([-1.0, 0.0, 1.0, 2.0]), min_size=1),
    _LISTS,
    st.dictionaries(st.sampled_from("bcde"), _SHARE),
    _MEASURES,
)
@examples(200)
@pytest.mark.filterwarnings("ignore::amble.UnjudgedWarning")
def test_brute_force(judged: dict[str, float], lists: list[list[str]], groups: Any, measure: str) -> None:
    judged, groups = judged | {"a": judged.get("a", 0.0)}, {"a": {"A": 0.5, "B": 0.5}} | groups
    runs = {f"s{i}": {"1": {doc: float(-r) for r, doc in enumerate(docs)}} for i, docs in enumerate(lists)}
    how: Any = {"target": "relevance", "samples": {"all": "s*"}}
    found = amble.exposure({"1": judged}, runs, measure, groups, **how)
    apart = _apart(measure, judged, lists, groups)
    backwards = [dict(reversed(list(of.items()))) for of in (judged, runs, groups)]
    again = amble.exposure({"1": backwards[0]}, backwards[1], measure, backwards[2], **how)
    for one in (found, again):
        assert {name: _score(one, name) for name in one.scores.measures} == pytest.approx(apart, abs=1e-12, nan_ok=True)
    assert found.to_dict()["all"]["1"] == pytest.approx(again["all", "1"], abs=1e-15)


# ---- identities


@pytest.mark.parametrize("measure", ["RBP(p=0.5)", WALK, "DCG@3", "INSQ"])
def test_loss_is_disparity_minus_relevance(measure: str) -> None:
    # EEL - EED + 2 EER is the sum of squares of the target, the same for all orders of the same documents
    runs = {"".join(o): {"1": {doc: float(-i) for i, doc in enumerate(o)}} for o in permutations("abcd")}
    found = amble.exposure({"1": {"a": 2, "b": 1, "c": 0}}, runs, measure)
    eed, eer, eel = (found.scores.values[:, 0, found.scores.place(name)] for name in ("EED", "EER", "EEL"))
    assert np.ptp(eel - eed + 2 * eer) < 1e-12
    assert eel.min() == pytest.approx(float(eel[found.runs.index("abcd")]), abs=1e-12)
    # a system that draws one of all orders exposes all documents alike
    drawn = amble.exposure({"1": {"a": 2, "b": 1, "c": 0}}, runs, measure, samples={"any": "*"})
    assert drawn.runs == ("any",)
    assert _score(drawn, "Gini") == pytest.approx(0.0, abs=1e-12)
    # and with nothing relevant that is the target
    assert _score(amble.exposure({"1": {"a": 0}}, runs, measure, samples={"any": "*"}), "EEL") < 1e-24


def test_best_orders_drawn_lose_nothing() -> None:
    runs = {"".join(o): {"1": {doc: float(-i) for i, doc in enumerate([*o, "d"])}} for o in permutations("abc")}
    found = amble.exposure({"1": {"a": 1, "b": 1, "c": 1, "d": 0}}, runs, "RBP", samples={"drawn": "*"})
    assert _score(found, "EEL") < 1e-24
    # each alone has the variance of .8^(i - 1) over three ranks, times 3
    assert _score(amble.exposure({"1": {"a": 1, "b": 1, "c": 1, "d": 0}}, runs, "RBP"), "EEL") == pytest.approx(
        3 * np.var([1, 0.8, 0.64]), abs=1e-12
    )


def test_who_reads_k_documents_counts_them() -> None:
    runs = {"x": {"1": {"a": 3.0, "b": 2.0, "c": 1.0}}, "y": {"1": {"b": 3.0, "d": 2.0, "a": 1.0}}}
    found = amble.exposure({"1": {"a": 1}}, runs, "P@2", {"a": "A", "b": "B", "c": "B", "d": "B"}, samples={"z": "*"})
    assert found["z", "1"] == {"b": 1.0, "a": 0.5, "d": 0.5, "c": 0.0}
    assert found.exposures[0, 0].tolist() == [0.5, 1.5]
    assert _score(amble.exposure({"1": {"a": 1, "b": 0}}, {"x": {"1": {"a": 2.0, "b": 1.0}}}, "P@2"), "Gini") == 0.0


# ---- users


def test_kinds_of_users() -> None:
    def of(measure: Any) -> list[float]:
        return list(amble.exposure(QRELS, {"x": RUN}, measure).to_dict()["x"]["1"].values())

    grades = [1, 0, 1, 0, 0]
    for name in ("INST", "AP", "RR", "ERR", "DCG@3", "TBG", "EBU", "RBP@2", "SDCG@2"):
        visits = amble.parse(name).user(grades, ideal=grades).visits[:5]
        assert of(name) == pytest.approx([*visits, *[0.0] * (5 - visits.size)], abs=1e-15), name
    mean = [(a + b) / 2 for a, b in zip(of("RBP(p=0.5)"), of("RBP(p=0.9)"), strict=True)]
    assert of("Mixture(RBP(p=0.5):0.5,RBP(p=0.9):0.5)") == pytest.approx(mean, abs=1e-15)
    # E[p^i] of Beta(8, 2): (8 ... (7 + i)) / (10 ... (9 + i))
    assert of("RBP(p=Beta(8,2))") == pytest.approx([1, 0.8, 72 / 110, 720 / 1320, 7920 / 17160], abs=1e-10)
    # Markov users never stop: shares of all visits, to documents that are not relevant, too
    user = amble.parse("MP(model='GL_AD_ID')").user(grades)
    assert of("MP(model='GL_AD_ID')") == pytest.approx(sorted(user.everywhere, reverse=True), abs=1e-15)
    assert sum(of("MP(model='GL_AD_ID')")) == pytest.approx(1.0, abs=1e-12)
    nobody = amble.exposure({"1": {"a": 0}}, {"x": RUN}, "MP(model='GL_OR_ID')", GROUPS)
    assert _score(nobody, "AWRF") == 0.0  # who goes to relevant documents only visits none where there are none


def test_parameters_by_topic() -> None:
    from amble.measures import RBP

    qrels, run = {"1": {"a": 1}, "2": {"a": 1}}, {t: {"a": 2.0, "b": 1.0} for t in "12"}
    found = amble.exposure(qrels, {"x": run}, RBP(p={"1": 0.25, "2": 0.75}))
    assert [found["x", t]["b"] for t in "12"] == [0.25, 0.75]


@pytest.mark.parametrize(
    ("measure", "said"),
    [
        ("bpref", "is not a user"),
        ("MsM", "measure of sessions"),
        ("alpha_nDCG@3", "differs by intent"),
        ("MP(steps=3)", "without steps"),
    ],
)
def test_measures_without_visits_are_refused(measure: str, said: str) -> None:
    with pytest.raises(MeasureError, match=said):
        amble.exposure({"1": {"a": 1}} if "alpha" not in measure else {"1": {"s": {"a": 1}}}, {"x": RUN}, measure)


# ---- lists


def test_missing_topics() -> None:
    qrels = {"1": {"a": 1, "b": 1}, "2": {"a": 1, "b": 0}}
    runs = {"x": {"1": {"a": 2.0, "b": 1.0}}, "y": {t: {"a": 2.0, "b": 1.0} for t in "12"}}
    found = amble.exposure(qrels, runs, "RBP(p=0.5)", {"a": "A", "b": "B"})
    # nothing is exposed: AWRF 0, and EEL what the ideal list of the judged documents, a b, would have: 1 + 1/4
    assert found.scores.to_dict()["x"]["2"] == pytest.approx(
        {"AWRF": 0.0, "EED": 0.0, "EER": 0.0, "EEL": 1.25, "Gini": math.nan}, nan_ok=True
    )
    skipped = amble.exposure(qrels, runs, "RBP(p=0.5)", {"a": "A", "b": "B"}, missing="skip")
    assert np.isnan(skipped.scores.values[0, 1]).all()
    assert np.array_equal(skipped.scores.values[1], found.scores.values[1])
    assert [row[1] for row in skipped.by_group(topics=True) if row[0] == "x"] == ["1", "1", "all", "all"]
    # a sample without the topic counts as one that shows nothing, or not at all
    assert amble.exposure(qrels, runs, "P@1", samples={"z": "?"})["z", "2"] == {"a": 0.5, "b": 0.0}
    assert amble.exposure(qrels, runs, "P@1", samples={"z": "?"}, missing="skip")["z", "2"] == {"a": 1.0, "b": 0.0}


def test_no_target_by_relevance() -> None:
    qrels = {"1": {"a": 1}, "2": {"a": 0}, "3": {"z": 1}}
    run = {t: {"a": 2.0, "b": 1.0} for t in "123"}
    found = amble.exposure(qrels, {"x": run}, "RBP", {"a": "A", "b": "B"}, target="relevance")
    awrf = found.scores["x", "AWRF"]
    assert np.isnan(awrf).tolist() == [False, True, True]
    assert found.scores.means()[0, 0] == awrf[0]
    assert found.notes == ["2 topics have no relevant document in a group, so no target by relevance: no AWRF there"]


def test_documents_in_no_group() -> None:
    run = {"1": {"a": 4.0, "b": 3.0, "y": 2.0, "z": 1.0}}
    found = amble.exposure({"1": {"a": 1}}, {"x": run}, "P@4", {"a": "A", "b": {"B": 0.5}})
    assert found.shares[0, 0].tolist() == [2 / 3, 1 / 3]
    assert found.outside[0, 0] == 2.5 / 4
    assert found.notes == ["62.5 % of the exposure goes to documents in no group, which AWRF leaves out"]
    named = amble.exposure({"1": {"a": 1}}, {"x": run}, "P@4", {"a": "A", "b": {"B": 0.5}}, unknown="?")
    assert (named.groups, named.exposures[0, 0].tolist(), named.notes) == (("A", "B", "?"), [1.0, 0.5, 2.5], [])
    merged = amble.exposure({"1": {"a": 1}}, {"x": run}, "P@4", {"a": "A", "b": ["A", "B"]}, unknown="B")
    assert merged.exposures[0, 0].tolist() == [1.5, 2.5]
    # all that is exposed is in no group: there are no shares
    none = amble.exposure({"1": {"a": 1}}, {"x": run}, "P@1", {"b": "B", "z": "A"})
    assert math.isnan(_score(none, "AWRF"))
    assert _score(none, "EED") == 1.0


def test_order_and_depth_are_those_of_the_ranking() -> None:
    run = {"1": {"a": 1.0, "b": 1.0 + 1e-12, "c": 0.5}}
    assert list(amble.exposure({"1": {"a": 1}}, {"x": run}, "RBP")["x", "1"]) == ["b", "a", "c"]
    once = amble.exposure({"1": {"a": 1}}, {"x": run}, "RBP", score_dtype="float32", depth=2)
    assert list(once["x", "1"]) == ["b", "a"]  # tied: docno descending
    run = {"1": {"b": 1.0, "a": 1.0 + 1e-12}}
    assert list(amble.exposure({"1": {"a": 1}}, {"x": run}, "RBP", score_dtype="float32")["x", "1"]) == ["b", "a"]
    arrays = amble.from_arrays([[0, 1, 2]], [[0.1, 0.9, 0.5]])
    assert list(amble.exposure(arrays, "RBP").to_dict()["run"]["0"]) == ["1", "2", "0"]


def test_what_has_no_one_rank_is_refused() -> None:
    for options, said in (
        ({"ties": "expected"}, "ties='expected'"),
        ({"unjudged": "condense"}, "unjudged='condense'"),
        ({"base": 1.9}, "base=1.9, expected at least 2"),
        ({"samples": {"s": 1}}, "samples of s: found 1, expected a pattern"),
        ({"samples": {"s": [1]}}, "expected a pattern"),
        ({"groups": {"a": None}}, "found None for document a"),
        ({"groups": {"a": "A"}, "target": np.array([1.0])}, "expected equal, relevance"),
        ({"target": np.array([1.0])}, "expected groups of documents"),
        ({"target": "relevance"}, "expected groups of documents"),
        ({"samples": {"s": "nobody"}}, "no run is called 'nobody'"),
        ({"samples": {"s": "x", "t": "x"}}, "run x is of s and of t"),
        ({"samples": ["x"]}, "expected {system: pattern"),
    ):
        with pytest.raises(AmbleError, match=said):
            amble.exposure(QRELS, {"x": RUN}, "RBP", **options)  # type: ignore[call-overload]
    with pytest.raises(AlignError, match="expected another name"):
        amble.exposure(QRELS, {"x": RUN, "y": RUN}, "RBP", samples={"x": "y"})
    with pytest.raises(AlignError, match="costs"):
        amble.exposure(amble.align(QRELS, {"x": RUN}, costs={"a": 2.0}), "RBP")


# ---- groups and targets


def test_groups_from_files(tmp_path: Path) -> None:
    path = tmp_path / "docs.tsv"
    path.write_text("\ufeffdocno\tgroup\n# a note\n\na\tNorth America\nb\tAsia\r\nb\tEurope\n", encoding="utf-8")
    assert read_document_groups(path) == {"a": {"North America": 1.0}, "b": {"Asia": 0.5, "Europe": 0.5}}
    path.write_text("a A 0.25\na B .75\nb A 1\nc B 0.5\n")
    assert read_document_groups(path) == {"a": {"A": 0.25, "B": 0.75}, "b": {"A": 1.0}, "c": {"B": 0.5}}
    by_file = amble.exposure(QRELS, {"x": RUN}, "RBP", path)
    by_dict = amble.exposure(QRELS, {"x": RUN}, "RBP", read_document_groups(path))
    assert np.array_equal(by_file.scores.values, by_dict.scores.values)
    path.write_text("group share\nA 2\nB 6\n")
    assert read_targets(path) == {"A": 2.0, "B": 6.0}
    path.write_text("1 A 2\n2 A 1\n1 B 6\n")
    assert read_targets(path) == {"1": {"A": 2.0, "B": 6.0}, "2": {"A": 1.0}}


_TAB = " (with a tab, if names have blanks)"
_WRONG_GROUPS = {
    "": "docs: empty, expected lines: doc group or doc group share",
    "doc group\n": "docs: empty, expected lines: doc group or doc group share",
    "a\n": f"docs:1: found 1 column, expected 2 or 3: doc group or doc group share{_TAB}",
    "a A 1 1\n": f"docs:1: found 4 columns, expected 2 or 3: doc group or doc group share{_TAB}",
    "a A\nb B 1\n": f"docs:2: found 3 columns, expected 2: doc group or doc group share{_TAB}",
    "a\t\t1\n": f"docs:1: found 3 columns, expected 2 or 3: doc group or doc group share{_TAB}",
    "a A x\n": "docs:1: share 'x' is not a decimal number",
    "a A 1.5\n": "docs:1: share 1.5, expected a number from 0 to 1",
    "a A -1\n": "docs:1: share -1, expected a number from 0 to 1",
    "a A 0.7\na B 0.7\n": "docs:2: shares of document a that add up to 1.4, expected at most 1; without shares, it has "
    "the same in each group",
    "b B\na A\na A\n": "docs:3: document a in group A again, expected once",
    "nobody A\n": "groups: none is of a document in a run or judged: found those of nobody",
}
_WRONG_TARGETS = {
    "": "target: empty, expected lines: group share or topic group share",
    "A\n": f"target:1: found 1 column, expected 2 or 3: group share or topic group share{_TAB}",
    "A -1\n": "target:1: share -1, expected a number from 0 on",
    "A 1\nA 2\n": "target:2: a target of group A again, expected one",
    "A 1\n": "target: no share for group B, expected one, 0 if it is to have none",
    "1 A 1\n": "target: no share for group B on topic 1, expected one, 0 if it is to have none",
    "2 A 1\n": "target: no target for topic 1, expected one for each topic",
    "A 0\nB 0\n": "target: all shares are 0, expected some above",
}


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("q").write_text("1 0 a 1\n1 0 b 0\n1 0 c 1\n2 0 d 1\n2 0 e 0\n")
    Path("x.run").write_text("1 Q0 a 1 9 x\n1 Q0 b 2 8 x\n1 Q0 c 3 7 x\n2 Q0 e 1 9 x\n2 Q0 d 2 8 x\n")
    Path("y.run").write_text("1 Q0 c 1 9 y\n1 Q0 a 2 8 y\n1 Q0 z 3 7 y\n2 Q0 d 1 9 y\n2 Q0 e 2 8 y\n")
    Path("docs").write_text("a A\nb A\nc B\nd B\ne A\n")
    return tmp_path


def test_wrong_files(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, wrong in (("docs", _WRONG_GROUPS), ("target", _WRONG_TARGETS)):
        for text, said in wrong.items():
            Path("docs").write_text("a A\nb B\n")
            Path(name).write_text(text)
            given = ["--target", "target"] if name == "target" else []
            assert main(["exposure", "q", "x.run", "--groups", "docs", *given]) == 2
            assert capsys.readouterr().err == f"amble: {said}\n"


def test_wrong_groups_in_memory() -> None:
    for groups, said in (
        ({}, "expected {doc: group}"),
        (3, "expected {doc: group}"),
        ({"a": {"A": 2}}, "share 2 of group A, expected a number from 0 to 1"),
        ({"a": {"A": "x"}}, "share 'x' of group A"),
        ({"a": {"A": 0.6, "B": 0.6}}, "shares of document a add up to more than 1"),
    ):
        with pytest.raises(AlignError, match=said):
            amble.exposure(QRELS, {"x": RUN}, "RBP", groups)  # type: ignore[call-overload]
    for target, said in (
        ({}, "expected equal, relevance"),
        (3, "expected equal, relevance"),
        ({"1": {"A": 1}, "2": 3}, "found 3 on topic 2, expected {group: share}"),
        ({"A": math.inf, "B": 1}, "share inf of group A"),
    ):
        with pytest.raises(AlignError, match=said):
            amble.exposure(QRELS, {"x": RUN}, "RBP", GROUPS, target=target)  # type: ignore[call-overload]
    with pytest.raises(ReadError, match="nowhere"):
        amble.exposure(QRELS, {"x": RUN}, "RBP", "nowhere.tsv")


# ---- results


def test_tests_between_runs() -> None:
    qrels = {str(t): {"a": 1, "b": 0, "c": 1} for t in range(6)}
    runs = {
        name: {str(t): {doc: float(-((i + t * step) % 3)) for i, doc in enumerate("abc")} for t in range(6)}
        for name, step in (("x", 0), ("y", 1), ("z", 2))
    }
    found = amble.exposure(qrels, runs, "RBP", {"a": "A", "b": "B", "c": "B"})
    for name in found.scores.measures:
        plain = {run: {t: found.scores.to_dict()[run][t][name] for t in qrels} for run in runs}
        one, other = amble.compare(found.scores, name), amble.compare(plain)
        assert one.p.tolist() == other.p.tolist()
        assert one.sign == (1.0 if name in ("AWRF", "EER") else -1.0)
    assert found.table().best >= {
        (i, 4) for i in np.flatnonzero(found.scores.means()[:, 3] == found.scores.means()[:, 3].min())
    }
    again = pickle.loads(pickle.dumps(found.scores.parsed))
    assert [m.label for m in again] == ["AWRF", "EED", "EER", "EEL", "Gini"]
    sampled = amble.exposure(qrels, runs, "RBP", samples={"yz": ["y", "z"]})
    assert amble.compare(sampled.scores, "EEL", baseline="x").pairs == [("yz", "x")]
    assert sampled.scores["y", "EEL"].tolist() == sampled.scores["yz", "EEL"].tolist()
    with pytest.raises(KeyError):
        _ = sampled.scores["w", "EEL"]


def test_tables() -> None:
    found = amble.exposure(QRELS, {"x": RUN}, WALK, GROUPS)
    assert repr(found) == f"Exposure(1 run, 1 topic, 2 groups, {WALK})"
    assert "<table" in found._repr_html_()
    assert str(found).splitlines()[0].split() == ["run", "AWRF", "EED", "EER", "EEL", "Gini"]
    assert found.by_group(topics=True)["topic"] == ["1", "1", "all", "all"]
    pandas = pytest.importorskip("pandas")
    frame = found.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.columns) == ["run", "topic", "doc", "exposure"]
    assert frame.exposure.sum() == pytest.approx(116 / 32)
    for key in ("x", ("x", "2"), ("y", "1")):
        with pytest.raises(KeyError):
            _ = found[key]  # type: ignore[index]


def test_chart() -> None:
    chart = spec_of(amble.exposure(QRELS, {"target": RUN}, WALK, GROUPS))
    rows = csv.DictReader(io.StringIO(chart["data"]["values"]))
    assert {(row["run"], row["group"]): float(row["share"]) for row in rows} == pytest.approx(
        {("target", "A"): 62 / 116, ("target", "B"): 54 / 116, ("(target)", "A"): 0.5, ("(target)", "B"): 0.5}
    )
    with pytest.raises(AmbleError, match="no groups"):
        spec_of(amble.exposure(QRELS, {"x": RUN}, WALK))
    with pytest.raises(AmbleError, match="no group has a share"):
        spec_of(amble.exposure({"1": {"a": 0}}, {"x": RUN}, "P@1", {"b": "B"}, target="relevance"))


# ---- the command


def _out(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(list(words)) == 0
    return capsys.readouterr().out


def test_command(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["exposure", "q", "x.run", "y.run", "--groups", "docs", "-m", "RBP(p=0.8)"]
    found = amble.exposure("q", ["x.run", "y.run"], "RBP(p=0.8)", "docs")
    assert main(given) == 0
    out, err = capsys.readouterr()
    assert out == f"{found}\n\n{found.by_group()}\n"
    assert err.splitlines()[1] == (
        "amble: 6.6 % of the exposure, in the mean over topics, goes to documents in no group, which AWRF leaves out"
    )
    assert _out(capsys, *given, "-q", "--format", "tsv") == found.scores.tsv(topics=True) + "\n"
    assert _out(capsys, *given, "--by-group", "-q", "--format", "tsv") == found.by_group(topics=True).tsv() + "\n"
    assert _out(capsys, *given, "--by-document") == f"{found.by_document()}\n"
    whole = json.loads(_out(capsys, *given, "--format", "json", "--target", "relevance", "--base", "2"))
    assert (whole["options"]["target"], whole["options"]["base"]) == ("relevance", 2.0)
    assert [Path(one["path"]).name for one in whole["files"]] == ["q", "x.run", "y.run", "docs"]
    both = _out(capsys, "exposure", "q", "x.run", "y.run", "--samples", "both=*")
    assert both == f"{amble.exposure('q', ['x.run', 'y.run'], 'RBP', samples={'both': '*'})}\n"


def test_command_compares(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["exposure", "q", "x.run", "--compare", "EEL", "--baseline", "y.run", "--test", "permutation"]
    out = _out(capsys, *given)
    scores = amble.exposure("q", ["x.run", "y.run"], "RBP").scores
    assert out == f"{amble.compare(scores, 'EEL', baseline='y', test='permutation').table()}\n"
    Path("x2.run").write_text(Path("x.run").read_text().replace(" x\n", " x2\n"))
    given[3:3] = ["x2.run", "--samples", "mine=x*", "--compare", "Gini"]
    rows = json.loads(_out(capsys, *given, "--format", "json"))
    assert [(row["run"], row["other"], row["measure"]) for row in rows["rows"]] == [
        ("mine", "y", "Gini"),
        ("mine", "y", "EEL"),
    ]
    assert len(rows["comparisons"]) == 2


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("--by-group", "--by-group is of groups of documents: expected --groups FILE"),
        ("--compare AWRF", "--compare AWRF is of groups of documents: expected --groups FILE"),
        ("--target relevance", "--target is of groups of documents: expected --groups FILE"),
        ("--test t", "--test is of tests: expected --compare AWRF|EED|EER|EEL|Gini"),
        (
            "--compare EEL --seed 1",
            "--seed has no part in the test 't', in which nothing is random; expected permutation, bootstrap or "
            "tukey, or --interval percentile or bca",
        ),
        ("--samples x", "--samples 'x': expected NAME=PATTERN, as in mine=mine-*"),
        ("-m RBP -m AP", "-m RBP -m AP: expected one measure, as each has a user of its own"),
        ("-m bpref", "bpref is not a user: it is computed from the whole list at once"),
        ("--groups docs --target none.tsv", "none.tsv: no such file"),
        ("--by-document -q", "--by-topic shows scores or groups on every topic: without --compare and --by-document"),
        ("--groups docs -o docs", "docs: is read, expected another file to write to"),
    ],
)
def test_command_refuses(files: Path, capsys: pytest.CaptureFixture[str], more: str, said: str) -> None:
    assert main(["exposure", "q", "x.run", "y.run", *more.split()]) == 2
    assert capsys.readouterr().err == f"amble: {said}\n"


def test_shares_beyond_the_largest_float() -> None:
    for target, qrels in (
        ({"A": 1e308, "B": 1e308, "C": 0}, {"a": 1, "b": 1}),
        ("relevance", {"a": 1e308, "b": 1e308}),
    ):
        found = amble.exposure(
            {"1": qrels}, {"x": {"1": {"a": 2.0, "b": 1.0}}}, "P@2", {"a": "A", "b": "B"}, target=target
        )
        assert found.targets[0, 0, :2].tolist() == [0.5, 0.5]
        assert _score(found, "AWRF") == 1


def test_what_there_is_to_know() -> None:
    qrels = {"1": {"a": 1, "z": 0}, "2": {"a": 1}}
    found = amble.exposure(qrels, {"x": {"1": {"z": 1.0}}}, "RBP", {"a": "A", "region": "head"})
    # one list, of a document in no group; the other topic is not answered, and has no share that goes there
    assert found.notes == [
        "100.0 % of the exposure, in the mean over topics, goes to documents in no group, which AWRF leaves out",
        "2 groups, A among them, have no document that is visited",
    ]
    with pytest.raises(AmbleError, match=r"computed by amble\.exposure, not from the gains of lists"):
        amble.evaluate(qrels, RUN, found.scores.parsed[0])


def test_a_report_of_exposure() -> None:
    pytest.importorskip("jinja2")
    qrels = {str(t): {"a": 1, "b": 1} for t in range(6)}
    runs = {"x": {t: {"a": 2.0, "b": 1.0} for t in qrels}, "y": {t: {"a": 2.0} for t in qrels}}
    found = amble.exposure(qrels, runs, "P@2", {"a": "A", "b": "B"})
    page = amble.report(found.scores, test="sign")
    # x shows both alike; y only a, half of all visits of P@2 to a list of two: six of six topics, p = 2 / 2^6
    assert page.data["findings"][0][:2] == [
        "x is best by AWRF, 1.0000 ± 0.0000 (95 % confidence interval, 6 topics).",
        "Significantly better than y (p = 0.0312).",
    ]
    assert "AWRF" in page.html()


def test_files_that_were_read_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in {"q": "1 0 a 1\n", "x.run": "1 Q0 a 1 1 x\n", "docs": "a A\n", "relevance": ""}.items():
        Path(name).write_text(text)
    words = ("exposure", "q", "x.run", "--groups", "docs", "--target", "relevance", "--format", "json", "--quiet")
    assert "relevance" not in [file["path"] for file in json.loads(_out(capsys, *words))["files"]]
