"""Measures of intents: alpha-nDCG, ERR-IA, NRBP, D#-nDCG, subtopic recall, and the intent-aware form of any measure."""
# no `from __future__ import annotations`: declarations read their own annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any

import numpy as np

from amble.errors import MeasureError
from amble.expressions.domains import AtLeast, Between, Form, GainTable, Optional
from amble.measures.declaration import REGISTRY, Declaration, Variant, measure
from amble.measures.gain_maps import GainKind, binary, graded, ungraded
from amble.measures.intent_measure import Part
from amble.measures.list_measure import ListMeasure
from amble.measures.measure import Measure
from amble.rankings.lists import GainMap
from amble.users.protocol import Question

_LEAST_ALPHA = 1e-5  # below, a sum over all ranks has too many terms

_ALPHA = Annotated[
    float, Between(0, 1, closed=True), "what a further document on a subtopic brings less than the one before"
]
_REL = Annotated[float, AtLeast(0, smooth=False), "the least grade that is relevant for a subtopic"]
_GAINS = Annotated[Any, Optional(GainTable()), "how a grade for a subtopic becomes a gain; None: 1 if relevant, else 0"]


def _one_intent(name: str, gain: GainKind, values: Mapping[str, Any], **own: Any) -> ListMeasure:
    """A measure of the catalogue with other gains: what one who means one intent asks."""
    d = REGISTRY[name]
    of_gains = {p.name for p in d.gain.parameters}
    parameters = {key: p for key, p in d.parameters.items() if key not in of_gains}
    parameters |= {p.name: p for p in gain.parameters}
    given = {key: p.default for key, p in parameters.items()} | dict(values) | own
    return ListMeasure(d._replace(gain=gain, parameters=parameters, variant=None, tied=None), given, None)


def _paid(name: str, rel: float, gains: Any, **own: Any) -> ListMeasure:
    if gains is None:
        return _one_intent(name, binary, {"rel": rel}, **own)
    return _one_intent(name, graded, {"gains": gains}, **own)


def _satisfied(alpha: float, rel: float) -> ListMeasure:
    """ERR's user, whom a relevant document satisfies with probability alpha."""

    def make(values: Mapping[str, Any]) -> GainMap:
        return GainMap(("satisfied", alpha, values["rel"]), lambda y, _: np.where(y >= values["rel"], alpha, 0.0))

    return _one_intent("ERR", GainKind(binary.parameters, make), {"rel": rel})


def _most(alpha: float, discount: Callable[[Any], Any]) -> Callable[[int | None], float]:
    """The sum down to rank k of a discount, if every document is on the subtopic: no list has more."""

    def sum_to(k: int | None) -> float:
        n = k
        if k is None:
            if alpha < _LEAST_ALPHA:
                raise MeasureError(f"alpha={alpha:g}: without @k there is no greatest score to divide by; expected @k")
            n = 1 if alpha == 1 else int(np.ceil(np.log(1e-18) / np.log1p(-alpha))) + 1
        rank = np.arange(1.0, float(n or 0) + 1.0)
        return float(((1.0 - alpha) ** (rank - 1.0) * discount(rank)).sum())

    return sum_to


def _bounded(d: Declaration, values: dict[str, Any], cut: int | None, given: frozenset[str]) -> Variant:
    """Scores are at most 1 where gains are."""
    return d._replace(bounded=values["gains"] is None), values, cut


def _dcg_most(alpha: float) -> Callable[[int | None], float]:
    return _most(alpha, lambda rank: 1.0 / np.log2(rank + 1.0))


@measure(
    "alpha_DCG", question="total", gain=ungraded, cite="clarke2008", family="intents", variant=_bounded,
    formula="mean over subtopics of the sum of gain (1 - alpha)^(times seen before) / log2(rank + 1), divided by that "
    "sum if all k documents were on the subtopic",
)  # fmt: skip
def alpha_dcg(intents: Any, alpha: _ALPHA = 0.5, rel: _REL = 1, gains: _GAINS = None) -> Part:
    """DCG's user wants one of the topic's subtopics; what is on it again is worth less each time."""
    return Part(_paid("DCG", rel, gains), alpha, _dcg_most(alpha))


