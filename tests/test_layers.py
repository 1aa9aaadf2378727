"""Data flows one way: no cycle among modules, and packages stand in one order."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from make_modules import ORDER

import amble

ROOT = Path(amble.__file__).parent

# the modules whose names such a call computes are not of amble
COMPUTED = {ROOT / "io" / "files.py", ROOT / "io" / "table_files.py", ROOT / "table.py"}

VAGUE = {"utils", "util", "helpers", "helper", "common", "misc", "base"}


def name_of(path: Path, root: Path = ROOT) -> str:
    """A module's name, as an import has it."""
    parts = path.relative_to(root.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those that only type checkers read."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
            for other in node.orelse:
                yield from (other, *nodes(other))
        else:
            yield from (node, *nodes(node))


def imports(path: Path, modules: set[str]) -> set[str]:
    """The modules of amble that a module imports, inside functions and by `import_module`, too."""
    found = set()
    for node in nodes(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
            assert "amble" not in found, f"{path}:{node.lineno}: import what is used from its module"
        elif isinstance(node, ast.ImportFrom):
            assert node.module is not None, f"{path}:{node.lineno}: relative import"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                if inner in modules:
                    found.add(inner)
                elif node.module != "amble":
                    found.add(node.module)
                else:
                    assert alias.name == "__version__", f"{path}:{node.lineno}: import {alias.name} from its module"
        elif isinstance(node, ast.Call) and (
            (isinstance(node.func, ast.Name) and node.func.id == "import_module")
            or (isinstance(node.func, ast.Attribute) and ast.unparse(node.func) == "importlib.import_module")
        ):
            found |= by_name(node.args[0], path, modules)
    return found & modules


def by_name(name: ast.expr, path: Path, modules: set[str]) -> set[str]:
    """The modules of amble that an argument of `import_module` may name: of an f-string, all that fit."""
    if isinstance(name, ast.Constant):
        return {str(name.value)}
    if isinstance(name, ast.JoinedStr):
        parts = (re.escape(str(x.value)) if isinstance(x, ast.Constant) else r"[\w.]+" for x in name.values)
        pattern = re.compile("".join(parts))
        return {module for module in modules if pattern.fullmatch(module)}
    assert path in COMPUTED, f"{path}:{name.lineno}: import of a computed name"
    return set()


def graph(root: Path = ROOT) -> dict[str, set[str]]:
    """Every module with the modules it imports."""
    paths = {name_of(path, root): path for path in root.rglob("*.py")}
    return {name: imports(path, set(paths)) for name, path in paths.items() if name != "amble"}


def package_of(name: str) -> str:
    return name.split(".")[1]


@pytest.fixture(scope="module")
def imported() -> dict[str, set[str]]:
    return graph()


def test_no_module_imports_itself_on_a_detour(imported: dict[str, set[str]]) -> None:
    try:
        TopologicalSorter(imported).prepare()
    except CycleError as error:
        pytest.fail(" imports ".join(reversed(error.args[1])))


def test_every_package_has_its_place(imported: dict[str, set[str]]) -> None:
    assert {package_of(name) for name in imported} == set(ORDER)


def test_imports_follow_the_order(imported: dict[str, set[str]]) -> None:
    assert [
        f"{name} imports {other}"
        for name, others in imported.items()
        for other in sorted(others)
        if ORDER.index(package_of(other)) > ORDER.index(package_of(name))
    ] == []


def test_no_command_imports_another(imported: dict[str, set[str]]) -> None:
    commands = "amble.cli.commands."
    assert [
        f"{name} imports {other}"
        for name, others in imported.items()
        for other in sorted(others)
        if name.startswith(commands) and other.startswith(commands)
    ] == []


def test_names_say_something(imported: dict[str, set[str]]) -> None:
    assert [name for name in imported if VAGUE & set(name.split("."))] == []


def test_no_name_of_amble_is_also_a_module(imported: dict[str, set[str]]) -> None:
    # importing the module would put it in the place of the function
    assert set(amble.__all__) & {package_of(name) for name in imported} == set()


def test_imports_are_found_wherever_they_stand(tmp_path: Path) -> None:
    (tmp_path / "amble" / "io").mkdir(parents=True)
    for name, text in {
        "__init__": "",
        "errors": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from amble.table import Table\n",
        "table": "def f():\n    if True:\n        from amble.io import files\n    import amble.errors\n",
        "io/__init__": "from amble.io.files import read\n",
        "io/text": "import importlib\nimportlib.import_module(f'amble.{name}')\nimportlib.import_module('gzip')\n",
        "io/files": "try:\n    import numpy\nexcept ImportError:\n    from amble import errors\n",
    }.items():
        (tmp_path / "amble" / f"{name}.py").write_text(text)
    assert graph(tmp_path / "amble") == {
        "amble.errors": set(),
        "amble.table": {"amble.io.files", "amble.errors"},
        "amble.io": {"amble.io.files"},
        "amble.io.text": {"amble.errors", "amble.table", "amble.io", "amble.io.files", "amble.io.text"},
        "amble.io.files": {"amble.errors"},
    }
