"""alpha-nDCG, ERR-IA and NRBP of 100 runs of 50 topics of 1,000 documents: amble beside pyndeval.

*Files to scores*: pyndeval gets what ir_measures' reader reads, run by run. *Ready data*: dictionaries for amble, rows
of (topic, doc, score) for pyndeval, made before the clock starts, and evaluators that have seen the judgments; a tenth
of the runs, taken ten times. Cold processes, in turn; values are compared first.

Run ``python benchmarks/bench_intents.py FOLDER [--rounds N]``; the files are made there, if they are not there.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

import race

# amble is imported in children only: see `race`

PACKAGES = ("amble-ir", "numpy", "pyndeval", "ir-measures")
RUNS, TOPICS, DOCS, JUDGED, FEW = 100, 50, 1000, 300, 10
OURS = ["alpha_nDCG@20", "ERR_IA@20", "NRBP"]
THEIRS = ["alpha-nDCG@20", "ERR-IA@20", "NRBP"]


def make(folder: Path) -> None:
    """Judgments of four to six subtopics, and runs that find many of the judged documents, early ones more often."""
    if (folder / f"{RUNS - 1}.run").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    rng = random.Random(1)
    with open(folder / "diversity.txt", "w") as qrels:
        for t in range(TOPICS):
            for s in range(rng.randrange(4, 7)):
                for d in range(JUDGED):
                    qrels.write(f"{t} {s} clueweb09-en{t:04d}-{d:05d} {int(rng.random() < 0.12)}\n")
    for r in range(RUNS):
        with open(folder / f"{r}.run", "w") as run:
            for t in range(TOPICS):
                docs = rng.sample(range(4 * DOCS), DOCS)
                docs.sort(key=lambda d: rng.random() + (d >= JUDGED))
                for i, d in enumerate(docs):
                    run.write(f"{t} Q0 clueweb09-en{t:04d}-{d:05d} {i + 1} {DOCS - i} run{r}\n")


THEIR_QRELS = """
import ir_measures, pyndeval
read = ir_measures.read_trec_qrels(args[0] + "/diversity.txt")
qrels = [(q.query_id, q.iteration, q.doc_id, q.relevance) for q in read]
"""
OUR_FILES = f"""
scores = amble.evaluate(args[0] + "/diversity.txt", [f"{{args[0]}}/{{r}}.run" for r in range({RUNS})], {OURS})
"""
THEIR_FILES = (
    THEIR_QRELS
    + f"""
evaluator = pyndeval.RelevanceEvaluator(qrels, {THEIRS})
scores = [evaluator.evaluate(ir_measures.read_trec_run(f"{{args[0]}}/{{r}}.run")) for r in range({RUNS})]
"""
)
OUR_DATA = f"""
import amble
from collections import defaultdict
runs = []
for r in range({FEW}):
    run = defaultdict(dict)
    for line in open(f"{{args[0]}}/{{r}}.run"):
        t, _, d, _, x, _ = line.split()
        run[t][d] = float(x)
    runs.append(dict(run))
evaluator = amble.Evaluator(args[0] + "/diversity.txt", {OURS})
evaluator.evaluate(runs[0])
"""
THEIR_DATA = (
    THEIR_QRELS
    + f"""
evaluator = pyndeval.RelevanceEvaluator(qrels, {THEIRS})
runs = [[tuple(x) for x in ir_measures.read_trec_run(f"{{args[0]}}/{{r}}.run")] for r in range({FEW})]
"""
)
AGREE = (
    OUR_DATA
    + THEIR_QRELS
    + f"""
ours = evaluator.evaluate(runs[0])
rows = [(t, d, x) for t, docs in runs[0].items() for d, x in docs.items()]
theirs = pyndeval.RelevanceEvaluator(qrels, {THEIRS}).evaluate(rows)
for j, name in enumerate({THEIRS}):
    for t, topic in enumerate(ours.topics):
        if abs(ours.values[0, t, j] - theirs[topic][name]) > 1e-12:
            raise SystemExit(f"{{name}}, topic {{topic}}: {{ours.values[0, t, j]}} and {{theirs[topic][name]}}")
"""
)


def main() -> None:
    """Make the files, compare the values, race, print two tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    folder = args.folder / "intents"
    make(folder)
    print(f"# Intents: {', '.join(OURS)} of {RUNS} runs x {TOPICS} topics x {DOCS}\n\n{race.machine(*PACKAGES)}\n")
    there = race.installed("pyndeval") and race.installed("ir_measures")
    if there:
        same = race.lap(race.Contender("same", race.snippet(AGREE, "", "", "0", folder)))
        if same.trouble:
            raise SystemExit(same.trouble)
    absent = "" if there else "not installed"
    each = "[evaluator.evaluate(run) for run in runs]"
    for title, ours, theirs in (
        (
            "Files to scores",
            race.snippet("import amble", OUR_FILES, "", "scores.values.size", folder),
            race.snippet("", THEIR_FILES, "", f"sum(map(len, scores)) * {len(THEIRS)}", folder),
        ),
        (
            "Ready data",
            race.snippet(OUR_DATA, "", f"scores = {each}", "0", folder),
            race.snippet(THEIR_DATA, "", f"scores = {each}", "0", folder),
        ),
    ):
        times = 1.0 if title.startswith("Files") else RUNS / FEW
        contenders = [
            race.Contender("amble", ours, times=times),
            race.Contender("pyndeval", theirs, times=times, absent=absent),
        ]
        watch = race.Watch()
        laps = race.race(contenders, args.rounds)
        print(f"## {title}\n\n{race.table(contenders, laps, 'amble')}\n\n{watch}\n")


if __name__ == "__main__":
    main()
