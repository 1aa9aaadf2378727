"""Compare systems: is one better than another, by how much, and which documents make the difference.

Two runs answered the same topics, so they are compared topic by topic. `compare` tests pairs of runs on one measure,
`anova` splits the variance of the scores, `why` looks into one topic.
"""

from __future__ import annotations

from amble.comparison.comparison import Comparison
from amble.comparison.contributions import Reasons, why
from amble.comparison.pairwise import compare
from amble.comparison.variance import Anova, anova

__all__ = ["Anova", "Comparison", "Reasons", "anova", "compare", "why"]
