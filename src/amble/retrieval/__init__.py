"""Retrieval: index a collection, search it for topics, and explain scores."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from amble.retrieval.documents import read_documents
    from amble.retrieval.explanation import explain
    from amble.retrieval.inverted_index import Index, index, open_index
    from amble.retrieval.scorers import parse_scorer
    from amble.retrieval.search import Hits
    from amble.retrieval.text_analysis import Analyser
    from amble.retrieval.topics import read_rel, read_topics

# each name is imported when it is first used: a reader of topics needs no index;
# the function `search` is in `amble` alone, for here its module has that name
_HOMES = {
    "Analyser": "text_analysis",
    "Hits": "search",
    "Index": "inverted_index",
    "explain": "explanation",
    "index": "inverted_index",
    "open_index": "inverted_index",
    "parse_scorer": "scorers",
    "read_documents": "documents",
    "read_rel": "topics",
    "read_topics": "topics",
}

__all__ = [
    "Analyser", "Hits", "Index", "explain", "index", "open_index", "parse_scorer", "read_documents", "read_rel",
    "read_topics",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'amble.retrieval' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"amble.retrieval.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
