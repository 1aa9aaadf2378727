"""What each document adds to a score.

Most scores are sums over documents, and the parts add up to the score:

* a user asked for what she gains in all, or for the rate of expectations (P, RBP, DCG, nDCG, INST …): the gain of a
  document times the attention that its rank gets on this list, over what the score is divided by. A user who looks at
  the grades pays each rank the attention that this list makes her pay;
* a user asked where she stops, who stops only at documents that gain (AP, RR, ERR): the probability that she stops
  there, times the rate that she then has. For AP that is the precision at the rank over the number of relevant
  documents;
* a user asked where she stops, who may stop anywhere (walks of order 1): what the document's own gain adds to the rate;
* a user who never stops (Markov Precision): the share of her visits that the document gets, times precision there;
* a population: the mean over its users.

What is not a user (bpref, Rprec, infAP, Q …) is no such sum. There a document's part is what the score loses if its
judgment is taken away, as if nobody had judged it. These parts do not add up, and the table says so.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from amble.measures import Gains, Lists, Measure, Walk
from amble.progress import Progress
from amble.users.markov_scores import markov_user_on
from amble.users.walk_scores import gains_on, walk_on

__all__ = ["STORIES", "kind_of_parts", "losses_without", "parts_of"]

Array = NDArray[np.float64]

_CHUNK = 64  # documents tried at once

STORIES = {
    "order2": "gain x the share of attention that the rank gets",
    "total": "gain x the probability of getting to the rank, over what the score is divided by",
    "order1": "the probability that she stops there x the rate that she then has",
    "satisfied": "the probability that she stops there / rank",
    "markov": "the share of her visits x precision there",
    "share": "what its gain adds to the rate",
    "removed": "what the score loses without its judgment",
}


def kind_of_parts(m: Measure) -> str:
    """Which of the stories is that of a measure's parts."""
    d = m.declaration
    if d.question == "order1" and (d.stops != "gain" or m.members()[0][1].walk_user() is not None):
        return "share"
    return str(d.question)


def parts_of(m: Measure, lists: Lists, i: int) -> Array | None:
    """What each judged document of list i adds to its score; None if the score is no such sum."""
    hits = int(lists.offsets[i + 1] - lists.offsets[i])
    if m.is_population:
        total = np.zeros(hits)
        for weight, one in m.members():
            part = parts_of(one, lists, i)
            if part is None:
                return None
            total += weight * part
        return total
    d = m.declaration
    if d.question is None:
        return None
    gains = m.gains_of(lists)
    mine = slice(int(gains.offsets[i]), int(gains.offsets[i + 1]))
    rank, gain = gains.position[mine], gains.gain[mine]
    by_rank = _by_rank(m, gains, i)
    inside = rank <= by_rank.size
    out = np.zeros(hits)
    worth = by_rank[np.minimum(rank, by_rank.size) - 1]
    own = worth if kind_of_parts(m) in ("order1", "satisfied", "markov") else gain * worth
    out[gains.kept[mine] - lists.offsets[i]] = np.where(inside, own, 0.0)
    return out


def _by_rank(m: Measure, gains: Gains, i: int) -> Array:
    """What a gain of 1 at each rank is worth or, for one who stops at gains, what stopping at each rank is worth."""
    d = m.declaration
    if d.question == "markov":
        user = markov_user_on(m, gains, i)
        return np.asarray(user.weights * user.precision * user.scale)
    walk = m.walk_user()
    if walk is not None:
        return _of_walk(walk, str(d.question), gains, i)
    behaviour, gain = m.behaviour(gains, i)
    rank = np.arange(1, gain.size + 1, dtype=np.float64)
    if d.question == "order2":
        return np.asarray(behaviour.weights)
    if d.question == "total":
        scale = m.scale(gains, i)
        return np.asarray(behaviour.visits / scale if scale > 0 else np.zeros(gain.size))
    if d.question == "satisfied":
        return np.asarray(behaviour.last / rank)
    if d.stops == "gain":
        return np.asarray(behaviour.last * np.cumsum(gain) / rank)
    after = np.cumsum((behaviour.last / rank)[::-1])[::-1]  # E[1 / H; H >= rank]
    if behaviour.tail is not None and behaviour.beyond > 0:
        beyond, stops = behaviour.tail.stops(behaviour.beyond, gain.size)
        after = after + float((stops / beyond).sum())
    return np.asarray(after)


def _of_walk(walk: Walk, question: str, gains: Gains, i: int) -> Array:
    """For a walk: by its weights, or rank by rank where a gain is worth more or less by its size."""
    on_list = walk_on(walk, gains.lists, i)
    y = gains_on(gains, i)
    if question == "order1" and walk.utility.separable:
        return np.asarray(on_list.order1_weights())
    ask = on_list.order1 if question == "order1" else on_list.total
    out = np.zeros(y.size)
    for k in np.flatnonzero(y).tolist():
        alone = np.zeros(y.size)
        alone[k] = y[k]
        out[k] = ask(alone) / y[k]
    if question == "order2":
        out = out * (on_list.order2(y) / on_list.total(y)) if y.any() else out
    return out


def losses_without(m: Measure, lists: Lists, rows: NDArray[np.int64], at: list[int | None], condensed: bool) -> Array:
    """What the score of each list loses if the judgment of each document is taken away; the largest grade stays."""
    scored = m.scores(lists)
    out = np.zeros((rows.size, len(at)))
    line = Progress(f"parts of {m}")
    try:
        for r, i in enumerate(at):
            for start in range(0, rows.size if i is not None else 0, _CHUNK):
                chunk = slice(start, start + _CHUNK)
                if i is not None:
                    out[chunk, r] = scored[i] - m.scores(_without(lists, i, rows[chunk], condensed))
                line(r * rows.size + start, len(at) * rows.size)
    finally:
        line.close()
    return np.where(np.abs(out) > 1e-12, out, 0.0)


def _without(lists: Lists, i: int, rows: NDArray[np.int64], condensed: bool) -> Lists:
    """List i over and over, each time with a topic of its own that has one judgment less."""
    t = int(lists.topic[i])
    first, end = int(lists.rows[t]), int(lists.rows[t + 1])
    hits = slice(int(lists.offsets[i]), int(lists.offsets[i + 1]))
    own, shown = np.asarray(lists.row[hits], np.int64) - first, np.asarray(lists.shown_position[hits])
    grades, position, ranks, row, offsets = [], [], [], [], [0]
    for k, gone in enumerate((rows - first).tolist()):
        kept = own != gone
        grades.append(np.delete(lists.grades[first:end], gone))
        ranks.append(shown[kept])
        position.append(np.arange(1, int(kept.sum()) + 1) if condensed else shown[kept])
        row.append(own[kept] - (own[kept] > gone) + k * (end - first - 1))
        offsets.append(offsets[-1] + int(kept.sum()))
    n = rows.size
    length = np.full(n, int(lists.shown_length[i]))
    return Lists(
        grades=np.concatenate(grades),
        rows=np.arange(n + 1) * (end - first - 1),
        topic=np.arange(n),
        length=np.diff(offsets) if condensed else length,
        offsets=np.array(offsets),
        position=np.concatenate(position),
        row=np.concatenate(row),
        max_grade=lists.max_grade,
        shown=(np.concatenate(ranks), length),
    )
