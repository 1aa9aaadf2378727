"""C/W/L users by any formula, file or function: golden values, long sums written here, and what is refused."""

from __future__ import annotations

import itertools
import math
import pickle
from pathlib import Path

import numpy as np
import pytest

import amble
from amble.errors import MeasureError
from amble.expressions.formulas import Formula
from amble.measures import CWL, INSQ
from amble.users.series import Series
from amble.users.tails import InversePower

R = [1, 0, 0, 1, 0, 0, 1, 0, 0, 1]


# ---- the user whose attention falls as (i + 1)^-1.5


FORMS = [
    "CWL(W='1/(i+1)**1.5')",
    "CWL(V='2^1.5 * (i+1)^-1.5')",
    "CWL(C='((i+1)/(i+2))**1.5')",
    "CWL(H='1-((i+1)/(i+2))**1.5')",
    "CWL(L='1/(i+1)**1.5-1/(i+2)**1.5')",
    "INSQ(power=1.5)",
]


@pytest.mark.parametrize("name", FORMS)
def test_golden_values_of_a_heavy_tail(name: str) -> None:
    m = amble.parse(name)
    user = m.user(R)
    assert f"{m.value(R):.12f}" == "0.319156706391"
    assert f"{m.distribution(R).mean:.12f}" == "0.677099577756"
    assert f"{user.expected_depth:.12f}" == "4.560486171494"
    assert f"{user.residual(100):.12f}" == "0.123120255347"
    assert amble.parse(str(m)) == m == pickle.loads(pickle.dumps(m))
    if name.startswith("CWL"):
        assert f"{m(order=1).value(R):.12f}" == "0.677099577756"


def power_sum(c: float, a: float, first: int) -> float:
    """The sum of (i + c)^-a over i >= first: 3000 terms, and Euler and Maclaurin's for the rest."""
    n = first + 3000
    x = n + c
    rest = x ** (1 - a) / (a - 1) + x**-a / 2 + a * x ** (-a - 1) / 12 - a * (a + 1) * (a + 2) * x ** (-a - 3) / 720
    return math.fsum((i + c) ** -a for i in range(first, n)) + rest


@pytest.mark.parametrize(("c", "a"), [(0, 1.2), (1, 1.5), (2.5, 2.0), (7, 3.3), (40, 1.3)])
def test_power_tails_by_long_sums(c: float, a: float) -> None:
    total = power_sum(c, a, 1)
    m = amble.parse(f"CWL(W='1/(i+{c})**{a}')")
    gains = [0.5, 0, 1, 0.25]
    weights = [(i + c) ** -a / total for i in range(1, 5)]
    assert m.value(gains) == pytest.approx(sum(w * y for w, y in zip(weights, gains, strict=True)), rel=2e-12)
    user = m.user(gains)
    assert user.expected_depth == pytest.approx((1 + c) ** a * total, rel=2e-12)
    for k in (2, 4, 30, 4000):
        assert user.residual(k) == pytest.approx(power_sum(c, a, k + 1) / total, rel=1e-9, abs=1e-13)
    # E[T/H] rank by rank: what is left after a million of them is less than 1e-13
    i = np.arange(1.0, 1e6)
    visits = ((1 + c) / (i + c)) ** a
    last = -visits * np.expm1(a * (np.log(i + c) - np.log(i + 1 + c)))
    seen = np.full(i.size, sum(gains))
    seen[:4] = np.cumsum(gains)
    expected = math.fsum((last * seen / i).tolist())
    assert m(order=1).value(gains) == pytest.approx(expected, abs=2e-12)
    assert INSQ(T=(c + 1) / 2, power=a).distribution(gains).mean == pytest.approx(expected, abs=2e-12)
    assert INSQ(T=(c + 1) / 2, power=a).value(gains) == pytest.approx(m.value(gains), rel=5e-12)


def test_the_harmonic_mean_of_the_ranks_far_beyond() -> None:
    # E[1/H | H >= m] of P(H >= h) = ((m + s) / (h + s))^a: a long sum, and an integral with the midpoint rule
    for shift, a in ((1.0, 2.0), (99.0, 2.0), (3.0, 1.2)):
        ranks, stops = InversePower(shift, a).stops(1.0, 0)
        m = (1 << 14) + 1.0
        h = np.arange(m, 1e6)
        reach = ((m + shift) / (h + shift)) ** a
        rest = reach[-1] * a / (a + 1) / h[-1]
        assert float(((reach[:-1] - reach[1:]) / h[:-1]).sum()) + rest == pytest.approx(1 / ranks[-1], rel=1e-7)
        assert stops.sum() == pytest.approx(1, abs=1e-12)


