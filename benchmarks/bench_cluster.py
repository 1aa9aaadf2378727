"""What a second process brings: evaluation, simulation, users fitted to a log, Tukey's test; and what a piece costs.

Each job is done by this process alone, by one worker process, and by two; the least wall time of N rounds, taken in
turn, and whether the bytes are the same:

* ``evaluate``: eight runs of 6,980 queries x 1,000 documents (workload L, the same run under eight names), AP, nDCG@10
  and RR, ``threads=1``;
* ``simulate``: 10^8 readers who walk back and forth on ten documents;
* ``fit``: a log of 30 million records in eight shards, read and counted;
* ``tukey``: the randomised Tukey HSD of 40 runs on 50 topics, 10^5 rounds;
* ``pieces``: a thousand pieces that do nothing, on two processes and on a Dask cluster of two: milliseconds each.

Two more, each in a process of its own, whose peak memory is measured: ``readers``, 10^9 readers of the walk, with the
band around their distribution; ``files``, 500, 1,000 and 2,000 run files by two processes: time, and the peak memory of
the process that was started and of its workers.

Run ``python benchmarks/bench_cluster.py DIR [--only evaluate …] [--scale F] [--rounds N]``; DIR keeps the files.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from killed_workers import Cluster, collection

import amble
from amble.comparison.tukey import dealt_ranges
from amble.logs import read_log
from amble.parallel import Workers, spread

HERE = Path(__file__).parent
WALK, GRADES = "PH(p=.5,q=.25,loss=.25)", [1, 0, 0, 1, 0, 0, 1, 0, 0, 1]
SECTIONS = ("evaluate", "simulate", "fit", "tukey", "pieces", "readers", "files")


def race(name: str, job: Callable[[Any], bytes], rounds: int) -> None:
    """The job alone, by one process and by two."""
    contenders: dict[str, Any] = {"alone": None, "1 process": 1, "2 processes": 2}
    best, bytes_of = dict.fromkeys(contenders, float("inf")), {}
    for _ in range(rounds):
        for who, count in contenders.items():
            if count is None:
                start = time.perf_counter()
                bytes_of[who] = job(None)
                took = time.perf_counter() - start
            else:
                with Workers(count) as workers:
                    list(spread(_nothing, None, range(8), workers))  # they have started
                    start = time.perf_counter()
                    bytes_of[who] = job(workers)
                    took = time.perf_counter() - start
            best[who] = min(best[who], took)
    same = "the same bytes" if len(set(bytes_of.values())) == 1 else "DIFFERENT BYTES"
    times = ", ".join(f"{who} {took:.2f} s" for who, took in best.items())
    gain, whole = best["1 process"] / best["2 processes"], best["alone"] / best["2 processes"]
    print(
        f"{name}: {times}; 1 -> 2 processes {gain:.2f} x, against this process alone {whole:.2f} x; {same}", flush=True
    )


def _nothing(_: object, item: int) -> int:
    return item


def evaluate(folder: Path, scale: float, rounds: int) -> None:
    """Eight large runs."""
    made = _made(folder, scale)
    names = folder / "eight"
    names.mkdir(exist_ok=True)
    runs = []
    for i in range(8):
        path = names / f"run{i}.txt"
        if not path.exists():
            os.link(made[1], path)
        runs.append(str(path))
    race(
        "evaluate, L x 8",
        lambda executor: amble.evaluate(
            str(made[0]), runs, "AP nDCG@10 RR", threads=1, executor=executor
        ).values.tobytes(),
        rounds,
    )


def _made(folder: Path, scale: float) -> tuple[Path, Path]:
    """The judgments and the run of workload L."""
    command = [sys.executable, str(HERE / "workload.py"), str(folder), "--only", "L", "--scale", str(scale)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return folder / "L" / "qrels.txt", next((folder / "L" / "runs").iterdir())


def simulate(folder: Path, scale: float, rounds: int) -> None:
    """Many readers."""
    users = int(1e8 * scale)
    how: dict[str, Any] = {"users": users, "seed": 7, "threads": 1}
    race(
        f"simulate, {users:,} readers",
        lambda executor: amble.simulate(WALK, GRADES, executor=executor, **how).probs.tobytes(),
        rounds,
    )


def fit(folder: Path, scale: float, rounds: int) -> None:
    """A log in shards."""
    records = int(30e6 * scale)
    shards = []
    for i in range(8):
        path = folder / f"shard-{records}-{i}.tsv"
        if not path.exists():
            command = [sys.executable, str(HERE / "click_logs.py"), str(path), "--records", str(records // 8)]
            subprocess.run([*command, "--seed", str(i)], check=True, stdout=subprocess.DEVNULL)
        shards.append(str(path))
    race(
        f"fit, {records:,} records in 8 shards",
        lambda executor: read_log(shards, threads=1, depth=10, executor=executor or Workers()).moves.tobytes(),
        rounds,
    )


def tukey(folder: Path, scale: float, rounds: int) -> None:
    """The randomised Tukey HSD."""
    values, times = np.random.default_rng(7).random((40, 50)), int(1e5 * scale)
    race(
        f"Tukey, {times:,} rounds",
        lambda executor: dealt_ranges(values, times, 7, lambda done, total: None, executor).tobytes(),
        rounds,
    )


def pieces(folder: Path, scale: float, rounds: int) -> None:
    """Pieces that do nothing."""
    cluster = Cluster(Path(tempfile.mkdtemp(dir=folder)))
    try:
        with Workers(2) as processes:
            for name, executor in (("2 processes", processes), ("Dask", cluster.client.get_executor(retries=3))):
                list(spread(_nothing, None, range(100), executor))
                start = time.perf_counter()
                list(spread(_nothing, None, range(1000), executor))
                print(f"pieces: {time.perf_counter() - start:.3f} ms each on {name}", flush=True)
    finally:
        cluster.close()


PROGRAM = """
import json, os, resource, sys, time
import amble
from amble.parallel import Workers, spread

