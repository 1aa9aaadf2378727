"""Alignment of runs with judgments: ties, missing topics, duplicates, unjudged documents and depth.

The result, `Rankings`, holds for each list (a run's answer to a topic) only its judged documents, each as a rank and
the *row of its judgment*. Grades are a table indexed by row, so judging again is a table swap, not a reread. What is
decided on the way is counted in the `Audit`.
"""

from __future__ import annotations

import copy
import os
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, TypedDict, get_args

import numpy as np

from amble import checks
from amble.arrays import NDArray
from amble.errors import AlignError, AmbleError, ReadError, UnjudgedWarning
from amble.io.columns import NamedColumns, check_columns
from amble.io.subtopics import Probabilities
from amble.io.trec import Qrels, Ranked, Run, Runs, read_qrels, read_runs
from amble.parallel import MOST_THREADS, FilePath, map_in_order, spread, usual_threads
from amble.progress import Progress
from amble.rankings.audit import Audit
from amble.rankings.costs import Costs, PriceList, Prices

__all__ = [
    "LEAST", "AlignOptions", "Rankings", "SentQrels", "SentRankings", "aggregate", "align", "byte_order",
    "check_options", "gather", "plain_mean", "plain_median", "run_names", "threads_for",
]  # fmt: skip

LEAST = 1e-5  # in place of a score of 0 in a geometric mean, as in trec_eval

Ties = Literal["docno", "rank", "file", "expected"]
Missing = Literal["zero", "skip"]
Unjudged = Literal["zero", "condense"]
Duplicates = Literal["error", "best"]
ScoreDtype = Literal["float64", "float32"]

_CHOICES: dict[str, tuple[Any, ...]] = {
    "ties": get_args(Ties),
    "missing": get_args(Missing),
    "unjudged": get_args(Unjudged),
    "duplicates": get_args(Duplicates),
    "score_dtype": get_args(ScoreDtype),
}


class AlignOptions(TypedDict, total=False):
    """The options of `align`, for functions that align first; their defaults are there."""

    depth: int | None
    missing: Missing
    ties: Ties
    unjudged: Unjudged
    score_dtype: ScoreDtype
    duplicates: Duplicates
    threads: int | None
    max_line: int | None
    costs: Prices | None
    columns: Mapping[str, str | int] | None
    subtopics: bool | None
    intents: Probabilities | None
    executor: Any


class _Hits:
    """The hits of all runs, column by column, filled run by run."""

    def __init__(self, most: int, ties: bool) -> None:
        self._all = [np.empty(most, np.int32) for _ in range(4 if ties else 2)]
        self._n = 0

    def add(self, hits: NDArray[np.int32]) -> None:
        """Copy the hits of a run."""
        end = self._n + len(hits)
        for i, column in enumerate(self._all):
            column[self._n : end] = hits[:, i]
        self._n = end

    @property
    def columns(self) -> list[NDArray[np.int32]]:
        """Rank, row and, where they are kept, first rank and size of the tied group."""
        return [column[: self._n] for column in self._all]


