"""Score runs against judgments.

  amble eval qrels.txt bm25.run dense.run -m AP nDCG@10 "RBP(p=0.8)"
  amble eval qrels.txt run.gz -q --format tsv        # by topic, for other programs
  amble eval --trec qrels.txt run.txt -m all_trec -q # as trec_eval prints it

Topics that a run does not answer score 0 and are counted; --trec leaves them out of the mean, as trec_eval does
without -c. A summary of what was decided (missing topics, ties, unjudged documents) goes to standard error.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import warnings
from collections.abc import Callable, Collection
from typing import Any

from amble import checks
from amble.cli.options import DIGITS, THREADS, number, whole
from amble.errors import AmbleError, MeasureError, UnjudgedWarning
from amble.io.files import LONGEST_LINE, write_whole

_DEFAULT = "AP nDCG nDCG@10 P@10 RR Rprec bpref"
_TIED = "AP nDCG nDCG@10 P@10 RR R@100"  # those that have a closed form
_RATES = "P@10 SDCG@10 RBP INSQ INST AP RR"  # those that have a C/W/L form
_OFFICIAL = (
    "NumQ NumRet NumRel NumRelRet AP GMAP Rprec bpref RR "
    + " ".join(f"IPrec@{i / 10}" for i in range(11))
    + "".join(f" P@{k}" for k in (5, 10, 15, 20, 30, 100, 200, 500, 1000))
)
_NOT_BY_TOPIC = ("NumQ", "GMAP", "GMbpref")  # trec_eval prints these for all topics together only
_FORMATS = ("table", "tsv", "csv", "json", "latex", "html", "trec")
_TIES = ("docno", "rank", "file", "expected")

Add = Callable[..., Any]


def inputs(add: Add) -> None:
    """Declare the files, for this command and others that score runs."""
    add("qrels", metavar="QRELS", help="judgments: topic iter doc grade (plain, gzip, xz, bzip2 or zstd; - for stdin)")
    add("runs", metavar="RUN", nargs="+", help="runs: topic Q0 doc rank score tag")


def alignment(add: Add, ties: tuple[str, ...] = _TIES) -> None:
    """Declare how runs meet judgments."""
    add("--depth", type=whole(), metavar="K", help="look no further than rank K (trec_eval -M)")
    add("--missing", choices=("zero", "skip"), help="topics that a run does not answer (default: zero)")
    add("--ties", choices=ties, default="docno", help="equal scores (default: docno)")
    add("--unjudged", choices=("zero", "condense"), default="zero", help="no gain, or taken out (trec_eval -J)")
    add("--duplicates", choices=("error", "best"), default="error", help="a document twice: an error, or keep the best")
    add("--float32", action="store_true", default=None, help="compare scores as floats (trec_eval 9, pytrec_eval)")
    add("--allow-unjudged", action="store_true", default=None, help="runs none of whose documents is judged, too")
    longest_line(add)


def longest_line(add: Add) -> None:
    """Declare how long lines of files may be."""
    add(
        "--max-line",
        type=whole(1, checks.INT32),
        metavar="BYTES",
        help=f"the longest line of a file (default: {LONGEST_LINE})",
    )


def alignment_of(args: argparse.Namespace) -> dict[str, Any]:
    """What `alignment` was given, for `align`."""
    chosen = {key: getattr(args, key) for key in ("depth", "ties", "unjudged", "duplicates", "threads", "max_line")}
    return chosen | {"missing": args.missing or "zero", "score_dtype": "float32" if args.float32 else "float64"}


def heed_unjudged(args: argparse.Namespace) -> None:
    """From here on, a run none of whose documents is judged is an error, unless it is allowed."""
    warnings.simplefilter("ignore" if args.allow_unjudged else "error", UnjudgedWarning)


def outputs(add: Add) -> None:
    """Declare what else all of them have."""
    add("--digits", type=DIGITS, default=4, metavar="N", help="decimals (default: %(default)s)")
    add("--plugin", metavar="FILE", action="append", default=[], help="Python file that declares measures of your own")
    add("-o", "--output", metavar="FILE", help="write there instead of to standard output")
    add("--quiet", action="store_true", help="no summary on standard error")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    add = parser.add_argument
    inputs(add)
    add("-m", "--measure", metavar="MEASURE", action="append", help=f"what to measure (default: {_DEFAULT})")
    add("-q", "--by-topic", action="store_true", help="a score for each topic, too")
    add("--format", choices=_FORMATS, help="how to write it (default: table)")
    add("--names", choices=("amble", "trec"), help="whose names for the measures (default: amble)")
    add(
        "--trec",
        action="store_true",
        help="trec_eval's habits: missing topics left out, its names, its layout, its IPrec",
    )
    add("--rel", type=number(0), metavar="GRADE", help="the least grade that is relevant (trec_eval -l)")
    alignment(add)
    add("--undefined", choices=("zero", "skip"), default="zero", help="topics without a relevant document")
    add("--zscores", metavar="FILE", help="standardise by topic: lines of topic measure mean deviation (trec_eval -Z)")
    add("--intervals", action="store_true", help="95%% intervals of the means (Student's t over topics)")
    add(
        "--fitted-intervals",
        choices=("user", "both"),
        help="95%% intervals of the means of fitted users: what the log leaves open of them, or that and the topics",
    )
    add("--residual", action="store_true", help="how much each score could still rise with the unjudged documents")
    add("--cwl", action="store_true", help="EU, ETU, EC, ETC, ED of each measure's user instead of scores")
    add("--costs", metavar="FILE", help="with --cwl: lines of document cost (default: 1 each)")
    add("--bib", action="store_true", help="print the BibTeX of what was used, and nothing else")
    add("--threads", type=THREADS, metavar="N", help="how many threads read (default: as many as pay)")
    outputs(add)


def prepare(argv: list[str]) -> list[str]:
    """Let one -m be followed by several measures, wherever it stands among the files."""
    out: list[str] = []
    many = False
    for i, word in enumerate(argv):
        if many and i > 0 and argv[i - 1] not in ("-m", "--measure") and _looks_like_measure(word):
            out += ["-m", word]
            continue
        if word in ("-m", "--measure"):
            many = True
        elif i > 0 and argv[i - 1] not in ("-m", "--measure"):
            many = False
        out.append(word)
    return out


def _looks_like_measure(word: str) -> bool:
    theirs = r"11pt_avg|iprec_at_recall[._][\d.]+"
    return bool(re.fullmatch(rf"({theirs}|[A-Za-z_]\w*(\s*\(.*\))?(@[\d.]+)?),?", word)) and not os.path.exists(word)


def load_plugins(args: argparse.Namespace) -> None:
    """Load the plugins that `outputs` was given."""
    for path in args.plugin:
        load_plugin(path)


def load_plugin(path: str) -> None:
    """Run a Python file that declares measures."""
    import runpy

    try:
        runpy.run_path(path, run_name="amble_plugin")
    except AmbleError as error:
        raise MeasureError(f"{path}: {error}") from None
    except OSError as error:
        raise MeasureError(f"{path}: {error.strerror}") from None
    except (Exception, SystemExit) as error:
        raise MeasureError(f"{path}: {type(error).__name__}: {error}") from None


def wanted(args: argparse.Namespace, *, trec: bool = False) -> list[Any]:
    """The measures asked for, labelled as they were typed or with trec_eval's names."""
    from amble.expressions.grammar import split_measures
    from amble.measures import parse
    from amble.measures.trec_names import all_trec, trec_name

    usual = _OFFICIAL if args.trec else _RATES if args.cwl else _TIED if args.ties == "expected" else _DEFAULT
    words = args.measure or [usual]
    measures = []
    for word in (part for text in words for part in split_measures(text)):
        for theirs, name in all_trec() if word == "all_trec" else [("", word)]:
            m = parse(name)
            # what a measure says itself, it keeps
            given = (m.written or m).given
            if args.trec and m.name in ("IPrec", "IPrecAvg") and "rule" not in given:
                m = m.with_value("rule", "trec10")
            if args.rel is not None and "rel" in m.values and m.values.get("gains") is None and "rel" not in given:
                m = m.with_value("rel", args.rel)
            if trec or theirs:
                m.typed = (theirs or trec_name(m, args.rel)) if trec else ""
            measures.append(m)
    return measures


