"""Lists of judged documents (`Lists`) and, by a measure's map of grades to gains, their gains (`Gains`).

Only the documents that gain something are kept, so a score costs what the relevant documents cost, not what the lists
cost. One list given by its grades and thousands read from files are the same here.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextvars import ContextVar
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from amble.arrays import ArrayLike, NDArray
from amble.checks import is_number, number
from amble.errors import MeasureError
from amble.io.trec import Qrels, Ranked
from amble.rankings.alignment import Rankings
from amble.rankings.costs import Costs

__all__ = ["GainMap", "Gains", "Lists", "hits_of"]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
T = TypeVar("T")

_MOST_RELEVANT = 10_000_000
_shared: ContextVar[tuple[Rankings, Lists] | None] = ContextVar("lists that are shared", default=None)
_LEAST = float(np.finfo(np.float64).tiny)  # smaller numbers have fewer digits
_BLOCK = 1 << 21  # how many padded cells a scan over lists holds at once


class GainMap:
    """A map of grades to gains: a key that identifies it, and the function (grades, largest grade) → gains.

    Where a measure says of documents how often each is the one wanted, ``share`` is a function of the qrels (None if
    there are none) and tells that of each judgment.
    """

    def __init__(
        self,
        key: tuple[Any, ...],
        function: Callable[[Array, float], Array],
        share: Callable[[Qrels | None], Array] | None = None,
    ) -> None:
        self.key, self.function, self.share = key, function, share


def scan(accumulate: Callable[..., Array], values: Array, offsets: Ints, *, reverse: bool = False) -> Array:
    """Running values of a ufunc's ``accumulate`` within each list, from either end."""
    out = np.empty(values.size)
    sizes = np.diff(offsets)
    n = sizes.size
    start = 0
    while start < n:
        # as many lists as fit into a block when padded to the longest of them
        wide, stop = int(sizes[start]), start + 1
        if start == 0 and n * (longest := int(sizes.max())) <= _BLOCK:
            wide, stop = longest, n
        while stop < n and max(wide, int(sizes[stop])) * (stop + 1 - start) <= _BLOCK:
            wide = max(wide, int(sizes[stop]))
            stop = stop + 1
        if wide:
            filled = np.arange(wide) < sizes[start:stop, None]
            padded = np.zeros(filled.shape)
            padded[filled] = values[offsets[start] : offsets[stop]]
            if reverse:
                padded = accumulate(padded[:, ::-1], axis=1)[:, ::-1]
            else:
                padded = accumulate(padded, axis=1)
            out[offsets[start] : offsets[stop]] = padded[filled]
        start = stop
    return out


