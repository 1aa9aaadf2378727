"""Explanation of a document's score: its terms, their weights, and what each contributes."""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

import numpy as np

from amble.retrieval.inverted_index import Index, open_index
from amble.retrieval.scorers import Postings, Scorer, parse_scorer
from amble.retrieval.search import make_query, score_documents
from amble.table import Table

__all__ = ["TERMS", "explain"]

TERMS = ("term", "in query", "tf", "df", "cf", "idf", "query", "document", "product")  # the columns


def explain(
    index: Index | str | os.PathLike[str], doc: str, text: str, scorer: str | Scorer = "bm25", *, digits: int = 4
) -> Table:
    """A table of the terms behind the score of a document for a query.

    Parameters
    ----------
    index : Index or path
    doc : str
        The document's id.
    text : str
        The query.
    scorer : str
        As for `amble.search`.
    digits : int
        Decimals.

    Returns
    -------
    Table
        A row for each term of the query: how often it stands there (``in query``) and in the document (``tf``), how
        many documents have it (``df``), how often it stands in all of them (``cf``), its ``idf`` where the scorer knows
        one, its weight in the query and in the document, and their product, the term's contribution. Its facts hold
        ``score``, ``sum``, ``rank`` and ``found``; its caption shows them.

    Examples
    --------
    >>> import amble
    >>> index = amble.index({"d1": "caesar died in march", "d2": "the long march"}, language="none")
    >>> print(amble.explain(index, "d1", "ides of march", "jaccard"))
    jaccard of document d1: 0.1667, rank 2 of 2 found; the products add up to 1.0000
    term   in query  tf  df  cf  idf   query  document  product
    ides          1   0   0   0  -         -         -   0.0000
    march         1   1   2   2  -    1.0000    1.0000   1.0000
    of            1   0   0   0  -         -         -   0.0000
    """
    scorer = parse_scorer(scorer)
    opened = index if isinstance(index, Index) else open_index(index)
    column = opened.doc_number(doc)
    query = make_query(opened, text)
    counts = np.asarray(opened.matrix[query.terms][:, [column]].todense(), float).ravel()
    there = np.flatnonzero(counts)
    entries = Postings(query.terms[there], np.full(len(there), column), counts[there])
    in_document = dict(zip(there.tolist(), scorer.document_weights(opened, entries).tolist(), strict=True))
    in_query = scorer.query_weights(opened, query).tolist()
    idf = scorer.idf(opened, query.terms)
    in_text = Counter(opened.analyser.terms(text))
    rows: list[tuple[Any, ...]] = [(term, n, 0, 0, 0, None, None, None, 0.0) for term, n in in_text.items()]
    place = {term: i for i, term in enumerate(in_text)}
    total = 0.0
    for i, number in enumerate(query.terms.tolist()):
        term = opened.terms[number]
        product = in_query[i] * in_document[i] if i in in_document else 0.0
        total += product
        rows[place[term]] = (
            term,
            in_text[term],
            int(counts[i]),
            int(opened.document_frequency[number]),
            int(opened.collection_frequency[number]),
            None if idf is None else float(idf[i]),
            in_query[i],
            in_document.get(i),
            product,
        )
    return _table(rows, total, _standing(opened, scorer, query, column), (str(scorer), doc), digits)


def _standing(index: Index, scorer: Scorer, query: Any, column: int) -> tuple[float | None, int | None, int]:
    """The document's score and rank among those that are found, and how many those are."""
    docs, scores = score_documents(index, query, scorer)
    mine = np.flatnonzero(docs == column)
    if not len(mine):
        return None, None, len(docs)
    own = scores[mine[0]]
    before = np.count_nonzero(scores > own) + np.count_nonzero((scores == own) & (docs < column))
    return float(own), int(before) + 1, len(docs)


def _table(
    rows: list[tuple[Any, ...]],
    total: float,
    standing: tuple[float | None, int | None, int],
    names: tuple[str, str],
    digits: int,
) -> Table:
    own, rank, found = standing
    scorer, doc = names
    if own is None:
        caption = f"{scorer} of document {doc}: not among the {found:,} found"
    else:
        caption = f"{scorer} of document {doc}: {own:.{digits}f}, rank {rank:,} of {found:,} found"
    return Table(
        TERMS,
        sorted(rows),
        digits=digits,
        caption=f"{caption}; the products add up to {total:.{digits}f}",
        facts={"scorer": scorer, "doc": doc, "score": own, "sum": total, "rank": rank, "found": found},
    )
