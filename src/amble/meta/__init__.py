"""Which measure to trust: rankings of systems correlated, significant differences agreed on, pools cut down."""

from amble.meta.agreement import Agreement, agreement
from amble.meta.correlation import kendall, rbo, spearman, tau_ap
from amble.meta.matrix import Correlations, correlations

__all__ = ["Agreement", "Correlations", "agreement", "correlations", "kendall", "rbo", "spearman", "tau_ap"]
