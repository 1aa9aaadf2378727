"""Chains: users who go from any state to any other, and stop; a state shows a rank, and may gain nothing.

`Chain` is the user: by a matrix, dense, banded or sparse, by a function of the list, or by pieces (`Chain.from_moves`,
`Chain.pages`, `Chain.snippets`). `Chain.over` puts the user on a list; `ChainOnList` has the formulas (Ferrante and
Ferro, 2020, appendices A and B, hold for any chain).
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache, partial
from typing import Any, Literal, NamedTuple

import numpy as np

from amble.arrays import NDArray
from amble.checks import is_whole, number, one_of
from amble.errors import AmbleError, MeasureError
from amble.expressions.values import Value, digest
from amble.io.files import path_name
from amble.rankings.lists import Gains
from amble.users.birth_death import checked_start
from amble.users.chain_on_list import ChainOnList
from amble.users.chain_scores import lengths_that_matter, score_chains
from amble.users.dense import DenseUser
from amble.users.effort import Effort
from amble.users.gth_elimination import Transitions, transitions_of
from amble.users.protocol import Question
from amble.users.timing import Timing
from amble.users.utility import Utility

__all__ = ["Chain", "States"]

Array = NDArray[Any]
Ints = NDArray[np.int64]
_SLACK = 1e-9
_MOST_STATES = 100_000
_probability = partial(number, least=0, most=1, kind=MeasureError)
_KEPT = 8  # lengths of lists


class States(NamedTuple):
    """The states of a chain: moves between them, the rank that each shows, and how much of its gain each gains."""

    transitions: Transitions
    rank: Ints
    gain: Array


class Chain(Value, DenseUser):
    """A user who goes from any state to any other, and stops.

    Parameters
    ----------
    P : array_like, sparse matrix, mapping or callable
        The probabilities of going from state to state; what is missing to 1 in a row is that of stopping there. A
        matrix, a sparse one of scipy, or ``{offset: probabilities by state}`` (a banded one: from state i to
        i + offset). Or a function of the number of documents, or of that and the grades by rank, that returns one, or
        a chain without start and seconds of its own; it is asked anew for every list.
    start : sequence of float, optional
        The probabilities of starting in state 1, 2, …; without it, in state 1.
    rank : sequence of int, optional
        The rank that each state shows, 0 if it shows none; without it, state i shows rank i.
    gains : sequence, optional
        Whether a state gains the document's gain, or how much of it; without it, all do.
    seconds : float, sequence or mapping, optional
        The mean time of a visit, where the effort is a time: one number, by state (the last holds further on), or
        ``{gains: seconds}`` (``{0: 2, 1: 30}``: 2 seconds where nothing is gained, 30 where all is).
    by : {"state", "document"}
        What the visits are counted to, of which the k-th is worth g(k, y): the state, or the document, with all the
        states that show its rank.
    utility : Utility
        What the k-th visit is worth.
    effort : Effort
        What the whole gain is divided by after h visits to states.

    Notes
    -----
    On a list that is shorter than the matrix, moves past its end stop, and users who would start there start at its
    last rank. On a longer list what is below is not seen.

    Examples
    --------
    >>> from amble.users import Chain
    >>> on_list = Chain([[0, 0.5, 0.2], [0.4, 0, 0.4], [0.5, 0, 0]]).over(3)
    >>> on_list.visits.round(6), round(on_list.order2([1, 0, 0]), 6)
    (array([1.666667, 0.833333, 0.666667]), 0.526316)
    >>> Chain([[0, 0.5], [0.6, 0.5]])
    Traceback (most recent call last):
    ...
    amble.errors.MeasureError: the transitions from state 2 add up to 1.1, expected probabilities up to 1
    """

    P: Any
    start: tuple[float, ...]
    seconds: Any
    by: str
    source: str  # the name of its file, if it has one
    timing: Timing | None
    _given: tuple[Any, Any]

    def __init__(
        self,
        P: Any,
        start: Sequence[float] | None = None,
        rank: Sequence[int] | None = None,
        gains: Sequence[Any] | None = None,
        seconds: Any = None,
        *,
        by: Literal["state", "document"] | str = "state",
        utility: Utility | None = None,
        effort: Effort | None = None,
    ) -> None:
        one_of(by, ("state", "document"), "by", MeasureError)
        vars(self).update(by=by, utility=utility or Utility(), effort=effort or Effort(), source="", timing=None)
        long = None if seconds is None else Timing(seconds).seconds
        vars(self).update(P=P if callable(P) else _matrix(P), seconds=long, _given=(rank, gains))
        if not callable(P):
            _, shown, gained = self._states  # may refuse
            vars(self).update(depth=int(shown.max()), _given=(tuple(shown.tolist()), tuple(gained.tolist())))
        given = checked_start(start, "states")
        if not callable(P) and given.size > self.P.n:
            raise MeasureError(f"start: {given.size} probabilities, expected at most {self.P.n}, one for each state")
        vars(self)["start"] = tuple(np.trim_zeros(given, "b").tolist())

    # ---- from pieces

    @classmethod
    def from_moves(
        cls, moves: Mapping[Any, float], *, first: Literal["forward", "stop", "top"] | str = "forward", **others: Any
    ) -> Chain:
        """The user who makes the same moves at every rank of a list of any length.

        Parameters
        ----------
        moves : mapping
            The probability of each move: by a number of ranks, forward or back (0: looks at the same document again),
            or to the ``"top"``, rank 1.
        first : {"forward", "stop", "top"}
            Instead of a move above rank 1: one rank forward, a stop, or a move to rank 1.
        **others
            As `Chain` takes them: start, seconds, utility, effort.

        Examples
        --------
        >>> from amble.users import Chain
        >>> Chain.from_moves({+1: 0.5, -1: 0.2, +2: 0.1, "top": 0.05}).over(4).transition_matrix
        array([[0.05, 0.7 , 0.1 , 0.  ],
               [0.25, 0.  , 0.5 , 0.1 ],
               [0.05, 0.2 , 0.  , 0.5 ],
               [0.05, 0.  , 0.2 , 0.  ]])
        """
        one_of(first, ("forward", "stop", "top"), "first", MeasureError)
        if not isinstance(moves, Mapping) or not moves:
            raise MeasureError(f"moves {moves!r:.60}: expected the probability of each move, as {{+1: 0.5, -1: 0.2}}")
        for move in moves:
            if move != "top" and not (is_whole(move) and abs(move) < _MOST_STATES):
                raise MeasureError(f"move {move!r:.60}: expected a number of ranks, such as +1 or -2, or 'top'")
        shares = [_probability(p, f"move {move}") for move, p in moves.items()]
        return cls(partial(_moves, tuple(zip(moves, shares, strict=True)), first), **others)._tried()

    @classmethod
    def pages(
        cls,
        forward: float = 0.5,
        back: float = 0.2,
        turn: float = 0.1,
        *,
        size: int = 10,
        first: Literal["forward", "stop"] | str = "forward",
        **others: Any,
    ) -> Chain:
        """The user who walks over a page of results, and turns it: a state that gains nothing, but takes a visit.

        Parameters
        ----------
        forward, back, turn : float
            The probabilities at each rank of going forward and back on the page, and of turning to the next one. At the
            last rank of a page the forward step turns it.
        size : int
            Documents of a page.
        first : {"forward", "stop"}
            At the first rank of a page, instead of going back.
        **others
            As `Chain` takes them: start, by, seconds, utility, effort.

        Examples
        --------
        >>> from amble.users import Chain
        >>> on_list = Chain.pages(size=2).over(3)  # rank 1, rank 2, the turn to page 2, rank 3
        >>> on_list.rank, on_list.gain, on_list.state_visits.round(4)
        (array([1, 2, 3, 3]), array([1., 1., 0., 1.]), array([1.1628, 0.814 , 0.6047, 0.6047]))
        """
        one_of(first, ("forward", "stop"), "first", MeasureError)
        if not is_whole(size) or not 1 <= size <= _MOST_STATES:
            raise MeasureError(f"size={size!r:.60}: expected how many documents a page has")
        numbers = [_probability(x, name) for x, name in ((forward, "forward"), (back, "back"), (turn, "turn"))]
        return cls(partial(_pages, *numbers, int(size), first), **others)._tried()

    @classmethod
    def snippets(
        cls, click: float = 0.4, skip: float = 0.4, back: float = 0.5, on: float = 0.3, up: float = 0.0, **others: Any
    ) -> Chain:
        """The user who looks at snippets, which gain nothing, clicks, reads, and comes back.

        Parameters
        ----------
        click, skip, up : float
            The probabilities at a snippet of clicking, and of going to the next snippet and the one before.
        back, on : float
            The probabilities after reading of going back to the snippet, and to the next one.
        **others
            As `Chain` takes them: start, by, seconds, utility, effort.

        Examples
        --------
        >>> from amble.users import Chain
        >>> Chain.snippets().over(2).transition_matrix  # snippet 1, document 1, snippet 2, document 2
        array([[0. , 0.4, 0.4, 0. ],
               [0.5, 0. , 0.3, 0. ],
               [0. , 0. , 0. , 0.4],
               [0. , 0. , 0.5, 0. ]])
        """
        names = ("click", "skip", "back", "on", "up")
        numbers = [_probability(x, name) for x, name in zip((click, skip, back, on, up), names, strict=True)]
        return cls(partial(_snippets, *numbers), **others)._tried()

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Chain:
        """The chain of a file: lines of from, to and probability.

        A state is a rank, ``3``, or one that shows a rank and gains nothing, with a name after a colon, ``3:snippet``.
        Lines from ``start`` are the probabilities of starting; without them, the first state of rank 1 is the start.
        """
        from amble.io.rows import read_rows  # for files only

        name = path_name(path)
        found: dict[tuple[str, str], float] = {}
        lines: dict[str, str] = {}
        try:
            for where, (source, target), (share,) in read_rows(name, ("from", "to"), ("probability",)):
                for state in (source, target):
                    number = state.partition(":")[0]
                    if (state, state) != (source, "start") and not (number.isdecimal() and 1 <= int(number) <= 10**6):
                        raise MeasureError(
                            f"{where}: state {state!r:.60}, expected a rank, such as 3, or a rank and a name, 3:snippet"
                        )
                    lines.setdefault(state, where)
                if not any(source == other for other, _ in found):
                    lines[source] = where
                if (source, target) in found:
                    raise MeasureError(f"{where}: from {source} to {target} for the second time, expected once")
                if not 0 <= share <= 1:
                    raise MeasureError(f"{where}: probability {share:g}, expected a number between 0 and 1")
                found[source, target] = share
        except AmbleError as error:
            raise MeasureError(str(error)) from None
        names = sorted((state for state in lines if state != "start"), key=lambda state: int(state.partition(":")[0]))
        place = {state: i for i, state in enumerate(names)}
        moves = [(place[a], place[b], share) for (a, b), share in found.items() if a != "start"]
        i, j, p = (np.array([move[k] for move in moves]) for k in range(3))
        t = transitions_of(i, j, p, len(names), lambda k: f"{lines[names[k]]}: {names[k]}")
        start = [found.get(("start", state), 0.0) for state in names] if "start" in lines else None
        rank = [int(state.partition(":")[0]) for state in names]
        try:
            out = cls(t, start, rank, [":" not in state for state in names])
        except MeasureError as error:
            raise MeasureError(f"{name}: {error}") from None
        vars(out)["source"] = name
        return out

    def _tried(self) -> Chain:
        """The chain, once it was put on a list: an error if that fails."""
        self.over(3)
        return self

    # ---- a value

    def asked(self, utility: Utility, effort: Effort, timing: Timing | None = None) -> Chain:
        """The same user with another utility and effort, or a time: the law of the chain's own seconds, or by rank."""
        if timing is not None and self.seconds is None and timing.looks:
            raise MeasureError("seconds by grade or cost: a chain takes them by rank, or by state in Chain(seconds=)")
        other: Chain = object.__new__(type(self))
        vars(other).update({key: x for key, x in vars(self).items() if key not in ("_digest", "_made")})
        vars(other).update(utility=utility, effort=effort, timing=timing)
        return other

    def content(self) -> tuple[Any, ...]:
        """What the chain was made of."""
        own = self.P, self.start, *self._given, self.seconds, self.by
        return *own, self.utility, self.effort, self.timing, self.source

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self.content())

    @property
    def unquoted(self) -> bool:
        """Whether no expression can spell it: it has no file."""
        return not self.source

    @cached_property
    def _digest(self) -> str:
        return digest("chain", *self.content()[:-1])

    def __str__(self) -> str:
        return self.source or self._digest

    def __repr__(self) -> str:
        return f"Chain({self})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Chain) and (self.source, self._digest) == (other.source, other._digest)

    def __hash__(self) -> int:
        return hash((self.source, self._digest))

    # ---- the states

    @property
    def is_nested(self) -> bool:
        """Whether the states on a shorter list are some of those on a longer one, with the same moves among them."""
        return not callable(self.P) or isinstance(self.P, partial)

    @cached_property
    def looks(self) -> bool:
        """Whether the moves depend on the grades."""
        if self.is_nested:
            return False
        try:
            given = inspect.signature(self.P).parameters
            return "grades" in given or sum(x.default is x.empty for x in given.values()) > 1
        except (TypeError, ValueError):
            return True

    def states(self, n: int, grades: Array | None = None) -> States:
        """The states on a list of n documents; those of a matrix, however many it has."""
        if not callable(self.P):
            return self._states
        try:
            found = self.P(n, grades) if self.looks else self.P(n)
        except MeasureError:
            raise
        except Exception as error:
            raise MeasureError(f"chain: its function failed with {type(error).__name__}: {error}") from error
        if isinstance(found, Chain):
            if found.start != (1.0,) or found.seconds is not None:
                raise MeasureError("chain: its function returned one with start or seconds; say them of the outer one")
            return found.states(n, grades)
        return found if isinstance(found, States) else self._with_ranks(_matrix(found))

    @cached_property
    def _states(self) -> States:
        return self._with_ranks(self.P)

    def _with_ranks(self, t: Transitions) -> States:
        rank, gains = self._given
        try:
            shown = np.arange(1, t.n + 1) if rank is None else np.array(rank, np.float64)
            gain = np.ones(t.n) if gains is None else np.array(gains, np.float64)
        except (TypeError, ValueError):
            raise MeasureError("rank and gains: expected a number for each state") from None
        for name, x in (("rank", shown), ("gains", gain)):
            if x.shape != (t.n,) or not np.isfinite(x).all() or (x < 0).any():
                raise MeasureError(f"{name}: expected {t.n} numbers of at least 0, one for each state")
        if (shown != np.floor(shown)).any() or not (shown > 0).any():
            raise MeasureError("rank: expected whole numbers, the rank that each state shows (0: none)")
        return States(t, shown.astype(np.int64), gain)

    def starts(self, rank: Ints, lengths: Ints) -> Array:
        """The distribution of the first state on lists of some lengths (states x lengths).

        Who would start beyond the end of a list starts in the first state of its last rank.
        """
        out = np.zeros((max(rank.size, len(self.start)), lengths.size))
        out[: len(self.start)] = np.array(self.start)[:, None]
        there = np.pad(rank, (0, out.shape[0] - rank.size), constant_values=np.iinfo(np.int64).max)[:, None] <= lengths
        if not there.any(axis=0).all():
            n = lengths[np.argmin(there.any(axis=0))]
            raise MeasureError(f"no state of the chain shows one of the first {n} ranks")
        late = np.where(there, 0.0, out).sum(axis=0)
        out = np.where(there, out, 0.0)
        for k in np.flatnonzero(late).tolist():
            out[int(np.argmax(np.where(there[: rank.size, k], rank, -1))), k] += late[k]
        return out[: rank.size]

    # ---- what measures ask

    @property
    def is_static(self) -> bool:  # type: ignore[override]
        """Whether the user ignores the grades, and a gain is worth the same whatever its size."""
        return not self.looks and self.utility.separable

    def transitions(self, gains: Gains, i: int) -> tuple[Array, Array]:
        """The transition probabilities between states on list i, and the distribution of the start."""
        on_list = self.on(gains, i)
        return on_list.p, on_list.start

    def over(self, n: int, grades: Any = None) -> ChainOnList:
        """The user on one list of n documents (with these grades, where the chain depends on them)."""
        if not is_whole(n) or n < 0:
            raise MeasureError(f"over({n!r:.60}): expected how many documents the list has")
        n = max(n, 1)
        if n in self._made:
            return self._made[n]
        if self.looks:
            grades = np.zeros(n) if grades is None else np.array(grades, np.float64, ndmin=1)
            if grades.size > n:
                raise MeasureError(f"over({n}): {grades.size} grades, expected at most as many as documents")
            grades = np.pad(np.nan_to_num(grades, nan=0.0), (0, n - grades.size))
        t, rank, gain = self.states(n, grades)
        start, keep = self.starts(rank, np.array([n]))[:, 0], rank <= n
        clock = None
        if self.timing is not None:
            by_state = self.seconds is not None
            if not by_state and self.timing.spelled > 1 and not rank.all():
                raise MeasureError("seconds by rank, and a state that shows none; say them by state, Chain(seconds=)")
            means = Timing(self.seconds).means(t.n, gain) if by_state else self.timing.means(int(rank.max()))[rank - 1]
            clock = self.timing, means[keep]
        if not keep.all():
            t, rank, gain, start = t.kept(keep), rank[keep], gain[keep], start[keep]
        by_document = self.by == "document"
        out = ChainOnList(
            t, start, None, self.utility, self.effort, rank=rank, gains=gain, length=n, by_document=by_document,
            clock=clock,
        )  # fmt: skip
        if self.is_nested:  # a function may return something else next time
            while len(self._made) >= _KEPT:
                self._made.pop(next(iter(self._made)), None)
            self._made[n] = out
        return out

    @cached_property
    def _made(self) -> dict[int, ChainOnList]:
        """The user on lists of some lengths, where these say it all."""
        return {}

    def on(self, gains: Gains, i: int) -> ChainOnList:
        """The user on list i."""
        lists = gains.lists
        return self.over(int(lists.length[i]), lists.grades_by_rank(i) if self.looks else None)

    def scores(self, question: Question, gains: Gains) -> Array:
        """The answer of every list."""
        timed = self.timing is not None
        endless = self.timing is not None and not self.timing.overhead and question is Question.ORDER1
        if self.looks or question.about_satisfaction or endless:
            return super().scores(question, gains)  # what gains on one visit may be infinite, so only what is gained
        answer, depth = score_chains(self, gains, question)
        f = self.effort
        if question is not Question.ORDER2:
            return answer
        if f.is_power and f.power in (0.0, 1.0) and not timed:
            return np.asarray(answer / (depth + f.shift) ** f.power)
        distinct, of = np.unique(lengths_that_matter(self, gains), return_inverse=True)
        return np.asarray(answer / np.array([self.over(n).mean_effort for n in distinct.tolist()])[of])

    def totals(self, gains: Gains) -> tuple[Array, Array]:
        """E[T] and E[H] of every list."""
        return super().totals(gains) if self.looks else score_chains(self, gains, Question.TOTAL)

    def unseen(self, question: Question, gains: Gains, gain: float) -> Array:
        """Nothing: the user looks no further than the list."""
        return np.zeros(gains.lists.n)


