"""Model selection: the likelihood of fitted users on held-out sessions (cross-validation).

Sessions are held out a fifth at a time, so that each is predicted by models that were not fitted to it. Models predict
different events: walks steps, forward users stops, Markov chains moves. All but Markov chains predict the rank of the
last click; by that they are compared with one another.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from amble.arrays import Array
from amble.logs.chain_fitting import count_steps, edge_probabilities, log_likelihood
from amble.logs.counts import Counts
from amble.logs.forward_fitting import (
    continuation_probabilities,
    insq_continuation,
    stopping_counts,
    stopping_log_likelihood,
)
from amble.logs.privacy import pooling_matrix
from amble.table import Table
from amble.users.fitted import Estimate, FittedModel, Likelihood
from amble.users.walk import Walk

__all__ = [
    "FOLDS", "HALF", "HeldOut", "behaviour", "comparison_table", "fit_table", "folds", "likelihoods",
    "suppression_notes",
]  # fmt: skip

FOLDS = 5
_UNLIKELY = 1e-9
HALF = 0.5  # added to every count a probability by rank is made of, so that what was not seen is not impossible


@dataclass(frozen=True)
class HeldOut:
    """Likelihood of a model on held-out sessions.

    Parameters
    ----------
    events : str
        What it predicts: steps, stops, moves.
    own : Likelihood
        Of these.
    last : Likelihood, optional
        Of the rank of the last click.
    """

    events: str
    own: Likelihood
    last: Likelihood | None

    @property
    def perplexity(self) -> float:
        """Perplexity of the last click; infinite for a model that does not predict it."""
        return math.inf if self.last is None else self.last.perplexity


def likelihood(sessions: float, events: float, log: float, parameters: int) -> Likelihood:
    """Perplexity, AIC and BIC of a log-likelihood."""
    many = max(events, 1.0)
    return Likelihood(
        sessions=round(sessions),
        events=round(events),
        log_likelihood=log,
        parameters=parameters,
        perplexity=math.exp(min(-log / many, 690.0)),
        aic=2.0 * parameters - 2.0 * log,
        bic=parameters * math.log(many) - 2.0 * log,
    )


def folds(counts: Counts) -> list[tuple[Counts, Counts]]:
    """Counts to fit to, and counts held out, five times."""
    groups = np.arange(len(counts.pages))
    order = np.zeros(groups.size, np.int64)
    order[counts.present] = np.arange(counts.present.size)  # groups without sessions do not count
    out = []
    for fold in range(min(FOLDS, max(counts.present.size, 1))):
        held = (order % FOLDS == fold).astype(np.float64)[None, :]
        out.append((counts.weighted(1.0 - held), counts.weighted(held)))
    return out


def behaviour(model: FittedModel, n: int) -> tuple[Array, Array] | None:
    """Expected visits and distribution of the last rank on a list of n; None if a model needs grades, or never stops.

    Users who would continue beyond rank n stop there, since a page ends.
    """
    if model.kind == "walk":
        p, q = model.estimates["p"], model.estimates["q"]
        if p.form == "grade":
            return None
        start = model.estimates.get("start")
        distribution = None if start is None else start.distribution.tolist()
        walk = Walk(*(np.atleast_1d(e.known).tolist() for e in (p, q)), first=model.first, start=distribution)
        on_list = walk.over(n)
        return np.asarray(on_list.visits), np.asarray(on_list.last)
    probability = _continuation(model, n)
    if probability is None:
        return None
    visits = np.concatenate((np.ones(1), np.cumprod(probability)))
    return visits, visits * (1.0 - np.append(probability, 0.0))


def _continuation(model: FittedModel, n: int) -> Array | None:
    """C at all ranks but the last; None if it is no forward user's."""
    if model.kind == "rbp":
        return np.full(n - 1, float(model.estimates["p"].value))
    if model.kind == "insq":
        return insq_continuation(model.estimates["T"].value, np.arange(1.0, n))
    return model.estimates["C"].known[: n - 1] if model.kind == "continuation" else None