def test_exponential_tails_are_those_of_rbp() -> None:
    for m in (CWL(C="0.8+0*i"), CWL(W="0.8**i"), CWL(H="1-0.8"), CWL(C="0.8"), CWL(L=lambda i: 0.8**i)):
        assert m.value(R) == pytest.approx(0.2 * (1 + 0.8**3 + 0.8**6 + 0.8**9), rel=1e-13)
        # cumgain(N) (1 - p)/p (-ln(1 - p) - sum of p^i / i) beyond the list
        inside = sum(0.2 * 0.8 ** (h - 1) * sum(R[:h]) / h for h in range(1, 11))
        tail = 4 * 0.25 * (-math.log(0.2) - sum(0.8**i / i for i in range(1, 11)))
        assert m(order=1).value(R) == pytest.approx(inside + tail, rel=1e-12)
        assert round(m(order=1).value(R), 4) == 0.5192
        assert m.user(R).expected_depth == pytest.approx(5, rel=1e-12)


@pytest.mark.parametrize(
    ("formula", "terms"),
    [
        ("1/(i**1.5+i)", lambda i: 1 / (i**1.5 + i)),  # a series in the root of 1 / i
        ("exp(-sqrt(i))", lambda i: np.exp(-np.sqrt(i))),
        ("min(1,4/i)**2.5", lambda i: np.minimum(1, 4 / i) ** 2.5),
        ("0.9999**i", lambda i: 0.9999**i),
    ],
)
def test_sums_of_other_formulas(formula: str, terms: object) -> None:
    i = np.arange(1.0, 4e6)
    x = terms(i)  # type: ignore[operator]
    rest = {"1/(i**1.5+i)": 2 * math.log1p(1 / math.sqrt(4e6 - 0.5)), "min(1,4/i)**2.5": 32 / 1.5 * (4e6 - 0.5) ** -1.5}
    total = float(x.sum()) + rest.get(formula, 0.0)
    assert Series("visits", Formula(formula)).total == pytest.approx(total / x[0], rel=2e-10)


# ---- numbers, files, functions


def test_numbers_by_hand() -> None:
    gains = [1, 0, 1]
    assert CWL(W="3,2,1").value(gains) == pytest.approx(4 / 6)
    assert CWL(V=[1, 2 / 3, 1 / 3]).value([*gains, 1, 1]) == pytest.approx(4 / 6)  # nobody gets to rank 4
    # L = 1/4, 0, 3/4: V = 1, 3/4, 3/4
    assert CWL(L="1,0,3").value(gains) == pytest.approx(1.75 / 2.5)
    assert CWL(L="1,0,3", order=1).value(gains) == pytest.approx(1 / 4 + 3 / 4 * 2 / 3)
    # a list of two: a third rank is looked at, and has nothing; or she stops at its end
    assert CWL(L="1,0,3", order=1).value([1, 0]) == pytest.approx(1 / 4 + 3 / 4 / 3)
    assert CWL(L="1,0,3", order=1, finite=True).value([1, 0]) == pytest.approx(1 / 4 + 3 / 4 / 2)
    assert CWL(L="1,0,3", finite=True).value([1, 0]) == pytest.approx(1 / 1.75)
    assert CWL(H="0.5,1").value([1, 1, 1]) == CWL(C="0.5,0").value([1, 1, 1]) == 1
    assert CWL(H="0.5,1").value([0, 1, 1]) == pytest.approx(0.5 / 1.5)
    assert CWL(C="1", finite=True).value([1, 0, 1]) == pytest.approx(2 / 3)


def test_dcg_of_a_list_that_ends() -> None:
    m = amble.parse("CWL(W='1/log2(i+1)',finite=True)@10")
    assert m.value(R) == pytest.approx(amble.parse("SDCG@10").value(R), rel=1e-14)
    assert m.value(R + R) == pytest.approx(m.value(R), rel=1e-14)


def test_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("w.tsv").write_text("# attention\n3\n2\n1\n")
    m = amble.parse("CWL(W='w.tsv')")
    assert str(m) == "CWL(W='w.tsv')"
    assert m.value([1, 0, 1]) == pytest.approx(4 / 6)
    Path("bad.tsv").write_text("1 3\n3 2\n")
    Path("words.tsv").write_text("a\n")
    with pytest.raises(MeasureError, match="w.tsv:2: number 3, expected a number between 0 and 1, both included"):
        amble.parse("CWL(C='w.tsv')")
    assert CWL(C=None).value([1, 0]) == CWL.value([1, 0])
    for name, message in (
        ("bad.tsv", "bad.tsv:1: found 2 columns, expected 1: number, one for each rank"),
        ("words.tsv", "words.tsv:1:"),
        ("no.tsv", "no"),
    ):
        with pytest.raises(MeasureError, match=message):
            amble.parse(f"CWL(W='{name}')")


