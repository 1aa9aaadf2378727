"""Race commands side by side: cold children, taken in turn, measured by the kernel.

Every lap is a new process, so start-up counts. Contenders take turns, so that a busy moment of the
machine hits all of them alike, and each round starts with another one. Wall time is taken around
the whole process; processor time and peak memory come from ``os.wait4`` (so this needs a Unix).
A lap before the first round is not measured: it fills the caches, as of files and of compiled code,
and checks that the contender reads what it should.

On Linux a child's peak is at least this process's own: import nothing large beside this module.

A contender is any command line. One written in Python can be built with `snippet`, and then also
reports the time inside, after its imports.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata, util
from statistics import median
from typing import IO

NAN = float("nan")
CHECK = "RACE_CHECK"  # set in the environment of a child that is to count what it read
REPORT = "race-report:"  # opens the line on which a child built by `snippet` reports


@dataclass(frozen=True)
class Contender:
    """One command in a race.

    Parameters
    ----------
    name : str
        Its row in the table.
    argv : tuple of str
        The command.
    env : mapping
        Set on top of this process's environment.
    times : float
        How often the repeated part of a snippet would have to run to do the whole work; its time is
        multiplied by this, its memory is not.
    note : str
        Printed behind the name.
    absent : str
        Why it cannot run, as ``"not installed"``; empty when it can.
    expect : int or None
        The count a snippet has to report, when it is known.
    """

    name: str
    argv: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    times: float = 1.0
    note: str = ""
    absent: str = ""
    expect: int | None = None


@dataclass(frozen=True)
class Lap:
    """What one child took: seconds, and megabytes at its peak; ``trouble`` when it failed.

    ``inside`` is the wall time of a `snippet`'s timed steps, ``cpu_inside`` the processor time of the repeated one.
    """

    wall: float = NAN
    inside: float = NAN
    cpu: float = NAN
    cpu_inside: float = NAN
    rss: float = NAN
    trouble: str = ""


def snippet(setup: str, once: str, repeated: str, count: str, *args: object) -> tuple[str, ...]:
    """Build a Python child that times two steps after its imports.

    Parameters
    ----------
    setup : str
        Statements that are not timed inside: imports.
    once : str
        Timed statements that any amount of work needs once.
    repeated : str
        Timed statements that grow with the work; see ``Contender.times``.
    count : str
        Expression of how much was read, evaluated afterwards in the lap that is not measured.
    *args : object
        Left for the statements in ``args``, a list of strings.

    Returns
    -------
    tuple of str
        A command for `Contender`.
    """
    source = "\n".join(
        [
            "import json, os, sys, time",
            "args = sys.argv[1:]",
            setup,
            "_t0 = time.perf_counter()",
            once,
            "_t1, _c1 = time.perf_counter(), time.process_time()",
            repeated,
            "_t2, _c2 = time.perf_counter(), time.process_time()",
            "_report = {'inside': _t2 - _t0, 'part': _t2 - _t1, 'cpu': _c2 - _c1}",
            f"if {CHECK!r} in os.environ: _report['count'] = int({count})",
            f"print({REPORT!r}, json.dumps(_report))",
        ]
    )
    return (sys.executable, "-P", "-c", source, *map(str, args))


def lap(contender: Contender, check: bool = False) -> Lap:
    """Run a contender once, in a new process, and measure it, or let it count what it reads."""
    env = {**os.environ, **contender.env, **({CHECK: "1"} if check else {})}
    env.pop("PYTHONDONTWRITEBYTECODE", None)  # modules are compiled once, as when installed
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.perf_counter()
        child = subprocess.Popen(
            contender.argv,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            env=env,
        )
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            err.seek(0)
            said = err.read().decode(errors="replace").strip().splitlines()
            return Lap(trouble=said[-1] if said else f"exit status {child.returncode}")
        report = _report(out)
    if check and contender.expect is not None and report.get("count") != contender.expect:
        return Lap(trouble=f"counted {report.get('count')}, expected {contender.expect}")
    more = contender.times - 1
    return Lap(
        wall=wall + more * report.get("part", 0.0),
        inside=report.get("inside", NAN) + more * report.get("part", 0.0),
        cpu=usage.ru_utime + usage.ru_stime + more * report.get("cpu", 0.0),
        cpu_inside=contender.times * report.get("cpu", NAN),
        rss=usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6,
    )


def _report(out: IO[bytes]) -> dict[str, float]:
    """Find the report at the end of what a child printed."""
    out.seek(max(0, out.seek(0, os.SEEK_END) - 4096))
    last = out.read().decode(errors="replace").strip().rpartition("\n")[2]
    return dict(json.loads(last.removeprefix(REPORT))) if last.startswith(REPORT) else {}


def race(
    contenders: Sequence[Contender],
    rounds: int,
    tell: Callable[[str], object] = lambda _: None,
) -> dict[str, list[Lap]]:
    """Let every contender run once a round, each round starting with the next one.

    Parameters
    ----------
    contenders : sequence of Contender
        Those that are absent are left out, and so are those that failed, from then on.
    rounds : int
        Laps of each.
    tell : callable
        Told of each lap as it ends.

    Returns
    -------
    dict
        The laps by the contender's name.
    """
    laps: dict[str, list[Lap]] = {each.name: [] for each in contenders}
    for turn in range(rounds + 1):
        first = max(0, turn - 1) % max(1, len(contenders))
        for each in (*contenders[first:], *contenders[:first]):
            done = laps[each.name]
            if each.absent or (done and done[-1].trouble):
                continue
            last = lap(each, check=turn == 0)
            if turn or last.trouble:
                done.append(last)
            tell(f"round {turn} of {rounds}  {each.name}: {last.trouble or f'{last.wall:.3f} s'}")
    return laps


class Watch:
    """How busy the rest of the machine has been since this was made: a race on it may be unfair."""

    def __init__(self) -> None:
        self._start = time.perf_counter(), self._others()

    @staticmethod
    def _others() -> float:
        """Seconds of processor time used so far, but for this process and its children."""
        try:
            with open("/proc/stat", encoding="ascii") as file:
                user, nice, system, _, _, irq, softirq, *_ = map(int, file.readline().split()[1:])
        except (OSError, ValueError):
            return NAN
        own = sum(os.times()[:4])
        return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK") - own

    def __str__(self) -> str:
        since, before = self._start
        busy = (self._others() - before) / max(time.perf_counter() - since, 1e-9)
        if busy != busy:
            return "load of the machine unknown"
        return f"others kept {max(0.0, busy):.1f} of {os.cpu_count()} CPUs busy"


def number(x: float) -> str:
    """Write a figure with three digits that count."""
    return f"{x:.0f}" if x >= 100 else f"{x:#.3g}"


def cell(values: Sequence[float], against: Sequence[float]) -> str:
    """Write smallest and median value, and the smallest as a multiple of the reference's."""
    if not values or values[0] != values[0]:
        return "–"
    text = f"{number(min(values))} / {number(median(values))}"
    if against and min(against) > 0:
        text += f" ({number(min(values) / min(against))}×)"
    return text


