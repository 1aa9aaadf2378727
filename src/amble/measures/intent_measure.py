"""Measures of intents: people who mean different things by a query, and what each of them gets from its list.

A topic has intents (subtopics), each with its probability and with judgments of its own. One who means one of them is
a reader as of any measure, and the score is the mean over people: the weighted mean over the intents of what that
reader's measure makes of a list with the grades of that intent. With ``novel``, a further document on the same subtopic
brings that share less (alpha-nDCG's alpha). What a mean is divided by is one number, or the mean of an ideal list.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, Self, cast

import numpy as np

from amble.arrays import NDArray
from amble.distributions.distribution import Distribution
from amble.errors import MeasureError, SimulationWarning
from amble.io.subtopics import Subtopics
from amble.measures.list_measure import ListMeasure
from amble.measures.measure import Measure
from amble.rankings.lists import Gains, JudgedIntents, Lists, ListsByIntent
from amble.users.protocol import NoExactDistributionError, Question, TiedError, User

__all__ = ["IntentMeasure", "Part", "ideal_order"]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

_CELLS = 1 << 22  # topics x intents x documents among which ideal lists are looked for
_BLIND = {"rank", "gain", "seen", "share", "relevant", "available"}  # what does not show documents without a gain


class Part(NamedTuple):
    """What people ask: the measure of one intent, and how the intents become one score.

    Attributes
    ----------
    of : ListMeasure
        What one who means one intent asks of a list.
    novel : float or None
        The share that each further document of a subtopic brings less than the one before; None: none.
    norm : callable, "greedy", "sorted" or None
        What the mean is divided by: a number, given the rank k (None: the whole list); or the same of the topic's
        ideal list, made by greedy choice, or of the documents by the mean of their gains.
    share : float
        The share of all people who ask this.
    even : bool
        Whether all intents are as likely, whatever is known of them.
    fade : float or None
        What greedy choice takes a further document of a subtopic to bring less; None: ``novel``.
    """

    of: ListMeasure
    novel: float | None = None
    norm: Callable[[int | None], float] | str | None = None
    share: float = 1.0
    even: bool = False
    fade: float | None = None


class IntentMeasure(ListMeasure):
    """A measure of intents with its parameters: `value` scores one list, `scores` many.

    Examples
    --------
    >>> import amble
    >>> m = amble.parse("alpha_nDCG@5")
    >>> documents = [[1, 0, 0], [1, 1, 0], [0, 0, 0], [0, 0, 1], [0, 1, 1]]  # the columns are intents
    >>> round(m.value(documents, ideal=[*documents, [1, 0, 0]]), 12)
    0.787791491749
    """

    @cached_property
    def parts(self) -> list[Part]:
        """What people ask, by rank k at the latest."""
        found = self.declaration.function(None, **self.arguments)
        return [
            part if self.cut is None else part._replace(of=part.of @ self.cut)
            for part in (found if isinstance(found, list) else [found])
        ]

    def resolve_variant(self) -> Self:
        """The measure that the parameters make of this one."""
        out = Measure.resolve_variant(self)
        for part in out.parts if out.values.get("of", "") is not None else ():  # may raise
            if part.novel is not None:
                for _, one in part.of.members:
                    _reader(one, part.novel)
        return out

    @property
    def is_population(self) -> bool:
        """True: of people who mean different things."""
        return True

    @property
    def ends(self) -> bool:
        """Whether nobody looks further than the end of the list."""
        return all(part.of.ends for part in self.parts)

    @property
    def deepest(self) -> int | None:
        """The rank below which nothing is gained; None if there is none."""
        return self.parts[0].of.deepest

    @property
    def by_list(self) -> bool:
        """Whether a list's score is the same, bit for bit, whatever other lists are scored with it."""
        return all(part.of.by_list for part in self.parts)

    @property
    def looks_at_costs(self) -> bool:
        """Whether somebody looks at what documents cost."""
        return any(part.of.looks_at_costs for part in self.parts)

    @property
    def has_order1(self) -> bool:
        """Whether E[T/H] of any list is computed without its distribution."""
        return all(part.of.declaration.is_user and part.of.has_order1 for part in self.parts)

    def gains_of(self, lists: Lists) -> Gains:
        """The gains of documents, whatever the intent: by the largest grade of each."""
        return self.parts[0].of.gains_of(lists)

    def members_of(self, lists: Lists) -> list[tuple[Any, Self]]:
        """Raise an error: what its readers do, or could gain, on a list differs by intent."""
        raise MeasureError(f"{self} is of several intents, which residuals and the C/W/L report do not know")

    # ---- many lists

    def _scores(self, lists: Lists) -> Array:
        return self._answers(None, lists)

    def answers(self, question: Question, lists: Lists) -> Array:
        """The answer of every list to another question than the measure's own, divided as its own is."""
        with self.wrap_errors():
            return self._answers(question, lists)

    def _answers(self, question: Question | None, lists: Lists) -> Array:
        return np.asarray(sum(part.share * self._mean(part, question, lists) for part in self.parts))

    def _mean(self, part: Part, question: Question | None, lists: Lists) -> Array:
        """The mean over intents of every list, divided by what it is to be divided by."""
        by = _by_intent(part, lists)
        mean = _summed(part, by, _each(part, by, question), lists.n)
        divisor = self.divisor(part, by, lists)
        return mean if divisor is None else np.divide(mean, divisor, out=np.zeros(mean.size), where=divisor > 0)

    def divisor(self, part: Part, by: ListsByIntent, lists: Lists) -> Array | None:
        """What the mean of every list is divided by; None: nothing."""
        if part.norm is None:
            return None
        if callable(part.norm):
            return np.full(lists.n, part.norm(self.cut))
        gain = part.of.declaration.gain.make(part.of.values)
        key, made = ("ideal", str(part.of), gain.key, part.novel, part.norm), by.judged.made
        if key not in made:
            row, starts = ideal_order(by.judged, part.of.gains_of(by.lists).judged.by_row, part, lists, self.cut)
            ideal = Lists(
                grades=lists.grades,
                rows=lists.rows,
                topic=np.arange(starts.size - 1),
                length=np.diff(starts),
                offsets=starts,
                position=np.arange(1, row.size + 1) - np.repeat(starts[:-1], np.diff(starts)),
                row=row,
                max_grade=lists.max_grade,
                qrels=lists.qrels,
                judgment=lists.judgment,
                kept={("intents",): by.judged},
            )
            ideal.subtopics = lists.subtopics
            best = _by_intent(part, ideal)
            made[key] = _summed(part, best, _each(part, best, None), ideal.n)
        return np.asarray(made[key][lists.topic])

    # ---- people, one by one

    def by_intent(self, lists: Lists) -> tuple[Ints, Ints, Array, Array]:
        """What those who mean each intent get: arrays of lists, subtopics, shares of people, and their mean scores.

        Of every list, the intents of its topic that have a document that gains something.
        """
        each = shares = np.zeros(1)
        for part in self.parts:
            by = _by_intent(part, lists)  # the same intents, whatever the part
            value, divisor = _each(part, by, None), self.divisor(part, by, lists)
            if divisor is not None:
                own = divisor[by.owner]
                value = np.divide(value, own, out=np.zeros(value.size), where=own > 0)
            each, shares = each + part.share * value, shares + part.share * _shares(part, by)
        some = np.flatnonzero(shares)
        return by.owner[some], by.judged.subtopic[by.lists.topic[some]], shares[some], each[some]

    def people_on(self, lists: Lists, i: int) -> Iterator[tuple[float, float, ListMeasure, User | None, Any, int]]:
        """Of list i, everybody: their share, what their answers are divided by, their measure and reader, and a list.

        The reader, None if the measure is no user's, reads list j of the gains. Where no intent can be served, somebody
        reads all the same, and has a score of 0.
        """
        for part in self.parts:
            by = _by_intent(part, lists)
            divisor, shares = self.divisor(part, by, lists), _shares(part, by)
            first, end = int(by.first[i]), int(by.first[i + 1])
            divided = 1.0 if divisor is None else float(divisor[i])
            if not shares[first:end].any():
                shares[first], divided, end = 1.0, np.inf, first + 1
            for j in range(first, end):
                for w, one in part.of.at(by.lists, j).members if shares[j] > 0 else ():
                    gains = one.gains_of(by.lists)
                    reader = _reader(one, part.novel) if one.declaration.is_user else None
                    own = _paid(one, reader, gains, part.novel)
                    norm = None if reader is None else one.divisors(own)
                    by_own = divided if norm is None or np.isinf(divided) else divided * float(norm[j])
                    yield part.share * float(shares[j]) * w, by_own or np.inf, one, reader, own, j

    def distribution_on(self, gains: Gains, i: int) -> Distribution:
        """The distribution of the score over people: over those who mean each of the intents, and their ways."""
        each, shares = [], []
        with self.wrap_errors():
            for share, by, one, reader, own, j in self.people_on(gains.lists, i):
                if reader is None:
                    key = "scores", str(one)
                    if key not in own.made:
                        own.made[key] = one.scores(own.lists)
                    found = Distribution(own.made[key][j : j + 1], np.ones(1))
                else:
                    found = reader.distribution(one.question, own, j)
                each.append(Distribution(found.values / by, found.probs))
                shares.append(share)
        return Distribution.mixture(each, shares)

    def simulated(self, lists: Lists, some: Sequence[int], users: int, seed: int) -> Any:
        """The distribution over simulated people, who come with one of some lists, each as likely."""
        from amble.users.simulation import follower_of, simulated_mixture  # scores do without

        kinds: list[Any] = []
        for i in some:
            for share, by, one, reader, own, j in self.people_on(lists, i):
                if reader is None:
                    raise MeasureError(f"{self}: {one} is not a user, so that nobody can be simulated")
                kinds.append((share / len(some), follower_of(reader, own, [j], seed), one.question, by))
        return simulated_mixture(kinds, users * len(some), seed)

    def distribution(self, grades: Any, *, users: int = 100_000, seed: int = 0, **context: Any) -> Distribution:
        """The distribution of the score over people who mean different things, and over their ways through a list."""
        gains = self.gains_of_grades(grades, **context)
        try:
            return self.distribution_on(gains, 0)
        except NoExactDistributionError as why:
            warnings.warn(f"{self}: {why}; {users:,} users simulated instead", SimulationWarning, stacklevel=2)
            with self.wrap_errors():
                return cast(Distribution, self.simulated(gains.lists, [0], users, seed))

    # ---- one list

    def gains_of_grades(self, grades: Any, **context: Any) -> Gains:
        """The gains of one list, given by the grades of its documents (rows) for the intents (columns)."""
        unknown = set(context) - {"ideal", "max_grade", "intents", "topic"}
        if unknown:
            raise MeasureError(f"{self}: unknown context {min(unknown)}; expected ideal, max_grade, intents")
        with self.wrap_errors():
            how = (context.get(name) for name in ("ideal", "max_grade", "intents"))
            return self.gains_of(lists_of_intents(grades, *how))

    def user(self, grades: Any = (), **context: Any) -> Any:
        """The behaviour of the reader, if it is the same whatever the intent, on a list given as for `value`."""
        part = self.parts[-1]
        lists = self.gains_of_grades(grades, **context).lists
        with self.wrap_errors():
            if not part.of.is_static:
                raise MeasureError("readers who mean different things read differently; see the measure of one intent")
            return part.of.one_user.on(part.of.gains_of(_by_intent(part, lists).lists), 0)

    def interval(self, grades: Any, **context: Any) -> tuple[float, float]:
        """Raise an error: for which intents unjudged documents could be relevant is not known."""
        self.members_of(Lists.of_grades([]))
        raise AssertionError

    def score_path(self, path: Any, grades: Any, **context: Any) -> float:
        """Raise an error: a path does not say what was meant."""
        raise MeasureError(f"{self}: a path does not say which intent a reader has; score it by the measure of one")


