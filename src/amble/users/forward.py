"""Users who walk down a ranking, rank by rank, and stop (the C/W/L framework).

Write only one of these, and the others follow (ranks from 1):

* C(i), the chance of going on after rank i (``continuation``);
* V(i) = C(1) ... C(i-1), the chance of reaching rank i (``visits``);
* L(i) = V(i) (1 - C(i)), the chance that i is the last rank seen (``last``);
* W(i) = V(i) / sum V, the share of her attention that rank i gets (``weights``).

Expected depth is sum V = 1 / W(1). What happens beyond the list is said by ``beyond``: she stops at its end, she
leaves with nothing, or she reads on for ever (a tail with a closed form, never cut).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from amble.errors import MeasureError

__all__ = ["Behaviour", "Forward", "Geometric"]

Array = NDArray[np.float64]
Rule = float | Array | Callable[[Array], Array]

_TOLERANCE = 1e-9
_NEGLIGIBLE = 1e-18


class Geometric:
    """The tail of a user who goes on with one probability for ever.

    Examples
    --------
    >>> from amble.users.forward import Geometric
    >>> Geometric(0.8).visits(1.0)  # 1 + .8 + .64 + ... = 1 / (1 - .8)
    5.000000000000001
    """

    def __init__(self, p: float) -> None:
        self.p = p

    def visits(self, reach: float, after: int = 0) -> float:
        """The expected number of visits beyond the list, but for the first ``after`` ranks, if ``reach`` get there."""
        return float(reach * self.p**after / (1 - self.p))

    def stops(self, reach: float) -> Array:
        """The chance of stopping at each rank beyond the list, until what is left is negligible."""
        n = int(np.ceil(np.log(_NEGLIGIBLE) / np.log(self.p))) if self.p > 0 else 1
        out: Array = reach * (1 - self.p) * self.p ** np.arange(n, dtype=np.float64)
        return out


Beyond = Literal["stop", "nothing"] | Geometric


class Forward:
    """A user who walks down, declared by one of C, V, L or W.

    Parameters
    ----------
    continuation, visits, last, weights : float, array or function of the ranks
        Exactly one of them.
    mass : float, optional
        With ``last``: what it is to be divided by (AP stops at a relevant document with probability 1 / R: last is 1
        there, the mass R; kept apart, the division comes last and is exact).
    depth : int, optional
        She never looks beyond this rank.
    beyond : "stop", "nothing" or a tail
        At the end of the list she stops there, leaves with nothing, or reads on.

    Examples
    --------
    >>> from amble.users.forward import Forward, Geometric
    >>> user = Forward(continuation=0.8, beyond=Geometric(0.8)).over(3)
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
        mass: Any = None,
        depth: int | None = None,
        beyond: Beyond = "stop",
    ) -> None:
        rules = {"continuation": continuation, "visits": visits, "last": last, "weights": weights}
        given = [(kind, rule) for kind, rule in rules.items() if rule is not None]
        if len(given) != 1:
            raise MeasureError(f"a forward user is declared by one of {', '.join(rules)}; found {len(given)} of them")
        self.kind: str = given[0][0]
        self.rule: Any = given[0][1]
        self.mass = mass
        self.depth = depth
        self.beyond = beyond

    def values(self, ranks: Array) -> Array:
        """The declared quantity at the given ranks."""
        out = self.rule(ranks) if callable(self.rule) else self.rule
        return np.broadcast_to(np.asarray(out, np.float64), np.shape(ranks) or np.shape(out))

    def reach(self, n: int) -> Array:
        """The chance of reaching each of the first n ranks (for a user who does not look at the grades)."""
        return self.over(n).visits

    def over(self, n: int) -> Behaviour:
        """What she does on a list of n documents."""
        n = max(n, 1)
        if self.depth is not None:
            n = max(n, self.depth)
        x = np.array(self.values(np.arange(1, n + 1, dtype=np.float64)))
        if self.kind == "continuation":
            visits: Array = np.cumprod(np.concatenate(([1.0], x[:-1])), dtype=np.float64)
        elif self.kind == "last":
            visits = 1.0 - np.concatenate(([0.0], np.cumsum(x[:-1])))
            visits[np.abs(visits) < _TOLERANCE * 1e-4] = 0.0
        else:
            visits = x / x[0]
        if self.depth is not None:
            visits[self.depth :] = 0.0
        nxt = visits[1:]
        with np.errstate(divide="ignore", invalid="ignore"):
            c = np.where(visits[:-1] > 0, nxt / visits[:-1], 0.0)
        end = 0.0
        if self.kind == "continuation":
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
            rank = int(np.flatnonzero((c < -_TOLERANCE) | (c > 1 + _TOLERANCE))[0]) + 1
            raise MeasureError(f"the chance of going on after rank {rank} is {c[rank - 1]:.6g}, expected 0 to 1")
        return Behaviour(np.clip(c, 0.0, 1.0), visits, self.beyond)


class Behaviour:
    """What a forward user does over the first n ranks, and what is left for beyond.

    Attributes
    ----------
    continuation, visits, last, weights, halting : ndarray
        C, V, L, W and 1 - C of each rank.
    expected_depth : float
        How many documents she looks at: sum V = 1 / W(1).
    beyond : float
        The chance that none of these ranks is her last one.
    """

    def __init__(self, continuation: Array, visits: Array, after: Beyond) -> None:
        self.continuation = continuation
        self.visits = visits
        self.after = after
        self.beyond = float(visits[-1] * continuation[-1])
        self.tail_visits = after.visits(self.beyond) if isinstance(after, Geometric) else 0.0

    @property
    def halting(self) -> Array:
        """The chance of stopping at a rank, once there."""
        return 1.0 - self.continuation

    @property
    def last(self) -> Array:
        """The chance that a rank is the last one she looks at."""
        return self.visits * (1.0 - self.continuation)

    @property
    def expected_depth(self) -> float:
        """How many documents she looks at."""
        return float(self.visits.sum() + self.tail_visits)

    @property
    def weights(self) -> Array:
        """The share of her attention that each rank gets."""
        return self.visits / self.expected_depth

    def residual(self, k: int) -> float:
        """The share of her attention that goes beyond rank k.

        >>> from amble.users.forward import Forward, Geometric
        >>> round(Forward(continuation=0.8, beyond=Geometric(0.8)).over(3).residual(10), 12)  # .8 ** 10
        0.1073741824
        """
        n = self.visits.size
        if k <= n:
            return float((self.visits[k:].sum() + self.tail_visits) / self.expected_depth)
        if isinstance(self.after, Geometric):
            return self.after.visits(self.beyond, k - n) / self.expected_depth
        return 0.0
