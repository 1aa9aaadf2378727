"""Expected session measures (esP, esnDCG …): measures of the list of all documents seen, in the mean over users.

(Kanoulas, Carterette, Clough & Sanderson 2011.)

At each document the user goes down with probability d, or else leaves the list and asks the next query with
probability rho, if there is one. What was seen, query after query, is one list, and that list has precision, recall,
DCG, AP.

They need no sampling. Let D_j(m) be the probability to come to query j after m documents, and L(l) the probability to
look at l documents of a list: D_(j+1) = rho (D_j * L), a convolution. Precision, recall and DCG at k are sums of what a
document is worth at place m + i. AP needs how many relevant documents came before, and only its mean for each m,
because AP is linear in it: C_(j+1) = rho ((C_j * L) + (D_j * c L)), where c(l) are the relevant ones among the first l.
The precision of all that was seen needs its total gain in the same way. RR follows the users who found nothing so far.
Other measures are the mean over simulated users (`esM`).
"""

from __future__ import annotations

import math
from typing import Annotated, Any

import numpy as np

from amble.arrays import Array, Ints
from amble.expressions.domains import Between, Form, Optional, Whole
from amble.measures.catalogue.sessions_weighted import gains_inside, parse_list_measure
from amble.measures.declaration import measure
from amble.measures.gain_maps import binary, graded
from amble.measures.list_measure import ListMeasure, of_lists
from amble.measures.measure import Measure
from amble.measures.session_measure import SessionGains
from amble.rankings.lists import Lists
from amble.users.session_user import SessionWalk

__all__: list[str] = []

_NOBODY = 1e-18

_DOWN = Annotated[float, Between(0, 1), "probability to go down to the next document"]
_REFORM = Annotated[float, Between(0, 1), "probability to ask the next query, having left a list"]
_K = Annotated[int | None, Optional(Whole(1)), "how many of the documents seen count"]


def _walker(values: dict[str, Any]) -> SessionWalk:
    d, rho = values["down"], values["reform"]
    return SessionWalk(d, 0.0, (1.0 - d) * rho, (1.0 - d) * (1.0 - rho), last="stop")


def _looks(n: int, d: float) -> Array:
    """The probability to look at 0, 1, ..., n documents of a list; ranks that are hardly ever reached are left out."""
    n = min(n, 1 + math.ceil(math.log(_NOBODY) / math.log(d)))
    if n == 0:
        return np.ones(1)
    out = np.concatenate(([0.0], d ** np.arange(n) * (1.0 - d)))
    out[n] = d ** (n - 1)
    return out


class _Places:
    """Weights of each rank of each query, if place m of the list of all documents seen has weight phi(m)."""

    def __init__(self, down: float, reform: float, phi: Any) -> None:
        self._d, self._rho, self._phi = down, reform, phi
        self._known: dict[tuple[int, ...], tuple[Array, Array]] = {}  # by lengths up to a query: D after it, weights

    def of(self, lengths: tuple[int, ...]) -> Array:
        """The weights of the last query."""
        return self._solve(lengths)[1]

    def _solve(self, lengths: tuple[int, ...]) -> tuple[Array, Array]:
        if lengths not in self._known:
            came = self._solve(lengths[:-1])[0] if len(lengths) > 1 else np.ones(1)
            distribution = _looks(lengths[-1], self._d)
            n = distribution.size - 1
            worth = self._phi(np.arange(1.0, came.size + n))
            weights = np.zeros(n)
            if n:
                weights[:] = self._d ** np.arange(n) * np.correlate(worth, came, "valid")
            self._known[lengths] = self._rho * np.convolve(came, distribution), weights
        return self._known[lengths]


def _linear(seen: SessionGains, down: float, reform: float, phi: Any) -> Array:
    """The mean over ways of the sum of gain phi(place)."""
    data, places = seen.sessions, _Places(down, reform, phi)
    out = np.zeros(data.n)
    for e in range(data.n):
        lengths: tuple[int, ...] = ()
        for q in range(int(data.first[e]), int(data.first[e + 1])):
            lengths = (*lengths, int(seen.lengths[q]))
            hits = slice(int(data.offsets[q]), int(data.offsets[q + 1]))
            weights = places.of(lengths)
            rank = data.position[hits]
            near = rank <= weights.size
            out[e] += float(seen.gain[hits][near] @ weights[rank[near] - 1])
    return out


def _ideal(seen: SessionGains, of: Any) -> Array:
    """A function of the ideal list of every entry."""
    data = seen.sessions
    by_session = {t: of(seen.ideal(t)) for t in np.unique(data.topic).tolist()}
    return np.array([by_session[t] for t in data.topic.tolist()], np.float64)


