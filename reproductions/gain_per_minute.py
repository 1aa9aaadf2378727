"""The runs of TREC-8 in gain per minute, for a reader fitted to a log of clicks: p, q, start and seconds of a visit.

The log is one day of Sogou, as in fitted_trec8.py. The walk and the times between clicks, by rank, are fitted to it;
then all 129 ad hoc runs are scored by E[T / (c + tau)], relevant documents found per minute: visits take times of one
law, and c seconds pass before the first. The interval tells what the log leaves open of reader and times.

  AMBLE_DATA=data python reproductions/gain_per_minute.py

The folder holds clicks/sogou.relpred.tsv.gz and trec8/. Needs the extra ``logs``. Writes gain_per_minute.toml
(--output).
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from figures import head, note, run, say, show, trec8_folder
from fitted_trec8 import data_file

import amble
from amble.logs import fit, read_log
from amble.metaevaluation import kendall

SHOWN = 5  # runs that are shown, by AP
LAWS = (("exponential", 10), ("gamma(2)", 10), ("fixed", 10), ("fixed", 0))  # and the overhead, in seconds


def main(argv: list[str]) -> int:
    """Fit, score and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--log", type=Path, help="(default: the one in AMBLE_DATA)")
    parser.add_argument("--trec8", type=Path, help="folder with qrels.txt and runs/ (default: the one in AMBLE_DATA)")
    parser.add_argument("-o", "--output", default="gain_per_minute.toml", help="the fit (default: %(default)s)")
    args = parser.parse_args(argv)
    folder, log = trec8_folder(args.trec8), data_file(args.log, "clicks/sogou.relpred.tsv.gz")
    start = time.perf_counter()

    head("The reader")
    found = fit(read_log(log, "relpred"), files=[log.name], layout="relpred")
    amble.write_fit(args.output, found.fitted)
    reader = f"user='{args.output}#walk',loss=1"
    timed = f"{reader},effort='time',seconds='{args.output}#times'"
    on_list = amble.parse(f"PH({timed},overhead=10)").user([0] * 1000)
    assert on_list.clock is not None
    seconds = on_list.clock.means[0]
    show(["rank", "mean seconds", "visits"], [[k + 1, seconds[k], on_list.visits[k]] for k in range(10)], digits=3)
    say(f"\n{on_list.expected_depth:.2f} visits in {on_list.mean_time:.1f} s in the mean")

    head("Relevant documents per minute")
    rankings = amble.align(folder / "qrels.txt", sorted((folder / "runs").iterdir()))
    names = [f"PH({timed},timing='{law}',overhead={c})" for law, c in LAWS]
    names.append(f"PH({timed},overhead=10,order=2)")
    plain = amble.evaluate(rankings, ["AP", f"PH({reader})"])
    ap, visits = plain.means().T
    alone = amble.fitted_intervals(rankings, names)
    top = np.argsort(-ap, kind="stable")[:SHOWN].tolist()
    labels = [f"{law}, c = {c}" for law, c in LAWS] + ["order 2, c = 10"]
    cells = [[f"{60 * x:.3f}" for x in part.ravel()] for part in (alone.means[top], alone.low[top], alone.high[top])]
    shown = np.array([f"{mean} ({low} to {high})" for mean, low, high in zip(*cells, strict=True)])
    rows = [[rankings.runs[i], *row] for i, row in zip(top, shown.reshape(len(top), -1).tolist(), strict=True)]
    show(["run", *labels], rows)

    head(f"All {len(rankings.runs)} runs")
    rows = []
    for j, label in enumerate(labels):
        mine = alone.means[:, j]
        rows.append([label, 60 * float(mine.mean()), 60 * float(mine.max()), kendall(mine, visits), kendall(mine, ap)])
    show(["per minute", "mean", "best run", "tau with PH by visits", "tau with AP"], rows)
    note(f"{time.perf_counter() - start:.0f} s")
    return 0


if __name__ == "__main__":
    run(main)
