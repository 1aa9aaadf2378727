"""Users fitted to groups of pages apart, such as tasks or conditions, and whether they differ.

The same resampled sessions are behind all groups, so that a person who is in several is in the covariance of their
estimates. Equality is tested by Wald's statistic with that covariance, referred to an F distribution as Hotelling's T²
is, with the number of groups of sessions (at most 1,000) as the number of observations.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from amble.arrays import Array
from amble.comparison.p_values import Probability
from amble.errors import AmbleError
from amble.logs.bootstrap import Resampled
from amble.logs.counts import Counts
from amble.logs.fitting import Fit, fit
from amble.logs.selection import fit_table
from amble.table import Table
from amble.users.fitted import Estimate, Fitted, FittedModel

__all__ = ["GroupFits", "fit_groups"]

_LEAST = 10  # observations of a number that is compared, in each group


@dataclass(frozen=True, eq=False)
class GroupFits:
    """Users fitted to all pages, and to those of each group.

    Parameters
    ----------
    by : str
        The column that groups come from.
    whole : Fit
        Of all pages.
    groups : dict of str to Fit
    draws : int
        How many draws a file keeps.
    """

    by: str
    whole: Fit
    groups: dict[str, Fit]
    draws: int

    @property
    def fitted(self) -> Fitted:
        """All of them for a file: ``fit.toml#walk`` is that of all pages, ``fit.toml#walk.A`` that of group A."""
        models = list(self.whole.fitted.models)
        names = self.names()
        for label, found in self.groups.items():
            for model in found.fitted.models:
                note = "; ".join(filter(None, (f"{self.by} {label}", model.note)))
                models.append(replace(model, name=f"{model.name}.{names[label]}", note=note))
        trimmed = [
            replace(m, estimates={key: _trimmed(e, self.draws) for key, e in m.estimates.items()}) for m in models
        ]
        return replace(self.whole.fitted, models=trimmed)

    def names(self) -> dict[str, str]:
        """What the groups are called in a file: letters, digits, ``-``, ``_`` and ``.``."""
        out: dict[str, str] = {}
        for label in self.groups:
            name = re.sub(r"[^\w.-]|[^\x00-\x7f]", "-", label)
            while name in out.values():
                name += "-"
            out[label] = name
        return out

    @property
    def notes(self) -> tuple[str, ...]:
        """Those of all pages, and of each group."""
        own = (f"{self.by} {label}: {note}" for label, found in self.groups.items() for note in found.notes)
        return (*self.whole.notes, *own)

    def table(self) -> Table:
        """A table of parameters, those of the groups one below the other."""
        rows: list[list[Any]] = []
        tables = {label: fit_table(found.fitted.models) for label, found in {"": self.whole, **self.groups}.items()}
        order: dict[tuple[Any, ...], None] = {}
        for table in tables.values():
            order |= dict.fromkeys(tuple(row[:2]) for row in table)
        for key in order:
            for label, table in tables.items():
                name = label if label else "(all)"
                rows += [[*key, name, *row[2:]] for row in table if tuple(row[:2]) == key]
        columns = tables[""].columns
        return Table([*columns[:2], self.by, *columns[2:]], rows)

    def equality(self) -> Table:
        """A table of tests, model by model, that the parameters of all groups are equal."""
        from scipy import stats

        n = self.whole.data.counts.present.size
        who = "persons" if self.whole.data.counts.facts.persons else "sessions"
        rows: list[list[Any]] = []
        for model in self.whole.fitted.models:
            same = [next((m for m in f.fitted.models if m.name == model.name), None) for f in self.groups.values()]
            if not all(same) or len(same) < 2:
                rows.append([model.name, None, None, None, None, "not fitted to every group"])
                continue
            values, draws = _numbers([m for m in same if m is not None])
            k = values.shape[1] * (len(same) - 1)
            if not k or k >= n - 1:
                rows.append([model.name, k, None, None, None, "too few observations"])
                continue
            apart = (values[1:] - values[0]).reshape(-1)
            spread = np.cov((draws[1:] - draws[0]).transpose(1, 0, 2).reshape(draws.shape[1], -1).T).reshape(k, k)
            if np.linalg.matrix_rank(spread) < k:
                rows.append([model.name, k, None, None, None, "too few observations"])
                continue
            f = float(apart @ np.linalg.solve(spread, apart)) * (n - k) / (k * (n - 1))
            p = Probability(stats.f.sf(f, k, n - k))
            rows.append([model.name, k, f, n - k, p, f"Wald, resampled {who}"])
        return Table(["model", "df", "F", "df of the error", "p", "test"], rows)


