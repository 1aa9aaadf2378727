"""Populations of users: a parameter that differs from user to user, ``RBP(p=Beta(8,2))``.

The value of a population is the mean over its users of each user's value; its distribution is the mixture of their
distributions. The mean is taken by Gaussian quadrature with the distribution's own weight.
"""

from __future__ import annotations

import warnings
from functools import lru_cache

import numpy as np

from amble.checks import is_number
from amble.errors import MeasureError
from amble.expressions.values import Value, show_number

__all__ = ["DISTRIBUTIONS", "Beta", "Gamma", "Population", "Uniform"]

_NODES = 128

DISTRIBUTIONS = {
    "Beta": "Beta(a,b), a, b > 0: between 0 and 1",
    "Uniform": "Uniform(low,high)",
    "Gamma": "Gamma(shape,scale), both > 0: above 0",
}


class Population(Value):
    """A distribution of a parameter over users: Beta, Uniform or Gamma.

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
        right = len(arguments) == 2 and all(map(is_number, arguments))
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

    def nodes(self) -> tuple[np.ndarray, np.ndarray]:
        """Quadrature nodes: values of the parameter, and their weights, which sum to 1."""
        return _nodes(self.kind, self.arguments)


def Beta(a: float, b: float) -> Population:
    """A parameter between 0 and 1 with a beta distribution over users, as in ``RBP(p=Beta(8, 2))``."""
    return Population("Beta", (a, b))


def Gamma(shape: float, scale: float) -> Population:
    """A parameter above 0 with a gamma distribution over users."""
    return Population("Gamma", (shape, scale))


def Uniform(low: float, high: float) -> Population:
    """A parameter with a uniform distribution over users."""
    return Population("Uniform", (low, high))


@lru_cache(maxsize=32)
def _nodes(kind: str, arguments: tuple[float, ...]) -> tuple[np.ndarray, np.ndarray]:
    a, b = (float(x) for x in arguments)
    if kind == "Uniform":
        x, w = np.polynomial.legendre.leggauss(_NODES)
        x = a + (b - a) * (x + 1) / 2
    elif kind == "Beta":
        from scipy.special import roots_jacobi

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            x, w = roots_jacobi(_NODES, b - 1, a - 1)
        x = (x + 1) / 2
    else:
        from scipy.special import roots_genlaguerre

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            x, w = roots_genlaguerre(_NODES, a - 1)
        x = b * x
    with np.errstate(all="ignore"):
        w = w / w.sum()
    if not (np.isfinite(x).all() and np.isfinite(w).all()):
        raise MeasureError(f"{kind}({a:g},{b:g}) is too extreme to be integrated over")
    return np.asarray(x), np.asarray(w)
