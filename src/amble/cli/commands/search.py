"""Search an index for topics, and write a run.

  amble search vaswani.index query-text.trec -o bm25.run
  amble search vaswani.index query-text.trec --scorer "lm(mu=500)" -k 100 -o lm.run
  amble search cranfield.index cran.qry.xml --renumber --scorer cosine -o cosine.run

Scorers: jaccard, logtf, tfidf, cosine(weights='lnc.ltc', base=10), bm25(k1=1.2, b=0.75), lm(mu=2000). The run's tag is
the scorer's name. Equal scores are ranked as trec_eval reads them, by ids, the last first.
"""

from __future__ import annotations

import argparse
import sys

from amble.cli.options import add_output, add_top, add_topic_reading, topic_reading_of
from amble.cli.output import note


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    add = parser.add_argument
    add("index", metavar="INDEX", help="what amble index wrote")
    add(
        "topics", metavar="TOPICS", help="<top>, <topic>, JSON lines, .I 1 with .W, or an id, a tab and text; irds:NAME"
    )
    add("--scorer", default="bm25", metavar="S", help="jaccard, logtf, tfidf, cosine, bm25 or lm (default: bm25)")
    add_top(add)
    add("--tag", metavar="NAME", help="what to call the run (default: the scorer's name)")
    add_topic_reading(add)
    add_output(add, file="RUN")


def run(args: argparse.Namespace) -> int:
    """Search and write."""
    from amble.errors import AmbleError
    from amble.progress import Progress
    from amble.retrieval.search import search

    with Progress("searching") as line:
        hits = search(
            args.index, args.topics, args.scorer, args.top, tag=args.tag, progress=line, **topic_reading_of(args)
        )
    if args.output is not None:
        hits.write(args.output)
    elif sys.stdout is None:
        raise AmbleError("there is no standard output to write to")
    else:
        sys.stdout.writelines(hits.lines())
    found = set(hits)
    nothing = [topic for topic in hits.topics if topic not in found]
    more = f"; nothing for {', '.join(nothing[:5])}{', ...' if len(nothing) > 5 else ''}" if nothing else ""
    note(args, f"{hits}{more}")
    return 0
