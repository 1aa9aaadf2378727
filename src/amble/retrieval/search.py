"""Search: scores of all documents for many topics at once, as a sparse product, and the best of them."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from amble import checks
from amble.errors import AmbleError
from amble.io.files import whole_file
from amble.io.trec import column_fault, run_line
from amble.retrieval.inverted_index import Index, open_index
from amble.retrieval.records import is_text
from amble.retrieval.scorers import Floats, Ints, Postings, Query, Scorer, parse_scorer
from amble.retrieval.topics import read_topics

__all__ = ["Hits", "make_query", "score_documents", "search"]

_CELLS = 20_000_000  # scores that are held at once


class Hits(Mapping[str, dict[str, float]]):
    """The documents found: ``{topic: {doc: score}}``, best first; accepted wherever a run is.

    Attributes
    ----------
    tag : str
        The scorer's name.
    topics : tuple of str
        All that were searched for, also those that found nothing.

    Examples
    --------
    >>> import amble
    >>> index = amble.index({"d1": "caesar died in march", "d2": "the long march"}, language="none")
    >>> hits = amble.search(index, {"1": "march"}, "jaccard")
    >>> hits["1"]
    {'d2': 0.3333333333333333, 'd1': 0.25}
    >>> amble.evaluate({"1": {"d1": 1}}, {"jaccard": hits}, "RR").values
    array([[[0.5]]])
    """

    def __init__(self, tag: str, found: dict[str, tuple[Ints, Floats]], docs: list[str]) -> None:
        self.tag = tag
        self.topics = tuple(found)
        self._found, self._docs = found, docs

    def __getitem__(self, topic: str) -> dict[str, float]:
        places, scores = self._found[topic]
        docs = self._docs
        return {docs[i]: score for i, score in zip(places.tolist(), scores.tolist(), strict=True)}

    def __iter__(self) -> Iterator[str]:
        return (topic for topic, (places, _) in self._found.items() if len(places))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        count = sum(len(places) for places, _ in self._found.values())
        documents = f"{count:,} document{'s' * (count != 1)}"
        topics = f"{len(self)} of {len(self.topics)} topic{'s' * (len(self.topics) != 1)}"
        return f"Hits({self.tag}: {documents} for {topics})"

    def lines(self) -> Iterator[str]:
        """Yield the lines of a TREC run; scores have all their digits, so that reading them again changes no rank."""
        for topic, (places, scores) in self._found.items():
            for rank, (i, score) in enumerate(zip(places.tolist(), scores.tolist(), strict=True), 1):
                yield run_line(topic, self._docs[i], rank, score, self.tag) + "\n"

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write a TREC run; the file appears whole or not at all."""
        with whole_file(os.fspath(path)) as file:
            file.writelines(line.encode() for line in self.lines())


def search(
    index: Index | str | os.PathLike[str],
    topics: Any,
    scorer: str | Scorer = "bm25",
    top: int = 1000,
    *,
    tag: str | None = None,
    progress: Callable[[int, int], object] | None = None,
    **reading: Any,
) -> Hits:
    """The best documents of a collection for each topic.

    Parameters
    ----------
    index : Index or path
    topics : path or mapping
        Whatever `amble.read_topics` takes.
    scorer : str
        ``"jaccard"``, ``"logtf"``, ``"tfidf"``, ``"cosine"``, ``"bm25"`` or ``"lm"``, with parameters where they are
        not the usual ones: ``"bm25(k1=0.9,b=0.4)"``, ``"cosine(weights='ltc.ltc')"``, ``"lm(mu=1000)"``.
    top : int
        At most so many documents per topic.
    tag : str, optional
        What to call the run; the scorer's name.
    progress : callable, optional
        Called with the number of topics done, and of all.
    **reading
        ``fields``, ``language``, ``encoding``, ``renumber``, for `amble.read_topics`.

    Returns
    -------
    Hits
        Documents that share no term with a topic, or whose weights are all 0, are not among them. Equal scores are
        ranked as trec_eval and amble read them: the document whose id comes last first.

    Examples
    --------
    >>> import amble
    >>> index = amble.index({"d1": "caesar died in march", "d2": "the long march"}, language="none")
    >>> hits = amble.search(index, {"1": "ides of march"}, "jaccard")
    >>> hits
    Hits(jaccard: 2 documents for 1 of 1 topic)
    >>> print(*hits.lines(), sep="", end="")
    1 Q0 d2 1 0.2 jaccard
    1 Q0 d1 2 0.16666666666666666 jaccard
    """
    scorer = parse_scorer(scorer)
    top = checks.whole(top, "top")
    name = str(scorer) if tag is None else tag
    if wrong := column_fault(name) if isinstance(name, str) else "is no text":
        raise AmbleError(f"tag {name!r:.100} {wrong}, expected one word: a column of a file")
    if not is_text(name):
        raise AmbleError(f"tag {name!r}: expected text in UTF-8")
    wanted = read_topics(topics, **reading)
    opened = index if isinstance(index, Index) else open_index(index)
    queries = [make_query(opened, text) for text in wanted.values()]
    found: dict[str, tuple[Ints, Floats]] = {}
    names = list(wanted)
    for start, rows in _products(opened, scorer, queries):
        for i, (docs, scores) in enumerate(rows, start):
            found[names[i]] = _best(docs, scores, top)
        if progress:
            progress(len(found), len(names))
    return Hits(name, found, opened.docs)


