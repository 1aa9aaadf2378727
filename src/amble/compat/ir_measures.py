"""amble's measures as ir_measures takes them, and so PyTerrier: `measure` makes one of any expression.

``ir_measures.calc_aggregate([measure("PH(p=0.5,q=0.25)"), nDCG @ 10], qrels, run)`` has both side by side. `register`
lets amble compute those of ir_measures' own measures that mean the same here.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator
from functools import cache
from math import sqrt
from typing import Any

import numpy as np

from amble.errors import MeasureError
from amble.evaluation.evaluator import Evaluator
from amble.evaluation.scores import evaluate
from amble.io.trec import Run
from amble.measures import ListMeasure, Lists, Measure, parse
from amble.measures.list_measure import of_lists
from amble.rankings.alignment import Rankings, aggregate, align

__all__ = ["CLAIMED", "NOT_CLAIMED", "measure", "register", "unregister"]

NAME = "amble"  # of the provider

# measures of ir_measures that `register` claims, and what they are here: the same numbers as of its own providers
CLAIMED = {
    "AP": "AP(rel={rel}){at}",
    "Bpref": "bpref(rel={rel})",
    "IPrec": "IPrec(rule='trec9',rel={rel})@{recall:.2f}",  # of recall two digits count there
    "Judged": "Judged{at}",
    "NumQ": "NumQ",
    "NumRel": "NumRel(rel={rel})",
    "NumRet": "NumRet",
    "P": "P(rel={rel}){at}",
    "R": "R(rel={rel}){at}",
    "RBP": "RBP(p={p},rel={rel})",
    "RR": "RR(rel={rel}){at}",
    "Rprec": "Rprec(rel={rel})",
    "SetAP": "SetAP(rel={rel})",
    "SetF": "F(beta={root},rel={rel})",  # beta there is the square of the usual one
    "SetP": "P(rel={rel})",
    "SetR": "R(rel={rel})",
    "Success": "Success(rel={rel}){at}",
    "infAP": "infAP(rel={rel})",
    "nDCG": "nDCG{at}",
}
_SUBTOPICS = "judged by subtopic; the provider hands on judgments without subtopics"
_CUT_GRADES = "a grade above max_rel is taken for max_rel there, and refused here"
_ENDLESS = "cwl_eval stops at rank 1000 there; users who read on have a closed form here"
NOT_CLAIMED = {
    "Accuracy": "the share of pairs in the right order there; there is no such measure here",
    "BPM": _CUT_GRADES,
    "Compat": "rank-biased overlap down to the longer of list and ideal there, to rank 1000 here",
    "ERR": "gdeval's there: the largest grade is always 4, and five digits; here it is the largest of the judgments",
    "INSQ": _ENDLESS,
    "INST": _ENDLESS,
    "NERR10": _CUT_GRADES,
    "NERR11": _ENDLESS,
    "NERR8": _CUT_GRADES,
    "NERR9": _CUT_GRADES,
    "SDCG": _CUT_GRADES,
    **dict.fromkeys(
        ("AP_IA", "ERR_IA", "NRBP", "P_IA", "StRecall", "alpha_DCG", "alpha_nDCG", "nERR_IA", "nNRBP"), _SUBTOPICS
    ),
}
_PARTLY = ("IPrec", "NumRel", "RBP", "RR", "nDCG")  # claimed with some of their parameters only
_MOST_PATIENT = 0.95  # RBP's p: cwl_eval stops at rank 1000, which matters to more patient readers


def measure(of: str | Measure) -> Any:
    """A measure of amble that ``ir_measures.calc_aggregate``, ``iter_calc`` and ``pt.Experiment`` take as their own.

    Its name there begins with ``amble.``, so that it stands beside one of the same name: ``amble.AP`` and ``AP``. A
    judged topic that the run lacks is an empty list, as in `amble.evaluate`. Topics of counts are added up, those of
    GMAP have their geometric mean.

    Parameters
    ----------
    of : str or Measure
        As for `amble.parse`.
    """
    return _kind()(of_lists(parse(of)))


def register() -> None:
    """Let amble compute those of ir_measures' own measures that mean the same here, `CLAIMED`; others stay as they are.

    ``ir_measures.calc_aggregate`` and ``pt.Experiment`` then ask amble first, whose provider is also found as
    ``ir_measures.providers.registry["amble"]``. Scores are compared as floats, as pytrec_eval does, and documents with
    equal ones are ordered by docno, descending; ir_measures' other providers order them otherwise. A judged topic that
    the run lacks, or has no documents for, has the value that ir_measures gives it.

    To call it again changes nothing; `unregister` undoes it.
    """
    provider = _provider()
    _module().providers.registry.setdefault(NAME, provider)
    asked = _module().DefaultPipeline.providers
    if provider not in asked:
        asked.insert(1, provider)  # after what was defined at run time


def unregister() -> None:
    """Undo `register`."""
    _module().providers.registry.pop(NAME, None)
    asked = _module().DefaultPipeline.providers
    asked[:] = [provider for provider in asked if provider.NAME != NAME]


def _module() -> Any:
    try:
        import ir_measures
    except ImportError:
        raise MeasureError("amble.compat.ir_measures needs ir_measures: pip install ir-measures") from None
    return ir_measures


def _ours(theirs: Any) -> ListMeasure:
    """The measure that one of ir_measures' is, by `CLAIMED`."""
    given = {name: theirs[name] for name in theirs.SUPPORTED_PARAMS}
    given |= {"at": f"@{theirs.params['cutoff']}" if "cutoff" in theirs.params else ""}
    text = CLAIMED[theirs.NAME]
    if theirs.NAME == "SetF":
        given["root"] = sqrt(theirs["beta"])
    if theirs.NAME == "NumRet" and "rel" in theirs.params:
        text = "NumRelRet(rel={rel})"
    if theirs.NAME == "SetP" and theirs["relative"]:
        text = "RelP(rel={rel})"
    found = of_lists(parse(text.format(**given)))
    return found(gains=theirs.params["gains"]) if "gains" in theirs.params else found


