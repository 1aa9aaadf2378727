"""Walks and Markov chains fitted to click logs: step probabilities, and transition probabilities from rank to rank.

Two ways to take a log of clicks for a walk:

- ``path``: the user starts at rank 1 and passes every rank on the way to the first click, and from each click to the
  next; a move from rank 2 to rank 5 is three steps forward. The walk stops at the last click.
- ``clicks``: a click is a visit, and a move of whatever length is one step. The walk starts at the first click.

A log that has every visit, each a step from the last, is the same either way. A repeated click is not a step. Pages
without a click say nothing about the walk.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from amble.arrays import Array, Ints
from amble.errors import AmbleError
from amble.logs.bootstrap import Resampled, design_effect
from amble.logs.counts import Counts
from amble.logs.privacy import disclosable, pool_neighbours, pooling_matrix, pooling_weights
from amble.users.fitted import Estimate, FittedModel

__all__ = [
    "STEPS", "add_start", "by_edge", "count_steps", "edge_probabilities", "fit_markov", "fit_walk", "fit_walk_by_grade",
    "fit_walk_by_rank", "fit_walk_by_rank_and_grade", "log_likelihood", "pool_cells", "smooth_transitions",
    "walk_probabilities",
]  # fmt: skip

STEPS = {
    "path": "path: between two clicks every rank is passed, from rank 1 on",
    "clicks": "clicks: a click is a visit, a move of any length is a step, the first click is the start",
}
_ROUNDS = 2000  # of the iteration for p and q; it stops when nothing changes
_SMALL = 1e-10
_LARGEST = 20_000  # numbers in the draws of a matrix


def count_steps(moves: Array, how: str) -> Array:
    """Numbers of steps forward, steps back and stops at each rank.

    Parameters
    ----------
    moves : (…, n + 1, n + 1) array
        From rank to rank; from 0: the first click, to 0: no further one.
    how : {"path", "clicks"}

    Returns
    -------
    (…, n, 3) array

    Examples
    --------
    >>> import numpy as np
    >>> from amble.logs.chain_fitting import count_steps
    >>> moves = np.zeros((4, 4))
    >>> moves[0, 2] = moves[2, 1] = moves[1, 0] = 1      # from the start to rank 2, back to rank 1, stop
    >>> count_steps(moves, "path")
    array([[1., 0., 1.],
           [0., 1., 0.],
           [0., 0., 0.]])
    """
    inner = moves[..., 1:, 1:]
    down, up = np.triu(inner, 1), np.tril(inner, -1)
    out = np.zeros((*inner.shape[:-1], 3))
    out[..., 2] = moves[..., 1:, 0]
    if how == "clicks":
        out[..., 0], out[..., 1] = down.sum(axis=-1), up.sum(axis=-1)
        return out
    # forward from rank k: moves from at or above k to below it; back from rank k: from at or below k to above it
    leave, arrive = down.sum(axis=-1), down.sum(axis=-2)
    out[..., 0] = np.cumsum(leave - arrive, axis=-1)
    out[..., 1] = np.flip(np.cumsum(np.flip(up.sum(axis=-1) - up.sum(axis=-2), axis=-1), axis=-1), axis=-1)
    first = moves[..., 0, 1:]
    out[..., 0] += first.sum(axis=-1, keepdims=True) - np.cumsum(first, axis=-1)
    return out


def walk_probabilities(steps: Array, first: str) -> Array:
    """The maximum-likelihood p, q and s, the same at every rank.

    At the first rank there is no going back: that probability is one of going forward, or of stopping (``first``). At
    the last rank there is no going forward, but a stop instead. What happened there is divided by what p, q and s say,
    until they do not change (expectation-maximisation).

    Parameters
    ----------
    steps : (…, 3, 3) array
        At the first rank, in between and at the last one: forward, back, stop.
    first : {"forward", "stop"}

    Returns
    -------
    (…, 3) array

    Examples
    --------
    >>> import numpy as np
    >>> from amble.logs.chain_fitting import walk_probabilities
    >>> walk_probabilities(np.array([[0.0, 0, 0], [60, 30, 10], [0, 0, 0]]), "stop")
    array([0.6, 0.3, 0.1])
    """
    p_or_q, s_or_q = steps[..., 0, 0], steps[..., 0, 2]
    forward, back, stop = (steps[..., 1, i] for i in range(3))
    back = back + steps[..., 2, 1]
    p_or_s = steps[..., 2, 2]
    known = forward + back + stop + p_or_q + s_or_q + p_or_s
    # where no step back was observed q starts at 0 and stays there, which is as likely as anything else
    out = np.stack([np.ones_like(known), (back > 0).astype(np.float64), np.ones_like(known)], axis=-1)
    out /= out.sum(axis=-1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        for _ in range(_ROUNDS):
            p, q, s = (out[..., i] for i in range(3))
            ahead = _share(p, s) * p_or_s
            if first == "forward":
                new = (forward + _share(p, q) * p_or_q + ahead, back + _share(q, p) * p_or_q, stop + s_or_q)
            else:
                new = (forward + p_or_q + ahead, back + _share(q, s) * s_or_q, stop + _share(s, q) * s_or_q)
            last = new[2] + p_or_s - ahead
            found = np.stack([new[0], new[1], last], axis=-1) / known[..., None]
            change = np.nanmax(np.abs(found - out), initial=0.0)
            out = found
            if change < _SMALL:
                break
    return np.where(known[..., None] > 0, out, np.nan)


def edge_probabilities(probabilities: Array, first: str) -> Array:
    """Step probabilities (last axis) at the first rank, in between and at the last one (the axis before it)."""
    p, q, s = (probabilities[..., i] for i in range(3))
    begin = [p + q, 0.0 * q, s] if first == "forward" else [p, 0.0 * q, q + s]
    return np.stack([np.stack(x, axis=-1) for x in (begin, [p, q, s], [0.0 * p, q, p + s])], axis=-2)


def log_likelihood(seen: Array, probabilities: Array) -> float:
    """Log-likelihood of observed counts, given their probabilities."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.where(seen > 0, seen * np.log(probabilities), 0.0).sum())


