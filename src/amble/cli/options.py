"""Arguments that several commands share: how they are declared, and how their values are read.

Numbers on the command line are read here, as people write them (``1_0`` and digits of other scripts are not), finite,
and within bounds that say what is meant and that memory can hold.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from amble import checks
from amble.cli.output import keep_inputs
from amble.errors import AmbleError, UnjudgedWarning
from amble.io.columns import NamedColumns, check_columns
from amble.io.files import LONGEST_LINE
from amble.io.rows import read_rows
from amble.parallel import MOST_THREADS, Workers, processes

__all__ = [
    "DEFAULT_MEASURES",
    "DIGITS",
    "FORMATS",
    "SEED",
    "SHARE",
    "THREADS",
    "TIES",
    "USERS",
    "add_alignment",
    "add_digits",
    "add_gains",
    "add_inputs",
    "add_lists",
    "add_longest_line",
    "add_output",
    "add_plugins",
    "add_reading",
    "add_scored",
    "add_sessions",
    "add_tests",
    "add_threads",
    "add_top",
    "add_topic_groups",
    "add_topic_reading",
    "add_undefined",
    "add_workers",
    "alignment_of",
    "baseline_of",
    "design_of",
    "filter_unjudged_warnings",
    "include_baselines",
    "inputs_of",
    "lists_of",
    "measures_of",
    "number",
    "prepare",
    "read_columns",
    "read_gains",
    "read_groups",
    "read_number",
    "read_numbers",
    "read_session_files",
    "read_whole",
    "reading_of",
    "refuse",
    "topic_reading_of",
    "whole",
    "workers_from",
]

MOST = 10**9  # of things to count or to do


def read_whole(text: str) -> int:
    """Read a whole number of at most 40 characters; ValueError where it is none."""
    if not text.isascii() or "_" in text or len(text) > 40:
        raise ValueError
    return int(text)


def read_number(text: str) -> float:
    """Read a finite number; ValueError where it is none."""
    if not text.isascii() or "_" in text or not math.isfinite(value := float(text)):
        raise ValueError
    return value


def whole(least: int = 1, most: int = MOST) -> Callable[[str], int]:
    """The type of an option: a whole number within bounds.

    >>> whole(0, 17)("4")
    4
    """
    return _within(read_whole, lambda x: least <= x <= most, f"a whole number from {least} to {most}")


def number(least: float = -math.inf, *, above: bool = False) -> Callable[[str], float]:
    """The type of an option: a finite number of at least some size, or above it.

    >>> number(0)("0.5")
    0.5
    """
    size = "" if least == -math.inf else f" above {least:g}" if above else f" of at least {least:g}"
    return _within(read_number, lambda x: x > least or (x == least and not above), f"a number{size}")


def _within(read: Callable[[str], Any], allowed: Callable[[Any], bool], what: str) -> Callable[[str], Any]:
    def read_option(text: str) -> Any:
        try:
            value = read(text)
        except ValueError:
            value = None
        if value is None or not allowed(value):
            raise argparse.ArgumentTypeError(f"found {text!r:.60}, expected {what}")
        return value

    return read_option


DIGITS = whole(0, 17)  # decimals
SEED = whole(0, 2**64 - 1)
THREADS = whole(1, MOST_THREADS)
USERS = whole(1, 2**40)  # to be simulated
# levels nearer to 0 or 1 than that are lost in rounding
SHARE = _within(read_number, lambda x: 1e-12 <= x <= 1 - 1e-12, "a number between 0 and 1, by 1e-12 at least")

# ---- what is the same in many commands


def refuse(args: argparse.Namespace, options: str, why: str) -> None:
    """An error for the first of some options, with blanks between them, that was given though it has no effect here."""
    for option in options.split():
        assert hasattr(args, option), option
        if option in args.given:
            raise AmbleError(f"--{option.replace('_', '-')} {why}")


Add = Callable[..., Any]

FORMATS = ("table", "tsv", "csv", "json", "latex", "html")
TIES = ("docno", "rank", "file", "expected")


def add_threads(add: Add, what: str = "read") -> None:
    """Declare --threads."""
    add("--threads", type=THREADS, metavar="N", help=f"how many threads {what} (default: as many as pay)")


def add_workers(add: Add) -> None:
    """Declare who does long work, and where finished pieces of it are kept."""
    add("--workers", type=THREADS, metavar="N", help="processes on this machine that share the work")
    add("--cluster", metavar="ADDRESS", help="instead, a Dask cluster: tcp://HOST:PORT, or its file, scheduler.json")
    add(
        "--checkpoint", metavar="FOLDER", help="keep finished pieces there, so that the same command does only the rest"
    )


@contextlib.contextmanager
def workers_from(args: argparse.Namespace) -> Iterator[Any]:
    """The workers of the options of `add_workers`; None if there are none."""
    if args.workers is not None and args.cluster is not None:
        raise AmbleError("--workers and --cluster: expected one of them")
    if args.workers is None and args.cluster is None and args.checkpoint is None:
        yield None
        return
    executor = args.cluster if args.workers is None else partial(processes, args.workers, spared=True)
    with Workers(executor, checkpoint=args.checkpoint) as workers:
        yield workers


def add_digits(add: Add) -> None:
    """Declare --digits."""
    add("--digits", type=DIGITS, default=4, metavar="N", help="decimals (default: %(default)s)")


def add_plugins(add: Add) -> None:
    """Declare --plugin."""
    add("--plugin", metavar="FILE", action="append", default=[], help="Python file that declares measures of your own")


def _output(path: str) -> str | None:
    if not path:
        raise argparse.ArgumentTypeError("found an empty text, expected a value")
    return None if path == "-" else path


def add_output(add: Add, *, quiet: bool = True, file: str = "FILE") -> None:
    """Declare --output, and --quiet where a command has a summary."""
    told = "write there instead of to standard output (-)"
    add("-o", "--output", type=_output, metavar=file, help=told)
    if quiet:
        add("--quiet", action="store_true", help="no summary on standard error")


def add_longest_line(add: Add) -> None:
    """Declare how long lines of files may be."""
    add(
        "--max-line",
        type=whole(1, checks.INT32),
        metavar="BYTES",
        help=f"the longest line of a file (default: {LONGEST_LINE})",
    )


def add_reading(add: Add) -> None:
    """Declare how files are read: how long their lines may be, and what the columns of tables are called."""
    add_longest_line(add)
    add("--columns", metavar="WHAT=NAME,…", help="columns of tables: topic, doc, score, grade, subtopic")


def reading_of(args: argparse.Namespace) -> dict[str, Any]:
    """The options of `add_reading`, for `read_qrels` and `read_runs`."""
    return {"max_line": args.max_line, "columns": None if args.columns is None else read_columns(args.columns)}


def read_columns(text: str) -> NamedColumns:
    """Columns by their names, or their numbers from 1.

    >>> read_columns("topic=query-id, doc=2")
    {'topic': 'query-id', 'doc': 2}
    """
    pairs = [word.partition("=") for word in text.split(",")]
    out = {key.strip(): value.strip() for key, _, value in pairs}
    if len(out) < len(pairs):
        raise AmbleError(f"--columns {text!r:.60}: a column is named twice, expected once")
    try:
        return check_columns(out)
    except AmbleError as error:
        raise AmbleError(f"--{error}; such as --columns topic=qid,doc=docno") from None


def read_numbers(text: str, option: str, kind: type) -> list[Any]:
    """Read numbers with commas between."""
    out = []
    for word in text.split(","):
        try:
            out.append(read_whole(word) if kind is int else read_number(word))
        except ValueError:
            what = "whole numbers" if kind is int else "numbers"
            raise AmbleError(f"{option}: found {word!r}, expected {what} with commas between") from None
    return out


# ---- judgments and runs


def add_inputs(add: Add, *, gains: bool = False) -> None:
    """Declare the files: judgments and runs; with ``gains`` also the lists that can take their place."""
    files = (
        add(
            "qrels",
            metavar="QRELS",
            help="judgments: topic iter doc grade, or CSV, TSV, JSON, Parquet (also compressed; - for stdin)",
        ),
        add("runs", metavar="RUN", nargs="+", help="runs: topic Q0 doc rank score tag, or a table"),
    )
    if gains:
        add_gains(add, files)


def add_gains(add: Add, instead_of: Sequence[argparse.Action] = ()) -> None:
    """Declare --gains: lists of grades on the command line, in the place of files."""

    class Gains(argparse._AppendAction):
        def __call__(self, *given: Any) -> None:
            for file in instead_of:
                file.required = False
            super().__call__(*given)

    add(
        "--gains",
        action=Gains,
        metavar="[NAME=]G,G,…",
        help="a list as its grades by rank, - where unjudged"
        + ", instead of files; several: lists of one topic, 1" * bool(instead_of),
    )


def read_gains(texts: Sequence[str] | None) -> dict[str, list[float]]:
    """The lists of --gains, by their names or, where they have none, their numbers.

    >>> read_gains(["1,-,0", "r=0,2"])
    {'1': [1.0, nan, 0.0], 'r': [0.0, 2.0]}
    """
    out: dict[str, list[float]] = {}
    for number, text in enumerate(texts or (), 1):
        before, named, after = text.partition("=")
        name, words = (before.strip(), after) if named else (str(number), text)
        if not name or name in out:
            raise AmbleError(f"--gains {text!r:.60}: expected a name of its own before the =")
        out[name] = []
        for i, word in enumerate(re.split(r"\s*,\s*|\s+", words.strip()), 1):
            try:
                out[name].append(math.nan if word in ("-", "nan", "?") else read_number(word))
            except ValueError:
                raise AmbleError(f"--gains: {word!r} at place {i}, expected a number or - for unjudged") from None
    return out


def inputs_of(args: argparse.Namespace) -> tuple[Any, Any]:
    """Judgments and runs: files or, with --gains, lists of one topic, called 1.

    The n-th document of a grade is the same in all lists, so that the topic has as many documents of each grade as the
    list that has most of them.
    """
    if args.gains is None:
        return args.qrels, list(args.runs)
    if args.qrels is not None:
        raise AmbleError(f"--gains and {args.qrels}: expected lists, or files, not both")
    args.runs = []
    judged: dict[str, float] = {}
    runs: dict[str, dict[str, dict[str, float]]] = {}
    for name, grades in read_gains(args.gains).items():
        seen: dict[float | None, int] = {}
        runs[name] = {"1": {}}
        for rank, grade in enumerate(grades):
            key = None if math.isnan(grade) else grade + 0.0
            seen[key] = seen.get(key, 0) + 1
            document = f"{'-' if key is None else f'{key:.17g}'}#{seen[key]}"
            runs[name]["1"][document] = float(len(grades) - rank)
            if key is not None:
                judged[document] = key
    if not judged:
        raise AmbleError("--gains: all documents are unjudged, expected a grade")
    return {"1": judged}, runs


def add_alignment(
    add: Add, ties: tuple[str, ...] = TIES, *, costs: bool = True, subtopics: bool = True, condense: bool = True
) -> None:
    """Declare how runs meet judgments."""
    add("--depth", type=whole(), metavar="K", help="look no further than rank K (trec_eval -M)")
    add("--missing", choices=("zero", "skip"), help="topics that a run does not answer (default: zero)")
    add("--ties", choices=ties, default="docno", help="equal scores (default: docno)")
    if condense:
        add("--unjudged", choices=("zero", "condense"), default="zero", help="no gain, or taken out (trec_eval -J)")
    add("--duplicates", choices=("error", "best"), default="error", help="a document twice: an error, or keep the best")
    add("--float32", action="store_true", default=None, help="compare scores as floats (trec_eval 9, pytrec_eval)")
    if costs:
        add("--costs", metavar="FILE", help="lines of document cost, for users who look at it")
    if subtopics:
        add("--subtopics", action="store_true", default=None, help="judgments of subtopics: topic subtopic doc grade")
        add("--intents", metavar="FILE", help="lines of topic subtopic probability (default: all as likely)")
    add("--allow-unjudged", action="store_true", default=None, help="runs none of whose documents is judged, too")
    add_reading(add)


def add_topic_groups(add: Add, what: str) -> None:
    """Declare --groups."""
    add("--groups", metavar="FILE", help=f"groups of topics, lines of topic group: {what}")


def add_undefined(add: Add) -> None:
    """Declare --undefined."""
    add("--undefined", choices=("zero", "skip"), default="zero", help="topics without a relevant document")


def alignment_of(args: argparse.Namespace) -> dict[str, Any]:
    """The options of `add_alignment`, for `align`."""
    chosen = {key: getattr(args, key) for key in ("depth", "ties", "unjudged", "duplicates", "threads", "costs")}
    chosen |= {"missing": args.missing or "zero", "score_dtype": "float32" if args.float32 else "float64"}
    chosen |= {"subtopics": args.subtopics or args.intents is not None or None, "intents": args.intents}
    return chosen | reading_of(args)


def filter_unjudged_warnings(args: argparse.Namespace) -> None:
    """From here on, a run none of whose documents is judged is an error, unless it is allowed."""
    warnings.simplefilter("ignore" if args.allow_unjudged else "error", UnjudgedWarning)


def add_lists(add: Add, depth: int | None, usual: str = "%(default)s") -> None:
    """Declare how the lists of runs are read by commands that look at all documents, judged or not."""
    add("--depth", type=whole(), default=depth, metavar="K", help=f"look no further than rank K (default: {usual})")
    add("--ties", choices=("docno", "rank", "file"), default="docno", help="equal scores (default: %(default)s)")
    add("--duplicates", choices=("error", "best"), default="error", help="a document twice: an error, or keep the best")
    add_threads(add)
    add_reading(add)


def lists_of(args: argparse.Namespace) -> dict[str, Any]:
    """The options of `add_lists`, for `pool` and `fuse`."""
    return {key: getattr(args, key) for key in ("depth", "ties", "duplicates", "threads")}


def add_top(add: Add) -> None:
    """Declare how many documents a run that is made has for a topic."""
    add(
        "-k",
        "--top",
        type=whole(),
        default=1000,
        metavar="K",
        help="documents per topic, at most (default: %(default)s)",
    )


def read_groups(text: str, runs: tuple[str, ...]) -> Any:
    """Groups of runs: by the first letters of their names, or from a file of lines `run group`."""
    from amble.metaevaluation import groups_by_prefix

    if text.isascii() and text.isdigit() and len(text) < 10:
        return groups_by_prefix(runs, int(text))
    groups: dict[str, list[str]] = {}
    if not os.path.exists(text):
        raise AmbleError(f"--groups {text:.60}: no such file, expected one of lines run group, or a number of letters")
    for _, (run, group), _ in read_rows(text, ("run", "group"), ()):
        groups.setdefault(group, []).append(run)
    return groups


# ---- topics


def add_topic_reading(add: Add) -> None:
    """Declare how topics are read."""
    add("--fields", nargs="+", default=["title"], metavar="NAME", help="title, description, narrative (default: title)")
    add("--language", metavar="L", help="which language, of topics in several")
    add("--renumber", action="store_true", help="number topics 1, 2, 3... by their place, as Cranfield's judgments do")
    add("--encoding", metavar="CODE", help="of the topics (default: utf-8, or what an XML declaration says)")


def topic_reading_of(args: argparse.Namespace) -> dict[str, Any]:
    """The options of `add_topic_reading`, for `read_topics`."""
    return {key: getattr(args, key) for key in ("fields", "language", "renumber", "encoding")}


# ---- measures

DEFAULT_MEASURES = "AP nDCG nDCG@10 P@10 RR Rprec bpref"
_TIED = "AP nDCG nDCG@10 P@10 RR R@100"  # those that have a closed form
_RATES = "P@10 SDCG@10 RBP INSQ INST AP RR"  # those that have a C/W/L form
_OFFICIAL = (
    "NumQ NumRet NumRel NumRelRet AP GMAP Rprec bpref RR "
    + " ".join(f"IPrec@{i / 10}" for i in range(11))
    + "".join(f" P@{k}" for k in (5, 10, 15, 20, 30, 100, 200, 500, 1000))
)


def prepare(argv: list[str]) -> list[str]:
    """Let one -m be followed by several measures, wherever it stands among the files."""
    out: list[str] = []
    many = False
    for i, word in enumerate(argv):
        if many and i > 0 and argv[i - 1] not in ("-m", "--measure") and _looks_like_measure(word):
            out += ["-m", word]
            continue
        if word in ("-m", "--measure"):
            many = True
        elif i > 0 and argv[i - 1] not in ("-m", "--measure"):
            many = False
        out.append(word)
    return out


def _looks_like_measure(word: str) -> bool:
    from amble.expressions.aliases import is_alias
    from amble.expressions.grammar import split_measures

    if word.startswith("-") or os.path.exists(word):
        return False
    parts = split_measures(word)  # a misspelt one is told apart when it is parsed; a misspelt file is none
    ours = all(re.match(r"[A-Za-z_]\w*(\s*[@(]|$)", part) or is_alias(part) for part in parts)
    outside, left = word, ""
    while outside != left:  # of parentheses, from the innermost on
        outside, left = re.sub(r"\([^()]*\)", "", outside), outside
    return bool(parts) and ours and not re.search(r"/|@.*\.[A-Za-z]", outside.partition("(")[0])


def measures_of(args: argparse.Namespace, *, trec: bool = False) -> list[Any]:
    """The measures of -m or the usual ones, labelled as they were typed or with trec_eval's names."""
    from amble.expressions.grammar import split_measures
    from amble.measures import parse
    from amble.measures.trec_names import all_trec, trec_name

    usual = _OFFICIAL if args.trec else _RATES if args.cwl else _TIED if args.ties == "expected" else DEFAULT_MEASURES
    words = args.measure or [usual]
    measures = []
    for word in (part for text in words for part in split_measures(text)):
        for theirs, name in all_trec() if word == "all_trec" else [("", word)]:
            m = parse(name)
            # what a measure says itself, it keeps
            given = (m.written or m).given
            if args.trec and m.name in ("IPrec", "IPrecAvg") and "rule" not in given:
                m = m.with_value("rule", "trec10")
            if args.rel is not None and "rel" in m.values and m.values.get("gains") is None and "rel" not in given:
                m = m.with_value("rel", args.rel)
            if trec or theirs:
                m = m.labelled((theirs or trec_name(m, args.rel)) if trec else "")
            measures.append(m)
    return measures


