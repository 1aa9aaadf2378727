"""Whether what is fitted to a log comes back: people with known parameters, their logs, and what intervals cover.

Many logs are simulated from each user, written to a file, read, and fitted, as any log is. An interval of level .95
should hold the true value in about 95 of 100 logs. For each parameter: the true value, the mean of the estimates over
logs and how far it is from the true value, the mean width of the intervals, and the share of logs whose interval holds
the true value. Where a parameter has several numbers (by rank, or from rank to rank) the share is over all of them, and
the largest distance and the least share of any of them are told.

Then the users are used: the fit is saved, a list is scored with it, and the interval of the score comes from the draws
in the file. It should hold the score that the true user gives as often.

A share is marked where it is below (-) or above (+) the 99 % bounds of a binomial with the level as its probability;
for several numbers at once the bounds are those of a single one.

Run ``python benchmarks/recovery.py [--logs N] [--sessions N] [--seed S] [--only NAME...]``; needs the extra ``logs``.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import click_logs as made
import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr

import amble
from amble.evaluation.fitted_intervals import interval_of
from amble.logs import read_log
from amble.logs.adaptive_fitting import fit_adaptive
from amble.logs.bootstrap import Resampled
from amble.logs.chain_fitting import fit_markov, fit_walk, fit_walk_by_rank
from amble.logs.counts import Counts
from amble.logs.dwell_times import fit_times
from amble.logs.forward_fitting import fit_continuation, fit_insq, fit_rbp
from amble.logs.moves_fitting import fit_moves
from amble.logs.session_fitting import fit_session_rbp, fit_session_walk
from amble.measures import PH
from amble.measures.fitted_parameters import resampled
from amble.users.chain import Chain
from amble.users.fitted import Fitted, FittedModel, Origin
from amble.users.markov import MarkovUser

Array = NDArray[np.float64]
Rng = np.random.Generator

LEVEL = 0.95
RANKS = 10
GRADES = [1, 0, 0, 1, 0, 0, 1, 0, 0, 1]
FIT = "fit.toml"
DRAWS = 100  # in a file


class User(NamedTuple):
    """Someone who is known: how she makes a log, how she is fitted, and what should come back."""

    story: str
    visits: Callable[[Rng, int], made.Visits]
    fits: dict[str, Callable[[Resampled], FittedModel]]
    truth: dict[str, Array]  # by "fit parameter"
    scores: dict[str, float]  # of `GRADES`, by measure with the file FIT


def _inverse_squares(depth: Array) -> Array:
    return np.asarray((depth / (depth + 1.0)) ** 2)


def _joined(numbers: Array) -> str:
    return ",".join(map(repr, numbers.tolist()))


def walker() -> User:
    """Back and forth, alike at all ranks."""
    moves, stop = made.walk_chain(0.55, 0.15, RANKS)
    return User(
        "walk, p = 0.55, q = 0.15",
        lambda rng, n: made.wandering(rng, n, moves, stop, np.eye(RANKS)[0], np.full(RANKS, 0.03)),
        {"walk": lambda data: fit_walk(data, "path", "stop")},
        {"walk p": np.array(0.55), "walk q": np.array(0.15), "walk s": np.array(0.30)},
        {f"PH(user='{FIT}')": amble.parse("PH(p=0.55,q=0.15,first='stop')").value(GRADES)},
    )


def walker_by_rank() -> User:
    """Back and forth, otherwise at every rank."""
    p, q = np.linspace(0.8, 0.5, 6), np.linspace(0.0, 0.25, 6)
    moves, stop = made.walk_chain(p, q, 6)
    return User(
        "walk by rank, 6 ranks",
        lambda rng, n: made.wandering(rng, n, moves, stop, np.eye(6)[0], np.full(6, 0.03)),
        {"walk": lambda data: fit_walk_by_rank(data, "path")},
        {"walk p": p[:-1], "walk q": q[:-1]},
        {f"PH(user='{FIT}')": amble.parse(f"PH(p='{_joined(p)}',q='{_joined(q)}')").value(GRADES[:6])},
    )


def rbp() -> User:
    """Down, with one probability of going on."""
    return User(
        "RBP, p = 0.7",
        lambda rng, n: made.reading(rng, n, np.full(RANKS, 0.7)),
        {"rbp": lambda data: fit_rbp(data, "last"), "continuation": lambda data: fit_continuation(data, "last")},
        {"rbp p": np.array(0.7), "continuation C": np.full(RANKS - 1, 0.7)},
        {f"RBP(user='{FIT}')": amble.parse("RBP(p=0.7)").value(GRADES)},
    )


def insq() -> User:
    """Down, the deeper the likelier."""
    rank = np.arange(1.0, RANKS + 1)
    return User(
        "INSQ, T = 1.5",
        lambda rng, n: made.reading(rng, n, _inverse_squares(rank + 2 * 1.5 - 1)),
        {"insq": lambda data: fit_insq(data, "last")},
        {"insq T": np.array(1.5)},
        {f"INSQ(user='{FIT}')": amble.parse("INSQ(T=1.5)").value(GRADES)},
    )


def inst() -> User:
    """Down, until her hope is fulfilled; a third of all documents is relevant."""
    rank = np.arange(1.0, RANKS + 1)

    def visits(rng: Rng, n: int) -> made.Visits:
        grades = (rng.random((n, RANKS)) < 1 / 3).astype(float)
        seen = np.cumsum(grades, axis=1)
        return made.reading(rng, n, _inverse_squares(rank + 2 * 2.5 - seen - 1), grades=grades)

    score = amble.parse("INST(T=2.5)").value(GRADES)
    fits = {"inst": lambda data: fit_adaptive(data, "inst", "last")}
    return User("INST, T = 2.5", visits, fits, {"inst T": np.array(2.5)}, {f"INST(user='{FIT}')": score})


def wanderer() -> User:
    """From rank to rank, with a time of her own at each."""
    n = 5
    rng = np.random.default_rng(7)
    weights = rng.random((n, n)) + 0.5
    np.fill_diagonal(weights, 0.0)
    probabilities = weights / weights.sum(axis=1, keepdims=True)
    rates = np.array([0.02, 0.03, 0.05, 0.08, 0.1])
    return User(
        "wanderer, 5 ranks",
        lambda rng, m: made.wandering(rng, m, 0.8 * probabilities, np.full(n, 0.2), np.full(n, 1 / n), rates),
        {
            "markov": lambda data: fit_markov(data, 1.0),
            "times": lambda data: fit_times(data, censored=False),
            "times-censored": lambda data: fit_times(data, censored=True),
        },
        {
            "markov P": probabilities[~np.eye(n, dtype=bool)].reshape(n, n - 1),
            "times mu": rates,
            "times-censored mu": rates,
        },
        {
            f"MP(user='{FIT}')": MarkovUser(matrix=probabilities).over(GRADES[:n]).score,
            f"MP(rates='{FIT}',user='{FIT}')": MarkovUser(matrix=probabilities, rates=rates).over(GRADES[:n]).score,
        },
    )


def jumper() -> User:
    """By moves of several lengths, alike at all ranks."""
    names = {+1: 0.45, -1: 0.15, +2: 0.1, "top": 0.05}
    on_list = Chain.from_moves(names, first="stop").over(RANKS)
    moves = on_list.transition_matrix
    true = {f"chain {move if move == 'top' else format(move, '+d')}": np.array(x) for move, x in names.items()}
    return User(
        "chain of four moves",
        lambda rng, n: made.wandering(rng, n, moves, 1.0 - moves.sum(axis=1), np.eye(RANKS)[0], np.full(RANKS, 0.03)),
        {"chain": lambda data: fit_moves(data, ("+1", "-1", "+2", "top"), "stop")},
        true | {"chain stop": np.array(0.25)},
        {f"PH(user='{FIT}')": PH(user=Chain.from_moves(names, first="stop")).value(GRADES)},
    )


def adaptive() -> User:
    """Down, until her hope is fulfilled, as adaptive INSQ's user."""
    rank = np.arange(1.0, RANKS + 1)

    def visits(rng: Rng, n: int) -> made.Visits:
        grades = (rng.random((n, RANKS)) < 1 / 3).astype(float)
        left = np.maximum(0.0, 2.5 - np.cumsum(grades, axis=1))
        return made.reading(rng, n, _inverse_squares(rank + 2 * left), grades=grades)

    score = amble.parse("INSQ(T=2.5,adaptive=True)").value(GRADES)
    fits = {"insq-adaptive": lambda data: fit_adaptive(data, "insq-adaptive", "last")}
    truth = {"insq-adaptive T": np.array(2.5)}
    return User("adaptive INSQ, T = 2.5", visits, fits, truth, {f"INSQ(user='{FIT}')": score})