@measure(
    "alpha_nDCG", question="total", gain=ungraded, cite="clarke2008", family="intents",
    formula="alpha_DCG, divided by that of the list that takes, rank by rank, the judged document that adds most",
)  # fmt: skip
def alpha_ndcg(intents: Any, alpha: _ALPHA = 0.5, rel: _REL = 1, gains: _GAINS = None) -> Part:
    """alpha_DCG's user, who compares what she gained with what a list made for all subtopics would give."""
    return Part(_paid("DCG", rel, gains), alpha, "greedy")


_STOPS = Annotated[float, Between(0, 1, closed=True), "the probability that a document on her subtopic satisfies her"]


@measure(
    "ERR_IA", question="satisfied", gain=ungraded, cite="chapelle2011", family="intents",
    formula="mean over subtopics of ERR with probability alpha of stopping at a relevant document, divided by the ERR "
    "of k such documents",
)  # fmt: skip
def err_ia(intents: Any, alpha: _STOPS = 0.5, rel: _REL = 1) -> Part:
    """She wants one of the topic's subtopics, and each document on it satisfies her with probability alpha."""
    return Part(_satisfied(alpha, rel), None, _most(alpha, lambda rank: alpha / rank))


@measure(
    "nERR_IA", question="satisfied", gain=ungraded, cite="chapelle2011", family="intents",
    formula="ERR_IA, divided by that of the list that takes, rank by rank, the judged document that adds most",
)  # fmt: skip
def nerr_ia(intents: Any, alpha: _STOPS = 0.5, rel: _REL = 1) -> Part:
    """ERR_IA's user, compared with how soon a list made for all subtopics would satisfy her."""
    return Part(_satisfied(alpha, rel), None, "greedy", fade=alpha)


_BETA = Annotated[float, Between(0, 1), "the probability of going on to the next document"]


def _rbp(beta: float, rel: float, gains: Any) -> ListMeasure:
    return _paid("RBP", rel, gains, p=beta)


@measure(
    "NRBP", question="order2", gain=ungraded, cite="clarke2009", family="intents", variant=_bounded,
    formula="(1 - (1 - alpha) beta) x mean over subtopics of the sum of gain (1 - alpha)^(times seen before) "
    "beta^(rank - 1)",
)  # fmt: skip
def nrbp(intents: Any, alpha: _ALPHA = 0.5, beta: _BETA = 0.5, rel: _REL = 1, gains: _GAINS = None) -> Part:
    """RBP's user wants one of the topic's subtopics; what is on it again is worth less each time."""
    return Part(_rbp(beta, rel, gains), alpha, lambda k: (1.0 - beta) / (1.0 - (1.0 - alpha) * beta))


@measure(
    "nNRBP", question="order2", gain=ungraded, cite="clarke2009", family="intents",
    formula="NRBP, divided by that of the list that takes, rank by rank, the judged document that adds most",
)  # fmt: skip
def nnrbp(intents: Any, alpha: _ALPHA = 0.5, beta: _BETA = 0.5, rel: _REL = 1, gains: _GAINS = None) -> Part:
    """NRBP's user, who compares what she gained with what a list made for all subtopics would give."""
    return Part(_rbp(beta, rel, gains), alpha, "greedy")


@measure(
    "MAP_IA", question="order1", gain=ungraded, cite="agrawal2009", family="intents",
    formula="weighted mean over subtopics of AP",
)  # fmt: skip
def map_ia(intents: Any, rel: _REL = 1) -> Part:
    """AP's user wants one of the topic's subtopics, and only documents on it are relevant to her."""
    return Part(_one_intent("AP", binary, {"rel": rel}))


