"""Write a page in which you are the user: drag the sliders, and watch the ranking of runs change.

  amble explore qrels.txt bm25.run dense.run hybrid.run -o explore.html
  amble explore qrels.txt *.run -m AP nDCG@10 --user fit.toml -o explore.html
  amble explore -o play.html

The page is one file with everything inside; it computes scores, visits and distributions itself, and needs no network.
Without files it is a playground of lists, whose documents are clicked to change their grades.
"""

from __future__ import annotations

import argparse
import os
from typing import Any

from amble.cli.options import TIES, add_alignment, add_plugins, add_threads, alignment_of, measures_of, prepare, refuse
from amble.cli.output import keep_inputs, note
from amble.cli.plugins import load_plugins
from amble.errors import AmbleError

__all__ = ["arguments", "prepare", "run"]

_USUAL = "explore.html"
_OPTIONS = {"depth": None, "missing": None, "ties": "docno", "unjudged": "zero", "duplicates": "error", "columns": None}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    from amble.reporting.explorer import MEASURES

    add = parser.add_argument
    add("qrels", metavar="QRELS", nargs="?", help="judgments: topic iter doc grade, or a table")
    add("runs", metavar="RUN", nargs="*", help="runs: topic Q0 doc rank score tag, or a table")
    add(
        "-m",
        "--measure",
        metavar="MEASURE",
        action="append",
        help=f"what the user's ranking is set against (default: {MEASURES})",
    )
    add("--user", metavar="FIT", action="append", default=[], help="a file of `amble fit`: its users as presets")
    add("--title", metavar="TEXT", default="", help="what stands above the page")
    add_alignment(add, ties=tuple(way for way in TIES if way != "expected"), costs=False)
    add_threads(add)
    add("-o", "--output", metavar="FILE", default=_USUAL, help="the page (default: %(default)s)")
    add_plugins(add)
    add("--quiet", action="store_true", help="no summary on standard error")
    parser.set_defaults(costs=None)


def run(args: argparse.Namespace) -> int:
    """Make the page."""
    load_plugins(args)
    keep_inputs(args)
    if args.qrels is None:
        others = " ".join(sorted(args.given - {"output", "quiet"}))
        refuse(args, others, "goes with files: expected QRELS RUN…, or only -o for the playground")
        from amble.reporting.explorer import playground

        playground().save(args.output)
    else:
        _explore(args)
    print(f"page: {args.output}")
    return 0


def _explore(args: argparse.Namespace) -> None:
    if not args.runs:
        raise AmbleError("no runs: expected QRELS RUN…, or no files for the playground")
    from amble.evaluation.scores import evaluate
    from amble.reporting.explorer import MEASURES, explorer
    from amble.users.fit_file import read_fit

    users = [(os.path.basename(path).removesuffix(".toml"), read_fit(path)) for path in dict.fromkeys(args.user)]
    args.measure = args.measure or [MEASURES]
    chosen = measures_of(argparse.Namespace(measure=args.measure, trec=False, cwl=False, ties=args.ties, rel=None))
    scores = evaluate(args.qrels, list(args.runs), chosen, **alignment_of(args))
    words, aligned = _told(args)
    made = explorer(
        scores, title=args.title, qrels=args.qrels, files=args.runs, options=words, aligned=aligned, users=users
    )
    made.save(args.output)
    note(args, scores.rankings.audit)
    for name, fitted in users:
        others = [model.name for model in fitted.models if f"{name} {model.name}" not in _names(made)]
        if others:
            why = "expected one number for each parameter, and a user who stops"
            note(args, f"{name}: no preset of {', '.join(others)}: {why}")


def _names(made: Any) -> set[str]:
    return {one["name"] for one in made.data["fitted"]}


def _told(args: argparse.Namespace) -> tuple[list[str], dict[str, Any]]:
    """The options of the alignment that are not the usual ones, as the commands and `evaluate` take them."""
    from amble.cli.options import read_columns

    changed = {key: getattr(args, key) for key, usual in _OPTIONS.items() if getattr(args, key) not in (usual, None)}
    words = [word for key, value in changed.items() for word in (f"--{key}", str(value))]
    if "columns" in changed:
        changed["columns"] = read_columns(args.columns)
    if args.float32:
        words.append("--float32")
        changed["score_dtype"] = "float32"
    if args.allow_unjudged:
        words.append("--allow-unjudged")
    return words, changed
