"""Write one page that shows it all: leaderboard, topics, distributions, users, measures, audit, references.

  amble report qrels.txt bm25.run dense.run hybrid.run -o report.html
  amble report qrels.txt *.run -m AP nDCG@10 "RBP(p=0.8)" --baseline bm25.run --charts figures --latex table.tex
  amble report --config report.toml
  amble report qrels.txt old.run new.run --sessions sessions.tsv -m MsM sDCG
  amble report qrels.txt old.run new.run --baseline old.run --fail-if nDCG@10   # exit code 3 if it drops

The page is one file with everything inside; it needs no network. With --fail-if, runs that are worse than the baseline
are named, a line each, and the exit code is 3; `amble gate` does it without a page.
"""

from __future__ import annotations

import argparse
import importlib
import os
import shlex
import sys
from dataclasses import replace
from threading import Thread
from typing import Any

from amble import checks
from amble.cli.options import (
    REGRESSED,
    add_alignment,
    add_gates,
    add_plugins,
    add_sessions,
    add_tests,
    add_threads,
    add_undefined,
    add_workers,
    alignment_of,
    baseline_of,
    design_of,
    filter_unjudged_warnings,
    include_baselines,
    measures_of,
    prepare,
    read_session_files,
    refuse,
    whole,
    workers_from,
)
from amble.cli.output import keep_inputs, note, provenance
from amble.cli.plugins import load_plugins
from amble.comparison.design import TestDesign
from amble.errors import AmbleError
from amble.io.files import write_whole

__all__ = ["arguments", "prepare", "run"]

_DEFAULT = "AP nDCG@10 P@10 RR RBP(p=0.8) ERR@20 INST(T=2) bpref"
_SESSIONS = "MsM sDCG sRBP"
_TIED = "AP nDCG@10 P@10 RR R@100"  # those that have a closed form
_FORMATS = ("svg", "png", "pdf")

# option: its key in a file of options, and what it is if nobody says
_USUAL: dict[str, tuple[str, Any]] = {
    "title": ("title", ""),
    "measure": ("measures", None),
    "baseline": ("baseline", None),
    "test": ("test", TestDesign.test),
    "correction": ("correction", None),
    "alpha": ("alpha", TestDesign.alpha),
    "seed": ("seed", TestDesign.seed),
    "rounds": ("rounds", TestDesign.rounds),
    "systems": ("systems", None),
    "depth": ("depth", None),
    "missing": ("missing", "zero"),
    "ties": ("ties", "docno"),
    "unjudged": ("unjudged", "zero"),
    "duplicates": ("duplicates", "error"),
    "float32": ("float32", False),
    "allow_unjudged": ("allow-unjudged", False),
    "undefined": ("undefined", "zero"),
    "threads": ("threads", None),
    "max_line": ("max-line", None),
    "costs": ("costs", None),
    "subtopics": ("subtopics", False),
    "intents": ("intents", None),
    "sessions": ("sessions", None),
    "layout": ("layout", None),
    "repeats": ("repeats", "every"),
    "columns": ("columns", None),
    "plugin": ("plugins", []),
    "fail_if": ("fail-if", []),
    "output": ("output", "report.html"),
    "charts": ("charts", None),
    "chart_format": ("chart-format", ["svg"]),
    "latex": ("latex", None),
}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    add = parser.add_argument
    add("qrels", metavar="QRELS", nargs="?", help="judgments: topic iter doc grade")
    add("runs", metavar="RUN", nargs="*", help="runs: topic Q0 doc rank score tag")
    add("--config", metavar="FILE", help="options from a TOML file; those of the command line go before")
    add("-m", "--measure", metavar="MEASURE", action="append", help=f"the first is the main one (default: {_DEFAULT})")
    add("--title", metavar="TEXT", help="what stands above the page")
    add(
        "--baseline",
        metavar="RUN",
        help="the run that others are compared with, a file or the name of one of them (default: the best)",
    )
    add_tests(add, "of differences")
    add(
        "--systems",
        type=whole(),
        metavar="N",
        help="runs shown in detail: distributions, dominance, documents (default: 16)",
    )
    add(
        "--sessions",
        metavar="FILE",
        help="a report of sessions: session query topic run-topic, or a Session Track's XML",
    )
    add_sessions(add)
    add_alignment(add)
    add_undefined(add)
    add_threads(add)
    add_workers(add)
    add_gates(add)
    add("-o", "--output", metavar="FILE", help="the page (default: report.html)")
    add("--charts", metavar="FOLDER", help="the charts, too, each as a file")
    add("--chart-format", choices=_FORMATS, action="append", help="of these files; may be given again (default: svg)")
    add("--latex", metavar="FILE", help="the leaderboard, too, as a table for a paper, with marks of significance")
    add_plugins(add)
    add("--quiet", action="store_true", help="no summary on standard error")
    parser.set_defaults(ties=None, unjudged=None, duplicates=None, undefined=None, plugin=None, repeats=None)


