"""Orders of judging: every step by the rules, every document once, and what is found by how many judgments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from drawing import examples
from hypothesis import given
from hypothesis import strategies as st

import amble
from amble.judging import ORDERS, Judging, order_pool, simulate_judging
from amble.judging.judging_orders import LEARNING

TWO = {"x": {"1": {"a": 3.0, "b": 2.0, "c": 1.0}}, "y": {"1": {"d": 9.0, "e": 8.0, "f": 7.0}}}


def sequence(pool: amble.Pool, order: str, qrels: Any, **options: Any) -> str:
    return "".join(pool.docs[row] for row in order_pool(pool, order, qrels, **options))


def test_fixed_orders() -> None:
    pool = amble.pool({"x": {"1": {"c": 3.0, "a": 2.0}}, "y": {"1": {"b": 9.0, "c": 8.0}}}, 2)
    assert sequence(pool, "docno", None) == "abc"
    assert sequence(pool, "rank", None) == "bca"  # b and c are first somewhere, a second
    assert sorted(sequence(pool, "random", None, seed=5)) == ["a", "b", "c"]


def test_random_order_differs_by_seed_and_topic() -> None:
    pool = amble.pool({"x": {topic: {f"d{i:02d}": -float(i) for i in range(20)} for topic in "12"}}, 20)
    orders = [order_pool(pool, "random", seed=seed).tolist() for seed in range(5)]
    assert len(set(map(tuple, orders))) == 5
    assert orders[0][:20] != [row - 20 for row in orders[0][20:]]  # two topics with the same documents


def test_move_to_front_by_hand() -> None:
    pool = amble.pool(TWO, 3)
    # whoever is drawn first, a relevant document keeps the run in front, and one that is not sends it back once
    assert sequence(pool, "mtf", {"1": dict.fromkeys("abcdef", 1)}) in ("abcdef", "defabc")
    # nothing relevant: priorities 0 0, -1 0, -1 -1, ... so the runs take turns, two by two
    nothing = sequence(pool, "mtf", {"1": {"a": 0}})
    for start in (0, 2, 4):
        assert len({"x" if doc in "abc" else "y" for doc in nothing[start : start + 2]}) == 2


def test_max_mean_by_hand() -> None:
    pool = amble.pool(TWO, 3)
    # d e relevant: x has (0 + 1) / (1 + 2) = 1/3 once it failed; y 2/3, 3/4, then 3/5 after f, so y is read to its end
    for seed in range(40):
        assert sequence(pool, "mm", {"1": {"d": 1, "e": 1}}, seed=seed) in ("defabc", "adefbc")
    # it forgets: after f y has 1/3, as x has if it failed before, and 1/2 if it was not asked
    assert {sequence(pool, "mm-ns", {"1": {"d": 1, "e": 1}}, seed=s)[:4] for s in range(40)} == {"defa", "adef"}


def test_orders_without_memory_keep_the_last_judgment_only() -> None:
    pool = amble.pool({"x": {"1": dict.fromkeys("abcd", 1.0)}, "y": {"1": dict.fromkeys("cdef", 1.0)}}, 4)
    for order, forgets in (("mm", False), ("mm-ns", True), ("ts", False), ("ts-ns", True)):
        judging = Judging(pool, "1", order, seed=1)
        while judging.next() is not None:
            judging.judge(1)
        judged = judging._steps.judged  # type: ignore[union-attr]
        assert (judged.max() == 1) if forgets else (judged.sum() == judging.made == 6), order


class Witness:
    """Looks at every step: does the document come from a run that the rule allows, as its next one?"""

    def __init__(self, pool: amble.Pool, order: str, seed: int) -> None:
        self.pool, self.order = pool, order
        self.judging = Judging(pool, "1", order, seed=seed)
        by_run: dict[int, list[tuple[int, int]]] = {}
        for row, run, rank in zip(pool.row.tolist(), pool.run.tolist(), pool.rank.tolist(), strict=True):
            by_run.setdefault(run, []).append((rank, row))
        self.lists = [[row for _, row in sorted(by_run[run])] for run in sorted(by_run)]
        self.history: list[list[bool]] = [[] for _ in self.lists]
        self.priority = [0] * len(self.lists)
        self.front: int | None = None
        self.done: set[int] = set()

    def worth(self, run: int) -> float:
        if self.order == "mtf":
            return self.priority[run]
        seen = self.history[run][-1:] if self.order == "mm-ns" else self.history[run]
        return (sum(seen) + 1) / (len(seen) + 2)

    def step(self, grades: dict[int, int]) -> bool:
        row = self.judging.next_row()
        if row is None:
            return False
        assert row not in self.done
        assert self.judging.next_row() == row  # asking twice changes nothing
        heads = {i: next((r for r in of if r not in self.done), None) for i, of in enumerate(self.lists)}
        left = {i: head for i, head in heads.items() if head is not None}
        run = self.judging._steps.current  # type: ignore[union-attr]
        assert left[run] == row
        if self.order == "mtf" and self.front in left:
            assert run == self.front
        elif self.order in ("mtf", "mm", "mm-ns"):
            assert self.worth(run) == max(self.worth(i) for i in left)
        relevant = grades[row] >= 1
        self.judging.judge(grades[row])
        self.done.add(row)
        self.history[run].append(relevant)
        self.priority[run] -= not relevant
        self.front = run if relevant else None
        return True


LISTS = st.lists(st.lists(st.sampled_from("abcdefghij"), min_size=1, max_size=8, unique=True), min_size=1, max_size=5)


@given(LISTS, st.sampled_from(LEARNING), st.integers(0, 5), st.lists(st.integers(0, 2), min_size=10, max_size=10))
@examples(150)
def test_every_step_is_by_the_rules(lists: list[list[str]], order: str, seed: int, grades: list[int]) -> None:
    runs = {f"r{i}": {"1": {d: -float(j) for j, d in enumerate(of)}} for i, of in enumerate(lists)}
    pool = amble.pool(runs, 6)
    witness = Witness(pool, order, seed)
    while witness.step(dict(enumerate(grades))):
        pass
    assert witness.done == set(range(len(pool)))
    assert witness.judging.made == len(pool)
    assert witness.judging.found == sum(g >= 1 for g in grades[: len(pool)])
    with pytest.raises(amble.AmbleError, match=f"all {len(pool)} documents are judged"):
        witness.judging.judge(1)


def test_thompson_draws_from_the_distribution_of_each_run() -> None:
    # x failed once: Beta(1, 2); y succeeded once: Beta(2, 1). P(draw of x > draw of y) = 1/6
    pool = amble.pool({"x": {"1": dict.fromkeys("ab", 1.0)}, "y": {"1": dict.fromkeys("cd", 1.0)}}, 2)
    chosen = []
    for seed in range(1500):
        judging = Judging(pool, "1", "ts", seed=seed)
        steps: Any = judging._steps
        steps.relevant[:], steps.judged[:] = [0, 1], [1, 1]
        chosen.append(judging.next() in ("a", "b"))
    assert np.mean(chosen) == pytest.approx(1 / 6, abs=4 * (5 / 36 / 1500) ** 0.5)


@pytest.mark.parametrize("order", ORDERS)
def test_seeds_and_other_topics(order: str) -> None:
    rng = np.random.default_rng(1)
    runs = {
        f"r{i}": {t: {f"d{d}": float(s) for d, s in enumerate(rng.random(12))} for t in ("1", "2")} for i in range(4)
    }
    qrels = {t: {f"d{d}": d % 2 for d in range(12)} for t in ("1", "2")}
    pool = amble.pool(runs, 6)
    first = order_pool(pool, order, qrels, seed=3)
    np.testing.assert_array_equal(first, order_pool(pool, order, qrels, seed=3))
    assert sorted(first.tolist()) == list(range(len(pool)))
    alone = amble.pool({name: {"2": run["2"]} for name, run in runs.items()}, 6)
    tail = [pool.docs[row] for row in first if row >= pool.rows("2").start]
    assert tail == [alone.docs[row] for row in order_pool(alone, order, qrels, seed=3)]
    only = np.arange(len(pool)) % 3 > 0
    assert sorted(order_pool(pool, order, qrels, only=only).tolist()) == np.flatnonzero(only).tolist()


def test_effort_by_hand() -> None:
    pool = amble.pool(TWO, 3)
    qrels = {"1": {"a": 0, "b": 0, "c": 1, "d": 1, "e": 1, "f": 1}}
    effort = simulate_judging(pool, qrels, ["docno"])
    # c d e f are relevant: found by the 3rd to the 6th judgment
    assert effort.at[0]["1"].tolist() == [3, 4, 5, 6]
    assert [effort.needed(share).tolist() for share in (0.25, 0.5, 0.51, 1)] == [[[3]], [[4]], [[5]], [[6]]]
    assert [effort.found(n).tolist() for n in (2, 3, 6)] == [[0.0], [0.25], [1.0]]
    assert [row[2:] for row in effort.table([0.5])] == [(4, 4 / 6, pytest.approx(2 / 6))]


def test_documents_that_nobody_judged() -> None:
    pool = amble.pool(TWO, 3)
    qrels = {"1": {"b": 0, "f": 1}}
    skip = simulate_judging(pool, qrels, ["docno", "mtf"])
    assert (skip.judged.tolist(), skip.at[0]["1"].tolist()) == ([2], [2])
    zero = simulate_judging(pool, qrels, ["docno"], unjudged="zero")
    assert (zero.judged.tolist(), zero.at[0]["1"].tolist()) == ([6], [6])


def test_topics_without_judgments_or_relevant_documents() -> None:
    runs = {"x": {"1": {"a": 1.0}, "2": {"b": 1.0}, "3": {"c": 1.0}}}
    effort = simulate_judging(amble.pool(runs, 1), {"1": {"a": 0}, "3": {"c": 1}}, ORDERS)
    assert effort.topics == ("3",)
    assert effort.needed(1.0).tolist() == [[1]] * len(ORDERS)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda pool: order_pool(pool, "best"), "order='best': expected one of 'docno'"),
        (lambda pool: order_pool(pool, "mtf"), "order 'mtf' learns from judgments: expected qrels"),
        (lambda pool: Judging(pool, "7"), "topic '7' is not in the pool, which has such as 1"),
        (lambda pool: Judging(pool, "1", seed=-1), "seed=-1"),
        (lambda pool: simulate_judging(pool, {"1": {"a": 0}}), "the pool has no relevant document"),
        (lambda pool: simulate_judging(pool, {"1": {"a": 1}}, unjudged="one"), "unjudged='one'"),
        (lambda pool: simulate_judging(pool, {"1": {"a": 1}}, []), "no orders given"),
        (lambda pool: simulate_judging(pool, {"1": {"a": 1}}, ["docno"]).needed(0), "target=0"),
    ],
)
def test_what_is_refused(call: Any, message: str) -> None:
    with pytest.raises(amble.AmbleError) as error:
        call(amble.pool(TWO, 3))
    assert message in str(error.value)
