"""Worse versions of runs: what is done to lists, exactly and by seed; which measures notice; `amble meta degrade`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from drawing import examples
from hypothesis import given
from hypothesis import strategies as st

import amble
from amble.cli.main import main
from amble.errors import AmbleError
from amble.metaevaluation import degradation, degrade
from amble.metaevaluation.degraded_runs import Degradation

Write = Callable[[str, str | bytes], str]

GOOD = [f"g{i:02d}" for i in range(12)]
BAD = [f"b{i:02d}" for i in range(8)]
QRELS = {"1": dict.fromkeys(GOOD, 1) | dict.fromkeys(BAD, 0)}
LIST = [*GOOD[:10], "u1", "b00", "u2", "g10"]  # b00 is below the first ten


def worse(level: float, how: str = "dilute", seed: int = 0, **more: float) -> list[str]:
    return degrade(QRELS, {"r": {"1": LIST}}, how=how, level=level, seed=seed, **more)["r"]["1"]  # type: ignore[arg-type]


@examples(100)
@given(st.floats(0, 1), st.integers(0, 50), st.integers(1, 14))
def test_dilution(level: float, seed: int, places: int) -> None:
    found = worse(level, seed=seed, places=places)
    count = int(np.floor(level * places + 0.5 + 1e-9))
    inserted = [doc for doc in found[:places] if doc not in LIST[:places]]
    assert len(inserted) == count
    assert all(QRELS["1"].get(doc, 0) == 0 for doc in inserted)
    assert len(set(found)) == len(found)
    kept = [doc for doc in found if doc not in inserted]
    assert kept == [doc for doc in LIST if doc not in inserted]  # in their order
    assert set(LIST) <= set(found)
    assert (found == LIST) == (count == 0)


def test_dilution_by_hand() -> None:
    # three of ten places: P@10 is .7, whatever the places, and all that was found is still found
    runs = {f"{level}": {"1": worse(level, seed=5)} for level in (0.0, 0.3, 1.0)}
    scores = amble.evaluate(QRELS, runs, "P@10 R")
    assert scores.values[:, 0, 0] == pytest.approx([1.0, 0.7, 0.0])
    assert scores.values[:, 0, 1] == pytest.approx([11 / 12] * 3)
    # eight judged ones are not enough for ten places: two are made up
    top = worse(1.0)[:10]
    assert sorted(top) == [*BAD, "dilution-1", "dilution-2"]


@pytest.mark.parametrize("how", ["dilute", "lose"])
def test_a_larger_level_does_more_of_the_same(how: str) -> None:
    for seed in range(10):
        before: set[int] = set()
        for level in (0.0, 0.1, 0.3, 0.5, 0.9, 1.0):
            found = worse(level, how, seed)
            places = {i for i in range(10) if found[i].startswith(("b", "d"))}
            assert before <= places
            before = places
        assert len(before) == 10


@examples(60)
@given(st.floats(0, 1), st.integers(0, 50))
def test_lost_documents(level: float, seed: int) -> None:
    found = worse(level, "lose", seed)
    changed = [i for i, (a, b) in enumerate(zip(found, LIST, strict=True)) if a != b]
    assert len(changed) == int(np.floor(level * 10 + 0.5 + 1e-9))
    assert all(i < 10 and QRELS["1"].get(found[i], 0) == 0 and found[i] not in LIST for i in changed)


@examples(60)
@given(st.floats(0, 1), st.integers(0, 50))
def test_shuffled_places(level: float, seed: int) -> None:
    found = worse(level, "shuffle", seed)
    assert sorted(found[:10]) == sorted(LIST[:10])
    assert found[10:] == LIST[10:]
    assert sum(a != b for a, b in zip(found, LIST, strict=True)) <= int(np.floor(level * 10 + 0.5 + 1e-9))


def test_shuffled_places_are_in_random_order() -> None:
    # a random permutation leaves one place in the mean, of any number, as it was, with a variance of 1: 9 of 10 move
    moved = [sum(a != b for a, b in zip(worse(1.0, "shuffle", seed), LIST, strict=True)) for seed in range(50)]
    assert np.mean(moved) == pytest.approx(9, abs=4 / 50**0.5)


def test_shares_of_topics_and_seeds() -> None:
    qrels = {str(t): QRELS["1"] for t in range(10)}
    runs = {name: dict.fromkeys(qrels, LIST) for name in ("x", "y")}
    half = degrade(qrels, runs, pages=0.5, level=1.0, seed=3)
    touched = {name: {t for t, docs in of.items() if docs != LIST} for name, of in half.items()}
    assert len(touched["x"]) == 5
    assert touched["x"] == touched["y"]  # the same topics of all runs
    assert half == degrade(qrels, runs, pages=0.5, level=1.0, seed=3)
    assert half != degrade(qrels, runs, pages=0.5, level=1.0, seed=4)
    backwards = dict(reversed(qrels.items())), {name: dict(reversed(of.items())) for name, of in runs.items()}
    assert half == degrade(*backwards, pages=0.5, level=1.0, seed=3)  # whatever the order
    alone = degrade(qrels, {"x": runs["x"]}, pages=0.5, level=1.0, seed=3)
    assert alone["x"] == half["x"]  # whatever other runs there are
    assert half["x"]["0"] != half["y"]["0"] or half["x"]["0"] == LIST
    assert degrade(qrels, runs, level=0.0)["x"] == runs["x"]
    # topics without judgments are diluted with made-up documents
    assert degrade(QRELS, {"r": {"9": ["a", "b"]}}, level=1.0)["r"]["9"] == [
        "dilution-1",
        "dilution-2",
        "a",
        "b",
    ] or set(degrade(QRELS, {"r": {"9": ["a", "b"]}}, level=1.0)["r"]["9"][:2]) == {"dilution-1", "dilution-2"}


def test_the_curve_by_hand() -> None:
    qrels = {str(t): QRELS["1"] for t in range(6)}
    runs = {"r": dict.fromkeys(qrels, LIST), "none": {topic: ["b07"] for topic in qrels}}
    found = degradation(qrels, runs, "P@10 R NumRet", levels=[0.2, 0.05], rounds=3, how="dilute")
    # P@10 of r falls to .8 on all topics (p = 0), of none it is 0 and cannot; .05 of ten places is one, by rounding
    assert found.means[0, :, 0].tolist() == [pytest.approx([0.8, 0.0])] * 3
    assert found.p[0, :, 0].tolist() == [[0.0, 1.0]] * 3
    assert found.fell[:, 0].tolist() == [0.5, 0.5]
    assert found.noticed()[:, 1].tolist() == [0.0, 0.0]  # recall never falls
    rows = {(row[0], row[1]): row[2:] for row in found.curve()}
    assert rows[0.0, "P@10"][0] == pytest.approx(0.5)
    assert rows[0.2, "P@10"][:4] == pytest.approx((0.4, 0.4, 0.4, -0.2))
    table = found.table(power=0.5)
    for one in (table, found.curve()):
        assert "two-sided paired t-test, alpha 0.05" in one.caption
    assert table.columns == ("measure", "mean", "at 0.2", "change", "falls from", "significant from")
    assert table.rows[0][4:] == (0.05, 0.05)
    assert table.rows[1][4:] == (None, None)
    assert found.table(power=0.6).rows[0][4] is None
    assert "2 runs, 3 rounds" in found.caption


def test_tests_are_those_of_compare() -> None:
    rng = np.random.default_rng(2)
    qrels = {str(t): {f"d{i}": int(rng.random() < 0.4) for i in range(30)} for t in range(12)}
    runs = {"r": {t: rng.permutation([f"d{i}" for i in range(30)])[:20].tolist() for t in qrels}}
    found = degradation(qrels, runs, "AP", levels=[0.3], rounds=1, how="lose", seed=7)
    again = degrade(qrels, runs, level=0.3, how="lose", seed=[7, 0])
    both = amble.compare(qrels, {"r": runs["r"], "worse": again["r"]}, measure="AP", correction="none")
    assert found.p[0, 0, 0, 0] == pytest.approx(both.p[0])
    assert found.full[0, 0] - found.means[0, 0, 0, 0] == pytest.approx(both.difference[0])
    twice = degradation(qrels, runs, "AP", levels=[0.3], rounds=2, threads=2, seed=7)
    assert twice.means.tolist() == (
        degradation(qrels, runs, "AP", levels=[0.3], rounds=2, threads=1, seed=7).means.tolist()
    )
    assert twice.curve(confidence=0.5).rows[1][3:5] == pytest.approx(np.quantile(twice.means[0, :, 0, 0], [0.25, 0.75]))


def test_from_where_on_a_measure_falls() -> None:
    # it falls from 1 to .5 at the levels .1 and .3, but not at .2: at all levels, only from .3 on
    scores = amble.evaluate({"1": {"a": 1}}, {"x": {"1": ["a"]}}, "RR")
    means = np.array([0.5, 1, 0.5]).reshape(3, 1, 1, 1)
    found = Degradation(scores, ("RR",), "dilute", (0.1, 0.2, 0.3), 1.0, means, np.zeros_like(means), np.ones(1))
    assert found.table().rows[0][4:] == (0.3, 0.3)


def test_less_is_better() -> None:
    qrels = {str(t): QRELS["1"] for t in range(4)}
    found = degradation(qrels, {"r": dict.fromkeys(qrels, LIST)}, "ESL", levels=[1.0], rounds=1)
    # relevant documents start at rank 11 instead of 1: ten more are looked at for the first
    assert found.means[0, 0, 0, 0] > found.full[0, 0]
    assert found.fell.tolist() == [[1.0]]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"how": "x"}, "how='x'"),
        ({"levels": []}, "expected some, each once"),
        ({"levels": [0.0]}, "level=0"),
        ({"levels": [2.0]}, "level=2"),
        ({"pages": 2}, "pages=2"),
        ({"places": 0}, "places=0"),
        ({"rounds": 0}, "rounds=0"),
        ({"seed": -1}, "seed=-1"),
        ({"ties": "expected"}, "ties='expected'"),
    ],
)
def test_what_is_refused(wrong: dict[str, object], said: str) -> None:
    with pytest.raises(AmbleError, match=said):
        degradation(QRELS, {"r": {"1": LIST}}, "AP", **wrong)  # type: ignore[arg-type]


def test_the_command(write: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    qrels = write("qrels", "".join(f"{t} 0 {d} {g}\n" for t in (1, 2) for d, g in QRELS["1"].items()))
    run = write("r.run", "".join(f"{t} Q0 {d} {i} {20 - i} mine\n" for t in (1, 2) for i, d in enumerate(LIST)))
    words = ["meta", "degrade", qrels, run, "-m", "P@10", "AP", "--levels", "0.3,0.5", "--rounds", "1", "--quiet"]
    folder = tmp_path / "worse"
    assert main([*words, "--curve", "--format", "json", "--save-runs", str(folder), "--how", "lose"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["analysis"], found["options"]["how"], len(found["audit"])) == ("degrade", "lose", 1)
    rows = {(row["level"], row["measure"]): row["mean"] for row in found["rows"]}
    assert (rows[0.0, "P@10"], rows[0.3, "P@10"], rows[0.5, "P@10"]) == pytest.approx((1, 0.7, 0.5))
    for level in (0.3, 0.5):  # the runs that were written score what the table says
        path = folder / f"mine.lose-{level}.run"
        scores = amble.evaluate(qrels, [str(path)], "P@10 AP")
        assert scores.means()[0] == pytest.approx([rows[level, "P@10"], rows[level, "AP"]])
    assert main(words) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("dilute: non-relevant documents inserted; 1 run, 1 round; from: in 80 %")
    assert lines[2].split()[0:3] == ["P@10", "1.0000", "0.5000"]
    for more, text in (
        (["--float32"], "--float32 goes without degrade"),
        (["--levels", "0.5,x"], "--levels: found 'x'"),
        (["--pages", "2"], "pages=2"),
        (["--statistic", "tau"], "--statistic goes with"),
        (["--save-runs", qrels], "--save-runs"),
    ):
        assert main([*words, *more]) == 2, more
        assert text in capsys.readouterr().err