def _trimmed(e: Estimate, draws: int) -> Estimate:
    return e if e.draws is None else replace(e, draws=e.draws[:draws] if draws else None)


def _numbers(models: Sequence[FittedModel]) -> tuple[Array, Array]:
    """What is estimated in every group, by group, and its draws, by group and round."""
    values, draws = [], []
    for name, first in models[0].estimates.items():
        parts = [m.estimates[name] for m in models if name in m.estimates]
        if name in ("s", "start") or first.form == "matrix" or len(parts) < len(models):
            continue
        if any(e.draws is None for e in parts) or len({e.value.shape for e in parts}) > 1:
            continue
        value = np.stack([e.value.reshape(-1) for e in parts])
        drawn = np.stack([np.asarray(e.draws).reshape(len(np.asarray(e.draws)), -1) for e in parts])
        seen = np.stack([np.broadcast_to(e.observations, e.value.shape).reshape(-1) for e in parts])
        with np.errstate(invalid="ignore"):
            varies = drawn.std(axis=1) > 0
        good = (~np.isnan(value) & (seen >= _LEAST) & varies).all(axis=0)
        places = np.arange(1, good.size + 1)
        pools = [places if e.pooled is None else e.pooled.reshape(-1) for e in parts]
        # of numbers that are estimated together in every group, the first counts; those together in some only do not
        for place in np.flatnonzero(good).tolist():
            together = [pool == place + 1 for pool in pools]
            good[place] = together[0][place] and all(np.array_equal(x, together[0]) for x in together[1:])
        values.append(value[:, good])
        draws.append(drawn[:, :, good])
    if not values:
        return np.zeros((len(models), 0)), np.zeros((len(models), 0, 0))
    return np.concatenate(values, axis=1), np.concatenate(draws, axis=2)


def fit_groups(
    counts: Counts, models: Sequence[str] | str = "all", *, draws: int = Resampled.kept, **options: Any
) -> GroupFits:
    r"""Users fitted to all pages, and to each group of them apart.

    Parameters
    ----------
    counts : Counts
        From `read_log` with ``by=``.
    models, draws, options
        As those of `fit`.

    Returns
    -------
    GroupFits

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from amble.logs import fit_groups, read_log
    >>> rows = ["session,task,rank"]
    >>> for session in range(200):          # those at task A stop at rank 1 half of the time, those at task B always
    ...     rows += [f"{session},{'AB'[session % 2]},{1 + (session % 4 == 0)}"]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     log = pathlib.Path(folder) / "log.csv"
    ...     _ = log.write_text("\n".join(rows))
    ...     found = fit_groups(read_log(log, "table", by="task", depth=3), "continuation", smallest=0)
    >>> [(row[2], row[3], round(row[4], 2)) for row in found.table() if row[3] == "rank 1"]
    [('(all)', 'rank 1', 0.25), ('A', 'rank 1', 0.5), ('B', 'rank 1', 0.0)]
    """
    if not counts.groups:
        raise AmbleError("groups are compared: the log is to be read by a column, as by='task'")
    rounds = options.setdefault("rounds", Resampled.rounds)
    whole = fit(counts, models, draws=rounds, **options)
    options["smallest"] = whole.data.smallest
    groups = {}
    for label, own in counts.groups.items():
        try:
            groups[label] = fit(own, models, draws=rounds, like=whole.data, **options)
        except AmbleError as error:
            raise AmbleError(f"{counts.by} {label!r:.60}: {error}") from None
    return GroupFits(counts.by, whole, groups, draws)