class Lists:
    """Lists of judged documents, with the judgments that measures need.

    Attributes
    ----------
    n : int
        How many lists.
    length, topic, offsets : ndarray
        Of each list: documents, topic, and where its hits start.
    position, row : ndarray
        Of each hit: its rank and the row of its judgment.
    grades : ndarray
        The grade of each row; topic ``t`` has the rows ``rows[t]:rows[t + 1]``.
    max_grade : float
        The largest grade of all the judgments.
    topics : sequence of str or None
        The names of the topics, where they are known.
    qrels, judgment : Qrels or None, ndarray
        Where documents are known: the judgments, and of each row that in the qrels (-1: it is not among them).
    """

    def __init__(
        self,
        *,
        grades: Array,
        rows: Ints,
        topic: NDArray[Any],
        length: NDArray[Any],
        offsets: Ints,
        position: NDArray[Any],
        row: NDArray[Any],
        max_grade: float,
        shown: tuple[NDArray[Any], NDArray[Any]] | None = None,
        ties: tuple[NDArray[Any], NDArray[Any]] | None = None,
        depth: int | None = None,
        topics: Sequence[str] | None = None,
        qrels: Qrels | None = None,
        judgment: Ints | None = None,
        costs: Costs | None = None,
        kept: dict[tuple[Any, ...], Any] | None = None,
        among: int = 0,
    ) -> None:
        self.topics, self.qrels = topics, qrels
        self.subtopics = None if qrels is None else qrels.subtopics
        self._intents: dict[Any, ListsByIntent] = {}
        self._judgment = judgment
        self._kept = {} if kept is None else kept  # what other lists of these judgments may share
        self.grades, self.rows = grades, rows
        self.topic, self.length, self.offsets = topic, length, offsets
        self.position, self.row = position, row
        self.max_grade = max_grade
        # ranks and lengths as shown, with the unjudged in their places, whatever the measures are to see
        self.shown_position, self.shown_length = shown or (position, length)
        self.ties, self.depth = ties, depth
        self._whole: Lists | None = None  # of lists cut at a rank; their hits are still all of them, their gains not
        self.cut: int | None = None
        self.costs = costs  # what each document costs to look at; None: 1
        self.most: float | None = None  # of one list: how many relevant documents the best run found
        self.among = among  # documents of the longest of all lists, if these are a part of them
        self.n = length.size
        self._views: dict[tuple[Any, ...], Gains] = {}
        self._cuts: dict[tuple[int, bool], Lists] = {}
        self._last: tuple[NDArray[np.bool_], tuple[Ints, Ints, Ints, Ints]] | None = None

    @classmethod
    def of_rankings(cls, rankings: Rankings, kept: dict[tuple[Any, ...], Any] | None = None) -> Lists:
        """The lists of aligned runs; ``kept`` holds, and gets, the gains of the judgments."""
        if kept is None and (shared := cls.shared_of(rankings)) is not None:
            return shared
        qrels = rankings.qrels
        first, size = rankings.tie_first, rankings.tie_size
        tied = first is not None and size is not None and bool((size > 1).any())
        out = cls(
            grades=qrels.grades,
            rows=qrels.offsets,
            topic=rankings.topic,
            length=rankings.lengths,
            offsets=rankings.offsets,
            position=rankings.positions,
            row=rankings.row,
            max_grade=qrels.max_grade,
            shown=(rankings.rank, rankings.length),
            ties=(first, size) if tied else None,  # type: ignore[arg-type]
            depth=rankings.depth,
            topics=rankings.topics,
            qrels=qrels,
            kept=kept,
        )
        out.costs = Costs.of_lists(rankings, out)
        return out

    @classmethod
    @contextlib.contextmanager
    def shared(cls, rankings: Rankings) -> Iterator[None]:
        """While this lasts, who asks on this thread for the lists of these rankings gets the same ones."""
        if cls.shared_of(rankings) is not None:  # they are those of who came before
            yield
            return
        lists = cls.of_rankings(rankings)
        before = _shared.set((rankings, lists))
        try:
            yield
        finally:
            _shared.reset(before)
            lists.forget()

    @staticmethod
    def shared_of(rankings: Rankings) -> Lists | None:
        """The lists of these rankings that are shared on this thread, if they are."""
        found = _shared.get()
        return found[1] if found is not None and found[0] is rankings else None

    @classmethod
    def of_ranked(cls, qrels: Qrels, ranked: Ranked, condense: bool, kept: dict[tuple[Any, ...], Any]) -> Lists:
        """The lists of one run as the reader returns them, in its order of topics, down to their ends."""
        lists, hits = ranked.lists, ranked.hits
        length, offsets = lists[:, 1], np.zeros(len(lists) + 1, np.int64)
        position: NDArray[Any] = hits[:, 0]
        offsets[1:] = lists[:, 4]
        if condense:
            known = qrels.grades[hits[:, 1]] >= 0
            hits, offsets = hits[known], np.concatenate(([0], np.cumsum(known)))[offsets]
            length = np.diff(offsets)
            position = np.arange(1, len(hits) + 1) - np.repeat(offsets[:-1], length)
        return cls(
            grades=qrels.grades,
            rows=qrels.offsets,
            topic=lists[:, 0],
            length=length,
            offsets=offsets,
            position=position,
            row=hits[:, 1],
            max_grade=qrels.max_grade,
            topics=qrels.topics,
            qrels=qrels,
            kept=kept,
        )

    @classmethod
    def of_grades(
        cls,
        grades: ArrayLike,
        *,
        relevant: float | None = None,
        ideal: ArrayLike | None = None,
        max_grade: float | None = None,
        extra_grade: float = 1.0,
        most: float | None = None,
        costs: Sequence[float] | None = None,
    ) -> Lists:
        """One list, given by its grades (NaN where unjudged) and what is known of its topic.

        ``ideal`` holds the grades of all the topic's judged documents, in any order (zeros of the list may be left
        out); without it they are the list's own and, where ``relevant`` says that there are more relevant ones, as many
        of grade ``extra_grade``. ``costs`` are those of the documents by rank; further down they are 1.
        """
        try:
            if grades is None or isinstance(grades, str | bytes):
                raise TypeError
            given = np.array(grades, np.float64, ndmin=1)
            others = None if ideal is None else np.array(ideal, np.float64, ndmin=1)
        except (TypeError, ValueError):
            raise MeasureError(f"grades {grades!r:.100}: expected a list of numbers (NaN where unjudged)") from None
        if given.ndim != 1 or np.isinf(given).any():
            raise MeasureError(f"grades {grades!r:.100}: expected one list of finite numbers (NaN where unjudged)")
        position = np.flatnonzero(~np.isnan(given)) + 1
        own = given[position - 1]
        rest = np.zeros(0)
        if others is not None:
            rest = _without(others, own)
        elif relevant is not None:
            found = int((own >= extra_grade).sum())
            if not found <= relevant <= _MOST_RELEVANT or relevant != int(relevant):
                raise MeasureError(
                    f"relevant={relevant}: expected a whole number from {found}, as in the list, to {_MOST_RELEVANT}"
                )
            rest = np.full(int(relevant) - found, extra_grade)
        table = np.concatenate((own, rest))
        largest = float(table.max(initial=-np.inf))
        if max_grade is None:
            max_grade = max(largest, 1.0)
        elif number(max_grade, "max_grade", kind=MeasureError) < largest:
            raise MeasureError(f"max_grade={max_grade}: a grade of {largest:g} exceeds it")
        out = cls(
            grades=table,
            rows=np.array([0, table.size]),
            topic=np.zeros(1, np.int64),
            length=np.array([given.size]),
            offsets=np.array([0, own.size]),
            position=position,
            row=np.arange(own.size),
            max_grade=float(max_grade),
        )
        if most is not None:
            if not is_number(most) or not 0 <= most < math.inf:
                raise MeasureError(f"most={most!r:.60}: expected how many relevant documents the best run found")
            out.most = float(most)
        if costs is not None:
            each = [number(x, "costs", kind=MeasureError) for x in costs]
            if min(each, default=0.0) <= 0 or len(each) > given.size:
                raise MeasureError(
                    f"costs {each!r:.60}: expected numbers above 0, by rank, for {given.size} documents at most"
                )
            out.costs = Costs(np.array(each), np.array([0, len(each)]))
        return out

    def of_rows(self, topic: int, rows: Ints, length: int) -> Lists:
        """One list of a topic by these judgments: the documents of some rows, one after another, then unjudged ones."""
        return Lists(
            grades=self.grades, rows=self.rows, topic=np.array([topic]), length=np.array([length]),
            offsets=np.array([0, rows.size]), position=np.arange(1, rows.size + 1), row=rows,
            max_grade=self.max_grade, topics=self.topics, qrels=self.qrels, kept=self._kept,
        )  # fmt: skip

    @cached_property
    def judgment(self) -> Ints:
        """The judgment of each row, as a row of the qrels."""
        return np.arange(self.grades.size) if self._judgment is None else self._judgment

    @cached_property
    def grade(self) -> Array:
        """The grade of each hit."""
        return np.asarray(self.grades[self.row])

    @cached_property
    def list(self) -> Ints:
        """The list of each hit."""
        return np.repeat(np.arange(self.n), np.diff(self.offsets))

    def hits(self, i: int) -> slice:
        """The hits of list i, as a slice of `position` and `row`."""
        return slice(int(self.offsets[i]), int(self.offsets[i + 1]))

    def grades_by_rank(self, i: int) -> Array:
        """The grades of list i by rank; 0 where there is no judgment, and below a cut."""
        out = np.zeros(max(int(self.length[i]), 1))
        hits = self.hits(i)
        at = np.asarray(self.position[hits], np.int64) - 1
        seen = at < min(out.size, self.cut or out.size)
        out[at[seen]] = self.grades[self.row[hits][seen]]
        return out

    def grades_of(self, some: Ints) -> Array:
        """The grades of some lists by rank, as far as the longest of them goes; 0 as in `grades_by_rank`."""
        out = np.zeros((some.size, max(int(self.length[some].max(initial=0)), 1)))
        hits, row = hits_of(self.offsets, some)
        rank = np.asarray(self.position[hits], np.int64)
        seen = rank <= np.minimum(np.maximum(self.length[some], 1), self.cut or out.shape[1])[row]
        out[row[seen], rank[seen] - 1] = self.grades[self.row[hits[seen]]]
        return out

    def gainful(self, rows: NDArray[np.bool_]) -> tuple[Ints, Ints, Ints, Ints]:
        """The hits on some rows: their indices, ranks, where those of each list start, and their lists.

        Maps of grades to gains mostly agree on which grades gain nothing, so the last result is kept.
        """
        if self._last is None or self._last[0] is not rows:
            # methods of arrays, not functions of numpy, which take long on few lists
            kept = rows.take(self.row).nonzero()[0]
            offsets = kept.searchsorted(self.offsets)
            owner = np.arange(self.n).repeat(offsets[1:] - offsets[:-1])
            self._last = rows, (kept, self.position.take(kept).astype(np.int64), offsets, owner)
        return self._last[1]

    def per_topic(self, rows: NDArray[Any]) -> Array:
        """The number of true rows of each topic."""
        total = np.concatenate(([0], np.cumsum(rows)))
        return np.asarray(total[self.rows[1:]] - total[self.rows[:-1]], np.float64)

    def per_list(self, weights: NDArray[Any]) -> Array:
        """Sums over the hits of each list, in rank order."""
        return np.asarray(np.bincount(self.list, weights, self.n), np.float64)

    def before(self, rows: NDArray[np.bool_], hits: Ints, owner: Ints) -> Ints:
        """For each of some hits, the number of hits on the flagged rows before it in its list."""
        total = np.zeros(self.row.size + 1, np.int32)
        np.cumsum(rows[self.row], out=total[1:])
        return np.asarray(total[hits] - total[self.offsets[owner]], np.int64)

    def gains(self, of: GainMap) -> Gains:
        """The gains of these lists by a map of grades to gains."""
        if of.key not in self._views:
            whole = self._whole
            if whole:
                self._views[of.key] = whole.gains(of).on(self)
                return self._views[of.key]
            if of.key not in self._kept:
                gain = of.function(self.grades, self.max_grade)
                share = None if of.share is None else np.append(of.share(self.qrels), 0.0)[self.judgment]
                self._kept[of.key] = JudgedGains(self, gain, share, self._kept.values())
            self._views[of.key] = Gains(self, self._kept[of.key])
        return self._views[of.key]

    @property
    def longest(self) -> int:
        """The most documents of a list, here or among all that these are a part of, whose numbers are then the same."""
        return max(int(self.length.max(initial=0)), self.among if self.cut is None else min(self.among, self.cut))

    def arrays(self, start: int, stop: int) -> dict[str, Any]:
        """What `Lists` is made of, beside the judgments, of the lists from ``start`` to before ``stop``."""
        hits = slice(int(self.offsets[start]), int(self.offsets[stop]))
        out: dict[str, Any] = {name: getattr(self, name)[start:stop] for name in ("topic", "length")}
        out |= {name: getattr(self, name)[hits] for name in ("position", "row")}
        out["offsets"] = self.offsets[start : stop + 1] - self.offsets[start]
        out["shown"] = self.shown_position[hits], self.shown_length[start:stop]
        out["ties"] = None if self.ties is None else (self.ties[0][hits], self.ties[1][hits])
        out["costs"] = None if self.costs is None else self.costs.of(np.arange(start, stop))
        out["among"] = self.longest
        return out

    def part(self, start: int, stop: int) -> Lists:
        """The lists from ``start`` to before ``stop``, by the same judgments."""
        return Lists(
            grades=self.grades, rows=self.rows, max_grade=self.max_grade, topics=self.topics, qrels=self.qrels,
            depth=self.depth, judgment=self._judgment, kept=self._kept, **self.arrays(start, stop),
        )  # fmt: skip

    @property
    def judged_intents(self) -> JudgedIntents:
        """The judgments of the intents of the topics."""
        if ("intents",) not in self._kept:
            self._kept[("intents",)] = JudgedIntents(self)
        found: JudgedIntents = self._kept[("intents",)]
        return found

    def by_intent(self, of: GainMap | None = None) -> ListsByIntent:
        """These lists, each as often as its topic has intents, with the grades of one of them.

        With a map of grades to gains, only the hits that gain something are kept, and nobody may look at others.
        """
        if self._whole:
            return self._whole.by_intent(of)
        key = None if of is None else of.key
        if key not in self._intents:
            self._intents[key] = ListsByIntent(self, self.judged_intents, of)
        return self._intents[key]

    def ending_at(self, k: int) -> Lists:
        """These lists, each ending at rank k at the latest: for users who stop at the end of a list.

        Examples
        --------
        >>> from amble.rankings.lists import GainMap, Lists
        >>> lists, as_it_is = Lists.of_grades([0, 1, 1, 1]), GainMap(("own",), lambda grades, most: grades)
        >>> ends, silent = lists.ending_at(3), lists.silent_below(3)
        >>> ends.length, ends.gains(as_it_is).position, silent.length, silent.gains(as_it_is).position
        (array([3]), array([2, 3]), array([4]), array([2, 3]))
        """
        return self._down_to(k, True)

    def silent_below(self, k: int) -> Lists:
        """These lists, as long as they are, with no judgments below rank k: for users who read on."""
        return self._down_to(k, False)

    def _down_to(self, k: int, ends: bool) -> Lists:
        if self.cut is not None and self.cut <= k:
            return self
        if (k, ends) not in self._cuts:
            cut = _copied(self)
            cut.cut, cut._whole, cut._views, cut._cuts = k, self, {}, {}
            if ends:
                cut.length = np.minimum(self.length, k)
            elif self.costs is not None:
                cut.costs = self.costs.silent_below(k)
            if self.ties is not None:  # tied hits have no one rank, so the depth says how far they count
                cut.depth = min(k, self.depth or k)
            self._cuts[k, ends] = cut
        return self._cuts[k, ends]

    def forget(self) -> None:
        """Drop cached views, which refer back to the lists, so that their memory is freed at once."""
        for cut in self._cuts.values():
            cut.forget()
        for own in self._intents.values():
            own.lists.forget()
        self._cuts.clear()
        self._views.clear()
        self._intents.clear()
        self._last = None


