"""Runs and judgments as the lines of TREC files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from amble.errors import AmbleError
from amble.io.ranked import Documents

__all__ = ["grade_text", "qrels_text", "run_line", "run_text", "unfit"]

_NO_COLUMN = re.compile("[\0-\x20]")  # the reader ends a column there, or refuses the line
_BLANK = " \t\n\v\f\r"


def unfit(name: str, *, first: bool = False) -> str:
    r"""What keeps a name from being a column of a file that amble reads; empty if nothing does.

    ``first`` tells that it is to be the first column, as a topic.

    >>> unfit("a b"), unfit("a\x07"), unfit("#1"), unfit("#1", first=True)
    ('has a blank in it', 'has control byte 0x07 in it', '', 'begins with #, which makes a comment of its line')
    """
    if not name:
        return "is empty"
    if found := _NO_COLUMN.search(name):
        return "has a blank in it" if found[0] in _BLANK else f"has control byte 0x{ord(found[0]):02x} in it"
    if first and name[0] in "#\ufeff":
        what = "#, which makes a comment of its line" if name[0] == "#" else "a byte order mark, which is no text"
        return f"begins with {what}"
    try:
        name.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return "holds half a surrogate pair"
    return ""


def _one_word(ids: Iterable[str], what: str, *, first: bool = False) -> None:
    """Refuse ids that would not be one column of a file."""
    for name in ids:
        if wrong := unfit(name, first=first):
            raise AmbleError(f"{what} {name!r:.100} {wrong}, expected one word: a column of a file")


def run_line(topic: str, doc: str, rank: int, score: float, tag: str) -> str:
    """A line of a run; the score is written so that it is read as the same number."""
    return f"{topic} Q0 {doc} {rank} {score!r} {tag}"


def run_text(documents: Documents, tag: str) -> str:
    r"""A run as lines ``topic Q0 doc rank score tag``, without the last line's end.

    Examples
    --------
    >>> import amble
    >>> from amble.io.written import run_text
    >>> run = amble.read_runs({"mine": {"401": {"a": 0.1, "b": 2.5}}})[0]
    >>> run_text(run.documents(), "mine").split("\n")
    ['401 Q0 b 1 2.5 mine', '401 Q0 a 2 0.1 mine']
    """
    _one_word([tag], "tag")
    _one_word(documents.topics, "topic", first=True)
    _one_word(documents.docs, "document")
    lines = []
    bounds, scores = documents.offsets.tolist(), documents.scores.tolist()
    for t, topic in enumerate(documents.topics):
        rows = range(bounds[t], bounds[t + 1])
        lines += [run_line(topic, documents.docs[i], i - bounds[t] + 1, scores[i], tag) for i in rows]
    return "\n".join(lines)


def grade_text(grade: float) -> str:
    """A grade, written so that it is read as the same number.

    >>> grade_text(2.0), grade_text(0.1 + 0.2)
    ('2', '0.30000000000000004')
    """
    return str(int(grade)) if float(grade).is_integer() else repr(float(grade))


def qrels_text(topics: Sequence[str], docs: Sequence[str], grades: Sequence[float]) -> str:
    """Judgments as lines ``topic 0 doc grade``, without the last line's end; a topic, document and grade each.

    Examples
    --------
    >>> from amble.io.written import qrels_text
    >>> print(qrels_text(["401", "401"], ["a", "b"], [1.0, -1.0]))
    401 0 a 1
    401 0 b -1
    """
    _one_word(dict.fromkeys(topics), "topic", first=True)
    _one_word(docs, "document")
    return "\n".join(
        f"{topic} 0 {doc} {grade_text(grade)}" for topic, doc, grade in zip(topics, docs, grades, strict=True)
    )
