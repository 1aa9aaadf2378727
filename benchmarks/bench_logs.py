"""How long `amble fit` takes, and how much memory, as logs grow: whole cold processes, the least of N.

Logs in the layout of Yandex's Relevance Prediction Challenge, by people who walk (`click_logs.py`), of 3, 10 and 30
million records; all models are fitted, with intervals from 1,000 resamplings, and written to a file. Beside it, on the
smallest log, the same counts of moves and gaps, and nothing else, by a loop over lines in Python.

The last line is what growth would be linear: seconds of processor time per million records at each size.

Run ``python benchmarks/bench_logs.py FOLDER [--records N...] [--rounds N]``. Logs are made once and kept: 1.6 GB for
30 million records; `amble fit` needs about half of that for a while, too.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from race import Contender, Watch, lap, machine, number

HERE = Path(__file__).parent
LOOP = """
import sys
from collections import Counter
moves, gaps, page, last = Counter(), [], (), None
with open(sys.argv[1]) as file:
    for line in file:
        cells = line.rstrip("\\n").split("\\t")
        if cells[2] == "Q":
            page, last = cells[5:], None
        else:
            rank, time = page.index(cells[3]) + 1, float(cells[1])
            if last is not None:
                moves[last[0], rank] += 1
                gaps.append(time - last[1])
            last = rank, time
gaps.sort()
print(sum(moves.values()), gaps[len(gaps) // 2])
"""


def make(folder: Path, records: int) -> Path:
    """The log, made if it is not there."""
    path = folder / f"log-{records}.tsv"
    if not path.exists():
        command = [sys.executable, str(HERE / "click_logs.py"), str(path), "--records", str(records)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return path


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--records", type=int, nargs="+", default=[3_000_000, 10_000_000, 30_000_000], metavar="N")
    parser.add_argument("--rounds", type=int, default=2, metavar="N")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    print(machine("numpy", "duckdb"))
    print("\n| records | log (MB) | | wall (s) | CPU (s) | peak memory (MB) |\n|---|---|---|---|---|---|")
    watch, growth = Watch(), []
    for records in args.records:
        path = make(args.folder, records)
        fit = args.folder / "fit.toml"
        command = (sys.executable, "-m", "amble", "fit", str(path), "-o", str(fit), "--quiet", "--show", "choice")
        contenders = [Contender("amble fit", command)]
        if records == min(args.records):
            contenders.append(
                Contender("a loop in Python, moves and gaps only", (sys.executable, "-c", LOOP, str(path)))
            )
        for each in contenders:
            laps = [lap(each) for _ in range(args.rounds)]
            trouble = next((x.trouble for x in laps if x.trouble), "")
            size = os.path.getsize(path) / 1e6
            cells = (
                [trouble, "", ""]
                if trouble
                else [number(min(getattr(x, k) for x in laps)) for k in ("wall", "cpu", "rss")]
            )
            print(f"| {records:,} | {size:,.0f} | {each.name} | {' | '.join(cells)} |", flush=True)
            if each is contenders[0] and not trouble:
                growth.append(f"{number(min(x.cpu for x in laps) / records * 1e6)} at {records / 1e6:g}")
    print(f"\nCPU seconds per million records: {', '.join(growth)} million; {watch}")


if __name__ == "__main__":
    main()
