"""Classic measures without a user (counts, F, R-precision, IPrec, bpref, infAP …): computed from the whole list."""
# no `from __future__ import annotations`: declarations read their own annotations

from typing import Annotated, Any

import numpy as np

from amble.arrays import NDArray
from amble.errors import MeasureError
from amble.expressions.domains import Above, Between, Numbers, OneOf, Optional, Whole
from amble.expressions.values import ByRank
from amble.measures.declaration import Variant, measure
from amble.measures.gain_maps import ungraded
from amble.measures.tied_documents import search_length
from amble.rankings.lists import Gains, scan

Array = NDArray[np.float64]

Rank = Annotated[int | None, Optional(Whole(1)), "the rank to look down to; None: the end of the list"]

_EPSILON = 1e-5  # of infAP
_WEIGHTS = ByRank("1,-1,0,0")
_POINTS = ByRank("0,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1")


def ratio(a: NDArray[np.generic], b: NDArray[np.generic]) -> Array:
    """Divide; 0 where the divisor is 0."""
    top, bottom = np.broadcast_arrays(np.asarray(a, np.float64), np.asarray(b, np.float64))
    return np.asarray(np.divide(top, bottom, out=np.zeros(top.shape), where=bottom > 0))


def _found(gains: Gains, k: int | None) -> NDArray[np.int64]:
    return gains.found if k is None else gains.upto(k)


# ---- counts


@measure(
    "NumQ",
    gain=ungraded,
    aggregate="sum",
    cite="trec_eval",
    family="counts",
    bounded=False,
    formula="1; over topics: how many",
)
def num_topics(gains: Gains) -> Array:
    """How many topics were scored."""
    return np.ones(gains.lists.n)


@measure(
    "NumRet",
    gain=ungraded,
    aggregate="sum",
    cite="trec_eval",
    family="counts",
    bounded=False,
    formula="documents in the list",
)
def num_retrieved(gains: Gains) -> Array:
    """How many documents the list holds."""
    return np.asarray(gains.lists.length, np.float64)


@measure("NumRel", aggregate="sum", cite="trec_eval", family="counts", bounded=False, formula="relevant documents")
def num_relevant(gains: Gains) -> Array:
    """How many relevant documents the topic has."""
    return gains.relevant


@measure("NumRelRet", aggregate="sum", cite="trec_eval", family="counts", bounded=False, formula="relevant in the list")
def num_relevant_retrieved(gains: Gains) -> Array:
    """How many relevant documents the list holds."""
    return np.asarray(gains.found, np.float64)


@measure(
    "NumNonrelRet",
    aggregate="sum",
    cite="trec_eval",
    family="counts",
    bounded=False,
    less=None,
    formula="judged non-relevant in it",
)
def num_nonrelevant_retrieved(gains: Gains) -> Array:
    """How many documents of the list were judged not relevant."""
    return gains.lists.per_list(gains.lists.grade >= 0) - gains.found


def _judged_variant(d: Any, values: dict[str, Any], cut: int | None, given: frozenset[str]) -> Variant:
    if values["k"] is None and values["per"] == "k":
        raise MeasureError("per='k' goes with a rank, as in Judged(per='k')@10")
    return d, values, cut


@measure(
    "Judged",
    gain=ungraded,
    cite="ir_measures",
    family="counts",
    variant=_judged_variant,
    formula="judged documents among the first k, divided by min(k, length)",
)
def judged(
    gains: Gains,
    k: Rank = None,
    per: Annotated[str, OneOf("list", "k"), "divided by min(k, length), or by k even if the list ends before"] = "list",
) -> Array:
    """How much of the top the assessors have seen, whatever the grade (without @k: of the whole list)."""
    lists = gains.lists
    among = lists.shown_length if k is None else np.minimum(lists.shown_length, k)
    return ratio(lists.per_list(lists.shown_position <= (k or np.inf)), among if per == "list" else np.array(k))


@measure(
    "Unjudged",
    gain=ungraded,
    cite="trec_eval",
    family="counts",
    less=None,
    formula="unjudged documents among the first k, divided by k",
)
def unjudged(gains: Gains, k: Annotated[int, Whole(1), "rank"] = 10) -> Array:
    """How much of the top the assessors have not seen (negative grades count as unjudged)."""
    lists = gains.lists
    known = lists.per_list((lists.grade >= 0) & (lists.shown_position <= k))
    return np.asarray((np.minimum(lists.shown_length, k) - known) / k)


# ---- sets


