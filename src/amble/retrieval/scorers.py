"""Scorers of documents for queries: Jaccard, log tf, tf-idf, cosine, BM25, language model.

All but Jaccard are sums over the terms that query and document share: the weight of the term in the query times its
weight in the document. So the scores of all documents for all queries are one sparse product. What is not such a sum
(the size of the union, the unseen terms of a language model) is done afterwards, for the documents that were found.

N documents, df of them with the term, tf times in this one, qtf times in the query, cf times in all documents:

* ``jaccard``: terms in both / terms in either
* ``logtf``: sum of 1 + log10 tf
* ``tfidf``: sum of (1 + log10 tf) log10(N / df)
* ``cosine``: of two vectors weighted by SMART's letters, ``lnc.ltc``
* ``bm25``: sum of qtf ln(1 + (N - df + 0.5) / (df + 0.5)) tf / (tf + k1 (1 - b + b length / mean length))
* ``lm``: sum of qtf ln((tf + mu cf / tokens) / (length + mu)), over all terms of the query that are in the collection

SMART's notation for weights has three letters for documents and three for queries, as ``lnc.ltc``:

* How often a term stands there (tf): ``n`` the count, ``l`` 1 + log tf, ``a`` 0.5 + 0.5 tf / largest tf, ``b`` 1,
  ``L`` (1 + log tf) / (1 + log of the mean tf).
* How rare it is (N documents, df of them with it): ``n`` 1, ``t`` log(N / df), ``p`` max(0, log((N - df) / df)), and,
  not of SMART, ``s`` 1 + log((1 + N) / (1 + df)), as scikit-learn smooths it.
* Length: ``n`` nothing, ``c`` divided by the root of the sum of squares.

Salton and Buckley (1988); Manning, Raghavan and Schütze (2008), section 6.4.3.
"""

from __future__ import annotations

import difflib
import math
from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple

import numpy as np

from amble.errors import AmbleError, MeasureError
from amble.expressions.domains import Above, AtLeast, Between, Domain, Form, Parameter, checked
from amble.expressions.grammar import parse_call, show_call
from amble.retrieval.inverted_index import Index

__all__ = ["SCORERS", "Postings", "Query", "Scorer", "SmartLetters", "TfStatistics", "parse_scorer", "parse_smart"]

Floats = np.ndarray[Any, np.dtype[np.float64]]
Ints = np.ndarray[Any, np.dtype[np.int64]]

_TF, _DF, _NORM = "nlabL", "ntps", "nc"


class Query(NamedTuple):
    """A query: its terms that are in the index (in their order there), how often, and how many there are in all."""

    terms: Ints
    counts: Floats
    size: int  # different terms, with those that are in no document


class Postings(NamedTuple):
    """Entries of the index: a term, a document, how often."""

    terms: Ints
    docs: Ints
    counts: Floats


# ---- SMART's weights


class TfStatistics(NamedTuple):
    """The largest and the mean tf of each bag (a document or a query)."""

    largest: Floats
    mean: Floats


class SmartLetters(NamedTuple):
    """Three letters of SMART: for tf, df and normalisation."""

    tf: str
    df: str
    norm: str

    def tf_weight(self, tf: Floats, bag: Any, bags: TfStatistics, log: float) -> Floats:
        """Weights of term frequencies in bags; ``log`` is the logarithm of the base."""
        if self.tf == "n":
            return tf.astype(float)
        if self.tf == "b":
            return np.ones(len(tf))
        if self.tf == "a":
            return np.asarray(0.5 + 0.5 * tf / bags.largest[bag])
        weight: Floats = 1 + np.log(tf) / log
        return weight / (1 + np.log(bags.mean[bag]) / log) if self.tf == "L" else weight

    def idf(self, df: Floats, documents: int, log: float) -> Floats:
        """Weights of document frequencies."""
        if self.df == "n":
            return np.ones(len(df))
        if self.df == "t":
            return np.log(documents / df) / log
        if self.df == "s":
            return 1 + np.log((1 + documents) / (1 + df)) / log
        return np.log(np.maximum(documents - df, df) / df) / log

    @property
    def normalised(self) -> bool:
        """Whether vectors are divided by their lengths."""
        return self.norm == "c"


class SmartWeights(NamedTuple):
    """SMART's letters for documents and for queries."""

    documents: SmartLetters
    query: SmartLetters

    def __str__(self) -> str:
        return ".".join("".join(letters) for letters in self)


