"""Names of other programs and of papers: each means what it means there, in any case, by value."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import amble
from amble.expressions.aliases import ALIASES, AMBIGUOUS, ENDINGS, PARAMETERS, is_alias, similar, translate
from amble.measures import REGISTRY
from amble.measures.trec_names import all_trec

# One list of five documents: grades 2, 0, 1, not judged, 3. The topic has four relevant documents of grades 3, 2, 1, 1
# and two that are not relevant.
GRADES = [2, 0, 1, math.nan, 3]
IDEAL = [3, 2, 1, 1, 0, 0]
LOG3, LOG5, LOG6 = math.log2(3), math.log2(5), math.log2(6)

AP = (1 + 2 / 3 + 3 / 5) / 4
AP_AT_3 = (1 + 2 / 3) / 4
DCG, DCG_EXP = 2 + 1 / 2 + 3 / LOG6, 3 + 1 / 2 + 7 / LOG6
BEST, BEST_EXP = 3 + 2 / LOG3 + 1 / 2 + 1 / LOG5, 7 + 3 / LOG3 + 1 / 2 + 1 / LOG5
SFBM = 1 / 2 * 1 + 1 / 4 * 1 / 2 + 1 / 8 * 2 / 3 + 1 / 16 * 2 / 4 + 1 / 16 * 3 / 5
NDCG_AT_3 = (2 + 1 / 2) / (3 + 2 / LOG3 + 1 / 2)


def rbp(p: float) -> float:
    return (1 - p) * (1 + p**2 + p**4)


def insq(T: int) -> float:
    # W(i) = 1 / (S (i + 2T - 1)^2), S = pi^2 / 6 - sum over k < 2T of 1 / k^2; gains are grade / 3
    total = math.pi**2 / 6 - sum(1 / k**2 for k in range(1, 2 * T))
    return sum(gain / 3 / (i + 2 * T - 1) ** 2 for i, gain in ((1, 2), (3, 1), (5, 3))) / total


def inst(T: int) -> float:
    # C(i) = ((i + T + T_i - 1) / (i + T + T_i))^2, T_i = T - gain so far; beyond the list, with s = T + T_5,
    # V(j) = V(6) ((5 + s) / (j + s - 1))^2, whose sum over j >= 6 is V(6) (5 + s)^2 x the tail of 1 / k^2 from 5 + s on
    visits, seen, gained, read = 1.0, 0.0, 0.0, 0.0
    for i, grade in enumerate((2, 0, 1, 0, 3), 1):
        gained += visits * grade / 3
        read += visits
        seen += grade / 3
        visits *= ((i + 2 * T - seen - 1) / (i + 2 * T - seen)) ** 2
    first = round(5 + 2 * T - seen)  # the gains add up to 2
    return gained / (read + visits * first**2 * (math.pi**2 / 6 - sum(1 / k**2 for k in range(1, first))))


def compatibility() -> float:
    # of the list x, a with the ideal a: overlap 0 at depth 1, 1 / d from 2 on; of the ideal with itself 1 / d
    tail = sum(0.95 ** (d - 1) / d for d in range(2, 1001))
    return tail / (1 + tail)


def on_list(text: str) -> float:
    return amble.parse(text).value(GRADES, ideal=IDEAL, max_grade=3)


def on_pair(text: str) -> float:
    return amble.parse(text).value([0, 1])


def on_five(text: str) -> float:
    return amble.parse(text).value([1, 0, 0, 1, 0], relevant=4)


# name: what is written, and its value; every row of the table but those that pytrec_eval computes, below
VALUES: dict[str, list[tuple[str, float]]] = {
    "iprec_at_recall_#": [  # 0.3 of 4 are 1.2 documents, rounded 1, whose precision is 1; 0.4 are 1.6, rounded 2
        ("iprec_at_recall_0.30", 1.0),
        ("iprec_at_recall_0.40", 2 / 3),
        ("iprec_at_recall.0.3", 1.0),
        ("iprec_at_recall..4", 2 / 3),
    ],
    "11pt_avg": [("11pt_avg", (4 * 1 + 3 * 2 / 3 + 2 * 3 / 5) / 11)],  # rounded: 0 0 1 1, 2 2 2, 3 3, 4 4 documents
    "rbp_resid": [("rbp_resid", 0.9**5 + 0.1 * 0.9**3)],
    "unj_#": [("unj_5", 1 / 5), ("unj_3", 0.0), ("unj.10", 1 / 10)],
    "gm_ap": [("gm_ap", AP)],
    "r-prec": [("R-prec", 2 / 4), ("r_prec", 2 / 4)],
    "ircl_prn_#": [("ircl_prn.0.30", 2 / 3), ("ircl_prn.0.10", 1.0)],  # 1.2 + 0.9 cut to 2; 0.4 + 0.9 to 1
    "p#": [("P5", 3 / 5), ("P2", 1 / 2)],
    "hit_rate": [("hit_rate", 1.0), ("hit_rate@1", 1.0), ("hit-rate@2", 1.0)],
    "precision": [("precision", 3 / 5), ("precision@2", 1 / 2), ("precision@10", 3 / 10)],
    "recall": [("recall@1", 1 / 4), ("recall@100", 3 / 4)],
    "f1": [("f1", 2 * 0.6 * 0.75 / 1.35), ("f1@2", 2 * (1 / 2) * (1 / 4) / (3 / 4))],
    "r_precision": [("r_precision", 2 / 4), ("r-precision", 2 / 4)],
    "rbp.#": [("rbp.95", rbp(0.95)), ("rbp.5", rbp(0.5))],
    "mrr": [("mrr", 1.0), ("MRR@10", 1.0), ("mrr(rel=3)@5", 1 / 5), ("mrr(rel=3)@4", 0.0)],
    "map": [("map@3", AP_AT_3)],
    "dcg": [("dcg", DCG), ("dcg@3", 2.5)],
    "dcg_burges": [("dcg_burges", DCG_EXP), ("dcg_burges@3", 3.5)],
    "ndcg": [("ndcg@3", NDCG_AT_3)],
    "ndcg_burges": [("ndcg_burges", DCG_EXP / BEST_EXP), ("ndcg_burges@3", 3.5 / (7 + 3 / LOG3 + 1 / 2))],
    "rprec": [("RPrec", 2 / 4)],
    "bpref": [("BPref", 1 / 4 + 2 * (1 - 1 / 2) / 4)],
    "setp": [("SetP", 3 / 5), ("SetP(rel=2)", 2 / 5)],
    "setrelp": [("SetRelP", 3 / 4)],
    "setr": [("SetR", 3 / 4)],
    "setf": [("SetF", 2 / 3), ("SetF(beta=2)", 5 * 0.45 / (4 * 0.6 + 0.75))],
    "r_cap": [("R_cap@2", 1 / 2), ("R_cap@10", 3 / 4)],
    "ndcg_at_#": [("ndcg_at_3", NDCG_AT_3), ("ndcg_at_100", DCG / BEST)],
    "map_at_#": [("map_at_3", AP_AT_3)],
    "recall_at_#": [("recall_at_1", 1 / 4)],
    "precision_at_#": [("precision_at_10", 3 / 10)],
    "mrr_at_#": [("mrr_at_10", 1.0)],
    "hit_rate_at_#": [("hit_rate_at_1", 1.0)],
    "r_cap_at_#": [("R_cap_at_2", 1 / 2)],
    "average_precision": [("average_precision", AP)],
    "mean_average_precision": [("mean_average_precision@3", AP_AT_3)],
    "reciprocal_rank": [("reciprocal_rank", 1.0)],
    "mean_reciprocal_rank": [("mean_reciprocal_rank(rel=3)", 1 / 5)],
    # each grade g satisfies with (2^g - 1) / 8
    "expected_reciprocal_rank": [
        ("expected_reciprocal_rank", 3 / 8 + 5 / 8 * 1 / 8 / 3 + 5 / 8 * 7 / 8 * 7 / 8 / 5),
        ("expected_reciprocal_rank@3", 3 / 8 + 5 / 8 * 1 / 8 / 3),
    ],
    # (found + gain) / (rank + gain of the best list) at ranks 1, 3 and 5
    "q-measure": [("Q-measure", ((1 + 2) / (1 + 3) + (2 + 3) / (3 + 6) + (3 + 6) / (5 + 7)) / 4)],
    "f#": [("F1", 2 / 3), ("F2", 5 * 0.45 / (4 * 0.6 + 0.75)), ("F0.5", 1.25 * 0.45 / (0.25 * 0.6 + 0.75))],
    "rbp#": [("RBP0.8", rbp(0.8)), ("RBP0.73", rbp(0.73)), ("RBP(0.73)", rbp(0.73)), ("RBP.8", rbp(0.8))],
    "insq#": [("INSQ5", insq(5)), ("INSQ1", insq(1)), ("INSQ(5)", insq(5))],
    "inst#": [("INST2", inst(2)), ("INST(2)", inst(2))],
    "dfbm": [("DFBM@3", 2 / 3), ("DFBM", 3 / 5)],
    # stops after h visits with 1 / 2^h, at the end with what is left; without steps back so does who walks
    "sfbm": [("SFBM", SFBM), ("SFBM(p=0.5)", SFBM), ("SFBM(p=0)", 1.0)],
    "rwbm": [("RWBM(q=0)", SFBM), ("RWBM(p=1,q=0)@3", 2 / 3)],
    "p@h": [("P@H(q=0)", SFBM), ("P@H(p=1,q=0)@3", 2 / 3), ("p@h(p=0,q=0)", 1.0)],
    # of one subtopic; with alpha 1/2 the document at rank 3 brings half of that at rank 1, and the ideal is 1, 1/2, 1/4
    "ap_ia": [("AP_IA", AP)],
    "map-ia": [("MAP-IA", AP), ("map-ia(rel=2)", (1 + 2 / 5) / 2)],
    "p-ia": [("P-IA@5", 3 / 5)],
    "strec": [("strec@1", 1.0)],
    "i-rec": [("I-rec@1", 1.0)],
    "s-recall": [("S-recall@2", 1.0)],
    "alpha-dcg": [("alpha-DCG@3", (1 + 1 / 4) / (1 + 1 / 2 / LOG3 + 1 / 8))],
    "alpha-ndcg": [("alpha-nDCG@3", (1 + 1 / 4) / (1 + 1 / 2 / LOG3 + 1 / 8))],
    "err-ia": [("ERR-IA@3", (1 / 2 + 1 / 4 / 3) / (1 / 2 + 1 / 4 / 2 + 1 / 8 / 3))],
    "nerr-ia": [("nERR-IA@3", (1 / 2 + 1 / 4 / 3) / (1 / 2 + 1 / 4 / 2 + 1 / 8 / 3))],
    "d-ndcg": [("D-nDCG@3", NDCG_AT_3)],
    "dsharp-ndcg": [("DSharp-nDCG@3", 0.5 + 0.5 * NDCG_AT_3)],
    # other spellings of a part
    "-l#": [("map-l2", (1 + 2 / 5) / 2), ("precision@3-l2", 1 / 3), ("recall@5-l3", 1.0)],
    "dcg='log2'": [("nDCG(dcg='log2')@3", NDCG_AT_3)],
    "dcg='exp-log2'": [("nDCG(dcg='exp-log2')", DCG_EXP / BEST_EXP), ('nDCG(dcg = "exp-log2")', DCG_EXP / BEST_EXP)],
    "max_rel=#": [("INSQ(T=5,max_rel=6)", insq(5) / 2)],
}
OTHERS: dict[str, tuple[Callable[[str], float], list[tuple[str, float]]]] = {
    "compatibility": (on_pair, [("compatibility", compatibility())]),
    # neighbours only: a share of visits in proportion to the number of neighbours, 1 at rank 1, 2 at rank 4
    "mp_*": (on_five, [("MP_LO_AD_ID", 1 / 3 * 1 + 2 / 3 * 1 / 2), ("MP(LO_AD_ID)", 1 / 3 * 1 + 2 / 3 * 1 / 2)]),
    "@rec": (  # times recall, 2 of 4
        on_five,
        [
            ("MP_LO_AD_ID@Rec", 1 / 3),
            ("MP(LO_AD_ID)@Rec(T)", 1 / 3),
            ("MP(model='LO_AD_ID')@Rec", 1 / 3),
            ("MP_GL_OR_NA(loops='SL')@Rec", (1 + 1 / 2) / 4),  # which is AP
        ],
    ),
}
CASES = [(text, value, on_list) for row in VALUES.values() for text, value in row]
CASES += [(text, value, on) for on, row in OTHERS.values() for text, value in row]

# trec_eval's measures as pytrec_eval computes them, of every list
PYTREC = [
    (theirs, ours)
    for theirs, ours in all_trec()
    if not theirs.startswith(("iprec_at_recall", "11pt_avg", "rbp_resid", "unj", "num_q"))
]


@pytest.mark.parametrize(("text", "value", "on"), CASES, ids=[text for text, _, _ in CASES])
def test_meaning(text: str, value: float, on: Callable[[str], float]) -> None:
    assert on(text) == pytest.approx(value, rel=1e-12)
    assert is_alias(text) or text.partition("(")[0] in REGISTRY
    measure = amble.parse(text)
    assert measure.label == text
    assert amble.parse(str(measure)) == measure


@pytest.mark.parametrize("text", [text for text, _, _ in CASES])
def test_any_case(text: str) -> None:
    head, *rest = text.partition("(")
    for changed in (head.lower(), head.upper(), head.title(), head.swapcase()):
        if changed in REGISTRY or changed.startswith("rbp.") or head.partition("@")[0] in REGISTRY:
            continue
        assert amble.parse("".join([changed, *rest])) == amble.parse(text)


def rows() -> set[str]:
    """Every name in the tables, in small letters."""
    return {theirs.lower() for part in (*ALIASES.values(), ENDINGS, PARAMETERS) for theirs in part}


def test_every_name_is_tested() -> None:
    by_pytrec = {theirs.lower() for theirs in ALIASES["trec_eval"]}
    assert rows() - by_pytrec == {*VALUES, *OTHERS} - by_pytrec
    not_there = {"num_q", "iprec_at_recall_#", "11pt_avg", "rbp_resid", "unj_#"}  # in pytrec_eval
    assert not_there - {"num_q"} <= set(VALUES)
    assert amble.evaluate({"1": {"a": 1}, "2": {"a": 1}}, {"x": {"1": {"a": 1.0}}}, "num_q").means() == 2


def test_one_name_means_one_thing() -> None:
    meanings: dict[str, set[str]] = {}
    for program in ALIASES.values():
        for theirs, ours in program.items():
            meanings.setdefault(theirs.lower().replace("-", "_"), set()).add(ours)
    assert [name for name, ours in meanings.items() if len(ours) > 1] == []
    by_case = {name.lower(): name for name in REGISTRY}
    for name, (ours,) in meanings.items():  # amble's own name in other capitals is the same measure
        if name in by_case:
            assert ours == by_case[name]


def random_collection(seed: int = 7) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Judgments with grades from 0 to 3, and a run with distinct scores, some of its documents not judged."""
    rng = np.random.default_rng(seed)
    qrels, run = {}, {}
    for topic in "123":
        qrels[topic] = {f"d{i}": int(rng.choice(4, p=[0.5, 0.3, 0.1, 0.1])) for i in rng.permutation(60)[:40]}
        order = rng.permutation(60)[:35]
        run[topic] = {f"d{i}": float(len(order) - j) for j, i in enumerate(order)}
    return qrels, run


