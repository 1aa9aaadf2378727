"""Walking users: what exact scores cost beside RBP's, and how fast users are simulated.

Two parts, both in memory and in this process, the contenders taken in turn; wall and processor time, the best of N:

* ``exact``: order 1 and 2 of P@H with a utility loss, beside RBP, on 129 runs x 50 topics x 1000 documents (workload
  M), whose lists have one length, and on TREC-8, whose lists have many, where the folder named by AMBLE_DATA has it;
  and of chains with moves of up to five ranks, and with pages of ten, the latter also on 100,000 lists of all lengths.
  What P@H takes more than RBP are its weights; they are measured by themselves, too, and for users who hardly ever
  stop.
* ``simulation``: 100,000 users on each of 50 topics of a run, with loss: the C walker, its plain twin, and a plain
  vectorised NumPy program as one would write it (one draw for all who still walk, visits counted in a table). A
  user-step is one visit of one user to one document of one list. "each list by itself" walks every list anew; "shared"
  walks once for all lists, as amble does where nobody looks at the grades, and its visits are counted for every list.

Run ``python benchmarks/bench_walk.py [DIR] [--only exact simulation] [--rounds N]``.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType

import numpy as np
import workload

import amble
from amble.measures import PH, Lists
from amble.native import is_compiled, plain_walker
from amble.users import Chain, simulation
from amble.users.utility import Utility
from amble.users.walk import Walk

USERS = 100_000
WALK = "PH(p=0.5,q=0.25,loss=0.25)"
SECTIONS = ("exact", "simulation")
MOVES = {1: 0.2, 2: 0.1, 3: 0.05, 4: 0.05, 5: 0.03, -1: 0.1, -2: 0.1, -3: 0.05, -4: 0.05, -5: 0.05}
CHAINS = {"chain of bandwidth 5": Chain.from_moves(MOVES), "pages of ten": Chain.pages(0.5, 0.2, 0.1)}


def best(contenders: dict[str, Callable[[], object]], rounds: int) -> dict[str, tuple[float, float]]:
    """Wall and processor time of each, the least of some rounds, taken in turn."""
    found = {name: (float("inf"), float("inf")) for name in contenders}
    names = list(contenders)
    for k in range(rounds):
        for name in names[k % len(names) :] + names[: k % len(names)]:
            wall, cpu = time.perf_counter(), time.process_time()
            contenders[name]()
            took = time.perf_counter() - wall, time.process_time() - cpu
            found[name] = (min(found[name][0], took[0]), min(found[name][1], took[1]))
    return found


def order1_weights(user: Walk) -> object:
    """Weights of order 1 for a list of 1000 documents."""
    return user.over(1000).order1_weights()


def many_lists(n: int) -> Lists:
    """Lists of random lengths up to 1000, each with ten relevant documents or as many as it is long."""
    rng = np.random.default_rng(0)
    length = rng.integers(1, 1001, n)
    found = np.minimum(length, 10)
    position = np.concatenate([np.sort(rng.permutation(size)[:10]) + 1 for size in length.tolist()])
    rows = np.concatenate(([0], np.cumsum(found)))
    return Lists(
        grades=np.ones(position.size), rows=rows, topic=np.arange(n), length=length, offsets=rows, position=position,
        row=np.arange(position.size), max_grade=1.0,
    )  # fmt: skip


def one_by_one(calls: list[Callable[[], object]]) -> list[object]:
    """What each call returns."""
    return [call() for call in calls]


def exact(folder: Path, rounds: int) -> None:
    """Scores, exactly."""
    places = {"M": (folder / "M" / "qrels.txt", sorted((folder / "M" / "runs").iterdir()))}
    data = os.environ.get("AMBLE_DATA")
    if data and (Path(data) / "trec8").is_dir():
        trec = Path(data) / "trec8"
        places["TREC-8"] = (trec / "qrels.txt", sorted((trec / "runs").iterdir()))
    else:
        print("TREC-8: AMBLE_DATA names no folder that has it")
    for name, (qrels, runs) in places.items():
        rankings = amble.align(qrels, [str(run) for run in runs])
        lengths = np.unique(rankings.lengths)
        print(f"\n{name}: {rankings.lengths.size} lists of {lengths.size} different lengths, in memory")
        measures = ["RBP(p=0.8)", WALK, WALK[:-1] + ",order=2)", "PH(p=0.5,q=0.49,loss=0.25)", "PH(p='0=0.6,1=0.4')"]
        measures.append("PH(p='1:0=0.6,1=0.4;2:0=0.5,1=0.3')")

        def score(m: amble.Measure, rankings: amble.Rankings = rankings) -> Callable[[], object]:
            return lambda: m().scores(Lists.of_rankings(rankings))  # a new user every time, who knows nothing yet

        contenders = {text: amble.parse(text) for text in measures}
        contenders |= {f"PH, {name}": PH(user=chain, loss=0.25) for name, chain in CHAINS.items()}
        times = best({text: score(m) for text, m in contenders.items()}, rounds)
        base = times[measures[0]][0]
        for text, (wall, cpu) in times.items():
            more = "" if text == measures[0] else f"   {1e3 * (wall - base):8.1f} ms more than RBP"
            print(f"  {text:34s} {1e3 * wall:8.1f} ms wall {1e3 * cpu:8.1f} ms CPU{more}")
    lists = many_lists(100_000)
    times = best({"PH, pages of ten": lambda: PH(user=CHAINS["pages of ten"], loss=0.25).scores(lists)}, min(rounds, 2))
    for name, (wall, cpu) in times.items():
        print(f"\n{lists.n:,} lists of up to 1000 documents\n  {name:34s} {wall:8.2f} s wall {cpu:8.2f} s CPU")
    print("\nweights of order 1 for lists of 1000 documents")
    users = {
        f"p={p} q={q} loss={loss}": Walk(p, q, utility=Utility(loss))
        for p, q, loss in ((0.5, 0.25, 0.25), (0.5, 0.49, 0.25), (0.5, 0.499, 0.25), (0.49995, 0.49995, 0.25))
    }
    times = best({name: partial(order1_weights, user) for name, user in users.items()}, rounds)
    for name, (wall, cpu) in times.items():
        nodes = users[name].over(1000).nodes()[0].size
        print(f"  {name:34s} {1e3 * wall:8.1f} ms wall {1e3 * cpu:8.1f} ms CPU   {nodes} nodes")


def plain(p: np.ndarray, q: np.ndarray, gains: np.ndarray, loss: float, users: int, seed: int) -> np.ndarray:
    """T / H of users on one list, as one would write it with NumPy."""
    rng = np.random.default_rng(seed)
    n = gains.size
    at, walking = np.zeros(users, np.int64), np.arange(users)
    seen = np.zeros((users, n), np.uint16)
    total, visits = np.zeros(users), np.zeros(users)
    while walking.size:
        k = seen[walking, at]
        total[walking] += gains[at] * (1.0 - loss) ** k
        seen[walking, at] += 1
        visits[walking] += 1
        draw = rng.random(walking.size)
        move = np.where(draw < p[at], 1, np.where(draw < p[at] + q[at], -1, 0))
        stays = move != 0
        walking, at = walking[stays], (at + move)[stays]
    return total / visits


def simulated(folder: Path, rounds: int) -> None:
    """Users, simulated."""
    run = sorted((folder / "M" / "runs").iterdir())[0]
    rankings = amble.align(folder / "M" / "qrels.txt", [str(run)])
    lists = Lists.of_rankings(rankings)
    m = amble.parse(WALK)
    gains = lists.gains(m.declaration.gain.make(m.values))
    dense = []
    for i in range(lists.n):
        dense.append(gains.by_rank(i))
    on_list = Walk(0.5, 0.25, utility=Utility(0.25)).over(dense[0].size)
    steps = 0

    def walk(walker: ModuleType, ys: list[np.ndarray]) -> Callable[[], object]:
        def go() -> None:
            nonlocal steps
            kept, simulation.walker = simulation.walker, walker
            try:
                follower = simulation.WalkFollower(on_list, ys, 1)
                steps = sum(int(paths.visits.sum()) for paths in simulation.followed(follower, USERS))
            finally:
                simulation.walker = kept

        return go

    contenders: dict[str, Callable[[], object]] = {}
    count: dict[str, int] = {}
    few = 5  # lists for those who take long; scaled
    modules = {"plain twin": plain_walker} | ({"C": simulation.walker} if is_compiled("walker") else {})
    for name, walker in modules.items():
        number = lists.n if name == "C" else few
        ones = [walk(walker, [y]) for y in dense[:number]]
        contenders[f"{name}, each list by itself"] = partial(one_by_one, ones)
        count[f"{name}, each list by itself"] = number
        contenders[f"{name}, shared"] = walk(walker, dense)
        count[f"{name}, shared"] = lists.n
    p, q = on_list.forward, on_list.back
    contenders["plain NumPy, each list by itself"] = lambda: [plain(p, q, y, 0.25, USERS, 1) for y in dense[:few]]
    count["plain NumPy, each list by itself"] = few
    times = best(contenders, rounds)
    print(f"\n{USERS:,} users on each of {lists.n} topics, loss .25, lists of 1000: {steps / USERS:.2f} visits a user")
    rates = {name: steps * count[name] / cpu / 1e6 for name, (_, cpu) in times.items()}
    slowest = rates["plain NumPy, each list by itself"]
    for name, rate in sorted(rates.items(), key=lambda x: -x[1]):
        wall = times[name][0] * lists.n / count[name]
        scaled = "" if count[name] == lists.n else f" (scaled from {count[name]} lists)"
        print(
            f"  {name:36s} {rate:9.1f} million user-steps / s and core   {rate / slowest:6.1f} x plain NumPy"
            f"   {wall:7.2f} s in all{scaled}"
        )
    if not is_compiled("walker"):
        print("  the C walker is not there")


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folder", nargs="?", default=".bench", type=Path, metavar="DIR")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=list(SECTIONS))
    parser.add_argument("--rounds", type=int, default=5, metavar="N")
    args = parser.parse_args()
    workload.main([str(args.folder), "--only", "M"])
    print(f"amble {amble.__version__}, numpy {np.__version__}, Python {sys.version.split()[0]}, {os.cpu_count()} cores")
    if "exact" in args.only:
        exact(args.folder, args.rounds)
    if "simulation" in args.only:
        simulated(args.folder, max(2, args.rounds - 2))
    print(f"\npeak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
