# made by docs/make_stub.py from __init__.py and the declarations: change those, not this file
# fmt: off
# ruff: noqa: E501, N801, N816

from typing import Self

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
from amble.measures.list_measure import Measure as Measure
from amble.measures.parsing import parse as parse
from amble.measures.session_measure import SessionGains as SessionGains
from amble.measures.session_measure import SessionMeasure as SessionMeasure
from amble.rankings.lists import Gains as Gains
from amble.rankings.lists import Lists as Lists
from amble.users.effort import Effort as Effort
from amble.users.forward import Behaviour as Behaviour
from amble.users.forward import Forward as Forward
from amble.users.markov import MarkovUser as MarkovUser
from amble.users.markov import MarkovUserOnList as MarkovUserOnList
from amble.users.session_user import SessionWalk as SessionWalk
from amble.users.session_user import SessionWalkOnLists as SessionWalkOnLists
from amble.users.walk import Walk as Walk
from amble.users.walk_on_list import WalkOnList as WalkOnList

class _P(Measure):
    def __call__(self, k: int | None = None, *, rel: float = 1) -> Self: ...
P: _P
class _R(Measure):
    def __call__(self, k: int | None = None, *, rel: float = 1) -> Self: ...
R: _R
class _AP(Measure):
    def __call__(self, *, rel: float = 1) -> Self: ...
AP: _AP
class _GMAP(Measure):
    def __call__(self, *, rel: float = 1) -> Self: ...
GMAP: _GMAP
class _RR(Measure):
    def __call__(self, *, rel: float = 1) -> Self: ...
RR: _RR
class _DCG(Measure):
    def __call__(self, *, base: float | Population | None = None, gains: str = "linear") -> Self: ...
DCG: _DCG
class _nDCG(Measure):
    def __call__(self, *, base: float | Population | None = None, gains: str = "linear") -> Self: ...
nDCG: _nDCG
class _ERR(Measure):
    def __call__(self, *, max_grade: float | Population | None = None) -> Self: ...
ERR: _ERR
class _RBP(Measure):
    def __call__(self, p: float | Population = 0.8, *, finite: bool = False, user: str | None = None, rel: float = 1) -> Self: ...
RBP: _RBP
class _NumQ(Measure):
    def __call__(self) -> Self: ...
NumQ: _NumQ
class _NumRet(Measure):
    def __call__(self) -> Self: ...
NumRet: _NumRet
class _NumRel(Measure):
    def __call__(self, *, rel: float = 1) -> Self: ...
NumRel: _NumRel
class _NumRelRet(Measure):
    def __call__(self, *, rel: float = 1) -> Self: ...
NumRelRet: _NumRelRet
class _NumNonrelRet(Measure):
    def __call__(self, *, rel: float = 1) -> Self: ...
NumNonrelRet: _NumNonrelRet
class _Judged(Measure):
    def __call__(self, k: int | None = None, *, per: str = "list") -> Self: ...
Judged: _Judged
class _Unjudged(Measure):
    def __call__(self, k: int = 10) -> Self: ...
Unjudged: _Unjudged
class _F(Measure):
    def __call__(self, beta: float | Population = 1.0, *, k: int | None = None, rel: float = 1) -> Self: ...
F: _F
class _RelP(Measure):
    def __call__(self, k: int | None = None, *, rel: float = 1) -> Self: ...
RelP: _RelP
class _SetAP(Measure):
    def __call__(self, *, rel: float = 1) -> Self: ...
SetAP: _SetAP
class _Success(Measure):
    def __call__(self, k: int | None = None, *, rel: float = 1) -> Self: ...
Success: _Success
class _Utility(Measure):
    def __call__(self, weights: str = "1,-1,0,0", *, docs: int = 0, rel: float = 1) -> Self: ...
Utility: _Utility
class _Rprec(Measure):
    def __call__(self, mult: float | Population = 1.0, *, rel: float = 1) -> Self: ...
Rprec: _Rprec
class _IPrec(Measure):
    def __call__(self, recall: float | Population = 0.0, *, rule: str = "textbook", rel: float = 1) -> Self: ...
IPrec: _IPrec
class _IPrecAvg(Measure):
    def __call__(self, points: str = "0,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1", *, rule: str = "textbook", rel: float = 1) -> Self: ...
IPrecAvg: _IPrecAvg
class _PRAUC(Measure):
    def __call__(self, *, rel: float = 1) -> Self: ...