class JudgedIntents:
    """The judgments of all intents, whatever the runs: an intent of a topic is one of its rows' subtopics.

    A topic without judgments has one intent, of which nothing is judged.

    Attributes
    ----------
    topic, subtopic, weight : ndarray
        Of each intent: its topic and subtopic, and its weight, 1 where all of a topic are as likely.
    intents : ndarray
        Topic ``t`` has the intents ``intents[t]:intents[t + 1]``.
    row, grades, rows : ndarray
        Of each judgment, intent by intent: the row of its document, and its grade; intent ``s`` has the judgments
        ``rows[s]:rows[s + 1]``.
    made : dict
        Results that several measures or runs share.
    """

    def __init__(self, whole: Lists) -> None:
        known = whole.subtopics
        if known is None:
            raise MeasureError(
                "judgments without subtopics, expected TREC's diversity qrels, topic subtopic doc grade, read with "
                "subtopics=True (--subtopics), or {topic: {subtopic: {doc: grade}}}"
            )
        upto = np.searchsorted(known.row, np.arange(int(known.row.max(initial=-1)) + 3))
        judgment = np.where(whole.judgment < 0, upto.size - 2, np.minimum(whole.judgment, upto.size - 2))
        at, row = hits_of(upto, judgment)
        of_row = np.repeat(np.arange(whole.rows.size - 1), np.diff(whole.rows))
        stride = max(len(known), 1)
        topic = of_row[row]
        none = np.flatnonzero(np.bincount(topic, minlength=whole.rows.size - 1) == 0)  # somebody reads all the same
        key = np.concatenate((topic * stride + known.subtopic[at], none * stride))
        key, intent = np.unique(key, return_inverse=True)
        self.intent = intent[: topic.size]
        self.topic, self.subtopic = key // stride, key % stride
        self.weight: Array = known.weight[self.subtopic]
        self.intents = np.searchsorted(self.topic, np.arange(whole.rows.size))
        self.by_row = known.grade[at]  # row after row, as are `intent` and `place`
        self.entries = np.concatenate(([0], np.cumsum(np.bincount(row, minlength=whole.grades.size))))
        order = np.argsort(self.intent, kind="stable")
        self.place = np.empty(order.size, np.int64)
        self.place[order] = np.arange(order.size)
        self.row, self.grades = row[order], self.by_row[order]
        self.rows = np.searchsorted(self.intent[order], np.arange(key.size + 1))
        self.topics = None if whole.topics is None else [whole.topics[t] for t in self.topic.tolist()]
        self.judgment = None if whole.qrels is None else whole.judgment[self.row]
        self.max_grade = whole.max_grade
        self.kept: dict[tuple[Any, ...], Any] = {}
        self.made: dict[Any, Any] = {}

    def gainful(self, of: GainMap) -> tuple[Ints, Ints]:
        """The judgments, row after row, that gain something, and where those of each row start."""
        key = "gainful", of.key
        if key not in self.made:
            kept = np.flatnonzero(of.function(self.by_row, self.max_grade) > 0)
            self.made[key] = kept, np.searchsorted(kept, self.entries)
        found: tuple[Ints, Ints] = self.made[key]
        return found

    def shares(self, gainful: NDArray[np.bool_], even: bool = False) -> Array:
        """The share of each intent among those of its topic that gain something."""
        weight = np.where(gainful, 1.0 if even else self.weight, 0.0)
        total = np.bincount(self.topic, weight)[self.topic]
        return np.asarray(np.divide(weight, total, out=np.zeros(weight.size), where=total > 0))


