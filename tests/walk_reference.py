"""A slow, plain second opinion on users who walk back and forth over a ranked list.

Everything here follows from the definition of the walk, one step at a time, with no formula that the package uses.
Ranks are 1..N in words and 0..N-1 in arrays. At rank i she goes forward with probability p_i, back with q_i and stops
with s_i; H counts her visits, T = sum of g(k, y_i) over them, for the k-th visit to rank i, whose gain is y_i.

    python tests/walk_reference.py --golden    writes tests/golden/walk_mpmath.json (some minutes)
    python tests/walk_reference.py --check     compares that file with steps in double precision (some minutes)
"""

from __future__ import annotations

import json
import math
import re
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

try:  # only the functions named mp_* and ff20_* need it; the rest serves without
    import mpmath
except ImportError:
    mpmath = None

Array = np.ndarray[Any, np.dtype[np.float64]]
Numbers = Sequence[float] | Array
Gain = Callable[[int, float], float]
Effort = Callable[[int], float]

GOLDEN = Path(__file__).parent / "golden" / "walk_mpmath.json"


# ---------------------------------------------------------------------------------------------------------------------
# the chain


class Chain(NamedTuple):
    """Probabilities of forward, back and stop at each rank, the conventions at both ends applied."""

    p: Array
    q: Array
    s: Array


def exact_chain(
    forward: float | Numbers, back: float | Numbers, n: int, first: str = "forward"
) -> tuple[list[Fraction], list[Fraction], list[Fraction]]:
    """Apply the conventions to the exact values of the doubles; only then is a small s known to all its digits."""
    if n < 1:
        raise ValueError("a list has at least one rank")
    if first not in ("forward", "stop"):
        raise ValueError(f"first is 'forward' or 'stop', not {first!r}")
    p = [Fraction(float(x)) for x in np.broadcast_to(np.asarray(forward, dtype=float), n)]
    q = [Fraction(float(x)) for x in np.broadcast_to(np.asarray(back, dtype=float), n)]
    for i in range(n):
        # .9 + .1 exceeds one by a rounding, which is no mistake of the caller's
        if p[i] < 0 or q[i] < 0 or p[i] + q[i] > 1 + Fraction(1, 10**12):
            raise ValueError(f"no probabilities at rank {i + 1}: forward {float(p[i])}, back {float(q[i])}")
    if first == "forward":
        p[0] += q[0]
    q[0] = Fraction(0)
    p[n - 1] = Fraction(0)
    s = [max(Fraction(0), 1 - a - b) for a, b in zip(p, q, strict=True)]
    return p, q, s


def chain(forward: float | Numbers, back: float | Numbers, n: int, first: str = "forward") -> Chain:
    """Apply the conventions to one pair of probabilities or to one per rank; each result is correctly rounded."""
    return Chain(*(np.array([float(x) for x in part]) for part in exact_chain(forward, back, n, first)))


def lengthened(
    forward: float | Numbers, back: float | Numbers, gains: Numbers, extra: int, first: str = "forward"
) -> tuple[Chain, Array]:
    """Stand in for a list without end: `extra` more ranks with no gain and the last rank's probabilities."""
    n = len(gains)
    p = np.broadcast_to(np.asarray(forward, dtype=float), n)
    q = np.broadcast_to(np.asarray(back, dtype=float), n)
    p = np.concatenate([p, np.full(extra, p[-1])])
    q = np.concatenate([q, np.full(extra, q[-1])])
    return chain(p, q, n + extra, first), np.concatenate([np.asarray(gains, dtype=float), np.zeros(extra)])


def start_distribution(start: Numbers | None, n: int) -> Array:
    """The distribution of the first rank visited: rank 1 unless told."""
    distribution = np.zeros(n)
    if start is None:
        distribution[0] = 1.0
        return distribution
    distribution[:] = start
    if distribution.min() < 0 or abs(distribution.sum() - 1) > 1e-12:
        raise ValueError("the start distribution must be probabilities that add up to one")
    return distribution


def losing(loss: float) -> Gain:
    """The gain that shrinks by a share `loss` at every further visit."""
    return lambda k, y: y * (1.0 - loss) ** (k - 1)


no_loss = losing(0.0)


def identity(h: int) -> float:
    """An effort of one per visit."""
    return float(h)


# ---------------------------------------------------------------------------------------------------------------------
# 1. every path