PRAUC: _PRAUC
class _bpref(Measure):
    def __call__(self, *, rel: float = 1) -> Self: ...
bpref: _bpref
class _GMbpref(Measure):
    def __call__(self, *, rel: float = 1) -> Self: ...
GMbpref: _GMbpref
class _infAP(Measure):
    def __call__(self, *, rel: float = 1) -> Self: ...
infAP: _infAP
class _RBPresid(Measure):
    def __call__(self, p: float | Population = 0.9, *, rel: float = 1) -> Self: ...
RBPresid: _RBPresid
class _SDCG(Measure):
    def __call__(self, k: int = 10, *, max_grade: float | Population | None = None) -> Self: ...
SDCG: _SDCG
class _GRBP(Measure):
    def __call__(self, p: float | Population = 0.8, *, user: str | None = None, max_grade: float | Population | None = None) -> Self: ...
GRBP: _GRBP
class _INSQ(Measure):
    def __call__(self, T: float | Population = 1.0, *, adaptive: bool = False, form: str = "figures", user: str | None = None, max_grade: float | Population | None = None) -> Self: ...
INSQ: _INSQ
class _INST(Measure):
    def __call__(self, T: float | Population = 1.0, *, user: str | None = None, max_grade: float | Population | None = None) -> Self: ...
INST: _INST
class _CWL(Measure):
    def __call__(self, C: str = "0.8", *, user: str | None = None, max_grade: float | Population | None = None) -> Self: ...
CWL: _CWL
class _BPM(Measure):
    def __call__(self, T: float = 1.0, *, k: int = 10, max_grade: float | Population | None = None) -> Self: ...
BPM: _BPM
class _BPMD(Measure):
    def __call__(self, T: float = 1.0, *, k: int = 10, hb: float = 1.0, hc: float = 0.0, median: float | Population = 0.5, max_grade: float | Population | None = None) -> Self: ...
BPMD: _BPMD
class _IFTGoal(Measure):
    def __call__(self, T: float | Population = 2.0, *, b: float | Population = 0.9, R: float | Population = 10.0, max_grade: float | Population | None = None) -> Self: ...
IFTGoal: _IFTGoal
class _IFTRate(Measure):
    def __call__(self, A: float | Population = 0.2, *, b: float | Population = 0.9, R: float | Population = 10.0, max_grade: float | Population | None = None) -> Self: ...
IFTRate: _IFTRate
class _IFT(Measure):
    def __call__(self, T: float | Population = 2.0, *, b1: float | Population = 0.9, R1: float | Population = 10.0, A: float | Population = 0.2, b2: float | Population = 0.9, R2: float | Population = 10.0, max_grade: float | Population | None = None) -> Self: ...
IFT: _IFT
class _TBG(Measure):
    def __call__(self, h: float | Population = 224.0, *, max_grade: float | Population | None = None) -> Self: ...
TBG: _TBG
class _U(Measure):
    def __call__(self, L: float | Population = 1000.0, *, max_grade: float | Population | None = None) -> Self: ...
U: _U
class _NERR8(Measure):
    def __call__(self, k: int = 10, *, max_grade: float | Population | None = None) -> Self: ...
NERR8: _NERR8
class _NERR9(Measure):
    def __call__(self, k: int = 10, *, max_grade: float | Population | None = None) -> Self: ...
NERR9: _NERR9
class _NERR10(Measure):
    def __call__(self, p: float | Population = 0.9, *, max_grade: float | Population | None = None) -> Self: ...
NERR10: _NERR10
class _NERR11(Measure):
    def __call__(self, T: float | Population = 1.0, *, max_grade: float | Population | None = None) -> Self: ...
NERR11: _NERR11
class _binG(Measure):
    def __call__(self, *, rel: float = 1) -> Self: ...
binG: _binG
class _G(Measure):
    def __call__(self, *, gains: str = "linear") -> Self: ...
G: _G
class _nDCGrel(Measure):
    def __call__(self, *, gains: str = "linear") -> Self: ...
nDCGrel: _nDCGrel
class _RnDCG(Measure):
    def __call__(self, *, gains: str = "linear") -> Self: ...
RnDCG: _RnDCG
class _Q(Measure):
    def __call__(self, beta: float | Population = 1.0, *, k: int | None = None, gains: str = "linear") -> Self: ...
Q: _Q
class _Compat(Measure):
    def __call__(self, p: float | Population = 0.95, *, depth: int = 1000, gains: str = "linear") -> Self: ...
