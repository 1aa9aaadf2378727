"""The data of the report's page, section by section, as plain lists and numbers."""

from __future__ import annotations

import math
import platform
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from amble.arrays import Array
from amble.comparison.contributions import why
from amble.comparison.design import CORRECTIONS, FAMILIES, TESTS
from amble.errors import AmbleError, ClusterLostError
from amble.evaluation.intent_scores import by_intent
from amble.evaluation.scores import Scores
from amble.measures import Measure
from amble.measures.measure import plain_parameters
from amble.metaevaluation import agreement, correlations
from amble.reporting.charts.chart import shown
from amble.reporting.dominance import chosen_systems, dominance_data
from amble.reporting.finding import finding
from amble.reporting.leaderboard import Leaderboard

__all__ = ["DEPTH", "attention", "report_data"]

DEPTH = 100  # ranks shown
_SEEN = 0.01  # the least share of users who reach a rank, where the probability of stopping is shown
_TOPICS = 400  # shown one by one
_LOOKED_INTO = 100  # of these, with their documents
_DOCUMENTS = 12  # of a topic
_SIGNS = {1: "+", -1: "-", 0: "0"}
_AUDITED = {  # the columns of the audit by run
    "run": "run",
    "scored": "topics",
    "missing": "missing",
    "extra": "extra",
    "unjudged@10": "unjudged in top 10",
    "tied": "tied documents",
    "float32": "other order as float32",
    "duplicates": "duplicates",
}
_AUDITED_SESSIONS = {
    "run": "run",
    "sessions": "sessions",
    "queries": "queries",
    "empty": "queries without documents",
    "repeated": "judged documents shown again",
}
_NOT_HERE = {"why": "this is of lists, not of sessions"}
_CITED = {
    "t": "smucker2007",
    "permutation": "smucker2007",
    "bootstrap": "smucker2007",
    "wilcoxon": "wilcoxon1945",
    "tukey": "carterette2012",
    "anova": "carterette2012",
    "holm": "holm1979",
    "bh": "benjamini1995",
}


def report_data(
    scores: Scores,
    board: Leaderboard,
    baseline: int,
    most: int,
    *,
    progress: Callable[[str], None],
    executor: Any = None,
) -> dict[str, Any]:
    """The data of all sections of the page.

    Numbers have six decimals, p-values three digits; what is unknown is None. Runs and topics are named once, and
    elsewhere given by their indices.
    """
    order = board.order(0)
    best = next((i for i in order if i != baseline), baseline)
    systems = chosen_systems(order, baseline, most)
    topics = _most_different(scores, systems, _TOPICS)
    progress("leaderboard")
    out: dict[str, Any] = {
        "runs": [shown(run) for run in scores.runs],
        "topics": [shown(scores.topics[t]) for t in topics],
        "item": scores.item,
        "findings": [finding(board, j) for j in range(len(scores.measures))],
        "measures": [_measure(m, bound) for m, bound in zip(scores.parsed, board.bound, strict=True)],
        "baseline": baseline,
        "system": best,
        "chosen": systems,
        "scores": [_numbers(scores.values[:, topics, j]) for j in range(len(scores.measures))],
        "leaderboard": _leaderboard(board),
        "judged": _judged(scores, topics) if scores.item == "topic" else None,
    }
    progress("documents")
    out["documents"] = _documents(scores, systems, topics)
    out["distributions"] = []
    for m in scores.parsed:
        progress(f"distributions of {m.label}")
        found = dominance_data(scores, m, systems, board.design.seed, executor) if out["judged"] else _NOT_HERE
        out["distributions"].append(found)
    progress("users")
    run = scores.runs[best]
    out["users"] = {"run": best, "depth": DEPTH, "of": [attention(scores, m, run) for m in scores.parsed]}
    progress("measures")
    out["meta"] = _meta(scores, board, executor)
    out["audit"] = _audit(scores, board)
    out["intents"] = _intents(scores)
    return out


def _intents(scores: Scores) -> dict[str, Any] | None:
    """Who is left behind, by run and measure of intents; None if there is none, or why it is not known."""
    measures = [m for m in scores.parsed if scores.item == "topic" and m.of_intents and m.declaration.of_intents]
    if not measures:
        return None
    try:
        found = by_intent(scores.aligned, measures)
    except AmbleError as why_not:
        return {"why": str(why_not)}
    rows = [[shown(cell) if isinstance(cell, str) else _known(cell) for cell in row] for row in found.rows]
    return {"columns": list(found.columns), "rows": rows}


