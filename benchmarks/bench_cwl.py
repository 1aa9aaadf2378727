"""What a measure's user expects to gain and to spend: ``amble eval --cwl`` beside cwl-eval, and measures in memory.

Three parts:

* ``agreement``: EU, ETU, EC, ETC and ED of both, as doubles, for every measure that both have, on S. cwl-eval cuts all
  lists at rank 1000 and lets its users forget what is beyond, while amble keeps it in closed form. So the differences
  are told as they are, and once what is beyond rank 1000 has been taken out of amble's values; what then remains is
  explained, or called unexplained.
* ``speed``: from files to a file of expectations by topic, on M, each contender in cold processes. cwl-eval takes one
  process per run; it gets a few of them, and its time is multiplied. It gets its gains already divided by the largest.
* ``memory``: the eleven measures that Moffat, Scholer and Thomas (2012, tables 1 and 4) compare, on rankings that are
  there already: those of TREC-8 where the folder named by AMBLE_DATA has them, else those of M.

cwl-eval looks at neither scores nor ranks, so for the agreement it is given the documents in amble's order.

Run ``python benchmarks/bench_cwl.py [DIR] [--only agreement speed memory] [--rounds N] [--quick]``.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import sysconfig
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import race
import workload

# amble is imported in children only: see `race`

SECTIONS = ("agreement", "speed", "memory")
PACKAGES = ("amble", "numpy", "cwl-eval")
ROUNDS = {"speed": 3, "memory": 5}
CUT = 1000  # where cwl-eval cuts a list
EQUAL = 1e-9  # values closer than this are the same
BINARY = ("P", "RBP", "AP", "RR")  # amble's take a document for relevant or not: cwl-eval gets such gains, too

# amble's name, and cwl-eval's class with its parameters
PAIRS = (
    ("P@1", "PrecisionCWLMetric(1)"),
    ("P@10", "PrecisionCWLMetric(10)"),
    ("P@1000", "PrecisionCWLMetric(1000)"),
    ("SDCG@10", "NDCGCWLMetric(10)"),
    ("SDCG@1000", "NDCGCWLMetric(1000)"),
    ("RBP(p=0.5)", "RBPCWLMetric(0.5)"),
    ("RBP(p=0.95)", "RBPCWLMetric(0.95)"),
    ("GRBP(p=0.8)", "RBPCWLMetric(0.8)"),
    ("GRBP(p=0.999)", "RBPCWLMetric(0.999)"),
    ("INSQ(T=1)", "INSQCWLMetric(1.0)"),
    ("INSQ(T=5)", "INSQCWLMetric(5.0)"),
    ("INST(T=0.5)", "INSTCWLMetric(0.5)"),
    ("INST(T=1)", "INSTCWLMetric(1.0)"),
    ("INST(T=5)", "INSTCWLMetric(5.0)"),
    ("AP", "APCWLMetric()"),
    ("RR", "RRCWLMetric()"),
    ("BPM(T=1)@10", "BPMCWLMetric(1.0,10)"),
    ("BPM(T=3)@100", "BPMCWLMetric(3.0,100)"),
    ("BPMD(T=1,hc=0)@10", "BPMDCWLMetric(1.0,10,1.0,0.0)"),
    ("BPMD(T=3,hb=0.2,hc=0)@50", "BPMDCWLMetric(3.0,50,0.2,0.0)"),
    ("IFTGoal(T=1,b=0.9,R=1)", "IFTGoalCWLMetric(1.0,0.9,1.0)"),
    ("IFTGoal(T=2,b=0.9,R=10)", "IFTGoalCWLMetric(2.0,0.9,10.0)"),
    ("IFTGoal(T=2,b=0.9,R=17)", "IFTGoalCWLMetric(2.0,0.9,17.0)"),
    ("IFTRate(A=0.2,b=0.9,R=10)", "IFTRateCWLMetric(0.2,0.9,10.0)"),
    ("IFTRate(A=0.01,b=0.1,R=1)", "IFTRateCWLMetric(0.01,0.1,1.0)"),
    ("IFT(T=2,b1=0.9,R1=10,A=0.2,b2=0.9,R2=10)", "IFTGoalRateCWLMetric(2.0,0.9,10.0,0.2,0.9,10.0)"),
    ("IFT(T=4,b1=0.5,R1=1,A=0.01,b2=0.1,R2=1)", "IFTGoalRateCWLMetric(4.0,0.5,1.0,0.01,0.1,1.0)"),
    ("TBG(h=20)", "TBGCWLMetric(20)"),
    ("TBG(h=224)", "TBGCWLMetric(224)"),
    ("U(L=100)", "UMeasureCWLMetric(100)"),
    ("U(L=1000)", "UMeasureCWLMetric(1000)"),
    ("U(L=5000)", "UMeasureCWLMetric(5000)"),
    ("NERR8@10", "NERReq8CWLMetric(10)"),
    ("NERR8@1000", "NERReq8CWLMetric(1000)"),
    ("NERR9@10", "NERReq9CWLMetric(10)"),
    ("NERR9@1000", "NERReq9CWLMetric(1000)"),
    ("NERR10(p=0.5)", "NERReq10CWLMetric(0.5)"),
    ("NERR10(p=0.9)", "NERReq10CWLMetric(0.9)"),
    ("NERR11(T=1)", "NERReq11CWLMetric(1.0)"),
    ("NERR11(T=5)", "NERReq11CWLMetric(5.0)"),
)
# with costs, what is beyond rank 1000 is only known of users who look at none; these still read there
FAR = ("TBG(h=224)", "U(L=1000)", "U(L=5000)")
PRICES = {"a": 0.5, "b": 1.0, "c": 2.5}  # of cwl-eval's types of elements; a document's is drawn by its name

RACED = (
    ("INST(T=1)", "INSTCWLMetric(1.0)"),
    ("INSQ(T=1)", "INSQCWLMetric(1.0)"),
    ("GRBP(p=0.8)", "RBPCWLMetric(0.8)"),
    ("BPM(T=1)@10", "BPMCWLMetric(1.0,10)"),
    ("IFT(T=2,b1=0.9,R1=10,A=0.2,b2=0.9,R2=10)", "IFTGoalRateCWLMetric(2.0,0.9,10.0,0.2,0.9,10.0)"),
    ("TBG(h=224)", "TBGCWLMetric(224)"),
    ("AP", "APCWLMetric()"),
)
REFERENCE = "amble, 1 thread"
# One process per run, as it is used. It writes a log where it stands. Arguments: folder, program, output, metrics,
# gains, runs.
LOOP = (
    'cd "$1" && program=$2 out=$3 metrics=$4 gains=$5; shift 5; '
    'for run; do "$program" "$gains" "$run" -m "$metrics" || exit; done > "$out"'
)
# Its own classes in one process for all runs: start-up and the gains are paid once, as they are by amble.
CLASSES = (
    "from cwl.ruler.cwl_ruler import *\n"
    "from cwl.ruler.ranking import RankingMaker\n"
    "from cwl.seeker.trec_qrel_handler import TrecQrelHandler\n"
    "ruler = CWLRuler()\n"
    "lists = 0\n"
    "def score(path):\n"
    "    global lists\n"
    "    topic = maker = None\n"
    "    def report():\n"
    "        ruler.measure(maker.get_ranking())\n"
    "        ruler.report()\n"
    "    for line in open(path):\n"
    "        cells = line.split()\n"
    "        if cells[0] != topic:\n"
    "            if maker: report()\n"
    "            topic, maker = cells[0], RankingMaker(cells[0], gains)\n"
    "            lists += 1\n"
    "        maker.add(cells[2], cells[1])\n"
    "    report()",
    "ruler.metrics = [{metrics}]\ngains = TrecQrelHandler(args[0])\ngains.validate_gains()\nscore(args[1])",
    "for path in args[2:]: score(path)",
    "lists",
)

ELEVEN = (
    "RR",
    "INSQ(T=1)",
    "P@10",
    "RBP(p=0.73)",
    "SDCG@10",
    "P@100",
    "RBP(p=0.95)",
    "SDCG@100",
    "AP",
    "INSQ(T=5,adaptive=True)",
    "INSQ(T=10,adaptive=True)",
)


# ---- agreement


def bare(measure: str) -> str:
    """The name of a measure without its parameters."""
    return measure.partition("(")[0].partition("@")[0]


class Five(NamedTuple):
    """What the user of a list expects."""

    eu: float
    etu: float
    ec: float
    etc: float
    ed: float


class Case(NamedTuple):
    """What there is to know of a user on a list to say why two programs differ about her."""

    name: str  # the measure's, without parameters
    found: float  # all that there is to gain in the list
    at_end: float  # the share of users who get to the end of the list
    costs: bool  # whether documents cost different amounts


REASONS: dict[str, tuple[Callable[[Case], bool], str]] = {
    "AP": (
        lambda case: case.found == 0,
        "a list without a relevant document: amble's user reads it all, cwl-eval's one document",
    ),
    "RR": (
        lambda case: case.found == 0,
        f"a list without a relevant document: amble's user reads it all, cwl-eval's {CUT} documents that cost nothing",
    ),
    "IFTGoal": (
        lambda case: case.at_end > EQUAL,
        f"amble's user stops at the end of the list, cwl-eval's reads on to rank {CUT}",
    ),
    "BPM": (lambda case: case.costs, "amble's k counts documents, cwl-eval's costs"),
    "BPMD": (lambda case: case.costs, "amble's k counts documents, cwl-eval's costs"),
}


@dataclass
class Agreement:
    """How far two programs agree about one measure.

    Parameters
    ----------
    measure : str
        As amble writes it.
    compared : int
        Values that both have.
    raw : float
        The largest difference.
    without : float
        The largest once what is beyond rank 1000 is taken out.
    lists : int
        Lists with a difference then that is explained.
    unexplained : float
        Of the differences that are not, the largest.
    """

    measure: str
    compared: int = 0
    raw: float = 0.0
    without: float = 0.0
    lists: int = 0
    unexplained: float = 0.0

    def add(self, ours: Five, cut: Five, theirs: Five, case: Case) -> None:
        """Count a list: amble's values as they are, cut as cwl-eval cuts, and cwl-eval's."""
        self.compared += len(theirs)
        self.raw = max(self.raw, *(abs(a - b) for a, b in zip(ours, theirs, strict=True)))
        gap = max(abs(a - b) for a, b in zip(cut, theirs, strict=True))
        self.without = max(self.without, gap)
        if gap > EQUAL:
            if case.name in REASONS and REASONS[case.name][0](case):
                self.lists += 1
            else:
                self.unexplained = max(self.unexplained, gap)

    @property
    def why(self) -> str:
        """What is behind the differences."""
        said = [f"beyond rank {CUT}"] if self.raw > EQUAL and self.raw > self.without else []
        if self.lists:
            reason = REASONS[bare(self.measure)][1]
            said.append(f"{reason} ({self.lists} list{'s' * (self.lists > 1)})")
        if self.unexplained:
            said.append(f"unexplained: {self.unexplained:.2g}")
        return "; ".join(said)


@dataclass(frozen=True)
class Setting:
    """How the lists of S are compared.

    Parameters
    ----------
    title : str
        Of its table.
    depth : int
        Documents kept of each list.
    costs : mapping
        What each document costs, where that differs.
    """

    title: str
    depth: int = CUT
    costs: Mapping[str, float] = field(default_factory=dict)


def build(text: str) -> Any:
    """Make a metric of cwl-eval's from a line such as its files of metrics have."""
    theirs = import_module("cwl.ruler.cwl_ruler")
    name, _, parameters = text.rstrip(")").partition("(")
    made = (float(x) if "." in x else int(x) for x in parameters.split(",") if x)
    return getattr(theirs, name)(*made)