def add_scored(add: Add) -> None:
    """Declare --digits, --plugin, --output and --quiet, which all commands have that score runs."""
    add_digits(add)
    add_plugins(add)
    add_output(add)


# ---- tests of differences


def add_tests(add: Add, what: str) -> None:
    """Declare a test of differences, its correction, its level and its resampling."""
    from amble.comparison.design import CORRECTIONS, FAMILIES, TESTS, TestDesign

    usual, families = TestDesign(), ", ".join(FAMILIES)
    add("--test", choices=tuple(TESTS), help=f"{what} (default: {usual.test})")
    correction = f"{usual.correction}; {families}: {TestDesign(test='tukey').correction}"
    add("--correction", choices=tuple(CORRECTIONS), help=f"for the number of comparisons (default: {correction})")
    add("--alpha", type=SHARE, metavar="A", help=f"the level (default: {usual.alpha})")
    add("--seed", type=SEED, metavar="S", help=f"same seed, same answer (default: {usual.seed})")
    add("--rounds", type=whole(), metavar="N", help=f"of permutation, bootstrap, tukey (default: {usual.rounds})")


REGRESSED = 3  # the exit code


def add_gates(add: Add) -> None:
    """Declare --fail-if."""
    add(
        "--fail-if",
        metavar="GATE",
        action="append",
        help="MEASURE (drops significantly), 'MEASURE drops', 'MEASURE drops by 0.01' or 'by 5%%', with drops "
        f"also 'significantly', or 'MEASURE < 0.5': exit code {REGRESSED}, and a line for each run that does",
    )


