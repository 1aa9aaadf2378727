"""Show what amble and its peers do with odd qrels and run files.

The script writes one small pair of files for each case into a temporary folder, has every
installed tool evaluate the pair, and prints a Markdown table with one row for each case and one
column for each tool. Each probe runs in a process of its own, so that a tool that crashes or
hangs costs one cell of the table and no more.

    python benchmarks/peer_behaviour.py
    python benchmarks/peer_behaviour.py --tools trec_eval ranx --cases nan_low inf_score
    TREC_EVAL=path/to/trec_eval python benchmarks/peer_behaviour.py

The Python tools (amble, pytrec_eval, ir_measures, ranx) are looked for in the running
interpreter; trec_eval where TREC_EVAL says (several, with a colon between them, make a column
each), else on PATH. A tool that is not there is reported as "not installed". The head of each
column names the version of trec_eval that its cells come from: the one that the program says it
is, and of pytrec_eval and ir_measures the one that is compiled into pytrec_eval. A full run takes
some minutes, most of them ranx's start-up.

How to read a cell: most cases are made so that the mean average precision (AP) of the run gives
away how the odd part was taken. Where the value seen is one of those foreseen, its meaning is
printed before the numbers. ``n`` is the number of topics in the mean.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import importlib
import importlib.metadata
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

TIMEOUT = 180.0
"""Seconds after which a probe is given up."""

CELL = 150
"""Longest text of one cell of the table."""

Scores = dict[str, dict[str, float]]
"""Measure name, then topic, then value; the topic "all" holds the mean."""


# --------------------------------------------------------------------------------------------
# Cases


@dataclass(frozen=True)
class Folder:
    """Stands in for file content where a folder is to be made in place of a file."""


@dataclass(frozen=True)
class Case:
    """One pair of files and how to read what comes of it.

    ``qrels`` and ``run`` are the bytes of the two files; None leaves the file out, `Folder`
    makes a folder of that name. ``meanings`` maps a value of ``measure`` (mean over topics,
    rounded to four places) to what the value tells.
    """

    key: str
    title: str
    qrels: bytes | Folder | None
    run: bytes | Folder | None
    meanings: Mapping[float, str] = field(default_factory=dict)
    measure: str = "AP"
    suffix: str = ".txt"


def qrels_text(*rows: str) -> bytes:
    """Join "topic doc grade" rows into a qrels file."""
    parts = [row.split() for row in rows]
    return "".join(f"{topic} 0 {doc} {grade}\n" for topic, doc, grade in parts).encode()


def run_text(*rows: str) -> bytes:
    """Join "topic doc score" rows into a run file; the rank column is the line's number."""
    parts = [row.split() for row in rows]
    return "".join(
        f"{topic} Q0 {doc} {rank} {score} tag\n" for rank, (topic, doc, score) in enumerate(parts, start=1)
    ).encode()


def many_ties() -> Case:
    """Forty documents with one score; the only relevant one is last by docno, second in file."""
    names = [f"d{(i * 7) % 40:02d}" for i in range(40)]
    names.remove("d39")
    names.insert(1, "d39")
    return Case(
        "many_ties",
        "forty documents, all with the same score",
        qrels_text("1 d39 1"),
        run_text(*(f"1 {name} 5" for name in names)),
        {
            1.0: "docno, descending",
            0.5: "order of the file",
            round(1 / 39, 4): "order of the file, reversed",
            round(1 / 40, 4): "docno, ascending",
        },
    )


