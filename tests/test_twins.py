"""What the shorter passes of the tests leave out is known: calls of the C parts, and slow tests."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
import quick
import twins


def test_every_door_to_a_c_part_is_watched() -> None:
    assert twins.importers() == set(twins.DOORS)


@pytest.mark.parametrize(
    ("text", "loads"),
    [
        ("from amble.native import load", True),
        ("def f():\n    from amble.native import _walker", True),
        ("from amble import native", True),
        ("import amble.native", True),
        ("import amble.native._reader", True),
        ("x = __import__('amble.native._reader')", True),
        ("from amble.native import is_compiled", False),
        ("import amble.native.plain_reader", False),
    ],
)
def test_doors_are_found(text: str, loads: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "native").mkdir()
    for file in ("native/load.py", "door.py"):
        (tmp_path / file).write_text(text, encoding="utf-8")
    monkeypatch.setattr(twins, "ROOT", tmp_path)
    assert twins.importers() == ({"door.py"} if loads else set())


@pytest.fixture
def door(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A module that calls a C part on lines 2 and 3, and on line 4 what only the C part has."""
    text = "def f(part):\n    part.one()\n    part.two()\n    part.three()  # C only\n"
    (tmp_path / "door.py").write_text(text, encoding="utf-8")
    part = SimpleNamespace(one=int, two=int, three=int)
    made = SimpleNamespace(part=part, **runpy.run_path(str(tmp_path / "door.py")))
    for name, value in {"ROOT": tmp_path, "DOORS": {"door.py": (made, "part")}, "_called": set()}.items():
        monkeypatch.setattr(twins, name, value)
    return made


def test_a_pass_that_leaves_out_a_call_fails(door: Any) -> None:
    def concluded(**more: Any) -> tuple[int, list[str]]:
        said: list[str] = []
        config = {
            "args_source": pytest.Config.ArgsSource.TESTPATHS,
            "option": SimpleNamespace(keyword=""),
            "pluginmanager": SimpleNamespace(get_plugin=lambda name: SimpleNamespace(write_line=said.append)),
            **more,
        }
        session: Any = SimpleNamespace(config=SimpleNamespace(**config), exitstatus=pytest.ExitCode.OK)
        twins.conclude(session)
        return int(session.exitstatus), said

    twins.watch()
    door.part.one()  # here, not where amble calls it
    calls = ("2: one", "3: two")
    told = [f"src/amble/door.py:{call} was not called in the pass without the C parts" for call in calls]
    assert concluded() == (1, told)
    assert concluded(args_source=pytest.Config.ArgsSource.ARGS) == (0, [])
    assert concluded(option=SimpleNamespace(keyword="reader")) == (0, [])
    twins.collect(SimpleNamespace(workeroutput={"called": [["door.py", "one", 2]]}))
    assert concluded() == (1, told[1:])
    door.f(door.part)
    assert concluded() == (0, [])
    output: dict[str, Any] = {}
    assert concluded(workeroutput=output) == (0, [])
    assert {("door.py", "one", 2), ("door.py", "two", 3)} <= set(output["called"])


def test_what_is_left_out(door: Any, tmp_path: Path) -> None:
    tests = tmp_path.parent / f"{tmp_path.name}-tests"
    tests.mkdir()
    for name, text in {"test_a.py": "pytestmark = pytest.mark.twin\n", "test_b.py": "\n"}.items():
        (tests / name).write_text(text, encoding="utf-8")
    (tmp_path / "other.py").touch()
    paths = [tmp_path / "door.py", tmp_path / "other.py", tests / "test_a.py", tests / "test_b.py", tests]
    assert [twins.leave_out(path) for path in paths] == [None, True, None, True, None]

    class Item(NamedTuple):
        path: Path
        mark: str = ""

        def get_closest_marker(self, name: str) -> bool:
            return self.mark == name

    items: list[Any] = [Item(tests / "test_a.py", "twin"), Item(tests / "test_a.py"), Item(tmp_path / "door.py")]
    left, chosen = list[Any](), list(items)
    hook: Any = SimpleNamespace(pytest_deselected=lambda items: left.extend(items))
    twins.choose(SimpleNamespace(hook=hook), chosen)  # type: ignore[arg-type]
    assert (chosen, left) == ([items[0], items[2]], [items[1]])


def test_calls_are_found() -> None:
    names = {(file, name) for file, name, _ in twins.calls()}
    assert names >= {
        ("io/trec.py", "judge"),
        ("io/trec.py", "rank"),
        ("io/trec.py", "rank_stream"),
        ("users/joint_distribution.py", "joint"),
        ("users/simulation.py", "walk"),
    }
    assert all(hasattr(getattr(*twins.DOORS[file]), name) for file, name in names)


@pytest.mark.parametrize(
    ("new", "tests"),
    [
        ("src/amble/comparison/corrections.py", {"test_compare_tests.py"}),  # which import it by name
        ("src/amble/users/dense.py", {"test_dense_users.py"}),  # which use what it defines
        ("src/amble/cli/commands/curve.py", {"test_curve_charts.py"}),  # which run it
        ("src/amble/users/finite_steps.py", {"test_markov_users.py"}),  # which import what imports it
        ("src/amble/measures/catalogue/walks.py", {"test_adding_a_measure.py"}),
        ("src/amble/native/ranking.h", {"test_reader.py", "test_walker.py"}),
        ("src/amble/reporting/assets/board.js", {"test_report.py", "test_explore.py"}),
        ("tests/walk_reference.py", {"test_walk_reference.py"}),
        ("docs/tour.md", {"test_readme.py", "test_docs.py"}),
        ("benchmarks/bench_waits.py", {"test_bench_waits.py"}),
        ("README.md", {"test_readme.py"}),
        ("tests/golden/fusion_ranx.json", {"test_fusion.py"}),
    ],
)
def test_what_is_changed_brings_its_tests(new: str, tests: set[str]) -> None:
    paths = set((quick.ROOT / "tests").glob("test_*.py"))
    found = {path.name for path in quick.touched(paths, {quick.ROOT / new})}
    assert found >= tests
    assert len(found) < len(paths) / 3
    assert quick.touched(paths, set()) == set()


