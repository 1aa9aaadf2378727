"""Check a run file: wrong lines, documents that come twice, ranks that contradict scores, ties, topics, depth, tag.

One pass over the file keeps of each good line its document, score, rank and line number, some forty bytes; a topic may
come back, so a topic is complete only at the end of the file. Then batches of whole topics are checked, each as arrays
in which a topic's documents stand together.
"""

from __future__ import annotations

import os
import re
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from amble.arrays import Array, Bools, Ints, NDArray
from amble.io.files import path_name
from amble.native.plain_reader import RUN_LINE, decode, parse_number
from amble.validation.findings import FileReport, Findings
from amble.validation.lines import Block, Progress, all_numbers, blocks, quote
from amble.validation.qrels_check import Judged

__all__ = ["check_run"]

_BATCH = 1 << 16  # documents looked at together, give or take a topic
_NO_LINE = 1 << 62
_TOP = 10  # the depth at which unjudged documents are counted
_TAG = re.compile(rb"[A-Za-z0-9_.-]{1,20}")  # tracks differ: 12 to 25 characters, some without the signs


class _Batch:
    """Whole topics, each one's documents together in the order of the file."""

    def __init__(
        self,
        names: list[bytes],
        refused: set[bytes],
        sizes: Ints,
        docs: list[bytes],
        lines: Ints,
        scores: Array,
        ranks: Array,
        found: Findings,
    ) -> None:
        self.names, self.sizes, self.docs = names, sizes, docs
        self.lines, self.scores, self.ranks = lines, scores, ranks
        self.found = found
        self.whole = np.array([name not in refused for name in names])  # no line of the topic was refused
        self.ends = np.cumsum(sizes)
        self.starts = self.ends - sizes
        self.topic = np.repeat(np.arange(len(sizes)), sizes)
        self.within: Bools = self.topic[1:] == self.topic[:-1]  # the document before is of the same topic

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
                above, here = (float(self.scores[j]) for j in (i - 1, i))
                self.found.add("score-order", int(self.lines[i]), text, here, above, int(self.lines[i - 1]))

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

    def ties(self) -> tuple[Bools, Bools, NDArray[np.intp]]:
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

    def _tied(self, s: NDArray[np.floating]) -> Bools:
        same = self.within & (s[1:] == s[:-1])
        tied: Bools = np.append(same, False) | np.append(False, same)
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


