"""Users who walk down and click: they gain by clicks, and go on after a click as often as that document lets them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from amble.arrays import NDArray
from amble.distributions.distribution import Distribution
from amble.errors import MeasureError
from amble.rankings.lists import Gains
from amble.users.behaviour import Behaviour
from amble.users.followers import StateFollower
from amble.users.forward import Forward, LookingForward
from amble.users.protocol import Follower, Question
from amble.users.utility import Utility

__all__ = ["ClickBehaviour", "Clicks"]

Array = NDArray[np.float64]

_MOST = 1_000_000  # different gains that are told apart
_GRID = 1e-12  # of all that can be gained: closer gains are the same
_NEGLIGIBLE = 1e-15  # users still on the list


class Clicks(Forward):
    """A user who clicks on the document at a rank, or not, and goes on with another probability in either case.

    The gains of lists are what a document brings on average, to all who look at its rank: that of a click times the
    probability of one.

    Parameters
    ----------
    click, after, without : float or array
        At every rank, the probability of a click, and those of going on after one and without one.

    Examples
    --------
    >>> from amble.users.clicks import Clicks
    >>> user = Clicks(click=np.array([0.5, 0.8]), after=0.4, without=0.8).over(2)
    >>> user.visits  # .5 x .4 + .5 x .8 go on
    array([1. , 0.6])
    >>> user.total_distribution([1.0, 0.8])  # by documents worth 2 and 1
    Distribution(4 atoms, mean 1.48, exact)
    """

    def __init__(self, click: Any, after: Any, without: Any) -> None:
        self.click, self.after, self.without = click, after, without
        super().__init__(continuation=click * after + (1.0 - click) * without)

    @classmethod
    def looking(cls, function: Callable[..., Forward], names: tuple[str, ...], stops: str | None) -> LookingClicks:
        """The user who clicks and goes on as a function of what is seen says."""
        return LookingClicks(function, names, stops)

    def check(self, question: Question) -> None:
        """Raise an error if the question is about where the user stops, which goes with what was clicked there."""
        if not question.about_visits:
            raise MeasureError("of users who click the question is 'total' or 'order2', E[T] or E[T]/E[H]")

    def over(self, n: int) -> Behaviour:
        """The user's behaviour on a list of n documents."""
        plain = super().over(n)
        each = (np.broadcast_to(x, plain.visits.shape) for x in (self.click, self.after, self.without))
        return ClickBehaviour(plain.continuation, plain.visits, *each)


class LookingClicks(LookingForward):
    """A user who looks, clicks and walks down."""

    def distribution(self, question: Question, gains: Gains, i: int) -> Distribution:
        """The distribution of the score of list i over users."""
        found = self.on(gains, i)
        assert isinstance(found, ClickBehaviour)
        return found.distribution(gains.by_rank(i, found.visits.size), question)

    def follower(self, gains: Gains, lists: list[int], seed: int) -> Follower:
        """Simulated readers of a list."""
        found = self.on(gains, lists[0])
        assert isinstance(found, ClickBehaviour)
        return ClickFollower(found, gains.by_rank(lists[0], found.visits.size), seed)


class ClickBehaviour(Behaviour):
    """What a user who clicks does over a list."""

    def __init__(self, continuation: Array, visits: Array, click: Array, after: Array, without: Array) -> None:
        super().__init__(continuation, visits)
        self.click, self.after, self.without = click, after, without

    def check_path(self, path: Any) -> NDArray[np.int64]:
        """An error: ranks that were visited do not say which documents were clicked."""
        raise MeasureError("path: ranks do not say which documents were clicked, and only clicks gain")

    def worth_of_clicks(self, gains: Array) -> Array:
        """What a click brings at each rank, by what that is on average to who looks there."""
        return np.asarray(np.divide(gains, self.click, out=np.zeros(gains.size), where=self.click > 0))

    def total_distribution(self, gains: Any) -> Distribution:
        """The distribution of T."""
        return self.distribution(np.pad(gains, (0, self.visits.size - len(gains))), Question.TOTAL)

    def distribution(self, gains: Array, question: Question) -> Distribution:
        """The distribution of the score: rank by rank, of who is there with each gain, those who click, and stop."""
        worth = self.worth_of_clicks(gains)
        unit = _GRID * max(float(worth.sum()), _GRID)
        t, alive = np.zeros(1), np.ones(1)
        values, probs = [], []
        for i, (c, y) in enumerate(zip(self.click.tolist(), worth.tolist(), strict=True)):
            goes = (self.after[i], self.without[i]) if i + 1 < gains.size else (0.0, 0.0)
            t, here = np.concatenate((t + y, t)), np.concatenate((c * alive, (1.0 - c) * alive))
            on = here * np.repeat(goes, alive.size)
            values.append(question.score(t, self.effort(np.full(t.size, i + 1.0))))
            probs.append(here - on)
            _, first, same = np.unique(np.rint(t / unit), return_index=True, return_inverse=True)
            t, alive = t[first], np.asarray(np.bincount(same, on), np.float64)
            if alive.sum() < _NEGLIGIBLE:
                break
            if t.size > _MOST:
                raise MeasureError(f"more than {_MOST:,} different gains after rank {i + 1}: too many to be told apart")
        return Distribution(np.concatenate(values), np.concatenate(probs))


class ClickFollower(StateFollower):
    """Simulated readers of one list: at rank i, counted from 0, state 2 i is a click, and 2 i + 1 none."""

    def __init__(self, behaviour: ClickBehaviour, gains: Array, seed: int) -> None:
        worth = behaviour.worth_of_clicks(gains)
        super().__init__(
            seed, np.stack((worth, np.zeros(worth.size)), axis=1).reshape(1, -1), Utility(), behaviour.effort
        )
        self.rank = np.repeat(np.arange(1, worth.size + 1), 2)
        self.click = behaviour.click
        self.goes = np.stack((behaviour.after, behaviour.without), axis=1).ravel()
        self.goes[-2:] = 0.0  # the list ends

    def move(self, at: Array | None, total: Array, draw: Array) -> Array:
        """Where readers go: one draw says whether they go on, and whether they click there."""
        goes, rank = (np.ones(draw.size), np.zeros(draw.size, np.int64)) if at is None else (self.goes[at], at // 2 + 1)
        to = np.minimum(rank, self.click.size - 1)
        return np.where(draw < goes, 2 * to + (draw >= goes * self.click[to]), -1)
