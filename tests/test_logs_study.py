"""Studies: fixations and durations, words for actions, persons, groups and targets, and when people go on."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import threading
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import amble
from amble.errors import AmbleError, ReadError
from amble.logs import fit, fit_groups, read_actions, read_log, study_continuation, write_query_rates
from amble.logs.counts import Counts
from amble.logs.query_rates import QueryRates
from amble.logs.study import Records, Study

duckdb = pytest.importorskip("duckdb", reason="logs need the extra")
pytest.importorskip("statsmodels", reason="the hazard model needs the extra")

Cli = Callable[..., "subprocess.CompletedProcess[str]"]
Write = Callable[[str, str | bytes], str]

RELPRED = "1\t0\tQ\tq\t0\ta\tb\tc\n1\t2\tC\tc\n1\t9\tC\ta\n2\t0\tQ\tp\t0\ta\tb\tc\n2\t3\tC\tb\n"


# ---- standard input


@pytest.mark.parametrize("kind", ["relpred", "relpred.gz", "csv", "jsonl", "parquet"])
def test_standard_input(kind: str, tmp_path: Path, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [("1", 3), ("1", 1), ("2", 2)]
    lines = "".join(json.dumps({"session": s, "rank": r}) + "\n" for s, r in rows)
    spare, path = tmp_path / "spare", str(tmp_path / "log")
    spare.mkdir()
    if kind == "parquet":
        source = write("log.csv", "session,rank\n1,3\n1,1\n2,2\n")
        duckdb.sql(f"copy (select * from read_csv('{source}', all_varchar=true)) to '{path}' (format parquet)")
    else:
        made: dict[str, str | bytes] = {
            "relpred": RELPRED,
            "relpred.gz": gzip.compress(RELPRED.encode()),
            "csv": "session,rank\n" + "".join(f"{s},{r}\n" for s, r in rows),
            "jsonl": lines,
        }
        write("log", made[kind])
    with open(path) as file:
        monkeypatch.setattr(sys, "stdin", file)
        facts = read_log("-", "relpred" if "relpred" in kind else "table", folder=str(spare)).facts
    assert (facts.sessions, facts.clicks, facts.moves, facts.backward, facts.backward_sessions) == (2, 3, 1, 1, 1)
    assert list(spare.iterdir()) == []


def test_what_is_wrong_with_standard_input(tmp_path: Path, amble_cli: Cli) -> None:
    (tmp_path / "spare").mkdir()
    for data, words, message in (
        (b"1\t0\tQ\tq\t0\ta\tb\n1\tx\tC\tb\n", [], "-:2: the time is not a number"),
        (b"", [], "-: empty, expected records"),
        (b"session,rank\n1,0\n", ["--layout", "table"], "-:2: the rank is not a whole number from 1 on"),
        (b"a,b\n1,0\n", ["--layout", "table"], "-: no column for the session, found a, b"),
        (gzip.compress(RELPRED.encode())[:-3], [], "-: broken gzip data"),
    ):
        done = amble_cli("fit", "-", "--temporary", str(tmp_path / "spare"), *words, stdin=data)
        assert done.returncode == 2
        assert done.stderr.startswith(f"amble: {message}"), done.stderr
        assert done.stderr.count("\n") == 1
    assert list((tmp_path / "spare").iterdir()) == []
    with pytest.raises(ReadError, match="-: given twice"):
        read_log(["-", "-"])


def test_a_pipe_is_read_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_text(RELPRED), daemon=True)
    writer.start()
    assert read_log(pipe).facts.clicks == 3
    writer.join(timeout=10)


# ---- kinds of events


# fixations on ranks 1, 1, 2, 1; a click on rank 2 while looking at it
GAZE = """session,rank,time,duration,action
a,1,0,0.2,fixation
a,1,0.3,0.3,fixation
a,2,0.7,0.4,fixation
a,2,1.2,,click
a,1,2,0.1,fixation
b,3,0,0.25,fixation
"""


def test_fixations_in_a_row_are_one_visit(write: Write) -> None:
    path = write("gaze.csv", GAZE)
    for visits in ("gaze", "both"):
        counts = read_log(path, "table", visits=visits)
        facts, whole = counts.facts, counts.whole()
        assert (facts.clicks, facts.moves, facts.backward, facts.repeated) == (4, 2, 1, 0)
        assert (facts.fixations, facts.dwell) == (5, True)
        # rank 1: 0.2 + 0.3 and 0.1, rank 2: 0.4, rank 3: 0.25; the last visits, too, as their durations are known
        assert whole.dwell[0].tolist() == [[2, pytest.approx(0.6)], [1, pytest.approx(0.4)], [1, 0.25]]
        assert facts.quartiles[1] == pytest.approx((0.25 + 0.4) / 2)
    model = fit(counts, "times", smallest=0).fitted.models[0]
    assert model.estimates["mu"].value[0] == pytest.approx(1 / 0.6)
    assert model.observation == "durations of visits"
    # the click is a visit of which no duration is known
    clicks = read_log(path, "table")
    assert (clicks.facts.clicks, clicks.facts.moves) == (1, 0)
    assert not clicks.dwell.any()


def test_fixations_without_durations(write: Write) -> None:
    lines = [",".join(x for i, x in enumerate(line.split(",")) if i != 3) for line in GAZE.splitlines()]
    whole = read_log(write("gaze.csv", "\n".join(lines)), "table", visits="gaze").whole()
    # from the first look at a rank to the first at another: 0 to 0.7, 0.7 to 2
    assert whole.dwell[0].tolist() == [[1, pytest.approx(0.7)], [1, pytest.approx(1.3)], [0, 0]]


def test_rows_without_actions_are_what_visits_are(write: Write) -> None:
    path = write("log.csv", "session,rank,time\n1,1,0\n1,1,1\n1,2,2\n")
    assert read_log(path, "table").facts.repeated == 1
    facts = read_log(path, "table", visits="gaze").facts
    assert (facts.clicks, facts.repeated, facts.fixations) == (2, 0, 3)
    mixed = "session,rank,action\n1,1,click\n1,1,click\n1,1,gaze\n1,2,click\n1,2,click\n"
    # two clicks in a row are two visits; a fixation goes with the click before it
    facts = read_log(write("mixed.csv", mixed), "table", visits="both").facts
    assert (facts.clicks, facts.repeated) == (4, 2)


@pytest.mark.parametrize("duration", ["-1", "soon", "nan"])
def test_durations_that_are_none(duration: str, write: Write) -> None:
    path = write("gaze.csv", f"session,rank,duration\n1,1,\n1,2,{duration}\n")
    with pytest.raises(ReadError, match=r"gaze.csv:3: the duration is not a number of at least 0"):
        read_log(path, "table")


def test_words_for_actions(write: Write, amble_cli: Cli) -> None:
    path = write("log.csv", "session,rank,action\n1,1,tap\n1,2,tap\n1,2,fixation\n1,,scroll\n2,1,tap\n")
    said = "actions: found tap (3: unknown), fixation (1: gaze), scroll (1: unknown); say what they are, as click=tap"
    done = amble_cli("fit", path, "--layout", "table")
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    done = amble_cli("fit", path, "--layout", "table", "--actions", "help", "--format", "tsv")
    rows = [line.split("\t") for line in done.stdout.splitlines()[1:]]
    assert rows == [["tap", "3", "unknown"], ["fixation", "1", "gaze"], ["scroll", "1", "unknown"]]
    counts = read_log(path, "table", actions={"click": ["tap"], "ignore": ["scroll"]})
    assert (counts.facts.clicks, counts.facts.pages) == (3, 2)
    with pytest.raises(ReadError, match="no click on a result, but 1 fixations, which may count as visits"):
        read_log(write("gaze.csv", "session,rank,action\n1,1,gaze\n"), "table")
    # what may be queries is not shown
    path = write("odd.csv", "session,rank,what\n1,1,my illness\n")
    for call in (
        lambda: read_log(path, "table", columns={"action": "what"}),
        lambda: read_actions(path, columns={"action": "what"}),
    ):
        with pytest.raises(ReadError, match="is it the column of actions") as error:
            call()
        assert "illness" not in str(error.value)
    with pytest.raises(ReadError, match="no column for the action"):
        read_actions(write("none.csv", "session,rank\n1,1\n"))


# ---- persons, groups, targets


def test_persons(write: Write) -> None:
    rows = [(p, s, r) for p in range(30) for s in (1, 2) for r in range(1, 2 + (p + s) % 3)]
    path = write("log.csv", "person,session,rank\n" + "".join(f"{p},{s},{r}\n" for p, s, r in rows))
    counts = read_log(path, "table", depth=4)
    assert (counts.facts.persons, counts.facts.sessions) == (30, 60)  # session 1 of two persons are two sessions
    # a person's sessions are resampled together: pages come in twos
    assert (counts.pages % 2 == 0).all()
    assert 25 <= counts.present.size <= 30
    with pytest.raises(ReadError, match=r"log.csv:2: no person"):
        read_log(write("log.csv", "person,session,rank\n,1,1\n"), "table")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("1,,3,1", "1 pages with no value of task"),
        ("1,A,3,1\n1,B,3,2", "1 pages with several values of task"),
        ("1,A,3,1\n1,A,4,2", "1 pages with several values of T"),
        ("1,A,many,1", "1 pages with a value of T that is not a number"),
        ("\n".join(f"{i},t{i},3,1" for i in range(51)), "51 values of task, expected at most 50 groups"),
    ],
)
def test_groups_and_targets_that_are_none(rows: str, message: str, write: Write) -> None:
    path = write("log.csv", f"session,task,T,rank\n{rows}\n")
    with pytest.raises(ReadError, match=f"log.csv: {message}"):
        read_log(path, "table", by="task", target="T")


def test_what_a_study_needs(write: Write) -> None:
    path = write("log.csv", "session,task,T,rank\n1,A,3,1\n2,A,3,2\n")
    with pytest.raises(ReadError, match="no column 'what', found session, task"):
        read_log(path, "table", by="what")
    with pytest.raises(AmbleError, match="groups, targets, fixations and units of time are those of a table"):
        read_log(write("log.tsv", RELPRED), target="T")
    counts = read_log(path, "table")
    with pytest.raises(AmbleError, match="study=True"):
        study_continuation(counts)
    with pytest.raises(AmbleError, match="by='task'"):
        fit_groups(counts)
    with pytest.raises(AmbleError, match="observation='sdbn'"):
        study_continuation(read_log(path, "table", study=True), observation="sdbn")
    with pytest.raises(AmbleError, match="the T is the same everywhere, 3: nothing can depend on it"):
        study_continuation(read_log(path, "table", target="T", depth=3)).hazard()


# ---- continuation studied


def study_log(
    pages: int = 120, seed: int = 5, tasks: int = 2
) -> tuple[str, list[tuple[str, str, float, list[int], int]]]:
    """A log, and its pages: person, task, T, grades of six documents, last rank read."""
    rng = np.random.default_rng(seed)
    lines, made = ["person\tsession\ttask\tT\trank\taction\tgrade"], []
    for i in range(pages):
        target = (1.0, 2.5)[i % 2]
        grades = rng.integers(0, 3, 6).tolist()
        last = next((k for k in range(1, 6) if rng.random() > 0.6 + 0.1 * target - 0.08 * sum(grades[:k])), 6)
        person, task = f"p{i % 30}", f"task {i % tasks}"
        made.append((person, task, target, grades, last))
        head = f"{person}\t{i}\t{task}\t{target:g}\t"
        lines += [f"{head}{k}\tshow\t{g}" for k, g in enumerate(grades, 1)]
        lines += [f"{head}{k}\tclick\t" for k in {1, last}]
    return "\n".join(lines) + "\n", made


def observations(pages: list[tuple[str, str, float, list[int], int]]) -> list[tuple[str, float, int, float, int]]:
    """Person, T, rank, gain so far and whether she went on, of every rank but the last that was reached."""
    return [
        (who, target, k, sum(grades[:k]) / 2, int(k < last))
        for who, _, target, grades, last in pages
        for k in range(1, min(last, 5) + 1)
    ]


def test_cells_are_those_of_a_plain_count(write: Write) -> None:
    log, pages = study_log()
    study = study_continuation(read_log(write("study.tsv", log), "table", by="task", target="T"))
    plain: dict[tuple[float, int, float], list[int]] = defaultdict(list)
    for _, target, k, gain, went in observations(pages):
        plain[target, k, gain].append(went)
    table = study.cells()
    assert table.columns == ("T", "rank", "gain", "reached", "went on", "C", "low", "high")
    assert len(table) == len(plain)
    for target, rank, gain, reached, went, c, low, high in table:
        own = plain[target, rank, gain]
        assert (reached, went) == (len(own), sum(own))
        assert c == pytest.approx(np.mean(own))
        inside = stats.binomtest(sum(own), len(own)).proportion_ci(method="wilson")
        assert (low, high) == pytest.approx((inside.low, inside.high), abs=1e-9)
    # each task has one T: by task the same cells
    grouped = study_continuation(read_log(write("study.tsv", log), "table", by="task", study=True)).cells()
    assert grouped.columns[:3] == ("task", "rank", "gain")
    assert [row[1:] for row in grouped] == [row[1:] for row in table]


def test_the_hazard_model_by_hand(write: Write) -> None:
    """Newton's method and the sandwich, from one row for each observation."""
    log, pages = study_log(70)
    study = study_continuation(read_log(write("study.tsv", log), "table", target="T"))
    rows = observations(pages)
    y = np.array([row[4] for row in rows], float)
    # rank 5 has too few who stopped there: it goes with rank 4
    assert [min(sum(row[2] == k and row[4] == e for row in rows) for e in (0, 1)) >= 5 for k in range(1, 6)] == [
        True, True, True, True, False,
    ]  # fmt: skip
    terms = [[row[2] == k for row in rows] for k in (1, 2, 3)] + [[row[2] >= 4 for row in rows]]
    x = np.array([*terms, [row[3] for row in rows], [row[1] for row in rows]], float).T
    b = np.zeros(6)
    for _ in range(30):
        p = 1 / (1 + np.exp(-x @ b))
        information = (x * (p * (1 - p))[:, None]).T @ x
        b += np.linalg.solve(information, x.T @ (y - p))
    people = sorted({row[0] for row in rows})
    scores = np.array([(x * (y - p)[:, None])[[row[0] == who for row in rows]].sum(axis=0) for who in people])
    g, n, k = len(people), len(y), 6
    bread = np.linalg.inv(information)
    table = study.hazard()
    assert [row[0] for row in table] == ["rank 1", "rank 2", "rank 3", "rank 4-5", "gain", "T"]
    assert table["coefficient"] == pytest.approx(b, rel=1e-5)
    assert len(study.records.rank) < n  # records of one person, rank, gain and T are one row
    meat = bread @ (scores.T @ scores) @ bread * g / (g - 1) * (n - 1) / (n - k)
    assert table["se"] == pytest.approx(np.sqrt(np.diag(meat)), rel=1e-5)
    t = b / np.sqrt(np.diag(meat))
    assert table["p"][4:] == pytest.approx([stats.t.cdf(t[4], g - 1), stats.t.sf(t[5], g - 1)], rel=1e-4)
    assert table["test"][4:] == ["t(29), C falls with gain", "t(29), C rises with T"]
    assert table.facts["clusters"] == "30 persons"
    assert "logit of going on ~ rank" in table.facts["model"]


