"""What the shorter passes of the tests leave out is known: calls of the C parts, and slow tests."""

from __future__ import annotations

import re

import pytest
import quick
import twins


def test_every_door_to_a_c_part_is_watched() -> None:
    assert twins.importers() == set(twins.DOORS)


def test_calls_are_found() -> None:
    names = {(file, name) for file, name, _ in twins.calls()}
    assert names >= {
        ("io/trec.py", "judge"),
        ("io/trec.py", "rank"),
        ("io/trec.py", "rank_stream"),
        ("users/joint_distribution.py", "joint"),
        ("users/simulation.py", "walk"),
    }
    assert all(hasattr(getattr(*twins.DOORS[file]), name) for file, name in names)


@pytest.mark.parametrize(
    ("new", "tests"),
    [
        ("src/amble/comparison/corrections.py", {"test_compare_tests.py"}),  # which import it by name
        ("src/amble/native/ranking.h", {"test_reader.py", "test_walker.py"}),
        ("src/amble/reporting/assets/board.js", {"test_report.py", "test_explore.py"}),
        ("tests/walk_reference.py", {"test_walk_reference.py"}),
        ("docs/tour.md", {"test_readme.py", "test_docs.py"}),
        ("benchmarks/bench_waits.py", {"test_bench_waits.py"}),
        ("README.md", {"test_readme.py"}),
        ("tests/golden/fusion_ranx.json", {"test_fusion.py"}),
    ],
)
def test_what_is_changed_brings_its_tests(new: str, tests: set[str]) -> None:
    paths = set((quick.ROOT / "tests").glob("test_*.py"))
    found = {path.name for path in quick.touched(paths, {quick.ROOT / new})}
    assert found >= tests
    assert len(found) < len(paths) / 3
    assert quick.touched(paths, set()) == set()


def test_slow_tests_are_there() -> None:
    for name in quick.SLOW.read_text(encoding="utf-8").split():
        file, *inside = name.split("::")
        if file.startswith("tests/"):
            text = (quick.ROOT / file).read_text(encoding="utf-8")
            assert re.search(rf"^ *def {inside[-1]}\(", text, re.MULTILINE), name
