"""Users who walk through a session: forward and back on a list, on to the next query, or to a stop.

At every document the user goes forward with probability p, back with q, on to the next query with r, and stops with s;
at the first document of a list there is no way back, at the last no way forward, and the other probabilities are scaled
up (van Dijk, Ferrante, Ferro & Kanoulas 2019). Whatever is scaled, r and s keep their ratio, so that every list is left
for the next query with the same probability r / (r + s), from any document and however long the list is: that is the
probability of reaching query j + 1 from query j. How long it takes is given by two numbers:

    e(i)   the mean number of steps from document 1 to document i, if the list is left by neither exit:
           m_1 = 1, m_k = (1 + q' m_(k-1)) / p' with p' = p / (p + q) and q' = q / (p + q), e(i) = m_1 + ... + m_(i-1)
    e_Q    the mean number of steps until the next query, if the user does not stop. With f_k the probability to get
           from k to k + 1, tau_k the mean number of steps until then or until the list is left (both from the left, in
           one pass, without a subtraction), it is the sum of f_1 ... f_(k-1) tau_k, and differs between lists of
           different lengths in its last term only.

All lengths together take one pass: O(N) for the times, O(N K) for the scores.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from amble.arrays import Array, ArrayLike, Ints
from amble.checks import is_number, one_of
from amble.errors import MeasureError
from amble.table import Table, Tabled
from amble.users.birth_death import BirthDeathChain, solved

__all__ = ["SessionOnLists", "SessionWalk", "SessionWalkOnLists"]

_SLACK = 1e-9  # by how much p + q + r + s may miss 1
_BATCH = 1 << 15  # users who are followed together
_MOST_STEPS = 1e10
_MOST_MARKS = 1 << 26  # documents met, of all users who are followed together
_LARGE = 690.0  # ln of a number of steps beside which 1 is nothing, and which a float still holds


class SessionWalk:
    """A user who walks through a session, whatever is shown.

    Parameters
    ----------
    p, q, r, s : float
        The probabilities to go forward, back, on to the next query, and to stop; p, r and s above 0, and 1 together.
    endless : bool
        Lists and sessions go on for ever (session RBP's user), and nothing is scaled up at their ends; needs q = 0.
    last : {"stay", "stop"}
        At the last query there is no next one. The other probabilities are scaled up (MsM); or the user stops instead
        of issuing it (the expected measures of Kanoulas et al. 2011).

    Examples
    --------
    >>> walk = SessionWalk(0.6, 0.1, 0.2, 0.1)
    >>> walk.times(3)  # 0, 1, 1 + (1 + 1/7) / (6/7)
    array([0.        , 1.        , 2.33333333])
    >>> round(walk.onward, 6)
    0.666667
    """

    looks = False  # at what documents gain

    def __init__(self, p: float, q: float, r: float, s: float, *, endless: bool = False, last: str = "stay") -> None:
        for name, value in (("p", p), ("q", q), ("r", r), ("s", s)):
            if not is_number(value) or not 0 <= value <= 1:
                raise MeasureError(f"{name}={value!r:.60}: expected a probability between 0 and 1")
        total = p + q + r + s
        if abs(total - 1) > _SLACK:
            raise MeasureError(f"p + q + r + s = {p:g} + {q:g} + {r:g} + {s:g} = {total:.6g}, expected 1")
        for name, value, what in (
            ("p", p, "the user never gets past the first document"),
            ("r", r, "the user never issues another query"),
            ("s", s, "the user never stops"),
        ):
            if value == 0:
                raise MeasureError(f"{name} = 0: {what}; expected a probability above 0")
        if endless and q > 0:
            raise MeasureError(f"q = {q:g} on endless lists: expected 0")
        one_of(last, ("stay", "stop"), "last", MeasureError)
        self.p, self.q, self.r, self.s = float(p), float(q), float(r), float(s)
        self.endless, self.last = endless, last

    def __repr__(self) -> str:
        return f"SessionWalk(p={self.p:g}, q={self.q:g}, r={self.r:g}, s={self.s:g})"

    @property
    def onward(self) -> float:
        """The probability to go on from a query to the next."""
        return self.r / (self.r + self.s)

    def times(self, n: int) -> Array:
        """e(1), ..., e(n): mean steps from document 1 to document i, if the list is left by neither exit.

        Infinite where they are too many for a float, as they soon are with q > p.
        """
        if n <= 0:
            return np.zeros(0)
        p, q = self.p / (self.p + self.q), self.q / (self.p + self.q)
        steps = [0.0]
        here = 1.0
        for _ in range(n - 1):
            steps.append(here)
            here = (1.0 + q * here) / p
        with np.errstate(over="ignore"):
            return np.asarray(np.cumsum(steps))

    def magnitudes(self, n: int) -> Array:
        """The logarithms of e(1), ..., e(n): -inf, then finite even where e is too large for a float."""
        with np.errstate(divide="ignore"):
            out = np.log(self.times(n))
        known = int(np.searchsorted(out, _LARGE))
        if known < n:  # the time to a document is q / p times that to the one before, and no digit more
            out[known:] = out[known - 1] + np.arange(1, n - known + 1) * np.log(self.q / self.p)
        return np.asarray(out)

    def leaving(self, n: int) -> Array:
        """Mean steps from document 1 to the next query, if the user does not stop, for lists of 0, 1, ..., n documents.

        A list of one document leaves nothing but to go on: one step. So does an empty one.
        """
        p, q, r = self.p, self.q, self.r
        out = np.ones(n + 1)
        reach = passed = 1.0  # the probability to come to k; the sum over the ranks before k
        stays, steps = r / (p + r), 1.0  # 1 - f_k and tau_k at k = 1
        passed = steps
        reach = p / (p + r)
        for k in range(2, n + 1):
            out[k] = passed + reach * (q + r + q * steps) / (r + q * stays)
            pivot = p + r + q * stays
            stays, steps, go = (r + q * stays) / pivot, (p + q + r + q * steps) / pivot, p / pivot
            passed += reach * steps
            reach *= go
        return out

    def over(self, lengths: Sequence[int] | Ints, gains: Sequence[ArrayLike] | None = None) -> SessionWalkOnLists:
        """The walk through a session whose queries show so many documents each, whatever these gain."""
        return SessionWalkOnLists(self, check_lengths(lengths))


def check_lengths(lengths: Sequence[int] | Ints) -> Ints:
    """How many documents the queries of a session show, checked: at least one query."""
    found = np.asarray(lengths)
    if found.ndim != 1 or (found.size and (found.dtype.kind not in "iu" or found.min() < 0)):
        raise MeasureError(f"lengths {lengths!r:.60}: expected how many documents each query shows, such as [10, 10]")
    if not found.size:
        raise MeasureError("a session with no query, expected at least one")
    return found.astype(np.int64)


class SessionOnLists(Tabled):
    """What is known of any user on the lists of a session.

    Attributes
    ----------
    lengths : ndarray
        How many documents each query shows.
    reach : ndarray
        The probability that each query is ever issued.
    seen, visits, last : list of ndarray
        Query by query, of each document: the probability of ever looking at it, the mean number of visits, and the
        probability of ending the session there.
    expected_queries, expected_depth : float
        The mean number of queries issued, and of visits to documents: the effort.
    """

    lengths: Ints

    @property
    def reach(self) -> Array:
        """The probability that each query is ever issued."""
        raise NotImplementedError

    @property
    def seen(self) -> list[Array]:
        """The probability that each document is ever looked at, query by query."""
        raise NotImplementedError

    @property
    def visits(self) -> list[Array]:
        """The mean number of visits to each document, query by query."""
        raise NotImplementedError

    @property
    def last(self) -> list[Array]:
        """The probability of stopping at each document, query by query."""
        raise NotImplementedError

    @property
    def expected_queries(self) -> float:
        """The mean number of queries issued."""
        return float(self.reach.sum())

    @property
    def expected_depth(self) -> float:
        """The mean number of visits to documents: the effort."""
        raise NotImplementedError

    def follow(
        self, gains: Sequence[ArrayLike], users: int, seed: int, *, visits: str = "first"
    ) -> Iterator[tuple[Array, Array, Array]]:
        """Simulated users, some at a time: the gain, the visits to documents and the number of queries of each."""
        raise NotImplementedError

    def expected_gain(self, gains: Sequence[ArrayLike], *, visits: str = "first") -> float:
        """The mean gain: by the first visit to each document, or by every visit."""
        of = self.seen if check_visits(visits) == "first" else self.visits
        return float(sum(y @ w for y, w in zip(self._gains(gains), of, strict=True)))

    def _gains(self, gains: Sequence[ArrayLike]) -> list[Array]:
        """Gains by query and rank, as many as there are documents."""
        out = [np.asarray(y, np.float64) for y in gains]
        if [y.shape for y in out] != [(n,) for n in self.lengths.tolist()]:
            raise MeasureError(f"gains of shapes {[y.shape for y in out]}, expected lists of {self.lengths.tolist()}")
        return out

    @property
    def ends(self) -> Array:
        """The probability that the session ends in each query: h(j) of van Dijk et al. (2019)."""
        return np.asarray(self.reach - np.append(self.reach[1:], 0.0))

    def columns(self, j: int) -> dict[str, Array | float | None]:
        """What `table` shows of query j (from 0) before what all users have: by rank, or one number for the query."""
        return {}

    def table(self, *, digits: int = 4) -> Table:
        """What the user does, a row for each query and rank; the row of a query without documents has no rank.

        ``h`` is the probability that the session ends in the query, ``pi`` that the query is issued; ``seen``,
        ``visits`` and ``last`` are of the document, as the attributes are. Before them: of `SessionWalk`, ``e``,
        ``e_Q`` and ``h_F`` of van Dijk et al. (2019), and ``t``, the mean number of steps from the very first document;
        of `CarriedTarget`, ``T``, the gain hoped for when the query is issued.
        """
        rows: list[list[float | int | None]] = []
        names: list[str] = []
        for j, (pi, h) in enumerate(zip(self.reach.tolist(), self.ends.tolist(), strict=True)):
            own: dict[str, Array | float | None] = {**self.columns(j), "h": h, "pi": pi}
            own |= {"seen": self.seen[j], "visits": self.visits[j], "last": self.last[j]}
            names = ["query", "rank", *own]
            for i in range(max(int(self.lengths[j]), 1)):
                cells = [
                    x if not isinstance(x, np.ndarray) else float(x[i]) if i < x.size else None for x in own.values()
                ]
                rows.append([j + 1, i + 1 if self.lengths[j] else None, *cells])
        return Table(names, rows, digits=digits, caption=repr(self))

    def __repr__(self) -> str:
        n = self.lengths.size
        queries = f"{n} quer{'y' if n == 1 else 'ies'}"
        return f"{type(self).__name__}({queries}, expected depth {self.expected_depth:.6g})"


class SessionWalkOnLists(SessionOnLists):
    """A user's walk through the lists of a session; made by `SessionWalk.over`.

    Examples
    --------
    >>> on_list = SessionWalk(0.6, 0, 0.1, 0.3).over([3, 2])
    >>> on_list.reach
    array([1.  , 0.25])
    >>> [seen.round(4).tolist() for seen in on_list.seen]  # .6 and .6 x .6; at the last query 2/3 of those who stay
    [[1.0, 0.6, 0.36], [0.25, 0.1667]]
    """

    def __init__(self, walk: SessionWalk, lengths: Ints) -> None:
        self.walk, self.lengths = walk, lengths

    @property
    def reach(self) -> Array:
        """The probability that each query is ever issued."""
        return np.asarray(self.walk.onward ** np.arange(self.lengths.size))

    def _probabilities(self, j: int) -> tuple[Array, Array, Array, Array]:
        """Forward, back, on, stop at each document of query j."""
        w, n = self.walk, int(self.lengths[j])
        p, q, r, s = (np.full(n, x) for x in (w.p, w.q, w.r, w.s))
        if n == 0:
            return p, q, r, s
        if not w.endless:
            q[0] = 0.0
            p[-1] = 0.0
            final = j == self.lengths.size - 1
            if final and w.last == "stop":
                s, r = s + r, np.zeros(n)
            elif final:
                r = np.zeros(n)
            total = p + q + r + s
            p, q, r, s = p / total, q / total, r / total, s / total
        return p, q, r, s

    @cached_property
    def _within(self) -> list[tuple[Array, Array]]:
        """For each query, once there: the probability to see each document, and the mean number of visits."""
        out: list[tuple[Array, Array]] = []
        for j, n in enumerate(self.lengths.tolist()):
            p, q, r, s = self._probabilities(j)
            if n == 0:
                out.append((np.zeros(0), np.zeros(0)))
                continue
            if self.walk.endless:
                seen = np.asarray(np.cumprod(np.concatenate(([1.0], p[:-1]))), np.float64)
                out.append((seen, seen))
                continue
            start = np.zeros((1, n))
            start[0, 0] = 1.0
            found = solved(BirthDeathChain(p[None], q[None], (r + s)[None], start, None))
            hit, away = found.hit[:, 0, 0], found.away[:, 0, 0]
            out.append((hit, hit / away))
        return out

    @property
    def seen(self) -> list[Array]:
        """The probability that each document is ever looked at, query by query."""
        return [r * of for r, (of, _) in zip(self.reach.tolist(), self._within, strict=True)]

    @property
    def visits(self) -> list[Array]:
        """The mean number of visits to each document, query by query."""
        return [r * of for r, (_, of) in zip(self.reach.tolist(), self._within, strict=True)]

    @property
    def last(self) -> list[Array]:
        """The probability of stopping at each document, query by query."""
        return [visits * self._probabilities(j)[3] for j, visits in enumerate(self.visits)]

    @property
    def expected_queries(self) -> float:
        """The mean number of queries issued."""
        return 1.0 / (1.0 - self.walk.onward) if self.walk.endless else super().expected_queries

    @property
    def expected_depth(self) -> float:
        """The mean number of visits to documents: the effort."""
        return 1.0 / self.walk.s if self.walk.endless else float(sum(of.sum() for of in self.visits))

    @property
    def ends(self) -> Array:
        """The probability that the session ends in each query."""
        return self.reach * (1.0 - self.walk.onward) if self.walk.endless else super().ends

    def columns(self, j: int) -> dict[str, Array | float | None]:
        """e, e_Q, t and h_F of query j: mean steps to each document and to the next query, the probability of ending.

        e_Q and h_F are those of a query that is not the last, after which there is no next: there they are None.
        """
        walk, n = self.walk, self.lengths.tolist()
        leaving = np.full(max(n) + 1, (walk.p + walk.r) / walk.r) if walk.endless else walk.leaving(max(n))
        e, final = walk.times(n[j]), j == len(n) - 1 and not walk.endless
        t = e + leaving[n[:j]].sum()
        return {
            "e": e,
            "e_Q": None if final else float(leaving[n[j]]),
            "t": t,
            "h_F": None if final else 1 - walk.onward,
        }

    def follow(
        self, gains: Sequence[ArrayLike], users: int, seed: int, *, visits: str = "first"
    ) -> Iterator[tuple[Array, Array, Array]]:
        """Simulated users, some at a time: the gain, the visits to documents and the number of queries of each."""
        first = check_visits(visits) == "first"
        if users * self.expected_depth > _MOST_STEPS:
            raise MeasureError(f"{users:,} users would make {users * self.expected_depth:.1e} visits: too many")
        rng = np.random.default_rng(seed)
        if self.walk.endless:
            raise MeasureError("endless lists: the gain is known only as far as the lists go; compute a score")
        n = self.lengths.tolist()
        starts = np.concatenate(([0], np.cumsum(n)))
        y = np.concatenate(self._gains(gains))
        tables = [self._probabilities(j) for j in range(len(n))]
        probabilities = [np.concatenate(part) for part in zip(*tables, strict=True)]
        limits = np.cumsum(np.stack(probabilities), axis=0)  # forward, back, on, stop
        if not (np.abs(limits[-1] - 1.0) <= _SLACK).all():  # users who neither move nor stop would be followed for ever
            raise RuntimeError("internal error: the probabilities at a document do not sum to 1")
        first = first and self.walk.q > 0  # else there is no second visit
        batch = max(1, min(_BATCH, _MOST_MARKS // max(y.size, 1))) if first else _BATCH
        for begin in range(0, users, batch):
            yield self._batch(min(batch, users - begin), rng, y, limits, starts, first)

    def _batch(
        self, users: int, rng: np.random.Generator, y: Array, limits: Array, starts: Ints, first: bool
    ) -> tuple[Array, Array, Array]:
        total, steps, queries = np.zeros(users), np.zeros(users), np.ones(users)
        met = np.zeros((users, y.size), bool) if first else None
        query, who = np.zeros(users, np.int64), np.arange(users)
        query, who, queries = self._skip(query, who, queries, rng)
        at = starts[query]
        while who.size:
            gain = y[at]
            if met is not None:
                gain = np.where(met[who, at], 0.0, gain)
                met[who, at] = True
            total[who] += gain
            steps[who] += 1
            u = rng.random(who.size)
            forward, back, on = limits[0, at], limits[1, at], limits[2, at]
            step = np.where(u < forward, 1, np.where(u < back, -1, 0))
            leaves = (u >= back) & (u < on)
            stops = u >= on
            at = at + step
            queries[who[leaves]] += 1
            query = query + leaves
            keep = ~stops
            query, who, at, leaves = query[keep], who[keep], at[keep], leaves[keep]
            if leaves.any():
                moved, rest = who[leaves], who[~leaves]
                q_rest, at_rest = query[~leaves], at[~leaves]
                q_moved, moved, queries = self._skip(query[leaves], moved, queries, rng)
                query, who = np.concatenate((q_rest, q_moved)), np.concatenate((rest, moved))
                at = np.concatenate((at_rest, starts[q_moved]))
        return total, steps, queries

    def _skip(self, query: Ints, who: Ints, queries: Array, rng: np.random.Generator) -> tuple[Ints, Ints, Array]:
        """From queries that show nothing users go on to the next, or stop."""
        last = self.lengths.size - 1
        empty = self.lengths[query] == 0
        while empty.any():
            goes = ~empty | ((rng.random(who.size) < self.walk.onward) & (query < last))
            query = query + (empty & goes)
            queries[who[empty & goes]] += 1
            query, who = query[goes], who[goes]
            empty = self.lengths[query] == 0
        return query, who, queries


def check_visits(visits: str) -> str:
    """The choice of visits that count, checked: "first" or "every"."""
    one_of(visits, ("first", "every"), "visits", MeasureError)
    return visits
