"""How often the orders of Ferrante and Ferro (2020) agree, on all pairs of the TREC-8 ad hoc runs.

Order 1 compares E[T / H], order 2 compares E[T] / E[H], order 3 is stochastic dominance: whatever score users want, no
fewer of them get it. A run's distribution is that of a user who comes with one of the topics. Orders 1 and 2 decide
every pair; order 3 may not. If it does, order 1 has to agree (a distribution that dominates has the greater mean);
order 2 need not. AP's users who do not find what they want read to the end of the list: order 2 counts what they saw
and read, order 1 has them leave with nothing.

  python reproductions/orders_trec8.py data/trec8
  AMBLE_DATA=data python reproductions/orders_trec8.py --users 100000

The folder holds qrels.txt and runs/, with one file per run. Prints tables; writes orders_trec8.tsv and a chart.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from figures import head, note, run, say, show, trec8_folder
from numpy.typing import NDArray

import amble
from amble.distributions.partial_order import order_systems
from amble.evaluation.run_distributions import orders_of
from amble.progress import Progress
from amble.reporting.charts.chart import check_file, save

Array = NDArray[Any]

# who walks, and which of the two orders her measure is
USERS = {
    "AP": "AP's user; order 1 is AP",
    "RBP(p=0.5)": "RBP's user, p = 0.5; order 2 is RBP",
    "RBP(p=0.8)": "RBP's user, p = 0.8; order 2 is RBP",
    "PH(loss=0)": "walks, p = 0.5, q = 0.25",
    "PH": "walks, p = 0.5, q = 0.25, loss 0.25",
}
WALK, FADING = "PH(loss=0)", "PH"
KINDS = {
    "all agree": "order 3 decides; orders 1 and 2 agree with it",
    "2 against 3": "order 3 decides; order 1 agrees, order 2 does not",
    "1 against 3": "order 3 decides; order 1 does not agree",
    "equal": "order 3 finds no difference",
    "1 = 2, no 3": "incomparable by order 3; orders 1 and 2 agree",
    "1 ≠ 2, no 3": "incomparable by order 3; orders 1 and 2 do not agree",
}
DECIDED = ("all agree", "2 against 3", "1 against 3")
COLOURS = ("#2c6fb0", "#d1373f", "#8b1a1a", "#b8bec6", "#f3b562", "#e07b00")

_SAME = 1e-11
_GRID = 4000  # quantiles at which runs are compared


class Count(NamedTuple):
    """What was found for one user: numbers of pairs, or shares."""

    user: str
    how: str
    pairs: int
    kinds: dict[str, int]
    agree12: int
    second: int
    one_topic: float
    one_topic_equal: float
    against: float
    against_most: float
    widest: float


def signs(values: Array) -> Array:
    """How each pair of runs stands to each other by a number: -1, 0, 1."""
    gap = values[:, None] - values[None, :]
    return np.sign(np.where(np.abs(gap) <= _SAME, 0.0, gap)).astype(int)


def kinds(one: Array, two: Array, three: Array) -> dict[str, Array]:
    """Which pairs are of which kind; every pair is of one."""
    decided = (three == 1) | (three == -1)
    return {
        "all agree": decided & (one == three) & (two == three),
        "2 against 3": decided & (one == three) & (two != three),
        "1 against 3": decided & (one != three),
        "equal": three == 0,
        "1 = 2, no 3": (three == 2) & (one == two),
        "1 ≠ 2, no 3": (three == 2) & (one != two),
    }


def against_the_mean(distributions: dict[str, amble.Distribution], one: Array) -> Array:
    """For each pair, the share of users who fare better with the run that order 1 calls worse.

    Users are paired by how well they fare, at a grid of quantiles.
    """
    u = (np.arange(_GRID) + 0.5) / _GRID
    quantiles = np.array([distribution.quantile(u) for distribution in distributions.values()])
    above = quantiles * (1 + 1e-12)
    out = np.zeros(one.shape)
    for i, mine in enumerate(quantiles):
        better, worse = (mine > above).mean(axis=1), (quantiles > above[i]).mean(axis=1)
        out[i] = np.where(one[i] > 0, worse, np.where(one[i] < 0, better, 0.0))
    return out


def counted(
    user: str,
    how: str,
    distributions: dict[str, amble.Distribution],
    orders: Array,
    tolerance: float | None,
    one_topic: Array,
) -> Count:
    """Count the pairs of each kind."""
    upper = np.triu_indices(len(distributions), 1)
    one, two = signs(orders[:, 0]), signs(orders[:, 1])
    three = order_systems(distributions, tolerance=tolerance).matrix.astype(int)
    second = order_systems(distributions, "second", tolerance=tolerance).matrix.astype(int)
    second = np.where((three == 1) | (three == -1), three, second)  # whoever dominates, dominates by the second order
    against = against_the_mean(distributions, one)[upper]
    undecided = three[upper] == 2
    gap = np.abs(orders[:, 0][:, None] - orders[:, 0][None, :])[upper]
    return Count(
        user,
        how,
        upper[0].size,
        {name: int(found[upper].sum()) for name, found in kinds(one, two, three).items()},
        int((one == two)[upper].sum()),
        int((np.abs(second[upper]) == 1).sum()),
        *one_topic.tolist(),
        float(against.mean()),
        float(against[undecided].mean()) if undecided.any() else 0.0,
        float(gap[undecided].max(initial=0.0)),
    )


def exact(rankings: amble.Rankings, measure: str) -> tuple[dict[str, amble.Distribution], Array]:
    """The exact distributions of all runs; mean shares of pairs that order 3 decides on one topic, or finds equal."""
    by_topic, shares = [], []
    line = Progress(f"distributions of {measure}, topics")
    for i, topic in enumerate(rankings.topics, 1):
        by_topic.append(amble.run_distributions(rankings, measure, topics=[topic], progress=lambda done, total: None))
        counts = order_systems(by_topic[-1]).counts
        shares.append(np.array([counts["less"] + counts["greater"], counts["equal"]]) / sum(counts.values()))
        line(i, len(rankings.topics))
    line.close()
    distributions = {name: amble.Distribution.mixture(of[name] for of in by_topic) for name in rankings.runs}
    return distributions, np.mean(shares, axis=0)


def count_all(rankings: amble.Rankings, args: argparse.Namespace) -> list[Count]:
    """Count for every user; for the one who cannot be asked exactly, by simulation."""
    unknown = np.full(2, np.nan)
    fading = amble.run_distributions(rankings, FADING, users=args.users, seed=args.seed)
    blur = 2 * next(iter(fading.values())).band
    out = []
    for measure, story in USERS.items():
        began = time.monotonic()
        orders = orders_of(rankings, measure)
        if measure == FADING:
            out.append(counted(story, f"{args.users:,} users", fading, orders, None, unknown))
            continue
        distributions, one_topic = exact(rankings, measure)
        out.append(counted(story, "exact", distributions, orders, None, one_topic))
        if measure == WALK:
            out.append(counted(story, "exact, blurred", distributions, orders, blur, unknown))
        note(f"{measure}: {time.monotonic() - began:.1f} s")
    return out


def chart(found: list[Count]) -> dict[str, Any]:
    """The kinds of pairs as stacked bars."""
    drawn = {kind: colour for kind, colour in zip(KINDS, COLOURS, strict=True) if any(one.kinds[kind] for one in found)}
    rows = [
        {"user": f"{one.user} ({one.how})", "kind": KINDS[kind], "at": i, "share": count / one.pairs}
        for one in found
        for i, (kind, count) in enumerate(one.kinds.items())
        if kind in drawn
    ]
    names = [f"{one.user} ({one.how})" for one in found]
    return {
        "title": {"text": f"TREC-8: {found[0].pairs:,} pairs of runs", "anchor": "start", "offset": 12},
        "data": {"values": rows},
        "width": 480,
        "height": 34 * len(found),
        "mark": {"type": "bar"},
        "encoding": {
            "y": {
                "field": "user",
                "type": "nominal",
                "title": None,
                "sort": names,
                "axis": {"labelLimit": 0, "ticks": False, "domain": False},
            },
            "x": {
                "field": "share",
                "type": "quantitative",
                "stack": "zero",
                "title": "share of pairs",
                "scale": {"domain": [0, 1]},
                "axis": {"format": ".0%"},
            },
            "color": {
                "field": "kind",
                "type": "nominal",
                "scale": {"domain": [KINDS[kind] for kind in drawn], "range": list(drawn.values())},
                "legend": {"title": None, "orient": "bottom", "columns": 2, "labelLimit": 0},
            },
            "order": {"field": "at", "type": "quantitative"},
        },
    }


def tables(found: list[Count]) -> None:
    """Print what was found."""
    head("Pairs by what the orders say")
    show(["user", "distributions", *KINDS], [[one.user, one.how, *one.kinds.values()] for one in found])
    say()
    for kind, story in KINDS.items():
        say(f"  {kind:<12} {story}")
    head("Shares of pairs, in percent")
    percent = 100 / found[0].pairs
    show(
        [
            "user",
            "distributions",
            "1 and 2 agree",
            "3 decides",
            "second decides",
            "3 on one topic",
            "equal on one topic",
        ],
        [
            [
                one.user,
                one.how,
                percent * one.agree12,
                percent * sum(one.kinds[kind] for kind in DECIDED),
                percent * one.second,
                100 * one.one_topic,
                100 * one.one_topic_equal,
            ]
            for one in found
        ],
        digits=1,
    )
    head("Users who fare better with the run that order 1 calls worse, in percent")
    show(
        ["user", "distributions", "of all pairs", "of incomparable pairs", "largest gap of order 1 among these"],
        [[one.user, one.how, 100 * one.against, 100 * one.against_most, f"{one.widest:.4f}"] for one in found],
        digits=1,
    )
    say()
    say("second: by second-order dominance. blurred: exact ones, compared with the tolerance that simulated ones need:")
    say("crossings within the bands do not count, so that order 3 decides more pairs; what differs by less is equal.")


def write(found: list[Count], path: Path) -> None:
    """Write all counts as a table of tab-separated values."""
    columns = [
        "user",
        "distributions",
        "pairs",
        *KINDS,
        "agree12",
        "decided_second",
        "decided_on_one_topic",
        "equal_on_one_topic",
    ]
    columns += ["against_order1", "against_order1_incomparable", "largest_gap_incomparable"]
    rows = [[*one[:3], *one.kinds.values(), *one[4:]] for one in found]
    path.write_text(amble.Table(columns, rows, digits=6).tsv() + "\n", encoding="utf-8")
    say(f"\ntable: {path}")


def main(argv: list[str]) -> int:
    """Count, print, write and draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "folder", nargs="?", type=Path, help="where qrels.txt and runs/ are (default: $AMBLE_DATA/trec8)"
    )
    parser.add_argument("--out", type=Path, default=Path("reproduced"), help="where to write (default: ./reproduced)")
    parser.add_argument("--runs", type=int, metavar="N", help="only the first N runs by name (default: all)")
    parser.add_argument("--users", type=int, default=100_000, help="simulated on each topic (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=8, help="same seed, same users (default: %(default)s)")
    args = parser.parse_args(argv)
    folder = trec8_folder(args.folder)
    if args.runs is not None and args.runs < 2:
        raise amble.AmbleError(f"--runs {args.runs}: expected at least 2")
    args.out.mkdir(parents=True, exist_ok=True)
    picture = args.out / "orders_trec8.svg"
    check_file(picture)
    began = time.monotonic()
    paths = sorted(str(path) for path in (folder / "runs").iterdir() if path.is_file())[: args.runs]
    if len(paths) < 2:
        raise amble.AmbleError(f"no data: {folder / 'runs'} holds {len(paths)} runs, expected at least 2")
    rankings = amble.align(str(folder / "qrels.txt"), paths)
    note(str(rankings.audit))
    found = count_all(rankings, args)
    say(f"TREC-8 ad hoc: {len(rankings.runs)} runs, {found[0].pairs:,} pairs, {len(rankings.topics)} topics")
    tables(found)
    write(found, args.out / "orders_trec8.tsv")
    save(chart(found), picture)
    say(f"picture: {picture}")
    note(f"{time.monotonic() - began:.0f} s in all")
    return 0


if __name__ == "__main__":
    run(main)