def parse_smart(text: str | SmartWeights) -> SmartWeights:
    """The letters for documents and for queries; ValueError unless they are six with a dot between.

    >>> parse_smart("lnc.ltc").query, str(parse_smart("lnc.ltc"))
    (SmartLetters(tf='l', df='t', norm='c'), 'lnc.ltc')
    """
    text = str(text)
    if len(text) != 7 or text[3] != ".":
        raise ValueError
    for three in (text[:3], text[4:]):
        if not (three[0] in _TF and three[1] in _DF and three[2] in _NORM):
            raise ValueError
    return SmartWeights(SmartLetters(*text[:3]), SmartLetters(*text[4:]))


# ---- scorers


class _Base(Domain):
    """The base of a logarithm: a number above 1, or the letter e."""

    text = "a number above 1, or 'e'"

    def check(self, value: Any) -> Any:
        return value if value == "e" else Above(1).check(value)


_SMART = Form(parse_smart, "SMART's letters, as 'lnc.ltc': tf of nlabL, df of ntps, norm of nc", SmartWeights)


class Scorer(ABC):
    """A scorer, as `parse_scorer` makes it: weights of terms in documents and in queries.

    Attributes
    ----------
    name : str
        Which of the six.
    values : dict
        Its parameters.
    """

    name: ClassVar[str]
    parameters: ClassVar[tuple[Parameter, ...]] = ()

    def __init__(self, **given: Any) -> None:
        names = [p.name for p in self.parameters]
        for key in given:
            if key not in names:
                expected = f"one of {', '.join(names)}" if names else "none: it has no parameters"
                raise AmbleError(f"{self.name}: unknown parameter {key!r}, expected {expected}")
        self.values: dict[str, Any] = {
            p.name: checked(self.name, p.name, p.domain, given.get(p.name, p.default), mixed=False, kind=AmbleError)
            for p in self.parameters
        }

    def __str__(self) -> str:
        return show_call(self.name, {p.name: x for p in self.parameters if (x := self.values[p.name]) != p.default})

    def __repr__(self) -> str:
        return f"<scorer {self}>"

    @abstractmethod
    def document_weights(self, index: Index, entries: Postings) -> Floats:
        """Weights of terms in documents."""

    def query_weights(self, index: Index, query: Query) -> Floats:
        """Weights of terms in the query."""
        return np.ones(len(query.terms))

    def finish(self, index: Index, query: Query, docs: Ints, sums: Floats) -> Floats:
        """Scores of documents, from the sums of products."""
        return sums

    def idf(self, index: Index, terms: Ints) -> Floats | None:
        """The idf of terms; None if the scorer has none."""
        return None


class _Jaccard(Scorer):
    name = "jaccard"

    def document_weights(self, index: Index, entries: Postings) -> Floats:
        return np.ones(len(entries.terms))

    def finish(self, index: Index, query: Query, docs: Ints, sums: Floats) -> Floats:
        return sums / (query.size + index.sizes[docs] - sums)


class _LogTf(Scorer):
    name = "logtf"
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("base", 10.0, _Base()),)

    @property
    def log(self) -> float:
        base = self.values["base"]
        return 1.0 if base == "e" else math.log(base)

    def document_weights(self, index: Index, entries: Postings) -> Floats:
        return 1 + np.log(entries.counts) / self.log


class _TfIdf(_LogTf):
    name = "tfidf"

    def document_weights(self, index: Index, entries: Postings) -> Floats:
        return super().document_weights(index, entries) * self.idf(index, entries.terms)

    def idf(self, index: Index, terms: Ints) -> Floats:
        return np.log(len(index.docs) / index.document_frequency[terms]) / self.log


class _Cosine(_LogTf):
    name = "cosine"
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("weights", "lnc.ltc", _SMART), *_LogTf.parameters)

    def document_weights(self, index: Index, entries: Postings) -> Floats:
        letters = self.values["weights"].documents
        if not letters.normalised:
            return self._raw(index, letters, entries)
        lengths = self._lengths(index, letters)[entries.docs]
        return _divided(self._raw(index, letters, entries), lengths)

    def _raw(self, index: Index, letters: SmartLetters, entries: Postings) -> Floats:
        bags = _tf_statistics(index) if letters.tf in "aL" else _NO_BAGS
        weight = letters.tf_weight(entries.counts, entries.docs, bags, self.log)
        return weight * letters.idf(index.document_frequency[entries.terms], len(index.docs), self.log)

    def _lengths(self, index: Index, letters: SmartLetters) -> Floats:
        """The length of each document's vector, of all its terms."""
        matrix = index.matrix
        rows = np.repeat(np.arange(len(index.terms)), np.diff(matrix.indptr))
        every = self._raw(index, letters, Postings(rows, matrix.indices, matrix.data))
        return np.sqrt(np.bincount(matrix.indices, weights=every**2, minlength=len(index.docs)))

    def query_weights(self, index: Index, query: Query) -> Floats:
        letters = self.values["weights"].query
        if not len(query.terms):
            return np.zeros(0)
        bags = TfStatistics(np.array([query.counts.max()]), np.array([query.counts.mean()]))
        weight = letters.tf_weight(query.counts, np.zeros(len(query.terms), int), bags, self.log)
        weight = weight * letters.idf(index.document_frequency[query.terms], len(index.docs), self.log)
        return _divided(weight, np.sqrt(np.sum(weight**2))) if letters.normalised else weight

    def idf(self, index: Index, terms: Ints) -> Floats | None:
        used = [letters for letters in self.values["weights"] if letters.df != "n"]
        return used[-1].idf(index.document_frequency[terms], len(index.docs), self.log) if used else None