@measure("F", cite="vanrijsbergen1979", family="sets", formula="(1 + b^2) P R / (b^2 P + R) of the first k")
def f_measure(
    gains: Gains, beta: Annotated[float, Above(0), "how much recall matters against precision"] = 1.0, k: Rank = None
) -> Array:
    """The harmonic mean of precision and recall of the first k (without @k: of the whole list)."""
    found = _found(gains, k)
    p = ratio(found, gains.lists.length) if k is None else found / k
    r = ratio(found, gains.relevant)
    x = beta * beta
    return ratio((x + 1.0) * p * r, x * p + r)


@measure("RelP", cite="trec_eval", family="sets", formula="relevant among the first k, divided by min(k, relevant)")
def relative_precision(gains: Gains, k: Rank = None) -> Array:
    """Precision, relative to the best that could be had (without @k: of the whole list)."""
    most = gains.lists.length if k is None else k
    return ratio(_found(gains, k), np.minimum(most, gains.relevant))


@measure("SetAP", cite="trec_eval", family="sets", formula="precision x recall of the whole list")
def set_ap(gains: Gains) -> Array:
    """Precision times recall of the list as a set."""
    return ratio(gains.found * gains.found, gains.lists.length * gains.relevant)


@measure("Success", cite="trec_eval", rises=True, family="sets", formula="1 if any of the first k is relevant, else 0")
def success(gains: Gains, k: Rank = None) -> Array:
    """Whether there is anything relevant among the first k."""
    return np.asarray(_found(gains, k) > 0, np.float64)


@measure(
    "ESL",
    tied=search_length,
    cite="cooper1968",
    family="classic",
    bounded=False,
    less=True,
    formula="others before the n-th relevant document; those not in the list follow it, in any order",
)
def expected_search_length(
    gains: Gains,
    n: Annotated[int, Whole(1), "how many relevant documents are wanted"] = 1,
    docs: Annotated[
        int,
        Whole(1, 1_000_000_000_000),
        "documents in the collection; at least those judged or in the list, and one more",
    ] = 1000,
) -> Array:
    """She wants n relevant documents, and counts the others that she has to look at on the way.

    Where the list has fewer, she goes on through the rest of the collection in any order, to its end if need be.
    """
    return search_length(gains, n, docs)


@measure(
    "Utility",
    cite="trec_eval",
    family="sets",
    bounded=False,
    formula="a relevant found + b other found + c relevant missed + d other missed",
)
def utility(
    gains: Gains,
    weights: Annotated[
        ByRank, Numbers(4), "of relevant found, others found, relevant missed, others missed"
    ] = _WEIGHTS,
    docs: Annotated[int, Whole(0), "documents in the collection"] = 0,
) -> Array:
    """What the list is worth, if each kind of document has its price."""
    a, b, c, d = weights
    found, n, r = gains.found, gains.lists.length, gains.relevant
    return np.asarray(a * found + b * (n - found) + c * (r - found) + d * (docs + found - n - r))


# ---- the precision-recall curve


@measure(
    "Rprec",
    cite="trec_eval",
    family="curve",
    formula="precision at rank mult x R, where R is the number of relevant documents",
)
def r_precision(gains: Gains, mult: Annotated[float, Above(0), "of the number of relevant documents"] = 1.0) -> Array:
    """Precision at the rank where a perfect list would have found everything."""
    k = (mult * gains.relevant + 0.9).astype(np.int64)
    return ratio(gains.upto(k), k)


def _interpolated(gains: Gains) -> Array:
    """The greatest precision at or after each relevant document."""
    return scan(np.maximum.accumulate, gains.ordinal / gains.position, gains.offsets, reverse=True)


Rule = Annotated[
    str,
    OneOf("textbook", "trec10", "trec9"),
    "how many of R relevant documents a recall of r asks for: at least r R, or as trec_eval 10 has it r R rounded, or "
    "as trec_eval 9 has it r R + 0.9 cut to a whole number",
]


def _wanted(recall: float, relevant: Array, rule: str) -> NDArray[np.int64]:
    """How many relevant documents must be found."""
    x = recall * relevant
    if rule == "trec10":
        return np.asarray(np.floor(x) + (x - np.floor(x) >= 0.5), np.int64)  # halves away from zero, as C's lround
    if rule == "trec9":
        return np.asarray(x + 0.9, np.int64)
    # The least k with k / R >= r. In doubles 0.1 x 30 is above 3, but quotients are rounded alike: k / R and r = a / b
    # compare as fractions do, as two of them that differ do so by 1 / (R b) at least.
    k = np.maximum(np.ceil(x) - 1.0, 0.0)
    for _ in range(2):
        k += ratio(k, relevant) < recall
    return k.astype(np.int64)


def _at_recall(gains: Gains, best: Array, recall: float, rule: str) -> Array:
    wanted = _wanted(recall, gains.relevant, rule)
    have = (wanted <= gains.found) & (gains.found > 0)
    at = gains.offsets[:-1] + np.maximum(wanted, 1) - 1
    out = np.zeros(gains.lists.n)
    out[have] = best[at[have]]
    return out


