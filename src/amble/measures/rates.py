"""How soon a wanderer leaves a rank: rates in a string or in a file, by rank."""

from __future__ import annotations

import os
from typing import Any

from amble.errors import MeasureError, ReadError
from amble.expressions.domains import Domain
from amble.io.tables import read_number, read_rows
from amble.measures.fitted_parameters import is_fit, read_model

__all__ = ["Rates", "read_rates"]


class Rates(Domain):
    """A rate for each rank: ``'0.2,0.04,0.01'``, or the name of a file with a number a line."""

    smooth = False
    text = (
        "numbers above 0, by rank, with commas between them (the last holds further down), or the name of a file with "
        "one a line, or of a file of `amble fit`"
    )

    def check(self, value: Any) -> str:
        """Return the string; a file is read, to see whether it can be."""
        if not isinstance(value, str) or not value:
            raise ValueError
        try:
            self.read(value)
        except ReadError as error:
            raise MeasureError(str(error)) from None
        return value

    def read(self, text: str) -> list[float]:
        """Return the rates."""
        if is_fit(text):
            return read_model(text, "times").estimates["mu"].known.ravel().tolist()
        try:
            rates = [read_number(word.strip(), "rate") for word in text.split(",")]
        except ValueError as error:
            if ("," in text or text[0] in "+-.0123456789") and not os.path.exists(text):
                raise MeasureError(f"rates={text!r:.60}: {error}, and there is no such file") from None
            return read_rates(text)
        if min(rates) <= 0:
            raise ValueError
        return rates


def read_rates(path: str) -> list[float]:
    """Read a file of rates, a number a line, by rank."""
    out: list[float] = []
    for where, _, (rate,) in read_rows(path, (), ("rate",)):
        if rate <= 0:
            raise ReadError(f"{where}: rate {rate:g} is not above 0")
        out.append(rate)
    return out