def _restored(kind: type[Chain], content: tuple[Any, ...]) -> Chain:
    *own, by, utility, effort, timing, source = content
    out = kind(*own, by=by, utility=utility, effort=effort)
    vars(out).update(timing=timing, source=source)
    return out


def _matrix(p: Any) -> Transitions:
    """The moves of a matrix of any kind."""
    if isinstance(p, Transitions):
        return p
    try:
        if hasattr(p, "tocoo"):  # of scipy
            found = p.tocoo()
            shape, i, j, x = found.shape, found.row, found.col, found.data
        elif isinstance(p, Mapping):
            bands = {int(offset): np.array(band, np.float64, ndmin=1) for offset, band in p.items()}
            n = max((band.size for band in bands.values()), default=0)
            i = np.concatenate([np.arange(n)] * len(bands))
            j = i + np.repeat(list(bands), n)
            x = np.concatenate(
                [np.broadcast_to(b, n) if b.size == 1 else np.pad(b, (0, n - b.size)) for b in bands.values()]
            )
            inside = (j >= 0) & (j < n)
            shape, i, j, x = (n, n), i[inside], j[inside], x[inside]
        else:
            dense = np.array(p, np.float64)
            shape = dense.shape
            i, j = np.nonzero(dense)
            x = dense[i, j]
    except (TypeError, ValueError):
        raise MeasureError(f"chain {p!r:.60}: expected a matrix of probabilities, or a function of the list") from None
    if len(shape) != 2 or shape[0] != shape[1] or not 0 < shape[0] <= _MOST_STATES:
        raise MeasureError(f"a matrix of shape {tuple(shape)}, expected a square one, from state to state")
    return transitions_of(i, j, x, int(shape[0]), lambda k: f"state {k + 1}")