def peak(_, item):
    time.sleep(0.05)
    return os.getpid(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

if __name__ == "__main__":
    job, about = json.loads(sys.argv[1])
    with Workers(2) as workers:
        start = time.perf_counter()
        if job == "readers":
            found = amble.simulate(about["walk"], about["grades"], users=about["users"], seed=7, executor=workers)
            told = {"mean": found.mean, "band": found.band, "rounding": found.rounding, "scores": found.values.size}
        else:
            scores = amble.evaluate(about["qrels"], about["runs"], "AP nDCG@10 RBP", executor=workers)
            told = {"runs": len(scores.runs)}
        told["seconds"] = time.perf_counter() - start
        told["MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        told["MB of the largest worker"] = max(mb for _, mb in spread(peak, None, range(20), workers))
    print(json.dumps(told))
"""


def child(folder: Path, job: str, about: dict[str, Any]) -> dict[str, Any]:
    """A job in a process of its own, with two workers."""
    program = folder / "job.py"
    program.write_text(PROGRAM)
    done = subprocess.run([sys.executable, str(program), json.dumps([job, about])], check=True, capture_output=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def readers(folder: Path, scale: float, rounds: int) -> None:
    """10^9 readers: time, memory, band."""
    found = child(folder, "readers", {"walk": WALK, "grades": GRADES, "users": int(1e9 * scale)})
    print(f"readers, {int(1e9 * scale):,}: " + ", ".join(f"{key} {x:.6g}" for key, x in found.items()), flush=True)


def files(folder: Path, scale: float, rounds: int) -> None:
    """Thousands of runs."""
    kept = folder / "files"
    kept.mkdir(exist_ok=True)
    most = int(2000 * scale)
    qrels, runs = str(kept / "qrels.txt"), [str(kept / f"run{r}.txt") for r in range(most)]
    if not all(map(os.path.exists, (qrels, runs[-1]))):
        qrels, runs = collection(kept, most, 50, 100)
    for count in (most // 4, most // 2, most):
        found = child(folder, "files", {"qrels": qrels, "runs": runs[:count]})
        print(f"files, {count:,}: " + ", ".join(f"{key} {x:.6g}" for key, x in found.items()), flush=True)


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=SECTIONS)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    for section in args.only:
        globals()[section](args.folder, args.scale, args.rounds)


if __name__ == "__main__":
    main()
