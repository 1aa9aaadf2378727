"""Names that other programs and papers have for measures, and what each is in amble: read before the grammar.

They are read in any case, and mean what they mean there. A name that means different things in different programs is
an error that says so.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import NamedTuple

from amble.errors import MeasureError

__all__ = ["ALIASES", "AMBIGUOUS", "ENDINGS", "PARAMETERS", "is_alias", "plain_name", "similar", "translate"]

# by program: its names and amble's; # stands for a number, * for a word, and "_#" may be written ".#"
ALIASES: dict[str, dict[str, str]] = {
    "trec_eval": {  # in the order in which version 10 prints them
        "num_q": "NumQ",
        "num_ret": "NumRet",
        "num_rel": "NumRel",
        "num_rel_ret": "NumRelRet",
        "map": "AP",
        "gm_map": "GMAP",
        "Rprec": "Rprec",
        "bpref": "bpref",
        "recip_rank": "RR",
        "iprec_at_recall_#": "IPrec(rule='trec10')@#",
        "P_#": "P@#",
        "recall_#": "R@#",
        "infAP": "infAP",
        "gm_bpref": "GMbpref",
        "Rprec_mult_#": "Rprec(mult=#)",
        "utility": "Utility",
        "11pt_avg": "IPrecAvg(rule='trec10')",
        "binG": "binG",
        "G": "G",
        "ndcg": "nDCG",
        "ndcg_rel": "nDCGrel",
        "Rndcg": "RnDCG",
        "ndcg_cut_#": "nDCG@#",
        "map_cut_#": "AP@#",
        "relative_P_#": "RelP@#",
        "success_#": "Success@#",
        "set_P": "P",
        "set_relative_P": "RelP",
        "set_recall": "R",
        "set_map": "SetAP",
        "set_F": "F",
        "num_nonrel_judged_ret": "NumNonrelRet",
        "rbp_resid": "RBPresid",
        "unj_#": "Unjudged@#",
    },
    "trec_eval up to version 8": {
        "gm_ap": "GMAP",
        "R-prec": "Rprec",
        "ircl_prn_#": "IPrec(rule='trec9')@#",
        "P#": "P@#",
    },
    "ranx": {
        "hit_rate": "Success",
        "precision": "P",
        "recall": "R",
        "f1": "F",
        "r_precision": "Rprec",
        "bpref": "bpref",
        "rbp.#": "RBP(p=0.#)",
        "mrr": "RR",
        "map": "AP",
        "dcg": "DCG",
        "dcg_burges": "DCG(gains='exp')",
        "ndcg": "nDCG",
        "ndcg_burges": "nDCG(gains='exp')",
    },
    "ir_measures": {
        "MAP": "AP",
        "MRR": "RR",
        "NDCG": "nDCG",
        "Precision": "P",
        "Recall": "R",
        "RPrec": "Rprec",
        "BPref": "bpref",
        "SetP": "P",
        "SetRelP": "RelP",
        "SetR": "R",
        "SetF": "F",
        "AP_IA": "MAP_IA",
    },
    "ndeval": {
        "ERR-IA": "ERR_IA",
        "nERR-IA": "nERR_IA",
        "alpha-DCG": "alpha_DCG",
        "alpha-nDCG": "alpha_nDCG",
        "MAP-IA": "MAP_IA",
        "P-IA": "P_IA",
        "strec": "StRec",
    },
    "BEIR": {"NDCG": "nDCG", "MAP": "AP", "Recall": "R", "MRR": "RR", "R_cap": "RelP"},
    "MTEB": {
        "ndcg_at_#": "nDCG@#",
        "map_at_#": "AP@#",
        "recall_at_#": "R@#",
        "precision_at_#": "P@#",
        "mrr_at_#": "RR@#",
        "hit_rate_at_#": "Success@#",
        "R_cap_at_#": "RelP@#",
    },
    "papers and textbooks": {
        "average_precision": "AP",
        "mean_average_precision": "AP",
        "reciprocal_rank": "RR",
        "mean_reciprocal_rank": "RR",
        "expected_reciprocal_rank": "ERR",
        "compatibility": "Compat",
        "Q-measure": "Q",
        "F#": "F(beta=#)",
        "RBP#": "RBP(p=#)",
        "INSQ#": "INSQ(T=#)",
        "INST#": "INST(T=#)",
        "MP_*": "MP(model='*')",
        "P@H": "PH",
        "DFBM": "PH(model='P')",  # the deterministic forward, stochastic forward and random walk browsing models
        "SFBM": "PH(q=0)",
        "RWBM": "PH",
        "I-rec": "StRec",
        "S-recall": "StRec",
        "D-nDCG": "D_nDCG",
        "DSharp-nDCG": "DSharp_nDCG",  # D#-nDCG
    },
}
# other spellings of a part: ranx's level and the papers' recall, at the end, and ir_measures' parameters
ENDINGS = {"-l#": "rel=#", "@Rec": "rescale='R'"}
PARAMETERS = {"dcg='log2'": "gains='linear'", "dcg='exp-log2'": "gains='exp'", "max_rel=#": "max_grade=#"}


class Ambiguous(NamedTuple):
    """A name that means different things: what, amble's measures for them, and the sign that settles it, if any."""

    why: str
    ours: tuple[str, ...]
    settled: str = ""


