"""Ties, missing topics, duplicates, unjudged documents and depth, by hand."""

from __future__ import annotations

import numpy as np
import pytest
from drawing import examples
from hypothesis import given
from hypothesis import strategies as st

import amble

pytestmark = pytest.mark.twin

QRELS = {"401": {"a": 1, "b": 0, "c": 2}, "402": {"a": 1}}


def ranks(rankings: amble.Rankings, run: str, topic: str) -> dict[str, int]:
    """Each judged document's rank."""
    i = rankings.list_of(run, topic)
    hits = slice(int(rankings.offsets[i]), int(rankings.offsets[i + 1]))
    docs = [rankings.qrels.docs[row] for row in rankings.row[hits].tolist()]
    return dict(zip(docs, rankings.rank[hits].tolist(), strict=True))


def test_ranks_by_score_as_double() -> None:
    # 1 + 2^-40 and 1 are one number as float32, two as double
    rankings = amble.align(QRELS, {"r": {"401": {"c": 1.0, "a": 1.0 + 2**-40, "x": 0.5}}})
    assert ranks(rankings, "r", "401") == {"a": 1, "c": 2}
    assert rankings.audit.tied.tolist() == [0]


def test_ties_by_docno_descending_bytewise() -> None:
    # all tied: z > c > b > a > B > "" + nothing; 'B' (0x42) sorts before 'a' (0x61) bytewise, so it comes last
    rankings = amble.align({"1": {"a": 1, "B": 1, "c": 1}}, {"r": {"1": {"a": 0.0, "B": -0.0, "c": 0, "z": 0}}})
    assert ranks(rankings, "r", "1") == {"c": 2, "a": 3, "B": 4}
    assert rankings.audit.tied.tolist() == [4]


def test_a_longer_docno_is_greater_than_its_prefix() -> None:
    rankings = amble.align({"1": {"d1": 1, "d10": 1}}, {"r": {"1": {"d1": 5, "d10": 5}}})
    assert ranks(rankings, "r", "1") == {"d10": 1, "d1": 2}


def test_ties_by_rank_and_file(write) -> None:
    run = write("t.run", "401 Q0 a 2 5 t\n401 Q0 c 1 5 t\n401 Q0 b 1 7 t\n")
    # b has the best score; a and c tie: docno c > a; rank column c(1) before a(2); in the file a before c
    by = {ties: ranks(amble.align(QRELS, run, ties=ties), "t", "401") for ties in ("docno", "rank", "file")}
    assert by["docno"] == {"b": 1, "c": 2, "a": 3}
    assert by["rank"] == {"b": 1, "c": 2, "a": 3}
    assert by["file"] == {"b": 1, "a": 2, "c": 3}


def test_ties_expected_keeps_groups() -> None:
    rankings = amble.align(QRELS, {"r": {"401": {"b": 9, "a": 5, "x": 5, "c": 5, "y": 1}}}, ties="expected")
    # b stands alone at 1; x, c, a share ranks 2..4
    assert ranks(rankings, "r", "401") == {"b": 1, "c": 3, "a": 4}
    assert rankings.tie_first.tolist() == [1, 2, 2]
    assert rankings.tie_size.tolist() == [1, 3, 3]


def test_depth_cuts_ranks_and_lengths() -> None:
    run = {"r": {"401": {"a": 3, "x": 2, "c": 1}}}
    rankings = amble.align(QRELS, run, depth=2)
    assert ranks(rankings, "r", "401") == {"a": 1}
    assert rankings.lengths.tolist() == [2, 0]
    # a tied group that straddles the cut stays whole in the mean over its orders
    tied = amble.align(QRELS, {"r": {"401": {"a": 3, "x": 3, "c": 3}}}, depth=2, ties="expected")
    assert len(tied.rank) == 2
    assert tied.tie_size.tolist() == [3, 3]


def test_missing_topics_are_empty_lists_or_left_out() -> None:
    runs = {"r": {"402": {"a": 1.0}}, "s": {"401": {"a": 1}, "402": {"a": 1}}}
    rankings = amble.align(QRELS, runs)
    assert list(zip(rankings.run.tolist(), rankings.topic.tolist(), rankings.length.tolist(), strict=True)) == [
        (0, 0, 0),
        (0, 1, 1),
        (1, 0, 1),
        (1, 1, 1),
    ]
    assert rankings.offsets.tolist() == [0, 0, 1, 2, 3]
    assert rankings.audit.missing == {"r": ["401"]}
    skipped = amble.align(QRELS, runs, missing="skip")
    assert skipped.run.tolist() == [0, 1, 1]
    assert skipped.audit.missing == {"r": ["401"]}


