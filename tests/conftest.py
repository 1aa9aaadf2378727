"""Things that tests share: real data where it is at hand, small files, the command line."""

from __future__ import annotations

import contextlib
import fcntl
import gc
import importlib
import lzma
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

import drawing  # noqa: F401  how many examples are drawn, before the first test that draws
import pytest
import quick
import twins
from warm import Warm

from amble.cli.demo_collection import make_collection
from amble.native import is_compiled

Cli = Callable[..., "subprocess.CompletedProcess[str]"]


def pytest_configure() -> None:
    """Nothing that is imported and collected is ever thrown away: not to be gone through again and again.

    And signals that are ignored, as in the background, are heard by the processes that tests start; but for a hangup:
    who takes nohup wants the tests to go on.
    """
    if quick.SINCE:
        quick.changed(quick.SINCE)  # which says what is wrong here once, not in every worker
    gc.disable()
    for number, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGTERM, signal.SIG_DFL)):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, usual)


def pytest_collection_finish() -> None:
    """From now on there is something to throw away."""
    gc.freeze()
    gc.enable()


def pytest_unconfigure() -> None:
    """What was left alone is thrown away with the rest: libraries in C++ complain of what they find at the end."""
    gc.unfreeze()


def pytest_collection(session: pytest.Session) -> None:
    """Every other worker starts with the last module: in a fresh clone each compiles half of them, not both all."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")
    if int(worker) % 2 and not twins.PURE and session.config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        for path in sorted(Path(__file__).parent.glob("test_*.py"), reverse=True):
            with contextlib.suppress(Exception, pytest.skip.Exception):  # told when it is collected
                importlib.import_module(path.stem)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Choose for a pass that is not of all tests; with AMBLE_ORDER=SEED, shuffle modules and the tests of each."""
    if twins.PURE:
        twins.choose(config, items)
    if quick.SINCE:
        quick.choose(config, items)
    seed = os.environ.get("AMBLE_ORDER")
    if seed:
        random = Random(seed)
        order = {path: random.random() for path in dict.fromkeys(item.path for item in items)}
        random.shuffle(items)
        items.sort(key=lambda item: order[item.path])


if twins.PURE:
    pytest_ignore_collect = twins.leave_out
    pytest_sessionstart = twins.watch
    pytest_sessionfinish = twins.conclude
    pytest_testnodedown = twins.collect
elif quick.WRITE:
    pytest_runtest_logreport = quick.note
    pytest_sessionfinish = quick.write


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Callable[[Path], object]], Path]:
    """Fill a folder once in a run of the tests, whatever the number of their workers; nobody writes to it later."""
    place = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        place = place.parent  # that of the run, above those of its workers

    def made(name: str, fill: Callable[[Path], object]) -> Path:
        folder = place / f"once-{name}"
        with open(place / f"once-{name}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not folder.exists():
                half = place / f"once-{name}.half"
                shutil.rmtree(half, ignore_errors=True)
                half.mkdir()
                fill(half)
                half.rename(folder)
        return folder

    return made


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real data that AMBLE_DATA names."""
    folder = os.environ.get("AMBLE_DATA")
    if not folder:
        pytest.skip("real data: AMBLE_DATA names no folder")
    if not Path(folder).is_dir():
        pytest.skip(f"real data: AMBLE_DATA names {folder}, which is not there")
    return Path(folder).absolute()


@pytest.fixture(scope="session")
def runs(data: Path, once: Callable[[str, Callable[[Path], object]], Path]) -> Path:
    """The same folder, for tests that read all runs of TREC-8: unpacked, which takes longer than the rest."""
    if not is_compiled("reader"):
        pytest.skip("real data: all runs, with the C part hidden, take minutes; read in other tests")
    if not (data / "trec8" / "qrels.txt").exists():
        pytest.skip("real data: no trec8/ in the folder that AMBLE_DATA names")

    def unpack(folder: Path) -> None:
        for path in data.iterdir():
            if path.name != "trec8":
                (folder / path.name).symlink_to(path)
        (folder / "trec8" / "runs").mkdir(parents=True)
        (folder / "trec8" / "qrels.txt").symlink_to(data / "trec8" / "qrels.txt")
        for path in (data / "trec8" / "runs").iterdir():
            (folder / "trec8" / "runs" / path.stem).write_bytes(lzma.decompress(path.read_bytes()))

    return once("data", unpack)


@pytest.fixture(scope="session")
def demo_folder(once: Callable[[str, Callable[[Path], object]], Path]) -> Path:
    """The collection of ``amble demo``, to be read or copied."""
    return once("demo", make_collection)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium, started once for all modules of a worker."""
    if twins.PURE:
        pytest.skip("browser: the page is the same with the C part hidden; it was looked at with it")
    api = pytest.importorskip("playwright.sync_api", reason="browser: playwright is not installed")
    path = os.environ.get("AMBLE_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.skip("browser: no chromium on the path, and AMBLE_CHROMIUM names none (Debian: apt install chromium)")
    with api.sync_playwright() as play:
        made = play.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield made
        made.close()


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str | bytes], str]:
    """Write a small file and tell its path."""

    def put(name: str, content: str | bytes) -> str:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return str(path)

    return put


def _of_start(env: Mapping[str, str]) -> dict[str, str]:
    """What an interpreter reads of its environment when it starts, and what amble reads when it is imported."""
    return {key: value for key, value in env.items() if key.startswith(("PYTHON", "AMBLE_PURE"))}


_AT_START = _of_start(os.environ)


@pytest.fixture(scope="session")
def warm() -> Iterator[Warm]:
    """A process that has imported everything, to be forked for calls of the command line."""
    made = Warm()
    yield made
    made.close()


@pytest.fixture
def amble_cli(warm: Warm) -> Cli:
    """Run the command line in a process of its own."""

    def call(*args: str, stdin: bytes = b"", **env: str) -> subprocess.CompletedProcess[str]:
        inside = {**os.environ, **env}
        if _of_start(inside) == _AT_START:
            done = warm.call(args, stdin=stdin, env=inside)
        else:
            command = [sys.executable, "-m", "amble", *args]
            done = subprocess.run(command, input=stdin, capture_output=True, env=inside, timeout=300)
        return subprocess.CompletedProcess(
            done.args,
            done.returncode,
            done.stdout.decode("utf-8", "surrogateescape"),
            done.stderr.decode("utf-8", "replace"),
        )

    return call
