"""``amble distribution`` as people meet it: what it prints, what it draws, how it fails."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from amble.cli.main import main

Cli = Callable[..., subprocess.CompletedProcess[str]]

# AP on topic 1 (two relevant): x has 1 and 1; y has 1/2 and nothing; z has 1 and 2/3.
# AP on topic 2 (one relevant): x has 1/2, y has 1, z is missing and has nothing.
QRELS = "1 0 a 1\n1 0 b 1\n2 0 c 1\n"
RUNS = {
    "x": "1 Q0 a 1 9 x\n1 Q0 b 2 8 x\n2 Q0 n 1 9 x\n2 Q0 c 2 8 x\n",
    "y": "1 Q0 n 1 9 y\n1 Q0 a 2 8 y\n2 Q0 c 1 9 y\n",
    "z": "1 Q0 a 1 9 z\n1 Q0 n 2 8 z\n1 Q0 b 3 7 z\n",
}
AUDIT = (
    "amble: 3 runs x 2 topics, scored 5, missing 1, extra 0, unjudged in top 10: 3 (30.0%), tied documents 0 (by docno)"
)
# one topic, all users of AP: spread has 1, 1/2, 3/7, 2/5; packed has 1/2, 2/3, 3/4, 4/5 (FF20, section 5.2)
CROSSED = "".join(f"1 0 d{i} 1\n" for i in range(4))
SPREAD, PACKED = (
    "".join(f"1 Q0 {doc} 1 {20 - i} {name}\n" for i, doc in enumerate(docs))
    for name, docs in (
        ("spread", ["d0", "n1", "n2", "d1", "n3", "n4", "d2", "n5", "n6", "d3"]),
        ("packed", ["n1", "d0", "d1", "d2", "d3", "n2", "n3", "n4", "n5", "n6"]),
    )
)


@pytest.fixture
def files(write) -> list[str]:
    return [write("qrels.txt", QRELS), *(write(f"{name}.run", run) for name, run in RUNS.items())]


@pytest.fixture
def crossed(write) -> list[str]:
    return [write("crossed.txt", CROSSED), write("spread.run", SPREAD), write("packed.run", PACKED)]


def test_runs_and_pairs(amble_cli: Cli, files: list[str]) -> None:
    done = amble_cli("distribution", *files, "-m", "AP")
    assert done.returncode == 0, done.stderr
    # order 1 and the distribution of x: 1/2 and 1, each for half of the users; sd 1/4
    # y: 0 and 1/2 for a quarter each, 1 for a half: mean 5/8, sd sqrt(1/16 + 1/2 - 25/64)
    # z: 0 for a half, 2/3 and 1 for a quarter each: mean 5/12, sd sqrt(1/9 + 1/4 - 25/144)
    # order 2: x has 1.5/1.5 and 1/2; y 1/2 (all see two documents) and 1; z (1 + 2)/(1 + 3) and 0
    assert done.stdout.splitlines() == [
        "run  order1  order2      sd      5%     25%     50%     75%     95%",
        "x    0.7500  0.7500  0.2500  0.5000  0.5000  0.5000  1.0000  1.0000",
        "y    0.6250  0.7500  0.4146  0.0000  0.0000  0.5000  1.0000  1.0000",
        "z    0.4167  0.3750  0.4330  0.0000  0.0000  0.0000  0.6667  1.0000",
        "",
        "run  other  order1   order2   order3   second   crossings  better   worse    same",
        "x    y      greater  equal    greater  greater  -          0.2500  0.0000  0.7500",
        "x    z      greater  greater  greater  greater  -          0.7500  0.0000  0.2500",
        "y    z      greater  greater  greater  greater  -          0.5000  0.0000  0.5000",
    ]
    assert done.stderr.splitlines() == [AUDIT, "amble: distributions of AP over 2 topics: exact"]


def test_where_cdfs_cross(amble_cli: Cli, crossed: list[str]) -> None:
    done = amble_cli("distribution", *crossed, "-m", "AP", "--pairs", "--format", "tsv", "--quiet")
    assert done.stderr == ""
    # up to 0.75 packed is better, for three quarters of the users; order 2: 2.5/5.5 and 2.5/3.5
    assert [line.split("\t") for line in done.stdout.splitlines()] == [
        ["run", "other", "order1", "order2", "order3", "second", "crossings", "better", "worse", "same"],
        ["spread", "packed", "less", "less", "incomparable", "less", "0.7500", "0.2500", "0.7500", "0.0000"],
    ]


def test_some_topics(amble_cli: Cli, files: list[str]) -> None:
    done = amble_cli("distribution", *files[:2], "-m", "AP", "--topic", "2", "--topic", "2")
    assert done.stdout.splitlines()[1] == "x    0.5000  0.5000  0.0000  0.5000  0.5000  0.5000  0.5000  0.5000"
    assert len(done.stdout.splitlines()) == 2  # one run is compared with nothing
    assert done.stderr.splitlines()[1] == "amble: distributions of AP over 1 of 2 topics: exact"


def test_missing_topics_left_out(amble_cli: Cli, files: list[str]) -> None:
    done = amble_cli("distribution", files[0], files[3], "-m", "AP", "--missing", "skip", "--quiet")
    assert done.stdout.splitlines()[1].split()[:3] == ["z", "0.8333", "0.7500"]
    done = amble_cli("distribution", files[0], files[3], "-m", "AP", "--missing", "skip", "--depth", "1", "--quiet")
    assert done.stdout.splitlines()[1].split()[:2] == ["z", "0.5000"]


def test_simulated_where_there_is_no_exact_distribution(amble_cli: Cli, files: list[str]) -> None:
    done = amble_cli("distribution", *files[:3], PYTHONWARNINGS="error")
    assert done.returncode == 0, done.stderr
    lines = done.stderr.splitlines()
    assert len(lines) == 4
    assert all(line.startswith("amble: ") for line in lines)
    assert "100,000 users simulated" in lines[1]
    # sqrt(ln(2 / 0.05) / (2 x 100,000)) = 0.0043; wider if each topic is given its own band
    assert re.search(r"100,000 users per topic, their cdfs within 0\.00\d\d of the true ones", lines[2])
    assert lines[2].endswith("; order1 and order2 exact")
    assert lines[3] == "amble: differences within the bands of both runs do not count in order3, second and crossings"


def test_users_force_a_simulation(amble_cli: Cli, files: list[str]) -> None:
    call = ["distribution", *files, "-m", "AP", "--users", "2000", "--format", "json"]
    done = amble_cli(*call, "--seed", "5")
    assert done.stdout == amble_cli(*call, "--seed", "5", "--threads", "1").stdout
    assert done.stdout != amble_cli(*call, "--seed", "6").stdout
    read = json.loads(done.stdout)
    assert [row["order1"] for row in read["rows"]] == pytest.approx([3 / 4, 5 / 8, 5 / 12])  # known, not simulated
    assert read["distributions"]["x"]["users"] == 2000
    assert 0.03 < read["distributions"]["x"]["band"] < 0.05
    assert read["options"] | {"users": 2000, "seed": 5, "topic": None, "ties": "docno"} == read["options"]
    assert "2,000 users per topic" in done.stderr


def test_for_programs(amble_cli: Cli, files: list[str]) -> None:
    read = json.loads(amble_cli("distribution", *files, "-m", "AP", "--format", "json").stdout)
    assert [row["run"] for row in read["rows"]] == ["x", "y", "z"]
    assert read["rows"][0] | {"order1": 0.75, "sd": 0.25, "5%": 0.5, "75%": 1.0} == read["rows"][0]
    assert read["order"] == {
        "levels": [["x"], ["y"], ["z"]],
        "comparable": 1.0,
        "pairs": {"less": 0, "greater": 3, "equal": 0, "incomparable": 0},
    }
    assert read["distributions"]["x"] == {"atoms": 2, "users": None, "band": 0.0}
    assert len(read["files"]) == 4
    assert read["measures"]["AP"]["rel"] == 1
    read = json.loads(amble_cli("distribution", *files, "-m", "AP", "--pairs", "--format", "json").stdout)
    assert read["rows"][0] | {"run": "x", "other": "y", "order3": "greater", "crossings": []} == read["rows"][0]
    read = json.loads(amble_cli("distribution", *files, "-m", "RR", "--pairs", "--format", "json").stdout)
    assert read["rows"][0]["order2"] is None  # RR is asked how soon, not at which rate
    csv = amble_cli("distribution", *files, "-m", "AP", "--format", "csv").stdout.splitlines()
    assert csv[:2] == ["run,order1,order2,sd,5%,25%,50%,75%,95%", "x,0.75,0.75,0.25,0.5,0.5,0.5,1.0,1.0"]
    assert len(csv) == 4
    assert (
        "x & 0.75 & 0.75" in amble_cli("distribution", *files, "-m", "AP", "--format", "latex", "--digits", "2").stdout
    )
    assert "<td>x</td>" in amble_cli("distribution", *files, "-m", "AP", "--levels", "--format", "html").stdout


def test_many_runs(amble_cli: Cli, write, files: list[str]) -> None:
    runs = [write(f"s{i}.run", RUNS["xyz"[i % 3]].replace(" " + "xyz"[i % 3] + "\n", f" s{i}\n")) for i in range(13)]
    done = amble_cli("distribution", files[0], *runs, "-m", "AP", "--quiet")
    lines = done.stdout.splitlines()
    assert len(lines) == 14 + 1 + 14 + 1 + 1
    assert lines[15] == "level  system  dominates  dominated by  equal to  incomparable with"
    assert lines[16] == "    0  s0              8             0         4                  0"
    # 5 + 4 + 4 runs: 78 pairs, 10 + 6 + 6 of them equal
    assert lines[-1] == "3 levels; 100.0 % of 78 pairs comparable: 56 dominate, 22 equal, 0 incomparable"
    assert (
        amble_cli("distribution", files[0], *runs, "-m", "AP", "--levels", "--quiet").stdout.splitlines() == lines[15:]
    )
    pairs = amble_cli("distribution", files[0], *runs, "-m", "AP", "--pairs", "--format", "tsv", "--quiet").stdout
    assert len(pairs.splitlines()) == 79
    done = amble_cli("distribution", files[0], *runs, "--plot", "a.svg")
    assert (done.returncode, done.stderr) == (2, "amble: --plot: 13 runs, expected at most 12 on one chart\n")


def test_pictures(crossed: list[str], tmp_path: Path) -> None:
    before = set(tmp_path.iterdir())
    for ending in ("svg", "png", "pdf", "html"):
        plot, hasse = (str(tmp_path / f"{name}.{ending}") for name in ("distributions", "order"))
        assert main(["distribution", *crossed, "-m", "AP", "--plot", plot, "--hasse", hasse]) == 0
    made = {path.name for path in set(tmp_path.iterdir()) - before}
    assert made == {f"{name}.{e}" for name in ("distributions", "order") for e in ("svg", "png", "pdf", "html")}
    svg = (tmp_path / "distributions.svg").read_text(encoding="utf-8")
    for word in ("spread", "packed", "order 1", "order 2", "share of users whose score is at most x"):
        assert word in svg
    assert ">spread<" in (tmp_path / "order.svg").read_text(encoding="utf-8")


def test_graphviz(amble_cli: Cli, files: list[str], tmp_path: Path) -> None:
    path = tmp_path / "order.dot"
    assert amble_cli("distribution", *files, "-m", "AP", "--hasse", str(path)).returncode == 0
    assert path.read_text() == (
        'digraph {\n  node [shape=box];\n  n0 [label="x"];\n  n1 [label="y"];\n  n2 [label="z"];\n'
        "  n0 -> n1;\n  n1 -> n2;\n}\n"
    )


def test_names_that_are_not_utf8(amble_cli: Cli, write, tmp_path: Path) -> None:
    qrels = write("q", "1 0 a 1\n")
    runs = [write(f"{i}.run", b"1 Q0 a 1 1 \xfe" + str(i).encode() + b"\n") for i in range(2)]
    plot, hasse = str(tmp_path / "a.svg"), str(tmp_path / "b.svg")
    done = amble_cli("distribution", qrels, *runs, "-m", "AP", "--plot", plot, "--hasse", hasse)
    assert done.returncode == 0, done.stderr
    assert "\udcfe0" in done.stdout  # the same bytes out
    assert "\\udcfe0" in Path(plot).read_text()


def test_output_and_plugin(amble_cli: Cli, write, files: list[str], tmp_path: Path) -> None:
    plugin = write(
        "mine.py",
        "from amble.measures import Forward, measure\n"
        "@measure('First', question='order2')\n"
        "def first():\n    'Looks at one document.'\n    return Forward(continuation=0.0)\n",
    )
    out = tmp_path / "distributions.tsv"
    done = amble_cli("distribution", *files, "-m", "First", "--plugin", plugin, "--format", "tsv", "-o", str(out))
    assert done.stdout == ""
    assert out.read_text().splitlines()[1].split("\t")[:4] == ["x", "0.5000", "0.5000", "0.5000"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-m", "bpref"], "bpref is not a user: it has a score, and no distribution over users"),
        (["-m", "nDGC"], "no measure is called nDGC"),
        (["-m", "PH(p=.8,q=.4)"], "expected"),
        (["-m", "AP", "-m", "RBP"], "-m AP -m RBP: expected one measure"),
        (["--topic", "9"], "topic '9' is not among the 2 topics scored: 1, 2"),
        (["--users", "0"], "argument --users: found '0', expected a whole number from 1 to"),
        (["--users", "x"], "argument --users: found 'x', expected a whole number"),
        (["--seed", "-1"], "argument --seed: found '-1', expected a whole number from 0 to"),
        (["--threads", "0"], "argument --threads: found '0', expected a whole number from 1 to 1024"),
        (["--depth", "0"], "argument --depth: found '0', expected a whole number"),
        (["--digits", "99"], "argument --digits: found '99', expected a whole number from 0 to 17"),
        (["--ties", "expected"], "argument --ties: invalid choice: 'expected'"),
        (["--pairs", "--levels"], "not allowed with argument"),
        (["--plot", "a.gif"], "a.gif: a chart's name ends in .svg, .png, .pdf, .html"),
        (["--plot", "a.dot"], "a.dot: a chart's name ends in .svg, .png, .pdf, .html"),
        (["--hasse", "a.gif"], "a.gif: a chart's name ends in .svg, .png, .pdf, .html, .dot"),
        (["--plot", "/no/where/a.svg"], "/no/where/a.svg: No such file or directory"),
        (["--hasse", "/no/where/a.dot"], "/no/where/a.dot: No such file or directory"),
        (["--plot", "{q}/a.svg"], "Not a directory"),
        (["--hasse", "{dir}/sub.svg"], "sub.svg: Is a directory"),
        (["-o", "/no/where/a.txt"], "No such file or directory"),
        (["--plugin", "nothing.py"], "nothing.py: No such file"),
    ],
)
def test_one_clear_line(amble_cli: Cli, files: list[str], tmp_path: Path, words: list[str], message: str) -> None:
    (tmp_path / "sub.svg").mkdir()
    usual = [] if "-m" in words else ["-m", "AP"]
    done = amble_cli("distribution", *files, *usual, *(word.format(q=files[0], dir=tmp_path) for word in words))
    assert done.returncode == 2, done.stdout
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


def test_files_that_are_not_there(amble_cli: Cli, files: list[str]) -> None:
    for words in ([files[0], "nothing.run"], ["nothing.txt", files[1]]):
        done = amble_cli("distribution", *words)
        assert (done.returncode, done.stdout) == (2, "")
        assert re.fullmatch(r"amble: nothing\.\w+: no such file.*\n", done.stderr)


@pytest.mark.parametrize("word", ["--pairs", "--levels", "--hasse=order.dot"])
def test_one_run_is_compared_with_nothing(amble_cli: Cli, files: list[str], word: str) -> None:
    done = amble_cli("distribution", *files[:2], word)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "amble: --pairs, --levels and --hasse compare runs: expected at least two\n"


def test_without_the_extra(amble_cli: Cli, files: list[str], tmp_path: Path) -> None:
    folder = tmp_path / "without"
    folder.mkdir()
    (folder / "vl_convert.py").write_text("raise ImportError\n")
    done = amble_cli("distribution", *files, "--plot", str(tmp_path / "a.svg"), PYTHONPATH=str(folder))
    assert (done.returncode, done.stdout) == (2, "")
    assert "need the extra: pip install 'amble-ir[report]'" in done.stderr
    assert done.stderr.count("\n") == 1
    done = amble_cli("distribution", *files, "-m", "AP", "--hasse", str(tmp_path / "a.dot"), PYTHONPATH=str(folder))
    assert done.returncode == 0, done.stderr
