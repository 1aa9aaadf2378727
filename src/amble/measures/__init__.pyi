# made by docs/make_stub.py from __init__.py and the declarations: change those, not this file
# fmt: off
# ruff: noqa: E501, N801, N816

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Self

from amble.expressions.domains import Above as Above
from amble.expressions.domains import AtLeast as AtLeast
from amble.expressions.domains import Between as Between
from amble.expressions.domains import GainTable as GainTable
from amble.expressions.domains import Numbers as Numbers
from amble.expressions.domains import OneOf as OneOf
from amble.expressions.domains import Optional as Optional
from amble.expressions.domains import Switch as Switch
from amble.expressions.domains import Whole as Whole
from amble.expressions.populations import Beta as Beta
from amble.expressions.populations import Dirichlet as Dirichlet
from amble.expressions.populations import Gamma as Gamma
from amble.expressions.populations import Population as Population
from amble.expressions.populations import Uniform as Uniform
from amble.measures import catalogue as catalogue
from amble.measures.declaration import REGISTRY as REGISTRY
from amble.measures.declaration import measure as measure
from amble.measures.gain_maps import binary as binary
from amble.measures.gain_maps import graded as graded
from amble.measures.gain_maps import satisfying as satisfying
from amble.measures.gain_maps import scaled as scaled
from amble.measures.list_measure import ListMeasure as ListMeasure
from amble.measures.measure import Measure as Measure
from amble.measures.mixture import Mixture as Mixture
from amble.measures.parsing import parse as parse
from amble.measures.session_measure import SessionGains as SessionGains
from amble.measures.session_measure import SessionMeasure as SessionMeasure
from amble.rankings.lists import Gains as Gains
from amble.rankings.lists import Lists as Lists
from amble.users.behaviour import Behaviour as Behaviour
from amble.users.effort import Effort as Effort
from amble.users.forward import Forward as Forward
from amble.users.markov import MarkovUser as MarkovUser
from amble.users.markov import MarkovUserOnList as MarkovUserOnList
from amble.users.session_user import SessionWalk as SessionWalk
from amble.users.session_user import SessionWalkOnLists as SessionWalkOnLists
from amble.users.walk import Walk as Walk
from amble.users.walk_on_list import WalkOnList as WalkOnList

class _P(ListMeasure):
    def __call__(self, k: int | None = None, *, rel: float = 1, gains: Literal["scaled"] | None = None, max_grade: float | Population | None = None) -> Self: ...
P: _P
class _R(ListMeasure):
    def __call__(self, k: int | None = None, *, rel: float = 1) -> Self: ...
R: _R
class _AP(ListMeasure):
    def __call__(self, *, rel: float = 1, gains: Literal["scaled"] | None = None, max_grade: float | Population | None = None) -> Self: ...
AP: _AP
class _GMAP(ListMeasure):
    def __call__(self, *, rel: float = 1) -> Self: ...
GMAP: _GMAP
class _RR(ListMeasure):
    def __call__(self, *, rel: float = 1) -> Self: ...
RR: _RR
class _DCG(ListMeasure):
    def __call__(self, *, base: float | Population | Mapping[str, float] | None = None, gains: str | Mapping[float, float] = "linear") -> Self: ...
DCG: _DCG
class _nDCG(ListMeasure):
    def __call__(self, *, base: float | Population | Mapping[str, float] | None = None, gains: str | Mapping[float, float] = "linear") -> Self: ...
nDCG: _nDCG
class _ERR(ListMeasure):
    def __call__(self, *, max_grade: float | Population | None = None) -> Self: ...
ERR: _ERR
class _NumQ(ListMeasure):
    def __call__(self) -> Self: ...
NumQ: _NumQ
class _NumRet(ListMeasure):
    def __call__(self) -> Self: ...
NumRet: _NumRet
class _NumRel(ListMeasure):
    def __call__(self, *, rel: float = 1) -> Self: ...
NumRel: _NumRel
class _NumRelRet(ListMeasure):
    def __call__(self, *, rel: float = 1) -> Self: ...
NumRelRet: _NumRelRet
class _NumNonrelRet(ListMeasure):
    def __call__(self, *, rel: float = 1) -> Self: ...
NumNonrelRet: _NumNonrelRet
class _Judged(ListMeasure):
    def __call__(self, k: int | None = None, *, per: Literal["list", "k"] = "list") -> Self: ...
Judged: _Judged
class _Unjudged(ListMeasure):
    def __call__(self, k: int = 10) -> Self: ...
