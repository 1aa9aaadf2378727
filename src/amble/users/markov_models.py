"""Markov models of users: the family of Ferrante, Ferro and Maistro (2014), and of the program they published.

The transition probability from rank i to rank j is in proportion to a weight, the product of

* the distance: d(k) = 1 (``NA``), 1 / (k + 1) (``ID``) or 1 / log10(k + 2) (``LID``), where k = abs(i - j);
* the counts: 1 (``NA``), or a number that depends on the rank i: one going forward, f(i), another one going back,
  b(i). With r(i) relevant and n(i) other documents at rank i and above, they are r + 1 and n + 1 (``FRBN``),
  n + 1 and r + 1 (``FNBR``), 1 / (r + 1) and 1 / (n + 1) (``FIRBIN``), 1 / (n + 1) and 1 / (r + 1) (``FINBIR``).

Transitions lead to all ranks (``GL``) or to the neighbours only (``LO``) among the states: all ranks (``AD``), or those
of relevant documents only (``OR``). The chain never stays (``NL``), or it may (``SL``), with the weight d(0), times
f(i) + b(i) where there are counts.

A row of probabilities sums to 1, so only the ratio f : b matters. Hence ``FIRBIN`` is ``FNBR`` and ``FINBIR`` is
``FRBN``.
"""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

import numpy as np

from amble.arrays import NDArray
from amble.errors import MeasureError

__all__ = ["COUNTS", "DISTANCES", "LOOPS", "MODELS", "PUBLISHED", "RESCALING", "Model"]

Array = NDArray[np.float64]

STATES = {"AD": "all documents of the list", "OR": "the relevant documents of the list"}
CONNECTED = {"GL": "from any of them to any other", "LO": "from each to one of its neighbours"}
DISTANCES = {
    "NA": "all equally likely",
    "ID": "the nearer the likelier, as 1 / (distance + 1)",
    "LID": "the nearer the likelier, but little, as 1 / log10(distance + 2)",
}
LOOPS = {"NL": "and never stays where she is", "SL": "or stays where she is, at distance 0"}
COUNTS = {
    "NA": "",
    "FRBN": "What she has passed draws her forward if it is relevant, back if it is not: her probabilities of forward "
    "and back are as 1 + relevant to 1 + other documents down to her rank.",
    "FNBR": "What she has passed draws her back if it is relevant, forward if it is not: her probabilities of forward "
    "and back are as 1 + other to 1 + relevant documents down to her rank.",
    "FIRBIN": "Relevant documents hold her from going forward, others from going back: her probabilities of forward "
    "and back are as 1 / (1 + relevant) to 1 / (1 + other) documents down to her rank; that is FNBR.",
    "FINBIR": "Relevant documents hold her from going back, others from going forward: her probabilities of forward "
    "and back are as 1 / (1 + other) to 1 / (1 + relevant) documents down to her rank; that is FRBN.",
}
RESCALING = {
    "NA": "",
    "R": "The score is multiplied by the share of the topic's relevant documents that the list holds.",
    "RR": "The score is multiplied by the relevant documents that the list holds, divided by the most that any of the "
    "runs holds.",
}

MODELS = tuple("_".join(words) for words in product(CONNECTED, STATES, DISTANCES))
PUBLISHED = tuple(model for model in MODELS if not model.endswith("NA"))  # the eight of the paper


def distance_weights(distance: str, n: int) -> Array:
    """The weights d(0), …, d(n - 1).

    >>> distance_weights("ID", 3)
    array([1.        , 0.5       , 0.33333333])
    """
    k = np.arange(n, dtype=np.float64)
    if distance == "NA":
        return np.ones(n)
    return np.asarray(1.0 / (k + 1.0) if distance == "ID" else 1.0 / np.log10(k + 2.0))


class Model(NamedTuple):
    """A Markov model of the published family.

    Attributes
    ----------
    connected : {"GL", "LO"}
    states : {"AD", "OR"}
    distance : {"NA", "ID", "LID"}
    loops : {"NL", "SL"}
    counts : {"NA", "FRBN", "FNBR", "FIRBIN", "FINBIR"}

    Examples
    --------
    >>> from amble.users.markov_models import Model
    >>> Model.read("GL_AD_ID").story  # doctest: +NORMALIZE_WHITESPACE
    'She moves over all documents of the list, from any of them to any other, the nearer the likelier,
    as 1 / (distance + 1), and never stays where she is.'
    """

    connected: str
    states: str
    distance: str
    loops: str = "NL"
    counts: str = "NA"

    @classmethod
    def read(cls, text: str, loops: str = "NL", counts: str = "NA") -> Model:
        """The model of a name such as ``GL_AD_ID``."""
        for what, word, words in (("model", text, MODELS), ("loops", loops, LOOPS), ("counts", counts, COUNTS)):
            if not isinstance(word, str) or word not in words:
                raise MeasureError(f"{what}={word!r:.60} is not allowed, expected one of {', '.join(map(repr, words))}")
        connected, states, distance = text.split("_")
        return cls(connected, states, distance, loops, counts)

    @property
    def story(self) -> str:
        """The user's behaviour in a sentence or two, for `amble list`."""
        first = (
            f"She moves over {STATES[self.states]}, {CONNECTED[self.connected]}, {DISTANCES[self.distance]}, "
            f"{LOOPS[self.loops]}."
        )
        return " ".join(part for part in (first, COUNTS[self.counts]) if part)

    @property
    def plain(self) -> Model:
        """The same chain under one name: neighbours in a list are at distance 1, and of counts the ratio matters."""
        same = self._replace(counts={"FIRBIN": "FNBR", "FINBIR": "FRBN"}.get(self.counts, self.counts))
        return same._replace(distance="NA") if same[:2] == ("LO", "AD") and same.loops == "NL" else same

    @property
    def loop(self) -> float:
        """The weight of staying."""
        return 0.0 if self.loops == "NL" else float(distance_weights(self.distance, 1)[0])

    def ways(self, rank: Any, relevant: Any) -> tuple[Array, Array]:
        """The weights f and b of going forward and back, given the rank and the relevant documents down to it."""
        r, n = relevant + 1.0, rank - relevant + 1.0
        if self.counts == "NA":
            return np.ones(np.shape(r)), np.ones(np.shape(r))
        return (r, n) if self.plain.counts == "FRBN" else (n, r)

    def staying(self, forward: Array, back: Array) -> Array | float:
        """The weight of staying at each rank."""
        return self.loop if self.counts == "NA" or self.loop == 0 else self.loop * (forward + back)

    def weights(self, rank: NDArray[Any], forward: Array, back: Array) -> Array:
        """The weights between the ranks given, of one list or, before the last axis, of several."""
        m = rank.shape[-1]
        far = np.abs(rank[..., :, None] - rank[..., None, :]).astype(np.int64)
        w = distance_weights(self.distance, int(far.max(initial=0)) + 1)[far]
        if self.connected == "LO":
            w = np.triu(np.tril(w, 1), -1)
        if self.counts != "NA":
            w *= np.where(np.tri(m, dtype=bool), back[..., None], forward[..., None])
        diagonal = np.arange(m)
        w[..., diagonal, diagonal] = self.staying(forward, back) if m > 1 else 1.0  # one state: the chain stays
        return np.asarray(w)
