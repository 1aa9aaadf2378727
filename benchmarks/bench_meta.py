"""Meta-evaluation of the 129 runs of TREC-8: whole cold processes, wall and processor time, the least of N.

* ``agreement``: the eleven measures of Moffat, Scholer and Thomas (2012) from the uncompressed run files: read, scored,
  all 8,256 pairs of runs tested by t-tests, agreements counted and written.
* ``pool``: the experiment of Ferrante, Ferro and Maistro (2014): nine measures, five rates, 30 repetitions; read,
  rejudged 150 times, scored, ranked.
* ``power``: discriminative power of the eleven measures by the bootstrap (1,000 draws) and by the randomised Tukey HSD
  (1,000 shuffles); ``tau``: their correlations with intervals (1,000 draws); ``swaps``: swap rates (five sizes, 100
  trials).

Run ``AMBLE_DATA=FOLDER python benchmarks/bench_meta.py [--only NAME...] [--rounds N]``. Compressed run files are
unpacked into a temporary folder first.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from amble.io.files import open_source

M12 = (
    "RR", "INSQ", "P@10", "RBP(p=0.73)", "SDCG@10", "P@100", "RBP(p=0.95)", "SDCG@100", "AP",
    "INSQ(T=5,adaptive=True)", "INSQ(T=10,adaptive=True)",
)  # fmt: skip
NINE = ("AP", "P@10", "Rprec", "bpref", "RBP", "RR", "nDCG", "INSQ", "SDCG@100")
JOBS = {
    "agreement": (["agreement", "-m", *M12], 3.0),
    "pool": (["pool", "--rounds", "30", "-m", *NINE], 60.0),
    "tau": (["tau", "-m", *M12], None),
    "power": (["power", "-m", *M12], None),
    "tukey": (["power", "--test", "tukey", "-m", *M12], None),
    "swaps": (["swaps", "-m", *M12], None),
}


def unpack(runs: Path, folder: Path) -> list[str]:
    """Write the runs as plain files."""
    out = []
    for path in sorted(runs.iterdir()):
        target = folder / path.name.removesuffix(".xz")
        with open_source(str(path)) as (source, _), target.open("wb") as file:
            if isinstance(source, int):
                file.write(path.read_bytes())
            else:
                while block := source.read(1 << 20):
                    file.write(block)
        out.append(str(target))
    return out


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--only", nargs="+", choices=tuple(JOBS), default=list(JOBS))
    parser.add_argument("--rounds", type=int, default=3, metavar="N")
    args = parser.parse_args()
    data = os.environ.get("AMBLE_DATA")
    if not data or not (Path(data) / "trec8").is_dir():
        print("bench_meta: AMBLE_DATA names no folder with trec8/: nothing measured")
        return
    trec8 = Path(data) / "trec8"
    with tempfile.TemporaryDirectory() as folder:
        runs = unpack(trec8 / "runs", Path(folder))
        print(f"{len(runs)} runs of TREC-8, uncompressed; {os.cpu_count()} CPUs; least of {args.rounds} rounds")
        for name in args.only:
            words, wanted = JOBS[name]
            command = [sys.executable, "-m", "amble", "meta", words[0], str(trec8 / "qrels.txt"), *runs, *words[1:]]
            best, cpu = float("inf"), float("inf")
            for _ in range(args.rounds):
                before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
                subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                wall = time.perf_counter() - start
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                best = min(best, wall)
                cpu = min(cpu, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
            peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
            goal = f"   wanted: under {wanted:g} s" if wanted else ""
            print(f"  {name:10s} {best:7.2f} s wall {cpu:7.2f} s CPU   peak so far {peak:.0f} MB{goal}")


if __name__ == "__main__":
    main()
