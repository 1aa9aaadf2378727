"""The interface of pytrec_eval: the same names, the same numbers, computed by `amble.Evaluator`.

``from amble.compat import pytrec_eval`` in place of ``import pytrec_eval``. Scores are compared as floats, interpolated
precision has the rule of trec_eval 9, and the topics of a run that are not judged are left out without a word, as
there. See docs/neighbours.md for what differs: what crashes there is an error here.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cached_property, lru_cache
from math import sqrt
from typing import NamedTuple, TypeVar

import numpy as np

from amble.errors import MeasureError, ReadError
from amble.evaluation.evaluator import Evaluator
from amble.expressions.aliases import ALIASES
from amble.io.trec import Ranked, Run
from amble.measures import ListMeasure, Lists, parse
from amble.measures.list_measure import of_lists
from amble.measures.trec_names import printed
from amble.rankings.alignment import LEAST

__all__ = [
    "RelevanceEvaluator", "compute_aggregated_measure", "parse_qrel", "parse_run", "supported_measures",
    "supported_nicknames",
]  # fmt: skip

# its names, in its order, and amble's; # stands for numbers, and what has no number of its own is 0
_NEWER = ("rbp_resid", "unj_#")  # in trec_eval 10 only
_OURS = {"runid": ""}
for _theirs, _ours in ALIASES["trec_eval"].items():
    if _theirs not in _NEWER:
        _OURS[_theirs] = _ours.replace("trec10", "trec9")
    if _theirs == "P_#":
        _OURS["relstring"] = ""
_FULL = {name.removesuffix("_#"): name for name in _OURS}
_GAINS = ("G", "Rndcg", "ndcg", "ndcg_rel", "utility")  # whose parameters are no list of numbers

supported_measures: set[str] = set(_FULL)
_COUNTS = {"runid", "num_q", "num_ret", "num_rel", "num_rel_ret"}
supported_nicknames: dict[str, set[str]] = {
    "official": _COUNTS | {"map", "gm_map", "Rprec", "bpref", "recip_rank", "iprec_at_recall", "P"},
    "set": _COUNTS | {"utility", "set_P", "set_relative_P", "set_recall", "set_map", "set_F"},
    "all_trec": set(supported_measures),
}
_NUMBERS = r"[0-9]+(?:\.[0-9]+)?(?:,[0-9]+(?:\.[0-9]+)?)*"


N = TypeVar("N", int, float)


class WrongTypeError(ReadError, TypeError):
    """Data of a type that neither pytrec_eval nor amble takes."""


def parse_run(f_run: Iterable[str]) -> dict[str, dict[str, float]]:
    """``{topic: {doc: score}}`` of the lines of a run, ``topic Q0 doc rank score tag``.

    >>> parse_run(["401 Q0 a 1 2.5 mine", "401 Q0 b 2 1 mine"])["401"]
    {'a': 2.5, 'b': 1.0}
    """
    return _parsed(f_run, "topic Q0 doc rank score tag", 4, float)


def parse_qrel(f_qrel: Iterable[str]) -> dict[str, dict[str, int]]:
    """``{topic: {doc: grade}}`` of the lines of judgments, ``topic iter doc grade``.

    >>> parse_qrel(["401 0 a 1"])["401"]
    {'a': 1}
    """
    return _parsed(f_qrel, "topic iter doc grade", 3, int)


def _parsed(lines: Iterable[str], columns: str, at: int, number: type[N]) -> dict[str, dict[str, N]]:
    out: dict[str, dict[str, N]] = defaultdict(dict)
    wanted = len(columns.split())
    for i, line in enumerate(lines, 1):
        words = line.split()
        if len(words) != wanted:
            raise ReadError(f"line {i}: found {len(words)} columns, expected {wanted}: {columns}")
        topic, doc, value = words[0], words[2], words[at]
        if doc in out[topic]:
            raise _TwiceError(f"line {i}: document {doc} comes twice for topic {topic}, expected it once")
        try:
            out[topic][doc] = number(value)
        except ValueError:
            kind = "whole number" if number is int else "number"
            raise ReadError(f"line {i}: found {value!r:.60}, expected a {kind}: {columns}") from None
    return out


class _TwiceError(ReadError, AssertionError):
    """A document that comes twice, which is an assertion in pytrec_eval."""


def compute_aggregated_measure(measure: str, values: Iterable[float]) -> float:
    """The sum of a count (``num_...``), the geometric mean of logarithms (``gm_...``), else the mean.

    >>> compute_aggregated_measure("num_ret", [1, 2]), compute_aggregated_measure("map", [1, 2])
    (3.0, 1.5)
    """
    x = np.asarray(list(values), np.float64)
    if measure.startswith("num_"):
        return float(x.sum())
    mean = float(x.mean()) if x.size else float("nan")
    return float(np.exp(mean)) if measure.startswith("gm_") else mean


class RelevanceEvaluator:
    """Scores of runs by pytrec_eval's names.

    Parameters
    ----------
    query_relevance : dict
        ``{topic: {doc: grade}}``; a topic without judgments is left out.
    measures : iterable of str
        Names and nicknames: ``{"map", "ndcg_cut.1,3", "P_10", "official"}``.
    relevance_level : int
        The least grade that is relevant.
    judged_docs_only_flag : bool
        Whether documents that are not judged are taken out of the lists.

    Examples
    --------
    >>> from amble.compat import pytrec_eval
    >>> evaluator = pytrec_eval.RelevanceEvaluator({"q1": {"d1": 0, "d2": 1}}, {"map", "ndcg_cut.1,3"})
    >>> evaluator.evaluate({"q1": {"d1": 2.0, "d2": 1.0}})
    {'q1': {'map': 0.5, 'ndcg_cut_1': 0.0, 'ndcg_cut_3': 0.6309297535714575}}
    """

    def __init__(
        self,
        query_relevance: Mapping[str, Mapping[str, int]],
        measures: Iterable[str],
        relevance_level: int = 1,
        judged_docs_only_flag: bool = False,
    ) -> None:
        if not isinstance(relevance_level, int) or relevance_level < 1:
            raise WrongTypeError(f"relevance_level={relevance_level!r:.60}: expected a whole number from 1 on")
        if not isinstance(query_relevance, Mapping):
            raise WrongTypeError(f"query_relevance: found {type(query_relevance).__name__}, expected a dictionary")
        if isinstance(measures, str):
            raise MeasureError(f"measures: found the text {measures!r:.60}, expected a set of names, {{'map'}}")
        self._asked = _asked(frozenset(measures), relevance_level)
        self._condense = bool(judged_docs_only_flag)
        judged = {topic: docs for topic, docs in query_relevance.items() if docs}
        self._judged = bool(judged)
        if judged:
            try:
                self._evaluator = Evaluator(judged, self._asked.measures.values() or "NumQ")
            except ReadError as error:
                raise WrongTypeError(str(error)) from None

    def evaluate(self, scores: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
        """``{topic: {measure: score}}`` of a run ``{topic: {doc: score}}``: of its topics that are judged."""
        if scores and not isinstance(scores, dict):
            raise WrongTypeError(f"scores: found {type(scores).__name__}, expected a dictionary of dictionaries")
        if not scores or not self._judged:
            return {}
        rows, names = {}, self._asked.names
        if any(docs or not isinstance(docs, dict) for docs in scores.values()):
            try:
                ranked = Run(scores, "scores").rank(self._evaluator.qrels, groups=False, score_dtype="float32")
            except ReadError as error:
                raise WrongTypeError(str(error)) from None
            found = self._rows(ranked)
            if len(found) == len(scores):  # a list of every topic, and all of them judged
                return {topic: dict(zip(names, row)) for topic, row in zip(scores, found)}  # noqa: B905
            rows = dict(zip(ranked.lists[:, 0].tolist(), found, strict=True))
        out = {}
        for topic in scores:
            if (t := self._topics.get(str(topic))) is not None:
                out[topic] = dict(zip(names, rows[t] if t in rows else self._empty[t], strict=True))
        return out

    def _rows(self, ranked: Ranked) -> list[list[float]]:
        """The scores of each list, by the names."""
        evaluator, asked = self._evaluator, self._asked
        lists = Lists.of_ranked(evaluator.qrels, ranked, self._condense, evaluator.kept)
        out = np.zeros((lists.n, len(asked.names)))
        for i, measure in asked.measures.items():
            out[:, i] = measure.scores(lists)
        for i in asked.logarithms:
            out[:, i] = np.log(np.maximum(out[:, i], LEAST))
        # what it makes of lists without a document, and of grades none of which is relevant
        if "Rndcg" in asked.names:
            out[asked.relevant.scores(lists) == 0, asked.names.index("Rndcg")] = 0.0
        if asked.recalls and not lists.length.all():
            for i, recall in asked.recalls.items():
                out[(lists.length == 0) & (recall * asked.relevant.scores(lists) + 0.9 < 1), i] = np.nan
        return out.tolist()

    @cached_property
    def _topics(self) -> dict[str, int]:
        return {topic: i for i, topic in enumerate(self._evaluator.qrels.topics)}

    @cached_property
    def _empty(self) -> list[list[float]]:
        """The scores of an empty list, of each topic."""
        lists = np.zeros((len(self._topics), 6), np.int64)
        lists[:, 0] = np.arange(len(lists))
        return self._rows(Ranked(lists, np.zeros((0, 2), np.int32), [], ""))


class _Asked(NamedTuple):
    """The names of the results and, by their places, their measures, logarithms and the recall of interpolated ones."""

    names: tuple[str, ...]
    measures: dict[int, ListMeasure]
    logarithms: list[int]
    recalls: dict[int, float]
    relevant: ListMeasure


@lru_cache(64)
def _asked(measures: frozenset[str], level: int) -> _Asked:
    named = _named(measures)
    ours = {i: _measure(text, level) for i, text in enumerate(named.values()) if text}
    recalls = {i: m.values["recall"] for i, m in ours.items() if m.name == "IPrec"}
    recalls |= {i: min(m.values["points"]) for i, m in ours.items() if m.name == "IPrecAvg"}
    logarithms = [i for i, name in enumerate(named) if name.startswith("gm_")]
    return _Asked(tuple(named), ours, logarithms, recalls, _measure("NumRel", level))


def _measure(text: str, level: int) -> ListMeasure:
    """The measure, with another least relevant grade where it has one."""
    measure = of_lists(parse(text))
    return measure(rel=level) if level != 1 and "rel" in measure.values else measure


def _named(measures: Iterable[str]) -> dict[str, str]:
    """Its names of results and amble's expressions, in its order, of its names of measures."""
    wanted: dict[str, set[str]] = {}
    for text in measures:
        if not isinstance(text, str):
            raise WrongTypeError(f"measure {text!r:.60} is of type {type(text).__name__}, expected a name")
        for name in supported_nicknames.get(text, (text,)):
            base = name if name in _FULL else re.sub(f"[._]{_NUMBERS}$", "", name, flags=re.A)
            if base not in _FULL:
                raise MeasureError(f"unsupported measure {name}, expected one of {', '.join(_FULL)}")
            wanted.setdefault(base, set()).update(name[len(base) + 1 :].split(",") if name != base else ())
    out: dict[str, str] = {}
    for base, full in _FULL.items():
        if base in wanted:
            out |= _numbered(base, full, sorted(map(float, wanted[base])))
    return out


def _numbered(base: str, full: str, numbers: list[float]) -> dict[str, str]:
    """The results of one measure, with the numbers that were asked for, or its own."""
    ours = _OURS[full]
    if "#" not in full:
        if base in _GAINS and numbers:
            raise MeasureError(f"{base} takes no numbers, found {', '.join(f'{x:g}' for x in numbers)}")
        if base == "set_F" and numbers:  # its parameter is the square of beta
            ours = f"F(beta={sqrt(numbers[-1])!r})"
        if base == "11pt_avg" and numbers:
            ours = f"IPrecAvg(points='{','.join(map(repr, numbers))}',rule='trec9')"
        return {base: ours}
    if not numbers:
        return {full.replace("#", x): ours.replace("#", x) for x in printed(full)}
    if base in ("iprec_at_recall", "Rprec_mult"):
        return {f"{base}_{x:.2f}": ours.replace("#", repr(x)) for x in numbers}
    return {f"{base}_{int(x)}": ours.replace("#", str(int(x))) for x in numbers}