def likelier_first(steps: Array) -> str:
    """The likelier rule at rank 1, ``"forward"`` or ``"stop"``, if p, q and s are the same at every rank.

    Parameters
    ----------
    steps : (3, 3) array
        As `walk_probabilities` takes them.
    """
    found = {f: log_likelihood(steps, edge_probabilities(walk_probabilities(steps, f), f)) for f in ("forward", "stop")}
    return max(found, key=lambda f: found[f])


def _share(one: Array, other: Array) -> Array:
    total = one + other
    return np.asarray(np.divide(one, total, out=np.full_like(total, 0.5), where=total > 0))


def by_edge(steps: Array) -> Array:
    """Steps at the first rank, in between and at the last one."""
    return np.stack([steps[..., 0, :], steps[..., 1:-1, :].sum(axis=-2), steps[..., -1, :]], axis=-2)


def fit_walk(data: Resampled, how: str, first: str | None) -> FittedModel:
    """A walk with the same probabilities at every rank."""
    first = first or likelier_first(by_edge(count_steps((data.like or data).whole.moves, how))[0])

    steps = count_steps(data.counts.moves, how)
    _check_disclosable(steps.sum(axis=-2), data.smallest)

    def probabilities(counts: Counts) -> Array:
        return walk_probabilities(by_edge(count_steps(counts.moves, how)), first)

    behind = steps.sum(axis=(-2, -1))
    return _walk("walk", data, how, first, data.joint("pqs", probabilities, behind))


def _check_disclosable(steps: Array, smallest: int) -> None:
    """Refuse steps (groups, 3) of which one kind is suppressed: without it the others' shares are unknown."""
    for enough, did in zip(disclosable(steps, smallest), ("went forward", "went back", "stopped"), strict=True):
        if not enough:
            raise AmbleError(f"fewer than {smallest} sessions {did}: suppressed, and not counted as zero")


def fit_walk_by_rank(data: Resampled, how: str) -> FittedModel:
    """A walk with probabilities by rank (below the last but one, its own); ranks with few steps are pooled."""
    steps = count_steps(data.counts.moves, how)[:, :-1]
    _check_disclosable(steps.sum(axis=-2), data.smallest)
    by = data.by or data
    alike = pool_neighbours(count_steps(by.counts.moves, how)[:, :-1], by.smallest)

    def probabilities(counts: Counts) -> Array:
        found = pooling_matrix(alike) @ count_steps(counts.moves, how)[..., :-1, :]
        total = found.sum(axis=-1, keepdims=True)
        return np.asarray(np.divide(found, total, out=np.full_like(found, np.nan), where=total > 0))

    found = data.joint("pqs", probabilities, steps.sum(axis=-1) @ pooling_matrix(alike), first=alike)
    _close_first(found, alike)
    return _walk("walk-rank", data, how, "stop", found)


