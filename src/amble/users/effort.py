"""Effort: what a gain is divided by after h visits, and how to take the mean of a gain divided by it.

If A(z) = sum over h of E[T; H = h] z^(h-1), then E[T / f(H)] is a sum over nodes z of A(z) times weights that depend on
f alone. For f(h) = (h + c)^a

    1 / (h + c)^a = 1 / Gamma(a) x integral over y of e^(a y) e^(-(h + c) x),   x = e^y,

and the trapezoidal rule in y is exact up to a bound known beforehand: A is analytic and at most E[T] in size while
|z| <= 1, that is in the strip |Im y| < pi / 2, so with steps of eta the error is at most

    2 E[T] ((1 + c) cos d)^-a / (e^(2 pi d / eta) - 1)      for any d < pi / 2,

however small the probabilities of stopping are. Where a user goes on with probability at most r < 1 after every visit,
P(H >= h) <= r^(h-1), A is analytic for |z| < 1 / r, and 1 / (h + c), for a small whole number c, is the integral of
z^(h + c - 1) from 0 to 1: fewer nodes do, those of Gauss and Legendre. For any other f the nodes are M-th roots of
unity, and their weights the Fourier transform of 1 / f (M so large that no walk is that long).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from amble.arrays import NDArray
from amble.errors import MeasureError
from amble.expressions.values import FormulaOrFunction, show_number

__all__ = ["Effort"]

Array = NDArray[Any]

_FORM = r"(?a)\s*h\s*(?:(\+|\^|\*\*)\s*(\d+\.?\d*|\.\d+)\s*)?"
_MOST_NODES = 200
_ERROR = 1e-14  # what the rule may be wrong by, as a share of 1 / f(1)
_MOST_SHIFT, _POWERS = 1e6, (0.01, 10.0)
_WORDS: dict[Any, Callable[[Array], Array]] = {"log": lambda h: np.log2(h + 1.0), "1": lambda h: np.ones(h.shape)}


class Effort(FormulaOrFunction):
    """f(h): what the gain is divided by after h visits.

    Parameters
    ----------
    form : str or callable
        ``"h"``, ``"h+2"``, ``"h^2"`` or ``"h**2"``, ``"1"``, ``"log"`` (log2(h + 1)), ``"sqrt"``, or a function of an
        array of h that gives positive numbers that do not fall.

    Examples
    --------
    >>> from amble.users.effort import Effort
    >>> Effort("h+1")(np.array([1.0, 2.0, 3.0]))
    array([2., 3., 4.])
    >>> Effort("h ** 2"), Effort("h**2") == Effort("h^2.0")
    (Effort('h^2'), True)
    """

    form: str | Callable[[Array], Any]
    shift: float
    power: float

    def __init__(self, form: str | Callable[[Array], Any] = "h") -> None:
        shift, power = 0.0, math.nan
        if not isinstance(form, str):
            if not callable(form):
                raise MeasureError(f"effort {form!r:.60}: expected a formula, such as 'h+1', or a function")
        elif form == "h":
            power = 1.0
        elif form in _WORDS:
            power = 0.0 if form == "1" else math.nan
        else:
            found = re.fullmatch(_FORM, "h^0.5" if form == "sqrt" else form)
            if not found:
                raise MeasureError(
                    f"effort {form!r}: expected 'h', 'h+' or 'h^' and a number, '1', 'log', 'sqrt', or a function"
                )
            sign, number = found[1], float(found[2] or 1)
            shift, power = (number, 1.0) if sign == "+" else (0.0, number)
            if shift > _MOST_SHIFT or not _POWERS[0] <= power <= _POWERS[1]:
                raise MeasureError(
                    f"effort {form!r:.60}: expected 'h+' and at most {_MOST_SHIFT:g}, or 'h^' and a power from "
                    f"{_POWERS[0]:g} to {_POWERS[1]:g}"
                )
            words = {(0.0, 1.0): "h", (0.0, 0.5): "sqrt"}
            form = words.get((shift, power)) or (f"h+{show_number(shift)}" if shift else f"h^{show_number(power)}")
        for name, value in (("form", form), ("shift", shift), ("power", power)):
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return f"Effort({self.form!r})"

    @property
    def is_power(self) -> bool:
        """Whether f(h) is a power of h + c."""
        return not math.isnan(self.power)

    def __call__(self, visits: Array) -> NDArray[np.float64]:
        """f(h) for each h."""
        h = np.asarray(visits, np.float64)
        function = self.form if callable(self.form) else _WORDS.get(self.form)
        if function is None:
            return h if (self.shift, self.power) == (0.0, 1.0) else np.asarray((h + self.shift) ** self.power)
        try:
            out = np.broadcast_to(np.asarray(function(h), np.float64), h.shape)
        except Exception as error:
            raise MeasureError(f"effort: its function failed with {type(error).__name__}: {error}") from error
        return self._checked(out, h)

    def steps(self, visits: Array) -> NDArray[np.float64]:
        """f(h) - f(h - 1) for each h of at least 1: what a visit adds, the first all of f(1)."""
        h = np.asarray(visits, np.float64)
        return np.asarray(self(h) - np.where(h > 1, self(np.maximum(h - 1.0, 1.0)), 0.0))

    def _checked(self, values: NDArray[np.float64], h: Array) -> NDArray[np.float64]:
        bad = ~(np.isfinite(values) & (values > 0))
        if bad.any():
            i = int(np.flatnonzero(bad)[0])
            raise MeasureError(f"effort f({h.flat[i]:g}) is {values.flat[i]:g}, expected a finite number above 0")
        order = np.argsort(h, axis=None, kind="stable")
        x, y = h.flat[order], values.flat[order]
        fall = np.flatnonzero((np.diff(x) > 0) & (np.diff(y) < -1e-12 * y[:-1]))
        if fall.size:
            i = int(fall[0])
            raise MeasureError(
                f"effort f({x[i + 1]:g}) = {y[i + 1]:g} is less than f({x[i]:g}) = {y[i]:g}; it must not fall"
            )
        return values

    def nodes(self, mean: float, reach: Callable[[], int], going: float = 1.0) -> tuple[Array, Array]:
        """Points x and weights such that E[T / f(H)] is the sum over them of weight x A(e^-x), its real part.

        Parameters
        ----------
        mean : float
            E[H], or more: the error is stated for gains of at most 1 per visit.
        reach : callable
            Returns the number of visits that no user exceeds; called only where f is no power.
        going : float
            The largest probability of going on after a visit, if it is known: the farther from 1, the fewer nodes.
        """
        if self.power == 0:
            return np.zeros(1), np.ones(1)
        if self.is_power:
            many = _power_nodes(self.power, self.shift, mean)
            few = _legendre_nodes(int(self.shift), going) if self.power == 1 and self.shift in range(9) else None
            return many if few is None or few[0].size >= many[0].size else few
        count = 1 << max(4, math.ceil(math.log2(reach())))
        kernel = np.fft.rfft(1.0 / self(np.arange(1.0, count + 1.0))).conj() / count
        kernel[1:-1] *= 2.0  # the other half of the circle is the mirror image
        return 2j * np.pi * np.arange(kernel.size) / count, kernel


def _power_nodes(power: float, shift: float, mean: float) -> tuple[Array, Array]:
    wanted = _ERROR / max(mean, 1.0)
    d = np.linspace(0.3, 1.56, 127)
    size = np.log(2.0 / wanted) - power * np.log(np.cos(d))
    step = float((2.0 * np.pi * d / np.maximum(size, 1.0)).max())
    low = (math.log(wanted) + math.lgamma(power + 1.0)) / power - math.log(1.0 + shift)
    high = math.log((45.0 + 3.0 * power) / (1.0 + shift))
    y = np.arange(math.floor(low / step), math.ceil(high / step) + 1) * step
    x = np.exp(y)
    return x, step * np.exp(power * y - (1.0 + shift) * x - math.lgamma(power))


@lru_cache(maxsize=64)
def _legendre_nodes(shift: int, going: float) -> tuple[Array, Array] | None:
    """Nodes for f(h) = h + c where nobody goes on with a probability above ``going``; None if that takes too many.

    On the ellipse with foci 0 and 1 through z = x / going, x < 1, z^c A(z) is at most z^c / (1 - x)^2 in size. The
    error of n nodes is at most 64/15 of that, times half the interval, times rho^(-2n) / (1 - rho^-2), where rho is the
    sum of the ellipse's half axes for an interval of length 2.
    """
    if not going < 1:
        return None
    most = max(going, 0.05)
    x = np.linspace(most, 1.0, 66)[1:-1]
    z = x / most
    a = 2.0 * z - 1.0
    rho = a + np.sqrt(a * a - 1.0)
    size = np.log(32.0 / 15.0) + shift * np.log(z) - 2.0 * np.log1p(-x) - np.log1p(-(rho**-2.0))
    count = math.ceil(float(((size - math.log(_ERROR)) / (2.0 * np.log(rho))).min()))
    if count > _MOST_NODES:
        return None
    at, weight = np.polynomial.legendre.leggauss(max(count, 2))
    at, weight = (at + 1.0) / 2.0, weight / 2.0
    return -np.log(at), weight * at**shift
