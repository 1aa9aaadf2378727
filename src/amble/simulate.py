"""Users, simulated: the answer that needs no formula, always with its error band.

Each user is followed from rank 1 on; at every rank she goes on with the probability that her model says. Nothing of
the exact laws is used, so the two check each other.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from amble.errors import MeasureError
from amble.law import Law
from amble.measures import Measure, parse

__all__ = ["simulate"]


def simulate(measure: str | Measure, grades: ArrayLike, users: int = 100_000, seed: int = 0, **context: Any) -> Law:
    """Let users walk a list and tell the law of the score they go home with.

    Parameters
    ----------
    measure : str or Measure
        A measure that is a user.
    grades : array_like
        Grades by rank; NaN where nobody judged.
    users : int
    seed : int
        Same seed, same answer.
    **context
        As for `Measure.value`: relevant, ideal, max_grade.

    Returns
    -------
    Law
        With ``band``: half the width of the 95 % band around its cdf.

    Examples
    --------
    >>> import amble
    >>> law = amble.simulate("AP", [1, 0, 1], users=10_000, seed=7, relevant=2)
    >>> law.distance(amble.parse("AP").law([1, 0, 1], relevant=2)) < law.band_at(1e-6)
    True
    """
    m = parse(measure)
    if isinstance(users, bool) or not isinstance(users, int) or users < 1:
        raise MeasureError(f"users={users!r}: expected a whole number of at least 1")
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise MeasureError(f"seed={seed!r}: expected a whole number of at least 0")
    behaviour, gain, scale = m.walk(grades, **context)
    rng = np.random.default_rng(seed)
    question = str(m.declaration.question)
    score = np.zeros(users)
    walking = np.arange(users)
    rank, gained, n = 0, 0.0, gain.size
    tail = behaviour.tail
    while walking.size:
        rank += 1
        if rank > n and tail is None:  # she has come to the end and found nothing to stop for
            break
        cut = m.cut is not None and rank > m.cut
        if rank <= n and not cut:
            gained += float(gain[rank - 1])
        go_on = tail.continuation(rank) if rank > n and tail is not None else float(behaviour.continuation[rank - 1])
        stays = rng.random(walking.size) < go_on
        value = {"total": gained, "satisfied": 1.0 / rank}.get(question, gained / rank)
        if cut and question in ("order1", "satisfied"):
            value = 0.0
        score[walking[~stays]] = value / scale if scale > 0 else 0.0
        walking = walking[stays]
    values, counts = np.unique(score, return_counts=True)
    return Law(values, counts / users, users=users)
