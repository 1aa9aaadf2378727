"""Measures of sessions a second time, straight from their papers: dense matrices, all paths, plain loops.

Nothing here is fast, and nothing here looks at the package. A session is a list of queries, a query is the list of the
gains it shows, in order.
"""

from __future__ import annotations

import functools
import math
import random
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Session = Sequence[Sequence[float]]

# ---- van Dijk et al. 2019, appendix: the matrices as they are printed


def transitions(n: int, p: float, q: float, r: float, s: float) -> Array:
    """P, (n + 2) x (n + 2): documents 1 to n, then F (the end) and Q (the next query).

    First and last row are scaled, whatever the probabilities sum to. With one document neither forward nor back is
    left.
    """
    P = np.zeros((n + 2, n + 2))
    for i in range(n):
        forward, back = (p if i < n - 1 else 0.0), (q if i > 0 else 0.0)
        row = np.zeros(n + 2)
        if i < n - 1:
            row[i + 1] = forward
        if i > 0:
            row[i - 1] = back
        row[n], row[n + 1] = s, r
        P[i] = row / row.sum() if i in (0, n - 1) else row
    P[n, n] = P[n + 1, n + 1] = 1.0
    return P


def _stochastic(P: Array) -> Array:
    total = P.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(P, total, out=np.zeros_like(P), where=total > 0), np.float64)


def _exactly(A: list[list[Fraction]], b: list[Fraction]) -> list[Fraction]:
    """Solve A x = b in fractions."""
    rows = [[*row, right] for row, right in zip(A, b, strict=True)]
    n = len(rows)
    for i in range(n):
        pivot = next(j for j in range(i, n) if rows[j][i])
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [x / rows[i][i] for x in rows[i]]
        for j in range(n):
            if j != i and rows[j][i]:
                rows[j] = [x - rows[j][i] * y for x, y in zip(rows[j], rows[i], strict=True)]
    return [row[n] for row in rows]


@functools.cache
def times(n: int, p: float, q: float, r: float, s: float) -> Array:
    """e: mean times from document 1 to each document, by (I - P1)^-1.

    In fractions where the lists are short: with q > p a solve in floats loses as many digits as the times have.
    """
    e = np.zeros(n)
    P = transitions(n, p, q, r, s)[:n, :n]
    inside = _stochastic(P)
    if n <= 12:
        exact = [[Fraction(x) / sum(map(Fraction, row.tolist())) for x in row.tolist()] for row in P[: n - 1]]
        for i in range(1, n):
            system = [[(a == b) - exact[a][b] for b in range(i)] for a in range(i)]
            e[i] = float(_exactly(system, [Fraction(1)] * i)[0])
        return e
    for i in range(1, n):
        e[i] = np.linalg.solve(np.eye(i) - inside[:i, :i], np.ones(i))[0]
    return e


@functools.cache
def leaving(n: int, p: float, q: float, r: float, s: float) -> float:
    """e_Q: mean time from document 1 to the next query; a list without documents takes a step."""
    if n == 0:
        return 1.0
    keep = [*range(n), n + 1]
    P = _stochastic(transitions(n, p, q, r, s)[np.ix_(keep, keep)])
    return float(np.linalg.solve(np.eye(n) - P[:n, :n], np.ones(n))[0])


@functools.cache
def ending(n: int, p: float, q: float, r: float, s: float) -> float:
    """h_F: the probability to end the session from document 1 of a list, and not to ask the next query."""
    if n == 0:
        return s / (r + s)
    P = transitions(n, p, q, r, s)
    return float(np.linalg.solve(np.eye(n) - P[:n, :n], P[:n, n])[0])


