"""Measures: each is a user with a question, or a number computed from the whole list.

Every measure is here by its name, also those of one's own: ``from amble.measures import nDCG, RBP``, then ``nDCG @ 10``
and ``RBP(p=0.9)``. `parse` reads one from text; `measure` declares one; `REGISTRY` has all declarations.
"""

from __future__ import annotations

from typing import Any

from amble.expressions.domains import Above, AtLeast, Between, GainTable, Numbers, OneOf, Optional, Switch, Whole
from amble.expressions.populations import Beta, Dirichlet, Gamma, Population, Uniform
from amble.measures import catalogue  # declares the measures
from amble.measures.declaration import REGISTRY, measure
from amble.measures.gain_maps import binary, graded, satisfying, scaled
from amble.measures.list_measure import ListMeasure
from amble.measures.measure import Measure
from amble.measures.mixture import Mixture
from amble.measures.parsing import parse
from amble.measures.session_measure import SessionGains, SessionMeasure
from amble.rankings.lists import Gains, Lists
from amble.users.behaviour import Behaviour
from amble.users.effort import Effort
from amble.users.forward import Forward
from amble.users.markov import MarkovUser, MarkovUserOnList
from amble.users.session_user import SessionWalk, SessionWalkOnLists
from amble.users.walk import Walk
from amble.users.walk_on_list import WalkOnList

__all__ = [
    "REGISTRY",
    "Above",
    "AtLeast",
    "Behaviour",
    "Beta",
    "Between",
    "Dirichlet",
    "Effort",
    "Forward",
    "GainTable",
    "Gains",
    "Gamma",
    "ListMeasure",
    "Lists",
    "MarkovUser",
    "MarkovUserOnList",
    "Measure",
    "Mixture",
    "Numbers",
    "OneOf",
    "Optional",
    "Population",
    "SessionGains",
    "SessionMeasure",
    "SessionWalk",
    "SessionWalkOnLists",
    "Switch",
    "Uniform",
    "Walk",
    "WalkOnList",
    "Whole",
    "binary",
    "catalogue",
    "graded",
    "measure",
    "parse",
    "satisfying",
    "scaled",
    *REGISTRY,
]


def __getattr__(name: str) -> Any:
    if name not in REGISTRY:
        raise AttributeError(f"module 'amble.measures' has no attribute {name!r}")
    return parse(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *REGISTRY})
