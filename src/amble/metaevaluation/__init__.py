"""Meta-evaluation of measures: correlation of rankings and with satisfaction, agreement, power, swaps, degradation …"""

from amble.metaevaluation.correlation import kendall, rbo, spearman, tau_ap
from amble.metaevaluation.correlation_matrix import Correlations, correlations
from amble.metaevaluation.degraded_runs import Degradation, degradation, degrade
from amble.metaevaluation.discrimination import Power, discriminative_power
from amble.metaevaluation.label_correlation import (
    Satisfaction,
    read_labels,
    read_scores,
    satisfaction,
    steiger,
    williams,
)
from amble.metaevaluation.measure_agreement import Agreement, agreement
from amble.metaevaluation.reduced_pools import depth_pool, groups_by_prefix, judge_again, sampled_pools, without_group
from amble.metaevaluation.robustness import LeftOut, PoolEffect, leave_out, pool_effect
from amble.metaevaluation.swaps import Swaps, swap_rates
from amble.metaevaluation.topic_set_sizes import topics_for_interval, topics_for_power, topics_needed

__all__ = [
    "Agreement", "Correlations", "Degradation", "LeftOut", "PoolEffect", "Power", "Satisfaction", "Swaps", "agreement",
    "correlations", "degradation", "degrade", "depth_pool", "discriminative_power", "groups_by_prefix", "judge_again",
    "kendall", "leave_out", "pool_effect", "rbo", "read_labels", "read_scores", "sampled_pools", "satisfaction",
    "spearman", "steiger", "swap_rates", "tau_ap", "topics_for_interval", "topics_for_power", "topics_needed",
    "williams", "without_group",
]  # fmt: skip