def asker() -> User:
    """Back and forth, and from query to query."""
    p, q, r, s = 0.6, 0.1, 0.2, 0.1
    return User(
        "MsM, p q r s = .6 .1 .2 .1",
        lambda rng, n: made.asking(rng, n, p, q, r, s),
        {"msm": fit_session_walk},
        {f"msm {name}": np.array(x) for name, x in zip("pqrs", (p, q, r, s), strict=True)},
        {},
    )


def reader_of_sessions() -> User:
    """Down, and from query to query."""
    p, b = 0.8, 0.7
    return User(
        "sRBP, p = 0.8, b = 0.7",
        lambda rng, n: made.asking(rng, n, b * p, 0.0, p - b * p, 1.0 - p),
        {"srbp": fit_session_rbp},
        {"srbp p": np.array(p), "srbp b": np.array(b)},
        {},
    )


USERS = {
    "walk": walker, "walk-rank": walker_by_rank, "rbp": rbp, "insq": insq, "inst": inst, "markov": wanderer,
    "chain": jumper, "insq-adaptive": adaptive, "msm": asker, "srbp": reader_of_sessions,
}  # fmt: skip


def _numbers(fit: str, name: str, model: FittedModel) -> tuple[Array, Array, Array]:
    """An estimate and the ends of its interval; of a matrix without the diagonal."""
    e = model.estimates[name]
    parts = [np.asarray(x) for x in (e.value, e.low, e.high)]
    if fit == "markov":
        n = len(e.value)
        off = ~np.eye(n, dtype=bool)
        parts = [x[off].reshape(n, n - 1) for x in parts]
    return parts[0], parts[1], parts[2]


