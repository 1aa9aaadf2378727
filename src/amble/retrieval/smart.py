"""SMART's notation for weights: three letters for documents, three for queries, as ``lnc.ltc``.

* How often a term stands there (tf): ``n`` the count, ``l`` 1 + log tf, ``a`` 0.5 + 0.5 tf / largest tf, ``b`` 1,
  ``L`` (1 + log tf) / (1 + log of the mean tf).
* How rare it is (N documents, df of them with it): ``n`` 1, ``t`` log(N / df), ``p`` max(0, log((N - df) / df)), and,
  not of SMART, ``s`` 1 + log((1 + N) / (1 + df)), as scikit-learn smooths it.
* Length: ``n`` nothing, ``c`` divided by the root of the sum of squares.

Salton and Buckley (1988); Manning, Raghavan and Schütze (2008), section 6.4.3.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

__all__ = ["Letters", "Tallies", "parse_smart"]

Floats = np.ndarray[Any, np.dtype[np.float64]]

_TF, _DF, _NORM = "nlabL", "ntps", "nc"


class Tallies(NamedTuple):
    """Of each bag (a document or a query): its largest tf, and its mean tf."""

    largest: Floats
    mean: Floats


class Letters(NamedTuple):
    """Three letters."""

    tf: str
    df: str
    norm: str

    def frequency(self, tf: Floats, bag: Any, tallies: Tallies, log: float) -> Floats:
        """Weigh how often terms stand in bags; ``log`` is the logarithm of the base."""
        if self.tf == "n":
            return tf.astype(float)
        if self.tf == "b":
            return np.ones(len(tf))
        if self.tf == "a":
            return np.asarray(0.5 + 0.5 * tf / tallies.largest[bag])
        weight: Floats = 1 + np.log(tf) / log
        return weight / (1 + np.log(tallies.mean[bag]) / log) if self.tf == "L" else weight

    def rarity(self, df: Floats, documents: int, log: float) -> Floats:
        """Weigh how rare terms are."""
        if self.df == "n":
            return np.ones(len(df))
        if self.df == "t":
            return np.log(documents / df) / log
        if self.df == "s":
            return 1 + np.log((1 + documents) / (1 + df)) / log
        return np.log(np.maximum(documents - df, df) / df) / log

    @property
    def normalised(self) -> bool:
        """Whether lengths are made equal."""
        return self.norm == "c"


def parse_smart(text: Any) -> tuple[Letters, Letters]:
    """Read six letters with a dot between; ValueError for any other.

    >>> parse_smart("lnc.ltc")
    (Letters(tf='l', df='n', norm='c'), Letters(tf='l', df='t', norm='c'))
    """
    if not isinstance(text, str) or len(text) != 7 or text[3] != ".":
        raise ValueError
    for three in (text[:3], text[4:]):
        if not (three[0] in _TF and three[1] in _DF and three[2] in _NORM):
            raise ValueError
    return Letters(*text[:3]), Letters(*text[4:])
