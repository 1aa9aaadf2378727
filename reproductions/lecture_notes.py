"""Worked examples of lecture notes on search engines.

The notes' run has gains 3, 0, 1, 2, 0, 0, 0, 2, 0, 0, and the ideal list 3, 3, 2, 2, 2, 1, 1, 1. DCG by base 2 does not
discount before rank 2: 3 + 1 / log2 3 + 2 / log2 4 + 2 / log2 8 = 5.2976. The query "ides of march" and the
document "caesar died in march" share one term of six, with "the long march" one of five. Run with ``python
reproductions/lecture_notes.py``; no data is needed.
"""

from __future__ import annotations

import published
from figures import run

import amble

GAINS = [3, 0, 1, 2, 0, 0, 0, 2, 0, 0]
IDEAL = [3, 3, 2, 2, 2, 1, 1, 1]
SOURCES = ("lecture notes",)
QUERY = "ides of march"
DOCUMENTS = {"d1": "caesar died in march", "d2": "the long march"}


def compute() -> published.Found:
    """All of them."""
    dcg = amble.parse("DCG(base=2)@10")
    of_run, of_ideal = dcg.value(GAINS), dcg.value(IDEAL)
    ours = {
        "DCG2@10": of_run,
        "iDCG2@10": of_ideal,
        "nDCG2@10": of_run / of_ideal,
        "RBP(.8)@10": amble.parse("RBP(p=0.8)@10").value(GAINS),
        "P@5": amble.parse("P@5").value(GAINS),
        "R@5": amble.parse("R@5").value(GAINS, relevant=len(IDEAL)),
    }
    found = amble.search(amble.index(DOCUMENTS, language="none"), {"q": QUERY}, "jaccard")["q"]
    ours |= {f"Jaccard q,{doc}": score for doc, score in found.items()}
    return {("lecture notes", key): float(value) for key, value in ours.items()}


def main(argv: list[str]) -> int:
    """Print all."""
    return published.report(SOURCES, compute())


if __name__ == "__main__":
    run(main)