Unjudged: _Unjudged
class _F(ListMeasure):
    def __call__(self, beta: float | Population | Mapping[str, float] = 1.0, *, k: int | None = None, rel: float = 1) -> Self: ...
F: _F
class _RelP(ListMeasure):
    def __call__(self, k: int | None = None, *, rel: float = 1) -> Self: ...
RelP: _RelP
class _SetAP(ListMeasure):
    def __call__(self, *, rel: float = 1) -> Self: ...
SetAP: _SetAP
class _Success(ListMeasure):
    def __call__(self, k: int | None = None, *, rel: float = 1) -> Self: ...
Success: _Success
class _ESL(ListMeasure):
    def __call__(self, n: int = 1, *, docs: int = 1000, rel: float = 1) -> Self: ...
ESL: _ESL
class _Utility(ListMeasure):
    def __call__(self, weights: str | Sequence[float] = ..., *, docs: int = 0, rel: float = 1) -> Self: ...
Utility: _Utility
class _Rprec(ListMeasure):
    def __call__(self, mult: float | Population | Mapping[str, float] = 1.0, *, rel: float = 1) -> Self: ...
Rprec: _Rprec
class _IPrec(ListMeasure):
    def __call__(self, recall: float | Population | Mapping[str, float] = 0.0, *, rule: Literal["textbook", "trec10", "trec9"] = "textbook", rel: float = 1) -> Self: ...
IPrec: _IPrec
class _IPrecAvg(ListMeasure):
    def __call__(self, points: str | Sequence[float] = ..., *, rule: Literal["textbook", "trec10", "trec9"] = "textbook", rel: float = 1) -> Self: ...
IPrecAvg: _IPrecAvg
class _PRAUC(ListMeasure):
    def __call__(self, *, rel: float = 1) -> Self: ...
PRAUC: _PRAUC
class _bpref(ListMeasure):
    def __call__(self, *, rel: float = 1) -> Self: ...
bpref: _bpref
class _GMbpref(ListMeasure):
    def __call__(self, *, rel: float = 1) -> Self: ...
GMbpref: _GMbpref
class _infAP(ListMeasure):
    def __call__(self, *, rel: float = 1) -> Self: ...
infAP: _infAP
class _RBPresid(ListMeasure):
    def __call__(self, p: float | Population | Mapping[str, float] = 0.9, *, rel: float = 1) -> Self: ...
RBPresid: _RBPresid
class _RBP(ListMeasure):
    def __call__(self, p: float | Population | Mapping[str, float] = 0.8, *, finite: bool = False, user: str | None = None, rel: float = 1) -> Self: ...
RBP: _RBP
class _RBAP(ListMeasure):
    def __call__(self, p: float | Population | Mapping[str, float] = 0.8, *, rel: float = 1, gains: Literal["scaled"] | None = None, max_grade: float | Population | None = None) -> Self: ...
RBAP: _RBAP
class _SDCG(ListMeasure):
    def __call__(self, k: int = 10, *, max_grade: float | Population | None = None) -> Self: ...
SDCG: _SDCG
class _GRBP(ListMeasure):
    def __call__(self, p: float | Population | Mapping[str, float] = 0.8, *, user: str | None = None, max_grade: float | Population | None = None) -> Self: ...
GRBP: _GRBP
class _INSQ(ListMeasure):
    def __call__(self, T: float | Population | Mapping[str, float] = 1.0, *, adaptive: bool = False, form: Literal["figures", "printed"] = "figures", power: float | Population | Mapping[str, float] = 2.0, user: str | None = None, max_grade: float | Population | None = None) -> Self: ...
INSQ: _INSQ
class _INST(ListMeasure):
    def __call__(self, T: float | Population | Mapping[str, float] = 1.0, *, user: str | None = None, max_grade: float | Population | None = None) -> Self: ...
INST: _INST
class _CWL(ListMeasure):
    def __call__(self, C: str | Sequence[float] | Callable[..., Any] | None = ..., *, V: str | Sequence[float] | Callable[..., Any] | None = None, W: str | Sequence[float] | Callable[..., Any] | None = None, L: str | Sequence[float] | Callable[..., Any] | None = None, H: str | Sequence[float] | Callable[..., Any] | None = None, order: Literal[1, 2] = 2, finite: bool = False, user: str | None = None, max_grade: float | Population | None = None) -> Self: ...
