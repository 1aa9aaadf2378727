"""Pages of session files (JSON): the grades shown for each query, and the last rank reached, as a source of a log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from amble.checks import is_number, is_whole
from amble.errors import ReadError
from amble.logs.engine import Engine
from amble.logs.sources import Source, table_of
from amble.sessions.session_layouts import content, is_json, json_objects

__all__ = ["pages_of"]

_LAST = ("last", "max_stop_rank")
_GRADES = ("grades", "rel_list")


def pages_of(engine: Engine, paths: Sequence[str]) -> Source:
    """Files as tables with a row for each page; of sessions with their queries, each query is one."""
    if not all(is_json(path) for path in paths):
        return table_of(engine, paths)
    rows = [f"{i}:{row}" for i, path in enumerate(paths) for row in _pages(path)]
    if not rows:  # JSON with a row for each page
        return table_of(engine, paths)
    own = engine.folder / "pages.tsv"
    own.write_text("\n".join(["session\tquery\tlast\tgrades", *rows]) + "\n", encoding="utf-8")
    return replace(table_of(engine, [str(own)]), paths=tuple(paths))


def _pages(path: str) -> list[str]:
    """The pages of a file of sessions, as rows; none if it has no sessions with queries."""
    out = []
    for number, (where, found) in enumerate(json_objects(path, content(path)), 1):
        queries = found.get("queries") if isinstance(found, dict) else None
        if queries is None and number == 1:
            return []
        if not isinstance(queries, list):
            raise ReadError(f"{where}: queries is {str(queries)[:40]}, expected a list")
        for j, query in enumerate(queries, 1):
            at = f"{where}: query {j}"
            if not isinstance(query, dict):
                raise ReadError(f"{at}: found {str(query)[:40]}, expected an object with last and grades")
            last, grades = (_first(query, names) for names in (_LAST, _GRADES))
            if not is_whole(last) or last < 0:
                raise ReadError(f"{at}: last is {str(last)[:40]}, expected the last rank that was reached")
            if not isinstance(grades, list) or not all(x is None or is_number(x) for x in grades):
                raise ReadError(f"{at}: grades are {str(grades)[:40]}, expected a list of numbers, null where unjudged")
            shown = " ".join("-" if x is None else repr(float(x)) for x in grades)
            out.append(f"{number}\t{j}\t{last}\t{shown}")  # its number stands for the session
    return out


def _first(query: dict[str, Any], names: tuple[str, ...]) -> Any:
    return next((query[name] for name in names if name in query), None)
