"""Comparison of systems: significance tests, effect sizes, analysis of variance, and contributions of documents.

Two runs answered the same topics, so they are compared topic by topic. `compare` tests pairs of runs on one measure,
`anova` splits the variance of the scores, `why` gives the contribution of each document on one topic.
"""

from __future__ import annotations

from amble.comparison.comparison import Comparison
from amble.comparison.contributions import Contributions, why
from amble.comparison.pairwise import compare
from amble.comparison.variance import Anova, anova

__all__ = ["Anova", "Comparison", "Contributions", "anova", "compare", "why"]
