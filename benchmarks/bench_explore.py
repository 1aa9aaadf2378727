"""The explorer in Chromium: how large its page is, how long it takes to open, and how long after each move of a slider.

``python benchmarks/bench_explore.py`` makes a page of 20 runs x 50 topics x 1000 documents; with ``--trec8 FOLDER`` one
of the runs and judgments there. Milliseconds, of many moves of each slider:

- drawn: the page's own clock, from the start of an update until scores, the sweep and all that is in sight are drawn;
- all: from the move until everything is drawn, also what is out of sight and the whole sweep, with waits for frames;
- work: the processor time of the page's thread in between, with styles, layout and painting. It hardly depends on what
  else the machine does; of the two others look at the least.

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

MOVES: dict[tuple[str, str], list[float]] = {
    ("walk", "p"): [0.3, 0.4, 0.5, 0.6, 0.7],
    ("walk", "q"): [0.1, 0.2, 0.25, 0.3, 0.4],
    ("walk", "loss"): [0.1, 0.3, 0.5],
    ("RBP", "p"): [0.5, 0.7, 0.8, 0.9, 0.95],
    ("INSQ", "T"): [1, 2, 3],
    ("INST", "T"): [1, 2, 3, 5],
    ("P", "depth"): [3, 5, 9],
    ("SDCG", "depth"): [3, 5, 9],
    ("ERR", "depth"): [3, 5, 9],
    ("AP", "depth"): [3, 5, 9],
}

# a move as a reader makes it, with no sweep known beforehand; told when nothing is left to be drawn
DRAG = """([id, value]) => new Promise((told) => {
  swept.key = ""; swept.left = []; clearTimeout(exactly);
  const began = performance.now();
  find(id).value = value;
  find(id).dispatchEvent(new Event("input"));
  const look = () => {
    if (planned || unwritten || behind.size || swept.left.length) requestAnimationFrame(look);
    else told([timing.last, performance.now() - began]);
  };
  requestAnimationFrame(look);
})"""
SECTIONS = ("drawn", "all", "work")
LIMIT = 50.0  # of the work of a move, on 20 runs


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
        print(f"{'slider':12} " + "   ".join(f"{name + ': least median longest':28}" for name in SECTIONS))
        for (kind, name), values in MOVES.items():
            page.evaluate("(kind) => { setUser({ kind, depth: 10 }); changed(); }", kind)
            page.wait_for_timeout(500)
            took = []
            for value in values * rounds:
                before = worked()
                times = page.evaluate(DRAG, [f"slider-{name}", value - (name == "depth")])
                took.append([*times, worked() - before])
            every += took
            print(f"{kind:5} {name:6} {_told(took)}")
        print(f"all          {_told(every)}")
        within = sum(work <= LIMIT for *_, work in every)
        print(f"within {LIMIT:g} ms of work: {within} of {len(every)} moves")
        browser.close()


def _told(took: list[list[float]]) -> str:
    columns = (f"{min(x):6.1f} {statistics.median(x):6.1f} {max(x):6.1f}" for x in zip(*took, strict=True))
    return "   ".join(f"{column:28}" for column in columns).rstrip()


def run() -> None:
    """Make the pages and measure them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trec8", metavar="FOLDER", help="of qrels.txt and runs/")
    parser.add_argument("--chromium", default=shutil.which("chromium") or "chromium", help="the browser")
    parser.add_argument("--rounds", type=int, default=8, metavar="N", help="times that each slider is moved over")
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
