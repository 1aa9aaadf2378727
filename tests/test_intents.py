"""Measures of intents: by hand, against formulas written apart, against ndeval, against brute force over intents."""

from __future__ import annotations

import contextlib
import json
import math
import random
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from drawing import examples
from hypothesis import given
from hypothesis import strategies as st

import amble
from amble.errors import MeasureError, ReadError, SimulationWarning
from amble.measures.declaration import REGISTRY
from amble.measures.intent_measure import lists_of_intents
from amble.users.protocol import Question

# d1: a, d2: ab, d4: c, d5: bc, d6: a; the list is d1 to d5 (d3 is judged, and on nothing)
LIST = [[1, 0, 0], [1, 1, 0], [0, 0, 0], [0, 0, 1], [0, 1, 1]]
JUDGED = [*LIST, [1, 0, 0]]
# those whose score is a sum over documents, and has an exact distribution; and those of which either is not so
PEOPLE = [name for name, d in REGISTRY.items() if d.of_intents and name not in ("IA", "StRec", "DSharp_nDCG")]
PEOPLE += ["alpha_nDCG@5", "IA(of='AP')", "IA(of='INST(T=2)')", "IA(of='RBP',novel=0.5)", "IA(of='nDCG@3')"]
IN_ALL = ["StRec", "StRec@2", "DSharp_nDCG", "IA(of='PH',novel=0.5)", "IA(of='bpref')"]
OF_INTENTS = [*PEOPLE, *IN_ALL]
Judged = dict[str, dict[str, dict[str, float]]]


def _log(rank: int) -> float:
    return 1.0 / math.log2(rank + 1)


def test_a_list_by_hand() -> None:
    # gains of the list with alpha 1/2: 1, 1/2 + 1, 0, 1, 1/2 + 1/2; of the ideal d5, d2, then of d6, d4, d1, each worth
    # 1/2, d6 (the last by docno), d4 and d1 (a is worth 1/4 then): 2, 1 + 1/2, 1/2, 1/2, 1/4
    dcg = _log(1) + 1.5 * _log(2) + _log(4) + _log(5)
    best = 2 * _log(1) + 1.5 * _log(2) + 0.5 * _log(3) + 0.5 * _log(4) + 0.25 * _log(5)
    most = sum(0.5 ** (i - 1) * _log(i) for i in range(1, 6))
    ours = {
        "alpha_nDCG@5": dcg / best,
        "alpha_DCG@5": dcg / (3 * most),
        # ERR of a: 1/2 + 1/8; of b: 1/4 + 1/20; of c: 1/8 + 1/20: 1.1 in all, and a third is .366...
        "IA(of='ERR')@5": 1.1 / 3,
        "ERR_IA@5": 1.1 / 3 / sum(0.5**i / i for i in range(1, 6)),
        # (1 - 1/4) / 3 x (1 + 1.5/2 + 1/8 + 1/16)
        "NRBP": 0.75 / 3 * (1 + 0.75 + 1 / 8 + 1 / 16),
        # of a: (1 + 1) / 3, as d6 is not there; of b: (1/2 + 2/5) / 2; of c: (1/4 + 2/5) / 2
        "MAP_IA": (2 / 3 + 0.45 + 0.325) / 3,
        "P_IA@2": (1 + 1 / 2 + 0) / 3,
        "StRec@3": 2 / 3,
        # gains (1/3 each) 1, 2, 0, 1, 2; ideal 2, 2, 1, 1, 1
        "D_nDCG@5": (1 + 2 * _log(2) + _log(4) + 2 * _log(5)) / (2 + 2 * _log(2) + _log(3) + _log(4) + _log(5)),
        "DSharp_nDCG(gamma=0.25)@3": 0.25 * 2 / 3 + 0.75 * (1 + 2 * _log(2)) / (2 + 2 * _log(2) + _log(3)),
    }
    for name, value in ours.items():
        assert amble.parse(name).value(LIST, ideal=JUDGED) == pytest.approx(value, rel=1e-13), name
    assert f"{amble.parse('alpha_nDCG@5').value(LIST, ideal=JUDGED):.12f}" == "0.787791491749"
    assert f"{amble.parse('ERR_IA@5').value(LIST, ideal=JUDGED):.12f}" == "0.532526475038"


def test_a_walk_that_is_paid_by_subtopic() -> None:
    m = amble.parse("IA(of='PH(p=0.5,q=0.25)',novel=0.5)")
    lists = lists_of_intents(LIST, JUDGED, None, None)
    assert f"{3 * m.answers(Question.TOTAL, lists)[0]:.12f}" == "2.828542033596"  # the sum over three subtopics