def make_cases() -> list[Case]:
    """Build all cases."""
    plain_qrels = qrels_text("1 a 1", "1 b 0")
    plain_run = run_text("1 a 2", "1 b 1")
    two_qrels = qrels_text("1 a 1", "1 b 0", "2 a 1", "2 b 0")
    two_run = run_text("1 a 2", "1 b 1", "2 a 2", "2 b 1")
    read = {1.0: "read"}
    third = round(1 / 3, 4)
    ranked = {1.0: "ranked first", 0.5: "ranked second", third: "ranked last"}

    def scored(key: str, title: str, score: str, meanings: Mapping[float, str]) -> Case:
        """Make a run whose second line, for the only relevant document, has an odd score."""
        high, low = {"0x10": ("20", "1"), "1_0": ("5", "0.5")}.get(score, ("1", "-1"))
        return Case(
            key,
            title,
            qrels_text("1 x 1"),
            run_text(f"1 a {high}", f"1 x {score}", f"1 z {low}"),
            meanings,
        )

    return [
        Case("plain", "nothing odd (control)", plain_qrels, plain_run, read),
        # Order of the ranking
        Case(
            "ties",
            "ties in score",
            qrels_text("1 z 1"),
            run_text("1 m 5", "1 z 5", "1 a 5", "1 k 5"),
            {
                1.0: "docno, descending",
                0.5: "order of the file",
                third: "order of the file, reversed",
                0.25: "docno, ascending",
            },
        ),
        many_ties(),
        Case(
            "float32",
            "scores that differ only beyond float32 (16777217 and 16777216)",
            qrels_text("1 a 1"),
            run_text("1 z 16777216", "1 a 16777217"),
            {1.0: "told apart (double)", 0.5: "taken as a tie (float32)"},
        ),
        Case(
            "rank_column",
            "rank column disagrees with the scores",
            plain_qrels,
            b"1 Q0 b 1 1 tag\n1 Q0 a 2 2 tag\n",
            {1.0: "score decides", 0.5: "rank column or file order decides"},
        ),
        # Documents and topics
        Case(
            "run_duplicate",
            "same document twice in one topic of the run",
            qrels_text("1 a 1", "1 b 0"),
            run_text("1 a 3", "1 b 2", "1 a 1"),
            {1.0: "first line kept", 0.5: "last line kept", 1.6667: "counted twice"},
        ),
        Case(
            "qrels_duplicate",
            "same document twice in the qrels, grades 1 then 0",
            b"1 0 a 1\n1 0 b 1\n1 0 a 0\n",
            plain_run,
            {1.0: "first grade kept", 0.5: "last grade kept"},
        ),
        Case(
            "missing_topic",
            "topic in the qrels, not in the run",
            two_qrels,
            plain_run,
            {1.0: "left out of the mean", 0.5: "counts as 0"},
        ),
        Case(
            "extra_topic",
            "topic in the run, not in the qrels",
            plain_qrels,
            two_run,
            {1.0: "ignored", 0.5: "counts as 0"},
        ),
        Case(
            "no_common_topic",
            "no topic in common",
            qrels_text("1 a 1"),
            run_text("2 a 1"),
            {0.0: "scored 0"},
        ),
        Case(
            "unjudged",
            "unjudged document above the relevant one",
            qrels_text("1 a 1", "1 b 0"),
            run_text("1 u 3", "1 a 2", "1 b 1"),
            {0.5: "counts as not relevant", 1.0: "removed"},
        ),
        Case(
            "minus_one",
            "grade -1 above the relevant document",
            qrels_text("1 a 1", "1 b 0", "1 n -1"),
            run_text("1 n 3", "1 a 2", "1 b 1"),
            {1.0: "not judged non-relevant for bpref", 0.0: "judged non-relevant for bpref"},
            measure="bpref",
        ),
        Case(
            "minus_two",
            "grade -2 above the relevant document",
            qrels_text("1 a 1", "1 b 0", "1 n -2"),
            run_text("1 n 3", "1 a 2", "1 b 1"),
            {1.0: "not judged non-relevant for bpref", 0.0: "judged non-relevant for bpref"},
            measure="bpref",
        ),
        Case(
            "no_relevant",
            "a topic with grades of 0 only",
            qrels_text("1 a 1", "2 a 0"),
            run_text("1 a 1", "2 a 1"),
            {1.0: "left out of the mean", 0.5: "counts as 0"},
        ),
        Case(
            "no_relevant_bpref",
            "bpref of the topics after one with grades of 0 only",
            qrels_text("1 a 0", "2 a 1", "2 b 0", "3 a 1", "3 b 0"),
            run_text("1 a 1", "2 a 2", "2 b 1", "3 a 2", "3 b 1"),
            {0.6667: "not affected", 0.0: "0 as well"},
            measure="bpref",
        ),
        Case(
            "only_minus_one",
            "a topic with grades of -1 only",
            qrels_text("1 a 1", "2 a -1"),
            run_text("1 a 1", "2 a 1"),
            {1.0: "left out of the mean", 0.5: "counts as 0"},
        ),
        Case(
            "first_minus_one",
            "a topic with grades of -1 only, the first of the topics",
            qrels_text("1 a -1", "2 a 1"),
            run_text("1 a 1", "2 a 1"),
            {1.0: "left out of the mean", 0.5: "counts as 0"},
        ),
        Case(
            "only_minus_two",
            "a topic with grades of -2 only",
            qrels_text("1 a 1", "2 a -2"),
            run_text("1 a 1", "2 a 1"),
            {1.0: "left out of the mean", 0.5: "counts as 0"},
        ),
        Case(
            "real_grade",
            "real grades (0.5 and 1.5)",
            qrels_text("1 a 0.5", "1 b 1.5"),
            run_text("1 a 2", "1 b 1"),
            {0.5: "cut to whole numbers", 1.0: "kept; 0.5 counts as relevant"},
        ),
        Case(
            "text_grade",
            "text in place of a grade",
            qrels_text("1 a 1", "1 b rel"),
            run_text("1 b 2", "1 a 1"),
            {0.5: "read as 0", 1.0: "read as relevant"},
        ),
        # Scores
        Case(
            "nan_high",
            "score NaN, docno the highest",
            qrels_text("1 z 1"),
            run_text("1 m 1", "1 z nan", "1 n -1"),
            ranked,
        ),
        Case(
            "nan_low",
            "score NaN, docno the lowest",
            qrels_text("1 a 1"),
            run_text("1 m 1", "1 a nan", "1 n -1"),
            ranked,
        ),
        scored("inf_score", "score inf", "inf", ranked),
        scored("text_score", "score abc", "abc", {0.5: "read as 0", third: "ranked last"}),
        scored("hex_score", "score 0x10", "0x10", {0.5: "read as 16", third: "read as 0"}),
        scored("underscore_score", "score 1_0", "1_0", {1.0: "read as 10", 0.5: "read as 1"}),
        # Lines
        Case(
            "run_5_columns",
            "run line with 5 columns (no tag)",
            plain_qrels,
            b"1 Q0 a 1 2\n1 Q0 b 2 1 tag\n",
            read,
        ),
        Case(
            "run_3_columns",
            "run line with 3 columns",
            plain_qrels,
            b"1 a 2\n1 Q0 b 2 1 tag\n",
            read,
        ),
        Case(
            "run_7_columns",
            "run line with 7 columns",
            plain_qrels,
            b"1 Q0 a 1 2 my tag\n1 Q0 b 2 1 my tag\n",
            read,
        ),
        Case("qrels_3_columns", "qrels line with 3 columns", b"1 a 1\n1 0 b 0\n", plain_run, read),
        Case(
            "qrels_5_columns",
            "qrels line with 5 columns",
            b"1 0 a 1 x\n1 0 b 0 x\n",
            plain_run,
            read,
        ),
        Case("run_empty", "empty run file", plain_qrels, b"", {0.0: "scored 0"}),
        Case("qrels_empty", "empty qrels file", b"", plain_run, {0.0: "scored 0"}),
        Case(
            "run_blank_lines",
            "blank lines in the run",
            plain_qrels,
            b"\n1 Q0 a 1 2 tag\n\n1 Q0 b 2 1 tag\n\n",
            read,
        ),
        Case(
            "qrels_blank_lines",
            "blank lines in the qrels",
            b"1 0 a 1\n\n1 0 b 0\n\n",
            plain_run,
            read,
        ),
        Case(
            "run_comment",
            "# comment line in the run",
            plain_qrels,
            b"# made by hand\n1 Q0 a 1 2 tag\n1 Q0 b 2 1 tag\n",
            read,
        ),
        Case(
            "run_comment_six",
            "# comment line of six words in the run",
            plain_qrels,
            b"# one two three 4 five\n1 Q0 a 1 2 tag\n1 Q0 b 2 1 tag\n",
            read,
        ),
        Case(
            "qrels_comment",
            "# comment line in the qrels",
            b"# made by hand, in a hurry\n1 0 a 1\n1 0 b 0\n",
            plain_run,
            read,
        ),
        Case(
            "crlf",
            "CRLF line ends in both files",
            plain_qrels.replace(b"\n", b"\r\n"),
            plain_run.replace(b"\n", b"\r\n"),
            read,
        ),
        Case(
            "run_bom",
            "byte order mark at the start of the run",
            two_qrels,
            b"\xef\xbb\xbf" + two_run,
            {1.0: "read", 0.5: "first line lost"},
        ),
        Case(
            "qrels_bom",
            "byte order mark at the start of the qrels",
            b"\xef\xbb\xbf" + two_qrels,
            two_run,
            {1.0: "read", 0.5: "first line lost"},
        ),
        Case(
            "tabs",
            "tabs between columns in both files",
            plain_qrels.replace(b" ", b"\t"),
            plain_run.replace(b" ", b"\t"),
            read,
        ),
        Case(
            "ids",
            "ids 001, 007 and 7, NA",
            qrels_text("001 007 1", "001 7 0", "NA NA 1", "NA nan 0"),
            run_text("001 007 2", "001 7 1", "NA NA 2", "NA nan 1"),
            {1.0: "kept as strings"},
        ),
        Case(
            "not_utf8",
            "ids that are not UTF-8",
            b"1 0 caf\xe9 1\n1 0 b 0\n",
            b"1 Q0 caf\xe9 1 2 tag\n1 Q0 b 2 1 tag\n",
            read,
        ),
        Case(
            "interleaved",
            "topics not contiguous in the files",
            b"1 0 a 1\n2 0 a 1\n1 0 b 0\n2 0 b 0\n",
            run_text("1 b 1", "2 b 1", "1 a 2", "2 a 2"),
            {1.0: "grouped"},
        ),
        Case(
            "topic_order",
            "topics in another order in the run than in the qrels",
            qrels_text("1 a 1", "2 b 1"),
            run_text("2 b 2", "2 x 1", "1 a 2", "1 x 1"),
            {1.0: "matched by id", 0.0: "matched by position"},
        ),
        # Files
        Case(
            "gzip",
            "both files compressed with gzip",
            gzip.compress(plain_qrels, mtime=0),
            gzip.compress(plain_run, mtime=0),
            read,
            suffix=".gz",
        ),
        Case("run_missing", "run file does not exist", plain_qrels, None),
        Case("qrels_missing", "qrels file does not exist", None, plain_run),
        Case("run_folder", "a folder in place of the run", plain_qrels, Folder()),
        Case("qrels_folder", "a folder in place of the qrels", Folder(), plain_run),
    ]


