"""Comparison of systems: significance tests, effect sizes, analysis of variance, and contributions of documents.

Two runs answered the same topics, so they are compared topic by topic. `compare` tests pairs of runs on one measure,
`normality` asks whether their differences look normal, `anova` splits the variance of the scores, `why` gives the
contribution of each document on one topic or session.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from amble.comparison.comparison import Comparison
    from amble.comparison.contributions import Contributions, why
    from amble.comparison.group_differences import GroupDifferences
    from amble.comparison.normal_differences import Normality, normality
    from amble.comparison.pairwise import compare
    from amble.comparison.session_contributions import SessionContributions
    from amble.comparison.variance import Anova, anova

# each name is imported when it is first used: the command line reads the defaults of `design` and no more
_HOMES = {
    "Anova": "variance",
    "Comparison": "comparison",
    "Contributions": "contributions",
    "GroupDifferences": "group_differences",
    "Normality": "normal_differences",
    "SessionContributions": "session_contributions",
    "anova": "variance",
    "compare": "pairwise",
    "normality": "normal_differences",
    "why": "contributions",
}

__all__ = [
    "Anova",
    "Comparison",
    "Contributions",
    "GroupDifferences",
    "Normality",
    "SessionContributions",
    "anova",
    "compare",
    "normality",
    "why",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'amble.comparison' has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(f"amble.comparison.{_HOMES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