def _followed(covers: list[int], novel: float, p: float, q: float) -> tuple[float, float]:
    """E[T] and E[T / H] of the walk on one subtopic, all readers followed over (rank, times seen, visits)."""
    n, total, rate = len(covers), 0.0, 0.0
    here = {(0, 0): (1.0, 0.0)}  # rank and times the subtopic was seen: share of readers, and their gain x share
    for h in range(1, 400):
        after: dict[tuple[int, int], tuple[float, float]] = {}
        for (i, k), (share, gain) in here.items():
            gain += share * covers[i] * (1 - novel) ** k
            k += int(covers[i] > 0)
            steps = [(i + 1, p + (q if i == 0 else 0.0))] + ([(i - 1, q)] if i else [])
            left = 1.0
            for to, x in steps:
                if to < n:
                    s, g = after.get((to, k), (0.0, 0.0))
                    after[to, k] = s + x * share, g + x * gain
                    left -= x
            total += left * gain
            rate += left * gain / h
        here = {key: value for key, value in after.items() if value[0] > 1e-18}
    return total, rate


@pytest.mark.parametrize("novel", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("covers", [[1, 1, 0, 1], [0, 2, 1], [1], [0, 0, 3, 0, 1]])
def test_walks_against_all_readers_followed(covers: list[int], novel: float) -> None:
    total, rate = _followed(covers, novel, 0.45, 0.3)
    m = amble.parse(f"IA(of=\"PH(p=0.45,q=0.3,gains='linear')\",novel={novel})")
    lists = lists_of_intents(covers, None, None, None)
    assert m.answers(Question.TOTAL, lists)[0] == pytest.approx(total, abs=1e-12)
    assert m.scores(lists)[0] == pytest.approx(rate, abs=1e-10)


def test_chains_are_paid_by_subtopic_too() -> None:
    # a chain that makes the walk's moves is the walk
    chain = amble.users.Chain.from_moves({+1: 0.45, -1: 0.3})
    walk = amble.parse("IA(of='PH(p=0.45,q=0.3)',novel=0.3)")
    ours = amble.parse("IA(of='P')")(of=amble.parse("PH")(user=chain), novel=0.3)
    assert ours.value(LIST) == pytest.approx(walk.value(LIST), rel=1e-12)


# ---- formulas written apart: ndeval's, in a few lines


def _gains(docs: list[str], judged: dict[str, dict[str, float]], alpha: float) -> list[float]:
    left, out = dict.fromkeys(judged, 1.0), []
    for doc in docs:
        on = [s for s in judged if judged[s].get(doc, 0) >= 1]
        out.append(sum(left[s] for s in on))
        for s in on:
            left[s] *= 1 - alpha
    return out


def _ideal(judged: dict[str, dict[str, float]], alpha: float) -> list[str]:
    rest, left, out = sorted({d for own in judged.values() for d in own}, reverse=True), dict.fromkeys(judged, 1.0), []
    while rest:
        worth = [sum(left[s] for s in judged if judged[s].get(d, 0) >= 1) for d in rest]
        out.append(rest.pop(worth.index(max(worth))))
        for s in judged:
            left[s] *= 1 - alpha if judged[s].get(out[-1], 0) >= 1 else 1.0
    return out


def _apart(docs: list[str], judged: dict[str, dict[str, float]], k: int, alpha: float, beta: float) -> dict[str, float]:
    relevant = {s: {d for d, g in own.items() if g >= 1} for s, own in judged.items()}
    relevant = {s: own for s, own in relevant.items() if own}
    m, ideal = len(relevant), _ideal(judged, alpha)

    def summed(of: list[str], discount: Callable[[int], float], depth: int | None) -> float:
        return sum(g * discount(i) for i, g in enumerate(_gains(of, judged, alpha)[:depth], 1))

    def most(discount: Callable[[int], float]) -> float:
        return m * sum((1 - alpha) ** (i - 1) * discount(i) for i in range(1, k + 1))

    out = {}
    for name, discount in (("alpha_DCG", _log), ("ERR_IA", lambda i: 1 / i)):
        how = f"(alpha={alpha})@{k}"
        out[f"{name}{how}"] = summed(docs, discount, k) / most(discount)
        normed = {"alpha_DCG": "alpha_nDCG", "ERR_IA": "nERR_IA"}[name]
        out[f"{normed}{how}"] = summed(docs, discount, k) / summed(ideal, discount, k)
    how = f"(alpha={alpha},beta={beta})"
    nrbp = [(1 - (1 - alpha) * beta) / m * summed(of, lambda i: beta ** (i - 1), None) for of in (docs, ideal)]
    out |= {f"NRBP{how}": nrbp[0], f"nNRBP{how}": nrbp[0] / nrbp[1]}
    out[f"P_IA@{k}"] = sum(len(own & set(docs[:k])) for own in relevant.values()) / k / m
    out[f"StRec@{k}"] = sum(bool(own & set(docs[:k])) for own in relevant.values()) / m
    ranks = [[i for i, d in enumerate(docs, 1) if d in own] for own in relevant.values()]
    precision = [sum(n / i for n, i in enumerate(own, 1)) for own in ranks]
    out["MAP_IA"] = sum(x / len(own) for x, own in zip(precision, relevant.values(), strict=True)) / m
    return out


def _collection(seed: int, topics: int, grades: tuple[int, ...] = (0, 1)) -> tuple[Judged, dict[str, dict[str, float]]]:
    """Judgments of subtopics, each topic with something relevant, and a run without ties."""
    rng = random.Random(seed)
    judged: Judged = {}
    run: dict[str, dict[str, float]] = {}
    for t in map(str, range(topics)):
        docs = [f"d{i:02d}" for i in range(40)]
        rng.shuffle(docs)
        judged[t] = {
            f"s{s}": {d: float(rng.choice(grades) if rng.random() < 0.5 else 0) for d in docs[: rng.randrange(3, 30)]}
            for s in range(rng.randrange(1, 6))
        }
        judged[t]["s0"][docs[0]] = float(max(grades))
        found = [docs[0], *rng.sample(docs[1:], rng.randrange(39))]
        rng.shuffle(found)
        run[t] = {d: float(len(found) - i) for i, d in enumerate(found)}
    return judged, run


@pytest.mark.parametrize(("alpha", "beta"), [(0.5, 0.5), (0.25, 0.75), (1.0, 0.5)])
def test_against_formulas_written_apart(alpha: float, beta: float) -> None:
    judged, run = _collection(5, 25)
    for k in (1, 5, 20):
        apart = {t: _apart(list(docs), judged[t], k, alpha, beta) for t, docs in run.items()}
        scores = amble.evaluate(judged, {"x": run}, list(apart["0"]))
        for name in apart["0"]:
            theirs = [apart[t][name] for t in scores.topics]
            assert scores["x", name] == pytest.approx(theirs, abs=1e-12), name


def test_against_ndeval() -> None:
    pyndeval = pytest.importorskip("pyndeval", reason="pip install pyndeval: ndeval's own core")
    judged, run = _collection(7, 40)
    names = {"ERR-IA": "ERR_IA", "nERR-IA": "nERR_IA", "alpha-DCG": "alpha_DCG", "alpha-nDCG": "alpha_nDCG"}
    theirs = [f"{name}@{k}" for name in (*names, "P-IA", "strec") for k in (2, 5, 20)] + ["NRBP", "nNRBP", "MAP-IA"]
    qrels = [(t, s, d, int(g)) for t, own in judged.items() for s, docs in own.items() for d, g in docs.items()]
    lines = [(t, d, score) for t, docs in run.items() for d, score in docs.items()]
    found = pyndeval.ndeval(qrels, lines, theirs)
    scores = amble.evaluate(judged, {"x": run}, theirs)  # ndeval's names are understood
    assert scores.measures == tuple(theirs)
    for name in theirs:
        assert scores["x", name] == pytest.approx([found[t][name] for t in scores.topics], abs=1e-12), name


def test_ties_of_the_greedy_choice_are_by_docno_descending() -> None:
    # b and c bring as much at first; c, the last by docno, is taken, then a brings 1 (s3), b only 1/2
    judged: Judged = {"1": {"s1": {"b": 1, "c": 1}, "s2": {"b": 1}, "s3": {"a": 1, "c": 1}}}
    best = 2 * _log(1) + (0.5 + 1) * _log(2) + 0.5 * _log(3)  # c, b (s1 again, s2), a (s3 again)
    scores = amble.evaluate(judged, {"x": {"1": {"a": 1.0}}}, "alpha_nDCG@3")
    assert scores["x", "alpha_nDCG@3"][0] == pytest.approx(1 / best, rel=1e-14)


def test_grades_by_hand() -> None:
    # gains='exp' of grades 2 and 1: 3 and 1; the second document on s brings half of 1
    judged: Judged = {"1": {"s": {"a": 2, "b": 1}, "t": {"b": 2, "c": -2}}}
    run = {"x": {"1": {"c": 4.0, "a": 3.0, "b": 2.0}}}
    scores = amble.evaluate(judged, run, ["alpha_nDCG(gains='exp')@3", "alpha_nDCG(rel=2)@3", "D_nDCG@3", "AP"])
    dcg = 3 * _log(2) + (0.5 + 3) * _log(3)
    best = 4 * _log(1) + 1.5 * _log(2)  # b brings 1 + 3, then a half of 3
    assert scores["x", "alpha_nDCG(gains='exp')@3"][0] == pytest.approx(dcg / best, rel=1e-14)
    assert scores["x", "alpha_nDCG(rel=2)@3"][0] == pytest.approx((_log(2) + _log(3)) / (1 + _log(2)), rel=1e-14)
    assert scores["x", "D_nDCG@3"][0] == pytest.approx((2 * _log(2) + 3 * _log(3)) / (3 + 2 * _log(2)), rel=1e-14)
    assert scores["x", "AP"][0] == pytest.approx((1 / 2 + 2 / 3) / 2)  # by the largest grade of each document


# ---- any measure, intent by intent

_ANY = [
    name
    for name in REGISTRY
    if not (d := REGISTRY[name]).of_sessions
    and not d.of_intents
    and d.aggregate == "mean"
    and name not in ("NCP", "CWL")
]


def test_ia_of_every_measure_is_the_mean_over_intents() -> None:
    judged, run = _collection(11, 6, (1, 2, 3))
    for own in judged.values():
        for docs in own.values():
            docs[next(iter(docs))] = 3.0  # so that the largest grade is the same whatever the intent
    share = {t: {s: 1 / len(own) for s in own} for t, own in judged.items()}
    share["3"] = {s: (i + 1) / sum(range(1, len(share["3"]) + 1)) for i, s in enumerate(share["3"])}
    wide = amble.evaluate(judged, {"x": run}, [f"IA(of='{name}')" for name in _ANY], intents=share)
    # each intent as a topic of its own
    alone = {f"{t} {s}": docs for t, own in judged.items() for s, docs in own.items()}
    plain = amble.evaluate(alone, {"x": {name: run[name.split()[0]] for name in alone}}, _ANY)
    for j, name in enumerate(_ANY):
        by_intent = dict(zip(plain.topics, plain.values[0, :, j], strict=True))
        ours = dict(zip(wide.topics, wide.values[0, :, j], strict=True))
        for t, own in share.items():
            mean = sum(p * by_intent[f"{t} {s}"] for s, p in own.items())
            assert ours[t] == pytest.approx(mean, abs=1e-12), (name, t)


def test_one_intent_and_no_loss_are_the_plain_measure() -> None:
    judged, run = _collection(13, 8)
    one = {t: {"only": own["s0"]} for t, own in judged.items()}
    plain = {t: own["s0"] for t, own in judged.items()}
    same = {
        "alpha_nDCG(alpha=0)@10": "nDCG@10",
        "alpha_DCG(alpha=0)@10": "DCG@10",
        "NRBP(alpha=0,beta=0.8)": "RBP(p=0.8)",
        "MAP_IA": "AP",
        "P_IA@5": "P@5",
        "StRec@5": "Success@5",
        "D_nDCG@10": "nDCG@10",
        "IA(of='INST(T=2)')": "INST(T=2)",
        "IA(of='RBP',novel=0)": "RBP",
        "IA(of='PH',novel=0)": "PH(loss=0)",
        "IA(of='PH(order=2)',novel=0)": "PH(order=2,loss=0)",
        "IA(of='RBP(p=Beta(8,2))')": "RBP(p=Beta(8,2))",
    }
    ours, theirs = (amble.evaluate(q, {"x": run}, m) for q, m in ((one, list(same)), (plain, list(same.values()))))
    by = sum(_log(i) for i in range(1, 11))
    for name, other in same.items():
        expected = theirs["x", other] / (by if name.startswith("alpha_DCG") else 1.0)
        assert ours["x", name] == pytest.approx(expected, abs=1e-12), name


@given(st.integers(0, 10_000))
@examples(40)
def test_scores_are_shares_and_do_not_fall_by_a_document_on_something_new(seed: int) -> None:
    judged, run = _collection(seed, 1)
    names = ["alpha_DCG@10", "ERR_IA@10", "NRBP", "MAP_IA", "P_IA@10", "StRec@10", "DSharp_nDCG@10"]
    before = amble.evaluate(judged, {"x": run}, names)
    assert ((before.values >= 0) & (before.values <= 1 + 1e-12)).all()
    more = {"0": {"new": max(run["0"].values()) + 1, **run["0"]}}
    everything = {"0": {s: {**own, "new": 1.0} for s, own in judged["0"].items()}}
    after = amble.evaluate(everything, {"x": more}, names[:3])
    assert (after.values >= before.values[:, :, :3] - 1e-12).all()


@given(st.integers(0, 10_000))
@examples(40)
def test_many_lists_at_once_are_each_list_alone(seed: int) -> None:
    judged, run = _collection(seed, 3, (-1, 1, 2))
    # alone, a document has no name, and the first are taken for the last by docno
    for t, found in run.items():
        rest = sorted({d for own in judged[t].values() for d in own} - set(found))
        name = {d: f"{99 - i}" for i, d in enumerate([*found, *rest])}
        run[t] = {name[d]: x for d, x in found.items()}
        judged[t] = {s: {name[d]: g for d, g in own.items()} for s, own in judged[t].items()}
    scores = amble.evaluate(judged, {"x": run}, OF_INTENTS)
    for i, t in enumerate(scores.topics):
        docs = sorted({*run[t], *(d for own in judged[t].values() for d in own)}, reverse=True)
        table = {d: [own.get(d, math.nan) for own in judged[t].values()] for d in docs}
        grades, ideal = [table[d] for d in run[t]], [row for row in table.values() if not np.isnan(row).all()]
        for j, m in enumerate(scores.parsed):
            alone = m.value(grades, ideal=ideal, max_grade=2)
            assert scores.values[0, i, j] == pytest.approx(alone, abs=1e-12), (str(m), t)


@given(st.integers(0, 10_000))
@examples(30)
def test_blind_to_names_and_rows(seed: int) -> None:
    judged, run = _collection(seed, 3, (0, 1, 2))
    rng = random.Random(seed)

    def shuffled(table: dict[str, Any], rename: str = "{}") -> dict[str, Any]:
        return {rename.format(key): table[key] for key in rng.sample(list(table), len(table))}

    # the order of docnos stays, by which ties of the greedy choice are broken
    other = {t: shuffled({f"<{s}": shuffled(d, "x{}y") for s, d in own.items()}) for t, own in judged.items()}
    scores = amble.evaluate(judged, {"x": run}, OF_INTENTS)
    again = amble.evaluate(shuffled(other), {"x": {t: shuffled(d, "x{}y") for t, d in run.items()}}, OF_INTENTS)
    places = [again.topics.index(t) for t in scores.topics]
    np.testing.assert_allclose(again.values[:, places], scores.values, atol=1e-13)


def test_graded_gains_are_not_bounded() -> None:
    # 3/4 of 1 + 3 x 1/2 x 1/4
    graded = amble.parse("NRBP(gains='exp')")
    assert graded.value([1, 0, 2]) == pytest.approx(0.75 * 1.375)
    assert not graded.declaration.bounded
    assert not amble.parse("alpha_DCG(gains='exp')").declaration.bounded
    assert amble.parse("NRBP").declaration.bounded
    assert amble.parse("alpha_DCG").declaration.bounded


@pytest.mark.parametrize(
    "text",
    [
        "IA(of='AP',novel=5e-324)",
        "IA(of='PH',novel=0.9999999999999999)",
        "IA(of=\"DCG(gains='1=1e308')\")",
        "IA(of=\"DCG(gains='1=1e308')\",novel=0.5)",
        "IA(of='INST(T=1e308)',novel=0.5)",
    ],
)
def test_extreme_numbers_are_right_or_refused(text: str) -> None:
    for grades in ([[1, 0], [1, 2]], [[1e308, 1], [0, 1e308]], [[5e-324, 0], [1e-308, 1]], [[-1e308, 1]], []):
        with contextlib.suppress(MeasureError):
            assert math.isfinite(amble.parse(text).value(grades)), grades


# ---- people


@pytest.mark.parametrize("name", OF_INTENTS)
def test_parts_of_documents_add_up(name: str) -> None:
    judged, run = _collection(31, 3, (0, 1, 2))
    runs = {"x": run, "y": {t: {d: -x for d, x in docs.items()} for t, docs in run.items()}}
    scores = amble.evaluate(judged, runs, name)
    for i, t in enumerate(scores.topics):
        found = amble.why(scores, t, name)
        if name in PEOPLE:
            assert found.adds_up
            assert found.kind != "removed"
            assert found.values.sum(axis=0) == pytest.approx(scores.values[:, i, 0])
            continue
        assert found.kind == "removed"
        for doc, lost in zip(found.docs[:5], found.values, strict=False):
            less = {t: {s: {d: g for d, g in own.items() if d != doc} for s, own in judged[t].items()}}
            less["other"] = {"s": {"d": 2.0}}  # the largest grade stays
            without = amble.evaluate(less, runs, name)
            assert lost == pytest.approx(scores.values[:, i, 0] - without.values[:, without.topics.index(t), 0])


def test_parts_of_documents_by_hand() -> None:
    # as in `test_a_list_by_hand`: what each document brings, given those above it
    judged: Judged = {
        "1": {s: {f"d{i}": float(row[j]) for i, row in enumerate(JUDGED, 1)} for j, s in enumerate("abc")}
    }
    run = {"x": {"1": {f"d{i}": -float(i) for i in range(1, 6)}}}
    best = 2 * _log(1) + 1.5 * _log(2) + 0.5 * _log(3) + 0.5 * _log(4) + 0.25 * _log(5)
    found = amble.why(judged, run, "1", "alpha_nDCG@5")
    parts = dict(zip(found.docs, found.values[:, 0].tolist(), strict=True))
    wanted = {"d1": _log(1), "d2": 1.5 * _log(2), "d4": _log(4), "d5": _log(5)}
    assert parts == pytest.approx({d: x / best for d, x in wanted.items()}, rel=1e-12)


# DSharp_nDCG has two kinds of people, with shares of their own
@pytest.mark.parametrize("name", [name for name in OF_INTENTS if name != "DSharp_nDCG"])
def test_parts_of_intents_add_up(name: str) -> None:
    judged, run = _collection(37, 4, (0, 1, 2))
    scores = amble.evaluate(judged, {"x": run}, name)
    total = dict.fromkeys(scores.topics, 0.0)
    for _, topic, _, share, _, value in amble.by_intent(judged, {"x": run}, name, topics=True).rows:
        total[topic] += share * value
    assert list(total.values()) == pytest.approx(scores.values[0, :, 0].tolist(), abs=1e-12)


GRADES = st.lists(st.tuples(*[st.sampled_from([0.0, 0.0, 1.0, 2.0, -1.0, math.nan])] * 3), min_size=1, max_size=8)


@given(st.sampled_from(PEOPLE), GRADES, st.sampled_from([None, (0.5, 0.3, 0.2)]), st.integers(0, 2**31))
@examples(40)
def test_exact_distribution_is_the_simulated_one_within_its_band(
    name: str, grades: list[tuple[float, ...]], intents: tuple[float, ...] | None, seed: int
) -> None:
    m, context = amble.parse(name), {"max_grade": 2, "intents": intents}
    exact = m.distribution(grades, **context)
    assert exact.probs.sum() == pytest.approx(1, abs=1e-9)
    if m.declaration.question in (Question.ORDER1, Question.SATISFIED, Question.TOTAL):
        assert exact.mean == pytest.approx(m.value(grades, **context), abs=1e-10)
    simulated = amble.simulate(m, grades, users=20_000, seed=seed, **context)
    one, other = (amble.Distribution(np.round(d.values, 9), d.probs) for d in (exact, simulated))
    assert one.distance(other) < simulated.band_at(1 - 1e-6)


def test_a_topic_of_which_nothing_is_judged() -> None:
    for name in OF_INTENTS:
        m = amble.parse(name)
        for grades in ([], [math.nan, math.nan]):
            assert m.value(grades) == 0.0
    for name in PEOPLE:
        assert amble.parse(name).distribution([math.nan]).values.tolist() == [0.0]
        assert amble.simulate(name, [math.nan], users=50).values.tolist() == [0.0]


def test_distributions_are_over_people_who_mean_different_things() -> None:
    found = amble.parse("StRec@3").distribution(LIST)
    assert found.values.tolist() == [0.0, 1.0]
    assert found.probs == pytest.approx([1 / 3, 2 / 3])
    # P@2 of a, b and c: 1, 1/2, 0, of people who are not as many
    found = amble.parse("P_IA@2").distribution(LIST, intents=[0.5, 0.25, 0.25])
    assert found.values.tolist() == [0.0, 0.5, 1.0]
    assert found.probs == pytest.approx([0.25, 0.25, 0.5])


def test_means_of_distributions_are_scores() -> None:
    judged, run = _collection(17, 4, (0, 1, 2))
    for name in (
        "alpha_nDCG@10",
        "alpha_DCG@10",
        "ERR_IA@10",
        "nERR_IA@10",
        "MAP_IA",
        "DSharp_nDCG@10",
        "IA(of='nDCG@5')",
    ):
        scores = amble.evaluate(judged, {"x": run}, name)
        assert amble.run_distributions(judged, {"x": run}, name)["x"].mean == pytest.approx(scores.means()[0, 0]), name
        one = scores.distribution("x", "2", name)
        assert one.mean == pytest.approx(scores["x", name][scores.topics.index("2")]), name


def test_simulated_people_agree_with_the_exact_distribution() -> None:
    exact = amble.parse("MAP_IA").distribution(LIST, ideal=JUDGED)
    found = amble.simulate("MAP_IA", LIST, users=20_000, seed=3, ideal=JUDGED)
    assert found.distance(exact) < found.band_at(1 - 1e-6)
    walk = amble.parse("IA(of='PH',novel=0.5)")
    with pytest.warns(SimulationWarning):
        simulated = walk.distribution(LIST, users=40_000, seed=5)
    assert abs(simulated.mean - walk.value(LIST)) < 4.5 * simulated.standard_error
    with pytest.raises(MeasureError, match="not a user"):
        amble.simulate("StRec@3", LIST)


def test_topics_that_nobody_can_serve_score_nothing() -> None:
    judged: Judged = {"1": {"s": {"a": 1}}, "2": {"s": {"a": 0}, "t": {"b": -2}}}
    run = {"x": {"1": {"a": 2.0, "b": 1.0}, "2": {"a": 2.0, "b": 1.0}}}
    for name, best in (("P_IA@1", 1.0), ("StRec@2", 1.0), ("alpha_nDCG@2", 1.0), ("ERR_IA@2", 0.8)):
        # ERR_IA@2: 1/2 of 1/2 + 1/8; those who are not satisfied leave with nothing
        assert amble.evaluate(judged, run, name)["x", name] == pytest.approx([best, 0.0]), name
        assert amble.run_distributions(judged, run, name)["x"].mean == pytest.approx(best / 2), name
    found = amble.run_distributions(judged, run, "P_IA@1", users=500)["x"]
    assert found.mean == pytest.approx(0.5, abs=0.1)


def test_smaller_pools() -> None:
    judged, run = _collection(29, 5)
    rankings = amble.align(judged, {"x": run})
    kept = np.random.default_rng(1).random(len(rankings.qrels)) < 0.6
    gone = {
        (rankings.topics[t], rankings.qrels.docs[row])
        for t in range(5)
        for row in range(int(rankings.qrels.offsets[t]), int(rankings.qrels.offsets[t + 1]))
        if not kept[row]
    }
    less = {
        t: {s: {d: g for d, g in own.items() if (t, d) not in gone} for s, own in x.items()} for t, x in judged.items()
    }
    for name in ("alpha_nDCG@10", "nNRBP", "MAP_IA"):
        m = amble.parse(name)
        ours = m.scores(amble.metaevaluation.judge_again(rankings, kept))
        assert ours == pytest.approx(amble.evaluate(less, {"x": run}, m)["x", name], abs=1e-12)


def test_who_is_left_behind() -> None:
    judged: Judged = {"1": {"cat": {"a": 1, "b": 1}, "car": {"c": 1}, "none": {"a": 0}}, "2": {"x": {"a": 1}}}
    runs = {"u": {"1": {"a": 2.0, "b": 1.0}, "2": {"a": 1.0}}, "v": {"1": {"a": 2.0, "c": 1.0}, "2": {"b": 1.0}}}
    table = amble.by_intent(judged, runs, "P@2")
    # u: cat 1, car 0, and of topic 2 1/2; v: 1/2, 1/2, 0
    assert [list(row) for row in table.rows] == [["u", "P@2", 0.5, 0.25, 0.75, 1], ["v", "P@2", 0.25, 0.25, 0.5, 1]]
    rows = amble.by_intent(judged, {"u": runs["u"]}, "P_IA@2", topics=True).rows
    assert [tuple(row) for row in rows] == [
        ("u", "1", "cat", 0.5, "P_IA@2", 1.0),
        ("u", "1", "car", 0.5, "P_IA@2", 0.0),
        ("u", "2", "x", 1.0, "P_IA@2", 0.5),
    ]
    with pytest.raises(ReadError, match=r"expected {topic: {subtopic: {doc: grade}}}"):
        amble.by_intent({"1": {"a": 1}}, runs["u"], "AP")


# ---- what does not go together


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("IA(of='AP',novel=2)", "novel=2 is not allowed"),
        ("IA(of='nDCG',novel=0.5)", "divide by nothing"),
        ("IA(of='bpref',novel=0.5)", "measures that are users"),
        ("IA(of='PH(loss=0.5)',novel=0.5)", "neither loss nor utility"),
        ("IA(of='StRec')", "not of intents"),
        ("IA(of='GMAP')", "whose mean is taken"),
        ("IA(of='MsM')", "measure of sessions"),
        ("IA(of='P@5')@10", "a rank of its own"),
        ("alpha_nDCG(alpha=1.5)", "alpha=1.5 is not allowed"),
    ],
)
def test_what_is_refused(name: str, why: str) -> None:
    with pytest.raises(MeasureError, match=re.escape(why)):
        amble.parse(name)


