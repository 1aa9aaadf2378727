"""Redraw Figure 1 of Ferrante and Ferro (2020), and check what they print.

M. Ferrante and N. Ferro: Exploiting Stopping Time to Evaluate Accumulated Relevance. ICTIR 2020, pages 169-176,
doi:10.1145/3409256.3409832, with its electronic appendix; FF20 below.

  python reproductions/ferrante2020.py                       # all of it; pictures into ./reproduced
  python reproductions/ferrante2020.py erratum1 erratum2     # only these parts

Exit code 1 if a figure is not reproduced.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any

import numpy as np
from figures import Figures, head, run, say, show
from numpy.typing import NDArray

import amble

Array = NDArray[np.float64]

# FF20, section 5.2: two runs of ten documents, each with four relevant ones
RUNS = {"r": [1, 0, 0, 1, 0, 0, 1, 0, 0, 1], "s": [0, 1, 1, 1, 1, 0, 0, 0, 0, 0]}
# FF20, appendix C: a run of six
SIX = [1, 0, 0, 1, 0, 1]

# the panels of Figure 1: what they show, the user and order 1, order 2
PANELS = {
    "a": ("DFBM, as precision has it", "P", "P"),
    "b": ("SFBM, as AP has it", "PH(model='AP')", "PH(model='AP',order=2)"),
    "c": ("SFBM, p = 0.5, as RBP has it", "PH(p=0.5,q=0,loss=0)", "PH(p=0.5,q=0,loss=0,order=2)"),
    "d": ("RWBM, p = 0.5, q = 0.25, loss 0.25", "PH(p=0.5,q=0.25,loss=0.25)", "PH(p=0.5,q=0.25,loss=0.25,order=2)"),
}
# FF20, Figure 1 and section 5.2: scores as printed, to two digits
PRINTED = {
    ("P@10", "r"): 0.40,
    ("P@10", "s"): 0.40,
    ("AP", "r"): 0.58,
    ("AP", "s"): 0.68,
    ("RBP(p=0.5)", "r"): 0.57,
    ("RBP(p=0.5)", "s"): 0.47,
}
ROUGHLY = 0.05  # what we take the word to allow


def value(measure: str, run: str) -> float:
    """The score of r or s."""
    return amble.parse(measure).value(RUNS[run], relevant=4)


def distribution(panel: str, run: str, args: argparse.Namespace) -> amble.Distribution:
    """The distribution of a panel: exact, but for the last, which has to be simulated."""
    if panel == "d":
        return amble.simulate(PANELS[panel][1], RUNS[run], users=args.users, seed=args.seed)
    return amble.parse(PANELS[panel][1]).distribution(RUNS[run], relevant=4)


# ---- the parts


def figure1(found: Figures, args: argparse.Namespace) -> None:
    """Figure 1: scores, what the text reads off the panels, and pictures of them."""
    from amble.reporting.charts.chart import check_file, save
    from amble.reporting.charts.distribution_charts import distribution_spec

    args.out.mkdir(parents=True, exist_ok=True)
    check_file(args.out / "figure1a.svg")
    for (measure, name), printed in PRINTED.items():
        found.add(f"{measure} of {name}", printed, value(measure, name), 0.005)
    distributions = {panel: {name: distribution(panel, name, args) for name in RUNS} for panel in PANELS}
    one = {panel: {name: value(first, name) for name in RUNS} for panel, (_, first, _) in PANELS.items()}
    two = {panel: {name: value(second, name) for name in RUNS} for panel, (_, _, second) in PANELS.items()}
    how = {panel: of["r"].dominance(of["s"]) for panel, of in distributions.items()}
    found.claim("a: orders 1 and 2 are the same", one["a"] == two["a"])
    found.claim("a: r and s are equal by order 3", how["a"].verdict == "equal")
    found.claim("b: r and s are incomparable by order 3", how["b"].verdict == "incomparable")
    found.add("b: the cdfs cross around", 0.75, float(how["b"].crossings[0]), 0.01)
    found.claim("b: and nowhere else", how["b"].crossings.size == 1)
    found.add("b: r is better for roughly 20 % of users", 0.20, how["b"].better, ROUGHLY)
    found.claim("b: orders 1 and 2 prefer s", one["b"]["r"] < one["b"]["s"] and two["b"]["r"] < two["b"]["s"])
    found.claim("b: order 2 in a more marked way", _gap(two["b"]) > _gap(one["b"]))
    found.claim("c: r dominates s", how["c"].verdict == "greater")
    found.claim("c: orders 1 and 2 prefer r", one["c"]["r"] > one["c"]["s"] and two["c"]["r"] > two["c"]["s"])
    found.claim("c: order 2 in a less marked way", _gap(two["c"]) < _gap(one["c"]))
    found.claim("d: r and s are incomparable by order 3", how["d"].verdict == "incomparable")
    found.claim("d: the cdfs cross several times", how["d"].crossings.size > 1)
    found.add("d: s is better for roughly 25 % to 30 % of users", 0.275, _medium(distributions["d"]), ROUGHLY)
    found.claim(
        "d: order 1 prefers r, order 2 prefers s", one["d"]["r"] > one["d"]["s"] and two["d"]["r"] < two["d"]["s"]
    )
    found.table()
    crossings = ", ".join(f"{x:.3f}" for x in how["d"].crossings)
    better, worse, same = (f"{100 * share:.1f} %" for share in how["d"][3:6])
    say(f"\nd: beyond the bands the cdfs cross at {crossings}. Of users paired by how well they fare, r is better for")
    say(f"   {better}, s for {worse}, both are the same for {same}; above, only those whom s gives 0.40 to 0.68.")
    for panel, (title, _, _) in PANELS.items():
        path = args.out / f"figure1{panel}.svg"
        save(distribution_spec(distributions[panel], one[panel], two[panel], title=f"Figure 1{panel}: {title}"), path)
        say(f"picture: {path}")


def _gap(of: dict[str, float]) -> float:
    return abs(of["r"] - of["s"])


def _medium(of: dict[str, amble.Distribution]) -> float:
    """The share of users who fare better with s where s gives them between 0.40 and 0.68."""
    u = (np.arange(100_000) + 0.5) / 100_000
    r, s = of["r"].quantile(u), of["s"].quantile(u)
    return float(np.mean((s > r) & (s >= 0.40) & (s <= 0.68)))


def anchors(found: Figures, args: argparse.Namespace) -> None:
    """Exact values, beside those of a plain program that follows users visit by visit."""
    for name, grades in RUNS.items():
        hits = [i for i, g in enumerate(grades) if g]
        by_hand = sum((k + 1) / (i + 1) for k, i in enumerate(hits)) / len(hits)
        found.add(f"AP, order 1, {name}", by_hand, value("AP", name), 1e-12, 12)
        endless = sum(0.5 ** (i + 1) for i in hits)
        found.add(f"RBP(p=0.5), {name}", endless, value("RBP(p=0.5)", name), 1e-12, 12)
        found.add(
            f"RBP(p=0.5), finite, {name}", endless / (1 - 0.5**10), value("RBP(p=0.5,finite=True)", name), 1e-12, 12
        )
        for what, p, q, loss, measure in (
            ("SFBM p=0.5", 0.5, 0.0, 0.0, "PH(p=0.5,q=0,loss=0{})"),
            ("walk, loss 0.25", 0.5, 0.25, 0.25, "PH(p=0.5,q=0.25,loss=0.25{})"),
            ("walk, no loss", 0.5, 0.25, 0.0, "PH(p=0.5,q=0.25,loss=0{})"),
        ):
            first, second, visits = followed(grades, p, q, loss)
            found.add(f"{what}, order 1, {name}", first, value(measure.format(""), name), 1e-11, 12)
            found.add(f"{what}, order 2, {name}", second, value(measure.format(",order=2"), name), 1e-12, 12)
        depth = amble.parse("PH(p=0.5,q=0.25)").user(grades).expected_depth
        found.add(f"walk, E[H], {name}", visits, depth, 1e-12, 12)
    found.table("plain program")


def chain(n: int, p: float, q: float, first: str) -> Array:
    """The moves between the ranks of a list of n; what is missing in a row is the probability of stopping."""
    moves = np.diag(np.full(n - 1, p), 1) + np.diag(np.full(n - 1, q), -1)
    if first == "forward" and n > 1:
        moves[0, 1] += q
    return moves


def followed(grades: list[int], p: float, q: float, loss: float) -> tuple[float, float, float]:
    """E[T / H], E[T] / E[H] and E[H], visit by visit: what rank i gives depends on the visits to i and on H alone."""
    n = len(grades)
    moves = chain(n, p, q, "forward")
    stop = 1 - moves.sum(axis=1)
    rate = total = depth = 0.0
    most = 400  # visits; fewer than 1e-40 of the users make more
    for i in [i for i in range(n) if grades[i]]:
        worth = np.cumsum(np.concatenate(([0.0], (1 - loss) ** np.arange(most))))  # of 0, 1, 2, … visits to i
        here = np.zeros((most + 1, n))  # visits to i so far, rank
        here[int(i == 0), 0] = 1.0
        depth = 0.0
        for h in range(1, most + 1):
            stopped = here @ stop
            rate += float(worth @ stopped) / h
            total += float(worth @ stopped)
            depth += h * float(stopped.sum())
            here = here @ moves
            here[1:, i] = here[:-1, i]
            here[0, i] = 0.0
    return rate, total / depth, depth


def simulation(found: Figures, args: argparse.Namespace) -> None:
    """Figure 1 is simulated in FF20: exact and simulated side by side."""
    rows = []
    for panel, (_, first, second) in PANELS.items():
        for name, grades in RUNS.items():
            seen: Any = amble.simulate(first, grades, users=args.users, seed=args.seed, relevant=4)
            exact1, exact2 = value(first, name), value(second, name)
            off1 = abs(seen.mean - exact1) - 4 * seen.standard_error
            off2 = abs(seen.order2 - exact2) - 4 * seen.order2_error
            far = math.nan if panel == "d" else seen.distance(amble.parse(first).distribution(grades, relevant=4))
            fits = off1 <= 1e-9 and off2 <= 1e-9 and not far > seen.band_at(1 - 1e-4)
            first_order = [exact1, seen.mean, seen.standard_error]
            second_order = [exact2, seen.order2, seen.order2_error]
            rows.append([f"{panel}, {name}", *first_order, *second_order, far, seen.band, "yes" if fits else "NO"])
            found.count(fits)
    columns = ["panel", "order 1", "simulated", "s.e.", "order 2", "simulated", "s.e.", "cdf off by", "band", ""]
    show(columns, rows, digits=5)
    say(f"\n{args.users:,} users, seed {args.seed}. That of panel d depends on the history of visits: it has exact")
    say("orders 1 and 2, but no exact cdf. FF20's appendix A says that order 1 of a walk cannot be simplified; it can.")


def appendixc(found: Figures, args: argparse.Namespace) -> None:
    """Appendix C: the expected gain on (1, 0, 0, 1, 0, 1), a formula in p and q (it says P@H, and means T)."""
    for p, q in ((0.5, 0.25), (0.3, 0.3), (0.8, 0.1), (0.2, 0.7), (0.05, 0.9), (0.9, 0.05)):
        printed = (1 - 4 * p * q + p**3 + 3 * p**2 * q**2 - p**4 * q + p**5) / (
            1 - 5 * p * q + 6 * p**2 * q**2 - p**3 * q**3
        )
        stroll: Any = amble.parse(f"PH(p={p},q={q},first='stop',loss=0)").user(SIX)
        found.add(f"E[T], p={p}, q={q}", printed, stroll.total(SIX), 1e-11, 12)
    found.table("the formula")


def equation3(found: Figures, args: argparse.Namespace) -> None:
    """Equation (3): K(p, q, N), the number of visits, and its limit K(p, q, ∞)."""
    with np.errstate(all="ignore"):
        for n in (1, 2, 5, 10, 100, 200):
            worst = max(
                (abs(printed_k(p, q, n) / visits(p, q, n) - 1), p, q)
                for p in np.arange(0.05, 1, 0.05).round(2).tolist()
                for q in np.arange(0.05, 1, 0.05).round(2).tolist()
                if p + q < 0.999
            )
            found.add(f"N={n}: largest share that K is off by, at p={worst[1]}, q={worst[2]}", 0.0, worst[0], 1e-9, 12)
        for p in (0.5, 0.9):
            ours = visits(p, 0.0, 10)
            found.add(f"K({p}, 0, 10) = (1 - p^10) / (1 - p)", (1 - p**10) / (1 - p), ours, 1e-12, 12)
        for p, q in ((0.5, 0.25), (0.2, 0.7), (0.9, 0.05)):
            limit = (2 * p - 1 + math.sqrt(1 - 4 * p * q)) / (2 * p * (1 - p - q))
            ours = amble.parse(f"PH(p={p},q={q},first='stop',end='endless')").user([0]).expected_depth
            found.add(f"K({p}, {q}, ∞)", limit, ours, 1e-11, 12)
        found.table("the formula")
        far = printed_k(0.5, 0.25, 2000)
        first = {(p, q): next(n for n in range(1, 20_000) if math.isnan(printed_k(p, q, n))) for p, q in OVERFLOW}
    say(
        "\nAs printed the formula overflows: " + ", ".join(f"at p={p}, q={q} from N={n}" for (p, q), n in first.items())
    )
    say(f"At p=0.5, q=0.25, N=2000 it gives {far}; K is {visits(0.5, 0.25, 2000):.12f}.")
    found.count(math.isnan(far))


OVERFLOW = ((0.05, 0.05), (0.5, 0.25), (0.9, 0.05))


def visits(p: float, q: float, n: int) -> float:
    """K(p, q, N), as amble has it."""
    return float(amble.parse(f"PH(p={p},q={q},first='stop')").user([0] * n).expected_depth)


def printed_k(p: float, q: float, n: int) -> float:
    """Equation (3) as printed."""
    p_, q_ = np.float64(p), np.float64(q)
    root, stop = np.sqrt(1 - 4 * p_ * q_), 1 - p_ - q_
    low, high = (1 - root) / (2 * p_), (1 + root) / (2 * p_)
    g1, g2 = (x**n - q_ * x ** (n - 1) for x in (low, high))
    a = (g1 / stop - p_ / stop) / (g2 - g1)
    return float(a * root / p_ + (2 * p_ - 1 + root) / (2 * p_ * stop))


def erratum1(found: Figures, args: argparse.Namespace) -> None:
    """Appendix A: the probability of stopping at the last rank is printed as p^N; it is p^(N-1)."""
    p, n = 0.5, 10
    before = [p ** (h - 1) * (1 - p) for h in range(1, n)]
    rows = []
    for what, last in (("as printed, p^N", p**n), ("p^(N-1)", p ** (n - 1))):
        rows.append([what, sum(before) + last, *(_rate(grades, [*before, last]) for grades in RUNS.values())])
    rows.append(
        ["ours", sum(amble.parse(PANELS["c"][1]).user(RUNS["r"]).last), *(value(PANELS["c"][1], x) for x in RUNS)]
    )
    show(["last term", "sum of the distribution", "order 1 of r", "order 1 of s"], rows, digits=9)
    say()
    found.add("the distribution sums to 1 with p^(N-1)", 1.0, rows[1][1], 1e-12, 12)
    found.claim("and not with p^N", abs(rows[0][1] - 1) > 1e-4)
    for i, name in enumerate(RUNS):
        found.add(f"order 1 of {name}, p=0.5, N=10", rows[1][2 + i], rows[2][2 + i], 1e-12, 12)
    found.table("with p^(N-1)")


def _rate(grades: list[int], stops: list[float]) -> float:
    return sum(probability * sum(grades[:h]) / h for h, probability in enumerate(stops, 1))


def erratum2(found: Figures, args: argparse.Namespace) -> None:
    """Appendix B: the variance of the gain has a wrong sign, and lacks the square of the mean."""
    moves = chain(6, 0.5, 0.25, "stop")
    one, rho = np.eye(6), np.array(SIX, float)
    inverse, r = np.linalg.inv(one - moves), np.diag(rho)
    mean = inverse @ rho
    printed = inverse @ r @ (one - 2 * moves @ inverse) @ rho
    right = inverse @ r @ (one + 2 * moves @ inverse) @ rho - mean**2
    stroll: Any = amble.parse("PH(p=0.5,q=0.25,first='stop',loss=0)").user(SIX)
    gain = stroll.total_distribution(SIX)
    show(
        ["Var[T] on (1,0,0,1,0,1), p=0.5, q=0.25", "from rank 1"],
        [
            ["(I-P)^-1 R [I - 2 P (I-P)^-1] rho, as printed", float(printed[0])],
            ["(I-P)^-1 R [I + 2 P (I-P)^-1] rho - E o E", float(right[0])],
            ["ours", stroll.total_var(SIX)],
            ["of the exact distribution of T", gain.var],
        ],
        digits=6,
    )
    say()
    found.claim("the printed formula gives a negative variance, -0.064", abs(printed[0] + 0.064) < 5e-4)
    found.add("Var[T]", float(right[0]), stroll.total_var(SIX), 1e-12, 12)
    found.add("Var[T], of the distribution", float(right[0]), gain.var, 1e-9, 12)
    # what appendix B has right: the distribution of T for n >= 1, and the variance of a user who walks down
    skip = np.linalg.inv(one - (one - r) @ moves)
    again = skip @ r @ moves
    for n in (1, 2, 3, 5):
        theirs = (np.linalg.matrix_power(again, n - 1) @ (one - again) @ skip @ rho)[0]
        found.add(f"P(T = {n})", float(theirs), float(gain.probs[gain.values == n].sum()), 1e-12, 12)
    p = 0.5
    forward = sum(
        g * p**m * (1 - p**m) * (g + 2 * sum(SIX[i] * p ** (i - m) for i in range(m + 1, 6)))
        for m, g in enumerate(SIX)
        if m
    )
    down: Any = amble.parse("PH(p=0.5,q=0,loss=0)").user(SIX)
    found.add("Var[T] of SFBM, p=0.5", forward, down.total_var(SIX), 1e-12, 12)
    found.table("the formula")


PARTS = {
    "figure1": figure1,
    "anchors": anchors,
    "simulation": simulation,
    "appendixC": appendixc,
    "equation3": equation3,
    "erratum1": erratum1,
    "erratum2": erratum2,
}


def main(argv: list[str]) -> int:
    """Reproduce what was asked for."""
    parts = "\n".join(f"  {name:<12}{(part.__doc__ or '').strip()}" for name, part in PARTS.items())
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=f"parts:\n{parts}", formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help="what to reproduce (default: all of it)")
    parser.add_argument(
        "--out", type=Path, default=Path("reproduced"), help="folder of the pictures (default: ./reproduced)"
    )
    parser.add_argument(
        "--users", type=int, default=100_000, help="how many are simulated (default: as in FF20, 100000)"
    )
    parser.add_argument("--seed", type=int, default=2020, help="same seed, same users (default: %(default)s)")
    args = parser.parse_args(argv)
    unknown = [name for name in args.parts if name not in PARTS]
    if unknown:
        parser.error(f"no part is called {unknown[0]}, expected one of {', '.join(PARTS)}")
    found = Figures()
    for name in args.parts or PARTS:
        head(f"{name}: {(PARTS[name].__doc__ or '').strip()}")
        PARTS[name](found, args)
    return found.end()


if __name__ == "__main__":
    run(main)