def test_groups_in_the_hazard_model(write: Write) -> None:
    log, _ = study_log()
    path = write("study.tsv", log)
    # without a target groups are in the model; two of them: F is the square of t
    alone = study_continuation(read_log(path, "table", by="task", study=True)).hazard()
    assert alone["term"][-2:] == ["task task 1", "task"]
    assert alone["statistic"][-1] == pytest.approx(alone["statistic"][-2] ** 2)
    # T is the same all over a task, and has the place of the groups
    both = study_continuation(read_log(path, "table", by="task", target="T")).hazard()
    assert both["term"][-3:] == ["gain", "T", "task"]
    assert both["test"][-1] == "F(1, 29), any difference between groups, in place of T"
    assert both["statistic"][-1] == pytest.approx(alone["statistic"][-1])


def test_three_groups_by_hand(write: Write) -> None:
    log, _ = study_log(tasks=3)
    counts = read_log(write("study.tsv", log), "table", by="task", study=True)
    study = study_continuation(counts)
    table = study.hazard()
    # 30 persons: t(29) has 2.05 where the normal distribution has 1.96
    for row in table.rows[:-1]:
        assert row[4] - row[3] == pytest.approx(2 * stats.t.ppf(0.975, 29) * row[2])
    model = study._groups
    assert [name for name, _ in model.terms[-2:]] == ["task task 1", "task task 2"]
    b, (v1, c), (_, v2) = model.coefficients[-2:], *model.covariance[-2:, -2:]
    # Wald's statistic with the inverse of two by two, divided by its two degrees of freedom
    f = (v2 * b[0] ** 2 - 2 * c * b[0] * b[1] + v1 * b[1] ** 2) / (v1 * v2 - c**2) / 2
    assert table.rows[-1][5:] == (
        pytest.approx(f), pytest.approx(stats.f.sf(f, 2, 29)), "F(2, 29), any difference between groups",
    )  # fmt: skip
    # Hotelling's T² of two differences d, in n resampled persons: F = T² (n - 2) / (2 (n - 1))
    found = fit_groups(counts, ["rbp"], rounds=200)
    one, *others = (group.fitted.pick(["rbp"]).estimates["p"] for group in found.groups.values())
    d = np.array([other.value - one.value for other in others])
    spread = np.cov([other.draws - one.draws for other in others])
    n = counts.present.size
    f = d @ np.linalg.inv(spread) @ d * (n - 2) / (2 * (n - 1))
    assert found.equality().rows[0][:5] == (
        "rbp", 2, pytest.approx(f), n - 2, pytest.approx(stats.f.sf(f, 2, n - 2)),
    )  # fmt: skip