CWL: _CWL
class _BPM(ListMeasure):
    def __call__(self, T: float | Mapping[str, float] = 1.0, *, k: int = 10, user: str | None = None, max_grade: float | Population | None = None) -> Self: ...
BPM: _BPM
class _BPMD(ListMeasure):
    def __call__(self, T: float | Mapping[str, float] = 1.0, *, k: int = 10, hb: float | Mapping[str, float] = 1.0, hc: float | Mapping[str, float] = 0.0, median: float | Population | Mapping[str, float] = 0.5, max_grade: float | Population | None = None) -> Self: ...
BPMD: _BPMD
class _IFTGoal(ListMeasure):
    def __call__(self, T: float | Population | Mapping[str, float] = 2.0, *, b: float | Population | Mapping[str, float] = 0.9, R: float | Population | Mapping[str, float] = 10.0, user: str | None = None, max_grade: float | Population | None = None) -> Self: ...
IFTGoal: _IFTGoal
class _IFTRate(ListMeasure):
    def __call__(self, A: float | Population | Mapping[str, float] = 0.2, *, b: float | Population | Mapping[str, float] = 0.9, R: float | Population | Mapping[str, float] = 10.0, user: str | None = None, max_grade: float | Population | None = None) -> Self: ...
IFTRate: _IFTRate
class _IFT(ListMeasure):
    def __call__(self, T: float | Population | Mapping[str, float] = 2.0, *, b1: float | Population | Mapping[str, float] = 0.9, R1: float | Population | Mapping[str, float] = 10.0, A: float | Population | Mapping[str, float] = 0.2, b2: float | Population | Mapping[str, float] = 0.9, R2: float | Population | Mapping[str, float] = 10.0, user: str | None = None, max_grade: float | Population | None = None) -> Self: ...
IFT: _IFT
class _TBG(ListMeasure):
    def __call__(self, h: float | Population | Mapping[str, float] = 224.0, *, max_grade: float | Population | None = None) -> Self: ...
TBG: _TBG
class _U(ListMeasure):
    def __call__(self, L: float | Population | Mapping[str, float] = 1000.0, *, max_grade: float | Population | None = None) -> Self: ...
U: _U
class _NERR8(ListMeasure):
    def __call__(self, k: int = 10, *, max_grade: float | Population | None = None) -> Self: ...
NERR8: _NERR8
class _NERR9(ListMeasure):
    def __call__(self, k: int = 10, *, max_grade: float | Population | None = None) -> Self: ...
NERR9: _NERR9
class _NERR10(ListMeasure):
    def __call__(self, p: float | Population | Mapping[str, float] = 0.9, *, max_grade: float | Population | None = None) -> Self: ...
NERR10: _NERR10
class _NERR11(ListMeasure):
    def __call__(self, T: float | Population | Mapping[str, float] = 1.0, *, max_grade: float | Population | None = None) -> Self: ...
NERR11: _NERR11
class _EBU(ListMeasure):
    def __call__(self, click: float | Population | str | Mapping[float, float] = ..., *, after: float | Population | str | Mapping[float, float] = ..., without: float | Population | str | Mapping[float, float] = 0.8, gains: str | Mapping[float, float] = "linear") -> Self: ...
EBU: _EBU
class _binG(ListMeasure):
    def __call__(self, *, rel: float = 1) -> Self: ...
binG: _binG
class _G(ListMeasure):
    def __call__(self, *, gains: str | Mapping[float, float] = "linear") -> Self: ...
G: _G
class _nDCGrel(ListMeasure):
    def __call__(self, *, gains: str | Mapping[float, float] = "linear") -> Self: ...
nDCGrel: _nDCGrel
class _RnDCG(ListMeasure):
    def __call__(self, *, gains: str | Mapping[float, float] = "linear") -> Self: ...
RnDCG: _RnDCG
class _Q(ListMeasure):
    def __call__(self, beta: float | Population | Mapping[str, float] = 1.0, *, k: int | None = None, gains: str | Mapping[float, float] = "linear") -> Self: ...
Q: _Q
class _Compat(ListMeasure):
    def __call__(self, p: float | Population | Mapping[str, float] = 0.95, *, depth: int = 1000, gains: str | Mapping[float, float] = "linear") -> Self: ...
