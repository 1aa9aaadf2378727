"""A whole experiment on a classic collection: index, six runs, measures of four kinds, tests, and a pool.

Run ``python reproductions/end_to_end.py cranfield`` (or ``cisi``, ``vaswani``; ``make cranfield`` does the same). The
collection is looked for below the folder that AMBLE_DATA names, in ``collections/``. Everything that is made goes to
``end_to_end/NAME``: the index, the runs, the judgments and the pool, for other programs.

BM25 is compared with figures that others published:

* Vaswani: Terrier 5.2, by PyTerrier's notebook ``examples/notebooks/experiment.ipynb``: MAP 0.2965, nDCG 0.6212. Its
  stop words and its stemmer are others, so ours may differ by 0.02.
* CISI: a course's report (github.com/bilaloguzer/arama-motorlar--proje), rank_bm25 on words stemmed by Porter: MAP
  0.205, nDCG@10 0.367. Of these it should not fall short.
* Cranfield: the least that the tests of a search engine demand of its BM25
  (github.com/assetcorp/narsil, ``relevance/cranfield.test.ts``): MAP 0.27, nDCG@10 0.32, P@10 0.21, RR 0.48.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from figures import Figures, head, note, run, say

import amble

SCORERS = ("jaccard", "logtf", "tfidf", "cosine", "bm25", "lm")
MEASURES = {
    "classic": ("AP", "nDCG", "nDCG@10", "P@10", "RR", "Rprec"),
    "C/W/L": ("SDCG@10", "RBP(p=0.8)", "INSQ(T=2)", "INST(T=2)"),
    "P@H": ("PH(p=0.5,q=0.25,loss=0.25)", "PH(model='DCG')"),
    "Markov": ("MP(model='GL_AD_ID')", "MP(model='LO_OR_LID')"),
}
COMPARED = ("AP", "RBP(p=0.8)")
DEPTH = 100


class Collection(NamedTuple):
    """Where a collection's files are, how they are read, and what others found on it."""

    documents: str
    topics: str
    judgments: str
    fields: tuple[str, ...] | None = None
    renumber: bool = False
    rel: bool = False
    close: Mapping[str, tuple[float, float]] = MappingProxyType({})
    least: Mapping[str, float] = MappingProxyType({})


COLLECTIONS = {
    "cranfield": Collection(
        "cran.all.1400.xml.gz",
        "cran.qry.xml.gz",
        "cranqrel.trec.txt.gz",
        fields=("text",),  # begins with the title
        renumber=True,
        least={"AP": 0.27, "nDCG@10": 0.32, "P@10": 0.21, "RR": 0.48},
    ),
    "cisi": Collection("CISI.ALL.gz", "CISI.QRY.gz", "CISI.REL.gz", rel=True, least={"AP": 0.205, "nDCG@10": 0.367}),
    "vaswani": Collection(
        "corpus/doc-text.trec.gz",
        "query-text.trec.gz",
        "qrels.gz",
        close={"AP": (0.2965, 0.02), "nDCG": (0.6212, 0.02)},
    ),
}


def folder_of(name: str) -> Path:
    """The folder of a collection, or a clear word."""
    data = os.environ.get("AMBLE_DATA")
    if not data:
        raise amble.AmbleError(f"no data: set AMBLE_DATA to the folder that holds collections/{name}/")
    folder = Path(data) / "collections" / name
    if not folder.is_dir():
        raise amble.AmbleError(f"no data: {folder} is not there")
    return folder


class Clock:
    """Says what each step took."""

    def __init__(self) -> None:
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    def lap(self, what: str) -> None:
        """Say what was done since the last lap."""
        wall, cpu = time.perf_counter(), time.process_time()
        say(f"{what} ({wall - self._wall:.2f} s, {cpu - self._cpu:.2f} s of CPU)")
        self._wall, self._cpu = wall, cpu


