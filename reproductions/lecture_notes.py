"""Worked examples of lecture notes on search engines, and the two lists of Figure 1 of Ferrante and Ferro (2020).

The notes' run has gains 3, 0, 1, 2, 0, 0, 0, 2, 0, 0, and the ideal list 3, 3, 2, 2, 2, 1, 1, 1. DCG by base 2 does not
discount before rank 2: 3 + 1 / log2 3 + 2 / log2 4 + 2 / log2 8 = 5.2976. Run with ``python
reproductions/lecture_notes.py``; no data is needed.
"""

from __future__ import annotations

import sys

import figures

import amble

GAINS = [3, 0, 1, 2, 0, 0, 0, 2, 0, 0]
IDEAL = [3, 3, 2, 2, 2, 1, 1, 1]
LISTS = {"r": [1, 0, 0, 1, 0, 0, 1, 0, 0, 1], "s": [0, 1, 1, 1, 1, 0, 0, 0, 0, 0]}  # of Figure 1
SOURCES = ("FF20 Figure 1", "lecture notes")
WAITS = {"lecture notes Jaccard": "waits for a search engine"}


def compute() -> figures.Found:
    """All of them but the similarities of texts."""
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
    out = {("lecture notes", key): float(value) for key, value in ours.items()}
    for name, measure in (("P@10", "P@10"), ("AP", "AP"), ("RBP(.5)", "RBP(p=0.5)")):
        for which, grades in LISTS.items():
            out["FF20 Figure 1", f"{name} {which}"] = float(amble.parse(measure).value(grades))
    return out


if __name__ == "__main__":
    sys.exit(figures.report(SOURCES, compute(), WAITS))
