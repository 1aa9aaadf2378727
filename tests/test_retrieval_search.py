"""Indexing and searching: by hand on three documents, beside scikit-learn and bm25s, and on real collections."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from math import log, log10, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drawing import examples
from hypothesis import given
from hypothesis import strategies as st

import amble
from amble.retrieval.documents import read_documents
from amble.retrieval.scorers import SCORERS, TfStatistics, parse_scorer, parse_smart

# N = 3; lengths 3, 2, 5, so 10 tokens; df: a 2, b 2, c 1, d 1; cf: a 3, b 4, c 1, d 2
THREE = {"d1": "a a b", "d2": "a c", "d3": "b b b d d"}
QUERY = "a b b x"  # x is in no document


@pytest.fixture(scope="module")
def three() -> amble.Index:
    return amble.index(THREE, language="none")


def scores(index: amble.Index, query: str, scorer: str) -> dict[str, float]:
    return amble.search(index, {"q": query}, scorer).get("q", {})


# ---- the lecture's examples


def test_jaccard_of_the_lecture() -> None:
    # one term in common of 3 + 4 - 1 = 6, and of 3 + 3 - 1 = 5: 0.167 and 0.2
    index = amble.index({"d1": "caesar died in march", "d2": "the long march"}, language="none")
    found = scores(index, "ides of march", "jaccard")
    assert found == {"d2": 1 / 5, "d1": 1 / 6}
    assert [round(score, 3) for score in found.values()] == [0.2, 0.167]


PLAYS = ("Antony_and_Cleopatra", "Julius_Caesar", "The_Tempest", "Hamlet", "Othello", "Macbeth")
SHAKESPEARE = {  # how often a word stands in a play, as the lecture's notes have it
    "antony": (157, 73, 0, 0, 0, 1),
    "brutus": (4, 157, 0, 1, 0, 0),
    "caesar": (232, 227, 0, 22, 21, 1),
    "calpurnia": (0, 10, 0, 0, 0, 0),
    "cleopatra": (57, 0, 0, 0, 0, 0),
    "mercy": (2, 0, 3, 57, 5, 1),
    "worser": (2, 0, 1, 1, 12, 0),
}


def test_counts_of_shakespeare() -> None:
    plays = {
        play: " ".join(f"{word} " * counts[i] for word, counts in SHAKESPEARE.items()) for i, play in enumerate(PLAYS)
    }
    index = amble.index(plays, language="none")
    assert index.terms == sorted(SHAKESPEARE)
    assert {word: tuple(index.count(word, play) for play in PLAYS) for word in SHAKESPEARE} == SHAKESPEARE
    assert index.tokens == sum(map(sum, SHAKESPEARE.values()))
    # w = 1 + log10 tf: 157 -> 3.1959, 73 -> 2.8633, 1 -> 1
    found = scores(index, "antony", "logtf")
    assert {play: round(score, 4) for play, score in found.items()} == {
        "Antony_and_Cleopatra": 3.1959,
        "Julius_Caesar": 2.8633,
        "Macbeth": 1.0,
    }
    # idf = log10(6 / df): calpurnia is in one play, brutus in three
    found = scores(index, "brutus calpurnia", "tfidf")
    expected = (1 + log10(157)) * log10(6 / 3) + (1 + log10(10)) * log10(6 / 1)
    assert found["Julius_Caesar"] == pytest.approx(expected)
    assert found["Hamlet"] == pytest.approx(log10(2))


def test_a_document_appended_to_itself() -> None:
    """Twice the vector, the same angle: the lecture's reason for the cosine."""
    index = amble.index({"once": "a b b", "twice": "a b b a b b", "other": "c"}, language="none")
    found = scores(index, "b", "cosine(weights='ntc.ntc')")
    assert found["once"] == pytest.approx(found["twice"], rel=1e-12)
    assert scores(index, "b", "logtf")["once"] < scores(index, "b", "logtf")["twice"]


# ---- by hand