def run(args: argparse.Namespace) -> int:
    """Make the page, and what else is wanted."""
    _fill(args)
    filter_unjudged_warnings(args)
    _check(args)
    from amble.evaluation.inputs import parse_measures
    from amble.evaluation.scores import evaluate
    from amble.measures import parse
    from amble.reporting.gates import parse_gate, pass_through
    from amble.reporting.page import report

    design = design_of(args, "rounds")  # the seed is also that of simulated users, and of correlations
    mixtures = _mixtures(args)
    gates = [parse_gate(_spelled(text, mixtures), against=args.baseline) for text in args.fail_if]
    measures = parse_measures(_wanted(args, mixtures))
    measures = parse_measures([*measures, *(gate.measure for gate in gates if parse(gate.measure) not in measures)])
    Thread(target=importlib.import_module, args=("scipy.special",)).start()  # for tests, while the files are read
    with workers_from(args) as executor:
        if args.sessions or any(m.declaration.of_sessions for m in measures):
            scores = evaluate(read_session_files(_session_files(args), args), measures)
        else:
            refuse(args, "layout repeats", "is of sessions: expected --sessions FILE, or a measure of sessions")
            options = alignment_of(args) | {"executor": executor}
            scores = evaluate(args.qrels, list(args.runs), measures, undefined=args.undefined, **options)
        if args.baseline is not None:
            args.baseline = baseline_of(scores, args, args.baseline)
            design = replace(design, baseline=args.baseline)
        made = report(
            scores,
            baseline=args.baseline,
            **{name: getattr(args, name) for name in ("test", "correction", "alpha", "seed", "rounds")},
            systems=args.systems or _systems(len(scores.topics)),
            title=args.title,
            command=_command(args),
            config=_config(args, [m.label for m in measures]),
            files=provenance(scores.rankings, [], [args.qrels, args.sessions, *args.runs], {})["files"],
            executor=executor,
            sessions_file=args.sessions or "",
        )
    _write(made, args)  # whatever the gates say, or cannot say
    outcome = pass_through(scores, gates, design) if gates else None
    note(args, scores.rankings.audit)
    for doubt in outcome.doubts if outcome else ():
        print(f"amble: {doubt}", file=sys.stderr)
    print(f"report: {args.output}")
    for line in outcome.regressions if outcome else ():
        print(line)
    return REGRESSED if outcome and outcome.regressions else 0


def _session_files(args: argparse.Namespace) -> list[str]:
    """All that is read of sessions, in the order of `amble session`; an error for options that are of lists."""
    _refuse(args, "undefined costs subtopics intents", "looks at topics, not at sessions")
    return [args.qrels, *([args.sessions] if args.sessions else ()), *args.runs]


def _refuse(args: argparse.Namespace, options: str, why: str) -> None:
    """`refuse`, also of what the file of options says."""
    args.given |= {option for option in options.split() if getattr(args, option) != _USUAL[option][1]}
    refuse(args, options, why)


def _fill(args: argparse.Namespace) -> None:
    """What the command line leaves open is taken from the file of options, else as usual."""
    from amble.reporting.options import read_config

    args.named = args.qrels is not None
    config = read_config(args.config) if args.config is not None else {}
    args.mixtures = config.get("mixtures", {})
    parser = argparse.ArgumentParser()
    arguments(parser)
    for action in parser._actions:  # what the file says is checked as on the command line
        key = _USUAL.get(action.dest, ("",))[0]
        if key in config:
            _read(action, config[key], f"{args.config}: {key}")
    for option, (key, usual) in _USUAL.items():
        if getattr(args, option) is None:
            setattr(args, option, config.get(key, usual))
    if args.qrels is None:
        args.qrels, args.runs = config.get("qrels"), config.get("runs", [])
    if args.qrels is None or not args.runs:
        lacks = "judgments" if args.qrels is None else "runs"
        raise AmbleError(f"no {lacks}: expected QRELS RUN…, or --config with qrels and runs")


def _read(action: argparse.Action, given: Any, what: str) -> None:
    """Refuse a value, or one of several, that an option does not take."""
    for value in given if isinstance(given, list) else [given]:
        if action.choices:
            checks.one_of(value, tuple(action.choices), what)
        elif callable(action.type):
            try:
                action.type(str(value))
            except argparse.ArgumentTypeError as error:
                raise AmbleError(f"{what}: {error}") from None


