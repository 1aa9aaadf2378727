"""A line on a terminal, and nothing anywhere else."""

from __future__ import annotations

import io

import pytest

from amble import progress
from amble.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_nothing_where_nobody_looks() -> None:
    stream = io.StringIO()
    line = Progress("counting", stream)
    line(1, 2)
    line.close()
    assert stream.getvalue() == ""


def test_nothing_before_a_second_has_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [10.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    stream = Terminal()
    line = Progress("counting", stream)
    now[0] = 10.9
    line(1, 4)
    assert stream.getvalue() == ""
    now[0] = 11.1
    line(2, 4)
    assert stream.getvalue() == "\rcounting: 50 % of 4"
    line(3, 4)  # not every step
    assert stream.getvalue().count("\r") == 1
    line.close()
    assert stream.getvalue().endswith("\r" + " " * 19 + "\r")


def test_a_count_without_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [10.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    stream = Terminal()
    line = Progress("indexing", stream)
    line.count(1000)
    assert stream.getvalue() == ""
    now[0] = 11.1
    line.count(2000)
    assert stream.getvalue() == "\rindexing: 2,000"


def test_a_closed_stream_is_no_trouble() -> None:
    stream = io.StringIO()
    stream.close()
    Progress("counting", stream)(1, 2)