def test_functions() -> None:
    m = CWL(W=lambda i: (i + 1) ** -1.5)
    assert m.value(R) == CWL(W="1/(i+1)**1.5").value(R) or m.value(R) == pytest.approx(0.319156706391, abs=1e-12)
    assert str(m).startswith("CWL(W=<function:")
    with pytest.raises(MeasureError, match="its function failed with ZeroDivisionError"):
        CWL(W=lambda i: 1 / 0)
    with pytest.raises(MeasureError, match="W\\(1\\) is nan"):
        CWL(W=lambda i: i * math.nan)


def test_users_are_simulated_as_they_are_computed() -> None:
    m = CWL(W="1/(i+1)**1.5")
    found = amble.simulate(m, R, users=20_000, seed=5)
    assert found.distance(m.distribution(R)) < found.band_at(1 - 1e-6)
    assert abs(found.mean - m(order=1).value(R)) < 5 * found.standard_error


def test_residuals_and_ties_of_order_1() -> None:
    m = CWL(W="1/(i+1)**2.5", order=1)
    low, high = m.interval([1, math.nan, 0])
    worth = [m.value([0] * k + [1]) for k in range(3)]  # of a document at each rank
    assert low == pytest.approx(worth[0], rel=1e-14)
    assert high == pytest.approx(1 - worth[2], abs=1e-13)  # all but the third, down to the last
    low, high = (m @ 5).interval([1, math.nan, 0])
    assert high == pytest.approx(sum(m.value([0] * k + [1]) for k in (0, 1, 3, 4)), abs=1e-13)
    # two tied documents, one of them relevant, after a relevant one: the mean of both orders
    qrels = {"1": {"a": 1, "b": 1, "c": 0}}
    runs = {"x": {"1": {"a": 3.0, "b": 1.0, "c": 1.0}}}
    both = np.mean([m.value([1, *rest]) for rest in itertools.permutations((1, 0))])
    assert amble.evaluate(qrels, runs, m, ties="expected").values.item() == pytest.approx(both, rel=1e-13)


def test_costs_of_a_heavy_tail() -> None:
    # documents that are named cost 3, all others 1: EC = 1 + 2 W(1)
    found = amble.cwl({"1": {"a": 1}}, {"x": {"1": {"a": 1.0}}}, "CWL(W='1/(i+1)**3')", costs={"a": 3.0}, digits=12)
    zeta3 = 1.2020569031595942
    assert found.rows[0][5] == pytest.approx(1 + 2 * (1 / 8) / (zeta3 - 1), rel=1e-11)


# ---- graded P and AP, rank-biased average precision


def test_graded_precision() -> None:
    grades = [0.5, 0, 1, 0.25]
    # (.5 x .5 + 1 x 1.5/3 + .25 x 1.75/4) / 1.75 and 1.75 / 4
    ap, p = amble.parse("AP(gains='scaled')"), amble.parse("P(gains='scaled')@4")
    assert round(ap.value(grades), 4) == 0.4911
    assert p.value(grades) == 0.4375
    assert ap.value([2, 0, 4, 1], max_grade=4) == amble.parse("AP(gains='scaled',max_grade=4)").value([2, 0, 4, 1])
    assert ap.value([2, 0, 4, 1], max_grade=4) == ap.value(grades)
    np.testing.assert_allclose(ap.user(grades).last, np.array(grades) / 1.75, rtol=1e-15)
    assert ap.distribution(grades).mean == pytest.approx(ap.value(grades), rel=1e-14)
    # with a fifth document of grade 1 that was not found, all is divided by 2.75
    assert ap.value(grades, ideal=[*grades, 1]) == pytest.approx(ap.value(grades) * 1.75 / 2.75, rel=1e-14)
    # unjudged: nothing, or all: (.5 x .5 + 1 x 1.5/2) / 1.5
    assert ap.interval([0.5, math.nan]) == pytest.approx((0.5, 1 / 1.5), rel=1e-14)
    assert amble.parse("AP(gains='scaled')").value([1, 0, 1]) == amble.parse("AP").value([1, 0, 1])
    found = amble.cwl({"1": {"a": 2, "b": 1}}, {"x": {"1": {"a": 2.0, "b": 1.0}}}, [ap, "P(gains='scaled')@2"])
    assert found.rows[0][3] == pytest.approx((1 + 0.5 * 1.5 / 2) / 1.5, rel=1e-14)
    assert found.rows[1][3] == 0.75
    found = amble.simulate(ap, grades, users=4000, seed=2)
    assert found.distance(ap.distribution(grades)) < found.band_at(1 - 1e-6)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("AP(rel=2,gains='scaled')", "rel and gains: expected one of them"),
        ("P(rel=1,gains='scaled')@4", "rel and gains: expected one of them"),
        ("AP(max_grade=3)", "max_grade goes with gains='scaled' only"),
        ("AP(gains='exp')", "expected one of 'scaled'"),
    ],
)
def test_kinds_of_gains_that_are_refused(expression: str, message: str) -> None:
    with pytest.raises(MeasureError, match=message):
        amble.parse(expression)


