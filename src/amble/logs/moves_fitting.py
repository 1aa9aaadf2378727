"""Chains fitted to click logs: the probabilities of moves, alike at all ranks, or any function's parameters.

A click is a visit, and a click after another a move. Different moves may lead to one rank (from rank 2, one back and to
the top), and moves over the ends of the list become others: which it was is estimated along (expectation-maximisation).
A log may have moves that the chain does not make; these are left out, and said.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from amble import checks
from amble.arrays import Array, Ints
from amble.errors import AmbleError
from amble.logs.bootstrap import Resampled
from amble.logs.chain_fitting import STEPS, add_start, log_likelihood
from amble.logs.counts import Counts
from amble.logs.privacy import SMALLEST, disclosable
from amble.users.chain import Chain
from amble.users.estimates import Estimate
from amble.users.fitted import FittedModel, is_move

__all__ = ["MOVES", "FittedChain", "chain_transitions", "fit_chain", "fit_moves", "read_moves"]

MOVES = ("+1", "-1", "+2", "-2", "top")
_ROUNDS = 2000  # of the iteration; it stops when nothing changes
_CLOSE = 1e-9
_UNLIKELY = 1e-9  # what a move has that the chain does not make, to compare rules
_SMALL = 1e-6  # difference for derivatives, on the scale of log odds


def read_moves(text: str | Sequence[Any]) -> tuple[str, ...]:
    """The names of moves: ``"+1,-1,top"``, or a sequence of numbers and ``"top"``.

    >>> read_moves("+1,-1,top"), read_moves([1, -1, "top"])
    (('+1', '-1', 'top'), ('+1', '-1', 'top'))
    """
    words = text.split(",") if isinstance(text, str) else list(text)
    names = tuple(f"{w:+d}" if checks.is_whole(w) and w else str(w).strip() for w in words)
    for name in names:
        if not is_move(name) or names.count(name) > 1:
            what = "twice" if is_move(name) else "expected ranks forward or back, as +1 or -2, 0 or top"
            raise AmbleError(f"moves: {name!r:.60}, {what}")
    if not names:
        raise AmbleError("moves: none, expected some, as +1,-1,top")
    return names


def _targets(moves: Sequence[str], first: str, n: int) -> Ints:
    """Where each move (columns) leads to from each rank (rows), from 1; 0: a stop, which the last column is."""
    rank = np.arange(1, n + 1)
    other = {"forward": np.where(rank < n, rank + 1, 0), "stop": np.zeros(n, np.int64), "top": np.ones(n, np.int64)}
    columns = []
    for move in moves:
        to = np.ones(n, np.int64) if move == "top" else rank + int(move)
        columns.append(np.where(to < 1, other[first], np.where(to > n, 0, to)))
    return np.stack([*columns, np.zeros(n, np.int64)], axis=1)


def move_probabilities(moves: Array, targets: Ints) -> Array:
    """The maximum-likelihood probabilities of moves and of a stop, of each matrix of moves (…, n + 1, n + 1).

    Examples
    --------
    Of ten who were at rank 2 of three, five went to rank 1: one back, or to the top; at rank 3 all six went back:

    >>> import numpy as np
    >>> from amble.logs.moves_fitting import _targets, move_probabilities
    >>> moves = np.zeros((4, 4))
    >>> moves[2, 1], moves[2, 0], moves[3, 2] = 5, 5, 6
    >>> move_probabilities(moves, _targets(("-1", "top"), "stop", 3)).round(4)      # 11 back, 5 stops
    array([0.6875, 0.    , 0.3125])
    """
    n, k = targets.shape
    seen = moves[..., np.arange(1, n + 1)[:, None], targets]  # counted once for each move that may be it
    same = targets[:, :, None] == targets[:, None, :]  # of moves that lead to one rank, all share its count
    total = (seen / same.sum(axis=-1)).sum(axis=(-2, -1))[..., None]
    leads = same.reshape(-1, k).T.astype(np.float64)
    some = seen > 0
    rates = np.zeros(seen.shape)
    out = np.full((*seen.shape[:-2], k), 1.0 / k)
    with np.errstate(invalid="ignore", divide="ignore"):
        for _ in range(_ROUNDS):
            np.divide(seen, (out @ leads).reshape(seen.shape), out=rates, where=some)
            found = out * rates.sum(axis=-2) / total
            change = np.fmax.reduce(np.abs(found - out), axis=None, initial=0.0)
            out = found
            if change < _CLOSE:
                break
    return np.asarray(out)


def chain_transitions(model: FittedModel, n: int) -> Array:
    """The transition probabilities of a fitted chain on a list of n (n + 1 columns; the first is a stop)."""
    names = [name for name in model.estimates if is_move(name)]
    targets = _targets(names, model.first, n)
    values = np.array([float(model.estimates[name].value) for name in (*names, "stop")])
    out = np.zeros((n, n + 1))
    np.add.at(out, (np.arange(n)[:, None], targets), values)
    return out


def fit_moves(data: Resampled, names: Sequence[str] = MOVES, first: str | None = None) -> FittedModel:
    """A chain of moves, the same at every rank.

    Parameters
    ----------
    data : Resampled
    names : sequence of str
        The moves: see `read_moves`.
    first : {"forward", "stop", "top"}, optional
        Instead of a move above rank 1; by default what is likelier.
    """
    n, counts = data.counts.depth, data.counts.moves
    names, whole = read_moves(names), (data.like or data).whole

    def likely(rule: str) -> float:
        targets = _targets(names, rule, n)
        there = np.zeros((n, n + 1))
        np.add.at(there, (np.arange(n)[:, None], targets), move_probabilities(whole.moves[0], targets))
        return log_likelihood(whole.moves[0, 1:], np.maximum(there, _UNLIKELY))

    first = first or max(("forward", "stop", "top"), key=likely)
    targets = _targets(names, first, n)
    made = counts[:, np.arange(1, n + 1)[:, None], targets].sum(axis=1)
    for enough, name in zip(disclosable(made, data.smallest), (*names, "stop"), strict=True):
        if not enough:
            raise AmbleError(
                f"fewer than {data.smallest} sessions made the move {name}: suppressed, not counted as zero"
            )
    if not np.where(targets > 0, data.whole.moves[0][np.arange(1, n + 1)[:, None], targets], 0.0).any():
        raise AmbleError("no session made any of these moves")
    behind = made.sum(axis=1)
    estimates = data.joint((*names, "stop"), lambda c: move_probabilities(c.moves, targets), behind)
    notes = [add_start(estimates, data)]
    every = data.whole.moves[0, 1:].copy()
    if "0" not in names:
        np.fill_diagonal(every[:, 1:], 0.0)
    impossible = every.copy()
    impossible[np.arange(n)[:, None], targets] = 0.0
    if impossible.any():
        notes.append(f"{100 * impossible.sum() / every.sum():.1f} % of moves and stops are none of these, and left out")
    note = "; ".join(filter(None, notes))
    return FittedModel("chain", "chain", estimates, STEPS["clicks"], data.confidence, first, note=note)


# ---- any chain


class FittedChain(NamedTuple):
    """A chain of any kind, fitted.

    Attributes
    ----------
    chain : Chain
        With the likeliest parameters: ``PH(user=found.chain)``.
    estimates : dict of str to Estimate
        The parameters, with confidence intervals and draws.
    log_likelihood : float
        Of all starts, moves and stops.
    """

    chain: Chain
    estimates: dict[str, Estimate]
    log_likelihood: float


def _watched(chain: Chain, n: int) -> tuple[Array, Array]:
    """The moves between the ranks of documents that are read, and stops (n + 1 columns; the first: a stop); the start.

    States that gain nothing, as snippets, are not seen in a log: what is passed there is summed over.
    """
    on_list = chain.over(n)
    p, start, rank = on_list.transition_matrix, np.asarray(on_list.start, np.float64), np.asarray(on_list.rank)
    seen = np.flatnonzero((np.asarray(on_list.gain) > 0) & (rank > 0))
    if np.unique(rank[seen]).size < seen.size:
        raise AmbleError("a chain with several states that gain at one rank: a log of clicks does not tell them apart")
    rest = np.setdiff1d(np.arange(len(p)), seen)
    through = np.linalg.solve(np.eye(rest.size) - p[np.ix_(rest, rest)], p[np.ix_(rest, seen)])
    inner = p[np.ix_(seen, seen)] + p[np.ix_(seen, rest)] @ through
    moves, begin = np.zeros((n + 1, n + 1)), np.zeros(n + 1)
    moves[np.ix_(rank[seen], rank[seen])] = inner
    moves[rank[seen], 0] = np.maximum(1.0 - inner.sum(axis=1), 0.0)
    begin[rank[seen]] = start[seen] + start[rest] @ through
    return moves[1:], begin / max(begin.sum(), 1e-300)


def fit_chain(
    counts: Counts,
    chain: Callable[..., Chain],
    start: Mapping[str, float] | None = None,
    *,
    confidence: float = Resampled.confidence,
    rounds: int = Resampled.rounds,
    draws: int = Resampled.kept,
    smallest: int = SMALLEST,
    seed: int = Resampled.seed,
) -> FittedChain:
    r"""The likeliest parameters of a chain of any kind, from the clicks of a log: starts, moves and stops.

    A click is a visit to a state that gains; states that gain nothing are not in a log, and are summed over. Intervals
    are those of the bootstrap over sessions, in one step of Newton's method from the estimate for each resample.

    Parameters
    ----------
    counts : Counts
        From `read_log`.
    chain : callable
        From parameters, by name, to a `Chain`, as ``lambda forward, back: Chain.pages(forward, back, 0.1)``. All are
        probabilities. Which a chain refuses are taken as impossible.
    start : mapping of str to float, optional
        Where the search begins, by parameter; 0.3 without.
    confidence, rounds, draws, smallest, seed
        As for `fit`.

    Returns
    -------
    FittedChain

    Examples
    --------
    Of 60 sessions all read rank 1, 30 went on to rank 2, and of these 15 went back:

    >>> import pathlib, tempfile
    >>> from amble.logs import fit_chain, read_log
    >>> from amble.users import Chain
    >>> paths = [[1]] * 30 + [[1, 2]] * 15 + [[1, 2, 1]] * 15
    >>> rows = [f"{i}\t{rank}" for i, path in enumerate(paths) for rank in path]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     log = pathlib.Path(folder) / "log.tsv"
    ...     _ = log.write_text("\n".join(["session\trank", *rows]))
    ...     counts = read_log(log, "table")
    >>> found = fit_chain(counts, lambda on, back: Chain([[0, on], [back, 0]]))
    >>> {name: round(float(e.value), 4) for name, e in found.estimates.items()}      # 30 of 75, 15 of 30
    {'on': 0.4, 'back': 0.5}
    """
    from scipy.optimize import minimize  # for such chains only

    data = Resampled(counts, rounds, draws, confidence, smallest, seed)
    names = list(inspect.signature(chain).parameters)
    given = dict(start or {})
    unknown = [name for name in given if name not in names]
    if unknown or not names:
        raise AmbleError(
            f"start: {unknown[:1]}, expected some of the chain's parameters {', '.join(names) or '(none)'}"
        )
    if not disclosable(counts.moves[:, 1:].sum(axis=(1, 2)), smallest):
        raise AmbleError(f"fewer than {smallest} sessions clicked")
    n = counts.depth

    def cells(x: Array) -> Array:
        """The logarithms of all probabilities, of starts, moves and stops; -inf of those impossible."""
        try:
            moves, begin = _watched(chain(**dict(zip(names, _share(x).tolist(), strict=True))), n)
        except (AmbleError, np.linalg.LinAlgError):
            return np.full((n + 1, n + 1), -np.inf)
        with np.errstate(divide="ignore"):
            return np.log(np.vstack([begin, moves]))

    counted = np.ones((n + 1, n + 1))
    repeated = np.arange(1, n + 1)
    x = np.array([np.log(p / (1.0 - p)) for p in (checks.share(given.get(name, 0.3), name) for name in names)])
    first = cells(x)
    if not np.isfinite(first[0]).any():
        chain(**{name: given.get(name, 0.3) for name in names})  # raises what is wrong with it
        raise AmbleError("the chain never starts at a document")
    if not np.isfinite(first[repeated, repeated]).any():
        counted[repeated, repeated] = 0.0  # a repeated click is no move, unless the chain has such
    whole = data.whole.moves[0] * counted
    impossible = whole[~np.isfinite(first)].sum()
    if impossible:
        raise AmbleError(
            f"{100 * impossible / whole.sum():.1f} % of the starts, moves and stops of the log are impossible under "
            "the chain, whatever its parameters; expected one that can make them all"
        )

    def loss(x: Array) -> float:
        with np.errstate(invalid="ignore"):
            value = -float(np.where(whole > 0, whole * cells(x), 0.0).sum())
        return value if np.isfinite(value) else 1e300

    found = minimize(loss, x, method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-8, "maxiter": 400 * x.size})
    x = found.x
    with np.errstate(invalid="ignore"):
        slopes = np.stack([(cells(x + _SMALL * e) - cells(x - _SMALL * e)) / (2 * _SMALL) for e in np.eye(x.size)])
    slopes = np.where(np.isfinite(slopes), slopes, 0.0)
    p = np.where(np.isfinite(cells(x)), np.exp(cells(x)), 0.0)

    def resampled(sums: Counts) -> Array:
        moves = sums.moves * counted
        score = np.einsum("bij,kij->bk", moves, slopes)
        information = np.einsum("bi,ij,kij,lij->bkl", moves.sum(axis=-1), p, slopes, slopes)
        return _share(x + np.linalg.solve(information + 1e-12 * np.eye(x.size), score[..., None])[..., 0])

    behind = counts.moves[:, 1:].sum(axis=(1, 2))
    estimates = data.joint(names, resampled, behind)
    return FittedChain(chain(**dict(zip(names, _share(x).tolist(), strict=True))), estimates, -loss(x))


def _share(x: Array) -> Array:
    return np.asarray(1.0 / (1.0 + np.exp(-x)))