def paths(
    p: Numbers, q: Numbers, s: Numbers, h_max: int, start: Numbers | None = None
) -> Iterator[tuple[tuple[int, ...], float]]:
    """Every path of at most `h_max` visits that she can take, with its probability; ranks start at 1."""
    n = len(p)
    # an explicit stack, because a long path would exhaust Python's
    todo: list[tuple[tuple[int, ...], float]] = [
        ((i + 1,), float(w)) for i, w in enumerate(start_distribution(start, n)) if w > 0
    ]
    while todo:
        path, weight = todo.pop()
        here = path[-1] - 1
        if s[here] > 0:
            yield path, weight * float(s[here])
        if len(path) < h_max:
            if p[here] > 0:
                todo.append(((*path, here + 2), weight * float(p[here])))
            if q[here] > 0:
                todo.append(((*path, here), weight * float(q[here])))


def path_total(path: Sequence[int], gains: Numbers, g: Gain) -> float:
    """T of one path."""
    seen: dict[int, int] = defaultdict(int)
    terms = []
    for rank in path:
        seen[rank] += 1
        terms.append(g(seen[rank], float(gains[rank - 1])))
    return math.fsum(terms)


# ---------------------------------------------------------------------------------------------------------------------
# 2. expectations by stepping, for any gain and any effort


@dataclass(frozen=True)
class Expected:
    """What stepping finds; `left` is the mass still walking when it ended."""

    mean_t: float
    rate: float
    effort: float
    mean_h: float
    var_h: float
    left: float

    @property
    def order1(self) -> float:
        """E[T / f(H)]."""
        return self.rate

    @property
    def order2(self) -> float:
        """E[T] / E[f(H)]."""
        return self.mean_t / self.effort


def step(distribution: Array, p: Array, q: Array) -> Array:
    """One move: the first axis is the rank she is at."""
    new = np.zeros_like(distribution)
    shape = (-1,) + (1,) * (distribution.ndim - 1)
    new[1:] += distribution[:-1] * p[:-1].reshape(shape)
    new[:-1] += distribution[1:] * q[1:].reshape(shape)
    return new


def stop_distribution(
    p: Numbers, q: Numbers, s: Numbers, start: Numbers | None = None, mass: float = 1e-15, limit: int = 10**6
) -> tuple[Array, float]:
    """P(H = h) for h = 1, 2, … until less than `mass` is still walking, and that mass."""
    p, q, s = (np.asarray(x, dtype=float) for x in (p, q, s))
    distribution = start_distribution(start, len(p))
    found: list[float] = []
    while distribution.sum() >= mass:
        if len(found) == limit:
            raise RuntimeError(f"after {limit} visits a mass of {distribution.sum()} still walks")
        found.append(float(distribution @ s))
        distribution = step(distribution, p, q)
    return np.array(found), float(distribution.sum())


