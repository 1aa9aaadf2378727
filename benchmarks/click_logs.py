"""Make logs of people who are known, because they are simulated: what is fitted to a log can be compared with them.

Three ways of being:

* `wandering`: from rank to rank by a Markov chain, with a probability of stopping at each; every visit is a click, and
  takes a time with an exponential distribution. A walk back and forth is such a chain.
* `reading`: down the list, with a probability of going on after each rank, which may depend on what was gained so far.
  The last document read is clicked, and some of those before it.
* `asking`: back and forth on a list, on to the next query, or to a stop; every visit is a click.

Two layouts: `write_table` (session, query, rank, time, action and, if there are grades, grade) and `write_relpred`,
that of Yandex's Relevance Prediction Challenge.

Run ``python benchmarks/click_logs.py FILE [--records N] [--layout relpred|table] [--seed S]``: a log of about so many
records, by people who walk. A file appears whole or not at all; its name may end in .gz.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import IO

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

RANKS = 10
QUERIES = 20_000  # that people ask, the likeliest most often
_FIRST_DOC = 10_000_000  # names of documents are as long as in real logs
_CHUNK = 50_000  # sessions written at once


@dataclass(frozen=True)
class Visits:
    """What people clicked, session by session, in the order of time.

    Parameters
    ----------
    session, rank : array of int
        Of each visit; sessions count from 0, ranks from 1.
    time : array
        When it began; a session begins at 0.
    left : array
        When each session ended.
    ranks : int
        How many documents a page has.
    grades : array of shape (sessions, ranks), optional
        Of the documents on each page.
    query : array of int, optional
        Of each visit: which query of the session, from 1; without it, each session has one.
    """

    session: Ints
    rank: Ints
    time: Array
    left: Array
    ranks: int
    grades: Array | None = None
    query: Ints | None = None


def wandering(rng: np.random.Generator, sessions: int, moves: Array, stop: Array, start: Array, rates: Array) -> Visits:
    """Let people wander.

    Parameters
    ----------
    moves : array of shape (n, n)
        Probabilities from rank to rank; with ``stop`` each row sums to 1.
    stop, start, rates : array of shape (n,)
        Probabilities of stopping at a rank, and of starting there; 1 / the mean time that a visit takes.
    """
    probabilities = np.cumsum(np.column_stack((stop, moves)), axis=1)
    at = np.searchsorted(np.cumsum(start)[:-1], rng.random(sessions), side="right")
    now, left = np.zeros(sessions), np.zeros(sessions)
    alive = np.arange(sessions)
    found: list[tuple[Ints, Ints, Array]] = []
    while alive.size:
        found.append((alive, at, now))
        now = now + rng.exponential(1.0 / rates[at])
        to = (probabilities[at, :-1] <= rng.random(alive.size)[:, None]).sum(axis=1) - 1  # -1: she stops
        left[alive[to < 0]] = now[to < 0]
        alive, at, now = alive[to >= 0], to[to >= 0], now[to >= 0]
    session, rank, when = (np.concatenate(parts) for parts in zip(*found, strict=True))
    order = np.argsort(session, kind="stable")
    return Visits(session[order], rank[order] + 1, when[order], left, len(stop))


def walk_chain(p: float | Array, q: float | Array, ranks: int = RANKS, first: str = "stop") -> tuple[Array, Array]:
    """The moves and stops of a walk: forward with probability p, back with q; at the last rank those who go on stop."""
    forward, back = np.array(np.broadcast_to(p, ranks), float), np.array(np.broadcast_to(q, ranks), float)
    if first == "forward":
        forward[0] += back[0]
    back[0] = forward[-1] = 0.0
    moves = np.diag(forward[:-1], 1) + np.diag(back[1:], -1)
    return moves, 1.0 - moves.sum(axis=1)


def asking(
    rng: np.random.Generator, sessions: int, p: float, q: float, r: float, s: float, ranks: int = RANKS
) -> Visits:
    """Let people ask: forward with probability p, back with q, on to the next query with r, and to a stop with s.

    At the first document there is no way back and at the last none forward: the other probabilities are scaled up.
    """
    forward, back = np.full(ranks, p), np.full(ranks, q)
    back[0] = forward[-1] = 0.0
    total = forward + back + r + s
    # the first document of a further query is a state of its own, the last one
    moves = np.zeros((ranks + 1, ranks + 1))
    moves[:-1, :-1] = np.diag((forward / total)[:-1], 1) + np.diag((back / total)[1:], -1)
    moves[:-1, -1] = r / total
    moves[-1] = moves[0]
    stop, begin = np.append(s / total, s / total[0]), np.eye(ranks + 1)[0]
    found = wandering(rng, sessions, moves, stop, begin, np.full(ranks + 1, 0.03))
    new = np.cumsum(found.rank > ranks)
    before = np.concatenate(([0], new))[np.searchsorted(found.session, found.session)]
    query = np.asarray(new - before + 1, np.int64)
    rank = np.where(found.rank > ranks, 1, found.rank)
    return Visits(found.session, rank, found.time, found.left, ranks, query=query)


def reading(
    rng: np.random.Generator, sessions: int, going_on: Array, clicked: float = 0.4, grades: Array | None = None
) -> Visits:
    """Let people read down.

    Parameters
    ----------
    going_on : array of shape (ranks,) or (sessions, ranks)
        The probability of going on after each rank; at the last one everybody stops.
    clicked : float
        The probability that a document read before the last one is clicked; the last one always is.
    """
    ranks = going_on.shape[-1]
    on = rng.random((sessions, ranks)) < going_on
    on[:, -1] = False
    last = np.argmin(on, axis=1)
    rank = np.arange(ranks)
    seen = (rank < last[:, None]) & (rng.random((sessions, ranks)) < clicked) | (rank == last[:, None])
    session, at = np.nonzero(seen)
    spent = np.cumsum(rng.exponential(20.0, (sessions, ranks)), axis=1)
    left = spent[np.arange(sessions), last] + 30.0
    return Visits(session, at + 1, spent[session, at], left, ranks, grades)


# ---- files


@contextlib.contextmanager
def _whole(path: str) -> Iterator[IO[str]]:
    """A file that appears when all is in it."""
    partial = f"{path}.partial"
    try:
        opened = gzip.open(partial, "wt", compresslevel=1) if path.endswith(".gz") else open(partial, "w")  # noqa: SIM115
        with opened as file:
            yield file
        os.replace(partial, path)
    finally:
        if os.path.exists(partial):
            os.unlink(partial)


def _by_session(visits: Visits) -> Iterator[tuple[int, list[int], list[float]]]:
    ends = np.searchsorted(visits.session, np.arange(visits.left.size + 1))
    rank, when = visits.rank.tolist(), visits.time.tolist()
    for s in range(visits.left.size):
        yield s, rank[ends[s] : ends[s + 1]], when[ends[s] : ends[s + 1]]


def _relpred(visits: Visits, first: int, queries: list[int]) -> Iterator[str]:
    shown = "\t{}" * visits.ranks
    for s, rank, when in _by_session(visits):
        query = queries[s]
        doc = _FIRST_DOC + query * visits.ranks
        yield f"{first + s}\t0\tQ\t{query}\t0" + shown.format(*range(doc, doc + visits.ranks)) + "\n"
        yield "".join([f"{first + s}\t{t:.3f}\tC\t{doc + r - 1}\n" for r, t in zip(rank, when, strict=True)])


def _table(visits: Visits, first: int, queries: list[int]) -> Iterator[str]:
    left = visits.left.tolist()
    more = "" if visits.grades is None else "\t"
    grades = None if visits.grades is None else visits.grades.tolist()
    asked = None if visits.query is None else iter(visits.query.tolist())
    for s, rank, when in _by_session(visits):
        page = f"{first + s}\t{queries[s]}\t"
        if asked is not None:
            for r, t in zip(rank, when, strict=True):
                page = f"{first + s}\t{next(asked)}\t"
                yield f"{page}{r}\t{t:.3f}\tclick\n"
            yield f"{page}\t{left[s]:.3f}\tend\n"
            continue
        if grades is not None:
            yield "".join([f"{page}{i}\t0\tshow\t{g:g}\n" for i, g in enumerate(grades[s], 1)])
        yield "".join([f"{page}{r}\t{t:.3f}\tclick{more}\n" for r, t in zip(rank, when, strict=True)])
        yield f"{page}\t{left[s]:.3f}\tend{more}\n"


def _queries(rng: np.random.Generator, sessions: int) -> list[int]:
    """What they asked: a few queries often, most seldom."""
    drawn: list[int] = np.asarray(QUERIES ** rng.random(sessions) - 1, np.int64).tolist()
    return drawn


def write_relpred(path: str, parts: Iterable[Visits], seed: int = 0) -> None:
    """Write visits in the layout of Yandex's Relevance Prediction Challenge."""
    rng, first = np.random.default_rng(seed), 0
    with _whole(path) as file:
        for visits in parts:
            file.writelines(_relpred(visits, first, _queries(rng, visits.left.size)))
            first += visits.left.size


