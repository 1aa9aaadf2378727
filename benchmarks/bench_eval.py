"""From files to scores by topic in a file: ``amble eval`` beside its peers, on the shapes of `workload`.

Every contender gets the same files in a cold process of its own, computes the same seven measures and writes a line for
each run, topic and measure. amble is its command line, which also checks what it reads; the peers are the short
programs one writes with them. Where all runs take a peer too long, it scores a few of them, and the time it took for
those after the first is multiplied; its row says so.

After each race the scores themselves are compared as they were written, with four digits.

A last table tells what start-up costs: the imports of cold processes, as ``python -X importtime`` counts them.

Run ``python benchmarks/bench_eval.py [DIR] [--only S M L import] [--quick] [--trec-eval PATH]``.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import race
import workload

REFERENCE = "amble, 1 thread"
THREADS = {REFERENCE: 1, "amble, 2 threads": 2}
ROUNDS = {"S": 7, "M": 3, "L": 3, "import": 7}
PACKAGES = ("amble", "numpy", "pytrec-eval-terrier", "ir-measures", "ranx")

# the names of the same measures: amble's, trec_eval's (and so pytrec_eval's), ir_measures', ranx's
MEASURES = (
    ("AP", "map", "AP", "map"),
    ("nDCG", "ndcg", "nDCG", "ndcg"),
    ("nDCG@10", "ndcg_cut.10", "nDCG@10", "ndcg@10"),
    ("P@10", "P.10", "P@10", "precision@10"),
    ("RR", "recip_rank", "RR", "mrr"),
    ("Rprec", "Rprec", "Rprec", "r-precision"),
    ("bpref", "bpref", "Bpref", "bpref"),
)
OURS = [ours for ours, *_ in MEASURES]
TREC = {theirs.replace(".", "_"): ours for ours, theirs, *_ in MEASURES}  # with the names in its results

# args: output, qrels, runs. `score` writes the lines of one run, which it calls by the name of its file.
# A peer's first run counts with what is needed once: it may compile or fill caches on the way.
PEERS = {
    name: (
        f"{setup}\nlines = 0\n"
        "def score(path):\n"
        "    global lines\n"
        "    label = os.path.basename(path)\n"
        f"    for topic, measure, value in {scores}:\n"
        "        out.write(f'{label}\\t{topic}\\t{measure}\\t{value:.4f}\\n')\n"
        "        lines += 1",
        f"out = open(args[0], 'w')\n{once}\nscore(args[2])",
        "for path in args[3:]:\n    score(path)\nout.close()",
        "lines",
    )
    for name, setup, once, scores in (
        (
            "pytrec_eval",
            "import pytrec_eval\n"
            f"wanted, names = {[each[1] for each in MEASURES]}, {TREC}\n"
            "def load(path, column, number):\n"
            "    table = {}\n"
            "    with open(path) as file:\n"
            "        for line in file:\n"
            "            cells = line.split()\n"
            "            table.setdefault(cells[0], {})[cells[2]] = number(cells[column])\n"
            "    return table",
            "evaluator = pytrec_eval.RelevanceEvaluator(load(args[1], 3, int), wanted)",
            "((topic, ours, found[theirs])"
            " for topic, found in evaluator.evaluate(load(path, 4, float)).items()"
            " for theirs, ours in names.items())",
        ),
        (
            "ir_measures",
            f"import ir_measures\nwanted = {{ir_measures.parse_measure(each[2]): each[0] for each in {MEASURES}}}",
            "evaluator = ir_measures.evaluator(list(wanted), ir_measures.read_trec_qrels(args[1]))",
            "((found.query_id, wanted[found.measure], found.value)"
            " for found in evaluator.iter_calc(ir_measures.read_trec_run(path)))",
        ),
        (
            "ranx",
            "from ranx import Qrels, Run, evaluate\n"
            f"names = {{each[3]: each[0] for each in {MEASURES}}}\n"
            "def by_topic(run):\n"
            "    found = evaluate(qrels, run, list(names), return_mean=False)\n"
            "    topics = run.get_query_ids()\n"
            "    for theirs, ours in names.items():\n"
            "        for topic, value in zip(topics, found[theirs], strict=True):\n"
            "            yield topic, ours, value",
            "qrels = Qrels.from_file(args[1], kind='trec')",
            "by_topic(Run.from_file(path, kind='trec'))",
        ),
    )
}
WHOLE = ("pytrec_eval",)  # quick enough to score all runs of every shape
# One process a run, as trec_eval is used; the arguments: the program, the output, the qrels, the runs.
LOOP = (
    "program=$1 out=$2 qrels=$3; shift 3; "
    f'for run; do "$program" -q {" ".join(f"-m {theirs}" for _, theirs, *_ in MEASURES)} "$qrels" "$run" || exit; done '
    '> "$out"'
)
IMPORTS = ("import numpy", "import amble", "import amble; amble.evaluate", "import pytrec_eval")

Scores = dict[tuple[str, str, str], str]  # (file of the run, topic, measure): value as written


@dataclass(frozen=True)
class Agreement:
    """How two files of scores agree.

    Parameters
    ----------
    compared : int
        Scores that both have.
    different : int
        Those written differently.
    largest : float
        The largest difference.
    undefined : int
        Of those that differ, how many one of the two calls nan.
    rounded : int
        Of those that differ, how many belong to topics with scores that differ as doubles and are equal as float32.
    alone : int
        Scores that one of the two lacks.
    """

    compared: int
    different: int
    largest: float
    undefined: int
    rounded: int
    alone: int


def lineup(
    work: workload.Workload, files: int, folder: Path, trec_eval: Path | None
) -> tuple[list[race.Contender], dict[str, Path]]:
    """List who races on one shape.

    Parameters
    ----------
    work : Workload
        The files to score.
    files : int
        Runs a slow peer scores before its time is multiplied.
    folder : Path
        Where the scores are written.
    trec_eval : Path or None
        A trec_eval program to race too.

    Returns
    -------
    tuple
        The contenders, amble first, and by name the file each writes.
    """
    whole = len(work.runs)
    outputs: dict[str, Path] = {}

    def output(name: str) -> Path:
        return outputs.setdefault(name, folder / f"{work.shape}-{len(outputs)}.txt")

    program = shutil.which("amble", path=sysconfig.get_path("scripts"))
    entered = []
    for name, threads in THREADS.items():
        options = ["-m", *OURS, "-q", "--format", "tsv", "--quiet", "--threads", str(threads), "-o", str(output(name))]
        command = (program or "amble", "eval", str(work.qrels), *map(str, work.runs), *options)
        entered.append(race.Contender(name, command, absent="" if program else "not installed"))
    if trec_eval:
        paths = (trec_eval, output("trec_eval"), work.qrels, *work.runs)
        note = "" if whole == 1 else f"{whole} processes"
        entered.append(race.Contender("trec_eval", ("sh", "-c", LOOP, "sh", *map(str, paths)), note=note))
    for name, steps in PEERS.items():
        runs = whole if name in WHOLE else min(files, whole)
        entered.append(
            race.Contender(
                name,
                race.snippet(*steps, output(name), work.qrels, *work.runs[:runs]),
                times=(whole - 1) / (runs - 1) if runs < whole else 1.0,
                note=f"{whole} files scaled from {runs}" if runs < whole else "",
                absent="" if race.installed(name) else "not installed",
                expect=work.docs // whole * runs // workload.DEPTH * len(MEASURES),
            )
        )
    return entered, outputs


def ratios(laps: Mapping[str, Sequence[race.Lap]]) -> str:
    """Write how many times as much as amble each peer took, of the smallest values and of the medians."""
    columns = [("wall", name) for name in THREADS] + [("cpu", REFERENCE), ("rss", REFERENCE)]
    heads = [f"{ {'cpu': 'CPU', 'rss': 'memory'}.get(key, key) }, {name}" for key, name in columns]
    lines = [f"| ratio, min (median) | {' | '.join(heads)} |", "|---|---|---|---|---|"]
    for peer, done in laps.items():
        if peer in THREADS or not done or any(x.trouble for x in done):
            continue
        cells = []
        for key, name in columns:
            theirs, ours = ([getattr(x, key) for x in some if not x.trouble] for some in (done, laps[name]))
            if not ours:
                cells.append("–")
                continue
            least, middle = (race.number(how(theirs) / how(ours)) for how in (min, median))
            cells.append(f"{least}× ({middle}×)")
        lines.append(f"| {peer} / amble | {' | '.join(cells)} |")
    return "\n".join(lines) if len(lines) > 2 else "no peer to take ratios of"


def read_lines(path: Path, labels: Mapping[str, str]) -> Scores:
    """Read lines of run, topic, measure and value, without the means; labels maps runs to files."""
    found: Scores = {}
    with path.open(encoding="utf-8") as file:
        for line in file:
            run, topic, measure, value = line.split()
            if topic not in ("topic", "all"):
                found[labels.get(run, run), topic, measure] = value
    return found


def read_trec_eval(path: Path, runs: Sequence[Path]) -> Scores:
    """Read what trec_eval printed for one run after the other: each ends with its means."""
    found: Scores = {}
    finished = 0
    with path.open(encoding="utf-8") as file:
        for line in file:
            measure, topic, value = line.split()
            if topic != "all":
                found[runs[finished].name, topic, TREC[measure]] = value
            elif measure == "map":  # the first of its means
                finished += 1
    return found


def rounded_topics(run: Path) -> set[str]:
    """Find the topics of a run with scores that are different as doubles and equal as float32."""
    scores: dict[str, set[float]] = {}
    with run.open(encoding="ascii") as file:
        for line in file:
            cells = line.split()
            scores.setdefault(cells[0], set()).add(float(cells[4]))
    return {topic for topic, values in scores.items() if len(set(array("f", values))) < len(values)}


def compare(work: workload.Workload, ours: Path, theirs: Path, trec_eval: bool) -> Agreement:
    """Compare what amble wrote with what a peer wrote, for the runs the peer scored.

    Parameters
    ----------
    work : Workload
        The files that were scored.
    ours : Path
        What amble wrote.
    theirs : Path
        What the peer wrote.
    trec_eval : bool
        Whether that is what trec_eval prints.
    """
    labels = {}
    for run in work.runs:
        with run.open(encoding="ascii") as file:
            labels[file.readline().split()[5]] = run.name
    left = read_lines(ours, labels)
    right = read_trec_eval(theirs, work.runs) if trec_eval else read_lines(theirs, labels)
    scored = {run for run, _, _ in right}
    left = {key: value for key, value in left.items() if key[0] in scored}
    both = left.keys() & right.keys()
    different = [key for key in both if left[key] != right[key]]
    gaps = [abs(float(left[key]) - float(right[key])) for key in different]
    rounded = {run.name: rounded_topics(run) for run in work.runs if run.name in {key[0] for key in different}}
    return Agreement(
        compared=len(both),
        different=len(different),
        largest=max((gap for gap in gaps if gap == gap), default=0.0),
        undefined=sum(gap != gap for gap in gaps),
        rounded=sum(topic in rounded[run] for run, topic, _ in different),
        alone=len(left.keys() ^ right.keys()),
    )


def agreement(work: workload.Workload, outputs: Mapping[str, Path], laps: Mapping[str, Sequence[race.Lap]]) -> str:
    """Compare the scores of all who finished with amble's and write it as a table."""
    from concurrent.futures import ProcessPoolExecutor

    finished = [name for name, done in laps.items() if done and not any(x.trouble for x in done)]
    lines = [
        "| scores as written, 4 digits | compared | different | of them, in topics with ties only as float32 "
        "| largest difference | in one only |",
        "|---|---|---|---|---|---|",
    ]
    if REFERENCE not in finished:
        return "no scores of amble to compare"
    for name in finished:
        if name == REFERENCE:
            continue
        # in a process of its own: this one has to stay small
        with ProcessPoolExecutor(1) as pool:
            task = pool.submit(compare, work, outputs[REFERENCE], outputs[name], name == "trec_eval")
            found = task.result()
        different = f"{found.different:,}" + f", {found.undefined:,} of them nan" * (found.undefined > 0)
        counts = f"{found.compared:,} | {different} | {found.rounded:,} | {found.largest:.4f} | {found.alone:,}"
        lines.append(f"| {REFERENCE} and {name} | {counts} |")
    return "\n".join(lines)


