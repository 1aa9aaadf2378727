"""Users: how people read a ranking, and what they gain until they stop.

* `Forward` walks down rank by rank and stops: declared by one of the C/W/L quantities (RBP, INST, AP, ERR …).
* `Walk` walks back and forth and stops: probabilities of going forward and back at each rank (PH …).
* `MarkovUser` goes from any rank to any other by a Markov chain (Markov Precision).
* `Chain` goes from any state to any other and stops: states show ranks, and some gain nothing (snippets, page turns).
* `DenseUser` is any other, by the transition probabilities between ranks.
* `SessionWalk` walks through the lists of a session, query by query.

`user.over(…)` puts a user on a list; what it returns knows the visits, the weights, the score and its distribution.
What a visit is worth is a `Utility`, what the gain is divided by an `Effort`, or the time that a `Timing` says.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from amble.users.chain import Chain
    from amble.users.dense import DenseUser
    from amble.users.effort import Effort
    from amble.users.forward import Forward
    from amble.users.markov import MarkovUser
    from amble.users.protocol import OnList, Question, Scorer, User
    from amble.users.session_user import SessionWalk
    from amble.users.timing import Timing
    from amble.users.utility import Utility
    from amble.users.walk import Walk

# each name is imported when it is first used: every module of amble that needs one user would wait for all of them
_HOMES = {
    "Chain": "chain",
    "DenseUser": "dense",
    "Effort": "effort",
    "Forward": "forward",
    "MarkovUser": "markov",
    "OnList": "protocol",
    "Question": "protocol",
    "Scorer": "protocol",
    "SessionWalk": "session_user",
    "Timing": "timing",
    "User": "protocol",
    "Utility": "utility",
    "Walk": "walk",
}

__all__ = [
    "Chain", "DenseUser", "Effort", "Forward", "MarkovUser", "OnList", "Question", "Scorer", "SessionWalk", "Timing",
    "User", "Utility", "Walk",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'amble.users' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"amble.users.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