AMBIGUOUS = {
    "hits": Ambiguous("the number of relevant documents in ranx, whether there is one elsewhere", ("P@#", "Success@#")),
    "accuracy": Ambiguous(
        "whether there is a relevant document in BEIR, the share of pairs in the right order in ir_measures",
        ("Success@#",),
    ),
    "hole": Ambiguous(
        "the share of documents judged for no topic at all in BEIR, for this topic here", ("Unjudged@#",)
    ),
    "recall": Ambiguous("recall at nine ranks in trec_eval, of the whole list in ranx", ("R@#", "R"), "@"),
    "success": Ambiguous("success at three ranks in trec_eval, in the whole list here", ("Success@#", "Success"), "@"),
    "rbp": Ambiguous(
        "graded and with p=0.9 in trec_eval, binary and with a p of its own in ranx", ("GRBP(p=0.9)", "RBP(p=0.8)"), "("
    ),
}

_SIGNS = {"D#-": "DSharp-", "D♯-": "DSharp-", "α-": "alpha-"}
_LONGEST = 1000  # longer ones are refused by the grammar
# patterns, compiled when a name is not amble's own
_ENDING = r"(?is)(?P<rest>.*?)\s*(?:-l(?P<level>[0-9]+)|@\s*rec(?:\s*\(T\))?)\s*"
_PARTS = r"(?as)\s*(?P<head>[\w.][\w.-]*)\s*(?:\((?P<inside>.*)\))?\s*(?P<at>@.*)?"
_OURS = r"(?P<name>\w+)(?:\((?P<inside>.*)\))?(?P<at>@.*)?"
_NUMBERED = r"(?a)(?P<name>.*?[a-z])(?P<sign>[._]?)(?P<number>\d+(?:\.\d+)?|\.\d+)"
_SPELLED = [
    (theirs.replace("'", "['\"]").replace("=", r"\s*=\s*").replace("#", ""), ours.replace("#", ""))
    for theirs, ours in PARAMETERS.items()
]
_EXAMPLES = {"iprec_at_recall_#": "0.1", "ircl_prn_#": "0.1", "rprec_mult_#": "0.2"}  # elsewhere 10


def _key(name: str) -> str:
    return name.lower().replace("-", "_")


_NAMES = {_key(theirs): ours for rows in ALIASES.values() for theirs, ours in rows.items()}


def translate(text: str, own: Collection[str]) -> str:
    """A measure's expression in amble's words; as it is if there is nothing to translate.

    Parameters
    ----------
    text : str
    own : collection of str
        The names of measures in amble. They are read in any case, and as they are written they come first.

    Raises
    ------
    MeasureError
        If a name is ambiguous, with the measures that may be meant.

    Examples
    --------
    >>> own = ("nDCG", "AP", "MP")
    >>> [translate(text, own) for text in ("ndcg_cut_10", "NDCG@10", "map(rel=2)@5", "MP_GL_AD_ID@Rec")]
    ['nDCG@10', 'nDCG@10', 'AP(rel=2)@5', "MP(model='GL_AD_ID',rescale='R')"]
    """
    name, _, rank = text.partition("@")
    if name in own and (not rank or (rank.isascii() and rank.isdigit())):  # amble's own, as most are
        return text
    if name.strip().upper() == "P" and rank[:1] in ("H", "h"):  # P@H, whose H is no rank
        return translate("PH" + rank[1:], own)
    for sign, word in _SIGNS.items():
        text = text.replace(sign, word)
    ending = None if len(text) > _LONGEST else re.fullmatch(_ENDING, text)
    parts = None if len(text) > _LONGEST else re.fullmatch(_PARTS, ending["rest"] if ending else text)
    if parts is None:
        return text
    head, inside, at, more = parts["head"], parts["inside"] or "", parts["at"] or "", ""
    for theirs, ours in _SPELLED:
        inside = re.sub(theirs, ours, inside)
    if ending:
        level = ending["level"]
        more = ENDINGS["-l#"].replace("#", level) if level else ENDINGS["@Rec"]
    found = head if head in own else _in_amble(text, head, inside, at, own)
    if found is None or (found == head and not more and inside == (parts["inside"] or "")):
        return text
    if more == ENDINGS["@Rec"] and found.partition("(")[0] != "MP":
        return text
    return _joined(found, inside, at, more)


