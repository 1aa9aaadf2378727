r"""What the site adds to the pages when it is built: formulas, long names of measures, a drawn map, notebooks' pages.

A formula is written as GitHub shows it, too: a block after ```` ```math ````, or $`x`$ within a line. It becomes
MathML, which browsers draw without a script. The nested list below `MAP` is drawn as a tree, in the page's colours,
light or dark; the list itself stays below, for those who cannot see the picture. A notebook becomes a page of its
cells and of what they showed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import escape
from pathlib import PurePosixPath
from typing import Any, NamedTuple
from xml.etree import ElementTree

from latex2mathml.converter import convert
from markdown import Markdown
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor
from mkdocs.structure.files import File

MAP = "<!-- map: the site draws the list below as a picture here -->"
X = (0, 220, 430)  # where boxes and measures begin
GAP, ROW = 30, 30  # between a box and what is right of it, and from one measure to the next
HEADING = re.compile(r"^## (\w+)\n\n\*\*(.*)\*\*(?: · )?", re.MULTILINE)
NOTEBOOK = re.compile(r"(\]\([\w/.-]+)\.ipynb\)(?!\{)")


class Formula(InlineProcessor):
    """A formula within a line."""

    def handleMatch(self, m: re.Match[str], data: str) -> tuple[ElementTree.Element, int, int]:  # type: ignore[override]
        """The element of MathML that takes the place of what was written."""
        return element(m[1], "inline"), m.start(0), m.end(0)


class Formulas(Extension):
    """Formulas within lines, read before code is."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Take part in the reading of a page."""
        md.inlinePatterns.register(Formula(r"\$`([^`]+)`\$", md), "formula", 195)


def element(latex: str, display: str) -> ElementTree.Element:
    """A formula as MathML."""
    return ElementTree.fromstring(re.sub(r' xmlns="[^"]*"', "", convert(latex.strip(), display=display)))


def block(source: str, language: str, css_class: str, options: Any, md: Markdown, **rest: Any) -> str:
    """A formula on lines of its own; it scrolls where the page is too narrow."""
    return f'<div class="formula">{ElementTree.tostring(element(source, "block"), encoding="unicode")}</div>'


def on_config(config: Any) -> Any:
    """Read formulas on every page."""
    config.markdown_extensions.append(Formulas())
    config.mdx_configs.setdefault("pymdownx.superfences", {})["custom_fences"] = [
        {"name": "math", "class": "formula", "format": block}
    ]
    return config


class Entry(NamedTuple):
    """An entry of the list that is drawn: its depth from 0, its text, and a measure with its link, or nothing."""

    depth: int
    text: str
    measure: str
    link: str