def element(document: str) -> str:
    """The type of element, and so the price, of a document."""
    return "abc"[zlib.crc32(document.encode()) % 3]


def read(path: Path, column: int) -> dict[str, dict[str, float]]:
    """Read judgments or a run: topic, document, number."""
    table: dict[str, dict[str, float]] = {}
    with path.open(encoding="ascii") as file:
        for line in file:
            cells = line.split()
            table.setdefault(cells[0], {})[cells[2]] = float(cells[column])
    return table


def in_order(scores: Mapping[str, float]) -> list[str]:
    """Rank documents as amble does: by score, then by name, both descending."""
    return sorted(scores, key=lambda name: (scores[name], name), reverse=True)


def cwl_eval(
    measure: str, text: str, grades: Mapping[str, Mapping[str, float]], ranked: Mapping[str, Sequence[str]], costs: bool
) -> dict[str, Five]:
    """Let cwl-eval's own classes score one measure.

    Parameters
    ----------
    measure : str
        Its name in amble.
    text : str
        Its class in cwl-eval.
    grades : mapping
        Grades by topic and document.
    ranked : mapping
        Documents by topic, in order.
    costs : bool
        Whether documents have their prices, or cost 1 each.

    Returns
    -------
    dict
        By topic.
    """
    ranking, seeker = map(import_module, ("cwl.ruler.ranking", "cwl.seeker.trec_qrel_handler"))
    largest = max(max(of.values()) for of in grades.values())
    binary = bare(measure) in BINARY
    gains, metric = seeker.TrecQrelHandler(), build(text)
    for topic, of in grades.items():
        for document, grade in of.items():
            gains.put_value(topic, document, float(grade >= 1) if binary else max(grade, 0.0) / largest)
    found = {}
    for topic, documents in ranked.items():
        maker = ranking.RankingMaker(topic, gains, PRICES if costs else None, max_n=CUT)
        for document in documents:
            maker.add(document, element(document))
        metric.measure(maker.get_ranking())
        found[topic] = Five(*map(float, metric.get_scores()))
    return found


