"""Users who walk down a ranking, rank by rank, and stop (the C/W/L framework).

Write only one of these, and the others follow (ranks from 1):

* C(i), the probability of going on after rank i (``continuation``);
* V(i) = C(1) ... C(i-1), the probability of reaching rank i (``visits``);
* L(i) = V(i) (1 - C(i)), the probability that i is the last rank seen (``last``);
* W(i) = V(i) / sum V, the share of attention that rank i gets (``weights``);
* s(i), where C(i) = ((i + s) / (i + s + 1))^2 (``shift``): the family of INSQ and INST.

Expected depth is sum V = 1 / W(1). What happens beyond the list is said by ``beyond``: the user stops at its end,
leaves with nothing, or reads on for ever (then C is one number, or the user is of the ``shift`` family, and the tail
has a closed form, never cut).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from amble.distributions.distribution import Distribution
from amble.errors import MeasureError
from amble.users.tails import Geometric, InverseSquare, Tail

__all__ = ["Behaviour", "Forward", "distribution_of_stops"]

Array = NDArray[np.float64]
Rule = float | Array | Callable[[Array], Array]

_TOLERANCE = 1e-9


Beyond = Literal["stop", "nothing", "endless"]


class Forward:
    """A user who walks down, declared by one of C, V, L, W or s.

    Parameters
    ----------
    continuation, visits, last, weights, shift : float, array or function of the ranks
        Exactly one of them.
    survival : array, optional
        The probability of going on in spite of the gain at each rank: C is what was declared, times this.
    mass : float, optional
        With ``last``: what it is to be divided by (AP stops at a relevant document with probability 1 / R: last is 1
        there, the mass R; kept apart, the division comes last and is exact).
    depth : int, optional
        The last rank that is ever looked at.
    beyond : {"stop", "nothing", "endless"}
        At the end of the list the user stops there, leaves with nothing, or reads on for ever.

    Examples
    --------
    >>> from amble.users.forward import Forward
    >>> user = Forward(continuation=0.8, beyond="endless").over(3)
    >>> user.weights.round(3), round(user.expected_depth, 9)
    (array([0.2  , 0.16 , 0.128]), 5.0)
    """

    def __init__(
        self,
        *,
        continuation: Rule | None = None,
        visits: Rule | None = None,
        last: Rule | None = None,
        weights: Rule | None = None,
        shift: Rule | None = None,
        survival: Any = None,
        mass: Any = None,
        depth: int | None = None,
        beyond: Beyond = "stop",
    ) -> None:
        rules = {
            "continuation": continuation,
            "visits": visits,
            "last": last,
            "weights": weights,
            "shift": shift,
        }
        given = [(kind, rule) for kind, rule in rules.items() if rule is not None]
        if len(given) != 1:
            raise MeasureError(f"a forward user is declared by one of {', '.join(rules)}; found {len(given)} of them")
        self.kind: str = given[0][0]
        self.rule: Any = given[0][1]
        self.survival = survival
        self.mass = mass
        self.depth = depth
        self.beyond = beyond
        if beyond not in ("stop", "nothing", "endless"):
            raise MeasureError(f"beyond={beyond!r}: expected 'stop', 'nothing' or 'endless'")
        if depth is not None and (isinstance(depth, bool) or int(depth) != depth or depth < 1):
            raise MeasureError(f"depth={depth!r}: expected a whole number of at least 1, or None")
        if self.kind == "continuation" and isinstance(self.rule, int | float) and not np.isnan(self.rule):
            check_probabilities(np.asarray(self.rule, np.float64), 1)
            if beyond == "endless" and depth is None and self.rule >= 1 and survival is None:
                raise MeasureError("a user who always goes on never stops; say depth=, or beyond='stop'")
        if beyond == "endless" and self.kind not in ("shift", "continuation"):
            raise MeasureError(f"a user declared by {self.kind} has no closed form for reading on for ever")

    @property
    def ends(self) -> bool:
        """Whether the user looks no further than the list goes."""
        return self.depth is None and self.beyond != "endless"

    def values(self, ranks: Array) -> Array:
        """The declared quantity at the given ranks."""
        out = self.rule(ranks) if callable(self.rule) else self.rule
        return np.broadcast_to(np.asarray(out, np.float64), np.shape(ranks) or np.shape(out))

    def reach(self, n: int) -> Array:
        """The probability of reaching each of the first n ranks (for a user who does not look at the grades)."""
        return self.over(n).visits

    def over(self, n: int) -> Behaviour:
        """The user's behaviour on a list of n documents."""
        n = max(n, 1)
        if self.depth is not None:
            n = max(n, self.depth)
        rank = np.arange(1, n + 1, dtype=np.float64)
        x = np.array(self.values(rank))
        tail: Tail | None = None
        if self.kind == "shift":
            tail = InverseSquare(float(x[-1])) if self.beyond == "endless" else None
            x = inverse_square(rank, x)
        elif self.beyond == "endless":
            if np.ndim(self.rule) > 0 or callable(self.rule):
                raise MeasureError("reading on for ever needs one probability of going on, the same at all ranks")
            tail = Geometric(float(x[-1]))
        if self.survival is not None:
            if self.kind in ("visits", "weights"):
                x = np.append(x[1:] / x[:-1], 0.0)
            elif self.kind == "last":
                raise MeasureError("a user declared by last has no survival beside it")
            x = x * np.broadcast_to(np.asarray(self.survival, np.float64), x.shape)
        if self.kind in ("continuation", "shift") or self.survival is not None:
            visits = np.cumprod(np.concatenate(([1.0], x[:-1])), dtype=np.float64)
        elif self.kind == "last":
            left = 1.0 - float(x.sum())  # those who stop at none of these ranks
            visits = np.cumsum(x[::-1])[::-1] + (left if abs(left) > _TOLERANCE * 1e-3 else 0.0)
        else:
            visits = x / x[0]
        if not np.isfinite(visits).all() or (visits < -_TOLERANCE).any() or not visits.any():
            raise MeasureError(f"{self.kind} does not give a probability of reaching every rank")
        if self.depth is not None:
            visits[self.depth :] = 0.0
        nxt = visits[1:]
        with np.errstate(divide="ignore", invalid="ignore"):
            c = np.where(visits[:-1] > 0, nxt / visits[:-1], 0.0)
        end = 0.0
        if self.kind in ("continuation", "shift") or self.survival is not None:
            end = float(x[-1])
        elif self.kind == "last":
            end = 1.0 - x[-1] / visits[-1] if visits[-1] > 0 else 0.0
        if self.depth is not None and n >= self.depth:
            c[self.depth - 1 :] = 0.0
            if n == self.depth:
                end = 0.0
        if self.beyond == "stop":
            end = 0.0
        c = np.concatenate((c, [end]))
        if (c < -_TOLERANCE).any() or (c > 1 + _TOLERANCE).any():
            first = int(np.flatnonzero((c < -_TOLERANCE) | (c > 1 + _TOLERANCE))[0])
            raise MeasureError(f"the probability of going on after rank {first + 1} is {c[first]:.6g}, expected 0 to 1")
        return Behaviour(np.clip(c, 0.0, 1.0), visits, tail)


