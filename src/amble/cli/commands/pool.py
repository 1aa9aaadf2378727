"""Pool runs: the documents that some run ranks within a depth, for assessors to judge.

  amble pool *.run --depth 100 -o pool.txt                 # lines: topic 0 doc -2, which means to be judged
  amble pool *.run --depth 100 --format tsv                # with best rank, and which runs brought each document
  amble pool *.run --qrels qrels.txt --order mtf           # in the order in which move-to-front would have judged it
  amble pool *.run --sample 0.1 --seed 7 -o pool.txt       # a tenth is to be judged, the rest is marked -1 (infAP)

A pool is a qrels file in which a grade below zero says that nobody judged: -2 if someone is to, -1 if a sample left the
document out. amble judge makes sheets of it. A summary goes to standard error.
"""

from __future__ import annotations

import argparse
from typing import Any

from amble.cli.options import (
    FORMATS,
    SEED,
    add_lists,
    add_output,
    lists_of,
    number,
    read_number,
    read_whole,
    reading_of,
)
from amble.cli.output import note, write
from amble.errors import AmbleError
from amble.judging.judging_orders import ORDERS, TOLD

__all__ = ["arguments", "run"]

_FORMATS = ("qrels", "strata", *FORMATS)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    add = parser.add_argument
    add("runs", metavar="RUN", nargs="+", help="runs: topic Q0 doc rank score tag")
    add_lists(add, 100)
    add(
        "--qrels",
        metavar="QRELS",
        help="judgments that exist: their grades go into the pool, and orders learn from them",
    )
    add("--rel", type=number(), default=1.0, metavar="GRADE", help="the least grade that is relevant (default: 1)")
    add("--order", choices=ORDERS, default="docno", help=f"of the documents of a topic: {TOLD} (default: %(default)s)")
    add("--sample", type=number(), metavar="RATE", help="judge a random share of each topic's documents")
    add("--strata", metavar="K:RATE,…", help="judge a share by best rank: 10:1,100:0.1")
    add("--seed", type=SEED, default=0, metavar="S", help="of samples and orders (default: %(default)s)")
    add("--format", choices=_FORMATS, default="qrels", help="qrels, strata (for xinfAP), or a table with contributors")
    add_output(add)


def _strata(text: str) -> list[tuple[int, float]]:
    out = []
    for part in text.split(","):
        depth, colon, rate = part.partition(":")
        try:
            out.append((read_whole(depth), read_number(rate)))
        except ValueError:
            raise AmbleError(
                f"--strata: found {part!r}, expected DEPTH:RATE with commas between, as 10:1,100:0.1"
            ) from None
        if not colon:
            raise AmbleError(f"--strata: found {part!r}, expected DEPTH:RATE")
    return out


def run(args: argparse.Namespace) -> int:
    """Pool and write."""
    if args.sample is not None and args.strata is not None:
        raise AmbleError("--sample and --strata are two ways to draw; expected one of them")
    if args.format == "strata" and args.sample is None and args.strata is None:
        raise AmbleError("--format strata goes with --strata or --sample")
    strata = [] if args.strata is None else _strata(args.strata)
    from amble.io.trec import read_qrels, read_runs
    from amble.judging.judging_orders import order_pool
    from amble.judging.pooling import pool

    reading = reading_of(args)
    known = None if args.qrels is None else read_qrels(args.qrels, **reading)
    made = pool(read_runs(*args.runs, **reading), **lists_of(args))
    sample = None
    if args.sample is not None or strata:
        sample = made.sample(args.sample, strata=strata, seed=args.seed)
    grades = made.judgments(known, sample)
    order = order_pool(made, args.order, known, rel=args.rel, seed=args.seed)
    if args.format == "qrels":
        text = made.text(grades, order)
    elif args.format == "strata":
        text = _with_strata(made, grades, order, [depth for depth, _ in strata] or [made.depth])
    else:
        table = made.table(order)
        if known is not None or sample is not None:
            table.columns = (*table.columns[:-1], "grade", table.columns[-1])
            shown = [int(g) if g.is_integer() else g for g in grades[order].tolist()]
            table.rows = [(*row[:-1], grade, row[-1]) for row, grade in zip(table.rows, shown, strict=True)]
        text = table.render(args.format)
    write(text, args.output)
    note(args, _summary(made, grades, known, args))
    return 0


def _with_strata(made: Any, grades: Any, order: Any, depths: list[int]) -> str:
    """Lines of topic, 0, document, stratum and grade, as the evaluation script of xinfAP takes them."""
    lines = made.text(grades, order).split("\n")
    stratum = made.strata(depths)[order].tolist()
    return "\n".join(
        " ".join((*line.split()[:3], str(s), line.split()[3])) for line, s in zip(lines, stratum, strict=True)
    )


def _summary(made: Any, grades: Any, known: Any, args: argparse.Namespace) -> str:
    import numpy as np

    sizes = np.diff(made.offsets)
    text = (
        f"{len(made.runs)} run{'s' * (len(made.runs) != 1)} pooled to depth {made.depth}: {len(made.topics)} "
        f"topic{'s' * (len(made.topics) != 1)}, {len(made):,} documents "
        f"({sizes.min()}/{int(np.median(sizes))}/{sizes.max()} a topic: min/median/max), "
        f"{int((grades == -2).sum()):,} to judge"
    )
    if known is not None:
        relevant = int((known.grades >= args.rel).sum())
        where = "in the pool" if args.sample is None and args.strata is None else "in the sample"
        text += (
            f"; {int((grades >= 0).sum()):,} judged, "
            f"{int((grades >= args.rel).sum()):,} of the {relevant:,} relevant ones of {args.qrels} {where}"
        )
        topics = set(known.topics)
        without = [topic for topic in made.topics if topic not in topics]
        if without:
            text += f"; {args.qrels} has nothing of {', '.join(without[:5])}{', ...' if len(without) > 5 else ''}"
    return text + (f"; {made.dropped:,} duplicates left out" if made.dropped else "")
