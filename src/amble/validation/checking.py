"""Check run files, and the judgments they are evaluated against.

An *error* is what the reader refuses, with the same message: a file without errors can be evaluated, a file with errors
cannot.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from amble.io.files import path_name
from amble.validation.findings import FileReport
from amble.validation.lines import Progress
from amble.validation.qrels_check import check_qrels
from amble.validation.run_check import check_run

__all__ = ["check"]


def check(
    runs: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    qrels: str | os.PathLike[str] | None = None,
    *,
    depth: int = 1000,
    keep: int | None = None,
    progress: Progress | None = None,
    max_line: int | None = None,
    subtopics: bool = False,
) -> list[FileReport]:
    r"""Reports on run files, and on the judgments they are evaluated against.

    Parameters
    ----------
    runs : path, or sequence of paths
        Plain or compressed; ``-`` for standard input.
    qrels : path, optional
        Judgments: checked, too, and their topics compared with those of the runs.
    depth : int, optional
        The most documents a topic should have.
    keep : int, optional
        How many findings of a kind and file to keep; without it, all. All are counted.
    progress : callable, optional
        Called with the path and the lines read so far.
    max_line : int, optional
        The longest line, in bytes (see `amble.read_runs`).
    subtopics : bool, optional
        Whether the judgments are of subtopics: ``topic subtopic doc grade``.

    Returns
    -------
    list of FileReport
        One per file, the qrels first. A file that cannot be read has an error of its own, and the others are checked.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from amble.validation import check
    >>> path = pathlib.Path(tempfile.mkdtemp(), "a.run")
    >>> _ = path.write_text("401 Q0 d1 1 9.5 mine\n401 Q0 d1 2 9.4 mine\n")
    >>> [report] = check([path])
    >>> report.errors, report.warnings, report.notes
    (1, 0, 0)
    >>> [finding.text for finding in report.findings]
    ["document 'd1' appears twice for topic '401' (first on line 1)"]
    """
    reports, judged = [], None
    name = "" if qrels is None else path_name(qrels)
    if qrels is not None:
        report, judged = check_qrels(name, keep=keep, progress=progress, max_line=max_line, subtopics=subtopics)
        reports.append(report)
        judged = judged or None  # nothing could be read: nothing to compare the runs with
    first: dict[str, str] = {}
    for run in [runs] if isinstance(runs, str | os.PathLike) else runs:
        report = check_run(run, judged, qrels=name, depth=depth, keep=keep, progress=progress, max_line=max_line)
        reports.append(report)
        if report.tag and first.setdefault(report.tag, report.path) != report.path:
            text = "the tag is also that of {}: the runs will go by their files' names"
            report.findings.add("same-tag", None, text, first[report.tag])
    return reports