def test_lists_stand_in_the_order_of_the_judgments() -> None:
    rankings = amble.align(QRELS, {"r": {"402": {"a": 1.0}, "401": {"x": 2.0, "c": 1.0}}})
    assert rankings.topic.tolist() == [0, 1]
    assert rankings.offsets.tolist() == [0, 1, 2]
    assert ranks(rankings, "r", "401") == {"c": 2}
    assert ranks(rankings, "r", "402") == {"a": 1}


def test_extra_topics_are_counted() -> None:
    rankings = amble.align(QRELS, {"r": {"401": {"a": 1.0}, "999": {"a": 1.0}}})
    assert rankings.audit.extra == {"r": ["999"]}
    assert rankings.audit.scored.tolist() == [1]


def test_unjudged_in_the_top_ten() -> None:
    # a is at rank 1 or 10, among the ten with nine x's; at rank 11 it is below ten of them
    for rank, unjudged in ((1, 9), (10, 9), (11, 10)):
        docs = {f"x{i}": 100.0 - i for i in range(12)} | {"a": 101.5 - rank}
        audit = amble.align(QRELS, {"r": {"401": docs}}).audit
        assert (audit.unjudged_top10.tolist(), audit.shown_top10.tolist()) == ([unjudged], [10])


def test_condensed_lists_leave_the_unjudged_out() -> None:
    rankings = amble.align(QRELS, {"r": {"401": {"x": 9, "c": 8, "y": 7, "b": 6}}}, unjudged="condense")
    assert rankings.positions.tolist() == [1, 2]
    assert rankings.rank.tolist() == [2, 4]
    assert rankings.lengths.tolist() == [2, 0]
    assert rankings.grades("r", "401").tolist() == [2.0, 0.0]


def test_duplicates_are_an_error_or_the_best_is_kept(write) -> None:
    run = write("d.run", "401 Q0 a 1 1 t\n401 Q0 c 2 5 t\n401 Q0 a 3 9 t\n401 Q0 c 4 5 t\n")
    with pytest.raises(amble.ReadError, match=r"d.run:3: document 'a' appears twice for topic '401' \(first on line 1"):
        amble.align(QRELS, run)
    rankings = amble.align(QRELS, run, duplicates="best")
    assert ranks(rankings, "t", "401") == {"a": 1, "c": 2}
    assert rankings.length[0] == 2
    assert rankings.audit.duplicates.tolist() == [2]
    assert "duplicates dropped 2" in str(rankings.audit)


def test_negative_grades_stay_in_the_table() -> None:
    rankings = amble.align({"1": {"a": -1, "b": 0.5}}, {"r": {"1": {"a": 2, "b": 1}}})
    assert rankings.grades("r", "1").tolist() == [-1.0, 0.5]
    assert rankings.audit.no_relevant == ("1",)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ties": "random"}, "ties='random': expected one of 'docno', 'rank', 'file', 'expected'"),
        ({"missing": "no"}, "missing='no'"),
        ({"unjudged": 0}, "unjudged=0"),
        ({"depth": 0}, "depth=0: expected a whole number"),
        ({"depth": 2.5}, "depth=2.5"),
        ({"depth": True}, "depth=True"),
        ({"threads": 0}, "threads=0"),
        ({"duplicates": "drop"}, "duplicates='drop'"),
    ],
)
def test_unknown_options(options: dict[str, object], message: str) -> None:
    with pytest.raises(amble.AlignError, match=message.replace("(", r"\(")):
        amble.align(QRELS, {"r": {"401": {"a": 1.0}}}, **options)


def test_no_common_topic_is_an_error() -> None:
    with pytest.raises(amble.AlignError, match="r: no topic in common with qrels: found 9, expected such as 401, 402"):
        amble.align(QRELS, {"r": {"9": {"a": 1.0}}})


def test_rank_ties_need_a_rank_column() -> None:
    with pytest.raises(amble.ReadError, match="no rank column"):
        amble.align(QRELS, {"r": {"401": {"a": 1.0}}}, ties="rank")


def test_names_tag_then_file_then_path(write, tmp_path) -> None:
    line = "401 Q0 a 1 1 {}\n"
    a, b = write("a.run", line.format("x")), write("b.run.txt", line.format("x"))
    c, d = write("c.run", line.format("own")), write("d.run", "401 Q0 a 1 1\n")
    assert amble.align(QRELS, [a, b, c, d]).runs == ("a", "b.run", "own", "d")
    (tmp_path / "sub").mkdir()
    e = write("sub/a.run", line.format("x"))
    assert amble.align(QRELS, [a, e]).runs == (a, e)
    with pytest.raises(amble.AlignError, match="given twice"):
        amble.align(QRELS, [a, a])
    rankings = amble.align(QRELS, {"mine": c})
    assert rankings.runs == ("mine",)
    assert amble.align(QRELS, c).index("c") == amble.align(QRELS, c).index("own") == 0
    with pytest.raises(KeyError):
        rankings.index("nobody")


