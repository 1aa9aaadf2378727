"""Equal to trec_eval 10 at every printed digit: its own test outputs, and TREC-8 whole.

The recorded outputs and their inputs are real data (AMBLE_DATA). Left out: `runid` and `relstring` (text), and `rbp`,
which reads uninitialised memory in trec_eval 10.
"""

from __future__ import annotations

import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

import amble
from amble.measures.trec_names import LEFT_OUT, all_trec, trec_name

pytestmark = pytest.mark.twin

Recorded = dict[tuple[str, str], str]
NAMES = dict(all_trec())
COUNTS = {"num_q", "num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret"}


def recorded(text: str) -> Recorded:
    """What trec_eval printed: {(measure, topic): value}."""
    lines = (line.split("\t") for line in text.splitlines())
    return {(name.strip(), topic): value for name, topic, value in lines}


def left_out(name: str) -> bool:
    return name.split("_")[0] in LEFT_OUT and name != "rbp_resid"


def differences(expected: Recorded, scores: amble.Scores, run: int = 0, z: str = "") -> tuple[int, list[str]]:
    """Compare everything that was recorded: how many values, and those that differ."""
    compared, wrong = 0, []
    means = scores.means()
    topics = {topic: t for t, topic in enumerate(scores.topics)}
    for (name, topic), value in expected.items():
        plain = name.removeprefix(z)
        if left_out(plain):
            continue
        j = scores.place(NAMES[plain])
        ours = means[run, j] if topic == "all" else scores.values[run, topics[topic], j]
        shown = f"{ours:.0f}" if plain in COUNTS and not z else f"{ours:.4f}"
        compared += 1
        if shown != value.strip():
            wrong.append(f"{name} {topic}: {value} recorded, {shown} ours")
    return compared, wrong


@pytest.mark.parametrize(
    ("output", "results", "options"),
    [
        ("out.test", "results.test", {"missing": "skip"}),
        ("out.test.a", "results.test", {"missing": "skip"}),
        ("out.test.aq", "results.test", {"missing": "skip"}),
        ("out.test.aqc", "results.trunc", {"missing": "zero"}),
        ("out.test.aqcM", "results.trunc", {"missing": "zero", "depth": 100}),
    ],
)
def test_its_own_outputs(data: Path, output: str, results: str, options: dict[str, object]) -> None:
    folder = data / "trec_eval"
    scores = amble.evaluate(folder / "qrels.test", folder / results, list(NAMES.values()), **options)
    compared, wrong = differences(recorded((folder / output).read_text()), scores)
    assert not wrong, wrong[:10]
    assert compared >= 29


