"""Tables of results, written as aligned text, TSV, CSV, JSON, LaTeX or HTML."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

from amble import checks
from amble.errors import AmbleError

__all__ = ["FORMATS", "MARKS", "Table", "Tabled", "frame_of", "mean_topic"]

Cell = str | int | float | None

MARKS = "†‡§¶‖*"  # of baselines, in the order of papers


_COMMANDS = {c: f"\\x{c:02x}" for c in (*range(0x20), *range(0x7F, 0xA0)) if c not in b"\t\n"}  # of terminals


def _latex(text: str) -> str:
    special = {c: f"\\{c}" for c in "&%$#_{}"} | {
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "\\": r"\textbackslash{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
    }
    return "".join(special.get(c, c) for c in text.translate(_COMMANDS))


def _raised(mark: str) -> str:
    """Marks behind a cell in LaTeX: arrows and daggers by their names, letters upright."""
    if not set(mark) <= set(_MATHS):
        return rf"$^{{\mathrm{{{_latex(mark)}}}}}$"
    return f"$^{{{''.join(_MATHS[c] for c in mark)}}}$" if mark else ""


_MATHS = {"↑": r"\uparrow", "↓": r"\downarrow", "†": r"\dagger", "‡": r"\ddagger", "§": r"\S", "¶": r"\P"}
_MATHS |= {"‖": r"\|", "*": "*"}


def _html(text: str) -> str:
    return (
        text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;").translate(_COMMANDS)
    )


def mean_topic(topics: Collection[str]) -> str | None:
    """The topic of rows over all of these topics: ``all``, or None where one of them is called so.

    >>> mean_topic(["1", "2"]), mean_topic(["1", "all"])
    ('all', None)
    """
    return None if "all" in topics else "all"


def frame_of(library: str, columns: dict[str, list[Any]]) -> Any:
    """A frame of pandas or polars; an error that says so where it is not installed."""
    try:
        if library == "pandas":
            import pandas as frames
        else:
            import polars as frames
        return frames.DataFrame(columns)
    except ImportError:
        raise AmbleError(f"to_{library} needs {library}: pip install {library}") from None


class Table:
    """Columns with names, rows of text and numbers.

    Parameters
    ----------
    columns : sequence of str
    rows : iterable of sequences
    digits : int
        Decimals of numbers that are not whole.
    facts : dict, optional
        Where it came from: written into JSON.
    best : set of (row, column), optional
        Cells in bold, on a terminal, in LaTeX and in HTML.
    caption : str, optional
        What stands above it, for people: in text, as a comment in LaTeX, as a caption in HTML.
    marks : dict of (row, column) to str, optional
        What stands behind a cell, for people: letters or arrows, in text as they are, raised in LaTeX and in HTML.

    Examples
    --------
    >>> from amble.table import Table
    >>> print(Table(["run", "AP"], [["a", 0.25], ["bm25", 0.3333333]]))
    run       AP
    a     0.2500
    bm25  0.3333
    """

    def __init__(
        self,
        columns: Sequence[str],
        rows: Iterable[Sequence[Cell]],
        *,
        digits: int = 4,
        facts: dict[str, Any] | None = None,
        best: set[tuple[int, int]] | None = None,
        caption: str = "",
        marks: dict[tuple[int, int], str] | None = None,
    ) -> None:
        self.columns = tuple(columns)
        self.rows: list[tuple[Cell, ...]] = [tuple(row) for row in rows]
        self.digits = checks.whole(digits, "digits", 0, 17)
        self.facts = facts or {}
        self.best = best or set()
        self.caption = caption
        self.marks = marks or {}

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[tuple[Cell, ...]]:
        return iter(self.rows)

    def __getitem__(self, column: str) -> list[Cell]:
        names = self.columns if column in self.columns else self.names
        if column not in names:
            raise KeyError(f"{column!r}: expected one of {', '.join(names)}")
        at = names.index(column)
        return [row[at] for row in self.rows]

    def show(self, cell: Cell) -> str:
        """One cell as text."""
        if cell is None or (isinstance(cell, float) and math.isnan(cell)):
            return "-"
        if isinstance(cell, float):
            return f"{cell:.{self.digits}f}"
        return str(cell)

    def _shown(self) -> list[list[str]]:
        return [[self.show(cell) for cell in row] for row in self.rows]

    def _numeric(self) -> list[bool]:
        return [
            any(isinstance(row[i], int | float) for row in self.rows)
            and not any(isinstance(row[i], str) for row in self.rows)
            for i in range(len(self.columns))
        ]

    def text(self, *, bold: bool = False) -> str:
        """The table as aligned columns; with ``bold`` the best cells are in bold on a terminal."""
        shown = [[cell.translate(_COMMANDS) for cell in row] for row in self._shown()]
        names, numeric = [name.translate(_COMMANDS) for name in self.columns], self._numeric()
        for i in {i for _, i in self.marks}:  # numbers stay below one another, whatever stands behind them
            width = max(len(mark) for (_, j), mark in self.marks.items() if j == i)
            for r, row in enumerate(shown):
                row[i] += self.marks.get((r, i), "").ljust(width)
        widths = [max([len(name), *(len(row[i]) for row in shown)]) for i, name in enumerate(names)]

        def line(cells: Sequence[str], row: int = -1) -> str:
            out = []
            for i, cell in enumerate(cells):
                padded = cell.rjust(widths[i]) if numeric[i] else cell.ljust(widths[i])
                out.append(f"\033[1m{padded}\033[0m" if bold and (row, i) in self.best else padded)
            return "  ".join(out).rstrip()

        head = [self.caption.translate(_COMMANDS)] if self.caption else []
        return "\n".join([*head, line(names), *(line(cells, r) for r, cells in enumerate(shown))])

    def tsv(self) -> str:
        """The table as tab-separated text, with a header."""
        forms: dict[tuple[type, ...], str] = {}  # rows of the same types are written by the same form
        out = ["\t".join(self.columns)]
        for row in self.rows:
            types = tuple(map(type, row))
            form = forms.get(types)
            if form is None:
                form = "\t".join(f"%.{self.digits}f" if kind is float else "%s" for kind in types)
                form = forms[types] = form if type(None) not in types else ""
            plain = form and all(cell == cell for cell in row)  # no NaN
            shown = (
                form % row
                if plain
                else "\t".join(self.show(cell) if type(cell) is float or cell is None else str(cell) for cell in row)
            )
            out.append(shown)
        return "\n".join(out)

    def csv(self) -> str:
        """The table as comma-separated text, with a header; numbers in full."""
        import csv
        import io

        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows(["" if cell is None else cell for cell in row] for row in self.rows)
        return out.getvalue().rstrip("\n")

    def json(self) -> str:
        """The table as JSON: an object with the facts and the rows; numbers in full."""
        import json

        names = self.names
        rows = [
            {
                name: None if isinstance(cell, float) and not math.isfinite(cell) else cell
                for name, cell in zip(names, row, strict=True)
            }
            for row in self.rows
        ]
        return json.dumps({**self.facts, "rows": rows}, indent=1, ensure_ascii=True)

    def latex(self) -> str:
        """The table as a LaTeX tabular with booktabs rules; the best cells in bold."""
        numeric = self._numeric()
        lines = [f"% {line}" for line in self.caption.splitlines()]
        lines += [
            f"\\begin{{tabular}}{{{''.join('r' if n else 'l' for n in numeric)}}}",
            "\\toprule",
            " & ".join(_latex(name) for name in self.columns) + r" \\",
            "\\midrule",
        ]
        for r, cells in enumerate(self._shown()):
            bold = [f"\\textbf{{{_latex(c)}}}" if (r, i) in self.best else _latex(c) for i, c in enumerate(cells)]
            raised = [_raised(self.marks.get((r, i), "")) for i in range(len(cells))]
            lines.append(" & ".join(map("".join, zip(bold, raised, strict=True))) + r" \\")
        return "\n".join([*lines, "\\bottomrule", "\\end{tabular}"])

    def html(self) -> str:
        """The table as an HTML element."""
        head = "".join(f"<th>{_html(name)}</th>" for name in self.columns)
        body = []
        for r, cells in enumerate(self._shown()):
            tags = ["b" if (r, i) in self.best else "" for i in range(len(cells))]
            filled = [f"<b>{_html(c)}</b>" if t else _html(c) for c, t in zip(cells, tags, strict=True)]
            for i in range(len(cells)):
                mark = self.marks.get((r, i), "")
                filled[i] += f"<sup>{_html(mark)}</sup>" if mark else ""
            body.append("<tr>" + "".join(f"<td>{c}</td>" for c in filled) + "</tr>")
        caption = f"<caption>{_html(self.caption)}</caption>" if self.caption else ""
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"

    _repr_html_ = html
    to_latex = latex

    @property
    def names(self) -> list[str]:
        """The columns' names, each once: where one occurs again, as ``±`` does, behind that of the column before."""
        again = {name for name in self.columns if self.columns.count(name) > 1}
        out: list[str] = []
        for before, name in zip(("", *self.columns), self.columns, strict=False):
            wanted = f"{before} {name}".strip() if name in again else name
            out.append(wanted if wanted not in out else f"{wanted} {len(out) + 1}")
        return out

    def to_dict(self) -> dict[str, list[Cell]]:
        """Columns by their `names`.

        >>> from amble.table import Table
        >>> Table(["run", "AP", "±", "RR", "±"], [["a", 0.25, 0.1, 0.5, 0.2]]).to_dict()
        {'run': ['a'], 'AP': [0.25], 'AP ±': [0.1], 'RR': [0.5], 'RR ±': [0.2]}
        """
        return {name: [row[i] for row in self.rows] for i, name in enumerate(self.names)}

    def to_pandas(self) -> Any:
        """A pandas frame with the columns of `to_dict`; numbers in full."""
        return frame_of("pandas", self.to_dict())

    def to_polars(self) -> Any:
        """A polars frame with the columns of `to_dict`; numbers in full, text where a column has both."""
        columns: dict[str, list[Any]] = {}
        for name, cells in self.to_dict().items():  # polars wants one type in a column
            kinds = {type(cell) for cell in cells if cell is not None}
            one = str if str in kinds and len(kinds) > 1 else float if len(kinds) > 1 else None
            columns[name] = cells if one is None else [cell if cell is None else one(cell) for cell in cells]
        return frame_of("polars", columns)

    def render(self, how: str, *, bold: bool = False) -> str:
        """The table in one of `FORMATS`."""
        checks.one_of(how, FORMATS, "format")
        return self.text(bold=bold) if how == "table" else FORMATS[how](self)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return self.text()


class Tabled:
    """What is shown as its table: printed as text, and in notebooks as HTML, names escaped."""

    def table(self) -> Table:
        """The table."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        return self.table().html()

    def __str__(self) -> str:
        return self.table().text()


FORMATS: dict[str, Callable[[Table], str]] = {
    "table": Table.text,
    "tsv": Table.tsv,
    "csv": Table.csv,
    "json": Table.json,
    "latex": Table.latex,
    "html": Table.html,
}
