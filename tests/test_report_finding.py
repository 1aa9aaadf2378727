"""The finding of the report in words, worked by hand: sign tests, whose p-values are counts of coin tosses."""

from __future__ import annotations

from typing import Any

import pytest

import amble
from amble.reporting.finding import finding


def sentences(of: dict[str, list[int]], measure: str = "RR", missing: Any = "zero", **options: Any) -> list[str]:
    """What is said of runs whose one relevant document has these ranks, topic by topic; a rank of 0 is no list.

    All that stands before it is unjudged.
    """
    n = len(next(iter(of.values())))

    def ranked(r: int) -> dict[str, float]:
        return {("r" if k == r else f"u{k}"): -float(k) for k in range(1, r + 1)}

    runs = {run: {f"t{t}": ranked(r) for t, r in enumerate(ranks) if r} for run, ranks in of.items()}
    scores = amble.evaluate({f"t{t}": {"r": 1} for t in range(n)}, runs, measure, missing=missing)
    return finding(amble.report(scores, test="sign", **options).leaderboard, 0)


def test_one_run() -> None:
    # RR 1 and 1/2: the mean is 3/4, its standard error 1/4, and Student's t of one degree of freedom 12.7062
    assert sentences({"x": [1, 2]}) == [
        "x has RR 0.7500 ± 3.1766 (95 % confidence interval, 2 topics).",
        "Nothing was tested: one run has no other to be compared with.",
        "33.3 % of the documents in the top 10 are unjudged.",
    ]


def test_a_difference() -> None:
    # six wins of six: p = 2 / 2^6 = 0.03125
    assert sentences({"y": [2] * 6, "x": [1] * 6})[:2] == [
        "x is best by RR, 1.0000 ± 0.0000 (95 % confidence interval, 6 topics).",
        "Significantly better than y (p = 0.0312).",
    ]


def test_nothing_significant() -> None:
    # five wins of five: p = 2 / 2^5, and none can be smaller
    told = sentences({"x": [1] * 5, "y": [2] * 5})
    assert told[1] == "No significant difference found to y (p = 0.0625)."
    assert told[2] == "There are too few topics to find any difference."
    # 15 pairs: 15 / 16 after Holm's correction of the first, and so of all
    many = sentences({f"r{k}": [k] * 5 for k in range(1, 7)})
    assert many[1] == "No significant difference found to any of the 5 other runs (p ≥ 0.9375)."


def test_some_significant() -> None:
    # x beats y on 7 of 8 topics, p = 2 (1 + 8) / 2^8 = 0.0703; both beat z on all, p = 2 / 2^8; Holm: 3 x that = 0.0234
    # x: seven times 1 and once 1/2: mean 15/16, variance (7 / 256 + 49 / 256) / 7 = 1/32, so 2.364624 x sqrt(1/256)
    assert sentences({"x": [1] * 7 + [2], "y": [2] * 7 + [1], "z": [3] * 8})[:2] == [
        "x is best by RR, 0.9375 ± 0.1478 (95 % confidence interval, 8 topics).",
        "No significant difference found to y (p = 0.0703); significantly better than z (p = 0.0234).",
    ]


def test_all_significant() -> None:
    # 10 wins of 10, 15 pairs: 15 x 2 / 2^10 = 0.0293
    of = {f"r{k}": [k] * 10 for k in range(1, 7)}
    assert sentences(of)[1] == "Significantly better than all 5 other runs (p ≤ 0.0293)."
    few = {run: of[run] for run in ("r1", "r2", "r3")}  # 3 pairs: 3 x 2 / 2^10
    assert sentences(few)[1] == "Significantly better than r2 (p = 0.0059) and r3 (p = 0.0059)."
    assert sentences(few, alpha=0.001)[0].startswith("r1 is best by RR, 1.0000 ± 0.0000 (99.9 % confidence interval, ")


def test_a_tie() -> None:
    told = sentences({"x": [1] * 8, "y": [1] * 8, "z": [2] * 8})
    assert told[:2] == ["x and y share the best RR, 1.0000 (8 topics).", "Significantly better than z (p = 0.0234)."]
    # y beats z on all topics, p = 2 / 2^8; x, as good as y in the mean, on 4 of 8: the larger p is told
    told = sentences({"x": [1] * 4 + [0] * 4, "y": [2] * 8, "z": [3] * 8}, correction="none")
    assert told[1] == "No significant difference found to z (p = 1.0000)."
    assert sentences({"x": [1] * 8, "y": [1] * 8})[:2] == [
        "x and y share the best RR, 1.0000 (8 topics).",
        "All runs with a score have the same score.",
    ]


