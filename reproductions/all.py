"""Published figures, one line each: the paper's, ours, the difference, and whether it is within tolerance.

Run with ``make reproduce`` (or ``AMBLE_DATA=FOLDER python reproductions/all.py``). Without the runs of TREC-8 the
figures that need them are left open. `published.py` says which figures these are, which are not among them, and which
of them cannot fail; the last line, on standard error, counts those. What else a script checks, it prints by itself.
"""

from __future__ import annotations

import ferrante2014
import ferrante2020
import lecture_notes
import moffat2012
import published
from figures import note, run


def figure_1() -> published.Found:
    """The scores printed in Figure 1 of Ferrante and Ferro (2020)."""
    short = {"RBP(p=0.5)": "RBP(.5)"}
    return {
        ("FF20 Figure 1", f"{short.get(measure, measure)} {name}"): ferrante2020.value(measure, name)
        for measure, name in ferrante2020.PRINTED
    }


def main(argv: list[str]) -> int:
    """Compute and print."""
    rankings = published.trec8() if published.trec8_folder() else None
    if rankings is None:
        note("no data: AMBLE_DATA names no folder with trec8/, so the figures of its runs are left open")
    ours = moffat2012.compute(rankings) | ferrante2014.compute(rankings) | figure_1() | lecture_notes.compute()
    sources = dict.fromkeys(figure.source for figure in published.FIGURES)
    return published.report(sources, ours)


if __name__ == "__main__":
    run(main)
