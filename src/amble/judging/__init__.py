"""Judging: pools, the order of judging, sheets for assessors, agreement between them."""

from amble.judging.assessor_agreement import agreement, cohen_kappa, krippendorff_alpha, overlap
from amble.judging.judging_cost import JudgingCost, simulate_judging
from amble.judging.judging_orders import ORDERS, Judging, order_pool
from amble.judging.pooling import Pool, pool, unique_relevant
from amble.judging.sheets import SheetJudgments, read_sheets, sheet

__all__ = [
    "ORDERS", "Judging", "JudgingCost", "Pool", "SheetJudgments", "agreement", "cohen_kappa", "krippendorff_alpha",
    "order_pool", "overlap", "pool", "read_sheets", "sheet", "simulate_judging", "unique_relevant",
]  # fmt: skip