def check_probabilities(probabilities: Array, rank: Any) -> None:
    """Refuse numbers that are no probabilities of going on, with the first rank where."""
    with np.errstate(invalid="ignore"):
        wrong = ~((probabilities >= -_TOLERANCE) & (probabilities <= 1 + _TOLERANCE))
    if wrong.any():
        ranks = np.broadcast_to(np.asarray(rank), probabilities.shape)
        first = int(ranks[wrong].flat[0])
        raise MeasureError(
            f"the probability of going on after rank {first} is {probabilities[wrong].flat[0]:.6g}, expected 0 to 1"
        )


def inverse_square(rank: Array, shift: Array) -> Array:
    """The probability of going on, ((i + s) / (i + s + 1))²; 0 where i + s is not positive."""
    x = np.maximum(rank + shift, 0.0)
    return np.asarray((x / (x + 1.0)) ** 2)


class Behaviour:
    """What a forward user does over the first n ranks and beyond them: C, V, L, W and what follows.

    Attributes
    ----------
    continuation, visits, last, weights, halting : ndarray
        C, V, L, W and 1 - C of each rank.
    expected_depth : float
        The expected number of documents looked at: sum V = 1 / W(1).
    beyond : float
        The probability that none of these ranks is the last one looked at.
    """

    def __init__(self, continuation: Array, visits: Array, tail: Tail | None = None) -> None:
        self.continuation = continuation
        self.visits = visits
        self.tail = tail
        self.beyond = float(visits[-1] * continuation[-1])
        self.tail_visits = 0.0 if tail is None else float(tail.visits(self.beyond, visits.size))

    @property
    def halting(self) -> Array:
        """The probability of stopping at a rank, once there."""
        return 1.0 - self.continuation

    @property
    def last(self) -> Array:
        """The probability that a rank is the last one looked at."""
        return self.visits * (1.0 - self.continuation)

    @property
    def expected_depth(self) -> float:
        """The expected number of documents looked at."""
        return float(self.visits.sum() + self.tail_visits)

    @property
    def weights(self) -> Array:
        """The share of attention that each rank gets."""
        return self.visits / self.expected_depth

    def residual(self, k: int) -> float:
        """The share of attention that goes beyond rank k.

        >>> from amble.users.forward import Forward
        >>> round(Forward(continuation=0.8, beyond="endless").over(3).residual(10), 12)  # .8 ** 10
        0.1073741824
        """
        if k < 0:
            raise MeasureError(f"residual({k}): expected a rank of at least 0")
        n = self.visits.size
        if k <= n:
            return float((self.visits[k:].sum() + self.tail_visits) / self.expected_depth)
        if self.tail is None:
            return 0.0
        return float(self.tail.visits(self.beyond, n, k - n)) / self.expected_depth


def distribution_of_stops(behaviour: Behaviour, gain: Array, question: str, scale: float) -> Distribution:
    """The distribution of the score over users: from where they stop, the gains before, and the question."""
    rank = np.arange(1, gain.size + 1, dtype=np.float64)
    t = np.cumsum(gain)
    values = {"order1": t / rank, "order2": t / rank, "total": t, "satisfied": 1.0 / rank}[question]
    probs, left = behaviour.last, behaviour.beyond
    if left > 0 and behaviour.tail is not None:  # reads on, and gains nothing more
        beyond, stops = behaviour.tail.stops(left, gain.size)
        values = np.concatenate((values, t[-1] / beyond if question != "total" else np.full(stops.size, t[-1])))
        probs = np.concatenate((probs, stops))
        left = max(0.0, 1.0 - float(probs.sum()))
    if left > 0:  # leaves with nothing
        values, probs = np.append(values, 0.0), np.append(probs, left)
    return Distribution(values / scale if scale > 0 else np.zeros(values.size), probs)
