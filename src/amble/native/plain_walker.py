"""The plain twin of ``walker.c``: users who walk back and forth over ranked lists, simulated, or all of them at once.

It is used where no compiler was at hand, and it is the C part's specification: the same numbers to the last bit, the
same messages. All simulated users of a chunk take their steps together; those who have stopped are dropped.

Draw ``h`` of user ``u`` is a function of the seed, ``u`` and ``h`` alone (SplitMix64, its state computed instead of
kept). So users can be split among calls as one likes, and a user makes the same draws on every list.
"""

from __future__ import annotations

import operator
from typing import Any, NamedTuple, SupportsIndex

import numpy as np

from amble.arrays import NDArray

__all__ = ["draws", "joint", "keys", "mix64", "walk"]

GOLDEN = 0x9E3779B97F4A7C15  # from draw to draw: 2^64 / golden ratio, SplitMix64's step
ODD = 0xD1B54A32D192ED03  # from user to user
_WORD = (1 << 64) - 1
_CHUNK = 1 << 16  # users who step together, at most: enough that calls of numpy are not felt
_CHUNK_BYTES = 1 << 26  # what they may need together, about

_Words = NDArray[np.uint64]
_Floats = NDArray[np.float64]
_Wholes = NDArray[np.int64]


def mix64(x: _Words) -> _Words:
    """SplitMix64's finaliser of each word.

    >>> [int(x) for x in mix64(np.array([1234567 + GOLDEN, 1234567 + 2 * GOLDEN & 2**64 - 1], np.uint64))]
    [6457827717110365317, 3203168211198807973]
    """
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def keys(seed: int, first: int, users: int) -> _Words:
    """The keys of the draws of the users ``first``, ``first + 1``, …"""
    mixed = mix64(np.array([seed + GOLDEN & _WORD], np.uint64))  # near seeds must not be each other's users
    return mix64(mixed + np.arange(first + 1, first + users + 1, dtype=np.uint64) * np.uint64(ODD))


def draws(key: _Words, number: int) -> _Floats:
    """The draw of that number, counted from 0, of each key: uniform in [0, 1).

    >>> draws(keys(7, 0, 2), 0).round(6).tolist()
    [0.897757, 0.912854]
    """
    return (mix64(key + np.uint64((number + 1) * GOLDEN & _WORD)) >> np.uint64(11)) * np.float64(2.0**-53)


class _Walk(NamedTuple):
    """The walk that all users share. Arrays by rank have one entry more, for all ranks beyond the last."""

    start: _Floats  # without the last, which is the start if none of the others is
    forward: _Floats
    turn: _Floats
    end: int | None  # where the list ends
    limit: int
    offsets: _Wholes
    gains: _Wholes  # how many there are at each rank
    which: _Wholes
    row: _Wholes  # where in utility the row of a gain begins
    utility: _Floats
    depth: int
    counter: np.dtype[Any]  # holds how often a rank was visited, as far as it matters
    ranks: int  # where it is counted: where there are gains, and only if visits differ
    column: _Wholes  # of a rank among those


