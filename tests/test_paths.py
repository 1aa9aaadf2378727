"""Paths: what each simulated reader did, what an observed reader gained, and the chain behind both."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from drawing import examples
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import amble
from amble.measures import PH, REGISTRY
from amble.measures.gain_maps import binary
from amble.users import DenseUser, Forward, MarkovUser, Walk
from amble.users.paths import check_path, collected, times_before

R = [1, 0, 0, 1, 0, 0, 1, 0, 0, 1]
USERS = 4000


def total(path: NDArray[Any], grades: list[float], worth: Any) -> float:
    """What a path gains, visit by visit; ``worth(k, y)`` of the k-th visit, counted from 1."""
    seen: Counter[int] = Counter()
    out = 0.0
    for rank in path.tolist():
        seen[rank] += 1
        out += worth(seen[rank], grades[rank - 1]) if rank <= len(grades) else 0.0
    return out


# ---- simulated readers

WALKS = [
    ("PH", 0.25),
    ("PH(p=.6,q=.3,loss=1)", 1.0),
    ("PH(p=.4,q=.4,loss=0,first='stop')", 0.0),
    ("PH(start='0.2,0.5,0.3',loss=.5)", 0.5),
    ("PH(p='0=.6,1=.3',q='0=.1,1=.4',loss=.5)", 0.5),
    ("PH(p=.8,q=.1,end='endless',loss=.25)", 0.25),
]


@pytest.mark.parametrize(("measure", "loss"), WALKS)
def test_walks_are_the_walker_s(measure: str, loss: float) -> None:
    found = amble.simulate(measure, R, users=USERS, seed=7, paths=True)
    assert found.paths is not None
    assert found.gain is not None
    assert found.visits is not None
    assert len(found.paths) == found.gain.size == found.visits.size == USERS
    assert [path.size for path in found.paths] == found.visits.tolist()
    by_hand = [total(path, R, lambda k, y: y * (1 - loss) ** (k - 1)) for path in found.paths]
    np.testing.assert_allclose(found.gain, by_hand, atol=1e-12)
    assert all((np.abs(np.diff(path)) == 1).all() for path in found.paths)
    # nothing else of the simulation changes, and the readers are the same however many there are
    plain = amble.simulate(measure, R, users=USERS, seed=7, threads=2)
    assert (plain.paths, plain.gain, plain.visits) == (None, None, None)
    assert (plain.mean, plain.order2) == (found.mean, found.order2)
    assert plain.mean_visits == pytest.approx(found.visits.mean(), abs=1e-12)
    few = amble.simulate(measure, R, users=50, seed=7, paths=True)
    assert few.paths is not None
    assert [path.tolist() for path in few.paths] == [path.tolist() for path in found.paths[:50]]


def probability(path: tuple[int, ...], p: NDArray[np.float64], start: NDArray[np.float64]) -> float:
    """Of a path, from the transition matrix: what a row lacks to 1 is a stop."""
    steps = math.prod(p[i - 1, j - 1] for i, j in itertools.pairwise(path))
    return float(start[path[0] - 1] * steps * (1 - p[path[-1] - 1].sum()))


@pytest.mark.parametrize("measure", [w for w, _ in WALKS if "endless" not in w])
def test_paths_are_as_likely_as_the_transition_matrix_says(measure: str) -> None:
    m = amble.parse(measure)
    p = m.user(R).transition_matrix
    start = np.array([0.2, 0.5, 0.3]) if "start" in measure else np.ones(1)
    found = amble.simulate(m, R, users=20_000, seed=11, paths=True)
    assert found.paths is not None
    counts = Counter(tuple(path.tolist()) for path in found.paths)
    for path, count in counts.most_common(12):
        expected = probability(path, p, start)
        assert abs(count / 20_000 - expected) < 5 * math.sqrt(expected * (1 - expected) / 20_000)


@pytest.mark.parametrize("measure", ["RBP(p=.8)", "INSQ(T=2)", "AP", "ERR", "DCG", "P@4", "INST(T=1)", "RBP(p=.99)"])
def test_forward_readers_go_down(measure: str) -> None:
    found = amble.simulate(measure, R, users=500, seed=2, paths=True, relevant=6, max_grade=1)
    assert found.paths is not None
    assert found.gain is not None
    assert found.visits is not None
    for path, visits, gain in zip(found.paths, found.visits, found.gain, strict=True):
        assert path.tolist() == list(range(1, visits + 1))
        read = 1.0 if measure == "ERR" else sum(R[:visits])  # 1 for who is satisfied
        assert gain == pytest.approx(read) or (measure in ("AP", "ERR") and gain == 0 and visits == 10)
    if measure == "AP":  # a third of the relevant documents is not on the list: as many readers leave with nothing
        assert np.mean(found.gain == 0) == pytest.approx(1 / 3, abs=0.1)


class EverySecond(DenseUser):
    """Reads every second document, and goes back at times."""

    def transitions(self, gains: Any, i: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        n = gains.by_rank(i).size
        return 0.5 * np.eye(n, k=2) + 0.2 * np.eye(n, k=-2), np.eye(n)[0]


def test_readers_of_any_chain() -> None:
    @amble.measure("_Second", question="order1", gain=binary)
    def second() -> Any:
        """She reads every second document."""
        return EverySecond()

    try:
        m = amble.parse("_Second")
        assert m.user([1, 0, 1]).transition_matrix.tolist() == [[0, 0, 0.5], [0, 0, 0], [0.2, 0, 0]]
        found = amble.simulate(m, R, users=USERS, seed=7, paths=True)
        assert found.paths is not None
        assert found.gain is not None
        assert found.visits is not None
        np.testing.assert_allclose(found.gain, [total(path, R, lambda k, y: y) for path in found.paths])
        assert [path.size for path in found.paths] == found.visits.tolist()
        assert all((np.abs(np.diff(path)) == 2).all() for path in found.paths)
        assert np.mean([m.score_path(path, R) for path in found.paths[:200]]) == pytest.approx(
            float(np.mean(found.gain[:200] / found.visits[:200]))
        )
    finally:
        del REGISTRY["_Second"]


def test_markov_readers_of_some_steps() -> None:
    grades = [1, 0, 1, 1, 0, 0, 1]
    m = amble.parse("MP(model='GL_AD_ID',steps=5)")
    found = amble.simulate(m, grades, users=USERS, seed=7, paths=True)
    assert found.paths is not None
    assert found.gain is not None
    precision = dict(zip([1, 3, 4, 7], [1, 2 / 3, 3 / 4, 4 / 7], strict=True))
    assert all(path.size == 5 and path[0] == 1 and set(path.tolist()) <= set(precision) for path in found.paths)
    np.testing.assert_allclose(found.gain, [sum(precision[rank] for rank in path.tolist()) for path in found.paths])
    assert m.score_path(found.paths[0], grades) == pytest.approx(found.gain[0] / 5)
    empty = amble.simulate(m, [0, 0], users=3, paths=True)
    assert empty.paths is not None
    assert [path.size for path in empty.paths] == [0, 0, 0]


def test_paths_that_are_too_many_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("amble.evaluation.simulated_distributions._MOST_KEPT", 1000)
    with pytest.raises(amble.MeasureError, match=r"^PH: paths of 1,000 users: more than 1,000 visits; .* fewer users$"):
        amble.simulate("PH", R, users=1000, paths=True)
    with pytest.raises(amble.MeasureError, match="paths are of users who read one list, not a session"):
        amble.simulate("MsM", [[1], [0]], users=10, paths=True)
    with pytest.raises(amble.MeasureError, match="bpref is not a user"):
        amble.simulate("bpref", R, users=10, paths=True)


def test_paths_of_a_population() -> None:
    # with 3/10 who read on with .9 and never go back, and 7/10 who go back and forth
    kinds = {PH(p=0.9, q=0): 0.3, PH(p=0.3, q=0.4): 0.7}
    m = amble.Mixture(kinds)
    found = amble.simulate(m, R, users=USERS, seed=7, paths=True)
    assert found.paths is not None
    assert found.gain is not None
    assert found.visits is not None
    assert [path.size for path in found.paths] == found.visits.tolist()
    np.testing.assert_allclose(found.gain, [total(path, R, lambda k, y: y * 0.75 ** (k - 1)) for path in found.paths])
    assert found.mean == pytest.approx(float(np.mean(found.gain / found.visits)))
    assert np.mean([path.max() > 5 and (np.diff(path) > 0).all() for path in found.paths]) == pytest.approx(
        0.3 * 0.9**5, abs=4 * np.sqrt(0.2 / USERS)
    )
    assert found.paths[0].size  # the same readers as without paths
    assert amble.simulate(m, R, users=USERS, seed=7).distance(found) == 0


@pytest.mark.parametrize("name", ["PH", "AP", "PH(p='0.5,0.4')", "MP(steps=3)", "PH(loss=0,effort='h+1')", "RR", "DCG"])
def test_readers_of_a_list_without_documents(name: str) -> None:
    found = amble.simulate(name, [], users=3, seed=1, paths=True)
    assert (found.mean, found.order2, found.mean_visits) == (0, 0, 0)
    assert [path.tolist() for path in found.paths or ()] == [[], [], []]
    endless = amble.simulate("RBP", [], users=3, seed=1, paths=True)  # reads on, whatever the list has
    assert all(path[0] == 1 for path in endless.paths or ())


# ---- observed readers


def test_example_of_ferrante_and_ferro() -> None:
    # FF20, Example 4.1: 3 + 2 + 3 x .5 + 2 x .5 + 3 = 10.5 by H = 5 visits
    m = amble.parse("PH(gains='linear',loss=.5)")
    assert m.score_path([1, 2, 1, 2, 3], [3, 2, 3, 0, 1]) == 2.1
    assert m.with_value("effort", "h^2").score_path([1, 2, 1, 2, 3], [3, 2, 3, 0, 1]) == pytest.approx(10.5 / 25)
    assert m.with_value("loss", 0.0).score_path([1, 2, 1, 2, 3], [3, 2, 3, 0, 1]) == pytest.approx(13 / 5)


@pytest.mark.parametrize(
    ("measure", "path", "context", "score"),
    [
        ("RBP(p=.5)", [1, 2, 3, 4], {}, 2 / 4),
        ("RBP(p=.5)", range(1, 21), {}, 4 / 20),  # reads on, beyond the list
        ("P@4", [1, 2, 3, 4], {}, 2 / 4),
        ("AP", [1, 2, 3, 4], {"relevant": 8}, 2 / 4),
        ("DCG", [1, 2, 3, 4], {}, 2),
        ("nDCG", [1, 2, 3, 4], {}, 2 / (1 + 1 / math.log2(3) + 1 / 2 + 1 / math.log2(5))),
        ("RR", [1], {}, 1),
        ("ERR", [1, 2], {}, 0),  # rank 2 satisfies nobody
        ("ERR", [1, 2, 3, 4], {}, 1 / 4),
        ("R", range(1, 11), {"relevant": 8}, 4 / 8),
        ("PH(p=.7,end='endless',loss=0)", [10, 11, 12, 11, 10], {}, 2 / 5),
        ("PH(utility='1,.5,.1')", [1, 1, 1, 1], {}, (1 + 0.5 + 0.1 + 0.1) / 4),
        # 12 seconds at rank 1, 8 below it, and 5 more: (1 + .75) / (5 + 12 + 8 + 12)
        ("PH(effort='time',seconds='12,8',overhead=5)", [1, 2, 1], {}, 1.75 / 37),
        ("MP(model='GL_AD_ID')", [1, 2, 1, 4], {}, (1 + 1 + 2 / 4) / 3),
        ("MP(model='GL_AD_ID',rescale='R')", [1, 2, 1, 4], {"relevant": 8}, (1 + 1 + 2 / 4) / 3 * 4 / 8),
        ("MP(model='GL_AD_ID',rates='1,1,1,.5')", [1, 4], {}, (1 + 2 * 2 / 4) / 3),  # twice as long at rank 4
        ("MP(model='GL_AD_ID')", [2, 3], {}, 0),
    ],
)
def test_scores_of_paths(measure: str, path: Any, context: dict[str, Any], score: float) -> None:
    assert amble.parse(measure).score_path(path, R, **context) == pytest.approx(score, abs=1e-15)


@given(st.lists(st.integers(1, 6), min_size=1, max_size=30), st.floats(0, 1))
@examples(40)
def test_a_path_visit_by_visit(path: list[int], loss: float) -> None:
    grades = [0.0, 1.0, 3.0, 2.0, 0.0, 1.0]
    m = amble.parse(f"PH(gains='linear',loss={loss!r})")
    expected = total(np.array(path), grades, lambda k, y: y * (1 - loss) ** (k - 1)) / len(path)
    assert m.score_path(path, grades) == pytest.approx(expected, abs=1e-12)


def test_the_mean_over_paths_is_order_1() -> None:
    m = amble.parse("PH(p=.6,q=.3,loss=.5)")
    found = amble.simulate(m, R, users=2000, seed=5, paths=True)
    assert found.paths is not None
    scores = [m.score_path(path, R) for path in found.paths]
    assert np.mean(scores) == pytest.approx(found.mean, abs=1e-12)
    assert abs(np.mean(scores) - m.value(R)) < 4 * found.standard_error


@pytest.mark.parametrize(
    ("measure", "path", "message"),
    [
        ("PH", [], r"PH: path \[\]: expected one rank or more"),
        ("PH", [[1, 2]], r"PH: path \[\[1, 2\]\]: expected one rank or more"),
        ("PH", ["a"], r"PH: path \['a'\]: expected ranks, such as \[1, 2, 1\]"),
        ("PH", [1, 2.5], "PH: path: visit 2 is to rank 2.5, expected a rank from 1 to 10, beyond which"),
        ("PH", [1, 0], "PH: path: visit 2 is to rank 0, expected a rank from 1 to 10"),
        ("PH", [1, math.nan], "PH: path: visit 2 is to rank nan"),
        ("PH", [10, 11], "PH: path: visit 2 is to rank 11, expected a rank from 1 to 10"),
        ("PH@4", [1, 5], "visit 2 is to rank 5, expected a rank from 1 to 4"),
        ("P@4", [1, 2, 3, 4, 5], "visit 5 is to rank 5, expected a rank from 1 to 4"),
        ("RBP", [1, -1], "visit 2 is to rank -1, expected a rank of at least 1"),
        ("RBP", [1, 2, 1], r"RBP: path: visit 3 is to rank 1, expected 3: this user walks down"),
        ("RR", [1, 2], "visit 2 is to rank 2, expected a rank from 1 to 1, beyond which this user never goes"),
        ("AP", [2, 3], "visit 1 is to rank 2, expected 1: this user walks down"),
        ("MP(model='GL_AD_ID')", [1, 11], "visit 2 is to rank 11, expected a rank from 1 to 10"),
        ("bpref", [1], "bpref is not a user: it is computed from the whole list at once"),
        ("RBP(p=Beta(8,2))", [1], "population"),
    ],
)
def test_bad_paths(measure: str, path: Any, message: str) -> None:
    with pytest.raises(amble.MeasureError, match=message) as found:
        amble.parse(measure).score_path(path, R)
    assert "\n" not in str(found.value)


def test_parts() -> None:
    assert times_before(np.array([3, 3, 1, 3])).tolist() == [0, 1, 0, 2]
    assert check_path(range(1, 3), 2).tolist() == [1, 2]
    assert [path.tolist() for path in collected([], 2)] == [[], []]


# ---- transition matrices


def test_transition_matrices() -> None:
    down = Forward(continuation=np.array([0.5, 0.4, 0.3])).over(3).transition_matrix
    assert down.tolist() == [[0, 0.5, 0], [0, 0, 0.4], [0, 0, 0]]
    there = Walk([0.5, 0.6, 0.7], 0.25).over(3).transition_matrix  # at rank 1 back is forward, at rank 3 forward stops
    assert there.tolist() == [[0, 0.75, 0], [0.25, 0, 0.6], [0, 0.25, 0]]
    looks = amble.parse("PH(p='0=.6,1=.3',q=.1)").user([0, 1]).transition_matrix
    np.testing.assert_allclose(looks, [[0, 0.7], [0.1, 0]])
    # weights 1/2 and 1/3 to the neighbours at distance 1 and 2; only neighbours; only the relevant ranks
    for model, expected in (
        ("GL_AD_ID", [[0, 3 / 5, 2 / 5], [1 / 2, 0, 1 / 2], [2 / 5, 3 / 5, 0]]),
        ("LO_AD_ID", [[0, 1, 0], [1 / 2, 0, 1 / 2], [0, 1, 0]]),
        ("GL_OR_ID", [[0, 1], [1, 0]]),
    ):
        np.testing.assert_allclose(MarkovUser(model).over([1, 0, 1]).transition_matrix, expected)
    own = np.array([[0.2, 0.8], [0.5, 0.5]])
    np.testing.assert_allclose(MarkovUser(matrix=own).over([1, 1]).transition_matrix, own)
    with pytest.raises(amble.MeasureError, match="declared by a distribution, not by a chain"):
        _ = MarkovUser(distribution=[0.5, 0.5]).over([1, 1]).transition_matrix
    with pytest.raises(amble.MeasureError, match=r"between 10,000 ranks, from each to each, are too many"):
        _ = amble.parse("RBP").user([0] * 10_000).transition_matrix


@pytest.mark.parametrize("model", ["GL_AD_ID", "LO_AD_LID", "GL_AD_NA", "GL_OR_LID"])
@pytest.mark.parametrize("counts", ["NA", "FRBN", "FNBR"])
def test_markov_users_settle_where_their_matrix_says(model: str, counts: str) -> None:
    user = MarkovUser(model, loops="SL", counts=counts).over([1, 0, 1, 1, 0, 1])
    p = user.transition_matrix
    np.testing.assert_allclose(p.sum(axis=1), 1)
    pi = user.everywhere[user.everywhere > 0]
    np.testing.assert_allclose(pi @ p, pi, atol=1e-13)


def test_visits_follow_from_the_matrix() -> None:
    # V = start (I - P)^-1
    for measure in ("PH(p=.5,q=.3)", "RBP(p=.5,finite=True)", "AP", "P"):
        user = amble.parse(measure).user(R)
        visits = np.linalg.solve((np.eye(10) - user.transition_matrix).T, np.eye(10)[0])
        np.testing.assert_allclose(visits, user.visits, atol=1e-12)


def test_walks_that_look_are_shown_without_one_chain() -> None:
    m = amble.measures.PH(p=lambda seen: 0.6 / (1 + seen), q=0.0, loss=0)
    user = m.user([0, 1, 0])
    # .6 from rank 1, where nothing is seen, and .3 from rank 2, where 1 is
    np.testing.assert_allclose(user.by_rank["V"], [1, 0.6, 0.18])
    assert list(user.by_rank) == ["C", "V", "W", "L"]
    with pytest.raises(amble.MeasureError, match="no one chain of ranks"):
        _ = user.transition_matrix


def test_gain_of_readers_is_that_of_the_question() -> None:
    # grades 1, 0, 2 of 2 satisfy with 1/4, 0 and 3/4: P[satisfied] = 1/4 + 3/4 x 3/4; T is 1 for these, else 0
    readers = amble.simulate("PH(model='ERR',order=2)", [1, 0, 2], users=20_000, seed=1, paths=True, max_grade=2)
    assert set(np.unique(readers.gain).tolist()) == {0.0, 1.0}  # type: ignore[arg-type]
    assert readers.gain.mean() == pytest.approx(1 / 4 + 9 / 16, abs=4 * 0.39 / 20_000**0.5)  # type: ignore[union-attr]
    # AP's user stops at each of four relevant documents with 1/4; in order 2 who finds no more has gained both
    readers = amble.simulate("PH(model='AP',order=2)", [1, 0, 1], users=20_000, seed=1, paths=True, relevant=4)
    assert set(np.unique(readers.gain).tolist()) == {1.0, 2.0}  # type: ignore[arg-type]
    assert readers.gain.mean() == pytest.approx(1 / 4 * 1 + 3 / 4 * 2, abs=4 * 0.44 / 20_000**0.5)  # type: ignore[union-attr]


def test_no_transitions_where_there_are_no_states() -> None:
    alike = MarkovUser(matrix=lambda rank: np.full((rank.size, rank.size), 1.0 / rank.size), states="OR")
    assert alike.over([0, 0, 0]).transition_matrix.shape == (0, 0)
    assert alike.over([1, 0, 1]).transition_matrix.tolist() == [[0.5, 0.5], [0.5, 0.5]]
