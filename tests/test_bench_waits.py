"""The script that races two checkouts on what people wait for: its data, its commands, and what it refuses."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Three small runs where AMBLE_DATA has those of TREC-8; and the script importable."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    (tmp_path / "trec8" / "runs").mkdir(parents=True)
    (tmp_path / "trec8" / "qrels.txt").write_text("".join(f"1 0 d{i} {i % 2}\n" for i in range(6)))
    for name in "abc":
        lines = "".join(f"1 Q0 d{i} 0 {9 - i} {name}\n" for i in range(5))
        (tmp_path / "trec8" / "runs" / f"input.{name}").write_text(lines)
    monkeypatch.setenv("AMBLE_DATA", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(
    "name", ["markov", "markov depth", "walks", "walks with loss", "orders", "report", "report depth"]
)
def test_rows_of_trec8(name: str, folder: Path) -> None:
    import bench_waits
    import race

    row = bench_waits.ROWS[name]
    lap = race.lap(race.Contender(name, tuple(row.build(folder, 2))))
    assert not lap.trouble
    assert lap.cpu > 0
    assert (lap.cpu_inside >= 0) is row.inside  # NaN where the whole process is told
    assert (folder / "report.html").exists() is name.startswith("report")


def test_checkouts_without_c_parts_are_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import bench_waits

    monkeypatch.setattr(sys, "argv", ["bench_waits.py", str(folder), str(ROOT)])
    with pytest.raises(SystemExit):
        bench_waits.main()
    assert "expected a checkout with its C parts built" in capsys.readouterr().err


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
def test_make_bench_beside_an_older_checkout() -> None:
    said = [
        subprocess.run(["make", "-n", "bench", *more], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        for more in ([], ["OLD=../older"])
    ]
    assert "bench_waits.py" not in said[0]
    assert "bench_waits.py ../older . .bench" in said[1]
    assert "bench_read.py" not in said[1]
