"""P-values: how they are shown, which are at most alpha, and how small those of a test can be."""

from __future__ import annotations

import numpy as np

from amble.arrays import Array, Bools, Ints
from amble.comparison.paired_tests import EXACT
from amble.comparison.resampling import all_counted

__all__ = ["Probability", "reaches", "smallest_attainable"]


def reaches(p: Array, alpha: float) -> Bools:
    """Which p-values are at most alpha, but for rounding: 15 x (1 / 300) is 0.05, whatever its last digit.

    >>> import numpy as np
    >>> reaches(np.array([0.1, 0.3, 0.1 + 0.2]), 0.3).tolist()
    [True, True, True]
    """
    return np.asarray(p <= alpha * (1 + 1e-12))


class Probability(float):
    """A float that is never shown as 0 unless it is.

    >>> f"{Probability(0.00001):.4f}", f"{Probability(0.25):.4f}", f"{Probability(0):.4f}"
    ('<0.0001', '0.2500', '0.0000')
    """

    def __format__(self, form: str) -> str:
        shown = super().__format__(form)
        if self > 0 and form[:1] == "." and form[-1:] == "f" and float(shown) == 0:
            digits = int(form[1:-1])
            return f"<{10.0**-digits:.{digits}f}"
        return shown


def smallest_attainable(test: str, sides: str, rounds: int, changed: Ints) -> Array:
    """The smallest p-value that a test can give pairs with so many differences that are not 0.

    Where topics are few, or rounds, a p-value cannot be small: the sign test of five topics has none below 2 / 2^5, and
    99 rounds none below 1 / 100. Of Tukey's test, what its rounds allow.

    >>> smallest_attainable("sign", "two", 1, np.array([0, 1, 5]))
    array([1.    , 1.    , 0.0625])
    >>> smallest_attainable("permutation", "greater", 99, np.array([5, 50]))  # 1 / 2^5, and 1 / (99 + 1)
    array([0.03125, 0.01   ])
    """
    signs = np.minimum(np.ldexp(2.0 if sides == "two" else 1.0, -changed), 1.0)
    drawn = np.full(changed.size, 1.0 / (rounds + 1))
    if test == "sign":
        least = signs
    elif test == "wilcoxon":
        least = np.where(changed <= EXACT, signs, 0.0)
    elif test == "permutation":
        least = np.where(all_counted(changed, rounds), signs, drawn)
    elif test in ("bootstrap", "tukey"):
        least = drawn
    else:
        least = np.zeros(changed.size)
    return np.where(changed > 0, least, 1.0)
