"""The engine that reads logs: DuckDB, an extra, with a file of its own on disk so that memory stays small."""

from __future__ import annotations

import contextlib
import importlib
import shutil
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from amble.errors import AmbleError, ReadError
from amble.progress import Progress

__all__ = ["MEMORY", "Engine", "quoted"]

MEMORY = 1000  # megabytes that the engine may take; Python and its libraries come on top
_OURS = ("BinderException", "CatalogException", "InternalException", "ParserException")  # mistakes of our own
_EVERY = 0.2  # seconds between two looks at how far it has come


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
        self._duckdb = _duckdb()
        try:
            self.folder = Path(tempfile.mkdtemp(prefix="amble-logs-", dir=folder))
        except OSError as error:
            raise AmbleError(f"{folder}: {error.strerror or error}") from None
        self._connection: Any = None
        try:
            self._connection = self._duckdb.connect(str(self.folder / "log.duckdb"))
            self.run(f"set memory_limit='{int(memory)}MB'")
            self.run(f"set temp_directory={quoted(str(self.folder))}")
            self.run("set preserve_insertion_order=true")
            self.run("set enable_progress_bar=false")
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
        """Leave nothing behind."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        shutil.rmtree(self.folder, ignore_errors=True)

    def run(self, sql: str) -> list[tuple[Any, ...]]:
        """Run a statement and return its rows."""
        with self._told():
            found: list[tuple[Any, ...]] = self._connection.execute(sql).fetchall()
        return found

    def columns(self, sql: str) -> dict[str, Any]:
        """Run a query and return its columns as arrays."""
        with self._told():
            found: dict[str, Any] = self._connection.execute(sql).fetchnumpy()
        return found

    def watched(self, sql: str, what: str, size: int) -> None:
        """Run a long statement and say how far it has come, of ``size``."""
        line = Progress(what)
        if not line.seen:
            self.run(sql)
            return
        done = threading.Event()

        def look() -> None:
            while not done.wait(_EVERY):
                share = float(self._connection.query_progress())
                if share > 0:
                    line(int(size * min(share, 100.0) / 100.0), size)

        watcher = threading.Thread(target=look, daemon=True)
        watcher.start()
        try:
            self.run(sql)
        finally:
            done.set()
            watcher.join()
            line.close()

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        """What the engine says goes wrong, in one line."""
        try:
            yield
        except self._duckdb.InterruptException:
            raise KeyboardInterrupt from None
        except self._duckdb.OutOfMemoryException as error:
            first = str(error).splitlines()[0]
            raise AmbleError(f"the log does not fit: {first} (more memory may be given)") from None
        except self._duckdb.Error as error:
            if isinstance(error, tuple(getattr(self._duckdb, name) for name in _OURS)):
                raise
            lines = [line.strip() for line in str(error).splitlines() if line.strip()]
            raise ReadError(lines[0] if lines else "the log cannot be read") from None


def _duckdb() -> Any:
    try:
        return importlib.import_module("duckdb")
    except ImportError:
        raise AmbleError("logs need the extra: pip install 'amble[logs]'") from None