def cut_off(five: Five, measure: Any, grades: Any, largest: float, spent: float, costs: bool) -> tuple[Five, Case]:
    """Take out of amble's values what is beyond rank 1000, as cwl-eval does.

    Parameters
    ----------
    five : Five
        amble's values.
    measure : Measure
        Whose they are.
    grades : ndarray
        The list.
    largest : float
        The grade whose gain is 1.
    spent : float
        What reading the list down to rank 1000 costs; a document beyond the list costs 1.
    costs : bool
        Whether documents cost different amounts.

    Returns
    -------
    tuple
        The values cut, and what is known of the user.
    """
    import numpy as np

    name = measure.name
    judged = np.nan_to_num(grades)
    gain = np.where(judged >= 1, 1.0, 0.0) if name in BINARY else np.maximum(judged, 0.0) / largest
    if name in ("AP", "RR"):  # she stops at a relevant document
        return five, Case(name, float(gain.sum()), 0.0, costs)
    user = measure.user(grades, max_grade=largest)
    last = CUT - 1 if name == "U" else CUT  # U's W(1000) is 0 there
    depth = user.expected_depth
    beyond = user.residual(last) * depth
    lost = 0.0
    if last < min(gain.size, user.visits.size):
        lost = float(gain[last] * user.visits[last])
    inside = five.ed - beyond
    total, cost = five.etu - lost, five.etc - beyond
    # those who get beyond have gained and spent nothing, unless W is what is declared: then C(1000) is 0
    going_on = 0.0 if name in ("TBG", "U") else beyond - user.residual(CUT + 1) * depth
    cut = Five(
        total / inside,
        total - going_on * float(gain[:CUT].sum()),
        cost / inside,
        cost - going_on * spent,
        inside,
    )
    return cut, Case(name, float(gain.sum()), float(user.visits[-1]), costs)


