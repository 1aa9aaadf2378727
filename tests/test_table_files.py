"""Runs and judgments in CSV, TSV, JSON, JSON Lines, Parquet and in memory: each as a newcomer has it."""

from __future__ import annotations

import gzip
import importlib
import io
import json
import os
import random
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import amble
from amble.cli.main import main
from amble.io import table_files

Cli = Callable[..., subprocess.CompletedProcess[str]]
Write = Callable[[str, str], str]

pytestmark = pytest.mark.twin

GRADES = {"q1": {"d1": 1.0, "d2": 0.0, "d3": 2.0}, "q2": {"d1": 1.0}}
SCORES = {"q1": {"d3": 0.5, "d1": 1.5, "d9": -2.0}, "q2": {"d1": 3e-1}}
COMMAS = "qid,docno,score\nq1,d3,0.5\nq1,d1,1.5\nq1,d9,-2\nq2,d1,3e-1\n"
RECORDS = [{"qid": t, "docno": d, "score": x} for t, docs in SCORES.items() for d, x in docs.items()]
LINES = "".join(json.dumps(record) + "\n" for record in RECORDS)
ARROW = importlib.util.find_spec("pyarrow") is not None
needs_arrow = pytest.mark.skipif(not ARROW, reason="pyarrow is not installed")


def table(text: str, name: str, folder: Path) -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def documents(*runs: Any, **how: Any) -> dict[str, dict[str, float]]:
    [run] = amble.read_runs(*runs, **how)
    found = run.documents()
    return {topic: dict(found[topic]) for topic in found}


RUNS = {
    "commas.csv": COMMAS,
    "quoted.csv": '"qid","docno","score"\r\n"q1","d3","0.5"\r\n"q1", "d1", 1.5\r\n"q1","d9",-2\r\n"q2","d1",3e-1\r\n',
    "semicolons.csv": COMMAS.replace(",", ";"),
    "tabs.tsv": COMMAS.replace(",", "\t"),
    "blanks.txt": COMMAS.replace(",", "  "),
    "mark.csv": "\ufeff# made by hand\n\n" + COMMAS,
    "case.csv": COMMAS.replace("qid,docno,score", "Query_ID, DocID ,Score"),
    "more.csv": "run,score,docno,qid\nx,0.5,d3,q1\nx,1.5,d1,q1\nx,-2,d9,q1\nx,3e-1,d1,q2\n",
    "no-ending": COMMAS,
    "lines.jsonl": LINES,
    "lines.ndjson": "\n" + LINES,
    "lines.json": LINES,
    "records.json": json.dumps(RECORDS),
    "nested.json": json.dumps(SCORES, indent=1),
    "columns.json": json.dumps({key: [record[key] for record in RECORDS] for key in ("qid", "docno", "score")}),
    "pandas.json": json.dumps({key: {str(i): r[key] for i, r in enumerate(RECORDS)} for key in RECORDS[0]}),
    "rows.json": json.dumps([list(record.values()) for record in RECORDS]),
    "rows.jsonl": "".join(json.dumps(list(record.values())) + "\n" for record in RECORDS),
}


@pytest.mark.parametrize("name", RUNS)
def test_a_run_in_any_layout(name: str, tmp_path: Path) -> None:
    path = table(RUNS[name], name, tmp_path)
    assert documents(path) == SCORES
    scores = amble.evaluate(GRADES, path, "AP")
    assert scores.runs == (name.partition(".")[0],)
    # q1: d1 at rank 1, d3 at rank 2: (1/1 + 2/2) / 2; q2: 1
    assert scores.values.ravel().tolist() == [1.0, 1.0]
    packed = tmp_path / f"{name}.gz"
    packed.write_bytes(gzip.compress(RUNS[name].encode()))
    assert documents(packed) == SCORES


