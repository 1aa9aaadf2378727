"""Users who never stop: their stationary distributions against arithmetic by hand, dense algebra and simulation."""

from __future__ import annotations

import copy
from bisect import bisect_left
from fractions import Fraction
from itertools import pairwise, product

import markov_reference as reference
import numpy as np
import pytest
from drawing import examples
from hypothesis import given
from hypothesis import strategies as st

import amble
from amble.errors import MeasureError
from amble.users import stationary, toeplitz
from amble.users.block_low_rank import BlockLowRank
from amble.users.markov import MarkovUser
from amble.users.markov_models import COUNTS, LOOPS, MODELS, PUBLISHED, Model, distance_weights

GRADES = [1, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0]
EVERY = list(product(MODELS, LOOPS, COUNTS))


def some_list(seed: int, n: int, share: float) -> list[int]:
    return (np.random.default_rng(seed).random(n) < share).astype(int).tolist()


# ---- by hand


def test_row_sums() -> None:
    # weights 1 / (k + 1): rank 1 has 1/2 + 1/3 + 1/4 = 13/12, rank 2 has 1/2 + 1/2 + 1/3 = 4/3, and back again
    user = MarkovUser("GL_AD_ID").over([1, 0, 1, 0])
    assert user.everywhere == pytest.approx(np.array([13, 16, 16, 13]) / 58, abs=1e-15)
    assert user.weights == pytest.approx([13 / 29, 0, 16 / 29, 0], abs=1e-15)
    assert user.precision == pytest.approx([1, 1 / 2, 2 / 3, 1 / 2], abs=1e-15)
    assert user.score == pytest.approx(13 / 29 + 16 / 29 * 2 / 3, abs=1e-15)
    # she may stay: 1 more at every rank
    assert MarkovUser("GL_AD_ID", loops="SL").over([1, 0, 1, 0]).weights == pytest.approx([25 / 53, 0, 28 / 53, 0])


def test_neighbours() -> None:
    # all ranks: the ends have one neighbour, the others two, whatever the distance
    for model in ("LO_AD_NA", "LO_AD_ID", "LO_AD_LID"):
        assert MarkovUser(model).over([1, 0, 1, 0]).weights == pytest.approx([1 / 3, 0, 2 / 3, 0], abs=1e-15)
    # relevant ranks 1, 2, 4: 1/2 between 1 and 2, 1/3 between 2 and 4
    assert MarkovUser("LO_OR_ID").over([1, 1, 0, 1]).weights == pytest.approx([3 / 10, 5 / 10, 0, 2 / 10], abs=1e-15)
    # everywhere: 1/4 between 1 and 4 as well
    assert MarkovUser("GL_OR_ID").over([1, 1, 0, 1]).weights == pytest.approx(np.array([9, 10, 0, 7]) / 26, abs=1e-15)
    # 1 / log10(k + 2): 1 / log10 3, 1 / log10 4, 1 / log10 5
    a, b, c = 1 / np.log10([3, 4, 5])
    expected = np.array([a + c, a + b, 0, b + c]) / (2 * (a + b + c))
    assert MarkovUser("GL_OR_LID").over([1, 1, 0, 1]).weights == pytest.approx(expected, abs=1e-15)


def test_counts_between_neighbours() -> None:
    # 1, 0, 0, 1 and FRBN: forward 1 + relevant = 2, 2, 2, 3; back 1 + others = 1, 2, 3, 3.
    # Probabilities forward at ranks 2 and 3: 1/2 and 2/5. Balance: pi1 = pi2 / 2; pi2 / 2 = 3/5 pi3; 2/5 pi3 = pi4.
    user = MarkovUser("LO_AD_ID", counts="FRBN").over([1, 0, 0, 1])
    assert user.everywhere == pytest.approx(np.array([3, 6, 5, 2]) / 16, abs=1e-15)
    assert user.score == pytest.approx((3 * 1 + 2 * 1 / 2) / 5, abs=1e-15)
    # FNBR: forward 1, 2, 3, 3; back 2, 2, 2, 3. pi1 = pi2 / 2; pi2 / 2 = 2/5 pi3; 3/5 pi3 = pi4
    user = MarkovUser("LO_AD_ID", counts="FNBR").over([1, 0, 0, 1])
    assert user.everywhere == pytest.approx(np.array([2, 4, 5, 3]) / 14, abs=1e-15)


def test_counts_everywhere() -> None:
    # 1, 1, 0, 1 and FRBN: forward 2, 3, 3, 4, back 1, 1, 2, 2; pi = (54, 63, 70, 75) / 262, as at rank 1 what comes is
    # 63 x 1/7 + 70 x 2/7 + 75 x 1/3 = 9 + 20 + 25 = 54, and so at the others
    user = MarkovUser("GL_AD_NA", counts="FRBN").over([1, 1, 0, 1])
    assert user.everywhere == pytest.approx(np.array([54, 63, 70, 75]) / 262, abs=1e-15)
    assert user.weights == pytest.approx(np.array([54, 63, 0, 75]) / 192, abs=1e-15)
    # she may stay, with 2 + 1, 3 + 1, 3 + 2, 4 + 2 added to what leaves, 6, 7, 7, 6
    user = MarkovUser("GL_AD_NA", counts="FRBN", loops="SL").over([1, 1, 0, 1])
    weights = np.array([54 * 9 / 6, 63 * 11 / 7, 70 * 12 / 7, 75 * 12 / 6])
    assert user.everywhere == pytest.approx(weights / weights.sum(), abs=1e-15)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("counts", COUNTS)
def test_few_documents(model: str, counts: str) -> None:
    markov = MarkovUser(model, counts=counts)
    for grades in ([0], [0, 0, 0], []):
        user = markov.over(grades)
        assert user.score == 0
        assert user.weights.tolist() == [0.0] * len(grades)
    assert markov.over([1]).score == 1
    assert markov.over([0, 0, 1]).score == pytest.approx(1 / 3)  # one relevant document: precision there
    assert markov.over([1, 1]).score == 1


# ---- against dense algebra


@pytest.mark.parametrize(("model", "loops", "counts"), EVERY)
def test_stationary_distribution(model: str, loops: str, counts: str) -> None:
    connected, states, distance = model.split("_")
    for seed, (n, share) in enumerate([(2, 0.9), (3, 0.7), (7, 0.4), (23, 0.3), (60, 0.1), (60, 0.6)]):
        grades = some_list(seed, n, share)
        grades[0] = grades[-1] = 1
        user = MarkovUser(model, loops=loops, counts=counts).over(grades)
        ranks, p = reference.transitions(grades, connected, states, loops, counts, distance)
        pi = user.everywhere[np.array(ranks) - 1]
        assert np.abs(pi @ p - pi).sum() < 1e-12
        np.testing.assert_allclose(pi, reference.eliminated(p), rtol=1e-11, atol=0)
        np.testing.assert_allclose(pi, reference.invariant(p), rtol=0, atol=1e-12)
        kept = reference.eliminated(p)[np.isin(ranks, user.relevant)]
        np.testing.assert_allclose(user.weights[user.relevant - 1], kept / kept.sum(), atol=1e-12)


LONG = [
    (model, "SL" if counts == "FNBR" else "NL", counts, 1000 if model.endswith("_ID") else 300)
    for model in MODELS
    for counts in ("NA", "FRBN", "FNBR")
]


