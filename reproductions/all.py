"""Every published figure, one line each: the paper's, ours, the difference, and whether it is within tolerance.

Run with ``make reproduce`` (or ``AMBLE_DATA=FOLDER python reproductions/all.py``). Without the runs of TREC-8 the
figures that need them are left open.
"""

from __future__ import annotations

import sys

import ferrante2014
import figures
import lecture_notes
import moffat2012


def main() -> int:
    """Compute and print."""
    rankings = figures.trec8() if figures.trec8_folder() else None
    if rankings is None:
        print("AMBLE_DATA names no folder with trec8/: figures of the TREC-8 runs are left open\n", file=sys.stderr)
    ours = moffat2012.compute(rankings) | ferrante2014.compute(rankings) | lecture_notes.compute()
    sources = dict.fromkeys(figure.source for figure in figures.FIGURES)
    return figures.report(sources, ours, {**ferrante2014.WAITS, **lecture_notes.WAITS})


if __name__ == "__main__":
    sys.exit(main())
