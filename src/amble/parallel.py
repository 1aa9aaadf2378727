"""Work cut into pieces: done here on threads, or by the workers of any executor; gathered in order, none lost.

A piece is a function of a module with what all pieces share and an item; its result depends on these alone. So it makes
no difference where it is computed, nor how often: the results are those of one process, bit for bit.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple, TypeVar

from amble import __version__
from amble.checks import whole
from amble.errors import AmbleError, ClusterLostError
from amble.io.files import whole_file

__all__ = [
    "MOST_THREADS",
    "FilePath",
    "Workers",
    "map_in_order",
    "processes",
    "spread",
    "usual_threads",
    "workers_of",
]

T = TypeVar("T")

MOST_THREADS = 1024
_USUAL = 8  # threads beyond which more memory is held than time saved
_UNKNOWN = 16  # workers of an executor that does not tell
_LARGE = 1 << 20  # bytes that all pieces share, from which on pieces travel together
_PATIENCE = 10.0  # seconds until a scheduler answers
_PULSE = 1.0  # seconds after which one that says nothing is looked at
_OURS = ("amble", "numpy", "scipy")  # whose functions and classes are known by their names


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


class FilePath(str):
    """The path of a file that workers read, from the root on; in keys, the file's content stands for it."""

    __slots__ = ()

    def __new__(cls, path: str | os.PathLike[str]) -> FilePath:
        """The path, whatever the folder that it was given in."""
        return super().__new__(cls, os.path.abspath(path))


