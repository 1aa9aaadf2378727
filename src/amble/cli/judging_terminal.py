"""Judging at a terminal: one document at a time, each grade saved at once, so that one may stop and resume."""

from __future__ import annotations

import errno
import os
import re
import sys
from typing import Any

from amble import checks
from amble.errors import AmbleError
from amble.io.trec import Runs, qrels_text, read_qrels
from amble.judging.judging_orders import ORDERS, Judging
from amble.judging.pooling import Pool, pool
from amble.judging.sheets import parse_grades, read_texts
from amble.retrieval.topics import read_topic_texts

__all__ = ["judge_at_terminal"]

# what a terminal obeys: sequences of control, strings up to their end, other escapes
_ESCAPES = re.compile(r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]")


def _plain(text: str) -> str:
    """Text as a terminal may show it: without its escapes, and what else does not print, but for ends of lines."""
    return "".join(c for c in _ESCAPES.sub("", text) if c.isprintable() or c in "\n\t")


class _Kept:
    """Judgments in a file: those that are there, and each new one at once."""

    def __init__(self, path: str) -> None:
        self.path = path
        old = os.path.exists(path) and os.path.getsize(path) > 0
        self.known = read_qrels(path).to_dict() if old else {}
        self._ends = True
        if any(grade < 0 for of in self.known.values() for grade in of.values()):
            raise AmbleError(f"{path}: a pool, with documents that wait; expected a file of judgments, or a new one")
        if old:
            with open(path, "rb") as file:
                file.seek(-1, os.SEEK_END)
                self._ends = file.read(1) == b"\n"

    def add(self, topic: str, doc: str, grade: float) -> None:
        line = qrels_text([topic], [doc], [grade]) + "\n"
        whole = (line if self._ends else "\n" + line).encode("utf-8", "surrogateescape")
        with open(self.path, "ab", buffering=0) as file:
            before = file.tell()
            try:
                if file.write(whole) < len(whole):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), self.path)
            except OSError:
                file.truncate(before)  # no half of a line
                raise
        self._ends = True


def _answer(prompt: str, allowed: dict[float, str]) -> float | None:
    """A grade, or None to stop."""
    while True:
        sys.stderr.write(prompt)
        sys.stderr.flush()
        line = sys.stdin.readline() if sys.stdin is not None else ""
        word = line.strip()
        if not line or word.lower() in ("q", "quit"):
            return None
        try:
            grade = float(word)
        except ValueError:
            grade = float("nan")
        if grade in allowed:
            return grade
        sys.stderr.write(f"found {word!r}, expected {', '.join(f'{g:g}' for g in allowed)}, or q to stop\n")


def judge_at_terminal(
    runs: Runs,
    path: str,
    *,
    order: str,
    grades: str,
    texts: str | None,
    topics: str | None,
    encoding: str | None,
    only: list[str] | None,
    budget: int | None,
    rel: float,
    seed: int,
    lists: dict[str, Any],
) -> tuple[int, int]:
    """Number of judgments of a pool that were made at the terminal, and of those that are relevant."""
    if sys.stderr is None:
        raise AmbleError("there is no standard error to prompt on")
    allowed = parse_grades(grades)
    checks.one_of(order, ORDERS, "order")
    most = None if budget is None else checks.whole(budget, "budget")
    kept = _Kept(path)
    shown = read_texts(texts, encoding) if texts else {}
    needs = read_topic_texts(topics, encoding) if topics else {}
    made: Pool = pool(runs, **lists)
    for topic in only or ():
        if topic not in made.topics:
            raise AmbleError(f"--topic {topic}: not in the pool, expected such as {', '.join(made.topics[:3])}")
    legend = ", ".join(f"{grade:g}{f' {label}' if label else ''}" for grade, label in allowed.items())
    sys.stderr.write(f"{made!r}; answer {legend}, or q to stop\n")
    new = relevant = 0
    for topic in only or made.topics:
        judging = Judging(made, topic, order, rel=rel, seed=seed)
        known = kept.known.get(topic, {})
        announced = False
        while (doc := judging.next()) is not None and (most is None or judging.made < most):
            grade = known.get(doc)
            if grade is None:
                if not announced:
                    sys.stderr.write(
                        f"\ntopic {_plain(topic)}{': ' + _plain(needs[topic]) if topic in needs else ''}\n"
                    )
                    announced = True
                if doc in shown:
                    sys.stderr.write(f"{_plain(shown[doc])}\n")
                where = f"{judging.made + 1}. {_plain(doc)} ({judging.found} relevant so far): "
                grade = _answer(where, allowed)
                if grade is None:
                    return new, relevant
                kept.add(topic, doc, grade)
                new, relevant = new + 1, relevant + (grade >= rel)
            judging.judge(grade)
    return new, relevant
