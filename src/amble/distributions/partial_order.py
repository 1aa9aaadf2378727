"""Partial orders of systems by stochastic dominance: which are better for all users, which cannot be compared.

Dominance is a partial order. `order_systems` compares the distributions of all systems pair by pair; `PartialOrder`
holds the verdicts, with the levels and the Hasse diagram that follow from them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from amble import checks
from amble.arrays import ArrayLike, NDArray
from amble.distributions.distribution import Curve, Distribution, allowance, check_order, near
from amble.errors import MeasureError
from amble.table import Table, Tabled

__all__ = ["PartialOrder", "order_curves", "order_systems"]

Class = tuple[str, ...]
Booleans = NDArray[np.bool_]
Floats = NDArray[np.float64]

_VERDICTS = {-1: "less", 1: "greater", 0: "equal", 2: "incomparable"}
_PROBES = 256  # points at which all systems are looked at before the atoms of each pair are
_STRIDE = 8  # of them, the first that are looked at


class PartialOrder(Tabled):
    """The verdicts of all pairs of systems, and what follows from them.

    For exact distributions dominance is a partial order, and everything here is what that says. With a tolerance it may
    fail to be one: a better than b, and b better than c, but a and c equal or incomparable; even a better than b, b
    than c, and c than a. `verdict`, `matrix`, `counts`, `comparable` and the counts of `table` keep to the pairs as
    they were found. `classes`, `edges` and `levels` are those of the least order that holds all verdicts "greater", its
    transitive closure: there a is better than c, and systems that go round in a circle make one class.

    Parameters
    ----------
    names : sequence of str
    matrix : array_like
        Row and column by the order of names: 1 if the row's system dominates the column's, −1 if it is dominated, 0 if
        they are equal, 2 if they are incomparable.
    order : str
        The order that it was made by: "first" or "second".

    Examples
    --------
    >>> from amble.distributions.distribution import Distribution
    >>> from amble.distributions.partial_order import order_systems
    >>> distributions = {
    ...     "sure": Distribution([0.5], [1.0]),
    ...     "risky": Distribution([0, 1], [0.5, 0.5]),
    ...     "good": Distribution([0.5, 1], [0.5, 0.5]),
    ...     "twin": Distribution([1, 0.5], [0.5, 0.5]),
    ... }
    >>> found = order_systems(distributions)
    >>> found.verdict("good", "risky"), found.verdict("sure", "risky")
    ('greater', 'incomparable')
    >>> found.classes
    (('good', 'twin'), ('sure',), ('risky',))
    >>> found.levels
    (('good', 'twin'), ('sure', 'risky'))
    >>> found.edges
    ((('good', 'twin'), ('sure',)), (('good', 'twin'), ('risky',)))
    >>> found.table()
    level  system  dominates  dominated by  equal to  incomparable with
        0  good            2             0         1                  0
        0  twin            2             0         1                  0
        1  sure            0             2         0                  1
        1  risky           0             2         0                  1
    """

    def __init__(self, names: Sequence[str], matrix: ArrayLike, order: str = "first") -> None:
        check_order(order, None)
        self.names: Class = tuple(names)
        n = len(self.names)
        found = np.array(matrix)
        if not n or len(set(self.names)) < n or found.shape != (n, n):
            raise MeasureError(f"an order needs names, each once, and a square matrix; found {n} and {found.shape}")
        mirror = np.where(found == 2, 2, -found)
        if not np.isin(found, tuple(_VERDICTS)).all() or (found.diagonal() != 0).any() or (mirror != found.T).any():
            raise MeasureError("an order's matrix holds −1, 0, 1 and 2, with 0 on its diagonal and each pair mirrored")
        self.matrix: NDArray[np.int8] = found.astype(np.int8)
        self.matrix.flags.writeable = False
        self.order = order

    def verdict(self, a: str, b: str) -> str:
        """How system a stands to b: "less", "greater", "equal" or "incomparable"."""
        for name in (a, b):
            checks.one_of(name, self.names, "system", MeasureError)
        return _VERDICTS[int(self.matrix[self.names.index(a), self.names.index(b)])]

    @property
    def counts(self) -> dict[str, int]:
        """The number of pairs of each verdict; of a pair, it is the verdict of the one that is named first."""
        pairs = self.matrix[np.triu_indices(len(self.names), 1)]
        return {verdict: int((pairs == code).sum()) for code, verdict in _VERDICTS.items()}

    @property
    def comparable(self) -> float:
        """The share of pairs that are less, greater or equal; 1 if there is one system only."""
        counts = self.counts
        pairs = sum(counts.values())
        return 1 - counts["incomparable"] / pairs if pairs else 1.0

    @cached_property
    def _members(self) -> list[list[int]]:
        """The rows of each class: by level, then as they were named."""
        member, _, level = self._structure
        groups = [np.flatnonzero(member == c).tolist() for c in range(level.size)]
        return [groups[c] for c in np.lexsort((np.array([group[0] for group in groups]), level))]

    @cached_property
    def _structure(self) -> tuple[NDArray[np.intp], Booleans, NDArray[np.intp]]:
        """The class of each system; which class is better than which, closed; the level of each class."""
        # equal systems that stand alike to all others are one; being better goes on and on
        row = np.unique(self.matrix, axis=0, return_inverse=True)[1].ravel()
        reach = _closure((self.matrix == 1) | (row[:, None] == row))
        _, first, member = np.unique(reach & reach.T, axis=0, return_index=True, return_inverse=True)
        better = reach[np.ix_(first, first)] & ~np.eye(first.size, dtype=bool)
        level = np.zeros(first.size, np.intp)
        for c in np.argsort(better.sum(axis=0), kind="stable"):  # better classes have fewer that are better still
            level[c] = level[better[:, c]].max(initial=-1) + 1
        return member.ravel(), better, level

    @cached_property
    def classes(self) -> tuple[Class, ...]:
        """Groups of systems that are equal and stand alike to all others; by level, then as they were named.

        With a tolerance, equal systems of which one is better than a third and the other is not are two classes.
        """
        return tuple(tuple(self.names[i] for i in rows) for rows in self._members)

    @cached_property
    def edges(self) -> tuple[tuple[Class, Class], ...]:
        """The Hasse diagram: pairs of classes, better and worse, with no class between the two."""
        member, better, _ = self._structure
        direct = better & ~_product(better, better)
        kept = [member[rows[0]] for rows in self._members]
        found = np.argwhere(direct[np.ix_(kept, kept)])
        return tuple((self.classes[a], self.classes[b]) for a, b in found)

    @cached_property
    def levels(self) -> tuple[Class, ...]:
        """Systems by level: 0 if no system dominates them, else the length of the longest way down to them."""
        rank = self._levels()
        return tuple(
            tuple(name for name, at in zip(self.names, rank, strict=True) if at == step)
            for step in range(int(rank.max()) + 1)
        )

    def _levels(self) -> NDArray[np.intp]:
        member, _, level = self._structure
        return level[member]

    def table(self) -> Table:
        """Each system with its level, and how many it dominates, is dominated by, equals, and cannot be compared with.

        By level, then by how many it dominates, then as they were named.
        """
        level = self._levels()
        count = {code: (self.matrix == code).sum(axis=1) for code in _VERDICTS}
        rows = np.lexsort((-count[1], level))
        return Table(
            ["level", "system", "dominates", "dominated by", "equal to", "incomparable with"],
            [
                [int(level[i]), self.names[i], *(int(count[code][i]) - (code == 0) for code in (1, -1, 0, 2))]
                for i in rows
            ],
            facts={"order": self.order, "comparable": self.comparable, "pairs": self.counts},
        )

    def dot(self) -> str:
        r"""The Hasse diagram as text for Graphviz, the best on top.

        Examples
        --------
        >>> from amble.distributions.partial_order import PartialOrder
        >>> print(PartialOrder(["a", "b"], [[0, 1], [-1, 0]]).dot())
        digraph {
          node [shape=box];
          n0 [label="a"];
          n1 [label="b"];
          n0 -> n1;
        }
        """
        number = {names: f"n{i}" for i, names in enumerate(self.classes)}
        lines = [f'  {node} [label="{_label(names)}"];' for names, node in number.items()]
        lines += [f"  {number[better]} -> {number[worse]};" for better, worse in self.edges]
        return "\n".join(["digraph {", "  node [shape=box];", *lines, "}"])

    def __repr__(self) -> str:
        return (
            f"PartialOrder({len(self.names)} systems, {len(self.levels)} levels, "
            f"{100 * self.comparable:.4g} % of pairs comparable)"
        )


def order_systems(
    distributions: Mapping[str, Distribution], order: str = "first", tolerance: float | None = None
) -> PartialOrder:
    """The partial order of systems by stochastic dominance.

    Parameters
    ----------
    distributions : mapping of str to Distribution
        The distribution of each system; over topics, `Distribution.mixture` of those of its lists.
    order : {"first", "second"}
    tolerance : float, optional
        As for `Distribution.compare`: if None, 1e-12 and the bands of simulated distributions.

    Returns
    -------
    PartialOrder
        The verdict of each pair is that of `Distribution.compare`.

    Examples
    --------
    >>> import amble
    >>> from amble.distributions.partial_order import order_systems
    >>> lists = {"early": [1, 1, 0, 0], "late": [0, 0, 1, 1], "mixed": [1, 0, 0, 1]}
    >>> distributions = {name: amble.parse("AP").distribution(grades) for name, grades in lists.items()}
    >>> order_systems(distributions)
    PartialOrder(3 systems, 3 levels, 100 % of pairs comparable)
    >>> order_systems(distributions).levels
    (('early',), ('mixed',), ('late',))
    """
    check_order(order, tolerance)
    if not isinstance(distributions, Mapping) or not distributions:
        found = "none" if isinstance(distributions, Mapping) else type(distributions).__name__
        raise MeasureError(f"an order of systems needs a distribution of each, by name; found {found}")
    for name, distribution in distributions.items():
        if not isinstance(name, str) or not isinstance(distribution, Distribution):
            raise MeasureError(
                f"an order of systems needs a distribution of each, by name; {name!r} has {type(distribution).__name__}"
            )
    curves = {name: Curve(distribution) for name, distribution in distributions.items()}
    return order_curves(curves, order, tolerance)


def order_curves(curves: Mapping[str, Curve], order: str = "first", tolerance: float | None = None) -> PartialOrder:
    """The partial order of systems by the cdfs of their distributions; see `order_systems`."""
    given = list(curves.values())
    band, low, high = (np.array(part) for part in zip(*((c.band, c.x[0], c.x[-1]) for c in given), strict=True))
    top = np.maximum.outer(high, high)
    most = allowance(order, tolerance, np.add.outer(band, band), np.minimum.outer(low, low), top)
    above = _above(given, most, top, order)
    return PartialOrder(list(curves), np.select([above & above.T, above, above.T], [2, -1, 1], 0), order)


def _above(curves: list[Curve], most: Floats, top: Floats, order: str) -> Booleans:
    """Whether the curve of the row rises above that of the column by more than it may, anywhere up to the pair's top.

    All curves are looked at where it is cheap: at the same probes. A curve that is above another one at a probe needs
    no further look, nor do cells between probes where the values at their ends allow none. What is left is decided
    at the atoms in the cells that are left. So the memory is that of the atoms, and few pairs need all of theirs.
    """
    every = np.unique(np.concatenate([_some(curve.x) for curve in curves]))
    probe = _some(every)
    # the cell of an atom is (probe before, probe]; in two bytes each, beside the 24 that an atom takes
    cell = [np.searchsorted(probe, curve.x).astype(np.uint16) for curve in curves]
    held = np.zeros((len(curves), probe.size), bool)  # which cells have an atom of each
    for row, place in zip(held, cell, strict=True):
        row[place] = True
    before = np.maximum(np.arange(probe.size) - 1, 0)
    if order == "first":
        mine = np.array([curve.cdf(probe) for curve in curves])
        theirs = np.array([curve.cdf(near(probe)) for curve in curves])
        least = theirs[:, before]  # in a cell, a cdf is at least what it was at the probe before
    else:
        mine = theirs = np.array([curve.integral(probe) for curve in curves])
        slope = np.array([curve.cdf(probe) for curve in curves])
        least = mine[:, before] + slope[:, before] * (probe - probe[before])  # convex: it lies above its tangent

    def height(i: int, others: Any, at: slice = slice(None)) -> Floats:
        inside = probe[at] <= top[i, others, None]  # above both, the integrals and their rounding grow for ever
        return np.where(inside, mine[i, at] - theirs[others, at], 0.0)

    out = np.zeros(most.shape, bool)
    for i, curve in enumerate(curves):
        out[i] = height(i, slice(None), slice(None, None, _STRIDE)).max(axis=1) > most[i]
        rest = np.flatnonzero(~out[i])
        rest = rest[rest != i]
        slack = mine[i] - least[rest]
        if order == "first":
            open_ = (slack > most[i, rest, None]) & held[i]
            some = open_.any(axis=1)
            rest, open_ = rest[some], open_[some]
            tall = height(i, rest)
        else:  # it lies below its chord, so the two ends bound the difference; half, as they are rounded
            tall = height(i, rest)
            open_ = (np.maximum(slack, tall[:, before]) > most[i, rest, None] / 2) | (probe > top[i, rest, None])
            open_ &= held[rest]
        out[i, rest] = higher = tall.max(axis=1) > most[i, rest]
        for j, cells in zip(rest[~higher].tolist(), open_[~higher], strict=True):
            left = cells[cell[i if order == "first" else j]]
            out[i, j] = left.any() and curve.excess(curves[j], order, left) > most[i, j]
    return out


def _some(x: Floats) -> Floats:
    """Of many numbers some, evenly by their place, the first and the last among them."""
    return x if x.size <= _PROBES else x[np.linspace(0, x.size - 1, _PROBES).round().astype(np.intp)]


def _product(a: Booleans, b: Booleans) -> Booleans:
    found: Booleans = a.astype(np.float32) @ b.astype(np.float32) > 0
    return found


def _closure(reach: Booleans) -> Booleans:
    """All that can be reached in any number of steps, also none."""
    reach = reach | np.eye(len(reach), dtype=bool)
    while True:
        further = _product(reach, reach)
        if (further == reach).all():
            return reach
        reach = further


def _label(names: Class) -> str:
    """Names for a label of Graphviz, one per line."""
    escaped = (name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ") for name in names)
    return "\\n".join(escaped)