def run(args: argparse.Namespace) -> int:
    """Score and write."""
    load_plugins(args)
    how = args.format or ("trec" if args.trec else "table")
    if args.intervals and (args.by_topic or how not in ("table", "latex", "html")):
        raise AmbleError("--intervals goes with a table of means: --format table, latex or html, without -q")
    trec = (args.names or ("trec" if args.trec or how == "trec" else "amble")) == "trec"
    measures = wanted(args, trec=trec)
    if args.bib:
        from amble.references import bibliography

        keys = [m.declaration.cite for m in measures]
        keys += ["mcsherry2008"] * (args.ties == "expected") + ["webber2008"] * bool(args.zscores)
        write(bibliography(keys), args.output)
        return 0
    others = ("by_topic", "trec", "zscores", "intervals", "residual", "cwl")
    if args.fitted_intervals and (how == "trec" or any(getattr(args, name) for name in others)):
        raise AmbleError(
            "--fitted-intervals is a report of its own: without -q, --intervals, --zscores, --residual, --cwl and "
            "trec_eval's layout"
        )
    if args.costs and not args.cwl:
        raise AmbleError("--costs goes with --cwl")
    if args.cwl and (args.zscores or args.residual or how == "trec"):
        raise AmbleError("--cwl is a report of its own: without --zscores, --residual and --trec")
    if args.residual and (args.zscores or how == "trec"):
        raise AmbleError("--residual goes without --zscores and without trec_eval's layout")
    if args.fitted_intervals:
        return _fitted_intervals(measures, how, args)
    from amble.evaluation.scores import evaluate

    scores = evaluate(
        args.qrels,
        list(args.runs),
        ["NumQ"] if args.cwl else measures,
        undefined=args.undefined,
        **(alignment_of(args) | ({"missing": "skip"} if args.trec and args.missing is None else {})),
    )
    if args.zscores:
        from amble.evaluation.standardisation import read_zscores, standardised

        scores = standardised(scores, read_zscores(args.zscores))
    text = _cwl(scores, how, args) if args.cwl else _render(scores, measures, how, args)
    write(text, args.output)
    if not args.quiet and sys.stderr is not None:
        print(f"amble: {scores.rankings.audit}", file=sys.stderr)
        if args.by_topic:
            tell_of_all(scores.topics, "topic")
    return 0


