"""Parameters of measures that come from a file of `amble fit`, and their uncertainty.

A measure with such a parameter, ``RBP(user='fit.toml')``, is the same measure with the numbers of the file. The file
also has draws: the numbers on resampled sessions. `resampled` returns the measure with those instead.
"""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from amble.errors import AmbleError, MeasureError
from amble.expressions.domains import Domain, Optional, checked
from amble.measures.declaration import Variant
from amble.measures.measure import Measure

if TYPE_CHECKING:
    from amble.users.estimates import Estimate
    from amble.users.fitted import Fitted, FittedModel

__all__ = [
    "Draw",
    "FittedTransitions",
    "FittedUser",
    "by_rank",
    "describe_fit",
    "fit_files",
    "fitted_variant",
    "is_fit",
    "read_model",
    "refuse_beside",
    "resampled",
]

Array = NDArray[np.float64]


class Draw(NamedTuple):
    """A model with its parameters on the b-th sample of sessions."""

    model: FittedModel
    b: int


class FittedUser(Domain):
    """A file of fitted users, ``'fit.toml'``; with a model's name if it holds several, ``'fit.toml#walk-rank'``."""

    smooth = False

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.text = f"the name of a file of `amble fit` with a {kind} model, as 'fit.toml' or 'fit.toml#name'"

    def check(self, value: Any) -> str:
        """The name, once the file has been read without error."""
        if not isinstance(value, str) or not value:
            raise ValueError
        self.model(value)
        return value

    def model(self, value: str | Draw) -> FittedModel:
        """The model of a file or of a draw."""
        return value.model if isinstance(value, Draw) else read_model(value, self.kind)

    def read(self, value: str | Draw) -> dict[str, Array]:
        """The parameters of the model, by name."""
        out = {}
        for name, estimate in self.model(value).estimates.items():
            if isinstance(value, Draw):
                out[name] = estimate.drawn_distribution(value.b) if name == "start" else estimate.draw(value.b)
            else:
                out[name] = estimate.distribution if name == "start" else estimate.known
        return out


def _path_and_name(name: str) -> tuple[str, str]:
    """The file and the model's name, which may be empty."""
    path, _, chosen = (name, "", "") if "#" not in name or os.path.exists(name) else name.rpartition("#")
    return path, chosen


def read_model(name: str, kind: str) -> FittedModel:
    """The model of a kind in a file; after a ``#``, its name."""
    path, chosen = _path_and_name(name)
    try:
        return _read(path, _state(path)).pick([kind], chosen)
    except AmbleError as error:
        raise MeasureError(str(error)) from None


def _state(path: str) -> tuple[int, int]:
    """Time and size of a file, to see whether it has changed."""
    with contextlib.suppress(OSError, ValueError):
        found = os.stat(path)
        return found.st_mtime_ns, found.st_size
    return 0, 0


@functools.lru_cache(maxsize=16)
def _read(path: str, state: tuple[int, int]) -> Fitted:
    from amble.users.fit_file import read_fit  # for fitted users only

    return read_fit(path)


def is_fit(value: Any) -> bool:
    """Whether a parameter that may be several things is the name of a file of fitted users."""
    if isinstance(value, Draw):
        return True
    return isinstance(value, str) and (value.endswith(".toml") or ".toml#" in value)


def refuse_beside(given: frozenset[str], names: Sequence[str]) -> None:
    """Raise an error if parameters are given that the file of a fitted user has."""
    for name in names:
        if name in given:
            raise MeasureError(f"user and {name}: expected one of them, the file of a fitted user has {name}")


def fitted_variant(kind: str, name: str) -> Callable[..., Any]:
    """The variant function of a measure one of whose parameters comes from a file if ``user`` is given."""

    def variant(d: Any, values: dict[str, Any], cut: int | None, given: frozenset[str]) -> Variant:
        if values["user"] is None:
            return d, values, cut
        refuse_beside(given, [name])
        found = float(FittedUser(kind).read(values["user"])[name])
        return d, values | {"user": None, name: checked(d.name, name, d.parameters[name].domain, found)}, cut

    return variant


def by_rank(numbers: Array) -> str:
    """Numbers as the text of a parameter, with commas between them."""
    return ",".join(map(repr, np.atleast_1d(numbers).tolist()))


