"""Charts of distributions and of partial orders: what is drawn is what was found."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import amble
from amble.distributions.distribution import Distribution
from amble.distributions.partial_order import PartialOrder, order_systems
from amble.reporting.charts.chart import save, shown
from amble.reporting.charts.distribution_charts import COLOURS, distribution_spec, steps
from amble.reporting.charts.hasse import _width, hasse_spec

R, S = [1, 0, 0, 1, 0, 0, 1, 0, 0, 1], [0, 1, 1, 1, 1, 0, 0, 0, 0, 0]


def layers(spec: dict[str, Any], mark: str) -> list[dict[str, Any]]:
    return [layer for layer in spec["layer"] if layer["mark"]["type"] == mark]


def rows_of(layer: dict[str, Any]) -> list[dict[str, Any]]:
    """The data of a layer, that is a list of rows or a text."""
    if "format" not in layer["data"]:
        return layer["data"]["values"]
    number = [key for key, kind in layer["data"]["format"]["parse"].items() if kind == "number"]
    rows = csv.DictReader(io.StringIO(layer["data"]["values"]))
    return [row | {key: float(row[key]) for key in number} for row in rows]


def drawn(spec: dict[str, Any], run: str, x: float) -> float:
    """The height of a run's line at x, as a step that holds until the next corner."""
    line = layers(spec, "line")[0]
    assert line["mark"]["interpolate"] == "step-after"
    rows = [row for row in rows_of(line) if row["run"] == run]
    assert [row["score"] for row in rows] == sorted(row["score"] for row in rows)
    return [row["share"] for row in rows if row["score"] <= x][-1]


def share(distribution: Distribution, x: float) -> float:
    """The share of users with at most x, counted atom by atom."""
    return sum(p for v, p in zip(distribution.values.tolist(), distribution.probs.tolist(), strict=True) if v <= x)


def test_lines_are_the_cdfs() -> None:
    distributions = {name: amble.parse("PH(loss=0)").distribution(grades) for name, grades in (("r", R), ("s", S))}
    spec = distribution_spec(distributions, {"r": 0.5, "s": 0.25}, {"r": 0.125, "s": 0.75}, title="walks")
    for name, distribution in distributions.items():
        at = [-0.01, 0.0, 1.0, 1.01, *np.linspace(0.0003, 0.9997, 101), *distribution.values[::7]]
        for x in at:
            assert drawn(spec, name, x + 1e-8) == pytest.approx(share(distribution, x + 1e-8), abs=1e-3)
    # from 0 before the first score to 1 after the last
    rows = [row for row in rows_of(layers(spec, "line")[0]) if row["run"] == "r"]
    assert (rows[0]["share"], rows[-1]["share"]) == (0, 1)
    assert rows[0]["score"] < distributions["r"].values[0]
    assert rows[-1]["score"] > distributions["r"].values[-1]
    assert spec["title"]["text"] == "walks"


def test_few_atoms_are_all_drawn() -> None:
    distribution = amble.parse("AP").distribution(R, relevant=4)
    x, y = steps(distribution, -0.02, 1.02)
    assert x.tolist() == [-0.02, *distribution.values, 1.02]  # 2/5, 3/7, 1/2, 1
    assert y.tolist() == [0, 0.25, 0.5, 0.75, 1, 1]