def expect(
    p: Numbers,
    q: Numbers,
    s: Numbers,
    gains: Numbers,
    g: Gain = no_loss,
    f: Effort = identity,
    start: Numbers | None = None,
    mass: float = 1e-15,
) -> Expected:
    """Step the distribution of (rank she is at, visits to rank i so far) for every rank i, h = 1, 2, …, and add up."""
    p, q, s = (np.asarray(x, dtype=float) for x in (p, q, s))
    n = len(p)
    begin = start_distribution(start, n)
    stop, left = stop_distribution(p, q, s, begin, mass)
    count = np.arange(1, len(stop) + 1)
    effort = np.array([f(int(h)) for h in count], dtype=float)
    most = len(stop) // 2 + 1  # she never stays, so of h visits at most every other one is to the same rank
    gained = np.zeros(len(stop))  # E[T; H = h]
    for i in range(n):
        earned = np.array([g(k, float(gains[i])) for k in range(1, most + 1)], dtype=float)
        if not earned.any():
            continue
        value = np.concatenate([[0.0], np.cumsum(earned)])
        distribution = np.zeros((n, most + 1))
        distribution[:, 0] = begin
        distribution[i] = np.roll(distribution[i], 1)
        for h in range(len(stop)):
            high = min(h // 2 + 2, most + 1)
            gained[h] += s @ distribution[:, :high] @ value[:high]
            distribution = step(distribution, p, q)
            distribution[i] = np.roll(distribution[i], 1)
    mean_h = math.fsum(stop * count)
    return Expected(
        mean_t=math.fsum(gained),
        rate=math.fsum(gained / effort),
        effort=math.fsum(stop * effort),
        mean_h=mean_h,
        var_h=math.fsum(stop * (count - mean_h) ** 2),
        left=left,
    )


def order1_by_stepping(
    p: Numbers,
    q: Numbers,
    s: Numbers,
    gains: Numbers,
    loss: float = 0.0,
    start: Numbers | None = None,
    mass: float = 1e-17,
    limit: int = 10**7,
) -> tuple[float, float, float]:
    """E[H], E[T] and E[T/H] for long walks: of the visits to a rank, only the mean of (1-loss)^visits is kept."""
    p, q, s = (np.asarray(x, dtype=float) for x in (p, q, s))
    gains = np.asarray(gains, dtype=float)
    n = len(p)
    distribution = start_distribution(start, n)
    # without loss the gains need not be told apart: one column; otherwise one for each rank with a gain
    ranks = np.flatnonzero(gains) if loss else np.array([], dtype=int)
    column = np.arange(len(ranks))
    fresh = np.repeat(distribution[:, None], len(ranks), axis=1)  # E[(1-loss)^visits; at this rank]
    earned = np.zeros((n, max(1, len(ranks))))  # E[T; at this rank]
    mean_h: list[float] = []
    mean_t: list[float] = []
    rate: list[float] = []
    h = 0
    while distribution.sum() >= mass:
        h += 1
        if h > limit:
            raise RuntimeError(f"after {limit} visits a mass of {distribution.sum()} still walks")
        if loss:
            earned[ranks, column] += gains[ranks] * fresh[ranks, column]
            fresh[ranks, column] *= 1.0 - loss
        else:
            earned[:, 0] += gains * distribution
        here = float((s @ earned).sum())
        mean_h.append(h * float(s @ distribution))
        mean_t.append(here)
        rate.append(here / h)
        distribution = step(distribution, p, q)
        earned = step(earned, p, q)
        fresh = step(fresh, p, q) if loss else fresh
    return math.fsum(mean_h), math.fsum(mean_t), math.fsum(rate)


# ---------------------------------------------------------------------------------------------------------------------
# 3. the joint distribution of (T, H)


def joint(
    p: Numbers,
    q: Numbers,
    s: Numbers,
    gains: Numbers,
    *,
    loss: float = 0.0,
    g: Gain | None = None,
    start: Numbers | None = None,
    mass: float = 1e-12,
    h_max: int | None = None,
) -> dict[tuple[float, int], float]:
    """P(T = t, H = h) as {(t, h): probability}; what is missing from one is the mass that still walked at the end.

    What she must remember: her total without a loss, the ranks she saw with a loss of one, and how often she saw each
    for any other loss or any `g`, which suits tiny lists only.
    """
    exact = [Fraction(float(y)) for y in gains]  # exact sums, so that the order of her visits leaves no trace in T
    memory: Hashable
    if g is None and loss == 0:
        empty: Any = Fraction(0)

        def see(memory: Any, i: int) -> Any:
            return memory + exact[i]

        def total(memory: Any) -> float:
            return float(memory)

    elif g is None and loss == 1:
        empty = frozenset()

        def see(memory: Any, i: int) -> Any:
            return memory | {i}

        def total(memory: Any) -> float:
            return float(sum((exact[i] for i in memory), Fraction(0)))

    else:
        worth = losing(loss) if g is None else g
        empty = (0,) * len(exact)

        def see(memory: Any, i: int) -> Any:
            return (*memory[:i], memory[i] + 1, *memory[i + 1 :])

        def total(memory: Any) -> float:
            return math.fsum(worth(k, float(gains[i])) for i, c in enumerate(memory) for k in range(1, c + 1))

    distribution: dict[tuple[int, Any], float] = {}
    for i, w in enumerate(start_distribution(start, len(p))):
        if w > 0:
            distribution[i, see(empty, i)] = float(w)
    found: dict[tuple[float, int], float] = defaultdict(float)
    totals: dict[Any, float] = {}
    h = 0
    while math.fsum(distribution.values()) >= mass and (h_max is None or h < h_max):
        h += 1
        following: dict[tuple[int, Any], float] = defaultdict(float)
        for (i, memory), w in distribution.items():
            if s[i] > 0:
                if memory not in totals:
                    totals[memory] = total(memory)
                found[totals[memory], h] += w * float(s[i])
            if p[i] > 0:
                following[i + 1, see(memory, i + 1)] += w * float(p[i])
            if q[i] > 0:
                following[i - 1, see(memory, i - 1)] += w * float(q[i])
        distribution = following
    return dict(found)


def distribution_of_rate(
    pairs: dict[tuple[float, int], float], f: Effort = identity, near: float = 1e-12
) -> tuple[Array, Array]:
    """The distribution of T/f(H), values rising; values that differ by roundings (`near`, relative) are one."""
    values: list[float] = []
    probabilities: list[float] = []
    for x, w in sorted((t / f(h), w) for (t, h), w in pairs.items()):
        if values and x - values[-1] <= near * max(1.0, abs(x)):
            probabilities[-1] += w
        else:
            values.append(x)
            probabilities.append(w)
    return np.array(values), np.array(probabilities)


def probability_at_most(
    pairs: dict[tuple[float, int], float], x: float, f: Effort = identity, near: float = 1e-12
) -> float:
    """P(T/f(H) ≤ x), where a value within a rounding of x counts as x."""
    return math.fsum(w for (t, h), w in pairs.items() if t / f(h) <= x + near * max(1.0, abs(x)))


def mean_over(pairs: dict[tuple[float, int], float], of: Callable[[float, int], float]) -> float:
    """E[of(T, H)] under a joint distribution."""
    return math.fsum(of(t, h) * w for (t, h), w in pairs.items())


# ---------------------------------------------------------------------------------------------------------------------
# 4. moments by dense matrices


@dataclass(frozen=True)
class Dense:
    """What linear algebra finds without a loss; `distribution_t` is P(T = 0), P(T = 1), …; gains of 0 and 1 only."""

    mean_t: float
    var_t: float
    mean_h: float
    var_h: float
    visits: Array
    last: Array
    distribution_t: Array | None


def transition(p: Numbers, q: Numbers) -> Array:
    """The moves among the ranks, as a matrix whose rows add up to 1 - s."""
    n = len(p)
    moves = np.zeros((n, n))
    for i in range(n - 1):
        moves[i, i + 1] = p[i]
        moves[i + 1, i] = q[i + 1]
    return moves


def moments_dense(
    p: Numbers, q: Numbers, s: Numbers, gains: Numbers, start: Numbers | None = None, distribution: bool = True
) -> Dense:
    """E and Var of T and H without a loss, the mean visits, the distribution of the last rank and, for 0/1 gains, of T.

    The distribution of T has as many terms as she may have gains; `distribution=False` spares them.
    """
    n = len(p)
    begin = start_distribution(start, n)
    moves = transition(p, q)
    green = np.linalg.inv(np.eye(n) - moves)
    y = np.asarray(gains, dtype=float)

    def two(reward: Array) -> tuple[float, float]:
        # T = y + T' after a move, hence E[T²] = y² + 2 y E[T'] + E[T'²]; both means are then taken over the start
        mean = green @ reward
        square = green @ (reward**2 + 2 * reward * (moves @ mean))
        return float(begin @ mean), float(begin @ square - (begin @ mean) ** 2)

    mean_t, var_t = two(y)
    mean_h, var_h = two(np.ones(n))
    visits = begin @ green
    distribution_t = None
    if distribution and set(y.tolist()) <= {0.0, 1.0}:
        seek = np.linalg.inv(np.eye(n) - (1 - y)[:, None] * moves)  # moves while what she sees gains nothing
        more = seek @ y  # the probability of one more gain, from where she is now
        again = seek @ (y[:, None] * moves)
        beyond = [1.0, float(begin @ more)]  # P(T ≥ 0), P(T ≥ 1), …
        while beyond[-1] > 1e-17 and len(beyond) < 10**5:
            more = again @ more
            beyond.append(float(begin @ more))
        distribution_t = -np.diff([*beyond, 0.0])
    return Dense(mean_t, var_t, mean_h, var_h, visits, visits * np.asarray(s, dtype=float), distribution_t)


# ---------------------------------------------------------------------------------------------------------------------
# 5. variance with a loss


def variance_with_loss(
    p: Numbers,
    q: Numbers,
    s: Numbers,
    gains: Numbers,
    loss: float,
    start: Numbers | None = None,
    mass: float = 1e-12,
) -> tuple[float, float]:
    """E[T] and Var[T] from the joint distribution; for tiny lists unless the loss is 0 or 1."""
    pairs = joint(p, q, s, gains, loss=loss, start=start, mass=mass)
    mean = mean_over(pairs, lambda t, h: t)
    return mean, mean_over(pairs, lambda t, h: (t - mean) ** 2)


# ---------------------------------------------------------------------------------------------------------------------
# 6. many digits


class Solved(NamedTuple):
    """For one z: G = (I - zP)^{-1} applied to the start, its diagonal, and the generating function of the end."""

    visits: list[Any]
    diagonal: list[Any]
    end: list[Any]


def mp_numbers(part: Sequence[Fraction]) -> list[Any]:
    """Fractions as numbers of the working precision."""
    return [mpmath.mpf(x.numerator) / x.denominator for x in part]


def mp_solve(p: list[Any], q: list[Any], s: list[Any], start: list[Any], z: Any) -> Solved:
    """Solve with I - zP by Cramer's rule: numerators and denominators are principal minors, which mpmath can hold.

    low[i] and high[i] are the determinants of the ranks before i and of the ranks from i on. Each entry of the inverse
    is a product of those and of probabilities, none negative, so the sums below lose no digits.
    """
    n = len(p)
    one, zero = mpmath.mpf(1), mpmath.mpf(0)
    ahead = [z * x for x in p]
    behind = [z * x for x in q]
    low = [one, one]
    for i in range(1, n):
        low.append(low[i] - ahead[i - 1] * behind[i] * low[i - 1])
    high = [one] * (n + 1)
    for i in range(n - 2, -1, -1):
        high[i] = high[i + 1] - ahead[i] * behind[i + 1] * high[i + 2]
    whole = low[n]
    visits: list[Any] = [zero] * n
    end: list[Any] = [zero] * n
    came, goes = zero, zero  # from the ranks up to i, by way of forward moves; to the ranks before i, by back moves
    for i in range(n):
        if i:
            came = ahead[i - 1] * came
            goes = behind[i] * (goes + low[i - 1] * s[i - 1])
        if start[i]:
            came += start[i] * low[i]
        visits[i] = came * high[i + 1]
        end[i] = goes * high[i + 1]
    came, goes = zero, zero  # from the ranks after i; to the ranks from i on
    for i in range(n - 1, -1, -1):
        if i < n - 1:
            came = behind[i + 1] * (came + start[i + 1] * high[i + 2]) if came or start[i + 1] else zero
            goes = ahead[i] * goes
        goes += s[i] * high[i + 1]
        if came:
            visits[i] += came * low[i]
        end[i] += goes * low[i]
    return Solved(
        visits=[x / whole for x in visits],
        diagonal=[low[i] * high[i + 1] / whole for i in range(n)],
        end=[x / whole for x in end],
    )


def mp_discounted(solved: Solved, loss: float) -> list[Any]:
    """Mean of Σ_k (1-loss)^{k-1} over the visits to each rank, weighted by z to the visits made before.

    She finds rank i with visits/diagonal and returns with 1 - 1/diagonal; the geometric sum over her returns is then
    visits / (loss · diagonal + 1 - loss).
    """
    a = mpmath.mpf(loss)
    return [v / (a * d + (1 - a)) for v, d in zip(solved.visits, solved.diagonal, strict=True)]


@dataclass(frozen=True)
class Precise:
    """Mean visits to each rank, E[H], and for every loss the weights that turn gains into E[T]."""

    visits: list[Any]
    mean_h: Any
    weights: dict[float, list[Any]]
    dps: int = 60

    def mean_t(self, gains: Numbers, loss: float) -> Any:
        """E[T], to the digits of the weights whatever the caller works with."""
        with mpmath.workdps(self.dps):
            return mpmath.fsum(w * float(y) for w, y in zip(self.weights[loss], gains, strict=True) if y)


def mp_walk(
    forward: float | Numbers,
    back: float | Numbers,
    n: int,
    first: str = "forward",
    losses: Sequence[float] = (0.0,),
    start: Numbers | None = None,
    dps: int = 60,
) -> Precise:
    """Mean visits, E[H] and the weights of E[T] to many digits."""
    with mpmath.workdps(dps):
        p, q, s = (mp_numbers(part) for part in exact_chain(forward, back, n, first))
        solved = mp_solve(p, q, s, [mpmath.mpf(x) for x in start_distribution(start, n)], mpmath.mpf(1))
        return Precise(
            visits=solved.visits,
            mean_h=mpmath.fsum(solved.visits),
            weights={loss: mp_discounted(solved, loss) for loss in losses},
            dps=dps,
        )


def mp_gauss_legendre(m: int) -> tuple[list[Any], list[Any]]:
    """Nodes and weights on [0, 1], by Newton's method on the recurrence of the Legendre polynomials."""
    nodes, weights = [], []
    for k in range(m):
        x = mpmath.cos(mpmath.pi * (k + mpmath.mpf(3) / 4) / (m + mpmath.mpf(1) / 2))
        slope = mpmath.mpf(1)
        for _ in range(100):
            before, value = mpmath.mpf(1), x
            for j in range(2, m + 1):
                before, value = value, ((2 * j - 1) * x * value - (j - 1) * before) / j
            slope = m * (x * value - before) / (x * x - 1)
            change = value / slope
            x -= change
            if abs(change) < mpmath.mpf(10) ** (3 - mpmath.mp.dps):
                break
        nodes.append((1 + x) / 2)
        weights.append(1 / ((1 - x * x) * slope * slope))
    return nodes, weights


def mp_order1(
    forward: float | Numbers,
    back: float | Numbers,
    n: int,
    first: str = "forward",
    losses: Sequence[float] = (0.0,),
    start: Numbers | None = None,
    dps: int = 40,
    nodes: int = 24,
    deeper: int = 0,
) -> dict[float, list[Any]]:
    """The weights w_i of E[T/H] = Σ y_i w_i, for every loss: 1/h = ∫ z^{h-1} dz over [0, 1].

    The integrand is a power series in z with no negative coefficient, so it is largest on the positive axis, and it is
    finite up to z = 1/(1 - min s) at least. Panels [0, 1/2], [1/2, 3/4], … down to a length of min s lie no nearer to
    that point than their own length; there m Gauss nodes err by about (3 + √8)^{-2m} of the integrand's size at that
    point: 1e-36 for m = 24. `deeper` splits the last panel that many times more.
    """
    with mpmath.workdps(dps):
        exact = exact_chain(forward, back, n, first)
        p, q, s = (mp_numbers(part) for part in exact)
        begin = [mpmath.mpf(x) for x in start_distribution(start, n)]
        least = min(exact[2])
        if least == 0:
            raise ValueError("the panels are laid for walks that can stop at every rank")
        depth = max(1, math.ceil(-math.log2(float(least)))) + deeper
        edges = [1 - mpmath.mpf(2) ** -j for j in range(depth + 1)] + [mpmath.mpf(1)]
        found = {loss: [mpmath.mpf(0)] * n for loss in losses}
        points, shares = mp_gauss_legendre(nodes)
        for low, high in pairwise(edges):
            for x, share in zip(points, shares, strict=True):
                solved = mp_solve(p, q, s, begin, low + (high - low) * x)
                here = share * (high - low)
                ends = [here * e for e in solved.end]
                for loss, sums in found.items():
                    for i, w in enumerate(mp_discounted(solved, loss)):
                        sums[i] += w * ends[i]
        return found


# ---------------------------------------------------------------------------------------------------------------------
# 7. Ferrante & Ferro (2020), as printed and put right


def ff20_k(p: float, q: float, n: int, dps: int = 60) -> Any:
    """Appendix C, eq. (3), as printed: E[H] = K(p, q, N) when the back move at rank 1 stops.

    Its powers differ by a factor that grows with N, so the precision grows too.
    """
    with mpmath.workdps(dps + n):
        p, q = mpmath.mpf(p), mpmath.mpf(q)
        root = mpmath.sqrt(1 - 4 * p * q)
        minus, plus = (1 - root) / (2 * p), (1 + root) / (2 * p)
        g1 = minus**n - q * minus ** (n - 1)
        g2 = plus**n - q * plus ** (n - 1)
        a = (g1 / (1 - p - q) - p / (1 - p - q)) / (g2 - g1)
        return a * root / p + (2 * p - 1 + root) / (2 * p * (1 - p - q))


def ff20_k_infinite(p: float, q: float, first: str = "stop", dps: int = 60) -> Any:
    """E[H] on a list without end; with first="forward" every visit is the last with the same probability."""
    with mpmath.workdps(dps):
        p, q = mpmath.mpf(p), mpmath.mpf(q)
        if first == "forward":
            return 1 / (1 - p - q)
        return (2 * p - 1 + mpmath.sqrt(1 - 4 * p * q)) / (2 * p * (1 - p - q))


def ff20_appendix_c_total(p: float, q: float) -> float:
    """Appendix C's expression for the run (1, 0, 0, 1, 0, 1), first="stop"; it is E[T], although printed as E[P@H]."""
    above = 1 - 4 * p * q + p**3 + 3 * p**2 * q**2 - p**4 * q + p**5
    return above / (1 - 5 * p * q + 6 * p**2 * q**2 - p**3 * q**3)


def ff20_variance_printed(p: Numbers, q: Numbers, gains: Numbers) -> Array:
    """Appendix B's variance of T from each rank, as printed; it is wrong, and negative for its own example."""
    y = np.asarray(gains, dtype=float)
    moves = transition(p, q)
    green = np.linalg.inv(np.eye(len(y)) - moves)
    return np.asarray(green @ np.diag(y) @ (np.eye(len(y)) - 2 * moves @ green) @ y)


def ff20_variance_right(p: Numbers, q: Numbers, gains: Numbers) -> Array:
    """The same with the sign put right and the square of the mean taken away."""
    y = np.asarray(gains, dtype=float)
    moves = transition(p, q)
    green = np.linalg.inv(np.eye(len(y)) - moves)
    return np.asarray(green @ np.diag(y) @ (np.eye(len(y)) + 2 * moves @ green) @ y - (green @ y) ** 2)


# ---------------------------------------------------------------------------------------------------------------------
# golden numbers

Rule = float | dict[str, int]

ABOUT = (
    "Long walks that seldom stop. A rule {base, step, modulus, over} means "
    "x_i = (base + (step * i) % modulus) / over in integers and one division of doubles, for i = 1..n; "
    "{modulus, equals} means 1 if i % modulus == equals, else 0; "
    "probabilities are the doubles before the conventions at rank 1 and rank n (first = forward or stop); "
    "1 - p - q is meant exactly, of those doubles. A start distribution is {rank: probability}; none is rank 1. "
    "visits: mean visits to a rank (1e-736 is 0 as a double). order1 = E[T/H], order2 = E[T]/E[H]; "
    "T loses a share `loss` of a rank's gain at every further visit to it."
)

THIRD: dict[str, int] = {"modulus": 3, "equals": 1}
GRADED: dict[str, int] = {"base": 0, "step": 7, "modulus": 5, "over": 4}
SWAY: dict[str, int] = {"base": 4000, "step": 37, "modulus": 1000, "over": 10000}
LAG: dict[str, int] = {"base": 4001, "step": 91, "modulus": 999, "over": 10000}
# these two leave a probability of .001 to .019 to stop
PACE: dict[str, int] = {"base": 4900, "step": 37, "modulus": 99, "over": 10000}
TURN: dict[str, int] = {"base": 4910, "step": 53, "modulus": 83, "over": 10000}

LOSSES = (0.0, 0.25, 1.0)

CASES: list[dict[str, Any]] = [
    {"name": "even 50", "n": 50, "first": "forward", "forward": 0.49995, "back": 0.49995, "gains": THIRD},
    {"name": "even 500 stop", "n": 500, "first": "stop", "forward": 0.49995, "back": 0.49995, "gains": THIRD},
    {"name": "even 2000", "n": 2000, "first": "forward", "forward": 0.49995, "back": 0.49995, "gains": THIRD},
    {"name": "ahead 2000", "n": 2000, "first": "forward", "forward": 0.6, "back": 0.3999, "gains": THIRD},
    {"name": "home 500 stop", "n": 500, "first": "stop", "forward": 0.3, "back": 0.6999, "gains": THIRD},
    {"name": "home 2000", "n": 2000, "first": "forward", "forward": 0.3, "back": 0.6999, "gains": THIRD},
    {"name": "haste 500", "n": 500, "first": "forward", "forward": 0.9, "back": 0.0999, "gains": THIRD},
    {"name": "milli 2000 stop", "n": 2000, "first": "stop", "forward": 0.5, "back": 0.499, "gains": THIRD},
    {"name": "varying 50 stop", "n": 50, "first": "stop", "forward": SWAY, "back": LAG, "gains": GRADED},
    {"name": "varying 500", "n": 500, "first": "forward", "forward": SWAY, "back": LAG, "gains": GRADED},
    {
        "name": "two starts 50",
        "n": 50,
        "first": "forward",
        "forward": 0.5,
        "back": 0.499,
        "gains": GRADED,
        "start": {"1": 0.5, "25": 0.5},
    },
    {"name": "restless 500", "n": 500, "first": "forward", "forward": PACE, "back": TURN, "gains": GRADED},
]


def per_rank(rule: Rule, n: int) -> Array:
    """A rule of the golden file as one double per rank."""
    if not isinstance(rule, dict):
        return np.full(n, float(rule))
    if "equals" in rule:
        return np.array([1.0 if i % rule["modulus"] == rule["equals"] else 0.0 for i in range(1, n + 1)])
    return np.array([(rule["base"] + (rule["step"] * i) % rule["modulus"]) / rule["over"] for i in range(1, n + 1)])


def rebuild(case: dict[str, Any]) -> tuple[Array, Array, Array, Array | None]:
    """Forward and back probabilities, gains and start distribution of a golden case."""
    n = case["n"]
    start = None
    if case.get("start"):
        start = np.zeros(n)
        for rank, probability in case["start"].items():
            start[int(rank) - 1] = probability
    return per_rank(case["forward"], n), per_rank(case["back"], n), per_rank(case["gains"], n), start


def mp_case(case: dict[str, Any], digits: int, dps: int, nodes: int, deeper: int) -> dict[str, Any]:
    """All results of one golden case; `digits` serve the linear algebra, the other three the integral."""
    forward, back, gains, start = rebuild(case)
    n, first = case["n"], case["first"]
    walk = mp_walk(forward, back, n, first, LOSSES, start, dps=digits)
    weights = mp_order1(forward, back, n, first, LOSSES, start, dps=dps, nodes=nodes, deeper=deeper)
    with mpmath.workdps(digits):
        found: dict[str, Any] = {
            "E[H]": walk.mean_h,
            "visits": {str(i): walk.visits[i - 1] for i in (1, 2, n // 2, n)},
            "loss": {},
        }
        for loss in LOSSES:
            mean_t = walk.mean_t(gains, loss)
            found["loss"][str(loss)] = {
                "E[T]": mean_t,
                "order2": mean_t / walk.mean_h,
                "order1": mpmath.fsum(w * float(y) for w, y in zip(weights[loss], gains, strict=True) if y),
            }
        # without a loss a gain of one everywhere makes T = H, so the weights must add up to one
        found["sum of order1 weights, no loss, less 1"] = mpmath.fsum(weights[0.0]) - 1
    return found


def flatten(found: dict[str, Any], path: str = "") -> dict[str, Any]:
    """The numbers in nested results, by their path."""
    flat: dict[str, Any] = {}
    for key, value in found.items():
        flat.update(flatten(value, f"{path}/{key}") if isinstance(value, dict) else {f"{path}/{key}": value})
    return flat


# linear algebra digits, integral digits, Gauss nodes in a panel, further halvings of the last panel
FIRST_SETTING = (60, 40, 24, 0)
SECOND_SETTING = (80, 50, 31, 2)


def write_golden(path: Path = GOLDEN) -> None:
    """Compute every case twice, see that both agree far beyond a double, and write the first."""
    cases = []
    for case in CASES:
        begun = time.monotonic()
        found = mp_case(case, *FIRST_SETTING)
        again = flatten(mp_case(case, *SECOND_SETTING))
        surplus = found.pop("sum of order1 weights, no loss, less 1")
        with mpmath.workdps(SECOND_SETTING[0]):
            apart = {kind: mpmath.mpf(0) for kind in ("order1", "others")}
            for key, x in flatten(found).items():
                kind = "order1" if key.endswith("order1") else "others"
                apart[kind] = max(apart[kind], abs(x / again[key] - 1))
        if max(apart["order1"], apart["others"], abs(surplus)) > 1e-25:
            raise RuntimeError(f"{case['name']}: the two settings differ by {apart}, the sum by {surplus}")

        def digits(value: Any) -> Any:
            if isinstance(value, dict):
                return {key: digits(x) for key, x in value.items()}
            return "#" + mpmath.nstr(value, 17, strip_zeros=False, min_fixed=-5, max_fixed=17)

        cases.append(
            {
                **case,
                "results": digits(found),
                "agreement": {
                    "order1, two settings, relative": mpmath.nstr(apart["order1"], 2),
                    "others, two settings, relative": mpmath.nstr(apart["others"], 2),
                    "sum of order1 weights without loss, less 1": mpmath.nstr(surplus, 2),
                },
            }
        )
        sys.stdout.write(f"{case['name']}: {time.monotonic() - begun:.0f} s, {cases[-1]['agreement']}\n")
        sys.stdout.flush()
    whole = {
        "command": "python tests/walk_reference.py --golden",
        "about": ABOUT,
        "settings": {
            "meaning": "digits of the linear algebra, digits of the integral, Gauss nodes a panel, further halvings",
            "written": list(FIRST_SETTING),
            "compared with": list(SECOND_SETTING),
            "mpmath": mpmath.__version__,
        },
        "losses": list(LOSSES),
        "cases": cases,
    }
    # numbers with all 17 digits, which json itself would shorten
    text = re.sub(r'"#([^"]*)"', r"\1", json.dumps(whole, indent=1))
    path.parent.mkdir(exist_ok=True)
    path.write_text(text + "\n", encoding="utf-8")


def check_golden(path: Path = GOLDEN) -> None:
    """Walk the golden cases in double precision; a loss needs one column per gain, so only up to 500 ranks."""
    for case in json.loads(path.read_text(encoding="utf-8"))["cases"]:
        forward, back, gains, start = rebuild(case)
        moves = chain(forward, back, case["n"], case["first"])
        for loss in LOSSES if case["n"] <= 50 else LOSSES[:1] if case["n"] > 500 else LOSSES[:2]:
            begun = time.monotonic()
            mean_h, mean_t, rate = order1_by_stepping(*moves, gains, loss, start)
            want = case["results"]
            part = want["loss"][str(loss)]
            pairs = ((mean_h, want["E[H]"]), (mean_t, part["E[T]"]), (rate, part["order1"]))
            apart = ", ".join(f"{got / right - 1:.1e}" for got, right in pairs)
            took = time.monotonic() - begun
            sys.stdout.write(f"{case['name']}, loss {loss}: E[H], E[T], E[T/H] off by {apart} ({took:.0f} s)\n")
            sys.stdout.flush()


if __name__ == "__main__":
    if sys.argv[1:] == ["--golden"]:
        write_golden()
    elif sys.argv[1:] == ["--check"]:
        check_golden()
    else:
        sys.exit(__doc__)
