"""Several threads: results in order, the first item's error, nothing begun after the end; and checks of arguments."""

from __future__ import annotations

import signal
import threading
import time

import numpy as np
import pytest

import amble
from amble import checks
from amble.parallel import map_in_order, usual_threads


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
@pytest.mark.parametrize("ahead", [None, 1, 5])
def test_results_are_in_order_and_progress_is_reported(threads: int, ahead: int | None) -> None:
    told: list[tuple[int, int]] = []

    def square(x: int) -> int:
        time.sleep(0.002 * (x % 3 == 0))
        return x * x

    found = map_in_order(square, range(9), threads, ahead=ahead, progress=lambda done, n: told.append((done, n)))
    assert list(found) == [x * x for x in range(9)]
    assert told == [(i, 9) for i in range(1, 10)]
    assert list(map_in_order(square, iter([]), threads, ahead=ahead)) == []


@pytest.mark.parametrize("threads", [1, 4])
def test_the_first_error_is_raised_and_no_more_is_begun(threads: int) -> None:
    begun, others = [], threading.active_count()

    def fail(x: int) -> int:
        begun.append(x)
        time.sleep(0.05 if x == 1 else 0.0)
        if x in (1, 3):
            raise ValueError(f"item {x}")
        return x

    found = map_in_order(fail, range(1000), threads)
    assert next(found) == 0
    with pytest.raises(ValueError, match="item 1"):
        list(found)
    assert len(begun) < 100
    assert threading.active_count() <= others  # those of tests before may have ended meanwhile


def test_a_closed_iterator_begins_no_more() -> None:
    begun, others = [], threading.active_count()
    found = map_in_order(begun.append, range(10**9), 3, ahead=6)
    next(found)
    found.close()
    assert len(begun) <= 8
    assert threading.active_count() <= others


def test_an_interrupt_is_heeded() -> None:
    before, others = signal.signal(signal.SIGINT, signal.default_int_handler), set(threading.enumerate())
    begun = []

    def slow(x: int) -> None:
        begun.append(x)
        time.sleep(0.1)
        if x == 1:
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        time.sleep(0.1)

    try:
        with pytest.raises(KeyboardInterrupt):
            list(map_in_order(slow, range(100), 2))
    finally:
        signal.signal(signal.SIGINT, before)
    for thread in set(threading.enumerate()) - others:
        thread.join(20)
    assert len(begun) <= 20  # of 100: two at a time, and more only while the main thread waits for its turn


def test_usual_threads() -> None:
    assert (usual_threads(1), usual_threads(3), usual_threads(100)) == (1, 3, 8)
    assert 1 <= usual_threads() <= 8


def test_checks_return_the_value_or_say_what_was_expected() -> None:
    assert checks.whole(np.int32(3), "depth") == 3
    assert (checks.share(np.float32(0.5), "alpha"), checks.seed(2**100)) == (0.5, 2**100)
    for wrong in (0, True, 1.5, "1", None):
        with pytest.raises(amble.AmbleError, match="depth=.*: expected a whole number of at least 1"):
            checks.whole(wrong, "depth")
    with pytest.raises(amble.AlignError, match=r"depth=9: expected a whole number of at most 8"):
        checks.whole(9, "depth", most=8, kind=amble.AlignError)
    for wrong in (0, 1, True, "0.5", float("nan")):
        with pytest.raises(amble.AmbleError, match="alpha=.*: expected a number between 0 and 1"):
            checks.share(wrong, "alpha")
    with pytest.raises(amble.AmbleError, match=r"seed=-1: expected a whole number of at least 0"):
        checks.seed(-1)


def test_all_warnings_have_one_base() -> None:
    names = [name for name in amble.__all__ if name.endswith("Warning")]
    assert len(names) == 4
    assert all(issubclass(getattr(amble, name), amble.AmbleWarning) for name in names)
    assert issubclass(amble.AmbleWarning, UserWarning)