def entries(markdown: str) -> list[Entry]:
    """The entries of the nested list that follows `MAP`."""
    found = []
    for line in markdown.split(MAP)[1].strip().splitlines():
        if not (item := re.match(r"( *)- (.*)", line)):
            break
        leaf = re.match(r"\[`(.*?)`\]\((.*?)\) (.*)", item[2])
        text = leaf[3] if leaf else item[2].replace("*", "")
        found.append(Entry(len(item[1]) // 4, text, leaf[1] if leaf else "", leaf[2] if leaf else ""))
    return found


def drawn(markdown: str) -> str:
    """The list as an SVG: a row for each measure, and what leads to it on the left."""
    every = entries(markdown)
    rows = [i for i, entry in enumerate(every) if entry.measure]
    y = {i: 24 + ROW * row + 22 * every_group(every, i) for row, i in enumerate(rows)}
    out, lines, place = [], [], dict(y)
    for i in reversed(range(len(every))):
        if every[i].measure:
            continue
        below = list(below_of(every, i))
        place[i] = (place[below[0]] + place[below[-1]]) / 2
        start = X[2] - GAP if every[below[0]].measure else X[1] - GAP
        for j in below:
            x = X[2 if every[j].measure else every[j].depth] - 6
            middle = (start + x) / 2
            lines.append(
                f'<path d="M{start} {place[i]:g}C{middle} {place[i]:g} {middle} {place[j]:g} {x} {place[j]:g}"/>'
            )
    for i, (depth, text, measure, link) in enumerate(every):
        name, _, asked = text.partition(": ")
        if measure:
            page, _, anchor = link.partition("#")
            href = f"../{page.removesuffix('.md')}/" + (f"#{anchor}" if anchor else "")
            words = f'<text x="{X[2]}" y="{place[i] + 5:g}"><a href="{href}">{escape(measure)}</a> '
            out.append(f'{words}<tspan dx="6">{escape(text)}</tspan></text>')
        else:
            width = (X[2] if every[i + 1].measure else X[1]) - GAP - X[depth]
            out.append(f'<rect x="{X[depth]}" y="{place[i] - 24:g}" width="{width}" height="48" rx="6"/>')
            for line, (words, kind) in enumerate(((name, "name"), (asked, "asked"))):
                at = f'class="{kind}" x="{X[depth] + width / 2:g}" y="{place[i] + 5 + (18 * line - 9) * bool(asked):g}"'
                out.append(f"<text {at}>{escape(words)}</text>" if words else "")
    height = max(y.values()) + 20
    head = f'<svg viewBox="0 0 900 {height:g}" role="group" aria-label="The list below as a picture">'
    return f'<div class="map">{head}{"".join(lines + out)}</svg></div>'


def every_group(every: list[Entry], i: int) -> int:
    """How many groups of measures end above an entry."""
    return sum(bool(every[j].measure) and not every[j + 1].measure for j in range(i))


def below_of(every: list[Entry], i: int) -> Iterator[int]:
    """The entries right below an entry."""
    for j in range(i + 1, len(every)):
        if every[j].depth <= every[i].depth:
            return
        if every[j].depth == every[i].depth + 1:
            yield j


def on_files(files: Any, config: Any) -> Any:
    """A page for each notebook, beside the notebook itself, which can be taken from there."""
    for file in [file for file in files if file.src_uri.endswith(".ipynb")]:
        path = PurePosixPath(file.src_uri)
        content = page_of_notebook(json.loads(file.content_string), path.name)
        files.append(File.generated(config, str(path.with_suffix(".md")), content=content))
    return files


def page_of_notebook(notebook: dict[str, Any], name: str) -> str:
    """A notebook as Markdown; tables are shown as they are in a notebook, everything else as text."""
    parts: list[str] = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else fenced(source, "python"))
        for output in cell.get("outputs", []):
            shown = output.get("data", {"text/plain": output.get("text", "")})
            table, text = ("".join(shown.get(kind, "")) for kind in ("text/html", "text/plain"))
            parts.append(f'<div class="output">{table}</div>' if table else fenced(text, "output"))
    parts.insert(1, f"[Take this notebook]({name}){{ download }}")
    return f"---\ntags: {json.dumps(notebook['metadata']['tags'])}\n---\n\n" + "\n\n".join(parts) + "\n"


def fenced(text: str, kind: str) -> str:
    """A block of code, or of text that was shown."""
    opening = "```python" if kind == "python" else "``` { .text .output }"
    return f"{opening}\n{text.rstrip()}\n```"


def on_page_markdown(markdown: str, page: Any, **rest: Any) -> str:
    """A map drawn; and headings of measures with long names under the short one's anchor, as the search weighs them.

    What leads to a notebook leads to its page.
    """
    markdown = NOTEBOOK.sub(r"\1.md)", markdown)
    if MAP in markdown:
        return markdown.replace(MAP, drawn(markdown))
    if not page.file.src_uri.startswith("measures/"):
        return markdown
    return HEADING.sub(lambda m: f"## {m[1]}: {m[2]} {{ #{m[1].lower()} }}\n\n", markdown)
