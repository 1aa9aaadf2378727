"""Populations of users: a parameter that differs from user to user, ``RBP(p=Beta(8,2))``.

The value of a population is the mean over its users of each user's value; its distribution is the mixture of their
distributions. The mean is taken by Gaussian quadrature with the distribution's own weight. A Dirichlet distribution is
joint, of several parameters: by breaking the stick, it is two beta distributions that are independent.
"""

from __future__ import annotations

import warnings
from functools import lru_cache

import numpy as np

from amble.checks import is_number
from amble.errors import MeasureError
from amble.expressions.values import Value, show_number

__all__ = ["DISTRIBUTIONS", "GRIDS", "Beta", "Dirichlet", "Gamma", "Population", "Uniform"]

_NODES = 128
GRIDS = (12, 18, 27, 40)  # nodes along each side of a joint distribution, until the mean over users stays as it is
_USUAL = 18
_NOBODY = 1e-17  # users too few to be counted

DISTRIBUTIONS = {
    "Beta": "Beta(a,b), a, b > 0: between 0 and 1",
    "Uniform": "Uniform(low,high)",
    "Gamma": "Gamma(shape,scale), both > 0: above 0",
    "Dirichlet": "Dirichlet(a,b,c), a, b, c > 0: three numbers that sum to 1, in the mean in proportion to a, b, c",
}


class Population(Value):
    """A distribution of a parameter over users: Beta, Uniform or Gamma; or of several together: Dirichlet.

    Examples
    --------
    >>> population = Population("Beta", (8.0, 2.0))
    >>> values, weights = population.nodes()
    >>> round(float(values @ weights), 12)  # 8 / (8 + 2)
    0.8
    """

    kind: str
    arguments: tuple[float, ...]
    unquoted = True

    def __init__(self, kind: str, arguments: tuple[float, ...]) -> None:
        if kind not in DISTRIBUTIONS:
            raise MeasureError(f"no distribution is called {kind}, expected {'; '.join(DISTRIBUTIONS.values())}")
        right = len(arguments) == (3 if kind == "Dirichlet" else 2) and all(map(is_number, arguments))
        if right and kind == "Uniform":
            right = arguments[0] < arguments[1]
        elif right:
            right = min(arguments) > 0
        if not right:
            raise MeasureError(f"{kind}{arguments}: expected {DISTRIBUTIONS[kind]}")
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "arguments", tuple(map(float, arguments)))

    def content(self) -> tuple[str, tuple[float, ...]]:
        """The kind of distribution, and its arguments."""
        return self.kind, self.arguments

    def __str__(self) -> str:
        return f"{self.kind}({','.join(map(show_number, self.arguments))})"

    __repr__ = __str__

    @property
    def is_joint(self) -> bool:
        """Whether it is a distribution of several parameters together."""
        return self.kind == "Dirichlet"

    def nodes(self, grid: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Quadrature nodes: values of the parameter, or rows of several, and their weights, which sum to 1.

        Of a joint distribution, ``grid`` x ``grid`` of them, and the last number of three is left out.

        >>> values, weights = Dirichlet(2, 1, 1).nodes(4)
        >>> values.shape, (weights @ values).round(12)
        ((16, 2), array([0.5 , 0.25]))
        """
        if not self.is_joint:
            return _nodes(self.kind, self.arguments)
        a, b, c = self.arguments
        share, of_share = _nodes("Beta", (a, b), grid or _USUAL)  # a / (a + b) is independent of c
        last, of_last = _nodes("Beta", (c, a + b), grid or _USUAL)
        points = np.stack((np.outer(share, 1.0 - last), np.outer(1.0 - share, 1.0 - last)), axis=-1)
        weights = np.outer(of_share, of_last)
        kept = weights > _NOBODY
        return points[kept], weights[kept] / weights[kept].sum()


def Beta(a: float, b: float) -> Population:
    """A parameter between 0 and 1 with a beta distribution over users, as in ``RBP(p=Beta(8, 2))``."""
    return Population("Beta", (a, b))


def Dirichlet(a: float, b: float, c: float) -> Population:
    """Three numbers that sum to 1 with a Dirichlet distribution over users, as in ``PH(pqs=Dirichlet(20, 10, 10))``."""
    return Population("Dirichlet", (a, b, c))


def Gamma(shape: float, scale: float) -> Population:
    """A parameter above 0 with a gamma distribution over users."""
    return Population("Gamma", (shape, scale))


def Uniform(low: float, high: float) -> Population:
    """A parameter with a uniform distribution over users."""
    return Population("Uniform", (low, high))


@lru_cache(maxsize=32)
def _nodes(kind: str, arguments: tuple[float, ...], count: int = _NODES) -> tuple[np.ndarray, np.ndarray]:
    a, b = (float(x) for x in arguments)
    if kind == "Uniform":
        x, w = np.polynomial.legendre.leggauss(count)
        x = a + (b - a) * (x + 1) / 2
    elif kind == "Beta":
        from scipy.special import roots_jacobi

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            x, w = roots_jacobi(count, b - 1, a - 1)
        x = (x + 1) / 2
    else:
        from scipy.special import roots_genlaguerre

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            x, w = roots_genlaguerre(count, a - 1)
        x = b * x
    with np.errstate(all="ignore"):
        w = w / w.sum()
    if not (np.isfinite(x).all() and np.isfinite(w).all()):
        raise MeasureError(f"{kind}({a:g},{b:g}) is too extreme to be integrated over")
    return np.asarray(x), np.asarray(w)
