"""Published figures, retyped from the papers, with how closely ours should come; and the runs they are of.

The papers:

* M12: Moffat, Thomas and Scholer (2012), Models and Metrics: IR Evaluation as a User Process. ADCS.
* F14: Ferrante, Ferro and Maistro (2014), Injecting User Models and Time into Precision via Markov Chains. SIGIR.
* FF20: Ferrante and Ferro (2020), Exploiting Stopping Time to Evaluate Accumulated Relevance. ICTIR.
* lecture notes: worked examples of a course on search engines, whose arithmetic is written out in `lecture_notes.py`.

Percentages and correlations are of the 129 runs of the TREC-8 ad hoc task. Tolerances: what is printed is rounded, and
the papers' tie rules and tests are not all told; a tolerance is a few of the last digits printed.

These are not all figures of the papers. Left out are those of other collections, and those that disagree with what the
papers define or do elsewhere; the papers' own scripts show them beside ours:

* M12's R_INSQ(100), which is R_INSQ(101) (`moffat2012.py`);
* what F14 prints in the row LO_OR_ID@Rec of Table 3: it is read here as shifted by one, and the last figure is lost
  (`ferrante2014.py`);
* what FF20 prints beyond the six scores of Figure 1 (`ferrante2020.py`).

Others agree only as we read them: M12's adaptive INSQ by another formula than its equation 3, Table 1b with its
triangles swapped against the text.

And some cannot fail: M12's SSD, below the diagonal of Table 1a, are shares of pairs so rare that none exceeds its own
tolerance. A program that found none at all would pass. `unfailing` finds such figures.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from figures import note, say

import amble


class Figure(NamedTuple):
    """One figure: where it is printed, what it is, its value, how far ours may be from it."""

    source: str
    key: str
    published: float
    tolerance: float


M12 = ("rr", "insq", "p10", "rbp73", "sdcg10", "p100", "rbp95", "sdcg100", "ap")
WIDE = ("insq5", "insq10", "rr", "insq", "p10", "rbp95", "sdcg100", "ap")
OTHERS = ("AP", "P@10", "Rprec", "bpref", "RBP(p=0.8)")

# SSA above and on the diagonal, SSD below; percentages of 8,256 pairs of systems
TABLE_1A = """
55.6 53.8 51.2 52.9 52.4 49.1 51.6 51.5 50.2
 0.0 63.8 59.4 62.4 61.5 56.4 60.1 59.9 58.1
 0.0  0.0 64.5 61.1 62.7 59.1 63.3 62.2 60.4
 0.0  0.0  0.0 64.7 63.2 57.6 61.7 61.2 59.4
 0.0  0.0  0.0  0.0 64.9 58.5 62.7 62.0 60.0
 0.2  0.0  0.0  0.0  0.0 68.8 63.8 66.9 64.9
 0.0  0.0  0.0  0.0  0.0  0.0 69.1 67.2 64.3
 0.0  0.0  0.0  0.0  0.0  0.0  0.0 71.0 66.3
 0.3  0.0  0.0  0.0  0.0  0.0  0.0  0.0 72.5
"""
# class agreements; by recomputation 2NN above the diagonal and 2SSA below, the other way round than the text says
TABLE_1B = """
   - 85.3 77.7 81.8 80.2 65.9 71.4 68.0 62.1
90.0    - 86.8 94.8 92.0 70.9 81.1 77.2 68.4
85.2 92.6    - 90.3 94.2 77.4 89.5 83.1 74.3
87.9 97.1 94.7    - 95.5 72.5 84.1 79.3 70.7
87.0 95.6 96.8 97.5    - 74.8 86.8 81.3 72.1
79.2 85.2 88.7 86.3 87.5    - 83.4 90.0 80.4
82.8 90.4 94.8 92.2 93.5 92.5    - 90.5 77.7
81.4 88.9 91.9 90.2 91.2 95.7 95.9    - 81.1
78.7 85.3 88.2 86.6 87.3 91.9 90.8 92.5    -
"""
TABLE_4A = """
67.5 65.9 52.4 61.9 63.3 64.9 64.2 62.1
   - 69.0 51.8 60.8 63.9 67.6 66.6 64.2
