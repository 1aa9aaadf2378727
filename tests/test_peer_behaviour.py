"""The script that shows what other tools do with odd files: which trec_eval it runs, and what it reads of it."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent.parent / "benchmarks" / "peer_behaviour.py"
Main = Callable[[list[str]], int]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the programs made up here are shell scripts")


@pytest.fixture
def main(monkeypatch: pytest.MonkeyPatch) -> Main:
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    found: Main = runpy.run_path(str(SCRIPT), run_name="peer_behaviour")["main"]
    return found


def program(path: Path, version: str, body: str) -> str:
    """A program that says its version on standard error, as trec_eval does, and else does what the body says."""
    says = f'if [ "$1" = -v ]; then echo "trec_eval version {version}" >&2; exit 0; fi'
    path.write_text(f"#!/bin/sh\n{says}\n{body}\n")
    path.chmod(0o755)
    return str(path)


def test_programs_named_by_the_environment(
    main: Main, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    table = "map \\t1\\t0.5000\\nmap \\tall\\t1.0000\\nbpref\\tall\\t0.2500\\nndcg_cut_10\\tall\\t0.7500\\n"
    asked = f"echo $# $1 $2 $3 > {tmp_path}/asked"
    new = program(tmp_path / "new", "10.0", f"{asked}; printf '{table}'")
    old = program(tmp_path / "old", "9.0.8", "echo 'trec_eval.get_qrels: Malformed line 3' >&2; exit 1")
    monkeypatch.setenv("TREC_EVAL", f"{new}:{old}")
    assert main(["--tools", "trec_eval", "--cases", "plain"]) == 0
    head, _, row = capsys.readouterr().out.splitlines()
    assert head == "| case | trec_eval 10.0 | trec_eval 9.0.8 |"
    title, first, second = (cell.strip() for cell in row.strip("|").split("|"))
    assert title == "nothing odd (control)"
    assert first == "read: AP 1.0000, nDCG@10 0.7500, bpref 0.2500, n 1"
    assert second == "error (exit 1): trec_eval.get_qrels: Malformed line 3"
    assert (tmp_path / "asked").read_text() == "9 -q -m map\n"  # -q, three measures with -m, two files


def test_no_program(main: Main, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("TREC_EVAL", "/nowhere/trec_eval")
    with pytest.raises(SystemExit, match=r"^TREC_EVAL: /nowhere/trec_eval is not there or cannot be run, expected"):
        main(["--tools", "trec_eval", "--cases", "plain"])
    monkeypatch.delenv("TREC_EVAL")
    monkeypatch.setenv("PATH", "")
    assert main(["--tools", "trec_eval", "--cases", "plain"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "| nothing odd (control) | not installed |"


def test_the_version_inside_pytrec_eval(
    main: Main, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pytrec_eval")
    monkeypatch.setattr("importlib.metadata.version", {"pytrec_eval-terrier": "0.5.11", "ir_measures": "1"}.get)
    assert main(["--tools", "pytrec_eval", "--cases", "plain"]) == 0
    assert "| pytrec_eval 0.5.11 (trec_eval 9.0.8 inside) |" in capsys.readouterr().out
    monkeypatch.setattr("importlib.metadata.version", {"pytrec_eval-terrier": "7", "ir_measures": "1"}.get)
    assert main(["--tools", "pytrec_eval", "--cases", "plain"]) == 0
    assert "| pytrec_eval 7 (trec_eval of a version not looked into inside) |" in capsys.readouterr().out


def test_trec_eval_s_own_output(
    main: Main, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The whole output of `trec_eval -a -q` on its own test files, which has strings and measures not asked for."""
    shown = data / "trec_eval" / "out.test.aq"
    monkeypatch.setenv("TREC_EVAL", program(tmp_path / "trec_eval", "10.0", f"cat {shown}"))
    assert main(["--tools", "trec_eval", "--cases", "plain"]) == 0
    means = dict.fromkeys(("map", "ndcg_cut_10", "bpref"), "")
    for line in shown.read_text().splitlines():
        name, topic, value = line.split()
        if topic == "all" and name in means:
            means[name] = value
    row = capsys.readouterr().out.splitlines()[-1]
    assert row.endswith(f"AP {means['map']}, nDCG@10 {means['ndcg_cut_10']}, bpref {means['bpref']}, n 3 |")
