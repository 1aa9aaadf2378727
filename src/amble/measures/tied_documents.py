"""Tied documents, ``ties="expected"``: the mean of a score over all orders of documents with the same score.

A user who does not look at the grades gives tied documents the mean weight of their ranks; AP and RR (McSherry and
Najork, 2008) and expected search length (Cooper, 1968) have the closed forms below.
"""

from __future__ import annotations

import numpy as np

from amble.arrays import NDArray
from amble.rankings.lists import Gains
from amble.users.protocol import TiedError

__all__ = ["search_length", "tied_ap", "tied_rr"]

Array = NDArray[np.float64]


def tied_ap(gains: Gains) -> Array:
    """The mean of AP over all orders of tied documents (McSherry and Najork, 2008).

    A group holds ranks a ... a + n - 1 and r relevant documents, with R before it. The document at a + j is relevant
    with probability r / n, and then j (r - 1) / (n - 1) of those before it in the group are, so the group adds
    (r / n) sum_j (R + 1 + j (r - 1) / (n - 1)) / (a + j); both sums are differences of harmonic numbers.
    """
    lists = gains.lists
    if lists.ties is None:
        raise ValueError("no ties")
    first, size = (np.asarray(x[gains.kept], np.int64) for x in lists.ties)
    new = np.flatnonzero(np.concatenate(([True], (np.diff(gains.list) != 0) | (np.diff(first) != 0))))
    if not gains.gain.size:
        return np.zeros(lists.n)
    r = np.diff(np.append(new, gains.gain.size)).astype(np.float64)
    before = gains.ordinal[new] - 1.0
    a, n, owner = first[new], size[new], gains.list[new]
    end = a + n - 1
    if lists.depth is not None:
        end = np.minimum(end, lists.depth)
    m = np.maximum(end - a + 1, 0)
    harmonic = np.concatenate(([0.0], np.cumsum(1.0 / np.arange(1, int(end.max(initial=0)) + 1))))
    h = np.where(m > 0, harmonic[np.maximum(end, 0)] - harmonic[np.minimum(a - 1, harmonic.size - 1)], 0.0)
    slope = (r - 1) / np.maximum(n - 1, 1)
    add = (r / n) * ((before + 1) * h + slope * (m - a * h))
    total = np.bincount(owner, add, lists.n)
    return np.divide(total, gains.relevant, out=np.zeros(lists.n), where=gains.relevant > 0)


def tied_rr(gains: Gains) -> Array:
    """The mean of RR over all orders of the first tied group that holds a relevant document.

    With r relevant among n, the first is the j-th (from 0) with probability r/n for j = 0, then each time (n - j - r) /
    (n - j - 1) times the one before... the probability that none of the first j is relevant is the product of (n - i -
    r) / (n - i), i < j.
    """
    lists = gains.lists
    if lists.ties is None:
        raise ValueError("no ties")
    out = np.zeros(lists.n)
    first, size = (np.asarray(x[gains.kept], np.int64) for x in lists.ties)
    some = np.flatnonzero(gains.found > 0)
    lead = gains.offsets[:-1][some]
    for i, h in zip(some.tolist(), lead.tolist(), strict=True):
        hits = slice(h, int(gains.offsets[i + 1]))
        a, n = int(first[h]), int(size[h])
        r = int((first[hits] == a).sum())
        j = np.arange(n - r + 1)
        none = np.concatenate(([1.0], np.cumprod((n - j[:-1] - r) / (n - j[:-1]))))
        probability = none * r / (n - j)
        seen = a + j <= (lists.depth or np.inf)
        out[i] = (probability * seen / (a + j)).sum()
    return out


def search_length(gains: Gains, n: int, docs: int) -> Array:
    """The mean over all orders of tied documents of the others before the n-th relevant one (Cooper, 1968).

    The group with that one has r relevant and i other documents, s of the relevant are still wanted, and j others come
    before the group: spread evenly, the relevant ones leave i / (r + 1) others before each, so j + s i / (r + 1). The
    documents that are not in a list are a last group, which is read to its end if it has fewer than s relevant ones.
    """
    lists = gains.lists
    if lists.ties is None:
        first, size = gains.position, np.ones(gains.position.size, np.int64)
    elif lists.depth is None:
        first, size = (np.asarray(x[gains.kept], np.int64) for x in lists.ties)
    else:
        raise TiedError
    before, rest = np.asarray(lists.length - gains.found, np.float64), gains.relevant - gains.found
    known = np.diff(lists.rows)[lists.topic] - gains.relevant + lists.length - np.diff(lists.offsets)  # other documents
    others = np.maximum(np.maximum(docs - gains.relevant, known), 1.0)
    out = before + (others - before) * np.minimum((n - gains.found) / (rest + 1.0), 1.0)
    some = np.flatnonzero(gains.found >= n)
    hit = gains.offsets[:-1][some] + n - 1
    same = gains.list * (int(lists.length.max(initial=0)) + 2) + first  # a number of its own for each group
    start, end = (np.searchsorted(same, same[hit], side) for side in ("left", "right"))
    above, r = start - gains.offsets[:-1][some], end - start
    out[some] = first[hit] - 1 - above + (n - above) * (size[hit] - r) / (r + 1)
    return np.asarray(out)
