"""The inverted index: term frequencies by document; built, saved and opened.

Documents are kept in the order in which equal scores are ranked (by their ids, the last first, as trec_eval has it),
and terms in that of the alphabet. So the same documents make the same index, in whatever order they were read.
"""

from __future__ import annotations

import functools
import json
import os
from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from amble.errors import AmbleError, ReadError
from amble.io.files import path_name, whole_file
from amble.retrieval.documents import Document, read_documents
from amble.retrieval.text_analysis import Analyser

__all__ = ["Index", "index", "open_index"]

_FORMAT = 1
_BLOCK = 1 << 22  # tokens that are counted at once
_PARTS = ("about", "docs", "terms", "starts", "postings", "counts")

Floats = np.ndarray[Any, np.dtype[np.float64]]


class Index:
    """Documents as bags of terms. Made by `amble.index` or `amble.open_index`.

    Attributes
    ----------
    docs : list of str
        The ids of the documents, in the order in which equal scores are ranked.
    terms : list of str
        In the order of the alphabet.
    matrix : scipy.sparse.csr_matrix
        Frequency of each term (row) in each document (column).
    analyser : Analyser
        How the text of documents became terms, and that of topics will.

    Examples
    --------
    >>> import amble
    >>> index = amble.index({"d1": "caesar died in march", "d2": "the long march"}, language="none")
    >>> index
    Index(2 documents, 6 terms, 7 tokens; language none)
    >>> index.count("march", "d1")
    1
    """

    def __init__(self, docs: list[str], terms: list[str], matrix: Any, analyser: Analyser) -> None:
        self.docs, self.terms, self.matrix, self.analyser = docs, terms, matrix, analyser

    @functools.cached_property
    def lengths(self) -> Floats:
        """Number of tokens of each document."""
        return _tally(self.matrix.indices, len(self.docs), self.matrix.data)

    @functools.cached_property
    def sizes(self) -> Floats:
        """Number of distinct terms of each document."""
        return _tally(self.matrix.indices, len(self.docs))

    @functools.cached_property
    def document_frequency(self) -> Floats:
        """Document frequency of each term."""
        return np.asarray(np.diff(self.matrix.indptr), np.float64)

    @functools.cached_property
    def collection_frequency(self) -> Floats:
        """Collection frequency of each term."""
        rows = np.repeat(np.arange(len(self.terms)), np.diff(self.matrix.indptr))
        return _tally(rows, len(self.terms), self.matrix.data)

    @functools.cached_property
    def tokens(self) -> int:
        """Number of tokens of all documents."""
        return int(self.matrix.data.sum(dtype=np.int64))

    @functools.cached_property
    def term_numbers(self) -> dict[str, int]:
        """The row of each term."""
        return {term: i for i, term in enumerate(self.terms)}

    @functools.cached_property
    def doc_numbers(self) -> dict[str, int]:
        """The column of each document."""
        return {doc: i for i, doc in enumerate(self.docs)}

    def count(self, term: str, doc: str) -> int:
        """Frequency of a term (as it is in the index, stemmed) in a document."""
        row, column = self.term_numbers.get(term), self.doc_number(doc)
        return 0 if row is None else int(self.matrix[row, column])

    def doc_number(self, doc: str) -> int:
        """The column of a document; AmbleError if it has none."""
        found = self.doc_numbers.get(doc)
        if found is None:
            raise AmbleError(f"document {doc!r} is not in the index of {len(self.docs):,} documents")
        return found

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it into one file, which appears whole or not at all."""
        if os.path.exists(path) and not os.path.isfile(path):  # a device cannot be written in several places
            raise AmbleError(f"{os.fspath(path)}: not a file, expected one to write an index to")
        about = {"amble index": _FORMAT, "analyser": self.analyser.settings()}
        with whole_file(os.fspath(path)) as file:
            np.savez(
                file,
                about=np.frombuffer(json.dumps(about).encode(), np.uint8),
                docs=np.frombuffer("\n".join(self.docs).encode(), np.uint8),
                terms=np.frombuffer("\n".join(self.terms).encode(), np.uint8),
                starts=self.matrix.indptr.astype(np.int64),
                postings=self.matrix.indices.astype(np.int32),
                counts=self.matrix.data.astype(np.int32),
            )

    def __repr__(self) -> str:
        counted = ((len(self.docs), "document"), (len(self.terms), "term"), (self.tokens, "token"))
        sizes = ", ".join(f"{n:,} {what}{'s' * (n != 1)}" for n, what in counted)
        return f"Index({sizes}; language {self.analyser.language})"


def index(
    *sources: Any,
    language: str = "english",
    stopwords: bool | Iterable[str] = True,
    stemming: bool = True,
    fields: Sequence[str] | None = None,
    encoding: str | None = None,
    max_document: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> Index:
    """The index of a collection.

    Parameters
    ----------
    *sources : path, mapping or iterable
        Files or folders: ``<DOC>``, JSON lines, ``.I 1``, or an id, a tab and text; ``irds:NAME``; ``{id: text}``.
    language : str
        Whose stemmer and stop words to use; ``"none"`` for neither.
    stopwords : bool or iterable of str
        Leave out the language's stop words, none, or these.
    stemming : bool
        Cut words down to their stems.
    fields : sequence of str, optional
        Which fields of the documents; all by default.
    encoding : str, optional
        Of files; UTF-8, or what an XML declaration says.
    max_document : int, optional
        The longest document of a file, in bytes; 64,000,000 if not given.
    progress : callable, optional
        Called now and then with the number of documents read.

    Returns
    -------
    Index

    Examples
    --------
    >>> import amble
    >>> index = amble.index({"d1": "caesar died in march", "d2": "the long march"}, language="none")
    >>> amble.search(index, {"1": "ides of march"}, "jaccard")["1"]
    {'d2': 0.2, 'd1': 0.16666666666666666}
    """
    analyser = Analyser(language, stopwords, stemming)
    documents = read_documents(*sources, fields=fields, encoding=encoding, max_document=max_document)
    docs, terms, matrix = _counted(documents, analyser, progress or (lambda done: None))
    if not docs:
        raise ReadError("no documents in the collection, expected at least one")
    by_term = np.array(sorted(range(len(terms)), key=terms.__getitem__), np.int64)
    by_doc = np.array(sorted(range(len(docs)), key=lambda i: docs[i].encode(), reverse=True), np.int64)
    matrix = matrix[by_doc].T.tocsr()[by_term]
    matrix.sort_indices()
    return Index([docs[i] for i in by_doc], [terms[i] for i in by_term], matrix, analyser)


def _tally(places: Any, size: int, weights: Any = None) -> Floats:
    return np.asarray(np.bincount(places, weights=weights, minlength=size), np.float64)


class _Numbers(dict[str, int]):
    """Words to the numbers of their terms; a word that is new is analysed once, a stop word is -1."""

    def __init__(self, analyser: Analyser) -> None:
        super().__init__()
        self._analyser = analyser
        self.terms: dict[str, int] = {}

    def __missing__(self, word: str) -> int:
        term = self._analyser.term(word)
        number = -1 if term is None else self.terms.setdefault(term, len(self.terms))
        self[word] = number
        return number


def _counted(
    documents: Iterable[Document], analyser: Analyser, progress: Callable[[int], object]
) -> tuple[list[str], list[str], Any]:
    """Count terms, a block of documents at a time: a matrix with one row per document."""
    numbers = _Numbers(analyser)
    seen: dict[str, str] = {}
    blocks, lengths, tokens = [], array("q"), array("i")

    def close() -> None:
        blocks.append(_block(np.frombuffer(tokens, np.int32), np.frombuffer(lengths, np.int64)))

    for document in documents:
        if document.id in seen:
            raise ReadError(f"{document.where}: document {document.id} is there twice (first at {seen[document.id]})")
        seen[document.id] = document.where
        found = [numbers[word] for word in analyser.words(document.text)]
        kept = [number for number in found if number >= 0]
        tokens.extend(kept)
        lengths.append(len(kept))
        if len(tokens) >= _BLOCK:
            close()
            lengths, tokens = array("q"), array("i")
        if len(seen) % 1000 == 0:
            progress(len(seen))
    close()
    from scipy import sparse

    wide = len(numbers.terms)
    for block in blocks:
        block.resize(block.shape[0], wide)
    return list(seen), list(numbers.terms), sparse.vstack(blocks, format="csr", dtype=np.int32)


def _block(tokens: Any, lengths: Any) -> Any:
    from scipy import sparse

    starts = np.concatenate(([0], np.cumsum(lengths)))
    shape = (len(lengths), int(tokens.max(initial=-1)) + 1)
    counted = sparse.csr_matrix((np.ones(len(tokens), np.int32), tokens.copy(), starts), shape=shape)
    counted.sum_duplicates()
    return counted


def open_index(path: str | os.PathLike[str]) -> Index:
    """The index in a file that `Index.save` wrote.

    Parameters
    ----------
    path : path

    Returns
    -------
    Index

    Examples
    --------
    >>> import os, tempfile
    >>> import amble
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     amble.index({"d1": "the long march"}, language="none").save(os.path.join(folder, "small.index"))
    ...     amble.open_index(os.path.join(folder, "small.index"))
    Index(1 document, 3 terms, 3 tokens; language none)
    """
    name = path_name(path)
    try:
        with open(name, "rb") as file, np.load(file, allow_pickle=False) as stored:
            parts = {key: stored[key] for key in _PARTS}
        about = json.loads(parts["about"].tobytes())
        version = about["amble index"]
        if version != _FORMAT:
            raise ReadError(f"{name}: an index of format {version}, expected {_FORMAT}: index again")
        docs, terms = (parts[key].tobytes().decode().split("\n") for key in ("docs", "terms"))
        terms = terms if parts["terms"].size else []
        return Index(docs, terms, _matrix(parts, len(terms), len(docs)), Analyser(**about["analyser"]))
    except FileNotFoundError:
        raise ReadError(f"{name}: no such file, expected an index") from None
    except IsADirectoryError:
        raise ReadError(f"{name}: a directory, expected an index") from None
    except (AmbleError, MemoryError):
        raise
    except OSError as error:
        raise ReadError(f"{name}: {error.strerror or error}") from None
    except Exception:  # a file of another kind, or a broken one, fails in many ways
        raise ReadError(f"{name}: not an index, or a broken one; expected what amble index wrote") from None


def _matrix(parts: dict[str, Any], terms: int, docs: int) -> Any:
    from scipy import sparse

    matrix = sparse.csr_matrix((parts["counts"], parts["postings"], parts["starts"]), shape=(terms, docs))
    matrix.check_format(full_check=True)
    if matrix.data.dtype.kind not in "iu" or (matrix.data < 1).any():
        raise ValueError  # not counts
    return matrix