def test_what_is_refused_on_lists() -> None:
    m = amble.parse("alpha_nDCG@5")
    runs = {"x": {"1": {"a": 1.0}}}
    with pytest.raises(MeasureError, match=r"without subtopics, expected TREC's diversity qrels"):
        amble.evaluate(amble.align({"1": {"a": 1}}, runs), m)
    with pytest.raises(MeasureError, match="several intents"):
        m.interval(LIST)
    with pytest.raises(MeasureError, match="needs a measure"):
        amble.parse("IA").value(LIST)
    with pytest.raises(MeasureError, match="there is no greatest score"):
        amble.parse("alpha_DCG(alpha=0)").value(LIST)
    with pytest.raises(MeasureError, match="not among them"):
        m.value(LIST, ideal=[[1, 0, 0]])
    with pytest.raises(MeasureError, match="expected 3 probabilities"):
        m.value(LIST, intents=[0.5, 0.5])
    with pytest.raises(MeasureError, match="a row for each document"):
        m.value([["x"]])
    judged: Judged = {"1": {"s": {"a": 1, "b": 1}}}
    tied = {"x": {"1": {"a": 1.0, "b": 1.0, "c": 1.0}}}
    with pytest.raises(MeasureError, match="ties"):
        amble.evaluate(judged, tied, "alpha_nDCG@2", ties="expected")
    assert amble.evaluate(judged, tied, "P_IA@1", ties="expected").means()[0, 0] == pytest.approx(2 / 3)


