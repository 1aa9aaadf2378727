"""Rankings from arrays of labels and scores: beside scikit-learn, beside `align`, and as other libraries have them."""

from __future__ import annotations

import pickle
from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.metrics import average_precision_score, make_scorer, ndcg_score
from sklearn.model_selection import cross_val_score

import amble
from amble.measures import AP, GMAP, RR, P, nDCG

RNG = np.random.default_rng(7)
LABELS = RNG.integers(0, 4, (40, 25)) * (RNG.random((40, 25)) < 0.4)
LABELS[:, 3] = 1  # something relevant in every row
SCORES = RNG.permuted(np.tile(np.linspace(-1, 1, 25), (40, 1)), axis=1)  # no ties
TIED = SCORES.round(1)


@pytest.mark.parametrize("k", [None, 1, 10, 25, 100])
def test_ndcg_is_that_of_scikit_learn(k: int | None) -> None:
    m = nDCG if k is None else nDCG @ k
    assert m.of_arrays(LABELS, SCORES) == pytest.approx(ndcg_score(LABELS, SCORES, k=k), abs=1e-14)
    expected = m.of_arrays(LABELS, TIED, ties="expected")
    assert expected == pytest.approx(ndcg_score(LABELS, TIED, k=k), abs=1e-14)
    assert abs(expected - m.of_arrays(LABELS, TIED)) > 1e-4 or k == 1  # there are ties, and they matter


def test_ap_is_that_of_scikit_learn() -> None:
    values = amble.evaluate(amble.from_arrays(LABELS, SCORES), "AP")["run", "AP"]
    theirs = [average_precision_score(y > 0, s) for y, s in zip(LABELS, SCORES, strict=True)]
    assert values == pytest.approx(theirs, abs=1e-14)
    assert AP.of_arrays(LABELS, SCORES) == pytest.approx(np.mean(theirs), abs=1e-14)
    # ties=file: earlier columns first, as a stable sort has it
    order = np.argsort(-TIED, axis=1, kind="stable")
    untied = np.empty_like(TIED)
    np.put_along_axis(untied, order, -np.arange(25.0)[None, :].repeat(40, 0), axis=1)
    assert AP.of_arrays(LABELS, TIED) == pytest.approx(average_precision_score(LABELS > 0, untied, average="samples"))


def test_the_mean_over_all_orders() -> None:
    labels, scores = [0, 1, 0, 1], [1.0, 1.0, 1.0, 0.5]
    orders = [[*x, 3] for x in permutations(range(3))]
    values = [average_precision_score(np.array(labels)[o], [4, 3, 2, 1]) for o in orders]
    assert AP.of_arrays(labels, scores, ties="expected") == pytest.approx(np.mean(values))


def test_scores_by_hand() -> None:
    # ranks: columns 1, 0 tied, 2: (1, 0) by column 0 first
    rankings = amble.from_arrays([[0, 1, 1]], [[0.5, 0.5, 0.1]])
    assert rankings.grades("run", "0").tolist() == [0.0, 1.0, 1.0]
    assert AP.of_arrays([[0, 1, 1]], [[0.5, 0.5, 0.1]]) == pytest.approx((1 / 2 + 2 / 3) / 2)
    assert RR.of_arrays([[0, 1, 1]], [[0.5, 0.5, 0.1]], ties="expected") == pytest.approx((1 + 1 / 2) / 2)
    assert rankings.audit.tied.tolist() == [2]
    # geometric mean of 1 and 1/2
    assert GMAP.of_arrays([[1, 0], [0, 1]], [[2, 1], [2, 1]]) == pytest.approx(np.sqrt(0.5))


