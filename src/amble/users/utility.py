"""Utility: the k-th visit to a document of gain y brings g(k, y), which must not rise with k."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amble.errors import MeasureError
from amble.expressions.domains import Between

__all__ = ["Utility"]

Array = NDArray[Any]

_MOST_VISITS = 20_000  # of a table that stands for a function
_NOTHING = 1e-17
_SHARE = Between(0, 1, closed=True)


class Utility:
    """g(k, y): what the k-th visit to a document of gain y is worth.

    Parameters
    ----------
    loss : float
        With every visit a share ``loss`` of what is left is lost: g(k, y) = y (1 - loss)^(k - 1).
    visits : sequence of float, optional
        Instead: what each visit is worth, as a share of y; the last one holds for all further visits.
    function : callable, optional
        Instead: g(k, y), for a whole number k and an array y.

    Examples
    --------
    >>> from amble.users.utility import Utility
    >>> Utility(0.5).values(np.array([3.0]), 3)  # FF20, section 4
    array([[3.  , 1.5 , 0.75]])
    >>> Utility(visits=[1, 0.2]).values(np.array([1.0]), 4)
    array([[1. , 0.2, 0.2, 0.2]])
    """

    def __init__(
        self,
        loss: float = 0.0,
        *,
        visits: Sequence[float] | None = None,
        function: Callable[[int, Array], Any] | None = None,
    ) -> None:
        try:
            self.loss = _SHARE.check(loss)
        except ValueError:
            raise MeasureError(f"loss={loss!r}: expected {_SHARE.text}") from None
        if (loss != 0) + (visits is not None) + (function is not None) > 1:
            raise MeasureError("utility is said by one of loss, visits and function")
        self.function = function
        self.visits: NDArray[np.float64] | None = None
        if function is not None:
            nothing = float(self.values(np.zeros(1), 1)[0, 0])
            if nothing != 0:
                raise MeasureError(f"utility g(1, 0) is {nothing:g}, expected 0: what gains nothing is worth nothing")
        if visits is not None:
            try:
                shares = np.array(visits, np.float64, ndmin=1)
            except (TypeError, ValueError):
                raise MeasureError(f"utility by visits: {visits!r:.60}, expected numbers") from None
            if shares.ndim != 1 or not shares.size or not np.isfinite(shares).all():
                raise MeasureError("utility by visits: expected one finite number or more")
            _check_utility(shares[None, :], np.ones(1), slack=0.0)
            shares.flags.writeable = False
            self.visits = shares
            if (shares == shares[0]).all() and shares[0] == 1:
                self.visits = None

    @property
    def separable(self) -> bool:
        """Whether g(k, y) is y times something that does not depend on y."""
        return self.function is None

    @property
    def kind(self) -> str:
        """How visits fade: "kept" (nothing is ever lost), "once" (only the first visit counts) or "fading"."""
        if self.function is None and self.visits is None and self.loss in (0.0, 1.0):
            return "once" if self.loss else "kept"
        if self.visits is not None and self.visits[0] == 1 and not self.visits[1:].any() and self.visits.size > 1:
            return "once"
        return "fading"

    @property
    def geometric(self) -> float | None:
        """The share kept from one visit to the next, where that is one number; else None."""
        if self.kind == "once":
            return 0.0
        return None if self.function is not None or self.visits is not None else 1.0 - self.loss

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
        if self.visits is not None:
            return np.asarray(y[:, None] * self.visits[np.minimum(k, self.visits.size - 1)])
        return np.asarray(y[:, None] * (1.0 - self.loss) ** k)

    def table(self, gains: Array, returns: float) -> NDArray[np.float64]:
        """g(k, y) for as many visits as matter if documents are revisited with probability at most ``returns``."""
        if self.function is None and self.visits is not None:
            return self.values(gains, self.visits.size)
        kept = self.geometric
        if kept in (0.0, 1.0):
            return self.values(gains, 2 if kept == 0.0 else 1)
        by = returns if kept is None else min(returns, kept)
        count = 1 if by <= 0 else _MOST_VISITS if by >= 1 else 2 + int(math.log(_NOTHING) / math.log(by))
        return self.values(gains, min(count, _MOST_VISITS))

    def series(self, gains: Array, away: Array) -> Array:
        """The sum over k of g(k, y) x^(k-1), where x = 1 - away is the probability of coming back."""
        if self.function is None and self.visits is None:
            if self.loss == 0:
                return gains / away
            return gains / (away + self.loss * (1.0 - away))
        back = 1.0 - away
        if self.visits is not None:
            return gains * _power_series(self.visits, back, away)
        y = np.broadcast_to(np.asarray(gains, np.float64), np.broadcast_shapes(np.shape(gains), away.shape))
        out = np.zeros(y.shape, away.dtype)
        most = float(np.abs(back).max(initial=0.0))
        for value in np.unique(y):
            here = y == value
            if value != 0 or self.function is not None:
                row = self.table(np.array([value]), most)[0]
                if row.any():
                    x = np.broadcast_to(back, y.shape)[here]
                    out[here] = _power_series(row, x, np.broadcast_to(away, y.shape)[here])
        return out


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
