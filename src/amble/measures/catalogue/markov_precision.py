"""Markov Precision, a Markov chain over the ranks, and its ancestor, Normalised Cumulative Precision."""
# no `from __future__ import annotations`: declarations read their own annotations

import math
import os
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Self

import numpy as np

from amble.arrays import NDArray
from amble.checks import is_number
from amble.errors import MeasureError, ReadError
from amble.expressions.domains import Above, AtLeast, Between, Domain, Form, Numbers, OneOf, Optional, Switch, Whole
from amble.expressions.formulas import NumbersFile
from amble.expressions.values import ByRank, Value, digest
from amble.io.rows import read_number, read_rows
from amble.io.trec import Qrels
from amble.measures.declaration import Variant, measure
from amble.measures.fitted_parameters import (
    FittedParameters,
    FittedTransitions,
    FittedUser,
    is_fit,
    refuse_beside,
)
from amble.measures.gain_maps import GainKind, binary
from amble.rankings.lists import GainMap
from amble.users.forward import Forward
from amble.users.markov import STARTS, MarkovUser
from amble.users.markov_models import COUNTS, LOOPS, MODELS, RESCALING

Array = NDArray[np.float64]


class Rates(Domain):
    """Rates of leaving each rank: ``'0.2,0.04,0.01'``, or the name of a file with one number per line."""

    accepts = "str | Sequence[float]"
    smooth = False
    by_topic = True
    text = (
        "numbers above 0, by rank, with commas between them (the last holds further down), or the name of a file with "
        "one per line, or with a topic and its rates per line (.tsv), or of a file of `amble fit`"
    )

    def check(self, value: Any) -> ByRank | NumbersFile | FittedParameters:
        """The rates by rank; a file is read."""
        if is_fit(value):
            return FittedUser("times").check(value)
        if not isinstance(value, str | os.PathLike):
            rates: ByRank | NumbersFile = ByRank(value)
        elif not os.fspath(value):
            raise ValueError
        else:
            rates = self._read(os.fspath(value))
        if min(rates) <= 0:
            raise ValueError
        return rates

    def _read(self, text: str) -> ByRank | NumbersFile:
        try:
            return ByRank([read_number(word.strip(), "rate") for word in text.split(",")])
        except ValueError as error:
            if ("," in text or text[0] in "+-.0123456789") and not os.path.exists(text):
                raise MeasureError(f"rates={text!r:.60}: {error}, and there is no such file") from None
        return NumbersFile.read(text, Above(0), "rate")


def _mp_variant(d: Any, values: dict[str, Any], cut: int | None, given: frozenset[str]) -> Variant:
    """MP, with transitions or times of fitted users where they are given."""
    user, rates = values["user"], values["rates"]
    for name, other in (("start", "steps"), ("memory", "steps"), ("users", "memory"), ("seed", "memory")):
        if name in given and not values[other]:
            raise MeasureError(f"{name} goes with {other} only")
    if isinstance(rates, FittedParameters):
        values = values | {"rates": rates.by_rank("mu")}
    if user is None:
        return d, values, cut
    refuse_beside(given, ["model", "loops", "counts"])
    moves = FittedTransitions(user["P"])
    return d, values | {"user": moves}, min(len(moves.matrix), cut or len(moves.matrix))


