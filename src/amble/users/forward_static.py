"""Forward users who do not look at the grades: one vector of weights for all lists."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amble.errors import MeasureError
from amble.rankings.lists import Gains
from amble.users.forward import Behaviour, Forward

__all__ = ["Static", "divided", "followed", "score_static", "static_user"]

Array = NDArray[np.float64]

NEGLIGIBLE = 1e-18  # a share of users that is taken for none
FURTHEST = 1 << 20  # the rank beyond which users are not followed


class Static:
    """A user who does not look at the grades: the behaviour on a list of any length."""

    def __init__(self, over: Callable[[int], Behaviour], *, ends: bool) -> None:
        self.over = over
        self.ends = ends  # with the list, whatever its length

    @classmethod
    def of(cls, user: Forward) -> Static:
        """The static user of a declaration that looks at nothing."""
        return cls(user.over, ends=user.ends)


def static_user(
    function: Callable[..., Any], names: tuple[str, ...], arguments: dict[str, Any], costs: Any
) -> Static | None:
    """The user, if independent of the grades (and of costs that differ); else None."""
    if not names:
        return Static.of(function(**arguments))
    if set(names) <= {"rank", "spent", "cost"} and costs is None:

        def met(m: int) -> tuple[Forward, Array]:
            rank = np.arange(1, m + 1, dtype=np.float64)
            points = {"rank": rank, "spent": rank, "cost": np.float64(1.0)}
            return function(**{name: points[name] for name in names}, **arguments), np.zeros(m)

        user, _ = met(1)
        if np.ndim(user.rule) == 0 and not callable(user.rule):
            return Static.of(user)
        if user.beyond == "endless":
            return Static(lambda n: followed(met, n)[0], ends=False)
        return Static(lambda n: met(n)[0].over(n), ends=user.ends)
    if "seen" in names and set(names) <= {"seen", "rank"}:  # parameters may switch the looking off
        with np.errstate(invalid="ignore"):
            blind = function(**{name: np.float64(np.nan) for name in names}, **arguments)
        if np.ndim(blind.rule) == 0 and not callable(blind.rule) and np.isfinite(blind.rule) and blind.survival is None:
            return Static.of(blind)
    return None


def score_static(user: Static, question: str, gains: Gains, norm: str | None) -> Array:
    """The scores of all lists, by one vector of weights."""
    lists = gains.lists
    n = max(int(lists.length.max(initial=0)), 1)
    if norm == "ideal":
        n = max(n, int(gains.topic_relevant.max(initial=0)))
    if lists.ties is not None:
        n = max(n, int((lists.ties[0] + lists.ties[1]).max(initial=0)))
    behaviour = user.over(n)
    if question in ("order2", "depth", "inside", "both"):
        if user.ends or question == "inside":  # stops at the end of each list
            depth = np.asarray(np.cumsum(behaviour.visits)[np.maximum(lists.length, 1) - 1])
        else:
            depth = np.full(lists.n, behaviour.expected_depth)
        if question in ("depth", "inside"):
            return depth
    weights = behaviour.visits.copy()
    if lists.cut is not None:
        weights[lists.cut :] = 0.0
    if lists.ties is None:
        total = gains.sum(gains.gain * weights[gains.position - 1])
    else:  # the mean weight of the ranks that tied documents share
        seen = weights if lists.depth is None else np.where(np.arange(weights.size) < lists.depth, weights, 0.0)
        area = np.concatenate(([0.0], np.cumsum(seen)))
        first, size = (x[gains.kept] for x in lists.ties)
        total = gains.sum(gains.gain * (area[first - 1 + size] - area[first - 1]) / size)
    if question == "both":
        return np.stack((total, depth))
    if question == "order2":
        total = total / depth
    return divided(total, gains, norm, weights)


def _ideal_total(gains: Gains, weights: Array) -> Array:
    """The gain of each topic's ideal list with these weights."""
    gain, starts = gains.ideal
    sizes = np.diff(starts)
    rank = np.arange(gain.size) - np.repeat(starts[:-1], sizes)
    contributions = gain * weights[rank]
    topic = np.repeat(np.arange(sizes.size), sizes)
    return np.asarray(np.bincount(topic, contributions, sizes.size), np.float64)


def divided(total: Array, gains: Gains, norm: str | None, weights: Array) -> Array:
    """The totals divided by the recall base, or by the ideal list's total with the same weights."""
    if norm is None:
        return total
    by = gains.relevant if norm == "relevant" else _ideal_total(gains, weights)[gains.lists.topic]
    return np.divide(total, by, out=np.zeros(total.size), where=by > 0)


def followed(met: Callable[[int], tuple[Forward, Array]], n: int) -> tuple[Behaviour, Array]:
    """The behaviour beyond the list, down to the rank where all users have stopped, and the gains."""
    m = n
    while True:
        user, gain = met(m)
        c = np.array(np.broadcast_to(np.asarray(user.rule, np.float64), gain.shape))
        if user.survival is not None:
            c = c * np.broadcast_to(user.survival, gain.shape)
        visits = np.cumprod(np.concatenate(([1.0], c[:-1])), dtype=np.float64)
        if visits[-1] * c[-1] < NEGLIGIBLE:
            c[-1] = 0.0
            return Behaviour(c, visits), gain
        if m >= FURTHEST:
            raise MeasureError(f"some users are still reading after rank {FURTHEST:,}, and there is no closed form")
        m = min(2 * m + 64, FURTHEST)