BY_HAND: dict[str, dict[str, float]] = {
    # the query has 3 different terms: 2 / (3 + 2 - 2), 1 / (3 + 2 - 1), 1 / (3 + 2 - 1)
    "jaccard": {"d1": 2 / 3, "d2": 1 / 4, "d3": 1 / 4},
    # sets: b counts once, though it stands twice in the query
    "logtf": {"d1": (1 + log10(2)) + 1, "d2": 1, "d3": 1 + log10(3)},
    # idf of a and b is log10(3 / 2)
    "tfidf": {"d1": (2 + log10(2)) * log10(1.5), "d2": log10(1.5), "d3": (1 + log10(3)) * log10(1.5)},
    # both idf alike, so it goes with the lengths: the query is (1, 1 + log 2), its length that of d1 = (1 + log 2, 1)
    "cosine": {
        "d1": 2 * (1 + log10(2)) / (1 + (1 + log10(2)) ** 2),
        "d2": 1 / sqrt(1 + (1 + log10(2)) ** 2) / sqrt(2),
        "d3": (1 + log10(2)) / sqrt(1 + (1 + log10(2)) ** 2)
        * (1 + log10(3)) / sqrt((1 + log10(3)) ** 2 + (1 + log10(2)) ** 2),
    },
    # idf = ln(1 + 1.5 / 2.5) = ln 1.6; 1.2 (1 - 0.75 + 0.75 L / (10 / 3)) = 0.3 + 0.27 L: 1.11, 0.84, 1.65
    "bm25": {
        "d1": log(1.6) * (2 / 3.11 + 2 * 1 / 2.11),
        "d2": log(1.6) * 1 / 1.84,
        "d3": log(1.6) * 2 * 3 / 4.65,
    },
    # mu cf / tokens: 3 for a, 4 for b; x is in no document and left out
    "lm(mu=10)": {
        "d1": log((2 + 3) / 13) + 2 * log((1 + 4) / 13),
        "d2": log((1 + 3) / 12) + 2 * log(4 / 12),
        "d3": log(3 / 15) + 2 * log((3 + 4) / 15),
    },
}  # fmt: skip


@pytest.mark.parametrize("scorer", BY_HAND)
def test_by_hand(three: amble.Index, scorer: str) -> None:
    found = scores(three, QUERY, scorer)
    assert found == pytest.approx(BY_HAND[scorer], rel=1e-14)
    assert list(found.values()) == sorted(found.values(), reverse=True)


@pytest.mark.parametrize(
    ("scorer", "expected"),
    [
        ("bm25(k1=0)", {"d1": 3 * log(1.6), "d2": log(1.6), "d3": 2 * log(1.6)}),
        ("bm25(b=0)", {"d1": log(1.6) * (2 / 3.2 + 2 / 2.2), "d2": log(1.6) / 2.2, "d3": log(1.6) * 6 / 4.2}),
        ("logtf(base=2)", {"d1": 3, "d2": 1, "d3": 1 + math.log2(3)}),
        ("tfidf(base='e')", {"d1": (2 + log(2)) * log(1.5), "d2": log(1.5), "d3": (1 + log(3)) * log(1.5)}),
        # counts, no idf, no lengths: (2, 1), (1, 0), (0, 3) times (1, 2)
        ("cosine(weights='nnn.nnn')", {"d1": 4, "d2": 1, "d3": 6}),
        # 0.5 + 0.5 tf / largest: d1 (1, .75), d2 (1, 0), d3 (0, 1); query (.75, 1)
        ("cosine(weights='ann.ann')", {"d1": 1.5, "d2": 0.75, "d3": 1}),
        ("cosine(weights='bnn.bnn')", {"d1": 2, "d2": 1, "d3": 1}),
        # max(0, log((3 - 2) / 2)) = 0 for both terms: nothing is found
        ("cosine(weights='npn.nnn')", {}),
        # (1 + log tf) / (1 + log mean tf): means 1.5, 1, 2.5; the query's is 1.5
        (
            "cosine(weights='Lnn.Lnn',base=10)",
            {
                "d1": ((1 + log10(2)) / (1 + log10(1.5)) + (1 + log10(2)) / (1 + log10(1.5))) / (1 + log10(1.5)),
                "d2": 1 / (1 + log10(1.5)),
                "d3": (1 + log10(3)) / (1 + log10(2.5)) * (1 + log10(2)) / (1 + log10(1.5)),
            },
        ),
        # 1 + ln(4 / 3) for both terms
        (
            "cosine(weights='bsn.bnn',base=10)",
            {"d1": 2 + 2 * log10(4 / 3)} | dict.fromkeys(("d2", "d3"), 1 + log10(4 / 3)),
        ),
        ("cosine(weights='bsn.bnn',base='e')", {"d1": 2 + 2 * log(4 / 3), "d2": 1 + log(4 / 3), "d3": 1 + log(4 / 3)}),
    ],
)
def test_parameters_by_hand(three: amble.Index, scorer: str, expected: dict[str, float]) -> None:
    assert scores(three, QUERY, scorer) == pytest.approx(expected, rel=1e-14)


