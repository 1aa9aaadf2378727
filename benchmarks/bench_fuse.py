"""Pools and fusion, from files to a file: amble beside ranx, each in cold processes.

Two parts, on the runs of M:

* ``fuse``: eight runs read, fused and written, by reciprocal rank and by CombSUM of min-max scores; amble on one thread
  and ranx. Their scores are compared; those by rank differ where scores are tied, as ranx breaks ties in no fixed way.
* ``all``: amble alone, on all runs: reading them against judgments (for the time that reading takes), pooling them to
  depth 100, and fusing them by each kind of method.

Run ``python benchmarks/bench_fuse.py [DIR] [--only fuse all] [--rounds N] [--runs N]``.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import race
import workload

# amble is imported in children only: see `race`

PACKAGES = ("amble", "numpy", "ranx")
METHODS = {"rrf": ("rrf", "None"), "combsum": ("sum", "'min-max'")}
ALL = ("rrf", "combsum", "borda", "condorcet")
FEW = 8

AMBLE = (
    "from amble import fuse\nfrom amble.io.trec import run_text",
    "",
    "fused = fuse(args[2:], args[0], top=None, threads=1).documents()\n"
    "open(args[1], 'w').write(run_text(fused, args[0]))",
    "len(fused.docs)",
)
RANX = (
    "from ranx import Run, fuse",
    "",
    "runs = [Run.from_file(path, kind='trec') for path in args[3:]]\n"
    "norm = None if args[1] == 'None' else args[1].strip(\"'\")\n"
    "fused = fuse(runs, norm=norm, method=args[0])\n"
    "fused.save(args[2], kind='trec')",
    "sum(map(len, fused.run.values()))",
)
ALIGN = ("from amble import align", "", "rankings = align(args[0], args[1:], threads=1)", "rankings.lengths.sum()")
POOL = (
    "from amble import pool",
    "",
    "made = pool(args[1:], 100, threads=1)\nopen(args[0], 'w').write(made.text())",
    "len(made)",
)


def largest_difference(ours: Path, theirs: Path) -> str:
    """Scores of the same documents, compared with one another."""
    tables = []
    for path in (ours, theirs):
        with path.open(encoding="utf-8") as file:
            tables.append({(line.split()[0], line.split()[2]): float(line.split()[4]) for line in file})
    if tables[0].keys() != tables[1].keys():
        return "not the same documents"
    worst = max(abs(score - tables[1][key]) for key, score in tables[0].items())
    return f"{len(tables[0]):,} scores, the largest difference {worst:.1e}"


def fuse_few(runs: list[str], rounds: int, folder: Path) -> None:
    """Race the fusion of a few runs."""
    for method, (theirs, norm) in METHODS.items():
        ours_to, theirs_to = folder / f"amble.{method}", folder / f"ranx.{method}"
        contenders = [
            race.Contender("amble, 1 thread", race.snippet(*AMBLE, method, ours_to, *runs)),
            race.Contender(
                "ranx",
                race.snippet(*RANX, theirs, norm, theirs_to, *runs),
                absent="" if race.installed("ranx") else "not installed",
            ),
        ]
        laps = race.race(contenders, rounds)
        print(f"\n{method} of {len(runs)} runs, from files to a file\n")
        print(race.table(contenders, laps, "amble, 1 thread"))
        if theirs_to.exists():
            print(f"\n{largest_difference(ours_to, theirs_to)}")


def all_runs(qrels: str, runs: list[str], rounds: int, folder: Path) -> None:
    """Measure amble on all runs."""
    contenders = [
        race.Contender("align, 1 thread", race.snippet(*ALIGN, qrels, *runs)),
        race.Contender("pool, depth 100", race.snippet(*POOL, folder / "pool.txt", *runs)),
        *(race.Contender(f"fuse, {m}", race.snippet(*AMBLE, m, folder / f"all.{m}", *runs)) for m in ALL),
    ]
    laps = race.race(contenders, rounds)
    print(f"\n{len(runs)} runs, amble on one thread\n")
    print(race.table(contenders, laps, "align, 1 thread"))


def main(argv: list[str]) -> int:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=Path(".bench"), help="where the files are, or go")
    parser.add_argument("--only", nargs="+", choices=("fuse", "all"), default=["fuse", "all"])
    parser.add_argument("--rounds", type=int, default=3, metavar="N")
    parser.add_argument("--runs", type=int, default=FEW, metavar="N", help="how many runs ranx gets (default: 8)")
    args = parser.parse_args(argv)
    work = workload.load(args.folder, "M")
    runs = [str(path) for path in work.runs]
    watch = race.Watch()
    with tempfile.TemporaryDirectory() as folder:
        if "fuse" in args.only:
            fuse_few(runs[: args.runs], args.rounds, Path(folder))
        if "all" in args.only:
            all_runs(str(work.qrels), runs, args.rounds, Path(folder))
    print(f"\n{race.machine(*PACKAGES)}; {watch}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
