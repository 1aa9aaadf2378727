"""Workers of a Dask cluster killed in the middle of jobs: is the result that of one process, bit for bit?

A scheduler and two worker processes are started on this machine. Each job is done in this process first; then, over and
over, by the workers, one of which is killed (SIGKILL) while it is at work, each time later, and another one started in
its place. At last the scheduler is killed: the command ends with exit code 4, and, started again with its checkpoint,
with the same bytes as a command that was left alone.

Run ``python benchmarks/killed_workers.py [--times 10] [--jobs evaluate …]``; exit code 1 if any result differs.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import amble
from amble.parallel import Workers

HERE = Path(__file__).parent
SEED = 1992


class Cluster:
    """A Dask scheduler and some workers, each a process of one thread; they listen on this machine only."""

    def __init__(self, folder: Path, workers: int = 2) -> None:
        self.file = folder / "scheduler.json"
        self._env = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        self._client: Any = None
        self.scheduler = self._start("dask_scheduler", "--port", "0", "--scheduler-file", str(self.file))
        while not self.file.exists():
            if self.scheduler.poll() is not None:
                raise RuntimeError("the scheduler has ended")
            time.sleep(0.02)
        self.workers = [self._worker() for _ in range(workers)]

    def _start(self, module: str, *options: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.{module}", "--host", "127.0.0.1", "--no-dashboard", *options]
        return subprocess.Popen(command, env=self._env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def _worker(self) -> subprocess.Popen[bytes]:
        return self._start("dask_worker", "--scheduler-file", str(self.file), "--nthreads", "1", "--no-nanny")

    @property
    def address(self) -> str:
        """The scheduler's address."""
        return str(json.loads(self.file.read_text())["address"])

    @property
    def client(self) -> Any:
        """A client of the scheduler, once some worker is there."""
        if self._client is None:
            import distributed

            connect: Any = distributed.Client
            self._client = connect(self.address, set_as_default=False)
        self._client.wait_for_workers(1)
        return self._client

    @contextlib.contextmanager
    def one_killed(self, after: float = 0.0) -> Iterator[list[int]]:
        """In this block a worker at work is killed, some seconds after work began; another takes its place."""
        client, ended, killed = self.client, threading.Event(), list[int]()
        pids = client.run(os.getpid)

        def kill() -> None:
            while not ended.wait(0.002) and not any(client.processing().values()):
                pass
            if after:
                ended.wait(after)
            while not ended.wait(0.002):
                busy = [pids[worker] for worker, tasks in client.processing().items() if tasks and worker in pids]
                for victim in [worker for worker in self.workers if worker.pid in busy][:1]:
                    victim.kill()
                    victim.wait()
                    killed.append(victim.pid)
                    self.workers.remove(victim)
                    self.workers.append(self._worker())
                    return

        killer = threading.Thread(target=kill)
        killer.start()
        try:
            yield killed
        finally:
            ended.set()
            killer.join()

    def close(self) -> None:
        """End all of it."""
        if self._client is not None:
            with contextlib.suppress(Exception):
                self._client.close(timeout=2)
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


def collection(folder: Path, runs: int, topics: int, depth: int) -> tuple[str, list[str]]:
    """Judgments and runs in files."""
    rng = np.random.default_rng(SEED)
    qrels = folder / "qrels.txt"
    with qrels.open("w") as file:
        for t in range(topics):
            file.writelines(f"{t} 0 d{d} {int(g)}\n" for d, g in enumerate(rng.integers(0, 3, 300)))
    paths = []
    for r in range(runs):
        path = folder / f"run{r}.txt"
        with path.open("w") as file:
            for t in range(topics):
                docs = rng.choice(3 * depth, depth, replace=False)
                file.writelines(f"{t} Q0 d{d} {i} {depth - i} run{r}\n" for i, d in enumerate(docs))
        paths.append(str(path))
    return str(qrels), paths


Job = Callable[[Any], bytes]


