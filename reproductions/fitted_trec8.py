"""Users fitted to a log of clicks, and the runs of TREC-8 scored with them, with intervals.

The log is one day of Sogou, a search engine: the click data that come with the PSCM click model, 8,809 query sessions
of ten results, in the layout of Yandex's Relevance Prediction Challenge. Users are fitted to it and saved; then all
129 ad hoc runs are scored with each of them, every eighth by AP with intervals (with --all, every run, for an hour).
Users who look at grades come from a field study, the TianGong-Qref sample: 1,571 pages with the grades of ten documents
and the last rank that was reached. The first interval tells what the log leaves open of the user, the second that and
the choice of topics.

  AMBLE_DATA=data python reproductions/fitted_trec8.py

The folder holds clicks/sogou.relpred.tsv.gz, sessions/tiangong-qref.json.gz and trec8/. Needs the extra ``logs``.
Writes fitted_trec8.toml (--output) and, beside it, the users of the study, with -study before the ending.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

import numpy as np
from figures import Figures, head, note, run, say, show, trec8_folder

import amble
from amble.logs import fit, read_log
from amble.metaevaluation import kendall

LOG = "sogou.relpred.tsv.gz"
STUDY = "tiangong-qref.json.gz"
STUDIED = {  # of the study, by model: log-likelihood of the last ranks, of gains that are a third of the grade
    "insq-adaptive": -2549.6, "insq-printed": -2548.2, "continuation": -2554.4, "inst": -2568.7, "insq": -2631.6,
    "rbp": -2685.6,
}  # fmt: skip
SHOWN = 5  # runs that are shown, by AP
EVERY, ROUNDS = 8, 100  # by AP, the runs with intervals; draws of each user
FACTS = (  # what is known of the log: how many, or seconds
    ("query sessions", 8809, 0),
    ("moves from click to click", 3614, 0),
    ("of them backward", 611, 0),
    ("of them backward, %", 16.9, 0.05),
    ("first quartile of the gaps, s", 15.3, 0.05),
    ("median", 35.6, 0.05),
    ("third quartile", 90.7, 0.05),
)


def data_file(named: Path | None, place: str) -> Path:
    """A log, given or in the folder that AMBLE_DATA names."""
    folder = os.environ.get("AMBLE_DATA")
    path = named or (Path(folder) / place if folder else None)
    if path is None or not path.exists():
        raise amble.AmbleError(f"no data: name the log, or set AMBLE_DATA to the folder that holds {place}")
    return path


def measures(file: str, study: str) -> dict[str, str]:
    """The measures with the users of the files, and what they are without."""
    return {
        f"PH(user='{file}')": "PH",
        f"PH(user='{file}#walk')": "PH",
        f"PH(user='{file}#chain')": "PH",
        f"RBP(user='{file}')": "RBP",
        f"INSQ(user='{file}')": "INSQ",
        f"CWL(user='{file}')": "CWL",
        f"MP(user='{file}')": "MP",
        f"MP(rates='{file}',user='{file}')": "MP",
        f"INSQ(user='{study}#insq-adaptive')": "INSQ(adaptive=True)",
        f"INSQ(user='{study}#insq-printed')": "INSQ(adaptive=True,form='printed')",
        f"INST(user='{study}')": "INST",
        f"BPM(user='{study}')": "BPM",
        f"IFTGoal(user='{study}')": "IFTGoal",
        f"PH(user='{study}#walk-grade')": "PH",
        f"PH(user='{study}#walk-rank-grade')": "PH",
    }


def main(argv: list[str]) -> int:
    """Fit, score and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--log", type=Path, help="(default: the one in AMBLE_DATA)")
    parser.add_argument("--study", type=Path, help="pages with grades (default: those in AMBLE_DATA)")
    parser.add_argument("--trec8", type=Path, help="folder with qrels.txt and runs/ (default: the one in AMBLE_DATA)")
    parser.add_argument("-o", "--output", default="fitted_trec8.toml", help="the fit (default: %(default)s)")
    parser.add_argument("--all", action="store_true", help="intervals of every run, not of every eighth by AP")
    args = parser.parse_args(argv)
    folder, log = trec8_folder(args.trec8), data_file(args.log, f"clicks/{LOG}")
    study = data_file(args.study, f"sessions/{STUDY}")
    start = time.perf_counter()

    head("The log")
    counts = read_log(log, "relpred")
    facts = counts.facts
    ours = (facts.pages, facts.moves, facts.backward, 100 * facts.backward / facts.moves, *facts.quartiles)
    figures = Figures()
    for (what, known, allowed), found in zip(FACTS, ours, strict=True):
        figures.add(what, known, found, allowed, digits=1)
    figures.table("known")

    head("Its users")
    found = fit(counts, files=[log.name], layout="relpred")
    amble.write_fit(args.output, found.fitted)
    show_models(found.fitted)
    say(f"\n{args.output}: {os.path.getsize(args.output):,} bytes; best by the last click on held-out sessions: "
        f"{found.fitted.best}")  # fmt: skip

    head("The users of the study")
    studied = fit(read_log(study, "pages"), files=[study.name], layout="pages")
    other = str(Path(args.output).with_suffix("")) + "-study.toml"
    amble.write_fit(other, studied.fitted)
    found_of = {row[0]: row[2] for row in studied.against()}
    for name, known in STUDIED.items():
        figures.add(f"study, log-likelihood of the last ranks: {name}", known, found_of[name], 0.05, digits=1)
    show(
        ["user", "parameters", "log-lik", "perplexity", "impossible", "distance"],
        [list(row) for row in studied.against()],
    )

    head("TREC-8 with these users")
    paths = sorted((folder / "runs").iterdir())
    rankings = amble.align(folder / "qrels.txt", paths)
    wanted = measures(args.output, other)
    plain = amble.evaluate(rankings, ["AP", *dict.fromkeys(wanted.values())])
    theirs = amble.evaluate(rankings, list(wanted)).means()
    means = {name: plain.means()[:, j] for j, name in enumerate(plain.measures)}
    by_ap = np.argsort(-means["AP"], kind="stable")[:: 1 if args.all else EVERY]
    some = amble.align(folder / "qrels.txt", [paths[i] for i in by_ap])
    alone, both = (amble.fitted_intervals(some, list(wanted), topics=topics, rounds=ROUNDS) for topics in (False, True))
    rows = [
        [some.runs[i], name, alone.means[i, j], *(x[i, j] for x in (alone.low, alone.high, both.low, both.high))]
        for j, name in enumerate(alone.measures)
        for i in range(SHOWN)
    ]
    show(["run", "measure", "mean", "user: low", "high", "user and topics: low", "high"], rows)

    head(f"All {len(rankings.runs)} runs")
    rows = []
    for j, (name, without) in enumerate(wanted.items()):
        widths = [float(np.median((x.high - x.low)[:, j])) for x in (alone, both)]
        taus = [kendall(theirs[:, j], means[other]) for other in (without, "AP")]
        rows.append([name, float(theirs[:, j].mean()), *widths, without, *taus])
        figures.claim(f"{name}: topics leave more open than the log, for each of {len(some.runs)} runs", bool(
            ((both.high - both.low)[:, j] > (alone.high - alone.low)[:, j]).all()
        ))  # fmt: skip
    show(["measure", "mean", "width: user", "user and topics", "without", "tau with it", "tau with AP"], rows)
    figures.table("-")
    note(f"{time.perf_counter() - start:.0f} s")
    return figures.end()


def show_models(fitted: amble.Fitted) -> None:
    """The parameters that are single numbers, and the held-out likelihood of all."""
    rows = []
    for model in fitted.models:
        single = [
            f"{key} {float(e.value):.3f} ({float(e.low):.3f} to {float(e.high):.3f})"
            for key, e in model.estimates.items()
            if e.form == "one" and e.low is not None and e.high is not None
        ]
        told = model.likelihood
        rows.append([model.name, ", ".join(single), None if told is None else told.perplexity])
    show(["model", "parameters, 95 % intervals", "perplexity"], rows)


if __name__ == "__main__":
    run(main)
