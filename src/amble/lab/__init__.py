"""The lab: pools of runs, the order in which to judge them, sheets for assessors, their agreement, and runs fused."""

from amble.lab.effort import Effort, judging_effort
from amble.lab.orders import ORDERS, Judging, order_pool
from amble.lab.pool import Pool, pool

__all__ = ["ORDERS", "Effort", "Judging", "Pool", "judging_effort", "order_pool", "pool"]
