"""The design of a test: its defaults stand in one place, and functions, commands, files and the page have them."""

from __future__ import annotations

import argparse
import ast
import inspect
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import FrozenInstanceError, fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import amble
from amble import metaevaluation as meta
from amble.cli.commands import report as report_command
from amble.cli.main import _parser
from amble.cli.options import design_of
from amble.comparison.design import (
    AGREEMENT,
    CONFIDENCE,
    CORRECTIONS,
    FAMILIES,
    INTERVALS,
    POWER,
    SIDES,
    TESTS,
    TestDesign,
)
from amble.errors import AmbleError
from amble.logs.bootstrap import Resampled
from amble.logs.fitting import fit
from amble.metaevaluation import label_correlation, robustness, significance, swaps
from amble.reporting.options import KEYS, read_config, write_config

ROOT = Path(amble.__file__).parent
NAMES = [field.name for field in fields(TestDesign)]
OPTIONS = ("test", "correction", "alpha", "seed", "rounds")  # of a report

# packages that come before `comparison`, and cannot import from it
BEFORE = ("evaluation", "users")


def defaults(function: Callable[..., Any]) -> dict[str, Any]:
    """The parameters of a function that have a default."""
    found = inspect.signature(function).parameters.values()
    return {p.name: p.default for p in found if p.default is not p.empty}


# ---- the design


DESIGNS = st.fixed_dictionaries(
    {},
    optional={
        "baseline": st.none() | st.just("x"),
        "test": st.sampled_from(tuple(TESTS)),
        "sides": st.sampled_from(tuple(SIDES)),
        "correction": st.sampled_from(("", *CORRECTIONS)),
        "alpha": st.sampled_from((0.01, TestDesign.alpha, 0.5)),
        "seed": st.integers(0, 3),
        "rounds": st.sampled_from((99, TestDesign.rounds)),
        "interval": st.sampled_from(("", *INTERVALS, *FAMILIES)),
    },
)


@given(DESIGNS)
def test_a_design_is_complete_and_says_what_is_not_usual(options: dict[str, Any]) -> None:
    family = options.get("test") in FAMILIES
    wrong = family and (options.get("sides", "two") != "two" or options.get("correction", "") not in ("", "none"))
    if wrong or options.get("interval", "") not in ("", *([options["test"]] if family else INTERVALS)):
        with pytest.raises(AmbleError, match=r"has two sides|on top of it|has intervals of its own|^interval="):
            TestDesign(**options)
        return
    design = TestDesign(**options)
    assert design.correction in CORRECTIONS
    assert design.interval in (INTERVALS if design.test not in FAMILIES else [design.test])
    assert {name: getattr(design, name) for name, given in options.items() if given} == {
        name: given for name, given in options.items() if given
    }
    assert list(vars(design)) == NAMES
    assert TestDesign(**vars(design)) == TestDesign(**design.changed) == design
    assert not {name for name in design.changed if name not in options}
    assert replace(design, baseline="y").changed == design.changed | {"baseline": "y"}


def test_defaults() -> None:
    assert vars(TestDesign()) == {
        "baseline": None,
        "test": "t",
        "sides": "two",
        "correction": "holm",
        "alpha": 0.05,
        "seed": 0,
        "rounds": 10_000,
        "interval": "t",
    }
    assert TestDesign().changed == {}
    assert [TestDesign(test=test).interval for test in TESTS] == ["t", "t", "t", "t", "bca", "tukey", "anova"]
    assert AGREEMENT.changed == {"rounds": 1000}
    assert POWER.changed == {"test": "bootstrap", "rounds": 1000}
    assert CONFIDENCE == 0.95
    with pytest.raises(FrozenInstanceError):
        TestDesign().alpha = 0.1  # type: ignore[misc]
    assert TestDesign.__test__ is False


