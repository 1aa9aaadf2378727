"""What comes with the package: its names, its extras, the completion for shells."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from amble.cli.completion import SHELLS
from amble.cli.main import COMMANDS

ROOT = Path(__file__).parent.parent
Cli = Callable[..., subprocess.CompletedProcess[str]]


def test_every_extra_that_is_named_exists() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = set(project["optional-dependencies"])
    files = [*(ROOT / "src").rglob("*.py"), *(ROOT / "docs").glob("*.md"), ROOT / "README.md", ROOT / "pyproject.toml"]
    named = [
        (name, extra)
        for path in files
        for name, some in re.findall(r"\b(amble[\w-]*)\[([a-z][\w,]*)\]", path.read_text(encoding="utf-8"))
        for extra in some.split(",")
        if name != "amble" or path.name != "renamed.md"
    ]
    assert len(named) > 15
    assert {name for name, _ in named} == {project["name"]} == {"amble-ir"}
    assert {extra for _, extra in named} <= extras
    assert project["scripts"]["amble"] == project["scripts"]["amble-ir"]


def script(amble_cli: Cli, shell: str, tmp_path: Path) -> str:
    done = amble_cli("--completion", shell)
    assert (done.returncode, done.stderr) == (0, "")
    path = tmp_path / f"amble.{shell}"
    path.write_text(done.stdout, encoding="utf-8")
    return str(path)


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
def test_bash(amble_cli: Cli, tmp_path: Path) -> None:
    path = script(amble_cli, "bash", tmp_path)
    (tmp_path / "mine.run").touch()

    def completed(*words: str) -> list[str]:
        asked = f"COMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}"
        code = f"source {shlex.quote(path)}; {asked}; _amble; echo ${{COMPREPLY[@]}}"
        done = subprocess.run(["bash", "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
        return done.stdout.split()

    assert completed("amble", "''") == list(COMMANDS)
    assert completed("amble", "dis") == ["distribution"]
    assert completed("amble", "eval", "--format", "j") == ["json"]
    assert completed("amble", "gate", "--fail") == ["--fail-if"]
    assert completed("amble", "eval", "--fail") == []  # an option of others
    assert completed("amble", "eval", "x", "-m", "nDCG") == ["nDCG", "nDCGrel"]
    assert completed("amble", "eval", "mi") == ["mine.run"]


@pytest.mark.parametrize("shell", SHELLS)
def test_what_a_shell_reads(amble_cli: Cli, tmp_path: Path, shell: str) -> None:
    path = script(amble_cli, shell, tmp_path)
    text = Path(path).read_text(encoding="utf-8")
    assert all(re.search(rf"\b{command}\b", text) for command in COMMANDS)
    assert "amble-ir" in text
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell}")
    assert subprocess.run([shell, "-n", path], capture_output=True, check=True).stderr == b""


@pytest.mark.skipif(shutil.which("fish") is None, reason="no fish")
def test_fish(amble_cli: Cli, tmp_path: Path) -> None:
    path = script(amble_cli, "fish", tmp_path)
    asked = ("amble eval --form", "amble-ir gate --fail", "amble eval -m nDCGr")
    code = "; ".join([f"source {shlex.quote(path)}", *(f"complete -C '{words}'" for words in asked)])
    done = subprocess.run(
        ["fish", "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
    )
    assert [line.split("\t")[0] for line in done.stdout.splitlines()] == ["--format", "--fail-if", "nDCGrel"]
