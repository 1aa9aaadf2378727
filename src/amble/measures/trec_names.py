"""trec_eval's names for amble's measures, in the order in which trec_eval 10 prints them with ``-m all_trec``."""

from __future__ import annotations

from amble.expressions.aliases import TREC_AT_RANK, TREC_WHOLE_LIST
from amble.measures.measure import Measure

__all__ = ["LEFT_OUT", "all_trec", "trec_name"]

_CUTS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
_TENTHS = tuple(i / 10 for i in range(11))
_FIFTHS = (0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0)

LEFT_OUT = {
    "runid": "the name of the run, not a number: it heads each row",
    "relstring": "the first ten grades as text, not a number: Rankings.grades shows them",
    "rbp": "trec_eval 10 reads uninitialised memory there, so its figure cannot be relied on: use RBP(p=0.9)",
}


def all_trec() -> list[tuple[str, str]]:
    """Pairs (trec_eval's name, amble's) of every measure of ``-m all_trec`` that amble has.

    >>> all_trec()[4]
    ('map', 'AP')
    """

    def at(trec: str, ours: str, cuts: tuple[int, ...] = _CUTS) -> list[tuple[str, str]]:
        return [(f"{trec}_{k}", f"{ours}@{k}") for k in cuts]

    def plain(*ours: str) -> list[tuple[str, str]]:
        return [(TREC_WHOLE_LIST[name], f"{name}(rule='trec10')" if name == "IPrecAvg" else name) for name in ours]

    return [
        *plain("NumQ", "NumRet", "NumRel", "NumRelRet", "AP", "GMAP", "Rprec", "bpref", "RR"),
        *((f"iprec_at_recall_{r:.2f}", f"IPrec(rule='trec10')@{r}") for r in _TENTHS),
        *at("P", "P"),
        *at("recall", "R"),
        *plain("infAP", "GMbpref"),
        *((f"Rprec_mult_{m:.2f}", f"Rprec(mult={m})") for m in _FIFTHS),
        *plain("Utility", "IPrecAvg", "binG", "G", "nDCG", "nDCGrel", "RnDCG"),
        *at("ndcg_cut", "nDCG"),
        *at("map_cut", "AP"),
        *at("relative_P", "RelP"),
        *at("success", "Success", (1, 5, 10)),
        *plain("P", "RelP", "R", "SetAP", "F", "NumNonrelRet", "RBPresid"),
        *at("unj", "Unjudged", (5, 10, 20)),
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
    if measure.values.get("rule") == "trec10":
        changed -= {"rule"}
    elif d.name in ("IPrec", "IPrecAvg"):
        return measure.label
    cut = measure.values["k"] if d.at == "k" else measure.cut
    if d.name == "IPrec" and changed <= {"recall"}:
        return f"iprec_at_recall_{measure.values['recall']:.2f}"
    if d.name == "Rprec" and changed == {"mult"}:
        return f"Rprec_mult_{measure.values['mult']:.2f}"
    if cut is not None and d.name in TREC_AT_RANK and changed <= {"k"}:
        return f"{TREC_AT_RANK[d.name]}_{cut}"
    if cut is None and d.name in TREC_WHOLE_LIST and not changed:
        return TREC_WHOLE_LIST[d.name]
    return measure.label
