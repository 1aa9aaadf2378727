"""Moffat, Thomas and Scholer (2012): agreement between measures on TREC-8, Tables 1 and 4, and the figures of the text.

Every pair of the 129 runs is tested with each of eleven measures. The paper does not name its test; the two-sided
paired t-test at .05 reproduces its tables. Run with ``AMBLE_DATA=FOLDER python reproductions/moffat2012.py``.

Below the figures stand three things found on the way: which formula of the adaptive INSQ the paper's figures come from,
which triangle of Table 1b holds which class agreement, and which rank its residual of INSQ belongs to.
"""

from __future__ import annotations

import numpy as np
import published
from figures import run, say

import amble
from amble.metaevaluation import Agreement, agreement

MEASURES = {
    "rr": "RR",
    "insq": "INSQ",
    "p10": "P@10",
    "rbp73": "RBP(p=0.73)",
    "sdcg10": "SDCG@10",
    "p100": "P@100",
    "rbp95": "RBP(p=0.95)",
    "sdcg100": "SDCG@100",
    "ap": "AP",
    "insq5": "INSQ(T=5,adaptive=True)",
    "insq10": "INSQ(T=10,adaptive=True)",
}
SOURCES = ("M12 Table 1a", "M12 Table 1b", "M12 Table 4a", "M12 Table 4b", "M12 text")
RANKS = (1, 3, 4, 6, 8, 12, 14, 34, 37, 43, 64, 82, 86, 95)  # of Figure 2c's relevant documents


def example() -> list[int]:
    """The list of Figure 2c."""
    return [int(rank in RANKS) for rank in range(1, max(RANKS) + 1)]


def text_figures() -> published.Found:
    """Weights, expected depths and scores named in the text."""
    user = amble.parse("INSQ").user([0] * 100)
    ours = {f"W_INSQ({i})": float(user.weights[i - 1]) for i in (1, 2, 3, 100)}
    ours |= {f"E T={T}": amble.parse(f"INSQ(T={T})").user([0]).expected_depth for T in (1, 5, 25)}
    static = "INSQ(T=5) static on ranks " + ",".join(map(str, RANKS))
    ours[static] = amble.parse("INSQ(T=5)").value(example())
    ours["INSQ(T=5) adaptive on the same"] = amble.parse("INSQ(T=5,adaptive=True)").value(example())
    return {("M12 text", key): float(value) for key, value in ours.items()}


def agreements(rankings: amble.Rankings) -> Agreement:
    """All pairs of runs, all measures."""
    return agreement(amble.evaluate(rankings, list(MEASURES.values())))


def table_figures(found: Agreement) -> published.Found:
    """Tables 1 and 4, by the papers' names."""
    at = {name: i for i, name in enumerate(MEASURES)}
    percent = {kind: 100.0 * found.counts[kind] / found.pairs for kind in ("SSA", "SSD")}
    percent["2SSA class agreement"] = 100.0 * found.significant
    percent["2NN class agreement"] = 100.0 * found.not_significant
    ours = {}
    for figure in published.FIGURES:
        if figure.source in SOURCES[:4]:
            _, kind, one, other = figure.key.split("/")
            ours[figure.source, figure.key] = float(percent[kind][at[one], at[other]])
    return ours


def compute(rankings: amble.Rankings | None) -> published.Found:
    """The figures of the paper that are compared; without rankings, those that need none."""
    ours = text_figures()
    if rankings is not None:
        ours |= table_figures(agreements(rankings))
    return ours


def adaptive_forms(rankings: amble.Rankings) -> None:
    """Equation 3 as printed against the form behind the paper's published."""
    say("\nThe adaptive INSQ: equation 3 prints C' = ((i + 2T_i - 1) / (i + 2T_i))^2; the figures come from i + 1")
    say(f"{'':24s} {'example':>8s} {'power T=5':>10s} {'power T=10':>11s}")
    say(f"{'published':24s} {0.502:8.3f} {67.5:10.1f} {69.0:11.1f}")
    for form in ("figures", "printed"):
        names = [f"INSQ(T={T},adaptive=True,form='{form}')" for T in (5, 10)]
        power = 100.0 * agreement(amble.evaluate(rankings, names)).power
        value = amble.parse(names[0]).value(example())
        say(f"{f'form={form!r}':24s} {value:8.4f} {power[0]:10.1f} {power[1]:11.1f}")


def triangles(found: Agreement) -> None:
    """Which triangle of Table 1b is which."""
    n = len(published.M12)
    printed = np.array(
        [[np.nan if c == "-" else float(c) for c in row] for row in published.rows_of(published.TABLE_1B)]
    )
    upper, lower = np.triu_indices(n, 1), np.tril_indices(n, -1)
    ssa, nn = 100.0 * found.significant[:n, :n], 100.0 * found.not_significant[:n, :n]
    told = max(np.abs(printed - ssa)[upper].max(), np.abs(printed - nn)[lower].max())
    swapped = max(np.abs(printed - nn)[upper].max(), np.abs(printed - ssa)[lower].max())
    say("\nTable 1b: the text has 2SSA above the diagonal and 2NN below")
    say(f"largest difference from ours, as the text has it {told:.1f} points, the other way round {swapped:.1f}")
    ap = list(MEASURES).index("ap")
    like = {name: 100.0 * found.significant[i, ap] for i, name in enumerate(MEASURES)}
    best = ", ".join(f"{name} {like[name]:.1f}" for name in ("insq5", "insq10", "p100", "sdcg100"))
    say(f"so, like for like, class agreement on significance with AP: {best}")


def residual() -> None:
    """The residual of INSQ."""
    user = amble.parse("INSQ").user([0] * 101)
    say("\nThe residual of INSQ: the paper has R(100) = 0.0151")
    say(f"R(100) = {user.residual(100):.5f}, R(101) = {user.residual(101):.5f}")


def main(argv: list[str]) -> int:
    """Print all."""
    rankings = published.trec8()
    found = agreements(rankings)
    code = published.report(SOURCES, text_figures() | table_figures(found))
    adaptive_forms(rankings)
    triangles(found)
    residual()
    return code


if __name__ == "__main__":
    run(main)