def test_a_comparison_has_its_design() -> None:
    scores = {"x": {"1": 0.1, "2": 0.5, "3": 0.4}, "y": {"1": 0.3, "2": 0.6, "3": 0.4}}
    assert amble.compare(scores).design == TestDesign()
    for test in TESTS:
        assert amble.compare(scores, test=test, rounds=9).design == TestDesign(test=test, rounds=9)
    found = amble.compare(scores, baseline="y", alpha=0.1, sides="less", interval="bca", correction="bh", seed=7)
    assert found.design == TestDesign("y", "t", "less", "bh", 0.1, 7, interval="bca")
    assert {name: found.facts[name] for name in NAMES} == vars(found.design)


# ---- functions


@pytest.mark.parametrize(
    ("function", "design"),
    [
        (amble.compare, TestDesign),
        (amble.report, TestDesign),
        (meta.agreement, AGREEMENT),
        (meta.discriminative_power, POWER),
        (meta.topics_needed, TestDesign),
        (meta.topics_for_power, TestDesign),
        (significance.all_pairs, AGREEMENT),
    ],
)
def test_functions_have_their_defaults_from_the_design(function: Callable[..., Any], design: Any) -> None:
    found = {name: value for name, value in defaults(function).items() if name in NAMES}
    assert "alpha" in found or function is significance.all_pairs
    for name, value in found.items():
        assert value == (None if name in ("baseline", "correction", "interval") else getattr(design, name)), name


def test_intervals_have_one_confidence() -> None:
    for function in (meta.correlations, meta.topics_needed, meta.topics_for_interval, robustness.PoolEffect.table, fit):
        assert defaults(function)["confidence"] == CONFIDENCE
    assert Resampled.confidence == CONFIDENCE