def table(
    contenders: Sequence[Contender],
    laps: Mapping[str, Sequence[Lap]],
    reference: str,
) -> str:
    """Write the race as a Markdown table.

    Parameters
    ----------
    contenders : sequence of Contender
        The rows, in this order.
    laps : mapping
        What `race` gave.
    reference : str
        Name of the contender all ratios are against.

    Returns
    -------
    str
        One row a contender; in each cell "min / median (min as a multiple of the reference's)".
    """
    fields = ("wall", "inside", "cpu", "rss")
    base = [each for each in laps.get(reference, ()) if not each.trouble]
    rows = [
        "| contender | wall, whole process (s) | wall inside (s) | CPU (s) | peak memory (MB) |",
        "|---|---|---|---|---|",
    ]
    for each in contenders:
        done = laps.get(each.name, ())
        name = f"{each.name} ({each.note})" if each.note else each.name
        trouble = each.absent or next((x.trouble for x in done if x.trouble), "")
        cells = [trouble.replace("|", "\\|"), "", "", ""] if trouble else []
        for key in () if trouble else fields:
            values, against = ([getattr(x, key) for x in some] for some in (done, base))
            cells.append(cell(values, against))
        rows.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(rows)


def installed(module: str) -> bool:
    """Tell whether a module could be imported, without importing it."""
    return util.find_spec(module) is not None


def machine(*packages: str) -> str:
    """Say in one line what the figures were measured with."""
    found = []
    for package in packages:
        try:
            found.append(f"{package} {metadata.version(package)}")
        except metadata.PackageNotFoundError:
            found.append(f"{package} not installed")
    python = f"{platform.python_implementation()} {platform.python_version()}"
    system = f"{platform.system()} {platform.machine()}"
    return ", ".join([f"{os.cpu_count()} CPUs", system, python, *found])
