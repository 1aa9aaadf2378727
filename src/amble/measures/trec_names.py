"""trec_eval's names for amble's measures, in the order in which trec_eval 10 prints them with ``-m all_trec``."""

from __future__ import annotations

from amble.expressions.aliases import ALIASES
from amble.measures.measure import Measure

__all__ = ["LEFT_OUT", "all_trec", "printed", "trec_name"]

# the numbers that it prints for a name that ends with one; elsewhere _RANKS
_RANKS = ("5", "10", "15", "20", "30", "100", "200", "500", "1000")
_PRINTED = {
    "iprec_at_recall_#": tuple(f"{i / 10:.2f}" for i in range(11)),
    "Rprec_mult_#": tuple(f"{i / 5:.2f}" for i in range(1, 11)),
    "success_#": ("1", "5", "10"),
    "unj_#": ("5", "10", "20"),
}

LEFT_OUT = {
    "runid": "the name of the run, not a number: it heads each row",
    "relstring": "the first ten grades as text, not a number: Rankings.grades shows them",
    "rbp": "trec_eval 10 reads uninitialised memory there, so its figure cannot be relied on: use RBP(p=0.9)",
}


def printed(name: str) -> tuple[str, ...]:
    """The numbers that trec_eval prints for a name that ends with one, ``#``; one empty text for another.

    >>> printed("success_#"), printed("map")
    (('1', '5', '10'), ('',))
    """
    return _PRINTED.get(name, _RANKS) if "#" in name else ("",)


def all_trec() -> list[tuple[str, str]]:
    """Pairs (trec_eval's name, amble's) of every measure of ``-m all_trec`` that amble has.

    >>> all_trec()[4]
    ('map', 'AP')
    """
    return [
        (theirs.replace("#", x), ours.replace("#", x))
        for theirs, ours in ALIASES["trec_eval"].items()
        for x in printed(theirs)
    ]


def trec_name(measure: Measure, level: float | None = None) -> str:
    """The name of a measure in trec_eval, or its label where trec_eval has none.

    In trec_eval the least relevant grade (-l) is the same for all measures and not part of their names: ``level``. Its
    interpolated precision is that of ``rule='trec10'``.

    >>> import amble
    >>> [trec_name(amble.parse(m)) for m in ("nDCG@10", "AP", "IPrec(rule='trec10')@0.1", "IPrec@0.1")]
    ['ndcg_cut_10', 'map', 'iprec_at_recall_0.10', 'IPrec@0.1']
    """
    d = measure.declaration
    changed = {key for key, value in measure.values.items() if value != d.parameters[key].default}
    if level is not None and measure.values.get("rel") == level:
        changed -= {"rel"}
    if d.name in ("IPrec", "IPrecAvg") and measure.values["rule"] != "trec10":
        return measure.label
    cut = measure.values[d.at] if d.at else measure.cut
    if d.name == "Rprec" and "mult" in changed:
        changed, ours, number = changed - {"mult"}, "Rprec(mult=#)", f"{measure.values['mult']:.2f}"
    else:
        ours = d.name + ("(rule='trec10')" if "rule" in changed else "") + ("" if cut is None else "@#")
        number = f"{cut:.2f}" if d.at == "recall" else str(cut)
    named = {ours: theirs for theirs, ours in ALIASES["trec_eval"].items()}
    if changed <= {d.at, "rule"} and ours in named:
        return named[ours].replace("#", number)
    return measure.label
