"""Shards of a log: files that are read apart, and whose counts add up; counts written to files and read.

A session stays in one shard, or its parts count as sessions of their own. Counts are sums of whole numbers, and of
seconds added up in the order of the shards. The quartiles of gaps are exact: where a shard has more than a million
different gaps, only the ranges in which the quartiles lie are known after the first pass, and a second one counts the
gaps in these.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields, replace
from typing import Any

import numpy as np

from amble.arrays import Array
from amble.errors import AmbleError, ReadError
from amble.io.files import path_name, whole_file
from amble.logs.counts import GROUPS, RANGE, Counts, Facts, GapCounts
from amble.logs.page_counts import GradedPages

__all__ = ["add_gaps", "add_shards", "merge_counts", "quartile_ranges", "read_counts", "spell_gaps", "write_counts"]

_SUMMED = ("pages", "moves", "extremes", "clicked", "dwell", "dwell_censored")
_ADDED = [field.name for field in fields(Facts) if field.type == "int"]
_SHARES = (0.25, 0.5, 0.75)

Shard = tuple[Counts, GapCounts]


def merge_counts(shards: Iterable[Shard]) -> Counts:
    """The counts of all shards: those of one log, of which each has some of the sessions."""
    counts, gaps = zip(*shards, strict=True)
    return add_shards(counts, add_gaps(gaps))


def add_shards(shards: Sequence[Counts], gaps: GapCounts) -> Counts:
    """The counts of all shards, and the quartiles of all gaps."""
    n = max(counts.depth for counts in shards)
    graded = [counts.facts.judged > 0 for counts in shards]
    if any(graded) and len({counts.depth for counts in shards}) > 1:
        raise AmbleError("shards with grades were read to different depths; expected one depth (--depth)")
    if len({counts.longest for counts in shards}) > 1:
        raise AmbleError("shards were read with different longest visits; expected the same (--longest)")
    parts: dict[str, Any] = {name: sum(_deeper(counts, name, n) for counts in shards) for name in _SUMMED}
    grades = tuple(sorted({grade for counts in shards for grade in counts.facts.grades}))
    if having := [counts for counts in shards if counts.steps.size]:
        parts["steps"] = np.zeros((GROUPS, len(grades), *having[0].steps.shape[2:]))
        for counts in having:
            parts["steps"][:, np.searchsorted(np.array(grades), counts.facts.grades)] += counts.steps
    if any(counts.onward.size for counts in shards):
        # a shard each of whose sessions has one page has no page that another came after
        parts["onward"] = sum(_deeper(counts, "onward", n) for counts in shards if counts.onward.size)
    parts["graded"] = _graded([counts.graded for counts in shards if counts.graded is not None])
    parts["goal_cells"], parts["goal_counts"] = _goals(shards)
    facts: dict[str, Any] = {name: sum(getattr(counts.facts, name) for counts in shards) for name in _ADDED}
    facts |= {"grades": grades, "quartiles": _quartiles(gaps)}
    return replace(shards[0], depth=n, facts=replace(shards[0].facts, **facts), **parts)


def _deeper(counts: Counts, name: str, n: int) -> Array:
    """An array of counts, with zeros for ranks down to n."""
    x, more = getattr(counts, name), n - counts.depth
    if name == "pages" or not more:
        return np.asarray(x)
    axes = (1, 2) if name in ("moves", "extremes") else (1,)
    return np.pad(x, [(0, more if axis in axes else 0) for axis in range(x.ndim)])


def _graded(shards: Sequence[GradedPages]) -> GradedPages | None:
    """The pages of all shards: each pattern of grades once, and of each group, pattern and last click all its pages."""
    if not shards:
        return None
    if len({(pages.max_grade, pages.rel) for pages in shards}) > 1:
        raise AmbleError("shards have different largest grades; expected the same in all, or judgments (--qrels)")
    place: dict[bytes, int] = {}
    of: list[Any] = []
    rows: list[Any] = []
    for pages in shards:
        own = []
        for row in pages.grades:
            if row.tobytes() not in place:
                place[row.tobytes()] = len(rows)
                rows.append(row)
            own.append(place[row.tobytes()])
        of.append(np.array(own, np.int64)[pages.pattern])
    keys = np.stack([np.concatenate(x) for x in ([p.group for p in shards], of, [p.last for p in shards])], axis=1)
    each, at = np.unique(keys, axis=0, return_inverse=True)
    count = np.bincount(at.reshape(-1), np.concatenate([p.pages for p in shards])).astype(np.int64)
    return replace(shards[0], grades=np.array(rows), group=each[:, 0], pattern=each[:, 1], last=each[:, 2], pages=count)


def _goals(shards: Sequence[Counts]) -> tuple[dict[str, Array], dict[str, Array]]:
    """The cells of all shards by observation, and their counts."""
    cells: dict[str, Array] = {}
    sums: dict[str, Array] = {}
    for name in dict.fromkeys(name for counts in shards for name in counts.goal_cells):
        having = [counts for counts in shards if name in counts.goal_cells]
        cells[name], place = np.unique(
            np.concatenate([counts.goal_cells[name] for counts in having]), axis=0, return_inverse=True
        )
        sums[name], at = np.zeros((GROUPS, len(cells[name]), 2)), 0
        for counts in having:
            size = len(counts.goal_cells[name])
            sums[name][:, place.reshape(-1)[at : at + size]] += counts.goal_counts[name]
            at += size
    return cells, sums


# ---- quartiles


def add_gaps(gaps: Iterable[GapCounts]) -> GapCounts:
    """The gaps of several shards; by range, if those of any shard are."""
    given = list(gaps)
    ranges = any(gap.ranges for gap in given)
    values = [gap.values if gap.ranges == ranges else np.floor(gap.values * RANGE) for gap in given]
    distinct, place = np.unique(np.concatenate(values), return_inverse=True)
    counts = np.bincount(place.ravel(), np.concatenate([gap.counts for gap in given]), distinct.size)
    return GapCounts(distinct, counts.astype(np.int64), ranges)


def quartile_ranges(gaps: GapCounts) -> tuple[int, ...]:
    """The ranges in which the quartiles lie, of gaps by range."""
    upto = np.cumsum(gaps.counts)
    places = [place for *two, _ in _ranks(int(gaps.counts.sum())) for place in two]
    return tuple(sorted({int(x) for x in gaps.values[np.searchsorted(upto, places, side="right")]}))


def spell_gaps(gaps: GapCounts, within: GapCounts) -> GapCounts:
    """Gaps by range, but those of some ranges one by one; the others stand at the start of their range."""
    told = np.isin(gaps.values, np.floor(within.values * RANGE))
    return add_gaps([GapCounts(gaps.values[~told] / RANGE, gaps.counts[~told]), within])


def _ranks(n: int) -> list[tuple[int, int, float]]:
    """Of each quartile of n numbers, at (n + 1) / 4 …: the places, from 0, of the two it lies between, and how far."""
    out = []
    for share in _SHARES:
        at = min(max(((n + 1) * share - 1) / max(n - 1, 1), 0.0), 1.0) * (n - 1)
        out.append((math.floor(at), math.ceil(at), at - math.floor(at)))
    return out


def _quartiles(gaps: GapCounts) -> tuple[float, float, float]:
    """The quartiles of gaps that are known one by one."""
    n = int(gaps.counts.sum())
    if not n:
        return math.nan, math.nan, math.nan
    upto = np.cumsum(gaps.counts)
    low, middle, high = (
        float(a + (b - a) * share)
        for *places, share in _ranks(n)
        for a, b in [gaps.values[np.searchsorted(upto, places, side="right")].tolist()]
    )
    return low, middle, high


# ---- files

_KIND = "amble counts 1"
_PAGES = ("grades", "group", "pattern", "last", "pages")


def write_counts(path: str | os.PathLike[str], counts: Counts, gaps: GapCounts) -> None:
    """Write the counts of a shard to a file, for `read_counts` and ``amble fit --merge``."""
    if gaps.ranges:
        raise AmbleError(f"{os.fspath(path)}: too many different gaps for a file of counts; use --cluster or --workers")
    about = {"kind": _KIND, "depth": counts.depth, "longest": counts.longest, "facts": asdict(counts.facts)}
    arrays = {name: getattr(counts, name) for name in (*_SUMMED, "steps", "onward")}
    if counts.graded is not None:
        about["graded"] = {"max_grade": counts.graded.max_grade, "rel": counts.graded.rel}
        arrays |= {f"graded {name}": getattr(counts.graded, name) for name in _PAGES}
    arrays |= {f"cells {name}": x for name, x in counts.goal_cells.items()}
    arrays |= {f"goals {name}": x for name, x in counts.goal_counts.items()}
    arrays |= {"gap": gaps.values, "gaps": gaps.counts, "about": np.array(json.dumps(about))}
    with whole_file(path) as file:
        np.savez_compressed(file, **arrays)


def read_counts(path: str | os.PathLike[str]) -> Shard:
    """The counts of a shard, and its gaps, from a file of `write_counts`."""
    name = path_name(path)
    try:
        with open(name, "rb") as file, np.load(file, allow_pickle=False) as stored:
            found = dict(stored)
        about = json.loads(str(found.pop("about")))
        if about["kind"] != _KIND:
            raise KeyError("kind")
        facts = about["facts"] | {key: tuple(about["facts"][key]) for key in ("quartiles", "grades")}
        gaps = GapCounts(found.pop("gap"), found.pop("gaps"))
        goals = {
            kind: {key.partition(" ")[2]: found.pop(key) for key in list(found) if key.startswith(f"{kind} ")}
            for kind in ("cells", "goals", "graded")
        }
        cells, sums = goals["cells"], goals["goals"]
        if "graded" in about:
            found["graded"] = GradedPages(**goals["graded"], **about["graded"])
        own: dict[str, Any] = {"depth": about["depth"], "longest": about["longest"], **found}
        return Counts(Facts(**facts), **own, goal_cells=cells, goal_counts=sums), gaps
    except OSError as error:
        raise ReadError(f"{name}: {error.strerror or 'not a file of counts'}") from None
    except Exception:
        raise ReadError(f"{name}: not a file of counts, expected one that amble fit --save-counts wrote") from None
