"""What can go wrong, by name: every error that a user can cause is a ValueError with one clear line.

>>> import amble
>>> issubclass(amble.ReadError, ValueError)
True
"""

from __future__ import annotations

__all__ = [
    "AlignError",
    "AmbleError",
    "MeasureError",
    "NormalisedWarning",
    "ReadError",
    "SimulationWarning",
    "UnjudgedWarning",
]


class AmbleError(ValueError):
    """Anything amble refuses to do; the message says where, what was found and what was expected."""


class ReadError(AmbleError):
    """A file, dictionary or frame that cannot be read: ``file:line: found, expected``."""


class AlignError(AmbleError):
    """Runs and judgments that do not go together, or an unknown way to align them."""


class MeasureError(AmbleError):
    """A measure that cannot be parsed, or that cannot answer what it was asked."""


class NormalisedWarning(UserWarning):
    """Published parameters do not add up, and were scaled so that they do."""


class SimulationWarning(UserWarning):
    """An exact distribution was asked for, and there is none, or it would take too long: users were simulated."""


class UnjudgedWarning(UserWarning):
    """No document of a run is in the judgments of any topic: it scores 0, and may be of another collection."""