def test_judgments_of_beir(tmp_path: Path) -> None:
    rows = "query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td2\t0\nq1\td3\t2\nq2\td1\t1\n"
    assert amble.read_qrels(table(rows, "test.tsv", tmp_path)).to_dict() == GRADES


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("q.csv", "topic,iter,doc,grade\nq1,0,d1,1\nq1,0,d2,0\nq1,0,d3,2\nq2,0,d1,1\n"),
        ("q.json", json.dumps(GRADES)),
        ("q.jsonl", '{"query_id":"q1","doc_id":"d1","relevance":1}\n{"query_id":"q1","doc_id":"d2","relevance":0}\n'
                    '{"query_id":"q1","doc_id":"d3","relevance":2}\n{"query_id":"q2","doc_id":"d1","relevance":1}\n'),
    ],
)  # fmt: skip
def test_judgments_in_any_layout(name: str, text: str, tmp_path: Path) -> None:
    assert amble.read_qrels(table(text, name, tmp_path)).to_dict() == GRADES


def test_relevant_documents_and_rankings_in_json(tmp_path: Path) -> None:
    qrels = amble.read_qrels(table('{"1": ["a", "b"], "2": [7]}', "q.json", tmp_path))
    assert qrels.to_dict() == {"1": {"a": 1.0, "b": 1.0}, "2": {"7": 1.0}}
    assert documents(table('{"1": ["b", "a"], "2": [7]}', "r.json", tmp_path)) == {
        "1": {"b": 2.0, "a": 1.0},
        "2": {"7": 1.0},
    }


def test_a_pipe_and_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = str(tmp_path / "pipe.csv")
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: Path(pipe).write_text(COMMAS))
    writer.start()
    assert documents(pipe) == SCORES
    writer.join()
    with open(table(LINES, "x", tmp_path)) as file:
        monkeypatch.setattr(sys, "stdin", file)
        assert documents("-") == SCORES


