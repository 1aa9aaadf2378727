"""amble with ``score_dtype="float32"`` beside pytrec_eval, which compares scores as floats: every shared measure.

``python benchmarks/agree_pytrec_eval.py --topics 1500`` makes random judgments and a random run whose scores are often
equal as floats and not as doubles, and prints how many values were compared and how many differ (by more than a
billionth), with doubles and with floats. Exit code 1 if any differs with floats. It needs pytrec-eval-terrier (the
extra ``bench``).

``--evaluations 10000`` compares `amble.compat.pytrec_eval` with it instead, on as many small random dictionaries: every
value of every measure but ``runid``, whose value there is an address. Topics all of whose grades are negative are not
drawn: pytrec_eval 0.5.11 may never return from them.
"""

from __future__ import annotations

import argparse
import copy
import math
import random
import sys
from typing import Any

import numpy as np

import amble
from amble.errors import MeasureError
from amble.measures.trec_names import all_trec

CLOSE = 1e-9
SAME = 1e-12  # of the drop-in
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


def drawn(rng: random.Random) -> tuple[Grades, list[Run]]:
    """Small judgments and two runs: ties, scores equal as floats only, topics missing, empty, without judgments."""
    docs = [f"d{i}" for i in range(rng.choice((2, 4, 8, 30)))] + ["é", "D", ""][: rng.randint(0, 3)]
    qrels: Grades = {}
    runs: list[Run] = [{}, {}]
    for topic in map(str, range(rng.randint(1, 4))):
        judged = {doc: rng.choice((-1, 0, 0, 0, 1, 1, 2, 3)) for doc in rng.sample(docs, rng.randint(0, len(docs)))}
        if judged and max(judged.values()) < 0:
            judged[docs[0]] = 0
        qrels[topic] = judged
        for run in runs:
            if rng.random() < 0.85:
                run[topic] = {
                    doc: rng.choice((rng.randint(0, 5), rng.random(), 1 + rng.uniform(-2e-8, 2e-8), -1e300))
                    for doc in rng.sample(docs, rng.randint(0, len(docs)))
                }
    if rng.random() < 0.3:
        runs[0]["extra"] = {"d1": 1.0}
    return qrels, runs


def drop_in(evaluations: int, seed: int) -> tuple[int, float]:
    """How many values of pytrec_eval the drop-in was compared with, and the largest difference (NaN is NaN)."""
    import pytrec_eval

    from amble.compat import pytrec_eval as ours

    compared, largest = 0, 0.0
    asked = pytrec_eval.supported_measures - {"runid"}
    asked |= {"P_1,2", "ndcg_cut.1,3", "success_2", "iprec_at_recall.0.25", "Rprec_mult.0.5", "set_F.0.5"}
    for i in range(0, evaluations, 2):
        rng = random.Random(f"{seed} {i}")
        qrels, runs = drawn(rng)
        how = (
            rng.choice((asked, asked, asked - {"P_1,2"}, {"official", "set"})),
            rng.choice((1, 1, 2, 3)),
            rng.random() < 0.4,
        )
        theirs, mine = pytrec_eval.RelevanceEvaluator(qrels, *how), ours.RelevanceEvaluator(qrels, *how)
        before = copy.deepcopy((qrels, runs))
        for run in runs:
            expected, found = theirs.evaluate(run), mine.evaluate(run)
            if list(expected) != list(found):
                raise AssertionError(f"evaluation {i}: topics {list(found)}, expected {list(expected)}")
            for topic, values in expected.items():
                if list(values) != list(found[topic]):
                    raise AssertionError(f"evaluation {i}: names {list(found[topic])}, expected {list(values)}")
                for name, value in values.items():
                    if name == "runid":
                        continue
                    compared += 1
                    if not (math.isnan(value) and math.isnan(found[topic][name])):
                        gap = abs(value - found[topic][name])
                        largest = max(largest, math.inf if math.isnan(gap) else gap)
        if (qrels, runs) != before:
            raise AssertionError(f"evaluation {i}: the dictionaries were changed")
    return compared, largest


def main() -> int:
    """Compare, and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--topics", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--evaluations", type=int, help="of the drop-in, on small random dictionaries")
    args = parser.parse_args()
    if args.evaluations:
        compared, largest = drop_in(args.evaluations, args.seed)
        print(f"{args.evaluations:,} evaluations, {compared:,} values compared, largest difference {largest:.1e}")
        return int(largest > SAME)
    qrels, run = collection(args.topics, args.seed)
    for score_dtype in ("float64", "float32"):
        compared, wrong = differences(qrels, run, score_dtype)
        print(f"score_dtype={score_dtype!r}: {compared:,} values compared, {len(wrong):,} different")
        if score_dtype == "float32":
            print("\n".join(wrong[:20]), end="\n" if wrong else "")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