Compat: _Compat
class _MP(ListMeasure):
    def __call__(self, model: Literal["GL_AD_NA", "GL_AD_ID", "GL_AD_LID", "GL_OR_NA", "GL_OR_ID", "GL_OR_LID", "LO_AD_NA", "LO_AD_ID", "LO_AD_LID", "LO_OR_NA", "LO_OR_ID", "LO_OR_LID"] = "GL_AD_ID", *, loops: Literal["NL", "SL"] = "NL", counts: Literal["NA", "FRBN", "FNBR", "FIRBIN", "FINBIR"] = "NA", rescale: Literal["NA", "R", "RR"] = "NA", rates: str | Sequence[float] | None = None, steps: int | None = None, start: Literal["first", "uniform"] | None = None, memory: bool = False, users: int = 10000, seed: int = 0, user: str | None = None, rel: float = 1) -> Self: ...
MP: _MP
class _NCP(ListMeasure):
    def __call__(self, g: float | Population | Mapping[str, float] = 1.0, *, distribution: str | Sequence[float] | None = None, documents: Any | None = None, rel: float = 1) -> Self: ...
NCP: _NCP
class _CubeTest(SessionMeasure):
    def __call__(self, gamma: float | Population = 0.5, *, height: float | Population = 5.0, time: Literal["queries", "documents"] = "queries", gains: str | Mapping[float, float] = "linear") -> Self: ...
CubeTest: _CubeTest
class _ACT(SessionMeasure):
    def __call__(self, gamma: float | Population = 0.5, *, height: float | Population = 5.0, time: Literal["queries", "documents"] = "queries", gains: str | Mapping[float, float] = "linear") -> Self: ...
ACT: _ACT
class _ExpectedUtility(SessionMeasure):
    def __call__(self, p: float | Population = 0.5, *, gamma: float | Population = 0.5, a: float | Population = 0.01, gains: str | Mapping[float, float] = "linear") -> Self: ...
ExpectedUtility: _ExpectedUtility
class _MsM(SessionMeasure):
    def __call__(self, p: float | Population = 0.6, *, q: float | Population = 0.1, r: float | Population = 0.2, s: float | Population = 0.1, discount: Literal["linear", "log"] = "linear", user: str | None = None, lengths: Literal["own", "longest"] = "own", published: bool = False, program: bool = False, gains: str | Mapping[float, float] = "linear") -> Self: ...
MsM: _MsM
class _sRBP(SessionMeasure):
    def __call__(self, p: float | Population = 0.8, *, b: float | Population = 0.7, user: str | None = None, max_grade: float | Population | None = None) -> Self: ...
sRBP: _sRBP
class _sDCG(SessionMeasure):
    def __call__(self, b: float | Population = 2.0, *, bq: float | Population = 4.0, ranks: Literal["max", "plus"] = "max", gains: str | Mapping[float, float] = "linear") -> Self: ...
sDCG: _sDCG
class _nsDCG(SessionMeasure):
    def __call__(self, b: float | Population = 2.0, *, bq: float | Population = 4.0, ranks: Literal["max", "plus"] = "max", gains: str | Mapping[float, float] = "linear") -> Self: ...
nsDCG: _nsDCG
class _sU(SessionMeasure):
    def __call__(self, L: float | Population = 30.0, *, query: float | Population = 0.0, max_grade: float | Population | None = None) -> Self: ...
sU: _sU
class _sINSQ(SessionMeasure):
    def __call__(self, T: float | Population = 1.0, *, reform: float | Population = 1.0, form: Literal["figures", "printed"] = "figures", max_grade: float | Population | None = None) -> Self: ...
sINSQ: _sINSQ
class _PerQuery(SessionMeasure):
    def __call__(self, *, of: Any | None = None, over: Literal["mean", "sum", "max", "min", "first", "last"] = "mean", gains: str | Mapping[float, float] = "linear") -> Self: ...
PerQuery: _PerQuery
class _esP(SessionMeasure):
    def __call__(self, down: float | Population = 0.8, *, reform: float | Population = 0.7, k: int | None = None, rel: float = 1) -> Self: ...
esP: _esP
class _esR(SessionMeasure):
    def __call__(self, down: float | Population = 0.8, *, reform: float | Population = 0.7, k: int | None = None, rel: float = 1) -> Self: ...
esR: _esR
class _esDCG(SessionMeasure):
    def __call__(self, down: float | Population = 0.8, *, reform: float | Population = 0.7, k: int | None = None, gains: str | Mapping[float, float] = "linear") -> Self: ...
esDCG: _esDCG
class _esnDCG(SessionMeasure):
    def __call__(self, down: float | Population = 0.8, *, reform: float | Population = 0.7, k: int | None = None, gains: str | Mapping[float, float] = "linear") -> Self: ...