def compare(qrels: Path, run: Path, setting: Setting) -> list[Agreement]:
    """Compare all measures on the lists of one run."""
    import amble

    grades = read(qrels, 3)
    largest = max(max(of.values()) for of in grades.values())
    ranked = {topic: in_order(scores)[: setting.depth] for topic, scores in read(run, 4).items()}
    rankings = amble.align(qrels, run, depth=setting.depth)
    found = []
    for text, theirs in PAIRS:
        if setting.costs and text in FAR:
            continue
        measure = amble.parse(text)
        table = amble.cwl(rankings, [measure], topics=True, costs=setting.costs or None)
        ours = {str(row[1]): Five(*(float(cell or 0.0) for cell in row[3:])) for row in table}
        done = Agreement(text)
        for topic, five in cwl_eval(text, theirs, grades, ranked, bool(setting.costs)).items():
            spent = sum(setting.costs.get(name, 1.0) for name in ranked[topic]) + CUT - len(ranked[topic])
            by_rank = rankings.grades(rankings.runs[0], topic)
            cut, case = cut_off(ours[topic], measure, by_rank, largest, spent, bool(setting.costs))
            done.add(ours[topic], cut, five, case)
        found.append(done)
    return found


def apart(function: Callable[..., Any], *args: Any) -> Any:
    """Call a function in a process of its own: this one has to stay small."""
    with ProcessPoolExecutor(1) as pool:
        return pool.submit(function, *args).result()


