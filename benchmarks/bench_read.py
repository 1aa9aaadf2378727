"""From files to ranked judgments: amble beside the usual readers, on the shapes of `workload`.

Every contender gets the same files in a cold process of its own. amble checks, joins and ranks, and
keeps what it ranked; the peers are timed on their reading alone, before anything is evaluated, and
let each run go before they take the next. Where reading all runs takes a peer too long, it reads a
few of them, and the time it took for those after the first is multiplied; its row says so.

A second table starts from dicts in memory, within one process.

Run ``python benchmarks/bench_read.py [DIR] [--only S M L] [--quick] [--sketch FILE.c]``.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from pathlib import Path

import race
import workload

REFERENCE = "amble, 1 thread"
ROUNDS = {"S": 7, "M": 3, "L": 3}
PACKAGES = ("amble", "numpy", "pytrec-eval-terrier", "ranx", "ir-measures")

# The names are imported one by one, for `import amble` alone loads nothing.
AMBLE = (
    "from amble import align, read_qrels, read_runs\n"
    "from amble.native import is_compiled\n"
    "if is_compiled('reader') == (os.environ['AMBLE_PURE'] == '1'): sys.exit('its C reader was not built')",
    "qrels = read_qrels(args[1])",
    "rankings = align(qrels, read_runs(*args[2:]), threads=int(args[0]))",
    "rankings.lengths.sum()",
)
# A peer's first run counts with what is needed once: it may compile or fill caches on the way.
# Only the last run is counted; the others are like it.
PEERS = {
    name: (
        f"{imports}\ndef read(path):\n    return {read}",
        f"qrels = {qrels}\nrun = read(args[1])",
        "for path in args[2:]:\n    run = None\n    run = read(path)",
        f"({count}) * len(args[1:])",
    )
    for name, imports, qrels, read, count in (
        (
            "pytrec_eval",
            "import pytrec_eval",
            "pytrec_eval.parse_qrel(open(args[0]))",
            "pytrec_eval.parse_run(open(path))",
            "sum(map(len, run.values()))",
        ),
        (
            "ranx",
            "from ranx import Qrels, Run",
            "Qrels.from_file(args[0], kind='trec')",
            "Run.from_file(path, kind='trec')",
            "sum(map(len, run.run.values()))",
        ),
        (
            "ir_measures",
            "import ir_measures",
            "list(ir_measures.read_trec_qrels(args[0]))",
            "list(ir_measures.read_trec_run(path))",
            "len(run)",
        ),
    )
}
# args: folder, module, threads, qrels, runs. A single run is cut into one part a thread.
SKETCH = (
    "import importlib\n"
    "from concurrent.futures import ThreadPoolExecutor\n"
    "sys.path.insert(0, args[0])\n"
    "sketch = importlib.import_module(args[1])\n"
    "threads, paths = int(args[2]), args[4:]",
    "qrels = sketch.load_qrels(args[3])",
    "if threads == 1:\n"
    "    ranked = [sketch.rank_run(qrels, path) for path in paths]\n"
    "else:\n"
    "    parts = threads if len(paths) == 1 else 1\n"
    "    tasks = [(path, part) for path in paths for part in range(parts)]\n"
    "    with ThreadPoolExecutor(threads) as pool:\n"
    "        ranked = list(pool.map(lambda x: sketch.rank_run(qrels, *x, parts), tasks))",
    "sum(len(result[3]) for result in ranked)",
)
# Both steps of each, in turn, once a round; a round before the first is not measured.
DICTS = """
import importlib, json, sys, time
amble, pytrec_eval = (name in sys.argv[4:] and importlib.import_module(name)
                      for name in ("amble", "pytrec_eval"))
qrels, run = {}, {}
for table, path, column, number in (qrels, sys.argv[1], 3, int), (run, sys.argv[2], 4, float):
    for line in open(path):
        cells = line.split()
        table.setdefault(cells[0], {})[cells[2]] = number(cells[column])
