"""The functions of BEIR's `EvaluateRetrieval`, and a table of means over data sets; neither torch nor BEIR is needed.

``EvaluateRetrieval.evaluate`` becomes ``amble.compat.beir.evaluate``: the same arguments, names and rounding. Its
scores are those of pytrec_eval: in single precision, ties by docno, topics that are not in the results left out. What
is given is never changed (BEIR takes documents out of the results).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from amble import checks
from amble.errors import AlignError, MeasureError
from amble.evaluation.scores import evaluate as evaluate_runs
from amble.table import Table

__all__ = ["evaluate", "evaluate_custom", "table"]

Judged = Mapping[str, Mapping[str, int]]
Results = Mapping[str, Mapping[str, float]]

_MEASURES = {"NDCG": "nDCG", "MAP": "AP", "Recall": "R", "P": "P"}
_CUSTOM = {
    "MRR": ("mrr", "mrr@k", "mrr_cut"),
    "R_cap": ("recall_cap", "r_cap", "r_cap@k"),
    "Hole": ("hole", "hole@k"),
    "Accuracy": ("acc", "top_k_acc", "accuracy", "accuracy@k", "top_k_accuracy"),
}
_DIGITS = 5


def _by_text(given: Mapping[Any, Mapping[Any, Any]], name: str) -> dict[str, dict[str, Any]]:
    """The numbers of documents by topic, with text for ids, as whole numbers are ids, too."""
    if not isinstance(given, Mapping) or not all(isinstance(docs, Mapping) for docs in given.values()):
        raise AlignError(f"{name}: expected {{topic: {{doc: number}}}}")
    for topic, docs in given.items():
        for doc, x in docs.items():
            if not checks.is_number(x) or not math.isfinite(x):
                raise AlignError(
                    f"{name}: topic {topic!r:.60}, document {doc!r:.60}: {x!r:.60}, expected a finite number"
                )
    return {str(topic): {str(doc): x for doc, x in docs.items()} for topic, docs in given.items()}


def _ranks(k_values: Sequence[int]) -> list[int]:
    if not isinstance(k_values, Iterable):
        raise MeasureError(f"k_values={k_values!r:.60}: expected ranks, such as [1, 10, 100]")
    ranks = [checks.whole(k, "k_values", kind=MeasureError) for k in k_values]
    if not ranks:
        raise MeasureError("k_values: found none, expected ranks, such as [1, 10, 100]")
    return ranks


def evaluate(
    qrels: Judged, results: Results, k_values: Sequence[int], ignore_identical_ids: bool = True
) -> tuple[dict[str, float], dict[str, float], dict[str, float], dict[str, float]]:
    """NDCG@k, MAP@k, Recall@k and P@k, each a dictionary of means over the topics of the results.

    Parameters
    ----------
    qrels : dict
        ``{topic: {doc: grade}}``.
    results : dict
        ``{topic: {doc: score}}``.
    k_values : sequence of int
    ignore_identical_ids : bool
        Leave out documents whose id is that of the topic, as ArguAna and Quora need it.

    Returns
    -------
    ndcg, map, recall, precision : dict
        Such as ``{"NDCG@10": 0.63093}``, rounded to 5 digits.

    Examples
    --------
    >>> from amble.compat import beir
    >>> results = {"q": {"q": 9.0, "d2": 2.0, "d1": 1.0}}
    >>> ndcg, _map, recall, precision = beir.evaluate({"q": {"d1": 1}}, results, [1, 10])
    >>> ndcg, precision
    ({'NDCG@1': 0.0, 'NDCG@10': 0.63093}, {'P@1': 0.0, 'P@10': 0.1})
    """
    ranks, qrels, results = _ranks(k_values), _by_text(qrels, "qrels"), _by_text(results, "results")
    if ignore_identical_ids:
        results = {topic: {d: x for d, x in docs.items() if d != topic} for topic, docs in results.items()}
    names = [f"{measure}@{k}" for measure in _MEASURES.values() for k in ranks]
    if not any(results.get(topic) for topic in qrels):
        raise AlignError("results: no topic in common with the qrels, expected {topic: {doc: score}} for some of them")
    scores = evaluate_runs(qrels, {"results": results}, names, score_dtype="float32")
    values = scores.values[0, np.isin(scores.topics, list(results))]
    means = iter([round(float(x), _DIGITS) for x in values.mean(axis=0)[[scores.place(name) for name in names]]])
    ndcg, average, recall, precision = ({f"{theirs}@{k}": next(means) for k in ranks} for theirs in _MEASURES)
    return ndcg, average, recall, precision


def evaluate_custom(qrels: Judged, results: Results, k_values: Sequence[int], metric: str) -> dict[str, float]:
    """BEIR's other metrics: ``mrr``, ``recall_cap``, ``hole`` or ``top_k_accuracy``, by any of its names for them.

    Ties stay in the order of the results. A topic without results, judgments or relevant documents, where BEIR fails,
    counts 0. Accuracy is by the scores; the source of BEIR that was read sorts by the second letter of the ids.

    - MRR@k: the reciprocal rank of the first relevant document, 0 below rank k; the mean over the topics of the qrels.
    - R_cap@k: relevant documents among the first k, divided by the most that could be there, k or all relevant ones;
      the mean over the topics of the results, as for Hole.
    - Hole@k: the share of the first k that is judged for no topic.
    - Accuracy@k: the share of the topics of the qrels with a relevant document among the first k.

    Examples
    --------
    >>> from amble.compat import beir
    >>> qrels, results = {"q": {"d1": 1, "d3": 1, "d4": 1}}, {"q": {"d2": 3.0, "d1": 2.0, "d3": 1.0}}
    >>> beir.evaluate_custom(qrels, results, [1, 2], "recall_cap")
    {'R_cap@1': 0.0, 'R_cap@2': 0.5}
    >>> beir.evaluate_custom(qrels, results, [2], "hole")
    {'Hole@2': 0.5}
    """
    ranks, qrels, results = _ranks(k_values), _by_text(qrels, "qrels"), _by_text(results, "results")
    name = next((name for name, known in _CUSTOM.items() if str(metric).lower() in known), None)
    if name is None:
        known = ", ".join(names[0] for names in _CUSTOM.values())
        raise MeasureError(f"metric {metric!r:.60}: expected one of {known}, top_k_accuracy")
    topics = results if name in ("R_cap", "Hole") else qrels
    if not topics:
        raise AlignError("no topics, expected {topic: {doc: number}}")
    out = dict.fromkeys((f"{name}@{k}" for k in ranks), 0.0)
    judged = {doc for docs in qrels.values() for doc in docs} if name == "Hole" else set()
    for topic in topics:
        found = results.get(topic, {})
        top = sorted(found, key=found.__getitem__, reverse=True)[: max(ranks)]
        relevant = {doc for doc, grade in qrels.get(topic, {}).items() if grade > 0}
        for k in ranks:
            out[f"{name}@{k}"] += _custom(name, top[:k], relevant, judged, k)
    return {key: round(value / len(topics), _DIGITS) for key, value in out.items()}


def _custom(name: str, top: list[str], relevant: set[str], judged: set[str], k: int) -> float:
    """One of the metrics, of one topic."""
    if name == "Hole":
        return sum(doc not in judged for doc in top) / k
    hits = [rank for rank, doc in enumerate(top, 1) if doc in relevant]
    if name == "R_cap":
        return len(hits) / max(min(len(relevant), k), 1)
    return (1 / hits[0] if name == "MRR" else 1.0) if hits else 0.0


def table(datasets: Mapping[str, Any], *, digits: int = 4) -> Table:
    """A table of data sets with their mean in the last row, as papers on BEIR have it.

    Parameters
    ----------
    datasets : mapping
        ``{"scifact": evaluate(…), …}``: what `evaluate` or `evaluate_custom` returned, or a dictionary of the measures
        to show.
    digits : int

    Examples
    --------
    >>> from amble.compat import beir
    >>> made = {"scifact": {"NDCG@10": 0.665, "R@100": 0.908}, "nfcorpus": {"NDCG@10": 0.325, "R@100": 0.25}}
    >>> beir.table(made)
    data set  NDCG@10   R@100
    scifact    0.6650  0.9080
    nfcorpus   0.3250  0.2500
    mean       0.4950  0.5790
    """
    rows = {name: dict(_flat(found)) for name, found in datasets.items()}
    columns = next((list(row) for row in rows.values()), [])
    for name, row in rows.items():
        if list(row) != columns:
            raise MeasureError(f"{name}: found {', '.join(row)}, expected {', '.join(columns)}, as the first has")
    if not columns:
        raise MeasureError("no data sets with measures, expected {name: evaluate(...)}")
    means = [float(np.mean([row[column] for row in rows.values()])) for column in columns]
    cells: list[list[Any]] = [[name, *row.values()] for name, row in rows.items()]
    return Table(["data set", *columns], [*cells, ["mean", *means]], digits=digits)


def _flat(found: Any) -> Iterator[tuple[str, float]]:
    for each in [found] if isinstance(found, Mapping) else found:
        yield from each.items()