def test_the_insurance_of_a_car() -> None:
    # lnc.ltc of "best car insurance" and "car insurance auto insurance", N = 1,000,000; df of auto 5,000, best 50,000,
    # car 10,000, insurance 1,000. Document: 1, 0, 1, 1.30 / 1.92; query: 0, 1.3, 2, 3 / 3.83; 0.52 x 0.52 + 0.68 x 0.78
    documents, query = parse_smart("lnc.ltc")
    bag, bags = np.zeros(3, int), TfStatistics(np.ones(1), np.ones(1))
    d = documents.tf_weight(np.array([1.0, 1.0, 2.0]), bag, bags, log(10))  # auto, car, insurance
    q = query.tf_weight(np.ones(3), bag, bags, log(10)) * query.idf(np.array([5e4, 1e4, 1e3]), 10**6, log(10))
    assert d == pytest.approx([1, 1, 1 + log10(2)])
    assert q == pytest.approx([1.30103, 2, 3], abs=1e-5)
    cosine = (d[1] * q[1] + d[2] * q[2]) / np.linalg.norm(d) / np.linalg.norm(q)
    assert cosine == pytest.approx(0.80, abs=0.005)


# ---- beside others

WORDS = st.sampled_from([f"w{i}" for i in range(12)])
TEXTS = st.lists(st.lists(WORDS, min_size=1, max_size=20).map(" ".join), min_size=1, max_size=12)


def test_scikit_learn(data: Path) -> None:
    """TfidfVectorizer on Cranfield: all its own settings that SMART's letters can say."""
    text = pytest.importorskip("sklearn.feature_extraction.text")
    documents = {doc.id: doc.text for doc in read_documents(_cranfield(data) / "cran.all.1400.xml.gz", fields=["text"])}
    topics = amble.read_topics(_cranfield(data) / "cran.qry.xml.gz", renumber=True)
    index = amble.index(documents, language="none")
    for weights, settings_ in (
        ("nsc.nsc", {}),
        ("lsc.lsc", {"sublinear_tf": True}),
        ("bsc.bsc", {"binary": True}),
        ("nnc.nnc", {"use_idf": False}),
        ("nsn.nsn", {"norm": None}),
    ):
        vectoriser = text.TfidfVectorizer(token_pattern=r"[a-z0-9]+", **settings_)
        of_documents = vectoriser.fit_transform(documents.values())
        product = (vectoriser.transform(topics.values()) @ of_documents.T).toarray()
        hits = amble.search(index, topics, f"cosine(weights='{weights}',base='e')", top=2000)
        places = {doc: i for i, doc in enumerate(documents)}
        ours = np.zeros_like(product)
        for row, topic in enumerate(topics):
            for doc, score in hits[topic].items():
                ours[row, places[doc]] = score
        np.testing.assert_allclose(ours, product, rtol=1e-10, atol=1e-13)


@examples(25)
@given(TEXTS, st.lists(WORDS, min_size=1, max_size=6))
def test_scikit_learn_on_any_documents(texts: list[str], query: list[str]) -> None:
    text = pytest.importorskip("sklearn.feature_extraction.text")
    vectoriser = text.TfidfVectorizer(token_pattern=r"\S+")
    product = (vectoriser.fit_transform(texts) @ vectoriser.transform([" ".join(query)]).T).toarray()[:, 0]
    index = amble.index({f"d{i}": each for i, each in enumerate(texts)}, language="none")
    found = scores(index, " ".join(query), "cosine(weights='nsc.nsc',base='e')")
    assert found == pytest.approx({f"d{i}": score for i, score in enumerate(product) if score})


