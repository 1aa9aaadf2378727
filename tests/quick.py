"""The tests of ``make quick``: all that are fast, and those of what was changed.

Fast are those that slow.txt does not name, together less than a minute; ``AMBLE_SLOW=write`` with a run of all tests
writes it anew. Changed is what git says differs from a commit (``AMBLE_QUICK=COMMIT``): a file of tests; a module of
amble, which brings its own examples and the files of tests that import it by name (where there is none, those that use
what it defines, or run it as a command; where there is none of these, those of the modules that import it); a file in C
or of a page, which brings those of its package, or all in a browser; any other file, which brings those that name its
folder.
"""

from __future__ import annotations

import ast
import functools
import os
import subprocess
from bisect import bisect_right
from collections import defaultdict
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
SLOW = Path(__file__).parent / "slow.txt"
SECONDS = 50.0  # for the fast tests together, on one core
EACH = 0.004  # of them is the runner's own

SINCE = os.environ.get("AMBLE_QUICK", "")
WRITE = os.environ.get("AMBLE_SLOW", "") == "write"

_took: dict[str, float] = defaultdict(float)


def name_of(node: str) -> str:
    """A test without its parameters."""
    return node.split("[")[0]


def changed(since: str) -> set[Path]:
    """The files that are not as they were at a commit, new ones included."""
    found = set()
    for command in (
        ["diff", "--name-only", "--no-renames", "--relative", "-z", since, "--"],
        ["ls-files", "--others", "--exclude-standard", "-z"],
    ):
        done = subprocess.run(["git", *command], cwd=ROOT, capture_output=True)
        if done.returncode:
            raise pytest.UsageError(f"make quick asks git what was changed: {os.fsdecode(done.stderr).strip()}")
        found |= {ROOT / name for name in os.fsdecode(done.stdout).split("\0") if name}
    return found


@functools.cache
def tree(path: Path) -> list[ast.AST]:
    """All nodes of a file's syntax."""
    return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


@functools.cache
def said(path: Path) -> tuple[set[str], set[str]]:
    """The modules that a file names in its imports, and the parts of the paths that it quotes."""
    modules, quoted = set(), set()
    for node in tree(path):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            modules |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and " " not in node.value:
            quoted |= set(node.value.split("/"))
    return modules, quoted


@functools.cache
def offered(package: str) -> dict[str, str]:
    """The names that a package offers of its modules, and the module of each: of Forward, amble.users.forward."""
    folder = ROOT.joinpath("src", *package.split("."))
    stub = folder / "__init__.pyi"
    path = stub if stub.exists() else folder / "__init__.py"
    nodes = [node for node in tree(path) if isinstance(node, ast.ImportFrom)] if path.exists() else []
    return {alias.name: node.module for node in nodes if node.module for alias in node.names}


@functools.cache
def used(path: Path) -> set[str]:
    """The modules of amble of which a file uses what a package offers, such as `amble.evaluate`, or runs a command."""
    found = set()
    for node in tree(path):
        if isinstance(node, ast.ImportFrom) and node.module:
            homes = offered(node.module)
            found |= {homes[alias.name] for alias in node.names if alias.name in homes}
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "amble":
            found |= {home} if (home := offered("amble").get(node.attr)) else set()
        elif isinstance(node, ast.Call | ast.List | ast.Tuple):
            first = (node.args if isinstance(node, ast.Call) else node.elts)[:1]
            found |= {f"amble.cli.commands.{word.value!s}" for word in first if isinstance(word, ast.Constant)}
    return found


def module_of(path: Path) -> str:
    """A module of amble, or a helper of the tests, as an import names it."""
    if not path.is_relative_to(ROOT / "src"):
        return path.stem
    parts = path.relative_to(ROOT / "src").with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def modules_of(path: Path) -> set[str]:
    """The modules that a changed file may change: itself, or those of the package that its C, script or style is of."""
    if path.suffix == ".py":
        return {module_of(path)}
    if not path.is_relative_to(ROOT / "src"):
        return set()
    package = next(folder for folder in path.parents if (folder / "__init__.py").exists() or folder == ROOT)
    return {module_of(module) for module in package.glob("*.py")}


def names_of(path: Path) -> set[str]:
    """What tests that read a changed file quote: the folder at the top that it is in, or its name if tests bring it."""
    if path.is_relative_to(ROOT / "src") or path.parent == ROOT / "tests":
        return set()
    first, *rest = path.relative_to(ROOT).parts
    return {rest[-1] if first == "tests" else first}


def nearest(tests: set[Path], module: str) -> set[Path]:
    """The tests that import a module by name; else those that use what it defines; else those of its importers.

    Nothing imports a command or a family of measures by name: they have the tests of their package instead.
    """
    files = [*(ROOT / "src").rglob("*.py"), *(ROOT / "tests").glob("*.py")]
    found, left = set[Path](), [module]
    for name in left:  # which grows
        here = {path for path in tests if name in said(path)[0]} or {path for path in tests if name in used(path)}
        found |= here
        if not here:
            importers = {module_of(path) for path in files if name in said(path)[0]}
            left += sorted((importers or {name.rpartition(".")[0]}) - {"", "amble", *left})
    return found


def touched(paths: set[Path], new: set[Path]) -> set[Path]:
    """Those of some files, tests or modules with examples, that what was changed may change."""
    modules, names = (set[str]().union(*map(part, new)) for part in (modules_of, names_of))
    tests = {path for path in paths if path.is_relative_to(ROOT / "tests")}
    near = {path for path in paths if said(path)[0] & modules}.union(*(nearest(tests, module) for module in modules))
    return (paths & new) | near | {path for path in tests if said(path)[1] & names}


def in_browser(item: pytest.Item) -> bool:
    """Whether a test looks at a page in a browser."""
    return "browser" in getattr(item, "fixturenames", ())


def choose(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the fast tests and those of what was changed."""
    slow = set(SLOW.read_text(encoding="utf-8").split())
    new = changed(SINCE)
    near = touched({item.path for item in items}, new)
    pages = any(path.parent.name == "assets" for path in new)
    kept = [i for i in items if i.path in near or name_of(i.nodeid) not in slow or (pages and in_browser(i))]
    chosen = set(kept)
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = kept


def note(report: Any) -> None:
    """How long a part of a test took."""
    _took[report.nodeid] += report.duration


def write(session: pytest.Session) -> None:
    """Write down which tests were slow, after a run of all of them."""
    config = session.config
    whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS and not config.option.keyword and not SINCE
    if whole and not hasattr(config, "workerinput"):
        together: dict[str, float] = defaultdict(float)  # with all its parameters
        for node, seconds in _took.items():
            together[name_of(node)] += seconds + EACH
        by_time = sorted(together, key=lambda name: together[name])
        fits = bisect_right(list(accumulate(together[name] for name in by_time)), SECONDS)
        SLOW.write_text("\n".join(sorted(by_time[fits:])) + "\n", encoding="utf-8")