class Rankings:
    """Lists of ranked judgments in compressed rows; made by `align`, never changed.

    List ``i`` is the answer of run ``run[i]`` to topic ``topic[i]``; its ``length[i]`` documents are ranked from 1;
    its judged ones are the *hits* ``offsets[i]:offsets[i + 1]``. Lists are ordered by run, then by topic.

    Attributes
    ----------
    qrels : Qrels
    runs, topics : tuple of str
    run, topic, length : ndarray of int32
        Of each list.
    offsets : ndarray of int64
    rank, row : ndarray of int32
        Of each hit: its rank, and the row of its judgment in the qrels.
    tie_first, tie_size : ndarray of int32 or None
        Of each hit, with ``ties="expected"``: first rank and size of the group of documents with the same score.
    ties, missing, unjudged, duplicates, score_dtype : str
    depth : int or None
    options : dict
        These six options of `align`, and the file of the costs, if there is one.
    costs : PriceList or None
        What documents cost to look at, by document or by grade; without it, 1 each.
    audit : Audit
    sources : Runs
        Where the lists came from.
    """

    def __init__(
        self,
        qrels: Qrels,
        runs: tuple[str, ...],
        labels: tuple[str, ...],
        lists: NDArray[np.int64],
        hits: _Hits,
        options: dict[str, Any],
        audit: Audit,
        sources: Runs,
    ) -> None:
        self.sources = sources
        self.qrels = qrels
        self.runs = runs
        self.labels = labels
        self.topics = qrels.topics
        of_lists: NDArray[np.int32] = np.ascontiguousarray(lists[:, :3].T, np.int32)
        self.run: NDArray[np.int32] = of_lists[0]
        self.topic: NDArray[np.int32] = of_lists[1]
        self.length: NDArray[np.int32] = of_lists[2]
        self.offsets: NDArray[np.int64] = np.concatenate(([0], np.cumsum(lists[:, 3])))
        self.rank: NDArray[np.int32] = hits.columns[0]
        self.row: NDArray[np.int32] = hits.columns[1]
        self.tie_first: NDArray[np.int32] | None = hits.columns[2] if len(hits.columns) > 2 else None
        self.tie_size: NDArray[np.int32] | None = hits.columns[3] if len(hits.columns) > 2 else None
        self.options = options
        self.depth: int | None = options["depth"]
        self.ties: str = options["ties"]
        self.missing: str = options["missing"]
        self.unjudged: str = options["unjudged"]
        self.duplicates: str = options["duplicates"]
        self.score_dtype: str = options["score_dtype"]
        self.audit = audit
        self.costs: PriceList | None = None
        for array in (
            self.run,
            self.topic,
            self.length,
            self.offsets,
            self.rank,
            self.row,
            self.tie_first,
            self.tie_size,
        ):
            if array is not None:
                array.flags.writeable = False

    def __len__(self) -> int:
        return len(self.run)

    def __repr__(self) -> str:
        return f"Rankings({self.audit})"

    @property
    def positions(self) -> NDArray[np.int32]:
        """The rank of each hit for measures: its own, or (``unjudged="condense"``) that among the judged."""
        if self.unjudged == "zero":
            return self.rank
        within = np.arange(len(self.rank)) - np.repeat(self.offsets[:-1], np.diff(self.offsets))
        return np.asarray(within + 1, np.int32)

    @property
    def lengths(self) -> NDArray[np.int32]:
        """The length of each list for measures."""
        return self.length if self.unjudged == "zero" else np.asarray(np.diff(self.offsets), np.int32)

    def with_costs(self, costs: Prices) -> Rankings:
        """The same lists, of documents that cost what is said (see `align`) to look at."""
        out = copy.copy(self)
        out.costs = prices = PriceList(costs)
        vars(out).pop("document_costs", None)
        if prices.by_grade and not np.isin(self.qrels.grades, list(prices)).any():
            grades = ", ".join(f"{grade:g}" for grade in list(prices)[:3])
            raise AlignError(
                f"costs: no document has grade {grades}; ids of documents are text here, as in {{'10': 1}}"
            )
        if self.unjudged == "condense" and not prices.by_grade:
            raise AlignError("costs by document with unjudged='condense': ranks have moved; use unjudged='zero'")
        out.options = self.options | ({"costs": prices.path} if prices.path else {})
        return out

    @cached_property
    def document_costs(self) -> Costs:
        """The cost of each document of each list, where costs are by document: the runs are read again."""
        return Costs.by_document(self, self.costs or {})

    def documents(self, why: str) -> Iterator[tuple[int, list[str]]]:
        """Yield each list that is not empty, and the ids of its documents by rank: the runs are read again.

        ``why`` says in an error what they are for. Tied documents of ``ties="expected"`` are in the order of "docno".
        """
        rule = "docno" if self.ties == "expected" else self.ties
        once = [run.path for run in self.sources if run.path is not None and not os.path.isfile(run.path)]
        if once:
            raise ReadError(f"{once[0]}: {why} need a file that can be read again, not a pipe")
        for r, run in enumerate(self.sources):
            found = run.documents(rule, self.duplicates, self.score_dtype)
            for i in np.flatnonzero((self.run == r) & (self.length > 0)).tolist():
                yield i, found.listed(self.topics[int(self.topic[i])])[: int(self.length[i])]

    @property
    def mark(self) -> int:
        """A number by which the same lists, aligned elsewhere, are known."""
        return _mark(self.topic, self.length, self.offsets, self.rank, self.row)

    def index(self, run: str) -> int:
        """Index of a run, by its name or, where unambiguous, by its file's name."""
        for names in (self.runs, self.labels):
            if names.count(run) == 1:
                return names.index(run)
        raise KeyError(run)

    def list_of(self, run: str, topic: str | int) -> int:
        """Index of the list of a run and a topic."""
        topic = checks.id_text(topic)
        if topic not in self.topics:
            raise KeyError(topic)
        here = (self.run == self.index(run)) & (self.topic == self.topics.index(topic))
        found = np.flatnonzero(here)
        if not found.size:
            raise KeyError((run, topic))
        return int(found[0])

    def grades(self, run: str, topic: str | int) -> NDArray[np.float64]:
        """One list as grades by rank, NaN where unjudged.

        Examples
        --------
        >>> import amble
        >>> qrels = {"401": {"a": 1, "b": 0}}
        >>> rankings = amble.align(qrels, {"mine": {"401": {"a": 3.0, "x": 2.0, "b": 1.0}}})
        >>> rankings.grades("mine", "401")
        array([ 1., nan,  0.])
        """
        i = self.list_of(run, topic)
        hits = slice(int(self.offsets[i]), int(self.offsets[i + 1]))
        out = np.full(int(self.lengths[i]), np.nan)
        out[self.positions[hits] - 1] = self.qrels.grades[self.row[hits]]
        return out