def test_names_of_others() -> None:
    same = {
        "alpha-nDCG@20": "alpha_nDCG@20",
        "α-nDCG@20": "alpha_nDCG@20",
        "ERR-IA@20": "ERR_IA@20",
        "strec@10": "StRec@10",
        "MAP-IA": "MAP_IA",
        "AP_IA": "MAP_IA",
        "P-IA@5": "P_IA@5",
        "D#-nDCG@10": "DSharp_nDCG@10",
        "D♯-nDCG@10": "DSharp_nDCG@10",
        "I-rec@10": "StRec@10",
        "nnrbp": "nNRBP",
    }
    for theirs, ours in same.items():
        assert amble.parse(theirs) == amble.parse(ours)
        assert amble.parse(theirs).label == theirs
    m = amble.parse("IA(of=\"PH(gains='linear')\",novel=0.5)@10")
    assert amble.parse(str(m)) == m


def test_evaluators_keep_the_judgments() -> None:
    judged, run = _collection(19, 5)
    share = {t: {s: 1 / len(own) for s in own} for t, own in judged.items()}
    evaluator = amble.Evaluator(judged, "alpha_nDCG@10 StRec@5", intents=share)
    again = amble.evaluate(judged, run, "alpha_nDCG@10 StRec@5")
    assert evaluator.evaluate(run).means() == pytest.approx(again.means(), abs=1e-15)
    assert np.array_equal(evaluator.evaluate({"y": run}).values, evaluator.evaluate(run).values)


