"""Mutation check: deliberate bugs, one at a time, each of which the tests must catch.

``python fuzz/mutants.py`` clones the last commit into a temporary folder, installs it there, and runs all tests, which
must pass. Then it tries every bug below, first with the tests of ``make quick``, then, if none of these failed, with
all. Each takes up to half a minute, or as long as all tests; the first test that failed is printed. ``--only TEXT``
tries those whose file or words have it, ``--list`` shows them. The exit code is 1 if a bug was not caught.

A bug is a text that stands in its file once, and what takes its place: `tests/test_mutants.py` sees that it still does.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
_FAILED = re.compile(r"^(?:FAILED|ERROR) ((?:tests|src)/.*?)(?: - .*)?$", re.MULTILINE)


class Mutant(NamedTuple):
    """A deliberate bug: in which file below src/amble, what stands there, what takes its place, what is wrong then."""

    file: str
    old: str
    new: str
    wrong: str


MUTANTS = (
    Mutant(
        "native/walker.c",
        "here->seen = mark + before + (before + 1 < depth);",
        "here->seen = mark + (before + 1 < depth);",
        "a third visit pays as a second one",
    ),
    Mutant(
        "native/walker.c",
        "if (at >= end) return visits;",
        "if (at > end) return visits;",
        "walkers look at one rank below the end of the list",
    ),
    Mutant(
        "native/number.h",
        "(cut == 0x400 && (rest || (kept & 1)))",
        "(cut == 0x400 && rest)",
        "a number halfway between two doubles is rounded down",
    ),
    Mutant(
        "native/number.h",
        "if (m > 1ULL << 53) return 0;",
        "if (m > 1ULL << 54) return 0;",
        "a score of 16 digits is rounded twice",
    ),
    Mutant(
        "io/trec.py",
        "else repr(float(grade))",
        'else f"{grade:g}"',
        "grades are written with six digits",
    ),
    Mutant(
        "rankings/score_arrays.py",
        "tied &= np.arange(1, width) < self._lists[:, 1:2]",
        "pass",
        "cells without a document are counted as tied documents",
    ),
    Mutant(
        "sessions/building.py",
        "topics = dict.fromkeys(query.topic for query in entry.queries)",
        "topics = [query.topic for query in entry.queries]",
        "judgments count twice for a session that asks one topic twice",
    ),
    Mutant(
        "distributions/partial_order.py",
        "direct = better & ~_product(better, better)",
        "direct = better",
        "the Hasse diagram has edges that follow from others",
    ),
    Mutant(
        "expressions/domains.py",
        "if isinstance(value, bool) or value not in self.words:",
        "if value not in self.words:",
        "True is taken as the word 1",
    ),
    Mutant(
        "users/stationary.py",
        "weights[0] = model.loop\n    out",
        "weights[0] = 0.0\n    out",
        "Markov models without counts lose their loops",
    ),
    Mutant(
        "measures/trec_names.py",
        '"unj_#": ("5", "10", "20"),',
        '"unj_#": ("5", "10", "15"),',
        "another cut-off of unj than trec_eval prints",
    ),
    Mutant(
        "evaluation/standardisation.py",
        "column = np.log(np.maximum(column, LEAST))",
        "column = np.log(column)",
        "a standardised GMAP of 0 has no floor",
    ),
    Mutant(
        "evaluation/exposure_scores.py",
        "((2 * rank - n - 1) * np.sort(values))",
        "((2 * rank - n) * np.sort(values))",
        "Gini's coefficient counts ranks from 0",
    ),
    Mutant(
        "comparison/resampling.py",
        "(extreme + 1) / (rounds + 1)",
        "extreme / rounds",
        "a p-value drawn at random may be 0",
    ),
    Mutant(
        "metaevaluation/correlation.py",
        "(mean + u / 2.0) / (up + u)",
        "(mean + u) / (up + u)",
        "tau_AP takes tied systems as concordant",
    ),
    Mutant(
        "metaevaluation/topic_set_sizes.py",
        "topics * difference**2 / (2.0 * variance)",
        "topics * difference**2 / variance",
        "the power of a t-test takes the variance of a score for that of a difference",
    ),
    Mutant(
        "metaevaluation/swaps.py",
        "np.minimum(np.exp(my + slope * (topics - mx)), 1.0)",
        "np.exp(my + slope * (topics - mx))",
        "an extrapolated swap rate exceeds 1",
    ),
    Mutant(
        "fusion.py",
        "rest = (c - n + 1) / 2",
        "rest = (c - n) / 2",
        "documents that a run has not get too few of Borda's points",
    ),
    Mutant(
        "judging/assessor_agreement.py",
        "middle = np.cumsum(n) - n / 2",
        "middle = np.cumsum(n)",
        "Krippendorff's ordinal distance counts a grade whole",
    ),
    Mutant(
        "logs/dwell_times.py",
        "np.divide(visits - 1.0, seconds,",
        "np.divide(visits, seconds,",
        "rates of holding times are biased",
    ),
    Mutant(
        "logs/privacy.py",
        "return np.asarray(_groups(counts) >= smallest)",
        "return np.asarray(_groups(counts) > smallest)",
        "a count with just enough sessions is suppressed",
    ),
    Mutant(
        "retrieval/scorers.py",
        "np.log(np.maximum(documents - df, df) / df)",
        "np.log((documents - df) / df)",
        "SMART's p gives weights below 0",
    ),
    Mutant(
        "compat/beir.py",
        "return len(hits) / max(min(len(relevant), k), 1)",
        "return len(hits) / max(len(relevant), 1)",
        "capped recall is not capped",
    ),
    Mutant(
        "validation/run_check.py",
        "elif tag != self.tag:",
        "elif tag.lower() != self.tag.lower():",
        "a second tag in another case is overlooked",
    ),
    Mutant(
        "reporting/gates.py",
        "bool(reaches(np.array(p), design.alpha))",
        "bool(reaches(np.array(p), design.alpha / 2))",
        "a gate fails at half its alpha",
    ),
    Mutant(
        "reporting/assets/explore_users.js",
        "return Math.max(1 - both - (p - (both - part) + (q - part)), 0);",
        "return Math.max(1 - both, 0);",
        "the explorer's walkers stop with a rounding error",
    ),
)


def _run(command: list[str], folder: Path, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, env=os.environ | env, capture_output=True, text=True)


def clone(folder: Path) -> None:
    """The last commit, in a folder of its own, installed there."""
    for command in (["git", "clone", "-q", str(ROOT), str(folder)], ["make", "-s", "-C", str(folder), ".venv/.test"]):
        done = _run(command, ROOT)
        if done.returncode:
            sys.exit(f"{' '.join(command)}: {done.stderr.strip()}")


def first_failed(folder: Path, since: str = "") -> str | None:
    """The first test that fails, of those that a change since a commit brings, or of all; None if all pass."""
    tests = [str(folder / ".venv/bin/python"), "-m", "pytest", "-n", "auto", "--dist", "worksteal", "-x", "-q"]
    # that a bug's text no longer stands in its file is seen by a test, which would fail with every bug
    own = ["-p", "no:cacheprovider", "--ignore", "tests/test_mutants.py"]
    done = _run([*tests, *own], folder, AMBLE_QUICK=since)
    if not done.returncode:
        return None
    if found := _FAILED.search(done.stdout):
        return found[1]
    sys.exit(f"pytest, exit code {done.returncode}: {(done.stdout + done.stderr).strip()[-1000:]}")


def caught_by(folder: Path, mutant: Mutant) -> str | None:
    """The first test found that fails with a bug; None if none does."""
    path = folder / "src" / "amble" / mutant.file
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
    try:
        built = _run(["make", "-s", ".venv/.test"], folder)
        if built.returncode:
            return "the compiler"
        return first_failed(folder, "HEAD") or first_failed(folder)
    finally:
        path.write_text(text, encoding="utf-8")


def main() -> None:
    """Try them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="TEXT", help="those whose file, or what is wrong then, has it")
    parser.add_argument("--list", action="store_true", help="show them, and try none")
    args = parser.parse_args()
    chosen = [one for one in MUTANTS if args.only in one.file or args.only in one.wrong]
    if args.list or not chosen:
        print("\n".join(f"{one.file}: {one.wrong}" for one in chosen) or f"no bug has {args.only!r}")
        sys.exit(0 if chosen else 2)
    survived = 0
    with tempfile.TemporaryDirectory(prefix="amble-mutants-") as folder:
        clone(Path(folder) / "amble")
        if found := first_failed(Path(folder) / "amble"):
            sys.exit(f"{found} fails without a bug")
        for one in chosen:
            start = time.perf_counter()
            found = caught_by(Path(folder) / "amble", one)
            survived += found is None
            verdict = f"caught by {found}" if found else "NOT CAUGHT"
            print(f"{one.file}: {one.wrong}: {verdict} ({time.perf_counter() - start:.0f} s)", flush=True)
    print(f"{len(chosen) - survived} of {len(chosen)} caught")
    sys.exit(survived > 0)


if __name__ == "__main__":
    main()