class ListsByIntent:
    """Lists of people who mean different things: each list once for every intent of its topic that has judgments.

    Attributes
    ----------
    judged : JudgedIntents
    lists : Lists
        A topic of which is an intent of a topic.
    owner : ndarray
        Of each of these lists, the list that it is.
    first : ndarray
        List ``i`` is the lists ``first[i]:first[i + 1]``.
    """

    def __init__(self, whole: Lists, judged: JudgedIntents, of: GainMap | None) -> None:
        self.judged = judged
        count = np.diff(judged.intents)[whole.topic]
        self.first = np.concatenate(([0], np.cumsum(count)))
        self.owner = np.repeat(np.arange(whole.n), count)
        # the judgments of the hits, in the order of lists, intents and ranks
        hit_row = np.asarray(whole.row, np.int64)
        if of is None:
            entry, hit = hits_of(judged.entries, hit_row)
        else:
            kept, some = judged.gainful(of)
            hits = np.flatnonzero((some[1:] > some[:-1])[hit_row])
            entry, hit = hits_of(some, hit_row[hits])
            entry, hit = kept[entry], hits[hit]
        owner = np.searchsorted(whole.offsets, hit, side="right") - 1
        mine = self.first[owner] + judged.intent[entry] - judged.intents[whole.topic[owner]]
        by_list = np.argsort(mine, kind="stable")
        hit, entry = hit[by_list], entry[by_list]
        self.lists = Lists(
            grades=judged.grades,
            rows=judged.rows,
            topic=np.arange(self.owner.size) - np.repeat(self.first[:-1] - judged.intents[whole.topic], count),
            length=whole.length[self.owner],
            offsets=np.searchsorted(mine[by_list], np.arange(self.owner.size + 1)),
            position=whole.position[hit],
            row=judged.place[entry],
            max_grade=whole.max_grade,
            shown=(whole.shown_position[hit], whole.shown_length[self.owner]),
            ties=None if whole.ties is None else (whole.ties[0][hit], whole.ties[1][hit]),
            depth=whole.depth,
            topics=judged.topics,
            judgment=judged.judgment,
            costs=None if whole.costs is None else whole.costs.of(self.owner),
            kept=judged.kept,
            among=whole.longest,
        )
        self.lists.qrels = whole.qrels  # its documents, not its subtopics


