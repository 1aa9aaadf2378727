"""Measures: each is a user with a question, or a number computed from the whole list.

Every measure is here by its name, also those of one's own: ``from amble.measures import nDCG, RBP``, then ``nDCG @ 10``
and ``RBP(p=0.9)``. `parse` reads one from text; `measure` declares one; `REGISTRY` has all declarations.
"""

from __future__ import annotations

import importlib
from typing import Any

from amble.expressions.domains import Above, AtLeast, Between, GainTable, Numbers, OneOf, Optional, Switch, Whole
from amble.expressions.populations import Beta, Dirichlet, Gamma, Population, Uniform
from amble.measures import catalogue  # says which module declares a measure
from amble.measures.declaration import REGISTRY
from amble.measures.declaration import measure as _declaring
from amble.measures.gain_maps import binary, graded, satisfying, scaled
from amble.measures.list_measure import ListMeasure
from amble.measures.measure import Measure
from amble.measures.parsing import parse
from amble.rankings.lists import Gains, Lists
from amble.users.behaviour import Behaviour
from amble.users.effort import Effort
from amble.users.forward import Forward

measure = _declaring  # set last: a module imported above has this name, too

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

# names whose module is imported when they are first used
_MEASURES = {"Mixture": "mixture", "SessionGains": "session_measure", "SessionMeasure": "session_measure"}
_USERS = {
    "MarkovUser": "markov",
    "MarkovUserOnList": "markov",
    "SessionWalk": "session_user",
    "SessionWalkOnLists": "session_user",
    "Walk": "walk",
    "WalkOnList": "walk_on_list",
}


def __getattr__(name: str) -> Any:
    if name in REGISTRY:
        return parse(name)
    if name in _MEASURES:
        home = importlib.import_module(f"amble.measures.{_MEASURES[name]}")
    elif name in _USERS:
        home = importlib.import_module(f"amble.users.{_USERS[name]}")
    else:
        raise AttributeError(f"module 'amble.measures' has no attribute {name!r}")
    value = globals()[name] = getattr(home, name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MEASURES, *_USERS, *REGISTRY})
