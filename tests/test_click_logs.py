"""Simulated logs: the people in them are those that were asked for."""

from __future__ import annotations

import gzip
import importlib.util
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from amble.users.forward import Forward
from amble.users.walk import Walk


def load(name: str) -> Any:
    path = Path(__file__).parent.parent / "benchmarks" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


made = load("click_logs")


def test_walkers_visit_what_walkers_visit() -> None:
    n = 40_000
    moves, stop = made.walk_chain(0.5, 0.25, 6, first="forward")
    visits = made.wandering(np.random.default_rng(1), n, moves, stop, np.eye(6)[0], np.arange(1.0, 7.0))
    on_list = Walk(0.5, 0.25).over(6)
    found = np.bincount(visits.rank, minlength=7)[1:] / n
    np.testing.assert_allclose(found, on_list.visits, atol=5 * np.sqrt(3 / n))
    last = np.append(np.flatnonzero(np.diff(visits.session)), visits.session.size - 1)
    np.testing.assert_allclose(
        np.bincount(visits.rank[last], minlength=7)[1:] / n, on_list.last, atol=5 * np.sqrt(0.25 / n)
    )
    assert set(np.abs(np.diff(visits.rank)[np.diff(visits.session) == 0])) == {1}
    # a visit to rank i takes 1 / i in the mean
    gap = np.append(np.diff(visits.time), 0.0)
    gap[last] = visits.left - visits.time[last]
    for rank in range(1, 7):
        mine = gap[visits.rank == rank]
        assert mine.mean() == pytest.approx(1 / rank, abs=5 / rank / np.sqrt(mine.size))
    assert (visits.time[np.append(0, last[:-1] + 1)] == 0).all()


def test_readers_stop_where_readers_stop() -> None:
    n, going_on = 40_000, np.array([0.9, 0.5, 0.8, 0.7])
    visits = made.reading(np.random.default_rng(2), n, going_on, clicked=0.3)
    deepest = np.zeros(n, int)
    np.maximum.at(deepest, visits.session, visits.rank)
    user = Forward(continuation=lambda rank: going_on[rank.astype(int) - 1]).over(4)
    np.testing.assert_allclose(np.bincount(deepest)[1:] / n, user.last, atol=5 * np.sqrt(0.25 / n))
    # rank 1 is clicked by those who stop there, and by 3 in 10 of the others
    assert (visits.rank == 1).mean() * visits.rank.size / n == pytest.approx(0.1 + 0.9 * 0.3, abs=0.02)
    assert (visits.left > 0).all()


def test_layouts(tmp_path: Path) -> None:
    visits = made.Visits(
        np.array([0, 0, 1]), np.array([1, 3, 2]), np.array([0.0, 2.5, 0.0]), np.array([4.0, 1.0]), 3, np.eye(2, 3)
    )
    made.write_table(str(tmp_path / "a.tsv"), [visits])
    rows = [line.split("\t") for line in (tmp_path / "a.tsv").read_text().splitlines()]
    assert rows[0] == ["session", "query", "rank", "time", "action", "grade"]
    assert all(len(row) == 6 for row in rows)
    assert [[row[0], *row[2:]] for row in rows[1:7]] == [
        ["0", "1", "0", "show", "1"],
        ["0", "2", "0", "show", "0"],
        ["0", "3", "0", "show", "0"],
        ["0", "1", "0.000", "click", ""],
        ["0", "3", "2.500", "click", ""],
        ["0", "", "4.000", "end", ""],
    ]
    made.write_relpred(str(tmp_path / "a.rel.gz"), [visits, visits])
    text = gzip.decompress((tmp_path / "a.rel.gz").read_bytes()).decode()
    lines = [line.split("\t") for line in text.splitlines()]
    assert [line[2] for line in lines] == list("QCCQC" * 2)
    assert [line[0] for line in lines] == list("0001122233")
    assert lines[0][5] == lines[1][3]
    assert lines[0][7] == lines[2][3]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.rel.gz", "a.tsv"]


def test_a_large_log_has_so_many_records() -> None:
    parts = list(made.large(200_000, 3))
    assert sum(v.session.size + v.left.size for v in parts) == pytest.approx(200_000, abs=50)
    again = list(made.large(200_000, 3))
    np.testing.assert_array_equal(parts[0].rank, again[0].rank)