def jobs(
    folder: Path,
    runs: int = 100,
    depth: int = 1000,
    users: int = 40_000_000,
    rounds: int = 4_000_000,
    records: int = 200_000,
) -> dict[str, Job]:
    """Functions of an executor that return all numbers of their result."""
    qrels, paths = collection(folder, runs, 40, depth)

    def evaluate(executor: Any) -> bytes:
        return amble.evaluate(qrels, paths, "AP nDCG@10 PH(loss=.2) INST", executor=executor).values.tobytes()

    def simulate(executor: Any) -> bytes:
        grades = [1, 0, 0, 1, 0, 0, 1, 0, 0, 1]
        found = amble.simulate("PH(p=.5,q=.25,loss=.25)", grades, users=users, seed=7, executor=executor)
        return b"".join(x.tobytes() for x in (found.values, found.probs, np.array([found.order2, found.mean_visits])))

    def pools(executor: Any) -> bytes:
        rankings = amble.align(qrels, paths, executor=executor)
        found = amble.metaevaluation.pool_effect(rankings, "AP RBP", rounds=8, executor=executor)
        return found.means.tobytes() + found.taus.tobytes()

    scores = amble.evaluate(qrels, paths[:12], "AP")

    def permutation(executor: Any) -> bytes:
        found = amble.compare(scores, test="permutation", rounds=rounds, executor=executor)
        return found.p.tobytes() + found.low.tobytes()

    shards = []
    for i in range(4):
        shards.append(str(folder / f"shard{i}.tsv"))
        command = [sys.executable, str(HERE / "click_logs.py"), shards[-1], "--records", str(records)]
        subprocess.run([*command, "--seed", str(i)], check=True, stdout=subprocess.DEVNULL)

    def fit(executor: Any) -> bytes:
        found = amble.logs.read_log(shards, threads=1, executor=executor or Workers())
        return b"".join(x.tobytes() for x in (found.moves, found.dwell, np.array(found.facts.quartiles)))

    every = {"evaluate": evaluate, "simulate": simulate, "pools": pools, "permutation": permutation}
    return every | ({"fit": fit} if importlib.util.find_spec("duckdb") else {})


def scheduler_killed(folder: Path) -> bool:
    """Whether a command whose scheduler is killed says so, and ends with the same bytes when started again."""
    qrels, paths = collection(folder, 12, topics=40, depth=500)
    command = [
        sys.executable,
        "-m",
        "amble",
        "eval",
        qrels,
        *paths,
        "-m",
        "AP",
        "PH(loss=.2)",
        "--quiet",
        "--digits",
        "17",
    ]
    alone = subprocess.run(command, capture_output=True, check=True).stdout
    kept = folder / "kept"
    cluster = Cluster(folder)
    try:
        cluster.client.close()
        job = subprocess.Popen(
            [*command, "--cluster", str(cluster.file), "--checkpoint", str(kept)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        while job.poll() is None and not list(kept.glob("*.piece")):
            time.sleep(0.002)
        cluster.scheduler.kill()
        out, told = job.communicate()
        done = len(list(kept.glob("*.piece")))
        print(f"  scheduler killed: exit code {job.returncode}, {done} pieces kept; {told.decode().strip()}")
    finally:
        cluster.close()
    again = subprocess.run([*command, "--checkpoint", str(kept)], capture_output=True, check=True).stdout
    print(f"  started again: {'the same bytes' if again == alone else 'OTHER BYTES'}")
    return job.returncode == 4 and out == b"" and told.count(b"\n") == 1 and again == alone


def main() -> int:
    """Do each job some times, a worker killed in each."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--jobs", nargs="+")
    args = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        every = jobs(folder)
        cluster = Cluster(folder)
        try:
            for job, function in every.items():
                if args.jobs and job not in args.jobs:
                    continue
                alone = function(None)
                start = time.perf_counter()
                wrong += function(None) != alone
                usual = time.perf_counter() - start
                print(f"{job}: {usual:.1f} s in this process")
                for i in range(args.times):
                    after = 0.4 * usual * i / args.times
                    start = time.perf_counter()
                    with cluster.one_killed(after) as killed:
                        same = function(cluster.client.get_executor(retries=3)) == alone
                    took = time.perf_counter() - start
                    wrong += not same or not killed
                    how = "bit for bit the same" if same else "DIFFERENT"
                    who = f"worker {killed[0]} killed after {after:.2f} s" if killed else "NO WORKER KILLED"
                    print(f"  {i + 1}: {who}, {took:.1f} s: {how}")
        finally:
            cluster.close()
        other = folder / "lost"
        other.mkdir()
        wrong += not scheduler_killed(other)
    print("all the same" if not wrong else f"{wrong} not as they should be")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
