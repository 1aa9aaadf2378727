"""The explorer in Chromium: how large its page is, how long it takes to open, and how long after each move of a slider.

``python benchmarks/bench_explore.py`` makes a page of 20 runs x 50 topics x 1000 documents; with ``--trec8 FOLDER`` one
of the runs and judgments there. Every slider of every kind of user is moved, from what a click on the kind gives.
Every move is made several times, and of each its least time is taken, as what else the machine does is not the page's;
then the median, 95 % and the worst of all moves are told. Milliseconds:

- sight: the page's own clock, from the start of an update until scores, the sweep and all that is in sight are drawn;
- all: from the move until all is drawn and painted: what is out of sight, the whole sweep with nothing of it known
  before, flips exactly. Waits for frames are in it, 16.7 ms between two;
- work: the processor time of the page's thread for all that, with styles, layout and painting.

The simulation is in none of them: a worker has it, on a thread of its own.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
import time
from pathlib import Path
from random import Random

from amble.cli.main import main

WHOLE = 10**6  # a depth: the slider's end
DEPTHS: list[float] = [2, 3, 5, 9, WHOLE]
MOVES: dict[tuple[str, str], list[float]] = {
    ("walk", "p"): [0.3, 0.4, 0.5, 0.6, 0.7],
    ("walk", "q"): [0.1, 0.2, 0.25, 0.3, 0.4],
    ("walk", "loss"): [0, 0.1, 0.3, 0.5, 1],
    ("walk", "depth"): DEPTHS,
    ("RBP", "p"): [0.5, 0.7, 0.8, 0.9, 0.95],
    ("RBP", "depth"): DEPTHS,
    ("INSQ", "T"): [1, 2, 3, 5, 10],
    ("INSQ", "depth"): DEPTHS,
    ("INST", "T"): [1, 2, 3, 5, 10],
    ("INST", "depth"): DEPTHS,
    ("P", "depth"): DEPTHS,
    ("SDCG", "depth"): DEPTHS,
    ("ERR", "depth"): DEPTHS,
    ("AP", "depth"): DEPTHS,
}

# a move as a reader makes it, with no sweep known beforehand; told after the frame in which nothing is left to draw
DRAG = """([id, value]) => new Promise((told) => {
  swept.key = "";
  swept.left = [];
  const began = performance.now();
  find(id).value = value;
  find(id).dispatchEvent(new Event("input"));
  const painted = new MessageChannel();
  painted.port1.onmessage = () => told([timing.last, performance.now() - began]);
  const look = () => (unfinished() ? requestAnimationFrame(look) : painted.port2.postMessage(0));
  requestAnimationFrame(look);
})"""
SECTIONS = ("sight", "all", "work")
LIMIT = 50.0  # of a move, on 20 runs


def make_runs(folder: Path, runs: int = 20, topics: int = 50, depth: int = 1000) -> list[str]:
    """Judgments with 60 relevant documents a topic, and runs that find them early or late; one list in ten is short."""
    draw = Random(3)
    (folder / "qrels.txt").write_text(
        "".join(f"{t} 0 r{t}-{k} {draw.choice((1, 1, 2))}\n" for t in range(topics) for k in range(60))
    )
    names = []
    for run in range(runs):
        lines = []
        for t in range(topics):
            skew = draw.uniform(1, 4)
            at = {int(depth * draw.random() ** skew): f"r{t}-{k}" for k in range(60)}
            n = depth if draw.random() < 0.9 else draw.randint(100, depth)
            lines += [f"{t} Q0 {at.get(rank, f'x{rank}')} {rank + 1} {depth - rank} s{run}\n" for rank in range(n)]
        names.append(str(folder / f"s{run}.run"))
        Path(names[-1]).write_text("".join(lines))
    return names


def measure_page(path: Path, chromium: str, rounds: int) -> None:
    """Open the page, drag every slider, and print times."""
    from playwright.sync_api import sync_playwright

    print(f"{path.name}: {path.stat().st_size / 1e6:.2f} MB")
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        page.goto(path.as_uri())
        page.wait_for_selector("html.drawn")
        opened = page.evaluate("performance.timing.loadEventEnd - performance.timing.navigationStart")
        print(f"opened in {opened} ms, {page.evaluate('timing.all[0]'):.0f} of them the first drawing")
        page.wait_for_timeout(2000)
        clock = page.context.new_cdp_session(page)
        clock.send("Performance.enable", {"timeDomain": "threadTicks"})

        def worked() -> float:
            found = clock.send("Performance.getMetrics")["metrics"]
            return next(1000.0 * float(one["value"]) for one in found if one["name"] == "TaskDuration")

        every: list[list[float]] = []
        print(f"{'':12} " + "   ".join(f"{name + ': median 95 % worst':23}" for name in SECTIONS))
        kinds = list(dict.fromkeys(kind for kind, _ in MOVES))
        for kind in kinds:
            took = []
            for name, values in ((name, values) for (of, name), values in MOVES.items() if of == kind):
                usual = {"kind": kind, "depth": 10 if kind in ("P", "SDCG") else 0, "T": 2, "loss": 0.25}
                usual |= {"p": 0.5, "q": 0.25} if kind == "walk" else {"p": 0.8}
                page.evaluate("(user) => { setUser(user); changed(); }", usual)
                page.wait_for_timeout(500)
                tries = []
                for value in values * rounds:
                    before = worked()
                    times = page.evaluate(DRAG, [f"slider-{name}", value - (name == "depth")])
                    tries.append([*times, worked() - before])
                took += [
                    [min(column) for column in zip(*tries[k :: len(values)], strict=True)] for k in range(len(values))
                ]
            every += took
            print(f"{kind:12} {_told(took)}")
        print(f"{'every kind':12} {_told(every)}")
        for k, name in enumerate(SECTIONS):
            print(f"within {LIMIT:g} ms, {name}: {sum(row[k] <= LIMIT for row in every)} of {len(every)} moves")
        browser.close()


def _told(took: list[list[float]]) -> str:
    columns = (sorted(column) for column in zip(*took, strict=True))
    told = (f"{statistics.median(x):6.1f} {x[int(0.95 * (len(x) - 1))]:6.1f} {x[-1]:6.1f}" for x in columns)
    return "   ".join(f"{column:23}" for column in told).rstrip()


def run() -> None:
    """Make the pages and measure them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trec8", metavar="FOLDER", help="of qrels.txt and runs/")
    parser.add_argument("--chromium", default=shutil.which("chromium") or "chromium", help="the browser")
    parser.add_argument("--rounds", type=int, default=8, metavar="N", help="times that each move is made")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        names = make_runs(Path(folder))
        qrels = f"{folder}/qrels.txt"
        if args.trec8:
            qrels, names = f"{args.trec8}/qrels.txt", sorted(map(str, Path(args.trec8, "runs").iterdir()))
        began = time.perf_counter()
        page = Path(folder, "explore.html")
        main(["explore", qrels, *names, "-o", str(page), "--quiet"])
        print(f"made in {time.perf_counter() - began:.1f} s")
        measure_page(page, args.chromium, args.rounds)


if __name__ == "__main__":
    run()
