"""Any forward user, followed rank by rank: the behaviour on one list, the scores of blocks of lists."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from amble.arrays import NDArray
from amble.errors import MeasureError
from amble.rankings.lists import Gains
from amble.users.behaviour import Behaviour, check_probabilities, inverse_power
from amble.users.effort import Effort
from amble.users.forward_static import FURTHEST, NEGLIGIBLE, followed
from amble.users.protocol import Question
from amble.users.tails import Geometric, InversePower, Tail

if TYPE_CHECKING:
    from amble.users.forward import Forward

__all__ = ["behaviour_on", "follow_dense"]

Array = NDArray[np.float64]
_LISTS = 512  # followed side by side


def behaviour_on(function: Callable[..., Forward], names: tuple[str, ...], gains: Gains, i: int) -> Behaviour:
    """The user's behaviour on list i."""
    n = max(int(gains.lists.length[i]), 1)

    def met(m: int) -> tuple[Forward, Array]:
        gain = gains.by_rank(i, m)
        rank = np.arange(1, m + 1, dtype=np.float64)
        topic = {"relevant": np.float64(gains.relevant[i]), "available": np.float64(gains.available[i])}
        costs = gains.lists.costs
        cost = np.float64(1.0) if costs is None else costs.stretch(np.array([i]), 0, m)[0]
        spent = rank if costs is None else np.cumsum(cost)
        points = {"rank": rank, "gain": gain, "seen": np.cumsum(gain), "cost": cost, "spent": spent, **topic}
        if "share" in names:
            points["share"] = gains.by_rank(i, m, gains.share)
        if "grade" in names:
            points["grade"] = np.pad(gains.lists.grades_by_rank(i), (0, m - n))
        return function(**{name: points[name] for name in names}), gain

    user, gain = met(n)
    if user.depth is not None and user.depth > n:
        user, gain = met(user.depth)
    if user.mass is not None:
        mass = float(np.max(user.mass))
        user = user.replaced(last=np.asarray(user.rule) / mass if mass > 0 else np.zeros(n))
    if user.beyond == "endless" and user.kind == "continuation" and np.ndim(user.rule) > 0:
        return followed(met, gain.size)
    return user.over(gain.size)


def follow_dense(
    function: Callable[..., Forward],
    names: tuple[str, ...],
    question: Question | None,
    gains: Gains,
    effort: Effort | None = None,
    *,
    inside: bool = False,
) -> tuple[Array, Array]:
    """What the question adds up on every list (of none, the cost), and E[f(H)]; ``inside``: on its own ranks only."""
    lists = gains.lists
    answer, depth = np.zeros(lists.n), np.zeros(lists.n)
    order = np.argsort(lists.length, kind="stable")
    for at in range(0, lists.n, _LISTS):
        block = order[at : at + _LISTS]
        answer[block], depth[block] = _Block(gains, block, effort).walk(function, names, question, inside)
    return answer, depth


