"""Gates for continuous integration: what they say, when they fail, and the command."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import amble
from amble.comparison.design import TestDesign
from amble.reporting.gates import Gate, parse_gate, pass_through

Cli = Callable[..., subprocess.CompletedProcess[str]]
Write = Callable[[str, str], str]


@pytest.mark.parametrize(
    "text",
    [
        *("", "drops", "AP drops by", "AP drops by x", "AP drops by -1", "AP drops by nan", "AP drops by 1 %x"),
        *("< 0.5", "AP <", "AP < x", "AP < inf", "AP significantly", "AP drops significantly by 1", "AP = 0.5"),
    ],
)
def test_wrong_gates(text: str) -> None:
    with pytest.raises(amble.AmbleError, match=r"--fail-if .* 'MEASURE drops by 0\.01'"):
        parse_gate(text)


def test_right_gates() -> None:
    assert parse_gate("map") == Gate("map", significant=True)
    assert parse_gate(" AP  drops ") == Gate("AP", significant=False)
    assert parse_gate("INST(T=2) drops by 1e-3") == Gate("INST(T=2)", 0.001, significant=False)
    assert parse_gate("INST(T=2) drops by 1e-3  significantly") == Gate("INST(T=2)", 0.001, significant=True)
    assert parse_gate("nDCG@10 drops by 5 %") == Gate("nDCG@10", 0.05, relative=True, significant=False)
    assert parse_gate("nDCG@10 drops by 5% significantly") == Gate("nDCG@10", 0.05, relative=True, significant=True)
    assert parse_gate("nDCG@10<0.5") == Gate("nDCG@10", significant=False, below=0.5)
    with pytest.raises(amble.AmbleError, match="say which, with --baseline RUN"):
        parse_gate("AP drops", against=None)
    assert parse_gate("AP < 0.5", against=None).below == 0.5


@pytest.fixture
def scores() -> amble.Scores:
    """RR from 1/2 to 1/4 on six topics, from 1/2 to 1/2 on one, from 1 to 1/2 on one: from .5625 to .3125."""
    judged = {str(t): {"a": 1} for t in range(8)}
    before = {t: {"x": 2.0, "a": 1.0} for t in judged}
    after = {t: {"x": 4.0, "y": 3.0, "z": 2.0, "a": 1.0} for t in judged}
    after["7"], before["7"] = {"x": 2.0, "a": 1.0}, {"a": 1.0}
    after["6"] = {"x": 4.0, "a": 1.0}
    return amble.evaluate(judged, {"old": before, "new": after}, ["RR", "GMAP", "NumRet"])


@pytest.mark.parametrize(
    ("text", "fails"),
    [
        ("RR", True),
        ("RR drops", True),
        ("RR drops significantly", True),
        ("RR drops by 0.25", True),  # (7 x 1/2 + 1) / 8 - (6 x 1/4 + 2 x 1/2) / 8 = .25
        ("RR drops by 0.2500001", False),
        ("RR drops by 44.4%", True),  # .25 / .5625 = 4/9
        ("RR drops by 44.5%", False),
        ("RR drops by 0.25 significantly", True),
        ("RR < 0.3125", False),
        ("RR < 0.3126", True),
        ("NumRet drops", False),  # 15 before, 28 after
        ("GMAP drops by 0.2479", True),  # geometric means: 2^(-7/8) - 2^(-(6 x 2 + 2) / 8) = .54525 - .29730
        ("GMAP drops by 0.2480", False),
    ],
)
def test_a_gate_fails_at_its_own_number(scores: amble.Scores, text: str, fails: bool) -> None:
    outcome = pass_through(scores, [parse_gate(text)], TestDesign(baseline="old"))
    assert [check.run for check in outcome.checks] == ["new"]
    assert bool(outcome.regressions) is fails


def test_not_every_drop_is_significant() -> None:
    judged = {str(t): {"a": 1} for t in range(8)}
    up, down = {"a": 1.0, "x": 0.0}, {"x": 1.0, "a": 0.0}
    runs = {
        "old": {t: up if int(t) < 5 else down for t in judged},
        "new": {t: up if int(t) > 3 else down for t in judged},
    }
    scores = amble.evaluate(judged, runs, "RR")  # (5 + 3/2) / 8 and (4 + 4/2) / 8
    failed = {
        text: bool(pass_through(scores, [parse_gate(text)], TestDesign(baseline="old")).regressions)
        for text in ("RR", "RR drops", "RR drops by 0.06", "RR drops by 0.06 significantly", "RR drops by 0.07")
    }
    assert list(failed.values()) == [False, True, True, False, False]
    # the same scores drop by nothing
    same = amble.evaluate(judged, {"old": runs["old"], "new": dict(reversed(runs["old"].items()))}, "RR")
    assert not pass_through(same, [parse_gate("RR drops")], TestDesign(baseline="old")).regressions


@pytest.fixture
def files(write: Write) -> tuple[str, str, str]:
    qrels = "".join(f"{t} 0 a 1\n" for t in range(8))
    good = "".join(f"{t} Q0 a 1 1 good\n" for t in range(8))
    bad = "".join(f"{t} Q0 x 1 2 bad\n{t} Q0 a 2 1 bad\n" for t in range(7)) + "7 Q0 a 1 1 bad\n"
    return write("qrels.txt", qrels), write("good.run", good), write("bad.run", bad)


def test_the_command(amble_cli: Cli, files: tuple[str, str, str], tmp_path: Path) -> None:
    qrels, good, bad = files
    # RR of the bad run: (7 x 1/2 + 1) / 8; t = -.4375 / (.17678 / sqrt 8) = -7, which has p = .00021 with 7 degrees
    done = amble_cli("gate", qrels, bad, "--baseline", good, "--fail-if", "RR", "--fail-if", "RR < 0.6")
    assert done.returncode == 3
    assert done.stdout.splitlines() == [
        "regression: bad: RR 0.5625, good 1.0000, difference -0.4375 (p 0.0002, paired t-test, holm) "
        "(gate: RR drops significantly)",
        "regression: bad: RR 0.5625, expected at least 0.6 (gate: RR < 0.6)",
    ]
    assert done.stderr.splitlines()[-1] == "amble: regressions 2 of 2"
    done = amble_cli("gate", qrels, good, bad, "--baseline", "bad", "--fail-if", "RR drops", "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    done = amble_cli("gate", qrels, good, bad, "--fail-if", "RR < 0.6", "--format", "json", "--quiet")
    found = json.loads(done.stdout)
    assert (done.returncode, found["passed"]) == (3, False)
    assert [(check["run"], check["mean"], check["failed"], check["below"]) for check in found["checks"]] == [
        ("good", 1.0, False, 0.6),
        ("bad", 0.5625, True, 0.6),
    ]
    out = tmp_path / "found.txt"
    assert (
        amble_cli("gate", qrels, bad, "--baseline", good, "--fail-if", "RR drops by 1", "-o", str(out)).returncode == 0
    )
    assert out.read_text() == "\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "no gate: expected --fail-if"),
        (("--fail-if", "RR < 1", "--alpha", "0.1"), "--alpha is of tests: expected a gate that asks for significance"),
        (("--fail-if", "RR"), "--fail-if RR: compares with a baseline: say which, with --baseline RUN"),
        (("--fail-if", "RR", "--baseline", "none.run"), "--baseline none.run: expected a file, or one of bad"),
        (("--fail-if", "RR", "--baseline", "bad"), "bad is the only run, expected another to compare with it"),
        (("--fail-if", "RRR drops", "--baseline", "bad"), "'RRR': no measure is called RRR; did you mean RR"),
    ],
)
def test_what_is_refused(amble_cli: Cli, files: tuple[str, str, str], words: tuple[str, ...], message: str) -> None:
    done = amble_cli("gate", files[0], files[2], *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert message in done.stderr


def test_the_baseline_is_not_written_over(amble_cli: Cli, files: tuple[str, str, str]) -> None:
    qrels, good, bad = files
    done = amble_cli("gate", qrels, bad, "--baseline", good, "--fail-if", "RR", "-o", good)
    assert done.returncode == 2
    assert "good" in Path(good).read_text()


def test_a_share_of_a_mean_below_zero(amble_cli: Cli, files: tuple[str, str, str], write: Write) -> None:
    qrels, _, bad = files
    worse = write("worse.run", Path(bad).read_text() + "7 Q0 y 2 0.5 bad\n")
    # relevant retrieved minus others: 8 - 7 = 1 and 8 - 8 = 0; minus twice: 8 - 14 = -6 and 8 - 16 = -8, 1/3 less
    ask = ("gate", qrels, worse, "--baseline", bad, "--quiet", "--fail-if")
    measure = "Utility(weights='1,-2,0,0')"
    assert amble_cli(*ask, f"{measure} drops by 33%").returncode == 3
    assert amble_cli(*ask, f"{measure} drops by 34%").returncode == 0
    assert amble_cli("gate", qrels, worse, "--quiet", "--fail-if", f"{measure} < -1").returncode == 0  # -1 is the mean
    assert amble_cli("gate", qrels, worse, "--quiet", "--fail-if", f"{measure} < -0.9").returncode == 3


def test_a_baseline_by_its_name_and_by_another_path(
    amble_cli: Cli, files: tuple[str, str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    qrels, good, bad = files
    monkeypatch.chdir(tmp_path)
    Path("good").mkdir()  # no run, whatever its name
    done = amble_cli("gate", qrels, good, bad, "--baseline", "good", "--fail-if", "RR")
    assert (done.returncode, done.stderr.splitlines()[-1]) == (3, "amble: regressions 1 of 1")
    other = os.path.join(os.path.dirname(good), ".", os.path.basename(good))
    done = amble_cli("gate", qrels, os.path.relpath(good), bad, "--baseline", other, "--fail-if", "RR")
    assert (done.returncode, done.stderr.splitlines()[-1]) == (3, "amble: regressions 1 of 1")


def test_the_workflow_shown(tmp_path: Path, demo_folder: Path, amble_cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    page = Path(__file__).parent.parent / "docs" / "gate.md"
    (shown,) = re.findall(r"^      - run: amble (gate .*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    for name, file in (("qrels.txt", "qrels.txt"), ("release.run", "hybrid.run"), ("new.run", "boolean.run")):
        shutil.copy(demo_folder / file, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    done = amble_cli(*shlex.split(shown))
    assert done.returncode == 3
    assert [line.split("(gate: ")[1] for line in done.stdout.splitlines()] == [
        "nDCG@10 drops significantly)",
        "R@100 drops by 2%)",
    ]
    shutil.copy("release.run", "new.run")
    assert amble_cli(*shlex.split(shown)).returncode == 0