def test_cells_of_few_are_hidden(write: Write) -> None:
    log, pages = study_log()
    counts = read_log(write("study.tsv", log), "table", target="T")
    people: dict[tuple[float, int, float, int], set[str]] = defaultdict(set)
    for who, target, k, gain, went in observations(pages):
        people[target, k, gain, went].add(who)
    hidden = 0
    for target, rank, gain, reached, *more in study_continuation(counts, smallest=5).cells():
        few = any(0 < len(people[target, rank, gain, went]) < 5 for went in (0, 1))
        hidden += few
        assert (reached == "suppressed") == few
        assert (more == [None] * 4) == few
    assert hidden > 0
    assert not [row for row in study_continuation(counts).cells() if row[3] == "suppressed"]  # a study is small


def test_many_gains_are_shown_by_their_whole_parts(write: Write) -> None:
    rows = [f"{i},{k},show,{(i * 7 + k) % 13}" for i in range(40) for k in (1, 2, 3)]
    rows += [f"{i},{1 + i % 3},click," for i in range(40)]
    table = study_continuation(
        read_log(write("s.csv", "session,rank,action,grade\n" + "\n".join(rows)), "table", study=True)
    ).cells()
    assert set(table["gain"]) == {"0-1", "1-2"}
    assert sum(table["reached"]) == 40 + 26  # 14, 13 and 13 stop at ranks 1, 2 and 3


