"""What the README and the pages of docs/ show really runs, and prints what is shown.

Every block marked ``python`` or ``console`` is run, page by page, from top to bottom, in a folder where ``amble demo``
has been; a block of any other kind (``sh``, ``text``) is not.

* ``python``: a doctest; one namespace a page.
* ``console``: a line after ``$`` goes to the shell; the lines below it are what a terminal shows, of both streams, or
  there are none, and nothing is compared. The exit code must be 0, or 2 where the first line shown is an error.

``...`` stands for anything.
"""

from __future__ import annotations

import doctest
import glob
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from warm import Warm

from amble.measures import REGISTRY

ROOT = Path(__file__).parent.parent
GALLERY = ROOT / "docs" / "gallery.md"  # whose code is run, without altair's checks, by test_gallery.py
PAGES = [ROOT / "README.md", *sorted(page for page in (ROOT / "docs").rglob("*.md") if page != GALLERY)]
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
SAME = doctest.OutputChecker()


class Block(NamedTuple):
    """A block of a page, and the line it starts on (from 0)."""

    kind: str
    text: str
    line: int


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    for found in BLOCK.finditer(text):
        yield Block(found[1], found[2], text.count("\n", 0, found.start(2)))


def run_python(block: Block, page: Path, names: dict[str, object]) -> None:
    test = doctest.DocTestParser().get_doctest(block.text, names, page.name, str(page), block.line)
    assert test.examples, f"{page.name}:{block.line}: no line starts with '>>> '"
    report: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=report.append, clear_globs=False)
    names.update(test.globs)
    if report:
        pytest.fail("".join(report))


def words(command: str) -> list[str] | None:
    """The words of a command of amble as a shell would make them; None where only a shell can."""
    out: list[str] = []
    for word in re.findall(r"(?:'[^']*'|\"[^\"]*\"|\S)+", command):
        bare = re.sub(r"'[^']*'|\"[^\"$`\\]*\"", "", word)
        if re.search(r"[|&;<>$`?\[~\\\"'#{}()]", bare):
            return None
        found = sorted(glob.glob(word)) if "*" in bare else []
        out += found or shlex.split(word)
    return out[1:] if out[0] == "amble" else None


def run(command: str, warm: Warm) -> subprocess.CompletedProcess[bytes]:
    """Run a line of a terminal: by a warm process if it is amble and needs no shell, or just for some lines."""
    env = {**os.environ, "PYTHONUNBUFFERED": "1", "PYTHONUTF8": "1", "LC_ALL": "C", "COLUMNS": "100"}
    first = re.fullmatch(r"(.*--(?:quiet|format tsv).*) \| (head|tail) -(\d+)", command)
    kept = re.fullmatch(r"(.*) > ([\w.]+)", command)
    ours = words((first or kept or [command, command])[1])
    if ours is not None:
        done = warm.call(tuple(ours), env=env, together=not (first or kept))
        if first:  # what is told comes before what is found
            lines, many = done.stdout.splitlines(keepends=True), int(first[3])
            done.stdout = done.stderr + b"".join(lines[:many] if first[2] == "head" else lines[-many:])
        if kept:
            Path(kept[2]).write_bytes(done.stdout)
            done.stdout = done.stderr
        return done
    return subprocess.run(
        re.sub(r"^amble\b", lambda _: f'"{sys.executable}" -m amble', command),
        shell=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=env,
        timeout=300,
    )


def run_console(block: Block, page: Path, warm: Warm) -> None:
    commands = COMMAND.findall(block.text)
    assert commands, f"{page.name}:{block.line}: no line starts with '$ '"
    for command, shown in commands:
        done = run(command, warm)
        got = re.sub(r"[ \t]+$", "", done.stdout.decode(), flags=re.MULTILINE)
        code = 2 if shown.startswith("amble: ") else 0
        if done.returncode != code or (shown and not SAME.check_output(shown, got, doctest.ELLIPSIS)):
            where = f"{page.name}:{block.line + 1}: $ {command}"
            pytest.fail(f"{where}\nshown, exit code {code}:\n{shown}\ngot, exit code {done.returncode}:\n{got}")


@pytest.mark.parametrize(
    "page", [page for page in PAGES if any(blocks(page))], ids=lambda page: page.relative_to(ROOT).as_posix()
)
def test_page(page: Path, tmp_path: Path, demo_folder: Path, warm: Warm, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(demo_folder, tmp_path / "demo")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__main__"}
    known = set(REGISTRY)
    try:
        for block in blocks(page):
            if block.kind == "python":
                run_python(block, page, names)
            else:
                run_console(block, page, warm)
    finally:
        for declared in set(REGISTRY) - known:  # on the page, and for it alone
            del REGISTRY[declared]


def test_blocks_are_found_and_compared(tmp_path: Path, warm: Warm) -> None:
    page = tmp_path / "page.md"
    page.write_text("```python\n>>> 1 + 1\n3\n```\n\n```console\n$ echo one\ntwo\n```\n\n```sh\nfalse\n```\n")
    found = list(blocks(page))
    assert [(block.kind, block.line) for block in found] == [("python", 1), ("console", 6)]
    with pytest.raises(pytest.fail.Exception, match="Expected:\n    3\nGot:\n    2"):
        run_python(found[0], page, {})
    with pytest.raises(pytest.fail.Exception, match="echo one"):
        run_console(found[1], page, warm)


def test_readme_shows_both_ways() -> None:
    assert {block.kind for block in blocks(ROOT / "README.md")} == {"python", "console"}