def as_dicts(labels: Any, scores: Any, mask: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The same as dictionaries; documents are named so that the docno rule puts earlier columns first."""
    qrels: dict[str, Any] = {}
    run: dict[str, Any] = {}
    for i, row in enumerate(mask):
        for j in np.flatnonzero(row).tolist():
            run.setdefault(str(i), {})[f"{99 - j:02d}"] = scores[i, j]
            if not np.isnan(labels[i, j]):
                qrels.setdefault(str(i), {})[f"{99 - j:02d}"] = labels[i, j]
    return qrels, run


@pytest.mark.parametrize("ties", ["file", "expected"])
def test_the_same_as_aligned(ties: Any) -> None:
    rng = np.random.default_rng(11)
    labels = np.where(rng.random((30, 12)) < 0.2, np.nan, rng.integers(-1, 3, (30, 12)).astype(float))
    scores, mask = rng.integers(0, 6, (30, 12)).astype(float), rng.random((30, 12)) < 0.7
    mask[4] = False
    labels[5] = np.nan
    ours = amble.from_arrays(labels, np.where(mask, scores, np.nan), mask, ties=ties)
    theirs = amble.align(*as_dicts(labels, scores, mask), ties="docno" if ties == "file" else ties)
    assert ours.topics == tuple(str(i) for i in range(30) if i not in (4, 5)) == theirs.topics
    for name in ("run", "topic", "length", "offsets", "rank"):
        assert getattr(ours, name).tolist() == getattr(theirs, name).tolist(), name
    if ties == "expected":
        assert ours.tie_first.tolist() == theirs.tie_first.tolist()
        assert ours.tie_size.tolist() == theirs.tie_size.tolist()
    measures = "AP nDCG P@5 RR RBP" if ties == "expected" else "AP nDCG P@5 RR bpref ERR INST Judged@5 PH"
    a, b = (amble.evaluate(x, measures).values for x in (ours, theirs))
    np.testing.assert_allclose(a, b, rtol=1e-13)
    assert ours.audit.rows() == [{**row, "extra": 0} for row in theirs.audit.rows()]  # a row of NaN is no topic


def test_measures_tests_and_reports_take_them() -> None:
    both = amble.from_arrays(LABELS, {"a": SCORES, "b": -SCORES})
    assert both.runs == ("a", "b")
    scores = amble.evaluate(both, "AP nDCG@10 RBP")
    assert scores["b", "AP"][0] == pytest.approx(average_precision_score(LABELS[0] > 0, -SCORES[0]))
    assert amble.compare(scores, "AP", baseline="a").measure == "AP"
    assert amble.report(scores).data
    assert amble.why(both, "3", "AP").runs == ("a", "b")
    assert set(amble.run_distributions(both, "AP", users=10)) == {"a", "b"}
    assert amble.cwl(both, "AP")
    prices = {str(j): 2.0 for j in range(25)}
    assert np.isfinite(amble.evaluate(both, "TBG", costs=prices).values).all()
    assert both.sources[1].documents()["0"][0] == (str(int(np.argmin(SCORES[0]))), pytest.approx(1.0))
    assert both.qrels["0"] == {str(j): float(x) for j, x in enumerate(LABELS[0])}
    # the documents of the rows are known: runs can be aligned with these labels
    assert amble.evaluate(both.qrels, {"c": {"0": {"3": 1.0}}}, "RR", missing="skip").values[0, 0, 0] == 1.0


class Tensor:
    """What PyTorch and JAX show of an array: one of the two protocols."""

    def __init__(self, data: Any, error: Exception | None = None) -> None:
        self.data, self.error = np.asarray(data), error

    def give(self) -> Any:
        if self.error:
            raise self.error
        return self.data


class ByArray(Tensor):
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self.give()


class ByDlpack(Tensor):
    def __dlpack__(self, **how: Any) -> Any:
        return self.give().__dlpack__(**how)

    def __dlpack_device__(self) -> Any:
        return self.data.__dlpack_device__()


@pytest.mark.parametrize("kind", [np.asarray, np.ndarray.tolist, ByArray, ByDlpack, pd.DataFrame, np.float32, list])
def test_arrays_of_other_libraries(kind: Any) -> None:
    before = LABELS.copy(), SCORES.copy()
    assert (nDCG @ 5).of_arrays(kind(LABELS), kind(SCORES)) == pytest.approx(ndcg_score(LABELS, SCORES, k=5))
    assert (before[0] == LABELS).all()
    assert (before[1] == SCORES).all()


@pytest.mark.parametrize(
    ("labels", "scores", "mask", "message"),
    [
        ([[1, 0]], [[1, 2, 3]], None, r"scores: found shape \(1, 3\), expected that of the labels, \(1, 2\)"),
        ([[1, 0]], [[1, 2]], [[1]], r"mask: found shape \(1, 1\), expected that of the labels"),
        (
            [[1, 0], [1]],
            [[1, 2], [1]],
            None,
            "labels: list is no array of numbers here: .*; rows of different lengths are ",
        ),
        ([[1, 0]], [[1, np.nan]], None, "row 0, column 1: score nan is not a finite number; .* by mask="),
        ([[1, 0]], [[-np.inf, 0]], None, "row 0, column 0: score -inf is not a finite number"),
        ([[1, 0]], {"a": [[0]]}, None, r"scores of a: found shape \(1, 1\)"),
        ([[1, 0]], {}, None, "scores: found no runs"),
        (
            [["1", "0"]],
            [[1, 2]],
            None,
            r"labels: found shape \(1, 2\) of <U1, expected numbers of shape \(topics, docum",
        ),
        ([[[1]]], [[[1]]], None, r"labels: found shape \(1, 1, 1\)"),
        ([[np.inf, 0]], [[1, 2]], None, "labels: found an infinite one"),
        ([[np.nan]], [[1]], None, "labels: found none, expected at least one judged document"),
        ([[1]], [[1]], [[False]], "labels: found none"),
        ([[]], [[]], None, "labels: found none"),
        (
            [1, 0],
            ByArray([1, 2], RuntimeError("use detach()\nfirst")),
            None,
            r"ByArray is no array .* here: use detach\(\)$",
        ),
    ],
)
def test_what_is_wrong_with_arrays(labels: Any, scores: Any, mask: Any, message: str) -> None:
    with pytest.raises(amble.AlignError, match=message):
        amble.from_arrays(labels, scores, mask)


def test_options() -> None:
    with pytest.raises(amble.AlignError, match="ties='docno': expected one of 'file', 'expected'"):
        amble.from_arrays([[1]], [[1]], ties="docno")  # type: ignore[arg-type]
    with pytest.raises(amble.MeasureError, match="AP: scores of several runs, expected an array"):
        AP.of_arrays([[1]], {"a": [[1]]})


def test_a_scorer_of_scikit_learn() -> None:
    scorer = make_scorer((nDCG @ 10).of_arrays)
    x = RNG.random((60, 3))
    y = (x[:, 0] > 0.5).astype(int) + (x[:, 1] > 0.5)
    found = cross_val_score(LinearRegression(), x, y, scoring=scorer, cv=3)
    assert found.shape == (3,)
    assert (found > 0.9).all()
    assert pickle.loads(pickle.dumps((P @ 1).of_arrays))([1, 0], [2, 1]) == 1.0


def test_kept_labels_by_hand() -> None:
    kept = amble.Evaluator.of_arrays([[0, 1, 2], [1, 0, 0]], "RR P@1 nDCG", [[1, 1, 1], [1, 1, 0]])
    # relevant at ranks 1 and 2, grade 1 before 2; then at rank 2
    found = kept.evaluate([[0.3, 0.9, 0.7], [0.5, 0.6, np.nan]])
    log3 = np.log2(3)
    assert found.values[0] == pytest.approx(np.array([[1, 1, (1 + 2 / log3) / (2 + 1 / log3)], [0.5, 0, 1 / log3]]))
    # the next step: grade 2, 0, 1; then at rank 1
    assert kept.evaluate([[0.3, 0.1, 0.7], [0.5, 0.4, np.nan]]).values[0] == pytest.approx(
        np.array([[1, 1, 2.5 / (2 + 1 / log3)], [1, 1, 1]])
    )


@pytest.mark.parametrize("ties", ["file", "expected"])
@pytest.mark.parametrize("undefined", ["zero", "skip"])
@pytest.mark.parametrize("unjudged", [False, True])
@pytest.mark.parametrize("masked", [False, True])
def test_kept_labels_score_as_new_ones(ties: Any, undefined: Any, unjudged: bool, masked: bool) -> None:
    rng = np.random.default_rng(3)
    labels = np.where((rng.random(LABELS.shape) < 0.2) & unjudged, np.nan, LABELS)
    labels[5] = 0
    mask = (rng.random(LABELS.shape) < 0.8) | ~np.full(LABELS.shape, masked)
    mask[7] &= not masked  # a topic without documents is left out
    measures = "AP nDCG@10 RR P@5 RBP" + " bpref Judged@10" * (ties == "file")
    kept = amble.Evaluator.of_arrays(labels, measures, mask, undefined=undefined, ties=ties)
    for scores in (SCORES, TIED, rng.standard_normal(LABELS.shape), {"a": SCORES, "b": TIED}):
        new = amble.evaluate(amble.from_arrays(labels, scores, mask, ties=ties), measures, undefined=undefined)
        again = kept.evaluate(scores)
        assert again.runs == new.runs
        assert again.topics == new.topics
        np.testing.assert_array_equal(again.values, new.values)
        assert str(again.rankings.audit) == str(new.rankings.audit)


def test_kept_labels_refuse_what_new_ones_refuse() -> None:
    kept = amble.Evaluator.of_arrays([[0, 1]], "AP")
    with pytest.raises(amble.AlignError, match=r"scores: found shape \(1, 3\), expected that of the labels, \(1, 2\)"):
        kept.evaluate([[1, 2, 3]])
    with pytest.raises(amble.AlignError, match=r"scores: row 0, column 1: score nan is not a finite number"):
        kept.evaluate([[1, np.nan]])
    with pytest.raises(amble.AlignError, match="found no runs"):
        kept.evaluate({})
    with pytest.raises(amble.AlignError, match="ties"):
        amble.Evaluator.of_arrays([[0, 1]], "AP", ties="docno")  # type: ignore[arg-type]
