"""A p-value: as a table shows it, and held against a level."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Probability", "reaches"]


def reaches(p: NDArray[np.float64], alpha: float) -> NDArray[np.bool_]:
    """Which p-values are at most alpha, but for rounding: 15 x (1 / 300) is 0.05, whatever its last digit.

    >>> import numpy as np
    >>> reaches(np.array([0.1, 0.3, 0.1 + 0.2]), 0.3).tolist()
    [True, True, True]
    """
    return np.asarray(p <= alpha * (1 + 1e-12))


class Probability(float):
    """A number that is never shown as 0 unless it is.

    >>> f"{Probability(0.00001):.4f}", f"{Probability(0.25):.4f}", f"{Probability(0):.4f}"
    ('<0.0001', '0.2500', '0.0000')
    """

    def __format__(self, form: str) -> str:
        shown = super().__format__(form)
        if self > 0 and form[:1] == "." and form[-1:] == "f" and float(shown) == 0:
            digits = int(form[1:-1])
            return f"<{10.0**-digits:.{digits}f}"
        return shown
