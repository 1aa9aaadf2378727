"""amble: rankings, judged by how people walk them.

The public names, nothing else; each room is entered when it is first used.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from amble.align import Rankings, align
    from amble.audit import Audit
    from amble.check import check
    from amble.compare import Anova, Comparison, Reasons, anova, compare, why
    from amble.curves import pr_curve
    from amble.cwl import cwl
    from amble.errors import AlignError, AmbleError, MeasureError, ReadError, SimulationWarning
    from amble.evaluate import Scores, evaluate
    from amble.law import Law
    from amble.laws import laws
    from amble.measures import Measure, measure, parse
    from amble.orders import PartialOrder, order_systems
    from amble.read import Qrels, Run, Runs, read_qrels, read_runs
    from amble.report import Page, plot, report
    from amble.simulate import simulate
    from amble.table import Table

# public name -> the room it lives in
_ROOMS = {
    "AlignError": "errors",
    "AmbleError": "errors",
    "Anova": "compare",
    "Audit": "audit",
    "Comparison": "compare",
    "Law": "law",
    "Measure": "measures",
    "MeasureError": "errors",
    "Page": "report",
    "PartialOrder": "orders",
    "Qrels": "read",
    "Rankings": "align",
    "ReadError": "errors",
    "Reasons": "compare",
    "Run": "read",
    "Runs": "read",
    "Scores": "evaluate",
    "SimulationWarning": "errors",
    "Table": "table",
    "align": "align",
    "anova": "compare",
    "check": "check",
    "compare": "compare",
    "cwl": "cwl",
    "evaluate": "evaluate",
    "laws": "laws",
    "measure": "measures",
    "order_systems": "orders",
    "parse": "measures",
    "plot": "report",
    "pr_curve": "curves",
    "read_qrels": "read",
    "read_runs": "read",
    "report": "report",
    "simulate": "simulate",
    "why": "compare",
}

_OPEN_ROOMS = frozenset(("errors", "measures", "meta", "read"))

__all__ = [
    "AlignError",
    "AmbleError",
    "Anova",
    "Audit",
    "Comparison",
    "Law",
    "Measure",
    "MeasureError",
    "Page",
    "PartialOrder",
    "Qrels",
    "Rankings",
    "ReadError",
    "Reasons",
    "Run",
    "Runs",
    "Scores",
    "SimulationWarning",
    "Table",
    "__version__",
    "align",
    "anova",
    "check",
    "compare",
    "cwl",
    "evaluate",
    "laws",
    "measure",
    "order_systems",
    "parse",
    "plot",
    "pr_curve",
    "read_qrels",
    "read_runs",
    "report",
    "simulate",
    "why",
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