@measure(
    "MP",
    question="markov",
    cite="ferrante2014",
    family="markov",
    variant=_mp_variant,
    formula="sum over the relevant ranks i of pi(i) x precision at i, pi: the stationary distribution of the chain",
)
def markov_precision(
    model: Annotated[
        str,
        OneOf(*MODELS),
        "the moves: everywhere (GL) or to neighbours (LO); among all documents (AD) or the relevant ones (OR); "
        "whatever the distance k (NA), or with weights 1 / (k + 1) (ID) or 1 / log10(k + 2) (LID)",
    ] = "GL_AD_ID",
    loops: Annotated[str, OneOf(*LOOPS), "no moves from a rank to itself (NL), or such moves (SL)"] = "NL",
    counts: Annotated[
        str,
        OneOf(*COUNTS),
        "probabilities of going forward (F) and back (B) in proportion to the relevant (R) or other (N) documents down "
        "to the rank, or to their inverses (I)",
    ] = "NA",
    rescale: Annotated[
        str,
        OneOf(*RESCALING),
        "the score is multiplied by recall (R), or by the relevant documents found, divided by the most that any run "
        "found (RR)",
    ] = "NA",
    rates: Annotated[
        Sequence[float] | None,
        Optional(Rates()),
        "by rank, 1 / the mean time spent there, or a file of fitted ones; None: all visits count alike",
    ] = None,
    steps: Annotated[
        int | None,
        Optional(Whole(1)),
        "the number of visits to relevant documents, counting repeats, before stopping; None: without end",
    ] = None,
    start: Annotated[
        str | None,
        Optional(OneOf(*STARTS)),
        "with steps: the start, at the first of the ranks that are visited, or at any; None: the first",
    ] = None,
    memory: Annotated[
        bool, Switch(), "with steps: documents not visited yet are visited first, as long as a move leads to one"
    ] = False,
    users: Annotated[int, Whole(1), "with memory: how many are simulated for a score"] = 10_000,
    seed: Annotated[int, Whole(0), "with memory: same seed, same users"] = 0,
    user: Annotated[
        FittedTransitions | None,
        Optional(FittedUser("markov")),
        "instead of model: transition probabilities fitted to what people did; none leads below the last of them",
    ] = None,
) -> MarkovUser:
    """She moves over the list, back and forth, and at each relevant document she asks for precision.

    The score is the mean over the visits to relevant documents: in the long run, or over as many as steps
    says. With no relevant document it is 0.
    """
    more: dict[str, Any] = {
        "steps": steps,
        "start": start or "first",
        "memory": memory,
        "users": users,
        "seed": seed,
        "rescale": rescale,
    }
    if user is not None:
        return MarkovUser(matrix=user, rates=rates, **more)
    return MarkovUser(model, loops=loops, counts=counts, rates=rates, **more)


class DocumentWeights(Value):
    """How often each document is the one wanted, in proportion: by topic, from a mapping or a file."""

    table: dict[str, dict[str, float]]
    source: str
    known: list[tuple[Qrels, Array]]  # shares of the last qrels that were asked for

    def __init__(self, table: Mapping[str, Mapping[str, float]], source: str = "") -> None:
        found: dict[str, dict[str, float]] = {}
        for topic, of in table.items():
            if not isinstance(of, Mapping):
                raise ValueError
            if not all(is_number(x) and 0 <= x < math.inf for x in of.values()) or not 0 < sum(of.values()) < math.inf:
                raise MeasureError(f"documents: topic {topic}: expected weights of at least 0, and one above it")
            found[str(topic)] = {str(document): float(x) for document, x in of.items()}  # whole numbers are ids, too
        if not found:
            raise ValueError
        vars(self).update(table=found, source=source, known=[])

    @classmethod
    def read(cls, given: Any) -> Self:
        """The weights of a mapping, or of a file with lines of a topic, a document and its weight."""
        if isinstance(given, cls):
            return given
        if isinstance(given, Mapping):
            return cls(given)
        table: dict[str, dict[str, float]] = {}
        try:
            for where, (topic, document), (weight,) in read_rows(given, ("topic", "document"), ("weight",)):
                if document in table.setdefault(topic, {}) or weight < 0:
                    wrong = (
                        f"weight {weight:g} is below 0"
                        if weight < 0
                        else f"{document} of topic {topic} has a weight already"
                    )
                    raise ReadError(f"{where}: {wrong}, expected one weight of at least 0 for each document")
                table[topic][document] = weight
        except ReadError as error:
            raise MeasureError(str(error)) from None
        return cls(table, os.fspath(given))

    def content(self) -> tuple[Any, ...]:
        """The weights, and the name of the file."""
        return self.table, self.source

    def __hash__(self) -> int:
        return hash((tuple(self.table), self.source))

    @property
    def unquoted(self) -> bool:
        """Whether no expression can spell it: it is no file's."""
        return not self.source

    def __str__(self) -> str:
        return self.source or digest("documents", sorted(self.table.items()))

    def shares(self, qrels: Qrels | None) -> Array:
        """Of each judgment, the probability that its document is the one wanted."""
        if qrels is None:
            raise MeasureError("documents have weights, and this list has no documents but only grades; score runs")
        for known, out in self.known:
            if known is qrels:
                return np.asarray(out)
        out, docs, bounds = np.zeros(len(qrels)), qrels.docs, qrels.offsets.tolist()
        for topic, start, end in zip(qrels.topics, bounds[:-1], bounds[1:], strict=True):
            if topic in self.table:
                of = self.table[topic]
                out[start:end] = np.array([of.get(doc, 0.0) for doc in docs[start:end]]) / math.fsum(of.values())
            elif (qrels.grades[start:end] > 0).any():
                raise MeasureError(f"topic {topic} has no weights of documents, expected some for every topic")
        self.known[:] = [(qrels, out)]
        return out


