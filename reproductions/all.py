"""Published figures, one line each: as printed, ours, the difference, and whether ours rounds to what is printed.

Run with ``make reproduce`` (or ``AMBLE_DATA=FOLDER python reproductions/all.py``). Without the runs of TREC-8 the
figures that need them are left open. ``--data FOLDER`` takes any folder with qrels.txt and runs/; if these are not
those of TREC-8, ours are printed alone. `published.py` says which figures these are, when they agree, and which are
known misprints. The exit code is 1 if a figure is unexplained. What else a script checks, it prints by itself.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

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


def collection(folder: Path | None) -> published.Collection | None:
    """What is in the folder; nothing, and a word, where none is named or AMBLE_DATA has no trec8/."""
    named = os.environ.get("AMBLE_DATA")
    if folder is None and not (named and (Path(named) / "trec8").is_dir()):
        note("no data: AMBLE_DATA names no folder with trec8/, so the figures of its runs are left open")
        return None
    data = published.Collection.of(folder)
    if not data.is_trec8:
        note(f"{data.folder}: not the 129 runs of TREC-8, so its figures are left open, and ours are printed alone")
    return data


def main(argv: list[str]) -> int:
    """Compute and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="qrels.txt and runs/ (default: $AMBLE_DATA/trec8)")
    data = collection(parser.parse_args(argv).data)
    ours = moffat2012.compute(data) | ferrante2014.compute(data) | figure_1() | lecture_notes.compute()
    sources = dict.fromkeys(figure.source for figure in published.FIGURES)
    return published.report(sources, ours, data is None or data.is_trec8, whole=data is not None and data.is_trec8)


if __name__ == "__main__":
    run(main)
