"""Judge a pool: judging sheets, written and read back, one document at a time, agreement, relevant documents found
by one run only, what orders of judging cost.

amble judge sheet     pool.txt -o sheet.html --grades 0,1,2     # for a browser; .csv for a spreadsheet
amble judge read      judgments.csv --pool pool.txt --grades 0,1,2 -o qrels.txt
amble judge ask       *.run --depth 20 --order mtf -o qrels.txt # in this terminal, in an adaptive order; resumable
amble judge agreement first.txt second.txt                      # Cohen's kappa, Krippendorff's alpha, overlap
amble judge uniques   qrels.txt *.run --depth 100               # relevant documents found by one run only
amble judge cost      qrels.txt *.run --depth 100               # judgments to find 50, 80, 95 % of the relevant ones
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

from amble.cli.options import (
    DIGITS,
    FORMATS,
    SEED,
    add_lists,
    add_output,
    lists_of,
    number,
    read_groups,
    read_numbers,
    reading_of,
    refuse,
    whole,
)
from amble.cli.output import note, warn_topic_named_all, write
from amble.errors import AmbleError, UnjudgedWarning
from amble.io.columns import check_columns
from amble.judging.judging_orders import ORDERS, TOLD

__all__ = ["arguments", "run"]

# which action an option belongs to
_OF = {
    "grades": ("sheet", "read", "ask"),
    "texts": ("sheet", "ask"),
    "topics": ("sheet", "ask"),
    "encoding": ("sheet", "ask"),
    "topic": ("sheet", "ask"),
    "all": ("sheet", "read"),
    "pool": ("read",),
    "order": ("ask",),
    "budget": ("ask",),
    "by_topic": ("agreement",),
    "groups": ("uniques",),
    "orders": ("cost",),
    "found": ("cost",),
    "unjudged": ("cost",),
    "rel": ("ask", "agreement", "uniques", "cost"),
    "seed": ("ask", "cost"),
    **dict.fromkeys(("depth", "ties", "duplicates", "threads"), ("ask", "uniques", "cost")),
    "format": ("agreement", "uniques", "cost"),
    "digits": ("agreement", "uniques", "cost"),
}
# what an option is if nobody says; the parser leaves it open, so that those given for another action are known
_USUAL = {"grades": "0,1", "order": "mtf", "unjudged": "skip", "rel": 1.0, "seed": 0, "depth": 100}
_USUAL |= {"format": "table", "digits": 4}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    add = parser.add_argument
    add("action", metavar="ACTION", choices=tuple(_ACTIONS), help=", ".join(_ACTIONS))
    add("files", metavar="FILE", nargs="+", help="a pool, sheets, judgments or runs: see above")
    add("--pool", metavar="POOL", help="read: the pool that the sheets were made of")
    add("--grades", metavar="G,…", help="sheet, read, ask: the grades, as 0,1,2 or 0=no,1=yes (default: 0,1)")
    add("--texts", metavar="FILE", help="sheet, ask: the documents to show, as for amble index")
    add("--topics", metavar="FILE", help="sheet, ask: the topics, as for amble search")
    add("--encoding", metavar="CODE", help="sheet, ask: of these two (default: utf-8, or what an XML declaration says)")
    add("--topic", metavar="T", action="append", help="sheet, ask: only this topic; may be given several times")
    add("--all", action="store_true", default=None, help="sheet, read: documents that are judged, too")
    add("--order", choices=ORDERS, help=f"ask: which document comes next: {TOLD} (default: mtf)")
    add("--budget", type=whole(), metavar="N", help="ask: no more judgments per topic than N")
    add("-q", "--by-topic", action="store_true", default=None, help="agreement: one row per topic, too")
    add("--groups", metavar="N|FILE", help="uniques: runs that count as one, by N first letters, or lines of run group")
    add("--orders", metavar="ORDER,…", help=f"cost: of {', '.join(ORDERS)} (default: all)")
    add("--found", metavar="R,…", help="cost: shares of the relevant documents to find (default: 0.5,0.8,0.95,1)")
    add("--unjudged", choices=("skip", "zero"), help="cost: documents nobody judged (default: skip)")
    add("--rel", type=number(), metavar="GRADE", help="the least grade that is relevant (default: 1)")
    add("--seed", type=SEED, metavar="S", help="ask, cost: same seed, same order (default: 0)")
    add_lists(add, None, "100")
    add("--format", choices=FORMATS, help="agreement, uniques, cost (default: table)")
    add("--digits", type=DIGITS, metavar="N", help="decimals (default: 4)")
    add_output(add)


def _one(args: argparse.Namespace, what: str) -> str:
    if len(args.files) != 1:
        raise AmbleError(f"amble judge {args.action}: found {len(args.files)} files, expected one: {what}")
    return str(args.files[0])


def _qrels_and_runs(args: argparse.Namespace) -> tuple[str, list[str]]:
    if len(args.files) < 2:
        raise AmbleError(f"amble judge {args.action}: found {args.files[0]} alone, expected QRELS RUN...")
    return args.files[0], args.files[1:]


def _judgments(args: argparse.Namespace, files: list[str]) -> list[Any]:
    from amble.io.trec import read_qrels

    reading = reading_of(args)
    found = [read_qrels(file, **reading) for file in files]
    check_columns(reading["columns"]).refuse_unmet()
    return found


def _sheet(args: argparse.Namespace) -> None:
    from amble.judging.sheets import read_texts, sheet
    from amble.retrieval.topics import read_topic_texts

    [pool] = _judgments(args, [_one(args, "a pool")])
    form = "html" if (args.output or "").lower().endswith((".html", ".htm")) else "csv"
    text = sheet(
        pool,
        form,
        grades=args.grades,
        texts=read_texts(args.texts, args.encoding) if args.texts else None,
        topics=read_topic_texts(args.topics, args.encoding) if args.topics else None,
        only=args.topic,
        everything=bool(args.all),
    )
    write(text, args.output)


def _read(args: argparse.Namespace) -> None:
    from amble.judging.sheets import read_sheets

    pool = None if args.pool is None else _judgments(args, [args.pool])[0]
    found = read_sheets(args.files, pool, grades=args.grades, everything=bool(args.all))
    write(found.text(), args.output)
    note(args, f"{found.judged:,} judged, {found.blanks:,} left blank; {len(found.docs):,} documents in the judgments")


def _agreement(args: argparse.Namespace) -> None:
    from amble.judging.assessor_agreement import agreement

    if len(args.files) < 2:
        raise AmbleError("amble judge agreement: found one file, expected the judgments of two assessors or more")
    table = agreement(
        _judgments(args, args.files),
        rel=args.rel,
        topics=bool(args.by_topic),
        digits=args.digits,
    )
    write(table.render(args.format), args.output)
    if args.by_topic:
        warn_topic_named_all(args, [str(topic) for topic in table["topic"][:-1]], "topic")


def _uniques(args: argparse.Namespace) -> None:
    from amble.judging.pooling import unique_relevant
    from amble.rankings.alignment import align

    qrels, runs = _qrels_and_runs(args)
    warnings.simplefilter("ignore", UnjudgedWarning)  # such a run brought nothing, and its row says so
    options = {key: getattr(args, key) for key in ("ties", "duplicates", "threads")}
    rankings = align(qrels, runs, **options, **reading_of(args))
    groups = None if args.groups is None else read_groups(args.groups, rankings.runs)
    table = unique_relevant(rankings, args.depth, groups=groups, rel=args.rel, digits=args.digits)
    write(table.render(args.format), args.output)


def _cost(args: argparse.Namespace) -> None:
    from amble.io.trec import read_qrels, read_runs
    from amble.judging.judging_cost import simulate_judging
    from amble.judging.pooling import pool
    from amble.progress import Progress

    qrels, runs = _qrels_and_runs(args)
    orders = ORDERS if args.orders is None else tuple(args.orders.split(","))
    targets = [0.5, 0.8, 0.95, 1.0] if args.found is None else read_numbers(args.found, "--found", float)
    reading = reading_of(args)
    known = read_qrels(qrels, **reading)
    made = pool(read_runs(*runs, **reading), **lists_of(args))
    how = {"rel": args.rel, "seed": args.seed, "unjudged": args.unjudged}
    with Progress("judging") as line:
        cost = simulate_judging(made, known, orders, **how, progress=line)
    write(cost.table(targets, digits=args.digits).render(args.format), args.output)


def _ask(args: argparse.Namespace) -> None:
    from amble.cli.judging_terminal import judge_at_terminal
    from amble.io.trec import read_runs

    if args.output is None:
        raise AmbleError("amble judge ask: expected -o FILE, where the judgments go")
    made, found = judge_at_terminal(
        read_runs(*args.files, **reading_of(args)),
        args.output,
        order=args.order,
        grades=args.grades,
        texts=args.texts,
        topics=args.topics,
        encoding=args.encoding,
        only=args.topic,
        budget=args.budget,
        rel=args.rel,
        seed=args.seed,
        lists=lists_of(args),
    )
    where = f"{found:,} relevant, in {args.output}" if made else f"{args.output} is as it was"
    note(args, f"{made:,} judgments made, {where}")


_ACTIONS = {"sheet": _sheet, "read": _read, "ask": _ask, "agreement": _agreement, "uniques": _uniques, "cost": _cost}


def run(args: argparse.Namespace) -> int:
    """Carry out the action."""
    for name, actions in _OF.items():
        if args.action not in actions:
            refuse(args, name, "goes with " + " or ".join(f"amble judge {action}" for action in actions))
    if args.texts is None and args.topics is None:
        refuse(args, "encoding", "is of texts and topics: expected --texts FILE or --topics FILE")
    for name, usual in _USUAL.items():
        if getattr(args, name) is None:
            setattr(args, name, usual)
    if args.orders is not None:
        unknown = [order for order in args.orders.split(",") if order not in ORDERS]
        if unknown:
            raise AmbleError(f"--orders: found {unknown[0]!r}, expected some of {', '.join(ORDERS)}")
    _ACTIONS[args.action](args)
    return 0
