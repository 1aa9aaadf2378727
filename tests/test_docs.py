"""The documentation is whole: nothing that exists is left out, nothing that is named is missing."""

from __future__ import annotations

import argparse
import importlib
import re
from pathlib import Path

import pytest

import amble
from amble import frames
from amble.check import SEVERITY
from amble.cli import COMMANDS
from amble.commands.list import markdown
from amble.measures import REGISTRY, parse
from amble.measures.trec import LEFT_OUT, all_trec

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))


def text(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def section(page: str, heading: str) -> str:
    """What stands under a heading of the second level."""
    return page.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]


def test_measures_page_is_up_to_date() -> None:
    ours = [declaration for declaration in REGISTRY.values() if declaration.family != "yours"]
    assert text("docs/measures.md") == markdown(ours) + "\n", "run: amble list --format markdown > docs/measures.md"


def test_every_page_is_in_the_navigation() -> None:
    named = re.findall(r"^ +- .*: (\S+\.md)$", text("mkdocs.yml"), re.MULTILINE)
    assert sorted(named) == [page.name for page in PAGES]


def test_index_leads_to_every_page() -> None:
    linked = set(re.findall(r"\]\((\w+\.md)\)", text("docs/index.md")))
    assert linked == {page.name for page in PAGES} - {"index.md"}


@pytest.mark.parametrize("page", [*ROOT.glob("*.md"), *PAGES], ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_public_name_is_described() -> None:
    described = re.findall(r"^::: amble\.(?:\w+\.)*(\w+)$", text("docs/api.md"), re.MULTILINE)
    errors = {name for name in amble.__all__ if name.endswith("Error")}  # the room of errors is shown whole
    assert set(amble.__all__) - errors - {"__version__"} <= set(described)
    assert "errors" in described


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_is_described(command: str) -> None:
    parser = argparse.ArgumentParser()
    importlib.import_module(f"amble.commands.{command}").arguments(parser)
    options = {option for action in parser._actions for option in action.option_strings} - {"-h", "--help"}
    told = section(text("docs/cli.md"), command)
    assert not [option for option in sorted(options) if not re.search(rf"(?<![\w-]){option}(?![\w-])", told)]


def test_every_kind_of_finding_is_described() -> None:
    rows = re.findall(r"^\| (`.*?`) \| (\w+) \|", text("docs/check.md"), re.MULTILINE)
    told = {(kind, weight) for kinds, weight in rows for kind in re.findall(r"`([\w-]+)`", kinds)}
    assert told == set(SEVERITY.items())


def test_names_of_trec_eval() -> None:
    rows = re.findall(r"^\| `(.*)` \| `(.*)` \| (.*) ?\|$", section(text("docs/trec_eval.md"), "Names"), re.MULTILINE)
    told = [(a.replace("x", x), b.replace("x", x)) for a, b, numbers in rows for x in numbers.split() or ["x"]]
    assert [(theirs, parse(ours)) for theirs, ours in told] == [(theirs, parse(ours)) for theirs, ours in all_trec()]
    left_out = re.findall(r"^\| `(\w+)` \|", section(text("docs/trec_eval.md"), "What is left out"), re.MULTILINE)
    assert left_out == list(LEFT_OUT)


def test_columns_of_frames() -> None:
    rows = re.findall(r"^\| (\w+) \| (`.*`) \|$", section(text("docs/reading.md"), "Frames"), re.MULTILINE)
    told = {what: tuple(re.findall(r"`(.*?)`", names)) for what, names in rows}
    assert told == {"topic": frames._TOPIC, "document": frames._DOC, **frames._NUMBER}


def test_every_room_is_described() -> None:
    rooms = {path.stem for path in Path(amble.__file__).parent.iterdir() if path.suffix == ".py" or path.is_dir()}
    told = set(re.findall(r"`(\w+)`", section(text("CONTRIBUTING.md"), "The house")))
    assert rooms - {"__init__", "__pycache__", "_c"} <= told


def test_version_is_the_same_everywhere() -> None:
    assert f"\nversion: {amble.__version__}\n" in text("CITATION.cff")
    assert f"\n## [{amble.__version__}]" in text("CHANGELOG.md")