def attention(scores: Scores, measure: Measure, run: str, depth: int = DEPTH) -> dict[str, Any]:
    """Weight W, probability 1 - C of stopping once there, and residual of a measure's user on a run's lists, by rank.

    The run's topics are equally likely: W and the residual are means over topics; the probability of stopping is that
    of all users who reach a rank, whatever their topic, if 1 % do. A Markov user has none.
    """
    name = measure.label
    if scores.item == "session":
        return {"measure": name, **_NOT_HERE}
    if not measure.declaration.is_user:
        return {"measure": name, "why": f"{name} is no user"}
    i = scores.rankings.index(run)
    topics = [scores.topics[t] for t in scores.rankings.topic[scores.rankings.run == i].tolist()]
    weights, visits, stops = np.zeros((3, depth))
    deep: list[float] = []
    endless, n, ends = False, 0, ""
    try:
        for topic in topics:
            user = scores.user(run, topic, measure)
            if not np.isfinite(user.weights).all():
                continue
            n += 1
            weights += _first(user.weights, depth)
            endless = not user.stops
            if endless:
                ends = user.ends
            else:
                visits += _first(user.visits, depth)
                stops += _first(user.visits * user.halting, depth)
                deep.append(float(user.expected_depth))
    except AmbleError as why:
        return {"measure": name, "why": str(why)}
    if not n:
        return {"measure": name, "why": f"{run} has no list"}
    mean = weights / n
    known = visits >= _SEEN * n
    halting = np.divide(stops, visits, out=np.full(depth, np.nan), where=known)
    return {
        "measure": name,
        "weights": [round(x, 6) for x in mean.tolist()],
        "residual": [round(max(1.0 - x, 0.0), 6) for x in np.cumsum(mean).tolist()],
        "halting": None if endless else [round(x, 6) if x == x else None for x in halting.tolist()],
        "depth": None if not deep else round(float(np.mean(deep)), 4),
        **({"ends": ends} if endless else {}),
    }


def _first(values: Array, depth: int) -> Array:
    """The first values, padded with zeros."""
    out = np.zeros(depth)
    kept = np.nan_to_num(np.asarray(values, np.float64)[:depth])
    out[: kept.size] = kept
    return out


def _most_different(scores: Scores, systems: Sequence[int], most: int) -> list[int]:
    """The indices of all topics or, of too many, of those on which the first measure differs most among systems."""
    n = len(scores.topics)
    if n <= most:
        return list(range(n))
    values = np.where(np.isnan(scores.values[systems, :, 0]), 0.0, scores.values[systems, :, 0])
    return sorted(np.argsort(-np.ptp(values, axis=0), kind="stable")[:most].tolist())


def _numbers(values: Array) -> list[Any]:
    rounded: list[Any] = np.round(values, 6).tolist()
    return [_known(x) for x in rounded]


def _known(x: Any) -> Any:
    if isinstance(x, list):
        return [_known(one) for one in x]
    return x if math.isfinite(x) else None


def _measure(m: Any, bound: bool) -> dict[str, Any]:
    d = m.declaration
    return {
        "name": m.label,
        "story": d.story,
        "formula": d.formula,
        "of": d.aggregate,
        "user": bool(d.is_user),
        "bound": bound,
        "bounded": d.bounded,
        "sign": m.sign,
    }


def _leaderboard(board: Leaderboard) -> dict[str, Any]:
    q = board.design
    n, m = board.means.shape
    tested = bool(board.compared)
    against = [[board.against(j, b) for b in range(n)] for j in range(m)] if tested else []
    return {
        "means": _numbers(board.means.T),
        "half": _numbers(board.half.T),
        "residual": _numbers(board.residual.T),
        "letters": [board.letters(j) for j in range(m)] if tested else [],
        "differences": _differences(board, against),
        "adjusted": [[_probabilities(one.adjusted) for one in of] for of in against],
        "verdicts": [["".join(_SIGNS[v] for v in one.verdict.tolist()) for one in of] for of in against],
        "captions": [", ".join(found.caption.splitlines()) for found in board.compared],
        "limits": [found.limit for found in board.compared],
        "untested": board.untested,
        "test": TESTS[q.test],
        "correction": "all runs in one family"
        if q.test in FAMILIES
        else CORRECTIONS[q.correction].removesuffix(" of {}").replace("{} ", ""),
        "alpha": q.alpha,
    }


def _differences(board: Leaderboard, against: list[list[Any]]) -> list[Any]:
    """Runs minus each baseline, if that is not the difference of their means (topics left out)."""
    found = np.array([[one.difference for one in of] for of in against])
    if not found.size:
        return []
    means = board.means.T
    plain = means[:, None, :] - means[:, :, None]
    apart = np.nan_to_num(np.abs(found - plain), nan=0.0).max() > 1e-9
    return _numbers(found) if apart else []


