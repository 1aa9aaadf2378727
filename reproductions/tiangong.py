"""Which measure of sessions, and which user, goes with what people felt and did: the TianGong-Qref sample.

500 sessions of a field study (Chen et al. 2021), of two to ten queries, with the grades of ten documents each, the last
rank that the person reached, and how satisfied she was with the session, from 0 to 4.

Satisfaction: the rank correlation of every measure with it, Kendall's tau-b and Spearman's rho, with 95 % intervals by
the bootstrap over sessions (percentiles; all measures on the same resamples). Behaviour: the log-likelihood of the last
rank of each query and of the number of queries, under each user. P(last rank >= i) is the probability that she ever
sees document i, and the probability to go on is r / (r + s), so each user has a likelihood, those who go back, too.

  python reproductions/tiangong.py data/sessions/tiangong-qref.json.gz
  AMBLE_DATA=data python reproductions/tiangong.py --rounds 2000

Prints tables, and writes tiangong.tsv.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from figures import head, note, run, say, show
from numpy.typing import NDArray

import amble
from amble.measures.catalogue.sessions_weighted import AUTHORS
from amble.metaevaluation import kendall, spearman
from amble.progress import Progress
from amble.users.session_user import SessionWalk

Array = NDArray[np.float64]

MEASURES = (
    "MsM", "MsM(discount='log')", "sDCG", "nsDCG", "sRBP", "sRBP(p=0.9,b=0.5)", "esP", "esP@10", "esR", "esnDCG@10",
    "esRR", "esAP", "CubeTest", "ACT", "ExpectedUtility", "sU", "PerQuery(of='nDCG@10')",
    "PerQuery(of='nDCG@10',over='max')", "PerQuery(of='nDCG@10',over='last')", "PerQuery(of='DCG@10')",
    "PerQuery(of='DCG@10',over='sum')", "PerQuery(of='DCG@10',over='max')", "PerQuery(of='DCG@10',over='last')",
    "PerQuery(of='RBP(p=0.8)')", "PerQuery(of='RBP(p=0.8)',over='last')", "PerQuery(of='ERR')",
    "PerQuery(of='ERR',over='last')",
)  # fmt: skip


def data_file(path: Path | None) -> Path:
    """The file, given or in the folder that AMBLE_DATA names."""
    if path is None:
        named = os.environ.get("AMBLE_DATA")
        if not named:
            raise amble.AmbleError("no data: name tiangong-qref.json.gz, or set AMBLE_DATA to the folder of sessions/")
        path = Path(named) / "sessions" / "tiangong-qref.json.gz"
    if not path.exists():
        raise amble.AmbleError(f"no data: {path} is not there")
    return path


def measures() -> list[str]:
    """All that is correlated: measures, and MsM with each of its authors' users."""
    users = [f"MsM(discount='{kind}',user='{user}')" for user in AUTHORS for kind in ("linear", "log")]
    return [str(amble.parse(text)) for text in (*MEASURES, *users)]


def correlations(scores: Array, felt: Array, rounds: int, seed: int) -> tuple[Array, Array]:
    """tau-b and rho of every column of scores with satisfaction, and both on every resample of the sessions.

    A resample is a weight for each session: how often it was drawn. A pair counts as often as its weights' product.
    """
    rng = np.random.default_rng(seed)
    draws = rng.multinomial(felt.size, np.full(felt.size, 1 / felt.size), rounds).astype(float)
    found = np.array([[kendall(x, felt), spearman(x, felt)] for x in scores.T])
    line = Progress("resampling sessions")
    again = np.empty((rounds, scores.shape[1], 2))
    theirs, felt_ranks = np.sign(felt[:, None] - felt), weighted_ranks(felt, draws)
    try:
        for j, x in enumerate(scores.T):
            mine = np.sign(x[:, None] - x)
            both, one, two = (((draws @ pairs) * draws).sum(axis=1) for pairs in (mine * theirs, mine**2, theirs**2))
            again[:, j, 0] = both / np.sqrt(one * two)
            again[:, j, 1] = weighted_correlation(weighted_ranks(x, draws), felt_ranks, draws)
            line(j + 1, scores.shape[1])
    finally:
        line.close()
    return found, again


def weighted_ranks(x: Array, draws: Array) -> Array:
    """Mid-ranks in every resample."""
    below = (x < x[:, None]) + 0.5 * (x == x[:, None])
    return np.asarray(draws @ below.T)


def weighted_correlation(x: Array, y: Array, draws: Array) -> Array:
    """Pearson's correlation in every resample."""
    n = draws.sum(axis=1, keepdims=True)
    x = x - (draws * x).sum(axis=1, keepdims=True) / n
    y = y - (draws * y).sum(axis=1, keepdims=True) / n
    return np.asarray((draws * x * y).sum(axis=1) / np.sqrt((draws * x**2).sum(axis=1) * (draws * y**2).sum(axis=1)))


