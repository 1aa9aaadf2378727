"""Things that tests share: real data where it is at hand, small files, the command line."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

import amble

# the same examples every time, so that a run that passes passes again
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real data that AMBLE_DATA names."""
    folder = os.environ.get("AMBLE_DATA")
    if not folder:
        pytest.skip("real data: AMBLE_DATA names no folder")
    if not Path(folder).is_dir():
        pytest.skip(f"real data: AMBLE_DATA names {folder}, which is not there")
    return Path(folder)


@pytest.fixture(scope="session")
def runs(data: Path) -> Path:
    """The same folder, for tests that read all runs of TREC-8: with the plain twin each would take a minute."""
    if not amble.read.compiled():
        pytest.skip("real data: all runs, with the C part hidden, take minutes; read in other tests")
    if not (data / "trec8" / "qrels.txt").exists():
        pytest.skip("real data: no trec8/ in the folder that AMBLE_DATA names")
    return data


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str | bytes], str]:
    """Write a small file and tell its path."""

    def put(name: str, content: str | bytes) -> str:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return str(path)

    return put


@pytest.fixture
def amble_cli() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run the command line in a process of its own."""

    def call(*args: str, stdin: bytes = b"", **env: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, "-m", "amble", *args],
            input=stdin,
            capture_output=True,
            env={**os.environ, **env},
            timeout=300,
        )
        return subprocess.CompletedProcess(
            done.args,
            done.returncode,
            done.stdout.decode("utf-8", "surrogateescape"),
            done.stderr.decode("utf-8", "replace"),
        )

    return call