def simulated(rng: np.random.Generator, effects: tuple[float, float], spread: float = 0.0) -> Records:
    """The records of 200 pages of 40 persons, as `benchmarks/study.py` has them, without a file."""
    persons = np.repeat(np.arange(40), 5)
    target = np.tile([1.0, 3.0, 5.0], 67)[:200]
    gain = np.cumsum(rng.random((200, 9)) < 1 / 3, axis=1).astype(float)
    rank = np.broadcast_to(np.arange(1, 10), (200, 9))
    own = rng.normal(0, spread, 40)[persons] if spread else np.zeros(200)
    logit = 0.9 + 0.05 * rank + effects[0] * target[:, None] + effects[1] * gain + own[:, None]
    went = rng.random((200, 9)) < 1 / (1 + np.exp(-logit))
    reached = np.concatenate([np.ones((200, 1), bool), np.cumprod(went[:, :-1], axis=1) > 0], axis=1)
    at = reached.reshape(-1)
    flat = [np.broadcast_to(x, (200, 9)).reshape(-1)[at] for x in (persons[:, None], rank, gain, target[:, None], went)]
    ones, label = np.ones(at.sum()), np.zeros(at.sum(), np.int64)
    return Records(
        flat[0], flat[1], label, flat[2], flat[3], ones, flat[4].astype(float), ("",), "", "T", "persons", True
    )


