"""Many systems by stochastic dominance: verdicts, classes, levels, the Hasse diagram."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import amble
from amble import Distribution
from amble.distributions import partial_order as orders
from amble.distributions.partial_order import PartialOrder, order_systems

ATOMS = st.lists(st.tuples(st.integers(-2, 3), st.integers(1, 4)), min_size=1, max_size=4)
CODE = {"less": -1, "greater": 1, "equal": 0, "incomparable": 2}
ORDERS = ("first", "second")


def distribution_of(atoms: list[tuple[int, int]]) -> Distribution:
    total = sum(n for _, n in atoms)
    return Distribution([v for v, _ in atoms], [n / total for _, n in atoms])


SYSTEMS = st.lists(ATOMS.map(distribution_of), min_size=1, max_size=7).map(
    lambda distributions: {f"s{i}": x for i, x in enumerate(distributions)}
)


def pairwise(
    distributions: dict[str, Distribution], order: str = "first", tolerance: float | None = None
) -> list[list[int]]:
    return [[CODE[a.compare(b, tolerance, order)] for b in distributions.values()] for a in distributions.values()]


def below(found: PartialOrder) -> set[tuple[tuple[str, ...], tuple[str, ...]]]:
    """All pairs of classes that are joined by a way down the diagram."""
    closed = set(found.edges)
    while True:
        more = {(a, d) for a, b in closed for c, d in closed if b == c} - closed
        if not more:
            return closed
        closed |= more


def consistent(found: PartialOrder) -> None:
    """What holds for any verdicts, transitive or not."""
    names = [name for group in found.classes for name in group]
    assert sorted(names) == sorted(found.names)
    assert sorted(name for step in found.levels for name in step) == sorted(found.names)
    level = {name: i for i, step in enumerate(found.levels) for name in step}
    group = {name: members for members in found.classes for name in members}
    closed = below(found)
    for a, b in itertools.product(found.names, repeat=2):
        if found.verdict(a, b) == "greater":
            assert group[a] == group[b] or (group[a], group[b]) in closed
    for better, worse in found.edges:
        assert {level[name] for name in better} < {level[name] for name in worse} or level[better[0]] < level[worse[0]]
        assert not any((better, other) in closed and (other, worse) in closed for other in found.classes)
    for members in found.classes:
        assert len({level[name] for name in members}) == 1
        above = [level[better[0]] for better, worse in found.edges if worse == members]
        assert level[members[0]] == max(above, default=-1) + 1
    assert not any(a == b for a, b in closed)
    assert sum(found.counts.values()) == len(found.names) * (len(found.names) - 1) // 2
    assert found.dot().count("->") == len(found.edges)
    assert found.dot().count("label") == len(found.classes)


def test_by_hand() -> None:
    # top (1 for all) dominates all; sure (1/2 for all) and risky (0 or 1) cross; low (0 or 1/2) is below both:
    # F_low = 1/2, 1, 1 at 0, 1/2, 1; F_risky = 1/2, 1/2, 1; F_sure = 0, 1, 1. none (0 for all) is below all
    distributions = {
        "none": Distribution([0], [1]),
        "risky": Distribution([0, 1], [0.5, 0.5]),
        "top": Distribution([1], [1]),
        "low": Distribution([0, 0.5], [0.5, 0.5]),
        "sure": Distribution([0.5], [1]),
        "twin": Distribution([1, 0], [0.5, 0.5]),
    }
    found = order_systems(distributions)
    assert found.names == tuple(distributions)
    assert found.matrix.dtype == np.int8
    assert found.matrix.tolist() == [
        [0, -1, -1, -1, -1, -1],
        [1, 0, -1, 1, 2, 0],
        [1, 1, 0, 1, 1, 1],
        [1, -1, -1, 0, -1, -1],
        [1, 2, -1, 1, 0, 2],
        [1, 0, -1, 1, 2, 0],
    ]
    assert found.classes == (("top",), ("risky", "twin"), ("sure",), ("low",), ("none",))
    assert found.levels == (("top",), ("risky", "sure", "twin"), ("low",), ("none",))
    assert found.edges == (
        (("top",), ("risky", "twin")),
        (("top",), ("sure",)),
        (("risky", "twin"), ("low",)),
        (("sure",), ("low",)),
        (("low",), ("none",)),
    )
    # 15 pairs: sure with risky and twin are incomparable, risky and twin equal. By rows above the diagonal, "less":
    # none 5, risky 1 (top), low 2 (sure, twin); "greater": risky 1 (low), top 3
    assert found.counts == {"less": 8, "greater": 4, "equal": 1, "incomparable": 2}
    assert found.comparable == pytest.approx(13 / 15)
    assert [found.verdict("sure", other) for other in distributions] == [
        "greater",
        "incomparable",
        "less",
        "greater",
        "equal",
        "incomparable",
    ]
    assert found.table().rows == [
        (0, "top", 5, 0, 0, 0),
        (1, "risky", 2, 1, 1, 1),
        (1, "sure", 2, 1, 0, 2),
        (1, "twin", 2, 1, 1, 1),
        (2, "low", 1, 4, 0, 0),
        (3, "none", 0, 5, 0, 0),
    ]
    facts = json.loads(found.table().json())
    assert facts["order"] == "first"
    assert facts["pairs"]["incomparable"] == 2
    assert repr(found) == "PartialOrder(6 systems, 4 levels, 86.67 % of pairs comparable)"
    consistent(found)
    # by the second order, sure is better than risky: the same mean without risk
    second = order_systems(distributions, "second")
    assert second.order == "second"
    assert second.verdict("sure", "risky") == "greater"
    assert second.levels == (("top",), ("sure",), ("risky", "twin"), ("low",), ("none",))
    assert second.comparable == 1


def test_one_system() -> None:
    found = order_systems({"a": Distribution([1], [1])})
    assert found.classes == found.levels == (("a",),)
    assert found.edges == ()
    assert found.comparable == 1
    assert found.table().rows == [(0, "a", 0, 0, 0, 0)]


def test_names_in_graphviz() -> None:
    found = PartialOrder(['a "b"', "c\\d", "e\nf"], [[0, 1, 1], [-1, 0, 0], [-1, 0, 0]])
    assert found.dot().splitlines() == [
        "digraph {",
        "  node [shape=box];",
        '  n0 [label="a \\"b\\""];',
        '  n1 [label="c\\\\d\\ne f"];',
        "  n0 -> n1;",
        "}",
    ]


def test_a_circle_makes_one_class() -> None:
    # with the tolerance 0.1: at each of 1, 2, 3 one cdf is 0.15 above another, the third is between
    #   x   1      2      3      4
    #   a   0.2    0.475  0.75   1        b - a: 0.15, -0.075, -0.075   a better than b
    #   b   0.35   0.4    0.675  1        c - b: -0.075, 0.15, -0.075   b better than c
    #   c   0.275  0.55   0.6    1        a - c: -0.075, -0.075, 0.15   c better than a
    cdfs = {"a": [0.2, 0.475, 0.75, 1], "b": [0.35, 0.4, 0.675, 1], "c": [0.275, 0.55, 0.6, 1]}
    distributions = {name: Distribution([1, 2, 3, 4], np.diff(cdf, prepend=0)) for name, cdf in cdfs.items()}
    distributions |= {"best": Distribution([5], [1]), "worst": Distribution([0], [1])}
    found = order_systems(distributions, tolerance=0.1)
    assert [found.verdict(*pair) for pair in ("ab", "bc", "ca")] == ["greater"] * 3
    assert found.classes == (("best",), ("a", "b", "c"), ("worst",))
    assert found.edges == ((("best",), ("a", "b", "c")), (("a", "b", "c"), ("worst",)))
    consistent(found)
    assert order_systems(distributions).counts["incomparable"] == 3


def test_equal_is_not_passed_on() -> None:
    # shares of 0 of 0.5, 0.45, 0.4 and the tolerance 0.07: neighbours are equal, a and c are not
    distributions = {name: Distribution([0, 1], [p, 1 - p]) for name, p in (("a", 0.5), ("b", 0.45), ("c", 0.4))}
    found = order_systems(distributions, tolerance=0.07)
    assert (found.verdict("a", "b"), found.verdict("b", "c"), found.verdict("c", "a")) == ("equal", "equal", "greater")
    assert found.classes == (("b",), ("c",), ("a",))
    assert found.levels == (("b", "c"), ("a",))
    assert found.edges == ((("c",), ("a",)),)
    consistent(found)


def test_better_is_passed_on() -> None:
    # the verdicts of c and a say nothing, the diagram goes on: a over b over c
    found = PartialOrder("abc", [[0, 1, 2], [-1, 0, 1], [2, -1, 0]])
    assert found.levels == (("a",), ("b",), ("c",))
    assert found.edges == ((("a",), ("b",)), (("b",), ("c",)))
    consistent(found)


@given(SYSTEMS, st.sampled_from(ORDERS))
def test_agrees_with_pairs(distributions: dict[str, Distribution], order: str) -> None:
    found = order_systems(distributions, order)
    assert found.matrix.tolist() == pairwise(distributions, order)
    consistent(found)
    # exact distributions: the closure of the diagram is the relation, and classes are the equal ones
    closed = below(found)
    group = {name: members for members in found.classes for name in members}
    for a, b in itertools.product(distributions, repeat=2):
        assert ((group[a], group[b]) in closed) == (found.verdict(a, b) == "greater")
        assert (group[a] == group[b]) == (found.verdict(a, b) == "equal")
    for name in found.levels[0]:
        assert not any(found.verdict(other, name) == "greater" for other in distributions)


@given(SYSTEMS, st.sampled_from(ORDERS), st.floats(0, 0.4))
def test_agrees_with_pairs_within_a_tolerance(
    distributions: dict[str, Distribution], order: str, tolerance: float
) -> None:
    found = order_systems(distributions, order, tolerance)
    assert found.matrix.tolist() == pairwise(distributions, order, tolerance)
    consistent(found)


@given(st.integers(1, 7).flatmap(lambda n: st.lists(st.sampled_from([-1, 0, 1, 2]), min_size=n * n, max_size=n * n)))
def test_any_verdicts_make_a_diagram(codes: list[int]) -> None:
    n = int(np.sqrt(len(codes)))
    upper = np.triu(np.reshape(codes, (n, n)), 1)
    matrix = upper + np.where(upper == 2, 2, -upper).T
    consistent(PartialOrder([f"s{i}" for i in range(n)], matrix))


@pytest.mark.parametrize("probes", [2, 3, 40, 1024])
@pytest.mark.parametrize("order", ORDERS)
def test_probes_change_nothing(probes: int, order: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(orders, "_PROBES", probes)
    rng = np.random.default_rng(probes)
    distributions = {}
    for i in range(24):
        values = (rng.random(300) ** (1 + i % 6 / 3) + i % 3 / 10).round(1 + i % 4)
        distributions[f"s{i}"] = Distribution(values - 0.5, rng.dirichlet(np.ones(300)), users=(None, 5000)[i % 2])
    distributions["again"] = Distribution(distributions["s0"].values * (1 + 1e-15), distributions["s0"].probs)
    distributions["far"] = Distribution([-1e9, 1e9], [0.5, 0.5])
    distributions["one"] = Distribution([0], [1])
    for tolerance in (None, 0, 0.02):
        found = order_systems(distributions, order, tolerance)
        assert found.matrix.tolist() == pairwise(distributions, order, tolerance)
        consistent(found)
    assert set(order_systems(distributions, order).counts.values()) - {0}


def test_far_values_do_not_disturb_near_ones() -> None:
    # integrals of near distributions are compared where the distributions are, not at 1e12, where a unit of rounding is
    # 1e-4
    near = {f"s{i}": Distribution(np.linspace(0, 1, 101) + i * 1e-3, np.full(101, 1 / 101)) for i in range(4)}
    near["twin"] = Distribution(np.repeat(near["s0"].values, 3), np.full(303, 1 / 303))
    distributions = near | {"far": Distribution([1e12], [1])}
    found = order_systems(distributions, "second")
    assert found.matrix.tolist() == pairwise(distributions, "second")
    assert found.verdict("s0", "twin") == "equal"
    assert found.levels == (("far",), ("s3",), ("s2",), ("s1",), ("s0", "twin"))


def test_systems_over_topics() -> None:
    ap = amble.parse("AP")
    lists = {"good": [[1, 1, 0], [1, 0, 1]], "mixed": [[0, 1, 1], [1, 1, 0]], "bad": [[0, 0, 1], [0, 1, 0]]}
    distributions = {
        name: Distribution.mixture([ap.distribution(grades, relevant=2) for grades in many])
        for name, many in lists.items()
    }
    # good: 1 three times of four, 2/3 once. mixed: 1/2, 2/3, 1, 1. bad: 0, 1/3, 0, 1/2
    found = order_systems(distributions)
    assert found.levels == (("good",), ("mixed",), ("bad",))


def test_nothing_given_is_changed() -> None:
    distributions = {"a": Distribution([0, 1], [0.5, 0.5]), "b": Distribution([0.2], [1], users=50)}
    before = {
        name: (distribution.values.tolist(), distribution.probs.tolist(), distribution.users)
        for name, distribution in distributions.items()
    }
    one, two = order_systems(distributions), order_systems(distributions)
    assert one.matrix.tolist() == two.matrix.tolist()
    assert one.dot() == two.dot()
    assert before == {
        name: (distribution.values.tolist(), distribution.probs.tolist(), distribution.users)
        for name, distribution in distributions.items()
    }
    assert list(distributions) == ["a", "b"]
    with pytest.raises(ValueError, match="read-only"):
        one.matrix[0, 0] = 1
    matrix = np.zeros((1, 1), np.int8)
    PartialOrder(["a"], matrix)
    matrix[0, 0] = 1  # still its owner's


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: order_systems({}), "needs a distribution of each, by name; found none"),
        (lambda: order_systems([Distribution([1], [1])]), "by name; found list"),  # type: ignore[arg-type]
        (lambda: order_systems({"a": Distribution([1], [1]), "b": 3}), "'b' has int"),  # type: ignore[dict-item]
        (lambda: order_systems({1: Distribution([1], [1])}), "by name; 1 has Distribution"),  # type: ignore[dict-item]
        (lambda: order_systems({"a": Distribution([1], [1])}, "third"), "order='third': expected one of 'first'"),
        (lambda: order_systems({"a": Distribution([1], [1])}, tolerance=-0.1), "tolerance=-0.1"),
        (lambda: order_systems({"a": Distribution([1], [1])}).verdict("a", "b"), "system='b': expected one of 'a'"),
        (lambda: PartialOrder([], np.zeros((0, 0))), "found 0"),
        (lambda: PartialOrder(["a", "a"], np.zeros((2, 2))), "each once"),
        (lambda: PartialOrder(["a"], [[0, 1]]), "square"),
        (lambda: PartialOrder(["a", "b"], [[0, 1], [1, 0]]), "mirrored"),
        (lambda: PartialOrder(["a", "b"], [[0, 3], [-3, 0]]), "−1, 0, 1 and 2"),
        (lambda: PartialOrder(["a"], [[2]]), "0 on its diagonal"),
    ],
)
def test_bad_input(call, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(amble.MeasureError, match=message):
        call()
