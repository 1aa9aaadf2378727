"""The audit of an alignment: counts of missing topics, unjudged, tied and duplicate documents."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from amble.arrays import NDArray
from amble.io.trec import Qrels, Ranked

__all__ = ["Audit"]

_NAMED = 5  # runs named in one line
_TOP = 10  # the depth at which unjudged documents are counted


class Audit:
    """Counts of all that was decided when runs were aligned with judgments; ``str`` is a line of text.

    Attributes
    ----------
    runs : tuple of str
    topics : int
        Topics in the judgments.
    scored : ndarray of int64
        Topics of the judgments that each run answers.
    missing, extra : dict
        Topics that a run lacks, or that are not judged, by run; runs with none are left out.
    unjudged_top10 : ndarray of int64
        Unjudged documents among each run's first ten, over all its lists.
    shown_top10 : ndarray of int64
        Documents among the first ten: what ``unjudged_top10`` is a share of.
    tied : ndarray of int64
        Documents that share their score with another of their list: their order is the tie rule's.
    moved : ndarray of int64
        Lists of each run whose order changes if scores are compared as floats (``score_dtype="float32"``).
    duplicates : ndarray of int64
        Second occurrences dropped (only with ``duplicates="best"``).
    no_relevant : tuple of str
        Judged topics without a relevant document (grade of at least 1).
    """

    def __init__(self, runs: tuple[str, ...], qrels: Qrels, ties: str, score_dtype: str = "float64") -> None:
        n = len(runs)
        self.runs = runs
        self.topics = len(qrels.topics)
        self.ties, self.score_dtype = ties, score_dtype
        self.scored, self.unjudged_top10, self.shown_top10, self.tied, self.moved, self.duplicates = np.zeros(
            (6, n), np.int64
        )
        self.missing: dict[str, list[str]] = {}
        self.extra: dict[str, list[str]] = {}
        self._qrels = qrels

    @cached_property
    def no_relevant(self) -> tuple[str, ...]:
        """Judged topics without a relevant document (grade of at least 1)."""
        best = np.maximum.reduceat(self._qrels.grades, self._qrels.offsets[:-1])
        return tuple(t for t, g in zip(self._qrels.topics, best.tolist(), strict=True) if g < 1)

    def add(
        self, i: int, ranked: Ranked, lists: NDArray[np.int64], hits: NDArray[np.int32], topics: tuple[str, ...]
    ) -> None:
        """Add the counts of run i."""
        run = self.runs[i]
        self.scored[i] = len(lists)
        _, _, self.tied[i], self.duplicates[i], _, self.moved[i] = ranked.lists.sum(axis=0).tolist()
        self.shown_top10[i] = np.minimum(lists[:, 1], _TOP).sum()
        top = self._qrels.grades[hits[hits[:, 0] <= _TOP, 1]]
        self.unjudged_top10[i] = self.shown_top10[i] - np.count_nonzero(top >= 0)
        if len(lists) < len(topics):
            answered = set(lists[:, 0].tolist())
            self.missing[run] = [topic for t, topic in enumerate(topics) if t not in answered]
        if ranked.extra:
            self.extra[run] = ranked.extra

    def rows(self) -> list[dict[str, Any]]:
        """Counts of each run, as rows of a table."""
        return [
            {
                "run": run,
                "scored": int(self.scored[i]),
                "missing": len(self.missing.get(run, ())),
                "extra": len(self.extra.get(run, ())),
                "unjudged@10": int(self.unjudged_top10[i]),
                "tied": int(self.tied[i]),
                "float32": int(self.moved[i]),
                "duplicates": int(self.duplicates[i]),
            }
            for i, run in enumerate(self.runs)
        ]

    def __str__(self) -> str:
        shown = int(self.shown_top10.sum())
        share = f" ({int(self.unjudged_top10.sum()) / shown:.1%})" if shown else ""
        rule = {"docno": "by docno", "rank": "by rank", "file": "by file order", "expected": "averaged"}[self.ties]
        parts = [
            f"{len(self.runs)} run{'s' * (len(self.runs) != 1)} x {self.topics} topic{'s' * (self.topics != 1)}",
            f"scored {int(self.scored.sum())}",
            f"missing {sum(map(len, self.missing.values()))}",
            f"extra {sum(map(len, self.extra.values()))}",
            f"unjudged in top 10: {int(self.unjudged_top10.sum())}{share}",
            f"tied documents {int(self.tied.sum())} ({rule})",
        ]
        if self.score_dtype != "float64":
            parts.append(f"scores compared as {self.score_dtype}")
        if self.moved.any():
            named = [self.runs[i] for i in np.flatnonzero(self.moved).tolist()]
            others = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
            n = int(self.moved.sum())
            lists = f"{n} list{'s' * (n != 1)}"
            parts.append(f"as float32 another order in {lists} ({', '.join(named[:_NAMED])}{others})")
        if self.duplicates.any():
            parts.append(f"duplicates dropped {int(self.duplicates.sum())}")
        if self.no_relevant:
            parts.append(f"topics without a relevant document {len(self.no_relevant)}")
        return ", ".join(parts)

    def __repr__(self) -> str:
        return f"Audit({self})"