esnDCG: _esnDCG
class _esRR(SessionMeasure):
    def __call__(self, down: float | Population = 0.8, *, reform: float | Population = 0.7, rel: float = 1) -> Self: ...
esRR: _esRR
class _esAP(SessionMeasure):
    def __call__(self, down: float | Population = 0.8, *, reform: float | Population = 0.7, rel: float = 1) -> Self: ...
esAP: _esAP
class _esM(SessionMeasure):
    def __call__(self, *, of: Any | None = None, down: float | Population = 0.8, reform: float | Population = 0.7, users: int = 10000, seed: int = 0, gains: str | Mapping[float, float] = "linear") -> Self: ...
esM: _esM
class _PH(ListMeasure):
    def __call__(self, p: float | Population | str | Sequence[Any] | Mapping[float, Any] | Callable[..., Any] = 0.5, *, q: float | Population | str | Sequence[Any] | Mapping[float, Any] | Callable[..., Any] = 0.25, loss: float | Population | Mapping[str, float] = 0.25, utility: Any | None = None, effort: Any | None = None, order: Literal[1, 2] | None = None, first: Literal["forward", "stop"] = "forward", start: str | Sequence[float] | None = None, end: Literal["stop", "nothing", "endless"] | None = None, per: Literal["list", "endless"] = "list", model: Literal["P", "AP", "RBP", "DCG", "ERR"] | None = None, base: float | Population | Mapping[str, float] = 2, pqs: Population | None = None, user: Any | None = None, seconds: float | Population | str | Sequence[float] | Mapping[float, float] | None = None, timing: Any = "exponential", overhead: float | Population | Mapping[str, float] = 0, rel: float = 1, gains: str | Mapping[float, float] | None = None) -> Self: ...
PH: _PH
class _alpha_DCG(ListMeasure):
    def __call__(self, alpha: float | Population | Mapping[str, float] = 0.5, *, rel: float | Mapping[str, float] = 1, gains: str | Mapping[float, float] | None = None) -> Self: ...
alpha_DCG: _alpha_DCG
class _alpha_nDCG(ListMeasure):
    def __call__(self, alpha: float | Population | Mapping[str, float] = 0.5, *, rel: float | Mapping[str, float] = 1, gains: str | Mapping[float, float] | None = None) -> Self: ...
alpha_nDCG: _alpha_nDCG
class _ERR_IA(ListMeasure):
    def __call__(self, alpha: float | Population | Mapping[str, float] = 0.5, *, rel: float | Mapping[str, float] = 1) -> Self: ...
ERR_IA: _ERR_IA
class _nERR_IA(ListMeasure):
    def __call__(self, alpha: float | Population | Mapping[str, float] = 0.5, *, rel: float | Mapping[str, float] = 1) -> Self: ...
nERR_IA: _nERR_IA
class _NRBP(ListMeasure):
    def __call__(self, alpha: float | Population | Mapping[str, float] = 0.5, *, beta: float | Population | Mapping[str, float] = 0.5, rel: float | Mapping[str, float] = 1, gains: str | Mapping[float, float] | None = None) -> Self: ...
NRBP: _NRBP
class _nNRBP(ListMeasure):
    def __call__(self, alpha: float | Population | Mapping[str, float] = 0.5, *, beta: float | Population | Mapping[str, float] = 0.5, rel: float | Mapping[str, float] = 1, gains: str | Mapping[float, float] | None = None) -> Self: ...
nNRBP: _nNRBP
class _MAP_IA(ListMeasure):
    def __call__(self, rel: float | Mapping[str, float] = 1) -> Self: ...
MAP_IA: _MAP_IA
class _P_IA(ListMeasure):
    def __call__(self, rel: float | Mapping[str, float] = 1) -> Self: ...
P_IA: _P_IA
class _StRec(ListMeasure):
    def __call__(self, rel: float | Mapping[str, float] = 1) -> Self: ...
StRec: _StRec
class _D_nDCG(ListMeasure):
    def __call__(self, gains: str | Mapping[float, float] = "linear") -> Self: ...
D_nDCG: _D_nDCG
class _DSharp_nDCG(ListMeasure):
    def __call__(self, gamma: float | Population | Mapping[str, float] = 0.5, *, gains: str | Mapping[float, float] = "linear") -> Self: ...
DSharp_nDCG: _DSharp_nDCG
class _IA(ListMeasure):
    def __call__(self, *, of: Any | None = None, novel: float | Population | Mapping[str, float] | None = None) -> Self: ...
IA: _IA
