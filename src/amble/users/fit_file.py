"""Reading and writing the file of fitted users: TOML, versioned and small.

::

    format = "amble fit"
    version = 1
    best = "walk"                     # the name of a model
    smallest = 10                     # cells with fewer observations are nan, their observations "<10"

    [origin]
    files = ["log.tsv.gz"]            # without folders
    layout = "relpred"
    sessions = 8809
    records = 20513
    moves = 3614
    date = "2026-11-16"
    amble = "0.1.0"

    [[model]]
    name = "walk"
    kind = "walk"                     # one of users.fitted.KINDS
    observation = "clicks"
    level = 0.95
    first = "stop"

    [model.p]                         # one number, an array by rank, an array by grade (with grades), or rows
    value = 0.61
    low = 0.60
    high = 0.62
    observations = 12423
    pooled = [1, 2, 2, 4]             # by rank: few sessions at ranks 2 and 3, which were estimated together
    draws = '0.613 0.608'             # all numbers of a draw, then those of the next; a string, as it is read faster

    [model.likelihood]                # on held-out sessions
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import fields
from datetime import date
from typing import Any

import numpy as np

from amble.checks import is_number, is_whole
from amble.errors import AmbleError, ReadError
from amble.io.files import path_name, write_whole
from amble.io.toml import read_toml, toml_numbers, toml_string
from amble.users.estimates import SUPPRESSED, Estimate
from amble.users.fitted import Fitted, FittedModel, Likelihood, Origin

__all__ = ["VERSION", "read_fit", "write_fit"]

FORMAT = "amble fit"
VERSION = 1


# ---- writing


def write_fit(path: str | os.PathLike[str], fitted: Fitted) -> None:
    """Write fitted users to a file, which appears whole or not at all.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from amble.users.fit_file import read_fit, write_fit
    >>> from amble.users.fitted import Estimate, Fitted, FittedModel, Origin
    >>> p = Estimate(0.8, 0.78, 0.82, 1500, draws=[0.79, 0.81])
    >>> origin = Origin(["log.tsv"], "table", sessions=300, records=1800, moves=1500)
    >>> fitted = Fitted(origin, [FittedModel("rbp", "rbp", {"p": p}, "last click")])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_fit(pathlib.Path(folder) / "fit.toml", fitted)
    ...     float(read_fit(pathlib.Path(folder) / "fit.toml").models[0].estimates["p"].value)
    0.8
    """
    if not isinstance(fitted, Fitted):
        raise AmbleError(f"found {type(fitted).__name__}, expected fitted users, as amble.fit makes them")
    write_whole(path, "\n".join(_lines(fitted)) + "\n")


def _lines(fitted: Fitted) -> Iterator[str]:
    yield f"format = {toml_string(FORMAT)}"
    yield f"version = {VERSION}"
    yield f"best = {toml_string(fitted.best)}"
    yield f"smallest = {int(fitted.smallest)}"
    origin = fitted.origin
    yield ""
    yield "[origin]"
    yield f"files = [{', '.join(map(toml_string, origin.files))}]"
    yield f"layout = {toml_string(origin.layout)}"
    for name in ("sessions", "records", "moves"):
        count = int(getattr(origin, name))
        yield f"{name} = {_marker(fitted.smallest) if count == SUPPRESSED else count}"
    if origin.date:
        yield f"date = {toml_string(origin.date)}"
    yield f"amble = {toml_string(origin.amble)}"
    for model in fitted.models:
        yield ""
        yield "[[model]]"
        for name in ("name", "kind", "observation"):
            yield f"{name} = {toml_string(getattr(model, name))}"
        yield f"level = {toml_numbers(model.confidence)}"
        if model.kind in ("walk", "chain"):
            yield f"first = {toml_string(model.first)}"
        if model.note:
            yield f"note = {toml_string(model.note)}"
        for name, estimate in model.estimates.items():
            yield ""
            yield f"[model.{name if name.isidentifier() else toml_string(name)}]"
            yield from _estimate(estimate, fitted.smallest)
        if model.likelihood is not None:
            yield ""
            yield "[model.likelihood]"
            for part in fields(Likelihood):
                yield f"{part.name} = {toml_numbers(getattr(model.likelihood, part.name))}"


def _estimate(estimate: Estimate, smallest: int) -> Iterator[str]:
    if estimate.grades is not None:
        yield f"grades = [{', '.join(map(toml_numbers, estimate.grades))}]"
    for name in ("value", "low", "high"):
        if getattr(estimate, name) is not None:
            yield f"{name} = {toml_numbers(getattr(estimate, name).tolist(), 10)}"
    counts = np.where(estimate.observations == SUPPRESSED, np.nan, estimate.observations).tolist()
    shown = toml_numbers(counts, 17).replace("nan", _marker(smallest))
    yield f"observations = {shown}"
    if estimate.pooled is not None:
        yield f"pooled = {toml_numbers(estimate.pooled.tolist(), 17)}"
    if estimate.concentration is not None:
        yield f"concentration = {toml_numbers(estimate.concentration.tolist(), 6)}"
    if estimate.draws is not None:
        rows = estimate.draws.reshape(len(estimate.draws), -1)
        width = "\n" if rows.shape[1] > 1 else " "
        text = width.join(" ".join(f"{x:.5g}" for x in row) for row in rows.tolist())
        yield f"draws = '''\n{text}'''" if width == "\n" else f"draws = '{text}'"


def _marker(smallest: int) -> str:
    """Placeholder for a suppressed count, e.g. `<10`."""
    return toml_string(f"<{int(smallest)}")


# ---- reading


def read_fit(path: str | os.PathLike[str]) -> Fitted:
    """The fitted users of a file.

    Raises
    ------
    ReadError
        In one line: the file, the key, what was found and what was expected.

    Examples
    --------
    >>> import amble, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "fit.toml"
    ...     _ = path.write_text("version = 1")
    ...     try:
    ...         amble.read_fit(path)
    ...     except amble.ReadError as error:
    ...         print(str(error).replace(folder, "")[1:])
    fit.toml: format: found None, expected 'amble fit', as `amble fit` writes it
    """
    name = path_name(path)
    table = read_toml(name)
    try:
        return _fitted(table, name)
    except AmbleError as error:
        raise ReadError(f"{name}: {error}") from None


def _fitted(table: dict[str, Any], path: str) -> Fitted:
    if table.get("format") != FORMAT:
        raise AmbleError(f"format: found {table.get('format')!r:.60}, expected {FORMAT!r}, as `amble fit` writes it")
    version = table.get("version")
    if type(version) is not int or version != VERSION:
        raise AmbleError(f"version: found {version!r:.60}, expected {VERSION}: another amble wrote it, fit it again")
    _known(table, ("format", "version", "best", "smallest", "origin", "model"), "")
    origin = _take(table, "origin", dict, "")
    files = _take(origin, "files", list, "origin.")
    if not all(isinstance(file, str) for file in files):
        raise AmbleError("origin.files: expected an array of names")
    when = _take(origin, "date", str, "origin.", "")
    try:
        if when:
            date.fromisoformat(when)
    except ValueError:
        raise AmbleError(f"origin.date: found {when!r:.60}, expected a date as 2026-11-16") from None
    _known(origin, [part.name for part in fields(Origin)], "origin.")
    models = _take(table, "model", list, "")
    if not all(isinstance(model, dict) for model in models):
        raise AmbleError("model: expected tables, each headed [[model]]")
    smallest = _count(table, "smallest", "")
    counts = {key: _count(origin, key, "origin.") for key in ("sessions", "records")}
    few = origin.get("moves") == f"<{smallest}"
    counts["moves"] = SUPPRESSED if few else _count(origin, "moves", "origin.")
    layout, amble = (_take(origin, key, str, "origin.") for key in ("layout", "amble"))
    return Fitted(
        Origin(files, layout, **counts, date=when, amble=amble),
        [_model(model, smallest) for model in models],
        best=_take(table, "best", str, ""),
        smallest=smallest,
        path=path,
    )


def _model(table: dict[str, Any], smallest: int) -> FittedModel:
    name = _take(table, "name", str, "model: ")
    where = f"model {name!r:.60}, "
    own = ("name", "kind", "observation", "level", "first", "note", "likelihood")
    estimates = {
        key: _estimate_of(_take(table, key, dict, where), f"{where}{key}.", smallest) for key in table if key not in own
    }
    held_out = _take(table, "likelihood", dict, where, {})
    likelihood = None
    if held_out:
        inside = f"{where}likelihood."
        _known(held_out, [part.name for part in fields(Likelihood)], inside)
        read: dict[str, Any] = {part.name: _count if part.type == "int" else _real for part in fields(Likelihood)}
        likelihood = Likelihood(**{name: of(held_out, name, inside) for name, of in read.items()})
    return FittedModel(
        name,
        _take(table, "kind", str, where),
        estimates,
        _take(table, "observation", str, where),
        confidence=_real(table, "level", where),
        first=_take(table, "first", str, where, "stop"),
        likelihood=likelihood,
        note=_take(table, "note", str, where, ""),
    )


def _estimate_of(table: dict[str, Any], where: str, smallest: int) -> Estimate:
    _known(table, [part.name for part in fields(Estimate)], where)
    seen = table.get("observations")
    rows = seen if isinstance(seen, list) else [seen]
    counts = [n for row in rows for n in (row if isinstance(row, list) else [row])]
    marker = f"<{smallest}"
    for n in counts:
        if n != marker and (not is_whole(n) or n < 0):
            raise AmbleError(f"{where}observations: found {n!r:.60}, expected whole numbers, or {marker!r}")
    plain = [SUPPRESSED if n == marker else n for n in counts]
    grades = _numbers(table, "grades", where)
    if grades is not None and (grades.ndim != 1 or not np.isfinite(grades).all()):
        raise AmbleError(f"{where}grades: found {table['grades']!r:.60}, expected an array of numbers")
    value = _numbers(table, "value", where)
    try:
        return Estimate(
            value,
            _numbers(table, "low", where),
            _numbers(table, "high", where),
            np.array(plain, np.int64).reshape(_shape(seen, where)),
            draws=_draws(table, value.shape, where),
            grades=None if grades is None else tuple(grades.tolist()),
            concentration=_numbers(table, "concentration", where),
            pooled=_numbers(table, "pooled", where),
        )
    except OverflowError:
        raise AmbleError(f"{where}observations: found a number that is too large") from None


def _shape(seen: Any, where: str) -> tuple[int, ...]:
    """The shape of counts: of one, of an array, or of rows."""
    if not isinstance(seen, list):
        return ()
    widths = {len(row) if isinstance(row, list) else -1 for row in seen}
    if len(widths) > 1:
        raise AmbleError(f"{where}observations: found {seen!r:.60}, expected rows of one length")
    return (len(seen), *(n for n in widths if n >= 0))


def _draws(table: dict[str, Any], shape: tuple[int, ...], where: str) -> Any:
    """Numbers in a string, as many as a draw has, for each draw."""
    if "draws" not in table:
        return None
    text = _take(table, "draws", str, where)
    try:
        numbers = np.array(text.split(), np.float64)
    except ValueError:
        numbers = np.zeros(0)
    each = math.prod(shape)
    if "_" in text or not numbers.size or not each or numbers.size % each:
        raise AmbleError(f"{where}draws: found {text!r:.60}, expected numbers with blanks between them, {each} a draw")
    return numbers.reshape(-1, *shape)


_NEEDED = object()
_WORDS: dict[type, str] = {str: "a string", dict: "a table", list: "an array"}


def _take(table: dict[str, Any], key: str, kind: type, where: str, default: Any = _NEEDED) -> Any:
    if key not in table:
        if default is not _NEEDED:
            return default
        raise AmbleError(f"{where}{key} is missing, expected {_WORDS[kind]}")
    if not isinstance(table[key], kind):
        raise AmbleError(f"{where}{key}: found {table[key]!r:.60}, expected {_WORDS[kind]}")
    return table[key]


def _known(table: dict[str, Any], keys: Any, where: str) -> None:
    for key in table:
        if key not in keys:
            raise AmbleError(f"{where}{key}: not a key of a fit, expected one of {', '.join(keys)}")


def _count(table: dict[str, Any], key: str, where: str) -> int:
    found = table.get(key)
    if not is_whole(found) or not 0 <= found < 1 << 60:
        raise AmbleError(f"{where}{key}: found {found!r:.60}, expected a whole number of at least 0")
    return found


def _real(table: dict[str, Any], key: str, where: str) -> float:
    found = table.get(key)
    if not is_number(found) or not abs(found) < 1e300:
        raise AmbleError(f"{where}{key}: found {found!r:.60}, expected a number")
    return float(found)


def _numbers(table: dict[str, Any], key: str, where: str) -> Any:
    """A number, or arrays of numbers, all of one shape."""
    found = table.get(key)
    if found is None:
        if key == "value":
            raise AmbleError(f"{where}value is missing, expected numbers")
        return None
    try:
        if not _is_numeric(found):
            raise ValueError
        return np.array(found, np.float64)
    except (ValueError, OverflowError, RecursionError):
        raise AmbleError(f"{where}{key}: found {found!r:.60}, expected numbers, or rows of one length") from None


def _is_numeric(found: Any) -> bool:
    if isinstance(found, list):
        return all(map(_is_numeric, found))
    return is_number(found)