def test_graded_ap_has_no_mean_over_tied_documents() -> None:
    with pytest.raises(MeasureError, match="no closed form for ties='expected'"):
        amble.evaluate(
            {"1": {"a": 2, "b": 1}}, {"x": {"1": {"a": 1.0, "b": 1.0}}}, "AP(gains='scaled')", ties="expected"
        )


def test_rank_biased_average_precision() -> None:
    # 1/2 x 1 + 1/4 x 1/2 + 1/8 x 2/3 + 2 (1/2^4 / 4 + 1/2^5 / 5 + ...), and sum of x^h / h at 1/2 is ln 2
    rest = math.log(2) - (1 / 2 + 1 / 8 + 1 / 24)
    assert amble.parse("RBAP(p=0.5)").value([1, 0, 1]) == pytest.approx(1 / 2 + 1 / 8 + 1 / 12 + 2 * rest, rel=1e-13)
    assert round(amble.parse("RBAP").value(R), 4) == 0.5192
    assert amble.parse("RBAP(p=0.3)").interval([1, 1]) == pytest.approx((amble.parse("RBAP(p=0.3)").value([1, 1]), 1))


# ---- what is refused, in one line


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("CWL(W='1/(i+1)')", "reads on for ever: W falls as 1 / i"),
        ("CWL(V='1/sqrt(i)')", "falls as 1 / i\\^0.5"),
        ("CWL(C='i/(i+1)')", "C\\(i\\)\\) goes to 1, expected more than 1"),
        ("CWL(L='1/i**2')", "L falls as 1 / i\\^2, expected faster than 1 / i\\^2"),
        ("CWL(W='1/(i*log(i+1)**2)')", "sum over all ranks is known to"),
        ("CWL(V='i')", "V\\(2\\) is 2, expected a number of at least 0 that does not rise"),
        ("CWL(V='1-i/100')", "V\\(101\\) is -0.01"),
        ("CWL(C='1.5-i')", "C\\(2\\) is -0.5, expected 0 to 1"),
        ("CWL(C='1.5')", "each a number between 0 and 1"),
        ("CWL(V='1,2')", "after rank 1 is 2, expected 0 to 1"),
        ("CWL(W='0,0')", "W is 0 at rank 1"),
        ("CWL(H='0.5,0')", "last probability of H is 0"),
        ("CWL(W='1',V='1')", "V and W: expected one of them"),
        ("CWL(W='1/log(i)')", "W\\(1\\) is inf"),
        ("CWL(W='x+1')", "cannot read 'x'"),
        ("CWL(W='i.real')", "i.real: no such file"),
        ("CWL(W='exit()')", "cannot read 'exit\\(\\)'"),
        ("CWL(W='max(i)')", "cannot read 'max\\(i\\)'"),
        ("CWL(W='i if i else 1')", "cannot read"),
        ("CWL(W='1j')", "cannot read '1j'"),
        ("CWL(W='True')", "cannot read 'True'"),
        ("CWL(W='i//2')", "cannot read"),
        ("CWL(W='1_0/i')", "expected a formula in i"),
        ("CWL(W='i[0]')", "expected a formula in i"),
        ("CWL(W='1/(i')", "expected a formula in i"),
        ("CWL(W='9**9**9**9')", "W\\(1\\) is inf"),
        ("CWL(W='')", "is not allowed"),
        ("CWL(order=3)", "one of 1, 2"),
        ("INSQ(power=1)", "between 1.01 and 100"),
    ],
)
def test_what_is_refused(expression: str, message: str) -> None:
    with pytest.raises(MeasureError, match=message) as error:
        amble.parse(expression)
    assert "\n" not in str(error.value)


def test_long_formulas() -> None:
    with pytest.raises(MeasureError, match="expected a formula in i"):
        CWL(W="(" * 100 + "i" + ")" * 300)
    with pytest.raises(MeasureError, match="expected a formula in i"):
        CWL(W="-" * 299 + "i" * 2)
    assert str(Formula(" 1 / ( i+1 ) ^ 2 ")) == "1/(i+1)**2"
    assert Formula("max(i, 3) - min(1, i) + log2(8) * +2 / exp(0)")(np.array([1.0, 9.0])).tolist() == [8.0, 14.0]
