"""From dictionaries to scores, beside pytrec_eval: AP, nDCG@10 and RR of small and large batches, in one process.

``python benchmarks/bench_dicts.py`` lets every contender score the same dictionaries in turn, so that a busy moment
hits all of them alike, and prints the least time of each and how many times as fast as pytrec_eval that is. *Anew* is
with the constructor (judgments read, measures parsed), *kept* is ``evaluate`` of an evaluator that has seen a run
before, as in a training loop. All results are checked against each other first.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import race

import amble
from amble.compat import pytrec_eval as drop_in

PACKAGES = ("amble-ir", "numpy", "pytrec-eval-terrier")
# topics, documents of a list, judged documents of a topic
SHAPES = ((32, 50, 20), (1, 1000, 100), (50, 1000, 100), (1000, 100, 20), (6980, 10, 1))
OURS = ["AP", "nDCG@10", "RR"]
THEIRS = {"map", "ndcg_cut.10", "recip_rank"}
SECONDS = 2.0  # of a shape's laps, about

Dicts = dict[str, dict[str, Any]]


def collection(topics: int, docs: int, judged: int) -> tuple[Dicts, Dicts]:
    """Judgments (grades 0 to 2) and a run that finds some of them, best first."""
    rng = np.random.default_rng(0)
    qrels: Dicts = {}
    run: Dicts = {}
    for t in range(topics):
        ids = [f"D{x:07d}" for x in rng.permutation(4 * max(docs, judged)).tolist()]
        grades = rng.integers(0, 3, judged).tolist()
        qrels[f"q{t}"] = dict(zip(ids[:judged], grades, strict=True))
        ranked = rng.permutation(len(ids))[:docs].tolist()
        run[f"q{t}"] = dict(zip([ids[i] for i in ranked], np.sort(rng.random(docs))[::-1].tolist(), strict=True))
    return qrels, run


def contenders(qrels: Dicts, run: Dicts) -> dict[str, dict[str, Callable[[], Any]]]:
    """What is timed: anew and kept, by contender; pytrec_eval, if it is installed, first."""
    kept = amble.Evaluator(qrels, OURS)
    kept_drop_in = drop_in.RelevanceEvaluator(qrels, THEIRS)
    anew: dict[str, Callable[[], Any]] = {
        "amble.evaluate": lambda: amble.evaluate(qrels, run, OURS),
        "amble.Evaluator": lambda: amble.Evaluator(qrels, OURS).evaluate(run),
        "amble.compat.pytrec_eval": lambda: drop_in.RelevanceEvaluator(qrels, THEIRS).evaluate(run),
    }
    again: dict[str, Callable[[], Any]] = {
        "amble.Evaluator": lambda: kept.evaluate(run),
        "amble.compat.pytrec_eval": lambda: kept_drop_in.evaluate(run),
    }
    if race.installed("pytrec_eval"):
        import pytrec_eval

        theirs = pytrec_eval.RelevanceEvaluator(qrels, THEIRS)
        anew = {"pytrec_eval": lambda: pytrec_eval.RelevanceEvaluator(qrels, THEIRS).evaluate(run), **anew}
        again = {"pytrec_eval": lambda: theirs.evaluate(run), **again}
    return {"anew": anew, "kept": again}


def agree(each: dict[str, Callable[[], Any]]) -> bool:
    """Whether all contenders give the same scores, to the last digits."""
    tables = []
    for score in each.values():
        found = score()
        rows = found.values[0] if isinstance(found, amble.Scores) else [list(row.values()) for row in found.values()]
        tables.append(np.sort(np.asarray(rows), axis=1))  # their order of the measures is another
    return all(np.allclose(table, tables[0], rtol=0, atol=1e-12) for table in tables)


def least(each: dict[str, Callable[[], Any]], seconds: float) -> dict[str, float]:
    """The least time of each, in seconds, over laps taken in turn."""
    best = dict.fromkeys(each, float("inf"))
    start, laps = time.perf_counter(), 0
    while laps < 3 or time.perf_counter() - start < seconds:
        for name, score in each.items():
            t = time.perf_counter()
            score()
            best[name] = min(best[name], time.perf_counter() - t)
        laps += 1
    return best


def main() -> int:
    """Race, and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a smoke test: the smallest shape, few laps")
    args = parser.parse_args()
    print(f"# Dictionaries to scores: {', '.join(OURS)}\n\n{race.machine(*PACKAGES)}.\n")
    print("Milliseconds, the least of laps in turn, and how many times as fast as pytrec_eval.\n")
    print(
        "| topics x documents (judged) | | pytrec_eval | amble.evaluate | amble.Evaluator | amble.compat.pytrec_eval |"
    )
    print("|---|---|---|---|---|---|")
    watch, right = race.Watch(), True
    for topics, docs, judged in SHAPES[:1] if args.quick else SHAPES:
        for how, each in contenders(*collection(topics, docs, judged)).items():
            right &= agree(each)
            best = least(each, 0.02 if args.quick else SECONDS)
            base = best.get("pytrec_eval")
            cells = []
            for name in ("pytrec_eval", "amble.evaluate", "amble.Evaluator", "amble.compat.pytrec_eval"):
                ratio = f" ({base / best[name]:.2f}x)" if base and name in best and name != "pytrec_eval" else ""
                cells.append(f"{best[name] * 1e3:.3f}{ratio}" if name in best else "–")
            print(f"| {topics} x {docs} ({judged}) | {how} | {' | '.join(cells)} |", flush=True)
    print(f"\n{watch}." + ("" if right else " The scores DIFFER."))
    return int(not right)


if __name__ == "__main__":
    sys.exit(main())