def write_case(case: Case, folder: Path) -> tuple[Path, Path]:
    """Write the two files of a case and return their paths."""
    paths = []
    for name, content in (("qrels", case.qrels), ("run", case.run)):
        path = folder / f"{case.key}.{name}{case.suffix}"
        if isinstance(content, Folder):
            path.mkdir()
        elif content is not None:
            path.write_bytes(content)
        paths.append(path)
    return paths[0], paths[1]


# --------------------------------------------------------------------------------------------
# Probes: each runs in a process of its own


def probe_amble(qrels: str, run: str) -> str:
    """Read and align with amble; the audit's one-line summary is the answer."""
    amble = importlib.import_module("amble")
    return str(amble.align(amble.read_qrels(qrels), amble.read_runs(run)).audit)


def probe_pytrec_eval(qrels: str, run: str) -> Scores:
    """Read with pytrec_eval's parsers and take the mean over the topics it gives back."""
    pytrec_eval = importlib.import_module("pytrec_eval")
    with Path(qrels).open() as lines:
        judged = pytrec_eval.parse_qrel(lines)
    with Path(run).open() as lines:
        ranked = pytrec_eval.parse_run(lines)
    evaluator = pytrec_eval.RelevanceEvaluator(judged, {"map", "ndcg_cut.10", "bpref"})
    result: Mapping[str, Mapping[str, float]] = evaluator.evaluate(ranked)
    names = {"AP": "map", "nDCG@10": "ndcg_cut_10", "bpref": "bpref"}
    scores: Scores = {}
    for measure, name in names.items():
        scores[measure] = {topic: values[name] for topic, values in result.items()}
        if result:
            mean = pytrec_eval.compute_aggregated_measure(name, list(scores[measure].values()))
            scores[measure]["all"] = mean
    return scores


