"""What people wait for, in two checkouts: a cold command, files, a training loop, Markov models, walks, the report.

``python benchmarks/bench_waits.py OLD NEW [DIR] [--only ROW …]`` (``make bench OLD=path``) runs each row in both source
trees, each with its C parts built, in turn: wall and processor time and peak memory of whole processes or, where
imports and reading are not what one waits for, the times inside (see `race`). Each row is run at two sizes, the second
ten times the first or a tenth, and the growth of processor time is told as a slope: 1 where ten times as much takes ten
times as long. Beside amble stands what the row cannot beat, such as Python and numpy alone, where there is such a
thing.

Markov models, walks and reports are of the 129 runs of TREC-8 where the folder that AMBLE_DATA names has them,
otherwise of workload M; their growth is told of runs and of depth (of orders, which compare pairs, to a third of runs).

A row is an entry of `ROWS`: what it is, its sizes, and a function that builds its command for a size.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import bench_report
import race
import workload
from bench_eval import OURS, PEERS

# amble and numpy are imported in children only: see `race`
PYTHON = sys.executable
Build = Callable[[Path, int], Sequence[str]]


@dataclass(frozen=True)
class Row:
    """A row of the table.

    Parameters
    ----------
    what : str
        What one waits for.
    unit : str
        What the sizes count.
    sizes : tuple of int
        The usual one, and the one of which growth is told.
    build : callable
        The command, of the folder of workloads and a size.
    inside : bool
        Whether the times inside are told, instead of those of the whole process.
    beside : mapping
        What else runs on the same, by name: commands that have no part of amble in them.
    rounds : int
        Laps of each.
    """

    what: str
    unit: str
    sizes: tuple[int, int]
    build: Build
    inside: bool = False
    beside: Mapping[str, Build] = field(default_factory=dict)
    rounds: int = 5


def repeated(path: Path, times: int) -> Path:
    """A run or qrels file with its topics several times, each time under other names; made once."""
    if times == 1:
        return path
    out = (
        path.parent.parent / f"{path.stem}-{times}.txt"
        if path.parent.name == "runs"
        else path.with_stem(f"{path.stem}-{times}")
    )
    if not out.exists():
        lines = path.read_text(encoding="ascii").splitlines(keepends=True)
        part = out.with_suffix(".part")
        part.write_text("".join(f"{k}{line}" for k in range(times) for line in lines), encoding="ascii")
        part.rename(out)
    return out


def evaluation(qrels: Path, runs: Sequence[Path], threads: int) -> list[str]:
    """``amble eval``, as the installed command runs it."""
    enter = "import sys; sys.argv[0] = 'amble'; from amble.cli.main import entry; entry()"
    files = [str(qrels), *map(str, runs)]
    return [
        PYTHON,
        "-c",
        enter,
        "eval",
        *files,
        "-m",
        *OURS,
        "-q",
        "--quiet",
        "--format",
        "tsv",
        "--threads",
        str(threads),
    ]


def cold(folder: Path, topics: int) -> list[str]:
    """One run of 1000 documents a topic."""
    files, times = workload.load(folder, "S"), topics // workload.TOPICS
    return evaluation(repeated(files.qrels, times), [repeated(files.runs[0], times)], 1)


def many_files(folder: Path, runs: int) -> list[str]:
    """Runs of 50 topics, on two threads."""
    files = workload.load(folder, "M")
    return evaluation(files.qrels, files.runs[:runs], 2)


def pytrec_eval(folder: Path, runs: int) -> Sequence[str]:
    """The same runs and measures by pytrec_eval."""
    files = workload.load(folder, "M")
    return race.snippet(*PEERS["pytrec_eval"], "/dev/null", files.qrels, *files.runs[:runs])


ARRAYS = """
import numpy as np
n = int(args[0])
rng = np.random.default_rng(1)
labels = (rng.random((n, 100)) < 0.1) * rng.integers(1, 4, (n, 100))
labels[:, 0] = 1
scores = rng.standard_normal((n, 100))
"""


# before there were evaluators of arrays, all was done again at each step
KEPT = """
import amble
make = getattr(amble.Evaluator, "of_arrays", None)
step = make(labels, args[1]).evaluate if make else lambda x: amble.evaluate(amble.from_arrays(labels, x), args[1])
step(scores).means()
"""


def arrays(measures: str) -> Build:
    """Lists of 100 documents in arrays: labels kept, new scores at each step; ten steps are timed."""
    steps = "for _ in range(10): step(scores).means()"
    return lambda _, n: race.snippet(ARRAYS + KEPT, "", steps, "0", n, measures)


def argsort(_: Path, n: int) -> Sequence[str]:
    """The sort alone that every ranking by score needs."""
    step = "np.argsort(-scores, axis=1, kind='stable')"
    return race.snippet(ARRAYS + step, "", f"for _ in range(10): {step}", "0", n)


MARKOV = "MP(model='GL_AD_ID',counts='FNBR')"  # of the models that take the most
ALIGNED = """
os.environ["OPENBLAS_NUM_THREADS"] = "1"
import amble
rankings = amble.align(args[0], args[2:], depth=int(args[1]))
"""


def markov(folder: Path, runs: int, depth: int) -> Sequence[str]:
    """A Markov model on rankings in memory."""
    _, qrels, files = workload.load_trec8(folder)
    return race.snippet(ALIGNED, "", f"amble.evaluate(rankings, {MARKOV!r})", "0", qrels, depth, *files[:runs])


def distributions(measure: str) -> Build:
    """The distributions of runs in memory over walking users, exact or of 100,000 simulated ones."""

    def build(folder: Path, runs: int) -> Sequence[str]:
        _, qrels, files = workload.load_trec8(folder)
        step = f"amble.run_distributions(rankings, {measure!r})"
        return race.snippet(ALIGNED, "", step, "0", qrels, workload.DEPTH, *files[:runs])

    return build


def orders(folder: Path, runs: int) -> Sequence[str]:
    """``reproductions/orders_trec8.py``: all pairs of runs under five users, on every topic and over all."""
    script = Path(__file__).parents[1] / "reproductions" / "orders_trec8.py"
    data = workload.load_trec8(folder)[1].parent
    return [PYTHON, str(script), str(data), "--runs", str(runs), "--out", str(folder / "orders")]


def report(folder: Path, runs: int, depth: int) -> Sequence[str]:
    """``amble report``, cold."""
    _, qrels, files = workload.load_trec8(folder)
    return bench_report.command(qrels, files[:runs], folder / "report.html", "--depth", str(depth))


def decompressed(folder: Path, runs: int) -> Sequence[str]:
    """The same runs read, and decompressed where they are, one after another."""
    files = workload.load_trec8(folder)[2]
    step = "for name in args: (lzma.open if name.endswith('.xz') else open)(name, 'rb').read()"
    return race.snippet("import lzma", "", step, "0", *files[:runs])


ROWS = {
    "cold": Row(
        "cold `amble eval`, one run, seven measures",
        "topics of 1000 documents",
        (50, 500),
        cold,
        beside={"Python and numpy alone": lambda *_: [PYTHON, "-c", "import numpy"]},
        rounds=15,
    ),
    "m": Row(
        "`amble eval` of many run files, two threads",
        "runs of 50 topics x 1000",
        (129, 13),
        many_files,
        beside={"pytrec_eval": pytrec_eval},
    ),
    "arrays": Row(
        "nDCG@10 of arrays, labels kept, ten steps",
        "lists of 100 documents",
        (1000, 10_000),
        arrays("nDCG@10"),
        inside=True,
        beside={"a stable argsort alone": argsort},
        rounds=9,
    ),
    "arrays AP": Row(
        "AP of arrays, labels kept, ten steps",
        "lists of 100 documents",
        (1000, 10_000),
        arrays("AP"),
        inside=True,
        beside={"a stable argsort alone": argsort},
        rounds=9,
    ),
    "markov": Row(
        f"{MARKOV} on rankings in memory",
        "runs of 50 topics x 1000",
        (workload.RUNS, 13),
        lambda folder, n: markov(folder, n, workload.DEPTH),
        inside=True,
        rounds=3,
    ),
    "markov depth": Row(
        f"{MARKOV} on rankings in memory",
        "documents a topic, 129 runs",
        (workload.DEPTH, 100),
        lambda folder, n: markov(folder, workload.RUNS, n),
        inside=True,
        rounds=3,
    ),
    "walks": Row(
        "exact distributions of PH(loss=0), rankings in memory",
        "runs of 50 topics x 1000",
        (workload.RUNS, 13),
        distributions("PH(loss=0)"),
        inside=True,
        rounds=3,
    ),
    "walks with loss": Row(
        "distributions of PH, 100,000 users, rankings in memory",
        "runs of 50 topics x 1000",
        (workload.RUNS, 13),
        distributions("PH"),
        inside=True,
        rounds=3,
    ),
    "orders": Row(
        "`orders_trec8.py`, all pairs of runs under five users",
        "runs of 50 topics x 1000",
        (workload.RUNS, 43),
        orders,
        rounds=2,
    ),
    "report": Row(
        "`amble report`, eight measures",
        "runs of 50 topics x 1000",
        (workload.RUNS, 13),
        lambda folder, n: report(folder, n, workload.DEPTH),
        beside={"the runs decompressed, on one thread": decompressed},
        rounds=3,
    ),
    "report depth": Row(
        "`amble report`, eight measures",
        "documents a topic, 129 runs",
        (workload.DEPTH, 100),
        lambda folder, n: report(folder, workload.RUNS, n),
        rounds=3,
    ),
}


def least(laps: Sequence[race.Lap], what: str) -> float:
    """The least of a figure over laps; NaN where one failed."""
    return min((getattr(lap, what) for lap in laps), default=race.NAN)


def measured(row: Row, folder: Path, trees: Mapping[str, Path], size: int, rounds: int) -> dict[str, list[race.Lap]]:
    """Race a row at one size, and print it."""
    argv = tuple(row.build(folder, size))
    entered = [race.Contender(name, argv, {"PYTHONPATH": str(tree / "src")}) for name, tree in trees.items()]
    entered += [race.Contender(name, tuple(build(folder, size))) for name, build in row.beside.items()]
    watch = race.Watch()
    laps = race.race(entered, rounds)
    print(f"\n### {row.what}: {size:,} {row.unit}, least and median of {rounds}, ratio to old\n")
    print(race.table(entered, laps, "old"), f"\n\n{watch}", flush=True)
    return laps


def main() -> int:
    """Race and tell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path, metavar="OLD")
    parser.add_argument("new", type=Path, metavar="NEW")
    parser.add_argument("folder", nargs="?", type=Path, default=Path(".bench"), metavar="DIR")
    parser.add_argument("--only", nargs="+", choices=tuple(ROWS), default=list(ROWS), metavar="ROW")
    parser.add_argument("--rounds", type=int, metavar="N", help="laps of each (default: each row's own)")
    args = parser.parse_args()
    trees = {"old": args.old.resolve(), "new": args.new.resolve()}
    for tree in trees.values():
        if not any((tree / "src" / "amble" / "native").glob("_reader*.so")):
            parser.error(f"{tree}: expected a checkout with its C parts built (make .venv/.installed)")
    args.folder.mkdir(parents=True, exist_ok=True)
    data = workload.load_trec8(args.folder)[0]
    print(f"# What people wait for, before and after\n\n{race.machine('numpy', 'pytrec-eval-terrier')}")
    print(f"Markov models, walks and reports: {data}.", flush=True)
    summary = [
        "| row | wall, old → new (s) | CPU, old → new (s) | memory, old → new (MB) | slope of CPU, old → new |",
        "|---|---|---|---|---|",
    ]
    for name in args.only:
        row = ROWS[name]
        by_size = {size: measured(row, args.folder, trees, size, args.rounds or row.rounds) for size in row.sizes}
        wall, cpu = ("inside", "cpu_inside") if row.inside else ("wall", "cpu")
        here, there = row.sizes
        cells = []
        for what in (wall, cpu, "rss"):
            old, new = (least(by_size[here][tree], what) for tree in trees)
            cells.append(f"{race.number(old)} → {race.number(new)} ({race.number(old / new)}×)")
        times = [[least(by_size[size][tree], cpu) for size in row.sizes] for tree in trees]
        cells.append(" → ".join(f"{math.log(b / a) / math.log(there / here):.2f}" for a, b in times))
        summary.append(f"| {name}: {here:,} {row.unit} | {' | '.join(cells)} |")
    print("\n" + "\n".join(summary))
    return 0


if __name__ == "__main__":
    sys.exit(main())
