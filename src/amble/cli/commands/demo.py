"""Make a small collection (six systems, 25 topics, pooled judgments), evaluate it, show what was decided on the way,
write a report of it, and print what to try next.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from amble.cli.options import SEED, whole
from amble.errors import AmbleError

_MEASURES = ("AP", "nDCG@10", "P@10", "RR", "RBP(p=0.8)", "ERR@20")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    add = parser.add_argument
    add("folder", nargs="?", default="demo", help="where to write it (default: %(default)s)")
    add("--size", type=whole(1, 600), default=25, metavar="N", help="how many topics (default: %(default)s)")
    add("--seed", type=SEED, default=7, metavar="S", help="same seed, same collection (default: %(default)s)")


def run(args: argparse.Namespace) -> int:
    """Make the collection, evaluate it, show the results."""
    from amble.cli.demo_collection import make_collection
    from amble.evaluation.scores import evaluate
    from amble.native import is_compiled
    from amble.table import Table

    page = Path(args.folder, "report.html")
    if page.exists() and not Path(args.folder, "qrels.txt").exists():  # not from here
        raise AmbleError(f"{page}: is there already and holds something else, expected a new folder")
    made = make_collection(args.folder, args.size, args.seed)
    scores = evaluate(made.qrels, list(made.runs), list(_MEASURES))
    qrels, audit = scores.aligned.qrels, scores.rankings.audit
    print(f"{made.qrels}: {len(qrels)} judgments of {len(qrels.topics)} topics; {len(made.runs)} runs beside it\n")
    print(scores.mean().text(bold=sys.stdout is not None and sys.stdout.isatty()) + "\n")
    rows = audit.rows()
    print(f"{Table(list(rows[0]), [list(row.values()) for row in rows])}\n")
    reader = "C" if is_compiled("reader") else "plain Python"
    print(f"{audit}\n(read by the {reader} reader)\n")
    distribution = scores.distribution("hybrid", qrels.topics[0], "AP")
    print(
        f"Not only a number: of the users that AP has in mind, on topic {qrels.topics[0]} of 'hybrid', a quarter see a "
        f"precision of at most {distribution.quantile(0.25):.2f}, half at most {distribution.quantile(0.5):.2f}.\n"
    )
    here = "python -m amble" if sys.argv[0].endswith("__main__.py") else sys.argv[0]
    print("Next:")
    print(f"  {here} eval {made.qrels} {args.folder}/*.run -m AP nDCG@10 -q --format tsv")
    print(f"  {here} report {made.qrels} {args.folder}/*.run --baseline bm25 -o {args.folder}/mine.html")
    print(f"  {here} check {args.folder}/*.run --qrels {made.qrels}")
    print(f"  {here} list RBP\n")
    print(_report(scores, made, args))
    return 0


def _report(scores: Any, made: Any, args: argparse.Namespace) -> str:
    """Write the report beside the collection if the extra is installed; return where it is, or what is missing."""
    from amble.cli.output import provenance
    from amble.reporting.page import jinja, report

    try:
        jinja()
    except AmbleError as error:
        return f"No report was written: {error}"
    path = Path(args.folder) / "report.html"
    files = provenance(scores.rankings, [], [str(made.qrels), *map(str, made.runs)], {})["files"]
    report(scores, baseline="bm25", title="A small collection that never was", files=files).save(path)
    return f"All of it on one page, to be opened in a browser: {path}"
