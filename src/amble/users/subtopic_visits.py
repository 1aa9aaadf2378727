"""Users who go back, paid by subtopic: what a visit brings depends on how often its subtopic was seen before.

The k-th visit to any document of a subtopic brings y (1 - novel)^(k-1): Ferrante and Ferro's g(k, y), with k counted
over the subtopic, as alpha-nDCG counts it. With D the states that show documents of the subtopic, M_D what M is among
them, and lambda = novel, E[T] = (mu M)_D (lambda M_D + (1 - lambda) I)^-1 y_D: the algebra of documents that have
several states (`ChainOnList`), with a subtopic in the place of a document.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from amble.arrays import NDArray
from amble.errors import MeasureError
from amble.rankings.lists import Gains
from amble.users.chain_on_list import ChainOnList
from amble.users.dense import DenseUser
from amble.users.protocol import Question, User
from amble.users.utility import Utility

__all__ = ["SubtopicOnList", "SubtopicUser"]

Array = NDArray[Any]


class SubtopicOnList(ChainOnList):
    """A chain on a list of one subtopic, whose visits count together; given the gains by rank."""

    def __init__(self, of: ChainOnList, y: Array, utility: Utility) -> None:
        super().__init__(
            of.transitions, of.start, of.leaving, utility, of.effort, rank=of.rank, gains=of.gain, length=of.length,
            by_document=True, clock=of.clock,
        )  # fmt: skip
        self._of_subtopic = np.flatnonzero(self.gains_by_state(y) > 0)

    @cached_property
    def documents(self) -> list[NDArray[np.int64]]:
        """The states of the subtopic, if there are several."""
        return [self._of_subtopic] if self._of_subtopic.size > 1 else []

    @property
    def counted(self) -> NDArray[np.int64]:
        """What the visits of each state count with: those of the subtopic together, others alone."""
        out = -np.arange(self.n)
        out[self._of_subtopic] = 1
        return out

    @cached_property
    def reach(self) -> Array:
        """The probability that each rank is ever visited."""
        return self._by_rank((self._solved.visits / self._solved.own)[:, 0, 0])


class SubtopicUser(DenseUser):
    """A user who goes back, on lists of one subtopic each.

    Examples
    --------
    >>> from amble.rankings.lists import GainMap, Lists
    >>> from amble.users.walk import Walk
    >>> gains = Lists.of_grades([1, 1, 0]).gains(GainMap(("own",), lambda grades, most: grades))
    >>> once = SubtopicUser(Walk(0.5, 0.25), 1.0)  # only the first visit counts, and rank 1 is always the first
    >>> once.totals(gains)[0]
    array([1.])
    """

    def __init__(self, user: User, novel: float) -> None:
        self.user, self.utility = user, Utility(novel)

    def transitions(self, gains: Gains, i: int) -> tuple[Array, Array]:
        """The transition probabilities and the start of the user on list i."""
        on_list = self.on(gains, i)
        return on_list.p, on_list.start

    def on(self, gains: Gains, i: int) -> SubtopicOnList:
        """The user on list i."""
        on_list: Any = self.user.on(gains, i)
        if not hasattr(on_list, "as_chain"):
            raise MeasureError("novel= is for users who walk down, walk back and forth, or go from state to state")
        return SubtopicOnList(on_list.as_chain(), gains.by_rank(i), self.utility)

    def scores(self, question: Question, gains: Gains) -> Array:
        """The answer of every list; 0 where nothing is gained."""
        out = np.zeros(gains.lists.n)
        for i in np.flatnonzero(gains.found).tolist():
            out[i] = self.on(gains, i).score(question, gains.by_rank(i))
        return out
