"""Findings of a check, each with its line and severity, and the report of a file.

An *error* is what amble refuses, with the same message. A *warning* is read, but is probably not what was meant. A
*note* is odd, and harmless here.
"""

from __future__ import annotations

import bisect
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from amble.errors import ReadError

__all__ = ["SEVERITIES", "SEVERITY", "FileReport", "Finding", "Findings"]

Severity = Literal["error", "warning", "note"]

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")

SEVERITY: dict[str, Severity] = {
    # the file
    "unreadable": "error",
    "empty": "error",
    "one-subtopic": "error",
    "no-common-topic": "error",
    # a line that is refused
    "control": "error",
    "columns": "error",
    "number": "error",
    "duplicate": "error",
    # a line's columns
    "rank-number": "warning",
    "more-columns": "warning",
    "no-tag": "warning",
    "tags": "warning",
    "not-utf8": "warning",
    "tag": "note",
    "q0": "note",
    "not-ascii": "note",
    # a topic's order
    "rank-order": "warning",
    "rank-repeats": "warning",
    "rank-start": "warning",
    "rank-skips": "warning",
    "rank-base": "warning",
    "score-order": "warning",
    "one-score": "warning",
    "ties": "note",
    "single-precision": "note",
    # topics
    "split-topic": "warning",
    "too-deep": "warning",
    "missing-topic": "warning",
    "usual-depth": "note",
    "extra-topic": "note",
    "unjudged": "note",
    # judgments
    "large-grade": "warning",
    "no-relevant": "warning",
    "negative-grade": "note",
    "real-grade": "note",
    "split-judgments": "note",
    # bytes
    "bom": "note",
    "crlf": "note",
    "separators": "note",
    "blank": "note",
    "comment": "note",
    "final-newline": "note",
    # several runs
    "same-tag": "note",
}


class Finding(NamedTuple):
    """One finding: its line (None: the file as a whole), severity, kind and text."""

    line: int | None
    severity: Severity
    kind: str
    text: str


def _place(finding: Finding) -> float:
    return float("inf") if finding.line is None else finding.line


class Findings:
    """The findings of a file: of each kind the first few by line, and how many there are.

    Parameters
    ----------
    keep : int or None
        How many of a kind to keep, at least 1; None keeps all.

    Examples
    --------
    >>> found = Findings(keep=1)
    >>> found.add("blank", 7, "the line is blank")
    >>> found.add("blank", 3, "the line is blank")
    >>> found.add("control", 9, "byte {:#04x}", 7)
    >>> [finding.line for finding in found]
    [9, 3]
    >>> found.counts["blank"]
    2
    """

    def __init__(self, keep: int | None = None) -> None:
        self.keep = keep
        self.counts: Counter[str] = Counter()
        self._kept: dict[str, list[Finding]] = {}

    def add(self, kind: str, line: int | None, text: str, *parts: object) -> None:
        """Add a finding; the text is formatted, with ``str.format``, only if the finding is kept."""
        self.counts[kind] += 1
        kept = self._kept.setdefault(kind, [])
        full = self.keep is not None and len(kept) >= self.keep
        if full and (line is None or line >= _place(kept[-1])):
            return
        if parts:
            text = text.format(*parts)
        bisect.insort(kept, Finding(line, SEVERITY[kind], kind, text), key=_place)
        if full:
            kept.pop()

    def __iter__(self) -> Iterator[Finding]:
        """The findings kept: errors first, kinds in order of their first line."""
        groups = sorted(self._kept.values(), key=lambda group: (SEVERITIES.index(group[0].severity), _place(group[0])))
        return (finding for group in groups for finding in group)

    def number(self, severity: Severity) -> int:
        """The number of findings of a severity, kept or not."""
        return sum(n for kind, n in self.counts.items() if SEVERITY[kind] == severity)


@dataclass
class FileReport:
    """The findings of one file, with its size.

    Attributes
    ----------
    path : str
        The file, ``-`` for standard input.
    role : {"run", "qrels"}
    findings : Findings
    topics, documents : int
        What could be read; documents are judgments in the case of qrels.
    depth : tuple of (int, float, int) or None
        Least, median and most documents per topic.
    tag : str
        The run's tag, as the reader has it: the first there is.
    unreadable : ReadError or None
        Why the file could not be read to its end.
    """

    path: str
    role: Literal["run", "qrels"]
    findings: Findings
    topics: int = 0
    documents: int = 0
    depth: tuple[int, float, int] | None = None
    tag: str = ""
    unreadable: ReadError | None = field(default=None, repr=False)

    @property
    def errors(self) -> int:
        """The number of errors."""
        return self.findings.number("error")

    @property
    def warnings(self) -> int:
        """The number of warnings."""
        return self.findings.number("warning")

    @property
    def notes(self) -> int:
        """The number of notes."""
        return self.findings.number("note")

    @property
    def first_error(self) -> str:
        """The message of the error that `amble.align` would raise; empty if there is none.

        Examples
        --------
        >>> found = Findings()
        >>> found.add("columns", 3, "found 2 columns, expected 6: topic Q0 doc rank score tag")
        >>> FileReport("a.run", "run", found).first_error
        'a.run:3: found 2 columns, expected 6: topic Q0 doc rank score tag'
        """
        first = next(iter(self.findings), None)  # errors come first, the kind with the first line before the others
        if first is None or first.severity != "error":
            return ""
        return f"{self.path}{'' if first.line is None else f':{first.line}'}: {first.text}"

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data, for JSON."""
        depth = None if self.depth is None else dict(zip(("min", "median", "max"), self.depth, strict=True))
        return {
            "file": self.path,
            "role": self.role,
            "topics": self.topics,
            "documents": self.documents,
            "depth": depth,
            "tag": self.tag,
            "errors": self.errors,
            "warnings": self.warnings,
            "notes": self.notes,
            "counts": dict(self.findings.counts),
            "findings": [finding._asdict() for finding in self.findings],
        }