def test_trec_eval_names_against_pytrec_eval() -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval", reason="pip install pytrec-eval-terrier")
    qrels, run = random_collection()
    numbers = {"Rprec_mult": "0.4,1.2"}
    asked = {f"{name[:-2]}.{numbers.get(name[:-2], '5,10')}" if "#" in name else name for name in ALIASES["trec_eval"]}
    known = pytrec_eval.supported_measures
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {name for name in asked if name.partition(".")[0] in known})
    expected = evaluator.evaluate(run)
    names = [theirs for theirs, _ in PYTREC if theirs in expected["1"]]
    families = {theirs for theirs in ALIASES["trec_eval"] if any(name.startswith(theirs.rstrip("#")) for name in names)}
    assert set(ALIASES["trec_eval"]) - families == {"num_q", "iprec_at_recall_#", "11pt_avg", "rbp_resid", "unj_#"}
    for spelled in (
        names,
        [name.upper() for name in names],
        [".".join(name.rsplit("_", 1)) if name[-1].isdigit() else name for name in names],
    ):
        scores = amble.evaluate(qrels, {"x": run}, [name for name in spelled if name not in AMBIGUOUS])
        for name, label in zip(names, spelled, strict=True):
            for t, topic in enumerate(scores.topics):
                theirs = expected[topic][name]
                mine = scores["x", label][t]
                if name.startswith("gm_"):
                    mine = math.log(max(mine, 0.00001))
                assert mine == pytest.approx(theirs, abs=1e-12), (label, topic)