pairs = {}
if amble:
    pairs["amble"] = lambda: amble.read_qrels(qrels), lambda made: amble.align(made, {"r": run})
if pytrec_eval:
    pairs["pytrec_eval"] = (lambda: pytrec_eval.RelevanceEvaluator(qrels, {"map", "ndcg"}),
                            lambda made: made.evaluate(run))
seconds = {name: ([], []) for name in pairs}
for turn in range(int(sys.argv[3]) + 1):
    for name, (first, second) in pairs.items():
        t0 = time.perf_counter()
        made = first()
        t1 = time.perf_counter()
        result = second(made)
        t2 = time.perf_counter()
        if turn:
            seconds[name][0].append(t1 - t0)
            seconds[name][1].append(t2 - t1)
        del made, result
print(json.dumps(seconds))
"""
STEPS = {
    "amble": ("read_qrels(dict)", "align(qrels, {name: dict})"),
    "pytrec_eval": ("RelevanceEvaluator(dict, {map, ndcg})", "evaluate(dict)"),
}


def build(source: Path, folder: Path) -> str:
    """Compile one C file of an extension module into folder and return the module's name."""
    found = re.search(r"\bPyInit_(\w+)", source.read_text(encoding="utf-8"))
    if not found:
        raise ValueError(f"{source} has no PyInit_ function: expected a CPython extension module")
    name = found.group(1)
    compiler = os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc"
    flags = ["-O3", "-DNDEBUG", "-fPIC", f"-I{sysconfig.get_paths()['include']}"]
    link = ["-bundle", "-undefined", "dynamic_lookup"] if sys.platform == "darwin" else ["-shared"]
    target = folder / f"{name}{sysconfig.get_config_var('EXT_SUFFIX')}"
    files = [str(source), "-o", str(target), "-lm"]
    subprocess.run([*shlex.split(compiler), *flags, *link, *files], check=True)
    return name


def lineup(
    work: workload.Workload,
    files: int,
    sketch: tuple[Path, str] | None,
) -> list[race.Contender]:
    """List who races on one shape.

    Parameters
    ----------
    work : Workload
        The files to read.
    files : int
        Runs a peer reads before its time is multiplied.
    sketch : tuple or None
        Folder and name of a compiled extension module to race too.

    Returns
    -------
    list of Contender
        amble first, then the sketch, then the peers.
    """
    gone = "" if race.installed("amble") else "not installed"

    def enter(
        name: str,
        steps: tuple[str, str, str, str],
        *args: object,
        runs: int = len(work.runs),
        first: int = 0,
        absent: str = "",
        pure: bool = False,
    ) -> race.Contender:
        """Enter one contender on some runs, `first` of them in the part that is not repeated."""
        whole = len(work.runs)
        times = (whole - first) / (runs - first) if runs < whole else 1.0
        scaled = f"{whole} files scaled from {runs}"
        return race.Contender(
            name,
            race.snippet(*steps, *args, work.qrels, *work.runs[:runs]),
            env={"AMBLE_PURE": "1" if pure else "0"},
            times=times,
            note=scaled if runs < whole else "",
            absent=absent,
            expect=work.docs // whole * runs,
        )

    entered = [enter(f"amble, {n} thread{'s' * (n > 1)}", AMBLE, n, absent=gone) for n in (1, 2)]
    entered.append(
        enter(
            "amble, plain Python",
            AMBLE,
            1,
            runs=1,
            absent=gone or ("left out on L" if work.shape == "L" else ""),
            pure=True,
        )
    )
    if sketch:
        entered += [enter(f"sketch, {n} thread{'s' * (n > 1)}", SKETCH, *sketch, n) for n in (1, 2)]
    for name, steps in PEERS.items():
        absent = "" if race.installed(name) else "not installed"
        runs = min(files, len(work.runs))
        entered.append(enter(name, steps, runs=runs, first=1, absent=absent))
    return entered