def names(run: Path) -> set[str]:
    """Read which documents a run ranks."""
    with run.open(encoding="ascii") as file:
        return {line.split()[2] for line in file}


def agreement(work: workload.Workload) -> Iterator[tuple[str, list[Agreement]]]:
    """Compare amble and cwl-eval on the run of S, its lists whole, short, and with costs."""
    run = work.runs[0]
    prices = {name: PRICES[element(name)] for name in names(run)}
    lists = work.docs // workload.DEPTH
    for setting in (
        Setting(f"{lists} lists of {workload.DEPTH} documents"),
        Setting(f"{lists} lists, cut at rank 10", depth=10),
        Setting(f"{lists} lists of {workload.DEPTH} documents that cost 0.5, 1 or 2.5 each", costs=prices),
    ):
        yield setting.title, apart(compare, work.qrels, run, setting)


def agreement_table(found: Sequence[Agreement]) -> str:
    """Write how far amble and cwl-eval agree."""
    lines = [
        f"| measure | values compared | largest difference | without what is beyond rank {CUT} | why |",
        "|---|---|---|---|---|",
    ]
    for each in found:
        differences = f"{each.raw:.1e} | {each.without:.1e}"
        lines.append(f"| {each.measure} | {each.compared:,} | {differences} | {each.why} |")
    return "\n".join(lines)


# ---- speed


def write_gains(qrels: Path, gains: Path) -> None:
    """Write judgments as cwl-eval wants them: grades divided by the largest."""
    grades = read(qrels, 3)
    largest = max(max(of.values()) for of in grades.values())
    with gains.open("w", encoding="ascii") as out:
        for topic, of in grades.items():
            out.writelines(f"{topic} 0 {name} {max(grade, 0.0) / largest}\n" for name, grade in of.items())


