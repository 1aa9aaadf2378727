"""What users do on pages: expected visits, and the distribution of the last rank; of fitted models and of measures.

A page ends, so that users who would go on beyond its last rank stop there. A user who looks at grades does something
else on every page; of others one row says it all.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from amble.arrays import Array
from amble.errors import AmbleError
from amble.logs.adaptive_fitting import ADAPTIVE, continuation
from amble.logs.counts import Counts
from amble.logs.forward_fitting import insq_continuation
from amble.logs.moves_fitting import chain_transitions
from amble.logs.page_counts import GradedPages
from amble.logs.session_fitting import scaled_probabilities
from amble.measures.list_measure import of_lists
from amble.measures.measure import Measure
from amble.rankings.lists import Lists
from amble.users.birth_death import BirthDeathChain, solved
from amble.users.fitted import FittedModel, step_rule
from amble.users.protocol import Question
from amble.users.walk import Walk

__all__ = ["Behaviour", "behaviour", "forward_continuation", "last_clicks", "looks", "measure_behaviour"]

Behaviour = tuple[Array, Array]  # visits and last, of n ranks, or of pages and n ranks


def looks(model: FittedModel) -> bool:
    """Whether a fitted user looks at grades."""
    return model.kind in ADAPTIVE or (model.kind == "walk" and model.estimates["p"].grades is not None)


def behaviour(model: FittedModel, n: int, pages: GradedPages | None = None) -> Behaviour | None:
    """Expected visits and distribution of the last rank on a page of n; None if a user needs grades, or never stops.

    Of users who look at grades: on each of the pages.
    """
    if looks(model) and pages is None:
        return None
    if model.kind == "walk":
        return _of_walk(model, n, pages)
    if model.kind == "chain":
        moves, start = chain_transitions(model, n), model.estimates.get("start")
        begin = np.eye(n)[0] if start is None else start.distribution
        visits = np.linalg.solve(np.eye(n) - moves[:, 1:].T, begin)
        return visits, visits * moves[:, 0]
    if model.kind == "session":
        edges = scaled_probabilities(np.array([float(model.estimates[name].value) for name in "pqrs"]))
        p, q, r, s = edges[[0, *[1] * (n - 2), 2]].T[:, None]
        return _first_row(_solved(BirthDeathChain(p, q, r + s, np.eye(n)[:1], None)))
    goes_on = forward_continuation(model, n, pages)
    if goes_on is None:
        return None
    ends = np.concatenate((goes_on, np.zeros((*goes_on.shape[:-1], 1))), axis=-1)
    visits = np.concatenate((np.ones((*goes_on.shape[:-1], 1)), np.cumprod(goes_on, axis=-1)), axis=-1)
    return visits, visits * (1.0 - ends)


def forward_continuation(model: FittedModel, n: int, pages: GradedPages | None = None) -> Array | None:
    """C at all ranks but the last; None if it is no forward user's."""
    if model.kind in ADAPTIVE:
        assert pages is not None
        values = {name: float(e.value) for name, e in model.estimates.items()}
        return continuation(model.kind, values, np.arange(1.0, n), pages.seen[:, :-1])
    if model.kind in ("rbp", "session-rbp"):
        down = [float(e.value) for name, e in model.estimates.items()]
        return np.full(n - 1, float(np.prod(down)))
    if model.kind == "insq":
        return insq_continuation(model.estimates["T"].value, np.arange(1.0, n))
    return model.estimates["C"].known[: n - 1] if model.kind == "continuation" else None


def _of_walk(model: FittedModel, n: int, pages: GradedPages | None) -> Behaviour:
    p, q = model.estimates["p"], model.estimates["q"]
    start = model.estimates.get("start")
    walk = Walk(
        *(step_rule(e.known, e.grades) for e in (p, q)),
        first=model.first,
        start=None if start is None else start.distribution.tolist(),
    )
    if p.grades is None:
        on_list = walk.over(n)
        return np.asarray(on_list.visits), np.asarray(on_list.last)
    assert pages is not None
    return _solved(walk.chain(np.full(len(pages.grades), n), np.nan_to_num(pages.grades)))


def _solved(chain: BirthDeathChain) -> Behaviour:
    found = solved(chain)
    visits = (found.hit / found.away)[:, :, 0].T
    return visits, visits * chain.stop


def _first_row(found: Behaviour) -> Behaviour:
    return found[0][0], found[1][0]


# ---- measures


def measure_behaviour(measure: Measure, n: int, pages: GradedPages | None) -> Behaviour:
    """What a measure's user does on a page of n ranks, or on each of the pages, if the user looks at grades.

    Raises
    ------
    AmbleError
        If the measure is no user, or one who never stops, or one who looks at grades where there are none.
    """
    m = of_lists(measure)
    if m.question is Question.MARKOV:  # may raise: no user
        raise AmbleError(f"{measure.label}: its user never stops, so no rank is the last")
    parts = []
    for share, one in m.members:
        user = one.one_user
        if user.is_static:
            lists = Lists.of_grades(np.full(n, np.nan), max_grade=1.0)
        elif pages is None:
            raise AmbleError(f"{measure.label}: its user looks at grades, and the log has none of documents")
        else:
            lists = _lists(pages)
        with one.wrap_errors():
            gains = one.gains_of(lists)
            rows = [_on_page(user.on(gains, i), n, int(gains.lists.length[i])) for i in range(lists.n)]
        visits, last = (np.array([row[j] for row in rows]) for j in range(2))
        parts.append((share * visits, share * last))
    visits, last = (np.asarray(sum(np.asarray(part[j]) for part in parts)) for j in range(2))
    return (visits[0], last[0]) if len(visits) == 1 else (visits, last)


def _on_page(user: Any, n: int, length: int) -> Behaviour:
    visits, last = np.zeros(n), np.zeros(n)
    seen, ended = np.asarray(user.visits, np.float64), np.asarray(user.last, np.float64)
    visits[: min(n, seen.size)], last[: min(n, ended.size)] = seen[:n], ended[:n]
    last[min(n, length) - 1] += max(1.0 - float(last.sum()), 0.0)  # beyond the page, or with nothing at its end
    return visits, last


def _lists(pages: GradedPages) -> Lists:
    """Pages as lists; each is a topic of its own, with its own documents judged."""
    binary = pages.rel is not None
    shown = np.where(np.isnan(pages.grades), np.nan, pages.gains) if binary else pages.grades
    known = ~np.isnan(shown)
    offsets = np.concatenate(([0], np.cumsum(known.sum(axis=1))))
    many, n = shown.shape
    return Lists(
        grades=shown[known],
        rows=offsets,
        topic=np.arange(many),
        length=np.full(many, n),
        offsets=offsets,
        position=np.nonzero(known)[1] + 1,
        row=np.arange(offsets[-1]),
        max_grade=pages.max_grade,
    )


def last_clicks(counts: Counts, weights: Array, pages: GradedPages | None) -> Array:
    """How often each rank has the last click, with a weight for each group of sessions: on each page, or on all."""
    if pages is not None:
        return pages.last_ranks(weights)
    return np.asarray(weights @ counts.moves[:, 1:, 0])[None]
