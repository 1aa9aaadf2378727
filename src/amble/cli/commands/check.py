"""Report everything that is wrong or odd with run files, and with the judgments they are to meet, line by line.

An error is what amble refuses; a warning is probably not what was meant; a note is odd, and harmless. Exit code: 0
nothing wrong (warnings and notes allowed), 1 errors (or, with --strict, warnings), 2 a file cannot be read.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from amble.cli.options import add_longest_line, refuse, whole
from amble.progress import Progress

if TYPE_CHECKING:
    from amble.validation import FileReport

_SHOWN = 5  # findings of a kind, unless all are wanted


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument("runs", nargs="*", metavar="RUN", help="run files, plain or compressed; - is standard input")
    parser.add_argument("--qrels", metavar="QRELS", help="judgments: checked too, and compared with the runs' topics")
    parser.add_argument(
        "--subtopics", action="store_true", help="the judgments are of subtopics: topic subtopic doc grade"
    )
    parser.add_argument(
        "--depth",
        type=whole(),
        default=1000,
        metavar="K",
        help="the most documents a topic should have (default: 1000)",
    )
    add_longest_line(parser.add_argument)
    parser.add_argument("--all", action="store_true", help=f"print all findings, not the first {_SHOWN} of each kind")
    parser.add_argument("--strict", action="store_true", help="exit with 1 on warnings, too")
    parser.add_argument("--format", choices=("text", "tsv", "json"), default="text", help="default: text")


def run(args: argparse.Namespace) -> int:
    """Check the files, print what was found."""
    from amble.errors import AmbleError
    from amble.validation import check

    if args.qrels is None:
        refuse(args, "subtopics", "is of judgments: expected --qrels QRELS")
    files = [*args.runs, *([] if args.qrels is None else [args.qrels])]
    if not files:
        raise AmbleError("nothing to check, expected run files or --qrels (see amble check --help)")
    if files.count("-") > 1:
        raise AmbleError("-: standard input can be read only once")
    with Progress("checking") as line:

        def progress(path: str, lines: int) -> None:
            line.what = f"{_visible(path, sys.stderr)}, lines"
            line.count(lines)

        keep, seen = None if args.all else _SHOWN, progress if line.seen else None
        how = {"depth": args.depth, "max_line": args.max_line, "subtopics": args.subtopics}
        reports = check(args.runs, args.qrels, keep=keep, progress=seen, **how)
    if len(reports) == 1 and reports[0].unreadable is not None:
        raise reports[0].unreadable
    for text in {"text": _text, "tsv": _tsv, "json": _json}[args.format](reports):
        _write(text)
    unreadable = [report.path for report in reports if report.unreadable]
    if unreadable and sys.stderr is not None:
        print(f"amble: cannot be read: {_visible(', '.join(unreadable), sys.stderr)}", file=sys.stderr)
    if unreadable:
        return 2
    return int(any(report.errors or (args.strict and report.warnings) for report in reports))


def _visible(text: str, stream: Any) -> str:
    """Escape what does not print or what the stream cannot say: names in a file may hold anything."""
    if not text.isprintable():
        text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    encoding = stream.encoding or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def _write(line: str) -> None:
    if not (line.isascii() and line.isprintable()):
        line = "\t".join(_visible(column, sys.stdout) for column in line.split("\t"))
    print(line)


def _more(report: FileReport) -> Iterator[tuple[int | None, str, str, str]]:
    """Yield line, severity, kind and text of each finding, and after each kind how many were left out."""
    findings = list(report.findings)
    shown = 0
    for i, finding in enumerate(findings):
        yield finding.line, finding.severity, finding.kind, finding.text
        shown += 1
        if i + 1 == len(findings) or findings[i + 1].kind != finding.kind:
            if left := report.findings.counts[finding.kind] - shown:
                yield None, finding.severity, finding.kind, f"… and {left:,} more"
            shown = 0


def _text(reports: list[FileReport]) -> Iterator[str]:
    for report in reports:
        for line, severity, _, text in _more(report):
            where = report.path if line is None else f"{report.path}:{line}"
            yield f"{where}: {severity}: {text}".replace("\t", "\\t")
    for report in reports:
        yield _summary(report).replace("\t", "\\t")


def _summary(report: FileReport) -> str:
    parts = [_count(report.topics, "topic")]
    parts.append(_count(report.documents, "document" if report.role == "run" else "judgment"))
    if report.depth is not None:
        least, median, most = report.depth
        parts.append(f"depth {least:,}/{median:,.12g}/{most:,} (min/median/max)")
    if report.role == "run":
        others = " and others" if report.findings.counts["tags"] else ""
        parts.append(f"tag {report.tag}{others}" if report.tag else "no tag")
    found = (_count(n, w) for n, w in ((report.errors, "error"), (report.warnings, "warning"), (report.notes, "note")))
    return f"{report.path}: {', '.join(parts)}: {', '.join(found)}"


def _count(n: int, what: str) -> str:
    return f"{n:,} {what}{'s' * (n != 1)}"


def _tsv(reports: list[FileReport]) -> Iterator[str]:
    yield "file\tline\tseverity\tkind\ttext"
    for report in reports:
        for line, severity, kind, text in _more(report):
            columns = (report.path, "" if line is None else str(line), severity, kind, text)
            yield "\t".join(column.replace("\t", "\\t") for column in columns)


def _json(reports: list[FileReport]) -> Iterator[str]:
    totals = {name: sum(getattr(report, name) for report in reports) for name in ("errors", "warnings", "notes")}
    yield from json.dumps({**totals, "files": [report.to_dict() for report in reports]}, indent=2).splitlines()
