"""Make the files the benchmarks read: three shapes of qrels and runs, the same for the same seed.

====== =================================================================== =======
shape  what is in it                                                       size
====== =================================================================== =======
``S``  1 run of 50 topics x 1000 documents, newswire names                 2 MB
``M``  129 such runs; spaces or tabs; few, some, many or no tied scores    291 MB
``L``  1 run of 6,980 queries x 1000 documents, numeric names              251 MB
====== =================================================================== =======

S and M share their qrels: 50 topics with about 1,700 judged documents each, one in twenty relevant,
some of them with grade 2. L has one relevant document for most queries and two for the rest.
S is the first run of M.

A shape is a folder ``OUT_DIR/S`` with ``qrels.txt``, ``runs/`` and ``stamp.json``. It is written
beside its place and renamed when whole; a folder whose stamp has the same seed and scale is kept.

Run ``python benchmarks/workload.py OUT_DIR [--only S M L] [--scale F]``.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

# numpy is imported where files are made, not here: the benchmarks only look the files up, and a
# child's peak memory is never reported below that of the process that started it.
if TYPE_CHECKING:
    import numpy as np

MAKER = 1  # raise it when the files change for the same seed
SEED = 1992
SHAPES = ("S", "M", "L")
DEPTH = 1000
TOPICS = 50
RUNS = 129
QUERIES = 6_980
COLLECTION = 400_000  # newswire documents
CANDIDATES = 6_000  # documents a topic's runs draw from, likeliest first
PASSAGES = 8_841_823  # numeric documents
SCORES = ("%.4f", "%.6f", "%.2f", "%.15g")  # a run's style of score, taken in turn


@dataclass(frozen=True)
class Workload:
    """The files of one shape.

    Parameters
    ----------
    shape : str
        ``"S"``, ``"M"`` or ``"L"``.
    qrels : Path
        The judgments.
    runs : tuple of Path
        The runs, all with the same number of documents.
    size : int
        Bytes in the runs.
    docs : int
        Documents ranked in all runs together.
    """

    shape: str
    qrels: Path
    runs: tuple[Path, ...]
    size: int
    docs: int


def newswire_names(rng: np.random.Generator, n: int) -> np.ndarray:
    """Draw n different names in four newswire styles, in random order."""
    import numpy as np

    def draw(share: float, *sizes: int) -> Iterator[tuple[int, ...]]:
        """Draw a share of the names: different points of a grid."""
        cells = rng.choice(int(np.prod(sizes)), round(share * n), replace=False)
        return zip(*(axis.tolist() for axis in np.unravel_index(cells, sizes)), strict=True)

    names = chain(
        (f"LA{m + 1:02}{d + 1:02}{y + 89}-{i + 1:04}" for m, d, y, i in draw(0.30, 12, 28, 6, 999)),
        (f"FT9{part + 11:02}-{i + 1}" for part, i in draw(0.28, 38, 19_999)),
        (f"FBIS{part + 1}-{i + 1}" for part, i in draw(0.16, 4, 60_000)),
        (f"FR94{m + 1:02}{d + 1:02}-{i % 3}-{i + 1:05}" for m, d, i in draw(0.26, 12, 28, 999)),
    )
    found = np.array(list(names), dtype=object)
    rng.shuffle(found)
    return found


def make_newswire(folder: Path, seed: int, topics: int, runs: int) -> int:
    """Write newswire qrels and runs into folder; return how many documents the runs rank."""
    import numpy as np

    rng = np.random.default_rng([seed, 0])
    names = newswire_names(rng, COLLECTION)
    labels = range(401, 401 + topics)
    pools = np.stack([rng.choice(COLLECTION, CANDIDATES, replace=False) for _ in labels])
    with (folder / "qrels.txt").open("w", encoding="ascii", newline="\n") as out:
        for topic, pool in zip(labels, pools, strict=True):
            judged = names[pool[: min(max(int(rng.normal(1700, 250)), 500), CANDIDATES)]]
            draws = rng.random(judged.size)
            grades = (draws < 0.055).astype(int) + (draws < 0.0165)
            order = np.argsort(judged)
            pairs = zip(judged[order].tolist(), grades[order].tolist(), strict=True)
            out.writelines(f"{topic} 0 {doc} {grade}\n" for doc, grade in pairs)

    cells = [0] * (3 * DEPTH)  # name, rank and score of each line, one topic at a time
    cells[1::3] = range(DEPTH)
    for r in range(runs):
        rng = np.random.default_rng([seed, 1, r])
        slope = rng.uniform(0.0004, 0.0012)  # how soon this system tires of likely documents
        drawn = rng.standard_exponential((topics, CANDIDATES))
        drawn *= np.exp(slope * np.arange(CANDIDATES))
        best = np.argpartition(drawn, DEPTH, axis=1)[:, :DEPTH]
        order = np.argsort(np.take_along_axis(drawn, best, axis=1), axis=1)
        found = names[np.take_along_axis(pools, np.take_along_axis(best, order, axis=1), axis=1)]
        scores = -np.sort(-rng.gamma(2.0, 3.0, (topics, DEPTH)), axis=1)
        sep = "\t" if r % 8 == 1 else " "
        rest = sep.join(["Q0", "%s", "%d", SCORES[r % len(SCORES)], f"system-{r:03}\n"])
        with (folder / "runs" / f"run{r:03}.txt").open("wb") as out:
            for t, topic in enumerate(labels):
                cells[0::3] = found[t].tolist()
                cells[2::3] = scores[t].tolist()
                out.write((f"{topic}{sep}{rest}" * DEPTH % tuple(cells)).encode("ascii"))
    return runs * topics * DEPTH


def make_passages(folder: Path, seed: int, queries: int) -> int:
    """Write passage qrels and one run into folder; return how many documents the run ranks."""
    import numpy as np

    rng = np.random.default_rng([seed, 2])
    labels = rng.choice(1_100_000, queries, replace=False).tolist()
    cells = [0] * (3 * DEPTH)
    cells[1::3] = range(1, DEPTH + 1)
    with (
        (folder / "qrels.txt").open("w", encoding="ascii", newline="\n") as qrels,
        (folder / "runs" / "run000.txt").open("wb") as run,
    ):
        for query in labels:
            found = rng.choice(PASSAGES, DEPTH, replace=False).tolist()
            cells[0::3] = found
            cells[2::3] = (-np.sort(-rng.gamma(2.0, 3.0, DEPTH))).tolist()
            line = f"{query} Q0 %d %d %.6f bm25\n"
            run.write((line * DEPTH % tuple(cells)).encode("ascii"))
            relevant: set[int] = set()
            for _ in range(1 if rng.random() < 0.94 else 2):  # mostly near the top, else anywhere
                near = min(int(rng.exponential(60.0)), DEPTH - 1)
                missed = rng.random() >= 0.85
                relevant.add(int(rng.integers(PASSAGES)) if missed else found[near])
            qrels.writelines(f"{query} 0 {doc} 1\n" for doc in sorted(relevant))
    return queries * DEPTH


def read_stamp(folder: Path) -> dict[str, object]:
    """Read a shape's stamp; empty when there is none."""
    try:
        stamp = json.loads((folder / "stamp.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return stamp if isinstance(stamp, dict) else {}


def make(out: Path, shape: str, scale: float = 1.0, seed: int = SEED) -> bool:
    """Write one shape below out, unless the same one is there already.

    Parameters
    ----------
    out : Path
        Folder of all shapes; made when missing.
    shape : str
        ``"S"``, ``"M"`` or ``"L"``.
    scale : float
        Share of the topics of S, the runs of M or the queries of L.
    seed : int
        Seed of everything drawn.

    Returns
    -------
    bool
        Whether anything was written.
    """
    if shape not in SHAPES:
        raise ValueError(f"shape {shape!r} is none of {', '.join(SHAPES)}")
    if not 0 < scale <= 1:
        raise ValueError(f"scale {scale:g} is not above 0 and at most 1")
    place = out / shape
    asked = {"maker": MAKER, "shape": shape, "seed": seed, "scale": scale}
    found = read_stamp(place)
    if found and asked.items() <= found.items():
        return False
    if place.exists() and "maker" not in found:
        raise FileExistsError(f"{place} is there but was not made here: remove it first")

    part = out / f".{shape}.{os.getpid()}.part"
    (part / "runs").mkdir(parents=True)
    try:
        if shape == "L":
            docs = make_passages(part, seed, max(1, round(QUERIES * scale)))
        else:
            topics = max(1, round(TOPICS * scale)) if shape == "S" else TOPICS
            runs = max(1, round(RUNS * scale)) if shape == "M" else 1
            docs = make_newswire(part, seed, topics, runs)
        size = sum(path.stat().st_size for path in (part / "runs").iterdir())
        stamp = json.dumps({**asked, "docs": docs, "size": size})
        (part / "stamp.json").write_text(stamp + "\n", encoding="utf-8")
        if place.exists():
            shutil.rmtree(place)
        part.rename(place)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return True


def load(out: Path, shape: str, scale: float = 1.0) -> Workload:
    """Look one shape up, making it first in a process of its own when it is not there."""
    command = [sys.executable, __file__, str(out), "--only", shape, "--scale", repr(scale)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    place = (out / shape).resolve()
    stamp = read_stamp(place)
    return Workload(
        shape=shape,
        qrels=place / "qrels.txt",
        runs=tuple(sorted((place / "runs").glob("run*.txt"))),
        size=int(str(stamp["size"])),
        docs=int(str(stamp["docs"])),
    )


def load_trec8(out: Path) -> tuple[str, Path, tuple[Path, ...]]:
    """The name, qrels and runs of TREC-8 where the folder that AMBLE_DATA names has them, of M otherwise."""
    place = Path(os.environ.get("AMBLE_DATA", ""), "trec8").absolute()
    if "AMBLE_DATA" in os.environ and place.is_dir():
        return "TREC-8", place / "qrels.txt", tuple(sorted((place / "runs").iterdir()))
    work = load(out, "M")
    return "workload M", work.qrels, work.runs


def main(argv: Sequence[str] | None = None) -> int:
    """Make the shapes asked for and say what was done."""
    about = "Make the files the benchmarks read."
    parser = argparse.ArgumentParser(prog="workload.py", description=about)
    parser.add_argument("out", type=Path, metavar="OUT_DIR", help="folder for the shapes")
    parser.add_argument("--only", nargs="+", choices=SHAPES, default=SHAPES, help="some shapes")
    parser.add_argument("--scale", type=float, default=1.0, metavar="F", help="a share of each")
    parser.add_argument("--seed", type=int, default=SEED, help="another draw of the same shapes")
    args = parser.parse_args(argv)
    for shape in args.only:
        try:
            made = make(args.out, shape, args.scale, args.seed)
        except (ValueError, OSError) as error:
            parser.error(str(error))
        size = int(str(read_stamp(args.out / shape)["size"])) / 1e6
        print(f"{shape}: {'made' if made else 'already there'}, {size:.1f} MB of runs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
