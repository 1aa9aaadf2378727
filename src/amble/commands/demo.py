"""Make a small collection (six systems, 25 topics, pooled judgments), let the runs meet the judgments, show what was
decided on the way, and say what to try next.
"""

from __future__ import annotations

import argparse

_DEFAULT = "demo"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument("folder", nargs="?", default=_DEFAULT, help="where to write it (default: %(default)s)")
    parser.add_argument("--topics", type=int, default=25, metavar="N", help="how many topics (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=7, help="same seed, same collection (default: %(default)s)")


def run(args: argparse.Namespace) -> int:
    """Make the collection and show its audit."""
    from amble.align import align
    from amble.collection import make_collection
    from amble.errors import AmbleError
    from amble.read import compiled

    if not 1 <= args.topics <= 600:
        raise AmbleError(f"--topics {args.topics}: expected 1 to 600")
    made = make_collection(args.folder, args.topics, args.seed)
    rankings = align(made.qrels, list(made.runs))
    print(f"{made.qrels}: {len(rankings.qrels)} judgments of {len(rankings.topics)} topics")
    rows = rankings.audit.rows()
    print("  ".join(f"{name:>{11 if name != 'run' else 10}}" for name in rows[0]))
    for row in rows:
        print("  ".join(f"{value:>{11 if name != 'run' else 10}}" for name, value in row.items()))
    print(rankings.audit)
    print(f"read by the {'C' if compiled() else 'plain Python'} reader\n")
    print(f"Next: amble check {args.folder}/*.run --qrels {made.qrels}")
    return 0
