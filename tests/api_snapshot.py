"""The public names of amble and of its public modules with their signatures, kept in public_api.txt.

    python tests/api_snapshot.py write    writes it anew

A change of the public interface shows as a difference of that file.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, ForwardRef, get_overloads

import amble

FILE = Path(__file__).parent / "public_api.txt"


def snapshot() -> str:
    """The text of public_api.txt."""
    lines = [line for name in amble.__all__ if name != "__version__" for line in entry("amble", name)]
    for module in sorted(vars(amble)["_MODULES"]):
        found = importlib.import_module(f"amble.{module}")
        lines += ["", f"amble.{module}"]
        for name in sorted(found.__all__):
            if getattr(amble, name, None) is getattr(found, name):
                lines.append(f"amble.{module}.{name} is amble.{name}")
            else:
                lines += entry(f"amble.{module}", name)
    return "\n".join(lines) + "\n"


def entry(module: str, name: str) -> Iterator[str]:
    """A public name with its signature; its overloads follow, or a class's public methods, properties, attributes."""
    value = getattr(importlib.import_module(module), name)
    if not inspect.isclass(value):
        yield f"{module}.{name}{_signature(value) if callable(value) else f': {_kind(value)}'}"
        yield from (f"    {name}{_signature(form)}" for form in (get_overloads(value) if callable(value) else ()))
        return
    yield f"class {module}.{name}{_constructor(value)}"
    members: dict[str, Any] = {}
    for base in reversed(value.__mro__):
        if base.__module__.startswith("amble."):
            members |= vars(base)
    lines = dict.fromkeys(attributes(value), " [attribute]")
    lines |= {name: line for name in members if not name.startswith("_") and (line := _member(members[name]))}
    for member in sorted(lines):
        yield f"    {member}{lines[member]}"


def attributes(value: type) -> set[str]:
    """The public attributes of a class's objects: those its docstring describes, its fields, and those it assigns."""
    found: set[str] = set()
    for base in value.__mro__:
        if not base.__module__.startswith("amble."):
            continue
        described = re.search(r"^Attributes\n-+\n(.*?)(?=\n\n|\Z)", inspect.cleandoc(base.__doc__ or ""), re.M | re.S)
        for names in re.findall(r"^(\w[\w, ]*?) *(?::.*)?$", described[1], re.M) if described else ():
            found |= set(names.split(", "))
        for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(base)))):
            if isinstance(node, ast.ClassDef) and node.name == base.__name__:
                found |= {
                    x.target.id for x in node.body if isinstance(x, ast.AnnAssign) and isinstance(x.target, ast.Name)
                }
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                found |= {node.attr} if isinstance(node.value, ast.Name) and node.value.id == "self" else set()
    return {name for name in found if not name.startswith("_")}


def _member(value: Any) -> str:
    """The signature of a method, or the type of a property; nothing for what is of each object."""
    if isinstance(value, staticmethod | classmethod):
        return f"{_signature(value.__func__)} [{type(value).__name__}]"
    if isinstance(value, property):
        return f": {_annotation(inspect.signature(value.fget).return_annotation)}" if value.fget else ""
    if hasattr(value, "func") and not callable(value):  # functools.cached_property
        return f": {_annotation(inspect.signature(value.func).return_annotation)}"
    return _signature(value) if inspect.isfunction(value) else ""


def _constructor(value: type) -> str:
    if issubclass(value, BaseException):
        return f"({', '.join(base.__name__ for base in value.__bases__)})"
    return _signature(value, returns=False)


def _signature(value: Any, *, returns: bool = True) -> str:
    """As `inspect` has it, without quotes around annotations, on every version of Python."""
    signature = inspect.signature(value)
    words: list[str] = []
    kinds = [p.kind for p in signature.parameters.values()]
    for i, p in enumerate(signature.parameters.values()):
        star = "*" if p.kind is p.VAR_POSITIONAL else "**" if p.kind is p.VAR_KEYWORD else ""
        if p.kind is p.KEYWORD_ONLY and not {p.KEYWORD_ONLY, p.VAR_POSITIONAL} & set(kinds[:i]):
            words.append("*")
        annotation = "" if p.annotation is p.empty else f": {_annotation(p.annotation)}"
        default = "" if p.default is p.empty else f" = {_default(p.default)}"
        words.append(f"{star}{p.name}{annotation}{default}")
        if p.kind is p.POSITIONAL_ONLY and p.POSITIONAL_ONLY not in kinds[i + 1 :]:
            words.append("/")
    arrow = signature.return_annotation if returns else signature.empty
    return f"({', '.join(words)})" + ("" if arrow is signature.empty else f" -> {_annotation(arrow)}")


def _annotation(annotation: Any) -> str:
    if isinstance(annotation, str):
        return annotation
    if isinstance(annotation, ForwardRef):
        return annotation.__forward_arg__
    return "?" if annotation is inspect.Signature.empty else inspect.formatannotation(annotation)


def _default(value: Any) -> str:
    if callable(value) and hasattr(value, "__name__"):
        return str(value.__name__)
    if value is ...:
        return "..."
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))


def _kind(value: Any) -> str:
    return "module" if isinstance(value, ModuleType) else type(value).__name__


if __name__ == "__main__":
    if sys.argv[1:] != ["write"]:
        sys.exit("expected: write")
    FILE.write_text(snapshot(), encoding="utf-8")