def spelled(e: Estimate, first: int, last: int) -> str:
    """Names of ranks or grades: ``rank 3``, ``ranks 5-7``."""
    names = [str(i) if e.grades is None else f"{e.grades[i - 1]:g}" for i in (first, last)]
    what = "rank" if e.grades is None else "grade"
    return f"{what} {names[0]}" if first == last else f"{what}s {names[0]}-{names[1]}"


def suppression_notes(model: FittedModel, smallest: int) -> list[str]:
    """Notes on what was suppressed in a model by rank or by grade, and what was done about it."""
    pools, gone = [], []
    for name, e in model.estimates.items():
        if e.form in ("rank", "grade") and name not in ("s", "start"):
            pools += [f"{name} of {spelled(e, a, b)}" for a, b in e.places() if b > a]
            gone += [f"{name} of {spelled(e, a, b)}" for a, b in e.places() if np.isnan(e.value[a - 1])]
    found = ((pools, "estimated together"), (gone, "not estimated, filled in from the estimate before (or the first)"))
    few = f"fewer than {smallest} sessions" if smallest else "too few observations"
    return [f"{few} are behind some counts, {did}: {', '.join(x)}" for x, did in found if x]


def fit_table(models: Sequence[FittedModel]) -> Table:
    """A table of the parameters of models, with confidence intervals and numbers of observations."""
    rows: list[list[Any]] = []
    for model in models:
        for name, e in model.estimates.items():
            if e.form == "matrix" or name == "start":
                continue
            for a, b in e.places() if e.form != "one" else [(1, 1)]:
                at = a - 1 if e.form != "one" else ()
                seen = int(e.observations[at])
                ends = [float("nan") if end is None else float(end[at]) for end in (e.low, e.high)]
                where = "" if e.form == "one" else spelled(e, a, b)
                few = "few" if seen < 0 else str(seen)
                rows.append([model.name, name, where, float(e.value[at]), *ends, few])
    return Table(["model", "parameter", "at", "value", "low", "high", "observations"], rows)


# ---- likelihood on held-out sessions


def likelihoods(
    counts: Counts, fitters: dict[str, Callable[[Counts], FittedModel]], observation: str, how: str
) -> dict[str, HeldOut]:
    """The likelihood of each model on held-out sessions.

    Parameters
    ----------
    counts : Counts
    fitters : dict
        By name of a model: a function that fits it to counts (without intervals), pooled as the one that is written.
    observation, how
        As the models were fitted.
    """
    n = counts.depth
    sums: dict[str, dict[str, float]] = {}
    pages = 0.0
    for train, test in folds(counts):
        pages += float(test.pages.sum())
        last = test.moves[0, 1:, 0]
        for name, fitter in fitters.items():
            model = fitter(train)
            events, log, what, parameters = _own(model, train, test, observation, how)
            of = sums.setdefault(name, {"events": 0.0, "log": 0.0, "last": 0.0, "seen": 0.0, "parameters": 0.0})
            of["events"] += events
            of["log"] += log
            of["parameters"] = max(of["parameters"], parameters)
            sums[name][what] = 1.0
            implied = behaviour(model, n)
            if implied is None:
                of["last"] = math.nan
            else:
                distribution = implied[1] + HALF / max(float(train.moves[0, 1:, 0].sum()), 1.0)
                of["last"] += float((last * np.log(distribution / distribution.sum())).sum())
            of["seen"] += float(last.sum())
    out = {}
    for name, of in sums.items():
        k = int(of["parameters"])
        what = next(word for word in ("steps", "stops", "moves") if word in of)
        common = None if math.isnan(of["last"]) else likelihood(pages, of["seen"], of["last"], k)
        out[name] = HeldOut(what, likelihood(pages, of["events"], of["log"], k), common)
    return out