def tell_of_all(names: Collection[str], what: str) -> None:
    """Say that a topic or a session has the name that the mean has otherwise."""
    if "all" in names:
        form = "- (JSON null, CSV empty); in trec_eval's layout it comes last"
        print(f"amble: a {what} is called all: the mean's {what} is {form}", file=sys.stderr)


def _fitted_intervals(measures: list[Any], how: str, args: argparse.Namespace) -> int:
    from amble.evaluation.fitted_intervals import fitted_intervals
    from amble.rankings.alignment import align

    rankings = align(args.qrels, list(args.runs), **alignment_of(args))
    both = args.fitted_intervals == "both"
    found = fitted_intervals(rankings, measures, topics=both, undefined=args.undefined)
    table = found.table(digits=args.digits)
    more = {"undefined": args.undefined, "fitted_intervals": args.fitted_intervals}
    table.facts = facts(rankings, measures, [args.qrels, *args.runs], more) if how == "json" else {}
    write(table.render(how), args.output)
    if not args.quiet and sys.stderr is not None:
        print(f"amble: {rankings.audit}", file=sys.stderr)
    return 0


def _cwl(scores: Any, how: str, args: argparse.Namespace) -> str:
    from amble.evaluation.cwl_report import cwl

    measures = wanted(args)
    table = cwl(scores.rankings, measures, costs=args.costs, topics=args.by_topic, digits=args.digits)
    table.facts = _facts(scores, measures, args) if how == "json" else {}
    return table.render(how)


