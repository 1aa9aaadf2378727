"""Everything that amble computes, saved before a restructuring and compared with what it computes after it.

``save`` computes and writes; ``compare`` computes again, and tells which numbers differ (bit for bit; NaN equals NaN),
which are gone or new, and how texts differ. What is computed:

* scores of all registered measures, with many parameter sets each, of random lists that met judgments in several ways
  and, with ``--data``, of TREC-8's runs;
* what users do, distributions of their scores, intervals, residuals, simulations, the C/W/L report;
* measures of sessions; comparisons, meta-evaluation; users fitted to a log; fusion, search, pools, orders of judging;
* what the commands of the README, docs/tour.md and docs/cli.md print and write. These are texts, and so are errors.

`saved_parts` computes it; the names of amble that a restructuring may change stand in its first block. There is also
`SAME`, words of keys and what they are called now, for whatever is renamed. Numbers depend on numpy, scipy and the
machine: save and compare on the same one.

Run ``python benchmarks/saved_values.py {save,compare} FOLDER [--data DATA]``; DATA holds ``trec8/``. ``compare`` ends
with 1 if a number differs or a key is missing.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is there

import argparse
import difflib
import json
import math
import sys
import tempfile
import time
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import saved_parts as parts
from numpy.typing import NDArray

import amble

Array = NDArray[np.float64]
MOST = 10_000  # numbers kept under one key
NO_RESULTS = ("rankings", "qrels", "parsed", "data", "path", "amble", "audit")  # attributes that are left out


def flat(thing: Any, name: str = "", objects: int = 1) -> Iterator[tuple[str, Array | str]]:
    """The numbers and texts in something, with their names; of an object, those of its public attributes."""
    if isinstance(thing, str):
        yield name, thing
    elif isinstance(thing, bool | int | float | np.number | np.bool_ | np.ndarray):
        yield name, np.asarray(thing, np.float64)
    elif isinstance(thing, amble.Table):
        columns = {column: [row[j] for row in thing.rows] for j, column in enumerate(thing.columns)}
        yield from flat({**columns, "caption": thing.caption, "facts": thing.facts}, name, objects)
    elif isinstance(thing, Mapping):
        for key, value in thing.items():
            yield from flat(value, f"{name}/{key}" if key else name, objects)
    elif isinstance(thing, list | tuple) and not hasattr(thing, "_fields"):
        if all(x is None or isinstance(x, bool | int | float | np.number) for x in thing):
            yield name, np.array([math.nan if x is None else float(x) for x in thing])
        elif all(isinstance(x, str | int | None) for x in thing):
            yield name, "\n".join(map(str, thing))
        else:
            for i, value in enumerate(thing):
                yield from flat(value, f"{name}/{i}", objects)
    elif thing is not None and not callable(thing) and objects:
        for key in dir(thing):
            if not key.startswith("_") and key not in NO_RESULTS:
                try:
                    value = getattr(thing, key)
                except (amble.AmbleError, AttributeError) as error:
                    value = f"error: {error}"
                yield from flat(value, f"{name}/{key}", objects - 1)


def thinned(x: Array) -> Array:
    """Numbers as they are, or of very many a part, how many there are, and a sum of all their bits."""
    if x.size <= MOST:
        return x
    whole = np.where(np.isnan(x), math.nan, x).ravel()
    return np.append(whole[:: x.size // (MOST // 2)], [x.size, zlib.crc32(whole.tobytes())])


class Saved:
    """Numbers and texts by key."""

    def __init__(self) -> None:
        self.numbers: dict[str, Array] = {}
        self.texts: dict[str, str] = {}
        self.started = time.process_time()

    def tell(self, what: str) -> None:
        """Say on stderr what comes next."""
        count, seconds = sum(x.size for x in self.numbers.values()), time.process_time() - self.started
        print(f"{seconds:6.1f} s {len(self.numbers):7,} keys {count:11,} numbers  {what}", file=sys.stderr)

    def put(self, key: str, value: Array | str) -> None:
        """Keep numbers or a text; each key once."""
        key = parts.stable(key)
        kept: dict[str, Any] = self.texts if isinstance(value, str) else self.numbers
        if key in kept:
            raise SystemExit(f"{key}: kept twice")
        kept[key] = value if isinstance(value, str) else thinned(np.array(value))

    def of(self, key: str, compute: Callable[..., Any], *given: Any, objects: int = 1, **options: Any) -> None:
        """Compute something and keep what is in it, or the error."""
        self.over(key, [given], lambda x: compute(*x, **options), objects=objects)

    def over(self, key: str, items: Iterable[Any], compute: Callable[[Any], Any], objects: int = 1) -> None:
        """Compute something of each item; what has the same name is kept together."""
        found: dict[tuple[str, bool], list[Any]] = {}
        for item in items:
            try:
                for name, value in flat(compute(item), objects=objects):
                    found.setdefault((name, isinstance(value, str)), []).append(value)
            except amble.AmbleError as error:
                found.setdefault(("/error", True), []).append(f"error: {error}")
        for (name, is_text), all_of in found.items():
            if is_text:
                failed = all(text.startswith("error: ") for text in all_of)
                self.put(key + name, "\n".join(dict.fromkeys(all_of) if failed else all_of))
            else:
                self.put(key + name, all_of[0] if len(all_of) == 1 else np.concatenate([x.ravel() for x in all_of]))

    def write(self, folder: Path) -> None:
        """Write values.npz and texts.json."""
        folder.mkdir(parents=True, exist_ok=True)
        index = "\n".join(f"{key}\t{','.join(map(str, x.shape))}" for key, x in self.numbers.items())
        values = np.concatenate([np.zeros(0), *(x.ravel() for x in self.numbers.values())])
        np.savez_compressed(folder / "values.npz", keys=np.frombuffer(index.encode(), np.uint8), values=values)
        (folder / "texts.json").write_text(json.dumps(self.texts, indent=0, ensure_ascii=False), encoding="utf-8")

    @classmethod
    def read(cls, folder: Path) -> Saved:
        """Read them again."""
        out, start = cls(), 0
        with np.load(folder / "values.npz") as file:
            values, index = file["values"], file["keys"].tobytes().decode()
        for line in filter(None, index.split("\n")):
            key, _, shape = line.rpartition("\t")
            size = tuple(int(n) for n in shape.split(",") if n)
            out.numbers[parts.stable(key)] = values[start : start + math.prod(size)].reshape(size)
            start += math.prod(size)
        texts = json.loads((folder / "texts.json").read_text(encoding="utf-8"))
        out.texts = {parts.stable(key): text for key, text in texts.items()}
        return out


def compare(before: Saved, after: Saved) -> int:
    """Print how two differ; 1 if a number differs or a key is missing."""
    different, count, total, largest = [], 0, 0, 0.0
    for key in sorted(before.numbers.keys() & after.numbers.keys()):
        a, b = before.numbers[key], after.numbers[key]
        count += a.size
        if a.shape != b.shape:
            total += a.size
            different.append(f"  {key}: of shape {a.shape}, now {b.shape}")
            continue
        unlike = (a.view(np.int64) != b.view(np.int64)) & ~(np.isnan(a) & np.isnan(b))
        if unlike.any():
            with np.errstate(invalid="ignore"):  # where one is infinite
                apart = np.abs(a - b)[unlike]
            worst = float(np.where(np.isnan(apart), np.inf, apart).max())
            different.append(f"  {key}: {unlike.sum()} of {a.size}, by {worst:.3g} at most")
            total, largest = total + int(unlike.sum()), max(largest, worst)
    print(f"{count:,} numbers compared under {len(before.numbers):,} keys: {total:,} different", end="")
    print(f" under {len(different):,} keys, by {largest:.3g} at most", *different[:20], sep="\n")
    missing = 0
    for what, one, other in (("numbers", before.numbers, after.numbers), ("texts", before.texts, after.texts)):
        for how, keys in (("missing", one.keys() - other.keys()), ("new", other.keys() - one.keys())):
            print(f"keys of {what} that are {how}: {len(keys):,}", *(f"  {key}" for key in sorted(keys)[:20]), sep="\n")
            missing += len(keys) * (how == "missing")
    shared = sorted(before.texts.keys() & after.texts.keys())
    unequal = [key for key in shared if before.texts[key] != after.texts[key]]
    print(f"{len(shared):,} texts compared: {len(unequal):,} different")
    for key in unequal:
        old, new = before.texts[key].splitlines(), after.texts[key].splitlines()
        print(*difflib.unified_diff(old, new, f"before/{key}", f"after/{key}", n=1, lineterm=""), sep="\n")
    return int(bool(different or missing))


def compute(saved: Saved, data: Path | None) -> None:
    """All parts; the log is first, as measures take users that were fitted to it."""
    parts.of_logs(saved)
    saved.tell("parameter sets")
    lists, sessions = parts.all_cases(saved)
    saved.tell(f"{len(lists):,} measures of lists, {len(sessions):,} of sessions")
    parts.of_lists(saved, lists)
    if data is not None:
        parts.of_trec8(saved, lists, data)
    parts.of_users(saved, lists)
    parts.of_sessions(saved, sessions)
    parts.of_statistics(saved, lists)
    parts.of_lab(saved)
    parts.of_commands(saved)
    saved.tell("done")


def main() -> int:
    """Save, or compute again and compare."""
    parser = argparse.ArgumentParser(description="save everything that amble computes, or compare with what was saved")
    parser.add_argument("what", choices=("save", "compare"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data", type=Path, help="the folder with trec8/")
    args = parser.parse_args()
    folder, data = args.folder.resolve(), None if args.data is None else args.data.resolve()
    before = Saved.read(folder) if args.what == "compare" else None
    warnings.simplefilter("ignore")
    saved = Saved()
    with tempfile.TemporaryDirectory() as working:
        os.chdir(working)  # where the files of fitted users and sessions are
        try:
            compute(saved, data)
        finally:
            os.chdir(folder.anchor)
    if before is None:
        saved.write(folder)
        count = sum(x.size for x in saved.numbers.values())
        print(f"{len(saved.numbers):,} keys, {count:,} numbers, {len(saved.texts):,} texts in {folder}")
        return 0
    return compare(before, saved)


if __name__ == "__main__":
    sys.exit(main())
