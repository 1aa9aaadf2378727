"""Runs and judgments: read from files, dictionaries and frames, and written as TREC files.

A run is read when it is aligned with judgments (see `align`): only the ranks and rows of its judged documents are kept,
so memory does not grow with the files. `Run.documents` has every document's id.

The work is done by `amble.native`: in C or, where no compiler was at hand or ``AMBLE_PURE`` is set, in plain Python.
"""

from __future__ import annotations

import contextlib
import copy
import itertools
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from amble.arrays import NDArray
from amble.errors import AmbleError, ReadError
from amble.io.columns import NamedColumns, as_table, check_columns, columns_for, is_one_run
from amble.io.files import byte_limit, compression_of, plain_size, stem, topic_changes
from amble.io.subtopics import Probabilities, Subtopics, no_subtopics
from amble.io.table_files import is_table_file, layout_of, open_input
from amble.native import is_compiled, load

__all__ = [
    "Documents", "Qrels", "Ranked", "Run", "Runs", "column_fault", "grade_text", "one_dictionary", "qrels_text",
    "read_qrels", "read_runs", "run_line", "run_text",
]  # fmt: skip

_TIES = {"docno": 0, "rank": 1, "file": 2}
_NO_GROUPS, _SINGLE = 4, 8  # added to a rule for ties: groups of equal scores are not wanted; scores are floats
_GRADES = 10  # a run in memory with no more different scores may be judgments
_BIG_FILE = 1 << 25  # from this size on a single file is worth several threads
_NO_COLUMN = "[\0-\x20]"  # the reader ends a column there, or refuses the line
_BLANK = " \t\n\v\f\r"


reader = load("reader")


