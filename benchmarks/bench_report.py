"""The report of 129 systems, 50 topics and 8 measures: wall and processor time, peak memory, size of the page.

Whole cold processes of ``amble report``, the least of N rounds. The systems are those of TREC-8 where the folder that
AMBLE_DATA names has them (compressed, as they are), otherwise workload M: 129 runs of 50 topics x 1000 documents. No
peer makes such a page, so none is raced.

Run ``python benchmarks/bench_report.py [DIR] [--rounds N]``.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import race
import workload

MEASURES = ("AP", "nDCG", "nDCG@10", "P@10", "RR", "RBP(p=0.8)", "ERR@20", "INST(T=2)")
SECONDS, BYTES = 20.0, 6_000_000  # at most


def command(qrels: Path, runs: Sequence[Path], page: Path, *more: str) -> tuple[str, ...]:
    """``amble report`` of some runs."""
    words = map(str, (qrels, *runs, *(word for m in MEASURES for word in ("-m", m)), *more, "-o", page))
    return (sys.executable, "-m", "amble", "report", *words, "--quiet")


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folder", nargs="?", default=".bench", type=Path, metavar="DIR")
    parser.add_argument("--rounds", type=int, default=3, metavar="N")
    args = parser.parse_args()
    name, qrels, runs = workload.load_trec8(args.folder)
    watch = race.Watch()
    with tempfile.TemporaryDirectory() as made:
        page = Path(made) / "report.html"
        one = race.Contender("report", command(qrels, runs, page))
        laps = race.race([one], args.rounds, print)["report"]
        if laps[-1].trouble:
            sys.exit(laps[-1].trouble)
        size = page.stat().st_size
    wall, cpu, peak = (min(getattr(lap, key) for lap in laps) for key in ("wall", "cpu", "rss"))
    print(f"{name}: {len(runs)} runs, {len(MEASURES)} measures; {watch}")
    quick = "yes" if wall <= SECONDS else "NO"
    print(f"  {wall:.1f} s wall (at most {SECONDS:g}: {quick}), {cpu:.1f} s CPU, {peak:.0f} MB")
    print(f"  page of {size / 1e6:.2f} MB (at most {BYTES / 1e6:g}: {'yes' if size <= BYTES else 'NO'})")
    print(race.machine("amble", "numpy", "scipy", "jinja2"))


if __name__ == "__main__":
    main()
