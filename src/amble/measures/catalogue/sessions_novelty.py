"""Measures of sessions that reward novelty: the Cube Test and Expected Utility.

Judgments may distinguish the facets (subtopics) of an information need. Without them, the Cube Test takes the need as
one facet, and Expected Utility every document as a piece of information of its own.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from amble.arrays import Array, Ints
from amble.expressions.domains import Above, AtLeast, Between, OneOf
from amble.measures.declaration import measure
from amble.measures.gain_maps import graded
from amble.measures.session_measure import SessionGains

__all__: list[str] = []

_GAMMA = Annotated[float, Between(0, 1, closed=True), "what each further document on a facet keeps of its worth"]
_HEIGHT = Annotated[float, Above(0), "how much of a facet there is to be found: the height of the cube"]
_TIME = Annotated[str, OneOf("queries", "documents"), "what time is counted in"]


def _facet_gains(seen: SessionGains, hit: int) -> list[tuple[int, float]]:
    """The facets that a hit serves, with the gain of its rating for each."""
    data = seen.sessions
    if data.facets is None:
        return [(0, float(seen.gain[hit]))]
    if data.repeats == "once" and data.again[hit]:
        return []
    span = slice(int(data.facets.offsets[hit]), int(data.facets.offsets[hit + 1]))
    gains = seen.of_grades(data.facets.rating[span]).tolist()
    return [(f, gain) for f, gain in zip(data.facets.facet[span].tolist(), gains, strict=True) if gain > 0]


def _filled(seen: SessionGains, entry: int, gamma: float, height: float) -> tuple[Array, Ints]:
    """How full the cube is after each document of an entry, from 0 to 1, and the query (from 1) of each document."""
    data = seen.sessions
    facets = 1 if data.facets is None else int(np.diff(data.facets.worths)[data.topic[entry]])
    heights = dict.fromkeys(range(max(facets, 1)), 0.0)
    found = dict.fromkeys(heights, 0)
    added, of_query = [], []
    for j, q in enumerate(range(int(data.first[entry]), int(data.first[entry + 1])), 1):
        n = int(seen.lengths[q])
        here = np.zeros(n)
        for hit in range(int(data.offsets[q]), int(data.offsets[q + 1])):
            if data.position[hit] > n:
                continue
            for facet, rating in _facet_gains(seen, hit):
                if rating <= 0 or heights[facet] >= height:
                    continue
                more = min(gamma ** found[facet] * rating, height - heights[facet])
                heights[facet] += more
                found[facet] += 1
                here[data.position[hit] - 1] += more / height / max(facets, 1)
        added.append(here)
        of_query.append(np.full(n, j))
    return np.cumsum(np.concatenate(added)), np.concatenate(of_query)


@measure(
    "CubeTest", gain=graded, cite="luo2013", family="sessions", bounded=False,
    formula="mean over facets of min(1, sum of gamma^(found before) rating / height) / time",
)  # fmt: skip
def cube_test(sessions: SessionGains, gamma: _GAMMA = 0.5, height: _HEIGHT = 5.0, time: _TIME = "queries") -> Array:
    """She fills a cube, a part of it for each facet of what she needs, and is asked how fast it filled.

    A document adds its rating to each facet it serves, gamma times less for each that served it before, and nothing
    once the facet is full.
    """
    data = sessions.sessions
    out = np.zeros(data.n)
    for e in range(data.n):
        full, _ = _filled(sessions, e, gamma, height)
        queries = int(data.first[e + 1] - data.first[e])
        spent = queries if time == "queries" else full.size
        out[e] = full[-1] / spent if full.size else 0.0
    return out


@measure(
    "ACT", gain=graded, cite="luo2013", family="sessions", bounded=False,
    formula="the mean over all documents shown of the Cube Test after that document",
)  # fmt: skip
def average_cube_test(
    sessions: SessionGains, gamma: _GAMMA = 0.5, height: _HEIGHT = 5.0, time: _TIME = "queries"
) -> Array:
    """The Average Cube Test: the speed at which the cube fills, asked after every document."""
    data = sessions.sessions
    out = np.zeros(data.n)
    for e in range(data.n):
        full, query = _filled(sessions, e, gamma, height)
        spent = query if time == "queries" else np.arange(1, full.size + 1)
        out[e] = float(np.mean(full / spent)) if full.size else 0.0
    return out


@measure(
    "ExpectedUtility", gain=graded, cite="yang2009", family="sessions", bounded=False,
    formula="sum over pieces of worth (1 - gamma^m) / (1 - gamma) - a E[documents read], m: how often a piece is met",
)  # fmt: skip
def expected_utility(
    sessions: SessionGains,
    p: Annotated[float, Between(0, 1), "probability to stop at each document of a list"] = 0.5,
    gamma: Annotated[float, Between(0, 1), "what each further time keeps of a piece's worth"] = 0.5,
    a: Annotated[float, AtLeast(0), "what reading a document costs"] = 0.01,
) -> Array:
    """She reads down each list for a while, asks all the queries, and is asked for what she learnt minus what it cost.

    m is the mean number of times a piece of information is met, which stands for the number of times (as Yang and Lad
    have it): a facet where judgments have facets, a document otherwise. The score may be below 0.
    """
    data = sessions.sessions
    keep = 1.0 - p
    read = -np.expm1(sessions.lengths * np.log1p(-p)) / p  # of each list: (1 - keep^n) / p
    out = -a * np.add.reduceat(read, data.first[:-1])
    worths = () if data.facets is None else sessions.of_grades(data.facets.worth)
    for e in range(data.n):
        met: dict[int, float] = {}
        worth: dict[int, float] = {}
        for q in range(int(data.first[e]), int(data.first[e + 1])):
            for hit in range(int(data.offsets[q]), int(data.offsets[q + 1])):
                if data.position[hit] > sessions.lengths[q]:
                    continue
                seen = keep ** (data.position[hit] - 1.0)
                if data.facets is None:
                    name = hit if data.doc is None or data.doc[hit] < 0 else -1 - int(data.doc[hit])
                    pieces = [(name, float(sessions.gain[hit]))]
                else:
                    first = int(data.facets.worths[data.topic[e]])
                    pieces = [(f, float(worths[first + f])) for f, _ in _facet_gains(sessions, hit)]
                for piece, its in pieces:
                    if its > 0:
                        met[piece] = met.get(piece, 0.0) + seen
                        worth[piece] = its
        out[e] += sum(worth[x] * (1.0 - gamma**m) / (1.0 - gamma) for x, m in met.items())
    return np.asarray(out)