@measure(
    "IPrec",
    at="recall",
    cite="trec_eval",
    family="curve",
    formula="greatest precision at any rank from which recall is at least r on",
)
def interpolated_precision(
    gains: Gains,
    recall: Annotated[float, Between(0, 1, closed=True), "the recall wanted"] = 0.0,
    rule: Rule = "textbook",
) -> Array:
    """How precise a list can be at a recall, if one may read on (IPrec@0.1)."""
    return _at_recall(gains, _interpolated(gains), recall, rule)


@measure("IPrecAvg", cite="trec_eval", family="curve", formula="mean of IPrec at the given points")
def mean_interpolated_precision(
    gains: Gains,
    points: Annotated[ByRank, Numbers(None, Between(0, 1, closed=True)), "of recall, increasing"] = _POINTS,
    rule: Rule = "textbook",
) -> Array:
    """The mean of interpolated precision over eleven points of recall, or others."""
    best = _interpolated(gains)
    total = np.zeros(gains.lists.n)
    for recall in reversed(points):
        total = total + _at_recall(gains, best, recall, rule)
    return total / len(points)


@measure("PRAUC", cite="manning2008", family="curve", formula="integral of IPrec over recall from 0 to 1")
def area_under_curve(gains: Gains) -> Array:
    """The area under the interpolated precision-recall curve."""
    return ratio(gains.sum(_interpolated(gains)), gains.relevant)


# ---- incomplete judgments


def _nonrelevant_above(gains: Gains) -> NDArray[np.int64]:
    """How many judged non-relevant documents stand above each relevant one."""
    lists = gains.lists
    if not (lists.grades < 0).any():  # every hit is one or the other
        return np.asarray(gains.kept - lists.offsets[gains.list] - (gains.ordinal - 1))
    return lists.before((lists.grades >= 0) & (gains.by_row <= 0), gains.kept, gains.list)


def _bpref(gains: Gains) -> Array:
    lists = gains.lists
    nonrelevant = (lists.grades >= 0) & (gains.by_row <= 0)
    above = _nonrelevant_above(gains).astype(np.float64)
    all_nonrelevant = lists.per_topic(nonrelevant)[lists.topic]
    r = gains.relevant[gains.list]
    bound = np.minimum(all_nonrelevant[gains.list], r)
    value = np.where(above > 0, 1.0 - np.minimum(above, r) / np.where(bound > 0, bound, 1.0), 1.0)
    return ratio(gains.sum(value), gains.relevant)


@measure("bpref", cite="buckley2004", family="incomplete", formula="mean of 1 - min(n, R) / min(N, R)")
def bpref(gains: Gains) -> Array:
    """How often a judged non-relevant document stands above a relevant one; the unjudged are passed over."""
    return _bpref(gains)


@measure("GMbpref", aggregate="geometric", cite="trec_eval", family="incomplete", formula="bpref; the geometric mean")
def geometric_bpref(gains: Gains) -> Array:
    """As bpref; over topics the geometric mean."""
    return _bpref(gains)


@measure("infAP", cite="yilmaz2006", family="incomplete", formula="AP expected of judgments that are a random sample")
def inferred_ap(gains: Gains) -> Array:
    """AP inferred where the judgments are a sample: negative grades were in the pool but not in the sample."""
    lists = gains.lists
    nr = _nonrelevant_above(gains)
    un = lists.before(lists.grades < 0, gains.kept, gains.list)
    rs = gains.ordinal - 1
    j = (gains.position - 1).astype(np.float64)
    deep = np.maximum(j, 1.0)
    value = 1.0 / (j + 1.0) + (j / (j + 1.0)) * ((rs + nr + un) / deep) * ((rs + _EPSILON) / (rs + nr + 2 * _EPSILON))
    return ratio(gains.sum(np.where(j == 0, 1.0, value)), gains.relevant)


@measure(
    "RBPresid",
    cite="trec_eval",
    family="incomplete",
    less=None,
    formula="p^N + (1 - p) x sum over unjudged i of p^(i - 1)",
)
def rbp_residual(gains: Gains, p: Annotated[float, Between(0, 1), "persistence"] = 0.9) -> Array:
    """What RBP could still gain, as trec_eval has it: 0 for a list without an unjudged document."""
    lists = gains.lists
    known = lists.grade >= 0
    seen = lists.per_list(np.where(known, p ** (lists.shown_position - 1.0), 0.0))
    unjudged_found = lists.shown_length - lists.per_list(known)
    tail = p ** np.asarray(lists.shown_length, np.float64)
    value = tail + (1.0 - tail - (1.0 - p) * seen)
    return np.where(unjudged_found > 0, value, 0.0)
