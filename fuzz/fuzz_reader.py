"""Fuzz the C reader: mutated files and tables, under sanitizers, every answer compared with the plain twin's.

``python fuzz/fuzz_reader.py --files 200000`` builds the reader with the address and undefined behaviour sanitizers
(three builds: windows of 64 and 256 bytes, so that small files cross their borders, and the real one; a key of the hash
with which ids collide, one that is fixed, one that was drawn), starts
workers with the sanitizers' runtime loaded, and lets them compare the two readers: the same values, bit for bit, or
the same exception with the same message; every allocation refused in turn; nothing left allocated.

An input is known by the seed and its number: ``--seed 1 --first 4711 --files 1`` does one again.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import time
from pathlib import Path
from tempfile import TemporaryDirectory

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
OUT = ROOT / ".fuzz"
SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer", "-g", "-O1"]
BUILDS = {
    "small": ["-DWINDOW=((size_t)64)"],
    "middle": ["-DWINDOW=((size_t)256)", "-DAMBLE_PLAIN_C"],
    "real": [],
}
RUNTIMES = [["libasan.so", "libubsan.so"], ["libclang_rt.asan-x86_64.so"], ["libclang_rt.asan-aarch64.so"]]


class SkippedError(Exception):
    """Raised where a machine cannot do it; the message says why."""


def compiler() -> str:
    """Return the C compiler."""
    for name in (os.environ.get("CC", ""), "cc", "gcc", "clang"):
        if name and (found := shutil.which(name)):
            return found
    raise SkippedError("no C compiler")


def runtimes(cc: str) -> list[str]:
    """Return the sanitizers' shared libraries, to be loaded before everything else."""
    for names in RUNTIMES:
        asked = [subprocess.run([cc, f"-print-file-name={name}"], capture_output=True, text=True) for name in names]
        paths = [answer.stdout.strip() for answer in asked]
        if all(os.path.isabs(path) and os.path.exists(path) for path in paths):
            return [os.path.realpath(path) for path in paths]
    raise SkippedError(f"{cc} has no shared runtime of the address sanitizer")


def flags(cc: str, preload: list[str]) -> list[str]:
    """Return the flags every build has, after a try with a small program."""
    shared = ["-shared-libasan"] if "clang_rt" in preload[0] else []
    out = [*SANITIZERS, *shared, "-shared", "-fPIC", "-std=c11", f"-I{sysconfig.get_path('include')}"]
    with TemporaryDirectory() as folder:
        source = Path(folder, "try.c")
        source.write_text("#define PY_SSIZE_T_CLEAN\n#include <Python.h>\nint amble(int x) { return x + 1; }\n")
        tried = subprocess.run([cc, *out, str(source), "-o", f"{folder}/try.so"], capture_output=True, text=True)
        if tried.returncode:
            raise SkippedError(f"{cc} cannot build with sanitizers: {tried.stderr.strip()[-500:]}")
    env = environment(preload)
    loaded = subprocess.run([sys.executable, "-c", "import numpy"], env=env, capture_output=True, text=True)
    if loaded.returncode:
        raise SkippedError(f"Python does not start with {' '.join(preload)}: {loaded.stderr.strip()[-500:]}")
    return out


def environment(preload: list[str]) -> dict[str, str]:
    """Return the workers' environment."""
    return {
        **os.environ,
        "LD_PRELOAD": " ".join(preload),
        "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=1:allocator_may_return_null=1:detect_stack_use_after_return=0",
        "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1:abort_on_error=1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "PYTHONMALLOC": "malloc",  # what is written into Python's objects is checked as well
        "OPENBLAS_NUM_THREADS": "1",
    }


def build(cc: str, common: list[str]) -> list[str]:
    """Build the reader three times."""
    out, running = [], []
    for name, more in BUILDS.items():
        target = OUT / f"_reader_{name}.so"
        out.append(str(target))
        command = [cc, *common, "-Wall", "-Wextra", "-DAMBLE_CHECK_MEMORY", *more]
        running.append(subprocess.Popen([*command, str(ROOT / "src/amble/native/reader.c"), "-o", str(target)]))
    codes = [process.wait() for process in running]
    if any(codes):
        raise SystemExit("the C reader does not compile")
    return out


def save(seed: int, number: int) -> Path:
    """Write the input with a number where it can be looked at."""
    sys.path.insert(0, str(HERE))
    import compare

    _, kind, origin = compare.make(seed, number)
    path = OUT / f"failed-{seed}-{number}.{kind}"
    if not isinstance(origin, bytes):
        try:
            origin = repr(origin).encode("utf-8", "backslashreplace")
        except LookupError:
            origin = b"(it has no repr; make it again from its number)"
    path.write_bytes(origin)
    return path


def main() -> int:
    """Build, start the workers, add up."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])  # type: ignore[union-attr]
    parser.add_argument("--files", type=int, default=3000, help="how many inputs")
    parser.add_argument("--first", type=int, default=0, help="number of the first one")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1), help="worker processes")
    parser.add_argument(
        "--seconds-progress", type=int, nargs="?", const=10, default=0, help="tell how far it is, every so often"
    )
    args = parser.parse_args()
    OUT.mkdir(exist_ok=True)
    began = time.monotonic()
    try:
        cc = compiler()
        preload = runtimes(cc)
        common = flags(cc, preload)
    except SkippedError as reason:
        print(f"fuzz: skipped: {reason}")
        return 0
    builds = build(cc, common)
    workers = []
    jobs = max(1, min(args.jobs, args.files))
    for job in range(jobs):
        state = OUT / f"job-{job}"
        state.write_bytes(bytes(16))
        state.with_suffix(".json").unlink(missing_ok=True)
        numbers = [args.seed, args.first + job, args.first + args.files, jobs, 0 if job else args.seconds_progress]
        command = [sys.executable, str(HERE / "compare.py"), *map(str, numbers), str(state), *builds]
        workers.append((state, subprocess.Popen(command, env=environment(preload))))
    codes = [process.wait() for _, process in workers]
    compared = refused = 0
    failed = False
    for (state, _), code in zip(workers, codes, strict=True):
        result = state.with_suffix(".json")
        if code == 0 and result.exists():
            counts = json.loads(result.read_text())
            compared += counts["compared"]
            refused += counts["refused"]
            continue
        failed = True
        number = int.from_bytes(state.read_bytes()[:8], "little")
        why = "a difference" if code == 3 else f"the worker ended with {code}"
        print(f"fuzz: FAILED ({why}) at input {number}: {save(args.seed, number)}")
        print(f"fuzz: again with: {sys.argv[0]} --seed {args.seed} --first {number} --files 1")
    if failed:
        return 1
    seconds = time.monotonic() - began
    print(
        f"fuzz: {args.files:,} files, {compared:,} comparisons, {refused:,} allocation failures injected, "
        f"seed {args.seed}, {seconds:.0f} s: no difference, no sanitizer report"
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