def test_intervals_cover_and_the_test_has_its_level() -> None:
    covered, cells = 0, 0
    for seed in range(30):
        study = Study(simulated(np.random.default_rng((1, seed)), (0.25, -0.6)), "last", 0.95, 0)
        for target, rank, gain, _, _, _, low, high in study.cells():
            known = 1 / (1 + np.exp(-(0.9 + 0.05 * rank + 0.25 * target - 0.6 * gain)))
            covered += low <= known <= high
            cells += 1
    assert covered / cells >= 0.945  # small cells have wide intervals, so that somewhat more than 0.95 are expected
    assert covered / cells <= 0.985
    found = defaultdict(int)
    for seed in range(80):
        study = Study(simulated(np.random.default_rng((2, seed)), (0.0, 0.0), spread=0.7), "last", 0.95, 0).hazard()
        for name, p in zip(study["term"], study["p"], strict=True):
            found[name] += p is not None and p <= 0.05
    assert 0 < found["gain"] <= 11  # of a binomial of 80 and 0.05, 99.9 % lie from 0 to 11, and 98 % above 0
    assert 0 < found["T"] <= 11
    strong = Study(simulated(np.random.default_rng(3), (0.25, -0.6)), "last", 0.95, 0).hazard()
    assert max(strong["p"][-2:]) < 0.001


