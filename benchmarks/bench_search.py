"""Search: the Vaswani collection indexed and searched, beside bm25s; and six scorers, and a larger collection.

* ``vaswani``: 11,429 documents and 93 topics, from the folder that AMBLE_DATA names (``collections/vaswani``). Both get
  the same text and the same stemmer (PyStemmer, English) and stop words; both keep the 1000 best of each topic. bm25s
  computes its scores when it indexes, amble when it searches; so the sum of both steps is told, too. Their scores are
  compared: bm25s keeps them as 32-bit floats. bm25s runs its default, numpy; its numba backend is not raced.
* ``scorers``: each of the six, on the same index.
* ``larger``: documents drawn from a Zipf distribution, 200,000 of 100 tokens each, 50 topics of 4 terms (``--documents
  N``).

Wall and processor time are the least of N rounds, in this process, after a first round that is not counted; the two
take turns. What is asked of amble on Vaswani: indexed within 5 s of CPU, searched within 0.5 s.

Run ``python benchmarks/bench_search.py [--only vaswani scorers larger] [--rounds N] [--documents N]``.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command line does

import numpy as np
import race

import amble
from amble.retrieval.documents import read_documents
from amble.retrieval.text_analysis import Analyser

SECTIONS = ("vaswani", "scorers", "larger")
SCORERS = ("jaccard", "logtf", "tfidf", "cosine", "bm25", "lm")
DEPTH = 1000
WANTED = {"index": 5.0, "search": 0.5}  # seconds of CPU


class Times:
    """Wall and processor time of some steps, the least of the rounds; contenders take turns."""

    def __init__(self, rounds: int) -> None:
        self.rounds = rounds
        self.least: dict[str, tuple[float, float]] = {}
        self.made: dict[str, Any] = {}

    def race(self, steps: dict[str, Callable[[], object]]) -> None:
        """Run all steps in turn, once without counting."""
        for turn in range(self.rounds + 1):
            for name, work in steps.items():
                wall, cpu = time.perf_counter(), time.process_time()
                self.made[name] = work()
                took = time.perf_counter() - wall, time.process_time() - cpu
                if turn:
                    before = self.least.get(name, (float("inf"), float("inf")))
                    self.least[name] = min(before[0], took[0]), min(before[1], took[1])

    def line(self, name: str, against: str = "", wanted: float | None = None) -> None:
        """Print a step, as a multiple of another where there is one."""
        wall, cpu = self.least[name]
        text = f"  {name:38s} {wall:7.3f} s wall {cpu:7.3f} s CPU"
        if against:
            text += f"   {race.number(cpu / self.least[against][1])}x the CPU of {against}"
        if wanted is not None:
            text += f"   at most {wanted:g} s of CPU: {'yes' if cpu <= wanted else 'NO'}"
        print(text, flush=True)


def vaswani_folder() -> Path | None:
    """Where the collection is."""
    data = os.environ.get("AMBLE_DATA")
    folder = Path(data) / "collections" / "vaswani" if data else None
    return folder if folder and folder.is_dir() else None


def of_vaswani(folder: Path, rounds: int) -> None:
    """Index and search, beside bm25s."""
    documents, topics = folder / "corpus" / "doc-text.trec.gz", folder / "query-text.trec.gz"
    times = Times(rounds)
    steps: dict[str, Callable[[], object]] = {
        "amble index": lambda: amble.index(documents),
        "amble search": lambda: amble.search(times.made["amble index"], topics, top=DEPTH),
    }
    peer = race.installed("bm25s")
    if peer:
        steps |= {
            "bm25s index": lambda: bm25s_index(documents),
            "bm25s search": lambda: bm25s_search(times.made["bm25s index"], topics),
        }
    times.race(steps)
    print(f"Vaswani: {times.made['amble index']}; {len(times.made['amble search'])} topics")
    times.line("amble index", "bm25s index" if peer else "", WANTED["index"])
    times.line("amble search", "bm25s search" if peer else "", WANTED["search"])
    if not peer:
        print("  bm25s is not installed")
        return
    times.line("bm25s index")
    times.line("bm25s search")
    ours, theirs = (sum(times.least[f"{who} {step}"][1] for step in WANTED) for who in ("amble", "bm25s"))
    print(f"  both steps: amble {ours:.3f} s CPU, bm25s {theirs:.3f} s CPU, ratio {race.number(ours / theirs)}")
    print(f"  {agreement(times.made['amble search'], times.made['bm25s search'])}")


def bm25s_index(documents: Path) -> tuple[Any, Any, Any]:
    """What its own documentation does: tokenise, then index. The reader of the file is amble's."""
    import bm25s

    read = list(read_documents(documents))
    stemmer, stopwords = tokenising()
    tokens = bm25s.tokenize(
        [document.text for document in read],
        stopwords=stopwords,
        stemmer=stemmer,
        token_pattern=r"[a-z0-9]+(?:'[a-z0-9]+)*",
        show_progress=False,
    )
    engine = bm25s.BM25(k1=1.2, b=0.75, method="lucene")
    engine.index(tokens, show_progress=False)
    return engine, [document.id for document in read], (stemmer, stopwords)


