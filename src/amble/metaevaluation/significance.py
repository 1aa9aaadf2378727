"""Significance tests of all pairs of systems: from scores by system and topic to p-values by pair.

They are those of `amble.compare`, two-sided: Student's paired t; Sakai's (2006) bootstrap, the achieved significance
level of the studentised mean difference when topics are drawn with replacement; and the randomised Tukey HSD
(Carterette, 2012), whose alpha is that of all pairs together.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from amble import checks
from amble.arrays import Array
from amble.comparison.design import AGREEMENT
from amble.comparison.paired_tests import t_test
from amble.comparison.resampling import bootstrap_test
from amble.comparison.systems import Differences, Systems, differences, pairs_of
from amble.comparison.tukey import dealt_ranges, range_p
from amble.errors import AmbleError

__all__ = ["TESTS", "all_pairs", "bootstrap_levels", "paired_t", "tukey_hsd"]


def paired_t(scores: Array) -> Array:
    """P-values of Student's paired t-test, two-sided, between all systems.

    Parameters
    ----------
    scores : ndarray
        Of shape (systems, topics); NaN where a topic was left out, and then it is left out of its system's pairs.

    Returns
    -------
    ndarray
        Of shape (systems, systems), symmetric, 1 on the diagonal, and where two systems share fewer than two topics.

    Examples
    --------
    >>> import numpy as np
    >>> from amble.metaevaluation.significance import paired_t
    >>> p = paired_t(np.array([[0.5, 0.4, 0.6], [0.3, 0.3, 0.3]]))  # differences .2 .1 .3: t = .2 / (.1 / √3) = 3.4641
    >>> round(float(p[0, 1]), 4)
    0.0742
    """

    def of_pairs(d: Differences) -> Array:
        enough = d._replace(n=np.maximum(d.n, 2))
        return np.where(d.n < 2, 1.0, t_test(enough, "two")[1])

    return _matrix(scores, of_pairs)


def bootstrap_levels(scores: Array, rounds: int = AGREEMENT.rounds, seed: int = AGREEMENT.seed) -> Array:
    """Achieved significance levels of the paired bootstrap test between all systems.

    The same topics drawn serve all pairs. A level is (1 + rounds at least as extreme) / (1 + rounds), never 0.
    """
    _complete(scores, "bootstrap")
    return _matrix(scores, lambda d: bootstrap_test(d, "two", rounds, seed)[1])


def tukey_hsd(scores: Array, rounds: int = AGREEMENT.rounds, seed: int = AGREEMENT.seed) -> Array:
    """P-values of the randomised Tukey HSD between all systems; (1 + rounds as extreme) / (1 + rounds)."""
    _complete(scores, "tukey")
    ranges = dealt_ranges(scores, rounds, seed, lambda done, total: None)
    return _matrix(scores, lambda d: np.where(d.mean == 0, 1.0, range_p(ranges, d.mean, 2 * d.unit)))


def _matrix(scores: Array, test: Callable[[Differences], Array]) -> Array:
    """The p-value of every system against every other."""
    count, topics = scores.shape
    out = np.ones((count, count))
    if count < 2:
        return out
    names = tuple(map(str, range(count)))
    known = ~np.isnan(scores)
    systems = Systems(names, names, tuple(map(str, range(topics))), "", scores, known, False, "skip")
    a, b = pairs_of(systems)
    for rows, d in differences(systems, a, b):
        out[a[rows], b[rows]] = out[b[rows], a[rows]] = test(d)
    return out


def _complete(scores: Array, test: str) -> None:
    if np.isnan(scores).any():
        raise AmbleError(
            f"test {test!r}: some systems lack topics; use missing='zero' and undefined='zero', or test 't'"
        )
    if scores.shape[1] < 2:
        raise AmbleError(f"found {scores.shape[1]} topic, expected at least 2 for a test")


TESTS: dict[str, Callable[[Array, int, int], Array]] = {
    "t": lambda scores, rounds, seed: paired_t(scores),
    "bootstrap": bootstrap_levels,
    "tukey": tukey_hsd,
}


def all_pairs(
    scores: Array, test: str = AGREEMENT.test, rounds: int = AGREEMENT.rounds, seed: int = AGREEMENT.seed
) -> Array:
    """P-values between all systems by one of `TESTS`."""
    checks.one_of(test, TESTS, "test")
    return TESTS[test](np.asarray(scores, np.float64), checks.whole(rounds, "rounds", most=None), seed)
