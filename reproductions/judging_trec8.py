"""TREC-8 pooled, judged in other orders, and fused: what is in pools of different depth, and what judging could cost.

There are no published figures for exactly these runs and this pool, so none are compared. What the papers say of the
orders is checked below the table: move-to-front saves judgments (Cormack, Palmer and Clarke, 1998), and MaxMean does at
least as well (Losada, Parapar and Barreiro, 2017). Documents that NIST did not judge are left out of the pool. Run with
``AMBLE_DATA=FOLDER python reproductions/judging_trec8.py``; two minutes.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
from figures import head, note, run, say, show, trec8_folder

import amble
from amble.fusion import METHODS
from amble.judging import ORDERS, simulate_judging

FOUND = (0.5, 0.8, 0.95)
DEPTHS = (1, 10, 20, 50, 100)


def pools(paths: list[str], qrels: amble.Qrels) -> amble.Pool:
    """What pools of different depth hold; the deepest, which has the others in it, is returned."""
    head("Pools")
    relevant = int((qrels.grades >= 1).sum())
    rows: list[list[Any]] = []
    pool = amble.pool(paths, max(DEPTHS))
    grades = pool.grades(qrels)
    for depth in DEPTHS:
        within = pool.first <= depth
        size, judged = int(within.sum()), int((np.isfinite(grades) & within).sum())
        found = int(((grades >= 1) & within).sum())
        rows.append([depth, size, judged, 100 * judged / size, found, 100 * found / relevant])
    show(["depth", "documents", "judged", "% judged", "relevant", "% of all relevant"], rows, digits=1)
    return pool


def orders(pool: amble.Pool, qrels: amble.Qrels, seeds: int) -> list[tuple[str, bool]]:
    """Judgments that each order takes, and what the papers say of it."""
    efforts = []
    for seed in range(seeds):
        began = time.monotonic()
        efforts.append(simulate_judging(pool, qrels, ORDERS, seed=seed))
        note(f"seed {seed}: {time.monotonic() - began:.1f} s")
    needed = np.array([[effort.needed(share).sum(axis=1) for share in FOUND] for effort in efforts])
    total = int(efforts[0].judged.sum())
    mean = needed.mean(axis=0).T  # (orders, shares)
    head(f"Judgments until that share of each topic's relevant documents is found, of {total:,}; mean of {seeds} seeds")
    rows = [
        [order, *(round(x) for x in mean[i]), *(100 * x / total for x in mean[i])] for i, order in enumerate(ORDERS)
    ]
    show(["order", *(f"{100 * r:g} %" for r in FOUND), *(f"{100 * r:g} %, in % of all" for r in FOUND)], rows, digits=1)
    at = {order: i for i, order in enumerate(ORDERS)}
    return [
        ("move-to-front needs fewer judgments than going by rank", bool((mean[at["mtf"]] < mean[at["rank"]]).all())),
        ("MaxMean needs no more than move-to-front", bool((mean[at["mm"]] <= mean[at["mtf"]]).all())),
    ]


def fused(paths: list[str], qrels: amble.Qrels) -> None:
    """Scores of all runs fused, beside the best and the middle one of them."""
    head("All runs fused, beside single ones")
    measures = "AP P@10 nDCG@10"
    rows: list[list[Any]] = []
    for method in METHODS:
        run = amble.fuse(paths, method)
        rows.append([method, *amble.evaluate(qrels, [run], measures).means()[0].tolist()])
    single = amble.evaluate(qrels, paths, measures)
    means = single.means()
    by_ap = np.argsort(-means[:, 0])
    for what, i in (("best by AP", by_ap[0]), ("in the middle", by_ap[len(by_ap) // 2])):
        rows.append([f"{single.runs[i]} ({what})", *means[i].tolist()])
    show(["run", *measures.split()], rows)


def main(argv: list[str]) -> int:
    """Pool, judge, fuse and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "folder", nargs="?", type=Path, help="where qrels.txt and runs/ are (default: $AMBLE_DATA/trec8)"
    )
    parser.add_argument("--runs", type=int, metavar="N", help="only the first N runs by name (default: all)")
    parser.add_argument("--seeds", type=int, default=5, metavar="N", help="orders are drawn N times (default: 5)")
    args = parser.parse_args(argv)
    folder = trec8_folder(args.folder)
    for option, least in (("runs", 2), ("seeds", 1)):
        if getattr(args, option) is not None and getattr(args, option) < least:
            raise amble.AmbleError(f"--{option} {getattr(args, option)}: expected at least {least}")
    paths = sorted(str(path) for path in (folder / "runs").iterdir() if path.is_file())[: args.runs]
    qrels = amble.read_qrels(str(folder / "qrels.txt"))
    say(f"TREC-8 ad hoc: {len(paths)} runs, {len(qrels.topics)} topics, {len(qrels):,} judgments")
    claims = orders(pools(paths, qrels), qrels, args.seeds)
    say()
    for claim, holds in claims:
        say(f"{'holds' if holds else 'does not hold':14s} {claim}")
    fused(paths, qrels)
    return 0 if all(holds for _, holds in claims) else 1


if __name__ == "__main__":
    run(main)
