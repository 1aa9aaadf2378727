"""amble with ``score_dtype="float32"`` beside pytrec_eval, which compares scores as floats: every shared measure.

``python benchmarks/agree_pytrec_eval.py --topics 1500`` makes random judgments and a random run whose scores are often
equal as floats and not as doubles, and prints how many values were compared and how many differ (by more than a
billionth), with doubles and with floats. Exit code 1 if any differs with floats. It needs pytrec-eval-terrier (the
extra ``bench``).
"""

from __future__ import annotations

import argparse
import math
import sys
from typing import Any

import numpy as np

import amble
from amble.errors import MeasureError
from amble.measures.trec_names import all_trec

CLOSE = 1e-9
LEAST = 1e-5  # what trec_eval takes the logarithm of where a score is 0

Grades = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]


def collection(topics: int, seed: int) -> tuple[Grades, Run]:
    """Judgments (grades -1 to 3) and a run: floats on a coarse grid, and a little more, less than floats tell apart."""
    rng = np.random.default_rng(seed)
    qrels: Grades = {}
    run: Run = {}
    for t in range(topics):
        docs = [f"d{i}" for i in rng.permutation(2000)[:400].tolist()]
        judged = rng.permutation(400)[: int(rng.integers(5, 200))].tolist()
        shares = (0.05, 0.6, 0.2, 0.1, 0.05)
        qrels[str(t)] = {docs[i]: int(g) for i, g in zip(judged, rng.choice(5, len(judged), p=shares) - 1, strict=True)}
        n = int(rng.integers(1, 400))
        scores = np.float32(rng.integers(0, max(n // 3, 2), n) / 7 + 1).astype(float) + rng.uniform(-2e-8, 2e-8, n)
        run[str(t)] = dict(zip(docs[:n], scores.tolist(), strict=True))
    return qrels, run


def shared(names: set[str]) -> dict[str, str]:
    """The measures that both have: {pytrec_eval's name: amble's}."""
    ours = {name: text for name, text in all_trec() if name in names and not name.startswith(("iprec", "11pt"))}
    rule = {name: f"IPrec(recall={float(name[-4:])!r},rule='trec9')" for name in names if name.startswith("iprec")}
    rule |= {"11pt_avg": "IPrecAvg(rule='trec9')"} if "11pt_avg" in names else {}
    try:
        for text in rule.values():
            amble.parse(text)
    except MeasureError:
        return ours
    return ours | rule


def differences(qrels: Grades, run: Run, score_dtype: Any) -> tuple[int, list[str]]:
    """How many values both give, and those that differ."""
    import pytrec_eval

    theirs = pytrec_eval.RelevanceEvaluator(qrels, set(pytrec_eval.supported_measures)).evaluate(run)
    names = shared(set(next(iter(theirs.values()))))
    scores = amble.evaluate(qrels, {"run": run}, list(names.values()), missing="skip", score_dtype=score_dtype)
    compared, wrong = 0, []
    for name, text in names.items():
        values = dict(zip(scores.topics, scores["run", text].tolist(), strict=True))
        for topic, found in theirs.items():
            expected, ours = found[name], values[topic]
            if name.startswith("gm_"):
                expected, ours = math.exp(expected), max(ours, LEAST)
            compared += 1
            if not math.isclose(expected, ours, rel_tol=CLOSE, abs_tol=CLOSE):
                wrong.append(f"topic {topic}, {name}: pytrec_eval {expected!r}, amble {ours!r}")
    return compared, wrong


def main() -> int:
    """Compare, and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--topics", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    qrels, run = collection(args.topics, args.seed)
    for score_dtype in ("float64", "float32"):
        compared, wrong = differences(qrels, run, score_dtype)
        print(f"score_dtype={score_dtype!r}: {compared:,} values compared, {len(wrong):,} different")
        if score_dtype == "float32":
            print("\n".join(wrong[:20]), end="\n" if wrong else "")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