def design_of(args: argparse.Namespace, drawn: str = "seed rounds") -> Any:
    """The design of a test by the options that were given, its default where one was not.

    An error where one of those for what is ``drawn`` was given, and nothing is.
    """
    from dataclasses import fields

    from amble.comparison.design import TestDesign

    given = {field.name: getattr(args, field.name, None) for field in fields(TestDesign)}
    design = TestDesign(**{name: value for name, value in given.items() if value is not None})
    if not design.random:
        refuse(
            args,
            drawn,
            f"has no part in the test {design.test!r}, in which nothing is random; expected permutation, bootstrap or "
            "tukey, or --interval percentile or bca",
        )
    return design


def include_baselines(args: argparse.Namespace) -> None:
    """Read the baselines that are files with the runs, whether they are named among them or not."""
    given = args.baseline if isinstance(args.baseline, list) else [args.baseline]
    named = []
    for baseline in given:
        if baseline is not None and os.path.isfile(baseline):
            same = [run for run in args.runs if os.path.isfile(run) and os.path.samefile(run, baseline)]
            args.runs = args.runs if same else [*args.runs, baseline]
            baseline = same[0] if same else baseline
        named.append(baseline)
    args.baseline = named if isinstance(args.baseline, list) else named[0]
    keep_inputs(args)