class _Bm25(Scorer):
    name = "bm25"
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("k1", 1.2, AtLeast(0)),
        Parameter("b", 0.75, Between(0, 1, closed=True)),
    )

    def document_weights(self, index: Index, entries: Postings) -> Floats:
        k1, b = self.values["k1"], self.values["b"]
        lengths = index.lengths[entries.docs] / (index.tokens / len(index.docs))
        tf = entries.counts
        weights: Floats = self.idf(index, entries.terms) * (tf / (tf + k1 * (1 - b + b * lengths)))
        return weights

    def query_weights(self, index: Index, query: Query) -> Floats:
        return query.counts

    def idf(self, index: Index, terms: Ints) -> Floats:
        df = index.document_frequency[terms]
        return np.log1p((len(index.docs) - df + 0.5) / (df + 0.5))


class _LanguageModel(Scorer):
    name = "lm"
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("mu", 2000.0, Above(0)),)

    def _prior(self, index: Index, terms: Ints) -> Floats:
        """Dirichlet prior: mu times the term's share of the collection."""
        return np.asarray(self.values["mu"] * (index.collection_frequency[terms] / index.tokens))

    def document_weights(self, index: Index, entries: Postings) -> Floats:
        with np.errstate(over="ignore", divide="ignore"):  # of a tiny mu: scores are checked in the end
            return np.log1p(entries.counts / self._prior(index, entries.terms))

    def query_weights(self, index: Index, query: Query) -> Floats:
        return query.counts

    def finish(self, index: Index, query: Query, docs: Ints, sums: Floats) -> Floats:
        """Add what a document that has none of the terms would have."""
        seen = query.counts.sum() * np.log(index.lengths[docs] + self.values["mu"])
        return np.asarray(sums + (float(np.sum(query.counts * np.log(self._prior(index, query.terms)))) - seen))


SCORERS: dict[str, type[Scorer]] = {
    each.name: each for each in (_Jaccard, _LogTf, _TfIdf, _Cosine, _Bm25, _LanguageModel)
}

_NO_BAGS = TfStatistics(np.zeros(0), np.zeros(0))


def _tf_statistics(index: Index) -> TfStatistics:
    largest = np.zeros(len(index.docs))
    np.maximum.at(largest, index.matrix.indices, index.matrix.data)
    return TfStatistics(largest, index.lengths / np.maximum(index.sizes, 1))


def _divided(weights: Floats, lengths: Any) -> Floats:
    """Divide by lengths; a vector of no length stays as it is, all zeros."""
    out = np.zeros_like(weights)
    np.divide(weights, lengths, out=out, where=np.asarray(lengths) > 0)
    return out


def parse_scorer(text: str | Scorer) -> Scorer:
    """The scorer of a name, with parameters where they are not the defaults.

    Examples
    --------
    >>> from amble.retrieval.scorers import parse_scorer
    >>> parse_scorer("bm25"), parse_scorer("bm25(k1=0.9, b=0.4)"), parse_scorer("cosine(weights='nnc.nnc')")
    (<scorer bm25>, <scorer bm25(k1=0.9,b=0.4)>, <scorer cosine(weights='nnc.nnc')>)
    """
    if isinstance(text, Scorer):
        return text
    if not isinstance(text, str):
        raise AmbleError(f"scorer {text!r}: expected a name, such as 'bm25'")
    try:
        name, arguments, at, unnamed = parse_call(text)
    except MeasureError as error:
        raise AmbleError(f"scorer {str(error).replace('measure', 'scorer')}") from None
    if name not in SCORERS:
        close = difflib.get_close_matches(name.lower(), SCORERS, 1)
        hint = f"did you mean {close[0]}?" if close else f"expected one of {', '.join(SCORERS)}"
        raise AmbleError(f"scorer {name!r} is unknown, {hint}")
    if unnamed:
        raise AmbleError(f"scorer {text!r}: found {unnamed[0]!r}, expected a parameter with its name, as in k1=0.9")
    if at is not None:
        raise AmbleError(
            f"scorer {text!r}: found '@', expected nothing after the parameters; -k says how many documents"
        )
    return SCORERS[name](**arguments)
