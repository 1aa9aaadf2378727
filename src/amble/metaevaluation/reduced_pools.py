"""Smaller pools: which judgments are kept, and the same lists with these judgments only.

Rankings hold the row of each judgment, so judging again costs no reading: rows that are not kept are taken out of the
table, and with them their hits. What comes out is what aligning the same runs with a qrels file of the kept lines
gives, but for topics that keep no line: here they stay, without a relevant document.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from amble import checks
from amble.arrays import NDArray
from amble.errors import AmbleError
from amble.measures import Lists
from amble.rankings.alignment import Rankings
from amble.rankings.costs import Costs

__all__ = ["depth_pool", "first_ranks", "groups_by_prefix", "judge_again", "sampled_pools", "without_group"]

Kept = NDArray[np.bool_]

RELEVANT, NONRELEVANT = 1, 10  # how many of each a topic keeps at least, as Buckley and Voorhees (2004) have it
_NEVER = checks.INT32


def judge_again(rankings: Rankings, kept: Kept) -> Lists:
    """The lists as they would be if only some of the judgments had been made.

    Parameters
    ----------
    rankings : Rankings
    kept : ndarray of bool
        Of each row of ``rankings.qrels``: whether it is kept.

    Returns
    -------
    Lists
        What `Measure.scores` takes.

    Examples
    --------
    >>> import amble
    >>> rankings = amble.align({"1": {"a": 1, "b": 1}}, {"x": {"1": {"b": 2.0, "a": 1.0}}})
    >>> ap = amble.parse("AP")
    >>> ap.scores(amble.metaevaluation.judge_again(rankings, [True, False])).tolist()  # b is unjudged now: 1/2
    [0.5]
    """
    qrels = rankings.qrels
    keep = np.asarray(kept)
    if keep.dtype != np.bool_ or keep.shape != qrels.grades.shape:
        raise AmbleError(f"kept: expected a truth value for each of the {len(qrels)} judgments")
    if not keep.any():
        raise AmbleError("kept: no judgment is left")
    number = np.concatenate(([0], np.cumsum(keep, dtype=np.int32)))
    hits = np.flatnonzero(keep[rankings.row])
    offsets = np.searchsorted(hits, rankings.offsets)
    rank = rankings.rank[hits]
    if rankings.unjudged == "condense":
        position = np.arange(1, hits.size + 1, dtype=np.int32) - np.repeat(offsets[:-1], np.diff(offsets))
        length = np.asarray(np.diff(offsets), np.int32)
    else:
        position, length = rank, rankings.length
    first, size = rankings.tie_first, rankings.tie_size
    tied = first is not None and size is not None and bool((size > 1).any())
    grades = qrels.grades[keep]
    out = Lists(
        grades=grades,
        rows=np.asarray(number[qrels.offsets], np.int64),
        topic=rankings.topic,
        length=length,
        offsets=offsets,
        position=position,
        row=number[rankings.row[hits]],
        max_grade=float(grades.max()),
        shown=(rank, rankings.length),
        ties=(first[hits], size[hits]) if tied else None,  # type: ignore[index]
        depth=rankings.depth,
        topics=rankings.topics,
        qrels=qrels,
        judgment=np.flatnonzero(keep),
    )
    out.costs = Costs.of_lists(rankings, out)
    return out


def sampled_pools(
    rankings: Rankings,
    rates: Sequence[float],
    *,
    seed: int | Sequence[int] = 0,
    rel: float = 1,
    relevant: int = RELEVANT,
    nonrelevant: int = NONRELEVANT,
) -> list[Kept]:
    """Random samples of the judgments, one for each rate; relevant and non-relevant ones are drawn apart, by topic.

    One random order of each topic's documents serves all the rates, so that a smaller pool is part of a larger one. Of
    n documents the first floor(rate x n) are kept, but at least ``relevant`` and ``nonrelevant`` of either kind, or all
    there are.

    Parameters
    ----------
    rankings : Rankings
    rates : sequence of float
        Shares to keep, above 0 and at most 1.
    seed : int
        The same seed, the same pools.
    rel : float
        The least grade that is relevant.
    relevant, nonrelevant : int
        How many a topic keeps at least.

    Returns
    -------
    list of ndarray of bool
        For `judge_again`.
    """
    for rate in rates:
        checks.number(rate, "rate", above=0, most=1)
    relevant, nonrelevant = checks.whole(relevant, "relevant", 0), checks.whole(nonrelevant, "nonrelevant", 0)
    if isinstance(seed, int):
        checks.seed(seed)
    qrels = rankings.qrels
    topic = np.repeat(np.arange(len(qrels.topics)), np.diff(qrels.offsets))
    kind = 2 * topic + (qrels.grades >= rel)
    order = np.lexsort((np.random.default_rng(seed).random(kind.size), kind))
    size = np.bincount(kind, minlength=2 * len(qrels.topics))
    place = np.empty(kind.size, np.int64)
    place[order] = np.arange(kind.size) - np.repeat(np.cumsum(size) - size, size)
    least = np.where(np.arange(size.size) % 2 == 1, relevant, nonrelevant)
    return [place < np.maximum(np.floor(rate * size + 1e-9), least)[kind] for rate in rates]


def first_ranks(rankings: Rankings, runs: Sequence[int] | None = None) -> NDArray[np.int32]:
    """Of each judged document, the best rank any of the runs (all, or those of some places) gives it."""
    out = np.full(len(rankings.qrels), _NEVER, np.int32)
    chosen = np.ones(len(rankings.runs), bool)
    if runs is not None:
        chosen[:] = False
        chosen[np.asarray(runs, np.int64)] = True
    hits = np.repeat(chosen[rankings.run], np.diff(rankings.offsets))
    np.minimum.at(out, rankings.row[hits], rankings.rank[hits])
    return out


def depth_pool(rankings: Rankings, depth: int, runs: Sequence[int] | None = None) -> Kept:
    """The judged documents that some run ranks at this depth or above: a depth-k pool of these runs."""
    return np.asarray(first_ranks(rankings, runs) <= checks.whole(depth, "depth"))


def without_group(rankings: Rankings, runs: Sequence[int], depth: int = 100) -> Kept:
    """All judgments but those of documents that only these runs brought to a pool of some depth."""
    checks.whole(depth, "depth")
    others = np.setdiff1d(np.arange(len(rankings.runs)), np.asarray(runs, np.int64))
    mine, theirs = first_ranks(rankings, runs) <= depth, first_ranks(rankings, others.tolist()) <= depth
    return np.asarray(~mine | theirs)


def groups_by_prefix(runs: Sequence[str], length: int) -> dict[str, list[int]]:
    """Groups of runs whose names start with the same letters, whatever the case.

    Examples
    --------
    >>> from amble.metaevaluation.reduced_pools import groups_by_prefix
    >>> groups_by_prefix(["acme1", "ACME2", "uni1"], 3)
    {'acm': [0, 1], 'uni': [2]}
    """
    checks.whole(length, "length")
    out: dict[str, list[int]] = {}
    for i, name in enumerate(runs):
        out.setdefault(name[:length].lower(), []).append(i)
    return out


def check_groups(
    rankings: Rankings, groups: Mapping[str, Sequence[str]] | Mapping[str, Sequence[int]]
) -> dict[str, list[int]]:
    """Groups of runs, given by name or by place, as places; a run is in one group at most, and once."""
    out: dict[str, list[int]] = {}
    of: dict[int, str] = {}
    for group, members in groups.items():
        if not len(members):
            raise AmbleError(f"group {group} has no run")
        out[group] = []
        for member in members:
            place = _place(rankings, group, member)
            if place in of:
                where = "twice" if of[place] == group else f"in group {of[place]}, too"
                raise AmbleError(f"group {group}: run {rankings.runs[place]!r} is there {where}; expected it once")
            of[place] = group
            out[group].append(place)
    return out


def _place(rankings: Rankings, group: str, member: str | int) -> int:
    """The place of a run, given by its place, its name, or its file's name."""
    count = len(rankings.runs)
    if isinstance(member, int | np.integer):
        if not 0 <= member < count:
            raise AmbleError(f"group {group}: there is no run {member}, expected 0 to {count - 1}")
        return int(member)
    try:
        return rankings.index(str(member))
    except KeyError:
        times = max(rankings.runs.count(str(member)), rankings.labels.count(str(member)))
        what = f"may be any of {times} runs" if times else f"is not among the {count} runs"
        raise AmbleError(f"group {group}: run {member!r} {what}") from None
