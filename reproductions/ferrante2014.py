"""Ferrante, Ferro and Maistro (2014): rankings of the TREC-8 runs by AP, by other measures and by Markov Precision.

Kendall's tau-b between rankings by exact means (Tables 2 and 3), and the three lists of Table 4 in discrete and in
continuous time. Tables 3 and 4 wait until this amble has Markov Precision, ``MP(model=…,rescale=…)``. Run with
``AMBLE_DATA=FOLDER python reproductions/ferrante2014.py``.
"""

from __future__ import annotations

import numpy as np
import published
from figures import run, say

import amble
from amble.meta import correlations

SOURCES = ("F14 Table 2", "F14 Table 3", "F14 Table 4")
WAITS = {"F14 Table 3": "waits for MP", "F14 Table 4": "waits for MP"}
SHORT = {"P10": "P@10", "Rprec": "Rprec", "bpref": "bpref", "RBP": "RBP(p=0.8)"}
# Table 4: estimated parameters of the holding times at ranks 1 to 10, 1 / mean time
RATES = {
    "1111000100": (0.2000, 0.0357, 0.2000, 0.0400, 0.0056, 0.0005, 0.0035, 0.0017, 0.0034, 0.0024),
    "1110100010": (0.0177, 0.0047, 0.0037, 0.0015, 0.0041, 0.0031, 0.0057, 0.0022, 0.0061, 0.0045),
    "1101100001": (0.0056, 0.0051, 0.0062, 0.0031, 0.0046, 0.0025, 0.0050, 0.0022, 0.0070, 0.0050),
}


def name_of(model: str) -> str:
    """The measure of a row of Table 3."""
    base, _, rescaled = model.partition("@")
    return str(amble.parse(f"MP(model='{base}',rescale='{'R' if rescaled else 'NA'}')"))


def models() -> list[str]:
    """The rows of Table 3."""
    return list(dict.fromkeys(row[0] for row in published.rows_of(published.F14_TABLE_3)))


def of_rankings(rankings: amble.Rankings) -> published.Found:
    """Tables 2 and 3."""
    measures = [str(amble.parse(m)) for m in published.OTHERS]
    rows = {model: name_of(model) for model in models()} if published.has_mp() else {}
    found = correlations(amble.evaluate(rankings, [*measures, *rows.values()]), resample=None)
    at = {name: i for i, name in enumerate(found.measures)}
    ours = {}
    for short, other in SHORT.items():
        ours["F14 Table 2", f"TREC-8/tau(AP,{short})"] = float(found.values[at["AP"], at[str(amble.parse(other))]])
    for model, name in rows.items():
        for other, measure in zip(published.OTHERS, measures, strict=True):
            ours["F14 Table 3", f"TREC-8/tau({model},{other})"] = float(found.values[at[name], at[measure]])
    return ours


def in_time() -> published.Found:
    """Table 4: discrete time by amble; in continuous time a rank's share is also its mean holding time's.

    The invariant law of GL_AD_ID on n ranks: pi(i) is proportional to the sum over j != i of 1 / (|i - j| + 1).
    """
    if not published.has_mp():
        return {}
    ours = {}
    for ranks, rates in RATES.items():
        grades = np.array([int(c) for c in ranks])
        i = np.arange(1, grades.size + 1)
        weights = (1.0 / (np.abs(i[:, None] - i) + 1.0)).sum(axis=1) - 1.0
        share = grades * weights / np.array(rates)
        value = float((share * np.cumsum(grades) / i).sum() / share.sum())
        discrete = amble.parse("MP(model='GL_AD_ID')").value(grades.tolist())
        ours["F14 Table 4", f"MP GL_AD_ID discrete/{ranks}"] = float(discrete)
        ours["F14 Table 4", f"MP GL_AD_ID continuous/{ranks}"] = value
    return ours


def compute(rankings: amble.Rankings | None) -> published.Found:
    """All figures of the paper; without rankings, those that need none."""
    return in_time() | (of_rankings(rankings) if rankings is not None else {})


def shifted_row(ours: published.Found) -> None:
    """The row of Table 3 whose first value is printed twice, so that the others are shifted and the last is lost."""
    found = [ours.get(("F14 Table 3", f"TREC-8/tau(LO_OR_ID@Rec,{other})")) for other in published.OTHERS]
    say("\nTable 3, TREC 8, row LO_OR_ID@Rec(T): the value of AP is printed twice, and the rest is shifted")
    say(f"{'':10s}" + "".join(f"{other:>12s}" for other in published.OTHERS))
    say(f"{'printed':10s}" + "".join(f"{value:12.4f}" for value in (0.9195, 0.9195, 0.8714, 0.8987, 0.9127)))
    say(f"{'ours':10s}" + "".join(f"{'waits':>12s}" if value is None else f"{value:12.4f}" for value in found))


def main(argv: list[str]) -> int:
    """Print all."""
    ours = compute(published.trec8())
    code = published.report(SOURCES, ours, WAITS)
    shifted_row(ours)
    return code


if __name__ == "__main__":
    run(main)