def lineup(
    work: workload.Workload, pairs: Sequence[tuple[str, str]], files: int, folder: Path
) -> tuple[list[race.Contender], dict[str, float]]:
    """List who races.

    Parameters
    ----------
    work : Workload
        The files to score.
    pairs : sequence
        The measures.
    files : int
        Runs that cwl-eval scores.
    folder : Path
        Where everything is written; has ``gains.txt``.

    Returns
    -------
    tuple
        The contenders, amble first, and by name what the laps of some are to be multiplied by.
    """
    whole = len(work.runs)
    files = min(files, whole)
    metrics = folder / f"metrics-{len(pairs)}.txt"
    metrics.write_text("".join(f"{theirs}\n" for _, theirs in pairs), encoding="ascii")
    program, peer = (shutil.which(each, path=sysconfig.get_path("scripts")) for each in ("amble", "cwl-eval"))
    options = ["--cwl", "-m", *(ours for ours, _ in pairs), "-q", "--format", "tsv", "--quiet", "--threads", "1"]
    command = (program or "amble", "eval", *map(str, (work.qrels, *work.runs)), *options, "-o", str(folder / "amble"))
    entered = [race.Contender(REFERENCE, command, absent="" if program else "not installed")]

    loop = (folder, peer, folder / "cwl-eval", metrics, folder / "gains.txt", *work.runs[:files])
    note = f"{whole} processes scaled from {files}" if files < whole else f"{whole} processes"
    name = "cwl-eval, one process per run"
    absent = "" if peer else "not installed"
    entered.append(race.Contender(name, ("sh", "-c", LOOP, "sh", *map(str, loop)), note=note, absent=absent))

    setup, once, repeated, count = CLASSES
    once = once.format(metrics=", ".join(theirs for _, theirs in pairs))
    entered.append(
        race.Contender(
            "cwl-eval, its classes in one process",
            race.snippet(setup, once, repeated, count, folder / "gains.txt", *work.runs[:files]),
            times=(whole - 1) / (files - 1) if files < whole else 1.0,
            note=f"{whole} files scaled from {files}" if files < whole else "",
            absent="" if race.installed("cwl") else "not installed",
            expect=work.docs // whole * files // workload.DEPTH,
        )
    )
    return entered, {name: whole / files}


def scaled(laps: Sequence[race.Lap], by: float) -> list[race.Lap]:
    """Multiply the time of laps."""
    return [replace(lap, wall=lap.wall * by, cpu=lap.cpu * by) for lap in laps]


def ratios(laps: Mapping[str, Sequence[race.Lap]]) -> str:
    """Write how many times as much as amble each peer took, of the smallest values and of the medians."""
    lines = ["| ratio, min (median) | CPU | wall | memory |", "|---|---|---|---|"]
    ours = [lap for lap in laps[REFERENCE] if not lap.trouble]
    for peer, done in laps.items():
        if peer == REFERENCE or not done or not ours or any(lap.trouble for lap in done):
            continue
        cells = []
        for key in ("cpu", "wall", "rss"):
            some, base = ([getattr(lap, key) for lap in each] for each in (done, ours))
            least, middle = (race.number(how(some) / how(base)) for how in (min, median))
            cells.append(f"{least}× ({middle}×)")
        lines.append(f"| {peer} / amble | {' | '.join(cells)} |")
    return "\n".join(lines) if len(lines) > 2 else "no peer to take ratios of"


def speed(work: workload.Workload, files: int, rounds: int) -> bool:
    """Race amble and cwl-eval and print it; tell whether all went well."""
    well = True
    without = tuple(pair for pair in RACED if pair[0] != "AP")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        apart(write_gains, work.qrels, folder / "gains.txt")
        for pairs, title in ((RACED, "Seven measures"), (without, "Without AP, which takes cwl-eval longest")):
            contenders, times = lineup(work, pairs, files, folder)
            watch = race.Watch()
            laps = race.race(contenders, rounds, lambda said: print(said, file=sys.stderr))
            laps = {name: scaled(done, times.get(name, 1.0)) for name, done in laps.items()}
            well &= not any(lap.trouble for done in laps.values() for lap in done)
            print(
                f"\n### {title}; {rounds} round{'s' * (rounds > 1)}; {watch}\n\n"
                f"{' '.join(ours for ours, _ in pairs)}\n\n"
                f"{race.table(contenders, laps, REFERENCE)}\n\n{ratios(laps)}",
                flush=True,
            )
    return well


# ---- memory


def collection() -> tuple[Path, tuple[Path, ...]] | None:
    """Find the judgments and the runs of TREC-8, where they are."""
    place = Path(os.environ.get("AMBLE_DATA") or os.devnull) / "trec8"
    runs = tuple(sorted((place / "runs").glob("input.*"))) if place.is_dir() else ()
    return (place / "qrels.txt", runs) if runs and (place / "qrels.txt").is_file() else None


