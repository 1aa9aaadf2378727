"""Measures: each is a user and a question, or a number computed from the whole list.

`parse` reads one; `measure` declares one; `REGISTRY` holds them all.
"""

from __future__ import annotations

from amble.measures import (  # declare the built-in measures
    classic,
    counting,
    cwl,
    grading,
    markov,
    novelty,
    paths,
    session,
    stochastic,
)
from amble.measures.asking import Measure
from amble.measures.asking_sessions import SessionGains, SessionMeasure
from amble.measures.declare import REGISTRY, measure
from amble.measures.domains import Above, AtLeast, Between, GainTable, Numbers, OneOf, Optional, Switch, Whole
from amble.measures.gainmaps import binary, graded, satisfying, scaled
from amble.measures.gains import Gains, Lists
from amble.measures.naming import parse
from amble.users.effort import Effort
from amble.users.forward import Behaviour, Forward
from amble.users.session import SessionStroll, SessionWalk
from amble.users.stroll import Stroll
from amble.users.utility import Utility
from amble.users.walk import Walk
from amble.users.wander import Wander, Wandering

__all__ = [
    "REGISTRY",
    "Above",
    "AtLeast",
    "Behaviour",
    "Between",
    "Effort",
    "Forward",
    "GainTable",
    "Gains",
    "Lists",
    "Measure",
    "Numbers",
    "OneOf",
    "Optional",
    "SessionGains",
    "SessionMeasure",
    "SessionStroll",
    "SessionWalk",
    "Stroll",
    "Switch",
    "Utility",
    "Walk",
    "Wander",
    "Wandering",
    "Whole",
    "binary",
    "classic",
    "counting",
    "cwl",
    "graded",
    "grading",
    "markov",
    "measure",
    "novelty",
    "parse",
    "paths",
    "satisfying",
    "scaled",
    "session",
    "stochastic",
]
