"""Everything that the page shows, as plain data: what the library found, section by section."""

from __future__ import annotations

import math
import platform
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amble.comparison.comparison import TESTS
from amble.comparison.contributions import why
from amble.comparison.corrections import CORRECTIONS
from amble.errors import AmbleError
from amble.evaluation.scores import Scores
from amble.metaevaluation import agreement, correlations
from amble.reporting.attention import DEPTH, attention
from amble.reporting.charts.chart import shown
from amble.reporting.dominance import chosen_systems, dominance
from amble.reporting.leaderboard import FAMILIES, Leaderboard

__all__ = ["contents"]

Array = NDArray[np.float64]

_TOPICS = 400  # shown one by one
_LOOKED_INTO = 100  # of these, with their documents
_DOCUMENTS = 12  # of a topic
_SIGNS = {1: "+", -1: "-", 0: "0"}
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


def contents(
    scores: Scores,
    board: Leaderboard,
    baseline: int,
    most: int,
    *,
    progress: Callable[[str], None],
) -> dict[str, Any]:
    """All sections of the page.

    Numbers have six decimals, p-values three digits; what is unknown is None. Runs and topics are named once, and
    meant by their places elsewhere.
    """
    order = board.order(0)
    best = next((i for i in order if i != baseline), baseline)
    systems = chosen_systems(order, baseline, most)
    topics = _telling(scores, systems, _TOPICS)
    progress("leaderboard")
    out: dict[str, Any] = {
        "runs": [shown(run) for run in scores.runs],
        "topics": [shown(scores.topics[t]) for t in topics],
        "measures": [_measure(m, bound) for m, bound in zip(scores.parsed, board.bound, strict=True)],
        "baseline": baseline,
        "system": best,
        "chosen": systems,
        "scores": [_numbers(scores.values[:, topics, j]) for j in range(len(scores.measures))],
        "leaderboard": _leaderboard(board),
        "judged": _judged(scores, topics),
    }
    progress("documents")
    out["documents"] = _documents(scores, systems, topics)
    out["distributions"] = []
    for m in scores.parsed:
        progress(f"distributions of {m.label}")
        out["distributions"].append(dominance(scores, m, systems, board.asked.seed))
    progress("users")
    run = scores.runs[best]
    out["users"] = {"run": best, "depth": DEPTH, "of": [attention(scores, m, run) for m in scores.parsed]}
    progress("measures")
    out["meta"] = _meta(scores, board)
    out["audit"] = _audit(scores, board)
    return out


def _telling(scores: Scores, systems: Sequence[int], most: int) -> list[int]:
    """The places of all topics or, of too many, of those on which the first measure differs most among some systems."""
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
    }


def _leaderboard(board: Leaderboard) -> dict[str, Any]:
    q = board.asked
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
    """What runs have more than a baseline, where that is not the difference of their means (topics left out)."""
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
    """Of each topic: how many documents are judged, how many relevant (grade of at least 1)."""
    qrels = scores.rankings.qrels
    spans = [(int(qrels.offsets[t]), int(qrels.offsets[t + 1])) for t in topics]
    relevant = [int((qrels.grades[a:b] >= 1).sum()) for a, b in spans]
    return {"documents": [b - a for a, b in spans], "relevant": relevant}


def _documents(scores: Scores, systems: Sequence[int], shown_topics: Sequence[int]) -> dict[str, Any]:
    """By the first measure, on each topic: the documents whose parts differ most among some systems."""
    runs = [scores.runs[i] for i in systems]
    topics = []
    story = ""
    looked = _telling(scores, systems, _LOOKED_INTO)
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
                "parts": _numbers(found.values[kept]),
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


def _meta(scores: Scores, board: Leaderboard) -> dict[str, Any]:
    """Measures against each other; or why there is nothing to say."""
    if len(scores.measures) < 2 or len(scores.runs) < 2:
        return {"why": "it takes two measures and two runs"}
    q = board.asked
    try:
        tau = correlations(scores, seed=q.seed)
        agreed = agreement(scores, alpha=q.alpha)
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
    from amble.io.trec import compiled

    rankings, q = scores.rankings, board.asked
    audit = rankings.audit
    keys = ("missing", "ties", "unjudged", "duplicates", "depth", "score_dtype")
    cited = [m.declaration.cite for m in scores.parsed] + ["ferrante2020", "kendall1938", "moffat2012"]
    cited += [_CITED.get(q.test, ""), _CITED.get(q.correction, "")] if board.compared else []
    cited += ["gramm2007"] * bool(board.compared) + ["mcsherry2008"] * (rankings.ties == "expected")
    return {
        "line": str(audit),
        "runs": [row | {"run": shown(row["run"]), "shown@10": int(n)} for row, n in _rows(audit)],
        "missing": {shown(run): [shown(t) for t in topics] for run, topics in audit.missing.items()},
        "no_relevant": [shown(t) for t in audit.no_relevant],
        "options": {key: getattr(rankings, key) for key in keys},
        "asked": {"test": q.test, "correction": q.correction, "alpha": q.alpha, "seed": q.seed, "rounds": q.rounds},
        "parameters": {m.label: {key: _plain(x) for key, x in m.values.items()} for m in scores.parsed},
        "versions": {
            "amble": __version__,
            "reader": "C" if compiled() else "plain Python",
            "Python": platform.python_version(),
            "numpy": np.__version__,
            "scipy": scipy.__version__,
        },
        "cited": sorted({key for key in cited if key}),
    }


def _rows(audit: Any) -> Any:
    return zip(audit.rows(), audit.shown_top10.tolist(), strict=True)


def _plain(value: Any) -> Any:
    return value if isinstance(value, str | int | float | None) else str(value)
