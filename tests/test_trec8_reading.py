"""All 129 runs of TREC-8 (real data, AMBLE_DATA): the C reader, the plain twin and a few lines of Python agree."""

from __future__ import annotations

import functools
import io
import itertools
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import drawing
import numpy as np
import pytest

from amble.native import plain_reader as plain

try:
    from amble.native import _reader as c_reader
except ImportError:
    c_reader = None

TIES = {"docno": 0, "rank": 1, "file": 2}

Judged = tuple[Any, Any, dict[str, dict[str, int]]]


@functools.cache
def judgments(path: str) -> Judged:
    """The judgments of both readers, and by hand the row of each document of each topic."""
    data = Path(path).read_bytes()
    rows: dict[str, dict[str, int]] = {}
    for line in data.decode("latin-1").splitlines():
        topic, _, doc, _ = line.split()
        rows.setdefault(topic, {})[doc] = 0
    count = itertools.count()
    rows = {topic: {doc: next(count) for doc in docs} for topic, docs in rows.items()}
    ours = c_reader.judge(io.BytesIO(data), path) if c_reader else None
    return ours, plain.judge(io.BytesIO(data), path), rows


def by_hand(data: bytes, rows: dict[str, dict[str, int]], ties: str) -> tuple[bytes, bytes, list[str]]:
    """Lists and hits by Python's sort; bytes in latin-1 compare like bytes."""
    topics: dict[str, list[tuple[float, str, float]]] = {}
    for line in data.decode("latin-1").split("\n"):
        if columns := line.split():
            topics.setdefault(columns[0], []).append((float(columns[4]), columns[2], float(columns[3])))
    index = {topic: i for i, topic in enumerate(rows)}
    lists, hits = [], []
    for topic, found in topics.items():
        if ties != "file":
            found.sort(key=lambda x: x[1], reverse=True)
        if ties == "rank":
            found.sort(key=lambda x: x[2])
        floats = np.array([score for score, _, _ in found], np.float32).tolist()
        singles = sorted(range(len(found)), key=lambda i: -floats[i])  # by the same rules, but scores as floats
        doubles = sorted(range(len(found)), key=lambda i: -found[i][0])
        moved = singles != doubles
        found = [found[i] for i in doubles]
        tied, rank = 0, 1
        for _, same in itertools.groupby(found, key=lambda x: x[0]):
            group = list(same)
            tied += len(group) if len(group) > 1 else 0
            for at, (_, doc, _) in enumerate(group, rank):
                if topic in rows and doc in rows[topic]:
                    hits.append((at, rows[topic][doc], rank, len(group)))
            rank += len(group)
        if topic in rows:
            lists.append((index[topic], len(found), tied, 0, len(hits), moved))
    extra = [topic for topic in topics if topic not in rows]
    return np.array(lists, np.int64).tobytes(), np.array(hits, np.int32).tobytes(), extra


def piece(data: bytes, i: int) -> bytes:
    """The i-th fiftieth of a run, whole lines: about as long as the list of one topic."""
    ends = [data.find(b"\n", len(data) * (i % 50 + more) // 50 - 1) + 1 or len(data) for more in (0, 1)]
    return data[ends[0] if i % 50 else 0 : ends[1]]


def compare(run: str, data: bytes, read: Judged, rules: Iterable[str]) -> tuple[str, int, list[str]]:
    """The run, how many of its documents are judged, and where the readers disagree."""
    ours, theirs, rows = read
    differ: list[str] = []
    hits = 0
    for ties in rules:
        expected = by_hand(data, rows, ties)
        hits = len(expected[1]) // 16
        answers = {"plain": plain.rank(theirs, io.BytesIO(data), TIES[ties], 0, run)}
        if c_reader:
            answers["whole"] = c_reader.rank(ours, io.BytesIO(data), TIES[ties], 0, run)
            streamed = c_reader.rank_stream(ours, io.BytesIO(data), -1, False, TIES[ties], 0, run)
            if streamed is not None:
                answers["stream"] = streamed
        differ += [f"{reader} ties={ties}" for reader, answer in answers.items() if answer[:3] != expected]
        differ += [f"{reader} tag" for reader, answer in answers.items() if answer[3] != answers["plain"][3]]
    return run, hits, differ


ALL = drawing.SHARE >= 1  # by hand and by the plain twin a run takes 40 times as long as by the C part


def test_all_runs(runs: Path) -> None:
    """One run by hand and with both readers, and a fiftieth of every other; with AMBLE_EXAMPLES=all, every run."""
    files = sorted((runs / "trec8" / "runs").glob("input.*"))
    assert len(files) == 129
    read = judgments(str(runs / "trec8" / "qrels.txt"))
    answers = []
    for i, path in enumerate(files):
        data = path.read_bytes()
        whole = ALL or i == 64
        rules = list(TIES) if i % 64 == 0 else ["docno"] if whole else [list(TIES)[i % 3]]
        answers.append(compare(path.name, data if whole else piece(data, i), read, rules))
    assert {run: differ for run, _, differ in answers if differ} == {}
    assert sum(hits for _, hits, _ in answers) > (1_000_000 if ALL else 20_000)


@pytest.mark.skipif(c_reader is None, reason="the C reader is not built, or hidden by AMBLE_PURE")
def test_all_runs_at_once_and_in_pieces(runs: Path) -> None:
    """The C reader gives the same lists and hits of a whole run as of one that it reads piece by piece."""
    ours = judgments(str(runs / "trec8" / "qrels.txt"))[0]
    streamed = 0
    for path in sorted((runs / "trec8" / "runs").glob("input.*")):
        data = path.read_bytes()
        pieces = c_reader.rank_stream(ours, io.BytesIO(data), -1, False, TIES["docno"], 0, path.name)
        if pieces is not None:  # None: its topics do not stand together
            streamed += 1
            assert pieces == c_reader.rank(ours, io.BytesIO(data), TIES["docno"], 0, path.name), path.name
    assert streamed > 100
