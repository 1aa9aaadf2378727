"""amble: rankings, judged by how people walk them.

The public names and the module of each; a module is imported when one of its names is first used.
"""

from __future__ import annotations

import os
import sys

# At the start of a command, Ctrl-C ends it without a traceback; `cli.main` restores the handler.
if os.path.basename(sys.argv[0] if sys.argv else "") in ("amble", "amble-ir") or (
    sys.argv[:1] == ["-m"] and sys.orig_argv[-len(sys.argv)] == "amble"
):
    import _signal  # type: ignore[import-not-found]  # builtin, and quicker than signal

    def _stop(*_: object) -> None:
        os.write(2, b"amble: stopped\n")
        os._exit(130)

    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, _stop)

import importlib
from typing import Any

__version__ = "0.2.0.dev0"

# module: its public names; modules without a dot are public themselves
_PUBLIC = {
    "compat": "",
    "comparison": "Anova Comparison Contributions GroupDifferences SessionContributions anova compare why",
    "distributions.distribution": "Distribution",
    "distributions.partial_order": "PartialOrder order_systems",
    "errors": "AlignError AmbleError AmbleWarning ClusterLostError MeasureError NormalisedWarning ReadError "
    "SimulationWarning UnjudgedWarning",
    "evaluation.curves": "pr_curve",
    "evaluation.cwl_report": "cwl",
    "evaluation.evaluator": "Evaluator",
    "evaluation.exposure_scores": "Exposure exposure",
    "evaluation.fitted_intervals": "FittedIntervals fitted_intervals",
    "evaluation.intent_scores": "by_intent",
    "evaluation.run_distributions": "run_distributions",
    "evaluation.scores": "Scores evaluate",
    "evaluation.simulated_distributions": "simulate",
    "fusion": "fuse",
    "io.trec": "Qrels Run Runs read_qrels read_runs",
    "judging": "Pool pool",
    "logs": "",
    "measures": "Measure Mixture measure parse",
    "metaevaluation": "",
    "parallel": "Workers",
    "rankings.alignment": "Rankings align",
    "rankings.audit": "Audit",
    "rankings.score_arrays": "from_arrays",
    "reporting": "Page plot report",
    "retrieval": "",
    "retrieval.explanation": "explain",
    "retrieval.inverted_index": "Index index open_index",
    "retrieval.search": "Hits search",
    "retrieval.topics": "read_rel read_topics",
    "sessions": "Sessions read_sessions",
    "table": "Table",
    "users": "",
    "users.fit_file": "read_fit write_fit",
    "users.fitted": "Fitted",
    "validation": "check",
}
_HOMES = {name: home for home, names in _PUBLIC.items() for name in names.split()}
_MODULES = [home for home in _PUBLIC if "." not in home]

__all__ = sorted([*_HOMES, "__version__"])


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"amble.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'amble' has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(f"amble.{_HOMES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *_MODULES, *(name for name in globals() if name.startswith("__"))})