def spread(
    function: Callable[[Any, Any], T],
    shared: Any,
    items: Iterable[Any],
    executor: Any = None,
    *,
    threads: int = 1,
    ahead: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[T]:
    """Yield ``function(shared, item)`` of every item, in order: computed here, or by the workers of an executor.

    Parameters
    ----------
    function : callable
        A function of a module, whose result depends on its arguments alone.
    shared : object
        What all items need. A worker keeps it, so that what it computes lazily is computed once a worker.
    items : iterable
    executor : optional
        As `Workers` takes it. Without one, all is done here, on ``threads``.
    threads, ahead, progress
        As for `map_in_order`.

    Examples
    --------
    >>> from operator import add
    >>> list(spread(add, 10, [1, 2, 3])), list(spread(add, 10, [1, 2, 3], Workers()))
    ([11, 12, 13], [11, 12, 13])
    """
    if executor is None:
        yield from map_in_order(partial(function, shared), items, threads, ahead=ahead, progress=progress)
        return
    with workers_of(executor) as workers:
        yield from workers.map(function, shared, items, progress)


@contextlib.contextmanager
def workers_of(executor: Any) -> Iterator[Workers]:
    """The workers of an executor; those that are made for it are ended with the block."""
    if isinstance(executor, Workers):
        yield executor
    else:
        with Workers(executor) as workers:
            yield workers


class Workers:
    """Workers that long jobs are spread over; the results are those of one process, bit for bit.

    A piece of work that is lost with its worker is done again. An error in the data stops the job at once.

    Parameters
    ----------
    executor : optional
        Any `concurrent.futures.Executor`, such as ``client.get_executor(retries=3)`` of Dask; a function that makes
        one, called again if the executor breaks, as pools of processes do with one of them; a number of processes on
        this machine; the address of a Dask scheduler, ``tcp://…``, or its file, ``scheduler.json``. Without it, all is
        done in this process.
    checkpoint : path, optional
        A folder where finished pieces are kept, under keys made of the contents of the files and the parameters. A job
        that was stopped, in whatever way, and is started again does the rest only.
    tries : int
        How often a piece that was lost is begun again.

    Examples
    --------
    >>> import tempfile
    >>> import amble
    >>> qrels, runs = {"1": {"a": 1}}, {"x": {"1": {"b": 2.0, "a": 1.0}}}
    >>> with tempfile.TemporaryDirectory() as folder, amble.Workers(checkpoint=folder) as workers:
    ...     amble.evaluate(qrels, runs, "RR", executor=workers).values
    array([[[0.5]]])
    """

    def __init__(
        self, executor: Any = None, *, checkpoint: str | os.PathLike[str] | None = None, tries: int = 3
    ) -> None:
        self.tries = whole(tries, "tries", 0)
        self._store = None if checkpoint is None else _Checkpoint(os.fspath(checkpoint))
        self._make, self._pool = _maker(executor)
        self._here = executor is None

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self.close(at_once=kind is not None)

    def close(self, *, at_once: bool = False) -> None:
        """End the workers that were made here, ``at_once`` whatever they are doing."""
        if self._make is not None and self._pool is not None:
            pool, self._pool = self._pool, None
            _end(pool, at_once)

    def _open(self) -> Any:
        if self._pool is None and self._make is not None:
            self._pool = self._make()
        return self._pool

    def map(
        self,
        function: Callable[[Any, Any], T],
        shared: Any,
        items: Iterable[Any],
        progress: Callable[[int, int], None] | None = None,
    ) -> Iterator[T]:
        """Yield ``function(shared, item)`` of every item, in order; see `spread`."""
        pieces, store = list(items), self._store
        keys = [] if store is None else store.keys(function, shared, pieces)
        missing = [i for i in range(len(pieces)) if store is None or not store.has(keys[i])]
        absent, held, done = set(missing), dict[int, T](), len(pieces) - len(missing)
        if progress is not None and done:
            progress(done, len(pieces))
        finished = (
            _here(function, shared, pieces, missing) if self._here else self._away(function, shared, pieces, missing)
        )
        with contextlib.closing(finished):
            for i in range(len(pieces)):
                if store is not None and i not in absent:
                    yield store.load(keys[i], partial(function, shared, pieces[i]))
                    continue
                while i not in held:
                    j, result = next(finished)
                    if store is not None:
                        store.save(keys[j], result)
                    held[j], done = result, done + 1
                    if progress is not None:
                        progress(done, len(pieces))
                yield held.pop(i)

    def _away(
        self, function: Callable[..., T], shared: Any, pieces: list[Any], missing: list[int]
    ) -> Generator[tuple[int, T], None, None]:
        """The missing pieces with their results, as the workers finish them."""
        if not missing:
            return
        from bisect import insort
        from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Future, wait

        payload, workers = _pickled((function, shared)), _workers(self._open())
        together = 1 if len(payload) < _LARGE else -(-len(missing) // (4 * workers))
        tasks = [missing[at : at + together] for at in range(0, len(missing), together)]
        waiting, running, lost, done = list(range(len(tasks))), dict[Future[Any], int](), [0] * len(tasks), 0

        def again(task: int, error: BaseException, broken: bool) -> None:
            """Begin a lost task again, on a new executor if this one is broken, and then all others that it had."""
            lost[task] += 1
            if lost[task] > self.tries or (broken and self._make is None):
                raise self._gave_up(error, done, len(pieces)) from None
            insort(waiting, task)
            if broken:
                for other in running.values():
                    insort(waiting, other)
                running.clear()
                self.close(at_once=True)

        try:
            while waiting or running:
                first = min(running.values(), default=waiting[0] if waiting else 0)
                while waiting and len(running) < 4 * workers and waiting[0] < first + 32 * workers:
                    task = waiting.pop(0)
                    try:
                        future = self._open().submit(work, payload, [pieces[i] for i in tasks[task]], lost[task])
                    except AmbleError:
                        raise
                    except Exception as error:
                        again(task, error, True)
                    else:
                        running[future] = task
                finished = wait(running, _PULSE, FIRST_COMPLETED).done
                if not finished and running and _is_dead(self._pool):
                    again(running.pop(next(iter(running))), CancelledError("the scheduler does not answer"), True)
                for future in finished:
                    if future not in running:  # of an executor that is broken
                        continue
                    task = running.pop(future)
                    failed = CancelledError("cancelled") if future.cancelled() else future.exception()
                    if failed is not None:  # not of the work, which returns its errors, but of who was to do it
                        again(task, failed, isinstance(failed, BrokenExecutor | CancelledError))
                        continue
                    for i, result in zip(tasks[task], future.result(), strict=False):
                        if isinstance(result, Failure):
                            raise result.error
                        done += 1
                        yield i, result
        finally:
            if running and self._make is not None:
                self.close(at_once=True)
            for future in running:
                future.cancel()

    def _gave_up(self, error: BaseException, done: int, count: int) -> ClusterLostError:
        why = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        then = (
            "finished pieces are kept with --checkpoint FOLDER" if self._store is None else "start again for the rest"
        )
        if self._make is None:
            then += "; give a function that makes an executor, and a broken one is replaced"
        return ClusterLostError(f"workers lost, {done} of {count} pieces done: {' '.join(why.split()):.200}; {then}")


def _here(
    function: Callable[..., T], shared: Any, pieces: list[Any], missing: list[int]
) -> Generator[tuple[int, T], None, None]:
    for i in missing:
        yield i, function(shared, pieces[i])


# ---- executors


def _maker(executor: Any) -> tuple[Callable[[], Any] | None, Any]:
    """The function that makes an executor, if one is to be made here; else the executor itself."""
    if executor is None or (hasattr(executor, "submit") and not isinstance(executor, type)):
        return None, executor
    if isinstance(executor, str | os.PathLike):
        return partial(_dask, os.fspath(executor)), None
    if callable(executor):
        return executor, None
    return partial(processes, whole(executor, "executor", 1, MOST_THREADS)), None


def processes(count: int, *, spared: bool = False) -> Any:
    """A pool of processes on this machine; none of them imports the program that asks for it.

    Those that are ``spared`` hear nothing of Ctrl-C, also while they start; nor do other processes that the program
    forks from the same server, so that this is for commands.
    """
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor
    from types import ModuleType

    how = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
    context = multiprocessing.get_context(how)
    context.set_forkserver_preload(["amble.evaluation.scores"])  # once for all of them

    class Pool(ProcessPoolExecutor):
        """Processes that get the program's own functions with their code: so the program needs no main guard."""

        def submit(self, *args: Any, **named: Any) -> Any:
            """Submit a call; a process that is started for it finds no program to import."""
            program, sys.modules["__main__"] = sys.modules["__main__"], ModuleType("__main__")
            try:
                with _no_interrupts() if spared else contextlib.nullcontext():
                    return super().submit(*args, **named)
            finally:
                sys.modules["__main__"] = program

    return Pool(count, context, initializer=_begin)


@contextlib.contextmanager
def _no_interrupts() -> Iterator[None]:
    """On this thread, Ctrl-C waits; it never comes to processes that are started meanwhile, nor to theirs."""
    import signal

    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin() -> None:
    """Begin a process of a pool: Ctrl-C is its parent's business, and without a parent it ends."""
    import multiprocessing
    import signal
    import threading

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent: Any = multiprocessing.parent_process()

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _dask(address: str) -> Any:
    """The executor of a Dask scheduler, by its address or its file."""
    try:
        connect: Any = importlib.import_module("distributed").Client
    except ImportError:
        raise AmbleError("Dask needs the extra: pip install 'amble-ir[cluster]'") from None
    import json
    import logging

    is_file = "://" not in address
    if is_file and not os.path.isfile(address):
        raise AmbleError(f"{address}: no such file, expected tcp://HOST:PORT or the scheduler's file, scheduler.json")
    if is_file:
        try:
            with open(address, "rb") as file:
                found = json.load(file)["address"]
        except (ValueError, TypeError, KeyError, RecursionError):
            found = None
        if not isinstance(found, str):
            raise AmbleError(f"{address}: not a scheduler's file, expected one with an address, scheduler.json")
    for name in list(logging.root.manager.loggerDict):  # what they log is told here in a line
        if name.partition(".")[0] in ("distributed", "tornado"):  # each of their modules has a level of its own
            logging.getLogger(name).setLevel(logging.CRITICAL)
    where = {"scheduler_file": address} if is_file else {"address": address}
    try:
        client = connect(**where, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise ClusterLostError(f"{address}: no Dask scheduler answers: {' '.join(str(error).split()):.200}") from None
    return client.get_executor(retries=3)


def _is_dead(pool: Any) -> bool:
    """Whether an executor is Dask's, and its scheduler gone."""
    return getattr(getattr(pool, "_client", None), "status", "running") != "running"


def _workers(pool: Any) -> int:
    """How many workers there are, as far as an executor tells."""
    client = getattr(pool, "_client", None)
    if client is not None:
        with contextlib.suppress(Exception):
            return sum(client.ncores().values()) or _UNKNOWN
    return getattr(pool, "_max_workers", None) or _UNKNOWN


def _end(pool: Any, at_once: bool) -> None:
    """End an executor that was made here."""
    client = getattr(pool, "_client", None)
    if client is not None:
        with contextlib.suppress(Exception):
            if not _is_dead(pool):
                pool.shutdown(wait=False)
            client.close(timeout=_PATIENCE)
    elif not at_once:
        pool.shutdown()
    elif processes := list((getattr(pool, "_processes", None) or {}).values()):
        for process in processes:  # the pool finds that it is broken, and ends
            with contextlib.suppress(Exception):
                process.kill()
        with contextlib.suppress(AttributeError, OSError):
            pool._result_queue._writer.close()  # else who reads the half of a result waits for the rest of it
        if (thread := getattr(pool, "_executor_manager_thread", None)) is not None:
            thread.join(1.0)
    else:
        for how in ({"kill_workers": True}, {"cancel_futures": True}, {}):  # loky, the standard library, others
            with contextlib.suppress(TypeError):
                pool.shutdown(wait=False, **how)
                break


# ---- what travels


class Failure(NamedTuple):
    """The error of a piece: it is a result, so that no engine tries it again."""

    error: Exception


def work(payload: bytes, items: list[Any], attempt: int) -> list[Any]:
    """Compute some pieces, on a worker; the last result may be a `Failure`. Each ``attempt`` is a task of its own."""
    out: list[Any] = []
    try:
        function, shared = _unpacked(payload)
        for item in items:
            out.append(function(shared, item))
    except Exception as error:
        out.append(Failure(_portable(error)))
    return out


@lru_cache(4)
def _unpacked(payload: bytes) -> Any:
    """What a worker was sent; the last few are kept, with all that they have read and computed."""
    import pickle

    try:
        return pickle.loads(payload)
    except ImportError as error:
        raise AmbleError(f"a worker lacks what the job needs: {error}") from None


def _portable(error: Exception) -> Exception:
    """An error as it can travel, with the place where it was raised if it is not the user's."""
    import pickle
    import traceback

    if not isinstance(error, AmbleError):
        error.add_note("".join(traceback.format_exception(error)))
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        kind = AmbleError if isinstance(error, AmbleError) else RuntimeError
        return kind(str(error))
    return error


def _pickled(what: Any) -> bytes:
    """What travels to workers, as bytes: functions that they could not find by name with their code."""
    import io
    import pickle
    from types import FunctionType

    class Plain(pickle.Pickler):
        def reducer_override(self, x: Any) -> Any:
            if isinstance(x, FunctionType | type) and x.__module__ == "__main__":
                raise pickle.PicklingError(f"{x.__qualname__} is of the program itself")
            return NotImplemented

    try:
        Plain(data := io.BytesIO(), 5).dump(what)
        return data.getvalue()
    except Exception as error:
        why = error
    try:
        return importlib.import_module("cloudpickle").dumps(what)  # type: ignore[no-any-return]
    except ImportError:
        extra = "; functions travel with the extra: pip install 'amble-ir[cluster]'"
    except Exception:
        extra = ""
    raise AmbleError(f"workers cannot be sent what the job needs: {' '.join(str(why).split()):.200}{extra}") from None


# ---- checkpoints


class _Checkpoint:
    """A folder of finished pieces, each a whole file under a key of its content."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        try:
            os.makedirs(folder, exist_ok=True)
        except OSError as error:
            raise AmbleError(f"{folder}: {error.strerror}, expected a folder for the checkpoint") from None

    def keys(self, function: Callable[..., Any], shared: Any, items: list[Any]) -> list[str]:
        """The key of every piece: versions, the function's name, and the content of all that it is given."""
        import hashlib

        import numpy as np

        about = f"{__version__} {np.__version__} {function.__module__}.{function.__qualname__}"
        start = hashlib.sha256(about.encode() + _content(shared))
        out = []
        for item in items:
            one = start.copy()
            one.update(_content(item))
            out.append(one.hexdigest())
        return out

    def _path(self, key: str) -> str:
        return os.path.join(self.folder, f"{key}.piece")

    def has(self, key: str) -> bool:
        """Whether a piece is there."""
        return os.path.isfile(self._path(key))

    def save(self, key: str, result: Any) -> None:
        """Keep a piece."""
        import hashlib
        import pickle

        data = pickle.dumps(result, 5)
        with whole_file(self._path(key)) as file:
            file.write(hashlib.sha256(data).digest() + data)

    def load(self, key: str, compute: Callable[[], T]) -> T:
        """A piece that was kept; computed again if its file is damaged."""
        import hashlib

        with open(self._path(key), "rb") as file:
            digest, data = file.read(32), file.read()
        if hashlib.sha256(data).digest() == digest:
            return _read_piece(data)  # type: ignore[no-any-return]
        result = compute()
        self.save(key, result)
        return result


def _read_piece(data: bytes) -> Any:
    """A result: arrays, numbers, text and classes of amble, whatever else the file may name."""
    import io
    import pickle

    class Restricted(pickle.Unpickler):
        def find_class(self, module: str, name: str) -> Any:
            package = module.partition(".")[0]
            found = super().find_class(module, name) if package in (*_OURS, "builtins") else None
            plain = package == "amble" and isinstance(found, type)
            plain |= package == "numpy" and name in ("_reconstruct", "ndarray", "dtype", "scalar", "_frombuffer")
            if plain or (package == "builtins" and name in ("slice", "complex", "range", "bytearray")):
                return found
            raise pickle.UnpicklingError(f"{module}.{name}")

    try:
        return Restricted(io.BytesIO(data)).load()
    except pickle.UnpicklingError as error:
        raise AmbleError(f"the checkpoint has a piece that amble does not make: {error}") from None


def _content(what: Any) -> bytes:
    """The content of what a piece is given, as bytes: files by theirs; an error if there is code of one's own in it."""
    import io
    import pickle
    from types import FunctionType

    import numpy as np

    class Content(pickle.Pickler):
        def reducer_override(self, x: Any) -> Any:
            if isinstance(x, FilePath):
                return tuple, ((file_digest(x),),)
            if isinstance(x, np.ndarray) and not x.dtype.hasobject:
                return tuple, ((x.dtype.str, x.shape, x.tobytes()),)
            if isinstance(x, FunctionType | type):
                package = x.__module__.partition(".")[0]
                if package not in _OURS and package not in sys.stdlib_module_names:
                    raise AmbleError(
                        f"checkpoint: {x.__qualname__} is code of your own, and no key tells whether it has changed; "
                        "expected amble's own users and measures, or no checkpoint"
                    )
            return NotImplemented

    pickler = Content(data := io.BytesIO(), 4)
    pickler.fast = True  # equal bytes of equal content, whichever of its objects are one and the same
    try:
        pickler.dump(what)
    except AmbleError:
        raise
    except Exception as error:
        raise AmbleError(f"checkpoint: part of the job has no key: {' '.join(str(error).split()):.200}") from None
    return data.getvalue()


def file_digest(path: str) -> bytes:
    """The SHA-256 of a file's content; found again while its size and time are the same."""
    import hashlib

    about = os.stat(path)
    key = path, about.st_size, about.st_mtime_ns
    if key not in _digests:
        with open(path, "rb") as file:
            _digests[key] = hashlib.file_digest(file, "sha256").digest()
    return _digests[key]


_digests: dict[tuple[str, int, int], bytes] = {}
