"""Comparisons of 129 systems, all 8,256 pairs: wall and processor time, the least of N rounds.

* ``files``: a new process that reads the run files, scores eleven measures, and makes the t-tests of all pairs on each;
* ``tests``: each test by itself, on AP and on P@10, given scores: t, Wilcoxon, sign, 10,000 sign flips, 10,000
  bootstraps (with BCa intervals), Tukey's HSD with 10,000 rounds, analysis of variance; and the letters.

The systems are those of TREC-8 where the folder named by AMBLE_DATA has them (unpacked into a temporary folder first),
otherwise workload M: 129 runs of 50 topics x 1000 documents.

Run ``python benchmarks/bench_compare.py [DIR] [--rounds N]``.
"""

from __future__ import annotations

import argparse
import lzma
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command line does

import numpy as np
import workload

import amble

# the measures of Moffat, Scholer and Thomas (2012)
MEASURES = [
    *("RR", "P@10", "P@100", "AP", "SDCG@10", "SDCG@100", "RBP(p=0.73)", "RBP(p=0.95)"),
    *("INSQ", "INSQ(T=5,adaptive=True)", "INSQ(T=10,adaptive=True)"),
]
TESTS = ("t", "sign", "wilcoxon", "permutation", "bootstrap", "tukey", "anova")
WANTED = {"files": 3.0, "permutation": 10.0, "tukey": 5.0, "t": 1.0}  # seconds, at most

WHOLE = """
import os, sys
os.environ["OPENBLAS_NUM_THREADS"] = "1"
import amble
qrels, *rest = sys.argv[1:]
runs, measures = rest[:-1], rest[-1].split()
scores = amble.evaluate(qrels, runs, measures)
found = [amble.compare(scores, m, correction="none") for m in scores.parsed]
print(" ".join(f"{m} {100 * c.significant.mean():.1f}%" for m, c in zip(scores.measures, found)))
"""


def least(work: Callable[[], object], rounds: int) -> tuple[float, float]:
    """Wall and processor time, the least of some rounds."""
    out = (float("inf"), float("inf"))
    for _ in range(rounds):
        wall, cpu = time.perf_counter(), time.process_time()
        work()
        out = min(out[0], time.perf_counter() - wall), min(out[1], time.process_time() - cpu)
    return out


def line(name: str, wall: float, cpu: float, wanted: float | None = None) -> None:
    """Print one."""
    limit = "" if wanted is None else f"   at most {wanted:g} s: {'yes' if wall <= wanted else 'NO'}"
    print(f"  {name:44s} {wall:7.3f} s wall {cpu:7.3f} s CPU{limit}", flush=True)


def from_files(qrels: str, runs: list[str], rounds: int) -> None:
    """A new process from files to t-tests."""
    out = (float("inf"), float("inf"))
    text = ""
    for _ in range(rounds):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        start = time.perf_counter()
        text = subprocess.run(
            [sys.executable, "-c", WHOLE, qrels, *runs, " ".join(MEASURES)], check=True, capture_output=True, text=True
        ).stdout
        wall = time.perf_counter() - start
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        out = min(out[0], wall), min(out[1], cpu)
    line(f"files to t-tests on {len(MEASURES)} measures, new process", *out, WANTED["files"])
    print(f"    pairs with a significant difference at .05: {text.strip()}")


def from_scores(qrels: str, runs: list[str], rounds: int) -> None:
    """Each test, given scores."""
    scores = amble.evaluate(qrels, runs, ["AP", "P@10"])
    for measure in scores.measures:
        for test in TESTS:
            found: list[amble.Comparison] = []

            def work(test: str = test, measure: str = measure, found: list[amble.Comparison] = found) -> None:
                found[:] = [amble.compare(scores, measure, test=test)]

            work()  # imports, caches
            line(f"{measure}: {test}", *least(work, rounds), WANTED.get(test))
            if test in ("t", "tukey"):
                line(f"{measure}: letters of {test}", *least(lambda: found[0].letters(), rounds))  # noqa: B023


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folder", nargs="?", default=".bench", type=Path, metavar="DIR")
    parser.add_argument("--rounds", type=int, default=3, metavar="N")
    args = parser.parse_args()
    print(f"amble {amble.__version__}, numpy {np.__version__}, Python {sys.version.split()[0]}, {os.cpu_count()} cores")
    data = os.environ.get("AMBLE_DATA")
    with tempfile.TemporaryDirectory() as folder:
        if data and (Path(data) / "trec8").is_dir():
            qrels = str(Path(data) / "trec8" / "qrels.txt")
            for packed in sorted((Path(data) / "trec8" / "runs").iterdir()):
                plain = Path(folder) / packed.name.removesuffix(".xz")
                plain.write_bytes(
                    lzma.decompress(packed.read_bytes()) if packed.suffix == ".xz" else packed.read_bytes()
                )
            runs, name = [str(run) for run in sorted(Path(folder).iterdir())], "TREC-8"
        else:
            workload.main([str(args.folder), "--only", "M"])
            qrels = str(args.folder / "M" / "qrels.txt")
            runs, name = [str(run) for run in sorted((args.folder / "M" / "runs").iterdir())], "workload M"
        print(f"{name}: {len(runs)} runs, {len(runs) * (len(runs) - 1) // 2:,} pairs")
        from_files(qrels, runs, args.rounds)
        from_scores(qrels, runs, args.rounds)
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