class Qrels:
    """Judgments: the grade of each judged document of each topic. Made by `read_qrels`, never changed.

    Attributes
    ----------
    name : str
        Where they came from.
    path : str or None
        The file, ``-`` for standard input, None for data in memory.
    topics : tuple of str
        In order of first appearance.
    offsets : ndarray of int64
        Topic ``i`` has the rows ``offsets[i]:offsets[i + 1]``.
    grades : ndarray of float64
        The grade of each row: of judgments of subtopics, the largest that its document has for any of them.
    subtopics : Subtopics or None
        The grades by subtopic, where the judgments are of subtopics.

    Examples
    --------
    >>> import amble
    >>> qrels = amble.read_qrels({"401": {"a": 1, "b": 0}, "402": {"a": 2}})
    >>> qrels
    Qrels('qrels': 2 topics, 3 judgments)
    >>> qrels["401"]
    {'a': 1.0, 'b': 0.0}
    """

    def __init__(self, judgments: Any, name: str, path: str | None = None) -> None:
        topics, offsets, grades = reader.describe(judgments)
        self.judgments = judgments
        self._describe(topics, np.frombuffer(offsets, np.int64), np.frombuffer(grades, np.float64), name, path)
        found = reader.subtopics(judgments)
        self.subtopics = Subtopics.of_bytes(found) if found[0] else None

    def _describe(
        self, topics: Iterable[str], offsets: NDArray[Any], grades: NDArray[Any], name: str, path: str | None
    ) -> None:
        self.name, self.path = name, path
        self.topics: tuple[str, ...] = tuple(topics)
        self.offsets: NDArray[np.int64] = offsets
        self.grades: NDArray[np.float64] = grades

    _documents: Callable[[], list[str]] | None = None
    reading: tuple[int | None, Mapping[str, str | int] | None] = None, None  # max_line and columns of its file
    subtopics: Subtopics | None = None

    @classmethod
    def of_rows(
        cls, topics: list[str], offsets: NDArray[Any], grades: NDArray[Any], docs: Callable[[], list[str]], name: str
    ) -> Qrels:
        """Judgments whose rows are known, without their documents, which are asked for when they are needed."""
        out = cls.__new__(cls)
        out._describe(topics, offsets, grades, name, None)
        out._documents = docs
        return out

    def __reduce__(self) -> tuple[Any, ...]:
        rows = self.topics, self.offsets, self.grades, self.docs, self.name
        return _same_qrels, (*rows, {"path": self.path, "reading": self.reading, "subtopics": self.subtopics})

    @cached_property
    def judgments(self) -> Any:
        """The judgments as the reader of runs takes them."""
        topics = np.repeat(np.array(self.topics, object), np.diff(self.offsets)).tolist()
        return reader.judge((topics, self.docs, self.grades.tolist()), self.name)

    @cached_property
    def max_grade(self) -> float:
        """The largest grade."""
        return float(self.grades[self.grades.argmax()])

    @cached_property
    def are_whole(self) -> bool:
        """Whether all grades are whole numbers."""
        return not np.count_nonzero(self.grades != np.floor(self.grades))

    @cached_property
    def docs(self) -> list[str]:
        """The document of each row."""
        return list(reader.documents(self.judgments) if self._documents is None else self._documents())

    def __len__(self) -> int:
        return len(self.grades)

    def __getitem__(self, topic: str) -> dict[str, float]:
        try:
            i = self.topics.index(topic)
        except ValueError:
            raise KeyError(topic) from None
        rows = slice(int(self.offsets[i]), int(self.offsets[i + 1]))
        return dict(zip(self.docs[rows], self.grades[rows].tolist(), strict=True))

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return ``{topic: {doc: grade}}``."""
        grades, bounds = self.grades.tolist(), self.offsets.tolist()
        return {
            topic: dict(zip(self.docs[bounds[i] : bounds[i + 1]], grades[bounds[i] : bounds[i + 1]], strict=True))
            for i, topic in enumerate(self.topics)
        }

    def __repr__(self) -> str:
        topics, of, n = f"{len(self.topics)} topic{'s' * (len(self.topics) != 1)}", "", len(self)
        if self.subtopics is not None:
            of, n = f"{len(self.subtopics)} subtopics, ", self.subtopics.row.size
        return f"Qrels({self.name!r}: {topics}, {of}{n} judgments)"


def _same_qrels(
    topics: list[str], offsets: NDArray[Any], grades: NDArray[Any], docs: list[str], name: str, more: dict[str, Any]
) -> Qrels:
    """The judgments that were pickled."""
    out = Qrels.of_rows(topics, offsets, grades, lambda: docs, name)
    vars(out).update(more)
    return out


class Ranked(NamedTuple):
    """One run aligned with judgments, as the reader returns it.

    ``lists`` has a row per judged topic of the run: index of the topic, documents, documents that share their score
    with another, duplicates dropped, end of its hits, and whether its order changes if scores are compared as floats
    (in single precision, as in trec_eval 9). ``hits`` has a row per judged document in rank order: rank, row of the
    judgment and, where they are wanted, first rank and size of its group of equal scores.
    """

    lists: NDArray[np.int64]
    hits: NDArray[np.int32]
    extra: list[str]
    tag: str

    @classmethod
    def of(cls, raw: tuple[bytes, bytes, list[str], str], groups: bool = True) -> Ranked:
        """The arrays of what the reader returns."""
        lists, hits, extra, tag = raw
        of_hits = np.frombuffer(hits, np.int32).reshape(-1, 4 if groups else 2)
        return cls(np.frombuffer(lists, np.int64).reshape(-1, 6), of_hits, extra, tag)


class Documents:
    """A run's documents in rank order, topic by topic; made by `Run.documents`.

    Examples
    --------
    >>> import amble
    >>> runs = amble.read_runs({"mine": {"401": {"a": 1.5, "b": 2.5}}})
    >>> documents = runs[0].documents()
    >>> documents["401"]
    [('b', 2.5), ('a', 1.5)]
    """

    def __init__(self, raw: tuple[list[str], bytes, list[str], bytes, str, int]) -> None:
        topics, offsets, docs, scores, self.tag, self.dropped = raw
        self.topics: tuple[str, ...] = tuple(topics)
        self.offsets: NDArray[np.int64] = np.frombuffer(offsets, np.int64)
        self.docs: list[str] = docs
        self.scores: NDArray[np.float64] = np.frombuffer(scores, np.float64)[: len(docs)]
        self._index = {topic: i for i, topic in enumerate(self.topics)}

    def __getitem__(self, topic: str) -> list[tuple[str, float]]:
        rows = self._rows(topic)
        return list(zip(self.docs[rows], self.scores[rows].tolist(), strict=True))

    def listed(self, topic: str) -> list[str]:
        """The documents of a topic, without their scores."""
        return self.docs[self._rows(topic)]

    def _rows(self, topic: str) -> slice:
        i = self._index[topic]
        return slice(int(self.offsets[i]), int(self.offsets[i + 1]))

    def __iter__(self) -> Iterator[str]:
        return iter(self.topics)

    def __len__(self) -> int:
        return len(self.topics)


class Run:
    """One run: a file to be read when it is needed, or data in memory, or a function that makes them.

    Attributes
    ----------
    path : str or None
        The file, ``-`` for standard input, None for data in memory.
    label : str
        The file's name without endings, or the name given with the data.
    """

    def __init__(
        self,
        origin: Any,
        label: str,
        *,
        path: str | None = None,
        named: bool = False,
        max_line: int | None = None,
        columns: Mapping[str, str | int] | None = None,
    ) -> None:
        self._given = origin
        self.path = path
        self.label = label
        self.named = named
        self.max_line = byte_limit(max_line)
        self.columns = check_columns(columns)

    def __repr__(self) -> str:
        return f"Run({self.path or self.label!r})"

    def __getstate__(self) -> dict[str, Any]:
        return {**{name: value for name, value in vars(self).items() if name != "_origin"}, "_given": self._origin}

    @cached_property
    def _origin(self) -> Any:
        return self._given() if callable(self._given) else self._given

    def rank(
        self,
        qrels: Qrels,
        ties: str = "docno",
        duplicates: str = "error",
        *,
        groups: bool = True,
        score_dtype: str = "float64",
    ) -> Ranked:
        """The run, ranked and joined with judgments, as `align` needs it."""
        code, best = self._rules(ties, duplicates, groups, score_dtype)
        if self.path is None:
            return self._ranked(reader.rank(qrels.judgments, self._origin, code, best, self.label), groups)
        with self._opened(ties) as (source, again):
            if again:
                raw = reader.rank_stream(qrels.judgments, source, -1, False, code, best, self.path, self.max_line)
            else:  # a table; standard input, a pipe: cannot be read a second time
                raw = reader.rank(qrels.judgments, source, code, best, self.path, self.max_line)
        if raw is None:  # a topic's lines do not stand together
            with self._opened(ties) as (source, _):
                raw = reader.rank(qrels.judgments, source, code, best, self.path, self.max_line)  # C only
        return self._ranked(raw, groups)

    def lacks_topics(self, qrels: Qrels) -> bool:
        """Whether a dictionary has fewer topics than the judgments, so that some are missing."""
        return isinstance(self._origin, dict) and len(self._origin) < len(qrels.topics)

    def looks_like_judgments(self) -> bool:
        """Whether data in memory looks like judgments: whole numbers, ten different ones at most, with ties."""
        if self.path is not None:
            return False
        of = self._origin
        pairs = Counter(
            ((topic, x) for topic, docs in of.items() for x in docs.values())
            if isinstance(of, dict)
            else zip(of[0], of[2], strict=False)
        )
        scores = {float(x) for _, x in pairs}
        return len(scores) <= _GRADES and max(pairs.values(), default=0) > 1 and all(x.is_integer() for x in scores)

    def parts(self, wanted: int) -> list[tuple[int, int]]:
        """Pieces ``(start, length)`` of whole topics of a big plain file, for several threads."""
        if wanted < 2 or self.path is None or not is_compiled("reader"):
            return []
        size = plain_size(self.path)
        if size < _BIG_FILE or is_table_file(self.path, self.columns):
            return []
        cuts = [*topic_changes(self.path, wanted, self.max_line), size]
        return [(a, b - a) for a, b in itertools.pairwise(cuts)]

    def rank_parts(
        self,
        qrels: Qrels,
        parts: list[tuple[int, int]],
        ties: str,
        duplicates: str,
        each: Callable[..., list[Any]],
        *,
        groups: bool = True,
        score_dtype: str = "float64",
    ) -> Ranked:
        """The run, ranked in pieces of its file, each on a thread of its own.

        A piece that cannot be read alone (a wrong line, a topic that comes back in another piece) sends the whole
        file through `rank`, which has the right line numbers and the right answer.
        """
        code, best = self._rules(ties, duplicates, groups, score_dtype)
        path = self.path
        if path is None:
            raise ValueError("only a file has parts")

        def one(part: tuple[int, int]) -> Ranked | None:
            start, length = part
            with open(path, "rb", buffering=0) as file:
                file.seek(start)
                at = file.fileno()
                try:
                    how = length, start > 0, code, best, path, self.max_line
                    raw = reader.rank_stream(qrels.judgments, at, *how)  # C only
                except ReadError:
                    return None
            return None if raw is None else Ranked.of(raw, groups)

        ranked = each(one, parts)
        pieces = [piece for piece in ranked if piece is not None]
        topics = np.concatenate([piece.lists[:, 0] for piece in pieces]) if pieces else np.zeros(0, np.int64)
        extra = [topic for piece in pieces for topic in piece.extra]
        whole = len(pieces) == len(parts) and len(set(extra)) == len(extra) and np.unique(topics).size == topics.size
        if not whole:
            return self.rank(qrels, ties, duplicates, groups=groups, score_dtype=score_dtype)
        shift = np.cumsum([0] + [len(piece.hits) for piece in pieces])
        lists = [piece.lists + np.array([0, 0, 0, 0, by, 0]) for piece, by in zip(pieces, shift, strict=False)]
        tag = next((piece.tag for piece in pieces if piece.tag), "")
        hits = np.concatenate([piece.hits for piece in pieces])
        return Ranked(np.concatenate(lists), hits, extra, tag)

    def documents(self, ties: str = "docno", duplicates: str = "error", score_dtype: str = "float64") -> Documents:
        """Every document of the run, in rank order, for pools and fusion."""
        code, best = self._rules(ties, duplicates, score_dtype=score_dtype)
        if self.path is None:
            documents = Documents(reader.rank(None, self._origin, code, best, self.label))
        else:
            with self._opened(ties) as (source, _):
                documents = Documents(reader.rank(None, source, code, best, self.path, self.max_line))
        self._refuse_empty(len(documents))
        return documents

    @contextlib.contextmanager
    def _opened(self, ties: str) -> Iterator[tuple[Any, bool]]:
        with open_input(str(self.path), "score", self.columns, self.max_line) as (origin, again):
            if ties == "rank" and isinstance(origin, dict | tuple):
                raise ReadError(f"{self.path}: ties='rank' is for TREC files; expected one, or ties='file'")
            yield origin, again

    def _rules(self, ties: str, duplicates: str, groups: bool = True, score_dtype: str = "float64") -> tuple[int, int]:
        if self.path is None and ties == "rank":
            raise ReadError(f"{self.label}: data in memory has no rank column to break ties by; expected a file")
        flags = _NO_GROUPS * (not groups) + _SINGLE * (score_dtype == "float32")
        return _TIES[ties] + flags, int(duplicates == "best")

    def _ranked(self, raw: tuple[bytes, bytes, list[str], str], groups: bool) -> Ranked:
        ranked = Ranked.of(raw, groups)
        self._refuse_empty(len(ranked.lists) + len(ranked.extra))
        return ranked

    def _refuse_empty(self, topics: int) -> None:
        if not topics:
            found = "empty, expected lines" if self.path else "no topics, expected entries"
            raise ReadError(f"{self.path or self.label}: {found} of a run: topic Q0 doc rank score tag")


class Runs(Sequence[Run]):
    """Runs in the order given. Made by `read_runs`; files are read when they are aligned.

    Examples
    --------
    >>> import amble
    >>> runs = amble.read_runs({"a": {"401": {"d1": 2.0}}, "b": {"401": {"d1": 1.0}}})
    >>> [run.label for run in runs]
    ['a', 'b']
    """

    def __init__(self, runs: Sequence[Run], *, all_of_them: bool = True) -> None:
        self._runs, self._all = tuple(runs), all_of_them

    def __getitem__(self, i: Any) -> Any:
        return Runs(self._runs[i], all_of_them=False) if isinstance(i, slice) else self._runs[i]

    def __len__(self) -> int:
        return len(self._runs)

    def refuse_unmet_columns(self) -> None:
        """An error if a column that was named for these files, which were read, is in none of them."""
        for run in self if self._all else ():
            run.columns.refuse_unmet()

    def __repr__(self) -> str:
        return f"Runs({', '.join(repr(run.path or run.label) for run in self._runs)})"


def read_qrels(
    source: Any,
    *,
    name: str = "",
    max_line: int | None = None,
    columns: Mapping[str, str | int] | None = None,
    subtopics: bool | None = None,
    intents: Probabilities | None = None,
) -> Qrels:
    """The judgments of a file or of data in memory.

    Parameters
    ----------
    source : path, mapping, frame or iterable
        A file of TREC qrels, CSV, TSV, JSON, JSON Lines or Parquet (plain, gzip, xz, bzip2 or zstd; ``-`` for standard
        input); ``{topic: {doc: grade}}``, or ``{topic: {doc, …}}`` of relevant documents; a pandas, polars or pyarrow
        table with columns such as ``topic``, ``doc``, ``grade`` (or ``query_id``, ``doc_id``, ``relevance``; ``qid``,
        ``docno``, ``label``); an iterable of ``(topic, doc, grade)``; an ir_datasets dataset.
    name : str, optional
        What to call data in memory in messages.
    max_line : int, optional
        The longest line of a file, in bytes; 1,000,000 if not given. A longer one is an error, and not read to its end.
    columns : mapping, optional
        Names of columns, tried before the usual ones, or their numbers from 1 where there is no header:
        ``{"topic": "q", "doc": "d", "grade": "g"}``; also ``"subtopic"``.
    subtopics : bool, optional
        Whether the judgments are of subtopics: TREC's diversity qrels, ``topic subtopic doc grade``, a table with a
        column ``subtopic``, ``{topic: {subtopic: {doc: grade}}}``, rows ``(topic, subtopic, doc, grade)``. Without it,
        as the data say; a TREC file, whose second column does not say what it is, is read without subtopics.
    intents : mapping or path, optional
        How likely each subtopic is: ``{topic: {subtopic: probability}}``, or a file of ``topic subtopic probability``
        lines. Without it, all of a topic are as likely.

    Returns
    -------
    Qrels

    Raises
    ------
    ReadError
        ``file:line: what was found, what was expected``.

    Examples
    --------
    >>> import amble
    >>> amble.read_qrels([("401", "a", 1), ("401", "b", 0)])
    Qrels('qrels': 1 topic, 2 judgments)
    >>> amble.read_qrels({"1": {"jaguar, the cat": {"a": 1}, "the car": {"a": 0, "b": 2}}})
    Qrels('qrels': 1 topic, 2 subtopics, 3 judgments)
    """
    if isinstance(source, Qrels):
        return source if not subtopics and intents is None else _of_subtopics(source, intents)
    path = os.fspath(source) if isinstance(source, str | os.PathLike) else None
    named = columns_for("grade", columns)
    if path is not None:
        limit = byte_limit(max_line)
        with open_input(path, "grade", named, limit, subtopics) as (opened, _):
            is_table = isinstance(opened, dict | tuple)
            of_subtopics = isinstance(opened, tuple) and len(opened) == 4 if is_table else bool(subtopics)
            judgments = reader.judge(opened, path, limit, of_subtopics)
        name = name or path
    else:
        name, is_table = name or "qrels", True
        table = as_table(source, "grade", name, named, subtopics)
        judgments = reader.judge(table, name, byte_limit(None), isinstance(table, tuple) and len(table) == 4)
    qrels = Qrels(judgments, name, path)
    qrels.reading = max_line, columns
    if not isinstance(columns, NamedColumns):  # else runs, or other judgments, may have those that are not here
        named.refuse_unmet()
    if not len(qrels):
        raise ReadError(f"{name}: empty, expected judgments: topic {'subtopic' if subtopics else 'iter'} doc grade")
    if subtopics and not is_table and qrels.subtopics is not None and len(set(qrels.subtopics.names)) == 1:
        raise ReadError(f"{name}: {no_subtopics(qrels.subtopics.names[0])}")
    return qrels if intents is None else _of_subtopics(qrels, intents)


def _of_subtopics(qrels: Qrels, intents: Probabilities | None) -> Qrels:
    """The judgments, which must be of subtopics, with the probabilities of these."""
    if qrels.subtopics is None:
        raise ReadError(
            f"{qrels.name}: judgments without subtopics, expected them read with subtopics=True (--subtopics)"
        )
    if intents is None:
        return qrels
    out = copy.copy(qrels)
    out.subtopics = qrels.subtopics.with_probabilities(intents, qrels.topics)
    return out


def _runs_of(source: Any, **how: Any) -> Iterator[Run]:
    if isinstance(source, Run):
        yield source
    elif isinstance(source, Runs):
        yield from source
    elif isinstance(source, str | os.PathLike):
        path = os.fspath(source)
        yield Run(None, stem(path) if path != "-" else "stdin", path=path, **how)
    elif isinstance(source, Mapping) and not is_one_run(source):
        for name, data in source.items():
            if not isinstance(name, str):
                raise ReadError(f"run name {name!r} is of type {type(name).__name__}, expected a string")
            if isinstance(data, str | os.PathLike):
                yield Run(None, name, path=os.fspath(data), named=True, **how)
            else:
                yield Run(as_table(data, "score", name, how["columns"]), name, named=True)
    else:
        yield Run(as_table(source, "score", "run", how["columns"]), "run", named=True)


def one_dictionary(source: Any) -> Run | None:
    """The run of a dictionary, ``{topic: {doc: score}}`` or ``{name: {topic: {doc: score}}}``; None of all else."""
    name, is_run = "run", type(source) is dict and is_one_run(source)
    if not is_run and type(source) is dict and len(source) == 1:
        [(name, source)] = source.items()
        is_run = type(source) is dict and isinstance(name, str) and is_one_run(source)
    if not is_run:
        return None
    return Run(as_table(source, "score", name), name, named=True)


def read_runs(*sources: Any, max_line: int | None = None, columns: Mapping[str, str | int] | None = None) -> Runs:
    """The runs of files or of data in memory; files are read when they are aligned with judgments.

    Parameters
    ----------
    *sources : path, mapping, frame or iterable
        Files of TREC runs, CSV, TSV, JSON, JSON Lines or Parquet (plain, gzip, xz, bzip2 or zstd; ``-`` for standard
        input); ``{name: run}`` where a run is a path, ``{topic: {doc: score}}``, ``{topic: [doc, …]}`` (best first) or
        a frame; or one run in memory.
    max_line : int, optional
        The longest line of a file, in bytes; 1,000,000 if not given. A longer one is an error, and not read to its end.
    columns : mapping, optional
        Names of columns, tried before the usual ones, or their numbers from 1 where there is no header:
        ``{"topic": "q", "doc": "d", "score": "s"}``.

    Returns
    -------
    Runs

    Examples
    --------
    >>> import amble
    >>> len(amble.read_runs("a.run", "b.run.gz", {"mine": {"401": {"d1": 2.0}}}))
    3
    """
    named = columns if isinstance(columns, NamedColumns) else columns_for("score", columns)
    runs = [run for source in sources for run in _runs_of(source, max_line=max_line, columns=named)]
    if not runs:
        raise ReadError("no runs given, expected at least one")
    return Runs(runs)


# ---- writing


def column_fault(name: str, *, first: bool = False) -> str:
    r"""Why a name cannot be a column of a file that amble reads; empty if it can.

    ``first``: whether it is to be the first column, as a topic.

    >>> column_fault("a b"), column_fault("a\x07"), column_fault("#1"), column_fault("#1", first=True)
    ('has a blank in it', 'has control byte 0x07 in it', '', 'begins with #, which makes a comment of its line')
    """
    if not name:
        return "is empty"
    if found := re.search(_NO_COLUMN, name):
        return "has a blank in it" if found[0] in _BLANK else f"has control byte 0x{ord(found[0]):02x} in it"
    if first and name[0] in "#\ufeff":
        what = "#, which makes a comment of its line" if name[0] == "#" else "a byte order mark, which is no text"
        return f"begins with {what}"
    try:
        data = name.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return "holds half a surrogate pair"
    if first and (compression_of(data) or layout_of(data + b" 0 d 0", "")):
        return "begins as a file of another format does"
    return ""


def _one_word(ids: Iterable[str], what: str, *, first: bool = False) -> None:
    """Refuse ids that would not be one column of a file."""
    for name in ids:
        if wrong := column_fault(name, first=first):
            raise AmbleError(f"{what} {name!r:.100} {wrong}, expected one word: a column of a file")


def run_line(topic: str, doc: str, rank: int, score: float, tag: str) -> str:
    """A line of a run; the score is written so that it is read as the same number."""
    return f"{topic} Q0 {doc} {rank} {score!r} {tag}"


def run_text(documents: Documents, tag: str) -> str:
    r"""A run as lines ``topic Q0 doc rank score tag``, without the last line's end.

    Examples
    --------
    >>> import amble
    >>> from amble.io.trec import run_text
    >>> run = amble.read_runs({"mine": {"401": {"a": 0.1, "b": 2.5}}})[0]
    >>> run_text(run.documents(), "mine").split("\n")
    ['401 Q0 b 1 2.5 mine', '401 Q0 a 2 0.1 mine']
    """
    _one_word([tag], "tag")
    _one_word(documents.topics, "topic", first=True)
    _one_word(documents.docs, "document")
    lines = []
    bounds, scores = documents.offsets.tolist(), documents.scores.tolist()
    for t, topic in enumerate(documents.topics):
        rows = range(bounds[t], bounds[t + 1])
        lines += [run_line(topic, documents.docs[i], i - bounds[t] + 1, scores[i], tag) for i in rows]
    return "\n".join(lines)


def grade_text(grade: float) -> str:
    """A grade, written so that it is read as the same number.

    >>> grade_text(2.0), grade_text(0.1 + 0.2)
    ('2', '0.30000000000000004')
    """
    return str(int(grade)) if float(grade).is_integer() else repr(float(grade))


def qrels_text(topics: Sequence[str], docs: Sequence[str], grades: Sequence[float]) -> str:
    """Judgments as lines ``topic 0 doc grade``, without the last line's end; a topic, document and grade each.

    Examples
    --------
    >>> from amble.io.trec import qrels_text
    >>> print(qrels_text(["401", "401"], ["a", "b"], [1.0, -1.0]))
    401 0 a 1
    401 0 b -1
    """
    _one_word(dict.fromkeys(topics), "topic", first=True)
    _one_word(docs, "document")
    judged = zip(topics, docs, grades, strict=True)
    return "\n".join(f"{topic} 0 {doc} {grade_text(grade)}" for topic, doc, grade in judged)