@pytest.mark.parametrize(("model", "loops", "counts", "n"), LONG)
def test_long_lists(model: str, loops: str, counts: str, n: int) -> None:
    connected, states, distance = model.split("_")
    grades = (np.random.default_rng(5).random(n) < 0.4 / np.sqrt(np.arange(1, n + 1))).astype(int).tolist()
    user = MarkovUser(model, loops=loops, counts=counts).over(grades)
    ranks, p = reference.transitions(grades, connected, states, loops, counts, distance)
    pi = user.everywhere[np.array(ranks) - 1]
    assert np.abs(pi @ p - pi).sum() < 1e-12
    drifts = connected == "LO" and counts != "NA"  # too much so for a solve
    np.testing.assert_allclose(pi, (reference.eliminated if drifts else reference.invariant)(p), rtol=0, atol=1e-10)


def test_small_probabilities_are_exact() -> None:
    # by distance, everywhere, with counts: entries of 1e-5 have as many digits as the others
    grades = some_list(3, 400, 0.1)
    for model in ("GL_AD_ID", "GL_AD_LID"):
        user = MarkovUser(model, counts="FNBR").over(grades)
        _, p = reference.transitions(grades, "GL", "AD", "NL", "FNBR", model[6:])
        np.testing.assert_allclose(user.everywhere, reference.eliminated(p), rtol=1e-12)


def test_probabilities_beyond_doubles() -> None:
    # relevant documents on top, then none: FNBR draws her down, to the end. From rank i to i + 1 the distribution
    # changes by the forward probability at i, (i - 1) / (i + 2) or so, over the back probability at i + 1, 3 / (i + 3):
    # on the whole by 10^1250
    grades = [1, 1] + [0] * 998
    user = MarkovUser("LO_AD_ID", counts="FNBR").over(grades)
    assert user.everywhere[:2].tolist() == [0.0, 0.0]  # underflow, but not where it matters
    # forward 1 + others, back 1 + relevant: 1, 1, 2 ... and 2, 3, 3 ...; pi1 x 1 = pi2 x 3 / 4
    assert user.weights[:2] == pytest.approx([3 / 7, 4 / 7], abs=1e-14)
    span = np.ptp(MarkovUser("LO_AD_ID", counts="FNBR").logs(np.array([1, 2]), 1000)) / np.log(10)
    assert 1000 < span < 3000


def test_power_steps_over_some_ranks() -> None:
    # more relevant documents than are solved for: transforms over all ranks, of which some are not hers
    grades = some_list(8, 700, 0.4)
    rank = np.flatnonzero(grades) + 1
    assert rank.size > stationary._FEW
    for model, counts in product(("GL_OR_ID", "GL_OR_LID"), ("FRBN", "FNBR")):
        user = MarkovUser(model, counts=counts, loops="SL").over(grades)
        _, p = reference.transitions(grades, "GL", "OR", "SL", counts, model[6:])
        np.testing.assert_allclose(user.everywhere[rank - 1], reference.eliminated(p), rtol=1e-11)


def test_a_long_list() -> None:
    # so long that the last step, too, is made by transforms
    n = 2500
    assert n > toeplitz._DENSE
    grades = some_list(4, n, 0.02)
    user = MarkovUser("GL_AD_ID", counts="FRBN").over(grades)
    rank, seen = np.arange(1, n + 1), np.cumsum(grades)
    p = 1.0 / (np.abs(rank[:, None] - rank) + 1.0)
    p *= np.where(rank[:, None] < rank, seen[:, None] + 1.0, (rank - seen)[:, None] + 1.0)
    np.fill_diagonal(p, 0.0)
    p /= p.sum(axis=1, keepdims=True)
    assert np.abs(user.everywhere @ p - user.everywhere).sum() < 1e-12


def test_many_relevant_documents(monkeypatch: pytest.MonkeyPatch) -> None:
    grades = some_list(9, 300, 0.5)
    whole = MarkovUser("GL_OR_ID", loops="SL").over(grades).weights
    monkeypatch.setattr(stationary, "_CELLS", 1000)  # a few rows at a time
    np.testing.assert_array_equal(MarkovUser("GL_OR_ID", loops="SL").over(grades).weights, whole)


def test_too_many_ranks_are_refused() -> None:
    grades = [1, 1] + [0] * 9998
    assert MarkovUser("GL_AD_ID").over(grades).weights[:2].sum() == pytest.approx(1)  # no matrix is needed
    assert MarkovUser("LO_AD_ID", steps=3).over(grades).weights[:2].sum() == pytest.approx(1)
    message = (
        r"probabilities between 10,000 ranks, from each to each, are too many; expected at most 8,192 \(@k cuts lists\)"
    )
    for markov in (MarkovUser("GL_AD_ID", steps=3), MarkovUser(weights=lambda i, j: 1.0 / (i + j))):
        with pytest.raises(MeasureError, match=message):
            markov.over(grades)


def test_power_steps_beside_a_solve(monkeypatch: pytest.MonkeyPatch) -> None:
    rank = np.broadcast_to(np.arange(1, 61), (5, 60))
    seen = np.cumsum(np.random.default_rng(2).random((5, 60)) < 0.3, axis=1)
    for model in (Model.read("GL_AD_ID", "SL", "FRBN"), Model.read("GL_AD_LID", "NL", "FNBR")):
        solved = stationary.from_logs(stationary.log_stationary_of_model(model, rank, seen))
        with monkeypatch.context() as patch:
            patch.setattr(stationary, "_FEW", 1)
            np.testing.assert_allclose(
                stationary.from_logs(stationary.log_stationary_of_model(model, rank, seen)), solved, rtol=1e-12
            )
            patch.setattr(toeplitz, "_CELLS", 100)  # a list at a time
            np.testing.assert_allclose(
                stationary.from_logs(stationary.log_stationary_of_model(model, rank, seen)), solved, rtol=1e-12
            )
            patch.setattr(toeplitz, "_DENSE", 1)  # no last step: transforms only
            np.testing.assert_allclose(
                stationary.from_logs(stationary.log_stationary_of_model(model, rank, seen)), solved, rtol=1e-10
            )
            patch.setattr(toeplitz, "_MOST", 10)
            with pytest.raises(MeasureError, match="not found in 10 steps"):
                stationary.log_stationary_of_model(model, rank, seen)


def test_many_lists_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    # what they have in common is found once; a list of nothing but relevant documents is unlike all others
    n, lists = 40, 9
    assert toeplitz.are_many(lists, n)
    assert not toeplitz.are_many(lists - 2, n)
    grades = [some_list(seed, n, 0.1 * seed) for seed in range(1, lists)] + [[1] * n]
    rank, seen = np.broadcast_to(np.arange(1, n + 1), (lists, n)), np.cumsum(grades, axis=1)
    for (distance, counts), loops in product(product(("ID", "LID"), ("FRBN", "FNBR")), LOOPS):
        model = Model.read(f"GL_AD_{distance}", loops, counts)
        p = [reference.transitions(of, "GL", "AD", loops, counts, distance)[1] for of in grades]
        expected = np.array([reference.eliminated(of) for of in p])
        for steps in (toeplitz._STEPS, 2):  # 2: lists that do not settle get power steps of their own
            monkeypatch.setattr(toeplitz, "_STEPS", steps)
            found = stationary.stationary_by_distance(model, rank, *model.ways(rank, seen))
            found /= found.sum(axis=1, keepdims=True)
            np.testing.assert_allclose(found, expected, rtol=1e-12)
            monkeypatch.setattr(toeplitz, "_BLOCK", 16)  # the second time in blocks
        monkeypatch.undo()


