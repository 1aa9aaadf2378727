"""The measure and the user in CONTRIBUTING.md, loaded from outside the package as anyone would; all else follows."""

from __future__ import annotations

import doctest
import importlib.util
import json
import math
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from users_by_hand import ranked, together

import amble
from amble.measures import REGISTRY, Gains, Lists, catalogue
from amble.measures.catalogue import MODULES
from amble.measures.residuals import list_residuals
from amble.users import DenseUser, Question

Cli = Callable[..., subprocess.CompletedProcess[str]]

PAGE = (Path(__file__).parent.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
GRADES = [1, 0, 1]


def block(mark: str) -> str:
    """The Python block of the page after a mark."""
    found = re.search(rf"<!-- {mark} -->\n```python\n(.*?)```", PAGE, re.DOTALL)
    assert found, f"CONTRIBUTING.md has no block after <!-- {mark} -->"
    return found[1]


def check_shown(code: str) -> None:
    """What a block shows is what it returns."""
    shown = doctest.DocTestParser().get_doctest(code, {}, "CONTRIBUTING.md", None, None)
    report: list[str] = []
    doctest.DocTestRunner().run(shown, out=report.append)
    assert not report, "".join(report)


@contextmanager
def imported(path: str) -> Iterator[None]:
    """The file is imported; what it declared is gone afterwards."""
    before = dict(REGISTRY)
    spec = importlib.util.spec_from_file_location(Path(path).stem, path)
    assert spec is not None
    assert spec.loader is not None
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
    yield
    REGISTRY.clear()
    REGISTRY.update(before)


@pytest.fixture
def plugin(write: Callable[[str, str], str]) -> str:
    return write("zipf.py", block("a measure"))


@pytest.fixture
def zipf(plugin: str) -> Iterator[amble.Measure]:
    with imported(plugin):
        yield amble.parse("Zipf")


def test_ten_lines() -> None:
    assert len(block("a measure").splitlines()) <= 10


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
    check_shown(found[1])


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


# ---- a kind of user: ranks 1, 3, 5 ... by transitions

HOPS = [1, 0, 0, 0, 1]  # V = 1, 0, .8, 0, .64; L = .2, 0, .16, 0, .64; T = 1, 1 and 2 after 1, 2 and 3 visits


@pytest.fixture
def hop_file(write: Callable[[str, str], str]) -> str:
    return write("hop.py", block("a kind of user"))


@pytest.fixture
def hop(hop_file: str) -> Iterator[amble.Measure]:
    with imported(hop_file):
        yield amble.parse("Hop")


def test_ten_lines_of_a_user() -> None:
    lines = [line for line in block("a kind of user").splitlines() if line.strip()]
    assert sum(not line.startswith(("import", "from")) for line in lines) == 10


def test_what_the_page_shows_of_the_user(hop: amble.Measure) -> None:
    check_shown(block("what follows"))


def test_value_of_the_user(hop: amble.Measure) -> None:
    assert hop.value(HOPS) == pytest.approx(1.64 / 2.44, abs=1e-15)
    assert amble.parse("Hop(p=0.5)").value([0, 1, 1]) == pytest.approx(0.5 / 1.5, abs=1e-15)
    assert amble.parse("Hop@3").value(HOPS) == pytest.approx(1 / 1.8, abs=1e-15)  # stops at rank 3
    assert hop.value([]) == 0
    # the mean over p, whose density is 1: (1 + p^2) / (1 + p + p^2) = 1 - p / (1 + p + p^2); the integral of the latter
    # is ln(3) / 2 - pi / (6 sqrt(3))
    everybody = amble.parse("Hop(p=Uniform(0,1))").value(HOPS)
    assert everybody == pytest.approx(1 - math.log(3) / 2 + math.pi / (6 * math.sqrt(3)), abs=1e-12)


def test_behaviour_of_the_user(hop: amble.Measure) -> None:
    user = hop.user(HOPS)
    assert user.visits == pytest.approx([1, 0, 0.8, 0, 0.64])
    assert user.last == pytest.approx([0.2, 0, 0.16, 0, 0.64])
    assert user.last.sum() == pytest.approx(1, abs=1e-15)
    assert user.expected_depth == pytest.approx(2.44)
    assert user.weights == pytest.approx(np.array([1, 0, 0.8, 0, 0.64]) / 2.44)
    assert user.residual(1) == pytest.approx(1.44 / 2.44)
    with pytest.raises(amble.MeasureError, match=r"residual\(-1\): expected a rank of at least 0"):
        user.residual(-1)


def test_distribution_of_the_user(hop: amble.Measure) -> None:
    distribution = hop.distribution(HOPS)
    assert distribution.values == pytest.approx([1 / 2, 2 / 3, 1])
    assert distribution.probs == pytest.approx([0.16, 0.64, 0.2])
    # its mean is order 1
    gains = hop.gains_of_grades(HOPS)
    assert distribution.mean == pytest.approx(0.2 + 0.16 / 2 + 0.64 * 2 / 3, abs=1e-15)
    assert hop.answers(Question.ORDER1, gains.lists)[0] == pytest.approx(distribution.mean, abs=1e-13)
    assert hop.answers(Question.TOTAL, gains.lists)[0] == pytest.approx(1.64, abs=1e-15)
    simulated = amble.simulate(hop, HOPS, users=20_000, seed=1)
    assert simulated.distance(distribution) < simulated.band_at(1 - 1e-6)
    assert simulated.order2 == pytest.approx(1.64 / 2.44, abs=5 * simulated.order2_error)
    assert simulated.mean_visits == pytest.approx(2.44, abs=0.05)


def test_runs_of_the_user(hop: amble.Measure) -> None:
    qrels = {"1": {"a": 1, "b": 0, "c": 1}, "2": {"a": 1, "b": 0}}
    runs = {"x": {"1": {"a": 3.0, "b": 2.0, "c": 1.0}, "2": {"z": 3.0, "b": 2.0, "a": 1.0}}}
    rankings = amble.align(qrels, runs)
    scores = amble.evaluate(qrels, runs, [hop, "AP"])
    np.testing.assert_allclose(scores["x", "Hop"], [1, 0.8 / 1.8])
    # topic 2, rank 1 is unjudged: 1 if it is relevant
    np.testing.assert_allclose(list_residuals(hop, Lists.of_rankings(rankings)), [0, 1 / 1.8], atol=1e-15)
    assert hop.interval([math.nan, 0, 1]) == pytest.approx((0.8 / 1.8, 1))
    found = amble.run_distributions(rankings, hop)["x"]
    # topic 1: all have 1; topic 2: .2 have 0, .8 have 1/2
    assert found.values == pytest.approx([0, 1 / 2, 1])
    assert found.probs == pytest.approx([0.1, 0.4, 0.5])
    # documents of grade 1 cost 3, others 1: 3 + .8 x 3 on topic 1, 1 + .8 x 3 on topic 2
    [row] = amble.cwl(rankings, hop, costs={1: 3.0}).rows
    assert row[3:] == pytest.approx([(1 + 0.8 / 1.8) / 2, 1.3, (3 + 3.4 / 1.8) / 2, (5.4 + 3.4) / 2, 1.8])
    tied = {"x": {"1": {"a": 1.0, "b": 1.0}, "2": {"a": 1.0}}}
    with pytest.raises(amble.MeasureError, match="Hop: a user declared by transitions has no closed form for ties"):
        amble.evaluate(qrels, tied, hop, ties="expected")


def test_command_line_of_the_user(hop_file: str, amble_cli: Cli, write: Callable[[str, str], str]) -> None:
    qrels = write("qrels.txt", "1 0 a 1\n1 0 b 0\n1 0 c 1\n")
    run = write("my.run", "1 Q0 b 1 3 my\n1 Q0 a 2 2 my\n1 Q0 c 3 1 my\n")
    done = amble_cli("eval", qrels, run, "-m", "Hop", "Hop(p=0.5)", "--plugin", hop_file, "--format", "tsv", "--quiet")
    assert (done.returncode, done.stderr) == (0, "")
    # .8 / 1.8 and .5 / 1.5
    assert done.stdout == "run\ttopic\tmeasure\tvalue\nmy\tall\tHop\t0.4444\nmy\tall\tHop(p=0.5)\t0.3333\n"
    shown = amble_cli("user", "Hop", "--gains", "1,0,1", "--plugin", hop_file).stdout.splitlines()
    assert shown[3].split() == ["Hop", "3", "0.0000", "0.8000", "0.4444", "0.8000", "0.0000"]
    assert shown[-1].startswith("Hop: expected depth 1.8000, score 1.0000")
    listed = amble_cli("list", "Hop", "--plugin", hop_file).stdout
    assert listed.startswith("Hop\n  She reads every second document, and goes on with probability p, to the end")
    done = amble_cli("distribution", qrels, run, "-m", "Hop", "--plugin", hop_file, "--quiet")
    assert (done.returncode, done.stderr) == (0, "")


# ---- what a user by transitions must not say


def declared(p: list[list[float]], start: list[float]) -> DenseUser:
    class Given(DenseUser):
        def transitions(self, gains: Gains, i: int) -> tuple[np.ndarray, np.ndarray]:
            return np.array(p), np.array(start)

    return Given()


@pytest.mark.parametrize(
    ("p", "start", "message"),
    [
        ([[0, 0.5], [0.6, 0.5]], [1, 0], "the transitions from rank 2 add up to 1.1, expected probabilities up to 1"),
        ([[0, -0.5], [0.6, 0]], [1, 0], "the transitions from rank 1 add up to -0.5, expected probabilities up to 1"),
        ([[0, 0.5], [0, 0]], [0.5, 0.4], "start: expected probabilities that sum to 1, found 0.9"),
        ([[0, 0.5]], [1, 0], r"transitions of shape \(1, 2\), expected \(2, 2\), as the start has ranks"),
        ([[0, 1], [1, 0]], [1, 0], "some users never stop"),
        ([[0.7, 0.3], [0.3, 0.7]], [1, 0], "some users never stop"),
    ],
)
def test_refused_transitions(p: list[list[float]], start: list[float], message: str) -> None:
    gains = amble.parse("RBP").gains_of_grades([1, 0])
    with pytest.raises(amble.MeasureError, match=message):
        declared(p, start).totals(gains)


def test_users_who_ignore_the_grades_are_simulated_together() -> None:
    user = declared([[0.1, 0.5, 0.3], [0.4, 0, 0], [0.2, 0.2, 0.2]], [0.5, 0, 0.5])
    gains = amble.parse("RBP").gains_of(together([ranked([1, 0, 1]), ranked([0, 1, 0])]))
    both = user.follower(gains, [0, 1], 3)(0, 500)
    for i in (0, 1):
        alone = user.follower(gains, [i], 3)(0, 500)
        assert (both.total[:, i] == alone.total[:, 0]).all()
        assert (both.visits == alone.visits).all()


def test_the_catalogue_says_where_each_measure_is_declared() -> None:
    declared = [(d.function.__module__.rpartition(".")[2], name) for name, d in REGISTRY.items() if d.family != "yours"]
    assert declared == [(module, name) for module, names in MODULES.items() for name in names.split()]
    assert set(MODULES) == {path.stem for path in Path(catalogue.__file__).parent.glob("*.py")} - {"__init__"}


def test_modules_of_measures_are_imported_when_they_are_used() -> None:
    code = (
        "import sys, amble\n"
        "amble.parse('AP')\n"
        "home = 'amble.measures.catalogue.'\n"
        "print(sorted(m.removeprefix(home) for m in sys.modules if m.startswith(home)))\n"
        "try:\n"
        "    amble.measure('PH', question='order1')(lambda rank: None)\n"  # not imported so far, and taken all the same
        "except amble.MeasureError as error:\n"
        "    print(error)\n"
        "from amble.measures import RBP, REGISTRY\n"
        "print(RBP(p=.5).value([1, 0]), 'MsM' in REGISTRY, 'Hers' in REGISTRY)\n"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    # RBP of p = .5: (1 - .5) x 1
    assert shown.splitlines() == [
        "['classic']",
        "PH: the name is taken by one of amble's own measures",
        "0.5 True False",
    ]