def make_query(index: Index, text: str) -> Query:
    """The query of a text, analysed as the documents of the index were."""
    counted = Counter(index.analyser.terms(text))
    numbers = index.term_numbers
    known = sorted((numbers[term], count) for term, count in counted.items() if term in numbers)
    terms, counts = zip(*known, strict=True) if known else ((), ())
    return Query(np.array(terms, np.int64), np.array(counts, np.float64), len(counted))


def score_documents(index: Index, query: Query, scorer: Scorer) -> tuple[Ints, Floats]:
    """The documents that a query finds, and their scores, in no order."""
    _, rows = next(_products(index, scorer, [query]))
    return next(rows)


def _products(
    index: Index, scorer: Scorer, queries: list[Query]
) -> Iterator[tuple[int, Iterator[tuple[Ints, Floats]]]]:
    """Multiply weights of queries with weights of documents, as many queries at a time as memory allows."""
    from scipy import sparse

    used = np.unique(np.concatenate([query.terms for query in queries])) if queries else np.zeros(0, np.int64)
    rows = index.matrix[used]
    terms = np.repeat(used, np.diff(rows.indptr))
    weights = scorer.document_weights(index, Postings(terms, rows.indices, rows.data.astype(float)))
    documents = sparse.csr_matrix((weights, rows.indices, rows.indptr), shape=rows.shape)
    at_once = max(1, _CELLS // max(1, len(index.docs)))
    for start in range(0, len(queries), at_once):
        block = queries[start : start + at_once]
        starts = np.cumsum([0, *(len(query.terms) for query in block)])
        places = np.searchsorted(used, np.concatenate([query.terms for query in block]))
        values = np.concatenate([scorer.query_weights(index, query) for query in block])
        product = sparse.csr_matrix((values, places, starts), shape=(len(block), len(used))) @ documents
        yield start, _rows(index, scorer, block, product)


def _rows(index: Index, scorer: Scorer, block: list[Query], product: Any) -> Iterator[tuple[Ints, Floats]]:
    for i, query in enumerate(block):
        part = slice(product.indptr[i], product.indptr[i + 1])
        docs, sums = product.indices[part], product.data[part]
        docs, sums = docs[sums != 0], sums[sums != 0]
        scores = scorer.finish(index, query, docs, sums)
        if not np.isfinite(scores).all():
            raise AmbleError(f"{scorer}: a score is too large for a double, expected less extreme parameters")
        yield docs, scores


def _best(docs: Ints, scores: Floats, k: int) -> tuple[Ints, Floats]:
    """The k best, best first; of equal scores those that stand first in the index, also where the list is cut."""
    if len(scores) > k:
        kept = scores >= np.partition(scores, len(scores) - k)[len(scores) - k]
        docs, scores = docs[kept], scores[kept]
    order = np.lexsort((docs, -scores))[:k]
    return docs[order].astype(np.int64), scores[order]
