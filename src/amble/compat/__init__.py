"""Other programs' interfaces, on amble: one changed line of a pipeline that has them."""

from __future__ import annotations

from amble.compat import ir_measures, pytrec_eval

__all__ = ["ir_measures", "pytrec_eval"]
