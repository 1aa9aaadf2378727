"""The papers behind the measures, as BibTeX, by the key that a declaration cites."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

__all__ = ["bibliography", "read_references"]


@lru_cache(maxsize=1)
def read_references() -> dict[str, str]:
    """The BibTeX entry of every key, from ``references.bib``.

    >>> print(read_references()["vanrijsbergen1979"].splitlines()[0])
    @book{vanrijsbergen1979,
    """
    from importlib.resources import files

    entries = files("amble").joinpath("references.bib").read_text(encoding="utf-8").strip().split("\n\n")
    return {entry[entry.index("{") + 1 : entry.index(",")]: entry for entry in entries}


def bibliography(keys: Iterable[str]) -> str:
    """The BibTeX entries of some keys, sorted, each once; keys without an entry are passed over."""
    entries = read_references()
    return "\n\n".join(entries[key] for key in sorted(set(keys)) if key in entries)
