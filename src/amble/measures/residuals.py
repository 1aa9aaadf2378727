"""Residuals: how much better a score could be, and its least and greatest value, if unjudged documents were judged.

A score with unjudged documents is one of many. For most users the ends are "none of them gains anything" and "all of
them gain the most" (and, for users who read on, so does everything beyond the list, down to rank k of ``@k``). Measures
that divide by the recall base or by an ideal list may be least or greatest in between; so one list is tried with its k
highest and with its k lowest unjudged documents relevant, for every k.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from amble.arrays import ArrayLike, Ints, NDArray
from amble.errors import MeasureError
from amble.rankings.lists import Lists, hits_of
from amble.users.protocol import Question

if TYPE_CHECKING:
    from amble.measures.list_measure import ListMeasure

__all__ = ["bounds", "list_residuals", "residual_interval", "residuals_of"]

Array = NDArray[np.float64]

_CHUNK = 32  # lists filled at once, or more if they have …
_CELLS = 1 << 15  # ranks and judgments at most: beyond that it is no quicker
_NEW, _SEEN = np.int8(1), np.int8(2)  # documents that are unjudged, and whose judgment makes a difference
_OPEN = -3  # the number of a judgment below 0: its document is in the pool, and yet to be judged
_FURTHER = 1000  # ranks beyond a list at which a user who looks at the grades is followed


def bounds(measure: ListMeasure) -> bool:
    """Whether score and score plus residual bound the score whatever the grades of unjudged documents."""
    return not measure.of_intents and all(_bounds(one) for _, one in measure.members)


def _bounds(one: ListMeasure) -> bool:
    d = one.declaration
    if d.rises or d.norm is not None or not one.is_static:
        return d.rises
    # all that is beyond the list counts
    return one.ends or one.question is Question.ORDER2 or (one.question is Question.ORDER1 and one.one_user.has_order1)


def residual_interval(measure: ListMeasure, grades: ArrayLike, **context: Any) -> tuple[float, float]:
    """The least and the greatest score, if each unjudged document of one list has grade 0 or the largest one.

    Documents of a grade below 0 are unjudged, too: they are in the pool, but nobody has judged them yet.
    """
    if measure.declaration.of_intents:
        measure.members_of(Lists.of_grades([]))  # refuses
    if measure.declaration.family == "counts":
        raise MeasureError(f"{measure} counts judgments, so judging more documents gives no interval of it")
    if measure.is_population:
        ends = [(w, residual_interval(one, grades, **context)) for w, one in measure.members]
        return sum(w * low for w, (low, _) in ends), sum(w * high for w, (_, high) in ends)
    given = np.array(grades, np.float64, ndmin=1)
    given[given < 0] = np.nan
    unknown = np.flatnonzero(np.isnan(given))
    known = given[~np.isnan(given)]
    most = context.get("max_grade") or max([1.0, float(measure.values.get("rel", 1)), *known.tolist()])
    inner = dict(context)
    if measure.values.get("max_grade", 0) is None:
        inner["max_grade"] = most
    seen: list[float] = []
    for k in range(unknown.size + 1):
        for chosen in {tuple(unknown[:k].tolist()), tuple(unknown[unknown.size - k :].tolist())}:
            filled = np.where(np.isnan(given), 0.0, given)
            filled[list(chosen)] = most
            here = dict(inner)
            if here.get("relevant") is not None:
                here["relevant"] = here["relevant"] + k
            if here.get("ideal") is not None:
                rest = [0.0] * (unknown.size - k)
                here["ideal"] = [*np.asarray(here["ideal"], np.float64).tolist(), *[most] * k, *rest]
            seen.append(measure.value(filled, **here))
            if k == unknown.size:
                more = int(_extended(measure, np.array([given.size]))[0]) - given.size
                if here.get("relevant") is not None:
                    here["relevant"] += more
                if here.get("ideal") is not None:
                    here["ideal"] = [*here["ideal"], *[most] * more]
                longer = measure.gains_of_grades(np.append(filled, np.full(more, most)), **here).lists
                seen.append(float(_best(measure, longer, most)[0]))
    return min(seen), max(seen)


def _gain_of(measure: ListMeasure, grade: float) -> float:
    """The gain of a grade, the largest there is."""
    return float(measure.declaration.gain.make(measure.values).function(np.array([grade]), grade)[0])


def _extended(measure: ListMeasure, length: NDArray[Any]) -> NDArray[np.int64]:
    """The lengths to which lists are filled: a user who looks at the grades sees those that could be beyond a list."""
    if not _sees_beyond(measure):
        return np.asarray(length, np.int64)
    further = length + _FURTHER
    down_to = further if measure.deepest is None else np.minimum(further, measure.deepest)
    return np.asarray(np.maximum(length, down_to), np.int64)


def _sees_beyond(measure: ListMeasure) -> bool:
    """Whether what could be beyond a list makes a difference to what the user does there."""
    return measure.declaration.is_user and measure.question is Question.ORDER2 and measure.one_user.sees_beyond


def _best(measure: ListMeasure, lists: Lists, most: float) -> Array:
    """The scores of lists, and what users who read on gain beyond them, if all that is there gains the most.

    What a score is divided by (the recall base, an ideal list) would grow with it, so that nothing is added there.
    """
    best = measure.scores(lists)
    if not measure.declaration.is_user or measure.declaration.norm is not None:
        return best
    with measure.wrap_errors():
        gains = measure.gains_of(lists)
        return np.asarray(best + measure.one_user.unseen(measure.question, gains, _gain_of(measure, most)))


def list_residuals(measure: ListMeasure, lists: Lists) -> Array:
    """The residual of every list: how much better the score is if all unjudged documents gain the most, at least 0.

    Of a population, the mean over its users of each user's residual. Documents of a grade below 0 are unjudged: in the
    pool, and yet to be judged. Documents below rank k of ``@k`` stay as they are: they could gain nothing.
    """
    return residuals_of([measure], lists)[0]


def residuals_of(
    measures: Sequence[ListMeasure], lists: Lists, progress: Callable[[int, int], None] | None = None
) -> list[Array]:
    """The residuals of several measures: lists are filled once for all that see the same of them."""
    if lists.ties is not None:
        raise MeasureError("residuals with ties='expected': unjudged documents have no one rank; use ties='docno'")
    users = [(j, w, one) for j, m in enumerate(measures) for w, one in m.members_of(lists)]
    alike: dict[tuple[float, int | None, bool, bool], list[int]] = {}
    largest = lists.max_grade if lists.max_grade > 0 else 1.0
    for u, (_, _, m) in enumerate(users):
        # a relevant one, if there is none yet
        most = max(largest, float(m.values["rel"])) if "rel" in m.values else largest
        alike.setdefault((most, m.deepest, _sees_all(m), _sees_beyond(m)), []).append(u)
    left = [np.zeros(lists.n) for _ in users]
    done, total = 0, lists.n * len(alike)
    for (most, k, *_), some in alike.items():
        each = [users[u][2] for u in some]
        length = _extended(each[0], np.asarray(lists.length))
        scored, seen = [m.scores(lists) for m in each], _seen(each, lists)
        for chunk in _chunks(lists, k, each, seen):
            filled = _filled(lists, chunk, most, k, seen, length[chunk])
            for u, m, before in zip(some, each, scored, strict=True):
                left[u][chunk] = np.maximum(m.sign * (_best(m, filled, most) - before[chunk]), 0.0)
            filled.forget()
            done += filled.n
            if progress is not None:
                progress(done, total)
    out = [np.zeros(lists.n) for _ in measures]
    for (j, w, _), extra in zip(users, left, strict=True):
        out[j] += w * extra
    return out


def _chunks(lists: Lists, k: int | None, measures: Sequence[ListMeasure], seen: _Seen) -> Iterator[slice]:
    """The lists that are filled together: more where their users stop at an early rank k and see few judgments."""
    size = _CHUNK
    if k is not None and all(m.by_list and (m.ends or m.cut is None or m.one_user.depth == k) for m in measures):
        judged = int(np.diff(seen.rows)[lists.topic].sum()) // max(lists.n, 1)
        size = max(_CELLS // (k + judged), _CHUNK)
    for start in range(0, lists.n, size):
        yield slice(start, min(start + size, lists.n))


class _Seen(NamedTuple):
    """Judgments that some measures see: their grades, rows in the qrels, and where topics start; the number of each."""

    grades: Array
    judgment: Ints
    rows: Ints
    number: Ints  # of every judgment of the lists: below 0 if it is not among these


def _sees_all(measure: ListMeasure) -> bool:
    """Whether judged documents that gain nothing make a difference, as they do not to users who look at gains only."""
    d = measure.declaration
    return not d.is_user or d.of_intents or "grade" in d.seen


def _seen(measures: Sequence[ListMeasure], lists: Lists) -> _Seen:
    """The judgments that may make a difference to measures that see the same."""
    kept = np.zeros(lists.grades.size, bool)
    for m in measures:
        kept |= True if _sees_all(m) else m.gains_of(lists).judged.gainful
    kept &= lists.grades >= 0
    upto = np.concatenate(([0], np.cumsum(kept)))
    number = np.where(kept, upto[:-1], np.where(lists.grades < 0, _OPEN, -1))
    return _Seen(lists.grades[kept], lists.judgment[kept], upto[lists.rows], number)


def _filled(lists: Lists, some: slice, most: float, k: int | None, seen: _Seen, length: Ints) -> Lists:
    """Some lists, each with a topic of its own in which its unjudged documents, down to rank k, have the best grade.

    Lists that are to be longer than they are go on with unjudged documents.
    """
    n = length.size
    hits = slice(int(lists.offsets[some.start]), int(lists.offsets[some.start + n]))
    owner = np.repeat(np.arange(n), np.diff(lists.offsets[some.start : some.start + n + 1]))
    topic, number = lists.topic[some], seen.number[lists.row[hits]]
    # of all ranks down to k, list after list: those of documents that are unjudged, or seen
    down_to = length if k is None else np.minimum(length, k)
    start = np.cumsum(down_to) - down_to
    at = np.asarray(lists.position[hits], np.int64)
    judged_above = number != _OPEN
    if k is not None:  # what is judged further down makes a difference to nobody who looks at gains only
        judged_above &= at <= k
    if not judged_above.all():
        at, owner, number = at[judged_above], owner[judged_above], number[judged_above]
    new = down_to - np.bincount(owner, minlength=n)
    at += start[owner] - 1
    kind = np.full(int(down_to.sum()), _NEW)
    kind[at] = np.where(number < 0, 0, _SEEN)
    ranks = np.flatnonzero(kind)
    kind = kind[ranks]
    known = np.flatnonzero(number >= 0)
    owner, number = owner[known], number[known]
    count = new + np.bincount(owner, minlength=n)
    # the judgments of each list's topic, and behind them the new ones
    begin, judged = seen.rows[topic], seen.rows[topic + 1] - seen.rows[topic]
    rows = np.concatenate(([0], np.cumsum(judged + new)))
    row = np.empty(ranks.size, np.int64)
    row[kind == _NEW] = np.arange(int(new.sum())) + np.repeat(np.cumsum(judged), new)
    row[kind == _SEEN] = number + (rows[:-1] - begin)[owner]
    own, _ = hits_of(seen.rows, topic)
    place = np.arange(own.size) + np.repeat(np.cumsum(new) - new, judged)
    grades, judgment = np.full(rows[-1], most), np.full(rows[-1], -1)
    grades[place], judgment[place] = seen.grades[own], seen.judgment[own]
    return Lists(
        grades=grades,
        rows=rows,
        topic=np.arange(n),
        length=length,
        offsets=np.concatenate(([0], np.cumsum(count))),
        position=ranks - np.repeat(start - 1, count),
        row=row,
        max_grade=most,
        qrels=lists.qrels,
        judgment=judgment,
        costs=None if lists.costs is None else lists.costs.of(np.arange(lists.n)[some]),
    )