def byte_order(topics: Sequence[str]) -> NDArray[np.int64]:
    """Indices that sort topics by the bytes of their ids.

    >>> byte_order(["10", "9", "é", "z"]).tolist()
    [0, 1, 3, 2]
    """
    keys = [topic.encode("utf-8", "surrogateescape") for topic in topics]
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), np.int64)


def plain_mean(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean over the last axis, NaN left out: a plain sum from left to right, divided by the count.

    With topics in `byte_order` this is trec_eval's mean, digit for digit; numpy's adds up in another order.

    >>> float(plain_mean(np.array([0.1, 0.7, np.nan, 0.1])))
    0.3
    """
    known = ~np.isnan(values)
    if not values.shape[-1]:
        return np.full(values.shape[:-1], np.nan)
    total, n = np.add.accumulate(np.where(known, values, 0.0), axis=-1)[..., -1], known.sum(axis=-1)
    return np.asarray(np.divide(total, n, out=np.full(n.shape, np.nan), where=n > 0))


def plain_median(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The median over the last axis, NaN left out: the middle one, or the mean of the two in the middle.

    >>> float(plain_median(np.array([0.1, 0.7, np.nan, 0.2]))), float(plain_median(np.array([4.0, 1.0, 2.0, 9.0])))
    (0.2, 3.0)
    """
    n = np.count_nonzero(~np.isnan(values), axis=-1)[..., None]
    if not values.shape[-1]:
        return np.full(values.shape[:-1], np.nan)
    ordered = np.sort(values, axis=-1)  # NaN last, so that without any number there is NaN in the middle
    below, above = (np.take_along_axis(ordered, at, axis=-1) for at in (np.maximum(n - 1, 0) // 2, n // 2 - (n == 0)))
    return np.asarray((below + (above - below) / 2)[..., 0])


def aggregate(how: str, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean, sum or geometric mean over topics (the last axis, in the byte order of their ids), without NaN."""
    if how == "sum":
        return np.asarray(np.nansum(values, axis=-1))
    if how == "geometric":
        return np.exp(plain_mean(np.log(np.maximum(values, LEAST))))
    return plain_mean(values)


def run_names(runs: Runs, tags: list[str]) -> tuple[str, ...]:
    """The names of runs: the one given, else the tag where unique, else the file's name, else the path."""
    if len(runs) == 1:
        return (runs[0].label if runs[0].named or not tags[0] else tags[0],)
    count = Counter(run.label if run.named else tag for run, tag in zip(runs, tags, strict=True))
    names = [run.label if run.named or not tag or count[tag] > 1 else tag for run, tag in zip(runs, tags, strict=True)]
    count = Counter(names)
    names = [run.path or name if count[name] > 1 else name for run, name in zip(runs, names, strict=True)]
    files = [os.path.realpath(name) if name == run.path else name for run, name in zip(runs, names, strict=True)]
    count = Counter(files)
    if twice := list({file: name for file, name in zip(files, names, strict=True) if count[file] > 1}.values()):
        found = f"{len(twice)} run(s) given twice: {', '.join(twice[:5])}"
        raise AlignError(f"{found}; expected each once, or in Python under a name of its own, as {{name: run}}")
    return tuple(names)


def check_rankings(rankings: object) -> None:
    """An error if that is no rankings."""
    if not isinstance(rankings, Rankings):
        raise AlignError(f"found {type(rankings).__name__}, expected rankings, as align makes them")


def check_options(options: Mapping[str, Any]) -> None:
    """An error if an option of `align` has a value that it cannot have."""
    for option, allowed in _CHOICES.items():
        checks.one_of(options[option], allowed, option, AlignError)
    if options["ties"] == "expected" and options["unjudged"] == "condense":
        raise AlignError("ties='expected' with unjudged='condense': no closed form; use ties='docno'")
    if options["depth"] is not None:
        checks.whole(options["depth"], "depth", kind=AlignError)


def _refuse_swapped(qrels: Qrels, runs: Runs) -> None:
    """Raise an error if a run and judgments in memory seem swapped; of files, the columns are checked elsewhere."""
    if qrels.path is not None or qrels.are_whole:
        return
    if 2 * np.count_nonzero(qrels.grades != np.floor(qrels.grades)) > len(qrels):
        for run in runs:
            if run.looks_like_judgments():
                raise AlignError(
                    f"{qrels.name}: most grades are not whole numbers, and the scores of {run.label} are few whole "
                    "numbers, with ties; expected the judgments first, then the runs"
                )


def _unjudged(run: Run, qrels: Qrels) -> str:
    """Why a run without a judged document in its lists seems to be of another collection; empty if it does not."""
    if run.path is not None and not os.path.isfile(run.path):  # a pipe, read already
        return ""
    docs = run.documents(duplicates="best").docs
    if not set(qrels.docs).isdisjoint(docs):
        return ""
    found, wanted = (", ".join(list(dict.fromkeys(names))[:3]) for names in (docs, qrels.docs))
    return f"none of its documents is judged for any topic: found {found}, expected such as {wanted} of {qrels.name}"


def _rank_all(runs: Runs, qrels: Qrels, threads: int, how: dict[str, Any]) -> list[Ranked]:
    """Read and rank every run; several files, or the parts of a big one, on several threads."""
    if threads < 2:
        return [run.rank(qrels, **how) for run in runs]

    def each(function: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
        return list(map_in_order(function, items, threads))

    if len(runs) >= threads:
        return each(lambda run: run.rank(qrels, **how), runs)
    out = []
    for run in runs:
        parts = run.parts(threads)
        if len(parts) > 1:
            out.append(run.rank_parts(qrels, parts, each=each, **how))
        else:
            out.append(run.rank(qrels, **how))
    return out


def _rank_away(runs: Runs, qrels: Qrels, executor: Any, how: dict[str, Any]) -> list[Ranked]:
    """Read and rank every run, files by workers; a pipe, which only this process can read, here."""
    found = {i: run.rank(qrels, **how) for i, run in enumerate(runs) if not _travels(run.path)}
    away = [i for i in range(len(runs)) if i not in found]
    with Progress("reading runs") as line:
        ranked = spread(_rank_sent, (SentQrels(qrels), how), [_Sent(runs[i]) for i in away], executor, progress=line)
        for i, (one, met) in zip(away, ranked, strict=True):
            found[i] = one
            runs[i].columns.met.update(met)
    return [found[i] for i in range(len(runs))]


def _travels(path: str | None) -> bool:
    """Whether data are in memory, or in a file that others can read."""
    return path is None or os.path.isfile(path)


class _Sent:
    """A run on its way to workers: the path of its file, from the root on, or its data."""

    def __init__(self, run: Run) -> None:
        self.run, self.given = copy.copy(run), run.path
        self.run.path = None if run.path is None else FilePath(run.path)
        self.run.columns = NamedColumns(run.columns)  # those that this run meets

    def rank(self, qrels: Qrels, how: dict[str, Any]) -> Ranked:
        """The run, ranked; errors name its file as it was given."""
        try:
            return self.run.rank(qrels, **how)
        except AmbleError as error:
            raise type(error)(str(error).replace(str(self.run.path), str(self.given))) from None


def _rank_sent(shared: tuple[SentQrels, dict[str, Any]], run: _Sent) -> tuple[Ranked, set[str]]:
    """The run, ranked, and the columns that were named and found in its file."""
    qrels, how = shared
    return run.rank(qrels.qrels, how), run.run.columns.met


def _mark(*arrays: Any) -> int:
    """A number by which the same arrays, read elsewhere, are known."""
    import zlib

    mark = 0
    for array in arrays:
        mark = zlib.crc32(np.ascontiguousarray(array).tobytes(), mark)
    return mark


class SentQrels:
    """Judgments on their way to workers, who read them once: the path of their file or, without one, themselves."""

    def __init__(self, qrels: Qrels) -> None:
        vars(self)["qrels"] = qrels

    def __getstate__(self) -> dict[str, Any]:
        qrels = self.qrels
        if qrels.path is None or not os.path.isfile(qrels.path) or qrels.subtopics is not None:
            return {"qrels": qrels}
        path, mark = FilePath(qrels.path), _mark(qrels.offsets, qrels.grades)
        return {"_sent": (path, qrels.name, qrels.path, *qrels.reading, mark)}

    @cached_property
    def qrels(self) -> Qrels:
        """The judgments, read again; an error if they are others."""
        self._sent: tuple[Any, ...]
        path, name, given, max_line, columns, mark = self._sent
        out = read_qrels(str(path), name=name, max_line=max_line, columns=columns)
        if _mark(out.offsets, out.grades) != mark:
            raise AlignError(f"{given}: a worker finds other judgments there; expected the same file everywhere")
        out.path = given
        return out


class SentRankings:
    """Rankings on their way to workers, who align them once: the paths of their files or, without, the lists."""

    def __init__(self, rankings: Rankings) -> None:
        vars(self)["rankings"] = rankings

    def __getstate__(self) -> dict[str, Any]:
        rankings = self.rankings
        sent: dict[str, Any] = {"qrels": SentQrels(rankings.qrels), "costs": rankings.costs}
        paths = [source.path for source in (rankings.qrels, *rankings.sources)]
        if all(path is not None and os.path.isfile(path) for path in paths):
            runs = [_Sent(run) for run in rankings.sources]
            return {"_sent": sent | {"runs": runs, "options": rankings.options, "mark": rankings.mark}}
        own = {name: value for name, value in vars(rankings).items() if name not in ("qrels", "sources", "audit")}
        if rankings.costs is not None and not rankings.costs.by_grade:
            own["document_costs"] = rankings.document_costs
        return {"_sent": sent | {"lists": own}}

    @cached_property
    def rankings(self) -> Rankings:
        """The rankings, aligned again; an error if they are others."""
        self._sent: dict[str, Any]
        sent = self._sent
        qrels = sent["qrels"].qrels
        if "lists" in sent:
            out = Rankings.__new__(Rankings)
            vars(out).update(sent["lists"], qrels=qrels)
            return out
        runs, options = sent["runs"], sent["options"]
        ranked = [run.rank(qrels, _how(options)) for run in runs]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnjudgedWarning)  # said where the job was started
            out = gather(qrels, Runs([run.run for run in runs]), ranked, options)
        if out.mark != sent["mark"]:
            raise AlignError(f"{runs[0].given}…: a worker finds other runs there; expected the same files everywhere")
        return out if sent["costs"] is None else out.with_costs(sent["costs"])


def _how(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of `align` as `Run.rank` takes them."""
    ties, expected = options["ties"], options["ties"] == "expected"
    how = {"ties": "docno" if expected else ties, "groups": expected}
    return how | {name: options[name] for name in ("duplicates", "score_dtype")}


def _reordered(ranked: Ranked, depth: int | None, ties: str) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Put a run's lists in the order of the judgments' topics and cut them at the depth."""
    lists, hits = ranked.lists, ranked.hits
    ends = lists[:, 4]
    starts = np.concatenate(([0], ends[:-1])).astype(np.int64)
    sizes = ends - starts
    if len(lists) and np.any(np.diff(lists[:, 0]) < 0):
        by_topic = np.argsort(lists[:, 0], kind="stable")
        lists, starts, sizes = lists[by_topic], starts[by_topic], sizes[by_topic]
        ends = np.cumsum(sizes)
        hits = hits[np.arange(int(ends[-1])) + np.repeat(starts - (ends - sizes), sizes)]
    out = lists.copy()
    out[:, 4] = sizes
    if depth is not None:
        # a group of equal scores that straddles the cut still counts in the mean over its orders
        out, hits = _only(out, hits, hits[:, 2 if ties == "expected" else 0] <= depth)
        out[:, 1] = np.minimum(out[:, 1], depth)
    return out, hits


def _only(
    lists: NDArray[np.int64], hits: NDArray[np.int32], kept: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Lists with some of their hits only; the last column of lists counts them."""
    out = lists.copy()
    out[:, 4] = np.diff(np.concatenate(([0], np.cumsum(kept)))[np.cumsum(lists[:, 4])], prepend=0)
    return out, hits[kept]


def align(
    qrels: Any,
    runs: Any,
    depth: int | None = None,
    missing: Missing = "zero",
    ties: Ties = "docno",
    unjudged: Unjudged = "zero",
    score_dtype: ScoreDtype = "float64",
    *,
    duplicates: Duplicates = "error",
    threads: int | None = None,
    max_line: int | None = None,
    costs: Prices | None = None,
    columns: Mapping[str, str | int] | None = None,
    subtopics: bool | None = None,
    intents: Probabilities | None = None,
    executor: Any = None,
) -> Rankings:
    """Align runs with judgments.

    Documents are ranked by score, descending; the rank column is ignored.

    Parameters
    ----------
    qrels : Qrels, or anything `read_qrels` takes
    runs : Runs, or anything `read_runs` takes (a list is taken as several)
    depth : int, optional
        Look no further than this rank.
    missing : {"zero", "skip"}
        A judged topic that a run lacks is an empty list, or is left out of that run's mean.
    ties : {"docno", "rank", "file", "expected"}
        Documents with equal scores: by docno, descending bytewise, as trec_eval has it; by the rank column; as they
        stand in the file; or the mean over all their orders.
    unjudged : {"zero", "condense"}
        Unjudged documents gain nothing, or are taken out of the lists; so are, then, documents with a negative grade,
        which were in the pool but not judged.
    score_dtype : {"float64", "float32"}
        Scores are compared as doubles, as trec_eval 10 does, or as floats, as trec_eval 9 and pytrec_eval do: more of
        them are equal then.
    duplicates : {"error", "best"}
        A document that comes twice in a list is an error, or only its best occurrence is kept (and counted).
    threads : int, optional
        How many threads read; as many as there are processors, where that pays.
    max_line : int, optional
        The longest line of files that are read here, in bytes (see `read_runs`).
    costs : mapping or path, optional
        What documents cost to look at: ``{doc: cost}``, a file of ``doc cost`` lines, or ``{grade: cost}`` with numbers
        as keys; all others cost 1. For users who look at it, as ``PH(effort='time',seconds='costs')``, and for `cwl`.
    columns : mapping, optional
        Names of columns, tried before the usual ones, ``{"topic": "q", "doc": "d", "score": "s", "grade": "g"}``; or
        their numbers from 1, for runs if ``score`` is one of them, for judgments if ``grade`` is.
    subtopics, intents : optional
        Whether the judgments are of subtopics, and how likely each of these is, as for `read_qrels`. Functions that
        align for measures of intents (alpha_nDCG, IA …) read TREC files so.
    executor : optional
        Who reads the runs, as `Workers` takes it; without one, threads of this process.

    Returns
    -------
    Rankings

    Examples
    --------
    >>> import amble
    >>> rankings = amble.align({"401": {"a": 1, "b": 0}}, {"mine": {"401": {"a": 3.0, "x": 2.0}}})
    >>> print(rankings.audit)
    1 run x 1 topic, scored 1, missing 0, extra 0, unjudged in top 10: 1 (50.0%), tied documents 0 (by docno)
    """
    options: dict[str, Any] = {"missing": missing, "ties": ties, "unjudged": unjudged, "duplicates": duplicates}
    options |= {"depth": depth, "score_dtype": score_dtype}
    check_options(options)
    prices = None if costs is None else PriceList(costs)  # before the time of reading is spent
    named = check_columns(columns)
    unread = not isinstance(qrels, Qrels) and not isinstance(runs, Runs)
    qrels = read_qrels(qrels, max_line=max_line, columns=named, subtopics=subtopics, intents=intents)
    given = runs
    if not isinstance(runs, Runs):
        runs = read_runs(*(runs if isinstance(runs, list | tuple) else (runs,)), max_line=max_line, columns=named)
    count = threads_for(threads, runs)
    if executor is None:
        ranked = _rank_all(runs, qrels, count, _how(options))
    else:
        ranked = _rank_away(runs, qrels, executor, _how(options))
    _refuse_swapped(qrels, runs)
    if unread:
        named.refuse_unmet()
    elif runs is given:
        runs.refuse_unmet_columns()
    out = gather(qrels, runs, ranked, options)
    if isinstance(intents, str | os.PathLike):
        out.options |= {"intents": os.fspath(intents)}
    return out if prices is None else out.with_costs(prices)


def gather(qrels: Qrels, runs: Runs, ranked: list[Ranked], options: dict[str, Any]) -> Rankings:
    """Gather runs, each ranked and joined with the judgments, with the options of `align`; ``ranked`` is emptied."""
    options = {name: options[name] for name in ("missing", "ties", "unjudged", "duplicates", "depth", "score_dtype")}
    depth, ties = options["depth"], options["ties"]
    names = run_names(runs, [r.tag for r in ranked])
    audit = Audit(names, qrels, ties, options["score_dtype"])
    labels = tuple(run.label for run in runs)
    per_run = []
    hits = _Hits(sum(len(one.hits) for one in ranked), ties == "expected")
    for i in range(len(runs)):
        one, ranked[i] = ranked[i], _NOTHING  # its memory goes as soon as it is copied
        if not len(one.lists):
            raise AlignError(
                f"{runs[i].path or labels[i]}: no topic in common with {qrels.name}: "
                f"found {', '.join(one.extra[:3])}, expected such as {', '.join(qrels.topics[:3])}"
            )
        if not len(one.hits) and (why := _unjudged(runs[i], qrels)):
            warnings.warn(f"run {names[i]}: {why}", UnjudgedWarning, stacklevel=3)
        lists, its_hits = _reordered(one, depth, ties)
        audit.add(i, one, lists, its_hits, qrels.topics)
        if options["unjudged"] == "condense":
            lists, its_hits = _only(lists, its_hits, qrels.grades[its_hits[:, 1]] >= 0)
        hits.add(its_hits)
        if options["missing"] == "zero" and len(lists) < len(qrels.topics):
            absent = np.setdiff1d(np.arange(len(qrels.topics)), lists[:, 0], assume_unique=True)
            empty = np.zeros((absent.size, lists.shape[1]), np.int64)
            empty[:, 0] = absent
            lists = np.insert(lists, np.searchsorted(lists[:, 0], absent), empty, axis=0)
        own = np.full((len(lists), 4), i, np.int64)
        own[:, 1:3], own[:, 3] = lists[:, :2], lists[:, 4]
        per_run.append(own)
    return Rankings(qrels, names, labels, np.concatenate(per_run), hits, options, audit, runs)


_NOTHING = Ranked(np.zeros((0, 6), np.int64), np.zeros((0, 4), np.int32), [], "")


def threads_for(threads: int | None, runs: Iterable[Run]) -> int:
    """The number of threads to read with: as many as given, or as pay."""
    if threads is None:
        files = [run.path for run in runs if run.path not in (None, "-")]
        size = sum(os.path.getsize(path) for path in files if path and os.path.isfile(path))
        return usual_threads() if size > 1 << 23 else 1
    return min(checks.whole(threads, "threads", kind=AlignError), MOST_THREADS)