class _Run:
    """The columns of a run by line, and pieces: consecutive lines of one topic, documents joined."""

    def __init__(self, found: Findings) -> None:
        self.found = found
        self.lines, self.scores, self.ranks = array("q"), array("d"), array("d")
        self.topics: dict[bytes, int] = {}
        self.piece_topic, self.piece_start = array("q"), array("q")
        self.piece_docs: list[bytes] = []
        self.ended: dict[bytes, int] = {}
        self.now: bytes | None = None
        self.tag = b""
        self.refused: set[bytes] = set()  # topics of which a line was refused

    def add(self, block: Block) -> None:
        """Take in good lines."""
        self.refused.update(block.refused)
        if not block.rows:
            return
        if len(block.rows[0]) == len(block.rows[-1]) == 6 and set(map(len, block.rows)) == {6}:
            topics, second, docs, ranks, _, tags = zip(*block.rows, strict=True)
        else:
            topics, second, docs, ranks, _ = zip(*(row[:5] for row in block.rows), strict=True)
            tags = tuple(row[5] if len(row) > 5 else b"" for row in block.rows)
            for line, row in zip(block.lines, block.rows, strict=True):
                if len(row) > 6:
                    text = "found {:,} columns, expected 6: what follows the tag is not read"
                    self.found.add("more-columns", line, text, len(row))
        self._look_at_tags(tags, block.lines)
        if second.count(b"Q0") != len(second):
            for line, column in zip(block.lines, second, strict=True):
                if column != b"Q0":
                    self.found.add("q0", line, "the second column is {}, expected Q0", quote(column))
        self._split(topics, docs, block.lines)
        self.lines.extend(block.lines)
        self.scores.extend(block.numbers)
        self.ranks.extend(all_numbers(ranks) or self._ranks(ranks, block.lines))

    def _split(self, topics: Sequence[bytes], docs: Sequence[bytes], lines: Sequence[int]) -> None:
        cuts = [i for i, (a, b) in enumerate(pairwise(topics), 1) if a != b]
        base = len(self.lines)
        for start, end in zip([0, *cuts], [*cuts, len(topics)], strict=True):
            topic = topics[start]
            if topic != self.now:
                if self.now is not None:
                    self.ended[self.now] = lines[start - 1] if start else self.lines[-1]
                if topic in self.topics:
                    text = "topic {} comes back (its lines ended on line {}), expected them to stand together"
                    self.found.add("split-topic", lines[start], text, quote(topic), self.ended[topic])
                self.now = topic
            self.piece_topic.append(self.topics.setdefault(topic, len(self.topics)))
            self.piece_start.append(base + start)
            self.piece_docs.append(b"\n".join(docs[start:end]))

    def _ranks(self, column: Sequence[bytes], lines: Sequence[int]) -> array[float]:
        """Ranks one by one, NaN for what is no number."""
        out = array("d")
        for line, text in zip(lines, column, strict=True):
            try:
                out.append(parse_number(text, "rank"))
            except ValueError as error:
                self.found.add("rank-number", line, "{}, expected a whole number", error)
                out.append(float("nan"))
        return out

    def _look_at_tags(self, tags: Sequence[bytes], lines: Sequence[int]) -> None:
        if not self.tag and any(tags):
            i, self.tag = next((i, tag) for i, tag in enumerate(tags) if tag)
            if not _TAG.fullmatch(self.tag):
                text = "tag {} is unusual, expected up to 20 letters, digits and _ . - (what most tracks take)"
                self.found.add("tag", lines[i], text, quote(self.tag))
        if tags.count(self.tag) == len(tags) and self.tag:
            return
        for line, tag in zip(lines, tags, strict=True):
            if not tag:
                self.found.add("no-tag", line, "found 5 columns, expected a tag as the sixth")
            elif tag != self.tag:
                text = "tag {} differs from the run's first, {}, expected one tag a run"
                self.found.add("tags", line, text, quote(tag), quote(self.tag))

    def batches(self) -> Iterator[_Batch]:
        """Yield the run in batches of whole topics, in order of first appearance."""
        if not self.lines:
            return
        topic, start = (np.frombuffer(column, np.int64) for column in (self.piece_topic, self.piece_start))
        size = np.diff(start, append=len(self.lines))
        if np.any(np.diff(topic) < 0):
            order = np.argsort(topic, kind="stable")
            topic, start, size = topic[order], start[order], size[order]
        else:
            order = np.arange(len(topic))
        names = list(self.topics)
        lines = np.frombuffer(self.lines, np.int64)
        scores, ranks = np.frombuffer(self.scores), np.frombuffer(self.ranks)
        ends = np.cumsum(size)
        a = 0
        while a < len(topic):
            z = int(np.searchsorted(ends, (ends[a - 1] if a else 0) + _BATCH)) + 1
            z = int(np.searchsorted(topic, topic[min(z, len(topic)) - 1], side="right"))
            n = size[a:z]
            at = np.arange(int(n.sum())) + np.repeat(start[a:z] - (np.cumsum(n) - n), n)
            docs = b"\n".join(self.piece_docs[i] for i in order[a:z].tolist()).split(b"\n")
            first, last = int(topic[a]), int(topic[z - 1])
            sizes = np.bincount(topic[a:z] - first, weights=n).astype(np.int64)
            here = names[first : last + 1]
            yield _Batch(here, self.refused, sizes, docs, lines[at], scores[at], ranks[at], self.found)
            a = z


class _Totals:
    """Counts over all topics of a run."""

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self.first_lines: list[int] = []
        self.tied = self.tied_topics = self.single = self.moved = 0
        self.first_tied = self.first_single = _NO_LINE
        self.unjudged = self.shown = 0
        self.bases: Counter[float] = Counter()

    def add(self, batch: _Batch, judged: Judged | None) -> None:
        """Look at a batch of topics."""
        batch.duplicates()
        batch.order(self.bases)
        tied, single, by_score = batch.ties()
        self.sizes += batch.sizes.tolist()
        self.first_lines += batch.lines[batch.starts].tolist()
        self.tied += int(tied.sum())
        self.tied_topics += int(np.logical_or.reduceat(tied, batch.starts).sum())
        self.single += int(single.sum())
        moved = batch.moved(by_score)
        self.moved += len(moved)
        lines = batch.lines[by_score]
        self.first_tied = min(self.first_tied, int(lines[tied].min(initial=_NO_LINE)))
        self.first_single = min(self.first_single, int(lines[single].min(initial=_NO_LINE)), *moved)
        if judged is not None:
            unjudged, shown = batch.unjudged(by_score, judged)
            self.unjudged += unjudged
            self.shown += shown

    def report(self, found: Findings) -> None:
        """Report what is known only at the end."""
        if self.tied:
            text = "{:,} documents in {:,} of {:,} topics share their score with another; ties are broken by docno"
            found.add("ties", self.first_tied, text, self.tied, self.tied_topics, len(self.sizes))
        if self.single or self.moved:
            text = "{:,} further documents share their score as float32, as trec_eval 9 compares them: another order "
            text += "in {:,} of {:,} topics (--float32)"
            found.add("single-precision", self.first_single, text, self.single, self.moved, len(self.sizes))
        zero, one = self.bases[0.0], self.bases[1.0]
        if zero and one:
            text = "ranks start at 0 in {:,} topics and at 1 in {:,}, expected one of them throughout"
            found.add("rank-base", None, text, zero, one)
        if self.shown and self.unjudged:
            text = "{:,} of {:,} documents ({:.1%}) in the top 10 of judged topics are unjudged"
            found.add("unjudged", None, text, self.unjudged, self.shown, self.unjudged / self.shown)


