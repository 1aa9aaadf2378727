"""Moffat, Scholer and Thomas (2012): agreement between measures on TREC-8, Tables 1 and 4, and the figures of the text.

Every pair of the 129 runs is tested with each of eleven measures. The paper does not say how in all details. All its
figures for TREC-8 come out, to the last digit, with these choices, none of which can be left out:

* the test is the two-sided paired t-test at .05;
* documents are ranked by the rank column of the runs, whatever the scores are (they contradict it in eight runs);
* the weights of P@k and SDCG@k are shared out over the ranks that a list has, if these are fewer than k;
* class agreements are computed from the percentages of SSA, SN, NS and NN as rounded to one decimal;
* the adaptive INSQ has (i + 2T_i) / (i + 2T_i + 1) where equation 3 prints (i + 2T_i - 1) / (i + 2T_i).

Run with ``AMBLE_DATA=FOLDER python reproductions/moffat2012.py``, or ``--data FOLDER`` with qrels.txt and runs/. Below
the figures stands what each choice brings: how many figures agree without it.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import published
from figures import run, say, show

import amble
from amble.metaevaluation import Agreement, agreement

# P@k and SDCG@k of lists that may be shorter than k: the weights of the ranks that there are sum to 1
MEASURES = {
    "rr": "RR",
    "insq": "INSQ",
    "p10": "CWL(C='1',finite=True)@10",
    "rbp73": "RBP(p=0.73)",
    "sdcg10": "CWL(V='1/log2(i+1)',finite=True)@10",
    "p100": "CWL(C='1',finite=True)@100",
    "rbp95": "RBP(p=0.95)",
    "sdcg100": "CWL(V='1/log2(i+1)',finite=True)@100",
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
    """Weights, residuals, expected depths and scores named in the text."""
    user, rbp = amble.parse("INSQ").user([0] * 101), amble.parse("RBP(p=0.73)").user([0] * 101)
    ours = {f"W_INSQ({i})": float(user.weights[i - 1]) for i in (1, 2, 3, 100)}
    ours |= {f"R_INSQ({i})": user.residual(i) for i in (100, 101)}
    ours |= {f"W_RBP(.73)({i})": float(rbp.weights[i - 1]) for i in (100, 101)}
    ours |= {f"E T={T}": amble.parse(f"INSQ(T={T})").user([0]).expected_depth for T in (1, 5, 25)}
    static = "INSQ(T=5) static on ranks " + ",".join(map(str, RANKS))
    ours[static] = amble.parse("INSQ(T=5)").value(example())
    ours["INSQ(T=5) adaptive on the same"] = amble.parse("INSQ(T=5,adaptive=True)").value(example())
    printed = "INSQ(T=5,adaptive=True,form='printed')"
    ours["INSQ(T=5) adaptive on the same by equation 3"] = amble.parse(printed).value(example())
    return {("M12 text", key): float(value) for key, value in ours.items()}


def agreements(rankings: amble.Rankings, measures: Mapping[str, str] | None = None) -> Agreement:
    """All pairs of runs, all measures."""
    return agreement(amble.evaluate(rankings, list((MEASURES if measures is None else measures).values())))


def table_figures(found: Agreement, digits: int | None = 1) -> published.Found:
    """Tables 1 and 4, by the papers' names; class agreements from percentages of so many digits."""
    at = {name: i for i, name in enumerate(MEASURES)}
    exact = {kind: 100.0 * found.counts[kind] / found.pairs for kind in found.counts}
    percent = exact
    if digits is not None:
        percent = {kind: np.floor(x * 10**digits + 0.5) / 10**digits for kind, x in exact.items()}
    passive = percent["SN"] + percent["NS"]
    for kind, both in {"2SSA": percent["SSA"], "2NN": percent["NN"]}.items():
        whole = 2 * both + passive
        exact[f"{kind} class agreement"] = np.divide(
            200 * both, whole, out=np.full(both.shape, np.nan), where=whole > 0
        )
    ours: published.Found = {}
    for figure in published.FIGURES:
        if figure.source in SOURCES[:4]:
            _, kind, one, other = figure.key.split("/")
            ours[figure.source, figure.key] = float(exact[kind][at[one], at[other]])
    with_ap = [at[name] for name in published.M12[:-1]]
    for kind in ("2SSA", "2NN"):
        values = exact[f"{kind} class agreement"][at["ap"], with_ap]
        ours["M12 text", f"{kind} with ap, least"] = float(values.min())
        ours["M12 text", f"{kind} with ap, greatest"] = float(values.max())
    return ours


def compute(data: published.Collection | None) -> published.Found:
    """The figures of the paper that are compared; without runs, those that need none."""
    ours = text_figures()
    if data is not None:
        with data.by_rank_column() as rankings:
            ours |= table_figures(agreements(rankings))
    return ours


def choices(data: published.Collection, rankings: amble.Rankings) -> None:
    """How many figures of the tables agree with all choices, and without one of them."""
    tables = [figure for figure in published.FIGURES if figure.source in SOURCES[:4]]
    whole = {"p10": "P@10", "sdcg10": "SDCG@10", "p100": "P@100", "sdcg100": "SDCG@100"}
    forms = {f"insq{T}": f"INSQ(T={T},adaptive=True,form='printed')" for T in (5, 10)}
    found = agreements(rankings)
    without = [
        ("all of them", table_figures(found)),
        ("class agreements from exact percentages", table_figures(found, None)),
        ("P@k and SDCG@k with the weights of k ranks", table_figures(agreements(rankings, MEASURES | whole))),
        ("equation 3 as printed", table_figures(agreements(rankings, MEASURES | forms))),
        ("by score, the rank column for ties alone", table_figures(agreements(data.align(ties="rank")))),
        ("by score, docno for ties, as trec_eval", table_figures(agreements(data.align()))),
    ]
    rows = []
    for what, ours in without:
        off = [abs(ours[figure.source, figure.key] - figure.value) for figure in tables]  # type: ignore[operator]
        fits = [figure.agrees(ours[figure.source, figure.key]) for figure in tables]
        rows.append([what, sum(fits), len(fits), max(off)])
    say("\nWith all choices, and with another in place of one:")
    show(["choice", "agree", "of", "largest difference"], rows, digits=2)


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


def main(argv: list[str]) -> int:
    """Print all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="qrels.txt and runs/ (default: $AMBLE_DATA/trec8)")
    data = published.Collection.of(parser.parse_args(argv).data)
    with data.by_rank_column() as rankings:
        found = agreements(rankings)
        code = published.report(SOURCES, text_figures() | table_figures(found), data.is_trec8, whole=data.is_trec8)
        triangles(found)
        if data.is_trec8:
            choices(data, rankings)
    return code


if __name__ == "__main__":
    run(main)
