"""Make the table of modules in CONTRIBUTING.md, from the first paragraph of each module's docstring.

    python docs/make_modules.py    writes it between its two markers

The tests compare the table with the modules.
"""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "CONTRIBUTING.md"
START = "<!-- modules: made by docs/make_modules.py from the modules' docstrings -->"
END = "<!-- end of modules -->"

# a module imports only from its own package and from those named before it; the tests read the imports
ORDER = [
    "errors",
    "checks",
    "arrays",
    "progress",
    "native",
    "io",
    "parallel",
    "table",
    "rankings",
    "sessions",
    "distributions",
    "expressions",
    "users",
    "references",
    "measures",
    "evaluation",
    "comparison",
    "metaevaluation",
    "logs",
    "validation",
    "retrieval",
    "judging",
    "fusion",
    "compat",
    "reporting",
    "compat",
    "cli",
    "__main__",
]


def table() -> str:
    """One row per module: packages in their order, each before its modules."""
    source = ROOT / "src" / "amble"
    found = {_parts(path, source): path for path in source.rglob("*.py")}
    del found[()]
    rows = [f"| `{'.'.join(parts)}` | {_first(found[parts])} |" for parts in sorted(found, key=_place)]
    return "\n".join(["| module | what is in it |", "|---|---|", *rows])


def filled(page: str) -> str:
    """A page with the table between its markers."""
    before, rest = page.split(START, 1)
    return f"{before}{START}\n\n{table()}\n\n{END}{rest.split(END, 1)[1]}"


def _place(parts: tuple[str, ...]) -> tuple[int, tuple[str, ...]]:
    return ORDER.index(parts[0]) if parts[0] in ORDER else len(ORDER), parts


def _parts(path: Path, source: Path) -> tuple[str, ...]:
    parts = path.relative_to(source).with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" else parts


def _first(path: Path) -> str:
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(text.split("\n\n")[0].split()).replace("``", "`").replace("|", "&#124;")


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