def _look_at_depth(names: list[bytes], refused: set[bytes], totals: _Totals, limit: int, found: Findings) -> None:
    """Report topics with more documents than the limit, or with another number than most topics of the run."""
    usual, topics = Counter(totals.sizes).most_common(1)[0]
    common = len(names) > 1 and 2 * topics > len(names)
    for name, size, line in zip(names, totals.sizes, totals.first_lines, strict=True):
        if size > limit:
            text = "topic {} has {:,} documents, expected at most {:,}"
            found.add("too-deep", line, text, quote(name), size, limit)
        elif common and size != usual and name not in refused:
            text = "topic {} has {:,} document{}, most topics of this run have {:,}"
            found.add("usual-depth", line, text, quote(name), size, "s" * (size != 1), usual)


def _look_at_topics(run: _Run, totals: _Totals, judged: Judged, qrels: str, found: Findings) -> None:
    """Report topics that are missing from the run, or not judged."""
    if judged and run.topics.keys().isdisjoint(judged):
        here, there = (", ".join(map(decode, list(topics)[:3])) for topics in (run.topics, judged))
        text = "no topic in common with {}: found {}, expected such as {}"
        found.add("no-common-topic", None, text, qrels, here, there)
        return
    for topic in judged:
        if topic not in run.topics and topic not in run.refused:
            found.add("missing-topic", None, "topic {} of {} is missing: it will score 0", quote(topic), qrels)
    for topic, line in zip(run.topics, totals.first_lines, strict=True):
        if topic not in judged:
            found.add("extra-topic", line, "topic {} is not in {}: it will not be scored", quote(topic), qrels)


def check_run(
    path: str | os.PathLike[str],
    judged: Judged | None = None,
    *,
    qrels: str = "qrels",
    depth: int = 1000,
    keep: int | None = None,
    progress: Progress | None = None,
    max_line: int | None = None,
) -> FileReport:
    r"""The report on a run file.

    Parameters
    ----------
    path : path
        Plain or compressed; ``-`` for standard input.
    judged : Judged, optional
        The judgments that `check_qrels` read, to compare topics with.
    qrels : str, optional
        The name of the judgments in messages.
    depth : int, optional
        The most documents a topic should have.
    keep : int, optional
        How many findings of a kind to keep; without it, all. All are counted.
    progress : callable, optional
        Called with the path and the lines read so far.
    max_line : int, optional
        The longest line, in bytes (see `amble.read_runs`).

    Returns
    -------
    FileReport

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "a.run")
    >>> _ = path.write_text("401 Q0 d1 1 9.5 mine\n401 Q0 d2 2 x mine\n401 Q0 d3 3 9.75 mine\n")
    >>> for finding in check_run(path).findings:
    ...     print(finding.line, finding.severity, finding.text)
    2 error score 'x' is not a decimal number
    3 warning rank 3 has score 9.75, higher than 9.5 of rank 1 on line 1; amble ranks by score
    """
    found = Findings(keep)
    report = FileReport(path_name(path), "run", found)
    run, totals = _Run(found), _Totals()
    for block in blocks(report, RUN_LINE, progress, max_line):
        run.add(block)
    for batch in run.batches():
        totals.add(batch, judged)
    totals.report(found)
    names = list(run.topics)
    if names:
        _look_at_depth(names, run.refused, totals, depth, found)
        report.depth = min(totals.sizes), float(np.median(totals.sizes)), max(totals.sizes)
        if judged is not None:
            _look_at_topics(run, totals, judged, qrels, found)
    elif not report.errors:
        found.add("empty", None, "empty, expected lines of a run: topic Q0 doc rank score tag")
    report.topics, report.documents, report.tag = len(names), len(run.lines), decode(run.tag)
    return report
