"""The second pass of the tests, with the C parts hidden (``AMBLE_PURE=1``): what runs in it, and that it is enough.

The plain twins are compared with the C parts directly, call by call, in the first pass. What is left for a second one
is that amble works on top of them. So it runs the tests of modules that say so, by ``pytestmark = pytest.mark.twin``,
and the examples of the modules that call a C part; and it fails unless every line of amble that calls one was run.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import amble
import amble.io.trec
import amble.users.joint_distribution
import amble.users.simulation

PURE = os.environ.get("AMBLE_PURE", "") not in ("", "0")
ROOT = Path(amble.__file__).parent

# a module of amble that calls a C part, and the name by which it does so
DOORS = {
    "io/trec.py": (amble.io.trec, "reader"),
    "users/joint_distribution.py": (amble.users.joint_distribution, "walker"),
    "users/simulation.py": (amble.users.simulation, "walker"),
}

Call = tuple[str, str, int]

_called: set[Call] = set()
_missing: list[Call] = []


def calls() -> set[Call]:
    """Every call of a C part in amble that its twin may answer (no "# C only"): the file, what is called, the line."""
    found = set()
    for file, (_, name) in DOORS.items():
        text = (ROOT / file).read_text(encoding="utf-8")
        lines = text.splitlines()
        for node in ast.walk(ast.parse(text)):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and isinstance(node.func.value, ast.Name)
                and node.func.value.id == name
                and not lines[node.lineno - 1].endswith("# C only")
            ):
                found.add((file, node.func.attr, node.lineno))
    return found


def importers() -> set[str]:
    """The modules of amble, without `amble.native` itself, that load a C part or its twin, or name a C part."""

    def loads(node: ast.AST) -> bool:
        if isinstance(node, ast.ImportFrom):
            names = {alias.name for alias in node.names}
            return (node.module == "amble.native" and bool(names & {"load", "_reader", "_walker"})) or (
                node.module == "amble" and "native" in names
            )
        if isinstance(node, ast.Import):
            return any(alias.name == "amble.native" or ".native._" in alias.name for alias in node.names)
        return isinstance(node, ast.Constant) and node.value in ("amble.native._reader", "amble.native._walker")

    return {
        path.relative_to(ROOT).as_posix()
        for path in ROOT.rglob("*.py")
        if path.parent.name != "native"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if loads(node)
    }


def _counted(file: str, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **more: Any) -> Any:
        _called.add((file, name, sys._getframe(1).f_lineno))
        return function(*args, **more)

    return call


def watch() -> None:
    """From now on, note where the twins are called from."""
    for file, (module, door) in DOORS.items():
        twin = getattr(module, door)
        for name in {name for at, name, _ in calls() if at == file}:
            setattr(twin, name, _counted(file, name, getattr(twin, name)))


def leave_out(collection_path: Path) -> bool | None:
    """Whether a file has no test of the second pass, told without importing it."""
    if collection_path.suffix != ".py" or not collection_path.is_file():
        return None
    if ROOT in collection_path.parents:
        return collection_path not in {ROOT / file for file in DOORS} or None
    return "pytest.mark.twin" not in collection_path.read_text(encoding="utf-8") or None


def choose(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the tests of the second pass."""
    doors = {ROOT / file for file in DOORS}
    kept = [item for item in items if item.get_closest_marker("twin") or item.path in doors]
    chosen = set(kept)
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = kept


def collect(node: Any) -> None:
    """A worker of several has done its part."""
    _called.update(tuple(call) for call in getattr(node, "workeroutput", {}).get("called", ()))


@pytest.hookimpl(trylast=True)
def conclude(session: pytest.Session) -> None:
    """Fail where a whole second pass left out a call."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["called"] = sorted(_called)
        return
    if session.config.args_source is not pytest.Config.ArgsSource.TESTPATHS or session.config.option.keyword:
        return  # some tests, not the second pass
    missing = sorted(calls() - _called)
    if missing and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        reporter: Any = session.config.pluginmanager.get_plugin("terminalreporter")
        for file, name, line in missing:
            reporter.write_line(f"src/amble/{file}:{line}: {name} was not called in the pass without the C parts")
