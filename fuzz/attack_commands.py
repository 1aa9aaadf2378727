"""Attack the command line: every command with every option and extreme values, and see that it stays polite.

``python fuzz/attack_commands.py`` takes some thousand cases in a few minutes on one core; ``--cases 0`` takes all there
are, ``--command fit`` those of a command. Options are read from the commands' own parsers: a new one is attacked, too.
Each case runs in a child forked from one warm process, in a folder with the files of `hostile.py`: without privileges,
with limits of memory and time, and without the internet (a socket of its families ends the child).

What is asked of every case:

- the exit code is one that the command documents: 0, 2, 1 of `check` alone, 3 of a report with gates alone, and 130
  after an interrupt, which only those are sent that were told to do very much work
- no traceback, and no warning of Python's own, on standard error; with exit code 2, one line, that begins with `amble`
- what was there is there still, byte for byte, with its mode; new are only files that were named, and none where the
  command failed; the folder for temporary files is empty
- JSON is JSON

A case is known by the seed and its number, and is printed as a command for a shell.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import gc
import importlib
import io
import itertools
import json
import os
import pkgutil
import random
import re
import resource
import shlex
import signal
import stat
import struct
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import hostile

PATIENCE = 20.0  # seconds that a case may take
MUCH = 4.0  # seconds until a case that was told to do very much work is interrupted
CPU = 60
MEMORY = 3 << 30
LARGEST = 1 << 28  # bytes of a file
HEAVY = re.compile(r"\d{5,}|1e308|1e200|a{100}")  # words that may mean much work

# commands that work, for each way they have to work; the files are those of `hostile.py`
BASES: dict[str, tuple[str, ...]] = {
    "eval": ("qrels.txt a.run b.run -m AP -m RBP", "qrels.txt a.run b.run --cwl", "qrels.txt a.run --trec -q"),
    "compare": ("qrels.txt a.run b.run c.run -m AP", "qrels.txt a.run b.run -m MsM --sessions sessions.tsv"),
    "curve": ("qrels.txt a.run b.run", "qrels.txt a.run b.run --topic 1 --every-rank"),
    "session": (
        "qrels.txt sessions.tsv a.run b.run -m sDCG",
        "log.json -m MsM",
        "qrels.txt sessions.tsv a.run b.run -m MsM --why s1",
    ),
    "user": ("RBP --gains 1,0,1", "MP --gains 1,0,1", "MsM sINSQ --gains 1,0,1 --gains 0,1"),
    "distribution": ("qrels.txt a.run b.run -m RBP --depth 5",),
    "exposure": (
        "qrels.txt a.run b.run --groups documents.tsv -m RBP",
        "qrels.txt a.run b.run --compare EEL --baseline a.run",
        "qrels.txt a.run b.run --samples both=* --by-document",
    ),
    "meta": (
        *(
            f"{analysis} qrels.txt a.run b.run c.run -m AP -m P@5{more}"
            for analysis, more in (
                ("tau", " --rounds 5"),
                ("agreement", ""),
                ("power", " --rounds 5"),
                ("swaps", " --rounds 5"),
                ("pool", " --rounds 3"),
                ("topics", ""),
                ("degrade", " --rounds 2 --levels 0.5"),
            )
        ),
        "satisfaction scores.tsv labels.txt --rounds 5",
        "satisfaction scores.tsv labels.txt --rounds 5 --pairs",
    ),
    "pool": ("a.run b.run --depth 5",),
    "judge": (
        "sheet pool.txt",
        "read sheet.csv --pool pool.txt",
        "ask a.run b.run --depth 2 -o asked.txt",
        "agreement qrels.txt second.txt",
        "uniques qrels.txt a.run b.run",
        "cost qrels.txt a.run b.run",
    ),
    "fuse": ("a.run b.run", "a.run b.run --method combsum"),
    "fit": (
        "log.tsv --rounds 5 --draws 3 --threads 1 --model walk,rbp",
        "log.csv --layout table --rounds 5 --threads 1 --model walk",
    ),
    "report": ("qrels.txt a.run b.run -m AP", "--config report.toml --baseline a.run"),
    "explore": ("qrels.txt a.run b.run -m AP", "-o play.html"),
    "gate": ("qrels.txt a.run --baseline b.run --fail-if AP", "qrels.txt a.run b.run --fail-if P@5<0.1"),
    "list": ("", "RBP"),
    "index": ("docs.tsv -o new.index",),
    "search": ("small.index topics.tsv",),
    "explain": ("small.index d1 --topic march",),
    "check": ("a.run b.run --qrels qrels.txt",),
    "demo": ("demo --size 1",),
}
WRITES = ("output", "plot", "hasse", "charts", "latex", "folder")  # options whose value is written to
UNASKED = {  # what is written though nobody named it
    "report": {"report.html", "made.html"},
    "explore": {"explore.html"},
    "demo": {"demo"},
}
STREAMS = ("no input", "no output", "no errors", "full", "latin-1", "ascii", "nothing")

Entry = Callable[[], object]


class Case(NamedTuple):
    """Words of a command line, and what its streams are."""

    words: tuple[str, ...]
    group: tuple[str, ...] = ("",)
    streams: str = ""

    @property
    def command(self) -> str:
        """The first word."""
        return self.words[0] if self.words else ""

    @property
    def heavy(self) -> bool:
        """Whether it may be asked to do very much work."""
        return any(HEAVY.search(word) for word in self.words)

    def __str__(self) -> str:
        """As it would be typed."""
        feed = "1\\n0\\nq\\n" if self.words[:2] == ("judge", "ask") else "401 Q0 d1 1 1 x\\n"
        said = {
            "no input": " <&-",
            "no output": " >&-",
            "no errors": " 2>&-",
            "full": " >/dev/full",
            "nothing": " <&- >&- 2>&-",
        }
        before = f"PYTHONIOENCODING={self.streams} " if self.streams in ("latin-1", "ascii") else ""
        return f"printf '{feed}' | {before}amble {' '.join(map(_quoted, self.words))}{said.get(self.streams, '')}"


class Outcome(NamedTuple):
    """What became of a case."""

    code: int | None
    ended: str
    out: bytes
    err: bytes
    seconds: float
    interrupted: bool
    changed: list[str]
    new: list[str]


def _quoted(word: str) -> str:
    runs = [(char, len(list(same))) for char, same in itertools.groupby(word)]
    if len(word) > 500 and len(runs) < 9:
        return (
            "$'"
            + "".join(_escaped(c * n) if n < 99 else f"'\"$(printf '{c}%.0s' {{1..{n}}})\"$'" for c, n in runs)
            + "'"
        )
    if word.isprintable() and word.isascii():
        return shlex.quote(word)
    return f"$'{_escaped(word)}'"


def _escaped(text: str) -> str:
    data = os.fsencode(text) if "\0" not in text else text.encode()
    return "".join(chr(b) if 32 <= b < 127 and b not in b"'\\" else f"\\x{b:02x}" for b in data)


# ---- the cases


def options(command: str) -> list[argparse.Action]:
    """The options of a command, from its own parser."""
    from amble.cli import main as cli

    module = importlib.import_module(f"amble.cli.commands.{command}")
    return [action for action in cli._parser(command, module)._actions if action.dest != "help"]


def values(action: argparse.Action, files: Sequence[str]) -> list[str]:
    """Words for an option, by its kind."""
    if action.choices:
        return [*map(str, action.choices), "", "x", str(next(iter(action.choices))).upper(), "a" * 1000, "\n", "\udcff"]
    if action.type is not None:
        return list(hostile.NUMBERS)
    if action.dest in WRITES:
        return [*hostile.OUTPUTS, *files, *(link for name in files for link in hostile.READ_LINKS.get(name, ()))]
    return [*hostile.TEXTS, *hostile.PATHS, *(hostile.MEASURES if "measure" in action.dest else hostile.NUMBERS)]


def _of_base(command: str, base: str, rng: random.Random) -> Iterator[Case]:
    words = (command, *base.split())
    actions = options(command)
    files = [word for word in words if word in hostile.GOOD]
    named = {flag: action for action in actions for flag in action.option_strings}
    yield Case(words, (command, "as it is"))
    for streams in STREAMS:
        yield Case(words, (command, "streams"), streams)
    for i, word in enumerate(words[1:], 1):  # a word of the base replaced, or left out
        yield Case((*words[:i], *words[i + 1 :]), (command, "left out"))
        if word in named:
            continue
        option = named.get(words[i - 1])
        if option is not None:
            instead: Iterable[str] = values(option, files)
        elif command in ("demo",):
            instead = hostile.OUTPUTS
        elif command in ("user", "list"):
            instead = (*hostile.MEASURES, *hostile.TEXTS)
        else:
            instead = (*hostile.PATHS, *hostile.TEXTS[:40])
        for value in instead:
            yield Case((*words[:i], value, *words[i + 1 :]), (command, option.dest if option else f"word {i}"))
    single: list[tuple[str, ...]] = []
    for action in actions:
        if not action.option_strings:
            continue
        flag = action.option_strings[-1]
        if action.nargs == 0:
            single.append((flag,))
            yield Case((*words, flag), (command, flag))
            yield Case((*words, f"{flag}=1"), (command, flag))
            continue
        yield Case((*words, flag), (command, flag))
        for value in values(action, files):
            # a value may begin with a dash, unless it is to be its own word
            given = (f"{flag}={value}",) if value.startswith("-") and flag.startswith("--") else (flag, value)
            single.append(given)
            yield Case((*words, *given), (command, flag))
    for _ in range(400):
        both = rng.sample(single, 2 + (rng.random() < 0.3))
        yield Case((*words, *(word for given in both for word in given)), (command, "together"))


def cases(seed: int, command: str | None = None) -> list[Case]:
    """All cases in an order by seed that takes in turn from every option of every command."""
    from amble.cli.main import COMMANDS

    missing = set(COMMANDS) - set(BASES)
    if missing:
        raise SystemExit(f"no base for {', '.join(sorted(missing))}: say in BASES how they work")
    rng = random.Random(seed)
    groups: dict[tuple[str, ...], dict[Case, None]] = defaultdict(dict)
    for name, bases in BASES.items():
        for base in bases:
            for case in _of_base(name, base, rng):
                groups[case.group].setdefault(case)
    for words in ((), ("--help",), ("--version",), ("-h",), ("",), ("x",), ("a\nb",), ("\udcff",), ("--x\ny",)):
        groups["no command",].setdefault(Case(words, ("no command",)))
    for name in BASES:
        for words in (
            ("--help",),
            (),
            ("--x\ny",),
            ("--",),
            ("-",),
            ("a\u2028b",) * 9,
            ("@x",),
            ("--seed", "1", "--see", "2"),
        ):
            groups[name, "no base"].setdefault(Case((name, *words), (name, "no base")))
    shuffled = []
    for group in sorted(groups):
        if command is None or group[0] == command:
            shuffled.append(rng.sample(list(groups[group]), len(groups[group])))
    rng.shuffle(shuffled)
    turns = itertools.zip_longest(*shuffled)
    return [case for turn in turns for case in turn if case is not None]


# ---- running one


def _unprivileged() -> None:
    """Take a superuser's rights to read and write everything away, and the internet from everybody (Linux)."""
    libc = ctypes.CDLL(None, use_errno=True)
    if os.geteuid() == 0:
        header, nothing = struct.pack("Ii", 0x20080522, 0), struct.pack("6I", *[0] * 6)
        libc.capset(header, nothing)
    call = {"x86_64": 41, "aarch64": 198}.get(os.uname().machine)
    if call is None or sys.platform != "linux":
        return
    # socket(family, ...): where the family is AF_INET or AF_INET6, end the process; all else is allowed
    rules = [
        (0x20, 0, 0, 0),
        (0x15, 0, 4, call),
        (0x20, 0, 0, 16),
        (0x15, 1, 0, 2),
        (0x15, 0, 1, 10),
        (0x06, 0, 0, 0x80000000),
        (0x06, 0, 0, 0x7FFF0000),
    ]
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *rule) for rule in rules))
    filters = struct.pack("HL", len(rules), ctypes.addressof(program))
    libc.prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
    libc.prctl(22, 2, filters, 0, 0)  # PR_SET_SECCOMP, SECCOMP_MODE_FILTER