def likelihood(walk: SessionWalk, depths: list[list[int]]) -> tuple[float, float]:
    """Log-likelihoods of the last ranks, and of the numbers of queries."""
    reach = walk.over([10, 10]).seen[0]
    ends = reach - np.append(reach[1:], 0.0)
    ranks = sum(float(np.log(ends[depth - 1])) for of in depths for depth in of)
    on = walk.onward
    queries = sum((len(of) - 1) * np.log(on) + np.log(1.0 - on) for of in depths)
    return ranks, float(queries)


def fitted(depths: list[list[int]]) -> SessionWalk:
    """The forward user of greatest likelihood: closed forms, as nobody gets past rank 10."""
    steps = sum(depth - 1 for of in depths for depth in of)
    left = sum(depth < 10 for of in depths for depth in of)
    p = steps / (steps + left)
    on = sum(len(of) - 1 for of in depths) / sum(len(of) for of in depths)
    return SessionWalk(p, 0.0, (1 - p) * on, (1 - p) * (1 - on))


def walks() -> dict[str, SessionWalk]:
    """The users whose behaviour is compared."""
    out: dict[str, SessionWalk] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", amble.NormalisedWarning)
        for user in AUTHORS:
            out[f"MsM's {user}"] = amble.parse(f"MsM(user='{user}')").one_user  # type: ignore[attr-defined]
    out["MsM"] = amble.parse("MsM").one_user  # type: ignore[attr-defined]
    out["esP and its kin"] = amble.parse("esP").one_user  # type: ignore[attr-defined]
    for text in ("sRBP", "sRBP(p=0.9,b=0.5)"):
        w = amble.parse(text).one_user  # type: ignore[attr-defined]
        out[f"{text}, lists of ten"] = SessionWalk(w.p, 0.0, w.r, w.s)
    return out


def satisfaction(path: Path, felt: Array, args: argparse.Namespace) -> None:
    """The table of correlations."""
    names = measures()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", amble.NormalisedWarning)
        scores = amble.evaluate(amble.read_sessions(None, path), names)
    found, again = correlations(scores.values[0], felt, args.rounds, args.seed)
    low, high = np.quantile(again, [0.025, 0.975], axis=0)
    rows = [
        [name, found[i, 0], low[i, 0], high[i, 0], found[i, 1], low[i, 1], high[i, 1]] for i, name in enumerate(names)
    ]
    rows.sort(key=lambda row: -row[1])
    head(f"Rank correlation with satisfaction, {felt.size} sessions, 95 % intervals ({args.rounds} resamples)")
    columns = ["measure", "tau-b", "low", "high", "rho", "low", "high"]
    show(columns, rows, digits=3)
    best = names.index(rows[0][0])
    beaten = (again[:, best, :1] > again[:, :, 0]).mean(axis=0)
    say(f"\nIn how many resamples {rows[0][0]} has the greater tau-b:")
    show(["measure", "share"], sorted(([n, float(beaten[i])] for i, n in enumerate(names)), key=lambda r: r[1])[:15], 3)
    (args.output / "tiangong.tsv").write_text(amble.Table(columns, rows, digits=6).tsv() + "\n", encoding="utf-8")


def behaviour(depths: list[list[int]]) -> None:
    """The table of likelihoods."""
    queries = sum(map(len, depths))
    best = fitted(depths)
    rows: list[list[Any]] = []
    for name, walk in {**walks(), "fitted, forward": best}.items():
        ranks, asked = likelihood(walk, depths)
        rows.append([name, walk.p, walk.q, walk.r, walk.s, ranks, asked, float(np.exp(-(ranks + asked) / queries))])
    rows.sort(key=lambda row: row[-1])
    head(f"Log-likelihood of last ranks and numbers of queries, {len(depths)} sessions, {queries} queries")
    show(["user", "p", "q", "r", "s", "ranks", "queries", "perplexity of a query"], rows, digits=3)


def main(words: list[str]) -> int:
    """Read, correlate, compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path)
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, default=Path(), help="folder of tiangong.tsv")
    args = parser.parse_args(words)
    path = data_file(args.file)
    with gzip.open(path) as file:
        sessions = json.load(file)
    felt = np.array([session["satisfaction"] for session in sessions], float)
    deep = [[query["max_stop_rank"] for query in session["queries"]] for session in sessions]
    note(f"{sum(depth > 10 for of in deep for depth in of)} last rank beyond 10, taken as 10")
    satisfaction(path, felt, args)
    behaviour([[min(depth, 10) for depth in of] for of in deep])
    return 0


if __name__ == "__main__":
    run(main)
