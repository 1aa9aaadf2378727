"""Fuse runs into one, by scores, ranks or votes.

  amble fuse bm25.run dense.run -o fused.run                             # reciprocal rank fusion, k = 60
  amble fuse bm25.run dense.run --method combsum --norm z -o fused.run
  amble fuse bm25.run dense.run --method borda --weights 1,2 -o fused.run

What comes out is a run: topic Q0 doc rank score tag. Methods: combsum, combmnz, combanz, combmax, combmin, combmed (of
scores, made comparable by --norm), rrf, borda, condorcet (of ranks).
"""

from __future__ import annotations

import argparse
from typing import Any

from amble.cli.options import add_lists, add_output, add_top, lists_of, number, read_number, reading_of
from amble.cli.output import note, write
from amble.errors import AmbleError
from amble.fusion import BY_SCORE, METHODS, NORMS

__all__ = ["arguments", "run"]


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    add = parser.add_argument
    add("runs", metavar="RUN", nargs="+", help="runs: topic Q0 doc rank score tag")
    add("--method", choices=METHODS, default="rrf", help="how (default: %(default)s)")
    add("--norm", choices=NORMS, help="comb methods: of the scores of each list (default: minmax)")
    add("--weights", metavar="W,…", help="one number per run, in their order, or RUN=W,…; others 1")
    add("--rrf-k", type=number(), metavar="C", help="rrf: the sum of 1 / (C + rank) (default: 60)")
    add_top(add)
    add("--tag", metavar="NAME", help="the fused run's name (default: the method)")
    add_lists(add, None, "the whole list")
    add_output(add)


def _number(text: str, what: str) -> float:
    try:
        return read_number(text)
    except ValueError:
        raise AmbleError(f"--weights: found {what!r}, expected numbers with commas between, or RUN=NUMBER") from None


def _weights(text: str | None) -> Any:
    if text is None:
        return None
    words = text.split(",")
    if all("=" in word for word in words):
        pairs = [word.rpartition("=") for word in words]
        return {name: _number(number, word) for (name, _, number), word in zip(pairs, words, strict=True)}
    return [_number(word, word) for word in words]


def run(args: argparse.Namespace) -> int:
    """Fuse and write."""
    if args.norm is not None and args.method not in BY_SCORE:
        raise AmbleError(f"--norm goes with {', '.join(BY_SCORE)}: {args.method} looks at ranks")
    if args.rrf_k is not None and args.method != "rrf":
        raise AmbleError("--rrf-k goes with rrf")
    if len(args.runs) < 2:
        raise AmbleError(f"{len(args.runs)} run, expected at least two to fuse")
    weights = _weights(args.weights)
    from amble.fusion import fuse
    from amble.io.trec import read_runs, run_text

    fused = fuse(
        read_runs(*args.runs, **reading_of(args)),
        args.method,
        norm=args.norm or "minmax",
        weights=weights,
        rrf_k=60.0 if args.rrf_k is None else args.rrf_k,
        top=args.top,
        tag=args.tag,
        **lists_of(args),
    )
    documents = fused.documents()
    write(run_text(documents, fused.label), args.output)
    what = f"{args.method} ({args.norm or 'minmax'})" if args.method in BY_SCORE else args.method
    topics = f"{len(documents)} topic{'s' * (len(documents) != 1)}"
    note(args, f"{len(args.runs)} runs fused by {what}: {topics}, {len(documents.docs):,} documents")
    return 0