def _check(args: argparse.Namespace) -> None:
    """Refuse what cannot be done before the time of reading is spent."""
    load_plugins(args)
    include_baselines(args)
    if args.fail_if and args.baseline is not None and len(args.runs) < 2:
        raise AmbleError("--fail-if compares with a baseline: expected at least two runs")
    from amble.reporting.charts.chart import check_file
    from amble.reporting.page import jinja

    jinja()
    keep_inputs(args)  # once more: the file of options may name some
    if args.charts is None:
        refuse(args, "chart_format", "is of charts in files: expected --charts FOLDER")
    else:
        try:
            os.makedirs(args.charts, exist_ok=True)
        except RecursionError:
            raise AmbleError(f"{args.charts[:60]}…: too many folders in one another") from None
        except FileExistsError:
            raise AmbleError(f"{args.charts}: a file, expected a folder") from None
        except OSError as error:
            raise AmbleError(f"{args.charts}: {error.strerror}") from None
        check_file(os.path.join(args.charts, "chart.svg"))


def _wanted(args: argparse.Namespace, mixtures: dict[str, Any]) -> list[Any]:
    """The measures of -m, or the usual ones, and the mixtures that the file of options names."""
    from amble.expressions.grammar import split_measures

    texts = args.measure or [_SESSIONS if args.sessions else _TIED if args.ties == "expected" else _DEFAULT]
    found: list[Any] = []
    for word in (word for text in texts for word in split_measures(text)):
        chosen = argparse.Namespace(measure=[word], trec=False, cwl=False, ties=args.ties, rel=None)
        found += [mixtures[word]] if word in mixtures else measures_of(chosen)
    return [*found, *(m for m in mixtures.values() if m not in found)]


def _mixtures(args: argparse.Namespace) -> dict[str, Any]:
    """The mixtures of the file of options, by name."""
    from amble.measures import parse
    from amble.measures.mixture import Mixture

    out: dict[str, Any] = {}
    for name, shares in args.mixtures.items():
        try:
            out[name] = Mixture({parse(of): share for of, share in shares.items()}, name=name)
        except AmbleError as error:
            raise AmbleError(f"{args.config}: mixtures.{name}: {error}") from None
    return out


def _spelled(gate: str, mixtures: dict[str, Any]) -> str:
    """A gate with the expression of a mixture in place of its name."""
    name, blank, rest = gate.partition(" ")
    return f"{mixtures[name]}{blank}{rest}" if name in mixtures else gate


def _systems(topics: int) -> int:
    """How many runs to show in detail: fewer where there are so many topics that distributions take long."""
    from amble.reporting.page import SYSTEMS

    return min(SYSTEMS, max(6, 8_000 // max(topics, 1)))


def _write(made: Any, args: argparse.Namespace) -> None:
    if args.latex is not None:
        write_whole(args.latex, made.leaderboard.table().latex() + "\n")
    if args.charts is not None:
        from amble.reporting.charts.chart import save
        from amble.reporting.charts.plotting import charts_of

        for name, chart in charts_of(made).items():
            for ending in dict.fromkeys(args.chart_format):
                path = os.path.join(args.charts, f"{name}.{ending}")
                keep_inputs(args, path)
                save(chart, path)
    made.save(args.output)


def _command(args: argparse.Namespace) -> str:
    """The command as it could be given again."""
    from amble.reporting.page import shell_paths

    words = "amble report"
    if args.named:
        words += f" {shlex.quote(args.qrels)} {shell_paths(args.runs)}"
    if args.config is not None:
        words += f" --config {shlex.quote(args.config)}"
    for option, (_, usual) in _USUAL.items():
        value = getattr(args, option)
        if option == "output" or value is None or (value == usual and args.config is None):
            continue
        if args.config is not None and option not in args.given:
            continue  # it stands in the file
        name = option.replace("_", "-")
        for one in value if isinstance(value, list) else [value]:
            words += f" --{name}" if one is True else f" --{name} {shlex.quote(str(one))}"
    there = args.config is not None and "output" not in args.given
    return words if there else f"{words} -o {shlex.quote(args.output)}"


def _config(args: argparse.Namespace, measures: list[str]) -> str:
    """The file of options that makes this report again."""
    from amble.reporting.options import write_config

    options = {key: getattr(args, option) for option, (key, _) in _USUAL.items()}
    options |= {"qrels": args.qrels, "runs": list(args.runs), "measures": measures, "title": args.title or None}
    options["mixtures"] = args.mixtures
    if args.charts is None:
        options["chart-format"] = None
    return write_config(options)