@measure(
    "P_IA", question="order2", gain=ungraded, cite="agrawal2009", family="intents",
    formula="weighted mean over subtopics of P@k",
)  # fmt: skip
def p_ia(intents: Any, rel: _REL = 1) -> Part:
    """She reads k documents; only those on the subtopic that she wants are relevant to her."""
    return Part(_one_intent("P", binary, {"rel": rel}))


@measure(
    "StRec", question="total", gain=ungraded, cite="zhai2003", family="intents",
    formula="share of the subtopics that have a relevant document among the first k",
)  # fmt: skip
def subtopic_recall(intents: Any, rel: _REL = 1) -> Part:
    """She wants one of the topic's subtopics, each with equal probability, and asks whether there is anything on it."""
    return Part(_one_intent("Success", binary, {"rel": rel}), even=True)


_LINEAR = Annotated[Any, GainTable(), "how a grade for a subtopic becomes a gain"]


@measure(
    "D_nDCG", question="total", gain=ungraded, cite="sakai2011", family="intents",
    formula="nDCG of documents whose gain is the weighted mean over subtopics of their gains",
)  # fmt: skip
def d_ndcg(intents: Any, gains: _LINEAR = "linear") -> Part:
    """DCG's user wants one of the topic's subtopics; the ideal list has the documents that please most people first."""
    return Part(_one_intent("DCG", graded, {"gains": gains}), None, "sorted")


@measure(
    "DSharp_nDCG", question="total", gain=ungraded, cite="sakai2011", family="intents",
    formula="gamma StRec + (1 - gamma) D_nDCG",
)  # fmt: skip
def dsharp_ndcg(
    intents: Any,
    gamma: Annotated[
        float, Between(0, 1, closed=True), "the share of people who ask only whether there is anything"
    ] = 0.5,
    gains: _LINEAR = "linear",
) -> list[Part]:
    """Some ask whether there is anything on the subtopic that they want, the others are D_nDCG's users."""
    any_grade = _one_intent("Success", graded, {"gains": gains})
    both = Part(any_grade, share=gamma, even=True), d_ndcg(intents, gains)._replace(share=1.0 - gamma)
    return [part for part in both if part.share > 0]


def _list_measure(text: Any) -> Measure:
    from amble.measures.catalogue.sessions_weighted import parse_list_measure

    found = parse_list_measure(text)
    if not isinstance(found, ListMeasure) or found.declaration.of_intents or found.declaration.aggregate != "mean":
        raise MeasureError(f"of={str(text)!r:.60}, expected a measure of lists whose mean is taken, and not of intents")
    return found


def _of_any(d: Declaration, values: dict[str, Any], cut: int | None, given: frozenset[str]) -> Variant:
    of = values["of"]
    if of is None:
        return d, values, cut
    if cut is not None and (of.cut is not None or of.values.get(of.declaration.at) is not None):
        raise MeasureError(f"of={str(of)!r} has a rank of its own, expected one @")
    own = of.declaration
    if values["novel"] is not None and own.question is None:
        raise MeasureError(f"novel={values['novel']:g} is for measures that are users, not for {of}")
    asked = own.question or Question.TOTAL
    return d._replace(question=asked, less=own.less, bounded=own.bounded), values, cut


@measure(
    "IA", question="order1", gain=ungraded, cite="agrawal2009", family="intents", variant=_of_any,
    formula="weighted mean over subtopics of a measure, each with the grades of that subtopic",
)  # fmt: skip
def intent_aware(
    intents: Any,
    of: Annotated[
        Any, Form(_list_measure, "a measure of lists, such as 'INST(T=2)'", Measure), "measure of one subtopic"
    ] = None,
    novel: Annotated[
        float | None,
        Optional(Between(0, 1, closed=True)),
        "what a further visit to the subtopic brings less than the one before; None: as the measure has it",
    ] = None,
) -> Part:
    """Each means one of the topic's subtopics, and is a user of the measure that is named."""
    if of is None:
        raise MeasureError("IA needs a measure, as in IA(of='AP')")
    return Part(of, novel)
