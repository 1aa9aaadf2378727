"""Corrections for many tests at once: adjusted p-values, to be compared with one alpha.

Bonferroni and Holm keep the probability of any false finding below alpha; Benjamini and Hochberg (1995) keep the
expected share of false ones among the findings. Hochberg, Hommel and Benjamini-Yekutieli are statsmodels' (the extra
``stats``).
"""

from __future__ import annotations

import numpy as np

from amble import checks
from amble.arrays import Array, ArrayLike
from amble.comparison.design import CORRECTIONS
from amble.errors import AmbleError

__all__ = ["adjust"]

_THEIRS = {"hochberg": "simes-hochberg", "hommel": "hommel", "by": "fdr_by"}


def adjust(p: ArrayLike, correction: str) -> Array:
    """The adjusted p-values of one family of tests.

    >>> from amble.comparison.corrections import adjust
    >>> adjust([0.01, 0.04, 0.03], "holm")  # 3 x .01, then the larger of 2 x .03 and what came before, then of 1 x .04
    array([0.03, 0.06, 0.06])
    """
    checks.one_of(correction, CORRECTIONS, "correction")
    given = np.asarray(p, np.float64)
    m = given.size
    if correction == "none" or m == 0:
        return given.copy()
    if correction == "bonferroni":
        return np.minimum(given * m, 1.0)
    if correction in _THEIRS:
        return _by_statsmodels(given, correction)
    order = np.argsort(given, kind="stable")
    out = np.empty(m)
    if correction == "holm":  # step down: none may be less than a smaller one
        steps = given[order] * np.arange(m, 0, -1)
        out[order] = np.maximum.accumulate(steps)
    else:  # bh, step up: none may be more than a larger one
        steps = given[order] * (m / np.arange(1, m + 1))
        out[order] = np.minimum.accumulate(steps[::-1])[::-1]
    return np.minimum(out, 1.0)


def _by_statsmodels(p: Array, correction: str) -> Array:
    try:
        from statsmodels.stats.multitest import multipletests
    except ImportError:
        raise AmbleError(
            f"correction={correction!r} needs the extra: pip install 'amble-ir[stats]' (holm, bonferroni and bh do not)"
        ) from None
    return np.asarray(multipletests(p, method=_THEIRS[correction])[1], np.float64)