@pytest.mark.parametrize("atoms", [3_000, 300_000])
def test_many_atoms_are_thinned(atoms: int) -> None:
    rng = np.random.default_rng(4)
    distribution = Distribution(rng.random(atoms) ** 3, rng.dirichlet(np.ones(atoms)))
    x, y = steps(distribution, -1, 2)
    assert x.size <= 2_005
    at = np.sort(np.concatenate((rng.random(20_000), distribution.values[:: atoms // 1000], x[1:-1])))
    line = y[np.searchsorted(x, at, side="right") - 1]
    assert np.abs(line - distribution.cdf(at)).max() < 1e-3
    assert (np.diff(y) >= 0).all()
    one_big_step = Distribution([0, *np.linspace(0.5, 0.6, 5000)], [0.9, *np.full(5000, 0.1 / 5000)])
    assert steps(one_big_step, -1, 2)[1][1] == pytest.approx(0.9)


def test_orders_are_vertical_lines() -> None:
    distributions = {"r": amble.parse("AP").distribution(R), "s": amble.parse("AP").distribution(S)}
    spec = distribution_spec(distributions, {"r": 0.58, "s": 0.68}, {"r": 0.45, "s": float("nan")})
    (rules,) = layers(spec, "rule")
    assert [(row["run"], row["order"], row["score"]) for row in rows_of(rules)] == [
        ("r", "order 1", 0.58),
        ("r", "order 2", 0.45),
        ("s", "order 1", 0.68),  # what is not known is not drawn
    ]
    line = layers(spec, "line")[0]["encoding"]
    assert rules["encoding"]["color"] == line["color"]
    assert line["color"]["scale"] == {"domain": ["r", "s"], "range": list(COLOURS[:2])}
    dashes = dict(zip(*(rules["encoding"]["strokeDash"]["scale"][key] for key in ("domain", "range")), strict=True))
    assert dashes["order 1"] != dashes["order 2"]
    assert layers(distribution_spec(distributions), "rule") == []


def test_bands_of_simulated_distributions() -> None:
    distributions = {"seen": amble.simulate("AP", R, users=500, seed=1), "known": amble.parse("AP").distribution(S)}
    spec = distribution_spec(distributions)
    (area,) = layers(spec, "area")
    band = np.sqrt(np.log(2 / 0.05) / 1000)  # Dvoretzky, Kiefer, Wolfowitz
    for row in rows_of(area):
        wide = band if row["run"] == "seen" else 0.0
        assert row["low"] == pytest.approx(max(row["share"] - wide, 0), abs=1e-8)
        assert row["high"] == pytest.approx(min(row["share"] + wide, 1), abs=1e-8)
    assert area["mark"]["interpolate"] == "step-after"
    assert layers(distribution_spec({"known": distributions["known"]}), "area") == []


def test_lines_that_cover_each_other_are_both_seen() -> None:
    distribution = amble.parse("P").distribution(R)
    spec = distribution_spec(
        {"below": distribution, "above": distribution, "other": Distribution([0.9], [1.0])},
        {"below": 0.4, "above": 0.4, "other": 0.9},
    )
    for layer in (layers(spec, "line")[0], layers(spec, "rule")[0]):
        width = {row["run"]: row["width"] for row in rows_of(layer)}
        assert width["below"] > width["above"] == width["other"]


def test_scores_above_one() -> None:
    spec = distribution_spec({"a": Distribution([0.5, 30.0], [0.5, 0.5])})
    low, high = layers(spec, "line")[0]["encoding"]["x"]["scale"]["domain"]
    assert low < 0 < 30 < high < 31


def test_too_many_or_too_few() -> None:
    distribution = Distribution([1.0], [1.0])
    for n in (0, 13):
        with pytest.raises(amble.AmbleError, match=f"{n} distributions on one chart, expected 1 to 12"):
            distribution_spec({str(i): distribution for i in range(n)})
    assert len(set(COLOURS)) == 12


def test_names_are_kept() -> None:
    assert shown("naïve\udcfe") == "naïve\\udcfe"
    names = ["1", "a,b", 'q"x', "007"]
    spec = distribution_spec({name: Distribution([1.0], [1.0]) for name in names})
    assert list(dict.fromkeys(row["run"] for row in rows_of(layers(spec, "line")[0]))) == names
    assert layers(spec, "line")[0]["data"]["format"]["parse"]["run"] == "string"  # not the numbers 1 and 7


def test_distribution_charts_are_charts(tmp_path: Path) -> None:
    distributions = {
        f"run {i}": Distribution(np.linspace(0, 1, 3000), np.full(3000, 1 / 3000)) for i in range(12)
    }  # more than 5,000 rows
    save(distribution_spec(distributions, dict.fromkeys(distributions, 0.5)), tmp_path / "distributions.svg")
    assert "run 11" in (tmp_path / "distributions.svg").read_text()
    order = order_systems({f"run {i}": Distribution([i / 12], [1.0]) for i in range(12)})
    save(hasse_spec(order, title="dominance"), tmp_path / "order.svg")
    assert "dominance" in (tmp_path / "order.svg").read_text()


# ---- Hasse diagrams


def orders() -> list[PartialOrder]:
    rng = np.random.default_rng(9)
    some = [
        order_systems({f"system {i}": Distribution(rng.random(k) + 0.02 * i, np.full(k, 1 / k)) for i in range(n)})
        for n, k in ((1, 2), (2, 1), (9, 3), (25, 4), (60, 3))
    ]
    twins = order_systems(
        {name: Distribution([len(name)], [1.0]) for name in ("a", "b", "c", "d", "e", "long", "name")}
    )
    return [*some, twins]


@pytest.mark.parametrize("order", orders(), ids=repr)
def test_hasse_shows_levels_and_edges(order: PartialOrder) -> None:
    spec = hasse_spec(order)
    systems = rows_of(layers(spec, "text")[-1])
    level = {name: i for i, names in enumerate(order.levels) for name in names}
    assert sorted(row["names"] for row in systems) == sorted(", ".join(names) for names in order.classes)
    assert all(row["level"] == level[name] for row in systems for name in row["names"].split(", "))
    # whoever follows the lines down from a system comes to those that it covers, and to no others
    place = {(row["x"], row["level"]): row["names"] for row in systems}
    down: dict[tuple[float, int], list[tuple[float, int]]] = {}
    for layer in layers(spec, "rule"):
        for row in rows_of(layer):
            assert row["level2"] == row["level"] + 1
            down.setdefault((row["x"], row["level"]), []).append((row["x2"], row["level2"]))
    found = set()
    for start, names in place.items():
        waiting = list(down.get(start, []))
        while waiting:
            at = waiting.pop()
            if at in place:
                found.add((names, place[at]))
            else:
                waiting += down[at]
    assert found == {(", ".join(better), ", ".join(worse)) for better, worse in order.edges}


@pytest.mark.parametrize("order", orders(), ids=repr)
def test_hasse_labels_do_not_touch(order: PartialOrder) -> None:
    spec = hasse_spec(order)
    left, right = layers(spec, "text")[0]["encoding"]["x"]["scale"]["domain"]
    rows = sorted(rows_of(layers(spec, "text")[0]), key=lambda row: (row["level"], row["x"]))
    half = [max(map(_width, row["label"])) / 2 for row in rows]
    assert all(left <= row["x"] - h and row["x"] + h <= right for row, h in zip(rows, half, strict=True))
    for i in range(1, len(rows)):
        if rows[i]["level"] == rows[i - 1]["level"]:
            assert rows[i]["x"] - half[i] > rows[i - 1]["x"] + half[i - 1]


def test_equal_systems_stand_together() -> None:
    rows = rows_of(layers(hasse_spec(orders()[-1]), "text")[-1])
    assert [(row["label"], row["level"]) for row in rows] == [
        (["long", "name"], 0),
        (["a", "b", "c", "and 2 more"], 1),
    ]
