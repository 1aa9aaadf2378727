"""Which measure to trust: how measures rank systems, which differences they find, what missing judgments do to them.

amble meta tau       qrels.txt *.run -m AP nDCG@10 RR     # correlation of their rankings of the runs
amble meta agreement qrels.txt *.run -m AP nDCG@10 RR     # do they find the same significant differences?
amble meta power     qrels.txt *.run --test tukey         # between how many pairs of runs does each find a difference?
amble meta swaps     qrels.txt *.run                      # how often would other topics reverse a comparison?
amble meta pool      qrels.txt *.run --plot pool.svg      # scores and rankings with fewer judgments
amble meta topics    qrels.txt *.run                      # how many topics does an experiment need?
"""

from __future__ import annotations

import argparse
import os
from typing import Any

from amble.cli.options import (
    FORMATS,
    SEED,
    SHARE,
    add_alignment,
    add_inputs,
    add_scored,
    add_threads,
    add_undefined,
    add_workers,
    alignment_of,
    measures_of,
    number,
    prepare,
    read_groups,
    read_numbers,
    whole,
    workers_from,
)
from amble.cli.output import note, provenance, write
from amble.cli.plugins import load_plugins
from amble.comparison.design import AGREEMENT, CONFIDENCE, POWER
from amble.errors import AmbleError

__all__ = ["arguments", "prepare", "run"]

# which analysis an option belongs to; those not named here go with all of them
_OF = {
    "statistic": ("tau",),
    "resample": ("tau",),
    "matrix": ("tau",),
    "confidence": ("tau", "pool", "topics"),
    "test": ("agreement", "power"),
    "alpha": ("agreement", "power", "topics"),
    "max_rate": ("swaps",),
    "rounds": ("tau", "agreement", "power", "swaps", "pool"),
    "curve": ("power", "swaps"),
    "sizes": ("swaps",),
    "bin_width": ("swaps",),
    "rates": ("pool",),
    "pool_depths": ("pool",),
    "groups": ("pool",),
    "group_depth": ("pool",),
    "differences": ("topics",),
    "widths": ("topics",),
    "power": ("topics",),
}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    add = parser.add_argument
    add("analysis", metavar="ANALYSIS", choices=tuple(_ANALYSES), help=", ".join(_ANALYSES))
    add_inputs(add)
    add("-m", "--measure", metavar="MEASURE", action="append", help="the measures to compare (default: those of eval)")
    add("--rel", type=number(0), metavar="GRADE", help="the least grade that is relevant (trec_eval -l)")
    add_alignment(add)
    add_undefined(add)
    add_threads(add, "read and compute")
    add_workers(add)
    add("--statistic", choices=("tau", "tau_ap", "rho", "rbo"), help="tau: the correlation (default: tau, Kendall's b)")
    add(
        "--resample",
        choices=("topics", "systems", "both", "none"),
        help="tau: for the confidence intervals (default: topics)",
    )
    add(
        "--matrix",
        action="store_true",
        default=None,
        help="tau: one row and one column per measure, without confidence intervals",
    )
    intervals = f"tau, pool, topics: of the confidence intervals (default: {CONFIDENCE})"
    add("--confidence", type=SHARE, metavar="C", help=intervals)
    tests = f"agreement (default: {AGREEMENT.test}), power (default: {POWER.test})"
    add("--test", choices=("t", "bootstrap", "tukey"), help=tests)
    level = f"agreement, power, topics: the level of tests (default: {POWER.alpha})"
    add("--alpha", type=SHARE, metavar="A", help=level)
    add("--max-rate", type=SHARE, metavar="R", help="swaps: the swap rate not to exceed (default: 0.05)")
    add("--rounds", type=whole(), metavar="N", help=f"of resampling (default: {POWER.rounds}; swaps 100, pool 30)")
    add(
        "--curve",
        action="store_true",
        default=None,
        help="power, swaps: the whole curve instead of one row per measure",
    )
    add("--sizes", metavar="N,N,…", help="swaps: topics in a set (default: up to half of them)")
    add("--bin-width", type=number(0, above=True), metavar="W", help="swaps: of bins of differences (default: 0.01)")
    add("--rates", metavar="R,R,…", help="pool: shares of judgments to keep (default: 0.9,0.7,0.5,0.3,0.1)")
    add("--pool-depths", metavar="K,K,…", help="pool: instead, keep what some run ranks K or higher")
    add("--groups", metavar="N|FILE", help="pool: instead, leave out a group of runs at a time")
    add("--group-depth", type=whole(), metavar="K", help="with --groups: how deep runs were pooled (default: 100)")
    add("--differences", metavar="D,D,…", help="topics: differences to find (default: 0.02,0.05,0.1)")
    add("--widths", metavar="W,W,…", help="topics: widths of confidence intervals (default: 0.05,0.1)")
    add("--power", type=SHARE, metavar="P", help="topics: the probability to find a difference (default: 0.8)")
    add("--seed", type=SEED, default=0, metavar="S", help="same seed, same answer (default: %(default)s)")
    add("--plot", metavar="FILE", help="a chart: .svg, .png, .pdf or .html")
    add("--format", choices=FORMATS, default="table", help="how to write it (default: %(default)s)")
    add_scored(add)
    parser.set_defaults(trec=False, cwl=False)


