"""Call a function on many items on several threads, with the results in the items' order."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

__all__ = ["MOST_THREADS", "map_in_order", "usual_threads"]

T = TypeVar("T")

MOST_THREADS = 1024
_USUAL = 8  # threads beyond which more memory is held than time saved


def usual_threads(threads: int | None = None) -> int:
    """The number of threads to use: that given, or the number of processors; never more than 8."""
    return min(threads or os.cpu_count() or 1, _USUAL)


def map_in_order(
    function: Callable[[Any], T],
    items: Iterable[Any],
    threads: int,
    *,
    ahead: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[T]:
    """Yield the result of every item, in order, computed on several threads.

    The error of the first item that has one is raised. After an error, an interrupt, or when the iterator is closed, no
    further item is begun; those begun are waited for, after an interrupt only when the process ends.
    (concurrent.futures would do, but its import takes longer than reading a small run.)

    Parameters
    ----------
    function : callable
    items : iterable
    threads : int
        With fewer than two, or a single item, all is done on the caller's thread.
    ahead : int, optional
        Begin no more than so many items, at least 1, before their results are taken; without it, there is no bound.
    progress : callable, optional
        Called with the number of results so far and the number of items.

    Examples
    --------
    >>> list(map_in_order(abs, [-1, 2, -3], threads=2))
    [1, 2, 3]
    """
    todo = items if isinstance(items, Sequence) else list(items)
    n = len(todo)
    workers = min(threads, n)
    if ahead is not None and ahead < 1:
        raise ValueError(f"ahead={ahead}: expected at least 1")
    if workers < 2:
        for done, item in enumerate(todo, 1):
            result = function(item)
            if progress is not None:
                progress(done, n)
            yield result
        return
    from threading import Condition, Thread

    changed = Condition()
    found: dict[int, tuple[Any, BaseException | None]] = {}
    begun = taken = 0
    stopped = False

    def work() -> None:
        nonlocal begun, stopped
        while True:
            with changed:
                while ahead is not None and taken + ahead <= begun < n and not stopped:
                    changed.wait()
                if stopped or begun >= n:
                    return
                i = begun
                begun += 1
            answer: tuple[Any, BaseException | None]
            try:
                answer = function(todo[i]), None
            except BaseException as error:
                answer = None, error
            with changed:
                found[i] = answer
                stopped = stopped or answer[1] is not None
                changed.notify_all()

    pool = [Thread(target=work) for _ in range(workers)]
    try:
        for thread in pool:
            thread.start()
        for i in range(n):
            with changed:
                while i not in found:
                    changed.wait()
                result, error = found.pop(i)
                taken = i + 1
                changed.notify_all()
            if error is not None:
                raise error
            if progress is not None:
                progress(i + 1, n)
            yield result
    except KeyboardInterrupt:
        pool.clear()
        raise
    finally:
        with changed:
            stopped = True
            changed.notify_all()
        for thread in pool:
            if thread.ident is not None:  # it was started
                thread.join()
