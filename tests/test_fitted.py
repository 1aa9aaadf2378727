"""Fitted users: what they hold, and their file."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drawing import examples
from hypothesis import given
from hypothesis import strategies as st

from amble.errors import AmbleError, ReadError
from amble.users.fit_file import read_fit, write_fit
from amble.users.fitted import KINDS, Estimate, Fitted, FittedModel, Likelihood, Origin

NAN = float("nan")
ORIGIN = Origin(["folder/log é.tsv.gz"], "relpred", 8809, 20_000, 3614, date="2026-11-16")
LIKELIHOOD = Likelihood(100, 250, -120.5, 2, 1.62, 245.0, 250.2)


def one(value: float, n: int = 500, draws: Any = None) -> Estimate:
    return Estimate(value, value * 0.9, min(value * 1.1, 1.0), n, draws=draws)


def all_kinds() -> Fitted:
    by_rank = Estimate([0.7, 0.6, NAN], [0.6, 0.5, NAN], [0.8, 0.7, NAN], [90, 40, -1], draws=[[0.71, 0.59, NAN]] * 3)
    back = Estimate([0.0, 0.2, NAN], [0.0, 0.1, NAN], [0.0, 0.3, NAN], [90, 40, -1])
    by_grade = Estimate([0.7, 0.3], [0.6, 0.2], [0.8, 0.4], [90, 40], grades=(0, 1))
    matrix = Estimate([[0.25, 0.75], [0.5, 0.5]], None, None, [40, -1], concentration=[42.0, 4.0])
    rows = [[0.4, 0.3], [0.2, 0.2]]
    both = Estimate(rows, rows, rows, [[40, 30], [20, 20]], grades=(0, 1), pooled=[[1, 2], [3, 3]], draws=[rows])
    models = [
        FittedModel("walk", "walk", {"p": one(0.6, draws=[0.5, 0.7]), "q": one(0.1, draws=[0.1, 0.2])}, "clicks"),
        FittedModel("walk-rank", "walk", {"p": by_rank, "q": back}, "clicks", first="forward", likelihood=LIKELIHOOD),
        FittedModel("walk-grade", "walk", {"p": by_grade, "q": one(0.2)}, "clicks", note='say "é"\\\n\x7f'),
        FittedModel("rbp", "rbp", {"p": one(0.8)}, "last click"),
        FittedModel("insq", "insq", {"T": Estimate(2.5, 2, 3, 77)}, "last click"),
        FittedModel("inst", "inst", {"T": Estimate(0.5, 0.5, 3, 77)}, "last click"),
        FittedModel("C", "continuation", {"C": by_rank}, "cascade", confidence=0.9),
        FittedModel("markov", "markov", {"P": matrix}, "clicks"),
        FittedModel(
            "chain", "chain", {"+1": one(0.5), "-2": one(0.2), "top": one(0.1), "stop": one(0.2)}, "clicks", first="top"
        ),
        FittedModel("both", "walk", {"p": both, "q": both}, "clicks"),
        FittedModel("insq-adaptive", "insq-adaptive", {"T": Estimate(2.5, 2, 3, 77)}, "last click"),
        FittedModel("insq-printed", "insq-printed", {"T": Estimate(2.5, 2, 3, 77)}, "last click"),
        FittedModel("bpm", "bpm", {"T": Estimate(2.5, 2, 3, 77), "k": Estimate(4, 3, 6, 77), "slip": one(0.2)}, "last"),
        FittedModel("ift-goal", "ift-goal", {name: Estimate(2.5, 2, 3, 77) for name in "TR"}, "last click"),
        FittedModel("ift-rate", "ift-rate", {"A": Estimate(0, 0, 0.1, 77), "R": Estimate(2.5, 2, 3, 77)}, "last click"),
        FittedModel("ift", "ift", {name: Estimate(2.5, 2, 3, 77) for name in ("T", "R1", "A", "R2")}, "last click"),
        FittedModel("msm", "session", dict(zip("pqrs", map(one, (0.5, 0.1, 0.3, 0.1)), strict=True)), "sessions"),
        FittedModel("srbp", "session-rbp", {"p": one(0.8), "b": one(0.5)}, "sessions"),
        FittedModel("times", "times", {"mu": Estimate([0.1, 0.02], [0.05, 0.01], [0.2, 0.03], [50, 60])}, "clicks"),
    ]
    return Fitted(ORIGIN, models, best="walk-rank")


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    fitted, path = all_kinds(), tmp_path / "fit.toml"
    write_fit(path, fitted)
    again = read_fit(path)
    assert again.origin == fitted.origin
    assert again.origin.files == ("log é.tsv.gz",)  # no folder
    assert (again.best, again.smallest, again.path) == ("walk-rank", 10, str(path))
    for a, b in zip(again.models, fitted.models, strict=True):
        assert (a.name, a.kind, a.observation, a.confidence, a.first, a.likelihood, a.note) == (
            b.name, b.kind, b.observation, b.confidence, b.first, b.likelihood, b.note,
        )  # fmt: skip
        assert list(a.estimates) == list(b.estimates)
        for x, y in zip(a.estimates.values(), b.estimates.values(), strict=True):
            assert x.form == y.form
            assert x.grades == y.grades
            for part in ("value", "low", "high", "observations", "draws", "concentration"):
                left, right = getattr(x, part), getattr(y, part)
                assert (left is None) == (right is None)
                if right is not None:
                    np.testing.assert_allclose(left, right, rtol=1e-5)
    assert {model.kind for model in again.models} == set(KINDS)
    write_fit(tmp_path / "again.toml", again)
    assert (tmp_path / "again.toml").read_text() == path.read_text()
    assert sorted(os.listdir(tmp_path)) == ["again.toml", "fit.toml"]


def test_few_moves_are_not_told(tmp_path: Path) -> None:
    path = tmp_path / "fit.toml"
    rbp = FittedModel("rbp", "rbp", {"p": one(0.8)}, "last click")
    write_fit(path, Fitted(Origin(["log"], "table", 300, 900, -1), [rbp], smallest=20))
    assert 'moves = "<20"\n' in path.read_text()
    assert read_fit(path).origin.moves == -1


def walk(**parts: Estimate) -> FittedModel:
    return FittedModel("walk", "walk", {"p": one(0.6), "q": one(0.1), **parts}, "clicks")


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (walk(s=one(0.9)), r"p \+ q \+ s is 1.6, expected 1"),
        (walk(s=Estimate([0.3, 0.3], [0.2, 0.2], [0.4, 0.4], [50, 50])), "expected p, q and s of one shape"),
        (walk(start=Estimate([NAN, 0.0], [NAN, 0.0], [NAN, 0.0], [-1, 50])), "start.value: the sum is 0, expected 1"),
        (
            walk(start=Estimate([0.5, 0.5], [0, 0], [1, 1], [50, 50], draws=[[0.5, 0.5], [0, 0]])),
            "start.draws: a draw sums to 0",
        ),
        (
            FittedModel(
                "m", "markov", {"P": Estimate([[0, 1], [1, 0]], None, None, [50, 50], draws=[[[0, 1], [0, 0]]])}, "x"
            ),
            "P.draws: found a row that does not sum to 1",
        ),
    ],
)
def test_probabilities_go_together(model: FittedModel, message: str) -> None:
    with pytest.raises(AmbleError, match=message):
        Fitted(ORIGIN, [model])
    good = walk(s=one(0.3), start=Estimate([NAN, 0.9], [NAN, 0.8], [NAN, 1.0], [-1, 50]))
    assert Fitted(ORIGIN, [good]).models == (good,)


def test_nothing_half_written(tmp_path: Path) -> None:
    with pytest.raises(AmbleError, match="No such file"):
        write_fit(tmp_path / "none" / "fit.toml", all_kinds())
    folder = tmp_path / "fit.toml"
    folder.mkdir()
    with pytest.raises(AmbleError, match="fit.toml: Is a directory"):
        write_fit(folder, all_kinds())
    assert os.listdir(tmp_path) == ["fit.toml"]


def test_suppressed_cells() -> None:
    e = Estimate([0.5, 0.4, 0.3, 0.2], [0.1] * 4, [0.9] * 4, [3, 90, 9, 10], draws=[[0.5, 0.4, 0.3, 0.2]])
    kept = e.suppress(10)
    np.testing.assert_array_equal(kept.value, [NAN, 0.4, NAN, 0.2])
    np.testing.assert_array_equal(kept.observations, [-1, 90, -1, 10])
    np.testing.assert_array_equal(kept.draws, [[NAN, 0.4, NAN, 0.2]])
    np.testing.assert_array_equal(kept.known, [0.4, 0.4, 0.4, 0.2])  # the rank before, or the first there is
    np.testing.assert_array_equal(kept.draw(0), [0.4, 0.4, 0.4, 0.2])
    np.testing.assert_array_equal(e.value, [0.5, 0.4, 0.3, 0.2])  # the one given is as it was
    with pytest.raises(ValueError, match="read-only"):
        e.value[0] = 1.0
    with pytest.raises(AmbleError, match="observations: found 9, expected those below 10 suppressed"):
        Fitted(ORIGIN, [FittedModel("C", "continuation", {"C": e}, "cascade")])
    with pytest.raises(AmbleError, match="fewer than 10 observations, too few"):
        Fitted(ORIGIN, [FittedModel("rbp", "rbp", {"p": one(0.8, 7).suppress(10)}, "last click")])
    Fitted(ORIGIN, [FittedModel("C", "continuation", {"C": e}, "cascade")], smallest=3)


def test_rows_are_drawn_from_dirichlet_distributions() -> None:
    row = np.array([0.2, 0.3, 0.5])
    e = Estimate([row, row, row], None, None, [47, 47, -1], concentration=[50.0, 50.0, 2.0])
    drawn = np.array([e.draw(b) for b in range(4000)])
    np.testing.assert_allclose(drawn.sum(axis=2), 1.0)
    np.testing.assert_array_equal(e.draw(3), e.draw(3))
    # mean m, variance m (1 - m) / (concentration + 1)
    np.testing.assert_allclose(drawn.mean(axis=0), [row] * 3, atol=0.03)
    np.testing.assert_allclose(drawn[:, 0].var(axis=0), row * (1 - row) / 51, rtol=0.1)
    np.testing.assert_allclose(drawn[:, 2].var(axis=0), row * (1 - row) / 3, rtol=0.1)


def test_pick() -> None:
    fitted = all_kinds()
    assert fitted.pick(["walk"]).name == "walk-rank"  # the best
    assert fitted.pick(["rbp", "insq"]).name == "rbp"  # the first
    assert fitted.pick(["walk"], "walk").name == "walk"
    with pytest.raises(AmbleError, match=r"no model is called 'wlak', expected one of walk \(walk\), walk-rank"):
        fitted.pick(["walk"], "wlak")
    with pytest.raises(AmbleError, match="rbp is of kind rbp, expected one of kind walk or continuation"):
        fitted.pick(["walk", "continuation"], "rbp")
    alone = Fitted(ORIGIN, fitted.models[:1])
    with pytest.raises(AmbleError, match=r"found the models walk \(walk\), expected one of kind markov"):
        alone.pick(["markov"])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('format = "amble fit"', 'format = "fit"', "format: found 'fit', expected 'amble fit'"),
        ("version = 1", "version = 2", "version: found 2, expected 1: another amble wrote it"),
        ("version = 1", "version = true", "version: found True, expected 1"),
        ("version = 1", "version = ", ":2: Invalid value, expected TOML"),
        ("smallest = 10", "smallest = -1", "smallest: found -1, expected a whole number of at least 0"),
        ("smallest = 10", "smallest = 10\nquery = 'x'", "query: not a key of a fit"),
        ("smallest = 10", "smallest = 5", "observations: found '<10', expected whole numbers, or '<5'"),
        ('best = "walk-rank"', 'best = "x"', "best: found 'x', expected one of walk, walk-rank"),
        ("sessions = 8809", "sessions = 1.5", "origin.sessions: found 1.5, expected a whole number"),
        ("sessions = 8809\n", "", "origin.sessions: found None, expected a whole number"),
        ('date = "2026-11-16"', 'date = "today"', "origin.date: found 'today', expected a date"),
        ('files = ["log é.tsv.gz"]', "files = [1]", "origin.files: expected an array of names"),
        ('kind = "rbp"', 'kind = "rpb"', "model 'rbp', kind: found 'rpb', expected one of walk, chain, rbp"),
        ("level = 0.9\n", "level = 90\n", "model 'C', level: found 90, expected a number between 0 and 1"),
        ('first = "forward"', 'first = "back"', "model 'walk-rank', first: found 'back'"),
        ("[model.T]", "[model.t]", "model 'insq': T is missing, expected T"),
        ("value = 0.8\n", "value = 1.2\n", "model 'rbp', p.value: found 1.2, expected a number between 0 and 1"),
        ("value = 0.8\n", "value = nan\n", "model 'rbp', p.value: expected nan where observations are suppressed"),
        ("value = 0.8\n", "value = '0.8'\n", "model 'rbp', p.value: found '0.8', expected numbers"),
        ("value = 0.8\n", "value = [0.8]\n", "model 'rbp', p.value: found numbers of shape (1,), expected one"),
        ("value = 0.8\n", "", "model 'rbp', p.value is missing"),
        ("low = 0.72\n", "", "model 'rbp', p.low is missing"),
        ("low = 0.72\n", "low = 0.99\n", "model 'rbp', p: low is above high"),
        ("value = 2.5", "value = 0", "model 'insq', T.value: found 0, expected a number between 0 and 1e+09"),
        ("value = 2.5", "value = inf", "model 'insq', T.value: found inf, expected a number between 0"),
        ("[0.25, 0.75]", "[0.25, 0.7]", "model 'markov', P.value: row 1 sums to 0.95, expected 1"),
        ("[0.25, 0.75]", "[0.25]", "model 'markov', P.value: found"),
        ("concentration = [42, 4]", "concentration = [42, 0]", "P.concentration: expected a number above 0"),
        ("value = [0.1, 0.02]", "value = [0.1, -0.02]", "mu.value: found -0.02, expected a number above 0"),
        ("draws = '0.5 0.7'", "draws = [0.5, 0.7]", "p.draws: found [0.5, 0.7], expected a string"),
        ("draws = '0.5 0.7'", "draws = '0.5 x'", "p.draws: found '0.5 x', expected numbers with blanks between them"),
        ("draws = '0.5 0.7'", 'draws = "0.5 1_0"', "p.draws: found '0.5 1_0', expected numbers"),
        ("draws = '0.5 0.7'", 'draws = "0.5 1.7"', "p.draws: found 1.7, expected a number between 0 and 1"),
        ("draws = '0.5 0.7'", 'draws = "nan 0.7"', "p.draws: expected nan where the value is suppressed"),
        ("0.71 0.59 nan\n0.71", "0.71 0.59\n0.71", "p.draws: found '0.71 0.59"),
        ("draws = '0.5 0.7'", 'draws = ""', "model 'walk', p.draws: found '', expected numbers"),
        ("value = 0.1\nlow = 0.09\nhigh = 0.11", "value = 0.5\nlow = 0.4\nhigh = 0.6", "p + q is 1.1, expected"),
        ("value = 0.1\n", "value = 0.5\n", "model 'walk', q.value: found 0.5, expected a number from low to high"),
        ("draws = '0.1 0.2'", "draws = '0.1 0.4'", "model 'walk': p + q is 1.1 in draw 2, expected at most 1"),
        ("version = 1\n", "version = 1.0\n", "version: found 1.0, expected 1"),
        ("moves = 3614", 'moves = "<11"', "origin.moves: found '<11', expected a whole number of at least 0"),
        ("grades = [0, 1]", "grades = [1, 0]", "model 'walk-grade', p.grades: expected 2 grades, in rising order"),
        ("grades = [0, 1]", "grades = [[0, 1]]", "model 'walk-grade', p.grades: found [[0, 1]], expected an array"),
        ("observations = 77", "observations = 1.5", "observations: found 1.5, expected whole numbers, or '<10'"),
        ("observations = 77", "observations = 99999999999999999999", "too large"),
        ("aic = 245", "aic = nan", "model 'walk-rank', likelihood.aic: found nan, expected a number"),
        ('name = "rbp"', 'name = "walk"', "expected each once"),
        ('name = "rbp"', 'name = "r b p"', "expected a name of letters, digits"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_one_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = tmp_path / "fit.toml"
    write_fit(path, all_kinds())
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(ReadError) as error:
        read_fit(path)
    assert message in str(error.value)
    assert str(error.value).startswith(str(path))
    assert "\n" not in str(error.value)


def test_other_files(write: Callable[[str, str | bytes], str], tmp_path: Path) -> None:
    for content in ("", "a run file 1 2\n", b"\xff\xfe", "[" * 5000, "x = 1\n"):
        with pytest.raises(ReadError, match="fit.toml"):
            read_fit(write("fit.toml", content))
    with pytest.raises(ReadError, match="no such file"):
        read_fit(tmp_path / "none.toml")
    with pytest.raises(ReadError, match="a directory"):
        read_fit(tmp_path)


DEEP, DIGITS = 5000, "1" * 5000


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (".".join("a" * DEEP) + " = 1", ":1: found a key of 5,000 parts, expected at most 10"),
        ("\n" + (" \t. ".join("a" * DEEP) + " = 1\n") * 50, ":2: found a key of 5,000 parts"),  # minutes
        ("[" + ".".join(["'.'", '"."'] * DEEP) + "]", ":1: found a key of 10,000 parts"),
        ("a = " + "[" * DEEP, ":1: found brackets in brackets, 11 deep"),
        ("a = " + "{a=" * DEEP, ":1: found brackets in brackets, 11 deep"),
        (f"a = 1\nversion = {DIGITS}", ":2: found a number or a name of 5,000 characters"),
        (f"version = 0x{DIGITS}", ":1: found a number or a name of 5,002 characters"),
        (f"version = {'1_' * DEEP}1", ":1: found a number or a name of 10,001 characters"),
        (f"level = 0.{DIGITS}", ":1: found a number or a name of 5,000 characters"),
        (f"level = 1e-{DIGITS}", ":1: found a number or a name of 5,003 characters"),
        ("\n".join(f"k{i} = 1" for i in range(300_000)), ": 3,488,889 characters outside of strings"),
        # what stands in strings and comments is no matter; the first thing that is wrong is another
        (f"# {'[' * DEEP}{DIGITS}\nformat = '{'a.' * DEEP}'", ": format: found 'a.a."),
        (f'format = """\n""{"[" * DEEP}\\"""{DIGITS}"""""', ": format: found '"),
        (f"format = '''\n''{'[' * DEEP}\\''''", ": format: found "),
        (f'format = "{"[" * DEEP}\\"{DIGITS}"', ": format: found '"),
        ("a.b.c.d = [[{e.f = [1.5]}]]", ": format: found None"),
    ],
)
def test_files_that_would_take_long(
    write: Callable[[str, str | bytes], str], monkeypatch: Any, content: str, message: str
) -> None:
    path, parsed, loads = write("fit.toml", content), [], tomllib.loads
    monkeypatch.setattr(tomllib, "loads", lambda text: parsed.append(text) or loads(text))
    with pytest.raises(ReadError) as error:
        read_fit(path)
    assert str(error.value).startswith(path + message)
    assert "\n" not in str(error.value)
    assert bool(parsed) == message.startswith(": format")  # what would take minutes never gets to the parser


@examples(40)
@given(
    value=st.floats(0, 1),
    n=st.integers(10, 10**12),
    note=st.text(max_size=30),
    file=st.text(st.characters(exclude_characters="/\0"), min_size=1, max_size=20),
)
def test_any_text_and_number(
    tmp_path_factory: pytest.TempPathFactory, value: float, n: int, note: str, file: str
) -> None:
    path = tmp_path_factory.mktemp("fit") / "fit.toml"
    model = FittedModel("rbp", "rbp", {"p": Estimate(value, 0, 1, n)}, "last click", note=note)
    write_fit(path, Fitted(Origin([file], "table", 1, 1, 1), [model]))
    again = read_fit(path)
    assert again.models[0].note == note.encode("utf-8", "replace").decode()
    assert again.models[0].estimates["p"].observations == n
    assert again.models[0].estimates["p"].value == pytest.approx(value, rel=1e-9)
