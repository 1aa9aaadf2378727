"""Click logs: user models fitted to what people did, for every measure to use.

`read_log` reads and counts; `fit` fits users to the counts; `amble.users.fit_file.write_fit` writes them to a file.
"""

from amble.logs.chain_fitting import STEPS
from amble.logs.counts import OBSERVATIONS, Counts, Facts
from amble.logs.dwell_times import holding_rates
from amble.logs.fitting import MODELS, Fit, against, fit
from amble.logs.moves_fitting import FittedChain, fit_chain
from amble.logs.reading import LAYOUTS, read_log

__all__ = [
    "LAYOUTS",
    "MODELS",
    "OBSERVATIONS",
    "STEPS",
    "Counts",
    "Facts",
    "Fit",
    "FittedChain",
    "against",
    "fit",
    "fit_chain",
    "holding_rates",
    "read_log",
]