def probe_ir_measures(qrels: str, run: str) -> Scores:
    """Read and evaluate with ir_measures."""
    ir_measures = importlib.import_module("ir_measures")
    wanted = {"AP": ir_measures.AP, "nDCG@10": ir_measures.nDCG @ 10, "bpref": ir_measures.Bpref}
    aggregated, per_topic = ir_measures.calc(
        list(wanted.values()), ir_measures.read_trec_qrels(qrels), ir_measures.read_trec_run(run)
    )
    scores: Scores = {}
    for name, measure in wanted.items():
        scores[name] = {m.query_id: m.value for m in per_topic if m.measure == measure}
        scores[name]["all"] = aggregated[measure]
    return scores


def _probe_ranx(qrels: str, run: str, comparable: bool) -> Scores:
    ranx = importlib.import_module("ranx")
    kind = "gz" if qrels.endswith(".gz") else "trec"
    judged = ranx.Qrels.from_file(qrels, kind=kind)
    ranked = ranx.Run.from_file(run, kind=kind)
    names = {"AP": "map", "nDCG@10": "ndcg@10", "bpref": "bpref"}
    if comparable:
        ranked = ranked.make_comparable(judged)
    means = ranx.evaluate(judged, ranked, list(names.values()))
    return {
        measure: {
            **{topic: float(value) for topic, value in ranked.scores[name].items()},
            "all": float(means[name]),
        }
        for measure, name in names.items()
    }


