"""Write the page of typical mistakes by making them.

    python docs/make_mistakes.py    writes docs/mistakes.md

The page is kept in the repository. The tests compare it with what this script makes, and run its blocks.
"""

from __future__ import annotations

import contextlib
import io
import shlex
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from amble.cli.main import main as amble_main
from amble.errors import AmbleError

PAGE = Path(__file__).parent / "mistakes.md"


class Mistake(NamedTuple):
    """A mistake: a heading, files, a command or lines of Python that make it, and what to do."""

    title: str
    files: dict[str, str]
    code: str
    advice: str


FILES = {"qrels.txt": "1 0 d1 1\n1 0 d2 0\n2 0 d3 1\n", "bm25.run": "1 Q0 d2 1 9.5 bm25\n1 Q0 d1 2 8.5 bm25\n"}

MISTAKES = [
    Mistake(
        "The files swapped", {}, "amble eval bm25.run qrels.txt", "Judgments come first, then the runs.",
    ),
    Mistake(
        "A table without a header", {"bare.csv": "1,d2,9.5\n1,d1,8.5\n"}, "amble eval qrels.txt bare.csv",
        "Add a first line `topic,doc,score`, or number the columns: `--columns topic=1,doc=2,score=3`.",
    ),
    Mistake(
        "A column of another name", {"odd.csv": "question,doc,score\n1,d2,9.5\n"}, "amble eval qrels.txt odd.csv",
        "Say what it is called: `--columns topic=question`.",
    ),
    Mistake(
        "Lines of JSON with something missing", {"short.jsonl": '{"qid": 1, "score": 9.5}\n'},
        "amble eval qrels.txt short.jsonl", "Each line needs the document, by one of the names in the message.",
    ),
    Mistake(
        "A page of the web in place of a file", {"saved.txt": "<!DOCTYPE html>\n<title>qrels</title>\n"},
        "amble eval saved.txt bm25.run", "Download the raw file.",
    ),
    Mistake(
        "A file that is not there", {}, "amble eval qrels.txt bm52.run", "Look at the name, and at the folder.",
    ),
    Mistake(
        "A score that is no number", {"nan.run": "1 Q0 d1 1 nan x\n"}, "amble eval qrels.txt nan.run",
        "Repair what made the run. `amble check nan.run` lists all such lines.",
    ),
    Mistake(
        "A document twice", {"twice.run": "1 Q0 d1 1 9.5 x\n1 Q0 d1 2 8.5 x\n"}, "amble eval qrels.txt twice.run",
        "Passages in place of documents? `--duplicates best` keeps the best of them.",
    ),
    Mistake(
        "Topics of another numbering", {"q.run": "q1 Q0 d1 1 9.5 x\n"}, "amble eval qrels.txt q.run",
        "Ids are compared as they are written: `q1`, `1` and `01` are three.",
    ),
    Mistake(
        "Documents of another collection", {"other.run": "1 Q0 X-1 1 9.5 x\n"}, "amble eval qrels.txt other.run",
        "Compare the ids in the message. If the run is really that bad: `--allow-unjudged`.",
    ),
    Mistake(
        "A measure misspelled", {}, "amble eval qrels.txt bm25.run -m nDGC@10", "`amble list` has all names.",
    ),
    Mistake(
        "A parameter out of its domain", {}, "amble eval qrels.txt bm25.run -m 'RBP(p=80)'",
        "`amble list RBP` has the domains of its parameters.",
    ),
    Mistake(
        "Judgments and run swapped in Python", {},
        'amble.evaluate({"1": {"d1": 9.5, "d2": 8.25}}, {"1": {"d1": 1, "d2": 0, "d3": 0}}, "AP")',
        "`amble.evaluate(qrels, runs, measures)`.",
    ),
    Mistake(
        "Numbers that pandas made of ids", {}, 'amble.read_qrels([(401.0, "d1", 1)])',
        "A column of whole numbers with a gap in it becomes one of floats: read ids with `dtype=str`.",
    ),
    Mistake(
        "A set in place of a ranking", {}, 'amble.evaluate({"1": {"d1"}}, {"1": {"d1", "d2"}}, "RR")',
        "Judgments may be sets; a ranking is a list, best first, or has scores.",
    ),
    Mistake(
        "Padding in arrays", {}, 'amble.from_arrays([[1, 0, 0]], [[0.3, 0.5, float("-inf")]])',
        "Say where there are documents: `mask=[[1, 1, 0]]`.",
    ),
]  # fmt: skip

HEAD = """\
---
tags: [error, error messages, no topic in common, troubleshooting, FAQ]
---

# Error messages and what to do

What goes wrong most often, what amble says then, and what to do. A message is one line: what was found, what was
expected. On the command line the exit code is 2; in Python it is an error, all of them of the type `amble.AmbleError`.

The examples have these two files."""


def page() -> str:
    """The page, made in a folder of its own by making every mistake."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        return "\n".join(_lines())


def _lines() -> Iterator[str]:
    yield from (HEAD, "", "```console", *_written(FILES), "```")
    for number, mistake in enumerate(MISTAKES, 1):
        yield from ("", f"## {number}. {mistake.title}", "", *_made(mistake), "", mistake.advice)
    yield from ("", "<!-- made by docs/make_mistakes.py: change that, not this page -->", "")


def _written(files: dict[str, str]) -> Iterator[str]:
    """Write files; the commands that do so."""
    for name, text in files.items():
        Path(name).write_text(text, encoding="utf-8")
        shown = text.replace("\n", "\\n")
        yield f"$ printf '{shown}' > {name}"


def _made(mistake: Mistake) -> Iterator[str]:
    """Make a mistake: the block that shows it."""
    if mistake.code.startswith("amble "):
        said = io.StringIO()
        written = list(_written(mistake.files))
        with contextlib.redirect_stderr(said):
            code = amble_main(shlex.split(mistake.code)[1:])
        if code != 2:
            raise SystemExit(f"{mistake.title}: exit code {code}, expected 2")
        yield from ("```console", *written, f"$ {mistake.code}", said.getvalue().rstrip("\n"), "```")
        return
    names: dict[str, Any] = {}
    try:
        exec(f"import amble\n{mistake.code}", names)  # noqa: S102
    except AmbleError as error:
        told = f"{type(error).__module__}.{type(error).__qualname__}: {error}"
        lines = (">>> import amble", f">>> {mistake.code}", "Traceback (most recent call last):", "...", told)
        yield from ("```python", *lines, "```")
    else:
        raise SystemExit(f"{mistake.title}: no error, expected one")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
