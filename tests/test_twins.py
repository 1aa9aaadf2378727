"""The pass without the C parts is complete: what calls them is known."""

from __future__ import annotations

import twins


def test_every_door_to_a_c_part_is_watched() -> None:
    assert twins.importers() == set(twins.DOORS)


def test_calls_are_found() -> None:
    names = {(file, name) for file, name, _ in twins.calls()}
    assert names >= {("read.py", "judge"), ("read.py", "rank"), ("read.py", "rank_stream"), ("users/crowd.py", "walk")}
    assert all(hasattr(getattr(*twins.DOORS[file]), name) for file, name in names)