def probe_ranx(qrels: str, run: str) -> Scores:
    """Read and evaluate with ranx."""
    return _probe_ranx(qrels, run, comparable=False)


def probe_ranx_comparable(qrels: str, run: str) -> Scores:
    """Read and evaluate with ranx, topics matched to the qrels first."""
    return _probe_ranx(qrels, run, comparable=True)


PYTHON_TOOLS: dict[str, tuple[str, str, Callable[[str, str], Scores | str]]] = {
    "amble": ("amble", "amble", probe_amble),
    "pytrec_eval": ("pytrec_eval", "pytrec_eval-terrier", probe_pytrec_eval),
    "ir_measures": ("ir_measures", "ir_measures", probe_ir_measures),
    "ranx": ("ranx", "ranx", probe_ranx),
    "ranx-comparable": ("ranx", "ranx", probe_ranx_comparable),
}
"""Tool name, then module to import, distribution that carries it, and probe."""

TOOLS = ("amble", "trec_eval", "pytrec_eval", "ir_measures", "ranx")
"""The columns of the table."""

MORE_TOOLS = ("trec_eval-c", "ir_measures-cli", "ranx-comparable")
"""Further ways to call a tool, shown when asked for by ``--tools``."""


def probe_main(tool: str, qrels: str, run: str) -> int:
    """Run one probe and print its outcome as one line of JSON."""
    with contextlib.redirect_stdout(sys.stderr):  # a tool's own prints must not mix in
        try:
            outcome: dict[str, object] = {"result": PYTHON_TOOLS[tool][2](qrels, run)}
        except Exception as error:
            text = " ".join(str(error).split())
            outcome = {"error": f"{type(error).__name__}: {text}".rstrip(": ")}
    print(json.dumps(outcome))
    return 0


