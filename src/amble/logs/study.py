"""Continuation studied: the probability of going on by rank, gain so far, target and group, and what it depends on.

Moffat, Scholer and Thomas (2012) ask for it: a user who hopes for T relevant documents goes on the longer the larger T
is, and stops the sooner the more was found. A study of people at tasks with known T shows whether they do.

Every rank that somebody reached is an observation: she went on, or stopped. The model is a discrete-time hazard model:
the logit of going on is a number for each rank (ranks where few went on, or few stopped, share one) plus coefficients
of the gain so far, of T, and of the group. It is a binomial GLM by statsmodels (an extra), with standard errors that
are robust to what one person does being alike, and t-tests with as many degrees of freedom as there are
persons, minus 1.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from amble import checks
from amble.arrays import Array, Bools, Ints
from amble.comparison.design import CONFIDENCE
from amble.comparison.p_values import Probability
from amble.errors import AmbleError
from amble.logs.bootstrap import wilson
from amble.logs.counts import GROUPS, OBSERVATIONS, Counts, reading
from amble.logs.engine import Engine, quoted
from amble.logs.privacy import default_smallest
from amble.table import Table

__all__ = ["Records", "Study", "read_records", "study_continuation"]

OBSERVED = [name for name in OBSERVATIONS if name != "sdbn"]  # that one has no page's own stop
_MOST_CLUSTERS = 20_000  # more are put into as many groups as sessions are
_MOST_GAINS = 10  # different gains so far that a table has; more are shown by their whole parts
_LEAST = 5  # that went on, and that stopped, at ranks with a number of their own in the model


@dataclass(frozen=True, eq=False)
class Records:
    """How many reached a rank and went on, by person or session, rank, gain so far, target and group.

    Parameters
    ----------
    cluster, rank, label : (m,) array of int
        Whose; which rank; which of the labels.
    gain, target, reached, went : (m,) array
    labels : tuple of str
        The groups.
    by, target_name : str
        The columns; empty if there are none.
    clusters : str
        What a cluster is: ``persons``, ``sessions``, or groups of them.
    graded : bool
        Whether gains are known.
    """

    cluster: Ints
    rank: Ints
    label: Ints
    gain: Array
    target: Array
    reached: Array
    went: Array
    labels: tuple[str, ...]
    by: str
    target_name: str
    clusters: str
    graded: bool


def read_records(engine: Engine, n: int, gain: str | None, who: str, *, by: str, target: str) -> dict[str, Records]:
    """The records of the tables ``events``, ``pages``, ``deepest`` and ``traits``, by observation."""
    engine.run(f"create table owners as select page, any_value({who}) who from events where why = 0 group by page")
    many = engine.run("select count(distinct who) from owners")[0][0] > _MOST_CLUSTERS
    traits = "join traits t on t.page = w.page" if by or target else ""
    out = {}
    for name in OBSERVED:
        found = engine.columns(
            f"select o.who{f' % {GROUPS}' if many else ''} who, {'label' if by else quoted('')} label, "
            f"{'target::double' if target else '0.0'} target, k, gain, count(*) n, count(*) filter (k < stop) went "
            f"from ({reading(name, n, gain)}) w join owners o on o.page = w.page {traits} group by all order by all"
        )
        labels, label = np.unique(np.asarray(found["label"], object).astype(str), return_inverse=True)
        gains, targets, reached, went = (np.asarray(found[x], np.float64) for x in ("gain", "target", "n", "went"))
        out[name] = Records(
            cluster=np.unique(found["who"], return_inverse=True)[1],
            rank=np.asarray(found["k"], np.int64),
            label=label,
            gain=gains,
            target=targets,
            reached=reached,
            went=went,
            labels=tuple(labels.tolist()),
            by=by,
            target_name=target,
            clusters=f"{GROUPS:,} groups of {who}s" if many else f"{who}s",
            graded=gain is not None,
        )
    return out


def study_continuation(
    counts: Counts, *, observation: str = "last", confidence: float = CONFIDENCE, smallest: int | None = None
) -> Study:
    r"""The probability of going on by rank, gain so far, target and group, and a test of what it depends on.

    Parameters
    ----------
    counts : Counts
        From `read_log` with ``study=True``, or with a target.
    observation : {"last", "cascade", "dependent"}
        What clicks say about how far somebody read.
    confidence : float
        Of the intervals.
    smallest : int, optional
        A cell that fewer persons or sessions are behind is suppressed; by default as `fit` has it.

    Returns
    -------
    Study
        With the tables ``cells()`` and ``hazard()``.

    Examples
    --------
    Twelve people read for T = 1, twelve for T = 3; the document at rank 1 is relevant:

    >>> import pathlib, tempfile
    >>> from amble.logs import read_log, study_continuation
    >>> rows = ["session,T,rank,action,grade"]
    >>> for person in range(24):
    ...     goal, last = (1, 1 + (person % 4 == 0)) if person < 12 else (3, 1 + (person % 4 > 0))
    ...     rows += [f"{person},{goal},{rank},show,{int(rank == 1)}" for rank in (1, 2, 3)]
    ...     rows += [f"{person},{goal},{last},click,"]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     log = pathlib.Path(folder) / "study.csv"
    ...     _ = log.write_text("\n".join(rows))
    ...     study = study_continuation(read_log(log, "table", target="T"))
    >>> print(study.cells())
    T  rank  gain  reached  went on       C     low    high
    1     1     1       12        3  0.2500  0.0889  0.5323
    1     2     1        3        0  0.0000  0.0000  0.5615
    3     1     1       12        9  0.7500  0.4677  0.9111
    3     2     1        9        0  0.0000  0.0000  0.2991
    """
    checks.one_of(observation, OBSERVED, "observation")
    checks.share(confidence, "confidence")
    if observation not in counts.records:
        raise AmbleError("a study of continuation needs what read_log keeps with study=True, or with a target")
    if smallest is None:
        smallest = default_smallest(counts.facts.sessions)
    return Study(counts.records[observation], observation, confidence, checks.whole(smallest, "smallest", 0))


@dataclass(frozen=True, eq=False)
class Study:
    """A study of continuation.

    Parameters
    ----------
    records : Records
    observation : str
    confidence : float
    smallest : int
    """

    records: Records
    observation: str
    confidence: float
    smallest: int

    def cells(self) -> Table:
        """A table of C by target (without one, by group), rank and gain so far, with Wilson's intervals.

        Counts with too few persons behind them, who went on or stopped, are suppressed, and C with them.
        """
        r = self.records
        gain = r.gain if np.unique(r.gain).size <= _MOST_GAINS else np.floor(r.gain)
        label = r.label if r.by and not r.target_name else np.zeros_like(r.label)
        keys = np.stack([label, r.target, r.rank, gain], axis=1)
        cells, of = np.unique(keys, axis=0, return_inverse=True)
        of = of.reshape(-1)
        reached, went = (np.bincount(of, x, len(cells)).astype(float) for x in (r.reached, r.went))
        enough = np.ones(len(cells), bool)
        for x in (r.went, r.reached - r.went):
            some = np.unique(np.stack([of, r.cluster], axis=1)[x > 0], axis=0)[:, 0]
            behind = np.bincount(some, minlength=len(cells))
            enough &= (behind == 0) | (behind >= self.smallest)
        low, high = wilson(went / reached, reached, self.confidence)
        shown = [bool(r.by) and not r.target_name, bool(r.target_name), True, r.graded]
        rows: list[list[Any]] = []
        for i, (group, target, rank, so_far) in enumerate(cells.tolist()):
            about = _number(so_far) if gain is r.gain else f"{so_far:g}-{so_far + 1:g}"
            place = [r.labels[int(group)], _number(target), int(rank), about]
            found: list[Any] = [int(reached[i]), int(went[i]), went[i] / reached[i], low[i], high[i]]
            if not enough[i]:
                found = ["suppressed", None, None, None, None]
            rows.append([x for x, there in zip(place, shown, strict=True) if there] + found)
        names = [x for x, there in zip([r.by, r.target_name, "rank", "gain"], shown, strict=True) if there]
        return Table([*names, "reached", "went on", "C", "low", "high"], rows, facts={"observation": self.observation})

    def hazard(self) -> Table:
        """A table of the hazard model: coefficients, standard errors, confidence intervals, tests."""
        from scipy import stats

        r, model = self.records, self._model
        df = model.clusters - 1
        wide = stats.t.ppf(0.5 + self.confidence / 2, df)
        rows: list[list[Any]] = []
        for i, (name, way) in enumerate(model.terms):
            b, se = float(model.coefficients[i]), float(np.sqrt(model.covariance[i, i]))
            t = b / se
            p = {"": 2 * stats.t.sf(abs(t), df), "rises": stats.t.sf(t, df), "falls": stats.t.cdf(t, df)}[way]
            test = f"C {way} with {name}" if way else "two-sided"
            rank = name.startswith("rank ")
            tested = [None, None, ""] if rank else [t, Probability(p), f"t({df}), {test}"]
            rows.append([name, b, se, b - wide * se, b + wide * se, *tested])
        if r.by:
            of = self._groups
            at = [i for i, (name, _) in enumerate(of.terms) if name.startswith(f"{r.by} ")]
            if at:
                apart = of.coefficients[at]
                f = float(apart @ np.linalg.solve(of.covariance[np.ix_(at, at)], apart)) / len(at)
                p = Probability(stats.f.sf(f, len(at), df))
                test = f"F({len(at)}, {df}), any difference between groups{_instead(r, of)}"
                rows.append([r.by, None, None, None, None, f, p, test])
        facts = {"model": model.text, "test": "Wald", "clusters": f"{model.clusters:,} {r.clusters}"}
        caption = f"{model.text}; standard errors clustered by {r.clusters} ({model.clusters:,}); Wald tests"
        columns = ["term", "coefficient", "se", "low", "high", "statistic", "p", "test"]
        return Table(columns, rows, facts=facts, caption=caption)

    @cached_property
    def _model(self) -> _Hazard:
        r = self.records
        return _fitted(r, self._ranks, target=bool(r.target_name), groups=not r.target_name or not _nested(r))

    @cached_property
    def _groups(self) -> _Hazard:
        """The model with groups in it: in place of the target, if that is the same all over a group."""
        r = self.records
        nested = bool(r.target_name) and _nested(r)
        return _fitted(r, self._ranks, target=False, groups=True) if nested else self._model

    @cached_property
    def _ranks(self) -> list[tuple[int, int]]:
        """First and last of the ranks that share a number: until enough went on, and enough stopped."""
        r, least = self.records, max(_LEAST, self.smallest)
        pools: list[tuple[int, int]] = []
        went = stopped = start = 0
        for rank in range(1, int(r.rank.max(initial=0)) + 1):
            at = r.rank == rank
            start = start or rank
            went, stopped = went + int(r.went[at].sum()), stopped + int((r.reached - r.went)[at].sum())
            if went >= least and stopped >= least:
                pools.append((start, rank))
                went = stopped = start = 0
        if start:  # the last ones go with those before
            first = pools.pop()[0] if pools else start
            pools.append((first, int(r.rank.max())))
        return pools


@dataclass(frozen=True, eq=False)
class _Hazard:
    """A fitted hazard model; a term has a name and, if it is tested on one side, which way C is expected to go."""

    terms: Sequence[tuple[str, str]]
    coefficients: Array
    covariance: Array
    clusters: int
    text: str


def _nested(r: Records) -> bool:
    """Whether the target is the same all over each group."""
    return len(np.unique(np.stack([r.label, r.target], axis=1), axis=0)) == len(r.labels)


def _instead(r: Records, of: _Hazard) -> str:
    return f", in place of {r.target_name}" if r.target_name and r.target_name not in dict(of.terms) else ""


def _number(x: float) -> int | float:
    return int(x) if x == int(x) else x


def _fitted(r: Records, pools: Sequence[tuple[int, int]], *, target: bool, groups: bool) -> _Hazard:
    try:
        from statsmodels.genmod.families import Binomial
        from statsmodels.genmod.generalized_linear_model import GLM
    except ImportError:
        raise AmbleError("the hazard model needs the extra: pip install 'amble-ir[stats]'") from None
    columns: list[Array | Bools] = []
    terms: list[tuple[str, str]] = []
    for first, last in pools:
        columns.append((first <= r.rank) & (r.rank <= last))
        terms.append((f"rank {first}" if first == last else f"rank {first}-{last}", ""))
    ranks = "rank, a number for each" + (" (some share one)" if any(a < b for a, b in pools) else "")
    parts = [ranks]
    for name, values, way, there in (
        ("gain", r.gain, "falls", r.graded),
        (r.target_name, r.target, "rises", target),
    ):
        if there and (values == values[0]).all():
            raise AmbleError(f"the {name} is the same everywhere, {values[0]:g}: nothing can depend on it")
        if there:
            columns.append(values)
            terms.append((name, way))
            parts.append(name)
    if groups and len(r.labels) > 1:
        columns += [r.label == i for i in range(1, len(r.labels))]
        terms += [(f"{r.by} {name}", "") for name in r.labels[1:]]
        parts.append(r.by)
    design = np.stack(columns, axis=1).astype(float)
    clusters = int(r.cluster.max()) + 1
    if not 0 < r.went.sum() < r.reached.sum():
        raise AmbleError("all went on, or all stopped: there is nothing to explain")
    if np.linalg.matrix_rank(design) < design.shape[1] or clusters <= design.shape[1]:
        what = f"{clusters:,} {r.clusters} and {design.shape[1]} terms that do not differ enough"
        raise AmbleError(f"the hazard model cannot be fitted: {what}, expected more observations")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            model = GLM(np.stack([r.went, r.reached - r.went], axis=1), design, family=Binomial())
            found = model.fit(cov_type="cluster", cov_kwds={"groups": r.cluster, "use_correction": False})
        except (Warning, ValueError, ArithmeticError, np.linalg.LinAlgError) as error:
            reason = str(error).split(". ")[0].splitlines()[0]
            raise AmbleError(f"the hazard model cannot be fitted: {reason}") from None
    text = f"discrete-time hazard model, logit of going on ~ {' + '.join(parts)}: binomial GLM by statsmodels"
    seen = r.reached.sum()  # the usual correction, for observations: rows may stand for several
    few = clusters / (clusters - 1) * (seen - 1) / (seen - design.shape[1])
    return _Hazard(terms, np.asarray(found.params), np.asarray(found.cov_params()) * few, clusters, text)
