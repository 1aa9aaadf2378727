"""Parameters of measures that come from a file of `amble fit`, and their uncertainty.

A measure with such a parameter, ``RBP(user='fit.toml')``, is the same measure with the numbers of the file. The file
also has draws: the numbers on resampled sessions. `resampled` returns the measure with those instead.
"""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from amble.arrays import NDArray
from amble.errors import AmbleError, MeasureError
from amble.expressions.domains import Domain, checked
from amble.expressions.values import ByRank, Value, digest
from amble.measures.declaration import Variant
from amble.measures.measure import Measure

if TYPE_CHECKING:
    from amble.users.estimates import Estimate
    from amble.users.fitted import Fitted, FittedModel

__all__ = [
    "FittedOrChain",
    "FittedParameters",
    "FittedTransitions",
    "FittedUser",
    "describe_fit",
    "fit_files",
    "fitted_variant",
    "is_fit",
    "refuse_beside",
    "resampled",
]

Array = NDArray[np.float64]


class FittedParameters(Value):
    """The parameters of a fitted user, or those of one of the resamples behind its confidence intervals."""

    fitted: Fitted
    model: FittedModel
    source: str  # as written, 'fit.toml#walk'; empty where it was given in Python
    draw: int | None

    def __init__(self, fitted: Fitted, model: FittedModel, source: str = "", draw: int | None = None) -> None:
        vars(self).update(fitted=fitted, model=model, source=source, draw=draw)

    def content(self) -> tuple[Any, ...]:
        """The fit, its model, where it was read, and the number of the resample."""
        return self.fitted, self.model, self.source, self.draw

    def __getitem__(self, name: str) -> Array:
        estimate = self.model.estimates[name]
        if self.draw is not None:
            return estimate.drawn_distribution(self.draw) if name == "start" else estimate.draw(self.draw)
        return estimate.distribution if name == "start" else estimate.known

    def by_rank(self, name: str) -> ByRank:
        """A parameter that is one number, or one for each rank."""
        return ByRank(np.atleast_1d(self[name]))

    @property
    def unquoted(self) -> bool:
        """Whether no expression can spell it."""
        return not self.source or self.draw is not None

    @functools.cached_property
    def _digest(self) -> str:
        return digest("user", self.model, self.draw)

    def __str__(self) -> str:
        return self._digest if self.unquoted else self.source

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FittedParameters) or (self.source, self.draw) != (other.source, other.draw):
            return False
        return self.model is other.model or self._digest == other._digest

    def __hash__(self) -> int:
        return hash((self.source, self.draw, self.model.name))


class FittedUser(Domain):
    """Fitted users: the name of a file, ``'fit.toml'``, with a model's name if it holds several, ``'fit.toml#walk'``.

    In Python also the users themselves, a `Fitted` or a `FittedModel`.
    """

    accepts = "str"
    smooth = False

    def __init__(self, *kinds: str) -> None:
        self.kinds = kinds
        named = " or ".join(kinds)
        self.text = f"the name of a file of `amble fit` with a {named} model, as 'fit.toml' or 'fit.toml#name'"

    def check(self, value: Any) -> FittedParameters:
        """The parameters of the model; a file is read."""
        from amble.users.fitted import Fitted, FittedModel, Origin  # for fitted users only

        source = chosen = ""
        try:
            if isinstance(value, str | os.PathLike):
                source = os.fspath(value)
                path, chosen = _path_and_name(source)
                value = _read(path, _state(path)) if source else None
            elif isinstance(value, FittedModel):
                value = Fitted(Origin((), "", 0, 0, 0), [value], smallest=0)
            if isinstance(value, Fitted):
                return FittedParameters(value, value.pick(self.kinds, chosen), source)
        except AmbleError as error:
            raise MeasureError(str(error)) from None
        if not isinstance(value, FittedParameters) or value.model.kind not in self.kinds:
            raise ValueError
        return value


class FittedOrChain(FittedUser):
    """Fitted users, or chains: a file of transition probabilities, ``'matrix.tsv'``, or in Python a `Chain`."""

    accepts = "Any"

    def __init__(self, *kinds: str) -> None:
        super().__init__(*kinds)
        self.text += ", or of a chain, with lines of from, to and probability, as 'matrix.tsv'"

    def check(self, value: Any) -> Any:
        """The parameters of the model, or the chain; a file is read."""
        if isinstance(value, str | os.PathLike) and os.fspath(value).endswith(".tsv"):
            return _read_chain(os.fspath(value), _state(os.fspath(value)))
        from amble.users.chain import Chain  # for such users only

        return value if isinstance(value, Chain) else super().check(value)


