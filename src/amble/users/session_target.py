"""Readers of sessions who came for an amount of gain, and take what is still missing along to the next query.

Moffat, Scholer and Thomas (2012) have a user who hopes for a gain of T, reads down a list, and is the likelier to leave
it the less is still missing. With T_i = max(0, T - gain so far) after rank i, the probability of going on is
((i + 2 T_i) / (i + 2 T_i + 1))^2. Their Table 3 sketches what the user does with several queries, and its caption says
that what was found is carried forward; it has no formula. Here, who leaves a list with T_i missing asks the next query
with probability reform x T_i / T, and reads its list with a hope of T_i; else, and after the last query, the session
ends. Who misses nothing always ends it.

How much is missing after a query depends on where its list was left, so that a query is met by readers of many hopes.
All of them are followed, those with the same hope together: hopes are T minus sums of gains, of which there are few.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from amble import checks
from amble.arrays import Array, ArrayLike, Ints
from amble.errors import MeasureError
from amble.users.session_user import SessionOnLists, check_lengths
from amble.users.tails import InversePower

__all__ = ["CarriedTarget", "CarriedTargetOnLists"]

_DIGITS = 12  # of shares of T: hopes that differ by less are one
_MOST = 1 << 14  # different hopes
_BATCH = 1 << 15  # users who are followed together
_FORMS = {"figures": 0.0, "printed": 1.0}


class CarriedTarget:
    """A reader of sessions who hopes for a gain of T in all.

    Parameters
    ----------
    T : float
        The gain hoped for, above 0.
    reform : float
        The probability that a reader who leaves a list having found nothing asks the next query, from 0 to 1.
    form : {"figures", "printed"}
        C(i) as behind the paper's figures, or ((i + 2 T_i - 1) / (i + 2 T_i))^2 as its equation 3 is printed.

    Examples
    --------
    >>> on_list = CarriedTarget(T=1.0).over([2, 2], [[0, 1], [1, 0]])
    >>> on_list.reach.round(4)  # 1 - (3/4)^2 leave after rank 1, with all of it missing; who saw rank 2 has enough
    array([1.    , 0.4375])
    """

    looks = True  # at what documents gain

    def __init__(self, T: float, reform: float = 1.0, form: str = "figures") -> None:
        self.T = checks.number(T, "T", above=0, kind=MeasureError)
        self.reform = checks.number(reform, "reform", least=0, most=1, kind=MeasureError)
        self.form = checks.one_of(form, _FORMS, "form", MeasureError)

    def __repr__(self) -> str:
        return f"CarriedTarget(T={self.T:g}, reform={self.reform:g}, form={self.form!r})"

    def over(self, lengths: Sequence[int] | Ints, gains: Sequence[ArrayLike] | None = None) -> CarriedTargetOnLists:
        """The reader in a session whose queries show so many documents, which gain so much; nothing if not given."""
        found = check_lengths(lengths)
        return CarriedTargetOnLists(self, found, [np.zeros(n) for n in found.tolist()] if gains is None else gains)


class _Readers(NamedTuple):
    """Readers of one list, a row for each hope they came with: what is missing after each rank, who gets there."""

    missing: Array  # hopes x (ranks 0 to n)
    reach: Array  # hopes x (ranks 1 to n + 1)
    shift: Array  # of the tail


class CarriedTargetOnLists(SessionOnLists):
    """A reader with a target on the lists of a session; made by `CarriedTarget.over`.

    Attributes
    ----------
    hopes : list of (ndarray, ndarray)
        For each query, the gains that are hoped for when it is issued, and the probability of each; together they are
        the probability that the query is issued.
    """

    def __init__(self, user: CarriedTarget, lengths: Ints, gains: Sequence[ArrayLike]) -> None:
        self.user, self.lengths = user, lengths
        self.hopes: list[tuple[Array, Array]] = []
        self._visits: list[Array] = []
        self._last: list[Array] = []
        self._depth = 0.0
        hopes, came = np.array([user.T]), np.ones(1)
        for j, y in enumerate(self._gains(gains)):
            self.hopes.append((hopes, came))
            of = self._read(hopes, y)
            self._visits.append(came @ of.reach[:, :-1])
            beyond = InversePower(of.shift).visits(of.reach[:, -1], y.size)
            self._depth += float(self._visits[-1].sum() + came @ beyond)
            leave = came[:, None] * np.concatenate((of.reach[:, :-1] - of.reach[:, 1:], of.reach[:, -1:]), axis=1)
            missing = np.concatenate((of.missing[:, 1:], of.missing[:, -1:]), axis=1)  # those who read on find no more
            asks = user.reform * missing / user.T * (j < lengths.size - 1)
            self._last.append((leave * (1.0 - asks)).sum(axis=0)[:-1])
            hopes, at = np.unique(np.round(missing / user.T, _DIGITS), return_inverse=True)
            came = np.asarray(np.bincount(at.ravel(), (leave * asks).ravel(), hopes.size), np.float64)
            hopes, came = hopes[came > 0] * user.T, came[came > 0]
            if hopes.size > _MOST:
                raise MeasureError(f"{hopes.size:,} different gains after query {j + 1}, expected up to {_MOST:,}")

    def _read(self, hopes: Array, y: Array) -> _Readers:
        rank, lag = np.arange(1.0, y.size + 1), _FORMS[self.user.form]
        missing = np.maximum(0.0, hopes[:, None] - np.concatenate(([0.0], np.cumsum(y))))
        missing[missing < self.user.T * 10.0**-_DIGITS] = 0.0
        x = np.maximum(rank + 2.0 * missing[:, 1:] - lag, 0.0)
        on = np.cumprod((x / (x + 1.0)) ** 2, axis=1)
        return _Readers(missing, np.concatenate((np.ones((hopes.size, 1)), on), axis=1), 2.0 * missing[:, -1] - lag)

    @property
    def reach(self) -> Array:
        """The probability that each query is ever issued."""
        return np.array([came.sum() for _, came in self.hopes])

    @property
    def seen(self) -> list[Array]:
        """The probability that each document is ever looked at, query by query."""
        return self._visits

    visits = seen  # nobody goes back

    @property
    def last(self) -> list[Array]:
        """The probability of stopping at each document, query by query; some stop beyond the list."""
        return self._last

    @property
    def expected_depth(self) -> float:
        """The mean number of ranks read, those beyond the lists among them: the effort."""
        return self._depth

    def columns(self, j: int) -> dict[str, Array | float | None]:
        """T, the mean gain hoped for by those who issue query j."""
        hopes, came = self.hopes[j]
        return {"T": float(hopes @ came / came.sum()) if came.size else None}

    def follow(
        self, gains: Sequence[ArrayLike], users: int, seed: int, *, visits: str = "first"
    ) -> Iterator[tuple[Array, Array, Array]]:
        """Simulated users, some at a time: the gain, the visits to documents and the number of queries of each."""
        rng, lists = np.random.default_rng(seed), self._gains(gains)
        for begin in range(0, users, _BATCH):
            n = min(_BATCH, users - begin)
            total, steps, queries = np.zeros(n), np.zeros(n), np.zeros(n)
            hope, who = np.full(n, self.user.T), np.arange(n)
            for y in lists:
                hopes, at = np.unique(np.round(hope / self.user.T, _DIGITS), return_inverse=True)
                of = self._read(hopes * self.user.T, y)
                u = 1.0 - rng.random(who.size)
                depth = 1.0 + (of.reach[at, 1:] >= u[:, None]).sum(axis=1)
                far = depth > y.size  # V(i) = V(n + 1) ((n + 1 + c) / (i + c))^2 at ranks beyond
                c = of.shift[at][far]
                depth[far] = np.maximum(
                    np.floor((y.size + 1 + c) * np.sqrt(of.reach[at, -1][far] / u[far]) - c), y.size + 1.0
                )
                read = np.minimum(depth, y.size).astype(np.int64)
                total[who] += np.concatenate(([0.0], np.cumsum(y)))[read]
                steps[who] += depth
                queries[who] += 1
                hope = of.missing[at, read]
                asks = rng.random(who.size) < self.user.reform * hope / self.user.T
                who, hope = who[asks], hope[asks]
            yield total, steps, queries