Compat: _Compat
class _MP(Measure):
    def __call__(self, model: str = "GL_AD_ID", *, loops: str = "NL", counts: str = "NA", rescale: str = "NA", rates: str | None = None, steps: int | None = None, start: str | None = None, user: str | None = None, rel: float = 1) -> Self: ...
MP: _MP
class _NCP(Measure):
    def __call__(self, g: float | Population = 1.0, *, distribution: str | None = None, rel: float = 1) -> Self: ...
NCP: _NCP
class _CubeTest(SessionMeasure):
    def __call__(self, gamma: float | Population = 0.5, *, height: float | Population = 5.0, time: str = "queries", gains: str = "linear") -> Self: ...
CubeTest: _CubeTest
class _ACT(SessionMeasure):
    def __call__(self, gamma: float | Population = 0.5, *, height: float | Population = 5.0, time: str = "queries", gains: str = "linear") -> Self: ...
ACT: _ACT
class _ExpectedUtility(SessionMeasure):
    def __call__(self, p: float | Population = 0.5, *, gamma: float | Population = 0.5, a: float | Population = 0.01, gains: str = "linear") -> Self: ...
ExpectedUtility: _ExpectedUtility
class _MsM(SessionMeasure):
    def __call__(self, p: float | Population = 0.6, *, q: float | Population = 0.1, r: float | Population = 0.2, s: float | Population = 0.1, discount: str = "linear", user: str | None = None, lengths: str = "own", published: bool = False, program: bool = False, gains: str = "linear") -> Self: ...
MsM: _MsM
class _sRBP(SessionMeasure):
    def __call__(self, p: float | Population = 0.8, *, b: float | Population = 0.7, max_grade: float | Population | None = None) -> Self: ...
sRBP: _sRBP
class _sDCG(SessionMeasure):
    def __call__(self, b: float | Population = 2.0, *, bq: float | Population = 4.0, ranks: str = "max", gains: str = "linear") -> Self: ...
sDCG: _sDCG
class _nsDCG(SessionMeasure):
    def __call__(self, b: float | Population = 2.0, *, bq: float | Population = 4.0, ranks: str = "max", gains: str = "linear") -> Self: ...
nsDCG: _nsDCG
class _sU(SessionMeasure):
    def __call__(self, L: float | Population = 30.0, *, query: float | Population = 0.0, max_grade: float | Population | None = None) -> Self: ...
sU: _sU
class _PerQuery(SessionMeasure):
    def __call__(self, *, of: str | None = None, over: str = "mean", gains: str = "linear") -> Self: ...
PerQuery: _PerQuery
class _esP(SessionMeasure):
    def __call__(self, down: float | Population = 0.8, *, reform: float | Population = 0.7, k: int | None = None, rel: float = 1) -> Self: ...
esP: _esP
class _esR(SessionMeasure):
    def __call__(self, down: float | Population = 0.8, *, reform: float | Population = 0.7, k: int | None = None, rel: float = 1) -> Self: ...
esR: _esR
class _esDCG(SessionMeasure):
    def __call__(self, down: float | Population = 0.8, *, reform: float | Population = 0.7, k: int | None = None, gains: str = "linear") -> Self: ...
esDCG: _esDCG
class _esnDCG(SessionMeasure):
    def __call__(self, down: float | Population = 0.8, *, reform: float | Population = 0.7, k: int | None = None, gains: str = "linear") -> Self: ...
esnDCG: _esnDCG
class _esRR(SessionMeasure):
    def __call__(self, down: float | Population = 0.8, *, reform: float | Population = 0.7, rel: float = 1) -> Self: ...
esRR: _esRR
class _esAP(SessionMeasure):
    def __call__(self, down: float | Population = 0.8, *, reform: float | Population = 0.7, rel: float = 1) -> Self: ...
esAP: _esAP
class _esM(SessionMeasure):
    def __call__(self, *, of: str | None = None, down: float | Population = 0.8, reform: float | Population = 0.7, users: int = 10000, seed: int = 0, gains: str = "linear") -> Self: ...
esM: _esM
class _PH(Measure):
    def __call__(self, p: float | Population | str = 0.5, *, q: float | Population | str = 0.25, loss: float | Population = 0.25, visits: str | None = None, effort: str = "h", order: int | None = None, first: str = "forward", start: str | None = None, end: str | None = None, per: str = "list", model: str | None = None, base: float | Population = 2, user: str | None = None, rel: float = 1, gains: str | None = None) -> Self: ...
PH: _PH