# ---- the command line and the report


@pytest.fixture
def files(tmp_path: Any) -> Any:
    judged, run = _collection(23, 6)
    lines = [f"{t} {s} {d} {int(g)}" for t, own in judged.items() for s, docs in own.items() for d, g in docs.items()]
    (tmp_path / "diversity.txt").write_text("\n".join(lines) + "\n")
    for name, sign in (("a", 1), ("b", -1)):
        rows = [f"{t} Q0 {d} 1 {sign * x} {name}" for t, docs in run.items() for d, x in docs.items()]
        (tmp_path / f"{name}.run").write_text("\n".join(rows) + "\n")
    share = [f"{t} {s} {1 / len(own)!r}" for t, own in judged.items() for s in own]
    (tmp_path / "intents.txt").write_text("\n".join(share) + "\n")
    return tmp_path


def test_commands(amble_cli: Any, files: Any) -> None:
    given = [str(files / name) for name in ("diversity.txt", "a.run", "b.run")]
    found = amble_cli("eval", *given, "-m", "alpha_nDCG@20", "AP", "--format", "json")
    rows = {(row["run"], row["measure"]): row["value"] for row in json.loads(found.stdout)["rows"]}
    qrels = amble.read_qrels(files / "diversity.txt", subtopics=True)
    scores = amble.evaluate(qrels, [files / "a.run", files / "b.run"], "alpha_nDCG@20 AP")
    assert rows["a", "alpha_nDCG@20"] == pytest.approx(scores.means()[0, 0], abs=1e-4)
    assert rows["b", "AP"] == pytest.approx(scores.means()[1, 1], abs=1e-4)
    again = amble_cli(
        "eval", *given, "-m", "alpha_nDCG@20", "AP", "--format", "json", "--intents", str(files / "intents.txt")
    )
    assert json.loads(again.stdout)["rows"] == json.loads(found.stdout)["rows"]
    plain = amble_cli("eval", *given, "-m", "AP")
    assert plain.returncode == 2
    assert "subtopics=True (--subtopics)" in plain.stderr
    assert amble_cli("eval", *given, "-m", "AP", "--subtopics").returncode == 0
    behind = amble_cli("eval", *given, "-m", "alpha_nDCG@20", "AP", "--by-intent")
    assert behind.stdout.splitlines()[0].split() == ["run", "measure", "score", "worst", "served", "unserved"]
    every = amble_cli("eval", *given, "-m", "AP", "--by-intent", "-q", "--format", "tsv")
    assert every.stdout.count("\n") > 20
    assert amble_cli("eval", *given, "-m", "AP", "--by-intent", "--cwl").returncode == 2
    assert "several intents" in amble_cli("eval", *given, "-m", "StRec", "--residual").stderr
    dist = amble_cli("distribution", *given, "-m", "ERR_IA@20")
    assert "exact" in dist.stderr
    assert dist.returncode == 0
    assert amble_cli("compare", *given, "-m", "alpha_nDCG@20", "--why", "1").returncode == 0
    gate = ["--baseline", given[1], "--fail-if", "StRec@5 < 2"]
    assert amble_cli("gate", *given, *gate).returncode == 3