def _copied(of: T) -> T:
    """A shallow copy, as `copy.copy` makes it of such an object, in a tenth of the time."""
    out = object.__new__(type(of))
    vars(out).update(vars(of))
    return out


def hits_of(offsets: Ints, some: Ints) -> tuple[Ints, Ints]:
    """The hits of some lists, and which of these lists each is on (from 0)."""
    count = offsets[some + 1] - offsets[some]
    row = np.repeat(np.arange(some.size), count)
    first = offsets[some] - np.concatenate(([0], np.cumsum(count)[:-1]))
    return np.arange(row.size) + first[row], row


class JudgedGains:
    """The gains of all judged documents, whatever the runs: the recall bases, and the ideal lists of the topics.

    Attributes
    ----------
    by_row : ndarray
        The gain of each row.
    relevant : ndarray
        Of each topic: how many judged documents gain something.
    """

    def __init__(self, of: Lists, by_row: Array, share: Array | None, others: Iterable[Any] = ()) -> None:
        self.grades, self.rows, self.max_grade = of.grades, of.rows, of.max_grade
        self.by_row, self.share = by_row, share
        ones = by_row == 1.0
        self.binary = np.count_nonzero(ones) == np.count_nonzero(by_row)  # gains of 1 and 0 only
        self.gainful = ones if self.binary else by_row > 0
        which = self.gainful.tobytes()  # compared in a fraction of the time that arrays take
        if not self.binary and (by_row >= _LEAST).tobytes() != which:
            raise MeasureError(f"a gain below {_LEAST:.1g} is too small to compute with")
        self.row: Ints  # those that gain something
        self.starts: Ints  # and where those of each topic start
        self.relevant: Array
        for other in others:
            if isinstance(other, JudgedGains) and other.gainful.tobytes() == which:  # not what is kept of intents
                self.gainful = other.gainful  # one array, which `Lists.gainful` knows again
                self.row, self.starts, self.relevant = other.row, other.starts, other.relevant
                break
        else:
            self.row = self.gainful.nonzero()[0]
            self.starts = self.row.searchsorted(of.rows)
            self.relevant = np.subtract(self.starts[1:], self.starts[:-1], dtype=np.float64)
        self.made: dict[Any, Any] = {}  # results that several measures or runs share

    @cached_property
    def available(self) -> Array:
        """Of each topic: the gain of all its judged documents."""
        if self.binary:
            return self.relevant
        size = self.rows[1:] - self.rows[:-1]
        return np.asarray(np.bincount(np.repeat(np.arange(size.size), size), self.by_row, size.size))

    @cached_property
    def ideal(self) -> tuple[Ints, Ints, Ints]:
        """The rows of each topic's judged documents, greatest gain first, where each topic starts, and their topics."""
        topic = np.arange(self.relevant.size).repeat(self.starts[1:] - self.starts[:-1])
        if self.binary:
            return self.row, self.starts, topic
        return self.row.take(np.lexsort((-self.by_row.take(self.row), topic))), self.starts, topic

    def ideal_lists(self, cut: int | None) -> Gains:
        """The ideal list of each topic: its judged documents with a gain, greatest first, down to the cut."""
        row, starts, owner = self.ideal
        position = np.arange(1, row.size + 1) - starts.take(owner)
        if cut is not None:
            above = (position <= cut).nonzero()[0]
            row, position, owner = row.take(above), position.take(above), owner.take(above)
            starts = above.searchsorted(starts)
        lists = Lists(
            grades=self.grades,
            rows=self.rows,
            topic=np.arange(starts.size - 1),
            length=starts[1:] - starts[:-1],
            offsets=starts,
            position=position,
            row=row,
            max_grade=self.max_grade,
        )
        every = np.arange(row.size), position, starts, owner
        lists._last = self.gainful, every  # all of them gain something
        out = Gains(lists, self)
        out.share_by_row = None
        return out


