"""Check a qrels file: wrong lines, documents judged twice, odd grades, topics without a relevant document."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from amble.arrays import NDArray
from amble.io.files import path_name
from amble.io.subtopics import no_subtopics
from amble.native.plain_reader import QRELS_LINE, SUBTOPICS_LINE, decode, judged_twice
from amble.validation.findings import FileReport, Findings
from amble.validation.lines import Progress, blocks, quote

__all__ = ["Judged", "check_qrels"]

_LARGE = 10  # a grade above this is more likely another column

Judged = dict[bytes, dict[bytes, int]]  # the line on which each document of a topic was first judged


def _look_at_grades(grades: NDArray[np.float64], lines: Sequence[int], found: Findings) -> None:
    """Report grades that are negative, not whole, or suspiciously large."""
    for i in np.flatnonzero((grades < 0) | (grades > _LARGE) | (grades != np.floor(grades))).tolist():
        grade = float(grades[i])
        if grade < 0:
            text = "grade {:.15g} is negative: in the pool, without gain, expected 0 or more"
            found.add("negative-grade", lines[i], text, grade)
        if grade > _LARGE:
            text = "grade {:.15g} is large, expected at most {} (is it another column?)"
            found.add("large-grade", lines[i], text, grade, _LARGE)
        if not grade.is_integer():
            text = "grade {:.15g} is not a whole number: honoured here, cut to one by trec_eval"
            found.add("real-grade", lines[i], text, grade)


def check_qrels(
    path: str | os.PathLike[str],
    *,
    keep: int | None = None,
    progress: Progress | None = None,
    max_line: int | None = None,
    subtopics: bool = False,
) -> tuple[FileReport, Judged]:
    r"""The report on a qrels file, and its judgments.

    Parameters
    ----------
    path : path
        Plain or compressed; ``-`` for standard input.
    keep : int, optional
        How many findings of a kind to keep; without it, all. All are counted.
    progress : callable, optional
        Called with the path and the lines read so far.
    max_line : int, optional
        The longest line, in bytes (see `amble.read_runs`).
    subtopics : bool, optional
        Whether the second column is a subtopic, for each of which a document is judged once.

    Returns
    -------
    FileReport
    Judged
        The judgments, as far as they could be read, for `check_run`.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "q.txt")
    >>> _ = path.write_text("401 0 d1 1\n401 0 d1 2\n402 0 d1 0\n")
    >>> report, judged = check_qrels(path)
    >>> for finding in report.findings:
    ...     print(finding.line, finding.severity, finding.text)
    2 error document 'd1' is judged twice for topic '401' (first on line 1)
    3 warning topic '402' has no relevant document, expected a grade of at least 1
    """
    found = Findings(keep)
    report = FileReport(path_name(path), "qrels", found)
    judged: Judged = {}
    best: dict[bytes, float] = {}
    now, last = b"", 0
    ended: dict[bytes, int] = {}  # the line on which each topic's lines ended
    usual: bytes | None = None  # what the second column of the first line has
    unusual: dict[int, bytes] = {}  # and of the lines that have another one
    first: dict[tuple[bytes, bytes, bytes], int] = {}  # the line of each judgment of a subtopic
    layout = SUBTOPICS_LINE if subtopics else QRELS_LINE
    for block in blocks(report, layout, progress, max_line):
        _look_at_grades(np.frombuffer(block.numbers), block.lines, found)
        for line, (topic, second, doc, _), grade in zip(block.lines, block.rows, block.numbers, strict=True):
            if topic != now:
                if topic in judged:
                    text = "topic {} comes back (its lines ended on line {}), expected them to stand together"
                    found.add("split-judgments", line, text, quote(topic), ended[topic])
                ended[now], now = last, topic
                docs = judged.setdefault(topic, {})
            last = line
            usual = second if usual is None else usual
            if second != usual:
                unusual[line] = second
            at = docs.setdefault(doc, line)
            before = None if subtopics else unusual.get(at, usual)
            if subtopics:
                at = first.setdefault((topic, doc, second), line)
            if at != line:
                found.add("duplicate", line, "{}", judged_twice(topic, doc, before, second, f"on line {at}"))
                continue
            best[topic] = max(grade, best.get(topic, grade))
    for topic, grade in best.items():
        if grade < 1:
            text = "topic {} has no relevant document, expected a grade of at least 1"
            found.add("no-relevant", next(iter(judged[topic].values())), text, quote(topic))
    if not judged and not report.errors:
        found.add("empty", None, f"empty, expected judgments: {layout.columns}")
    if subtopics and usual is not None and not unusual and not report.errors:
        found.add("one-subtopic", None, no_subtopics(decode(usual)))
    sizes = [len(docs) for docs in judged.values()]
    report.topics, report.documents = len(sizes), len(first) if subtopics else sum(sizes)
    if sizes:
        report.depth = min(sizes), float(np.median(sizes)), max(sizes)
    return report, judged
