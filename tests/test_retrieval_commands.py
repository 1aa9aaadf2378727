"""``amble index``, ``amble search`` and ``amble explain``: from files to files."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import amble
from amble.cli.main import main

Write = Callable[[str, str | bytes], str]
Cli = Callable[..., subprocess.CompletedProcess[str]]

DOCS = "d1\tcaesar died in march\nd2\tthe long march\nd3\t\n"
TOPICS = "1\tides of march\n2\tnothing\n"


@pytest.fixture
def index(write: Write, tmp_path: Path) -> str:
    path = str(tmp_path / "small.index")
    assert main(["index", write("docs.tsv", DOCS), "-o", path, "--language", "none", "--quiet"]) == 0
    return path


def test_from_files_to_a_run(write: Write, tmp_path: Path, amble_cli: Cli) -> None:
    docs, topics, path = write("docs.tsv", DOCS), write("topics.tsv", TOPICS), str(tmp_path / "i")
    done = amble_cli("index", docs, "-o", path, "--language", "none")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == (
        f"amble: {path}: Index(3 documents, 6 terms, 7 tokens; language none); 1 of the documents without a term\n"
    )
    done = amble_cli("search", path, topics, "--scorer", "jaccard")
    assert done.stdout == "1 Q0 d2 1 0.2 jaccard\n1 Q0 d1 2 0.16666666666666666 jaccard\n"
    assert done.stderr == "amble: Hits(jaccard: 2 documents for 1 of 2 topics); nothing for 2\n"
    run = tmp_path / "jaccard.run"
    assert (
        main(["search", path, topics, "--scorer", "jaccard", "-k", "1", "-o", str(run), "--tag", "mine", "--quiet"])
        == 0
    )
    assert run.read_text() == "1 Q0 d2 1 0.2 mine\n"
    assert sorted(os.listdir(tmp_path)) == ["docs.tsv", "i", "jaccard.run", "topics.tsv"]


@pytest.mark.parametrize("scorer", ["jaccard", "logtf", "tfidf", "cosine", "bm25", "lm"])
def test_the_tag_is_the_scorers_name(index: str, write: Write, tmp_path: Path, scorer: str) -> None:
    run = tmp_path / "r"
    assert main(["search", index, write("t", TOPICS), "--scorer", scorer, "-o", str(run), "--quiet"]) == 0
    assert {line.split()[5] for line in run.read_text().splitlines()} == {scorer}
    assert main(["check", str(run)]) == 0  # an ordinary run


def test_an_index_is_no_stream(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["index", write("docs.tsv", DOCS), "-o", "/dev/null"]) == 2
    assert capsys.readouterr().err == "amble: /dev/null: not a file, expected one to write an index to\n"


def test_explain(index: str, write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", index, "d1", "--topic", "ides of march", "--scorer", "jaccard"]) == 0
    by_text = capsys.readouterr().out
    assert by_text == (
        "jaccard of document d1: 0.1667, rank 2 of 2 found; the products add up to 1.0000\n"
        "term   in query  tf  df  cf  idf   query  document  product\n"
        "ides          1   0   0   0  -         -         -   0.0000\n"
        "march         1   1   2   2  -    1.0000    1.0000   1.0000\n"
        "of            1   0   0   0  -         -         -   0.0000\n"
    )
    topics = write("topics", TOPICS)
    assert main(["explain", index, "d1", "--topics", topics, "--topic", "1", "--scorer", "jaccard"]) == 0
    assert capsys.readouterr().out == by_text
    assert main(["explain", index, "d1", "--topic", "march", "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["scorer"], told["doc"], told["rank"]) == ("bm25", "d1", 2)
    assert told["score"] == amble.search(index, {"q": "march"})["q"]["d1"]
    assert main(["explain", index, "d1", "--topics", topics, "--topic", "9"]) == 2
    assert "no topic 9; there are 1, 2" in capsys.readouterr().err


def test_stop_words_and_stems(write: Write, tmp_path: Path) -> None:
    docs, path = write("docs.tsv", "d1\tThe marching of CAESARS\n"), str(tmp_path / "i")

    def terms(*options: str) -> list[str]:
        assert main(["index", docs, "-o", path, "--quiet", *options]) == 0
        return amble.open_index(path).terms

    assert terms() == ["caesar", "march"]
    assert terms("--no-stemming") == ["caesars", "marching"]
    assert terms("--stopwords", "none") == ["caesar", "march", "of", "the"]
    assert terms("--stopwords", write("stop", "marching\nof\n")) == ["caesar", "the"]
    assert terms("--language", "none") == ["caesars", "marching", "of", "the"]


def test_fields_and_encodings(write: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    docs = write("d.jsonl", '{"id": "1", "title": "uno", "text": "due"}\n')
    path = str(tmp_path / "i")
    assert main(["index", docs, "-o", path, "--fields", "title", "--quiet"]) == 0
    assert amble.open_index(path).terms == ["uno"]
    latin = write("l.tsv", "1\tcafé\n".encode("latin-1"))
    assert main(["index", latin, "-o", path]) == 2
    assert "l.tsv:1: byte 0xe9" in capsys.readouterr().err
    assert main(["index", latin, "-o", path, "--encoding", "latin-1", "--language", "none", "--quiet"]) == 0
    topics = write("t.xml", '<topic><num>7</num><title lang="en">one</title><title lang="it">café</title></topic>')
    assert main(["search", path, topics]) == 2
    assert "several languages (en, it)" in capsys.readouterr().err
    assert main(["search", path, topics, "--language", "it", "--renumber", "--quiet"]) == 0
    assert capsys.readouterr().out.startswith("1 Q0 1 1 ")


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["index", "nothing", "-o", "x"], "nothing: no such file"),
        (["index", "docs", "-o", "no/where/x"], "no/where/x: No such file or directory"),
        (["index", "docs", "docs", "-o", "x"], "docs:1: document d1 is there twice (first at docs:1)"),
        (["index", "docs", "-o", "x", "--language", "klingon"], "language 'klingon' has no stemmer"),
        (["index", "docs", "-o", "x", "--stopwords", "empty"], "empty: empty, expected words"),
        (["index", "docs", "-o", "docs"], "docs: is read, expected another file to write to"),
        (["search", "small.index", "topics", "-o", "./small.index"], "./small.index: is read, expected another file"),
        (["search", "docs", "topics"], "docs: not an index, or a broken one; expected what amble index wrote"),
        (["search", "small.index", "empty"], "empty: empty, expected topics"),
        (["search", "small.index", "topics", "-k", "0"], "argument -k/--top: found '0', expected a whole number"),
        (["search", "small.index", "topics", "--scorer", "bm26"], "scorer 'bm26' is unknown, did you mean bm25?"),
        (["search", "small.index", "topics", "--tag", "a b"], "tag 'a b' has a blank in it, expected one word"),
        (["search", "small.index", "topics", "-o", "no/where"], "no/where: No such file or directory"),
        (["explain", "small.index", "d9", "--topic", "march"], "document 'd9' is not in the index of 3 documents"),
        *(
            (["explain", "small.index", "d1", "--topic", "march", *words], f"{words[0]} is of topics in a file")
            for words in (["--language", "en"], ["--fields", "foo"], ["--renumber"], ["--encoding", "nope"])
        ),
        (["explain", "small.index", "d1", "--topic", "march", "--digits", "99"], "argument --digits: found '99'"),
    ],
)  # fmt: skip
def test_what_is_wrong_ends_in_one_line(
    index: str, write: Write, tmp_path: Path, argv: list[str], expected: str,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    for name, text in (("docs", DOCS), ("topics", TOPICS), ("empty", "")):
        write(name, text)
    before = sorted(os.listdir(tmp_path))
    assert main(argv) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("amble: " + expected)
    assert captured.err.count("\n") == 1
    assert sorted(os.listdir(tmp_path)) == before  # nothing half-written


def test_bytes_that_are_no_text(index: str, write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", index, write("t", b"1\tone\n2\t\xff\n")]) == 2
    assert "t:2: byte 0xff (character 3) is not UTF-8, expected text" in capsys.readouterr().err


def test_standard_input(index: str, amble_cli: Cli) -> None:
    done = amble_cli("search", index, "-", "--quiet", stdin=b"1\tmarch\n")
    assert [line.split()[2] for line in done.stdout.splitlines()] == ["d2", "d1"]


def test_other_commands_do_not_load_the_lab(amble_cli: Cli) -> None:
    done = amble_cli("--version", PYTHONPROFILEIMPORTTIME="1")
    assert "amble.retrieval" not in done.stderr
    assert "scipy" not in done.stderr