def clock(qrels: Path, runs: Sequence[Path], rounds: int) -> tuple[str, dict[str, list[float]]]:
    """Time the eleven measures together and one by one on aligned rankings.

    Parameters
    ----------
    qrels : Path
        The judgments.
    runs : sequence of Path
        The runs.
    rounds : int
        How often each is timed; once more is not.

    Returns
    -------
    tuple
        What was evaluated, and seconds of processor time by measure, those of all together under ``"all"``.
    """
    import amble

    rankings = amble.align(qrels, [str(run) for run in runs])
    asked: dict[str, list[str]] = {"all": list(ELEVEN), **{each: [each] for each in ELEVEN}}
    seconds: dict[str, list[float]] = {name: [] for name in asked}
    for turn in range(rounds + 1):
        for name, measures in asked.items():
            start = time.process_time()
            amble.evaluate(rankings, measures)
            taken = time.process_time() - start
            if turn:
                seconds[name].append(taken)
    return f"{len(rankings):,} lists, {len(rankings.rank):,} judged documents in them", seconds


def memory(qrels: Path, runs: Sequence[Path], rounds: int) -> None:
    """Time the eleven measures in memory and print it."""
    watch = race.Watch()
    what, seconds = apart(clock, qrels, runs, rounds)
    print(f"{what}; {rounds} round{'s' * (rounds > 1)}, min / median; {watch}\n")
    print("| `evaluate(rankings, …)` | CPU (s) |\n|---|---|")
    for name, taken in seconds.items():
        shown = "the eleven together" if name == "all" else f"{name} alone"
        print(f"| {shown} | {min(taken):.4f} / {median(taken):.4f} |")
    sys.stdout.flush()


def main(argv: Sequence[str] | None = None) -> int:
    """Do the parts asked for and print what they found."""
    about = "Expectations of users: amble beside cwl-eval, and eleven measures in memory."
    parser = argparse.ArgumentParser(prog="bench_cwl.py", description=about)
    where = "folder of the workload; made when missing (default: %(default)s)"
    parser.add_argument("data", nargs="?", type=Path, default=Path(".bench"), metavar="DIR", help=where)
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=SECTIONS)
    parser.add_argument("--rounds", type=int, metavar="N", help="laps of each (3 in the race, 5 in memory)")
    parser.add_argument("--files", type=int, default=2, metavar="N", help="runs that cwl-eval scores of M")
    parser.add_argument("--quick", action="store_true", help="a smoke test: little data, one lap")
    args = parser.parse_args(argv)
    if args.files < 2 or (args.rounds is not None and args.rounds < 1):
        parser.error("--files takes 2 or more, --rounds 1 or more")
    data, scale = (args.data / "quick", 0.02) if args.quick else (args.data, 1.0)

    def rounds(section: str) -> int:
        return int(args.rounds or (1 if args.quick else ROUNDS[section]))

    print("# What users expect\n")
    print(f"{race.machine(*PACKAGES)}.")
    here = {package: race.installed(module) for package, module in (("amble", "amble"), ("cwl-eval", "cwl"))}
    failed = False
    if "agreement" in args.only:
        print("\n## Agreement of EU, ETU, EC, ETC and ED, on S")
        if all(here.values()):
            for title, found in agreement(workload.load(data, "S", scale)):
                failed |= any(each.unexplained for each in found)
                print(f"\n### {title}\n\n{agreement_table(found)}", flush=True)
        else:
            print(f"\nnot installed: {', '.join(package for package, there in here.items() if not there)}")
    if "speed" in args.only:
        work = workload.load(data, "M", scale)
        print(f"\n## Files to expectations by topic, on M: {len(work.runs)} runs, {work.docs:,} lines\n")
        print(f"Cells: min / median (min as a multiple of that of {REFERENCE}).")
        failed |= not speed(work, args.files, rounds("speed"))
    if "memory" in args.only:
        real = None if args.quick else collection()
        print(f"\n## Eleven measures in memory, on {'TREC-8' if real else 'M'}\n")
        if not here["amble"]:
            print("not installed: amble")
        elif real:
            memory(*real, rounds("memory"))
        else:
            work = workload.load(data, "M", scale)
            memory(work.qrels, work.runs, rounds("memory"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
