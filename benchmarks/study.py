"""Whether a study of continuation can be trusted: people with a known C(i | T, gain), as few as a lab has.

A study has 200 pages of ten results: 40 persons, each at five tasks whose targets T are 1, 3 and 5, a third of all
documents relevant. The logit of going on after rank i is a number for the rank, plus 0.25 T, minus 0.6 times the gain
so far; under the null hypothesis neither counts. With person effects, each person has a normal number (sd 0.7) of her
own. Studies are written to a file, read and studied as any log is. Printed, each with its Monte Carlo standard error:

* how often Wilson's 95 % intervals cover the known C, over all cells (rank, T, gain), and over those of 5 pages or
  more;
* how often the tests "C falls with gain", "C rises with T", and the tests of equal groups (in the hazard model, and of
  RBP's p by `fit_groups`), find at alpha = 0.05 what is not there (their level), and what is there (their power);
* how often the 95 % interval of `CWL(user='fit.toml#continuation.T3')`, a list scored by those with T = 3, covers the
  score by their known C.

Run ``python benchmarks/study.py [--studies N] [--seed S]``; needs the extras ``logs`` and ``stats``.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import amble
from amble.evaluation.fitted_intervals import interval_of
from amble.logs import fit_groups, read_log, study_continuation
from amble.measures.fitted_parameters import resampled

Array = NDArray[np.float64]
PERSONS, TASKS, RANKS = 40, 5, 10
TARGETS = (1.0, 3.0, 5.0)
RELEVANT = 1 / 3
BASE = np.linspace(0.9, 1.4, RANKS)  # by rank
ALPHA = 0.05
GRADES = [1, 0, 0, 1, 0, 0, 1, 0, 0, 1]


def going_on(rank: int, target: float, gain: Array | float, effects: Sequence[float]) -> Array:
    """The known C(i | T, gain)."""
    return np.asarray(1 / (1 + np.exp(-(BASE[rank - 1] + effects[0] * target + effects[1] * np.asarray(gain)))))


def write_study(path: Path, rng: np.random.Generator, effects: Sequence[float], spread: float) -> None:
    """A log in which everything read is a click."""
    lines = ["person\tsession\ttask\tT\trank\taction\tgrade"]
    own = rng.normal(0, spread, PERSONS) if spread else np.zeros(PERSONS)
    for person in range(PERSONS):
        for task in range(TASKS):
            target = TARGETS[(person + task) % len(TARGETS)]
            grades = (rng.random(RANKS) < RELEVANT).astype(int)
            head = f"{person}\t{task}\tT{target:g}\t{target:g}\t"
            lines += [f"{head}{i}\tshow\t{g}" for i, g in enumerate(grades, 1)]
            for rank in range(1, RANKS + 1):
                lines.append(f"{head}{rank}\tclick\t")
                c = float(going_on(rank, target, grades[:rank].sum(), effects))
                if rng.random() > 1 / (1 + (1 - c) / c * np.exp(-own[person])):
                    break
    path.write_text("\n".join(lines) + "\n")


def score_of(target: float, effects: Sequence[float]) -> float:
    """The score of `GRADES` by those of a target, whatever their gain: the states of the gain followed exactly."""
    states = np.zeros(RANKS + 1)
    states[0] = 1.0
    c = []
    for rank in range(1, RANKS):
        states = np.append(states * (1 - RELEVANT), 0)[:-1] + np.append(0, states * RELEVANT)[:-1]
        onward = states * going_on(rank, target, np.arange(RANKS + 1.0), effects)
        c.append(onward.sum() / states.sum())
        states = onward
    visits = np.cumprod([1.0, *c])
    beyond = visits[-1] * c[-1] / (1 - c[-1])  # C of the last rank but one holds further down
    return float(visits @ GRADES / (visits.sum() + beyond))


def one_study(path: Path, effects: Sequence[float], *, scored: bool = False) -> dict[str, list[bool]]:
    """What a study found: which intervals cover, which tests reject."""
    counts = read_log(path, "table", by="task", target="T", depth=RANKS, threads=1)
    study = study_continuation(counts)
    out: dict[str, list[bool]] = {"cells": [], "cells of 5 or more": []}
    cells: Any = study.cells()
    for target, rank, gain, reached, _, _, low, high in cells:
        known = float(going_on(rank, target, gain, effects))
        out["cells"].append(low <= known <= high)
        if reached >= 5:
            out["cells of 5 or more"].append(low <= known <= high)
    hazard: Any = study.hazard()
    tests = {row[0]: float(row[6]) for row in hazard if row[6] is not None}
    out |= {f"test: {name}": [tests[name] <= ALPHA] for name in ("gain", "T", "task")}
    groups = fit_groups(counts, ["rbp", "continuation"] if scored else ["rbp"], rounds=300)
    equality: Any = groups.equality()
    out["test: equal p of RBP"] = [float(row[4]) <= ALPHA for row in equality if row[0] == "rbp"]
    if scored:
        fit = path.with_name("fit.toml")
        amble.write_fit(fit, groups.fitted)
        m = amble.parse(f"CWL(user='{fit}#continuation.T3')")
        low, high = interval_of(np.array([one.value(GRADES) for one in resampled(m, 100)]), 0.95)
        out["CWL"] = [bool(low <= score_of(3.0, effects) <= high)]
    return out


def main() -> None:
    """Simulate, study, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    print(f"{args.studies} studies each of {PERSONS * TASKS} pages, {PERSONS} persons")
    print(f"{'study':<34} {'share of':<24} {'share':>7} {'error':>7}")
    settings = {
        "C depends on T and gain": ((0.25, -0.6), 0.0),
        "null": ((0.0, 0.0), 0.0),
        "null, with person effects": ((0.0, 0.0), 0.7),
        "T and gain, with person effects": ((0.25, -0.6), 0.7),
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "study.tsv"
        for name, (effects, spread) in settings.items():
            found: dict[str, list[list[bool]]] = {}
            for i in range(args.studies):
                write_study(path, np.random.default_rng((args.seed, i)), effects, spread)
                for key, hits in one_study(path, effects, scored=not spread and effects[0] > 0).items():
                    if not (spread and key.startswith("cells")):  # with person effects no one C is known
                        found.setdefault(key, []).append(hits)
            for key, studies in found.items():
                share = sum(map(sum, studies)) / sum(map(len, studies))
                # studies are independent, cells of one need not be
                sizes = np.array([len(x) for x in studies])
                off = np.array([sum(x) for x in studies]) - share * sizes
                error = float(np.sqrt((off**2).sum()) / sizes.sum())
                print(f"{name:<34} {key:<24} {share:>7.3f} {error:>7.3f}", flush=True)


if __name__ == "__main__":
    main()
