"""User models fitted to a click log, side by side, ready for a file."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from amble import checks
from amble.errors import AmbleError
from amble.logs.adaptive_fitting import ADAPTIVE, fit_adaptive
from amble.logs.bootstrap import Resampled
from amble.logs.chain_fitting import (
    STEPS,
    count_steps,
    fit_markov,
    fit_walk,
    fit_walk_by_grade,
    fit_walk_by_rank,
    fit_walk_by_rank_and_grade,
)
from amble.logs.counts import OBSERVATIONS, Counts
from amble.logs.dwell_times import fit_times
from amble.logs.forward_fitting import fit_continuation, fit_insq, fit_rbp
from amble.logs.implied import Behaviour, behaviour, last_clicks, looks, measure_behaviour
from amble.logs.moves_fitting import MOVES, fit_moves, read_moves
from amble.logs.page_counts import GradedPages
from amble.logs.privacy import MANY, SMALLEST, default_smallest, disclosable, enough_sessions, shown_count
from amble.logs.selection import HALF, HeldOut, comparison_table, fit_table, likelihoods, suppression_notes
from amble.logs.session_fitting import fit_session_rbp, fit_session_walk
from amble.measures.list_measure import of_lists
from amble.measures.measure import Measure
from amble.measures.parsing import parse
from amble.table import Table
from amble.users.estimates import SUPPRESSED
from amble.users.fitted import Fitted, FittedModel, Origin

__all__ = ["IMPLIED", "MODELS", "Fit", "against", "fit"]

IMPLIED = ("measure", "panel", "rank", "value", "low", "high")  # the columns of what a fit implies

MODELS = {
    "walk": "back and forth: p, q and s, the same at every rank",
    "walk-rank": "back and forth: p, q and s by rank",
    "walk-grade": "back and forth: p, q and s by the grade of the document (needs grades)",
    "walk-rank-grade": "back and forth: p, q and s by rank and grade (needs grades)",
    "chain": "moves of any length, the same at every rank: those of --moves",
    "rbp": "reads down: RBP's p",
    "insq": "reads down: INSQ's T",
    "insq-adaptive": "reads down: adaptive INSQ's T, as the paper's figures have it (needs grades)",
    "insq-printed": "reads down: adaptive INSQ's T, equation 3 as printed (needs grades)",
    "inst": "reads down: INST's T (needs grades)",
    "bpm": "reads down: BPM's T and k, and how often people do otherwise (needs grades)",
    "ift-goal": "reads down: IFTGoal's T and R (needs grades)",
    "ift-rate": "reads down: IFTRate's A and R (needs grades)",
    "ift": "reads down: IFT's T, R1, A and R2 (needs grades)",
    "continuation": "reads down: C(i), whatever it is",
    "msm": "several queries: MsM's p, q, r and s (needs sessions of several queries)",
    "srbp": "several queries: session RBP's p and b (needs sessions of several queries)",
    "markov": "never stops: transition probabilities from rank to rank, for MP",
    "times": "how long at each rank, from a click to the next: (n - 1) / sum of t",
    "times-censored": "the same, with last visits where their end is known, and long ones as not ended",
}
_GRADED = ("walk-grade", "walk-rank-grade", *ADAPTIVE)
_SESSIONS = ("msm", "srbp")
_TIMED = ("times", "times-censored")

Fitter = Callable[[Resampled], FittedModel]


@dataclass(frozen=True, eq=False)
class Fit:
    """Fitted users, and their likelihood on held-out sessions.

    Parameters
    ----------
    fitted : Fitted
        The users, for a file: `amble.users.fit_file.write_fit`.
    held_out : dict
        By model: its likelihood on held-out sessions.
    data : Resampled
        The counts they were fitted to.
    steps : {"path", "clicks"}
        How clicks were taken for steps.
    notes : tuple of str
        Models left out, and why; what was suppressed or pooled.
    pages : GradedPages, optional
        The pages whose last clicks are compared, where some users look at grades; without it all.
    """

    fitted: Fitted
    held_out: dict[str, HeldOut]
    data: Resampled
    steps: str
    notes: tuple[str, ...] = ()
    pages: GradedPages | None = None

    def facts(self) -> dict[str, Any]:
        """Facts about the log; counts of moves that few sessions made are suppressed."""
        counts, smallest = self.data.counts, self.data.smallest
        facts = asdict(counts.facts)
        inner = counts.moves[:, 1:, 1:]
        by_way = {"moves": inner, "backward": np.tril(inner, -1), "repeated": inner * np.eye(counts.depth)}
        for name, moves in by_way.items():
            facts[name] = shown_count(facts[name], bool(enough_sessions(moves.sum(axis=(1, 2)), smallest)), smallest)
        if isinstance(facts["backward"], str):
            facts["backward_sessions"] = facts["backward"]
        for name in ("elsewhere", "beyond"):
            facts[name] = shown_count(facts[name], facts[name] >= smallest, smallest)
        if isinstance(facts["moves"], str):
            facts["quartiles"] = (math.nan,) * 3
        return facts

    def table(self) -> Table:
        """A table of the parameters, with confidence intervals and numbers of observations."""
        return fit_table(self.fitted.models)

    def choice(self) -> Table:
        """A table of all models side by side, on held-out sessions."""
        return comparison_table(self.held_out)

    def moves(self) -> Table:
        """A table of moves from rank to rank: counts, shares by rank, confidence intervals; a move to 0 is a stop.

        Counts with too few sessions behind them are suppressed; where they could be found by subtraction, so are all
        shares of the moves from that rank.
        """
        counts, whole, draws = self.data.counts.moves, self.data.whole.moves[0], self.data.draws.moves
        enough = enough_sessions(counts, self.data.smallest)
        tail = (1.0 - self.data.confidence) / 2.0
        rows: list[list[Any]] = []
        for i in range(whole.shape[0]):
            shared = bool(disclosable(counts[:, i, ~enough[i]].sum(axis=1), self.data.smallest))
            total, totals = whole[i].sum(), draws[:, i].sum(axis=-1)
            for j in range(whole.shape[1]):
                if not whole[i, j]:
                    continue
                way = "forward" if j > i else "back" if j < i else "repeated"
                way = "start" if i == 0 else "stop" if j == 0 else way
                row: list[Any] = [i, j, way, str(shown_count(whole[i, j], bool(enough[i, j]), self.data.smallest))]
                if enough[i, j] and shared:
                    low, high = np.quantile(draws[:, i, j] / np.maximum(totals, 1.0), [tail, 1.0 - tail])
                    row += [float(whole[i, j] / total), float(low), float(high)]
                else:
                    row += [None, None, None]
                rows.append(row)
        return Table(["from", "to", "way", "moves", "share", "low", "high"], rows)

    def against(self, measures: Sequence[Any] = ()) -> Table:
        """A table of the fitted models and of any measures that are users: how well each predicts the last click.

        Parameters
        ----------
        measures : sequence of str or Measure
            Measures that are users, with their parameters as they are.

        Returns
        -------
        Table
            Of each user: how many parameters were fitted; the log-likelihood of all last clicks; the perplexity (of
            models on held-out sessions); the share of pages that are impossible under the user, whose log-likelihood is
            then -inf; and the distance between the distribution of the last rank that the user implies and the observed
            one (total variation: the share of pages that would have to be left elsewhere).
        """
        n, pages = self.data.counts.depth, self._common(measures)
        users: list[tuple[str, int, Behaviour | None, float | None]] = []
        for model in self.fitted.models:
            if model.name in self.held_out:
                told = self.held_out[model.name]
                users.append((model.name, told.own.parameters, behaviour(model, n, pages), told.perplexity))
        users += [(m.label, 0, measure_behaviour(m, n, pages), None) for m in _measures(measures)]
        seen = last_clicks(self.data.counts, np.ones(len(self.data.counts.pages)), pages)
        shares = seen.sum(axis=0) / seen.sum()
        rows: list[list[Any]] = []
        for name, parameters, found, held_out in users:
            if found is None:
                continue
            last = np.broadcast_to(found[1], seen.shape)
            impossible = float(seen[last <= 0].sum())
            with np.errstate(divide="ignore", invalid="ignore"):
                log = -math.inf if impossible else float(np.where(seen > 0, seen * np.log(last), 0.0).sum())
            per = math.exp(min(-log / seen.sum(), 690.0)) if log > -math.inf else math.inf
            mean = seen.sum(axis=1) @ last / seen.sum()
            distance = float(np.abs(mean - shares).sum() / 2.0)
            rows.append(
                [name, parameters, log, per if held_out is None else held_out, impossible / float(seen.sum()), distance]
            )
        rows.sort(key=lambda row: (row[3], row[5]))
        return Table(["user", "parameters", "log-lik", "perplexity", "impossible", "distance"], rows)

    def implied(self, measures: Sequence[Any] = ()) -> Table:
        """A table of W, L and C by rank: observed, with confidence intervals, and as each user implies them.

        Parameters
        ----------
        measures : sequence of str or Measure
            Measures that are users, beside the fitted models.
        """
        n = self.data.counts.depth
        rows: list[list[Any]] = []
        observed = [_behaviour(count_steps(c.moves, self.steps)) for c in (self.data.whole, self.data.draws)]
        tail = (1.0 - self.data.confidence) / 2.0
        steps = count_steps(self.data.counts.moves, self.steps)
        came, on, ended = (
            disclosable(x, self.data.smallest) for x in (steps.sum(axis=-1), steps[..., :2].sum(axis=-1), steps[..., 2])
        )
        pages = self._common(measures)
        many = last_clicks(self.data.counts, np.ones(len(self.data.counts.pages)), pages).sum(axis=1)
        models = [(model.name, behaviour(model, n, pages), model) for model in self.fitted.models]
        users = [*models, *((m.label, measure_behaviour(m, n, pages), None) for m in _measures(measures))]
        for name, found, model in users:
            if found is None:
                continue
            visits, last = (x if x.ndim == 1 else many @ x / many.sum() for x in found)
            values = {"W": visits / visits.sum(), "L": last, "C": 1.0 - last / np.maximum(visits, 1e-300)}
            values["C"] = np.where(visits > 0, values["C"], np.nan)
            if model is not None and model.kind == "continuation":  # what is filled in is not shown as estimated
                values["C"] = model.estimates["C"].value
                values["L"] = np.where(np.isnan(np.append(values["C"], 0.0)), np.nan, last)
            for panel, value in values.items():
                shown = [i for i in range(n - (panel == "C")) if value[i] == value[i]]
                rows += [[name, panel, i + 1, *[float(value[i])] * 3] for i in shown]
        # last, so that a chart draws it above the others
        for panel in "WLC":
            value, draws = observed[0][panel][0], observed[1][panel]
            low, high = np.quantile(np.where(np.isnan(draws), value, draws), [tail, 1.0 - tail], axis=0)
            for i in range(n - (panel == "C")):
                if came[i] and (panel == "W" or ended[i]) and (panel != "C" or on[i]) and value[i] == value[i]:
                    rows.append(["observed", panel, i + 1, float(value[i]), float(low[i]), float(high[i])])
        return Table(IMPLIED, rows)

    def _common(self, measures: Sequence[Any]) -> GradedPages | None:
        """The pages that all users are put on: those with grades where some look at them."""
        static = all(m.is_static for m in _measures(measures) if not m.is_population)
        return self.pages if static else self.data.counts.graded


def _measures(measures: Sequence[Any]) -> list[Any]:
    """Measures of lists, from their names."""
    return [of_lists(m if isinstance(m, Measure) else parse(m)) for m in measures]


def _behaviour(steps: Any) -> dict[str, Any]:
    """W, L and C of steps by rank."""
    visits, stops = steps.sum(axis=-1), steps[..., 2]
    with np.errstate(divide="ignore", invalid="ignore"):
        return {
            "W": visits / visits.sum(axis=-1, keepdims=True),
            "L": stops / stops.sum(axis=-1, keepdims=True),
            "C": 1.0 - stops / visits,
        }


def fit(
    counts: Counts,
    models: Sequence[str] | str = "all",
    *,
    observation: str = "last",
    steps: str = "path",
    first: str | None = None,
    moves: Sequence[Any] | str = MOVES,
    smooth: float = 1.0,
    confidence: float = Resampled.confidence,
    rounds: int = Resampled.rounds,
    draws: int = Resampled.kept,
    smallest: int | None = None,
    seed: int = Resampled.seed,
    like: Resampled | None = None,
    files: Sequence[str] = (),
    layout: str = "",
    date: str = "",
) -> Fit:
    r"""Users fitted to the counts of a log.

    Parameters
    ----------
    counts : Counts
        From `read_log`.
    models : "all", or some of `MODELS`
    observation : {"last", "cascade", "dependent", "sdbn"}
        What clicks say about how far somebody read: for users who read down.
    steps : {"path", "clicks"}
        What clicks say about a walk: see `amble.logs.chain_fitting`.
    first : {"forward", "stop"}, optional
        What happens at rank 1 instead of going back: for walk, walk-grade and chain. By default what is likelier.
    moves : str or sequence
        Of a chain: ranks forward or back, as ``+2`` or ``-1``, and ``top``, to rank 1.
    smooth : float
        How many moves are added to those from each rank, to all others alike: for markov.
    confidence : float
        Of the intervals.
    rounds, draws : int
        How often sessions are resampled, and how many of the results are kept for scores.
    smallest : int, optional
        A number that fewer sessions are behind is suppressed; by default 10 in a log of 1,000 sessions or more, and
        nothing is suppressed in a smaller one.
    seed : int
    like : Resampled, optional
        Counts of which these are some, whose sessions are resampled.
    files, layout, date
        Where the log comes from, for the file.

    Returns
    -------
    Fit

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from amble.logs import fit, read_log
    >>> lines = []
    >>> for session in range(50):      # all click rank 1, every second also rank 2
    ...     lines += [f"{session}\t0\tQ\t1\t0\ta\tb\tc", f"{session}\t1\tC\ta"]
    ...     lines += [f"{session}\t9\tC\tb"] * (session % 2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     log = pathlib.Path(folder) / "log.tsv"
    ...     _ = log.write_text("\n".join(lines))
    ...     found = fit(read_log(log), "rbp")
    >>> print(found.fitted.models[0].estimates["p"].value)    # 25 of 75 that could continue did
    0.3333333333333333
    """
    checks.one_of(observation, OBSERVATIONS, "observation")
    checks.one_of(steps, STEPS, "steps")
    checks.one_of(first, ("forward", "stop", None), "first")
    checks.number(smooth, "smooth", least=0, most=1e9)
    moves = read_moves(moves)
    chosen = _chosen(models, counts)
    found, notes = list[FittedModel](), list[str]()
    if smallest is None:
        smallest = default_smallest(counts.facts.sessions)
        if not smallest:
            notes.append(f"fewer than {MANY:,} sessions: no count is suppressed (smallest is 0, not {SMALLEST})")
    data = Resampled(counts, rounds, draws, confidence, smallest, seed, like=like)
    if enough_sessions(counts.pages[:, None], smallest).sum() == 0:
        raise AmbleError(
            f"fewer than {smallest} {'persons' if counts.facts.persons else 'sessions'}: too few to fit a user to"
        )
    if counts.present.size < 2:
        raise AmbleError("all is of one session or person, expected at least two: some are held out")
    fitters: dict[str, Fitter] = {
        "walk": lambda d: fit_walk(d, steps, first),
        "walk-rank": lambda d: fit_walk_by_rank(d, steps),
        "walk-grade": lambda d: fit_walk_by_grade(d, first),
        "walk-rank-grade": fit_walk_by_rank_and_grade,
        "chain": lambda d: fit_moves(d, moves, first),
        "rbp": lambda d: fit_rbp(d, observation),
        "insq": lambda d: fit_insq(d, observation),
        **{kind: partial(_fit_adaptive, kind, observation) for kind in ADAPTIVE},
        "msm": fit_session_walk,
        "srbp": fit_session_rbp,
        "continuation": lambda d: fit_continuation(d, observation),
        "markov": lambda d: fit_markov(d, smooth if d.by is None else max(smooth, HALF)),
        "times": lambda d: fit_times(d, censored=False),
        "times-censored": lambda d: fit_times(d, censored=True),
    }
    for name in chosen:
        try:
            found.append(_usable(fitters[name](data)))
        except AmbleError as error:
            if models != "all":
                raise AmbleError(f"{name}: {error}") from None
            notes.append(f"{name} left out: {error}")
    if not found:
        raise AmbleError(notes[-1] if notes else "nothing to fit")
    plain: dict[str, Callable[[Counts], FittedModel]] = {
        m.name: partial(_plainly, fitters[m.name], data) for m in found if m.kind != "times"
    }
    pages = counts.graded if any(map(looks, found)) else None
    if pages is not None and pages.pages.sum() < (clicked := counts.moves[:, 1:, 0].sum()):
        notes.append(f"the last click is compared on {pages.pages.sum():,} of {clicked:,.0f} pages: those with grades")
    seen = likelihoods(counts, plain, observation, steps, pages)
    found = [replace(m, likelihood=(seen[m.name].last or seen[m.name].own) if m.name in seen else None) for m in found]
    found.sort(key=lambda m: seen[m.name].perplexity if m.name in seen else math.inf)
    for i, model in enumerate(found):
        parts = [*filter(None, model.note.split("; ")), *suppression_notes(model, smallest)]
        found[i] = replace(model, note="; ".join(parts))
        notes += [f"{model.name}: {part}" for part in parts if re.search("fewer than|too few", part)]
    facts = counts.facts
    made = enough_sessions(counts.moves[:, 1:, 1:].sum(axis=(1, 2)), smallest) or not facts.moves
    origin = Origin(files, layout, facts.pages, facts.records, facts.moves if made else SUPPRESSED, date)
    return Fit(Fitted(origin, found, smallest=smallest), seen, data, steps, tuple(notes), pages)


def against(counts: Counts, measures: Sequence[Any], models: Sequence[str] | str = "all", **options: Any) -> Table:
    r"""Measures that are users against what people did: how well each predicts the last click, beside fitted users.

    Parameters
    ----------
    counts : Counts
        From `read_log`.
    measures : sequence of str or Measure
    models, **options
        The users that are fitted, as for `fit`.

    Returns
    -------
    Table
        As `Fit.against` has it; `Fit.implied` has what each user does, rank by rank.

    Examples
    --------
    Of 60 pages of three results, half are left at rank 1, and half at rank 3:

    >>> import pathlib, tempfile
    >>> from amble.logs import against, read_log
    >>> rows = [f"{i}\t{1 + 2 * (i % 2)}" for i in range(60)]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     log = pathlib.Path(folder) / "log.tsv"
    ...     _ = log.write_text("\n".join(["session\trank", *rows]))
    ...     counts = read_log(log, "table")
    >>> print(against(counts, ["RBP(p=0.7)", "P@3"], "rbp"))        # RBP(0.7): 0.3, 0.21 and 0.49
    user        parameters   log-lik  perplexity  impossible  distance
    RBP(p=0.7)           0  -57.5...
    """
    return fit(counts, models, **options).against(measures)


def _fit_adaptive(kind: str, observation: str, data: Resampled) -> FittedModel:
    return fit_adaptive(data, kind, observation)


def _plainly(fitter: Fitter, data: Resampled, counts: Counts) -> FittedModel:
    """Fit without resampling, pooled as all data are, whatever is suppressed in these counts: for held-out sessions."""
    return fitter(Resampled(counts, rounds=1, kept=0, smallest=0, by=data))


def _usable(model: FittedModel) -> FittedModel:
    """Refuse a model that measures refuse."""
    if model.kind == "rbp" and not 0 < (p := float(model.estimates["p"].value)) < 1:
        raise AmbleError(f"p is {p:g}, expected a number between 0 and 1, both excluded")
    if model.kind == "continuation" and (model.estimates["C"].known >= 1).all():
        raise AmbleError("C is 1 at all ranks that are not suppressed: the user would never stop")
    return model


def _chosen(models: Sequence[str] | str, counts: Counts) -> list[str]:
    names = list(MODELS) if models == "all" else [models] if isinstance(models, str) else list(dict.fromkeys(models))
    unknown = [name for name in names if name not in MODELS]
    if unknown or not names:
        raise AmbleError(f"model {(unknown or [''])[0]!r:.60}: expected all, or some of {', '.join(MODELS)}")
    lacking = [] if counts.facts.judged else list(_GRADED)
    lacking += [] if counts.onward.any() else list(_SESSIONS)
    lacking += [] if counts.dwell_censored.any() or counts.dwell.any() else list(_TIMED)
    if models == "all":
        return [name for name in names if name not in lacking]
    for name in names:
        if name in lacking:
            lack = "grades of documents: judgments, or a column of grades" if name in _GRADED else "visits with times"
            lack = "sessions of several queries" if name in _SESSIONS else lack
            raise AmbleError(f"{name} needs {lack}")
    return names