# ---- pieces


def _pieces(moves: list[tuple[Any, Any, float]], rank: Ints, gain: Array, name: Callable[[int], str]) -> States:
    """The states of moves (from some states, to as many, with a probability each); moves past the end stop."""
    parts = [np.broadcast_arrays(i, j, p) for i, j, p in moves]
    i, j, p = (np.concatenate(x) for x in zip(*parts, strict=True))
    n = rank.size
    over = np.flatnonzero(np.bincount(i, p, n) > 1 + _SLACK)  # with those past the end
    if over.size:
        raise MeasureError(f"the moves from {name(int(over[0]))} add up to more than 1, expected probabilities")
    cell = np.where(j < n, i * n + j, n * n)
    distinct, of = np.unique(cell, return_inverse=True)
    total = np.bincount(of, p, distinct.size)[distinct < n * n]
    distinct = distinct[distinct < n * n]
    return States(transitions_of(distinct // n, distinct % n, total, n, name), rank, gain)


@lru_cache(maxsize=64)
def _moves(moves: tuple[tuple[Any, float], ...], first: str, n: int) -> States:
    i = np.arange(n)
    parts = []
    for move, p in moves:
        j = np.zeros(n, np.int64) if move == "top" else i + move
        other = {"forward": i + 1, "stop": np.full(n, n), "top": np.zeros(n, np.int64)}[first]
        parts.append((i, np.where(j >= 0, j, other), p))
    return _pieces(parts, i + 1, np.ones(n), lambda k: f"rank {k + 1}")


@lru_cache(maxsize=64)
def _pages(forward: float, back: float, turn: float, size: int, first: str, n: int) -> States:
    documents = np.arange(n)
    page, place = documents // size, documents % size
    state = documents + page  # the turns to the pages after the first stand before their first documents
    turns = state[place == 0][1:] - 1
    last, top = place == size - 1, place == 0
    after = state - place + size  # the turn to the next page
    rank, gain = np.empty(n + turns.size, np.int64), np.ones(n + turns.size)
    rank[state], rank[turns], gain[turns] = documents + 1, documents[place == 0][1:] + 1, 0.0
    on = np.where(last, after, state + 1)
    behind = np.where(top, on if first == "forward" else rank.size, state - 1)
    moves = [(state, on, forward), (state, after, turn), (state, behind, back), (turns, turns + 1, 1.0)]
    return _pieces(moves, rank, gain, lambda k: f"rank {rank[k]}")


@lru_cache(maxsize=64)
def _snippets(click: float, skip: float, back: float, on: float, up: float, n: int) -> States:
    snippet = 2 * np.arange(n)
    above = np.where(snippet > 0, snippet - 2, 2 * n)
    moves = [
        (snippet, snippet + 1, click), (snippet, snippet + 2, skip), (snippet, above, up),
        (snippet + 1, snippet, back), (snippet + 1, snippet + 2, on),
    ]  # fmt: skip
    rank = np.repeat(np.arange(1, n + 1), 2)
    return _pieces(
        moves, rank, np.tile([0.0, 1.0], n), lambda k: f"the {'document' if k % 2 else 'snippet'} {k // 2 + 1}"
    )