def _over(value: Array, by: Array) -> Array:
    return np.divide(value, by, out=np.zeros(value.size), where=by > 0)


def _until(k: int | None, phi: Any) -> Any:
    return phi if k is None else lambda place: np.where(place <= k, phi(place), 0.0)


@measure(
    "esP", gain=binary, cite="kanoulas2011", family="sessions", walker=_walker,
    formula="E[relevant among the first k seen / k]; without k: E[relevant seen / seen]",
)  # fmt: skip
def expected_precision(sessions: SessionGains, down: _DOWN = 0.8, reform: _REFORM = 0.7, k: _K = None) -> Array:
    """Precision of what she saw, in the mean over her ways through the session."""
    if k is not None:
        return _linear(sessions, down, reform, _until(k, lambda place: np.full(place.size, 1.0 / k)))
    data = sessions.sessions
    out = np.zeros(data.n)
    for e in range(data.n):
        # probabilities of m documents before a query, and their mean gain times it
        came, total = np.ones(1), np.zeros(1)
        rows = sessions.by_query(e)
        for j, row in enumerate(rows):
            distribution = _looks(row.size, down)
            gained = np.concatenate(([0.0], np.cumsum(row[: distribution.size - 1])))
            total = np.convolve(total, distribution) + np.convolve(came, distribution * gained)
            rate = float((total[1:] / np.arange(1, total.size)).sum())
            out[e] += (1.0 if j == len(rows) - 1 else 1.0 - reform) * rate
            total *= reform
            came = reform * np.convolve(came, distribution)
    return out


@measure(
    "esR", gain=binary, cite="kanoulas2011", family="sessions", walker=_walker,
    formula="E[relevant among the first k seen] / relevant",
)  # fmt: skip
def expected_recall(sessions: SessionGains, down: _DOWN = 0.8, reform: _REFORM = 0.7, k: _K = None) -> Array:
    """Recall of what she saw, in the mean over her ways through the session; a document counts where first shown."""
    found = _linear(sessions.once(), down, reform, _until(k, lambda place: np.ones(place.size)))
    return _over(found, _ideal(sessions, lambda ideal: float((ideal > 0).sum())))


@measure(
    "esDCG", gain=graded, cite="kanoulas2011", family="sessions", bounded=False, walker=_walker,
    formula="E[sum of gain / log2(1 + place) over the first k seen]",
)  # fmt: skip
def expected_dcg(sessions: SessionGains, down: _DOWN = 0.8, reform: _REFORM = 0.7, k: _K = None) -> Array:
    """DCG of what she saw, in the mean over her ways through the session."""
    return _linear(sessions, down, reform, _until(k, lambda place: 1.0 / np.log2(1.0 + place)))


@measure(
    "esnDCG", gain=graded, cite="kanoulas2011", family="sessions", walker=_walker,
    formula="esDCG / DCG of the ideal list",
)  # fmt: skip
def expected_ndcg(sessions: SessionGains, down: _DOWN = 0.8, reform: _REFORM = 0.7, k: _K = None) -> Array:
    """DCG of what she saw, in the mean over her ways, divided by the ideal; a document counts where first shown."""

    def best(ideal: Array) -> float:
        gains = ideal if k is None else ideal[:k]
        return float(gains @ (1.0 / np.log2(np.arange(2.0, gains.size + 2))))

    return _over(expected_dcg(sessions.once(), down, reform, k), _ideal(sessions, best))


@measure(
    "esRR", gain=binary, cite="kanoulas2011", family="sessions", walker=_walker,
    formula="E[1 / place of the first relevant document seen]",
)  # fmt: skip
def expected_rr(sessions: SessionGains, down: _DOWN = 0.8, reform: _REFORM = 0.7) -> Array:
    """The reciprocal place of the first relevant document she saw, in the mean over her ways."""
    data = sessions.sessions
    out = np.zeros(data.n)
    for e in range(data.n):
        came = np.ones(1)  # of those who found nothing so far
        for row in sessions.by_query(e):
            distribution = _looks(row.size, down)
            found = np.flatnonzero(row[: distribution.size - 1] > 0)
            if found.size:
                i = int(found[0]) + 1
                out[e] += down ** (i - 1) * float((came / (np.arange(came.size) + i)).sum())
                distribution = distribution[:i]
            came = reform * np.convolve(came, distribution)
    return out