def parameters(tree: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Parameters and fields with their defaults."""
    for node in ast.walk(tree):
        if isinstance(node, ast.arguments):
            positional = [*node.posonlyargs, *node.args]
            yield from ((a.arg, d) for a, d in zip(reversed(positional), reversed(node.defaults), strict=False))
            yield from ((a.arg, d) for a, d in zip(node.kwonlyargs, node.kw_defaults, strict=True) if d is not None)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            yield node.target.id, node.value


def test_a_default_is_written_once() -> None:
    written = []
    for path in sorted(ROOT.rglob("*.py")):
        module = path.relative_to(ROOT)
        for name, default in parameters(ast.parse(path.read_text(encoding="utf-8"))):
            known = (name in ("alpha", "sides") and "catalogue" not in module.parts) or (
                name == "confidence" and module.parts[0] not in BEFORE
            )
            if known and isinstance(default, ast.Constant) and default.value not in (None, ...):
                written.append(f"{module}: {name}")
    assert written == ["comparison/design.py: sides", "comparison/design.py: alpha"]


# ---- commands


def helps(command: str) -> dict[str, str]:
    """What the help of a command says is the default of each option."""
    module = __import__(f"amble.cli.commands.{command}", fromlist=["arguments"])
    found = {}
    for action in _parser(command, module)._actions:
        if said := re.findall(r"\(default: ([^)]*)\)", (action.help or "") % vars(action)):
            found[action.dest] = ", ".join(said)
    return found


def test_help_of_tests_is_that_of_the_design() -> None:
    usual = TestDesign()
    for command in ("compare", "report"):
        said = helps(command)
        assert {name: said[name] for name in OPTIONS} == {
            "test": usual.test,
            "correction": f"{usual.correction}; tukey, anova: none",
            "alpha": str(usual.alpha),
            "seed": str(usual.seed),
            "rounds": str(usual.rounds),
        }
    assert helps("compare")["sides"] == usual.sides
    assert helps("compare")["interval"] == "t; bootstrap test: bca"
    assert helps("fit")["confidence"] == str(CONFIDENCE)


def test_help_of_meta_evaluation_is_that_of_its_functions() -> None:
    said = helps("meta")
    of = {
        "statistic": (meta.correlations, "statistic", "{}, Kendall's b, all of them"),
        "resample": (meta.correlations, "resample", "{}"),
        "confidence": (meta.correlations, "confidence", "{}"),
        "alpha": (meta.agreement, "alpha", "{}"),
        "max_rate": (swaps.Swaps.table, "max_rate", "{}"),
        "bin_width": (meta.swap_rates, "width", "{}"),
        "group_depth": (meta.leave_out, "depth", "{}"),
        "power": (meta.topics_for_power, "power", "{}"),
        "seed": (meta.agreement, "seed", "{}"),
    }
    assert {name: said[name] for name in of} == {
        name: text.format(defaults(function)[parameter]) for name, (function, parameter, text) in of.items()
    }
    for name, function, parameter in (
        ("rates", meta.pool_effect, "rates"),
        ("differences", meta.topics_needed, "differences"),
        ("widths", meta.topics_needed, "widths"),
    ):
        assert said[name] == ",".join(map(str, defaults(function)[parameter]))
    rounds = [defaults(f)["rounds"] for f in (meta.correlations, meta.agreement, meta.discriminative_power)]
    assert len(set(rounds)) == 1
    swapped, pooled = defaults(meta.swap_rates)["rounds"], defaults(meta.pool_effect)["rounds"]
    degraded = defaults(meta.degradation)["rounds"]
    assert said["rounds"] == f"{rounds[0]}; swaps {swapped}, pool {pooled}, degrade {degraded}"
    assert said["test"].startswith(f"{AGREEMENT.test}, {POWER.test}")


def test_choices_are_those_of_the_design() -> None:
    actions = {action.dest: action for action in _parser("compare", _command("compare"))._actions}
    for name, words in (("test", TESTS), ("sides", SIDES), ("correction", CORRECTIONS), ("interval", INTERVALS)):
        assert actions[name].choices == tuple(words)
    actions = {action.dest: action for action in _parser("meta", _command("meta"))._actions}
    assert actions["test"].choices == tuple(dict.fromkeys((*significance.TESTS, *label_correlation.TESTS)))


def _command(name: str) -> Any:
    return __import__(f"amble.cli.commands.{name}", fromlist=["arguments"])


def test_help_needs_no_numpy() -> None:
    code = "import sys, amble.cli.commands.compare, amble.cli.commands.meta, amble.cli.commands.report as x\n"
    code += "from amble.cli.main import _parser; _parser('report', x); print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


# ---- files of options, and the page


def filled(*words: str) -> argparse.Namespace:
    args = _parser("report", report_command).parse_args(list(words))
    report_command._fill(args)
    return args


def test_a_file_of_options_has_the_same_defaults(tmp_path: Path) -> None:
    config = tmp_path / "c.toml"
    config.write_text("title = 'x'\n")
    for args in (filled("q", "r"), filled("q", "r", "--config", str(config))):
        assert design_of(args) == TestDesign()
        config.write_text(write_config({name: getattr(args, name) for name in OPTIONS}))
        assert read_config(str(config)) == {
            name: value for name, value in vars(TestDesign()).items() if name in OPTIONS and name != "correction"
        }
    config.write_text("test = 'tukey'\nalpha = 0.01\n")
    assert design_of(filled("q", "r", "--config", str(config), "--seed", "3")) == TestDesign(
        test="tukey", alpha=0.01, seed=3
    )
    assert set(OPTIONS) | {"baseline"} == set(KEYS) & set(NAMES)


def test_the_page_names_what_is_not_usual() -> None:
    qrels = {str(t): {"a": 1} for t in range(3)}
    good, bad = {"a": 2.0, "b": 1.0}, {"b": 2.0, "a": 1.0}
    scores = amble.evaluate(qrels, {"x": dict.fromkeys(qrels, good), "y": dict.fromkeys(qrels, bad)}, "AP")
    plain = "amble compare QRELS RUN… -m AP --letters"
    assert plain in amble.report(scores).html()
    assert plain in amble.report(scores, baseline="x", correction="holm").html()
    for options, words in (
        ({"alpha": 0.01, "test": "tukey", "rounds": 99}, "--test tukey --alpha 0.01 --rounds 99"),
        ({"test": "bootstrap", "seed": 7, "rounds": 99}, "--test bootstrap --seed 7 --rounds 99"),
        ({"correction": "bh"}, "--correction bh"),
    ):
        assert f"QRELS RUN… {words} -m AP" in amble.report(scores, **options).html()