def test_less_is_better() -> None:
    # expected search length: documents read in vain, rank - 1
    assert sentences({"bad": [3] * 6, "good": [2] * 6}, "ESL")[:2] == [
        "good is best by ESL, where less is better, 1.0000 ± 0.0000 (95 % confidence interval, 6 topics).",
        "Significantly better than bad (p = 0.0312).",
    ]


def test_neither_more_nor_less_is_better() -> None:
    # one and two documents of the first ten places are unjudged; of the five documents there, three
    assert sentences({"x": [2] * 6, "y": [3] * 6}, "Unjudged@10") == [
        "By Unjudged@10 neither more nor less is better: from 0.1000 (x) to 0.2000 (y) (6 topics).",
        "60.0 % of the documents in the top 10 are unjudged.",
    ]


def test_sums_have_no_interval() -> None:
    assert sentences({"x": [3] * 6, "y": [1] * 6}, "NumRet")[0] == "x is best by NumRet, 18 (6 topics)."


def test_no_mean() -> None:
    scores = amble.evaluate({"1": {"a": 0}}, {"x": {"1": {"a": 1.0}}, "y": {"1": {"a": 1.0}}}, "AP", undefined="skip")
    assert finding(amble.report(scores).leaderboard, 0) == [
        "No run has a score by AP.",
        "0.0 % of the documents in the top 10 are unjudged.",
    ]


def test_a_baseline() -> None:
    told = sentences({"old": [2] * 8, "new": [1] * 8, "worst": [3] * 8, "same": [2] * 8}, baseline="old")
    # eight wins of eight, p = 2 / 2^8, and three comparisons
    assert told[2] == (
        "Against the baseline old, 0.5000 ± 0.0000, significantly better: new; significantly worse: worst; no "
        "significant difference found: same."
    )


def test_doubts() -> None:
    told = sentences({"x": [2] * 6, "y": [1, 0, 1, 0, 1, 1]})
    # y is best: 4 topics of 6 with RR 1; x has 6 unjudged of 12 documents, y none of 4
    assert told[-2:] == [
        "37.5 % of the documents in the top 10 are unjudged; of y's, 0.0 %.",
        "Missing in y, scored 0: 2 topics.",
    ]


@pytest.mark.parametrize("names", [("a\x00b", "</p><script>"), ("\udcff", "é")])
def test_odd_names(names: tuple[str, str]) -> None:
    told = " ".join(sentences({name: [k + 1] * 6 for k, name in enumerate(names)}))
    assert "\x00" not in told
    assert told.encode()
    page = amble.report(amble.evaluate({"1": {"r": 1}}, {name: {"1": {"r": 1.0}} for name in names}, "RR")).html()
    assert "</p><script>" not in page


def test_topics_that_are_left_out() -> None:
    # of x one topic has a score, 1; of y all four, 1/2 each
    assert sentences({"x": [1, 0, 0, 0], "y": [2] * 4}, missing="skip")[0] == "x is best by RR, 1.0000 (1 of 4 topics)."
    # both lack the last topic: one topic is missing, not two
    said = sentences({"x": [1, 1, 0], "y": [2, 2, 0], "z": [2, 2, 2]})
    assert said[-1] == "Missing in x and y, scored 0: 1 topic."


def test_best_runs_that_do_not_agree() -> None:
    # x and y have the mean (8 + 8/4 + 2) / 18 = 2/3; on the topics of both, x beats z by 1 to 1/2 eight times, and z
    # beats y by 1/3 to 1/4 eight times; z has (8/2 + 8/3 + 2) / 18
    of = {"x": [1] * 8 + [4] * 8 + [0] * 16, "y": [0] * 16 + [1] * 8 + [4] * 8, "z": [2] * 8 + [0] * 16 + [3] * 8}
    of = {name: [*ranks, 1, 1] for name, ranks in of.items()}
    for names in ("xyz", "yxz"):
        said = sentences({name: of[name] for name in names}, missing="skip", correction="none")
        assert said[0].endswith("share the best RR, 0.6667 (18 of 34 topics).")
        assert said[1] == "The best runs do not agree on z."