def tokenising() -> tuple[Any, list[str]]:
    """The stemmer and the stop words of amble's English."""
    import Stemmer

    return Stemmer.Stemmer("english"), sorted(Analyser("english").stopwords)


def bm25s_search(made: tuple[Any, list[str], Any], topics: Path) -> tuple[list[str], list[str], Any]:
    """The best documents of every topic."""
    import bm25s

    engine, ids, (stemmer, stopwords) = made
    queries = amble.read_topics(topics)
    tokens = bm25s.tokenize(
        list(queries.values()),
        stopwords=stopwords,
        stemmer=stemmer,
        token_pattern=r"[a-z0-9]+(?:'[a-z0-9]+)*",
        show_progress=False,
        return_ids=False,
    )
    return list(queries), ids, engine.retrieve(tokens, k=DEPTH, show_progress=False, n_threads=0)


def agreement(ours: Any, theirs: tuple[list[str], list[str], Any]) -> str:
    """The largest difference of scores of documents that both found."""
    topics, ids, (places, scores) = theirs
    most, count = 0.0, 0
    for topic, row, values in zip(topics, places.tolist(), scores.tolist(), strict=True):
        mine, found = ours[topic], {ids[i]: score for i, score in zip(row, values, strict=True) if score > 0}
        both = mine.keys() & found.keys()
        count += len(both)
        most = max([most, *(abs(mine[doc] - found[doc]) for doc in both)])
    return f"{count:,} documents that both found: scores differ by {most:.1e} at most"


def of_scorers(folder: Path, rounds: int) -> None:
    """Each scorer on one index."""
    index = amble.index(folder / "corpus" / "doc-text.trec.gz")
    topics = amble.read_topics(folder / "query-text.trec.gz")
    times = Times(rounds)
    times.race({scorer: partial(amble.search, index, topics, scorer, DEPTH) for scorer in SCORERS})
    print("Vaswani, each scorer, topics in memory")
    for scorer in SCORERS:
        times.line(scorer)


def drawn(count: int, seed: int = 7) -> Iterator[tuple[str, str]]:
    """Documents whose words follow a Zipf distribution."""
    rng = np.random.default_rng(seed)
    for i in range(count):
        yield f"D{i:07d}", " ".join(f"w{number}" for number in np.minimum(rng.zipf(1.2, 100), 500_000))


def of_larger(count: int) -> None:
    """One round: index, save, open, search."""
    topics = {str(i): " ".join(f"w{number}" for number in (3 + i, 40 + i, 500 + i, 6000 + i)) for i in range(50)}
    print(f"{count:,} documents of 100 tokens, 50 topics of 4 terms")
    wall, cpu = time.perf_counter(), time.process_time()
    index = amble.index(drawn(count), language="none")
    print(f"  {index}")
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(f"  {'index (and drawing them)':38s} {wall:7.3f} s wall {cpu:7.3f} s CPU", flush=True)
    times = Times(1)
    times.race(
        {
            "search bm25": lambda: amble.search(index, topics),
            "search cosine": lambda: amble.search(index, topics, "cosine"),
        }
    )
    for step in times.least:
        times.line(step)


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=SECTIONS, metavar="PART")
    parser.add_argument("--rounds", type=int, default=5, metavar="N")
    parser.add_argument("--documents", type=int, default=200_000, metavar="N")
    args = parser.parse_args()
    watch = race.Watch()
    print(race.machine("amble", "numpy", "scipy", "bm25s", "PyStemmer"))
    folder = vaswani_folder()
    if folder is None and {"vaswani", "scorers"} & set(args.only):
        print("no data: AMBLE_DATA names no folder with collections/vaswani/", file=sys.stderr)
    if folder and "vaswani" in args.only:
        of_vaswani(folder, args.rounds)
    if folder and "scorers" in args.only:
        of_scorers(folder, args.rounds)
    if "larger" in args.only:
        of_larger(args.documents)
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB; {watch}")


if __name__ == "__main__":
    main()