def _options(args: argparse.Namespace, **names: str) -> dict[str, Any]:
    """The options that were given, by the names of the functions' parameters."""
    return {ours: getattr(args, theirs) for theirs, ours in names.items() if getattr(args, theirs) is not None}


def _tau(scores: Any, args: argparse.Namespace, **common: Any) -> tuple[Any, Any]:
    from amble.metaevaluation import correlations
    from amble.reporting.charts.line_charts import square_chart

    options = _options(args, statistic="statistic", resample="resample", confidence="confidence", rounds="rounds")
    if options.get("resample") == "none" or args.matrix:
        options["resample"] = None
    found = correlations(scores, **options, **common)
    table = found.matrix(digits=args.digits) if args.matrix else found.table(digits=args.digits)
    return table, lambda: square_chart(found.measures, found.values, f"{found.statistic} of rankings of runs")


def _agreement(scores: Any, args: argparse.Namespace, **common: Any) -> tuple[Any, Any]:
    from amble.metaevaluation import agreement
    from amble.reporting.charts.line_charts import square_chart

    found = agreement(scores, **_options(args, test="test", alpha="alpha", rounds="rounds"), **common)
    title = "class agreement on significance, 2 SSA / (2 SSA + SN + NS)"
    return found.table(digits=args.digits), lambda: square_chart(found.measures, found.significant, title)


def _power(scores: Any, args: argparse.Namespace, **common: Any) -> tuple[Any, Any]:
    from amble.metaevaluation import discriminative_power
    from amble.reporting.charts.line_charts import Panel, lines_chart

    found = discriminative_power(scores, **_options(args, test="test", alpha="alpha", rounds="rounds"), **common)
    table = found.curve(digits=args.digits) if args.curve else found.table(digits=args.digits)
    title = "pairs of runs, sorted by level"
    panels = [Panel(f"achieved significance level ({found.test})", "level")]
    return table, lambda: lines_chart(found.curve(), "pair", panels, title=title)


def _swaps(scores: Any, args: argparse.Namespace, **common: Any) -> tuple[Any, Any]:
    from amble.metaevaluation import swap_rates
    from amble.reporting.charts.line_charts import Panel, lines_chart

    options = _options(args, rounds="rounds", bin_width="width")
    if args.sizes is not None:
        options["sizes"] = read_numbers(args.sizes, "--sizes", int)
    found = swap_rates(scores, **options, **common)
    rate = _options(args, max_rate="max_rate")
    table = found.curve(digits=args.digits) if args.curve else found.table(**rate, digits=args.digits)
    panels = [Panel(f"swap rate, sets of {n} topics", "swap rate", rows=("topics", n)) for n in found.sizes[-3:]]
    return table, lambda: lines_chart(found.curve(), "difference", panels, title="difference of means")