def test_columns_by_name_and_by_number(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    named = table("q,d,s\nq1,d1,2\nq2,d1,1\n", "named.csv", tmp_path)
    how = {"topic": "q", "doc": "d", "score": "s"}
    assert documents(named, columns=how) == {"q1": {"d1": 2.0}, "q2": {"d1": 1.0}}
    frame = pd.DataFrame({"q": ["q1"], "d": ["d1"], "s": [2]})
    assert documents({"x": frame}, columns=how) == {"q1": {"d1": 2.0}}
    bare = table("q1\td1\t1\nq2\td1\t1\n", "bare.tsv", tmp_path)
    assert amble.read_qrels(bare, columns={"topic": 1, "doc": 2, "grade": 3}).to_dict() == {
        "q1": {"d1": 1},
        "q2": {"d1": 1},
    }
    blanks = table("d1 q1 4\n", "blanks.txt", tmp_path)
    assert documents(blanks, columns={"topic": 2, "doc": 1, "score": 3}) == {"q1": {"d1": 4.0}}
    assert main(["eval", named, named, "-m", "P@1", "--quiet", "--columns", "topic=q,doc=d,score=s,grade=s"]) == 0
    assert capsys.readouterr().out.split() == ["run", "P@1", "named", "1.0000"]


def test_columns_of_runs_leave_judgments_alone(tmp_path: Path) -> None:
    run = table("1,d2,9.5\n1,d1,8.5\n", "bare.csv", tmp_path)
    named = table("q,d,s\n1,d2,9.5\n1,d1,8.5\n", "named.csv", tmp_path)
    trec = table("1 0 d1 1\n1 0 d2 0\n", "qrels.txt", tmp_path)
    theirs = table("query-id\tcorpus-id\tscore\n1\td1\t1\n", "test.tsv", tmp_path)
    for qrels in (trec, theirs, {1: {"d1"}}):
        numbers: dict[str, str | int] = {"topic": 1, "doc": 2, "score": 3}
        assert amble.evaluate(qrels, run, "RR", columns=numbers).values.item() == 0.5
        assert amble.evaluate(qrels, named, "RR", columns={"topic": "q", "doc": "d", "score": "s"}).values.item() == 0.5
    both = table("1 d1 1\n", "both.txt", tmp_path)
    assert amble.evaluate(both, both, "RR", columns={**numbers, "grade": 3}).values.item() == 1.0


def test_trec_files_are_read_as_ever(tmp_path: Path) -> None:
    for line in ("q,1 Q0 d;1,x 1 2.5 t,a,g", "{q} Q0 d 1 2.5 t", "[1] Q0 [d] 1 2.5 t", "q\tQ0\td\t1\t2.5\tt"):
        topic, _, doc, *_ = line.split()
        assert documents(table(line + "\n", "a.run", tmp_path)) == {topic: {doc: 2.5}}
        assert documents(table(line + "\n", "a.json", tmp_path)) == {topic: {doc: 2.5}}
    assert amble.read_qrels(table("topic 0 doc 1\n", "q.csv", tmp_path)).to_dict() == {"topic": {"doc": 1.0}}


def test_ranks_where_there_are_no_scores(tmp_path: Path) -> None:
    path = table("qid,pid,rank\n1,a,2\n1,b,1\n", "r.csv", tmp_path)
    assert documents(path) == {"1": {"b": -1.0, "a": -2.0}}
    assert documents([{"qid": 1, "pid": 5, "rank": 3}]) == {"1": {"5": -3.0}}


WRONG_RUNS = [
    ("a.csv", "q,d,s\n1,a,2\n", "a.csv:1: no column for the topic among q, d, s; expected one of topic, query_id, "),
    ("a.csv", "topic,doc\n1,a\n", "a.csv:1: found 1 column, expected 6: topic Q0 doc rank score tag"),
    ("a.csv", "topic,doc,x\n1,a,2\n", "a.csv:1: no column for the score among topic, doc, x; expected one of score, "),
    (
        "a.csv",
        "1,a,2\n",
        "a.csv:1: 3 columns of CSV without a header, expected a line of names, such as topic,doc,score, "
        "or their numbers: --columns topic=1,doc=2,score=3",
    ),
    ("a.tsv", "1\ta\t2\n", "a.tsv:1: 3 columns of TSV without a header"),
    ("a.csv", "topic,doc,grade\n1,a,2\n", "these are judgments: did you swap the files?"),
    (
        "a.qrels",
        "1 0 a 2\n",
        "a.qrels:1: found 4 columns, expected 6: topic Q0 doc rank score tag; these are judgments: "
        "did you swap the files?",
    ),
    ("a.csv", "topic,doc,score\n1,a,high\n", "a.csv:2: score 'high' is not a decimal number"),
    ("a.csv", "topic,doc,score\n1,a,1\n\n1,b,nan\n", "a.csv:4: score 'nan' is not a decimal number"),
    ("a.csv", "topic,doc,score\n1,a,1_0\n", "a.csv:2: score '1_0' is not a decimal number"),
    ("a.csv", "topic,doc,score\n1,a,\n", "a.csv:2: found 3 columns, the one called 'score' empty or missing"),
    (
        "a.csv",
        "topic,doc,score\n1,a,1\n1,b\n",
        "a.csv:3: found 2 columns, the one called 'score' empty or missing, expected 3: topic, doc, score",
    ),
    (
        "a.csv",
        "topic,doc,score\n1,a,1\n\n1,a,2\n",
        "a.csv:4: document 'a' appears twice for topic '1' (first on line 2)",
    ),
    ("a.csv", 'topic,doc,score\n1,"a,1\n', "a.csv:2: unexpected end of data"),
    ("a.csv", "topic,doc,score\n", "a.csv: empty, expected lines of a run"),
    (
        "a.jsonl",
        '{"topic": 1, "score": 2}\n',
        "a.jsonl: JSON Lines without a doc column: no column for the document among "
        "topic, score; expected one of doc, ",
    ),
    ("a.jsonl", '{"topic": 1, "doc": 2, "score": 3}\n{"topic": 1}\n', "a.jsonl:2: found {'topic': 1}, expected doc"),
    (
        "a.jsonl",
        '{"topic": 1, "doc": 2, "score": 3}\n{"topic": 1, "doc": 2, "score": 4}\n',
        "a.jsonl:2: document '2' appears twice for topic '1' (first on line 1)",
    ),
    ("a.jsonl", '{"topic": 1, "doc": 2, "score": 3}\n{"topic"\n', "a.jsonl:2: not JSON: Expecting ':' delimiter"),
    ("a.json", '{"1": {"a": 1,\n}', "a.json:2: not JSON: "),
    (
        "a.json",
        '{"1": {"a": 1, "a": 2}}',
        "a.json: 'a' comes twice in one object, expected every topic and document once",
    ),
    ("a.json", "[" * 100_000, "a.json:1: not JSON that can be read: "),
    ("a.json", '{"1": "a"}', "a.json: topic '1': value 'a' is of type str, expected a dictionary"),
    ("a.json", '[["1", "a"]]', "a.json: row 0: found ['1', 'a'], expected (topic, doc, score)"),
    (
        "a.txt",
        "<!DOCTYPE html>\n<p>\n",
        "a.txt:1: found 2 columns, expected 6: topic Q0 doc rank score tag; this is an HTML "
        "page: was it saved from a browser?",
    ),
    ("a.txt", "version https://git-lfs.github.com/spec/v1\n", "this is a pointer of Git LFS, not the file itself"),
    ("a.xlsx", "PK\x03\x04", "this is a ZIP archive (or a spreadsheet)"),
    ("a.parquet", "PAR1 and no more", "a.parquet: broken Parquet: "),
]


@pytest.mark.parametrize(("name", "text", "message"), WRONG_RUNS)
def test_what_is_wrong_with_a_run(
    name: str, text: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    table(text, name, tmp_path)
    with pytest.raises(amble.ReadError) as error:
        amble.align(GRADES, name)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_messages_are_one_line_whatever_the_file(tmp_path: Path) -> None:
    rng = random.Random(5)
    bits = [
        b"\0",
        b"\xff",
        b'"',
        b",",
        b"\t",
        b";",
        b"\n",
        b"{",
        b"}",
        b"[",
        b"]",
        b"null",
        b"1e999",
        b"\\ud800",
        b":",
        b"\r",
    ]
    said = []
    for _ in range(400):
        name = rng.choice(list(RUNS))
        data = bytearray(RUNS[name].encode())
        for _ in range(rng.randint(1, 3)):
            at = rng.randrange(len(data))
            data[at : at + rng.choice((0, 1, 9))] = rng.choice(bits)
        path = tmp_path / name
        path.write_bytes(data)
        for read in (amble.read_qrels, documents):
            try:
                read(path)
            except amble.ReadError as error:
                said.append(str(error))
    assert len(said) > 300
    assert [message for message in said if not message.isprintable() or str(tmp_path) not in message] == []


def test_swapped_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = table("q1 Q0 d1 1 0.5 x\n", "a.run", tmp_path)
    qrels = table("q1 0 d1 1\n", "a.qrels", tmp_path)
    assert main(["eval", run, qrels]) == 2
    assert capsys.readouterr().err == (
        f"amble: {run}:1: found 6 columns, expected 4: topic iter doc grade; this is a run: did you swap the files?\n"
    )
    with pytest.raises(amble.ReadError, match="columns rank and score; this is a run: did you swap the files"):
        amble.read_qrels(pd.DataFrame({"qid": ["1"], "docno": ["a"], "rank": [1], "score": [0.5]}))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"topics": "a"}, "columns: found 'topics', expected some of topic, doc, score, grade"),
        ({"topic": 0}, "columns: topic=0, expected the name of a column, or its number from 1"),
        ({"topic": True}, "columns: topic=True, expected"),
        ("topic=a", "columns 'topic=a': expected a mapping"),
        ({"topic": 4, "doc": 1, "score": 2}, "a.csv:1: column 4 for the topic, found 3 columns"),
        ({"topic": "t"}, "a.csv:1: no column for the topic among t0, doc, score; expected one of t, topic, query_id, "),
    ],
)
def test_wrong_columns(columns: Any, message: str, tmp_path: Path) -> None:
    path = table("t0,doc,score\n1,a,2\n", "a.csv", tmp_path)
    with pytest.raises(amble.ReadError) as error:
        documents(path, columns=columns)
    assert message in str(error.value)