def _scores(name: str, grades: list[int]) -> tuple[Array, Array, Array]:
    """A score and the ends of its interval."""
    m = amble.parse(name)
    ends = interval_of(np.array([one.value(grades) for one in resampled(m, DRAWS)]), LEVEL)
    return np.array(m.value(grades)), ends[0], ends[1]


def recovered(user: User, logs: int, sessions: int, seed: int, folder: Path) -> list[list[object]]:
    """A row for each parameter."""
    found: dict[str, list[tuple[Array, Array, Array]]] = {key: [] for key in (*user.truth, *user.scores)}
    for i in range(logs):
        visits = user.visits(np.random.default_rng((seed, i)), sessions)
        path = str(folder / "log.tsv")
        made.write_table(path, [visits], seed=i)
        counts: Counts = read_log(path, "table", depth=visits.ranks, longest=1e9)
        data = Resampled(counts, rounds=500, kept=DRAWS, confidence=LEVEL, seed=i)
        models = {name: fit(data) for name, fit in user.fits.items()}
        for key in user.truth:
            fit, _, name = key.rpartition(" ")
            found[key].append(_numbers(fit, name, models[fit]))
        origin = Origin(["log.tsv"], "table", sessions, counts.facts.records, counts.facts.moves)
        amble.write_fit(folder / FIT, Fitted(origin, list(models.values())))
        for name in user.scores:
            found[name].append(_scores(name.replace(FIT, str(folder / FIT)), GRADES[: visits.ranks]))
    rows: list[list[object]] = []
    for key, truth in (user.truth | {name: np.array(score) for name, score in user.scores.items()}).items():
        value, low, high = (np.array([row[j] for row in found[key]]) for j in range(3))
        holds = ((low <= truth + 1e-9) & (truth - 1e-9 <= high)).reshape(logs, -1).mean(axis=0)
        mean, width = value.mean(axis=0), (high - low).mean(axis=0)
        one = truth.ndim == 0
        rows.append(
            [
                user.story, key + ("" if one else f" ({truth.size})"),
                f"{truth:.4f}" if one else "", f"{mean:.4f}" if one else "",
                f"{abs(mean - truth).max():.4f}", f"{width.mean():.4f}",
                _marked(float(holds.mean()), logs), "" if one else f"{holds.min():.3f}",
            ]
        )  # fmt: skip
    return rows


def _marked(share: float, logs: int) -> str:
    k = round(share * logs)
    below, above = bdtr(k, logs, LEVEL) < 0.005, bdtr(k - 1, logs, LEVEL) > 0.995
    return f"{share:.3f}{'-' if below else '+' if above else ''}"


def main() -> None:
    """Simulate, fit, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--logs", type=int, default=400)
    parser.add_argument("--sessions", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", choices=sorted(USERS), default=list(USERS))
    args = parser.parse_args()
    print(f"{args.logs} logs of {args.sessions:,} sessions each, intervals of level {LEVEL}")
    heads = ("user", "parameter", "true", "mean", "off", "width", "covered", "least")
    form = "{:<26} {:<40} {:>7} {:>7} {:>7} {:>7} {:>8} {:>6}"
    print(form.format(*heads))
    with tempfile.TemporaryDirectory() as folder:
        for name in args.only:
            start = time.perf_counter()
            for row in recovered(USERS[name](), args.logs, args.sessions, args.seed, Path(folder)):
                print(form.format(*map(str, row)), flush=True)
            took = time.perf_counter() - start
        print(f"the last took {took:.0f} s")


if __name__ == "__main__":
    main()
