"""The finding of a report in words: which run is best, what was found against the others, what there is to doubt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from amble.comparison.p_values import Probability, reaches
from amble.evaluation.scores import best_of
from amble.reporting.charts.chart import shown
from amble.reporting.leaderboard import Leaderboard

__all__ = ["finding"]

_NAMED = 4  # runs that a sentence names
_VERDICTS = (("significantly better", 1), ("significantly worse", -1), ("no significant difference found", 0))


def finding(board: Leaderboard, j: int) -> list[str]:
    """What was found by the j-th measure, a sentence each.

    The best run is compared with the others as the letters are: all pairs of runs are one family, since which run is
    best was not known before. A baseline is one of the design, and compared as `amble compare --baseline` does.

    Examples
    --------
    >>> import amble
    >>> qrels = {t: {"a": 1} for t in "123"}
    >>> good, bad = {"a": 2.0, "b": 1.0}, {"b": 2.0, "a": 1.0}
    >>> scores = amble.evaluate(qrels, {"x": dict.fromkeys("123", good), "y": dict.fromkeys("123", bad)}, "AP")
    >>> for sentence in finding(amble.report(scores).leaderboard, 0):
    ...     print(sentence)
    x is best by AP, 1.0000 ± 0.0000 (95 % confidence interval, 3 topics).
    Significantly better than y (p = 0.0000).
    50.0 % of the documents in the top 10 are unjudged; of x's, 50.0 %.
    """
    scores, measure, means = board.scores, board.scores.parsed[j], board.means[:, j]
    known = np.flatnonzero(~np.isnan(means))
    if not known.size:
        return [f"No run has a score by {measure.label}.", *_doubts(board, None)]
    top = best_of(measure, means)
    said = [_best(board, j, top, known)]
    if len(top) == len(known) > 1:
        said.append("All runs with a score have the same score.")
    if not board.compared:
        said.append(f"Nothing was tested: {board.untested}.")
    elif top:
        found = board.compared[j]
        said += [*_against_others(board, j, top), *_against_baseline(board, j)]
        if found.limit:
            said.append(f"There are too few {found.limit} to find any difference.")
    return said + _doubts(board, top[0] if len(top) == 1 and len(scores.runs) > 1 else None)


def _names(board: Leaderboard, runs: Sequence[int], p: dict[int, float] | None = None) -> str:
    """Runs by name, with p-values if they are given; of more than four, the first three and how many more."""
    kept = runs if len(runs) <= _NAMED else runs[: _NAMED - 1]
    words = [shown(board.scores.runs[i]) + (f" ({_p(p[i])})" if p else "") for i in kept]
    words += [f"{len(runs) - len(kept)} more"] * (len(kept) < len(runs))
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def _p(p: float, sign: str = "=") -> str:
    text = f"{Probability(p):.4f}"
    return f"p < {text[1:]}" if text[0] == "<" else f"p {sign} {text}"


def _value(board: Leaderboard, i: int, j: int, interval: bool = True) -> str:
    mean, half = board.means[i, j], board.half[i, j]
    whole = board.scores.parsed[j].declaration.aggregate == "sum" and float(mean).is_integer()
    return (f"{mean:.0f}" if whole else f"{mean:.4f}") + (f" ± {half:.4f}" if interval and half == half else "")


def _best(board: Leaderboard, j: int, top: list[int], known: Any) -> str:
    scores, measure = board.scores, board.scores.parsed[j]
    first = top[0] if top else int(known[0])
    each = np.count_nonzero(~np.isnan(scores.values[:, :, j]), axis=1)[top or known]
    n, of = int(each.min()), len(scores.topics)
    topics = f"{n} {scores.item}{'s' * (n != 1)}" if n == of else f"{n} of {of} {scores.item}s"
    topics = topics if n == each.max() else f"at least {topics}"
    level = f"{100 * (1 - board.design.alpha):.6g} % confidence interval, "
    over = f" ({level if board.half[first, j] == board.half[first, j] else ''}{topics})."
    if len(scores.runs) == 1:
        return f"{shown(scores.runs[0])} has {measure.label} {_value(board, 0, j)}{over}"
    if not top:
        low, high = (int(known[k]) for k in (board.means[known, j].argmin(), board.means[known, j].argmax()))
        ends = " to ".join(f"{_value(board, i, j, False)} ({_names(board, [i])})" for i in (low, high))
        return f"By {measure.label} neither more nor less is better: from {ends} ({topics})."
    less = ", where less is better" * (measure.sign < 0)
    if len(top) == 1:
        return f"{_names(board, top)} is best by {measure.label}{less}, {_value(board, first, j)}{over}"
    return f"{_names(board, top)} share the best {measure.label}{less}, {_value(board, first, j, False)} ({topics})."


def _against_others(board: Leaderboard, j: int, top: list[int]) -> list[str]:
    """The best runs against each of the others: a difference to all of the best is one that was found."""
    found = board.compared[j]
    p: dict[int, float] = {}
    leads: dict[int, list[float]] = {}
    for a, b, d, adjusted in zip(found.a.tolist(), found.b.tolist(), found.difference, found.adjusted, strict=True):
        if (a in top) != (b in top) and adjusted == adjusted:
            other = b if a in top else a
            p[other] = max(float(adjusted), p.get(other, 0.0))
            leads.setdefault(other, []).append(found.sign * float(d) * (1 if a in top else -1))
    order = [i for i in board.order(j) if i in p]
    one_way = {i for i in p if min(leads[i]) > 0 or max(leads[i]) <= 0}  # several best runs may not agree
    significant = [i for i in order if i in one_way and reaches(np.array(p[i]), board.design.alpha)]
    groups = (
        ("no significant difference found to", [i for i in order if i in one_way and i not in significant], "≥", min),
        ("significantly better than", [i for i in significant if leads[i][0] > 0], "≤", max),
        ("on the topics of both, significantly worse than", [i for i in significant if leads[i][0] <= 0], "≤", max),
    )
    words = []
    for text, runs, sign, end in groups:
        if len(runs) > _NAMED:
            rest = "any of the" if sign == "≥" else "all"
            every = f"{rest} {len(runs)} other runs" if len(runs) == len(board.scores.runs) - len(top) else ""
            words.append(f"{text} {every or _names(board, runs)} ({_p(end(p[i] for i in runs), sign)})")
        elif runs:
            words.append(f"{text} {_names(board, runs, p)}")
    if mixed := [i for i in order if i not in one_way]:
        words.append(f"the best runs do not agree on {_names(board, mixed)}")
    text = "; ".join(words)
    return [text[0].upper() + text[1:] + "."] if text else []


def _against_baseline(board: Leaderboard, j: int) -> list[str]:
    if board.design.one_baseline is None:
        return []
    base = board.place(board.design.one_baseline)
    verdict = board.against(j, base).verdict
    groups = {text: [i for i in board.order(j) if i != base and verdict[i] == sign] for text, sign in _VERDICTS}
    words = "; ".join(f"{text}: {_names(board, runs)}" for text, runs in groups.items() if runs)
    return [f"Against the baseline {_names(board, [base])}, {_value(board, base, j)}, {words}."]


def _doubts(board: Leaderboard, best: int | None) -> list[str]:
    """Unjudged documents near the top, and missing topics."""
    audit = board.scores.rankings.audit
    audit = getattr(audit, "of_runs", audit)  # of sessions, the audit of their runs
    if not hasattr(audit, "shown_top10"):
        return []
    said, shown_10 = [], int(audit.shown_top10.sum())
    if shown_10:
        said.append(f"{audit.unjudged_top10.sum() / shown_10:.1%}".replace("%", " %"))
        said[-1] += " of the documents in the top 10 are unjudged"
        if best is not None and audit.shown_top10[best]:
            share = f"{audit.unjudged_top10[best] / audit.shown_top10[best]:.1%}".replace("%", " %")
            said[-1] += f"; of {_names(board, [best])}'s, {share}"
        said[-1] += "."
    if lacking := audit.missing:
        n = len({topic for own in lacking.values() for topic in own})
        counted = "scored 0" if board.scores.rankings.options.get("missing") == "zero" else "left out"
        runs = _names(board, [board.scores.runs.index(run) for run in lacking])
        said.append(f"Missing in {runs}, {counted}: {n} topic{'s' * (n != 1)}.")
    return said