def test_columns_of_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = table("topic,doc,score\n1,a,2\n", "a.csv", tmp_path)
    for text, message in (("topic", "topic='', expected the name"), ("doc=a,doc=b", "a column is named twice")):
        assert main(["eval", path, path, "--columns", text]) == 2
        assert message in capsys.readouterr().err
    assert main(["check", path]) == 2
    assert (
        capsys.readouterr().err
        == f"amble: {path}: CSV, which amble reads; but a file to hand in has lines: {{}}\n".format(
            "topic Q0 doc rank score tag"
        )
    )


def test_no_rank_to_break_ties_by(tmp_path: Path) -> None:
    path = table(COMMAS, "a.csv", tmp_path)
    with pytest.raises(amble.ReadError, match="ties='rank' is for TREC files; expected one, or ties='file'"):
        amble.align(GRADES, path, ties="rank")
    assert amble.align(GRADES, path, ties="file").audit.scored.tolist() == [2]


def test_long_lines(tmp_path: Path) -> None:
    path = table(COMMAS, "a.csv", tmp_path)
    with pytest.raises(amble.ReadError, match="a.csv:1: the line is longer than 5 bytes"):
        documents(path, max_line=5)


def test_big_tables_are_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("amble.io.trec._BIG_FILE", 1)
    assert amble.read_runs(table(COMMAS, "a.csv", tmp_path))[0].parts(2) == []
    amble.align(GRADES, table(COMMAS, "a.csv", tmp_path), threads=2)


