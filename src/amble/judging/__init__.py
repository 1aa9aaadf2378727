"""Judging: pools, the order of judging, sheets for assessors, agreement between them."""

from amble.judging.assessor_agreement import agreement, cohen_kappa, krippendorff_alpha, overlap
from amble.judging.judging_cost import Effort, judging_effort
from amble.judging.judging_orders import ORDERS, Judging, order_pool
from amble.judging.pooling import Pool, pool
from amble.judging.sheets import Returned, read_sheets, sheet
from amble.judging.unique_documents import unique_relevant

__all__ = [
    "ORDERS",
    "Effort",
    "Judging",
    "Pool",
    "Returned",
    "agreement",
    "cohen_kappa",
    "judging_effort",
    "krippendorff_alpha",
    "order_pool",
    "overlap",
    "pool",
    "read_sheets",
    "sheet",
    "unique_relevant",
]
