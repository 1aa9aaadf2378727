"""The engine that reads logs: DuckDB (an extra), with a temporary file on disk so that memory stays small."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import os
import re
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

from amble.errors import AmbleError, ReadError
from amble.io.files import open_bytes
from amble.progress import Progress

__all__ = ["LEAST_MEMORY", "MEMORY", "MOST_MEMORY", "Engine", "quoted"]

MEMORY = 1000  # megabytes that the engine may take; Python and its libraries come on top
LEAST_MEMORY, MOST_MEMORY = 100, 1_000_000_000
_OURS = ("BinderException", "CatalogException", "InternalException", "ParserException")  # mistakes of our own
_PREFIX = "amble-logs-"
_YOUNG = 60  # seconds in which a folder may not have its lock yet
_EVERY = 0.2  # seconds between two reports of progress
_CHUNK = 1 << 20  # bytes that are unpacked at once
_HEAD = 64  # bytes that show what a stream is
# no extension is fetched: nothing here may use the network
_CONFIG = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}


def quoted(text: str) -> str:
    """Text as a literal of SQL.

    >>> quoted("it's")
    "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"


class Engine:
    """A connection to DuckDB, with a folder for what does not fit in memory.

    Parameters
    ----------
    memory : int
        Megabytes.
    threads : int, optional
        By default as many as the machine has.
    folder : str, optional
        Where its temporary files go; by default where the system has them.
    """

    def __init__(self, memory: int = MEMORY, threads: int | None = None, folder: str | None = None) -> None:
        if not LEAST_MEMORY <= memory <= MOST_MEMORY:
            raise AmbleError(f"memory {memory}: expected {LEAST_MEMORY} to {MOST_MEMORY} megabytes")
        self._duckdb = _duckdb()
        self._names: dict[str, str] = {}
        try:
            self.folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=folder))
        except OSError as error:
            raise AmbleError(f"{folder}: {error.strerror or error}") from None
        self._lock = _locked(self.folder / "lock")
        _sweep(self.folder.parent)
        self._connection: Any = None
        try:
            if os.fsencode(self.folder).decode("utf-8", "replace") != str(self.folder):
                raise AmbleError(f"{self.folder.parent}: a name that is not UTF-8, expected another temporary folder")
            self._connection = self._duckdb.connect(str(self.folder / "log.duckdb"), config=_CONFIG)
            self.run(f"set memory_limit='{int(memory)}MB'")
            self.run(f"set temp_directory={quoted(str(self.folder))}")
            self.run("set preserve_insertion_order=true")
            # how far a query has come is known only with the bar, which is not to be drawn; in a notebook it is refused
            # where ipywidgets are missing
            with contextlib.suppress(self._duckdb.InvalidInputException):
                self._connection.execute("set enable_progress_bar=true")
                self._connection.execute("set enable_progress_bar_print=false")
            if threads is not None:
                self.run(f"set threads={int(threads)}")
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection and remove the folder."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        self._lock.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def add_file(self, path: str, *, packed: bool) -> str:
        """Put a file into the engine's folder, and return its name there, as SQL.

        So the engine reads this file and no other, whatever its name, and nothing of its folders' names. A packed one
        is unpacked here, with every check that its format has; any other is linked to.
        """
        own = self.folder / f"{len(self._names)}.log"
        self._names[str(own)] = path
        try:
            if not packed:
                own.symlink_to(os.path.abspath(path))
        except OSError:  # a system without such links
            packed = True
        if packed:
            self._unpack(path, own)
        return self.path(own)

    def keep_stream(self, path: str, ending: Callable[[bytes], str]) -> str:
        """Put what can be read once into the folder, unpacked, and return its name there, which ends as its bytes say.

        Messages name the stream (`original_names`), and it is removed with the other files.
        """
        own = self.folder / f"stream-{len(self._names)}"
        self._names[str(own)] = path
        self._unpack(path, own)
        with own.open("rb") as file:
            named = own.with_suffix(ending(file.read(_HEAD)))
        self._names[str(named)] = self._names.pop(str(own))
        return str(own.rename(named))

    def _unpack(self, path: str, own: Path) -> None:
        with open_bytes(path) as file, own.open("wb") as out:
            while data := file.read(_CHUNK):
                try:
                    out.write(data)
                    out.flush()
                except OSError as error:
                    raise AmbleError(f"{self.folder.parent}: {error.strerror}, unpacking {path}") from None

    def remove_files(self) -> None:
        """Remove the files that were put into the folder, once they are read."""
        for own in self._names:
            Path(own).unlink(missing_ok=True)

    def path(self, own: Path) -> str:
        """Name a file of the engine's folder in SQL, where ``*``, ``?`` and ``[`` would make it a pattern."""
        return quoted(re.sub(r"([*?[])", r"[\1]", str(own)))

    def original_names(self, text: str) -> str:
        """A message of the engine, with the names that were given for its own, also where one stands for another."""
        for own, path in [*self._names.items()][::-1]:
            text = text.replace(own, path)
        return text

    def run(self, sql: str) -> list[tuple[Any, ...]]:
        """Run a statement and return its rows."""
        with self._one_line_errors():
            found: list[tuple[Any, ...]] = self._connection.execute(sql).fetchall()
        return found

    def columns(self, sql: str) -> dict[str, Any]:
        """Run a query and return its columns as arrays."""
        with self._one_line_errors():
            found: dict[str, Any] = self._connection.execute(sql).fetchnumpy()
        return found

    def run_with_progress(self, sql: str, what: str, size: int) -> None:
        """Run a long statement and report its progress, of ``size``."""
        done = threading.Event()

        def look() -> None:
            while not done.wait(_EVERY):
                share = float(self._connection.query_progress())
                if share > 0:
                    line(int(size * min(share, 100.0) / 100.0), size)

        with Progress(what) as line:
            if not line.seen:
                self.run(sql)
                return
            watcher = threading.Thread(target=look, daemon=True)
            watcher.start()
            try:
                self.run(sql)
            finally:
                done.set()
                watcher.join()

    @contextlib.contextmanager
    def _one_line_errors(self) -> Iterator[None]:
        """Turn the engine's errors into errors of one line."""
        try:
            yield
        except self._duckdb.InterruptException:
            raise KeyboardInterrupt from None
        except RuntimeError as error:
            if "interrupt" in str(error).lower():
                raise KeyboardInterrupt from None
            raise
        except self._duckdb.OutOfMemoryException as error:
            first = str(error).splitlines()[0]
            raise AmbleError(f"the log does not fit: {first} (more memory may be given)") from None
        except self._duckdb.Error as error:
            if isinstance(error, tuple(getattr(self._duckdb, name) for name in _OURS)):
                raise
            lines = [line.strip() for line in str(error).splitlines() if line.strip()]
            raise ReadError(self.original_names(lines[0]) if lines else "the log cannot be read") from None


def _locked(path: Path, *, new: bool = True) -> IO[bytes]:
    """Open a file and hold its lock until it is closed, or the process ends, however it ends."""
    file = path.open("wb" if new else "r+b")
    try:
        fcntl = importlib.import_module("fcntl")
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:  # a system without such locks
        pass
    except OSError:
        file.close()
        raise
    return file


def _sweep(parent: Path) -> None:
    """Remove what killed processes left: folders whose lock nobody holds."""
    if importlib.util.find_spec("fcntl") is None:
        return
    for folder in parent.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            if time.time() - folder.stat().st_mtime > _YOUNG:
                with _locked(folder / "lock", new=False):
                    shutil.rmtree(folder, ignore_errors=True)


def _duckdb() -> Any:
    try:
        return importlib.import_module("duckdb")
    except ImportError:
        raise AmbleError("logs need the extra: pip install 'amble-ir[logs]'") from None
