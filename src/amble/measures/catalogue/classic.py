"""The classic measures that are users: P, R, AP, RR, DCG, nDCG, ERR."""
# no `from __future__ import annotations`: declarations read their own annotations

from typing import Annotated

import numpy as np

from amble.arrays import NDArray
from amble.expressions.domains import Above, Optional, Whole
from amble.measures.declaration import measure
from amble.measures.gain_maps import graded, graded_variant, judged, satisfying
from amble.measures.tied_documents import tied_ap, tied_rr
from amble.users.forward import Forward

Array = NDArray[np.float64]

Rank = Annotated[int | None, Optional(Whole(1)), "the last rank that is read; None: the end of the list"]
Base = Annotated[
    float | None, Optional(Above(1)), "of Järvelin and Kekäläinen's logarithm, no discount before it; None: log2(i + 1)"
]


@measure(
    "P",
    question="order2",
    gain=judged,
    variant=graded_variant,
    cite="cleverdon1966",
    family="classic",
    formula="relevant documents among the first k, divided by k",
)
def precision(k: Rank = None) -> Forward:
    """She reads k documents, whatever they are, and stops. (Without @k: the whole list.)"""
    return Forward(continuation=1.0, depth=k)


@measure(
    "R",
    question="total",
    norm="relevant",
    cite="cleverdon1966",
    cwl_form="P is",
    family="classic",
    formula="relevant documents among the first k, divided by all relevant ones",
)
def recall(k: Rank = None) -> Forward:
    """She reads k documents and asks how many of all the relevant ones she has seen."""
    return Forward(continuation=1.0, depth=k)


@measure(
    "AP",
    question="order1",
    gain=judged,
    variant=graded_variant,
    stops="gain",
    tied=tied_ap,
    cite="harman1992",
    cwl_form="found",
    family="classic",
    formula="mean over the relevant documents of the precision at their ranks (0 for those not found)",
)
def average_precision(gain: Array, available: Array) -> Forward:
    """She wants one of the relevant documents, each with equal probability, reads down to it, and asks for precision.

    If it is not in the list, the gain is 0.
    """
    return Forward(last=gain, mass=available, beyond="nothing")


@measure(
    "GMAP",
    question="order1",
    stops="gain",
    tied=tied_ap,
    aggregate="geometric",
    cite="robertson2006",
    family="classic",
    formula="AP; over topics the geometric mean, AP below 0.00001 taken as that",
)
def geometric_ap(gain: Array, relevant: Array) -> Forward:
    """AP's user; over topics the geometric mean, so that the hard topics count."""
    return Forward(last=gain, mass=relevant, beyond="nothing")


@measure(
    "RR",
    question="satisfied",
    stops="gain",
    tied=tied_rr,
    cite="kantor2000",
    cwl_form="found",
    rises=True,
    family="classic",
    formula="1 / rank of the first relevant document",
)
def reciprocal_rank(gain: Array, seen: Array) -> Forward:
    """She stops at the first relevant document."""
    return Forward(last=((gain > 0) & (seen == gain)).astype(np.float64), beyond="nothing")


def _discount(base: float | None) -> Forward:
    if base is None:
        return Forward(visits=lambda rank: 1.0 / np.log2(rank + 1.0))
    log_base = np.log(base)
    return Forward(visits=lambda rank: 1.0 / np.maximum(1.0, np.log(rank) / log_base))


@measure(
    "DCG",
    question="total",
    gain=graded,
    cite="jarvelin2002",
    family="classic",
    bounded=False,
    formula="sum of gain / log2(rank + 1); with base=b, gain / max(1, log_b rank)",
)
def discounted_gain(base: Base = None) -> Forward:
    """She goes on with a probability that grows with the rank, and counts what she gains."""
    return _discount(base)


@measure(
    "nDCG",
    question="total",
    gain=graded,
    norm="ideal",
    cite="jarvelin2002",
    cwl_form="SDCG and DCG are",
    family="classic",
    formula="DCG / DCG of the judged documents in the best order, both cut at k",
)
def normalised_gain(base: Base = None) -> Forward:
    """DCG's user, who compares what she gained with what the best list would have given her."""
    return _discount(base)


@measure(
    "ERR",
    question="satisfied",
    gain=satisfying,
    stops="gain",
    cite="chapelle2009",
    cwl_form="NERR8 to NERR11 are",
    rises=True,
    family="classic",
    formula="sum over ranks of (1 / rank) x probability of stopping there; a grade g satisfies with (2^g - 1) / 2^max",
)
def expected_reciprocal_rank(gain: Array) -> Forward:
    """Each document satisfies her with a probability that grows with its grade; then she stops."""
    return Forward(continuation=1.0 - gain, beyond="nothing")