def _close_first(found: dict[str, Estimate], first: Ints) -> None:
    """There is no rank before the first to go back to: q is 0 there for certain, unless pooled with other ranks."""
    q = found["q"]
    if q.high is not None:
        high = np.array(q.high)
        high[0] = np.where((q.value[0] == 0) & ~np.isin(first[0], first[1:]), 0.0, high[0])
        found["q"] = replace(q, high=high)


def fit_walk_by_grade(data: Resampled, first: str | None) -> FittedModel:
    """A walk with probabilities by the grade of the document; grades with few steps are pooled."""
    first = first or likelier_first(by_edge((data.like or data).whole.steps[0]).sum(axis=0))
    steps = data.counts.steps.sum(axis=-2)
    _check_disclosable(steps.sum(axis=-2), data.smallest)
    by = data.by or data
    alike = pool_neighbours(by.counts.steps.sum(axis=-2), by.smallest)

    def probabilities(counts: Counts) -> Array:
        return walk_probabilities(np.einsum("ij,bjkl->bikl", pooling_matrix(alike), by_edge(counts.steps)), first)

    behind, grades = steps.sum(axis=-1) @ pooling_matrix(alike), data.counts.facts.grades
    found = data.joint("pqs", probabilities, behind, grades=grades, first=alike)
    return _walk("walk-grade", data, "path", first, found)


def fit_walk_by_rank_and_grade(data: Resampled) -> FittedModel:
    """A walk with probabilities by rank (below the last but one, its own) and by the grade of the document there.

    Grades with few steps are pooled with their neighbours; within a grade, so are ranks.
    """
    if data.counts.steps.shape[2] < data.counts.depth:
        raise AmbleError(f"{data.counts.depth} ranks and {len(data.counts.facts.grades)} grades: too many to count")
    # cells in the order of ranks, as the numbers are written
    steps = np.moveaxis(data.counts.steps[:, :, :-1], 1, 2)
    _check_disclosable(steps.sum(axis=(1, 2)), data.smallest)
    by = data.by or data
    first = pool_cells(np.moveaxis(by.counts.steps[:, :, :-1], 1, 2), by.smallest)
    alike, shape = pooling_matrix(first.reshape(-1)), first.shape

    def probabilities(counts: Counts) -> Array:
        found = np.moveaxis(counts.steps[:, :, :-1], 1, 2)
        found = (alike @ found.reshape(len(found), -1, 3)).reshape(-1, *shape, 3)
        total = found.sum(axis=-1, keepdims=True)
        nothing = found.sum(axis=(1, 2), keepdims=True) / found.sum(axis=(1, 2, 3), keepdims=True)  # of no document
        return np.asarray(np.divide(found, total, out=np.broadcast_to(nothing, found.shape).copy(), where=total > 0))

    behind = (steps.sum(axis=-1).reshape(len(steps), -1) @ alike).reshape(-1, *shape)
    none = behind.sum(axis=0) == 0  # no document of the grade stands at the rank: as all others together
    behind = np.where(none, steps.sum(axis=(1, 2, 3))[:, None, None], behind)
    grades = data.counts.facts.grades
    found = data.joint("pqs", probabilities, behind, grades=grades, first=first)
    _close_first(found, first)
    return _walk("walk-rank-grade", data, "path", "stop", found)


def pool_cells(counts: Array, smallest: int) -> Ints:
    """Pools of ranks and grades whose sums may be disclosed: of whole grades, and within these of ranks.

    Parameters
    ----------
    counts : (groups, ranks, grades, kinds) array

    Returns
    -------
    (ranks, grades) array of int
        For each cell the place, in the order of rows, of the first that it is pooled with.
    """
    ranks, grades = counts.shape[1:3]
    of = pool_neighbours(counts.sum(axis=1), smallest)
    if (of < 0).any():
        raise AmbleError(f"fewer than {smallest} sessions are behind some counts of all ranks and grades together")
    out = np.zeros((ranks, grades), np.int64)
    for grade in np.unique(of):
        pool = pool_neighbours(counts[:, :, of == grade].sum(axis=2), smallest)
        out[:, of == grade] = (np.where(pool < 0, 0, pool) * grades + grade)[:, None]
    return out


