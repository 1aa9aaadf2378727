"""Which measure to trust: rankings of systems correlated, significant differences agreed on, pools cut down."""

from amble.meta.agreement import Agreement, agreement
from amble.meta.correlation import kendall, rbo, spearman, tau_ap
from amble.meta.matrix import Correlations, correlations
from amble.meta.pools import depth_pool, groups_by_prefix, judge_again, sampled_pools, without_group
from amble.meta.power import Power, discriminative_power
from amble.meta.robustness import LeftOut, PoolEffect, leave_out, pool_effect
from amble.meta.sizes import topics_for_interval, topics_for_power, topics_needed
from amble.meta.swaps import Swaps, swap_rates

__all__ = [
    "Agreement",
    "Correlations",
    "LeftOut",
    "PoolEffect",
    "Power",
    "Swaps",
    "agreement",
    "correlations",
    "depth_pool",
    "discriminative_power",
    "groups_by_prefix",
    "judge_again",
    "kendall",
    "leave_out",
    "pool_effect",
    "rbo",
    "sampled_pools",
    "spearman",
    "swap_rates",
    "tau_ap",
    "topics_for_interval",
    "topics_for_power",
    "topics_needed",
    "without_group",
]