def test_iprec_of_version_8_against_pytrec_eval() -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval", reason="pip install pytrec-eval-terrier")
    qrels, run = random_collection()
    expected = pytrec_eval.RelevanceEvaluator(qrels, {"iprec_at_recall"}).evaluate(run)  # which has version 9's rule
    for level in ("0.10", "0.30", "0.70"):
        ours = amble.evaluate(qrels, {"x": run}, f"ircl_prn.{level}")["x", f"ircl_prn.{level}"]
        assert ours.tolist() == [expected[topic][f"iprec_at_recall_{level}"] for topic in "123"]


@pytest.mark.parametrize("name", REGISTRY)
def test_own_names_in_any_case(name: str) -> None:
    for text in (name.lower(), name.upper()):
        same = [other for other in REGISTRY if other.lower() == text.lower()]
        if text.lower() in AMBIGUOUS or (len(same) > 1 and text not in REGISTRY):
            continue
        assert amble.parse(text) == amble.parse(text if text in REGISTRY else name)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hits@5", "hits is the number of relevant documents in ranx, whether .*; did you mean P@5 or Success@5?"),
        ("Hits", "did you mean P@10 or Success@10?"),
        ("accuracy@1", "the share of pairs in the right order in ir_measures; did you mean Success@1?"),
        ("hole@10", "did you mean Unjudged@10?"),
        ("recall", "recall at nine ranks in trec_eval, of the whole list in ranx; did you mean R@10 or R?"),
        ("recall(rel=2)", r"did you mean R\(rel=2\)@10 or R\(rel=2\)?"),
        ("success", "did you mean Success@10 or Success?"),
        ("rbp", r"did you mean GRBP\(p=0.9\) or RBP\(p=0.8\)?"),
        ("sdcg@20", "sdcg is the name of several measures, in other capitals; did you mean SDCG@20 or sDCG@20?"),
        ("ndcg_cut", "ndcg_cut needs a number; did you mean nDCG@10?"),
        ("ndcg_cut@20", "did you mean nDCG@20?"),
        ("iprec_at_recall", r"did you mean IPrec\(rule='trec10'\)@0.1?"),
        ("Rprec_mult", r"did you mean Rprec\(mult=0.2\)?"),
        ("ndgc_cut_20", "no measure is called ndgc_cut_20; did you mean nDCG@20?"),
        ("precison@5", "no measure is called precison; did you mean P@5?"),
        ("nDGC(gains='exp')@10", r"did you mean nDCG\(gains='exp'\)@10 or nsDCG\(gains='exp'\)@10?"),
        ("ndcg_cut_0", "nDCG@0 is not allowed, expected a whole number of at least 1 after '@'"),
        ("ndcg@10-l2", "nDCG has no parameter rel"),
        ("AP@Rec", "found 'Rec' at character 4, expected a number after '@'"),
        ("MP_GL_AD", "model='GL_AD' is not allowed, expected one of 'GL_AD_NA'"),
    ],
)
def test_what_asks_back(text: str, message: str) -> None:
    with pytest.raises(amble.MeasureError, match=message) as caught:
        amble.parse(text)
    said = str(caught.value)
    assert "\n" not in said
    for suggested in said.partition("did you mean ")[2].rstrip("?").split(" or ") if "did you mean" in said else ():
        amble.parse(suggested)  # whole, and right