# ---- groups


def test_groups_are_fitted_apart(write: Write, tmp_path: Path) -> None:
    log, _ = study_log()
    head, *lines = log.splitlines()
    counts = read_log(write("study.tsv", log), "table", by="task")
    found = fit_groups(counts, ["rbp", "continuation"], rounds=200, draws=20)
    assert list(found.groups) == ["task 0", "task 1"]
    alone: dict[str, Counts] = {}
    for label in found.groups:
        own = "\n".join([head, *(line for line in lines if f"\t{label}\t" in line)])
        alone[label] = read_log(write("one.tsv", own), "table", depth=6)
        same = {m.name: m for m in fit(alone[label], ["rbp", "continuation"], rounds=2).fitted.models}
        for model in found.groups[label].fitted.models:
            for key, e in model.estimates.items():
                assert e.value == pytest.approx(same[model.name].estimates[key].value)
        assert counts.groups[label].facts.pages == alone[label].facts.pages == 60
    amble.write_fit(tmp_path / "fit.toml", found.fitted)
    back = amble.read_fit(tmp_path / "fit.toml")
    names = {m.name for m in back.models}
    assert names == {f"{m}{x}" for m in ("rbp", "continuation") for x in ("", ".task-0", ".task-1")}
    assert all(len(e.draws) == 20 for m in back.models for e in m.estimates.values())
    p = float(found.groups["task 1"].fitted.pick(["rbp"]).estimates["p"].value)
    value = amble.parse(f"RBP(user='{tmp_path / 'fit.toml'}#rbp.task-1')").value([1, 0, 1])
    assert value == pytest.approx((1 - p) * (1 + p**2))
    # the test by hand: both groups with the same resampled persons
    of = [f.fitted.pick(["rbp"]).estimates["p"] for f in found.groups.values()]
    spread = np.var(of[1].draws - of[0].draws, ddof=1)
    n = counts.present.size
    row = next(row for row in found.equality() if row[0] == "rbp")
    f = (of[1].value - of[0].value) ** 2 / spread
    assert row[1:4] == (1, pytest.approx(f), n - 1)
    assert row[4] == pytest.approx(stats.f.sf(f, 1, n - 1))
    assert [row[2] for row in found.table() if row[0] == "rbp"] == ["(all)", "task 0", "task 1"]


def test_numbers_pooled_in_one_group_only_are_not_compared(write: Write) -> None:
    # of 44 in group b 20, 4, 8 and 12 stop at ranks 1 to 4, of 440 in group a ten times as many: C(1) is 24/44 in both.
    # a: C(2) = 20/24, C(3) = 12/20. b: fewer than 10 stop at rank 2, so that both are the root of 20/24 x 12/20
    stops = [1] * 20 + [2] * 4 + [3] * 8 + [4] * 12
    rows = ["session,task,rank"]
    for task, times in (("a", 10), ("b", 1)):
        rows += [f"{task}{i},{task},{rank}" for i, rank in enumerate(stops * times)]
    counts = read_log(write("log.csv", "\n".join(rows)), "table", by="task", depth=4)
    found = fit_groups(counts, ["continuation"], rounds=50, smallest=10)
    a, b = (group.fitted.models[0].estimates["C"] for group in found.groups.values())
    assert a.value.tolist() == pytest.approx([24 / 44, 20 / 24, 12 / 20])
    assert b.value.tolist() == pytest.approx([24 / 44, 0.5**0.5, 0.5**0.5])
    model, df, f, _, p, _ = found.equality().rows[0]
    assert (model, df, f, p) == ("continuation", 1, pytest.approx(0, abs=1e-20), pytest.approx(1))