class _Block:
    """Some lists, followed side by side, a stretch of ranks at a time, until all users have stopped."""

    def __init__(self, gains: Gains, block: NDArray[Any], effort: Effort | None) -> None:
        self.gains, self.block, self.effort = gains, block, effort or Effort()
        self.length = np.asarray(gains.lists.length[block], np.int64)
        place = np.full(gains.lists.n, -1)
        place[block] = np.arange(block.size)
        mine = np.flatnonzero(place[gains.list] >= 0)
        by_rank = mine[np.argsort(gains.position[mine], kind="stable")]
        self.where = place[gains.list[by_rank]]
        self.position = gains.position[by_rank]
        self.by_rank = by_rank

    @cached_property
    def grades(self) -> Array:
        """The grades by rank, as far as the longest list goes."""
        return self.gains.lists.grades_of(np.asarray(self.block, np.int64))

    def stretch(self, start: int, stop: int, values: Array) -> Array:
        """The values of hits at ranks start + 1 to stop."""
        out = np.zeros((self.block.size, stop - start))
        a, b = np.searchsorted(self.position, (start, stop), side="right")
        out[self.where[a:b], self.position[a:b] - start - 1] = values[self.by_rank[a:b]]
        return out

    def walk(
        self, function: Callable[..., Forward], names: tuple[str, ...], question: Question | None, inside: bool
    ) -> tuple[Array, Array]:
        """What the question adds up on every list (of none, the cost), and E[f(H)]."""
        size = self.block.size
        costs = self.gains.lists.costs
        seen, spent, reach = np.zeros(size), np.zeros(size), np.ones(size)
        answer, depth = np.zeros(size), np.zeros(size)
        longest = max(int(self.length.max(initial=0)), 1)
        start, width, first, level = 0, 64, None, None
        while True:
            rank = np.arange(start + 1, start + width + 1, dtype=np.float64)
            gain = self.stretch(start, start + width, self.gains.gain)
            cost = np.ones((1, width)) if costs is None else costs.stretch(self.block, start, start + width)
            total_seen = seen[:, None] + np.cumsum(gain, axis=1)
            total_spent = spent[:, None] + np.cumsum(np.broadcast_to(cost, gain.shape), axis=1)
            points = {
                "rank": rank,
                "gain": gain,
                "seen": total_seen,
                "spent": total_spent,
                "cost": cost,
                "relevant": self.gains.relevant[self.block][:, None],
                "available": self.gains.available[self.block][:, None],
            }
            if "share" in names:
                points["share"] = self.stretch(start, start + width, self.gains.share)
            if "grade" in names:
                points["grade"] = np.zeros(gain.shape)
                inside_list = self.grades[:, start : start + width]
                points["grade"][:, : inside_list.shape[1]] = inside_list
            user = function(**{name: points[name] for name in names})
            if user.kind in ("visits", "weights") and callable(user.rule):  # as probabilities of going on
                probabilities = np.asarray(user.rule(rank + 1.0) / user.rule(rank))
                user = user.replaced(continuation=probabilities)
            value = np.broadcast_to(np.asarray(user.rule, np.float64), gain.shape)
            if user.kind in ("visits", "weights"):
                first = value[:, :1] if first is None else first
                visits = value / first
                level = np.concatenate((visits[:, :1] if level is None else level[:, -1:], visits), axis=1)
                if not np.isfinite(visits).all() or (visits < 0).any() or (np.diff(level, axis=1) > 1e-9).any():
                    raise MeasureError(f"{user.kind} must be numbers that do not rise with the rank")
                c = np.ones(gain.shape)  # only V is needed
            else:
                c, visits = self._probabilities(user, value, rank, reach)
            looked_at = rank <= user.depth if user.depth is not None else np.ones(width, bool)
            last_rank = np.full(size, user.depth) if user.depth is not None else self.length
            if user.ends:
                looked_at = rank <= self.length[:, None]
            visits = np.where(looked_at, visits, 0.0)
            if user.beyond == "stop":
                c = np.where(rank < np.asarray(last_rank)[:, None], c, 0.0)
            if inside:
                visits = np.where(rank <= self.length[:, None], visits, 0.0)
            depth += (visits * self.effort.steps(rank)).sum(axis=1)
            if question is None:
                answer += (visits * cost).sum(axis=1)
            elif question.about_visits:
                answer += (visits * gain).sum(axis=1)
            else:
                if user.kind in ("visits", "weights"):
                    raise MeasureError("a user who looks at the grades has E[T/H] by C or L, not by V or W")
                stops = visits * (1.0 - c)
                by = 1.0 if question is Question.SATISFIED2 else self.effort(rank)
                answer += ((stops * total_seen if question is Question.ORDER1 else stops) / by).sum(axis=1)
            seen, spent = total_seen[:, -1], total_spent[:, -1]
            reach = visits[:, -1] * c[:, -1]
            start += width
            width = min(2 * width, 512)
            end = user.depth if user.depth is not None else None if user.beyond == "endless" else longest
            if inside:
                end = longest
            if (end is not None and start >= end) or reach.max(initial=0) < NEGLIGIBLE:
                break
            if start > FURTHEST:
                raise MeasureError(f"some users are still reading after rank {FURTHEST:,}, and there is no closed form")
            closed = start >= max(longest, user.least) and user.depth is None and self.effort.power == 1
            tail = self._tail(user, value) if closed else None
            if tail is not None and (question is None or question.about_visits):
                more = np.asarray(tail.visits(reach, start))
                depth += more
                if question is None:
                    answer += more * (1.0 if costs is None else costs.beyond)
                break
        return answer, depth

    @staticmethod
    def _probabilities(user: Forward, value: Array, rank: Array, reach: Array) -> tuple[Array, Array]:
        """C and V over a stretch that ``reach`` get to."""
        if user.kind == "last":
            last = value if user.mass is None else value / np.maximum(user.mass, 1e-300)
            visits = reach[:, None] - np.cumsum(last, axis=1) + last
            if not np.isfinite(last).all() or (last < -1e-9).any() or (visits - last < -1e-9).any():
                raise MeasureError(
                    "the probabilities that a rank is the last one must be at least 0 and sum to at most 1"
                )
            visits = np.where(visits > 1e-15, visits, 0.0)
            return np.divide(visits - last, visits, out=np.zeros(last.shape), where=visits > 0), visits
        c = inverse_power(rank, value, user.power) if user.kind == "shift" else value
        if user.survival is not None:
            c = c * user.survival
        check_probabilities(c, rank)
        first = np.ones((c.shape[0], 1))
        return c, reach[:, None] * np.cumprod(np.concatenate((first, c[:, :-1]), axis=1), axis=1)

    @staticmethod
    def _tail(user: Forward, value: Array) -> Tail | None:
        """The closed form of reading on for ever, where there is one."""
        if user.beyond != "endless":
            return None
        if user.kind == "shift":
            return InversePower(value[:, -1], user.power)
        if user.tail is not None:
            return user.tail
        return Geometric(float(user.rule)) if np.ndim(user.rule) == 0 else None