class Gains:
    """The hits with a gain, and the ideal lists of their topics.

    Attributes
    ----------
    position, gain, list, offsets : ndarray
        Of each gainful hit: rank, gain and list; list ``i`` has those in ``offsets[i]:offsets[i + 1]``.
    """

    def __init__(self, lists: Lists, judged: JudgedGains) -> None:
        self.lists: Lists = lists
        self.judged = judged
        self.kept: Ints
        self.position: Ints
        self.offsets: Ints
        self.list: Ints
        self.by_row, self.topic_relevant, self.share_by_row = judged.by_row, judged.relevant, judged.share
        self.kept, self.position, self.offsets, self.list = lists.gainful(judged.gainful)
        self.gain: Array = self.by_row.take(lists.row.take(self.kept))
        self.made: dict[Any, Any] = {}  # results that several measures share

    @cached_property
    def relevant(self) -> Array:
        """Of each list: how many judged documents of its topic gain something."""
        return self.topic_relevant.take(self.lists.topic)

    def on(self, lists: Lists) -> Gains:
        """These gains on the same lists cut at a rank; the recall base and the ideal lists stay."""
        out = _copied(self)
        out.lists, out.made = lists, {}
        first = self.position if lists.ties is None else lists.ties[0][self.kept]
        above = (first <= (lists.cut or 0)).nonzero()[0]
        if above.size < first.size:
            out.kept, out.position = self.kept.take(above), self.position.take(above)
            out.list, out.gain = self.list.take(above), self.gain.take(above)
            out.offsets = above.searchsorted(self.offsets)
            for name in ("ordinal", "seen", "found", "share", "_keys"):
                vars(out).pop(name, None)
        return out

    def fading(self, novel: float) -> Gains:
        """The same, of which each further one on a list brings a share ``novel`` less than the one before."""
        key = "fading", novel
        if key not in self.made:
            out = _copied(self)
            out.gain, out.made = self.gain * (1.0 - novel) ** (self.ordinal - 1), {}
            vars(out).pop("share", None)
            vars(out)["seen"] = scan(np.add.accumulate, out.gain, out.offsets)  # not their number, as of gains of 1
            self.made[key] = out
        found: Gains = self.made[key]
        return found

    def hits(self, i: int) -> slice:
        """The gainful hits of list i, as a slice of `position` and `gain`.

        >>> from amble.rankings.lists import GainMap, Lists
        >>> gains = Lists.of_grades([0, 2, 0, 1]).gains(GainMap(("own",), lambda grades, most: grades))
        >>> gains.position[gains.hits(0)], gains.by_rank(0)
        (array([2, 4]), array([0., 2., 0., 1.]))
        """
        return slice(int(self.offsets[i]), int(self.offsets[i + 1]))

    def by_rank(self, i: int, n: int | None = None, values: Array | None = None) -> Array:
        """The gains (or other values of hits) of list i at ranks 1 to n; without n, at those of the list, or rank 1."""
        out = np.zeros(max(int(self.lists.length[i]), 1) if n is None else n)
        hits = self.hits(i)
        out[self.position[hits] - 1] = (self.gain if values is None else values)[hits]
        return out

    def hits_of(self, some: Ints) -> tuple[Ints, Ints, Array]:
        """Rank, list (its number among ``some``, from 0) and gain of the gainful hits of some lists."""
        hits, row = hits_of(self.offsets, some)
        return self.position[hits], row, self.gain[hits]

    @cached_property
    def available(self) -> Array:
        """Of each list: the gain of all judged documents of its topic."""
        return self.judged.available.take(self.lists.topic)

    @cached_property
    def share(self) -> Array:
        """Of each hit, how often it is the document wanted: as the map of gains says, or in proportion to its gain."""
        if self.share_by_row is None:
            return np.asarray(self.gain / self.available[self.list])
        return np.asarray(self.share_by_row[self.lists.row[self.kept]])

    @cached_property
    def ordinal(self) -> Ints:
        """Each hit's number among the gainful ones of its list, from 1."""
        return np.arange(1, self.gain.size + 1) - self.offsets.take(self.list)

    @cached_property
    def seen(self) -> Array:
        """The gain up to and with each hit."""
        if self.judged.binary:
            return np.arange(1.0, self.gain.size + 1) - self.offsets.take(self.list)
        return scan(np.add.accumulate, self.gain, self.offsets)

    @cached_property
    def found(self) -> Ints:
        """The number of gainful documents of each list."""
        return np.asarray(np.diff(self.offsets), np.int64)

    def sum(self, values: Array) -> Array:
        """Sums over the hits of each list, in rank order."""
        return np.bincount(self.list, values, self.lists.n).astype(np.float64, copy=False)  # counts where none is there

    @cached_property
    def _keys(self) -> Ints:
        return self.list * self._stride + self.position

    @cached_property
    def _stride(self) -> int:
        return int(self.lists.length.max(initial=0)) + 2

    def upto(self, k: ArrayLike, lists: Ints | None = None) -> Ints:
        """The number of gainful documents down to rank k, of each list or of the lists given."""
        at = np.arange(self.lists.n) if lists is None else lists
        cut = np.clip(np.asarray(k, np.int64), 0, self._stride - 1)
        return np.asarray(np.searchsorted(self._keys, at * self._stride + cut, side="right") - self.offsets[at])

    @cached_property
    def ideal(self) -> tuple[Array, Ints]:
        """The gains of each topic's judged documents, greatest first, and where those of each topic start."""
        row, starts, _ = self.judged.ideal
        return self.by_row[row], starts

    @property
    def ideal_lists(self) -> Gains:
        """The ideal list of each topic, down to the cut."""
        return self.judged.ideal_lists(self.lists.cut)


def _without(all_of: Array, some: Array) -> Array:
    """The values of a multiset without some of them."""
    if np.isnan(all_of).any():
        raise MeasureError("ideal: expected the grades of judged documents, found NaN")
    values, counts = np.unique(all_of, return_counts=True)
    left = dict(zip(values.tolist(), counts.tolist(), strict=True))
    for grade in some.tolist():
        if not left.get(grade):
            if grade == 0:  # of no gain: may be left out of an ideal
                continue
            raise MeasureError(
                f"ideal: expected the grades of all judged documents, but {grade:g} of the list is not in it"
            )
        left[grade] -= 1
    return np.repeat(np.array(list(left)), np.array(list(left.values()), np.int64))
