"""Residuals: how much better a score could be, and its least and greatest value, if unjudged documents were judged.

A score with unjudged documents is one of many. For most users the ends are "none of them gains anything" and "all of
them gain the most" (and, for users who read on, so does everything beyond the list, down to rank k of ``@k``). Measures
that divide by the recall base or by an ideal list may be least or greatest in between; so one list is tried with its k
highest and with its k lowest unjudged documents relevant, for every k.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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

_CHUNK = 32  # lists at once: more are no quicker
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
    """The least and the greatest score, if each unjudged document of one list has grade 0 or the largest one."""
    if measure.declaration.of_intents:
        measure.members_of(Lists.of_grades([]))  # refuses
    if measure.declaration.family == "counts":
        raise MeasureError(f"{measure} counts judgments, so judging more documents gives no interval of it")
    if measure.is_population:
        ends = [(w, residual_interval(one, grades, **context)) for w, one in measure.members]
        return sum(w * low for w, (low, _) in ends), sum(w * high for w, (_, high) in ends)
    given = np.array(grades, np.float64, ndmin=1)
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

    Of a population, the mean over its users of each user's residual. Documents below rank k of ``@k`` are not
    judged: they could gain nothing.
    """
    return residuals_of([measure], lists)[0]


def residuals_of(
    measures: Sequence[ListMeasure], lists: Lists, progress: Callable[[int, int], None] | None = None
) -> list[Array]:
    """The residuals of several measures: lists are filled once for all of them."""
    if lists.ties is not None:
        raise MeasureError("residuals with ties='expected': unjudged documents have no one rank; use ties='docno'")
    out = [np.zeros(lists.n) for _ in measures]
    users = [
        (extra, np.broadcast_to(w, lists.n), one, one.scores(lists))
        for extra, m in zip(out, measures, strict=True)
        for w, one in m.members_of(lists)
    ]
    largest = lists.max_grade if lists.max_grade > 0 else 1.0
    # a relevant one, if there is none yet
    most = [max(largest, float(m.values["rel"])) if "rel" in m.values else largest for _, _, m, _ in users]
    how = [(g, m.deepest, _sees_beyond(m)) for g, (_, _, m, _) in zip(most, users, strict=True)]
    alike: dict[tuple[float, int | None, bool], list[ListMeasure]] = {}
    for key, (_, _, m, _) in zip(how, users, strict=True):
        alike.setdefault(key, []).append(m)
    known = {key: (_seen(each, lists), _extended(each[0], np.asarray(lists.length))) for key, each in alike.items()}
    for start in range(0, lists.n, _CHUNK):
        chunk = np.arange(start, min(start + _CHUNK, lists.n))
        filled = {key: _filled(lists, chunk, key[0], key[1], *of) for key, of in known.items()}
        for (extra, w, one, scored), key in zip(users, how, strict=True):
            extra[chunk] += w[chunk] * np.maximum(one.sign * (_best(one, filled[key], key[0]) - scored[chunk]), 0.0)
        for each in filled.values():
            each.forget()
        if progress is not None:
            progress(int(chunk[-1]) + 1, lists.n)
    return out


class _Seen(NamedTuple):
    """Judgments that some measures see: their grades, rows in the qrels, and where topics start; the number of each."""

    grades: Array
    judgment: Ints
    rows: Ints
    number: Ints  # of every judgment of the lists: -2 if it is not among these


def _seen(measures: Sequence[ListMeasure], lists: Lists) -> _Seen:
    """The judgments of documents that may gain something; all, where one of the measures is no user."""
    kept = np.zeros(lists.grades.size, bool)
    for m in measures:
        d = m.declaration
        kept |= m.gains_of(lists).judged.gainful if d.is_user and not d.of_intents and "grade" not in d.seen else True
    upto = np.concatenate(([0], np.cumsum(kept)))
    return _Seen(lists.grades[kept], lists.judgment[kept], upto[lists.rows], np.where(kept, upto[:-1], -2))


def _filled(
    lists: Lists, chunk: NDArray[np.int64], most: float, k: int | None, seen: _Seen, length: NDArray[np.int64]
) -> Lists:
    """Some lists, each with a topic of its own in which its unjudged documents, down to rank k, have the best grade.

    Lists that are to be longer than they are go on with unjudged documents.
    """
    hits = slice(int(lists.offsets[chunk[0]]), int(lists.offsets[chunk[-1] + 1]))
    topic, length = lists.topic[chunk], length[chunk]
    # the judgments of each list's topic, and behind them the new ones
    begin, judged = seen.rows[topic], seen.rows[topic + 1] - seen.rows[topic]
    owner, position = lists.list[hits] - chunk[0], np.asarray(lists.position[hits], np.int64)
    own_row = seen.number[lists.row[hits]]
    own_row = np.where(own_row < 0, own_row, own_row - begin[owner])  # counted from its topic's first judgment
    # the same of every rank down to k, list after list; -1 where nothing is judged
    down_to = length if k is None else np.minimum(length, k)
    start = np.concatenate(([0], np.cumsum(down_to)))
    of = np.repeat(np.arange(chunk.size), down_to)
    row = np.full(of.size, -1)
    above = np.full(position.size, True) if k is None else position <= k
    row[start[owner[above]] + position[above] - 1] = own_row[above]
    unknown = np.flatnonzero(row == -1)
    new = np.bincount(of[unknown], minlength=chunk.size)
    upto = np.cumsum(new) - new
    row[unknown] = np.arange(unknown.size) + (judged - upto)[of[unknown]]
    rank = np.arange(1, of.size + 1) - start[of]
    if k is not None:  # what is judged further down
        of, rank, row = (np.append(x, y[~above]) for x, y in ((of, owner), (rank, position), (row, own_row)))
        order = np.argsort(of, kind="stable")
        of, rank, row = of[order], rank[order], row[order]
    there = np.flatnonzero(row >= 0)
    of, rank, row = of[there], rank[there], row[there]
    rows = np.concatenate(([0], np.cumsum(judged + new)))
    own, _ = hits_of(seen.rows, topic)
    place = np.arange(own.size) + np.repeat(upto, judged)
    grades, judgment = np.full(rows[-1], most), np.full(rows[-1], -1)
    grades[place], judgment[place] = seen.grades[own], seen.judgment[own]
    return Lists(
        grades=grades,
        rows=rows,
        topic=np.arange(chunk.size),
        length=length,
        offsets=np.searchsorted(of, np.arange(chunk.size + 1)),
        position=rank,
        row=row + rows[of],
        max_grade=most,
        qrels=lists.qrels,
        judgment=judgment,
        costs=None if lists.costs is None else lists.costs.of(chunk),
    )
