"""Data flows one way: a room imports only from rooms that stand before it."""

from __future__ import annotations

import ast
from pathlib import Path

import amble

ROOT = Path(amble.__file__).parent

# from the ground up; a room may import from those named before it, and from its own folder's earlier rooms
ORDER = [
    "errors",
    "progress",
    "_reader_py",
    "_reader",
    "_walker_py",
    "_walker",
    "files",
    "pages",
    "toml",
    "rows",
    "frames",
    "ranked",
    "read",
    "audit",
    "align",
    "sessions",
    "distribution",
    "table",
    "orders",
    "users",
    "references",
    "measures",
    "simulate",
    "distributions",
    "evaluate",
    "uncertainty",
    "curves",
    "cwl",
    "standardise",
    "compare",
    "meta",
    "logs",
    "check",
    "collection",
    "lab",
    "report",
    "commands",
    "cli",
    "__main__",
]


def _room(path: Path) -> str:
    return path.relative_to(ROOT).with_suffix("").parts[0]


def _imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path.name}: relative import"
            if node.module == "amble":
                found.update(f"amble.{alias.name}" for alias in node.names if alias.name != "__version__")
            found.add(node.module)
    return {name.split(".")[1] for name in found if name.startswith("amble.")}


def test_every_room_has_its_place() -> None:
    rooms = {_room(path) for path in ROOT.rglob("*.py")} - {"__init__"}
    assert rooms <= set(ORDER), f"not in ORDER: {rooms - set(ORDER)}"


def test_no_import_points_upstream() -> None:
    wrong = []
    for path in ROOT.rglob("*.py"):
        here = _room(path)
        if here == "__init__":
            continue
        for other in _imports(path):
            if other != here and ORDER.index(other) > ORDER.index(here):
                wrong.append(f"{here} imports {other}")
    assert not wrong, wrong


def test_names_say_something() -> None:
    vague = {"utils", "util", "helpers", "helper", "common", "misc", "base"}
    assert not [path for path in ROOT.rglob("*.py") if path.stem in vague]