@cache
def _provider() -> Any:
    """The provider, made when ir_measures is first needed."""
    theirs = _module()
    measures, base = theirs.measures, theirs.providers.base
    none, each, only = base.Choices(base.NOT_PROVIDED), base.Any(), base.Choices

    class AmbleEvaluator(theirs.Evaluator):  # type: ignore[misc,unused-ignore,name-defined]
        """The claimed measures, judgments kept."""

        def __init__(self, measures: Iterable[Any], qrels: Any) -> None:
            judged = theirs.util.QrelsConverter(qrels).as_dict_of_dict()
            super().__init__(measures, set(judged))
            self.ours = {m: _ours(m) for m in self.measures}
            judged = {topic: docs for topic, docs in judged.items() if docs}
            self.evaluator = Evaluator(judged, list(self.ours.values())) if judged else None

        def _iter_calc(self, run: Any) -> Iterator[Any]:
            scores = theirs.util.RunConverter(run).as_dict_of_dict()
            if self.evaluator is None or not any(scores.values()):
                return
            qrels = self.evaluator.qrels
            ranked = Run(scores, "run").rank(qrels, groups=False, score_dtype="float32")
            lists = {only: Lists.of_ranked(qrels, ranked, only, self.evaluator.kept) for only in (False, True)}
            topics = [qrels.topics[t] for t in ranked.lists[:, 0].tolist()]
            for m, ours in self.ours.items():
                values = ours.scores(lists[m.params.get("judged_only", False)]).tolist()
                yield from (theirs.Metric(topic, m, x) for topic, x in zip(topics, values, strict=True))

    class AmbleProvider(theirs.Provider):  # type: ignore[misc,unused-ignore,name-defined]
        """amble, for the measures that mean the same there."""

        NAME = NAME
        SUPPORTED_MEASURES = (
            *(getattr(measures, f"_{name}")() for name in CLAIMED if name not in _PARTLY),
            measures._IPrec(recall=each, rel=each, judged_only=only(False)),  # NaN there where nothing is left
            measures._NumRel(rel=only(1)),  # nobody there counts others
            measures._RBP(cutoff=none, rel=base.Any(required=True), p=_AtMost(_MOST_PATIENT)),
            measures._RR(cutoff=none, rel=each, judged_only=each),
            measures._RR(cutoff=each, rel=each, judged_only=only(False)),
            measures._nDCG(cutoff=each, dcg=only("log2"), gains=each, judged_only=each),
        )

        def _evaluator(self, measures: Iterable[Any], qrels: Any) -> AmbleEvaluator:
            return AmbleEvaluator(measures, qrels)

    return AmbleProvider()


class _AtMost:
    """A parameter that is at most so much."""

    def __init__(self, most: float) -> None:
        self.most = most

    def validate(self, value: float) -> bool:
        """Whether it is."""
        return value <= self.most


@cache
def _kind() -> Any:
    """The class of these measures, made when ir_measures is first needed."""
    theirs = _module()

    class AmbleMeasure(theirs.Measure):  # type: ignore[misc,unused-ignore,name-defined]
        """A measure of amble."""

        RUN_INPUTS = ("query_id", "doc_id", "score")
        QREL_INPUTS = ("query_id", "doc_id", "relevance")

        def __init__(self, ours: ListMeasure) -> None:
            super().__init__()
            self.ours = ours
            self.NAME = self.__name__ = self.PRETTY_NAME = f"amble.{ours.label}"
            self.SHORT_DESC = ours.declaration.story

        def __repr__(self) -> str:
            return self.NAME

        def __reduce__(self) -> tuple[Any, ...]:
            return measure, (self.ours,)

        def __call__(self, **parameters: Any) -> AmbleMeasure:
            return AmbleMeasure(self.ours(**parameters))

        def __matmul__(self, at: float) -> AmbleMeasure:
            return AmbleMeasure(self.ours @ at)

        def runtime_impl(self, qrels: Any, run: Any) -> Iterator[Any]:
            scores = evaluate(_aligned(qrels, run), [self.ours])
            for topic, value in zip(scores.topics, scores.values[0, :, 0].tolist(), strict=True):
                yield theirs.Metric(topic, self, value)

        def aggregator(self) -> _Aggregator:
            return _Aggregator(self.ours.declaration.aggregate)

    return AmbleMeasure


class _Aggregator:
    """The mean, sum or geometric mean over topics, value by value."""

    def __init__(self, how: str) -> None:
        self.how = how
        self.values: list[float] = []

    def add(self, value: float) -> None:
        """Take the value of a topic."""
        self.values.append(value)

    def result(self) -> float:
        """What comes of all values."""
        return float(aggregate(self.how, np.array(self.values)))


_last: list[tuple[weakref.ref[Any], Any, Any, Rankings]] = []


def _aligned(qrels: Any, run: Any) -> Rankings:
    """The run, aligned with the judgments; kept for the other measures, which come with the same frames, unchanged."""
    for frame, judged, ranked, rankings in _last:
        if frame() is run and ranked.equals(run) and judged.equals(qrels):
            return rankings
    found = align(qrels, {"run": run})
    _last[:] = [(weakref.ref(run, lambda _: _last.clear()), qrels.copy(), run.copy(), found)]
    return found
