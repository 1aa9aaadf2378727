"""Click logs: user models fitted to what people did, for every measure to use.

`read_log` reads and counts; `fit` fits users to the counts, `fit_groups` to groups of them apart; `study_continuation`
asks when people go on; `amble.users.fit_file.write_fit` writes users to a file, `write_query_rates` times by query.
"""

from amble.logs.chain_fitting import STEPS
from amble.logs.counts import OBSERVATIONS, Counts, Facts
from amble.logs.dwell_times import holding_rates
from amble.logs.fitting import MODELS, Fit, against, fit
from amble.logs.group_fits import GroupFits, fit_groups
from amble.logs.moves_fitting import FittedChain, fit_chain
from amble.logs.query_rates import write_query_rates
from amble.logs.reading import LAYOUTS, read_actions, read_log
from amble.logs.study import Study, study_continuation

__all__ = [
    "LAYOUTS", "MODELS", "OBSERVATIONS", "STEPS", "Counts", "Facts", "Fit", "FittedChain", "GroupFits", "Study",
    "against", "fit", "fit_chain", "fit_groups", "holding_rates", "read_actions", "read_log", "study_continuation",
    "write_query_rates",
]  # fmt: skip
