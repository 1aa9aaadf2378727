"""Labels and scores in arrays: measures of amble beside those of scikit-learn, and of torchmetrics where it is there.

Each contender scores the same arrays in cold processes: once to be warm, then as many times as are counted. The time
inside is that of these calls, imports left out. Values are compared first: nDCG@10 without ties, nDCG@10 with ties
(``ties="expected"``, which is what ``ndcg_score`` does) and AP. ``average_precision_score`` and torchmetrics take one
topic at a time, or all by ``average="samples"``, which is a loop.

Run ``python benchmarks/bench_arrays.py [--rounds N]``.
"""

from __future__ import annotations

import argparse

import race

# amble is imported in children only: see `race`

PACKAGES = ("amble-ir", "numpy", "scikit-learn", "torchmetrics")
SHAPES = ((32, 50), (1000, 100), (1000, 1000), (6980, 10))
TIMES = 3  # calls that are counted

DRAWN = """
import numpy as np
n, m, tied = int(args[0]), int(args[1]), args[2] == "nDCG tied"
rng = np.random.default_rng(1)
labels = (rng.random((n, m)) < 0.1) * rng.integers(1, 4, (n, m))
labels[:, 0] = 1
scores = rng.permuted(np.tile(np.linspace(0, 1, m), (n, 1)), axis=1)
scores = scores.round(1) if tied else scores
"""
OURS = {
    "nDCG": "(nDCG @ 10).of_arrays(labels, scores)",
    "nDCG tied": "(nDCG @ 10).of_arrays(labels, scores, ties='expected')",
    "AP": "AP.of_arrays(labels, scores)",
}
THEIRS = {
    "nDCG": "ndcg_score(labels, scores, k=10)",
    "nDCG tied": "ndcg_score(labels, scores, k=10)",
    "AP": "average_precision_score(labels > 0, scores, average='samples')",
}
TORCH = {
    "nDCG": "RetrievalNormalizedDCG(top_k=10)(*tensors, indexes=rows)",
    "AP": "RetrievalMAP()(tensors[0], tensors[1] > 0, indexes=rows)",
}
IMPORTS = {
    "amble": "from amble.measures import AP, nDCG",
    "scikit-learn": "from sklearn.metrics import average_precision_score, ndcg_score",
    "torchmetrics": "import torch\nfrom torchmetrics.retrieval import RetrievalMAP, RetrievalNormalizedDCG",
}
TENSORS = """
tensors = torch.tensor(scores.ravel()), torch.tensor(labels.ravel())
rows = torch.arange(n).repeat_interleave(m)
"""


def contenders(measure: str, shape: tuple[int, int]) -> list[race.Contender]:
    """All who have a measure, on arrays of a shape."""
    out = []
    for name, of in (("amble", OURS), ("scikit-learn", THEIRS), ("torchmetrics", TORCH)):
        if measure not in of:
            continue
        module = {"scikit-learn": "sklearn"}.get(name, name)
        setup = IMPORTS[name] + DRAWN + TENSORS * (name == "torchmetrics") + f"warm = {of[measure]}"
        argv = race.snippet(setup, "", f"for _ in range({TIMES}): value = {of[measure]}", "0", *shape, measure)
        out.append(race.Contender(name, argv, absent="" if race.installed(module) else "not installed"))
    return out


AGREE = (
    "\n".join([IMPORTS["amble"], IMPORTS["scikit-learn"], DRAWN])
    + "ours = {}\ntheirs = {}\ndifference = abs(ours - theirs)\n"
    "if difference > 1e-12: raise SystemExit(f'{args}: {ours} and {theirs} differ')"
)


def main() -> None:
    """Compare the values, race, print a table for each measure and shape."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=2)
    rounds = parser.parse_args().rounds
    print(f"# Arrays\n\n{race.machine(*PACKAGES)}\n")
    for measure in OURS:
        for shape in SHAPES:
            if race.installed("sklearn"):
                code = AGREE.replace("ours = {}", f"ours = {OURS[measure]}")
                code = code.replace("theirs = {}", f"theirs = {THEIRS[measure]}")
                same = race.lap(race.Contender("same", race.snippet(code, "", "", "0", *shape, measure)))
                if same.trouble:
                    raise SystemExit(same.trouble)
            watch, run = race.Watch(), contenders(measure, shape)
            laps = race.race(run, rounds)
            print(f"## {measure}@10, {shape[0]} × {shape[1]}, {TIMES} calls\n".replace("AP@10", "AP"))
            print(race.table(run, laps, "amble"), f"\n\n{watch}\n")


if __name__ == "__main__":
    main()