def _joined(ours: str, inside: str, at: str, more: str = "") -> str:
    """An expression with further arguments and a rank."""
    found = re.fullmatch(_OURS, ours)
    assert found is not None
    arguments = ",".join(filter(None, (inside, found["inside"], more)))
    return found["name"] + (f"({arguments})" if arguments else "") + (found["at"] or "") + at


def _in_amble(text: str, head: str, inside: str, at: str, own: Collection[str]) -> str | None:
    """The expression that a name of another program is; None if it is unknown."""
    key = _key(head)
    rank = at.removeprefix("@").strip()

    def ask(why: str, meant: Iterable[str]) -> MeasureError:
        whole = (_joined(ours if not rank else ours.removesuffix("@#"), inside, at) for ours in meant)
        shown = " or ".join(ours.replace("#", _EXAMPLES.get(f"{key}_#", "10")) for ours in whole)
        return MeasureError(f"{text!r}: {head} {why}; did you mean {shown}?")

    unclear = AMBIGUOUS.get(key)
    if unclear and not {"": False, "@": at, "(": inside}[unclear.settled]:
        raise ask(f"is {unclear.why}", unclear.ours)
    if key in _NAMES:
        return _NAMES[key]
    same = [name for name in own if name.lower() == head.lower()]
    if len(same) > 1:
        raise ask("is the name of several measures, in other capitals", same)
    if same:
        return same[0]
    found = re.fullmatch(_NUMBERED, key)
    for sign in (found["sign"], "_" if found["sign"] == "." else None) if found else ():
        if found and sign is not None and f"{found['name']}{sign}#" in _NAMES:
            return _NAMES[f"{found['name']}{sign}#"].replace("#", found["number"])
    if f"{key}_#" in _NAMES:
        raise ask("needs a number", [_NAMES[f"{key}_#"]])
    first, _, word = key.partition("_")
    return _NAMES[f"{first}_*"].replace("*", word.upper()) if word and f"{first}_*" in _NAMES else None


def plain_name(text: str) -> tuple[str, int | None] | None:
    """Name and rank of an expression that has no more, as most have; None of others.

    >>> plain_name("nDCG@10"), plain_name("AP"), plain_name("AP(rel=2)"), plain_name("IPrec@0.1")
    (('nDCG', 10), ('AP', None), None, None)
    """
    name, at, rank = text.partition("@")
    if not (text.isascii() and name.isidentifier()) or (at and not (rank.isdigit() and len(rank) <= 15)):
        return None
    return name, int(rank) if at else None


def is_alias(text: str) -> bool:
    """Whether an expression is in another program's words."""
    try:
        return translate(text, ()) != text
    except MeasureError:  # ambiguous
        return True


def similar(text: str, own: Collection[str]) -> list[str]:
    """Expressions that may have been meant by one whose name is unknown, with its arguments and rank.

    >>> similar("nDGC@10", ["nDCG", "AP"])[0], similar("ndgc_cut_20", ["nDCG", "AP"])[0]
    ('nDCG@10', 'nDCG@20')
    """
    import difflib  # for errors only

    parts = re.fullmatch(_PARTS, text)
    if parts is None:
        return []
    head, inside, at = parts["head"], parts["inside"] or "", (parts["at"] or "").rstrip()
    key, number = _key(head), "10"
    if found := re.fullmatch(_NUMBERED, key):
        key, number = f"{found['name']}{found['sign']}#", found["number"]
    known = _NAMES | {name.lower(): name for name in own}
    close = (known[name].replace("#", number) for name in difflib.get_close_matches(key, known, 6, 0.66))
    return list(dict.fromkeys(_joined(ours, inside, at) for ours in close))
