"""What may be told: sums over many sessions.

A count that few sessions are behind could tell what one person did. How many sessions are behind a count is not known,
but in how many groups of sessions it is not zero: no more than there are sessions. Where that is less than `smallest`
the count is taken as none, and its number is not told.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["SMALLEST", "divided_by", "kept", "observed", "pooled", "told"]

Array = NDArray[np.float64]

SMALLEST = 10


def _groups(counts: Array) -> NDArray[np.int64]:
    """In how many groups each count is not zero: at most as many as sessions are behind it."""
    return np.asarray((counts > 0).sum(axis=0), np.int64)


def kept(counts: Array, smallest: int) -> NDArray[np.bool_]:
    """Tell which counts, summed over groups (the first axis), have enough sessions behind them.

    Examples
    --------
    >>> import numpy as np
    >>> from amble.logs.privacy import kept
    >>> kept(np.array([[3.0, 1.0], [0.0, 1.0], [9.0, 1.0]]), smallest=3)   # twelve, of two groups; three, of three
    array([False,  True])
    """
    return np.asarray(_groups(counts) >= smallest)


def observed(counts: Array, smallest: int) -> NDArray[np.int64]:
    """Sums over groups; 0 where too few sessions are behind them."""
    return np.where(kept(counts, smallest), np.rint(counts.sum(axis=0)), 0).astype(np.int64)


def pooled(counts: Array, smallest: int) -> Array:
    """Weights that make a square of counts one that may be told: ``np.einsum("ijk,...ik->...ij", weights, counts)``.

    In each row the counts with too few sessions behind them are made alike: those above the diagonal share their sum,
    and those below it theirs; if that has too few sessions behind it, too, both share one sum, and if even this has,
    they are taken as none.

    Parameters
    ----------
    counts : (groups, n, n) array

    Returns
    -------
    (n, n, n) array
        By row: what each count is made of.
    """
    n = counts.shape[-1]
    enough = kept(counts, smallest)
    weights = np.zeros((n, n, n))
    for i in range(n):
        weights[i, enough[i], enough[i]] = 1.0
        small = np.flatnonzero(~enough[i])
        parts = [small[small > i], small[small < i]]
        sums = [kept(counts[:, i, part].sum(axis=1), smallest) for part in parts if part.size]
        if not all(sums):
            parts = [small[small != i]]
        for part in parts:
            if part.size and kept(counts[:, i, part].sum(axis=1), smallest):
                weights[i][np.ix_(part, part)] = 1.0 / part.size
    return weights


def divided_by(counts: Array, smallest: int) -> NDArray[np.bool_]:
    """Which counts (groups, n) a share may be of: all, unless what is not told could be found by subtraction.

    Examples
    --------
    >>> import numpy as np
    >>> from amble.logs.privacy import divided_by
    >>> divided_by(np.array([[3.0, 1.0], [2.0, 0.0]]), smallest=2)   # the second is of one group, so it stays out
    array([ True, False])
    """
    enough = kept(counts, smallest)
    if enough.all() or kept(counts[:, ~enough].sum(axis=1), smallest):
        return np.ones(enough.shape, bool)
    return enough


def told(count: float, enough: bool, smallest: int) -> int | str:
    """A count as it may be printed."""
    return int(count) if enough or count == 0 else f"<{smallest}"