def _path_and_name(name: str) -> tuple[str, str]:
    """The file and the model's name, which may be empty."""
    path, _, chosen = (name, "", "") if "#" not in name or os.path.exists(name) else name.rpartition("#")
    return path, chosen


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


@functools.lru_cache(maxsize=16)
def _read_chain(path: str, state: tuple[int, int]) -> Any:
    from amble.users.chain import Chain  # for chains only

    return Chain.read(path)


def is_fit(value: Any) -> bool:
    """Whether what is given for a parameter that may be several things is fitted users, or the name of their file."""
    if isinstance(value, str | os.PathLike):
        return os.fspath(value).endswith(".toml") or ".toml#" in os.fspath(value)
    from amble.users.fitted import Fitted, FittedModel

    return isinstance(value, FittedParameters | Fitted | FittedModel)


def refuse_beside(given: frozenset[str], names: Sequence[str], has: str = "the file of a fitted user has") -> None:
    """Raise an error if parameters are given that the file of a fitted user has."""
    for name in names:
        if name in given:
            raise MeasureError(f"user and {name}: expected one of them, {has} {name}")


def fitted_variant(*names: str) -> Callable[..., Any]:
    """The variant function of a measure some of whose parameters come from a file if ``user`` is given."""

    def variant(d: Any, values: dict[str, Any], cut: int | None, given: frozenset[str]) -> Variant:
        if values["user"] is None:
            return d, values, cut
        refuse_beside(given, names)
        found = {name: float(values["user"][name]) for name in names}
        if "k" in found:
            found["k"] = round(found["k"])  # a rank
        own = {name: checked(d.name, name, d.parameters[name].domain, x) for name, x in found.items()}
        return d, values | {"user": None} | own, cut

    return variant


class FittedTransitions(Value):
    """A fitted transition matrix; on a shorter list, its rows are restricted to that list and normalised."""

    matrix: Array
    unquoted = True

    def __init__(self, matrix: Any) -> None:
        own = np.array(matrix, np.float64)
        own.flags.writeable = False
        vars(self)["matrix"] = own

    def content(self) -> tuple[Array]:
        """The matrix."""
        return (self.matrix,)

    def __call__(self, rank: Array) -> Array:
        """The transition matrix of the first ranks."""
        m = self.matrix[: rank.size, : rank.size]
        total = m.sum(axis=1, keepdims=True)
        return np.asarray(np.divide(m, total, out=np.full(m.shape, 1.0 / rank.size), where=total > 0))

    def __str__(self) -> str:
        return digest("transitions", self.matrix)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FittedTransitions) and np.array_equal(self.matrix, other.matrix)

    def __hash__(self) -> int:
        return hash(self.matrix.tobytes())


# ---- uncertainty


def _sources(measure: Measure) -> dict[str, FittedParameters]:
    """The parameters of a measure that are fitted."""
    written = {} if measure.written is None else measure.written.values
    return {name: value for name, value in written.items() if isinstance(value, FittedParameters)}


def fit_files(measure: Measure) -> list[str]:
    """The files that a measure's parameters come from."""
    return list(dict.fromkeys(_path_and_name(x.source)[0] for x in _sources(measure).values() if x.source))


def describe_fit(measure: Measure) -> str:
    """Description of a measure's fitted user: file, model, sessions, parameters; empty if it has none."""
    out = []
    for found in dict.fromkeys(_sources(measure).values()):
        origin = found.fitted.origin
        shown = [f"{key} {_shown(estimate)}" for key, estimate in found.model.estimates.items()]
        file = f"{_path_and_name(found.source)[0]}: " if found.source else ""
        log = f", fitted to {origin.sessions:,} sessions of {', '.join(origin.files) or 'a log'}"
        out.append(f"{file}{found.model.name}{log if origin.layout else ''}: {', '.join(shown)}.")
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
    sources, written = _sources(measure), measure.written
    if written is None or not sources:
        raise MeasureError(f"{measure}: expected a fitted user, as in RBP(user='fit.toml')")
    counts = [draws] + [found.model.draws for found in sources.values() if found.model.draws is not None]
    if not min(counts):
        raise MeasureError(f"{measure}: the file has no draws of its parameters; fit it again, with draws")
    return [
        type(measure)(
            written.declaration,
            written.values
            | {key: FittedParameters(found.fitted, found.model, found.source, b) for key, found in sources.items()},
            written.cut,
            given=written.given,
        ).resolve_variant()
        for b in range(min(counts))
    ]
