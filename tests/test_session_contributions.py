"""Contributions of documents to the scores of sessions: products and losses, tables, charts, `amble session --why`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import amble
from amble.cli.main import main
from amble.errors import AmbleError

Write = Callable[[str, str | bytes], str]

SUMS = ["MsM", "MsM(discount='log')", "sRBP", "sDCG", "nsDCG", "sU", "sINSQ(T=2)", "MsM@2", "sRBP(p=Beta(8,2))"]
OTHERS = ["esAP", "esP", "esnDCG", "CubeTest", "ACT", "ExpectedUtility", "PerQuery(of='AP')"]
QRELS = {"7": {"a": 1, "b": 2, "c": 0}}
TABLE = "s1 1 7 7-first\ns1 2 7 7-second\n"
OLD = "7-first Q0 x 1 3 old\n7-first Q0 a 2 2 old\n7-second Q0 b 1 3 old\n7-second Q0 a 2 2 old\n"
NEW = "7-first Q0 a 1 3 new\n7-first Q0 b 2 2 new\n7-second Q0 y 1 3 new\n7-second Q0 b 2 2 new\n"


@pytest.fixture
def files(write: Write) -> list[str]:
    qrels = "".join(f"7 0 {doc} {grade}\n" for doc, grade in QRELS["7"].items())
    return [write("qrels", qrels), write("sessions.tsv", TABLE), write("old.run", OLD), write("new.run", NEW)]


def some_sessions(seed: int) -> amble.Sessions:
    """Random sessions of two runs, with documents shown again, queries without documents and unjudged documents."""
    rng = np.random.default_rng(seed)
    docs = [f"d{i}" for i in range(12)]
    judged = {"t": {doc: int(rng.integers(0, 4)) for doc in docs[:8]}}
    runs = {}
    for run in ("x", "y"):
        runs[run] = {f"q{j}": rng.permutation(docs)[: int(rng.integers(0 if j else 1, 6))].tolist() for j in range(6)}
        runs[run] = {topic: found for topic, found in runs[run].items() if found}
    return _of(judged, runs)


def _of(judged: dict[str, dict[str, int]], runs: dict[str, dict[str, list[str]]]) -> amble.Sessions:
    from amble.sessions.building import ShownSession, build_sessions, query_of_docs

    shown = [
        ShownSession(run, s, [query_of_docs(lists.get(f"q{j}", []), judged["t"], "t", "here") for j in js])
        for run, lists in runs.items()
        for s, js in (("s1", (0, 1, 2)), ("s2", (3, 4)), ("s3", (5,)))
    ]
    return build_sessions(shown, judged, repeats="every")


def test_msm_by_hand() -> None:
    # e_Q: given no stop, from rank 1 on to rank 2 with 2/3, then away: 1 + 2/3; at rank 2 of query 2, t = 1 + 5/3,
    # reach 1/2, discount 1 / (1 + 8/3) = 3/11, gain 3
    found = amble.why(amble.Sessions.of_queries([[1, 0], [0, 3]]), "1", "MsM(p=.5,q=0,r=.25,s=.25)")
    assert isinstance(found, amble.SessionContributions)
    assert (found.queries.tolist(), found.ranks.tolist(), found.docs) == ([1, 2], [[1], [2]], (None, None))
    assert found.reach[:, 0] == pytest.approx([1, 1 / 2])
    assert found.discount[:, 0] == pytest.approx([1, 3 / 11])
    assert found.gain[:, 0].tolist() == [1, 3]
    assert found.values[:, 0] == pytest.approx([1, 9 / 22])
    assert found.scores == pytest.approx([1 + 9 / 22])
    assert found.adds_up
    # session DCG of the same: 1 / 1, and 3 / max(1, log2 2) / (1 + log4 2)
    other = amble.why(amble.Sessions.of_queries([[1, 0], [0, 3]]), "1", "sDCG")
    assert isinstance(other, amble.SessionContributions)
    assert (other.reach[1, 0], other.discount[1, 0]) == pytest.approx((1 / 1.5, 1.0))
    assert other.values[:, 0] == pytest.approx([1, 2])


@pytest.mark.parametrize("measure", SUMS)
def test_products_add_up(measure: str) -> None:
    for seed in range(2):
        sessions = some_sessions(seed)
        scores = amble.evaluate(sessions, measure)
        for session in sessions.topics:
            found = amble.why(scores, session)
            assert isinstance(found, amble.SessionContributions)
            assert found.adds_up
            assert "reach of the query x discount" in found.caption
            expected = [scores[run, measure][sessions.topics.index(session)] for run in ("x", "y")]
            assert found.scores == pytest.approx(expected)
            shown = found.ranks > 0
            product = (found.reach * found.discount * found.gain)[shown]
            assert product == pytest.approx(found.values[shown])
            assert (found.values[~shown] == 0).all()
            assert np.isnan(found.gain[~shown]).all()


@pytest.mark.parametrize("measure", OTHERS)
def test_losses_are_scores_without_the_document(measure: str) -> None:
    lists = [[1.0, 0.0, 2.0], [0.0, 1.0], [2.0]]
    ideal = [y for of in lists for y in of]
    m = amble.parse(measure)

    def score(of: list[list[float]]) -> float:
        one = amble.Sessions.of_queries(of, ideal=ideal)
        return m.value(one, max_grade=2.0)  # type: ignore[attr-defined, no-any-return]

    whole = amble.Sessions.of_queries(lists, ideal=ideal)
    found = amble.why(whole, "1", measure)
    assert isinstance(found, amble.SessionContributions)
    assert found.scores == pytest.approx([score(lists)])
    cells = {(int(q), int(r[0])): float(v[0]) for q, r, v in zip(found.queries, found.ranks, found.values, strict=True)}
    for j, of in enumerate(lists):
        for i, grade in enumerate(of):
            if grade:
                gone = [list(x) for x in lists]
                gone[j][i] = float("nan")
                assert cells.get((j + 1, i + 1), 0.0) == pytest.approx(score(lists) - score(gone), abs=1e-12)
    assert "what the score loses" in found.caption
    assert np.isnan(found.reach).all()


def test_linear_means_over_queries_add_up() -> None:
    found = amble.why(some_sessions(1), "s1", "PerQuery(of='DCG@3')", runs=["x"])
    assert found.adds_up  # type: ignore[union-attr]
    assert not amble.why(some_sessions(1), "s1", "CubeTest").adds_up  # type: ignore[call-overload]


def test_a_document_shown_again_counts_where_it_is_shown() -> None:
    sessions = _of({"t": {"a": 1}}, {"x": {"q0": ["a"], "q1": ["b", "a"], "q2": ["a"]}})
    found = amble.why(sessions, "s1", "sDCG")
    assert (found.queries.tolist(), found.docs) == ([1, 2, 3], ("a", "a", "a"))  # type: ignore[union-attr]
    assert found.ranks[:, 0].tolist() == [1, 2, 1]
    # esR counts it once: without the first, the second is the first, at place 3 rather than 1
    again = amble.why(sessions, "s1", "esR")
    assert again.values[0, 0] > 0
    assert again.values.shape == (1, 1)


def test_some_entries() -> None:
    sessions = some_sessions(5)
    part = sessions.only([4, 0, 4])
    for measure in ("MsM", "esAP", "CubeTest", "PerQuery(of='nDCG')"):
        m = amble.parse(measure)
        assert m.scores(part) == pytest.approx(m.scores(sessions)[[4, 0, 4]])  # type: ignore[arg-type]


def test_facets_of_some_entries(write: Write) -> None:
    qrels = write("dd", "1 f1 a 2\n1 f2 a 1\n1 f1 b 3\n2 f1 c 4\n")
    run = write("a.dd", "1 0 a 3 1 x\n1 0 z 2 1 x\n1 1 b 3 1 x\n2 0 c 1 1 x\n")
    sessions = amble.read_sessions(qrels, run, layout="dd")
    m = amble.parse("CubeTest")
    assert m.scores(sessions.only([1, 0])) == pytest.approx(m.scores(sessions)[[1, 0]])  # type: ignore[arg-type]
    found = amble.why(sessions, "1", "CubeTest")
    # two facets of height 5: a adds 2/5 and 1/5, b 1/2 x 3/5 to the first; over 2 facets and 2 queries
    assert found.scores == pytest.approx([(2 / 5 + 1 / 2 * 3 / 5 + 1 / 5) / 2 / 2])
    # without a, b is the first on its facet: 3/5 alone
    assert found.values[found.docs.index("a"), 0] == pytest.approx((2 / 5 + 0.3 + 0.2 - 3 / 5) / 4)


def test_difference_of_two_runs(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["session", *files, "-m", "MsM", "--why", "s1", "--quiet"]) == 0
    lines = capsys.readouterr().out.splitlines()
    # at rank 2 a half; query 2 is reached with 2/3, after e_Q = 1 + .6/.8 + … of lists of two documents: 7/3
    # given no stop: p' = 3/4, Q 1/4 at rank 1; at rank 2 back 1/3, Q 2/3: E1 = 1 + 3/4 E2, E2 = 1 + 1/3 E1: 7/3
    assert lines[0].endswith("they add up to the score")
    rows = [line.split() for line in lines[1:]]
    assert rows[0] == ["query", "doc", "grade", "rank", "old", "old", "rank", "new", "new", "difference"]
    assert rows[1] == ["1", "b", "2", "-", "0.0000", "2", "1.0000", "-1.0000"]
    assert rows[3] == ["2", "a", "1", "2", f"{2 / 3 / (1 + 1 + 7 / 3):.4f}", "-", "0.0000", f"{2 / 3 / (13 / 3):.4f}"]
    assert rows[-1][0] == "all"
    assert main(["session", *files, "-m", "MsM", "esAP", "--why", "s1", "--quiet", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [one["adds_up"] for one in found["contributions"]] == [True, False]
    *documents, score = (r["contribution"] for r in found["rows"] if (r["run"], r["measure"]) == ("old", "MsM"))
    assert sum(documents) == pytest.approx(score)


def test_the_heat_map(files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("altair")
    sessions = amble.read_sessions(*files)
    found = amble.why(sessions, "s1", "MsM")
    assert isinstance(found, amble.SessionContributions)
    names, cells = found.cells()
    assert names == ("old", "new", "old − new")
    assert cells[1].tolist() == [[1, 0], [1, pytest.approx(2 * 2 / 3 / (13 / 3))]]
    assert cells[2] == pytest.approx(cells[0] - cells[1])
    chart = amble.plot(found).to_dict()
    assert [panel["title"] for panel in chart["hconcat"]] == list(names)
    target = tmp_path / "heat.svg"
    assert main(["session", *files, "-m", "MsM", "--why", "s1", "--quiet", "--plot", str(target)]) == 0
    assert target.read_text().startswith("<svg")
    # lists of different lengths: what is not there is not drawn
    one = amble.why(amble.Sessions.of_queries([[1, 0, 1], [1]]), "1", "MsM")
    assert np.isnan(one.cells()[1][0]).tolist() == [[False, False], [False, True], [False, True]]  # type: ignore[union-attr]


def test_scores_of_sessions_say_so(files: list[str]) -> None:
    scores = amble.evaluate(amble.read_sessions(*files), "MsM")
    assert (scores.item, repr(scores)) == ("session", "Scores(2 runs, 1 sessions, MsM)")
    pytest.importorskip("altair")
    for chart in (amble.plot(scores), amble.plot(scores, run="old", baseline="new")):
        assert chart.to_dict()["encoding"]["x"]["axis"]["title"] == "session"
    assert amble.evaluate({"1": {"a": 1}}, {"x": {"1": ["a"]}}, "AP").item == "topic"


def test_what_is_refused(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    for words, said in (
        (["--why", "s2"], "session 's2' is not among the 1 sessions scored: s1"),
        (["--why", "s1", "-q"], "--by-session goes without --why"),
        (["--why", "s1", "--effort"], "--effort goes without --why"),
        (["--effort", "--intervals"], "--intervals goes without --effort"),
        (["--plot", "x.svg"], "--plot goes with --why"),
        (["--why", "s1", "--plot", "x.doc"], "a chart's name ends in"),
        (["--why", "s1", "-m", "MsM sRBP", "--plot", "x.svg"], "--plot draws one measure, found 2"),
    ):
        assert main(["session", *files, *words]) == 2, words
        said_now = capsys.readouterr()
        assert said in said_now.err
        assert said_now.out == ""
    sessions = amble.read_sessions(*files)
    with pytest.raises(AmbleError, match="run 'none' is not among"):
        amble.why(sessions, "s1", "MsM", runs=["none"])
    with pytest.raises(AmbleError, match="no measure given"):
        amble.why(sessions, "s1")  # type: ignore[call-overload]


def test_a_run_without_the_session(write: Write) -> None:
    a = write("a.json", '[{"session": "1", "queries": [[1]]}, {"session": "2", "queries": [[0, 2]]}]')
    b = write("b.json", '[{"session": "1", "queries": [[0, 1]]}]')
    sessions = amble.read_sessions(None, a, b)
    found = amble.why(sessions, "2", "sDCG")
    assert np.isnan(found.scores).tolist() == [False, True]
    assert found.values.tolist() == [[2, 0]]
    # without ids, a row is a rank, and the documents there may differ in grade
    both = amble.why(sessions, "1", "sDCG")
    assert both.ranks.tolist() == [[1, 1], [0, 2]]
    assert np.isnan(both.grades).tolist() == [True, False]
    assert both.values.tolist() == [[1, 0], [0, 1]]
    assert str(both).count("\n") == 4