def test_many_lists_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    # more ranks than a block has, beside power steps, of which only the typical chain asks
    n, lists = 230, 12
    seen = np.cumsum([some_list(seed, n, 0.02 * seed) for seed in range(1, lists + 1)], axis=1)
    rank = np.broadcast_to(np.arange(1, n + 1), seen.shape)
    power, asked = toeplitz.stationary_by_power_steps, []

    def counted(weights: np.ndarray, rank: np.ndarray, *ways: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        asked.append(rank.shape[0])
        return power(weights, rank, *ways)

    monkeypatch.setattr(toeplitz, "stationary_by_power_steps", counted)
    for distance, counts in product(("ID", "LID"), ("FRBN", "FNBR")):
        weights, ways = distance_weights(distance, n), Model.read(f"GL_AD_{distance}", "NL", counts).ways(rank, seen)
        expected, _ = power(weights, rank, *ways)
        found, _ = toeplitz.stationary_of_many(weights, *ways)
        found *= expected.sum(axis=1, keepdims=True) / found.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(found, expected, rtol=2e-13)
    assert asked == [1] * 4


@pytest.mark.parametrize("size", [1, 7, 50, 199, 200, 300])
def test_products_with_a_matrix_in_blocks(size: int) -> None:
    # smooth away from the diagonal: of low rank; noise: of none, and as exact
    rng, k = np.random.default_rng(1), np.arange(200.0)
    rows = rng.standard_normal((3, k.size))
    for matrix in (np.sign(k[:, None] - k) / (np.abs(k[:, None] - k) + 1.0), rng.standard_normal((k.size, k.size))):
        for accuracy, dtype, near in ((1e-15, np.float64, 1e-13), (1e-7, np.float32, 1e-4)):
            blocks = BlockLowRank(matrix, size, accuracy, dtype)
            found = blocks.joined(blocks.product(blocks.split(rows)))
            assert found.dtype == dtype
            np.testing.assert_allclose(found, rows @ matrix, atol=near * np.abs(rows @ matrix).max())


def test_scores_of_many_lists() -> None:
    # lists of two lengths, one of them often: scored at once, and list by list
    rng = np.random.default_rng(3)
    qrels = {str(t): {f"d{i}": 1 for i in np.flatnonzero(rng.random(60) < 0.2).tolist()} for t in range(12)}
    runs = {"a": {t: {f"d{i}": -i for i in range(60 if t < "9" else 50)} for t in qrels}}
    rankings = amble.align(qrels, runs)
    for measure in ("MP(model='GL_AD_ID',counts='FRBN')", "MP(model='GL_AD_LID',counts='FNBR',loops='SL')"):
        m = amble.parse(measure)
        found = amble.evaluate(rankings, measure).values[0, :, 0]
        for topic, score in zip(rankings.topics, found.tolist(), strict=True):
            grades = [int(doc in qrels[topic]) for doc in runs["a"][topic]]
            assert score == pytest.approx(m.value(grades, relevant=len(qrels[topic])), abs=1e-14)


def test_lists_of_several_lengths_are_stepped_together(monkeypatch: pytest.MonkeyPatch) -> None:
    # too long to be solved, too few of a length to share an inverse: as one by one, whatever the others' lengths
    monkeypatch.setattr(stationary, "_FEW", 20)
    lengths = [21, 30, 31, 31, 60, 77, 100, 120, 121]
    seen = [np.cumsum(some_list(seed, n, 0.15)) for seed, n in enumerate(lengths)]
    qrels = {str(t): {f"d{i}": 1 for i in np.flatnonzero(np.diff(r, prepend=0)).tolist()} for t, r in enumerate(seen)}
    rankings = amble.align(qrels, {"a": {str(t): {f"d{i}": -i for i in range(n)} for t, n in enumerate(lengths)}})
    asked = []
    power = toeplitz.stationary_by_power_steps

    def counted(weights: np.ndarray, rank: np.ndarray, *ways: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        asked.append(rank.shape[0])
        return power(weights, rank, *ways)

    monkeypatch.setattr(stationary, "stationary_by_power_steps", counted)
    for distance, counts in product(("ID", "LID"), ("FRBN", "FNBR")):
        asked.clear()
        measure = f"MP(model='GL_AD_{distance}',counts='{counts}')"
        found = amble.evaluate(rankings, measure).values[0, :, 0]
        assert asked == [len(lengths)]
        for t, n in enumerate(lengths):
            grades = np.diff(seen[t], prepend=0)
            _, p = reference.transitions(grades, "GL", "AD", "NL", counts, distance)
            pi = reference.eliminated(p)[grades > 0]
            precision = (seen[t] / np.arange(1, n + 1))[grades > 0]
            assert found[t] == pytest.approx(pi @ precision / pi.sum(), abs=2e-14)


def test_sizes_of_transforms() -> None:
    for least in range(1, 3000):
        size = toeplitz._size(least)
        assert least <= size <= 1.25 * least + 1
        for factor in (2, 3, 5):
            while size % factor == 0:
                size //= factor
        assert size == 1


def test_names_for_one_chain() -> None:
    # rows are divided by their sums, so only the ratio of the counts matters; neighbours in a list are all as near
    assert Model.read("GL_AD_ID", counts="FIRBIN").plain == Model.read("GL_AD_ID", counts="FNBR")
    assert Model.read("LO_OR_LID", counts="FINBIR").plain == Model.read("LO_OR_LID", counts="FRBN")
    assert Model.read("LO_AD_LID").plain == Model.read("LO_AD_ID").plain == Model.read("LO_AD_NA")
    assert Model.read("LO_AD_LID", "SL").plain != Model.read("LO_AD_ID", "SL").plain
    for one, other in (("FIRBIN", "FNBR"), ("FINBIR", "FRBN")):
        for connected, states, loops in product(("GL", "LO"), ("AD", "OR"), LOOPS):
            args = (GRADES, connected, states, loops)
            a = reference.transitions(*args, one, "ID")[1]
            b = reference.transitions(*args, other, "ID")[1]
            np.testing.assert_allclose(a, b, atol=1e-15)


def test_published_models() -> None:
    assert len(MODELS) == 12
    assert len(PUBLISHED) == 8
    assert len({Model.read(*words).story for words in EVERY}) == len(EVERY) == 120
    assert distance_weights("LID", 2) == pytest.approx([1 / np.log10(2), 1 / np.log10(3)])


# ---- watched, and finite steps


@pytest.mark.parametrize(("model", "loops", "counts"), EVERY)
def test_induced_chain(model: str, loops: str, counts: str) -> None:
    connected, states, distance = model.split("_")
    for seed, n, share in ((1, 5, 0.6), (2, 31, 0.3), (4, 40, 0.05)):
        grades = [1, *some_list(seed, n, share)]
        user = MarkovUser(model, loops=loops, counts=counts).over(grades)
        ranks, p = reference.transitions(grades, connected, states, loops, counts, distance)
        places = [ranks.index(rank) for rank in user.relevant]
        np.testing.assert_allclose(user.transitions, reference.reduced(p, places), atol=1e-12)
        if connected == "GL" or counts == "NA":  # elsewhere the drift is too much for a solve
            np.testing.assert_allclose(user.transitions, reference.watched(p, places), atol=1e-12)
        np.testing.assert_allclose(user.transitions.sum(axis=1), 1.0, atol=1e-14)
        pi = user.weights[user.relevant - 1]
        assert np.abs(pi @ user.transitions - pi).sum() < 1e-12


def test_induced_chain_of_a_long_list() -> None:
    grades = some_list(6, 1000, 0.03)
    for model in ("GL_AD_ID", "GL_AD_LID", "LO_AD_ID"):
        user = MarkovUser(model).over(grades)
        _, p = reference.transitions(grades, *model.split("_")[:2], "NL", "NA", model.split("_")[2])
        np.testing.assert_allclose(user.transitions, reference.watched(p, user.relevant - 1), atol=1e-11)


def test_steps_by_hand() -> None:
    # relevant ranks 1, 2, 4; probabilities 0 1 0 / .6 0 .4 / 0 1 0. From rank 1, three visits: 1, 2, then 1 or 4:
    # (1.6, 1, 0.4) / 3 with precision 1, 1, 3/4
    user = MarkovUser("LO_OR_ID", steps=3).over([1, 1, 0, 1])
    assert user.transitions == pytest.approx(np.array([[0, 1, 0], [0.6, 0, 0.4], [0, 1, 0]]))
    assert user.weights == pytest.approx([1.6 / 3, 1 / 3, 0, 0.4 / 3], abs=1e-15)
    assert user.score == pytest.approx((1.6 + 1 + 0.3) / 3, abs=1e-15)
    assert user.after(2) == pytest.approx([0.6, 0, 0, 0.4])
    assert user.after(0).tolist() == [1, 0, 0, 0]
    # one visit: the first relevant document, or any of them, or as given by rank
    assert MarkovUser("LO_OR_ID", steps=1).over([0, 1, 0, 1]).score == 1 / 2
    assert MarkovUser("LO_OR_ID", steps=1, start="uniform").over([1, 1, 0, 1]).weights == pytest.approx(
        [1 / 3, 1 / 3, 0, 1 / 3]
    )
    assert MarkovUser("LO_OR_ID", steps=1, start=[1, 0, 7, 3]).over([1, 1, 0, 1]).weights == pytest.approx(
        [0.25, 0, 0, 0.75]
    )
    # all ranks, 1 0 1: from 1 to 2, from 2 to either end: she meets rank 1 again with probability 1/2
    user = MarkovUser("LO_AD_ID", steps=2).over([1, 0, 1])
    assert user.transitions == pytest.approx(np.array([[0.5, 0.5], [0.5, 0.5]]))
    assert user.weights == pytest.approx([0.75, 0, 0.25])


def test_steps_become_the_long_run() -> None:
    for model in MODELS:
        long = MarkovUser(model).over(GRADES).weights
        few = [np.abs(MarkovUser(model, steps=n).over(GRADES).weights - long).sum() for n in (1, 10, 1000, 100_000)]
        assert few[0] > few[2] > few[3]
        assert few[3] < 1e-3  # of the order 1 / n


def test_doubling_sums_as_steps_do() -> None:
    p = MarkovUser("GL_OR_ID").over(GRADES).transitions
    start = np.array([0.0, 1.0, 0.0, 0.0])
    for steps in (1, 2, 79, 81, 100, 1000):
        here, total = start, np.zeros(4)
        for _ in range(steps):
            total, here = total + here, here @ p
        np.testing.assert_allclose(stationary.mean_occupation(p, start, steps), total / steps, atol=1e-14)


# ---- where she starts


@pytest.mark.parametrize(("model", "loops", "counts"), EVERY)
def test_the_first_relevant_document_met(model: str, loops: str, counts: str) -> None:
    # an own state from which she starts and to which she never returns, and all is watched at it and the relevant ranks
    connected, states, distance = model.split("_")
    for seed, n, share in ((1, 6, 0.6), (2, 31, 0.2), (3, 40, 0.05), (4, 7, 1.0)):
        grades = some_list(seed, n, share)
        grades[n // 2] = 1
        start = np.random.default_rng(seed).random(n)
        user = MarkovUser(model, loops=loops, counts=counts, steps=3, start=start).over(grades)
        ranks, p = reference.transitions(grades, connected, states, loops, counts, distance)
        mine = start[np.array(ranks) - 1]
        whole = np.zeros((len(p) + 1, len(p) + 1))
        whole[1:, 1:], whole[0, 1:] = p, mine / mine.sum()
        keep = [0] + [ranks.index(rank) + 1 for rank in user.relevant]
        np.testing.assert_allclose(user.first, reference.reduced(whole, keep)[0, 1:], atol=1e-12)
        if connected == "GL":  # elsewhere the drift is too much for a solve
            np.testing.assert_allclose(user.first, reference.watched(whole, keep)[0, 1:], atol=1e-12)
        plain = {"first": np.eye(1, len(p))[0], "uniform": np.full(len(p), 1 / len(p))}
        for word, distribution in plain.items():
            by_word = MarkovUser(model, loops=loops, counts=counts, steps=3, start=word).over(grades)
            whole[0, 1:] = distribution
            np.testing.assert_allclose(by_word.first, reference.reduced(whole, keep)[0, 1:], atol=1e-12)


def test_a_start_off_the_relevant_documents_by_hand() -> None:
    # 0 1 0 0 1, neighbours: from rank 1 she meets rank 2; from rank 3 rank 2 with 2/3, rank 5 with 1/3; from rank 4 the
    # other way round. Uniform: 1/5 + 1/5 + (2/3 + 1/3) / 5 and 1/5 + (1/3 + 2/3) / 5
    assert MarkovUser("LO_AD_ID", steps=1).over([0, 1, 0, 0, 1]).weights.tolist() == [0, 1, 0, 0, 0]
    assert MarkovUser("LO_AD_ID", steps=1, start="uniform").over([0, 1, 0, 0, 1]).weights == pytest.approx(
        [0, 3 / 5, 0, 0, 2 / 5]
    )
    own = MarkovUser(weights=lambda i, j: (abs(i - j) == 1) * 1.0, steps=1, start=[0, 0, 1, 0, 0])
    assert own.over([0, 1, 0, 0, 1]).weights == pytest.approx([0, 2 / 3, 0, 0, 1 / 3])
    # everywhere with the same probability, 0 0 1 1: from rank 1 to 2, 3, 4 alike, and from 2 back or on: by symmetry
    assert MarkovUser("GL_AD_NA", steps=1).over([0, 0, 1, 1]).weights == pytest.approx([0, 0, 1 / 2, 1 / 2])
    # by distance, precision 1/3, 2/5, 1/2 at ranks 3, 5, 6: she may meet any of them first, not only rank 3
    assert MarkovUser("GL_AD_ID", steps=1).over([0, 0, 1, 0, 1, 1]).score == pytest.approx(0.392171819298, abs=1e-12)


# ---- her score after some steps


def test_steps_make_one_score() -> None:
    # relevant ranks 1, 2, 4 as above: 1 2 1 with .6 has precision 1, 1, 1; 1 2 4 with .4 has 1, 1, 3/4
    user = MarkovUser("LO_OR_ID", steps=3).over([1, 1, 0, 1])
    assert user.distribution.values == pytest.approx([2.75 / 3, 1])
    assert user.distribution.probs == pytest.approx([0.4, 0.6])
    assert user.variance == pytest.approx(0.4 * 0.6 * (0.25 / 3) ** 2)
    # times 1, 1/2, 1/4: (1 + 1/2 + 1) / 2.5 and (1 + 1/2 + 3/16) / 1.75
    timed = MarkovUser("LO_OR_ID", steps=3, rates=[1, 2, 9, 4]).over([1, 1, 0, 1])
    assert timed.distribution.values == pytest.approx([1.6875 / 1.75, 1])
    assert timed.distribution.probs == pytest.approx([0.4, 0.6])
    assert timed.variance == timed.distribution.var
    # half of the relevant documents found: the score is halved, for everybody
    half = MarkovUser("LO_OR_ID", steps=3, rescale="R").over([1, 1, 0, 1], relevant=6)
    assert half.distribution.values == pytest.approx([2.75 / 6, 1 / 2])
    assert half.variance == pytest.approx(user.variance / 4)


@pytest.mark.parametrize(
    ("start", "mean", "sd"),
    [("first", 0.765209496490, 0.040361908627), ("uniform", 0.741596773963, 0.043294139361)],
)
def test_ten_steps(start: str, mean: float, sd: float) -> None:
    # found apart, by dense algebra and by simulation; precision where she is has an sd of .1596
    user = MarkovUser("GL_AD_ID", steps=10, start=start).over([1, 0, 1, 1, 0, 0, 1])
    assert user.score == pytest.approx(mean, abs=1e-12)
    assert user.distribution.mean == pytest.approx(mean, abs=1e-12)
    assert user.distribution.sd == pytest.approx(sd, abs=1e-12)
    assert user.variance**0.5 == pytest.approx(sd, abs=1e-12)


@given(
    st.lists(st.integers(0, 1), min_size=1, max_size=8).filter(lambda grades: 0 < sum(grades) < 5),
    st.sampled_from(EVERY),
    st.integers(1, 5),
    st.booleans(),
    st.integers(0, 2**32),
)
@examples(100)
def test_distribution_of_steps_path_by_path(
    grades: list[int], words: tuple[str, str, str], steps: int, timed: bool, seed: int
) -> None:
    model, loops, counts = words
    rng = np.random.default_rng(seed)
    rates = rng.uniform(0.1, 10, len(grades)) if timed else None
    start = rng.uniform(0.1, 1, len(grades))
    user = MarkovUser(model, loops=loops, counts=counts, steps=steps, rates=rates, start=start).over(grades)
    time = np.ones(len(grades)) if rates is None else 1 / rates
    mean = square = total = spent = 0.0
    for path in product(range(user.relevant.size), repeat=steps):
        probability = user.first[path[0]] * np.prod([user.transitions[a, b] for a, b in pairwise(path)])
        at = user.relevant[list(path)] - 1
        score = (time[at] * user.precision[at]).sum() / time[at].sum()
        mean, square = mean + probability * score, square + probability * score**2
        total += probability * (time[at] * user.precision[at]).sum()
        spent += probability * time[at].sum()
        assert user.distribution.cdf(score + 1e-12) >= probability - 1e-12
    assert user.distribution.mean == pytest.approx(mean, abs=1e-12)
    assert user.variance == pytest.approx(square - mean**2, abs=1e-12)
    assert user.score == pytest.approx(total / spent, abs=1e-12)  # without rates the same as the mean


def test_variance_of_many_steps() -> None:
    # by powers of a matrix as step by step; in the long run it falls as 1 / n
    user = MarkovUser("GL_AD_ID", steps=200).over(GRADES)
    p, first, f, steps = user.transitions, user.first, user.precision[user.relevant - 1], 200
    square = mean = np.zeros(4)
    for _ in range(steps):
        square, mean = f * f + 2 * f * (p @ mean) + p @ square, f + p @ mean
    assert user.variance == pytest.approx((first @ square - (first @ mean) ** 2) / steps**2, rel=1e-9)
    long = MarkovUser("GL_AD_ID", steps=10**8).over(GRADES).variance
    longer = MarkovUser("GL_AD_ID", steps=10**9).over(GRADES).variance
    assert long / longer == pytest.approx(10, rel=1e-5)


def test_steps_simulated_on_the_whole_chain() -> None:
    # every move over all ranks, relevant or not, by the chain of the definition
    grades, steps, users = [0, 1, 0, 1, 1, 0, 0, 1], 6, 20_000
    rng = np.random.default_rng(5)
    ranks, p = reference.transitions(grades, "GL", "AD", "NL", "FRBN", "ID")
    precision = np.cumsum(grades) / np.arange(1, 9)
    to, relevant = np.cumsum(p, axis=1), np.array(grades) > 0
    at, looks, total = np.zeros(users, int), np.zeros(users, int), np.zeros(users)
    while (looks < steps).any():
        seen = relevant[at] & (looks < steps)
        total[seen] += precision[at[seen]]
        looks += seen
        at = np.minimum((to[at] <= rng.random(users)[:, None]).sum(axis=1), len(ranks) - 1)
    user = MarkovUser("GL_AD_ID", counts="FRBN", steps=steps).over(grades)
    simulated = amble.Distribution(np.round(total / steps, 9), np.full(users, 1 / users), users=users)
    exact = amble.Distribution(np.round(user.distribution.values, 9), user.distribution.probs)
    assert exact.distance(simulated) < simulated.band_at(1 - 1e-6)


def test_simulated() -> None:
    # one long walk on the chain of the definition: how often she is at each relevant rank
    rng = np.random.default_rng(11)
    for model, loops, counts in (("GL_AD_ID", "NL", "FRBN"), ("LO_OR_ID", "SL", "NA"), ("GL_OR_LID", "NL", "FNBR")):
        connected, states, distance = model.split("_")
        ranks, p = reference.transitions(GRADES, connected, states, loops, counts, distance)
        draws, to = rng.random(200_000), np.cumsum(p, axis=1)[:, :-1].tolist()
        at, visits = 0, [0] * len(ranks)
        for u in draws.tolist():
            at = bisect_left(to[at], u)
            visits[at] += 1
        user = MarkovUser(model, loops=loops, counts=counts).over(GRADES)
        seen = np.array(visits)[np.isin(ranks, user.relevant)]
        assert user.weights[user.relevant - 1] == pytest.approx(seen / seen.sum(), abs=0.01)


# ---- time


def test_time() -> None:
    # GL_OR_NA: the distribution is uniform; times 1/2, 1/4, 1/4 as the last rate holds further down
    user = MarkovUser("GL_OR_NA", rates=[2, 4]).over([1, 1, 0, 1])
    assert user.weights == pytest.approx([0.5, 0.25, 0, 0.25])
    assert user.everywhere == pytest.approx([1 / 3, 1 / 3, 0, 1 / 3])  # visits, not time
    assert MarkovUser("GL_OR_NA", rates=lambda rank: rank).over([1, 1, 0, 1]).weights == pytest.approx(
        np.array([1, 1 / 2, 0, 1 / 4]) / 1.75
    )
    # with steps: what three visits take
    user = MarkovUser("LO_OR_ID", steps=3, rates=[1, 2, 9, 4]).over([1, 1, 0, 1])
    assert user.weights == pytest.approx(np.array([1.6, 0.5, 0, 0.1]) / 2.2)


def test_time_does_not_depend_on_its_unit() -> None:
    rates = np.random.default_rng(1).uniform(0.001, 1, len(GRADES))
    one, other = (MarkovUser("GL_AD_ID", rates=c * rates).over(GRADES).weights for c in (1, 60))
    np.testing.assert_allclose(one, other, rtol=1e-14)
    np.testing.assert_allclose(
        MarkovUser("GL_AD_ID", rates=[3.0]).over(GRADES).weights, MarkovUser("GL_AD_ID").over(GRADES).weights
    )


# ---- chains of one's own


def test_weights_and_matrices() -> None:
    given = {
        "GL_AD_ID": lambda i, j: 1 / (abs(i - j) + 1),
        "LO_AD_ID": lambda i, j: np.where(abs(i - j) <= 1, 1.0, 0.0),
        "GL_OR_ID": lambda i, j: 1 / (abs(i - j) + 1),
    }
    for model, weights in given.items():
        connected, states, distance = model.split("_")
        own = MarkovUser(weights=weights, states=states).over(GRADES)
        theirs = MarkovUser(model).over(GRADES)
        np.testing.assert_allclose(own.weights, theirs.weights, atol=1e-14)
        np.testing.assert_allclose(own.everywhere, theirs.everywhere, atol=1e-14)
        np.testing.assert_allclose(own.transitions, theirs.transitions, atol=1e-13)
        _, p = reference.transitions(GRADES, connected, states, "NL", "NA", distance)
        np.testing.assert_allclose(MarkovUser(matrix=p, states=states).over(GRADES).weights, theirs.weights, atol=1e-14)
        same = MarkovUser(matrix=lambda rank, p=p: p, states=states).over(GRADES)
        np.testing.assert_allclose(same.weights, theirs.weights, atol=1e-14)


def test_weights_with_loops() -> None:
    loops = MarkovUser(weights=lambda i, j: 1 / (abs(i - j) + 1), loops="SL").over(GRADES)
    np.testing.assert_allclose(loops.weights, MarkovUser("GL_AD_ID", loops="SL").over(GRADES).weights, atol=1e-14)


def test_structure_is_used() -> None:
    # one way round a ring: not reversible, solved; the distribution is uniform
    ring = np.roll(np.eye(6), 1, axis=1)
    assert MarkovUser(matrix=ring).over([1, 1, 0, 1, 0, 1]).weights == pytest.approx([0.25, 0.25, 0, 0.25, 0, 0.25])
    # neighbours with a drift of 10^4 at each of 200 ranks: by logarithms
    n = 200
    drift = np.diag(np.full(n - 1, 1.0), 1) + np.diag(np.full(n - 1, 1e-4), -1)
    user = MarkovUser(weights=drift).over([1, 1] + [0] * (n - 2))
    assert user.weights[:2] == pytest.approx(np.array([1, 1e4 + 1]) / (1e4 + 2), rel=1e-12)


def test_a_distribution_of_ones_own() -> None:
    user = MarkovUser(distribution=lambda rank: 1 / rank).over([1, 0, 1, 1])
    assert user.weights == pytest.approx(np.array([12, 0, 4, 3]) / 19)
    assert user.everywhere == pytest.approx(np.array([12, 6, 4, 3]) / 25)
    assert MarkovUser(distribution=[0, 0, 1, 1]).over([1, 0, 1, 1]).weights == pytest.approx([0, 0, 0.5, 0.5])
    with pytest.raises(MeasureError, match="declared by a distribution, not by a chain"):
        _ = user.transitions
    with pytest.raises(MeasureError, match="the distribution is 0 at every relevant rank"):
        MarkovUser(distribution=[0, 1, 0]).over([1, 0, 1])
    with pytest.raises(MeasureError, match="the probability of rank 2 is -1"):
        MarkovUser(distribution=[0, -1, 0]).over([1, 0, 1])
    with pytest.raises(MeasureError, match="distribution: found 2 numbers, expected one for each rank, down to 3"):
        MarkovUser(distribution=[1, 1]).over([1, 0, 1])


@pytest.mark.parametrize(
    ("links", "culprit"),
    [
        ([(1, 2), (2, 1), (3, 2)], "rank 3 cannot be reached from rank 1$"),
        ([(1, 2), (2, 3), (3, 2)], "rank 1 cannot be reached from ranks 2, 3$"),
        ([(1, 2), (2, 1), (3, 4), (4, 3)], "ranks 3, 4 cannot be reached from rank 1$"),
    ],
)
def test_culprits_are_named(links: list[tuple[int, int]], culprit: str) -> None:
    n = max(max(pair) for pair in links)
    weights = np.zeros((n, n))
    for i, j in links:
        weights[i - 1, j - 1] = 1.0
    with pytest.raises(MeasureError, match="^not irreducible: " + culprit):
        MarkovUser(weights=weights).over([1] * n)


def test_many_culprits_are_counted() -> None:
    weights = np.eye(12, k=1) + np.eye(12, k=-1)
    weights[2, 3] = weights[3, 2] = 0.0
    with pytest.raises(MeasureError, match="ranks 4, 5, 6, 7, 8 and 4 more cannot be reached from rank 1$"):
        MarkovUser(weights=weights).over([1] * 12)
    with pytest.raises(
        MeasureError, match="ranks 9, 12 cannot be reached from rank 2$"
    ):  # states are ranks, not places
        MarkovUser(weights=np.kron(np.eye(2), 1 - np.eye(2)), states="OR").over([0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "declared by one of model, weights, matrix, distribution; found 0"),
        ({"model": "GL_AD_ID", "distribution": [1]}, "found 2 of them"),
        ({"model": "G_AD_ID"}, "model='G_AD_ID' is not allowed, expected one of 'GL_AD_NA'"),
        ({"model": "GL_AD_ID", "loops": "LN"}, "loops='LN' is not allowed, expected one of 'NL', 'SL'"),
        ({"model": "GL_AD_ID", "counts": "FR"}, "counts='FR' is not allowed"),
        ({"weights": np.ones, "counts": "FRBN"}, "counts='FRBN' goes with a model"),
        ({"weights": np.ones, "loops": True}, "loops=True: expected one of 'NL', 'SL'"),
        ({"weights": np.ones, "states": "all"}, "states='all': expected one of 'AD', 'OR'"),
        ({"model": "GL_AD_ID", "rescale": "X"}, "rescale='X': expected one of 'NA', 'R', 'RR'"),
        ({"model": "GL_AD_ID", "steps": 0}, "steps=0: expected a whole number of at least 1"),
        ({"model": "GL_AD_ID", "steps": 2.5}, "steps=2.5: expected a whole number"),
        ({"model": "GL_AD_ID", "start": "last"}, "start='last': expected 'first', 'uniform' or numbers"),
        ({"distribution": [1, 1, 1], "steps": 3}, "declared by a distribution takes none"),
    ],
)
def test_wrong_declarations(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(MeasureError, match=message):
        MarkovUser(**arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"weights": np.ones((2, 2))}, r"weights of shape \(2, 2\), expected \(3, 3\)"),
        ({"weights": [1, 2]}, r"weights of shape \(2,\), expected \(3, 3\)"),
        ({"weights": lambda i, j: j - i}, "the weight from rank 2 to rank 1 is -1"),
        ({"weights": lambda i, j: np.where(i == 2, np.nan, 1.0)}, "the weight from rank 2 to rank 1 is nan"),
        ({"weights": lambda i, j: np.where(i == 2, 0.0, 1.0)}, "cannot leave rank 2: all weights from there are 0"),
        ({"weights": lambda i, j: 1 / (i - j) ** 2, "loops": "SL"}, "from rank 1 to rank 1 is inf"),
        ({"matrix": np.ones((3, 3))}, "the probabilities at rank 1 sum to 3, expected 1"),
        ({"matrix": [["a"]]}, "probabilities: expected a square array of numbers"),
        ({"matrix": np.eye(3)}, "not irreducible: ranks 2, 3 cannot be reached from rank 1"),
        ({"model": "GL_AD_ID", "rates": [1, 0]}, "the rate at rank 3 is 0, expected a finite number above 0"),
        ({"model": "GL_AD_ID", "rates": [[1, 2]]}, r"rates: expected a number for each rank, found an array of shape"),
        ({"model": "GL_AD_ID", "rates": "fast"}, "rates: expected a number for each rank, or a function"),
        ({"model": "GL_AD_ID", "steps": 2, "start": [0, 0, 0]}, "start: expected a probability"),
        ({"model": "GL_OR_ID", "steps": 2, "start": [0, 1, 0]}, "start: expected a probability"),  # none of her ranks
        (
            {"model": "GL_AD_ID", "steps": 2, "start": [1]},
            "start: found 1 numbers, expected one for each rank, down to 3",
        ),
    ],
)
def test_wrong_chains(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(MeasureError, match=message):
        MarkovUser(**arguments).over([1, 0, 1])  # type: ignore[arg-type]


# ---- what she does


def test_the_user_never_stops() -> None:
    user = MarkovUser("GL_AD_ID").over(GRADES)
    for name in ("last", "expected_depth", "visits", "continuation", "halting", "beyond", "tail"):
        with pytest.raises(MeasureError, match="^the user never stops"):
            getattr(user, name)
    with pytest.raises(AttributeError, match="no attribute 'depth'"):
        _ = user.depth
    with pytest.raises(MeasureError, match="residual"):
        user.residual(-1)
    with pytest.raises(MeasureError, match="moves=-1"):
        user.after(-1)
    with pytest.raises(MeasureError, match="one list of gains"):
        MarkovUser("GL_AD_ID").over([[1, 0]])
    assert copy.copy(user).score == user.score


def test_the_user_stops_after_some_steps() -> None:
    user = MarkovUser("GL_AD_ID", steps=10).over(GRADES)
    for name in ("last", "expected_depth", "visits", "continuation"):
        with pytest.raises(MeasureError, match="^the user stops after 10 looks, at any rank: there is no last rank"):
            getattr(user, name)
    assert MarkovUser("GL_AD_ID", steps=1).over(GRADES).ends == "stops after 1 look, at any rank"
    assert MarkovUser("GL_AD_ID").over(GRADES).ends == "never stops"


def test_residual() -> None:
    user = MarkovUser("LO_OR_ID").over([1, 1, 0, 1])
    assert [user.residual(k) for k in range(6)] == pytest.approx([1, 0.7, 0.2, 0.2, 0, 0])


def test_rescaling() -> None:
    for rescale, scale in (("NA", 1), ("R", 4 / 8), ("RR", 4 / 5)):
        user = MarkovUser("GL_AD_ID", rescale=rescale).over(GRADES, relevant=8, most=5)
        assert user.scale == scale
        assert user.score == pytest.approx(scale * MarkovUser("GL_AD_ID").over(GRADES).score)
    assert MarkovUser("GL_AD_ID", rescale="RR").over(GRADES).scale == 1  # nothing is known of other runs


def test_stories() -> None:
    assert MarkovUser("GL_AD_ID", rescale="R").story.endswith("relevant documents that the list holds.")
    assert "10 times" in MarkovUser("GL_AD_ID", steps=10).story
    assert "time" in MarkovUser("GL_AD_ID", rates=[1]).story
    assert "a weight of her own" in MarkovUser(weights=np.ones((2, 2))).story
    assert "a matrix of her own" in MarkovUser(matrix=np.ones((2, 2)) / 2, states="OR").story
    assert "was given" in MarkovUser(distribution=[1]).story


def test_nothing_given_is_changed() -> None:
    weights, grades = np.ones((4, 4)), np.array([1.0, 0.0, 1.0, 1.0])
    rates, start = np.array([1.0, 2.0, 3.0, 4.0]), np.array([0.5, 0.0, 0.5, 0.0])
    before = [x.copy() for x in (weights, grades, rates, start)]
    markov = MarkovUser(weights=weights, rates=rates, steps=4, start=start)
    first = markov.over(grades)
    _ = first.transitions, first.everywhere, first.after(3)
    for given_array, kept in zip((weights, grades, rates, start), before, strict=True):
        np.testing.assert_array_equal(given_array, kept)
    weights[0, 1], rates[:], start[:] = 50.0, 7.0, 0.25  # too late to change her
    np.testing.assert_array_equal(markov.over(grades).weights, first.weights)
    np.testing.assert_array_equal(
        MarkovUser(weights=before[0], rates=before[2], steps=4, start=before[3]).over(grades).weights, first.weights
    )


# ---- whatever the list


@given(
    st.lists(st.integers(0, 1), min_size=1, max_size=40),
    st.sampled_from(EVERY),
    st.sampled_from([None, 1, 7]),
    st.integers(0, 2**32),
)
@examples(200)
def test_properties(grades: list[int], words: tuple[str, str, str], steps: int | None, seed: int) -> None:
    model, loops, counts = words
    rates = np.random.default_rng(seed).uniform(0.1, 10, len(grades))
    user = MarkovUser(model, loops=loops, counts=counts, steps=steps, rates=rates).over(grades)
    off = np.array(grades) == 0
    assert user.weights.shape == user.everywhere.shape == user.precision.shape == (len(grades),)
    assert (user.weights[off] == 0).all()
    assert (user.weights >= 0).all()
    if any(grades):
        assert user.weights.sum() == pytest.approx(1, abs=1e-12)
        assert user.everywhere.sum() == pytest.approx(1, abs=1e-12)
        low, high = user.precision[~off].min(), user.precision[~off].max()
        assert low - 1e-12 <= user.score <= high + 1e-12
    assert user.score == MarkovUser(model, loops=loops, counts=counts, steps=steps, rates=rates).over(grades).score


@given(st.lists(st.integers(0, 1), min_size=2, max_size=30), st.sampled_from(MODELS), st.sampled_from(list(LOOPS)))
@examples(100)
def test_without_counts_up_and_down_are_alike(grades: list[int], model: str, loops: str) -> None:
    forth = MarkovUser(model, loops=loops).over(grades).weights
    np.testing.assert_allclose(MarkovUser(model, loops=loops).over(grades[::-1]).weights[::-1], forth, atol=1e-13)


# ---- chains of one's own that a dense solve gets wrong


def exact_stationary(p: list[list[Fraction]]) -> list[Fraction]:
    """The stationary distribution by elimination with fractions: nothing is rounded."""
    a = [row[:] for row in p]
    n = len(a)
    for k in range(n - 1, 0, -1):
        leaves = sum(a[k][:k])
        for i in range(k):
            a[i][k] /= leaves
            for j in range(k):
                a[i][j] += a[i][k] * a[k][j]
    pi = [Fraction(1)]
    for k in range(1, n):
        pi.append(sum((pi[i] * a[i][k] for i in range(k)), Fraction(0)))
    total = sum(pi)
    return [x / total for x in pi]


@pytest.mark.parametrize("c", [1.0, 2.0, 3.0])
def test_shares_of_any_size_are_exact(c: float) -> None:
    # she is drawn back so strongly that at the relevant ranks next to nothing of the distribution is left
    n, relevant = 14, slice(10, 14)
    weights = lambda i, j: np.exp(-c * np.abs(i - j)) * np.where(j > i, 1.0, 50.0)  # noqa: E731
    rank = np.arange(1.0, n + 1.0)
    w = weights(rank[:, None], rank[None, :])
    np.fill_diagonal(w, 0.0)
    p = [[Fraction(float(x)) for x in row] for row in w]
    p = [[x / sum(row) for x in row] for row in p]
    exact = exact_stationary(p)[relevant]
    want = [float(x / sum(exact)) for x in exact]
    got = MarkovUser(weights=weights).over([0] * 10 + [1] * 4).weights[relevant]
    np.testing.assert_allclose(got, want, rtol=1e-12)


@pytest.mark.parametrize("e", [1e-6, 1e-12, 1e-17, 1e-30])
def test_a_chain_that_nearly_falls_apart(e: float) -> None:
    rows = [[0, 1, e, 0], [1, 0, 0, 0], [0, 0, 0, 1], [3 * e, 0, 1, 0]]
    p = [[Fraction(x) for x in row] for row in rows]
    exact = [float(x) for x in exact_stationary([[x / sum(row) for x in row] for row in p])]
    np.testing.assert_allclose(MarkovUser(weights=rows).over([1, 1, 1, 1]).weights, exact, rtol=1e-12)


def test_many_moves_stay_a_distribution() -> None:
    user = MarkovUser("GL_AD_ID").over([1, 0, 1, 1])
    long = user.after(10**40)
    assert long.sum() == pytest.approx(1, abs=1e-12)
    np.testing.assert_allclose(long[[0, 2, 3]], user.weights[[0, 2, 3]], rtol=1e-10)


def test_tiny_rates_and_huge_weights() -> None:
    assert amble.parse("MP(rates='1e-320')").value([1, 0, 1]) == pytest.approx(amble.parse("MP").value([1, 0, 1]))
    small, huge = (MarkovUser(weights=lambda i, j, k=k: k / (np.abs(i - j) + 1.0)) for k in (1.0, 1e307))
    np.testing.assert_allclose(huge.over([1, 0, 1]).weights, small.over([1, 0, 1]).weights, rtol=1e-12)


def test_what_is_no_weight() -> None:
    for make in (
        lambda: MarkovUser(weights=lambda i, j: "a").over([1, 1]),
        lambda: MarkovUser(weights=lambda i, j: np.ones(3)).over([1, 1]),
        lambda: MarkovUser("GL_AD_ID").over(["a"]),
        lambda: MarkovUser("GL_AD_ID", loops=["NL"]),  # type: ignore[arg-type]
        lambda: MarkovUser("GL_AD_ID", rescale=["R"]),  # type: ignore[arg-type]
        lambda: MarkovUser("GL_AD_ID").over([1]).residual(1.5),
    ):
        with pytest.raises(amble.MeasureError):
            make()
    for text in ("1,,2", "1e400", "1_000", "1,a"):
        with pytest.raises(amble.MeasureError, match="no such file"):
            amble.parse(f"MP(rates='{text}')")


@pytest.mark.parametrize("model", MODELS)
def test_who_starts_at_a_relevant_rank_looks_there_first_without_rounding(model: str) -> None:
    m = amble.parse(f"MP(model='{model}',steps=1)")
    distribution = m.distribution([1, 0, 1, 1, 0, 0, 1])
    assert (distribution.values.tolist(), distribution.quantile(0)) == ([1.0], 1.0)
    # started at rank 3, which is relevant: precision 2/3 there
    distribution = (
        MarkovUser(model, steps=1, start=[0, 0, 1, 0, 0, 0, 0]).over([1, 0, 1, 1, 0, 0, 1]).distribution
        if "AD" in model
        else None
    )
    assert distribution is None or distribution.values.tolist() == [2 / 3]


# ---- users of some steps: golden values, and users who remember


@pytest.mark.parametrize(
    ("start", "mean", "sd"),
    [("first", 0.765209496490, 0.040361908627), ("uniform", 0.741596773963, 0.043294139361)],
)
def test_ten_looks(start: str, mean: float, sd: float) -> None:
    grades = [1, 0, 1, 1, 0, 0, 1]
    m = amble.parse(f"MP(model='GL_AD_ID',steps=10,start='{start}')")
    assert m.value(grades) == pytest.approx(mean, abs=5e-13)
    assert np.sqrt(m.user(grades).variance) == pytest.approx(sd, abs=5e-13)
    exact = m.distribution(grades)
    assert (exact.mean, exact.sd) == pytest.approx((mean, sd), abs=5e-13)
    simulated = amble.simulate(m, grades, users=20_000, seed=1)
    assert abs(simulated.mean - mean) < 4 * simulated.standard_error
    assert simulated.sd == pytest.approx(sd, rel=0.03)


def remembered(grades: list[int], p: np.ndarray, ranks: list[int], start: np.ndarray, steps: int) -> dict[float, float]:
    """The score of a user who remembers, and its probability, by following every path."""
    precision = np.cumsum(grades) / np.arange(1, len(grades) + 1)
    out: dict[float, float] = {}

    def go(at: int, seen: frozenset[int], looks: int, total: float, mass: float) -> None:
        seen = seen | {at}
        if grades[ranks[at] - 1]:
            looks, total = looks + 1, total + float(precision[ranks[at] - 1])
        if looks == steps:
            score = round(total / steps, 12)
            out[score] = out.get(score, 0.0) + mass
            return
        if mass < 1e-9:
            return
        if len(seen) == len(ranks):
            seen = frozenset({at})
        moves = {j: p[at, j] for j in range(len(ranks)) if p[at, j] > 0 and j not in seen}
        moves = moves or {j: p[at, j] for j in range(len(ranks)) if p[at, j] > 0}
        for j, weight in moves.items():
            go(j, seen, looks, total, mass * weight / sum(moves.values()))

    for i, mass in enumerate(start.tolist()):
        if mass:
            go(i, frozenset(), 0, 0.0, mass)
    return out


@pytest.mark.parametrize(
    ("model", "steps", "start"),
    [("GL_AD_ID", 2, "first"), ("GL_OR_LID", 5, "uniform"), ("LO_AD_ID", 4, "uniform"), ("LO_OR_ID", 3, "uniform")],
)
def test_users_who_remember(model: str, steps: int, start: str) -> None:
    grades = [1, 0, 1, 1, 0]
    ranks, p = reference.transitions(grades, *model.split("_")[:2], "NL", "NA", model.split("_")[2])
    first = np.full(len(ranks), 1 / len(ranks)) if start == "uniform" else np.eye(len(ranks))[0]
    exact = remembered(grades, np.asarray(p), list(ranks), first, steps)
    assert sum(exact.values()) == pytest.approx(1, abs=1e-5)
    mean = sum(score * mass for score, mass in exact.items())
    m = amble.parse(f"MP(model='{model}',steps={steps},start='{start}',memory=True,users=20000,seed=3)")
    user = m.user(grades)
    assert m.value(grades) == user.score == pytest.approx(float(user.weights @ user.precision), abs=1e-12)
    sd = np.sqrt(sum(mass * (score - mean) ** 2 for score, mass in exact.items()))
    assert user.standard_error == pytest.approx(sd / np.sqrt(20_000), rel=0.05, abs=1e-8)
    assert abs(user.score - mean) <= 4 * user.standard_error + 1e-9
    found = amble.simulate(m, grades, users=20_000, seed=8)
    for score, mass in exact.items():
        near = np.abs(found.values - score) < 1e-9
        assert found.probs[near].sum() == pytest.approx(mass, abs=4 * np.sqrt(mass * (1 - mass) / 20_000) + 1e-5)


def test_a_user_who_remembers_sees_all_once() -> None:
    # as many looks as there are relevant documents: each once, whatever the order: (1 + 2/3 + 3/4 + 4/7) / 4
    m = amble.parse("MP(steps=4,memory=True,users=200)")
    assert m.value([1, 0, 1, 1, 0, 0, 1]) == pytest.approx((1 + 2 / 3 + 3 / 4 + 4 / 7) / 4, abs=1e-12)
    assert amble.parse(str(m)) == m != amble.parse("MP(steps=4,memory=True,users=200,seed=1)")
    assert m.value([0, 1, 0]) == pytest.approx(1 / 2)
    assert [m.value(grades) for grades in ([], [0, 0], [1], [1, 1])] == [0, 0, 1, 1]
    # the share of time: 4 at rank 1, 1 elsewhere; rescaled by 2 of 4 found
    timed = amble.parse("MP(steps=2,memory=True,users=200,rates='0.25,1',rescale='R')").value([1, 0, 1], relevant=4)
    assert timed == pytest.approx((4 / 5 * 1 + 1 / 5 * 2 / 3) / 2, abs=1e-12)
    with pytest.warns(amble.SimulationWarning, match="depends on all that was visited"):
        assert m.distribution([1, 0, 1], users=100).users == 100
    with pytest.raises(MeasureError, match="there are no transitions"):
        _ = m.user([1, 0, 1]).transitions
    with pytest.raises(MeasureError, match="there are no transitions"):
        _ = m.user([1, 0, 1]).transition_matrix
    for text, message in (
        ("MP(memory=True)", "memory goes with steps only"),
        ("MP(steps=3,seed=1)", "seed goes with memory only"),
        ("MP(steps=3,users=10)", "users goes with memory only"),
        ("MP(steps=3,memory=True,users=0)", "users=0 is not allowed"),
        ("MP(steps=3,memory=10)", "memory=10 is not allowed, expected True or False"),
    ):
        with pytest.raises(MeasureError, match=message):
            amble.parse(text)
    with pytest.raises(MeasureError, match="memory goes with steps only"):
        MarkovUser("GL_AD_ID", memory=True)
