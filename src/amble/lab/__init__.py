"""The other half of an experiment: from a collection and topics to runs, pools, judgments, and runs fused."""

from amble.lab.assessors import agreement, cohen_kappa, krippendorff_alpha, overlap
from amble.lab.effort import Effort, judging_effort
from amble.lab.fusion import METHODS, NORMS, fuse
from amble.lab.orders import ORDERS, Judging, order_pool
from amble.lab.pool import Pool, pool
from amble.lab.sheets import Returned, read_sheets, sheet
from amble.lab.uniques import unique_relevant

__all__ = [
    "METHODS",
    "NORMS",
    "ORDERS",
    "Effort",
    "Judging",
    "Pool",
    "Returned",
    "agreement",
    "cohen_kappa",
    "fuse",
    "judging_effort",
    "krippendorff_alpha",
    "order_pool",
    "overlap",
    "pool",
    "read_sheets",
    "sheet",
    "unique_relevant",
]
