# made by docs/make_stub.py from the table of public names in __init__.py: change that, not this file

from amble import comparison as comparison
from amble import compat as compat
from amble import errors as errors
from amble import fusion as fusion
from amble import judging as judging
from amble import logs as logs
from amble import measures as measures
from amble import metaevaluation as metaevaluation
from amble import parallel as parallel
from amble import reporting as reporting
from amble import retrieval as retrieval
from amble import sessions as sessions
from amble import table as table
from amble import users as users
from amble import validation as validation
from amble.comparison import Anova as Anova
from amble.comparison import Comparison as Comparison
from amble.comparison import Contributions as Contributions
from amble.comparison import GroupDifferences as GroupDifferences
from amble.comparison import SessionContributions as SessionContributions
from amble.comparison import anova as anova
from amble.comparison import compare as compare
from amble.comparison import why as why
from amble.distributions.distribution import Distribution as Distribution
from amble.distributions.partial_order import PartialOrder as PartialOrder
from amble.distributions.partial_order import order_systems as order_systems
from amble.errors import AlignError as AlignError
from amble.errors import AmbleError as AmbleError
from amble.errors import AmbleWarning as AmbleWarning
from amble.errors import ClusterLostError as ClusterLostError
from amble.errors import MeasureError as MeasureError
from amble.errors import NormalisedWarning as NormalisedWarning
from amble.errors import ReadError as ReadError
from amble.errors import SimulationWarning as SimulationWarning
from amble.errors import UnjudgedWarning as UnjudgedWarning
from amble.evaluation.curves import pr_curve as pr_curve
from amble.evaluation.cwl_report import cwl as cwl
from amble.evaluation.evaluator import Evaluator as Evaluator
from amble.evaluation.exposure_scores import Exposure as Exposure
from amble.evaluation.exposure_scores import exposure as exposure
from amble.evaluation.fitted_intervals import FittedIntervals as FittedIntervals
from amble.evaluation.fitted_intervals import fitted_intervals as fitted_intervals
from amble.evaluation.intent_scores import by_intent as by_intent
from amble.evaluation.run_distributions import run_distributions as run_distributions
from amble.evaluation.scores import Scores as Scores
from amble.evaluation.scores import evaluate as evaluate
from amble.evaluation.simulated_distributions import simulate as simulate
from amble.fusion import fuse as fuse
from amble.io.trec import Qrels as Qrels
from amble.io.trec import Run as Run
from amble.io.trec import Runs as Runs
from amble.io.trec import read_qrels as read_qrels
from amble.io.trec import read_runs as read_runs
from amble.judging import Pool as Pool
from amble.judging import pool as pool
from amble.measures import Measure as Measure
from amble.measures import Mixture as Mixture
from amble.measures import measure as measure
from amble.measures import parse as parse
from amble.parallel import Workers as Workers
from amble.rankings.alignment import Rankings as Rankings
from amble.rankings.alignment import align as align
from amble.rankings.audit import Audit as Audit
from amble.rankings.score_arrays import from_arrays as from_arrays
from amble.reporting import Page as Page
from amble.reporting import plot as plot
from amble.reporting import report as report
from amble.retrieval.explanation import explain as explain
from amble.retrieval.inverted_index import Index as Index
from amble.retrieval.inverted_index import index as index
from amble.retrieval.inverted_index import open_index as open_index
from amble.retrieval.search import Hits as Hits
from amble.retrieval.search import search as search
from amble.retrieval.topics import read_rel as read_rel
from amble.retrieval.topics import read_topics as read_topics
from amble.sessions import Sessions as Sessions
from amble.sessions import read_sessions as read_sessions
from amble.table import Table as Table
from amble.users.fit_file import read_fit as read_fit
from amble.users.fit_file import write_fit as write_fit
from amble.users.fitted import Fitted as Fitted
from amble.validation import check as check

__version__: str

__all__ = [
    "AlignError",
    "AmbleError",
    "AmbleWarning",
    "Anova",
    "Audit",
    "ClusterLostError",
    "Comparison",
    "Contributions",
    "Distribution",
    "Evaluator",
    "Exposure",
    "Fitted",
    "FittedIntervals",
    "GroupDifferences",
    "Hits",
    "Index",
    "Measure",
    "MeasureError",
    "Mixture",
    "NormalisedWarning",
    "Page",
    "PartialOrder",
    "Pool",
    "Qrels",
    "Rankings",
    "ReadError",
    "Run",
    "Runs",
    "Scores",
    "SessionContributions",
    "Sessions",
    "SimulationWarning",
    "Table",
    "UnjudgedWarning",
    "Workers",
    "__version__",
    "align",
    "anova",
    "by_intent",
    "check",
    "compare",
    "cwl",
    "evaluate",
    "explain",
    "exposure",
    "fitted_intervals",
    "from_arrays",
    "fuse",
    "index",
    "measure",
    "open_index",
    "order_systems",
    "parse",
    "plot",
    "pool",
    "pr_curve",
    "read_fit",
    "read_qrels",
    "read_rel",
    "read_runs",
    "read_sessions",
    "read_topics",
    "report",
    "run_distributions",
    "search",
    "simulate",
    "why",
    "write_fit",
]