def test_arrays_are_read_only() -> None:
    rankings = amble.align(QRELS, {"r": {"401": {"a": 1.0}}})
    for name in ("rank", "row", "offsets", "length", "topic", "run"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(rankings, name)[0] = 7


@st.composite
def _collections(draw: st.DrawFn) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    docs = st.text("abcß\x7f", min_size=1, max_size=3)
    topics = st.sampled_from(["1", "2", "3"])
    qrels = draw(st.dictionaries(topics, st.dictionaries(docs, st.integers(-2, 3), min_size=1), min_size=1))
    score = st.one_of(st.integers(-2, 2).map(float), st.floats(-10, 10))
    run = draw(st.dictionaries(topics, st.dictionaries(docs, score, min_size=1), min_size=1))
    return qrels, run


@pytest.mark.filterwarnings("ignore::amble.UnjudgedWarning")
@examples(150)
@given(_collections())
def test_agrees_with_pythons_sort(both: tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]) -> None:
    qrels, run = both
    before = {t: dict(d) for t, d in qrels.items()}, {t: dict(d) for t, d in run.items()}
    if not set(qrels) & set(run):
        with pytest.raises(amble.AlignError):
            amble.align(qrels, {"r": run})
        return
    rankings = amble.align(qrels, {"r": run})
    again = amble.align(qrels, {"r": run})
    for topic, docs in run.items():
        if topic not in qrels:
            continue
        order = sorted(sorted(docs, key=lambda d: d.encode(), reverse=True), key=lambda d: -docs[d])
        expected = [float(qrels[topic].get(d, np.nan)) for d in order]
        np.testing.assert_array_equal(rankings.grades("r", topic), expected)
        np.testing.assert_array_equal(again.grades("r", topic), expected)
    assert (qrels, run) == before


def test_scores_compared_as_floats(write) -> None:
    """0.1 + 2^-40 and 0.1 are one float; y's docno is the larger, so it comes first then, as in trec_eval 9."""
    scores = {"x": 0.1 + 2.0**-40, "y": 0.1, "z": 0.05}
    qrels = {"401": {"x": 1, "y": 0, "z": 1}}
    path = write("close.run", "".join(f"401 Q0 {doc} 1 {s!r} close\n" for doc, s in scores.items()))
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"qid": ["401"] * 3, "docno": list(scores), "score": list(scores.values())})
    for run in ({"close": {"401": scores}}, path, {"close": frame}):
        one, two = (amble.align(qrels, run, score_dtype=dtype) for dtype in ("float64", "float32"))
        assert ranks(one, "close", "401") == {"x": 1, "y": 2, "z": 3}
        assert ranks(two, "close", "401") == {"y": 1, "x": 2, "z": 3}
        assert (one.audit.moved.tolist(), two.audit.moved.tolist()) == ([1], [0])
        assert (one.audit.tied.tolist(), two.audit.tied.tolist()) == ([0], [2])
        assert "as float32 another order in 1 list (close)" in str(one.audit)
        assert str(two.audit).endswith("scores compared as float32")
        assert one.audit.rows()[0]["float32"] == 1
        # AP: (1/1 + 2/3) / 2 and (1/2 + 2/3) / 2
        values = [amble.evaluate(qrels, run, "AP", score_dtype=d).values.item() for d in ("float64", "float32")]
        assert values == [pytest.approx(5 / 6), pytest.approx(7 / 12)]
        # the mean over the two orders of x and y
        tied = amble.evaluate(qrels, run, "AP", score_dtype="float32", ties="expected").values.item()
        assert tied == pytest.approx((5 / 6 + 7 / 12) / 2)
    with pytest.raises(amble.AlignError, match="score_dtype='float16': expected one of 'float64', 'float32'"):
        amble.align(qrels, path, score_dtype="float16")


def test_the_judgments_of_arrays_serve_other_runs() -> None:
    rankings = amble.from_arrays([[1, 0, 2]], [[0.1, 0.5, 0.4]])
    topic, docs = rankings.qrels.topics[0], rankings.qrels.docs
    run = {topic: {docs[0]: 1.0, docs[2]: 2.0}}
    # grade 2 first, then 1
    assert amble.evaluate(rankings.qrels, {"other": run}, ["AP", "nDCG"]).values.tolist() == [[[1.0, 1.0]]]
