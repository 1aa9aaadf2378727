"""The fuzzer's worker: the C reader (built with sanitizers) and its plain twin on the same inputs.

Run by ``fuzz_reader.py``, in a process that has the sanitizers' runtime loaded.
"""

from __future__ import annotations

import importlib.util
import io
import json
import mmap
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from importlib.machinery import ExtensionFileLoader
from pathlib import Path
from random import Random
from typing import Any

import inputs

try:
    import _testcapi  # refuses memory to Python itself; not every Python has it
except ImportError:
    _testcapi = None

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "src"))

from amble.native import plain_reader as plain  # noqa: E402

KINDS = ("run", "qrels", "numbers", "table", "changing")
LONGEST = (*(plain.LONGEST,) * 4, 1000, 100, 63, 30, 1)  # lines that are allowed
RULES = tuple(rule + flags for rule in range(3) for flags in (0, plain.NO_GROUPS, plain.SINGLE, 12))
NAMES = ("a.run", "run %s %d", "\udcff\u00e9.txt", "")


class DifferenceError(Exception):
    """The two readers disagree, or memory is not given back."""


def load(path: str) -> Any:
    """Load one build of the C reader."""
    loader = ExtensionFileLoader("amble.native._reader", path)
    spec = importlib.util.spec_from_file_location("amble.native._reader", path, loader=loader)
    if spec is None:
        raise ImportError(path)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


class ShortReads:
    """Gives what it has in pieces of random lengths."""

    def __init__(self, data: bytes, rng: Random) -> None:
        self.data, self.at = data, 0
        self.most = rng.choice((1, 3, 20, 100) if len(data) < 500 else (20, 100, 1 << 20))
        self.rng = rng

    def readinto(self, buffer: memoryview) -> int:
        """Fill a part of the buffer."""
        n = min(len(buffer), self.rng.randint(1, self.most), len(self.data) - self.at)
        buffer[:n] = self.data[self.at : self.at + n]
        self.at += n
        return n


class BrokenReads(ShortReads):
    """Breaks on the way: an exception, or a length that cannot be."""

    def readinto(self, buffer: memoryview) -> int:
        """Fill a part of the buffer, or break."""
        if self.at and self.rng.random() < 0.3:
            wrong = self.rng.choice((OSError(5, "broken"), EOFError("ended"), -1, len(buffer) + 1, None, "3"))
            if isinstance(wrong, Exception):
                raise wrong
            return wrong  # type: ignore[return-value]
        return super().readinto(buffer)