"""
TABLE_4B = """
   - 96.6 85.1 94.3 96.0 95.0 92.7 88.7
"""
TEXT = {  # M12 sections 3 and 5
    "W_INSQ(1)": (0.388, 0.0005),
    "W_INSQ(2)": (0.172, 0.0005),
    "W_INSQ(3)": (0.097, 0.0005),
    "W_INSQ(100)": (0.00015, 0.000005),
    "E T=1": (2.58, 0.005),
    "E T=5": (10.52, 0.005),
    "E T=25": (50.5, 0.005),
    "INSQ(T=5) static on ranks 1,3,4,6,8,12,14,34,37,43,64,82,86,95": (0.350, 0.0005),
    "INSQ(T=5) adaptive on the same": (0.502, 0.0006),
}
F14_TABLE_2 = {"P10": 0.8264, "Rprec": 0.9219, "bpref": 0.9361, "RBP": 0.8090}
# rows of TREC 8; LO_AD_LID is LO_AD_ID. In row LO_OR_ID@Rec the first value is printed twice, and the rest is shifted
F14_TABLE_3 = """
GL_AD_ID       .8997 .8510 .9074 .9222 .8382
GL_AD_ID@Rec   .9815 .8128 .9217 .9299 .7938
GL_AD_LID      .8912 .8641 .9033 .9173 .8551
GL_AD_LID@Rec  .9953 .8221 .9209 .9337 .8041
GL_OR_ID       .8162 .9081 .8349 .8402 .9152
GL_OR_ID@Rec   .9208 .8756 .9024 .9145 .8637
GL_OR_LID      .8664 .8884 .8853 .8947 .8858
GL_OR_LID@Rec  .9722 .8477 .9281 .9390 .8324
LO_AD_ID       .8931 .8642 .9011 .9174 .8537
LO_AD_ID@Rec   .9953 .8248 .9219 .9343 .8066
LO_OR_ID       .8138 .9013 .8305 .8354 .9176
LO_OR_LID      .8534 .8982 .8708 .8810 .8995
LO_OR_LID@Rec  .9506 .8623 .9186 .9319 .8466
LO_OR_ID@Rec   .9195 .8714 .8987 .9127 -
"""
F14_TABLE_4 = {  # a list: discrete, continuous (the holding rates it needs are printed with four decimals)
    "1111000100": (0.9205, 0.6603),
    "1110100010": (0.8668, 0.8710),
    "1101100001": (0.8120, 0.8001),
}
FF20_FIGURE_1 = {"P@10 r": 0.40, "P@10 s": 0.40, "AP r": 0.58, "AP s": 0.68, "RBP(.5) r": 0.57, "RBP(.5) s": 0.47}
LECTURE_NOTES = {
    "DCG2@10": 5.2976,
    "iDCG2@10": 10.1996,
    "nDCG2@10": 0.5194,
    "RBP(.8)@10": 0.4723,
    "P@5": 0.6,
    "R@5": 0.375,
    "Jaccard q,d1": 0.167,
    "Jaccard q,d2": 0.2,
}


def rows_of(text: str) -> list[list[str]]:
    """The cells of a retyped table."""
    return [line.split() for line in text.strip().splitlines()]


def _all() -> list[Figure]:
    out = []
    for i, row in enumerate(rows_of(TABLE_1A)):
        for j, cell in enumerate(row):
            kind = "SSA" if j >= i else "SSD"
            out.append(Figure("M12 Table 1a", f"TREC-8/{kind}/{M12[i]}/{M12[j]}", float(cell), 0.3))
    for i, row in enumerate(rows_of(TABLE_1B)):
        for j, cell in enumerate(row):
            if i != j:
                kind = "2NN" if j > i else "2SSA"
                key = f"TREC-8/{kind} class agreement/{M12[i]}/{M12[j]}"
                out.append(Figure("M12 Table 1b", key, float(cell), 0.5))
    for source, kind, text, tolerance in (
        ("M12 Table 4a", "SSA", TABLE_4A, 0.3),
        ("M12 Table 4b", "2SSA class agreement", TABLE_4B, 0.5),
    ):
        for i, row in enumerate(rows_of(text)):
            for j, cell in enumerate(row):
                if cell != "-":
                    out.append(Figure(source, f"TREC-8/{kind}/{WIDE[i]}/{WIDE[j]}", float(cell), tolerance))
    out += [Figure("M12 text", key, value, tolerance) for key, (value, tolerance) in TEXT.items()]
    out += [Figure("F14 Table 2", f"TREC-8/tau(AP,{name})", value, 0.003) for name, value in F14_TABLE_2.items()]
    for model, *cells in rows_of(F14_TABLE_3):
        for other, cell in zip(OTHERS, cells, strict=True):
            if cell != "-":
                out.append(Figure("F14 Table 3", f"TREC-8/tau({model},{other})", float(cell), 0.004))
    for ranks, (discrete, continuous) in F14_TABLE_4.items():
        out.append(Figure("F14 Table 4", f"MP GL_AD_ID discrete/{ranks}", discrete, 0.0001))
        out.append(Figure("F14 Table 4", f"MP GL_AD_ID continuous/{ranks}", continuous, 0.0006))
    out += [Figure("FF20 Figure 1", key, value, 0.005) for key, value in FF20_FIGURE_1.items()]
    out += [Figure("lecture notes", key, value, 0.0005) for key, value in LECTURE_NOTES.items()]
    return out


FIGURES = _all()

Found = dict[tuple[str, str], float]


def trec8_folder() -> Path | None:
    """Where the runs of TREC-8 are: AMBLE_DATA names the folder above trec8/."""
    data = os.environ.get("AMBLE_DATA")
    folder = Path(data) / "trec8" if data else None
    return folder if folder and folder.is_dir() else None


def trec8(only: int | None = None) -> amble.Rankings:
    """The 129 runs of TREC-8, aligned; or only some of them, for a trial."""
    folder = trec8_folder()
    if folder is None:
        raise amble.AmbleError("no data: AMBLE_DATA names no folder with trec8/qrels.txt and trec8/runs/")
    return amble.align(folder / "qrels.txt", [str(path) for path in sorted((folder / "runs").iterdir())[:only]])


def within(figure: Figure, ours: float) -> bool:
    """Tell whether ours is close enough (but for rounding in the last bit)."""
    return abs(ours - figure.published) <= figure.tolerance * (1 + 1e-9)


def unfailing(figures: Iterable[Figure]) -> list[Figure]:
    """Those no larger than their tolerance: 0 passes, whatever is computed elsewhere."""
    return [figure for figure in figures if abs(figure.published) <= figure.tolerance]


def show(figures: Iterable[Figure], ours: Mapping[tuple[str, str], float]) -> tuple[int, int]:
    """Print a line a figure; return how many are within tolerance, and how many were computed but are not."""
    good = bad = 0
    for figure in figures:
        value = ours.get((figure.source, figure.key))
        head = f"{figure.source:14s} {figure.key:64s} {figure.published:9.4f}"
        if value is None:
            say(f"{head}         -          -  not computed")
            continue
        fine = within(figure, value)
        good, bad = good + fine, bad + (not fine)
        mark = "within" if fine else "OUTSIDE"
        say(f"{head} {value:9.4f} {value - figure.published:+10.4f}  {mark} {figure.tolerance:g}")
    return good, bad


def report(sources: Iterable[str], ours: Mapping[tuple[str, str], float]) -> int:
    """Print the figures of some sources, and how many are within tolerance; return the exit code."""
    figures = [figure for figure in FIGURES if figure.source in set(sources)]
    say(f"{'source':14s} {'figure':64s} {'published':>9s} {'ours':>9s} {'difference':>10s}")
    good, bad = show(figures, ours)
    if any((figure.source, figure.key) not in ours for figure in figures):
        say(f"{good + bad} computed, the others left open")
    say(f"{good} of {len(figures)} within tolerance")
    easy = unfailing(figures)
    if easy:
        note(f"{len(easy)} of these are no larger than their tolerance, so that 0 would pass: they show little")
    return int(bad > 0)
