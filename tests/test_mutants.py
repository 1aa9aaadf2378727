"""The mutation check of `fuzz/mutants.py`: its bugs can still be put in, and what catches one is told."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = ROOT / "fuzz" / "mutants.py"
pytestmark = pytest.mark.skipif(not SCRIPT.exists(), reason="not a checkout: no fuzz/")


@pytest.fixture(scope="module")
def mutants() -> Any:
    spec = importlib.util.spec_from_file_location("mutants", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    sys.modules["mutants"] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_each_bug_can_be_put_in(mutants: Any) -> None:
    wrong = [
        one.wrong
        for one in mutants.MUTANTS
        if (ROOT / "src" / "amble" / one.file).read_text(encoding="utf-8").count(one.old) != 1 or one.old == one.new
    ]
    assert wrong == []
    assert len({one.wrong for one in mutants.MUTANTS}) == len(mutants.MUTANTS)
    assert len({one.file.partition("/")[0] for one in mutants.MUTANTS}) >= 10  # packages


@pytest.mark.parametrize(
    ("exit_codes", "expected"),
    [
        ([0, 1], "tests/test_x.py::test_y"),  # built, then a quick test fails
        ([0, 0, 1], "tests/test_x.py::test_y"),  # none of the quick ones, but one of all
        ([0, 0, 0], None),
        ([1], "the compiler"),
    ],
)
def test_what_catches_a_bug_is_told(
    mutants: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exit_codes: list[int], expected: str | None
) -> None:
    file = tmp_path / "src" / "amble" / "sum.py"
    file.parent.mkdir(parents=True)
    file.write_text("total = a + b\n")
    codes, seen, told = iter(exit_codes), [], "== failures ==\nFAILED tests/test_x.py::test_y - assert 1 == 2\n"

    def run(command: list[str], folder: Path, **env: str) -> subprocess.CompletedProcess[str]:
        seen.append((env.get("AMBLE_QUICK"), file.read_text()))
        assert "pytest" not in command or command[-1] == "tests/test_mutants.py"  # ignored: it fails with every bug
        code = next(codes)
        return subprocess.CompletedProcess(command, code, stdout=told if code else "", stderr="")

    monkeypatch.setattr(mutants, "_run", run)
    assert (
        mutants.caught_by(tmp_path, mutants.Mutant("sum.py", "a + b", "a - b", "the sum is a difference")) == expected
    )
    assert {text for _, text in seen} == {"total = a - b\n"}  # the bug was there all the time
    assert [since for since, _ in seen] == [None, "HEAD", ""][: len(exit_codes)]
    assert file.read_text() == "total = a + b\n"
    assert next(codes, None) is None


def test_what_is_no_test_catches_nothing(mutants: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(command: list[str], folder: Path, **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(command, 4, stdout="ERROR root:x.py:1 logged\n", stderr="no such option")

    monkeypatch.setattr(mutants, "_run", run)
    with pytest.raises(SystemExit, match="pytest, exit code 4: .*\n.*no such option"):
        mutants.first_failed(tmp_path)


def test_bugs_are_listed_and_chosen_by_their_words() -> None:
    listed = subprocess.run([sys.executable, SCRIPT, "--list", "--only", "Gini"], capture_output=True, text=True)
    assert listed.stdout == "evaluation/exposure_scores.py: Gini's coefficient counts ranks from 0\n"
    none = subprocess.run([sys.executable, SCRIPT, "--only", "no such"], capture_output=True, text=True)
    assert (none.returncode, none.stdout) == (2, "no bug has 'no such'\n")
