"""The elimination of Grassmann, Taksar and Heyman: visits, returns and ends of any chain of states, no subtractions.

Of a substochastic matrix P, with the probability s of stopping in each state, take out one state k after another: what
led to it goes where it leads, and with d_i what is lost from state i in all ways but to another state,

    pivot = d_k + sum over the j left of a_kj,    a_ij += a_ik a_kj / pivot,    d_i += a_ik d_k / pivot.

Only positive numbers are added, multiplied and divided, so that every entry of M = (I - A)^-1 is exact to a few units
in the last place, however small s is; s and 1 - z are inputs. `fundamental` does it by halves, with products of dense
matrices. `solve` needs no more of M than its visits, ends, diagonal and the blocks of states that show one document.
Where most states lead to few others (a band, pages, a top that all lead to), these follow from M among states that are
next to each other alone (the recursion of Takahashi, Fagan and Chin), in N b^2 steps for a band of width b, for many
lengths of lists and nodes at once.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from amble.arrays import NDArray
from amble.errors import MeasureError

__all__ = ["Plan", "Solution", "Transitions", "fundamental", "plan_of", "solve", "transitions_of"]

Array = NDArray[Any]
Ints = NDArray[np.int64]

_SLACK = 1e-9  # by how much the probabilities of a row may exceed 1
_NEGLIGIBLE = 1e-15  # what is missing to 1 by rounding
_FEW = 8  # states that are not worth a plan
_WORK = 200  # cells that a step of a plan may change, in the mean


class Transitions(NamedTuple):
    """The moves between n states: from where, to where and how probable each is, and the probability of stopping.

    Rows are in order; `stop` is what is missing to 1 in a row, exactly rounded.
    """

    source: Ints
    target: Ints
    p: Array
    stop: Array

    @property
    def n(self) -> int:
        """The number of states."""
        return int(self.stop.size)

    @property
    def dense(self) -> Array:
        """The matrix."""
        out = np.zeros((self.n, self.n))
        out[self.source, self.target] = self.p
        return out

    def ahead(self, here: Array) -> Array:
        """Where those who are in the states are after one move."""
        return np.bincount(self.target, here[self.source] * self.p, self.n)

    def kept(self, keep: NDArray[np.bool_]) -> Transitions:
        """The moves among some states; others stop."""
        inner = keep[self.source] & keep[self.target]
        lost = np.bincount(self.source[~inner], self.p[~inner], self.n)
        place = np.cumsum(keep) - 1
        return Transitions(
            place[self.source[inner]], place[self.target[inner]], self.p[inner], (self.stop + lost)[keep]
        )

    def going(self) -> float:
        """The largest probability of going on after a visit, as a mean over up to eight visits in a row."""
        on: Array = np.ones(self.n)
        least = 1.0
        for k in range(1, 9):
            on = np.bincount(self.source, self.p * on[self.target], self.n)
            least = min(least, float(on.max(initial=0.0)) ** (1.0 / k))
        return least


def transitions_of(
    source: Any, target: Any, p: Any, n: int, name: Callable[[int], str] = lambda i: f"rank {i + 1}"
) -> Transitions:
    """The moves, checked: an error names the state whose probabilities are none, or from which no way leads to a stop.

    >>> transitions_of([0, 0, 1], [0, 1, 0], [0.5, 0.25, 0.5], 2).stop
    array([0.25, 0.5 ])
    """
    i, j, x = np.asarray(source, np.int64), np.asarray(target, np.int64), np.asarray(p, np.float64)
    some = np.flatnonzero(x != 0)
    some = some[np.lexsort((j[some], i[some]))]
    i, j, x = i[some], j[some], x[some]
    first = np.searchsorted(i, np.arange(n + 1)).tolist()
    values = x.tolist()
    stop = np.empty(n)
    for k in range(n):
        row = values[first[k] : first[k + 1]]
        left = math.fsum((1.0, *(-y for y in row)))
        if not left >= -_SLACK or min(row, default=0.0) < 0:  # nor NaN
            where, what = _place(name(k))
            raise MeasureError(
                f"{where}the transitions from {what} add up to {sum(row):.6g}, expected probabilities up to 1"
            )
        stop[k] = left if left >= _NEGLIGIBLE else 0.0
    ends = stop > 0
    while not ends.all():
        before = np.count_nonzero(ends)
        ends[i[ends[j]]] = True
        if np.count_nonzero(ends) == before:
            where, what = _place(name(int(np.flatnonzero(~ends)[0])))
            raise MeasureError(f"{where}some users never stop: no way leads from {what} to a stop")
    for part in (i, j, x, stop):
        part.flags.writeable = False
    return Transitions(i, j, x, stop)


def _place(name: str) -> tuple[str, str]:
    """Where a state was declared, if its name says it, and what it is called."""
    where, colon, what = name.rpartition(": ")
    return where + colon, what


class Plan(NamedTuple):
    """The order in which states are taken out, and a cell for every number that this needs.

    State i has the cells i (the diagonal), n + i (what it loses), 2n + i (what ends there) and 3n + i (the start); the
    other cells are those of moves, but for the last, which is not used.

    Attributes
    ----------
    entry : ndarray
        The cell of each move.
    steps : list of tuples
        Of each step: the state; the cells of its row, to the states that are left next to it, what is lost and what
        ends; those of its column, from these states and the start; and those that change.
    cells : int
        How many there are.
    blocks : list of ndarray
        The cells of M among the states of each group.
    """

    entry: Ints
    steps: list[tuple[int, Ints, Ints, Ints]]
    cells: int
    blocks: list[Ints]

    @property
    def width(self) -> int:
        """The size of an average step."""
        return -(-self.cells // len(self.steps))


def plan_of(t: Transitions, groups: list[Ints]) -> Plan | None:
    """How to take out the states one by one, those next to the fewest first; None if dense algebra does as well.

    The states of a group are next to each other, so that M among them is known in the end.
    """
    n = t.n
    if n <= _FEW or 4 * t.p.size > n * n:
        return None
    near: list[set[int]] = [set() for _ in range(n)]
    pairs = [(a, b) for group in groups for a in group.tolist() for b in group.tolist()]
    for a, b in [*zip(t.source.tolist(), t.target.tolist(), strict=True), *pairs]:
        if a != b:
            near[a].add(b)
            near[b].add(a)
    queue = [(len(near[i]), i) for i in range(n)]
    heapq.heapify(queue)
    cell: dict[int, int] = {i * n + i: i for i in range(n)}
    left, steps = _WORK * n + n * n // 8, []
    done = [False] * n
    while queue:
        degree, k = heapq.heappop(queue)
        if done[k] or degree != len(near[k]):
            continue
        done[k] = True
        some = sorted(near[k])
        left -= (len(some) + 1) ** 2
        if left < 0:
            return None
        at = [[cell.setdefault(i * n + j, len(cell) + 3 * n) for j in some] for i in some]
        row = [cell.setdefault(k * n + j, len(cell) + 3 * n) for j in some]
        column = [cell.setdefault(i * n + k, len(cell) + 3 * n) for i in some]
        inner = [[*cells, n + i, 2 * n + i] for cells, i in zip(at, some, strict=True)]
        inner.append([*(3 * n + j for j in some), -1, -1])
        steps.append((k, np.array([*row, n + k, 2 * n + k]), np.array([*column, 3 * n + k]), np.array(inner)))
        for i in some:
            near[i].update(some)
            near[i] -= {i, k}
            heapq.heappush(queue, (len(near[i]), i))
    entry = np.array([cell[i * n + j] for i, j in zip(t.source.tolist(), t.target.tolist(), strict=True)], np.int64)
    blocks = [np.array([[cell[i * n + j] for j in group] for i in group]) for group in map(np.ndarray.tolist, groups)]
    return Plan(entry, steps, len(cell) + 3 * n + 1, blocks)


class Solution(NamedTuple):
    """What is known of a chain; arrays of shape (states, lengths, nodes).

    Attributes
    ----------
    visits : ndarray
        The weight of all visits to each state, from the start on.
    own : ndarray
        The same from this state on: the diagonal of M.
    end : ndarray
        The weight of the end, from there on.
    blocks : list of ndarray
        M among the states of each group: shape (lengths, nodes, states, states).
    """

    visits: Array
    own: Array
    end: Array
    blocks: list[Array]


def fundamental(a: Array, lost: Array) -> Array:
    """M = (I - A)^-1 of dense matrices (the last two axes), given what each row lacks to 1.

    >>> fundamental(np.array([[0.0, 0.5], [0.5, 0.0]]), np.array([0.5, 0.5])) * 3
    array([[4., 2.],
           [2., 4.]])
    """
    n = a.shape[-1]
    if n == 1:
        return 1.0 / lost[..., None]
    h = n // 2
    there, back, first = a[..., :h, h:], a[..., h:, :h], lost[..., :h]
    inner = fundamental(a[..., :h, :h], first + there.sum(axis=-1))
    on, off = inner @ there, back @ inner
    rest = fundamental(a[..., h:, h:] + back @ on, lost[..., h:] + (off @ first[..., None])[..., 0])
    out = np.empty((*rest.shape[:-2], n, n), rest.dtype)
    out[..., h:, h:] = rest
    out[..., :h, h:] = on @ rest
    out[..., h:, :h] = rest @ off
    out[..., :h, :h] = inner + on @ out[..., h:, :h]
    return out


def solve(
    t: Transitions,
    plan: Plan | None,
    groups: list[Ints],
    alive: Array,
    start: Array,
    share: Array,
    z: Array,
    lost: Array,
    right: Array | None = None,
) -> Solution:
    """Visits, returns and ends of a chain on lists of several lengths, at several nodes.

    Parameters
    ----------
    groups : list of ndarray
        Groups of several states whose blocks of M are wanted.
    alive : ndarray of shape (states, lengths)
        The states that there are on a list of each length; moves to others stop.
    start : ndarray of shape (states, lengths)
    share : ndarray of shape (states, 1)
        Of those who go no further from a state, the share that stops there; others leave with nothing.
    z, lost : ndarray of shape (states or 1, nodes)
        What a visit multiplies, and 1 less that.
    right : ndarray of shape (states, lengths, nodes), optional
        What `end` is the sum of, instead of the stops.
    """
    n, lengths = alive.shape
    p = t.p[:, None] * alive[t.source] * alive[t.target]
    going = np.zeros((n, lengths))
    np.add.at(going, t.source, p)
    past = np.zeros((n, lengths))
    np.add.at(past, t.source, t.p[:, None] * (alive[t.source] * (1.0 - alive[t.target])))
    gone = t.stop[:, None] + past
    dying = np.where(alive > 0, gone, 1.0)[:, :, None] + lost[:, None, :] * going[:, :, None]
    ending = (gone * share)[:, :, None] if right is None else right
    weights = np.broadcast_to(z[:, None, :], (n, 1, z.shape[1]))
    if plan is None:
        return _by_halves(t, groups, p, dying, ending, start, weights)
    return _by_steps(t, plan, groups, p, dying, ending, start, weights)


def _by_halves(
    t: Transitions, groups: list[Ints], p: Array, dying: Array, ending: Array, start: Array, z: Array
) -> Solution:
    a = np.zeros((*dying.shape[1:], t.n, t.n), dying.dtype)
    a[..., t.source, t.target] = np.moveaxis(p[:, :, None] * z[t.source], 0, -1)
    m = fundamental(a, np.moveaxis(dying, 0, -1))
    visits = np.moveaxis((start.T[:, None, None, :] @ m)[:, :, 0], -1, 0)
    end = np.moveaxis((m @ np.moveaxis(ending, 0, -1)[..., None])[..., 0], -1, 0)
    own = np.moveaxis(np.diagonal(m, axis1=-2, axis2=-1), -1, 0)
    return Solution(visits, own, end, [m[..., group[:, None], group] for group in groups])


def _by_steps(
    t: Transitions, plan: Plan, groups: list[Ints], p: Array, dying: Array, ending: Array, start: Array, z: Array
) -> Solution:
    n, shape = t.n, dying.shape[1:]
    a = np.zeros((plan.cells, *shape), dying.dtype)
    a[n : 2 * n], a[2 * n : 3 * n], a[3 * n : 4 * n] = dying, ending, start[:, :, None]
    a[plan.entry] = p[:, :, None] * z[t.source]
    one = np.empty((n, *shape), dying.dtype)
    for k, row, column, inner in plan.steps:
        to = a[row]
        np.divide(1.0, to[:-1].sum(axis=0), out=one[k])
        to *= one[k]
        there = a[column]
        a[inner] += there[:, None] * to
        a[row] = to
        there *= one[k]
        a[column] = there
    for k, row, column, inner in reversed(plan.steps):  # M = 1 / pivot + to M = 1 / pivot + M there, in their place
        to, there, m = a[row], a[column], a[inner]
        over = (to[:-2, None] * m[:-1]).sum(axis=0)
        under = (m[:, :-2] * there[:-1]).sum(axis=1)
        a[k] = one[k] + (to[:-2] * under[:-1]).sum(axis=0)
        over[-1] += to[-1]
        under[-1] += there[-1]
        a[row], a[column] = over, under
    blocks = [np.moveaxis(a[cells], (0, 1), (-2, -1)) for cells in plan.blocks[: len(groups)]]
    return Solution(a[3 * n : 4 * n], a[:n], a[2 * n : 3 * n], blocks)
