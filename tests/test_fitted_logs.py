"""From a log to scores: users are fitted, saved, and used; known users come back."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import amble
from amble.users.fitted import KINDS

pytest.importorskip("duckdb")
ROOT = Path(__file__).parent.parent


def test_a_log_becomes_scores(data: Path, tmp_path: Path, amble_cli: Callable[..., Any]) -> None:
    log, fit = data / "clicks" / "sogou.relpred.tsv.gz", tmp_path / "fit.toml"
    if not log.exists() or not (data / "trec8" / "qrels.txt").exists():
        pytest.skip("real data: no clicks/ and trec8/ in the folder that AMBLE_DATA names")
    done = amble_cli("fit", str(log), "-o", str(fit), "--rounds", "100", "--draws", "20", "--quiet")
    assert done.returncode == 0, done.stderr
    found = amble.read_fit(fit)
    assert (found.origin.sessions, found.origin.moves) == (8809, 3614)
    assert found.origin.files == (log.name,)
    assert {model.kind for model in found.models} == set(KINDS) - {
        "inst", "insq-adaptive", "insq-printed", "bpm", "ift", "ift-goal", "ift-rate", "session", "session-rbp",
    }  # fmt: skip  # without grades, and with one query a session
    runs = [str(data / "trec8" / "runs" / f"input.{name}.xz") for name in ("READWARE2", "orcl99man")]
    rankings = amble.align(data / "trec8" / "qrels.txt", runs)
    names = [f"PH(user='{fit}')", f"MP(user='{fit}')", f"MP(rates='{fit}',user='{fit}')", f"CWL(user='{fit}')"]
    intervals = amble.fitted_intervals(rankings, names)
    assert (intervals.low <= intervals.means + 0.01).all()
    assert (intervals.means <= intervals.high + 0.01).all()
    assert (intervals.high > intervals.low).all()
    assert all(len(draws) == 20 for draws in intervals.by_round)
    # PH by hand from the numbers of the file
    walk = found.pick(["walk"])
    p, q = (",".join(map(repr, walk.estimates[name].known.tolist())) for name in "pq")
    plain = amble.evaluate(rankings, f"PH(p='{p}',q='{q}',first='{walk.first}')").means()[:, 0]
    np.testing.assert_allclose(intervals.means[:, 0], plain, rtol=1e-6)
    # MP by hand: the left eigenvector of the matrix at the relevant ranks among the first ten
    moves = found.pick(["markov"]).estimates["P"].value
    values, vectors = np.linalg.eig(moves.T)
    distribution = np.abs(np.real(vectors[:, np.argmax(np.real(values))]))
    mu = found.pick(["times"]).estimates["mu"].known
    for j, weight in ((1, distribution), (2, distribution / mu)):
        scores = []
        for topic in rankings.topics:
            relevant = np.nan_to_num(rankings.grades(rankings.runs[0], topic)[:10]) > 0
            at = np.cumsum(relevant) / np.arange(1, relevant.size + 1)
            total = weight[: relevant.size][relevant].sum()
            scores.append(weight[: relevant.size][relevant] @ at[relevant] / total if total else 0.0)
        assert intervals.means[0, j] == pytest.approx(np.mean(scores), rel=1e-5)


@pytest.mark.parametrize("name", ["walk", "rbp", "inst", "markov"])
def test_known_users_come_back(name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    monkeypatch.setattr(sys, "argv", ["recovery.py", "--logs", "4", "--sessions", "400", "--only", name])
    import recovery

    recovery.main()
    said = capsys.readouterr()
    assert said.err == ""
    rows = [line for line in said.out.splitlines()[2:] if "  " in line]
    assert rows
    for row in rows:
        several = re.search(r" \(\d+\) ", row) is not None
        covered = float(row.split()[-2 if several else -1].strip("+-"))
        assert covered >= 0.5  # 2 or more of 4; less has a probability below 0.0005


@pytest.mark.parametrize("name", ["fitted_trec8.py", "gain_per_minute.py"])
def test_script_without_data_says_so(tmp_path: Path, name: str) -> None:
    script = ROOT / "reproductions" / name
    folder = tmp_path / "trec8"
    (folder / "runs").mkdir(parents=True)
    (folder / "qrels.txt").write_text("1 0 a 1\n")
    for data in ("", str(tmp_path)):
        done = subprocess.run(
            [sys.executable, str(script), "--trec8", str(folder)],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={**os.environ, "AMBLE_DATA": data},
        )
        assert done.returncode == 2
        assert "no data: name the log, or set AMBLE_DATA to the folder that holds clicks/sogou" in done.stderr
        assert done.stderr.count("\n") == 1
