"""Sessions, several queries in a row: held in memory, and read from files."""

from __future__ import annotations

from amble.sessions.held import Facets, SessionAudit, Sessions
from amble.sessions.reading import read_sessions

__all__ = ["Facets", "SessionAudit", "Sessions", "read_sessions"]