@measure(
    "esAP", gain=binary, cite="kanoulas2011", family="sessions", walker=_walker,
    formula="E[sum over relevant documents seen of precision there] / relevant",
)  # fmt: skip
def expected_ap(sessions: SessionGains, down: _DOWN = 0.8, reform: _REFORM = 0.7) -> Array:
    """Average precision of what she saw, in the mean over her ways; a document counts where first shown."""
    sessions = sessions.once()
    data = sessions.sessions
    out = np.zeros(data.n)
    for e in range(data.n):
        # probabilities of m documents, and the mean number of relevant ones times it
        came, before = np.ones(1), np.zeros(1)
        for row in sessions.by_query(e):
            distribution = _looks(row.size, down)
            row = row[: distribution.size - 1]
            found = np.concatenate(([0.0], np.cumsum(row)))
            for i in (np.flatnonzero(row > 0) + 1).tolist():
                place = np.arange(came.size) + i
                out[e] += down ** (i - 1) * float(((before + came * found[i]) / place).sum())
            before = reform * (np.convolve(before, distribution) + np.convolve(came, distribution * found))
            came = reform * np.convolve(came, distribution)
    return _over(out, _ideal(sessions, lambda ideal: float((ideal > 0).sum())))


@measure(
    "esM", gain=graded, cite="kanoulas2011", family="sessions", bounded=False, walker=_walker,
    variant=gains_inside,
    formula="the mean over simulated users of a measure of the list each saw",
)  # fmt: skip
def expected_measure(
    sessions: SessionGains,
    of: Annotated[
        Measure | None,
        Form(parse_list_measure, "a measure of lists, such as 'ERR@10'", Measure),
        "measure of the list seen",
    ] = None,
    down: _DOWN = 0.8,
    reform: _REFORM = 0.7,
    users: Annotated[int, Whole(1, 10_000_000), "how many are simulated"] = 10_000,
    seed: Annotated[int, Whole(0), "same seed, same users"] = 0,
) -> Array:
    """Any measure of the list she saw, in the mean over simulated users: as good as 1 / sqrt(users) allows."""
    inner, data = of_lists(parse_list_measure(of)), sessions.sessions
    once = data.repeats == "once" or _divides(inner, data.max_grade)
    out = np.zeros(data.n)  # recall, AP, nDCG and their like count a document where it is first shown, as above
    for e in range(data.n):
        ways, counts = _ways(sessions.lengths[data.first[e] : data.first[e + 1]], down, reform, users, seed)
        out[e] = float(inner.scores(_seen_lists(sessions, e, ways, once)) @ counts) / users
    return out


def _divides(measure: ListMeasure, grade: float) -> bool:
    """Whether a score is less where its topic has more to be found, as recall, AP and nDCG are."""
    few, many = (Lists.of_grades([grade], relevant=n, max_grade=grade, extra_grade=grade) for n in (1, 2))
    return bool(measure.scores(many)[0] < measure.scores(few)[0])


def _ways(lengths: Ints, d: float, rho: float, users: int, seed: int) -> tuple[Any, Any]:
    """How many documents of each query users looked at: the different ways, and how many went each."""
    rng = np.random.default_rng(seed)
    looked = np.zeros((users, lengths.size), np.int64)
    there = np.ones(users, bool)
    for j, n in enumerate(lengths.tolist()):
        down = rng.geometric(1.0 - d, users)
        looked[:, j] = np.where(there, np.minimum(down, n), 0)
        there &= rng.random(users) < rho
    return np.unique(looked, axis=0, return_counts=True)


def _seen_lists(seen: SessionGains, entry: int, ways: Ints, once: bool) -> Lists:
    """The list of each way through a session; what is shown again is judged there, too, unless it counts once."""
    data = seen.sessions
    hits = np.arange(data.offsets[data.first[entry]], data.offsets[data.first[entry + 1]])
    if once:
        hits = hits[~data.again[hits]]
    turn, rank = data.turn[data.query[hits]], data.position[hits]
    before = np.cumsum(ways, axis=1) - ways
    met = rank <= ways[:, turn]  # ways x hits
    way, which = np.nonzero(met)
    pool = data.pool[data.pools[data.topic[entry]] : data.pools[data.topic[entry] + 1]]
    return Lists(
        grades=np.concatenate((pool, data.grade[hits])),
        rows=np.array([0, pool.size, pool.size + hits.size]),
        topic=np.zeros(len(ways), np.int64),
        length=ways.sum(axis=1),
        offsets=np.concatenate(([0], np.cumsum(met.sum(axis=1)))),
        position=before[way, turn[which]] + rank[which],
        row=pool.size + which,
        max_grade=data.max_grade,
    )
