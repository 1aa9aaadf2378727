"""The measure in CONTRIBUTING.md, loaded from outside the package as anyone would: everything follows from it."""

from __future__ import annotations

import doctest
import importlib.util
import json
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import amble
from amble.measures import REGISTRY

Cli = Callable[..., subprocess.CompletedProcess[str]]

PAGE = (Path(__file__).parent.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
GRADES = [1, 0, 1]


@pytest.fixture(scope="module")
def code() -> str:
    found = re.search(r"<!-- a measure -->\n```python\n(.*?)```", PAGE, re.DOTALL)
    assert found, "CONTRIBUTING.md has no block after <!-- a measure -->"
    return found[1]


@pytest.fixture
def plugin(code: str, tmp_path: Path) -> str:
    path = tmp_path / "zipf.py"
    path.write_text(code, encoding="utf-8")
    return str(path)


@pytest.fixture
def zipf(plugin: str) -> Iterator[amble.Measure]:
    """The measure, after an import of the file; it is gone afterwards."""
    before = dict(REGISTRY)
    spec = importlib.util.spec_from_file_location("zipf", plugin)
    assert spec is not None
    assert spec.loader is not None
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
    yield amble.parse("Zipf")
    REGISTRY.clear()
    REGISTRY.update(before)


def test_ten_lines(code: str) -> None:
    assert len(code.splitlines()) <= 10


def test_value(zipf: amble.Measure) -> None:
    # V = 1, 1/2, 1/3; E[t] = 1 + 1/3 = 4/3; E[h] = 1 + 1/2 + 1/3 = 11/6; (4/3) / (11/6) = 8/11
    assert zipf.value(GRADES) == pytest.approx(8 / 11, abs=1e-15)
    # s = 2: V = 1, 1/4, 1/9; (1 + 1/9) / (1 + 1/4 + 1/9) = (10/9) / (49/36) = 40/49
    assert amble.parse("Zipf(s=2)").value(GRADES) == pytest.approx(40 / 49, abs=1e-15)
    # @2: the list ends at rank 2, and the user stops there: 1 / (1 + 1/2)
    assert amble.parse("Zipf@2").value(GRADES) == pytest.approx(2 / 3, abs=1e-15)


def test_user(zipf: amble.Measure) -> None:
    user = zipf.user(GRADES)
    assert user.visits == pytest.approx([1, 1 / 2, 1 / 3])
    assert user.continuation == pytest.approx([1 / 2, 2 / 3, 0])  # 1/2 : 1, 1/3 : 1/2, the end of the list
    assert user.last == pytest.approx([1 / 2, 1 / 6, 1 / 3])  # 1 - 1/2, 1/2 - 1/3, and the rest
    assert user.weights == pytest.approx([6 / 11, 3 / 11, 2 / 11])  # V : 11/6
    assert user.expected_depth == pytest.approx(11 / 6)


def test_distribution(zipf: amble.Measure) -> None:
    # t / h is 1 at rank 1, 1/2 at rank 2, 2/3 at rank 3
    distribution = zipf.distribution(GRADES)
    assert distribution.values == pytest.approx([1 / 2, 2 / 3, 1])
    assert distribution.probs == pytest.approx([1 / 6, 1 / 3, 1 / 2])
    assert distribution.mean == pytest.approx(29 / 36)  # 1/12 + 2/9 + 1/2
    simulated = amble.simulate(zipf, GRADES, users=20_000, seed=1)
    assert simulated.distance(distribution) < simulated.band_at(1 - 1e-6)


def test_scores_of_many_lists(zipf: amble.Measure) -> None:
    qrels = {"1": {"a": 1, "b": 0, "c": 1}, "2": {"a": 1}}
    runs = {"x": {"1": {"a": 3.0, "b": 2.0, "c": 1.0}, "2": {"z": 2.0, "a": 1.0}}}
    scores = amble.evaluate(qrels, runs, [zipf, "AP"])
    assert scores.measures == ("Zipf", "AP")
    # topic 2: V = 1, 1/2; (1/2) / (3/2) = 1/3
    np.testing.assert_allclose(scores["x", "Zipf"], [8 / 11, 1 / 3])


def test_names_and_messages(zipf: amble.Measure) -> None:
    for text in ("Zipf", "Zipf(s=2)", "Zipf(s=0.5,rel=2)@10"):
        m = amble.parse(text)
        assert str(m) == text
        assert amble.parse(str(m)) == m
    assert amble.parse("Zipf(s=1)") == zipf
    with pytest.raises(amble.MeasureError, match=r"^Zipf: s=0 is not allowed, expected a number above 0$"):
        amble.parse("Zipf(s=0)")
    with pytest.raises(amble.MeasureError, match="Zipf has no parameter t, expected s, rel"):
        amble.parse("Zipf(t=1)")
    assert amble.parse("zipf") == amble.parse("ZIPF(1)") == zipf
    with pytest.raises(amble.MeasureError, match=r"did you mean Zipf@5\?"):
        amble.parse("Zipff@5")


def test_what_the_page_shows(zipf: amble.Measure) -> None:
    found = re.search(r"```python\n(>>> .*?)```", PAGE, re.DOTALL)
    assert found
    shown = doctest.DocTestParser().get_doctest(found[1], {}, "CONTRIBUTING.md", None, None)
    report: list[str] = []
    doctest.DocTestRunner().run(shown, out=report.append)
    assert not report, "".join(report)


def test_command_line(plugin: str, amble_cli: Cli, write: Callable[[str, str], str]) -> None:
    qrels = write("qrels.txt", "1 0 a 1\n1 0 b 0\n1 0 c 1\n")
    run = write("my.run", "1 Q0 a 1 3 my\n1 Q0 b 2 2 my\n1 Q0 c 3 1 my\n")
    done = amble_cli("eval", qrels, run, "-m", "Zipf(s=2)", "AP", "--plugin", plugin, "--format", "tsv", "--quiet")
    assert (done.returncode, done.stderr) == (0, "")
    # s = 2: 40/49; AP: (1/1 + 2/3) / 2
    assert done.stdout == "run\ttopic\tmeasure\tvalue\nmy\tall\tZipf(s=2)\t0.8163\nmy\tall\tAP\t0.8333\n"
    done = amble_cli("eval", qrels, run, "-m", "Zipf(s=0)", "--plugin", plugin)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "amble: Zipf: s=0 is not allowed, expected a number above 0\n"


def test_help_and_documentation(plugin: str, amble_cli: Cli) -> None:
    story = "She gets to rank i with probability 1 / i^s, and stops at the end of the list at the latest."
    shown = amble_cli("list", "Zipf", "--plugin", plugin).stdout
    assert shown.startswith(f"Zipf\n  {story}\n  formula      sum of gain / rank^s, divided by")
    assert "  s=1: how fast patience falls; a number above 0\n" in shown
    assert "  Zipf" in amble_cli("list", "--plugin", plugin).stdout
    page = amble_cli("list", "--format", "markdown", "--plugin", plugin).stdout
    assert f"\n## Your own\n\n### Zipf\n\n{story}\n" in page
    assert "- `s=1`: how fast patience falls (a number above 0)\n" in page
    [facts] = json.loads(amble_cli("list", "Zipf", "--format", "json", "--plugin", plugin).stdout)
    assert facts["question"] == "expected gain over expected effort, E[T]/E[H] (order 2)"
    assert [p["name"] for p in facts["parameters"]] == ["s", "rel"]
