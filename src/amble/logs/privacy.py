"""Disclosure control: counts with few sessions behind them are suppressed or pooled.

A count that few sessions are behind could reveal what one person did. How many sessions are behind a count is not
known, but in how many groups of sessions it is not zero: no more than there are sessions. Where that is less than
`smallest` the count is suppressed. By default that is done in logs of many sessions only: a study of a few hundred
pages, of people who know that they take part, would lose what it was made for. A suppressed count is never taken as
zero: nothing is estimated from it, or it is pooled with its neighbours until their sum may be disclosed. That nobody
did something may be disclosed.
"""

from __future__ import annotations

import numpy as np

from amble.arrays import Array, Bools, Ints

__all__ = [
    "MANY", "SMALLEST", "default_smallest", "disclosable", "disclosed", "enough_sessions", "pool_neighbours",
    "pooling_matrix", "pooling_weights", "shown_count",
]  # fmt: skip

SMALLEST = 10
MANY = 1000  # sessions from which counts are suppressed by default


def default_smallest(sessions: int) -> int:
    """The least number of sessions behind a count that is not suppressed: `SMALLEST` of a log of `MANY`, else none.

    >>> default_smallest(204), default_smallest(8809)
    (0, 10)
    """
    return SMALLEST if sessions >= MANY else 0


def _groups(counts: Array) -> Ints:
    """In how many groups each count is not zero: at most as many as sessions are behind it."""
    return np.asarray((counts > 0).sum(axis=0), np.int64)


def enough_sessions(counts: Array, smallest: int) -> Bools:
    """Whether each count, summed over groups (the first axis), has enough sessions behind it.

    Examples
    --------
    >>> import numpy as np
    >>> from amble.logs.privacy import enough_sessions
    >>> enough_sessions(np.array([[3.0, 1.0], [0.0, 1.0], [9.0, 1.0]]), smallest=3)  # of two groups, of three
    array([False,  True])
    """
    return np.asarray(_groups(counts) >= smallest)


def disclosed(counts: Array, smallest: int) -> Ints:
    """Sums over groups; 0 where too few sessions are behind them."""
    return np.where(enough_sessions(counts, smallest), np.rint(counts.sum(axis=0)), 0).astype(np.int64)


def disclosable(counts: Array, smallest: int) -> Bools:
    """Whether each count, summed over groups (the first axis), has enough sessions behind it, or none."""
    return enough_sessions(counts, smallest) | ~counts.any(axis=0)


def pool_neighbours(counts: Array, smallest: int) -> Ints:
    """Pools of neighbours whose sums may be disclosed: with those after, and if these will not do, those before.

    Parameters
    ----------
    counts : (groups, n, kinds) array
        Counts of each of n places, as ranks.

    Returns
    -------
    (n,) array of int
        For each place, the first of those it is pooled with; -1 for the last ones, if not even the sum of all will do.

    Examples
    --------
    >>> import numpy as np
    >>> from amble.logs.privacy import pool_neighbours
    >>> counts = np.zeros((14, 5, 1))
    >>> for session, place in enumerate([0] * 9 + [1, 1, 3, 4, 4]):     # sessions by place: 9, 2, 0, 1 and 2
    ...     counts[session, place] = 1
    >>> pool_neighbours(counts, smallest=3)
    array([0, 1, 1, 1, 1])
    """
    n, at = counts.shape[1], 0
    out = np.full(n, -1)
    while at < n:
        spans = ((start, end) for start in (at, *np.unique(out[:at])[::-1]) for end in range(at + 1, n + 1))
        found = next((x for x in spans if disclosable(counts[:, slice(*x)].sum(axis=1), smallest).all()), None)
        if found is None:
            break
        out[slice(*found)], at = found
    return out


def pooling_matrix(first: Ints) -> Array:
    """The square array that sums over pooled places, to multiply by."""
    return np.asarray((first[:, None] == first) & (first >= 0), np.float64)


def pooling_weights(counts: Array, smallest: int) -> Array:
    """Weights that make a square of counts disclosable: ``np.einsum("ijk,...ik->...ij", weights, counts)``.

    In each row the counts with too few sessions behind them are made alike: those above the diagonal share their sum,
    and those below it theirs; if one of these is suppressed, too, both share one sum; and if even this is, those
    suppressed share theirs with the smallest that is not. A row without such a one has no weights.

    Parameters
    ----------
    counts : (groups, n, n) array

    Returns
    -------
    (n, n, n) array
        By row: what each count is made of.
    """
    n = counts.shape[-1]
    enough = enough_sessions(counts, smallest)
    weights = np.zeros((n, n, n))
    for i in range(n):
        row, total = counts[:, i], counts[:, i].sum(axis=0)
        weights[i, enough[i], enough[i]] = 1.0
        small = np.flatnonzero(~enough[i] & ((np.arange(n) != i) | (total > 0)))  # no repeated move where there is none
        parts = [small[small > i], small[small < i]]
        if i in small or not all(disclosable(row[:, part].sum(axis=1), smallest) for part in parts):
            parts = [small]
            if not disclosable(row[:, small].sum(axis=1), smallest):
                if not enough[i].any():
                    continue
                least = np.flatnonzero(enough[i])[np.argmin(total[enough[i]])]
                weights[i, least, least] = 0.0
                parts = [np.append(small[total[small] > 0], least)]
        for part in parts:
            weights[i][np.ix_(part, part)] = 1.0 / max(part.size, 1)
    return weights


def shown_count(count: float, enough: bool, smallest: int) -> int | str:
    """A count, or its placeholder if it is suppressed, e.g. `<10`."""
    return int(count) if enough or count == 0 else f"<{smallest}"