def _topics(scores: Any, args: argparse.Namespace, **_: Any) -> tuple[Any, Any]:
    from amble.metaevaluation import topics_needed
    from amble.reporting.charts.line_charts import Panel, lines_chart

    options = _options(args, alpha="alpha", confidence="confidence", power="power")
    for name in ("differences", "widths"):
        if getattr(args, name) is not None:
            options[name] = read_numbers(getattr(args, name), f"--{name}", float)
    table = topics_needed(scores, digits=args.digits, **options)

    def chart() -> Any:
        grid = [i / 100 for i in range(2, 21)]
        fine = topics_needed(scores, **{**options, "differences": grid, "widths": grid})
        panels = [
            Panel("topics to find a difference", "topics", rows=("goal", "difference")),
            Panel("topics for a confidence interval of that width", "topics", rows=("goal", "interval")),
        ]
        return lines_chart(fine, "size", panels)

    return table, chart


def _pool(scores: Any, args: argparse.Namespace, **common: Any) -> tuple[Any, Any]:
    from amble.metaevaluation import leave_out, pool_effect
    from amble.reporting.charts.line_charts import Panel, lines_chart

    if sum(x is not None for x in (args.rates, args.pool_depths, args.groups)) > 1:
        raise AmbleError("--rates, --pool-depths and --groups are three ways to cut a pool; expected one of them")
    if args.group_depth is not None and args.groups is None:
        raise AmbleError("--group-depth goes with --groups")
    for cut in ("groups", "pool_depths"):  # nothing random there
        for name in ("rounds", "confidence"):
            if getattr(args, cut) is not None and getattr(args, name) is not None:
                raise AmbleError(f"--{name} goes without --{cut.replace('_', '-')}: nothing is random")
    rankings = scores.rankings
    common["undefined"] = args.undefined
    rel = {} if args.rel is None else {"rel": args.rel}
    if args.groups is not None:
        if args.plot:
            raise AmbleError("--plot goes without --groups: there is no chart of groups")
        common.pop("seed")
        groups = read_groups(args.groups, rankings.runs)
        out = leave_out(rankings, scores.parsed, groups, **_options(args, group_depth="depth"), **rel, **common)
        return out.table(digits=args.digits), None
    options = _options(args, rounds="rounds")
    if args.rates is not None:
        options["rates"] = read_numbers(args.rates, "--rates", float)
    if args.pool_depths is not None:
        options["depths"] = read_numbers(args.pool_depths, "--pool-depths", int)
    found = pool_effect(rankings, scores.parsed, **options, **rel, **common)
    confidence = _options(args, confidence="confidence")
    table = found.table(digits=args.digits, **confidence)
    panels = [
        Panel("mean over runs and topics", "mean", "mean low", "mean high"),
        Panel("tau-b with the full pool", "tau", "tau low", "tau high"),
    ]
    return table, lambda: lines_chart(found.numbered(**confidence), "kept", panels, title=found.kept, reverse=True)


_ANALYSES = {"tau": _tau, "agreement": _agreement, "power": _power, "swaps": _swaps, "pool": _pool, "topics": _topics}


def run(args: argparse.Namespace) -> int:
    """Run the analysis."""
    load_plugins(args)
    for name, analyses in _OF.items():
        if getattr(args, name) is not None and args.analysis not in analyses:
            where = " or ".join(f"amble meta {analysis}" for analysis in analyses)
            raise AmbleError(f"--{name.replace('_', '-')} goes with {where}")
    if args.plot:
        from amble.reporting.charts.chart import check_file

        check_file(args.plot)
    measures = measures_of(args)
    from amble.evaluation.scores import evaluate
    from amble.progress import Progress

    with workers_from(args) as executor, Progress(args.analysis) as line:
        options = alignment_of(args) | {"executor": executor}
        scores = evaluate(args.qrels, list(args.runs), measures, undefined=args.undefined, **options)
        threads = args.threads or os.cpu_count()
        common = {"seed": args.seed, "threads": threads, "progress": line, "executor": executor}
        table, chart = _ANALYSES[args.analysis](scores, args, **common)
    if args.format == "json":
        chosen = {name: getattr(args, name) for name in _OF if getattr(args, name) is not None}
        more = {"undefined": args.undefined, "seed": args.seed, **chosen}
        files = [args.qrels, *args.runs]
        table.facts = provenance(scores.rankings, measures, files, more) | {"analysis": args.analysis}
    write(table.render(args.format), args.output)
    if args.plot:
        from amble.reporting.charts.chart import save

        save(chart(), args.plot)
    note(args, scores.rankings.audit)
    return 0
