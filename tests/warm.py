"""The command line, in processes that need not start: each call is a fork of one that has imported everything.

A call has its own streams, working folder, environment, exit code and memory, as any process has. What an interpreter
reads of its environment only when it starts (``PYTHON…``) a fork cannot be given: `amble_cli` starts one for that.

Charts are drawn by a process beside it, which starts the engine of vl-convert once: that takes half a second, has
threads, and so cannot be forked.

Run as a script, it is the process that is forked: it takes a socket's number and answers calls until the socket closes.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import io
import json
import os
import pkgutil
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable
from multiprocessing.connection import Client, Listener
from typing import Any, NoReturn

EXTRAS = (
    *("scipy.stats", "duckdb", "altair", "jinja2", "vl_convert"),
    *("statsmodels.genmod.families", "statsmodels.genmod.generalized_linear_model", "statsmodels.stats.multitest"),
)
TIMEOUT = 300


class Warm:
    """A process that has imported everything, and forks for each call."""

    def __init__(self) -> None:
        self.socket, theirs = socket.socketpair()
        self.process = subprocess.Popen([sys.executable, __file__, str(theirs.fileno())], pass_fds=[theirs.fileno()])
        theirs.close()
        self.socket.settimeout(TIMEOUT + 30)

    def call(
        self,
        args: tuple[str, ...],
        *,
        stdin: bytes = b"",
        env: dict[str, str],
        cwd: str | None = None,
        together: bool = False,
    ) -> subprocess.CompletedProcess[bytes]:
        """Run ``amble ARGS``; with ``together``, both streams are in its stdout, as on a terminal."""
        with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            given.write(stdin)
            given.seek(0)
            request = {"args": [os.fsencode(a).hex() for a in args], "env": env, "cwd": cwd or os.getcwd()}
            text = json.dumps(request).encode()
            files = [given.fileno(), out.fileno(), (out if together else err).fileno()]
            socket.send_fds(self.socket, [len(text).to_bytes(8, "big")], files)
            self.socket.sendall(text)
            answer = self.socket.recv(8, socket.MSG_WAITALL)
            if len(answer) != 8:
                raise RuntimeError("the process that is forked for calls of the command line is gone")
            out.seek(0)
            err.seek(0)
            code = int.from_bytes(answer, "big", signed=True)
            return subprocess.CompletedProcess(["amble", *args], code, out.read(), err.read())

    def close(self) -> None:
        """No more calls."""
        self.socket.close()
        self.process.wait(TIMEOUT)


def _stream(fd: int, mode: str, like: Any, errors: str, unbuffered: bool) -> io.TextIOWrapper:
    """A standard stream as an interpreter that starts makes it."""
    raw: Any = io.FileIO(fd, mode, closefd=False)
    if mode == "r":
        raw = io.BufferedReader(raw)
    elif not unbuffered:
        raw = io.BufferedWriter(raw)
    return io.TextIOWrapper(raw, encoding=like.encoding, errors=errors, write_through=unbuffered)


def _run(request: dict[str, Any], files: list[int]) -> NoReturn:
    """The forked process: what ``python -m amble`` does."""
    code = 1
    try:
        signal.alarm(TIMEOUT)
        unbuffered = bool(request["env"].get("PYTHONUNBUFFERED"))
        for fd, own in enumerate(files):
            os.dup2(own, fd)
        for own in files:
            os.close(own)
        sys.stdin = _stream(0, "r", sys.stdin, sys.stdin.errors or "strict", False)
        sys.stdout = _stream(1, "w", sys.stdout, sys.stdout.errors or "strict", unbuffered)
        sys.stderr = _stream(2, "w", sys.stderr, "backslashreplace", True)
        os.environ.clear()
        os.environ.update(request["env"])
        os.chdir(request["cwd"])
        import amble
        from amble.cli import main as cli

        args = [os.fsdecode(bytes.fromhex(a)) for a in request["args"]]
        sys.argv = [os.path.join(os.path.dirname(amble.__file__), "__main__.py"), *args]
        try:
            code = cli.main(args)
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
        sys.stdout.flush()
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def _draw() -> None:
    """Tell an address, and do there what vl-convert is asked for, until asked for nothing."""
    with Listener() as door:
        sys.stdout.write(f"{door.address}\n")
        sys.stdout.flush()
        while True:
            with door.accept() as caller:
                name, args, more = caller.recv()
                if not name:
                    return
                try:
                    caller.send((True, getattr(importlib.import_module("vl_convert"), name)(*args, **more)))
                except ValueError as error:  # a chart that cannot be drawn
                    caller.send((False, str(error)))


def _drawn_at(address: str, name: str) -> Callable[..., Any]:
    """A function of vl-convert that another process computes."""

    def ask(*args: Any, **more: Any) -> Any:
        with Client(address) as other:
            other.send((name, args, more))
            done, found = other.recv()
        if not done:
            raise ValueError(found)
        return found

    return ask


def _serve(fd: int) -> None:
    """Import, then fork for every call that comes."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command line has it; and threads do not survive a fork
    import amble

    ours = (module.name for module in pkgutil.walk_packages(amble.__path__, "amble."))
    for name in (*EXTRAS, *(name for name in ours if name != "amble.__main__")):  # that one runs
        with contextlib.suppress(ImportError):  # an extra that is not installed: the command will say so itself
            importlib.import_module(name)
    beside = subprocess.Popen([sys.executable, __file__, "draw"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    assert beside.stdout is not None
    address = beside.stdout.readline().decode().rstrip()
    charts = sys.modules.get("vl_convert")
    for name in [name for name in dir(charts) if name.startswith("vegalite_to_")]:
        setattr(charts, name, _drawn_at(address, name))
    gc.freeze()  # so that a collection in a fork does not copy the pages of all this
    signal.signal(signal.SIGINT, signal.default_int_handler)
    channel = socket.socket(fileno=fd)
    while True:
        size, files, _, _ = socket.recv_fds(channel, 8, 3)
        if not size:
            gc.unfreeze()
            with Client(address) as other:
                other.send(("", (), {}))
            beside.wait(TIMEOUT)
            return
        text = channel.recv(int.from_bytes(size, "big"), socket.MSG_WAITALL)
        child = os.fork()
        if child == 0:
            channel.close()
            _run(json.loads(text), files)
        for own in files:
            os.close(own)
        _, status = os.waitpid(child, 0)
        channel.sendall(os.waitstatus_to_exitcode(status).to_bytes(8, "big", signed=True))


if __name__ == "__main__":
    if sys.argv[1] == "draw":
        _draw()
    else:
        _serve(int(sys.argv[1]))