def outcome(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return ("is", result) or the exception's type and message."""
    try:
        return "is", function(*arguments)
    except Exception as error:
        return type(error).__name__, str(error)


class Worker:
    """Compares builds of the C reader with the plain twin, input after input."""

    def __init__(self, builds: list[str], seed: int, folder: str) -> None:
        self.builds = [load(path) for path in builds]
        # keys of the hash: one with which most ids of a length collide, one that is known, and one that was drawn
        for build, key in zip(self.builds, ((0, 0), (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9)), strict=False):
            build._hash_key(*key)
        sys.modules["amble.native._reader"] = self.builds[0]  # what amble.io.trec takes as the C reader
        from amble.io import trec as read

        read._BIG_FILE = 0
        self.read = read
        self.seed = seed
        self.path = os.path.join(folder, "input")
        self.file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        self.compared = self.refused = 0
        rng = Random("judgments")
        self.judged = []
        for _ in range(12):
            data = b"\n".join(inputs.qrels_file(rng))
            c = [build.judge(io.BytesIO(data), "") for build in self.builds]
            self.judged.append((plain.judge(io.BytesIO(data), ""), c))

    # one way to hand over bytes; the same bytes may be handed over again
    def source(self, data: bytes, rng: Random) -> Any:
        """Hand bytes over as a file descriptor, as an object, or in short reads."""
        kind = rng.randrange(3)
        if kind == 0:
            return io.BytesIO(data)
        if kind == 1:
            return ShortReads(data, rng)
        return self.descriptor(data)

    def descriptor(self, data: bytes) -> int:
        """Hand bytes over as a file descriptor."""
        os.ftruncate(self.file, 0)
        os.pwrite(self.file, data, 0)
        os.lseek(self.file, 0, os.SEEK_SET)
        return self.file

    def same(self, found: Any, expected: Any, what: str) -> None:
        """Compare; both are outcomes."""
        self.compared += 1
        if found != expected:
            while isinstance(found, tuple) and isinstance(expected, tuple) and len(found) == len(expected):
                found, expected = next(pair for pair in zip(found, expected, strict=True) if pair[0] != pair[1])
            raise DifferenceError(f"{what}:\n  C     {found!r:.1500}\n  plain {expected!r:.1500}")

    def refuse(self, build: Any, call: Callable[[], Any], expected: Any, what: str) -> None:
        """Let each allocation fail in turn: MemoryError every time, and nothing may stay allocated."""
        live, n, finished = build._live(), 0, 0
        while finished < 3:
            build._fail_after(n)
            result = call()
            build._fail_after(-1)
            if result[0] == "MemoryError":
                if finished:
                    raise DifferenceError(f"{what}: allocation {n - finished} was refused and nobody noticed")
                self.refused += 1
            else:
                finished += 1
                self.same(result, expected, f"{what}, allocation {n} refused")
            del result
            if build._live() != live:
                raise DifferenceError(f"{what}: {build._live() - live} blocks kept after allocation {n} was refused")
            n += 1

    def starve(self, build: Any, call: Callable[[], Any], expected: Any, what: str) -> None:
        """Let Python's own allocations fail, one in turn: MemoryError or the right answer, and nothing kept."""
        if _testcapi is None:
            return
        live, n, finished = build._live(), 0, 0
        while finished < 3:
            try:
                _testcapi.set_nomemory(n, n + 1)
                result = call()
            except MemoryError as error:
                result = "MemoryError", str(error)
            finally:
                _testcapi.remove_mem_hooks()
            # Python's own functions may forget the exception (3.11: no memory for a frame); the reader's may not
            forgotten = result[0] == "SystemError" and "without" in result[1] and "built-in function" not in result[1]
            if result[0] == "MemoryError" or forgotten:
                finished = 0
                self.refused += 1
            else:
                finished += 1
                self.same(result, expected, f"{what}, Python's allocation {n} refused")
            del result
            if build._live() != live:
                raise DifferenceError(f"{what}: {build._live() - live} blocks kept, Python's allocation {n} refused")
            n += 1

    # ---- the kinds of inputs ----

    def describe(self, reader: Any, origin: Any, *how: Any) -> Any:
        """Judgments as plain data."""
        judgments = reader.judge(origin, *how)
        return reader.describe(judgments), reader.documents(judgments), reader.subtopics(judgments)

    def qrels(self, data: bytes, rng: Random, build: Any) -> None:
        """Judgments from bytes."""
        how = rng.choice(NAMES), rng.choice(LONGEST), rng.random() < 0.5
        expected = outcome(self.describe, plain, io.BytesIO(data), *how)
        self.same(outcome(self.describe, build, self.source(data, rng), *how), expected, "judge")
        if rng.random() < 0.02:
            self.refuse(build, lambda: outcome(self.describe, build, io.BytesIO(data), *how), expected, "judge")
        if rng.random() < 0.005:
            self.starve(build, lambda: outcome(self.describe, build, io.BytesIO(data), *how), expected, "judge")
        if rng.random() < 0.02:
            state = rng.getrandbits(32)
            found = outcome(self.describe, build, BrokenReads(data, Random(state)), *how)
            whole = outcome(self.describe, plain, BrokenReads(data, Random(state)), *how)
            if found[0] != whole[0]:  # they ask for buffers of other sizes
                self.broken(found, whole, "judge")

    def broken(self, found: Any, whole: Any, what: str) -> None:
        """Compare what came of a broken source, where both broke (one may ask more often, and so break elsewhere)."""
        kinds = {"OSError", "EOFError", "TypeError", "ReadError", "is"}
        self.compared += 1
        if found[0] not in kinds or whole[0] not in kinds:
            raise DifferenceError(f"{what} from a broken source: C {found!r:.500}, plain {whole!r:.500}")

    def run(self, data: bytes, rng: Random, build: Any, which: int) -> None:
        """A run from bytes: read whole, in a stream, in parts, with and without judgments."""
        how = rng.choice(NAMES), rng.choice(LONGEST)
        ties, best = rng.choice(RULES), rng.randrange(2)
        theirs, all_ours = rng.choice(self.judged)
        ours = all_ours[which]
        expected = outcome(plain.rank, theirs, io.BytesIO(data), ties, best, *how)
        what = f"ties={ties} best={best} longest={how[1]}"
        probability = rng.random()
        self.same(outcome(build.rank, ours, self.source(data, rng), ties, best, *how), expected, f"rank {what}")
        found = outcome(build.rank_stream, ours, self.source(data, rng), -1, False, ties, best, *how)
        if found == ("is", None):
            self.compared += 1
            if not has_split_topic(data):
                raise DifferenceError(f"rank_stream {what}: None, but every topic's lines stand together")
        else:
            self.same(found, expected, f"rank_stream {what}")
        if probability < 0.3:
            documents = outcome(plain.rank, None, io.BytesIO(data), ties, best, *how)
            found = outcome(build.rank, None, self.source(data, rng), ties, best, *how)
            self.same(found, documents, f"rank None {what}")
        elif probability < 0.5:
            self.piece(data, rng, build, ours, theirs)
        elif probability < 0.55:
            self.parts(data, rng, build, ours, theirs)
        elif probability < 0.56:
            state = rng.getrandbits(32)
            found = outcome(build.rank, ours, BrokenReads(data, Random(state)), ties, best, *how)
            whole = outcome(plain.rank, theirs, BrokenReads(data, Random(state)), ties, best, *how)
            self.broken(found, whole, "rank")
            found = outcome(build.rank_stream, ours, BrokenReads(data, rng), -1, False, ties, best, *how)
            self.broken(found, whole, "rank_stream")
        elif probability < 0.58:
            self.refuse(
                build, lambda: outcome(build.rank, ours, io.BytesIO(data), ties, best, *how), expected, f"rank {what}"
            )
            documents = outcome(plain.rank, None, io.BytesIO(data), ties, best, *how)
            self.refuse(
                build, lambda: outcome(build.rank, None, io.BytesIO(data), ties, best, *how), documents, "rank None"
            )
        elif probability < 0.585:
            fd = self.descriptor(data)
            self.starve(
                build,
                lambda: os.lseek(fd, 0, 0) or outcome(build.rank, ours, fd, ties, best, *how),
                expected,
                f"rank {what}",
            )
        elif probability < 0.59:
            self.bad_descriptor(rng.choice((-1, 1 << 20, 1 << 40, 1 << 80)), build, ours)
        elif probability < 0.6:
            whole = outcome(build.rank_stream, ours, io.BytesIO(data), -1, False, ties, best, *how)
            self.refuse(
                build,
                lambda: outcome(build.rank_stream, ours, io.BytesIO(data), -1, False, ties, best, *how),
                whole,
                f"rank_stream {what}",
            )

    def bad_descriptor(self, fd: int, build: Any, ours: Any) -> None:
        """A number that is no open file."""
        self.compared += 1
        for call in (
            lambda: build.judge(fd, "bad"),
            lambda: build.rank(ours, fd, 0, 0, "bad"),
            lambda: build.rank_stream(ours, fd, -1, False, 0, 0, "bad"),
        ):
            found = outcome(call)
            if found[0] not in ("OSError", "ValueError", "OverflowError"):
                raise DifferenceError(f"descriptor {fd}: {found!r:.200}")

    def piece(self, data: bytes, rng: Random, build: Any, ours: Any, theirs: Any) -> None:
        """A stream that starts at a line in the middle, or stops anywhere."""
        ties, best = rng.choice(RULES), rng.randrange(2)
        start = 0 if rng.random() < 0.3 else data.rfind(b"\n", 0, rng.randrange(len(data) + 1)) + 1
        length = rng.randrange(len(data) - start + 1)
        piece = (inputs.BOM if start else b"") + data[start : start + length]  # the twin takes one mark away
        expected = outcome(plain.rank, theirs, io.BytesIO(piece), ties, best, "piece")
        fd = self.descriptor(data)
        os.lseek(fd, start, os.SEEK_SET)
        found = outcome(build.rank_stream, ours, fd, length, start > 0, ties, best, "piece")
        if found != ("is", None):
            self.same(found, expected, f"rank_stream of bytes {start}+{length}")
        elif not has_split_topic(piece):
            raise DifferenceError(f"rank_stream of bytes {start}+{length}: None without a split topic")

    def parts(self, data: bytes, rng: Random, build: Any, ours: Any, theirs: Any) -> None:
        """A run file in parts, as threads read a big one."""
        read = self.read
        ties, best, wanted = rng.choice(("docno", "rank", "file")), rng.choice(("error", "best")), rng.randrange(2, 6)
        how = {"groups": rng.random() < 0.5, "score_dtype": rng.choice(("float64", "float32"))}
        self.descriptor(data)
        run = read.Run(None, "input", path=self.path)

        def ranked(reader: Any, judgments: Any) -> Any:
            read.reader = reader
            read.is_compiled = lambda name: reader is not plain
            qrels = read.Qrels(judgments, "qrels")
            parts = run.parts(wanted)
            if len(parts) > 1:
                answer = run.rank_parts(qrels, parts, ties, best, lambda f, items: [f(x) for x in items], **how)
            else:
                answer = run.rank(qrels, ties, best, **how)
            return answer.lists.tolist(), answer.hits.tolist(), answer.extra, answer.tag

        self.same(outcome(ranked, build, ours), outcome(ranked, plain, theirs), f"parts ties={ties} {best}")

    def table(self, origin: Any, rng: Random, build: Any, which: int) -> None:
        """A dictionary or columns, as judgments and as a run."""
        name = rng.choice(NAMES)
        ties, best = rng.choice(RULES), rng.randrange(2)
        theirs, all_ours = rng.choice(self.judged)
        if rng.random() < 0.5:
            calls = [(self.describe, (build, origin, name), (plain, origin, name))]
            if isinstance(origin, tuple):  # a column of subtopics, some of which come again
                origin = origin[0], rng.choice((origin[1], origin[0], ["s", "t"] * len(origin[0]))), *origin[1:]
                calls.append((self.describe, (build, origin, name, 1000, True), (plain, origin, name, 1000, True)))
        else:
            calls = [
                (None, (all_ours[which], origin, ties, best, name), (theirs, origin, ties, best, name)),
                (None, (None, origin, ties, best, name), (None, origin, ties, best, name)),
            ]
        things = things_in(origin)
        for function, ours, other in calls:
            expected = outcome(function or plain.rank, *other)
            before = [sys.getrefcount(thing) for thing in things]
            found = outcome(function or build.rank, *ours)
            self.same(found, expected, f"table ties={ties} best={best}")
            del found
            if [sys.getrefcount(thing) for thing in things] != before:
                raise DifferenceError("table: a reference is kept")
            if rng.random() < 0.04:

                def call(function: Any = function, ours: Any = ours) -> Any:
                    return outcome(function or build.rank, *ours)

                self.refuse(build, call, expected, "table")
                self.starve(build, call, expected, "table")

    def changing(self, rng: Random, build: Any, which: int) -> None:
        """A table that changes while it is read: anything but a crash."""
        ours = rng.choice(self.judged)[1][which]
        kind = rng.randrange(3)
        origin = inputs.changing_table(rng)
        if kind == 0:
            outcome(self.describe, build, origin, "changing")
        else:
            outcome(build.rank, ours if kind == 1 else None, origin, 0, 0, "changing")
        self.compared += 1

    def one(self, number: int) -> None:
        """Compare the readers on the input with this number."""
        rng, kind, origin = make(self.seed, number)
        which = rng.choices(range(len(self.builds)), (5, 3, 2)[: len(self.builds)])[0]
        build = self.builds[which]
        live = build._live()
        if kind == "run":
            self.run(origin, rng, build, which)
        elif kind == "table":
            self.table(origin, rng, build, which)
        elif kind == "changing":
            self.changing(rng, build, which)
        else:
            self.qrels(origin, rng, build)
        if build._live() != live:
            raise DifferenceError(f"{build._live() - live} blocks kept")


def make(seed: int, number: int) -> tuple[Random, str, Any]:
    """Return the probability, the kind and the input that belong to a number."""
    rng = Random(f"{seed}:{number}")
    kind = rng.choices(KINDS, (58, 22, 6, 13.7, 0.3))[0]
    if kind == "run":
        return rng, kind, inputs.mutated(rng, inputs.run_file(rng))
    if kind == "qrels":
        return rng, kind, inputs.mutated(rng, inputs.qrels_file(rng, rng.random() < 0.5))
    if kind == "numbers":
        return rng, kind, b"\n".join(inputs.numbers_file(rng))
    return rng, kind, inputs.table(rng) if kind == "table" else None


def things_in(table: Any) -> list[Any]:
    """Return some of the objects of a table, and itself; none that Python shares (small integers, short strings)."""
    if isinstance(table, dict):
        things = [table, *table, *table.values()]
    else:
        things = [*table, *(column[-1] for column in table if column)]
    return [x for x in things if isinstance(x, list | dict) or (isinstance(x, str) and len(x) > 1)]


def has_split_topic(data: bytes) -> bool:
    """Tell whether a topic's lines do not stand together."""
    seen: set[bytes] = set()
    last = None
    for line in data.removeprefix(inputs.BOM).split(b"\n"):
        columns = line.split(None, 1)
        if not columns or columns[0].startswith(b"#"):
            continue
        if columns[0] != last and columns[0] in seen:
            return True
        last = columns[0]
        seen.add(last)
    return False


def main(arguments: list[str]) -> int:
    """Work off the numbers first, first + step, ... below the end; tell in a small file which one is at work."""
    seed, first, end, step, every = map(int, arguments[:5])
    state, *builds = arguments[5:]
    warnings.simplefilter("ignore")
    began = last = time.monotonic()
    with open(state, "r+b") as file, tempfile.TemporaryDirectory(dir=os.path.dirname(state)) as folder:
        at_work = mmap.mmap(file.fileno(), 16)
        worker = Worker(builds, seed, folder)
        for number in range(first, end, step):
            at_work[:8] = number.to_bytes(8, "little")
            try:
                worker.one(number)
            except DifferenceError as difference:
                print(f"input {number} of seed {seed}: {difference}", flush=True)
                return 3
            if every and time.monotonic() - last > every:
                last = time.monotonic()
                print(f"{number - first:,} of {end - first:,} after {last - began:.0f} s", flush=True)
        at_work[8:16] = b"finished"
    done = {"compared": worker.compared, "refused": worker.refused}
    Path(state).with_suffix(".json").write_text(json.dumps(done))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
