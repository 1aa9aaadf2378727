"""Check whole topics as arrays: documents that come twice, ranks that contradict scores, ties, unjudged documents."""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from amble.validation.findings import Findings
from amble.validation.lines import quote
from amble.validation.qrels_check import Judged

__all__ = ["Batch"]

_TOP = 10  # the depth at which unjudged documents are counted

Ints = NDArray[np.int64]


class Batch:
    """Whole topics, each one's documents together in the order of the file."""

    def __init__(
        self,
        names: list[bytes],
        refused: set[bytes],
        sizes: Ints,
        docs: list[bytes],
        lines: Ints,
        scores: NDArray[np.float64],
        ranks: NDArray[np.float64],
        found: Findings,
    ) -> None:
        self.names, self.sizes, self.docs = names, sizes, docs
        self.lines, self.scores, self.ranks = lines, scores, ranks
        self.found = found
        self.whole = np.array([name not in refused for name in names])  # no line of the topic was refused
        self.ends = np.cumsum(sizes)
        self.starts = self.ends - sizes
        self.topic = np.repeat(np.arange(len(sizes)), sizes)
        self.within: NDArray[np.bool_] = self.topic[1:] == self.topic[:-1]  # the document before is of the same topic

    def duplicates(self) -> None:
        """Report documents that come twice, as the reader does."""
        for name, a, z in zip(self.names, self.starts.tolist(), self.ends.tolist(), strict=True):
            if len(set(self.docs[a:z])) == z - a:
                continue
            first: dict[bytes, int] = {}
            for doc, line in zip(self.docs[a:z], self.lines[a:z].tolist(), strict=True):
                if first.setdefault(doc, line) != line:
                    text = "document {} appears twice for topic {} (first on line {})"
                    self.found.add("duplicate", line, text, quote(doc), quote(name), first[doc])

    def order(self, bases: Counter[float]) -> None:
        """Report ranks that contradict scores, and scores that rise; count the first ranks of topics in ``bases``."""
        rising = self.within & (self.scores[1:] > self.scores[:-1])
        reported = self._ranks(bases)
        for i in (np.flatnonzero(rising) + 1).tolist():
            if i not in reported:
                text = "score {!r} is higher than {!r} on line {}, expected scores that fall within a topic"
                above = float(self.scores[i - 1])
                self.found.add(
                    "score-order", int(self.lines[i]), text, float(self.scores[i]), above, int(self.lines[i - 1])
                )

    def _ranks(self, bases: Counter[float]) -> set[int]:
        """Report on the rank column; return where it contradicts the scores."""
        ranks = self.ranks
        for i in np.flatnonzero(ranks != np.floor(ranks)).tolist():
            if ranks[i] == ranks[i]:
                self.found.add("rank-number", int(self.lines[i]), "rank {:.15g} is not a whole number", float(ranks[i]))
        usable = ~np.logical_or.reduceat(np.isnan(ranks), self.starts)  # all ranks of the topic are numbers
        within = self.within & usable[self.topic[1:]]
        whole = self.whole[self.topic[1:]]
        by_rank = np.arange(len(ranks))
        if np.any(within & (ranks[1:] <= ranks[:-1])):
            by_rank = np.lexsort((-self.scores, ranks, self.topic))
        r, s = ranks[by_rank], self.scores[by_rank]
        with np.errstate(all="ignore"):
            step = r[1:] - r[:-1]
        wrong = np.flatnonzero(within & (step > 0) & (s[1:] > s[:-1]))
        for i in wrong.tolist():
            above, here = by_rank[i], by_rank[i + 1]
            text = "rank {:.15g} has score {!r}, higher than {!r} of rank {:.15g} on line {}; amble ranks by score"
            self.found.add(
                "rank-order", int(self.lines[here]), text,
                float(r[i + 1]), float(s[i + 1]), float(s[i]), float(r[i]), int(self.lines[above]),
            )  # fmt: skip
        for kind, where, text in (
            ("rank-repeats", within & (step == 0), "rank {:.15g} comes again, expected each once ({:,} in topic {})"),
            ("rank-skips", within & (step > 1) & whole, "rank {:.15g} follows a gap, expected none ({:,} in topic {})"),
        ):
            places = np.flatnonzero(where) + 1
            topics, firsts, counts = np.unique(self.topic[places], return_index=True, return_counts=True)
            for t, i, n in zip(topics.tolist(), places[firsts].tolist(), counts.tolist(), strict=True):
                self.found.add(kind, int(self.lines[by_rank[i]]), text, float(r[i]), n, quote(self.names[t]))
        starts = self.starts[usable & self.whole]
        bases.update(r[starts].tolist())
        for i in starts[(r[starts] != 0) & (r[starts] != 1)].tolist():
            text = "topic {} starts at rank {:.15g}, expected 0 or 1"
            name = self.names[int(self.topic[i])]
            self.found.add("rank-start", int(self.lines[by_rank[i]]), text, quote(name), float(r[i]))
        return set(by_rank[wrong + 1].tolist())

    def ties(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.intp]]:
        """Which documents share a score, as doubles, or only as floats, both in order by score; and that order.

        Topics whose documents all have one score are reported.
        """
        by_score = np.arange(len(self.scores))
        if np.any(self.within & (self.scores[1:] > self.scores[:-1])):
            by_score = np.lexsort((-self.scores, self.topic))
        s = self.scores[by_score]
        tied = self._tied(s)
        with np.errstate(over="ignore"):
            single = self._tied(s.astype(np.float32)) & ~tied
        same = np.flatnonzero((self.sizes > 1) & (s[self.starts] == s[self.ends - 1]))
        for t in same.tolist():
            text = "all {:,} documents of topic {} have score {!r}, expected scores that rank them"
            i = int(self.starts[t])
            line = int(self.lines[i])
            self.found.add("one-score", line, text, int(self.sizes[t]), quote(self.names[t]), float(s[i]))
        return tied, single, by_score

    def moved(self, by_score: NDArray[np.intp]) -> list[int]:
        """A line of each topic whose order changes if scores are compared as floats, ties broken by docno."""
        doubles = self.scores[by_score]
        with np.errstate(over="ignore"):
            floats = doubles.astype(np.float32)
        same = self.within & (floats[1:] == floats[:-1])
        group = np.concatenate(([0], np.cumsum(~same)))
        topics: dict[int, int] = {}
        for g in np.unique(group[1:][same & (doubles[1:] != doubles[:-1])]).tolist():
            level = by_score[np.searchsorted(group, g) : np.searchsorted(group, g, side="right")].tolist()
            by_docno = sorted(level, key=self.docs.__getitem__, reverse=True)
            if by_docno != sorted(by_docno, key=lambda i: -self.scores[i]):
                topics.setdefault(int(self.topic[level[0]]), int(self.lines[level].min()))
        return list(topics.values())

    def _tied(self, s: NDArray[np.floating]) -> NDArray[np.bool_]:
        same = self.within & (s[1:] == s[:-1])
        tied: NDArray[np.bool_] = np.append(same, False) | np.append(False, same)
        return tied

    def unjudged(self, by_score: NDArray[np.intp], judged: Judged) -> tuple[int, int]:
        """Numbers of unjudged and of all documents in the top 10 of judged topics, ties broken by docno."""
        missing = shown = 0
        for name, a, z in zip(self.names, self.starts.tolist(), self.ends.tolist(), strict=True):
            docs = judged.get(name)
            if docs is None:
                continue
            cut = min(a + _TOP, z)
            top = by_score[a:cut].tolist()
            last = float(self.scores[top[-1]])
            if cut < z and self.scores[by_score[cut]] == last:
                top = [i for i in top if self.scores[i] > last]
                level = a + np.flatnonzero(self.scores[a:z] == last)
                top += sorted(level.tolist(), key=self.docs.__getitem__, reverse=True)[: cut - a - len(top)]
            shown += len(top)
            missing += sum(self.docs[i] not in docs for i in top)
        return missing, shown
