"""Times by query: the rate of leaving each rank, for every query asked in many sessions (Ferrante et al., 2014).

They are written as lines of a query and its rates by rank, which `MP(rates='mu.tsv')` takes by topic. A query is what
people typed, so nothing of this is kept unless it is asked for.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np

from amble.arrays import Array, Ints
from amble.errors import AmbleError
from amble.io.files import path_name, write_whole
from amble.logs.dwell_times import holding_rates
from amble.logs.engine import Engine
from amble.logs.privacy import default_smallest

__all__ = ["QueryRates", "read_query_rates", "write_query_rates"]


@dataclass(frozen=True, eq=False)
class QueryRates:
    """The times of queries by rank.

    Parameters
    ----------
    queries : tuple of str
    sessions : (queries,) array of int
        In how many each was asked.
    visits, seconds, behind : (queries, n) array
        Visits whose time is known, their times, and how many groups of sessions are behind them.
    least : int
        The least number of sessions that a query was asked in.
    """

    queries: tuple[str, ...]
    sessions: Ints
    visits: Array
    seconds: Array
    behind: Array
    least: int

    def rates(self, i: int, smallest: int) -> Array:
        """The rates of a query at all ranks, (n - 1) / sum of t; where few visits are, ranks are estimated together.

        Neighbours are pooled until there are two visits, and `smallest` sessions behind them: with those after, and at
        the end with those before. Empty, if all ranks together have fewer.
        """
        out, pools, start = np.zeros(self.visits.shape[1]), list[slice](), 0
        for end in range(1, out.size + 1):
            if self._enough(i, slice(start, end), smallest):
                pools.append(slice(start, end))
                start = end
        if not pools:
            return np.zeros(0)
        pools[-1] = slice(pools[-1].start, out.size)
        for pool in pools:
            out[pool] = holding_rates(self.visits[i, pool].sum(), self.seconds[i, pool].sum())
        return out

    def _enough(self, i: int, pool: slice, smallest: int) -> bool:
        # the largest of the ranks: the same sessions may be behind several
        many = self.visits[i, pool].sum() >= 2 and self.seconds[i, pool].sum() > 0
        return bool(many and self.behind[i, pool].max() >= smallest)


def read_query_rates(engine: Engine, n: int, least: int, timed: str) -> QueryRates:
    """The times of the tables ``visits``, ``asked`` and ``events``, of visits that are ``timed``."""
    asked = engine.run(
        "select a.query, count(distinct e.session) from asked a join (select distinct page, session from events "
        "where why = 0) e on e.page = a.page group by a.query order by a.query"
    )
    at = {query: i for i, (query, _) in enumerate(asked)}
    out = np.zeros((3, len(at), n))
    for query, rank, *numbers in engine.run(
        "select a.query, v.rank, count(*), sum(v.held), count(distinct v.g) from visits v join asked a "
        f"on a.page = v.page where v.held is not null and {timed} group by a.query, v.rank"
    ):
        out[:, at[query], rank - 1] = numbers
    return QueryRates(tuple(at), np.array([x for _, x in asked], np.int64), out[0], out[1], out[2], least)


def write_query_rates(path: str | os.PathLike[str], rates: QueryRates, smallest: int | None = None) -> tuple[str, ...]:
    """Write rates by query to a file that measures take by topic; it appears whole or not at all.

    Parameters
    ----------
    path : path
        Its name ends in .tsv.
    rates : QueryRates
        From `read_log` with ``query_rates=True``.
    smallest : int, optional
        Queries of fewer sessions are left out, and ranks with fewer behind them pooled; by default as `fit` has it.

    Returns
    -------
    tuple of str
        What was left out, in words without a query.
    """
    name = path_name(path)
    if not name.endswith(".tsv"):
        raise AmbleError(f"{name}: expected a name that ends in .tsv, as measures know rates by topic by it")
    smallest = default_smallest(int(rates.sessions.sum())) if smallest is None else smallest
    lines, few, odd = list[str](), 0, 0
    for i, query in enumerate(rates.queries):
        found = rates.rates(i, smallest) if rates.sessions[i] >= smallest else np.zeros(0)
        if not query or query.startswith("#") or any(c.isspace() for c in query):
            odd += 1
        elif not found.size:
            few += 1
        else:
            lines.append("\t".join([query, *(f"{x:.6g}" for x in found)]))
    if not lines:
        raise AmbleError(
            f"no query has times and was asked in at least {max(rates.least, smallest)} sessions: no rates by query"
        )
    head = f"# a query, and 1 / the mean seconds of a visit to each rank: (n - 1) / sum of t; {len(lines):,} queries "
    write_whole(name, "\n".join([f"{head}of at least {max(rates.least, smallest):,} sessions", *lines]) + "\n")
    notes = [f"wrote {name}: rates of {len(lines):,} queries, by rank"]
    notes += [f"{few:,} queries with too few times or sessions left out of {name}"] * (few > 0)
    notes += [f"{odd:,} queries with blanks, or # in front, left out of {name}: no topic has such a name"] * (odd > 0)
    return tuple(notes)
