"""Make the type stub of amble, from its table of public names.

    python docs/make_stub.py    writes src/amble/__init__.pyi

Names are imported when they are first used, which editors and type checkers cannot follow; the stub tells them where
each is defined. The tests compare it with the table.
"""

from __future__ import annotations

from pathlib import Path

import amble

STUB = Path(__file__).parent.parent / "src" / "amble" / "__init__.pyi"

MADE = "# made by docs/make_stub.py from the table of public names in __init__.py: change that, not this file"


def stub() -> str:
    """The text of the stub: an import of every public name, from the module in which it is."""
    imports = [f"from amble import {module} as {module}" for module in sorted(amble._MODULES)]
    homes: dict[str, list[str]] = {}
    for name, home in amble._HOMES.items():
        homes.setdefault(home, []).append(name)
    for home in sorted(homes):
        imports += [f"from amble.{home} import {name} as {name}" for name in sorted(homes[home], key=_ruff)]
    names = [f'    "{name}",' for name in sorted(amble.__all__, key=_ruff)]
    return "\n".join([MADE, "", *imports, "", "__version__: str", "", "__all__ = [", *names, "]", ""])


def _ruff(name: str) -> tuple[int, str]:
    """Constants, classes, the rest: the order in which ruff wants names."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2), name


if __name__ == "__main__":
    STUB.write_text(stub(), encoding="utf-8")
