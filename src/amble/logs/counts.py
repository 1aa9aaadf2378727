"""Counts of a click log by group of sessions: moves, steps, last clicks, dwell times.

Every session is in one of `GROUPS` groups, at random. All that is estimated is a function of sums over groups, so that
sessions are resampled, and some held out, without reading the log again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from amble.arrays import Array, NDArray
from amble.logs.engine import Engine
from amble.logs.page_counts import GradedPages, count_graded_pages, gain_sql

if TYPE_CHECKING:
    from amble.logs.query_rates import QueryRates
    from amble.logs.study import Records

__all__ = [
    "GROUPS", "OBSERVATIONS", "RANGE", "Counts", "Facts", "GapCounts", "count", "gap_counts", "gap_quartiles",
    "reading",
]  # fmt: skip

GROUPS = 1000
OBSERVATIONS = {
    "last": "last click: reads down to the deepest click and stops there; pages without a click are left out",
    "cascade": "cascade: reads down to the first click and stops there; without a click reads to the end",
    "dependent": "dependent click: may stop after a click only, and stops after the deepest; without a click reads to "
    "the end",
    "sdbn": "simplified DBN: stops when a clicked document satisfies, equally likely at every rank; without a click "
    "reads to the end",
}
_MOST_CELLS = 2000  # ranks times grades, of which steps are counted by both
_EXACT = 20_000_000  # gaps whose quartiles are exact; those of more are sketched, as all would have to be in memory


@dataclass(frozen=True)
class Facts:
    """Facts about a log: how much was read, and how much was left out.

    Parameters
    ----------
    records, sessions, pages, clicks : int
        Lines or rows; sessions; query sessions, that is pages of results; clicks on a page's own results.
    moves, backward, repeated : int
        From one click to the next on the same page; those to a higher place, and to the same one.
    quartiles : tuple of float
        Of the seconds between them; NaN without times.
    broken, elsewhere, beyond : int
        Records that were skipped; clicks on what was not on the page; clicks deeper than was looked at.
    grades : tuple of float
        Those of documents on the pages.
    judged : int
        Documents on pages of which the grade is known.
    backward_sessions : int
        Sessions with a move to a higher place.
    fixations, persons : int
        Records of gaze; persons, 0 if they are not known.
    dwell : bool
        Whether times are durations that the log has, not those from one click to the next.
    queries : int
        Queries whose times are used, where that was asked for.
    """

    records: int
    sessions: int
    pages: int
    clicks: int
    moves: int
    backward: int
    repeated: int
    quartiles: tuple[float, float, float]
    broken: int = 0
    elsewhere: int = 0
    beyond: int = 0
    grades: tuple[float, ...] = ()
    judged: int = 0
    backward_sessions: int = 0
    fixations: int = 0
    persons: int = 0
    dwell: bool = False
    queries: int = 0


@dataclass(frozen=True, eq=False)
class Counts:
    """Counts by group; the group is the first axis.

    Parameters
    ----------
    facts : Facts
    depth : int
        The deepest rank looked at, n.
    pages : (groups,) array
        Query sessions.
    moves : (groups, n + 1, n + 1) array
        From rank to rank; from 0: the first click, to 0: no further one.
    extremes : (groups, n + 1, n + 1) array
        Pages by their highest and their deepest clicked rank; 0, 0: without a click.
    clicked : (groups, n) array
        Pages with a click at the rank.
    dwell : (groups, n, 2) array
        Visits to the rank that ended in a move, and the seconds they took.
    dwell_censored : (groups, n, 2) array
        The same of all visits of which the end is known, also by another query or by the end of the session; those
        that took longer than `longest` count as not ended, with that many seconds.
    longest : float
    steps : (groups, grades, n or 3, 3) array
        With grades: steps forward, back and stops (last axis) at documents of a grade at each rank; or, where that
        would be too many numbers, at the first rank, in between, and at the last one.
    goal_counts : dict
        By observation, with grades: (groups, cells, 2) pages that reached a rank with a gain, and that stopped there.
    goal_cells : dict
        By observation: (cells, 2) rank and gain so far.
    records : dict
        By observation, where that was asked for: `Records` for a study of continuation.
    query_rates : QueryRates, optional
    by : str
        The column that says in which group a page is.
    groups : dict of str to Counts
        Of each group apart.
    onward : (groups, n + 1) array
        Pages that another query of their session came after, by the rank of their last click; 0: without a click.
    graded : GradedPages, optional
        With grades: what pages showed, and where they were left; of all groups, whatever the other counts are of.
    """

    facts: Facts
    depth: int
    pages: Array
    moves: Array
    extremes: Array
    clicked: Array
    dwell: Array
    dwell_censored: Array
    longest: float
    steps: Array = field(default_factory=lambda: np.zeros((0, 0, 0, 3)))
    goal_counts: Mapping[str, Array] = field(default_factory=dict)
    goal_cells: Mapping[str, Array] = field(default_factory=dict)
    records: Mapping[str, Records] = field(default_factory=dict)
    query_rates: QueryRates | None = None
    by: str = ""
    groups: Mapping[str, Counts] = field(default_factory=dict)
    onward: Array = field(default_factory=lambda: np.zeros((0, 0)))
    graded: GradedPages | None = None

    def weighted(self, weights: Array) -> Counts:
        """Sums over groups, one for each row of weights; what was the axis of groups is that of rows."""

        def summed(x: Array) -> Array:
            return np.asarray((weights @ x.reshape(x.shape[0], -1)).reshape(len(weights), *x.shape[1:]))

        names = ("pages", "moves", "extremes", "clicked", "dwell", "dwell_censored")
        parts: dict[str, Any] = {name: summed(getattr(self, name)) for name in names}
        parts |= {name: summed(x) for name in ("steps", "onward") if (x := getattr(self, name)).size}
        return replace(self, **parts, goal_counts={name: summed(x) for name, x in self.goal_counts.items()})

    def whole(self) -> Counts:
        """Sums over all groups."""
        return self.weighted(np.ones((1, len(self.pages))))

    @property
    def present(self) -> NDArray[np.int64]:
        """The groups that have sessions."""
        return np.flatnonzero(self.pages > 0)


def count(
    engine: Engine,
    depth: int,
    longest: float,
    facts: Facts,
    max_grade: float | None,
    rel: float | None = None,
    *,
    timed: str = "next > 0",
    by_query: bool = False,
) -> Counts:
    """Counts of the tables ``visits``, ``pages`` and, with grades, ``shown``; times of visits that are ``timed``."""
    n = depth
    found = engine.columns("select g, rank, next, first, count(*) n from visits group by all")
    moves = np.zeros((GROUPS, n + 1, n + 1))
    g, rank, to, size = (np.asarray(found[key], np.int64) for key in ("g", "rank", "next", "n"))
    np.add.at(moves, (g, rank, to), size)
    opening = np.asarray(found["first"], bool)
    np.add.at(moves, (g[opening], 0, rank[opening]), size[opening])
    pages = np.zeros(GROUPS)
    found = engine.columns("select g, count(*) n from pages group by g")
    pages[np.asarray(found["g"], np.int64)] = found["n"]
    extremes, clicked = _extremes(engine, n, pages)
    times = (
        f"select g, rank, count(*) filter ({timed}) n, sum(held) filter ({timed}) t, "
        f"count(*) filter (held <= {longest!r}) m, sum(least(held, {longest!r})) u "
        f"from visits where held is not null{' and page in (select page from asked)' * by_query} group by g, rank"
    )
    found = engine.columns(times)
    dwell, censored = np.zeros((GROUPS, n, 2)), np.zeros((GROUPS, n, 2))
    at = (np.asarray(found["g"], np.int64), np.asarray(found["rank"], np.int64) - 1)
    for out, names in ((dwell, "nt"), (censored, "mu")):
        for i, name in enumerate(names):
            out[(*at, i)] = np.ma.filled(np.ma.asarray(found[name], np.float64), 0.0)
    counts = Counts(facts, n, pages, moves, extremes, clicked, dwell, censored, longest)
    if facts.judged and max_grade:
        cells = {name: _goal_counts(engine, name, n, gain_sql("grade", max_grade, rel)) for name in OBSERVATIONS}
        counts = replace(
            counts,
            steps=_steps(engine, n, facts.grades),
            goal_counts={name: x[1] for name, x in cells.items()},
            goal_cells={name: x[0] for name, x in cells.items()},
            graded=count_graded_pages(engine, n, GROUPS, max_grade, rel),
        )
    return counts


def _extremes(engine: Engine, n: int, pages: Array) -> tuple[Array, Array]:
    engine.run(
        "create or replace table deepest as select any_value(g) g, page, min(rank) high, max(rank) deep, "
        "bit_or(1::hugeint << rank) clicked from visits group by page"
    )
    found = engine.columns("select g, high, deep, count(*) n from deepest group by all")
    extremes = np.zeros((GROUPS, n + 1, n + 1))
    extremes[tuple(np.asarray(found[key], np.int64) for key in ("g", "high", "deep"))] = found["n"]
    extremes[:, 0, 0] = pages - extremes.sum(axis=(1, 2))
    sums = ", ".join(f"sum((clicked >> {i} & 1)::bigint) c{i}" for i in range(1, n + 1))
    found = engine.columns(f"select g, {sums} from deepest group by g")
    clicked = np.zeros((GROUPS, n))
    for i in range(n):
        clicked[np.asarray(found["g"], np.int64), i] = found[f"c{i + 1}"]
    return extremes, clicked


def _steps(engine: Engine, n: int, grades: tuple[float, ...]) -> Array:
    """Steps by grade of the document left; between two clicks every rank is passed."""
    found = engine.columns(
        f"""
        with steps as (
          select v.g, s.grade, s.rank, 0 as way from visits v join shown s on s.page = v.page
            and (v.next > v.rank and s.rank >= v.rank and s.rank < v.next)
          union all
          select v.g, s.grade, s.rank, 0 from visits v join shown s on s.page = v.page and v.first and s.rank < v.rank
          union all
          select v.g, s.grade, s.rank, 1 from visits v join shown s on s.page = v.page
            and (v.next > 0 and v.next < v.rank and s.rank <= v.rank and s.rank > v.next)
          union all
          select v.g, s.grade, s.rank, 2 from visits v join shown s on s.page = v.page
            and v.next = 0 and s.rank = v.rank)
        select g, grade, rank, way, count(*) n from steps where rank <= {n} group by all"""
    )
    places = n if len(grades) * n <= _MOST_CELLS else 3
    out = np.zeros((GROUPS, len(grades), places, 3))
    of = np.searchsorted(np.array(grades), np.asarray(found["grade"], np.float64))
    g, rank, way = (np.asarray(found[key], np.int64) for key in ("g", "rank", "way"))
    place = rank - 1 if places == n else (rank > 1).astype(np.int64) + (rank == n)
    np.add.at(out, (g, of, place, way), np.asarray(found["n"], float))
    return out


def reading(observation: str, n: int, gain: str | None) -> str:
    """Of pages (with grades, of those with a judged document): each rank that was reached, as SQL.

    Columns g, page, k, the rank, all but the last; stop, where it ended; gain, so far: the sum of ``gain``, an
    expression in the grade, down to the rank.
    """
    never = n + 1
    stop = {"last": "d.deep", "cascade": f"coalesce(d.high, {never})"}.get(observation, f"coalesce(d.deep, {never})")
    ends = (
        f"select p.g, p.page, {stop} as stop from pages p {'join' if observation == 'last' else 'left join'} deepest d "
        "on d.page = p.page"
    )
    ranks = f"(select unnest(range(1, {n})) k) r on r.k <= e.stop"
    if gain is None:
        return f"select e.g, e.page, e.stop, r.k, 0.0 as gain from ({ends}) e join {ranks}"
    return f"""
        select e.g, e.page, e.stop, r.k, round(coalesce(sum(s.gain), 0), 9) as gain
        from ({ends} where p.page in (select page from shown)) e join {ranks} left join
          (select page, rank, {gain} as gain from shown) s on s.page = e.page and s.rank <= r.k
        group by e.g, e.page, e.stop, r.k"""


def _goal_counts(engine: Engine, observation: str, n: int, gain: str) -> tuple[Array, Array]:
    """Of pages with a judged document: how many reached each rank with each gain so far, and how many stopped there."""
    found = engine.columns(
        f"select g, k, gain, count(*) n, count(*) filter (k = stop) m from ({reading(observation, n, gain)}) "
        "group by all"
    )
    where = np.stack([np.asarray(found["k"], np.float64), np.asarray(found["gain"], np.float64)], axis=1)
    cells, of = np.unique(where, axis=0, return_inverse=True)
    out = np.zeros((GROUPS, len(cells), 2))
    at = (np.asarray(found["g"], np.int64), of.reshape(-1))
    out[at] = np.stack([np.asarray(found[key], np.float64) for key in "nm"], axis=1)
    return cells, out


def gap_quartiles(engine: Engine, timed: str = "next > 0") -> tuple[float, float, float]:
    """Quartiles of the seconds of visits that are ``timed``: values at 1, 2 and 3 times (n + 1) / 4, interpolated."""
    nothing = float("nan"), float("nan"), float("nan")
    gaps = f"visits where {timed} and held is not null"
    n = int(engine.run(f"select count(*) from {gaps}")[0][0])
    if not n:
        return nothing
    at = [min(max(((n + 1) * share - 1) / max(n - 1, 1), 0.0), 1.0) for share in (0.25, 0.5, 0.75)]
    how = "quantile_cont" if n <= _EXACT else "approx_quantile"
    low, middle, high = engine.run(f"select {how}(held, {at!r}) from {gaps}")[0][0]
    return float(low), float(middle), float(high)


_DISTINCT = 1 << 20  # gaps that are told one by one
RANGE = 16  # ranges of gaps in a second, where there are more


class GapCounts(NamedTuple):
    """The seconds from one click to the next: the distinct ones, ascending, and how often each occurs.

    With ``ranges``, since they are too many, values are numbers of ranges of 1/16 of a second.
    """

    values: Array
    counts: NDArray[np.int64]
    ranges: bool = False


def gap_counts(engine: Engine, ranges: Sequence[int] = (), timed: str = "next > 0", most: int = _DISTINCT) -> GapCounts:
    """The gaps, or those of some ranges, counted; of more than a million different ones, how many are in each range."""
    place = f"floor(held * {RANGE})::bigint"
    gaps = f"visits where {timed} and held is not null"
    gaps += f" and {place} in ({', '.join(map(str, ranges))})" if ranges else ""

    def counted(by: str, limit: str) -> tuple[Array, NDArray[np.int64]]:
        found = engine.columns(f"select {by} x, count(*) n from {gaps} group by x order by x{limit}")
        return np.asarray(found["x"], np.float64), np.asarray(found["n"], np.int64)

    each = counted("held", "" if ranges else f" limit {most + 1}")
    return GapCounts(*each) if ranges or len(each[0]) <= most else GapCounts(*counted(place, ""), ranges=True)
