"""Utility: the k-th visit to a document of gain y brings g(k, y), which must not rise with k."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from amble.arrays import NDArray
from amble.errors import AmbleError, MeasureError
from amble.expressions.domains import Between
from amble.expressions.values import ByRank, Value, digest, real, show_number

__all__ = ["Utility"]

Array = NDArray[Any]

_MOST_VISITS = 20_000  # of a table that stands for a function
_NOTHING = 1e-17
_SHARE = Between(0, 1, closed=True)
_SPELLED = r"[-+0-9.eE,;=\s]*"  # shares or a table; anything else is the name of a file
_LINE = "expected a grade and what its visits are worth, as in 1=1,0.5"


class Utility(Value):
    """g(k, y): what the k-th visit to a document of gain y is worth.

    Parameters
    ----------
    loss : float
        With every visit a share ``loss`` of what is left is lost: g(k, y) = y (1 - loss)^(k - 1).
    visits : sequence of float, optional
        Instead: what each visit is worth, as a share of y; the last one holds for all further visits.
    function : callable, optional
        Instead: g(k, y), for a whole number k and an array y.
    table : mapping, optional
        Instead: ``{y: [g(1, y), g(2, y), …]}``, the last one holding for all further visits. A y that is not in the
        table is worth what the next lower one is, and nothing below the lowest. In a measure, y is the grade.

    Examples
    --------
    >>> from amble.users.utility import Utility
    >>> Utility(0.5).values(np.array([3.0]), 3)  # FF20, section 4
    array([[3.  , 1.5 , 0.75]])
    >>> Utility(visits=[1, 0.2]).values(np.array([1.0]), 4)
    array([[1. , 0.2, 0.2, 0.2]])
    >>> Utility(table={1: [1, 0.5], 2: [3, 1]}).values(np.array([0.0, 1.0, 2.0]), 3)
    array([[0. , 0. , 0. ],
           [1. , 0.5, 0.5],
           [3. , 1. , 1. ]])
    """

    loss: float
    visits: NDArray[np.float64] | None
    function: Callable[[int, Array], Any] | None
    rows: tuple[tuple[float, ByRank], ...]  # by rising y
    _worths: NDArray[np.float64]  # those of no y first

    def __init__(
        self,
        loss: float = 0.0,
        visits: Sequence[float] | None = None,
        function: Callable[[int, Array], Any] | None = None,
        table: Mapping[float, Sequence[float]] | Iterable[tuple[float, Sequence[float]]] | None = None,
    ) -> None:
        try:
            share = _SHARE.check(loss)
        except ValueError:
            raise MeasureError(f"loss={loss!r}: expected {_SHARE.text}") from None
        if (loss != 0) + sum(x is not None for x in (visits, function, table)) > 1:
            raise MeasureError("utility is said by one of loss, visits, function and table")
        shares: Array | None = None
        rows: tuple[tuple[float, ByRank], ...] = ()
        worths = np.zeros((1, 1))
        if visits is not None:
            try:
                shares = np.array(visits, np.float64, ndmin=1)
            except (TypeError, ValueError):
                raise MeasureError(f"utility by visits: {visits!r:.60}, expected numbers") from None
            if shares.ndim != 1 or not shares.size or not np.isfinite(shares).all():
                raise MeasureError("utility by visits: expected one finite number or more")
            _check_utility(shares[None, :], np.ones(1), slack=0.0)
            shares.flags.writeable = False
            if (shares == 1).all():
                shares = None
        if table is not None:
            try:
                rows = tuple(sorted((real(y), ByRank(row)) for y, row in dict(table).items()))
            except (TypeError, ValueError):
                rows = ()
            if not rows:
                raise MeasureError(f"utility by table: {table!r:.60}, expected numbers for each of some gains")
            most = max(len(row) for _, row in rows)
            worths = np.array([[0.0] * most, *([*row, *[row[-1]] * (most - len(row))] for _, row in rows)])
            _check_utility(worths[1:], np.array([y for y, _ in rows]), slack=0.0)
        worths.flags.writeable = False
        vars(self).update(loss=share, visits=shares, function=function, rows=rows, _worths=worths)
        nothing = float(self.values(np.zeros(1), 1)[0, 0])
        if nothing != 0:
            raise MeasureError(f"utility g(1, 0) is {nothing:g}, expected 0: what gains nothing is worth nothing")

    @classmethod
    def read(cls, given: Any) -> Utility:
        """The utility of a text, a file, numbers, a mapping or a function; ValueError if it is none of them.

        >>> str(Utility.read("2=3,1; 1=1,.5")), str(Utility.read([1, 0.5])), str(Utility.read({1: [2]}))
        ('1=1,0.5;2=3,1', '1,0.5', '1=2')
        """
        if isinstance(given, Utility):
            return given
        if isinstance(given, Mapping):
            return cls(table=given)
        if not isinstance(given, str | os.PathLike):
            return cls(function=given) if callable(given) else cls(visits=ByRank(given))
        text = os.fspath(given)
        if re.fullmatch(_SPELLED, text):
            lines = [("", piece) for piece in text.split(";")]
        else:
            lines = _lines(text)
        if len(lines) == 1 and "=" not in lines[0][1] and not lines[0][0]:
            return cls(visits=ByRank(lines[0][1]))
        table: dict[float, ByRank] = {}
        for where, line in lines:
            try:
                y, _, worths = line.partition("=")
                (grade,), row = ByRank(y), ByRank(worths)
                if grade in table:
                    raise ValueError
                table |= {grade: row}
                cls(table={grade: row})  # may refuse
            except ValueError as error:
                if not where:
                    raise
                why = str(error) if isinstance(error, MeasureError) else f"found {line!r:.60}, {_LINE}"
                raise MeasureError(f"{where}: {why}") from None
        return cls(table=table)

    def content(self) -> tuple[Any, ...]:
        """The loss, the shares by visit, the function or the table."""
        shares = None if self.visits is None else tuple(self.visits.tolist())
        return self.loss, shares, self.function, self.rows or None

    @property
    def unquoted(self) -> bool:
        """Whether no expression can spell it: a function, or a loss, which has a parameter of its own."""
        return self.function is not None or self.loss != 0

    def __str__(self) -> str:
        if self.unquoted:
            return digest("utility", self.content())
        if self.rows:
            return ";".join(f"{show_number(y)}={row}" for y, row in self.rows)
        return "1" if self.visits is None else str(ByRank(self.visits))

    @property
    def separable(self) -> bool:
        """Whether g(k, y) is y times something that does not depend on y."""
        return self.function is None and not self.rows

    @property
    def kind(self) -> str:
        """How visits fade: "kept" (nothing is ever lost), "once" (only the first visit counts) or "fading"."""
        if self.separable and self.visits is None and self.loss in (0.0, 1.0):
            return "once" if self.loss else "kept"
        if self.rows:
            later = self._worths[:, 1:]
            constant = (later == self._worths[:, :1]).all()
            return "kept" if constant else "once" if later.size and not later.any() else "fading"
        if self.visits is not None and self.visits[0] == 1 and not self.visits[1:].any() and self.visits.size > 1:
            return "once"
        return "fading"

    @property
    def geometric(self) -> float | None:
        """The share kept from one visit to the next, where that is one number; else None."""
        if self.kind == "once" and self.separable:
            return 0.0
        return 1.0 - self.loss if self.separable and self.visits is None else None

    def _rows(self, y: Array) -> NDArray[np.float64]:
        """What the visits to documents of gain y are worth, by a table."""
        return np.asarray(self._worths[np.searchsorted([least for least, _ in self.rows], y, side="right")])

    def values(self, gains: Array, count: int) -> NDArray[np.float64]:
        """g(k, y) for every gain y (rows) and k = 1 … count (columns)."""
        y = np.asarray(gains, np.float64)
        k = np.arange(count)
        if self.function is not None:
            out = np.empty((y.size, count))
            try:
                for i in range(count):
                    out[:, i] = self.function(i + 1, y)
            except Exception as error:
                raise MeasureError(f"utility: its function failed with {type(error).__name__}: {error}") from error
            _check_utility(out, y)
            return out
        if self.rows:
            return self._rows(y)[:, np.minimum(k, self._worths.shape[1] - 1)]
        if self.visits is not None:
            return np.asarray(y[:, None] * self.visits[np.minimum(k, self.visits.size - 1)])
        return np.asarray(y[:, None] * (1.0 - self.loss) ** k)

    def table(self, gains: Array, returns: float) -> NDArray[np.float64]:
        """g(k, y) for as many visits as matter if documents are revisited with probability at most ``returns``."""
        if self.visits is not None or self.rows:
            return self.values(gains, self._worths.shape[1] if self.visits is None else self.visits.size)
        kept = self.geometric
        if kept in (0.0, 1.0):
            return self.values(gains, 2 if kept == 0.0 else 1)
        by = returns if kept is None else min(returns, kept)
        count = 1 if by <= 0 else _MOST_VISITS if by >= 1 else 2 + int(math.log(_NOTHING) / math.log(by))
        return self.values(gains, min(count, _MOST_VISITS))

    def series(self, gains: Array, away: Array) -> Array:
        """The sum over k of g(k, y) x^(k-1), where x = 1 - away is the probability of coming back."""
        if self.geometric is not None and self.visits is None:
            if self.loss == 0:
                return gains / away
            return gains / (away + self.loss * (1.0 - away))
        back = 1.0 - away
        if self.visits is not None:
            return gains * _power_series(self.visits, back, away)
        if self.rows:
            return _power_series(np.moveaxis(self._rows(np.asarray(gains)), -1, 0), back, away)
        y = np.broadcast_to(np.asarray(gains, np.float64), np.broadcast_shapes(np.shape(gains), away.shape))
        out = np.zeros(y.shape, away.dtype)
        most = float(np.abs(back).max(initial=0.0))
        for value in np.unique(y):
            here = y == value
            row = self.table(np.array([value]), most)[0]
            if row.any():
                x = np.broadcast_to(back, y.shape)[here]
                out[here] = _power_series(row, x, np.broadcast_to(away, y.shape)[here])
        return out


def _lines(path: str) -> list[tuple[str, str]]:
    """The lines of a table in a file, each with where it stands."""
    from amble.io.files import numbered_lines  # for files only

    try:
        found = [(f"{path}:{number}", line.strip()) for number, line in numbered_lines(path)]
    except AmbleError as error:
        raise MeasureError(f"utility={path!r:.60}: {error}") from None
    if not (kept := [(where, line) for where, line in found if line and not line.startswith("#")]):
        raise MeasureError(f"{path}: no lines, {_LINE}")
    return kept


def _power_series(shares: Array, back: Array, away: Array) -> Array:
    """The sum of c_k x^(k-1); the last coefficient holds for ever."""
    out = shares[-1] / away
    for share in shares[-2::-1]:
        out = share + back * out
    return np.asarray(out)


def _check_utility(values: Array, gains: Array, slack: float = 1e-12) -> None:
    """Refuse what is negative, not finite, or rises with the visits."""
    bad = ~(np.isfinite(values) & (values >= 0))
    if bad.any():
        i, k = (int(x[0]) for x in np.nonzero(bad))
        raise MeasureError(
            f"utility g({k + 1}, {gains[i]:g}) is {values[i, k]:g}, expected a finite number, at least 0"
        )
    rise = np.diff(values, axis=1) > slack * np.maximum(values[:, :1], 1e-300)
    if rise.any():
        i, k = (int(x[0]) for x in np.nonzero(rise))
        raise MeasureError(
            f"utility g({k + 2}, {gains[i]:g}) = {values[i, k + 1]:g} is more than g({k + 1}, {gains[i]:g}) = "
            f"{values[i, k]:g}; it must not rise with the visits"
        )
