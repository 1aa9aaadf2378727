"""Model selection: the likelihood of fitted users on held-out sessions (cross-validation).

Sessions are held out a fifth at a time, so that each is predicted by models that were not fitted to it. Models predict
different events: walks steps, forward users stops, Markov chains moves. All but Markov chains predict the rank of the
last click; by that they are compared with one another. Where some look at grades, all are on pages that have some.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from amble.arrays import Array
from amble.logs.adaptive_fitting import ADAPTIVE, continuation
from amble.logs.chain_fitting import by_edge, count_steps, edge_probabilities, log_likelihood
from amble.logs.counts import Counts
from amble.logs.forward_fitting import continuation_probabilities, stopping_counts, stopping_log_likelihood
from amble.logs.implied import behaviour, forward_continuation, last_clicks
from amble.logs.moves_fitting import chain_transitions
from amble.logs.page_counts import GradedPages
from amble.logs.privacy import pooling_matrix
from amble.logs.session_fitting import session_log_likelihood, session_steps
from amble.table import Table
from amble.users.estimates import Estimate
from amble.users.fitted import FittedModel, Likelihood, is_move

__all__ = [
    "FOLDS", "HALF", "HeldOut", "comparison_table", "fit_table", "folds", "likelihood", "likelihoods",
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


def fold_weights(counts: Counts) -> list[Array]:
    """Weights of groups of sessions, 1 for those held out, five times."""
    groups = np.arange(len(counts.pages))
    order = np.zeros(groups.size, np.int64)
    order[counts.present] = np.arange(counts.present.size)  # groups without sessions do not count
    return [(order % FOLDS == fold).astype(np.float64) for fold in range(min(FOLDS, max(counts.present.size, 1)))]


def folds(counts: Counts) -> list[tuple[Counts, Counts]]:
    """Counts to fit to, and counts held out, five times."""
    return [(counts.weighted(1.0 - held[None]), counts.weighted(held[None])) for held in fold_weights(counts)]


def _spots(e: Estimate) -> list[tuple[Any, str, int]]:
    """The first place of each group of numbers that were estimated together, its name, and how many there are."""
    if e.form == "one":
        return [((), "", 1)]
    pooled = np.arange(1, e.value.size + 1).reshape(e.value.shape) if e.pooled is None else e.pooled
    out = []
    for first in np.unique(pooled).tolist():
        at = np.argwhere(pooled == first)
        parts = []
        if e.form != "grade":
            parts.append(_span("rank", [str(i + 1) for i in np.unique(at[:, 0]).tolist()]))
        if e.grades is not None:
            parts.append(_span("grade", [f"{e.grades[i]:g}" for i in np.unique(at[:, -1]).tolist()]))
        out.append((tuple(at[0]), ", ".join(parts), len(at)))
    return out


def _span(what: str, names: list[str]) -> str:
    """Names of ranks or grades: ``rank 3``, ``ranks 5-7``."""
    return f"{what} {names[0]}" if len(names) == 1 else f"{what}s {names[0]}-{names[-1]}"


def suppression_notes(model: FittedModel, smallest: int) -> list[str]:
    """Notes on what was suppressed in a model by rank or by grade, and what was done about it."""
    pools, gone = [], []
    for name, e in model.estimates.items():
        if e.form not in ("one", "matrix") and name not in ("s", "start"):
            pools += [f"{name} of {where}" for _, where, many in _spots(e) if many > 1]
            gone += [f"{name} of {where}" for at, where, _ in _spots(e) if np.isnan(e.value[at])]
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
            for at, where, _ in _spots(e):
                seen = int(e.observations[at])
                ends = [float("nan") if end is None else float(end[at]) for end in (e.low, e.high)]
                few = "few" if seen < 0 else str(seen)
                rows.append([model.name, name, where, float(e.value[at]), *ends, few])
    return Table(["model", "parameter", "at", "value", "low", "high", "observations"], rows)


# ---- likelihood on held-out sessions


def likelihoods(
    counts: Counts,
    fitters: dict[str, Callable[[Counts], FittedModel]],
    observation: str,
    how: str,
    pages: GradedPages | None = None,
) -> dict[str, HeldOut]:
    """The likelihood of each model on held-out sessions.

    Parameters
    ----------
    counts : Counts
    fitters : dict
        By name of a model: a function that fits it to counts (without intervals), pooled as the one that is written.
    observation, how
        As the models were fitted.
    pages : GradedPages, optional
        The pages whose last clicks are predicted; without it all, and none by users who look at grades.
    """
    n = counts.depth
    sums: dict[str, list[float]] = {}
    words: dict[str, str] = {}
    sessions = 0.0
    for held in fold_weights(counts):
        train, test = (counts.weighted(w[None]) for w in (1.0 - held, held))
        sessions += float(test.pages.sum())
        last, before = (last_clicks(counts, w, pages) for w in (held, 1.0 - held))
        for name, fitter in fitters.items():
            model = fitter(train)
            events, log, words[name], parameters = _own(model, train, test, observation, how)
            of = sums.setdefault(name, [0.0] * 5)  # events, log-likelihood, that of the last click, these, parameters
            found = behaviour(model, n, pages)
            common = np.nan
            if found is not None:
                shares = found[1] + HALF / max(float(before.sum()), 1.0)
                common = float((last * np.log(shares / shares.sum(axis=-1, keepdims=True))).sum())
            more = (events, log, common, float(last.sum()))
            sums[name] = [*(x + y for x, y in zip(of, more, strict=False)), max(of[4], parameters)]
    out = {}
    for name, (events, log, common, seen, k) in sums.items():
        together = None if math.isnan(common) else likelihood(sessions, seen, common, int(k))
        out[name] = HeldOut(words[name], likelihood(sessions, events, log, int(k)), together)
    return out


def _own(model: FittedModel, train: Counts, test: Counts, observation: str, how: str) -> tuple[float, float, str, int]:
    """Number of events, log-likelihood, what the events are, and number of parameters."""
    n = test.depth
    if model.kind in ("session", "session-rbp"):
        steps = session_steps(test, model.name)[0]
        if model.kind == "session":
            probabilities = np.array([float(model.estimates[name].value) for name in "pqrs"])
        else:
            p, b = (float(model.estimates[name].value) for name in "pb")
            probabilities = np.array([b * p, 0.0, p - b * p, 1.0 - p])
        k = len(model.estimates) - (model.kind == "session")
        return float(steps.sum()), session_log_likelihood(steps, probabilities), "session steps", k
    if model.kind == "chain":
        moves = test.moves[0, 1:].copy()
        if "0" not in model.estimates:
            np.fill_diagonal(moves[:, 1:], 0.0)
        k = sum(map(is_move, model.estimates)) + (n - 1 if "start" in model.estimates else 0)
        return (
            float(moves.sum()),
            log_likelihood(moves, _possible(chain_transitions(model, n))),
            "steps of any length",
            k,
        )
    if model.kind == "walk":
        form = model.estimates["p"].form
        if form == "grade":
            probabilities = np.stack([model.estimates[key].known for key in "pqs"], axis=-1)
            steps = by_edge(test.steps[0])
            distributions = edge_probabilities(probabilities, model.first)
            return float(steps.sum()), log_likelihood(steps, _possible(distributions)), "steps", 2 * len(probabilities)
        if form == "rank and grade":
            steps = np.moveaxis(test.steps[0], 0, 1)
            shown = np.stack([model.estimates[key].value for key in "pqs"], axis=-1)
            inner = shown.reshape(-1, shown.shape[1], 3)
            ends = edge_probabilities(inner[[0, -1]], model.first)
            distributions = np.concatenate([ends[:1, :, 0], inner[1:], ends[1:, :, 2]])
            k = 2 * len(_spots(model.estimates["p"]))
            return float(steps.sum()), log_likelihood(steps, _possible(distributions)), "steps", k
        steps = count_steps(test.moves, how)[0]
        if form == "rank":
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
    if model.kind in ADAPTIVE:
        came = test.goal_counts[observation][0]
        values = {name: float(e.value) for name, e in model.estimates.items()}
        probability = _possible(continuation(model.kind, values, *test.goal_cells[observation].T))
        log = float(stopping_log_likelihood(came, probability))
        return float(came[:, 0].sum()), log, "stops", len(model.estimates)
    came = stopping_counts(test, observation)[0]
    k = 1
    if model.kind == "continuation":
        e = model.estimates["C"]
        alike, gone = _alike(e), np.isnan(e.value)
        each = np.log(continuation_probabilities(stopping_counts(train, observation)[0] + np.array([2 * HALF, HALF])))
        probability = replace(e, value=np.where(gone, np.nan, np.exp(alike @ each / alike.sum(axis=1)))).known
        k = sum(not gone[a - 1] for a, _ in e.places())
    else:
        found = forward_continuation(model, n)
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
