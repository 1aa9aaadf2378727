"""Which measure to trust: how measures rank systems, which differences they find, what missing judgments do to them.

amble meta tau       qrels.txt *.run -m AP nDCG@10 RR     # correlation of their rankings of the runs
amble meta agreement qrels.txt *.run -m AP nDCG@10 RR     # do they find the same significant differences?
amble meta power     qrels.txt *.run --test tukey         # between how many pairs of runs does each find a difference?
amble meta swaps     qrels.txt *.run                      # how often would other topics reverse a comparison?
amble meta pool      qrels.txt *.run --plot pool.svg      # scores and rankings with fewer judgments
amble meta topics    qrels.txt *.run                      # how many topics does an experiment need?
amble meta degrade   qrels.txt *.run --how dilute         # which measures notice that runs get worse, and how soon?
amble meta satisfaction scores.tsv satisfaction.txt       # which measures go with what people said?

SCORES are what `amble eval -q --format tsv` or `amble session -q --format tsv` writes; SATISFACTION has lines of topic
(or session) and label, or run, topic and label.
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
    refuse,
    whole,
    workers_from,
)
from amble.cli.output import file_digests, keep_inputs, note, provenance, write
from amble.cli.plugins import load_plugins
from amble.comparison.design import AGREEMENT, CONFIDENCE, CORRECTIONS, POWER, TestDesign
from amble.errors import AmbleError

__all__ = ["arguments", "prepare", "run"]

# which analysis an option belongs to; those not named here go with all of them
_OF = {
    "statistic": ("tau", "satisfaction"),
    "resample": ("tau",),
    "matrix": ("tau",),
    "confidence": ("tau", "pool", "topics", "degrade", "satisfaction"),
    "test": ("agreement", "power", "satisfaction"),
    "alpha": ("agreement", "power", "topics", "degrade"),
    "max_rate": ("swaps",),
    "rounds": ("tau", "agreement", "power", "swaps", "pool", "degrade", "satisfaction"),
    "curve": ("power", "swaps", "degrade"),
    "sizes": ("swaps",),
    "bin_width": ("swaps",),
    "rates": ("pool",),
    "pool_depths": ("pool",),
    "groups": ("pool",),
    "group_depth": ("pool",),
    "differences": ("topics",),
    "widths": ("topics",),
    "power": ("topics", "degrade"),
    "how": ("degrade",),
    "levels": ("degrade",),
    "pages": ("degrade",),
    "places": ("degrade",),
    "save_runs": ("degrade",),
    "pairs": ("satisfaction",),
    "baseline": ("satisfaction",),
    "correction": ("satisfaction",),
}
# options of runs and judgments, of which satisfaction reads none
_ALIGNED = (
    "depth missing ties unjudged duplicates undefined float32 costs subtopics intents allow_unjudged rel "
    "max_line columns"
)
_RANK_TESTS, _LABEL_TESTS = ("t", "bootstrap", "tukey"), ("bootstrap", "williams", "steiger")
_RANK_STATISTICS, _LABEL_STATISTICS = ("tau", "tau_ap", "rho", "rbo"), ("r", "rho", "tau")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    add = parser.add_argument
    names = (*_ANALYSES, *_OF_FILES)
    add("analysis", metavar="ANALYSIS", choices=names, help=", ".join(names))
    add_inputs(add)
    add("-m", "--measure", metavar="MEASURE", action="append", help="the measures to compare (default: those of eval)")
    add("--rel", type=number(0), metavar="GRADE", help="the least grade that is relevant (trec_eval -l)")
    add_alignment(add)
    add_undefined(add)
    add_threads(add, "read and compute")
    add_workers(add)
    add(
        "--statistic",
        choices=tuple(dict.fromkeys((*_RANK_STATISTICS, *_LABEL_STATISTICS))),
        help="tau: the correlation (default: tau, Kendall's b); satisfaction: r, rho or tau (default: all of them)",
    )
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
    intervals = f"of the confidence intervals of tau, pool, topics, degrade, satisfaction (default: {CONFIDENCE})"
    add("--confidence", type=SHARE, metavar="C", help=intervals)
    tests = f"agreement (default: {AGREEMENT.test}), power (default: {POWER.test}), satisfaction (default: bootstrap)"
    add("--test", choices=tuple(dict.fromkeys((*_RANK_TESTS, *_LABEL_TESTS))), help=tests)
    level = f"agreement, power, topics, degrade: the level of tests (default: {POWER.alpha})"
    add("--alpha", type=SHARE, metavar="A", help=level)
    add("--max-rate", type=SHARE, metavar="R", help="swaps: the swap rate not to exceed (default: 0.05)")
    add(
        "--rounds",
        type=whole(),
        metavar="N",
        help=f"of resampling (default: {POWER.rounds}; swaps 100, pool 30, degrade 10)",
    )
    add(
        "--curve",
        action="store_true",
        default=None,
        help="power, swaps, degrade: the whole curve instead of one row per measure",
    )
    add("--sizes", metavar="N,N,…", help="swaps: topics in a set (default: up to half of them)")
    add("--bin-width", type=number(0, above=True), metavar="W", help="swaps: of bins of differences (default: 0.01)")
    add("--rates", metavar="R,R,…", help="pool: shares of judgments to keep (default: 0.9,0.7,0.5,0.3,0.1)")
    add("--pool-depths", metavar="K,K,…", help="pool: instead, keep what some run ranks K or higher")
    add("--groups", metavar="N|FILE", help="pool: instead, leave out a group of runs at a time")
    add("--group-depth", type=whole(), metavar="K", help="with --groups: how deep runs were pooled (default: 100)")
    add("--differences", metavar="D,D,…", help="topics: differences to find (default: 0.02,0.05,0.1)")
    add("--widths", metavar="W,W,…", help="topics: widths of confidence intervals (default: 0.05,0.1)")
    add(
        "--power",
        type=SHARE,
        metavar="P",
        help="topics: the probability to find a difference; degrade: the share of rounds and runs (default: 0.8)",
    )
    add("--how", choices=("dilute", "lose", "shuffle"), help="degrade: what makes runs worse (default: dilute)")
    add("--levels", metavar="L,L,…", help="degrade: shares of places that are touched (default: 0.1,0.2,0.3,0.5)")
    add("--pages", type=number(0), metavar="S", help="degrade: the share of topics that are touched (default: 1)")
    add("--places", type=whole(), metavar="K", help="degrade: the first places, which are touched (default: 10)")
    add("--save-runs", metavar="FOLDER", help="degrade: write the worse runs of the first round there, as TREC runs")
    pairs = "satisfaction: tests between measures, instead of one row per measure"
    add("--pairs", action="store_true", default=None, help=pairs)
    add("--baseline", metavar="MEASURE", help="with --pairs: the measure that all others are compared with")
    usual = f"with --pairs: for the number of pairs (default: {TestDesign().correction})"
    add("--correction", choices=tuple(CORRECTIONS), help=usual)
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

    options = _options(args, statistic="statistic", resample="resample", confidence="confidence", rounds="rounds")
    if args.matrix:
        refuse(args, "resample", "goes without --matrix, which has no confidence intervals")
    if options.get("resample") == "none" or args.matrix:
        without = "--matrix" if args.matrix else "--resample none"
        refuse(args, "rounds seed confidence", f"goes without {without}: nothing is random")
        options["resample"] = None
    found = correlations(scores, **options, **common)
    table = found.matrix(digits=args.digits) if args.matrix else found.table(digits=args.digits)
    return table, found


def _agreement(scores: Any, args: argparse.Namespace, **common: Any) -> tuple[Any, Any]:
    from amble.metaevaluation import agreement

    found = agreement(scores, **_options(args, test="test", alpha="alpha", rounds="rounds"), **common)
    return found.table(digits=args.digits), found


def _power(scores: Any, args: argparse.Namespace, **common: Any) -> tuple[Any, Any]:
    from amble.metaevaluation import discriminative_power

    found = discriminative_power(scores, **_options(args, test="test", alpha="alpha", rounds="rounds"), **common)
    table = found.curve(digits=args.digits) if args.curve else found.table(digits=args.digits)
    return table, found


def _swaps(scores: Any, args: argparse.Namespace, **common: Any) -> tuple[Any, Any]:
    from amble.metaevaluation import swap_rates

    options = _options(args, rounds="rounds", bin_width="width")
    if args.sizes is not None:
        options["sizes"] = read_numbers(args.sizes, "--sizes", int)
    found = swap_rates(scores, **options, **common)
    rate = _options(args, max_rate="max_rate")
    table = found.curve(digits=args.digits) if args.curve else found.table(**rate, digits=args.digits)
    return table, found


def _topics(scores: Any, args: argparse.Namespace, **_: Any) -> tuple[Any, Any]:
    from amble.metaevaluation import topics_needed

    options = _options(args, alpha="alpha", confidence="confidence", power="power")
    for name in ("differences", "widths"):
        if getattr(args, name) is not None:
            options[name] = read_numbers(getattr(args, name), f"--{name}", float)
    table = topics_needed(scores, digits=args.digits, **options)
    return table, table


def _pool(scores: Any, args: argparse.Namespace, **common: Any) -> tuple[Any, Any]:
    from amble.metaevaluation import leave_out, pool_effect

    if sum(x is not None for x in (args.rates, args.pool_depths, args.groups)) > 1:
        raise AmbleError("--rates, --pool-depths and --groups are three ways to cut a pool; expected one of them")
    if args.groups is None:
        refuse(args, "group_depth", "goes with --groups")
    for cut in ("groups", "pool_depths"):
        if cut in args.given:
            refuse(args, "rounds confidence seed", f"goes without --{cut.replace('_', '-')}: nothing is random")
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
    return table, found


def _degrade(args: argparse.Namespace, measures: list[Any], **common: Any) -> tuple[Any, Any, Any]:
    from amble.io.trec import read_qrels, read_runs
    from amble.metaevaluation import degradation
    from amble.rankings.run_lists import read_run_lists

    aligned = alignment_of(args)
    if args.float32:
        raise AmbleError("--float32 goes without degrade: worse runs have no scores of their own")
    reading = {name: aligned.pop(name) for name in ("max_line", "columns")}
    how = {name: aligned.pop(name) for name in ("ties", "duplicates")}
    options = _options(args, how="how", pages="pages", places="places", rounds="rounds", rel="rel")
    if args.levels is not None:
        options["levels"] = read_numbers(args.levels, "--levels", float)
    qrels = read_qrels(args.qrels, **reading)
    lists = read_run_lists(read_runs(*args.runs, **reading), threads=args.threads, **how)
    aligned.pop("threads")
    found = degradation(qrels, lists, measures, undefined=args.undefined, **options, **aligned, **common)
    if args.save_runs is not None:
        _save_runs(args, qrels, lists, found)
    alpha = _options(args, alpha="alpha")
    confidence, power = _options(args, confidence="confidence"), _options(args, power="power")
    if args.curve:
        table = found.curve(**alpha, **confidence, digits=args.digits)
    else:
        table = found.table(**alpha, **power, digits=args.digits)
    return table, found, found.scores


def _save_runs(args: argparse.Namespace, qrels: Any, lists: Any, found: Any) -> None:
    """Write the worse runs of the first round: FOLDER/NAME.HOW-LEVEL.run."""
    from pathlib import Path

    from amble.io.files import write_whole
    from amble.io.trec import read_runs, run_text
    from amble.metaevaluation import degrade

    folder = Path(args.save_runs)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise AmbleError(f"--save-runs {folder}: {error.strerror or error}") from None
    options = _options(args, places="places", rel="rel")
    for level in found.levels:
        worse = degrade(qrels, lists, how=found.how, level=level, pages=found.pages, seed=[args.seed, 0], **options)
        for name, topics in worse.items():
            tag = f"{name}.{found.how}-{level:g}"
            text = run_text(read_runs({tag: topics})[0].documents(), tag)
            target = folder / f"{tag.replace('/', '_')}.run"
            keep_inputs(args, str(target))
            write_whole(target, text + "\n")


def _satisfaction(args: argparse.Namespace, measures: list[Any], **common: Any) -> tuple[Any, Any, Any]:
    from amble.expressions.grammar import split_measures
    from amble.metaevaluation import read_labels, read_scores, satisfaction

    refuse(args, _ALIGNED, "goes without satisfaction, which reads scores, not runs")
    if len(args.runs) != 1:
        raise AmbleError(f"{1 + len(args.runs)} files, expected two: scores by topic, and labels of topics")
    if not args.pairs:
        refuse(args, "test baseline correction", "goes with --pairs")
    scores, labels = read_scores(args.qrels), read_labels(args.runs[0])
    if args.measure is not None:  # by the names in the file, which may be another program's
        names = [name for text in args.measure for name in split_measures(text)]
        missing = [name for name in names if name not in scores]
        if missing:
            known = ", ".join(list(scores)[:5])
            raise AmbleError(f"{args.qrels}: no scores of {missing[0]}, expected one of {known}")
        scores = {name: scores[name] for name in names}
    options = _options(args, rounds="rounds", confidence="confidence")
    if args.statistic is not None:
        options["statistics"] = [args.statistic]
    found = satisfaction(scores, labels, **options, **common)
    if args.pairs:
        tests = _options(args, test="test", baseline="baseline", correction="correction")
        return found.pairs(**tests, digits=args.digits), found, None
    return found.table(digits=args.digits), found, None


def _chart(args: argparse.Namespace, found: Any) -> Any:
    """The chart of what was found, as `amble.plot` draws it, at the levels that were asked for."""
    from amble.reporting.charts.meta_charts import degradation_spec, pool_spec
    from amble.reporting.charts.plotting import spec_of

    confidence = _options(args, confidence="confidence")
    if args.analysis == "pool":
        return pool_spec(found, **confidence)
    if args.analysis == "degrade":
        return degradation_spec(found, **_options(args, alpha="alpha"), **confidence)
    return spec_of(found)


_ANALYSES = {"tau": _tau, "agreement": _agreement, "power": _power, "swaps": _swaps, "pool": _pool, "topics": _topics}
_OF_FILES = {"degrade": _degrade, "satisfaction": _satisfaction}  # they read what they need


def run(args: argparse.Namespace) -> int:
    """Run the analysis."""
    load_plugins(args)
    for name, analyses in _OF.items():
        if args.analysis not in analyses:
            refuse(args, name, "goes with " + " or ".join(f"amble meta {analysis}" for analysis in analyses))
    if args.plot:
        from amble.reporting.charts.chart import check_file

        check_file(args.plot)
    for name, kinds in (("test", (_RANK_TESTS, _LABEL_TESTS)), ("statistic", (_RANK_STATISTICS, _LABEL_STATISTICS))):
        known = kinds[args.analysis == "satisfaction"]
        if getattr(args, name) is not None and getattr(args, name) not in known:
            found = getattr(args, name)
            raise AmbleError(f"--{name} {found} goes without {args.analysis}, expected one of {', '.join(known)}")
    if args.analysis == "topics":
        refuse(args, "seed", "goes without topics: nothing is random")
    if (args.test or {"agreement": AGREEMENT.test}.get(args.analysis)) == "t":
        refuse(args, "rounds seed", "has no part in the test 't': nothing is random")
    if args.analysis in _OF_FILES:
        refuse(args, "workers cluster checkpoint", f"goes without {args.analysis}, which is done in this process")
    measures = [] if args.analysis == "satisfaction" else measures_of(args)
    from amble.evaluation.scores import evaluate
    from amble.progress import Progress

    scores = None
    with workers_from(args) as executor, Progress(args.analysis) as line:
        if args.analysis in _ANALYSES:
            options = alignment_of(args) | {"executor": executor}
            scores = evaluate(args.qrels, list(args.runs), measures, undefined=args.undefined, **options)
        common = {"seed": args.seed, "threads": args.threads or os.cpu_count(), "progress": line}
        if args.analysis in _ANALYSES:
            table, drawn = _ANALYSES[args.analysis](scores, args, executor=executor, **common)
        else:
            table, drawn, scores = _OF_FILES[args.analysis](args, measures, **common)
    chart = _chart(args, drawn) if args.plot else None
    if args.format == "json":
        chosen = {name: getattr(args, name) for name in _OF if getattr(args, name) is not None}
        more = {"undefined": args.undefined, "seed": args.seed, **chosen}
        files = [args.qrels, *args.runs]
        if scores is None:
            table.facts |= file_digests(files) | {"options": {"seed": args.seed, **chosen}, "analysis": args.analysis}
        else:
            table.facts = provenance(scores.rankings, measures, files, more) | {"analysis": args.analysis}
    write(table.render(args.format), args.output)
    if chart is not None:
        from amble.reporting.charts.chart import save

        save(chart, args.plot)
    if scores is not None:
        note(args, scores.rankings.audit)
    return 0