# ---- Parquet and pyarrow


@pytest.mark.parametrize("reader", [None, *table_files._PARQUET])
def test_parquet(reader: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if reader is not None:
        if importlib.util.find_spec(reader.partition(".")[0].partition(":")[0]) is None:
            pytest.skip(f"{reader} is not installed")
        monkeypatch.setattr(table_files, "_PARQUET", (reader,))
    path = str(tmp_path / "a.parquet")
    pl.DataFrame(RECORDS).write_parquet(path)
    assert documents(path) == SCORES


def test_parquet_without_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_files, "_PARQUET", ("no_such_module:read",))
    with pytest.raises(amble.ReadError, match=r"Parquet needs the extra: pip install 'amble-ir\[parquet\]'"):
        documents(table("PAR1", "a.parquet", tmp_path))


@needs_arrow
def test_tables_of_pyarrow() -> None:
    import pyarrow as pa

    made = pa.Table.from_pylist(RECORDS)
    assert documents({"x": made}) == SCORES
    assert documents({"x": made.to_batches()[0]}) == SCORES
    assert documents(made.to_reader()) == SCORES
    numbers = pa.table({"topic": [1], "doc": [2], "grade": [3]})
    assert amble.read_qrels(numbers).to_dict() == {"1": {"2": 3.0}}


class Arrow:
    """What a table of pyarrow shows of itself, where it is not installed."""

    def __init__(self, columns: dict[str, list[Any]]) -> None:
        self._columns = columns
        self.column_names = list(columns)
        self.columns = [io.StringIO()] * len(columns)  # values, not names

    def __getitem__(self, name: str) -> Any:
        values = self._columns[name]
        return type("Chunked", (), {"to_pylist": lambda self: values})()