def test_groups_with_pooled_ranks_and_grades_are_compared(write: Write) -> None:
    rng = np.random.default_rng(1)
    rows = ["session,task,rank,action,grade"]
    for session in range(300):  # all go on with probability 1/2; few documents have grade 2
        task = "ab"[session % 2]
        grades = rng.choice(3, 3, p=[0.5, 0.45, 0.05])
        rows += [f"{session},{task},{rank},show,{grade}" for rank, grade in enumerate(grades, 1)]
        rows += [f"{session},{task},{rank},click," for rank in range(1, min(rng.geometric(0.5), 3) + 1)]
    counts = read_log(write("log.csv", "\n".join(rows)), "table", by="task")
    found = fit_groups(counts, ["walk-rank-grade"], rounds=50, smallest=10)
    for group in found.groups.values():
        assert group.fitted.models[0].estimates["p"].pooled.tolist() == [[1, 2, 2], [4, 5, 5]]
    assert found.equality().rows[0][1] == 4  # p of ranks 1 and 2, at grade 0 and at others; nobody goes back


def test_groups_have_one_rule_at_rank_1(write: Write) -> None:
    # those of group a always go on from rank 1, so that whoever would go back goes forward; of b most stop there
    paths = {"a": ["1 2 1 2", "1 2 3 2"] * 20, "b": ["1", "1 2 3 2 1"] * 10}
    rows = ["session,task,rank,action,grade"]
    for task, of in paths.items():
        for i, path in enumerate(of):
            rows += [f"{task}{i},{task},{rank},show,{rank % 2}" for rank in (1, 2, 3, 4)]
            rows += [f"{task}{i},{task},{rank},click," for rank in path.split()]
    counts = read_log(write("log.csv", "\n".join(rows)), "table", by="task", depth=4)
    for model in ("walk", "walk-grade", "chain"):
        alone = [fit(own, [model], rounds=2).fitted.models[0].first for own in counts.groups.values()]
        assert alone == ["forward", "stop"]
        found = fit_groups(counts, [model], rounds=2)
        rules = [f.fitted.models[0].first for f in (found.whole, *found.groups.values())]
        assert rules == ["forward"] * 3, model


def test_groups_on_the_command_line(write: Write, amble_cli: Cli, tmp_path: Path) -> None:
    path = write("study.tsv", study_log()[0])
    words = ["--layout", "table", "--by", "task", "--model", "rbp", "--rounds", "50"]
    done = amble_cli("fit", path, *words, "-o", str(tmp_path / "fit.toml"))
    assert done.returncode == 0, done.stderr
    assert "rbp.task-0" in (tmp_path / "fit.toml").read_text()
    assert "Wald, resampled persons" in done.stdout
    assert "120 sessions" in done.stderr
    assert "30 persons" in done.stderr
    done = amble_cli("fit", path, *words, "--target", "T", "--show", "continuation")
    assert done.returncode == 0, done.stderr
    assert "discrete-time hazard model, logit of going on ~ rank" in done.stdout
    assert "clustered by persons (30)" in done.stdout
    done = amble_cli("fit", path, *words, "--target", "T", "--show", "hazard", "--format", "json")
    found = json.loads(done.stdout)
    assert found["clusters"] == "30 persons"
    assert [row["term"] for row in found["rows"]][-3:] == ["gain", "T", "task"]
    for wrong, message in (
        (["--show", "groups"], "--show groups: groups are those of a column, as --by task"),
        (["--show", "continuation", "--observation", "sdbn"], "--observation sdbn: a study needs"),
        (["--query-rates", "mu.txt"], "--query-rates mu.txt: expected a name that ends in .tsv"),
        (["--by", "nothing"], "no column 'nothing'"),
        (["--visits", "gaze"], "no click on a result"),
    ):
        done = amble_cli("fit", path, "--layout", "table", *wrong)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert message in done.stderr


# ---- times by query