def test_bm25s(data: Path) -> None:
    """All scores of all topics of Cranfield; bm25s with its method lucene, and doubles."""
    bm25s = pytest.importorskip("bm25s")
    documents = list(read_documents(_cranfield(data) / "cran.all.1400.xml.gz", fields=["text"]))
    topics = amble.read_topics(_cranfield(data) / "cran.qry.xml.gz", renumber=True)
    index = amble.index(documents)
    tokens = [index.analyser.terms(document.text) for document in documents]
    for k1, b in ((1.2, 0.75), (0.9, 0.4)):
        engine = bm25s.BM25(k1=k1, b=b, method="lucene", dtype="float64")
        engine.index(tokens, show_progress=False)
        hits = amble.search(index, topics, f"bm25(k1={k1},b={b})", top=2000)
        for topic, text in itertools.islice(topics.items(), 60):
            terms = [term for term in index.analyser.terms(text) if term in index.term_numbers]
            theirs = engine.get_scores(terms)
            expected = {documents[i].id: float(theirs[i]) for i in np.flatnonzero(theirs)}
            assert hits[topic] == pytest.approx(expected, rel=1e-12)


@examples(25)
@given(TEXTS, st.lists(WORDS, min_size=1, max_size=6), st.sampled_from(sorted(SCORERS)))
def test_a_plain_loop_finds_the_same(texts: list[str], query: list[str], scorer: str) -> None:
    """Each formula once more, term by term, in plain Python."""
    documents = {f"d{i}": text.split() for i, text in enumerate(texts)}
    index = amble.index({doc: " ".join(words) for doc, words in documents.items()}, language="none")
    expected = {doc: _plain(scorer, words, query, list(documents.values())) for doc, words in documents.items()}
    kept = {doc: score for doc, score in expected.items() if score is not None}
    assert scores(index, " ".join(query), scorer) == pytest.approx(kept, rel=1e-9)


def _plain(scorer: str, doc: list[str], query: list[str], docs: list[list[str]]) -> float | None:
    n, both = len(docs), sorted(set(doc) & set(query))
    df = {term: sum(term in each for each in docs) for term in query}
    known = [term for term in query if df[term]]
    tokens = sum(map(len, docs))
    if not both:
        return None
    if scorer == "jaccard":
        return len(both) / len(set(doc) | set(query))
    if scorer == "lm":
        cf = {term: sum(each.count(term) for each in docs) for term in known}
        return sum(log((doc.count(t) + 2000 * cf[t] / tokens) / (len(doc) + 2000)) for t in known)
    if scorer == "bm25":
        factor = 1.2 * (0.25 + 0.75 * len(doc) * n / tokens)
        tf = {t: doc.count(t) for t in both}
        return sum(log(1 + (n - df[t] + 0.5) / (df[t] + 0.5)) * tf[t] / (tf[t] + factor) for t in query if t in tf)
    weight = {t: 1 + log10(doc.count(t)) for t in doc}
    if scorer == "logtf":
        return sum(weight[t] for t in both)
    if scorer == "tfidf":
        return sum(weight[t] * log10(n / df[t]) for t in both) or None
    q = {t: (1 + log10(query.count(t))) * log10(n / df[t]) for t in known}
    lengths = sqrt(sum(w * w for w in q.values())) * sqrt(sum(w * w for w in weight.values()))
    return sum(q[t] * weight[t] for t in both) / lengths or None if lengths else None


# ---- lists


def test_equal_scores_are_ranked_as_they_are_read() -> None:
    docs = {f"d{i}": "march" for i in (1, 10, 2, 9)} | {"é": "march"}
    index = amble.index(docs, language="none")
    for k in (1, 2, 3, 4, 5, 9):
        assert list(amble.search(index, {"1": "march"}, top=k)["1"]) == ["é", "d9", "d2", "d10", "d1"][:k]
    # ranks in the file are those that amble finds when it reads the file by its scores
    hits = amble.search(index, {"1": "march"})
    assert amble.read_runs({"bm25": hits})[0].documents()["1"] == list(hits["1"].items())


def test_the_cut_is_the_head_of_the_whole(three: amble.Index) -> None:
    rng = np.random.default_rng(3)
    docs = {f"d{i}": " ".join(f"w{w}" for w in rng.integers(0, 6, 4)) for i in range(200)}
    index = amble.index(docs, language="none")
    for scorer in SCORERS:
        whole = list(amble.search(index, {"1": "w1 w2"}, scorer, top=1000)["1"].items())
        assert whole == sorted(whole, key=lambda pair: (pair[1], pair[0].encode()), reverse=True)
        for k in (1, 7, 50, 199):
            assert list(amble.search(index, {"1": "w1 w2"}, scorer, top=k)["1"].items()) == whole[:k]


