"""What the shorter passes of the tests leave out is known: calls of the C parts, and slow tests."""

from __future__ import annotations

import re

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


def test_slow_tests_are_there() -> None:
    for name in quick.SLOW.read_text(encoding="utf-8").split():
        file, *inside = name.split("::")
        if file.startswith("tests/"):
            text = (quick.ROOT / file).read_text(encoding="utf-8")
            assert re.search(rf"^ *def {inside[-1]}\(", text, re.MULTILINE), name