def test_a_file_that_nothing_imports_brings_only_itself() -> None:
    paths = set((quick.ROOT / "tests").glob("test_*.py"))
    assert quick.touched(paths, {quick.ROOT / "tests" / "conftest.py"}) == set()
    alone = quick.ROOT / "tests" / "test_twins.py"
    assert quick.touched(paths, {alone}) == {alone}


def test_every_module_brings_a_test() -> None:
    paths = set((quick.ROOT / "tests").glob("test_*.py"))
    modules = [path for path in (quick.ROOT / "src").rglob("*.py") if path.name not in ("__init__.py", "__main__.py")]
    assert [path for path in modules if not quick.touched(paths, {path})] == []


def test_changed_files_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def git(*words: str) -> None:
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=tmp_path, check=True)

    for name in [name for name in os.environ if name.startswith("GIT_")]:  # as in a hook of git
        monkeypatch.delenv(name)
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):  # signatures, hooks and ignored files are a person's own
        monkeypatch.setenv(name, os.devnull)
    root = tmp_path / "in a larger one"
    root.mkdir()
    monkeypatch.setattr(quick, "ROOT", root)
    for name in ("same.py", "edited.py", "gone.py", "old.py", ".gitignore"):
        (root / name).write_text(f"made/\n# {name}\n", encoding="utf-8")
    git("init", "-q")
    with pytest.raises(pytest.UsageError, match="make quick asks git what was changed: .*HEAD"):
        quick.changed("HEAD")
    git("add", "-A")
    git("commit", "-q", "-m", "first")
    assert quick.changed("HEAD") == set()
    (root / "edited.py").write_text("", encoding="utf-8")
    (root / "gone.py").unlink()
    git("mv", f"{root.name}/old.py", f"{root.name}/é new.py")
    (root / "unknown.py").touch()
    (root / "made").mkdir()
    (root / "made" / "page.html").touch()
    new = {"edited.py", "gone.py", "old.py", "é new.py", "unknown.py"}
    assert quick.changed("HEAD") == {root / name for name in new}
    git("add", "-A")
    git("commit", "-q", "-m", "second")
    assert quick.changed("HEAD") == set()
    assert quick.changed("HEAD~1") == {root / name for name in new}


class Item(NamedTuple):
    """As much of a test as is looked at to choose it."""

    nodeid: str
    path: Path
    fixturenames: tuple[str, ...]


def test_what_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def kept(*new: str) -> list[str]:
        chosen, left = list(items), list[Any]()
        hook = SimpleNamespace(pytest_deselected=lambda items: left.extend(items))
        monkeypatch.setattr(quick, "changed", lambda since: {quick.ROOT / name for name in new})
        quick.choose(SimpleNamespace(hook=hook), chosen)  # type: ignore[arg-type]
        assert [item for item in items if item in left] == [item for item in items if item not in chosen]
        return [item.nodeid for item in chosen]

    names = ["tests/test_reader.py::fast[1]", "tests/test_reader.py::slow[1]", "tests/test_plot.py::page"]
    items: list[Any] = [
        Item(name, quick.ROOT / name.split("::")[0], ("browser",) if name.endswith("page") else ()) for name in names
    ]
    monkeypatch.setattr(quick, "SLOW", tmp_path / "slow.txt")
    quick.SLOW.write_text("tests/test_reader.py::slow\ntests/test_plot.py::page\n", encoding="utf-8")
    assert kept() == kept("LICENSE") == names[:1]
    assert kept("tests/test_reader.py") == names[:2]
    assert kept("src/amble/judging/assets/sheet.js") == [names[0], names[2]]


def test_slow_tests_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def session(**more: Any) -> Any:
        option = SimpleNamespace(keyword="")
        config = SimpleNamespace(args_source=pytest.Config.ArgsSource.TESTPATHS, option=option)
        return SimpleNamespace(config=SimpleNamespace(**{**vars(config), **more}))

    monkeypatch.setattr(quick, "SLOW", tmp_path / "slow.txt")
    monkeypatch.setattr(quick, "SINCE", "")
    monkeypatch.setattr(quick, "SECONDS", 10.0)
    monkeypatch.setattr(quick, "_took", quick.defaultdict(float))
    for node, seconds in (("a", 1), ("b[1]", 4), ("b[2]", 2), ("b[2]", 2), ("c", 4)):  # b takes 8 seconds
        quick.note(SimpleNamespace(nodeid=node, duration=seconds))
    quick.write(session(args_source=pytest.Config.ArgsSource.ARGS))
    quick.write(session(option=SimpleNamespace(keyword="b")))
    quick.write(session(workerinput={}))
    assert not quick.SLOW.exists()
    quick.write(session())
    assert quick.SLOW.read_text(encoding="utf-8") == "b\n"  # 1 + 4 seconds fit, 8 more do not


def test_slow_tests_are_there() -> None:
    for name in quick.SLOW.read_text(encoding="utf-8").split():
        file, *inside = name.split("::")
        text = (quick.ROOT / file).read_text(encoding="utf-8")
        last = inside[-1].rpartition(".")[2]
        whole = inside[-1] == quick.module_of(quick.ROOT / file)  # the examples of a module itself
        assert whole or re.search(rf"^ *(def|class) {last}\b", text, re.MULTILINE), name
