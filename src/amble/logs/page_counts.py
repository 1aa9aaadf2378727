"""Counts of pages: with grades, what each showed and where it was left; in sessions, which were left for a query.

A user who looks at what is shown has another distribution of the last rank on every page, so that sums by rank will not
do: pages that show the same grades are counted together, by the rank of their last click.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from amble.arrays import Array, Ints
from amble.logs.engine import Engine

__all__ = ["MOST_PAGES", "GradedPages", "count_graded_pages", "count_onward"]

MOST_PAGES = 100_000  # with grades, that are counted one by one; of more, whole groups of sessions are left out


@dataclass(frozen=True, eq=False)
class GradedPages:
    """Pages that show judged documents, and have a click.

    Parameters
    ----------
    grades : (patterns, n) array
        What is shown, each once; NaN: unjudged.
    group, pattern, last, pages : arrays of int
        Of each group of sessions and pattern: the rank of the last click, from 1, and how many pages have it.
    max_grade : float
        The grade whose gain is 1.
    rel : float, optional
        The least grade whose gain is 1; that of others is then 0.

    Examples
    --------
    >>> import numpy as np
    >>> from amble.logs.page_counts import GradedPages
    >>> group, pattern, last, pages = np.array([[3, 5], [0, 0], [1, 3], [4, 1]])
    >>> shown = GradedPages(np.array([[2.0, np.nan, 1.0]]), group, pattern, last, pages, max_grade=2.0)
    >>> shown.gains, shown.last_ranks(np.ones(8)), shown.last_ranks(np.eye(8)[5])
    (array([[1. , 0. , 0.5]]), array([[4., 0., 1.]]), array([[0., 0., 1.]]))
    """

    grades: Array
    group: Ints
    pattern: Ints
    last: Ints
    pages: Ints
    max_grade: float
    rel: float | None = None

    @cached_property
    def gains(self) -> Array:
        """The gain at each rank."""
        known = np.nan_to_num(self.grades, nan=-np.inf)
        if self.rel is not None:
            return np.asarray(known >= self.rel, np.float64)
        return np.asarray(np.maximum(known, 0.0) / self.max_grade)

    @cached_property
    def seen(self) -> Array:
        """The gain so far, at each rank."""
        return np.asarray(np.round(np.cumsum(self.gains, axis=1), 9))

    def last_ranks(self, weights: Array) -> Array:
        """How many pages of each pattern were left at each rank, with a weight for each group of sessions."""
        cells = self.pattern * self.grades.shape[1] + self.last - 1
        sums = np.bincount(cells, self.pages * weights[self.group], self.grades.size)
        return np.asarray(sums.reshape(self.grades.shape))


def gain_sql(grade: str, max_grade: float, rel: float | None) -> str:
    """The gain of a grade, as SQL."""
    return f"greatest({grade}, 0) / {max_grade!r}" if rel is None else f"({grade} >= {rel!r})::double"


def count_graded_pages(engine: Engine, n: int, groups: int, max_grade: float, rel: float | None) -> GradedPages:
    """The pages of the tables ``visits`` and ``shown``: all, or those of the first groups of sessions."""
    many = int(engine.run("select count(distinct page) from shown")[0][0])
    most = groups if many <= MOST_PAGES else max(groups * MOST_PAGES // many, 2)
    found = engine.columns(
        f"""
        with ends as (select g, page, rank as last from visits where next = 0 and g < {most}),
        lists as (
          select any_value(e.g) g, any_value(e.last) as last, list(s.rank order by s.rank) ranks,
            list(s.grade order by s.rank) grades
          from ends e join shown s on s.page = e.page where s.rank <= {n} group by e.page)
        select g, last, ranks, grades, count(*) n from lists group by all order by all"""
    )
    places: dict[bytes, int] = {}
    pattern = np.zeros(len(found["g"]), np.int64)
    for i, (ranks, grades) in enumerate(zip(found["ranks"], found["grades"], strict=True)):
        row = np.full(n, np.nan)
        row[np.asarray(ranks, np.int64) - 1] = np.asarray(grades, np.float64)
        pattern[i] = places.setdefault(row.tobytes(), len(places))
    shown = np.frombuffer(b"".join(places), np.float64).reshape(-1, n)
    group, last, pages = (np.asarray(found[key], np.int64) for key in ("g", "last", "n"))
    return GradedPages(shown, group, pattern, last, pages, 1.0 if rel is not None else max_grade, rel)


def count_onward(engine: Engine, n: int, pages: Array, *, ordered: bool, who: str = "session") -> Array:
    """Pages that another query of their session came after, by group and the rank of the last click; 0: without one."""
    order = "max(page)" if ordered else "arg_max(page, {'time': coalesce(time, 0), 'place': rowid})"
    engine.run(
        f"create or replace table finals as select any_value({who}) who, {order} page from events where why = 0 "
        "group by events.session"
    )
    groups = len(pages)
    final, ended = np.zeros(groups), np.zeros((groups, n + 1))
    found = engine.columns(f"select (who % {groups})::usmallint g, count(*) n from finals group by all")
    final[np.asarray(found["g"], np.int64)] = found["n"]
    found = engine.columns(
        "select g, rank, count(*) filter (page in (select page from finals)) n, count(*) m "
        "from visits where next = 0 group by all"
    )
    at = np.asarray(found["g"], np.int64), np.asarray(found["rank"], np.int64)
    last = np.zeros((groups, n + 1))
    last[at], ended[at] = found["m"], found["n"]
    out = last - ended
    out[:, 0] = pages - final - out.sum(axis=1)
    return out