def _reader(one: ListMeasure, novel: float | None) -> User:
    """The reader of a measure of one intent: its user, who is paid by subtopic if something is novel."""
    if novel is None:
        return one.one_user
    d = one.declaration
    if d.norm is not None or d.question is Question.MARKOV:
        raise MeasureError(f"novel={novel:g} is for measures that divide by nothing of the topic, not for {one}")
    if {"loss", "utility"} & (one.written or one).given:
        raise MeasureError(f"novel={novel:g} says what a further visit brings; expected neither loss nor utility")
    user = one.one_user
    if getattr(user, "once", False):  # each rank is seen once, so that gains fade down the list
        return user
    from amble.users.subtopic_visits import SubtopicUser  # most do without

    return cast(User, SubtopicUser(user, novel))


def _paid(one: ListMeasure, reader: User | None, gains: Gains, novel: float | None) -> Gains:
    """The gains, which fade down the lists of a reader who does not count the visits."""
    return gains if novel is None or reader is not one.one_user else gains.fading(novel)


def _by_intent(part: Part, lists: Lists) -> ListsByIntent:
    """The lists by intent; without the hits that gain nothing, where nobody looks at them."""
    users = [one for _, one in part.of.members]
    seen = [set(one.declaration.seen) for one in users]
    blind = all(one.declaration.is_user for one in users) and not part.of.is_population
    blind = blind and all(x <= _BLIND if x else one.is_static for x, one in zip(seen, users, strict=True))
    gain = users[0].declaration.gain.make(users[0].values)
    return lists.by_intent(gain if blind and gain.share is None else None)