def walk(
    seed: SupportsIndex,
    first: SupportsIndex,
    users: SupportsIndex,
    start: Any,
    forward: Any,
    turn: Any,
    endless: SupportsIndex,
    offsets: Any,
    which: Any,
    kind: Any,
    utility: Any,
    lists: SupportsIndex,
    limit: SupportsIndex,
    total: Any,
    steps: Any,
    /,
) -> int:
    """Simulate users who share a walk over several lists: the gain of each on each list, and the visits.

    All arrays are contiguous, of the type that is named (anything with a buffer will do), and aligned.

    Parameters
    ----------
    seed : int
        From 0 to 2^64 - 1.
    first, users : int
        The users ``first``, ``first + 1``, …, ``first + users - 1`` are simulated.
    start : float64[m]
        Cumulative probabilities of starting at rank 1, …, m, with m <= n. A user starts at the first that exceeds
        draw 0, or at the last.
    forward, turn : float64[n]
        After the h-th visit, at rank i: if draw h is below ``forward[i]`` the user goes on to the next rank; else, if
        it is below ``turn[i]``, back to the one before; else the user stops, as well as where there is no such rank.
    endless : int
        1 if ranks beyond n exist: nothing is gained there, and users move on as at rank n. Otherwise 0.
    offsets : int64[n + 1]
        Rank i has the gains ``offsets[i]:offsets[i + 1]`` (ranks counted from 0 here).
    which, kind : int32[gains]
        The list on which something is gained, and its row in ``utility``.
    utility : float64[kinds, depth]
        What the first, second, … visit of a user to the rank brings; the last column serves all further visits.
    lists : int
    limit : int
        The most visits a user may make, at least 1: a user who has made as many is stopped.
    total : float64[users * lists]
        Overwritten: what each user gains on each list, user by user, added up in the order of the visits. It may have
        any number of dimensions.
    steps : int64[users]
        Overwritten: how many visits each user makes.

    Returns
    -------
    int
        How many users made ``limit`` visits.

    Examples
    --------
    One list of two documents, of which only the second brings something, and half as much when seen again:

    >>> total, steps = np.zeros(5), np.zeros(5, np.int64)
    >>> offsets, which, kind = np.array([0, 0, 1], np.int64), np.zeros(1, np.int32), np.zeros(1, np.int32)
    >>> probabilities = np.array([1.0]), np.array([0.8, 0.0]), np.array([0.8, 0.9])
    >>> walk(7, 0, 5, *probabilities, 0, offsets, which, kind, np.array([[1.0, 0.5]]), 1, 100, total, steps)
    0
    >>> steps, total
    (array([2, 1, 5, 1, 9]), array([1. , 0. , 1.5, 0. , 2.5]))
    """
    seed = _whole(seed, "seed", 0, _WORD)
    first = _whole(first, "first", 0, 2**63 - 1)
    users = _whole(users, "users", 0, 2**63 - 1 - first)
    endless = _whole(endless, "endless", 0, 1)
    lists = _whole(lists, "lists", 0, 2**31 - 1)
    limit = _whole(limit, "limit", 1, 2**63 - 1)
    arrays = {
        "start": _array(start, "start", "d", 1),
        "forward": _array(forward, "forward", "d", 1),
        "turn": _array(turn, "turn", "d", 1),
        "offsets": _array(offsets, "offsets", "q", 1),
        "which": _array(which, "which", "i", 1),
        "kind": _array(kind, "kind", "i", 1),
        "utility": _array(utility, "utility", "d", 2),
        "total": _array(total, "total", "d", 0, writable=True),
        "steps": _array(steps, "steps", "q", 1, writable=True),
    }
    _check_sizes(arrays, users, lists)
    _check_values(arrays, lists)
    plan = _plan(arrays, limit, endless=bool(endless))
    out, visits = arrays["total"].reshape(-1), arrays["steps"]
    out[:] = 0.0
    bytes_each = 64 * (1 + int(plan.gains.max())) + plan.ranks * plan.counter.itemsize
    chunk = max(1, min(_CHUNK, _CHUNK_BYTES // bytes_each))
    for at in range(0, users, chunk):
        to = min(at + chunk, users)
        _follow(plan, keys(seed, first + at, to - at), out[at * lists : to * lists], lists, visits[at:to])
    return int(np.count_nonzero(visits == limit))


def joint(
    start: Any,
    forward: Any,
    back: Any,
    stop: Any,
    units: Any,
    budget: SupportsIndex,
    largest: SupportsIndex,
    work: SupportsIndex,
    negligible: float,
    crumb: float,
    /,
) -> tuple[bytes, bytes, bytes] | None:
    """The joint distribution of gain and visits of all users of a walk on a list where no gain is ever lost.

    Users are followed visit by visit, by what they gained so far and their rank.

    Parameters
    ----------
    start, forward, back, stop : float64[n]
        The probabilities of starting at each rank, and of going on, going back and stopping after a visit to it.
    units : int64[n]
        What a visit to each rank gains.
    budget, largest, work : int
        The most cells, of gains and ranks, in all and at one time; and what a visit costs beside twice its cells.
    negligible : float
        When less than this share of users still walks, they are taken to stop where the others do.
    crumb : float
        Gains and ranks beyond which no more than this share of users is are left out.

    Returns
    -------
    tuple of bytes, or None
        Gains (int64), visits and shares of users (float64), by visits and then by gain; None if the budget is spent.
    """
    budget, largest = _whole(budget, "budget", 0, 2**63 - 1), _whole(largest, "largest", 0, 2**31 - 1)
    work = _whole(work, "work", 1, 2**31 - 1)
    names = "start", "forward", "back", "stop"
    given = dict(zip(names, (start, forward, back, stop), strict=True))
    arrays = {name: _array(x, name, "d", 1) for name, x in given.items()} | {"units": _array(units, "units", "q", 1)}
    mu, p, q, s, gained = arrays.values()
    n = mu.size
    if not n:
        raise ValueError("start: expected at least one rank")
    for name in arrays:
        _check_entries(arrays, name, n)
    if not mu.any():
        raise ValueError("start: expected a rank to start at")
    if not ((gained >= 0) & (gained <= largest)).all():
        raise ValueError("units: expected whole numbers from 0 to what is largest")
    m = int(np.flatnonzero(mu)[-1]) + 1
    rows = int(gained[:m].max()) + 1
    if rows * m > min(budget, largest):
        return None
    budget -= rows * m
    mass = np.zeros((rows, m))
    mass[gained[:m], np.arange(m)] = mu[:m]
    found: list[tuple[_Wholes, _Floats]] = []
    while True:
        rows, m = mass.shape
        spent, wide = 2 * mass.size + work, min(m + 1, n)
        if spent > min(budget, largest):
            return None
        budget -= spent
        more = rows + int(gained[:wide].max())
        if more * wide > largest:
            return None
        ends, ahead, behind = mass * s[:m], mass * p[:m], mass * q[:m]
        moved = np.zeros((rows, wide))
        moved[:, 1:] = ahead[:, : wide - 1]
        moved[:, : m - 1] += behind[:, 1:]
        here = np.zeros((more, wide))
        here[np.arange(rows)[:, None] + gained[:wide], np.arange(wide)] = moved
        left = float(here.sum())
        if not 0.0 <= left <= 1.0 + 1e-6:
            raise RuntimeError(f"internal error: a share {left!r} of the users still walks, expected 0 to 1")
        if left < negligible:
            ends *= 1.0 + left / (float(ends.sum()) or 1.0)
        stopped = ends.sum(axis=1)
        some = np.flatnonzero(stopped > 0)
        found.append((some, stopped[some]))
        if left < negligible:
            break
        mass = here[: _extent(here.sum(axis=1), crumb), : _extent(here.sum(axis=0), crumb)]
    visits = np.repeat(np.arange(1.0, len(found) + 1.0), [some.size for some, _ in found])
    gain, share = (np.concatenate(part) for part in zip(*found, strict=True))
    return gain.astype(np.int64).tobytes(), visits.tobytes(), share.tobytes()


def _extent(mass: _Floats, crumb: float) -> int:
    """The number of entries up to the last that matters, at least 1."""
    some = np.flatnonzero(np.cumsum(mass[::-1])[::-1] > crumb)
    return int(some[-1]) + 1 if some.size else 1


def _plan(arrays: dict[str, NDArray[Any]], limit: int, endless: bool) -> _Walk:
    gains = np.append(np.diff(arrays["offsets"]), 0)
    depth = arrays["utility"].shape[1]
    return _Walk(
        start=arrays["start"][:-1].copy(),
        forward=np.append(arrays["forward"], arrays["forward"][-1]),
        turn=np.append(arrays["turn"], arrays["turn"][-1]),
        end=None if endless else arrays["forward"].size,
        limit=limit,
        offsets=arrays["offsets"].copy(),
        gains=gains,
        which=arrays["which"].astype(np.int64),
        row=arrays["kind"] * np.int64(depth),
        utility=arrays["utility"].reshape(-1).copy(),
        depth=depth,
        counter=np.min_scalar_type(depth - 1),
        column=np.cumsum(gains > 0) - 1,
        ranks=int(np.count_nonzero(gains)) if depth > 1 else 0,
    )


def _follow(plan: _Walk, key: _Words, total: _Floats, lists: int, steps: _Wholes) -> None:
    """Let a chunk of users walk, from start to stop."""
    last = plan.forward.size - 1  # stands for all ranks beyond the list
    user = np.arange(key.size, dtype=np.int64)
    at = np.searchsorted(plan.start, draws(key, 0), side="right")
    seen = np.zeros((key.size, plan.ranks), plan.counter)
    visit = 1
    while user.size:
        here = np.minimum(at, last) if plan.end is None else at
        _gain(plan, user, here, seen, total, lists)
        if visit == plan.limit:
            break
        probability = draws(key, visit)
        ahead = probability < plan.forward[here]
        goes = probability < plan.turn[here]
        at = at + np.where(ahead, 1, -1)
        goes &= at >= 0
        if plan.end is not None:
            goes &= at < plan.end
        steps[user[~goes]] = visit
        user, key, at = user[goes], key[goes], at[goes]
        visit += 1
    steps[user] = visit


def _gain(plan: _Walk, user: _Wholes, here: _Wholes, seen: NDArray[Any], total: _Floats, lists: int) -> None:
    """Add what each user gains at the present rank."""
    finds = np.flatnonzero(plan.gains[here])
    user, here = user[finds], here[finds]
    gains = plan.gains[here]
    if plan.ranks:
        column = plan.column[here]
        before = seen[user, column]
        seen[user, column] = before + (before < plan.depth - 1)
    else:
        before = np.zeros(user.size, plan.counter)
    finder = np.repeat(np.arange(user.size), gains)
    entry = np.arange(finder.size) + (plan.offsets[here] - np.cumsum(gains) + gains)[finder]
    cell = user[finder] * lists + plan.which[entry]
    np.add.at(total, cell, plan.utility[plan.row[entry] + before[finder]])


def _whole(x: SupportsIndex, name: str, least: int, most: int) -> int:
    whole = operator.index(x)
    if not least <= whole <= most:
        raise ValueError(f"{name}: expected a whole number from {least} to {most}")
    return whole


def _array(x: Any, name: str, kind: str, dimensions: int, writable: bool = False) -> NDArray[Any]:
    """Look at the buffer of an object as an array, as C does: nothing is converted."""
    size = 4 if kind == "i" else 8
    try:
        view = memoryview(x)
    except (TypeError, ValueError, BufferError):
        view = None
    if (
        view is not None
        and view.c_contiguous
        and view.format in (("d",) if kind == "d" else ("i", "l", "q"))
        and view.itemsize == size
        and (not dimensions or view.ndim == dimensions)
        and not (writable and view.readonly)
    ):
        array: NDArray[Any] = np.asarray(view)
        if not array.size or array.ctypes.data % size == 0:
            return array
    shape = {0: "", 1: "1-D ", 2: "2-D "}[dimensions]
    of = {"d": "float64", "q": "int64", "i": "int32"}[kind]
    raise ValueError(f"{name}: expected a {'writable ' * writable}contiguous {shape}array of {of}")


def _check_sizes(arrays: dict[str, NDArray[Any]], users: int, lists: int) -> None:
    n = arrays["forward"].size
    if n == 0:
        raise ValueError("forward: expected at least one rank")
    if not 1 <= arrays["start"].size <= n:
        raise ValueError("start: expected at least one rank, and no more than forward has")
    for name, expected in (("turn", n), ("offsets", n + 1), ("kind", arrays["which"].size)):
        _check_entries(arrays, name, expected)
    if arrays["utility"].shape[1] == 0:
        raise ValueError("utility: expected at least one column")
    if arrays["total"].size != users * lists:
        raise ValueError("total: expected users * lists entries")
    _check_entries(arrays, "steps", users)


def _check_entries(arrays: dict[str, NDArray[Any]], name: str, expected: int) -> None:
    if arrays[name].size != expected:
        raise ValueError(f"{name}: expected {expected} entries, found {arrays[name].size}")


def _check_values(arrays: dict[str, NDArray[Any]], lists: int) -> None:
    offsets, which, kind = arrays["offsets"], arrays["which"], arrays["kind"]
    # said so that not-a-number is refused, too
    if not (arrays["start"] >= np.append(0.0, arrays["start"][:-1])).all():
        raise ValueError("start: expected probabilities that never fall")
    if not ((arrays["forward"] >= 0.0) & (arrays["turn"] >= arrays["forward"])).all():
        raise ValueError("turn: expected 0 <= forward <= turn at each rank")
    if offsets[0] != 0 or offsets[-1] != which.size or not (offsets[1:] >= offsets[:-1]).all():
        raise ValueError("offsets: expected to rise from 0 to the number of gains")
    if not ((which >= 0) & (which < lists)).all():
        raise ValueError("which: expected numbers from 0 to lists - 1")
    if not ((kind >= 0) & (kind < arrays["utility"].shape[0])).all():
        raise ValueError("kind: expected rows of utility")