def graded_qrels(plain: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """The graded judgments behind out.test.aql, made from the binary ones.

    301: six relevant documents of grade 4 and six of grade 2, as listed; 302: every relevant one 3; 303: every third
    line of the topic, from the first, was in the pool but not judged (-1), other relevant ones 2.
    """
    four = ["CR93E-5799", "CR93E-6905", "CR93E-7348", "CR93H-10037", "FT943-16238", "FT943-16477"]
    two = ["CR93E-7952", "CR93E-8290", "CR93E-9665", "CR93E-9750", "FT943-3533", "FT944-10635"]
    out = {topic: dict(docs) for topic, docs in plain.items()}
    out["301"].update(dict.fromkeys(four, 4.0) | dict.fromkeys(two, 2.0))
    out["302"] = {doc: 3.0 if grade == 1 else grade for doc, grade in out["302"].items()}
    for i, (doc, grade) in enumerate(plain["303"].items()):
        out["303"][doc] = -1.0 if i % 3 == 0 else 2.0 if grade == 1 else grade
    return out


def test_relevance_level(data: Path) -> None:
    # trec_eval -l 2: the binary measures count grades of at least 2
    folder = data / "trec_eval"
    qrels = graded_qrels(amble.read_qrels(folder / "qrels.test").to_dict())
    level = {}
    for trec, ours in NAMES.items():
        m = amble.parse(ours)
        level[trec] = ours
        if "rel" in m.values and m.name != "RBPresid":
            head, at, k = ours.partition("@")
            level[trec] = (head[:-1] + ",rel=2)" if head.endswith(")") else head + "(rel=2)") + at + k
    scores = amble.evaluate(qrels, folder / "results.test", list(level.values()), missing="skip")
    expected = recorded((folder / "out.test.aql").read_text())
    compared, wrong = 0, []
    for (name, topic), value in expected.items():
        if left_out(name):
            continue
        j = scores.place(level[name])
        ours = scores.means()[0, j] if topic == "all" else scores.values[0, scores.topics.index(topic), j]
        compared += 1
        if (f"{ours:.0f}" if name in COUNTS else f"{ours:.4f}") != value:
            wrong.append((name, topic, value, ours))
    assert not wrong, wrong[:10]
    assert compared > 370


def test_zscores(data: Path) -> None:
    from amble.evaluation.standardisation import read_zscores, standardised

    folder = data / "trec_eval"
    scores = amble.evaluate(folder / "qrels.test", folder / "results.test", list(NAMES.values()), missing="skip")
    scores = standardised(scores, read_zscores(folder / "zscores_file"))
    expected = {
        key: value for key, value in recorded((folder / "out.test.aqZ").read_text()).items() if key[0].startswith("Z")
    }
    compared, wrong = differences(expected, scores, z="Z")
    assert not wrong, wrong[:10]
    assert compared > 370


def test_measure_parameters(data: Path) -> None:
    # trec_eval -m iprec_at_recall..10,.20,.25,.75,.50 -m P.5,7,3 -m recall.20,2000 -m Rprec_mult.5.0,0.2,0.35
    #   -m utility.2,-1,0,0 -m 11pt_avg..25,.5,.75 -m ndcg.1=3,2=9,4=4.5 -m ndcg_cut.10,20,23.4 -m success.2,5,20
    ours = {
        **{f"iprec_at_recall_{r:.2f}": f"iprec_at_recall_{r:.2f}" for r in (0.1, 0.2, 0.25, 0.5, 0.75)},
        **{f"P_{k}": f"P@{k}" for k in (3, 5, 7)},
        **{f"recall_{k}": f"R@{k}" for k in (20, 2000)},
        **{f"Rprec_mult_{m:.2f}": f"Rprec(mult={m})" for m in (0.2, 0.35, 5.0)},
        "utility_2,-1,0,0": "Utility(weights='2,-1,0,0')",
        "11pt_avg_.25,.5,.75": "IPrecAvg(points='.25,.5,.75',rule='trec10')",
        "ndcg_1=3,2=9,4=4.5": "nDCG(gains='1=3,2=9,4=4.5')",
        **{f"ndcg_cut_{k}": f"nDCG@{k}" for k in (10, 20, 23)},
        **{f"success_{k}": f"Success@{k}" for k in (2, 5, 20)},
    }
    folder = data / "trec_eval"
    scores = amble.evaluate(folder / "qrels.test", folder / "results.test", list(ours.values()), missing="skip")
    expected = recorded((folder / "out.test.meas_params").read_text())
    assert {name for name, _ in expected} == set(ours)
    for (name, topic), value in expected.items():
        j = scores.place(ours[name])
        mine = scores.means()[0, j] if topic == "all" else scores.values[0, scores.topics.index(topic), j]
        assert f"{mine:.4f}" == value, (name, topic)


def test_trec8(data: Path, runs: Path) -> None:
    # 129 runs x 50 topics x every measure
    names = sorted(path.name.removeprefix("input.") for path in (runs / "trec8/runs").iterdir())
    assert len(names) == 129
    files = {name: runs / f"trec8/runs/input.{name}" for name in names}
    scores = amble.evaluate(data / "trec8/qrels.txt", files, list(NAMES.values()), missing="skip")
    compared, wrong = 0, []
    with tarfile.open(data / "trec8/official-eval-per-topic.tar.xz") as archive:
        for member in archive:
            if not member.isfile():
                continue
            file = archive.extractfile(member)
            assert file is not None
            name = Path(member.name).name.removeprefix("eval.")
            n, differ = differences(recorded(file.read().decode()), scores, names.index(name))
            compared += n
            wrong += [f"{name}: {line}" for line in differ]
    assert not wrong, (len(wrong), wrong[:10])
    assert compared == 618_813


def test_the_command_line_prints_what_trec_eval_prints(
    data: Path, amble_cli: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    folder = data / "trec_eval"
    qrels, run = str(folder / "qrels.test"), str(folder / "results.test")
    done = amble_cli("eval", "--trec", qrels, run)
    assert done.returncode == 0
    assert done.stdout == (folder / "out.test").read_text()
    done = amble_cli("eval", "--trec", qrels, run, "-m", "all_trec", "-q")
    kept = [line for line in (folder / "out.test.aq").read_text().splitlines() if not _text_or_rbp(line)]
    assert [line for line in done.stdout.splitlines() if not line.startswith("runid")] == kept


def _text_or_rbp(line: str) -> bool:
    return line.split("\t")[0].strip() in ("relstring", "rbp", "runid", "relstring_10")


def test_names_go_both_ways() -> None:
    for trec, ours in all_trec():
        if trec != "Rprec_mult_1.00":  # which is Rprec
            assert trec_name(amble.parse(ours)) == trec
    assert len(NAMES) == len(all_trec()) == 97