def test_the_report_says_who_is_left_behind(files: Any) -> None:
    runs = [str(files / f"{name}.run") for name in "ab"]
    page = amble.report(str(files / "diversity.txt"), runs, "alpha_nDCG@10 MAP_IA StRec@5 AP")
    table = amble.by_intent(page.scores.aligned, "alpha_nDCG@10 MAP_IA StRec@5")
    assert page.data["intents"]["rows"][0][:2] == ["a", "alpha_nDCG@10"]
    assert page.data["intents"]["rows"][0][2:] == pytest.approx(list(table.rows[0])[2:])
    html = page.html()
    assert 'id="intents"' in html
    assert "--by-intent" in html
    assert page.data["distributions"][0]["lines"]
    assert page.data["users"]["of"][0]["weights"]
    plain = amble.report({"1": {"a": 1}}, {"x": {"1": {"a": 1.0}}}, "AP")
    assert plain.data["intents"] is None
    assert 'id="intents"' not in plain.html()


def test_users_who_look_at_what_they_gained_see_it_fade() -> None:
    # INST's user on one intent, gains 1 and then 1/2: C(i) = ((i + 2T - 1 - seen) / (i + 2T - seen))^2 with T = 2
    visits, seen, gained, read = 1.0, 0.0, 0.0, 0.0
    for i, gain in enumerate((1.0, 0.5), 1):
        gained, read, seen = gained + visits * gain, read + visits, seen + gain
        visits *= ((i + 3 - seen) / (i + 4 - seen)) ** 2
    start = 3 + 4 - 1 - seen  # beyond the list 1 / (rank + 3 - seen)^2, summed to rank 100,000 and by an integral
    beyond = visits * start**2 * (sum(1 / (start + j) ** 2 for j in range(100_000)) + 1 / (start + 99_999.5))
    value = amble.parse("IA(of='INST(T=2)',novel=0.5)").value([1, 1])
    assert value == pytest.approx(gained / (read + beyond), rel=1e-9)
