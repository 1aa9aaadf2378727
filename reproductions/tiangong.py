"""Which measure of sessions, and which user, goes with what people felt and did: the TianGong-Qref sample.

500 sessions of a field study (Chen et al. 2021), of two to ten queries, with the grades of ten documents each, the last
rank that the person reached, and how satisfied she was with the session, from 0 to 4.

Satisfaction: the correlation of every measure with it, Pearson's r, Spearman's rho and Kendall's tau-b, with 95 %
intervals by the bootstrap over sessions (percentiles; all measures on the same resamples), and tests of the best of
them with the others; then the same of measures of lists with the satisfaction with each query, all queries of a session
resampled together. Behaviour: the log-likelihood of the last rank of each query and of the number of queries, under
each user. P(last rank >= i) is the probability that she ever sees document i, and the probability to go on is
r / (r + s), so each user has a likelihood, those who go back, too.

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
from amble.metaevaluation import satisfaction as correlate
from amble.progress import Progress
from amble.users.session_user import SessionWalk

Array = NDArray[np.float64]

MEASURES = (
    "MsM", "MsM(discount='log')", "sDCG", "nsDCG", "sRBP", "sRBP(p=0.9,b=0.5)", "esP", "esP@10", "esR", "esnDCG@10",
    "esRR", "esAP", "CubeTest", "ACT", "ExpectedUtility", "sU", "PerQuery(of='nDCG@10')",
    "PerQuery(of='nDCG@10',over='max')", "PerQuery(of='nDCG@10',over='last')", "PerQuery(of='DCG@10')",
    "PerQuery(of='DCG@10',over='sum')", "PerQuery(of='DCG@10',over='max')", "PerQuery(of='DCG@10',over='last')",
    "PerQuery(of='RBP(p=0.8)')", "PerQuery(of='RBP(p=0.8)',over='last')", "PerQuery(of='ERR')",
    "PerQuery(of='ERR',over='last')", "sINSQ", "sINSQ(T=2)", "sINSQ(T=4)",
)  # fmt: skip
LISTS = (
    "P@1", "P@5", "P@10", "RR", "AP", "ERR", "DCG@3", "DCG@10", "nDCG@3", "nDCG@10", "RBP(p=0.8)", "GRBP(p=0.8)",
    "INSQ", "INSQ(T=1.329,adaptive=True)", "INST(T=1.4684)", "SDCG@10",
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


def satisfaction(title: str, scores: Any, felt: dict[Any, float], args: argparse.Namespace) -> amble.Table:
    """The table of correlations with labels, best tau-b first, and the tests of the best measure with the others."""
    with Progress("resampling") as line:
        found = correlate(scores, felt, rounds=args.rounds, seed=args.seed, progress=line)
    table = found.table()
    table.rows.sort(key=lambda row: -row[table.columns.index("tau")])  # type: ignore[operator]
    head(f"Correlation with satisfaction, {title}, 95 % intervals ({args.rounds} resamples)")
    show(list(table.columns), [list(row) for row in table], digits=3)
    best = str(table.rows[0][0])
    for test in ("bootstrap", "williams")[: 1 + (found.units == found.observations)]:
        pairs = found.pairs(test=test, baseline=best)
        rows = sorted((list(row) for row in pairs), key=lambda row: -row[pairs.columns.index("p")])[:15]
        say(f"\nMeasures minus {best}, the largest p-values. {pairs.caption}")
        show(list(pairs.columns), rows, digits=4)
    return table


def by_session(path: Path, sessions: list[Any], args: argparse.Namespace) -> None:
    """Measures of sessions."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", amble.NormalisedWarning)
        scores = amble.evaluate(amble.read_sessions(None, path), measures())
    felt = {str(session["session_id"]): float(session["satisfaction"]) for session in sessions}
    table = satisfaction(f"{len(felt)} sessions", scores, felt, args)
    (args.output / "tiangong.tsv").write_text(table.tsv() + "\n", encoding="utf-8")


def by_query(sessions: list[Any], args: argparse.Namespace) -> None:
    """Measures of lists; of a query, the place in its session stands for the run, so that sessions are resampled."""
    queries = [
        ((f"{j}", str(session["session_id"])), query)
        for session in sessions
        for j, query in enumerate(session["queries"], 1)
    ]
    grades = amble.Sessions.of_array([[query["rel_list"]] for _, query in queries])
    values = amble.evaluate(grades, LISTS).values[0].T
    scores = {
        name: dict(zip((at for at, _ in queries), of.tolist(), strict=True))
        for name, of in zip(LISTS, values, strict=True)
    }
    felt = {at: float(query["satisfaction"]) for at, query in queries}
    satisfaction(f"{len(felt)} queries", scores, felt, args)


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
    deep = [[query["max_stop_rank"] for query in session["queries"]] for session in sessions]
    note(f"{sum(depth > 10 for of in deep for depth in of)} last rank beyond 10, taken as 10")
    by_session(path, sessions, args)
    by_query(sessions, args)
    behaviour([[min(depth, 10) for depth in of] for of in deep])
    return 0


if __name__ == "__main__":
    run(main)