def _own(model: FittedModel, train: Counts, test: Counts, observation: str, how: str) -> tuple[float, float, str, int]:
    """Number of events, log-likelihood, what the events are, and number of parameters."""
    n = test.depth
    if model.kind == "walk":
        if model.name == "walk-grade":
            probabilities = np.stack([model.estimates[key].known for key in "pqs"], axis=-1)
            steps = test.steps[0]
            distributions = edge_probabilities(probabilities, model.first)
            return float(steps.sum()), log_likelihood(steps, _possible(distributions)), "steps", 2 * len(probabilities)
        steps = count_steps(test.moves, how)[0]
        if model.name == "walk-rank":
            seen = count_steps(train.moves, how)[0] + HALF
            seen[0, 1] = seen[-1, 0] = 0.0
            seen[:-1] = _alike(model.estimates["p"]) @ seen[:-1]
            # what is pooled with rank 1 may go back: at rank 1 that is a stop
            seen[0] = (seen[0, 0], 0.0, seen[0, 1] + seen[0, 2])
            distributions, k = seen / seen.sum(axis=-1, keepdims=True), 2 * len(model.estimates["p"].places())
        else:
            one = np.array([float(model.estimates[key].value) for key in "pqs"])
            distributions = edge_probabilities(one, model.first)[[0, *[1] * (n - 2), 2]]
            k = 2
        return float(steps.sum()), log_likelihood(steps, _possible(distributions)), "steps", k
    if model.kind == "markov":
        moves = test.moves[0, 1:, 1:]
        distribution = model.estimates["P"].value
        moves = np.where(distribution > 0, moves, 0.0)
        return float(moves.sum()), log_likelihood(moves, distribution), "moves", n * (n - 1)
    if model.kind == "inst":
        came = test.goal_counts[observation][0]
        rank, gain = test.goal_cells[observation].T
        probability = _possible(insq_continuation(model.estimates["T"].value, rank, gain))
        return float(came[:, 0].sum()), float(stopping_log_likelihood(came, probability)), "stops", 1
    came = stopping_counts(test, observation)[0]
    k = 1
    if model.kind == "continuation":
        e = model.estimates["C"]
        alike, gone = _alike(e), np.isnan(e.value)
        each = np.log(continuation_probabilities(stopping_counts(train, observation)[0] + np.array([2 * HALF, HALF])))
        probability = replace(e, value=np.where(gone, np.nan, np.exp(alike @ each / alike.sum(axis=1)))).known
        k = sum(not gone[a - 1] for a, _ in e.places())
    else:
        found = _continuation(model, n)
        assert found is not None
        probability = found
    return float(came[:, 0].sum()), float(stopping_log_likelihood(came, _possible(probability))), "stops", k


def _alike(e: Estimate) -> Array:
    """Sums over ranks that were estimated together."""
    return pooling_matrix(np.arange(e.value.size) if e.pooled is None else e.pooled)


def _possible(probability: Array) -> Array:
    """Probabilities kept away from 0 and 1: what a model has not seen is unlikely, and no more."""
    return np.asarray(np.clip(probability, _UNLIKELY, 1.0 - _UNLIKELY))


def comparison_table(models: dict[str, HeldOut]) -> Table:
    """A table of models side by side, the best predictor of the last click first."""
    rows: list[list[Any]] = []
    for name in sorted(models, key=lambda name: models[name].perplexity):
        own, last = models[name].own, models[name].last
        common = [last.log_likelihood, last.perplexity, last.aic, last.bic] if last else [None] * 4
        alone = [models[name].events, own.events, own.log_likelihood, own.perplexity]
        rows.append([name, own.parameters, *common, *alone])
    columns = ["model", "parameters", "last: log-lik", "perplexity", "AIC", "BIC"]
    return Table([*columns, "predicts", "events", "log-lik", "per event"], rows)
