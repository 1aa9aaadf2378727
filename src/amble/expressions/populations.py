"""Populations of users: a parameter that differs from user to user, ``RBP(p=Beta(8,2))``.

The value of a population is the mean over its users of each user's value; its distribution is the mixture of their
distributions. The mean is taken by Gaussian quadrature with the distribution's own weight. A Dirichlet distribution is
joint, of several parameters: by breaking the stick, it is two beta distributions that are independent.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from amble.checks import is_number
from amble.errors import MeasureError
from amble.expressions.values import Value, show_number

__all__ = ["DISTRIBUTIONS", "GRIDS", "Beta", "Dirichlet", "Gamma", "Population", "Uniform"]

_NODES = 128
GRIDS = (12, 18, 27, 40)  # nodes along each side of a joint distribution, until the mean over users stays as it is
_USUAL = 18
_LEAST = 2.0**-53  # what rounding may take from a number above 0, or below 1
_MOST = 1e100  # a number this large, or its inverse, is too extreme
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
            right = min(arguments) > 1 / _MOST
        if not right or not max(map(abs, arguments)) < _MOST:
            raise MeasureError(f"{kind}{arguments}: expected {DISTRIBUTIONS[kind]}, in size below {_MOST:g}")
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
    """Gaussian nodes and weights, from the matrix of the orthogonal polynomials (Golub and Welsch, 1969)."""
    low, high = arguments
    if kind == "Uniform":
        x, w = _nodes("Beta", (1.0, 1.0), count)
        return low + (high - low) * x, w
    k = np.arange(1.0, count)
    if kind == "Beta":
        a, b, s = low, high, 2.0 * (k - 1.0) + (low + high)
        middle = np.append(a / (a + b), (1.0 + (a - b) / s * ((a + b - 2.0) / (s + 2.0))) / 2.0)
        near = np.append(1.0, (s - k)[1:] / (s - 1.0)[1:])  # 1 at k = 1, even where both are 0
        beside = np.sqrt(k / (s + 1.0) * ((k - 1.0 + a) / s) * ((k - 1.0 + b) / s) * near)
    else:
        middle, beside = 2.0 * np.arange(count) + low, np.sqrt(k * (k - 1.0 + low))
    found, vectors = np.linalg.eigh(np.diag(middle) + np.diag(beside, 1) + np.diag(beside, -1))
    x = np.clip(found, _LEAST, 1.0 - _LEAST) if kind == "Beta" else high * np.maximum(found, _LEAST)
    return x, vectors[0] ** 2