def _walk(name: str, data: Resampled, how: str, first: str, estimates: dict[str, Estimate]) -> FittedModel:
    note = ""
    if how == "clicks" and name in ("walk", "walk-rank"):
        note = add_start(estimates, data)
    return FittedModel(name, "walk", estimates, STEPS[how], confidence=data.confidence, first=first, note=note)


def add_start(estimates: dict[str, Estimate], data: Resampled) -> str:
    """Add the distribution of the first click; ranks that few begin at share their sum. Return a note on it."""
    clicks = data.counts.moves[:, 0, 1:]
    few = ~disclosable(clicks, data.smallest)
    if not disclosable(clicks[:, few].sum(axis=1), data.smallest):
        return f"start not estimated: fewer than {data.smallest} sessions begin at some ranks, also together"
    sums = np.where(few[:, None] & few, 1.0 / max(few.sum(), 1), np.diag(~few))

    def shares(counts: Counts) -> Array:
        return np.asarray(counts.moves[:, 0, 1:] @ sums / counts.moves[:, 0, 1:].sum(axis=-1, keepdims=True))

    behind = np.repeat(clicks.sum(axis=-1, keepdims=True), few.size, axis=-1)
    estimates["start"] = data.estimate(shares, behind)
    if not few.any():
        return ""
    ranks = ", ".join(str(i + 1) for i in np.flatnonzero(few))
    return f"start of ranks {ranks} estimated together: fewer than {data.smallest} sessions begin at each"


# ---- transitions from rank to rank


def smooth_transitions(moves: Array, weight: float) -> Array:
    """Transition probabilities, after adding ``weight`` moves from each rank, spread over all others alike.

    Examples
    --------
    >>> import numpy as np
    >>> from amble.logs.chain_fitting import smooth_transitions
    >>> smooth_transitions(np.array([[0.0, 3, 0], [1, 0, 0], [0, 0, 0]]), weight=1.0)
    array([[0.   , 0.875, 0.125],
           [0.75 , 0.   , 0.25 ],
           [0.5  , 0.5  , 0.   ]])
    """
    n = moves.shape[-1]
    more = moves + weight * (1.0 - np.eye(n)) / (n - 1)
    total = more.sum(axis=-1, keepdims=True)
    flat = (1.0 - np.eye(n)) / (n - 1)
    return np.asarray(np.where(total > 0, more / np.where(total > 0, total, 1.0), flat))


def fit_markov(data: Resampled, weight: float) -> FittedModel:
    """Transition probabilities, for Markov Precision; moves that few sessions made share their sum."""
    by = data.by or data
    alike = pooling_weights(by.counts.moves[:, 1:, 1:], by.smallest)
    whole, drawn = (np.einsum("ijk,bik->bij", alike, c.moves[:, 1:, 1:]) for c in (data.whole, data.draws))
    value, draws = smooth_transitions(whole, weight)[0], smooth_transitions(drawn, weight)
    tail = (1.0 - data.confidence) / 2.0
    low, high = np.quantile(draws, [tail, 1.0 - tail], axis=0)
    n = whole[0].sum(axis=-1)
    if not n.any():
        few = f"fewer than {data.smallest} sessions" if data.smallest else "no session"
        raise AmbleError(f"{few} moved from click to click")
    seen = np.rint(n).astype(np.int64)
    # a chain's rows are dependent, as what goes down comes up again: draws keep that, and are kept as long as they make
    # a small file; Dirichlet distributions of the rows are wider than they should be
    small = value.size * data.kept <= _LARGEST
    concentration = np.maximum((n + weight) / design_effect(value, draws, n + weight), 1e-3)
    matrix = Estimate(
        value,
        np.minimum(low, value),
        np.maximum(high, value),
        np.where(seen < data.smallest, -1, seen),
        draws=draws[: data.kept] if small and data.kept else None,
        concentration=None if small else concentration,
    )
    note = f"moves from click to click; {weight:g} more from each rank, to all others alike; few moves share their sum"
    rare = [str(i + 1) for i in np.flatnonzero(seen < data.smallest)]
    if rare:
        note += f"; fewer than {data.smallest} sessions moved on from rank {', '.join(rare)}: all others are alike"
    estimates = {"P": matrix}
    note = "; ".join(filter(None, (note, add_start(estimates, data))))
    return FittedModel("markov", "markov", estimates, STEPS["clicks"], confidence=data.confidence, note=note)