class FittedTransitions:
    """A fitted transition matrix; on a shorter list, its rows are restricted to that list and normalised."""

    def __init__(self, matrix: Array) -> None:
        self.matrix = matrix

    def __call__(self, rank: Array) -> Array:
        """The transition matrix of the first ranks."""
        m = self.matrix[: rank.size, : rank.size]
        total = m.sum(axis=1, keepdims=True)
        return np.asarray(np.divide(m, total, out=np.full(m.shape, 1.0 / rank.size), where=total > 0))


# ---- uncertainty


def _sources(measure: Measure) -> dict[str, tuple[str, str]]:
    """The file and the kind of model that each parameter comes from."""
    written = measure.written
    if written is None:
        return {}
    out: dict[str, tuple[str, str]] = {}
    for name, parameter in written.declaration.parameters.items():
        value = written.values[name]
        domain = parameter.domain.domain if isinstance(parameter.domain, Optional) else parameter.domain
        if isinstance(domain, FittedUser) and value is not None:
            out[name] = value, domain.kind
        elif name == "rates" and is_fit(value):
            out[name] = value, "times"
    return out


def fit_files(measure: Measure) -> list[str]:
    """The files that a measure's parameters come from."""
    return list(dict.fromkeys(_path_and_name(name)[0] for name, _ in _sources(measure).values()))


def describe_fit(measure: Measure) -> str:
    """Description of a measure's fitted user: file, model, sessions, parameters; empty if it has none."""
    out = []
    for name, kind in dict.fromkeys(_sources(measure).values()):
        path, chosen = _path_and_name(name)
        fitted = _read(path, _state(path))
        model = fitted.pick([kind], chosen)
        shown = [f"{key} {_shown(estimate)}" for key, estimate in model.estimates.items()]
        files = ", ".join(fitted.origin.files) or "a log"
        out.append(
            f"{path}: {model.name}, fitted to {fitted.origin.sessions:,} sessions of {files}: {', '.join(shown)}."
        )
    return " ".join(out)


def _shown(estimate: Estimate) -> str:
    if estimate.form == "one" and estimate.low is not None and estimate.high is not None:
        return f"{float(estimate.value):.4g} ({float(estimate.low):.4g} to {float(estimate.high):.4g})"
    if estimate.form == "matrix":
        return f"from rank to rank, {len(estimate.value)} ranks"
    return f"by {estimate.form}, {' '.join(f'{x:.3g}' for x in estimate.known.tolist())}"


def resampled(measure: Measure, draws: int) -> list[Measure]:
    """The measure with its parameters on each of the first ``draws`` samples of sessions that the file has.

    Examples
    --------
    >>> import tempfile
    >>> import amble
    >>> from amble.measures.fitted_parameters import resampled
    >>> from amble.users.fit_file import write_fit
    >>> from amble.users.fitted import Estimate, Fitted, FittedModel, Origin
    >>> p = Estimate(0.8, 0.78, 0.82, 1500, draws=[0.5, 0.9])
    >>> model = FittedModel("rbp", "rbp", {"p": p}, "last click")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_fit(f"{folder}/fit.toml", Fitted(Origin(["log"], "table", 300, 1800, 1500), [model]))
    ...     rbp = amble.parse(f"RBP(user='{folder}/fit.toml')")
    ...     many = resampled(rbp, 100)
    >>> round(rbp.value([1, 0, 1]), 4), [round(m.value([1, 0, 1]), 4) for m in many]
    (0.328, [0.625, 0.181])
    """
    sources = {key: read_model(name, kind) for key, (name, kind) in _sources(measure).items()}
    if measure.written is None or not sources:
        raise MeasureError(f"{measure}: expected a fitted user, as in RBP(user='fit.toml')")
    counts = [draws] + [model.draws for model in sources.values() if model.draws is not None]
    if not min(counts):
        raise MeasureError(f"{measure}: the file has no draws of its parameters; fit it again, with draws")
    written = measure.written
    return [
        type(measure)(
            written.declaration,
            written.values | {key: Draw(m, b) for key, m in sources.items()},
            written.cut,
            given=written.given,
        ).resolve_variant()
        for b in range(min(counts))
    ]
