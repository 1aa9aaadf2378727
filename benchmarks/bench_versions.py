"""Two checkouts of amble on the same files, in turn: does a change make it slower?

``python benchmarks/bench_versions.py OLD NEW [DIR]`` races ``amble eval`` of two source trees, each with its C parts
built (``make .venv/.installed``), on the shapes of `workload` and on the families of measures: classic measures on S, M
and L, C/W/L users, walks and Markov chains on M. Every lap is a cold process; contenders take turns. The exit code is 1
if the least wall or processor time of NEW is above ``--most`` times that of OLD.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import race
import workload

CLASSIC = ("AP", "nDCG", "nDCG@10", "P@10", "RR", "Rprec", "bpref")
USERS = ("P@10", "SDCG@10", "RBP(p=0.8)", "INSQ(T=2)", "INST(T=2)", "AP", "RR")
WALKS = ("PH(p=0.5,q=0.25,loss=0.25)", "PH(p=0.5,q=0.25,loss=0.25,order=2)", "PH(p='0=0.6,1=0.4')")
MODELS = tuple(f"MP(model='{a}_{b}_{c}')" for a in ("GL", "LO") for b in ("AD", "OR") for c in ("ID", "LID"))
JOBS = {
    "S": ("S", CLASSIC, ()),
    "M": ("M", CLASSIC, ()),
    "L": ("L", CLASSIC, ()),
    "cwl": ("M", USERS, ("--cwl",)),
    "walk": ("M", WALKS, ()),
    "markov": ("M", MODELS, ()),
}
ROUNDS = {"S": 15, "M": 5, "L": 5, "cwl": 5, "walk": 5, "markov": 5}


def contender(name: str, tree: Path, python: str, job: str, folder: Path) -> race.Contender:
    """``amble eval`` of one checkout."""
    shape, measures, more = JOBS[job]
    files = workload.load(folder, shape)
    asked = [word for m in measures for word in ("-m", m)]
    argv = (python, "-m", "amble", "eval", str(files.qrels), *map(str, files.runs), *asked, *more, "--threads", "1")
    return race.Contender(name, (*argv, "-q", "--quiet", "--format", "tsv"), {"PYTHONPATH": str(tree / "src")})


def main() -> int:
    """Race and tell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path, metavar="OLD")
    parser.add_argument("new", type=Path, metavar="NEW")
    parser.add_argument("folder", nargs="?", type=Path, default=Path(".bench"), metavar="DIR")
    parser.add_argument("--only", nargs="+", choices=tuple(JOBS), default=list(JOBS))
    parser.add_argument("--rounds", type=int, metavar="N", help="laps of each (15 on S, else 5)")
    parser.add_argument("--most", type=float, default=1.05, metavar="RATIO", help="allowed (default: %(default)s)")
    args = parser.parse_args()
    slower = []
    for job in args.only:
        trees = {"old": args.old.resolve(), "new": args.new.resolve()}
        rows = [contender(name, tree, sys.executable, job, args.folder) for name, tree in trees.items()]
        laps = race.race(rows, args.rounds or ROUNDS[job])
        print(f"\n{job}: amble eval, least and median of {args.rounds or ROUNDS[job]} laps, ratio to old\n", flush=True)
        print(race.table(rows, laps, "old"), flush=True)
        for what in ("wall", "cpu"):
            old, new = (min(getattr(lap, what) for lap in laps[name]) for name in trees)
            if not new <= args.most * old:  # also where one of them failed
                slower.append(f"{job} ({what}: {new / old:.3f})")
    print(f"\nslower: {', '.join(slower) or 'none'}")
    return bool(slower)


if __name__ == "__main__":
    sys.exit(main())
