"""MsM on many sessions, beside the dense algebra of its authors' appendix.

100,000 sessions of 10 queries with 10 documents each, grades from 0 to 3, a fifth of them above 0. amble makes its
sessions from the array and scores them; the dense way solves three systems of equations a session, as the pseudo-code
has it (numpy), on a sample, scaled up. No other package computes MsM. Contenders take turns, the least of N rounds
counts; processor time.

  python benchmarks/bench_session.py [--rounds 5] [--sessions 100000]
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

import amble

SAMPLE = 300
P, Q, R, S = 0.6, 0.1, 0.2, 0.1
MEASURES = ("MsM", "MsM(discount='log')", "sRBP", "sDCG", "nsDCG", "esP", "esAP", "CubeTest")


def dense(sessions: NDArray[np.float64]) -> NDArray[np.float64]:
    """MsM of each session with the matrices written out."""
    out = np.empty(len(sessions))
    for i, matrix in enumerate(sessions):
        k, n = matrix.shape
        chain = np.zeros((n, n + 2))
        for row in range(n):
            if row > 0:
                chain[row, row - 1] = Q
            if row < n - 1:
                chain[row, row + 1] = P
            chain[row, n:] = S, R
        chain /= chain.sum(axis=1, keepdims=True)
        inner = chain[:, :n] / chain[:, :n].sum(axis=1, keepdims=True)
        times = [0.0] + [np.linalg.solve(np.eye(m) - inner[:m, :m], np.ones(m))[0] for m in range(1, n)]
        kept = chain[:, :n] / (1 - chain[:, [n]])
        leaving = np.linalg.solve(np.eye(n) - kept, np.ones(n))[0]
        stops = np.linalg.solve(np.eye(n) - chain[:, :n], chain[:, n])[0]
        away = 1 + np.array(times) + leaving * np.arange(k)[:, None]
        out[i] = ((1 - stops) ** np.arange(k) @ (matrix / away)).sum()
    return out


def cpu(function: Callable[[], object]) -> float:
    """Processor seconds of a call."""
    begin = time.process_time()
    function()
    return time.process_time() - begin


def main() -> None:
    """Race and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sessions", type=int, default=100_000)
    args = parser.parse_args()
    rng = np.random.default_rng(1)
    shape = (args.sessions, 10, 10)
    grades = np.where(rng.random(shape) < 0.2, rng.integers(1, 4, shape), 0).astype(float)
    measure = amble.parse("MsM")
    assert isinstance(measure, amble.measures.SessionMeasure)
    some = grades[:SAMPLE]
    np.testing.assert_allclose(measure.scores(amble.Sessions.of_array(some)), dense(some), rtol=1e-10)
    contenders = {
        "amble: array to scores": lambda: measure.scores(amble.Sessions.of_array(grades)),
        f"dense algebra, scaled from {SAMPLE}": lambda: dense(some),
    }
    best = dict.fromkeys(contenders, float("inf"))
    for _ in range(args.rounds):
        for name, work in contenders.items():
            best[name] = min(best[name], cpu(work))
    ours, theirs = best.values()
    theirs *= args.sessions / SAMPLE
    rows = [["amble: array to scores", ours, 1.0], [f"dense algebra, scaled from {SAMPLE}", theirs, theirs / ours]]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print = sys.stdout.write
    print(f"MsM on {args.sessions:,} sessions of 10 queries x 10 documents, least of {args.rounds}\n")
    print(
        amble.Table(["", "CPU s", "ratio"], rows, digits=3).text()
        + f"\npeak {peak:.0f} MB, array included; numpy {np.__version__}\n"
    )
    few = amble.Sessions.of_array(grades[: max(args.sessions // 100, 1)])
    rows = []
    for text in MEASURES:
        m = amble.parse(text)
        assert isinstance(m, amble.measures.SessionMeasure)
        rows.append([text, min(cpu(lambda m=m: m.scores(few)) for _ in range(args.rounds))])  # type: ignore[misc]
    print(f"\nother measures on {few.n:,} of them\n" + amble.Table(["", "CPU s"], rows, digits=4).text() + "\n")


if __name__ == "__main__":
    main()
