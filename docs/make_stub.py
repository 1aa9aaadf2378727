"""Make the type stubs of amble and of its measures, from the table of public names and the declarations.

    python docs/make_stub.py    writes src/amble/__init__.pyi and src/amble/measures/__init__.pyi

Names are looked up when they are first used, which editors and type checkers cannot follow; the stubs tell them where
each is defined, and the parameters of every measure. The tests compare them with the table and the declarations.
"""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import amble
from amble.measures import REGISTRY
from amble.measures.arguments import first_parameter
from amble.measures.declaration import Declaration

SOURCE = Path(__file__).parent.parent / "src" / "amble"

MADE = "# made by docs/make_stub.py from the table of public names in __init__.py: change that, not this file"
MADE_MEASURES = "# made by docs/make_stub.py from __init__.py and the declarations: change those, not this file"


def stubs() -> dict[Path, str]:
    """The text of each stub, by its file."""
    return {SOURCE / "__init__.pyi": stub(), SOURCE / "measures" / "__init__.pyi": measures_stub()}


def stub() -> str:
    """The stub of amble: an import of every public name, from the module in which it is."""
    imports = [f"from amble import {module} as {module}" for module in sorted(amble._MODULES)]
    homes: dict[str, list[str]] = {}
    for name, home in amble._HOMES.items():
        homes.setdefault(home, []).append(name)
    for home in sorted(homes):
        imports += [f"from amble.{home} import {name} as {name}" for name in sorted(homes[home], key=_ruff)]
    names = [f'    "{name}",' for name in sorted(amble.__all__, key=_ruff)]
    return "\n".join([MADE, "", *imports, "", "__version__: str", "", "__all__ = [", *names, "]", ""])


def measures_stub() -> str:
    """The stub of the measures: what their package imports, and each measure with its parameters."""
    tree = ast.parse((SOURCE / "measures" / "__init__.py").read_text(encoding="utf-8"))
    homes = {
        alias.name: str(node.module)
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("amble")
        for alias in node.names
    }
    homes |= {name: f"amble.measures.{home}" for name, home in amble.measures._MEASURES.items()}
    homes |= {name: f"amble.users.{home}" for name, home in amble.measures._USERS.items()}
    ordered = sorted(homes, key=lambda name: (homes[name], _ruff(name)))
    imports = [f"from {homes[name]} import {name} as {name}" for name in ordered]
    measures = [line for d in REGISTRY.values() if d.family != "yours" for line in _measure(d)]
    head = [MADE_MEASURES, "# fmt: off", "# ruff: noqa: E501, N801, N816", ""]
    types = ["from collections.abc import Callable, Mapping, Sequence", "from typing import Any, Literal, Self", ""]
    return "\n".join([*head, *types, *imports, "", *measures, ""])


def _measure(d: Declaration) -> list[str]:
    """The class of a measure, with its parameters, and the measure."""
    kind = "SessionMeasure" if d.of_sessions else "ListMeasure"
    first = first_parameter(d)
    keys = sorted(d.parameters, key=lambda key: key != first)
    shown = [f"{key}: {_type(d, key)} = {_default(d.parameters[key].default)}" for key in keys]
    if first is None:
        shown = ["*", *shown] if shown else []
    elif len(shown) > 1:
        shown.insert(1, "*")
    call = f"    def __call__({', '.join(['self', *shown])}) -> Self: ..."
    return [f"class _{d.name}({kind}):", call, f"{d.name}: _{d.name}"]


def _type(d: Declaration, key: str) -> str:
    domain = d.parameters[key].domain
    text = domain.accepts.replace("'", '"')
    own = "str" not in text and not d.of_sessions and key not in {p.name for p in d.gain.parameters}
    also = [
        name for name, so in (("Population", domain.smooth), ("Mapping[str, float]", domain.by_topic and own)) if so
    ]
    return text.replace("float", " | ".join(["float", *also]), 1) if text.startswith("float") else text


def _default(value: Any) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return repr(value) if isinstance(value, int | float | None) else "..."


def _ruff(name: str) -> tuple[int, str]:
    """Constants, classes, the rest: the order in which ruff wants names."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2), name


if __name__ == "__main__":
    for path, text in stubs().items():
        path.write_text(text, encoding="utf-8")
