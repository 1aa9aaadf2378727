"""Score runs against judgments.

  amble eval qrels.txt bm25.run dense.run -m AP nDCG@10 "RBP(p=0.8)"
  amble eval qrels.txt run.gz -q --format tsv        # by topic, for other programs
  amble eval --trec qrels.txt run.txt -m all_trec -q # as trec_eval prints it
  amble eval --gains 1,0,0,1 --gains 0,1,1,0 -m AP   # lists without files
  amble eval diversity.txt run.txt -m alpha_nDCG@20  # judgments of subtopics, as of TREC's diversity tasks

Topics that a run does not answer score 0 and are counted; --trec leaves them out of the mean, as trec_eval does
without -c. A summary of what was decided (missing topics, ties, unjudged documents) goes to standard error.
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

from amble.cli.options import (
    DEFAULT_MEASURES,
    FORMATS,
    add_alignment,
    add_inputs,
    add_scored,
    add_threads,
    add_topic_groups,
    add_undefined,
    add_workers,
    alignment_of,
    inputs_of,
    measures_of,
    number,
    prepare,
    refuse,
    workers_from,
)
from amble.cli.output import note, provenance, warn_topic_named_all, write
from amble.cli.plugins import load_plugins
from amble.errors import AmbleError

__all__ = ["arguments", "prepare", "run"]

# reports of their own: the options that have no place in each
_OWN = {
    "fitted_intervals": "by_topic trec zscores intervals residual cwl sort median groups by_intent",
    "by_intent": "trec names undefined zscores intervals residual cwl sort median groups",
    "cwl": "names undefined zscores intervals residual sort median groups",
    "residual": "zscores intervals sort median groups",
}
_NOT_BY_TOPIC = ("NumQ", "GMAP", "GMbpref")  # trec_eval prints these for all topics together only


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    add = parser.add_argument
    add_inputs(add, gains=True)
    add("-m", "--measure", metavar="MEASURE", action="append", help=f"what to measure (default: {DEFAULT_MEASURES})")
    add("-q", "--by-topic", action="store_true", help="a score for each topic, too")
    add("--format", choices=(*FORMATS, "trec"), help="how to write it (default: table)")
    add("--sort", metavar="MEASURE", help="runs in a table of means best first, by one of its measures")
    add("--names", choices=("amble", "trec"), help="whose names for the measures (default: amble)")
    add(
        "--trec",
        action="store_true",
        help="trec_eval's habits: missing topics left out, its names, its layout, its IPrec",
    )
    add("--rel", type=number(0), metavar="GRADE", help="the least grade that is relevant (trec_eval -l)")
    add_alignment(add)
    add_undefined(add)
    add("--zscores", metavar="FILE", help="standardise by topic: lines of topic measure mean deviation (trec_eval -Z)")
    add("--intervals", action="store_true", help="95%% confidence intervals of the means (Student's t over topics)")
    add("--median", action="store_true", help="the median over topics beside each mean")
    add_topic_groups(add, "means of each, with its number of topics, and of all")
    add(
        "--fitted-intervals",
        choices=("user", "both"),
        help="95%% confidence intervals of the means of fitted users: over resampled users, or users and topics",
    )
    add("--residual", action="store_true", help="how much each score could still rise with the unjudged documents")
    add("--by-intent", action="store_true", help="who is left behind: the worst intent, and how many are served")
    add("--cwl", action="store_true", help="EU, ETU, EC, ETC, ED of each measure's user instead of scores")
    add("--bib", action="store_true", help="print the BibTeX of what was used, and nothing else")
    add_threads(add)
    add_workers(add)
    add_scored(add)


def run(args: argparse.Namespace) -> int:
    """Score and write."""
    load_plugins(args)
    how = args.format or ("trec" if args.trec else "table")
    if args.intervals and (args.by_topic or how not in ("table", "latex", "html")):
        raise AmbleError("--intervals goes with a table of means: --format table, latex or html, without -q")
    if args.sort and (args.by_topic or how not in ("table", "latex", "html")):
        raise AmbleError("--sort goes with a table of means: --format table, latex or html, without -q")
    if (args.median or args.groups) and (args.by_topic or how == "trec"):
        raise AmbleError("--median and --groups go with means: without -q and trec_eval's layout")
    trec = (args.names or ("trec" if args.trec or how == "trec" else "amble")) == "trec"
    measures = measures_of(args, trec=trec)
    if args.bib:
        from amble.references import bibliography

        keys = [m.declaration.cite for m in measures]
        keys += ["mcsherry2008"] * (args.ties == "expected") + ["webber2008"] * bool(args.zscores)
        write(bibliography(keys), args.output)
        return 0
    for report in (name for name in _OWN if name in args.given):
        own = f"--{report.replace('_', '-')}, a report of its own"
        refuse(args, _OWN[report], f"goes without {own}")
        if how == "trec":
            raise AmbleError(f"trec_eval's layout goes without {own}; expected another --format")
    if args.by_intent:
        return _by_intent(measures, how, args)
    if args.fitted_intervals:
        return _fitted_intervals(measures, how, args)
    options = alignment_of(args) | ({"missing": "skip"} if args.trec and args.missing is None else {})
    if args.cwl:
        return _cwl(options, how, args)
    from amble.evaluation.scores import evaluate

    with workers_from(args) as executor:
        scores = evaluate(*inputs_of(args), measures, undefined=args.undefined, executor=executor, **options)
    if args.zscores:
        from amble.evaluation.standardisation import read_zscores, standardised

        scores = standardised(scores, read_zscores(args.zscores))
    return _tell(_render(scores, measures, how, args), scores.rankings, args)


def _tell(text: str, rankings: Any, args: argparse.Namespace) -> int:
    """Write the text, and what was decided on the way."""
    write(text, args.output)
    note(args, rankings.audit)
    warn_topic_named_all(args, rankings.topics if args.by_topic else (), "topic")
    return 0


def _fitted_intervals(measures: list[Any], how: str, args: argparse.Namespace) -> int:
    from amble.evaluation.fitted_intervals import fitted_intervals
    from amble.evaluation.inputs import for_intents
    from amble.rankings.alignment import align

    both = args.fitted_intervals == "both"
    with workers_from(args) as executor:
        rankings = align(*inputs_of(args), executor=executor, **for_intents(measures, alignment_of(args)))
        found = fitted_intervals(rankings, measures, topics=both, undefined=args.undefined, executor=executor)
    table = found.table(digits=args.digits)
    text = _rendered(table, rankings, measures, how, args, fitted_intervals=args.fitted_intervals)
    return _tell(text, rankings, args)


def _by_intent(measures: list[Any], how: str, args: argparse.Namespace) -> int:
    from amble.evaluation.inputs import for_intents
    from amble.evaluation.intent_scores import by_intent, intent_aware
    from amble.rankings.alignment import align

    measures = [intent_aware(m) for m in measures]
    with workers_from(args) as executor:
        rankings = align(*inputs_of(args), executor=executor, **for_intents(measures, alignment_of(args)))
    table = by_intent(rankings, measures, topics=args.by_topic, digits=args.digits)
    return _tell(_rendered(table, rankings, measures, how, args, by_intent=True), rankings, args)


def _cwl(options: dict[str, Any], how: str, args: argparse.Namespace) -> int:
    from amble.evaluation.cwl_report import cwl
    from amble.evaluation.inputs import for_intents
    from amble.rankings.alignment import align

    measures = measures_of(args)
    with workers_from(args) as executor:
        rankings = align(*inputs_of(args), executor=executor, **for_intents(measures, options))
    table = cwl(rankings, measures, topics=args.by_topic, digits=args.digits)
    return _tell(_rendered(table, rankings, measures, how, args), rankings, args)


def _residual_table(scores: Any, args: argparse.Namespace) -> Any:
    """Scores and how much each could rise; measures whose residual is no bound are marked."""
    import numpy as np

    from amble.evaluation.scores import mean_residuals
    from amble.measures import Lists
    from amble.measures.residuals import bounds, list_residuals
    from amble.table import Table, mean_topic

    over = mean_topic(scores.topics if args.by_topic else ())
    lists = Lists.of_rankings(scores.rankings)
    rows: list[list[Any]] = []
    extra, means, more = np.full(scores.values.shape, np.nan), scores.means(), np.empty(scores.values.shape[::2])
    for j, m in enumerate(scores.parsed):
        extra[:, :, j], more[:, j] = mean_residuals(scores, j, list_residuals(m, lists))
    for i, run in enumerate(scores.runs):
        if args.by_topic:
            for t, topic in enumerate(scores.topics):
                for j, m in enumerate(scores.parsed):
                    if scores.values[i, t, j] == scores.values[i, t, j]:
                        rows.append([run, topic, m.label, *_pair(scores.values[i, t, j], extra[i, t, j], bounds(m))])
        for j, m in enumerate(scores.parsed):
            rows.append([run, over, m.label, *_pair(means[i, j], more[i, j], bounds(m))])
    return Table(["run", "topic", "measure", "value", "residual", "bound"], rows, digits=args.digits)


def _pair(value: float, residual: float, bound: bool) -> list[Any]:
    return [float(value), float(residual), "yes" if bound else "no"]


def _render(scores: Any, measures: list[Any], how: str, args: argparse.Namespace) -> str:
    if args.residual:
        return _rendered(_residual_table(scores, args), scores.rankings, measures, how, args)
    if how == "trec":
        return _trec_lines(scores, args)
    shown = {"digits": args.digits, "median": args.median, "groups": args.groups}
    if (args.median or args.groups) and how in ("tsv", "csv", "json"):
        return _rendered(scores.mean(long=True, **shown), scores.rankings, measures, how, args)
    if how == "tsv":
        text: str = scores.tsv(topics=args.by_topic, digits=args.digits)
        return text
    if how in ("csv", "json"):
        table = scores.table(topics=args.by_topic, digits=args.digits)
    elif args.by_topic:
        table = scores.table(topics=True, digits=args.digits, wide=True)
    else:
        table = scores.mean(intervals=args.intervals, sort=args.sort, **shown)
    bold = (
        how == "table"
        and not args.output
        and sys.stdout is not None
        and sys.stdout.isatty()
        and "NO_COLOR" not in os.environ
    )
    return _rendered(table, scores.rankings, measures, how, args, bold=bold)


def _trec_lines(scores: Any, args: argparse.Namespace) -> str:
    """As trec_eval prints it: name, topic, value; topics in the order of their bytes, each run headed by its name."""
    from amble.rankings.alignment import byte_order

    z = "Z" if args.zscores else ""
    order = byte_order(scores.topics).tolist()
    means, lines = scores.means(), []
    named = list(zip(scores.measures, scores.parsed, strict=True))

    def line(name: str, topic: str, measure: Any, value: float) -> str:
        count = measure.declaration.aggregate == "sum" and not z
        return f"{z}{name:<22}\t{topic}\t{value:.0f}" if count else f"{z}{name:<22}\t{topic}\t{value:6.{args.digits}f}"

    for i, run in enumerate(scores.runs):
        if args.by_topic:
            for t in order:
                for j, (name, m) in enumerate(named):
                    value = scores.values[i, t, j]
                    if value == value and m.name not in _NOT_BY_TOPIC:
                        lines.append(line(name, scores.topics[t], m, value))
        lines.append(f"{'runid':<22}\tall\t{run}")
        lines += [line(name, "all", m, means[i, j]) for j, (name, m) in enumerate(named)]
    return "\n".join(lines)


def _rendered(
    table: Any, rankings: Any, measures: list[Any], how: str, args: argparse.Namespace, bold: bool = False, **more: Any
) -> str:
    """The table as text; as JSON with where the numbers come from."""
    if how == "json":
        more = {"undefined": args.undefined, "gains": args.gains, "groups": args.groups} | more
        table.facts = provenance(rankings, measures, [args.qrels, *args.runs, args.groups], more)
    return str(table.render(how, bold=bold))
