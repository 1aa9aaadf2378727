"""Show why a document has its score: the terms of the topic, and what each of them brings.

  amble explain vaswani.index 4817 --topic "dielectric constant of liquids"
  amble explain vaswani.index 4817 --topics query-text.trec --topic 1 --scorer lm

For each term: how often it stands in the query and in the document (tf), how many documents have it (df), how often it
stands in all of them (cf), its idf where the scorer has one, its two weights, and their product, which is added up.
"""

from __future__ import annotations

import argparse

from amble.cli.options import FORMATS, add_digits, add_output, add_topic_reading, refuse, topic_reading_of
from amble.cli.output import write
from amble.errors import AmbleError


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    add = parser.add_argument
    add("index", metavar="INDEX", help="what amble index wrote")
    add("doc", metavar="DOC", help="the document's id")
    add("--topic", required=True, metavar="T", help="the query; with --topics, the id of a topic")
    add("--topics", metavar="FILE", help="the topics, as for amble search")
    add("--scorer", default="bm25", metavar="S", help="jaccard, logtf, tfidf, cosine, bm25 or lm (default: bm25)")
    add_topic_reading(add)
    add("--format", choices=FORMATS, default="table", help="how to write it (default: table)")
    add_digits(add)
    add_output(add, quiet=False)


def run(args: argparse.Namespace) -> int:
    """Explain and write."""
    from amble.retrieval.explanation import explain

    text = args.topic
    if args.topics is None:
        refuse(args, "fields language renumber encoding", "is of topics in a file: expected --topics FILE")
    else:
        from amble.retrieval.topics import read_topics

        topics = read_topics(args.topics, **topic_reading_of(args))
        if args.topic not in topics:
            raise AmbleError(f"{args.topics}: no topic {args.topic}; there are {', '.join(list(topics)[:5])}, ...")
        text = topics[args.topic]
    table = explain(args.index, args.doc, text, args.scorer, digits=args.digits)
    write(table.render(args.format), args.output)
    return 0