def test_a_table_like_those_of_pyarrow() -> None:
    assert amble.read_qrels(Arrow({"topic": ["1"], "doc": ["a"], "grade": [2]})).to_dict() == {"1": {"a": 2.0}}


# ---- in memory


def test_rankings_as_lists() -> None:
    qrels = {"q": {"d1"}}
    for ranking in (
        ["d3", "d1"],
        ("d3", "d1"),
        np.array(["d3", "d1"]),
        pd.Series(["d3", "d1"]),
        pl.Series(["d3", "d1"]),
    ):
        assert amble.evaluate(qrels, {"q": ranking}, "RR").values.item() == 0.5
        named = amble.evaluate(qrels, {"mine": {"q": ranking}}, "RR")
        assert (named.runs, named.values.item()) == (("mine",), 0.5)
    assert documents({"q": [("d3", 0.5), ("d1", 0.25)]}) == {"q": {"d3": 0.5, "d1": 0.25}}
    assert documents({"mine": [("q", "d3", 0.5)]}) == {"q": {"d3": 0.5}}
    assert documents({1: [3, 1], 2: []}) == {"1": {"3": 2.0, "1": 1.0}}
    assert documents({"q": np.array([3, 1])}) == {"q": {"3": 2.0, "1": 1.0}}


def test_relevant_documents_as_sets() -> None:
    for relevant in ({"a", "b"}, frozenset("ab"), ["a", "b"], ("a", "b"), np.array(["a", "b"])):
        assert amble.read_qrels({"q": relevant, "p": {"c": 2}}).to_dict() == {
            "q": {"a": 1.0, "b": 1.0},
            "p": {"c": 2.0},
        }


def test_what_lists_cannot_be() -> None:
    with pytest.raises(
        amble.ReadError, match="run: topic 'q': a set has no order, expected a list of documents, best fir"
    ):
        amble.read_runs({"q": {"d1", "d2"}})
    twice = r"row 2: document 'a' appears twice for topic 'q' \(first in row 0\)"
    with pytest.raises(amble.ReadError, match=twice):
        documents({"q": ["a", "b", "a"]})
    assert amble.align({"q": {"a"}}, {"q": ["a", "b", "a"]}, duplicates="best").audit.duplicates.tolist() == [1]


def test_inputs_are_left_alone() -> None:
    run = {"q": ["d3", "d1"]}
    qrels = {"q": {"d1"}}
    amble.evaluate(qrels, run, "AP")
    assert (run, qrels) == ({"q": ["d3", "d1"]}, {"q": {"d1"}})


def test_scores_that_are_small_arrays_are_scores() -> None:
    assert documents({"q": {"a": np.array(2.5), "b": np.float64(1)}}) == {"q": {"a": 2.5, "b": 1.0}}


def test_more_cells_than_names(amble_cli: Cli, write: Write) -> None:
    qrels, run = write("q.txt", "1 0 d1 1\n"), write("r.csv", "topic,doc,score\n1,d2,8,1\n1,d1,8,9\n")
    done = amble_cli("eval", qrels, run, "-m", "RR")
    assert done.returncode == 2
    assert "r.csv:2: found 4 columns, expected 3: topic, doc, score; has a number a comma for its point?" in done.stderr
    empty = write("e.csv", "topic,doc,score\n1,d1,8,,\n")  # spreadsheets do that
    assert amble_cli("eval", qrels, empty, "-m", "RR", "--quiet").stdout.split() == ["run", "RR", "e", "1.0000"]


def test_a_rank_by_its_name_is_a_rank(amble_cli: Cli, write: Write) -> None:
    qrels, run = write("q.txt", "1 0 d1 1\n"), write("r.csv", "qid,docno,rank\n1,d2,1\n1,d1,2\n")
    for words in ((), ("--columns", "score=rank")):
        assert amble_cli("eval", qrels, run, "-m", "RR", "--quiet", *words).stdout.split()[-1] == "0.5000"
