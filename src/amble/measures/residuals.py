"""Residuals: how much a score could rise, and its least and greatest value, if unjudged documents were judged.

A score with unjudged documents is one of many. For most users the ends are "none of them gains anything" and "all of
them gain the most" (and, for users who read on, so does everything beyond the list, down to rank k of ``@k``). Measures
that divide by the recall base or by an ideal list may be least or greatest in between; so one list is tried with its k
highest and with its k lowest unjudged documents relevant, for every k.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from amble.errors import MeasureError
from amble.rankings.lists import Lists
from amble.users.forward import Behaviour
from amble.users.walk import Walk
from amble.users.walk_on_list import WalkOnList
from amble.users.walk_scores import walk_on

if TYPE_CHECKING:
    from amble.measures.list_measure import Measure

__all__ = ["bounds", "list_residuals", "residual_interval", "residuals_of"]

Array = NDArray[np.float64]

_CHUNK = 64
_FURTHER = 1000  # ranks beyond a list at which a user who looks at the grades is followed


def bounds(measure: Measure) -> bool:
    """Whether score and score plus residual bound the score whatever the grades of unjudged documents."""
    d = measure.declaration
    static = d.norm is None and measure.members()[0][1].is_static
    return static or d.name in ("RR", "ERR", "INST", "NERR8", "NERR9", "NERR10", "NERR11", "Success")


def residual_interval(measure: Measure, grades: ArrayLike, **context: Any) -> tuple[float, float]:
    """The least and the greatest score, if each unjudged document of one list has grade 0 or the largest one."""
    if measure.declaration.family == "counts":
        raise MeasureError(f"{measure} counts judgments, so judging more documents gives no interval of it")
    if measure.is_population:
        ends = [(w, residual_interval(one, grades, **context)) for w, one in measure.members()]
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
                longer = np.append(filled, np.full(more, most))
                seen.append(measure.value(longer, **here) + _beyond(measure, longer, here, most))
    return min(seen), max(seen)


def _gain_of(measure: Measure, grade: float) -> float:
    """The gain of a grade, the largest there is."""
    return float(measure.declaration.gain.make(measure.values).function(np.array([grade]), grade)[0])


def _reads_on(measure: Measure) -> bool:
    """Whether the user walks down and further than a list does, so that all that is beyond it has its weight."""
    return measure.declaration.question == "order2" and measure.walk_user() is None and not measure.ends


def _extended(measure: Measure, length: NDArray[Any]) -> NDArray[np.int64]:
    """The lengths to which lists are filled: a user who looks at the grades sees those that could be beyond a list."""
    if not _reads_on(measure) or measure.is_static:
        return np.asarray(length, np.int64)
    further = length + _FURTHER
    down_to = further if measure.deepest is None else np.minimum(further, measure.deepest)
    return np.asarray(np.maximum(length, down_to), np.int64)


def _beyond(measure: Measure, filled: Array, context: dict[str, Any], most: float) -> float:
    """The most that a user who reads on could gain beyond the list, down to rank k of ``@k``."""
    d = measure.declaration
    if measure.walk_user() is None and not _reads_on(measure):
        return 0.0
    behaviour, gain = measure.user(filled, **context), _gain_of(measure, most)
    if isinstance(behaviour, WalkOnList):
        return behaviour.worth_beyond(filled.size, 1 if d.question == "order1" else 2, gain, measure.cut)
    return gain * _weight_beyond(behaviour, filled.size, measure.cut)


def _weight_beyond(user: Behaviour, n: int, k: int | None) -> float:
    """The share of attention between ranks n + 1 and k."""
    return user.residual(n) - (0.0 if k is None else user.residual(max(n, k)))


def list_residuals(measure: Measure, lists: Lists) -> Array:
    """The residual of every list: how much the score rises if all unjudged documents gain the most, at least 0.

    Of a population, the mean over its users of each user's residual. Documents below rank k of ``@k`` are not
    judged: they could gain nothing.
    """
    return residuals_of([measure], lists)[0]


def residuals_of(
    measures: Sequence[Measure], lists: Lists, progress: Callable[[int, int], None] | None = None
) -> list[Array]:
    """The residuals of several measures: lists are filled once for all of them."""
    if lists.ties is not None:
        raise MeasureError("residuals with ties='expected': unjudged documents have no one rank; use ties='docno'")
    out = [np.zeros(lists.n) for _ in measures]
    users = [
        (extra, w, one, one.scores(lists)) for extra, m in zip(out, measures, strict=True) for w, one in m.members()
    ]
    largest = lists.max_grade if lists.max_grade > 0 else 1.0
    # a relevant one, if there is none yet
    most = [max(largest, float(m.values["rel"])) if "rel" in m.values else largest for _, _, m, _ in users]
    how = [(g, m.deepest, _reads_on(m) and not m.is_static) for g, (_, _, m, _) in zip(most, users, strict=True)]
    longer = {key: _extended(m, np.asarray(lists.length)) for key, (_, _, m, _) in zip(how, users, strict=True)}
    for start in range(0, lists.n, _CHUNK):
        chunk = np.arange(start, min(start + _CHUNK, lists.n))
        filled = {key: _filled(lists, chunk, key[0], key[1], length) for key, length in longer.items()}
        for (extra, w, one, scored), key in zip(users, how, strict=True):
            extra[chunk] += w * np.maximum(_best(one, filled[key], key[0]) - scored[chunk], 0.0)
        if progress is not None:
            progress(int(chunk[-1]) + 1, lists.n)
    return out


def _best(measure: Measure, filled: Lists, most: float) -> Array:
    """The scores of lists whose unjudged documents gain the most, and what users who read on gain beyond them."""
    best, gain, k = measure.scores(filled), _gain_of(measure, most), measure.cut
    walk = measure.walk_user()
    if walk is not None:
        return best + _beyond_walks(walk, measure, filled, gain)
    if not _reads_on(measure):
        return best
    if measure.is_static:
        user: Any = measure.user(np.zeros(int(filled.length.max(initial=0))))
        lengths, at = np.unique(filled.length, return_inverse=True)
        return best + gain * np.array([_weight_beyond(user, n, k) for n in lengths.tolist()])[at]
    depth, inside = measure.scores_for("depth", filled), measure.scores_for("inside", filled)
    rest = np.where((depth > 0) & (filled.length < (k or np.inf)), depth - inside, 0.0)
    return np.asarray(best + gain * rest / np.where(depth > 0, depth, 1.0))


def _beyond_walks(walk: Walk, measure: Measure, lists: Lists, gain: float) -> Array:
    """The most that an endless walk could gain beyond each list."""
    if walk.beyond != "endless":
        return np.zeros(lists.n)
    order = 1 if measure.declaration.question == "order1" else 2
    walks = (walk_on(walk, lists, i) for i in range(lists.n))
    k = measure.cut
    return np.array([x.worth_beyond(int(n), order, gain, k) for x, n in zip(walks, lists.length, strict=True)])


def _filled(lists: Lists, chunk: NDArray[np.int64], most: float, k: int | None, length: NDArray[np.int64]) -> Lists:
    """Some lists, each with a topic of its own in which its unjudged documents, down to rank k, have the best grade.

    Lists that are to be longer than they are go on with unjudged documents.
    """
    grades, rows, positions, row, offsets = [], [0], [], [], [0]
    for i in chunk.tolist():
        t = int(lists.topic[i])
        own = lists.grades[lists.rows[t] : lists.rows[t + 1]]
        hits = slice(int(lists.offsets[i]), int(lists.offsets[i + 1]))
        n = int(length[i])
        at = np.full(n + 1, -1)
        at[lists.position[hits]] = lists.row[hits] - lists.rows[t]
        unknown = np.flatnonzero(at[1:][:k] < 0) + 1
        at[unknown] = own.size + np.arange(unknown.size)
        judged = np.flatnonzero(at >= 0)
        grades += [own, np.full(unknown.size, most)]
        positions.append(judged)
        row.append(at[judged] + rows[-1])
        rows.append(rows[-1] + own.size + unknown.size)
        offsets.append(offsets[-1] + judged.size)
    return Lists(
        grades=np.concatenate(grades),
        rows=np.array(rows),
        topic=np.arange(chunk.size),
        length=length[chunk],
        offsets=np.array(offsets),
        position=np.concatenate(positions),
        row=np.concatenate(row),
        max_grade=most,
    )
