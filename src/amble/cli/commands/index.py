"""Index a collection of documents, to be searched with amble search.

  amble index docs.trec.gz -o vaswani.index
  amble index cran.all.1400.xml --fields title text -o cranfield.index
  amble index corpus/ --language italian -o news.index
  amble index irds:vaswani -o vaswani.index

Files may be TREC's <DOC>, JSON lines with an id, .I 1 with fields such as .W, or lines of an id, a tab and text; a
folder is read with all that is below it. The index is one file.
"""

from __future__ import annotations

import argparse

from amble import checks
from amble.cli.options import whole
from amble.cli.output import note
from amble.errors import AmbleError
from amble.io.files import LONGEST_DOCUMENT


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    add = parser.add_argument
    add(
        "collection",
        metavar="COLLECTION",
        nargs="+",
        help="files or folders (plain, gzip, xz, bzip2 or zstd), irds:NAME",
    )
    add("-o", "--output", metavar="INDEX", required=True, help="the file to write")
    add("--language", default="english", metavar="L", help="whose stems and stop words, or none (default: english)")
    add("--stopwords", metavar="FILE", help="a file of words to leave out, or none (default: those of the language)")
    add("--no-stemming", action="store_true", help="words as they are")
    add("--fields", nargs="+", metavar="NAME", help="the tags or keys to take (default: all)")
    add("--encoding", metavar="CODE", help="of the files (default: utf-8, or what an XML declaration says)")
    most = whole(1, checks.INT32)
    add("--max-document", type=most, metavar="BYTES", help=f"the longest document (default: {LONGEST_DOCUMENT})")
    add("--quiet", action="store_true", help="no summary on standard error")


def run(args: argparse.Namespace) -> int:
    """Index and save."""
    from amble.progress import Progress
    from amble.retrieval.inverted_index import index

    with Progress("indexing") as line:
        made = index(
            *args.collection,
            language=args.language,
            stopwords=_words(args.stopwords),
            stemming=not args.no_stemming,
            fields=args.fields,
            encoding=args.encoding,
            max_document=args.max_document,
            progress=line.count,
        )
    made.save(args.output)
    empty = int((made.lengths == 0).sum())
    more = f"; {empty:,} of the documents without a term" if empty else ""
    note(args, f"{args.output}: {made}{more}")
    return 0


def _words(path: str | None) -> bool | list[str]:
    """Read the stop words."""
    if path is None or path == "none":
        return path is None
    from amble.io.files import numbered_lines

    words = [word for _, line in numbered_lines(path) for word in line.split()]
    if not words:
        raise AmbleError(f"{path}: empty, expected words; --stopwords none leaves out no words")
    return words
