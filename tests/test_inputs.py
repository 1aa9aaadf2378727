"""The inputs that functions share: rankings, sessions or scores that are ready, or judgments and runs."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import amble
from amble.evaluation.inputs import DEFAULTS, Scored, aligning, parse_measures
from amble.rankings.alignment import AlignOptions

QRELS = {"1": {"a": 2, "b": 0, "c": 1}, "2": {"d": 1, "e": 0}, "3": {"f": 0}}
RUNS = {
    "x": {"1": {"a": 3.0, "b": 2.0, "z": 1.0}, "2": {"e": 2.0, "d": 1.0}, "3": {"f": 1.0}},
    "y": {"1": {"b": 3.0, "c": 3.0, "a": 2.0}, "2": {"d": 1.0}},
}
OPTIONS: dict[str, Any] = {"depth": 2, "missing": "skip", "ties": "file", "unjudged": "condense"}

# each function by itself, with arguments after what is scored, and what is to be the same
FORMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...], Callable[[Any], Any]]] = {
    "evaluate": (amble.evaluate, (["AP", "nDCG@2"],), lambda scores: scores.to_dict()),
    "cwl": (amble.cwl, ("RBP P@2",), lambda table: table.rows),
    "run_distributions": (
        amble.run_distributions,
        ("AP",),
        lambda found: {run: (x.values.tolist(), x.probs.tolist()) for run, x in found.items()},
    ),
    "compare": (amble.compare, ("AP",), lambda found: (found.facts, found.table(full=True).rows)),
    "why": (amble.why, ("1", "AP"), lambda found: found.table(long=True).rows),
    "report": (amble.report, ("AP P@2",), lambda page: page.data),
}


@pytest.mark.parametrize("options", [{}, OPTIONS], ids=["usual", "options"])
@pytest.mark.parametrize("name", FORMS)
def test_all_forms_agree(name: str, options: dict[str, Any]) -> None:
    function, rest, shown = FORMS[name]
    names = [p for p in inspect.signature(function).parameters if p not in ("qrels", "runs")][: len(rest)]
    named = dict(zip(names, rest, strict=True))
    rankings = amble.align(QRELS, RUNS, **options)
    wanted = repr(shown(function(rankings, *rest)))  # repr, as NaN is not NaN
    first = next(iter(inspect.signature(inspect.unwrap(function)).parameters))
    assert repr(shown(function(rankings, **named))) == wanted
    assert repr(shown(function(**{first: rankings}, **named))) == wanted
    assert repr(shown(function(QRELS, RUNS, *rest, **options))) == wanted
    assert repr(shown(function(QRELS, RUNS, **named, **options))) == wanted
    assert repr(shown(function(QRELS, runs=RUNS, **named, **options))) == wanted
    assert repr(shown(function(qrels=QRELS, runs=RUNS, **named, **options))) == wanted
    assert repr(shown(function(amble.read_qrels(QRELS), amble.read_runs(RUNS), *rest, **options))) == wanted


@pytest.mark.parametrize("name", ["compare", "why", "report"])
def test_scores_as_before(name: str) -> None:
    function, rest, shown = FORMS[name]
    scores = amble.evaluate(QRELS, RUNS, rest[-1])
    wanted = repr(shown(function(QRELS, RUNS, *rest)))
    assert repr(shown(function(scores, *rest[:-1]))) == wanted
    first = next(iter(inspect.signature(inspect.unwrap(function)).parameters))
    assert repr(shown(function(**{first: scores}, **dict(zip(["topic"], rest[:-1], strict=False))))) == wanted


def test_sessions_come_first_too() -> None:
    one, other = [[1, 0, 2], [0, 1]], [[0, 1], [1]]
    sessions = amble.Sessions.of_array([[[1, 0], [0, 1]], [[0, 0], [1, 1]]])
    assert amble.evaluate(sessions=sessions, measures="MsM").to_dict() == amble.evaluate(sessions, "MsM").to_dict()
    assert amble.evaluate(amble.Sessions.of_queries(one), "MsM").values != pytest.approx(
        amble.evaluate(amble.Sessions.of_queries(other), "MsM").values
    )
    with pytest.raises(amble.AmbleError, match="1 run to compare, expected at least 2"):
        amble.compare(sessions, "MsM")
    with pytest.raises(amble.AlignError, match="undefined='skip': an option for rankings, given with sessions"):
        amble.evaluate(sessions, "MsM", undefined="skip")  # type: ignore[call-overload]
    with pytest.raises(amble.AlignError, match="depth: options of align, given with sessions that are aligned already"):
        amble.evaluate(sessions, "MsM", depth=3)  # type: ignore[call-overload]


def test_undefined_where_scores_are_made() -> None:
    scores = amble.evaluate(QRELS, RUNS, "AP", undefined="skip")
    assert np.isnan(scores.values[:, 2]).all()  # nothing is relevant
    wanted = amble.compare(scores).facts
    rankings = amble.align(QRELS, RUNS)
    assert wanted["topics"] == 2
    assert amble.compare(rankings, "AP", undefined="skip").facts == wanted
    assert amble.compare(QRELS, RUNS, "AP", undefined="skip").facts == wanted
    assert amble.report(QRELS, RUNS, "AP", undefined="skip").data == amble.report(scores).data
    for call in (lambda: amble.compare(scores, undefined="skip"), lambda: amble.report(scores, undefined="zero")):
        with pytest.raises(amble.AlignError, match="an option for rankings, given with scores"):
            call()
    with pytest.raises(amble.AlignError, match="undefined='skip': an option for rankings, given with dict"):
        amble.compare(scores.to_dict()["x"], undefined="skip")  # type: ignore[call-overload]
    with pytest.raises(amble.AlignError, match="undefined='no': expected one of 'zero', 'skip'"):
        amble.compare(QRELS, RUNS, "AP", undefined="no")  # type: ignore[call-overload]


def test_runs_that_are_chosen_and_runs_that_are_read() -> None:
    rankings = amble.align(QRELS, RUNS)
    assert list(amble.run_distributions(rankings, "AP", runs=["y"])) == ["y"]
    assert list(amble.run_distributions(QRELS, runs={"y": RUNS["y"]}, measure="AP")) == ["y"]
    assert amble.why(rankings, "1", "AP", runs="y").runs == ("y",)
    with pytest.raises(amble.AlignError, match=r"found run_distributions\(dict, dict, str, runs=list\)"):
        amble.run_distributions(QRELS, RUNS, "AP", runs=["y"])  # type: ignore[call-overload]
    with pytest.raises(amble.AlignError, match="no runs chosen"):
        amble.why(rankings, "1", "AP", runs=[])


def test_threads_read_and_simulate() -> None:
    one = amble.run_distributions(QRELS, RUNS, "AP", users=1000, seed=3, threads=1)
    two = amble.run_distributions(amble.align(QRELS, RUNS), "AP", users=1000, seed=3, threads=2)
    assert all(one[run].values.tolist() == two[run].values.tolist() for run in one)
    with pytest.raises(amble.AlignError, match="threads=0"):
        amble.run_distributions(QRELS, RUNS, "AP", threads=0)


def test_scores_in_a_dictionary_are_not_judgments() -> None:
    by_run = {"x": {"1": 0.5, "2": 0.1}, "y": {"1": 0.7, "2": 0.2}}
    assert amble.compare(by_run, "mine", "x").measure == "mine"
    assert amble.compare(by_run, measure="mine").measure == "mine"
    assert amble.compare(by_run).measure == "score"
    assert amble.compare(QRELS, RUNS, "AP", "x").design.baseline == "x"
    assert amble.compare(QRELS, runs=RUNS, measure=amble.parse("AP")).measure == "AP"


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda r: amble.evaluate(), "found evaluate(), expected evaluate(rankings | sessions, measures) or "),
        (lambda r: amble.evaluate(r), "found evaluate(Rankings), expected evaluate(rankings | sessions, measures) or "),
        (lambda r: amble.evaluate(QRELS, RUNS), "found evaluate(dict, dict), expected"),
        (lambda r: amble.evaluate(QRELS, "AP"), "or evaluate(qrels, runs, measures)"),
        (lambda r: amble.evaluate(QRELS, measures="AP"), "found evaluate(dict, measures=str), expected"),
        (lambda r: amble.evaluate(runs=RUNS, measures="AP"), "found evaluate(runs=dict, measures=str), expected"),
        (lambda r: amble.evaluate(QRELS, "AP", runs=RUNS), "found evaluate(dict, str, runs=dict), expected"),
        (lambda r: amble.evaluate(RUNS, "AP", qrels=QRELS), "found evaluate(dict, str, qrels=dict), expected"),
        (lambda r: amble.evaluate(r, RUNS, "AP"), "found evaluate(Rankings, dict, str), expected"),
        (lambda r: amble.evaluate(r, "AP", measures="AP"), "found evaluate(Rankings, str, measures=str), expected"),
        (lambda r: amble.evaluate(rankings=r, sessions=r, measures="AP"), "found evaluate(rankings=Rankings, sessions"),
        (lambda r: amble.cwl(5, "AP"), "found cwl(int, str), expected cwl(rankings, measures) or cwl(qrels, runs, "),
        (lambda r: amble.compare(QRELS, RUNS), "or compare(qrels, runs, measure)"),
        (lambda r: amble.compare(r), "no measure given, expected one, such as 'AP'"),
        (lambda r: amble.why(QRELS, RUNS, "1"), "or why(qrels, runs, topic, measure)"),
        (lambda r: amble.why(r, "1"), "no measure given, expected one, such as 'AP'"),
        (lambda r: amble.report(r), "no measure given, expected one, such as 'AP'"),
        (lambda r: amble.report(amble.evaluate(r, "AP"), "AP"), "measures, given with scores: expected one of them"),
        (lambda r: amble.report(amble.evaluate(r, "AP"), depth=1, ties="rank"), "depth, ties: options of align, given"),
        (lambda r: amble.cwl(r, "AP", depth=1), "depth: options of align, given with rankings that are aligned"),
        (lambda r: amble.evaluate(QRELS, RUNS, "AP", ties="docid"), "ties='docid': expected one of 'docno', 'rank', "),
    ],
)
def test_wrong_combinations(call: Callable[[amble.Rankings], Any], said: str) -> None:
    with pytest.raises(amble.AmbleError) as error:
        call(amble.align(QRELS, RUNS))
    assert said in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", FORMS)
def test_unknown_keywords(name: str) -> None:
    function, rest, _ = FORMS[name]
    for first in ((amble.align(QRELS, RUNS),), (QRELS, RUNS)):
        with pytest.raises(TypeError, match=rf"{name}\(\) got an unexpected keyword argument 'dept'"):
            function(*first, *rest, dept=3)


@pytest.mark.parametrize("name", FORMS)
def test_a_misspelled_measure_is_found_before_files_are_read(name: str) -> None:
    function, rest, _ = FORMS[name]
    with pytest.raises(amble.MeasureError, match="nDGC"):
        function("no such file", "nor this", *rest[:-1], "nDGC")


def test_measures_of_a_generator() -> None:
    assert amble.evaluate(QRELS, RUNS, (name for name in ("AP", "RR"))).measures == ("AP", "RR")
    assert [m.label for m in parse_measures(amble.parse("AP"))] == ["AP"]


@pytest.mark.parametrize("name", FORMS)
def test_signatures_are_real(name: str) -> None:
    function = FORMS[name][0]
    shown, own = inspect.signature(function).parameters, inspect.signature(inspect.unwrap(function)).parameters
    assert list(shown)[:2] == ["qrels", "runs"]
    assert not {p.kind for p in shown.values()} & {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}
    assert all(shown[option].default == usual for option, usual in DEFAULTS.items() if option not in own)
    assert [p for p in shown if shown[p].default is inspect.Parameter.empty][-1].startswith("measure")
    overloads = [inspect.signature(overload).parameters for overload in typing.get_overloads(function)]
    for told in overloads:
        assert all(p.default in (p.empty, ...) for p in told.values())  # defaults are in one place
    (told,) = (told for told in overloads if "qrels" in told)
    assert [p for p in told if p != "options"] == [p for p in shown if p not in DEFAULTS]
    assert told["options"].annotation == "Unpack[AlignOptions]"


def test_options_of_align_are_spelled_out_once() -> None:
    assert list(AlignOptions.__annotations__) == list(inspect.signature(amble.align).parameters)[2:] == list(DEFAULTS)
    hints = typing.get_type_hints(amble.align)
    assert {name: hints[name] for name in DEFAULTS} == typing.get_type_hints(AlignOptions)


def test_rankings_and_sessions_are_scored() -> None:
    def describes(scored: Scored) -> tuple[Any, ...]:
        assert scored.run.shape == scored.topic.shape == scored.length.shape
        return scored.runs, scored.topics, scored.labels, scored.options["missing"], scored.index(scored.runs[0])

    assert describes(amble.align(QRELS, RUNS)) == (("x", "y"), ("1", "2", "3"), ("x", "y"), "zero", 0)
    sessions = amble.Sessions.of_queries([[1, 0]])
    assert describes(sessions) == (("sessions",), ("1",), ("sessions",), "skip", 0)
    for fake in ("ties", "unjudged", "duplicates", "score_dtype", "depth", "missing"):
        assert not hasattr(sessions, fake)
    with pytest.raises(amble.MeasureError, match="scores of sessions, expected those of rankings"):
        _ = amble.evaluate(sessions, "MsM").aligned
    assert amble.evaluate(QRELS, RUNS, "AP").aligned.qrels.topics == ("1", "2", "3")


def test_a_function_of_ones_own() -> None:
    @aligning(amble.Rankings)
    def longest(rankings: amble.Rankings, measures: Any) -> int:
        """The longest list."""
        return int(rankings.length.max())

    assert longest(QRELS, RUNS, "AP") == longest(amble.align(QRELS, RUNS), "AP") == 3
    assert longest.__doc__ == "The longest list."
