"""Published figures, retyped from the papers as they are printed; the runs they are of; and the comparison with ours.

The papers:

* M12: Moffat, Scholer and Thomas (2012), Models and Metrics: IR Evaluation as a User Process. ADCS.
* F14: Ferrante, Ferro and Maistro (2014), Injecting User Models and Time into Precision via Markov Chains. SIGIR.
* FF20: Ferrante and Ferro (2020), Exploiting Stopping Time to Evaluate Accumulated Relevance. ICTIR.
* lecture notes: worked examples of a course on search engines, whose arithmetic is written out in `lecture_notes.py`.

Percentages and correlations are of the 129 runs of the TREC-8 ad hoc task; figures of other collections are not here.

A figure agrees with ours if ours, rounded to the digits that are printed, is what is printed: the tolerance is half a
unit of the last digit. Nothing is wider than that, with two exceptions, both stated where the figures are:

* F14 cuts the correlations of its Tables 2 and 3 off, after four digits (one of the 73 is rounded): either will do;
* F14's Table 4 in continuous time comes from rates of which four decimals are printed: we give the least and the
  greatest score that such rates allow, and the figure must lie between.

Known misprints are figures that contradict their own paper. Each says which other figure it is (`reads`), and why we
think so. It counts as known as long as it differs from what it is said to be, and agrees with what we say it is.
Anything else is unexplained, and the exit code is 1: a misprint that agrees all of a sudden, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
from figures import say, trec8_folder

import amble
from amble.io.files import open_bytes, stem


class Figure(NamedTuple):
    """One figure: where it is printed, what it is said to be, how it is printed; of a misprint, what it really is."""

    source: str
    key: str
    printed: str
    cut: bool = False  # may be cut off, not rounded
    reads: str = ""
    why: str = ""

    @property
    def value(self) -> float:
        """The number that is printed."""
        return float(self.printed)

    @property
    def unit(self) -> float:
        """A unit of its last digit."""
        digits, _, power = self.printed.partition("e")
        return float(10.0 ** (int(power or 0) - len(digits.partition(".")[2])))

    def agrees(self, ours: Ours) -> bool:
        """Whether ours, or something between the least and the greatest of ours, would be printed so."""
        least, greatest = ours if isinstance(ours, tuple) else (ours, ours)
        slack = 1e-9 * self.unit
        above = self.unit if self.cut else self.unit / 2
        return bool(greatest >= self.value - self.unit / 2 - slack and least <= self.value + above + slack)


Ours = float | tuple[float, float]
Found = dict[tuple[str, str], Ours]

M12 = ("rr", "insq", "p10", "rbp73", "sdcg10", "p100", "rbp95", "sdcg100", "ap")
WIDE = ("insq5", "insq10", "rr", "insq", "p10", "rbp95", "sdcg100", "ap")
OTHERS = ("AP", "P@10", "Rprec", "bpref", "RBP(p=0.8)")

# SSA above and on the diagonal, SSD below; percentages of 8,256 pairs of systems
TABLE_1A = """
55.6 53.8 51.2 52.9 52.4 49.1 51.6 51.5 50.2
 0.0 63.8 59.4 62.4 61.5 56.4 60.1 59.9 58.1
 0.0  0.0 64.5 61.1 62.7 59.1 63.3 62.2 60.4
 0.0  0.0  0.0 64.7 63.2 57.6 61.7 61.2 59.4
 0.0  0.0  0.0  0.0 64.9 58.5 62.7 62.0 60.0
 0.2  0.0  0.0  0.0  0.0 68.8 63.8 66.9 64.9
 0.0  0.0  0.0  0.0  0.0  0.0 69.1 67.2 64.3
 0.0  0.0  0.0  0.0  0.0  0.0  0.0 71.0 66.3
 0.3  0.0  0.0  0.0  0.0  0.0  0.0  0.0 72.5
"""
# class agreements; 2NN above the diagonal and 2SSA below: the other way round than the text says, see MISPRINTS
TABLE_1B = """
   - 85.3 77.7 81.8 80.2 65.9 71.4 68.0 62.1
