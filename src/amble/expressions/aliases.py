"""Other programs' names for measures: trec_eval's, ranx's and the textbooks', beside amble's."""

from __future__ import annotations

__all__ = ["TREC_AT_RANK", "TREC_WHOLE_LIST", "known_elsewhere"]

# trec_eval's names, by amble's: of the measure of a whole list
TREC_WHOLE_LIST = {
    "NumQ": "num_q",
    "NumRet": "num_ret",
    "NumRel": "num_rel",
    "NumRelRet": "num_rel_ret",
    "AP": "map",
    "GMAP": "gm_map",
    "Rprec": "Rprec",
    "bpref": "bpref",
    "RR": "recip_rank",
    "infAP": "infAP",
    "GMbpref": "gm_bpref",
    "Utility": "utility",
    "IPrecAvg": "11pt_avg",
    "binG": "binG",
    "G": "G",
    "nDCG": "ndcg",
    "nDCGrel": "ndcg_rel",
    "RnDCG": "Rndcg",
    "P": "set_P",
    "RelP": "set_relative_P",
    "R": "set_recall",
    "SetAP": "set_map",
    "F": "set_F",
    "NumNonrelRet": "num_nonrel_judged_ret",
    "RBPresid": "rbp_resid",
}
# of the measure at a rank, ``ndcg_cut_10``
TREC_AT_RANK = {
    "P": "P",
    "R": "recall",
    "nDCG": "ndcg_cut",
    "AP": "map_cut",
    "RelP": "relative_P",
    "Success": "success",
    "Unjudged": "unj",
}
# trec_eval's with another number, and those of other programs
_OTHERS = {
    "AP": ("average_precision",),
    "Compat": ("compatibility",),
    "DCG": ("dcg_cut",),
    "F": ("f1",),
    "IPrec": ("iprec_at_recall",),
    "P": ("precision", "prec"),
    "RR": ("mrr", "reciprocal_rank"),
    "Rprec": ("rprec_mult",),
    "Success": ("hit_rate", "hits"),
}


def known_elsewhere(name: str) -> str | None:
    """Amble's name for a measure that another program calls so, whatever the case and the cut-off; None if unknown.

    >>> known_elsewhere("ndcg_cut_10"), known_elsewhere("MRR"), known_elsewhere("nDCGG")
    ('nDCG', 'RR', None)
    """
    names = {theirs.lower(): ours for table in (TREC_WHOLE_LIST, TREC_AT_RANK) for ours, theirs in table.items()}
    names |= {theirs: ours for ours, others in _OTHERS.items() for theirs in others}
    lower = name.lower()
    return names.get(lower.rstrip("0123456789").rstrip("_.")) or names.get(lower)