def test_many_blocks(three: amble.Index, monkeypatch: pytest.MonkeyPatch) -> None:
    topics = {str(i): text for i, text in enumerate(["a", "x", "", "b c", "d d", "a b c d"])}
    for scorer in SCORERS:
        at_once = dict(amble.search(three, topics, scorer))
        monkeypatch.setattr("amble.retrieval.search._CELLS", 1)
        done: list[int] = []
        total: list[int] = []
        one_by_one = amble.search(three, topics, scorer, progress=lambda a, b: (done.append(a), total.append(b)))  # noqa: B023
        assert dict(one_by_one) == at_once
        assert list(zip(done, total, strict=True)) == [(i, 6) for i in range(1, 7)]
        assert list(one_by_one) == ["0", "3", "4", "5"]
        assert one_by_one.topics == tuple(topics)
        monkeypatch.undo()


def test_the_order_of_documents_does_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    amble.index(THREE, language="none").save(tmp_path / "one")
    monkeypatch.setattr("amble.retrieval.inverted_index._BLOCK", 2)  # counted in several blocks
    amble.index(dict(reversed(THREE.items())), language="none").save(tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_same_call_same_answer(three: amble.Index) -> None:
    before = three.matrix.copy()
    for scorer in SCORERS:
        assert dict(amble.search(three, {"q": QUERY}, scorer)) == dict(amble.search(three, {"q": QUERY}, scorer))
    assert (three.matrix != before).nnz == 0


def test_hits_are_a_run(three: amble.Index, tmp_path: Path) -> None:
    hits = amble.search(three, {"q": QUERY, "nothing": "x"}, "bm25(k1=0.9)", top=2)
    assert (hits.tag, repr(hits)) == ("bm25(k1=0.9)", "Hits(bm25(k1=0.9): 2 documents for 1 of 2 topics)")
    hits.write(tmp_path / "a.run")
    lines = [line.split() for line in (tmp_path / "a.run").read_text().splitlines()]
    assert [line[:4] + line[5:] for line in lines] == [
        ["q", "Q0", d, r, "bm25(k1=0.9)"] for d, r in (("d1", "1"), ("d3", "2"))
    ]
    assert {line[2]: float(line[4]) for line in lines} == hits["q"]  # to the last digit
    qrels = {"q": {"d3": 1}}
    from_file = amble.evaluate(qrels, [tmp_path / "a.run"], ["RR"])
    in_memory = amble.evaluate(qrels, {"mine": hits}, ["RR"])
    assert from_file.values.tolist() == in_memory.values.tolist() == [[[0.5]]]
    assert amble.search(three, {"q": "a"}, tag="mine").tag == "mine"


def test_empty_documents_and_topics() -> None:
    index = amble.index({"d1": "", "d2": "...", "d3": "word"}, language="none")
    assert (index.lengths.tolist(), index.tokens) == ([1, 0, 0], 1)
    for scorer in SCORERS:
        found = amble.search(index, {"1": "", "2": "word"}, scorer)
        assert list(found) == (["2"] if len(found) else [])
    nothing = amble.index({"d1": ""}, language="none")
    for scorer in SCORERS:
        assert dict(amble.search(nothing, {"1": "word"}, scorer)) == {}
    assert dict(amble.search(nothing, {}, "bm25")) == {}


# ---- saved and opened


def test_saved_and_opened(tmp_path: Path) -> None:
    texts = {"d1": "The naïve café of L'Aquila", "d2": "cafés and naïveté", "é": "日本語"}
    index = amble.index(texts, language="italian", stopwords=["of"])
    index.save(tmp_path / "i")
    again = amble.open_index(tmp_path / "i")
    assert repr(again) == repr(index)
    assert (again.docs, again.terms) == (index.docs, index.terms)
    assert again.analyser.settings() == index.analyser.settings()
    for scorer in SCORERS:
        assert dict(amble.search(tmp_path / "i", {"1": "café 日"}, scorer)) == dict(
            amble.search(index, {"1": "café 日"}, scorer)
        )
    assert [path.name for path in tmp_path.iterdir()] == ["i"]


def test_what_is_no_index(tmp_path: Path, write: Callable[[str, str | bytes], str]) -> None:
    amble.index(THREE, language="none").save(tmp_path / "good")
    good = (tmp_path / "good").read_bytes()
    np.savez(tmp_path / "other.npz", a=np.zeros(3))
    np.save(tmp_path / "array.npy", np.zeros(3))
    broken = {
        "empty": b"",
        "text": b"hello\n",
        "half": good[: len(good) // 2],
        "flipped": good.replace(b"postings.npy", b"pastings.npy"),
        "other": (tmp_path / "other.npz").read_bytes(),
        "array": (tmp_path / "array.npy").read_bytes(),
    }
    for name, content in broken.items():
        with pytest.raises(amble.ReadError, match=f"{name}: not an index"):
            amble.open_index(write(name, content))
    with pytest.raises(amble.ReadError, match="no such file, expected an index"):
        amble.open_index(tmp_path / "nowhere")
    with pytest.raises(amble.ReadError, match="a directory, expected an index"):
        amble.open_index(tmp_path)


def test_every_byte_matters_or_not_but_nothing_breaks(write: Callable[[str, str | bytes], str], tmp_path: Path) -> None:
    amble.index(THREE, language="none").save(tmp_path / "good")
    good = (tmp_path / "good").read_bytes()
    refused = 0
    for i in range(0, len(good), 7):
        path = write("bad", good[:i] + bytes([good[i] ^ 0x41]) + good[i + 1 :])
        try:
            amble.open_index(path)
        except amble.AmbleError:
            refused += 1
    assert refused > len(good) / 7 / 3  # what it holds is checked; the zip's own words are not all


def test_wrong_asks(three: amble.Index) -> None:
    for scorer, expected in (
        ("bm26", "scorer 'bm26' is unknown, did you mean bm25?"),
        ("zzz", "expected one of jaccard, logtf, tfidf, cosine, bm25, lm"),
        ("bm25(", "scorer 'bm25\\(': found the end, expected a parameter"),
        ("bm25(k1=-1)", "bm25: k1=-1 is not allowed, expected a number of at least 0"),
        ("bm25(b=2)", "b=2 is not allowed, expected a number between 0 and 1, both included"),
        ("bm25(mu=2)", "bm25: unknown parameter 'mu', expected one of k1, b"),
        ("jaccard(k=2)", "unknown parameter 'k', expected none: it has no parameters"),
        ("lm(mu=0)", "expected a number above 0"),
        ("tfidf(base=1)", "expected a number above 1, or 'e'"),
        ("cosine(weights='lnc')", "weights='lnc' is not allowed, expected SMART's letters"),
        ("cosine(weights='xnc.ltc')", "expected SMART's letters"),
        ("cosine(weights=7)", "expected SMART's letters"),
        ("bm25@10", "found '@', expected nothing after the parameters"),
        (7, "scorer 7: expected a name"),
    ):
        with pytest.raises(amble.AmbleError, match=expected):
            amble.search(three, {"q": "a"}, scorer)  # type: ignore[arg-type]
    for k in (0, -1, 1.5, True, "7"):
        with pytest.raises(amble.AmbleError, match="expected a whole number of at least 1"):
            amble.search(three, {"q": "a"}, top=k)  # type: ignore[arg-type]
    with pytest.raises(amble.AmbleError, match="tag 'a b' has a blank in it, expected one word"):
        amble.search(three, {"q": "a"}, tag="a b")
    with pytest.raises(amble.AmbleError, match="document 'd9' is not in the index of 3 documents"):
        three.count("a", "d9")
    with pytest.raises(amble.ReadError, match="document d1 is there twice"):
        amble.index(THREE, [("d1", "again")], language="none")
    with pytest.raises(amble.ReadError, match="no documents in the collection"):
        amble.index({})


@pytest.mark.parametrize(
    "text", ["bm25", "bm25(k1=0.9)", "cosine(weights='ntc.nnn',base='e')", "lm(mu=10)", "logtf(base=2)"]
)
def test_scorers_are_read_again(text: str) -> None:
    assert str(parse_scorer(text)) == text
    assert str(parse_scorer(str(parse_scorer(text)))) == text
    assert " " not in text  # a tag


# ---- explained


@pytest.mark.parametrize("scorer", [*SCORERS, "cosine(weights='ltc.ltc')", "bm25(k1=0.9,b=0.4)"])
def test_explanations_add_up(three: amble.Index, scorer: str) -> None:
    hits = amble.search(three, {"q": QUERY}, scorer)["q"]
    for rank, (doc, score) in enumerate(hits.items(), 1):
        table = amble.explain(three, doc, QUERY, scorer)
        facts = table.facts
        assert (facts["score"], facts["rank"], facts["found"]) == (score, rank, 3)
        products = [float(row[-1]) for row in table]  # type: ignore[arg-type]
        assert facts["sum"] == pytest.approx(sum(products))
        if scorer not in ("jaccard", "lm"):  # the others are sums
            assert facts["sum"] == pytest.approx(score, rel=1e-12)
    assert [row[0] for row in table] == ["a", "b", "x"]


def test_an_explanation_by_hand(three: amble.Index) -> None:
    table = amble.explain(three, "d1", QUERY, "tfidf")
    assert table.columns == ("term", "in query", "tf", "df", "cf", "idf", "query", "document", "product")
    idf = log10(1.5)
    assert list(table) == [
        ("a", 1, 2, 2, 3, pytest.approx(idf), 1.0, *[pytest.approx((1 + log10(2)) * idf)] * 2),
        ("b", 2, 1, 2, 4, pytest.approx(idf), 1.0, pytest.approx(idf), pytest.approx(idf)),
        ("x", 1, 0, 0, 0, None, None, None, 0.0),
    ]  # fmt: skip
    missed = amble.explain(three, "d2", "d x")
    assert missed.facts["rank"] is None
    assert missed.caption == "bm25 of document d2: not among the 1 found; the products add up to 0.0000"
    with pytest.raises(amble.AmbleError, match="document 'd9' is not in the index"):
        amble.explain(three, "d9", "a")
    assert len(amble.explain(three, "d1", "")) == 0


# ---- real collections


def _cranfield(data: Path) -> Path:
    folder = data / "collections" / "cranfield"
    if not folder.is_dir():
        pytest.skip("real data: no collections/cranfield/ in the folder that AMBLE_DATA names")
    return folder


def test_explanations_of_real_scores(data: Path) -> None:
    index = amble.index(_cranfield(data) / "cran.all.1400.xml.gz", fields=["text"])
    topics = dict(list(amble.read_topics(_cranfield(data) / "cran.qry.xml.gz", renumber=True).items())[:5])
    for scorer in SCORERS:
        for topic, found in amble.search(index, topics, scorer, top=3).items():
            for rank, (doc, score) in enumerate(found.items(), 1):
                facts: dict[str, Any] = amble.explain(index, doc, topics[topic], scorer).facts
                assert facts["score"] == pytest.approx(score, rel=1e-12)
                assert facts["rank"] == rank


@pytest.mark.parametrize("counts", ["negative", "zero", "halves", "nan"])
def test_an_index_whose_counts_are_no_counts(counts: str, tmp_path: Path) -> None:
    amble.index({"d1": "caesar died in march", "d2": "the long march"}, language="none").save(tmp_path / "i")
    with np.load(tmp_path / "i") as stored:
        parts = dict(stored)
    changed = {"negative": -1, "zero": 0, "halves": 0.5, "nan": float("nan")}[counts]
    with (tmp_path / "j").open("wb") as file:
        np.savez(file, **{**parts, "counts": parts["counts"] * changed})
    with pytest.raises(amble.ReadError, match="j: not an index, or a broken one"):
        amble.open_index(tmp_path / "j")


def test_scores_beyond_doubles_are_told() -> None:
    index = amble.index({"d1": "caesar died in march", "d2": "the long march"}, language="none")
    with pytest.raises(amble.AmbleError, match=r"lm\(mu=1e-320\): a score is too large for a double"):
        amble.search(index, {"1": "march"}, "lm(mu=1e-320)")
    with pytest.raises(amble.AmbleError, match=r"lm\(mu=1e-320\): a score is too large for a double"):
        amble.explain(index, "d1", "march", "lm(mu=1e-320)")
    # with so much prior, a document has what the collection has: ln(2/7), march being two of seven
    found = amble.search(index, {"1": "march"}, "lm(mu=1e308)")["1"]
    assert found == pytest.approx({"d1": log(2 / 7), "d2": log(2 / 7)})


def test_a_tag_that_is_no_text() -> None:
    with pytest.raises(amble.AmbleError, match="expected text in UTF-8"):
        amble.search(amble.index({"d1": "march"}, language="none"), {"1": "march"}, tag="\udcff")