90.0    - 86.8 94.8 92.0 70.9 81.1 77.2 68.4
85.2 92.6    - 90.3 94.2 77.4 89.5 83.1 74.3
87.9 97.1 94.7    - 95.5 72.5 84.1 79.3 70.7
87.0 95.6 96.8 97.5    - 74.8 86.8 81.3 72.1
79.2 85.2 88.7 86.3 87.5    - 83.4 90.0 80.4
82.8 90.4 94.8 92.2 93.5 92.5    - 90.5 77.7
81.4 88.9 91.9 90.2 91.2 95.7 95.9    - 81.1
78.7 85.3 88.2 86.6 87.3 91.9 90.8 92.5    -
"""
TABLE_4A = """
67.5 65.9 52.4 61.9 63.3 64.9 64.2 62.1
   - 69.0 51.8 60.8 63.9 67.6 66.6 64.2
"""
TABLE_4B = """
   - 96.6 85.1 94.3 96.0 95.0 92.7 88.7
"""
TEXT = {  # M12, sections 2 and 5
    "W_INSQ(1)": "0.388",
    "W_INSQ(2)": "0.172",
    "W_INSQ(3)": "0.097",
    "W_INSQ(100)": "1.5e-4",
    "E T=1": "2.58",
    "E T=5": "10.52",
    "E T=25": "50.50",
    "INSQ(T=5) static on ranks 1,3,4,6,8,12,14,34,37,43,64,82,86,95": "0.350",
    "INSQ(T=5) adaptive on the same": "0.502",
}
F14_TABLE_2 = {"P10": ".8264", "Rprec": ".9219", "bpref": ".9361", "RBP": ".8090"}
# rows of TREC 8; LO_AD_LID is LO_AD_ID. The last four figures of the last row are misprints, see MISPRINTS
F14_TABLE_3 = """
GL_AD_ID       .8997 .8510 .9074 .9222 .8382
GL_AD_ID@Rec   .9815 .8128 .9217 .9299 .7938
GL_AD_LID      .8912 .8641 .9033 .9173 .8551
GL_AD_LID@Rec  .9953 .8221 .9209 .9337 .8041
GL_OR_ID       .8162 .9081 .8349 .8402 .9152
GL_OR_ID@Rec   .9208 .8756 .9024 .9145 .8637
GL_OR_LID      .8664 .8884 .8853 .8947 .8858
GL_OR_LID@Rec  .9722 .8477 .9281 .9390 .8324
LO_AD_ID       .8931 .8642 .9011 .9174 .8537
LO_AD_ID@Rec   .9953 .8248 .9219 .9343 .8066
LO_OR_ID       .8138 .9013 .8305 .8354 .9176
LO_OR_LID      .8534 .8982 .8708 .8810 .8995
LO_OR_LID@Rec  .9506 .8623 .9186 .9319 .8466
LO_OR_ID@Rec   .9195 .9195 .8714 .8987 .9127
"""
F14_TABLE_4 = {  # a list: discrete, continuous
    "1111000100": (".9205", ".6603"),
    "1110100010": (".8668", ".8710"),
    "1101100001": (".8120", ".8001"),
}
FF20_FIGURE_1 = {"P@10 r": ".40", "P@10 s": ".40", "AP r": ".58", "AP s": ".68", "RBP(.5) r": ".57", "RBP(.5) s": ".47"}
LECTURE_NOTES = {
    "DCG2@10": "5.2976",
    "iDCG2@10": "10.1996",
    "nDCG2@10": "0.5194",
    "RBP(.8)@10": "0.4723",
    "P@5": "0.6",
    "R@5": "0.375",
    "Jaccard q,d1": "0.167",
    "Jaccard q,d2": "0.2",
}
FROM_0 = "a formula for ranks from 0, evaluated at a rank from 1"
SWAPPED = "Table 1b has agreement on no significance above the diagonal, where the text says significance"
SHIFTED = "the row has AP's figure twice, and the others one column too far to the right; RBP's is lost"
MISPRINTS = (
    Figure("M12 text", "R_INSQ(100)", "0.0151", reads="R_INSQ(101)", why=FROM_0),
    Figure("M12 text", "W_RBP(.73)(100)", "6e-15", reads="W_RBP(.73)(101)", why=FROM_0),
    Figure(
        "M12 text",
        "INSQ(T=5) adaptive on the same by equation 3",
        "0.502",
        reads="INSQ(T=5) adaptive on the same",
        why=FROM_0,
    ),
    Figure("M12 text", "2SSA with ap, least", "62", reads="2NN with ap, least", why=SWAPPED),
    Figure("M12 text", "2SSA with ap, greatest", "81", reads="2NN with ap, greatest", why=SWAPPED),
    *(
        Figure(
            "F14 Table 3", f"TREC-8/tau(LO_OR_ID@Rec,{to})", printed, True, f"TREC-8/tau(LO_OR_ID@Rec,{of})", SHIFTED
        )
        for to, printed, of in zip(OTHERS[1:], (".9195", ".8714", ".8987", ".9127"), OTHERS[:-1], strict=True)
    ),
)


def rows_of(text: str) -> list[list[str]]:
    """The cells of a retyped table."""
    return [line.split() for line in text.strip().splitlines()]


def _all() -> list[Figure]:
    out = []
    for i, row in enumerate(rows_of(TABLE_1A)):
        for j, cell in enumerate(row):
            out.append(Figure("M12 Table 1a", f"TREC-8/{'SSA' if j >= i else 'SSD'}/{M12[i]}/{M12[j]}", cell))
    for i, row in enumerate(rows_of(TABLE_1B)):
        for j, cell in enumerate(row):
            if i != j:
                kind = "2NN" if j > i else "2SSA"
                out.append(Figure("M12 Table 1b", f"TREC-8/{kind} class agreement/{M12[i]}/{M12[j]}", cell))
    for source, kind, text in (
        ("M12 Table 4a", "SSA", TABLE_4A),
        ("M12 Table 4b", "2SSA class agreement", TABLE_4B),
    ):
        for i, row in enumerate(rows_of(text)):
            out += [
                Figure(source, f"TREC-8/{kind}/{WIDE[i]}/{WIDE[j]}", cell) for j, cell in enumerate(row) if cell != "-"
            ]
    out += [Figure("M12 text", key, printed) for key, printed in TEXT.items()]
    out += [Figure("F14 Table 2", f"TREC-8/tau(AP,{name})", printed, True) for name, printed in F14_TABLE_2.items()]
    for model, *cells in rows_of(F14_TABLE_3):
        for other, cell in zip(OTHERS, cells, strict=True):
            out.append(Figure("F14 Table 3", f"TREC-8/tau({model},{other})", cell, True))
    for ranks, (discrete, continuous) in F14_TABLE_4.items():
        out.append(Figure("F14 Table 4", f"MP GL_AD_ID discrete/{ranks}", discrete))
        out.append(Figure("F14 Table 4", f"MP GL_AD_ID continuous/{ranks}", continuous))
    out += [Figure("FF20 Figure 1", key, printed) for key, printed in FF20_FIGURE_1.items()]
    out += [Figure("lecture notes", key, printed) for key, printed in LECTURE_NOTES.items()]
    wrong = {(figure.source, figure.key) for figure in MISPRINTS}
    return [figure for figure in out if (figure.source, figure.key) not in wrong] + list(MISPRINTS)


FIGURES = _all()


# ---- the runs


class Collection(NamedTuple):
    """Judgments and runs in a folder, qrels.txt and runs/."""

    folder: Path
    runs: list[Path]
    is_trec8: bool

    @classmethod
    def of(cls, folder: Path | None) -> Collection:
        """The one in a folder, or TREC-8 in the folder that AMBLE_DATA names."""
        folder = trec8_folder(folder)
        runs = sorted(path for path in (folder / "runs").iterdir() if path.is_file())
        topics = {str(topic) for topic in amble.read_qrels(folder / "qrels.txt").to_dict()}
        return cls(folder, runs, len(runs) == 129 and topics == {str(topic) for topic in range(401, 451)})

    def align(self, **how: str) -> amble.Rankings:
        """The runs by their scores."""
        return amble.align(self.folder / "qrels.txt", list(map(str, self.runs)), **how)  # type: ignore[arg-type]

    @contextmanager
    def by_rank_column(self) -> Iterator[amble.Rankings]:
        """The runs by their rank columns, whatever the scores are."""
        with TemporaryDirectory() as scratch:
            files = [str(ranked_file(path, Path(scratch))) for path in self.runs]
            yield amble.align(self.folder / "qrels.txt", files, ties="rank")


def ranked_file(path: Path, scratch: Path) -> Path:
    """The run itself, where the scores fall along the ranks or are tied; else a copy that has the ranks as scores."""
    with open_bytes(str(path)) as file:
        words = file.read().split()
    if len(words) % 6:
        raise amble.AmbleError(f"{path}: expected six columns a line")
    topics, rank = words[::6], np.array(words[3::6], dtype=np.float64)
    code: dict[bytes, int] = {}
    topic = np.array([code.setdefault(name, len(code)) for name in topics])
    order = np.lexsort((rank, topic))
    score = np.array(words[4::6], dtype=np.float64)[order]
    if ((np.diff(score) <= 0) | (np.diff(topic[order]) != 0)).all():
        return path
    lines = zip(topics, words[2::6], words[3::6], words[5::6], strict=True)
    copy = scratch / stem(str(path))
    copy.write_bytes(b"".join(b"%s Q0 %s %s -%s %s\n" % (t, d, r, r, tag) for t, d, r, tag in lines))
    return copy


# ---- the comparison


def verdict(figure: Figure, ours: Mapping[tuple[str, str], Ours]) -> str:
    """What came of a figure: agrees, known misprint, UNEXPLAINED, or open where nothing was computed."""
    value = ours.get((figure.source, figure.key))
    if value is None:
        return "open"
    if not figure.reads:
        return "agrees" if figure.agrees(value) else "UNEXPLAINED"
    right = ours.get((figure.source, figure.reads))
    known = np.isfinite(value).all() and not figure.agrees(value) and right is not None and figure.agrees(right)
    return "known misprint" if known else "UNEXPLAINED"


def report(
    sources: Iterable[str], ours: Mapping[tuple[str, str], Ours], trec8: bool = True, *, whole: bool = False
) -> int:
    """Print the figures of some sources, what came of each, and how many there are of each kind; return the exit code.

    Of runs that are not those of TREC-8 what is printed in the tables is left out. Figures that need runs may be left
    open, unless ``whole``, with those of TREC-8 at hand; any other figure that was not computed is unexplained.
    """
    figures = [figure for figure in FIGURES if figure.source in set(sources)]
    say(f"{'source':14s} {'figure':64s} {'printed':>9s} {'ours':>9s} {'difference':>10s}")
    count = dict.fromkeys(("agrees", "known misprint", "UNEXPLAINED", "open"), 0)
    for figure in figures:
        value = ours.get((figure.source, figure.key))
        theirs = trec8 or not _of_runs(figure)
        found = verdict(figure, ours) if theirs else "open"
        if found == "open" and (not _of_runs(figure) or whole):
            found = "UNEXPLAINED"
        count[found] += 1
        if value is None:
            shown = f"{'-':>9s} {'-':>10s}"
        else:
            value = sum(value) / 2 if isinstance(value, tuple) else value
            shown = f"{value:9.3g}" if abs(value) < 1e-4 and value else f"{value:9.4f}"
            shown += f" {value - figure.value:+10.1e}" if theirs else f" {'-':>10s}"
        say(f"{figure.source:14s} {figure.key:64s} {figure.printed if theirs else '-':>9s} {shown}  {found}")
    for figure in figures:
        if figure.reads and count["known misprint"]:
            say(f"misprint: {figure.source}, {figure.key}: {figure.printed} is {figure.reads}; {figure.why}")
    left = f", {count['open']} left open" if count["open"] else ""
    say(f"{count['agrees']} agree, {count['known misprint']} known misprints, {count['UNEXPLAINED']} unexplained{left}")
    return int(count["UNEXPLAINED"] > 0)


def _of_runs(figure: Figure) -> bool:
    return figure.key.startswith(("TREC-8/", "2SSA with"))
