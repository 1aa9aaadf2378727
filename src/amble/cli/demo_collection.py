"""A small simulated collection: runs of different quality, judged by depth pooling.

Every document has a true worth for a topic (grades 0 to 3, few of them high). A system sees the worth through noise:
the less noise, the better the system. The first ten documents of each pooled system are judged, as at TREC, so later
systems meet unjudged documents. One system rounds its scores (ties), one skips a topic, one answers a topic too many.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np

from amble.errors import AmbleError
from amble.io.files import write_whole

__all__ = ["Collection", "make_collection"]


class _System(NamedTuple):
    name: str
    noise: float
    pooled: bool
    digits: int


_SYSTEMS = (
    _System("bm25", 1.60, True, 4),
    _System("bm25+rm3", 1.50, True, 4),
    _System("dense", 1.35, True, 6),
    _System("hybrid", 1.05, True, 6),
    _System("boolean", 2.60, True, 0),
    _System("rerank", 0.85, False, 5),
)
_DOCS, _DEPTH, _POOL = 400, 100, 10


class Collection(NamedTuple):
    """The paths of the judgments and of the runs."""

    qrels: Path
    runs: tuple[Path, ...]


def make_collection(folder: str | os.PathLike[str], topics: int = 25, seed: int = 7) -> Collection:
    """Write ``qrels.txt`` and a run per system into a folder, and return their paths.

    Parameters
    ----------
    folder : path
        Made where it does not exist. Files of these names that hold something else are left alone, with an error.
    topics : int
    seed : int
        Same seed, same bytes.

    Examples
    --------
    >>> import tempfile
    >>> from amble.cli.demo_collection import make_collection
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = make_collection(folder, topics=2)
    ...     [run.name for run in made.runs]
    ['bm25.run', 'bm25+rm3.run', 'dense.run', 'hybrid.run', 'boolean.run', 'rerank.run']
    """
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    runs: dict[str, list[str]] = {system.name: [] for system in _SYSTEMS}
    judgments: list[str] = []
    for t in range(topics):
        topic = str(301 + t)
        hard = rng.uniform(0.6, 1.4)  # topics differ in difficulty for every system alike
        grade = rng.choice(4, _DOCS, p=(0.90, 0.06, 0.03, 0.01))
        worth = grade + rng.normal(0, 0.3, _DOCS)
        docs = [f"D{t:02d}-{d:04d}" for d in rng.permutation(_DOCS)]
        pool: set[int] = set()
        for system in _SYSTEMS:
            score = worth + rng.normal(0, hard * system.noise, _DOCS)
            shown = np.round(8 + 2 * score, system.digits)
            best = np.argsort(-shown, kind="stable")[:_DEPTH]
            if system.pooled:
                pool.update(best[:_POOL].tolist())
            if system.name == "boolean" and t == topics - 1 > 0:
                continue  # it found nothing
            runs[system.name] += [
                f"{topic} Q0 {docs[d]} {r} {shown[d]:.{system.digits}f} {system.name}\n"
                for r, d in enumerate(best.tolist(), 1)
            ]
        judgments += [f"{topic} 0 {docs[d]} {grade[d]}\n" for d in sorted(pool)]
    runs["dense"].append("999 Q0 D99-0001 1 1.000000 dense\n")  # a topic that nobody judged
    files = {place / "qrels.txt": judgments} | {place / f"{name}.run": lines for name, lines in runs.items()}
    texts = {path: "".join(lines) for path, lines in files.items()}
    new = [path for path in texts if not path.exists()]
    for path in texts.keys() - set(new):
        if not path.is_file() or path.read_bytes() != texts[path].encode():
            raise AmbleError(f"{path}: is there already and holds something else, expected a new folder")
    for path in new:
        write_whole(path, texts[path])
    return Collection(place / "qrels.txt", tuple(place / f"{system.name}.run" for system in _SYSTEMS))