def _wanted(values: Mapping[str, Any]) -> GainMap:
    plain, documents = binary.make(values), values["documents"]
    return plain if documents is None else GainMap((*plain.key, documents), plain.function, documents.shares)


def _ncp_variant(d: Any, values: dict[str, Any], cut: int | None, given: frozenset[str]) -> Variant:
    several = [name for name in ("g", "distribution", "documents") if name in given]
    if len(several) > 1:
        raise MeasureError(f"{' and '.join(several)}: expected one of them")
    return d, values, cut


@measure(
    "NCP",
    question="order1",
    gain=GainKind(binary.parameters, _wanted),
    stops="gain",
    cite="robertson2008",
    variant=_ncp_variant,
    family="markov",
    formula="sum over the relevant ranks i of p(i) x precision at i; p is the probability of being satisfied there",
)
def normalised_cumulative_precision(
    gain: Array,
    seen: Array,
    relevant: Array,
    share: Array,
    g: Annotated[
        float,
        Between(0, 1, closed=True),
        "the next relevant document satisfies g times as often as the one before; 1: all alike, which is AP",
    ] = 1.0,
    distribution: Annotated[
        ByRank | None,
        Optional(Numbers(domain=AtLeast(0))),
        "instead of g: how often the first relevant document found satisfies, the second, and so on, in "
        "proportion; those beyond never do",
    ] = None,
    documents: Annotated[
        DocumentWeights | None,
        Optional(
            Form(
                DocumentWeights.read,
                "the name of a file with lines of a topic, a document and its weight, or {topic: {document: weight}}",
                Mapping,
                os.PathLike,
                DocumentWeights,
            )
        ),
        "instead of g: how often each document is the one that satisfies, in proportion, wherever it is found; those "
        "that are not in the list, or not relevant, keep their share, and bring nothing",
    ] = None,
) -> Forward:
    """She reads down to the relevant document that satisfies her, stops there, and asks for precision.

    If it is not in the list, the gain is 0.
    """
    if documents is not None:
        return Forward(last=share, beyond="nothing")
    if distribution is None:
        weight = np.where(gain > 0, g ** np.maximum(seen - 1.0, 0.0), 0.0)
        total = relevant if g == 1 else np.minimum(relevant, 1.0)
        if 0 < g < 1:  # (1 - g^R) / (1 - g), without cancellation
            total = np.expm1(relevant * np.log(g)) / (g - 1.0)
    else:
        given = np.concatenate(([0.0], distribution))  # by the number of relevant documents found
        found, most = (np.minimum(np.asarray(x, np.int64), given.size) for x in (seen, relevant))
        weight = np.where(gain > 0, np.append(given, 0.0)[found], 0.0)
        total = np.cumsum(given)[np.minimum(most, given.size - 1)]
    return Forward(last=weight, mass=np.where(total > 0, total, 1.0), beyond="nothing")
