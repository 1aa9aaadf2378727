"""A p-value as a table shows it."""

from __future__ import annotations

__all__ = ["Chance"]


class Chance(float):
    """A number that is never shown as 0 unless it is.

    >>> f"{Chance(0.00001):.4f}", f"{Chance(0.25):.4f}", f"{Chance(0):.4f}"
    ('<0.0001', '0.2500', '0.0000')
    """

    def __format__(self, form: str) -> str:
        shown = super().__format__(form)
        if self > 0 and form[:1] == "." and form[-1:] == "f" and float(shown) == 0:
            digits = int(form[1:-1])
            return f"<{10.0**-digits:.{digits}f}"
        return shown
