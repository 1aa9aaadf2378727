"""The reproductions run, and reproduce."""

from __future__ import annotations

import gzip
import importlib
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import stats

import amble
from amble.fusion import METHODS
from amble.judging import ORDERS
from amble.metaevaluation import Agreement

FOLDER = Path(__file__).parent.parent / "reproductions"


def script(name: str, *args: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(FOLDER / name), *args],
        capture_output=True,
        text=True,
        cwd=cwd,
        timeout=600,
        env={**os.environ, "PYTHONUTF8": "1", **env},
    )


def test_ferrante_and_ferro(tmp_path: Path) -> None:
    done = script("ferrante2020.py", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    assert "  NO\n" not in done.stdout
    assert done.stdout.rstrip().endswith("79 of 79 figures reproduced")
    for figure in (  # exact values that other programs found, too
        "0.555703555598", "0.430952675282", "0.410132998100", "0.541332932842", "0.574163939456", "0.460286928437",
        "0.442470675978", "0.603498542274", "3.974132704614", "0.721870349702", "0.298691716270", "0.582142857143",
    ):  # fmt: skip
        assert figure in done.stdout
    assert "N=2000 it gives nan; K is 2.828427124746" in done.stdout
    assert "-0.063864" in done.stdout  # a variance, as printed in the paper
    assert sorted(p.name for p in (tmp_path / "reproduced").iterdir()) == [f"figure1{panel}.svg" for panel in "abcd"]
    assert "Figure 1d: RWBM" in (tmp_path / "reproduced" / "figure1d.svg").read_text(encoding="utf-8")


def test_parts(tmp_path: Path) -> None:
    done = script("ferrante2020.py", "erratum1", "--out", "elsewhere", cwd=tmp_path)
    assert (done.returncode, list(tmp_path.iterdir())) == (0, [])
    assert re.search(r"as printed, p\^N +0\.999023438 ", done.stdout)  # 1 - 0.5^9 + 0.5^10
    done = script("ferrante2020.py", "erratum9", cwd=tmp_path)
    assert done.returncode == 2
    assert "no part is called erratum9, expected one of figure1, anchors" in done.stderr
    (tmp_path / "file").write_text("")
    done = script("ferrante2020.py", "figure1", "--out", "file", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1


def test_a_figure_that_is_wrong(tmp_path: Path) -> None:
    code = (
        "from figures import Figures; f = Figures(); "
        "f.add('right', 0.5, 0.501, 0.005); f.add('wrong', 0.5, 0.6, 0.05); "
        "f.add('nothing', 0.5, float('nan'), 1); f.table(); raise SystemExit(f.end())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=FOLDER)
    assert done.returncode == 1
    assert [line.split()[-1] for line in done.stdout.splitlines()[1:4]] == ["yes", "NO", "NO"]
    assert done.stdout.endswith("1 of 3 figures reproduced\n")


def test_no_data(tmp_path: Path) -> None:
    """Each script in each case, one after another in one process, as each is run by itself."""
    names = [str(FOLDER / name) for name in ("orders_trec8.py", "ferrante2014.py", "judging_trec8.py")]
    cases = [([], ""), ([], str(tmp_path)), ([str(tmp_path)], "")]
    code = f"""if True:
        import os, runpy, sys
        sys.path.insert(0, {str(FOLDER)!r})
        for words, os.environ["AMBLE_DATA"] in {cases}:
            for name in {names}:
                sys.argv = [name, *words]
                try:
                    runpy.run_path(name, run_name="__main__")
                except SystemExit as end:
                    print(end.code, file=sys.stderr)
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    lines = done.stderr.splitlines()
    assert ["no data: " in line for line in lines[::2]] == [True] * 9
    assert lines[1::2] == ["2"] * 9


def test_orders_on_trec8(runs: Path, tmp_path: Path) -> None:
    done = script("orders_trec8.py", str(runs / "trec8"), "--runs", "3", "--users", "200", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "3 runs, 3 pairs, 50 topics" in done.stdout
    assert (tmp_path / "reproduced" / "orders_trec8.svg").stat().st_size > 2000
    head, *rows = (
        line.split("\t")
        for line in (tmp_path / "reproduced" / "orders_trec8.tsv").read_text(encoding="utf-8").splitlines()
    )
    assert len(rows) == 6
    for row in rows:
        found = dict(zip(head, row, strict=True))
        assert sum(int(found[kind]) for kind in head[3:9]) == int(found["pairs"]) == 3
        if found["distributions"] == "exact":
            assert found["1 against 3"] == "0"  # what dominates has the greater mean


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], ModuleType]]:
    """Import a script by its name."""
    monkeypatch.syspath_prepend(str(FOLDER))
    yield importlib.import_module
    for path in FOLDER.glob("*.py"):
        sys.modules.pop(path.stem, None)


Load = Callable[[str], ModuleType]


def test_every_figure_is_there_once(load: Load) -> None:
    published = load("published")
    keys = [(figure.source, figure.key) for figure in published.FIGURES]
    # 9 x 9 cells, 9 x 8 off the diagonal, 8 + 7 and 7 cells, 9 of the text; 4; 14 rows of 5, and 2 x 3; 6; 8
    assert len(set(keys)) == len(keys) == 81 + 72 + 15 + 7 + 9 + 4 + 70 + 6 + 6 + 8 + 5
    count = Counter(figure.source for figure in published.FIGURES)
    assert (count["M12 Table 1a"], count["M12 Table 1b"]) == (81, 72)
    assert (count["M12 Table 4a"], count["M12 Table 4b"], count["M12 text"]) == (15, 7, 9 + 5)
    assert count["F14 Table 3"] == 70
    assert sum(bool(figure.reads) for figure in published.FIGURES) == 4 + 5


def test_tolerances_are_half_a_unit_of_the_last_printed_digit(load: Load) -> None:
    figure = load("published").Figure
    for printed, inside, outside in (
        ("55.6", (55.55, 55.6499), (55.5499, 55.651)),
        ("0.0", (0.0, 0.0499), (0.0501, -0.051)),
        ("50.50", (50.495, 50.505), (50.494, 50.506)),
        ("62", (61.5, 62.1), (61.4, 62.6)),
        ("6e-15", (5.8e-15,), (7.95e-15, 0.0)),
        ("1.5e-4", (1.52e-4,), (1.56e-4, 1.44e-4)),
    ):
        for value in inside:
            assert figure("", "", printed).agrees(value), (printed, value)
        for value in (*outside, float("nan")):
            assert not figure("", "", printed).agrees(value), (printed, value)
    cut = figure("", "", ".8264", cut=True)
    assert [cut.agrees(x) for x in (0.82634, 0.82635, 0.82649, 0.8265, 0.82651)] == [False, True, True, True, False]
    # of rounded inputs: some score between the least and the greatest must be printed so
    assert [figure("", "", ".66").agrees(ends) for ends in ((0.5, 0.656), (0.5, 0.654), (0.666, 0.7))] == [1, 0, 0]


def test_what_is_known_and_what_is_unexplained(load: Load, monkeypatch: Any, capsys: Any) -> None:
    published = load("published")
    right = published.Figure("A", "x", "0.25")
    wrong = published.Figure("A", "y", "0.31", reads="z", why="a slip")
    monkeypatch.setattr(published, "FIGURES", [right, wrong])
    for x, y, z, counts in (
        (0.2549, 0.4, 0.31, "1 agree, 1 known misprints, 0 unexplained"),
        (0.2551, 0.4, 0.31, "0 agree, 1 known misprints, 1 unexplained"),
        (0.25, 0.31, 0.31, "1 agree, 0 known misprints, 1 unexplained"),  # it agrees all of a sudden
        (0.25, 0.4, 0.33, "1 agree, 0 known misprints, 1 unexplained"),  # it is not what we said that it is
        (float("nan"), 0.4, 0.31, "0 agree, 1 known misprints, 1 unexplained"),
    ):
        code = published.report(["A"], {("A", "x"): x, ("A", "y"): y, ("A", "z"): z})
        out = capsys.readouterr().out
        assert out.endswith(counts + "\n")
        assert code == ("0 unexplained" not in counts)
        assert ("misprint: A, y: 0.31 is z; a slip" in out) == ("1 known" in counts)
    assert published.report(["A"], {("A", "y"): 0.4}) == 1  # what it is to be was not computed
    assert capsys.readouterr().out.endswith("0 agree, 0 known misprints, 2 unexplained\n")
    # what needs runs may be left open without them, but not with them
    monkeypatch.setattr(published, "FIGURES", [published.Figure("A", "TREC-8/x", "0.25")])
    assert [published.report(["A"], {}), published.report(["A"], {}, whole=True)] == [0, 1]


def test_without_runs(load: Load, monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.delenv("AMBLE_DATA", raising=False)
    assert load("all").main([]) == 0
    told = capsys.readouterr()
    # 9 of M12's text, 6 + 6 + 8; three misprints; what is left is of runs
    assert told.out.endswith(f"29 agree, 3 known misprints, 0 unexplained, {283 - 32} left open\n")
    assert "not reached" not in told.out
    assert told.err.startswith("no data: ")


def test_rates_with_four_decimals(load: Load) -> None:
    """The scores that the rates of F14's Table 4 allow: none lets just anything pass."""
    found = load("ferrante2014").in_time()
    ends = [value for value in found.values() if isinstance(value, tuple)]
    assert len(ends) == 3
    assert all(0 < greatest - least < 0.003 for least, greatest in ends)
    # the list 1111000100 by hand: pi is the row sums of 1 / (distance + 1) at ranks 1, 2, 3, 4, 8, and precision there
    # is 1, 1, 1, 1, 5/8; in time, pi is multiplied by 1 / mu
    ranks, mu = [1, 2, 3, 4, 8], [0.2, 0.0357, 0.2, 0.04, 0.0017]
    pi = [sum(1 / (abs(i - j) + 1) for j in range(1, 11) if j != i) for i in ranks]
    time = [a / b for a, b in zip(pi, mu, strict=True)]
    mean = (sum(time[:4]) + 5 / 8 * time[4]) / sum(time)
    least, greatest = found["F14 Table 4", "MP GL_AD_ID continuous/1111000100"]
    assert least < mean < greatest
    assert pytest.approx(mean, abs=(greatest - least) / 2) == 0.6603


def made_up(rng: np.random.Generator) -> tuple[Any, Any]:
    """Labels of 30 topics and 40 documents, and scores of 24 runs, from bad to good."""
    labels = (rng.random((30, 40)) < 0.3).astype(float)
    runs = {f"run{i:02}": rng.normal(size=labels.shape) + i / 30 * labels for i in range(24)}
    return labels, runs


def test_another_parameter_is_seen(load: Load, monkeypatch: Any, capsys: Any) -> None:
    """A table computed with numpy and scipy alone; then one parameter of our measures is a little off."""
    published, moffat = load("published"), load("moffat2012")
    labels, runs = made_up(np.random.default_rng(2012))
    by_rank = {name: np.take_along_axis(labels, np.argsort(-s, axis=1), axis=1) for name, s in runs.items()}
    weights = {"rbp73": 0.27 * 0.73 ** np.arange(40), "p10": (np.arange(40) < 10) / 10}
    first, second = np.triu_indices(len(runs), 1)
    better = {}
    for name, w in weights.items():
        scores = np.array([gains @ w for gains in by_rank.values()])
        tested = stats.ttest_rel(scores[first], scores[second], axis=1)
        better[name] = np.sign(tested.statistic) * (tested.pvalue <= 0.05)
    figures = []
    for a, b in (("rbp73", "rbp73"), ("p10", "rbp73"), ("p10", "p10")):
        share = 100 * np.mean((better[a] == better[b]) & (better[a] != 0))
        figures.append(published.Figure("M12 Table 1a", f"TREC-8/SSA/{a}/{b}", f"{share:.1f}"))
    monkeypatch.setattr(published, "FIGURES", figures)
    rankings = amble.from_arrays(labels, runs)
    assert published.report(["M12 Table 1a"], moffat.table_figures(moffat.agreements(rankings))) == 0
    assert "3 agree, 0 known misprints, 0 unexplained" in capsys.readouterr().out
    monkeypatch.setitem(moffat.MEASURES, "rbp73", "RBP(p=0.74)")
    assert published.report(["M12 Table 1a"], moffat.table_figures(moffat.agreements(rankings))) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[-1] for line in lines[1:4]] == ["UNEXPLAINED", "UNEXPLAINED", "agrees"]


def test_class_agreement_from_rounded_percentages(load: Load) -> None:
    """2 SSA / (2 SSA + SN + NS) of 6, 2, 1 and 98 in 107 pairs: 5.6, 1.9 and 0.9 percent, not 6, 2 and 1."""
    moffat = load("moffat2012")
    n = len(moffat.MEASURES)
    parts = {"SSA": 6, "SSD": 0, "SN": 2, "NS": 1, "NN": 98}
    counts = {kind: np.full((n, n), number) for kind, number in parts.items()}
    found = Agreement(tuple(moffat.MEASURES), 107, "t", 0.05, counts)
    ours = moffat.table_figures(found)
    assert ours["M12 Table 1a", "TREC-8/SSA/rr/ap"] == pytest.approx(600 / 107)
    assert ours["M12 Table 1b", "TREC-8/2SSA class agreement/ap/rr"] == pytest.approx(100 * 11.2 / 14.0)
    assert ours["M12 Table 1b", "TREC-8/2NN class agreement/rr/ap"] == pytest.approx(100 * 183.2 / 186.0)
    exact = moffat.table_figures(found, None)
    assert exact["M12 Table 1b", "TREC-8/2SSA class agreement/ap/rr"] == pytest.approx(1200 / 15)


def test_the_rank_column_decides(load: Load, tmp_path: Path) -> None:
    published = load("published")
    (tmp_path / "runs").mkdir()
    (tmp_path / "qrels.txt").write_text("1 0 a 1\n2 0 a 1\n")
    texts = {
        "good.run": "2 Q0 x 1 3 t\n1 Q0 x 1 2 t\n1 Q0 a 2 2 t\n2 Q0 a 7 1 t\n",
        "odd.run.gz": "1\tQ0\ta\t0\t1e-2\tt\n2 Q0 a 1 9 t\n1 Q0 x 1 5 t\n",  # a is first by rank, x by score
    }
    for name, text in texts.items():
        content = gzip.compress(text.encode()) if name.endswith(".gz") else text.encode()
        (tmp_path / "runs" / name).write_bytes(content)
    data = published.Collection.of(tmp_path)
    assert not data.is_trec8
    with data.by_rank_column() as rankings:
        scores = amble.evaluate(rankings, "RR")
    assert scores.runs == ("good", "odd")
    assert scores.values[:, :, 0].tolist() == [[0.5, 0.5], [1.0, 1.0]]
    assert published.ranked_file(tmp_path / "runs" / "good.run", tmp_path) == tmp_path / "runs" / "good.run"
    (tmp_path / "runs" / "short").write_text("1 Q0 a 1 2\n")
    with (
        pytest.raises(amble.AmbleError, match=r"short: expected six columns a line"),
        data.of(tmp_path).by_rank_column(),
    ):
        pass


def test_another_collection(load: Load, demo_folder: Path, tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    """Runs that are not those of TREC-8: ours are printed, and nothing is compared with them."""
    (tmp_path / "runs").mkdir()
    (tmp_path / "qrels.txt").write_bytes((demo_folder / "qrels.txt").read_bytes())
    for path in demo_folder.glob("*.run"):
        (tmp_path / "runs" / path.name).write_bytes(path.read_bytes())
    monkeypatch.chdir(tmp_path)
    assert load("all").main(["--data", str(tmp_path)]) == 0
    told = capsys.readouterr()
    assert told.out.endswith(f"29 agree, 3 known misprints, 0 unexplained, {283 - 32} left open\n")
    assert re.search(r"^M12 Table 1a   TREC-8/SSA/ap/ap +- +\d+\.\d{4} +-  open$", told.out, re.MULTILINE)
    assert "not the 129 runs of TREC-8" in told.err
    pools = load("ferrante2014_pools")
    assert pools.main(["--data", str(tmp_path), "--rounds", "2"]) == 0
    out = capsys.readouterr().out
    assert len(re.findall(r"^(?:holds|does not hold) ", out, re.MULTILINE)) == 19
    assert re.search(r"\n\d+ claims hold, \d+ do(?:es)? not, 0 otherwise than known\n$", out)


def test_claims_on_pools(load: Load, monkeypatch: Any) -> None:
    """An effect made up so that all that is said holds, but what is known not to; and then one thing less."""
    pools = load("ferrante2014_pools")
    names = pools.measures()
    left = {"bpref": 1.0, "P@10": 0.3, "RBP(p=0.8)": 0.3}
    tau = {"bpref": 0.95, "AP": 0.8, "P@10": 0.5, "RBP(p=0.8)": 0.5, "Rprec": 0.6}
    means = np.array([[[left.get(name, 0.6) for name in names]] * 2] * 5)
    taus = np.array([[[tau.get(name, 0.9 if "'R'" in name else 0.7) for name in names]] * 2] * 5)
    effect = SimpleNamespace(means=means, full=np.ones(len(names)), taus=taus, measures=names)
    taus[4, :, names.index("MP(model='GL_AD_ID',rescale='R')")] = 0.79
    assert [claim.holds != claim.fails for claim in pools.claims(effect)] == [True] * 19
    fails = [claim.text for claim in pools.claims(effect) if not claim.holds]
    assert fails == ["MP GL_AD_ID with recall outperforms AP at 10 % (tau -0.0100 +- 0.0000)"]
    taus[4, :, names.index("MP(model='GL_AD_ID',rescale='R')")] = 0.81  # better than known
    taus[0, :, names.index("AP")] = 0.96  # AP the most robust of all
    assert sum(claim.holds == claim.fails for claim in pools.claims(effect)) == 1 + 1 + 2


MUTANTS = {  # what is changed a little, and how many figures it moves at least
    "rbp73": ("RBP(p=0.74)", 10),
    "rbp95": ("RBP(p=0.94)", 10),
    "insq": ("INSQ(T=1.1)", 10),
    "p10": ("CWL(C='1',finite=True)@11", 10),
    "sdcg100": ("SDCG@100", 5),
    "insq5": ("INSQ(T=5,adaptive=True,form='printed')", 5),
    "ap": ("AP@900", 1),
}


def test_every_figure_on_real_data(runs: Path, load: Load, monkeypatch: Any, capsys: Any) -> None:
    """One reading of the runs for all that is looked at."""
    published, moffat, ferrante = load("published"), load("moffat2012"), load("ferrante2014")
    monkeypatch.setenv("AMBLE_DATA", str(runs))
    data = published.Collection.of(None)
    assert data.is_trec8
    single = data.align(score_dtype="float32")
    with data.by_rank_column() as rankings:
        assert sum(source.path is not None and "runs" not in source.path for source in rankings.sources) == 8
        monkeypatch.setattr(published.Collection, "align", lambda self, **how: single)
        monkeypatch.setattr(published.Collection, "by_rank_column", lambda self: nullcontext(rankings))
        assert load("all").main([]) == 0
        told = capsys.readouterr()
        lines = told.out.splitlines()
        assert lines[-1] == "274 agree, 9 known misprints, 0 unexplained"
        assert len(lines) == 1 + 283 + 9 + 1
        assert told.err == ""
        # a parameter that is a little off
        for name, (other, least) in MUTANTS.items():
            found = moffat.agreements(rankings, moffat.MEASURES | {name: other})
            ours = moffat.text_figures() | moffat.table_figures(found)
            assert published.report(moffat.SOURCES, ours) == 1
            out = capsys.readouterr().out
            moved = [line for line in out.splitlines() if line.endswith("UNEXPLAINED")]
            assert len(moved) >= least, (name, len(moved))
        # a measure upside down: of all SSD with it, none is right
        scores = amble.evaluate(rankings, list(moffat.MEASURES.values()))
        for i, name in enumerate(published.M12):
            values = scores.values.copy()
            values[:, :, i] *= -1
            ours = moffat.table_figures(moffat.agreement(amble.Scores(rankings, scores.parsed, values)))
            ssd = [f for f in published.FIGURES if "/SSD/" in f.key and name in f.key.split("/")]
            assert len(ssd) == 8
            assert not any(figure.agrees(ours[figure.source, figure.key]) for figure in ssd)
        moffat.triangles(moffat.agreements(rankings))
        assert "as the text has it 16.9 points, the other way round 0.1" in capsys.readouterr().out
    found = load("figures").Figures()
    ferrante.average_precision(data, found)
    assert (found.right, found.wrong) == (1, 0)


@pytest.mark.parametrize(
    ("name", "documents", "topics"), [("cranfield", "1,400", 225), ("cisi", "1,460", 76), ("vaswani", "11,429", 93)]
)
def test_a_whole_experiment(data: Path, tmp_path: Path, name: str, documents: str, topics: int) -> None:
    if not (data / "collections" / name).is_dir():
        pytest.skip(f"real data: no collections/{name}/ in the folder that AMBLE_DATA names")
    done = script("end_to_end.py", name, cwd=tmp_path)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr
    assert f"Index({documents} documents" in done.stdout
    assert f"6 runs x {topics} topics, scored {6 * topics}, missing 0" in done.stderr
    assert "  NO\n" not in done.stdout
    runs = {path.stem for path in (tmp_path / "end_to_end" / name).glob("*.run")}
    assert runs == {"jaccard", "logtf", "tfidf", "cosine", "bm25", "lm"}
    for kind in ("classic", "C/W/L", "P@H", "Markov"):
        assert f"\n{kind}\nrun " in done.stdout
    assert "Holm's correction of 15 comparisons" in done.stdout


def test_a_collection_that_is_not_there(tmp_path: Path) -> None:
    done = script("end_to_end.py", "cisi", cwd=tmp_path, AMBLE_DATA=str(tmp_path))
    assert (done.returncode, done.stdout, list(tmp_path.iterdir())) == (2, "", [])
    assert done.stderr.endswith("cisi is not there\n")


def test_judging_trec8(runs: Path, tmp_path: Path) -> None:
    done = script("judging_trec8.py", "--runs", "5", "--seeds", "1", cwd=tmp_path, AMBLE_DATA=str(runs))
    assert "TREC-8 ad hoc: 5 runs, 50 topics, 86,830 judgments" in done.stdout, done.stderr
    assert re.search(r"^ +100 +\d+ +\d+ +\d+\.\d +\d+ +\d+\.\d$", done.stdout, re.MULTILINE)
    assert "holds          move-to-front needs fewer judgments than going by rank" in done.stdout
    for order in (*ORDERS, *METHODS):
        assert re.search(rf"^{order} +[\d.]+ ", done.stdout, re.MULTILINE), order