def dicts(work: workload.Workload, rounds: int) -> str:
    """Time amble and pytrec_eval on dicts in memory, in one process, and write it as a table."""
    present = [name for name in STEPS if race.installed(name)]
    files = (str(work.qrels), str(work.runs[0]))
    child = subprocess.run(
        [sys.executable, "-P", "-c", DICTS, *files, str(rounds), *present],
        capture_output=True,
        text=True,
    )
    if child.returncode:
        return f"failed: {child.stderr.strip().rpartition(chr(10))[2]}"
    seconds: dict[str, tuple[list[float], list[float]]] = json.loads(child.stdout)
    lines = ["| | prepare the qrels (s) | then the run (s) | both (s) |", "|---|---|---|---|"]
    base: list[list[float]] = [[], [], []]
    for name, (first, second) in STEPS.items():
        if name not in present:
            lines.append(f"| {name} | not installed | | |")
            continue
        prepared, ran = seconds[name]
        columns = [prepared, ran, [a + b for a, b in zip(prepared, ran, strict=True)]]
        base = columns if name == "amble" else base
        cells = (race.cell(column, against) for column, against in zip(columns, base, strict=True))
        lines.append(f"| {name}: `{first}`, `{second}` | {' | '.join(cells)} |")
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """Race on the shapes asked for and print what it took."""
    about = "Time reading: files to ranked judgments, beside the peers."
    parser = argparse.ArgumentParser(prog="bench_read.py", description=about)
    folder = Path(tempfile.gettempdir()) / "amble-workload"
    where = "folder of the workload; made when missing"
    parser.add_argument("data", nargs="?", type=Path, default=folder, metavar="DIR", help=where)
    parser.add_argument("--only", nargs="+", choices=workload.SHAPES, default=workload.SHAPES)
    parser.add_argument("--rounds", type=int, metavar="N", help="laps of each (7 on S, else 3)")
    parser.add_argument("--files", type=int, default=8, metavar="N", help="runs a peer reads of M")
    parser.add_argument("--sketch", type=Path, metavar="FILE.c", help="race this extension too")
    parser.add_argument("--quick", action="store_true", help="a smoke test: little data, one lap")
    args = parser.parse_args(argv)
    if args.files < 2 or (args.rounds is not None and args.rounds < 1):
        parser.error("--files takes 2 or more, --rounds 1 or more")
    data, scale = (args.data / "quick", 0.02) if args.quick else (args.data, 1.0)
    files = 2 if args.quick else args.files

    print("# Files to ranked judgments\n")
    print(f"{race.machine(*PACKAGES)}.\n")
    print(f"Cells: min / median (min as a multiple of that of {REFERENCE}).")
    failed = False
    with tempfile.TemporaryDirectory() as scratch:
        sketch = (Path(scratch), build(args.sketch, Path(scratch))) if args.sketch else None
        for shape in args.only:
            work = workload.load(data, shape, scale)
            rounds = args.rounds or (1 if args.quick else ROUNDS[shape])
            contenders = lineup(work, files, sketch)
            watch = race.Watch()
            laps = race.race(contenders, rounds, lambda said: print(said, file=sys.stderr))
            failed |= any(x.trouble for done in laps.values() for x in done)
            print(
                f"\n## {shape}: {len(work.runs)} run{'s' * (len(work.runs) > 1)}, "
                f"{work.docs:,} lines, {work.size / 1e6:.1f} MB; {rounds} "
                f"round{'s' * (rounds > 1)}; {watch}\n"
            )
            print(race.table(contenders, laps, REFERENCE), flush=True)
    if "S" in args.only:
        rounds = args.rounds or (1 if args.quick else ROUNDS["S"])
        print(f"\n## From dicts, on S; {rounds} round{'s' * (rounds > 1)} in one process\n")
        print("amble joins and ranks; pytrec_eval also scores two measures.\n")
        told = dicts(workload.load(data, "S", scale), rounds)
        failed |= told.startswith("failed")
        print(told)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