def msm(session: Session, probabilities: Sequence[float], *, log: bool = False, published: bool = False) -> float:
    """The program's score, each query with its own e_Q and h_F; published: as the pseudo-code has it (equal lengths).

    h(K) of the pseudo-code does not matter: pi(j) sums h(1) to h(j - 1) only.
    """
    total, reach, gone = 0.0, 1.0, 0.0
    for query in session:
        n = len(query)
        e = times(n, *probabilities)
        away = leaving(n, *probabilities)
        t = e + (away if published else gone)
        if log:
            below = 1 + (np.log10(1 + t) if published else np.log(1 + t))
        else:
            below = 1 + t
        total += reach * float((np.asarray(query, float) / below).sum())
        reach *= 1 - ending(n, *probabilities)
        gone += away
    return total


# ---- weights by place


def srbp(session: Session, p: float, b: float) -> float:
    """Lipani, Carterette & Yilmaz 2019."""
    total = 0.0
    for j, query in enumerate(session, 1):
        for i, gain in enumerate(query, 1):
            total += ((p - b * p) / (1 - b * p)) ** (j - 1) * (b * p) ** (i - 1) * gain
    return (1 - p) * total


def sdcg(session: Session, b: float = 2, bq: float = 4) -> float:
    """Järvelin et al. 2008: no discount before rank b; query j is divided by 1 + log_bq j."""
    total = 0.0
    for j, query in enumerate(session, 1):
        for i, gain in enumerate(query, 1):
            of_rank = 1.0 if i < b else math.log(i) / math.log(b)
            total += gain / of_rank / (1 + math.log(j) / math.log(bq))
    return total


def u_measure(session: Session, L: float, query: float) -> float:
    """Sakai & Dou 2013, a document as long as another: a text that is read to its end."""
    total, read = 0.0, 0.0
    for shown in session:
        read += query
        for gain in shown:
            read += 1
            total += gain * max(0.0, 1 - read / L)
    return total


# ---- Kanoulas et al. 2011: every path


def paths(session: Session, down: float, reform: float) -> Iterator[tuple[float, list[float], list[tuple[int, int]]]]:
    """All ways through a session: probability, the gains seen in order, and where they stood (query, rank from 0)."""

    def onward(j: int, probability: float, seen: list[float], at: list[tuple[int, int]]) -> Iterator[tuple[Any, ...]]:
        n = len(session[j])
        for looked in range(min(n, 1), n + 1):
            here = 1.0 if n == 0 else down ** (looked - 1) * (1.0 if looked == n else 1 - down)
            saw = seen + list(session[j][:looked])
            places = at + [(j, i) for i in range(looked)]
            if j + 1 < len(session):
                yield probability * here * (1 - reform), saw, places
                yield from onward(j + 1, probability * here * reform, saw, places)
            else:
                yield probability * here, saw, places

    yield from onward(0, 1.0, [], [])


def expected(session: Session, down: float, reform: float, of: Callable[[list[float]], float]) -> float:
    """The mean of a measure over all paths."""
    return math.fsum(probability * of(seen) for probability, seen, _ in paths(session, down, reform))


def precision(k: int | None) -> Callable[[list[float]], float]:
    """Of 0/1 gains."""
    return lambda seen: (sum(seen[:k]) / (k or len(seen))) if seen else 0.0


def dcg(k: int | None) -> Callable[[list[float]], float]:
    """With log2(1 + place)."""
    return lambda seen: sum(g / math.log2(i + 1) for i, g in enumerate(seen[:k], 1))


def reciprocal(seen: list[float]) -> float:
    """1 / the place of the first relevant."""
    return next((1 / i for i, g in enumerate(seen, 1) if g > 0), 0.0)


def average_precision(relevant: int) -> Callable[[list[float]], float]:
    """Of 0/1 gains."""
    return lambda seen: sum(sum(seen[:i]) / i for i, g in enumerate(seen, 1) if g) / relevant


# ---- what was found before

Facetted = Sequence[Sequence[dict[str, float]]]  # query, rank: what the document is rated for each facet