# --------------------------------------------------------------------------------------------
# Outcomes


@dataclass(frozen=True)
class Outcome:
    """What came of one probe: scores, or a text (an error, or amble's summary)."""

    scores: Scores | None
    text: str = ""


def command_output(command: Sequence[str]) -> tuple[str | None, subprocess.CompletedProcess[str]]:
    """Run a command; the first part of the answer is a text if it died or hung."""
    environment = os.environ | {"PYTHONWARNINGS": "ignore", "NUMBA_NUM_THREADS": "1"}
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=TIMEOUT,
            env=environment,
            check=False,
        )
    except subprocess.TimeoutExpired:
        empty = subprocess.CompletedProcess(list(command), 1, "", "")
        return f"no answer in {TIMEOUT:.0f} s", empty
    if done.returncode < 0:
        return f"crash ({signal.Signals(-done.returncode).name})", done
    return None, done


def run_python_tool(tool: str, qrels: Path, run: Path) -> Outcome:
    """Probe a Python tool in a new process."""
    died, done = command_output([sys.executable, str(Path(__file__).resolve()), "--probe", tool, str(qrels), str(run)])
    if died:
        return Outcome(None, died)
    try:
        outcome = json.loads(done.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        return Outcome(None, f"crash (exit {done.returncode}): {last_line(done.stderr)}")
    if "error" in outcome:
        return Outcome(None, f"error: {outcome['error']}")
    if isinstance(outcome["result"], str):
        return Outcome(None, outcome["result"])
    return Outcome(outcome["result"])


def run_trec_eval(binary: str, qrels: Path, run: Path, complete: bool) -> Outcome:
    """Run trec_eval on the two files and read its table."""
    flags = ["-q", "-c"] if complete else ["-q"]
    measures = ["-m", "map", "-m", "ndcg_cut.10", "-m", "bpref"]
    died, done = command_output([binary, *flags, *measures, str(qrels), str(run)])
    if died:
        return Outcome(None, died)
    if done.returncode:
        message = " / ".join(line.strip() for line in done.stderr.splitlines() if line.strip())
        return Outcome(None, f"error (exit {done.returncode}): {message}")
    names = {"map": "AP", "ndcg_cut_10": "nDCG@10", "bpref": "bpref"}
    scores: Scores = {name: {} for name in names.values()}
    for line in done.stdout.splitlines():
        measure, topic, value = line.split("\t")
        if measure.strip() in names:
            scores[names[measure.strip()]][topic] = float(value)
    return Outcome(scores)


def run_ir_measures_cli(qrels: Path, run: Path) -> Outcome:
    """Run ir_measures from the command line and read its table."""
    measures = ["AP", "nDCG@10", "Bpref"]
    died, done = command_output([sys.executable, "-m", "ir_measures", "-q", str(qrels), str(run), *measures])
    if died:
        return Outcome(None, died)
    if done.returncode:
        return Outcome(None, f"error (exit {done.returncode}): {last_line(done.stderr)}")
    scores: Scores = {name: {} for name in ("AP", "nDCG@10", "bpref")}
    for line in done.stdout.splitlines():
        topic, measure, value = line.split("\t")
        scores["bpref" if measure == "Bpref" else measure][topic] = float(value)
    return Outcome(scores)


def last_line(text: str) -> str:
    """Return the last line with anything in it: for a traceback, the exception."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no message"


def describe(case: Case, outcome: Outcome, folder: Path) -> str:
    """Put an outcome into one cell of the table."""
    if outcome.scores is None:
        text = " ".join(outcome.text.replace(f"{folder}{os.sep}", "").split())
    else:
        means = {name: values.get("all") for name, values in outcome.scores.items()}
        topics = len(outcome.scores["AP"].keys() - {"all"})
        numbers = [f"{name} {value:.4f}" for name, value in means.items() if value is not None]
        text = ", ".join([*(numbers or ["empty result"]), f"n {topics}"])
        key = means.get(case.measure)
        meaning = case.meanings.get(round(key, 4)) if key is not None else None
        if meaning:
            text = f"{meaning}: {text}"
    if len(text) > CELL:
        text = text[: CELL - 3] + "..."
    return text.replace("|", "\\|")


# --------------------------------------------------------------------------------------------
# Command line


COMPILED_IN = {"0.5.11": "9.0.8"}
"""The version of trec_eval in each version of pytrec_eval-terrier that was looked into."""


class Column(NamedTuple):
    """A column of the table: a tool, its program if it is one, and what its head says; None: not installed."""

    tool: str
    program: str | None
    version: str | None

    @property
    def head(self) -> str:
        """The tool and its version."""
        return f"{self.tool} {self.version or ''}".strip()


def programs() -> list[str]:
    """The programs that TREC_EVAL names, or the one on PATH."""
    named = os.environ.get("TREC_EVAL")
    if not named:
        found = shutil.which("trec_eval")
        return [found] if found else []
    for name in named.split(os.pathsep):
        if not shutil.which(name):
            raise SystemExit(f"TREC_EVAL: {name} is not there or cannot be run, expected the path of trec_eval")
    return named.split(os.pathsep)


def make_columns(tools: Sequence[str]) -> list[Column]:
    """The columns of some tools, with the version of each."""
    columns = []
    for tool in tools:
        if tool.startswith("trec_eval"):
            found = programs()
            for program in found:
                done = command_output([program, "-v"])[1]
                columns.append(Column(tool, program, last_line(done.stderr or done.stdout).split()[-1]))
            if not found:
                columns.append(Column(tool, None, None))
            continue
        module, distribution, _ = PYTHON_TOOLS[tool.removesuffix("-cli")]
        version = _installed(distribution) if importlib.util.find_spec(module) else None
        if version and module in ("pytrec_eval", "ir_measures"):
            inside = COMPILED_IN.get(_installed("pytrec_eval-terrier"), "of a version not looked into")
            version += f" (trec_eval {inside} inside)"
        columns.append(Column(tool, None, version))
    return columns


def _installed(distribution: str) -> str:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return "version not known"


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description="What amble and its peers do with odd input.")
    parser.add_argument("--tools", nargs="+", choices=TOOLS + MORE_TOOLS, default=list(TOOLS), metavar="TOOL")
    parser.add_argument("--cases", nargs="+", metavar="CASE", help="keys of cases (default: all)")
    parser.add_argument("--list", action="store_true", help="list the keys of the cases and stop")
    parser.add_argument("--keep", metavar="FOLDER", help="write the files here and keep them")
    parser.add_argument("--probe", nargs=3, help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table."""
    options = parse_arguments(arguments)
    if options.probe:
        return probe_main(*options.probe)
    cases = make_cases()
    if options.list:
        print("\n".join(f"{case.key:20} {case.title}" for case in cases))
        return 0
    if options.cases:
        unknown = set(options.cases) - {case.key for case in cases}
        if unknown:
            print(f"no such case: {', '.join(sorted(unknown))}", file=sys.stderr)
            return 2
        cases = [case for case in cases if case.key in options.cases]
    columns = make_columns(options.tools)

    with contextlib.ExitStack() as stack:
        if options.keep:
            folder = Path(options.keep)
            folder.mkdir(parents=True)
        else:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        print(f"| case | {' | '.join(column.head for column in columns)} |")
        print(f"|---|{'---|' * len(columns)}")
        for case in cases:
            qrels, run = write_case(case, folder)
            cells = []
            for tool, program, version in columns:
                if version is None:
                    cells.append("not installed")
                    continue
                if program:
                    outcome = run_trec_eval(program, qrels, run, tool.endswith("-c"))
                elif tool == "ir_measures-cli":
                    outcome = run_ir_measures_cli(qrels, run)
                else:
                    outcome = run_python_tool(tool, qrels, run)
                cells.append(describe(case, outcome, folder))
            print(f"| {case.title} | {' | '.join(cells)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