def _residual_table(scores: Any, args: argparse.Namespace) -> Any:
    """Scores and how much each could rise; measures whose residual is no bound are marked."""
    import numpy as np

    from amble.measures import Lists
    from amble.measures.residuals import bounds, list_residuals
    from amble.rankings.alignment import byte_order, plain_mean
    from amble.table import Table, mean_topic

    rankings = scores.rankings
    over = mean_topic(scores.topics if args.by_topic else ())
    lists = Lists.of_rankings(rankings)
    rows: list[list[Any]] = []
    extra = np.full(scores.values.shape, np.nan)
    for j, m in enumerate(scores.parsed):
        extra[rankings.run, rankings.topic, j] = list_residuals(m, lists)
    means, more = scores.means(), plain_mean(np.moveaxis(extra[:, byte_order(scores.topics)], 1, 2))
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
        table = _residual_table(scores, args)
        table.facts = _facts(scores, measures, args) if how == "json" else {}
        return str(table.render(how))
    if how == "trec":
        return _trec_lines(scores, args)
    if how == "tsv":
        text: str = scores.tsv(topics=args.by_topic, digits=args.digits)
        return text
    if how in ("csv", "json"):
        table = scores.table(topics=args.by_topic, digits=args.digits)
        table.facts = _facts(scores, measures, args) if how == "json" else {}
    elif args.by_topic:
        table = scores.table(topics=True, digits=args.digits, wide=True)
    else:
        table = scores.mean(digits=args.digits, intervals=args.intervals)
    bold = (
        how == "table"
        and not args.output
        and sys.stdout is not None
        and sys.stdout.isatty()
        and "NO_COLOR" not in os.environ
    )
    rendered: str = table.render(how, bold=bold)
    return rendered


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


def _plain(value: Any) -> Any:
    return value if isinstance(value, str | int | float | None) else str(value)


def _facts(scores: Any, measures: list[Any], args: argparse.Namespace) -> dict[str, Any]:
    return facts(scores.rankings, measures, [args.qrels, *args.runs, args.costs], {"undefined": args.undefined})


def facts(rankings: Any, measures: list[Any], paths: list[str | None], more: dict[str, Any]) -> dict[str, Any]:
    """Where the numbers come from: the files, the options of `align` and others, the measures, the audit."""
    import hashlib

    from amble import __version__
    from amble.measures.fitted_parameters import fit_files

    files = []
    for path in filter(None, [*paths, *dict.fromkeys(path for m in measures for path in fit_files(m))]):
        if os.path.isfile(path):
            with open(path, "rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            files.append({"path": path, "bytes": os.path.getsize(path), "sha256": digest})
    keys = ("missing", "ties", "unjudged", "duplicates", "depth", "score_dtype")
    options = {key: getattr(rankings, key) for key in keys}
    return {
        "amble": __version__,
        "files": files,
        "options": options | more,
        "measures": {
            m.label: {key: _plain(x) for key, x in (m.written or m).values.items()} | {"@": m.cut} for m in measures
        },
        "audit": rankings.audit.rows(),
        "topics": len(rankings.topics),
    }


def write(text: str, path: str | None) -> None:
    """Write to standard output, or to a file that appears whole or not at all."""
    if path is None:
        if sys.stdout is None:
            raise AmbleError("there is no standard output to write to")
        sys.stdout.write(text + "\n")
        return
    write_whole(path, text + "\n")