def test_times_by_query(write: Write, tmp_path: Path, amble_cli: Cli) -> None:
    # q1 in three sessions: at rank 1 for 2, 4 and 6 s, at rank 2 for 5 s (once); q2 in one, for 100 s at rank 1
    clicks = {"1 q1": [(0, "a"), (2, "b"), (7, "c")], "2 q1": [(0, "a"), (4, "c")], "3 q1": [(0, "a"), (6, "b")]}
    clicks["4 q2"] = [(0, "a"), (100, "b")]
    lines = []
    for key, own in clicks.items():
        session, query = key.split()
        lines.append(f"{session}\t0\tQ\t{query}\t0\ta\tb\tc")
        lines += [f"{session}\t{time}\tC\t{doc}" for time, doc in own]
    path, mu = write("log.tsv", "\n".join(lines) + "\n"), tmp_path / "mu.tsv"
    assert read_log(path).whole().dwell[0].tolist() == [[4, 112], [1, 5], [0, 0]]
    counts = read_log(path, min_sessions=2)
    assert counts.whole().dwell[0].tolist() == [[3, 12], [1, 5], [0, 0]]
    assert counts.facts.queries == 1
    assert counts.query_rates is None  # no query is kept unless it is asked for
    done = amble_cli("fit", path, "--min-sessions", "2", "--query-rates", str(mu), "--model", "times")
    assert done.returncode == 0, done.stderr
    assert "times are those of 1 queries asked in at least 2 sessions" in done.stderr
    # (3 - 1) / 12 at rank 1; one visit below, so that rank 1 has all: (4 - 1) / 17
    assert mu.read_text().splitlines()[1:] == ["q1\t" + "\t".join(["0.176471"] * 3)]
    rates = read_log(path, min_sessions=2, query_rates=True).query_rates
    assert rates is not None
    assert rates.rates(0, 0) == pytest.approx([3 / 17] * 3)
    value = amble.parse(f"MP(rates='{mu}')").value([1, 1, 0], topic="q1")
    assert value == pytest.approx(amble.parse("MP(rates='0.176471,0.176471,0.176471')").value([1, 1, 0]))
    with pytest.raises(AmbleError, match="no query has times and was asked in at least 4 sessions"):
        write_query_rates(mu, rates, smallest=4)
    with pytest.raises(ReadError, match="the log needs a column for the query"):
        read_log(write("log.csv", "session,rank\n1,1\n"), "table", min_sessions=2)


def test_ranks_of_a_query_that_the_same_sessions_are_behind() -> None:
    # three visits of 2 s each to ranks 1 and 2, by the same three sessions: (3 - 1) / 6, or not told at all
    three = np.array([[3.0, 3.0]])
    rates = QueryRates(("q",), np.array([3]), three, 2 * three, three, 1)
    assert rates.rates(0, 3) == pytest.approx([1 / 3] * 2)
    assert rates.rates(0, 5).size == 0


def test_queries_with_blanks_are_no_topics(write: Write, tmp_path: Path) -> None:
    rows = [f"{i},{q},{r},{10 * r}" for i in range(4) for q in ("my illness", "q1") for r in (1, 2, 3)]
    path = write("log.csv", "session,query,rank,time\n" + "\n".join(rows))
    rates = read_log(path, "table", query_rates=True).query_rates
    assert rates is not None
    notes = write_query_rates(tmp_path / "mu.tsv", rates, 0)
    # four visits of 10 s at ranks 1 and 2, none known at rank 3, which goes with rank 2
    assert (tmp_path / "mu.tsv").read_text().splitlines()[1:] == ["q1\t0.075\t0.075\t0.075"]
    assert notes[-1].startswith("1 queries with blanks, or # in front, left out")
    assert "illness" not in "".join(notes) + (tmp_path / "mu.tsv").read_text()


def test_several_at_once(tmp_path: Path, write: Write) -> None:
    """All succeed, and leave nothing behind but what they write."""
    path, spare = write("study.tsv", study_log()[0]), tmp_path / "spare"
    spare.mkdir()
    (tmp_path / "out").mkdir()
    command = [sys.executable, "-m", "amble", "fit", path, "--layout", "table", "--model", "rbp", "--rounds", "20"]
    made = [
        subprocess.Popen([*command, "-o", str(tmp_path / "out" / f"{i}.toml"), "--temporary", str(spare), "--quiet"],
                         stdout=subprocess.DEVNULL)
        for i in range(3)
    ]  # fmt: skip
    assert [one.wait(timeout=300) for one in made] == [0] * 3
    assert list(spare.iterdir()) == []
    assert sorted(x.name for x in (tmp_path / "out").iterdir()) == [f"{i}.toml" for i in range(3)]
