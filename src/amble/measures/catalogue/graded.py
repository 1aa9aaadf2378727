"""Graded measures without a user (G, Q, Compat …): computed from the whole list and its ideal."""
# no `from __future__ import annotations`: declarations read their own annotations

from typing import Annotated

import numpy as np

from amble.arrays import NDArray
from amble.errors import MeasureError
from amble.expressions.domains import AtLeast, Between, Whole
from amble.measures.catalogue.list_based import Rank, ratio
from amble.measures.declaration import measure
from amble.measures.gain_maps import graded
from amble.rankings.lists import Gains, scan

Array = NDArray[np.float64]
_MOST_GAIN = 2.0**53  # beyond, 1 more or less is not seen


def _ideal_ranks(gains: Gains) -> NDArray[np.int64]:
    gain, starts = gains.ideal
    return np.arange(1, gain.size + 1) - np.repeat(starts[:-1], np.diff(starts))


def _per_topic_prefix(gains: Gains, terms: Array) -> Array:
    """Cumulative sums of a term within each topic's ideal list."""
    return scan(np.add.accumulate, terms, gains.ideal[1])


def _upto_ideal(gains: Gains, prefix: Array, k: NDArray[np.int64], topic: NDArray[np.generic]) -> Array:
    _, starts = gains.ideal
    size = starts[topic + 1] - starts[topic]
    m = np.minimum(k, size)
    return np.where(m > 0, prefix[np.maximum(starts[topic] + m - 1, 0)], 0.0) if prefix.size else np.zeros(m.size)


@measure("binG", cite="trec_eval", family="graded", formula="mean over relevant of 1 / log2(2 + non-relevant above)")
def binary_g(gains: Gains) -> Array:
    """Each relevant document counts less, the more non-relevant ones stand above it."""
    return ratio(gains.sum(1.0 / np.log2(2.0 + gains.position - gains.ordinal)), gains.relevant)


@measure("G", gain=graded, cite="trec_eval", family="graded", formula="sum of gain / log2(2 + what was missed) / ideal")
def graded_g(gains: Gains) -> Array:
    """Each document counts less, the more gain the ideal list would have given before it."""
    ideal, _ = gains.ideal
    topic = gains.lists.topic
    extra = _per_topic_prefix(gains, np.maximum(ideal, 1.0) - 1.0)
    best = gains.position + _upto_ideal(gains, extra, gains.position, topic[gains.list])
    value = gains.gain / np.log2(np.maximum(2.0 + best - gains.seen, 1.0 + 1e-12))
    total = _upto_ideal(gains, _per_topic_prefix(gains, ideal), np.full(topic.size, ideal.size), topic)
    if total.max(initial=0.0) > _MOST_GAIN:
        raise MeasureError(f"gains that sum to {total.max():g} are too large: what was missed is lost in rounding")
    return ratio(gains.sum(value), total)


def _dcg_prefixes(gains: Gains) -> tuple[Array, Array]:
    """DCG up to each hit, and the ideal's DCG up to each of its ranks."""
    dcg = scan(np.add.accumulate, gains.gain / np.log2(gains.position + 1.0), gains.offsets)
    ideal, _ = gains.ideal
    return dcg, _per_topic_prefix(gains, ideal / np.log2(_ideal_ranks(gains) + 1.0))


def _last(gains: Gains, values: Array) -> Array:
    """Of each list, the value at its last hit; 0 where it has none."""
    out = np.zeros(gains.lists.n)
    some = gains.found > 0
    out[some] = values[gains.offsets[1:][some] - 1]
    return out


@measure("nDCGrel", gain=graded, cite="trec_eval", family="graded", formula="mean of nDCG at the relevant ranks")
def ndcg_at_relevant(gains: Gains) -> Array:
    """The nDCG at the rank of each relevant document, averaged; for those not found, that of the whole list."""
    dcg, ideal = _dcg_prefixes(gains)
    topic = gains.lists.topic
    here = _upto_ideal(gains, ideal, gains.position, topic[gains.list])
    whole = _upto_ideal(gains, ideal, np.full(topic.size, ideal.size), topic)
    rest = ratio((gains.relevant - gains.found) * _last(gains, dcg), whole)
    return ratio(gains.sum(dcg / here) + rest, gains.relevant)