def _probabilities(p: Array) -> list[float | None]:
    """P-values to three digits, however small."""
    return [None if x != x else float(f"{x:.3g}") for x in p.tolist()]


def _judged(scores: Scores, topics: Sequence[int]) -> dict[str, list[int]]:
    """The numbers of judged and relevant documents (grade of at least 1) of each topic."""
    qrels = scores.aligned.qrels
    spans = [(int(qrels.offsets[t]), int(qrels.offsets[t + 1])) for t in topics]
    relevant = [int((qrels.grades[a:b] >= 1).sum()) for a, b in spans]
    return {"documents": [b - a for a, b in spans], "relevant": relevant}


def _documents(scores: Scores, systems: Sequence[int], shown_topics: Sequence[int]) -> dict[str, Any]:
    """By the first measure, on each topic: the documents whose contributions differ most among some systems."""
    if scores.item == "session":
        return {"why": "The command below shows the documents of a session, query by query."}
    runs = [scores.runs[i] for i in systems]
    topics = []
    story = ""
    looked = _most_different(scores, systems, _LOOKED_INTO)
    for t in looked:
        try:
            found = why(scores, scores.topics[t], scores.parsed[0], runs=runs)
        except AmbleError as reason:
            return {"why": str(reason)}
        story = found.caption.split(": ", 1)[1]
        kept = slice(0, _DOCUMENTS)
        topics.append(
            {
                "docs": [shown(doc) for doc in found.docs[kept]],
                "grades": _numbers(found.grades[kept]),
                "ranks": found.ranks[kept].tolist(),
                "contributions": _numbers(found.values[kept]),
                "all": len(found.docs),
            }
        )
    return {
        "measure": scores.measures[0],
        "systems": list(systems),
        "story": story,
        "places": [shown_topics.index(t) for t in looked],
        "topics": topics,
    }


def _meta(scores: Scores, board: Leaderboard, executor: Any) -> dict[str, Any]:
    """Correlations and agreement of measures; or why there are none."""
    if len(scores.measures) < 2 or len(scores.runs) < 2:
        return {"why": "it takes two measures and two runs"}
    q = board.design
    try:
        tau = correlations(scores, seed=q.seed, executor=executor)
        agreed = agreement(scores, alpha=q.alpha, executor=executor)
    except ClusterLostError:
        raise
    except AmbleError as why_not:
        return {"why": str(why_not)}
    ends = [np.full_like(tau.values, np.nan) if end is None else end for end in (tau.low, tau.high)]
    return {
        "tau": _numbers(tau.values),
        "low": _numbers(ends[0]),
        "high": _numbers(ends[1]),
        "significant": _numbers(agreed.significant),
        "not_significant": _numbers(agreed.not_significant),
        "power": _numbers(agreed.power),
        "pairs": agreed.pairs,
    }


def _audit(scores: Scores, board: Leaderboard) -> dict[str, Any]:
    import scipy

    from amble import __version__
    from amble.native import is_compiled

    rankings, q = scores.rankings, board.design
    audit = rankings.audit
    of_topics = scores.item == "topic"
    shown_10 = [{"shown@10": n} for n in audit.shown_top10.tolist()] if of_topics else [{}] * len(scores.runs)
    cited = [m.declaration.cite for m in scores.parsed] + ["kendall1938"]
    cited += ["ferrante2020", "moffat2012"] * of_topics
    cited += [_CITED.get(q.test, ""), _CITED.get(q.correction, "")] if board.compared else []
    cited += ["gramm2007"] * bool(board.compared) + ["mcsherry2008"] * (rankings.options.get("ties") == "expected")
    return {
        "line": str(audit),
        "columns": _AUDITED if of_topics else _AUDITED_SESSIONS,
        "runs": [row | {"run": shown(row["run"])} | more for row, more in zip(audit.rows(), shown_10, strict=True)],
        "missing": {shown(run): [shown(t) for t in topics] for run, topics in audit.missing.items()}
        if of_topics
        else {},
        "no_relevant": [shown(t) for t in audit.no_relevant] if of_topics else [],
        "options": rankings.options,
        "design": {"test": q.test, "correction": q.correction, "alpha": q.alpha, "seed": q.seed, "rounds": q.rounds},
        "parameters": {m.label: plain_parameters(m) for m in scores.parsed},
        "versions": {
            "amble": __version__,
            "reader": "C" if is_compiled("reader") else "plain Python",
            "Python": platform.python_version(),
            "numpy": np.__version__,
            "scipy": scipy.__version__,
        },
        "cited": sorted({key for key in cited if key}),
    }