def baseline_of(scores: Any, args: argparse.Namespace, baseline: str) -> str:
    """The name of the run that is the baseline: it may be given as its file is."""
    from amble.sessions import Sessions
    from amble.sessions.session_layouts import name_of

    given = [os.path.normpath(path) for path in args.runs]
    names = [baseline]
    if isinstance(scores.rankings, Sessions):
        if scores.rankings.audit.of_runs is None:  # a file of sessions may be a run, several, or none
            given, names = [], [baseline, name_of(baseline)]
        else:
            given = given[-len(scores.runs) :]  # before them stands the file of sessions
    path = os.path.normpath(baseline)
    if given.count(path) == 1 and len(given) == len(scores.runs):  # or several are samples of a system
        return str(scores.runs[given.index(path)])
    for name in names:
        try:
            return str(scores.runs[scores.rankings.index(name)])
        except KeyError:
            continue
    raise AmbleError(f"--baseline {baseline}: expected a file, or one of {', '.join(scores.runs[:5])}")


# ---- sessions

_OF_RUNS = ("depth", "missing", "ties", "unjudged", "duplicates", "threads", "max_line")
_USUAL = {"ties": "docno", "unjudged": "zero", "duplicates": "error"}


def add_sessions(add: Add) -> None:
    """Declare how sessions are read."""
    add("--layout", choices=("table", "json", "xml", "dd"), help="of the sessions (default: by how the file begins)")
    add("--repeats", choices=("every", "once"), default="every", help="a document shown again in its session counts")


def read_session_files(files: Sequence[str], args: argparse.Namespace) -> Any:
    """The sessions of some files, the first of which may be judgments."""
    from amble.sessions import read_sessions
    from amble.sessions.session_layouts import is_json

    given = {key: getattr(args, key) for key in _OF_RUNS if getattr(args, key) not in (None, _USUAL.get(key))}
    given |= {"score_dtype": "float32"} if args.float32 else {}
    given |= {"columns": read_columns(args.columns)} if args.columns else {}
    if len(files) == 1 or (args.layout in (None, "json") and is_json(files[0])):
        return read_sessions(None, *files, layout=args.layout, repeats=args.repeats, **given)
    return read_sessions(*files, layout=args.layout, repeats=args.repeats, **given)