def import_time(statement: str) -> tuple[float, float, float]:
    """Run a statement in a cold process and count its imports.

    Parameters
    ----------
    statement : str
        What ``python -c`` runs.

    Returns
    -------
    tuple of float
        Milliseconds of all imports after those of the interpreter, of numpy with all that it imports itself, and of
        amble's modules without what they import.
    """
    env = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-P", "-X", "importtime", "-c", statement]
    said = subprocess.run(command, check=True, capture_output=True, text=True, env=env).stderr
    whole = numpy = own = 0
    for line in said.splitlines():
        if not line.startswith("import time:") or line.endswith("imported package"):
            continue
        alone, together, name = line.removeprefix("import time:").split("|")
        if name == " site":  # the interpreter's own, up to here
            whole = numpy = own = 0
        elif not name.startswith("  "):  # asked for by the statement, not by another module
            whole += int(together)
        if name.strip() == "numpy":
            numpy = int(together)
        if name.strip().partition(".")[0] == "amble":
            own += int(alone)
    return whole / 1e3, numpy / 1e3, own / 1e3


def imports(rounds: int) -> str:
    """Count the imports of some statements, taken in turn, and write it as a table."""
    present = [each for each in IMPORTS if race.installed(each.partition(";")[0].removeprefix("import "))]
    times: dict[str, list[tuple[float, float, float]]] = {each: [] for each in present}
    for turn in range(rounds + 1):
        for each in present:
            taken = import_time(each)
            if turn:
                times[each].append(taken)
    lines = [
        "| statement | all imports (ms) | more than `import numpy` (ms) | of it numpy and what it imports "
        "| of it amble's modules alone |",
        "|---|---|---|---|---|",
    ]
    least = {each: min(whole for whole, *_ in laps) for each, laps in times.items()}
    for each, laps in times.items():
        whole, numpy, own = zip(*laps, strict=True)
        more = f"{least[each] - least[IMPORTS[0]]:+.1f}" if IMPORTS[0] in least and each != IMPORTS[0] else ""
        parts = " | ".join(f"{min(x):.1f} / {median(x):.1f}" if any(x) else "–" for x in (numpy, own))
        lines.append(f"| `{each}` | {min(whole):.1f} / {median(whole):.1f} | {more} | {parts} |")
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """Race on the shapes asked for, compare the scores, and print what it took."""
    about = "Time evaluation: files to scores by topic, beside the peers."
    parser = argparse.ArgumentParser(prog="bench_eval.py", description=about)
    folder = Path(tempfile.gettempdir()) / "amble-workload"
    where = "folder of the workload; made when missing"
    sections = (*workload.SHAPES, "import")
    parser.add_argument("data", nargs="?", type=Path, default=folder, metavar="DIR", help=where)
    parser.add_argument("--only", nargs="+", choices=sections, default=sections)
    parser.add_argument("--rounds", type=int, metavar="N", help="laps of each (3 on M and L, else 7)")
    parser.add_argument("--files", type=int, default=8, metavar="N", help="runs a slow peer scores of M")
    parser.add_argument("--trec-eval", type=Path, metavar="PATH", help="race this trec_eval too")
    parser.add_argument("--quick", action="store_true", help="a smoke test: little data, one lap")
    args = parser.parse_args(argv)
    if args.files < 2 or (args.rounds is not None and args.rounds < 1):
        parser.error("--files takes 2 or more, --rounds 1 or more")
    if args.trec_eval and not args.trec_eval.is_file():
        parser.error(f"--trec-eval {args.trec_eval}: no such file")
    data, scale = (args.data / "quick", 0.02) if args.quick else (args.data, 1.0)
    trec_eval = args.trec_eval.resolve() if args.trec_eval else None

    def rounds(section: str) -> int:
        return int(args.rounds or (1 if args.quick else ROUNDS[section]))

    print("# Files to scores by topic\n")
    print(f"{race.machine(*PACKAGES)}.\n")
    print(f"Measures: {' '.join(OURS)}.\n")
    print(f"Cells: min / median (min as a multiple of that of {REFERENCE}).\n")
    print(
        "pytrec_eval, and ir_measures, which calls it, compare the scores of documents as float32: where these differ "
        "only as doubles, the documents are tied for them, and their order and so the measures may be others."
    )
    failed = False
    for shape in (each for each in args.only if each != "import"):
        work = workload.load(data, shape, scale)
        with tempfile.TemporaryDirectory() as scratch:
            contenders, outputs = lineup(work, 2 if args.quick else args.files, Path(scratch), trec_eval)
            watch = race.Watch()
            laps = race.race(contenders, rounds(shape), lambda said: print(said, file=sys.stderr))
            busy = str(watch)
            agreed = agreement(work, outputs, laps)
        failed |= any(x.trouble for done in laps.values() for x in done)
        print(
            f"\n## {shape}: {len(work.runs)} run{'s' * (len(work.runs) > 1)}, "
            f"{work.docs:,} lines, {work.size / 1e6:.1f} MB; {rounds(shape)} "
            f"round{'s' * (rounds(shape) > 1)}; {busy}\n"
        )
        print(race.table(contenders, laps, REFERENCE))
        print(f"\n{ratios(laps)}\n\n{agreed}", flush=True)
    if "import" in args.only:
        watch = race.Watch()
        table = imports(rounds("import"))
        print(f"\n## Imports; {rounds('import')} round{'s' * (rounds('import') > 1)}, min / median; {watch}\n")
        print(table)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