def write_table(path: str, parts: Iterable[Visits], seed: int = 0) -> None:
    """Write visits as a table, a row for each thing that happened, also for the end of a session."""
    rng, first = np.random.default_rng(seed), 0
    with _whole(path) as file:
        for visits in parts:
            if not first:
                file.write("session\tquery\trank\ttime\taction" + "\tgrade" * (visits.grades is not None) + "\n")
            file.writelines(_table(visits, first, _queries(rng, visits.left.size)))
            first += visits.left.size


# ---- a large log


P, Q, SECONDS = 0.45, 0.1, 35.0  # of those who walk in it


def large(records: int, seed: int) -> Iterator[Visits]:
    """About so many records, by people who walk, a part at a time."""
    rng = np.random.default_rng(seed)
    moves, stop = walk_chain(P, Q)
    start = np.eye(RANKS)[0]
    while records > 0:
        visits = wandering(rng, min(_CHUNK, records), moves, stop, start, np.full(RANKS, 1.0 / SECONDS))
        keep = np.searchsorted(visits.session + np.arange(visits.session.size), records)  # a query is a record, too
        if keep < visits.session.size:
            last = int(visits.session[keep])
            use = visits.session < max(last, 1)
            visits = Visits(
                visits.session[use], visits.rank[use], visits.time[use], visits.left[: max(last, 1)], visits.ranks
            )
            records = 0
        records -= visits.session.size + visits.left.size
        yield visits


def main() -> None:
    """Make a log."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--records", type=int, default=3_000_000)
    parser.add_argument("--layout", choices=("relpred", "table"), default="relpred")
    parser.add_argument("--seed", type=int, default=1992)
    args = parser.parse_args()
    start = time.perf_counter()
    write = write_relpred if args.layout == "relpred" else write_table
    write(args.file, large(args.records, args.seed), args.seed)
    size = os.path.getsize(args.file) / 1e6
    print(f"{args.file}: {size:,.0f} MB in {time.perf_counter() - start:.0f} s; p {P}, q {Q}, {SECONDS:g} s per visit")


if __name__ == "__main__":
    main()