def _each(part: Part, by: ListsByIntent, question: Question | None) -> Array:
    """The answer of every list of every intent."""
    of = part.of
    if part.novel is None:
        return of._scores(by.lists) if question is None else of.answers(question, by.lists)
    if by.lists.ties is not None:
        raise TiedError
    out = np.zeros(by.lists.n)
    for w, one in of.members_of(by.lists):
        reader, gains = _reader(one, part.novel), one.gains_of(by.lists)
        out += w * reader.scores(question or one.question, _paid(one, reader, gains, part.novel))
    return out


def _shares(part: Part, by: ListsByIntent) -> Array:
    """The share of people who have each list of each intent, of those with its list."""
    share = by.judged.shares(part.of.gains_of(by.lists).judged.relevant > 0, part.even)
    return np.asarray(share[by.lists.topic])


def _summed(part: Part, by: ListsByIntent, each: Array, n: int) -> Array:
    return np.asarray(np.bincount(by.owner, _shares(part, by) * each, n))


def ideal_order(by: JudgedIntents, gain: Array, part: Part, lists: Lists, cut: int | None) -> tuple[Ints, Ints]:
    """The rows of every topic's documents in an ideal order, as far as they gain, and where those of each topic start.

    Greedy choice (Clarke et al., 2008): at every rank the document that brings most, given those above it; of several
    the last by docno, as ndeval has it. Sorted: by the weighted mean of the gains.
    """
    some = np.flatnonzero(gain > 0)
    gain = gain / gain.max(initial=1e-300)  # 1 where all are the same, so that what ties in theory ties in numbers
    intent = np.searchsorted(by.rows, some, side="right") - 1
    row, topic = by.row[some], by.topic[intent]
    docs = np.unique(row)  # by topic, as rows are
    if "docno" not in by.made:
        by.made["docno"] = _by_docno(lists)
    rank = by.made["docno"][docs]
    first = np.searchsorted(docs, lists.rows)
    place = np.empty(docs.size, np.int64)  # of each document among those of its topic, the last by docno first
    order = np.lexsort((-rank, np.searchsorted(lists.rows, docs, side="right")))
    owner = np.searchsorted(first, np.arange(docs.size), side="right") - 1
    place[order] = np.arange(docs.size) - first[owner]
    document = place[np.searchsorted(docs, row)]
    aspects = by.intents
    aspect, weight = intent - aspects[topic], by.weight[intent]
    n, width, height = lists.rows.size - 1, int(np.diff(first).max(initial=0)), int(np.diff(aspects).max(initial=0))
    depth = width if cut is None else min(width, cut)
    fade = 1.0 if part.norm == "sorted" else 1.0 - (part.fade if part.fade is not None else part.novel or 0.0)
    chosen = np.full((n, depth), -1)
    step = max(1, _CELLS // max(width * height, 1))
    for at in range(0, n, step):
        mine = (topic >= at) & (topic < at + step)
        worth = np.zeros((min(step, n - at), height, width))
        worth[topic[mine] - at, aspect[mine], document[mine]] = weight[mine] * gain[some[mine]]
        left, every = np.ones(worth.shape[:2]), np.arange(len(worth))
        for k in range(depth):
            now = (worth * left[:, :, None]).sum(axis=1)  # intent after intent
            best = now.argmax(axis=1)
            found = now[every, best] > 0
            if not found.any():
                break
            chosen[at + every[found], k] = best[found]
            left[worth[every, :, best] > 0] *= fade
            worth[every, :, best] = 0.0
    found = chosen >= 0
    starts = np.concatenate(([0], np.cumsum(found.sum(axis=1))))
    return docs[order][(first[:-1, None] + chosen)[found]], starts


def _by_docno(lists: Lists) -> Ints:
    """The place of each row's document by the bytes of its name; the first last, where they have no names."""
    n = lists.grades.size
    if lists.qrels is None:
        return -np.arange(n)
    docs = lists.qrels.docs
    names = [docs[row].encode("utf-8", "surrogateescape") for row in lists.judgment.tolist()]
    out = np.empty(n, np.int64)
    out[sorted(range(n), key=names.__getitem__)] = np.arange(n)
    return out


def lists_of_intents(grades: Any, ideal: Any, max_grade: float | None, intents: Any) -> Lists:
    """One list, given by the grades of its documents for each intent, and what is known of its topic.

    ``grades`` is a matrix with a row for each document, by rank, and a column for each intent, or ``{intent: grades by
    rank}``; ``ideal`` the same of all judged documents; ``intents`` are the probabilities. One list of numbers is of
    one intent.
    """
    names = [str(name) for name in grades] if isinstance(grades, Mapping) else None
    matrix, more = (_matrix(x, names) for x in (grades, ideal))
    if matrix is None:
        raise MeasureError("grades: found None, expected numbers, a row for each document and a column for each intent")
    names = names or [str(s) for s in range(1, matrix.shape[1] + 1)]
    judged = ~np.isnan(matrix).all(axis=1)
    table = matrix[judged]
    if more is not None:
        if more.shape[1] != matrix.shape[1]:
            raise MeasureError(f"ideal: found {more.shape[1]} intents, expected {matrix.shape[1]}, as the grades have")
        more = more[~np.isnan(more).all(axis=1)]
        graded, rest = np.nan_to_num(more), np.ones(len(more), bool)
        for row in table:
            same = np.flatnonzero(rest & (graded == np.nan_to_num(row)).all(axis=1))
            if same.size:  # the one that is judged for the same intents, if there is one
                rest[same[(np.isnan(more[same]) != np.isnan(row)).sum(axis=1).argmin()]] = False
            elif np.nan_to_num(row).any():
                raise MeasureError("ideal: expected all judged documents, but one of the list is not among them")
        table = np.concatenate((table, more[rest]))
    weight = None
    if intents is not None:
        given = [intents.get(name, 0.0) for name in names] if isinstance(intents, Mapping) else list(intents)
        weight = np.array(given, np.float64)
        if weight.shape != (len(names),) or not (weight >= 0).all() or abs(weight.sum() - 1) > 1e-6:
            raise MeasureError(f"intents {intents!r:.60}: expected {len(names)} probabilities, which sum to 1")
    largest = np.nan_to_num(np.where(np.isnan(table), -np.inf, table).max(axis=1, initial=-np.inf), neginf=0.0)
    top = max(float(largest.max(initial=0.0)), 1.0) if max_grade is None else float(max_grade)
    position = np.flatnonzero(judged) + 1
    out = Lists(
        grades=largest,
        rows=np.array([0, len(table)]),
        topic=np.zeros(1, np.int64),
        length=np.array([len(matrix)]),
        offsets=np.array([0, position.size]),
        position=position,
        row=np.arange(position.size),
        max_grade=top,
    )
    row, subtopic = np.nonzero(~np.isnan(table))
    out.subtopics = Subtopics(names, np.array([0, len(names)]), row, subtopic, table[row, subtopic], weight)
    return out


def _matrix(given: Any, names: list[str] | None) -> Array | None:
    """Grades with a row for each document and a column for each intent."""
    if given is None:
        return None
    if isinstance(given, Mapping):
        given = [given.get(name, ()) for name in (names or [str(name) for name in given])]
    try:
        array = np.array(given, np.float64)
        array = array.T if names is not None else array
        array = array[:, None] if array.ndim == 1 else array
        if array.ndim != 2 or np.isinf(array).any():
            raise ValueError
    except (TypeError, ValueError):
        raise MeasureError(
            f"grades {given!r:.60}: expected finite numbers, a row for each document and a column for each intent"
        ) from None
    return array
