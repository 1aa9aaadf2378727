"""amble beside pyndeval, ndeval's own core: every value of every measure that both have, at every rank down to 20.

``python benchmarks/agree_pyndeval.py --topics 2000`` makes random judgments of subtopics (0 and 1, as ndeval takes no
others) and a run without ties, and prints how many values were compared, the largest difference, and how many differ by
more than 1e-12: exit code 1 if any does. It needs pyndeval (the extra ``bench``).

At rank 1 ndeval does not divide ERR-IA and alpha-DCG by the greatest value that they can have, as it does from rank 2
on (its loops start there); amble's values, times the number of subtopics, are compared there. Ties: pyndeval breaks
them by docno ascending, and ndeval goes by the rank column; amble by docno descending, as trec_eval does
(``--ties rank`` for ndeval's).
"""

from __future__ import annotations

import argparse
import random
import sys

import amble

SAME = 1e-12
AT_RANKS = {
    "ERR-IA": "ERR_IA(alpha={alpha})",
    "nERR-IA": "nERR_IA(alpha={alpha})",
    "alpha-DCG": "alpha_DCG(alpha={alpha})",
    "alpha-nDCG": "alpha_nDCG(alpha={alpha})",
    "P-IA": "P_IA",
    "strec": "StRec",
}
WHOLE = {"NRBP": "NRBP(alpha={alpha},beta={beta})", "nNRBP": "nNRBP(alpha={alpha},beta={beta})", "MAP-IA": "MAP_IA"}
RAW = ("ERR-IA@1", "alpha-DCG@1")

Judged = dict[str, dict[str, dict[str, int]]]


def collection(topics: int, seed: int) -> tuple[Judged, dict[str, dict[str, float]]]:
    """Judgments of one to eight subtopics, some without a relevant document, and a run."""
    rng = random.Random(seed)
    judged: Judged = {}
    run: dict[str, dict[str, float]] = {}
    for t in map(str, range(topics)):
        docs = [f"d{i:03d}" for i in range(rng.randrange(5, 120))]
        rng.shuffle(docs)
        likely = rng.choice((0.05, 0.2, 0.5))
        judged[t] = {
            f"s{s}": {d: int(rng.random() < likely) for d in docs[: rng.randrange(1, len(docs))]}
            for s in range(rng.randrange(1, 9))
        }
        judged[t]["s0"][docs[0]] = 1
        found = rng.sample(docs, rng.randrange(1, len(docs) + 1))
        run[t] = {d: float(len(found) - i) for i, d in enumerate(found)}
    return judged, run


def main() -> int:
    """Compare, for several alpha and beta."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--topics", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    import pyndeval

    judged, run = collection(args.topics, args.seed)
    rows = [(t, s, d, g) for t, own in judged.items() for s, docs in own.items() for d, g in docs.items()]
    lines = [(t, d, x) for t, docs in run.items() for d, x in docs.items()]
    theirs = [f"{name}@{k}" for name in AT_RANKS for k in range(1, 21)] + list(WHOLE)
    failed = 0
    for alpha, beta in ((0.5, 0.5), (0.25, 0.8), (0.8, 0.3)):
        found = pyndeval.ndeval(rows, lines, theirs, alpha=alpha, beta=beta)
        names = [(AT_RANKS | WHOLE)[x.partition("@")[0]].format(alpha=alpha, beta=beta) for x in theirs]
        ours = [name + "".join(x.partition("@")[1:]) for name, x in zip(names, theirs, strict=True)]
        scores = amble.evaluate(judged, {"x": run}, ours)
        worst, different = 0.0, 0
        for j, name in enumerate(theirs):
            for t, topic in enumerate(scores.topics):
                by = sum(any(own.values()) for own in judged[topic].values()) if name in RAW else 1
                apart = abs(scores.values[0, t, j] * by - found[topic][name])
                worst, different = max(worst, apart), different + (apart > SAME)
        n = len(theirs) * len(scores.topics)
        print(f"alpha {alpha}, beta {beta}: {n:,} values, largest difference {worst:.1e}, {different} above {SAME:g}")
        failed += different
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
