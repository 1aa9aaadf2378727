"""Judgments of subtopics: from files, dictionaries, frames and rows, by the reader in C and by its twin."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest

import amble
from amble.errors import ReadError
from amble.io.trec import read_qrels
from amble.native import load
from amble.native import plain_reader as plain

pytestmark = pytest.mark.twin

LINES = "1 a d1 1\n1 a d2 0\n2 x d1 -2\n1 b d2 2\n2 y d1 1\n1 c d1 0\n"
NESTED = {"1": {"a": {"d1": 1, "d2": 0}, "b": {"d2": 2}, "c": {"d1": 0}}, "2": {"x": {"d1": -2}, "y": {"d1": 1}}}
ROWS = [(*tuple(line.split()[:3]), float(line.split()[3])) for line in LINES.splitlines()]


def _as_dict(qrels: amble.Qrels) -> dict[str, dict[str, dict[str, float]]]:
    """What was read, by topic and subtopic."""
    known = qrels.subtopics
    assert known is not None
    out: dict[str, dict[str, dict[str, float]]] = {}
    for t, topic in enumerate(qrels.topics):
        for s in range(int(known.offsets[t]), int(known.offsets[t + 1])):
            own = np.flatnonzero(known.subtopic == s)
            docs = [qrels.docs[row] for row in known.row[own]]
            out.setdefault(topic, {})[known.names[s]] = dict(zip(docs, known.grade[own].tolist(), strict=True))
    return out


class Row(NamedTuple):
    """As ir_datasets has it."""

    query_id: str
    doc_id: str
    relevance: int
    subtopic_id: str


def _sources(tmp_path: Path) -> list[tuple[Any, dict[str, Any]]]:
    (tmp_path / "diversity.txt").write_text(LINES)
    frame = pd.DataFrame(ROWS, columns=["topic", "subtopic", "doc", "grade"])
    frame.to_csv(tmp_path / "diversity.csv", index=False)
    other = frame.rename(columns={"subtopic": "iteration"})
    named = frame.rename(columns={"subtopic": "what"})
    return [
        (tmp_path / "diversity.txt", {"subtopics": True}),
        (tmp_path / "diversity.csv", {}),
        (NESTED, {}),
        (NESTED, {"subtopics": True}),
        (frame, {}),
        (other, {"subtopics": True}),
        (named, {"columns": {"subtopic": "what"}}),
        (ROWS, {}),
        ([Row(t, d, int(g), s) for t, s, d, g in ROWS], {}),
        (frame.to_dict("records"), {}),
    ]


def test_all_sources_are_read_alike(tmp_path: Path) -> None:
    for source, how in _sources(tmp_path):
        qrels = read_qrels(source, **how)
        assert _as_dict(qrels) == NESTED, how
        # the largest grade of a document, whatever the subtopic
        assert qrels.to_dict() == {"1": {"d1": 1.0, "d2": 2.0}, "2": {"d1": 1.0}}, how
        assert "5 subtopics, 6 judgments" in repr(qrels)


def test_the_two_readers_agree() -> None:
    ours = load("reader")
    for data in (LINES, "\ufeff" + LINES.replace(" ", "\t"), LINES + "# 1 a d1 1\n\n1 \xe9 d9 3"):
        found = [reader.judge(io.BytesIO(data.encode()), "q", 1000, True) for reader in (ours, plain)]
        assert ours.subtopics(found[0]) == plain.subtopics(found[1])
        assert ours.describe(found[0]) == plain.describe(found[1])


@pytest.mark.parametrize(
    ("lines", "subtopics", "why"),
    [
        (
            LINES,
            None,
            "q.txt:4: document 'd2' is judged twice for topic '1' (first on line 2), here under 'b': judgments of "
            "subtopics? read them with subtopics=True (--subtopics)",
        ),
        (
            LINES + "1 b d2 0\n",
            True,
            "q.txt:7: document 'd2' is judged twice for topic '1' (first on line 4), subtopic 'b'",
        ),
        ("1 0 d 1\n1 0 d 1\n", None, "q.txt:2: document 'd' is judged twice for topic '1' (first on line 1)"),
        (
            "1 0 d 1\n1 0 e 0\n2 0 d 1\n",
            True,
            "q.txt: every judgment is of subtopic '0', expected several",
        ),
        ("1 a d1\n", True, "q.txt:1: found 3 columns, expected 4: topic subtopic doc grade"),
        ("", True, "q.txt: empty, expected judgments: topic subtopic doc grade"),
    ],
)
def test_messages(tmp_path: Path, monkeypatch: Any, lines: str, subtopics: bool | None, why: str) -> None:
    monkeypatch.chdir(tmp_path)
    Path("q.txt").write_text(lines)
    with pytest.raises(ReadError) as error:
        read_qrels("q.txt", subtopics=subtopics)
    assert str(error.value).startswith(why)


def test_rounds_in_the_second_column_are_plain_judgments(tmp_path: Path) -> None:
    (tmp_path / "rounds.txt").write_text("1 1 a 1\n1 2 b 0\n1 2.5 c 2\n")  # as of TREC-COVID
    qrels = read_qrels(tmp_path / "rounds.txt")
    assert qrels.subtopics is None
    assert qrels["1"] == {"a": 1.0, "b": 0.0, "c": 2.0}


def test_data_in_memory_that_is_refused() -> None:
    twice = (*ROWS, ("1", "b", "d2", 1.0))
    with pytest.raises(ReadError, match=r"row 6: document 'd2' is judged twice for topic '1' \(first in row 3\)"):
        read_qrels(twice)
    with pytest.raises(ReadError, match=r"topic '1', subtopic 'a': found 1, expected {topic: {subtopic"):
        read_qrels({"1": {"a": 1}}, subtopics=True)
    with pytest.raises(ReadError, match="no column for the subtopic among topic, doc, grade"):
        read_qrels(pd.DataFrame({"topic": ["1"], "doc": ["a"], "grade": [1]}), subtopics=True)
    with pytest.raises(ReadError, match=r"row 0: found .*, expected \(topic, subtopic, doc, grade\)"):
        read_qrels([("1", "a", 1)], subtopics=True)
    with pytest.raises(ReadError, match=r"row 1: found .*, expected \(topic, subtopic, doc, grade\)"):
        read_qrels([("1", "s", "a", 1), ("1", "a", 1)])
    with pytest.raises(ReadError, match="judgments without subtopics"):
        read_qrels(read_qrels({"1": {"a": 1}}), subtopics=True)
    with pytest.raises(ReadError, match="subtopic 1.5 is of type float"):
        read_qrels([("1", 1.5, "a", 1)])


def test_probabilities_of_intents(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.txt").write_text("# topic subtopic probability\n1 a .5\n1 b .25\n1 c .25\n2 x 0\n2 y 1\n3 z 1\n")
    for given in ("p.txt", {"1": {"a": 0.5, "b": 0.25, "c": 0.25}, "2": {"x": 0, "y": 1}}):
        qrels = read_qrels(NESTED, intents=given)
        assert qrels.subtopics is not None
        assert qrels.subtopics.weight.tolist() == [0.5, 0.25, 0.25, 0.0, 1.0]
    wrong = {
        "1 a .5\n1 b .25\n1 c .25\n": "topic '2' has no probabilities",
        "1 a .5\n1 b .25\n2 y 1\n": "topic '1': the probabilities of its subtopics sum to 0.75, expected 1",
        "1 a .5\n1 b .5\n2 x 0\n2 y 1\n": "topic '1': subtopic 'c' is judged, and has no probability",
        "1 a .5\n1 a .5\n": "p.txt:2: subtopic 'a' of topic '1' has a probability already",
        "1 a 1.5\n": "p.txt:1: probability 1.5, expected one from 0 to 1",
        "1 a\n": "p.txt:1: found 2 columns, expected 3: topic subtopic probability",
    }
    for lines, why in wrong.items():
        Path("p.txt").write_text(lines)
        with pytest.raises(ReadError, match=why):
            read_qrels(NESTED, intents="p.txt")
    with pytest.raises(ReadError, match="expected a probability from 0 to 1"):
        read_qrels(NESTED, intents={"1": {"a": "x"}})
    with pytest.raises(ReadError, match="expected {topic: {subtopic: probability}}"):
        read_qrels(NESTED, intents=3)  # type: ignore[arg-type]