@measure("RnDCG", gain=graded, cite="trec_eval", family="graded", formula="mean of nDCG where the ideal's gain changes")
def ndcg_at_levels(gains: Gains) -> Array:
    """The nDCG at the ranks where the ideal list changes its grade, and at the end of a longer list, averaged."""
    lists = gains.lists
    dcg, ideal = _dcg_prefixes(gains)
    gain, starts = gains.ideal
    ends = np.flatnonzero(np.concatenate((gain[1:] != gain[:-1], [True]))) if gain.size else np.zeros(0, np.int64)
    ends = np.union1d(ends, starts[1:][np.diff(starts) > 0] - 1)  # the last of each level of each topic
    owner = np.searchsorted(starts, ends, side="right") - 1
    rank = ends - starts[owner] + 1
    first = np.searchsorted(owner, np.arange(starts.size))
    counts = np.diff(first)[lists.topic]
    of_list = np.repeat(np.arange(lists.n), counts)
    level = np.arange(of_list.size) - np.repeat(np.cumsum(counts) - counts, counts) + first[:-1][lists.topic][of_list]
    seen = gains.upto(rank[level], of_list) if of_list.size else np.zeros(0, np.int64)
    at = gains.offsets[:-1][of_list] + seen - 1
    have = np.where(seen > 0, dcg[np.maximum(at, 0)], 0.0) if dcg.size else np.zeros(of_list.size)
    total = np.bincount(of_list, have / ideal[ends[level]] if of_list.size else None, lists.n)
    longer = (lists.length > gains.relevant + 1) & (gains.relevant > 0)
    whole = _upto_ideal(gains, ideal, np.full(lists.n, ideal.size), lists.topic)
    total = total + np.where(longer, ratio(_last(gains, dcg), whole), 0.0)
    return ratio(total, counts + longer)


@measure(
    "Q",
    gain=graded,
    cite="sakai2004",
    family="graded",
    formula="mean over relevant of (C + b cg) / (rank + b ideal cg)",
)
def q_measure(
    gains: Gains, beta: Annotated[float, AtLeast(0), "how much the grades matter"] = 1.0, k: Rank = None
) -> Array:
    """AP with grades: the blended ratio at each relevant document, averaged over all relevant ones."""
    ideal, _ = gains.ideal
    best = _upto_ideal(gains, _per_topic_prefix(gains, ideal), gains.position, gains.lists.topic[gains.list])
    value = (gains.ordinal + beta * gains.seen) / (gains.position + beta * best)
    if k is not None:
        value = np.where(gains.position <= k, value, 0.0)
    return ratio(gains.sum(value), gains.relevant)


@measure(
    "Compat",
    gain=graded,
    cite="clarke2021",
    family="graded",
    formula="the greatest rank-biased overlap with an ideal list, divided by that of the ideal with itself",
)
def compatibility(
    gains: Gains,
    p: Annotated[float, Between(0, 1), "persistence"] = 0.95,
    depth: Annotated[int, Whole(1), "where the overlap stops counting"] = 1000,
) -> Array:
    """How similar the list is to the ideal list most like it (documents of one grade may stand in any order)."""
    # a document at rank a of the list and b of the ideal overlaps from max(a, b) on
    rank = np.arange(1, depth + 1)
    term = p ** (rank - 1.0) / rank
    onward = np.append(np.cumsum(term[::-1])[::-1], 0.0)
    gain, starts = gains.ideal
    order = np.lexsort((gains.position, -gains.gain, gains.list))
    owner, value = gains.list[order], gains.gain[order]
    topic = gains.lists.topic[owner]
    # documents of higher gain in the ideal, then the found ones of the same gain in rank order
    key = np.repeat(np.arange(starts.size - 1), np.diff(starts))
    levels, code = np.unique(np.concatenate((gain, value)), return_inverse=True)
    stride = levels.size + 1
    packed = key * stride + (levels.size - code[: gain.size])
    above = np.searchsorted(packed, topic * stride + (levels.size - code[gain.size :])) - starts[topic]
    new = np.concatenate(([True], (np.diff(owner) != 0) | (np.diff(value) != 0))) if owner.size else np.zeros(0, bool)
    first = np.maximum.accumulate(np.where(new, np.arange(owner.size), 0))
    place = above + np.arange(owner.size) - first + 1
    meet = np.minimum(np.maximum(place, gains.position[order]), depth + 1)
    overlap = np.bincount(owner, onward[meet - 1], gains.lists.n)
    most = np.minimum(gains.topic_relevant.astype(np.int64), depth)
    best = np.concatenate(([0.0], np.cumsum(onward[:depth])))[most]
    return ratio(overlap, best[gains.lists.topic])
