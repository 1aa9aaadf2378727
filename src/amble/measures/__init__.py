"""Measures: each is a user and a question, or a number computed from the whole list.

`parse` reads one; `measure` declares one; `REGISTRY` holds them all.
"""

from __future__ import annotations

from amble.measures import classic, counting  # declare the built-in measures
from amble.measures.declare import REGISTRY, Measure, binary, graded, measure, parse, satisfying
from amble.measures.domains import Above, AtLeast, Between, GainTable, Numbers, OneOf, Optional, Switch, Whole
from amble.measures.gains import Gains, Lists
from amble.users.forward import Behaviour, Forward, Geometric

__all__ = [
    "REGISTRY",
    "Above",
    "AtLeast",
    "Behaviour",
    "Between",
    "Forward",
    "GainTable",
    "Gains",
    "Geometric",
    "Lists",
    "Measure",
    "Numbers",
    "OneOf",
    "Optional",
    "Switch",
    "Whole",
    "binary",
    "classic",
    "counting",
    "graded",
    "measure",
    "parse",
    "satisfying",
]
