"""Other programs' interfaces, on amble: one changed line of a pipeline that has them."""

from __future__ import annotations

from amble.compat import beir, ir_measures, pytrec_eval

__all__ = ["beir", "ir_measures", "pytrec_eval"]
