"""Errors and warnings: every error that a user can cause is a ValueError with a message of one line.

>>> import amble
>>> issubclass(amble.ReadError, ValueError)
True
>>> issubclass(amble.UnjudgedWarning, amble.AmbleWarning)
True
"""

from __future__ import annotations

__all__ = [
    "AlignError",
    "AmbleError",
    "AmbleWarning",
    "ClusterLostError",
    "MeasureError",
    "NormalisedWarning",
    "ReadError",
    "SimulationWarning",
    "UnjudgedWarning",
    "in_one_line",
]


def in_one_line(text: str) -> str:
    """A text without its line breaks."""
    return " ".join(line.strip() for line in text.splitlines()) if len(text.splitlines()) > 1 else text


class AmbleError(ValueError):
    r"""Base of all errors of amble; the message says where, what was found and what was expected.

    >>> str(AmbleError("a.toml: found 'x\n y', expected a number"))
    "a.toml: found 'x y', expected a number"
    """

    def __str__(self) -> str:
        return in_one_line(super().__str__())


class ReadError(AmbleError):
    """A file, dictionary or frame that cannot be read: ``file:line: found, expected``."""


class AlignError(AmbleError):
    """Runs and judgments that do not go together, or an unknown way to align them."""


class MeasureError(AmbleError):
    """A measure that cannot be parsed, or that does not define what is to be computed."""


class ClusterLostError(AmbleError):
    """The workers of a job, or their scheduler, were lost before it was done."""


class AmbleWarning(UserWarning):
    """Base of all warnings of amble: results are there, but not as one might expect.

    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", AmbleWarning)
    """


class NormalisedWarning(AmbleWarning):
    """Published parameters do not add up, and were scaled so that they do."""


class SimulationWarning(AmbleWarning):
    """There is no exact distribution, or it would take too long: users were simulated."""


class UnjudgedWarning(AmbleWarning):
    """No document of a run is in the judgments of any topic: it scores 0, and may be of another collection."""
