"""Measures: each is a user with a question, or a number computed from the whole list.

`parse` reads one; `measure` declares one; `REGISTRY` has all of them.
"""

from __future__ import annotations

from amble.expressions.domains import Above, AtLeast, Between, GainTable, Numbers, OneOf, Optional, Switch, Whole
from amble.measures import catalogue  # declares the measures
from amble.measures.declaration import REGISTRY, measure
from amble.measures.gain_maps import binary, graded, satisfying, scaled
from amble.measures.list_measure import ListMeasure
from amble.measures.measure import Measure
from amble.measures.parsing import parse
from amble.measures.session_measure import SessionGains, SessionMeasure
from amble.rankings.lists import Gains, Lists
from amble.users.behaviour import Behaviour
from amble.users.dense import DenseUser
from amble.users.effort import Effort
from amble.users.forward import Forward
from amble.users.markov import MarkovUser, MarkovUserOnList
from amble.users.session_user import SessionWalk, SessionWalkOnLists
from amble.users.utility import Utility
from amble.users.walk import Walk
from amble.users.walk_on_list import WalkOnList

__all__ = [
    "REGISTRY",
    "Above",
    "AtLeast",
    "Behaviour",
    "Between",
    "DenseUser",
    "Effort",
    "Forward",
    "GainTable",
    "Gains",
    "ListMeasure",
    "Lists",
    "MarkovUser",
    "MarkovUserOnList",
    "Measure",
    "Numbers",
    "OneOf",
    "Optional",
    "SessionGains",
    "SessionMeasure",
    "SessionWalk",
    "SessionWalkOnLists",
    "Switch",
    "Utility",
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
]
