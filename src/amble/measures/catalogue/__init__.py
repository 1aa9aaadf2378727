"""All measures, a module for each family, in the order of tables and help; one is imported when its measure is used."""

import importlib
from functools import partial

from amble.measures.declaration import REGISTRY

__all__ = ["MODULES"]

MODULES = {
    "classic": "P R AP GMAP RR DCG nDCG ERR",
    "list_based": "NumQ NumRet NumRel NumRelRet NumNonrelRet Judged Unjudged F RelP SetAP Success ESL Utility Rprec "
    "IPrec IPrecAvg PRAUC bpref GMbpref infAP RBPresid",
    "cwl": "RBP RBAP SDCG GRBP INSQ INST CWL BPM BPMD IFTGoal IFTRate IFT TBG U NERR8 NERR9 NERR10 NERR11",
    "clicks": "EBU",
    "graded": "binG G nDCGrel RnDCG Q Compat",
    "markov_precision": "MP NCP",
    "sessions_novelty": "CubeTest ACT ExpectedUtility",
    "sessions_weighted": "MsM sRBP sDCG nsDCG sU sINSQ PerQuery",
    "sessions_expected": "esP esR esDCG esnDCG esRR esAP esM",
    "walks": "PH",
    "intents": "alpha_DCG alpha_nDCG ERR_IA nERR_IA NRBP nNRBP MAP_IA P_IA StRec D_nDCG DSharp_nDCG IA",
}


def _declare(module: str) -> None:
    importlib.import_module(f"amble.measures.catalogue.{module}")


for _module, _names in MODULES.items():
    REGISTRY.expect(_names.split(), partial(_declare, _module))
