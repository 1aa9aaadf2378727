"""Search sessions, several queries in a row: in memory, and read from files."""

from __future__ import annotations

from amble.sessions.scanning import read_sessions
from amble.sessions.sessions import Facets, SessionAudit, Sessions

__all__ = ["Facets", "SessionAudit", "Sessions", "read_sessions"]
