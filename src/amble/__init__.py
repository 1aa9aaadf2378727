"""amble: rankings, judged by how people walk them.

The public names, nothing else; each room is entered when it is first used.
"""

from __future__ import annotations

import os
import sys

# Run as a command that has not begun: Ctrl-C ends it without a traceback; `cli.main` takes the handler away.
if os.path.basename(sys.argv[0] if sys.argv else "") == "amble" or (
    sys.argv[:1] == ["-m"] and sys.orig_argv[-len(sys.argv)] == "amble"
):
    import _signal  # type: ignore[import-not-found]  # builtin, and quicker than signal

    def _stop(*_: object) -> None:
        os.write(2, b"amble: stopped\n")
        os._exit(130)

    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, _stop)

import importlib
from types import ModuleType
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0.dev0"

if TYPE_CHECKING:
    from amble.align import Rankings, align
    from amble.audit import Audit
    from amble.check import check
    from amble.compare import Anova, Comparison, Reasons, anova, compare, why
    from amble.curves import pr_curve
    from amble.cwl import cwl
    from amble.errors import (
        AlignError,
        AmbleError,
        MeasureError,
        NormalisedWarning,
        ReadError,
        SimulationWarning,
        UnjudgedWarning,
    )
    from amble.evaluate import Scores, evaluate
    from amble.lab.explain import explain
    from amble.lab.fusion import fuse
    from amble.lab.index import Index, index, open_index
    from amble.lab.pool import Pool, pool
    from amble.lab.search import Hits, search
    from amble.lab.topics import read_rel, read_topics
    from amble.law import Law
    from amble.laws import laws
    from amble.measures import Measure, measure, parse
    from amble.orders import PartialOrder, order_systems
    from amble.read import Qrels, Run, Runs, read_qrels, read_runs
    from amble.report import Page, plot, report
    from amble.sessions import Sessions, read_sessions
    from amble.simulate import simulate
    from amble.table import Table
    from amble.uncertainty import FittedIntervals, fitted_intervals
    from amble.users.fit_file import read_fit, write_fit
    from amble.users.fitted import Fitted

# public name -> the room it lives in
_ROOMS = {
    "AlignError": "errors",
    "AmbleError": "errors",
    "Anova": "compare",
    "Audit": "audit",
    "Comparison": "compare",
    "Hits": "lab.search",
    "Index": "lab.index",
    "Fitted": "users.fitted",
    "FittedIntervals": "uncertainty",
    "Law": "law",
    "Measure": "measures",
    "MeasureError": "errors",
    "NormalisedWarning": "errors",
    "Page": "report",
    "PartialOrder": "orders",
    "Pool": "lab",
    "Qrels": "read",
    "Rankings": "align",
    "ReadError": "errors",
    "Reasons": "compare",
    "Run": "read",
    "Runs": "read",
    "Scores": "evaluate",
    "Sessions": "sessions",
    "SimulationWarning": "errors",
    "UnjudgedWarning": "errors",
    "Table": "table",
    "align": "align",
    "anova": "compare",
    "check": "check",
    "compare": "compare",
    "cwl": "cwl",
    "evaluate": "evaluate",
    "explain": "lab.explain",
    "index": "lab.index",
    "fuse": "lab",
    "fitted_intervals": "uncertainty",
    "laws": "laws",
    "measure": "measures",
    "open_index": "lab.index",
    "order_systems": "orders",
    "parse": "measures",
    "pool": "lab",
    "plot": "report",
    "pr_curve": "curves",
    "read_fit": "users.fit_file",
    "read_qrels": "read",
    "read_rel": "lab.topics",
    "read_runs": "read",
    "read_sessions": "sessions",
    "read_topics": "lab.topics",
    "search": "lab.search",
    "report": "report",
    "simulate": "simulate",
    "why": "compare",
    "write_fit": "users.fit_file",
}

_OPEN_ROOMS = frozenset(("errors", "lab", "logs", "measures", "meta", "read"))

__all__ = [
    "AlignError",
    "AmbleError",
    "Anova",
    "Audit",
    "Comparison",
    "Fitted",
    "FittedIntervals",
    "Hits",
    "Index",
    "Law",
    "Measure",
    "MeasureError",
    "NormalisedWarning",
    "Page",
    "PartialOrder",
    "Pool",
    "Qrels",
    "Rankings",
    "ReadError",
    "Reasons",
    "Run",
    "Runs",
    "Scores",
    "Sessions",
    "SimulationWarning",
    "Table",
    "UnjudgedWarning",
    "__version__",
    "align",
    "anova",
    "check",
    "compare",
    "cwl",
    "evaluate",
    "explain",
    "fitted_intervals",
    "fuse",
    "index",
    "laws",
    "measure",
    "open_index",
    "order_systems",
    "parse",
    "plot",
    "pool",
    "pr_curve",
    "read_fit",
    "read_qrels",
    "read_rel",
    "read_runs",
    "read_sessions",
    "read_topics",
    "report",
    "search",
    "simulate",
    "why",
    "write_fit",
]


class _Package(ModuleType):
    """A package whose functions may share the name of their room: importing the room does not hide them."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _ROOMS and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    room = _ROOMS.get(name, name)
    if name.startswith("_") or (name not in _ROOMS and name not in _OPEN_ROOMS):
        raise AttributeError(f"module 'amble' has no attribute {name!r}")
    module = importlib.import_module(f"amble.{room}")
    value = getattr(module, name) if name in _ROOMS else module
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
