"""The documentation is complete: nothing public is left out, nothing named is missing."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import inspect
import json
import re
import tomllib
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import api_snapshot
import make_mistakes
import pytest

import amble
from amble.cli.commands.list import _FAMILIES, title
from amble.cli.main import COMMANDS
from amble.io import columns as frames
from amble.measures import REGISTRY, parse
from amble.measures.trec_names import LEFT_OUT, all_trec
from amble.users import Question
from amble.validation import SEVERITY

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
NOTEBOOKS = sorted(DOCS.rglob("*.ipynb"))
USERS = [name for name, d in REGISTRY.items() if d.is_user and not d.of_intents]  # those are others' users
INDEXED = ("api/", "measures/")  # parts with an index of their own
FAMILIES = [family for family in _FAMILIES if family != "yours"]


def text(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def written(page: Path) -> str:
    """What is written on a page of the site, which may be a notebook."""
    text = page.read_text(encoding="utf-8")
    if page.suffix == ".md":
        return text
    made: str = importlib.import_module("site_hooks").page_of_notebook(json.loads(text), page.name)
    return made


def section(page: str, heading: str) -> str:
    """The text under a heading of the second level."""
    return page.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]


@pytest.fixture(scope="module")
def make_pages() -> ModuleType:
    """The script that writes the pages of the measures."""
    spec = importlib.util.spec_from_file_location("make_pages", DOCS / "make_pages.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_pages_of_measures_are_up_to_date(make_pages: ModuleType) -> None:
    made = make_pages.pages()
    assert sorted(made) == sorted(page.name for page in (DOCS / "measures").glob("*.md"))
    assert set(made) == {"index.md", *(f"{family}.md" for family in FAMILIES)}
    for name, page in made.items():
        assert text(f"docs/measures/{name}") == page, "run: make docs"


def test_page_of_mistakes_is_up_to_date() -> None:
    assert len(make_mistakes.MISTAKES) >= 15
    assert text("docs/mistakes.md") == make_mistakes.page(), "run: make docs"


def test_every_measure_is_described() -> None:
    for family in FAMILIES:
        named = re.findall(r"^## (\w+)$", text(f"docs/measures/{family}.md"), re.MULTILINE)
        assert named == [name for name, d in REGISTRY.items() if d.family == family]


def test_references_are_in_full() -> None:
    pages = "".join(text(f"docs/measures/{family}.md") for family in FAMILIES)
    cited = re.findall(r"^- Reference: (.*)$", pages, re.MULTILINE)
    assert len(cited) == sum(bool(d.cite) for d in REGISTRY.values() if d.family != "yours")
    # names, year, title, where; no BibTeX left
    assert [line for line in cited if not re.fullmatch(r"[^{}\\]+ \(\d{4}\)\. [^{}\\]+", line)] == []


def test_every_user_has_a_chart(make_pages: ModuleType) -> None:
    pages = "".join(text(f"docs/measures/{family}.md") for family in FAMILIES)
    assert re.findall(r"\(charts/(\w+)\.svg\)", pages) == [
        name for family in FAMILIES for name in USERS if REGISTRY[name].family == family
    ]
    assert set(make_pages.DRAWN) <= set(USERS)
    for name, drawn in make_pages.DRAWN.items():
        assert [parse(measure).name for measure in drawn] == [name] * len(drawn)


@pytest.mark.parametrize("name", USERS)
def test_charts_show_what_users_do(name: str, make_pages: ModuleType) -> None:
    chart = make_pages.chart(name)
    assert json.dumps(chart) == json.dumps(make_pages.chart(name))
    rows = chart["data"]["values"]
    assert {row["panel"] for row in rows} == {panel["title"] for panel in chart["hconcat"]}
    assert all(row["value"] is None or 0 < row["value"] <= 1 for row in rows)  # the logarithm of 0 is none
    for panel in chart["hconcat"]:
        assert [panel["encoding"][axis]["scale"]["type"] for axis in "xy"] == ["log", "log"]
    for line in make_pages.lines(name):
        mine = [row for row in rows if (row["measure"], row["list"]) == (line.measure, line.list)]
        weights = [row["value"] or 0.0 for row in mine if row["panel"] == "weight W"]
        residual = [row["value"] or 0.0 for row in mine if row["panel"] == "residual"]
        assert len(weights) == len(residual) == make_pages.LENGTH
        assert sum(weights) + residual[-1] == pytest.approx(1, abs=1e-6)


def test_every_page_is_in_the_navigation() -> None:
    named = re.findall(r"^ +- .*: (\S+\.md)$", text("mkdocs.yml"), re.MULTILINE)
    assert sorted(named) == sorted(
        page.relative_to(DOCS).with_suffix(".md").as_posix() for page in [*PAGES, *NOTEBOOKS]
    )
    for family in FAMILIES:
        assert f"- {title(family)}: measures/{family}.md\n" in text("mkdocs.yml")


def test_index_leads_to_every_page() -> None:
    linked = set(re.findall(r"\]\(([\w/-]+\.(?:md|ipynb))\)", text("docs/index.md")))
    every = {page.relative_to(DOCS).as_posix() for page in [*PAGES, *NOTEBOOKS]} - {"index.md"}
    assert linked == {page for page in every if not page.startswith(INDEXED)} | {f"{part}index.md" for part in INDEXED}
    linked = set(re.findall(r"\]\((\w+\.md)\)", text("docs/measures/index.md")))
    assert linked == {f"{family}.md" for family in FAMILIES}


@pytest.mark.parametrize(
    "page", [*ROOT.glob("*.md"), *PAGES, *NOTEBOOKS], ids=lambda page: page.relative_to(ROOT).as_posix()
)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", written(page)):
        if "charts/" not in target:  # made for the build of the site
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as the site makes them."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    plain = (re.sub(r"[^\w\s-]", "", heading.encode("ascii", "ignore").decode()) for heading in headings)
    return {re.sub(r"[-\s]+", "-", heading.strip().lower()) for heading in plain}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_anchors_are_headings(page: Path) -> None:
    for target, anchor in re.findall(r"\]\(([\w/.-]*)#([\w-]+)\)", page.read_text(encoding="utf-8")):
        assert anchor in anchors(page.parent / target if target else page), f"{page.name} links to {target}#{anchor}"


@pytest.mark.parametrize("page", [*PAGES, *NOTEBOOKS], ids=lambda page: page.relative_to(ROOT).as_posix())
def test_first_sentence_says_what_the_page_is_for(page: Path) -> None:
    body = re.sub(r"\A---\n.*?^---\n", "", written(page), flags=re.MULTILINE | re.DOTALL)
    heading, first, *_ = [part for part in re.split(r"\n\n+", body.strip()) if not part.startswith("<!--")]
    assert heading.startswith("# ")
    assert re.match(r"(?!```)[\w`*\[]", first), f"{page.name} begins with {first[:20]!r}, expected a sentence"
    assert re.search(r"[.:?!][*]*(\s|$)", first)


def test_formulas_need_no_script(make_pages: ModuleType) -> None:
    hooks = importlib.import_module("site_hooks")
    families = {name: d.family for name, d in REGISTRY.items() if d.family != "yours"}
    assert set(make_pages.LONG) == set(families)
    counted = {"NumQ", "NumRet", "NumRel", "NumRelRet", "NumNonrelRet"}
    assert set(make_pages.FORMULA) == set(families) - counted
    inline = re.findall(r"\$`([^`]+)`\$", " ".join(make_pages.KEY.values()))
    for latex in [*make_pages.FORMULA.values(), *inline]:
        made = hooks.element(latex, "block")
        assert made.tag == "math"
        assert "script" not in {part.tag for part in made.iter()}
        written = "".join(made.itertext())
        assert "\\" not in written, f"{latex}: a command was not understood"  # it would be shown as it is written
    # (1 - p) and the sum, with its letter below and the list's length above: as set by hand
    rbp = hooks.element(make_pages.FORMULA["RBP"], "block")
    (total,) = rbp.iter("munderover")
    assert ["".join(part.itertext()) for part in total] == ["∑", "i=1", "N"]


def test_headings_of_measures_on_the_site() -> None:
    hooks = importlib.import_module("site_hooks")
    page = SimpleNamespace(file=SimpleNamespace(src_uri="measures/classic.md"))
    made = hooks.on_page_markdown("# All\n\n## RR\n\n**reciprocal rank, MRR** · ranx: `mrr`\n\nShe", page=page)
    assert made == "# All\n\n## RR: reciprocal rank, MRR { #rr }\n\nranx: `mrr`\n\nShe"
    page.file.src_uri = "users.md"
    assert hooks.on_page_markdown("## RR\n\n**MRR**", page=page) == "## RR\n\n**MRR**"


def test_glossary_is_in_order() -> None:
    words = re.findall(r"^- \*\*(.*?)\*\*", text("docs/glossary.md"), re.MULTILINE)
    assert words == sorted(words, key=str.lower)
    assert len(words) == len(set(words)) > 50


def renamed(heading: str) -> list[tuple[str, str]]:
    """The rows of a table of docs/renamed.md: old name, new name."""
    return re.findall(r"^\| `(.*?)` \| `(.*?)` \|", section(text("docs/renamed.md"), heading), re.MULTILINE)


def is_public(written: str) -> bool:
    """Whether there is what is written: a dotted name of amble, an attribute of objects, or a keyword, name(key=)."""
    name, _, keyword = written.removesuffix("=)").partition("(")
    parts = name.split(".")
    end = len(parts)
    while True:
        try:
            found: Any = importlib.import_module(".".join(parts[:end]))
            break
        except ModuleNotFoundError:
            end -= 1
    for part in parts[end:]:
        if inspect.isclass(found) and part in api_snapshot.attributes(found):
            return not keyword
        if not hasattr(found, part):
            return False
        found = getattr(found, part)
    return not keyword or keyword in inspect.signature(found).parameters


def is_taken(written: str) -> bool:
    """Whether the command line, the measures or the installation take what is written."""
    if written.startswith("amble "):
        _, command, *words = written.split()
        if command not in COMMANDS:
            return False
        parser = argparse.ArgumentParser()
        importlib.import_module(f"amble.cli.commands.{command}").arguments(parser)
        taken = {option for action in parser._actions for option in action.option_strings}
        taken |= {choice for action in parser._actions if not action.option_strings for choice in action.choices or ()}
        return set(words) <= taken
    if extra := re.fullmatch(r"pip install 'amble-ir\[(\w+)\]'", written):
        return extra[1] in tomllib.loads(text("pyproject.toml"))["project"]["optional-dependencies"]
    if question := re.fullmatch(r"measure\(question='(\w+)'\)", written):
        return question[1] in {one.value for one in Question}
    try:
        parse(written)
    except amble.MeasureError:
        return False
    return True


def test_renamed_options() -> None:
    rows = renamed("Commands, options, measures and extras")
    assert len(rows) > 10
    news = [new for _, new in rows]
    assert [new for new in news if not is_taken(new)] == []
    assert [old for old, _ in rows if old not in news and is_taken(old)] == []


def test_renamed_modules() -> None:
    rows = renamed("Modules")
    assert len(rows) > 100
    for old, new in rows:
        importlib.import_module(f"amble.{new}")
        with pytest.raises(ModuleNotFoundError):
            importlib.import_module(f"amble.{old}")


def test_renamed_names() -> None:
    rows = renamed("Classes, functions and keywords")
    assert len(rows) > 20
    news = [new for _, new in rows]
    assert [new for new in news if not is_public(new)] == []
    assert [old for old, _ in rows if old not in news and is_public(old)] == []


def test_every_public_name_is_described() -> None:
    pages = "".join(page.read_text(encoding="utf-8") for page in (DOCS / "api").glob("*.md"))
    described = re.findall(r"^::: amble\.(?:\w+\.)*(\w+)$", pages, re.MULTILINE)
    errors = {name for name in amble.__all__ if name.endswith("Error")}  # the module of errors is shown whole
    assert set(amble.__all__) - errors - {"__version__"} <= set(described)
    assert "errors" in described


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_is_described(command: str) -> None:
    parser = argparse.ArgumentParser()
    importlib.import_module(f"amble.cli.commands.{command}").arguments(parser)
    options = {option for action in parser._actions for option in action.option_strings} - {"-h", "--help"}
    told = section(text("docs/cli.md"), command)
    assert not [option for option in sorted(options) if not re.search(rf"(?<![\w-]){option}(?![\w-])", told)]


def test_every_family_is_described() -> None:
    told = section(text("docs/cli.md"), "list")
    assert not [family for family in _FAMILIES if f"`{family}`" not in told]


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


def test_version_is_the_same_everywhere() -> None:
    assert f"\nversion: {amble.__version__}\n" in text("CITATION.cff")
    assert f"\n## [{amble.__version__}]" in text("CHANGELOG.md")