def filled(session: Facetted, facets: Sequence[str], gamma: float, height: float) -> list[tuple[int, float]]:
    """After each document: the query (from 1) and how full the cube is (Luo et al. 2013, facets of one weight)."""
    level, met = dict.fromkeys(facets, 0.0), dict.fromkeys(facets, 0)
    out = []
    for j, query in enumerate(session, 1):
        for doc in query:
            for facet, rating in doc.items():
                if rating > 0:
                    level[facet] = min(height, level[facet] + gamma ** met[facet] * rating)
                    met[facet] += 1
            out.append((j, sum(level.values()) / height / len(facets)))
    return out


def cube_test(session: Facetted, facets: Sequence[str], gamma: float, height: float, time: str) -> float:
    """How full it is at the end, by queries asked or documents read."""
    steps = filled(session, facets, gamma, height)
    if not steps:
        return 0.0
    return steps[-1][1] / (len(session) if time == "queries" else len(steps))


def average_cube_test(session: Facetted, facets: Sequence[str], gamma: float, height: float, time: str) -> float:
    """The mean over documents of the Cube Test after each."""
    steps = filled(session, facets, gamma, height)
    speeds = [full / (j if time == "queries" else i) for i, (j, full) in enumerate(steps, 1)]
    return sum(speeds) / len(speeds) if speeds else 0.0


def expected_utility(
    session: Facetted, worth: dict[str, float], p: float, gamma: float, a: float, below: float = 0.0
) -> float:
    """Yang & Lad 2009: a piece met m times in the mean is worth (1 - gamma^m) / (1 - gamma)."""
    met = dict.fromkeys(worth, 0.0)
    read = 0.0
    for query in session:
        for i, doc in enumerate(query):
            seen = (1 - p) ** i
            read += seen
            for piece, rating in doc.items():
                if rating > below:
                    met[piece] += seen
    return float(sum(w * (1 - gamma ** met[piece]) / (1 - gamma) for piece, w in worth.items()) - a * read)


# ---- the walk itself: one absorbing chain over all documents of all queries


class Chain:
    """States are documents (query, rank); an empty query is a state that shows nothing.

    last="stay": at the last query the probability of a next one is shared out; "stop": it is a probability to stop.
    """

    def __init__(self, lengths: Sequence[int], probabilities: Sequence[float], last: str = "stay") -> None:
        p, q, r, s = probabilities
        self.states = [(j, i) for j, n in enumerate(lengths) for i in range(max(n, 1))]
        at = {state: x for x, state in enumerate(self.states)}
        size = len(self.states)
        self.P, self.stop = np.zeros((size, size)), np.zeros(size)
        for (j, i), x in at.items():
            ways: list[tuple[int | None, float]] = []
            if i + 1 < lengths[j]:
                ways.append((at[j, i + 1], p))
            if i > 0:
                ways.append((at[j, i - 1], q))
            if j + 1 < len(lengths):
                ways.append((at[j + 1, 0], r))
            elif last == "stop":
                ways.append((None, r))
            ways.append((None, s))
            whole = sum(probability for _, probability in ways)
            for to, probability in ways:
                if to is None:
                    self.stop[x] += probability / whole
                else:
                    self.P[x, to] += probability / whole
        self.shows = np.array([lengths[j] > 0 for j, _ in self.states])

    def visits(self) -> Array:
        """Mean visits to each state, from the first."""
        start = np.zeros(len(self.states))
        start[0] = 1
        return np.asarray(np.linalg.solve((np.eye(len(self.states)) - self.P).T, start), np.float64)

    def seen(self) -> Array:
        """The probability to come to each state ever: its column of the Green's function over its diagonal."""
        G = np.linalg.inv(np.eye(len(self.states)) - self.P)
        return np.asarray(G[0] / np.diag(G), np.float64)

    def last(self) -> Array:
        """The probability to stop at each state."""
        return self.visits() * self.stop

    def walk(self, rng: random.Random) -> list[tuple[int, int]]:
        """One user, step by step."""
        x, out = 0, []
        while True:
            out.append(self.states[x])
            u = rng.random()
            for to in range(len(self.states)):
                u -= self.P[x, to]
                if u < 0:
                    break
            else:
                return out
            x = to
