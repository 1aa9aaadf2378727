"""What a test can find at best: the least p-value that it can give each pair.

Where topics are few, or rounds, a p-value cannot be small: the sign test of five topics has none below 2 / 2^5, and 99
rounds none below 1 / 100. If the least that all pairs can have is above the level after the correction, no difference
can be found, however large, and that should be told.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from amble.comparison.comparison import Question
from amble.comparison.corrections import adjust
from amble.comparison.p_values import reaches
from amble.comparison.paired_tests import EXACT
from amble.comparison.resampling import all_counted

__all__ = ["least_p", "limit_of"]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

_MOST = 1 << 40  # rounds; what these do not find, no number of rounds does


def least_p(test: str, sides: str, rounds: int, changed: Ints) -> Array:
    """The least p-value of pairs with so many differences that are not 0; of Tukey's test, what its rounds allow.

    >>> least_p("sign", "two", 1, np.array([0, 1, 5]))
    array([1.    , 1.    , 0.0625])
    >>> least_p("permutation", "greater", 99, np.array([5, 50]))  # 1 / 2^5, and 1 / (99 + 1)
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


def limit_of(q: Question, changed: Ints, dealt: float = 0.0) -> tuple[str, int]:
    """What keeps all pairs from differing, "topics", "rounds" or nothing, and how many rounds it takes.

    ``dealt`` is the least p-value that Tukey's test has with these scores, by its rounds: if on every topic one run had
    the best score and one other the worst.
    """
    if not changed.any():
        return "", 0  # runs that are the same, whatever the test

    def finds(rounds: int) -> bool:
        return bool(reaches(adjust(least_p(q.test, q.sides, rounds, changed), q.correction), q.alpha).any())

    if finds(q.rounds):
        return ("topics", 0) if dealt and not reaches(np.array(dealt), q.alpha) else ("", 0)
    if not finds(_MOST):
        return "topics", 0
    low, high = q.rounds, _MOST
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if finds(middle) else (middle, high)
    return "rounds", high