def searched(name: str, out: Path) -> tuple[Path, list[Path]]:
    """Index, make the runs, and write the judgments as TREC has them."""
    folder, about, clock = folder_of(name), COLLECTIONS[name], Clock()
    made = amble.index(folder / about.documents, fields=about.fields)
    made.save(out / "collection.index")
    clock.lap(repr(made))
    index = amble.open_index(out / "collection.index")
    topics = amble.read_topics(folder / about.topics, renumber=about.renumber)
    runs = []
    for scorer in SCORERS:
        hits = amble.search(index, topics, scorer)
        runs.append(out / f"{scorer}.run")
        hits.write(runs[-1])
        clock.lap(repr(hits))
    source: Any = folder / about.judgments
    qrels = amble.read_qrels(amble.read_rel(source) if about.rel else source)
    lines = [f"{topic} 0 {doc} {grade:g}\n" for topic in qrels.topics for doc, grade in qrels[topic].items()]
    (out / "qrels.txt").write_text("".join(lines), encoding="utf-8")
    say(repr(qrels))
    return out / "qrels.txt", runs


def evaluated(qrels: Path, runs: Sequence[Path]) -> amble.Scores:
    """Measures of four kinds."""
    clock = Clock()
    scores = amble.evaluate(qrels, list(runs), [measure for some in MEASURES.values() for measure in some])
    clock.lap("evaluated")
    means = scores.mean().rows
    for kind, measures in MEASURES.items():
        places = [0, *(1 + scores.place(measure) for measure in measures)]
        say(f"\n{amble.Table(['run', *measures], [[row[i] for i in places] for row in means], caption=kind)}")
    note(str(scores.rankings.audit))
    return scores


def compared(scores: amble.Scores) -> None:
    """All pairs, t-tests, p-values corrected by Holm's method."""
    for measure in COMPARED:
        found = amble.compare(scores, measure, correction="holm")
        say(f"\n{found.table()}\n\n{found.letters()}")


def held_against(name: str, scores: amble.Scores) -> int:
    """BM25 beside what others published."""
    figures = Figures()
    for measure, (theirs, tolerance) in COLLECTIONS[name].close.items():
        figures.add(f"bm25 {measure}", theirs, float(scores["bm25", measure].mean()), tolerance)
    for measure, least in COLLECTIONS[name].least.items():
        ours = float(scores["bm25", measure].mean())
        figures.claim(f"bm25 {measure} {ours:.4f}, at least {least}", ours >= least)
    figures.table()
    return figures.end()


def pooled(qrels: Path, runs: Sequence[Path], out: Path) -> None:
    """What a pool of these runs would have found of the relevant documents."""
    pool = amble.pool([str(path) for path in runs], depth=DEPTH)
    (out / "pool.txt").write_text(pool.text(), encoding="utf-8")
    judged = amble.read_qrels(qrels)
    relevant = {(topic, doc) for topic in judged.topics for doc, grade in judged[topic].items() if grade > 0}
    inside = {(topic, doc) for topic in pool.topics for doc in pool[topic]}
    say(
        f"depth {DEPTH}: {len(inside):,} documents of {len(pool.topics)} topics; {len(relevant & inside):,} of "
        f"{len(relevant):,} relevant ones are among them"
    )


def main(argv: list[str]) -> int:
    """All steps."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("name", choices=COLLECTIONS)
    parser.add_argument("--out", type=Path, default=Path("end_to_end"), metavar="FOLDER")
    args = parser.parse_args(argv)
    out = args.out / args.name
    folder_of(args.name)
    out.mkdir(parents=True, exist_ok=True)
    head(f"{args.name}: index and search")
    qrels, runs = searched(args.name, out)
    head("Evaluate")
    scores = evaluated(qrels, runs)
    head("Compare")
    compared(scores)
    head("Pool")
    pooled(qrels, runs, out)
    head("BM25 beside published figures")
    return held_against(args.name, scores)


if __name__ == "__main__":
    run(main)