def test_what_is_ambiguous_is_asked_only_where_it_is() -> None:
    for name, unclear in AMBIGUOUS.items():
        with pytest.raises(amble.MeasureError, match="did you mean"):
            amble.parse(name)
        assert all(amble.parse(ours.replace("#", "10")) for ours in unclear.ours)
    assert str(amble.parse("success@5")) == "Success@5"
    assert str(amble.parse("rbp(p=0.5)@10")) == "RBP(p=0.5)@10"
    assert str(amble.parse("recall_at_5")) == "R@5"


def test_own_names_come_first() -> None:
    assert translate("map@5", ("map",)) == "map@5"
    assert translate("map@5", ("AP",)) == "AP@5"
    assert translate("x" * 2000, ()) == "x" * 2000
    assert similar(")", ("AP",)) == []


def test_labels_are_what_was_typed() -> None:
    scores = amble.evaluate({"1": {"a": 1}}, {"x": {"1": {"a": 1.0}}}, "map AP map ndcg_cut_10 nDCG@10")
    assert scores.measures == ("map", "AP", "ndcg_cut_10", "nDCG@10")
    assert scores["x", "ndcg@10"].tolist() == [1.0]
    assert [str(m) for m in scores.parsed] == ["AP", "AP", "nDCG@10", "nDCG@10"]


def test_on_the_command_line(amble_cli: Any, write: Callable[[str, str], str]) -> None:
    qrels, run = write("qrels.txt", "1 0 a 1\n1 0 b 0\n"), write("my.run", "1 Q0 b 1 2 my\n1 Q0 a 2 1 my\n")
    words = ["map", "P.5", "ndcg_cut_10", "11pt_avg", "r-precision", "rbp.95", "recall@5-l1", "MP_GL_AD_ID@Rec"]
    done = amble_cli("eval", "-m", *words, "--quiet", "--format", "tsv", qrels, run)
    assert (done.returncode, done.stderr) == (0, "")
    assert [line.split("\t")[2] for line in done.stdout.splitlines()[1:]] == words
