"""Search sessions, several queries in a row: in memory, and read from files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from amble.sessions.sessions import Facets, SessionAudit, Sessions

if TYPE_CHECKING:
    from amble.sessions.scanning import read_sessions as read_sessions

__all__ = ["Facets", "SessionAudit", "Sessions", "read_sessions"]


def __getattr__(name: str) -> Any:
    if name == "read_sessions":  # measures do without the layouts of files
        from amble.sessions.scanning import read_sessions

        return read_sessions
    raise AttributeError(f"module 'amble.sessions' has no attribute {name!r}")