def _no_network(event: str, args: tuple[Any, ...]) -> None:
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto", "urllib.Request"):
        os.write(2, f"NETWORK {event} {args[-1]!r}\n".encode())
        os._exit(99)


def _child(case: Case, folder: Path, streams: Sequence[int], entry: Entry) -> NoReturn:
    """Become the command."""
    code = 99
    try:
        os.setsid()
        os.chdir(folder)
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        os.closerange(3, 64)
        os.environ["TMPDIR"] = str(folder / "tmp")
        tempfile.tempdir = None
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for what, most in (
            (resource.RLIMIT_DATA, MEMORY),
            (resource.RLIMIT_FSIZE, LARGEST),
            (resource.RLIMIT_CPU, CPU),
        ):
            resource.setrlimit(what, (most, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        encoding = case.streams if case.streams in ("latin-1", "ascii") else "utf-8"
        closed = {"no input": (0,), "no output": (1,), "no errors": (2,), "nothing": (0, 1, 2)}.get(case.streams, ())
        for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
            wrapped = None
            if number in closed:
                os.close(number)
            else:
                raw = open(number, mode + "b", closefd=False)  # noqa: SIM115
                errors = "backslashreplace" if number == 2 else "surrogateescape" if encoding == "utf-8" else "strict"
                wrapped = io.TextIOWrapper(raw, encoding=encoding, errors=errors, line_buffering=number == 2)
            setattr(sys, name, wrapped)
            setattr(sys, f"__{name}__", wrapped)
        sys.argv = ["amble", *case.words]
        warnings.resetwarnings()
        for category in (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning):
            warnings.simplefilter("ignore", category)
        sys.addaudithook(_no_network)
        _unprivileged()
        try:
            entry()
            code = 0
        except SystemExit as leave:
            code = leave.code if isinstance(leave.code, int) else 0 if leave.code is None else 1
        except BaseException:
            traceback.print_exc()
            code = 1
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
    finally:
        os._exit(code)


class Ground:
    """A folder in which cases run, one after another; what they change is seen, and undone."""

    def __init__(self, work: Path, entry: Entry) -> None:
        self.work, self.entry = work, entry
        hostile.write_inputs(self.work, self._prepare)
        self.before = self._seen()

    def _prepare(self, words: Sequence[str]) -> None:
        from amble.cli.main import entry

        done = self._fork(Case(tuple(words)), entry)
        if done.code != 0:
            raise SystemExit(f"amble {' '.join(words)}: {done.err.decode(errors='replace')}")

    def _seen(self) -> dict[str, tuple[Any, ...]]:
        found: dict[str, tuple[Any, ...]] = {}
        for path, folders, files in os.walk(os.fsencode(self.work)):
            for name in (*folders, *files):
                full = os.path.join(path, name)
                here = os.fsdecode(os.path.relpath(full, os.fsencode(self.work)))
                status = os.lstat(full)
                mode = stat.S_IMODE(status.st_mode)
                if stat.S_ISLNK(status.st_mode):
                    found[here] = ("link", os.readlink(full))
                elif stat.S_ISDIR(status.st_mode):
                    found[here] = ("folder", mode)
                else:
                    with open(full, "rb") as file:
                        found[here] = ("file", mode, file.read())
        return found

    def _fork(self, case: Case, entry: Entry) -> Outcome:
        feed = b"1\n0\nq\n" if case.words[:2] == ("judge", "ask") else b"401 Q0 d1 1 1 x\n"
        with tempfile.TemporaryFile() as into, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            into.write(feed)
            into.seek(0)
            full = os.open("/dev/full", os.O_WRONLY) if case.streams == "full" else -1
            start = time.monotonic()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that threads are no more in a child
                child = os.fork()
            if child == 0:
                _child(case, self.work, (into.fileno(), out.fileno() if full < 0 else full, err.fileno()), entry)
            if full >= 0:
                os.close(full)
            status, interrupted = self._wait(child, start, case)
            seconds = time.monotonic() - start
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(child, signal.SIGKILL)  # what it may have started
            texts = []
            for file in (out, err):
                file.seek(0)
                texts.append(file.read(1 << 20))
        ended = "" if os.WIFEXITED(status) else signal.Signals(os.WTERMSIG(status)).name
        code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else None
        return Outcome(code, ended, texts[0], texts[1], seconds, interrupted, [], [])

    @staticmethod
    def _wait(child: int, start: float, case: Case) -> tuple[int, bool]:
        pause, interrupted = 0.0005, False
        while True:
            pid, status = os.waitpid(child, os.WNOHANG)
            if pid:
                return status, interrupted
            took = time.monotonic() - start
            if case.heavy and took > MUCH and not interrupted:
                os.kill(child, signal.SIGINT)
                interrupted = True
            if took > PATIENCE:
                os.kill(child, signal.SIGKILL)
                return os.waitpid(child, 0)[1], interrupted
            time.sleep(pause)
            pause = min(pause * 1.5, 0.05)

    def attack(self, case: Case) -> tuple[Outcome, list[str]]:
        """Run a case; return what became of it, and what there is to complain of."""
        done = self._fork(case, self.entry)
        after = self._seen()
        changed = [path for path, was in self.before.items() if after.get(path) != was]
        new = [path for path in after if path not in self.before]
        done = done._replace(changed=changed, new=new)
        if changed or new:
            hostile.remove(self.work)
            self._restore()
        return done, complaints(case, done)

    def _restore(self) -> None:
        folders = [(path, was) for path, was in self.before.items() if was[0] == "folder"]
        self.work.mkdir()
        for path, _ in folders:
            (self.work / path).mkdir(parents=True, exist_ok=True)
        for path, was in self.before.items():
            if was[0] == "link":
                (self.work / path).symlink_to(os.fsdecode(was[1]))
            elif was[0] == "file" and path != "hard.txt":
                (self.work / path).write_bytes(was[2])
                (self.work / path).chmod(was[1])
        os.link(self.work / "qrels.txt", self.work / "hard.txt")
        for path, was in folders:
            (self.work / path).chmod(was[1])


# ---- judging one


def _allowed(case: Case) -> set[int]:
    codes = {0, 2}
    if case.command == "check":
        codes.add(1)
    if case.command == "report" and any("fail-if" in word or "gate.toml" in word for word in case.words):
        codes.add(3)
    return codes


def complaints(case: Case, done: Outcome) -> list[str]:
    """What is wrong with what became of a case, a line each."""
    out = []
    err = done.err.decode("utf-8", "replace")
    lines = err.splitlines()
    allowed = _allowed(case) | ({130} if done.interrupted else set())
    if done.ended == "SIGSYS":
        out.append("opened a socket of the internet")
    elif done.seconds > PATIENCE:
        out.append(f"took more than {PATIENCE:g} s" + (", though it was interrupted" if done.interrupted else ""))
    elif done.ended:
        out.append(f"ended by {done.ended}")
    elif done.code not in allowed:
        out.append(f"exit code {done.code}, expected one of {', '.join(map(str, sorted(allowed)))}")
    if "NETWORK " in err:
        out.append(f"asked the network: {err[err.index('NETWORK ') :].splitlines()[0]}")
    if "Traceback" in err or re.search(r"^  File \"", err, re.M):
        out.append(f"traceback: {lines[-1][:200]}")
    elif found := re.search(r"^.*\.py:\d+: \w*Warning: .*$", err, re.M):
        out.append(f"warning: {found[0][-200:]}")
    asks = case.words[:2] == ("judge", "ask")  # which shows what it asks on standard error
    if done.code == 2 and case.streams == "full":  # found after all was said
        lines = [line for line in lines if not line.startswith("amble: ")] or lines[-1:]
    if done.code == 2 and case.streams not in ("no errors", "nothing") and not (asks and len(lines) > 1):
        if len(lines) != 1 or not err.startswith("amble: ") or not err.endswith("\n"):
            out.append(
                f"exit code 2 with {len(lines)} lines on standard error, expected one line, amble: …: {err[:300]!r}"
            )
        elif re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", err[:-1]):
            out.append(f"control bytes in a message: {err[:300]!r}")
    may = {*hostile.MAY_CHANGE} if done.code in (0, 1, 3, 130) else set()
    if lost := [path for path in done.changed if path not in may]:
        out.append(f"changed: {', '.join(map(repr, lost))}")
    named = (
        UNASKED.get(case.command, set())
        | {*hostile.LINKS.values()} - {*hostile.GOOD}
        | {
            os.path.normpath(part)
            for word in case.words
            for part in (word, word.rpartition("=")[2])
            if part and "\0" not in part
        }
    )
    above = {str(parent) for path in named for parent in Path(path).parents}  # folders may be made on the way
    failed = done.code not in (0, 1, 3) and case.streams not in ("full", "no output", "nothing")
    for path in done.new:
        parents = {os.path.normpath(path), *(str(parent) for parent in Path(path).parents)}
        meant = parents - {"."} & named or path in above or (case.command in ("demo", "report") and "." in named)
        if not meant or path.startswith("tmp/") or (failed and not asks):
            out.append(f"left behind: {path!r}")
    if done.code == 0 and not case.streams and "--help" not in case.words and "-h" not in case.words:
        out += _not_json(case, done.out)
    return out


def _not_json(case: Case, text: bytes) -> list[str]:
    asked = {pair for pair in itertools.pairwise(case.words) if pair == ("--format", "json")}
    written = {"-o", "--output", "--bib"} & {word.partition("=")[0] for word in case.words}
    if not asked or written or case.words.count("--format") > 1 or len(text) >= 1 << 20:
        return []

    def refuse(word: str) -> NoReturn:
        raise ValueError(f"{word} is not JSON")

    try:
        json.loads(text.decode("utf-8", "surrogateescape"), parse_constant=refuse)
    except ValueError as error:
        return [f"no JSON: {error}"]
    return []


# ---- all of them


def attack(chosen: Iterable[Case], entry: Entry | None = None) -> Any:
    """Run cases; yield each with its number, what became of it, and the complaints."""
    import amble.cli.main

    def installed() -> object:
        return amble.cli.main.entry()

    home = "/dev/shm" if os.path.isdir("/dev/shm") and os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=home, prefix="amble-attacks-") as folder:
        ground = Ground(Path(folder).resolve() / "work", entry or installed)
        try:
            for number, case in enumerate(chosen):
                yield number, case, *ground.attack(case)
        finally:
            hostile.remove(ground.work)


def warm() -> None:
    """Import what commands import, once, and start no thread."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    import amble

    ours = (module.name for module in pkgutil.walk_packages(amble.__path__, "amble."))
    names = [name for name in ours if name != "amble.__main__"]
    names += ["scipy.stats", "altair", "duckdb", "jinja2", "bm25s", "zstandard"]
    for name in names:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    gc.disable()  # children need no copies of what they do not touch


def main() -> int:
    """Attack, and print what was found."""
    global MUCH
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cases", type=int, default=6000, help="how many, 0 for all (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="the number of the first")
    parser.add_argument("--command", help="of one command only")
    parser.add_argument(
        "--much", type=float, default=MUCH, metavar="S", help="interrupt very much work after S seconds"
    )
    parser.add_argument("--slowest", type=int, default=0, metavar="N", help="name the N that took longest")
    parser.add_argument("--show", action="store_true", help="print each case before it runs")
    parser.add_argument("--inputs", metavar="FOLDER", help="write the files there, for commands tried by hand, and end")
    args = parser.parse_args()
    if args.inputs:
        Ground(Path(args.inputs).resolve(), lambda: None)
        return 0
    start, MUCH = time.monotonic(), args.much
    warm()
    every = cases(args.seed, args.command)
    chosen = every[args.first : args.first + args.cases if args.cases else None]
    counts: Counter[str] = Counter()
    codes: dict[str, Counter[str]] = defaultdict(Counter)
    bad: Counter[str] = Counter()
    times = []
    for number, case, done, found in attack(chosen):
        if args.show:
            print(f"{args.first + number}: {case}", flush=True)
        name = case.command if case.command in BASES else "(none)"
        counts[name] += 1
        codes[name][str(done.code) if done.code is not None else done.ended] += 1
        times.append((done.seconds, args.first + number, case))
        if found:
            bad[name] += 1
            print(f"case {args.first + number}: {case}"[:2000])
            print("".join(f"    {line}\n" for line in found), end="", flush=True)
    for name in sorted(counts):
        kinds = ", ".join(f"{code}: {n}" for code, n in sorted(codes[name].items()))
        print(f"{name:<10} {counts[name]:>6} cases, {bad[name]:>4} bad; exit codes {kinds}"[:300])
    for seconds, number, case in sorted(times, key=lambda one: -one[0])[: args.slowest]:
        print(f"{seconds:6.2f} s: case {number}: {case}"[:300])
    total = sum(bad.values())
    took = time.monotonic() - start
    print(f"{sum(counts.values()):,} cases of {len(every):,} (seed {args.seed}), {total} bad, in {took:.0f} s")
    if total:
        print("python fuzz/attack_commands.py --inputs FOLDER writes the files to try them with")
    return int(bool(total))


if __name__ == "__main__":
    sys.exit(main())
